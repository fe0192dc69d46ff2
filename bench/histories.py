"""Whole histories, engine against engine: places come in, one row of figures an engine goes out.

    until    [s] of motion at the end of every turn
    cpu      [s] of processor time of every turn, on one thread; over the motion of the turn this is ms a ms
    wall     [s] of the same on the wall
    moved    [m] largest displacement of a centroid since the start, after every turn
    drift    [m] likewise since 0.1 s, until when an engine may find its rest; None before
    start    [s] of processor time before the first step: drystone lets the structure down, the others build their worlds
    phases   [s] of drystone: detection, small steps, rest
    joints   patches of contact that drystone found
    memory_MiB, peak_MiB   growth of the peak of the process since the model was built, and the peak
    ended    why it was not followed further: "span", all of it was; "budget", it had used up its processor time; "lost", it
             threw a block farther than FAR, so that its figures say nothing; else how its process ended

Every engine is a process of its own (bench/engine.py). They take turns, the one that is least far first, so that whatever else
the machine does slows them alike.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from bench.engine import BESIDE, CONE, FINER, METHODS, available, threads_of
from bench.measure import Row
from bench.places import REST, Place

ROOT = Path(__file__).parents[1]
FAR = 100.0  # [m]
QUICK, FULL = 30.0, 600.0  # [s] of processor time an engine has for its turns on a place
ALONE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
Ask = Callable[[], Row]  # the first time how it started, then turn after turn; at the end why it ended
LISTS = ("until", "cpu", "wall", "moved")

PLACES = (
    Place("wall", 1000, "standing", REST + 1.0, (CONE,)),
    Place("wall", 1000, "shaken", 0.15),
    Place("tower", 1000, "standing", REST + 1.0, (CONE,)),
    Place("tower", 1000, "shaken", 0.15),
    Place("house", 191, "shaken", 2.4, (CONE,)),
    Place("spandrel arch", 201, "shaken", 3.0, (CONE,)),
    Place("church", 5182, "shaken", 0.4, (FINER, CONE)),
    Place("wall", 5000, "shaken", 0.06, (FINER, CONE)),
    Place("wall", 20000, "shaken", 0.06, (FINER, CONE)),
    Place("wall", 50000, "shaken", 0.06, (FINER, CONE)),
)


def methods_of(place: Place) -> list[str]:
    """Those that are there and not left out."""
    return [method for method in METHODS if method not in place.without and available(method)]


def missing() -> list[str]:
    """What is left out because it is not there, in words."""
    peers = {peer.name: peer for peer, _ in BESIDE.values()}.values()
    return [f"{peer.name} is not installed, its rows are left out: pip install {peer.package}"
            for peer in peers if not peer.installed()]  # fmt: skip


@contextmanager
def engine(place: Place, method: str, seconds: float) -> Iterator[Ask]:
    """A process that is asked for turns."""
    job = json.dumps({"place": place, "method": method, "seconds": seconds})
    alone = os.environ | dict.fromkeys(ALONE, str(threads_of(method)))
    command = [sys.executable, "-m", "bench.engine", job]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, cwd=ROOT, env=alone, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = False

        def ask() -> Row:
            nonlocal asked
            if asked and process.poll() is None:
                process.stdin.write("turn\n")
                process.stdin.flush()
            asked = True
            line = process.stdout.readline()
            return json.loads(line) if line else {"ended": why(process.wait())}

        try:
            yield ask
        finally:
            process.terminate()


def why(code: int) -> str:
    """A process has ended, by its return code; one that ends by itself has used up its budget, or is killed for it."""
    if code in (0, -signal.SIGXCPU):
        return "budget"
    return f"signal {-code}" if code < 0 else f"error {code}"


def rows_of(place: Place, seconds: float, methods: list[str] | None = None,
            start: Callable[[Place, str, float], AbstractContextManager[Ask]] = engine) -> Iterator[Row]:  # fmt: skip
    """A row an engine, as soon as it has been followed to the end; `seconds` is what each may use. `start` other than a process
    is for tests."""
    chosen = [method for method in methods_of(place) if methods is None or method in methods]
    with ExitStack() as stack:
        asks, rows = {}, {}
        for method in chosen:
            asks[method] = stack.enter_context(start(place, method, seconds))
            rows[method] = new_row(place, method, seconds) | asks[method]()
        yield from in_turns(asks, rows, place.span)


def new_row(place: Place, method: str, seconds: float) -> Row:
    """What is known before it starts."""
    known = {"kind": "history", "scene": place.scene, "size": place.size, "phase": place.phase, "blocks": place.size,
             "method": method, "budget": seconds, "start": None, "memory_MiB": None, "peak_MiB": None, "drift": None,
             "phases": [0.0, 0.0, 0.0], "joints": 0, "ended": ""}  # fmt: skip
    version = {"version": BESIDE[method][0].installed()} if method in BESIDE else {}
    return known | {name: [] for name in LISTS} | version


def in_turns(asks: dict[str, Ask], rows: dict[str, Row], span: float) -> Iterator[Row]:
    """Every row, once its engine has been followed to the end; whoever is least far takes the next turn."""
    going = list(rows)
    while going:
        method = min(going, key=lambda name: rows[name]["until"][-1] if rows[name]["until"] else 0.0)
        row = rows[method]
        if not row["ended"]:
            add(row, asks[method](), span)
        if row["ended"]:
            going.remove(method)
            yield row


def add(row: Row, turn: Row, span: float) -> None:
    """The figures of one more turn."""
    if "ended" in turn:
        row["ended"] = turn["ended"]
        return
    for name in LISTS:
        row[name].append(turn[name])
    row["phases"] = [a + b for a, b in zip(row["phases"], turn["phases"], strict=True)]
    row |= {name: turn[name] for name in ("drift", "joints", "memory_MiB", "peak_MiB")}
    if not row["moved"][-1] <= FAR:
        row["ended"] = "lost"
    elif row["until"][-1] >= span * (1 - 1e-9):
        row["ended"] = "span"
