"""Print the numbers of docs/tour.md: step 201 of Oppenheim's arch, line by line of `step` of the integrator.

python docs/tour.py            print
python docs/tour.py --write    put the output into the marked blocks of docs/tour.md
"""

import re
import sys
from itertools import islice
from pathlib import Path

import numpy as np

from drystone.contact.detection import detect
from drystone.engine.cone_step.integrator import Scheme, assemble_problem, step
from drystone.engine.contact_laws import RIGID_SURFACE
from drystone.engine.rotation import move_freely
from drystone.engine.simulation import load_between, simulate
from drystone.engine.solvers.native import native
from drystone.io.case import read_case

BEFORE = 200  # number of steps before the printed one
CONTACT = 0  # the contact point that is printed
TIME_STEP = 1e-3  # [s]


def sections() -> dict[str, str]:
    """Return the texts by name, in the order of the tour."""
    np.set_printoptions(precision=4, suppress=True, linewidth=100)
    case = read_case(Path(__file__).parents[1] / "examples" / "oppenheim-arch.toml")
    model, h = case.model(), TIME_STEP
    options = {"duration": case.analysis.duration, "time_step": h}
    state = next(islice(simulate(model, case.motions, **options, solver=native()), BEFORE - 1, None)).state
    load, scheme = load_between(model, case.motions, 9.81, state.step, h), Scheme(h, 0.53, True, RIGID_SURFACE, 9.81 * h)
    names = [block.name for block in model.blocks]
    texts = {"model": _model(model), "state": _state(state, load, names)}

    position, rotation = move_freely(state.position, state.rotation, state.velocity, (1 - scheme.theta) * h)
    texts["drift"] = f"largest move of a centroid in the drift: {abs(position - state.position).max():.1e} m"
    contacts, _ = detect(model.bodies, position, rotation, state.velocity, h, state.contacts, state.next_id)
    texts["detect"] = _contacts(contacts, names)
    problem, *_ = assemble_problem(model, state, position, rotation, state.velocity, contacts, load, scheme)
    texts["assemble"] = _problem(problem)
    after, solution, _ = step(model, state, load, scheme, native())
    texts["solver"] = _solution(solution)
    texts["impulses"] = _impulses(after.contacts, names, h)
    texts["advance"] = _advance(state, after, names)
    return texts


def _round(values, digits: int = 4):
    return np.round(values, digits) + 0.0  # no -0


def _shapes(record, *fields: str) -> list[str]:
    return [f"{name:<13}{getattr(record, name).shape}" for name in fields]


def _model(model) -> str:
    bodies = model.bodies
    lines = [f"{len(model.blocks)} blocks, {int(bodies.fixed.sum())} of them supports"]
    lines += _shapes(bodies, "vertex", "face_vertex", "mass", "inertia")
    i = [block.name for block in model.blocks].index("voussoir-4")
    lines.append(f"voussoir-4   mass {bodies.mass[i]:.1f} kg, moments {bodies.inertia[i].diagonal()} kg m2")
    return "\n".join(lines)


def _state(state, load, names) -> str:
    i = names.index("voussoir-4")
    lines = [f"step {state.step}, t = {state.time:.3f} s", *_shapes(state, "position", "rotation", "velocity")]
    lines.append(f"voussoir-4   velocity {_round(state.velocity[i])} m/s, rad/s")
    lines.append(f"load         gravity {load.gravity} m/s2, change of the ground's velocity {_round(load.ground)} m/s")
    return "\n".join(lines)


def _contacts(contacts, names) -> str:
    c = CONTACT
    lines = [f"{len(contacts.gap)} contact points", *_shapes(contacts, "a", "point", "normal", "gap", "impulse"), ""]
    lines.append(f"row {c}: a {contacts.a[c]} {names[contacts.a[c]]}, b {contacts.b[c]} {names[contacts.b[c]]}")
    lines.append(f"  point {_round(contacts.point[c])} m, normal {_round(contacts.normal[c])}")
    lines.append(f"  gap {1e6 * contacts.gap[c]:.3f} um, area {contacts.area[c]:.3f} m2")
    lines.append(f"  impulse of the last step {_round(contacts.impulse[c, [0, 2]], 1)} N s in x and z")
    lines += ["", "joint                            points  gaps [um]"]
    for (a, b), rows in _joints(contacts):
        gaps = " ".join(f"{gap:.3f}" for gap in _round(1e6 * contacts.gap[rows], 3))
        lines.append(f"{names[a] + ' - ' + names[b]:<33}{len(rows):<8}{gaps}")
    return "\n".join(lines)


def _joints(contacts):
    pairs = np.stack([contacts.a, contacts.b], axis=1)
    return [(tuple(pair), np.flatnonzero((pairs == pair).all(axis=1))) for pair in np.unique(pairs, axis=0)]


def _problem(problem) -> str:
    c = CONTACT
    lines = [f"{problem.free.size} unknown velocities, {problem.bias.size} unknown impulse components"]
    lines += _shapes(problem, "row_a", "row_b", "bias", "free")
    lines.append(f"row {c}: free bodies {problem.a[c]} and {problem.b[c]} (-1: a support)")
    lines.append(f"  bias {_round(1e3 * problem.bias[c])} mm/s, friction {problem.friction[c]}")
    lines.append(f"  row_b, normal: {_round(problem.row_b[c, 0])} kg^-1/2")
    lines.append(f"speed g h = {problem.speed:.5f} m/s, total mass {problem.total_mass:.0f} kg")
    return "\n".join(lines)


def _solution(solution) -> str:
    residual = solution.residual
    return "\n".join(
        [
            f"path {solution.path}, factorisations {solution.factorisations}, converged {solution.converged}",
            f"error {residual.error:.0e}, momentum {residual.momentum:.0e}, natural map {residual.natural_map:.0e}, "
            f"penetration {residual.penetration:.0e}, gap {residual.gap:.0e}",
        ]
    )


def _impulses(contacts, names, h) -> str:
    lines = ["joint                            resultant on b [kN]: normal, shear    points that press"]
    for (a, b), rows in _joints(contacts):
        force = contacts.impulse[rows].sum(axis=0) / h / 1e3
        normal = contacts.normal[rows[0]]
        along = force @ normal
        press = int((np.sum(contacts.impulse[rows] * contacts.normal[rows], axis=1) > 1e-3 * along * h * 1e3).sum())
        shear = np.linalg.norm(force - along * normal)
        lines.append(f"{names[a] + ' - ' + names[b]:<33}{along:10.1f} {shear:10.1f}{press:20d}")
    return "\n".join(lines)


def _advance(before, after, names) -> str:
    i = names.index("voussoir-4")
    moved = 1e3 * (after.position - before.position)[i]
    lines = [f"step {after.step}, t = {after.time:.3f} s", f"voussoir-4   moved {_round(moved)} mm"]
    lines.append(f"{'ledger [J]':<13}{'before':>12} {'after':>12} {'change':>9}")
    for name in after.energy._fields:
        old, new = getattr(before.energy, name), getattr(after.energy, name)
        lines.append(f"{name:<13}{old + 0.0:12.2f} {new + 0.0:12.2f} {_round(new - old, 2):9.2f}")
    return "\n".join(lines)


def main() -> None:
    texts = sections()
    if "--write" not in sys.argv:
        print("\n\n".join(f"[{name}]\n{text}" for name, text in texts.items()))
        return
    page = Path(__file__).with_suffix(".md")
    text = page.read_text(encoding="utf-8")
    for name, block in texts.items():
        text = re.sub(rf"(<!-- {name} -->\n```text\n).*?(```)", rf"\g<1>{block}\n\g<2>", text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
