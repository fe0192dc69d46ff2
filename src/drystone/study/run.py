"""The loop of a study: the trials so far say what is wanted, workers compute it, the table keeps it."""

from collections.abc import Generator

from drystone.study.table import Row, TrialTable
from drystone.study.trials import Study, written
from drystone.study.workers import Workers


def run_study(study: Study, table: TrialTable, workers: Workers) -> Generator[Row]:
    """The rows that are missing, each already in the table. Closing the generator keeps them and drops what is under way."""
    under_way: set[str] = set()
    while True:
        room = workers.room()
        for sample in study.propose(table.trials):
            if len(under_way) >= room:
                break
            if table.trials.outcome(sample) is None and written(sample) not in under_way:
                under_way.add(written(sample))
                workers.submit(sample, table.key_of(sample))
        if not under_way:
            return
        sample, outcome = workers.next()
        under_way.remove(written(sample))
        yield table.add(sample, outcome)
