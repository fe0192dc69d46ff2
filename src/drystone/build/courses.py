"""Coursed masonry: the stones of every course of straight walls given in plan.

Each course is laid in the same steps:

 1. extent     the extent of each wall at this level (a gable narrows it); walls in one line form one run
 2. crossings  where two runs cross or meet, the run along x goes through in courses 1, 3, ... and the run along y in
               courses 2, 4, ...: corners, T-junctions and crossings interlock
 3. openings   interrupt the run; above them is a lintel, or an arch (`ring`)
 4. stones     the joints of the bond, without those that would leave a sliver at an end, or end a stone at a crossing

Faces that touch have the same floating-point coordinates, so all joints are exactly flush.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from drystone.base.errors import InputError
from drystone.base.units import Length
from drystone.build.compose import move_blocks
from drystone.build.ring import ring_stones, ring_width
from drystone.build.shapes import box, check_stones, prism
from drystone.structure.model import Block

Array = np.ndarray
Interval = tuple[float, float]

LENGTH_TOLERANCE = 1e-9  # [m] lengths that differ by less are equal
MIN_STONE_SHARE = 0.2  # of the length of a stone: a shorter piece is united with its neighbour
LINTEL_BEARING_SHARE = 0.5  # of the length of a stone: the bearing of a lintel on either side

BondName = Literal["running", "stack", "english", "flemish", "two-leaf"]


class Opening(NamedTuple):
    """A hole through a wall, from one course to another."""

    at: Length  # [m] from the start of the wall to the nearer jamb
    sill: Length  # [m] above the foundation; a course begins there
    width: Length  # [m]
    height: Length  # [m] of the jambs; a course ends there
    head: Literal["lintel", "arch", "round"] = "lintel"  # arch: half a circle above the jambs; round: also below the sill
    ring: Length | None = None  # [m] least thickness of the arch, by default half the length of a stone


class Bond(NamedTuple):
    """How a course is divided: into cells along the wall, each of one stone or of several leaves across the wall."""

    length: float  # [m] of a stone
    # (length [m], leaves), repeated along the wall; one row per course in turn
    cells: tuple[tuple[tuple[float, int], ...], ...]
    shift: tuple[float, ...]  # [m] from the start of the wall to the first cell; one per course in turn


@dataclass(frozen=True)
class Wall:
    """A straight wall in plan. Its height and its gable end at beds, and no wall that it meets may rise beside the gable."""

    name: str
    low: tuple[float, float]  # [m] x and y of its corner with the least x and y
    along: Literal["x", "y"]
    length: float  # [m]
    thickness: float  # [m]
    height: float  # [m] without the gable
    rise: float = 0.0  # [m] of the gable
    gable: Literal["sloped", "stepped"] = "sloped"  # stones cut to the slope, or whole stones that hold the slope
    openings: tuple[Opening, ...] = ()
    toothed: bool = False  # the ends step back by the thickness in alternate courses: four such walls, rotated, form a square

    @property
    def span(self) -> Interval:
        start = self.low[0 if self.along == "x" else 1]
        return start, start + self.length

    @property
    def depth(self) -> Interval:
        front = self.low[1 if self.along == "x" else 0]
        return front, front + self.thickness


class WallStretch(NamedTuple):
    """A stretch of one course: a trapezoid in elevation, whose ends are vertical except in gables."""

    wall: Wall
    bottom: Interval  # [m] along the wall
    top: Interval
    crossings: tuple[Interval, ...] = ()  # [m] intervals where it passes through other runs

    @property
    def inner(self) -> Interval:
        return max(self.bottom[0], self.top[0]), min(self.bottom[1], self.top[1])


def make_bond(name: BondName, length: float, *, through: int = 4) -> Bond:
    """A bond of stones of this length [m]; `through`: in a wall of two leaves, one of so many stones passes through both.

    running: shifted by half a stone; stack: not shifted; english: alternate courses of two leaves and of headers half as long;
    flemish: pairs of stretchers alternate with headers, and headers are over the middle of stretchers.
    """
    stretcher, pair, header = (length, 1), (length, 2), (length / 2, 1)
    tied = (pair,) * (through - 1) + (stretcher,)
    return {
        "running": Bond(length, ((stretcher,), (stretcher,)), (0.0, length / 2)),
        "stack": Bond(length, ((stretcher,),), (0.0,)),
        "english": Bond(length, ((pair,), (header,)), (0.0, length / 4)),
        "flemish": Bond(length, ((pair, header), (pair, header)), (0.0, 0.75 * length)),
        "two-leaf": Bond(length, (tied, tied), (0.0, (through // 2 + 0.5) * length)),
    }[name]


def lay_walls(walls: Sequence[Wall], levels: Array, bond: Bond, **attributes: Any) -> list[Block]:
    """The stones of the walls between the levels [m], from the bottom up; attributes are those of `Block`.

    "<wall>-3-1" is the first stone of the third course of a wall, "<wall>-lintel-2" and "<wall>-voussoir-2-1" are over
    its second opening.
    """
    return [replace(stone, **attributes) for course in lay_courses(walls, levels, bond) for stone in course]


def lay_courses(walls: Sequence[Wall], levels: Array, bond: Bond) -> Iterator[list[Block]]:
    """Yields the stones of each course in turn; those of an arch belong to the course of its springing."""
    for wall in walls:
        _check(wall, levels)
        check_stones(f"{wall.name}: length / stone times courses", wall.length / bond.length * (len(levels) - 1))
    lines = _group_in_lines(walls)
    for course in range(len(levels) - 1):
        numbers: Counter[str] = Counter()
        stones: list[Block] = []
        runs = [_runs(line, levels, course) for line in lines]
        for line, runs_of_line in zip(lines, runs, strict=True):
            across = [run for theirs in runs for run in theirs if run.wall.along != line[0].along]
            goes_through = (line[0].along == "x") == (course % 2 == 0)
            stones += _lay_runs(_interlock(runs_of_line, across, goes_through), line, levels, course, bond, numbers)
        yield stones


def _check(wall: Wall, levels: Array) -> None:
    top = wall.height + wall.rise
    _check_level(levels, wall.height, f"{wall.name}: the height ends at")
    _check_level(levels, top, f"{wall.name}: the gable ends at")
    for number, opening in enumerate(wall.openings, 1):
        label, head = f"{wall.name}: opening {number}", opening.sill + opening.height
        least = LENGTH_TOLERANCE if opening.head == "lintel" else 0.0  # an arch may spring from its sill
        if not opening.width > 0 or not opening.height >= least:
            raise InputError(f"{label} is {opening.width:g} m wide and {opening.height:g} m high; give sizes above 0")
        if opening.ring is not None and not opening.ring > 0:
            raise InputError(f"{label}: its ring is {opening.ring:g} m; give a thickness above 0")
        _check_level(levels, opening.sill, f"{label}: the sill is at")
        _check_level(levels, head, f"{label}: the jambs end at")
        if head > top - LENGTH_TOLERANCE:
            raise InputError(f"{label} goes up to {head:g} m, the wall to {top:g} m; leave a course above it")


def _check_level(levels: Array, level: float, what: str) -> None:
    nearest = levels[_bed_number(levels, level)]
    if not abs(nearest - level) < LENGTH_TOLERANCE:
        raise InputError(f"{what} {level:g} m, within a course; give the level of a bed, the nearest is {nearest:g} m")


def _bed_number(levels: Array, level: float) -> int:
    """The number of the course that begins at a level [m]."""
    return int(np.argmin(np.abs(levels - level)))


def _group_in_lines(walls: Sequence[Wall]) -> list[list[Wall]]:
    """Group the walls in one line, sorted from its start to its end."""
    lines: dict[tuple[str, Interval], list[Wall]] = {}
    for wall in walls:
        lines.setdefault((wall.along, wall.depth), []).append(wall)
    return [sorted(line, key=lambda wall: wall.span) for line in lines.values()]


def _runs(line: Sequence[Wall], levels: Array, course: int) -> list[WallStretch]:
    """The runs of the walls in one line in a course; walls that touch or overlap form one run."""
    runs: list[WallStretch] = []
    for run in (run for wall in line if (run := _extent(wall, levels, course)) is not None):
        last = runs[-1] if runs else None
        if last is not None and run.inner[0] <= last.inner[1] + LENGTH_TOLERANCE:
            end = max(last.bottom[1], run.bottom[1]), max(last.top[1], run.top[1])
            runs[-1] = WallStretch(last.wall, (last.bottom[0], end[0]), (last.top[0], end[1]))
        else:
            runs.append(run)
    return runs


def _extent(wall: Wall, levels: Array, course: int) -> WallStretch | None:
    """The extent of the wall in a course; None above its top."""
    (start, end), low, high = wall.span, levels[course], levels[course + 1]
    if wall.toothed:
        start, end = (start, end - wall.thickness) if course % 2 == 0 else (start + wall.thickness, end)
    if high <= wall.height + LENGTH_TOLERANCE:
        return WallStretch(wall, (start, end), (start, end))
    if low >= wall.height + wall.rise - LENGTH_TOLERANCE:
        return None
    middle = (start + end) / 2

    def narrowed(level: float) -> Interval:
        inset = (end - start) / 2 * (level - wall.height) / wall.rise
        return min(start + inset, middle), max(end - inset, middle)

    return WallStretch(wall, narrowed(low), narrowed(high if wall.gable == "sloped" else low))


def _interlock(runs: list[WallStretch], across: list[WallStretch], goes_through: bool) -> list[WallStretch]:
    """The runs with the intervals where they pass through others, or without the intervals where others pass through."""
    for other in across:
        pieces = []
        for run in runs:
            if not (_overlap(run.wall.depth, other.bottom) and _overlap(run.bottom, other.wall.depth)):
                pieces.append(run)
            elif goes_through:
                pieces.append(run._replace(crossings=(*run.crossings, other.wall.depth)))
            else:
                pieces += _cut_out(run, other.wall.depth)
        runs = pieces
    return runs


def _overlap(one: Interval, other: Interval) -> bool:
    return min(one[1], other[1]) - max(one[0], other[0]) > LENGTH_TOLERANCE


def _cut_out(run: WallStretch, hole: Interval) -> list[WallStretch]:
    """The parts of a run on either side of a hole, from left to right."""
    left = run._replace(bottom=(run.bottom[0], hole[0]), top=(run.top[0], hole[0]))
    right = run._replace(bottom=(hole[1], run.bottom[1]), top=(hole[1], run.top[1]))
    return [piece for piece in (left, right) if piece.bottom[1] - piece.bottom[0] > LENGTH_TOLERANCE]


def _lay_runs(
    runs: list[WallStretch], line: Sequence[Wall], levels: Array, course: int, bond: Bond, numbers: Counter[str]
) -> Iterator[Block]:
    """Yields the stones of one line of walls in a course in order, then the lintels and arches that begin there."""
    heads, stones = [], []
    for wall in line:
        for number, opening in enumerate(wall.openings, 1):
            hole = _hole(wall, opening, levels, course, bond)
            if hole is not None:
                runs = _cut_opening(runs, hole, f"{wall.name}: opening {number}", levels[course])
                heads += _heads(wall, number, levels, course, hole, bond)
    for run in runs:
        for bottom, top, leaves in _divide(run, line[0].span[0], bond, course):
            numbers[run.wall.name] += 1
            name = f"{run.wall.name}-{course + 1}-{numbers[run.wall.name]}"
            stones.append((name, _trapezoid(bottom, top, levels[course], levels[course + 1]), leaves))
    for name, outline, leaves in stones + heads:
        yield from _stones(name, outline, leaves, line[0].along, line[0].depth)


def _hole(wall: Wall, opening: Opening, levels: Array, course: int, bond: Bond) -> Interval | None:
    """[m] the interval that an opening, with its lintel or arch, takes of a course; None if it takes nothing."""
    left, centre, right = _jamb_positions(wall, opening)
    sill, head = _bed_number(levels, opening.sill), _bed_number(levels, opening.sill + opening.height)
    if sill <= course < head:
        return left, right
    if opening.head == "lintel":
        bearing = LINTEL_BEARING_SHARE * bond.length
        return (left - bearing, right + bearing) if course == head else None
    half = None
    if course >= head:
        half = ring_width(opening.width / 2, _ring_thickness(opening, bond), levels[head:], course - head)
    elif opening.head == "round":
        half = ring_width(opening.width / 2, _ring_thickness(opening, bond), levels[sill::-1], sill - 1 - course)
    return None if half is None else (centre - half, centre + half)


def _jamb_positions(wall: Wall, opening: Opening) -> tuple[float, float, float]:
    """[m] the positions along the wall of one jamb, the middle and the other jamb."""
    left = wall.span[0] + opening.at
    return left, left + opening.width / 2, left + opening.width


def _ring_thickness(opening: Opening, bond: Bond) -> float:
    return bond.length / 2 if opening.ring is None else opening.ring


def _cut_opening(runs: list[WallStretch], hole: Interval, label: str, level: float) -> list[WallStretch]:
    for i, run in enumerate(runs):
        if run.inner[0] <= hole[0] + LENGTH_TOLERANCE and hole[1] <= run.inner[1] + LENGTH_TOLERANCE:
            return runs[:i] + _cut_out(run, hole) + runs[i + 1 :]
    raise InputError(f"{label} with its lintel or arch takes {hole[0]:g} to {hole[1]:g} m of the course at {level:g} m, where "
                     "the wall has gaps or ends; move it, make it smaller or the wall longer")  # fmt: skip


def _heads(wall: Wall, number: int, levels: Array, course: int, hole: Interval, bond: Bond) -> list[tuple[str, Array, int]]:
    """Name, outline and leaves of the stones over an opening, in the course where they begin."""
    opening = wall.openings[number - 1]
    sill, head = _bed_number(levels, opening.sill), _bed_number(levels, opening.sill + opening.height)
    if course != head:
        return []
    if opening.head == "lintel":
        return [(f"{wall.name}-lintel-{number}", _trapezoid(hole, hole, levels[head], levels[head + 1]), 1)]
    _, centre, _ = _jamb_positions(wall, opening)
    label = f"{wall.name}: the arch of opening {number}"
    outlines = ring_stones(opening.width / 2, _ring_thickness(opening, bond), centre, levels[head:], label)
    if opening.head == "round":
        outlines += ring_stones(opening.width / 2, _ring_thickness(opening, bond), centre, levels[sill::-1], label)
    return [(f"{wall.name}-voussoir-{number}-{i}", outline, 1) for i, outline in enumerate(outlines, 1)]


def _divide(run: WallStretch, start: float, bond: Bond, course: int) -> Iterator[tuple[Interval, Interval, int]]:
    """Bottom, top and leaves of the stones of a run."""
    cells, shift = bond.cells[course % len(bond.cells)], bond.shift[course % len(bond.shift)]
    edges = np.concatenate([[0.0], np.cumsum([length for length, _ in cells])])
    period, (first, last) = edges[-1], run.inner
    repeats = np.arange(np.floor((first - start - shift) / period), np.ceil((last - start - shift) / period) + 1)
    joints = (start + shift + repeats[:, None] * period + edges[:-1]).ravel()
    leaves = np.tile([count for _, count in cells], len(repeats))
    sliver = MIN_STONE_SHARE * bond.length
    kept = joints[(joints > first + sliver - LENGTH_TOLERANCE) & (joints < last - sliver + LENGTH_TOLERANCE)]
    for low, high in run.crossings:  # the stone at a crossing must extend beyond it, or else the walls would not interlock
        kept = kept[(kept < low - sliver + LENGTH_TOLERANCE) | (kept > high + sliver - LENGTH_TOLERANCE)]
    lows, highs = [run.bottom[0], *kept, run.bottom[1]], [run.top[0], *kept, run.top[1]]
    for i in range(len(kept) + 1):
        bottom, top = (lows[i], lows[i + 1]), (highs[i], highs[i + 1])
        middle = (max(bottom[0], top[0]) + min(bottom[1], top[1])) / 2
        yield bottom, top, int(leaves[np.searchsorted(joints, middle) - 1])


def _trapezoid(bottom: Interval, top: Interval, low: float, high: float) -> Array:
    """(n, 2) outline in elevation, counter-clockwise; a triangle at the peak of a gable."""
    corners = [(bottom[0], low), (bottom[1], low), (top[1], high)]
    return np.array(corners + ([(top[0], high)] if top[1] - top[0] > LENGTH_TOLERANCE else []))


def _stones(name: str, outline: Array, leaves: int, along: str, depth: Interval) -> Iterator[Block]:
    """Yields the stones of an outline, one per leaf; "<name>-back" is behind the first."""
    if along == "y":  # built along x, then rotated: y comes from x and x from -y
        depth = -depth[1], -depth[0]
    across = [depth[0] + (depth[1] - depth[0]) * i / leaves for i in range(leaves)] + [depth[1]]
    for leaf in range(leaves):
        stone = _solid(outline, (across[leaf], across[leaf + 1]), f"{name}-back" if leaf else name)
        yield stone if along == "x" else move_blocks([stone], turn=np.pi / 2)[0]


def _solid(outline: Array, depth: Interval, name: str) -> Block:
    low, high = outline.min(axis=0), outline.max(axis=0)
    upright = len(outline) == 4 and np.isin(outline, [low, high]).all()
    if upright:
        return box((low[0], depth[0], low[1]), (high[0], depth[1], high[1]), name=name)
    return prism(outline, depth, name=name)
