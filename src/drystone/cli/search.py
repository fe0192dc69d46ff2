"""`drystone search`: find the smallest value at which an event happens."""

from pathlib import Path

from drystone.base.units import split_number_and_unit
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import EXIT_DONE, EXIT_NOT_CONVERGED, print_json, print_status
from drystone.io.case import read_case
from drystone.show.tables.summary_tables import print_search
from drystone.study import search as searches


def search(case: Path, key: str, event: str, between: tuple[str, str], tolerance: str, scan: int, json: bool) -> int:
    show_compiling_notice()
    unit, trials = split_number_and_unit(between[0])[1], []
    for trial in searches.search(read_case(case), key, event, between, tolerance, scan=scan):
        happens = searches.EVENT_VERBS[event] if trial.happens else "does not"
        print_status(f"{key} = {f'{trial.value:g} {unit}'.strip()}: {happens}")
        trials.append(trial)
    summary = {"case": str(case), "key": key, "event": event} | searches.summarise_search(trials, between[0])
    print_json(summary) if json else print_search(summary)
    return EXIT_NOT_CONVERGED if any(trial.unconverged for trial in trials) else EXIT_DONE
