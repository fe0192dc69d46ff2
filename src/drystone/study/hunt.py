"""Which intensity a record is tried at next: what is known of it comes in, by intensity (True: it collapses, None: the trial
failed), the intensities wanted go out; none when it is done.

>>> rungs(1.0, 5.0)
[1.0, 2.0, 4.0, 5.0]
>>> hunted({1.0: False, 2.0: True}, 1.0, 5.0, 0.1, beyond=0)
[1.41421]
"""

import math
from collections.abc import Mapping, Sequence

Known = Mapping[float, bool | None]


def bracket(known: Known) -> tuple[float, float]:
    """Where the capacity is: above the highest that stands below the lowest collapse, at most that; 0 or inf if not known."""
    high = min((x for x, collapsed in known.items() if collapsed), default=math.inf)
    return max((x for x, collapsed in known.items() if collapsed is False and x < high), default=0.0), high


def stands_above_collapse(known: Known) -> bool:
    """Whether it stands somewhere above a collapse."""
    return any(collapsed is False and x > bracket(known)[1] for x, collapsed in known.items())


def next_middle_level(known: Known, levels: Sequence[float]) -> list[float]:
    """Of a record that is taken to stand below where it stands and to collapse above where it collapses: the middle of the
    levels in question."""
    low, high = bracket(known)
    open_ones = [x for x in levels if low < x < high and x not in known]
    return open_ones[len(open_ones) // 2 :][:1]


def next_intensities(known: Known, lowest: float, highest: float, tolerance: float, beyond: int) -> list[float]:
    """Up by factors of 2 until it collapses, `beyond` rungs more to see whether it stands again, and halves of the bracket
    until its ends differ by the share `tolerance`. A failed trial ends the halving."""
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
    """From the lowest up by factors of 2, the highest last."""
    count = math.ceil(math.log2(highest / lowest) - 1e-9)
    return [round_to_six_digits(lowest * 2.0**k) for k in range(count)] + [round_to_six_digits(highest)]


def round_to_six_digits(x: float) -> float:
    """To six digits, so that all machines try the same."""
    return float(f"{x:.6g}")
