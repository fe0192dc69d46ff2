"""Fragility studies without a solver: the capacity of every record is known and trials answer by it; and the records."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.io.case import parse_case
from drystone.show.plots.fragility_plots import fragility_pictures
from drystone.study.fragility import Fragility, FragilityTable
from drystone.study.intensity_search import bracket, doubling_steps, next_intensities, next_middle_level
from drystone.study.lognormal_fit import bounds_of_trials, fit_lognormal
from drystone.study.specimens import Random, RecordChoice, Shaking, Specimen
from drystone.study.trial_records import COLLAPSED, FAILED, STANDING, Outcome, Trials

LEVELS = ["0.5 g", "0.75 g", "1 g", "1.5 g", "2 g", "2.5 g"]


def study_of(capacities, curves=({},), **keys):
    """A study of records with PGA 1 m/s2; a trial knows its record by `motion.record`."""
    table = FragilityTable(kind="fragility", case="case.toml", records=["*.AT2"], **keys)
    specimens = tuple(Specimen(k, Shaking(RecordChoice(f"r{k}", {"motion.record": k}, {"motion.scale": 1.0}), 1.0), {})
                      for k in range(len(capacities)))  # fmt: skip
    return Fragility(table, specimens, tuple(curves))


def answered(study, answer):
    """All trials a study asks for, one after the other."""
    trials = Trials()
    while True:
        wanted = [sample for sample in study.propose(trials) if trials.outcome(sample) is None]
        if not wanted:
            return trials
        trials.add(wanted[0], answer(wanted[0]))


def by_capacity(capacities, fails=()):
    """Collapse above the capacity; a displacement of 1 cm a g below; trials of records in `fails` fail at 1 g."""

    def answer(sample):
        record, x = sample["motion.record"], sample["motion.scale"]
        if record in fails and x == pytest.approx(GRAVITY):
            return Outcome(FAILED, "not solved", {}, 0.0)
        status = COLLAPSED if x > capacities[record] else STANDING
        return Outcome(status, "", {"peak_displacement": 0.01 * x / GRAVITY}, 0.0)

    return answer


def drawn_capacities(count, theta=0.98 * GRAVITY, beta=0.44):
    return theta * np.exp(beta * np.random.default_rng(1).standard_normal(count))


def test_stripes_are_the_counts():
    """All 20 records at 6 levels; the fit is that of the counts, in m/s2."""
    capacities = drawn_capacities(20)
    study = study_of(capacities, levels=LEVELS)
    trials = answered(study, by_capacity(capacities))
    assert len(trials) == study.expected(trials) == 120
    facts = study.result(trials)
    json.dumps(facts, allow_nan=False)
    curve = facts["curves"][0]
    x = np.array([GRAVITY * level for level in (0.5, 0.75, 1, 1.5, 2, 2.5)])
    assert [level["collapses"] for level in curve["levels"]] == [(capacities < level).sum() for level in x]
    at = np.tile(x, 20)
    direct = fit_lognormal(bounds_of_trials(at, at > np.repeat(capacities, 6), np.repeat(np.arange(20), 6)))
    assert curve["fit"]["theta"] == pytest.approx(direct.theta)
    assert curve["fit"]["beta"] == pytest.approx(direct.beta)
    assert curve["band"]["theta"][0] < direct.theta < curve["band"]["theta"][1]


def test_halving_finds_the_same_with_fewer_trials():
    """Seven answers (none, or collapse from one of six levels on) take log2(7) = 2.8 trials on average at best; 3 at most."""
    capacities = drawn_capacities(60)
    every = study_of(capacities, levels=LEVELS)
    some = study_of(capacities, levels=LEVELS, assume_monotone=True)
    all_trials, few_trials = (answered(study, by_capacity(capacities)) for study in (every, some))
    assert 2.5 * 60 <= len(few_trials) <= 3 * 60
    whole, part = every.result(all_trials)["curves"][0], some.result(few_trials)["curves"][0]
    assert part["fit"] == whole["fit"]
    assert part["inferred"] == len(all_trials) - len(few_trials)
    assert [(a["trials"], a["collapses"]) for a in part["levels"]] == [(a["trials"], a["collapses"]) for a in whole["levels"]]


def test_failed_trials_are_left_out_and_counted():
    capacities = drawn_capacities(20)
    study = study_of(capacities, levels=LEVELS)
    curve = study.result(answered(study, by_capacity(capacities, fails=(3, 4))))["curves"][0]
    assert curve["failed"] == 2
    assert [level["trials"] for level in curve["levels"]] == [20, 20, 18, 20, 20, 20]
    monotone = study_of(capacities, levels=LEVELS, assume_monotone=True)
    curve = monotone.result(answered(monotone, by_capacity(capacities, fails=(3, 4))))["curves"][0]
    known = sum(level["trials"] for level in curve["levels"])
    assert known + sum(level["failed"] for level in curve["levels"]) == 120


def test_incremental_capacities_hold_the_truth():
    capacities = drawn_capacities(30)
    study = study_of(capacities, method="ida", lowest="0.2 g", highest="2 g", tolerance=0.05)
    trials = answered(study, by_capacity(capacities))
    curve = study.result(trials)["curves"][0]
    for truth, found in zip(capacities, curve["capacities"], strict=True):
        low, high = found["low"], found["high"] or math.inf
        assert low <= truth < high
        assert high / low <= 1.0501 or (low == pytest.approx(2 * GRAVITY) and high == math.inf)
    assert len(trials) < 11 * 30
    assert curve["fit"]["theta"] == pytest.approx(np.exp(np.log(capacities).mean()), rel=0.03)
    assert curve["came_back"] == 0


def test_records_at_the_ends_are_censored():
    study = study_of([1.0, 100.0, 10.0, 12.0], method="ida", lowest=2.0, highest=30.0)
    found = study.result(answered(study, by_capacity([1.0, 100.0, 10.0, 12.0])))["curves"][0]["capacities"]
    assert (found[0]["low"], found[0]["high"]) == (0.0, 2.0)
    assert (found[1]["low"], found[1]["high"]) == (30.0, None)


def test_one_that_stands_again_is_noticed():
    """Collapse between 3 and 5 only: at the rung 4, not at 8."""
    known = {}
    while wanted := [x for x in next_intensities(known, 1.0, 16.0, 0.05, beyond=1) if x not in known]:
        known[wanted[0]] = 3 < wanted[0] < 5
    low, high = bracket(known)
    assert low < 3 < high
    study = study_of([1.0], method="ida", lowest=1.0, highest=16.0)
    trials = answered(study, lambda s: Outcome(COLLAPSED if 3 < s["motion.scale"] < 5 else STANDING, "", {}, 0.0))
    assert study.result(trials)["curves"][0]["came_back"] == 1


def test_a_failed_trial_ends_the_halving_with_a_wider_bracket():
    known = {1.0: False, 2.0: True, 1.41421: None}
    assert next_intensities(known, 1.0, 16.0, 0.05, beyond=0) == []
    assert bracket(known) == (1.0, 2.0)


@pytest.mark.parametrize("count", range(1, 9))
def test_halving_by_brute_force(count):
    """Every capacity among 1 to 8 levels is found, within the fewest trials there can be, rounded up."""
    levels = [float(x) for x in range(1, count + 1)]
    for truth in range(count + 1):
        known = {}
        while wanted := next_middle_level(known, levels):
            known[wanted[0]] = wanted[0] > truth
        assert bracket(known) == (float(truth), truth + 1.0 if truth < count else math.inf)
        assert len(known) <= math.ceil(math.log2(count + 1))


def test_rungs():
    assert doubling_steps(0.5, 4.0) == [0.5, 1.0, 2.0, 4.0]
    assert doubling_steps(0.5, 3.0) == [0.5, 1.0, 2.0, 3.0]


def test_displacement_as_the_limit():
    """Blocks move 1 cm a g, so 1.2 cm are reached from 1.5 g on; collapse counts as reached."""
    study = study_of([1e9, 0.1], levels=LEVELS, limit="1.2 cm")
    curve = study.result(answered(study, by_capacity([1e9, 0.1])))["curves"][0]
    assert [level["collapses"] for level in curve["levels"]] == [1, 1, 1, 2, 2, 2]


def test_cloud_regression_and_probit():
    """Displacement 1 cm a g: ln d = ln(0.01 / g) + 1 ln x exactly; collapse at the capacity."""
    chance = np.random.default_rng(2)
    sizes = GRAVITY * np.exp(0.6 * chance.standard_normal(40))
    capacities = drawn_capacities(40)
    study = study_of(capacities, method="cloud")
    specimens = tuple(each._replace(shaking=each.shaking._replace(intensity=float(f"{size:.6g}")))
                      for each, size in zip(study.specimens, sizes, strict=True))  # fmt: skip
    study = Fragility(study.table, specimens, study.curves)

    def answer(sample):
        x = sizes[sample["motion.record"]]
        assert sample["motion.scale"] == pytest.approx(1.0)  # as it is
        fell = x > capacities[sample["motion.record"]]
        return Outcome(COLLAPSED if fell else STANDING, "", {"peak_displacement": 0.01 * x / GRAVITY}, 0.0)

    curve = study.result(answered(study, answer))["curves"][0]
    assert curve["trials"] == 40
    assert curve["regression"]["slope"] == pytest.approx(1, abs=1e-4)
    assert curve["regression"]["intercept"] == pytest.approx(math.log(0.01 / GRAVITY), abs=1e-4)
    assert curve["regression"]["points"] == sum(sizes <= capacities)
    assert curve["fit"]["status"] == "fitted"


def test_a_study_cut_anywhere_goes_on_to_the_same_facts():
    capacities = drawn_capacities(8)
    study = study_of(capacities, method="ida", lowest="0.2 g", highest="2 g")
    whole = answered(study, by_capacity(capacities))
    for count in (0, 5, 23):
        part = Trials()
        for sample, outcome in whole.rows()[:count]:
            part.add(sample, outcome)
        study.expected(part)
        json.dumps(study.result(part), allow_nan=False)
        answer = by_capacity(capacities)
        while missing := [sample for sample in study.propose(part) if part.outcome(sample) is None]:
            for sample in missing:  # several at once, as workers do
                part.add(sample, answer(sample))
        assert study.result(part) == study.result(whole)


def test_a_curve_for_each_value_that_is_varied():
    study = study_of(drawn_capacities(3), curves=({"joints.friction": 0.3}, {"joints.friction": 0.7}), levels=LEVELS)
    facts = study.result(answered(study, by_capacity(drawn_capacities(3))))
    assert [curve["vary"] for curve in facts["curves"]] == [{"joints.friction": 0.3}, {"joints.friction": 0.7}]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"levels": []}, "levels"),
        ({"levels": ["1 g", "0.5 g"]}, "rise"),
        ({"levels": ["1 m"]}, "acceleration"),
        ({"method": "ida", "lowest": "0.1 g"}, "highest"),
        ({"levels": LEVELS, "highest": float("inf")}, "finite"),
        ({"levels": LEVELS, "seeds": 3}, "one of the two"),
        ({"levels": LEVELS, "limit": "2 kg"}, "length"),
        ({"levels": LEVELS, "random": {"joints.friction": {"mean": 0.6, "cov": 0.1}}}, "draws"),
        ({"levels": LEVELS, "draws": 2, "random": {"a.b": {"mean": 1, "cov": 0.1}}, "vary": {"a.b": [1]}}, "a.b is in random"),
    ],
)
def test_what_cannot_be_is_refused(keys, said):
    with pytest.raises(ValueError, match=said):
        study_of([1.0], **keys)


CASE = """
[structure]
generator = "block"

