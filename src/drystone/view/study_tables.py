"""What a study found, told in a terminal: facts come in, tables go out."""

from typing import Any

from rich.console import Console
from rich.table import Table

from drystone.view.tables import print_rows

SHOWN = 40  # rows of a sweep that are told; the table on disk has all
TOLD = ("peak_displacement", "residual_displacement", "collapse_time", "multiplier", "angle")  # numbers of a sweep, if measured


def print_study(facts: dict[str, Any]) -> None:
    """How many trials came to what, and what the kind of study has to say."""
    counts, found = facts["trials"], facts["found"]
    if facts["kind"] == "sweep":
        _print_sweep(found["rows"])
    rows = [
        ("trials", f"{counts['all']} of {facts['expected']}{' (interrupted)' if facts['interrupted'] else ''}"),
        ("standing, collapsed, failed", f"{counts['standing']}, {counts['collapsed']}, {counts['failed']}"),
        *((name.replace("_", " "), f"{value:.6g}" if isinstance(value, float) else str(value))
          for name, value in found.items() if isinstance(value, int | float | str)),
        ("kept in", facts["out"]),
    ]  # fmt: skip
    rows += [("pictures", "\n".join(facts["pictures"]))] if facts.get("pictures") else []
    print_rows(f"{facts['study']}: {facts['kind']}", rows)


def print_trial(facts: dict[str, Any]) -> None:
    """One trial that was computed again."""
    rows = [(key, str(value)) for key, value in facts["sample"].items()]
    rows += [("outcome", f"{facts['status']}: {facts['reason']}")]
    rows += [(name.replace("_", " "), f"{value:.6g}") for name, value in facts["numbers"].items() if value is not None]
    same = "yes, to the bit" if facts["as_in_the_table"] else "no: the case, its files or drystone have changed"
    rows += [("as in the table", same)]
    rows += [("kept in", facts["out"])] + ([("pictures", "\n".join(facts["pictures"]))] if "pictures" in facts else [])
    print_rows(f"Trial {facts['key']}", rows)


def _print_sweep(rows: list[dict[str, Any]]) -> None:
    changed = list(dict.fromkeys(key for row in rows for key in row["sample"]))
    told = [name for name in TOLD if any(row["outcome"]["numbers"].get(name) is not None for row in rows)]
    table = Table(title_justify="left")
    for name in (*changed, "outcome", *(name.replace("_", " ") for name in told)):
        table.add_column(name)
    for row in rows[:SHOWN]:
        outcome = row["outcome"]
        numbers = (outcome["numbers"].get(name) for name in told)
        told_of = outcome["status"] + (f": {outcome['reason']}" if outcome["status"] == "failed" else "")
        table.add_row(*(str(row["sample"].get(key, "")) for key in changed), told_of,
                      *("" if number is None else f"{number:.4g}" for number in numbers))  # fmt: skip
    Console().print(table)
    if len(rows) > SHOWN:
        print(f"... {len(rows) - SHOWN} more in trials.csv")
