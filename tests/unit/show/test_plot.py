"""`drystone plot`: what is asked for is found, what is not is told, and the same run gives the same bytes.

Sources of truth: blocks counted by hand in a run of three cubes made by hand; the lines of a figure are compared with the run's
own arrays; a closed form for the energies; the magic bytes of the formats.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.engine.cone_step.integrator import Energy
from drystone.io.case import read_case
from drystone.results.measures import select_blocks
from drystone.results.store.run_reader import read_run
from drystone.results.store.run_writer import RunWriter
from drystone.show.plots import block_histories, elevation, energies_and_errors, panels, style
from tests.unit import synthetic

pytest.importorskip("matplotlib")

CASE = """
[structure]
generator = "arch"
radius = 10.0
thickness = 1.5
embrace = "150 deg"
blocks = 7

[joints]
friction = 0.6

[motion]
pulse = "half-sine"
amplitude = "0.2 g"
half_period = 0.02

[analysis]
duration = 0.04
time_step = 0.001
"""
STEPS = 40
MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xm"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Three cubes, the first fixed, that move at random."""
    folder = tmp_path_factory.mktemp("run")
    model = synthetic.boxes([[0, 0, 0], [0, 0, 1.0], [0, 0, 2.0]], fixed=[0])
    start = synthetic.start(model)
    with RunWriter.create(folder, CASE, model, start, every_steps=2, planned_steps=STEPS, ground=(0, 0, 0)) as writer:
        for step in synthetic.steps(start, STEPS):
            rotation = step.state.rotation / np.linalg.norm(step.state.rotation, axis=1, keepdims=True)
            step.state = step.state._replace(rotation=rotation)
            writer.add(step, synthetic.ground(step.state.step))
    return folder


def drawn(tmp_path, draw) -> list:
    """The axes after a function has drawn in a figure."""
    with style.drawing(tmp_path / "x.png") as figure:
        draw(figure)
    return figure.axes


def test_blocks_by_number_range_name_and_group(folder):
    run = read_run(folder)
    assert select_blocks(run, "2") == [2]
    assert select_blocks(run, "1:2") == [1, 2]
    assert select_blocks(run, "stone 1+0") == [1, 0]
    assert select_blocks(run, "pier") == [0, 1, 2]
    assert select_blocks(run, "2+pier+1:2") == [2, 0, 1]
    assert select_blocks(run, "2, stone 0") == [2, 0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("stone1", "'stone1' is no block or group, did you mean 'stone 1'"),
        ("7", "7 is not within the blocks 0 to 2"),
        ("2:1", "2:1 is not within"),
        ("1:9", "1:9 is not within"),
        ("1:", "'1:' is no block"),
        ("-1", "'-1' is no block"),
    ],
)
def test_blocks_that_are_not_there(folder, words, said):
    with pytest.raises(InputError, match=said):
        select_blocks(read_run(folder), words)


def test_a_history_is_that_of_the_run(folder, tmp_path):
    run = read_run(folder)
    axes = drawn(tmp_path, lambda figure: block_histories.draw_history(figure, run, "displacement", [2, 1], "xz"))
    assert [axis.get_ylabel() for axis in axes] == ["displacement x [m]", "displacement z [m]"]
    for axis, column in zip(axes, (0, 2), strict=True):
        _, first, second = axis.get_lines()
        assert np.array_equal(first.get_ydata(), run.position[:, 2, column] - run.position[0, 2, column])
        assert np.array_equal(second.get_ydata(), run.position[:, 1, column] - run.position[0, 1, column])
        assert first.get_linestyle() != second.get_linestyle()
        assert first.get_color() != second.get_color()


