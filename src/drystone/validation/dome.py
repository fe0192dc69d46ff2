"""H12: the dome of Acary and Jean stands under its weight, and its meridian stresses are those of membrane theory."""

import inspect
from pathlib import Path

import numpy as np

from drystone.base.units import GRAVITY
from drystone.build import GENERATORS
from drystone.results.measures import block_stresses, centroid_displacement
from drystone.results.store.run_reader import Run, read_run
from drystone.show.pictures.picture import picture
from drystone.show.plots.style import FAINT_GREY, drawing, line_style
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace
from drystone.validation.computation import compute_history, compute_statics

CASE = """
[structure]
generator = "dome"
density = "2700 kg/m3"
deformable = { young = "60 GPa", poisson = 0.27, mesh = [2, 2, 2] }
[joints]
friction = 0.5
friction_law = "coulomb"
tension = "14 kPa"
brittle = true
normal_stiffness = "1000 GPa/m"
[analysis]
kind = "settlement"
scheme = "large-steps"
duration = "50 ms"
time_step = "5 ms"
[output]
every = "5 ms"
"""
DENSITY = 2700.0  # [kg/m3]
MAX_ELASTIC_SETTLEMENT = 5e-4  # [m] largest elastic settlement; free fall would be 10 mm in this time


def ring_stresses(run: Run) -> list[tuple[float, ...]]:
    """Return one row per ring: number, colatitude [deg], mean meridian and hoop stress and those of the membrane [kPa], tension
    positive."""
    known = inspect.signature(GENERATORS["dome"]).parameters
    radius, oculus = known["radius"].default, known["oculus"].default
    rings: dict[int, list[tuple[float, float, float]]] = {}
    for name, stress in block_stresses(run).items():
        x, y, z, xy, yz, zx = stress.mean(axis=(0, 1))
        tensor = np.array([[x, xy, zx], [xy, y, yz], [zx, yz, z]])
        centroid = run.model.position[run.model.block_numbers[name]]
        outward = centroid / np.linalg.norm(centroid)  # the centre of a hemisphere is the origin
        hoop = np.cross((0.0, 0.0, 1.0), outward) / np.linalg.norm(outward[:2])
        meridian = np.cross(outward, hoop)
        along = float(meridian @ tensor @ meridian), float(hoop @ tensor @ hoop)
        rings.setdefault(int(name.split("-")[1]), []).append((float(np.arccos(outward[2])), *along))
    rows = []
    for ring, stresses_of_ring in sorted(rings.items()):
        angle, meridian, hoop = np.mean(stresses_of_ring, axis=0)
        weight = DENSITY * GRAVITY * radius
        membrane = -weight * (np.cos(oculus) - np.cos(angle)) / np.sin(angle) ** 2
        values = meridian, membrane, hoop, -weight * np.cos(angle) - membrane
        rows.append((ring, np.degrees(angle), *(1e-3 * value for value in values)))
    return rows


def _compute(workspace: Workspace) -> dict[str, Value]:
    run = compute_history(CASE, workspace.folder / "dome")
    settlement = float(-centroid_displacement(run)[-1, :, 2].min())
    deviation = max(abs(meridian / membrane - 1) for _, _, meridian, membrane, _, _ in ring_stresses(run))
    result = compute_statics(
        CASE[: CASE.index("[analysis]")] + '[analysis]\nkind = "settlement"\n', workspace.folder / "in balance"
    )
    rows = ring_stresses(read_run(workspace.folder / "in balance"))
    deviation_in_balance = max(abs(meridian / membrane - 1) for _, _, meridian, membrane, _, _ in rows)
    return {
        "weight": "stands" if settlement < MAX_ELASTIC_SETTLEMENT else "falls",
        "meridian": 100 * deviation,
        "in balance": result["verdict"],
        "in balance, meridian": 100 * deviation_in_balance,
    }


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    run = read_run(workspace.folder / "dome")
    _, angle, *columns = np.array(ring_stresses(run)).T
    with drawing(out / "H12-stresses.png", height=3.5) as figure:
        axes = figure.add_subplot()
        axes.axhline(0.0, color=FAINT_GREY, linewidth=0.6)
        labels = ("meridian", "meridian, membrane", "hoop", "hoop, membrane")
        for k, (label, values) in enumerate(zip(labels, columns, strict=True)):
            axes.plot(angle, values, label=label, **line_style(k))
        axes.set_xlabel("colatitude [deg]")
        axes.set_ylabel("mean stress of a ring [kPa]")
        axes.legend()
    picture(run, out / "H12-hoop.png", color="hoop compression")
    return [Figure("H12-stresses.png", "Mean stresses of the rings beside those of the membrane, tension positive"),
            Figure("H12-hoop.png", "Hoop compression")]  # fmt: skip


DOME = Subject(
    "H12", "A dome with brittle cohesion", "AJ section 5.2",
    "The dome has 12 rings of 24 elastic blocks of 8 brick elements and a cohesion of 1000 N per point (14 kPa). Its weight "
    "is applied by large steps and, in equilibrium, by small steps. The radius of 5 m, the thickness of 0.5 m and the oculus "
    "of 10 degrees are our choice, since AJ print none. The meridian stress is compared with membrane theory, whose forces "
    "the thrust line of a thin dome follows.",
    (
        Claim("weight", "under its weight", "", "stands"),
        Claim("meridian", "largest difference between the meridian stress of a ring and the membrane's", "%", 0.0, 10.0,
              "the thrust line may leave the middle of the thickness where hoops carry no tension; AJ show pictures only"),
        Claim("in balance", "under its weight, by small steps", "", "stays in balance"),
        Claim("in balance, "
              "meridian", "by small steps: largest difference from the membrane's stress", "%", 0.0, 10.0, "as above"),
    ),
    _compute, _draw, quick=False,
)  # fmt: skip
