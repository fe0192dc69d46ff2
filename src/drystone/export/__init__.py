"""Runs for other programs: a `Run` comes in, a file of ParaView, Blender or a spreadsheet goes out."""
