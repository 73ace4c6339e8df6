# SPDX-License-Identifier: Apache-2.0
"""Activation times of the heart on tetrahedra with fibres, by the fast iterative method.

    solver = eikonal.Solver(points, tetra, fibres=fibres, tags=tags, velocities={1: (0.6, 0.3), 2: 2.0})
    times = solver.solve({17: 0.0, 99: 5.0})
"""
from __future__ import annotations

import dataclasses
import functools
import math
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _backends, _core, _doubts, _draw, _numbers, _save
from ._errors import ConvergenceError, InputError, UsageError, choice
from ._held import Held
from ._libraries import NUMPY, is_on_gpu, library_of
from ._log import logger

__all__ = ["Gradient", "Info", "Solver"]

Velocities = Union[float, Sequence[float], Mapping[int, Union[float, Sequence[float]]], NDArray[Any]]
_Three = tuple[float, float, float]

_METHODS = ("auto", "queue", "scan", "spread", "patch")


@dataclasses.dataclass(frozen=True)
class Info:
    """About the last solve."""
    iterations: int
    """of the set that takes most"""
    converged: bool
    """whether the residual and the certificate are within their bounds, in single precision 1e-2 of the certificate"""
    residual: float
    """max |t - update(t)| / t over all vertices but sites, computed afresh"""
    certificate: float
    """the same with the metric in double: about what times are off by from the discrete solution"""
    certificate_ms: float
    """the same, not divided by t, ms"""
    seconds: float
    """of the iterations"""
    num_unreached: tuple[int, ...]
    """vertices that no wave reaches, by set of sites"""


@dataclasses.dataclass(frozen=True, eq=False)
class Gradient:
    """The derivatives of a number by what times depend on."""
    sites: Mapping[int, float]
    """by the time of each site, in units of the number per ms"""
    velocities: NDArray[np.float64]
    """[num_tetra, 3] by the velocities of each tetrahedron along fibre, sheet and normal, per mm/ms. Where these
    are one number the derivative by it is their sum; of (along, across) the second is that of the last two."""
    _tags: NDArray[np.int32] | None

    def by_tag(self) -> dict[int, tuple[float, float, float]]:
        """The derivatives by the three velocities of each tag."""
        velocities = _arrays.host(self.velocities)
        tags = np.zeros(len(velocities), np.int32) if self._tags is None else self._tags
        known, place = np.unique(tags, return_inverse=True)
        columns = [np.bincount(place, column, len(known)) for column in velocities.T]
        return {int(tag): (float(fibre), float(sheet), float(normal))
                for tag, fibre, sheet, normal in zip(known, *columns)}


