"""`drystone report`: write the report of a run."""

from pathlib import Path

from drystone.cli.output import EXIT_DONE, EXIT_NOT_CONVERGED, print_json
from drystone.show.report.html_report import write_report
from drystone.show.report.pdf import print_pdf


def report(folder: Path, out: Path, pdf: bool, json: bool) -> int:
    certificate = write_report(folder, out)
    files = [out]
    if pdf:
        files.append(out.with_suffix(".pdf"))
        print_pdf(out, files[-1])
    summary = {"verdict": certificate.verdict, "certified": certificate.certified,
             "checks": [check._asdict() for check in certificate.checks], "files": [str(path) for path in files]}  # fmt: skip
    if json:
        print_json(summary)
    else:
        print(certificate.verdict + ("" if certificate.certified else " NOT CERTIFIED."), *files, sep="\n")
    return EXIT_DONE if certificate.certified else EXIT_NOT_CONVERGED
