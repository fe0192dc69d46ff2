"""Statics: whether a structure stands, how its forces may run, what load it bears and how it gives way."""
