"""Make one module part of another: its imports and its definitions go to the end of the other, and all imports follow."""

import ast
import re
from pathlib import Path

SEARCHED = ("src/**/*.py", "tests/**/*.py", "bench/**/*.py", "docs/**/*.py", "docs/**/*.md", "*.md")


def _parts(text: str) -> tuple[str, list[str], str]:
    """Docstring with what is before it, the import statements, and the rest."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    has_words = bool(tree.body) and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
    head_end = tree.body[0].end_lineno if has_words else 0
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rows = {row for node in imports for row in range(node.lineno, node.end_lineno + 1)}
    texts = ["".join(lines[node.lineno - 1 : node.end_lineno]) for node in imports]
    rest = "".join(line for row, line in enumerate(lines, 1) if row > head_end and row not in rows)
    return "".join(lines[:head_end]), texts, rest.strip("\n")


def _defined(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def merge(root: Path, old: str, new: str, skipped: list[str]) -> None:
    source, target = (root / "src/drystone" / f"{name.replace('.', '/')}.py" for name in (old, new))
    if not source.exists() or not target.exists():
        skipped.append(f"merge {old} into {new}: a file is not there")
        return
    moving, staying = source.read_text(), target.read_text()
    both = _defined(moving) & _defined(staying) - {"Array"}
    if both:
        skipped.append(f"merge {old} into {new}: both define {sorted(both)}; left apart")
        return
    head, imports, rest = _parts(staying)
    _, more, body = _parts(moving)
    body = re.sub(r"^Array = np\.ndarray\n+", "", body, flags=re.MULTILINE) if "Array = " in rest else body
    imports = [each for each in dict.fromkeys(imports + more) if f"drystone.{old} " not in each and f"drystone.{new} " not in each]
    constants, _, functions = body.partition("\n\n\n") if not body.startswith(("def ", "@", "class ")) else ("", "", body)
    own = re.match(r"Array = np\.ndarray\n", rest)
    begin = f"{own[0]}\n" if own else ""
    rest = rest[len(own[0]) :].lstrip("\n") if own else rest
    pieces = [head.rstrip("\n"), "".join(imports).rstrip("\n"), begin.rstrip("\n"), constants.strip("\n")]
    text = "\n\n".join(each for each in pieces if each) + f"\n\n\n{rest}\n" + (f"\n\n{functions}\n" if functions else "")
    target.write_text(text)
    source.unlink()
    package_old, _, leaf_old = old.rpartition(".")
    package_new, _, leaf_new = new.rpartition(".")
    for pattern in SEARCHED:
        for path in root.glob(pattern):
            words = path.read_text()
            changed = re.sub(rf"drystone\.{re.escape(old)}\b", f"drystone.{new}", words)
            changed = changed.replace(f"{old.replace('.', '/')}.py", f"{new.replace('.', '/')}.py")
            if path.parent == source.parent:
                changed = re.sub(rf"(?<![\w/]){leaf_old}\.py\b", f"{leaf_new}.py", changed)
            if re.search(rf"from drystone\.{re.escape(package_old)} import [^(\n]*\b{leaf_old}\b", changed):
                skipped.append(f"{path.relative_to(root)} imports the module {old}: by hand")
            if changed != words:
                path.write_text(changed)
