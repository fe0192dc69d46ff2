"""Structures built in stages. Truths: weights above a joint, springs in series and side by side counted by hand, and what
stands only on its centering."""

import json

import numpy as np
import pytest

from drystone import build
from drystone.analysis.construction import analyse_construction, present_blocks
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.building_stages import build_in_stages, presence_by_stage
from drystone.analysis.statics.rigid_equilibrium import force_bounds
from drystone.base.errors import InputError
from drystone.base.units import GRAVITY
from drystone.build.arch import circular_joints
from drystone.build.shapes import box, prism
from drystone.cli import main
from drystone.engine.contact_laws import RIGID_SURFACE, ContactSurface
from drystone.engine.solvers.native import native
from drystone.io.case import parse_case
from drystone.results.resultants import joint_resultants
from drystone.results.store.run_reader import read_run
from drystone.structure.loads import AppliedLoad, weight_wrench
from drystone.structure.model import build_model

SPRING = 1e8  # [N/m] of a contact point; a joint of two boxes has four
SOFT = ContactSurface(stiffness=SPRING)


def built(model, order=(), strike=(), **options):
    """The last stage."""
    *_, last = build_in_stages(model, presence_by_stage(model, order, strike), solver=native(), surface=SOFT, **options)
    return last


def at_once(model):
    *_, last = build_in_stages(model, [np.ones(len(model.blocks), bool)], solver=native(), surface=SOFT)
    return last


def thrusts(model, laid):
    """[N] by the names of the two blocks."""
    joints = joint_resultants(model, laid.state.contacts)
    return {(model.blocks[a].name, model.blocks[b].name): n for a, b, n in zip(joints.a, joints.b, joints.thrust, strict=True)}


def test_a_column_bears_the_same_either_way_and_sinks_less_in_stages():
    """Determinate: each joint bears what is above it. At once drum i sinks by the shortening of all joints below it under all
    that they bear; in stages only by what is laid from drum i on, since it was laid at its level."""
    model = build_model(build.column(courses=4), friction=0.7)
    drum, joint = GRAVITY * model.bodies.mass[1], 4 * SPRING
    staged, whole = built(model), at_once(model)
    for laid in (staged, whole):
        forces = [thrusts(model, laid)[pair] for pair in
                  (("foundation", "drum-1"), ("drum-1", "drum-2"), ("drum-2", "drum-3"), ("drum-3", "drum-4"))]  # fmt: skip
        np.testing.assert_allclose(forces, drum * np.array([4, 3, 2, 1]), rtol=1e-9)
    sunk = [(model.position - laid.state.position)[1:, 2] for laid in (staged, whole)]
    np.testing.assert_allclose(sunk[0], drum / joint * np.array([4, 6, 6, 4]), rtol=1e-6)
    np.testing.assert_allclose(sunk[1], drum / joint * np.array([4, 7, 9, 10]), rtol=1e-6)


def three_props():
    """A beam on three equal props with a load in its middle."""
    props = [box((x - 0.2, -0.2, 0.0), (x + 0.2, 0.2, 1.0), name=name) for name, x in
             (("left", -2.0), ("middle", 0.0), ("right", 2.0))]  # fmt: skip
    ground = box((-3.0, -1.0, -1.0), (3.0, 1.0, 0.0), name="ground", fixed=True)
    beam = box((-2.5, -0.2, 1.0), (2.5, 0.2, 1.4), name="beam")
    return build_model([ground, *props, beam, box((-0.5, -0.2, 1.4), (0.5, 0.2, 2.4), name="load")], friction=0.7)


def test_a_beam_on_three_props():
    """At once each prop bears a third. In stages the outer ones have the beam alone; the middle one is set under it, sinks by
    its own weight w at the lower of its two joints in series, and bears nothing until the load P has closed that gap:
    P / 3 - w / 3."""
    model = three_props()
    prop, beam, load = GRAVITY * model.bodies.mass[[1, 4, 5]]
    staged = thrusts(model, built(model, [("left", "right"), "beam", "middle", "load"]))
    outer = beam / 2 + load / 3 + prop / 6
    np.testing.assert_allclose([staged[name, "beam"] for name in ("left", "middle", "right")],
                               [outer, load / 3 - prop / 3, outer], rtol=1e-6)  # fmt: skip
    whole = thrusts(model, at_once(model))
    np.testing.assert_allclose([whole[name, "beam"] for name in ("left", "middle", "right")], (beam + load) / 3, rtol=1e-6)


def test_a_load_acts_when_its_block_is_there():
    """The beam pushed down by F before the middle prop is set: F / 2 on the outer ones, nothing on the middle one but P."""
    model = three_props()
    prop, beam, load = GRAVITY * model.bodies.mass[[1, 4, 5]]
    order = [("left", "right"), "beam", "middle", "load"]
    force = built(model, order, loads=[AppliedLoad(on="beam", force=5e4)])
    assert thrusts(model, force)["left", "beam"] == pytest.approx(beam / 2 + load / 3 + prop / 6 + 2.5e4, rel=1e-6)


def test_courses_by_their_beds():
    """Counted: a wall of three courses of 4, 5 and 4 stones; a support is there from the start; nothing is there twice."""
    model = build_model(build.wall(courses=3, blocks=4), friction=0.6)
    stages = presence_by_stage(model, ())
    assert [int((stage & ~model.bodies.fixed).sum()) for stage in stages] == [4, 9, 13]
    assert all(stage[model.bodies.fixed].all() for stage in stages)


