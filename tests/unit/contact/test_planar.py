"""The plane: truths are counts by hand, the engine in space on prisms, and Clarabel."""

from dataclasses import replace

import numpy as np
import pytest

from drystone import build
from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.base.errors import InputError
from drystone.build.shapes import box
from drystone.contact.contacts import no_contacts
from drystone.contact.detection import detect
from drystone.contact.planar import in_plane
from drystone.engine.cone_step.integrator import _rows
from drystone.engine.contact_laws import RIGID_SURFACE, ContactSurface
from drystone.engine.rotation import move_freely
from drystone.engine.simulation import initial_state, simulate
from drystone.engine.solvers import newton
from drystone.engine.solvers.clarabel import static
from drystone.engine.solvers.methods import METHODS, make_solver
from drystone.ground.motion import Motion
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.structure.model import build_model

SHAKE = [Motion("one-sine", amplitude=7.0, half_period=0.15)]
STRUCTURES = {
    "block": build.block(width=0.3, height=1.0, depth=0.2),
    "wall": build.wall(length=1.2, height=1.6, courses=4, blocks=2),
    "arch": build.arch(blocks=9),
}
CASE = """
[structure]
generator = "block"
width = "0.2 m"
height = "1 m"
[joints]
friction = 0.7
[[motion]]
pulse = "rectangular"
amplitude = "0.3 g"
duration = "1 s"
direction = {direction}
[analysis]
integrator = "cone-program"
duration = "0.2 s"
time_step = "2 ms"
theta = 0.7
planar = {planar}
[solver]
method = "{method}"
"""


def first_contacts(model, planar):
    state = initial_state(model)
    return detect(model.bodies, state.position, state.rotation, state.velocity, 1e-3, no_contacts(), 0, planar)[0]


def shaken(blocks, planar, duration=0.4, solver="native", **options):
    model = build_model(blocks, friction=0.5, planar=planar)
    given = {"time_step": 2e-3, "theta": 0.7, "solver": make_solver(solver)} | options
    return list(simulate(model, SHAKE, duration=duration, **given))


def case(planar="true", method="native", direction="[1, 0, 0]"):
    return parse_case(CASE.format(planar=planar, method=method, direction=direction))


def test_a_joint_has_two_points_in_the_mid_plane():
    """By hand: a block 0.4 m wide and 0.3 m deep has its edges at x = -0.2 and 0.2, and half of 0.12 m2 at each."""
    stones = [box((-1, -2, -1), (1, 1, 0), fixed=True, name="ground"), box((-0.2, 0.1, 0), (0.2, 0.4, 1), name="stone")]
    contacts = first_contacts(build_model(stones, friction=0.5, planar=True), planar=True)
    order = np.argsort(contacts.point[:, 0])
    np.testing.assert_allclose(contacts.point[order], [[-0.2, 0.25, 0.0], [0.2, 0.25, 0.0]], atol=1e-12)
    np.testing.assert_allclose(contacts.area, 0.06)
    np.testing.assert_array_equal(contacts.normal, [[0, 0, 1], [0, 0, 1]])
    assert contacts.id.tolist() == [0, 1]


def test_a_wall_has_half_the_points():
    """By hand: 2 blocks on the slab; 2 + 3 courses of 2 and 1 + 2 halves: every bed joint 4 interfaces, every head joint one
    in even courses two; two points each."""
    model = build_model(STRUCTURES["wall"], friction=0.5, planar=True)
    beds, heads = 2 + 3 * 4, 1 + 2 + 1 + 2
    assert len(first_contacts(model, planar=True).gap) == 2 * (beds + heads)
    assert len(first_contacts(model, planar=False).gap) == 4 * (beds + heads)


def test_forces_in_space_become_their_sums():
    """Invariant: what passes through a joint, force and moment about y, is the same in the plane."""
    step = shaken(STRUCTURES["arch"], planar=False, duration=0.1)[-1]
    model, contacts = build_model(STRUCTURES["arch"], friction=0.5), step.state.contacts
    flat = in_plane(contacts, model.bodies, step.state.position)

    def through(c):
        moment = c.point[:, 2] * c.impulse[:, 0] - c.point[:, 0] * c.impulse[:, 2]
        return np.column_stack([np.bincount(c.b, w) for w in (c.impulse[:, 0], c.impulse[:, 2], moment)])

    assert len(flat.gap) == len(contacts.gap) // 2
    np.testing.assert_allclose(through(flat), through(contacts), rtol=1e-9, atol=1e-9)


SURFACES = {"rigid": RIGID_SURFACE, "soft": ContactSurface(30e9), "coulomb": ContactSurface(30e9, coulomb=True)}
# Blocks with all surfaces, and of the others one with each but the soft one, which the block shows; the rest in `make soak`.
LONG = (("soft", "wall"), ("soft", "arch"), ("rigid", "wall"), ("coulomb", "arch"))
SHAKEN = [pytest.param(name, surface, id=f"{kind}-{name}", marks=pytest.mark.soak if (kind, name) in LONG else [])
          for kind, surface in SURFACES.items() for name in STRUCTURES]  # fmt: skip


