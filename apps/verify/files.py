# SPDX-License-Identifier: Apache-2.0
"""The files of a run (summary, VTKHDF, the XXH64 of any), and the report of what the checks found."""
import json
import os

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # some file systems have no locks, and nothing is written
import h5py  # noqa: E402
import numpy  # noqa: E402

try:
    import xxhash
except ImportError:
    xxhash = None

CORNERS = {5: 3, 10: 4, 11: 8, 12: 8}  # by VTK's numbers: triangle, tetrahedron, voxel, hexahedron
HEXAHEDRON_OF_VOXEL = [0, 1, 3, 2, 4, 5, 7, 6]
SLOW_HASH_LIMIT = 4 << 20  # bytes that plain Python hashes in some seconds


class NotThere(Exception):
    """A file or a dataset of the run that cannot be read."""


class Report:
    def __init__(self):
        self.checked = self.failed = 0

    def true(self, name, good, why="", value="", bound=""):
        """`why` says what is wrong where it does not hold."""
        self.checked, self.failed = self.checked + 1, self.failed + (not good)
        print(f"  {name:<36} {value:>10} {bound:>11}  {'ok' if good else 'FAILED' + (why and ': ' + why)}")

    def skip(self, name, why):
        print(f"  {name:<36} {'':>22}  not checked: {why}")

    def bound(self, name, value, bound):
        """Holds where |value| <= bound; what is no number fails."""
        self.true(name, abs(float(value)) <= bound, "", f"{abs(value):.3g}", f"<= {bound:.3g}")

    def same(self, name, found, said, relative=1e-9, scale=0.0):
        """Two numbers, or lists of them, differ by no more than this part of the largest magnitude among
        them, or of `scale` where that is more; null fails."""
        found, said = ([x] if not hasattr(x, "__len__") else list(x) for x in (found, said))
        if len(found) != len(said) or None in said:
            self.true(name, False, f"{said} in the summary, {found} here")
        else:
            size = max([scale, 1e-300] + [abs(x) for x in found + said])
            self.bound(name, max((abs(a - b) for a, b in zip(found, said)), default=0) / size, relative)


