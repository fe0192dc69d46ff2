"""`@inner`: the decorator of compiled code that runs for every pair of blocks; `@kernel` without reference counts.

Numba counts references to every array that a function receives, also inside the records; with some 30 arrays and a
dozen calls a pair this was 60 % of the narrow phase (measured: 4.6 -> 1.9 ms for 1,000 blocks). Without the counting
such code cannot allocate, which is the rule for inner loops anyway, and Numba refuses to compile it if it tries.
"""

import numba

import drystone.kernel  # noqa: F401  sets the cache folder before any decorator runs

inner = numba.njit(cache=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]
