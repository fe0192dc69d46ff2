"""Ctrl-C while a history is followed by the other integrator: exit code 130, nothing but the message, the run as it was."""

import hashlib
import signal
import subprocess
import sys

from tests.faults.programs import told_here, wall

# As `drystone`, but it says when the first frame has been compared.
PROGRAM = """
import sys
import drystone.analysis.second_opinion.of_history as histories
compare = histories.block_distances
def distances(*arguments):
    print("begun", file=sys.stderr, flush=True)
    return compare(*arguments)
histories.block_distances = distances
from drystone.cli import main
main()
"""


def test_ctrl_c(tmp_path):
    out = tmp_path / "out"
    assert told_here("run", wall(tmp_path), "-o", out, "--json")[0] == 0
    before = hashlib.sha256((out / "run.h5").read_bytes()).hexdigest()
    command = [sys.executable, "-c", PROGRAM, "verify", "--cross", str(out), "--apart", "1000", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "begun" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said, told = process.communicate(timeout=600)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert '"verdict"' not in said
    assert hashlib.sha256((out / "run.h5").read_bytes()).hexdigest() == before
