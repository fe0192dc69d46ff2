"""Geometry files of other programs: one reader and, where there is one, one writer a file; `structure` is the door."""
