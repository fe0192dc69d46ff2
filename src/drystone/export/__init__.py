"""Runs for other programs: one file a format; `frames` says which frames they get."""
