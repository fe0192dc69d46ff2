"""Tables of verdicts: rows come in; a table for the terminal, Markdown pages and their index go out."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from drystone.base.files.atomic_write import write_atomic
from drystone.validation.claims import EXPLAINED, FAILS, HOLDS, Claim, Row, Subject, Value, Workspace, judge_claims
from drystone.validation.computation import SubjectResult

COLUMN_TITLES = ("", "published", "computed", "difference", "verdict")
JudgedSubjects = Sequence[tuple[Subject, SubjectResult]]


def print_verdicts(judged: JudgedSubjects) -> None:
    """Print all rows, and the time that each subject took."""
    table = Table(title="Published numbers, computed again", title_justify="left")
    for name in ("id", *COLUMN_TITLES, "time"):
        table.add_column(name)
    for subject, result in judged:
        for k, row in enumerate(judge_claims(subject, result.numbers)):
            cells = map(Text, _cells(row))  # plain text, because [g] would be a style in markup
            table.add_row("" if k else subject.id, *cells, "" if k else f"{result.seconds:.1f} s")
        table.add_section()
    Console(width=None if Console().is_terminal else 140).print(table)


def write_page(subject: Subject, result: SubjectResult, workspace: Workspace, out: Path) -> None:
    """Write the page of a subject with its figures."""
    rows = judge_claims(subject, result.numbers)
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
    write_atomic(out / f"{subject.id}.md", "\n\n".join(part for part in parts if part) + "\n")


def write_index(judged: JudgedSubjects, out: Path) -> None:
    """Write one table of all subjects that have a page, with the dates and machines of their computation."""
    lines: list[Sequence[str]] = [("subject", "source", "numbers", *VERDICTS, "time [s]", "computed by")]
    for subject, result in judged:
        verdicts = [row.verdict for row in judge_claims(subject, result.numbers)]
        link = f"[{subject.id}: {subject.title}]({subject.id}.md)"
        counts = (str(verdicts.count(verdict) or "") for verdict in VERDICTS)
        set_of = "--quick" if subject.quick else "--full"
        lines.append((link, subject.source, str(len(verdicts)), *counts, f"{result.seconds:.0f}", f"`{set_of}`"))
    computations = sorted({f"Computed {result.date} by drystone {result.drystone} ({result.machine})." for _, result in judged})
    write_atomic(out / "index.md", "\n".join([INDEX_HEAD, _markdown(lines), "", *computations, ""]))


VERDICTS = (HOLDS, EXPLAINED, FAILS)
INDEX_HEAD = """# Published numbers, computed again

This page is written by `drystone validate --write docs/validation`. A number *holds* if it is within the tolerance that its
page states and justifies. It is *explained* if it is outside that tolerance for a reason that its page gives, and has not moved
since the reason was given. `--quick` computes the subjects that take minutes, `--full` all of them. Times are for one core of a
machine that was also doing other work. [Validation](../validation.md) describes how these numbers were studied.
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
    """List the tolerances by reason, each reason once."""
    by_reason: dict[tuple[float, str, str], list[Claim]] = {}
    for row in rows:
        if row.claim.why:
            by_reason.setdefault((row.claim.tolerance, row.claim.unit, row.claim.why), []).append(row.claim)
    lines = [f"{tolerance:g} {unit}".rstrip() + f" ({why}): {', '.join(claim.words for claim in claims)}"
            for (tolerance, unit, why), claims in by_reason.items()]  # fmt: skip
    return "Tolerances:\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
