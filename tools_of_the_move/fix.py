"""What move.py cannot know, as replacements that say so when they find nothing; then long lines and the order of imports.

    python fix.py            in the root of the worktree that move.py has just changed
"""

import ast
import io
import re
import subprocess
import sys
import textwrap
import tokenize
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from merge import merge
from moves import MERGES, MODULES, PACKAGES

ROOT = Path.cwd()
SRC = ROOT / "src/drystone"
HERE = Path(__file__).parent
RUFF = Path(sys.executable).with_name("ruff")
LINE = 128
FOLDERS = ["src", "tests", "bench", "docs", "build_hook.py"]
skipped: list[str] = []


def replace(name: str, *pairs: tuple[str, str]) -> None:
    path = ROOT / name
    if not path.exists():
        skipped.append(f"{name}: is not there")
        return
    text = path.read_text()
    for old, new in pairs:
        if new in text and (old not in text or old in new):
            continue
        if old not in text:
            skipped.append(f"{name}: not found: {old.splitlines()[0][:90]!r}")
        text = text.replace(old, new)
    path.write_text(text)


def new_name(old: str) -> str:
    package, _, leaf = old.rpartition(".")
    return MODULES.get(old) or f"{PACKAGES[package]}.{leaf}"


# ---- code -----------------------------------------------------------------------------------------------------------------------

def rooms_of_the_package() -> None:
    """The modules from which `drystone` loads its names when they are asked for."""
    path = SRC / "__init__.py"
    text = path.read_text()
    names = re.compile(r'^(    "\w+": )"([\w.]+)",$', re.MULTILINE)
    done = {value for value in MODULES.values()}
    text = names.sub(lambda m: f'{m[1]}"{m[2] if m[2] in done or m[2] == "io.case" else new_name(m[2])}",', text)
    path.write_text(text)
    replace("src/drystone/__init__.py", (
        "# `simulate` is not here: the module of that name would hide the function once anything imports it.\n", ""))


def key_of_kernels() -> None:
    replace("src/drystone/base/kernel/digest.py", (
        '''        return "itself" if value.py_func is function else code_digest(value.py_func)
''', '''        return "itself" if value.py_func is function else _called(value.py_func)
'''), (
        "def _is_of_library(", '''def _called(function: types.FunctionType) -> str:
    """Of a kernel that another one calls: its code, and its module and name, by which the stored caller finds it again."""
    return f"{function.__module__}.{function.__qualname__} {code_digest(function)}"


def _is_of_library('''), (
        "(by their digests), the constants", "(by their names and digests), the constants"))


    replace("src/drystone/base/kernel/dispatch.py", (
        """    np.__version__.partition(".")[0],  # how arrays lie in memory changes with the major version at most
""", """    np.__version__.partition(".")[0],  # how arrays lie in memory changes with the major version at most
    __name__,  # stored code names classes of this package by their modules
"""))


def move_need() -> None:
    """`missing_library` says which library is missing: for readers of geometry and of ground motions alike."""
    path = SRC / "io/geometry/drawing.py"
    text = path.read_text()
    found = re.search(r"def missing_library\(library.*?\n\n\n", text, re.DOTALL)
    if not found:
        skipped.append("io/geometry/drawing.py: no function `missing_library`")
        return
    path.write_text(text.replace(found[0], ""))
    errors = SRC / "base/errors.py"
    words = errors.read_text().rstrip("\n") + "\n\n\n" + found[0].rstrip("\n") + "\n"
    if "from pathlib import Path" not in words:
        first = re.search(r"^(?:from|import) ", words, re.MULTILINE)
        words = words[: first.start()] + "from pathlib import Path\n" + words[first.start() :]
    errors.write_text(words)
    for file in SRC.rglob("*.py"):
        text = file.read_text()
        found = re.search(r"^from drystone\.io\.geometry\.drawing import (.*\bmissing_library\b.*)$", text, re.MULTILINE)
        if found and "\n" not in found[0]:
            names = [name for name in found[1].split(", ") if name != "missing_library"]
            new = "from drystone.base.errors import missing_library"
            text = text.replace(found[0], f"from drystone.io.geometry.drawing import {', '.join(names)}\n{new}" if names else new)
            file.write_text(text)
        elif re.search(r"drawing import \([^)]*\bmissing_library\b", text):
            skipped.append(f"{file}: imports missing_library in several lines")


