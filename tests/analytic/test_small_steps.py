"""Truths of mechanics that histories by small steps must meet at their defaults, whatever the time step: closed forms,
Coulomb's law integrated over a joint, Housner's equation from impact to impact, balance of energy."""

import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from drystone.build.shapes import HEXAHEDRON, box, prism
from drystone.engine.simulation import initial_state, simulate_small_steps
from drystone.engine.small_steps.initial_equilibrium import settled
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.ground.motion import Motion
from drystone.structure.joint_laws import JointLaw
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import Block, build_model
from drystone.validation import housner

G = 9.81
SOAK = pytest.mark.soak
GROUND = box((-8, -8, -4), (8, 8, 0), fixed=True, name="ground")


def turned_box(centre, size, turn=(0.0, 0.0, 0.0), **others):
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    corners = np.array([(x, y, -1) for x, y in square] + [(x, y, 1) for x, y in square], float) * np.array(size, float) / 2
    return Block(Rotation.from_rotvec(turn).apply(corners) + np.array(centre, float), HEXAHEDRON, **others)


def history(blocks, friction, duration, time_step, velocity=None, **others):
    """The states of a history, the first included; velocity (6,) of the last block at the start."""
    model = build_model(blocks, friction=friction)
    start = initial_state(model, G)
    if velocity is not None:
        start.velocity[-1] = velocity
        momentum = SmallSteps(model, gravity=G)._momentum(start.rotation, start.velocity)[-1]
        speed, spin = start.velocity[-1, :3], start.velocity[-1, 3:]
        kinetic = 0.5 * (model.bodies.mass[-1] * speed @ speed + momentum @ spin)
        start = start._replace(energy=start.energy._replace(kinetic=float(kinetic)))
    steps = simulate_small_steps(model, duration=duration, time_step=time_step, state=start, **others)
    return [start, *(step.state for step in steps)]


def mechanical(states):
    """(F,) [J]"""
    return np.array([state.energy.kinetic + state.energy.potential + state.energy.elastic for state in states])


def largest_rise(states):
    """[J] of the mechanical energy above its least value so far."""
    total = mechanical(states)
    return float(np.max(total - np.minimum.accumulate(total)))


def allowed_rise(states, mass):
    """[J] a thousandth of the largest kinetic energy, or of the weight lifted by a millimetre."""
    return 1e-3 * max(max(state.energy.kinetic for state in states), mass * G * 1e-3)


CELLS = {"crushing": 1e12}  # of a law that remembers, cell by cell, and is never crushed


@pytest.mark.parametrize("others", [{}, CELLS], ids=["patch", "cells"])
@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.6, 0.9])
def test_a_dropped_cube_rebounds_with_its_restitution(restitution, others):
    """It leaves with e times the speed of its arrival, sqrt(2 g h)."""
    law = JointLaw(0.6, restitution=restitution, **others)
    states = history([GROUND, turned_box((0, 0, 0.45), (0.5, 0.5, 0.5))], law, 0.25, 1e-3)
    speed = np.array([state.velocity[1, 2] for state in states])
    assert speed.min() == pytest.approx(-math.sqrt(2 * G * 0.2), rel=1e-2)
    assert speed[speed.argmin() :].max() == pytest.approx(restitution * math.sqrt(2 * G * 0.2), rel=0.01, abs=1e-3)


ROCKING = {  # half width, half height [m], tilt at the start [rad]
    "tall": (0.25, 1.0, 0.6 * math.atan2(0.25, 1.0)),
    "stocky": (0.5, 1.0, math.radians(15)),
    "small": (0.1, 0.5, math.radians(6)),
    "other": (0.21, 0.95, math.radians(7)),
}


