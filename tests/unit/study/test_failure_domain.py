"""Failure domains as a study. Truth: domains that are known beforehand, by formula or by Housner's equation at every point of
the grid; hulls by brute force; the rest counted by hand."""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from housner_reference import overturns
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.io.case import parse_case, read_case
from drystone.show.plots.failure_domain_plot import domain_pictures
from drystone.study.failure_domain import FailureDomainTable, lower_hull, pulse_capacities
from drystone.study.preparation import prepare_study
from drystone.study.trial_records import COLLAPSED, FAILED, STANDING, Outcome, Trials

EXAMPLES = Path(__file__).parents[3] / "examples"
BLOCK = read_case(EXAMPLES / "planar-block-sine.toml")


def domain(case=BLOCK, **keys):
    keys = {"half_periods": [0.2, 0.4], "amplitudes": {"from": 1.0, "to": 20.0, "resolution": "2 %"}} | keys
    return FailureDomainTable(kind="failure-domain", case="case.toml", **keys).begin(case, Path())


def tried(study, status, at_a_time=None, seed=0):
    """The trials of a study run to its end, each with the status that a function of its sample gives; some of the proposals at
    a time, in any order."""
    trials, order = Trials(), np.random.default_rng(seed)
    while todo := [sample for sample in study.propose(trials) if trials.outcome(sample) is None]:
        assert study.expected(trials) >= len(trials) + len(todo)
        for i in order.permutation(len(todo))[:at_a_time]:
            trials.add(todo[i], Outcome(status(todo[i]), "told", {}, 0.0))
    assert study.expected(trials) == len(trials)
    return trials


def above(limit):
    """Collapse above an amplitude that depends on half-period and sign."""
    return lambda sample: COLLAPSED if abs(sample["motion.amplitude"]) > limit(
        sample["motion.half_period"], np.sign(sample["motion.amplitude"])) else STANDING  # fmt: skip


def hyperbola(half_period, sign):
    return 2.0 + (0.8 if sign > 0 else 0.5) / half_period


def housner(sample):
    """The block of PCL by its equation, shaken either way alike."""
    falls = overturns(abs(sample["motion.amplitude"]) / GRAVITY, sample["motion.half_period"], 0.2, 1.0, GRAVITY)
    return COLLAPSED if falls else STANDING


PERIODS = {"from": 0.1, "to": 0.8, "count": 20}
HOUSNER = {"half_periods": PERIODS, "amplitudes": {"from": "0.2 g", "to": "4 g", "resolution": "1 %"}, "directions": ["+"]}


def test_boundary_of_a_known_domain():
    study = domain(half_periods=PERIODS)
    facts = study.result(tried(study, above(hyperbola)))
    for sign, factor in (("+", 1), ("-", -1)):
        boundary = facts["curves"][0]["directions"][sign]["boundary"]
        assert len(boundary) == 20
        for point in boundary:
            assert point["stands"] <= hyperbola(point["half_period"], factor) < point["collapses"]
            assert point["collapses"] / point["stands"] < 1.0201
        assert facts["curves"][0]["directions"][sign]["islands"] == []
    assert facts["complete"]
    assert facts["failed"] == []
    assert facts["grid_trials"] == 2 * 20 * len(facts["amplitudes"])
    assert facts["trials"] < facts["grid_trials"] / 15


def test_grid_and_trace_agree():
    """The trace finds what the grid has, with its samples."""
    trace, grid = domain(half_periods=PERIODS), domain(half_periods=PERIODS, method="grid")
    few, all_of_them = tried(trace, above(hyperbola)), tried(grid, above(hyperbola))
    assert len(all_of_them) == grid.result(all_of_them)["grid_trials"]
    assert all(all_of_them.outcome(sample) == outcome for sample, outcome in few.rows())
    for sign in "+-":
        one, other = (study.result(trials)["curves"][0]["directions"][sign]["boundary"]
                      for study, trials in ((trace, few), (grid, all_of_them)))  # fmt: skip
        assert one == other
    assert trace.propose(all_of_them) == [] or all(all_of_them.outcome(s) for s in trace.propose(all_of_them))


