"""The commands: words to functions, status to exit code. 0 done, 1 unsound, 2 bad input, 3 not converged, 130 cut.

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
    from drystone.analyse.stages import Stage
    from drystone.doctor.examine import Report
    from drystone.io.case import Case
    from drystone.model import Block
    from drystone.record import Run
    from drystone.simulate import Step

DONE, UNSOUND, BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 0, 1, 2, 3, 130
USAGE_ERROR: Any = typer.BadParameter.__mro__[1]  # click's UsageError; where Typer keeps click changes with its version

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="How a historical masonry structure stands, moves and falls.",
)  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Unit = Annotated[str | None, typer.Option(help="of a geometry file: m, dm, cm, mm or km; its own if not given")]
Up = Annotated[str | None, typer.Option(help="axis of a geometry file that points up: x, y or z")]
Supports = Annotated[list[str] | None, typer.Option(help='"lowest", or a block or group; may be repeated')]
Only = Annotated[list[str] | None, typer.Option(help="take this block or group (layer) only; may be repeated")]
Depth = Annotated[str | None, typer.Option(help='of what is flat in a geometry file, as "0.5 m"')]


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
        raise InputError("name a command: new, schema, check, run, search, info, picture, convert or solve (see --help)")


@app.command()
def new(
    generator: Annotated[str | None, typer.Argument(help="what to build; --list shows them")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what can be built.")] = False,
    json: Json = False,
) -> None:
    """Print a commented starter case."""
    from drystone.build import GENERATORS
    from drystone.io.starter import starter, summary

    if listed:
        lines = {name: summary(name) for name in GENERATORS}
        width = max(map(len, lines))
        _print_json(lines) if json else print("\n".join(f"{name:<{width}}  {line}" for name, line in lines.items()))
        return
    if generator is None:
        raise InputError("name what to build, as in drystone new arch; drystone new --list shows all")
    text = starter(generator)
    _print_json({"generator": generator, "case": text}) if json else print(text, end="")


@app.command()
def schema() -> None:
    """Print the JSON schema of the case file, for editors."""
    from drystone.io.schema import case_schema

    _print_json(case_schema())


@app.command()
def check(
    source: Annotated[Path, typer.Argument(help="case (TOML), geometry file, or a folder of meshes")],
    fix: Annotated[Path | None, typer.Option(help="repair what is safe and write the blocks to this new file")] = None,
    within: Annotated[float | None, typer.Option(help="what nearly touches or is nearly flat, in sizes of a block")] = None,
    picture: Annotated[Path | None, typer.Option(help="draw the blocks with findings in colour (PNG)")] = None,
    unit: Unit = None,
    up: Up = None,
    supports: Supports = None,
    only: Only = None,
    depth: Depth = None,
    json: Json = False,
) -> int:
    """Say what a structure is and all that is wrong with it; repair it on request."""
    from drystone.doctor.examine import NEAR, examine

    blocks, case = _structure(source, _reading(unit, up, supports, only, depth))
    _announce_compiling()
    share = NEAR if within is None else within
    if not 0 <= share <= 0.1:
        raise InputError(f"--within {share}: give a share of a block's size from 0 to 0.1")
    report = examine(blocks, within=share)
    facts = report.facts | {"findings": report.listed()}
    if case is not None and not report.errors:
        from drystone.session import first_facts

        facts |= first_facts(case)
    if fix is not None:
        after, repairs = _repair(report, source, fix, share)
        facts |= {"fixed": str(fix), "repairs": repairs, "remaining": after.listed()}
        report = after
    if picture is not None:
        from drystone.view.defects import defects_picture

        defects_picture(report, picture)
        facts["picture"] = str(picture)
    if json:
        _print_json(facts)
    else:
        from drystone.view.tables import print_check

        print_check(facts)
    return UNSOUND if report.errors else DONE


def _structure(source: Path, asked: dict[str, Any]) -> tuple[list["Block"], "Case | None"]:
    """The blocks of a geometry file, or of a case, and the case."""
    from drystone.io.case import read_case
    from drystone.io.geometry.structure import read_structure

    if source.suffix != ".toml":
        return read_structure(source, refuse=False, **asked), None
    if any(asked.values()):
        raise InputError(f"{source}: a case says itself how its files are read; give --unit and the like with a geometry file")
    case = read_case(source)
    return case.blocks(), case


def _repair(report: "Report", source: Path, out: Path, within: float) -> tuple["Report", list[dict[str, Any]]]:
    """The repaired blocks, written and examined again, and what was done."""
    from drystone.doctor.examine import examine
    from drystone.doctor.repair import repair
    from drystone.io.geometry.structure import write_structure

    if out.exists():
        raise InputError(f"--fix {out}: the file exists; a repair never replaces a file, give another name")
    blocks, done = repair(report.blocks, within=within)
    write_structure(out, blocks)
    return examine(blocks, within=within), [repair._asdict() for repair in done]


@app.command()
def run(
    case: Annotated[Path | None, typer.Argument(help="case file (TOML)")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder for the run")] = None,
    resume: Annotated[Path | None, typer.Option(help="go on with the run in this folder")] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite a run")] = False,
    picture: Annotated[bool, typer.Option("--picture", help="also draw: the last frame, or what statics found")] = False,
    json: Json = False,
) -> int:
    """Compute a case, or go on with one that was cut."""
    if resume is not None:
        if case is not None or out is not None:
            raise InputError("--resume takes the folder of a run and nothing else: drystone run --resume out")
        what, folder = None, resume
    elif case is None or out is None:
        raise InputError("give a case and a folder: drystone run case.toml -o out")
    else:
        from drystone.io.case import read_case

        what, folder = read_case(case), out
        if not what.goes_through_time:
            return _analyse(what, folder, force, picture, json)
    interrupted = _compute(what, folder, force)
    if picture:
        from drystone.record import read_run
        from drystone.view.picture import picture as draw

        draw(read_run(folder), folder / "last.png")
    summary = _show(folder, json, {"out": str(folder), "interrupted": interrupted})
    if interrupted:
        return INTERRUPTED
    return NOT_CONVERGED if summary["unconverged_steps"] else DONE


def _analyse(case: "Case", folder: Path, force: bool, picture: bool, json: bool) -> int:
    """A case of statics: its stages on standard error, its facts on standard output."""
    from drystone.analyse.record import read_result, record

    _announce_compiling()
    with closing(record(case, folder, overwrite=force)) as stages:
        _watch_stages(stages)
    facts = (read_result(folder) or {}) | {"out": str(folder)}
    if picture:
        from drystone.record import read_run
        from drystone.view.results import result_pictures

        facts["pictures"] = [str(path) for path in result_pictures(read_run(folder), facts)]
    _show_result(facts, json)
    return DONE if facts["converged"] else NOT_CONVERGED


def _show_result(facts: dict[str, Any], json: bool) -> None:
    """Print what an analysis of statics found."""
    from drystone.view.result_tables import print_result

    _print_json(facts) if json else print_result(facts)


def _watch_stages(stages: Iterable["Stage"]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=1.0)
        for stage in stages:
            bar.update(task, completed=stage.share, description=stage.words)


def _compute(case: "Case | None", folder: Path, force: bool) -> bool:
    """Compute and record; a `case` of None goes on with what is in the folder. True if interrupted by Ctrl-C."""
    from drystone import session
    from drystone.record import read_run

    what = session.recorded_case(read_run(folder)) if case is None else case
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
            progress.update(task, completed=step.state.step, description=_status(step, case.history.duration))


def _status(step: "Step", duration: float) -> str:
    state, residual = step.state, step.solution.residual
    return f"t {state.time:.3f} of {duration:g} s  {len(state.contacts.gap)} contacts  residual {residual.error:.0e}"


@app.command()
def search(
    case: Annotated[Path, typer.Argument(help="case file (TOML)")],
    key: Annotated[str, typer.Option(help="the number to vary: table and key, as motion.amplitude or motion.0.amplitude")],
    event: Annotated[str, typer.Option("--for", help="rocking, overturning or standing")],
    between: Annotated[tuple[str, str], typer.Option(help='where it does not happen and where it does: "0.1 g" "0.5 g"')],
    tolerance: Annotated[str, typer.Option(help='how far apart these may be in the end, in the same unit: "0.001 g"')],
    scan: Annotated[int, typer.Option(min=0, help="try this many values between first, and take the lowest change")] = 0,
    json: Json = False,
) -> int:
    """Find the least value for which a structure rocks, overturns or stands."""
    from drystone.io.case import read_case
    from drystone.search import EVENTS, search, summarise

    _announce_compiling()
    trials = []
    for trial in search(read_case(case), key, event, between, tolerance, scan=scan):
        _say(f"{key} = {trial.value:g}: {EVENTS[event] if trial.happens else 'does not'}")
        trials.append(trial)
    facts = {"case": str(case), "key": key, "event": event} | summarise(trials, between[0])
    if json:
        _print_json(facts)
    else:
        from drystone.view.tables import print_search

        print_search(facts)
    return NOT_CONVERGED if any(trial.unconverged for trial in trials) else DONE


@app.command()
def info(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    mechanism: Annotated[bool, typer.Option("--mechanism", help="also how the last frame differs from the first")] = False,
    json: Json = False,
) -> None:
    """Summarise a run."""
    from drystone.analyse.record import read_result

    facts, more = read_result(folder), {"out": str(folder)} | (_mechanism_facts(folder) if mechanism else {})
    if facts is None:
        _show(folder, json, more)
    else:
        _show_result(facts | more, json)


def _mechanism_facts(folder: Path) -> dict[str, Any]:
    """The mechanism of the last frame and its cracks [mm]."""
    from drystone import measure
    from drystone.record import read_run

    found = measure.mechanism(read_run(folder))
    return {"mechanism": found.as_facts(), "cracks": measure.crack_widths(found)}


def _show(folder: Path, json: bool, more: dict[str, Any]) -> dict[str, Any]:
    """Print the summary of a run, and return it."""
    from drystone.io.case import parse_case
    from drystone.loads import pressing
    from drystone.measure import balanced_from, base_resultant, head_joint_openings, summarise
    from drystone.record import read_run

    run = read_run(folder)
    case = parse_case(run.case, folder / "case.toml")
    summary = summarise(run, loss=case.history.collapse) | more
    if case.analysis.kind == "settlement":
        push = base_resultant(run, case.history.time_step)
        borne = float(pressing(run.model, case.loads, case.analysis.gravity).sum())
        summary["base_resultant"] = {"time": run.time.tolist(), "force": push.tolist(), "weight": borne,
                                     "balanced_from": balanced_from(run.time, push, borne)}  # fmt: skip
        summary["head_joint_openings"] = head_joint_openings(run).tolist()
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
    color: Annotated[str | None, typer.Option(help="stone, displacement, stress, tension, hoop tension, ...")] = None,
    exaggerate: Annotated[float | None, typer.Option(help="draw displacements this many times as large")] = None,
    base: Annotated[bool, typer.Option("--base", help="draw what the supports of a run bear over time instead")] = False,
    json: Json = False,
) -> None:
    """Draw a frame of a run, or a case before it is run."""
    from drystone.view import picture as view

    if base:
        _draw_base(source, out)
        return _print_json({"picture": str(out)}) if json else print(out)

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
    _print_json(facts) if json else print(out)


def _draw_base(folder: Path, out: Path) -> None:
    """The vertical reaction of the supports of a run over time."""
    from drystone.loads import pressing
    from drystone.measure import base_resultant
    from drystone.record import read_run
    from drystone.session import recorded_case
    from drystone.view.plots import base_picture

    run = read_run(folder)
    case = recorded_case(run)
    share = base_resultant(run, case.history.time_step) / pressing(run.model, case.loads, case.analysis.gravity).sum()
    base_picture({case.analysis.kind: (run.time[1:], share[1:])}, out)


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
    unit: Unit = None,
    up: Up = None,
    density: Annotated[str | None, typer.Option(help='where the source has none, as "2200 kg/m3"')] = None,
    supports: Supports = None,
    only: Only = None,
    depth: Depth = None,
    decompose: Annotated[bool, typer.Option("--decompose", help="approximate what is not convex by convex pieces")] = False,
    json: Json = False,
) -> None:
    """Read blocks of one format and write them in another, in m with z up."""
    from drystone.io.geometry.structure import read_structure, write_structure
    from drystone.units import quantity

    asked = _reading(unit, up, supports, only, depth)
    asked |= {} if density is None else {"density": quantity(density, "density")}
    blocks = read_structure(source, decompose=decompose, **asked)
    write_structure(out, blocks)
    facts = {"written": str(out), "blocks": len(blocks), "supports": sum(block.fixed for block in blocks)}
    _print_json(facts) if json else print(f"{out}: {facts['blocks']} blocks, {facts['supports']} of them supports")


def _reading(unit: str | None, up: str | None, supports: list[str] | None, only: list[str] | None, depth: str | None) -> Any:
    """The keywords of `read_structure`."""
    from drystone.units import quantity

    chosen: str | list[str] = "lowest" if supports == ["lowest"] else supports or []
    thick = None if depth is None else quantity(depth, "length")
    return {"unit": unit, "up": up, "supports": chosen, "only": only or [], "depth": thick}


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
