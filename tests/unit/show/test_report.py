"""The report: it says what was computed and never more.

Sources of truth: steps counted by hand in runs made by hand; facts of statics as the analyses write them, with one of them
spoilt; the keys of the tables that read a case; digests by hashlib; a real run of a block that rests on the ground.
"""

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from drystone.show.report import certificate, figures, pdf
from drystone.show.report.amounts import amount
from drystone.show.report.certificate import certify
from drystone.show.report.inputs import assumptions, list_case_keys
from drystone.show.report.origin import digests
from tests.unit import synthetic

BLOCK = """# A block that <rests> & stays
[structure]
generator = "block"
width = "1 m"
depth = "0.5 m"
height = "200 cm"

[joints]
friction = 0.6

[analysis]
duration = "20 ms"
time_step = "1 ms"
"""


BY_CONE_PROGRAMS = BLOCK.replace("[analysis]", '[analysis]\nintegrator = "cone-program"')


def made_by_hand(folder: Path, steps: int, planned: int, *, converged: bool):
    """Cubes that move at random; every fifth step fails unless all converge."""
    model = synthetic.boxes([[0, 0, 0], [0, 0, 1.0]], fixed=[0])
    start = synthetic.start(model)
    with RunWriter.create(folder, BLOCK, model, start, every_steps=5, planned_steps=planned) as writer:
        for step in synthetic.steps(start, steps):
            if converged:
                step.solution = step.solution._replace(converged=True)
            writer.add(step)
    return read_run(folder)


def words(found) -> str:
    return " ".join(check.words for check in found.checks)


def test_steps_that_did_not_converge_are_named(tmp_path):
    """Steps 5, 10, 15 and 20 of 20."""
    run = made_by_hand(tmp_path, 20, 20, converged=False)
    found = certify(run, parse_case(BY_CONE_PROGRAMS), None)
    assert not found.certified
    assert "4 of 20 steps DID NOT CONVERGE, solver native at tolerance 1e-06: steps 5, 10, 15, 20;" in words(found)
    assert "All 20 steps" not in words(found)


def test_what_converged_is_told_with_the_error_that_was_reached(tmp_path):
    """Made up residuals are random, far above the tolerance: they are told, not the tolerance in their place."""
    run = made_by_hand(tmp_path, 20, 20, converged=True)
    check = certificate._steps(run, parse_case(BY_CONE_PROGRAMS))
    assert check.good
    assert check.words.startswith("All 20 steps converged, solver native at tolerance 1e-06; the largest error")
    assert f"{run.steps['residual_error'].max():.1e} of g dt" in check.words


@pytest.mark.parametrize("good", [True, False])
def test_small_steps_that_made_energy_are_named(tmp_path, good):
    run = made_by_hand(tmp_path, 20, 20, converged=good)
    check = certificate._steps(run, parse_case(BLOCK))
    assert check.good == good
    assert f"{run.steps['factorisations'].sum()} small steps of " in check.words.replace(",", "")
    assert ("contact never made more than 0.1 % of the energy at hand." in check.words) == good
    assert ("in 4 of 20 steps contact MADE more than 0.1 %" in check.words) != good
    assert ("steps 5, 10, 15, 20." in check.words) != good


def test_a_run_that_was_cut_is_not_certified(tmp_path):
    run = made_by_hand(tmp_path, 10, 20, converged=True)
    found = certify(run, parse_case(BLOCK.replace("[analysis]", "[analysis]\ncollapse = 1e9")), None)
    assert not found.certified
    assert found.verdict.startswith("It was cut at 10 ms; up to then it has not collapsed")
    assert "CUT, or still being computed: 10 of 20 steps, 10 ms of 20 ms." in words(found)


def test_a_run_of_no_step_certifies_nothing(tmp_path):
    found = certify(made_by_hand(tmp_path, 0, 20, converged=True), parse_case(BLOCK), None)
    assert not found.certified
    assert "No step was computed." in words(found)


