"""The table of verdicts in docs/statics.md: `python docs/verdicts.py` prints it; names of rows select some of them.

Every generator with its defaults, and stones that nothing but friction holds, flush and with play: the verdict of
`equilibrium`, how far the farthest block is, after a second, from where it is drawn, in the history that `dynamics` makes of
the same case, and the multipliers of a body force along x that `limit` tells: the safe one, under which loads histories rest
and move, and the upper one.
Friction is 0.6 unless stated otherwise.
"""

import sys
import time
from collections.abc import Iterator

import numpy as np

from drystone import build
from drystone.analysis.safe_multiplier import MultiplierProblem, safe_multiplier
from drystone.analysis.statics.collapse_multiplier import solve_limit, stands_with_associated_friction
from drystone.analysis.statics.standing import balance_of_closed_joints, judge_standing
from drystone.base.units import GRAVITY
from drystone.build import GENERATORS, with_play
from drystone.build.shapes import box
from drystone.engine.simulation import simulate_small_steps
from drystone.structure.loads import body_force, weight_wrench
from drystone.structure.model import Block, Model, build_model

OPENING = {"length": 4.5, "height": 1.25, "thickness": 0.25, "span": 1.5, "courses": 5, "blocks": 9}


def between_walls(play: float) -> list[Block]:
    return [
        box((-1, 0, 0), (0, 1, 1), fixed=True, name="left"),
        box((play, 0.3, 0.3), (play + 0.4, 0.7, 0.7), name="stone"),
        box((0.4 + 2 * play, 0, 0), (1.4 + 2 * play, 1, 1), fixed=True, name="right"),
    ]


def structures() -> Iterator[tuple[str, list[Block], float]]:
    """Yield the name, the blocks and the friction of each structure."""
    for name, make in GENERATORS.items():
        yield name, make(), 0.6
    for play in (0.0, 1e-4):
        joint_play = f"{1e3 * play:g} mm of play" if play else "flush"
        gap, wide, cylinder = build.wall_over_gap(), build.wall_over_gap(**OPENING), build.corbelled_cylinder()
        yield f"stone between two walls, {joint_play}", between_walls(play), 0.6
        yield f"wall over an opening three bricks wide, {joint_play}", with_play(wide, play) if play else wide, 0.6
        yield f"wall-over-gap, friction 0.4, {joint_play}", with_play(gap, play) if play else gap, 0.4
        yield f"corbelled-cylinder, friction 0.4, {joint_play}", with_play(cylinder, play) if play else cylinder, 0.4


def after_a_second(model: Model) -> tuple[float, int]:
    """Return the largest displacement [m] of a block, and the number of blocks displaced by more than 10 mm."""
    *_, last = simulate_small_steps(model, duration=1.0, time_step=0.02)
    moved = np.linalg.norm(last.state.position - model.position, axis=1)
    return float(moved.max()), int((moved > 0.01).sum())


def multipliers(model: Model) -> str:
    """Return the cells of a row: the safe multiplier, the loads under which histories rest and move, the upper multiplier."""
    dead, live = weight_wrench(model, GRAVITY), body_force(model, (1.0, 0.0, 0.0), GRAVITY)
    begin, system = time.process_time(), balance_of_closed_joints(model)
    found = solve_limit(system, dead, live)
    stands = stands_with_associated_friction(system, dead)
    search = safe_multiplier(MultiplierProblem(system, dead, live, found, stands, GRAVITY, None))
    while True:
        try:
            next(search)
        except StopIteration as ended:
            facts = ended.value[1]
            break
    took = time.process_time() - begin
    upper = "-" if facts["multiplier_upper"] is None else f"{facts['multiplier_upper']:.4f}"
    if facts["multiplier_safe"] is None:
        return f"{facts['search'].get('note', 'none')} | | {upper} | {took:.1f}"
    tried = facts["checked"]
    between = " to ".join("?" if each is None else f"{each:.4f}" for each in (tried["rests_at"], tried["moves_at"]))
    safe = f"{facts['multiplier_safe']:.4f}" + ("" if facts["confirmed"] else " (NOT CONFIRMED)")
    return f"{safe} | {between} | {upper} | {took:.1f}"


def main() -> None:
    print("| structure | blocks | verdict | blocks that move away | after 1 s of history, farthest [mm] (blocks beyond 10 mm) "
          "| CPU [s] | safe multiplier along x | rests to moves | upper multiplier | CPU [s] |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, blocks, friction in structures():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        model = build_model(blocks, friction=friction)
        begin = time.process_time()
        found = judge_standing(model)
        took = time.process_time() - begin
        far, beyond = after_a_second(model)
        free = int((~model.bodies.fixed).sum())
        moving = len(found.trial.moving)
        fared = f"{found.verdict} | {moving} | {1e3 * far:.3g} ({beyond}) | {took:.1f}"
        print(f"| {name} | {free:,} | {fared} | {multipliers(model)} |", flush=True)


if __name__ == "__main__":
    main()
