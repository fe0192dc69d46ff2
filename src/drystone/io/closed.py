"""HDF5 files closed in themselves: an open file comes in, and nothing goes out, or one `InputError`.

A file from elsewhere may name other files, lead in a circle, or say to hold more than it does; a library follows.
What drystone writes has plain data of its own only, as long as it says.
"""

import os
from typing import Any

import h5py

from drystone.errors import InputError

MAX_OBJECTS = 10_000  # groups and datasets of a file
MAX_EXCESS_BYTES = 2**20  # [byte] that datasets may say to have more than the file: few are written whole


def reject_external_links(file: Any, path: str | os.PathLike[str], room: int = MAX_EXCESS_BYTES) -> None:
    """Refuse a file that is not; `room` [byte]: what a dataset may have more than the file."""
    largest = os.path.getsize(path) + room
    queue, seen = [file], {file["/"]}
    while queue:
        group = queue.pop()
        for name in group:
            where = f"{path}: {group.name.rstrip('/')}/{name}"
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise InputError(f"{where} is a link to another place or file; give a file that has its data itself")
            found = group[name]
            if found in seen:
                raise InputError(f"{where} leads back into the file; give a file as it was written")
            seen.add(found)
            if len(seen) > MAX_OBJECTS:
                raise InputError(f"{path}: has more than {MAX_OBJECTS:,} parts; give a file as it was written")
            if isinstance(found, h5py.Group):
                queue.append(found)
            elif isinstance(found, h5py.Dataset):
                _check_dataset(found, largest, where)


def _check_dataset(dataset: Any, largest: int, where: str) -> None:
    if dataset.external or dataset.is_virtual:
        raise InputError(f"{where} has its data in another file; give a file that has them itself")
    if dataset.nbytes > largest:
        raise InputError(f"{where} is said to have {dataset.nbytes:,} bytes, more than there are; is the file damaged?")
