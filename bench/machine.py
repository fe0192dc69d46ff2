"""Where and of what a benchmark was taken."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "numba", "clarabel")


def describe() -> dict[str, Any]:
    """Processor, cores, system and versions."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
    }


def processor() -> str:
    """Its name, and its family and model where a virtual machine hides the name."""
    listing = Path("/proc/cpuinfo")
    if not listing.exists():
        return platform.processor() or platform.machine()
    lines = [line.split(":", 1) for line in listing.read_text().splitlines() if ":" in line]
    facts = {key.strip(): value.strip() for key, value in lines}
    return f"{facts.get('model name', platform.machine())} (family {facts.get('cpu family')}, model {facts.get('model')})"


def revision(root: Path) -> str:
    """The last commit that touched what is measured, with a + if that has been changed since."""
    git = ["git", "-C", str(root)]
    measured = ["--", "src", "bench", *(f":!bench/{name}.py" for name in ("report", "history_report", "tables", "picture"))]
    said = subprocess.run([*git, "log", "-1", "--format=%h", *measured], capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "status", "--porcelain", *measured], capture_output=True, text=True, check=False)
    return (said.stdout.strip() or "unknown") + ("+" if changed.stdout.strip() else "")
