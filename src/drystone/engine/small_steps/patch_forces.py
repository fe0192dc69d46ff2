"""The forces in patches of contact, four patches at once: exact pressure over the closed part, Coulomb friction
(T310 to T318).

Pressure. Where the gap is negative its depth d = -g is resisted by the stiffness k [N/m3] times an edge factor f. The elastic
energy of a patch is U = k f / 2 * integral of d^2 over its closed part, a function of the pose alone; the normal force and
the two rocking moments are its derivatives. The integrals are exact: a patch that is closed all over has the moments of its
polygon; a patch that is partly closed is integrated along the sides of its polygon by Green's theorem.

Friction. Six points about the centre of pressure, each with a sixth of the normal force, on two circles whose radii give
uniform pressure on a square its true couple and its true spread (and a line its true couple). Each remembers how far it is
stretched; beyond Coulomb's limit it slides.
"""

from drystone.base.kernel import inlined, inner
from drystone.base.kernel.aligned import CACHE_LINE
from drystone.base.kernel.lanes import (
    absolute,
    either,
    every,
    fetch,
    gather,
    load,
    maximum,
    minimum,
    root,
    same,
    scatter,
    select,
    store,
)
from drystone.engine.small_steps.patch_rows import (
    AREA,
    AREA_SS,
    AREA_ST,
    AREA_TT,
    ARM_A,
    ARM_B,
    CENTRE_S,
    CENTRE_T,
    COLUMNS,
    DAMPING_TIME,
    DAMPING_WORK,
    DILATING,
    EDGE,
    EXTRA,
    EXTRA_S,
    EXTRA_T,
    FORCE_1,
    FORCE_2,
    FRICTION,
    FRICTION_WORK,
    GAP,
    GAP_S,
    GAP_T,
    LANDING_SPEED,
    LANES,
    NORMAL,
    NORMAL_FORCE,
    POINTS,
    REACH,
    ROCKING_TIME,
    SHEAR_RATIO,
    SHEAR_STIFFNESS,
    SPREAD_SS,
    SPREAD_TS,
    SPREAD_TT,
    STIFFNESS,
    STRETCH,
    TANGENT_1,
    TANGENT_2,
    TWICE_FREQUENCY,
    TWIST,
    WHOLE,
)

FLAT = 0.5  # closed share of a joint: above it pressure is that of springs side by side, below it the joint bears on its edge
LEVEL = 1e-40  # square of the slope of a gap below which it is none: the square of rounding of rounding may be no number
TINY = 1e-300
LARGEST_IN_CACHE = 4_000_000  # numbers of rows; more come from memory, which a processor asks for too late by itself,
FETCHED_AHEAD = 2  # and so many groups ahead of their use it is told to
# Friction points where the spread of the pressure is 1: three on a circle of 0.8322, three on one of 1.8187, turned against
# each other by 60 degrees. Their mean distance is 1.3254 and their mean square 2, as for uniform pressure on a square (T316).
INNER, OUTER = 0.8322, 1.8187
POINT_S = (0.0, -(0.75**0.5) * INNER, 0.75**0.5 * INNER, 0.75**0.5 * OUTER, -(0.75**0.5) * OUTER, 0.0)
POINT_T = (INNER, -0.5 * INNER, -0.5 * INNER, 0.5 * OUTER, 0.5 * OUTER, -OUTER)
LINE_RADIUS = 1.1317  # farther out by this if the pressure is on a line, for its true couple


@inlined
def edge_factor(closed, edge):
    """How much stiffer than springs side by side a joint is of which only this share is closed, f, and its derivative (T313).

    Springs side by side make an edge far too soft: stone under the open part of the face helps to carry it. Here the
    stiffness of a joint that opens falls with its springs until half of it is open, and then stays nearly what it is, all of
    it at the edge. closed * f grows with the closed share everywhere: were it to fall, the centre of pressure would leave the
    joint, and a block would bear more than its width can (T314).
    """
    y = minimum(closed * (1.0 / FLAT), 1.0)
    cube = y * y * y
    over = 1.0 / closed
    more = FLAT * (0.75 + y * (0.25 * cube - 1.0)) * over
    return 1.0 + edge * more, edge * (cube - 1.0 - more) * over


