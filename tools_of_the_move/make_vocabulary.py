"""Writes vocabulary.md beside this file from moves.py and the reasons below."""

from pathlib import Path

from moves import MERGES, MODULES, PACKAGES

HERE = Path(__file__).parent
WHY = {
    "undisturbed": "signals (Ctrl-C, SIGTERM) that wait for the end of a call",
    "kernel.crew": "threads that help a kernel", "io.given": "files are read with a bound", "io.whole": "written all at once or not at all",
    "io.alone": "one process writes a folder", "io.closed": "HDF5 files are checked for links to outside",
    "solid": "closed convex polyhedra and their mass", "laws": "laws of joints as a user gives them", "brick": "the 8-node finite element",
    "elastic": "blocks that deform", "changes": "blocks that appear and vanish", "ground.design": "response spectra of codes",
    "ground.measures": "the field calls them so", "ground.spectrum": "response spectra", "ground.synthetic": "accelerograms made up from a seed",
    "io.accelerograms.read": "a path comes in, accelerograms go out", "io.accelerograms.sheet": "what all readers of text share",
    "contact.broad": "the field's term", "contact.narrow": "the field's term", "contact.detect": "not the name of its function",
    "contact.placed": "blocks at their poses", "contact.beds": "what nothing bears from below (part of pairs)", "contact.memory": "what is remembered: contacts",
    "contact.nearest": "nearest points of two polyhedra", "contact.rings": "joints of deformable blocks", "contact.swept": "sphere-swept blocks",
    "contact.cells": "joints cut into cells", "simulate": "the loop over time steps; not the name of its function", "spin": "rotation of bodies over a step",
    "joints": "the laws as numbers per contact", "stepping": "the time step of the papers, one cone program", "mortar": "mortar within that step",
    "deform": "the unknowns of elastic modes within that step", "solvers.interior": "the field's term", "solvers.descent": "Newton's method on velocities alone",
    "solvers.shift": "De Saxcé's shift", "solvers.factor": "a noun, in the folder of linear systems", "solvers.plan": "of the elimination",
    "solvers.sweep": "forward and backward substitution", "solvers.spectral": "spectral projected gradient", "solvers.iterate": "what first-order methods share",
    "solvers.reduced": "the problem in impulses alone", "solvers.local": "one contact by itself", "engine.small_steps": "the default integrator; small_steps is its folder",
    "engine.rest": "the equilibrium that a history starts from", "engine.joint_law": "the stress of a cell; laws of joints are in structure",
    "engine.find": "patches are searched anew", "engine.march": "all small steps of a tick", "engine.modal_march": "an interval with deformable blocks",
    "engine.modal_step": "the longest stable step with modes", "engine.course": "where a history is between intervals", "engine.sides": "sides of patches on deformable blocks",
    "engine.arrange": "patches in groups of four", "engine.sleep": "islands that sleep", "engine.taken_away": "blocks taken away", "engine.deformable": "sets up `Modes`",
    "engine.broken_joints": "used by cell joints alone (part of them)", "io.table": "what all tables of a case share", "io.problems": "what is wrong in a TOML file; a `Problem` is something else",
    "io.study": "the file, not the study", "io.blocks": "blocks as plain JSON", "io.geometry.structure": "files of geometry of any format", "io.geometry.pieces": "solids cut into convex pieces",
    "io.geometry.surface": "meshes made closed solids", "io.contact_problems": "files of our own", "io.foreign": "problems of other programs",
    "doctor.examine": "a noun; the doctor examines", "doctor.fit": "faces moved until they meet; not the fit of a curve", "doctor.mend": "one block", "doctor.repair": "all blocks",
    "doctor.touch": "which blocks touch", "record": "reads runs; ground motions are accelerograms", "writer": "writes runs", "measure": "numbers that are read from a run",
    "session": "a dynamic analysis, from case to run", "solve": "one contact problem from a file", "verify": "one of the second opinions", "cross.collapse": "on collapse multipliers",
    "cross.histories": "on histories", "analyse.record": "a case of statics, computed and recorded", "analyse.collapse": "the three analyses that it holds",
    "statics.equilibrium": "of rigid blocks; the analysis is analysis/equilibrium", "statics.construction": "the stages; the analysis is analysis/construction",
    "statics.pushover": "what it computes; the analysis is analysis/pushover", "statics.settlement": "what it computes; the analysis is analysis/settlement",
    "statics.limit": "what it computes", "statics.remaining": "of a structure that does not stand", "statics.program": "the field's term", "statics.nonassociated": "collapse by Coulomb friction",
    "statics.thrust": "thrust lines", "statics.crack": "where the first crack opens", "statics.cracks": "joints that have opened", "statics.slow_history": "a load that grows slowly",
    "search": "a study of one number, by bisection", "study.begin": "what a study begins from", "study.content": "the key of a trial, from all it depends on", "study.run": "the loop over trials; a run is a stored history",
    "study.rest": "when nothing can happen any more", "study.remainder": "when the rest of the motion can move nothing", "study.trace": "traces the boundary of collapse",
    "study.hunt": "the intensity to try next", "study.fit": "lognormal fragility", "study.domain": "the field's term", "study.table": "the table on disk", "study.trials": "records of trials",
    "study.kinds": "eight lines (part of preparation)", "view.results": "pictures of an analysis", "view.defects": "one picture", "view.flow": "the flow of forces", "view.forces": "pictures of forces",
    "view.mechanisms": "one picture", "view.stress": "bricks with their stress", "view.accounts": "energies, and errors of the steps", "view.domain": "the plot, not the study", "view.fragility": "the plots, not the study",
    "view.ground": "of ground motions", "view.histories": "of blocks", "view.plots": "curves of statics", "view.studies": "of studies", "view.tables": "summaries", "view.result_tables": "results of statics",
    "view.study_page": "it is a report", "page.controls": "of the studio", "page.files": "the bundle that npm builds", "page.geometry": "blocks as arrays", "page.head": "of a run", "page.instant": "what the studio shows at once",
    "page.launch": "histories that the studio starts", "page.share": "one file to share", "page.shown": "a run as the page shows it", "report.page": "one HTML file", "report.printed": "PDF",
    "export.tables": "CSV", "export.shape": "one frame as a structure (part of frames)", "validate.conduct": "subjects are computed and kept", "validate.figures": "in the layout of the papers",
    "validate.pages": "of verdicts", "cli.stages": "a bar on standard error", "cli.looks": "options of pictures", "cli.reading": "options of geometry files", "cli.compiling": "what is said before compiling",
    "ledger": "of energy", "strain": "the elastic strain that contacts remember",
    "cli.words": "exit codes and what is printed where", "cli.statics": "`drystone run` of a case of statics",
}
ALSO = ("contact.beds", "engine.broken_joints", "export.shape", "study.kinds")