@pytest.mark.parametrize(
    ("block", "time_step", "others"),
    [("tall", 5e-3, {}), ("stocky", 2e-3, {}), ("tall", 5e-3, {"tension": 1e5})]
    + [pytest.param(*case, {}, marks=SOAK) for case in (("tall", 1e-3), ("small", 2e-3), ("other", 2e-3))],
)
def test_free_rocking_has_the_peaks_of_housner(block, time_step, others):
    """The first peaks after an impact, from Housner's equation and his loss at impact. Stone of 30 GPa loses some tenths of
    a per cent more than rigid stone: its edges give way (T313). Mortar that has no bond left is a dry joint."""
    half_width, half_height, tilt = ROCKING[block]
    arcs = housner.integrate_housner(half_width, half_height, tilt, 3)
    turn = np.array([0.0, tilt, 0.0])
    centre = Rotation.from_rotvec(turn).apply([-half_width, 0, half_height])
    stone = turned_box(centre, (2 * half_width, 0.5, 2 * half_height), turn)
    ends = [float(arc.time[-1]) for arc in arcs]
    states = history([GROUND, stone], JointLaw(2.0, **others), round(ends[-1] / time_step) * time_step, time_step)
    angle = np.array([abs(2 * math.atan2(state.rotation[1, 2], state.rotation[1, 0]) + tilt) for state in states])
    time = np.array([state.time for state in states])
    for before, after, arc in zip(ends, ends[1:], arcs[1:], strict=False):
        inside = (time > before) & (time < after)
        assert angle[inside].max() == pytest.approx(np.abs(arc.angle).max(), rel=0.015)
    assert largest_rise(states) <= allowed_rise(states, 0)


ACROSS, ASKEW = (1.0, 0.0, 0.0), (0.6, 0.8, 0.0)


@pytest.mark.parametrize(
    ("width", "height", "direction"),
    [(0.2, 1.0, ACROSS), (0.5, 2.0, ASKEW), (0.6, 0.8, ACROSS)]
    + [pytest.param(*case, marks=SOAK) for case in ((0.2, 1.0, ASKEW), (0.5, 2.0, ACROSS), (0.6, 0.8, ASKEW))],
)
def test_rocking_begins_when_the_resultant_reaches_the_edge(width, height, direction):
    """Under an acceleration of the ground that lasts, a block stands up to width / height of gravity (over the larger
    component of the direction, on a square base), and not beyond."""
    block = turned_box((0, 0, height / 2), (width, width, height))
    least = width / height * G / max(direction)

    def tilt(share):
        push = Motion("rectangular", amplitude=share * least, duration=1.0, direction=direction)
        model = build_model([GROUND, block], friction=2.0)
        steps = simulate_small_steps(model, [push], duration=0.5, time_step=5e-3, gravity=G)
        return max(float(np.abs(step.state.rotation[1, 1:]).max()) for step in steps)

    assert tilt(0.98) < 1e-3
    assert tilt(1.02) > 2e-3  # (cosh p t - 1) of 2 % of its slenderness, half of it in a quaternion: 2.5e-3 at least


@pytest.mark.parametrize("degrees", [1, 10, 40, 55])
def test_an_edge_inside_a_face_is_pushed_along_the_normal_of_the_face(degrees):
    """Without friction nothing pushes it sideways."""
    tilt = math.radians(degrees)
    for inside in (2e-4, 5e-3):
        low = box((-0.4, -0.2, -1), (0, 0.2, 0), fixed=True, name="low")
        centre = Rotation.from_rotvec([0, tilt, 0]).apply([-0.2, 0, 0.2]) + [-inside, 0, 0]
        states = history([low, turned_box(centre, (0.4, 0.4, 0.4), (0, tilt, 0))], 0.0, 3e-3, 1e-3)
        assert abs(states[-1].velocity[1, 0]) / 3e-3 < 1e-3  # [m/s2]


