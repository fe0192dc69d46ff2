"""Move every module to its room and rewrite all that names modules or paths. Run in the root of a worktree that is clean:

    python move.py [--dry]

`moves.py` beside this file has the map. Afterwards: fix.py, then `ruff check --select I --fix` (fix.py does that).
"""

import ast
import re
import subprocess
import sys
import textwrap
from collections import Counter
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from moves import DOCS, HELPERS, INITS, MODULES, PACKAGES, TEST_NAMES, TESTS

ROOT = Path.cwd()
SRC = ROOT / "src/drystone"
DRY = "--dry" in sys.argv
LINE = 128
notes: list[str] = []


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def tracked() -> list[Path]:
    return [ROOT / name for name in git("ls-files").splitlines()]


def modules_of(paths: list[Path]) -> dict[str, Path]:
    """Old modules and packages by their dotted name."""
    names = {}
    for path in paths:
        if path.suffix == ".py" and path.is_relative_to(SRC) and path != SRC / "__init__.py":
            dotted = ".".join(path.relative_to(SRC).with_suffix("").parts)
            names[dotted.removesuffix(".__init__")] = path
    return names


FILES = tracked()
OLD = modules_of(FILES)
STAYS_TOP = {"__main__"}
KNOWN = set(Path(__file__).with_name("known.txt").read_text().split())  # when the map was made


@cache
def new_module(old: str) -> str:
    """Where a module (or package) goes."""
    if OLD.get(old) and OLD[old].name == "__init__.py":
        return new_package(old)
    if old in STAYS_TOP:
        return old
    if old in MODULES:
        return MODULES[old]
    package, _, leaf = old.rpartition(".")
    if not package:
        raise SystemExit(f"no room is stated for the module {old}: add it to moves.py")
    if old not in KNOWN:
        notes.append(f"new since the map was made, by the rule of its package: {old} -> {new_package(package)}.{leaf}")
    return f"{new_package(package)}.{leaf}"


def new_package(old: str) -> str:
    if old in PACKAGES:
        return PACKAGES[old]
    above, _, leaf = old.rpartition(".")
    return f"{new_package(above)}.{leaf}" if above else old


def translate(dotted: str) -> str | None:
    """`drystone.x.y.name` in the new layout, None if it names nothing of the package."""
    parts = dotted.split(".")[1:]
    for length in range(len(parts), 0, -1):
        head = ".".join(parts[:length])
        if head in OLD:
            return ".".join(["drystone", new_module(head), *parts[length:]])
    return None


# ---- imports of Python files -----------------------------------------------------------------------------------------------

def split_import(module: str, names: list[tuple[str, str | None]]) -> list[tuple[str, str, str | None]]:
    """(new module, name, as) of each name imported from an old module."""
    found = []
    for name, as_name in names:
        whole = f"{module}.{name}"
        dotted = whole.removeprefix("drystone.")
        if dotted in OLD:
            target = "drystone." + new_module(dotted)
            package, _, leaf = target.rpartition(".")
            found.append((package, leaf, as_name, name))
        else:
            target = module if module == "drystone" else translate(module)
            assert target, f"{module} is not known"
            found.append((target, name, as_name, name))
    return found


def statement(module: str, names: list[tuple[str, str | None]], indent: str, comment: str) -> str:
    texts = [f"{name} as {other}" if other else name for name, other in names]
    line = f"from {module} import {', '.join(texts)}"
    if len(indent) + len(line) + len(comment) + 2 > LINE and len(texts) > 1:
        line = f"from {module} import (\n" + "".join(f"{indent}    {text},\n" for text in texts) + f"{indent})"
    return line + (f"  {comment}" if comment else "")


