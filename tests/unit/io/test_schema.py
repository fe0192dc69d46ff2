"""The schema of the case file: what the reader takes it takes, and what is not a key it refuses. Judge: jsonschema."""

import tomllib
from pathlib import Path

import jsonschema
import pytest

from drystone.build import GENERATORS
from drystone.io.schema import case_schema
from drystone.io.starter import write_starter

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))
JUDGE = jsonschema.Draft202012Validator(case_schema())


def test_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(case_schema())


@pytest.mark.parametrize("text", [*map(write_starter, GENERATORS), *(path.read_text() for path in EXAMPLES)])
def test_accepts_what_the_reader_accepts(text):
    JUDGE.validate(tomllib.loads(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('generator = "arch"', 'generator = "ark"'),
        ("blocks = 7", "blocks = 7.5"),
        ("blocks = 7", "bloks = 7"),
        ("friction = 0.6 ", "friction = -0.6 "),
        ('pulse = "one-sine"', 'pulse = "two-sine"'),
        ("[joints]", "[joint]"),
    ],
)
def test_refuses_what_the_reader_refuses(old, new):
    text = write_starter("arch")
    assert old in text
    with pytest.raises(jsonschema.ValidationError):
        JUDGE.validate(tomllib.loads(text.replace(old, new, 1)))
