"""Every key of every table of a case and of a study: the schema is walked, not a list kept by hand."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drystone.build import GENERATORS
from drystone.io.analysis_tables import ANALYSIS_TABLES, BoundTable, LoadTable, SettlementHistoryTable
from drystone.io.case_tables import (
    AdhesionTable,
    AssemblyTable,
    DeformableTable,
    FilePartTable,
    FileStructureTable,
    JointKeys,
    JointsTable,
    OutputTable,
    RuleTable,
    ScatterTable,
    SolverTable,
    structure_table,
)  # fmt: skip
from drystone.io.motion_tables import PULSE_TABLES, AccelerogramTable
from drystone.io.starter import write_starter
from drystone.io.study_file import Conduct
from drystone.io.table_base import Table
from drystone.study.preparation import STUDY_KINDS
from tests.hostile.court import Attack
from tests.hostile.spoil import ALWAYS_WRONG, PERHAPS, tables_spoilt
from tests.hostile.valid import DOMAIN, FRAGILITY, HISTORY, STATICS, SWEEP, Valid, beside, beside_a_study, put

Place = tuple[Any, ...]

LARGE = ("church", "house", "tower", "corbelled-cylinder", "dome")  # take seconds to examine
BLOCK = '[structure]\ngenerator = "block"\n[joints]\nfriction = 0.6\n'
MOTIONS = {
    "rectangular": 'amplitude = "1 g"\nduration = 1.0', "biphasic": 'amplitude = "1 g"\nduration = 1.0',
    "half-sine": "amplitude = 1.0\nhalf_period = 0.5", "one-sine": "amplitude = 1.0\nhalf_period = 0.5",
    "sine": "amplitude = 1.0\nhalf_period = 0.5\nduration = 1.0", "ricker": "amplitude = 1.0\nhalf_period = 0.5",
    "mavroeidis-papageorgiou": "amplitude = 1.0\nhalf_period = 0.5\noscillations = 2.0",
    "settlement": 'displacement = "1 mm"\nduration = 1.0', "kanai-tajimi": "seed = 1\namplitude = 1.0\nduration = 2.0",
    "spectrum": "seed = 1\nag = 1.0\nduration = 2.0",
}  # fmt: skip


def keys_of(table: type[Table]) -> list[str]:
    return [field.alias or name for name, field in table.model_fields.items()]


def tables() -> Iterator[tuple[str, str, Place, type[Table]]]:
    """A valid text with each table, where the table is in it, and its type."""
    dynamics = "[analysis]\nduration = 1.0\ntime_step = 0.004\n"
    for generator in GENERATORS:
        yield generator, write_starter(generator), ("structure",), structure_table(generator)
    for pulse, table in PULSE_TABLES.items():
        yield f"motion {pulse}", f'{BLOCK}{dynamics}[motion]\npulse = "{pulse}"\n{MOTIONS[pulse]}\n', ("motion",), table
    yield "motion record", f'{BLOCK}{dynamics}[motion]\nrecord = "ground.AT2"\n', ("motion",), AccelerogramTable
    for kind, table in ANALYSIS_TABLES.items():
        own = dynamics if kind == "dynamics" else "[analysis]\n"
        yield f"analysis {kind}", f'{BLOCK}{own}kind = "{kind}"\n', ("analysis",), table
    by_paper = f'{BLOCK}{dynamics}kind = "settlement"\nscheme = "large-steps"\n'
    yield "settlement by cone programs", by_paper, ("analysis",), SettlementHistoryTable
    yield "file", BLOCK.replace('generator = "block"', 'file = "arch.json"') + dynamics, ("structure",), FileStructureTable
    yield "assembly", STATICS, ("structure",), AssemblyTable
    yield "part", STATICS, ("structure", "parts", 1), FilePartTable
    yield "rule", STATICS, ("joints", "rule", 0), RuleTable
    yield "load", STATICS, ("load", 0), LoadTable
    yield "joints", HISTORY, ("joints",), JointsTable
    yield "support", HISTORY, ("joints", "support"), JointKeys
    yield "scatter", HISTORY, ("joints", "scatter"), ScatterTable
    bonded = HISTORY.replace("scatter = { cov = 0.1, seed = 3 }", "adhesion = { energy = 1.0, normal_stiffness = 1e9 }")
    yield "adhesion", bonded, ("joints", "adhesion"), AdhesionTable
    yield "solver", STATICS, ("solver",), SolverTable
    yield "output", HISTORY, ("output",), OutputTable
    elastic = STATICS.replace("chip = 0.001", 'deformable = { young = "1 GPa", poisson = 0.2 }')
    yield "deformable", elastic, ("structure", "deformable"), DeformableTable
    bounds = 'kind = "equilibrium"\nbounds = [{ between = ["arch", "arch"], direction = [1, 0, 0] }]'
    yield "bound", STATICS.replace('kind = "limit"\ndirection = [1, 0, 0]', bounds), ("analysis", "bounds", 0), BoundTable
    for text, kind in ((SWEEP, "sweep"), (FRAGILITY, "fragility"), (DOMAIN, "failure-domain")):
        yield f"study {kind}", text, ("study",), STUDY_KINDS[kind]
        yield f"conduct {kind}", text, ("study",), Conduct


def walked(folder: Path, seed: int, each: int) -> Iterator[Attack]:
    """Every key with so many values that are wrong whatever the key is, and as many that may be right."""
    chance = random.Random(seed)
    for name, text, place, table in tables():
        study = text.startswith("[study]")
        command = ["study", "{file}", "-o", "{out}", "--json"] if study else ["check", "{file}", "--json"]
        place_of_it = folder / f"valid {name}"
        valid = Valid(name.replace(" ", "-"), put(place_of_it, "case.toml" if not study else "study.toml", text), [command])
        beside_a_study(place_of_it) if study else beside(place_of_it)
        for key in keys_of(table):
            values = [*chance.sample(ALWAYS_WRONG, each), *(chance.sample(PERHAPS, each) if name not in LARGE else [])]
            for i, value in enumerate(values):
                yield from tables_spoilt(valid, folder, [(*place, key)], value, f"{seed}-{i}")
        yield from tables_spoilt(valid, folder, [(*place, "no_such_key")], 1, f"{seed}-unknown")