def of_the_code() -> None:
    rooms_of_the_package()
    key_of_kernels()
    move_need()
    replace("src/drystone/results/store/stamp.py", (
        'sorted(Path(__file__).parent.rglob("*.py"))', 'sorted(Path(drystone.__file__).parent.rglob("*.py"))'), (
        "from drystone import __version__\n", "import drystone\nfrom drystone import __version__\n"))
    replace("src/drystone/analysis/safe_multiplier.py", (
        """    shakes = "" if np.isnan(slow.vibrating) else (
        f"; with joints damped as in histories sliding feeds vibrations, and it went on under {slow.vibrating:.5f} in the mean")
""", """    shakes = ""
    if not np.isnan(slow.vibrating):
        shakes = (
            "; with joints damped as in histories sliding feeds vibrations, "
            f"and it went on under {slow.vibrating:.5f} in the mean"
        )
"""))
    replace("src/drystone/engine/small_steps/cell_laws.py", (
        """why}; write it with the arguments of "
                         "drystone.engine.small_steps.cell_stress.stress, without""", """why}; write it with the arguments of "
                         "drystone.engine.small_steps.cell_stress.stress, "
                         "without"""))
    replace("page/build.mjs", ('"src", "drystone", "page", "bundle"', '"src", "drystone", "show", "page", "bundle"'))


def of_what_is_merged() -> None:
    """Docstrings of modules that hold more now."""
    replace("src/drystone/contact/pairs.py", (
        "the pairs of blocks that touch and the chains they form go out.\"\"\"",
        "the pairs of blocks that touch and the chains they form go out.\n\n"
        "Also which blocks nothing bears from below, from the joints of a structure.\n\"\"\""))
    replace("src/drystone/show/export/frames.py", (
        "Which frames of a run are exported, and where the blocks are in them.",
        "Which frames of a run are exported, where the blocks are in them, and the blocks of one frame as a structure again."))
    replace("src/drystone/study/preparation.py", (
        "the checked file and its case go out.\n", "the checked file and its case go out.\n`KINDS` has the kinds of studies by the name "
        "that `kind` of a study file gives them.\n"))
    replace("src/drystone/engine/small_steps/cell_joints.py", (
        '"""The joints that are followed cell by cell:', '"""The joints that are followed cell by cell, until they are broken all over:'))


# ---- tests ----------------------------------------------------------------------------------------------------------------------

def of_the_tests() -> None:
    replace("tests/unit/project/test_wheel.py",
            ('"drystone" / "page" / "bundle"', '"drystone" / "show" / "page" / "bundle"'),
            ('f"drystone/page/bundle/{name}"', 'f"drystone/show/page/bundle/{name}"'),
            ('"drystone" / "kernel" / "compiled"', '"drystone" / "base" / "kernel" / "compiled"'),
            ('"drystone/kernel/compiled/one.kernel"', '"drystone/base/kernel/compiled/one.kernel"'))
    replace("tests/unit/results/test_run_store.py", (
        '"PYTHONPATH": os.path.dirname(__file__)}', '"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}'))
    (ROOT / "tests/test_layers.py").write_text((HERE / "test_layers.txt").read_text())


# ---- docs -----------------------------------------------------------------------------------------------------------------------

def of_the_docs() -> None:
    replace("pyproject.toml", ("# kernel/ uses how", "# base/kernel/ uses how"))
    replace("docs/tour.py", ("`stepping.step`", "`step` of the integrator"))
    replace("docs/modelling.md", ("`measure.stresses(run)` and `measure.largest_stresses(run)`",
                                  "`stresses(run)` and `largest_stresses(run)` of `drystone.results.measures`"))
    replace("docs/plots.md", ("In Python: `view.panels.open_source(folder)`, `read_asked(words, source)`, `plot(source, asked, path)`; every "
                              "`draw_...` of `view/` draws", "In Python, from `drystone.show.plots.panels`: `open_source(folder)`, "
                              "`read_asked(words, source)`, `plot(source, asked, path)`; every `draw_...` of `show/plots/` draws"))
    replace("docs/validation.md", ("`thrust.bearable`", "`bearable` in `analysis/statics/thrust_lines.py`"))
    replace("docs/decisions/0010-deformable-blocks.md", ("`deform.widen`", "`widen` in `engine/cone_step/modal_unknowns.py`"))
    replace("docs/decisions/0014-compiled-once.md", ("`kernel/` has its own", "`base/kernel/` has its own"))
    replace("docs/decisions/0016-lives-of-pairs.md", ("moved to `kernel/`", "moved to `base/kernel/`"))
    replace("src/drystone/results/measures.py", ("`elastic.von_mises`", "`deformable_blocks.von_mises`"),
            ("`elastic.principal`", "`deformable_blocks.principal`"))
    replace("src/drystone/study/process_workers.py", ("`crew.cores`", "`helper_threads.cores`"))
    replace("CONTRIBUTING.md", (
        "- A line finds its room by what it *returns* (`docs/decisions/0001`). Imports point one way; `tests/test_layers.py` has the list.",
        "- A line finds its room by what it *returns* (`docs/decisions/0001`). Imports point one way; `tests/test_layers.py` has the list,\n"
        "  [vocabulary](docs/vocabulary.md) the names that modules had before."), (
        "| `tests/unit/` | small facts of one room |",
        "| `tests/unit/` | small facts of one room, in the folder of its name; `project/`: packaging, benchmarks, docs |"))
    (ROOT / "docs/decisions/0001-records-and-rooms.md").write_text((HERE / "0001-records-and-rooms.md").read_text())
    changes = (ROOT / "CHANGELOG.md").read_text()
    if "docs/vocabulary.md" not in changes:
        replace("CHANGELOG.md", ("\n### Changed results\n", "\n### Changed\n- Modules have moved into thirteen rooms, and some have other "
                "names: docs/vocabulary.md. What `drystone` itself offers is where it was; imports from inside the package\n  change. Results "
                "do not; kernels are compiled once more.\n\n### Changed results\n"))
    vocabulary = ROOT / "docs/vocabulary.md"
    words = vocabulary.read_text() if vocabulary.exists() else "# Words that have changed\n"
    if "## Modules" not in words:
        vocabulary.write_text(words.rstrip("\n") + "\n\n" + (HERE / "vocabulary.md").read_text())
    if "\nvocabulary\n" not in (ROOT / "docs/index.md").read_text():
        replace("docs/index.md", ("results\ntheory\n", "results\ntheory\nvocabulary\n"))


