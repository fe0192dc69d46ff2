"""Search: truths are closed forms (a slope, an edge) and outcomes made up."""

import json

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.engine.simulation import initial_state
from drystone.io.case import parse_case
from drystone.study import search as room
from drystone.study.search import SearchTrial, search, summarise_search
from drystone.study.trial import largest_tilt

BLOCK = """
[structure]
generator = "block"
width = "0.25 m"
height = "1 m"
tilt = "{tilt} deg"
[joints]
friction = 0.7
[[motion]]
pulse = "rectangular"
amplitude = "0.3 g"
duration = "{pulse} s"
[analysis]
planar = true
duration = "2 s"
time_step = "5 ms"
"""


def block(tilt=0.0, pulse=0.1):
    return parse_case(BLOCK.format(tilt=tilt, pulse=pulse))


@pytest.fixture
def made_up(monkeypatch):
    """Trials by a rule of the value alone."""

    def use(happens):
        monkeypatch.setattr(
            room, "_run_trial", lambda case, key, event, value, unit: SearchTrial(value, happens(value), None, 0)
        )

    return use


def found(scan=0, tolerance="0.01 g"):
    trials = list(search(block(), "motion.0.amplitude", "rocking", ("0 g", "1 g"), tolerance, scan=scan))
    return summarise_search(trials, "0 g")


def test_bisection_ends_within_the_tolerance(made_up):
    """The rule is value >= 0.3; halving 1 seven times is below 0.01: nine trials with the ends."""
    made_up(lambda value: value >= 0.3)
    facts = found()
    assert facts["does_not"] < 0.3 <= facts["value"]
    assert facts["value"] - facts["does_not"] == pytest.approx(1 / 128)
    assert (len(facts["trials"]), facts["unit"]) == (9, "g")


def test_a_scan_finds_the_lowest_island(made_up):
    """It happens from 0.2 to 0.3 and from 0.8 on: without a scan the upper boundary is found, with one the lower."""
    made_up(lambda value: 0.2 <= value <= 0.3 or value >= 0.8)
    assert found()["value"] == pytest.approx(0.8, abs=0.01)
    assert found(scan=9)["value"] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("rule", "said"), [(True, "= 0.0 g: the structure rocks already; give a lower"), (False, "up to 1.0 g the structure never")]
)
def test_ends_must_bracket(made_up, rule, said):
    made_up(lambda value: rule)
    with pytest.raises(InputError, match=said):
        found()


@pytest.mark.parametrize(
    ("key", "event", "between", "tolerance", "said"),
    [
        ("motion.amplitude", "rocking", ("0.1 g", "0.5 g"), "0.1 g", "'motion.amplitude' is not a key of the case"),
        ("motion.1.amplitude", "rocking", ("0.1 g", "0.5 g"), "0.1 g", "'motion.1.amplitude' is not a key of the case"),
        ("friction", "rocking", ("0.1", "0.5"), "0.1", "'friction' is not a key of the case; give table and key"),
        ("joints.frictoin", "rocking", ("0.1", "0.5"), "0.1", "did you mean 'friction'"),
        ("joints.friction", "rocking", ("0.1 g", "0.5 g"), "0.1 g", "'g' is not a unit of dimensionless"),
        ("joints.friction", "roking", ("0.1", "0.5"), "0.1", "'roking' is no event, did you mean 'rocking'"),
        ("joints.friction", "rocking", ("0.1", "50 %"), "0.1", "have different units"),
        ("joints.friction", "rocking", ("0.5", "0.1"), "0.1", "give the lower end first"),
        ("joints.friction", "rocking", ("0.1", "0.5"), "0", "a tolerance above 0"),
        ("joints.friction", "rocking", ("a", "0.5"), "0.1", "'a' is not a number with a unit"),
    ],
)
def test_mistakes(key, event, between, tolerance, said):
    with pytest.raises(InputError, match=said):
        list(search(block(), key, event, between, tolerance))


def test_least_thickness_of_an_arch():
    """Published: a semicircular arch of 27 voussoirs stands from t / R = 0.1067 on; with R = 10 m that is 1.067 m.
    That is of rigid stones: elastic ones at 30 GPa need half a per cent more, stiffer ones less."""
    arch = parse_case("""
[structure]
generator = "arch"
radius = "10 m"
thickness = "1 m"
embrace = "180 deg"
blocks = 27
[joints]
friction = 2.0
[analysis]
planar = true
duration = "1 s"
time_step = "1 ms"
[solver]
young = "3000 GPa"
""")
    trials = list(search(arch, "structure.thickness", "standing", ("1.066 m", "1.068 m"), "0.002 m"))
    assert [trial.happens for trial in trials] == [False, True]
    assert all(trial.time is None for trial in trials)


def test_a_run_ends_when_it_is_decided():
    """By hand: at 0.26 g, above b / h = 0.25, the block tilts by 1e-3 rad well before the pulse ends at 1 s; at 0.24 g it never
    rocks, and is known to rest 0.2 s after its joint has ceased to vibrate, a tenth of a second after the pulse."""
    trials = list(search(block(pulse=1.0), "motion.0.amplitude", "rocking", ("0.24 g", "0.26 g"), "0.02 g"))
    assert [trial.happens for trial in trials] == [False, True]
    assert 1.2 <= trials[0].time < 1.4
    assert 0 < trials[1].time < 1.0


def test_a_block_beyond_its_balance_overturns():
    """atan(0.25) = 14.04 degrees; without a push (a pulse too short to matter) it falls from 15 and comes back from 13."""
    case = block(pulse=0.005)
    trials = list(search(case, "structure.tilt", "overturning", ("13 deg", "15 deg"), "2 deg"))
    assert [trial.happens for trial in trials] == [False, True]


def test_tilt_is_that_of_the_vertical():
    """By hand: 0.3 rad about y, or 2 rad about z."""
    state = initial_state(block().model())
    for axis, turn, tilt in ((2, 0.3, 0.3), (3, 2.0, 0.0)):
        rotation = state.rotation.copy()
        rotation[1] = 0.0
        rotation[1, 0], rotation[1, axis] = np.cos(turn / 2), np.sin(turn / 2)
        assert largest_tilt(state._replace(rotation=rotation)) == pytest.approx(tilt)


def test_command(command, made_up, tmp_path):
    made_up(lambda value: value >= 0.3)
    path = tmp_path / "case.toml"
    path.write_text(BLOCK.format(tilt=0, pulse=1))
    ends = ("--between", "0 g", "1 g", "--tolerance", "0.1 g")
    asked = ("search", path, "--key", "motion.0.amplitude", "--for", "rocking", *ends)
    code, out, error = command(*asked, "--json")
    facts = json.loads(out)
    assert (code, facts["key"], facts["event"], facts["value"]) == (0, "motion.0.amplitude", "rocking", 0.3125)
    assert facts["trials"][0] == {"value": 0.0, "happens": False, "time": None, "unconverged": 0}
    assert "motion.0.amplitude = 1 g: rocks" in error
    code, out, _ = command(*asked)
    assert (code, "0.3125 g" in out) == (0, True)
