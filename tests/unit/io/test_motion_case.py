"""Records and made-up motions in a case file, and in a run: what a run was shaken by is in it."""

import math
from contextlib import closing
from itertools import islice

import numpy as np
import pytest

from drystone.analysis import dynamics
from drystone.base.errors import InputError
from drystone.ground.intensity_measures import arias, pga, pgv
from drystone.io.case import parse_case, read_case
from drystone.results.store.run_reader import read_run, recorded_case

BLOCK = """
[structure]
generator = "column"
courses = 2
width = 0.25
depth = 0.25
height = 2.0

[joints]
friction = 0.7

[motion]
{motion}

[analysis]
{lasts}
time_step = "2 ms"
"""
G = 'record = "shake.txt"\nunit = "g"\n'
SAMPLES = np.sin(np.arange(101) * 0.1) * np.hanning(101) * 0.4  # [g] one second, 0.01 s apart


@pytest.fixture
def folder(tmp_path):
    """A folder with a file of two columns, time in s and acceleration in g, and one of three components."""
    rows = [f"{i / 100:.2f} {value!r}" for i, value in enumerate(SAMPLES.tolist())]
    (tmp_path / "shake.txt").write_text("\n".join(rows) + "\n")
    rows = [f"{i / 100:.2f} {value!r} {2 * value!r}" for i, value in enumerate(SAMPLES.tolist())]
    (tmp_path / "two.txt").write_text("\n".join(rows) + "\n")
    return tmp_path


def case_of(folder, motion, lasts='after = "0.5 s"'):
    return parse_case(BLOCK.format(motion=motion, lasts=lasts), folder / "case.toml")


def record_of(folder, keys):
    return case_of(folder, G + keys).motions[0].record


def test_a_record_is_found_beside_the_case(folder):
    """The samples of the file times 9.81; as long as the record and half a second."""
    case = case_of(folder, 'record = "shake.txt"\nunit = "g"\nstart = "0.2 s"\ndirection = [0, 3, 4]')
    np.testing.assert_allclose(case.motions[0].record.acceleration, 9.81 * SAMPLES, rtol=1e-12)
    np.testing.assert_allclose(case.motions[0].acceleration(0.7), 9.81 * SAMPLES[50] * np.array([0, 0.6, 0.8]), rtol=1e-9)
    assert case.history.duration == pytest.approx(0.2 + 1.0 + 0.5)
    assert case.motions[0].label == "shake"


def test_how_strong_a_record_is(folder):
    assert pga(record_of(folder, 'pga = "0.3 g"')) == pytest.approx(0.3 * 9.81)
    assert pgv(record_of(folder, 'pgv = "12 cm/s"')) == pytest.approx(0.12)
    np.testing.assert_allclose(record_of(folder, "scale = -1.5").acceleration, -1.5 * 9.81 * SAMPLES)
    assert record_of(folder, "scale = 2").done == ("scaled by 2",)


def test_what_is_kept_of_a_record(folder):
    """By hand: samples 20 to 60. By Arias: at least the share asked for, and one sample less on either side is not enough."""
    cut = record_of(folder, 'from = "0.2 s"\nto = "0.6 s"')
    np.testing.assert_allclose(cut.acceleration, 9.81 * SAMPLES[20:61])
    whole, strong = record_of(folder, ""), record_of(folder, "arias = [0.1, 0.9]")
    assert arias(strong) >= 0.8 * arias(whole)
    assert len(strong.acceleration) < len(whole.acceleration)
    first = next(i for i, value in enumerate(whole.acceleration) if value == strong.acceleration[0])
    assert arias(record_of(folder, f"from = {(first + 1) / 100}")) < 0.9 * arias(whole)


def test_all_that_is_done_is_said(folder):
    """Baseline, band, cut, scale: the order of the docs, whatever that of the keys."""
    keys = 'pga = "0.2 g"\narias = [0.05, 0.95]\nband = ["0.5 Hz", "20 Hz"]\nbaseline = "linear"'
    done = record_of(folder, keys).done
    assert [words.split()[0] for words in done] == ["linear", "band", "cut", "scaled"]


def test_components_are_chosen(folder):
    one = case_of(folder, 'record = "two.txt"\nunit = "g"\ncomponent = 3').motions[0].record
    np.testing.assert_allclose(one.acceleration, 2 * 9.81 * SAMPLES, rtol=1e-12)
    with pytest.raises(InputError, match=r"its components are .*none is chosen; give component"):
        case_of(folder, 'record = "two.txt"\nunit = "g"')
    with pytest.raises(InputError, match="'EW' is none of them"):
        case_of(folder, 'record = "two.txt"\nunit = "g"\ncomponent = "EW"')