[joints]
friction = 0.6
{scatter}

[motion]
{motion}

[analysis]
planar = true
duration = 5
time_step = 0.005
"""
MADE_UP = 'pulse = "kanai-tajimi"\nseed = 1\namplitude = "0.3 g"\nduration = 5'


def begun(motion=MADE_UP, scatter="", folder=Path(), **keys):
    case = parse_case(CASE.format(motion=motion, scatter=scatter), folder / "case.toml")
    return FragilityTable(kind="fragility", case="case.toml", levels=LEVELS, **keys).begin(case, folder), case


def test_seeds_are_records_scaled_to_the_level():
    """The trial's case has the intensity that was asked for, whatever the measure."""
    for measure, level in (("PGA", 0.5 * GRAVITY), ("PGV", 0.4)):
        keys = {"levels": [level]}
        case = parse_case(CASE.format(motion=MADE_UP, scatter=""))
        study = FragilityTable(kind="fragility", case="", seeds=3, measure=measure, **keys).begin(case, Path())
        samples = study.propose(Trials())
        assert [sample["motion.seed"] for sample in samples] == [1, 2, 3]
        for sample in samples:
            motion = parse_case(case.text, case.path, sample).motions[0]
            t = 0.01 * np.arange(600)  # of its samples
            course = motion.acceleration(t) if measure == "PGA" else motion.velocity(t)
            assert np.abs(course).max() == pytest.approx(level, rel=1e-5)


