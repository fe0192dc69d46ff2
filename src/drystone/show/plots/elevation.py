"""Line drawings for print of a structure seen from the front or the side: thrust lines and the flow of forces.

A `Run` and a frame come in; polygons and lines are drawn in a figure. The view is along the shorter side of the plan.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from drystone.base import quaternion
from drystone.base.errors import InputError
from drystone.results.quantities import frame_resultants
from drystone.results.resultants import force_flow, thrust_lines
from drystone.results.store.run_reader import Run
from drystone.show.plots.style import line_style
from drystone.structure.body_surfaces import block_of_faces, world_vertices

Array = np.ndarray

STONE_FILL, SUPPORT_FILL, OUTLINE_COLOUR = "#efe9dc", "#c9cacb", "0.55"
MAX_LINE_POINTS = 3.0  # [points] line width of the largest force
MIN_FORCE_SHARE = 0.005  # of the largest force: smaller forces are not drawn
MAX_SEGMENT_SHARE = 0.08  # of the size of the structure: greatest length of the segment of the largest force


class ElevationAxes(NamedTuple):
    """Which coordinate points to the right in the drawing, and which one away from the viewer."""

    right: int
    depth: int
    towards_eye: float  # sign of the depth coordinate that points towards the viewer


FRONT_AXES, SIDE_AXES = ElevationAxes(0, 1, -1.0), ElevationAxes(1, 0, 1.0)


def draw_thrust(figure: Any, run: Run, frame: int, pose: int, named_lines: Mapping[str, Array]) -> None:
    """Draw the thrust lines of the forces in a frame, and `named_lines` with their names, over the blocks in the frame
    `pose`."""
    lines_found = thrust_lines(run.model, frame_resultants(run, frame))
    if not lines_found and not named_lines:
        raise InputError(f"{run.folder}: no arch or column spans from support to support; draw forces instead of thrust")
    axes, view = _draw_blocks(figure, run, pose)
    for k, (label, line) in enumerate(named_lines.items()):
        axes.plot(line[:, view.right], line[:, 2], label=label, **line_style(k))
    for n, line in enumerate(lines_found):
        axes.plot(
            line[:, view.right], line[:, 2], label=None if n else "of the computed forces", **line_style(len(named_lines))
        )
    axes.legend(loc="lower center")


def draw_forces(figure: Any, run: Run, frame: int, pose: int) -> None:
    """Draw a segment along the force of each joint; its length grows with the force, its width and darkness with the root."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import PowerNorm

    carried = frame_resultants(run, frame)
    size = np.linalg.norm(carried.force, axis=1)
    largest = float(size.max(initial=0.0))
    axes, view = _draw_blocks(figure, run, pose)
    axes.grid(False)
    if largest == 0.0:
        axes.set_title("the joints carry no force")
        return
    order = np.argsort(size)
    order = order[size[order] > MIN_FORCE_SHARE * largest]
    extent = float(np.ptp(run.position[0], axis=0).max()) or float(run.model.bodies.radius.max())
    common = float(np.median(size[order])) / largest
    length = min(MAX_SEGMENT_SHARE * extent, 0.7 * float(np.median(run.model.bodies.radius)) / common)
    flow = force_flow(carried, length=length)[order][:, :, [view.right, 2]]
    width = MAX_LINE_POINTS * np.sqrt(size[order] / largest)
    strength, scale = size[order] / 1e3, PowerNorm(0.5, 0.0, largest / 1e3)
    lines = LineCollection(flow, linewidths=width, array=strength, cmap="inferno_r", norm=scale, capstyle="round", zorder=3)
    axes.add_collection(lines)
    figure.colorbar(lines, ax=axes, label="force of a joint [kN]", shrink=0.6, aspect=25)


def _draw_blocks(figure: Any, run: Run, pose: int) -> tuple[Any, ElevationAxes]:
    """Draw the visible faces, the far ones first; return the axes of the plot and those of the view."""
    from matplotlib.collections import PolyCollection

    bodies, position, rotation = run.model.bodies, run.position[pose], run.rotation[pose]
    vertex = world_vertices(bodies, position, rotation)
    block = block_of_faces(bodies)
    normal = quaternion.rotate(rotation[block], bodies.face_normal)
    plan = np.ptp(vertex[:, :2], axis=0)
    view = FRONT_AXES if plan[0] >= plan[1] else SIDE_AXES
    faces = np.split(vertex[bodies.face_vertex], bodies.face_start[1:-1])
    depth = np.array([view.towards_eye * face[:, view.depth].mean() for face in faces])
    visible = np.flatnonzero(view.towards_eye * normal[:, view.depth] > 1e-6)
    visible = visible[np.argsort(depth[visible], kind="stable")]
    colours = [SUPPORT_FILL if bodies.fixed[block[k]] else STONE_FILL for k in visible]
    axes = figure.add_subplot()
    axes.add_collection(
        PolyCollection(_outlines(faces, visible, view), facecolors=colours, edgecolors=OUTLINE_COLOUR, linewidths=0.4)
    )
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_xlabel(f"{'xyz'[view.right]} [m]")
    axes.set_ylabel("z [m]")
    return axes, view


def _outlines(faces: Sequence[Array], visible: Array, view: ElevationAxes) -> list[Array]:
    return [faces[k][:, [view.right, 2]] for k in visible]
