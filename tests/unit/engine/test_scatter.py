"""Friction that differs from joint to joint: its mean and scatter, and that it hangs on names and a seed only."""

import h5py
import numpy as np
import pytest

from drystone.analysis.dynamics import case_solver, simulate_case
from drystone.analysis.statics.balance import assemble_balance
from drystone.base.errors import InputError
from drystone.engine.simulation import initial_state
from drystone.io.case import parse_case
from drystone.results.store.stored_model import read_model, write_model
from drystone.structure.joint_laws import JointLaw, Scatter
from drystone.structure.model import build_model
from tests.unit.synthetic import boxes

CASE = """
[structure]
generator = "wall"
length = 2.0
height = 1.0
thickness = 0.3
courses = 4
blocks = 4

[joints]
friction = 0.6
{scatter}

[analysis]
duration = 0.02
time_step = 0.005
"""


def wall(scatter="", **instead):
    return parse_case(CASE.format(scatter=scatter), overrides=instead)


@pytest.mark.parametrize("distribution", ["lognormal", "uniform"])
def test_mean_and_scatter_of_many_joints(distribution):
    """All pairs of 1000 blocks: mean and cov have standard errors of about cov / sqrt(500 000) = 2e-4; five of them."""
    scatter = Scatter(0.15, seed=3, distribution=distribution)
    codes = scatter.codes([f"block-{i}" for i in range(1000)])
    one, other = np.triu_indices(1000, 1)
    factors = scatter.factors(codes[one], codes[other])
    assert factors.mean() == pytest.approx(1, abs=1.1e-3)
    assert factors.std() == pytest.approx(0.15, abs=1.1e-3)
    assert factors.min() > 0
    of_one_block = np.array([scatter.factors(codes[:1], codes[i : i + 1])[0] for i in range(1, 1000)])
    of_next_block = np.array([scatter.factors(codes[1:2], codes[i : i + 1])[0] for i in range(1, 1000)])
    assert abs(np.corrcoef(of_one_block[1:], of_next_block[1:])[0, 1]) < 0.16  # five times 1 / sqrt(1000): independent


def test_lognormal_quantiles():
    """Median 1 / sqrt(1 + cov^2), and one standard deviation of the logarithm above it at 0.8413 (Phi(1))."""
    low, high = Scatter(0.5).quantile(np.array([0.5, 0.8413447460685429]))
    assert low == pytest.approx(1 / np.sqrt(1.25))
    assert high == pytest.approx(low * np.exp(np.sqrt(np.log(1.25))))


def test_order_of_blocks_changes_nothing():
    blocks = wall().blocks()
    there = build_model(blocks, friction=0.6, scatter=Scatter(0.2, 5))
    back = build_model(blocks[::-1], friction=0.6, scatter=Scatter(0.2, 5))

    def by_names(model):
        found, name = assemble_balance(model), [block.name for block in model.blocks]
        pairs = zip(found.contacts.a, found.contacts.b, found.friction, strict=True)
        return {frozenset((name[a], name[b])): mu for a, b, mu in pairs}

    assert by_names(there) == by_names(back)
    assert len(set(by_names(there).values())) == len(by_names(there))  # each joint its own
    other = build_model(blocks, friction=0.6, scatter=Scatter(0.2, 6))
    assert by_names(other) != by_names(there)


def test_mean_is_that_of_the_pair():
    blocks = wall().blocks()
    model = build_model(blocks, friction=0.0, support_friction=0.5, scatter=Scatter(0.2, 5))
    found = assemble_balance(model)
    at_support = model.bodies.fixed[found.contacts.a] | model.bodies.fixed[found.contacts.b]
    assert (found.friction[~at_support] == 0).all()
    assert (found.friction[at_support] > 0).all()


def end_of(case):
    model = case.model()
    return list(simulate_case(case, model, initial_state(model, case.analysis.gravity), case_solver(case)))[-1].state


def test_no_scatter_is_the_same_to_the_bit():
    given = ("", "scatter = { cov = 0 }", "scatter = { cov = 0.3, seed = 1 }")
    plain, zero, some = (end_of(wall(scatter)) for scatter in given)
    assert plain.position.tobytes() == zero.position.tobytes()
    assert plain.contacts.impulse.tobytes() == zero.contacts.impulse.tobytes()
    assert plain.contacts.impulse.tobytes() != some.contacts.impulse.tobytes()  # the same friction bears other forces


def test_seed_is_a_place_of_the_case():
    one, two = (wall("scatter = { cov = 0.1 }", **{"joints.scatter.seed": seed}).model() for seed in (1, 2))
    assert (one.scatter.seed, two.scatter.seed) == (1, 2)


def test_it_is_stored_with_a_run(tmp_path):
    model = build_model(boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0]).blocks, friction=0.5, scatter=Scatter(0.1, 7, "uniform"))
    with h5py.File(tmp_path / "model.h5", "w") as file:
        write_model(file, model)
        assert read_model(file).scatter == model.scatter


@pytest.mark.parametrize(
    ("scatter", "said"),
    [
        ("scatter = { cov = -0.1 }", "cov"),
        ('scatter = { cov = 0.6, distribution = "uniform" }', "below 0.577"),
        ('scatter = { cov = 0.1, distribution = "normal" }', "distribution"),
    ],
)
def test_what_cannot_be_is_refused(scatter, said):
    with pytest.raises(InputError, match=said):
        wall(scatter)


def test_mortar_does_not_scatter():
    with pytest.raises(InputError, match="dry joints"):
        build_model(wall().blocks(), friction=JointLaw(0.6, cohesion=1e5), scatter=Scatter(0.1))
