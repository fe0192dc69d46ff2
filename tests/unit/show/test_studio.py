"""The studio without a browser. Truth: a block on the ground slides at the friction or tips at width over height, whichever is
less (closed form); `drystone run` of the saved case; the signatures of the generators."""

import base64
import inspect
import json
import threading
import time
from pathlib import Path

import pytest

from drystone.base.errors import InputError
from drystone.base.units import parse_quantity
from drystone.build import GENERATORS
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.show.page.studio import Studio
from drystone.show.page.studio_controls import arrange_sheet, history_text, statics_text

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def studio(tmp_path):
    site = Studio(tmp_path)
    yield site
    site.close()


class Page:
    """Who asks a studio, as the page does."""

    def __init__(self, site, name="page"):
        self.site, self.name, self.number = site, name, 0

    def ask(self, part, sheet, number=None):
        self.number += 1
        count = self.number if number is None else number
        question = {"page": self.name, "number": count, "digest": f"digest {count}", "sheet": sheet}
        reply = self.site.post(part, question)
        return reply.status, json.loads(reply.body)


def block(width=0.6, height=2.0, friction=0.6):
    structure = {"generator": "block", "width": f"{width} m", "depth": "1 m", "height": f"{height} m"}
    return arrange_sheet({"structure": structure, "joints": {"friction": friction}})[0]


def test_all_parameters_of_all_generators_have_a_control_that_reaches_their_default():
    for name, generator in GENERATORS.items():
        sheet, controls = arrange_sheet({"structure": {"generator": name}})
        places = {control.place for control in controls}
        assert {f"structure.{key}" for key in inspect.signature(generator).parameters} <= places
        for control in controls:
            if control.high > control.low and control.place.startswith("structure."):
                value = sheet["structure"][control.place.split(".")[1]]
                shown = float(value.split()[0]) if isinstance(value, str) else value
                assert control.low <= shown <= control.high, control
                assert not isinstance(value, str) or value.split()[1] == control.unit


@pytest.mark.parametrize("name", GENERATORS)
def test_a_fresh_sheet_is_a_case(name):
    sheet, _ = arrange_sheet({"structure": {"generator": name}})
    assert parse_case(statics_text(sheet)).analysis.kind == "limit"
    assert parse_case(history_text(sheet)).goes_through_time


@pytest.mark.parametrize(("width", "friction"), [(0.6, 0.6), (1.0, 0.3)])
def test_a_block_tips_or_slides(studio, width, friction):
    status, found = Page(studio).ask("collapse", block(width, 2.0, friction))
    assert status == 200
    assert found["stable"]
    assert found["multiplier"] == pytest.approx(min(width / 2.0, friction), abs=1e-6)
    assert ("hinge" if width / 2.0 < friction else "sliding") in [each["kind"] for each in found["hinges"]]


def test_a_block_that_leans_too_far_falls_about_its_edge(studio):
    sheet = block()
    sheet["structure"]["tilt"] = "20 deg"  # the diagonal leans by atan(0.3) = 16.7 deg
    _, found = Page(studio).ask("collapse", sheet)
    assert not found["stable"]
    assert "turns about an axis along y at x = 0.30 m, z = 0.00 m" in found["words"]


def test_parts_of_an_answer_carry_number_and_digest_back(studio):
    for part in ("shape", "collapse", "rest"):
        _, found = Page(studio).ask(part, block(), number=7)
        assert (found["number"], found["digest"]) == (7, "digest 7")


def test_a_question_overtaken_is_not_computed(studio):
    page = Page(studio)
    assert page.ask("collapse", block(), number=5)[0] == 200
    status, found = page.ask("collapse", block(), number=3)
    assert status == 409
    assert found["overtaken"]
    assert Page(studio, "another").ask("collapse", block(), number=3)[0] == 200


