"""bench/results.json comes in; tables and one conclusion a part (histories, solvers) go into docs/performance.md, short tables
into README.md, between the marks of the part, and a picture into docs/images/performance.png. A part comes from the last
session that measured it; one that none did stays as it is.

    python -m bench.report [--results bench/results.json]
"""

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import history_report
from bench.measure import Row
from bench.scenes import FORMS, LAWS, PHASES, SCENES, SIZES
from bench.tables import factor, fill, power, span, table, taken

ROOT = Path(__file__).parents[1]
PLACE = ("scene", "size", "form", "law", "phase")
ORDER = (list(SCENES), list(SIZES), list(FORMS), list(LAWS), list(PHASES))
CLARABEL = ("clarabel-kinematic", "clarabel-static")
Group = dict[str, Row]  # the rows of one place by method


def groups_of(rows: Iterable[Row]) -> list[Group]:
    """The solver rows by place, in the order of the tables; a place without a native row is left out."""
    groups: dict[tuple, Group] = {}
    for row in rows:
        if row["kind"] == "solver":
            groups.setdefault(tuple(row[name] for name in PLACE), {})[row["method"]] = row
    rank = lambda place: [order.index(value) for order, value in zip(ORDER, place, strict=True)]  # noqa: E731
    return [groups[place] for place in sorted(groups, key=rank) if "native" in groups[place]]


def times_native(row: Row) -> float:
    """How many times the native time a method took in the same run; at least, if it was stopped."""
    return max(row["ms"], 1e3 * row["limit"] if row["stopped"] else 0.0) / row["native_ms"]


def faster_clarabel(group: Group) -> Row | None:
    """The faster of the forms of Clarabel that got there, else the faster of those that did not."""
    rows = [group[method] for method in CLARABEL if method in group]
    return min(rows, key=lambda row: (not row["reached"], times_native(row)), default=None)


def conclusion(rows: Sequence[Row]) -> str:
    """One sentence, from the numbers."""
    groups = groups_of(rows)
    ours = [group["native"] for group in groups]
    steps, good = sum(row["steps"] for row in ours), sum(round(row["steps"] * row["converged"]) for row in ours)
    parts = [*against_clarabel(groups), f"{good} of {steps} native steps converged"]
    growth = [entry["pair"] for entry in scaling(rows) if entry["pair"] is not None and entry["phase"] != "standing"]
    if growth:
        parts.append(f"from 1,000 to 20,000 blocks the time of a moving step grew as blocks to the power {span(growth, 2)}")
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


def against_clarabel(groups: Sequence[Group]) -> list[str]:
    """How long the faster form of Clarabel took, where it got there, and how often it did not."""
    best = [row for group in groups if (row := faster_clarabel(group)) is not None]
    reached = [row for row in best if row["reached"]]
    if not best:
        return ["Clarabel was not measured"]
    kinds = {"moving": ("starting", "impacting"), "standing": ("standing",)}
    found = {word: [times_native(row) for row in reached if row["phase"] in phases] for word, phases in kinds.items()}
    said = [f"{span(ratios)} times as long in {word} steps (geometric mean {factor(np.exp(np.mean(np.log(ratios))))} of "
            f"{len(ratios)})" for word, ratios in found.items() if ratios]  # fmt: skip
    parts = []
    if said:
        slower = sum(times_native(row) < 1 for row in reached)
        parts = [
            f"to no larger an error, the faster form of Clarabel took, at {_blocks(reached)}, {' and '.join(said)}",
            f"the native solver was the slower one in {slower} of them" if slower else "the native solver was never slower",
        ]
    missed = len(best) - len(reached)
    return parts + ([f"in {missed} of {len(best)} neither form of Clarabel reached that error"] if missed else [])


def _blocks(rows: Sequence[Row]) -> str:
    low, high = min(row["blocks"] for row in rows), max(row["blocks"] for row in rows)
    return f"{low:,} blocks" if low == high else f"{low:,} to {high:,} blocks"


