"""H11: the weight acts on the wall of Acary and Jean without exciting waves, and half of its base settles."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone import build
from drystone.base.units import GRAVITY
from drystone.build import Opening
from drystone.contact.contacts import head_joint_opening
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import simulate
from drystone.engine.solvers.methods import make_solver
from drystone.results.measures import base_resultant
from drystone.results.store.run_reader import read_run
from drystone.show.pictures.picture import picture
from drystone.show.plots.statics_curves import base_picture
from drystone.structure.model import Model, build_model
from drystone.validation.claims import Claim, Figure, Subject, Value, Workspace
from drystone.validation.computation import compute_history, compute_statics

Array = np.ndarray

STONE_CONTACT = ContactSurface(young=60e9, coulomb=True, relaxation=0.0)
WINDOW = Opening(at=2.0, sill=0.75, width=2.0, height=1.0)
WITHOUT_INERTIA: dict[str, Any] = {"theta": 1.0}
SCHEMES: dict[str, dict[str, Any]] = {
    "dynamics": {"time_step": 1e-4},
    "velocity zeroing": {"time_step": 2e-4, "from_rest": True} | WITHOUT_INERTIA,
    "large steps": {"time_step": 1e-3} | WITHOUT_INERTIA,
}
WITHOUT_WAVES = ("velocity zeroing", "large steps")
WEIGHT_DURATION = 0.04  # [s] time during which the weight acts
SETTLEMENT_TIME_STEP = 0.05  # [s] time step of the settlement
SETTLEMENT_CASE = """
[structure]
generator = "wall-over-gap"
length = "6 m"
height = "3 m"
thickness = "0.3 m"
span = 0
courses = 12
blocks = 12
density = "2700 kg/m3"
[joints]
friction = 0.5
support = { friction = 1.0 }
[motion]
pulse = "settlement"
displacement = "50 mm"
duration = "4 s"
start = "500 ms"
supports = ["support-right"]
[analysis]
kind = "settlement"
scheme = "large-steps"
duration = "5.5 s"
time_step = "50 ms"
[solver]
young = "60 GPa"
[output]
every = "50 ms"
"""


SMALL_STEP_SETTLEMENT_CASE = (
    SETTLEMENT_CASE[: SETTLEMENT_CASE.index("[motion]")]
    + """
