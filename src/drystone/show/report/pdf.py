"""PDF files: an HTML page comes in, the PDF that Chromium prints from it goes out."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PRINT_TIMEOUT = 120.0  # [s]


def print_pdf(page: Path, path: Path) -> None:
    """Print a page on A4; nothing is loaded from the network."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise InputError(
            "Chromium or Chrome is needed to print the PDF, but neither was found; "
            f"install one, or open {page} and print it there"
        )
    with TemporaryDirectory() as profile, replace_atomically(path) as part:
        flags = ["--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
                 "--disable-quic", "--disable-component-update", "--no-pdf-header-footer",
                 f"--user-data-dir={profile}"]  # fmt: skip
        flags += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # Chromium's sandbox refuses root
        command = [browser, *flags, f"--print-to-pdf={part.resolve()}", page.resolve().as_uri()]
        try:
            process = subprocess.run(command, capture_output=True, timeout=PRINT_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            raise InputError(f"{browser} did not print within {PRINT_TIMEOUT:g} s; open {page} and print it there") from None
        if process.returncode or not part.exists():
            message = (process.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
            raise InputError(f"{browser} could not print ({message}); open {page} and print it there")
