"""Blocks that are not convex: several convex pieces that move as one. Truths: closed forms, another cut."""

from dataclasses import replace

import numpy as np
import pytest

from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.base.errors import InputError
from drystone.build.shapes import box
from drystone.contact.contacts import no_contacts
from drystone.contact.detection import detect
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers.methods import make_solver
from drystone.structure.model import Block, build_model


def united(*parts: Block, **attributes) -> Block:
    """The parts as one block."""
    start = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = tuple(tuple(v + start[i] for v in face) for i, part in enumerate(parts) for face in part.faces)
    vertices = np.concatenate([part.vertices for part in parts])
    return Block(vertices, faces, pieces=tuple(len(part.faces) for part in parts), **attributes)


FLOOR = box((-5, -5, -1), (5, 5, 0), fixed=True, name="floor")


def test_mass_of_an_angle_is_that_of_its_two_legs():
    """An L of legs 2 x 1 x 0.5 and 1 x 1 x 0.5 (x, y, z): Steiner by hand, whole against cut in three."""
    two = united(box((0, 0, 0), (2, 1, 0.5)), box((0, 0, 0.5), (0.5, 1, 1.5)), name="angle")
    three = united(box((0, 0, 0), (0.5, 1, 0.5)), box((0.5, 0, 0), (2, 1, 0.5)), box((0, 0, 0.5), (0.5, 1, 1.5)), name="angle")
    bodies = [build_model([FLOOR, stone], friction=0.6).bodies for stone in (two, three)]
    position = build_model([FLOOR, two], friction=0.6).position[1]
    np.testing.assert_allclose(position, [(1.0 * 1 + 0.5 * 0.25) / 1.5, 0.5, (1.0 * 0.25 + 0.5 * 1.0) / 1.5], rtol=1e-14)
    for each in bodies:
        assert each.mass[1] == pytest.approx(2000 * 1.5, rel=1e-14)
    np.testing.assert_allclose(bodies[0].inertia[1], bodies[1].inertia[1], rtol=1e-13, atol=1e-9)
    x, z = position[0], position[2]
    about_y = 1.0 * ((4 + 0.25) / 12 + (1 - x) ** 2 + (0.25 - z) ** 2) + 0.5 * (
        (0.25 + 1) / 12 + (0.25 - x) ** 2 + (1 - z) ** 2
    )
    assert bodies[0].inertia[1, 1, 1] == pytest.approx(2000 * about_y, rel=1e-13)


def test_a_cut_block_moves_like_the_whole_one():
    """A box cut in two pieces rocks and slides like the box: the same solid, other contact points along the cut."""
    whole = box((-0.3, -0.3, 0), (0.3, 0.3, 1.0), name="stone")
    cut = united(box((-0.3, -0.3, 0), (0.3, 0.3, 0.4)), box((-0.3, -0.3, 0.4), (0.3, 0.3, 1.0)), name="stone")
    paths = []
    for stone in (whole, cut):
        model = build_model([FLOOR, stone], friction=0.6)
        start = initial_state(model)
        start.velocity[1, :3] = [1.2, 0.0, 0.0]
        steps = simulate(model, duration=0.15, time_step=1e-3, solver=make_solver("native"), state=start)
        paths.append(np.array([[*step.state.position[1], *step.state.rotation[1]] for step in steps]))
    assert np.abs(paths[0][:, 0]).max() > 0.02
    np.testing.assert_allclose(paths[1], paths[0], atol=2e-6)


def test_a_hook_hangs_on_a_beam():
    """A C-shaped stone around a fixed beam: its centroid is below the beam. A bracket with its weight beside the beam tips."""
    beam = box((-0.2, -2, 1.0), (0.2, 2, 1.2), fixed=True, name="beam")
    hook = united(box((-0.5, -0.1, 1.2), (0.5, 0.1, 1.4)), box((-0.5, -0.1, 0.6), (-0.25, 0.1, 1.2)),
                  box((0.25, -0.1, 0.6), (0.5, 0.1, 1.2)), name="hook")  # fmt: skip
    model = build_model([beam, hook], friction=0.6)
    found = solve_equilibrium(model, solver=make_solver("native"))
    assert found.stands
    bracket = united(box((-1.0, -0.1, 1.2), (0.1, 0.1, 1.4)), box((-1.0, -0.1, 0.6), (-0.75, 0.1, 1.2)), name="bracket")
    assert not solve_equilibrium(build_model([beam, bracket], friction=0.6), solver=make_solver("native")).stands


def test_contacts_are_sorted_by_blocks_and_join_no_block_with_itself():
    comb = united(*(box((i, 0, 0), (i + 0.5, 1, 1)) for i in range(4)), name="comb")
    stones = [box((i, 0.0, 1.0), (i + 0.9, 1, 2), name=f"stone-{i}") for i in range(3, -1, -1)]
    model = build_model([FLOOR, comb, *stones], friction=0.6)
    state = initial_state(model)
    contacts, _ = detect(model.bodies, state.position, state.rotation, state.velocity, 1e-3, no_contacts(), 0)
    pairs = np.stack([contacts.a, contacts.b], axis=1)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert [tuple(pair) for pair in pairs] == sorted(tuple(pair) for pair in pairs)
    assert {tuple(pair) for pair in pairs} == {(0, 1), *((1, 2 + i) for i in range(4))}
    joint = contacts.a == 0
    assert contacts.area[joint].sum() == pytest.approx(4 * 0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("pieces", "message"), [((6, 5), "whose sum is the number of faces"), ((3, 9), "4 or more"), ((6,), "whose sum is")]
)
def test_wrong_counts_are_refused(pieces, message):
    stone = united(box((0, 0, 0), (1, 1, 1)), box((1, 0, 0), (2, 1, 1)), name="stone")
    with pytest.raises(InputError, match=message):
        build_model([FLOOR, replace(stone, pieces=pieces)], friction=0.6)


def test_overlapping_pieces_are_refused():
    """Their mass would count twice."""
    stone = united(box((0, 0, 0), (1, 1, 1)), box((0.9, 0, 0), (2, 1, 1)), name="stone")
    with pytest.raises(InputError, match="'stone', piece 0 and block 1 'stone', piece 1 overlap by 100 mm"):
        build_model([FLOOR, stone], friction=0.6)
