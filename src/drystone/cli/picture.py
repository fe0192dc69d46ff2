"""`drystone picture`: draw a frame of a run, several side by side, or a case before it is run."""

from pathlib import Path
from typing import Any

from drystone.base.errors import InputError
from drystone.cli.output import print_json
from drystone.cli.picture_options import DEFAULT_SIZE, parse_size, without_none
from drystone.io.case import read_case
from drystone.results.store.run_reader import Run, read_run
from drystone.show.pictures import picture as drawing


def picture(
    source: Path, out: Path, frame: int | None, time: float | None, strip: int | None, size: str | None, json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """`options`: the options of the same name of `drystone.show.pictures.picture.picture`; None means not given."""
    look = without_none(options)
    summary: dict[str, Any] = {"picture": str(out)}
    if source.is_file():
        drawing.picture(read_case(source).model(), out, size=parse_size(size or DEFAULT_SIZE), **look)
    else:
        run = read_run(source)
        chosen = _select_frames(run, frame, time, strip)
        summary |= {"frames": chosen, "times": [float(run.time[i]) for i in chosen]}
        _draw_frames(run, chosen, out, size, look)
    print_json(summary) if json else print(out)


def _draw_frames(run: Run, chosen: list[int], out: Path, size: str | None, look: dict[str, Any]) -> None:
    """Draw one frame, or several as a strip."""
    if len(chosen) == 1:
        drawing.picture(run, out, frame=chosen[0], size=parse_size(size or DEFAULT_SIZE), **look)
    else:
        width = parse_size(size)[0] // len(chosen) if size else 560
        drawing.strip(run, chosen, out, width=width, **look)


def _select_frames(run: Run, frame: int | None, time: float | None, strip: int | None) -> list[int]:
    """Return the frames that the options select."""
    if sum(option is not None for option in (frame, time, strip)) > 1:
        raise InputError("give only one of --frame, --time and --strip")
    if strip is not None:
        if strip < 2:
            raise InputError(f"--strip {strip}: give at least 2 instants")
        return [round(i * (run.frames - 1) / (strip - 1)) for i in range(strip)]
    if time is not None:
        return [int(abs(run.time - time).argmin())]
    if frame is None:
        return [run.frames - 1]
    if not -run.frames <= frame < run.frames:
        raise InputError(f"--frame {frame}: the run has frames 0 to {run.frames - 1}")
    return [frame % run.frames]
