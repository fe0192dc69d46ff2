"""Histories without inertia: truths are geometry, weight, and independence of the rate."""

import json

import numpy as np
import pytest

from drystone import build
from drystone.analysis.dynamics import record_history, resume_history
from drystone.analysis.settlement import support_path
from drystone.analysis.statics.building_stages import build_in_stages
from drystone.analysis.statics_run import analyse_case
from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build import Opening
from drystone.build.shapes import box
from drystone.cli import main
from drystone.contact.contacts import head_joint_opening
from drystone.engine.contact_laws import RIGID_SURFACE, ContactSurface
from drystone.engine.simulation import simulate
from drystone.engine.solvers.methods import make_solver
from drystone.ground.motion import Motion
from drystone.io.case import parse_case, read_case
from drystone.results.measures import balanced_from, head_joint_openings
from drystone.results.store.run_reader import read_run
from drystone.show.page.run_head import curves
from drystone.show.page.shown_run import SERVER_BUDGET, ShownRun
from drystone.show.pictures.moment import moment_at_frame, moment_label
from drystone.structure.deformable_blocks import Stone, elastic_modes, elements, matrices, mesh_nodes, rigid_modes
from drystone.structure.model import build_model
from drystone.validation.acary_jean import SCHEMES, apply_weight

SPREAD = 0.05  # [m]


def spread_arch(*, duration, time_step, from_rest):
    """Two voussoirs on abutments of which the right one moves out: a model and its last step, half a second later."""
    model = build_model(build.arch(radius=2.0, thickness=0.5, embrace=np.deg2rad(120), blocks=2, depth=0.5), friction=2.0)
    motion = Motion("settlement", displacement_amplitude=SPREAD, duration=duration, direction=(1, 0, 0),
                    supports=("abutment-right",))  # fmt: skip
    *_, last = simulate(model, [motion], duration=duration + 0.5, time_step=time_step, theta=1.0,
                        from_rest=from_rest, solver=make_solver("native"))  # fmt: skip
    return model, last.state


@pytest.mark.parametrize(("time_step", "from_rest"), [(0.01, True), (0.05, False)])
@pytest.mark.parametrize("duration", [1.0, 3.0])
def test_a_spread_arch_stands_on_three_hinges(time_step, from_rest, duration):
    """Hinges at the inner corners of the springings and the outer corner of the crown; the bars between them keep their
    length while half the span grows by half the spread. The rate does not matter, and the supports bear the weight."""
    model, state = spread_arch(duration=duration, time_step=time_step, from_rest=from_rest)
    corners = model.blocks[2].vertices
    foot, crown = corners[corners[:, 2].argmin()], corners[corners[:, 2].argmax()]
    half, rise = foot[0], crown[2] - foot[2]
    drop = rise - np.sqrt(rise**2 + half**2 - (half + SPREAD / 2) ** 2)
    moved = state.position[2] + quaternion.rotate(state.rotation[2], crown - model.position[2]) - crown
    assert moved[2] == pytest.approx(-drop, rel=1e-3)
    assert moved[0] == pytest.approx(SPREAD / 2, rel=1e-3)
    contacts, fixed = state.contacts, model.bodies.fixed
    push = contacts.impulse[fixed[contacts.a], 2].sum() / time_step
    assert push == pytest.approx(GRAVITY * model.bodies.mass[~fixed].sum(), rel=1e-5)


def test_a_block_from_rest_falls_by_the_same_way_every_step():
    """T43: g h^2 a step, however long it falls; the kinetic energy taken out is booked as numerical dissipation."""
    blocks = build.block(width=1.0, depth=1.0, height=1.0)
    lifted = [blocks[0], type(blocks[1])(blocks[1].vertices + [0, 0, 2.0], blocks[1].faces, name="block")]
    model = build_model(lifted, friction=0.5)
    h, solver = 0.01, make_solver("native")
    states = [s.state for s in simulate(model, duration=0.1, time_step=h, theta=1.0, from_rest=True, solver=solver)]
    heights = np.array([model.position[1, 2], *(state.position[1, 2] for state in states)])
    np.testing.assert_allclose(np.diff(heights), -GRAVITY * h**2, rtol=1e-9)
    first, last = states[0].energy, states[-1].energy
    assert last.kinetic == pytest.approx(first.kinetic, rel=1e-9)
    assert last.kinetic + last.potential + last.numerical == pytest.approx(
        first.kinetic + first.potential + first.numerical, rel=1e-12
    )


