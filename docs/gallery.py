"""The gallery: every generator with its defaults is drawn and described. `make gallery` writes gallery.md and its pictures."""

import inspect
from pathlib import Path

from drystone.build import GENERATORS
from drystone.io.starter import keys_of
from drystone.model import build_model
from drystone.view.picture import picture

HERE = Path(__file__).parent
HEAD = """# Gallery

Every generator with its defaults; made by `make gallery`. `drystone new NAME` prints a case to start from,
`drystone picture case.toml -o picture.png` draws it. Parts are put together by `[[structure.parts]]`: each names a generator or
a file and its own keys, and says where it goes: `name`, `mirror`, `turn`, `at`. `chip = 0.0015` in `[structure]` trims the
edges of all free blocks.
"""
VIEWS: dict[str, dict[str, float]] = {  # azimuth and elevation of the eye [deg] where the usual ones hide what matters
    "house": {"azimuth": -40.0},
    "corbelled-cylinder": {"elevation": -20.0},
}


def main() -> None:
    """Draw and describe."""
    (HERE / "images" / "gallery").mkdir(parents=True, exist_ok=True)
    entries = [entry(name) for name in GENERATORS]
    (HERE / "gallery.md").write_text("\n".join([HEAD, *entries]))


def entry(name: str) -> str:
    """The section of a generator; its picture is drawn on the way."""
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
{keys_of(name)}
```
"""


if __name__ == "__main__":
    main()
