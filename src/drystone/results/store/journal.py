"""A file with atomic commits: HDF5 writes pages in memory, and `commit` writes them to disk. If the process is killed, the file
has either the old or the new content.

Pages beyond the end of the file are written to it directly, as no reader looks there yet. Pages that change existing content
are first written to a journal beside the file, atomically, and then to the file. A journal that is found was left by an
interrupted commit: a reader applies it in memory, and the next writer applies it to the file. HDF5 alone gives no such
guarantee: a kill between two of its writes can leave a file that it cannot read, and a failed write can crash the process.
"""

import os
import struct
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import Any

from drystone.base.errors import InputError
from drystone.base.files.atomic_write import replace_atomically, report_write_errors

PAGE_BYTES = 4096  # [byte]
MAX_GROWTH_BYTES = 2**28  # [byte] by which one commit may extend the file at most
JOURNAL_HEADER = struct.Struct("<QQ")  # size of the file [byte] and number of pages; page numbers and pages follow


def journal_path(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


class JournaledFile(RawIOBase):
    """A file object for h5py, opened in mode "r", "r+" or "w"; `commit` is for the last two only."""

    def __init__(self, path: Path, mode: str):
        self._path, self._at = path, 0
        self._pages: dict[int, bytearray] = {}  # pages that are changed and not yet on disk
        self._file: Any = None  # the file on disk; None before the first commit in mode "w"
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
        """Fill the buffer; bytes that were never written are zero."""
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
        """HDF5 calls this at times of its own choice; only `commit` writes to disk."""

    def commit(self) -> None:
        """Write all changes to disk. If this fails, the file on disk is unchanged and the changes are kept in memory."""
        with report_write_errors(self._path):
            if self._file is None:
                self._create()
                return
            for number in sorted(number for number in self._pages if number * PAGE_BYTES >= self._end):
                self._put(number)
            self._write_journal([number for number in self._pages if number * PAGE_BYTES < self._end])
            self._put_in_place()

    def close(self) -> None:
        """Close the file; changes that were not committed are discarded."""
        if self._file is not None:
            self._file.close()
        super().close()

    def _parts(self, length: int) -> Iterator[tuple[int, slice, slice]]:
        """The pages from the current position on: number, slice of the page, slice of the buffer."""
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
        while page:  # a disk that is nearly full writes a part only, and fails at the next write
            self._file.seek(at)
            count = self._file.write(page)
            page, at = page[count:], at + count

    def _put_in_place(self) -> None:
        """Write the changed pages to the file and remove the journal."""
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
        """Read the journal, if there is one; return whether there is."""
        try:
            content = journal_path(self._path).read_bytes()
        except FileNotFoundError:
            return False
        size, count = JOURNAL_HEADER.unpack_from(content.ljust(JOURNAL_HEADER.size))
        first = JOURNAL_HEADER.size + 8 * count
        if len(content) != first + count * PAGE_BYTES or size > self._end + MAX_GROWTH_BYTES:
            raise InputError(f"{journal_path(self._path)} is not the journal of a run; remove it, or run the case again")
        self._size = size
        for row, number in enumerate(struct.unpack_from(f"<{count}Q", content, JOURNAL_HEADER.size)):
            self._pages[number] = bytearray(content[first + row * PAGE_BYTES : first + (row + 1) * PAGE_BYTES])
        return True
