"""The options about pictures, as those who draw take them."""

from typing import Any

from drystone.errors import InputError

SIZE = "1280x720"


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def pixels(size: str) -> tuple[int, int]:
    """The option --size."""
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal() and 16 <= int(width) <= 16384 and 16 <= int(height) <= 16384):
        raise InputError(f"--size {size}: give width and height, 16 to 16384 pixels each, as 1920x1080")
    return int(width), int(height)
