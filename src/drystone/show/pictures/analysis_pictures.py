"""The pictures of an analysis of statics: its run and its result come in, PNG files in the folder of the run go out.

forces.png      the forces in the joints
mechanism.png   the mechanism of collapse, if there is one
thrust.png      conventional thrust lines of an arch, and the thrust line of the computed forces
capacity.png    multiplier against direction
curve.png       multiplier against displacement
settlement.png  reactions of the supports against the settlement
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from drystone.analysis.construction import present_blocks
from drystone.analysis.stages import MECHANISM_TOLERANCE
from drystone.results.mechanism import Mechanism, read_mechanism
from drystone.results.resultants import joint_resultants, thrust_lines
from drystone.results.store.run_reader import Run
from drystone.show.pictures.force_pictures import force_picture, thrust_picture
from drystone.show.pictures.mechanism_picture import mechanism_picture
from drystone.show.plots.statics_curves import curve_picture, polar_picture, settlement_picture

Array = np.ndarray

TITLES = {"stands": "stands by Coulomb friction", "self-stress": "stands only with self-stress that nothing has created",
          "falls": "falls: no forces can hold it"}  # fmt: skip


def result_pictures(run: Run, result: dict[str, Any]) -> list[Path]:
    """Draw the pictures that the analysis has; return their paths."""
    return [draw(run, result, run.folder / name) for name, (applies, draw) in ANALYSIS_PICTURES.items() if applies(run, result)]


def _has_forces(run: Run, result: dict[str, Any]) -> bool:
    return run.frames > 1 and result["analysis"] != "pushover"


def _has_mechanism(run: Run, result: dict[str, Any]) -> bool:
    return run.frames > 1 and result["analysis"] != "pushover" and bool(run.velocity[1:].any())


def _forces(run: Run, result: dict[str, Any], path: Path) -> Path:
    """Draw the last state of forces; if an equilibrium fails, the blocks that fall, or else those that move, have a colour."""
    moving = run.velocity[1] if result["analysis"] == "equilibrium" and not result["stable"] else None
    if "falls" in result:
        falls = np.isin([block.name for block in run.model.blocks], result["falls"])
        moving = np.outer(falls, np.ones(6))
    title = TITLES.get(result.get("verdict", ""), "")
    force_picture(run.model, run.contacts(-1), path, moving=moving, shown=present_blocks(run, run.frames - 1), title=title)
    return path


def _mechanism(run: Run, result: dict[str, Any], path: Path) -> Path:
    mechanism_picture(run.model, mechanism_of(run, result), path)
    return path


def mechanism_of(run: Run, result: dict[str, Any]) -> Mechanism:
    """The mechanism of the last frame that moves, read with the tolerance with which the result describes it."""
    last = max(k for k in range(run.frames) if run.velocity[k].any())
    tolerance = result.get("mechanism", {}).get("tolerance", MECHANISM_TOLERANCE)
    return read_mechanism(run.model, run.contacts(last), run.velocity[last], tolerance=tolerance)


def _thrust(run: Run, result: dict[str, Any], path: Path) -> Path:
    lines: dict[str, Any] = {name: np.array(line) for name, line in result["thrust"]["lines"].items()}
    if result["stable"]:
        lines["of the computed forces"] = thrust_lines(run.model, joint_resultants(run.model, run.contacts(-1)))
    thrust_picture(run.model, lines, path)
    return path


def _capacity(run: Run, result: dict[str, Any], path: Path) -> Path:
    polar_picture(capacity_curves(result), path)
    return path


def _curve(run: Run, result: dict[str, Any], path: Path) -> Path:
    curve_picture({"pushover": pushover_curve(result)}, path)
    return path


def _settlement(run: Run, result: dict[str, Any], path: Path) -> Path:
    settlement_picture(result, path)
    return path


def capacity_curves(result: dict[str, Any]) -> dict[str, tuple[Array, Array]]:
    """The directions [deg] and multipliers [-] that are known: the safe ones, if there are any, then the upper bounds."""
    labels = {"multiplier_safe": "safe, Coulomb friction", "multiplier": "upper bound, associated friction"}
    curves = {}
    for name, label in labels.items():
        rows = [(row["direction_deg"], row[name]) for row in result["directions"] if row.get(name) is not None]
        if rows:
            curves[label] = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    return curves


def pushover_curve(result: dict[str, Any]) -> tuple[Array, Array]:
    """The displacements [m] and multipliers [-] of the points that have a multiplier."""
    curve = result["curve"]
    known = [k for k, multiplier in enumerate(curve["multiplier"]) if multiplier is not None]
    return np.array(curve["displacement"])[known], np.array([curve["multiplier"][k] for k in known])


Condition = Callable[[Run, dict[str, Any]], bool]
ANALYSIS_PICTURES: dict[str, tuple[Condition, Callable[[Run, dict[str, Any], Path], Path]]] = {
    "forces.png": (_has_forces, _forces),
    "mechanism.png": (_has_mechanism, _mechanism),
    "thrust.png": (lambda run, result: "thrust" in result and bool(result["thrust"]["lines"]), _thrust),
    "capacity.png": (lambda run, result: result["analysis"] == "capacity", _capacity),
    "curve.png": (lambda run, result: result["analysis"] == "pushover", _curve),
    "settlement.png": (lambda run, result: result["analysis"] == "settlement" and run.frames > 2, _settlement),
}