def test_an_edge_sticks_by_friction():
    """A cube on its edge, tilted by 40 degrees: it sets out to fall with a horizontal over a vertical force at the edge of
    0.28 (the equation of motion about the edge), less than the friction of 0.3."""
    tilt = math.radians(40)
    centre = Rotation.from_rotvec([0, tilt, 0]).apply([-0.2, 0, 0.2])
    states = history([GROUND, turned_box(centre, (0.4, 0.4, 0.4), (0, tilt, 0))], 0.3, 0.02, 1e-3)
    edge = [state.position[1] + Rotation.from_quat(state.rotation[1][[1, 2, 3, 0]]).apply(-centre) for state in states]
    assert abs(edge[-1][0]) < 2e-5  # [m]


@pytest.mark.parametrize("play", [0.0, 1e-6, 1e-4, 1e-3])
@pytest.mark.parametrize("time_step", [4e-3, pytest.param(1e-3, marks=SOAK)])
def test_nothing_holds_a_stone_between_two_walls(play, time_step):
    """It falls freely: g t^2 / 2."""
    walls = [
        box((-1.2, -0.6, -1), (-0.25 - play, 0.6, 1), fixed=True, name="left"),
        box((0.25 + play, -0.6, -1), (1.2, 0.6, 1), fixed=True, name="right"),
    ]
    states = history([*walls, turned_box((0, 0, 0.45), (0.5, 0.3, 0.3))], 0.55, 0.2, time_step)
    assert 0.45 - states[-1].position[2, 2] == pytest.approx(G * 0.2**2 / 2, rel=1e-2)


@pytest.mark.parametrize("time_step", [5e-3, pytest.param(5e-4, marks=SOAK)])
def test_braking_distance(time_step):
    """v^2 / (2 mu g), and all of the kinetic energy goes into friction."""
    states = history([GROUND, turned_box((0, 0, 0.1), (0.4, 0.4, 0.2))], 0.5, 0.7, time_step, (3, 0, 0, 0, 0, 0))
    assert states[-1].position[1, 0] == pytest.approx(9 / (2 * 0.5 * G), rel=1e-3)
    assert states[-1].energy.friction == pytest.approx(states[0].energy.kinetic, rel=2e-3)
    assert max(state.position[1, 2] for state in states) - 0.1 < 1e-6


@pytest.mark.parametrize("time_step", [5e-3, pytest.param(5e-4, marks=SOAK)])
def test_an_oblique_landing_does_not_hop(time_step):
    """1.1 m/s down and 3 m/s along: Coulomb's impulse takes mu times the first from the second, the rest is slid off."""
    states = history([GROUND, turned_box((0, 0, 0.1), (0.4, 0.4, 0.2))], 0.5, 0.6, time_step, (3, 0, -1.1, 0, 0, 0))
    left = 3 - 0.5 * 1.1
    assert states[-1].position[1, 0] == pytest.approx(left**2 / (2 * 0.5 * G), rel=1e-2)
    assert max(state.position[1, 2] for state in states) - 0.1 < 1e-3


@pytest.mark.parametrize("shear", [0.4, 1.0, 4.0])
def test_a_joint_with_a_stiffness_of_its_own(shear):
    """A cube of side c on a bed of k sinks by its weight over k c^2. Pushed by a tenth of its weight at its middle it slides by
    F / (k_t c^2) and leans by F c / 2 over the rocking stiffness k c^4 / 12, so that its middle moves by both; the bed is
    closed all over. Pushed beyond the kern, by a fifth of its weight at its top, it opens as Winkler's bed does: it is closed
    over 3 u, u = c (1/2 - 0.2), with 2 W / (3 u c) at its toe."""
    side, stiff = 0.5, 2e9
    weight = 2000 * side**3 * G
    law = JointLaw(0.6, normal_stiffness=stiff, shear_stiffness=shear * stiff)
    block = turned_box((0, 0, side / 2), (side, side, side), name="stone")

    def pushed(force, height):
        load = AppliedLoad("stone", force=force, direction=(1, 0, 0), at=(0, 0, height))
        model = build_model([GROUND, block], friction=law)
        return settled(SmallSteps(model, gravity=G, loads=[load]), initial_state(model, G))

    sunk = pushed(0.0, side / 2).position[1, 2] - side / 2
    assert sunk == pytest.approx(-weight / (stiff * side**2), rel=1e-3)
    force = 0.1 * weight
    slid = force / (shear * stiff * side**2)
    lean = force * side / 2 / (stiff * side**4 / 12)
    assert pushed(force, side / 2).position[1, 0] == pytest.approx(slid + lean * side / 2, rel=1e-2)
    toe = -pushed(0.2 * weight, side).contacts.gap.min() * stiff
    assert toe == pytest.approx(2 * weight / (3 * 0.3 * side * side), rel=1e-2)


