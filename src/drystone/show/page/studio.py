"""The studio, a `Site`: a folder and a first structure come in; it answers its page with the geometry, the collapse and the
forces of a sheet.

Each question carries an identifier of the page, an increasing number and a digest of the page's controls; the answer returns
number and digest. Questions are answered one after the other, and a question that is overtaken by a newer one of the same page
is not computed. The page shows an answer as current only if its digest is that of the present controls.
"""

import base64
import json
import math
import re
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from drystone.analysis.dynamics import is_step_compiled
from drystone.base.errors import InputError
from drystone.base.files.atomic_write import report_write_errors
from drystone.base.files.reading import read_utf8
from drystone.build import GENERATORS
from drystone.io.case import case_content, parse_case
from drystone.io.geometry.structure_file import read_structure
from drystone.io.named_files import named_files
from drystone.io.starter import summarise_generator
from drystone.show.page.block_arrays import block_arrays, coordinate_origin
from drystone.show.page.reply import Reply, json_reply, not_found
from drystone.show.page.studio_controls import (
    Control,
    Sheet,
    arrange_sheet,
    find_control,
    history_text,
    sheet_from_case,
    statics_text,
    structure_text,
)
from drystone.show.page.studio_runs import LaunchedRun, free_name, write_new
from drystone.show.page.studio_statics import MAX_CONTACTS_AT_ONCE, answer_at_rest, answer_collapse, prepare_structure
from drystone.study.trial_key import self_contained_case

MAX_UPLOAD_BYTES = 12 * 2**20  # [bytes]
MAX_BLOCKS = 20_000  # the largest product of all counts of a structure
MAX_PAGES = 100  # pages whose latest numbers are kept
FIRST_SHEET: Sheet = {"structure": {"generator": "arch", "blocks": 15}}


class Studio:
    """One studio; `close` deletes the uploaded files and leaves its runs in place."""

    def __init__(self, folder: Path, source: Path | None = None):
        self.folder = folder.resolve()
        self._uploads = Path(tempfile.mkdtemp(prefix="drystone-studio-"))
        self._files: set[str] = set()  # files that sheets may name
        self._newest: dict[str, int] = {}
        self._state_lock, self._collapse_lock, self._rest_lock = threading.Lock(), threading.Lock(), threading.Lock()
        self._launched: LaunchedRun | None = None
        self._first_sheet = FIRST_SHEET if source is None else self._read(source)

    def close(self) -> None:
        shutil.rmtree(self._uploads, ignore_errors=True)

    def get(self, path: str) -> Reply:
        if path == "begin":
            about = {"folder": str(self.folder), "compiled": is_step_compiled()}
            return json_reply(
                _arranged(self._first_sheet) | {"generators": {name: summarise_generator(name) for name in GENERATORS}} | about
            )
        if path == "launched":
            return json_reply(None if self._launched is None else self._launched.status())
        if path.split("/")[0] == "runs":
            return (
                json_reply([]) if self._launched is None or not self._launched.has_begun else self._launched.answers.get(path)
            )
        return not_found(path)

    def post(self, path: str, content: Any) -> Reply:
        if not isinstance(content, dict):
            raise InputError("a question to the studio must be a JSON object; reload the page")
        if path == "arrange":
            return json_reply(_arranged(_sheet(content)))
        if path == "open":
            return json_reply(_arranged(self._open(content)))
        if path in ("shape", "collapse", "rest"):
            return self._part(path, content)
        if path == "save":
            return json_reply(self._save(_sheet(content), history=bool(content.get("history"))))
        if path == "launch":
            return json_reply(self._launch(_sheet(content)))
        if path == "stop" and self._launched is not None:
            self._launched.stop()
            return json_reply(self._launched.status())
        return not_found(path)

    def _part(self, part: str, question: dict[str, Any]) -> Reply:
        """One part of the answer to a sheet."""
        page, count = str(question.get("page")), question.get("number")
        about = {"number": count, "digest": question.get("digest")}
        if not isinstance(count, int):
            raise InputError(f"the number of a question is {count!r}; give an integer that increases")
        with self._state_lock:
            self._newest[page] = max(count, self._newest.get(page, count))
            while len(self._newest) > MAX_PAGES:
                self._newest.pop(next(iter(self._newest)))
        with self._rest_lock if part == "rest" else self._collapse_lock:
            if count < self._newest.get(page, count):
                return json_reply(about | {"overtaken": True}, 409)
            sheet, controls = arrange_sheet(_sheet(question))
            try:
                begin = time.perf_counter()
                _check_size(sheet, controls)
                answer = self._compute_part(part, sheet, anyway=bool(question.get("anyway")))
            except InputError as error:
                message = _plain(str(error))
                return json_reply(about | {"error": message, "at": find_control(message, controls)}, 400)
        about["seconds"] = time.perf_counter() - begin
        return json_reply(about | answer)

    def _compute_part(self, part: str, sheet: Sheet, anyway: bool) -> dict[str, Any]:
        self._check_files(sheet)
        path = self._uploads / "case.toml"
        structure = prepare_structure(structure_text(sheet), path)
        if part == "shape":
            model = structure.model
            return {
                "names": [block.name for block in model.blocks],
                "fixed": model.bodies.fixed.tolist(),
                "mass": model.bodies.mass.tolist(),
                "geometry": {
                    name: array.ravel().tolist() for name, array in block_arrays(model, coordinate_origin(model)).items()
                },
                "contacts": len(structure.system.friction),
            }
        if len(structure.system.friction) > MAX_CONTACTS_AT_ONCE and not anyway:
            return {"heavy": len(structure.system.friction)}
        case = parse_case(statics_text(sheet), path)
        return answer_collapse(case, structure) if part == "collapse" else answer_at_rest(case, structure)

    def _check_files(self, sheet: Sheet) -> None:
        for table, key in named_files(sheet):
            if table[key] not in self._files:
                raise InputError(f"structure.{key}: {table[key]!r} was not opened in this studio; open it first")

    def _read(self, source: Path) -> Sheet:
        """The sheet of a case, or of a geometry file."""
        if source.suffix.lower() == ".toml":
            text = self_contained_case(read_utf8(source), source, {})
            parse_case(text, source)
            sheet = sheet_from_case(case_content(text, source))
        else:
            blocks = read_structure(source)
            sheet = {"structure": {"file": str(source.resolve())}}
            if not any(block.fixed for block in blocks):
                sheet["structure"]["supports"] = "lowest"
        self._files |= {table[key] for table, key in named_files(sheet)}
        return sheet

    def _open(self, content: dict[str, Any]) -> Sheet:
        """The sheet of an uploaded file."""
        try:
            name = Path(str(content["name"])).name
            body = base64.b64decode(content["content"], validate=True)
        except (KeyError, TypeError, ValueError):  # the content is not base64 or not ASCII
            raise InputError("open: give the name of a file and its content in base64") from None
        if len(body) > MAX_UPLOAD_BYTES:
            message = f"{name} has {len(body) / 2**20:.0f} MB, more than {MAX_UPLOAD_BYTES / 2**20:.0f} MB"
            raise InputError(f"{message}; open it on the command line: drystone studio {name}")
        folder = Path(tempfile.mkdtemp(dir=self._uploads))
        path = folder / _file_name(name)
        try:
            with report_write_errors(path):
                path.write_bytes(body)
            return self._read(path)
        except InputError as error:
            shutil.rmtree(folder)
            raise InputError(str(error).replace(f"{folder}/", "")) from None

    def _save(self, sheet: Sheet, *, history: bool) -> dict[str, Any]:
        """Write the case into the folder, and uploaded files beside it."""
        sheet, _ = arrange_sheet(sheet)
        self._check_files(sheet)
        sheet = json.loads(json.dumps(sheet))
        name = free_name(self.folder, _stem(sheet))
        for table, key in named_files(sheet):
            uploaded = Path(table[key])
            if uploaded.is_relative_to(self._uploads):
                shutil.copyfile(uploaded, self.folder / f"{name}{uploaded.suffix}")
                table[key] = f"{name}{uploaded.suffix}"
        text = history_text(sheet) if history else statics_text(sheet)
        path = self.folder / f"{name}.toml"
        parse_case(text, path)
        write_new(path, text)
        return {"path": str(path), "name": path.name, "text": text}

    def _launch(self, sheet: Sheet) -> dict[str, Any]:
        with self._state_lock:
            if self._launched is not None and self._launched.status()["running"]:
                raise InputError(f"{self._launched.out.name} is still running; stop it first")
            case = Path(self._save(sheet, history=True)["path"])
            self._launched = LaunchedRun(case, case.with_suffix(""))
        return self._launched.status()


