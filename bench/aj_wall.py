"""The wall of Acary and Jean (H11) put under its weight, plain and with a window: the table and picture of docs/validation.md.

    python -m bench.aj_wall

Each scheme starts without stress. The supports come to bear the weight; head joints open as in statics, or wider.
"""

from pathlib import Path

import numpy as np

from drystone.analysis.statics.building_stages import build_in_stages, presence_by_stage
from drystone.contact.contacts import Contacts, head_joint_opening
from drystone.engine.solvers.methods import make_solver
from drystone.results.measures import balanced_from
from drystone.results.resultants import joint_resultants
from drystone.show.plots.statics_curves import base_picture
from drystone.structure.model import Model
from drystone.validation.acary_jean import SCHEMES, STONE_CONTACT, WINDOW, acary_jean_wall, apply_weight

Array = np.ndarray

PICTURE = Path(__file__).parents[1] / "docs/images/aj-wall.png"


def built(model: Model, stages: list[Array]) -> Contacts:
    *_, last = build_in_stages(model, stages, solver=make_solver("native"), surface=STONE_CONTACT)
    return last.state.contacts


def main() -> None:
    curves = {}
    for name, model in (("plain", acary_jean_wall()), ("with a window", acary_jean_wall((WINDOW,)))):
        print(f"{name}\n| scheme | to 1e-4 from [ms] | off at the end | widest head joint at the end, on the way [um] |")
        for scheme, options in SCHEMES.items():
            found = apply_weight(model, 0.04, **options)
            since = balanced_from(found.time, found.base, 1.0)
            told = "never" if since is None else f"{1e3 * since:.1f}"
            print(f"| {scheme} | {told} | {abs(found.base[-1] - 1):.0e} | "
                  f"{1e6 * found.head[-1]:.3f}, {1e6 * found.head.max():.3f} |", flush=True)  # fmt: skip
            curves[scheme] = found.time, found.base
        orders = {"statics, at once": [np.ones(len(model.blocks), bool)], "statics, in stages": presence_by_stage(model, ())}
        for order, stages in orders.items():
            contacts = built(model, stages)
            lintel = joint_resultants(model, contacts).thrust.max()
            print(f"| {order} | | | {1e6 * head_joint_opening(contacts):.3f} | largest thrust {lintel:.0f} N")
    base_picture(curves, PICTURE)


if __name__ == "__main__":
    main()
