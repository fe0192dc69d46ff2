"""Summaries and results as tables on standard output."""
