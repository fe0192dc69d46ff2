"""What several tests of the commands share."""

import pytest

from drystone import cli


@pytest.fixture
def command(capsys):
    """Run a command: exit code, standard output, standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as exit:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return exit.value.code, captured.out, captured.err

    return run
