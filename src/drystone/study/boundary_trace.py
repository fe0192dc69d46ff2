"""Find, with few trials, where a row of levels turns from standing to collapse or back. The functions take what is known so
far, by level whether it collapsed, and return the levels to try next; nothing else is remembered.

A row starts with its first levels. It is widened by doubling, first downwards and then upwards, until its lowest tried level
stands and its highest collapses; then every transition is halved until its two levels are neighbours (T106). The transitions
found are those that the first levels separate: one between any two that differ. A level whose trial failed is left out, and a
neighbour takes its place.

>>> collapsed_at = {0: False, 8: True}
>>> while next_levels((0, 8), collapsed_at, (), 9):
...     collapsed_at |= {level: level > 4 for level in next_levels((0, 8), collapsed_at, (), 9)}
>>> transitions(collapsed_at), sorted(collapsed_at)
([Transition(lower=4, upper=5)], [0, 4, 5, 6, 8])
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

Collapsed = Mapping[int, bool]  # by level: whether it collapsed


class Transition(NamedTuple):
    """Two levels of which one stands and the other collapses, with no known level between them."""

    lower: int
    upper: int


def transitions(collapsed_at: Collapsed) -> list[Transition]:
    """The transitions, from the lowest level upwards."""
    return [
        Transition(lower, upper)
        for lower, upper in pairwise(sorted(collapsed_at))
        if collapsed_at[lower] != collapsed_at[upper]
    ]


def next_levels(first_levels: Collection[int], collapsed_at: Collapsed, failed: Collection[int], count: int) -> list[int]:
    """The levels to try next in a row of `count` levels, lowest first; none if the row is done."""
    missing = [level for level in sorted(first_levels) if level not in collapsed_at and level not in failed]
    if missing or not collapsed_at:
        return missing
    lowest, highest = min(collapsed_at), max(collapsed_at)
    span = max(highest - lowest, 1)
    halved = [_nearest((lower + upper) // 2, range(lower + 1, upper), failed) for lower, upper in transitions(collapsed_at)]
    below = _nearest(lowest - span, range(lowest), failed) if collapsed_at[lowest] else None
    above = _nearest(highest + span, range(highest + 1, count), failed) if not collapsed_at[highest] and below is None else None
    return [level for level in (below, *halved, above) if level is not None]


def _nearest(target: int, among: range, failed: Collection[int]) -> int | None:
    """The level nearest to `wanted` whose trial did not fail; None if all failed."""
    return min((level for level in among if level not in failed), key=lambda level: abs(level - target), default=None)


def evenly_spread_levels(scan: int, count: int) -> list[int]:
    """`scan` levels, evenly spread from the lowest to the highest."""
    return sorted({round(i * (count - 1) / max(scan - 1, 1)) for i in range(scan)})


def initial_levels_between(rows: Sequence[Collapsed], count: int) -> list[int]:
    """The first levels of a row between others that are done: one below their first transition, one above their last, and one
    in the middle between any two. If the others have equally many transitions the averages are taken, otherwise all of them."""
    found = [_ends_and_middles(row, count) for row in rows if row]
    if not found:
        return [0, count - 1]
    if len({len(levels) for levels in found}) > 1:
        levels = sorted(level for each in found for level in each)
        return sorted({levels[0], levels[-1], *(level for each in found for level in each[1:-1])})
    apart = [max(levels) - min(levels) for levels in zip(*found, strict=True)]
    lowest, *middles, highest = [sum(levels) // len(levels) for levels in zip(*found, strict=True)]
    return sorted({max(lowest - apart[0] // 8, 0), *middles, min(highest + apart[-1] // 8, count - 1)})


def _ends_and_middles(collapsed_at: Collapsed, count: int) -> list[int]:
    """The levels below the first transition of a row, in the middle between two transitions, and above the last. The transition
    of a row that has none is assumed beyond its end: below the row if all of it collapsed."""
    found = transitions(collapsed_at)
    if not found:
        end = 0 if any(collapsed_at.values()) else count - 1
        return [end, end]
    middles = [(one.upper + other.lower) // 2 for one, other in pairwise(found)]
    return [found[0].lower, *middles, found[-1].upper]


def done_neighbours(count: int, every: int) -> dict[int, tuple[int, ...]]:
    """For each column, in the order in which columns can be computed: the two completed columns around it; none for the columns
    that are scanned, which are every `every`-th one and the last."""
    scanned = sorted({*range(0, count, every), count - 1})
    around: dict[int, tuple[int, ...]] = dict.fromkeys(scanned, ())
    gaps = list(pairwise(scanned))
    while gaps:
        around |= {(left + right) // 2: (left, right) for left, right in gaps if right - left > 1}
        gaps = [half for left, right in gaps if right - left > 1
                for half in ((left, (left + right) // 2), ((left + right) // 2, right))]  # fmt: skip
    return around
