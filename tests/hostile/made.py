# ruff: noqa: E501 (a hostile file a line)
"""Hostile files made by hand: bombs, links, devices, lies about sizes, other encodings, broken folders."""

import functools
import io
import json
import os
import shutil
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np

from tests.hostile.court import ANY, REFUSED, Attack
from tests.hostile.valid import DOMAIN, HISTORY, STATICS, SWEEP, Valid, beside, copy_of, filled

Content = str | bytes | Callable[[], str | bytes]

ZEROS = functools.partial(bytes, 200_000_000)  # that pack to nothing
MESHES = ("obj", "stl", "ply", "off", "json", "compas.json", "3dm", "dxf", "dat", "txt", "csv")


def made(folder: Path, valid: dict[str, Valid]) -> list[Attack]:
    """All of them, in folders under `folder`."""
    parts = (_nothing, _encodings, _bombs, _sizes, _names, _cases, _studies, _archives, _hdf5, _meshes)
    return [attack for part in parts for attack in part(folder, valid)]


def _writes(path: Path, content: Content) -> Callable[[], object]:
    """What writes a file, with the folders above it, unless it is there."""

    def make() -> None:
        if not path.exists():
            said = content() if callable(content) else content
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(said if isinstance(said, bytes) else said.encode())

    return make


def _readers(path: Path, folder: Path, make: Callable[[], object], checked: tuple[int, ...] = REFUSED) -> Iterator[Attack]:
    """Every command that takes a file, on one path; `checked`: the codes of `check`, which may find blocks to be unsound."""
    out = str(folder / "out" / path.name)
    commands = {"record": [], "solve": []}
    if path.suffix == ".toml":
        commands = {"check": [], "run": ["-o", out], "study": ["-o", out]}
    elif path.name.endswith(MESHES):
        commands = {"check": [], "convert": [f"{out}.json"]}
    for command, more in commands.items():
        codes = checked if command == "check" else REFUSED
        yield Attack(f"{command} {path.name}", [command, str(path), *more, "--json"], codes, make)