@pytest.mark.parametrize("others", [{}, CELLS], ids=["patch", "cells"])
@pytest.mark.parametrize("dilatancy", [5.0, 15.0, math.degrees(math.atan(0.5))])
def test_a_joint_with_dilatancy_opens_as_it_slides(dilatancy, others):
    """On a slope of 40 degrees, mu 0.5. The plane may bear N = m (g cos + a tan psi) while the block gathers speed with a along
    it: a = g (sin - mu cos) / (1 + mu tan psi), and it lifts off by tan psi times its way. Of what friction takes, tan psi over
    mu goes into lifting; with psi as large as friction (the associated law) nothing is lost at all."""
    slope, tangent = math.radians(40), math.tan(math.radians(dilatancy))
    turn = (0.0, slope, 0.0)
    down, up = np.array([math.cos(slope), 0, -math.sin(slope)]), np.array([math.sin(slope), 0, math.cos(slope)])
    plane = turned_box(-2.0 * up, (12, 4, 4), turn, fixed=True, name="plane")
    stone = turned_box(0.1 * up - 2.0 * down, (0.4, 0.4, 0.2), turn, name="stone")
    states = history([plane, stone], JointLaw(0.5, dilatancy=math.radians(dilatancy), **others), 0.5, 5e-3)
    moved = states[-1].position[1] - states[0].position[1]
    along = 0.5 * G * (math.sin(slope) - 0.5 * math.cos(slope)) / (1 + 0.5 * tangent) * 0.5**2
    assert moved @ down == pytest.approx(along, rel=0.01)
    assert moved @ up == pytest.approx(tangent * along, rel=0.01)
    energy, mass = states[-1].energy, 2000.0 * 0.4 * 0.4 * 0.2
    pressed = mass * (G * math.cos(slope) + 2 * along / 0.5**2 * tangent)
    assert energy.friction == pytest.approx((0.5 - tangent) * pressed * along, rel=0.02, abs=1e-3 * energy.kinetic)
    assert abs(energy.numerical) < 1e-3 * energy.kinetic


@pytest.mark.parametrize("speed", [8.0, 30.0])
def test_a_fast_stone_does_not_pass_a_wall(speed):
    """It flies 0.1 m, and is stopped by a block that is at rest on the ground; the blocks overlap by less than a millimetre."""
    wall = box((0.0, -0.5, 0.0), (0.2, 0.5, 1.0), name="wall")
    stone = turned_box((-0.25, 0, 0.5), (0.3, 0.3, 0.3), name="stone")
    states = history([GROUND, wall, stone], 0.5, 0.06, 1e-3, (speed, 0, 0, 0, 0, 0))
    assert min(float(state.contacts.gap.min(initial=0.0)) for state in states) > -1e-3
    assert all(state.position[2, 0] < state.position[1, 0] for state in states)
    assert largest_rise(states) <= allowed_rise(states, 0)


