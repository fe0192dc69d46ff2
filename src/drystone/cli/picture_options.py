"""The options of pictures, converted to the arguments of the functions that draw."""

from typing import Any

from drystone.base.errors import InputError

DEFAULT_SIZE = "1280x720"


def without_none(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave."""
    return {name: value for name, value in options.items() if value is not None}


def parse_size(size: str) -> tuple[int, int]:
    """Parse the value of --size.

    >>> parse_size("1920x1080")
    (1920, 1080)
    """
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal() and 16 <= int(width) <= 16384 and 16 <= int(height) <= 16384):
        raise InputError(f"--size {size}: give width and height between 16 and 16384 pixels, as 1920x1080")
    return int(width), int(height)
