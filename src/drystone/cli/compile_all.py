"""Compile every kernel of the package, by short computations that call all of them.

Otherwise kernels are compiled when they are first needed. Compiling ahead is useful for a wheel, a container image, nodes of
a cluster, or the tests. The command is `drystone compile`.
"""

import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from drystone import build
from drystone.analysis.dynamics import run
from drystone.analysis.statics.balance import assemble_balance
from drystone.analysis.statics.collapse_multiplier import solve_limit
from drystone.analysis.statics.collapse_states import search_states
from drystone.base import kernel
from drystone.base.signals import leave_ctrl_c_to_parent
from drystone.base.units import GRAVITY
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import initial_state, simulate, simulate_small_steps
from drystone.engine.small_steps.integrator import SmallSteps
from drystone.engine.solvers.methods import SPATIAL, make_solver
from drystone.ground.accelerogram import Accelerogram
from drystone.ground.motion import Motion
from drystone.ground.response_spectra import response_spectrum
from drystone.io.case import parse_case
from drystone.show.export.glb import write_glb
from drystone.show.pictures.picture import picture
from drystone.structure.loads import body_force, weight_wrench
from drystone.structure.model import build_model

STRONG_PULSE = Motion("one-sine", amplitude=8.0, half_period=0.1)  # makes a small arch use every path of the native solver
STONE_MODULUS = 30e9  # [Pa]
RECORDED_CASE = """
    [structure]
    generator = "arch"
    [joints]
    friction = 2.0
    [motion]
    pulse = "biphasic"
    amplitude = "1.11 g"
    duration = "0.30 s"
    direction = [-1, 0, 0]
    [analysis]
    duration = "0.3 s"
    {integrator}
"""
CONE_PROGRAM_KEYS = 'integrator = "cone-program"\n    time_step = "1 ms"'
PLANAR_CASE = """
    structure = { generator = "block", width = 0.2, depth = 1, height = 1 }
    joints = { friction = 0.7 }
    motion = { pulse = "rectangular", amplitude = "0.3 g", duration = "1 s" }
    analysis = { integrator = "cone-program", planar = true, duration = "0.1 s", time_step = "2 ms" }
"""
DEFORMABLE_CASE = """
    structure = { generator = "column", courses = 2, deformable = { young = "60 GPa", poisson = 0.27, mesh = [2, 2, 2] } }
    joints = { friction = 0.5 }
    motion = { pulse = "one-sine", amplitude = "1 g", half_period = "0.1 s" }
    analysis = { integrator = "cone-program", duration = "0.02 s", time_step = "1 ms" }
"""
NEAREST_POINTS_CASE = """
    structure = { generator = "block", width = 0.2, depth = 1, height = 1 }
    joints = { friction = 0.7 }
    motion = { pulse = "rectangular", amplitude = "0.3 g", duration = "1 s", direction = [1, 0.3, 0] }
    analysis = { integrator = "cone-program", duration = "0.1 s", time_step = "2 ms" }
    solver = { contact_search = "nearest-points" }
"""
MORTAR_CASE = """
    structure = { generator = "wall", length = 1.5, height = 0.75, courses = 3 }
    joints = { friction = 0.5, cohesion = "1 kPa", tension = "1 kPa" }
    motion = { pulse = "one-sine", amplitude = "2 g", half_period = "0.1 s" }
    analysis = { integrator = "cone-program", duration = "0.02 s", time_step = "1 ms" }
    solver = { young = "30 GPa" }
"""


def compile_all(processes: int) -> Iterator[tuple[str, int]]:
    """Yield every stage with the number of kernels that were compiled, not counting those found in the store. The processes
    share their kernels through the store."""
    with multiprocessing.get_context("spawn").Pool(min(processes, len(STAGES)), initializer=leave_ctrl_c_to_parent) as pool:
        yield from pool.imap_unordered(_compile_stage, STAGES, chunksize=1)


def _compile_stage(words: str) -> tuple[str, int]:
    before = kernel.compilations()
    STAGES[words]()
    return words, kernel.compilations() - before


