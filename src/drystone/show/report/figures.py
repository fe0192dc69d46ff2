"""The pictures and plots of a report: a run comes in, captions and images go out, the images as data URLs."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from drystone.analysis.construction import present_blocks
from drystone.results.measures import centroid_displacement, mechanism_of_frame
from drystone.results.quantities import contact_forces, displacements, frame_resultants
from drystone.results.resultants import thrust_lines
from drystone.show.pictures.analysis_pictures import ANALYSIS_PICTURES
from drystone.show.pictures.force_pictures import force_picture
from drystone.show.pictures.mechanism_picture import mechanism_picture
from drystone.show.pictures.picture import picture
from drystone.show.plots.panels import PlotRequest, PlotSource, available_panels, plot
from drystone.show.report.amounts import amount

PICTURE_SIZE = (960, 600)  # [pixels]
IMAGE_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}
PLOT_CAPTIONS = {  # drawn if the run has them
    "ground": "The motion of the ground, or of supports relative to the ground, as given.",
    "displacement": "Displacement, relative to the ground, of the blocks that the case monitors or of the one that moved most.",
    "rotation": "Rotation of the same blocks.",
    "energy": "Energies divided by the weight of the free blocks.",
    "ledger": "Where the supplied energy went: the areas add up to the line of the supplied energy.",
    "curve": "Multiplier of the live load against displacement.",
    "capacity": "Collapse multiplier of a horizontal load against its direction.",
    "convergence": "Accuracy and cost of every step, and the deepest overlap of two blocks.",
}
PICTURE_CAPTIONS = {  # pictures of statics that are not plots
    "forces.png": "The forces in the joints.",
    "mechanism.png": "The mechanism of collapse; displacements are enlarged.",
    "thrust.png": "Thrust lines.",
}

CaptionedFile = tuple[str, Path]  # a caption and a file


class ReportFigure(NamedTuple):
    """An image and what it shows."""

    caption: str
    address: str  # a data URL


def pictures(source: PlotSource) -> list[ReportFigure]:
    """The pictures of the structure, of its forces and of its mechanism."""
    return _embed(source, _of_history if source.goes_through_time else _of_statics)


def plots(source: PlotSource) -> list[ReportFigure]:
    """The plots of a run."""
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
    for frame, words in {0: "At the start", farthest: "At the largest displacement", last: "At the end"}.items():
        if frame in (0, last) or distances[farthest] > 0.0:
            picture(run, path, frame=frame, size=PICTURE_SIZE)
            moved = f", displaced by up to {amount(float(distances[frame]), 'length')}" if frame else ""
            yield f"{words}: {amount(float(run.time[frame]), 'time')}{moved}.", path
    if last == 0:
        return
    if distances[last] > 0.0:
        mechanism_picture(run.model, mechanism_of_frame(run, last), path, size=PICTURE_SIZE)
        yield (
            "Macro-blocks that moved as one since the start, with hinges and sliding joints; displacements not to scale.",
            path,
        )
    first = amount(float(run.time[1]), "time")
    force_picture(run.model, contact_forces(run, 1), path, motion=displacements(run)[1], size=PICTURE_SIZE)
    yield f"Forces in the joints in the first frame after the start, at {first}.", path
    if thrust_lines(run.model, frame_resultants(run, 1)):
        drawn = folder / "thrust.svg"
        plot(source._replace(frame=1), [PlotRequest("thrust")], drawn)
        yield f"Thrust line of the forces at {first}.", drawn


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
        yield "The structure at the end of the curve.", path


def _curves(source: PlotSource, folder: Path) -> Iterator[CaptionedFile]:
    for name in (name for name in PLOT_CAPTIONS if name in available_panels(source)):
        plot(source, [PlotRequest(name)], folder / f"{name}.svg")
        yield PLOT_CAPTIONS[name], folder / f"{name}.svg"
