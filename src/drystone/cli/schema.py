"""`drystone schema`: print the JSON schema of the case file."""

from drystone.cli.output import print_json
from drystone.io.schema import case_schema


def schema() -> None:
    print_json(case_schema())
