"""Helper threads of kernels: a job is over when all its tiles are done, whoever did them."""

import threading

from drystone.base.kernel import unlocked
from drystone.base.kernel.helper_threads import HELPERS_DONE, KERNEL_DONE, OFFERED_TILES, make_control
from drystone.base.kernel.helper_threads import _next_kernel_tile as next_tile


@unlocked
def _ask(control):
    return next_tile(control)


def test_a_kernel_that_finds_all_tiles_taken_waits_until_they_are_done():
    """As it does when it has lost its core before it came to the first tile of its own job."""
    control, told = make_control(), []
    _ask(control)  # compiled
    control[OFFERED_TILES], control[KERNEL_DONE], control[HELPERS_DONE] = 7, 3, 3
    kernel = threading.Thread(target=lambda: told.append(_ask(control)), daemon=True)
    kernel.start()
    kernel.join(0.05)
    assert kernel.is_alive()
    control[HELPERS_DONE] = 4
    kernel.join(30.0)
    assert told == [-1]
