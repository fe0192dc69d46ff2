"""Bricks and modes of deformable blocks, against closed forms, brute force and counts by hand."""

from dataclasses import replace

import numpy as np
import pytest

import drystone as ds
from drystone import build
from drystone.analysis.dynamics import record_history, resume_history
from drystone.base.errors import InputError
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.deformable_joints import all_over, rings
from drystone.contact.detection import detect
from drystone.engine.cone_step.modal_unknowns import interpolate_contacts
from drystone.io.case import parse_case
from drystone.results import measures
from drystone.structure import brick_element
from drystone.structure.deformable_blocks import (
    Stone,
    elements,
    hexahedron,
    lattice,
    matrices,
    mesh_nodes,
    principal,
    von_mises,
)
from drystone.structure.model import build_model

SOFT = Stone(young=1e7, poisson=0.27, mesh=(2, 2, 2))


def skew_corners(seed: int = 0) -> np.ndarray:
    """A brick whose corners are moved by up to a tenth of its size."""
    return (brick_element.CORNER_SIGNS + 1.0) / 2.0 + 0.2 * (np.random.default_rng(seed).random((8, 3)) - 0.5)


def test_patch():
    """Constant stress: on a distorted mesh the inner node goes where a linear field takes it, and the stress is that of the
    field at all 64 Gauss points."""
    chance = np.random.default_rng(1)
    place = (lattice((2, 2, 2)) + 1.0) / 2.0
    place = place + 0.15 * (chance.random(place.shape) - 0.5)
    stiffness, _ = matrices(place, elements((2, 2, 2)), 2000.0, SOFT)
    slope = 1e-3 * chance.standard_normal((3, 3))
    moved = (place @ slope.T).ravel()
    inner = 3 * 13 + np.arange(3)
    outer = np.setdiff1d(np.arange(81), inner)
    found = np.linalg.solve(stiffness[np.ix_(inner, inner)], -stiffness[np.ix_(inner, outer)] @ moved[outer])
    assert np.allclose(found, moved[inner], rtol=0, atol=1e-13 * abs(moved).max() * 100)
    lame, shear = 1e7 * 0.27 / (1.27 * 0.46), 1e7 / 2.54
    exact = lame * np.trace(slope) * np.eye(3) + shear * (slope + slope.T)
    for corners in elements((2, 2, 2)):
        u = moved.reshape(-1, 3)[corners].ravel()
        stress = brick_element.stress_matrix(place[corners], brick_element.elasticity_matrix(1e7, 0.27)) @ u
        expected = exact[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]]
        assert abs(stress - expected).max() < 1e-10 * abs(expected).max()


def test_only_rigid_motions_are_free():
    stiffness = brick_element.stiffness_matrix(skew_corners(), brick_element.elasticity_matrix(1.0, 0.27))
    values = np.linalg.eigvalsh(stiffness)
    assert abs(values[:6]).max() < 1e-14 < 1e-3 < values[6]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_cantilever(count):
    """A clamped bar of bricks with a force at its end, no lateral contraction. With its bubbles a rectangular brick bends like
    a beam of constant curvature, that of the moment in its middle, and shears evenly: the end sinks by the sum of
    h M (L - x) / E I over the middles, P L^3 / 3 E I (1 - 1 / 4 n^2), and by P L / G A."""
    length, side, young, force = 1.0, 0.1, 1e9, 10.0
    box = (brick_element.CORNER_SIGNS + 1.0) / 2.0 * [length, side, side]
    mesh = (count, 1, 1)
    place = mesh_nodes(box, mesh)
    stiffness, _ = matrices(place, elements(mesh), 1.0, Stone(young, 0.0, mesh))
    free = np.repeat(place[:, 0] > 1e-9, 3)
    load = np.zeros((len(place), 3))
    load[place[:, 0] > length - 1e-9, 2] = force / 4
    moved = np.linalg.solve(stiffness[np.ix_(free, free)], load.ravel()[free]).reshape(-1, 3)
    beam, shear = force * length**3 / (3 * young * side**4 / 12), force * length / (young / 2 * side**2)
    assert moved[-1, 2] == pytest.approx(beam * (1 - 1 / (4 * count**2)) + shear, rel=1e-9)
    assert count < 4 or moved[-1, 2] == pytest.approx(beam + shear, rel=0.016)


