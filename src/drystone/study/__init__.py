"""Studies: one case tried many times, each time with other numbers in it. Trials and what came of them (trials.py) are kept in
a table on disk; a study proposes what to try next from what is there."""
