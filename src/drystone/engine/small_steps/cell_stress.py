"""What a cell of a joint does: how far it is opened and moved along comes in, its stress and what it loses goes out.

A law is one compiled function with the arguments of `stress`, which is the law of joints of `JointLaw`; others may be given
from outside (`laws.OwnLaw`; tests/analytic/test_own_law.py has two). A law reads its numbers, changes the memory of the cell
and writes all of `out`, at every small step; dt is 0 when forces are asked for and no time has passed. Stresses are positive
in compression. What a law loses must not be negative, or it makes energy; what of the work done on the cell is neither stored
nor lost counts as damping.
"""

import numpy as np

from drystone.base.kernel import inner
from drystone.structure.joint_laws import NEGLIGIBLE_INTENSITY

# numbers that every law is given, and those of this one
FRICTION, NORMAL, SHEAR = 0, 1, 2  # coefficient; stiffness across and along the joint [N/m3]
COHESION, TENSION, BRITTLE, CRUSHING, ENERGY, VISCOSITY, PULL, DRAG, NUMBERS = range(3, 12)
STRENGTHS = (COHESION, TENSION, CRUSHING, ENERGY)  # infinite while a structure is let down
# memory that every cell has, and that of this law
BOND = 0  # 1 sound .. 0 broken; a cell that has some is held where it is when geometry is found anew
OPENING = 1  # [m] at the last step; written after every call of a law, not by it
REST_S, REST_T = 2, 3  # slope of the gap when it was bonded; laws leave it as it is
STRETCH = 4  # [m] two numbers: of the elastic part of sliding
CRUSHED = 6  # [m]
SLID = 7  # [m] two numbers: along the joint since it was bonded by adhesion
MEMORY = 9
# what comes out
PRESSURE, ALONG_1, ALONG_2 = 0, 1, 2  # [Pa] on block b: across the joint and along its axes
STORED = 3  # [J/m2] that the cell holds now
SLIDING, FRACTURE = 4, 5  # [J/m2] that it has lost in the step
SLOPE = 6  # [N/m3] with which pressure varies over the cell as the gap does; 0: it does not
SLOPE_LOST = 7  # [N/m3] by how much that has become less in the step
SLIP = 8  # [m] how far it has slid in the step
OUT = 9


@inner
def stress(law, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    """opening [m] at the middle of the cell, farthest [m] at its most open corner; rate, v1, v2 [m/s] of opening and along;
    damping [s] times stiffness is viscosity."""
    friction, normal, shear = law[FRICTION], law[NORMAL], law[SHEAR]
    before, fracture = memory[BOND], 0.0
    mortar = law[COHESION] > 0.0
    was_whole = mortar and before > 0.0 and memory[CRUSHED] == 0.0
    bond = before
    if mortar and bond > 0.0 and normal * (farthest + memory[CRUSHED]) > law[TENSION]:
        bond = 0.0
    pressure = -normal * (opening + memory[CRUSHED])
    if pressure > law[CRUSHING]:
        yielded = (pressure - law[CRUSHING]) / normal
        memory[CRUSHED] += yielded
        fracture += law[CRUSHING] * yielded
        pressure = law[CRUSHING]
    viscous = min(-damping * normal * rate, law[CRUSHING] - pressure)
    # along the joint
    e1, e2 = memory[STRETCH] + dt * v1, memory[STRETCH + 1] + dt * v2
    t1, t2 = -shear * (e1 + damping * v1), -shear * (e2 + damping * v2)
    size = np.sqrt(t1 * t1 + t2 * t2)
    limit = 0.0
    if mortar and bond > 0.0:
        limit = max(law[COHESION] + friction * (pressure + viscous), 0.0)
        if size > limit and law[BRITTLE] > 0.0:
            bond = 0.0
    if not (mortar and bond > 0.0):
        if pressure < 0.0:
            if mortar and before > 0.0:
                fracture += 0.5 * pressure * pressure / normal
            pressure = 0.0
        viscous = min(max(viscous, -pressure), pressure)
        limit = friction * (pressure + viscous)
    n1, n2, sliding, slip = e1, e2, 0.0, 0.0
    if size > limit:
        t1, t2 = t1 * limit / size, t2 * limit / size
        n1, n2 = -t1 / shear, -t2 / shear
        freed = 0.5 * shear * (memory[STRETCH] ** 2 + memory[STRETCH + 1] ** 2 - n1 * n1 - n2 * n2)
        sliding = freed - dt * (t1 * v1 + t2 * v2)
        slip = np.sqrt((e1 - n1) ** 2 + (e2 - n2) ** 2)
    memory[STRETCH], memory[STRETCH + 1] = n1, n2
    stored = 0.5 * pressure * pressure / normal + 0.5 * shear * (n1 * n1 + n2 * n2)
    pressure += viscous
    if law[ENERGY] > 0.0 and bond > 0.0:
        memory[SLID], memory[SLID + 1] = memory[SLID] + dt * v1, memory[SLID + 1] + dt * v2
        away = max(opening, 0.0)
        release = law[PULL] * away * away + law[DRAG] * (memory[SLID] ** 2 + memory[SLID + 1] ** 2)
        if release > 0.0 and dt > 0.0:
            left = (law[VISCOSITY] * bond + dt * law[ENERGY]) / (law[VISCOSITY] + dt * release)
            left = min(bond, left if left >= NEGLIGIBLE_INTENSITY else 0.0)
            fracture += (law[ENERGY] + law[VISCOSITY] * (bond - left) / dt) * (bond - left)
            bond = left
        held = bond * bond
        pressure -= held * law[PULL] * away
        t1, t2 = t1 - held * law[DRAG] * memory[SLID], t2 - held * law[DRAG] * memory[SLID + 1]
        stored += 0.5 * held * release
    memory[BOND] = bond
    out[PRESSURE], out[ALONG_1], out[ALONG_2] = pressure, t1, t2
    out[STORED], out[SLIDING], out[FRACTURE], out[SLIP] = stored, sliding, fracture, slip
    is_whole = mortar and bond > 0.0 and memory[CRUSHED] == 0.0
    out[SLOPE], out[SLOPE_LOST] = normal if is_whole else 0.0, normal if was_whole and not is_whole else 0.0
