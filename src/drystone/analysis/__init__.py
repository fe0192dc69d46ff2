"""The analyses of statics: each takes a case, yields stages and returns its result. One file per family of analyses."""
