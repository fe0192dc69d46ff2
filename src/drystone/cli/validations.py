"""The command that checks drystone against what others published: validate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drystone.cli.words import DONE, INTERRUPTED, UNSOUND, Json, announce_compiling, app, print_json, say
from drystone.errors import InputError

if TYPE_CHECKING:
    from drystone.validate.claims import Subject
    from drystone.validate.conduct import Result


@app.command()
def validate(
    id: Annotated[list[str] | None, typer.Option("--id", help="a subject, as H3; may be given several times")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="what takes minutes: the usual")] = False,
    full: Annotated[bool, typer.Option("--full", help="all subjects: hours")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="folder that keeps numbers and runs")] = Path("validation"),
    again: Annotated[bool, typer.Option("--again", help="compute what the folder has already")] = False,
    write: Annotated[Path | None, typer.Option(help="also write a page with figures for each subject into this folder")] = None,
    data: Annotated[Path | None, typer.Option(help="folder of published layouts that are not part of drystone")] = None,
    json: Json = False,
) -> int:
    """Compute published numbers again and judge them. Exit code 1: one neither holds nor is explained."""
    from drystone.validate.claims import FAILS, judge_all
    from drystone.validate.pages import print_verdicts
    from drystone.validate.subjects import chosen

    if quick and full:
        raise InputError("give --quick or --full, not both")
    subjects, judged, interrupted = chosen(id or [], full=full), [], False
    announce_compiling()
    try:
        for number, subject in enumerate(subjects, 1):
            result = _conduct(subject, out, data, again, f"{number} of {len(subjects)}: {subject.id}, {subject.title}")
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


def _conduct(subject: "Subject", out: Path, data: Path | None, again: bool, words: str) -> "Result | None":
    """The result of a subject; None if it needs data that are not there, which is said."""
    from drystone.validate.conduct import conduct, read_result

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


def _write(judged: "list[tuple[Subject, Result]]", out: Path, data: Path | None, write: Path) -> None:
    """A page for each, and an index of these and of those that were written before."""
    from drystone.validate.conduct import place_of, read_result
    from drystone.validate.pages import write_index, write_page
    from drystone.validate.subjects import SUBJECTS

    write.mkdir(parents=True, exist_ok=True)
    for subject, result in judged:
        write_page(subject, result, place_of(subject, out, data), write)
    kept = ((subject, read_result(subject, out)) for subject in SUBJECTS if (write / f"{subject.id}.md").exists())
    write_index([(subject, result) for subject, result in kept if result is not None], write)


def _facts(subject: "Subject", result: "Result") -> dict[str, Any]:
    from drystone.validate.claims import judge_all

    rows = [row.claim._asdict() | {"computed": row.computed, "difference": row.difference, "verdict": row.verdict}
            for row in judge_all(subject, result.numbers)]  # fmt: skip
    return {"id": subject.id, "title": subject.title, "source": subject.source, "rows": rows, **result._asdict()}
