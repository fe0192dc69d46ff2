"""Kernels compiled for three processors compute the same bits. Truth: each other; BLAS and NumPy are those of this machine."""

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.soak

PROGRAM = """
import hashlib
from drystone import build
from drystone.structure.model import build_model
from drystone.ground.motion import Motion
from drystone.engine.simulation import simulate
from drystone.engine.solvers.methods import make_solver
model, digest = build_model(build.arch(blocks=7), friction=0.6), hashlib.sha256()
for step in simulate(model, [Motion("one-sine", amplitude=8.0, half_period=0.1)], duration=0.5, time_step=1e-3,
                     solver=make_solver("native")):
    digest.update(step.state.position.tobytes() + step.state.velocity.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names are those of x86-64")
def test_kernels_for_other_processors_give_the_same_bits(tmp_path):
    digests = set()
    for processor in ("x86-64", "x86-64-v3", "native"):
        env = os.environ | {"DRYSTONE_CPU": processor, "XDG_CACHE_HOME": str(tmp_path)}
        said = subprocess.run([sys.executable, "-c", PROGRAM], env=env, check=True, capture_output=True, text=True)
        digests.add(said.stdout)
    assert len(digests) == 1
