"""One dense front of a factorisation: filled, partly factorised, its update matrix made. Cut into tiles that are done in the
same way whoever does them.

A front is its own columns (a panel of the factor, own + below high) and the update matrix (below x below) it leaves to its
parent. Cholesky works on lower halves, by blocks of columns from the left. LU keeps the lower panel with the whole own x own
block in `factor` and the transposed upper one at the same offsets in `upper`; rows are exchanged within the own block only.
"""

import numpy as np

from drystone.base.kernel import inlined, inner
from drystone.base.kernel.helper_threads import JOB_FAILED
from drystone.engine.solvers.linear.elimination_plan import extent
from drystone.engine.solvers.linear.lapack import (
    LOWER,
    NONE,
    ONCE,
    PLAIN,
    TRANSPOSED,
    UNIT,
    UPPER,
    address,
    gemm,
    getrf,
    potrf,
    trsm,
)

# Tiles, measured: smaller ones cost calls, larger ones leave OpenBLAS's fast paths for small matrices.
COLUMNS = 72  # columns filled or updated at a time
WIDTH = 36  # of a block of columns that is factorised at a time
ROWS = 288
FILL, PANEL, REST, OWN, REST_LU, UPDATE = (np.int64(i) for i in range(6))  # jobs; why NumPy's numbers: lapack.py


@inlined
def jobs(system, s):
    """How many jobs it takes to do front s."""
    own, _, _ = extent(system.plan, s)
    return 2 + 2 * (_parts(own, WIDTH) if system.upper.shape[0] == 0 else 1)


@inlined
def job(system, s, k):
    """Job k of front s: its kind, its block of columns and its number of tiles."""
    own, below, _ = extent(system.plan, s)
    wide, symmetric = _bodies(system.plan.dof) * system.plan.dof, system.upper.shape[0] == 0
    block = (k - 1) // 2
    rest = own + below - min(own, (block + 1) * WIDTH)
    if k == 0:
        return FILL, NONE, _parts(own, wide)
    if k == jobs(system, s) - 1:
        return UPDATE, NONE, _parts(below, wide)
    if symmetric and k % 2 == 1:
        return PANEL, block, 1 + (_parts(rest, ROWS) if block > 0 else 0)
    if symmetric:
        return REST, block, _parts(rest, ROWS)
    return (OWN, NONE, ONCE) if k == 1 else (REST_LU, NONE, _parts(below, ROWS))


@inner
def _parts(whole, part):
    return (whole + part - 1) // part