@inlined
def closed_side(y, c, y1, c1):
    """The side of a polygon from (c, y) to (c1, y1), cut where the depth y = 0: depths at its ends, then their places c."""
    across = (y > 0.0) ^ (y1 > 0.0)
    crossing = c + (c1 - c) * y / select(across, y - y1, 1.0)
    start, end = select(across & (y <= 0.0), crossing, c), select(across & (y1 <= 0.0), crossing, c1)
    return maximum(y, 0.0), maximum(y1, 0.0), start, end


@inlined
def partial_integrals(corners, first, count, y0, ys, yt, slope):
    """Area, integrals of depth, depth s, depth t and depth^2 over the part of a polygon where depth = y0 + ys s + yt t > 0;
    length of the line where depth = 0, and its integrals of s and t, all three over the slope.

    In the coordinates u along the slope and c across it, depth is y = y0 + slope u, and by Green's theorem the integral of
    y^n c^m over the closed part is that of y^(n+1) c^m / ((n + 1) slope) dc along the sides of the polygon where y > 0: on the
    line y = 0, the last side of the closed part, it is nothing.
    """
    inverse = 1.0 / slope
    us, ut = ys * inverse, yt * inverse
    around0, around1, around2, around3 = same(0.0), same(0.0), same(0.0), same(0.0)
    around_cc, around_c = same(0.0), same(0.0)
    at = (first + count - 1) * 2 * LANES
    s, t = load(corners, at), load(corners, at + LANES)
    y, c = y0 + ys * s + yt * t, us * t - ut * s
    for corner in range(first, first + count):
        at = corner * 2 * LANES
        s, t = load(corners, at), load(corners, at + LANES)
        y1, c1 = y0 + ys * s + yt * t, us * t - ut * s
        p, p1, q, q1 = closed_side(y, c, y1, c1)
        wide = q1 - q
        square, both = p * p + p1 * p1, p * p1
        inside = select((y > 0.0) | (y1 > 0.0), wide, 0.0)
        around0 += inside
        around_cc += inside * (q + q1)
        around1 += wide * (p + p1)
        around2 += wide * (square + both)
        around3 += wide * (p + p1) * square
        around_c += wide * (q * (2.0 * p * p + square + 2.0 * both) + q1 * (2.0 * p1 * p1 + square + 2.0 * both))
        y, c = y1, c1
    area, depth = 0.5 * inverse * around1, inverse * around2 / 6.0
    depth2 = inverse * around3 / 12.0
    across_slope = inverse * around_c / 24.0
    along_slope = (depth2 - y0 * depth) * inverse
    line, line_c = inverse * around0, 0.5 * inverse * around_cc
    line_u = -y0 * inverse * line
    return (
        area,
        depth,
        us * along_slope - ut * across_slope,
        ut * along_slope + us * across_slope,
        depth2,
        line,
        us * line_u - ut * line_c,
        ut * line_u + us * line_c,
    )