def bound_names(tree: ast.AST) -> set[str]:
    """All names that a file binds or uses other than by import."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return names


def stored_names(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return names | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


Edit = tuple[int, int, str]


def import_edits(path: Path, text: str) -> list[Edit]:
    tree = ast.parse(text)
    offsets = [0]
    for line in text.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line.encode()))
    data = text.encode()

    def at(row: int, column: int) -> int:
        return len(data[: offsets[row - 1] + column].decode())

    edits: list[Edit] = []
    renamed: dict[str, str] = {}
    everything, stored = bound_names(tree), stored_names(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "drystone"):
            continue
        groups: dict[str, list[tuple[str, str | None]]] = {}
        for module, name, as_name, old_name in split_import(node.module, [(a.name, a.asname) for a in node.names]):
            if name != old_name and as_name is None:
                taken = name in everything or old_name in stored
                if taken:
                    as_name = old_name
                    notes.append(f"{path.relative_to(ROOT)}: {name} imported as {old_name}")
                else:
                    renamed[old_name] = name
            groups.setdefault(module, []).append((name, as_name))
        begin, end = at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
        rest = text[end : text.find("\n", end)]
        comment = rest.strip() if "#" in rest else ""
        if "#" in text[begin:end]:
            notes.append(f"{path.relative_to(ROOT)}:{node.lineno}: a comment inside an import is lost")
        if comment:
            end += len(rest)
        indent = " " * node.col_offset
        lines = [statement(module, names, indent, comment if i == 0 else "") for i, (module, names) in enumerate(groups.items())]
        edits.append((begin, end, f"\n{indent}".join(lines)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in renamed:
            begin = at(node.lineno, node.col_offset)
            if text[begin : begin + len(node.id)] == node.id:
                edits.append((begin, begin + len(node.id), renamed[node.id]))
            else:  # inside an f-string, where Python 3.11 knows no columns
                notes.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.id} in an f-string is to be renamed by hand")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("drystone.") and translate(alias.name) != alias.name:
                    notes.append(f"{path.relative_to(ROOT)}:{node.lineno}: import {alias.name}: by hand")
    return edits


# ---- everything else that names modules -------------------------------------------------------------------------------------

NAMED = re.compile(
    r"(?P<imp>from drystone(?:\.\w+)* import (?:\w+(?: as \w+)?)(?:, \w+(?: as \w+)?)*)"
    r"|(?P<path>(?<![\w/.-])(?:(?:src/)?drystone/)?(?:\w+/)*\w+\.(?:py|toml)\b)"
    r"|(?P<dotted>\bdrystone(?:\.[a-zA-Z_]\w*)+)"
    r"|(?P<folder>src/drystone/(?:\w+/)*\w+)(?![\w.])"
)


def new_path(found: str, file: Path) -> str | None:
    """A path to a module as a text names it, where it is now; None if it is none of ours."""
    prefix = re.match(r"(?:src/)?drystone/", found)
    inside = found[prefix.end() :] if prefix else found
    if not inside.endswith(".py"):
        return None
    dotted = inside.removesuffix(".py").replace("/", ".")
    here = file.is_relative_to(SRC)
    if "/" not in inside and not prefix:
        if not here and (file.parent / inside).exists():
            return None
        if here:
            room = ".".join(file.relative_to(SRC).parts[:-1])
            if f"{room}.{dotted}" in OLD:
                dotted = f"{room}.{dotted}" if room else dotted
        if dotted not in OLD:
            same = [name for name in OLD if name.rpartition(".")[2] == dotted]
            if len(same) != 1:
                if same:
                    notes.append(f"{file.relative_to(ROOT)}: {found} may be {same}: by hand")
                return None
            dotted = same[0]
    if dotted not in OLD:
        return None
    if (ROOT / found).exists() and not found.startswith("src/"):
        return None
    target = new_module(dotted)
    if prefix:
        return prefix[0] + target.replace(".", "/") + ".py"
    if here:
        own = ".".join(file.relative_to(SRC).with_suffix("").parts)
        room_now = new_package(own.removesuffix(".__init__")) if own.endswith(".__init__") else new_module(own).rpartition(".")[0] if own in OLD else ""
        if "/" not in inside and room_now == target.rpartition(".")[0]:
            return target.rpartition(".")[2] + ".py"
    return target.replace(".", "/") + ".py"


def in_prose(module: str, names: list[tuple[str, str | None]], file: Path) -> str:
    """An import in a page or a string: on one line, or in a page that would be too wide on several."""
    line = statement(module, names, "", "")
    texts = [f"{name} as {other}" if other else name for name, other in names]
    if "\n" not in line or file.suffix != ".md":
        return f"from {module} import {', '.join(texts)}"
    return f"from {module} import (\n{textwrap.fill(', '.join(texts), LINE - 4, initial_indent='    ', subsequent_indent='    ')},\n)"


def new_import_line(found: str, file: Path) -> str:
    module, names = re.fullmatch(r"from (\S+) import (.+)", found).groups()
    pairs = [tuple(each.split(" as ")) if " as " in each else (each, None) for each in names.split(", ")]
    if module != "drystone" and translate(module) is None:
        return found
    groups: dict[str, list[tuple[str, str | None]]] = {}
    for target, name, as_name, old_name in split_import(module, pairs):
        groups.setdefault(target, []).append((name, as_name or (old_name if name != old_name else None)))
    return ("\n" if file.suffix == ".md" else "; ").join(in_prose(target, each, file) for target, each in groups.items())


def rename(match: re.Match, file: Path) -> str:
    found = match[0]
    if match["imp"]:
        return new_import_line(found, file)
    if match["dotted"]:
        return translate(found) or found
    if match["folder"]:
        parts = found.removeprefix("src/drystone/").split("/")
        for length in range(len(parts), 0, -1):
            head = ".".join(parts[:length])
            if head in OLD and OLD[head].name == "__init__.py":
                return "/".join(["src/drystone", *new_package(head).split("."), *parts[length:]])
        return found
    new = new_path(found, file)
    if new and new != found:
        notes.append(f"{file.relative_to(ROOT)}: {found} -> {new}")
    return new or found


def rewritten(path: Path, text: str) -> str:
    edits = sorted(import_edits(path, text)) if path.suffix == ".py" else []
    pieces, last = [], 0
    for begin, end, new in [*edits, (len(text), len(text), "")]:
        pieces += [NAMED.sub(lambda match: rename(match, path), text[last:begin]), new]
        last = end
    return "".join(pieces)


def to_rewrite(path: Path) -> bool:
    kinds = {".py", ".md", ".toml", ".ts", ".mjs", ".html", ".css", ""}
    kept = path.is_relative_to(ROOT / "tools_of_the_move")
    return path.suffix in kinds and path.is_file() and not kept


# ---- tests -------------------------------------------------------------------------------------------------------------------

UNIT = ROOT / "tests/unit"
ROOM_OF_TEST = {f"test_{name}": room for room, names in TESTS.items() for name in names.split()}


def test_room(path: Path) -> str:
    if path.stem in ROOM_OF_TEST:
        return ROOM_OF_TEST[path.stem]
    used = Counter()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("drystone."):
            room = (translate(node.module) or "..").split(".")[1]
            used[room] += 0.1 if room in ("base", "build", "structure") or node.module == "drystone.io.case" else 1
    room = used.most_common(1)[0][0] if used else "project"
    notes.append(f"test not listed, by its imports: {path.name} -> {room}")
    return room


def new_test(path: Path) -> Path:
    return UNIT / test_room(path) / f"{TEST_NAMES.get(path.stem, path.stem)}.py"


def move_tests() -> None:
    tests = [path for path in FILES if path.parent == UNIT and path.suffix == ".py" and path.stem not in HELPERS]
    names = {}
    for path in tests:
        target = new_test(path)
        names[path.stem] = target.relative_to(ROOT).with_suffix("").as_posix()
        move(path, target)
        text = target.read_text() if not DRY else path.read_text()
        text = re.sub(r"Path\(__file__\)\.parents\[(\d)\]", lambda m: f"Path(__file__).parents[{int(m[1]) + 1}]", text)
        write(target, text)
    for room in {name.split("/")[2] for name in names.values()}:
        write(UNIT / room / "__init__.py", "")
    pattern = re.compile(r"tests([./])unit\1(test_\w+)")
    single = re.compile(r"from tests\.unit import (test_\w+)( as \w+)?")
    for path in tracked_now():
        if not to_rewrite(path):
            continue
        text = path.read_text()
        new = single.sub(lambda m: f"from {names[m[1]].rpartition('/')[0].replace('/', '.')} import "
                                   f"{names[m[1]].rpartition('/')[2]}{m[2] or ''}" if m[1] in names else m[0], text)
        new = pattern.sub(lambda m: names[m[2]].replace("/", m[1]) if m[2] in names else m[0], new)
        if new != text:
            write(path, new)


# ---- files ---------------------------------------------------------------------------------------------------------------------

moved: dict[Path, Path] = {}


def move(path: Path, target: Path) -> None:
    if path == target:
        return
    assert target not in moved.values(), f"two modules would be {target}"
    moved[path] = target
    if not DRY:
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)


def write(path: Path, text: str) -> None:
    if not DRY:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def tracked_now() -> list[Path]:
    return [moved.get(path, path) for path in FILES]


def move_modules() -> None:
    """In two steps, by names that nothing has: `engine/small_steps.py` would else be in the way of a folder."""
    targets = {}
    for old, path in OLD.items():
        new = SRC / new_module(old).replace(".", "/")
        if path.name == "__init__.py":
            if (old in PACKAGES and PACKAGES[old] != old) or old not in PACKAGES:
                targets[path] = new / "__init__.py"
        else:
            targets[path] = new.with_name(new.name + ".py")
    clashes = [target for target, count in Counter(targets.values()).items() if count > 1]
    assert not clashes, clashes
    if DRY:
        return
    for path in targets:
        path.rename(path.with_name(path.name + ".moving"))
    for path, target in targets.items():
        move_from = path.with_name(path.name + ".moving")
        target.parent.mkdir(parents=True, exist_ok=True)
        move_from.rename(target)
        moved[path] = target
    for name, text in INITS.items():
        path = SRC / name.replace(".", "/") / "__init__.py"
        assert not path.exists(), path
        path.write_text(f'"""{text}"""\n')
    for name, text in DOCS.items():
        path = SRC / name.replace(".", "/") / "__init__.py"
        path.write_text(f'"""{text}"""\n')


def move_data() -> None:
    """Folders of files that git does not have, or that are no modules: those beside modules of their package."""
    for path in FILES:
        if path.is_relative_to(SRC) and path.suffix != ".py" and path.parent != SRC:
            old = ".".join(path.relative_to(SRC).parts[:-1])
            target = SRC / new_package(old).replace(".", "/") / path.name
            if target != path:
                move(path, target)
    for old, new in (("page/bundle", "show/page/bundle"), ("kernel/compiled", "base/kernel/compiled")):
        if (SRC / old).exists() and not DRY:
            (SRC / new).parent.mkdir(parents=True, exist_ok=True)
            (SRC / old).rename(SRC / new)


def empty_folders() -> None:
    for folder in sorted(SRC.rglob("*"), reverse=True):
        if folder.is_dir() and folder.name == "__pycache__":
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
    for folder in sorted(SRC.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def main() -> None:
    if (SRC / "base").exists():
        raise SystemExit("the modules are moved already")
    if not DRY and any(not line.startswith("??") for line in git("status", "--porcelain").splitlines()):
        raise SystemExit("the worktree is not clean")
    for old in OLD:  # says which has no room before anything is changed
        new_module(old)
    unknown = [old for old in MODULES if old not in OLD]
    if unknown:
        notes.append(f"in moves.py and not in the tree (any more): {unknown}")
    gitignore = ROOT / ".gitignore"
    for path in FILES:
        if to_rewrite(path) or path == gitignore:
            text = path.read_text()
            new = rewritten(path, text)
            if new != text:
                write(path, new)
    move_modules()
    move_data()
    move_tests()
    if not DRY:
        empty_folders()
        git("add", "--all", "src", "tests", "docs", "bench", "page", ".gitignore", "Makefile", "pyproject.toml", "build_hook.py", "README.md",
            "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
    print("\n".join(dict.fromkeys(notes)))
    print(f"{len(moved)} files moved")


main()
