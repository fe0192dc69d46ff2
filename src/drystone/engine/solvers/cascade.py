"""Which ways to solve a step are tried, and in which order: data that can be printed, read and tested.

>>> print(describe(cascade("associated", compliant=True)))
1. newton from the guess
2. descent from where the last attempt ended
3. interior point from the guess
4. newton from the best answer so far
5. stiffening from the best answer so far, first 0.3
6. clarabel from the guess

An attempt says how it looks for the answer and where it starts. The first that is good enough ends the step; if none is, the
answer with the least error is given back as not converged. What each attempt does is in `attempts`.
"""

from typing import NamedTuple

Law = str  # "associated" or "coulomb"

GUESS, LAST, BEST, COLD, ASSOCIATED = "guess", "last", "best", "cold", "associated"
STARTS = {
    GUESS: "the guess",  # velocities and impulses of the last step
    LAST: "where the last attempt ended",
    BEST: "the best answer so far",
    COLD: "no impulses",
    ASSOCIATED: "the answer with associated friction",
}


class Newton(NamedTuple):
    """Newton on velocities and impulses together (T25)."""

    start: str = GUESS


class Descent(NamedTuple):
    """Newton on velocities alone, with a line search (T14). Compliant contact with associated friction only. It always gets
    there, the more slowly the stiffer the contacts: within `most` factorisations it is cheaper than the interior point."""

    start: str = GUESS
    most: int = 16


class Interior(NamedTuple):
    """The interior point (T18). Associated friction only."""

    start: str = GUESS
    soft: float = 0.0  # proximal compliance in units of 1 / STIFF


class Sweeps(NamedTuple):
    """Sweeps of non-linear Gauss-Seidel (T24): they find out which contacts open, stick and slide, slowly but surely."""

    start: str = GUESS
    times: int = 300


class Stiffening(NamedTuple):
    """Newton in proximal steps (T16) whose stiffness grows tenfold as long as they succeed."""

    start: str = GUESS
    first: float = 10.0  # stiffness of the first one in units of the effective mass of a contact, or of its own if compliant


class Clarabel(NamedTuple):
    """The generic solver. Associated friction only."""

    start: str = GUESS


NAMES: dict[type, str] = {
    Newton: "newton", Descent: "descent", Interior: "interior point", Sweeps: "sweeps", Stiffening: "stiffening",
    Clarabel: "clarabel",
}  # fmt: skip
Attempt = Newton | Descent | Interior | Sweeps | Stiffening | Clarabel

ASSOCIATED_COMPLIANT: tuple[Attempt, ...] = (
    Newton(),
    Descent(LAST),
    Interior(),
    Newton(BEST),
    Stiffening(BEST, first=0.3),
    Clarabel(),
)
ASSOCIATED_RIGID: tuple[Attempt, ...] = (
    Newton(),
    Interior(soft=0.001),
    Interior(soft=0.01),
    Interior(soft=0.1),
    Newton(BEST),
    Clarabel(),
)
COULOMB_COMPLIANT: tuple[Attempt, ...] = (
    Newton(),
    Sweeps(times=300),
    Stiffening(LAST, first=0.3),
    Stiffening(ASSOCIATED, first=0.03),
    Sweeps(times=5000),
    Stiffening(LAST, first=0.3),
    Stiffening(COLD, first=0.01),
)
COULOMB_RIGID: tuple[Attempt, ...] = (
    Newton(),
    Sweeps(times=300),
    Stiffening(LAST, first=1e4),
    Stiffening(ASSOCIATED),
    Sweeps(times=5000),
    Stiffening(LAST, first=1e4),
    Stiffening(COLD),
)


def cascade(law: Law, compliant: bool) -> tuple[Attempt, ...]:
    """The attempts at a step with this law of friction."""
    if law == "coulomb":
        return COULOMB_COMPLIANT if compliant else COULOMB_RIGID
    return ASSOCIATED_COMPLIANT if compliant else ASSOCIATED_RIGID


def quick(attempts: tuple[Attempt, ...]) -> int:
    """How many of the first attempts are cheap and may fail: they are left out for some steps after they did."""
    return next((k for k, attempt in enumerate(attempts) if not isinstance(attempt, Newton | Descent)), len(attempts))


def describe(attempts: tuple[Attempt, ...]) -> str:
    """A line for each attempt."""
    lines = []
    for number, attempt in enumerate(attempts, start=1):
        usual = type(attempt)._field_defaults
        unusual = {name: value for name, value in attempt._asdict().items() if name != "start" and value != usual[name]}
        settings = [f", {name} {value:g}" for name, value in unusual.items()]
        lines.append(f"{number}. {NAMES[type(attempt)]} from {STARTS[attempt.start]}{''.join(settings)}")
    return "\n".join(lines)