def test_rigid_motions_have_the_mass_of_the_block():
    """Mass and inertia of a voussoir by `solid` (surface integrals) against the mass matrix of its mesh."""
    model = build_model(build.arch(), friction=0.6, deformable=[SOFT])
    i = int(model.elastic.block[0])
    place = model.elastic.node[0]
    _, mass = matrices(place, elements((2, 2, 2)), model.blocks[i].density, SOFT)
    rigid = np.zeros((81, 6))
    for k in range(3):
        rigid[k::3, k] = 1.0
        rigid[:, 3 + k] = np.cross(np.eye(3)[k], place).ravel()
    expected = np.zeros((6, 6))
    expected[:3, :3] = model.bodies.mass[i] * np.eye(3)
    expected[3:, 3:] = model.bodies.inertia[i]
    assert np.allclose(rigid.T @ mass @ rigid, expected, rtol=0, atol=1e-11 * model.bodies.mass[i])


def test_modes_are_all_there():
    """27 x 3 less 6 of them: unit mass, no share of rigid motion, the work of K."""
    model = build_model(build.arch(), friction=0.6, deformable=[SOFT])
    elastic = model.elastic
    assert elastic.mode.shape[1:] == (27, 3, 75)
    mode, momentum = elastic.mode[0].reshape(81, 75), elastic.momentum[0].reshape(81, 75)
    assert np.allclose(mode.T @ momentum, np.eye(75), atol=1e-10)
    for k in range(3):
        assert abs(momentum[k::3].sum(axis=0)).max() < 1e-8 * abs(momentum).sum()
    stiffness, _ = matrices(elastic.node[0], elements((2, 2, 2)), model.blocks[int(elastic.block[0])].density, SOFT)
    assert np.allclose(mode.T @ stiffness @ mode, np.diag(elastic.stiffness[0]), atol=1e-9 * elastic.stiffness[0, -1])


def test_blocks_of_one_shape_share_a_kind():
    """Whole and half stones: two shapes in a wall."""
    model = build_model(build.wall(length=1.5, height=1.0, courses=4, blocks=3), friction=0.6, deformable=[SOFT])
    assert len(model.elastic.block) == 14
    assert len(model.elastic.mode) == 2


def test_contact_points_are_carried_by_bricks():
    """The nodes of a brick, weighted, lie at the contact point: of skew hexahedra, wherever it is."""
    model = build_model(build.arch(), friction=0.6, deformable=[replace(SOFT, mesh=(3, 2, 1))])
    rest = np.zeros((len(model.blocks), 6))
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (len(model.blocks), 1))
    contacts, _ = detect(model.bodies, model.position, turn, rest, 1e-3, no_contacts(), 0, False, model.elastic.bricks)
    flat = np.zeros((len(model.elastic.block), model.elastic.mode.shape[3]))
    _, grip = interpolate_contacts(model.elastic, contacts, model.position, turn, flat)
    assert len(contacts.gap) > 50
    for side, block in enumerate((contacts.a, contacts.b)):
        row = model.elastic.row[block]
        for c in np.flatnonzero(row >= 0):
            node = model.elastic.node[model.elastic.kind[row[c]]]
            place = grip.weight[c, side] @ node[grip.node[c, side]]
            assert abs(place + model.position[block[c]] - contacts.point[c]).max() < 1e-9
    assert not grip.weight[:, 0][model.elastic.row[contacts.a] < 0].any()


def test_rings_on_a_square_are_a_grid():
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    for count in (1, 2, 3, 4):
        points = rings(4, count) @ corner
        grid = [(i / count, j / count) for i in range(count + 1) for j in range(count + 1)]
        assert sorted(map(tuple, points.round(12) + 0.0)) == sorted(tuple(np.round(p, 12)) for p in grid)


def test_a_joint_keeps_its_area_and_plane():
    """Corners given in any order; the gap is 0.1 x + 0.2 y."""
    corner = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    one, up = np.zeros(4, np.int64), np.tile([0.0, 0.0, 1.0], (4, 1))
    fresh = Contacts(*(np.zeros((4, *field.shape[1:]), field.dtype) for field in no_contacts()))
    joint = fresh._replace(b=one + 1, point=corner, normal=up, gap=corner @ [0.1, 0.2, 0.0], area=np.full(4, 0.25))
    more = all_over(joint, np.array([1, 2]))
    assert len(more.gap) == 9
    assert more.area.sum() == pytest.approx(1.0)
    assert np.allclose(more.gap, more.point @ [0.1, 0.2, 0.0])
    assert len({tuple(p) for p in more.point.round(9)}) == 9
    assert all_over(joint, np.array([1, 1])).point.tolist() == corner.tolist()


def test_von_mises_and_principal_stresses():
    """Uniaxial s: von Mises s; pure shear t: sqrt 3 t and -t, 0, t; hydrostatic: none."""
    stress = np.array([[0, 0, -5.0, 0, 0, 0], [0, 0, 0, 2.0, 0, 0], [3.0, 3.0, 3.0, 0, 0, 0]])
    assert von_mises(stress) == pytest.approx([5.0, 2.0 * 3**0.5, 0.0])
    assert principal(stress) == pytest.approx(np.array([[-5.0, 0, 0], [-2.0, 0, 2.0], [3.0, 3.0, 3.0]]))