[analysis]
kind = "settlement"
increments = 10
[[analysis.moves]]
support = "support-right"
dz = "-50 mm"
[solver]
young = "60 GPa"
"""
)


class WallHistory(NamedTuple):
    time: Array  # (S,) [s]
    base: Array  # (S,) reaction of the base over the weight
    head: Array  # (S,) [m] widest opening of a head joint


def acary_jean_wall(openings: tuple[Opening, ...] = ()) -> Model:
    blocks = build.wall(
        length=6.0, height=3.0, thickness=0.3, density=2700.0, courses=12, blocks=12, openings=openings,
    )  # fmt: skip
    return build_model(blocks, friction=0.5, support_friction=1.0)


def apply_weight(model: Model, duration: float, surface: ContactSurface = STONE_CONTACT, **scheme: Any) -> WallHistory:
    """Compute the history that starts from a state without stress."""
    fixed = model.bodies.fixed
    weight = GRAVITY * model.bodies.mass[~fixed].sum()
    rows = []
    for step in simulate(model, duration=duration, solver=make_solver("native"), surface=surface, **scheme):
        contacts = step.state.contacts
        reaction = (fixed[contacts.a].astype(float) - fixed[contacts.b]) @ contacts.impulse[:, 2] / scheme["time_step"]
        rows.append((step.state.time, reaction / weight, head_joint_opening(contacts)))
    return WallHistory(*np.array(rows).T)


def _compute(workspace: Workspace) -> dict[str, Value]:
    numbers: dict[str, Value] = {}
    for scheme in WITHOUT_WAVES:
        result = apply_weight(acary_jean_wall((WINDOW,)), WEIGHT_DURATION, **SCHEMES[scheme])
        numbers[f"{scheme}, base"] = float(result.base[-1])
        numbers[f"{scheme}, cracks"] = float(result.head.max() / result.head[-1])
    run = compute_history(SETTLEMENT_CASE, workspace.folder / "settled")
    free = ~run.model.bodies.fixed
    base_share = base_resultant(run, SETTLEMENT_TIME_STEP) / (GRAVITY * run.model.bodies.mass[free].sum())
    return (
        numbers
        | _settle_by_small_steps(workspace.folder / "millimetres")
        | {
            "settled": "runs through" if run.steps["converged"].all() else "has unsolved steps",
            "settled, base": float(base_share[-1]),
        }
    )


def _settle_by_small_steps(folder: Path) -> dict[str, Value]:
    """Compute the settlement by small steps, with equilibrium at every increment."""
    result = compute_statics(SMALL_STEP_SETTLEMENT_CASE, folder)
    base_share = np.array(result["base_resultant"]["force"]) / result["base_resultant"]["weight"]
    return {
        "in millimetres": result["verdict"],
        "in millimetres, base": float(base_share[np.abs(base_share - 1.0).argmax()]),
        "in millimetres, head joints": 1e3 * result["head_joint_openings"][0],
    }


def _draw(workspace: Workspace, out: Path) -> list[Figure]:
    histories = {
        scheme: apply_weight(acary_jean_wall((WINDOW,)), WEIGHT_DURATION, **options) for scheme, options in SCHEMES.items()
    }
    base_picture({scheme: (result.time, result.base) for scheme, result in histories.items()}, out / "H11-base.png")
    picture(read_run(workspace.folder / "settled"), out / "H11-settled.png", color="displacement", view="front")
    return [
        Figure("H11-base.png", "As AJ figure 6: reaction of the base, by three schemes"),
        Figure("H11-settled.png", "Half of the base settled by 50 mm, by displacement"),
    ]


WALL_UNDER_WEIGHT = Subject(
    "H11",
    "A wall under its weight, and settled",
    "AJ sections 4 and 5.1",
    "Twelve courses of 500 × 300 × 250 mm blocks, 6 × 3 m, with a window 2 m wide, friction 0.5, 1 at the base; rigid blocks "
    "whose contacts are as stiff as stone of 60 GPa. The weight acts suddenly on a state without stress, for 40 ms. In "
    "dynamics the base reaction swings to 1.6 times the weight, and head joints open on the way 3 times as wide as in the end; "
    "the schemes without inertia must not do so. Without a window, rigid blocks sink course by course and no head joint opens "
    "in any scheme: figure 4 of AJ needs deformable blocks (see docs/validation.md). Then, in a separate run, half of the base "
    "of the wall without a window settles by 50 mm, in large steps and, as a settlement in millimetres, by small steps.",
    (
        *(
            claim
            for scheme in WITHOUT_WAVES
            for claim in (
                Claim(
                    f"{scheme}, base",
                    f"{scheme}: base resultant over weight",
                    "",
                    1.0,
                    1e-4,
                    "the tolerance of a state at rest",
                ),
                Claim(
                    f"{scheme}, cracks",
                    f"{scheme}: widest head joint on the way, over the width in the end",
                    "",
                    1.0,
                    0.2,
                    "the pictures of AJ show walls without cracks; in dynamics it is 3",
                ),
            )
        ),
        Claim("settled", "half of the base settles by 50 mm", "", "runs through"),
        Claim(
            "settled, base",
            "settled: base resultant over weight",
            "",
            1.0,
            1e-3,
            "the inertia that is left with steps of 50 ms",
        ),
        Claim("in millimetres", "half of the base goes down by 50 mm, by small steps", "", "stays in balance"),
        Claim(
            "in millimetres, base",
            "base resultant over weight, the worst of 11 increments",
            "",
            1.0,
            1e-4,
            "the tolerance of a state at rest",
        ),
        Claim(
            "in millimetres, head joints",
            "widest head joint under the weight, before the settlement",
            "mm",
            0.0,
            1e-3,
            "the pictures of AJ show walls without cracks",
        ),
    ),
    _compute,
    _draw,
)