def test_the_order_of_trials_changes_nothing():
    """Two at a time or all, whichever ends first: the same trials in the end."""
    study = domain(half_periods=PERIODS, directions=["+"])
    whole = tried(study, above(hyperbola)).rows()
    assert tried(study, above(hyperbola), at_a_time=2, seed=1).rows() == whole
    assert tried(study, above(hyperbola), at_a_time=1, seed=2).rows() == whole


def test_two_workers_always_find_work():
    """Until the last halvings, of which there is one in each column."""
    study, trials, counts = domain(half_periods=PERIODS, directions=["+"]), Trials(), []
    while todo := [sample for sample in study.propose(trials) if trials.outcome(sample) is None]:
        counts.append(len(todo))
        for sample in todo[:2]:
            trials.add(sample, Outcome(above(hyperbola)(sample), "told", {}, 0.0))
    assert np.mean(np.array(counts) > 1) > 0.95


@pytest.fixture(scope="module")
def traced():
    study = domain(**HOUSNER, scan=36, scan_every=3)
    return study.result(tried(study, housner))


@pytest.fixture(scope="module")
def dense():
    """By half-period: the grid of the same study, tried point by point."""
    study = domain(**HOUSNER)
    return {period: np.array([housner({"motion.half_period": period, "motion.amplitude": a}) == COLLAPSED
                              for a in study.table.amplitudes]) for period in study.table.half_periods}  # fmt: skip


def test_boundary_of_the_block(traced, dense):
    """Every point of it is a change of the grid, the lowest one but where a region of collapse is thinner than the scan."""
    amplitudes = np.array(traced["amplitudes"])
    lowest = 0
    for point in traced["curves"][0]["directions"]["+"]["boundary"]:
        falls = dense[point["half_period"]]
        upper = list(amplitudes).index(point["collapses"])
        assert falls[upper]
        assert not falls[upper - 1]
        assert amplitudes[upper - 1] == point["stands"]
        lowest += upper == np.flatnonzero(falls)[0]
    assert lowest >= 19
    assert traced["trials"] < traced["grid_trials"] / 3


def test_islands_of_the_block(traced, dense):
    """Impact or no impact: between the amplitudes that overturn after an impact and those that do before it, some stand. All
    those that are wider than the scan are found, with their ends; in scanned columns and between them."""
    amplitudes = traced["amplitudes"]
    gap = len(amplitudes) / 35
    found = {(island["half_period"], island["stands_from"], island["stands_to"])
             for island in traced["curves"][0]["directions"]["+"]["islands"]}  # fmt: skip
    wide = set()
    for period, falls in dense.items():
        starts = [i + 1 for i in range(len(falls) - 1) if falls[i] != falls[i + 1]]  # of stretches that all fall or all stand
        wide |= {(period, amplitudes[low], amplitudes[high - 1])
                 for low, high in pairwise(starts) if not falls[low] and high - low > gap}  # fmt: skip
    assert len(wide) >= 3
    assert wide <= found


def test_failed_trials_are_listed_and_no_boundary():
    study = domain(half_periods=[0.2, 0.3, 0.4], directions=["+"])
    broken = study.table.amplitudes[100]

    def status(sample):
        return FAILED if sample["motion.amplitude"] == broken else above(lambda *_: broken)(sample)

    facts = study.result(tried(study, status))
    assert [row["sample"]["motion.amplitude"] for row in facts["failed"]] == [broken] * 3
    assert facts["complete"]
    for point in facts["curves"][0]["directions"]["+"]["boundary"]:
        assert (point["stands"], point["collapses"]) == (study.table.amplitudes[99], study.table.amplitudes[101])
    assert [point["collapsed"] for point in facts["curves"][0]["directions"]["+"]["points"]].count(None) == 3


