"""What a cell of a joint does: how far it is opened and moved along comes in, its stress and what it loses goes out.

A law is one compiled function; this is the one that joints of `JointLaw` have. Its numbers are those of the law; its memory is
that of the cell, which it changes. Stresses are positive in compression. Bonds only get weaker.
"""

import numpy as np

from drystone.kernel import inner
from drystone.laws import FORGOTTEN

# numbers of a law
FRICTION, COHESION, TENSION, BRITTLE, NORMAL, SHEAR, CRUSHING, ENERGY, VISCOSITY, PULL, DRAG, NUMBERS = range(12)
# memory of a cell
BOND = 0  # 1 sound .. 0 broken
OPENING = 1  # [m] at the last step
STRETCH = 2  # [m] two numbers: of the elastic part of sliding
CRUSHED = 4  # [m]
SLID = 5  # [m] two numbers: along the joint since it was bonded by adhesion
REST_S, REST_T = 7, 8  # slope of the gap when it was bonded
# what comes out
PRESSURE, ALONG_1, ALONG_2, STORED, SLIDING, FRACTURE = range(6)  # [Pa] three times, [J/m2] three times
OUT = 6


@inner
def stress(law, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    """opening [m] at the middle of the cell, farthest [m] at its most open corner; rate, v1, v2 [m/s] of opening and along;
    damping [s] times stiffness is viscosity. STORED is what the cell holds now, SLIDING and FRACTURE are what it has lost in
    the step."""
    friction, normal, shear = law[FRICTION], law[NORMAL], law[SHEAR]
    before, fracture = memory[BOND], 0.0
    mortar = law[COHESION] > 0.0
    bond = before
    if mortar and bond > 0.0 and normal * farthest > law[TENSION]:
        bond = 0.0
    pressure = -normal * (opening + memory[CRUSHED])
    if pressure > law[CRUSHING]:
        yielded = (pressure - law[CRUSHING]) / normal
        memory[CRUSHED] += yielded
        fracture += law[CRUSHING] * yielded
        pressure = law[CRUSHING]
    # along the joint
    e1, e2 = memory[STRETCH] + dt * v1, memory[STRETCH + 1] + dt * v2
    t1, t2 = -shear * (e1 + damping * v1), -shear * (e2 + damping * v2)
    size = np.sqrt(t1 * t1 + t2 * t2)
    if mortar and bond > 0.0:
        limit = max(law[COHESION] + friction * pressure, 0.0)
        if size > limit and law[BRITTLE] > 0.0:
            bond = 0.0
    if not (mortar and bond > 0.0):
        if pressure < 0.0:
            if mortar and before > 0.0:
                fracture += 0.5 * pressure * pressure / normal
            pressure = 0.0
        limit = friction * pressure
    n1, n2, sliding = e1, e2, 0.0
    if size > limit:
        t1, t2 = t1 * limit / size, t2 * limit / size
        n1, n2 = -t1 / shear, -t2 / shear
        freed = 0.5 * shear * (memory[STRETCH] ** 2 + memory[STRETCH + 1] ** 2 - n1 * n1 - n2 * n2)
        sliding = freed - dt * (t1 * v1 + t2 * v2)
    memory[STRETCH], memory[STRETCH + 1] = n1, n2
    stored = 0.5 * pressure * pressure / normal + 0.5 * shear * (n1 * n1 + n2 * n2)
    viscous = -damping * normal * rate
    if not (mortar and bond > 0.0):
        viscous = min(max(viscous, -pressure), pressure)
    pressure += min(viscous, law[CRUSHING] - pressure)
    if law[ENERGY] > 0.0 and bond > 0.0:
        memory[SLID], memory[SLID + 1] = memory[SLID] + dt * v1, memory[SLID + 1] + dt * v2
        away = max(opening, 0.0)
        release = law[PULL] * away * away + law[DRAG] * (memory[SLID] ** 2 + memory[SLID + 1] ** 2)
        if release > 0.0 and dt > 0.0:
            left = (law[VISCOSITY] * bond + dt * law[ENERGY]) / (law[VISCOSITY] + dt * release)
            left = min(bond, left if left >= FORGOTTEN else 0.0)
            fracture += (law[ENERGY] + law[VISCOSITY] * (bond - left) / dt) * (bond - left)
            bond = left
        held = bond * bond
        pressure -= held * law[PULL] * away
        t1, t2 = t1 - held * law[DRAG] * memory[SLID], t2 - held * law[DRAG] * memory[SLID + 1]
        stored += 0.5 * held * release
    memory[BOND], memory[OPENING] = bond, opening
    out[PRESSURE], out[ALONG_1], out[ALONG_2] = pressure, t1, t2
    out[STORED], out[SLIDING], out[FRACTURE] = stored, sliding, fracture
