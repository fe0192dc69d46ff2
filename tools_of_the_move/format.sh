#!/bin/sh
# The formatter, as a commit of its own: run last.
set -e
P=/work/main/.venv/bin
$P/python - <<'P2'
from pathlib import Path
for name, old, new in (
    ("Makefile", "\t$(BIN)/ruff check src tests bench build_hook.py\n",
     "\t$(BIN)/ruff check src tests bench docs build_hook.py\n\t$(BIN)/ruff format --check src tests bench docs build_hook.py\n"),
    ("pyproject.toml", "[tool.ruff.lint]\n", '[tool.ruff.format]\nexclude = ["*.md"]\n\n[tool.ruff.lint]\n'),
    ("CONTRIBUTING.md", "| `make lint` | runs ruff and mypy; both must be clean |",
     "| `make lint` | runs ruff, its formatter and mypy; all must be clean. `.venv/bin/ruff format src tests bench docs` formats |"),
):
    path = Path(name)
    text = path.read_text()
    if old in text:
        path.write_text(text.replace(old, new))
    else:
        print(f"{name}: not found: {old.strip()[:80]}")
P2
$P/ruff format -q src tests bench docs build_hook.py
$P/ruff format --check -q src tests bench docs build_hook.py
$P/ruff check --output-format concise src tests bench docs build_hook.py || echo "ruff: see above"
git commit -qam "The formatter of ruff formats all Python, and make lint checks it"
git show --stat HEAD | tail -1
