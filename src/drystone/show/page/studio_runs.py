"""Histories that the studio starts: the text of a case comes in, a separate process computes the run.

The process is `drystone run` and is independent: it continues when the studio is closed. When it is stopped, it keeps what it
has computed; `drystone run --resume` continues it.
"""

import os
import signal
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from drystone.base.errors import InputError
from drystone.show.page.answers import RunAnswers

# As `drystone`, but Ctrl-C works even if it was ignored in the studio's own process, as in a shell's background jobs.
RUN_PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from drystone.cli import main; main()"
MAX_LOG_CHARACTERS = 2000  # of the output of a run that is shown
MAX_NAME_NUMBER = 1000  # the largest number that is tried for a free name


def free_name(folder: Path, stem: str) -> str:
    """The stem, or the stem with the first number, that is not yet a name in the folder."""
    names = [stem, *(f"{stem}-{i}" for i in range(2, MAX_NAME_NUMBER))]
    taken = {path.name.split(".")[0] for path in folder.iterdir()}
    free = [name for name in names if name not in taken]
    if not free:
        raise InputError(f"{folder} has {MAX_NAME_NUMBER} files and runs named {stem}; start the studio in another folder")
    return free[0]


def write_new(path: Path, text: str) -> None:
    """Write a new file; an existing one is an error."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); start the studio in a folder where you can write"
        ) from None


class LaunchedRun:
    """A run in its own process."""

    def __init__(self, case: Path, out: Path):
        self.case, self.out, self.log = case, out, case.with_suffix(".log")
        command = [sys.executable, "-c", RUN_PROGRAM, "run", str(case), "-o", str(out)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=case.parent,
                                             start_new_session=True)  # fmt: skip

    @property
    def has_begun(self) -> bool:
        return (self.out / "run.h5").exists()

    @cached_property
    def answers(self) -> RunAnswers:
        """The answers about the run for the viewer."""
        return RunAnswers([self.out])

    def stop(self) -> None:
        """Stop the run as Ctrl-C does."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGINT)

    def status(self) -> dict[str, Any]:
        code = self._process.poll()
        output = self.log.read_text(encoding="utf-8", errors="replace")[-MAX_LOG_CHARACTERS:]
        return {"out": str(self.out), "running": code is None, "code": code, "begun": self.has_begun, "said": output}
