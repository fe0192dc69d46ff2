"""Imports point one way: a room uses the rooms below it and never those beside or above (docs/decisions/0001)."""

import ast
from pathlib import Path

import pytest

import drystone

PACKAGE = Path(drystone.__file__).parent
LAYERS = """
    base
    structure, ground, engine.solvers
    build, contact
    engine
    io
    results
    analysis
    study
    show
    validation
    cli
"""  # from the ground up; rooms of one line do not know each other
LEVEL = {room: level for level, line in enumerate(LAYERS.split("\n")) for room in line.replace(",", " ").split()}
TOP = {"__init__.py", "__main__.py", "py.typed"}  # all that lies beside the rooms


def room_of(module: str) -> str:
    """The room of a module, named without `drystone`; the inner one if the layers name it."""
    first, _, rest = module.partition(".")
    inner = f"{first}.{rest.partition('.')[0]}"
    return inner if inner in LEVEL else first


def imported_rooms(tree: ast.AST) -> set[str]:
    """Rooms of drystone imported anywhere in the tree, in functions too; `if TYPE_CHECKING:` loads nothing."""
    found, queue = set(), [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            queue += node.orelse
            continue
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "one import path a name: no relative imports"
            names = [f"{node.module}.{name}" for name in names]
        found |= {room_of(name.removeprefix("drystone.")) for name in names if name.startswith("drystone.")}
        queue += ast.iter_child_nodes(node)
    return found - {"__version__"}


def test_every_room_has_its_place():
    there = {path.name for path in PACKAGE.iterdir()} - TOP - {"__pycache__"}
    assert there == {room.partition(".")[0] for room in LEVEL}
    assert all((PACKAGE / room.replace(".", "/")).is_dir() for room in LEVEL)


@pytest.mark.parametrize("room", sorted(LEVEL))
def test_imports_point_down(room):
    for file in sorted((PACKAGE / room.replace(".", "/")).rglob("*.py")):
        if room_of(".".join(file.relative_to(PACKAGE).with_suffix("").parts)) != room:
            continue
        used = imported_rooms(ast.parse(file.read_text(encoding="utf-8"))) - {room}
        wrong = {other for other in used if LEVEL[other] >= LEVEL[room]}
        assert not wrong, f"{file.relative_to(PACKAGE)} imports {sorted(wrong)}, beside or above {room!r}"


def test_nothing_imports_the_program():
    """The file beside the rooms that starts the program knows the commands alone."""
    assert imported_rooms(ast.parse((PACKAGE / "__main__.py").read_text(encoding="utf-8"))) == {"cli"}
