"""Checks that an open HDF5 file is self-contained, and raises one `InputError` if it is not.

A file from an untrusted source may link to other files, contain circular links, or declare more data than it has, and the
HDF5 library would follow it. Files that drystone writes have plain data only, of the declared length.
"""

import os
from typing import Any

import h5py

from drystone.base.errors import InputError

MAX_OBJECTS = 10_000  # groups and datasets in a file
MAX_EXCESS_BYTES = 2**20  # [byte] by which the declared size of a dataset may exceed the file: chunks may be unwritten


def reject_external_links(file: Any, path: str | os.PathLike[str], max_excess: int = MAX_EXCESS_BYTES) -> None:
    """Refuse a file that is not self-contained. `max_excess` [byte]: how much larger than the file a dataset may be."""
    max_bytes = os.path.getsize(path) + max_excess
    queue, seen = [file], {file["/"]}
    while queue:
        group = queue.pop()
        for name in group:
            where = f"{path}: {group.name.rstrip('/')}/{name}"
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise InputError(f"{where} is a link to another place or file; give a file that contains its data")
            item = group[name]
            if item in seen:
                raise InputError(f"{where} is a circular link; give the file as it was written")
            seen.add(item)
            if len(seen) > MAX_OBJECTS:
                raise InputError(f"{path}: has more than {MAX_OBJECTS:,} groups and datasets; give the file as it was written")
            if isinstance(item, h5py.Group):
                queue.append(item)
            elif isinstance(item, h5py.Dataset):
                _check_dataset(item, max_bytes, where)


def _check_dataset(dataset: Any, max_bytes: int, where: str) -> None:
    if dataset.external or dataset.is_virtual:
        raise InputError(f"{where} has its data in another file; give a file that contains its data")
    if dataset.nbytes > max_bytes:
        raise InputError(f"{where} declares {dataset.nbytes:,} bytes, more than the file has; is the file damaged?")
