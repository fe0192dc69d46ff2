"""Rows of levels traced. Truth: the whole row, looked at level by level."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drystone.study.boundary_trace import (
    done_neighbours,
    evenly_spread_levels,
    initial_levels_between,
    next_levels,
    transitions,
)


def traced(row, looks, fails=()):
    """What is seen of a row when all that is wanted is tried."""
    seen, failed = {}, set()
    while wanted := next_levels(looks, seen, failed, len(row)):
        assert not set(wanted) & (set(seen) | failed), "nothing is tried twice"
        seen |= {level: bool(row[level]) for level in wanted if level not in fails}
        failed |= set(wanted) & set(fails)
    return seen


def all_changes(row):
    return [(i, i + 1) for i in range(len(row) - 1) if row[i] != row[i + 1]]


@given(st.integers(2, 300), st.data())
def test_one_boundary_is_found_from_any_looks(count, data):
    boundary = data.draw(st.integers(0, count))  # the first that collapses; count: none does
    looks = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=3))
    row = np.arange(count) >= boundary
    seen = traced(row, looks)
    assert transitions(seen) == all_changes(row)
    assert transitions(seen) or (row[min(seen)] and min(seen) == 0) or (not row[max(seen)] and max(seen) == count - 1)


@given(st.integers(20, 300), st.integers(-8, 8), st.data())
def test_a_good_guess_costs_little(count, off, data):
    """Counted by hand: two looks that are off by d need about log2(d) to widen and as many to halve."""
    boundary = data.draw(st.integers(10, count - 10))
    row = np.arange(count) >= boundary
    seen = traced(row, (boundary - 1 + off, boundary + off))
    assert len(seen) <= 2 + 2 * np.ceil(np.log2(1 + abs(off)))


@given(st.lists(st.booleans(), min_size=30, max_size=120), st.integers(2, 12))
def test_every_change_between_looks_is_a_change(row, scan):
    """Rows of any shape: what is found is there, and all looks that differ have a change between them."""
    looks = evenly_spread_levels(scan, len(row))
    seen = traced(row, looks)
    assert set(transitions(seen)) <= set(all_changes(row))
    assert len(transitions(seen)) >= sum(row[a] != row[b] for a, b in pairwise(looks))


@given(st.lists(st.booleans(), min_size=10, max_size=60), st.data())
def test_the_order_of_answers_changes_nothing(row, data):
    """Rows of any shape, looks anywhere, some trials failing: one answer at a time, in any order, or all at once."""
    looks = data.draw(st.sets(st.integers(0, len(row) - 1), min_size=1, max_size=4))
    fails = data.draw(st.sets(st.integers(0, len(row) - 1), max_size=5))
    seen, failed = {}, set()
    while wanted := next_levels(looks, seen, failed, len(row)):
        level = data.draw(st.sampled_from(wanted))
        failed |= {level} & fails
        seen |= {level: row[level]} if level not in fails else {}
    assert seen == traced(row, looks, fails)


def test_an_island_as_wide_as_the_scan_is_found():
    row = np.arange(200) >= 40
    row[90:111] = False  # looks are 20 levels apart at most
    seen = traced(row, evenly_spread_levels(11, 200))
    assert transitions(seen) == [(39, 40), (89, 90), (110, 111)]
    assert len(seen) <= 11 + 3 * 5


@given(st.sets(st.integers(0, 99), max_size=40))
def test_failed_levels_are_no_boundary(fails):
    """The change is between the nearest levels that are known."""
    row = np.arange(100) >= 50
    seen = traced(row, (0, 99), fails)
    known = sorted(set(range(100)) - fails)
    wanted = [(a, b) for a, b in pairwise(known) if row[a] != row[b]]
    if {0, 99} - fails:
        assert transitions(seen) == wanted
    else:
        assert not seen


def test_rows_without_any_answer_end():
    assert next_levels((0, 9), {}, {0, 9}, 10) == []


def test_looks_of_a_column_between_two():
    """Counted by hand."""
    one = {0: False, 9: False, 10: True, 99: True}
    higher = {0: False, 49: False, 50: True, 99: True}
    other = {0: False, 19: False, 20: True, 39: True, 40: False, 60: False, 61: True}
    lower = {level - 10: collapsed for level, collapsed in other.items()}
    assert initial_levels_between([one, one], 100) == [9, 10]
    assert initial_levels_between([one, higher], 100) == [24, 35]  # 29 and 30, give or take an eighth of 40
    assert initial_levels_between([one, other], 100) == [9, 29, 50, 61]
    assert initial_levels_between([other, lower], 100) == [13, 24, 45, 57]
    assert initial_levels_between([{0: False, 99: False}] * 2, 100) == [99]
    assert initial_levels_between([{0: True, 99: True}, {}], 100) == [0]
    assert initial_levels_between([{}, {}], 100) == [0, 99]


@pytest.mark.parametrize(("count", "every"), [(1, 1), (1, 4), (2, 4), (20, 4), (20, 1), (21, 5), (7, 100)])
def test_every_column_comes_after_its_neighbours(count, every):
    done = set()
    for column, around in done_neighbours(count, every).items():
        assert set(around) <= done
        assert len(around) in (0, 2)
        assert not around or around[0] < column < around[1]
        done.add(column)
    assert done == set(range(count))
