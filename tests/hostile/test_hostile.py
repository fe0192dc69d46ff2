"""Bad input: every hostile file ends in one message and exit code 2, soon, in little memory, and writes nothing.

What is true: the sentence above, of each file and each command that reads it. A file that was spoilt by chance may still be
valid; it must then end like any other. Short here; the long one is marked `soak`.
"""

import random

import pytest

from tests.hostile import made, spoil, walk
from tests.hostile.court import defects, report, tree, tried
from tests.hostile.valid import valid_files

SEED = 9


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    return valid_files(tmp_path_factory.mktemp("valid"))


def judged(attacks, folder):
    """Try them all; nothing but what was asked for may have been written."""
    (folder / "out").mkdir(exist_ok=True)
    before = tree(folder)
    outcomes = tried(attacks, folder)
    after = {path: said for path, said in tree(folder).items() if path not in ("orders.json", "results.jsonl")}
    written = {path for path, said in after.items() if before.get(path) != said and "out" not in path.split("/")[:2]}
    assert report(outcomes) == ""
    assert written == set()
    assert before.keys() - after.keys() == set()
    return outcomes


def test_the_valid_files_are_valid(valid, tmp_path):
    """Else nothing that is spoilt in them would be seen."""
    attacks = [spoil.attack_on(each, command, each.path.read_bytes(), tmp_path / f"{each.name}-{i}", each.name, (0, 1))
               for each in valid for i, command in enumerate(each.commands)]  # fmt: skip
    judged(attacks, tmp_path)


def test_the_court_sees_a_defect(tmp_path):
    """A traceback, a hang and too much memory are told."""
    from tests.hostile.court import Attack, Outcome

    fine = Outcome(Attack("", ["check"]), 2, "", "drystone: x: no; give y\n", 0.1)
    assert defects(fine) == ""
    assert defects(fine._replace(code="a traceback"))
    assert defects(fine._replace(code=0))
    assert defects(fine._replace(err=fine.err * 2))
    assert defects(fine._replace(seconds=60.0))
    assert defects(fine._replace(attack=Attack("", ["check", "--json"]), out='{"a": NaN}'))


def test_a_few_of_each(valid, tmp_path):
    """Of those made by hand, of every key of every table, of those spoilt by chance: the same few every time."""
    chance = random.Random(SEED)
    by_hand = made.made(tmp_path / "made", {each.name: each for each in valid})
    keys = list(walk.walked(tmp_path / "keys", SEED, 1))
    spoilt = [attack for each in valid for attack in spoil.spoilt(each, tmp_path / "spoilt", SEED, 2)]
    (tmp_path / "made" / "out").mkdir()
    (tmp_path / "spoilt" / "out").mkdir()
    (tmp_path / "keys" / "out").mkdir()
    assert len(by_hand) + len(keys) + len(spoilt) >= 300
    judged([*chance.sample(by_hand, 150), *chance.sample(keys, 150), *chance.sample(spoilt, 30)], tmp_path)


@pytest.mark.soak
def test_made_by_hand(valid, tmp_path):
    attacks = made.made(tmp_path, {each.name: each for each in valid})
    assert len(attacks) >= 300
    judged(attacks, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_spoilt_by_chance_for_long(valid, tmp_path, seed):
    judged([attack for each in valid for attack in spoil.spoilt(each, tmp_path, seed, 25)], tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_every_key_for_long(tmp_path, seed):
    judged(list(walk.walked(tmp_path, seed, 4)), tmp_path)
