"""The page in a real browser, from the server and from a file with the network off: what is seen is what the run holds."""

import re
import time

import numpy as np
import pytest

import drystone as ds
from drystone.io.case import parse_case
from drystone.results import quantities
from drystone.results.store.run_writer import RunWriter
from drystone.show.page.shared_file import write_html
from tests.browser.conftest import pages, served
from tests.unit import synthetic

SHAKEN = """# An arch of 30 voussoirs under a pulse
[structure]
generator = "arch"
radius = "10 m"
thickness = "1.5 m"
embrace = "150 deg"
blocks = 28
depth = "2 m"
[joints]
friction = 0.6
[motion]
pulse = "biphasic"
amplitude = "2 g"
duration = "0.4 s"
direction = [-1, 0, 0]
[analysis]
duration = "1 s"
time_step = "5 ms"
[output]
every = "10 ms"
"""
KEYSTONE = 15
ENDS = 100  # the last frame


@pytest.fixture(scope="module")
def run(tmp_path_factory, chromium):
    """101 frames of 30 blocks, two of which are supports."""
    return ds.run(parse_case(SHAKEN), tmp_path_factory.mktemp("runs") / "arch")


@pytest.fixture(scope="module")
def shared(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("shared") / "arch.html"
    for _ in write_html([run.folder], path):
        pass
    return path


@pytest.fixture(scope="module", params=["server", "file"])
def opened(request, run, chromium):
    """The page of the run, and what it may ask for; it takes seconds to open, and is so once for all tests."""
    with pages(chromium) as make:
        if request.param == "server":
            with served(run.folder) as server:
                page = make()
                page.open(server.address)
                yield page, server.address
        else:
            page, path = make(offline=True), request.getfixturevalue("shared").as_uri()
            page.open(path)
            yield page, path


@pytest.fixture
def shown(opened):
    """The page of the run at its first frame; afterwards it has asked for nothing from elsewhere, and nothing went wrong."""
    page, address = opened
    page.do("seek(0)")
    yield page
    elsewhere = [url for url in page.asked if not url.startswith(("data:", "blob:"))]
    assert all(url.startswith(address) for url in elsewhere) if address.startswith("http") else elsewhere == [address]
    assert page.wrong == []


def distance(one, other):
    """Share of the pixels that differ clearly."""
    return float((np.abs(one - other).max(axis=2) > 24).mean())


def test_it_loads_and_shows_stones(shown):
    stats = shown.do("stats()")
    assert (stats["blocks"], stats["frames"]) == ([30], [ENDS + 1])
    scene = shown.scene()
    warm = (scene[..., 0] > scene[..., 2] + 20).mean()  # limestone; the sky is blue
    assert 0.02 < warm < 0.6
    assert len(np.unique(scene.reshape(-1, 3), axis=0)) > 50
    assert shown.page.locator("#title").inner_text() == "An arch of 30 voussoirs under a pulse"
    assert shown.page.locator("#facts dt", has_text="outcome").count() == 1
    assert shown.page.locator("#charts canvas").count() >= 3  # energy, displacement, rotation, ground


def test_it_seeks(shown, run):
    first = shown.scene()
    shown.do(f"seek({ENDS})")
    assert shown.do("time()") == pytest.approx(run.time[-1])
    assert distance(first, shown.scene()) > 0.01
    shown.do("seek(0)")
    assert distance(first, shown.scene()) < 0.001


def test_it_plays_and_pauses(shown):
    shown.page.keyboard.press("Space")
    shown.page.wait_for_function("() => drystone.time() > 0.02")
    shown.page.keyboard.press("Space")
    stopped = shown.do("time()")
    time.sleep(0.5)
    assert shown.do("time()") == stopped < 1.0


def test_a_click_on_a_block_shows_its_history(shown, run):
    """The block under the pixel, its name, and how far it has moved according to the run."""
    shown.page.keyboard.press("1")  # from the front no other block hides its middle
    shown.do("seek(60)")
    place = shown.do(f"pixel({KEYSTONE})")
    shown.page.mouse.click(place["x"], place["y"])
    assert shown.do("selected()") == KEYSTONE
    panel = shown.page.locator("#block")
    assert run.model.blocks[KEYSTONE].name in panel.inner_text()
    assert panel.locator("canvas").count() == 2
    exact = float(np.linalg.norm(quantities.displacements(run)[60, KEYSTONE, :3]))
    assert length(panel.inner_text()) == pytest.approx(exact, rel=0.01)
    shown.page.keyboard.press("Escape")
    assert shown.do("selected()") == -1


def length(text):
    """[m] the displacement that the panel tells."""
    number, unit = re.search(r"displacement\s+([\d.]+)\s(mm|m)\b", text).groups()
    return float(number) * {"mm": 1e-3, "m": 1.0}[unit]


@pytest.mark.parametrize("opened", ["server"], indirect=True)
def test_every_colour(shown, run):
    """Each is another picture than that of plain stone, with its name and unit told."""
    shown.do("seek(60)")
    stone = shown.scene()
    for name in quantities.list_quantities(run):
        shown.do(f"colourBy({name!r})")
        assert distance(stone, shown.scene()) > 0.01, name
        legend = shown.page.locator("#scenes").inner_text()
        assert name in legend, name
        unit = quantities.QUANTITIES[name].unit
        assert unit.removeprefix("m") in legend, name
    shown.do("colourBy('stone')")
    assert distance(stone, shown.scene()) < 0.001


@pytest.mark.parametrize("opened", ["file"], indirect=True)
def test_forces_and_the_section_are_drawn(shown):
    shown.do("seek(60)")
    plain = shown.scene()
    shown.page.keyboard.press("f")
    shown.page.wait_for_timeout(500)
    shown.do("seek(60)")
    assert distance(plain, shown.scene()) > 0.001
    shown.page.keyboard.press("f")
    shown.page.keyboard.press("s")
    shown.do("seek(60)")
    assert distance(plain, shown.scene()) > 0.01
    for _ in range(3):  # along the other axes, then none
        shown.page.keyboard.press("s")
        shown.do("seek(60)")
    assert distance(plain, shown.scene()) < 0.001


def test_the_file_is_small(shared):
    """The bar of 30 blocks."""
    assert shared.stat().st_size < 3e6


def test_two_runs_side_by_side(run, watched):
    with served(run.folder, run.folder) as server:
        page = watched()
        page.open(server.address)
        assert page.page.locator("canvas.stage").count() == 2
        page.do(f"seek({ENDS})")
        assert page.do("stats()")["frames"] == [ENDS + 1, ENDS + 1]
        assert page.wrong == []


def test_a_server_that_has_gone(run, watched):
    with served(run.folder) as server:
        page = watched()
        page.open(server.address)
        assert not page.page.locator("#trouble").is_visible()
    page.page.evaluate("void drystone.colourBy('velocity')")
    page.page.wait_for_selector("#trouble:not([hidden])")
    assert "start it again" in page.page.locator("#trouble").inner_text()


def test_a_run_that_is_being_computed(tmp_path, watched):
    """Frames that come while it is looked at are there after a moment, without a reload."""
    model = synthetic.boxes([[0, 0, 0], [0, 0, 1]], fixed=[0])
    rising = steps_up(model, 40)
    with RunWriter.create(tmp_path / "run", SHAKEN, model, synthetic.start(model), every_steps=1, planned_steps=200) as writer:
        for _ in range(20):
            writer.add(next(rising))
        writer.flush()
        with served(tmp_path / "run") as server:
            page = watched()
            page.open(server.address)
            assert page.do("stats()")["frames"] == [21]
            for step in rising:
                writer.add(step)
            writer.flush()
            page.page.wait_for_function("() => drystone.stats().loaded[0] === 41")
            page.do("seek(40)")
            assert page.do("time()") == pytest.approx(0.2)
    assert page.wrong == []


def steps_up(model, count):
    """The upper of two stones goes up by 1 cm a step."""
    start = synthetic.start(model)
    for step in synthetic.steps(start, count, dt=5e-3):
        position = model.position + step.state.step * np.array([[0, 0, 0], [0, 0, 0.01]])
        step.state = step.state._replace(position=position, rotation=start.rotation, contacts=start.contacts)
        yield step
