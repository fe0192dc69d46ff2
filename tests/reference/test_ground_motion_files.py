"""The ground motions in ../shared: every record is read.

Truth: number of samples, time step and peak as the README beside the files has them (its last column); where it has none, the
peak that the file's own header states; where there is none either: the root mean square that USC states, ObsPy's reading of SAC
and miniSEED, and for BHRC NumPy's of the text. A printed peak is within 1 %, or half of its last digit where that is more."""

import re
import time
from pathlib import Path

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.ground.formats.accelerogram_files import read_accelerograms

FOLDERS = [folder / "shared/data/ground_motions" for folder in Path(__file__).parents]
DATA = next((folder for folder in FOLDERS if folder.exists()), FOLDERS[-1])
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="needs shared/data/ground_motions beside the repository")

G = 9.81
UNIT = {"g": G, "m/s2": 1.0, "cm/s2": 0.01, "gal": 0.01}
NO_RECORD = (".rs", ".metadata", ".xml")
OBSPY = (".sac", ".mseed")


def table():
    """{file: last column} of the README."""
    if not DATA.exists():
        return {}
    lines = (DATA / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines if line.startswith("| ")]
    return {row[0]: row[-1].rstrip(" |") for row in cells if "/" in row[0]}


TABLE = table()
RECORDS = [
    name for name in TABLE if not name.endswith(NO_RECORD) and "pSa_" not in name and not name.endswith((".VT2", ".DT2"))
]
STATED = [name for name in RECORDS if re.search(r"PGA|Max\. Acc\.|peak of 2nd column", TABLE[name])]
IN_HEADER = {  # samples, time step [s] and components, as the files' headers say; what half the last digit of a peak is [m/s2]
    "formats/cosmos/Cosmos12TimeSeriesTest.v1": (7000, 0.01, 1, 0),
    "formats/cosmos/us1000hyfh_akbmrp_AKBMR--n.1000hyfh.BNZ.--.acc.V2c": (42000, 0.005, 1, 0),
    "formats/csmip_dmg/CE58667.V2": (7500, 0.01, 3, 0),
    "formats/csmip_dmg/CE89146.V1": (13200, 0.005, 3, 0.0005 * G),
    "formats/csmip_dmg/CE89146.V2": (12000, 0.005, 3, 0),
    "formats/cwa/1-EAS.dat": (6000, 0.02, 3, 0),
    "formats/geonet/20180212_211557_WPWS_20.V2A": (5800, 0.02, 3, 0),
    "formats/nsmn_afad/20170720223109_0921.txt": (28683, 0.01, 3, 0),
    "formats/renadic/altohospicio0911131.v1": (3500, 0.01, 3, 0.0005 * G),
    "formats/smc/0111a.smc": (6001, 0.005, 1, 0),
    "formats/smc/0111b.smc": (6002, 0.005, 1, 0),
    "formats/smc/0111c.smc": (6004, 0.005, 1, 0),
    "formats/unam/CUP50401.012": (17500, 0.004, 3, 0.00005),
}
USC = [name for name in RECORDS if "/usc/" in name]
OTHERWISE = ["formats/bhrc/5526-1.V1", "classics/tabasFN.txt", *USC, *(name for name in RECORDS if name.endswith(OBSPY))]


def peak(record):
    return np.abs(record.acceleration).max()


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def stated(name):
    """What a user would have to state, from the README."""
    if "peak of 2nd column" in TABLE[name]:
        return {"unit": "m/s2"}
    if name.endswith((".th", "tabasFN.txt")):
        return {"unit": "g", "time_step": number(r"dt ([\d.]+) s", TABLE[name])}
    return {"unit": "g"} if "time s" in TABLE[name] or name.endswith(".sac") else {}


def test_every_file_of_the_folder_has_its_test():
    files = {str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.is_file()} - {"README.md"}
    assert files == set(TABLE)
    assert set(RECORDS) == {*STATED, *IN_HEADER, *OTHERWISE}


@pytest.mark.parametrize("name", STATED)
def test_records_are_as_the_readme_says(name):
    record = read_accelerograms(DATA / name, **stated(name))[0]
    said = TABLE[name]
    samples, step = number(r"npts (\d+)", said), number(r"dt ([\d.]+) s", said)
    assert samples in (None, len(record.acceleration))
    assert step is None or record.time_step == pytest.approx(step, rel=1e-6)
    of_mean_removed = re.search(r"Max\. Acc\. ([\d.]+) (gal)", said)  # K-NET's peak is that of the record without its mean
    found = of_mean_removed or re.search(r"PGA ([\d.E+-]+) (\S+)", said) or re.search(r"2nd column ([\d.]+) \((unit)", said)
    values = record.acceleration - (record.acceleration.mean() if of_mean_removed else 0)
    assert np.abs(values).max() == pytest.approx(float(found[1]) * UNIT.get(found[2], 1.0), rel=0.01)
    if of_mean_removed:
        assert float(record.about["stated_pga"]) == pytest.approx(float(found[1]) / 100)


@pytest.mark.parametrize("name", IN_HEADER)
def test_records_are_as_their_header_says(name):
    samples, step, components, digit = IN_HEADER[name]
    records = read_accelerograms(DATA / name)
    assert len({record.component for record in records}) == len(records) == components
    for record in records:
        assert len(record.acceleration) == samples
        assert record.time_step == pytest.approx(step, rel=1e-9)
        assert peak(record) == pytest.approx(abs(float(record.about["stated_pga"])), rel=0.01, abs=digit)


