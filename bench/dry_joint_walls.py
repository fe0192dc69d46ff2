"""Dry-joint walls in shear and compression, computed and measured: the table and the picture of docs/validation.md.

    python -m bench.dry_joint_walls /work/shared/data/experiments/dry_joint_walls

The tests are rows of the database of Vanin, Zaganelli, Penna and Beyer (2017). The wall is built of its units in running
bond under a stiff beam; the vertical force acts on the beam and moves with it, the horizontal one at the shear span.
"""

import csv
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from drystone import build
from drystone.build.shapes import box
from drystone.loads import Push, weight, wrench
from drystone.model import Model, build_model
from drystone.statics.balance import balance
from drystone.statics.limit import limit
from drystone.statics.pushover import Point, pushover
from drystone.units import GRAVITY

FRICTION = 0.62  # sawn stone on stone, about 0.62 to 0.65 as published; it changes the WS walls by 0.3 % at most
PICTURE = Path(__file__).parents[1] / "docs/images/dry-joint-walls.png"
SHOWN = ("WS1.100", "WS2.175", "WS1.250", "SW.100.1")


class Test(NamedTuple):
    """One wall of the database."""

    name: str
    height: float  # [m]
    length: float
    thickness: float
    shear_span: float  # [m] level of the horizontal force
    unit_height: float
    unit_length: float
    normal: float  # [N] on the beam
    weight: float  # [N] of the wall, as the authors count it
    strengths: tuple[float, ...]  # [N] largest horizontal force one way, and the other if it was pushed there
    curve: Path


def read_tests(folder: Path) -> list[Test]:
    with (folder / "dry_joint_walls.csv").open(encoding="utf-8") as file:
        return [_test(row, folder) for row in csv.DictReader(file)]


def _test(row: dict[str, str], folder: Path) -> Test:
    lengths = [1e-3 * float(row[f"{key} [mm]"]) for key in ("H", "L", "t", "H0", "hb", "lb")]
    normal = 1e6 * float(row["σ0,pc [MPa]"]) * lengths[1] * lengths[2]
    strengths = [1e3 * float(row[f"Vmax,{way} [kN]"]) for way in "+-"]
    measured = tuple(strength for strength in strengths if np.isfinite(strength))
    return Test(row["Test unit name"], *lengths, normal, 1e3 * float(row["Ntot [kN]"]) - normal, measured,
                folder / row["curve file"])  # fmt: skip


def read_curve(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Displacement of the top [m] and horizontal force [N]."""
    with path.open(encoding="latin-1") as file:
        rows = np.array([row[:2] for row in list(csv.reader(file))[4:]], float)
    way, force = rows[np.isfinite(rows).all(axis=1)].T
    return 1e-3 * way, 1e3 * force


def wall(test: Test, friction: float = FRICTION) -> Model:
    """The wall and its beam, whose weight is part of the vertical force and whose middle is at the shear span."""
    density = test.weight / (GRAVITY * test.length * test.thickness * test.height)
    courses, blocks = round(test.height / test.unit_height), round(test.length / test.unit_length)
    stones = build.wall(length=test.length, height=test.height, thickness=test.thickness, courses=courses, blocks=blocks,
                        density=density)  # fmt: skip
    x, y = test.length / 2, test.thickness / 2
    beam = box((-x, -y, test.height), (x, y, 2 * test.shear_span - test.height), name="beam", density=1.0)
    return build_model([*stones, beam], friction=friction)


def loads(test: Test, model: Model, rotation: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Dead loads, and a live horizontal force of 1 N."""
    press = Push("beam", force=test.normal, at=(0.0, 0.0, 2 * test.shear_span - test.height))
    push = Push("beam", force=1.0, direction=(1.0, 0.0, 0.0), at=(0.0, 0.0, test.shear_span))
    dead = weight(model, GRAVITY) + wrench(model, [press], GRAVITY, rotation)
    return dead, wrench(model, [push], GRAVITY, rotation)


def strength(test: Test, friction: float = FRICTION) -> float:
    """[N] Associated limit analysis."""
    model = wall(test, friction)
    return limit(balance(model), *loads(test, model)).multiplier


def curve(test: Test, until: float) -> list[Point]:
    """Capacity curve to a displacement [m]."""
    model, points = wall(test), []
    for point in pushover(model, lambda rotation: loads(test, model, rotation)):
        points.append(point)
        if point.displacement > until:
            break
    return points


def table(tests: list[Test]) -> str:
    lines = ["| wall | N + weight [kN] | measured + / - [kN] | computed [kN] | of the mean |", "|---|---|---|---|---|"]
    for test in tests:
        found, mean = strength(test), float(np.mean(test.strengths))
        measured = " / ".join(f"{1e-3 * each:.1f}" for each in test.strengths)
        total = 1e-3 * (test.normal + test.weight)
        lines.append(f"| {test.name} | {total:.1f} | {measured} | {1e-3 * found:.1f} | {found / mean - 1:+.1%} |")
    return "\n".join(lines)


def draw(tests: list[Test]) -> None:
    figure = Figure(figsize=(4 * len(SHOWN), 3.4), layout="constrained")
    axes = figure.subplots(1, len(SHOWN))
    for test, axis in zip((each for name in SHOWN for each in tests if each.name == name), axes, strict=True):
        way, force = read_curve(test.curve)
        axis.plot(1e3 * way, 1e-3 * force, color="0.6", linewidth=0.8, label="measured")
        points = curve(test, 1.1 * float(np.abs(way).max()))
        x, y = np.array([1e3 * p.displacement for p in points]), np.array([1e-3 * p.multiplier for p in points])
        axis.plot(x, y, color="C3", label="pushover, rigid blocks")
        if force.min() < -0.5 * force.max():  # pushed both ways
            axis.plot(-x, -y, color="C3")
        axis.set_title(test.name)
        axis.set_xlabel("displacement of the top [mm]")
    axes[0].set_ylabel("horizontal force [kN]")
    axes[0].legend(loc="upper left", frameon=False)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    found = read_tests(Path(sys.argv[1]))
    print(table(found))
    draw(found)