def _compile_cone_steps(coulomb: bool) -> None:
    model = build_model(build.arch(blocks=7), friction=0.6)
    for surface in (ContactSurface(coulomb=coulomb), ContactSurface(STONE_MODULUS, coulomb=coulomb)):
        for theta, gyroscopic in ((1.0, "implicit"), (0.7, "explicit")):
            solver = make_solver("native")
            for _ in simulate(model, [STRONG_PULSE], duration=0.1, time_step=1e-3, solver=solver, surface=surface,
                              theta=theta, gyroscopic=gyroscopic):  # fmt: skip
                pass


def _compile_small_steps() -> None:
    """Shake a wall whose stones touch by faces, edges and corners, and an arch whose joints are neither level nor upright."""
    for blocks in (build.wall(length=1.5, height=0.75, courses=3), build.arch(blocks=7)):
        for _ in simulate_small_steps(build_model(blocks, friction=0.6), [STRONG_PULSE], duration=0.1, time_step=5e-3):
            pass


def _compile_other_solvers() -> None:
    model = build_model(build.arch(blocks=7), friction=0.6)
    for method in SPATIAL:
        for surface in (ContactSurface(), ContactSurface(STONE_MODULUS)):
            for _ in simulate(model, duration=1e-3, time_step=1e-3, solver=make_solver(method), surface=surface):
                pass
    dome = build_model(build.dome(), friction=0.6)  # large enough for helper threads
    engine, state = SmallSteps(dome, gravity=GRAVITY, threads=2), initial_state(dome)
    for _ in range(2):  # the first interval has no patches yet, so it runs on one thread
        state, _ = engine.advance(state, 1e-3)
    for _ in simulate(dome, [STRONG_PULSE], duration=0.02, time_step=0.01, solver=make_solver("native", threads=2)):
        pass


def _compile_case(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(parse_case(text), Path(folder) / "run")


def _compile_pictures() -> None:
    with tempfile.TemporaryDirectory() as folder:
        recorded = run(parse_case(RECORDED_CASE.format(integrator="")), Path(folder) / "run")
        picture(recorded, Path(folder) / "picture.png", ghost=True)
        write_glb(recorded, Path(folder) / "run.glb", range(len(recorded.time)))


def _compile_spectra() -> None:
    response_spectrum(Accelerogram("sine", "", 0.01, np.sin(np.arange(100.0)), "m/s2"), [0.1, 0.5])


def _compile_collapse_search() -> None:
    model = build_model(build.block(), friction=0.5)
    system, dead, live = assemble_balance(model), weight_wrench(model, GRAVITY), body_force(model, (1.0, 0.0, 0.0), GRAVITY)
    for _ in search_states(system, dead, live, solve_limit(system, dead, live).optimum, starts=1, hops=0, stands=True):
        pass


STAGES: dict[str, Callable[[], None]] = {  # longest first; consecutive stages share few kernels
    "steps of rigid and elastic joints": partial(_compile_cone_steps, coulomb=False),
    "small steps": _compile_small_steps,
    "pictures, exports and a recorded run": _compile_pictures,
    "steps with Coulomb friction": partial(_compile_cone_steps, coulomb=True),
    "other solvers, and two threads": _compile_other_solvers,
    "structures in the plane": partial(_compile_case, PLANAR_CASE),
    "deformable blocks": partial(_compile_case, DEFORMABLE_CASE),
    "deformable blocks by small steps": partial(_compile_case, DEFORMABLE_CASE.replace("cone-program", "small-steps")),
    "mortar": partial(_compile_case, MORTAR_CASE),
    "mortar by small steps": partial(_compile_case, MORTAR_CASE.replace("cone-program", "small-steps")),
    "a recorded run by cone programs": partial(_compile_case, RECORDED_CASE.format(integrator=CONE_PROGRAM_KEYS)),
    "contact by nearest points": partial(_compile_case, NEAREST_POINTS_CASE),
    "response spectra": _compile_spectra,
    "joints with areas": _compile_collapse_search,
}