@inlined
def partial_spread(corners, first, count, y0, ys, yt, slope):
    """Second central moments of the pressure over the closed part, over its force: along s and s, s and t, t and t [m2]."""
    inverse = 1.0 / slope
    us, ut = ys * inverse, yt * inverse
    y2, y3, y4, cy2, cy3, ccy2 = same(0.0), same(0.0), same(0.0), same(0.0), same(0.0), same(0.0)
    at = (first + count - 1) * 2 * LANES
    s, t = load(corners, at), load(corners, at + LANES)
    y, c = y0 + ys * s + yt * t, us * t - ut * s
    for corner in range(first, first + count):
        at = corner * 2 * LANES
        s, t = load(corners, at), load(corners, at + LANES)
        y1, c1 = y0 + ys * s + yt * t, us * t - ut * s
        p, p1, q, q1 = closed_side(y, c, y1, c1)
        wide, pp, both, pp1 = q1 - q, p * p, p * p1, p1 * p1
        y2 += wide * (pp + both + pp1) / 3.0
        y3 += wide * (p + p1) * (pp + pp1) / 4.0
        y4 += wide * (pp * pp + pp * both + pp * pp1 + both * pp1 + pp1 * pp1) / 5.0
        cy2 += wide * (q * (3.0 * pp + 2.0 * both + pp1) + q1 * (pp + 2.0 * both + 3.0 * pp1)) / 12.0
        cy3 += (
            wide
            * (
                q * (4.0 * pp * p + 3.0 * pp * p1 + 2.0 * p * pp1 + pp1 * p1)
                + q1 * (pp * p + 2.0 * pp * p1 + 3.0 * p * pp1 + 4.0 * pp1 * p1)
            )
            / 20.0
        )
        ccy2 += (
            wide
            * (
                q * q * (6.0 * pp + 3.0 * both + pp1)
                + q * q1 * (3.0 * pp + 4.0 * both + 3.0 * pp1)
                + q1 * q1 * (pp + 3.0 * both + 6.0 * pp1)
            )
            / 30.0
        )
        y, c = y1, c1
    over = 2.0 / select(y2 > 0.0, y2, 1.0)  # 1 / integral of the depth, times 1 / slope
    mean_u, mean_c = over * y3 / 3.0 * inverse, over * cy2 / 2.0
    along = over * y4 / 4.0 * inverse * inverse - mean_u * mean_u
    mixed = over * cy3 / 3.0 * inverse - mean_u * mean_c
    across_ = over * ccy2 / 2.0 - mean_c * mean_c
    return (
        us * us * along - 2.0 * us * ut * mixed + ut * ut * across_,
        us * ut * (along - across_) + (us * us - ut * ut) * mixed,
        ut * ut * along + 2.0 * us * ut * mixed + us * us * across_,
    )


@inlined
def spread_root(ss, st, tt):
    """Where the friction points stand about the centre of pressure, from the second moments of the pressure: the point (x,
    y) of a spread of 1 stands at (ss x, ts x + tt y)."""
    total = maximum(ss + tt, 1e-20)
    even = maximum(4.0 * (ss * tt - st * st) / (total * total), 0.0)  # 1 for a square, 0 for a line
    radius = LINE_RADIUS + (1.0 - LINE_RADIUS) * even
    least = 1e-12 * total
    first = root(maximum(ss, least))
    mixed = st / first
    return radius * first, radius * mixed, radius * root(maximum(tt - mixed * mixed, least))


