"""What a study with worker processes leaves open to others while it runs, and what it leaves behind when it is ended.

Truth: the tables of sockets and processes that Linux keeps in /proc.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.programs import PROGRAM, sweep

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks into the /proc of Linux")

TCP_LISTENS, UNIX_LISTENS, BOUND_UDP = "0A", 0x10000, "07"


def children(pid: int) -> list[int]:
    """All processes that a process has started, and those that they have."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def sockets_of(pid: int) -> set[str]:
    """The numbers of the sockets that a process has."""
    found = set()
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            found.add(target[len("socket:[") : -1])
    return found


def doors(pid: int) -> set[str]:
    """The sockets of a process at which others can knock: ports of TCP and UDP, Unix sockets that listen or have a name."""
    try:
        own = sockets_of(pid)
        tables = {name: Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
                  for name in ("tcp", "tcp6", "udp", "udp6", "unix")}  # fmt: skip
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return set()
    found = set()
    for name in ("tcp", "tcp6", "udp", "udp6"):
        rows = [line.split() for line in tables[name]]
        state = TCP_LISTENS if name.startswith("tcp") else BOUND_UDP
        found |= {f"{name} {row[1]}" for row in rows if row[3] == state and row[9] in own}
    for row in [line.split() for line in tables["unix"]]:
        if row[6] in own and (int(row[3], 16) & UNIX_LISTENS or len(row) > 7):
            found.add(f"unix {' '.join(row[7:])}")
    return found


def is_there(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def study_with_two_workers(folder: Path) -> subprocess.Popen:
    """In a process group of its own, as a terminal starts it."""
    command = [sys.executable, "-c", PROGRAM, "study", str(folder / "study.toml"), "-o", str(folder / "out"), "--jobs", "2"]
    return subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)


def long_study(folder: Path) -> tuple[subprocess.Popen, list[int]]:
    """A study whose trials take minutes, and its workers in the middle of the first two; their runs are recorded."""
    file = sweep(folder)
    file.write_text(file.read_text().replace("[study]", '[study]\nkeep = "all"'))
    case = folder / "case.toml"
    case.write_text(case.read_text().replace('time_step = "4 ms"', 'time_step = "0.001 ms"'))
    study = study_with_two_workers(folder)
    while len(list((folder / "out" / "runs").glob("*/run.h5"))) < 2:
        assert study.poll() is None, study.communicate()[1]
        time.sleep(0.01)
    workers = [pid for pid in children(study.pid) if is_there(pid)]
    assert len(workers) == 2
    return study, workers


def wait_until_gone(pids: list[int], within: float) -> None:
    give_up = time.monotonic() + within
    while any(is_there(pid) for pid in pids):
        assert time.monotonic() < give_up, "a worker goes on without its study"
        time.sleep(0.01)


def test_nothing_listens(tmp_path):
    """From its first moment to its last, no process of a study has a port or a socket that somebody else could connect to."""
    sweep(tmp_path)
    study, found, most = study_with_two_workers(tmp_path), set(), 0
    while study.poll() is None:
        family = [study.pid, *children(study.pid)]
        most = max(most, len(family))
        found |= {door for pid in family for door in doors(pid)}
        time.sleep(0.02)
    said = study.communicate()[1]
    assert study.returncode == 3, f"some trials fail, as they should: {said}"
    assert most >= 3, "the study and two workers were looked at"
    assert not found


def test_a_socket_that_listens_is_found(tmp_path):
    """The test above can fail: the sockets of this process are found."""
    assert not doors(os.getpid())
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix, socket.socket(type=socket.SOCK_DGRAM) as udp:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        unix.bind(str(tmp_path / "door"))
        unix.listen()
        udp.bind(("127.0.0.1", 0))
        assert {door.split()[0] for door in doors(os.getpid())} == {"tcp", "unix", "udp"}


def test_ctrl_c_of_a_terminal(tmp_path):
    """It goes to all processes of the terminal. The workers take no notice; the study ends as it should, and ends them."""
    study, workers = long_study(tmp_path)
    for worker in workers:
        os.kill(worker, signal.SIGINT)
    time.sleep(0.5)
    assert all(is_there(worker) for worker in workers)
    os.killpg(study.pid, signal.SIGINT)
    said = study.communicate(timeout=60)[1]
    assert study.returncode == 130, said
    assert "Traceback" not in said
    wait_until_gone(workers, 0.0)


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)])
def test_workers_end_with_their_study(tmp_path, how):
    """In the middle of a trial, and whichever way the study was ended."""
    study, workers = long_study(tmp_path)
    study.send_signal(how)
    study.communicate(timeout=60)
    assert study.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 143}[how]
    wait_until_gone(workers, 10.0)
