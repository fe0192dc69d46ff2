"""The report of a run: its folder comes in, one self-contained HTML file goes out that prints on A4."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import takewhile
from pathlib import Path

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import write_atomic
from drystone.engine.state import Energy
from drystone.results.measures import mechanism_of_frame, summarise
from drystone.show.plots.energies_and_errors import DISSIPATED_ENERGIES
from drystone.show.plots.panels import PlotSource, open_source
from drystone.show.report.amounts import amount
from drystone.show.report.certificate import Certificate, certify
from drystone.show.report.figures import ReportFigure, pictures, plots
from drystone.show.report.inputs import assumptions, list_case_keys
from drystone.show.report.origin import computed_with
from drystone.show.tables.statics_tables import result_rows
from drystone.show.tables.summary_tables import summary_rows

REPORT_STYLE = """
@page { size: A4; margin: 18mm 16mm }
body { font: 10.5pt/1.45 "Segoe UI", "DejaVu Sans", sans-serif; color: #1c1c1c; max-width: 178mm; margin: 8mm auto }
@media print { body { margin: 0 } }
h1 { font-size: 17pt; line-height: 1.2; margin: 0 0 1mm }
h2 { font-size: 12.5pt; margin: 8mm 0 2mm; border-bottom: 1px solid #999; break-after: avoid }
.about { color: #555; margin: 0 0 4mm }
.verdict { font-size: 12.5pt; padding: 3mm 4mm; border-left: 2mm solid #0072b2; background: #eef4f8; margin: 3mm 0 }
.doubt { border-color: #c00; background: #fdf0ee } .bad { color: #c00; font-weight: bold }
ul.checks { list-style: none; padding: 0 } ul.checks li { padding-left: 6mm; text-indent: -6mm; margin: 1mm 0 }
table { border-collapse: collapse; width: 100%; font-size: 9.5pt }
td, th { text-align: left; vertical-align: top; padding: 0.6mm 3mm 0.6mm 0; border-bottom: 1px solid #ddd }
td { overflow-wrap: anywhere }
th { font-weight: 600 } td:first-child { white-space: nowrap } .number, th.number { text-align: right; white-space: nowrap }
tr { break-inside: avoid } .default { color: #777 } .text { white-space: pre-line }
figure { margin: 0 0 4mm; break-inside: avoid }
.pictures figure { display: inline-block; width: 48.5%; vertical-align: top }
.pictures figure:nth-child(odd) { margin-right: 2.5% }
figure img { width: 100% } figcaption { font-size: 9pt; color: #444 }
pre { font: 8.5pt/1.4 "DejaVu Sans Mono", monospace; white-space: pre-wrap; background: #f6f6f4; padding: 3mm }
"""
Rows = Sequence[tuple[str, str]]


def write_report(folder: str | Path, path: str | Path) -> Certificate:
    """Write the report of a run and return its certificate."""
    source = open_source(folder)
    if source.run is None:
        raise InputError(
            f"{folder} holds a study, but a report describes one run; "
            f"compute one with: drystone study --trial KEY {folder} -o run"
        )
    certificate = certify(source.run, source.case, source.result or None)
    write_atomic(Path(path), _page(source, certificate))
    return certificate


def _page(source: PlotSource, certificate: Certificate) -> str:
    title = escape(_title(source))
    body = [
        f"<h1>{title}</h1>",
        f'<p class="about">{escape(_summary_line(source))}</p>',
        _verdict(certificate),
        _section("Pictures", f'<div class="pictures">{_figures(pictures(source))}</div>'),
        _section("What was found", _table(_result_rows(source))),
        _section("How far it can be trusted", _checks(certificate)),
        _section("Histories and curves", _figures(plots(source))),
        _section("Energy ledger", _energies(source) if source.goes_through_time else ""),
        _section("What is assumed, and what is not known", _list(assumptions(source.case, source.run.model))),
        _section("Input", _keys(source)),
        _section("Origin", _table(computed_with(source.run))),
        _section("To compute it again", _recompute_section(source)),
    ]
    head = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{REPORT_STYLE}</style></head>'
    )
    return f"{head}<body>\n" + "\n".join(body) + "\n</body></html>\n"


def _title(source: PlotSource) -> str:
    """The first sentence of the comment with which a case begins, or the name of its folder."""
    comment = takewhile(lambda line: line.startswith("#"), source.run.case.lstrip().splitlines())
    words = " ".join(line.lstrip("# ").rstrip() for line in comment)
    return words.split(". ")[0].rstrip(" .:") or source.folder.resolve().name


def _summary_line(source: PlotSource) -> str:
    bodies = source.run.model.bodies
    free = ~bodies.fixed
    mass = float(bodies.mass[free].sum())
    weight = amount(mass * source.case.analysis.gravity, "force")
    return (f"Analysis: {source.kind}. {amount(int(free.sum()))} free blocks of {amount(mass, 'mass')}, weight {weight}; "
            f"{amount(int(bodies.fixed.sum()))} supports.")  # fmt: skip


def _verdict(certificate: Certificate) -> str:
    doubt = "" if certificate.certified else ' <span class="bad">Not certified: see below what is missing.</span>'
    return f'<p class="verdict{"" if certificate.certified else " doubt"}">{escape(certificate.verdict)}{doubt}</p>'


def _section(title: str, content: str) -> str:
    return f"<h2>{title}</h2>\n{content}" if content else ""


def _figures(figures: Iterable[ReportFigure]) -> str:
    return "".join(f'<figure><img src="{figure.address}" alt="{escape(figure.caption)}">'
                     f"<figcaption>{escape(figure.caption)}</figcaption></figure>" for figure in figures)  # fmt: skip


def _checks(certificate: Certificate) -> str:
    rows = [f"<li>✓&ensp;{escape(check.words)}" if check.good else f'<li class="bad">✗&ensp;{escape(check.words)}'
            for check in certificate.checks]  # fmt: skip
    return '<ul class="checks">' + "\n".join(rows) + "</ul>"


def _result_rows(source: PlotSource) -> Rows:
    """The rows that the terminal also shows, without the energies, which have a table of their own."""
    if not source.goes_through_time:
        return result_rows(source.result) if source.result else []
    summary = summarise(source.run, loss=source.case.history.collapse)
    rows = [row for row in summary_rows(summary) if not row[0].startswith("energy")]
    return [*rows, ("mechanism at the end", mechanism_of_frame(source.run).words)] if source.run.frames > 1 else rows


def _energies(source: PlotSource) -> str:
    """The energies at the start and at the end, in the order of their balance."""
    energy = source.run.energy
    named = {"potential": "potential, of gravity", "elastic": "elastic, of joints", "strain": "elastic, of blocks"} | {
        name: f"dissipated by {words}" for name, words in DISSIPATED_ENERGIES.items()}  # fmt: skip
    order = sorted(Energy._fields, key=lambda name: (name == "ground", name in DISSIPATED_ENERGIES))
    lines, imbalance = [], 0.0
    for name in order:
        first, last = float(energy[name][0]), float(energy[name][-1])
        imbalance += (first - last) if name == "ground" else (last - first)
        numbers = "".join(f'<td class="number">{amount(value, "energy")}' for value in (first, last, last - first))
        lines.append(f"<tr><td>{named.get(name, name if name != 'ground' else 'work of ground and loads')}{numbers}")
    heads = "<tr><th>entry" + "".join(f'<th class="number">{words}' for words in ("at the start", "at the end", "change"))
    note = f"<p>Error of the balance (all changes but the last, less the last): {amount(imbalance, 'energy')}.</p>"
    return f"<table>{heads}{''.join(lines)}</table>{note}"


def _keys(source: PlotSource) -> str:
    cells = [f'<tr{"" if key.given else " class=default"}><td>{escape(key.name_in_case)}<td>{escape(key.value)}'
             f'<td>{"given" if key.given else "default"}' for key in list_case_keys(source.case)]  # fmt: skip
    return f"<table><tr><th>key<th>value<th>{''.join(cells)}</table>"


def _recompute_section(source: PlotSource) -> str:
    command = "drystone run case.toml -o out && drystone report out -o report.html"
    introduction = "<p>with this text as case.toml, and the files that it names beside it:</p>"
    return f"<pre>{command}</pre>{introduction}<pre>{escape(source.run.case)}</pre>"


def _table(rows: Rows) -> str:
    cells = "".join(f'<tr><td>{escape(name)}<td class="text">{escape(words)}' for name, words in rows)
    return f"<table>{cells}</table>" if rows else ""


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}" for sentence in sentences) + "</ul>"