def scaling(rows: Iterable[Row]) -> list[Row]:
    """Native times by size, and the powers of the number of blocks they grow with: the slope of the best line through all
    sizes in the log-log plane, and from 1,000 to 20,000."""
    series: dict[tuple, dict[int, tuple[int, float]]] = {}
    for group in groups_of(rows):
        row = group["native"]
        place = tuple(row[name] for name in PLACE if name != "size")
        series.setdefault(place, {})[row["size"]] = row["blocks"], row["ms"]
    out = []
    for (scene, form, law, phase), known in series.items():
        if len(known) < 2:
            continue
        blocks, ms = np.log(list(known.values())).T
        pair = power(known[1000], known[20000]) if {1000, 20000} <= set(known) else None
        out.append({"scene": scene, "form": form, "law": law, "phase": phase, "ms": {size: known[size][1] for size in known},
                    "fit": float(np.polyfit(blocks, ms, 1)[0]), "pair": pair})  # fmt: skip
    return out


def spent(ms: float) -> str:
    """A time with two or three figures and its unit."""
    if ms >= 1e4:
        return f"{ms / 1e3:.3g} s"
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.2g} ms"


def cell(row: Row | None) -> str:
    """Time of a method; what it reached, if that was not enough."""
    if row is None:
        return "–"
    if row["stopped"]:
        return f">{row['limit']:g} s (reached {row['error']:.1e})"
    return spent(row["ms"]) + ("" if row["reached"] else f" (reached {row['error']:.1e})")


def ratio(row: Row | None) -> str:
    """How many times the native time, in brackets if the error is larger than the native one's."""
    if row is None:
        return "–"
    value = factor(times_native(row))
    return value if row["reached"] else f"(>{value})" if row["stopped"] else f"({value})"


def form_of(row: Row) -> str:
    return row["form"] + (", Coulomb" if row["law"] == "coulomb" else "")


def solver_table(rows: Sequence[Row]) -> str:
    """Native against the others."""
    groups = groups_of(rows)
    others = list(dict.fromkeys(method for group in groups for method in group if method != "native"))
    head = ["scene", "blocks", "form", "phase", "native", "iterations", "error", "converged", "contact", *others,
            "kinematic / native", "faster Clarabel / native", "memory, native", "memory, kinematic"]  # fmt: skip
    body = []
    for group in groups:
        ours, kinematic = group["native"], group.get("clarabel-kinematic")
        body.append([
            ours["scene"], f"{ours['blocks']:,}", form_of(ours), ours["phase"], f"**{spent(ours['ms'])}**",
            f"{ours['iterations']:.1f}", f"{ours['error']:.0e}", f"{ours['converged']:.0%}", spent(ours["contact_ms"]),
            *(cell(group.get(method)) for method in others), ratio(kinematic), f"**{ratio(faster_clarabel(group))}**",
            f"{ours['memory_MiB']:.0f} MiB", f"{kinematic['memory_MiB']:.0f} MiB" if kinematic else "–",
        ])  # fmt: skip
    return table(head, body)


def scaling_table(rows: Sequence[Row]) -> str:
    sizes = [size for size in SIZES if any(size in entry["ms"] for entry in scaling(rows))]
    head = ["scene", "form", "phase", *(f"{size:,} blocks" for size in sizes), "power, all sizes", "power, 1,000 to 20,000"]
    body = [
        [entry["scene"], form_of(entry), entry["phase"], *(spent(entry["ms"][s]) if s in entry["ms"] else "–" for s in sizes),
         f"{entry['fit']:.2f}", "–" if entry["pair"] is None else f"{entry['pair']:.2f}"]
        for entry in scaling(rows)
    ]  # fmt: skip
    return table(head, body) if body else "Measured at one size only."


def published_table(rows: Sequence[Row]) -> str:
    head = ["problem", "blocks, theirs", "blocks, ours", "our structure", "step", "steps averaged", "broad", "narrow",
            "optimisation", "optimisation, theirs / ours", "converged"]  # fmt: skip
    body = []
    for row in rows:
        if row["kind"] == "published":
            both = [f"{theirs:g} / {ours:.1g} s" for theirs, ours in zip(row["published"], row["seconds"], strict=True)]
            gain = factor(row["published"][2] / row["seconds"][2])
            step = f"{1e3 * row['time_step']:g} ms"
            body.append([row["line"], f"{row['published_blocks']:,}", f"{row['blocks']:,}", row["ours"], step,
                         str(row["steps"]), *both, gain, f"{row['converged']:.0%}"])  # fmt: skip
    return table(head, body) if body else "Not measured."


