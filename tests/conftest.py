"""Ctrl-C is heard in tests and by what they start, also where whoever runs them has it ignored, as shells do behind an &.
Hypothesis draws the same examples every time, and no example fails because a machine is slow.
BLAS has one thread, as in the program: two processes of tests on two cores would wait for the threads of each other."""

import os
import signal
import sys

from hypothesis import settings

assert "numpy" not in sys.modules, "NumPy reads the number of threads when it is loaded"
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
settings.register_profile("drystone", deadline=None, derandomize=True)
settings.load_profile("drystone")
signal.signal(signal.SIGINT, signal.default_int_handler)
