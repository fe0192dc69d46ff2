"""Joint laws from outside the package. Truth: their own closed forms.

`softening`, a cohesive zone whose tension falls along a line. With the stiffness k, the strength f and the energy G of fracture
it lets go at the opening c = 2 G / f. A cell that is open by w, and was open by W at most, bears

    k w                              where W <= f / k
    f (c - W) / (c - f / k) w / W    beyond that: back along a line to the origin, and up it again
    0                                where W >= c: G is lost, for each unit of area

`weakening`, friction that falls with the way s that a cell has slid: mu(s) = r + (m - r) exp(-s / d). What a cell bears is told
by what it remembers, for as long as the block slides.
"""

from functools import partial

import h5py
import numpy as np
import pytest
from test_joint_laws_by_small_steps import couple, drive

from drystone import build
from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.analysis.statics.balance import assemble_balance
from drystone.base.errors import InputError
from drystone.build.shapes import box
from drystone.contact.joint_cells import CELLS
from drystone.engine.simulation import initial_state, simulate, simulate_small_steps
from drystone.engine.small_steps.cell_stress import (
    ALONG_1,
    ALONG_2,
    BOND,
    FRACTURE,
    NORMAL,
    PRESSURE,
    SHEAR,
    SLIDING,
    SLIP,
    SLOPE,
    SLOPE_LOST,
    STORED,
)
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.engine.solvers.methods import make_solver
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run
from drystone.structure.joint_laws import JointLaw, OwnLaw
from drystone.structure.loads import AppliedLoad
from drystone.structure.model import build_model

SIDES, AREA = (0.4, 0.25), 0.1  # [m], [m2]
H = 1e-3  # [s]
K = 2e9  # [N/m3]

STRENGTH, ENERGY = 3, 4  # numbers of `softening` [Pa], [J/m2]
FARTHEST, MOVED = 4, 5  # its memory [m]: how far it was open, and two numbers: how far it was moved along
F, G = 2e5, 30.0