def test_who_was_still_falling_is_told():
    """Counted by hand: one that ended at its largest displacement; not those that swing back, rest where they slid, or fell."""
    study, trials = domain(method="grid", amplitudes=[1.0, 2.0, 3.0, 4.0], half_periods=[0.2], directions=["+"]), Trials()
    ends = [(STANDING, "came to rest", 0.1, 0.1), (STANDING, "the duration is over", 0.1, 1.0),
            (STANDING, "the duration is over", 3.0, 3.0), (COLLAPSED, "the potential energy has fallen", 4.0, 4.0)]  # fmt: skip
    for sample, (status, reason, residual, peak) in zip(study.propose(trials), ends, strict=True):
        numbers = {"residual_displacement": residual, "peak_displacement": peak}
        trials.add(sample, Outcome(status, reason, numbers, 0.0))
    facts = study.result(trials)
    assert [sample["motion.amplitude"] for sample in facts["unfinished"]] == [3.0]
    assert facts["unfinished_trials"] == 1


def test_all_failed_ends():
    study = domain(half_periods=PERIODS)
    facts = study.result(tried(study, lambda sample: FAILED))
    assert facts["complete"]
    assert facts["curves"][0]["directions"]["+"]["boundary"] == []
    assert facts["curves"][0]["hull"] == []


def test_what_lies_beyond_the_range():
    study = domain(half_periods=PERIODS, directions=["+"])
    for limit, wanted in ((0.0, {"stands": None, "collapses": 1.0}), (99.0, {"stands": 20.0, "collapses": None})):
        boundary = study.result(tried(study, above(lambda *_, limit=limit: limit)))["curves"][0]["directions"]["+"]["boundary"]
        assert [{key: point[key] for key in wanted} for point in boundary] == [wanted] * 20


def test_curves_side_by_side():
    """Every combination of what varies has its own domain and samples."""
    study = domain(vary={"joints.friction": [0.3, 0.7], "structure.height": ["1 m", "2 m"]})
    status = above(hyperbola)
    facts = study.result(tried(study, lambda s: status(s) if s["joints.friction"] == 0.3 else STANDING))
    assert [curve["vary"] for curve in facts["curves"]] == [
        {"joints.friction": friction, "structure.height": height} for friction in (0.3, 0.7) for height in ("1 m", "2 m")
    ]
    assert [len(curve["hull"]) for curve in facts["curves"]] == [2, 2, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_hull(points):
    """Truth: what makes it one: some of the points, all others above it, every corner pointing down."""
    hull = lower_hull(points)
    if not points:
        assert hull == []
        return
    ends = min(p[0] for p in points), max(p[0] for p in points)
    assert (hull[0][0], hull[-1][0]) == ends
    assert set(hull) <= set(points)
    xs, ys = np.array(hull, float).T
    for x, y in points:
        assert np.interp(x, xs, ys) <= y + 1e-12
    slopes = np.diff(ys) / np.diff(xs)
    assert (np.diff(slopes) > 0).all()


def test_hull_is_of_both_directions():
    study = domain(half_periods=PERIODS)
    curve = study.result(tried(study, above(hyperbola)))["curves"][0]
    weaker = [(point["half_period"], point["collapses"]) for point in curve["directions"]["-"]["boundary"]]
    assert set(curve["hull"]) <= set(weaker)
    assert curve["hull"][0] == weaker[0]
    assert curve["hull"][-1] == weaker[-1]


@pytest.mark.parametrize(
    ("pulse", "time", "ahead", "back"),
    [("one-sine", "half_period", 0.1, 0.1), ("half-sine", "half_period", 0.3, 0.1), ("biphasic", "duration", 0.2, 0.1)],
)
def test_capacity(pulse, time, ahead, back):
    """A block of b / h = 0.2 that is pushed to the right by a tenth of its weight. Truth: ground that sets out to the right
    turns it to the left at 0.3 g, the other way to the right at 0.1 g; what comes back is as strong, or nothing, or half."""
    text = BLOCK.text.replace("one-sine", pulse).replace('half_period = "0.5 s"', f'{time} = "0.5 s"')
    found = pulse_capacities(parse_case(text + '\n[[load]]\non = "block"\nshare = 0.1\ndirection = [1, 0, 0]\n'))
    assert found == pytest.approx({"+": ahead * GRAVITY, "-": back * GRAVITY}, rel=1e-5)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"half_periods": 0.2}, "0.2 is no list"),
        ({"half_periods": []}, "is no list"),
        ({"half_periods": [0.4, 0.2]}, "do not rise"),
        ({"half_periods": ["0.2 m"]}, "not a unit of time"),
        ({"amplitudes": {"from": 1.0, "to": 2.0}}, "either count or resolution"),
        ({"amplitudes": {"from": 1.0, "to": 2.0, "cuont": 3}}, "'cuont' is no key of a range"),
        ({"amplitudes": {"from": 2.0, "to": 1.0, "count": 3}}, "lower end first"),
        ({"amplitudes": {"from": 1.0, "to": 2.0, "count": 1.5}}, "count = 1.5"),
        ({"amplitudes": {"from": 1.0, "to": 2.0, "resolution": 0.0}}, "resolution = 0.0"),
        ({"amplitudes": {"from": 1.0, "to": 2.0, "resolution": 0.1, "spacing": "even"}}, "spacing = 'even'"),
        ({"half_periods": [1.0, 1.5, 3.0]}, "analysis.duration is 4 s"),
        ({"vary": {"joints.frction": [0.3]}}, "frction"),
        ({"vary": {"joints.friction": [0.3, -1]}}, "-1"),
    ],
)
def test_wrong_keys_are_told(keys, said):
    with pytest.raises((InputError, ValidationError), match=said):
        domain(**keys)


