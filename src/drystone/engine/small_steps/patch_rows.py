"""How patches of contact lie in memory while small steps are taken.

A patch is the polygon in which a face of one block lies over a face of another. Four patches make a group, which a kernel
treats at once (base/kernel/lanes.py): the numbers of a group stand column by column, four of a column side by side, so that
column c of the patch in lane l of group g is `rows[(g * COLUMNS + c) * 4 + l]`. Lanes that are left over in the last groups
hold a patch between the dummy body and itself, which never touches.

The frame of a patch is (n, t1, t2), right-handed, n from block a into block b; its origin is the centroid of the polygon.
A point of the patch is (s, t) along t1 and t2; the gap there is g = g0 + gs s + gt t.
"""

from drystone.base.kernel import inner
from drystone.contact.patch_memory import FRICTION_POINTS

# constant while geometry is kept
NORMAL, TANGENT_1, TANGENT_2 = 0, 3, 6  # three columns each: unit vectors, world axes
ARM_A, ARM_B = 9, 12  # [m] from the centroids of both blocks to the origin
STIFFNESS = 15  # [N/m3] of the joint in compression: pressure by depth
AREA = 16  # [m2]
AREA_SS, AREA_ST, AREA_TT = 17, 18, 19  # [m4] second moments of the area about the origin
REACH = 20  # [m] of the farthest corner from the origin
FRICTION = 21
SHEAR_RATIO = 22  # stiffness in shear over that in compression
DAMPING_TIME = 23  # [s] of approach, and of shear
ROCKING_TIME = 24  # [s] of rocking
LANDING_SPEED = 25  # [m/s] slower closing is never a landing
TWICE_FREQUENCY = 26  # [1/s] closing slower than this times the depth is a vibration, no landing
WHOLE = 27  # [m2] area of the polygon before what is far apart was cut off
EDGE = 28  # how much of the stiffness of the whole joint its edge has: 1 for the faces that look at each other most
DILATANCY = 29  # opening per sliding
# change from step to step
GAP, GAP_S, GAP_T = 30, 31, 32  # [m], [1], [1]
SPREAD_SS, SPREAD_TS, SPREAD_TT = 33, 34, 35  # [m] root of the spread of the pressure: friction points about its centre
SHEAR_STIFFNESS = 36  # [N/m] of a friction point, at the last step
NORMAL_FORCE = 37  # [N] at the last step
CENTRE_S, CENTRE_T = 38, 39  # [m] of the pressure, at the last step
FORCE_1, FORCE_2 = 40, 41  # [N] of friction on b at the last step
FRICTION_WORK, DAMPING_WORK = 42, 43  # [J] dissipated so far
TWIST = 44  # [N m] of friction about the origin at the last step
EXTRA, EXTRA_S, EXTRA_T = 45, 46, 47  # [N], [N m] what damping adds to the force and moments of the pressure
DILATION = 48  # [m] opened by sliding so far; the gap is counted from there
DILATING = 49  # [m/s] how fast it opens
WORK_BEFORE = 50  # [J] what friction had taken before the last step
STRETCH = 51  # [m] two columns for each friction point: along t1 and t2
POINTS = FRICTION_POINTS
COLUMNS = STRETCH + 2 * POINTS

LANES = 4
BODY_ROW = 8  # numbers of a body: velocity, 0, spin, 0; of a wrench: force, 0, moment, 0


@inner
def row_of(at):
    """First number of the patch in lane `at` (four times its group, plus its place there) in `rows`."""
    return (at // LANES) * COLUMNS * LANES + at % LANES
