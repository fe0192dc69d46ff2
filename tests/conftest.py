"""Ctrl-C is heard in all tests, and by what they start, also where whoever runs them has it ignored: shells do so behind an &."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
