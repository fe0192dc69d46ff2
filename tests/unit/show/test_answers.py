"""What the page is told of runs: motions given by hand, closed forms of a column, stages counted by hand."""

import base64
import json
from html.parser import HTMLParser

import numpy as np
import pytest

import drystone as ds
from drystone.analysis.statics_run import record_statics
from drystone.base.errors import InputError
from drystone.engine.cone_step.integrator import Energy
from drystone.io.case import parse_case
from drystone.results.store.run_writer import RunWriter
from drystone.show.page import bundle_files
from drystone.show.page import shown_run as shown
from drystone.show.page.answers import RunAnswers
from drystone.show.page.arrays import unpack
from drystone.show.page.shared_file import write_html
from drystone.show.page.shown_run import FILE_BUDGET, SERVER_BUDGET, ShownRun
from tests.unit import synthetic

FAR = np.array([4.0e5, 5.2e6, 120.0])  # [m] as coordinates of a survey are
AXIS = np.array([0.48, -0.6, 0.64])
CASE = """# Two stones that fly
[structure]
generator = "column"
width = "0.5 m"
depth = "0.4 m"
height = "2 m"
courses = 4
density = "2000 kg/m3"
[joints]
friction = 0.6
"""
COURSE = 0.5 * 0.4 * 0.5 * 2000.0 * 9.81  # [N] weight of one of its blocks
HISTORY = '[analysis]\nduration = "{duration} s"\ntime_step = "10 ms"\n'


def flying(count):
    """Step by step: stone 1 goes up by 1 mm a step and turns by 0.5 rad, stone 2 goes along x by 0.1 m."""
    state = synthetic.start(synthetic.boxes(FAR + [[0, 0, 0], [2, 0, 0], [4, 0, 0]], fixed=[0]))
    for step in synthetic.steps(state, count, dt=1e-2):
        number = step.state.step
        position = state.position + number * np.array([[0, 0, 0], [0, 0, 1e-3], [0.1, 0, 0]])
        half = 0.25 * number
        rotation = state.rotation.copy()
        rotation[1] = [np.cos(half), *(np.sin(half) * AXIS)]
        contacts = step.state.contacts
        touching = contacts._replace(a=np.zeros_like(contacts.a), b=np.ones_like(contacts.b))
        step.state = step.state._replace(position=position, rotation=rotation, contacts=touching)
        yield step


def writer_of(folder, duration, **energies):
    model = synthetic.boxes(FAR + [[0, 0, 0], [2, 0, 0], [4, 0, 0]], fixed=[0])
    case, start = CASE + HISTORY.format(duration=duration), synthetic.start(model)
    start = start._replace(energy=start.energy._replace(**energies))
    return RunWriter.create(folder, case, model, start, every_steps=1, planned_steps=round(duration / 0.01))


def flight(folder, steps):
    with writer_of(folder, 0.01 * steps) as writer:
        for step in flying(steps):
            writer.add(step)
    return folder


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    """100 steps, 101 frames."""
    return flight(tmp_path_factory.mktemp("flown") / "flight", 100)


@pytest.fixture(scope="module")
def briefly_flown(tmp_path_factory):
    """24 steps: files to share hold every frame several times."""
    return flight(tmp_path_factory.mktemp("briefly") / "flight", 24)


def told(answers, path):
    reply = answers.get(path)
    assert reply.status == 200, reply.body
    return json.loads(reply.body) if reply.kind == "application/json" else unpack(reply.body)


def motion(answers, spans, run=0):
    """(n, B, 6) as the page puts it together."""
    parts = []
    for begin, end in spans:
        found = told(answers, f"runs/{run}/poses/{begin}-{end}")
        scale = found["scale"].astype(float)
        parts.append(np.concatenate([found["displacement"] * scale[:, :1], found["turn"] * scale[:, 1:]], axis=-1))
    return np.concatenate(parts)


def test_motions_arrive(flown):
    """To half a unit: 1/65534 of the largest of a block in a chunk; turns are counted across chunks."""
    answers = RunAnswers([flown])
    head = told(answers, "runs/0")
    assert head["chunks"] == [[0, 64], [64, 101]]
    assert (head["name"], head["title"], head["axis"], head["live"]) == ("flight", "Two stones that fly", ["time", "s"], False)
    found, number = motion(answers, head["chunks"]), np.arange(101)
    exact = np.zeros((101, 3, 6))
    exact[:, 1, 2], exact[:, 2, 0] = 1e-3 * number, 0.1 * number
    exact[:, 1, 3:] = 0.5 * np.outer(number, AXIS)
    np.testing.assert_allclose(found[:, 1, :3], exact[:, 1, :3], atol=0.6 * 0.1 / 32767)
    np.testing.assert_allclose(found[:, 2, :3], exact[:, 2, :3], atol=0.6 * 10.0 / 32767)
    np.testing.assert_allclose(found[:, 1, 3:], exact[:, 1, 3:], atol=0.6 * 50.0 * 0.64 / 32767)
    assert not found[:, 0].any()
    np.testing.assert_allclose(head["time"], 0.01 * number, atol=1e-12)


