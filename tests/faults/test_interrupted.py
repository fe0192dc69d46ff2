"""Ctrl-C, once and twice, and SIGTERM. Truth: the run that nothing happens to, and the exit codes that shells give them."""

import os
import random
import signal
import time

import pytest

from drystone.results.store.run_reader import read_run
from tests.faults.programs import assert_same_run, begun, drystone, end, steps_of, sweep, told, told_here, wall

WAYS = {
    "Ctrl-C": ((signal.SIGINT,), 130),
    "Ctrl-C twice": ((signal.SIGINT, signal.SIGINT), 130),
    "SIGTERM": ((signal.SIGTERM,), 143),
}


def cut_and_gone_on_with(tmp_path, truth, way, dice):
    (truth, lasts), (signals, expected) = truth, WAYS[way]
    out = tmp_path / "out"
    process = drystone("run", wall(tmp_path), "-o", out, "--json")
    assert begun(process, out / "run.h5")
    code, said = end(process, 0.4 * lasts * dice.random(), *signals)
    assert code == expected, said
    assert "Traceback" not in said
    assert steps_of(out) < len(read_run(truth).steps["step"])
    assert told_here("run", "--resume", out, "--json")[0] == 0
    assert_same_run(truth, out)


@pytest.mark.parametrize("way", WAYS)
def test_cut(tmp_path, truth, way):
    cut_and_gone_on_with(tmp_path, truth, way, random.Random(way))


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(15))
def test_cut_often(tmp_path, truth, way, seed):
    cut_and_gone_on_with(tmp_path, truth, way, random.Random(f"{way} {seed}"))


def test_a_study_cut_by_sigterm_keeps_its_trials(tmp_path):
    out = tmp_path / "out"
    process = drystone("study", sweep(tmp_path), "-o", out, "--jobs", 1, "--json")
    rows = out / "trials.jsonl"
    while not (rows.exists() and rows.read_bytes().count(b"\n") >= 2):
        assert process.poll() is None
        time.sleep(0.005)
    code, said = end(process, 0.0, signal.SIGTERM)
    assert code == 143, said
    assert "Traceback" not in said
    lines = len(rows.read_bytes().splitlines())
    assert 2 <= lines < 18
    assert len((out / "trials.csv").read_text().splitlines()) == lines + 1, "the table of what was done is there"


@pytest.mark.soak
def test_ctrl_c_while_compiling(tmp_path, monkeypatch):
    """The kernels are compiled into a cache of their own; whatever is left of it, the next run works."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    out = tmp_path / "out"
    process = drystone("run", wall(tmp_path), "-o", out, "--json")
    assert begun(process, out / "run.h5")
    code, said = end(process, 5.0, signal.SIGINT)
    assert code == 130, said
    assert "Traceback" not in said
    assert steps_of(out) == 0
    assert told("run", "--resume", out, "--json")[0] == 0
    assert os.listdir(tmp_path / "cache")
