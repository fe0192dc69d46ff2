"""Commands start at once: each loads what it needs and nothing else. Truth: the modules that are there when a command of a
process of its own has ended; seconds are not asked. And the lines of `drystone --help` are those of the commands."""

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import drystone
from drystone.cli import main
from drystone.cli.commands import GROUPS, OPTIONS, help_text
from drystone.cli.options import app
from drystone.io.case import read_case
from drystone.results.store.run_writer import RunWriter
from tests.unit import synthetic

ARCH = Path(__file__).parents[3] / "examples" / "oppenheim-arch.toml"
PROGRAM = typer.main.get_command(app)
NAMES = [name for names in GROUPS.values() for name in names]

COMPUTING = {"numba", "llvmlite"}
SCIENCE = {"numpy", "h5py", "scipy", "pydantic_core._pydantic_core", "rich.table"}
DRAWING = {"matplotlib", "PIL", "drystone.show.pictures.render"}
OTHERS = {"distributed", "dask", "clarabel", "scipy.optimize", "scipy.signal", "scipy.stats", "pyarrow", "ezdxf", "rhino3dm"}

LISTING = """
import json, sys
from drystone.cli import main
codes = []
for line in json.loads(sys.argv[1]):
    try:
        main(line)
    except SystemExit as end:
        codes.append(end.code or 0)
print(json.dumps([codes, sorted(sys.modules)]))
"""


def loaded(*lines):
    """The exit codes of commands, one after the other in one process, and the modules that were loaded for them."""
    given = json.dumps([list(map(str, line)) for line in lines])
    said = subprocess.run([sys.executable, "-c", LISTING, given], capture_output=True, text=True, check=True)
    codes, modules = json.loads(said.stdout.splitlines()[-1])
    return codes, set(modules)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A run of the arch whose numbers are made up."""
    folder, case = tmp_path_factory.mktemp("start") / "run", read_case(ARCH)
    model = case.model()
    begin = synthetic.start(model)
    with RunWriter.create(folder, case.text, model, begin, every_steps=5, planned_steps=20, motions=case.motions) as writer:
        for step in synthetic.steps(begin, 20):
            writer.add(step)
    return folder


def test_help_loads_nothing():
    codes, modules = loaded([], ["--help"])
    assert codes == [0, 0]
    assert not modules & (COMPUTING | SCIENCE | DRAWING | OTHERS | {"typer", "rich", "pydantic"})


def test_what_is_no_work_loads_typer_only():
    right, wrong = [["--version"], *([name, "--help"] for name in NAMES)], [["chek"], ["run", "--fast"], ["info"]]
    codes, modules = loaded(*right, *wrong)
    assert codes == [0] * len(right) + [2] * len(wrong)
    assert not modules & (COMPUTING | DRAWING | OTHERS | {"numpy", "h5py", "scipy", "rich.table"})
    assert not {f"drystone.cli.{name}" for name in NAMES} & modules


def test_a_new_case_needs_no_kernel():
    codes, modules = loaded(["new", "arch"], ["new", "--list"], ["schema"])
    assert codes == [0, 0, 0]
    assert not modules & (COMPUTING | DRAWING | OTHERS | {"scipy", "h5py", "rich.table"})


def test_info_reads_and_computes_nothing(run_folder):
    codes, modules = loaded(["info", run_folder], ["info", run_folder, "--json"])
    assert codes == [0, 0]
    assert not modules & (
        COMPUTING | DRAWING | OTHERS | {"scipy", "drystone.engine.solvers.native", "drystone.engine.cone_step.integrator"}
    )


def test_check_loads_contact_detection_and_no_solver():
    codes, modules = loaded(["check", ARCH])
    assert codes == [0]
    assert "drystone.contact.detection" in modules
    assert not modules & (
        DRAWING | OTHERS | {"h5py", "drystone.engine.solvers.native", "drystone.engine.cone_step.integrator", "scipy.spatial"}
    )


def test_the_package_alone_loads_nothing():
    """`import drystone` is light, and yet says what it has."""
    program = "import json, sys, drystone; print(json.dumps([dir(drystone), sorted(sys.modules)]))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    names, modules = json.loads(said.stdout)
    assert names == sorted(drystone.__all__)
    assert not set(modules) & (COMPUTING | SCIENCE | DRAWING | OTHERS | {"typer", "rich", "pydantic"})


def test_python_m_is_the_program():
    """`python -m drystone` and `python -m drystone.cli` do what `drystone` does."""
    for module in ("drystone", "drystone.cli"):
        said = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
        assert said.stdout.strip() == drystone.__version__
        wrong = subprocess.run([sys.executable, "-m", module, "chek"], capture_output=True, text=True, check=False)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert wrong.stderr.startswith("drystone: ")


def test_the_help_lists_all_commands_with_their_first_sentence():
    assert sorted(NAMES) == sorted(PROGRAM.commands)
    for names in GROUPS.values():
        for name, line in names.items():
            help = PROGRAM.commands[name].help
            assert line == help or help.startswith(f"{line} "), name


def test_the_help_lists_all_options():
    """Those of the program itself, with their help; --help is click's own."""
    own = {option: parameter.help for parameter in PROGRAM.params for option in parameter.opts}
    assert own | {"--help": OPTIONS["--help"]} == OPTIONS


def test_the_help_fits_a_terminal(capsys):
    assert max(map(len, help_text().splitlines())) <= 80
    for line in ([], ["--help"], ["--help", "--json"], ["--json", "--help"]):
        with pytest.raises(SystemExit) as end:
            main(line)
        assert (end.value.code or 0, capsys.readouterr().out) == (0, help_text() + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_the_work_takes_what_the_line_says(name):
    """The function that does the work has the keywords of the one in cli/options.py, and no defaults of its own."""
    work = inspect.signature(getattr(import_module(f"drystone.cli.{name}"), name))
    said = inspect.signature(inspect.unwrap(getattr(import_module("drystone.cli.options"), name)))
    work.bind(**dict.fromkeys(said.parameters))
    assert not [each for each in work.parameters.values() if each.default is not each.empty]
    for each in work.parameters.values():
        if each.kind is not each.VAR_KEYWORD:
            annotated = said.parameters[each.name].annotation
            assert each.annotation == getattr(annotated, "__origin__", annotated), each.name


def test_the_program_finds_garbage_once_it_works():
    """As a process of its own it begins without; within another program nothing is changed."""
    program = """
import gc, os, sys
from drystone.cli import main
for begin in (lambda: main(["new", "arch"]), main):
    try:
        begin()
    except SystemExit:
        print(gc.isenabled(), gc.get_freeze_count() > 0, os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    bare = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    for threads, found in ((None, "1"), ("2", "2")):
        given = bare if threads is None else bare | {"OPENBLAS_NUM_THREADS": threads}
        line = [sys.executable, "-c", program, "new", "arch"]
        said = subprocess.run(line, capture_output=True, text=True, check=True, env=given)
        told = [line for line in said.stdout.splitlines() if line.startswith("True ")]
        assert told == [f"True False {threads}", f"True True {found}"]
