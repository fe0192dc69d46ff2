"""The loop of a study: it asks the study for samples, has workers compute them and stores the outcomes in the table."""

from collections.abc import Generator

from drystone.study.trial_records import Study, sample_text
from drystone.study.trial_table import TrialRow, TrialTable
from drystone.study.workers import Workers


def run_study(study: Study, table: TrialTable, workers: Workers) -> Generator[TrialRow]:
    """Compute the missing trials; each row that is yielded is already in the table.

    Closing the generator keeps these rows and drops the trials that are under way."""
    under_way: set[str] = set()
    while True:
        max_pending = workers.max_pending()
        for sample in study.propose(table.trials):
            if len(under_way) >= max_pending:
                break
            if table.trials.outcome(sample) is None and sample_text(sample) not in under_way:
                under_way.add(sample_text(sample))
                workers.submit(sample, table.key_of(sample))
        if not under_way:
            return
        sample, outcome = workers.next()
        under_way.remove(sample_text(sample))
        yield table.add(sample, outcome)
