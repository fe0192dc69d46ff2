"""`drystone verify`: a run computed again and compared bit for bit."""

from contextlib import closing
from pathlib import Path
from typing import Any

from drystone import verify as verification
from drystone.analyse.stages import Stages
from drystone.cli.compiling import announce_compiling
from drystone.cli.stages import watch_stages
from drystone.cli.words import DONE, NOT_CONVERGED, print_json
from drystone.view.tables import print_verification


def verify(folder: Path, steps: int | None, json: bool) -> int:
    announce_compiling()
    facts: dict[str, Any] = {}

    def stages() -> Stages:
        facts.update((yield from verification.verify(folder, steps=steps)))
        return facts

    with closing(stages()) as followed:
        watch_stages(followed)
    print_json(facts) if json else print_verification(facts)
    return DONE if facts["same"] else NOT_CONVERGED
