"""The server of `drystone view` and `drystone studio`: a `Site` and a page come in and are served to browsers on this machine.

Only 127.0.0.1 is bound. Other web pages in the same browser must not reach the site: a request has to name our own address as
its Host (which stops DNS rebinding) and, if it changes anything, as its Origin. The files are those of the built page, held in
memory, so that no requested path reaches the disk. Requests are limited in size and time; a request beyond these limits is
answered with an error or dropped, in its own thread.
"""

import io
import json
import socket
import sys
import threading
import time
import traceback
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from drystone.base.errors import InputError
from drystone.show.page.bundle_files import CONTENT_TYPES, read_bundle
from drystone.show.page.reply import Reply, Site, error_reply, not_found

LOOPBACK = "127.0.0.1"
REQUEST_TIMEOUT = 20.0  # [s] for the whole request to arrive, and for the answer to be taken
MAX_BODY_BYTES = 16 * 2**20  # [bytes] of a POST; http.server limits the request line and the headers (64 kB each, 100 headers)
MAX_CONNECTIONS = 64  # further connections are closed without an answer
RESPONSE_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
    "blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


def serve(
    site: Site,
    page: str,
    *,
    port: int = 0,
    open_browser: bool = True,
    announce: Callable[[str], None] = lambda address: print(address, flush=True),
) -> None:
    """Serve until Ctrl-C. page: "index.html" or "studio.html"; port: 0 for a free one; announce: is called with the address."""
    with Server(site, page, port) as server:
        announce(server.address)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=[server.address], daemon=True).start()
        with suppress(KeyboardInterrupt):
            server.serve_forever()


class Server(ThreadingHTTPServer):
    """A server that is bound and listens as soon as it is created; `serve_forever` answers requests."""

    daemon_threads = True
    request_queue_size = MAX_CONNECTIONS
    block_on_close = False  # Ctrl-C does not wait for slow clients

    def __init__(self, site: Site, page: str, port: int = 0):
        self.site, self.page, self.files = site, page, read_bundle(page)
        self._free_slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        try:
            super().__init__((LOOPBACK, port), _RequestHandler)
        except (OSError, OverflowError) as error:
            raise InputError(f"port {port} is not available ({error}); give another one, or none for a free one") from error
        self.hosts = [f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost")]

    @property
    def address(self) -> str:
        return f"http://{self.hosts[0]}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free_slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free_slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that left or was too slow; print errors of our own, which do not end the server."""
        if not isinstance(sys.exception(), OSError):
            traceback.print_exc()


class _RequestHandler(BaseHTTPRequestHandler):
    """One request and its answer."""

    server: Server
    timeout = REQUEST_TIMEOUT  # [s] for sending; a deadline for reading
    server_version, sys_version = "drystone", ""

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(_DeadlineReader(self.connection, time.monotonic() + REQUEST_TIMEOUT))

    def do_GET(self) -> None:
        self._answer(lambda path: self.server.site.get(path))

    def do_POST(self) -> None:
        self._answer(lambda path: self.server.site.post(path, self._content()))

    def _answer(self, of_site: Callable[[str], Reply]) -> None:
        try:
            reply = self._reply(of_site)
        except InputError as error:
            reply = error_reply(str(error), 400)
        except (TimeoutError, ConnectionError):
            raise  # the client is slow or gone
        except Exception:
            traceback.print_exc()
            reply = error_reply("an internal error of drystone; its terminal shows the details", 500)
        self._send(reply)

    def _reply(self, of_site: Callable[[str], Reply]) -> Reply:
        if not self._is_trusted():
            return error_reply(f"this server answers only pages of {self.server.address}", 403)
        path = _decoded(self.path)
        if path.startswith("/api/"):
            return of_site(path.removeprefix("/api/"))
        name = path.removeprefix("/") or self.server.page
        if self.command == "GET" and name in self.server.files:
            return Reply(self.server.files[name], CONTENT_TYPES[PurePosixPath(name).suffix])
        return not_found(path)

    def _is_trusted(self) -> bool:
        """Whether the request names our address as its host, and our page as its origin; browsers name no origin when they only
        read."""
        origin = self.headers.get("Origin")
        trusted = self.command == "GET" if origin is None else origin in [f"http://{host}" for host in self.server.hosts]
        return trusted and self.headers.get_all("Host", [])[:2] in [[host] for host in self.server.hosts]

    def _content(self) -> Any:
        """The JSON content of the body."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 10) or self.headers.get("Transfer-Encoding"):
            raise InputError(f"Content-Length {length!r}: give the length of the body in bytes, and send it in one piece")
        if int(length) > MAX_BODY_BYTES:
            raise InputError(f"a body of {length} bytes is too large; send at most {MAX_BODY_BYTES}")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise InputError(f"the body ended after {len(body)} of {length} bytes")
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the body is not valid JSON ({error})") from None

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in RESPONSE_HEADERS.items() | {("Content-Type", reply.kind), ("Content-Length", str(len(reply.body)))}:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what http.server refuses by itself: malformed requests and other methods."""
        self._send(error_reply(message or "this request cannot be read", code))

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the terminal belongs to the user."""


def _decoded(target: str) -> str:
    """The path of a request target."""
    path = target.split("?", 1)[0].split("#", 1)[0]
    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise InputError("the path is not valid UTF-8") from None


class _DeadlineReader(io.RawIOBase):
    """A reader of a socket that stops at a deadline, however slowly the data arrive."""

    def __init__(self, connection: socket.socket, deadline: float):
        self._connection, self._deadline = connection, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0.0:
            raise TimeoutError("a request took too long")
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(REQUEST_TIMEOUT)
