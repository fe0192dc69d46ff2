"""The failure domain of a block of 0.2 x 1 m under one sine of the ground, traced with the engine. Truth: Housner's equation
from impact to impact (T53), which itself is checked against an adaptive scheme with events, and its boundary by halving to 1e-4."""

from pathlib import Path

import numpy as np
import pytest
from housner_reference import overturns
from test_planar_rocking import overturns as overturns_by_adaptive_steps

from drystone.io.case import read_case
from drystone.study.domain import FailureDomainTable
from drystone.study.trial import try_sample
from drystone.study.trials import Trials
from drystone.units import GRAVITY

BLOCK = read_case(Path(__file__).parents[2] / "examples/rocking-block.toml")
AFTER = 3.0  # [s] that a trial goes on after its pulse


def tried(sample, **changed):
    half_period = sample["motion.half_period"]
    changed = {"duration": 2 * half_period + AFTER} | changed
    return try_sample(BLOCK.text, BLOCK.path, sample | {f"analysis.{key}": value for key, value in changed.items()})


def falls(half_period, amplitude):
    return overturns(amplitude, half_period, 0.2, 1.0, GRAVITY)


def halved(collapses, low, high, share):
    """The amplitude [g] of a change between two, to a share of it."""
    assert not collapses(low)
    assert collapses(high)
    while high / low > 1 + share:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if collapses(middle) else (middle, high)
    return np.sqrt(low * high)


def equation_boundary(half_period):
    """[g] by the equation: the lowest change of a look at every per cent, halved to 1e-4."""
    looks = np.geomspace(0.2, 3.0, 273)
    first = int(np.argmax([falls(half_period, amplitude) for amplitude in looks]))
    return halved(lambda amplitude: falls(half_period, amplitude), looks[first - 1], looks[first], 1e-4)


@pytest.mark.parametrize("amplitude", [0.2360, 0.2364, 0.2368, 0.2372, 0.30, 0.35])
def test_the_equation_by_two_schemes(amplitude):
    assert falls(0.5, amplitude) == overturns_by_adaptive_steps("sine", amplitude)


def test_boundary_over_twenty_half_periods():
    """Within 2 % of the equation, with at most a third of the trials of the grid (a fiftieth are enough)."""
    table = FailureDomainTable(
        kind="failure-domain", case="", half_periods={"from": 0.12, "to": 0.7, "count": 20},
        amplitudes={"from": "0.2 g", "to": "3 g", "resolution": "1 %"}, directions=["+"], scan=6, scan_every=20,
    )  # fmt: skip
    study, trials = table.begin(BLOCK, Path()), Trials()
    while todo := [sample for sample in study.propose(trials) if trials.outcome(sample) is None]:
        for sample in todo:
            trials.add(sample, tried(sample))
    facts = study.facts(trials)
    assert facts["failed"] == []
    assert facts["trials"] < facts["grid_trials"] / 3
    assert facts["trials"] < facts["grid_trials"] / 40
    boundary = facts["curves"][0]["directions"]["+"]["boundary"]
    found = np.array([np.sqrt(point["stands"] * point["collapses"]) / GRAVITY for point in boundary])
    truth = np.array([equation_boundary(point["half_period"]) for point in boundary])
    assert len(found) == 20
    np.testing.assert_allclose(found, truth, rtol=0.02)
    np.testing.assert_allclose(found[1:], truth[1:], rtol=0.012)  # half a per cent is the grid
