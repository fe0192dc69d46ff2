"""The pictures of an analysis of statics: its run and its facts come in, PNG files in the folder of the run go out.

    forces.png      what the joints carry
    mechanism.png   how the structure gives way, if it does
    thrust.png      conventional thrust lines of an arch and the line of the forces found
    capacity.png    multiplier against direction
    curve.png       multiplier against displacement
    settlement.png  what each support bears against how far supports have gone
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from drystone.analyse.construction import present_blocks
from drystone.analyse.stages import MECHANISM_TOLERANCE
from drystone.mechanism import Mechanism, read_mechanism
from drystone.record import Run
from drystone.resultants import joint_resultants, thrust_lines
from drystone.view.forces import force_picture, thrust_picture
from drystone.view.mechanisms import mechanism_picture
from drystone.view.plots import curve_picture, polar_picture, settlement_picture

Array = np.ndarray

TITLES = {"stands": "stands by Coulomb's friction", "self-stress": "stands only with self-stress that nothing has created",
          "falls": "falls: no forces hold it"}  # fmt: skip


def result_pictures(run: Run, facts: dict[str, Any]) -> list[Path]:
    """Draw whatever the analysis found, and say where."""
    return [draw(run, facts, run.folder / name) for name, (wanted, draw) in PICTURES.items() if wanted(run, facts)]


def _bears(run: Run, facts: dict[str, Any]) -> bool:
    return run.frames > 1 and facts["analysis"] != "pushover"


def _gives_way(run: Run, facts: dict[str, Any]) -> bool:
    return run.frames > 1 and facts["analysis"] != "pushover" and bool(run.velocity[1:].any())


def _forces(run: Run, facts: dict[str, Any], path: Path) -> Path:
    """Of the last state of forces; of an equilibrium that fails, what falls, or else what moves, has a colour."""
    moving = run.velocity[1] if facts["analysis"] == "equilibrium" and not facts["stable"] else None
    if "falls" in facts:
        falls = np.isin([block.name for block in run.model.blocks], facts["falls"])
        moving = np.outer(falls, np.ones(6))
    title = TITLES.get(facts.get("verdict", ""), "")
    force_picture(run.model, run.contacts(-1), path, moving=moving, shown=present_blocks(run, run.frames - 1), title=title)
    return path


def _mechanism(run: Run, facts: dict[str, Any], path: Path) -> Path:
    mechanism_picture(run.model, mechanism_of(run, facts), path)
    return path


def mechanism_of(run: Run, facts: dict[str, Any]) -> Mechanism:
    """That of the last frame that moves, read with the tolerance of the words that the facts tell it in."""
    last = max(k for k in range(run.frames) if run.velocity[k].any())
    tolerance = facts.get("mechanism", {}).get("tolerance", MECHANISM_TOLERANCE)
    return read_mechanism(run.model, run.contacts(last), run.velocity[last], tolerance=tolerance)


def _thrust(run: Run, facts: dict[str, Any], path: Path) -> Path:
    lines: dict[str, Any] = {name: np.array(line) for name, line in facts["thrust"]["lines"].items()}
    if facts["stable"]:
        lines["of the forces found"] = thrust_lines(run.model, joint_resultants(run.model, run.contacts(-1)))
    thrust_picture(run.model, lines, path)
    return path


def _capacity(run: Run, facts: dict[str, Any], path: Path) -> Path:
    polar_picture(capacity_of(facts), path)
    return path


def _curve(run: Run, facts: dict[str, Any], path: Path) -> Path:
    curve_picture({"pushover": curve_of(facts)}, path)
    return path


def _settlement(run: Run, facts: dict[str, Any], path: Path) -> Path:
    settlement_picture(facts, path)
    return path


def capacity_of(facts: dict[str, Any]) -> dict[str, tuple[Array, Array]]:
    """[deg] and [-] directions and multipliers, of those that have one: safe ones, if any is known, then upper ones."""
    labels = {"multiplier_safe": "safe, Coulomb friction", "multiplier": "upper bound, associated friction"}
    curves = {}
    for name, label in labels.items():
        rows = [(row["direction_deg"], row[name]) for row in facts["directions"] if row.get(name) is not None]
        if rows:
            curves[label] = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    return curves


def curve_of(facts: dict[str, Any]) -> tuple[Array, Array]:
    """[m] and [-] displacements and multipliers, of the points that have one."""
    curve = facts["curve"]
    known = [k for k, multiplier in enumerate(curve["multiplier"]) if multiplier is not None]
    return np.array(curve["displacement"])[known], np.array([curve["multiplier"][k] for k in known])


Wanted = Callable[[Run, dict[str, Any]], bool]
PICTURES: dict[str, tuple[Wanted, Callable[[Run, dict[str, Any], Path], Path]]] = {
    "forces.png": (_bears, _forces),
    "mechanism.png": (_gives_way, _mechanism),
    "thrust.png": (lambda run, facts: "thrust" in facts and bool(facts["thrust"]["lines"]), _thrust),
    "capacity.png": (lambda run, facts: facts["analysis"] == "capacity", _capacity),
    "curve.png": (lambda run, facts: facts["analysis"] == "pushover", _curve),
    "settlement.png": (lambda run, facts: facts["analysis"] == "settlement" and run.frames > 2, _settlement),
}
