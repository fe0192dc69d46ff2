"""Dry-joint walls in shear and compression, computed and measured.

The tests are rows of the database of Vanin, Zaganelli, Penna and Beyer (2017). Each wall is built of its units in running bond
under a stiff beam. The vertical force acts on the beam and moves with it; the horizontal force acts at the shear span.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone import build
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.capacity_curve import CurvePoint, trace_capacity_curve
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.base.units import GRAVITY
from drystone.build.shapes import box
from drystone.show.plots.style import FAINT_GREY, LANDSCAPE_WIDTH, RED, drawing
from drystone.structure.loads import AppliedLoad, load_wrench, weight_wrench
from drystone.structure.model import Model, build_model
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace

FRICTION = 0.62  # sawn stone on stone, about 0.62 to 0.65 as published; it changes the WS walls by 0.3 % at most
PLOTTED_TESTS = ("WS1.100", "WS2.175", "WS1.250", "SW.100.1")
DATA_FOLDER = "experiments/dry_joint_walls"
MEASURED_STRENGTHS = {  # [kN] largest horizontal force, mean of both directions
    "WS1.100": 41.15, "WS3.100": 40.05, "WS4.100": 38.05, "WS2.175": 67.9, "WS3.175": 67.75, "WS1.250": 92.2, "WS2.250": 90.9,
    "WS.40": 16.3, "WS.175": 63.2, "SW.30.1": 21.9, "SW.30.2": 22.9, "SW.100.1": 41.5, "SW.200.2": 68.6,
}  # fmt: skip
RIGID_BLOCK_STRENGTHS = {
    "SW.30.1": 15.8,
    "SW.30.2": 15.8,
    "SW.100.1": 50.8,
    "SW.200.2": 100.8,
}  # [kN] computed strength where rigid blocks cannot match the test


class WallTest(NamedTuple):
    """One wall of the database."""

    name: str
    height: float  # [m]
    length: float
    thickness: float
    shear_span: float  # [m] height of the horizontal force
    unit_height: float
    unit_length: float
    normal: float  # [N] on the beam
    weight: float  # [N] of the wall, as given by the authors
    strengths: tuple[float, ...]  # [N] largest horizontal force, in one direction or in both
    curve_file: Path


def read_tests(folder: Path) -> list[WallTest]:
    with (folder / "dry_joint_walls.csv").open(encoding="utf-8") as file:
        return [_test(row, folder) for row in csv.DictReader(file)]


def _test(row: dict[str, str], folder: Path) -> WallTest:
    lengths = [1e-3 * float(row[f"{key} [mm]"]) for key in ("H", "L", "t", "H0", "hb", "lb")]
    normal = 1e6 * float(row["σ0,pc [MPa]"]) * lengths[1] * lengths[2]
    strengths = [1e3 * float(row[f"Vmax,{displacement} [kN]"]) for displacement in "+-"]
    measured = tuple(limit_strength for limit_strength in strengths if np.isfinite(limit_strength))
    height, length, thickness, shear_span, unit_height, unit_length = lengths
    own = 1e3 * float(row["Ntot [kN]"]) - normal
    return WallTest(
        row["Test unit name"],
        height,
        length,
        thickness,
        shear_span,
        unit_height,
        unit_length,
        normal,
        own,
        measured,
        folder / row["curve file"],
    )


def read_curve(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read the displacement of the top [m] and the horizontal force [N]."""
    with path.open(encoding="latin-1") as file:
        rows = np.array([row[:2] for row in list(csv.reader(file))[4:]], float)
    displacement, force = rows[np.isfinite(rows).all(axis=1)].T
    return 1e-3 * displacement, 1e3 * force


def build_tested_wall(test: WallTest, friction: float = FRICTION) -> Model:
    """Build the wall and its beam, whose weight is part of the vertical force and whose middle is at the shear span."""
    density = test.weight / (GRAVITY * test.length * test.thickness * test.height)
    courses, blocks = round(test.height / test.unit_height), round(test.length / test.unit_length)
    stones = build.wall(length=test.length, height=test.height, thickness=test.thickness, courses=courses, blocks=blocks,
                        density=density)  # fmt: skip
    x, y = test.length / 2, test.thickness / 2
    beam = box((-x, -y, test.height), (x, y, 2 * test.shear_span - test.height), name="beam", density=1.0)
    return build_model([*stones, beam], friction=friction)


