"""Small files of every format, written here by hand: values, steps, units and names are those one reads in the text.

Broken files end in one `InputError` that names the line. Truth: counted by hand; the factors of units by definition (1 g is
9.81 m/s2 here); a file cut or changed anywhere is read or refused, never a traceback."""

import random
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from drystone.base.errors import InputError
from drystone.ground.formats.accelerogram_files import read_accelerograms

G = 9.81
ZEROS = "    0" * 14


def rows(values, width, a_line, digits=3):
    """Values of a fixed width, so many a line."""
    words = [f"{value:{width}.{digits}f}" for value in values]
    return "\n".join("".join(words[k : k + a_line]) for k in range(0, len(words), a_line))


PEER = """PEER NGA STRONG MOTION DATABASE RECORD
Northridge-01, 1/17/1994, Rinaldi Receiving Sta, 228
ACCELERATION TIME SERIES IN UNITS OF G
NPTS=      7, DT=   .0050 SEC,   0 POLE
  -.1000000E-01   .2000000E-01-.3000000E-01 1.234-5.678E-02
   .0000000E+00   .5000000E+00
"""
PEER_VALUES = [-0.01, 0.02, -0.03, 1.234, -0.05678, 0, 0.5]
PEER_OLD = """PACIFIC ENGINEERING AND ANALYSIS STRONG-MOTION DATA
LOMA PRIETA 10/18/89 00:05, GILROY
ACCELERATION TIME HISTORY IN UNITS OF G. FILTER POINTS: HP=0.2 Hz LP=33.0 Hz
3     0.0100 NPTS, DT
  .1D-02 -.2D-02 .3D-02
"""
ESM = """EVENT_NAME: GREECE
EVENT_DATE_YYYYMMDD: 20190728
NETWORK: HI
STATION_CODE: ARS1
SAMPLING_INTERVAL_S: 0.005000
NDATA: 4
STREAM: HNE
UNITS: cm/s^2
PGA_CM/S^2: 250.5
DATA_TYPE: ACCELERATION
USER5:
0.0
-250.5
100
1e1
"""
ITACA = """Event Date & Time             : 2009-04-06 01:32:39
Station Code / Name           : 3620 / Avezzano, Italy
Orientation                   : NS
Time Increment (s)            : 0.005
Number of Data                : 6
PGA (m/s/s)                   : 3.0000000E+00
Accelaration time series in m/s/s
 1.0000000E+00-2.0000000E+00-3.0000000E+00 1.0000000E-05 6.9303000E-05
-9.3700000E-06"""
KNET = """Origin Time       2018/01/24 19:51:00
Station Code      AOM001
Sampling Freq(Hz) 4Hz
Duration Time(s)  2
Dir.              E-W
Scale Factor      2000(gal)/4000
Max. Acc. (gal)   4.078
Memo.
   -100      200        0       10       10       10       10
     10
"""
AFAD = """STRONG GROUND MOTION RECORDS OF TURKIYE\r
EARTHQUAKE DATE         : 2017/07/20 22:31:09 (GMT)\r
STATION ID              : 0921\r
NUMBER OF DATA          : 3\r
SAMPLING INTERVAL (sec) : 0.01\r
RAW PGA VALUES (gal)    : (N-S) 13.2 (E-W) 2.5 (U-D) 9.8\r
       N-S          E-W          U-D\r
    0.1     -0.2    -0.3\r
   13.2      2.5     9.8\r
    1.0      2.0     3.0\r
"""
CWA = """#Earthquake Information
#Origin Time(GMT+08): 2018/02/06-23:50:42
#StationCode: EAS
#RecordLength(sec): 2
#SampleRate(Hz): 2
#AmplitudeUnit:  gal. DCoffset(corr)
#AmplitudeMAX. U:    0.658~   -0.837
#DataSequence: Time U(+); N(+); E(+)
#Data: 4F10.3
     0.000     0.658     0.100     0.200
     0.500    -0.837     0.000     0.000
     1.000     0.000     0.000     0.000
     1.500     0.000     0.000     7.000
"""
UNAM = """ARCHIVO ESTANDAR DE ACELERACION:
CLAVE DE LA ESTACION                   : CUP5
ORIENTACION C1-C6 (rumbo;orientacion)  : /V/N90E
INTERVALO DE MUESTREO, C1-C6 (s)       : /0.004/0.004
FECHA DEL SISMO [GMT]                  : 2004/01/01
NUM. TOTAL DE MUESTRAS, C1-C6          : /3/3
ACEL. MAX.(Gal), C1-C6                 : /0.47/-1.19
UNIDADES DE LOS DATOS                  : Gal (cm/s/s)
---------+---------+---------+
   CANAL-1   CANAL-2
---------+---------+---------+
     0.470     0.000
     0.000    -1.190
     0.000     0.000
"""
SMC = "\n".join(
    [
        "2 CORRECTED ACCELEROGRAM",
        *["*", "SAF0A", "     1989  10  18    0004 Loma Prieta, CA", "*"],
        "station = San Francisco component=    360",
        *["*"] * 5,
        rows([-32768] * 15 + [2, 3] + [-32768] * 31, 10, 8, 0),
        rows([0, 50.0] + [0] * 27 + [104.4] + [0] * 20, 15, 5, 4),
        "|a comment",
        "|another",
        " 1.5057E+0-1.0440E+2-1.9234E+0",
    ]
)
COSMOS = "\n".join(
    [
        "Corrected acceleration    (Format v01.20 with 13 text lines) Src: fakefile.txt",
        "Statn No: 01-23075  Code:CE-J2236  CDMG Yucaipa",
        "Sta Cha:  1: 340 deg (Rcrdr Chan  1) Location: building",
        " 100 Real-header values follow on  17 lines, Format= (6F13.6)",
        rows([-999.0] * 61 + [10.0, 70.0, -161.962] + [-999.0] * 36, 13, 6, 6),
        "  2 Comment line(s) follow",
        "      4  acceleration pts, approx   70 secs, units=cm/sec2(04),Format=(3F10.5)",
        "   1.00000-161.96200 100.00000",
        "   2.00000",
        "/&  ----------  End of data for channel  1  ----------",
    ]
)
CSMIP1 = """Uncorrected Accelerogram Data             Processed: 02/13/12, CGS  146be002
Record of Mon Feb 13, 2012 13:06:45.0 PST             (Avol1 v9.2,12/11 CSMIP)
Station No. 89146   40.941N, 123.633W      Etna  s/n 2500  (3 Chns of  3 at Sta)
Chan  1: 360 Deg
Units of uncor data are sec and g .        Max  =   .079 g , at  30.590 sec.
 3 Accelerogram points at 200 pts/sec in units of g .      Format: (2f9.6)
  .00001012.345678
  .079000
/&  ----------  End of Data for Channel  1  ----------
"""
CSMIP2 = """Corrected accelerogram   89146-L2500-12044.02       Chan  1: 360 Deg     from
Station No. 89146   40.941N, 123.633W      Etna  s/n 2500  (3 Chns of  3 at Sta)
Chan  1:  Up
Peak acceleration =    77.280    cm/sec/sec  at   30.585   sec.
 2 points of accel data equally spaced at  .005 sec, in cm/sec2. (8f10.6)
-77.280000  1.000000
 2 points of veloc data equally spaced at  .005 sec, in cm/sec.  (8f10.7)
  9.000000  9.000000
/&  ----------  End of data for channel  1  ----------
"""
GEONET_HEAD = """Corrected accelerogram 20180212_211554_WPWS_20 GNS Science
Site WPWS      39 56 38S  176 35 04E     Basalt file:  20180212_211557_WPWS
Waipawa District Council
Instrument Basalt_2413
Resolution: 24-bit   Instr Period: 0.0050 s   Damping: 0.700
Accelerogram 20180212_211554_WPWS_20                 Processed 2018 February 21
6 km south of Waipukurau
2018 February 12         21:15:54 UT
Epicentre  40 03 27S 176 32 45E  Bearing S15W  Dist   13km  Depth    9km M  4.17
Number of points  12    Duration 0.22 sec
Instrument corrected data at 0.020 sec intervals
Band-pass filter transition bands are .10-.25 Hz and 24.50-25.50 Hz
Component S16W  Longitudinal Accelerometer Axis
Acceleration:  peak    -41.6 mm/s/s at  43.68 sec     rms      2.2 mm/s/s
Velocity:      peak     1.65 mm/s   at  43.56 sec     rms     0.09 mm/s
Displacement:  peak    0.131 mm     at  43.66 sec     rms    0.007 mm
"""
GEONET_ONE = "\n".join(
    [
        GEONET_HEAD.rstrip("\n"),
        *[rows([0] * 10, 8, 10, 0)] * 3,
        rows([0, 0, 0, 12, 11, 0, 0, 0, 0, 0], 8, 10, 0),
        *[rows([0] * 10, 8, 10, 1)] * 6,
        rows([-41.6, *range(1, 12)], 8, 10, 1),
        rows([5] * 11, 8, 10, 4),
    ]
)
GEONET_RAW = (  # V1A: nothing but accelerations
    GEONET_ONE.replace("Corrected", "Uncorrected")
    .replace("Instrument corrected data at 0.020 sec", "Raw readings in units of 1.00 mm/s/s  at intervals of 0.020 s")
    .replace(rows([0, 0, 0, 12, 11, 0], 8, 10, 0), rows([12, 0, 0, 12, 0, 0], 8, 10, 0))
    .removesuffix(rows([5] * 11, 8, 10, 4))
)
GEONET_VALUES = np.array([-41.6, *range(1, 12)]) / 1000
GEONET = GEONET_ONE + "\n" + GEONET_ONE.replace("S16W", "Up")


