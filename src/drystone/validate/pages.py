"""Verdicts to read: rows come in; a table for the terminal, Markdown pages and an index of them go out."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from drystone.io.whole import write_whole
from drystone.validate.claims import EXPLAINED, FAILS, HOLDS, Claim, Row, Subject, Value, Workspace, judge_all
from drystone.validate.conduct import SubjectResult

COLUMN_TITLES = ("", "published", "computed", "difference", "verdict")
JudgedSubjects = Sequence[tuple[Subject, SubjectResult]]


def print_verdicts(judged: JudgedSubjects) -> None:
    """All rows, with how long each subject took."""
    table = Table(title="Published numbers, computed again", title_justify="left")
    for name in ("id", *COLUMN_TITLES, "time"):
        table.add_column(name)
    for subject, result in judged:
        for k, row in enumerate(judge_all(subject, result.numbers)):
            cells = map(Text, _cells(row))  # not as markup, in which [g] would be a style
            table.add_row("" if k else subject.id, *cells, "" if k else f"{result.seconds:.1f} s")
        table.add_section()
    Console(width=None if Console().is_terminal else 140).print(table)


def write_page(subject: Subject, result: SubjectResult, workspace: Workspace, out: Path) -> None:
    """The page of a subject with its figures."""
    rows = judge_all(subject, result.numbers)
    parts = [
        f"# {subject.id}: {subject.title}",
        f"Source: {subject.source}. Computed again by `drystone validate --id {subject.id}`.",
        subject.about,
        _markdown([COLUMN_TITLES, *map(_cells, rows)]),
        _reasons(rows),
        *(f"**{row.claim.words}**, explained: {row.claim.explanation}" for row in rows if row.verdict == EXPLAINED),
        *(f"![{figure.caption}]({figure.file})\n\n*{figure.caption}*" for figure in subject.draw(workspace, out)),
        f"Computed {result.date} by drystone {result.drystone} in {result.seconds:.0f} s ({result.machine}).",
    ]
    write_whole(out / f"{subject.id}.md", "\n\n".join(part for part in parts if part) + "\n")


def write_index(judged: JudgedSubjects, out: Path) -> None:
    """Subjects that have a page, in one table; when and where they were computed."""
    lines: list[Sequence[str]] = [("subject", "source", "numbers", *VERDICTS, "time [s]", "computed by")]
    for subject, result in judged:
        verdicts = [row.verdict for row in judge_all(subject, result.numbers)]
        link = f"[{subject.id}: {subject.title}]({subject.id}.md)"
        counts = (str(verdicts.count(verdict) or "") for verdict in VERDICTS)
        set_of = "--quick" if subject.quick else "--full"
        lines.append((link, subject.source, str(len(verdicts)), *counts, f"{result.seconds:.0f}", f"`{set_of}`"))
    whens = sorted({f"Computed {result.date} by drystone {result.drystone} ({result.machine})." for _, result in judged})
    write_whole(out / "index.md", "\n".join([INDEX_HEAD, _markdown(lines), "", *whens, ""]))


VERDICTS = (HOLDS, EXPLAINED, FAILS)
INDEX_HEAD = """# Published numbers, computed again

Written by `drystone validate --write docs/validation`. *Holds*: within the tolerance that each page gives, with its reason.
*Explained*: beyond it for a reason that the page gives, and where we were when it was given. `--quick` are those that take
minutes, `--full` are all. Times are of one core of a machine with other work on it. How these numbers were studied is told in
[validation](../validation.md).
"""


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    head, *rows = (f"| {' | '.join(cells)} |" for cells in lines)
    return "\n".join([head, "|" + "---|" * len(lines[0]), *rows])


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    claim = row.claim
    name = f"{claim.words} [{claim.unit}]" if claim.unit else claim.words
    difference = "" if row.difference is None else f"{row.difference:+.2g}"
    return name, _format_value(claim.published), _format_value(row.computed), difference, row.verdict


def _format_value(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _reasons(rows: Sequence[Row]) -> str:
    """Tolerances with their reasons, each reason once."""
    by_reason: dict[tuple[float, str, str], list[Claim]] = {}
    for row in rows:
        if row.claim.why:
            by_reason.setdefault((row.claim.tolerance, row.claim.unit, row.claim.why), []).append(row.claim)
    said = [f"{tolerance:g} {unit}".rstrip() + f" ({why}): {', '.join(claim.words for claim in claims)}"
            for (tolerance, unit, why), claims in by_reason.items()]  # fmt: skip
    return "Tolerances:\n\n" + "\n".join(f"- {line}" for line in said) if said else ""
