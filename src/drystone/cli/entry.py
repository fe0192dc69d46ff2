"""From the words behind `drystone` to its exit code: 0 done, 1 unsound, 2 bad input or a disk that does not take the output,
3 not converged or not verified, 130 cut by Ctrl-C, 143 by SIGTERM."""

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from drystone import __version__
from drystone.cli.commands import help_text
from drystone.cli.words import BAD_INPUT, DONE, INTERRUPTED, TERMINATED, fail
from drystone.errors import InputError, shown


def main(arguments: list[str] | None = None) -> None:
    """The entry point of the program `drystone`; with `arguments`, of a command within another program."""
    if arguments is None:
        _begin_lightly()
    given = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    with _heeding_signals() as heard:
        code = _run(given, "--json" in given, heard)
    sys.exit(TERMINATED if heard[:1] == [signal.SIGTERM] and code == INTERRUPTED else code)


def _begin_lightly() -> None:
    """Of a process that does one command and ends: leave out what takes time and comes to nothing."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # drystone computes with one; the others would wait, and busily so
    gc.disable()  # while modules are loaded, which takes a tenth longer with it; options.py enables it
    atexit.register(gc.freeze)  # of a process that ends, no memory has to be found that could be used again


def _run(given: list[str], as_json: bool, heard: list[int]) -> int:
    """The exit code of a command; `heard` are the signals that came meanwhile."""
    try:
        return _called(given)
    except InputError as error:
        return fail(str(error), BAD_INPUT, as_json)
    except OSError as error:  # a name that no file can have, a place that is not ours
        named = f"{shown(error.filename)}: " if error.filename else ""
        return fail(f"{named}{error.strerror or error}; check the path and the disk", BAD_INPUT, as_json)
    except MemoryError:
        return fail("there is not enough memory for this; give less, or take a larger machine", BAD_INPUT, as_json)
    except KeyboardInterrupt:
        return fail("interrupted", INTERRUPTED, as_json)
    except SystemError:  # what Numba makes of a KeyboardInterrupt that comes between two kernels
        if not heard:
            raise
        return fail("interrupted", INTERRUPTED, as_json)


def _called(given: list[str]) -> int:
    """Help is printed as it lies in commands.py; Typer, which takes longer to load than that, reads all other lines."""
    if given not in (["--help"], ["--version"]):
        from drystone.cli.options import call

        return call(given)
    print(help_text() if given == ["--help"] else __version__)
    return DONE


@contextmanager
def _heeding_signals() -> Iterator[list[int]]:
    """SIGTERM does what Ctrl-C does; the signals heard so far. Where Ctrl-C is ignored, as behind an &, it stays so."""
    heard: list[int] = []

    def interrupt(number: int, _: object) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        if before[each] != signal.SIG_IGN:
            signal.signal(each, interrupt)
    try:
        yield heard
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
