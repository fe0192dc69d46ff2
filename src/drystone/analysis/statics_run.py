"""Compute and record a case of statics: its frames go to run.h5 and its result to result.json."""

import json
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from drystone.analysis.construction import analyse_construction
from drystone.analysis.equilibrium import analyse_equilibrium
from drystone.analysis.limit_tilt_capacity import analyse_capacity, analyse_limit, analyse_tilt
from drystone.analysis.pushover import analyse_pushover
from drystone.analysis.settlement import analyse_settlement
from drystone.analysis.stages import Stages
from drystone.base.errors import InputError
from drystone.base.files.atomic_write import write_atomic
from drystone.engine.simulation import initial_state
from drystone.io.case import Case
from drystone.results.store.run_reader import RESULT, Run, read_result, read_run, recorded_case
from drystone.results.store.run_writer import RunWriter
from drystone.structure.model import Model

ANALYSES: dict[str, Callable[[Case, Model], Stages]] = {
    "equilibrium": analyse_equilibrium,
    "limit": analyse_limit,
    "tilt": analyse_tilt,
    "capacity": analyse_capacity,
    "pushover": analyse_pushover,
    "construction": analyse_construction,
    "settlement": analyse_settlement,
}


def record_statics(case: Case, out: str | Path, *, overwrite: bool = False) -> Stages:
    """The stages of a case, each already written to the run in `out`. Finally result.json is written atomically."""
    closed_gaps = [gap._asdict() for gap in case.closed_gaps()]
    return (yield from _recorded(case, case.model(), Path(out), overwrite, {"closed_gaps": closed_gaps} if closed_gaps else {}))


def repeat_statics(run: Run, out: str | Path) -> Stages:
    """The stages of an analysis computed again into the folder `out`, from the model and accelerograms that its run has
    stored."""
    known = {
        key: value for key, value in (read_result(run.folder) or {}).items() if key == "closed_gaps"
    }  # found in the files of the case, which are not read again
    return (yield from _recorded(recorded_case(run), run.model, Path(out), known=known))


def _recorded(case: Case, model: Model, folder: Path, overwrite: bool = False, known: dict[str, Any] | None = None) -> Stages:
    writer = RunWriter.create(folder, case.text, model, initial_state(model, case.analysis.gravity), every_steps=1,
                              motions=case.motions, path=case.path, overwrite=overwrite)  # fmt: skip
    with writer, closing(analyse_case(case, model)) as stages:
        while True:
            try:
                stage = next(stages)
            except StopIteration as end:
                result = end.value
                break
            if stage.step is not None:
                writer.add(stage.step)
            yield stage
    result |= known or {}
    result |= {"stamp": read_run(folder).stamp}
    write_atomic(folder / RESULT, json.dumps(result, indent=2))
    return result


def analyse_case(case: Case, model: Model) -> Stages:
    """Compute a case of statics; yields its stages and returns its result."""
    begin = time.perf_counter()
    if case.goes_through_time:
        raise InputError(f'{case.path}: "{case.analysis.kind}" is computed step by step in time; run it as a history')
    if not model.bodies.fixed.any():
        raise InputError(f"{case.path}: none of the {len(model.blocks)} blocks is fixed, so nothing bears their weight; mark "
                         'supports as fixed, or give supports = "lowest" in [structure]')  # fmt: skip
    result = yield from ANALYSES[case.analysis.kind](case, model)
    bodies = model.bodies
    summary = {
        "analysis": case.analysis.kind,
        "blocks": len(model.blocks),
        "fixed_blocks": int(bodies.fixed.sum()),
        "weight": float(case.analysis.gravity * bodies.mass[~bodies.fixed].sum()),
    }
    return summary | result | {"seconds": time.perf_counter() - begin}
