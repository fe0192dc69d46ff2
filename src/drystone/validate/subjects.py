"""All subjects, in the order in which they are computed and listed."""

from drystone.errors import InputError, did_you_mean
from drystone.validate.acary_jean import WALL_UNDER_WEIGHT
from drystone.validate.arches import MILANKOVITCH, POINT_LOADS
from drystone.validate.capacities import CHURCH_CAPACITY, HOUSE_CAPACITY, SPANDREL_CAPACITY
from drystone.validate.claims import Subject
from drystone.validate.corbelled_cylinder import CORBELLED_CYLINDER
from drystone.validate.dome import DOME
from drystone.validate.dry_joint_walls import DRY_JOINT_WALLS
from drystone.validate.house_studies import HOUSE_DOMAIN, HOUSE_FRAGILITY
from drystone.validate.housner import HOUSNER
from drystone.validate.natural_arch import NATURAL_ARCH
from drystone.validate.oppenheim import OPPENHEIM
from drystone.validate.planar_block import PLANAR_BLOCK
from drystone.validate.pulsed_block import PULSED_BLOCK
from drystone.validate.pulsed_church import PULSED_CHURCH
from drystone.validate.pulsed_house import PULSED_HOUSE
from drystone.validate.shaken_spandrels import SHAKEN_SPANDRELS, SPANDRELS_AT_1_HZ
from drystone.validate.walls import TILTED, WALL_3

SUBJECTS = (
    HOUSNER, PULSED_BLOCK, OPPENHEIM, SPANDREL_CAPACITY, SHAKEN_SPANDRELS, SPANDRELS_AT_1_HZ, HOUSE_CAPACITY, PULSED_HOUSE,
    HOUSE_DOMAIN, HOUSE_FRAGILITY, CHURCH_CAPACITY, PULSED_CHURCH, PLANAR_BLOCK, WALL_3, POINT_LOADS, NATURAL_ARCH,
    CORBELLED_CYLINDER, WALL_UNDER_WEIGHT, DOME, MILANKOVITCH, TILTED, DRY_JOINT_WALLS,
)  # fmt: skip


def select_subjects(ids: list[str], *, full: bool) -> list[Subject]:
    """Return the subjects with these ids, "H5" standing for all that begin with it; without ids, the quick ones or all."""
    by_default = [subject for subject in SUBJECTS if full or subject.quick]
    selected = [subject for subject in SUBJECTS if any(_matches(subject, id) for id in ids)] if ids else by_default
    for id in ids:
        if not any(_matches(subject, id) for subject in SUBJECTS):
            known = [subject.id for subject in SUBJECTS]
            raise InputError(f"--id {id}: there is no such subject{did_you_mean(id, known)}; choose from {', '.join(known)}")
    return selected


def _matches(subject: Subject, id: str) -> bool:
    return subject.id.lower() == id.lower() or subject.id.lower().startswith(f"{id.lower()}-")
