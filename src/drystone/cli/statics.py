"""What `drystone run` does with a case of statics."""

from contextlib import closing
from pathlib import Path

from drystone.analyse.record import record
from drystone.cli.compiling import announce_compiling
from drystone.cli.stages import watch_stages
from drystone.cli.words import DONE, NOT_CONVERGED, print_json
from drystone.io.case import Case
from drystone.record import read_result, read_run
from drystone.view.result_tables import print_result


def analyse(case: Case, folder: Path, force: bool, picture: bool, json: bool) -> int:
    """Its stages on standard error, its facts on standard output."""
    announce_compiling()
    with closing(record(case, folder, overwrite=force)) as stages:
        watch_stages(stages)
    facts = (read_result(folder) or {}) | {"out": str(folder)}
    if picture:
        from drystone.view.results import result_pictures

        facts["pictures"] = [str(path) for path in result_pictures(read_run(folder), facts)]
    print_json(facts) if json else print_result(facts)
    return DONE if facts["converged"] else NOT_CONVERGED
