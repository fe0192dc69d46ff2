"""`drystone verify`: a run computed again and compared bit for bit; with --cross a history followed by the other integrator."""

from contextlib import closing
from pathlib import Path
from typing import Any

from drystone import verify as verification
from drystone.analyse.stages import Stages
from drystone.cli.compiling import announce_compiling
from drystone.cli.stages import watch_stages
from drystone.cli.words import DONE, NOT_CONVERGED, print_json
from drystone.cross import cross as second_opinion
from drystone.errors import InputError
from drystone.view.tables import print_cross, print_verification


def verify(
    folder: Path, steps: int | None, cross: bool, apart: float | None, law: str | None, step: float | None, json: bool
) -> int:
    if cross:
        return _cross(folder, steps, apart, law, step, json)
    for name, value in (("--apart", apart), ("--law", law), ("--step", step)):
        if value is not None:
            raise InputError(f"{name} belongs to --cross; add it, or leave {name} out")
    announce_compiling()
    facts: dict[str, Any] = {}

    def stages() -> Stages:
        facts.update((yield from verification.verify(folder, steps=steps)))
        return facts

    with closing(stages()) as followed:
        watch_stages(followed)
    print_json(facts) if json else print_verification(facts)
    return DONE if facts["same"] else NOT_CONVERGED


def _cross(folder: Path, steps: int | None, apart: float | None, law: str | None, step: float | None, json: bool) -> int:
    if steps is not None:
        raise InputError("--steps belongs to the comparison bit for bit; a history is followed until the two part")
    announce_compiling()
    facts: dict[str, Any] = {}

    def stages() -> Stages:
        facts.update((yield from second_opinion(folder, apart=apart, friction_law=law, time_step=step)))
        return facts

    with closing(stages()) as followed:
        watch_stages(followed)
    print_json(facts) if json else print_cross(facts)
    return NOT_CONVERGED if facts["parted"] else DONE