class Solver(Held):
    """Activation times sqrt(grad t . D grad t) = 1, D the velocity squared: set up once for a mesh, solved for any
    sites and velocities.

    points: [num_points, 3] mm. tetra: [num_tetra, 4] vertices.
    velocities: in m/s = mm/ms along the fibre, the sheet and their normal: v, (along, across) or (fibre, sheet,
        normal), for all tetrahedra or as {tag: v}; or an array [num_tetra] or [num_tetra, 1 to 3] of those of
        each. Where the first is 0 or NaN no wave goes.
    fibres, sheets: [num_tetra, 3] directions of any length; a fibre of zeros is isotropic tissue.
    tags: [num_tetra] tissues.
    precision: of times: "double" or "single".
    method: "auto", "spread", "queue", or a published one, "scan" or "patch". deterministic: the same bits for any
        number of threads.

    Arrays are copied. Raises InputError and ValueError for meshes and velocities that cannot be, UsageError for
    options. A solver may be used from several threads, one after the other.
    """
    _instead = "make one in each process; the times that solve() returns can be pickled, and save() writes them"

    def __init__(self, points: ArrayLike, tetra: ArrayLike, *, velocities: Velocities, fibres: ArrayLike | None = None,
                 sheets: ArrayLike | None = None, tags: ArrayLike | None = None, precision: str = "double",
                 method: str = "auto", deterministic: bool = False, tolerance: float = 1e-7,
                 max_iterations: int = 1_000_000, backend: str | None = None) -> None:
        choose = _core.EikonalChoice()
        choose.is_double = choice(precision, ("double", "single"), "precision") == "double"
        choose.method = choice(method, _METHODS, "method")
        choose.deterministic = _numbers.flag(deterministic, "deterministic")
        choose.tolerance = _numbers.real(tolerance, "tolerance")
        choose.max_iterations = _numbers.at_least(1, max_iterations, "max_iterations")
        self._library = library_of(points, tetra, fibres, velocities)
        points = _arrays.host_floats(points, np.float64, (None, 3), "points")
        tetra = _arrays.integers(tetra, (None, 4), "tetra")
        _arrays.require_numbers(tetra, len(points), "tetra")
        n = len(tetra)
        if tags is not None:
            tags = _arrays.integers(tags, (n,), "tags")
        if fibres is not None:
            fibres = _arrays.host_floats(fibres, np.float32, (n, 3), "fibres")
            _arrays.require_finite(fibres, "fibres")
        if sheets is not None:
            sheets = _arrays.host_floats(sheets, np.float32, (n, 3), "sheets")
            _arrays.require_finite(sheets, "sheets")
            if fibres is None:
                raise InputError("sheets: there are no fibres, without which they have no effect: give both, or neither")
        self._has_sheets = sheets is not None
        self.num_points: int = len(points)
        self.num_tetra: int = n
        self._tags = None if tags is None else tags.copy()
        self._points, self._tetra = points.copy(), tetra.copy()  # for files and pictures
        self._max_iterations = choose.max_iterations
        self._dtype = np.dtype(np.float64 if choose.is_double else np.float32)
        self._lock = threading.RLock()
        self._info: Info | None = None
        self._last: Callable[[], NDArray[Any] | None] = lambda: None  # times, where somebody still has them
        self.backend: str = _backends.choose(backend)
        by_tag, by_tetra, is_one = self._velocities(velocities)
        self._model = _core.EikonalModel(self.backend, points, tetra, tags, fibres, sheets, by_tag, by_tetra, is_one, choose)
        _require_volume(self._points, self._tetra)
        _arrays.require_elements(self._tetra, "tetra")
        unused = self._without(self._tetra)
        self._unused = unused if unused.any() else None
        if self._unused is not None:
            logger.warning("%d of %d points (%d is the first) belong to no tetrahedron: no wave arrives there", unused.sum(),
                           self.num_points, unused.argmax(), extra={"code": "unused-points"})
        self._find_conducting(by_tag, by_tetra)
        _doubts.hearts(self._points, self._tetra)
        self._warn_of_velocities(by_tag, by_tetra)

    @property
    def info(self) -> Info | None:
        """About the last solve that ended; None before."""
        return self._info

    def set_velocities(self, velocities: Velocities) -> None:
        """Other velocities for later solves, as in the constructor."""
        given = self._velocities(velocities)
        with self._lock:
            self._set_velocities(*given)
        self._warn_of_velocities(*given[:2])

    def solve(self, sites: Mapping[int, float] | Sequence[Mapping[int, float]], *,
              velocities: Velocities | None = None, out: NDArray[Any] | None = None, check: bool = True,
              callback: Callable[[int, int], None] | None = None) -> NDArray[Any]:
        """Times [num_points] in ms of waves from sites {vertex: time}, or [sets, num_points] of a list of such sets,
        each on its own. Infinity where no wave arrives.

        velocities: others for this and later solves. out: a C-contiguous array for the times, of the solver's
        precision; a TypeError where it is not. check: raise ConvergenceError, with the times as its result, where
        they are not converged. callback(done, total): called on this thread when some of the sets are solved; an
        exception ends the solve. Ctrl-C ends it between two iterations of a few sets.
        """
        check = _numbers.flag(check, "check")
        observe = None if callback is None else lambda done, total: callback(done, int(total))
        sets, is_one = _sets(sites, self.num_points)
        shape = (self.num_points,) if is_one else (len(sets), self.num_points)
        if out is not None:
            _arrays.output(out, self._dtype, shape, "out")
        given = None if velocities is None else self._velocities(velocities)
        solve = self._model.solve_double if self._dtype == np.float64 else self._model.solve_single
        numbers: dict[str, Any] = {}
        times: NDArray[Any]
        with self._lock:
            if given is not None:
                self._set_velocities(*given)
            self._require_start(sets)
            if out is None:
                library = library_of(velocities) if is_on_gpu(velocities) else self._library
                times = library.make(shape, self._dtype, lambda memory: numbers.update(solve(sets, observe, memory)))
            else:
                times = out
                numbers.update(solve(sets, observe, out))
            numbers["num_unreached"] = tuple(numbers["num_unreached"])
            is_steady = numbers.pop("is_steady")
            info = self._info = Info(**numbers)
            self._last = weakref.ref(times)
            self._warn_of_times(sets, times, is_one, info, is_steady)
        for number, pairs in enumerate(sets):
            if len(pairs) > 1:
                _doubts.swallowed(pairs, times if is_one else times[number], "" if is_one else f" of set {number}")
        if check and not info.converged:
            flat = "tetrahedra are too flat"
            if self._dtype == np.float32:
                flat += " for single precision, or velocities of one differ too much: precision=\"double\""
            if is_steady:
                why = f"certificate {info.certificate:.1e}: times are off by about as much of them ({info.certificate_ms:.2g} ms); {flat}"
            else:
                ended = self._dtype == np.float32 and info.iterations < self._max_iterations
                why = (f"residual {info.residual:.1e} after {info.iterations} iterations: not converged; " +
                       (flat if ended else "raise max_iterations"))
            raise ConvergenceError(f"{why}; check=False returns what there is", times)
        return times

    def gradient(self, sites: Mapping[int, float], times: ArrayLike, weights: ArrayLike, *,
                 velocities: Velocities | None = None) -> Gradient:
        """The derivatives of a number J of the times of one set of sites, by the chain rule.

        times: as solve(sites) returned them, with the present velocities, or with `velocities`, which become the
        present ones: where others may have been set since; InputError where they are those of others. weights:
        [num_points] dJ/dt of each vertex; 0 for those that J does not depend on. Exact for the discrete times, without a further solve; where
        two ways take the same time, the slope of one of them. A site that the wave of another reached earlier has 0.

        Example: J = sum (t_k - measured_k)^2 of some vertices has weights 2 (t_k - measured_k) there.
        """
        sets, is_one = _sets(sites, self.num_points)
        if not is_one:
            raise UsageError("gradient: of one set of sites {vertex: time}")
        times = _arrays.floats(times, self._dtype, (self.num_points,), "times")
        weights = _arrays.floats(weights, np.float64, (self.num_points,), "weights")
        _arrays.require_finite(weights, "weights")
        given = None if velocities is None else self._velocities(velocities)
        find = self._model.gradient_double if self._dtype == np.float64 else self._model.gradient_single
        by_site: list[float] = []
        library = library_of(times, weights)
        with self._lock:
            if given is not None:
                self._set_velocities(*given)
            out = (self._library if library is NUMPY else library).make(
                (self.num_tetra, 3), np.float64, lambda memory: by_site.extend(find(sets[0], times, weights, memory)))
        return Gradient({vertex: slope for (vertex, _), slope in zip(sets[0], by_site)}, out, self._tags)

    def save(self, path: str | os.PathLike[str], times: ArrayLike) -> None:
        """Writes the mesh with times [num_points] or [sets, num_points] in ms to a file: .npz for numpy.load(), or
        .vtu, a mesh of VTK, where a vertex that no wave reaches has NaN.

        A file of that name is replaced when the new one is whole. Raises UsageError for other endings, OSError where
        the file cannot be written.
        """
        array = _arrays.host(times, "times")
        _arrays.require_shape(array, (None, self.num_points) if array.ndim == 2 else (self.num_points,), "times")
        tags = {} if self._tags is None else {"tags": self._tags}
        names = ["times"] if array.ndim == 1 else [f"times_{k}" for k in range(len(array))]
        _save.save(path, {
            ".npz": lambda file: _save.write_npz(file, {"points": self._points, "tetra": self._tetra, "times": array,
                                                        **tags}),
            ".vtu": lambda file: _save.write_vtu(file, self._points, [self._tetra], tags, {
                name: np.where(np.isfinite(row), row, np.nan).astype(self._dtype)
                for name, row in zip(names, np.atleast_2d(array))}, {})})

    def plot(self, times: ArrayLike, *, path: str | os.PathLike[str] | None = None, engine: str | None = None) -> Any:
        """Draws times [num_points] in ms on the surface of the mesh, grey where no wave arrives; matplotlib draws dots
        for surfaces of more than 40 000 faces. Arguments and what is returned as of bone.Result.plot()."""
        array = _arrays.host_floats(times, np.float64, (self.num_points,), "times")
        faces, values = self._faces, array[self._faces].mean(1)
        return _draw.plot(
            lambda figure: _draw.surface(figure, self._points, [faces], [values], "ms", "mm"),
            lambda plotter: _draw.surface_scene(plotter, self._points, [faces], [values], "ms"), (7, 5), path, engine)

    def _repr_html_(self) -> str:
        rows = [("vertices", str(self.num_points)), ("tetrahedra", str(self.num_tetra))]
        if self._info is not None:
            rows += [("certificate", f"{self._info.certificate:.1e} of the times"),
                     ("unreached vertices", ", ".join(map(str, self._info.num_unreached[:8]))),
                     ("last solve", f"{self._info.seconds:.3g} s, {self._info.iterations} iterations"
                                    f"{'' if self._info.converged else ', NOT CONVERGED'}")]
        times, faces = self._last(), self._faces
        if times is None:
            return _draw.summary("activation times", rows, None, (0, 0))
        values = _arrays.host(times).reshape(-1, self.num_points)[0][faces].mean(1)
        return _draw.summary("activation times", rows, lambda figure: _draw.surface(
            figure, self._points, [faces], [values], "ms", "mm"), (5, 3.5))

    def _set_velocities(self, by_tag: dict[int, _Three] | None, by_tetra: NDArray[np.float64] | None, is_one: bool) -> None:
        self._model.set_velocities(by_tag, by_tetra, is_one)
        self._find_conducting(by_tag, by_tetra)

    def _warn_of_velocities(self, by_tag: dict[int, _Three] | None, by_tetra: NDArray[np.float64] | None) -> None:
        """Of velocities in other units, and of tags that no tetrahedron has, which are no mistake where one dictionary serves
        several meshes."""
        tags = np.zeros(1, np.int32) if self._tags is None else np.unique(self._tags)
        if unused := sorted(set(by_tag or ()) - set(map(int, tags))):
            logger.info("velocities are given for tags that no tetrahedron has: %s; the mesh has %s", _listed(unused), _listed(tags), extra={"code": ""})
        if self._has_sheets and is_on_gpu(by_tetra):
            return  # where it stays
        v = np.array(list(by_tag.values())) if by_tetra is None and by_tag else _arrays.host(by_tetra)
        _doubts.velocities(v, list(by_tag) if by_tetra is None and by_tag else None)

    def _warn_of_times(self, sets: list[list[tuple[int, float]]], times: Any, is_one: bool, info: Info, is_steady: bool) -> None:
        """Of vertices of tissue that conducts which no wave reaches, and of digits that a late start costs."""
        blocked = 0 if self._blocked is None else int(self._blocked.sum())
        is_unreached = any(n > blocked for n in info.num_unreached)
        starts_late = self._dtype == np.float32 and any(time != 0 for pairs in sets for _, time in pairs)
        found: Sequence[Sequence[int]] = [(0, 0, 0)] * len(sets)
        earliest, latest = [0.0] * len(sets), [0.0] * len(sets)
        if is_unreached or starts_late:
            rows = np.ascontiguousarray(_arrays.host(times).reshape(len(sets), self.num_points), np.float64)
            if is_unreached:
                some = None if self._conducts is None else (~self._conducts).view(np.uint8)
                found = _core.eikonal_unreached(self._tetra, some, sets, rows)
            if starts_late:
                earliest = [float(row.min()) for row in rows]
                latest = [float(np.max(row, where=np.isfinite(row), initial=-math.inf)) for row in rows]
        for number, (num_vertices, num_apart, num_late) in enumerate(found):
            of_set = "" if is_one else f" of set {number}"
            _doubts.unreached(num_vertices, num_apart, num_late, is_steady, self._conducts is not None, of_set)
            _doubts.rounded_times(earliest[number], latest[number], of_set)

    def _without(self, tetra: NDArray[np.int32]) -> NDArray[np.bool_]:
        """[num_points] vertices of none of these tetrahedra."""
        without = np.ones(self.num_points, bool)
        without[tetra] = False
        return without

    def _find_conducting(self, by_tag: dict[int, _Three] | None, by_tetra: NDArray[np.float64] | None) -> None:
        """Notes which tetrahedra conduct, [num_tetra] or None where all do, and [num_points] vertices from which no wave
        goes, all of whose tetrahedra do not; None without any."""
        self._conducts: NDArray[np.bool_] | None = None
        if by_tag is None:
            assert by_tetra is not None
            conducts = by_tetra[:, 0] > 0
            if not bool(conducts.all()):
                self._conducts = np.asarray(_arrays.host(conducts), dtype=bool)
        else:
            blocked = [tag for tag, velocity in by_tag.items() if not velocity[0] > 0]
            if blocked:
                tags = np.zeros(self.num_tetra, np.int32) if self._tags is None else self._tags
                self._conducts = ~np.isin(tags, blocked)
        self._blocked = self._unused if self._conducts is None else self._without(self._tetra[self._conducts])

    def _require_start(self, sets: list[list[tuple[int, float]]]) -> None:
        """Raises InputError for a set of sites from which no wave goes."""
        if self._blocked is None:
            return
        for number, pairs in enumerate(sets):
            blocked = [vertex for vertex, _ in pairs if self._blocked[vertex]]
            if len(blocked) == len(pairs):
                raise InputError(f"sites: vertex {blocked[0]}{f' of set {number}' if len(sets) > 1 else ''} lies in tissue "
                                 "that does not conduct, or in no tetrahedron: no wave starts there")
            if blocked:
                logger.info("%d of %d sites (vertex %d is the first) lie in tissue that does not conduct", len(blocked),
                            len(pairs), blocked[0], extra={"code": ""})

    @functools.cached_property
    def _faces(self) -> NDArray[np.int32]:
        return _draw.boundary(self._tetra)[0]

    def _velocities(self, velocities: Any) -> tuple[dict[int, _Three] | None, NDArray[np.float64] | None, bool]:
        """(by tag, by tetrahedron, whether they were given as one for all), one of the first two is None."""
        if isinstance(velocities, Mapping):
            return {_numbers.whole(tag, "velocities: tag"): _three(v, f"tag {tag}") for tag, v in velocities.items()}, None, False
        _arrays.refuse_masked(velocities, "velocities")
        if np.ndim(velocities) == 0 or np.ndim(velocities) == 1 and not hasattr(velocities, "shape") and len(velocities) <= 3:
            v = _three(velocities, "all tetrahedra")
            return {int(tag): v for tag in ((0,) if self._tags is None else np.unique(self._tags))}, None, True
        rows = _arrays.array_of(velocities, "velocities")
        if rows.ndim == 1:
            rows = rows[:, None]
        if rows.ndim != 2 or not 1 <= rows.shape[1] <= 3:
            raise InputError(f"velocities: an array of shape [{self.num_tetra}, 1 to 3], not {list(rows.shape)}")
        return None, _arrays.floats(rows, np.float64, (self.num_tetra, rows.shape[1]), "velocities"), False


