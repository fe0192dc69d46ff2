"""What every room stands on and what knows nothing of masonry: units, errors, compiled kernels, files, signals."""
