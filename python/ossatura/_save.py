# SPDX-License-Identifier: Apache-2.0
"""Files of results: arrays of NumPy, and VTK's XML files of images and meshes, which ParaView and PyVista read."""
from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ._errors import UsageError

Arrays = Mapping[str, NDArray[Any]]

_TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}
_CELLS = {3: 5, 4: 10, 8: 12}  # of VTK, by the number of nodes
_CHUNK = 1 << 22  # values that are converted at a time


def save(path: str | os.PathLike[str], writers: Mapping[str, Callable[[IO[bytes]], None]]) -> None:
    """Writes a file by the one of `writers` that the ending of its name has. A file of that name is replaced when the
    new one is whole. Raises UsageError for other endings, OSError where the file cannot be written."""
    target = pathlib.Path(path)
    if target.suffix.lower() not in writers:
        raise UsageError(f"save({str(path)!r}): a name that ends in " + " or ".join(writers))
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            writers[target.suffix.lower()](file)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def write_npz(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Arrays, numbers and texts by name, for numpy.load(); None is left out."""
    np.savez(file, **{name: value for name, value in arrays.items() if value is not None})


def write_vti(file: IO[bytes], shape: Sequence[int], spacing: float, cells: Arrays, points: Arrays,
              numbers: Arrays) -> None:
    """An image of VTK: `cells` [z, y, x] or [z, y, x, components], `points` with one more along each axis."""
    extent = " ".join(f"0 {n}" for n in reversed(shape))
    kind = f'<ImageData WholeExtent="{extent}" Origin="0 0 0" Spacing="{spacing!r} {spacing!r} {spacing!r}">'
    _write(file, "ImageData", kind, f'<Piece Extent="{extent}">',
           {"CellData": _rows(cells, 3), "PointData": _rows(points, 3)}, numbers)


def write_vtu(file: IO[bytes], points: NDArray[np.float64], elements: Sequence[NDArray[np.int32]], cells: Arrays,
              nodes: Arrays, numbers: Arrays) -> None:
    """A mesh of VTK. `elements`: arrays [.., 3, 4 or 8] of triangles, tetrahedra and hexahedra, one after the other."""
    sizes = np.concatenate([np.full(len(some), some.shape[1]) for some in elements])
    kinds = np.concatenate([np.full(len(some), _CELLS[some.shape[1]], np.uint8) for some in elements])
    mesh = {"connectivity": np.concatenate([some.ravel() for some in elements]), "offsets": np.cumsum(sizes),
            "types": kinds}
    _write(file, "UnstructuredGrid", "<UnstructuredGrid>",
           f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(sizes)}">',
           {"Points": {"Points": points}, "Cells": mesh, "CellData": cells, "PointData": nodes}, numbers)


def _rows(arrays: Arrays, axes: int) -> dict[str, NDArray[Any]]:
    return {name: array.reshape(-1, *array.shape[axes:]) for name, array in arrays.items()}


def _write(file: IO[bytes], kind: str, opening: str, piece: str, parts: Mapping[str, Arrays],
           numbers: Arrays) -> None:
    """VTK's XML with the values behind it, as they are in memory: a length of 8 bytes before each array."""
    lines = ['<?xml version="1.0"?>',
             f'<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">', opening]
    values: list[NDArray[Any]] = []
    place = 0

    def describe(arrays: Arrays, tuples: str = "") -> Iterator[str]:
        nonlocal place
        for name, array in arrays.items():
            components = f' NumberOfComponents="{array.shape[1]}"' if array.ndim > 1 else ""
            yield (f'<DataArray type="{_TYPES[array.dtype.str[1:]]}" Name="{name}"{components}{tuples} '
                   f'format="appended" offset="{place}"/>')
            values.append(array)
            place += 8 + array.nbytes

    lines += ["<FieldData>", *describe(numbers, ' NumberOfTuples="1"'), "</FieldData>", piece]
    for name, arrays in parts.items():
        lines += [f"<{name}>", *describe(arrays), f"</{name}>"]
    lines += ["</Piece>", f"</{kind}>", '<AppendedData encoding="raw">', "_"]
    file.write("\n".join(lines).encode())
    for array in values:
        file.write(np.array(array.nbytes, "<u8").tobytes())
        rows = max(1, _CHUNK // max(1, array[:1].size))
        for first in range(0, len(array), rows):
            some = array[first:first + rows]
            file.write(np.ascontiguousarray(some, some.dtype.newbyteorder("<")).tobytes())
    file.write(b"\n</AppendedData>\n</VTKFile>\n")


def numbers_of(result: object, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Those of the named attributes that are numbers, each an array of one."""
    found = {name: getattr(result, name) for name in names}
    return {name: np.array([value], np.float64) for name, value in found.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)}
