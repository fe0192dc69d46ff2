"""The output of commands: exit codes, and which output goes where. With --json a command prints exactly one JSON object on
standard output, also for an error: {"error": ..., "exit_code": ...}. Progress goes to standard error."""

import json as json_format
import sys
from typing import Any

EXIT_DONE, EXIT_UNSOUND, EXIT_BAD_INPUT, EXIT_NOT_CONVERGED, EXIT_INTERRUPTED, EXIT_TERMINATED = 0, 1, 2, 3, 130, 143
MAX_MESSAGE_CHARACTERS = 10_000


def report_error(message: str, code: int, as_json: bool) -> int:
    """Print an error without control characters and return the exit code."""
    message = message if len(message) <= MAX_MESSAGE_CHARACTERS else f"{message[:MAX_MESSAGE_CHARACTERS]} ..."
    # Names in files may hold any character.
    message = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in message)
    print(f"drystone: {message}", file=sys.stderr)
    if as_json:
        print_json({"error": message, "exit_code": code})
    return code


def print_json(content: dict[str, Any]) -> None:
    """Print the one JSON object of a command on standard output."""
    print(json_format.dumps(content, indent=2))


def print_status(text: str) -> None:
    """Print a line of progress on standard error."""
    print(text, file=sys.stderr, flush=True)