def at2(path, peak):
    """One second of a triangle up to `peak` [g], in the format of PEER."""
    values = np.interp(np.arange(101) * 0.01, [0, 0.5, 1], [0, peak, 0])
    rows = "\n".join(" ".join(f"{v:.7E}" for v in values[i : i + 5]) for i in range(0, 101, 5))
    path.write_text(f"PEER\nEvent\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 101, DT= .0100 SEC\n{rows}\n")


def test_files_are_scaled_to_the_level(tmp_path):
    (tmp_path / "set").mkdir()
    at2(tmp_path / "set/a.AT2", 0.25)
    at2(tmp_path / "set/b.AT2", 0.5)
    study, _ = begun('record = "set/a.AT2"', folder=tmp_path, records=["set/*.AT2"])
    scales = {sample["motion.record"]: sample["motion.scale"] for sample in study.propose(Trials())[:2]}  # 2.5 g
    assert scales == {"set/a.AT2": pytest.approx(10, rel=1e-5), "set/b.AT2": pytest.approx(5, rel=1e-5)}
    with pytest.raises(InputError, match=r"'set/c.AT2', 'x/\*.AT2'"):
        begun('record = "set/a.AT2"', folder=tmp_path, records=["set/a.AT2", "set/c.AT2", "x/*.AT2"])
    with pytest.raises(InputError, match="neither pga"):
        begun('record = "set/a.AT2"\npga = "1 g"', folder=tmp_path, records=["set/a.AT2"])


