"""The gallery: every generator with its defaults is drawn and described, `make gallery` writes gallery.md and its pictures.

`python docs/gallery.py RUNS` also draws the collapses from the runs in the folder RUNS: arch, house, church. One that is not
there is computed first: seconds, a minute, hours.
"""

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np

from drystone.analysis.dynamics import run as compute
from drystone.build import GENERATORS
from drystone.io.starter import format_generator_keys
from drystone.results.store.run_reader import Run, read_run
from drystone.show.pictures.movie import movie
from drystone.show.pictures.picture import picture, strip
from drystone.structure.model import build_model

HERE = Path(__file__).parent
HEAD = """# Gallery

This page shows every generator with its defaults; `make gallery` writes it. `drystone new NAME` prints a case to start from,
and `drystone picture case.toml -o picture.png` draws it. `[[structure.parts]]` assembles a structure from parts: each names a
generator or a file with its keys, and its position by `name`, `mirror`, `turn` and `at`. `chip = 0.0015` in `[structure]` trims
the edges of all free blocks. The end of the page shows [how three of them collapse](#collapses).
"""
VIEWS: dict[str, dict[str, float]] = {  # camera azimuth and elevation [deg] where the usual view hides something
    "house": {"azimuth": -40.0},
    "corbelled-cylinder": {"elevation": -20.0},
}
COLLAPSES: dict[str, tuple[str, dict[str, Any]]] = {  # example, and options of its pictures
    "arch": ("demo", {}),
    "house": ("house-collapse", {"azimuth": -40.0, "elevation": 18.0}),
    "church": ("church-collapse", {"azimuth": 215.0, "elevation": 18.0}),
}
TAIL = """## Collapses

`python docs/gallery.py RUNS` draws these pictures; `drystone picture out --strip 4 -o fall.png` and
`drystone movie out -o fall.mp4` draw them for any run.

The Oppenheim arch under a biphasic pulse of 1.7 g ([examples/demo.toml](../examples/demo.toml)):

![The arch](images/arch.gif)

![The arch at five instants](images/arch.png)

The stone house under Nodargi and Bisegna's sine of 0.8 g ([examples/house-collapse.toml](../examples/house-collapse.toml)), and
its final velocities, with the outline of the house as built:

![The house at four instants](images/collapse/house.png)

![The velocities of the stones of the house](images/collapse/house-velocity.png)

The bell tower and the end of the chancel of the church of 5,182 stones fall under one sine of 1.2 g
([examples/church-collapse.toml](../examples/church-collapse.toml)), seen from behind:

![The church at four instants](images/collapse/church.png)

![The velocities of the stones of the church](images/collapse/church-velocity.png)

The forces in its joints at that instant, in a section along the nave (`--section x=0 --forces --view side`):

![The forces in the joints of the church](images/collapse/church-forces.png)
"""


def main() -> None:
    """Draw and describe all generators."""
    (HERE / "images" / "gallery").mkdir(parents=True, exist_ok=True)
    entries = [entry(name) for name in GENERATORS]
    (HERE / "gallery.md").write_text("\n".join([HEAD, *entries, TAIL]))
    for runs in sys.argv[1:]:
        for name in COLLAPSES:
            draw_collapse(name, Path(runs) / name)


def entry(name: str) -> str:
    """Draw the picture of a generator and return its section."""
    function = GENERATORS[name]
    model = build_model(function(), friction=0.6)
    picture(model, HERE / "images" / "gallery" / f"{name}.png", size=(720, 450), **VIEWS.get(name, {}))
    free = int((~model.bodies.fixed).sum())
    weight = model.bodies.mass[~model.bodies.fixed].sum() * 9.81e-3
    about = inspect.getdoc(function)
    return f"""## {name}

![{name}](images/gallery/{name}.png)

{free:,} blocks, {weight:,.0f} kN. {about}

```toml
[structure]
generator = "{name}"
{format_generator_keys(name)}
```
"""


def draw_collapse(name: str, folder: Path) -> None:
    """Draw a strip and a single picture of a collapse and, for the arch, a movie."""
    example, look = COLLAPSES[name]
    run = read_run(folder) if folder.exists() else compute(HERE.parent / "examples" / f"{example}.toml", folder)
    images = HERE / "images"
    if name == "arch":
        strip(run, instants(run, 5), images / "arch.png", **look)
        movie(run, images / "arch.gif", fps=15.0, size=(640, 360), color="velocity", ghost=True, **look)
        return
    (images / "collapse").mkdir(exist_ok=True)
    strip(run, instants(run, 4), images / "collapse" / f"{name}.png", width=480, **look)
    picture(run, images / "collapse" / f"{name}-velocity.png", color="velocity", ghost=True, **look)
    if name == "church":
        picture(run, images / "collapse" / "church-forces.png", forces=True, section="x=0", view="side")


def instants(run: Run, count: int) -> list[int]:
    """Return the first frame and others at equal intervals in the second half, because structures fall late."""
    return [0, *(round(k) for k in np.linspace(run.frames / 2, run.frames - 1, count - 1))]


if __name__ == "__main__":
    main()