def volume1(values, *, points, pairs):
    head = "UNCORRECTED ACCELEROGRAM DATA\n" + "TEXT\n" * 5 + "COMP S05W\n" + "TEXT\n" * 3
    head += f"NO. OF POINTS =   {points}      DURATION =  {points * 0.005:.3f} SEC\nUNITS ARE SEC AND G/10\nRMS\n"
    return head + (ZEROS + "\n") * 14 + rows(values, 7 if pairs else 13, 10 if pairs else 4) + "\n"


PAIRS = volume1([0.0, 0.046, 0.004, 1.5, 0.008, -2.0, 0.013, 0.25], points=4, pairs=True)  # 0.013 / 3 s, rounded
ALONE = volume1([0.5, -1.5, 2.5, 0.0, 1.0], points=5, pairs=False)
FILM = volume1([0.0, 0.0, 0.010, 1.0, 0.040, -2.0, 0.050, 0.0], points=4, pairs=True)

FORMATS = {  # text, unit in the file, time step [s], {component: values [m/s2]}
    "x.AT2": (PEER, "g", 0.005, {"228": np.multiply(PEER_VALUES, G)}),
    "old.AT2": (PEER_OLD, "g", 0.01, {"": np.multiply([0.001, -0.002, 0.003], G)}),
    "x.ASC": (ESM, "cm/s2", 0.005, {"HNE": [0, -2.505, 1, 0.1]}),
    "x.cor.acc": (ITACA, "m/s2", 0.005, {"NS": [1, -2, -3, 1e-5, 6.9303e-05, -9.37e-6]}),
    "x.EW": (KNET, "2000(gal)/4000", 0.25, {"E-W": [-0.5, 1, 0, 0.05, 0.05, 0.05, 0.05, 0.05]}),
    "afad.txt": (AFAD, "gal", 0.01, {"N-S": [0.001, 0.132, 0.01], "E-W": [-0.002, 0.025, 0.02], "U-D": [-0.003, 0.098, 0.03]}),
    "cwa.dat": (CWA, "gal", 0.5, {"U": [0.00658, -0.00837, 0, 0], "N": [0.001, 0, 0, 0], "E": [0.002, 0, 0, 0.07]}),
    "x.012": (UNAM, "gal", 0.004, {"V": [0.0047, 0, 0], "N90E": [0, -0.0119, 0]}),
    "x.smc": (SMC, "cm/s2", 0.02, {"360": [0.015057, -1.044, -0.019234]}),
    "x.v1c": (COSMOS, "cm/s2", 0.01, {"340 deg": [0.01, -1.61962, 1, 0.02]}),
    "x.V1": (CSMIP1, "g", 0.005, {"360 Deg": [0.00001 * G, 12.345678 * G, 0.079 * G]}),
    "x.V2": (CSMIP2, "cm/s2", 0.005, {"Up": [-0.7728, 0.01]}),
    "x.V2A": (GEONET, "mm/s2", 0.02, {"S16W": GEONET_VALUES, "Up": GEONET_VALUES}),
    "x.V1A": (GEONET_RAW, "mm/s2", 0.02, {"S16W": GEONET_VALUES}),
    "x.e0a": (PAIRS, "g/10", 0.013 / 3, {"S05W": np.multiply([0.046, 1.5, -2, 0.25], G / 10)}),
    "bhrc.V1": (ALONE, "g/10", 0.005, {"S05W": np.multiply([0.5, -1.5, 2.5, 0, 1], G / 10)}),
}


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("latin-1"))
    return path


