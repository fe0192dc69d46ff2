"""What may stand behind each command: its arguments and options, with their help, as Typer reads them.

A function here only says so; the work is done by the function of the same name in the module of the same name, which takes the
same keywords. That module is loaded when the command is called, with all it needs, and not for its help.
"""

import gc
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from drystone import __version__
from drystone.cli.commands import OPTIONS, help_text
from drystone.cli.words import DONE, print_json
from drystone.errors import InputError

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]  # click's UsageError; where Typer keeps click changes with its version


class Program(TyperGroup):
    """All commands; its help is that of commands.py."""

    def get_help(self, ctx: Any) -> str:
        return help_text()


PLAIN: Any = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
COMMANDS: dict[str, Callable[..., Any]] = {}
app = typer.Typer(cls=Program, **PLAIN)


def call(given: list[str]) -> int:
    """Do what a line says; the exit code. Of a line that begins with a command, Typer reads the options of this one only."""
    name = "drystone"
    program = app
    if given[0] in COMMANDS:
        name = f"drystone {given[0]}"
        program = typer.Typer(**PLAIN)
        program.command()(COMMANDS[given[0]])
        given = given[1:]
    try:
        return program(given, prog_name=name, standalone_mode=False) or DONE
    except USAGE_ERROR as error:  # a wrong command, option or value
        raise InputError(error.format_message()) from None
    except typer.Abort:
        raise KeyboardInterrupt from None


def command(line: Callable[..., None]) -> Callable[..., Any]:
    """A command, of what a function here says and of what the module of its name does."""
    name = line.__name__

    @wraps(line)
    def work(**given: Any) -> Any:
        module = import_module(f"drystone.cli.{name}")
        if not gc.isenabled():  # as entry.py left it; what is loaded now stays until the end
            gc.freeze()
            gc.enable()
        return getattr(module, name)(**given)

    COMMANDS[name] = work
    return app.command()(work)


Json = Annotated[bool, typer.Option("--json", help=OPTIONS["--json"])]

# Of geometry files.
Unit = Annotated[str | None, typer.Option(help="of a geometry file: m, dm, cm, mm or km; its own if not given")]
Up = Annotated[str | None, typer.Option(help="axis of a geometry file that points up: x, y or z")]
Supports = Annotated[list[str] | None, typer.Option(help='"lowest", or a block or group; may be repeated')]
Only = Annotated[list[str] | None, typer.Option(help="take this block or group (layer) only; may be repeated")]
Depth = Annotated[str | None, typer.Option(help='of what is flat in a geometry file, as "0.5 m"')]

# Of pictures.
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


@app.callback(invoke_without_command=True)
def drystone(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help=OPTIONS["--version"])] = False,
    json: Json = False,
) -> None:
    if version:
        print_json({"version": __version__}) if json else print(__version__)
    elif context.invoked_subcommand is None:
        raise InputError("name one of the commands, as in drystone run case.toml -o out; drystone --help lists them")


@command
def new(
    generator: Annotated[str | None, typer.Argument(help="what to build; --list shows them")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what can be built.")] = False,
    json: Json = False,
) -> None:
    """Print a commented case to start from."""


@command
def studio(
    source: Annotated[Path | None, typer.Argument(help="case (TOML) or geometry file to begin with")] = None,
    folder: Annotated[Path, typer.Option("--out", "-o", help="folder for saved cases and runs")] = Path(),
    port: Annotated[int, typer.Option(help="0 takes a free one")] = 0,
    browser: Annotated[bool, typer.Option(help="open it in the browser")] = True,
) -> None:
    """Build with sliders and see at once how it stands and fails."""


@command
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
) -> None:
    """Say what a structure is and what is wrong with it; repair it."""


@command
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
    """Write blocks of one format in another, in m with z up."""


@command
def schema() -> None:
    """Print the JSON schema of the case file, for editors."""