def test_a_case_without_a_pulse_is_told():
    text = BLOCK.text.replace("[motion]", "[[motion]]") + '\n[[motion]]\npulse = "one-sine"\namplitude = 1\nhalf_period = 1\n'
    with pytest.raises(InputError, match="one pulse of the ground; the motions of the case: one-sine, one-sine"):
        domain(parse_case(text))


@pytest.mark.parametrize(
    ("name", "full", "columns", "begin"),
    [("planar-block", False, 10, 4 * 16), ("arch", False, 7, 3 * 8), ("house", False, 10, 4 * 6), ("house", True, 90, 36 * 12)],
)
def test_examples(name, full, columns, begin):
    """Counted by hand: directions times half-periods times frictions, and the scanned ones of these times what is looked at."""
    study = prepare_study(EXAMPLES / f"studies/{name}-domain.toml", full=full).study
    assert len(study.columns) == columns
    assert len(study.propose(Trials())) == begin
    assert begin < study.expected(Trials()) < columns * len(study.table.amplitudes) / 5


def test_ranges():
    table = domain(half_periods={"from": "100 ms", "to": "400 ms", "count": 3}).table
    assert table.half_periods == (0.1, 0.2, 0.4)
    assert domain(half_periods={"from": 0.1, "to": 0.3, "count": 3, "spacing": "even"}).table.half_periods == (0.1, 0.2, 0.3)
    ratios = np.array(table.amplitudes[1:]) / table.amplitudes[:-1]
    assert ratios.max() <= 1.02 + 1e-5
    assert ratios.min() > 1.0195


def test_every_dot_says_what_it_is_and_leads_to_its_run(tmp_path):
    """Counted: a title for each trial; a link for each run that was kept, the command that makes it for those that were not."""
    study = domain(half_periods=PERIODS, vary={"joints.friction": [0.3, 0.7]}, capacity=True)
    trials = tried(study, above(hyperbola))
    rows = [{"key": f"{i:04x}", "sample": sample, **outcome._asdict()} for i, (sample, outcome) in enumerate(trials.rows())]
    (tmp_path / "trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in rows[:3]:
        (tmp_path / "runs" / row["key"]).mkdir(parents=True)
    png, svg = domain_pictures(study.result(trials), tmp_path)
    assert png.stat().st_size > 10_000
    text = svg.read_text()
    assert text.count("<title>") == len(trials)
    assert sorted(re.findall(r'xlink:href="(runs/[^"]+)"', text)) == [f"runs/{row['key']}/" for row in rows[:3]]
    assert text.count("drystone study --trial") == len(trials) - 3
    assert "dot-" not in text
    assert f"0.1 s, -{study.table.amplitudes[0] / GRAVITY:.4g} g: stood" in text


def test_nothing_to_draw_is_told(tmp_path):
    with pytest.raises(InputError, match="nothing to plot"):
        domain_pictures(domain().result(Trials()), tmp_path)
