"""What a study costs beside its trials, and what a second worker gives: python -m bench.study_throughput [trials]

The stone house of NB for a tenth of a second, one amplitude a trial, by this process alone, by one worker and by two. On a
machine that others use too wall time says little: besides it stand the CPU time of all processes a trial, and how much of
the time the workers were computing (the sum of what the trials took, over workers times wall time).
"""

import os
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from drystone.io.case import read_case
from drystone.study.loop import run_study
from drystone.study.process_workers import ProcessWorkers
from drystone.study.sweep import Sweep, combinations
from drystone.study.trial_key import trial_key
from drystone.study.trial_table import TrialTable
from drystone.study.workers import SerialWorkers, Task

HOUSE = Path(__file__).parents[1] / "examples" / "stone-house.toml"


def cpu(processes: list[int]) -> float:
    """[s] used so far by this process and those."""
    ticks = os.sysconf("SC_CLK_TCK")
    own = resource.getrusage(resource.RUSAGE_SELF)
    fields = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in processes]
    return own.ru_utime + own.ru_stime + sum(int(field[11]) + int(field[12]) for field in fields) / ticks


def measure(jobs: int, trials: int) -> dict[str, float]:
    """Wall and CPU time of a study, its workers started and warm; jobs = 0 is this process."""
    case = read_case(HOUSE)
    task = Task(case.text, case.path)
    amplitudes = [f"{0.5 + 0.01 * k:.2f} g" for k in range(trials + max(jobs, 1))]
    samples = combinations({"motion.amplitude": amplitudes, "analysis.duration": ["0.1 s"], "analysis.time_step": ["1 ms"]})
    warm, timed = Sweep(samples[trials:]), Sweep(samples[:trials])
    workers = SerialWorkers(task) if jobs == 0 else ProcessWorkers(task, jobs)
    with tempfile.TemporaryDirectory() as folder, workers:
        table = TrialTable(Path(folder), lambda sample: trial_key(case.text, case.path, sample))
        for _ in run_study(warm, table, workers):
            pass
        processes = workers.processes() if isinstance(workers, ProcessWorkers) else []
        start, used = perf_counter(), cpu(processes)
        took = [row.outcome.seconds for row in run_study(timed, table, workers)]
        wall, used = perf_counter() - start, cpu(processes) - used
    return {"wall": wall, "cpu": used / trials, "trial": sum(took) / trials, "busy": sum(took) / (max(jobs, 1) * wall)}


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    print(f"{trials} trials of the house; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| workers | wall [s] | a trial [s] | CPU of all a trial [s] | computing |\n|---|---|---|---|---|")
    found = {}
    for jobs, name in ((0, "this process"), (1, "one"), (2, "two")):
        found[jobs] = measure(jobs, trials)
        row = found[jobs]
        print(f"| {name} | {row['wall']:.1f} | {row['trial']:.2f} | {row['cpu']:.2f} | {row['busy']:.1%} |", flush=True)
    one, two = found[1], found[2]
    alone = 2 * one["cpu"] / two["cpu"] * two["busy"] / one["busy"]
    print(f"two workers against one: {one['wall'] / two['wall']:.2f} in wall time at load {os.getloadavg()[0]:.1f}, "
          f"{alone:.2f} by CPU time, if the cores were theirs alone")  # fmt: skip


if __name__ == "__main__":
    main()
