"""What is wrong with input: a `Finding` says where, how much and the cure; the one exception a user sees is `InputError`."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple


class InputError(ValueError):
    """Input that drystone refuses. The message names where, what value, and how to cure it."""


def truncated_repr(value: Any, most: int = 200) -> str:
    """A value as a message shows it: whatever was given, in so many characters at most."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists without end
        return f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a clause about a name that is not known: the nearest one that is, or nothing."""
    near = get_close_matches(name, list(known), 1)
    return f", did you mean {near[0]!r}?" if near else ""


class Finding(NamedTuple):
    """One thing wrong, or doubtful, about a structure. The door raises the first; the doctor lists all."""

    kind: str  # in a word or two, the same for all findings of a kind
    blocks: tuple[int, ...]  # rows of the blocks concerned; none: the whole structure
    said: str  # what was measured, as the end of a sentence about the blocks
    cure: str  # what to do about it
    face: int | None = None  # of the first block
    value: float | None = None  # what was measured
    unit: str = ""
    severity: str = "error"  # an error keeps the structure from running; a warning does not

    def where(self, labels: Sequence[str]) -> str:
        """The blocks and the face, by the names that the blocks go by."""
        return " and ".join(labels[b] for b in self.blocks) + ("" if self.face is None else f", face {self.face}")

    def to_error(self, labels: Sequence[str]) -> InputError:
        """The finding as the one exception a user sees."""
        where = self.where(labels)
        return InputError(f"{where}{': ' if len(self.blocks) == 1 else ' ' if where else ''}{self.said}; {self.cure}")