def test_of_many_questions_at_once_each_answer_belongs_to_its_sheet(studio):
    page, answers = Page(studio), []
    Page(studio, "first").ask("collapse", block())  # compiled

    def ask(number, width):
        answers.append((width, *page.ask("collapse", block(width), number=number)))

    threads = [threading.Thread(target=ask, args=[k, 0.2 + 0.02 * k]) for k in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    given = [(width, found) for width, status, found in answers if status == 200]
    assert len(answers) == 40
    assert any(found["number"] == 39 for _, found in given)
    for width, found in given:
        assert found["multiplier"] == pytest.approx(min(width / 2.0, 0.6), abs=1e-6)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("structure.thickness", "-1 m", "thickness is -1.0; give a number above 0"),
        ("structure.thickness", "25 m", "is not below twice the radius"),
        ("structure.blocks", 0, "give a whole number"),
        ("structure.blocks", 1000000, "give fewer"),
        ("structure.radius", "10 furlongs", "is not a unit of length"),
        ("joints.friction", -0.1, "greater than or equal to 0"),
        ("statics.direction", [0, 0, 0], "has no direction"),
        ("push.on", "voussoir-99", "no block and no group is named 'voussoir-99'"),
    ],
)
def test_what_is_wrong_is_said_beside_its_control(studio, place, value, said):
    sheet, _ = arrange_sheet({"structure": {"generator": "arch"}, "push": {"on": "voussoir-1", "share": 0.1}})
    table, key = place.split(".")
    sheet[table] = sheet[table] | {key: value}
    status, found = Page(studio).ask("collapse", sheet)
    assert status == 400
    assert found["at"] == place
    assert said in found["error"]
    assert "case.toml" not in found["error"]


@pytest.mark.parametrize("grows", ["horizontal force", "tilt", "point load"])
def test_a_saved_case_runs_the_same_on_the_command_line(studio, command, tmp_path, grows):
    sheet, _ = arrange_sheet({"structure": {"generator": "arch", "blocks": 9}, "push": {"on": "voussoir-3", "share": 0.05}})
    sheet["statics"] = sheet["statics"] | {"grows": grows}
    _, found = Page(studio).ask("collapse", sheet)
    saved = json.loads(studio.post("save", {"sheet": sheet}).body)
    code, out, _ = command("run", saved["path"], "-o", tmp_path / "out", "--json")
    assert code == 0
    assert json.loads(out)["multiplier"] == found["multiplier"]
    assert Path(saved["path"]).read_text() == saved["text"]


def test_an_example_is_opened_and_gives_the_multiplier_of_the_command_line(tmp_path, command):
    site = Studio(tmp_path, EXAMPLES / "loaded-arch.toml")
    sheet = json.loads(site.get("begin").body)["sheet"]
    sheet["structure"]["density"] = 1800  # as JavaScript writes 1800.0: no count of blocks
    _, found = Page(site).ask("collapse", sheet)
    site.close()
    _, out, _ = command("run", EXAMPLES / "loaded-arch.toml", "-o", tmp_path / "out", "--json")
    assert json.loads(out)["multiplier"] == pytest.approx(found["multiplier"], rel=1e-9)


def test_loads_of_a_case_of_its_own(tmp_path):
    """They are what grows in the place of a point load, and do not turn with a table."""
    site = Studio(tmp_path, EXAMPLES / "loaded-arch.toml")
    begin = json.loads(site.get("begin").body)
    assert "push.on" not in [control["place"] for control in begin["controls"]]
    status, found = Page(site).ask("collapse", begin["sheet"] | {"statics": {"grows": "tilt", "direction": [1, 0, 0]}})
    site.close()
    assert (status, found["at"]) == (400, "statics.grows")


def test_a_saved_case_overwrites_nothing(studio, tmp_path):
    names = [json.loads(studio.post("save", {"sheet": block()}).body)["name"] for _ in range(3)]
    assert names == ["block.toml", "block-2.toml", "block-3.toml"]


def in_base64(content):
    return base64.b64encode(content).decode()


