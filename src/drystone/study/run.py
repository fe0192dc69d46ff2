"""The loop of a study: the trials so far say what is wanted, workers compute it, the table keeps it."""

from collections.abc import Generator

from drystone.study.table import TrialRow, TrialTable
from drystone.study.trials import Study, sample_text
from drystone.study.workers import Workers


def run_study(study: Study, table: TrialTable, workers: Workers) -> Generator[TrialRow]:
    """The rows that are missing, each already in the table. Closing the generator keeps them and drops what is under way."""
    under_way: set[str] = set()
    while True:
        room = workers.max_pending()
        for sample in study.propose(table.trials):
            if len(under_way) >= room:
                break
            if table.trials.outcome(sample) is None and sample_text(sample) not in under_way:
                under_way.add(sample_text(sample))
                workers.submit(sample, table.key_of(sample))
        if not under_way:
            return
        sample, outcome = workers.next()
        under_way.remove(sample_text(sample))
        yield table.add(sample, outcome)
