"""The dome of Acary and Jean under its weight: ring stresses beside membrane theory. `python -m bench.aj_dome`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from drystone.analysis.dynamics import run as run_history
from drystone.io.case import parse_case
from drystone.show.pictures.picture import picture
from drystone.validation.dome import ring_stresses

ROOT = Path(__file__).parents[1]
BOND = 'tension = "14 kPa"\nbrittle = true\n'


def main() -> None:
    """Print the stresses of the dry, the mortared and the strongly bonded dome; draw the dry one."""
    text = (ROOT / "examples" / "aj-dome.toml").read_text()
    for name, bond in (("dry", ""), ("1000 N a point", BOND), ("400 kPa", BOND.replace("14", "400"))):
        with TemporaryDirectory() as folder:
            run = run_history(parse_case(text.replace(BOND, bond)), Path(folder) / "dome")
            print(f"{name}: bonds left {int((run.contacts(-1).bond > 0).sum())} of {len(run.contacts(-1).bond)}")
            for row in ring_stresses(run):
                print("ring {:2d}, {:5.1f} deg: meridian {:7.1f} ({:7.1f}), hoop {:7.1f} ({:7.1f}) kPa".format(*row))
            if not bond:
                picture(run, ROOT / "docs" / "images" / "aj-dome-hoop.png", color="hoop compression")


if __name__ == "__main__":
    main()