def different_vertices(vertices: Sequence[int], solver: Solver) -> list[int]:
    """Of functions of velocities and site times: the numbers of sites, each once."""
    numbers = [_numbers.whole(vertex, "vertices") for vertex in vertices]
    for vertex in numbers:
        if not 0 <= vertex < solver.num_points:
            raise InputError(f"vertices: {vertex}, and the mesh has 0 to {solver.num_points - 1}")
    if not numbers or len(set(numbers)) != len(numbers):
        raise UsageError("vertices: at least one, and each once")
    return numbers


def require_rows(shape: Sequence[int], num_tetra: int) -> None:
    """Of functions of velocities with gradients: refuses arrays that do not have those of each tetrahedron."""
    if not (len(shape) in (1, 2) and shape[0] == num_tetra and (len(shape) == 1 or 1 <= shape[1] <= 3)):
        raise InputError(f"velocities: an array of shape [{num_tetra}] or [{num_tetra}, 1 to 3], not {list(shape)}")


def folded(gradient: Any, shape: Sequence[int], module: Any = np) -> Any:
    """The derivatives by three velocities as those by the one, or (along, across), that were given for them, in an array
    of `shape` of NumPy or of another `module`."""
    columns = shape[1] if len(shape) == 2 else 1
    if columns == 2:
        gradient = module.stack([gradient[:, 0], gradient[:, 1] + gradient[:, 2]], 1)
    elif columns == 1:
        gradient = gradient.sum(1)
    return gradient.reshape(tuple(shape))


