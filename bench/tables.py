"""Numbers as words and tables, for the reports of the benchmark."""

from collections.abc import Iterable, Sequence
from functools import partial
from textwrap import fill as wrap
from typing import Any

import numpy as np

fill = partial(wrap, width=128, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in [list(head), ["---"] * len(head), *(list(row) for row in body)]]
    return "\n".join(lines)


def factor(value: float) -> str:
    """How many times, with two figures or more."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def span(values: Sequence[float], digits: int | None = None) -> str:
    """From the least to the largest."""
    low, high = (f"{value:.{digits}f}" if digits else factor(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def power(small: tuple[int, float], large: tuple[int, float]) -> float:
    """p in ms ~ blocks^p between two (blocks, ms)."""
    return float(np.log(large[1] / small[1]) / np.log(large[0] / small[0]))


def taken(session: dict[str, Any]) -> str:
    """When, where and of what the rows of a session were measured."""
    machine = session["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return fill(f"Taken on {session['date']} at revision `{session['revision']}`: {machine['processor']}, {machine['cores']} "
                f"cores, {machine['system']}; {versions}. Load average {session['load'][0]:.1f} to {session['load'][1]:.1f}; "
                "above 1, others were at work on the machine.")  # fmt: skip
