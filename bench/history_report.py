"""Rows of histories come in; one sentence and tables go into docs/performance.md, a shorter table into README.md."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bench.engine import BESIDE, CONE, METHODS, OURS, TURN, TWO_THREADS
from bench.histories import PLACES
from bench.measure import Row
from bench.peers import PEERS
from bench.places import REST
from bench.tables import factor, fill, span, table, taken

ORDER = [place[:3] for place in PLACES]
BEST = {f"{peer.name}, best": peer.name for peer in PEERS}
Group = dict[str, Row]  # the rows of one place by method
NONE = "–"


def groups_of(rows: Iterable[Row]) -> list[Group]:
    """By place, in the order of bench/histories.py."""
    groups: dict[tuple, Group] = {}
    for row in rows:
        if row["kind"] == "history":
            groups.setdefault((row["scene"], row["size"], row["phase"]), {})[row["method"]] = row
    return [groups[place] for place in ORDER if OURS in groups.get(place, {})]


def methods_in(groups: Sequence[Group]) -> list[str]:
    return [method for method in METHODS if any(method in group for group in groups)]


def counts(row: Row | None) -> bool:
    """Whether its figures say something: it kept the structure for a step at least."""
    return row is not None and row["ended"] != "lost" and bool(row["until"])


def kept(group: Group) -> Group:
    """Without the engines that lost the structure or did not come as far as one step."""
    return {method: row for method, row in group.items() if counts(row)}


def cost(row: Row, until: float = np.inf, clock: str = "cpu") -> float:
    """ms of processor time a ms of motion up to an instant [s]. The first turn, in which an engine that knows no forces yet
    finds them, is part of the start, unless there is no other."""
    ends = np.array(row["until"])
    count = max(1, int((ends <= until * (1 + 1e-9)).sum()))
    first = min(1, count - 1)
    return float(np.sum(row[clock][first:count]) / (ends[count - 1] - (ends[0] if first else 0.0)))


def times(row: Row, other: Row) -> float:
    """Cost of one over that of another, as far as both were followed."""
    until = min(row["until"][-1], other["until"][-1])
    return cost(row, until) / cost(other, until)


def length(way: float) -> str:
    """In mm, or in micrometres if it is less."""
    if way >= 1e-3:
        return f"{1e3 * way:.1f} mm"
    return f"{factor(1e6 * way)} µm" if way >= 1e-9 else "<0.001 µm"


def moved(row: Row) -> str:
    """How far by the end: standing structures since they found their rest and since the start, shaken ones since the start."""
    if row["phase"] == "shaken":
        return length(row["moved"][-1])
    drift = NONE if row["drift"] is None else length(row["drift"])
    return f"{drift}, {length(row['moved'][-1])} in all"


def moved_at(row: Row, instant: float) -> float:
    """[m] after the last turn that ended by then, or after the first."""
    count = int((np.array(row["until"]) <= instant * (1 + 1e-9)).sum())
    return row["moved"][max(count, 1) - 1]


def trouble(row: Row) -> str:
    """Why there is no figure."""
    if row["ended"] == "lost":
        return f"lost within {row['until'][-1]:.3g} s"
    if row["ended"] == "budget":
        return f"not started within {row['budget']:g} s" if row["start"] is None else f"no step within {row['budget']:g} s"
    return row["ended"]


def line(row: Row) -> str:
    """A row as told on the screen."""
    if not counts(row):
        return trouble(row)
    what = "drifted" if row["phase"] == "standing" else "moved"
    end = "" if row["ended"] == "span" else f", ended by {row['ended']}"
    return (f"{cost(row):.1f} ms a ms over {row['until'][-1]:.3g} s ({cost(row, clock='wall'):.1f} on the wall), {what} "
            f"{moved(row)}, {row['memory_MiB']:.0f} MiB{end}")  # fmt: skip


def sentence(rows: Sequence[Row]) -> str:
    """What the numbers say."""
    all_groups = groups_of(rows)
    groups = [few for group in all_groups if OURS in (few := kept(group))]
    lost = [group[OURS] for group in all_groups if group[OURS]["ended"] == "lost"]
    cone = [times(group[CONE], group[OURS]) for group in groups if CONE in group]
    parts = [*against(groups, "standing"), *against(groups, "shaken"), *drifts(groups), *two_threads(groups)]
    parts += [f"one cone program per step costs {span(cone)} times as much"] if cone else []
    parts += [f"a second of the house takes {cost(group[OURS]):.1f} s" for group in groups if group[OURS]["scene"] == "house"]
    parts += [f"from {walls[0]:,} to {walls[-1]:,} blocks of wall the cost grew as blocks to the power {p:.2f}"
              for walls, p in growth(groups, OURS)]  # fmt: skip
    parts += [f"a joint took {span(kilobytes)} kB" for kilobytes in [a_joint(groups)] if kilobytes]
    parts += [f"small steps lost the {row['scene']} of {row['blocks']:,} blocks" for row in lost]
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + ("." if text else "")


def against(groups: Sequence[Group], phase: str) -> list[str]:
    """The cost of small steps over that of every peer at its best setting."""
    said = []
    for method, name in BEST.items():
        few = [times(group[OURS], group[method]) for group in groups if method in group and group[OURS]["phase"] == phase]
        said += [f"{span(few)} times what {name} does"] if few else []
    return [f"{phase}, small steps of 30 GPa stone cost {listed(said)} at its best setting"] if said else []


def drifts(groups: Sequence[Group]) -> list[str]:
    """How far standing structures crept, by engine."""
    still = [group for group in groups if group[OURS]["phase"] == "standing"]
    found = {name: [group[method]["drift"] for group in still if method in group and group[method]["drift"] is not None]
             for method, name in {OURS: "they", **BEST}.items()}  # fmt: skip
    said = [f"{name}'s by up to {length(max(ways))}" for name, ways in found.items() if ways and name != "they"]
    if not found["they"]:
        return []
    return [f"in 1 s of standing they drifted by {', '.join([length(max(found['they'])), *said])}"]


def two_threads(groups: Sequence[Group]) -> list[str]:
    """What a second thread saves on the wall."""
    ratios = []
    for group in groups:
        if TWO_THREADS in group:
            until = min(group[method]["until"][-1] for method in (OURS, TWO_THREADS))
            ratios.append(cost(group[TWO_THREADS], until, "wall") / cost(group[OURS], until, "wall"))
    return [f"two threads take {span(ratios, 2)} times as long on the wall as one"] if ratios else []


def listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def growth(groups: Sequence[Group], method: str) -> list[tuple[list[int], float]]:
    """The shaken walls by blocks, and the slope of the best line through them in the log-log plane, over the time for which all
    were followed; nothing of one alone."""
    walls = [group[method] for group in groups if method in group and group[OURS]["scene"] == "wall"
             and group[OURS]["phase"] == "shaken"]  # fmt: skip
    if len(walls) < 2:
        return []
    until, blocks = min(row["until"][-1] for row in walls), [row["blocks"] for row in walls]
    return [(blocks, float(np.polyfit(np.log(blocks), np.log([cost(row, until) for row in walls]), 1)[0]))]


def kilobytes(row: Row) -> float | None:
    """[kB] of 1,000 bytes that small steps took for every patch of contact."""
    return row["memory_MiB"] * 2**20 / 1000 / row["joints"] if row["joints"] else None


def a_joint(groups: Sequence[Group]) -> list[float]:
    """[kB] on structures of 1,000 blocks or more: on smaller ones what does not grow with them counts too much."""
    found = [kilobytes(group[OURS]) for group in groups if group[OURS]["blocks"] >= 1000]
    return [each for each in found if each is not None]


def where(group: Group) -> list[str]:
    ours = group[OURS]
    return [ours["scene"], f"{ours['blocks']:,}", ours["phase"]]


WHERE = ("scene", "blocks", "phase")


def cost_cell(group: Group, method: str) -> str:
    """Cost, over that of small steps for the same motion, and how far it came if that was not all."""
    row, ours = group.get(method), group[OURS]
    if row is None:
        return NONE
    if not counts(row):
        return trouble(row)
    if method == TWO_THREADS:
        return f"{cost(row, clock='wall'):.1f} on the wall (one thread: {cost(ours, clock='wall'):.1f})"
    ratio = f" ({factor(times(row, ours))}×)" if method != OURS and counts(ours) else ""
    short = "" if row["ended"] == "span" else f", {row['until'][-1]:.3g} s"
    return f"**{cost(row):.1f}**{short}" if method == OURS else f"{cost(row):.1f}{ratio}{short}"


def moved_cell(group: Group, method: str) -> str:
    """How far the blocks moved, beside ours at the same instant if it was not followed to the end."""
    row, ours = group.get(method), group[OURS]
    if not counts(row):
        return NONE
    assert row is not None
    if row["ended"] == "span" or method == OURS or not counts(ours):
        return moved(row)
    end = row["until"][-1]
    beside = f" (ours {length(moved_at(ours, end))})" if row["phase"] == "shaken" else ""
    return f"{moved(row)}{beside} by {end:.3g} s"


def start_cell(group: Group, method: str) -> str:
    """What it takes before the second turn, and memory."""
    row = group.get(method)
    if row is None or row["start"] is None:
        return NONE
    first = f" + {row['cpu'][0]:.2g} s" if row["cpu"] else ""
    return f"{row['start']:.2g}{first or ' s'}, {row['memory_MiB']:.0f} MiB"


def own_cells(group: Group) -> list[str]:
    """Joints, letting down, shares of the phases and memory of small steps."""
    row = group[OURS]
    if not counts(row):
        return [NONE, NONE, NONE, NONE, NONE, NONE, trouble(row)]
    shares = [f"{each:.0%}" for each in np.array(row["phases"]) / max(sum(row["phases"]), 1e-12)]
    each = kilobytes(row)
    return [f"{row['joints']:,}", f"{row['start']:.1f} s", *shares, f"{row['memory_MiB']:.0f} of {row['peak_MiB']:.0f} MiB",
            NONE if each is None else f"{each:.1f} kB"]  # fmt: skip


def growth_table(groups: Sequence[Group]) -> str:
    groups = [few for group in groups if OURS in (few := kept(group))]
    body = [[method, f"{walls[0]:,} to {walls[-1]:,}", f"{len(walls)}", f"{p:.2f}"]
            for method in methods_in(groups) for walls, p in growth(groups, method)]  # fmt: skip
    return table(["engine", "blocks of the walls", "walls", "power"], body) if body else "Measured at one size only."


def peer_table(rows: Iterable[Row]) -> str:
    """What the peers are."""
    found = {BESIDE[row["method"]][0].name: row["version"] for row in rows if row["method"] in BESIDE}
    body = [[peer.name, found.get(peer.name, "not installed, left out"), peer.licence, peer.shapes,
             peer.settings["best"].words, peer.settings["defaults"].words] for peer in PEERS]  # fmt: skip
    return table(["peer", "version", "licence", "stones", "best setting found", "defaults"], body)


def page(session: dict[str, Any]) -> str:
    """What goes between the marks of docs/performance.md."""
    groups = groups_of(session["rows"])
    methods = methods_in(groups)
    each = lambda cell, few: [where(group) + [cell(group, method) for method in few] for group in groups]  # noqa: E731
    beside = [method for method in methods if method in BESIDE]
    budget = max(row["budget"] for group in groups for row in group.values())
    own = [*WHERE, "joints", "letting down", "detection", "small steps", "rest", "memory, of the peak", "memory per joint"]
    return "\n\n".join([
        fill(f"**{sentence(session['rows'])}**"),
        f"### Cost: ms of processor time per ms of motion, × that of small steps; at most {budget:g} s per engine",
        table([*WHERE, *methods], each(cost_cell, methods)),
        f"### How far blocks moved; standing, how far they drifted after {REST:g} s",
        table([*WHERE, *methods], each(moved_cell, methods)),
        "### Small steps: their start, the shares of their phases and their memory",
        table(own, [where(group) + own_cells(group) for group in groups]),
        f"### Peers: building their worlds + the first turn of {1e3 * TURN:g} ms or one step; memory",
        table([*WHERE, *beside], each(start_cell, beside)) if beside else "None was installed.",
        "### Growth with the number of blocks of the shaken wall",
        growth_table(groups),
        "### The peers",
        peer_table(row for group in groups for row in group.values()),
        taken(session),
    ])  # fmt: skip


def short(session: dict[str, Any]) -> str:
    """What goes into the README: small steps and the peers at their best settings."""
    groups = groups_of(session["rows"])
    few = [method for method in methods_in(groups) if method in (OURS, TWO_THREADS, *BEST)]
    best = [method for method in few if method in (OURS, *BEST)]
    head = [*WHERE, *(f"{method}: cost" for method in few), *(f"{method}: moved" for method in best)]
    body = [[*where(group), *(cost_cell(group, method) for method in few), *(moved_cell(group, method) for method in best)]
            for group in groups]  # fmt: skip
    return f"{fill(sentence(session['rows']))}\n\n{table(head, body)}"