def test_volume_1_and_2_are_one_motion():
    """The same channels in g, raw, and in cm/s2, corrected: peaks within a few per cent, not a factor of 9.81 or 100."""
    raw, corrected = (read_accelerograms(DATA / f"formats/csmip_dmg/CE89146.{volume}") for volume in ("V1", "V2"))
    assert [peak(each) for each in raw] == pytest.approx([peak(each) for each in corrected], rel=0.03)


@pytest.mark.parametrize("name", USC)
def test_film_has_the_root_mean_square_that_its_header_states(name):
    """Times on film are uneven; interpolated, the record keeps its stated rms (.211 G/10) and its largest point."""
    text = (DATA / name).read_text()
    rms = number(r"RMS ACCLN\. OF COMPLETE RECORD =\s*([\d.]+) G/10", text) * G / 10
    (record,) = read_accelerograms(DATA / name)
    assert np.sqrt(np.mean(record.acceleration**2)) == pytest.approx(rms, rel=0.01)
    points = np.array(" ".join(text.splitlines()[27:]).split(), float)
    assert len(points) == 2 * number(r"NO\. OF POINTS =\s*(\d+)", text)
    assert peak(record) == pytest.approx(np.abs(points[1::2]).max() * G / 10, rel=0.01)
    assert record.duration == pytest.approx(points[-2], abs=record.time_step)
    assert record.done


def test_bhrc():
    """Three components of 9472 values at 200 a second; the largest as NumPy finds it in the lines of ten numbers."""
    path = DATA / "formats/bhrc/5526-1.V1"
    records = read_accelerograms(path)
    lines = [line.split() for line in path.read_text().splitlines()]
    tens = np.array([float(word) for words in lines if len(words) == 10 and "E" in words[-1] for word in words])
    assert [each.component for each in records] == ["L1", "V2", "T3"]
    assert all((len(each.acceleration), each.time_step) == (9472, 0.005) for each in records)
    thirds = tens.reshape(3, 9470)  # 947 full lines each, then 2 values more
    np.testing.assert_allclose([each.acceleration[:9470] for each in records], thirds * G / 10, rtol=1e-12)


def test_tabas():
    (record,) = read_accelerograms(DATA / "classics/tabasFN.txt", **stated("classics/tabasFN.txt"))
    np.testing.assert_allclose(record.acceleration, np.loadtxt(DATA / "classics/tabasFN.txt") * G)
    assert record.time_step == 0.02


@pytest.mark.parametrize("name", [name for name in OTHERWISE if name.endswith(".mseed")])
def test_miniseed_as_obspy_reads_it(name):
    obspy = pytest.importorskip("obspy")
    trace = obspy.read(DATA / name)[0]
    trace.remove_sensitivity(obspy.read_inventory(DATA / "formats/miniseed/CI.CLC.xml"))
    (record,) = read_accelerograms(DATA / name)
    np.testing.assert_allclose(record.acceleration, trace.data, rtol=1e-12)
    assert (record.time_step, record.component) == (trace.stats.delta, trace.stats.channel)


@pytest.mark.parametrize("name", [name for name in OTHERWISE if name.endswith(".sac")])
def test_sac_as_its_header_says(name):
    obspy = pytest.importorskip("obspy")
    head = obspy.read(DATA / name)[0].stats.sac
    (record,) = read_accelerograms(DATA / name, unit="g")
    assert (len(record.acceleration), record.time_step) == (head.npts, pytest.approx(float(head.delta)))
    assert (record.acceleration.min(), record.acceleration.max()) == pytest.approx((head.depmin * G, head.depmax * G), rel=1e-5)


@pytest.mark.parametrize("name", [name for name in RECORDS if "net/" in name and "geonet" not in name])
def test_knet_as_obspy_reads_it(name):
    obspy = pytest.importorskip("obspy")
    trace = obspy.read(DATA / name, format="KNET")[0]
    (record,) = read_accelerograms(DATA / name)
    np.testing.assert_allclose(record.acceleration, trace.data * trace.stats.calib, rtol=1e-9)
    assert record.time_step == pytest.approx(trace.stats.delta)


@pytest.mark.parametrize("name", [name for name in RECORDS if {"unit"} <= set(stated(name))])
def test_what_does_not_state_its_unit_is_refused_without(name):
    if name.endswith(OBSPY):
        pytest.importorskip("obspy")
    step = stated(name).get("time_step")
    with pytest.raises(InputError, match="does not state the unit of its values; give it"):
        read_accelerograms(DATA / name, time_step=step)


WHY = {
    ".VT2": "the file has a velocity",
    ".DT2": "the file has a displacement",
    ".rs": "give an even time step",  # periods
    ".txt": "give one line per sample",  # a spectrum in two rows
    ".metadata": "not a ground motion",
    ".xml": "not a ground motion",
}


@pytest.mark.parametrize("name", [name for name in TABLE if name not in RECORDS])
def test_what_is_no_record_is_refused(name):
    with pytest.raises(InputError, match=WHY[Path(name).suffix]):
        read_accelerograms(DATA / name, unit="g")


def least_seconds(action):
    """Of the processor, the least of three times."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return min(taken)


def test_the_longest_is_read_soon():
    """112,600 values that stick together, 14 characters each. Truth: Python cutting the lines and calling float(), on the
    same processor; the reader takes 2.3 times as long, and may take 10 times."""
    path = DATA / "laquila_2009/16837_H1.cor.acc"
    lines = [line for line in path.read_text().splitlines() if re.fullmatch(r"([- ]\d\.\d{7}E[-+]\d\d)+", line)]

    def numbers():
        return [float(line[k : k + 14]) for line in lines for k in range(0, len(line), 14)]

    assert len(numbers()) == 112_600
    assert least_seconds(lambda: read_accelerograms(path)) < 10 * least_seconds(numbers)