def test_a_phase_portrait_has_rad_and_rad_a_second(folder, tmp_path):
    run = read_run(folder)
    (axes,) = drawn(tmp_path, lambda figure: block_histories.draw_phase(figure, run, [1], "z"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rotation about z [rad]", "angular velocity about z [rad/s]")
    assert np.array_equal(axes.get_lines()[2].get_ydata(), run.velocity[:, 1, 5])


def test_energies_are_over_the_weight_of_the_free_blocks(folder, tmp_path):
    """Two free cubes of 1 m3 and 2000 kg/m3 weigh 4000 kg times g."""
    run = read_run(folder)
    (axes,) = drawn(tmp_path, lambda figure: energies_and_errors.draw_energy(figure, run, 10.0))
    lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert lines["kinetic"][1:] == pytest.approx(run.steps["kinetic"] / 40_000.0)
    assert lines["potential, since the start"][0] == 0.0
    assert len(lines["dissipated"]) == STEPS + 1


def test_the_ledger_closes_if_energies_do(folder, tmp_path, monkeypatch):
    """A body that falls by what it gains in speed and rubs: areas reach the line of what came in."""
    time = np.linspace(0.0, 1.0, 5)
    fallen = 100.0 * time**2
    nothing = dict.fromkeys(Energy._fields, np.zeros(5))
    parts = nothing | {"potential": 500.0 - fallen, "kinetic": 0.7 * fallen, "friction": 0.3 * fallen}
    monkeypatch.setattr(energies_and_errors, "energy_histories", lambda run: (time, parts))
    (axes,) = drawn(tmp_path, lambda figure: energies_and_errors.draw_ledger(figure, read_run(folder)))
    top = axes.collections[-1].get_paths()[0].vertices[:, 1].max()
    line = next(line for line in axes.get_lines() if str(line.get_label()).startswith("work"))
    assert top == pytest.approx(line.get_ydata().max()) == pytest.approx(0.1)


def test_steps_that_did_not_converge_are_marked(folder, tmp_path):
    """Every fifth step of the run made by hand: 8 of 40."""
    run = read_run(folder)
    residual, _, overlap = drawn(
        tmp_path, lambda figure: energies_and_errors.draw_convergence(figure, run, {"tolerance": 1e-6})
    )
    marked = next(line for line in residual.get_lines() if line.get_label() == "not converged: 8")
    assert marked.get_xdata() == pytest.approx(1e-3 * np.arange(5, 41, 5))
    assert overlap.get_lines()[0].get_ydata() == pytest.approx(1e3 * run.steps["overlap"])


def test_the_blocks_of_an_elevation(folder, tmp_path):
    """Three cubes one upon the other at rest show three squares from the front; the support is grey."""
    run = read_run(folder)
    (axes,) = drawn(tmp_path, lambda figure: elevation._draw_blocks(figure, run, 0))
    (polygons,) = axes.collections
    corners = np.array([path.vertices[:4] for path in polygons.get_paths()])
    assert sorted(corners[:, :, 1].mean(axis=1)) == [0.0, 1.0, 2.0]
    assert np.ptp(corners, axis=1) == pytest.approx(np.ones((3, 2)))


@pytest.mark.parametrize("suffix", list(MAGIC))
def test_same_run_same_bytes(folder, tmp_path, suffix):
    paths = [tmp_path / f"{k}{suffix}" for k in range(2)]
    for path in paths:
        source = panels.open_source(folder)
        panels.plot(source, panels.read_requests("energy", source), path)
    one, other = (path.read_bytes() for path in paths)
    assert one.startswith(MAGIC[suffix])
    assert one == other


def test_the_command(command, folder, tmp_path):
    code, out, _ = command("plot", folder, "-o", tmp_path / "a.svg", "--what", "energy,blocks=1:2", "--json")
    assert code == 0
    assert json.loads(out) == {"plots": [str(tmp_path / "a.svg")], "what": ["energy", "displacement", "rotation", "velocity"]}
    code, out, _ = command("plot", folder, "-o", tmp_path / "b.png", "--what", "energy,ledger", "--apart", "--column")
    assert out.split() == [str(tmp_path / "b-1-energy.png"), str(tmp_path / "b-2-ledger.png")]
    assert all(Path(line).exists() for line in out.split())
    _, out, _ = command("plot", folder, "--list")
    listed = [line.split()[0] for line in out.splitlines()]
    assert {"ground", "displacement", "energy", "convergence"} < set(listed)
    assert not {"domain", "curve", "capacity"} & set(listed)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--what", "enrgy"), "'enrgy' is not a plot, did you mean 'energy'"),
        (("--what", "curve"), "'curve' is not in this run"),
        (("--what", "energy=1"), "energy takes neither blocks nor components"),
        (("--what", "displacement.w=1"), "the components are x, y and z"),
        (("--what", "phase.xy=1"), "phase takes one of them"),
        (("--what", "displacement="), "no blocks are named after ="),
        (("--what", "forces", "--frame", "999"), "frame 999"),
    ],
)
def test_what_is_not_there_is_told(command, folder, tmp_path, arguments, said):
    code, _, err = command("plot", folder, "-o", tmp_path / "x.png", *arguments)
    assert code == 2
    assert said in err


