"""The elastic energy of the pressure in a patch (T312)."""

from drystone.base.kernel import inner
from drystone.engine.small_steps.patch_forces import FLAT


@inner
def pressure_energy(corner, first, stop, whole, edge, g0, gs, gt, stiffness):
    """[J] U = k f / 2 times the integral of the squared depth over the closed part (T312)."""
    slope2 = gs * gs + gt * gt
    total = closed = 0.0
    rs = rt = rd = ps = pt = pd = 0.0
    s, t = corner[stop - 1, 0], corner[stop - 1, 1]
    y = -(g0 + gs * s + gt * t)
    count = 0
    for c in range(first, stop):
        s1, t1 = corner[c, 0], corner[c, 1]
        y1 = -(g0 + gs * s1 + gt * t1)
        for part in range(2):
            if part == 0:
                if (y > 0.0) == (y1 > 0.0):
                    continue
                x = y / (y - y1)
                cs, ct, cd = s + x * (s1 - s), t + x * (t1 - t), 0.0
            else:
                if y1 <= 0.0:
                    continue
                cs, ct, cd = s1, t1, y1
            if count == 0:
                rs, rt, rd = cs, ct, cd
            elif count > 1:
                area = 0.5 * ((ps - rs) * (ct - rt) - (cs - rs) * (pt - rt))
                closed += area
                total += area * ((rd + pd + cd) ** 2 + rd * rd + pd * pd + cd * cd) / 12.0
            ps, pt, pd = cs, ct, cd
            count += 1
        s, t, y = s1, t1, y1
    if not closed > 0.0:
        return 0.0
    closed = min(closed / whole, 1.0)
    y = min(closed / FLAT, 1.0)
    more = FLAT * (0.75 + y * (0.25 * y * y * y - 1.0)) / closed
    return 0.5 * stiffness / (1.0 + slope2) * (1.0 + edge * more) * total
