"""What a run kept account of, drawn in a figure: its energies, and how well its steps were solved."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from drystone.measure import step_history, took_small_steps
from drystone.record import Run, with_totals
from drystone.state import Energy
from drystone.view.style import COLOURS, FAINT, RED, look

Array = np.ndarray

DOTS: dict[str, Any] = {"color": COLOURS[0], "linestyle": "", "marker": ".", "markersize": 3, "rasterized": True}
STORED = {"kinetic": "kinetic", "elastic": "elastic, of joints", "strain": "elastic, of blocks"}
LOST = {"friction": "friction", "fracture": "fracture", "impact": "impact", "damping": "damping in joints",
        "geometry": "contact found anew", "numerical": "time integration"}  # fmt: skip


def energies(run: Run) -> tuple[Array, dict[str, Array]]:
    """(S+1,) [s] and, by name, (S+1,) [J] at the start and after every step; totals as `with_totals` has them."""
    histories = {name: step_history(run, name) for name in Energy._fields}
    return histories["kinetic"][0], with_totals({name: values for name, (_, values) in histories.items()})


def draw_energy(figure: Any, run: Run, gravity: float) -> None:
    """Energies over the weight of the free blocks [J/N = m]: what was lifted, moves, is stored, was lost and came in."""
    time, energy = energies(run)
    weight = gravity * run.model.bodies.mass[~run.model.bodies.fixed].sum()
    drawn = {
        "kinetic": energy["kinetic"],
        "potential, since the start": energy["potential"] - energy["potential"][0],
        "elastic": energy["elastic"] + energy["strain"],
        "dissipated": energy["dissipated"],
        "work of ground and loads": energy["ground"],
    }
    axes = figure.add_subplot()
    axes.axhline(0.0, color=FAINT, linewidth=0.6)
    for k, (label, values) in enumerate(drawn.items()):
        if np.abs(values).max() > 0.0:
            axes.plot(time, values / weight, label=label, **look(k))
    axes.set_xlabel("time [s]")
    axes.set_ylabel("energy / weight [J/N = m]")
    axes.legend()


def draw_ledger(figure: Any, run: Run) -> None:
    """Where the energy went that came in: areas upon each other, which reach the line of what came in. What the time
    integration and contact made instead of losing is below zero."""
    time, energy = energies(run)
    came = 1e-3 * (energy["ground"] + energy["potential"][0] - energy["potential"] + sum(energy[name][0] for name in STORED))
    parts = {label: 1e-3 * energy[name] for name, label in (STORED | LOST).items() if np.abs(energy[name]).max() > 0.0}
    axes = figure.add_subplot()
    axes.stackplot(time, *(np.maximum(part, 0.0) for part in parts.values()), labels=parts, colors=COLOURS, alpha=0.7,
                   rasterized=True)  # fmt: skip
    below = sum((np.minimum(part, 0.0) for part in parts.values()), -1e-3 * energy["made"])
    if below.any():
        axes.fill_between(time, below, color=FAINT, label="made, not lost")
    axes.plot(time, came, color="black", label="work of ground and loads, potential lost")
    axes.axhline(0.0, color=FAINT, linewidth=0.6)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("energy [kJ]")
    axes.legend(loc="upper left")


def draw_convergence(figure: Any, run: Run, limits: Mapping[str, float]) -> None:
    """Of every step: how well it was solved, what it took, and how deep blocks went into each other."""
    steps = run.steps
    first, work, overlap = figure.subplots(3, sharex=True)
    small_steps = took_small_steps(steps["path"])
    if small_steps:
        _draw_left_over(first, run)
    else:
        _draw_residual(first, steps, limits)
    work.plot(steps["time"], steps["factorisations"], **DOTS)
    work.set_ylabel("small steps [-]" if small_steps else "factorisations [-]")
    overlap.plot(steps["time"], 1e3 * steps["overlap"], color=COLOURS[0], linewidth=0.8)
    overlap.set_ylabel("overlap [mm]")
    overlap.set_xlabel("time [s]")


def _draw_left_over(axes: Any, run: Run) -> None:
    """What the entries of the ledger leave over, of the energy that was turned over; red where a step made too much."""
    time, energy = energies(run)
    turned = max(float(energy[name].max()) for name in ("dissipated", "kinetic"))
    share = 100 * energy["numerical"] / (turned or 1.0)
    axes.plot(time, share, color=COLOURS[0], linewidth=0.8, label="what the ledger leaves over, of the energy turned over")
    bad = np.concatenate([[False], ~run.steps["converged"]])
    axes.plot(time[bad], share[bad], "X", color=RED, markersize=6, label=f"steps that made energy: {bad.sum()}")
    axes.set_ylabel("left over [%]")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)


def _draw_residual(residual: Any, steps: Mapping[str, Array], limits: Mapping[str, float]) -> None:
    for (label, limit), line in zip(limits.items(), ("--", ":"), strict=False):
        residual.axhline(limit, color=FAINT, linestyle=line, label=f"{label} {limit:g}")
    good, error = steps["converged"], np.maximum(steps["residual_error"], 1e-16)
    residual.semilogy(steps["time"][good], error[good], label="converged", **DOTS)
    residual.semilogy(steps["time"][~good], error[~good], "X", color=RED, markersize=6, label=f"not converged: {(~good).sum()}")
    residual.set_ylabel("residual [g dt]")
    residual.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)
