"""Locks a folder, so that one process at a time writes it. The lock is on the folder itself: it leaves no file behind and ends
with the process that holds it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import report_write_errors

try:
    import fcntl
except ImportError:  # not a Unix system: folders are not locked
    fcntl = None  # type: ignore[assignment]


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder during the block; the folder is created if it does not exist."""
    with report_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        _acquire_lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _acquire_lock(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{folder}: another process is writing it; wait until it ends, or give another folder") from None
    except OSError:  # a file system without locks
        pass
