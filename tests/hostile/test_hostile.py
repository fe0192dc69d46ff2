"""Bad input: every hostile file ends in one message and exit code 2, soon, in little memory, and writes nothing.

What is true: the sentence above, of each file and each command that reads it. A file that was spoilt by chance may still be
valid; it must then end like any other. Short here; the long one is marked `soak`.
"""

import random
import shutil

import pytest

from tests.hostile import made, spoil, walk
from tests.hostile.court import Attack, Court, Outcome, defects, report, tree
from tests.hostile.valid import valid_files

SEED = 11


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    return valid_files(tmp_path_factory.mktemp("valid"))


@pytest.fixture(scope="module")
def court(tmp_path_factory):
    court = Court(tmp_path_factory.mktemp("home"))
    yield court
    court.close()


@pytest.fixture
def place(tmp_path):
    """Bombs are not kept."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def judged(court, attacks, folder):
    """Try them all; nothing but what was asked for may have been written."""
    for attack in attacks:
        (folder / "out").mkdir(parents=True, exist_ok=True)
        attack.make()
    before = tree(folder) | tree(court.home)
    outcomes = [court.outcome(attack) for attack in attacks]
    after = tree(folder) | tree(court.home)
    resumed = tuple(f"{o.attack.arguments[2]}/" for o in outcomes if "--resume" in o.attack.arguments and o.code != 2)
    asked = (f"{folder / 'out'}/", str(court.said), *resumed)
    assert report(outcomes) == ""
    assert [path for path, said in after.items() if before.get(path) != said and not path.startswith(asked)] == []
    assert before.keys() - after.keys() == set()


def test_the_valid_files_are_valid(court, valid, place):
    """Else nothing that is spoilt in them would be seen."""
    attacks = [spoil.attack_on(each, command, each.path.read_bytes(), place / f"{each.name}-{i}", each.name, (0, 1))
               for each in valid for i, command in enumerate(each.commands)
               if i == 0 or each.name not in ("run-case", "run-result")]  # fmt: skip
    judged(court, attacks, place)


def test_the_court_sees_a_defect():
    """A traceback, a wrong code, two messages and a file that is no JSON are told."""
    fine = Outcome(Attack("", ["check"]), 2, "", "drystone: x: no; give y\n", 0.1)
    assert defects(fine) == ""
    assert defects(fine._replace(code="a traceback"))
    assert defects(fine._replace(code=0))
    assert defects(fine._replace(err=fine.err * 2))
    assert defects(fine._replace(attack=Attack("", ["check", "--json"]), out='{"a": NaN}'))


def test_a_few_of_each(court, valid, place):
    """Of those made by hand, of every key of every table, of those spoilt by chance: the same few every time."""
    chance = random.Random(SEED)
    by_hand = made.made(place, {each.name: each for each in valid})
    keys = list(walk.walked(place, SEED, 1))
    spoilt = [attack for each in valid for attack in spoil.spoilt(each, place, SEED, 2)]
    judged(court, [*chance.sample(by_hand, 60), *chance.sample(keys, 60), *chance.sample(spoilt, 20)], place)


@pytest.mark.soak
def test_made_by_hand(court, valid, place):
    attacks = made.made(place, {each.name: each for each in valid})
    assert len(attacks) >= 300
    judged(court, attacks, place)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_spoilt_by_chance_for_long(court, valid, place, seed):
    judged(court, [attack for each in valid for attack in spoil.spoilt(each, place, seed, 25)], place)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_every_key_for_long(court, place, seed):
    judged(court, list(walk.walked(place, seed, 4)), place)