@pytest.mark.parametrize("others", [{}, CELLS], ids=["patch", "cells"])
@pytest.mark.parametrize(("side", "height"), [(0.6, 0.6), pytest.param(1.0, 0.2, marks=SOAK)])
def test_a_spinning_block_stops_as_under_uniform_pressure(side, height, others):
    """Its couple is 0.3826 mu N a for a square of side a (the mean distance from the middle): 0.555 s and 0.333 s at 5
    rad/s."""
    block, law = turned_box((0, 0, height / 2), (side, side, height)), JointLaw(0.4, **others)
    states = history([GROUND, block], law, 0.6, 1e-3, (0, 0, 0, 0, 0, 5))
    spin = np.array([state.velocity[1, 5] for state in states])
    stops = states[int(np.argmax(spin < 1e-2))].time
    assert stops == pytest.approx(side / 6 * 5 / (0.3826 * 0.4 * G), rel=0.03)


@pytest.mark.parametrize(("share", "turns"), [(0.3, False), (0.5, True)])
def test_couple_that_turns_a_square_block(share, turns):
    """Friction resists up to 0.3826 mu N a."""
    block = turned_box((0, 0, 0.1), (0.6, 0.6, 0.2), name="stone")
    model = build_model([GROUND, block], friction=0.4)
    weight = model.bodies.mass[1] * G
    arm, couple = 0.3, share * 0.4 * weight * 0.6
    force = couple / (2 * arm)
    pair = [AppliedLoad("stone", force=force, direction=(0, side, 0), at=(side * arm, 0, 0.0)) for side in (1, -1)]
    *_, last = simulate_small_steps(model, duration=0.2, time_step=5e-3, loads=pair)
    assert (abs(last.state.velocity[1, 5]) > 0.1) == turns


@pytest.mark.parametrize(
    ("speed", "spin"), [(1.0, 5.0), pytest.param(2.0, 2.0, marks=SOAK), pytest.param(0.5, 8.0, marks=SOAK)]
)
def test_a_block_that_slides_and_spins(speed, spin):
    """Coulomb's law integrated over the square, outside of the engine."""
    grid = (np.arange(40) + 0.5) / 40 - 0.5
    x, y = np.meshgrid(grid, grid)
    velocity, rate, way, angle, dt = np.array([speed, 0.0]), spin, 0.0, 0.0, 2e-4
    while velocity @ velocity > 1e-7 or abs(rate) > 1e-3:
        c, s = math.cos(angle), math.sin(angle)
        rx, ry = c * x - s * y, s * x + c * y
        ux, uy = velocity[0] - rate * ry, velocity[1] + rate * rx
        size = np.sqrt(ux * ux + uy * uy) + 1e-9
        fx, fy = -0.4 * G * ux / size, -0.4 * G * uy / size
        velocity, rate = velocity + dt * np.array([fx.mean(), fy.mean()]), rate + dt * 6 * float((rx * fy - ry * fx).mean())
        way, angle = way + dt * velocity[0], angle + dt * rate
    states = history([GROUND, turned_box((0, 0, 0.05), (1, 1, 0.1))], 0.4, 1.0, 2e-3, (speed, 0, 0, 0, 0, spin))
    turned = 2e-3 * sum(state.velocity[1, 5] for state in states[1:])
    assert states[-1].position[1, 0] == pytest.approx(way, rel=0.1)
    assert turned == pytest.approx(angle, rel=0.1)


@pytest.mark.parametrize("share", [1 / 3, 1 / 4, 1 / 6])
def test_toe_pressure_of_an_eccentric_load(share):
    """2 N / (3 e d) where the load is at e from the edge of a joint of depth d that takes no tension. The pressure at the
    corners is that of the linear law: stiffness times depth."""
    a, d = 0.6, 0.3
    shift = 2 * (a / 2 - share * a)
    outline = [(0, 0), (a, 0), (0, 0.6)] if share == 1 / 3 else [(0, 0), (a, 0), (a - shift, 0.6), (-shift, 0.6)]
    model = build_model([GROUND, prism(np.array(outline, float), (0, d), name="stone")], friction=0.7)
    *_, last = simulate_small_steps(model, duration=2e-3, time_step=1e-3)
    height = -float(model.bodies.vertex[model.bodies.vertex_start[1] :, 2].min())
    pressure = -float(last.state.contacts.gap.min()) * 30e9 / height
    assert pressure == pytest.approx(2 * model.bodies.mass[1] * G / (3 * share * a * d), rel=0.05)