def test_groups_have_one_factor(tmp_path):
    """Two components with 0.25 g and 0.5 g: PGA of the first, or sqrt(0.25 * 0.5) g."""
    at2(tmp_path / "a.AT2", 0.25)
    at2(tmp_path / "b.AT2", 0.5)
    two = 'record = "a.AT2"\n[[motion]]\nrecord = "b.AT2"\ndirection = [0, 0, 1]'
    text = CASE.format(motion=two, scatter="").replace("[motion]\n", "[[motion]]\n", 1)
    keys = {"kind": "fragility", "case": "", "records": [["a.AT2", "b.AT2"]], "levels": ["0.5 g"]}
    sample = FragilityTable(**keys).begin(parse_case(text, tmp_path / "c.toml"), tmp_path).propose(Trials())[0]
    assert sample["motion.0.scale"] == sample["motion.1.scale"] == pytest.approx(2, rel=1e-5)
    level = parse_case(text.replace("[0, 0, 1]", "[-1, 0, 0]"), tmp_path / "c.toml")
    sample = FragilityTable(**keys, combine="geometric mean").begin(level, tmp_path).propose(Trials())[0]
    assert sample["motion.0.scale"] == pytest.approx(0.5 / math.sqrt(0.125), rel=1e-5)
    with pytest.raises(InputError, match="2 motions"):
        FragilityTable(**keys | {"records": ["a.AT2"]}).begin(level, tmp_path)


def test_draws_go_round_with_records():
    """3 records and 2 draws are 3 specimens, 2 records and 5 draws are 5; the draws hang on nothing but the seed."""
    random = {"joints.friction": {"mean": 0.6, "cov": 0.15}}
    study, _ = begun(seeds=3, draws=2, random=random, seed=1, scatter="scatter = { cov = 0.1 }")
    drawn = [each.drawn["joints.friction"] for each in study.specimens]
    assert drawn[0] == drawn[2] != drawn[1]
    assert [each.drawn["joints.scatter.seed"] for each in study.specimens] == [1, 2, 1]
    study, _ = begun(seeds=2, draws=5, random=random, seed=1)
    assert [each.record for each in study.specimens] == [0, 1, 0, 1, 0]
    assert [each.drawn["joints.friction"] for each in study.specimens[:2]] == drawn[:2]
    with pytest.raises(InputError, match="nothing is random"):
        begun(seeds=2, draws=5)


def test_drawn_numbers_have_their_mean_and_unit():
    uniform = (np.arange(2000) + 0.5) / 2000
    values = Random(mean="20 kN/m3", cov=0.1).values(uniform)
    numbers = np.array([float(value.removesuffix(" kN/m3")) for value in values])
    assert numbers.mean() == pytest.approx(20, rel=1e-3)
    assert numbers.std() == pytest.approx(2, rel=1e-2)


@pytest.mark.parametrize(
    ("keys", "files"),
    [
        ({"levels": LEVELS}, ["fragility.png"]),
        ({"method": "ida", "lowest": "0.2 g", "highest": "2 g"}, ["fragility.png", "ida.png"]),
        ({"method": "cloud"}, ["fragility.png", "cloud.png"]),
    ],
)
def test_pictures(keys, files, tmp_path):
    """Two curves each, the second without a fit."""
    pytest.importorskip("matplotlib")
    capacities = drawn_capacities(20)
    study = study_of(capacities, curves=({"joints.friction": 0.3}, {"joints.friction": 0.7}), **keys)

    def answer(sample):
        return by_capacity(capacities if sample["joints.friction"] < 0.5 else 0 * capacities + 1e9)(sample)

    found = study.result(answered(study, answer))
    assert found["curves"][1]["fit"]["status"] == "all stand"
    pictures = fragility_pictures(json.loads(json.dumps(found)), tmp_path)
    assert [path.name for path in pictures] == files
    assert all(path.stat().st_size > 10_000 for path in pictures)
