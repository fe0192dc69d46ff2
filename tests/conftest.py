"""Ctrl-C is heard in tests and by what they start, also where whoever runs them has it ignored, as shells do behind an &."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
