"""The result of a study in a terminal: a dictionary comes in, tables go out."""

from typing import Any

from rich.console import Console
from rich.table import Table

from drystone.show.tables.summary_tables import print_rows

MAX_SWEEP_ROWS = 40  # rows of a sweep that are printed; the table on disk has all
SWEEP_NUMBERS = (
    "peak_displacement",
    "residual_displacement",
    "collapse_time",
    "multiplier",
    "angle",
)  # numbers of a sweep, if measured


def print_study(summary: dict[str, Any]) -> None:
    """Print how many trials had each outcome, and the result of the study."""
    counts, result = summary["trials"], summary["found"]
    if summary["kind"] == "sweep":
        _print_sweep(result["rows"])
    rows = [
        ("trials", f"{counts['all']} of {summary['expected']}{' (interrupted)' if summary['interrupted'] else ''}"),
        ("standing, collapsed, failed", f"{counts['standing']}, {counts['collapsed']}, {counts['failed']}"),
        *((name.replace("_", " "), f"{value:.6g}" if isinstance(value, float) else str(value))
          for name, value in result.items() if isinstance(value, int | float | str)),
        ("stored in", summary["out"]),
    ]  # fmt: skip
    rows += [("pictures", "\n".join(summary["pictures"]))] if summary.get("pictures") else []
    print_rows(f"{summary['study']}: {summary['kind']}", rows)


def print_trial(summary: dict[str, Any]) -> None:
    """Print one trial that was computed again."""
    rows = [(key, str(value)) for key, value in summary["sample"].items()]
    rows += [("outcome", f"{summary['status']}: {summary['reason']}")]
    rows += [(name.replace("_", " "), f"{value:.6g}") for name, value in summary["numbers"].items() if value is not None]
    same = "yes, bit for bit" if summary["as_in_the_table"] else "no: the case, its files or drystone have changed"
    rows += [("as in the table", same)]
    rows += [("stored in", summary["out"])] + ([("pictures", "\n".join(summary["pictures"]))] if "pictures" in summary else [])
    print_rows(f"Trial {summary['key']}", rows)


def _print_sweep(rows: list[dict[str, Any]]) -> None:
    changed = list(dict.fromkeys(key for row in rows for key in row["sample"]))
    names = [name for name in SWEEP_NUMBERS if any(row["outcome"]["numbers"].get(name) is not None for row in rows)]
    table = Table(title_justify="left")
    for name in (*changed, "outcome", *(name.replace("_", " ") for name in names)):
        table.add_column(name)
    for row in rows[:MAX_SWEEP_ROWS]:
        outcome = row["outcome"]
        numbers = (outcome["numbers"].get(name) for name in names)
        outcome_text = outcome["status"] + (f": {outcome['reason']}" if outcome["status"] == "failed" else "")
        table.add_row(*(str(row["sample"].get(key, "")) for key in changed), outcome_text,
                      *("" if number is None else f"{number:.4g}" for number in numbers))  # fmt: skip
    Console().print(table)
    if len(rows) > MAX_SWEEP_ROWS:
        print(f"... {len(rows) - MAX_SWEEP_ROWS} more in trials.csv")
