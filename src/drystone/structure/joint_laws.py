"""Laws of joints as a user gives them, a `JointLaw` for each pair of groups, and the tables of numbers (`Laws`) made from them.

A joint is dry unless its law has more than friction: cohesion and tension (the cone of Mohr and Coulomb with its apex at
-cohesion / friction, cut off at the tension), adhesion with damage (a cohesive zone), a crushing strength, or a stiffness.
Their mechanics are explained in `mortar` (T70 to T77) and, for histories by small steps, in engine/small_steps/cell_stress.py
(T343 to T346); impossible values are refused here. A user-defined law is a function, given as an `OwnLaw`.

>>> JointLaw(0.5, tension=1e5).cohesion_in_use
50000.0
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from drystone.base.errors import InputError

Array = np.ndarray

DEFAULT_YOUNG = 30e9  # [Pa] modulus of the stone where blocks touch, if none is given
MAX_LAW_MEMORY = 64  # numbers that a cell of a joint can store for a user-defined law
NEGLIGIBLE_INTENSITY = 1e-3  # adhesion below this share of the undamaged one is set to zero


@dataclass(frozen=True)
class Adhesion:
    """A bond with the stiffness times intensity^2, whose intensity decreases as it is stretched (Raous, Cangemi and Cocou;
    AJ)."""

    energy: float  # [J/m2] needed to break it: w
    normal_stiffness: float  # [N/m3] of the undamaged bond
    shear_stiffness: float | None = None  # [N/m3]; the same if not given
    viscosity: float = 0.0  # [N s/m] that delays the damage: b

    @property
    def shear_in_use(self) -> float:
        return self.normal_stiffness if self.shear_stiffness is None else self.shear_stiffness


class CodeIdentity(NamedTuple):
    """The name and the digest of a function that a run was computed with. The file of a run never has the code itself."""

    name: str
    digest: str


@dataclass(frozen=True)
class OwnLaw:
    """A user-defined joint law for histories by small steps: a function of one cell of a joint, with the arguments
    of `stress` in engine/small_steps/cell_stress.py. The small steps are stable as long as the law is nowhere stiffer than the
    stiffnesses that it receives in `numbers[NORMAL]` and `numbers[SHEAR]`."""

    stress: Callable[..., None] | CodeIdentity  # compiled when it is first needed; `CodeIdentity` in a model read from a run
    numbers: tuple[float, ...] = ()  # its parameters, after the friction and the two stiffnesses of the joint
    memory: int = 0  # how many numbers each cell stores for it, after the four that every cell has
    strengths: tuple[int, ...] = ()  # rows of `numbers` that are infinite while the structure is put under its weight
    reach: float = 0.0  # [m] the largest opening at which the joint still transmits tension

    @property
    def name(self) -> str:
        """The name of the function."""
        return (
            self.stress.name if isinstance(self.stress, CodeIdentity) else getattr(self.stress, "__name__", repr(self.stress))
        )

    def check(self, where: str) -> None:
        """Refuse impossible values; whether the function is a joint law is found when it is compiled."""
        if not callable(self.stress) and not isinstance(self.stress, CodeIdentity):
            raise InputError(f"own.stress{where} is {self.stress!r}; give a function that Numba can compile")
        for k, value in enumerate(self.numbers):
            if not is_number(value) or not math.isfinite(value):
                raise InputError(f"own.numbers[{k}]{where} is {value!r}; give a number")
        if not isinstance(self.memory, int) or not 0 <= self.memory <= MAX_LAW_MEMORY:
            raise InputError(f"own.memory{where} is {self.memory!r}; give a whole number from 0 to {MAX_LAW_MEMORY}")
        for k in self.strengths:
            if not 0 <= k < len(self.numbers):
                raise InputError(f"own.strengths{where} has {k}, and there are {len(self.numbers)} numbers; count them from 0")
        _check_magnitude(f"own.reach{where}", self.reach, zero=True)


@dataclass(frozen=True)
class JointLaw:
    """The law of the joint between two blocks. Properties that are not given are absent; stiffnesses are then those of the
    stone."""

    friction: float  # coefficient of friction, the tangent of its angle
    cohesion: float | None = None  # [Pa] friction * tension if only that is given
    tension: float | None = None  # [Pa] cohesion / friction, the apex of the cone, if only that is given
    brittle: bool = False  # True: sliding breaks the bond; False: the joint slides on with its cohesion
    normal_stiffness: float | None = None  # [N/m3] stress per closing
    shear_stiffness: float | None = None  # [N/m3] equal to the normal stiffness if not given
    crushing: float | None = None  # [Pa] crushing strength
    adhesion: Adhesion | None = None  # a bond that is damaged as it is stretched
    restitution: float = 0.0  # speed after an impact over speed before it, for rigid contact (T88)
    dilatancy: float = 0.0  # [rad] angle at which a sliding joint opens, in histories by small steps (T342)
    own: OwnLaw | None = None  # a user-defined law in place of friction, cohesion, adhesion and crushing

    @property
    def cohesion_in_use(self) -> float:
        return self.cohesion if self.cohesion is not None else self.friction * (self.tension or 0.0)

    @property
    def tension_in_use(self) -> float:
        if self.tension is not None or not self.cohesion:
            return self.tension or 0.0
        return self.cohesion / self.friction

    @property
    def is_dry(self) -> bool:
        """Whether the joint has no more than friction, restitution and dilatancy."""
        return self == JointLaw(self.friction, restitution=self.restitution, dilatancy=self.dilatancy)

    def check(self, where: str) -> None:
        """Refuse impossible values; `where` follows the name of a quantity in messages, as " at supports"."""
        if not is_number(self.friction) or not 0 <= self.friction < math.inf:
            raise InputError(f"friction{where} is {self.friction!r}; give a number, 0 or more")
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if field.name not in ("brittle", "adhesion", "restitution", "dilatancy", "own") and value is not None:
                _check_magnitude(f"{field.name}{where}", value, zero=field.name in ("cohesion", "tension"))
        if not is_number(self.restitution) or not 0 <= self.restitution <= 1:
            raise InputError(f"restitution{where} is {self.restitution!r}; give a number from 0 to 1")
        if not is_number(self.dilatancy) or not 0 <= self.dilatancy <= math.atan(self.friction):
            most = math.degrees(math.atan(self.friction))
            raise InputError(f"dilatancy{where} is {self.dilatancy!r} rad; give an angle from 0 to that of friction, "
                             f"{most:.4g} degrees: a joint that opens more would create energy")  # fmt: skip
        self._check_cone(where)
        if self.own is not None:
            self._check_own(self.own, where)
        if self.adhesion is not None:
            for field in fields(self.adhesion):
                value = getattr(self.adhesion, field.name)
                if value is not None:
                    _check_magnitude(f"adhesion.{field.name}{where}", value, zero=field.name == "viscosity")

    def _check_own(self, own: OwnLaw, where: str) -> None:
        own.check(where)
        if self.cohesion or self.tension or self.adhesion is not None or self.crushing is not None:
            raise InputError(f"own{where} is the law {own.name!r}, and cohesion, tension, adhesion or crushing is given as "
                             "well; give one of the two")  # fmt: skip

    def _check_cone(self, where: str) -> None:
        if (self.cohesion or self.tension) and self.friction == 0:
            raise InputError(f"friction{where} is 0 and there is cohesion or tension, whose cone then has no apex; give a "
                             "friction above 0")  # fmt: skip
        if self.friction * self.tension_in_use > self.cohesion_in_use * (1 + 1e-9):
            apex = self.cohesion_in_use / self.friction
            raise InputError(f"tension{where} is {self.tension:g} Pa, beyond the apex of its cone, cohesion / friction = "
                             f"{apex:g} Pa; give at most that, or leave the cohesion out")  # fmt: skip
        if self.brittle and not self.cohesion_in_use:
            raise InputError(f"brittle{where} is true and there is no cohesion to lose; give cohesion or remove brittle")
        if self.adhesion is not None and (self.cohesion or self.tension):
            raise InputError(f"adhesion{where} is given, and cohesion or tension as well; give one of the two")


@dataclass(frozen=True)
class Scatter:
    """Friction that differs from joint to joint (T115)."""

    cov: float  # standard deviation over mean
    seed: int = 0  # another one draws other joints
    distribution: str = "lognormal"  # or "uniform"

    def check(self) -> None:
        most = 1 / math.sqrt(3) if self.distribution == "uniform" else math.inf
        if self.distribution not in ("lognormal", "uniform"):
            raise InputError(f'scatter.distribution is {self.distribution!r}; give "lognormal" or "uniform"')
        if not is_number(self.cov) or not 0 <= self.cov < most:
            limit = " below 0.577, beyond which some would be negative" if self.distribution == "uniform" else ""
            raise InputError(f"scatter.cov is {self.cov!r}; give a number, 0 or more{limit}")

    def quantile(self, uniform: Array) -> Array:
        """Of a variable with mean 1, where its distribution function has the values `uniform`."""
        if self.distribution == "uniform":
            return 1 + self.cov * math.sqrt(3) * (2 * uniform - 1)
        from scipy.special import ndtri  # only joints that scatter need scipy

        spread = math.sqrt(math.log1p(self.cov**2))
        return np.exp(spread * ndtri(uniform) - spread**2 / 2)

    def codes(self, names: Sequence[str]) -> Array:
        """(B,) uint64 of blocks, by their names and the seed only."""
        texts = (f"{self.seed} {name}".encode() for name in names)
        return np.array([int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") for text in texts], np.uint64)

    def factors(self, one: Array, other: Array) -> Array:
        """(C,) of the friction between blocks with these codes, the same whichever comes first."""
        mixed = one + other  # wraps at 2^64
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # the finish of SplitMix64
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        return self.quantile(((mixed >> np.uint64(11)).astype(float) + 0.5) / 2.0**53)


DEFAULT_RELAXATION = 5e-3  # [s] with which blocks rock and land as rigid ones do, at any time step (decision 0023)


class ContactSurface(NamedTuple):
    """How the blocks of a structure meet, besides their friction."""

    young: float | None = None  # [Pa] modulus of the stone in compliant contacts
    stiffness: float | None = None  # [N/m] of every compliant contact point, instead of `young`
    coulomb: bool = False  # Coulomb's law, sliding without dilatancy; False: the associated law
    relaxation: float = DEFAULT_RELAXATION  # [s] of compliant contacts: the damping is the stiffness times this (T461)

    @property
    def compliant(self) -> bool:
        return self.young is not None or self.stiffness is not None

    @property
    def words(self) -> str:
        if self.stiffness is not None:
            return f"compliant, {self.stiffness / 1e6:g} MN/m a contact point"
        if self.young is not None:
            return f"compliant, {self.young / 1e9:g} GPa"
        return "rigid"


RIGID_SURFACE = ContactSurface()


class Laws(NamedTuple):
    """What joints between groups have besides friction, (G, G) symmetric. Nothing is 0, no crushing is infinite."""

    cohesion: Array  # [Pa]
    tension: Array  # [Pa]
    brittle: Array  # 0 or 1
    normal_stiffness: Array  # [N/m3] 0: of the stone
    shear_stiffness: Array  # [N/m3] 0: as the normal
    crushing: Array  # [Pa]
    energy: Array  # [J/m2] of adhesion
    viscosity: Array  # [N s/m]
    pull: Array  # [N/m3] normal stiffness of adhesion
    drag: Array  # [N/m3] its shear stiffness

    @property
    def reach(self) -> Array:
        """(G, G) [m] how far a joint may be stretched and still pull; 0 where the stone is its stiffness, hence a hair."""
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = np.where(self.normal_stiffness > 0, self.tension / self.normal_stiffness, 0.0)
            damaged = np.sqrt(self.energy / np.minimum(self.pull, self.drag) / NEGLIGIBLE_INTENSITY)
        return np.maximum(cut, np.where(self.energy > 0, damaged, 0.0))


OwnLaws = tuple[tuple[OwnLaw | None, ...], ...]  # (G, G) symmetric; None where a joint has no law from outside


class LawTables(NamedTuple):
    """The laws between groups, (G, G) each; None where there is nothing."""

    friction: Array
    laws: Laws | None
    restitution: Array | None
    dilatancy: Array | None  # opening per sliding
    own: OwnLaws | None


def tabulate_laws(law_of: Sequence[Sequence[JointLaw]]) -> LawTables:
    friction, bounce, angle = (np.array([[getattr(law, name) for law in row] for row in law_of], float)
                               for name in ("friction", "restitution", "dilatancy"))  # fmt: skip
    laws = None
    if not all(law.is_dry for row in law_of for law in row):
        numbers = np.array([[_numbers(law) for law in row] for row in law_of])
        laws = Laws(*(np.ascontiguousarray(numbers[:, :, k]) for k in range(numbers.shape[2])))
    own = tuple(tuple(law.own for law in row) for row in law_of) if any(law.own for row in law_of for law in row) else None
    return LawTables(friction, laws, bounce if bounce.any() else None, np.tan(angle) if angle.any() else None, own)


def _numbers(law: JointLaw) -> tuple[float, ...]:
    glue = law.adhesion or Adhesion(0.0, 0.0)
    return (
        law.cohesion_in_use,
        law.tension_in_use,
        float(law.brittle),
        law.normal_stiffness or 0.0,
        law.shear_stiffness or 0.0,
        math.inf if law.crushing is None else law.crushing,
        glue.energy,
        glue.viscosity,
        glue.normal_stiffness,
        glue.shear_in_use,
    )


def _check_magnitude(what: str, value: float, zero: bool) -> None:
    if not is_number(value) or not 0 <= value < math.inf or (value == 0 and not zero):
        raise InputError(f"{what} is {value!r}; give a number, {'0 or more' if zero else 'above 0'}")


def is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