def test_places_are_told_from_near_by(flown):
    """Single precision resolves 0.5 m at 5e6 m; from the origin of the head all corners are right to a micrometre."""
    answers = RunAnswers([flown])
    origin, geometry = np.array(told(answers, "runs/0")["origin"]), told(answers, "runs/0/geometry")
    corners = origin + geometry["centre"][geometry["owner"]].astype(float) + geometry["vertex"]
    model = synthetic.boxes(FAR + [[0, 0, 0], [2, 0, 0], [4, 0, 0]])
    np.testing.assert_allclose(corners, np.concatenate([block.vertices for block in model.blocks]), atol=1e-6)
    assert (len(geometry["triangle"]), len(geometry["edge"])) == (3 * 12, 3 * 12)


def test_long_runs_are_thinned_and_say_so(flown):
    """101 frames where there is room for 26: every 4th. Where there is for 30: every 4th too, and so the last is among them."""
    for room in (26, 30):
        shown = ShownRun(flown, SERVER_BUDGET._replace(frames=room))
        assert shown.frames == list(range(0, 101, 4))
    assert ShownRun(flown, SERVER_BUDGET._replace(frames=35)).frames == [*range(0, 100, 3), 100][:35]
    assert ShownRun(flown, SERVER_BUDGET._replace(poses=12 * 3 * 6)).frames == [0, 20, 40, 60, 80, 100]
    head = told(RunAnswers([flown], SERVER_BUDGET._replace(frames=26)), "runs/0")
    assert ["shown", "26 of 101 frames: every 4"] in head["facts"]
    assert head["frame"] == list(range(0, 101, 4))


def test_the_last_frame_is_shown_although_the_stride_leaves_it_out(flown):
    assert ShownRun(flown, SERVER_BUDGET._replace(frames=15)).frames == [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 100]


def test_a_run_that_grows(tmp_path, flown):
    """What comes later is as if it had been there from the start, whole turns too."""
    folder = tmp_path / "growing"
    steps = flying(100)
    with writer_of(folder, 1.0) as writer:
        for _ in range(40):
            writer.add(next(steps))
        writer.flush()
        answers = RunAnswers([folder], SERVER_BUDGET._replace(frames=51))
        head = told(answers, "runs/0")
        assert (len(head["time"]), head["live"]) == (21, True)
        assert told(answers, "runs/0/more/21")["time"] == []
        for step in steps:
            writer.add(step)
    more = told(answers, "runs/0/more/21")
    assert (len(more["time"]), more["frame"][-1], more["live"]) == (30, 100, False)
    assert more["joints"] == list(range(21, 51))
    whole = RunAnswers([flown], SERVER_BUDGET._replace(frames=51))
    np.testing.assert_allclose(motion(answers, [(0, 21), (21, 51)]), motion(whole, [(0, 51)]), atol=2e-3)


def test_several_runs(flown):
    answers = RunAnswers([flown, flown])
    assert told(answers, "runs") == [{"name": "flight"}, {"name": "flight"}]
    assert motion(answers, [(0, 5)], run=1).shape == (5, 3, 6)


@pytest.mark.parametrize("path", [
    "", "run", "runs/1", "runs/-1", "runs/x", "runs/0/", "runs/0/more/x", "runs/0/joints/101", "runs/0/joints/-1",
    "runs/0/joints/1e3", "runs/0/geometry/x", "runs/00000000000", "../../etc/passwd", "runs/0/poses", "runs/²",
])  # fmt: skip
def test_what_is_not_there(flown, path):
    assert RunAnswers([flown]).get(path).status == 404


@pytest.mark.parametrize("span", ["0-102", "5-5", "7-3", "a-b", "-1-5", "0", "0-99999999999", ""])
def test_frames_that_are_not_there(flown, span):
    for series in ("poses", "values/velocity"):
        with pytest.raises(InputError, match="flight shows 101"):
            RunAnswers([flown]).get(f"runs/0/{series}/{span}")


def test_a_quantity_that_is_none(flown):
    with pytest.raises(InputError, match="did you mean 'velocity'"):
        RunAnswers([flown]).get("runs/0/values/velocty/0-5")


