# SPDX-License-Identifier: Apache-2.0
"""The files of a run, and the report of what the checks found."""
import contextlib
import json
import os

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # some file systems have no locks, and nothing is written
import h5py  # noqa: E402
import numpy  # noqa: E402
import xxhash  # noqa: E402

# Corners by VTK's numbers of triangle, tetrahedron, voxel and hexahedron, the latter two in the order of a voxel.
CORNERS = {5: [0, 1, 2], 10: [0, 1, 2, 3], 11: [0, 1, 2, 3, 4, 5, 6, 7], 12: [0, 1, 3, 2, 4, 5, 7, 6]}


class NotThere(Exception):
    """A file or a dataset of the run that cannot be read."""


class NotChecked(Exception):
    """What is not checked, and why."""


def require(given, *what_and_why):
    """Leaves the rest of a part of the checks out where something is not given."""
    if not given:
        raise NotChecked(*what_and_why)


def pick(said, names):
    return [said[name] for name in names.split()]


class Report:
    def __init__(self):
        self.checked = self.failed = 0

    @contextlib.contextmanager
    def part(self, name):
        """Checks of which each may end those that follow."""
        try:
            yield
        except NotChecked as reason:
            self.skip(*reason.args)
        except NotThere as error:
            self.true("files", False, str(error))
        except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError, OSError) as error:
            self.true(name, False, f"not of the form that is written: {type(error).__name__}: {error}")

    def true(self, name, good, why="", value="", bound=""):
        """`why` says what is wrong where it does not hold."""
        self.checked, self.failed = self.checked + 1, self.failed + (not good)
        print(f"  {name:<36} {value:>10} {bound:>11}  {'ok' if good else 'FAILED' + (why and ': ' + why)}")

    def skip(self, name, why):
        print(f"  {name:<36} {'':>22}  not checked: {why}")

    def bound(self, name, value, bound):
        """Holds where |value| <= bound, for all of an array; what is no number fails."""
        value = abs(numpy.asarray(value, float)).max()
        self.true(name, value <= bound, "", f"{value:.3g}", f"<= {bound:.3g}")

    def same(self, name, found, said, relative=1e-9, scale=0.0):
        """Two numbers, or arrays of them, differ by no more than this part of the largest magnitude among
        them, or of `scale` where that is more; null fails."""
        found, said = numpy.array(found, float).ravel(), numpy.array(said, float).ravel()
        if found.shape != said.shape:
            self.true(name, False, f"{said} in the summary, {found} here")
        else:
            size = max(scale, 1e-300, *abs(found), *abs(said))
            self.bound(name, abs(found - said).max(initial=0) / size, relative)


def hash_of(path):
    """XXH64 of a file as 16 hexadecimal digits."""
    with open(path, "rb") as file:
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
        self.options = {key: value for key, value in self.parameters.items() if value is not None}
        documents = [self.find(one["path"], True) for one in self.provenance.get("inputs", [])]
        self.input = next((read_json(name) for name in documents if name and name.endswith(".json")), {})
        default = {"pfem": 1e-8, "softbody": 1e-9, "eikonal": 1e-7}.get(self.system, 1e-6)
        self.tolerance = float({"tolerance": default, **self.input.get("solver", {}), **self.options}["tolerance"])
        self.balance = min(0.1, max(1e-5, 1000 * self.tolerance))  # as certificates have it, docs/formats.md

    def find(self, name, is_input=False):
        """Where a file is now, or None: an output of -o beside the summary, others where they were written too."""
        here, folder = "" if os.path.isabs(name) else name, self.options.get("output-dir")
        places = [os.path.join(self.folder, here), os.path.join(self.folder, os.path.basename(name))]
        if is_input or not folder or self.options.get("json") or os.path.dirname(name) != folder.rstrip("/"):
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

    def fields(self):
        path = self.output(".hdf")
        require(path, "everything else", "no fields were written")
        return Fields(path)


@contextlib.contextmanager
def opened(path):
    """An HDF5 file; NotThere where it is none, or not of the form that is read."""
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, LookupError, ValueError, RuntimeError) as error:
        raise NotThere(f"{os.path.basename(path)} cannot be read: {error}") from None


class Fields(dict):
    """The datasets of a VTKHDF file by name, of cells and points, reals in double precision; point [n, 3];
    cell [m, corners] where all are of one shape."""

    def __init__(self, path):
        with opened(path) as file:
            group = file["VTKHDF"]
            self.point, self.types, self.offset, self.corners = (
                group[key][...] for key in ("Points", "Types", "Offsets", "Connectivity"))
            for kind, count in (("CellData", len(self.types)), ("PointData", len(self.point))):
                self.update((name, values[...]) for name, values in group[kind].items())
                if any(len(values) != count for values in group[kind].values()):
                    raise ValueError("datasets do not fit each other")
            if len(self.corners) != self.offset[-1] or not 0 <= self.corners.min() <= self.corners.max() < count:
                raise ValueError("elements do not fit the points")
        if (self.types == self.types[0]).all():
            self.cell = self.elements(slice(None))

    def elements(self, which):
        """The nodes [m, corners] of elements of one shape."""
        return self.corners[self.offset[:-1][which][:, None] + CORNERS[self.types[which][0]]]

    def __getitem__(self, name):
        if name not in self:
            raise NotThere(f"there is no dataset '{name}'")
        values = super().__getitem__(name)
        return values.astype(float) if values.dtype.kind == "f" else values
