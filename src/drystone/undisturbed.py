"""Where Ctrl-C and SIGTERM have to wait: an exception inside a call of HDF5 or of a compiled kernel is lost, or breaks it."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

DEFERRED_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Deferral(NamedTuple):
    """Signals that wait."""

    handlers: dict[int, Any]  # as they were before
    handler: Callable[[int, FrameType | None], None]
    received: list[int]


_deferrals: list[_Deferral] = []  # of the main thread, the innermost last


def _in_main_thread() -> bool:
    """The other threads never hear of signals."""
    return threading.current_thread() is threading.main_thread()


def leave_ctrl_c_to_parent() -> None:
    """For processes that help another one: Ctrl-C ends that one, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def defer_signals(patience: float = float("inf")) -> Iterator[None]:
    """The signals are heard at the end of this, or at once from the first after `patience` of them."""
    if not _in_main_thread():
        yield
        return
    heard: list[int] = []

    def listen(number: int, _: FrameType | None) -> None:
        heard.append(number)
        if len(heard) > patience:
            signal.signal(number, before[number])
            signal.raise_signal(number)

    before: dict[int, Any] = {each: signal.getsignal(each) for each in DEFERRED_SIGNALS}
    for each in before:
        signal.signal(each, listen)
    _deferrals.append(_Deferral(before, listen, heard))
    try:
        yield
    finally:
        _deferrals.pop()
        for number, handler in before.items():
            signal.signal(number, handler)
        for first in heard[:1]:
            signal.raise_signal(first)


@contextmanager
def deliver_signals() -> Iterator[None]:
    """Inside `undisturbed`, where something takes long that may be broken off: signals are heard at once, those that waited
    first. One whose exception was lost, as it is in a function that C calls, is raised again at the end."""
    if not _in_main_thread() or not _deferrals:
        yield
        return
    outer = _deferrals[-1]
    lost: list[int] = []

    def listen(number: int, _: FrameType | None) -> None:
        lost.append(number)
        signal.signal(number, outer.handlers[number])
        try:
            signal.raise_signal(number)
        finally:
            signal.signal(number, listen)

    for each in DEFERRED_SIGNALS:
        signal.signal(each, listen)
    try:
        for waiting in outer.received[:1]:
            outer.received.clear()
            signal.raise_signal(waiting)
        yield
        for first in lost[:1]:
            signal.raise_signal(first)
    finally:
        for each in DEFERRED_SIGNALS:
            signal.signal(each, outer.handler)
