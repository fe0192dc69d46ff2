"""`drystone validate`: drystone against what others published."""

from pathlib import Path
from typing import Any

from drystone.cli.compiling import announce_compiling
from drystone.cli.words import DONE, INTERRUPTED, UNSOUND, print_json, say
from drystone.errors import InputError
from drystone.validate import subjects
from drystone.validate.claims import FAILS, Subject, judge_all
from drystone.validate.conduct import Result, conduct, place_of, read_result
from drystone.validate.pages import print_verdicts, write_index, write_page


def validate(
    id: list[str] | None, quick: bool, full: bool, out: Path, again: bool, write: Path | None, data: Path | None, json: bool
) -> int:
    if quick and full:
        raise InputError("give --quick or --full, not both")
    asked, judged, interrupted = subjects.chosen(id or [], full=full), [], False
    announce_compiling()
    try:
        for number, subject in enumerate(asked, 1):
            result = _conduct(subject, out, data, again, f"{number} of {len(asked)}: {subject.id}, {subject.title}")
            judged += [] if result is None else [(subject, result)]
    except KeyboardInterrupt:
        interrupted = True
        say("interrupted; what was computed is kept, the same command goes on")
    if write is not None:
        _write(judged, out, data, write)
    verdicts = [row.verdict for subject, result in judged for row in judge_all(subject, result.numbers)]
    if json:
        print_json({"out": str(out), "interrupted": interrupted, "subjects": [_facts(*each) for each in judged]})
    else:
        print_verdicts(judged)
    if interrupted:
        return INTERRUPTED
    return UNSOUND if FAILS in verdicts else DONE


def _conduct(subject: Subject, out: Path, data: Path | None, again: bool, words: str) -> Result | None:
    """The result of a subject; None if it needs data that are not there, which is said."""
    if subject.needs and not (data and (data / subject.needs).exists()):
        say(f"{words}: not computed, it needs {subject.needs}; give the folder with --data")
        return None
    if not again and (kept := read_result(subject, out)) is not None:
        say(f"{words}: as kept, of {kept.date}")
        return kept
    say(f"{words} ...")
    result = conduct(subject, out, data, again=again)
    say(f"    {result.seconds:.1f} s")
    return result


def _write(judged: list[tuple[Subject, Result]], out: Path, data: Path | None, write: Path) -> None:
    """A page for each, and an index of these and of those that were written before."""
    write.mkdir(parents=True, exist_ok=True)
    for subject, result in judged:
        write_page(subject, result, place_of(subject, out, data), write)
    kept = ((subject, read_result(subject, out)) for subject in subjects.SUBJECTS if (write / f"{subject.id}.md").exists())
    write_index([(subject, result) for subject, result in kept if result is not None], write)


def _facts(subject: Subject, result: Result) -> dict[str, Any]:
    rows = [row.claim._asdict() | {"computed": row.computed, "difference": row.difference, "verdict": row.verdict}
            for row in judge_all(subject, result.numbers)]  # fmt: skip
    return {"id": subject.id, "title": subject.title, "source": subject.source, "rows": rows, **result._asdict()}
