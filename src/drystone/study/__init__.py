"""Studies: one case is computed many times with different numbers. Its trials and their outcomes (trial_records.py) are stored
in a table on disk, and the study proposes the next trials from them."""
