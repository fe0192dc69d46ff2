"""Equations for browsers: LaTeX as in theory.md comes in, MathML goes out. A command that is not known is an error, so that no
page shows a formula half translated."""

import re

from latex2mathml.converter import convert

TAG = re.compile(r"\\tag\{(.*?)\}")
LETTER = re.compile(r"\\(mathcal|mathbf) ?([A-Za-z])")  # in braces it becomes the letter itself, which all browsers draw
BAR = '<mo stretchy="false">&#x0007C;</mo>'  # of an absolute value; browsers would set it off like a relation
ROWS = ((re.compile(r"\\\\\[\w+\]"), r"\\\\"),  # the space between rows is the browser's
        (re.compile(r"\\begin\{aligned\}"), r"\\begin{array}{rl}"),
        (re.compile(r"\\end\{aligned\}"), r"\\end{array}"))  # fmt: skip
BRACE = re.compile(r"\\([{}])")  # that a large brace keeps
UNKNOWN = re.compile(r"\\(?:[A-Za-z]+|.)|>&(?:amp;)?<")


def inline(latex: str) -> str:
    return _translated(latex, "inline")


def display(latex: str) -> str:
    """On a line of its own. A number such as (T5) stands at the right, and a link to #T5 leads here."""
    numbers = TAG.findall(latex)
    shown = f'<div class="formula">{_translated(TAG.sub("", latex), "block")}</div>'
    if not numbers:
        return f'<div class="equation">{shown}</div>\n'
    return f'<div class="equation" id="{numbers[0]}">{shown}<span class="number">({numbers[0]})</span></div>\n'


def _translated(latex: str, how: str) -> str:
    for given, known in ROWS:
        latex = given.sub(known, latex)
    shown = BRACE.sub(r"\1", convert(LETTER.sub(r"\\\1{\2}", latex), display=how))
    unknown = UNKNOWN.findall(shown)
    if unknown:
        raise ValueError(f"{latex.strip()}: latex2mathml does not know {', '.join(unknown)}; write it another way")
    return shown.replace(BAR, BAR.replace("<mo", '<mo lspace="0" rspace="0"'))
