"""`drystone check`: describe a structure and find its defects. Modules that one option needs are loaded for it alone."""

from pathlib import Path
from typing import Any

from drystone.analysis.forecast import summarise_case
from drystone.base.errors import InputError
from drystone.cli.compiling_notice import show_compiling_notice
from drystone.cli.geometry_options import geometry_options
from drystone.cli.output import EXIT_DONE, EXIT_UNSOUND, print_json
from drystone.io.case import Case, read_case
from drystone.io.doctor.examination import GAP_TOLERANCE, Examination, examine
from drystone.show.tables.summary_tables import print_check
from drystone.structure.model import Block


def check(
    source: Path, fix: Path | None, within: float | None, picture: Path | None, unit: str | None, up: str | None,
    supports: list[str] | None, only: list[str] | None, depth: str | None, json: bool,
) -> int:  # fmt: skip
    blocks, case = _read_blocks(source, geometry_options(unit, up, supports, only, depth))
    show_compiling_notice()
    share = GAP_TOLERANCE if within is None else within
    if not 0 <= share <= 0.1:
        raise InputError(f"--within {share}: give a share of the block size between 0 and 0.1")
    report = examine(blocks, within=share)
    summary = report.facts | {"findings": report.listed()}
    if case is not None and not report.errors:
        summary |= summarise_case(case)
        summary |= {"closed_gaps": [gap._asdict() for gap in case.closed_gaps()]}
    if fix is not None:
        repaired, repairs = _repair(report, source, fix, share)
        summary |= {"fixed": str(fix), "repairs": repairs, "remaining": repaired.listed()}
        report = repaired
    if picture is not None:
        from drystone.show.pictures.defect_picture import defects_picture

        defects_picture(report, picture)
        summary["picture"] = str(picture)
    print_json(summary) if json else print_check(summary)
    return EXIT_UNSOUND if report.errors else EXIT_DONE


def _read_blocks(source: Path, options: dict[str, Any]) -> tuple[list[Block], Case | None]:
    """Return the blocks of a geometry file, or the blocks of a case and the case."""
    if source.suffix != ".toml":
        from drystone.io.geometry.structure_file import read_structure

        return read_structure(source, refuse=False, **options), None
    if any(options.values()):
        raise InputError(f"{source}: a case file itself says how its geometry is read; leave out --unit and similar options")
    case = read_case(source)
    return case.blocks(), case


def _repair(report: Examination, source: Path, out: Path, within: float) -> tuple[Examination, list[dict[str, Any]]]:
    """Repair the blocks, write them and examine them again; return the new report and the repairs."""
    from drystone.io.doctor.structure_repair import repair
    from drystone.io.geometry.structure_file import write_structure

    if out.exists():
        raise InputError(f"--fix {out}: this file already exists, and a repair never overwrites a file; give another name")
    blocks, repairs = repair(report.blocks, within=within)
    write_structure(out, blocks)
    return examine(blocks, within=within), [{"kind": each.kind, "block": each.block, "said": each.message} for each in repairs]
