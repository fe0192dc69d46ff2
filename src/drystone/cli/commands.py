"""All commands with a line of help for each, in groups: the text of `drystone --help`.

Nothing is imported here, because loading Typer alone would take longer than all the rest of printing the help.
`tests/unit/cli/test_start.py` compares these lines with the commands themselves (options.py).
"""

ABOUT = "Compute how a historical masonry structure stands, moves and falls."

OPTIONS = {
    "--version": "Print the version.",
    "--json": "Print one JSON object on standard output.",
    "--help": "Show this message and exit.",
}

GROUPS = {
    "Build": {
        "new": "Print a commented case to start from.",
        "studio": "Build with sliders; see at once how the structure stands and fails.",
        "check": "Describe a structure, find its defects and repair them.",
        "convert": "Convert blocks to another file format, in m with z up.",
        "schema": "Print the JSON schema of the case file, for editors.",
    },
    "Compute": {
        "run": "Compute a case, or resume one that was interrupted.",
        "search": "Find the smallest value at which it rocks, overturns or stands.",
        "record": "Describe ground motions: peaks, durations, response spectra.",
        "study": "Compute a case many times: sweeps, failure domains, fragility.",
        "solve": "Solve one contact problem from a file.",
    },
    "Show and share": {
        "view": "Show runs in the browser, even while they are being computed.",
        "picture": "Draw a frame of a run, or the structure of a case.",
        "movie": "Make a movie of a run or, for statics, of its mechanism.",
        "plot": "Plot curves of a run or a study: histories, energies, domains ...",
        "info": "Summarise a run.",
        "report": "Write the report of a run: verdict, pictures, input, certificate.",
        "export": "Export a run to ParaView, Blender, spreadsheets or CAD.",
    },
    "Check the results": {
        "verify": "Compute a run again and compare the results bit for bit.",
        "validate": "Compute published numbers again and compare them.",
        "compile": "Compile all kernels now, as for containers and clusters.",
    },
}

FIRST_STEPS = """\
  First steps: drystone new arch > arch.toml; drystone run arch.toml -o out;
  drystone view out. Help about one command: drystone COMMAND --help."""


def help_text() -> str:
    """Return the text that `drystone --help` prints."""
    sections = [f"{title}:\n{_rows(rows)}" for title, rows in ({"Options": OPTIONS} | GROUPS).items()]
    return "\n\n".join(["Usage: drystone [OPTIONS] COMMAND [ARGS]...", f"  {ABOUT}", *sections, FIRST_STEPS])


def _rows(rows: dict[str, str]) -> str:
    return "\n".join(f"  {name:9} {line}" for name, line in rows.items())
