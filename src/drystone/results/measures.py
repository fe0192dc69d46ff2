"""Numbers that an engineer reads from a `Run`: displacements, rotations, peaks, collapse, mechanism, and a summary.

Displacements [m] and rotations [rad] are relative to the first frame and seen from the moving ground.

>>> time = np.array([0.0, 1.0, 2.0, 3.0])
>>> collapse_time(time, potential=np.array([10.0, 11.0, 7.9, 2.0]))
2.0
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from drystone.base import quaternion
from drystone.base.errors import InputError, did_you_mean
from drystone.contact.contacts import Contacts, in_head_joints, no_contacts
from drystone.engine.solvers.solution import FINER_STEPS, SMALL_STEPS
from drystone.engine.state import Energy
from drystone.results.mechanism import Mechanism, read_displacement
from drystone.results.store.run_reader import Run
from drystone.structure.deformable_blocks import Elastic, gauss_stresses, principal, von_mises

Array = np.ndarray


def collapse_time(time: Array, potential: Array, *, loss: float = 0.20) -> float | None:
    """[s] The time at which the potential energy first is below (1 - loss) times its initial value; None if it never is."""
    fallen = np.flatnonzero(potential < (1.0 - loss) * potential[0])
    return float(time[fallen[0]]) if len(fallen) else None


def centroid_displacement(run: Run) -> Array:
    """(F, B, 3) [m] The displacement of the centroids."""
    return run.position - run.position[0]


def point_displacement(run: Run, block: int | str, point: Array) -> Array:
    """(F, 3) [m] The displacement of the point of a block (number or name) that was at `point` [m, world] in the first
    frame."""
    block = block_number(run, block)
    arm = np.asarray(point, float) - run.position[0, block]
    return run.position[:, block] + quaternion.rotate(_rotation_since_start(run, block), arm) - np.asarray(point, float)


def rotation(run: Run, block: int | str) -> Array:
    """(F, 3) [rad] The rotation vector of a block: axis times angle, with an angle of at most pi."""
    return quaternion.rotation_vector(_rotation_since_start(run, block_number(run, block)))


def phase_portrait(run: Run, block: int | str, axis: Array) -> tuple[Array, Array]:
    """(F,) [rad] The angle and (F,) [rad/s] the angular velocity of a block about a world axis; full turns are counted."""
    block = block_number(run, block)
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    relative_rotation = _rotation_since_start(run, block)
    angle = np.unwrap(2.0 * np.arctan2(relative_rotation[:, 1:] @ axis, relative_rotation[:, 0]))
    return angle, run.velocity[:, block, 3:] @ axis


def mechanism_of_frame(run: Run, frame: int = -1, *, tolerance: float = 1e-2) -> Mechanism:
    """The mechanism between the first frame and this one: which blocks have moved as one body, and which of the initial joints
    have opened, slid or turned. Movements below `tolerance` times the largest displacement count as none, because every joint
    moves a little in a run."""
    (first, upright), (position, rotation) = run.pose(0), run.pose(frame)
    relative_rotation = quaternion.product(rotation, quaternion.conjugate(upright))
    return read_displacement(run.model, _first_contacts(run), position - first, relative_rotation, tolerance=tolerance)


@lru_cache(maxsize=1)  # needed for every frame
def _first_contacts(run: Run) -> Contacts:
    """The contacts of the first frame."""
    from drystone.contact.detection import detect  # loads Numba, which nothing else in this module needs

    at_rest = np.zeros_like(run.velocity[0])
    return detect(run.model.bodies, run.position[0], run.rotation[0], at_rest, 1.0, no_contacts(), 0)[0]


def block_stresses(run: Run, frame: int = -1) -> dict[str, Array]:
    """(E, 8, 6) [Pa] The stresses in each deformable block, by its name: xx, yy, zz, xy, yz, zx in the axes of the block at the
    Gauss points of its finite elements, tension positive. `deformable_blocks.von_mises` and `deformable_blocks.principal`
    evaluate them."""
    elastic = _deformable(run)
    names = [run.model.blocks[i].name for i in elastic.block]
    return dict(zip(names, gauss_stresses(elastic, run.state(frame).amplitude), strict=True))


def largest_stresses(run: Run, frame: int = -1) -> dict[str, dict[str, float]]:
    """[Pa] The largest von Mises stress, tension and compression in each deformable block, by its name, from the mean stress of
    each finite element."""
    found = {}
    for name, stress in block_stresses(run, frame).items():
        mean = stress.mean(axis=1)
        low, high = float(principal(mean).min()), float(principal(mean).max())
        found[name] = {"von_mises": float(von_mises(mean).max()), "tension": max(high, 0.0), "compression": max(-low, 0.0)}
    return found


def _deformable(run: Run) -> Elastic:
    if run.model.elastic is None:
        raise InputError(f"{run.folder}: all blocks are rigid and have no stresses; set deformable in [structure]")
    return run.model.elastic


def crack_widths(found: Mechanism) -> dict[str, float]:
    """[mm] The largest opening of each joint that has opened, by the names of its blocks, the widest first."""
    wide = sorted((joint for joint in found.joints if joint.opening > 0.0), key=lambda joint: -joint.opening)
    return {f"{found.names[j.a]}|{found.names[j.b]}": 1e3 * found.largest * j.opening for j in wide}


def peaks(time: Array, signal: Array, *, prominence: float) -> tuple[Array, Array]:
    """The times and values of the local maxima whose prominence is at least `prominence`, in the unit of the signal."""
    from scipy.signal import find_peaks  # takes a second to import and is needed only here

    found, _ = find_peaks(signal, prominence=prominence)
    return time[found], signal[found]


def block_number(run: Run, block: int | str) -> int:
    """The number of a block that is given by its number or its name."""
    if not isinstance(block, str):
        return int(block)
    numbers = run.model.block_numbers
    if block not in numbers:
        raise InputError(f"block {block!r}: no such name in the run; names begin with {', '.join(list(numbers)[:5])}")
    return numbers[block]


def select_blocks(run: Run, selection: str) -> list[int]:
    """The blocks of a selection: numbers, inclusive ranges, names and groups, joined by + or commas ("12:14+keystone+pier")."""
    words = [selection] if selection in run.model.block_numbers else re.split("[+,]", selection)
    return list(dict.fromkeys(block for word in words for block in _blocks_of_word(run, word.strip(), selection)))


def _blocks_of_word(run: Run, word: str, selection: str) -> list[int]:
    blocks = run.model.blocks
    if word in run.model.block_numbers:
        return [run.model.block_numbers[word]]
    if members := [i for i, block in enumerate(blocks) if word and block.group == word]:
        return members
    first, colon, last = word.partition(":")
    if first.isdecimal() and (last.isdecimal() if colon else True):
        low, high = int(first), int(last or first)
        if low <= high < len(blocks):
            return list(range(low, high + 1))
        raise InputError(f"blocks {selection!r}: {word} is not within the blocks 0 to {len(blocks) - 1} of the run")
    known = [*run.model.block_numbers, *{block.group for block in blocks if block.group}]
    raise InputError(
        f"blocks {selection!r}: {word!r} is no block or group{did_you_mean(word, known)}; give numbers as 12 or 12:14, "
        f"names or groups, joined by +, as {blocks[0].name!r}"
    )


def monitored_blocks(run: Run, monitored: Sequence[str] = ()) -> list[int]:
    """The blocks that a case monitors; without any, the block that has moved most."""
    distance = np.linalg.norm(centroid_displacement(run), axis=-1).max(axis=0)
    return [block_number(run, name) for name in monitored] or [int(distance.argmax())]


def step_history(run: Run, name: str) -> tuple[Array, Array]:
    """(S+1,) [s] and (S+1,) [J] A part of the energy at the start and after every step, which is finer than the frames."""
    time = np.concatenate([run.time[:1], run.steps["time"]])
    return time, np.concatenate([run.energy[name][:1], run.steps[name]])


def base_resultant(run: Run, time_step: float) -> Array:
    """(F,) [N] The vertical force of the supports on the structure during the step that ended in each frame; 0 in the first."""
    fixed, vertical_force = run.model.bodies.fixed, np.zeros(run.frames)
    for frame in range(1, run.frames):
        contacts = run.contacts(frame)
        sign = fixed[contacts.a].astype(float) - fixed[contacts.b]
        vertical_force[frame] = sign @ contacts.impulse[:, 2] / time_step
    return vertical_force


def balanced_from(time: Array, force: Array, weight: float, *, within: float = 1e-4) -> float | None:
    """[s] The time from which on the force differs from the weight by no more than the share `within`; None if it does at the
    end."""
    off = np.flatnonzero(np.abs(force - weight) > within * weight)
    if len(off) == 0:
        return float(time[0])
    return float(time[off[-1] + 1]) if off[-1] + 1 < len(time) else None


def head_joint_openings(run: Run) -> Array:
    """(F,) [m] The widest opening since the first frame among the head joints, which are upright in that frame (T60)."""
    contacts = _first_contacts(run)
    head = in_head_joints(contacts)
    a, b, point, normal = contacts.a[head], contacts.b[head], contacts.point[head], contacts.normal[head]
    widest = np.zeros(run.frames)
    for frame in range(run.frames):
        relative_rotation = quaternion.product(run.rotation[frame], quaternion.conjugate(run.rotation[0]))
        on_a, on_b = (
            run.position[frame, i] + quaternion.rotate(relative_rotation[i], point - run.position[0, i]) for i in (a, b)
        )
        opening = np.einsum("ij,ij->i", on_b - on_a, quaternion.rotate(relative_rotation[a], normal))
        widest[frame] = opening.max(initial=0.0)
    return widest


def summarise(run: Run, *, loss: float = 0.20) -> dict[str, Any]:
    """A summary of the run in plain numbers, in SI units except ms_per_step: what `drystone info --json` prints.
    `loss` is the share of the potential energy whose loss counts as collapse."""
    steps = run.steps
    fallen = collapse_time(*step_history(run, "potential"), loss=loss)
    factorisations = steps["factorisations"]
    small_steps = took_small_steps(steps["path"])
    return {
        "blocks": len(run.model.blocks),
        "fixed_blocks": int(run.model.bodies.fixed.sum()),
        "integrator": "small-steps" if small_steps else "cone-program",
        "steps": len(steps["time"]),
        "frames": run.frames,
        "time": float(run.time[-1]),
        "finished": run.finished,
        "hung_by_friction": run.hung,
        "collapsed": fallen is not None,
        "collapse_time": fallen,
        "fallen_blocks": _fallen_blocks(run),
        "max_displacement": float(np.linalg.norm(centroid_displacement(run), axis=-1).max()),
        "max_penetration": _largest_value(steps["overlap"]),
        "max_residual": _largest_value(steps["residual_error"]),
        "unconverged_steps": int((~steps["converged"]).sum()),
        "dumps": [str(path) for path in run.failed],
        "contacts": {"mean": _mean(steps["contacts"]), "max": int(_largest_value(steps["contacts"]))},
        "energy": {name: [float(run.energy[name][0]), float(run.energy[name][-1])] for name in Energy._fields},
        "ms_per_step": _milliseconds(steps["seconds"]),
        "factorisations": {"mean": _mean(factorisations), "max": int(_largest_value(factorisations))},
        "paths": dict(Counter(steps["path"].tolist())),
        "small_step": float((run.time[-1] - run.time[0]) / factorisations.sum()) if small_steps else None,  # [s] mean
    }


def took_small_steps(paths: Array) -> bool:
    """Whether steps with these solver paths were computed by small steps."""
    return len(paths) > 0 and set(paths) <= {SMALL_STEPS, FINER_STEPS}


def _fallen_blocks(run: Run) -> int:
    """The number of free blocks that have dropped by more than their radius at the end."""
    bodies = run.model.bodies
    return int((~bodies.fixed & (run.position[0, :, 2] - run.position[-1, :, 2] > bodies.radius)).sum())


def _rotation_since_start(run: Run, block: int) -> Array:
    """(F, 4) The rotation of a block from its first pose to that of each frame."""
    return quaternion.product(run.rotation[:, block], quaternion.conjugate(run.rotation[0, block]))


def _milliseconds(seconds: Array) -> dict[str, float]:
    """The mean computing times over all steps except the first, which may include compilation."""
    seconds = seconds[1:] if len(seconds) > 1 else seconds
    parts = {name: 1e3 * _mean(seconds[:, i]) for i, name in enumerate(("contact", "solver", "rest"))}
    return {**parts, "total": sum(parts.values())}


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else 0.0


def _largest_value(values: Array) -> float:
    return float(values.max()) if len(values) else 0.0
