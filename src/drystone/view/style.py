"""How every plot looks: `drawing` gives a figure to draw in and writes it to PNG, SVG or PDF, by the suffix of the path.

Colours are Okabe and Ito's, which every eye tells apart; lines that may cross have styles besides. The same numbers give the
same bytes: no dates, no random names. What has thousands of dots is kept as pixels in SVG and PDF.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from drystone.errors import InputError
from drystone.io.whole import whole

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # without the yellow, pale on white
BLUE, RED = COLOURS[:2]
LINES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX"
FAINT = "0.6"  # grey of axes through zero and of limits
COLUMN, PAGE, SHEET = 3.5, 7.0, 11.0  # [in] width of a plot in a column of a paper, on a page, on a page laid sideways
SUFFIXES = (".png", ".svg", ".pdf")

_STYLE: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters on every machine
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.dpi": 150,
    "savefig.dpi": 150,
    "svg.hashsalt": "drystone",
    "pdf.fonttype": 42,  # letters stay letters
}
_UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}


@contextmanager
def drawing(*paths: str | Path, width: float = PAGE, height: float = 5.0) -> Iterator[Any]:
    """A figure of a size [in] to draw in; at the end it is in each of the files."""
    files = [Path(path) for path in paths]
    for file in files:
        if file.suffix.lower() not in SUFFIXES:
            raise InputError(f"{file}: plots are written as {', '.join(SUFFIXES)}; give the path one of these endings")
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("matplotlib is needed to draw curves; install it with: pip install 'drystone[plot]'") from None
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure
        for file in files:
            kind = file.suffix.lower()
            with whole(file) as part:
                figure.savefig(part, format=kind[1:], metadata=_UNDATED[kind])


def look(number: int) -> dict[str, Any]:
    """The colour and style of one of several lines; 28 are told apart."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": LINES[number % len(LINES)]}