SETTLED_WALL = """
[structure]
generator = "wall-over-gap"
length = "6 m"
height = "3 m"
thickness = "0.3 m"
span = 0
courses = 4
blocks = 4
density = "2700 kg/m3"
[joints]
friction = 0.5
support = { friction = 1.0 }
[motion]
pulse = "settlement"
displacement = "20 mm"
duration = "4 s"
start = "100 ms"
supports = ["support-right"]
[analysis]
kind = "settlement"
scheme = "velocity-zeroing"
duration = "5 s"
time_step = "50 ms"
[output]
every = "100 ms"
"""  # half of AJ's wall settles, by their own scheme


def test_a_settled_wall_in_a_case(tmp_path, capsys):
    """Supports bear the weight when all is still again; cut and resumed, it is the same to the bit."""
    case = tmp_path / "case.toml"
    case.write_text(SETTLED_WALL, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(["run", str(case), "-o", str(tmp_path / "out"), "--json"])
    assert end.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    base = facts["base_resultant"]
    assert len(base["force"]) == len(base["time"]) == facts["frames"]
    assert base["force"][-1] == pytest.approx(base["weight"], rel=1e-3)
    assert base["weight"] == pytest.approx(2700 * GRAVITY * 6 * 3 * 0.3, rel=1e-3)
    assert base["balanced_from"] is None  # it still creeps (T43): 4e-4 of the weight is in motion
    assert len(facts["head_joint_openings"]) == facts["frames"]
    pytest.importorskip("matplotlib")
    with pytest.raises(SystemExit) as end:
        main(["plot", str(tmp_path / "out"), "-o", str(tmp_path / "base.png"), "--what", "base", "--json"])
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["plots"] == [str(tmp_path / "base.png")]
    assert (tmp_path / "base.png").read_bytes()[:4] == b"\x89PNG"
    cut = tmp_path / "cut"
    steps = record_history(read_case(case), cut)
    for _ in range(40):
        next(steps)
    steps.close()
    for _ in resume_history(cut):
        pass
    whole, resumed = read_run(tmp_path / "out"), read_run(cut)
    assert np.array_equal(whole.position[-1], resumed.position[-1])
    assert np.array_equal(whole.rotation[-1], resumed.rotation[-1])


STONE = ContactSurface(young=60e9, relaxation=0.0)  # AJ has no damping
DURATION = {"velocity-zeroing": 0.02, "large-steps": 0.03, "dynamics": 0.01}  # [s]


@pytest.fixture(scope="module")
def window_wall():
    """A wall of AJ's stones with a window, six courses high: unlike a plain one it does not sink by courses."""
    window = Opening(at=1.0, sill=0.25, width=1.0, height=0.75)
    blocks = build.wall(length=3.0, height=1.5, thickness=0.3, courses=6, blocks=6, density=2700.0, openings=(window,))
    return build_model(blocks, friction=0.5, support_friction=1.0)


def static_opening(model):
    """[m] of the widest head joint."""
    whole = [np.ones(len(model.blocks), bool)]
    *_, statics = build_in_stages(model, whole, solver=make_solver("native"), surface=STONE)
    return head_joint_opening(statics.state.contacts)


@pytest.mark.parametrize("scheme", ["velocity-zeroing", "large-steps"])
@pytest.mark.parametrize("surface", [RIGID_SURFACE, STONE], ids=lambda surface: surface.words)
def test_supports_come_to_bear_the_weight(window_wall, scheme, surface):
    """The bar of H11, 1e-4, by both schemes. Rigid blocks do not move at all; compliant ones end with the head joints that
    statics gives them."""
    _, base, head = apply_weight(window_wall, DURATION[scheme], surface, **SCHEMES[scheme.replace("-", " ")])
    assert balanced_from(np.arange(len(base)), base, 1.0) is not None
    if surface is RIGID_SURFACE:
        assert head.max() < 1e-12
        return
    assert static_opening(window_wall) > 1e-8
    assert head[-1] == pytest.approx(static_opening(window_wall), rel=0.05)


def test_dynamics_cracks_head_joints(window_wall):
    """AJ figure 4: put under its weight at once the wall swings, and its head joints open several times as wide."""
    _, base, head = apply_weight(window_wall, DURATION["dynamics"], STONE, **SCHEMES["dynamics"])
    assert base.max() > 1.2
    assert abs(base[-len(base) // 10 :] - 1.0).max() > 1e-4  # it still swings in the end
    assert head.max() > 3 * static_opening(window_wall)


def test_balanced_from():
    """Counted: off at 0 and 2 s; then never; then at the end."""
    time = np.arange(5.0)
    assert balanced_from(time, np.array([9.0, 10, 11, 10, 10]), 10.0) == 3.0
    assert balanced_from(time, np.full(5, 10.0005), 10.0) == 0.0
    assert balanced_from(time, np.array([10.0, 10, 10, 10, 9.99]), 10.0) is None


def test_a_head_joint_opens_by_what_its_support_moves_away(tmp_path):
    """Two blocks on two supports of which the right one goes away by 20 mm, farther than contact detection looks: by then the
    joint between the blocks is 20 mm wide, and half of that half-way."""
    text = SETTLED_WALL.replace("courses = 4", "courses = 1").replace("blocks = 4", "blocks = 2")
    text = text.replace('"20 mm"', '"20 mm"\ndirection = [1, 0, 0]')
    case = tmp_path / "case.toml"
    case.write_text(text, encoding="utf-8")
    for _ in record_history(read_case(case), tmp_path / "out"):
        pass
    run = read_run(tmp_path / "out")
    widest = head_joint_openings(run)
    assert widest[0] == 0.0
    assert widest[-1] == pytest.approx(0.02, rel=1e-6)
    assert widest[abs(run.time - 2.1).argmin()] == pytest.approx(0.01, rel=1e-6)


CORNERS = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 0.7) for x in (0.0, 1.2)])


