# SPDX-License-Identifier: Apache-2.0
"""Topology optimisation: where material should be, on hexahedra of any shape, by SIMP.

    optimizer = topopt.Optimizer(points, hexa, young=210e9, held=held, loads=forces, volume=0.3, radius=0.05)
    for step in optimizer:
        print(step.objective)
    optimizer.densities

    found = optimizer.analyse(x)      # for an optimiser of your own
    found.objective, found.gradient, found.volume, found.volume_gradient
"""
from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _backends, _core, _doubts, _draw, _numbers, _save
from ._errors import ConvergenceError, InputError, UsageError, choice
from ._held import Held
from ._libraries import NUMPY, library_of

__all__ = ["Analysis", "Optimizer", "Step", "box"]

_FILTERS = ("none", "sensitivity", "density", "helmholtz")
_METHODS = ("oc", "mma")
_AXES = ("x", "y", "z")
_Result = TypeVar("_Result")


@dataclasses.dataclass(frozen=True)
class Step:
    """One step: the design was analysed, then changed."""
    number: int
    objective: float
    """J: sum over load cases of weight f . u, of the design at the start of the step"""
    cases: tuple[float, ...]
    """J: f . u of each load case"""
    volume: float
    """fraction of the volume of all elements, of the physical densities that were analysed"""
    grey: float
    """mean of 4 rho (1 - rho) over what is free: 0 is black and white"""
    change: float
    """the largest of a variable by the step"""
    penalty: float
    iterations: tuple[int, ...]
    """of each solve"""


@dataclasses.dataclass(frozen=True, eq=False)
class Analysis:
    """A design and its derivatives by the variables; these are 0 where elements are not free."""
    objective: float
    """J: sum over load cases of weight f . u"""
    gradient: NDArray[np.float64]
    """[num_elem] J; with the sensitivity filter its mean of them, which is no derivative"""
    volume: float
    """fraction"""
    volume_gradient: NDArray[np.float64]
    """[num_elem]"""
    cases: tuple[float, ...]
    """J: f . u of each load case"""
    iterations: tuple[int, ...]
    """of each solve"""


