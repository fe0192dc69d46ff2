"""Stores compiled kernels on disk, one file per kernel and signature.

The name of a file contains the digest of everything that determines its content (code, argument types, processor, versions). So
no file can be out of date, a copy of the package at another place finds the same files, and files of several versions exist
side by side. Two folders are searched: the one inside the package, which is filled in wheels, and the user's cache, where new
files are written.

A file begins with the digest of its content, so that a truncated file is recognised and ignored.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a Unix system: two processes that start at the same time may both compile a kernel
    fcntl = None  # type: ignore[assignment]

SHIPPED_FOLDER = Path(__file__).parent / "compiled"
ENTRY_SUFFIX = ".kernel"
DIGEST_BYTES = 32
UNUSED_DAYS = 30  # after which a file is removed
MAX_CACHE_BYTES = 300e6  # [bytes] of all files: beyond it, the least recently used ones are removed
WAIT_INTERVAL = 0.05  # [s] between checks whether another process has finished compiling
SECONDS_PER_DAY = 86_400.0  # [s]


def user_folder() -> Path:
    """The folder of the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drystone" / "kernels"


def load_entry(name: str) -> bytes | None:
    """The content of an entry; None if there is no valid one."""
    for folder in (SHIPPED_FOLDER, user_folder()):
        path = folder / (name + ENTRY_SUFFIX)
        try:
            data = path.read_bytes()
        except OSError:
            continue
        content = data[DIGEST_BYTES:]
        if hashlib.sha256(content).digest() == data[:DIGEST_BYTES]:
            if folder != SHIPPED_FOLDER:
                _mark_used(path)
            return content
    return None


def is_stored(beginning: str) -> bool:
    """Whether there is an entry whose name has this beginning."""
    return any(next(folder.glob(f"{beginning}*{ENTRY_SUFFIX}"), None) is not None for folder in (SHIPPED_FOLDER, user_folder()))


def save_entry(name: str, content: bytes) -> None:
    """Write an entry atomically. If it cannot be written, a warning is printed once, and the kernel is compiled again next
    time."""
    folder = user_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(temporary, folder / (name + ENTRY_SUFFIX))
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        _warn_once(f"compiled kernels cannot be kept in {folder} ({error.strerror}): they are compiled again in every process")


@contextlib.contextmanager
def sole_compiler(name: str) -> Iterator[None]:
    """Let one process at a time compile an entry; the others wait here and then load it."""
    handle = _open_lock(name)
    if handle is None:
        yield
        return
    try:
        _wait_for_lock(handle)
        yield
    finally:
        os.close(handle)


def _open_lock(name: str) -> int | None:
    """Open the lock file, which is never removed: otherwise a third process could lock another file of the same name."""
    if fcntl is None:
        return None
    folder = user_folder() / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None


def _wait_for_lock(handle: int) -> None:
    """Wait for the lock in short intervals, so that Ctrl-C takes effect."""
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(WAIT_INTERVAL)
        except OSError:  # a file system without locks
            return


def _mark_used(path: Path) -> None:
    """Note the day a file was last used."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > SECONDS_PER_DAY:
            os.utime(path)


def prune() -> None:
    """Remove files that have not been used for long or exceed the size limit, including those of earlier versions."""
    folder = user_folder()
    now, total = time.time(), 0.0
    for path, used, size in sorted(_files(folder), key=lambda each: -each[1]):
        total += size
        if now - used > UNUSED_DAYS * SECONDS_PER_DAY or total > MAX_CACHE_BYTES:
            with contextlib.suppress(OSError):
                path.unlink()


def _files(folder: Path) -> Iterator[tuple[Path, float, int]]:
    """The path, time of last use and size of all files, including those in folders of earlier versions."""
    for path in folder.parent.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file():
                state = path.stat()
                yield path, state.st_mtime, state.st_size


_warned: set[str] = set()


def _warn_once(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        print(message, file=sys.stderr, flush=True)
