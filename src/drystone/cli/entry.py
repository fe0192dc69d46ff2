"""From the arguments of `drystone` to its exit code: 0 done, 1 unsound, 2 bad input or output that cannot be written,
3 not converged or not verified, 130 interrupted by Ctrl-C, 143 terminated by SIGTERM."""

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from drystone import __version__
from drystone.base.errors import InputError, truncated_repr
from drystone.cli.commands import help_text
from drystone.cli.output import EXIT_BAD_INPUT, EXIT_DONE, EXIT_INTERRUPTED, EXIT_TERMINATED, report_error


def main(arguments: list[str] | None = None) -> None:
    """Run the program `drystone`; with `arguments`, run one command within another program."""
    if arguments is None:
        _prepare_process()
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    with _sigterm_like_ctrl_c() as signals:
        code = _run(words, "--json" in words, signals)
    sys.exit(EXIT_TERMINATED if signals[:1] == [signal.SIGTERM] and code == EXIT_INTERRUPTED else code)


def _prepare_process() -> None:
    """Switch off what only costs time in a process that runs one command and ends."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # drystone needs one thread; the others would only spin
    gc.disable()  # loading modules takes a tenth longer with it; options.py enables it again
    atexit.register(gc.freeze)  # a process that ends does not need its memory back


def _run(arguments: list[str], as_json: bool, signals: list[int]) -> int:
    """Run a command and return its exit code; `signals` are those that have arrived meanwhile."""
    try:
        return _dispatch(arguments)
    except InputError as error:
        return report_error(str(error), EXIT_BAD_INPUT, as_json)
    except OSError as error:  # an impossible file name, or a folder that may not be written
        named = f"{truncated_repr(error.filename)}: " if error.filename else ""
        return report_error(f"{named}{error.strerror or error}; check the path and the disk", EXIT_BAD_INPUT, as_json)
    except MemoryError:
        return report_error("not enough memory; reduce the computation or use a larger machine", EXIT_BAD_INPUT, as_json)
    except KeyboardInterrupt:
        return report_error("interrupted", EXIT_INTERRUPTED, as_json)
    except SystemError:  # Numba turns a KeyboardInterrupt between two kernels into this
        if not signals:
            raise
        return report_error("interrupted", EXIT_INTERRUPTED, as_json)


def _dispatch(arguments: list[str]) -> int:
    """Print the help from commands.py without loading Typer, which is slow to load; let Typer read all other commands."""
    if arguments not in (["--help"], ["--version"]):
        from drystone.cli.options import run_command_line

        return run_command_line(arguments)
    print(help_text() if arguments == ["--help"] else __version__)
    return EXIT_DONE


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[list[int]]:
    """Let SIGTERM do what Ctrl-C does; yield the list of signals received so far. A signal that the process ignores, as a
    background job ignores Ctrl-C, stays ignored."""
    signals: list[int] = []

    def interrupt(number: int, _: object) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        if before[each] != signal.SIG_IGN:
            signal.signal(each, interrupt)
    try:
        yield signals
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