def arch_on_centering():
    """Seven voussoirs over a rigid block that fills the polygon of their inner corners."""
    arch = build.arch(radius=2.0, thickness=0.5, embrace=np.deg2rad(150), blocks=7, depth=0.5)
    outline, _ = circular_joints("arch", 2.0, 0.5, np.deg2rad(150), 7)
    return build_model([*arch, prism(outline, (-0.25, 0.25), name="centering", fixed=True)], friction=0.7)


def test_an_arch_on_its_centering():
    """Laid without it, a stage falls. Laid on it and struck, the arch bears itself: the abutments bear the weight and push with
    a thrust between the least and the largest that balance allows (T32)."""
    model = arch_on_centering()
    alone = build_model(model.blocks[:-1], friction=0.7)
    stages = list(build_in_stages(alone, presence_by_stage(alone, ()), solver=native(), surface=SOFT))
    assert not stages[-1].balance.stands
    assert len(stages) < 4
    assert np.array_equal(stages[-1].state.position[~stages[-1].present], model.position[:-1][~stages[-1].present])
    *on, struck = build_in_stages(model, presence_by_stage(model, (), ["centering"]), solver=native(), surface=SOFT)
    assert all(stage.balance.stands for stage in [*on, struck])
    assert [int(stage.present.sum()) for stage in on] == [5, 7, 9, 10]  # abutments, centering, and voussoirs from both sides
    contacts, right = struck.state.contacts, [block.name for block in model.blocks].index("abutment-right")
    sign = (contacts.a == right).astype(float) - (contacts.b == right)
    push = sign @ contacts.impulse
    assert 2 * push[2] == pytest.approx(GRAVITY * model.bodies.mass[~model.bodies.fixed].sum(), rel=1e-5)
    least, largest = force_bounds(
        assemble_balance(alone), weight_wrench(alone, GRAVITY), ("abutment-right", "arch"), (-1.0, 0.0, 0.0)
    )
    assert least < -push[0] < largest


def test_what_is_struck_bears_nothing():
    """The middle of three props struck again: the beam is back on two, half each."""
    model = three_props()
    _, beam, load = GRAVITY * model.bodies.mass[[1, 4, 5]]
    last = built(model, [("left", "middle", "right"), "beam", "load"], strike=["middle"])
    found = thrusts(model, last)
    assert ("middle", "beam") not in found
    assert found["left", "beam"] == pytest.approx((beam + load) / 2, rel=1e-6)
    assert not last.present[2]


@pytest.mark.parametrize(("order", "said"), [
    (["left", "right", "beam", "load"], "'middle' is in no stage"), (["pillar"], "'pillar'"),
])  # fmt: skip
def test_orders_that_cannot_be(order, said):
    with pytest.raises(InputError, match=said):
        presence_by_stage(three_props(), order)


def test_rigid_contact_is_refused():
    model = three_props()
    with pytest.raises(InputError, match="compliant"):
        next(build_in_stages(model, presence_by_stage(model, ()), solver=native(), surface=RIGID_SURFACE))


CASE = """
[structure]
generator = "wall"
length = "3 m"
height = "1.5 m"
thickness = "0.3 m"
courses = 6
blocks = 6
openings = [{ at = "1 m", sill = "0.25 m", width = "1 m", height = "0.75 m" }]
[joints]
friction = 0.5
[analysis]
kind = "construction"
[solver]
young = "60 GPa"
"""


def test_a_wall_with_a_window_in_a_case(tmp_path, capsys):
    """The supports bear the weight in every stage, to 1e-6; the order matters to the forces of some joint by more than 1 %.
    Counted: the stones that are there, and drawn, in each stage."""
    case = tmp_path / "case.toml"
    case.write_text(CASE, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        main(["run", str(case), "-o", str(tmp_path / "out"), "--json"])
    assert end.value.code == 0
    facts = json.loads(capsys.readouterr().out)
    stages = facts["stages"]
    assert facts["stable"]
    assert len(stages["blocks"]) == facts["planned_stages"] == 6
    np.testing.assert_allclose(stages["base_resultant"], stages["pressing"], rtol=1e-6)
    assert stages["pressing"][-1] == pytest.approx(facts["weight"])
    assert 0.01 < facts["change_by_stages"]["largest_change"] < 1
    run = read_run(tmp_path / "out")
    assert present_blocks(run, 0) is None
    shown = [present_blocks(run, frame)[~run.model.bodies.fixed].sum() for frame in range(1, 7)]
    assert shown == stages["blocks"] == [6, 12, 16, 22, 27, 34]


def test_mortar_is_refused():
    case = parse_case(CASE.replace("friction = 0.5", 'friction = 0.5\ncohesion = "0.1 MPa"'))
    with pytest.raises(InputError, match="mortar"):
        list(analyse_construction(case, case.model()))


def test_a_stage_that_falls_is_told(tmp_path, capsys):
    case = tmp_path / "case.toml"
    arch = '[structure]\ngenerator = "arch"\nblocks = 7\n[joints]\nfriction = 0.7\n'
    case.write_text(arch + '[analysis]\nkind = "construction"\n[solver]\nyoung = "30 GPa"\n', encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["run", str(case), "-o", str(tmp_path / "out"), "--json", "--picture"])
    facts = json.loads(capsys.readouterr().out)
    assert not facts["stable"]
    assert facts["falls"]
    assert len(read_run(tmp_path / "out").contacts(-1).gap)  # of the moment before it falls
    assert (tmp_path / "out/forces.png").exists()
    assert len(facts["stages"]["blocks"]) < facts["planned_stages"]
