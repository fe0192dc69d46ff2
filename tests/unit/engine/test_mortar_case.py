"""Laws of joints in a case: each key ends in its number, rules go by pair, mistakes are told with key and cure; a run of
mortared joints that is cut and resumed has the bits of one that never stopped."""

import numpy as np
import pytest

from drystone.analysis.dynamics import record_history, resume_history, run
from drystone.base.errors import InputError
from drystone.io.case import parse_case
from drystone.results.store.run_reader import read_run

CASE = """\
[structure]
parts = [
    { name = "lower", generator = "block", width = "1 m", depth = "1 m", height = "1 m" },
    { name = "upper", generator = "block", width = "1 m", depth = "1 m", height = "1 m", at = ["3 m", 0, 0] },
]
[joints]
friction = 0.6
JOINTS
[analysis]
integrator = "cone-program"
duration = "0.1 s"
time_step = "1 ms"
"""


def laws(joints, solver=""):
    """The case with these lines in [joints], its model, and the rows of a free block and of a support in its tables."""
    case = parse_case(CASE.replace("JOINTS", joints) + solver)
    model = case.model()
    fixed = model.bodies.fixed
    return case, model, int(model.bodies.group[~fixed][0]), int(model.bodies.group[fixed][0])


def test_every_key_ends_in_its_number():
    case, model, free, base = laws(
        'cohesion = "0.3 MPa"\ntension = "200 kPa"\nnormal_stiffness = "10 GPa/m"\nshear_stiffness = "4 N/mm3"\n'
        'crushing = "5 MPa"\n'
        "brittle = true\nsupport = { friction = 0.4, cohesion = 0 }"
    )
    found = [float(table[free, free]) for table in model.laws]
    assert found == [0.3e6, 200e3, 1.0, 10e9, 4e9, 5e6, 0.0, 0.0, 0.0, 0.0]
    assert model.friction[free, base] == 0.4
    assert [float(table[free, base]) for table in model.laws][:4] == [0.0, 0.0, 0.0, 10e9]  # the bond is taken off, no more
    assert case.surface.compliant


def test_adhesion_and_the_cone_given_by_half():
    _, model, free, base = laws(
        'tension = "0.1 MPa"\nrule = [{ between = ["support", "block"], adhesion = { energy = "50 J/m2", '
        'normal_stiffness = "10 GPa/m", viscosity = "3 N s/m" } }]'
    )
    assert model.laws.cohesion[free, free] == pytest.approx(0.6 * 0.1e6)  # the apex is at the tension
    assert model.laws.cohesion[base, free] == 0
    assert [float(table[base, free]) for table in model.laws][6:] == [50.0, 3.0, 10e9, 10e9]
    assert model.bodies.grip.max() == pytest.approx(0.5 * np.sqrt(50 / 10e9 / 1e-3))


def test_dry_joints_have_no_laws_and_stay_rigid():
    case, model, _, _ = laws("")
    assert model.laws is None
    assert not case.surface.compliant


@pytest.mark.parametrize(
    ("joints", "solver", "said"),
    [
        ('cohesion = "3 m"', "", r"joints.cohesion: '3 m': 'm' is not a unit of stress"),
        ('cohesion = "0.1 MPa"\ntension = "1 MPa"', "", r"tension is 1e\+06 Pa, beyond the apex .* = 166667 Pa; give"),
        ('cohesion = "0.1 MPa"', '[solver]\ncontact = "rigid"', 'solver.contact: .* need contact = "compliant"; remove'),
        ("brittle = true", "", "brittle is true and there is no cohesion to lose"),
        ('adhesion = { energy = "50 J/m2" }', "", "joints.adhesion.normal_stiffness: is missing; give a number in SI"),
        (
            'cohesion = "0.1 MPa"\nadhesion = { energy = 50, normal_stiffness = 1e9 }', "",
            "adhesion is given, and cohesion or tension as well; give one of the two",
        ),
        ('rule = [{ between = ["support", "arch"], cohesion = 1 }]', "", "no block is in group 'arch'"),
        ('support = { friction = 0, cohesion = "1 MPa" }', "", "friction at supports is 0 and there is cohesion"),
    ],
)  # fmt: skip
def test_mistakes_are_told(joints, solver, said):
    with pytest.raises(InputError, match=said):
        laws(joints, solver)


SHAKEN = """\
[structure]
generator = "wall"
length = "1.2 m"
height = "0.6 m"
courses = 3
blocks = 3
[joints]
friction = 0.6
crushing = "20 kPa"
LAW
[motion]
pulse = "one-sine"
amplitude = "1.2 g"
half_period = "50 ms"
[analysis]
integrator = "cone-program"
duration = "60 ms"
time_step = "1 ms"
[output]
every = "10 ms"
"""


@pytest.mark.parametrize(
    "law", ['cohesion = "10 kPa"', 'adhesion = { energy = "0.02 J/m2", normal_stiffness = "1 GPa/m" }'], ids=["cone", "glue"]
)
def test_a_run_that_is_cut_and_resumed_keeps_its_bits(tmp_path, law):
    case = parse_case(SHAKEN.replace("LAW", law))
    whole = run(case, tmp_path / "whole")
    steps = record_history(case, tmp_path / "cut")
    for _ in range(33):
        next(steps)
    steps.close()
    for _ in resume_history(tmp_path / "cut"):
        pass
    after = read_run(tmp_path / "cut")
    last, again = whole.state(-1), after.state(-1)
    for one, other in zip((*last[2:5], *last.contacts), (*again[2:5], *again.contacts), strict=True):
        np.testing.assert_array_equal(one, other)
    assert last.energy == again.energy
    assert last.energy.fracture > 0
    assert np.any(last.contacts.bond < 1)
    assert np.any(last.contacts.bond > 0)
    assert np.any(last.contacts.crushed > 0)
