"""Plots of the energies of a run and of the accuracy of its steps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from drystone.engine.state import Energy
from drystone.results.measures import step_history, took_small_steps
from drystone.results.store.run_reader import Run, with_totals
from drystone.show.plots.style import COLOURS, FAINT_GREY, RED, line_style

Array = np.ndarray

DOT_STYLE: dict[str, Any] = {"color": COLOURS[0], "linestyle": "", "marker": ".", "markersize": 3, "rasterized": True}
STORED_ENERGIES = {"kinetic": "kinetic", "elastic": "elastic, of joints", "strain": "elastic, of blocks"}
DISSIPATED_ENERGIES = {"friction": "friction", "fracture": "fracture", "impact": "impact", "damping": "damping in joints",
        "geometry": "update of the contacts", "numerical": "time integration"}  # fmt: skip


def energy_histories(run: Run) -> tuple[Array, dict[str, Array]]:
    """The times (S+1,) [s] at the start and after every step, and by name the energies (S+1,) [J], totals included."""
    histories = {name: step_history(run, name) for name in Energy._fields}
    return histories["kinetic"][0], with_totals({name: values for name, (_, values) in histories.items()})


def draw_energy(figure: Any, run: Run, gravity: float) -> None:
    """The energies divided by the weight of the free blocks [J/N = m]."""
    time, energy = energy_histories(run)
    weight = gravity * run.model.bodies.mass[~run.model.bodies.fixed].sum()
    drawn = {
        "kinetic": energy["kinetic"],
        "potential, since the start": energy["potential"] - energy["potential"][0],
        "elastic": energy["elastic"] + energy["strain"],
        "dissipated": energy["dissipated"],
        "work of ground and loads": energy["ground"],
    }
    axes = figure.add_subplot()
    axes.axhline(0.0, color=FAINT_GREY, linewidth=0.6)
    for k, (label, values) in enumerate(drawn.items()):
        if np.abs(values).max() > 0.0:
            axes.plot(time, values / weight, label=label, **line_style(k))
    axes.set_xlabel("time [s]")
    axes.set_ylabel("energy / weight [J/N = m]")
    axes.legend()


def draw_ledger(figure: Any, run: Run) -> None:
    """Draw where the supplied energy went: stacked areas whose sum is the line of the supplied energy. Energy that the time
    integration and the contacts created is drawn below zero."""
    time, energy = energy_histories(run)
    supplied = 1e-3 * (
        energy["ground"] + energy["potential"][0] - energy["potential"] + sum(energy[name][0] for name in STORED_ENERGIES)
    )
    parts = {
        label: 1e-3 * energy[name]
        for name, label in (STORED_ENERGIES | DISSIPATED_ENERGIES).items()
        if np.abs(energy[name]).max() > 0.0
    }
    axes = figure.add_subplot()
    axes.stackplot(time, *(np.maximum(part, 0.0) for part in parts.values()), labels=parts, colors=COLOURS, alpha=0.7,
                   rasterized=True)  # fmt: skip
    below = sum((np.minimum(part, 0.0) for part in parts.values()), -1e-3 * energy["made"])
    if below.any():
        axes.fill_between(time, below, color=FAINT_GREY, label="created by the time integration")
    axes.plot(time, supplied, color="black", label="work of ground and loads, and potential energy released")
    axes.axhline(0.0, color=FAINT_GREY, linewidth=0.6)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("energy [kJ]")
    axes.legend(loc="upper left")


def draw_convergence(figure: Any, run: Run, limits: Mapping[str, float]) -> None:
    """For every step: its residual or energy error, its cost, and the deepest overlap of two blocks."""
    steps = run.steps
    first, work, overlap = figure.subplots(3, sharex=True)
    small_steps = took_small_steps(steps["path"])
    if small_steps:
        _draw_ledger_error(first, run)
    else:
        _draw_residual(first, steps, limits)
    work.plot(steps["time"], steps["factorisations"], **DOT_STYLE)
    work.set_ylabel("small steps [-]" if small_steps else "factorisations [-]")
    overlap.plot(steps["time"], 1e3 * steps["overlap"], color=COLOURS[0], linewidth=0.8)
    overlap.set_ylabel("overlap [mm]")
    overlap.set_xlabel("time [s]")


def _draw_ledger_error(axes: Any, run: Run) -> None:
    """The error of the energy balance as a share of the energy converted; red where a step created too much energy."""
    time, energy = energy_histories(run)
    turned_over = max(float(energy[name].max()) for name in ("dissipated", "kinetic"))
    share = 100 * energy["numerical"] / (turned_over or 1.0)
    axes.plot(
        time, share, color=COLOURS[0], linewidth=0.8, label="error of the energy balance, as a share of the energy converted"
    )
    bad = np.concatenate([[False], ~run.steps["converged"]])
    axes.plot(time[bad], share[bad], "X", color=RED, markersize=6, label=f"steps that made energy: {bad.sum()}")
    axes.set_ylabel("balance error [%]")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)


def _draw_residual(residual: Any, steps: Mapping[str, Array], limits: Mapping[str, float]) -> None:
    for (label, limit), line in zip(limits.items(), ("--", ":"), strict=False):
        residual.axhline(limit, color=FAINT_GREY, linestyle=line, label=f"{label} {limit:g}")
    good, error = steps["converged"], np.maximum(steps["residual_error"], 1e-16)
    residual.semilogy(steps["time"][good], error[good], label="converged", **DOT_STYLE)
    residual.semilogy(steps["time"][~good], error[~good], "X", color=RED, markersize=6, label=f"not converged: {(~good).sum()}")
    residual.set_ylabel("residual [g dt]")
    residual.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4)