class Optimizer(Held):
    """Minimises the compliance of a body for a fraction of its volume.

    points: [num_points, 3] m. hexa: [num_elem, 8] nodes in the order of VTK: 0 1 2 3 around the bottom, 4 5 6 7 above.
    unit: of points alone, in m: 0.001 of a mesh in mm. Without it they are in m, and bodies of more than 20 m are warned of.
    young: Pa. poisson: the ratio.
    held: [num_points] or [num_points, 3] of bool: nodes, or their components x, y, z, that do not move.
    loads: [num_points, 3] forces in N, or a list of such load cases; weights: of each in the objective, by default 1.
    volume: the most of the volume of all elements that may be material.
    radius: of the filter, m; by default 1.5 times the mean edge. filter: "density", "helmholtz", "sensitivity", "none".
    penalty: the power p of E = E_min + rho^p (E_0 - E_min), or (start, end, every, increment): it grows by the
        increment after every so many steps.
    method: "oc" (optimality criteria) or "mma". move: the most that a variable changes by in a step.
    roles: [num_elem] 0 free, 1 solid, 2 void.
    mirrors: planes ("x", place in m) beyond which filters see the mirror image. Where a body goes on beyond a plane of
        symmetry, hold the nodes on it across it, too.
    tolerance: of solves, relative to |f|. step_tolerance: of those of steps, where it is larger; by
        default 100 times that, at most 0.01. change_tolerance, max_steps: when iterating over it ends.
    multiplier_tolerance: of the volume's multiplier in "oc", relative.

    Arrays are copied. Raises ValueError and its kinds for what makes no problem.
    """
    _instead = "make one in each process; variables and densities can be pickled, and set_variables() goes on from a design"

    def __init__(self, points: ArrayLike, hexa: ArrayLike, *, young: float, held: ArrayLike,
                 loads: ArrayLike | Sequence[ArrayLike], volume: float, poisson: float = 0.3,
                 weights: Sequence[float] | None = None, radius: float | None = None,
                 filter: str = "density", penalty: float | Sequence[float] = 3.0, method: str = "oc",
                 move: float = 0.2, min_modulus: float = 1e-9, roles: ArrayLike | None = None,
                 mirrors: Sequence[tuple[str, float]] = (), change_tolerance: float = 0.01, max_steps: int = 200,
                 multiplier_tolerance: float = 1e-12, tolerance: float = 1e-6, step_tolerance: float | None = None,
                 max_iterations: int = 2000, unit: float | None = None, backend: str | None = None) -> None:
        options = _core.DesignChoice()
        if radius is not None:
            _require_radius(radius, filter)
        for name, value in (("volume", volume), ("radius", 0.0 if radius is None else radius), ("move", move),
                            ("min_modulus", min_modulus), ("change_tolerance", change_tolerance),
                            ("multiplier_tolerance", multiplier_tolerance)):
            setattr(options, name, _numbers.real(value, name))
        if not 0 < options.multiplier_tolerance <= 1e-3:
            raise UsageError(f"multiplier_tolerance: {multiplier_tolerance}; greater than 0 and at most 1e-3, such as 1e-12")
        options.max_steps = _numbers.at_least(0, max_steps, "max_steps")
        options.filter = choice(filter, _FILTERS, "filter")
        options.method = choice(method, _METHODS, "method")
        options.penalty = _continuation(penalty)
        options.tolerance = _numbers.tolerance(tolerance)
        if step_tolerance is not None:
            options.step_tolerance = _numbers.tolerance(step_tolerance, "step_tolerance")
        options.max_iterations = _numbers.at_least(1, max_iterations, "max_iterations")
        young, poisson = _numbers.real(young, "young"), _numbers.real(poisson, "poisson")
        self._library = library_of(points, hexa, held)
        nodes = _arrays.host_floats(points, np.float64, (None, 3), "points")
        if unit is not None:
            nodes = _numbers.unit(unit) * nodes
        elements = _arrays.integers(hexa, (None, 8), "hexa")
        _arrays.require_numbers(elements, len(nodes), "hexa")
        _arrays.require_elements(elements, "hexa")
        _arrays.require_used(elements, len(nodes), "hexa")
        cases = _cases(loads, len(nodes))
        _arrays.refuse_masked(weights, "weights")
        if weights is not None and np.ndim(weights) != 1 and not hasattr(weights, "__next__"):
            raise TypeError(f"weights={weights!r}: a number for each load case, as [1.0, 0.5]")
        weights = [1.0] * len(cases) if weights is None else [_numbers.real(w, "weights") for w in weights]
        if len(weights) != len(cases):
            raise InputError(f"weights: {len(weights)} for {len(cases)} load cases")
        for number, weight in enumerate(weights):
            if not weight > 0:
                raise InputError(f"weights[{number}]={weight!r}: greater than 0; leave out the load case that does not count")
        if roles is not None:
            roles = _arrays.integers(roles, (len(elements),), "roles")
            if np.any((roles < 0) | (roles > 2)):
                raise InputError("roles: 0 free, 1 solid, 2 void")
            roles = roles.astype(np.uint8)
        if mirrors is None or isinstance(mirrors, str):
            raise TypeError(f"mirrors={mirrors!r}: planes of an axis and a place in m, as [(\"x\", 0.0)]")
        mirrors = list(mirrors)  # an iterator has them once
        for plane in mirrors:
            if not isinstance(plane, (tuple, list)) or len(plane) != 2:
                raise TypeError(f"mirrors: planes of an axis and a place in m, as (\"x\", 0.0), not {plane!r}")
        planes = [(_AXES.index(choice(axis, _AXES, "mirrors")), _numbers.real(place, "mirrors")) for axis, place in mirrors]
        bits = _bits(held, len(nodes))
        _require_loaded(cases, bits)
        _doubts.locking(poisson)
        self.num_elem: int = len(elements)
        self.num_points: int = len(nodes)
        self.filter = filter
        self._lock = threading.RLock()
        self._is_analysed = False  # once: before, there are no displacements
        self._young, self._forces = young, [float(np.linalg.norm(case, axis=1).sum()) for case in cases]
        self.backend: str = _backends.choose(backend)
        self._model = _core.DesignModel(self.backend, nodes, elements, young, poisson, bits, roles,
                                        cases, weights, planes, options, unit is not None)

    @property
    def _points(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._model.points()
        return found

    @property
    def _hexa(self) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self._model.hexa()
        return found

    @property
    def radius(self) -> float:
        """Of the filter as used, m."""
        return self._model.radius()

    def step(self) -> Step:
        """Analyses the design and changes it. Raises ConvergenceError where a solve does not meet its tolerance; the
        design is then as before."""
        step = Step(**self._run(self._model.step))
        if self._model.is_done():
            self._warn_of_displacement(step.cases)
        return step

    def __iter__(self) -> Iterator[Step]:
        """Steps until the last one changed less than change_tolerance, or max_steps are done."""
        while not self._model.is_done():
            yield self.step()

    @property
    def has_converged(self) -> bool:
        """Whether the last step changed less than change_tolerance."""
        return self._model.has_converged()

    def analyse(self, x: ArrayLike | None = None) -> Analysis:
        """The objective, the volume and their derivatives of the present variables, or of x, as set_variables(x) takes
        them. Errors as of step()."""
        library = self._library
        if x is not None:
            x = self._checked(x)
            library = library_of(x) if library is NUMPY else library
        found: dict[str, Any] = {}
        gradient, volume_gradient = library.make_some(2, (self.num_elem,), np.float64, lambda *memory: found.update(
            self._run(lambda: self._model.analyse(x, *memory))))
        self._warn_of_displacement(found["cases"])
        return Analysis(gradient=gradient, volume_gradient=volume_gradient,
                        **{name: found[name] for name in ("objective", "volume", "cases", "iterations")})

    def set_variables(self, x: ArrayLike) -> None:
        """Sets the variables to x [num_elem] in [0, 1], from which step() and analyse() go on; where an element is
        solid or void its own stays. The steps that were done, MMA's history and the penalty stay. Raises InputError."""
        array = self._checked(x)
        with self._lock:
            self._model.set_variables(array)

    @property
    def densities(self) -> NDArray[np.float64]:
        """[num_elem] physical: filtered variables."""
        return self._elements(self._model.densities)

    @property
    def variables(self) -> NDArray[np.float64]:
        """[num_elem]"""
        return self._elements(self._model.variables)

    @property
    def energies(self) -> NDArray[np.float64]:
        """[num_elem] density of the strain energy of all load cases, J / m^3, of the last analysis. Raises UsageError
        before the first."""
        self._require_analysed("energies")
        return self._elements(self._model.energies)

    def displacement(self, case: int = 0) -> NDArray[np.float64]:
        """[num_points, 3] m, of a load case, of the last analysis. Raises UsageError before the first."""
        self._require_analysed("displacement")
        number = _numbers.whole(case, "case")
        found: NDArray[np.float64] = self._library.make((self.num_points, 3), np.float64,
                                                        lambda memory: self._model.displacement(number, memory))
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the mesh with densities and variables to a file: .npz for numpy.load(), or .vtu, a mesh of VTK.

        A file of that name is replaced when the new one is whole. Raises UsageError for other endings, OSError where
        the file cannot be written.
        """
        fields = {"densities": _arrays.host(self.densities), "variables": _arrays.host(self.variables)}
        _save.save(path, {
            ".npz": lambda file: _save.write_npz(file, {"points": self._points, "hexa": self._hexa, **fields}),
            ".vtu": lambda file: _save.write_vtu(file, self._points, [self._hexa], fields, {}, {})})

    def plot(self, threshold: float = 0.5, *, path: str | os.PathLike[str] | None = None,
             engine: str | None = None) -> Any:
        """Draws the elements whose density is at least `threshold`, coloured by it; matplotlib draws dots for surfaces
        of more than 40 000 faces. Other arguments and what is returned as of bone.Result.plot(). Raises UsageError
        where no element is so dense."""
        faces, values = self._surface(threshold)
        return _draw.plot(
            lambda figure: _draw.surface(figure, self._points, [faces], [values], "density", "m"),
            lambda plotter: _draw.surface_scene(plotter, self._points, [faces], [values], "density"), (8, 5), path,
            engine)

    def _repr_html_(self) -> str:
        densities = _arrays.host(self.densities)
        rows = [("elements", str(self.num_elem)), ("mean density", f"{densities.mean():.4g}"),
                ("grey", f"{(4 * densities * (1 - densities)).mean():.4g}"),
                ("filter", f"{self.filter}, radius {self.radius:.4g} m"),
                ("converged", "yes" if self.has_converged else "no")]
        faces, values = self._surface(min(0.5, float(densities.max())))
        return _draw.summary("design", rows, lambda figure: _draw.surface(figure, self._points, [faces], [values],
                                                                          "density", "m"), (5, 3.5))

    def _surface(self, threshold: float) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Faces of what is dense, and their densities."""
        densities = _arrays.host(self.densities)
        dense = np.flatnonzero(densities >= threshold)
        if not dense.size:
            raise UsageError(f"plot({threshold!r}): the largest density is {densities.max():.4g}")
        faces, owner = _draw.boundary(self._hexa[dense])
        return faces, densities[dense[owner]]

    def _checked(self, x: ArrayLike) -> NDArray[np.float64]:
        array = _arrays.floats(x, np.float64, (self.num_elem,), "x")
        if not (bool((array >= 0).all()) and bool((array <= 1).all())):
            raise InputError("x: variables from 0 to 1")
        return array

    def _warn_of_displacement(self, cases: Sequence[float]) -> None:
        """Where a load case moves what it loads, in the mean along its forces, by a good part of the body."""
        largest = max(work / force for work, force in zip(cases, self._forces))
        _doubts.displacement(largest, self._points, self._young, "design")

    def _require_analysed(self, what: str) -> None:
        if not self._is_analysed:
            raise UsageError(f"{what}: no design is analysed yet: call step() or analyse() before")

    def _elements(self, get: Callable[[NDArray[np.float64]], Any]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._library.make((self.num_elem,), np.float64, get)
        return found

    def _run(self, call: Callable[[], _Result]) -> _Result:
        try:
            with self._lock:
                found = call()
                self._is_analysed = True
                return found
        except _core.NotConverged as error:
            raise ConvergenceError(str(error), None) from None


def box(cells: Sequence[int], size: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Points and hexa of a box from the origin, of nx, ny, nz equal cells: x fastest in both."""
    counts, sides = _numbers.vector(cells, "cells"), _numbers.vector(size, "size")
    if min(counts) < 1 or any(n != int(n) for n in counts):
        raise UsageError(f"cells={tuple(cells)!r}: whole numbers, at least one along each axis")
    if not min(sides) > 0:
        raise UsageError(f"size={sides!r}: m, greater than 0 along each axis")
    nx, ny, nz = (int(n) for n in counts)
    axes = [np.linspace(0, length, n + 1) for n, length in zip((nx, ny, nz), sides)]
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], 1)
    row, plane = nx + 1, (nx + 1) * (ny + 1)
    k, j, i = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    first = (i + row * j + plane * k).ravel()[:, None]
    corners = np.array([0, 1, 1 + row, row, plane, 1 + plane, 1 + row + plane, row + plane])
    return points, (first + corners).astype(np.int32)


def _require_radius(radius: Any, filter: str) -> None:
    if choice(filter, _FILTERS, "filter") == "none":
        raise UsageError(f"radius={radius!r}: has no effect with filter=\"none\": leave it out")
    if not _numbers.real(radius, "radius") > 0:
        raise UsageError(f"radius={radius!r}: of the filter in m, greater than 0; None is 1.5 times the mean edge")


def _continuation(penalty: float | Sequence[float]) -> tuple[float, float, float, float]:
    if np.ndim(penalty) == 0:
        start = _numbers.real(penalty, "penalty")
        return start, start, 0.0, 0.0
    values = tuple(_numbers.real(x, "penalty") for x in penalty)  # type: ignore[union-attr]
    if len(values) != 4:
        raise UsageError("penalty: a number, or start, end, every, increment")
    if values[2] < 1 or values[2] != int(values[2]):
        raise UsageError(f"penalty: it grows every {values[2]:g} steps; a whole number of at least 1 is expected")
    return values[0], values[1], values[2], values[3]


def _bits(held: ArrayLike, num_points: int) -> NDArray[np.uint8]:
    mask = _arrays.host(held, "held")
    if mask.dtype != bool:
        raise TypeError(f"held: an array of bool, not of {mask.dtype}")
    if mask.ndim == 1:
        mask = np.broadcast_to(mask[:, None], (len(mask), 3))
    _arrays.require_shape(mask, (num_points, 3), "held")
    return mask[:, 0] + 2 * mask[:, 1].astype(np.uint8) + 4 * mask[:, 2].astype(np.uint8)


def _require_loaded(cases: Sequence[NDArray[np.float64]], held: NDArray[np.uint8]) -> None:
    """Raises InputError for a load case that moves nothing: components of nodes [num_points] are held by bits."""
    if not cases:
        raise InputError("loads: no load case")
    for number, case in enumerate(cases):
        if not any(((held >> axis & 1 == 0) & (case[:, axis] != 0)).any() for axis in range(3)):
            raise InputError(f"loads: load case {number} has nothing on components that are free: all of its forces are 0, or act "
                             "where the body is held")


def _cases(loads: Any, num_points: int) -> list[NDArray[np.float64]]:
    _arrays.refuse_masked(loads, "loads")
    arrays = [loads] if np.ndim(loads) == 2 else list(loads)
    cases = [_arrays.host_floats(one, np.float64, (num_points, 3), "loads") for one in arrays]
    for number, case in enumerate(cases):
        if not np.isfinite(case).all():
            raise InputError(f"loads: a force of load case {number} is not finite")
    return cases
