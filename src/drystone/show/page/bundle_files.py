"""The files of the page as built by npm (`make page`), by their names."""

from pathlib import Path

from drystone.base.errors import InputError

BUNDLE = Path(__file__).parent / "bundle"
CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}


def read_bundle(page: str) -> dict[str, bytes]:
    """All files of the page, read once: later requests of a browser are answered from this dictionary, never from the disk."""
    files = {path.name: path.read_bytes() for path in sorted(BUNDLE.glob("*")) if path.suffix in CONTENT_TYPES}
    if page not in files:
        hint = "with Node.js installed, run `make page` in a clone of drystone; wheels contain the page"
        raise InputError(f"the page for the browser is not built: no {page} in {BUNDLE}; {hint}")
    return files