def test_rigid_modes_are_what_a_singular_value_decomposition_leaves_without_stiffness():
    """T358: six directions, the translations and turns of the nodes; the elastic modes have neither momentum nor moment of
    momentum in them."""
    stone, mesh = Stone(1e9, 0.2, (2, 1, 2)), (2, 1, 2)
    corner = CORNERS + 0.1 * np.sin(7 * CORNERS[:, ::-1])  # no box
    place, element = mesh_nodes(corner, mesh), elements(mesh)
    stiffness, mass = matrices(place, element, 2000.0, stone)
    found = rigid_modes(stiffness)
    still = [np.tile(axis, (len(place), 1)) for axis in np.eye(3)] + [np.cross(axis, place) for axis in np.eye(3)]
    rigid = np.stack([each.ravel() for each in still], axis=1)
    assert found.shape == (3 * len(place), 6)
    assert np.linalg.matrix_rank(np.concatenate([found, rigid], axis=1), tol=1e-8) == 6
    mode, _, _ = elastic_modes(place, element, 2000.0, stone)
    assert np.abs(found.T @ mass @ mode).max() < 1e-8 * np.sqrt(np.abs(mass).max())


@pytest.mark.parametrize("time_step", [0.01, 0.1])
def test_without_inertia_of_modes_a_column_has_its_stress_in_two_steps(time_step):
    """A bar of height H, without lateral strain's part: rho g (H - z) of pressure everywhere, strain energy
    (rho g)^2 A H^3 / 6 E, whatever the step; and the support bears the weight."""
    young, density, count = 1e9, 2000.0, 3
    stones = [box((-0.5, -0.5, -0.5), (1.5, 1.5, 0), fixed=True, name="support")]
    stones += [box((0, 0, k), (1, 1, k + 1), density=density, name=f"drum-{k}") for k in range(count)]
    model = build_model(stones, friction=0.6, deformable=[Stone(young, 0.0, (1, 1, 3))])
    *_, last = simulate(model, duration=4 * time_step, time_step=time_step, theta=1.0, from_rest=True,
                        modal_mass=0.0, solver=make_solver("native"))  # fmt: skip
    energy = (density * GRAVITY) ** 2 * count**3 / (6 * young)
    assert last.state.energy.strain == pytest.approx(energy, rel=0.01)
    contacts = last.state.contacts
    push = contacts.impulse[model.bodies.fixed[contacts.a], 2].sum() / time_step
    assert push == pytest.approx(density * GRAVITY * count, rel=1e-3)


def test_rigid_modes_need_deformable_blocks():
    with pytest.raises(InputError, match="give deformable in"):
        parse_case(SETTLED_WALL.replace("velocity-zeroing", "rigid-modes")).model()


