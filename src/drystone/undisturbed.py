"""Where Ctrl-C and SIGTERM have to wait: an exception inside a call of HDF5 or of a Numba kernel is lost, or breaks it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def undisturbed(patience: float = float("inf")) -> Iterator[None]:
    """The signals are heard at the end of this, or at once from the first after `patience` of them."""
    if threading.current_thread() is not threading.main_thread():  # the others never hear of signals
        yield
        return
    heard: list[int] = []

    def listen(number: int, _: FrameType | None) -> None:
        heard.append(number)
        if len(heard) > patience:
            signal.signal(number, before[number])
            signal.raise_signal(number)

    before: dict[int, Any] = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        signal.signal(each, listen)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for first in heard[:1]:
            signal.raise_signal(first)
