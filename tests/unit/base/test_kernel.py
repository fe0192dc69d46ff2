"""Compiled code and where it is kept. Truth: how many functions a process compiled, and what they return."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import pytest

from drystone.base.kernel.digest import code_digest, describe_type
from drystone.base.kernel.target import PROCESSOR_VARIABLE, kernel_target

LOW = """
from typing import NamedTuple
from drystone.base.kernel import inner

class Pair(NamedTuple):
    first: float
    second: float

SHARE = 0.5

@inner
def low(pair, n):
    '''A docstring.'''
    total = 0.0
    for i in range(n):
        total += SHARE * pair.first ** i + pair.second
    return total
"""
HIGH = """
import numpy as np
from drystone.base.kernel import kernel
from structure.low import low

@kernel
def high(pair, n):
    out = np.empty(2)
    out[0] = low(pair, n)
    out[1] = low(pair, 1)
    return out

@kernel
def apart(x):
    return 2.0 * x
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from structure.high import apart, high
from structure.low import Pair
from drystone.base.kernel import compilations
print(*high(Pair(2.0, 1.0), 3), apart(1.5), compilations())
"""


class Copy:
    """A small package with kernels, and a cache."""

    def __init__(self, folder: Path, cache: Path):
        self.folder, self.cache = folder, cache
        (folder / "structure").mkdir(parents=True)
        (folder / "structure" / "__init__.py").write_text("")
        self.write("low", LOW)
        self.write("high", HIGH)

    def write(self, name: str, text: str) -> None:
        (self.folder / "structure" / f"{name}.py").write_text(text)

    def start(self, program: str = PROGRAM, **environment: str) -> subprocess.Popen:
        env = os.environ | {"XDG_CACHE_HOME": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"} | environment
        return subprocess.Popen([sys.executable, "-c", program, str(self.folder)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=env)  # fmt: skip

    def run(self, **environment: str) -> tuple[list[float], int]:
        """What the functions returned, and how many were compiled."""
        process = self.start(**environment)
        said, error = process.communicate()
        assert process.returncode == 0, error
        *values, count = map(float, said.split())
        return values, int(count)

    @property
    def files(self) -> list[Path]:
        return sorted((self.cache / "drystone" / "kernels").glob("*.kernel"))


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path / "here", tmp_path / "cache")


ANSWERS = [6.5, 1.5, 3.0]  # 0.5 (1 + 2 + 4) + 3, 0.5 + 1, 2 x 1.5


def test_nothing_is_compiled_twice_nor_out_of_date(copy, tmp_path):
    assert copy.run() == (ANSWERS, 3)
    assert copy.run() == (ANSWERS, 0)
    copy.write("low", LOW.replace("A docstring.", "Another.").replace("SHARE = 0.5", "# a comment\nSHARE = 0.5\nOTHER = 3\n"))
    assert copy.run() == (ANSWERS, 0), "words change nothing"
    copy.write("low", LOW.replace("SHARE = 0.5", "SHARE = 1.0"))
    assert copy.run() == ([10.0, 2.0, 3.0], 2), "a constant changes who reads it and who calls that, and nobody else"
    copy.write("low", LOW.replace("first: float\n    second: float", "second: float\n    first: float"))
    assert copy.run() == ([0.5 * 3 + 6, 0.5 + 2, 3.0], 2), "the fields of a record in another order"
    elsewhere = Copy(tmp_path / "there", copy.cache)
    assert elsewhere.run() == (ANSWERS, 0), "the same code at another place"


def test_a_damaged_or_missing_file_is_compiled_again(copy):
    copy.run()
    for path in copy.files:
        path.write_bytes(path.read_bytes()[:-10])
    assert copy.run() == (ANSWERS, 3)
    for path in copy.files:
        if ".high.apart-" in path.name:
            path.unlink()
    assert copy.run() == (ANSWERS, 1)


def test_two_processes_at_once_do_not_compile_the_same(copy):
    both = [copy.start(), copy.start()]
    counts = [int(process.communicate()[0].split()[-1]) for process in both]
    assert sum(counts) == 3


def test_a_cache_that_cannot_be_written_costs_time_only(copy):
    copy.cache.write_text("a file where a folder should be")
    process = copy.start()
    said, error = process.communicate()
    assert [float(each) for each in said.split()] == [*ANSWERS, 3]
    assert error.count("cannot be kept") == 1


def test_kernels_of_another_processor_are_others(copy):
    other = "x86-64" if os.uname().machine == "x86_64" else "generic"
    assert [copy.run(**{PROCESSOR_VARIABLE: each}) for each in ("native", other)] == 2 * [(ANSWERS, 3)]


def test_numba_of_the_user_is_left_alone():
    assert not numba.config.CACHE_DIR
    ours, theirs = kernel_target.target_context.codegen(), numba.core.registry.cpu_target.target_context.codegen()
    assert ours is not theirs
    asked = os.environ.get("NUMBA_CPU_NAME")
    if asked is None:
        assert theirs.magic_tuple()[1] == numba.core.codegen.ll.get_host_cpu_name()
    if os.uname().machine == "x86_64" and PROCESSOR_VARIABLE not in os.environ:
        assert ours.magic_tuple()[1:] in (("x86-64-v3", ""), ("x86-64", ""))


INTERRUPTED = textwrap.dedent("""
    import signal, sys
    sys.path.insert(0, sys.argv[1])
    from drystone.base.signals import defer_signals
    from drystone.base.kernel import announce_compiling, compilations
    from structure.high import apart, high
    from structure.low import Pair
    announce_compiling(lambda: signal.raise_signal(signal.SIGINT))
    try:
        with defer_signals():
            high(Pair(2.0, 1.0), 3)
            print("not heard")
    except KeyboardInterrupt:
        print("heard after", compilations())
    print(*high(Pair(2.0, 1.0), 3))
""")


def test_ctrl_c_is_heard_while_compiling(copy):
    said, error = copy.start(INTERRUPTED).communicate()
    assert said.splitlines() == ["heard after 1", "6.5 1.5"], error
    assert signal.getsignal(signal.SIGINT) is not None


def test_digests_of_types_and_code():
    def first(x):
        """One."""
        return x + 1

    def second(x):
        """Two."""
        return x + 1

    def third(x):
        return x + 2

    assert code_digest(first) == code_digest(second) != code_digest(third)
    assert describe_type(numba.float64[::1]) != describe_type(numba.float64[:])
