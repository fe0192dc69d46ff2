"""Measures of motions whose answer is known in closed form."""

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.base.quaternion import product, rotate, rotation_vector
from drystone.results import measures
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from tests.unit.synthetic import boxes, start, steps

TIME = np.linspace(0.0, 10.0, 201)
RATE = 1.3  # [rad/s] about z: two whole turns within TIME


@pytest.fixture(scope="module")
def spinning(tmp_path_factory):
    """A cube that turns about z and rises at 0.5 m/s; a second one at rest."""
    folder = tmp_path_factory.mktemp("spinning")
    state = start(boxes([[1, 2, 0.5], [9, 9, 0.5]], fixed=[1]))
    with RunWriter.create(folder, "", boxes([[1, 2, 0.5], [9, 9, 0.5]], fixed=[1]), state, every_steps=1) as writer:
        for sample in steps(state, len(TIME) - 1):
            t = TIME[sample.state.step]
            position, rotation = state.position.copy(), state.rotation.copy()
            position[0, 2] += 0.5 * t
            rotation[0] = [np.cos(RATE * t / 2), 0.0, 0.0, np.sin(RATE * t / 2)]
            velocity = np.zeros((2, 6))
            velocity[0] = [0.0, 0.0, 0.5, 0.0, 0.0, RATE]
            potential = state.energy._replace(potential=100.0 * (1 - 0.05 * t), kinetic=1.0)
            moved = sample.state._replace(
                time=float(t), position=position, rotation=rotation, velocity=velocity, energy=potential
            )
            sample.state = moved
            writer.add(sample)
    return read_run(folder)


def test_displacement_of_centroids(spinning):
    moved = measures.centroid_displacement(spinning)
    np.testing.assert_allclose(moved[:, 0], np.outer(TIME, [0, 0, 0.5]), atol=1e-14)
    assert not moved[:, 1].any()


def test_displacement_of_a_material_point(spinning):
    corner = np.array([1.5, 2.5, 0.0])
    moved = measures.point_displacement(spinning, "stone 0", corner)
    c, s = np.cos(RATE * TIME), np.sin(RATE * TIME)
    x, y = 0.5 * c - 0.5 * s, 0.5 * s + 0.5 * c  # the arm (0.5, 0.5) turned about z
    np.testing.assert_allclose(moved, np.stack([x - 0.5, y - 0.5, 0.5 * TIME], axis=1), atol=1e-14)


def test_rotation_vector(spinning):
    early = RATE * TIME < 3.0
    turned = measures.rotation(spinning, 0)
    np.testing.assert_allclose(turned[early], np.outer(RATE * TIME[early], [0, 0, 1]), atol=1e-12)
    assert np.linalg.norm(turned, axis=1).max() <= np.pi


def test_phase_portrait_counts_whole_turns(spinning):
    angle, speed = measures.phase_portrait(spinning, 0, [0, 0, 2.0])
    np.testing.assert_allclose(angle, RATE * TIME, atol=1e-12)
    np.testing.assert_allclose(speed[1:], RATE)


def test_the_mechanism_of_a_frame(tmp_path):
    """A cube that has turned by 0.2 rad about the right edge of its base: a hinge there, and a crack of sin 0.2 m."""
    model = boxes([[0, 0, 0.5], [0, 0, 1.5]], fixed=[0])
    state = start(model)
    turn = np.array([np.cos(0.1), 0.0, np.sin(0.1), 0.0])
    edge, arm = np.array([0.5, 0.0, 1.0]), np.array([-0.5, 0.0, 0.5])
    with RunWriter.create(tmp_path, "", model, state, every_steps=1) as writer:
        (sample,) = steps(state, 1)
        position = np.array([[0, 0, 0.5], edge + rotate(turn, arm)])
        sample.state = sample.state._replace(position=position, rotation=np.array([[1.0, 0, 0, 0], turn]))
        writer.add(sample)
    found = measures.mechanism_of_frame(read_run(tmp_path))
    (joint,) = found.joints
    assert (joint.kind, joint.side) == ("hinge", "right")
    np.testing.assert_allclose(found.bodies[1].axis, edge, atol=1e-9)
    assert measures.crack_widths(found) == pytest.approx({"stone 0|stone 1": 1e3 * np.sin(0.2)})
    assert measures.mechanism_of_frame(read_run(tmp_path), 0).words == "nothing moves"


def test_unknown_block(spinning):
    with pytest.raises(InputError, match="no such name"):
        measures.rotation(spinning, "keystone")


def test_collapse_time_is_the_first_below_the_limit():
    potential = 100.0 * (1 - 0.05 * TIME)  # 20 % lost at t = 4, below it just after
    assert measures.collapse_time(TIME, potential) == pytest.approx(4.05)
    assert measures.collapse_time(TIME, potential, loss=0.6) is None
    assert measures.collapse_time(TIME, np.ones_like(TIME)) is None


def test_peaks_of_a_decaying_sine():
    time = np.linspace(0, 3, 3001)
    signal = np.exp(-time) * np.sin(2 * np.pi * time)
    when, height = measures.peaks(time, signal, prominence=0.01)
    first = np.arctan(2 * np.pi) / (2 * np.pi)  # where the derivative vanishes, then once a period
    np.testing.assert_allclose(when, first + np.arange(3), atol=1e-3)
    np.testing.assert_allclose(height, np.exp(-first - np.arange(3)) * np.sin(2 * np.pi * first), rtol=1e-4)


def test_summary(spinning):
    summary = measures.summarise(spinning)
    assert summary["blocks"] == 2
    assert summary["steps"] == 200
    assert summary["time"] == pytest.approx(10.0)
    assert summary["collapsed"]
    assert summary["collapse_time"] == pytest.approx(4.05)
    assert summary["max_displacement"] == pytest.approx(5.0)
    assert summary["unconverged_steps"] == 40  # every fifth synthetic step
    assert summary["energy"]["potential"] == pytest.approx([100.0, 50.0])
    assert summary["ms_per_step"] == pytest.approx({"contact": 1.0, "solver": 2.0, "rest": 3.0, "total": 6.0})
    assert sum(summary["paths"].values()) == 200
    assert summary["max_penetration"] == spinning.steps["overlap"].max()
    assert not measures.summarise(spinning, loss=0.6)["collapsed"]


def test_quaternions_compose_as_rotations():
    random = np.random.default_rng(1)
    a, b = random.normal(size=(2, 50, 4))
    a, b = (q / np.linalg.norm(q, axis=1, keepdims=True) for q in (a, b))
    v = random.normal(size=(50, 3))
    np.testing.assert_allclose(rotate(product(a, b), v), rotate(a, rotate(b, v)), atol=1e-14)
    assert not rotation_vector(np.array([1.0, 0.0, 0.0, 0.0])).any()
    np.testing.assert_allclose(rotation_vector(np.array([-1.0, 0.0, 0.0, 1e-9])), [0, 0, -2e-9])
