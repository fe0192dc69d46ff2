"""Verify that a recorded run or analysis can be reproduced.

The case, the blocks and the accelerograms must be those of the stamp. The run is then computed again in a temporary folder,
from its own stored input and no other file, and compared bit for bit except for timings. Where the bits differ, the stamp shows
whether another version of the program or another processor may be the reason."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from drystone.analysis import dynamics
from drystone.analysis import statics_run as statics
from drystone.analysis.stages import Stage, Stages
from drystone.base.errors import InputError
from drystone.base.json_numbers import finite_or_none
from drystone.engine.simulation import Step
from drystone.io.named_files import path_digest
from drystone.results.store.run_reader import Run, read_result, read_run, recorded_case
from drystone.results.store.stamp import describe_environment, describe_inputs

Array = np.ndarray

TIMING_FIELDS = ("seconds", "stamp")  # differ from one computation to the next
KEYS_THAT_EXPLAIN = (
    "drystone",
    "sources",
    "python",
    "libraries",
    "platform",
    "processor",
    "compiled_for",
)  # the number of threads changes no bit


def verify_run(folder: str | Path, *, steps: int | None = None) -> Stages:
    """Compute a run again, or its first `steps` steps. Yields stages and returns the result."""
    folder = Path(folder)
    if (folder / "study.json").exists():
        raise InputError(f"{folder} holds a study; compute a trial again: drystone study --trial KEY {folder} -o run")
    run = read_run(folder)
    changed = _changed(run)
    done, differences = 0, []
    if not changed:
        with TemporaryDirectory(prefix="drystone-verify-") as scratch:
            again = yield from _computed_again(run, Path(scratch), steps)
            done, differences = len(again.steps["step"]), [*_different_results(run, again), *_different_numbers(run, again)]
    result = {
        "out": str(folder),
        "same": not (changed or differences),
        "steps": done,
        "of_steps": len(run.steps["step"]),
        "changed": changed,
        "differences": differences,
        "other": _other_origin(run.stamp),
        "since": _changed_since(run.stamp),
        "stamp": run.stamp,
    }
    return result | {"verdict": _verdict(result)}


def _verdict(result: dict[str, Any]) -> str:
    if result["changed"]:
        return "the folder no longer holds what was computed; run the case again"
    if result["same"]:
        part = "" if result["steps"] == result["of_steps"] else f" in the first {result['steps']} steps"
        return f"the same bits{part}"
    if not result["stamp"]:
        return "other numbers; the run has no stamp that could tell why"
    if result["other"]:
        return f"other numbers; it was computed with another {', '.join(result['other'])}, which may be why"
    return "other numbers from the same program on the same kind of machine: the file was changed, or the machine errs"


def _changed(run: Run) -> list[str]:
    """The parts of the folder that do not agree with the stamp."""
    if not run.stamp:
        return []
    digests = describe_inputs(run.case, run.model.blocks, run.records)
    words = {"case": "the text of case.toml", "geometry": "the blocks in run.h5", "records": "the samples of motions in run.h5"}
    return [words[name] for name in digests if digests[name] != run.stamp[name]]


def _changed_since(stamp: dict[str, Any]) -> list[str]:
    """Files outside the folder that have changed since. The run has stored their content, so that this does no harm."""
    if not stamp.get("case_file"):
        return []
    case = Path(stamp["case_file"])
    recorded = {case: stamp["case"]} | {case.parent / name: digest for name, digest in stamp["files"].items()}
    return [f"{path} {'has other content' if path.exists() else 'is not there'}" for path, digest in recorded.items()
            if path_digest(path) != digest]  # fmt: skip


def _other_origin(stamp: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What may explain different bits: the values of the stamp and the present ones, by name."""
    recorded, current = (
        _flat({name: stamp.get(name, "") for name in KEYS_THAT_EXPLAIN}),
        _flat({name: describe_environment()[name] for name in KEYS_THAT_EXPLAIN}),
    )
    return {name.removeprefix("libraries "): (recorded.get(name, "unknown"), current[name]) for name in current
            if stamp and recorded.get(name) != current[name]}  # fmt: skip