MOVED_WALL = (
    SETTLED_WALL[: SETTLED_WALL.index("[motion]")]
    + """
[analysis]
kind = "settlement"
increments = 2
[[analysis.moves]]
support = "support-right"
dz = "-1 mm"
"""
)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("increments = 2", 'duration = "2 s"', "and no duration"),
        ("increments = 2", 'integrator = "rk4"', "small-steps"),
        ("increments = 2", "increments = 0", "increments"),
        ('"support-right"', '"support-rigt"', "support-right"),
        ('"support-right"', '"block-1-1"', "no support is named"),
        ('kind = "settlement"', 'kind = "settlement"\ngravity = 0', "gravity is 0"),
        ("[analysis]", '[motion]\npulse = "one-sine"\namplitude = 1.0\nhalf_period = 1.0\n[analysis]', "does not settle"),
        ("[analysis]", SETTLED_WALL[SETTLED_WALL.index("[motion]") : SETTLED_WALL.index("[analysis]")] + "[analysis]",
         "give one of the two"),
        ("[analysis]", '[[load]]\non = "block-1-1"\nforce = 1.0\nlive = true\n[analysis]', "has no load multiplier"),
    ],
)  # fmt: skip
def test_what_a_settlement_does_not_know_is_refused_with_the_cure(old, new, said):
    def computed():
        case = parse_case(MOVED_WALL.replace(old, new))
        return list(analyse_case(case, case.model()))

    with pytest.raises(InputError, match=said):
        computed()


def test_the_way_of_supports_is_cut_into_equal_parts():
    """Two supports, one after the other by motions: 20 mm in all, of which the first half is that of one; how long they take
    does not matter. By moves: all at once."""

    def motion(name, start, lasts):
        return (f'[[motion]]\npulse = "settlement"\ndisplacement = "10 mm"\nduration = {lasts}\nstart = {start}\n'
                f'supports = ["{name}"]\n')  # fmt: skip

    head = MOVED_WALL[: MOVED_WALL.index("[[analysis.moves]]")].replace("increments = 2", "increments = 4")
    found = []
    for lasts in (1.0, 50.0):
        case = parse_case(head + motion("support-left", 0.0, lasts) + motion("support-right", lasts, lasts))
        model = case.model()
        left, right = ([block.name for block in model.blocks].index(f"support-{side}") for side in ("left", "right"))
        path = support_path(case, model)
        np.testing.assert_allclose(path[:, left, 2], [0, -0.005, -0.01, -0.01, -0.01], atol=1e-4)
        np.testing.assert_allclose(path[:, right, 2], [0, 0, 0, -0.005, -0.01], atol=1e-4)
        found.append(path)
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    case = parse_case(MOVED_WALL.replace("increments = 2", "increments = 4"))
    np.testing.assert_allclose(support_path(case, model)[:, right, 2], -1e-3 * np.linspace(0, 1, 5), atol=1e-12)


def test_a_settlement_is_an_analysis_with_frames_and_facts(tmp_path, capsys):
    """Half a wall goes down by 1 mm: both supports are told at every increment, together they bear the weight, and joints as
    wide as what was gone have opened."""
    case = tmp_path / "case.toml"
    case.write_text(MOVED_WALL, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(["run", str(case), "-o", str(tmp_path / "out"), "--json"])
    assert end.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["stable"], facts["verdict"], facts["falls_from"]) == (True, "stays in balance", None)
    np.testing.assert_allclose(facts["settlement"], [0, 0.0005, 0.001], atol=1e-12)
    sides = [np.array(facts["supports"][name]["reaction"]) for name in ("support-left", "support-right")]
    np.testing.assert_allclose(sides[0] + sides[1], np.tile([0, 0, facts["weight"]], (3, 1)), atol=1e-4 * facts["weight"])
    assert sides[0][0, 2] == pytest.approx(sides[1][0, 2], rel=1e-3)  # under the weight alone it is symmetric
    assert sides[1][2, 2] < sides[0][2, 2]
    assert facts["supports"]["support-right"]["moved"][2] == pytest.approx([0, 0, -0.001])
    widths = [crack["width"] for crack in facts["cracks"]]
    assert widths == sorted(widths, reverse=True)
    assert 0.0005 < facts["widest_crack"][2] == widths[0] < 0.0011
    run = read_run(tmp_path / "out")
    assert run.frames == 4
    assert moment_label(run, moment_at_frame(run, -1)) == "stage 3"
    assert not run.velocity.any()
    (curve,) = curves(ShownRun(tmp_path / "out", SERVER_BUDGET))
    assert curve["axis"] == ("settlement", "mm")
    assert [series["label"] for series in curve["series"]] == ["support-left", "support-right"]
    pytest.importorskip("matplotlib")
    with pytest.raises(SystemExit) as end:
        main(["plot", str(tmp_path / "out"), "-o", str(tmp_path / "reactions.png"), "--what", "settlement"])
    assert end.value.code == 0
    assert (tmp_path / "reactions.png").read_bytes()[:4] == b"\x89PNG"