def test_mesh_follows_the_axes():
    """(3, 1, 2) bricks in a block: 3 along x, however its corners are listed."""
    block = build.block(width=0.9, depth=0.5, height=0.4)[1]
    order = np.random.default_rng(2).permutation(8)
    faces = [[int(np.flatnonzero(order == v)[0]) for v in face] for face in block.faces]
    corners = hexahedron(np.asarray(block.vertices)[order], faces, "block")
    place = mesh_nodes(corners, (3, 1, 2))
    assert np.ptp(place[:2], axis=0) == pytest.approx([0.3, 0.0, 0.0])
    assert np.unique(place[:, 2].round(9)) == pytest.approx([0.0, 0.2, 0.4])


def test_what_cannot_be_meshed_is_named():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1.0]])
    faces = ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5))
    wedge = replace(build.block()[1], vertices=corners, faces=faces, name="prism")
    with pytest.raises(InputError, match=r"'prism'.* 6 corners and 5 faces and is no hexahedron; .* leave this one rigid"):
        build_model([wedge], friction=0.5, deformable=[SOFT])
    with pytest.raises(InputError, match="no free block and no group is named 'wal', did you mean 'wall'"):
        build_model(build.wall(), friction=0.5, deformable=[replace(SOFT, on="wal")])
    with pytest.raises(InputError, match="set planar = false"):
        build_model(build.block(), friction=0.5, planar=True, deformable=[SOFT])


@pytest.mark.parametrize(
    ("change", "said"),
    [({"young": 0.0}, "young is 0.0"), ({"poisson": 0.5}, "poisson is 0.5"), ({"mesh": (9, 9, 9)}, r"mesh is \[9, 9, 9\]")],
)
def test_stone_is_checked(change, said):
    with pytest.raises(InputError, match=said):
        replace(SOFT, **change)


CASE = """
[structure]
generator = "block"
width = 0.5
height = 0.5
deformable = {table}

[joints]
friction = 0.6

[analysis]
integrator = "cone-program"
duration = 0.02
time_step = 0.001

[output]
every = 0.005
"""
WHOLE = '{ young = "1 GPa", poisson = 0.2, mesh = [1, 1, 2] }'


def test_a_run_keeps_what_its_stones_feel(tmp_path):
    """States return bit for bit; stopped and resumed is the same run; the summary of stresses by hand from the stresses."""
    case = parse_case(CASE.format(table=WHOLE))
    run = ds.run(case, tmp_path / "whole")
    steps = record_history(case, tmp_path / "cut")
    for _ in range(7):
        next(steps)
    steps.close()
    *_, last = resume_history(tmp_path / "cut")
    assert np.array_equal(last.state.amplitude, run.state(-1).amplitude)
    assert np.array_equal(last.state.rate, run.state(-1).rate)
    assert np.array_equal(last.state.velocity, run.state(-1).velocity)
    assert run.energy["strain"][-1] == last.state.energy.strain > 0.0
    stress = measures.block_stresses(run)["block"]
    assert stress.shape == (2, 8, 6)
    lower = stress[0].mean(axis=0)
    assert lower[2] < stress[1].mean(axis=0)[2] < 0.0
    found = measures.largest_stresses(run)["block"]
    assert found["compression"] == pytest.approx(-lower[2], rel=1e-3)
    with pytest.raises(InputError, match="all blocks are rigid"):
        measures.block_stresses(ds.run(parse_case(CASE.replace("deformable = {table}", "")), tmp_path / "rigid"))


def test_groups_of_a_case_are_deformable():
    """A list of tables: blocks by name or group, the last counts."""
    table = f'[{WHOLE}, {{ young = "2 GPa", poisson = 0.2, on = "block" }}]'
    elastic = parse_case(CASE.format(table=table)).model().elastic
    assert elastic.young.tolist() == [2e9]
    assert elastic.mesh.tolist() == [[2, 2, 2]]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("{ young = -1, poisson = 0.2 }", "structure.deformable.*young"),
        ("{ young = 1e9, poisson = 0.2, mesh = [9, 9, 9] }", r"mesh is \[9, 9, 9\]; give three numbers"),
        ("{ young = 1e9 }", "structure.deformable.*poisson"),
        ("3", "structure.deformable"),
    ],
)
def test_mistakes_in_a_case_are_named(table, said):
    with pytest.raises(InputError, match=said):
        parse_case(CASE.format(table=table))