def test_velocities(flown):
    """To 1/65534 of the largest."""
    run = ds.read_run(flown)
    exact = np.linalg.norm(run.velocity[10:20, :, :3], axis=-1)
    found = told(RunAnswers([flown]), "runs/0/values/velocity/10-20")
    np.testing.assert_allclose(found["value"] * found["scale"][0].astype(float), exact, atol=0.6 * exact.max() / 65534)


def test_curves(flown):
    """The energies of all steps are there, and what the block that moved most did: stone 2, 0.1 m a step."""
    curves = {curve["title"]: curve for curve in told(RunAnswers([flown]), "runs/0")["curves"]}
    run = ds.read_run(flown)
    kinetic = next(series for series in curves["energy"]["series"] if series["label"] == "kinetic")
    np.testing.assert_allclose(kinetic["values"][1:], run.steps["kinetic"])
    assert len(curves["energy"]["time"]) == 101
    (moved,) = curves["displacement"]["series"]
    assert moved["label"] == "stone 2"
    np.testing.assert_allclose(moved["values"], 0.1 * np.arange(101), rtol=1e-6, atol=1e-9)


def test_no_curve_is_empty(tmp_path):
    """The page draws what it is told; energies that are all zero are told by no curve."""
    nothing = dict.fromkeys(Energy._fields, 0.0)
    with writer_of(tmp_path / "still", 0.01, **nothing) as writer:
        (step,) = flying(1)
        step.state = step.state._replace(energy=Energy(**nothing))
        writer.add(step)
    titles = [curve["title"] for curve in told(RunAnswers([tmp_path / "still"]), "runs/0")["curves"]]
    assert titles == ["displacement", "rotation"]


def test_long_curves_are_thinned():
    from drystone.show.page.run_head import MAX_CURVE_POINTS, _curve

    curve = _curve("long", "m", np.arange(10_007), {"x": np.arange(10_007.0)})
    assert len(curve["time"]) <= 1.2 * MAX_CURVE_POINTS
    assert (curve["time"][0], curve["time"][-1]) == (0, 10_006)
    assert _curve("gap", "m", [0, 1], {"x": [np.nan, 2.0]})["series"][0]["values"] == [None, 2.0]


@pytest.fixture(scope="module")
def balanced(tmp_path_factory):
    """A column of 4 blocks of 0.5 m in equilibrium."""
    folder = tmp_path_factory.mktemp("still") / "column"
    for _ in record_statics(parse_case(CASE + '[analysis]\nkind = "equilibrium"\n'), folder):
        pass
    return folder


def test_joints_of_a_column(balanced):
    """Each joint bears the weight above it, in its middle, and pushes the block above up."""
    answers = RunAnswers([balanced])
    head = told(answers, "runs/0")
    assert (head["axis"], head["joints"], head["analysis"]) == (["stage", ""], [0, 1], "equilibrium")
    assert dict(head["facts"])["verdict"].startswith("It stands by Coulomb friction")
    found = told(answers, "runs/0/joints/1")
    exact = [[0, 0, count * COURSE] for count in (4, 3, 2, 1)]
    np.testing.assert_allclose(found["force"], exact, rtol=1e-4, atol=COURSE * 1e-4)
    np.testing.assert_allclose(found["pressure"], np.array([4, 3, 2, 1]) * COURSE / 0.2, rtol=1e-4)
    middle = found["centre"] + np.array(head["origin"])
    np.testing.assert_allclose(middle[:, 2], [0.0, 0.5, 1.0, 1.5], atol=1e-6)
    assert list(found["thrust_start"]) == [0, 4]
    np.testing.assert_allclose(found["thrust"], found["centre"], atol=1e-6)
    assert len(told(answers, "runs/0/joints/0")["a"]) == 0


def test_pressures_of_a_column(balanced):
    found = told(RunAnswers([balanced]), "runs/0/values/joint pressure/1-2")
    np.testing.assert_allclose(found["value"][0] * found["scale"], np.array([4, 4, 3, 2, 1]) * COURSE / 0.2, rtol=2e-4)
    assert (told(RunAnswers([balanced]), "runs/0/values/joint pressure/0-1")["value"] == 65535).all()


def test_pressure_of_an_edge_does_not_drown_the_others(balanced, monkeypatch):
    """Of 1000 blocks at 1 to 1000 Pa and one at 1e9 Pa the first are still told apart."""
    from drystone.results import quantities

    pressures = np.array([*range(1, 1001), 1e9])
    monkeypatch.setitem(quantities.QUANTITIES, "joint pressure", quantities.Quantity("Pa", lambda run, frame: pressures))
    found = told(RunAnswers([balanced]), "runs/0/values/joint pressure/0-1")
    np.testing.assert_allclose((found["value"][0] * found["scale"])[:980], pressures[:980], atol=0.01)
    assert found["value"][0, -1] == 65534


