"""The number of cores to compute with."""

import os


def available_cores() -> int:
    """The cores that this process may use; a scheduler or a container may allow fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
