"""Four numbers at once: every operation has, lane by lane, the bits of the same operation on one number. Judge: NumPy."""

import numpy as np
import pytest

from drystone.base.kernel import kernel
from drystone.base.kernel.lanes import (
    absolute,
    bits,
    either,
    every,
    gather,
    load,
    maximum,
    minimum,
    root,
    same,
    scatter,
    select,
    store,
)  # fmt: skip

X = np.array([3.0, -0.1, 7.5, 1e-9])
Y = np.array([-2.0, 0.3, 7.5, 4.0])


@kernel
def _arithmetic(x, y, out):
    a, b = load(x, 0), load(y, 0)
    store(out, 0, a + b)
    store(out, 4, a - 2.0 * b)
    store(out, 8, a * b / (b - 5))
    store(out, 12, -a)
    store(out, 16, root(absolute(b)))
    store(out, 20, maximum(a, b))
    store(out, 24, minimum(a, 0.5))
    store(out, 28, select((a < b) | (a >= 7.5), a, 0.0))
    store(out, 32, select(~(a > b) & (b > 0.0), same(1), same(2.5)))
    c = a
    c += b
    c *= 2.0
    store(out, 36, c)


@kernel
def _questions(x, y):
    a, b = load(x, 0), load(y, 0)
    return either(a > b), every(a > b), either(a > 100.0), every(a < 100.0), bits(a > b), bits((a > b) ^ (a > 0.0))


@kernel
def _transposed(rows, out):
    a, b, c, d = gather(rows, 0, 8, 4, 16)
    store(out, 0, a)
    store(out, 4, b)
    store(out, 8, c)
    store(out, 12, d)
    scatter(out, 16, 24, 20, 32, a, b, c, d)


def test_arithmetic():
    out = np.empty(40)
    _arithmetic(X, Y, out)
    twice = (X + Y) * 2.0
    wanted = [X + Y, X - 2.0 * Y, X * Y / (Y - 5), -X, np.sqrt(np.abs(Y)), np.maximum(X, Y), np.minimum(X, 0.5),
              np.where((X < Y) | (X >= 7.5), X, 0.0), np.where(~(X > Y) & (Y > 0), 1.0, 2.5), twice]  # fmt: skip
    assert np.array_equal(out.reshape(10, 4), wanted)


def test_questions():
    assert _questions(X, Y) == (True, False, False, True, 0b0001, 0b1100)


def test_rows_become_columns_and_back():
    rows, out = np.arange(20.0), np.zeros(36)
    _transposed(rows, out)
    picked = np.array([rows[0:4], rows[8:12], rows[4:8], rows[16:20]])
    assert np.array_equal(out[:16].reshape(4, 4), picked.T)
    assert np.array_equal([out[16:20], out[24:28], out[20:24], out[32:36]], picked)


@kernel
def _remainder(x):
    return load(x, 0) % load(x, 0)


def test_what_is_unknown_is_refused():
    with pytest.raises(Exception, match="Lanes"):
        _remainder(X)
