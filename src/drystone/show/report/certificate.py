"""What can be said for sure of a run: a `Run`, its case and what statics found come in, a `Certificate` goes out.

It says no more than was computed: a run that was cut, a step that did not converge, or a program that was not solved is named,
and then the verdict is not certified.
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.analysis.limit_tilt_capacity import ANSWERED_STATUSES
from drystone.engine.cone_step.energy_ledger import kinetic_energy
from drystone.engine.small_steps.integrator import ENERGY_MADE
from drystone.engine.state import Energy
from drystone.io.case import Case
from drystone.results.measures import centroid_displacement, collapse_time, step_history
from drystone.results.store.run_reader import Run, with_totals
from drystone.show.report.amounts import amount
from drystone.show.tables.summary_tables import open_question

Array = np.ndarray
Facts = dict[str, Any]

LISTED = 12  # steps that are named
DEEP = 0.01  # of the smallest block's radius: deeper overlap of two blocks is a fault
AGREES = 1e-9  # of the largest energy: the ledger and the frames tell the same
ROUNDING = 1e-9  # of the first potential energy: what turns over less is rounding
MADE = 0.01  # of the energy that came in: so much more energy made by the time integration is a fault
PUSHED = 1e-3  # of the largest kinetic energy, or of the weight times LEAST_RISE: so much energy made by contact is a fault
LEAST_RISE = 1e-3  # [m]


class Check(NamedTuple):
    """One thing that was looked at."""

    good: bool
    words: str


class Certificate(NamedTuple):
    """The verdict and what it rests on."""

    verdict: str
    checks: list[Check]

    @property
    def certified(self) -> bool:
        return all(check.good for check in self.checks)


def certify(run: Run, case: Case, facts: Facts | None) -> Certificate:
    """`facts`: what an analysis of statics found; None of a history, or if it was cut."""
    if case.goes_through_time:
        return _of_history(run, case)
    if facts is None:
        return Certificate("It was cut before it found anything.", [Check(False, "There is no result: the analysis was cut.")])
    verdict, checks = VERDICTS[case.analysis.kind](facts)
    return Certificate(verdict, checks + ([_stages(run)] if case.analysis.kind == "construction" else []))


def _of_history(run: Run, case: Case) -> Certificate:
    checks = [_end(run, case), _steps(run, case), _overlap(run), *_ledger(run, case.analysis.gravity, case.by_small_steps)]
    outcome = _outcome(run, case)
    if hung := run.hung:
        outcome = f"Open: {open_question(hung)}. One outcome of many: {outcome}"
    return Certificate(outcome, checks)


def _outcome(run: Run, case: Case) -> str:
    time, until = float(run.time[-1]), amount(float(run.time[-1]), "time")
    fallen = collapse_time(*step_history(run, "potential"), loss=case.history.collapse)
    far = amount(float(np.linalg.norm(centroid_displacement(run), axis=2).max()), "length")
    if fallen is not None:
        lost = f"{amount(100 * case.history.collapse)} % of its potential energy"
        return f"It collapses: at {amount(fallen, 'time')} it has lost {lost}."
    if not run.finished:
        return f"It was cut at {until}; up to then it has not collapsed, and moved by at most {far}."
    speed = float(np.linalg.norm(run.velocity[-1, :, :3], axis=1).max())
    still = speed <= case.analysis.gravity * case.history.time_step
    moving = "" if still else f" It still moves, with up to {amount(speed, 'velocity')}."
    return f"It does not collapse within {amount(time, 'time')}; no block's centre has moved by more than {far}.{moving}"


def _end(run: Run, case: Case) -> Check:
    done, planned = len(run.steps["time"]), run.planned_steps
    if run.finished:
        return Check(True, f"Computed to its end: {amount(done)} steps, {amount(float(run.time[-1]), 'time')}.")
    return Check(False, f"CUT, or still being computed: {amount(done)} of {amount(planned)} steps, "
                        f"{amount(float(run.time[-1]), 'time')} of {amount(case.history.duration, 'time')}.")  # fmt: skip


def _steps(run: Run, case: Case) -> Check:
    """How many steps converged, and how well: rigid steps may converge to more than the tolerance
    (engine/solvers/native.py)."""
    steps, solver = run.steps, case.solver
    failed = steps["step"][~steps["converged"]]
    named = ", ".join(str(step) for step in failed[:LISTED]) + (", ..." if len(failed) > LISTED else "")
    if not len(steps["step"]):
        return Check(False, "No step was computed.")
    if case.by_small_steps:
        return _small_steps(run, len(failed), named)
    worst = f"{steps['residual_error'].max():.1e}"
    kind = "bound" if case.surface.compliant and not case.surface.coulomb else "estimate"
    reached = f"the largest error of a step's velocities is {worst} of g dt ({kind}, mass-weighted rms)"
    if not len(failed):
        return Check(True, f"All {amount(len(steps['step']))} steps converged, solver {solver.method} at tolerance "
                           f"{solver.tolerance:g}; {reached}.")  # fmt: skip
    count = f"{amount(len(failed))} of {amount(len(steps['step']))} steps"
    return Check(False, f"{count} DID NOT CONVERGE, solver {solver.method} at tolerance {solver.tolerance:g}: steps {named}; "
                        f"{reached}.")  # fmt: skip


def _small_steps(run: Run, failed: int, named: str) -> Check:
    """Explicit steps solve nothing that could fail; what can go wrong is that contact makes energy."""
    steps = run.steps
    small = int(steps["factorisations"].sum())
    mean = amount(float(run.time[-1] - run.time[0]) / small, "time") if small else "0 s"
    told = f"{amount(small)} small steps of {mean} on average, each within the bound of stability"
    bound = f"{100 * ENERGY_MADE:g} % of the energy at hand"
    if not failed:
        return Check(True, f"{told}; between two detections contact never made more than {bound}.")
    return Check(False, f"{told}; in {amount(failed)} of {amount(len(steps['step']))} steps contact MADE more than {bound}, "
                        f"even with a finer step: steps {named}.")  # fmt: skip


def _overlap(run: Run) -> Check:
    deepest, smallest = float(run.steps["overlap"].max(initial=0.0)), float(run.model.bodies.radius.min())
    share = f"{100 * deepest / smallest:.2g} % of the radius of the smallest block"
    return Check(deepest <= DEEP * smallest, f"Blocks overlap by at most {amount(deepest, 'length')}, {share}; "
                                             f"{100 * DEEP:g} % would be a fault.")  # fmt: skip


def _ledger(run: Run, gravity: float, by_small_steps: bool) -> list[Check]:
    """The entries that frames tell too are recomputed from them; what the time integration made or lost is weighed."""
    energy = with_totals({name: step_history(run, name)[1] for name in Energy._fields})
    came = energy["ground"] + energy["potential"][0] - energy["potential"] + energy["kinetic"][0]
    turned = float(max(np.abs(came).max(), energy["kinetic"].max(), energy["dissipated"].max()))
    height, numerical = abs(float(energy["potential"][0])), float(energy["numerical"][-1])
    share = numerical / turned if turned > ROUNDING * height else 0.0
    told = f"{amount(abs(numerical), 'energy')}, {100 * abs(share):.2g} % of the largest energy turned over"
    word = "lost" if share >= 0.0 else "MADE"
    rest = "It is what the other entries leave over, so that the ledger closes by itself."
    if by_small_steps:
        rest = "Each of the other entries is summed by itself, so that this tells how well the ledger closes."
    checks = [Check(share >= -MADE, f"The time integration {word} {told}. {rest}")]
    checks += [] if by_small_steps else [_made(run, energy, gravity)]
    if run.model.elastic is None:
        off = _disagreement(run, gravity) / (max(turned, height) or 1.0)
        checks.append(Check(off <= AGREES, f"Kinetic and potential energy recomputed from all {amount(run.frames)} frames "
                                           f"differ from the ledger by {off:.0e} of the largest energy."))  # fmt: skip
    return checks


def _made(run: Run, energy: dict[str, Array], gravity: float) -> Check:
    """What contact made by pushing blocks apart that overlapped (T464), which only cone programs do."""
    made, weight = float(energy["made"][-1]), gravity * float(run.model.bodies.mass[~run.model.bodies.fixed].sum())
    scale = max(float(energy["kinetic"].max()), weight * LEAST_RISE)
    share = made / scale if scale > 0.0 else 0.0
    told = f"Contact {'MADE' if share > PUSHED else 'made'} {amount(made, 'energy')} by parting blocks that overlapped, "
    return Check(share <= PUSHED, f"{told}{100 * share:.2g} % of the largest kinetic energy; {100 * PUSHED:g} % is a fault.")


def _disagreement(run: Run, gravity: float) -> float:
    """[J] by which the ledger differs from the energies of the recorded positions and velocities, at most."""
    bodies = run.model.bodies
    free = ~bodies.fixed
    lifted = gravity * (run.position[:, free, 2] - run.position[0, free, 2]) @ bodies.mass[free]
    potential = run.energy["potential"] - run.energy["potential"][0]
    kinetic = np.array([kinetic_energy(bodies, *state) for state in zip(run.rotation, run.velocity, strict=True)])
    return float(max(np.abs(lifted - potential).max(), np.abs(kinetic - run.energy["kinetic"]).max()))


def _equilibrium(facts: Facts) -> tuple[str, list[Check]]:
    told = facts["words"]
    if not facts["converged"]:
        return told, [Check(False, "The trial was cut: blocks ran away faster than it could be followed.")]
    if "falls" in facts:
        rest = "the rest stands" if facts["rest_stands"] else "nor does the rest stand"
        told += f" {amount(len(facts['falls']))} blocks fall; {rest}."
    span = amount(facts["trial_time"], "time")
    checks = [Check(True, f"The trial was followed to its end, {span} after letting it down.")]
    if facts["stable"]:
        checks.append(Check(True, f"Its forces balance weight and loads, residual {facts['residual']:.1e} of g dt."))
    return told, checks


def _program(facts: Facts) -> Check:
    """Of a collapse multiplier."""
    status, error = facts["status"], facts.get("error")
    told = "" if error is None else f"; forces and mechanism fail their conditions by at most {error:.1e}"
    if status in ANSWERED_STATUSES:
        return Check(True, f"The cone program was answered: {status}{told}.")
    return Check(False, f"The cone program was NOT SOLVED, it ended with {status!r}{told}: its numbers mean nothing.")


def _limit(facts: Facts) -> tuple[str, list[Check]]:
    checks = [_program(facts)]
    checks += _history(facts)
    if not checks[0].good:
        return "The collapse multiplier is not known: the program was not solved.", checks
    told = _bounds(facts.get("multiplier_safe"), facts["multiplier"], ".4f", "")
    if told is None:
        return f"There is no collapse multiplier: {facts['note']}.", checks
    doubt = "NOT CONFIRMED by a history: " if len(checks) > 1 and not checks[1].good else ""
    return f"{_alone(facts)}{doubt}The collapse multiplier is {told}.", checks


def _alone(facts: Facts) -> str:
    """First that a structure does not stand without the live load, if it does not."""
    return "" if facts.get("stable", True) else f"It {facts['words']}. "


def _bounds(safe: float | None, upper: float | None, figures: str, unit: str) -> str | None:
    """A safe value, then an upper bound of it; None if there is neither."""
    bound = "nothing bounds it by associated friction" if upper is None else (
        f"{upper:{figures}}{unit} by associated friction, an upper bound")  # fmt: skip
    if safe is None:
        return None if upper is None else f"{bound}: no lower value is known"
    return f"at most {safe:{figures}}{unit} by Coulomb friction, the lowest found, not a proven minimum; {bound}"


def _history(facts: Facts) -> list[Check]:
    """Of the safe multiplier, whether histories confirm it."""
    if facts.get("multiplier_safe") is None or "confirmed" not in facts:
        return []
    yes = "was confirmed" if facts["confirmed"] else "was NOT confirmed"
    return [Check(facts["confirmed"], f"The safe multiplier {yes} by histories: {facts['search']['note']}.")]


def _tilt(facts: Facts) -> tuple[str, list[Check]]:
    told, checks = _limit(facts)
    if not checks[0].good:
        return "The angle of collapse is not known: the program was not solved.", checks
    angle = _bounds(facts.get("angle_safe"), facts["angle"], ".2f", " deg")
    if angle is None:
        return f"There is no angle of collapse: {facts['note']}.", checks
    return told.split("The collapse")[0] + f"The angle at which it moves is {angle}.", checks


def _capacity(facts: Facts) -> tuple[str, list[Check]]:
    rows = facts["directions"]
    failed = [f"{row['direction_deg']:g}" for row in rows if row["status"] not in ANSWERED_STATUSES]
    check = Check(not failed, f"All {len(rows)} directions were answered." if not failed else
                  f"{len(failed)} of {len(rows)} directions were NOT SOLVED: {', '.join(failed)} deg.")  # fmt: skip
    weakest = facts["weakest"]
    if weakest is None:
        return "No direction has a collapse multiplier.", [check]
    of = "the directions that were solved" if failed else f"{len(rows)} directions"
    where = f"{weakest['direction_deg']:g} deg from +x"
    told = _bounds(weakest.get("multiplier_safe"), weakest["multiplier"], ".4f", " of its weight")
    doubted = [f"{row['direction_deg']:g}" for row in rows if row.get("multiplier_safe") is not None and not row["confirmed"]]
    checks = [check] + ([Check(False, f"NOT confirmed by histories: {', '.join(doubted)} deg.")] if doubted else [])
    return f"{_alone(facts)}Of {of} the weakest is {where}: it collapses under {told}.", checks


def _pushover(facts: Facts) -> tuple[str, list[Check]]:
    ended = facts["end"]
    good = facts["converged"] and not ended.startswith("too many")
    check = Check(good, f"The curve has {amount(len(facts['curve']['displacement']))} points and ends because: {ended}.")
    told = f"{_alone(facts)}Its capacity is at most {facts['peak']:.4f}, at {amount(facts['peak_displacement'], 'length')}"
    last = facts["ultimate_displacement"]
    return told + ("; where it ends was not reached." if last is None else f", and gone at {amount(last, 'length')}."), [check]


def _construction(facts: Facts) -> tuple[str, list[Check]]:
    reached, planned = len(facts["stages"]["blocks"]), facts["planned_stages"]
    solved = facts["converged"]
    last = "the last was solved" if solved else "the last was NOT SOLVED"
    check = Check(solved, f"{reached} of {planned} stages were laid; {last}.")
    if facts["stable"]:
        return f"It can be built: each of {planned} stages stands.", [check]
    return f"It cannot be built so: stage {reached} of {planned} does not stand.", [check]


def _settlement(facts: Facts) -> tuple[str, list[Check]]:
    whole, base = facts["increments"] + facts["stable"], facts["base_resultant"]
    far = amount(facts["settlement"][-1], "length")
    borne = max((abs(force / base["weight"] - 1) for force in base["force"][:whole]), default=0.0)
    off = max(facts["off_balance"][:whole], default=0.0)
    checks = [Check(borne <= 1e-4, f"In {whole} states in balance the supports bear weight and loads to {borne:.1e}; no block "
                                   f"is accelerated by more than {off:.1e} g.")]  # fmt: skip
    if not facts["converged"]:
        checks.append(Check(False, f"At {far} the structure NEITHER FALLS NOR COMES TO REST."))
    if facts["stable"]:
        return f"It stays in balance while its supports go by {far}; {len(facts['cracks'])} joints open.", checks
    return f"It {facts['verdict']} from a settlement of {far} on.", checks


def _stages(run: Run) -> Check:
    """Of a structure laid in stages, whose facts tell of the last only."""
    failed = run.steps["step"][~run.steps["converged"]]
    if not len(failed):
        return Check(True, f"All {amount(len(run.steps['step']))} stages that were laid converged.")
    return Check(False, f"Stages {', '.join(map(str, failed))} DID NOT CONVERGE.")


VERDICTS = {"equilibrium": _equilibrium, "limit": _limit, "tilt": _tilt, "capacity": _capacity, "pushover": _pushover,
            "construction": _construction, "settlement": _settlement}  # fmt: skip
