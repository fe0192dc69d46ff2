"""The kinds of studies, by the value of `kind` in a study file."""

from drystone.io.table import Table
from drystone.study.domain import FailureDomainTable
from drystone.study.fragility import FragilityTable
from drystone.study.sweep import SweepTable

STUDY_KINDS: dict[str, type[Table]] = {"failure-domain": FailureDomainTable, "fragility": FragilityTable, "sweep": SweepTable}
