"""Contact detection: bodies, poses and velocities come in, `Contacts` go out. One kernel a stage:

 1. `placed`   world geometry, boxes and margins
    `broad`    pairs of convex pieces whose boxes are within the pair's margin
 2. `direction` one contact direction a pair
 3. `narrow`   visible faces projected and clipped
 4. `narrow`   antagonist points, gaps, areas
 (  `swept`    instead of 2 to 4: nearest points of shrunken copies with skins, where the model asks for them)
 (  `planar`   in the plane: points one behind the other become one)
 (  `rings`    on deformable blocks: more points)
 5. `memory`   ids, impulses, velocities and bonds from the contacts before

What touches depends on the poses and velocities; the past enters through step 5, and where blocks that touched have only an
edge or a ledge left in common: then they go on to touch.
"""

import numpy as np

from drystone.contact.broad_phase import candidate_pairs
from drystone.contact.contact_memory import remember, touched_before
from drystone.contact.contacts import Contacts
from drystone.contact.deformable_joints import all_over
from drystone.contact.narrow_phase import touching_points
from drystone.contact.placed_blocks import place
from drystone.contact.planar import in_plane
from drystone.contact.sphere_swept import reaching_out, swept_points
from drystone.structure.model import Bodies, NearestPoints

Array = np.ndarray


def detect(
    bodies: Bodies,
    position: Array,  # (B, 3) [m] centroids
    rotation: Array,  # (B, 4) unit quaternion, scalar first, body to world
    velocity: Array,  # (B, 6) [m/s, rad/s] world, linear and angular
    h: float,  # [s] step
    previous: Contacts,
    next_id: int,
    planar: bool = False,  # the blocks are prisms along y that move in the plane of x and z
    bricks: Array | None = None,  # (B,) bricks a side of deformable blocks, 1 of others
    nearest: NearestPoints | None = None,  # contact by nearest points; None: by separating axes
) -> tuple[Contacts, int]:
    """Contacts, sorted by pair, and the next free id."""
    placed = place(bodies if nearest is None else nearest.copies, position, rotation, velocity, h)
    if nearest is None:
        pairs = candidate_pairs(bodies, placed)
        points = touching_points(bodies, placed, pairs, touched_before(bodies, placed, pairs, previous), len(previous.gap))
    else:
        pairs = candidate_pairs(bodies, reaching_out(bodies, placed, nearest))
        points = swept_points(nearest, placed, pairs, len(previous.gap))
    count = len(points.gap)
    contacts = Contacts(
        a=bodies.owner[pairs[points.pair, 0]],
        b=bodies.owner[pairs[points.pair, 1]],
        point=points.point,
        normal=points.normal,
        gap=points.gap,
        area=points.area,
        id=np.zeros(count, np.int64),
        impulse=np.zeros((count, 3)),
        velocity=np.zeros((count, 3)),
        bond=np.zeros(count),
        rest=np.zeros(count),
        stretch=np.zeros((count, 3)),
        crushed=np.zeros(count),
        strain=np.zeros((count, 3)),
        steady=np.zeros((count, 3)),
        stiffness=np.zeros(count),
    )
    contacts = in_plane(contacts, bodies, position) if planar else contacts
    contacts = contacts if bricks is None else all_over(contacts, bricks)
    return contacts, remember(contacts, previous, bodies.radius, next_id)