@pytest.mark.parametrize("time_step", [5e-4, 5e-3])
def test_toppling_over_a_shared_edge_makes_no_energy(time_step):
    """A cube that falls over the edge which it shares with the block below, beyond 60 degrees."""
    tilt, size = math.radians(50), 0.4
    low = box((-size, -0.2, -1), (0.0, 0.2, 0), fixed=True, name="low")
    centre = Rotation.from_rotvec([0, tilt, 0]).apply([-size / 2, 0, size / 2])
    spin = np.array([0, 3.2, 0])
    cube = turned_box(centre, (size, 0.4, size), (0, tilt, 0))
    states = history([low, cube], 0.7, 0.15, time_step, (*np.cross(spin, centre), *spin))
    assert largest_rise(states) <= allowed_rise(states, 0)


def hull(points, **others):
    found = ConvexHull(points)
    row, faces = {int(old): new for new, old in enumerate(found.vertices)}, []
    for (a, b, c), plane in zip(found.simplices, found.equations, strict=True):
        outward = np.cross(points[b] - points[a], points[c] - points[a]) @ plane[:3] > 0
        faces.append(tuple(row[int(v)] for v in ((a, b, c) if outward else (a, c, b))))
    return Block(points[found.vertices], tuple(faces), **others)


def heap(kind, count, seed):
    random, blocks = np.random.default_rng(seed), [GROUND]
    for k in range(count):
        centre = np.array([random.uniform(-0.35, 0.35), random.uniform(-0.35, 0.35), 0.35 + 0.42 * k])
        if kind == "boxes":
            turn = Rotation.random(random_state=int(random.integers(1e9))).as_rotvec()
            blocks.append(turned_box(centre, random.uniform(0.15, 0.35, 3), turn, name=f"stone-{k}"))
        else:
            points = random.normal(size=(14, 3))
            radius = random.uniform(0.1, 0.18, 3)
            blocks.append(hull(centre + points / np.linalg.norm(points, axis=1)[:, None] * radius, name=f"stone-{k}"))
    return blocks


@pytest.mark.parametrize(
    ("kind", "count", "seed", "time_step"),
    [("boxes", 6, 1, 5e-3), ("hulls", 6, 2, 2e-3)]
    + [pytest.param(kind, 30, seed, step, marks=SOAK)
       for kind in ("boxes", "hulls") for seed in range(1, 6) for step in (1e-3, 5e-3)],
)  # fmt: skip
def test_a_heap_of_stones_makes_no_energy_and_does_not_sink_into_itself(kind, count, seed, time_step):
    states = history(heap(kind, count, seed), 0.6, 0.4 + 0.055 * count, time_step)
    assert largest_rise(states) <= allowed_rise(states, 0)
    assert states[-1].contacts.gap.min() > -2e-3


def test_shaken_ground_and_shaken_support_agree():
    """A block on a support that is moved moves against it as on a ground that is moved."""
    blocks = [box((-2, -2, -1), (2, 2, 0), fixed=True, name="ground"), turned_box((0, 0, 0.5), (0.4, 0.4, 1.0), name="stone")]
    model = build_model(blocks, friction=0.5)
    shake = {"pulse": "one-sine", "amplitude": 6.0, "half_period": 0.15}
    *_, on_ground = simulate_small_steps(model, [Motion(**shake)], duration=0.2, time_step=5e-3)
    *_, on_support = simulate_small_steps(model, [Motion(**shake, supports=("ground",))], duration=0.2, time_step=5e-3)
    (ground, one), (support, other) = on_ground.state.position, on_support.state.position
    relative = (other - support) - (one - ground)
    assert np.abs(on_ground.state.position[1] - model.position[1]).max() > 1e-3
    assert np.abs(relative).max() < 2e-5
