"""Valid files spoilt by chance, by a seed: bytes of any file, values of any key of a TOML file."""

import datetime
import math
import random
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import tomli_w

from tests.hostile.court import ANY, REFUSED, Attack
from tests.hostile.valid import Change, Valid, copy_of, filled

NUMBERS = [b"nan", b"inf", b"-inf", b"1e308", b"1e-308", b"-0", b"-1", b"9" * 400, b"", b"1e999", b"0x10", b"1_0", b"[[1]]"]
ALWAYS_WRONG: list[Any] = [math.nan, math.inf, datetime.date(2020, 1, 1), [[[1]]], {"nothing": {"of": "it"}}]
PERHAPS: list[Any] = [1e308, 1e-308, -0.0, 0, -1, 10**9, 10**400, "", "1 parsec", "1e400 m", "nan", [], {}, True,
                      "\x00", "../" * 40, "x" * 100_000, [1e308, 1e308, 1e308], 2**63]  # fmt: skip


def attack_on(valid: Valid, command: list[str], change: Change, place: Path, name: str, codes: tuple[int, ...]) -> Attack:
    """The command on a copy of the valid file's folder, with the file changed."""
    words = filled(command, place / valid.path.name, place.parent / "out" / place.name)
    return Attack(name, words, codes, copy_of(valid, place, change))


def spoilt(valid: Valid, folder: Path, seed: int, count: int) -> Iterator[Attack]:
    """So many copies, each spoilt in one to four places, for the commands in turn."""
    chance = random.Random(f"{valid.name} {seed}")
    for i in range(count):
        content = bytearray(valid.path.read_bytes())
        done = []
        for _ in range(chance.choice((1, 1, 2, 4))):
            way = chance.choice(WAYS)
            content = way(content, chance)
            done.append(way.__name__)
        command, name = valid.commands[i % len(valid.commands)], f"{valid.name} {seed}/{i} {done}"
        yield attack_on(valid, command, bytes(content), folder / f"{valid.name}-{seed}-{i}", name, ANY)


def flipped(content: bytearray, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 8, 64))):
        if content:
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return content


def cut(content: bytearray, chance: random.Random) -> bytearray:
    return content[: chance.randrange(len(content) + 1)]


def without_a_line(content: bytearray, chance: random.Random) -> bytearray:
    lines = content.splitlines(keepends=True)
    if lines:
        del lines[chance.randrange(len(lines))]
    return bytearray().join(lines)


def with_a_line_twice(content: bytearray, chance: random.Random) -> bytearray:
    lines = content.splitlines(keepends=True)
    if lines:
        at = chance.randrange(len(lines))
        lines[at:at] = [lines[at]] * chance.choice((1, 2, 50))
    return bytearray().join(lines)


def with_another_number(content: bytearray, chance: random.Random) -> bytearray:
    found = [match.span() for match in re.finditer(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?", bytes(content))]
    if not found:
        return flipped(content, chance)
    begin, end = chance.choice(found)
    return content[:begin] + chance.choice(NUMBERS) + content[end:]


def with_a_piece_elsewhere(content: bytearray, chance: random.Random) -> bytearray:
    begin, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    at = chance.randrange(len(content) + 1)
    return content[:at] + content[begin:end] + content[at:]


def in_another_encoding(content: bytearray, chance: random.Random) -> bytearray:
    own = bytes(content)
    other = [own.decode("latin-1").encode("utf-16"), b"\xef\xbb\xbf" + own, own.replace(b"\n", b"\r\n"), own + b"\0" * 9,
             own.replace(b"e", b"\xe9"), own.replace(b"\n", b"\r")]  # fmt: skip
    return bytearray(chance.choice(other))


WAYS = [flipped, cut, without_a_line, with_a_line_twice, with_another_number, with_a_piece_elsewhere, in_another_encoding]


def tables_spoilt(valid: Valid, folder: Path, places: list[tuple[Any, ...]], value: Any, name: str) -> Iterator[Attack]:
    """The TOML file with `value` at each of the places in turn."""
    content = tomllib.loads(valid.path.read_text())
    wrong = any(value is each for each in ALWAYS_WRONG)
    for place in places:
        changed = deepcopy(content)
        here = changed
        for key in place[:-1]:
            here = here[key] if isinstance(here, list) else here.setdefault(key, {})
        here[place[-1]] = value
        label = ".".join(map(str, place))
        yield attack_on(valid, valid.commands[0], tomli_w.dumps(changed).encode(), folder / f"{valid.name}-{name}-{label}",
                        f"{valid.name} {label} = {str(value)[:30]}", REFUSED if wrong else ANY)  # fmt: skip
