"""A block 0.6 x 0.6 x 2 m under a one-sine along 44 degrees in plan, half-period 0.25 s, mu 2 (H2).

Truth: NB section 4.2, figures 7 and 9: instants of the potential-energy peaks, given there to 0.05 s and "approximately",
and the outcomes. NB's own curves at 1e-3, 5e-4 and 1e-4 s differ visibly; peaks are therefore compared to 0.06 s.

Rocking in space is chaotic: after some impacts the last bits of the processor decide on the state (seen at 6 s). What is asked
for are the early peaks, which gravity changed by 1e-10 moves by less than 1 ms, and outcomes that follow from energy.
"""

from functools import cache

import numpy as np
import pytest

from drystone import Motion, build, build_model
from drystone.engine.simulation import simulate
from drystone.engine.solvers.native import native
from drystone.results.measures import collapse_time, peaks

STILL = 0.5  # [s] when the ground has come to rest
BALANCE = np.hypot(0.3, 1.0)  # potential energy, over that upright, with the centroid above an edge of the base: 1.044


@cache
def shake(amplitude, step, duration):
    """Times, potential and mechanical energy over the first potential energy, converged."""
    model = build_model(build.block(width=0.6, depth=0.6, height=2.0), friction=2.0)
    plan = np.deg2rad(44)
    motion = Motion("one-sine", amplitude=amplitude, half_period=0.25, direction=(np.cos(plan), np.sin(plan), 0.0))
    steps = list(simulate(model, [motion], duration=duration, time_step=step, solver=native()))
    kinetic, potential = np.array([(s.state.energy.kinetic, s.state.energy.potential) for s in steps]).T
    time = np.array([s.state.time for s in steps])
    return time, potential / potential[0], (kinetic + potential) / potential[0], np.array([s.solution.converged for s in steps])


def main_peaks(time, energy):
    """Peaks that stand out by 2 parts in 10,000 of all potential energy: a lift of the centroid by 0.2 mm."""
    return peaks(time, energy, prominence=2e-4)[0]


STEPS = [1e-3, pytest.param(5e-4, marks=pytest.mark.soak)]


@pytest.mark.parametrize("step", STEPS)
def test_survives_8_m_s2(step):
    """It cannot fall once its mechanical energy is below the potential energy of balance on an edge, the lowest pass that
    leads out of the upright, since on a ground at rest energy only falls: here 1.034 against 1.044 at 2.7 s."""
    time, energy, mechanical, converged = shake(8.0, step, 2.8)
    np.testing.assert_allclose(main_peaks(time, energy), [0.3, 0.85, 1.35, 1.75, 2.1, 2.7], atol=0.06)
    assert collapse_time(time, energy) is None
    assert np.diff(mechanical[time > STILL]).max() < 1e-6  # the bar on energy, as for rocking in the plane
    assert mechanical[-1] - 1 < 0.9 * (BALANCE - 1)
    assert converged.all()


@pytest.mark.soak  # by small steps: test_small_steps_published.py
@pytest.mark.parametrize("step", STEPS)
def test_falls_under_9_5_m_s2(step):
    """The last peak is at 2.5 s, after which the block only falls: NB draw it at 2.7 s, leaning beyond return. It has lost
    a fifth of its potential energy (our collapse) half a second later."""
    time, energy, _, converged = shake(9.5, step, 3.4)
    np.testing.assert_allclose(main_peaks(time, energy), [0.3, 0.95, 1.6, 2.15, 2.5], atol=0.06)
    assert np.diff(energy[(time > 2.7) & (time < 3.1)]).max() < 0
    assert 2.7 < collapse_time(time, energy) < 3.4
    assert converged[time < 3.1].all()  # later it lies on its side, at 5 m/s


@pytest.mark.soak
@pytest.mark.parametrize("steps", [(1.25e-3, 1e-3), (1e-3, 5e-4)])
def test_both_steps_fall_together(steps):
    """The instants of collapse are 0.05 s apart at most: the last turn takes off from near balance."""
    coarse, fine = (collapse_time(*shake(9.5, step, 3.4)[:2]) for step in steps)
    assert coarse == pytest.approx(fine, abs=0.05)