def test_a_ledger_that_frames_contradict_is_told(tmp_path):
    """Random energies are not those of random motions."""
    found = certify(made_by_hand(tmp_path, 20, 20, converged=True), parse_case(BLOCK), None)
    assert [check.good for check in found.checks if check.words.startswith("Kinetic and potential")] == [False]


EQUILIBRIUM = {
    "converged": True,
    "stable": True,
    "residual": 3e-9,
    "acceleration": 1e-9,
    "words": "It stands by Coulomb's friction.",
    "trial_time": 0.1,
}
LIMIT = {"status": "solved", "multiplier": 0.3712, "multiplier_safe": 0.3512, "confirmed": True, "stable": True, "error": 2e-9,
         "note": "the structure collapses at the multiplier", "search": {"note": "the lowest found"}}  # fmt: skip
CAPACITY = {"directions": [{"direction_deg": 0.0, "multiplier_safe": 0.28, "confirmed": True, "multiplier": 0.3,
                            "status": "solved"},
                           {"direction_deg": 90.0, "multiplier": None, "status": "solved"}],
            "weakest": {"direction_deg": 0.0, "multiplier_safe": 0.28, "multiplier": 0.3, "status": "solved"}}  # fmt: skip
PUSHOVER = {"converged": True, "end": "no capacity left", "peak": 0.37, "peak_displacement": 0.0, "ultimate_displacement": 1.5,
            "curve": {"displacement": [0.0, 1.5]}}  # fmt: skip


def statics(kind: str, facts: dict | None):
    """The certificate of facts; the run and the geometry say nothing of these."""
    more = "direction = [1, 0, 0]\n" if kind in ("limit", "pushover", "tilt") else ""
    case = parse_case(BLOCK.split("[analysis]")[0] + f'[analysis]\nkind = "{kind}"\n{more}')
    return certify(None, case, facts)


@pytest.mark.parametrize(
    ("kind", "facts", "certified", "verdict"),
    [
        ("equilibrium", EQUILIBRIUM, True, "It stands"),
        ("equilibrium", EQUILIBRIUM | {"stable": False, "words": "It falls: three stones move away."}, True,
         "It falls: three stones move away."),
        ("equilibrium", EQUILIBRIUM | {"converged": False, "stable": False, "words": "It is not known"}, False,
         "It is not known"),
        ("equilibrium", None, False, "It was cut before it found anything"),
        ("limit", LIMIT, True, "The collapse multiplier is at most 0.3512 by Coulomb friction, the lowest found, not a proven "
         "minimum; 0.3712 by associated friction, an upper bound"),
        ("limit", LIMIT | {"status": "MaxIterations", "multiplier": None}, False, "The collapse multiplier is not known"),
        ("limit", LIMIT | {"status": "NumericalError"}, False, "The collapse multiplier is not known"),
        ("limit", LIMIT | {"status": "endless", "multiplier": None, "multiplier_safe": None, "note": "nothing bounds it"}, True,
         "There is no collapse multiplier: nothing bounds it."),
        ("limit", LIMIT | {"status": "endless", "multiplier": None}, True, "The collapse multiplier is at most 0.3512 by "
         "Coulomb friction, the lowest found, not a proven minimum; nothing bounds it by associated friction."),
        ("limit", LIMIT | {"confirmed": False}, False, "NOT CONFIRMED by a history: The collapse multiplier is"),
        ("limit", LIMIT | {"multiplier_safe": None}, True, "The collapse multiplier is 0.3712 by associated friction, an upper "
         "bound: no lower value is known."),
        ("limit", LIMIT | {"stable": False, "words": "does not stand under the dead load alone"}, True,
         "It does not stand under the dead load alone. The collapse multiplier is at most 0.3512 by Coulomb friction, the "
         "lowest found, not a proven minimum; 0.3712 by associated friction, an upper bound."),
        ("tilt", LIMIT | {"angle_safe": 19.35, "angle": 20.37}, True, "The angle at which it moves is at most 19.35 deg by "
         "Coulomb friction, the lowest found, not a proven minimum; 20.37 deg by associated friction"),
        ("tilt", LIMIT | {"angle": None, "status": "TimeLimit"}, False, "The angle of collapse is not known"),
        ("capacity", CAPACITY, True, "Of 2 directions the weakest is 0 deg from +x: it collapses under at most 0.2800 of its "
         "weight by Coulomb friction, the lowest found, not a proven minimum; 0.3000 of its weight by associated friction"),
        ("capacity", CAPACITY | {"directions": [*CAPACITY["directions"], {"direction_deg": 45.0, "status": "MaxTime"}]}, False,
         "Of the directions that were solved the weakest"),
        ("pushover", PUSHOVER, True, "Its capacity is at most 0.3700, at 0 m, and gone at 1.5 m."),
        ("pushover", PUSHOVER | {"end": "too many increments; give a larger step", "ultimate_displacement": None}, False,
         "Its capacity is at most 0.3700, at 0 m; where it ends was not reached."),
    ],
)  # fmt: skip
def test_verdicts_of_statics(kind, facts, certified, verdict):
    found = statics(kind, facts)
    assert found.verdict.startswith(verdict)
    assert found.certified is certified
    assert certified or any(word in words(found) for word in ("NOT SOLVED", "NOT confirmed", "cut", "too many"))