@pytest.mark.parametrize(
    ("motion", "lasts", "message"),
    [
        ('record = "nowhere.AT2"', 'after = "1 s"', "line 13: motion.record: .*nowhere.AT2"),
        ('record = "x.txt"\nscale = 2.0\npga = "0.3 g"', 'after = "1 s"', "scale and pga all scale the record"),
        (G + "arias = [0.9, 0.1]", 'after = "1 s"', "motion.record: arias = .0.9, 0.1.; give two"),
        (G + 'band = ["1 Hz", "60 Hz"]', 'after = "1 s"', "band from 1 to 60 Hz; .* below 50 Hz"),
        (G + "fro = 1", 'after = "1 s"', "motion.fro: 'fro' is not a key .* did you mean 'from'"),
        (G + "from = 0.995\nto = 1", 'after = "1 s"', "'shake' from 0.995 to 1 s has no two samples"),
        (G + "arias = [0, 1]\nto = 1", 'after = "1 s"', "give one of the two"),
        ('pulse = "sine"\namplitude = 1.0\nhalf_period = 0.1', 'after = "1 s"', "analysis.after: the sine has no end"),
        ('pulse = "ricker"\namplitude = 1.0\nhalf_period = 0.1', "", "analysis: needs either duration, or after"),
        ('pulse = "ricker"\namplitude = 1.0\nhalf_period = 0.1', "after = 1\nduration = 2", "needs either duration, or after"),
        ("direction = [1, 0, 0]", "duration = 2", 'motion.pulse: is missing, and so is record = "file"; accepted: rect'),
        ('pulse = "spectrum"\nseed = 1\nag = 1.0\nduration = 9.0\ncode = "NTC 2018"', "duration = 2", "needs plateau .F0. and"),
        ('pulse = "kanai-tajimi"\nseed = 1\namplitude = 1\nduration = 9\nstrong = [8, 2]', "duration = 2", "shaking from 8"),
        ('pulse = "mavroeidis-papageorgiou"\nhalf_period = 1\noscillations = 2', "duration = 2", "either an amplitude"),
    ],
)
def test_mistakes_are_told(folder, motion, lasts, message):
    with pytest.raises(InputError, match=message):
        case_of(folder, motion, lasts)


def test_made_up_motions_of_a_case():
    """The same seed, the same samples; another seed, others. The peak is the amplitude; the length is the duration."""
    text = 'pulse = "kanai-tajimi"\nseed = {}\namplitude = "0.4 g"\nduration = "6 s"'
    first, again, other = (parse_case(BLOCK.format(motion=text.format(seed), lasts="after = 1")) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.motions[0].record.acceleration, again.motions[0].record.acceleration)
    assert np.abs(first.motions[0].record.acceleration - other.motions[0].record.acceleration).max() > 1.0
    assert pga(first.motions[0].record) == pytest.approx(0.4 * 9.81)
    assert first.history.duration == pytest.approx(7.0)


def test_a_wavelet_by_its_velocity():
    keys = 'pulse = "mavroeidis-papageorgiou"\nvelocity = "30 cm/s"\nhalf_period = 0.5\noscillations = 2\nphase = "90 deg"'
    motion = parse_case(BLOCK.format(motion=keys, lasts="after = 1")).motions[0]
    assert (motion.velocity_amplitude, motion.phase) == (pytest.approx(0.3), pytest.approx(math.pi / 2))


def test_a_run_goes_on_without_the_file_of_its_record(folder):
    """Cut in the middle, the record deleted, resumed: the same bits as the run that was not cut."""
    path = folder / "case.toml"
    motion = 'record = "shake.txt"\nunit = "g"\nscale = 1.3\nbaseline = "constant"'
    path.write_text(BLOCK.format(motion=motion, lasts='after = "0.1 s"'))
    case = read_case(path)
    whole = dynamics.run(case, folder / "whole")
    with closing(dynamics.record_history(case, folder / "cut")) as steps:
        list(islice(steps, 211))
    (folder / "shake.txt").unlink()
    for _ in dynamics.resume_history(folder / "cut"):
        pass
    resumed = read_run(folder / "cut")
    for name in ("time", "position", "rotation", "velocity", "ground"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name), err_msg=name)
    kept = recorded_case(resumed).motions[0].record
    assert (kept.done, kept.unit_in_file) == (case.motions[0].record.done, "g")
    assert whole.time[-1] == pytest.approx(1.1)
    assert np.abs(whole.position[-1] - whole.position[0]).max() > 1e-4  # it was shaken
