"""Recorded and synthetic ground motions: accelerograms, intensity measures, corrections and response spectra."""
