"""The pictures and plots of a report: a run comes in, captions and images go out, as addresses that hold the image itself."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from drystone.analyse.construction import present_blocks
from drystone.measure import centroid_displacement, mechanism_of_frame
from drystone.quantities import contact_forces, displacements, frame_resultants
from drystone.report.amounts import amount
from drystone.resultants import thrust_lines
from drystone.view.forces import force_picture
from drystone.view.mechanisms import mechanism_picture
from drystone.view.panels import PlotRequest, PlotSource, available_panels, plot
from drystone.view.picture import picture
from drystone.view.results import ANALYSIS_PICTURES

PICTURE_SIZE = (960, 600)  # [pixels]
IMAGE_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}
PLOT_CAPTIONS = {  # drawn if the run has them
    "ground": "The motion of the ground, or of supports relative to it, as given.",
    "displacement": "Displacement of the blocks that the case monitors, or of the one that moved most, seen from the ground.",
    "rotation": "Rotation of the same blocks.",
    "energy": "Energies over the weight of the free blocks.",
    "ledger": "Where the energy went: areas reach the line of what came in.",
    "curve": "Multiplier of the live load against displacement.",
    "capacity": "Collapse multiplier of a horizontal load against its direction.",
    "convergence": "How well every step was solved, what it took, and how deep blocks went into each other.",
}
PICTURE_CAPTIONS = {  # pictures of statics that are not plots
    "forces.png": "What the joints carry.",
    "mechanism.png": "How it gives way; displacements are enlarged to be seen.",
    "thrust.png": "Lines of thrust.",
}

CaptionedFile = tuple[str, Path]  # a caption and a file


class ReportFigure(NamedTuple):
    """An image and what it shows."""

    caption: str
    address: str  # data:...


def pictures(source: PlotSource) -> list[ReportFigure]:
    """How the structure looks, what it carries and how it gives way."""
    return _embed(source, _of_history if source.goes_through_time else _of_statics)


def plots(source: PlotSource) -> list[ReportFigure]:
    """Its curves."""
    return _embed(source, _curves)


def _embed(source: PlotSource, draw: Callable[[PlotSource, Path], Iterator[CaptionedFile]]) -> list[ReportFigure]:
    with TemporaryDirectory() as folder:
        return [ReportFigure(caption, _data_address(path)) for caption, path in draw(source, Path(folder))]


def _data_address(path: Path) -> str:
    return f"data:{IMAGE_TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _of_history(source: PlotSource, folder: Path) -> Iterator[CaptionedFile]:
    run = source.run
    last, path = run.frames - 1, folder / "picture.png"
    distances = np.linalg.norm(centroid_displacement(run), axis=2).max(axis=1)
    farthest = int(distances.argmax())
    for frame, words in {0: "At the start", farthest: "Where it is farthest from it", last: "At the end"}.items():
        if frame in (0, last) or distances[farthest] > 0.0:
            picture(run, path, frame=frame, size=PICTURE_SIZE)
            moved = f", moved by up to {amount(float(distances[frame]), 'length')}" if frame else ""
            yield f"{words}: {amount(float(run.time[frame]), 'time')}{moved}.", path
    if last == 0:
        return
    if distances[last] > 0.0:
        mechanism_picture(run.model, mechanism_of_frame(run, last), path, size=PICTURE_SIZE)
        yield "What has moved as one since the start, with hinges and joints that slid; displacements not to scale.", path
    first = amount(float(run.time[1]), "time")
    force_picture(run.model, contact_forces(run, 1), path, motion=displacements(run)[1], size=PICTURE_SIZE)
    yield f"What the joints carry in the first frame after the start, {first}.", path
    if thrust_lines(run.model, frame_resultants(run, 1)):
        drawn = folder / "thrust.svg"
        plot(source._replace(frame=1), [PlotRequest("thrust")], drawn)
        yield f"Line of thrust of the forces at {first}.", drawn


def _of_statics(source: PlotSource, folder: Path) -> Iterator[CaptionedFile]:
    run, path = source.run, folder / "picture.png"
    picture(run, path, frame=0, size=PICTURE_SIZE)
    yield "As built.", path
    if not source.result:
        return
    for name, caption in PICTURE_CAPTIONS.items():
        applies, draw = ANALYSIS_PICTURES[name]
        if applies(run, source.result):
            yield caption, draw(run, source.result, path)
    if source.kind == "pushover":
        picture(run, path, size=PICTURE_SIZE, shown=present_blocks(run, run.frames - 1))
        yield "Where the curve ends.", path


def _curves(source: PlotSource, folder: Path) -> Iterator[CaptionedFile]:
    for name in (name for name in PLOT_CAPTIONS if name in available_panels(source)):
        plot(source, [PlotRequest(name)], folder / f"{name}.svg")
        yield PLOT_CAPTIONS[name], folder / f"{name}.svg"
