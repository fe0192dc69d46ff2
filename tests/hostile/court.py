"""Where hostile files are tried: commands come in, what each did goes out.

Many commands share one process, whose memory may grow by so much and no further, and which is given so long for each. One that
dies (a C library may) or hangs is named, and the rest go on in a new one. `defects` says in words what is wrong with what a
command did: anything but one message and exit code 2, or a result, within seconds.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

MEMORY = 2 << 30  # [byte] by which a process may grow
PATIENCE = 40.0  # [s] of a processor for one command; 10 were not enough where four times as many processes ran as cores
WAIT = 300.0  # [s] by the clock, on a machine that has other work
WORDS = 20_000  # [characters] of a message, at most
REFUSED = (2,)
ANY = (0, 1, 2, 3)  # what was spoilt may still be valid, or unsound

ROOT = Path(__file__).parents[2]


class Attack(NamedTuple):
    """A command with a hostile file."""

    name: str
    arguments: list[str]
    codes: tuple[int, ...] = REFUSED
    make: Callable[[], object] = list  # writes the file, if it is not there: bombs take seconds, and not all are tried


class Outcome(NamedTuple):
    """What came of it."""

    attack: Attack
    code: int | str  # of exit; in words if it never came to that
    out: str
    err: str
    seconds: float  # of a processor


class Court:
    """A process that runs one command after the other. Whoever writes where it was not told to writes into `home`."""

    def __init__(self, home: Path):
        self.home, self.said, self._process = home, home / "stderr", None

    def outcome(self, attack: Attack) -> Outcome:
        process = self._process = self._process or self._started()
        order = {"arguments": attack.arguments, "patience": PATIENCE}
        clock = threading.Timer(WAIT, process.kill)
        clock.start()
        try:
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            told = process.stdout.readline()
        finally:
            clock.cancel()
        if told:
            return Outcome(attack, **json.loads(told))
        self.close()
        return Outcome(attack, f"died with {process.returncode}", "", self.said.read_text()[-2000:], 0.0)

    def close(self) -> None:
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()
            self._process = None

    def _started(self) -> "subprocess.Popen[str]":
        env = os.environ | {"TMPDIR": str(self.home), "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        command = [sys.executable, str(Path(__file__).with_name("worker.py")), str(MEMORY)]
        with open(self.said, "w") as said:
            return subprocess.Popen(command, cwd=self.home, env=env, text=True, stderr=said,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file under a folder, with its size and when it was written."""
    found = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in found}


def defects(outcome: Outcome) -> str:
    """What is wrong with what a command did; empty if nothing is."""
    attack, code, out, err, _ = outcome
    lines = [line for line in err.splitlines() if line.strip()]
    if not isinstance(code, int):
        return f"{code}: {' | '.join(lines[-4:])}"
    if code not in attack.codes:
        return f"exit code {code} where {attack.codes} was due: {err[-300:] or out[-300:]}"
    if "Traceback" in err:
        return f"a traceback: {' | '.join(lines[-4:])}"
    if code == 2 and err.count("drystone: ") < 1:
        return f"no message: {err[-300:]!r}"
    if code == 2 and sum(line.startswith("drystone: ") for line in lines) != 1:
        return f"more than one message: {err[-600:]!r}"
    if len(err) > WORDS:
        return f"a message of {len(err)} characters: {err[:200]!r}"
    if "\0" in err or "\x1b[2J" in err:
        return "a message with control characters of the file"
    if "--json" in attack.arguments:
        return _not_json(out, code)
    return ""


def _not_json(out: str, code: int) -> str:
    """Standard output is one JSON object, of the standard: it has no NaN."""
    try:
        told = json.loads(out, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(f"{name} is no JSON")))
    except ValueError as error:
        return f"standard output is not one JSON object ({error}): {out[:200]!r}"
    return "" if code != 2 or told.get("exit_code") == 2 else f"no error in JSON: {out[:200]!r}"


def report(outcomes: Sequence[Outcome]) -> str:
    """All defects, a line each."""
    return "\n".join(f"{o.attack.name}: {said}  ({' '.join(o.attack.arguments)})" for o in outcomes if (said := defects(o)))
