# SPDX-License-Identifier: Apache-2.0
"""The files of a run, and the report of what the checks found."""
import contextlib
import json
import os
import pathlib

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # some file systems have no locks, and nothing is written
import h5py  # noqa: E402
import numpy  # noqa: E402
import xxhash  # noqa: E402

# Nodes by VTK's numbers of triangle, tetrahedron, voxel and hexahedron, the latter two in the order of a voxel; of wedge
# and second-order tetrahedron, hexahedron and wedge as they are.
CORNERS = {5: [0, 1, 2], 10: [0, 1, 2, 3], 11: [0, 1, 2, 3, 4, 5, 6, 7], 12: [0, 1, 3, 2, 4, 5, 7, 6],
           13: range(6), 24: range(10), 25: range(20), 26: range(15)}


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
        except (OSError, RuntimeError) as error:
            self.true("files", False, f"{name}: {error}")
        except Exception as error:  # of Python or NumPy, as the falsification has it
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
    state = xxhash.xxh64()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            state.update(part)
    return state.hexdigest()


def read_json(path):
    return json.loads(pathlib.Path(path).read_bytes())


class Run:
    """A summary and the files that belong to it. Throws ValueError where `path` is no summary."""

    def __init__(self, path):
        self.folder, self.summary = os.path.dirname(os.path.abspath(path)), read_json(path)
        if not isinstance(self.summary, dict) or not isinstance(self.summary.get("schema"), str):
            raise ValueError("it has no 'schema': it is no summary of ossatura")
        self.system = (self.summary["schema"].split("/") + [""])[1]
        self.status, self.problem, self.results, options, self.provenance = (
            self.summary.get(key) or {} for key in ("status", "problem", "results", "parameters", "provenance"))
        self.options = {key: value for key, value in options.items() if value is not None}  # that were given
        self.done = self.status in ("converged", "steps done")  # with exit 0
        documents = [self.find(one["path"], True) for one in self.provenance.get("inputs", [])]
        self.input = next((read_json(name) for name in documents if name and name.endswith(".json")), {})
        default = {"pfem": 1e-8, "softbody": 1e-9, "eikonal": 1e-7}.get(self.system, 1e-6)
        self.tolerance = float({"tolerance": default, **self.input.get("solver", {}), **self.options}["tolerance"])
        self.in_energy = (self.summary.get("engine") or {}).get("residual_norm") == "energy"
        if self.in_energy:
            self.tolerance = max(self.tolerance, min(1000 * self.tolerance, 1e-5))  # of a direct solve, docs/pfem.md
        self.balance = min(0.1, max(1e-5, 1000 * self.tolerance))  # as certificates have it, docs/formats.md

    def find(self, name, is_input=False):
        """Where a file is now: an output of -o beside the summary, others where they were written too; None for an
        input that is not found."""
        here, folder = "" if os.path.isabs(name) else name, self.options.get("output-dir")
        places = [os.path.join(self.folder, here), os.path.join(self.folder, os.path.basename(name))]
        if is_input or not folder or self.options.get("json") or os.path.dirname(name) != folder.rstrip("/"):
            places.insert(0 if is_input else 2, os.path.join(self.provenance.get("directory", ""), name))
        path = next(filter(os.path.isfile, places), None)
        if not path and not is_input:
            raise FileNotFoundError(f"{name} is not there")
        return path

    def output(self, ending):
        """The path of the output with this ending; None where the run wrote none."""
        return next((self.find(name) for name in self.results.get("files", []) if name.endswith(ending)), None)

    def frames(self, series):
        """Paths and times of the frames of this run: a series that a run goes on with begins with those before."""
        frames = read_json(series)["files"]
        if self.results.get("first_step"):
            step = self.problem["time_step"]
            start = self.results["last_time"] - step * self.results["steps_taken"]
            frames = [one for one in frames if one["time"] > start - step / 2]
        return [(self.find(os.path.join(os.path.dirname(series), one["name"])), one["time"]) for one in frames]

    def fields(self):
        path = self.output(".hdf")
        require(path, "everything else", "no fields were written")
        return Fields(path)


class Fields(dict):
    """The datasets of a VTKHDF file by name, of cells and points, reals in double precision; point [n, 3];
    cell [m, corners] where all are of one shape."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            group = file["VTKHDF"]
            self.point, self.types, self.offset, self.corners = (
                group[key][...] for key in ("Points", "Types", "Offsets", "Connectivity"))
            for kind, count in (("CellData", len(self.types)), ("PointData", len(self.point))):
                for name, values in group[kind].items():
                    self[name] = values[...].astype(float if values.dtype.kind == "f" else values.dtype)
                    if len(values) != count:
                        raise ValueError(f"the dataset '{name}' does not fit")
        if len(self.corners) != self.offset[-1] or self.corners.min() < 0:
            raise ValueError("elements do not fit the points")
        if (self.types == self.types[0]).all():
            self.cell = self.elements(slice(None))

    def __missing__(self, name):
        raise FileNotFoundError(f"there is no dataset '{name}'")

    def elements(self, which):
        """The nodes [m, corners] of elements of one shape."""
        return self.corners[self.offset[:-1][which][:, None] + numpy.array(CORNERS[self.types[which][0]])]
