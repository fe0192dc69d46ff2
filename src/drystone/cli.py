"""The commands: words to functions, status to exit code. 0 done, 2 bad input, 3 not converged, 130 interrupted.

With --json a command prints exactly one JSON object on standard output, errors too: {"error": ..., "exit_code": ...}.
Progress goes to standard error. Rooms are imported by the command that needs them, so that help is instant.
"""

import json as json_format
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone import __version__
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.io.case import Case
    from drystone.record import Run
    from drystone.simulate import Step

DONE, BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 0, 2, 3, 130
USAGE_ERROR: Any = typer.BadParameter.__mro__[1]  # click's UsageError; where Typer keeps click changes with its version

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="How a historical masonry structure stands, moves and falls.",
)  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def main(arguments: list[str] | None = None) -> None:
    """The entry point of the program `drystone`."""
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given
    try:
        code = app(given, prog_name="drystone", standalone_mode=False) or DONE
    except InputError as error:
        code = _fail(str(error), BAD_INPUT, as_json)
    except USAGE_ERROR as error:  # a wrong command, option or value
        code = _fail(error.format_message(), BAD_INPUT, as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted", INTERRUPTED, as_json)
    sys.exit(code)


def _fail(message: str, code: int, as_json: bool) -> int:
    print(f"drystone: {message}", file=sys.stderr)
    if as_json:
        _print_json({"error": message, "exit_code": code})
    return code


def _print_json(content: dict[str, Any]) -> None:
    print(json_format.dumps(content, indent=2))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@app.callback(invoke_without_command=True)
def drystone(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    json: Json = False,
) -> None:
    if version:
        _print_json({"version": __version__}) if json else print(__version__)
    elif context.invoked_subcommand is None:
        raise InputError("name a command: new, check, run, info, picture, convert or solve (see drystone --help)")


@app.command()
def new(generator: Annotated[str, typer.Argument(help="block, column, wall, arch, tower or dome")], json: Json = False):
    """Print a commented starter case."""
    from drystone.io.case import starter

    text = starter(generator)
    _print_json({"generator": generator, "case": text}) if json else print(text, end="")


@app.command()
def check(case: Annotated[Path, typer.Argument(help="case file (TOML)")], json: Json = False) -> None:
    """Validate a case and say what it describes."""
    from drystone.io.case import read_case
    from drystone.session import first_facts

    read = read_case(case)
    _announce_compiling()
    facts = first_facts(read)
    if json:
        _print_json(facts)
    else:
        from drystone.view.tables import print_facts

        print_facts(facts)


@app.command()
def run(
    case: Annotated[Path | None, typer.Argument(help="case file (TOML)")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder for the run")] = None,
    resume: Annotated[Path | None, typer.Option(help="go on with the run in this folder")] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite a run")] = False,
    picture: Annotated[bool, typer.Option("--picture", help="also draw the last frame: last.png")] = False,
    json: Json = False,
) -> int:
    """Compute a case, or go on with one that was cut."""
    if resume is not None:
        if case is not None or out is not None:
            raise InputError("--resume takes the folder of a run and nothing else: drystone run --resume out")
        folder = resume
    elif case is None or out is None:
        raise InputError("give a case and a folder: drystone run case.toml -o out")
    else:
        folder = out
    interrupted = _compute(case, folder, force)
    if picture:
        from drystone.record import read_run
        from drystone.view.picture import picture as draw

        draw(read_run(folder), folder / "last.png")
    summary = _show(folder, json, {"out": str(folder), "interrupted": interrupted})
    if interrupted:
        return INTERRUPTED
    return NOT_CONVERGED if summary["unconverged_steps"] else DONE


def _compute(case: Path | None, folder: Path, force: bool) -> bool:
    """Compute and record; a `case` of None goes on with what is in the folder. True if interrupted by Ctrl-C."""
    from drystone import session
    from drystone.io.case import read_case
    from drystone.record import read_run

    what = session.recorded_case(read_run(folder)) if case is None else read_case(case)
    steps = session.resume(folder) if case is None else session.record(what, folder, overwrite=force)
    _announce_compiling()
    try:
        with closing(steps) as generator:
            _watch(generator, what, session.planned_steps(what))
    except KeyboardInterrupt:
        if not (folder / "run.h5").exists():
            raise
        _say(f"interrupted; what was computed is kept. Go on with: drystone run --resume {folder}")
        return True
    return False


def _announce_compiling() -> None:
    from drystone.session import is_compiled

    if not is_compiled():
        _say("compiling kernels (first run, about a minute) ...")


def _watch(steps: Iterable["Step"], case: "Case", planned: int) -> None:
    """A bar on standard error with simulated time, contacts, residual and time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=planned)
        shown = 0.0
        for step in steps:
            if monotonic() - shown < 0.1 and step.state.step < planned:
                continue
            shown = monotonic()
            progress.update(task, completed=step.state.step, description=_status(step, case.analysis.duration))


def _status(step: "Step", duration: float) -> str:
    state, residual = step.state, step.solution.residual
    return f"t {state.time:.3f} of {duration:g} s  {len(state.contacts.gap)} contacts  residual {residual.error:.0e}"


@app.command()
def info(folder: Annotated[Path, typer.Argument(help="folder of a run")], json: Json = False) -> None:
    """Summarise a run."""
    _show(folder, json, {})


def _show(folder: Path, json: bool, more: dict[str, Any]) -> dict[str, Any]:
    """Print the summary of a run, and return it."""
    from drystone.io.case import parse_case
    from drystone.measure import summarise
    from drystone.record import read_run

    run = read_run(folder)
    summary = summarise(run, loss=parse_case(run.case, folder / "case.toml").analysis.collapse) | more
    if json:
        _print_json(summary)
    else:
        from drystone.view.tables import print_summary

        print_summary(summary)
    return summary


@app.command()
def picture(
    source: Annotated[Path, typer.Argument(help="folder of a run, or a case file")],
    out: Annotated[Path, typer.Option("--out", "-o", help="PNG file")],
    frame: Annotated[int | None, typer.Option(help="frame, from the end if negative; the last if not given")] = None,
    time: Annotated[float | None, typer.Option(help="[s] the frame nearest to this time")] = None,
    strip: Annotated[int | None, typer.Option(help="this many instants side by side")] = None,
    azimuth: Annotated[float | None, typer.Option(help="[deg] of the eye; 0 looks along +y")] = None,
    elevation: Annotated[float | None, typer.Option(help="[deg] of the eye above the horizon")] = None,
    color: Annotated[str | None, typer.Option(help="stone or displacement")] = None,
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
        from drystone.record import read_run

        run = read_run(source)
        chosen = _frames(run, frame, time, strip)
        facts |= {"frames": chosen, "times": [float(run.time[i]) for i in chosen]}
        view.picture(run, out, frame=chosen[0], **options) if strip is None else view.strip(run, chosen, out, **options)
    _print_json(facts) if json else print(out)


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


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="geometry file, or a folder of meshes")],
    out: Annotated[Path, typer.Argument(help="file to write: json, compas.json, obj, stl, ply, off, 3dm or dxf")],
    unit: Annotated[str | None, typer.Option(help="of the source: m, dm, cm, mm or km; its own if not given")] = None,
    up: Annotated[str | None, typer.Option(help="axis of the source that points up: x, y or z")] = None,
    density: Annotated[str | None, typer.Option(help='where the source has none, as "2200 kg/m3"')] = None,
    supports: Annotated[list[str] | None, typer.Option(help='"lowest", or a block or group; may be repeated')] = None,
    only: Annotated[list[str] | None, typer.Option(help="take this block or group (layer) only; may be repeated")] = None,
    depth: Annotated[str | None, typer.Option(help='of what is flat, as "0.5 m"')] = None,
    decompose: Annotated[bool, typer.Option("--decompose", help="approximate what is not convex by convex pieces")] = False,
    json: Json = False,
) -> None:
    """Read blocks of one format and write them in another, in m with z up."""
    from drystone.io.geometry.structure import read_structure, write_structure
    from drystone.units import quantity

    chosen = supports or []
    asked: dict[str, Any] = {
        "unit": unit,
        "up": up,
        "supports": "lowest" if chosen == ["lowest"] else chosen,
        "only": only or [],
    }
    asked |= {} if density is None else {"density": quantity(density, "density")}
    asked |= {} if depth is None else {"depth": quantity(depth, "length")}
    blocks = read_structure(source, decompose=decompose, **asked)
    write_structure(out, blocks)
    facts = {"written": str(out), "blocks": len(blocks), "supports": sum(block.fixed for block in blocks)}
    _print_json(facts) if json else print(f"{out}: {facts['blocks']} blocks, {facts['supports']} of them supports")


@app.command()
def solve(
    file: Annotated[Path, typer.Argument(help="FCLIB (HDF5), siconos (.dat), or a failed step of a run (.npz)")],
    method: Annotated[str | None, typer.Option(help="native if not given, or that of the run")] = None,
    tolerance: Annotated[float | None, typer.Option(help="1e-6 if not given, or that of the run")] = None,
    law: Annotated[str | None, typer.Option(help="associated or coulomb; the file's if not given")] = None,
    output: Annotated[Path | None, typer.Option(help="write reaction and velocity of the contacts (.npz)")] = None,
    json: Json = False,
) -> int:
    """Solve one contact problem from a file."""
    from drystone.solve import save_answer, solve_file

    _announce_compiling()
    answer = solve_file(file, method=method, tolerance=tolerance, law=law)
    if output is not None:
        save_answer(output, answer)
    if json:
        _print_json(answer.facts)
    else:
        from drystone.view.tables import print_answer

        print_answer(answer.facts)
    return DONE if answer.good else NOT_CONVERGED


if __name__ == "__main__":
    main()
