"""Where hostile files are tried: commands come in, what each did goes out.

Many commands share one process, whose memory may grow by so much and no further, and which is given so long for each. One that
dies (a C library may) is named and the rest go on in a new one. `defects` says in words what is wrong with what a command did:
anything but one message and exit code 2, or a result, within seconds.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

MEMORY = 2 << 30  # [byte] by which a process may grow
PATIENCE = 20.0  # [s] for one command, on a machine that has other work
WORDS = 20_000  # [characters] of a message, at most
REFUSED = (2,)
ANY = (0, 1, 2, 3)  # what was spoilt may still be valid, or unsound

WORKER = Path(__file__).with_name("worker.py")
ROOT = Path(__file__).parents[2]


class Attack(NamedTuple):
    """A command with a hostile file."""

    name: str
    arguments: list[str]
    codes: tuple[int, ...] = REFUSED


class Outcome(NamedTuple):
    """What came of it."""

    attack: Attack
    code: int | str  # of exit; in words if it never came to that
    out: str
    err: str
    seconds: float


def tried(attacks: Sequence[Attack], sandbox: Path) -> list[Outcome]:
    """The outcome of each attack. Whoever writes where it was not told to writes into the sandbox's `home`."""
    return list(_tried(list(attacks), sandbox))


def _tried(attacks: list[Attack], sandbox: Path) -> Iterator[Outcome]:
    home = sandbox / "home"
    home.mkdir(exist_ok=True)
    env = os.environ | {"TMPDIR": str(home), "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    while attacks:
        orders, results = sandbox / "orders.json", sandbox / "results.jsonl"
        commands = [each.arguments for each in attacks]
        orders.write_text(json.dumps({"memory": MEMORY, "patience": PATIENCE, "commands": commands}))
        results.write_text("")
        command = [sys.executable, str(WORKER), str(orders), str(results)]
        try:
            done = subprocess.run(command, cwd=home, env=env, capture_output=True, timeout=120 + PATIENCE * len(attacks) / 4)
            ended, said = f"died with {done.returncode}", done.stderr.decode(errors="replace")[-2000:]
        except subprocess.TimeoutExpired:
            ended, said = "hung", ""
        told = [json.loads(line) for line in results.read_text().splitlines()]
        for attack, each in zip(attacks, told, strict=False):
            yield Outcome(attack, **each)
        attacks = attacks[len(told) :]
        if attacks:
            yield Outcome(attacks[0], ended, "", said, 0.0)
            attacks = attacks[1:]


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file under a folder, with its size and when it was written."""
    found = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in found}


def defects(outcome: Outcome) -> str:
    """What is wrong with what a command did; empty if nothing is."""
    attack, code, out, err, seconds = outcome
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
    if seconds > PATIENCE:
        return f"took {seconds:.0f} s"
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
