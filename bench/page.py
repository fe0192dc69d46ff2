"""The page with many blocks: `python -m bench.page` times it with a run made up for it, or with those that are named.

5,000 blocks of a wall, 300 frames, each with 15,000 contact points that carry forces: blocks fly apart, turn and shiver, so
that neither poses nor forces pack better than those of a real run do. Chromium draws without graphics hardware.
"""

import argparse
import json
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

from bench.browser import SIZE, chromium
from bench.clock import timed
from drystone.contact.contacts import Contacts, no_contacts
from drystone.contact.detection import detect
from drystone.engine.cone_step.integrator import State
from drystone.engine.rotation import move_freely
from drystone.engine.simulation import Step, initial_state
from drystone.engine.solvers.solution import Residual, Solution
from drystone.io.case import parse_case
from drystone.results.store.run_writer import RunWriter
from drystone.show.page.answers import RunAnswers
from drystone.show.page.server import Server
from drystone.show.page.shared_file import write_html
from drystone.structure.model import Model

WALL = """# {blocks} blocks that fly apart
[structure]
generator = "wall"
length = "50 m"
height = "{height} m"
thickness = "0.3 m"
courses = {courses}
blocks = 100
[joints]
friction = 0.6
[analysis]
duration = "{duration} s"
time_step = "10 ms"
"""
POINTS = 15_000  # contact points of a frame, at most
SHIVER = 1e-4  # [m, rad] by which poses are off a smooth motion
SEEKS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", nargs="*", type=Path, help="folders of runs; one is made up if none is given")
    parser.add_argument("--courses", type=int, default=50, help="of 100 blocks each")
    parser.add_argument("--frames", type=int, default=300)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not asked.runs:
            make_up(Path(folder) / "wall", asked.courses, asked.frames)
        for run in asked.runs or [Path(folder) / "wall"]:
            print(json.dumps(measure(run, Path(folder) / "share.html"), indent=2))


def make_up(folder: Path, courses: int, frames: int) -> None:
    """A run of a wall of `courses` times 100 blocks."""
    case = parse_case(WALL.format(blocks=100 * courses, courses=courses, height=0.25 * courses, duration=0.01 * (frames - 1)))
    model, chance = case.model(), np.random.default_rng(5)
    state = initial_state(model, 9.81)
    velocity = np.where(model.bodies.fixed[:, None], 0.0, chance.normal(size=(len(model.blocks), 6)))
    touching = _some_contacts(model, state)
    solution = Solution(np.empty((0, 6)), np.empty((0, 3)), True, "none", 0, Residual(0.0, 0.0, 0.0, 0.0, 0.0), 0)
    with RunWriter.create(folder, case.text, model, state, every_steps=1, planned_steps=frames - 1) as writer:
        for number in range(1, frames):
            shivering = velocity * (number * 0.01) ** 2 + SHIVER * chance.normal(size=velocity.shape) * (velocity != 0.0)
            position, rotation = move_freely(state.position, state.rotation, shivering, 1.0)
            forces = touching._replace(impulse=chance.lognormal(sigma=1.5, size=(len(touching.gap), 1)) * touching.normal)
            now = state._replace(step=number, time=0.01 * number, position=position, rotation=rotation,
                                 velocity=velocity * number * 0.02, contacts=forces)  # fmt: skip
            writer.add(Step(now, solution, (0.0, 0.0, 0.0)))


def _some_contacts(model: Model, state: State) -> Contacts:
    """Of the first joints, whole joints as they come in their order."""
    still = np.zeros((len(model.blocks), 6))
    found = detect(model.bodies, state.position, state.rotation, still, 1.0, no_contacts(), 0)[0]
    return Contacts(*(field[:POINTS].copy() for field in found))


def measure(folder: Path, html: Path) -> dict[str, Any]:
    """Seconds and bytes, from the server and from the file; `seek` is the median of some, each until it is drawn."""
    _, wall, answers = timed(lambda: RunAnswers([folder]))
    facts: dict[str, Any] = {"run": folder.name, "blocks": len(answers.runs[0].run.model.blocks),
                             "frames": len(answers.runs[0].frames), "opened": wall}  # fmt: skip
    last = len(answers.runs[0].frames) - 1
    for path in ("runs/0", "runs/0/geometry", f"runs/0/joints/{last}"):
        _, wall, reply = timed(lambda path=path: answers.get(path))
        facts[path] = {"seconds": wall, "bytes": len(reply.body)}
    with Server(answers, "index.html") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        facts["server"] = in_browser(server.address, last)
        server.shutdown()
    processor, wall, _ = timed(lambda: list(write_html([folder], html)))
    facts["file"] = {"written": wall, "processor": processor, "bytes": html.stat().st_size} | in_browser(html.as_uri(), last)
    return facts


def in_browser(address: str, last: int) -> dict[str, float]:
    """[s] until the page can be used, and of a seek."""
    with chromium() as browser:
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(120_000)
        ready = timed(lambda: (page.goto(address), page.wait_for_selector("body[data-ready=true]")))[1]
        page.wait_for_function("() => drystone.stats().loaded[0] === drystone.stats().frames[0]")
        frames = np.random.default_rng(1).integers(0, last, SEEKS).tolist()
        seeks = [timed(lambda frame=frame: page.evaluate(f"drystone.seek({frame})"))[1] for frame in frames]
    return {"ready": ready, "seek": float(np.median(seeks))}


if __name__ == "__main__":
    main()
