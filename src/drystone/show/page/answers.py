"""The answers of runs to the questions of the page (docs/decisions/0012): folders of runs come in, a `Site` goes out."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from drystone.base.errors import InputError
from drystone.results import quantities
from drystone.results.resultants import thrust_lines
from drystone.show.page import arrays
from drystone.show.page.block_arrays import block_arrays
from drystone.show.page.reply import ARRAYS_TYPE, Reply, json_reply, not_found
from drystone.show.page.run_head import run_head, run_update
from drystone.show.page.shown_run import SERVER_BUDGET, Budget, ShownRun

Array = np.ndarray

LARGEST_INT16 = 32767
NO_VALUE = 65535  # a block that has no value
LARGEST_VALUE = NO_VALUE - 1
OUTLIER_FACTOR = (
    10.0  # times the 99th percentile: larger pressures, of blocks that touch along an edge, are cut to the percentile
)


class RunAnswers:
    """A site of runs, side by side."""

    def __init__(self, folders: Sequence[str | Path], budget: Budget = SERVER_BUDGET):
        self.runs = [ShownRun(folder, budget) for folder in folders]

    def get(self, path: str) -> Reply:
        match path.split("/"):
            case ["runs"]:
                return json_reply([{"name": shown.name} for shown in self.runs])
            case ["runs", number, *rest] if 0 <= _parse_number(number) < len(self.runs):
                return self._answer_for_run(self.runs[_parse_number(number)], rest) or not_found(path)
        return not_found(path)

    def post(self, path: str, content: Any) -> Reply:
        return not_found(path)

    def paths(self) -> Iterator[str]:
        """All paths whose answers do not change."""
        yield "runs"
        for number, shown in enumerate(self.runs):
            about, run = run_head(shown, frames_with_joints(shown)), f"runs/{number}"
            yield from (run, f"{run}/geometry")
            yield from (f"{run}/poses/{begin}-{end}" for begin, end in about["chunks"])
            for quantity in about["quantities"]:
                yield from (f"{run}/values/{quantity['name']}/{begin}-{end}" for begin, end in about["chunks"])
            yield from (f"{run}/joints/{frame}" for frame in about["joints"])

    def _answer_for_run(self, shown: ShownRun, rest: list[str]) -> Reply | None:
        match rest:
            case []:
                return json_reply(run_head(shown, frames_with_joints(shown)))
            case ["more", since] if _parse_number(since) >= 0:
                shown.grow()
                return json_reply(run_update(shown, _parse_number(since)))
            case ["geometry"]:
                return _packed_reply(block_arrays(shown.run.model, shown.origin))
            case ["poses", span]:
                return _packed_reply(pose_arrays(shown, *_parse_span(shown, span)), coded=("displacement", "turn"))
            case ["values", name, span]:
                return _packed_reply(value_arrays(shown, name, *_parse_span(shown, span)), coded=("value",))
            case ["joints", frame] if 0 <= _parse_number(frame) < len(shown.frames):
                return _packed_reply(joint_arrays(shown, _parse_number(frame)))
        return None


def pose_arrays(shown: ShownRun, begin: int, end: int) -> dict[str, Array]:
    """`displacement` and `turn` (n, B, 3) as integers in units of `scale` (B, 2), from the largest of each block in these
    frames."""
    motion = shown.motion[begin:end].reshape(end - begin, -1, 2, 3)
    scale = np.abs(motion).max(axis=(0, 3)) / LARGEST_INT16
    counted = np.rint(motion / np.where(scale > 0.0, scale, 1.0)[:, :, None]).astype(np.int16)
    packed = {"displacement": counted[:, :, 0], "turn": counted[:, :, 1], "scale": scale.astype(np.float32)}
    hidden = [shown.hidden(frame) for frame in range(begin, end)]
    if any(each is not None for each in hidden):
        none_hidden = np.zeros(len(scale), bool)
        packed["hidden"] = np.array([none_hidden if each is None else each for each in hidden], np.uint8)
    return packed


def value_arrays(shown: ShownRun, name: str, begin: int, end: int) -> dict[str, Array]:
    """`value` (n, B) as integers in units of `scale` (1,); `NO_VALUE` where a block has none."""
    kind = quantities.find_quantity(name)
    numbers = np.array([kind.of(shown.run, shown.frames[i]) for i in range(begin, end)])
    known = numbers[~np.isnan(numbers)]
    largest = float(known.max(initial=0.0))
    if kind.unit == "Pa" and largest > 0.0 and largest > OUTLIER_FACTOR * (typical := float(np.percentile(known, 99))):
        largest = typical or largest
    scale = 1.0 if kind.categorical or largest == 0.0 else largest / LARGEST_VALUE
    counted = np.where(np.isnan(numbers), NO_VALUE, np.rint(np.minimum(numbers, largest) / scale)).astype(np.uint16)
    return {"value": counted, "scale": np.array([scale], np.float32)}


def joint_arrays(shown: ShownRun, frame: int) -> dict[str, Array]:
    """The forces of the joints in a frame, with coordinates from the origin of the page, and the thrust lines of arches and
    columns."""
    resultants = quantities.frame_resultants(shown.run, shown.frames[frame])
    lines = thrust_lines(shown.run.model, resultants)
    points = np.concatenate([np.empty((0, 3)), *lines])
    pressure = np.nan_to_num(quantities.joint_pressures(resultants))
    return {
        "a": resultants.a.astype(np.uint32),
        "b": resultants.b.astype(np.uint32),
        "centre": (resultants.centre - shown.origin).astype(np.float32),
        "force": resultants.force.astype(np.float32),
        "pressure": pressure.astype(np.float32),
        "thrust": (points - shown.origin).astype(np.float32),
        "thrust_start": np.cumsum([0, *(len(line) for line in lines)]).astype(np.uint32),
    }


def frames_with_joints(shown: ShownRun) -> list[int]:
    """The frames whose forces are shown, evenly spread: as many as the budget allows if all are as large as the last."""
    count, room = len(shown.frames), shown.budget.joints
    if room is not None:
        room //= len(_packed_reply(joint_arrays(shown, count - 1)).body)
    kept = count if room is None else min(count, max(room, 2))
    return sorted({round(i * (count - 1) / max(kept - 1, 1)) for i in range(kept)})


def _parse_span(shown: ShownRun, text: str) -> tuple[int, int]:
    """A range of frames from text such as "0-64"."""
    begin, _, end = text.partition("-")
    if not 0 <= _parse_number(begin) < _parse_number(end) <= len(shown.frames):
        raise InputError(f"frames {text!r}: {shown.name} shows {len(shown.frames)}; ask for some of them as in 0-64")
    return _parse_number(begin), _parse_number(end)


def _parse_number(text: str) -> int:
    """The number in a part of a path; -1 if it is not a number."""
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _packed_reply(content: dict[str, Array], coded: Sequence[str] = ()) -> Reply:
    return Reply(arrays.pack(content, coded=coded), ARRAYS_TYPE)
