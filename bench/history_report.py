"""Rows of histories come in; one sentence and a table go into docs/performance.md, a shorter table into README.md."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bench.histories import CONE, OURS, PLACES, RAPIER, SMALL, TURN
from bench.measure import Row
from bench.tables import factor, fill, power, span, table, taken

ORDER = [place[:3] for place in PLACES]
Group = dict[str, Row]  # the rows of one place by method


def groups_of(rows: Iterable[Row]) -> list[Group]:
    """By place, in the order of bench/histories.py."""
    groups: dict[tuple, Group] = {}
    for row in rows:
        if row["kind"] == "history":
            groups.setdefault((row["scene"], row["size"], row["phase"]), {})[row["method"]] = row
    return [groups[place] for place in ORDER if OURS in groups.get(place, {})]


def kept(group: Group) -> Group:
    """Without the engines that lost the structure."""
    return {method: row for method, row in group.items() if not row["lost"]}


def cost(row: Row, turns: int | None = None) -> float:
    """Processor ms a ms of motion, over the first turns or all."""
    return float(np.mean(row["ms"][:turns]))


def times(row: Row, other: Row) -> float:
    """Cost of one over that of another, as far as both were followed."""
    turns = min(len(row["ms"]), len(other["ms"]))
    return cost(row, turns) / cost(other, turns)


def length(way: float) -> str:
    """In mm, or in micrometres if it is less."""
    if way >= 1e-3:
        return f"{1e3 * way:.1f} mm"
    return f"{factor(1e6 * way)} µm" if way >= 1e-9 else "<0.001 µm"


def moved(row: Row) -> str:
    """How far by the end: standing structures since they found their rest, shaken ones since the start."""
    return length(row["drift"] if row["phase"] == "standing" else row["moved"][-1])


def line(row: Row) -> str:
    """A row as told on the screen."""
    if row["lost"]:
        return f"lost the structure within {TURN * len(row['ms']):g} s"
    what = "drifted" if row["phase"] == "standing" else "moved"
    return f"{cost(row):.1f} ms a ms over {TURN * len(row['ms']):.2f} s, {what} {moved(row)}"


def sentence(rows: Sequence[Row]) -> str:
    """What the numbers say."""
    lost = [group[OURS] for group in groups_of(rows) if group[OURS]["lost"]]
    groups = [few for group in groups_of(rows) if OURS in (few := kept(group))]
    beside = [group for group in groups if RAPIER in group]
    cone = [times(group[CONE], group[OURS]) for group in groups if CONE in group]
    parts = []
    for phase in ("standing", "shaken"):
        few = [times(group[OURS], group[RAPIER]) for group in beside if group[OURS]["phase"] == phase]
        parts += [f"{phase}, small steps of 30 GPa stone cost {span(few)} times what Rapier's best setting does"] if few else []
    drifts = [(group[OURS]["drift"], group[RAPIER]["drift"]) for group in beside if group[OURS]["phase"] == "standing"]
    if drifts:
        ours, theirs = (max(both) for both in zip(*drifts, strict=True))
        parts.append(f"in 1 s of standing they drifted by {length(ours)}, Rapier's by up to {length(theirs)}")
    parts += [f"a cone program a step costs {span(cone)} times as much"] if cone else []
    parts += [f"a second of the house takes {cost(group[OURS]):.1f} s" for group in groups if group[OURS]["scene"] == "house"]
    parts += [f"from {small:,} to {large:,} blocks of wall the cost grew as blocks to the power {p:.2f}"
              for small, large, p in growth(groups)]  # fmt: skip
    parts += [f"small steps lost the {row['scene']} of {row['blocks']:,} blocks" for row in lost]
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + ("." if text else "")


def growth(groups: Sequence[Group]) -> list[tuple[int, int, float]]:
    """From the smallest to the largest shaken wall, over the time for which all were followed; nothing of one alone."""
    walls = [group[OURS] for group in groups if (group[OURS]["scene"], group[OURS]["phase"]) == ("wall", "shaken")]
    if len(walls) < 2:
        return []
    turns = min(len(row["ms"]) for row in walls)
    small, large = ((row["blocks"], cost(row, turns)) for row in (walls[0], walls[-1]))
    return [(small[0], large[0], power(small, large))]


def body(group: Group) -> list[str]:
    """A line of the short table."""
    ours, theirs = group[OURS], kept(group).get(RAPIER)
    if ours["lost"]:
        other = [f"{cost(theirs):.1f}", "–", f"– / {moved(theirs)}"] if theirs else ["–", "–", "–"]
        within = f"lost within {TURN * len(ours['ms']):g} s"
        return [ours["scene"], f"{ours['blocks']:,}", ours["phase"], "–", within, *other]
    return [ours["scene"], f"{ours['blocks']:,}", ours["phase"], f"{TURN * len(ours['ms']):g} s", f"**{cost(ours):.1f}**",
            f"{cost(theirs):.1f}" if theirs else "–", f"**{factor(times(ours, theirs))}**" if theirs else "–",
            f"{moved(ours)} / {moved(theirs)}" if theirs else moved(ours)]  # fmt: skip


HEAD = ("scene", "blocks", "phase", "followed for", "small steps", "Rapier", "small steps / Rapier", "moved, ours / Rapier's")


def more(group: Group) -> list[str]:
    """What the long table adds: states every 1 ms, the cone program as far as it came, and letting down."""
    ours, finer, cone = group[OURS], kept(group).get(list(SMALL)[1]), kept(group).get(CONE)
    out = [f"{cost(finer):.1f}, {moved(finer)}" if finer else "–", "–", f"{ours['start']:.1f} s"]
    if cone:
        far, ratio = cone["moved"][-1], factor(times(cone, ours))
        out[1] = (f"{cost(cone):.0f}, {ratio} times; {length(far)} / {length(ours['moved'][len(cone['ms']) - 1])} "
                  f"after {TURN * len(cone['ms']):g} s")  # fmt: skip
    return out


def page(session: dict[str, Any]) -> str:
    """What goes between the marks of docs/performance.md."""
    groups = groups_of(session["rows"])
    versions = {row["version"] for group in groups for row in group.values() if row["method"] == RAPIER}
    rapier = f"Rapier {', '.join(versions)}." if versions else "Rapier was not installed."
    head = [*HEAD, "small steps, state every 1 ms", "cone program; moved, its / ours", "letting down"]
    return "\n\n".join([
        fill(f"**{sentence(session['rows'])}**"),
        table(head, [body(group) + more(group) for group in groups]),
        taken(session) + "\n" + rapier,
    ])


def short(session: dict[str, Any]) -> str:
    """What goes into the README."""
    groups = groups_of(session["rows"])
    return f"{fill(sentence(session['rows']))}\n\n{table(HEAD, map(body, groups))}"
