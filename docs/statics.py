"""The pictures of statics.md and validation.md: examples are run and drawn. `make gallery` does it."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from drystone.analysis.dynamics import run as run_history
from drystone.analysis.statics_run import record_statics
from drystone.io.case import read_case
from drystone.results.store.run_reader import read_result, read_run
from drystone.show.pictures.analysis_pictures import result_pictures
from drystone.show.pictures.picture import picture

HERE = Path(__file__).parent
SHOWN = {  # example: pictures of its result that the pages show
    "semicircular-arch": ("thrust",),
    "natural-arch": ("forces",),
    "loaded-arch": ("mechanism",),
    "house-capacity": ("mechanism", "capacity"),
    "arch-pushover": ("curve",),
    "church-limit": ("mechanism",),
}


def main() -> None:
    """Run and draw."""
    (HERE / "images" / "statics").mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        for example, wanted in SHOWN.items():
            for drawn in pictures_of(example, Path(folder) / example):
                if drawn.stem in wanted:
                    shutil.copy(drawn, HERE / "images" / "statics" / f"{example}-{drawn.name}")
        draw_corbelled_dome(Path(folder) / "cylinder")


def pictures_of(example: str, folder: Path) -> list[Path]:
    """All pictures of the result of an example."""
    for _ in record_statics(read_case(HERE.parent / "examples" / f"{example}.toml"), folder):
        pass
    return result_pictures(read_run(folder), read_result(folder) or {})


def draw_corbelled_dome(folder: Path) -> None:
    """Half of the cylinder after 0.2 s, what falls in blue."""
    case = (HERE.parent / "examples" / "corbelled-cylinder.toml").read_text().replace('"0.5 s"', '"0.2 s"')
    (folder.parent / "cylinder.toml").write_text(case)
    run = run_history(folder.parent / "cylinder.toml", folder)
    moved = run.position[-1] - run.position[0]
    colour = np.where((moved[:, 2] < -0.01)[:, None], (0.56, 0.74, 0.86), (0.85, 0.78, 0.66))
    half = run.model.position[:, 1] > -0.2
    path = HERE / "images" / "statics" / "corbelled-dome.png"
    picture(run.model, path, shown=half, color=colour, motion=np.hstack([moved, 0 * moved]), azimuth=0.0, elevation=4.0)


if __name__ == "__main__":
    main()
