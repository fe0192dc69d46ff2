"""`drystone search`: the least value for which something happens."""

from pathlib import Path

from drystone import search as searching
from drystone.cli.compiling import announce_compiling
from drystone.cli.words import DONE, NOT_CONVERGED, print_json, say
from drystone.io.case import read_case
from drystone.units import number_and_unit
from drystone.view.tables import print_search


def search(case: Path, key: str, event: str, between: tuple[str, str], tolerance: str, scan: int, json: bool) -> int:
    announce_compiling()
    unit, trials = number_and_unit(between[0])[1], []
    for trial in searching.search(read_case(case), key, event, between, tolerance, scan=scan):
        happens = searching.EVENTS[event] if trial.happens else "does not"
        say(f"{key} = {f'{trial.value:g} {unit}'.strip()}: {happens}")
        trials.append(trial)
    facts = {"case": str(case), "key": key, "event": event} | searching.summarise(trials, between[0])
    print_json(facts) if json else print_search(facts)
    return NOT_CONVERGED if any(trial.unconverged for trial in trials) else DONE
