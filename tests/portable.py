"""`python tests/portable.py [TESTS]` (`make test-portable`): tests on what another processor would compute.

Processors round alike but not in the same places: a fused multiply-add rounds once where two instructions round twice, and
wider registers add in another order. Here kernels are compiled for the oldest 64-bit x86 (no FMA, no AVX), OpenBLAS takes the
code that it has for a processor of 2004, and NumPy does without what it would choose on this one. A test that passes here and
in `make test` asks for what mechanics promises, not for the last bits of one machine. It takes some minutes, of which the
compiler takes one or two; the kernels have a cache of their own. On other processors than x86-64 there is nothing to choose.
"""

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

TESTS = ["tests/analytic", "tests/examples"]
LIMIT = 30 * 60  # [s]
SAID = """
import numpy, threadpoolctl, scipy.linalg
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
blas = sorted({each["architecture"] for each in threadpoolctl.threadpool_info() if "architecture" in each})
from drystone.base.kernel.target import target_processor
kernels = target_processor()
chosen = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
print(f"kernels for {kernels}, OpenBLAS for {blas}, of NumPy's special code: {chosen or 'none'}", flush=True)
"""


def other_processor() -> dict[str, str]:
    """The environment in which libraries believe that they are on an old one."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    chosen = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    return {
        "DRYSTONE_CPU": "x86-64",
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(chosen),
        "XDG_CACHE_HOME": str(Path(sys.prefix) / "portable-cache"),
    }


def main(tests: list[str]) -> int:
    if platform.machine().lower() not in ("x86_64", "amd64"):
        print(f"skipped: on {platform.machine()} no other processor can be emulated")
        return 0
    environment = os.environ | other_processor()
    subprocess.run([sys.executable, "-c", SAID], env=environment, check=True)
    subprocess.run([sys.executable, "-m", "drystone", "compile"], env=environment, check=True, timeout=LIMIT)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "--durations=10", *(tests or TESTS)]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        return process.wait(LIMIT)
    except BaseException as error:  # its workers end with it
        os.killpg(process.pid, signal.SIGTERM)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        print(f"not done after {LIMIT / 60:g} minutes")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
