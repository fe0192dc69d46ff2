"""Defers Ctrl-C and SIGTERM: an exception raised inside a call of HDF5 or of a compiled kernel is lost, or breaks the call."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

DEFERRED_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Deferral(NamedTuple):
    """The signals that are deferred at the moment."""

    handlers: dict[int, Any]  # the handlers before the deferral, by signal
    handler: Callable[[int, FrameType | None], None]
    received: list[int]  # the signals received since


_deferrals: list[_Deferral] = []  # those of the main thread, the innermost last


def _in_main_thread() -> bool:
    """Python delivers signals to the main thread only."""
    return threading.current_thread() is threading.main_thread()


def leave_ctrl_c_to_parent() -> None:
    """Ignore Ctrl-C in a worker process: it ends the parent, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def defer_signals(max_deferred: float = float("inf")) -> Iterator[None]:
    """Deliver signals at the end of the block. Once `max_deferred` of them were deferred, each further one is delivered at
    once."""
    if not _in_main_thread():
        yield
        return
    received: list[int] = []

    def handle(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) > max_deferred:
            signal.signal(number, before[number])
            signal.raise_signal(number)

    before: dict[int, Any] = {each: signal.getsignal(each) for each in DEFERRED_SIGNALS}
    for each in before:
        signal.signal(each, handle)
    _deferrals.append(_Deferral(before, handle, received))
    try:
        yield
    finally:
        _deferrals.pop()
        for number, handler in before.items():
            signal.signal(number, handler)
        for first in received[:1]:
            signal.raise_signal(first)


@contextmanager
def deliver_signals() -> Iterator[None]:
    """Inside `defer_signals`, deliver signals at once during a long operation that may be interrupted; the deferred ones come
    first. A signal whose exception was lost, as happens in a function called from C, is raised again at the end."""
    if not _in_main_thread() or not _deferrals:
        yield
        return
    outer = _deferrals[-1]
    undelivered: list[int] = []

    def handle(number: int, _: FrameType | None) -> None:
        undelivered.append(number)
        signal.signal(number, outer.handlers[number])
        try:
            signal.raise_signal(number)
        finally:
            signal.signal(number, handle)

    for each in DEFERRED_SIGNALS:
        signal.signal(each, handle)
    try:
        for waiting in outer.received[:1]:
            outer.received.clear()
            signal.raise_signal(waiting)
        yield
        for first in undelivered[:1]:
            signal.raise_signal(first)
    finally:
        for each in DEFERRED_SIGNALS:
            signal.signal(each, outer.handler)
