"""The arguments and options of each command with their help, as Typer reads them.

A function here only declares the options; the work is done by the function of the same name in the module of the same name,
which takes the same keyword arguments. That module is loaded when the command is called, not when its help is printed.
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
from drystone.base.errors import InputError
from drystone.cli.commands import OPTIONS, help_text
from drystone.cli.output import EXIT_DONE, print_json

USAGE_ERROR: Any = typer.BadParameter.__mro__[1]  # click's UsageError; the place of click in Typer depends on the version


class Program(TyperGroup):
    """The program with all commands; its help text comes from commands.py."""

    def get_help(self, ctx: Any) -> str:
        return help_text()


TYPER_OPTIONS: Any = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
COMMANDS: dict[str, Callable[..., Any]] = {}
app = typer.Typer(cls=Program, **TYPER_OPTIONS)


def run_command_line(arguments: list[str]) -> int:
    """Run a command and return its exit code. Typer reads only the options of the command that is named first."""
    name = "drystone"
    program = app
    if arguments[0] in COMMANDS:
        name = f"drystone {arguments[0]}"
        program = typer.Typer(**TYPER_OPTIONS)
        program.command()(COMMANDS[arguments[0]])
        arguments = arguments[1:]
    try:
        return program(arguments, prog_name=name, standalone_mode=False) or EXIT_DONE
    except USAGE_ERROR as error:  # a wrong command, option or value
        raise InputError(error.format_message()) from None
    except typer.Abort:
        raise KeyboardInterrupt from None


def command(declaration: Callable[..., None]) -> Callable[..., Any]:
    """Register a command: a function here declares its options, the module of the same name does the work."""
    name = declaration.__name__

    @wraps(declaration)
    def run_module(**options: Any) -> Any:
        module = import_module(f"drystone.cli.{name}")
        if not gc.isenabled():  # entry.py switched it off; the modules loaded by now stay in memory until the end
            gc.freeze()
            gc.enable()
        return getattr(module, name)(**options)

    COMMANDS[name] = run_module
    return app.command()(run_module)


Json = Annotated[bool, typer.Option("--json", help=OPTIONS["--json"])]

# Options of geometry files.
Unit = Annotated[
    str | None, typer.Option(help="unit of a geometry file: m, dm, cm, mm or km; by default the one that the file states")
]
Up = Annotated[str | None, typer.Option(help="axis of a geometry file that points upwards: x, y or z")]
Supports = Annotated[
    list[str] | None, typer.Option(help='supports: "lowest", or the name of a block or group; may be repeated')
]
Only = Annotated[list[str] | None, typer.Option(help="read only this block or group (layer); may be repeated")]
Depth = Annotated[str | None, typer.Option(help='thickness of the flat outlines in a geometry file, as "0.5 m"')]

# Options of pictures.
Color = Annotated[
    str | None,
    typer.Option(help="what the colours show: stone, displacement, velocity, rotation, joint pressure, macro-block, ..."),
]
Most = Annotated[float | None, typer.Option(help="[SI] upper end of the colour scale; by default the largest value")]
Exaggerate = Annotated[float | None, typer.Option(help="factor by which displacements are drawn larger")]
View = Annotated[str | None, typer.Option(help="direction of view: corner, front, side, top or iso")]
Azimuth = Annotated[float | None, typer.Option(help="[deg] azimuth of the camera; 0 looks along +y")]
Elevation = Annotated[float | None, typer.Option(help="[deg] elevation of the camera above the horizon")]
Section = Annotated[str | None, typer.Option(help="hide the blocks between the camera and a plane, as x=0.5 [m]")]
Size = Annotated[str | None, typer.Option(help="width and height in pixels, as 1920x1080")]
Ghost = Annotated[bool, typer.Option("--ghost", help="also draw the outline of the initial shape")]
Forces = Annotated[bool, typer.Option("--forces", help="draw the forces in the joints")]
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
        raise InputError("name a command, as in drystone run case.toml -o out; drystone --help lists all commands")


@command
def new(
    generator: Annotated[str | None, typer.Argument(help="name of the generator; --list shows all")] = None,
    listed: Annotated[bool, typer.Option("--list", help="list all generators")] = False,
    json: Json = False,
) -> None:
    """Print a commented case to start from."""


@command
def studio(
    source: Annotated[Path | None, typer.Argument(help="case (TOML) or geometry file to start from")] = None,
    folder: Annotated[Path, typer.Option("--out", "-o", help="folder for saved cases and runs")] = Path(),
    port: Annotated[int, typer.Option(help="port of the page; 0 takes a free one")] = 0,
    browser: Annotated[bool, typer.Option(help="open the page in the browser")] = True,
) -> None:
    """Build with sliders; see at once how the structure stands and fails."""


@command
def check(
    source: Annotated[Path, typer.Argument(help="case (TOML), geometry file, or a folder of meshes")],
    fix: Annotated[
        Path | None, typer.Option(help="make the repairs that are safe and write the blocks to this new file")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(help="tolerance of nearly touching blocks and nearly flat faces, as a share of the block size"),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="draw the blocks with findings in colour (PNG)")] = None,
    unit: Unit = None,
    up: Up = None,
    supports: Supports = None,
    only: Only = None,
    depth: Depth = None,
    json: Json = False,
) -> None:
    """Describe a structure, find its defects and repair them."""


@command
def convert(
    source: Annotated[Path, typer.Argument(help="geometry file, or a folder of meshes")],
    out: Annotated[Path, typer.Argument(help="file to write: json, compas.json, obj, stl, ply, off, 3dm or dxf")],
    unit: Unit = None,
    up: Up = None,
    density: Annotated[str | None, typer.Option(help='density where the source gives none, as "2200 kg/m3"')] = None,
    supports: Supports = None,
    only: Only = None,
    depth: Depth = None,
    decompose: Annotated[bool, typer.Option("--decompose", help="approximate non-convex solids by convex pieces")] = False,
    json: Json = False,
) -> None:
    """Convert blocks to another file format, in m with z up."""


@command
def schema() -> None:
    """Print the JSON schema of the case file, for editors."""


@command
def run(
    case: Annotated[Path | None, typer.Argument(help="case file (TOML)")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder for the run")] = None,
    resume: Annotated[Path | None, typer.Option(help="resume the run in this folder")] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite an existing run")] = False,
    picture: Annotated[bool, typer.Option("--picture", help="also draw the last frame or, for statics, the result")] = False,
    json: Json = False,
) -> None:
    """Compute a case, or resume one that was interrupted."""


@command
def search(
    case: Annotated[Path, typer.Argument(help="case file (TOML)")],
    key: Annotated[str, typer.Option(help="number to vary, as table and key: motion.amplitude or motion.0.amplitude")],
    event: Annotated[str, typer.Option("--for", help="event to find: rocking, overturning or standing")],
    between: Annotated[
        tuple[str, str], typer.Option(help='a value at which it does not happen and one at which it does: "0.1 g" "0.5 g"')
    ],
    tolerance: Annotated[str, typer.Option(help='largest distance of the two values in the end, in the same unit: "0.001 g"')],
    scan: Annotated[int, typer.Option(min=0, help="first try this many values in between, and refine the lowest change")] = 0,
    json: Json = False,
) -> None:
    """Find the smallest value at which it rocks, overturns or stands."""


@command
def record(
    files: Annotated[list[Path], typer.Argument(help="files of accelerograms; the format is detected")],
    component: Annotated[str | None, typer.Option(help="name of the component; by default all components")] = None,
    column: Annotated[
        int | None, typer.Option(help="number of the column in a file of columns, counted from 1 with the time column")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="unit of the values if the file does not state it: g, m/s2, cm/s2, ...")
    ] = None,
    time_step: Annotated[float | None, typer.Option(help="[s] time between samples if the file does not state it")] = None,
    baseline: Annotated[str | None, typer.Option(help="baseline to subtract: constant, linear, quadratic or cubic")] = None,
    band: Annotated[tuple[float, float] | None, typer.Option(help="[Hz] keep the frequencies between these two")] = None,
    window: Annotated[tuple[float, float] | None, typer.Option(help="[s] keep the part between these two instants")] = None,
    arias: Annotated[
        tuple[float, float] | None, typer.Option(help="keep the part between these two shares of the Arias intensity")
    ] = None,
    damping: Annotated[float | None, typer.Option(help="damping ratio of the response spectrum; 0.05 by default")] = None,
    plot: Annotated[Path | None, typer.Option(help="draw time histories and response spectra (PNG, SVG, PDF)")] = None,
    out: Annotated[Path | None, typer.Option(help="write time and acceleration in m/s2 (CSV)")] = None,
    json: Json = False,
) -> None:
    """Describe ground motions: peaks, durations, response spectra."""


@command
def study(
    source: Annotated[Path | None, typer.Argument(help="study file (TOML); with --trial the folder of a study")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="folder for the table or, with --trial, for the run")] = None,
    resume: Annotated[Path | None, typer.Option(help="resume the study in this folder with its own study file")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="compute failed trials again")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="worker processes on this machine; by default one per core")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="address of a Dask scheduler, tcp://host:port, whose workers compute the trials")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="compute the full study, with the keys of [study.full]")] = False,
    plot: Annotated[bool, typer.Option("--plot", help="also draw the results")] = False,
    trial: Annotated[str | None, typer.Option(help="compute the trial with this key again as a recorded run")] = None,
    picture: Annotated[bool, typer.Option("--picture", help="also draw that run")] = False,
    json: Json = False,
) -> None:
    """Compute a case many times: sweeps, failure domains, fragility. An interrupted study can be resumed."""


@command
def solve(
    file: Annotated[Path, typer.Argument(help="FCLIB (HDF5), siconos (.dat), or a failed step of a run (.npz)")],
    method: Annotated[str | None, typer.Option(help="solver; by default native, or the solver of the run")] = None,
    tolerance: Annotated[float | None, typer.Option(help="tolerance; by default 1e-6, or the tolerance of the run")] = None,
    law: Annotated[str | None, typer.Option(help="friction law: associated or coulomb; by default the law in the file")] = None,
    output: Annotated[Path | None, typer.Option(help="write the reactions and velocities of the contacts (.npz)")] = None,
    json: Json = False,
) -> None:
    """Solve one contact problem from a file."""


@command
def view(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs; several are shown side by side")],
    html: Annotated[Path | None, typer.Option(help="instead of serving, write one file that any browser opens offline")] = None,
    port: Annotated[int, typer.Option(help="port of the page; by default a free one")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="open the page in the browser, or only print its address")
    ] = True,
    json: Json = False,
) -> None:
    """Show runs in the browser, even while they are being computed. Stop it with Ctrl-C."""


@command
def picture(
    source: Annotated[Path, typer.Argument(help="folder of a run, or a case file")],
    out: Annotated[Path, typer.Option("--out", "-o", help="PNG file")],
    frame: Annotated[int | None, typer.Option(help="number of the frame, negative from the end; by default the last")] = None,
    time: Annotated[float | None, typer.Option(help="[s] draw the frame nearest to this time")] = None,
    strip: Annotated[int | None, typer.Option(help="draw this many instants side by side")] = None,
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
    """Draw a frame of a run, or the structure of a case."""


@command
def movie(
    source: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="movie file: fall.mp4, fall.gif, or single images as frame-%04d.png")
    ],
    fps: Annotated[float, typer.Option(help="images per second")] = 25.0,
    speed: Annotated[float, typer.Option(help="speed relative to real time; 0.5 is slow motion")] = 1.0,
    start: Annotated[float | None, typer.Option("--from", help="[s] time of the first image; for statics, the stage")] = None,
    end: Annotated[float | None, typer.Option("--to", help="[s] time of the last image; for statics, the stage")] = None,
    orbit: Annotated[float, typer.Option(help="[deg] angle by which the camera moves around the structure")] = 0.0,
    jobs: Annotated[int, typer.Option(help="number of processes that draw")] = 1,
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
    """Make a movie of a run or, for statics, of its mechanism."""


@command
def plot(
    folder: Annotated[Path, typer.Argument(help="folder of a run or of a study")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="PNG, SVG or PDF file")] = None,
    what: Annotated[str, typer.Option(help='curves to plot, as "energy,blocks=12:14"; by default the usual ones')] = "",
    listed: Annotated[bool, typer.Option("--list", help="list the curves of this run or study")] = False,
    apart: Annotated[bool, typer.Option("--apart", help="write one file per plot: plot-energy.pdf, ...")] = False,
    column: Annotated[bool, typer.Option("--column", help="make the plot as narrow as a column of a journal")] = False,
    frame: Annotated[int, typer.Option(help="frame of forces and thrust, negative from the end; by default the last")] = -1,
    json: Json = False,
) -> None:
    """Plot curves of a run or a study: histories, energies, domains ..."""


@command
def info(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    mechanism: Annotated[
        bool, typer.Option("--mechanism", help="also print how the blocks have moved from the first frame to the last")
    ] = False,
    json: Json = False,
) -> None:
    """Summarise a run."""


@command
def report(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file")],
    pdf: Annotated[bool, typer.Option("--pdf", help="also print the report to a PDF beside it, by Chromium or Chrome")] = False,
    json: Json = False,
) -> None:
    """Write the report of a run: verdict, pictures, input, certificate. Exit code 3: the run is not certified."""


@command
def export(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="output: vtkhdf, glb, csv or a folder of csv files; stl, obj ... for one instant"),
    ],
    every: Annotated[float | None, typer.Option(help="[s] interval between the exported frames; by default all frames")] = None,
    time: Annotated[float | None, typer.Option(help="[s] instant of a shape or of the joints; by default the last")] = None,
    blocks: Annotated[
        str | None, typer.Option(help="blocks of the histories: numbers, ranges, names or groups, as 12:14+keystone")
    ] = None,
    table: Annotated[str | None, typer.Option(help="table of a csv file: histories (default), energies or joints")] = None,
    tolerance: Annotated[float | None, typer.Option(help="[m] largest error of the motion in a glb file")] = None,
    json: Json = False,
) -> None:
    """Export a run to ParaView, Blender, spreadsheets or CAD. The suffix of the file selects the format."""


@command
def verify(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    steps: Annotated[int | None, typer.Option(min=1, help="number of steps to compare; by default all")] = None,
    cross: Annotated[
        bool, typer.Option("--cross", help="compute it by another method and compare until the two diverge")
    ] = False,
    apart: Annotated[
        float | None, typer.Option(help="[m] distance at which the two have diverged; by default 1 % of the radius of a block")
    ] = None,
    law: Annotated[str | None, typer.Option(help="friction law of the cone programs: coulomb (default) or associated")] = None,
    step: Annotated[
        float | None, typer.Option(help="[s] longest time step of the other method; for cone programs 1 ms by default")
    ] = None,
    json: Json = False,
) -> None:
    """Compute a run again and compare the results bit for bit. With --cross: get a second opinion by another
    integrator, or by another method for a multiplier. Exit code 3: the bits differ, or the two diverge. Only the folder of the
    run is read."""


@command
def validate(
    id: Annotated[list[str] | None, typer.Option("--id", help="subject to compute, as H3; may be repeated")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="the subjects that take minutes (default)")] = False,
    full: Annotated[bool, typer.Option("--full", help="all subjects, which takes hours")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="folder for the numbers and the runs")] = Path("validation"),
    again: Annotated[bool, typer.Option("--again", help="compute even the subjects that the folder already holds")] = False,
    write: Annotated[Path | None, typer.Option(help="also write a page with figures per subject into this folder")] = None,
    data: Annotated[Path | None, typer.Option(help="folder of published data that are not part of drystone")] = None,
    json: Json = False,
) -> None:
    """Compute published numbers again and compare them. Exit code 1: a number neither holds nor is explained."""


@command
def compile(
    jobs: Annotated[int | None, typer.Option(min=1, help="number of processes that compile; by default one per core")] = None,
    json: Json = False,
) -> None:
    """Compile all kernels now, as for containers and clusters. Otherwise kernels are compiled when they are first needed."""
