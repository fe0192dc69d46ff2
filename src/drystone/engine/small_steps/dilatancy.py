"""Joints that open as they slide (T342). How far they slid in a small step is told by what friction took."""

from drystone.base.kernel import inner
from drystone.engine.small_steps.patch_rows import (
    COLUMNS,
    DILATANCY,
    DILATING,
    DILATION,
    FRICTION,
    FRICTION_WORK,
    LANES,
    NORMAL_FORCE,
    WORK_BEFORE,
)

SMOOTHING = 0.25  # share of a step's sliding that the speed of opening takes over: all at once, lift and friction would ring


@inner
def open_by_sliding(groups, dt, rows):
    """After a small step: how far patches have opened, how fast they do in the next step, and what of the work of friction has
    gone into lifting."""
    for g in range(groups):
        for lane in range(LANES):
            r = g * COLUMNS * LANES + lane
            if rows[r + LANES * DILATANCY] == 0.0:
                continue
            speed, normal = rows[r + LANES * DILATING], rows[r + LANES * NORMAL_FORCE]
            rows[r + LANES * DILATION] += dt * speed
            taken = rows[r + LANES * FRICTION_WORK] - rows[r + LANES * WORK_BEFORE]
            rows[r + LANES * FRICTION_WORK] -= dt * speed * normal
            rows[r + LANES * WORK_BEFORE] = rows[r + LANES * FRICTION_WORK]
            slid = taken / (rows[r + LANES * FRICTION] * normal) if normal > 0.0 else 0.0
            opening = rows[r + LANES * DILATANCY] * slid / dt
            rows[r + LANES * DILATING] = speed + SMOOTHING * (opening - speed) if normal > 0.0 else 0.0