def doubts(rows: Sequence[Row]) -> str:
    """What limits the trust in the errors of the table."""
    ours = [group["native"] for group in groups_of(rows)]
    loose = sum(row["reference"] > 0.3 * row["target"] for row in ours)
    still = [row["speed"] for row in ours if row["phase"] == "standing"]
    return (
        f"References: by their own estimate (compliant: bound) within 0.3 of the error asked for in {len(ours) - loose} of "
        f"{len(ours)} places. Standing structures moved by at most {max(still, default=0.0):.0e} g h (rms)."
    )


def page(session: dict[str, Any]) -> str:
    """What goes between the marks of docs/performance.md."""
    rows = session["rows"]
    return "\n\n".join([
        fill(f"**{conclusion(rows)}**"),
        "![Processor time of a contact solve against the number of blocks](images/performance.png)",
        fill("Lines are geometric means of starting and impacting steps over what was measured at all sizes of a line; faint "
             "marks are single scenes, hollow ones did not reach the error asked for."),
        taken(session),
        "### The native solver and the others", solver_table(rows), fill(doubts(rows)),
        "### Growth with the number of blocks", scaling_table(rows),
        "### Table 2 of Nodargi and Bisegna", published_table(rows),
    ])  # fmt: skip


def short(session: dict[str, Any]) -> str:
    """The few rows of the README: impacting steps of 1,000 blocks, or of the largest scenes there are."""
    groups = [group for group in groups_of(session["rows"]) if group["native"]["phase"] == "impacting"]
    size = 1000 if any(group["native"]["size"] == 1000 for group in groups) else max(g["native"]["size"] for g in groups)
    body = []
    for group in groups:
        ours, best = group["native"], faster_clarabel(group)
        if ours["size"] == size:
            errors = f"{ours['error']:.0e} / {best['error']:.0e}" if best else "–"
            where = f"{ours['scene']}, {ours['blocks']:,} blocks"
            body.append([where, form_of(ours), spent(ours["ms"]), cell(best), ratio(best), errors])
    head = ["scene, impacting", "form", "drystone", "Clarabel, the faster form", "ratio", "error, drystone / Clarabel"]
    return f"{fill(conclusion(session['rows']))}\n\n{table(head, body)}"


def put(path: Path, text: str, mark: str = "bench") -> None:
    """Replace what is between the marks of a page."""
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(\n<!-- /{mark} -->)", re.DOTALL)
    old = path.read_text(encoding="utf-8")
    if not pattern.search(old):
        raise ValueError(f"{path} has no <!-- {mark} --> and <!-- /{mark} --> to write between")
    path.write_text(pattern.sub(lambda found: found[1] + text + found[2], old), encoding="utf-8")


def last_with(sessions: Sequence[dict[str, Any]], kind: str) -> dict[str, Any] | None:
    """The last session that has rows of a kind."""
    return next((each for each in reversed(sessions) if any(row["kind"] == kind for row in each["rows"])), None)


def main() -> None:
    """Write pages and picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=ROOT / "bench/results.json")
    sessions = json.loads(parser.parse_args().results.read_text())
    if histories := last_with(sessions, "history"):
        put(ROOT / "docs/performance.md", history_report.page(histories), "histories")
        put(ROOT / "README.md", history_report.short(histories), "histories")
        print(history_report.sentence(histories["rows"]))
    if solvers := last_with(sessions, "solver"):
        from bench.picture import draw  # matplotlib is an extra

        put(ROOT / "docs/performance.md", page(solvers))
        put(ROOT / "README.md", short(solvers))
        draw(groups_of(solvers["rows"]), ROOT / "docs/images/performance.png")
        print(conclusion(solvers["rows"]))


if __name__ == "__main__":
    main()
