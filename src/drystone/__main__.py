"""`python -m drystone` is the program `drystone`."""

from drystone.cli import main

if __name__ == "__main__":
    main()
