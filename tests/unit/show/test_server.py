"""The server of the page, asked as browsers do and as nobody should: by sockets, so that nothing mends what is sent."""

import json
import os
import random
import signal
import socket
import threading
import time
from contextlib import suppress

import pytest

from drystone.base.errors import InputError
from drystone.show.page import bundle_files, server
from drystone.show.page.reply import json_reply, not_found
from drystone.show.page.server import MAX_BODY_BYTES, Server, serve

PAGE, SECRET = b"<!doctype html><title>page</title>", "root:x:0:0"


class Parrot:
    """A site that tells what it was asked."""

    def get(self, path):
        match path:
            case "wrong":
                raise InputError("block 'a': no such name; give another")
            case "broken":
                raise ZeroDivisionError("a mistake of ours")
            case "disk":
                raise OSError("the disk is full")
            case "nothing":
                return not_found(path)
        return json_reply({"path": path})

    def post(self, path, content):
        return json_reply({"path": path, "content": content})


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    (tmp_path / "index.html").write_bytes(PAGE)
    (tmp_path / "page.js").write_text("1")
    (tmp_path / "notes.txt").write_text("not for browsers")
    monkeypatch.setattr(bundle_files, "BUNDLE", tmp_path)
    return tmp_path


@pytest.fixture
def served(bundle):
    with Server(Parrot(), "index.html") as made:
        thread = threading.Thread(target=made.serve_forever, args=[0.02], daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def say(served, content):
    """Status, headers and body of the answer to these bytes; None if the server just hangs up."""
    with socket.create_connection(("127.0.0.1", served.server_port), timeout=30) as connection:
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        except OSError:
            return None
    if not answer.startswith(b"HTTP/"):  # hung up, or answered one who speaks as before there were headers
        return None
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in lines), body


def request(served, target, *, method="GET", host=None, more="", body=b""):
    host = f"127.0.0.1:{served.server_port}" if host is None else host
    return say(served, f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode("latin-1") + body)


def post(served, body, *, origin=None, length=None):
    origin = f"Origin: {origin or served.address[:-1]}\r\n"
    more = origin + f"Content-Length: {len(body) if length is None else length}\r\n"
    return request(served, "/api/save", method="POST", more=more, body=body)


def test_page_files_and_site(served):
    for target in ("/", "/index.html", "/?run=0"):
        status, headers, body = request(served, target)
        assert (status, body, headers["Content-Type"]) == (200, PAGE, "text/html; charset=utf-8")
    assert request(served, "/page.js")[1]["Content-Type"].startswith("text/javascript")
    status, headers, body = request(served, "/api/runs/0/values/joint%20pressure/0-64?x=1")
    assert (status, json.loads(body)) == (200, {"path": "runs/0/values/joint pressure/0-64"})
    assert headers["Content-Type"] == "application/json"
    assert request(served, "/", host=f"localhost:{served.server_port}")[0] == 200
    assert json.loads(post(served, b'{"a": [1, 2]}')[2]) == {"path": "save", "content": {"a": [1, 2]}}


def test_headers_keep_the_page_to_itself(served):
    for target in ("/", "/api/runs", "/api/broken", "/nowhere"):
        _, headers, _ = request(served, target)
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        rules = dict(rule.strip().split(" ", 1) for rule in headers["Content-Security-Policy"].split(";"))
        assert rules["default-src"] == "'none'"
        assert rules["connect-src"] == rules["script-src"] == "'self'"
        assert "Access-Control-Allow-Origin" not in headers


def test_mistakes_are_told_and_survived(served, capsys):
    assert request(served, "/api/wrong")[0] == 400
    assert json.loads(request(served, "/api/wrong")[2]) == {"error": "block 'a': no such name; give another"}
    for path in ("broken", "disk"):
        status, _, body = request(served, f"/api/{path}")
        assert status == 500
        assert b"mistake" not in body
        assert b"disk" not in body
    assert "ZeroDivisionError: a mistake of ours" in capsys.readouterr().err
    assert request(served, "/api/nothing")[0] == 404
    assert request(served, "/api/runs")[0] == 200


def test_only_this_machine_can_connect(served):
    """Of the addresses that all belong to this machine, only 127.0.0.1 listens."""
    assert served.socket.getsockname()[0] == "127.0.0.1"
    for other in ("127.0.0.2", "::1"):
        with pytest.raises(OSError, match=r"refused|unreachable|assign|not supported"):
            socket.create_connection((other, served.server_port), timeout=5)


@pytest.mark.parametrize("target", [
    "/../../../../../../etc/passwd", "/api/../../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "//etc/passwd", "/%2fetc%2fpasswd", "/etc/passwd", "/..%5c..%5cetc%5cpasswd", "/index.html%00.js", "/%00", "/notes.txt",
    "/./index.html", "/api", "file:///etc/passwd", "/%252e%252e/etc/passwd", "/page.js/", "*",
])  # fmt: skip
def test_no_path_reaches_the_disk(served, target):
    answer = request(served, target)
    assert answer is None or SECRET.encode() not in answer[2]
    if answer is not None and not target.startswith("/api/"):
        assert answer[0] in (400, 404)
    assert request(served, "/")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.a:{port}"])
