"""The one exception a user sees: bad input, refused at the door with the block, the value and the cure."""


class InputError(ValueError):
    """Input that drystone refuses. The message names where, what value, and how to cure it."""
