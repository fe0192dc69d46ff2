"""Block LU after a `Plan`, for a matrix that is not symmetric but has a symmetric pattern: Coulomb's exact law (T20).

`factor` holds the panels of the lower part with the whole own x own blocks on top, `upper` at the same offsets those of
the transposed upper part; of these only the rows below the own ones stay in use. Update matrices are full. Rows are
exchanged within a front only: the pattern, hence the plan, is that of the block Cholesky.
"""

import numpy as np

from drystone.kernel import kernel
from drystone.solvers.lapack import call
from drystone.solvers.ordering import extent


@kernel
def factorise_lu(plan, factor, upper, pivot, work, routine, letter, number, size):
    """Overwrite the assembled panels by L (unit diagonal) and U; False if a pivot is zero."""
    lower, right, transposed, plain, up = (letter[0:].ctypes.data, letter[1:].ctypes.data, letter[2:].ctypes.data,
                                           letter[3:].ctypes.data, letter[4:].ctypes.data)  # fmt: skip
    one, minus = number[0:].ctypes.data, number[1:].ctypes.data
    own_, height_, below_, info_ = size[0:].ctypes.data, size[1:].ctypes.data, size[2:].ctypes.data, size[3:].ctypes.data
    for s in range(plan.child.shape[0]):
        own, below, x0 = extent(plan, s)
        panel, update = plan.panel[s], plan.update[s]
        work[update:update + below * below] = 0.0
        _fold(factor, upper, panel, own, own + below)
        _add_children(plan, s, factor, upper, work, own, below)
        size[0], size[1], size[2], size[3] = own, own + below, below, 0
        top = factor[panel:].ctypes.data
        call(routine[3], (own_, own_, top, height_, pivot[x0:].ctypes.data, info_))  # type: ignore[call-arg]
        if size[3] != 0:
            return False
        if below > 0:
            _exchange(pivot[x0:x0 + own], upper, panel + own, own + below, below)
            rest, rest_up = factor[panel + own:].ctypes.data, upper[panel + own:].ctypes.data
            call(routine[1], (right, up, plain, plain, below_, own_, one, top, height_, rest, height_))
            call(routine[1], (right, lower, transposed, up, below_, own_, one, top, height_, rest_up, height_))
            call(routine[4], (plain, transposed, below_, below_, own_, minus, rest, height_, rest_up, height_, one,
                              work[update:].ctypes.data, below_))  # fmt: skip
    return True


@kernel
def _fold(factor, upper, panel, own, height):
    """Put what was assembled above the diagonal of the own block where it belongs, into the panel of `factor`."""
    for j in range(own):
        for i in range(j + 1, own):
            factor[panel + i * height + j] += upper[panel + j * height + i]


@kernel
def _exchange(pivot, upper, rest, height, below):
    """Exchange columns of the transposed upper panel as LAPACK exchanged the rows of the own block (counted from 1)."""
    for j in range(pivot.shape[0]):
        k = pivot[j] - 1
        if k != j:
            for i in range(below):
                a, b = rest + j * height + i, rest + k * height + i
                upper[a], upper[b] = upper[b], upper[a]


@kernel
def _add_children(plan, s, factor, upper, work, own, below):
    """Add the update matrices of the children to the panels and the update matrix of supernode s."""
    height, dof = own + below, plan.dof
    panel, update = plan.panel[s], plan.update[s]
    c = plan.child[s]
    while c >= 0:
        slot = plan.slot[plan.row_start[c]:plan.row_start[c + 1]]
        count, source = slot.shape[0], plan.update[c]
        inside = 0  # so many rows are the parent's own
        while inside < count and dof * slot[inside] < own:
            inside += 1
        stride = dof * count
        for j in range(inside):
            for jj in range(dof):
                take, put = source + (dof * j + jj) * stride, panel + (dof * slot[j] + jj) * height
                _add_column(work, take, factor, put, slot, 0, count, dof)
        for j in range(inside, count):
            for jj in range(dof):
                take, put = source + (dof * j + jj) * stride, update + (dof * slot[j] + jj - own) * below - own
                _add_column(work, take, work, put, slot, inside, count, dof)
        for i in range(inside):  # rows inside of columns outside, transposed
            for ii in range(dof):
                put = panel + (dof * slot[i] + ii) * height
                for j in range(inside, count):
                    take, into = source + dof * j * stride + dof * i + ii, put + dof * slot[j]
                    for jj in range(dof):
                        upper[into + jj] += work[take + jj * stride]
        c = plan.sibling[c]


@kernel
def _add_column(source, take, target, put, slot, begin, end, dof):
    """Scatter blocks begin:end of a column of a child's update matrix."""
    for i in range(begin, end):
        row = put + dof * slot[i]
        for ii in range(dof):
            target[row + ii] += source[take + dof * i + ii]


@kernel
def solve_lu(plan, factor, upper, pivot, right, out):
    """Forward through the exchanged rows and L, backward through U."""
    n, dof = right.shape
    x = np.empty(n * dof)
    for k in range(n):
        for i in range(dof):
            x[dof * k + i] = right[plan.order[k], i]
    gather = np.empty(n * dof)
    for s in range(plan.child.shape[0]):
        own, below, x0 = extent(plan, s)
        height, r0 = own + below, plan.row_start[s]
        for j in range(own):
            k = pivot[x0 + j] - 1
            x[x0 + j], x[x0 + k] = x[x0 + k], x[x0 + j]
        gather[:below] = 0.0
        for j in range(own):
            column = plan.panel[s] + j * height
            value = x[x0 + j]
            for i in range(j + 1, own):
                x[x0 + i] -= value * factor[column + i]
            for i in range(below):
                gather[i] += value * factor[column + own + i]
        for i in range(below):
            x[dof * plan.rows[r0 + i // dof] + i % dof] -= gather[i]
    for s in range(plan.child.shape[0] - 1, -1, -1):
        own, below, x0 = extent(plan, s)
        height, r0 = own + below, plan.row_start[s]
        for i in range(below):
            gather[i] = x[dof * plan.rows[r0 + i // dof] + i % dof]
        for j in range(own):
            column = plan.panel[s] + j * height
            value = x[x0 + j]
            for i in range(below):
                value -= upper[column + own + i] * gather[i]
            x[x0 + j] = value
        for j in range(own - 1, -1, -1):
            column = plan.panel[s] + j * height
            value = x[x0 + j] / factor[column + j]
            x[x0 + j] = value
            for i in range(j):
                x[x0 + i] -= value * factor[column + i]
    for k in range(n):
        for i in range(dof):
            out[plan.order[k], i] = x[dof * k + i]
