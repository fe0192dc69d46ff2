"""Histories that the studio starts: the text of a case comes in, a run is computed by a process of its own.

The process is `drystone run` and belongs to nobody: it goes on when the studio is closed. Stopped, it keeps what it has
computed and can be gone on with, `drystone run --resume`.
"""

import os
import signal
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from drystone.errors import InputError
from drystone.page.answers import RunAnswers

# As `drystone`, but Ctrl-C is heard also where whoever started the studio has it ignored, as shells do for jobs behind an &.
RUN_PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from drystone.cli import main; main()"
MAX_LOG_CHARACTERS = 2000  # characters of what a run says that are shown
MAX_NAME_NUMBER = 1000  # numbers that are tried for a name


def free_name(folder: Path, stem: str) -> str:
    """The stem, or with the first number behind it, of which nothing in the folder has the name."""
    names = [stem, *(f"{stem}-{i}" for i in range(2, MAX_NAME_NUMBER))]
    taken = {path.name.split(".")[0] for path in folder.iterdir()}
    free = [name for name in names if name not in taken]
    if not free:
        raise InputError(f"{folder} has {MAX_NAME_NUMBER} files and runs named {stem}; start the studio in another folder")
    return free[0]


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); start the studio in a folder of yours") from None


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
        """The run as the viewer asks for it."""
        return RunAnswers([self.out])

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGINT)

    def status(self) -> dict[str, Any]:
        code = self._process.poll()
        output = self.log.read_text(encoding="utf-8", errors="replace")[-MAX_LOG_CHARACTERS:]
        return {"out": str(self.out), "running": code is None, "code": code, "begun": self.has_begun, "said": output}