def test_other_hosts_are_refused(served, host):
    """A name of the web that was made to point to 127.0.0.1 comes with its own Host."""
    assert request(served, "/api/runs", host=host.format(port=served.server_port))[0] == 403


def test_hosts_are_told_once(served):
    good = f"Host: 127.0.0.1:{served.server_port}\r\n"
    assert request(served, "/", host="evil.example", more=good)[0] == 403
    assert request(served, "/", more="Host: evil.example\r\n")[0] == 403
    assert say(served, b"GET / HTTP/1.1\r\n\r\n")[0] == 403


def test_other_origins_are_refused(served):
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{served.server_port}"):
        assert post(served, b"{}", origin=origin)[0] == 403
        assert request(served, "/api/runs", more=f"Origin: {origin}\r\n")[0] == 403
    assert request(served, "/api/save", method="POST", more="Content-Length: 2\r\n", body=b"{}")[0] == 403


def test_bodies_have_bounds(served):
    for length in (MAX_BODY_BYTES + 1, "-1", "many", "9" * 5000, "", "1e3", "²"):
        assert post(served, b"{}", length=length)[0] == 400
    assert post(served, b"{no json")[0] == 400
    assert post(served, b"[" * 200_000)[0] == 400
    assert post(served, b"\xff\xfe")[0] == 400
    assert post(served, b"{}", length=10)[0] == 400  # shorter than it says
    assert post(served, b"{}")[0] == 200


def test_requests_have_bounds(served):
    """What is too long is refused, or the server hangs up with the rest unread."""
    for target, more in (("/" + "a" * 100_000, ""), ("/", "X-Long: " + "a" * 100_000 + "\r\n"), ("/", "X-Many: a\r\n" * 200)):
        answer = request(served, target, more=more)
        assert answer is None or answer[0] in (414, 431)
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"):
        assert request(served, "/", method=method)[0] == 501
    assert request(served, "/")[0] == 200


def test_rubbish_is_survived(served, capsys):
    """200 requests, each a good one with bytes changed, cut, doubled, or bytes of chance."""
    chance = random.Random(8)
    good = f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{served.server_port}\r\nContent-Length: 3\r\n\r\nabc".encode()
    for _ in range(200):
        content = bytearray(good if chance.random() < 0.7 else chance.randbytes(chance.randrange(1, 400)))
        for _ in range(chance.randrange(1, 8)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        content = content[: chance.randrange(1, len(content) + 1)] * chance.choice([1, 1, 2])
        say(served, bytes(content))
    assert request(served, "/api/runs")[0] == 200
    assert "Traceback" not in capsys.readouterr().err


def test_slow_and_absent_clients_keep_nobody_waiting(served, monkeypatch):
    """Half requests, drops of a request, and clients that do not take the answer; a good request is answered meanwhile."""
    monkeypatch.setattr(server, "REQUEST_TIMEOUT", 0.5)
    halves = [socket.create_connection(("127.0.0.1", served.server_port)) for _ in range(20)]
    for half in halves:
        half.sendall(b"GET / HT")
    assert request(served, "/")[0] == 200
    begin = time.monotonic()
    for half in halves:  # a byte now and then does not prolong it
        half.settimeout(0.1)
    while time.monotonic() < begin + 1.0:
        for half in halves[:5]:
            with suppress(OSError):
                half.sendall(b"T")
        time.sleep(0.1)
    for half in halves:
        half.settimeout(10.0)
        with suppress(ConnectionError):
            while half.recv(1024):
                pass
        half.close()
    gone = socket.create_connection(("127.0.0.1", served.server_port))
    gone.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{served.server_port}\r\n\r\n".encode())
    gone.close()
    assert request(served, "/")[0] == 200


def test_too_many_connections_are_closed_unheard(served):
    crowd = [socket.create_connection(("127.0.0.1", served.server_port)) for _ in range(server.MAX_CONNECTIONS + 5)]
    crowd[-1].settimeout(10)
    assert crowd[-1].recv(10) == b""
    for one in crowd:
        one.close()
    deadline = time.monotonic() + 10
    while (answer := request(served, "/")) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert answer[0] == 200


def test_a_port_that_is_taken(served):
    with pytest.raises(InputError, match=f"port {served.server_port} is not available"):
        Server(Parrot(), "index.html", served.server_port)
    with pytest.raises(InputError, match="port 70000"):
        Server(Parrot(), "index.html", 70000)


def test_a_page_that_is_not_built(bundle):
    with pytest.raises(InputError, match=r"no studio\.html in .*make page"):
        Server(Parrot(), "studio.html")


def test_ctrl_c_ends_it(bundle, monkeypatch):
    """`serve` tells its address, opens the browser there, and comes back when interrupted."""
    told, opened = [], []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)

    def tell(address):
        told.append(address)
        timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
        timer.start()

    serve(Parrot(), "index.html", announce=tell)
    assert told[0].startswith("http://127.0.0.1:")
    assert opened == told
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", int(told[0].rstrip("/").rsplit(":", 1)[1])), timeout=5)
