"""Problems that break contact solvers. Truth: Clarabel on the same step, where both say that they converged; statics where
the answer is known. A solver may fail, but must then say so."""

import numpy as np
import pytest

from drystone import Block, Motion, build, build_model
from drystone.build.shapes import box
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import simulate
from drystone.engine.solvers import clarabel
from drystone.engine.solvers.native import native

PUSH = Motion("half-sine", amplitude=5.0, half_period=0.1, direction=(1.0, 0.4, 0.0))


def drum(sides, radius, low, high, **attributes):
    """An upright prism with a regular base of many sides."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    corners = [np.column_stack([ring, np.full(sides, z)]) for z in (low, high)]
    walls = tuple((i, (i + 1) % sides, (i + 1) % sides + sides, i + sides) for i in range(sides))
    ends = (tuple(range(sides - 1, -1, -1)), tuple(range(sides, 2 * sides)))
    return Block(np.concatenate(corners), walls + ends, **attributes)


def heavy_on_light():
    light = [box((-0.5, -0.5, 0.5 * i), (0.5, 0.5, 0.5 * i + 0.5), density=100.0) for i in range(3)]
    return [box((-2, -2, -1), (2, 2, 0), fixed=True), *light, box((-0.5, -0.5, 1.5), (0.5, 0.5, 2.0), density=1e6)]


SCENES = {
    "mu 2": lambda: (build.wall(length=1.5, height=1.0, courses=4, blocks=3), 2.0),
    "mu 0": lambda: (build.wall(length=1.5, height=1.0, courses=4, blocks=3), 0.0),
    "70 courses": lambda: (build.column(width=0.6, depth=0.6, height=14.0, courses=70), 0.6),
    "100 coplanar points": lambda: ([build.wall()[0], drum(100, 0.4, 0.0, 0.6), drum(100, 0.4, 0.6, 1.2)], 0.6),
    "masses 1 to 10^4": lambda: (heavy_on_light(), 0.6),
}
GRID = [
    pytest.param(scene, young, id=f"{scene}-{'compliant' if young else 'rigid'}",
                 marks=pytest.mark.soak if young and scene in ("70 courses", "masses 1 to 10^4") else ())
    for scene in SCENES for young in (None, 30e9)
]  # fmt: skip
SPACING = 25


COPIES = {"100 coplanar points": 3}  # detection keeps 34 of the corners of a drum; each of them thrice is 102 a joint


def crowd(problem, guess, copies):
    """The same problem with every contact there `copies` times, each a share of the joint."""
    fields = ("a", "b", "row_a", "row_b", "bias", "friction", "dilatancy", "compliance", "memory")
    many = {name: np.repeat(getattr(problem, name), copies, axis=0) for name in fields}
    many["compliance"], many["memory"] = copies * many["compliance"], many["memory"] / copies
    return problem._replace(**many), guess._replace(impulse=np.repeat(guess.impulse, copies, axis=0) / copies)


@pytest.mark.parametrize(("scene", "young"), GRID)
def test_converges_and_agrees_with_clarabel(scene, young):
    blocks, friction = SCENES[scene]()
    copies = COPIES.get(scene, 1)
    model = build_model(blocks, friction=friction)
    solve, check, steps, differences = native(), clarabel.static(tolerance=1e-10), [], []

    def both(problem, guess):
        problem, guess = crowd(problem, guess, copies)
        answer = solve(problem, guess)
        steps.append(answer)
        if len(steps) % SPACING == 1 and answer.converged:
            other = check(problem, guess)
            unit = problem.speed * np.sqrt(problem.total_mass)
            apart = np.linalg.norm(answer.velocity - other.velocity) / unit
            if other.converged or apart < 1e-5:
                differences.append(apart)
        return answer._replace(impulse=answer.impulse.reshape(-1, copies, 3).sum(axis=1))

    *_, last = simulate(model, [PUSH], duration=0.15, time_step=1e-3, solver=both, surface=ContactSurface(young))
    assert np.isfinite(last.state.position).all()
    assert [i for i, a in enumerate(steps) if not a.converged] == []
    assert len(differences) >= 4
    assert max(differences) < 1e-5


def test_a_hundred_points_in_a_joint():
    """The scene above is what it says."""
    blocks, friction = SCENES["100 coplanar points"]()
    *_, last = simulate(build_model(blocks, friction=friction), duration=1e-3, time_step=1e-3, solver=native())
    contacts = last.state.contacts
    assert COPIES["100 coplanar points"] * np.sum((contacts.a == 1) & (contacts.b == 2)) >= 100


def test_unconverged_is_said():
    """With a tolerance beyond double precision the steps of a moving wall cannot converge; none may say so."""
    model = build_model(SCENES["mu 2"]()[0], friction=0.1)  # slides
    steps = list(simulate(model, [PUSH], duration=0.05, time_step=1e-3, solver=native(tolerance=1e-19)))
    moving = [s.solution for s in steps if abs(s.state.velocity).max() > 1e-3]
    assert len(moving) > 10
    assert not any(solution.converged for solution in moving)
