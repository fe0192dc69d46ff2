"""Published numbers computed again: `drystone validate`. One file a subject; `subjects.py` lists them."""
