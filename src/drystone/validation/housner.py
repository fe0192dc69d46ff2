"""H1: a block released at 15 degrees, compared with Housner's equation integrated from impact to impact.

NB print curves and no numbers. Their reference is the equation (NB 23), so it is ours too, and the claims are the errors of our
histories against it.
"""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.base.units import GRAVITY
from drystone.results.measures import phase_portrait
from drystone.results.store.run_reader import Run, read_run
from drystone.show.plots.style import line_style
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace
from drystone.validation.computation import compute_history
from drystone.validation.paper_figures import ENERGIES, plot_beside_energy

Array = np.ndarray

HALF_WIDTH, HALF_HEIGHT, TILT = 0.30, 1.0, np.deg2rad(15)  # [m] [m] [rad]
IMPACTS = 6
STEPS = ("1 ms", "0.5 ms", "0.1 ms")
CASE = """
[structure]
generator = "block"
width = "0.6 m"
depth = "0.6 m"
height = "2 m"
tilt = "15 deg"
[joints]
friction = 2.0
[analysis]
integrator = "cone-program"
duration = "5.5 s"
time_step = "1 ms"
[output]
every = "1 ms"
"""


class Arc(NamedTuple):
    """The motion about one edge, up to the impact."""

    time: Array  # (n,) [s]
    angle: Array  # (n,) [rad] from the upright
    spin: Array  # (n,) [rad/s]


def coefficients(half_width: float, half_height: float) -> tuple[float, float, float]:
    """Return the slenderness alpha [rad], p^2 [1/s2] and the ratio r of angular velocities at an impact (NB 23)."""
    alpha = np.arctan2(half_width, half_height)
    return alpha, 3 * GRAVITY / (4 * np.hypot(half_width, half_height)), (1 + 3 * np.cos(2 * alpha)) / 4


def integrate_housner(half_width: float, half_height: float, tilt: float, impacts: int) -> list[Arc]:
    """Integrate Housner's equation by an adaptive Runge-Kutta scheme that finds the instants of the impacts."""
    from scipy.integrate import solve_ivp

    alpha, p2, ratio = coefficients(half_width, half_height)
    time, angle, spin, arcs = 0.0, tilt, 0.0, []
    for k in range(impacts):
        side = 1.0 if k % 2 == 0 else -1.0

        def upright(t, y):
            return y[0]

        upright.terminal, upright.direction = True, -side  # type: ignore[attr-defined]
        solution = solve_ivp(
            lambda t, y, side=side: [y[1], -p2 * np.sin(alpha * side - y[0])],
            (time, time + 100.0), [angle, spin], events=upright, rtol=1e-11, atol=1e-13, first_step=1e-6,
        )  # fmt: skip
        arcs.append(Arc(solution.t, *solution.y))
        time, angle, spin = solution.t[-1], 0.0, ratio * solution.y[1, -1]
    return arcs


def find_impact_times(time: Array, angle: Array, spin: Array) -> Array:
    """Return the instants [s] at which the angle changes its sign, extrapolated from the last frame before."""
    last = np.flatnonzero(angle[1:] * angle[:-1] < 0)
    return time[last] - angle[last] / spin[last]


def find_impact_ratios(angle: Array, alpha: float) -> Array:
    """Return the ratio of the angular velocities after and before each impact, from the peaks of the angle before and after it:
    between impacts the energy, p^2 (cos(alpha - peak) - cos alpha), is constant."""
    impact = np.flatnonzero(angle[1:] * angle[:-1] < 0)
    peak = np.array([abs(angle[i : j + 1]).max() for i, j in pairwise([0, *impact])])
    fallen = np.cos(alpha - peak) - np.cos(alpha)
    return np.sqrt(fallen[1:] / fallen[:-1])


def _motion(run: Run) -> tuple[Array, Array, Array]:
    """Return the time, the angle from the upright and the angular velocity of all frames."""
    angle, spin = phase_portrait(run, "block", np.array([0.0, 1.0, 0.0]))
    return run.time, TILT + angle, spin


def _compute(workspace: Workspace) -> dict[str, Value]:
    alpha = coefficients(HALF_WIDTH, HALF_HEIGHT)[0]
    truth = np.array([arc.time[-1] for arc in integrate_housner(HALF_WIDTH, HALF_HEIGHT, TILT, IMPACTS)])
    numbers: dict[str, Value] = {}
    for step in STEPS:
        run = compute_history(CASE, workspace.folder / step.replace(" ", ""), {"analysis.time_step": step})
        time, angle, spin = _motion(run)
        numbers[f"impacts, {step}"] = float(100 * abs(find_impact_times(time, angle, spin)[:IMPACTS] / truth - 1).max())
        numbers[f"ratio, {step}"] = float(find_impact_ratios(angle, alpha)[: IMPACTS - 1].mean())
    return numbers


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    runs = {step: read_run(workspace.folder / step.replace(" ", "")) for step in STEPS}

    def phase(axes):
        for k, (step, run) in enumerate(runs.items()):
            _, angle, spin = _motion(run)
            axes.plot(angle, spin, label=f"step {step}", **line_style(k))
        for k, arc in enumerate(integrate_housner(HALF_WIDTH, HALF_HEIGHT, TILT, IMPACTS + 2)):
            axes.plot(arc.angle, arc.spin, "k:", linewidth=1.0, label="" if k else "Housner's equation")
        axes.set_xlabel("angle [rad]")
        axes.set_ylabel("angular velocity [rad/s]")

    plot_beside_energy(runs["0.1 ms"], out / "H1-rocking.png", phase)
    caption = f"As NB figure 4: (a) phase portrait with three time steps and by the equation; (b) {ENERGIES}, step 0.1 ms"
    return [Figure("H1-rocking.png", caption)]


def _claims() -> tuple[Claim, ...]:
    claims = []
    for step, tolerance in zip(STEPS, (1.0, 0.6, 0.3), strict=True):
        claims.append(
            Claim(
                f"impacts, {step}",
                f"largest error of the first six impact times, step {step}",
                "%",
                0.0,
                tolerance,
                "first order in the step; NB judge that their curves have converged at 1 ms",
            )
        )
        claims.append(Claim(f"ratio, {step}", f"ratio of angular velocities at an impact, mean of five, step {step}", "",
                            0.8761, 0.01, "an impact that falls inside a step loses a little more"))  # fmt: skip
    return tuple(claims)


HOUSNER = Subject(
    "H1", "Free rocking of Housner's block", "NB section 4.1, figure 4; Housner (1963)",
    "A block of 0.6 × 0.6 × 2 m is released at 15 degrees and rocks from edge to edge without sliding, in steps of 1, 0.5 and "
    "0.1 ms. The reference is Housner's equation (NB 23), integrated from impact to impact, with his ratio r = (1 + 3 cos "
    "2α)/4 = 0.8761.",
    _claims(), _compute, _draw,
)  # fmt: skip
