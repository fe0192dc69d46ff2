"""All subjects, in the order in which they are computed and listed."""

from drystone.base.errors import InputError, did_you_mean
from drystone.validation.acary_jean import WALL_UNDER_WEIGHT
from drystone.validation.arches import MILANKOVITCH, POINT_LOADS
from drystone.validation.capacities import CHURCH_CAPACITY, HOUSE_CAPACITY, SPANDREL_CAPACITY
from drystone.validation.claims import Subject
from drystone.validation.corbelled_cylinder import CORBELLED_CYLINDER
from drystone.validation.dome import DOME
from drystone.validation.dry_joint_walls import DRY_JOINT_WALLS
from drystone.validation.house_studies import HOUSE_DOMAIN, HOUSE_FRAGILITY
from drystone.validation.housner import HOUSNER
from drystone.validation.natural_arch import NATURAL_ARCH
from drystone.validation.oppenheim import OPPENHEIM
from drystone.validation.planar_block import PLANAR_BLOCK
from drystone.validation.pulsed_block import PULSED_BLOCK
from drystone.validation.pulsed_church import PULSED_CHURCH
from drystone.validation.pulsed_house import PULSED_HOUSE
from drystone.validation.shaken_spandrels import SHAKEN_SPANDRELS, SPANDRELS_AT_1_HZ
from drystone.validation.walls import TILTED, WALL_3

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
