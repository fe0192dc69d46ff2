"""A structure seen straight from the front or the side, in lines for print: thrust lines and the flow of forces.

A `Run` and a frame come in; polygons and lines are drawn in a figure. The eye looks along the shorter side of the plan.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from drystone import quaternion
from drystone.errors import InputError
from drystone.quantities import frame_resultants
from drystone.record import Run
from drystone.resultants import force_flow, thrust_lines
from drystone.view.style import line_style

Array = np.ndarray

STONE_COLOUR, SUPPORT_COLOUR, EDGE_COLOUR = "#efe9dc", "#c9cacb", "0.55"
MAX_LINE_WIDTH = 3.0  # [points] the line of the largest force
MIN_FORCE_SHARE = 0.005  # of the largest force: less is not drawn
MAX_SEGMENT_SHARE = 0.08  # of the size of the structure: the segment of the largest force, at most


class ElevationAxes(NamedTuple):
    """Which coordinates are seen: to the right, up, and towards the eye."""

    right: int
    depth: int
    towards_eye: float  # sign of the depth that is nearer to the eye


FRONT_AXES, SIDE_AXES = ElevationAxes(0, 1, -1.0), ElevationAxes(1, 0, 1.0)


def draw_thrust(figure: Any, run: Run, frame: int, pose: int, named_lines: Mapping[str, Array]) -> None:
    """The lines of thrust of the forces in a frame, and those `given` by their names, over the blocks as they are in `pose`."""
    lines_found = thrust_lines(run.model, frame_resultants(run, frame))
    if not lines_found and not named_lines:
        raise InputError(f"{run.folder}: no arch or column from support to support; draw forces instead of thrust")
    axes, view = _draw_blocks(figure, run, pose)
    for k, (label, line) in enumerate(named_lines.items()):
        axes.plot(line[:, view.right], line[:, 2], label=label, **line_style(k))
    for n, line in enumerate(lines_found):
        axes.plot(line[:, view.right], line[:, 2], label=None if n else "of the forces found", **line_style(len(named_lines)))
    axes.legend(loc="lower center")


def draw_forces(figure: Any, run: Run, frame: int, pose: int) -> None:
    """A segment for each joint along its force, as long as the force is large, wide and dark as its root."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import PowerNorm

    carried = frame_resultants(run, frame)
    size = np.linalg.norm(carried.force, axis=1)
    largest = float(size.max(initial=0.0))
    axes, view = _draw_blocks(figure, run, pose)
    axes.grid(False)
    if largest == 0.0:
        axes.set_title("the joints carry nothing")
        return
    order = np.argsort(size)
    order = order[size[order] > MIN_FORCE_SHARE * largest]
    extent = float(np.ptp(run.position[0], axis=0).max()) or float(run.model.bodies.radius.max())
    common = float(np.median(size[order])) / largest
    length = min(MAX_SEGMENT_SHARE * extent, 0.7 * float(np.median(run.model.bodies.radius)) / common)
    flow = force_flow(carried, length=length)[order][:, :, [view.right, 2]]
    width = MAX_LINE_WIDTH * np.sqrt(size[order] / largest)
    strength, scale = size[order] / 1e3, PowerNorm(0.5, 0.0, largest / 1e3)
    lines = LineCollection(flow, linewidths=width, array=strength, cmap="inferno_r", norm=scale, capstyle="round", zorder=3)
    axes.add_collection(lines)
    figure.colorbar(lines, ax=axes, label="force of a joint [kN]", shrink=0.6, aspect=25)


def _draw_blocks(figure: Any, run: Run, pose: int) -> tuple[Any, ElevationAxes]:
    """Axes with the faces that are seen, far ones first."""
    from matplotlib.collections import PolyCollection

    bodies, position, rotation = run.model.bodies, run.position[pose], run.rotation[pose]
    owner = np.repeat(bodies.owner, np.diff(bodies.vertex_start))
    vertex = position[owner] + quaternion.rotate(rotation[owner], bodies.vertex)
    block = np.repeat(bodies.owner, np.diff(bodies.piece_face))
    normal = quaternion.rotate(rotation[block], bodies.face_normal)
    plan = np.ptp(vertex[:, :2], axis=0)
    view = FRONT_AXES if plan[0] >= plan[1] else SIDE_AXES
    faces = np.split(vertex[bodies.face_vertex], bodies.face_start[1:-1])
    depth = np.array([view.towards_eye * face[:, view.depth].mean() for face in faces])
    visible = np.flatnonzero(view.towards_eye * normal[:, view.depth] > 1e-6)
    visible = visible[np.argsort(depth[visible], kind="stable")]
    colours = [SUPPORT_COLOUR if bodies.fixed[block[k]] else STONE_COLOUR for k in visible]
    axes = figure.add_subplot()
    axes.add_collection(
        PolyCollection(_outlines(faces, visible, view), facecolors=colours, edgecolors=EDGE_COLOUR, linewidths=0.4)
    )
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_xlabel(f"{'xyz'[view.right]} [m]")
    axes.set_ylabel("z [m]")
    return axes, view


def _outlines(faces: Sequence[Array], visible: Array, view: ElevationAxes) -> list[Array]:
    return [faces[k][:, [view.right, 2]] for k in visible]
