"""Histories by cone programs with contact by nearest points: what rests, slides and topples, against closed forms, invariants,
and the same histories with separating axes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone.analysis.dynamics import case_solver, simulate_case, start_state
from drystone.base.errors import InputError
from drystone.build.shapes import box
from drystone.contact.inset import with_nearest_points
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers.methods import make_solver
from drystone.io.case import parse_case
from drystone.structure.model import Block, build_model

G = 9.81
H = 1e-3  # [s]


def last(model, duration, h=H):
    *_, end = simulate(model, duration=duration, time_step=h, solver=make_solver("native", 1e-6))
    assert end.solution.converged
    return end.state


def pyramid(x, y, name):
    """A support with its corner up at (x, y, 0), its faces as steep as 2 in 1."""
    corner = [[-1, -1, -2], [1, -1, -2], [1, 1, -2], [-1, 1, -2], [0, 0, 0]]
    faces = ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
    return Block(0.1 * np.array(corner, float) + [x, y, 0], faces, fixed=True, name=name)


def wedge(x, name):
    """A support with its edge up along y, at x."""
    corner = [[-1, -5, -2], [1, -5, -2], [1, 5, -2], [-1, 5, -2], [0, -5, 0], [0, 5, 0]]
    faces = ((0, 3, 2, 1), (0, 1, 4), (1, 2, 5, 4), (2, 3, 5), (3, 0, 4, 5))
    return Block(0.1 * np.array(corner, float) + [x, 0, 0], faces, fixed=True, name=name)


SLAB = box((-1, -0.4, 0), (1, 0.4, 0.2), name="slab")
RADIUS = 1e-3
STEEP = np.sqrt(5)  # one over the cosine of the normal of a face 2 in 1 with the vertical
SUPPORTS = {
    "faces": ([box((-1, -0.4, -0.2), (-0.5, 0.4, 0), fixed=True), box((0.5, -0.4, -0.2), (1, 0.4, 0), fixed=True)], 0.0),
    "edges": ([wedge(-0.6, "left"), wedge(0.5, "right")], RADIUS * (STEEP - 1)),
    "corners": ([pyramid(-0.6, 0.1, "left"), pyramid(0.5, -0.3, "right"), pyramid(0.5, 0.2, "back")], RADIUS * (STEEP - 1)),
}


@pytest.mark.parametrize("on", SUPPORTS)
def test_a_slab_comes_to_rest(on):
    """It sinks by r (1 / cos - 1), by which a corner of a support is rounded off, and its weight is borne: where three points
    bear it, by the shares of the lever rule."""
    supports, sinks = SUPPORTS[on]
    model = with_nearest_points(build_model([SLAB, *supports], friction=0.6), corner_radius=RADIUS)
    state = last(model, 0.3)
    moved = state.position[0] - model.position[0]
    np.testing.assert_allclose(moved, [0, 0, -sinks], atol=1e-7)
    assert np.abs(state.velocity[0]).max() < 1e-6
    c, weight = state.contacts, model.bodies.mass[0] * G
    up = -c.impulse[c.a == 0] / H  # the slab is block 0, so that forces on it are the opposite
    np.testing.assert_allclose(up.sum(axis=0), [0, 0, weight], atol=1e-5 * weight)
    if on == "corners":
        # moments about the centroid: x of (-0.6, 0.5, 0.5), y of (0.1, -0.3, 0.2)
        levers = np.array([[1, 1, 1], [-0.6, 0.5, 0.5], [0.1, -0.3, 0.2]])
        expected = np.linalg.solve(levers, [weight, 0, 0])
        borne = [up[c.b[c.a == 0] == k, 2].sum() for k in (1, 2, 3)]
        np.testing.assert_allclose(borne, expected, rtol=1e-4)


WALL = """
structure = {{ generator = "wall" }}
joints = {{ friction = 0.3 }}
motion = {{ pulse = "one-sine", amplitude = "{amplitude} g", half_period = "0.2 s", direction = [1, 0, 0] }}
analysis = {{ duration = 0.5, integrator = "cone-program", time_step = 0.002 }}
"""
ARCH = """
structure = {{ generator = "arch" }}
joints = {{ friction = 0.6 }}
motion = {{ pulse = "one-sine", amplitude = "{amplitude} g", half_period = "0.2 s", direction = [1, 0, 0] }}
analysis = {{ duration = 0.4, integrator = "cone-program", time_step = 0.002 }}
"""


def history(text, **instead):
    case = parse_case(text, overrides=instead)
    model = case.model()
    steps = list(simulate_case(case, model, start_state(case, model), case_solver(case)))
    assert all(step.solution.converged for step in steps)
    return np.array([step.state.position for step in steps])


@pytest.mark.parametrize(
    ("text", "amplitude", "moves", "apart"),
    [(WALL, 0.0, 0.0, 1e-9), (WALL, 0.5, 0.01, 1e-6), (ARCH, 0.0, 0.0, 1e-9), (ARCH, 0.6, 0.01, 2e-3)],
    ids=["wall stands", "wall slides", "arch stands", "arch rocks"],
)
def test_histories_are_those_of_separating_axes(text, amplitude, moves, apart):
    """To [m] `apart`. Hinges of the arch turn about corners that are rounded by 1 mm, others about sharp ones: what blocks move
    differs by about the radius."""
    text = text.format(amplitude=amplitude)
    by_axes, by_points = history(text), history(text, **{"solver.contact_search": "nearest-points"})
    assert np.linalg.norm(by_axes - by_axes[0], axis=2).max() >= moves
    assert np.linalg.norm(by_axes - by_points, axis=2).max() < apart


def test_in_the_plane_as_in_space():
    """Half as many points, the same motion."""
    text = ARCH.format(amplitude=0.6)
    nearest = {"solver.contact_search": "nearest-points"}
    planar = history(text, **nearest, **{"analysis.planar": True})
    np.testing.assert_allclose(planar, history(text, **nearest), atol=1e-5)


@pytest.mark.parametrize("h", [2e-3, 5e-4])
def test_a_cube_that_topples_over_a_shared_edge_gains_no_energy(h):
    """Beyond 60 degrees about the edge as well, where separating axes have no contact: there it gains 5 J of 300 J at 2 ms and
    more, the finer the step. Between two steps its energy never rises by more than 0.1 % of what it has at most."""
    lower, upper = box((0, 0, 0), (0.4, 0.4, 0.4), fixed=True), box((0, 0, 0.4), (0.4, 0.4, 0.8))
    model = with_nearest_points(build_model([lower, upper], friction=0.6))
    start, edge = initial_state(model), np.array([0.4, 0.2, 0.4])
    turn = Rotation.from_rotvec([0, np.deg2rad(46), 0])
    position, rotation = start.position.copy(), start.rotation.copy()
    position[1], rotation[1] = edge + turn.apply(position[1] - edge), turn.as_quat(scalar_first=True)
    state = start._replace(position=position, rotation=rotation)
    weight, energy, kinetic = model.bodies.mass[1] * G, [], []
    for step in simulate(model, duration=1.0, time_step=h, solver=make_solver("native", 1e-6), state=state):
        kinetic.append(step.state.energy.kinetic)
        energy.append(step.state.energy.kinetic + weight * step.state.position[1, 2])
    assert max(kinetic) > 200  # it has fallen
    rise = np.array(energy) - np.minimum.accumulate(energy)
    assert rise.max() < 1e-3 * max(kinetic)


def test_the_case_file_says_what_is_wrong():
    text = WALL.format(amplitude=0.1)
    with pytest.raises(InputError, match="contact_distance is for contact_search"):
        parse_case(text, overrides={"solver.contact_distance": "5 mm"})
    thick = parse_case(text, overrides={"solver.contact_search": "nearest-points", "solver.corner_radius": "10 cm"})
    with pytest.raises(InputError, match=r"corner_radius is 0.1 m and block .* thick; give at most a quarter"):
        thick.model()
    small = {"analysis.integrator": "small-steps", "analysis.time_step": 0.005}
    with pytest.raises(InputError, match="small steps have no contact_search"):
        parse_case(text, overrides={"solver.contact_search": "nearest-points", **small})
    limit = 'structure = { generator = "wall" }\njoints = { friction = 0.3 }\nanalysis = { kind = "tilt" }\n'
    with pytest.raises(InputError, match='an analysis of kind "tilt" finds contacts by separating axes'):
        parse_case(limit, overrides={"solver.contact_search": "nearest-points"})
