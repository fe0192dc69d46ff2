"""`drystone verify`: compute a run again and compare it bit for bit; with --cross, compute it by another method."""

from contextlib import closing
from pathlib import Path
from typing import Any

from drystone.analysis.second_opinion import second_opinion
from drystone.analysis.second_opinion import verification as verification
from drystone.analysis.stages import Stages
from drystone.base.errors import InputError
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import EXIT_DONE, EXIT_NOT_CONVERGED, print_json
from drystone.cli.progress_bar import show_stage_progress
from drystone.show.tables.summary_tables import print_cross, print_verification


def verify(
    folder: Path, steps: int | None, cross: bool, apart: float | None, law: str | None, step: float | None, json: bool
) -> int:
    if cross:
        return _cross(folder, steps, apart, law, step, json)
    for name, value in (("--apart", apart), ("--law", law), ("--step", step)):
        if value is not None:
            raise InputError(f"{name} is an option of --cross; add --cross, or leave {name} out")
    show_compiling_notice()
    result: dict[str, Any] = {}

    def stages() -> Stages:
        result.update((yield from verification.verify_run(folder, steps=steps)))
        return result

    with closing(stages()) as running:
        show_stage_progress(running)
    print_json(result) if json else print_verification(result)
    return EXIT_DONE if result["same"] else EXIT_NOT_CONVERGED


def _cross(folder: Path, steps: int | None, apart: float | None, law: str | None, step: float | None, json: bool) -> int:
    if steps is not None:
        raise InputError("--steps is an option of the comparison bit for bit; with --cross, leave it out")
    show_compiling_notice()
    result: dict[str, Any] = {}

    def stages() -> Stages:
        result.update((yield from second_opinion(folder, apart=apart, friction_law=law, time_step=step)))
        return result

    with closing(stages()) as running:
        show_stage_progress(running)
    print_json(result) if json else print_cross(result)
    return EXIT_NOT_CONVERGED if result["parted"] else EXIT_DONE
