"""How commands speak: exit codes, and what goes where. With --json a command prints exactly one JSON object on standard
output, errors too: {"error": ..., "exit_code": ...}. Progress goes to standard error."""

import json as json_format
import os
import sys
from typing import Any

DONE, UNSOUND, BAD_INPUT, NOT_CONVERGED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
LONGEST = 10_000  # [characters] of a message


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


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