def softening(numbers, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    k, f = numbers[NORMAL], numbers[STRENGTH]
    first, last = f / k, 2.0 * numbers[ENERGY] / f
    before = min(max(memory[FARTHEST], first), last)
    memory[FARTHEST] = max(memory[FARTHEST], opening)
    now = min(max(memory[FARTHEST], first), last)
    left = first * (last - now) / ((last - first) * now) if memory[BOND] > 0.0 else 0.0
    memory[MOVED] += dt * v1
    memory[MOVED + 1] += dt * v2
    stiff = k if opening < 0.0 else left * k
    along = left * numbers[SHEAR]
    out[PRESSURE], out[ALONG_1], out[ALONG_2] = -stiff * opening, -along * memory[MOVED], -along * memory[MOVED + 1]
    out[STORED] = 0.5 * stiff * opening * opening + 0.5 * along * (memory[MOVED] ** 2 + memory[MOVED + 1] ** 2)
    out[FRACTURE] = 0.5 * f * last / (last - first) * (now - before)
    out[SLIDING] = out[SLOPE] = out[SLOPE_LOST] = out[SLIP] = 0.0
    memory[BOND] = left


PEAK, RESIDUAL, WAY = 3, 4, 5  # numbers of `weakening`: friction at first and in the end, [m] after which it has fallen
STRETCH, SLID = 4, 6  # its memory [m]: two numbers of the elastic part, and how far it has slid
MU, MU_END, D = 0.8, 0.3, 0.02


def weakening(numbers, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    pressure, k = max(-numbers[NORMAL] * opening, 0.0), numbers[SHEAR]
    fallen = np.exp(-memory[SLID] / numbers[WAY])
    limit = (numbers[RESIDUAL] + (numbers[PEAK] - numbers[RESIDUAL]) * fallen) * pressure
    e1, e2 = memory[STRETCH] + dt * v1, memory[STRETCH + 1] + dt * v2
    size = k * np.sqrt(e1 * e1 + e2 * e2)
    share = limit / size if size > limit else 1.0
    slip = (1.0 - share) * size / k
    memory[SLID] += slip
    memory[STRETCH], memory[STRETCH + 1] = share * e1, share * e2
    out[PRESSURE], out[ALONG_1], out[ALONG_2] = pressure, -k * share * e1, -k * share * e2
    out[STORED] = 0.5 * pressure * pressure / numbers[NORMAL] + 0.5 * (share * size) ** 2 / k
    out[SLIDING], out[SLIP] = limit * slip, slip
    out[FRACTURE] = out[SLOPE] = out[SLOPE_LOST] = 0.0
    memory[BOND] = 0.0


TENSION = JointLaw(0.6, normal_stiffness=K, own=OwnLaw(softening, (F, G), memory=3, strengths=(0, 1), reach=1e-3))
SLIPS = JointLaw(0.6, normal_stiffness=K, own=OwnLaw(weakening, (MU, MU_END, D), memory=3))


def a_block_on_a_support(law):
    """So heavy that nothing a joint can do slows it down."""
    base = box((-1.5, -1.5, -1.0), (1.9, 1.75, 0.0), fixed=True, name="base")
    return build_model([base, box((0, 0, 0), (*SIDES, 0.3), name="block", density=1e15)], friction=law)


UP, ALONG = np.array([0, 0, 1.0]), np.array([1.0, 0, 0])


def test_peak_force_and_fracture_energy_are_those_of_the_law():
    """Opened, closed, pressed, opened again to beyond c = 0.3 mm: force and energy lost by the closed form at every step."""
    path = [(1e-3 * UP, 180), (-2e-3 * UP, 110), (2e-3 * UP, 110), (2e-3 * UP, 80)]
    moved, force, states = drive(a_block_on_a_support(TENSION), path)
    w, first, last = moved[:, 2], F / K, 2 * G / F
    assert w.min() < -1e-5
    assert w.max() > last
    most = np.clip(np.maximum.accumulate(w), first, last)
    share = first * (last - most) / ((last - first) * most)
    assert np.abs(force[:, 2] + AREA * K * np.where(w > 0, share, 1.0) * w).max() <= 1e-9 * AREA * F
    assert -force[:, 2].min() == pytest.approx(AREA * F, rel=0.01)  # seen at time steps only, 1 % of f / k apart
    fracture = np.array([state.energy.fracture for state in states])
    assert np.abs(fracture - AREA * G * (most - first) / (last - first)).max() <= 1e-9 * AREA * G
    assert fracture[-1] == pytest.approx(AREA * G, rel=1e-9)
    assert abs(states[-1].energy.damping) < 2e-3 * AREA * G  # trapezoidal sums over the kink at the strength


def test_it_holds_along_the_joint_too():
    """With k, for a bond that was not stretched."""
    moved, force, _ = drive(a_block_on_a_support(TENSION), [(1e-3 * ALONG, 60)])
    assert force[:, 0] == pytest.approx(-AREA * K * moved[:, 0], abs=1e-6 * AREA * F)


def weakened(slip):
    return MU_END + (MU - MU_END) * np.exp(-slip / D)


def test_cells_remember_while_the_block_slides():
    """The force along is mu(s) p A, and the energy lost its integral, over 8 cm and 160 detections; s is the way but for the
    elastic part, mu(s) p / k."""
    pressed = 5e-5
    moved, force, states = drive(a_block_on_a_support(SLIPS), [(-5e-3 * UP, 10), (np.array([0.5, 0.05, 0]), 160)])
    way = np.linalg.norm(moved[10:, :2], axis=1)
    friction = np.linalg.norm(force[10:, :2], axis=1)
    slid = way - friction / (AREA * K)
    weight = AREA * K * pressed
    assert friction == pytest.approx(weight * weakened(slid), rel=2e-3)  # the law takes the slip of the step before: 50 um
    lost = weight * (MU_END * slid[-1] + (MU - MU_END) * D * (1 - np.exp(-slid[-1] / D)))
    assert states[-1].energy.friction == pytest.approx(lost, rel=2e-3)
    assert states[-1].cells.state[:, SLID] == pytest.approx(slid[-1], rel=1e-6)


def test_cells_remember_while_the_block_turns():
    """Turned by 0.2 rad on the spot, the cell at the distance r has slid by 0.2 r: the couple is the sum of mu(0.2 r) p r
    over the middles of the cells."""
    turn = np.array([0, 0, 0, 0, 0, 2.0])
    _, _, states = drive(a_block_on_a_support(SLIPS), [(-5e-3 * UP, 10), (turn, 100)])
    x, y = ((np.arange(CELLS) + 0.5) / CELLS - 0.5 for _ in range(2))
    r = np.hypot(SIDES[0] * x[:, None], SIDES[1] * y[None, :])
    expected = (weakened(0.2 * r) * r).mean() * AREA * K * 5e-5
    assert -couple(states[-1])[2] == pytest.approx(expected, rel=2e-3)
    slid = states[-1].cells.state[:, SLID].reshape(CELLS, CELLS)
    stretch = weakened(0.2 * r) * 5e-5
    assert slid == pytest.approx(0.2 * r - stretch, rel=0.02)


def test_it_may_stand_beside_other_laws():
    """Two stones side by side, one of each law, pulled by the same force: half of the strength is borne by both, more than all
    of it by none."""
    base = box((-0.5, -0.5, -1.0), (2, 0.75, 0.0), fixed=True, name="base")
    stones = [box((x, 0, 0), (x + 0.4, 0.25, 0.3), name=name, group=name) for x, name in ((0, "one"), (1, "other"))]
    ours = JointLaw(0.6, tension=F, normal_stiffness=K)
    model = build_model([base, *stones], friction=0.5, pairs=[("one", "support", TENSION), ("other", "support", ours)])
    for share, holds in ((0.45, True), (1.2, False)):  # a force that comes at once stretches twice as far
        loads = [AppliedLoad(name, force=share * F * AREA, direction=(0, 0, 1), at=tuple(model.position[k]))
                 for k, name in ((1, "one"), (2, "other"))]  # fmt: skip
        *_, last = simulate_small_steps(model, duration=0.02, time_step=5e-3, loads=loads, gravity=0.0,
                                        state=initial_state(model, 0.0))  # fmt: skip
        lifted = last.state.position[1:, 2] - model.position[1:, 2]
        assert np.all((lifted < 4 * F / K) == holds), lifted


# ---------------------------------------------------------------- recorded and gone on with

CASE = """
structure = { generator = "wall", length = 1.0, height = 0.5, courses = 2 }
joints = { friction = 0.6 }
motion = { pulse = "one-sine", amplitude = "3 g", half_period = "0.05 s", direction = [0.2, 1, 0] }
analysis = { duration = "0.1 s", time_step = "5 ms" }
output = { every = "10 ms" }
"""
WIDE = OwnLaw(softening, (1e4, 2.0), memory=7, strengths=(0, 1), reach=1e-3)


def cut(folder):
    """Half of a run of a wall whose joints are damaged."""
    case = parse_case(CASE)
    group = next(block.group for block in case.blocks() if not block.fixed)
    pairs = [(group, other, JointLaw(0.6, normal_stiffness=K, own=WIDE)) for other in (group, "support")]
    steps = record_history(case, folder / "cut", pairs=pairs)
    for _ in range(9):
        next(steps)
    steps.close()
    return case, pairs


def test_a_run_that_is_cut_goes_on_with_the_same_bits(tmp_path):
    """Its cells remember more numbers than those of any `JointLaw`; the code of the law is given again."""
    case, pairs = cut(tmp_path)
    whole = run(case, tmp_path / "whole", pairs=pairs)
    for _ in resume_history(tmp_path / "cut", laws=[softening]):
        pass
    gone_on = read_run(tmp_path / "cut")
    assert whole.state(-1).cells.state.shape[1] == 4 + 7
    bond = whole.state(-1).cells.state[:, BOND]
    assert 0.02 < (bond < 0.5).mean() < 0.98
    for one, other in zip(whole.state(-1).cells, gone_on.state(-1).cells, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(whole.position, gone_on.position)
    assert whole.state(-1).energy == gone_on.state(-1).energy


def test_a_run_goes_on_with_the_law_it_began_with_only(tmp_path):
    cut(tmp_path)
    other = partial(resume_history, tmp_path / "cut")
    with pytest.raises(InputError, match=r"user-defined joint law 'softening'.*resume\(folder, laws=\[softening\]\)"):
        next(other())
    changed = lambda *_: None  # noqa: E731
    changed.__name__ = "softening"
    with pytest.raises(InputError, match="'softening' is not the one that the run began with"):
        next(other(laws=[changed]))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda own: own["0"].attrs.modify("memory", 9), r"cells have not 13 numbers each"),
        (lambda own: own["0"].attrs.modify("memory", 10**6), r"own\.memory of the model is 1000000"),
        (lambda own: own["between"].__setitem__((0, 0), 7), r"the user-defined laws do not match"),
    ],
    ids=["another memory", "too much memory", "a law that is not there"],
)
def test_spoilt_laws_of_a_run_are_told(tmp_path, spoil, said):
    cut(tmp_path)
    with h5py.File(tmp_path / "cut" / "run.h5", "r+") as file:
        spoil(file["model/own"])
    with pytest.raises(InputError, match=said):
        read_run(tmp_path / "cut").state(-1)


