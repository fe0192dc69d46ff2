"""Methods on the same contact problems: cases of a phase come in, one row of figures a method goes out.

`ms` is processor time of one thread, the median of the steps. `error` is the mass-weighted rms difference of velocities,
relative to g h, to a reference solved far tighter (native, without its warm paths), and the largest of the steps. Every other
method takes the loosest tolerance of its list whose error is no larger than the native one's or 1e-6, whichever is larger (the
best, if none is); the time of that tolerance is reported, not that of the search. Clarabel runs with whichever of its two
linear solvers is faster on the scene. A method has `limit` seconds (on the wall) a step; after `budget` seconds on a row no
further step is tried: `steps` says how many there were.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from bench.clock import forget_peak, peak, timed
from bench.scenes import SCENES, TOLERANCE, Case, make_model, phases, surface_of
from drystone import build
from drystone.engine.contact_laws import ContactSurface
from drystone.engine.simulation import simulate
from drystone.engine.solvers import clarabel
from drystone.engine.solvers.methods import make_solver
from drystone.engine.solvers.native import native
from drystone.engine.solvers.problem import Problem
from drystone.engine.solvers.solution import ContactSolver, Solution
from drystone.structure.model import Model, build_model

Row = dict[str, Any]
Make = Callable[[float], ContactSolver]  # a solver of a tolerance

EXACT = ("native", "nlgs")  # the methods that know Coulomb's law
TIGHT = {"rigid": 1e-8, "compliant": 1e-9}  # tolerance of the reference
TOLERANCES = [10.0**-k for k in range(4, 13)]
LDL = ("faer", "qdldl")


class Effort(NamedTuple):
    """How long a method may try."""

    limit: float = 60.0  # [s] a step
    budget: float = 120.0  # [s] a row
    steps: int = 5  # of a phase


def error_of(problem: Problem, solution: Solution, reference: Solution) -> float:
    """Mass-weighted rms velocity difference, relative to g h; infinite if the solution is not finite."""
    off = np.linalg.norm(solution.velocity - reference.velocity) / (problem.speed * np.sqrt(problem.total_mass))
    return float(off) if np.isfinite(off) else np.inf


def run(make: Callable[[], ContactSolver], cases: Sequence[Case], references: Sequence[Solution], effort: Effort, target: float,
        lead: Case | None = None) -> Row:  # fmt: skip
    """Figures of a solver over the cases, or over those it had the time for. `stopped`: by the limit, above the target. `lead`
    is solved first and not timed, but its memory counts: solvers may keep the plan of the contact graph from step to step."""
    processor, answers, errors, stopped = [], [], [], False
    before, solver = forget_peak(), make()
    if lead is not None:
        solver(lead.problem, lead.guess)
    for case, reference in zip(cases, references, strict=True):
        spent, wall, answer = timed(lambda case=case: solver(case.problem, case.guess))
        processor.append(spent)
        answers.append(answer)
        errors.append(error_of(case.problem, answer, reference))
        stopped = errors[-1] > target and wall >= 0.99 * effort.limit
        if stopped or sum(processor) >= effort.budget:
            break
    return {
        "steps": len(processor),
        "ms": 1e3 * float(np.median(processor)),
        "longest_ms": 1e3 * max(processor),
        "iterations": float(np.mean([answer.factorisations for answer in answers])),
        "error": max(errors),
        "target": target,
        "reached": max(errors) <= target,
        "stopped": stopped,
        "limit": effort.limit,
        "converged": float(np.mean([answer.converged for answer in answers])),
        "paths": sorted({answer.path for answer in answers}),
        "memory_MiB": peak() - before,
    }


def race(make: Make, tolerances: Sequence[float], cases: Sequence[Case], references: Sequence[Solution], target: float,
         effort: Effort) -> Row:  # fmt: skip
    """The figures at the loosest tolerance within the target: by halving on the first case, then on all of them. If that finds
    none, those of the tolerance with the smallest error on the first case, whatever its place: too tight a one may make a
    method break down."""

    def attempt(tolerance: float, few: slice) -> Row:
        row = run(lambda: make(tolerance), cases[few], references[few], effort, target)
        return {"tolerance": tolerance, **row}

    low, high, tried = 0, len(tolerances) - 1, []
    while low < high:
        middle = (low + high) // 2
        tried.append(attempt(tolerances[middle], slice(1)))
        if tried[-1]["stopped"]:
            return tried[-1]  # a tighter one would be stopped too
        low, high = (low, middle) if tried[-1]["reached"] else (middle + 1, high)
    for tolerance in tolerances[low:]:
        row = attempt(tolerance, slice(None))
        if row["reached"] or row["stopped"]:
            return row
    for tolerance in set(tolerances) - {each["tolerance"] for each in [row, *tried]}:
        if sum(each["ms"] for each in tried) < 1e3 * effort.budget:
            tried.append(attempt(tolerance, slice(1)))
    best = min([row, *tried], key=lambda each: each["error"])
    return row if best is row else attempt(best["tolerance"], slice(None))


def compete(cases: Sequence[Case], form: str, others: dict[str, Make], effort: Effort) -> Iterator[Row]:
    """The native row, then those of the others, on cases led by the step before them."""
    lead, cases = cases[0], cases[1:]
    references = [native(TIGHT[form])(case.problem, case.guess._replace(hardship=99)) for case in cases]
    known = {
        "contacts": len(cases[0].problem.a),
        "contact_ms": float(np.median([case.contact_ms for case in cases])),
        "speed": float(np.mean([case.speed for case in cases])),
        "reference": max(reference.residual.error for reference in references),
    }
    ours = run(lambda: native(TOLERANCE), cases, references, effort._replace(budget=np.inf), np.inf, lead)
    ours["target"] = target = max(ours["error"], TOLERANCE)
    yield {"method": "native", "tolerance": TOLERANCE, **ours, **known}
    for method, make in others.items():
        found = race(make, TOLERANCES, cases, references, target, effort)
        yield {"method": method, **found, **known, "native_ms": ours["ms"]}


def make_other(method: str, limit: float, first: Case) -> Make:
    """How to make a method of a tolerance; `first` chooses the linear solver of Clarabel."""
    if not method.startswith("clarabel"):
        return lambda tolerance: make_solver(method, tolerance, threads=1, time_limit=limit)
    factory = clarabel.kinematic if method == "clarabel-kinematic" else clarabel.static
    few = [timed(lambda name=name: factory(1e-6, time_limit=limit, ldl=name)(*first[:2])) for name in LDL]
    rates = [spent / max(answer.factorisations, 1) for spent, _, answer in few]
    ldl = LDL[int(np.argmin(rates))]
    return lambda tolerance: factory(tolerance, time_limit=limit, ldl=ldl)


def warm_up(methods: Sequence[str], surface: ContactSurface) -> None:
    """Two steps of a small wall by every method, so that no compilation is timed."""
    model = build_model(build.wall(courses=2, blocks=2), friction=0.6)
    for method in methods:
        for _ in simulate(model, duration=2e-3, time_step=1e-3, solver=make_solver(method), surface=surface):
            pass


def rows_of(scene: str, size: int, form: str, law: str, methods: Sequence[str], wanted: Sequence[str], effort: Effort,
            model: Model | None = None) -> Iterator[Row]:  # fmt: skip
    """All rows of a scene in a form and a law, as they come; `model` instead of the scene's own is for tests."""
    model, surface = model or make_model(scene, size), surface_of(form, law)
    methods = [method for method in methods if method != "native" and (law == "associated" or method in EXACT)]
    others: dict[str, Make] = {}
    place = {"scene": scene, "size": size, "blocks": int((~model.bodies.fixed).sum()), "form": form, "law": law}
    with threadpool_limits(1):
        warm_up(methods, surface)
        for phase, cases in phases(model, SCENES[scene].direction, surface, effort.steps):
            if phase in wanted:
                others = others or {method: make_other(method, effort.limit, cases[1]) for method in methods}
                for row in compete(cases, form, others, effort):
                    yield {"kind": "solver", **place, "phase": phase, **row}
            if phase == wanted[-1]:
                return
