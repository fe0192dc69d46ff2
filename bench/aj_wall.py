"""The wall of Acary and Jean (H11) put under its weight, plain and with a window: the table and picture of docs/validation.md.

    python -m bench.aj_wall

Each scheme starts without stress. The supports come to bear the weight; head joints open as in statics, or wider.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone import build
from drystone.build import Opening
from drystone.contact.contacts import Contacts, head_joint_opening
from drystone.joints import Surface
from drystone.measure import balanced_from
from drystone.model import Model, build_model
from drystone.resultants import joint_resultants
from drystone.simulate import simulate
from drystone.solvers.methods import make_solver
from drystone.statics.construction import construct, stages_of
from drystone.units import GRAVITY
from drystone.view.plots import base_picture

Array = np.ndarray

STONE = Surface(young=60e9, exact=True)
WINDOW = Opening(at=2.0, sill=0.75, width=2.0, height=1.0)
PICTURE = Path(__file__).parents[1] / "docs/images/aj-wall.png"
QUIET: dict[str, Any] = {"theta": 1.0, "impact_substeps": 1}
SCHEMES: dict[str, dict[str, Any]] = {
    "dynamics": {"time_step": 1e-4},
    "velocity zeroing": {"time_step": 2e-4, "from_rest": True} | QUIET,
    "large steps": {"time_step": 1e-3} | QUIET,
}


class History(NamedTuple):
    time: Array  # (S,) [s]
    base: Array  # (S,) reaction over weight
    head: Array  # (S,) [m] widest head joint


def wall(openings: tuple[Opening, ...] = ()) -> Model:
    size = {"length": 6.0, "height": 3.0, "thickness": 0.3, "density": 2700.0}
    return build_model(build.wall(**size, courses=12, blocks=12, openings=openings), friction=0.5, support_friction=1.0)


def put_under_weight(model: Model, duration: float, surface: Surface = STONE, **scheme: Any) -> History:
    """What happens from a state without stress on."""
    fixed = model.bodies.fixed
    weight = GRAVITY * model.bodies.mass[~fixed].sum()
    rows = []
    for step in simulate(model, duration=duration, solver=make_solver("native"), surface=surface, **scheme):
        contacts = step.state.contacts
        push = (fixed[contacts.a].astype(float) - fixed[contacts.b]) @ contacts.impulse[:, 2] / scheme["time_step"]
        rows.append((step.state.time, push / weight, head_joint_opening(contacts)))
    return History(*np.array(rows).T)


def built(model: Model, stages: list[Array]) -> Contacts:
    *_, last = construct(model, stages, solver=make_solver("native"), surface=STONE)
    return last.state.contacts


def main() -> None:
    curves = {}
    for name, model in (("plain", wall()), ("with a window", wall((WINDOW,)))):
        print(f"{name}\n| scheme | to 1e-4 from [ms] | off at the end | widest head joint at the end, on the way [um] |")
        for scheme, options in SCHEMES.items():
            found = put_under_weight(model, 0.04, **options)
            since = balanced_from(found.time, found.base, 1.0)
            told = "never" if since is None else f"{1e3 * since:.1f}"
            print(f"| {scheme} | {told} | {abs(found.base[-1] - 1):.0e} | "
                  f"{1e6 * found.head[-1]:.3f}, {1e6 * found.head.max():.3f} |", flush=True)  # fmt: skip
            curves[scheme] = found.time, found.base
        orders = {"statics, at once": [np.ones(len(model.blocks), bool)], "statics, in stages": stages_of(model, ())}
        for order, stages in orders.items():
            contacts = built(model, stages)
            lintel = joint_resultants(model, contacts).thrust.max()
            print(f"| {order} | | | {1e6 * head_joint_opening(contacts):.3f} | largest thrust {lintel:.0f} N")
    base_picture(curves, PICTURE)


if __name__ == "__main__":
    main()