@command
def run(
    case: Annotated[Path | None, typer.Argument(help="case file (TOML)")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder for the run")] = None,
    resume: Annotated[Path | None, typer.Option(help="go on with the run in this folder")] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite a run")] = False,
    picture: Annotated[bool, typer.Option("--picture", help="also draw: the last frame, or what statics found")] = False,
    json: Json = False,
) -> None:
    """Compute a case, or go on with one that was cut."""


@command
def search(
    case: Annotated[Path, typer.Argument(help="case file (TOML)")],
    key: Annotated[str, typer.Option(help="the number to vary: table and key, as motion.amplitude or motion.0.amplitude")],
    event: Annotated[str, typer.Option("--for", help="rocking, overturning or standing")],
    between: Annotated[tuple[str, str], typer.Option(help='where it does not happen and where it does: "0.1 g" "0.5 g"')],
    tolerance: Annotated[str, typer.Option(help='how far apart these may be in the end, in the same unit: "0.001 g"')],
    scan: Annotated[int, typer.Option(min=0, help="try this many values between first, and take the lowest change")] = 0,
    json: Json = False,
) -> None:
    """Find the least value for which it rocks, overturns or stands."""


@command
def record(
    files: Annotated[list[Path], typer.Argument(help="files of accelerograms; the format is found out")],
    component: Annotated[str | None, typer.Option(help="the component to take, by its name; all if not given")] = None,
    column: Annotated[int | None, typer.Option(help="the same for a file of columns, counted from 1, the time too")] = None,
    unit: Annotated[str | None, typer.Option(help="of the values, where a file does not say: g, m/s2, cm/s2, ...")] = None,
    time_step: Annotated[float | None, typer.Option(help="[s] between samples, where a file does not say")] = None,
    baseline: Annotated[str | None, typer.Option(help="to take off: constant, linear, quadratic or cubic")] = None,
    band: Annotated[tuple[float, float] | None, typer.Option(help="[Hz] keep frequencies from the one to the other")] = None,
    window: Annotated[tuple[float, float] | None, typer.Option(help="[s] keep what lies between these instants")] = None,
    arias: Annotated[tuple[float, float] | None, typer.Option(help="keep what lies between these shares of Arias")] = None,
    damping: Annotated[float | None, typer.Option(help="ratio of the response spectrum; 0.05 if not given")] = None,
    plot: Annotated[Path | None, typer.Option(help="draw time histories and response spectra (PNG, SVG, PDF)")] = None,
    out: Annotated[Path | None, typer.Option(help="write time and acceleration in m/s2 (CSV)")] = None,
    json: Json = False,
) -> None:
    """Say what ground motions are like: peaks, durations, spectra."""


@command
def study(
    source: Annotated[Path | None, typer.Argument(help="study file (TOML); with --trial the folder of a study")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder for the table; of a trial, for its run")] = None,
    resume: Annotated[Path | None, typer.Option(help="go on with the study in this folder, as it was begun")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="compute failed trials again")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="workers on this machine; one a core if not given")] = None,
    scheduler: Annotated[str | None, typer.Option(help="of Dask, tcp://host:port: its workers compute the trials")] = None,
    full: Annotated[bool, typer.Option("--full", help="the full set, with the keys of [study.full]")] = False,
    plot: Annotated[bool, typer.Option("--plot", help="also draw what was found")] = False,
    trial: Annotated[str | None, typer.Option(help="compute the trial with this key again, as a recorded run")] = None,
    picture: Annotated[bool, typer.Option("--picture", help="also draw that run")] = False,
    json: Json = False,
) -> None:
    """Try a case many times: sweeps, failure domains, fragility. Cut, it goes on where it was."""


@command
def solve(
    file: Annotated[Path, typer.Argument(help="FCLIB (HDF5), siconos (.dat), or a failed step of a run (.npz)")],
    method: Annotated[str | None, typer.Option(help="native if not given, or that of the run")] = None,
    tolerance: Annotated[float | None, typer.Option(help="1e-6 if not given, or that of the run")] = None,
    law: Annotated[str | None, typer.Option(help="associated or coulomb; the file's if not given")] = None,
    output: Annotated[Path | None, typer.Option(help="write reaction and velocity of the contacts (.npz)")] = None,
    json: Json = False,
) -> None:
    """Solve one contact problem from a file."""


@command
def view(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs; several are shown side by side")],
    html: Annotated[Path | None, typer.Option(help="write one file that any browser opens offline, instead")] = None,
    port: Annotated[int, typer.Option(help="of the page; a free one if not given")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="open the page, or only print its address")] = True,
    json: Json = False,
) -> None:
    """Show runs in the browser, also while they are computed. Ctrl-C ends it."""