def test_every_key_of_a_case_is_told_with_its_unit():
    case = parse_case(BY_CONE_PROGRAMS + 'theta = "60 %"\n[[load]]\non = "block"\nforce = "2 kN"\n')
    keys = {key.name_in_case: key for key in list_case_keys(case)}
    for name, table in (("structure", case.structure), ("joints", case.joints), ("analysis", case.analysis),
                        ("solver", case.solver), ("output", case.output)):  # fmt: skip
        told = {where.split(".")[1] for where in keys if where.startswith(f"{name}.")}
        assert told == set(type(table).model_fields)
    assert keys["analysis.time_step"] == ("analysis.time_step", "1 ms", True)
    assert keys["analysis.theta"] == ("analysis.theta", "0.6", True)
    assert keys["analysis.gravity"] == ("analysis.gravity", "9.81 m/s²", False)
    assert keys["solver.tolerance"] == ("solver.tolerance", "1e-06", False)
    assert keys["load.0.force"] == ("load.0.force", "2 kN", True)
    sizes = [keys[f"structure.{name}"].value for name in ("width", "depth", "height", "tilt")]
    assert sizes == ["1 m", "500 mm", "2 m", "0 deg"]


def test_openings_are_told_with_units():
    """A record with names within a table: a window of the house, as it is by default."""
    case = parse_case('[structure]\ngenerator = "house"\n[joints]\nfriction = 0.7\n[analysis]\nkind = "equilibrium"\n')
    keys = {key.name_in_case: key.value for key in list_case_keys(case)}
    window = case.structure.window
    assert keys["structure.window.width"] == amount(window.width, "length")
    assert keys["structure.window.width"].endswith("mm") or keys["structure.window.width"].endswith(" m")


def test_assumptions_follow_the_case():
    small = parse_case(BLOCK)
    told = " ".join(assumptions(small, small.model()))
    assert "Coulomb's, without dilatancy" in told
    assert "Joints are areas" in told
    assert "small explicit steps" in told
    assert "theta" not in told
    cone = BY_CONE_PROGRAMS
    rigid, mortar = parse_case(cone), parse_case(cone.replace("[joints]", '[joints]\ncohesion = "0.1 MPa"'))
    told = " ".join(assumptions(rigid, rigid.model()))
    assert "All 1 free blocks are rigid" in told
    assert "no mortar" in told
    assert "associated" in told
    assert "no mortar" not in " ".join(assumptions(mortar, mortar.model()))
    exact = parse_case(cone.replace("[joints]", '[joints]\nfriction_law = "coulomb"'))
    assert "Coulomb's, without dilatancy" in " ".join(assumptions(exact, exact.model()))


