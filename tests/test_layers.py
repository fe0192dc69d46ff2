"""Imports point one way: a room uses the rooms below it and never those beside or above (docs/decisions/0001)."""

import ast
from pathlib import Path

import pytest

import drystone

PACKAGE = Path(drystone.__file__).parent
LAYERS = [  # from the ground up; rooms of one layer do not know each other
    {"blas", "errors", "quaternion", "undisturbed"},
    {"kernel"},
    {"units", "solid", "problem", "spin", "laws", "brick", "neighbours"},
    {"ground"},
    {"motion"},
    {"overlap", "elastic"},
    {"model"},
    {"build", "contact", "loads"},
    {"changes", "doctor", "joints", "mechanism", "resultants", "solvers", "state"},
    {"deform", "landing", "mortar", "push_apart", "strain"},
    {"ledger"},
    {"engine", "io", "stepping"},
    {"simulate", "stamp", "forecast"},
    {"record", "statics"},
    {"writer"},
    {"session", "measure", "solve"},
    {"analyse"},
    {"study", "quantities", "verify", "cross"},
    {"search"},
    {"view"},
    {"export", "page", "report", "validate"},
    {"compile_all"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
ROOMS = sorted({path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")} - {"__init__"})


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
        found |= {name.split(".")[1] for name in names if name.startswith("drystone.")}
        queue += ast.iter_child_nodes(node)
    return found - {"__version__"}


def test_every_room_has_its_place():
    assert set(LEVEL) == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_down(room):
    place = PACKAGE / room
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    for file in files:
        used = imported_rooms(ast.parse(file.read_text(encoding="utf-8"))) - {room}
        wrong = {other for other in used if LEVEL[other] >= LEVEL[room]}
        assert not wrong, f"{file.relative_to(PACKAGE)} imports {sorted(wrong)}, beside or above {room!r}"
