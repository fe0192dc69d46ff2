"""Curves and diagrams of runs, analyses, studies and ground motions."""
