"""`drystone info`: the summary of a run. Nothing is computed except, with --mechanism, the mechanism; otherwise Numba is not
loaded."""

from pathlib import Path
from typing import Any

from drystone.cli.output import print_json
from drystone.cli.summary import show_summary
from drystone.results import measures
from drystone.results.store.run_reader import read_result, read_run
from drystone.show.tables.statics_tables import print_result


def info(folder: Path, mechanism: bool, json: bool) -> None:
    result, stamp = read_result(folder), read_run(folder).stamp
    extra = {"out": str(folder), "stamp": stamp} | (_mechanism_summary(folder) if mechanism else {})
    if result is None:
        show_summary(folder, json, extra)
    else:
        print_json(result | extra) if json else print_result(result | extra)


def _mechanism_summary(folder: Path) -> dict[str, Any]:
    """Return the mechanism of the last frame and its crack widths [mm]."""
    mechanism = measures.mechanism_of_frame(read_run(folder))
    return {"mechanism": mechanism.as_dict(), "cracks": measures.crack_widths(mechanism)}
