"""Models and steps made by hand, for tests of what comes after the simulation."""

from types import SimpleNamespace

import numpy as np

from drystone.contact.contacts import Contacts, no_contacts
from drystone.engine.cone_step.integrator import Energy, State
from drystone.engine.solvers.solution import Residual, Solution
from drystone.results.store.run_reader import Run, read_run
from drystone.results.store.run_writer import RunWriter
from drystone.structure.model import Block, Bodies, Model

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
NORMALS = np.array([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]], float)


def boxes(centres, sizes=None, fixed=()) -> Model:
    """Axis-parallel boxes, 1 m cubes of 2000 kg/m3 unless told."""
    centres = np.asarray(centres, float)
    count = len(centres)
    sizes = np.ones((count, 3)) if sizes is None else np.broadcast_to(np.asarray(sizes, float), (count, 3))
    vertex = (CORNERS * sizes[:, None, :]).reshape(-1, 3)
    mass = 2000.0 * sizes.prod(axis=1)
    square = sizes**2
    inertia = np.stack([np.diag(m * (s.sum() - s) / 12) for m, s in zip(mass, square, strict=True)])
    corner = np.concatenate([np.array(FACES).ravel() + 8 * i for i in range(count)])
    is_fixed = np.isin(np.arange(count), fixed)
    bodies = Bodies(
        vertex=vertex,
        vertex_start=np.arange(0, 8 * count + 1, 8),
        face_vertex=corner,
        face_start=np.arange(0, 24 * count + 1, 4),
        piece_face=np.arange(0, 6 * count + 1, 6),
        owner=np.arange(count),
        face_normal=np.tile(NORMALS, (count, 1)),
        mass=mass,
        inertia=inertia,
        radius=np.linalg.norm(sizes, axis=1) / 2,
        fixed=is_fixed,
        group=np.zeros(count, np.int64),
        grip=np.zeros(count),
    )
    blocks = tuple(
        Block(vertex[8 * i : 8 * i + 8] + centres[i], FACES, fixed=bool(is_fixed[i]), name=f"stone {i}", group="pier")
        for i in range(count)
    )
    return Model(blocks, bodies, centres, np.array([[0.6]]))


def start(model: Model) -> State:
    count = len(model.blocks)
    rotation = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    energy = Energy(0.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return State(0, 0.0, model.position.copy(), rotation, np.zeros((count, 6)), no_contacts(), 0, 0, energy)


def steps(state: State, until: int, dt: float = 1e-3):
    """Steps whose numbers depend only on the step's number, with a changing number of contacts."""
    for step in range(state.step + 1, until + 1):
        random = np.random.default_rng(step)
        count = len(state.position)
        contacts = _contacts(random, random.integers(0, 7), count)
        state = State(
            step,
            step * dt,
            random.normal(size=(count, 3)),
            random.normal(size=(count, 4)),
            random.normal(size=(count, 6)),
            contacts,
            int(random.integers(1 << 40)),
            step % 3,
            Energy(*(float(x) for x in random.normal(size=7))),
            rest=state.rest,
        )
        path = ("warm", "newton", "newton+interior")[step % 3]
        residual = Residual(*(float(x) for x in random.random(5)))
        solution = Solution(np.zeros((count, 6)), np.zeros((0, 3)), step % 5 != 0, path, step % 4, residual, step % 3)
        # not simulate.Step: importing the simulator would compile it
        yield SimpleNamespace(state=state, solution=solution, seconds=(0.001, 0.002, 0.003))


def ground(step: int) -> tuple[float, float, float]:
    return (0.1 * step, 0.0, -0.01 * step)


def _contacts(random, count: int, blocks: int) -> Contacts:
    columns = zip(Contacts._fields, no_contacts(), strict=True)
    made = Contacts(*((100 * random.normal(size=(count, *a.shape[1:]))).astype(a.dtype) for _, a in columns))
    return made._replace(a=made.a % blocks, b=made.b % blocks)


HISTORY = "duration = 1.0, time_step = 0.001"


def hand_run(folder, model: Model, positions, rotations=None, contacts=None, kind: str = HISTORY) -> Run:
    """A run of the model as built and of frames, 1 ms apart, with the positions (F, B, 3) given."""
    case = f'structure = {{ generator = "block" }}\njoints = {{ friction = 0.6 }}\nanalysis = {{ {kind} }}\n'
    first = start(model)
    rotations = np.broadcast_to(first.rotation, (len(positions), *first.rotation.shape)) if rotations is None else rotations
    with RunWriter.create(folder, case, model, first, every_steps=1) as writer:
        for step, position, rotation in zip(steps(first, len(positions)), positions, rotations, strict=True):
            still = {"velocity": np.zeros((len(position), 6)), "contacts": no_contacts() if contacts is None else contacts}
            state = step.state._replace(position=np.asarray(position, float), rotation=rotation, **still)
            writer.add(SimpleNamespace(state=state, solution=step.solution, seconds=step.seconds), (0.0, 0.0, 0.0))
    return read_run(folder)
