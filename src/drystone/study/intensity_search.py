"""The intensities at which an accelerogram is tried next, from what is known of it so far: by intensity, True if the structure
collapses, False if it stands, None if the trial failed. An empty list means that nothing is left to try.

>>> doubling_steps(1.0, 5.0)
[1.0, 2.0, 4.0, 5.0]
>>> next_intensities({1.0: False, 2.0: True}, 1.0, 5.0, 0.1, beyond=0)
[1.41421]
"""

import math
from collections.abc import Mapping, Sequence

Known = Mapping[float, bool | None]


def bracket(known: Known) -> tuple[float, float]:
    """The ends between which the capacity lies: the highest intensity that stands below the lowest collapse, and the lowest
    collapse. 0 or inf if not known."""
    high = min((x for x, collapsed in known.items() if collapsed), default=math.inf)
    return max((x for x, collapsed in known.items() if collapsed is False and x < high), default=0.0), high


def stands_above_collapse(known: Known) -> bool:
    """Whether the structure stands at some intensity above its lowest collapse."""
    return any(collapsed is False and x > bracket(known)[1] for x, collapsed in known.items())


def next_middle_level(known: Known, levels: Sequence[float]) -> list[float]:
    """The middle of the levels that are still open if the structure is assumed to stand below every level at which it stands,
    and to collapse above every level at which it collapses."""
    low, high = bracket(known)
    open_ones = [x for x in levels if low < x < high and x not in known]
    return open_ones[len(open_ones) // 2 :][:1]


def next_intensities(known: Known, lowest: float, highest: float, tolerance: float, beyond: int) -> list[float]:
    """Double the intensity until the structure collapses, try `beyond` more doublings to see whether it stands again, and halve
    the bracket until its ends differ by no more than the share `tolerance`. A failed trial ends the halving."""
    ladder = doubling_steps(lowest, highest)
    for k, rung in enumerate(ladder):
        if rung not in known:
            return [rung]
        if known[rung]:
            above = [x for x in ladder[k + 1 : k + 1 + beyond] if x not in known]
            return _bracket_middle(known, tolerance) + above
    return []


def _bracket_middle(known: Known, tolerance: float) -> list[float]:
    low, high = bracket(known)
    if low == 0 or high / low <= 1 + tolerance:
        return []
    middle = round_to_six_digits(math.sqrt(low * high))
    return [] if middle in known else [middle]


def doubling_steps(lowest: float, highest: float) -> list[float]:
    """The lowest intensity and its doublings, ending with the highest."""
    count = math.ceil(math.log2(highest / lowest) - 1e-9)
    return [round_to_six_digits(lowest * 2.0**k) for k in range(count)] + [round_to_six_digits(highest)]


def round_to_six_digits(x: float) -> float:
    """Round to six digits, so that all machines try the same intensities."""
    return float(f"{x:.6g}")