@pytest.mark.parametrize(("name", "surface"), SHAKEN)
def test_agrees_with_space(name, surface):
    """Truth: the engine in space. Differences are the solver's, and what impacts make of them: those of the rigid wall tear
    1e-8 m apart to 1e-4 within 0.1 s whatever the tolerance, so it is followed up to the first."""
    duration = 0.13 if (name, surface) == ("wall", RIGID_SURFACE) else 0.22
    space, plane = (shaken(STRUCTURES[name], planar, duration, surface=surface) for planar in (False, True))
    p, q = (np.array([step.state.position for step in steps]) for steps in (space, plane))
    assert abs(p - p[0]).max() > 5e-3  # it moves
    assert abs(p - q).max() < 1e-6
    e, f = (np.array([step.state.energy for step in steps]) for steps in (space, plane))
    np.testing.assert_allclose(f, e, atol=1e-5 * e[0].max())
    assert all(step.solution.converged for step in plane)


def test_nothing_leaves_the_plane():
    """Exactly: no velocity along y, no turn about x or z, no impulse along y."""
    steps = shaken(STRUCTURES["arch"], planar=True, duration=0.2)
    assert all(step.solution.velocity.shape[1] == 3 for step in steps)
    for state in (step.state for step in steps):
        assert not state.velocity[:, [1, 3, 5]].any()
        assert not state.rotation[:, [1, 3]].any()
        assert not state.contacts.impulse[:, 1].any()


def test_compiles_nothing_again():
    """The kernels know D from the shape of the arrays."""
    kernels = (_rows, move_freely, newton.follow)
    shaken(STRUCTURES["wall"], planar=False, duration=0.01)
    before = [len(kernel.signatures) for kernel in kernels]
    shaken(STRUCTURES["wall"], planar=True, duration=0.01)
    assert [len(kernel.signatures) for kernel in kernels] == before


@pytest.fixture(scope="module")
def moving_problem():
    """A step of the wall in motion, and its truth: Clarabel on the static program, whose cones are round."""
    kept = []
    solver = make_solver("native")

    def keep(problem, guess):
        kept.append((problem, guess))
        return solver(problem, guess)

    model = build_model(STRUCTURES["wall"], friction=0.5, planar=True)
    list(simulate(model, SHAKE, duration=0.1, time_step=2e-3, solver=keep))
    problem, guess = kept[-1]
    return problem, guess, static(tolerance=1e-10)(problem, guess).velocity


@pytest.mark.parametrize("method", METHODS)
def test_all_methods_solve_the_plane(moving_problem, method):
    problem, guess, truth = moving_problem
    found = make_solver(method)(problem, guess._replace(impulse=np.zeros_like(guess.impulse)))
    assert found.converged
    scale = problem.speed * np.sqrt(problem.total_mass)
    assert np.linalg.norm(problem.free - truth) / scale > 0.1
    assert np.linalg.norm(found.velocity - truth) / scale < 1e-5


@pytest.mark.parametrize("surface", [
    pytest.param(RIGID_SURFACE, id="rigid"), pytest.param(ContactSurface(30e9), id="soft", marks=pytest.mark.soak),
])  # fmt: skip
def test_the_quadratic_program_runs_a_structure(surface):
    native, qp = (shaken(STRUCTURES["arch"], True, 0.1, method, surface=surface) for method in ("native", "qp"))
    assert all(step.solution.converged for step in qp)
    assert abs(native[-1].state.position - qp[-1].state.position).max() < 1e-6


def test_the_quadratic_program_does_not_claim_a_problem_in_space():
    """It knows one tangent only, and its grade says so."""
    across = [Motion("rectangular", amplitude=3.0, duration=1.0, direction=(0, 1, 0))]
    model = build_model(STRUCTURES["block"], friction=0.2)
    steps = simulate(model, across, duration=0.02, time_step=2e-3, solver=make_solver("qp"))
    assert not all(step.solution.converged for step in steps)


def test_refuses_what_is_no_prism():
    turned = build.block(tilt=0.1, tilt_direction=1.0)
    with pytest.raises(InputError, match=r"block 1 'block': the normal of a face is .*; a planar analysis takes prisms"):
        build_model(turned, friction=0.5, planar=True)
    foundation, stone = build.block()
    behind = replace(stone, vertices=stone.vertices + [0, 0.1, 3.0], name="behind")
    with pytest.raises(InputError, match=r"'block': it goes from y = -0.3 to 0.3 m and the structure from -0.3 to 0.4 m"):
        build_model([foundation, stone, behind], friction=0.5, planar=True)
    narrow = replace(foundation, vertices=foundation.vertices * [1, 0.01, 1])
    with pytest.raises(InputError, match=r"'foundation': it goes"):
        build_model([narrow, stone], friction=0.5, planar=True)


def test_refuses_what_is_not_of_the_plane():
    with pytest.raises(InputError, match=r'solver.method = "qp" is for planar analyses; set planar = true'):
        case(planar="false", method="qp").model()
    with pytest.raises(InputError, match=r"direction of the rectangular is .* set its y to 0, or planar = false"):
        case(direction="[1, 0.5, 0]").model()


def test_a_run_knows_that_it_is_planar(tmp_path):
    """The same bits whether cut or not; the model that was stored is planar too."""
    whole = run(case(), tmp_path / "whole")
    steps = record_history(case(), tmp_path / "cut")
    for _ in range(60):
        next(steps)
    steps.close()
    for _ in resume_history(tmp_path / "cut"):
        pass
    cut = read_run(tmp_path / "cut")
    assert cut.model.planar
    np.testing.assert_array_equal(cut.position[-1], whole.position[-1])
