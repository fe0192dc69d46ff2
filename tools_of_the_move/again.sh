#!/bin/sh
# In the root of a clean worktree: move, fix, check.
set -e
P=/work/main/.venv/bin
$P/python "$(dirname "$0")/move.py" > /tmp/house-move.log
grep -E "by hand|lost|new since|listed|not in the tree" /tmp/house-move.log || true
$P/python "$(dirname "$0")/fix.py"
$P/ruff check --output-format concise src tests bench docs build_hook.py || echo "ruff: see above"
PYTHONPATH=$PWD/src $P/mypy || echo "mypy: see above"
PYTHONPATH=$PWD/src $P/python -m pytest -q -p no:cacheprovider tests/test_layers.py || echo "layers: see above"