@inner
def _bodies(dof):
    """Bodies whose columns make a tile."""
    return max(1, COLUMNS // dof)


@inlined
def do_tile(system, me, kind, s, block, tile):
    """Tile of a job on front s, by thread `me`."""
    if kind == FILL:
        _fill(system, s, tile)
    elif kind == PANEL:
        _panel(system, me, s, block, tile)
    elif kind == REST:
        _rest(system, me, s, block, tile)
    elif kind == OWN:
        _own(system, me, s)
    elif kind == REST_LU:
        _rest_lu(system, me, s, tile)
    else:
        _update(system, me, s, tile)


@inner
def _fill(system, s, tile):
    """Own columns: zeros, the blocks of bodies and edges, the children's updates."""
    plan, factor, upper = system.plan, system.factor, system.upper
    own, below, _ = extent(plan, s)
    dof, height, panel = plan.dof, own + below, plan.panel[s]
    n, symmetric = plan.order.shape[0], upper.shape[0] == 0
    begin = tile * _bodies(dof)
    end = min(own // dof, begin + _bodies(dof))
    factor[panel + dof * begin * height : panel + dof * end * height] = 0.0
    if not symmetric:
        upper[panel + dof * begin * height : panel + dof * end * height] = 0.0
    for k in range(begin, end):
        _put(system.block[plan.order[plan.first[s] + k]], factor, panel + dof * k * (height + 1), height, symmetric)
    for q in range(plan.edge_start[s], plan.edge_start[s + 1]):
        e = plan.edge_list[q]
        early, late = plan.early[e], plan.late[e]
        if begin <= early < end:
            _put(system.block[n + e], factor, panel + dof * (early * height + late), height, False)
            if not symmetric and late >= own // dof:
                _put(system.above[e], upper, panel + dof * (early * height + late), height, False)
        if not symmetric and begin <= late < end:
            _put_transposed(system.above[e], factor, panel + dof * (late * height + early), height)
    c = plan.child[s]
    while c >= 0:
        _add_own(plan, c, system.work, factor, upper, panel, own, height, begin, end)
        c = plan.sibling[c]


@inner
def _put(block, target, offset, height, lower):
    """Copy a block (column, row), or its lower half, to an offset."""
    for k in range(block.shape[0]):
        for i in range(k if lower else 0, block.shape[0]):
            target[offset + k * height + i] = block[k, i]


@inner
def _put_transposed(block, target, offset, height):
    for k in range(block.shape[0]):
        for i in range(block.shape[0]):
            target[offset + k * height + i] = block[i, k]


@inner
def _first_from(plan, c, slot):
    """The first row of child c with at least this slot."""
    r = plan.row_start[c]
    while r < plan.row_start[c + 1] and plan.slot[r] < slot:
        r += 1
    return r


@inner
def _add_own(plan, c, work, factor, upper, panel, own, height, begin, end):
    """Add the update matrix of child c to the parent's own columns begin:end (bodies)."""
    dof, r0, r1, symmetric = plan.dof, plan.row_start[c], plan.row_start[c + 1], upper.shape[0] == 0
    low, high, stride = _first_from(plan, c, begin), _first_from(plan, c, end), dof * (r1 - r0)
    for j in range(low, high):
        for jj in range(dof):
            take = plan.update[c] + (dof * (j - r0) + jj) * stride
            put = panel + (dof * plan.slot[j] + jj) * height
            _add_column(plan, work, take, factor, put, r0, j if symmetric else r0, r1, jj if symmetric else 0)
    if symmetric:
        return
    outside = _first_from(plan, c, own // dof)
    for i in range(low, high):  # what is above the own block's columns, transposed
        for ii in range(dof):
            put = panel + (dof * plan.slot[i] + ii) * height
            for j in range(outside, r1):
                take, into = plan.update[c] + dof * (j - r0) * stride + dof * (i - r0) + ii, put + dof * plan.slot[j]
                for jj in range(dof):
                    upper[into + jj] += work[take + jj * stride]


@inner
def _add_column(plan, source, take, target, put, r0, i, r1, skip):
    """Add rows i:r1 of a column of an update matrix to a column of the parent, without the first `skip` numbers."""
    dof = plan.dof
    while i < r1:
        length, a, b = dof * plan.run[i], take + dof * (i - r0), put + dof * plan.slot[i]
        for k in range(skip, length):
            target[b + k] += source[a + k]
        skip = 0
        i += plan.run[i]


@inner
def _panel(system, me, s, block, tile):
    """A block of columns: subtract what the columns before it do to these rows; factorise the rows on the diagonal."""
    own, below, _ = extent(system.plan, s)
    height, begin = own + below, block * WIDTH
    end = min(own, begin + WIDTH)
    panel = address(system.factor, system.plan.panel[s])
    column = panel + 8 * begin * height
    if tile == 0:
        row, m = begin, end - begin
    else:
        row = end + (tile - 1) * ROWS
        m = min(height - row, ROWS)
    if begin > 0:
        before, here = panel + 8 * begin, column + 8 * row
        gemm(system.blas, me, m, end - begin, begin, panel + 8 * row, height, before, height, TRANSPOSED, ONCE, here, height)
    if tile == 0 and potrf(system.blas, me, end - begin, column + 8 * begin, height) != 0:
        system.control[JOB_FAILED] = 1


@inner
def _rest(system, me, s, block, tile):
    """Rows of a block of columns below the diagonal: divide by its triangle."""
    own, below, _ = extent(system.plan, s)
    height, begin = own + below, block * WIDTH
    end = min(own, begin + WIDTH)
    column = address(system.factor, system.plan.panel[s] + begin * height)
    row = end + tile * ROWS
    m = min(height - row, ROWS)
    trsm(system.blas, me, LOWER, TRANSPOSED, PLAIN, m, end - begin, column + 8 * begin, height, column + 8 * row, height)


@inner
def _own(system, me, s):
    """LU of the own block."""
    own, below, x0 = extent(system.plan, s)
    panel = address(system.factor, system.plan.panel[s])
    if getrf(system.blas, me, own, panel, own + below, address(system.pivot, x0)) != 0:
        system.control[JOB_FAILED] = 1


@inner
def _rest_lu(system, me, s, tile):
    """Rows of both panels below the own block: L by dividing by U; U transposed by exchanging and dividing by L."""
    own, below, x0 = extent(system.plan, s)
    height, upper, panel = own + below, system.upper, system.plan.panel[s]
    row = own + tile * ROWS
    m = min(height - row, ROWS)
    for j in range(own):
        k = system.pivot[x0 + j] - 1
        if k != j:
            a, b = panel + j * height + row, panel + k * height + row
            for i in range(m):
                upper[a + i], upper[b + i] = upper[b + i], upper[a + i]
    top, low, up = address(system.factor, panel), address(system.factor, panel + row), address(upper, panel + row)
    for begin in range(0, own, WIDTH):
        n, column, across = min(WIDTH, own - begin), 8 * begin * height, top + 8 * begin
        if begin > 0:
            gemm(system.blas, me, m, n, begin, low, height, top + column, height, PLAIN, ONCE, low + column, height)
            gemm(system.blas, me, m, n, begin, up, height, across, height, TRANSPOSED, ONCE, up + column, height)
        trsm(system.blas, me, UPPER, PLAIN, PLAIN, m, n, across + column, height, low + column, height)
        trsm(system.blas, me, LOWER, TRANSPOSED, UNIT, m, n, across + column, height, up + column, height)


@inner
def _update(system, me, s, tile):
    """Columns of the update matrix: minus the product of the panels, plus the children's."""
    plan, work = system.plan, system.work
    own, below, _ = extent(plan, s)
    dof, height, symmetric = plan.dof, own + below, system.upper.shape[0] == 0
    begin = dof * tile * _bodies(dof)
    n = min(below - begin, dof * _bodies(dof))
    a, c = address(system.factor, plan.panel[s] + own), address(work, plan.update[s] + begin * below)
    if symmetric:  # with what is above the diagonal: `syrk` is slower on tiles of this size
        a, c = a + 8 * begin, c + 8 * begin
        gemm(system.blas, me, below - begin, n, own, a, height, a, height, TRANSPOSED, NONE, c, below)
    else:
        b = address(system.upper, plan.panel[s] + own + begin)
        gemm(system.blas, me, below, n, own, a, height, b, height, TRANSPOSED, NONE, c, below)
    child = plan.child[s]
    while child >= 0:
        _add_below(plan, child, work, plan.update[s], own, below, begin // dof, (begin + n) // dof, symmetric)
        child = plan.sibling[child]


@inner
def _add_below(plan, c, work, update, own, below, begin, end, symmetric):
    """Add the update matrix of child c to columns begin:end (bodies) of the parent's."""
    dof, r0, r1 = plan.dof, plan.row_start[c], plan.row_start[c + 1]
    low, high = _first_from(plan, c, own // dof + begin), _first_from(plan, c, own // dof + end)
    outside, stride = _first_from(plan, c, own // dof), dof * (r1 - r0)
    for j in range(low, high):
        for jj in range(dof):
            take = plan.update[c] + (dof * (j - r0) + jj) * stride
            put = update + (dof * plan.slot[j] - own + jj) * below - own
            _add_column(plan, work, take, work, put, r0, j if symmetric else outside, r1, jj if symmetric else 0)