def _nothing(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """Devices, pipes, folders, links to themselves, and nothing at all, as every kind of file."""
    place = folder / "nothing"
    place.mkdir(parents=True)
    for suffix in ("toml", *MESHES, "AT2"):
        ways: dict[str, Callable[[Path], object]] = {
            "fifo": os.mkfifo, "empty": Path.touch, "dir": Path.mkdir, "loop": lambda path: path.symlink_to(path),
            "zero": lambda path: path.symlink_to("/dev/zero"), "void": lambda path: path.symlink_to(place / "not there"),
        }  # fmt: skip
        for name, way in ways.items():
            path = place / f"{name}.{suffix}"
            make = functools.partial(lambda path, way: os.path.lexists(path) or way(path), path, way)
            yield from _readers(path, folder, make)
    for name in ("x" * 300, "a\0b", "x/" * 3000):
        for command in ("check", "record", "solve", "info", "report", "picture"):
            more = ["-o", str(folder / "out" / "x.png")] if command in ("report", "picture") else []
            yield Attack(f"{command} of a name of {len(name)}", [command, name, *more, "--json"])
    for command in (["info"], ["run", "--resume"], ["study", "--resume"], ["view", "--html", str(folder / "out" / "a.html")],
                    ["picture", "-o", str(folder / "out" / "a.png")], ["report", "-o", str(folder / "out" / "a.html")]):  # fmt: skip
        yield Attack(f"{command[0]} /dev", [*command, "/dev"])
        yield Attack(f"{command[0]} /dev/zero", [*command, "/dev/zero"])


def _encodings(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """What is refused in every encoding but its own, and what may be read."""
    ways: dict[str, Callable[[str], bytes]] = {
        "utf-16": lambda text: text.encode("utf-16"), "utf-32": lambda text: text.encode("utf-32"),
        "nul": lambda text: text.replace("\n", "\n\0").encode(), "latin": lambda text: text.replace("o", "\xf6").encode("latin-1"),
        "overlong": lambda text: text.encode().replace(b"=", b"\xc0\xaf="),
    }  # fmt: skip
    for name in ("history", "statics", "sweep"):
        for way, change in ways.items():
            path = folder / f"{way}-{name}.toml"
            yield from _readers(path, folder, _writes(path, change(valid[name].path.read_text())))
    for name in ("geometry.obj", "geometry.off", "geometry.json", "bricks", "peer", "columns", "siconos"):
        for way in ("utf-16", "utf-32"):
            source = valid[name].path
            path = folder / f"{way}-{name}" / source.name
            command = filled(valid[name].commands[0], path, folder / "out" / way)
            yield Attack(f"{way} {name}", command, make=_writes(path, ways[way](source.read_text())))


def _bombs(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """Nesting without end, lines without end, numbers without end."""
    deep, line = 200_000, 100_000_000
    texts: dict[str, Content] = {
        "deep-list.toml": "a = " + "[" * deep, "deep-table.toml": "[" + "a." * 20_000 + "a]\n", "deep-inline.toml": "a = " + "{a=" * deep,
        "deep-key.toml": "a." * 20_000 + "a = 1\n", "long-number.toml": "a = " + "9" * 100_000, "long-line.toml": lambda: "#" + "a" * line,
        "long-value.toml": f'[structure]\ngenerator = "{"a" * 1_000_000}"\n', "many-keys.toml": lambda: "".join(f"k{i} = 1\n" for i in range(50_000)),
        "many-tables.toml": "[[motion]]\n" * 50_000, "same-table.toml": "[structure]\n" * 2,
        "deep-list.json": "[" * deep, "deep-object.json": lambda: '{"blocks":' * deep, "long-number.json": "9" * 100_000,
        "long-line.json": lambda: '{"blocks": [' + " " * line + "]}", "long-line.obj": lambda: "v " + "1 " * (line // 4), "long-line.off": lambda: "OFF" + " " * line,
        "long-line.stl": lambda: "solid " + "a" * line, "long-line.txt": lambda: "1," * (line // 10), "long-line.AT2": lambda: "1 " * (line // 10),
        "deep-values.json": '{"blocks": [{"vertices": ' + "[" * 500 + "]" * 500 + ', "faces": []}]}',
        "long-line.dat": lambda: "3 " * (line // 20), "long-digits.AT2": "9" * 900_000, "digits.json": '{"blocks": [{"density": 1e400}]}',
        "long-header.ply": lambda: "ply\nformat ascii 1.0\n" + "comment a\n" * 2_000_000, "deep.compas.json": '{"dtype": "x", "data":' * 500 + "1" + "}" * 500,
    }  # fmt: skip
    for name, text in texts.items():
        path = folder / "bombs" / name
        yield from _readers(path, folder, _writes(path, text))


def _sizes(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """Files that say to be larger than they are, and counts that nobody has room for."""
    ply = "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face {}\n"
    ply += "property list {} int vertex_indices\nend_header\n"
    point = struct.pack("<3f", 0, 0, 0)
    files: dict[str, Content] = {
        "triangles.stl": b"\0" * 80 + struct.pack("<I", 4_000_000_000) + b"\0" * 50,
        "negative.ply": ply.format("binary_little_endian", 1, 1, "char").encode() + point + b"\xff" + b"\0" * 8,
        "huge-list.ply": ply.format("binary_little_endian", 1, 1, "uint").encode() + point + b"\xff\xff\xff\xff" + b"\0" * 8,
        "negative-text.ply": ply.format("ascii", 1, 1, "int") + "0 0 0\n-3 0 0 0\n",
        "nan-count.ply": ply.format("ascii", 1, 1, "float") + "0 0 0\nnan 0 0 0\n",
        "huge-count.ply": ply.format("ascii", 10**18, 10**18, "int") + "0 0 0\n",
        "digits.ply": ply.format("ascii", "9" * 5000, 1, "int") + "0 0 0\n",
        "no-property.ply": lambda: "ply\nformat ascii 1.0\nelement vertex 5000000\nend_header\n" + "\n" * 5_000_000,
        "negative.off": "OFF\n-1 -1 0\n", "huge.off": "OFF\n999999999999 1 0\n", "nan.off": "OFF\n4 4 0\n" + "nan nan nan\n" * 4 + "3 0 1 2\n" * 4,
        "inf.obj": "v inf 0 0\nv 0 1 0\nv 0 0 1\nv 0 0 0\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n",
        "far.obj": "v 1e308 0 0\nv 0 1e308 0\nv 0 0 1e308\nv -1e308 0 0\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n",
        "tiny.obj": "v 1e-300 0 0\nv 0 1e-300 0\nv 0 0 1e-300\nv 0 0 0\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n",
        "index.obj": "v 0 0 0\nf 1 2 99999999999999999999\n", "negative-index.obj": "v 0 0 0\nf -1 -2 -3\n", "zero-index.obj": "v 0 0 0\nf 0 0 0\n",
        "no-vertices.json": '{"blocks": [{"vertices": [], "faces": []}]}', "null.json": "null", "string.json": '"blocks"',
        "nan.json": '{"blocks": [{"vertices": [[NaN, 0, 0]], "faces": [[0, 0, 0]]}]}', "list.json": "[]", "empty-list.json": '{"blocks": []}',
        "huge-int.json": '{"blocks": [{"vertices": [[' + "9" * 400 + ', 0, 0]], "faces": [[0, 0, 0]]}]}',
        "huge-face.json": '{"blocks": [{"vertices": [[0, 0, 0]], "faces": [[0, 0, 1e99]]}]}',
        "huge-index.json": '{"blocks": [{"vertices": [[0, 0, 0]], "faces": [[0, 0, 99999999999999999999999]]}]}',
        "pieces.json": '{"blocks": [{"vertices": [[0, 0, 0]], "faces": [[0, 0, 0]], "pieces": [-5, 1000000000000]}]}',
        "npts.AT2": "a\nb\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 99999999, DT= .0100 SEC\n 1 2 3\n",
        "dt.AT2": "a\nb\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 3, DT= 1e-300 SEC\n 1 2 3\n",
        "negative-dt.AT2": "a\nb\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 3, DT= -.01 SEC\n 1 2 3\n",
        "far.AT2": "a\nb\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 3, DT= .01 SEC\n 1e308 1e308 -1e308\n",
        "sizes.dat": "3\n1000000000\n0\n3000000000\n3000000000\n3000000000\t3000000000\n1 2 3\n", "minus.dat": "3\n-1\n0\n-3\n-3\n-3\t-3\n",
        "dimension.dat": "7\n1\n0\n7\n7\n7\t7\n" + "1 " * 49 + "1 " * 8, "nan.dat": "3\n1\n0\n3\n3\n3\t3\n" + "nan " * 9 + "0 0 0\n0.5\n",
    }  # fmt: skip
    for name, content in files.items():
        path = folder / "sizes" / name
        make = _writes(path, content)
        if name.endswith(".dat"):
            yield Attack(f"solve {name}", ["solve", str(path), "--json"], make=make)
        elif name == "pieces.json":  # our own form is taken as it is: that blocks are unsound, `check` says
            yield Attack(f"check {name}", ["check", str(path), "--json"], (1,), make)
        else:
            yield from _readers(path, folder, make, (1, 2))


def _box(x: float) -> str:
    corners = [[x + i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return f'"vertices": {corners}, "faces": {faces}'


def _names(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """Names that would be paths, markup, commands or thousands of lines if they were taken for such: read and written, and
    nothing is written elsewhere."""
    names = ["../../../evil", "/etc/passwd", "a\nb", "solid\nendsolid", "<script>alert(1)</script>", "$(touch evil)", "\u202e", "%n%s",
             "a" * 100_000, "", ".", "\x1b[2J", "\x00", "\ud800", "con", "g\n v 0 0 0"]  # fmt: skip
    for i, name in enumerate(names):
        block = f'{{{_box(0)}, "name": {json.dumps(name)}, "group": {json.dumps(name)}}}'
        path = folder / "names" / f"{i}.json"
        make = _writes(path, f'{{"blocks": [{block}]}}')
        yield Attack(f"check a block named {name[:20]!r}", ["check", str(path), "--json"], ANY, make)
        for suffix in ("obj", "stl", "ply", "off", "3dm", "dxf", "compas.json", "json"):
            out = folder / "out" / f"named-{i}.{suffix}"
            yield Attack(
                f"convert a block named {name[:20]!r} to {suffix}", ["convert", str(path), str(out), "--json"], ANY, make
            )


def _cases(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """Cases that parse and ask for what cannot be."""
    place = folder / "cases"
    place.mkdir(parents=True)
    beside(place)
    secret = folder / "secret" / "ground.txt"
    _writes(secret, "password = hunter2\n" * 3)()
    (place / "link.json").symlink_to(secret)
    (place / "link.AT2").symlink_to(secret)
    changes = {
        "time-step-tiny": ('time_step = "4 ms"', "time_step = 1e-300"), "time-step-small": ('time_step = "4 ms"', 'time_step = "1 us"\ntheta=0.1'),
        "duration-huge": ('duration = "2 s"', "duration = 1e300"), "amplitude-huge": ('"0.25 g"', "1e309"), "unit": ('"0.25 g"', '"0.25 kg"'),
        "unit-of-time": ('"0.5 s"', '"0.5 m"'), "no-unit": ('"0.5 s"', '"0.5"'), "friction-negative": ("0.7", "-0.7"), "friction-nan": ("0.7", "nan"),
        "monitor-unknown": ('["block"]', '["../../etc/passwd"]'), "record-of-passwd": ("ground.AT2", "/etc/passwd"),
        "record-above": ("ground.AT2", "../secret/ground.txt"), "record-link": ("ground.AT2", "link.AT2"), "record-zero": ("ground.AT2", "/dev/zero"),
        "record-folder": ("ground.AT2", "/"), "record-nul": ("ground.AT2", "a\\u0000b"), "record-long": ("ground.AT2", "x" * 5000),
        "record-itself": ("ground.AT2", "record-itself.toml"), "band": ('pga = "0.2 g"', 'band = ["1e-9 Hz", "1 Hz"]'),
        "band-reversed": ('pga = "0.2 g"', 'band = ["9 Hz", "1 Hz"]'), "every-tiny": ('every = "20 ms"', "every = 1e-9"), "seed-huge": ("seed = 3", f"seed = {10**30}"),
        "seed-negative": ("seed = 3", "seed = -1"), "cov-huge": ("cov = 0.1", "cov = 1e300"), "width-zero": ('"0.2 m"', '"0 m"'), "width-negative": ('"0.2 m"', '"-1 m"'),
        "width-tiny": ('"0.2 m"', '"1e-300 m"'), "width-huge": ('"0.2 m"', '"1e300 m"'), "generator-list": ('"block"\nwidth', '["block"]\nwidth'),
    }  # fmt: skip
    for name, (old, new) in changes.items():
        yield from _tried(folder, name, _changed(HISTORY, old, new), (1, 2) if name == "width-tiny" else REFUSED)
    statics = {
        "file-passwd": ('"arch.json"', '"/etc/passwd"'), "file-above": ('"arch.json"', '"../secret/ground.txt"'), "file-link": ('"arch.json"', '"link.json"'),
        "file-zero": ('"arch.json"', '"/dev/zero"'), "file-nul": ('"arch.json"', '"a\\u0000b.json"'), "file-long": ('"arch.json"', f'"{"x" * 5000}.json"'),
        "blocks-many": ("blocks = 5", f"blocks = {10**9}"), "blocks-more": ("blocks = 5", f"blocks = {10**30}"), "blocks-none": ("blocks = 5", "blocks = 0"),
        "name-same": ('name = "right"', 'name = "left"'), "name-empty": ('name = "right"', 'name = ""'), "force-huge": ('"1 kN"', "1e400"), "on-nothing": ("left-voussoir-3", "nothing"),
        "direction-null": ("direction = [1, 0, 0]", "direction = [0, 0, 0]"), "at-far": ('at = ["50 m"', 'at = ["1e300 m"'), "at-same": ('at = ["50 m", 0, 0]\n', ""),
        "tolerance-nought": ("1e-6", "0.0"), "threads": ("tolerance = 1e-6", f"threads = {-1}"), "chip-huge": ("chip = 0.001", "chip = 0.5"),
    }  # fmt: skip
    overlap = {"at-same", "name-same"}
    for name, (old, new) in statics.items():
        yield from _tried(folder, name, _changed(STATICS, old, new), (1, 2) if name in overlap else REFUSED)
    many = {
        "wall": "courses = 1000000\nblocks = 1000000", "dome": "rings = 100000\nblocks = 100000", "tower": "blocks_per_side = 100000", "drum-column": "sides = 100000000",
        "drum-column-2": "drums = 100000000", "house": "courses = 100000000", "church": "courses = 100000000", "portal": "courses = 1000000000", "column": "courses = 1000000000",
        "corbelled-cylinder": "rings = 100000\nsectors = 100000", "barrel-vault": "courses = 100000\nblocks = 100000", "cross-vault": "courses = 100000001",
        "wall-over-gap": "blocks = 100000000", "spandrel-arch": "blocks = 100000000", "buttressed-arch": "blocks = 1000000001", "pillar-and-lintel": "columns = 100000000",
        "wall-2": "length = 1e12", "house-2": 'stone = "1e-9 m"', "wall-3": "through = 1000000000\nbond = \"two-leaf\"",
    }  # fmt: skip
    for name, keys in many.items():
        generator = name.rstrip("-23")
        text = f'[structure]\ngenerator = "{generator}"\n{keys}\n[joints]\nfriction = 0.6\n[analysis]\nduration = 1.0\ntime_step = 0.01\n'
        yield from _tried(folder, f"many-{name}", text, (1, 2))
    motions = {
        "noise-long": 'pulse = "kanai-tajimi"\nseed = 1\namplitude = 1.0\nduration = 1e12', "noise-dense": 'pulse = "kanai-tajimi"\nseed = 1\namplitude = 1.0\nduration = 10\ntime_step = 1e-12',
        "spectrum-long": 'pulse = "spectrum"\nseed = 1\nag = 1.0\nduration = 1e9', "wavelet": 'pulse = "mavroeidis-papageorgiou"\namplitude = 1.0\nhalf_period = 1\noscillations = 1e12',
        "seed": f'pulse = "kanai-tajimi"\nseed = -{10**30}\namplitude = 1.0\nduration = 3',
    }  # fmt: skip
    for name, keys in motions.items():
        text = f'[structure]\ngenerator = "block"\n[joints]\nfriction = 0.6\n[motion]\n{keys}\n[analysis]\nduration = 1.0\ntime_step = 0.01\n'
        yield from _tried(folder, name, text)


def _changed(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new, 1)


def _tried(folder: Path, name: str, text: str, checked: tuple[int, ...] = REFUSED) -> Iterator[Attack]:
    """A case, checked and run."""
    path = folder / "cases" / f"{name}.toml"
    make = _writes(path, text)
    yield Attack(f"check case {name}", ["check", str(path), "--json"], checked, make)
    yield Attack(f"run case {name}", ["run", str(path), "-o", str(folder / "out" / name), "--json"], make=make)


def _studies(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    place = folder / "studies"
    shutil.copytree(valid["sweep"].path.parent, place)
    changes = {
        "case-zero": ('"case.toml"', '"/dev/zero"'), "case-itself": ('"case.toml"', '"case-itself.toml"'), "case-above": ('"case.toml"', '"../../nothing.toml"'),
        "case-nul": ('"case.toml"', '"a\\u0000b"'), "vary-nothing": ("[0.4, 0.7]", "[]"), "vary-place": ('"joints.friction"', '"no.such.place"'),
        "vary-deep": ('"joints.friction"', '"' + "a." * 5000 + 'a"'), "vary-empty": ('"joints.friction"', '""'), "vary-dots": ('"joints.friction"', '"..."'),
        "vary-index": ('"motion.0.amplitude"', '"motion.99999999999999999999.amplitude"'), "time-limit": ('"2 min"', "0"), "keep": ('"none"', '"../../x"'),
        "vary-many": ("[0.4, 0.7]", str([0.4] * 20_000)),
        "vary-table": ("[0.4, 0.7]", "[{a = 1}]"), "vary-unicode": ('"motion.0.amplitude"', '"motion.\u00b2.amplitude"'),
    }  # fmt: skip
    for name, (old, new) in changes.items():
        path = place / f"{name}.toml"
        yield Attack(f"study {name}", ["study", str(path), "-o", str(folder / "out" / name), "--json"],
                     ANY if name == "vary-many" else REFUSED, _writes(path, _changed(SWEEP, old, new)))  # fmt: skip
    domain = {"count-huge": ("count = 5", "count = 1000000000"), "resolution": ('"5 %"', '"1e-30 %"'), "range": ('"0.15 s"', '"1e-300 s"'),
              "full-number": ("[study.full]\nscan = 6", "full = 3"), "full-list": ("[study.full]\nscan = 6", "full = [1]")}  # fmt: skip
    for name, (old, new) in domain.items():
        path = place / f"domain-{name}.toml"
        yield Attack(f"study domain {name}", ["study", str(path), "-o", str(folder / "out" / name), "--json", "--full"],
                     ANY if name == "range" else REFUSED, _writes(path, _changed(DOMAIN, old, new)))  # fmt: skip
    for spoilt, texts in {
        "study.json": ("[]", "{}", "null", '{"study": 1, "case": [], "full": "x"}', "\0", "[" * 100_000, '{"study": "/dev/zero", "case": "a\\u0000", "full": 1}'),
        "trials.jsonl": ("[]\n", "{}\n", "1\n", "[" * 100_000 + "\n", "\xff\n", '{"key": 1, "sample": 1, "status": 1, "reason": 1, "numbers": 1, "seconds": 1}\n',
                         '{"key": "abc", "sample": {"joints.friction": NaN}, "status": "x", "reason": "", "numbers": [], "seconds": "x"}\n'),
        "case.toml": ("", "\0", "[study]\n"), "study.toml": ("", "\0", "[structure]\n"),
    }.items():  # fmt: skip
        for i, text in enumerate(texts):
            place = folder / f"begun-{spoilt}-{i}"
            make = copy_of(valid[f"begun-{spoilt}"], place, text.encode("latin-1"))
            if spoilt != "trials.jsonl":
                yield Attack(
                    f"resume a study with {spoilt} {text[:20]!r}", ["study", "--resume", str(place), "--json"], make=make
                )
            yield Attack(f"a trial of a study with {spoilt} {text[:20]!r}",
                         ["study", str(place), "--trial", "a", "-o", str(folder / "out" / place.name), "--json"],
                         (2, 3) if "NaN" in text else REFUSED, make)  # fmt: skip


def _npy(shape: tuple[int, ...], body: bytes, kind: str = "<f8") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


def _zip(members: dict[str, Content]) -> Callable[[], bytes]:
    def archive() -> bytes:
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
            for name, said in members.items():
                file.writestr(name, said() if callable(said) else said)
        return content.getvalue()

    return archive


def _archives(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """Dumps of contact problems that are bombs, and other archives."""
    whole = valid["dump"].path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    changed: dict[str, dict[str, Content]] = {
        "bomb": {"problem_mass.npy": lambda: _npy((25_000_000,), ZEROS())}, "said-huge": {"problem_mass.npy": _npy((10**15,), b"")},
        "overflow": {"problem_mass.npy": _npy((2**62, 2**62), b"")}, "negative": {"problem_mass.npy": _npy((-1,), b"")},
        "objects": {"problem_mass.npy": _npy((1,), b"cos\nsystem\n(S'touch evil'\ntR.", "|O")}, "no-array": {"problem_mass.npy": b"hello"},
        "about-number": {"about.npy": _npy((1,), b"\0" * 8)}, "text": {"problem_mass.npy": _npy((1,), b"abcd", "<U1")},
        "head": {"problem_mass.npy": b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535}, "version-3": {"problem_mass.npy": b"\x93NUMPY\x03\x00" + b"\xff" * 4 + b"{" * 99},
        "about-bomb": {"about.npy": lambda: _npy((), b"a\0\0\0" * 40_000_000, "<U40000000")}, "about-deep": {"about.npy": _npy((), ("[" * 50_000).encode("utf-32-le"), "<U50000")},
        "../../evil.npy": {"../../evil.npy": b"evil"}, "method": {"about.npy": _npy((), '{"method": ["x"]}'.encode("utf-32-le"), "<U17")},
    }  # fmt: skip
    for name, change in changed.items():
        path = folder / "archives" / f"{name.strip('./').replace('/', '-')}.npz"
        codes = ANY if name == "../../evil.npy" else REFUSED
        yield Attack(f"solve an archive: {name}", ["solve", str(path), "--json"], codes, _writes(path, _zip(members | change)))
    for name, content in {"cut.npz": whole[:-30], "many.npz": _zip({f"{i}.npy": b"" for i in range(20_000)})}.items():
        path = folder / "archives" / name
        yield Attack(f"solve {name}", ["solve", str(path), "--json"], make=_writes(path, content))
    for suffix in ("3dm", "dxf", "json", "toml", "stl", "ply", "AT2"):
        path = folder / "archives" / f"bomb.{suffix}"
        yield from _readers(path, folder, _writes(path, _zip({"model": ZEROS})))


def _hdf5(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """run.h5 and FCLIB files with links to other files, in a circle, of sizes that are not there, compressed to nothing."""
    secret = folder / "secret" / "other.h5"
    secret.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(secret, "w") as file:
        file["secret"] = np.arange(3.0)

    def replace(file: h5py.File, key: str, **how) -> None:
        del file[key]
        file.create_dataset(key, **how)

    def link(file: h5py.File, key: str, target) -> None:
        del file[key]
        file[key] = target

    spoilers: dict[str, Callable[[h5py.File], object]] = {
        "external link": lambda f: link(f, "frames/position", h5py.ExternalLink(str(secret), "/secret")),
        "external group": lambda f: link(f, "model", h5py.ExternalLink(str(secret), "/")),
        "external device": lambda f: link(f, "frames/position", h5py.ExternalLink("/dev/zero", "/secret")),
        "soft link to nothing": lambda f: link(f, "frames/position", h5py.SoftLink("/nothing")),
        "soft link to itself": lambda f: link(f, "frames/position", h5py.SoftLink("/frames/position")),
        "circle": lambda f: link(f, "model", f["/"]),
        "group for data": lambda f: link(f, "frames/position", f["model"]),
        "huge": lambda f: replace(f, "frames/position", shape=(10**6, 10**6, 3), dtype="f8", chunks=(1, 1000, 3)),
        "huge head": lambda f: replace(f, "frames/head", shape=(10**12,), dtype=f["frames/head"].dtype, chunks=(64,)),
        "bomb": lambda f: replace(f, "model/vertices", shape=(20_000_000, 3), dtype="f8", chunks=(100_000, 3), compression="gzip"),
        "texts": lambda f: replace(f, "frames/position", data=["a", "b"]),
        "committed -1": lambda f: f["committed"].write_direct(np.array(-1)),
        "committed 10^18": lambda f: f["committed"].write_direct(np.array(10**18)),
        "committed 0": lambda f: f["committed"].write_direct(np.array(0)),
        "no frames": lambda f: f.__delitem__("frames"), "no model": lambda f: f.__delitem__("model"), "no committed": lambda f: f.__delitem__("committed"),
        "no contacts": lambda f: f.__delitem__("contacts"), "no steps": lambda f: f.__delitem__("steps"), "no planned": lambda f: f.attrs.__delitem__("planned_steps"),
        "format": lambda f: f.attrs.__setitem__("format", 999), "format text": lambda f: f.attrs.__setitem__("format", "x" * 50_000),
        "counts": lambda f: f["model/vertex_count"].write_direct(np.array([10**12, 1])), "negative": lambda f: f["model/face_size"].write_direct(np.full(12, -4)),
        "corner": lambda f: f["model/face_vertex"].write_direct(np.full(48, 10**9)), "nan": lambda f: f["frames/position"].write_direct(np.full(f["frames/position"].shape, np.nan)),
        "external data": lambda f: replace(f, "frames/position", shape=(11, 2, 3), dtype="f8", external=[("/etc/passwd", 0, 528)]),
    }  # fmt: skip
    later = {"no contacts", "no steps", "texts", "nan", "huge"}  # seen by those commands only that ask for it
    for name, spoil in spoilers.items():
        place = folder / "runs" / name.replace(" ", "-")
        codes = ANY if name in later or name == "no planned" else REFUSED
        yield from _run_attacks(valid["run"], place, f"a run: {name}", copy_of(valid["run"], place, _hdf5_spoilt(spoil)), codes)
    whole = valid["run"].path.read_bytes()
    contents = {
        "text": b"hello",
        "empty": b"",
        "signature": b"\x89HDF\r\n\x1a\n",
        "cut": whole[: len(whole) // 2],
        "other": secret.read_bytes(),
    }
    for name, content in contents.items():
        place = folder / "runs" / f"whole-{name}"
        make = copy_of(valid["run"], place, content)
        yield from _run_attacks(valid["run"], place, f"a run that is {name}", make)
        yield Attack(f"solve HDF5 that is {name}", ["solve", str(place / "run.h5"), "--json"], make=make)
    page = struct.pack("<QQQ", len(whole), 1, 0)
    journals = {
        "text": b"hello",
        "empty": b"",
        "counts": b"\xff" * 64,
        "cut": page + b"x" * 100,
        "another head": page + b"x" * 4096,
    }
    for name, content in journals.items():
        place = folder / "runs" / f"journal-{name.replace(' ', '-')}"
        make = copy_of(valid["run"], place, functools.partial(_beside_it, "run.h5.journal", content))
        yield from _run_attacks(valid["run"], place, f"a run with a journal of {name}", make)
    for name, change in {
        "no": Path.unlink,
        "empty": lambda path: path.write_text(""),
        "a folder for": lambda path: (path.unlink(), path.mkdir()),
    }.items():
        place = folder / "runs" / f"case-{name.replace(' ', '-')}"
        make = copy_of(valid["run"], place, functools.partial(lambda change, path: change(path.with_name("case.toml")), change))
        yield from _run_attacks(valid["run"], place, f"a run with {name} case", make, ANY)
    for text in ("", "[]", "1", "{", "\0", '{"analysis": 1}', '{"analysis": "limit"}', "[" * 100_000, "\xff"):
        place = folder / "runs" / f"result-{len(text)}-{text[:1].encode().hex()}"
        make = copy_of(valid["run-result"], place, text.encode("latin-1"))
        yield from _run_attacks(
            valid["run-result"], place, f"a result {text[:20]!r}", make, ANY if "limit" in text else REFUSED
        )
    for name, spoil in {
        "external": lambda f: link(f, "fclib_local/W", h5py.ExternalLink(str(secret), "/")),
        "circle": lambda f: link(f, "fclib_local/W", f["fclib_local"]),
        "huge": lambda f: replace(f, "fclib_local/vectors/q", shape=(10**12,), dtype="f8", chunks=(1000,)),
        "bomb": lambda f: replace(f, "fclib_local/vectors/q", shape=(2 * 10**9,), dtype="f8", chunks=(10**6,), compression="gzip"),
        "sizes": lambda f: f["fclib_local/W/m"].write_direct(np.array([2**31 - 1], np.int32)),
        "dimension": lambda f: f["fclib_local/spacedim"].write_direct(np.array([-3], np.int32)),
        "compound": lambda f: replace(f, "fclib_local/vectors/q", data=np.zeros(6, [("a", "f8")])),
    }.items():  # fmt: skip
        place = folder / "fclib" / name
        make = copy_of(valid["fclib"], place, _hdf5_spoilt(spoil))
        yield Attack(
            f"solve FCLIB: {name}", filled(valid["fclib"].commands[0], place / valid["fclib"].path.name, place), make=make
        )


def _hdf5_spoilt(spoil: Callable[[h5py.File], object]) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        with h5py.File(path, "r+") as file:
            spoil(file)

    return change


def _beside_it(name: str, content: bytes, path: Path) -> None:
    path.with_name(name).write_bytes(content)


def _run_attacks(
    run: Valid, place: Path, name: str, make: Callable[[], object], codes: tuple[int, ...] = REFUSED
) -> Iterator[Attack]:
    """All that reads the folder of a run."""
    for command in run.commands:
        yield Attack(
            f"{command[0]} {name}", filled(command, place / run.path.name, place.parents[1] / "out" / place.name), codes, make
        )


def _meshes(folder: Path, valid: dict[str, Valid]) -> Iterator[Attack]:
    """A million faces, and blocks of a hundred thousand corners."""
    rng = np.random.default_rng(5)

    def sphere() -> str:
        points = rng.standard_normal((100_000, 3))
        points /= np.linalg.norm(points, axis=1)[:, None]
        return "".join(f"v {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in points)

    def soup() -> str:
        return sphere() + "".join(f"f {a} {b} {c}\n" for a, b, c in rng.integers(1, 100_001, (100_000, 3)))

    def polygon() -> str:
        return sphere() + 4 * ("f " + " ".join(map(str, range(1, 100_001))) + "\n")

    def million() -> bytes:
        triangles = np.zeros(1_000_000, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        triangles["corners"] = rng.standard_normal((1_000_000, 3, 3))
        return b"\0" * 80 + struct.pack("<I", 1_000_000) + triangles.tobytes()

    def same() -> str:
        return "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" + "f 1 2 3\n" * 1_000_000

    def rhino() -> bytes:
        import rhino3dm

        mesh, file, path = rhino3dm.Mesh(), rhino3dm.File3dm(), folder / "meshes" / "model.3dm"
        for _ in range(1000):
            mesh.Vertices.Add(0, 0, 0)
        for _ in range(12):
            mesh.Append(mesh.Duplicate())
        file.Objects.AddMesh(mesh)
        path.parent.mkdir(parents=True, exist_ok=True)
        file.Write(str(path), 7)
        return path.read_bytes()

    for name, content in {
        "zeros.3dm": rhino,
        "soup.obj": soup,
        "polygon.obj": polygon,
        "same-face.obj": same,
        "million.stl": million,
    }.items():
        path = folder / "meshes" / name
        yield from _readers(path, folder, _writes(path, content), ANY)