@command
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


@command
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


@command
def plot(
    folder: Annotated[Path, typer.Argument(help="folder of a run or of a study")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="PNG, SVG or PDF file")] = None,
    what: Annotated[str, typer.Option(help='what to draw, as "energy,blocks=12:14"; the usual if not given')] = "",
    listed: Annotated[bool, typer.Option("--list", help="tell what this run or study has")] = False,
    apart: Annotated[bool, typer.Option("--apart", help="a file for each: plot-energy.pdf, ...")] = False,
    column: Annotated[bool, typer.Option("--column", help="as narrow as a column of a paper")] = False,
    frame: Annotated[int, typer.Option(help="of forces and thrust, from the end if negative; the last if not given")] = -1,
    json: Json = False,
) -> None:
    """Draw curves of a run or a study: histories, energies, domains ..."""


@command
def info(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    mechanism: Annotated[bool, typer.Option("--mechanism", help="also how the last frame differs from the first")] = False,
    json: Json = False,
) -> None:
    """Summarise a run."""


@command
def report(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file")],
    pdf: Annotated[bool, typer.Option("--pdf", help="also print it to a PDF beside it, by Chromium or Chrome")] = False,
    json: Json = False,
) -> None:
    """Write a report of a run: verdict, pictures, input, certificate. Exit code 3: not certified."""


@command
def export(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[Path, typer.Option("--out", "-o", help="vtkhdf, glb, csv, a folder of csv; stl, obj ... of an instant")],
    every: Annotated[float | None, typer.Option(help="[s] take the frames nearest to every so many; all if not given")] = None,
    time: Annotated[float | None, typer.Option(help="[s] instant of a shape or of joints; the last if not given")] = None,
    blocks: Annotated[str | None, typer.Option(help="of histories: numbers, ranges, names, groups, as 12:14+keystone")] = None,
    table: Annotated[str | None, typer.Option(help="of a csv file: histories (if not given), energies or joints")] = None,
    tolerance: Annotated[float | None, typer.Option(help="[m] of a glb file: by which its motion may be off")] = None,
    json: Json = False,
) -> None:
    """Write a run for ParaView, Blender, spreadsheets or CAD. The suffix of the file says for which."""


@command
def verify(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    steps: Annotated[int | None, typer.Option(min=1, help="only so many steps; all if not given")] = None,
    cross: Annotated[bool, typer.Option("--cross", help="follow it with the other integrator until the two part")] = False,
    apart: Annotated[float | None, typer.Option(help="[m] that counts as parted; 1 % of a block's radius if not given")] = None,
    law: Annotated[str | None, typer.Option(help="of cone programs that follow: coulomb (if not given) or associated")] = None,
    step: Annotated[float | None, typer.Option(help="[s] longest time step of the other; 1 ms of cone programs")] = None,
    json: Json = False,
) -> None:
    """Compute a run again and compare bit for bit. With --cross: get a second opinion, by another integrator or way to a
    multiplier. Exit code 3: other bits, or the two part. Only what its folder holds is read."""


@command
def validate(
    id: Annotated[list[str] | None, typer.Option("--id", help="a subject, as H3; may be given several times")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="what takes minutes: the usual")] = False,
    full: Annotated[bool, typer.Option("--full", help="all subjects: hours")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="folder that keeps numbers and runs")] = Path("validation"),
    again: Annotated[bool, typer.Option("--again", help="compute what the folder has already")] = False,
    write: Annotated[Path | None, typer.Option(help="also write a page with figures for each subject into this folder")] = None,
    data: Annotated[Path | None, typer.Option(help="folder of published layouts that are not part of drystone")] = None,
    json: Json = False,
) -> None:
    """Compute published numbers again and judge them. Exit code 1: one neither holds nor is explained."""


@command
def compile(
    jobs: Annotated[int | None, typer.Option(min=1, help="processes that compile; one a core if not given")] = None,
    json: Json = False,
) -> None:
    """Compile all kernels now: for containers and clusters. What a command needs is compiled when it first needs it anyway."""
