"""Commands that draw: picture, movie."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import Json, app, print_json
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.record import Run


SIZE = "1280x720"
Color = Annotated[str | None, typer.Option(help="stone, displacement, velocity, rotation, joint pressure, macro-block, ...")]
Most = Annotated[float | None, typer.Option(help="[SI] end of the scale of colours; the largest value if not given")]
Exaggerate = Annotated[float | None, typer.Option(help="draw displacements this many times as large")]
View = Annotated[str | None, typer.Option(help="corner, front, side, top or iso")]
Azimuth = Annotated[float | None, typer.Option(help="[deg] of the eye; 0 looks along +y")]
Elevation = Annotated[float | None, typer.Option(help="[deg] of the eye above the horizon")]
Section = Annotated[str | None, typer.Option(help="leave out blocks on the eye's side of a plane, as x=0.5 [m]")]
Size = Annotated[str | None, typer.Option(help="width and height in pixels, as 1920x1080")]
Ghost = Annotated[bool, typer.Option("--ghost", help="outline the initial shape")]
Forces = Annotated[bool, typer.Option("--forces", help="draw what the joints carry")]
Thrust = Annotated[bool, typer.Option("--thrust", help="draw the thrust lines of arches and columns")]


@app.command()
def picture(
    source: Annotated[Path, typer.Argument(help="folder of a run, or a case file")],
    out: Annotated[Path, typer.Option("--out", "-o", help="PNG file")],
    frame: Annotated[int | None, typer.Option(help="frame, from the end if negative; the last if not given")] = None,
    time: Annotated[float | None, typer.Option(help="[s] the frame nearest to this time")] = None,
    strip: Annotated[int | None, typer.Option(help="this many instants side by side")] = None,
    size: Size = None,
    color: Color = None,
    most: Most = None,
    exaggerate: Exaggerate = None,
    view: View = None,
    azimuth: Azimuth = None,
    elevation: Elevation = None,
    section: Section = None,
    ghost: Ghost = False,
    forces: Forces = False,
    thrust: Thrust = False,
    json: Json = False,
) -> None:
    """Draw a frame of a run, or a case before it is run."""
    look = _given(color=color, most=most, exaggerate=exaggerate, view=view, azimuth=azimuth, elevation=elevation)
    look |= _given(section=section) | {"ghost": ghost, "forces": forces, "thrust": thrust}
    facts: dict[str, Any] = {"picture": str(out)}
    if source.is_file():
        from drystone.io.case import read_case
        from drystone.view.picture import picture as draw

        draw(read_case(source).model(), out, size=_pixels(size or SIZE), **look)
    else:
        from drystone.record import read_run

        run = read_run(source)
        chosen = _frames(run, frame, time, strip)
        facts |= {"frames": chosen, "times": [float(run.time[i]) for i in chosen]}
        _draw_frames(run, chosen, out, size, look)
    print_json(facts) if json else print(out)


def _draw_frames(run: "Run", chosen: list[int], out: Path, size: str | None, look: dict[str, Any]) -> None:
    """A picture of one frame, a strip of several."""
    from drystone.view.picture import picture, strip

    if len(chosen) == 1:
        picture(run, out, frame=chosen[0], size=_pixels(size or SIZE), **look)
    else:
        width = _pixels(size)[0] // len(chosen) if size else 560
        strip(run, chosen, out, width=width, **look)


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _pixels(size: str) -> tuple[int, int]:
    """The option --size."""
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal() and 16 <= int(width) <= 16384 and 16 <= int(height) <= 16384):
        raise InputError(f"--size {size}: give width and height, 16 to 16384 pixels each, as 1920x1080")
    return int(width), int(height)


@app.command()
def movie(
    source: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[Path, typer.Option("--out", "-o", help="fall.mp4, fall.gif, or pictures as frame-%04d.png")],
    fps: Annotated[float, typer.Option(help="images a second")] = 25.0,
    speed: Annotated[float, typer.Option(help="how much faster than life; 0.5 is slow motion")] = 1.0,
    start: Annotated[float | None, typer.Option("--from", help="[s] where to begin; of statics the stage")] = None,
    end: Annotated[float | None, typer.Option("--to", help="[s] where to end; of statics the stage")] = None,
    orbit: Annotated[float, typer.Option(help="[deg] the eye goes round meanwhile")] = 0.0,
    jobs: Annotated[int, typer.Option(help="processes that draw")] = 1,
    size: Size = None,
    color: Color = None,
    most: Most = None,
    exaggerate: Exaggerate = None,
    view: View = None,
    azimuth: Azimuth = None,
    elevation: Elevation = None,
    section: Section = None,
    ghost: Ghost = False,
    forces: Forces = False,
    thrust: Thrust = False,
    json: Json = False,
) -> None:
    """Make a movie of a run; of statics, of its mechanism."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    from drystone.record import read_run
    from drystone.view.movie import movie as make

    look = _given(color=color, most=most, exaggerate=exaggerate, view=view, azimuth=azimuth, elevation=elevation)
    look |= _given(section=section) | {"ghost": ghost, "forces": forces, "thrust": thrust}
    how: dict[str, Any] = {"fps": fps, "speed": speed, "start": start, "end": end, "orbit": orbit, "jobs": jobs}
    with Progress(BarColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0)
        watch = lambda share: bar.update(task, completed=share)  # noqa: E731
        count = make(read_run(source), out, size=_pixels(size or SIZE), watch=watch, **how, **look)
    print_json({"movie": str(out), "images": count}) if json else print(out)


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
