"""The decorators of compiled code: `@kernel` is `numba.njit` with a disk cache that cannot go stale.

Numba's cache looks only at the file of the function it caches: editing a callee in another file leaves a
cached caller that silently returns old results. The cache folder is therefore keyed by a digest of all sources.

`@inner` is for code that runs for every pair of blocks: `@kernel` without reference counts, which Numba keeps for every
array a function receives (60 % of the narrow phase when measured). Such code cannot allocate: Numba refuses to compile it.
`@inlined` is put in place by the compiler: large records are passed by value, which for a small function costs more than
what it does (12 % of a factorisation), and a constant argument is one in the code.
"""

import hashlib
import os
from pathlib import Path

import numba


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _cache_folder() -> str:
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "drystone"
    return str(base / hashlib.sha256((numba.__version__ + SOURCES).encode()).hexdigest()[:16])


SOURCES = _digest_of_sources()  # SHA-256 of the package as it was loaded

if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = _cache_folder()  # type: ignore[attr-defined]

kernel = numba.njit(cache=True, error_model="numpy")
inner = numba.njit(cache=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]
inlined = numba.njit(cache=True, error_model="numpy", _nrt=False, forceinline=True)  # type: ignore[call-overload]
