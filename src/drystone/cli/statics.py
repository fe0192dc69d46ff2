"""The part of `drystone run` that computes a case of statics."""

from contextlib import closing
from pathlib import Path

from drystone.analyse.record import record_statics
from drystone.cli.compiling import show_compiling_notice
from drystone.cli.stages import show_stage_progress
from drystone.cli.words import EXIT_DONE, EXIT_NOT_CONVERGED, print_json
from drystone.io.case import Case
from drystone.record import read_result, read_run
from drystone.view.result_tables import print_result


def analyse(case: Case, folder: Path, force: bool, picture: bool, json: bool) -> int:
    """Show the stages on standard error and print the result on standard output; return the exit code."""
    show_compiling_notice()
    with closing(record_statics(case, folder, overwrite=force)) as stages:
        show_stage_progress(stages)
    result = (read_result(folder) or {}) | {"out": str(folder)}
    if picture:
        from drystone.view.results import result_pictures

        result["pictures"] = [str(path) for path in result_pictures(read_run(folder), result)]
    print_json(result) if json else print_result(result)
    return EXIT_DONE if result["converged"] else EXIT_NOT_CONVERGED