# ---------------------------------------------------------------- refused


def returns(numbers, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    return opening


def lacks(numbers, opening):
    pass


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (OwnLaw(3.0), r"own\.stress is 3\.0; give a function"),
        (OwnLaw(softening, (1.0, np.nan)), r"own\.numbers\[1\] is nan"),
        (OwnLaw(softening, (1.0, 2.0), memory=-1), r"own\.memory is -1"),
        (OwnLaw(softening, (1.0, 2.0), strengths=(2,)), r"own\.strengths has 2, and there are 2 numbers"),
        (OwnLaw(softening, (1.0, 2.0), reach=-1.0), r"own\.reach is -1\.0"),
        (OwnLaw(returns), r"own\.stress 'returns' is no joint law: it returns float64"),
        (OwnLaw(lacks), r"own\.stress 'lacks' is no joint law"),
    ],
    ids=lambda value: "" if isinstance(value, OwnLaw) else value,
)
def test_what_is_no_law_is_refused(own, said):
    with pytest.raises(InputError, match=said):
        SmallSteps(a_block_on_a_support(JointLaw(0.6, own=own)), gravity=0.0)


def test_who_does_not_know_it_refuses_it():
    model = a_block_on_a_support(TENSION)
    with pytest.raises(InputError, match="only histories by small steps know"):
        next(simulate(model, duration=H, time_step=H, solver=make_solver("native")))
    with pytest.raises(InputError, match="only histories by small steps know"):
        assemble_balance(model)
    with pytest.raises(InputError, match="cohesion, tension, adhesion or crushing is given as well"):
        a_block_on_a_support(JointLaw(0.6, cohesion=1e5, own=TENSION.own))


def test_a_wall_of_one_law_is_built_by_group():
    """Its joints have the law, those of the rest have not."""
    blocks = build.wall(length=1.0, height=0.5, courses=2)
    model = build_model(blocks, friction=0.6, support_friction=TENSION)
    free, fixed = (int(model.bodies.group[model.bodies.fixed == kind][0]) for kind in (False, True))
    assert model.own[free][fixed] == TENSION.own
    assert model.own[free][free] is None
