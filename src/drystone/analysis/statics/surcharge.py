"""The load on an arch from the structure above it (T45).

By the conventional assumption, a voussoir carries everything above it between the vertical lines through the outer ends of its
joints, and nothing else. This is on the safe side for a wall, whose courses confine the arch and span over it.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from drystone.analysis.statics.thrust_lines import UP, Arch, outer_ends
from drystone.structure.model import Model, convex_pieces

Array = np.ndarray

# two points: exact for areas of sections, which are quadratic functions of the position
GAUSS_POINTS = np.array([-1.0, 1.0]) / np.sqrt(3.0)
MIN_SLICE_SHARE = 1e-9  # of a block: thinner slices are due to rounding


def load_from_above(arch: Arch, model: Model, load: Array) -> Arch:
    """The arch with the loads (B, 6) [N, N m] of the blocks above it in addition to its own. The load of a block is distributed
    in proportion to its volume."""
    ends, turning = outer_ends(arch), np.cross(arch.along, UP)
    cuts, heights = np.maximum.accumulate(ends @ arch.along), ends[:, 2]
    depth = np.concatenate([model.blocks[i].vertices @ turning for i in arch.blocks[1:-1]])
    carried = arch.load.copy()
    for i in np.setdiff1d(np.flatnonzero(load.any(axis=1) & ~model.bodies.fixed), arch.blocks):
        slices = [part for piece in _solids(model, int(i)) for part in _slices(piece, arch.along, cuts)]
        volume_of_block = model.bodies.mass[i] / model.blocks[i].density  # [m3]
        for voussoir, volume, centre in slices:
            above = centre[2] > np.interp(centre @ arch.along, cuts, heights)
            if above and depth.min() < centre @ turning < depth.max():
                force, arm = load[i, :3], centre - arch.middle[0]
                moment = (load[i, 3:] + np.cross(arm, force)) @ turning
                carried[voussoir] += volume / volume_of_block * np.array([force @ arch.along, force[2], moment])
    return arch._replace(load=carried)


def _solids(model: Model, i: int) -> Iterator[Array]:
    """(E, 2, 3) [m] The edges of each convex piece of a block."""
    for _, vertices, faces, _ in convex_pieces(i, model.blocks[i], model.blocks[i].name):
        edges = {tuple(sorted(edge)) for face in faces for edge in zip(face, (*face[1:], face[0]), strict=True)}
        yield np.asarray(vertices, float)[np.array(sorted(edges))]


def _slices(edges: Array, along: Array, cuts: Array) -> Iterator[tuple[int, float, Array]]:
    """The number, volume [m3] and centroid [m] of the slices of a convex solid between neighbouring cuts."""
    along_arch = edges @ along
    inside = cuts[(cuts > along_arch.min()) & (cuts < along_arch.max())]
    for low, high in pairwise(np.unique(np.concatenate([along_arch.ravel(), inside]))):
        number = int(np.searchsorted(cuts, (low + high) / 2)) - 1
        if not 0 <= number < len(cuts) - 1 or high - low < MIN_SLICE_SHARE * np.ptp(along_arch):
            continue
        for at in (low + high) / 2 + (high - low) / 2 * GAUSS_POINTS:
            area, centre = _section(edges, along_arch, at, along)
            yield number, area * (high - low) / 2, centre


def _section(edges: Array, along_arch: Array, at: float, along: Array) -> tuple[float, Array]:
    """The area [m2] and centroid [m] of the section of a convex solid by the vertical plane at the position `at` along the
    arch."""
    cut = (along_arch.min(axis=1) < at) & (along_arch.max(axis=1) > at)
    share = (at - along_arch[cut, 0]) / (along_arch[cut, 1] - along_arch[cut, 0])
    corner = edges[cut, 0] + share[:, None] * (edges[cut, 1] - edges[cut, 0])
    mean = corner.mean(axis=0)
    flat = np.column_stack([(corner - mean) @ np.cross(UP, along), corner[:, 2] - mean[2]])
    flat = flat[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))]
    after = np.roll(flat, -1, axis=0)
    areas = (flat[:, 0] * after[:, 1] - flat[:, 1] * after[:, 0]) / 2
    aside, up = areas @ (flat + after) / 3 / areas.sum()
    return float(areas.sum()), mean + aside * np.cross(UP, along) + up * UP
