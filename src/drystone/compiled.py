"""Whether the kernels have been compiled on this machine."""

from pathlib import Path

import numba

from drystone import kernel  # noqa: F401 (says where compiled code is kept)


def is_compiled() -> bool:
    """Whether the kernels of a step are in Numba's cache; compiling them takes a minute or two."""
    folder = Path(numba.config.CACHE_DIR)  # type: ignore[attr-defined]
    return any(folder.glob("*/stepping.*.nbi"))
