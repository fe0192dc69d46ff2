"""The options of geometry files, converted to the arguments of `read_structure`."""

from typing import Any

from drystone.base.units import parse_quantity


def geometry_options(
    unit: str | None, up: str | None, supports: list[str] | None, only: list[str] | None, depth: str | None
) -> dict[str, Any]:
    """Return the keyword arguments of `read_structure`."""
    chosen: str | list[str] = "lowest" if supports == ["lowest"] else supports or []
    thickness = None if depth is None else parse_quantity(depth, "length")
    return {"unit": unit, "up": up, "supports": chosen, "only": only or [], "depth": thickness}
