"""Export of runs for other programs: one module per format; `frames` selects the frames."""
