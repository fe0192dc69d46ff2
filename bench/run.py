"""Benchmark of histories and contact solvers: `make bench`, or python -m bench.run as below; writes bench/results.json.

    python -m bench.run                             histories, all scenes at 200 blocks, a wall of 1,000: an hour
    python -m bench.run --part histories            whole histories beside those of peers, 30 s of processor time an engine
    python -m bench.run --part histories --seconds 600      the same with ten minutes an engine: hours
    python -m bench.run --part histories --scene house --engine "Rapier, best"      a part of it; small steps always run too
    python -m bench.run --full                      every scene, size, form, phase and method: hours
    python -m bench.run --scene tower --size 1000   a part of it
    python -m bench.report                          docs/performance.md and its picture, from the results

Every scene, size and form, and every engine of a history, runs in a process of its own, on one thread unless its name says
two. Rows are written as they come: Ctrl-C keeps what is done, and another run adds to the rows of the same machine and
revision. What the figures mean is told in bench/histories.py and bench/measure.py, the structures in bench/scenes.py and
bench/places.py.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from bench import histories, history_report, measure, published, report
from bench.engine import METHODS, OURS
from bench.machine import describe, revision
from bench.measure import Effort, Row
from bench.scenes import FORMS, LAWS, PHASES, SCENES, SIZES
from drystone.engine.solvers.methods import SPATIAL

ROOT = Path(__file__).parents[1]
Job = dict[str, Any]
PARTS = ("histories", "solver", "published")
STEPS = {200: 5, 1000: 5, 5000: 3, 20000: 2}  # timed of a phase
KEY = ("kind", "scene", "size", "form", "law", "phase", "method", "line")


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """What is to be run, by process."""
    chosen = options.scene or options.size or options.form or options.phase
    quick = not (options.full or chosen)
    sizes = SIZES if options.full else options.size or ([200] if quick else [200, 1000])
    sizes = [size for size in sizes if size in (options.size or SIZES) and size in SIZES]
    scenes = [scene for scene in options.scene or SCENES if scene in SCENES]
    places = list(product(scenes, sizes, options.form or FORMS, options.law))
    wanted = [phase for phase in PHASES if phase in (options.phase or PHASES)]
    jobs = [job_of(options, quick, wanted, *place) for place in places if wanted]
    if quick:
        jobs += [job_of(options, quick, ["impacting"], "wall", 1000, form, law) for form, law in product(FORMS, options.law)]
    jobs = jobs if "solver" in options.part else []
    if "histories" in options.part:
        jobs = histories_of(options) + jobs
    if "published" in options.part:
        lines = [line.name for line in published.LINES if options.full or line.blocks < 1000]
        jobs.append({"kind": "published", "lines": lines, "steps": None, "rows": len(lines)})
    return jobs


def histories_of(options: argparse.Namespace) -> list[Job]:
    """A place each, of the scenes, sizes and phases that are chosen."""
    chosen = {"scene": options.scene, "size": options.size, "phase": options.phase}
    wanted = lambda place: all(getattr(place, name) in few for name, few in chosen.items() if few)  # noqa: E731
    seconds = options.seconds or (histories.FULL if options.full else histories.QUICK)
    jobs = []
    for place in filter(wanted, histories.PLACES):
        methods = [method for method in histories.methods_of(place) if method in (OURS, *(options.engine or METHODS))]
        jobs.append({"kind": "history", "place": place, "methods": methods, "seconds": seconds, "rows": len(methods)})
    return jobs


def job_of(options: argparse.Namespace, quick: bool, phases: list[str], scene: str, size: int, form: str, law: str) -> Job:
    """One process: a scene at a size in a form and a law."""
    limit = options.limit or (size / 100 if quick else 60.0)
    budget = options.budget or (limit if quick or size > 1000 else 2 * limit)
    effort = Effort(limit, budget, options.steps or (2 if quick else STEPS[size]))
    methods = ["native", *(method for method in options.method if method != "native")]
    rows = len(phases) * len([method for method in methods if law == "associated" or method in measure.EXACT])
    return {"kind": "solver", "scene": scene, "size": size, "form": form, "law": law, "methods": methods, "wanted": phases,
            "effort": effort, "rows": rows}  # fmt: skip


def rows_of(job: Job) -> Iterator[Row]:
    """The rows of a job, in this process."""
    if job["kind"] == "published":
        return published.rows_of(job["lines"], job["steps"])
    place = (job[name] for name in ("scene", "size", "form", "law", "methods", "wanted"))
    return measure.rows_of(*place, Effort(*job["effort"]))


def rows_apart(job: Job) -> Iterator[Row]:
    """The rows of a job, in a process of its own; a history has one for every engine."""
    if job["kind"] == "history":
        yield from histories.rows_of(job["place"], job["seconds"], job["methods"])
        return
    command = [sys.executable, "-m", "bench.run", "--worker", json.dumps(job)]
    alone = os.environ | dict.fromkeys(histories.ALONE, "1")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=alone) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                yield json.loads(line)
        finally:
            process.terminate()
    if process.returncode:
        raise RuntimeError(f"the process of {name_of(job)} ended with {process.returncode}; its error is above")


def merge(path: Path, row: Row, machine: dict[str, Any], version: str) -> None:
    """Add a row to the session of this machine and revision, in the place of one with the same key; other sessions stay."""
    sessions = json.loads(path.read_text()) if path.exists() else []
    here = [each for each in sessions if each["machine"] == machine and each["revision"] == version]
    session = here[0] if here else {"machine": machine, "revision": version, "rows": []}
    key = [row.get(name) for name in KEY]
    session["date"], load = str(date.today()), os.getloadavg()[0]
    session["load"] = [min(load, *session.get("load", [load])), max(load, *session.get("load", [load]))]
    session["rows"] = [old for old in session["rows"] if [old.get(name) for name in KEY] != key] + [row]
    sessions = [each for each in sessions if each is not session] + [session]
    spare = path.with_suffix(".part")
    spare.write_text(json.dumps(sessions, indent=1) + "\n")
    spare.replace(path)


def name_of(job: Job) -> str:
    if job["kind"] == "history":
        return "{} {} {}".format(*job["place"][:3])
    return "published table" if job["kind"] == "published" else " ".join(str(job[k]) for k in ("scene", "size", "form", "law"))


def said(row: Row) -> str:
    """A row as a line on the screen."""
    if row["kind"] == "published":
        broad, narrow, solver = row["seconds"]
        return f"{row['line']}: {row['blocks']} blocks, broad {broad:.1e} s, narrow {narrow:.1e} s, solver {solver:.1e} s"
    if row["kind"] == "history":
        return f"{row['scene']} {row['blocks']} {row['phase']:<10} {row['method']:<30} {history_report.line(row)}"
    where = f"{row['scene']} {row['blocks']} {row['form']} {row['law']} {row['phase']}"
    ratio = f", {report.ratio(row)} x native" if "native_ms" in row else ""
    return f"{where:<44} {row['method']:<19} error {row['error']:.0e}, {report.cell(row)}{ratio}"


def go(jobs: list[Job], out: Path) -> list[str]:
    """Run the jobs and write their rows; the names of those that failed go out."""
    failed = []
    console, machine, version = Console(soft_wrap=True), describe(), revision(ROOT)
    out.parent.mkdir(parents=True, exist_ok=True)
    with Progress(console=console) as progress:
        task = progress.add_task("", total=sum(job["rows"] for job in jobs))
        for job in jobs:
            progress.update(task, description=name_of(job))
            try:
                for row in rows_apart(job):
                    merge(out, row, machine, version)
                    progress.console.print(said(row), markup=False, highlight=False)
                    progress.advance(task)
            except RuntimeError as error:  # the others can still be measured
                progress.console.print(error, style="red")
                failed.append(name_of(job))
    return failed


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the default when nothing is chosen")
    size.add_argument("--full", action="store_true", help="everything, 5,000 and 20,000 blocks too")
    parser.add_argument("--scene", nargs="+", choices=sorted({*SCENES, *(place.scene for place in histories.PLACES)}))
    parser.add_argument("--size", nargs="+", type=int, choices=sorted({*SIZES, *(place.size for place in histories.PLACES)}))
    parser.add_argument("--form", nargs="+", choices=list(FORMS))
    parser.add_argument("--law", nargs="+", choices=LAWS, default=["associated"])
    parser.add_argument("--phase", nargs="+", choices=(*PHASES, "shaken"), help="histories have standing and shaken ones")
    parser.add_argument("--method", nargs="+", choices=SPATIAL, default=SPATIAL, help="native always runs too")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--limit", type=float, help="[s] a step of a method: 60, quick 2 and 10")
    parser.add_argument("--budget", type=float, help="[s] of a method on a row, after which no further step is tried")
    parser.add_argument("--steps", type=int, help="timed of a phase")
    parser.add_argument("--engine", nargs="+", choices=METHODS, help="of histories; small steps always run too")
    parser.add_argument("--seconds", type=float, help="[s] of processor time an engine has on a history: 600, quick 30")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results.json")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> None:
    """Run what the command line asks for."""
    options = options_of()
    try:
        if options.worker:
            for row in rows_of(json.loads(options.worker)):
                print(json.dumps(row), flush=True)
        else:
            for words in histories.missing() if "histories" in options.part else []:
                print(words)
            failed = go(jobs_of(options), options.out)
            print(f"wrote {options.out}; python -m bench.report makes docs/performance.md of it")
            sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
    except KeyboardInterrupt:
        sys.exit(130 if options.worker else f"interrupted; what was done is in {options.out}")


if __name__ == "__main__":
    main()
