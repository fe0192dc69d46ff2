"""All commands with a line about each, by what one does with them: what `drystone --help` prints.

Nothing is imported here: to print the help, Typer alone would take longer than all the rest. `tests/unit/test_start.py` holds
the lines against the commands themselves (options.py).
"""

ABOUT = "How a historical masonry structure stands, moves and falls."

OPTIONS = {
    "--version": "Print the version.",
    "--json": "Print one JSON object on standard output.",
    "--help": "Show this message and exit.",
}

GROUPS = {
    "Build": {
        "new": "Print a commented case to start from.",
        "studio": "Build with sliders and see at once how it stands and fails.",
        "check": "Say what a structure is and what is wrong with it; repair it.",
        "convert": "Write blocks of one format in another, in m with z up.",
        "schema": "Print the JSON schema of the case file, for editors.",
    },
    "Compute": {
        "run": "Compute a case, or go on with one that was cut.",
        "search": "Find the least value for which it rocks, overturns or stands.",
        "record": "Say what ground motions are like: peaks, durations, spectra.",
        "study": "Try a case many times: sweeps, failure domains, fragility.",
        "solve": "Solve one contact problem from a file.",
    },
    "Look at it, pass it on": {
        "view": "Show runs in the browser, also while they are computed.",
        "picture": "Draw a frame of a run, or a case before it is run.",
        "movie": "Make a movie of a run; of statics, of its mechanism.",
        "plot": "Draw curves of a run or a study: histories, energies, domains ...",
        "info": "Summarise a run.",
        "report": "Write a report of a run: verdict, pictures, input, certificate.",
        "export": "Write a run for ParaView, Blender, spreadsheets or CAD.",
    },
    "Trust it": {
        "verify": "Compute a run again and compare bit for bit.",
        "validate": "Compute published numbers again and judge them.",
        "compile": "Compile all kernels now: for containers and clusters.",
    },
}

TO_BEGIN = """\
  To begin: drystone new arch > arch.toml; drystone run arch.toml -o out;
  drystone view out. drystone COMMAND --help tells more of one."""


def help_text() -> str:
    """What `drystone --help` prints."""
    sections = [f"{title}:\n{_rows(rows)}" for title, rows in ({"Options": OPTIONS} | GROUPS).items()]
    return "\n\n".join(["Usage: drystone [OPTIONS] COMMAND [ARGS]...", f"  {ABOUT}", *sections, TO_BEGIN])


def _rows(rows: dict[str, str]) -> str:
    return "\n".join(f"  {name:9} {line}" for name, line in rows.items())
