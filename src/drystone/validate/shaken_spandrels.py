"""H4: the spandrel arch under a long sine in its plane comes apart."""

from pathlib import Path

from drystone.measure import collapse_time, displacement, step_history, watched_blocks
from drystone.record import read_run
from drystone.validate.claims import Claim, Figure, Place, Subject, Value
from drystone.validate.conduct import history
from drystone.validate.figures import ENERGIES, beside_energy, snapshots
from drystone.view.style import look

CASE = """
[structure]
generator = "spandrel-arch"
[joints]
friction = 0.4
[motion]
pulse = "sine"
amplitude = "0.36 g"
half_period = "1 s"
direction = [-1, 0, 0]
[analysis]
duration = "6 s"
time_step = "2.5 ms"
theta = 1.0
impact_substeps = 1
[solver]
contact = "compliant"
young = "30 GPa"
tolerance = 1e-4
[output]
every = "20 ms"
"""


def _compute(place: Place) -> dict[str, Value]:
    fallen = collapse_time(*step_history(history(CASE, place.folder / "sine"), "potential"))
    return {"outcome": "stands" if fallen is None else "collapses"}


def _draw(place: Place, out: Path) -> list[Figure]:
    run = read_run(place.folder / "sine")
    most = watched_blocks(run)[0]

    def moved(axes):
        for k, (name, column) in enumerate((("x", 0), ("z", 2))):
            label = f"displacement {name} of {run.model.blocks[most].name}"
            axes.plot(run.time, displacement(run)[:, most, column], label=label, **look(k))
        axes.set_xlabel("time [s]")
        axes.set_ylabel("displacement [m]")

    beside_energy(run, out / "H4-history.png", moved)
    snapshots(run, (1, 2, 3, 4, 5, 6), out / "H4-snapshots.png", view="front")
    return [
        Figure("H4-history.png", f"As NB figure 14: (a) the block that moves most, seen from the ground; (b) {ENERGIES}"),
        Figure("H4-snapshots.png", "As NB figure 15: after 1, 2, 3, 4, 5 and 6 s"),
    ]


SHAKEN_SPANDRELS = Subject(
    "H4-sine", "The spandrel arch under a long sine", "NB section 4.4, figures 14 and 15",
    "201 stones, friction 0.4, sine of 0.36 g, half-period 1 s, in the plane, to the left first, 6 s. With the settings of "
    "our studies: NB's scheme, steps of 2.5 ms, contact of stone of 30 GPa. Collapse is the loss of 20 % of the potential "
    "energy. Ours is badly cracked after 6 s and its arch has hinges, but it has not lost 2 %. Why is not known: its static "
    "capacity is 8 % above NB's, so that it is pushed by a third less beyond it; neither that nor the edges that NB chip "
    "have been tried.",
    (Claim("outcome", "within 6 s", "", "collapses"),),
    _compute, _draw, quick=False,
)  # fmt: skip
