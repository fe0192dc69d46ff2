"""Histories by small steps: detection now and then, between two detections as many small steps as stability asks for."""

import time
from typing import NamedTuple

import numpy as np

from drystone.contact.broad import candidate_pairs
from drystone.contact.patches import find_patches
from drystone.contact.placed import place
from drystone.engine.interval import take_steps
from drystone.engine.landing import CORNER_WIDTH, MOST_CORNERS
from drystone.engine.patch_rows import COLUMNS, DAMPING_WORK, FRICTION_WORK, GAP, LANES, POINTS, SHEAR_STIFFNESS, STRETCH
from drystone.engine.patch_setup import Memory, arrange, fill_rows, no_memory, place_wrenches, pressure_energy, recall, springs
from drystone.engine.stable_step import SAFETY, bound_of_step, exact_step
from drystone.kernel import inner
from drystone.model import Model
from drystone.stepping import drift as turn_and_move

Array = np.ndarray

LONGEST_STEP = 1e-4  # [s] where little touches


class Engine:
    def __init__(self, model: Model, *, young=30e9, damping=0.2, rocking=0.3, landing=10.0, shear=1.0, gravity=9.81, interval=5e-3, turn=2e-3,
                 travel=0.01, restitution=0.0, safety=SAFETY):
        self.model, b = model, model.bodies
        self.b = b
        self.young, self.damping, self.rocking, self.landing, self.shear, self.gravity = young, damping, rocking, landing, shear, gravity
        self.interval, self.turn, self.travel, self.restitution, self.safety = interval, turn, travel, restitution, safety
        n = len(b.mass)
        self.n = n
        self.x = model.position.copy()
        self.q = np.zeros((n, 4))
        self.q[:, 0] = 1.0
        self.v = np.zeros((n, 6))
        self.L = np.zeros((n, 3))
        self.time = 0.0
        self.ground = None
        self.memory = no_memory()
        self.ratio = 0.0
        self.ratio_patches = 0
        self.mass = np.append(np.where(b.fixed, 0.0, b.mass), 0.0)
        self.inverse_mass = np.append(np.where(b.fixed, 0.0, 1 / b.mass), 0.0)
        moments = np.linalg.eigvalsh(b.inertia)
        self.mean_inertia, self.least_inertia = np.append(moments.mean(1), 1.0), np.append(moments[:, 0], 1.0)
        self.body_inverse = np.linalg.inv(b.inertia)
        corner = b.face_vertex[b.face_start[:-1]]
        owner = np.repeat(b.owner, np.diff(b.piece_face))
        self.depth = np.where(b.fixed[owner], 0.0, np.abs(np.einsum("ij,ij->i", b.vertex[corner], b.face_normal)))
        self.work = dict(friction=0.0, damping=0.0, landing=0.0, detection=0.0, ground=0.0)
        self.count = dict(detect=0, substeps=0, landings=0)
        self.cpu = dict(detect=0.0, setup=0.0, steps=0.0)
        self.external = np.zeros(8 * (n + 1))

    def inverse(self, q):
        s, x, y, z = q.T
        r = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y), 2 * (x * y + s * z), 1 - 2 * (x * x + z * z),
                      2 * (y * z - s * x), 2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y)], 1).reshape(-1, 3, 3)
        out = r @ self.body_inverse @ r.transpose(0, 2, 1)
        out[self.b.fixed] = 0.0
        return out

    def set_velocity(self, v):
        self.v = v.copy()
        self.L = np.einsum("bij,bj->bi", np.linalg.pinv(self.inverse(self.q)), v[:, 3:])

    def advance(self, span):
        left = span
        while left > 1e-12 * span:
            spin = np.sqrt((self.v[:, 3:] ** 2).sum(1))
            speed = np.sqrt((self.v[:, :3] ** 2).sum(1))
            free = ~self.b.fixed
            h = min(left, self.interval, self.turn / max(spin.max(), 1e-12), self.travel / max((speed / self.b.radius)[free].max(), 1e-12))
            h = left / np.ceil(left / h - 1e-9)
            self.one_interval(h)
            left -= h

    def one_interval(self, h):
        t0 = time.process_time()
        b = self.b
        v = self.v
        v[:, 3:] = np.einsum("bij,bj->bi", self.inverse(self.q), self.L)
        v[b.fixed] = 0.0
        xm, qm = turn_and_move(self.x, self.q, v, 0.5 * h)
        placed = place(b, xm, qm, v, h)
        pairs = candidate_pairs(b, placed)
        patches = find_patches(b, placed, pairs, len(self.memory.energy))
        t1 = time.process_time()
        self.cpu["detect"] += t1 - t0
        inverse = self.inverse(qm)
        P = len(patches.whole)
        A, B = b.owner[patches.piece[:, 0]], b.owner[patches.piece[:, 1]]
        arm_a, arm_b = patches.origin - xm[A], patches.origin - xm[B]
        size = np.minimum(placed.size[patches.piece[:, 0]], placed.size[patches.piece[:, 1]])
        stiffness = self.young / np.maximum(self.depth[patches.face[:, 0]] + self.depth[patches.face[:, 1]], 0.02 * size)
        # gaps at the start of the interval
        rel = v[B, :3] - v[A, :3] + np.cross(v[B, 3:], arm_b) - np.cross(v[A, 3:], arm_a)
        spin = v[B, 3:] - v[A, 3:]
        f = patches.frame
        patches.gap[:, 0] -= 0.5 * h * np.einsum("ij,ij->i", rel, f[:, 0:3])
        patches.gap[:, 1] += 0.5 * h * np.einsum("ij,ij->i", spin, f[:, 6:9])
        patches.gap[:, 2] -= 0.5 * h * np.einsum("ij,ij->i", spin, f[:, 3:6])
        stretch, shear_stiffness, energy, offset = np.empty((P, 2 * POINTS)), np.empty(P), np.empty(P), np.empty(P)
        self.work["detection"] += recall(b.owner, patches, self.memory, stiffness, stretch, shear_stiffness, energy, offset)
        spring, moments, fast, twice = np.zeros((P, 7)), np.empty((P, 5)), np.empty(P), np.empty(P)
        springs(patches, A, B, arm_a, arm_b, stiffness, moments, self.mass, self.inverse_mass, self.mean_inertia, self.damping, self.rocking,
                self.landing * self.gravity if self.landing else 1e9, spring, fast, twice)
        order = arrange(patches.corner_start)
        groups = -(-P // LANES)
        rows = np.empty(groups * COLUMNS * LANES)
        body, slot = np.empty((2, groups, LANES), np.int64), np.empty((2, groups, LANES), np.int64)
        wrench_start = place_wrenches(order, A, B, self.n, slot)
        corner_start, corner_count = np.empty(groups + 1, np.int64), np.empty((groups, LANES), np.int64)
        corners = np.zeros((len(patches.corner) + 4 * P + 64) * 2 * LANES)
        friction = self.model.friction_between(A, B)
        fill_rows(order, patches, A, B, arm_a, arm_b, spring, moments, friction, self.shear, fast, twice, stiffness, stretch, shear_stiffness,
                  rows, body, slot, wrench_start, self.n, corner_start, corner_count, corners)
        restitution = np.full((groups, LANES), self.restitution)
        n1 = self.n + 1
        velocity, momentum, inverse_inertia = np.zeros((n1, 8)), np.zeros((n1, 4)), np.zeros((n1, 3, 4))
        velocity[:-1, :3] = v[:, :3]
        velocity[:-1, 4:7] = np.einsum("bij,bj->bi", inverse, self.L)
        momentum[:-1, :3] = self.L
        inverse_inertia[:-1, :, :3] = inverse  # symmetric
        velocity, momentum, inverse_inertia = velocity.ravel(), momentum.ravel(), inverse_inertia.ravel()
        dt = self.step_length(P, A, B, patches, arm_a, arm_b, spring, inverse_inertia)
        n = max(int(np.ceil(h / dt)), 1)
        dt = h / n
        push = np.zeros((n + 1, 8))
        if self.ground is not None:
            push[:, 4:7] = np.array([self.ground(self.time + k * dt) for k in range(n + 1)])
        push[:, :3] = [0.0, 0.0, -self.gravity]
        push[:, :3] -= push[:, 4:7]
        wrench = np.zeros(8 * (wrench_start[-1]))
        moved, ledger = np.zeros(8 * n1), np.zeros(3)
        t2 = time.process_time()
        self.cpu["setup"] += t2 - t1
        take_steps(n, dt, push, np.empty(0, np.int64), np.empty((n, 0, 3)), rows, body, slot, restitution, corner_start, corner_count, corners,
                   wrench_start, wrench, self.external, velocity, momentum, self.mass, self.inverse_mass, inverse_inertia, moved, np.empty(groups + 1, np.int64), np.empty(groups * LANES, np.int64),
                   np.empty((MOST_CORNERS, CORNER_WIDTH)), np.empty(4), ledger)
        t3 = time.process_time()
        self.cpu["steps"] += t3 - t2
        moved = moved.reshape(n1, 8)[:-1]
        mean = np.column_stack([moved[:, :3], moved[:, 4:7]]) / h
        self.x, self.q = turn_and_move(self.x, self.q, mean, h)
        self.v[:, :3] = velocity.reshape(n1, 8)[:-1, :3]
        self.v[b.fixed] = 0.0
        self.L = momentum.reshape(n1, 4)[:-1, :3].copy()
        self.v[:, 3:] = np.einsum("bij,bj->bi", self.inverse(self.q), self.L)
        self.time += h
        self.work["landing"] += ledger[0]
        self.work["ground"] += ledger[2]
        self.count["landings"] += int(ledger[1])
        self.count["detect"] += 1
        self.count["substeps"] += n
        by = rows.reshape(groups, COLUMNS, LANES).transpose(0, 2, 1).reshape(-1, COLUMNS)[:P]
        back = np.empty(P, np.int64)
        back[order] = np.arange(P)
        by = by[back]
        self.work["friction"] += by[:, FRICTION_WORK].sum()
        self.work["damping"] += by[:, DAMPING_WORK].sum()
        end = np.empty(P)
        _energies(patches.corner, patches.corner_start, patches.whole, patches.edge, by[:, GAP : GAP + 3].copy(), stiffness, end)
        self.memory = Memory(patches.piece.copy(), patches.face.copy(), by[:, STRETCH : STRETCH + 2 * POINTS].copy(), by[:, SHEAR_STIFFNESS].copy(), end, offset)
        self.rows, self.patches = by, patches
        self.dt = dt
        self.cpu["setup"] += time.process_time() - t3

    def step_length(self, P, A, B, patches, arm_a, arm_b, spring, inverse_inertia):
        if P == 0:
            return LONGEST_STEP
        bound = bound_of_step(A, B, arm_a, arm_b, spring, self.mass, self.inverse_mass, self.least_inertia, np.empty((self.n, 2)))
        if abs(P - self.ratio_patches) > 0.1 * self.ratio_patches:
            exact = exact_step(bound, A, B, patches.frame, arm_a, arm_b, spring, self.shear, self.mass, self.inverse_mass, inverse_inertia,
                               np.empty((self.n, 6)), np.empty((self.n, 6)))
            self.ratio, self.ratio_patches = exact / bound, P
        return min(self.safety * self.ratio * bound, LONGEST_STEP)

    def settle(self, duration=0.1, factor=0.9, span=5e-4):
        begin, landing = self.time, self.landing
        self.landing = 0.0
        for _ in range(int(round(duration / span))):
            self.advance(span)
            self.v *= factor
            self.L *= factor
        self.time, self.landing = begin, landing

    def kinetic(self):
        free = ~self.b.fixed
        w = np.einsum("bij,bj->bi", self.inverse(self.q), self.L)
        return float(0.5 * (self.b.mass[free, None] * self.v[free, :3] ** 2).sum() + 0.5 * (w * self.L)[free].sum())

    def potential(self):
        free = ~self.b.fixed
        return float(self.gravity * (self.b.mass[free] * self.x[free, 2]).sum())

    def elastic(self):
        m = self.memory
        return float(m.energy.sum() + 0.5 * (m.shear_stiffness[:, None] * m.stretch**2).sum())

    def total(self):
        return self.kinetic() + self.potential() + self.elastic()


@inner
def _energies(corner, corner_start, whole, edge, gap, stiffness, out):
    for p in range(out.shape[0]):
        out[p] = pressure_energy(corner, corner_start[p], corner_start[p + 1], whole[p], edge[p], gap[p, 0], gap[p, 1], gap[p, 2], stiffness[p])