def wall_loads(test: WallTest, model: Model, rotation: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the dead loads, and a live horizontal force of 1 N."""
    vertical_load = AppliedLoad("beam", force=test.normal, at=(0.0, 0.0, 2 * test.shear_span - test.height))
    horizontal_load = AppliedLoad("beam", force=1.0, direction=(1.0, 0.0, 0.0), at=(0.0, 0.0, test.shear_span))
    dead = weight_wrench(model, GRAVITY) + load_wrench(model, [vertical_load], GRAVITY, rotation)
    return dead, load_wrench(model, [horizontal_load], GRAVITY, rotation)


def limit_strength(test: WallTest, friction: float = FRICTION) -> float:
    """Return the strength [N] by associated limit analysis."""
    model = build_tested_wall(test, friction)
    return solve_limit(assemble_balance(model), *wall_loads(test, model)).multiplier


def capacity_curve(test: WallTest, until: float) -> list[CurvePoint]:
    """Return the capacity curve up to a displacement [m]."""
    model, points = build_tested_wall(test), []
    for point in trace_capacity_curve(model, lambda rotation: wall_loads(test, model, rotation)):
        points.append(point)
        if point.displacement > until:
            break
    return points


def _tests(workspace: Workspace) -> dict[str, WallTest]:
    assert workspace.data is not None
    return {test.name: test for test in read_tests(workspace.data / DATA_FOLDER)}


def _compute(workspace: Workspace) -> dict[str, Value]:
    return {name: 1e-3 * limit_strength(test) for name, test in _tests(workspace).items()}


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    tests = _tests(workspace)
    with drawing(out / "dry-joint-walls.png", width=LANDSCAPE_WIDTH, height=3.0) as figure:
        panels = figure.subplots(1, len(PLOTTED_TESTS))
        for name, axes in zip(PLOTTED_TESTS, panels, strict=True):
            displacement, force = read_curve(tests[name].curve_file)
            axes.plot(1e3 * displacement, 1e-3 * force, color=FAINT_GREY, linewidth=0.8, label="measured")
            points = capacity_curve(tests[name], 1.1 * float(np.abs(displacement).max()))
            computed = np.array([(1e3 * point.displacement, 1e-3 * point.multiplier) for point in points]).T
            axes.plot(*computed, color=RED, label="pushover, rigid blocks")
            if force.min() < -0.5 * force.max():  # pushed in both directions
                axes.plot(*-computed, color=RED)
            axes.set_title(name)
            axes.set_xlabel("displacement of the top [mm]")
        panels[0].set_ylabel("horizontal force [kN]")
        panels[0].legend(loc="upper left")
    return [Figure("dry-joint-walls.png", "Measured and computed curves")]


SANDSTONE = (
    "Rigid blocks cannot match these tests with any friction. At 30 kN the wall bore more than a wall whose top is free to "
    "rotate can bear, so its top was not free. At 100 and 200 kN it bore less than rotation about a sharp edge would need: the "
    "toes were crushed and stones split."
)
DRY_JOINT_WALLS = Subject(
    "dry-joint-walls", "Dry-joint walls in shear and compression",
    "Vasconcelos (2005), Vasconcelos & Lourenço (2009), Lourenço et al. (2005), in the database of Vanin et al. (2017)",
    "Walls of sawn granite (WS) and sandstone (SW) without mortar under a constant vertical force, pushed sideways at the "
    "top; rigid blocks, friction 0.62, associated limit analysis. The measured value is the largest force, as the mean of both "
    "directions.",
    tuple(
        Claim(name, f"strength of {name}", "kN", measured, round(0.1 * measured, 1), "identical tests, and the two "
                                                                                     "directions, differ by up to 12 %",
              RIGID_BLOCK_STRENGTHS.get(name), SANDSTONE if name in RIGID_BLOCK_STRENGTHS else "")
        for name, measured in MEASURED_STRENGTHS.items()
    ),
    _compute, _draw, needs=f"{DATA_FOLDER}/dry_joint_walls.csv",
)  # fmt: skip
