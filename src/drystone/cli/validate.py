"""`drystone validate`: compare drystone with published results."""

from pathlib import Path
from typing import Any

from drystone.base.errors import InputError
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.output import EXIT_DONE, EXIT_INTERRUPTED, EXIT_UNSOUND, print_json, print_status
from drystone.validation import subjects
from drystone.validation.claims import FAILS, Subject, judge_claims
from drystone.validation.computation import SubjectResult, conduct, read_subject_result, workspace_of
from drystone.validation.verdict_pages import print_verdicts, write_index, write_page


def validate(
    id: list[str] | None, quick: bool, full: bool, out: Path, again: bool, write: Path | None, data: Path | None, json: bool
) -> int:
    if quick and full:
        raise InputError("give --quick or --full, not both")
    selected, judged, interrupted = subjects.select_subjects(id or [], full=full), [], False
    show_compiling_notice()
    try:
        for number, subject in enumerate(selected, 1):
            result = _run_or_resume(subject, out, data, again, f"{number} of {len(selected)}: {subject.id}, {subject.title}")
            judged += [] if result is None else [(subject, result)]
    except KeyboardInterrupt:
        interrupted = True
        print_status("interrupted; the computed part is kept, and the same command resumes")
    if write is not None:
        _write(judged, out, data, write)
    verdicts = [row.verdict for subject, result in judged for row in judge_claims(subject, result.numbers)]
    if json:
        print_json({"out": str(out), "interrupted": interrupted, "subjects": [_as_json(*each) for each in judged]})
    else:
        print_verdicts(judged)
    if interrupted:
        return EXIT_INTERRUPTED
    return EXIT_UNSOUND if FAILS in verdicts else EXIT_DONE


def _run_or_resume(subject: Subject, out: Path, data: Path | None, again: bool, label: str) -> SubjectResult | None:
    """Return the result of a subject, or None with a message if the data that it needs are missing."""
    if subject.needs and not (data and (data / subject.needs).exists()):
        print_status(f"{label}: not computed, it needs {subject.needs}; give the folder of the data with --data")
        return None
    if not again and (kept := read_subject_result(subject, out)) is not None:
        print_status(f"{label}: kept result of {kept.date}")
        return kept
    print_status(f"{label} ...")
    result = conduct(subject, out, data, again=again)
    print_status(f"    {result.seconds:.1f} s")
    return result


def _write(judged: list[tuple[Subject, SubjectResult]], out: Path, data: Path | None, write: Path) -> None:
    """Write a page for each subject, and an index of these pages and those written before."""
    write.mkdir(parents=True, exist_ok=True)
    for subject, result in judged:
        write_page(subject, result, workspace_of(subject, out, data), write)
    with_page = [subject for subject in subjects.SUBJECTS if (write / f"{subject.id}.md").exists()]
    kept = ((subject, read_subject_result(subject, out)) for subject in with_page)
    write_index([(subject, result) for subject, result in kept if result is not None], write)


def _as_json(subject: Subject, result: SubjectResult) -> dict[str, Any]:
    rows = [row.claim._asdict() | {"computed": row.computed, "difference": row.difference, "verdict": row.verdict}
            for row in judge_claims(subject, result.numbers)]  # fmt: skip
    return {"id": subject.id, "title": subject.title, "source": subject.source, "rows": rows, **result._asdict()}
