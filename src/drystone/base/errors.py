"""Errors in the input. A `Finding` names the place, the value and the remedy; `InputError` is the one exception a user sees."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple


class InputError(ValueError):
    """Input that drystone refuses. The message names the place, the value and the remedy."""


def truncated_repr(value: Any, max_characters: int = 200) -> str:
    """The `repr` of any value, cut to `max_characters`, for use in a message."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or lists nested too deeply
        return f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= max_characters else f"{text[: max_characters - 4]} ..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known name, or an empty string."""
    matches = get_close_matches(name, list(known), 1)
    return f", did you mean {matches[0]!r}?" if matches else ""


class Finding(NamedTuple):
    """One thing that is wrong or doubtful about a structure. `build_model` raises the first one; the doctor lists them all."""

    kind: str  # one or two words, the same for all findings of this kind
    blocks: tuple[int, ...]  # rows of the blocks concerned; empty for the whole structure
    message: str  # what was measured, as the end of a sentence about the blocks
    hint: str  # what to do about it
    face: int | None = None  # a face of the first block
    value: float | None = None  # the value that was measured
    unit: str = ""
    severity: str = "error"  # "error" if the structure cannot be computed, else "warning"

    def where(self, labels: Sequence[str]) -> str:
        """The blocks and the face, as messages name them; `labels` has a label for each block."""
        return " and ".join(labels[b] for b in self.blocks) + ("" if self.face is None else f", face {self.face}")

    def to_error(self, labels: Sequence[str]) -> InputError:
        """The finding as an `InputError`."""
        where = self.where(labels)
        return InputError(f"{where}{': ' if len(self.blocks) == 1 else ' ' if where else ''}{self.message}; {self.hint}")


def missing_library(library: str, extra: str, path: Path) -> InputError:
    """The error for a library that is not installed."""
    return InputError(f"{path}: {library} is needed for this; install it with: pip install 'drystone[{extra}]'")