@pytest.mark.parametrize("name", FORMATS)
def test_values_of_a_format(tmp_path, name):
    text, unit, step, components = FORMATS[name]
    found = read_accelerograms(write(tmp_path, name, text))
    assert [each.component for each in found] == list(components)
    for each, expected in zip(found, components.values(), strict=True):
        np.testing.assert_allclose(each.acceleration, expected, rtol=1e-12, atol=1e-15)
        assert each.time_step == pytest.approx(step, rel=1e-9)
        assert each.unit_in_file == unit  # in one spelling
        assert each.name == Path(name).stem
        assert each.about["format"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_known_by_its_content(tmp_path, name):
    text, _, _, components = FORMATS[name]
    for written in (text, text.replace("\r\n", "\n").replace("\n", "\r\n"), "\ufeff".encode() + text.encode("latin-1")):
        found = read_accelerograms(write(tmp_path, "no-suffix", written))
        np.testing.assert_allclose(found[-1].acceleration, list(components.values())[-1], rtol=1e-12, atol=1e-15)


def test_what_a_file_says_about_itself(tmp_path):
    (peer,) = read_accelerograms(write(tmp_path, "x.AT2", PEER))
    assert peer.about == {"format": "PEER", "event": "Northridge-01", "date": "1/17/1994", "station": "Rinaldi Receiving Sta"}
    (esm,) = read_accelerograms(write(tmp_path, "x.ASC", ESM))
    assert esm.about["station"] == "HI.ARS1"
    assert float(esm.about["stated_pga"]) == 2.505
    up, *_ = read_accelerograms(write(tmp_path, "cwa.dat", CWA))
    assert float(up.about["stated_pga"]) == -0.00837
    (csmip,) = read_accelerograms(write(tmp_path, "x.V2", CSMIP2))
    assert float(csmip.about["stated_pga"]) == 0.7728


def test_a_unit_that_the_file_states_too(tmp_path):
    (peer,) = read_accelerograms(write(tmp_path, "x.AT2", PEER), unit="g", time_step=0.005)
    assert peer.unit_in_file == "g"


def test_film_is_interpolated(tmp_path):
    """Usual step 0.01 s, so every 0.005 s on the straight lines (0, 0), (0.01, 1), (0.04, -2), (0.05, 0)."""
    (film,) = read_accelerograms(write(tmp_path, "film.V1", FILM))
    expected = [0, 0.5, 1, 0.5, 0, -0.5, -1, -1.5, -2, -1, 0]
    np.testing.assert_allclose(film.acceleration, np.multiply(expected, G / 10), atol=1e-9)
    assert film.time_step == 0.005
    assert film.done == ("interpolated from 4 samples at uneven times",)


def test_samples_after_the_stated_ones(tmp_path):
    text = UNAM + "     9.000     9.000\n"
    vertical, _ = read_accelerograms(write(tmp_path, "x.012", text))
    assert len(vertical.acceleration) == 3
    assert vertical.about["left_out"] == "1 samples after the 3 stated"


def test_channels_that_are_no_acceleration(tmp_path):
    velocity = COSMOS.replace("acceleration pts", "velocity pts").replace("cm/sec2(04)", "cm/sec(05)")
    (only,) = read_accelerograms(write(tmp_path, "two.V2", velocity + "\n" + COSMOS))
    assert only.acceleration[1] == pytest.approx(-1.61962)
    with pytest.raises(InputError, match=r"line 1: the file has velocity, an acceleration is needed"):
        read_accelerograms(write(tmp_path, "one.V2", velocity))


TWO = "0.00 1\n0.01 -2\n0.02 3\n"


@pytest.mark.parametrize(
    ("text", "stated", "step", "values"),
    [
        ("1\n-2\n3\n", {"unit": "m/s2", "time_step": 0.01}, 0.01, [[1, -2, 3]]),
        (TWO, {"unit": "m/s2"}, 0.01, [[1, -2, 3]]),
        (TWO, {"unit": "m/s2", "time_step": 0.01}, 0.01, [[1, -2, 3]]),
        (TWO.replace(" ", ","), {"unit": "cm/s2"}, 0.01, [[0.01, -0.02, 0.03]]),
        (TWO.replace(" ", "\t"), {"unit": "g"}, 0.01, [[G, -2 * G, 3 * G]]),
        ("0,00;1,5\n0,01;-2\n", {"unit": "m/s2"}, 0.01, [[1.5, -2]]),
        ("# a record\ntime [s], x [g], y [m/s2]\n0,1,4\n0.5,-1,5\n1,1,6\n", {}, 0.5, [[G, -G, G], [4, 5, 6]]),
        ("time [ms]  x [m/s2]\n0 1\n5 2\n10 0\n", {}, 0.005, [[1, 2, 0]]),
        ("t (s), x (EW), y (NS)\n0,1,4\n0.5,-1,5\n1,1,6\n", {"unit": "m/s2"}, 0.5, [[1, -1, 1], [4, 5, 6]]),
        ("acceleration in (gal)\n1\n2\n", {"time_step": 1.0}, 1.0, [[0.01, 0.02]]),
        ("0 1 4\n1 2 5\n2 3 6\n", {"unit": "m/s2", "column": 3}, 1.0, [[4, 5, 6]]),
        ("3 1\n-1 2\n3 3\n", {"unit": "m/s2", "column": 1, "time_step": 0.1}, 0.1, [[3, -1, 3]]),
        ("0.000 1\n0.004 2\n0.009 3\n0.013 4\n", {"unit": "m/s2"}, 0.013 / 3, [[1, 2, 3, 4]]),  # rounded, not uneven
        ("0.000 1\n0.003 2\n0.005 3\n0.008 4\n0.010 5\n", {"unit": "m/s2"}, 0.0025, [[1, 2, 3, 4, 5]]),
        ("0.02-0.1\n0.04-0.2\n", {"unit": "m/s2"}, 0.02, [[-0.1, -0.2]]),
    ],
)
def test_columns(tmp_path, text, stated, step, values):
    found = read_accelerograms(write(tmp_path, "x.txt", text), **stated)
    assert len(found) == len(values)
    for each, expected in zip(found, values, strict=True):
        np.testing.assert_allclose(each.acceleration, expected, rtol=1e-12)
        assert each.time_step == pytest.approx(step, rel=1e-9)


def cut(text, line):
    """Without the lines from this one on, counted from 1."""
    return "\n".join(text.splitlines()[: line - 1]) + "\n"


BROKEN = {  # name: (text, what is stated, what the message must say)
    "empty": ("", {}, ": is empty"),
    "blank": (" \n\n  ", {}, ": is empty"),
    "utf-16": (PEER.encode("utf-16"), {}, ": is text in UTF-16; save it as UTF-8"),
    "binary": (bytes(range(256)) * 9, {}, ": is binary"),
    "long line": ("1 " * 600_000, {"unit": "g"}, "line 1: 1199999 characters"),
    "prose": ("Call me Ishmael.\nSome years ago\n", {}, "not a ground motion that is known; give PEER, ESM"),
    "no unit": (TWO, {}, "line 1: the file does not state the unit of its values; give it (--unit g"),
    "odd unit": (TWO, {"unit": "furlong"}, "unit 'furlong' is not known; give one of m/s2, cm/s2"),
    "unit of another kind": ("t [s], v [cm/s]\n0,1\n1,2\n", {}, "line 2: its unit 'cm/s' is not a known unit of acceleration"),
    "no step": ("1\n2\n", {"unit": "g"}, "line 1: one column, without a time step; state it (--time-step"),
    "step 0": ("1\n2\n", {"unit": "g", "time_step": 0.0}, "time step 0.0 is not above 0"),
    "step nan": ("1\n2\n", {"unit": "g", "time_step": float("nan")}, "time step nan is not above 0"),
    "another step": (TWO, {"unit": "g", "time_step": 0.02}, "line 1: the file has a time step of 0.01 s, but 0.02 s was given"),
    "two steps": ("0 1\n1 1\n2 1\n3 1\n3.5 1\n4 1\n", {"unit": "g"}, "line 5: the time goes from 3 s to 3.5 s, most are 1 s"),
    "a gap at two decimals": ("0.00 1\n0.01 1\n0.03 1\n0.04 1\n", {"unit": "g"}, "line 3: the time goes from 0.01 s to 0.03 s"),
    "a gap at three": ("0 1\n.005 1\n.010 1\n.020 1\n.025 1\n", {"unit": "g"}, "line 4: the time goes from 0.01 s to 0.02 s"),
    "a gap": ("0 1\n1 1\n\n3 1\n4 1\n5 1\n", {"unit": "g"}, "line 4: the time goes from 1 s to 3 s, most are 1 s apart"),
    "time back": ("0 1\n1 1\n2 1\n1 1\n", {"unit": "g"}, "line 4: the time goes from 2 s to 1 s"),
    "which column": ("3 1\n-1 2\n3 3\n", {"unit": "g", "time_step": 0.1}, "line 1: 2 columns, the first of which is not"),
    "no such column": (TWO, {"unit": "g", "column": 3}, "line 1: there is no column 3 among 2, the first of which"),
    "time as column": (TWO, {"unit": "g", "column": 1}, "there is no column 1"),
    "a missing value": ("0 1\n1\n2 1\n", {"unit": "g"}, "line 2: 1 values, the lines before have 2"),
    "one sample": ("0.5\n", {"unit": "g", "time_step": 0.1}, "line 1: 1 samples; give at least 2"),
    "a row": ("1 2 3 4\n", {"unit": "g"}, "line 1: 4 values per line, and 1 lines"),
    "nan": (TWO.replace("-2", "nan"), {"unit": "g"}, "line 2: '0.01 nan' has a value that is not finite"),
    "inf": (TWO.replace("-2", "1e999"), {"unit": "g"}, "line 2: '0.01 1E999' has a value that is not finite"),
    "underscore": (TWO.replace("-2", "1_0"), {"unit": "g"}, "line 2: '1?0' is not a number"),
    "column of PEER": (PEER, {"column": 1}, "column 1 of a file in the format PEER, which has none"),
    "another unit": (PEER, {"unit": "m/s2"}, "line 5: the file states its unit G, but 'm/s2' was given; leave that out"),
    "PEER cut": (cut(PEER, 6), {}, "line 5: 5 values up to here, its header states 7"),
    "PEER too long": (PEER + "1\n", {}, "line 7: has data after the 7 values that its header states"),
    "PEER overfull": (PEER.replace(".5000000E+00", ".5 .6"), {}, "line 6: 8 values up to here, its header states 7"),
    "PEER text": (PEER.replace("1.234", "1,234"), {}, "line 5: '1,234' is not a number"),
    "PEER nan": (PEER.replace(".5000000E+00", "NaN"), {}, "line 6: '.0000000E+00   NaN' has a value that is not finite"),
    "PEER no step": (PEER.replace(".0050", ""), {}, "line 4: the time step DT is 'SEC'; give a number above 0"),
    "PEER step 0": (PEER.replace(".0050", "0.0"), {}, "line 4: the time step DT is '0.0'; give a number above 0"),
    "PEER step -1": (PEER.replace(".0050", "-1"), {}, "line 4: the time step DT is '-1'"),
    "PEER half a point": (PEER.replace("      7,", "7.5,"), {}, "line 4: NPTS is 7.5; give a whole number"),
    "VT2": (PEER.replace("ACCELERATION", "VELOCITY"), {}, "line 4: the file has a velocity, an acceleration is needed"),
    "DT2": (PEER.replace("ACCELERATION", "DISPLACEMENT"), {}, "the file has a displacement, an acceleration is needed"),
    "PEER no unit": (PEER.replace(" IN UNITS OF G", ""), {}, "line 5: the file does not state the unit of its values"),
    "ESM cut": (cut(ESM, 14), {}, "line 13: 2 values up to here, its header states 4"),
    "ESM velocity": (ESM.replace("DATA_TYPE: ACC", "DATA_TYPE: VELO"), {}, "an acceleration is needed"),
    "ESM no step": (ESM.replace("0.005000", ""), {}, "line 5: the time step SAMPLING_INTERVAL_S is ''"),
    "ITACA cut": (ITACA[:-20], {}, "line 8: 5 values up to here, its header states 6"),
    "KNET cut": (cut(KNET, 10), {}, "line 9: 7 values up to here, its header states 8"),
    "KNET factor": (KNET.replace("(gal)", "(volt)"), {}, "line 9: its unit '2000(volt)/4000' is not a known unit"),
    "KNET factor 0": (KNET.replace("/4000", "/0"), {}, "its unit '2000(gal)/0' is not a known unit of acceleration"),
    "KNET rate": (KNET.replace("4Hz", "0Hz"), {}, "line 3: the sampling frequency [Hz] is '0'"),
    "AFAD cut": (cut(AFAD, 10), {}, "line 8: 2 samples follow, its header states 3"),
    "CWA cut": (cut(CWA, 13), {}, "line 10: 3 samples follow, its header states 4"),
    "UNAM cut": (cut(UNAM, 14), {}, "line 12: 2 samples follow, its header states 3"),
    "SMC cut": (SMC[:-10], {}, "line 30: 2 values up to here, its header states 3"),
    "SMC rate": (SMC.replace("50.0000", " 0.0000"), {}, "line 12: 2 comments, 3 values and 0 samples per second"),
    "COSMOS cut": (cut(COSMOS, 25), {}, "its header states 4"),
    "COSMOS step": (COSMOS.replace("    10.000000", "    -1.000000"), {}, "line 4: the time step, its 62nd value, is -1 ms"),
    "COSMOS counts": (COSMOS.replace("cm/sec2(04)", "counts(50)"), {}, "its unit 'counts' is not a known unit of acceleration"),
    "CSMIP cut": (cut(CSMIP1, 8), {}, "line 7: 2 values up to here, its header states 3"),
    "CSMIP open": (cut(CSMIP1, 9), {}, "its header does not state the end of a channel"),
    "GeoNet cut": (cut(GEONET, 60), {}, "values up to here, its header states"),
    "volume 1 cut": (cut(ALONE, 29), {}, "line 28: 4 values up to here, its header states 5"),
    "no file": (None, {}, ": cannot be read (No such file or directory)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused(tmp_path, name):
    text, stated, said = BROKEN[name]
    path = tmp_path / "x.rec"
    if text is not None:
        write(tmp_path, path.name, text)
    with pytest.raises(InputError) as caught:
        read_accelerograms(path, **stated)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_suffix_helps_where_the_header_is_lost(tmp_path):
    without = PEER.replace("NPTS=      7, DT=   .0050 SEC", "")
    with pytest.raises(InputError, match="its header does not state NPTS and DT"):
        read_accelerograms(write(tmp_path, "x.AT2", without))


@pytest.mark.parametrize("name", FORMATS)
def test_any_damage_is_read_or_refused(tmp_path, name):
    text = FORMATS[name][0]
    chance = random.Random(name)
    for _ in range(150):
        at, junk = chance.randrange(len(text)), chance.choice(["", "-", ".", "\n", " ", "9" * 30, "e999", "x", "/", "\0"])
        damaged = text[:at] + junk + text[at + chance.choice([0, 1, 1, 40, 10**6]) :]
        try:
            found = read_accelerograms(write(tmp_path, "x.dat", damaged), unit=None)
        except InputError:
            continue
        assert all(np.isfinite(each.acceleration).all() and each.time_step > 0 for each in found)


def test_the_longest_header_line_is_soon_done(tmp_path):
    """Patterns look at the head of a line only: 900,000 blanks cost nothing."""
    text = PEER.replace("PEER NGA", "a" + " " * 900_000)
    assert len(read_accelerograms(write(tmp_path, "x.AT2", text))) == 1


def sac(values, *, delta=0.02, idep=8, order="<"):
    """A SAC file: 70 floats, 40 integers (110 words), 192 characters, the values."""
    floats, integers = [-12345.0] * 70, [-12345] * 40
    floats[0], floats[5], floats[6] = delta, 0.0, delta * (len(values) - 1)
    integers[:6] = [2019, 187, 3, 19, 52, 0]
    integers[6], integers[9], integers[15], integers[16], integers[35:40] = 6, len(values), 1, idep, [1, 0, 1, 1, 0]
    names = b"STA     " + b"-12345  -12345  " + b"-12345  " * 17 + b"HNE     " + b"CJ      " + b"-12345  " * 2
    return struct.pack(f"{order}70f40i", *floats, *integers) + names[:192] + struct.pack(f"{order}{len(values)}f", *values)


@pytest.mark.parametrize("order", "<>")
def test_sac(tmp_path, order):
    pytest.importorskip("obspy")
    path = write(tmp_path, "x.sac", sac([0.5, -0.25, 1.0], order=order))
    (found,) = read_accelerograms(path, unit="g")
    np.testing.assert_allclose(found.acceleration, np.multiply([0.5, -0.25, 1.0], G))
    assert found.time_step == pytest.approx(0.02)
    assert (found.component, found.about["station"]) == ("HNE", "CJ.STA")
    with pytest.raises(InputError, match="does not state the unit"):
        read_accelerograms(path)
    with pytest.raises(InputError, match="has a velocity"):
        read_accelerograms(write(tmp_path, "v.sac", sac([0.5, 1.0], idep=7, order=order)), unit="g")
    (again,) = read_accelerograms(write(tmp_path, "nm.sac", sac([0.5, 1.0], order=order)), unit="nm/s2")
    np.testing.assert_allclose(again.acceleration, [0.5e-9, 1e-9])
    with pytest.raises(InputError, match="not finite"):
        read_accelerograms(write(tmp_path, "nan.sac", sac([0.5, float("nan")], order=order)), unit="g")
    with pytest.raises(InputError, match="not a SAC file that can be read"):
        read_accelerograms(write(tmp_path, "step.sac", sac([0.5, 1.0], delta=0.0, order=order)), unit="g")
    with pytest.raises(InputError, match="not a SAC file that can be read"):
        read_accelerograms(write(tmp_path, "cut.sac", sac([0.5, -0.25, 1.0], order=order)[:-4]), unit="g")


def test_miniseed(tmp_path):
    """Counts without a StationXML; the sensitivity is in tests/reference."""
    obspy = pytest.importorskip("obspy")
    header = {"network": "CI", "station": "CLC", "channel": "HNE", "delta": 0.01}
    trace = obspy.Trace(np.arange(5, dtype=np.int32), header)
    path = tmp_path / "x.mseed"
    trace.write(str(path), format="MSEED", reclen=512)
    with pytest.raises(InputError, match="does not state the unit"):
        read_accelerograms(path)
    (found,) = read_accelerograms(path, unit="mm/s2")
    np.testing.assert_allclose(found.acceleration, np.arange(5) / 1000)
    later = trace.copy()
    later.stats.starttime += 60
    obspy.Stream([trace, later]).write(str(path), format="MSEED")
    with pytest.raises(InputError, match=re.escape("CI.CLC..HNE has gaps")):
        read_accelerograms(path, unit="mm/s2")
    long = obspy.Trace(np.arange(2000, dtype=np.int32) ** 2, header)
    long.write(str(path), format="MSEED", reclen=512)
    for cut_off, said in ((100, "ends within a record of 512 bytes"), (300, "not a miniSEED file that can be read")):
        with pytest.raises(InputError, match=said):
            read_accelerograms(write(tmp_path, "cut.mseed", path.read_bytes()[:-cut_off]), unit="mm/s2")


def test_without_obspy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "obspy", None)
    with pytest.raises(InputError, match=re.escape("obspy is needed for this; install it with: pip install 'drystone[seism")):
        read_accelerograms(write(tmp_path, "x.sac", sac([0.5, 1.0])), unit="g")
