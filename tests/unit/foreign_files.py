"""Contact problems written as siconos and FCLIB write them, for tests of the readers."""

import h5py
import numpy as np
import scipy.sparse as sp

SPARSE = {"triplets": 1, "columns": 2, "rows": 3}
CSPARSE = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016\n"


def vector(values):
    return " ".join(f"{x:32.24e}" for x in values) + "\n"


def dense(matrix):
    rows, columns = matrix.shape
    return f"0\n{rows}\n{columns}\n{rows}\t{columns}\n" + vector(matrix.T.ravel())


def blocks(matrix, height, width):
    """Blocks of height x width; those of zeros are left out."""
    rows, columns = matrix.shape
    start, column, bodies = [0], [], ""
    for i in range(0, rows, height):
        for j in range(0, columns, width):
            block = matrix[i : i + height, j : j + width]
            if block.any():
                bodies += f"{len(column)}\n" + "".join(f"{x:32.24e}\n" for x in block.T.ravel())
                column.append(j // width)
        start.append(len(column))
    ends = [range(height, rows + 1, height), range(width, columns + 1, width)]
    counts = [1, rows, columns, len(column), len(ends[0]), len(ends[1])]
    lines = [*([count] for count in counts), *ends, [len(start)], [len(column)], start, column]
    return "".join("\t".join(map(str, line)) + "\n" for line in lines) + bodies


def sparse(matrix, storage):
    """As CSparse prints it, with more digits."""
    rows, columns = matrix.shape
    head = f"2\n{rows}\n{columns}\n{SPARSE[storage]}\n{CSPARSE}"
    if storage == "triplets":
        i, j = np.nonzero(matrix)
        lines = "".join(f"    {a} {b} : {matrix[a, b]:.17g}\n" for a, b in zip(i, j, strict=True))
        return f"{head}triplet: {rows}-by-{columns}, nzmax: {len(i)} nnz: {len(i)}\n{lines}"
    packed = sp.csr_matrix(matrix) if storage == "rows" else sp.csc_matrix(matrix)
    text = f"{head}{rows}-by-{columns}, nzmax: {packed.nnz} nnz: {packed.nnz}, 1-norm: 1.5\n"
    for k in range(len(packed.indptr) - 1):
        first, last = packed.indptr[k], packed.indptr[k + 1]
        text += f"    col {k} : locations {first} to {last - 1}\n"
        text += "".join(f"      {packed.indices[p]} : {packed.data[p]:.17g}\n" for p in range(first, last))
    return text


def fclib(path, storage="rows", dimension=3, **parts):
    """A file with matrices (2D arrays) and vectors (1D) under their FCLIB names."""
    form = "fclib_local" if "W" in parts else "fclib_global"
    with h5py.File(path, "w") as file:
        group = file.create_group(form)
        group["spacedim"] = np.array([dimension], np.int32)
        for name, values in parts.items():
            if np.ndim(values) == 1:
                group[f"vectors/{name}"] = np.asarray(values, float)
            else:
                matrix = values if sp.issparse(values) else np.asarray(values, float)
                put_matrix(group.create_group(name), matrix, storage)
    return path


def put_matrix(group, matrix, storage):
    group["m"], group["n"] = (np.array([size], np.int32) for size in matrix.shape)
    if storage == "triplets":
        i, p = np.nonzero(matrix)
        nz, x = len(i), matrix[i, p]
    else:
        packed = sp.csr_matrix(matrix) if storage == "rows" else sp.csc_matrix(matrix)
        nz, i, p, x = (-2 if storage == "rows" else -1), packed.indices, packed.indptr, packed.data
    group["nz"], group["nzmax"] = np.array([nz], np.int32), np.array([len(x)], np.int32)
    group["i"], group["p"], group["x"] = i.astype(np.int32), p.astype(np.int32), x
