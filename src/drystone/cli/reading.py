"""The options about geometry files, as `read_structure` takes them."""

from typing import Any

from drystone.units import quantity


def reading(unit: str | None, up: str | None, supports: list[str] | None, only: list[str] | None, depth: str | None) -> Any:
    """The keywords of `read_structure`."""
    chosen: str | list[str] = "lowest" if supports == ["lowest"] else supports or []
    thick = None if depth is None else quantity(depth, "length")
    return {"unit": unit, "up": up, "supports": chosen, "only": only or [], "depth": thick}
