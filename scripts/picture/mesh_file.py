# SPDX-License-Identifier: Apache-2.0
"""Meshes and fields from .hdf (VTKHDF 1.0, as ossatura writes it), .hdf.series and binary STL."""
import json
import os
import struct

import h5py
import numpy

# VTK's numbers of cells, their corners, and these in the order of VTK's hexahedron
CELLS = {5: (3, [0, 1, 2]), 10: (4, [0, 1, 2, 3]), 11: (8, [0, 1, 3, 2, 4, 5, 7, 6]),
         12: (8, [0, 1, 2, 3, 4, 5, 6, 7])}
COMPONENTS = {3: ["x", "y", "z"], 6: ["xx", "yy", "zz", "xy", "yz", "xz"]}


class InputError(Exception):
    """Something is wrong with a file or with what was asked of it."""


def text_of(data, name):
    """The text attribute of a dataset, empty where it has none."""
    text = data.attrs.get(name, b"")
    return text.decode() if isinstance(text, bytes) else str(text)


class Mesh:
    """points [num_points, 3]; blocks: a list of (cell numbers [n], corners [n, 3, 4 or 8])."""

    def __init__(self, path, points, blocks, num_cells, fields=None):
        self.path, self.points, self.blocks, self.num_cells = path, points, blocks, num_cells
        self.fields = fields or {}  # name: the HDF5 dataset and whether it is of points

    def field(self, wanted):
        """(name, unit, is of points, values [n]) of `wanted`, NAME or NAME:COMPONENT."""
        name, _, component = wanted.partition(":")
        known = {key.lower(): key for key in self.fields}
        if name.lower() not in known:
            have = ", ".join(sorted(self.fields)) or "none"
            raise InputError(f"{self.path}: there is no field '{name}'; there is: {have}")
        name = known[name.lower()]
        data, of_points = self.fields[name]
        values = numpy.asarray(data[...], float)
        unit = text_of(data, "unit")
        if name.startswith("activation_time") and text_of(data, "unreached") != "nan":
            values[values == -1] = numpy.nan  # no wave arrives there
        if values.ndim == 1 and component:
            raise InputError(f"{self.path}: '{name}' has no components")
        if values.ndim == 2:
            names = COMPONENTS.get(values.shape[1], [])
            if component in names:
                values = values[:, names.index(component)]
            elif component or values.shape[1] != 3:
                raise InputError(f"{self.path}: '{name}' has the components "
                                 f"{', '.join(names)}: say {name}:{names[0] if names else '?'}")
            else:
                values = numpy.linalg.norm(values, axis=1)
        return (f"{name} {component}".strip(), unit, of_points, values)

    def vectors(self, name):
        """Values [num_points, 3] of a field of vectors at points."""
        data, of_points = self.fields.get(name, (None, False))
        if not of_points or data.ndim != 2 or data.shape[1] != 3:
            raise InputError(f"{self.path}: there is no field of vectors '{name}' at the points")
        return data[...]


def read_hdf(path):
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: is not an HDF5 file that can be read ({error})") from None
    try:
        root = file["VTKHDF"]
        kind = root.attrs["Type"]
        if kind not in (b"UnstructuredGrid", "UnstructuredGrid"):
            raise InputError(f"{path}: holds {kind}, not an UnstructuredGrid")
        points, types = root["Points"][...].astype(float), root["Types"][...]
        begin, corner = root["Offsets"][...], root["Connectivity"][...]
    except KeyError:
        raise InputError(f"{path}: holds no mesh as VTKHDF; files of ossatura's --hdf and -o do") \
            from None
    blocks = []
    for number in numpy.unique(types):
        if int(number) not in CELLS:
            raise InputError(f"{path}: cells of VTK's type {number} are not known here")
        count, order = CELLS[int(number)]
        cells = numpy.flatnonzero(types == number)
        blocks.append((cells, corner[begin[cells][:, None] + numpy.array(order)[:count]]))
    fields = {name: (data, place == "PointData") for place in ("CellData", "PointData")
              if place in root for name, data in root[place].items()}
    return Mesh(path, points, blocks, len(types), fields)


def read_series(path, time):
    """(mesh, time) of the step next to `time`, or of the last one if that is None."""
    try:
        with open(path, encoding="utf-8") as file:
            steps = [(float(step["time"]), step["name"]) for step in json.load(file)["files"]]
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: is not a series of files") from None
    if not steps:
        raise InputError(f"{path}: the series has no steps")
    found, name = steps[-1] if time is None else min(steps, key=lambda step: abs(step[0] - time))
    return read_hdf(os.path.join(os.path.dirname(path), name)), found


def read_stl(path):
    layout = numpy.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("more", "<u2")])
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    count = struct.unpack("<I", content[80:84])[0] if len(content) >= 84 else -1
    if len(content) != 84 + layout.itemsize * count:
        raise InputError(f"{path}: is not a whole file of binary STL")
    if count == 0:
        raise InputError(f"{path}: has no triangles")
    points = numpy.frombuffer(content, layout, offset=84)["corner"].astype(float).reshape(-1, 3)
    cells = numpy.arange(count)
    return Mesh(path, points, [(cells, numpy.arange(3 * count).reshape(-1, 3))], count)
