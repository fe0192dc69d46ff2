"""What the benchmark knows of another program, and how a model is told to it: shapes, friction, the shaking of the ground."""

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

from drystone.base.units import GRAVITY
from drystone.ground.motion import Motion, total_velocity
from drystone.structure.model import Model

Array = np.ndarray
Steps = Iterator[Callable[[], Array]]  # after every step, how to ask where the centroids are (B, 3) [m], seen from the ground


class Setting(NamedTuple):
    """How a peer runs."""

    time_step: float  # [s]
    words: str  # what was set, as the tables tell it
    options: dict[str, Any]  # the same, as the peer's own file reads it


class Peer(NamedTuple):
    """Another program. `steps` builds its world at once, so that no step is charged for it."""

    name: str
    package: str  # in the package index
    licence: str
    shapes: str  # of the stones it is given
    settings: dict[str, Setting]
    steps: Callable[[Model, Sequence[Motion], Setting], Steps]

    def installed(self) -> str:
        """Its version, nothing if it is not there."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""


def half_size(model: Model, block: int) -> Array | None:
    """(3,) [m] of an upright box, None of any other shape."""
    stone, centre = model.blocks[block], model.position[block]
    half = np.ptp(stone.vertices, axis=0) / 2
    upright = len(stone.vertices) == 8 and np.isclose(np.abs(stone.vertices - centre), half).all()
    return half if upright else None


def hulls(model: Model) -> list[list[Array]]:
    """The corners (V, 3) [m] of the convex pieces of every block, from its centroid."""
    bodies, out = model.bodies, [[] for _ in model.blocks]
    for piece, block in enumerate(bodies.owner):
        out[block].append(bodies.vertex[bodies.vertex_start[piece] : bodies.vertex_start[piece + 1]])
    return out


def frictions(model: Model) -> Array:
    """(B,) of every block, of which the larger of two is that of their joint; not every model can be told so."""
    own = np.diag(model.friction)
    if not np.allclose(np.maximum.outer(own, own), model.friction):
        raise ValueError("the friction of some joint is not the larger of those of its two blocks, as peers have it")
    return own[model.bodies.group]


def weight(motions: Sequence[Motion], index: int, time_step: float) -> Array:
    """(3,) [m/s2] that acts on all blocks in step `index`: gravity less the mean acceleration of the ground."""
    before, after = total_velocity(motions, time_step * np.array([index, index + 1]))
    return np.array([0.0, 0.0, -GRAVITY]) - (after - before) / time_step
