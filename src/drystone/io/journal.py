"""A file that changes all at once: HDF5 writes pages in memory, `commit` puts them on disk; a kill leaves the old or the new.

Pages beyond the end of the file go straight into it, where nobody looks yet. Those that change something go to a journal beside
it, whole or not at all, and then in place. A journal that is found was left by a commit that was cut: a reader lays it over the
file, the next writer puts it in place. HDF5 alone does worse: a kill between two of its writes can leave a file that it cannot
read, and a write that fails, as on a full disk, a crash.
"""

import os
import struct
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import Any

from drystone.errors import InputError
from drystone.io.whole import replace_atomically, report_write_errors

PAGE_BYTES = 4096  # [byte]
MAX_GROWTH_BYTES = 2**28  # [byte] beyond the end of a file that no commit goes
JOURNAL_HEADER = struct.Struct("<QQ")  # of a journal: bytes of the file, number of pages; then their numbers, then the pages


def journal_path(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


class JournaledFile(RawIOBase):
    """What h5py takes for a file, opened in mode "r", "r+" or "w"; only the last two are for `commit`."""

    def __init__(self, path: Path, mode: str):
        self._path, self._at = path, 0
        self._pages: dict[int, bytearray] = {}  # changed and not on disk
        self._file: Any = None  # on disk; not there yet in mode "w"
        self._size = self._end = 0  # [byte] now, and on disk
        if mode == "w":
            return
        self._file = path.open("rb" if mode == "r" else "r+b", buffering=0)
        self._size = self._end = os.fstat(self._file.fileno()).st_size
        if self._read_journal() and mode == "r+":
            with report_write_errors(path):
                self._put_in_place()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        """All that is asked for; what nobody has written is zero."""
        view = memoryview(buffer).cast("B")
        for number, inside, outside in self._parts(len(view)):
            view[outside] = self._page(number)[inside]
        self._at += len(view)
        return len(view)

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        for number, inside, outside in self._parts(len(view)):
            if number not in self._pages:
                covered = inside.stop - inside.start == PAGE_BYTES
                self._pages[number] = bytearray(PAGE_BYTES) if covered else self._page(number)
            self._pages[number][inside] = view[outside]
        self._at += len(view)
        self._size = max(self._size, self._at)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        size = self._at if size is None else size
        self._size = size
        self._pages = {number: page for number, page in self._pages.items() if number * PAGE_BYTES < size}
        return size

    def flush(self) -> None:
        """HDF5 asks for it at times of its own; `commit` is what counts."""

    def commit(self) -> None:
        """All changes are on disk when this returns; if it fails none of them counts, and they are still here."""
        with report_write_errors(self._path):
            if self._file is None:
                self._create()
                return
            for number in sorted(number for number in self._pages if number * PAGE_BYTES >= self._end):
                self._put(number)
            self._write_journal([number for number in self._pages if number * PAGE_BYTES < self._end])
            self._put_in_place()

    def close(self) -> None:
        """Changes that were not committed are forgotten."""
        if self._file is not None:
            self._file.close()
        super().close()

    def _parts(self, length: int) -> Iterator[tuple[int, slice, slice]]:
        """The pages from here on: number, where in the page, where in what is read or written."""
        done = 0
        while done < length:
            number, begin = divmod(self._at + done, PAGE_BYTES)
            count = min(PAGE_BYTES - begin, length - done)
            yield number, slice(begin, begin + count), slice(done, done + count)
            done += count

    def _page(self, number: int) -> bytearray:
        """A changed page, or a copy of the one on disk."""
        if number in self._pages:
            return self._pages[number]
        page = bytearray(PAGE_BYTES)
        if number * PAGE_BYTES < self._end:
            self._file.seek(number * PAGE_BYTES)
            self._file.readinto(page)
        return page

    def _create(self) -> None:
        with replace_atomically(self._path) as part, part.open("wb") as file:
            for number in sorted(self._pages):
                file.seek(number * PAGE_BYTES)
                file.write(self._pages[number])
            file.truncate(self._size)
        self._file = self._path.open("r+b", buffering=0)
        self._pages, self._end = {}, self._size

    def _put(self, number: int) -> None:
        page, at = memoryview(self._pages[number]), number * PAGE_BYTES
        while page:  # a disk that is nearly full takes a part, and says no to the next
            self._file.seek(at)
            count = self._file.write(page)
            page, at = page[count:], at + count

    def _put_in_place(self) -> None:
        """The file as it is now, and no journal any more."""
        for number in sorted(number for number in self._pages if number * PAGE_BYTES < self._end):
            self._put(number)
        self._file.truncate(self._size)
        journal_path(self._path).unlink(missing_ok=True)
        self._pages, self._end = {}, self._size

    def _write_journal(self, numbers: list[int]) -> None:
        with replace_atomically(journal_path(self._path)) as part, part.open("wb") as file:
            file.write(JOURNAL_HEADER.pack(self._size, len(numbers)))
            file.write(struct.pack(f"<{len(numbers)}Q", *numbers))
            file.writelines(self._pages[number] for number in numbers)

    def _read_journal(self) -> bool:
        """Whether there is one."""
        try:
            content = journal_path(self._path).read_bytes()
        except FileNotFoundError:
            return False
        size, count = JOURNAL_HEADER.unpack_from(content.ljust(JOURNAL_HEADER.size))
        first = JOURNAL_HEADER.size + 8 * count
        if len(content) != first + count * PAGE_BYTES or size > self._end + MAX_GROWTH_BYTES:
            raise InputError(f"{journal_path(self._path)} is no journal of a run; take it away, or run the case again")
        self._size = size
        for place, number in enumerate(struct.unpack_from(f"<{count}Q", content, JOURNAL_HEADER.size)):
            self._pages[number] = bytearray(content[first + place * PAGE_BYTES : first + (place + 1) * PAGE_BYTES])
        return True
