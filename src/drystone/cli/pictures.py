"""The command that draws: picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import Json, app, print_json
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.record import Run


@app.command()
def picture(
    source: Annotated[Path, typer.Argument(help="folder of a run, or a case file")],
    out: Annotated[Path, typer.Option("--out", "-o", help="PNG file")],
    frame: Annotated[int | None, typer.Option(help="frame, from the end if negative; the last if not given")] = None,
    time: Annotated[float | None, typer.Option(help="[s] the frame nearest to this time")] = None,
    strip: Annotated[int | None, typer.Option(help="this many instants side by side")] = None,
    azimuth: Annotated[float | None, typer.Option(help="[deg] of the eye; 0 looks along +y")] = None,
    elevation: Annotated[float | None, typer.Option(help="[deg] of the eye above the horizon")] = None,
    color: Annotated[str | None, typer.Option(help="stone, displacement, stress, tension, hoop tension, ...")] = None,
    exaggerate: Annotated[float | None, typer.Option(help="draw displacements this many times as large")] = None,
    json: Json = False,
) -> None:
    """Draw a frame of a run, or a case before it is run."""
    from drystone.view import picture as view

    asked = {"azimuth": azimuth, "elevation": elevation, "color": color, "exaggerate": exaggerate}
    options: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    facts: dict[str, Any] = {"picture": str(out)}
    if source.is_file():
        from drystone.io.case import read_case

        view.picture(read_case(source).model(), out, **options)
    else:
        from drystone.analyse.construction import there
        from drystone.record import read_run

        run = read_run(source)
        chosen = _frames(run, frame, time, strip)
        facts |= {"frames": chosen, "times": [float(run.time[i]) for i in chosen]}
        if strip is not None:
            view.strip(run, chosen, out, **options)
        elif color is not None and color not in view.COLOURS:
            from drystone.view.stress import stress_picture

            reading = "von mises" if color == "stress" else color
            rest = {key: value for key, value in options.items() if key != "color"}
            stress_picture(run, out, frame=chosen[0], reading=reading, **rest)
        else:
            view.picture(run, out, frame=chosen[0], shown=there(run, chosen[0]), **options)
    print_json(facts) if json else print(out)


def _frames(run: "Run", frame: int | None, time: float | None, strip: int | None) -> list[int]:
    """The frames that the options of `picture` ask for."""
    if sum(option is not None for option in (frame, time, strip)) > 1:
        raise InputError("give one of --frame, --time and --strip")
    if strip is not None:
        if strip < 2:
            raise InputError(f"--strip {strip}: give at least 2 instants")
        return [round(i * (run.frames - 1) / (strip - 1)) for i in range(strip)]
    if time is not None:
        return [int(abs(run.time - time).argmin())]
    if frame is None:
        return [run.frames - 1]
    if not -run.frames <= frame < run.frames:
        raise InputError(f"--frame {frame}: the run has frames 0 to {run.frames - 1}")
    return [frame % run.frames]
