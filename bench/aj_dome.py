"""The dome of Acary and Jean under its weight: ring stresses beside membrane theory. `python -m bench.aj_dome`."""

import inspect
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from drystone.build import GENERATORS
from drystone.io.case import parse_case
from drystone.measure import stresses
from drystone.record import Run
from drystone.session import run as run_history
from drystone.units import GRAVITY
from drystone.view.picture import picture

ROOT = Path(__file__).parents[1]
DENSITY = 2700.0  # [kg/m3]
BOND = 'tension = "14 kPa"\nbrittle = true\n'


def main() -> None:
    """Print the stresses of the dry, the mortared and the strongly bonded dome; draw the dry one."""
    text = (ROOT / "examples" / "aj-dome.toml").read_text()
    for name, bond in (("dry", ""), ("1000 N a point", BOND), ("400 kPa", BOND.replace("14", "400"))):
        with TemporaryDirectory() as folder:
            run = run_history(parse_case(text.replace(BOND, bond)), Path(folder) / "dome")
            print(f"{name}: bonds left {int((run.contacts(-1).bond > 0).sum())} of {len(run.contacts(-1).bond)}")
            for row in ring_stresses(run):
                print("ring {:2d}, {:5.1f} deg: meridian {:7.1f} ({:7.1f}), hoop {:7.1f} ({:7.1f}) kPa".format(*row))
            if not bond:
                picture(run, ROOT / "docs" / "images" / "aj-dome-hoop.png", color="hoop compression")


def ring_stresses(run: Run) -> list[tuple[float, ...]]:
    """A row a ring: number, colatitude [deg], mean meridian and hoop stress and the membrane's [kPa], tension positive."""
    known = inspect.signature(GENERATORS["dome"]).parameters
    radius, oculus = known["radius"].default, known["oculus"].default
    number = {block.name: i for i, block in enumerate(run.model.blocks)}
    rings: dict[int, list[tuple[float, float, float]]] = {}
    for name, stress in stresses(run).items():
        x, y, z, xy, yz, zx = stress.mean(axis=(0, 1))
        tensor = np.array([[x, xy, zx], [xy, y, yz], [zx, yz, z]])
        place = run.model.position[number[name]]
        outward = place / np.linalg.norm(place)  # the centre of a hemisphere is the origin
        hoop = np.cross((0.0, 0.0, 1.0), outward) / np.linalg.norm(outward[:2])
        meridian = np.cross(outward, hoop)
        along = float(meridian @ tensor @ meridian), float(hoop @ tensor @ hoop)
        rings.setdefault(int(name.split("-")[1]), []).append((float(np.arccos(outward[2])), *along))
    rows = []
    for ring, found in sorted(rings.items()):
        angle, meridian, hoop = np.mean(found, axis=0)
        weight = DENSITY * GRAVITY * radius
        push = -weight * (np.cos(oculus) - np.cos(angle)) / np.sin(angle) ** 2
        rows.append((ring, np.degrees(angle), *(1e-3 * s for s in (meridian, push, hoop, -weight * np.cos(angle) - push))))
    return rows


if __name__ == "__main__":
    main()
