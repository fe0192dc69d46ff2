"""The studio in a real browser. Truth: a block slides at the friction or tips at width over height, whichever is less (closed
form); an arch by limit analysis, computed here. What is shown as current has to belong to the controls shown beside it."""

import random
import threading

import pytest

from drystone.io.case import parse_case
from drystone.show.page.server import Server
from drystone.show.page.studio import Studio
from drystone.show.page.studio_controls import statics_text
from drystone.show.page.studio_statics import answer_collapse, prepare_structure

SLIDERS = [("structure.width", 0.2, 2.0), ("structure.height", 1.0, 4.0), ("joints.friction", 0.1, 1.2)]
CASE = """
[structure]
generator = "block"
width = "80 cm"
[joints]
friction = 0.9
[analysis]
kind = "limit"
direction = [1, 0, 0]
"""


@pytest.fixture
def studio(watched, tmp_path):
    """A page of a studio, warm."""
    site = Studio(tmp_path)
    with Server(site, "studio.html") as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
        thread.start()
        seen = watched()
        seen.page.emulate_media(reduced_motion="reduce")
        seen.page.goto(server.address)
        seen.page.wait_for_function("() => window.studio !== undefined")
        seen.page.evaluate("studio.settled()")
        yield seen
        server.shutdown()
        thread.join()
    site.close()


def put(seen, place, value):
    seen.page.evaluate("([place, value]) => studio.set(place, value)", [place, value])


def settled(seen):
    return seen.page.evaluate("studio.settled().then(() => studio.shown())")


def number(text):
    return float(text.split()[0])


def test_it_begins_with_an_arch_that_stands(studio):
    shown = settled(studio)
    case = parse_case(statics_text(shown["sheet"]))
    assert shown["current"]
    assert (
        shown["multiplier"] == answer_collapse(case, prepare_structure(statics_text(shown["sheet"]), case.path))["multiplier"]
    )
    assert f"{shown['multiplier']:.4g}" in studio.page.inner_text("#multiplier")
    assert "It stands" in studio.page.inner_text("#found")
    assert not studio.wrong


def test_whatever_is_moved_no_stale_multiplier_is_shown_as_current(studio):
    """Sliders are moved at random, and looked at all the while; at every third move the answer is waited for, so that there
    are current ones on a slow machine too."""
    put(studio, "structure.generator", "block")
    settled(studio)
    chance, seen = random.Random(3), []
    for move in range(18):
        place, low, high = chance.choice(SLIDERS)
        value = round(chance.uniform(low, high), 3)
        put(studio, place, value if place == "joints.friction" else f"{value} m")
        seen.append(studio.page.evaluate("studio.shown()"))
        studio.page.wait_for_timeout(chance.choice([0, 0, 5, 40, 120]))
        seen.append(settled(studio) if move % 3 == 2 else studio.page.evaluate("studio.shown()"))
    current = [shown for shown in seen if shown["current"]]
    assert len(current) >= 6
    assert any(not shown["current"] for shown in seen)
    for shown in current:
        structure, friction = shown["sheet"]["structure"], shown["sheet"]["joints"]["friction"]
        truth = min(friction, number(structure["width"]) / number(structure["height"]))
        assert shown["multiplier"] == pytest.approx(truth, abs=1e-5)
        assert shown["figure"].startswith(f"{shown['multiplier']:.4g}"[:5])
    assert current[-1] is seen[-1]


def test_the_fields_of_the_page_are_the_controls(studio):
    studio.page.fill("[name='structure.thickness']:not([type=range])", "1.25")
    assert settled(studio)["sheet"]["structure"]["thickness"] == "1.25 m"
    slider = studio.page.locator("input[type=range][name='structure.blocks']")
    slider.focus()
    slider.press("ArrowRight")
    assert settled(studio)["sheet"]["structure"]["blocks"] == 16
    studio.page.click("#undo")
    studio.page.click("#undo")
    assert settled(studio)["sheet"]["structure"] | {"thickness": "1.5 m", "blocks": 15} == settled(studio)["sheet"]["structure"]
    studio.page.click("#redo")
    assert settled(studio)["sheet"]["structure"]["thickness"] == "1.25 m"


def test_what_is_wrong_is_said_beside_its_control_and_the_last_picture_is_grey(studio):
    before = settled(studio)
    put(studio, "structure.thickness", "-1 m")
    shown = settled(studio)
    assert not shown["current"]
    assert "give a number above 0" in studio.page.inner_text("[data-place='structure.thickness'] .wrong")
    assert "grayscale" in studio.page.evaluate("getComputedStyle(document.getElementById('stage')).filter")
    put(studio, "structure.thickness", "1.5 m")
    assert settled(studio)["multiplier"] == before["multiplier"]
    assert studio.page.inner_text("[data-place='structure.thickness'] .wrong") == ""


def test_the_address_brings_the_same_sheet_back(studio):
    put(studio, "joints.friction", 0.45)
    sheet = settled(studio)["sheet"]
    studio.page.reload()
    studio.page.wait_for_function("() => window.studio !== undefined")
    assert settled(studio)["sheet"] == sheet


def test_a_file_is_opened_and_saved(studio, tmp_path):
    studio.page.set_input_files("#open", {"name": "one.toml", "mimeType": "text/plain", "buffer": CASE.encode()})
    studio.page.wait_for_function("() => studio.shown().sheet.structure.generator === 'block'")
    assert settled(studio)["multiplier"] == pytest.approx(0.4, abs=1e-6)  # 0.8 m wide, 2 m high
    with studio.page.expect_download() as download:
        studio.page.click("#save")
    assert download.value.path().read_text() == (tmp_path / "block.toml").read_text()
    assert parse_case((tmp_path / "block.toml").read_text()).structure.width == 0.8


def test_a_history_is_run_and_watched_in_the_viewer(studio):
    put(studio, "structure.generator", "block")
    put(studio, "dynamics.duration", "0.1 s")
    settled(studio)
    studio.page.click("#launch")
    studio.page.wait_for_selector("#watch:visible", timeout=300_000)
    with studio.page.expect_popup() as opened:
        studio.page.click("#watch")
    viewer = opened.value
    viewer.wait_for_selector("body[data-ready=true]", timeout=60_000)
    assert "block" in viewer.title() + viewer.inner_text("body")
    studio.page.wait_for_function("() => document.getElementById('log').textContent.includes('done')", timeout=300_000)