def _arranged(sheet: Sheet) -> dict[str, Any]:
    sheet, controls = arrange_sheet(sheet)
    return {"sheet": sheet, "controls": [control._asdict() for control in controls]}


def _sheet(content: dict[str, Any]) -> Sheet:
    """The sheet of a question, checked."""
    sheet = content.get("sheet")
    if not isinstance(sheet, dict) or not isinstance(sheet.get("structure"), dict):
        raise InputError("this is not a sheet of the studio; reload the page")
    if not all(isinstance(sheet.get(name, {}), dict) for name in ("joints", "push", "statics", "dynamics")):
        raise InputError("a part of this sheet must be a table but is not; reload the page")
    return sheet


def _check_size(sheet: Sheet, controls: list[Control]) -> None:
    """Refuse a structure that would take minutes to build."""
    structure = sheet["structure"]
    names = {control.place.rsplit(".", 1)[-1] for control in controls if control.kind == "count"}
    for table in structure.get("parts", [structure]):
        counts = {key: value for key, value in table.items() if key in names and type(value) is int and value > 0}
        if math.prod(counts.values()) > MAX_BLOCKS:
            message = f"{' and '.join(counts)} make {math.prod(counts.values())} blocks"
            raise InputError(f"{message}; the studio takes at most {MAX_BLOCKS}; give fewer")


def _stem(sheet: Sheet) -> str:
    structure = sheet["structure"]
    name = structure.get("generator") or Path(structure.get("file", "structure")).stem
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "structure"


def _file_name(uploaded: str) -> str:
    """A file name that every file system accepts."""
    name = re.sub(r"[^\w. -]", "-", uploaded)[-100:]
    return name if name.strip(". ") else "file"


def _plain(message: str) -> str:
    """The message without the file and the line, which a user of the page has not seen."""
    return re.sub(r"\S*case\.toml(, line \d+)?: ", "", message)
