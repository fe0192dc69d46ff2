"""Random assemblies: a seed comes in, a small structure with its joints, its start, its ground motion and its scheme goes out.

    heap    hulls of 4 to 30 random points that fall and tumble onto one another
    wall    courses of stones of random lengths, with random gaps between them and random offsets across
    tower   a slender stack of boxes and frustums that leans
    arch    voussoirs with chipped edges
    dome    two rings with chipped edges
    pebbles a stone with others of a hundredth of its size about it

Every other choice is drawn from what a case may ask for: contact form, friction law, theta, parts of an impact, spin,
restitution, time step, pulse. There are 3 to 25 stones. The same seed is the same assembly, whatever was drawn before it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from drystone import build
from drystone.base.units import GRAVITY
from drystone.build.shapes import HEXAHEDRON, box
from drystone.engine.cone_step.integrator import State
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import initial_state
from drystone.ground.motion import Motion
from drystone.structure.joint_laws import JointLaw
from drystone.structure.model import Block, Model, build_model

Array = np.ndarray
Chance = np.random.Generator

GROUND = box((-8.0, -8.0, -4.0), (8.0, 8.0, 0.0), fixed=True, name="ground")
NEAR = 1e-3  # [m] between stones that fall, at the start


@dataclass(frozen=True)
class Assembly:
    """A structure that is about to move, and how its time is stepped."""

    seed: int
    kind: str
    blocks: tuple[Block, ...]
    law: JointLaw
    velocity: Array  # (B, 6) [m/s, rad/s] at the start
    motions: tuple[Motion, ...]
    steps: int
    scheme: dict[str, Any]  # of `simulate`

    def model(self) -> Model:
        return build_model(self.blocks, friction=self.law)

    def start(self, model: Model) -> State:
        return initial_state(model)._replace(velocity=self.velocity)

    def __str__(self) -> str:
        stones = sum(not block.fixed for block in self.blocks)
        return f"{self.seed}: {self.kind} of {stones} stones, {self.steps} steps, {self.scheme}, {self.law}, {self.motions}"


def assembly(seed: int) -> Assembly:
    """The assembly of a seed."""
    chance = np.random.default_rng([9, seed])
    kind = tuple(KINDS)[seed % len(KINDS)]
    blocks = [replace(block, name=f"{i}") for i, block in enumerate(KINDS[kind](chance))]
    surface = _surface(chance)
    bounces = not surface.compliant and chance.random() < 0.25
    law = JointLaw(float(chance.choice([0.0, 0.3, 0.6, 1.2])) if chance.random() < 0.3 else float(chance.uniform(0.2, 1.0)),
                   restitution=float(chance.uniform(0.1, 1.0)) if bounces else 0.0)  # fmt: skip
    step, theta = float(chance.choice([1e-3, 2e-3, 5e-3, 1e-2])), float(chance.choice([0.5, 0.53, 0.75, 1.0]))
    chance.integers(3)  # once the number of parts of a step; drawn still, so that the assemblies keep their numbers
    scheme = {
        "time_step": step,
        "theta": theta,
        "gyroscopic": "implicit" if chance.random() < 0.8 else "explicit",
        "surface": surface,
    }
    return Assembly(seed, kind, tuple(blocks), law, _velocity(kind, blocks, chance), _motions(chance),
                    int(chance.integers(20, 61)), scheme)  # fmt: skip


def _surface(chance: Chance) -> ContactSurface:
    exact = bool(chance.random() < 0.4)
    form = chance.choice(["rigid", "rigid", "young", "stiffness"])
    if form == "rigid":
        return ContactSurface(coulomb=exact)
    if form == "young":
        return ContactSurface(young=10.0 ** chance.uniform(8.0, 10.5), coulomb=exact)
    return ContactSurface(stiffness=10.0 ** chance.uniform(6.0, 9.0), coulomb=exact)


def _velocity(kind: str, blocks: list[Block], chance: Chance) -> Array:
    """(B, 6) stones that fall have been thrown; the others are at rest."""
    velocity = np.zeros((len(blocks), 6))
    if kind in ("heap", "pebbles"):
        velocity[:, :3] = chance.normal(0.0, 0.5, (len(blocks), 3))
        velocity[:, 2] -= chance.uniform(0.5, 3.0)
        velocity[:, 3:] = chance.normal(0.0, 2.0, (len(blocks), 3))
    velocity[[block.fixed for block in blocks]] = 0.0
    return velocity


def _motions(chance: Chance) -> tuple[Motion, ...]:
    if chance.random() < 0.5:
        return ()
    pulse = str(chance.choice(["one-sine", "half-sine", "ricker"]))
    x, y, z = chance.normal(size=3) * (1.0, 1.0, 0.3)
    return (Motion(pulse, amplitude=GRAVITY * chance.uniform(0.1, 1.5), half_period=chance.uniform(0.03, 0.3),
                   direction=(x, y, z)),)  # fmt: skip


def hull(points: Array, **attributes: Any) -> Block:
    """The convex hull of points (n, 3) [m], in triangles."""
    found = ConvexHull(points)
    used = {int(old): new for new, old in enumerate(found.vertices)}
    faces = []
    for (a, b, c), plane in zip(found.simplices, found.equations, strict=True):
        outward = np.cross(points[b] - points[a], points[c] - points[a]) @ plane[:3] > 0
        faces.append(tuple(used[int(v)] for v in ((a, b, c) if outward else (a, c, b))))
    return Block(points[found.vertices], tuple(faces), **attributes)


def stone(chance: Chance, centre: Array, radius: float) -> Block:
    """The hull of 4 to 30 random points of an ellipsoid within a sphere."""
    while True:
        points = chance.normal(size=(int(chance.integers(4, 31)), 3))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points *= radius * np.array([1.0, chance.uniform(0.5, 1.0), chance.uniform(0.4, 1.0)])
        if ConvexHull(points).volume > 0.1 * radius**3:  # no splinters: their moments of inertia are next to nothing
            return hull(centre + points, density=float(chance.uniform(1500, 3000)))


def heap(chance: Chance) -> list[Block]:
    """Layers of stones with room about each."""
    count, radius = int(chance.integers(3, 19)), chance.uniform(0.1, 0.4)
    places = [(x, y, z) for z in range(9) for x in (-0.5, 0.5) for y in (-0.5, 0.5)][:count]
    centres = (2 * radius + NEAR) * (np.array(places) + [0.0, 0.0, 0.5])
    return [GROUND, *(stone(chance, centre, radius * chance.uniform(0.6, 1.0)) for centre in centres)]


def wall(chance: Chance, courses: int | None = None, end: float = 0.6) -> list[Block]:
    """Stones with gaps of up to 2 cm between them, each up to 3 cm before or behind its course; two to five courses unless
    told, which go on until `end` [m] is reached."""
    stones, height = [GROUND], 0.0
    for _ in range(chance.integers(2, 6) if courses is None else courses):
        rise, x = chance.uniform(0.15, 0.3), -0.8 + chance.uniform(0.0, 0.3)
        while x < end:
            length, y, depth = chance.uniform(0.2, 0.6), chance.uniform(-0.03, 0.03), chance.uniform(0.2, 0.3)
            stones.append(box((x, y - depth / 2, height), (x + length, y + depth / 2, height + rise)))
            x += length + (chance.uniform(0.0, 0.02) if chance.random() < 0.7 else 0.0)
        height += rise
    return stones


def tower(chance: Chance) -> list[Block]:
    """Frustums on one another, each moved a little towards where the tower leans."""
    lean, side, height, centre = chance.normal(0.0, 0.02, 2), chance.uniform(0.2, 0.5), 0.0, np.zeros(2)
    square = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    stones = [GROUND]
    for _ in range(chance.integers(3, 13)):
        rise, top = chance.uniform(0.1, 0.4), side * chance.uniform(0.85, 1.0)
        low = np.column_stack([centre + side * square, np.full(4, height)])
        high = np.column_stack([centre + top * square, np.full(4, height + rise)])
        stones.append(Block(np.concatenate([low, high]), HEXAHEDRON, density=float(chance.uniform(1500, 3000))))
        centre, height, side = centre + lean + chance.normal(0.0, 0.005, 2), height + rise, top * chance.uniform(0.9, 1.0)
    return stones


def arch(chance: Chance) -> list[Block]:
    count, radius = int(chance.integers(3, 16)), chance.uniform(1.0, 5.0)
    whole = build.arch(blocks=count, radius=radius, thickness=radius * chance.uniform(0.1, 0.3),
                       embrace=np.deg2rad(chance.uniform(90, 180)), depth=chance.uniform(0.3, 1.0))  # fmt: skip
    return build.chip(whole, chance.uniform(2e-4, 3e-3))


def dome(chance: Chance) -> list[Block]:
    bond = "aligned" if chance.random() < 0.5 else "staggered"
    whole = build.dome(rings=2, blocks=int(chance.integers(5, 9)), radius=2.0, thickness=chance.uniform(0.2, 0.5),
                       oculus=np.deg2rad(chance.uniform(30, 50)), bond=bond)  # fmt: skip
    return build.chip(whole, chance.uniform(1e-3, 5e-3))


def pebbles(chance: Chance) -> list[Block]:
    """A boulder over a few pebbles on the ground, and pebbles above it."""
    radius, count = chance.uniform(0.5, 1.0), int(chance.integers(2, 9))
    small = radius / chance.uniform(30, 100)
    below = [small * np.array([3 * k, 0.0, 1.0]) + [0.0, chance.normal(0, small), NEAR] for k in range(count)]
    above = [below[k] + [0.0, 0.0, 2 * radius + 2 * small + 3 * NEAR] for k in range(count)]
    boulder = stone(chance, np.array([0.0, 0.0, radius + 2 * small + 2 * NEAR]), radius)
    return [GROUND, boulder, *(stone(chance, centre, small) for centre in below + above)]


KINDS = {"heap": heap, "wall": wall, "tower": tower, "arch": arch, "dome": dome, "pebbles": pebbles}
