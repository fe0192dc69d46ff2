"""The summary of a run that `run` and `info` print."""

from pathlib import Path
from typing import Any

from drystone.cli.output import print_json
from drystone.results.measures import balanced_from, base_resultant, head_joint_openings, summarise
from drystone.results.store.run_reader import read_run, recorded_case
from drystone.show.tables.summary_tables import print_summary
from drystone.structure.loads import loads_at, vertical_forces


def show_summary(folder: Path, json: bool, extra: dict[str, Any]) -> dict[str, Any]:
    """Print the summary of a run with the `extra` entries, and return it."""
    run = read_run(folder)
    case = recorded_case(run)
    summary = summarise(run, loss=case.history.collapse) | extra
    if case.analysis.kind == "settlement":
        reaction = base_resultant(run, case.history.time_step)
        weight = float(vertical_forces(run.model, loads_at(case.loads, run.time[-1]), case.analysis.gravity).sum())
        summary["base_resultant"] = {"time": run.time.tolist(), "force": reaction.tolist(), "weight": weight,
                                     "balanced_from": balanced_from(run.time, reaction, weight)}  # fmt: skip
        summary["head_joint_openings"] = head_joint_openings(run).tolist()
    print_json(summary) if json else print_summary(summary)
    return summary
