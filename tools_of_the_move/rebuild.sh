#!/bin/sh
# Build the branch anew on a revision (main): the move as one commit, then the patches that make one of many copies, then
# the formatter. Run in the root of the worktree of the branch, which is reset:   rebuild.sh [REVISION]
HERE=$(cd "$(dirname "$0")" && pwd)
set -e
git reset -q --hard "${1:-main}"
git clean -fdq
"$HERE/again.sh"
rm -rf tools_of_the_move
mkdir tools_of_the_move
(cd "$HERE" && tar cf - --exclude=__pycache__ .) | tar xf - -C tools_of_the_move
git add -A
git commit -qm "Every module has a room, and the rooms have layers one can recite

Modules that lay flat beside the packages are now in thirteen rooms, from base to cli; the unit tests mirror
them. A stored kernel is found by the modules of the kernels it calls as well, because it looks for them there.
Nothing else changes what is computed."
for patch in "$HERE"/patches/*.patch; do
  if ! git am -q -3 "$patch" > /tmp/house-am.log 2>&1; then
    git am --abort
    echo "does not apply any more, left out: $(basename "$patch")"
  fi
done
"$HERE/format.sh"
git log --oneline "${1:-main}"..HEAD
