"""Published numbers, computed again by `drystone validate`. There is one file per subject; `subjects.py` lists them."""
