"""Numbers as JSON has them, which knows neither infinity nor nan."""

import math


def finite_or_none(value: float) -> float | None:
    """The number, or None if it is not finite.

    >>> finite_or_none(2), finite_or_none(math.inf)
    (2.0, None)
    """
    return float(value) if math.isfinite(value) else None