# ---- lines that have become too long ----------------------------------------------------------------------------------------------

def ruff(*words: str) -> str:
    return subprocess.run([RUFF, *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def long_lines() -> list[tuple[Path, int]]:
    lines = ruff("check", "--select", "E501", "--output-format", "concise", *FOLDERS).splitlines()
    return [(ROOT / each.split(":")[0], int(each.split(":")[1])) for each in lines if ": E501" in each]


def prose_rows(text: str) -> set[int]:
    """Rows within strings over several lines that stand for themselves (docstrings), and comments alone in their row."""
    rows = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            rows |= set(range(node.lineno, node.end_lineno + 1))
    return rows


def wrap_prose(lines: list[str], row: int) -> None:
    """Break the paragraph of a row anew, at the same indent; of a table, the row alone."""
    line = lines[row]
    indent = line[: len(line) - len(line.lstrip())]
    table = re.match(r"\s*\S.*?\s{2,}(?=\S)", line)
    if table and not line.lstrip().startswith('"""'):
        hang = " " * len(table[0])
        lines[row] = "\n".join(textwrap.wrap(line, LINE, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False))
        return
    last = row
    if line.count('"""') < 2:
        while last + 1 < len(lines) and lines[last].count('"""') % 2 == (last == row and line.lstrip().startswith('"""')) and (
            (following := lines[last + 1]).strip() and following.startswith(indent) and not following[len(indent)].isspace()
        ) and not following.strip().startswith(('"""', "- ")):
            last += 1
    closing = ""
    words = " ".join(each.strip() for each in lines[row : last + 1])
    if line.count('"""') == 2 and row == last and line.strip().startswith('"""'):
        pass
    wrapped = textwrap.wrap(words, LINE, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    lines[row : last + 1] = ["\n".join(wrapped) + closing]


def comment_above(lines: list[str], row: int) -> bool:
    """A comment behind code goes above it."""
    tokens = list(tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline))
    found = [each for each in tokens if each.type == tokenize.COMMENT and each.start[0] == row + 1]
    if not found or "fmt:" in found[0].string:
        return False
    line, column = lines[row], found[0].start[1]
    indent = line[: len(line) - len(line.lstrip())]
    if not line[:column].strip():  # a comment of its own
        block = row
        words = line.strip("# ").strip()
        while block + 1 < len(lines) and lines[block + 1].startswith(indent + "# "):
            block += 1
            words += " " + lines[block].strip("# ").strip()
        new = textwrap.wrap(words, LINE, initial_indent=indent + "# ", subsequent_indent=indent + "# ")
        lines[row : block + 1] = ["\n".join(new)]
        return True
    lines[row] = f"{indent}{found[0].string}\n{line[:column].rstrip()}"
    return True


def shorten() -> None:
    for _ in range(1000):
        todo = [(path, row) for path, row in long_lines() if (path, row) not in GIVEN_UP]
        if not todo:
            return
        path, row = todo[0]
        text = path.read_text()
        lines = text.split("\n")
        before = text
        if row in prose_rows(text):
            wrap_prose(lines, row - 1)
        elif not comment_above(lines, row - 1):
            ruff("format", "--range", f"{row}:1-{row}:{len(lines[row - 1]) + 1}", str(path))
            if path.read_text() == before:
                GIVEN_UP.add((path, row))
            continue
        path.write_text("\n".join(lines))
        if path.read_text() == before:
            GIVEN_UP.add((path, row))


GIVEN_UP: set[tuple[Path, int]] = set()


def main() -> None:
    of_the_code()
    for old, new in MERGES.items():
        merge(ROOT, old, new, skipped)
    of_what_is_merged()
    of_the_tests()
    of_the_docs()
    ruff("check", "--select", "I", "--fix", "-q", *FOLDERS)
    shorten()
    subprocess.run(["git", "add", "--all", "src", "tests", "docs", "bench", "page", "pyproject.toml", "CONTRIBUTING.md", "CHANGELOG.md"], cwd=ROOT, check=True)
    print("\n".join(skipped))
    for path, row in sorted(GIVEN_UP):
        print(f"too long still: {path.relative_to(ROOT)}:{row}")


main()