def test_an_uploaded_file_is_read_and_saved_beside_its_case(studio, tmp_path):
    corners = "".join(f"v {x} {y} {z}\n" for z in (0, 1, 3) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
    box = "o {}\nf {} {} {} {}\nf {} {} {} {}\n" + "f {} {} {} {}\n" * 4

    def faces(name, k):
        a, b, c, d = range(k, k + 4)
        e, f, g, h = range(k + 4, k + 8)
        return box.format(name, d, c, b, a, e, f, g, h, a, b, f, e, b, c, g, f, c, d, h, g, d, a, e, h)

    content = (corners + faces("foot", 1) + faces("stone", 5)).encode()
    opened = json.loads(studio.post("open", {"name": "../../two.obj", "content": in_base64(content)}).body)
    status, found = Page(studio).ask("collapse", opened["sheet"])
    assert status == 200, found
    assert found["multiplier"] == pytest.approx(0.5, abs=1e-6)  # 1 m wide, 2 m high
    saved = json.loads(studio.post("save", {"sheet": opened["sheet"]}).body)
    assert (tmp_path / "two.obj").read_bytes() == content
    assert parse_case(saved["text"], saved["path"]).model().blocks


@pytest.mark.parametrize(
    "content",
    [
        {"name": "x.obj", "content": "no base64!"},
        {"name": "x.obj"},
        {"name": "x.obj", "content": "ä"},
        {"name": "..", "content": in_base64(b"x")},
        {"name": "a\0b" + 300 * "x", "content": in_base64(b"x")},
        {"name": "x.toml", "content": in_base64(b"no toml")},
        {"name": "x.obj", "content": in_base64(bytes(13 * 2**20))},
    ],
)
def test_what_cannot_be_opened_is_refused(studio, content):
    with pytest.raises(InputError):
        studio.post("open", content)
    assert list(studio._uploads.iterdir()) == []


def test_files_that_were_not_opened_are_not_read(studio):
    status, found = Page(studio).ask("shape", {"structure": {"file": "/etc/passwd"}})
    assert status == 400
    assert "was not opened in this studio" in found["error"]


@pytest.mark.parametrize("content", [[], {"sheet": 3}, {"sheet": {}}, {"sheet": {"structure": {"generator": "castle"}}},
                                     {"sheet": {"structure": {"generator": []}}}])  # fmt: skip
def test_what_is_no_sheet_is_refused(studio, content):
    with pytest.raises(InputError):
        studio.post("arrange", content)


def test_a_history_is_run_by_a_process_of_its_own_and_watched(studio, tmp_path):
    sheet = block() | {"dynamics": {"duration": "0.02 s", "time_step": "1 ms"}}
    begun = json.loads(studio.post("launch", {"sheet": sheet}).body)
    assert begun["out"] == str(tmp_path / "block")
    with pytest.raises(InputError, match="still running"):
        studio.post("launch", {"sheet": sheet})
    until = time.monotonic() + 600
    while (state := json.loads(studio.get("launched").body))["running"] and time.monotonic() < until:
        time.sleep(0.2)
    assert state["code"] == 0, state["said"]
    head = json.loads(studio.get("runs/0").body)
    assert head["time"][-1] == pytest.approx(parse_quantity("0.02 s", "time"))
    assert not head["live"]


def test_a_history_that_is_stopped_keeps_what_it_has(studio, tmp_path):
    studio.post("launch", {"sheet": block() | {"dynamics": {"duration": "1000 s", "time_step": "1 ms"}}})
    out, until = tmp_path / "block", time.monotonic() + 600
    while (not (out / "run.h5").exists() or read_run(out).frames < 3) and time.monotonic() < until:
        time.sleep(0.2)
    studio.post("stop", {})
    while (state := json.loads(studio.get("launched").body))["running"] and time.monotonic() < until:
        time.sleep(0.2)
    assert state["code"] == 130, state["said"]
    assert "--resume" in state["said"]
    assert 3 <= read_run(out).frames < 1000 / 0.01
