"""Two processes and one folder: the second is told so, nothing of the first is touched, and a lock dies with its owner."""

import signal

import pytest

from drystone.base.errors import InputError
from drystone.base.files.folder_lock import lock_folder
from tests.faults.programs import assert_same_run, begun, drystone, end, sweep, told_here, wall


def test_a_run(tmp_path, truth):
    case, out = wall(tmp_path), tmp_path / "out"
    first = drystone("run", case, "-o", out, "--json")
    assert begun(first, out / "run.h5")
    first.send_signal(signal.SIGSTOP)  # it holds the folder as long as this test likes
    for second in (("run", "--resume", out), ("run", case, "-o", out, "--force")):
        code, _, said = told_here(*second, "--json")
        assert code == 2, said
        assert "another process is writing it" in said
    first.send_signal(signal.SIGCONT)
    first.communicate(timeout=600)
    assert first.returncode == 0
    assert_same_run(truth[0], out)


def test_a_study(tmp_path):
    file, out = sweep(tmp_path), tmp_path / "out"
    first = drystone("study", file, "-o", out, "--jobs", 1, "--json")
    assert begun(first, out / "trials.jsonl")
    first.send_signal(signal.SIGSTOP)
    code, _, said = told_here("study", "--resume", out, "--jobs", 1, "--json")
    assert code == 2, said
    assert "another process is writing it" in said
    end(first, 0.0, signal.SIGKILL)
    assert told_here("study", "--resume", out, "--jobs", 1, "--json")[0] == 3, "free again; some trials fail, as they should"


def test_within_one_process(tmp_path):
    with lock_folder(tmp_path / "made"), pytest.raises(InputError, match="another process"), lock_folder(tmp_path / "made"):
        pass
    with lock_folder(tmp_path / "made"):
        pass
    assert not list((tmp_path / "made").iterdir()), "no file is left"
