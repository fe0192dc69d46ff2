"""The part of `drystone run` that computes a case of statics."""

from contextlib import closing
from pathlib import Path

from drystone.analysis.statics_run import record_statics
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import EXIT_DONE, EXIT_NOT_CONVERGED, print_json
from drystone.cli.progress_bar import show_stage_progress
from drystone.io.case import Case
from drystone.results.store.run_reader import read_result, read_run
from drystone.show.tables.statics_tables import print_result


def analyse(case: Case, folder: Path, force: bool, picture: bool, json: bool) -> int:
    """Show the stages on standard error and print the result on standard output; return the exit code."""
    show_compiling_notice()
    with closing(record_statics(case, folder, overwrite=force)) as stages:
        show_stage_progress(stages)
    result = (read_result(folder) or {}) | {"out": str(folder)}
    if picture:
        from drystone.show.pictures.analysis_pictures import result_pictures

        result["pictures"] = [str(path) for path in result_pictures(read_run(folder), result)]
    print_json(result) if json else print_result(result)
    return EXIT_DONE if result["converged"] else EXIT_NOT_CONVERGED
