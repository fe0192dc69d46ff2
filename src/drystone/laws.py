"""Laws of joints as a user gives them: a `JointLaw` for each pair of groups comes in, tables of numbers (`Laws`) go out.

A joint is dry unless its law says more: cohesion and tension (Mohr and Coulomb's cone with its apex at -cohesion / friction,
cut off at the tension), adhesion that is damaged (a cohesive zone), a pressure at which it is crushed, a stiffness of its own.
What they mean in a step is told by `mortar` (T70 to T77) and, in histories by small steps, by engine/joint_law.py (T343 to
T346); what cannot be is refused here. Whoever needs another law writes a function and gives it as an `OwnLaw`.

>>> JointLaw(0.5, tension=1e5).cohesion_in_use
50000.0
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError

Array = np.ndarray

YOUNG = 30e9  # [Pa] modulus of the stone where blocks touch, if not given
MOST_MEMORY = 64  # numbers that a cell of a joint can remember for a law from outside
FORGOTTEN = 1e-3  # an adhesion weaker than this part of the sound one is gone


@dataclass(frozen=True)
class Adhesion:
    """A bond that pulls with stiffness * intensity^2 and gives way while it is stretched (Raous, Cangemi and Cocou; AJ)."""

    energy: float  # [J/m2] that it takes to break it: w
    normal_stiffness: float  # [N/m3] of the sound bond
    shear_stiffness: float | None = None  # [N/m3]; the same if not given
    viscosity: float = 0.0  # [N s/m] that delays the damage: b

    @property
    def shear_in_use(self) -> float:
        return self.normal_stiffness if self.shear_stiffness is None else self.shear_stiffness


class KnownCode(NamedTuple):
    """A function that a run was computed with. Its file has the name and the digest of the code, never the code itself."""

    name: str
    digest: str


@dataclass(frozen=True)
class OwnLaw:
    """A joint law from outside the package, for histories by small steps: a function of one cell of a joint, with the arguments
    of `stress` in engine/joint_law.py. The small steps are stable as long as the law is nowhere stiffer than the stiffnesses
    that it is given in `numbers[NORMAL]` and `numbers[SHEAR]`."""

    stress: Callable[..., None] | KnownCode  # compiled when it is first needed; KnownCode: of a model read from a run
    numbers: tuple[float, ...] = ()  # its own, after the friction and the two stiffnesses of the joint
    memory: int = 0  # how many numbers each cell remembers for it, after the four that every cell has
    strengths: tuple[int, ...] = ()  # rows of `numbers` that are infinite while a structure is let down, so that nothing breaks
    reach: float = 0.0  # [m] how far a joint may be opened and still pull

    @property
    def name(self) -> str:
        """Of the function."""
        return self.stress.name if isinstance(self.stress, KnownCode) else getattr(self.stress, "__name__", repr(self.stress))

    def check(self, where: str) -> None:
        """Refuse what cannot be; whether the function is a law is seen when it is compiled."""
        if not callable(self.stress) and not isinstance(self.stress, KnownCode):
            raise InputError(f"own.stress{where} is {self.stress!r}; give a function that Numba can compile")
        for k, value in enumerate(self.numbers):
            if not is_number(value) or not math.isfinite(value):
                raise InputError(f"own.numbers[{k}]{where} is {value!r}; give a number")
        if not isinstance(self.memory, int) or not 0 <= self.memory <= MOST_MEMORY:
            raise InputError(f"own.memory{where} is {self.memory!r}; give a whole number from 0 to {MOST_MEMORY}")
        for k in self.strengths:
            if not 0 <= k < len(self.numbers):
                raise InputError(f"own.strengths{where} has {k}, and there are {len(self.numbers)} numbers; count them from 0")
        _check_size(f"own.reach{where}", self.reach, zero=True)


@dataclass(frozen=True)
class JointLaw:
    """How two blocks meet. What is not given is not there; stiffnesses are then those of the stone."""

    friction: float  # coefficient of friction, the tangent of its angle
    cohesion: float | None = None  # [Pa] friction * tension if only that is given
    tension: float | None = None  # [Pa] cohesion / friction, the apex of the cone, if only that is given
    brittle: bool = False  # sliding breaks the bond; False: it yields and slides on with its cohesion
    normal_stiffness: float | None = None  # [N/m3] stress per closing
    shear_stiffness: float | None = None  # [N/m3] that of the normal if not given
    crushing: float | None = None  # [Pa] largest pressure
    adhesion: Adhesion | None = None  # a bond that is damaged as it is stretched
    restitution: float = 0.0  # speed after over speed before an impact, of rigid contact (T88)
    dilatancy: float = 0.0  # [rad] angle at which a joint that slides opens, in histories by small steps (T342)
    own: OwnLaw | None = None  # a law from outside in place of friction, cohesion, adhesion and crushing

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
        """Friction is all there is to it."""
        return self == JointLaw(self.friction, restitution=self.restitution, dilatancy=self.dilatancy)

    def check(self, where: str) -> None:
        """Refuse what cannot be; `where` follows the name of a quantity, as " at supports"."""
        if not is_number(self.friction) or not 0 <= self.friction < math.inf:
            raise InputError(f"friction{where} is {self.friction!r}; give a number, 0 or more")
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if field.name not in ("brittle", "adhesion", "restitution", "dilatancy", "own") and value is not None:
                _check_size(f"{field.name}{where}", value, zero=field.name in ("cohesion", "tension"))
        if not is_number(self.restitution) or not 0 <= self.restitution <= 1:
            raise InputError(f"restitution{where} is {self.restitution!r}; give a number from 0 to 1")
        if not is_number(self.dilatancy) or not 0 <= self.dilatancy <= math.atan(self.friction):
            most = math.degrees(math.atan(self.friction))
            raise InputError(f"dilatancy{where} is {self.dilatancy!r} rad; give an angle from 0 to that of friction, "
                             f"{most:.4g} degrees: a joint that opens more would make energy")  # fmt: skip
        self._check_cone(where)
        if self.own is not None:
            self._check_own(self.own, where)
        if self.adhesion is not None:
            for field in fields(self.adhesion):
                value = getattr(self.adhesion, field.name)
                if value is not None:
                    _check_size(f"adhesion.{field.name}{where}", value, zero=field.name == "viscosity")

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


RELAXATION = 5e-3  # [s] with which blocks rock and land as rigid ones do, at any time step (decision 0023)


class Surface(NamedTuple):
    """How the blocks of a structure meet, besides their friction."""

    young: float | None = None  # [Pa] modulus of the stone in compliant contacts
    stiffness: float | None = None  # [N/m] of every compliant contact point, instead of `young`
    exact: bool = False  # Coulomb's law, sliding without dilatancy; False: the associated law
    relaxation: float = RELAXATION  # [s] of compliant contacts: stiffness times this is what damps them (T461)

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


RIGID = Surface()


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
            damaged = np.sqrt(self.energy / np.minimum(self.pull, self.drag) / FORGOTTEN)
        return np.maximum(cut, np.where(self.energy > 0, damaged, 0.0))


OwnLaws = tuple[tuple[OwnLaw | None, ...], ...]  # (G, G) symmetric; None where a joint has no law from outside


class Tables(NamedTuple):
    """The laws between groups, (G, G) each; None where there is nothing."""

    friction: Array
    laws: Laws | None
    restitution: Array | None
    dilatancy: Array | None  # opening per sliding
    own: OwnLaws | None


def tabulate(law_of: Sequence[Sequence[JointLaw]]) -> Tables:
    friction, bounce, angle = (np.array([[getattr(law, name) for law in row] for row in law_of], float)
                               for name in ("friction", "restitution", "dilatancy"))  # fmt: skip
    laws = None
    if not all(law.is_dry for row in law_of for law in row):
        numbers = np.array([[_numbers(law) for law in row] for row in law_of])
        laws = Laws(*(np.ascontiguousarray(numbers[:, :, k]) for k in range(numbers.shape[2])))
    own = tuple(tuple(law.own for law in row) for row in law_of) if any(law.own for row in law_of for law in row) else None
    return Tables(friction, laws, bounce if bounce.any() else None, np.tan(angle) if angle.any() else None, own)


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


def _check_size(what: str, value: float, zero: bool) -> None:
    if not is_number(value) or not 0 <= value < math.inf or (value == 0 and not zero):
        raise InputError(f"{what} is {value!r}; give a number, {'0 or more' if zero else 'above 0'}")


def is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
