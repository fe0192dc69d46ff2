"""The base class of all tables of a case."""

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from drystone.base.errors import InputError, truncated_repr
from drystone.base.units import Time


class Table(BaseModel):
    """A table of a case. It forbids unknown keys and infinite numbers, and is immutable."""

    # Validators are built when a table is first used: a case uses only a few of the tables.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def _direction(value: Any) -> Any:
    if not isinstance(value, (list, tuple)) or len(value) != 3 or not all(type(x) in (int, float) for x in value):
        raise InputError(f"{truncated_repr(value)} is not a direction; give three numbers [x, y, z]")
    if not any(value) or not all(math.isfinite(x) for x in value):
        raise InputError(f"{truncated_repr(list(value))} has no direction; give three numbers [x, y, z], not all zero")
    return tuple(value)


Direction = Annotated[tuple[float, float, float], BeforeValidator(_direction)]
PositiveTime = Annotated[Time, Field(gt=0)]
