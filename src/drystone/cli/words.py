"""What all commands share: the app, its exit codes, and how it speaks. 0 done, 1 unsound, 2 bad input or a disk that does not
take the output, 3 not converged or not verified, 130 cut by Ctrl-C, 143 by SIGTERM.

With --json a command prints exactly one JSON object on standard output, errors too: {"error": ..., "exit_code": ...}.
Progress goes to standard error.
"""

import json as json_format
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from drystone import __version__
from drystone.errors import InputError, shown

DONE, UNSOUND, BAD_INPUT, NOT_CONVERGED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
LONGEST = 10_000  # [characters] of a message
USAGE_ERROR: Any = typer.BadParameter.__mro__[1]  # click's UsageError; where Typer keeps click changes with its version

# All commands, by what one does with them, in the order of the help.
GROUPS = {
    "Build": ("new", "studio", "check", "convert", "schema"),
    "Compute": ("run", "search", "record", "study", "solve"),
    "Look at it, pass it on": ("view", "picture", "movie", "plot", "info", "report", "export"),
    "Trust it": ("verify", "validate"),
}


class Grouped(TyperGroup):
    """The commands in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:8}", self.commands[name].get_short_help_str(limit=70)) for name in names])


app = typer.Typer(
    cls=Grouped, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="How a historical masonry structure stands, moves and falls.",
    epilog="To begin: drystone new arch > arch.toml; drystone run arch.toml -o out; drystone view out. "
           "drystone COMMAND --help tells more of one.",
)  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def main(arguments: list[str] | None = None) -> None:
    """The entry point of the program `drystone`."""
    given = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    with _heeding_signals() as heard:
        code = _run(given, "--json" in given, heard)
    sys.exit(TERMINATED if heard[:1] == [signal.SIGTERM] and code == INTERRUPTED else code)


def _run(given: list[str], as_json: bool, heard: list[int]) -> int:
    """The exit code of a command; `heard` are the signals that came meanwhile."""
    try:
        return app(given, prog_name="drystone", standalone_mode=False) or DONE
    except InputError as error:
        return fail(str(error), BAD_INPUT, as_json)
    except USAGE_ERROR as error:  # a wrong command, option or value
        return fail(error.format_message(), BAD_INPUT, as_json)
    except OSError as error:  # a name that no file can have, a place that is not ours
        named = f"{shown(error.filename)}: " if error.filename else ""
        return fail(f"{named}{error.strerror or error}; check the path and the disk", BAD_INPUT, as_json)
    except MemoryError:
        return fail("there is not enough memory for this; give less, or take a larger machine", BAD_INPUT, as_json)
    except (KeyboardInterrupt, typer.Abort):
        return fail("interrupted", INTERRUPTED, as_json)
    except SystemError:  # what Numba makes of a KeyboardInterrupt that comes between two kernels
        if not heard:
            raise
        return fail("interrupted", INTERRUPTED, as_json)


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


def fail(message: str, code: int, as_json: bool) -> int:
    message = message if len(message) <= LONGEST else f"{message[:LONGEST]} ..."
    message = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in message)  # files name things as they like
    print(f"drystone: {message}", file=sys.stderr)
    if as_json:
        print_json({"error": message, "exit_code": code})
    return code


def print_json(content: dict[str, Any]) -> None:
    print(json_format.dumps(content, indent=2))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@app.callback(invoke_without_command=True)
def drystone(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    json: Json = False,
) -> None:
    if version:
        print_json({"version": __version__}) if json else print(__version__)
    elif context.invoked_subcommand is None:
        raise InputError("name one of the commands, as in drystone run case.toml -o out; drystone --help lists them")


def announce_compiling() -> None:
    from drystone.session import is_compiled

    if not is_compiled():
        say("compiling kernels, once on this machine: a minute or two ...")
