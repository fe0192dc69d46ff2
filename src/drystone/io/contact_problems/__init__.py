"""Contact problems in files: those of other programs and our own."""
