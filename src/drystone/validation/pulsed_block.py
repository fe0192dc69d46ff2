"""H2: a block rocks in space under one sine of the ground in a direction oblique to its sides."""

from pathlib import Path

import numpy as np

from drystone.results.measures import collapse_time, peaks, point_displacement, step_history
from drystone.results.store.run_reader import Run, read_run
from drystone.show.plots.style import line_style
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace
from drystone.validation.computation import compute_history
from drystone.validation.paper_figures import ENERGIES, draw_snapshots, plot_beside_energy

CASE = """
[structure]
generator = "block"
width = "0.6 m"
depth = "0.6 m"
height = "2 m"
[joints]
friction = 2.0
[motion]
pulse = "one-sine"
amplitude = 8.0
half_period = "0.25 s"
direction = [0.7193398003386512, 0.6946583704589973, 0]  # 44 degrees from x
[analysis]
integrator = "cone-program"
duration = "6 s"
time_step = "1 ms"
[output]
every = "5 ms"
"""
DURATIONS = {"8": "6 s", "9.5": "3.6 s"}  # by the amplitude [m/s2]
PEAKS = {"8": (0.3, 0.85, 1.35, 1.75, 2.1, 2.7), "9.5": (0.3, 0.95, 1.6, 2.15, 2.5)}  # [s] as printed
PEAK_PROMINENCE = 2e-4  # share of the potential energy; the centroid is lifted by 0.2 mm
MONITORED_CORNER = (-0.3, -0.3, 0.0)  # [m] point A of NB


def _run(workspace: Workspace, amplitude: str) -> Run:
    changed = {"motion.amplitude": float(amplitude), "analysis.duration": DURATIONS[amplitude]}
    return compute_history(CASE, workspace.folder / f"{amplitude}ms2", changed)


def _compute(workspace: Workspace) -> dict[str, Value]:
    numbers: dict[str, Value] = {}
    for amplitude, published in PEAKS.items():
        time, energy = step_history(_run(workspace, amplitude), "potential")
        peak_times = peaks(time, energy / energy[0], prominence=PEAK_PROMINENCE)[0]
        numbers |= {f"{amplitude}, peak {k + 1}": float(peak_times[k]) for k in range(len(published))}
        numbers[f"{amplitude}, outcome"] = "stands" if collapse_time(time, energy) is None else "collapses"
    return numbers


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    figures = []
    for amplitude, number in (("8", 6), ("9.5", 8)):
        run = read_run(workspace.folder / f"{amplitude}ms2")

        def corner(axes, run=run):
            axes.plot(
                run.time, point_displacement(run, "block", np.array(MONITORED_CORNER))[:, 2], label="corner A", **line_style(0)
            )
            axes.set_xlabel("time [s]")
            axes.set_ylabel("displacement z [m]")

        history_file, strip_file = f"H2-history-{number}.png", f"H2-snapshots-{number + 1}.png"
        plot_beside_energy(run, out / history_file, corner)
        instants = PEAKS[amplitude] if amplitude == "8" else (*PEAKS[amplitude], 2.7)
        draw_snapshots(run, instants, out / strip_file)
        figures.append(Figure(history_file, f"As NB figure {number}: {amplitude} m/s²: (a) the corner A; (b) {ENERGIES}"))
        figures.append(Figure(strip_file, f"As NB figure {number + 1}: {amplitude} m/s², at the instants that NB print"))
    return figures


def _claims() -> tuple[Claim, ...]:
    why = 'NB print instants to 0.05 s, "approximately"; their curves for three time steps differ visibly'
    claims = []
    for amplitude, outcome in (("8", "stands"), ("9.5", "collapses")):
        claims += [Claim(f"{amplitude}, peak {k}", f"{amplitude} m/s²: peak {k} of the potential energy", "s", time, 0.06, why)
                  for k, time in enumerate(PEAKS[amplitude], 1)]  # fmt: skip
        claims.append(Claim(f"{amplitude}, outcome", f"{amplitude} m/s²: outcome", "", outcome))
    return tuple(claims)


PULSED_BLOCK = Subject(
    "H2", "A block in space under one sine", "NB section 4.2, figures 6 to 9",
    "A block of 0.6 × 0.6 × 2 m, ground moved by one sine of half-period 0.25 s at 44 degrees in plan, no sliding, steps of "
    "1 ms. Under 8 m/s² it rocks about all its corners and comes to rest; under 9.5 m/s² it falls. NB show it at 2.7 s, "
    "past the point of no return; the criterion of collapse here, a loss of a fifth of the potential energy, is met half a "
    "second later.",
    _claims(), _compute, _draw,
)  # fmt: skip