def _listed(tags: Sequence[int] | NDArray[np.int32]) -> str:
    return ", ".join(str(tag) for tag in tags[:8]) + (", ..." if len(tags) > 8 else "")


def _require_volume(points: NDArray[np.float64], tetra: NDArray[np.int32]) -> None:
    """Raises InputError where all tetrahedra are flat, as without a coordinate."""
    for first in range(0, len(tetra), 1 << 14):  # the first ones tell, of most meshes
        corners = points[tetra[first:first + (1 << 14)]]
        longest = max(np.linalg.norm(corners[:, k] - corners[:, m], axis=1).max() for k in range(4) for m in range(k))
        edges = corners[:, 1:] - corners[:, :1]
        if longest > 0 and (np.abs(np.linalg.det(edges / longest)) > 1e-9).any():
            return
    raise InputError(f"tetra: none of the {len(tetra)} has a volume: all points lie in a plane or in one place; is a "
                     "coordinate missing?")


def _three(velocity: Any, where: str) -> _Three:
    """Velocities along fibre, sheet and normal."""
    _arrays.refuse_masked(velocity, f"velocities of {where}")
    v = [_numbers.any_real(x, f"velocities of {where}") for x in np.ravel(velocity)]
    if not 1 <= len(v) <= 3:
        raise InputError(f"velocities of {where}: one to three numbers, not {len(v)}")
    return v[0], v[min(1, len(v) - 1)], v[-1]


def _sets(sites: Any, num_points: int) -> tuple[list[list[tuple[int, float]]], bool]:
    """Lists of (vertex, time), and whether there is one set alone."""
    is_one = isinstance(sites, Mapping)
    sets = []
    if not isinstance(sites, Iterable):
        raise TypeError(f"sites={sites!r}: {{vertex: time in ms}}, or a list of such sets")
    for one in [sites] if is_one else sites:
        if not isinstance(one, Mapping):
            raise UsageError("sites: {vertex: time in ms}, or a list of such sets")
        pairs = [(_numbers.whole(vertex, "sites: vertex"), _numbers.real(time, f"sites: time of vertex {vertex}"))
                 for vertex, time in one.items()]
        for vertex, _ in pairs:
            if not 0 <= vertex < num_points:
                raise InputError(f"sites: vertex {vertex}, and the mesh has 0 to {num_points - 1}")
        if not pairs:
            raise InputError("sites: a set without a site")
        sets.append(pairs)
    if not sets:
        raise InputError("sites: no set of sites")
    return sets, is_one
