"""Ctrl-C is heard in tests and by what they start, also where whoever runs them has it ignored, as shells do behind an &.
Hypothesis draws the same examples every time, and no example fails because a machine is slow."""

import signal

from hypothesis import settings

settings.register_profile("drystone", deadline=None, derandomize=True)
settings.load_profile("drystone")
signal.signal(signal.SIGINT, signal.default_int_handler)
