"""The command that writes what one can send: report."""

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.words import DONE, NOT_CONVERGED, Json, app, print_json


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="folder of a run")],
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file")],
    pdf: Annotated[bool, typer.Option("--pdf", help="also print it to a PDF beside it, by Chromium or Chrome")] = False,
    json: Json = False,
) -> int:
    """Write a report of a run: verdict, pictures, input, certificate. Exit code 3: not certified."""
    from drystone.report.page import write_report
    from drystone.report.printed import print_pdf

    certificate = write_report(folder, out)
    files = [out]
    if pdf:
        files.append(out.with_suffix(".pdf"))
        print_pdf(out, files[-1])
    facts = {"verdict": certificate.verdict, "certified": certificate.certified,
             "checks": [check._asdict() for check in certificate.checks], "files": [str(path) for path in files]}  # fmt: skip
    if json:
        print_json(facts)
    else:
        print(certificate.verdict + ("" if certificate.certified else " NOT CERTIFIED."), *files, sep="\n")
    return DONE if certificate.certified else NOT_CONVERGED