def test_blocks_that_are_not_laid_yet(tmp_path):
    """A column laid course by course: in stage k, k blocks of 4 are there; as built, all."""
    for _ in record_statics(
        parse_case(CASE + '[analysis]\nkind = "construction"\n[solver]\nyoung = "60 GPa"\n'), tmp_path / "stages"
    ):
        pass
    answers = RunAnswers([tmp_path / "stages"])
    hidden = told(answers, "runs/0/poses/0-5")["hidden"]
    assert hidden.sum(axis=1).tolist() == [0, 3, 2, 1, 0]
    assert not hidden[:, 0].any()
    (curve,) = told(answers, "runs/0")["curves"]
    np.testing.assert_allclose(curve["series"][0]["values"], np.arange(1, 5) * COURSE, rtol=1e-9)


class Scripts(HTMLParser):
    """Scripts of a page by their id, as a browser finds them."""

    def __init__(self, text):
        super().__init__()
        self.found, self._now, self.loads = {}, None, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.loads += [attrs[name] for name in ("src", "href") if name in attrs]
        self._now = attrs.get("id", "code") if tag == "script" else None

    def handle_data(self, data):
        if self._now is not None:
            self.found[self._now] = self.found.get(self._now, "") + data

    def handle_endtag(self, tag):
        self._now = None


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    place = tmp_path / "bundle"
    place.mkdir()
    (place / "index.html").write_text('<!doctype html><head><link rel="stylesheet" href="page.css"></head><body>'
                                      '<script src="page.js"></script></body>')  # fmt: skip
    (place / "page.css").write_text("body { color: red }")
    (place / "page.js").write_text('document.title = "</script><!-- <script>";')
    monkeypatch.setattr(bundle_files, "BUNDLE", place)


def test_a_file_to_share(bundle, briefly_flown, balanced, tmp_path, monkeypatch):
    """It holds the answers that the server gives to the same questions, in several chunks, and its script whole."""
    monkeypatch.setattr(shown, "MAX_CHUNK_FRAMES", 16)
    told_of = list(write_html([briefly_flown, balanced], tmp_path / "share.html"))
    page = Scripts((tmp_path / "share.html").read_text())
    assert page.found.pop("code") == r'document.title = "<\/script><\!-- <script>";'
    assert page.loads == []
    answers = RunAnswers([briefly_flown, balanced])
    for path, content in page.found.items():
        assert base64.b64decode(content) == answers.get(path).body, path
    heads = [json.loads(base64.b64decode(page.found[f"runs/{i}"])) for i in (0, 1)]
    assert heads[0]["chunks"] == [[0, 16], [16, 25]]
    for i, head in enumerate(heads):
        asked = {f"runs/{i}/geometry"} | {f"runs/{i}/poses/{b}-{e}" for b, e in head["chunks"]}
        asked |= {f"runs/{i}/values/{quantity['name']}/{b}-{e}" for quantity in head["quantities"] for b, e in head["chunks"]}
        asked |= {f"runs/{i}/joints/{frame}" for frame in head["joints"]}
        assert asked <= page.found.keys()
    assert told_of[-1] == (len(page.found), len(page.found))


def test_forces_in_a_file_keep_to_their_budget(flown):
    answers = RunAnswers([flown], FILE_BUDGET._replace(joints=10_000))
    asked = told(answers, "runs/0")["joints"]
    size = len(answers.get("runs/0/joints/100").body)
    assert len(asked) == 10_000 // size < 101
    assert (asked[0], asked[-1]) == (0, 100)


def test_macro_blocks_of_long_runs_are_left_out_of_files(flown):
    """101 frames of 3 blocks: 303 readings."""
    for room, there in ((302, False), (303, True)):
        names = [
            each["name"] for each in told(RunAnswers([flown], FILE_BUDGET._replace(class_values=room)), "runs/0")["quantities"]
        ]
        assert ("macro-block" in names) == there
        assert "velocity" in names


def test_a_file_that_cannot_be_written(bundle, flown, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        list(write_html([flown], tmp_path / "nowhere" / "share.html"))


def test_the_command(bundle, briefly_flown, command, tmp_path):
    code, out, _ = command("view", briefly_flown, "--html", tmp_path / "x.html", "--json")
    assert (code, json.loads(out)["bytes"]) == (0, (tmp_path / "x.html").stat().st_size)
    code, _, error = command("view", tmp_path)
    assert code == 2
    assert "holds no run" in error


def test_the_command_without_the_page(flown, command, monkeypatch, tmp_path):
    monkeypatch.setattr(bundle_files, "BUNDLE", tmp_path)
    for more in ([], ["--html", tmp_path / "x.html"]):
        code, _, error = command("view", flown, *more)
        assert code == 2
        assert "make page" in error
    assert not (tmp_path / "x.html").exists()