def test_files_of_other_kinds_are_told(command, folder, tmp_path):
    assert "give the path one of these endings" in command("plot", folder, "-o", tmp_path / "x.jpg")[2]
    assert "give a file" in command("plot", folder)[2]
    assert "holds no run" in command("plot", tmp_path, "-o", tmp_path / "x.png")[2]


def test_a_study_is_plotted(command, tmp_path):
    """Two trials of a sweep made by hand: amplitude against peak displacement, the second collapsed."""
    came_to = {"standing": 0.1, "collapsed": 0.9}
    outcomes = [{"status": status, "numbers": {"peak_displacement": peak}} for status, peak in came_to.items()]
    rows = [{"sample": {"motion.amplitude": f"{k} g"}, "outcome": outcome} for k, outcome in enumerate(outcomes, 1)]
    (tmp_path / "study.json").write_text("{}")
    (tmp_path / "study.toml").write_text('[study]\nkind = "sweep"\n')
    (tmp_path / "result.json").write_text(json.dumps({"rows": rows}))
    assert command("plot", tmp_path, "--list")[1].split()[0] == "sweep"
    code, _, err = command("plot", tmp_path, "-o", tmp_path / "x.png")
    assert (code, err) == (0, "")
    assert "'energy' is not in this study" in command("plot", tmp_path, "-o", tmp_path / "x.png", "--what", "energy")[2]
    assert "holds a study" in command("report", tmp_path, "-o", tmp_path / "x.html")[2]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("curve", {"curve": {"displacement": [0.0, 0.1, 0.2], "multiplier": [0.3, 0.1, None]}}),
        ("capacity", {"directions": [{"direction_deg": 90.0 * k, "multiplier": m} for k, m in enumerate((0.3, None, 0.2))]}),
    ],
)
def test_curves_of_statics_leave_out_what_has_no_number(tmp_path, name, facts):
    source = panels.PlotSource(tmp_path, {"curve": "pushover"}.get(name, name), facts)
    (axes,) = drawn(tmp_path, lambda figure: panels.PANELS[name].draw(figure, source, panels.PlotRequest(name)))
    drawn_round = 3 if name == "capacity" else 2  # back to the first direction
    assert any(len(line.get_ydata()) == drawn_round and max(line.get_ydata()) == 0.3 for line in axes.get_lines())


def test_a_drawing_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(ZeroDivisionError), style.drawing(tmp_path / "x.png"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_colours_are_told_apart():
    """28 lines are no two alike."""
    assert len({tuple(style.line_style(k).values()) for k in range(28)}) == 28


def test_ground_motion_of_a_case(folder, tmp_path):
    """A half-sine of 0.2 g and 20 ms ends with the velocity 2/pi times amplitude times half-period."""
    case = read_case(folder / "case.toml")
    axes = drawn(tmp_path, lambda figure: panels.draw_motions(figure, case.motions, 0.04, 1e-3))
    peak, last = axes[0].get_lines()[1].get_ydata().max(), axes[1].get_lines()[1].get_ydata()[-1]
    assert peak == pytest.approx(0.2)
    assert last == pytest.approx(2 / np.pi * 0.2 * 9.81 * 0.02)
