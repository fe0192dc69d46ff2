"""One file for sharing: runs come in, an HTML file goes out that any browser opens without a network.

It contains the page of the server with its script and style, and the answers that the server would give, in base64.
"""

import base64
import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from drystone.base.files.atomic_write import replace_atomically
from drystone.show.page.answers import RunAnswers
from drystone.show.page.bundle_files import read_bundle
from drystone.show.page.shown_run import FILE_BUDGET

PAGE_FILE, SCRIPT_FILE, STYLE_FILE = "index.html", "page.js", "page.css"
NO_NETWORK_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">"
)


def write_html(folders: Sequence[str | Path], path: str | Path) -> Iterator[tuple[int, int]]:
    """Write the runs into one file; yields after each answer how many are written and how many there are."""
    before, after = _page()
    answers = RunAnswers(folders, FILE_BUDGET)
    paths = list(answers.paths())
    with replace_atomically(Path(path)) as part, part.open("w", encoding="utf-8", newline="") as file:
        file.write(before)
        for number, each in enumerate(paths, 1):
            content = base64.b64encode(answers.get(each).body).decode("ascii")
            file.write(f'<script type="text/plain" id="{html.escape(each)}">{content}</script>\n')
            yield number, len(paths)
        file.write(after)


def _page() -> tuple[str, str]:
    """The page with its script and style in two parts: before and after the place of the answers, just before the script."""
    files = {name: content.decode("utf-8") for name, content in read_bundle(PAGE_FILE).items()}
    style = files[STYLE_FILE].replace("</", r"<\/")
    code = files[SCRIPT_FILE].replace("</script", r"<\/script").replace("<!--", r"<\!--")
    page = _replace_once(
        rf'<link[^>]*href="{STYLE_FILE}"[^>]*>', f"{NO_NETWORK_POLICY}<style>{style}</style>", files[PAGE_FILE]
    )
    before, after = re.split(rf'<script[^>]*src="{SCRIPT_FILE}"[^>]*></script>', page)
    return before, f'<script type="module">{code}</script>{after}'


def _replace_once(pattern: str, text: str, page: str) -> str:
    page, count = re.subn(pattern, lambda _: text, page)
    assert count == 1, f"{pattern}: {count} times in {PAGE_FILE}"
    return page