@inner
def patch_forces(group0, group1, dt, ahead, fresh, rows, body, slot, corner_start, corners, velocity, wrench, flagged, flags):
    """One small step of the patches of groups group0 to group1: gaps move on with the velocities, forces follow.

    body (2, G, 4) first number of both blocks in `velocity`; slot (2, G, 4) first number of both wrenches in `wrench`,
    which are written; corner_start (G+1,) rows of `corners`. flagged: groups with a patch that may land in the next step
    are written there from `flags` on (ahead [s]: the step after this one); returns where they end. fresh: whether friction
    points are placed anew.
    """
    is_far = rows.shape[0] > LARGEST_IN_CACHE
    for g in range(group0, group1):
        r = g * COLUMNS * LANES
        if is_far:
            for line in range(0, COLUMNS * LANES, CACHE_LINE):
                fetch(rows, r + FETCHED_AHEAD * COLUMNS * LANES + line)
        a0, a1, a2, a3 = body[0, g, 0], body[0, g, 1], body[0, g, 2], body[0, g, 3]
        b0, b1, b2, b3 = body[1, g, 0], body[1, g, 1], body[1, g, 2], body[1, g, 3]
        ax, ay, az, _ = gather(velocity, a0, a1, a2, a3)
        px, py, pz, _ = gather(velocity, a0 + 4, a1 + 4, a2 + 4, a3 + 4)
        bx, by, bz, _ = gather(velocity, b0, b1, b2, b3)
        qx, qy, qz, _ = gather(velocity, b0 + 4, b1 + 4, b2 + 4, b3 + 4)
        rax, ray, raz = load(rows, r + LANES * ARM_A), load(rows, r + LANES * (ARM_A + 1)), load(rows, r + LANES * (ARM_A + 2))
        rbx, rby, rbz = load(rows, r + LANES * ARM_B), load(rows, r + LANES * (ARM_B + 1)), load(rows, r + LANES * (ARM_B + 2))
        nx, ny, nz = load(rows, r + LANES * NORMAL), load(rows, r + LANES * (NORMAL + 1)), load(rows, r + LANES * (NORMAL + 2))
        sx, sy, sz = (
            load(rows, r + LANES * TANGENT_1),
            load(rows, r + LANES * (TANGENT_1 + 1)),
            load(rows, r + LANES * (TANGENT_1 + 2)),
        )
        tx, ty, tz = (
            load(rows, r + LANES * TANGENT_2),
            load(rows, r + LANES * (TANGENT_2 + 1)),
            load(rows, r + LANES * (TANGENT_2 + 2)),
        )
        # velocity of b against a at the origin, and its spin against a
        vx = bx - ax + qy * rbz - qz * rby - py * raz + pz * ray
        vy = by - ay + qz * rbx - qx * rbz - pz * rax + px * raz
        vz = bz - az + qx * rby - qy * rbx - px * ray + py * rax
        ox, oy, oz = qx - px, qy - py, qz - pz
        rate = nx * vx + ny * vy + nz * vz - load(rows, r + LANES * DILATING)
        rate_s, rate_t = -(tx * ox + ty * oy + tz * oz), sx * ox + sy * oy + sz * oz
        g0 = load(rows, r + LANES * GAP) + dt * rate
        gs = load(rows, r + LANES * GAP_S) + dt * rate_s
        gt = load(rows, r + LANES * GAP_T) + dt * rate_t
        store(rows, r + LANES * GAP, g0)
        store(rows, r + LANES * GAP_S, gs)
        store(rows, r + LANES * GAP_T, gt)
        reach = load(rows, r + LANES * REACH)
        slope2 = gs * gs + gt * gt
        slope2 = select(slope2 > LEVEL, slope2, 0.0)
        steep2 = reach * reach * slope2
        is_open = (g0 >= 0.0) & (steep2 <= g0 * g0)
        # may a corner land in the next step?
        closing = rate - reach * (absolute(rate_s) + absolute(rate_t))
        fast = load(rows, r + LANES * LANDING_SPEED)
        steep = reach * (absolute(gs) + absolute(gt))
        if either((closing < -fast) & (g0 - steep + 2.0 * ahead * closing < 0.0)):
            vibrates = load(rows, r + LANES * TWICE_FREQUENCY)
            lands = fast < 0.0
            for corner in range(corner_start[g], corner_start[g + 1]):
                s, t = load(corners, 2 * LANES * corner), load(corners, 2 * LANES * corner + LANES)
                gap, speed = g0 + gs * s + gt * t, rate + rate_s * s + rate_t * t
                lands = lands | ((speed < -fast + vibrates * minimum(gap, 0.0)) & (gap + 2.0 * ahead * speed < 0.0))
            if either(lands):
                flagged[flags] = g
                flags += 1
        ra0, ra1, ra2, ra3 = slot[0, g, 0], slot[0, g, 1], slot[0, g, 2], slot[0, g, 3]
        rb0, rb1, rb2, rb3 = slot[1, g, 0], slot[1, g, 1], slot[1, g, 2], slot[1, g, 3]
        nothing = same(0.0)
        if every(is_open):
            if dt > 0.0 and not either(load(rows, r + LANES * SHEAR_STIFFNESS) + load(rows, r + LANES * NORMAL_FORCE) > 0.0):
                continue  # as it was in the step before
            held = same(0.0)
            for column in range(STRETCH, STRETCH + 2 * POINTS):
                stretch = load(rows, r + LANES * column)
                held += stretch * stretch
                store(rows, r + LANES * column, nothing)
            lost = 0.5 * load(rows, r + LANES * SHEAR_STIFFNESS) * held
            v1, v2 = sx * vx + sy * vy + sz * vz, tx * vx + ty * vy + tz * vz
            on = nx * ox + ny * oy + nz * oz
            lost -= (
                0.5
                * dt
                * (
                    load(rows, r + LANES * EXTRA) * rate
                    + load(rows, r + LANES * EXTRA_S) * rate_s
                    + load(rows, r + LANES * EXTRA_T) * rate_t
                    + load(rows, r + LANES * FORCE_1) * v1
                    + load(rows, r + LANES * FORCE_2) * v2
                    + load(rows, r + LANES * TWIST) * on
                )
            )
            store(rows, r + LANES * DAMPING_WORK, load(rows, r + LANES * DAMPING_WORK) + lost)
            store(rows, r + LANES * SHEAR_STIFFNESS, nothing)
            store(rows, r + LANES * TWIST, nothing)
            store(rows, r + LANES * EXTRA, nothing)
            store(rows, r + LANES * EXTRA_S, nothing)
            store(rows, r + LANES * EXTRA_T, nothing)
            store(rows, r + LANES * NORMAL_FORCE, nothing)
            store(rows, r + LANES * FORCE_1, nothing)
            store(rows, r + LANES * FORCE_2, nothing)
            scatter(wrench, ra0, ra1, ra2, ra3, nothing, nothing, nothing, nothing)
            scatter(wrench, ra0 + 4, ra1 + 4, ra2 + 4, ra3 + 4, nothing, nothing, nothing, nothing)
            scatter(wrench, rb0, rb1, rb2, rb3, nothing, nothing, nothing, nothing)
            scatter(wrench, rb0 + 4, rb1 + 4, rb2 + 4, rb3 + 4, nothing, nothing, nothing, nothing)
            continue
        # integrals of the depth over the closed part
        y0, ys, yt = -g0, -gs, -gt
        area, iss = load(rows, r + LANES * AREA), load(rows, r + LANES * AREA_SS)
        ist, itt = load(rows, r + LANES * AREA_ST), load(rows, r + LANES * AREA_TT)
        i1, i2 = ys * iss + yt * ist, ys * ist + yt * itt
        i0, e2 = y0 * area, y0 * y0 * area + ys * i1 + yt * i2
        is_closed = (g0 < 0.0) & (steep2 <= g0 * g0)
        is_partial = ~(is_closed | is_open)
        line, line_s, line_t = same(0.0), same(0.0), same(0.0)
        if either(is_partial):
            slope = root(select(is_partial, slope2, 1.0))
            first, count = corner_start[g], corner_start[g + 1] - corner_start[g]
            p_area, p0, p1, p2, pe2, line, line_s, line_t = partial_integrals(corners, first, count, y0, ys, yt, slope)
            full = area
            area, i0, e2 = select(is_partial, p_area, area), select(is_partial, p0, i0), select(is_partial, pe2, e2)
            i1, i2 = select(is_partial, p1, i1), select(is_partial, p2, i2)
            if fresh:
                ss, st, tt = partial_spread(corners, first, count, y0, ys, yt, slope)
                over = 1.0 / full
                fss, fst, ftt = spread_root(
                    select(is_partial, ss, iss * over), select(is_partial, st, ist * over), select(is_partial, tt, itt * over)
                )
                store(rows, r + LANES * SPREAD_SS, fss)
                store(rows, r + LANES * SPREAD_TS, fst)
                store(rows, r + LANES * SPREAD_TT, ftt)
        elif fresh:
            over = 1.0 / area
            fss, fst, ftt = spread_root(iss * over, ist * over, itt * over)
            store(rows, r + LANES * SPREAD_SS, fss)
            store(rows, r + LANES * SPREAD_TS, fst)
            store(rows, r + LANES * SPREAD_TT, ftt)
        bears = ~is_open & (i0 > 0.0)
        i0 = select(bears, i0, nothing)
        # pressure: derivatives of U = k f share e2 / 2
        k = load(rows, r + LANES * STIFFNESS)
        whole = load(rows, r + LANES * WHOLE)
        tilted = 1.0 / (1.0 + slope2)
        f, df = edge_factor(select(is_partial & bears, minimum(area / whole, 1.0), 1.0), load(rows, r + LANES * EDGE))
        kf, edge = k * f * tilted, 0.5 * k * tilted * e2
        shrink, lean = select(is_partial, edge * df / whole, nothing), -2.0 * edge * f * tilted
        normal = kf * i0 + shrink * line
        bears = bears & (normal > 0.0)
        normal = select(bears, normal, nothing)
        over = 1.0 / select(bears, normal, 1.0)
        cs, ct = (kf * i1 + shrink * line_s + lean * ys) * over, (kf * i2 + shrink * line_t + lean * yt) * over
        stiff = select(bears, kf * area, nothing)
        # damping: at the centre of pressure and of rocking, never more than what presses
        beta = load(rows, r + LANES * DAMPING_TIME)
        approach = rate + rate_s * cs + rate_t * ct
        damping = maximum(minimum(-beta * stiff * approach, normal), -normal)
        fss, fst, ftt = load(rows, r + LANES * SPREAD_SS), load(rows, r + LANES * SPREAD_TS), load(rows, r + LANES * SPREAD_TT)
        rocking = load(rows, r + LANES * ROCKING_TIME) * stiff
        w1, w2 = fss * rate_s + fst * rate_t, ftt * rate_t
        d1, d2 = -rocking * w1, -rocking * w2  # [N] pairs of forces at the friction points
        limit = 0.25 * normal
        share = limit / maximum(maximum(absolute(d1), absolute(d2)), maximum(limit, TINY))
        d1, d2 = share * d1, share * d2
        # a joint that opens gives back no more than it holds, even if it is open before the next step
        gives = select(approach > 0.0, 2.0 * edge * f / maximum(ahead * approach, TINY), normal)
        pressed = minimum(normal, gives) + maximum(damping, -minimum(normal, gives))
        moment_s = pressed * cs + fss * d1
        moment_t = pressed * ct + fst * d1 + ftt * d2
        # work of what is not elastic over the step: the mean of the forces at its start and its end, times the velocity
        extra, extra_s, extra_t = pressed - normal, moment_s - normal * cs, moment_t - normal * ct
        damping_work = (
            (load(rows, r + LANES * EXTRA) + extra) * rate
            + (load(rows, r + LANES * EXTRA_S) + extra_s) * rate_s
            + (load(rows, r + LANES * EXTRA_T) + extra_t) * rate_t
        )
        # friction: points about the centre of pressure
        v1, v2 = sx * vx + sy * vy + sz * vz, tx * vx + ty * vy + tz * vz
        on = nx * ox + ny * oy + nz * oz
        kt = (1.0 / POINTS) * load(rows, r + LANES * SHEAR_RATIO) * stiff
        before = load(rows, r + LANES * SHEAR_STIFFNESS)
        safe = select(kt > 0.0, kt, 1.0)
        keep = select(kt > before, before / safe, 1.0)  # what has just come into contact is not stretched: the force stays
        keep = select(bears, keep, nothing)
        most = (1.0 / POINTS) * load(rows, r + LANES * FRICTION) * pressed
        compliance = 1.0 / safe
        force1, force2, twist = same(0.0), same(0.0), same(0.0)
        slip_work, released = same(0.0), same(0.0)
        for point in range(POINTS):
            s, t = cs + POINT_S[point] * fss, ct + POINT_S[point] * fst + POINT_T[point] * ftt
            x1, x2 = v1 - on * t, v2 + on * s
            column = r + LANES * (STRETCH + 2 * point)
            old1, old2 = load(rows, column), load(rows, column + LANES)
            e1, e2_ = keep * old1 + dt * x1, keep * old2 + dt * x2
            f1, f2 = -kt * (e1 + beta * x1), -kt * (e2_ + beta * x2)
            size2 = f1 * f1 + f2 * f2
            slides = size2 > most * most
            n1, n2 = e1, e2_
            if either(slides):
                scale = select(slides, most / root(select(slides, size2, 1.0)), 1.0)
                f1, f2 = scale * f1, scale * f2
                n1, n2 = select(slides, -compliance * f1, e1), select(slides, -compliance * f2, e2_)
            store(rows, column, n1)
            store(rows, column + LANES, n2)
            freed = 0.5 * (before * (old1 * old1 + old2 * old2) - kt * (n1 * n1 + n2 * n2))
            slip_work += select(slides, freed - dt * (f1 * x1 + f2 * x2), nothing)
            released += freed
            force1 += f1
            force2 += f2
            twist += s * f2 - t * f1
        damping_work += (
            (load(rows, r + LANES * FORCE_1) + force1) * v1
            + (load(rows, r + LANES * FORCE_2) + force2) * v2
            + (load(rows, r + LANES * TWIST) + twist) * on
        )
        damping_work = released - slip_work - 0.5 * dt * damping_work
        store(rows, r + LANES * SHEAR_STIFFNESS, kt)
        store(rows, r + LANES * NORMAL_FORCE, pressed)
        store(rows, r + LANES * EXTRA, extra)
        store(rows, r + LANES * EXTRA_S, extra_s)
        store(rows, r + LANES * EXTRA_T, extra_t)
        store(rows, r + LANES * CENTRE_S, cs)
        store(rows, r + LANES * CENTRE_T, ct)
        store(rows, r + LANES * FORCE_1, force1)
        store(rows, r + LANES * FORCE_2, force2)
        store(rows, r + LANES * TWIST, twist)
        store(rows, r + LANES * FRICTION_WORK, load(rows, r + LANES * FRICTION_WORK) + slip_work)
        store(rows, r + LANES * DAMPING_WORK, load(rows, r + LANES * DAMPING_WORK) + damping_work)
        # to world axes, on both blocks
        fx = pressed * nx + force1 * sx + force2 * tx
        fy = pressed * ny + force1 * sy + force2 * ty
        fz = pressed * nz + force1 * sz + force2 * tz
        mx = twist * nx + moment_t * sx - moment_s * tx
        my = twist * ny + moment_t * sy - moment_s * ty
        mz = twist * nz + moment_t * sz - moment_s * tz
        scatter(wrench, rb0, rb1, rb2, rb3, fx, fy, fz, nothing)
        scatter(
            wrench,
            rb0 + 4,
            rb1 + 4,
            rb2 + 4,
            rb3 + 4,
            mx + rby * fz - rbz * fy,
            my + rbz * fx - rbx * fz,
            mz + rbx * fy - rby * fx,
            nothing,
        )
        scatter(wrench, ra0, ra1, ra2, ra3, -fx, -fy, -fz, nothing)
        scatter(
            wrench,
            ra0 + 4,
            ra1 + 4,
            ra2 + 4,
            ra3 + 4,
            raz * fy - ray * fz - mx,
            rax * fz - raz * fx - my,
            ray * fx - rax * fy - mz,
            nothing,
        )
    return flags
