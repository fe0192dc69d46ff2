"""The same assembly seen otherwise: in another order of its blocks, turned about z and moved far away, or in a mirror. Each
comes with the way back, from its velocities to those of the first, so that the two can be compared.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from drystone.ground.motion import Motion
from drystone.structure.model import Block
from tests.stress.assemblies import Assembly

Array = np.ndarray


class Seen(NamedTuple):
    """An assembly seen otherwise, and how velocities (B, 6) of it are seen at home."""

    assembly: Assembly
    home: Callable[[Array], Array]


def shuffled(assembly: Assembly, chance: np.random.Generator) -> Seen:
    """In another order."""
    order = chance.permutation(len(assembly.blocks))
    there = replace(assembly, blocks=tuple(assembly.blocks[i] for i in order), velocity=assembly.velocity[order])
    return Seen(there, lambda velocity: velocity[np.argsort(order)])


def carried(assembly: Assembly, chance: np.random.Generator) -> Seen:
    """Turned about z by any angle and moved by up to a kilometre."""
    angle, shift = chance.uniform(0, 2 * np.pi), chance.uniform(-1000.0, 1000.0, 3)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    return _seen(assembly, turn, shift)


def mirrored(assembly: Assembly, chance: np.random.Generator) -> Seen:
    """In an upright mirror through the origin; spins are axial vectors."""
    angle = chance.uniform(0, np.pi)
    across = np.array([np.cos(angle), np.sin(angle), 0.0])
    return _seen(assembly, np.eye(3) - 2 * np.outer(across, across), np.zeros(3))


def _seen(assembly: Assembly, turn: Array, shift: Array) -> Seen:
    axial = np.linalg.det(turn) * turn

    def there(velocity: Array) -> Array:
        return np.concatenate([velocity[:, :3] @ turn.T, velocity[:, 3:] @ axial.T], axis=1)

    def home(velocity: Array) -> Array:
        return np.concatenate([velocity[:, :3] @ turn, velocity[:, 3:] @ axial], axis=1)

    blocks = tuple(_block(block, turn, shift) for block in assembly.blocks)
    motions = tuple(_motion(motion, turn) for motion in assembly.motions)
    return Seen(replace(assembly, blocks=blocks, motions=motions, velocity=there(assembly.velocity)), home)


def _block(block: Block, turn: Array, shift: Array) -> Block:
    faces = block.faces if np.linalg.det(turn) > 0 else tuple(face[::-1] for face in block.faces)
    return replace(block, vertices=block.vertices @ turn.T + shift, faces=faces)


def _motion(motion: Motion, turn: Array) -> Motion:
    x, y, z = turn @ np.array(motion.direction)
    return replace(motion, direction=(x, y, z))