@pytest.mark.parametrize(
    ("value", "dimension", "said"),
    [
        (12345.0, "force", "12.35 kN"),
        (0.00042, "length", "0.42 mm"),
        (np.pi / 6, "angle", "30 deg"),
        (0.0, "energy", "0 J"),
        (-2500.0, "energy", "-2.5 kJ"),
        (None, "length", "none"),
        (True, "dimensionless", "yes"),
        ((1.0, 0.2), "length", "(1 m, 200 mm)"),
        (3e10, "stress", "30 GPa"),
        ("native", "dimensionless", "native"),
    ],
)
def test_amounts(value, dimension, said):
    assert amount(value, dimension) == said


def test_digests(tmp_path):
    """Of the text as it is; another block is another geometry."""
    run = made_by_hand(tmp_path / "one", 5, 5, converged=True)
    (name, case), (_, geometry) = digests(run)
    assert (name, case) == ("case text", hashlib.sha256(BLOCK.encode()).hexdigest())
    model = synthetic.boxes([[0, 0, 0], [0, 0, 1.0 + 1e-9]], fixed=[0])
    with RunWriter.create(tmp_path / "two", BLOCK, model, synthetic.start(model), every_steps=1):
        pass
    assert digests(read_run(tmp_path / "two"))[1][1] != geometry


class Page(HTMLParser):
    """Addresses, scripts and tags of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.addresses, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "data")]


def test_the_report_of_a_block_at_rest(command, tmp_path, monkeypatch):
    """A real run: certified, complete in itself, without scripts; its title is text and not markup."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "PICTURE_SIZE", (160, 100))
    case = tmp_path / "case.toml"
    case.write_text(BLOCK, encoding="utf-8")
    assert command("run", case, "-o", tmp_path / "out")[0] == 0
    code, out, _ = command("report", tmp_path / "out", "-o", tmp_path / "report.html", "--json")
    facts = json.loads(out)
    assert (code, facts["certified"]) == (0, True)
    assert facts["verdict"].startswith("It does not collapse within 20 ms")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert all(address.startswith("data:image/") for address in page.addresses)
    assert "script" not in page.tags
    assert page.tags.count("img") >= 6
    assert "<h1>A block that &lt;rests&gt; &amp; stays</h1>" in text
    assert "contact never made more than 0.1 % of the energy at hand" in text
    assert 'class="bad"' not in text
    assert hashlib.sha256(BLOCK.encode()).hexdigest() in text
    assert "@page" in text


def test_a_report_with_doubt_is_red_and_exits_with_3(command, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    made_by_hand(tmp_path / "out", 20, 20, converged=False)
    monkeypatch.setattr("drystone.show.report.html_report.pictures", lambda source: [])  # of motions at random
    monkeypatch.setattr("drystone.show.report.html_report.plots", lambda source: [])
    monkeypatch.setattr("drystone.show.report.html_report._result_rows", lambda source: [])
    code, out, _ = command("report", tmp_path / "out", "-o", tmp_path / "report.html")
    assert code == 3
    assert "NOT CERTIFIED" in out
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<p class="verdict doubt">' in text
    assert re.search('<li class="bad">✗&ensp;[^<]*in 4 of 20 steps contact MADE more than', text)


def test_a_pdf_needs_a_browser(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    with pytest.raises(InputError, match="Chromium or Chrome is needed"):
        pdf.print_pdf(tmp_path / "a.html", tmp_path / "a.pdf")


def test_a_pdf_is_printed(tmp_path):
    if not any(map(pdf.shutil.which, pdf.BROWSERS)):
        pytest.skip("no Chromium here")
    page = tmp_path / "a.html"
    page.write_text("<!doctype html><style>@page { size: A4 }</style><p>One page", encoding="utf-8")
    pdf.print_pdf(page, tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.html", "a.pdf"]