def _computed_again(run: Run, out: Path, steps: int | None) -> Generator[Stage, None, Run]:
    """Compute the run again in the folder `out`, up to where it ended."""
    case, last = recorded_case(run), len(run.steps["step"])
    if case.goes_through_time:
        if not last:
            raise InputError(f"{run.folder} holds no step yet; go on with: drystone run --resume {run.folder}")
        with closing(dynamics.repeat_history(run, out)) as again:
            yield from _until(again, min(last, steps or last))
    elif steps is not None:
        raise InputError(f"--steps {steps}: an analysis of kind {case.analysis.kind!r} is computed as a whole; leave it out")
    elif read_result(run.folder) is None:
        raise InputError(f"{run.folder}: the analysis was cut and has no result.json; run it again: drystone run ... --force")
    else:
        yield from statics.repeat_statics(run, out)
    return read_run(out)


def _until(steps: Iterable[Step], last: int) -> Iterator[Stage]:
    for done, _ in enumerate(steps, 1):
        yield Stage(done / last, f"step {done} of {last}")
        if done == last:
            return


def _different_results(run: Run, again: Run) -> list[dict[str, Any]]:
    """The values of result.json that differ between the recorded and the repeated analysis."""
    recorded, now = _flat(read_result(run.folder) or {}), _flat(read_result(again.folder) or {})
    names = [name for name in recorded | now if name.split()[0] not in TIMING_FIELDS]
    return [
        _difference(f"result.json {name}", None, _largest_difference(np.asarray(recorded.get(name)), np.asarray(now.get(name))))
        for name in names
        if recorded.get(name, "missing") != now.get(name, "missing")
    ]


def _flat(content: Any, name: str = "") -> dict[str, Any]:
    """The leaves of nested JSON content, by their path in it: "thrust touches 0"."""
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else None
    if parts is None:
        return {name.strip(): content}
    return {path: leaf for key, part in parts for path, leaf in _flat(part, f"{name} {key}").items()}


def _different_numbers(run: Run, again: Run) -> list[dict[str, Any]]:
    """For each quantity that differs: the first step with different bits, and the largest difference from there on."""
    differences: dict[str, dict[str, Any]] = {}
    for step, name, recorded, now in _pairs(run, again):
        if recorded.dtype != now.dtype or recorded.shape != now.shape or recorded.tobytes() != now.tobytes():
            before = differences.setdefault(name, _difference(name, step, 0.0))
            gaps = (before["largest"], _largest_difference(recorded, now))
            before["largest"] = None if None in gaps else max(gaps)
    return list(differences.values())


def _difference(label: str, step: int | None, largest: float | None) -> dict[str, Any]:
    """largest: in SI units; None if the values are no numbers or are lists of different lengths."""
    return {"what": label, "step": step, "largest": largest}


def _pairs(run: Run, again: Run) -> Iterator[tuple[int, str, Array, Array]]:
    """All numbers of both runs, with their step and name."""
    rows, rows_again = run.steps, again.steps
    for name in (name for name in rows if name not in TIMING_FIELDS):
        for step, now in enumerate(rows_again[name]):
            yield step + 1, f"{name} of the step", rows[name][step], now
    frames = run.frame_steps[: again.frames]
    if len(rows_again["step"]) < len(rows["step"]) and frames[-1] > again.frame_steps[-1]:
        frames = frames[:-1]  # the last frame of an incomplete run may not exist in the complete one
    yield 0, "the steps that have frames", frames, again.frame_steps[: len(frames)]
    for frame, step in enumerate(frames):
        recorded, now = _numbers(run, frame), _numbers(again, frame)
        for name in now:
            yield int(step), f"{name} of the frame", recorded[name], now[name]


def _numbers(run: Run, frame: int) -> dict[str, Array]:
    """The numbers of a frame, by name."""
    state = run.state(frame)._asdict()
    contacts, energy, patches, cells = (state.pop(name) for name in ("contacts", "energy", "patches", "cells"))
    return {
        **{name: np.asarray(value) for name, value in state.items()},
        **{f"energy {name}": np.asarray(value) for name, value in energy._asdict().items()},
        **{f"contacts' {name}": value for name, value in contacts._asdict().items()},
        **{f"patches' {name}": value for name, value in patches._asdict().items()},
        **{f"cells' {name}": value for name, value in cells._asdict().items()},
        "ground": run.ground[frame],
    }


def _largest_difference(recorded: Array, now: Array) -> float | None:
    if recorded.shape != now.shape or recorded.dtype.kind not in "bif" or now.dtype.kind not in "bif":
        return None
    with np.errstate(invalid="ignore"):  # infinity minus infinity is no number
        return finite_or_none(np.abs(recorded.astype(float) - now.astype(float)).max(initial=0.0))
