"""A study as one page: its summary and its rows come in, `study.html` in its folder goes out.

The page has the pictures and a line per trial, which links to the run of the trial if that was kept, or names the command that
computes it.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from drystone.base.files.atomic_write import write_atomic
from drystone.study.trial_table import TrialRow, column_name

PAGE_STYLE = """
body { font: 14px/1.5 sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222 }
table { border-collapse: collapse }
td, th { padding: 0.15em 0.8em; white-space: nowrap; text-align: left; border-bottom: 1px solid #ddd }
.collapsed { color: #b24a00 } .standing { color: #0072b2 } .failed { color: #777 } code { font-size: 85% }
img, object { max-width: 100% }
"""


def study_page(summary: dict[str, Any], rows: Sequence[TrialRow], pictures: Sequence[Path], folder: Path) -> Path:
    """Write the page; `summary` is the dictionary that the command prints."""
    title = escape(f"{Path(summary['study']).name}: {summary['kind']}")
    counts = ", ".join(f"{summary['trials'][status]} {status}" for status in ("standing", "collapsed", "failed"))
    sentences = [escape(curve["sentence"]) for curve in summary["found"].get("curves", []) if "sentence" in curve]
    body = [
        f"<h1>{title}</h1>",
        f"<p>{summary['trials']['all']} of {summary['expected']} trials: {counts}.</p>",
        *(f"<p>{sentence}</p>" for sentence in sentences),
        *map(_picture_html, _clickable(pictures)),
        _table_html(rows, folder),
    ]
    path = folder / "study.html"
    page = f'<!doctype html><meta charset="utf-8"><title>{title}</title><style>{PAGE_STYLE}</style>' + "\n".join(body) + "\n"
    write_atomic(path, page)
    return path


def _clickable(pictures: Sequence[Path]) -> list[Path]:
    """The pictures; of one in two formats the SVG, whose points can be clicked."""
    drawn = {path.with_suffix(""): path for path in sorted(pictures)}  # .svg comes after .png
    return list(drawn.values())


def _picture_html(picture: Path) -> str:
    name = escape(picture.name)
    return f'<p><object type="image/svg+xml" data="{name}"></object>' if picture.suffix == ".svg" else f'<p><img src="{name}">'


def _table_html(rows: Sequence[TrialRow], folder: Path) -> str:
    changed = list(dict.fromkeys(key for row in rows for key in row.sample))
    measured = list(dict.fromkeys(name for row in rows for name in row.outcome.numbers))
    heads = "".join(f"<th>{escape(name)}" for name in ("trial", *changed, "outcome", *map(column_name, measured)))
    return f"<table><tr>{heads}\n" + "\n".join(_row_html(row, changed, measured, folder) for row in rows) + "</table>"


def _row_html(row: TrialRow, changed: Sequence[str], measured: Sequence[str], folder: Path) -> str:
    outcome = row.outcome
    command = f"drystone study --trial {row.key} {folder} -o run --picture"
    kept = (folder / "runs" / row.key).exists()
    trial = f'<a href="runs/{row.key}/">{row.key}</a>' if kept else f'<code title="{escape(command)}">{row.key}</code>'
    values = (str(row.sample.get(key, "")) for key in changed)
    numbers = (outcome.numbers.get(name) for name in measured)
    cells = [trial, *map(escape, values), f'<span class="{outcome.status}">{outcome.status}</span>, {escape(outcome.reason)}',
             *("" if number is None else f"{number:.5g}" for number in numbers)]  # fmt: skip
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells)
