"""The site of these pages: `make docs` builds it to docs/_build/html, without the network, and the site needs none either.

Equations become MathML, which browsers draw by themselves; the references of the case file and of the commands are written anew
at each build, from the tables and the commands of the code.
"""

import sys
from pathlib import Path

from docutils import nodes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import mathml  # noqa: E402
import reference  # noqa: E402

from drystone import __version__  # noqa: E402

project = "drystone"
author = "the drystone developers"
release = __version__
html_title = f"drystone {release}"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
smartquotes = False  # quotation marks of TOML stay as they are
extensions = ["myst_parser"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"


def setup(app):
    for name, text in reference.pages().items():
        path = HERE / "reference" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # an old page that is right is not built again
            path.write_text(text, encoding="utf-8")
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(display, None))


def inline(translator, node):
    translator.body.append(mathml.inline(node.astext()))
    raise nodes.SkipNode


def display(translator, node):
    translator.body.append(mathml.display(node.astext()))
    raise nodes.SkipNode
