"""Contact detection: blocks and their poses come in, `Contacts` go out."""
