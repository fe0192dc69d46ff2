"""Hostile files handed to the studio by its server, as a page does: each has one clear answer, nothing is left on the disk, and
the server answers the next.

What is true: the status is 200 or 400, never 500 (a mistake of ours); a refusal is one message."""

import base64
import http.client
import itertools
import json
import os
import random
import threading
from pathlib import Path

import pytest

from drystone.show.page import bundle_files
from drystone.show.page.server import Server
from drystone.show.page.studio import Studio
from tests.hostile import made, spoil
from tests.hostile.valid import valid_files

LARGEST = 2**20  # [byte] of a file that is tried: what is longer than an upload may be is tried once, in test_studio
VALUES = [float("nan"), 1e308, -1, 0, 10**9, 10**30, "", "x" * 10_000, "1 parsec", "\0", [], {}, None, True, [1, 2, 3]]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The folder of a studio, and what asks its server."""
    bundle, folder = tmp_path / "bundle", tmp_path / "folder"
    for place in (bundle, folder):
        place.mkdir()
    (bundle / "studio.html").write_text("")
    monkeypatch.setattr(bundle_files, "BUNDLE", bundle)
    studio = Studio(folder)
    with Server(studio, "studio.html") as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
        thread.start()
        yield studio, lambda path, content: asked(server.hosts[0], path, content)
        server.shutdown()
        thread.join()
    studio.close()


def asked(host, path, content):
    """Status and content of the answer."""
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("POST", f"/api/{path}", json.dumps(content), {"Origin": f"http://{host}"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def hostile_files(folder, seed):
    """Those of geometry and cases, made by hand and spoilt by chance."""
    valid = {each.name: each for each in valid_files(folder / "valid")}
    attacks = made.made(folder, valid) + [attack for each in valid.values() for attack in spoil.spoilt(each, folder, seed, 4)]
    return {attack.arguments[1]: attack for attack in attacks if attack.arguments[0] == "check"}.values()


def tried(site, attacks):
    studio, ask = site
    for attack in attacks:
        attack.make()
        path = Path(attack.arguments[1])
        if not os.path.isfile(path) or path.stat().st_size > LARGEST:
            continue  # no page sends such
        content = base64.b64encode(path.read_bytes()).decode()
        status, said = ask("open", {"name": path.name, "content": content})
        assert status in (200, 400), (attack.name, said)
        if status == 400:
            assert str(path.parent) not in said["error"], (attack.name, said)
            assert str(studio._uploads) not in said["error"], (attack.name, said)
    assert ask("arrange", {"sheet": {"structure": {"generator": "block"}}})[0] == 200
    assert list(studio.folder.iterdir()) == []


def test_a_few_uploads(site, tmp_path):
    tried(site, random.Random(9).sample(list(hostile_files(tmp_path, 9)), 30))


def test_sheets_with_anything_in_them(site):
    """Every control of a structure, with values of every kind."""
    _, ask = site
    sheet = ask("arrange", {"sheet": {"structure": {"generator": "arch"}}})[1]["sheet"]
    places = [(table, key) for table in ("structure", "joints") for key in sheet[table]]
    for number, ((table, key), value) in enumerate(itertools.product(places, VALUES)):
        changed = sheet | {table: sheet[table] | {key: value}}
        status, said = ask("shape", {"page": "a", "number": number, "digest": "", "sheet": changed})
        assert status in (200, 400), (key, value, said)


@pytest.mark.soak
def test_all_uploads(site, tmp_path):
    tried(site, hostile_files(tmp_path, 0))
