"""Summaries for reading: the dictionaries of `check`, `info` and `solve` as tables with units on standard output."""

from typing import Any

from rich.console import Console
from rich.table import Table


def print_facts(facts: dict[str, Any]) -> None:
    """What `drystone check` found."""
    weight = facts["weight"] / 1e3
    rows = [
        ("blocks", f"{facts['blocks']}, of which {facts['fixed_blocks']} fixed"),
        ("mass of the free blocks", f"{facts['mass'] / 1e3:.4g} t, weight {weight:.4g} kN"),
        ("height", f"{facts['height']:.4g} m"),
        ("contacts at the start", f"{facts['contacts']}"),
        ("friction at the contacts", f"{facts['smallest_friction']:g} to {facts['largest_friction']:g}"),
        ("motions", ", ".join(facts["motions"]) or "none: gravity only"),
        ("time", f"{facts['duration']:g} s in {facts['steps']} steps, {facts['frames']} frames"),
        ("contact, solver", f"{facts['contact']}, {facts['method']}"),
    ]
    _print("The case is valid", rows)


def print_summary(summary: dict[str, Any]) -> None:
    """What `drystone info` tells of a run."""
    cost, factorisations = summary["ms_per_step"], summary["factorisations"]
    paths = ", ".join(f"{name} {count}" for name, count in summary["paths"].items())
    rows = [
        ("blocks", f"{summary['blocks']}, of which {summary['fixed_blocks']} fixed"),
        ("simulated time", f"{summary['time']:g} s in {summary['steps']} steps" + _cut(summary)),
        ("outcome", _outcome(summary)),
        ("largest displacement", f"{summary['max_displacement']:.4g} m"),
        ("deepest penetration", f"{summary['max_penetration']:.2e} m"),
        ("largest residual", f"{summary['max_residual']:.1e} of g dt"),
        ("unconverged steps", f"{summary['unconverged_steps']}"),
        ("contacts", f"{summary['contacts']['mean']:.1f} mean, {summary['contacts']['max']} at most"),
        ("solver paths (steps)", paths),
        ("factorisations a step", f"{factorisations['mean']:.2f} mean, {factorisations['max']} at most"),
        ("cost a step", f"{cost['total']:.3g} ms: " + _parts(cost)),
        *((f"energy, {name}", f"{_joule(ends[0])} to {_joule(ends[1])}") for name, ends in summary["energy"].items()),
    ]
    _print("Run", rows)
    if summary["dumps"]:
        said = f"{summary['unconverged_steps']} steps did not converge; reproduce one with:"
        print(f"{said} drystone solve {summary['dumps'][0]} --method clarabel-static")


def print_answer(facts: dict[str, Any]) -> None:
    """What `drystone solve` found."""
    unit = "of g dt" if facts["form"] == "dump" else "of the largest velocity without reaction"
    rows = [
        ("problem", f"{facts['form']}, {facts['contacts']} contacts, {facts['unknowns']} unknowns"),
        ("friction law", facts["friction_law"]),
        ("method", f"{facts['method']}, tolerance {facts['tolerance']:g}"),
        ("converged", ("yes" if facts["converged"] else "no") + f", path {facts['path']}"),
        ("residual", f"{_relative(facts['residual'])} {'of g dt' if facts['form'] == 'dump' else 'relative to q'}"),
        ("natural map", f"{_relative(facts['natural_map'])} {unit}"),
        ("velocity error", f"{_relative(facts['error'])} {unit}, an estimate"),
        ("iterations", f"{facts['iterations']} factorisations"),
        ("time", f"{facts['seconds']:.3g} s"),
        *(("note", note) for note in facts["notes"]),
    ]
    _print(facts["file"], rows)


def _relative(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.1e}"


def _cut(summary: dict[str, Any]) -> str:
    return "" if summary["finished"] else " (cut before its end)"


def _outcome(summary: dict[str, Any]) -> str:
    return f"collapsed at {summary['collapse_time']:.3f} s" if summary["collapsed"] else "stands"


def _parts(cost: dict[str, float]) -> str:
    return ", ".join(f"{name} {cost[name]:.3g}" for name in ("contact", "solver", "rest"))


def _joule(value: float) -> str:
    return f"{value / 1e3:.4g} kJ" if abs(value) >= 1e3 else f"{value:.4g} J"


def _print(title: str, rows: list[tuple[str, str]]) -> None:
    table = Table(title=title, show_header=False, title_justify="left")
    for name, value in rows:
        table.add_row(name, value)
    Console().print(table)
