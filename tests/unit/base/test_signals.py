"""Signals that wait. Truth: the order in which things happen."""

import signal

import pytest

from drystone.base.signals import defer_signals


@pytest.fixture
def heard():
    """The signals that got through; handlers are put back."""
    numbers, before = [], {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        signal.signal(each, lambda number, _: numbers.append(number))
    yield numbers
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_the_end(heard, number):
    with defer_signals():
        for _ in range(3):
            signal.raise_signal(number)
        assert heard == []
    assert heard == [number]


def test_the_second_does_not_wait_where_patience_is_one(heard):
    with defer_signals(max_deferred=1):
        signal.raise_signal(signal.SIGINT)
        assert heard == []
        signal.raise_signal(signal.SIGINT)
        assert heard == [signal.SIGINT]


def test_what_is_inside_is_left_alone_by_the_second_too(heard):
    with defer_signals(max_deferred=1):
        with defer_signals():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == []
    assert heard == [signal.SIGINT]


def test_ctrl_c_is_a_keyboard_interrupt_after_the_end():
    done = []

    def pressed():
        with defer_signals():
            signal.raise_signal(signal.SIGINT)
            done.append("all")

    with pytest.raises(KeyboardInterrupt):
        pressed()
    assert done == ["all"]
