"""What passes between the server and what it serves: a `Site` is asked for paths and gives a `Reply` to each."""

import json
from typing import Any, NamedTuple, Protocol

ARRAYS_TYPE = "application/octet-stream"  # what arrays.py packs; the page undoes its gzip itself


class Reply(NamedTuple):
    body: bytes
    kind: str = "application/json"  # content type
    status: int = 200  # of HTTP


class Site(Protocol):
    """Several threads ask at once. An `InputError` becomes a 400 with its text."""

    def get(self, path: str) -> Reply:
        """path: without "/api/" before it, percent-decoded once, no query."""

    def post(self, path: str, content: Any) -> Reply:
        """content: what the JSON said, bounded in size but otherwise unchecked."""


def json_reply(content: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(content).encode(), status=status)


def error_reply(message: str, status: int) -> Reply:
    return json_reply({"error": message}, status)


def not_found(path: str) -> Reply:
    return error_reply(f"there is no {path!r} here", 404)
