"""BLAS has one thread inside a step and the user's number everywhere else. Truth: the numbers that the test itself has set."""

import sys
import threading
from functools import partial

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from drystone import build
from drystone.analysis.statics.rigid_equilibrium import solve_equilibrium
from drystone.base import blas
from drystone.base.blas import Library, one_blas_thread
from drystone.engine.simulation import simulate
from drystone.engine.solvers.methods import make_solver
from drystone.structure.model import build_model

USERS = 3  # threads of BLAS that the user has asked for


def threads():
    """Of all BLAS libraries of this process."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _users_setting():
    with threadpool_limits(USERS, user_api="blas"):
        assert threads() == {USERS}
        yield
        assert threads() == {USERS}, "the process is as the user left it"


class Watched:
    """A solver that notes how many threads BLAS has while it works, and fails when it is told to."""

    def __init__(self):
        self.seen, self.fails = [], False
        self._solve = make_solver("native")

    def __call__(self, problem, guess):
        self.seen.append(threads())
        if self.fails:
            raise FloatingPointError("made up")
        return self._solve(problem, guess)


def column():
    return build_model(build.column(courses=2), friction=0.6)


def steps(solver):
    return simulate(column(), duration=1.0, time_step=1e-3, solver=solver)


def test_one_history():
    solver = Watched()
    history = steps(solver)
    assert threads() == {USERS}, "before the first step"
    for _ in range(3):
        next(history)
        assert threads() == {USERS}, "inside the loop of the user"
    history.close()
    assert threads() == {USERS}
    assert solver.seen == [{1}] * len(solver.seen) != []


@pytest.mark.parametrize("first", [0, 1])
def test_two_histories_in_turn(first):
    """Closed in either order, they change nothing for each other or for the user."""
    solvers = Watched(), Watched()
    histories = [steps(solver) for solver in solvers]
    for _ in range(2):
        for history in histories:
            next(history)
            assert threads() == {USERS}
    histories[first].close()
    assert threads() == {USERS}
    next(histories[1 - first])
    histories[1 - first].close()
    assert threads() == {USERS}
    assert all(solver.seen == [{1}] * len(solver.seen) != [] for solver in solvers)


def test_the_user_changes_the_number_between_steps():
    history = steps(make_solver("native"))
    next(history)
    with threadpool_limits(2, user_api="blas"):
        next(history)
        assert threads() == {2}
    next(history)


def test_a_step_that_fails():
    solver = Watched()
    history = steps(solver)
    next(history)
    solver.fails = True
    with pytest.raises(FloatingPointError):
        next(history)
    assert solver.seen[-1] == {1}
    assert threads() == {USERS}


def test_statics():
    solver = Watched()
    assert solve_equilibrium(column(), solver=solver).stands
    assert solver.seen == [{1}] * len(solver.seen) != []


def test_two_threads_that_overlap():
    """One begins, the other begins, the first ends, the other ends: one thread until the last has ended."""
    other_is_in, first_is_out, seen = threading.Event(), threading.Event(), []

    def other():
        with one_blas_thread():
            other_is_in.set()
            assert first_is_out.wait(60)
            seen.append(threads())

    second = threading.Thread(target=other)
    with one_blas_thread():
        second.start()
        assert other_is_in.wait(60)
    first_is_out.set()
    second.join(60)
    assert seen == [{1}], "the end of the first computation does not disturb the second"
    assert threads() == {USERS}


def test_two_histories_in_two_threads():
    """A hundred steps each, with the interpreter switching between the threads as often as it can."""
    solvers = Watched(), Watched()

    def follow(solver):
        history = steps(solver)
        for _ in range(100):
            next(history)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        both = [threading.Thread(target=partial(follow, solver)) for solver in solvers]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join(300)
    finally:
        sys.setswitchinterval(before)
    assert all(len(solver.seen) >= 100 for solver in solvers)
    assert all(seen == {1} for solver in solvers for seen in solver.seen)
    assert threads() == {USERS}


def test_another_thread_than_the_one_in_charge():
    """threadpoolctl ignores all threads of Python but the one inside its block, here this one; drystone does not."""
    solver = Watched()
    other = threading.Thread(target=lambda: next(steps(solver)))
    other.start()
    other.join(60)
    assert solver.seen == [{1}] * len(solver.seen) != []


class Made:
    """A library that is made up, with a number of threads for the process or for each thread of Python."""

    def __init__(self, path, of_each_thread):
        self._own = threading.local() if of_each_thread else self
        self._own.number = 7
        self.library = Library(path, self.threads, self.set_threads, of_each_thread)

    def threads(self):
        return getattr(self._own, "number", 7)

    def set_threads(self, number):
        self._own.number = number


def test_a_library_that_is_loaded_later(monkeypatch):
    """It is found once a module was imported, also while another computation is under way."""
    late, found = Made("late", False), blas.find_libraries()
    monkeypatch.setattr(blas, "_limit", blas._Limit())
    monkeypatch.setattr(blas, "find_libraries", lambda: list(found))
    with one_blas_thread():
        found.append(late.library)
        monkeypatch.setitem(sys.modules, "a_module_of_this_test", sys)
        with one_blas_thread():
            assert late.threads() == 1
        assert late.threads() == 1, "until the last computation ends"
    assert late.threads() == 7


def test_a_library_with_a_number_for_each_thread(monkeypatch):
    """As MKL: every thread of Python is limited while it computes, and has its own number back when it ends."""
    made = Made("made up", True)
    monkeypatch.setattr(blas, "_limit", blas._Limit())
    monkeypatch.setattr(blas, "find_libraries", lambda: [made.library])
    other_is_in, first_is_out, seen = threading.Event(), threading.Event(), []

    def other():
        made.set_threads(5)
        with one_blas_thread():
            seen.append(made.threads())
            other_is_in.set()
            assert first_is_out.wait(60)
            seen.append(made.threads())
        seen.append(made.threads())

    second = threading.Thread(target=other)
    with one_blas_thread():
        second.start()
        assert other_is_in.wait(60)
        assert made.threads() == 1
    assert made.threads() == 7
    first_is_out.set()
    second.join(60)
    assert seen == [1, 1, 5]
