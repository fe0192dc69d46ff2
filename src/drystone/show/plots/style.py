"""The style of all plots: `drawing` gives a figure to draw in and writes it as PNG, SVG or PDF, by the suffix of the path.

The colours are those of Okabe and Ito, distinguishable with colour blindness; lines also differ in style. The same numbers give
the same bytes: there are no dates and no random names. Plots of thousands of dots are stored as pixels in SVG and PDF.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # without the yellow, pale on white
BLUE, RED = COLOURS[:2]
LINE_STYLES = ("-", "--", "-.", ":")
LINE_MARKERS = "osD^vPX"
FAINT_GREY = "0.6"  # grey of axes through zero and of limits
COLUMN_WIDTH, PAGE_WIDTH, LANDSCAPE_WIDTH = (
    3.5,
    7.0,
    11.0,
)  # [in] width of a plot in a column of a paper, on a page, on a landscape page
TIMES_SIGN, MINUS_SIGN = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"
SUPERSCRIPTS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
PLOT_SUFFIXES = (".png", ".svg", ".pdf")

_STYLE: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters on every machine
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.limits": (-3, 4),
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.dpi": 150,
    "savefig.dpi": 150,
    "svg.hashsalt": "drystone",
    "pdf.fonttype": 42,  # text is stored as text
}
_UNDATED: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}


@contextmanager
def drawing(*paths: str | Path, width: float = PAGE_WIDTH, height: float = 5.0) -> Iterator[Any]:
    """A figure of a size [in] to draw in; at the end it is written to each of the files."""
    files = [Path(path) for path in paths]
    for file in files:
        if file.suffix.lower() not in PLOT_SUFFIXES:
            raise InputError(f"{file}: plots are written as {', '.join(PLOT_SUFFIXES)}; give the path one of these endings")
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
        _label_in_plain_letters(figure)
        for file in files:
            kind = file.suffix.lower()
            with replace_atomically(file) as part:
                figure.savefig(part, format=kind[1:], metadata=_UNDATED[kind])


def _label_in_plain_letters(figure: Any) -> None:
    """Write powers of ten along the axes as plain text. Matplotlib would set them as formulas, which takes a third of the time
    of a plot."""
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    class Powers(LogFormatter):
        def _num_to_string(self, x: float, vmin: float, vmax: float) -> str:
            return format_tick(x)

    class Scaled(ScalarFormatter):
        def get_offset(self) -> str:
            shown = super().get_offset()
            power = re.fullmatch(r"1e(-?\d+)", shown.replace(MINUS_SIGN, "-"))
            return f"{TIMES_SIGN}{_ten_to(int(power[1]))}" if power else shown

    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        for ticks in (axis.major, axis.minor):
            if isinstance(ticks.formatter, LogFormatter):
                powers = Powers(labelOnlyBase=ticks.formatter.labelOnlyBase, minor_thresholds=ticks.formatter.minor_thresholds)
                (axis.set_major_formatter if ticks is axis.major else axis.set_minor_formatter)(powers)
            elif type(ticks.formatter) is ScalarFormatter:
                axis.set_major_formatter(Scaled())


def format_tick(number: float) -> str:
    """A number along an axis.

    >>> print(*map(format_tick, (1e-6, 2e-6, 1e5, 0.02, 1.0, 300.0)))
    10\u207b\u2076 2\u00d710\u207b\u2076 10\u2075 0.02 1 300
    """
    digits, exponent = f"{number:e}".split("e")
    if -3 <= int(exponent) < 4:
        return f"{number:g}"
    return ("" if float(digits) == 1.0 else f"{float(digits):g}{TIMES_SIGN}") + _ten_to(int(exponent))


def _ten_to(exponent: int) -> str:
    return f"10{str(exponent).translate(SUPERSCRIPTS)}"


def line_style(number: int) -> dict[str, Any]:
    """The colour and style of a line by its number; 28 lines can be told apart."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": LINE_STYLES[number % len(LINE_STYLES)]}
