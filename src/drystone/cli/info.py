"""`drystone info`: the summary of a run. Only its mechanism is computed, if asked for: without that, Numba is not loaded."""

from pathlib import Path
from typing import Any

from drystone import measure
from drystone.cli.summary import show_summary
from drystone.cli.words import print_json
from drystone.record import read_result, read_run
from drystone.view.result_tables import print_result


def info(folder: Path, mechanism: bool, json: bool) -> None:
    facts, stamp = read_result(folder), read_run(folder).stamp
    more = {"out": str(folder), "stamp": stamp} | (_mechanism_facts(folder) if mechanism else {})
    if facts is None:
        show_summary(folder, json, more)
    else:
        print_json(facts | more) if json else print_result(facts | more)


def _mechanism_facts(folder: Path) -> dict[str, Any]:
    """The mechanism of the last frame and its cracks [mm]."""
    found = measure.mechanism(read_run(folder))
    return {"mechanism": found.as_facts(), "cracks": measure.crack_widths(found)}
