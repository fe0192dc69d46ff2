"""The interface between the server and what it serves: a `Site` answers each path with a `Reply`."""

import json
from typing import Any, NamedTuple, Protocol

ARRAYS_TYPE = "application/octet-stream"  # the arrays of arrays.py; the page itself decompresses them


class Reply(NamedTuple):
    body: bytes
    kind: str = "application/json"  # content type
    status: int = 200  # HTTP status


class Site(Protocol):
    """What the server serves. Several threads call it at once. An `InputError` becomes a 400 with its text."""

    def get(self, path: str) -> Reply:
        """path: without the leading "/api/" and the query, percent-decoded once."""

    def post(self, path: str, content: Any) -> Reply:
        """content: the value of the JSON in the body, bounded in size but otherwise unchecked."""


def json_reply(content: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(content).encode(), status=status)


def error_reply(message: str, status: int) -> Reply:
    return json_reply({"error": message}, status)


def not_found(path: str) -> Reply:
    return error_reply(f"{path!r} does not exist", 404)