def main() -> None:
    def is_renamed(old: str, new: str) -> bool:
        return old.rpartition(".")[2] != new.rpartition(".")[2] or old in ALSO

    rows, rest = [], {}
    listed = dict(MODULES)
    for old in ALSO:
        package, _, leaf = old.rpartition(".")
        listed.setdefault(old, f"{PACKAGES[package]}.{leaf}")
    for old, new in listed.items():
        new = MERGES.get(new, new)
        if is_renamed(old, new):
            rows.append(f"| `{old}` | `{new}` | {WHY.get(old, '')} |")
        else:
            rest.setdefault(new.rpartition(".")[0], []).append(old)
    packages = [f"| `{old}/` | `{new.replace('.', '/')}/` |" for old, new in PACKAGES.items() if old != new]
    packages = [row.replace("`show/pictures/`", "`show/pictures/`, `show/plots/`, `show/tables/`") for row in packages]
    text = f"""## Modules
The folders of the package, and the order in which they may import each other: `tests/test_layers.py`, [decision 0001](decisions/0001-records-and-rooms.md).
Names without `drystone.`; `old/` stands for all modules of a folder that are not listed below, which keep their name.

| old folder | new folder |
|---|---|
{chr(10).join(packages)}

| old module | new module | why this name |
|---|---|---|
{chr(10).join(rows)}

New, each in the place of several copies: `structure.boxes` (sizes of boxes about corners), `structure.fans` (faces as triangles),
`structure.block_names` (numbers of blocks by name), `base.cores` (cores to compute with).

Moved under the name they had:

{chr(10).join(f"- `{room.replace('.', '/')}/`: " + ", ".join(f"`{name}`" for name in names) for room, names in rest.items())}
"""
    (HERE / "vocabulary.md").write_text(text)


main()