def xxh64(data):
    """XXH64 with seed 0 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) as 16 hexadecimal digits."""
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)
    mask, size, whole, h = (1 << 64) - 1, len(data), len(data) & ~31, p5

    def turn(x, bits):
        return (x << bits | x >> 64 - bits) & mask

    def mix(lane, word):
        return turn((lane + word * p2) & mask, 31) * p1 & mask

    lanes = [(p1 + p2) & mask, p2, 0, -p1 & mask]
    for stripe in numpy.frombuffer(data, "<u8", whole // 8).reshape(-1, 4).tolist():
        lanes = [mix(lane, word) for lane, word in zip(lanes, stripe)]
    if whole:
        h = sum(turn(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & mask
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * p1 + p4) & mask
    h = (h + size) & mask
    for word in numpy.frombuffer(data, "<u8", (size - whole) // 8, whole).tolist():
        h = (turn(h ^ mix(0, word), 27) * p1 + p4) & mask
    for word in numpy.frombuffer(data, "<u4", size >> 2 & 1, size & ~7).tolist():
        h = (turn(h ^ word * p1 & mask, 23) * p2 + p3) & mask
    for byte in data[size & ~3:]:
        h = turn(h ^ byte * p5 & mask, 11) * p1 & mask
    for shift, factor in ((33, p2), (29, p3), (32, 1)):
        h = (h ^ h >> shift) * factor & mask
    return f"{h:016x}"


def hash_of(path):
    """XXH64 of a file, or None where it is too long for plain Python."""
    with open(path, "rb") as file:
        if xxhash is None:
            return xxh64(file.read()) if os.path.getsize(path) <= SLOW_HASH_LIMIT else None
        state = xxhash.xxh64(seed=0)
        for part in iter(lambda: file.read(1 << 20), b""):
            state.update(part)
        return state.hexdigest()


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Run:
    """A summary and the files that belong to it. Throws ValueError where `path` is no summary."""

    def __init__(self, path):
        self.folder, self.summary = os.path.dirname(os.path.abspath(path)), read_json(path)
        if not isinstance(self.summary, dict) or not isinstance(self.summary.get("schema"), str):
            raise ValueError("it has no 'schema': it is no summary of ossatura")
        self.system = (self.summary["schema"].split("/") + [""])[1]
        self.status, self.problem, self.results, self.parameters, self.provenance = (
            self.summary.get(key) or {} for key in ("status", "problem", "results", "parameters", "provenance"))
        documents = [self.find(one["path"], True) for one in self.provenance.get("inputs", [])]
        self.input = next((read_json(name) for name in documents if name and name.endswith(".json")), {})
        default = {"pfem": 1e-8, "softbody": 1e-9, "eikonal": 1e-7}.get(self.system, 1e-6)
        self.tolerance = float(self.setting("tolerance", self.input.get("solver", {}).get("tolerance", default)))
        self.balance = min(0.1, max(1e-5, 1000 * self.tolerance))  # as certificates have it, docs/formats.md

    def setting(self, key, default):
        """An option, or what holds where it is not given."""
        return default if self.parameters.get(key) is None else self.parameters[key]

    def find(self, name, is_input=False):
        """Where a file is now, or None: an output of -o beside the summary, others where they were written too."""
        here, folder = "" if os.path.isabs(name) else name, self.parameters.get("output-dir")
        places = [os.path.join(self.folder, here), os.path.join(self.folder, os.path.basename(name))]
        if is_input or not folder or self.parameters.get("json") or os.path.dirname(name) != folder.rstrip("/"):
            places.insert(0 if is_input else 2, os.path.join(self.provenance.get("directory", ""), name))
        return next(filter(os.path.isfile, places), None)

    def need(self, name):
        path = self.find(name)
        if path is None:
            raise NotThere(f"{name} is not there")
        return path

    def output(self, ending):
        """The path of the output with this ending; None where the run wrote none."""
        return next((self.need(name) for name in self.results.get("files", []) if name.endswith(ending)), None)

    def frames(self, series):
        return [self.need(os.path.join(os.path.dirname(series), one["name"])) for one in read_json(series)["files"]]


class Fields:
    """A VTKHDF file in memory: point [n, 3]; cell [m, corners], hexahedra in VTK's order, where all are of one
    shape; datasets by name in `points` and `cells`."""

    def __init__(self, path):
        self.points, self.cells, name = {}, {}, os.path.basename(path)
        try:
            with h5py.File(path, "r") as file:
                group = file["VTKHDF"]
                self.point, self.types, self.offset, self.corners = (
                    group[key][...] for key in ("Points", "Types", "Offsets", "Connectivity"))
                for kind, values in (("PointData", self.points), ("CellData", self.cells)):
                    values.update((key, dataset[...]) for key, dataset in group[kind].items())
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            raise NotThere(f"{name} cannot be read: {error}") from None
        sizes = [(a, len(self.point)) for a in self.points.values()] + [(a, len(self.types)) for a in self.cells.values()]
        if (len(self.corners) != self.offset[-1] or not 0 <= self.corners.min() <= self.corners.max() < len(self.point)
                or any(len(array) != count for array, count in sizes)):
            raise NotThere(f"{name} has datasets that do not fit each other")
        if (self.types == self.types[0]).all():
            self.cell = self.corners.reshape(-1, CORNERS[self.types[0]])
            self.cell = self.cell[:, HEXAHEDRON_OF_VOXEL] if self.types[0] == 11 else self.cell

    def __getitem__(self, name):
        """The dataset, of points else of cells, in double precision."""
        if name not in {**self.points, **self.cells}:
            raise NotThere(f"there is no dataset '{name}'")
        return {**self.cells, **self.points}[name].astype(float)
