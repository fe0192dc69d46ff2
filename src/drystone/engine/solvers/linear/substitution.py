"""One front of a solve: forward through L, backward through U or the transposed L.

On the way up each front leaves to its parent what its own unknowns do to the rows below, in `carry`: nobody adds to the same
number as another branch, and the order of the sums is that of the plan.
"""

from drystone.base.kernel import inner
from drystone.engine.solvers.linear.elimination_plan import extent
from drystone.engine.solvers.linear.lapack import LOWER, NONE, ONCE, PLAIN, TRANSPOSED, UNIT, UPPER, address, gemv, trsv


@inner
def forward(system, me, s):
    """Own unknowns of a front through L; what they do to the rows below is carried to the parent."""
    plan, x, carry, blas, dof = system.plan, system.x, system.carry, system.blas, system.plan.dof
    own, below, x0 = extent(plan, s)
    height, panel, inside = own + below, address(system.factor, plan.panel[s]), own // dof
    c = plan.child[s]
    while c >= 0:
        for r in range(plan.row_start[c], plan.row_start[c + 1]):
            if plan.slot[r] < inside:
                for i in range(dof):
                    x[x0 + dof * plan.slot[r] + i] += carry[dof * r + i]
        c = plan.sibling[c]
    symmetric = system.upper.shape[0] == 0
    if not symmetric:
        for j in range(own):
            k = system.pivot[x0 + j] - 1
            x[x0 + j], x[x0 + k] = x[x0 + k], x[x0 + j]
    trsv(blas, me, LOWER, PLAIN, PLAIN if symmetric else UNIT, own, panel, height, address(x, x0))
    if below == 0:
        return
    mine = dof * plan.row_start[s]
    gemv(blas, me, PLAIN, below, own, panel + 8 * own, height, address(x, x0), NONE, address(carry, mine))
    c = plan.child[s]
    while c >= 0:
        for r in range(plan.row_start[c], plan.row_start[c + 1]):
            if plan.slot[r] >= inside:
                for i in range(dof):
                    carry[mine + dof * (plan.slot[r] - inside) + i] += carry[dof * r + i]
        c = plan.sibling[c]


@inner
def backward(system, me, s):
    """Own unknowns of a front from those below, through U or the transposed L."""
    plan, x, carry, blas, dof = system.plan, system.x, system.carry, system.blas, system.plan.dof
    own, below, x0 = extent(plan, s)
    height, panel, symmetric = own + below, address(system.factor, plan.panel[s]), system.upper.shape[0] == 0
    if below > 0:
        for r in range(plan.row_start[s], plan.row_start[s + 1]):
            for i in range(dof):
                carry[dof * r + i] = x[dof * plan.rows[r] + i]
        rest = panel if symmetric else address(system.upper, plan.panel[s])
        mine = address(carry, dof * plan.row_start[s])
        gemv(blas, me, TRANSPOSED, below, own, rest + 8 * own, height, mine, ONCE, address(x, x0))
    half, turned = (LOWER, TRANSPOSED) if symmetric else (UPPER, PLAIN)
    trsv(blas, me, half, turned, PLAIN, own, panel, height, address(x, x0))
