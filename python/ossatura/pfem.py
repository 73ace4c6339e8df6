# SPDX-License-Identifier: Apache-2.0
"""Linear elasticity with few, large hexahedra of high order, p = 1 to 10. SI units.

    mesh = pfem.sphere_octant(inner=1.0, outer=2.0)
    model = pfem.Model(mesh, order=6, young=210e9, poisson=0.3)
    for axis in range(3):
        model.hold(mesh.points[:, axis] == 0, "xyz"[axis])            # planes of symmetry
    model.add_pressure(np.isclose(mesh.radii, 1.0), 1e6)
    result = model.solve()
    result.strain_energy, result.displacement, result.gradient("compliance").elasticity

Parts of the surface are chosen by their vertices: an array [num_points] of bool means the faces all of whose four
vertices are chosen. An elasticity D is its upper triangle by rows, 21 numbers, with strains xx yy zz yz zx xy.
"""
from __future__ import annotations

import dataclasses
import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _backends, _core, _doubts, _draw, _numbers, _save
from ._errors import ConvergenceError, InputError, UsageError, choice
from ._held import Held
from ._log import logger
from ._progress import shown

__all__ = ["Gradient", "Mesh", "Model", "Result", "Samples", "cylinder_quarter", "isotropic", "sphere_octant"]

Callback = Callable[[int, float], None]
_Order = Union[int, Sequence[int], NDArray[Any]]

_SPACES = ("trunk", "tensor")
_PRECONDITIONERS = ("vertex-stars", "ldlt", "jacobi", "none")  # as HierarchicPreconditioner
_OPERATORS = ("auto", "packed", "bsr", "matrix-free", "shared")  # as HierarchicOperatorKind
_QUANTITIES = ("compliance", "strain_energy")
_KINDS = ("pressure", "traction", "force", "body_force")  # as PfemLoadKind
_ENTRIES = 21
_UPPER = np.triu_indices(6)
_FULL = np.zeros((6, 6), int)  # of each entry of D its place in the upper triangle
_FULL[_UPPER] = np.arange(_ENTRIES)
_FULL = np.maximum(_FULL, _FULL.T)


class Mesh:
    """Hexahedra and their shape.

    points: [num_points, 3], the vertices. hexa: [num_elem, 8] in the order of VTK. unit: of lengths, in m: 0.001 of a mesh
        in mm. Without it they are in m, and bodies of more than 20 m are warned of. mesh.points is in m.
    quadratic: [num_elem, 27, 3] m, of curved elements: at the 8 vertices; in the middles of the edges 01 45 32 76, 03 47
        12 56, 04 37 15 26; of the faces 0374 1265 0154 3267 0321 4567; in the centre. Without it edges are straight.

    sphere_octant() and cylinder_quarter() make curved ones of exact shape. Arrays are copied, and those of a mesh
    are read-only. Raises InputError and
    ValueError for what is no mesh.
    """

    def __init__(self, points: ArrayLike, hexa: ArrayLike, *, quadratic: ArrayLike | None = None,
                 unit: float | None = None) -> None:
        nodes = _arrays.host_floats(points, np.float64, (None, 3), "points")
        elements = _arrays.integers(hexa, (None, 8), "hexa")
        _arrays.require_numbers(elements, len(nodes), "hexa")
        _arrays.require_used(elements, len(nodes), "hexa")
        if not np.isfinite(nodes).all():
            raise InputError("points: one is not finite")
        curved = np.zeros((0, 27, 3)) if quadratic is None else _arrays.host_floats(
            quadratic, np.float64, (len(elements), 27, 3), "quadratic")
        if unit is not None:
            scale = _numbers.unit(unit)
            nodes, curved = scale * nodes, scale * curved
        self._made(_core.make_pfem_mesh(nodes, elements, curved, unit is not None), 0)
        self._recipe: tuple[Callable[..., Mesh], tuple[Any, ...]] = _mesh_of, (
            self.points, self.hexa, None if quadratic is None else curved, None if unit is None else 1.0)

    def __reduce__(self) -> tuple[Callable[..., Mesh], tuple[Any, ...]]:
        return self._recipe

    def _made(self, core: Any, more_points: int) -> None:
        self._core = core
        self._more_points = more_points  # of quadrature, beyond order + 1, for maps that are no polynomials
        self.points: NDArray[np.float64] = core.points()
        self.hexa: NDArray[np.int32] = core.elements()
        for array in (self.points, self.hexa):  # copies, which nothing that is solved would follow
            array.flags.writeable = False
        self.is_curved: bool = core.is_curved()

    @property
    def radii(self) -> NDArray[np.float64]:
        """[num_points] m, distances of the vertices from the origin (not from the axis of cylinder_quarter())."""
        return np.asarray(np.linalg.norm(self.points, axis=1))


def sphere_octant(inner: float, outer: float, *, along: int = 1, across: int = 1) -> Mesh:
    """An eighth, x, y, z >= 0, of a hollow sphere about the origin: three patches of along x along x across elements,
    whose shape is exact. inner, outer: radii in m."""
    return _shaped("make_pfem_sphere", _numbers.real(inner, "inner"), _numbers.real(outer, "outer"),
                   _numbers.whole(along, "along"), _numbers.whole(across, "across"))


def cylinder_quarter(inner: float, outer: float, height: float, *, along: int = 1, across: int = 1,
                     up: int = 1) -> Mesh:
    """A quarter, x, y >= 0, of a tube about the z axis from z = 0 to `height` m, whose shape is exact, with `across`
    elements along the radius, `along` around and `up` along z. Radii are np.hypot(points[:, 0], points[:, 1])."""
    return _shaped("make_pfem_cylinder",
                   _numbers.real(inner, "inner"), _numbers.real(outer, "outer"), _numbers.real(height, "height"),
                   _numbers.whole(along, "along"), _numbers.whole(across, "across"), _numbers.whole(up, "up"))


def _shaped(make: str, *arguments: Any) -> Mesh:
    mesh = Mesh.__new__(Mesh)
    mesh._made(getattr(_core, make)(*arguments), 3)
    mesh._recipe = _shaped, (make, *arguments)
    return mesh


def _mesh_of(points: NDArray[np.float64], hexa: NDArray[np.int32], quadratic: NDArray[np.float64] | None,
             unit: float | None = None) -> Mesh:
    return Mesh(points, hexa, quadratic=quadratic, unit=unit)


def isotropic(young: ArrayLike, poisson: ArrayLike) -> NDArray[np.float64]:
    """[..., 21] Pa, the elasticity of isotropic materials: Young's moduli in Pa, Poisson's ratios in (-1, 0.5)."""
    e, nu = np.broadcast_arrays(*(_arrays.numbers(x, what) for x, what in ((young, "young"), (poisson, "poisson"))))
    if not (np.all(e > 0) and np.all(np.isfinite(e)) and np.all(nu > -1) and np.all(nu < 0.5)):
        raise InputError("isotropic: Young's moduli greater than 0, Poisson's ratios between -1 and 0.5")
    mu, matrix = e / (2 * (1 + nu)), np.zeros((*e.shape, 6, 6))
    matrix[..., :3, :3] = (e * nu / ((1 + nu) * (1 - 2 * nu)))[..., None, None]
    for k in range(6):
        matrix[..., k, k] += (2 if k < 3 else 1) * mu
    upper: NDArray[np.float64] = matrix[(..., *_UPPER)]
    return upper


@dataclasses.dataclass(frozen=True, eq=False)
class Gradient:
    """The derivatives of a number J."""
    elasticity: NDArray[np.float64]
    """[num_elem, 21] by the entries of D of each element, per Pa; an entry off the diagonal stands for two of the
    matrix. Where elements have one D, its derivative is the sum over them."""
    loads: tuple[Any, ...]
    """by the value of each load, in the order of the calls that added them: a number of a pressure, else (x, y, z)"""
    iterations: int
    """of the solve for it; of the solution itself where that is all it needs"""
    _d: NDArray[np.float64]

    @property
    def scale(self) -> NDArray[np.float64]:
        """[num_elem] by a common factor of D of each element, at 1: by its Young's modulus, times that."""
        found: NDArray[np.float64] = (self.elasticity * self._d).sum(1)
        return found


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """Fields at the points of a grid of n^3 in each element; those on faces come once for each element."""
    positions: NDArray[np.float64]
    """[num_elem, n, n, n, 3] m"""
    displacement: NDArray[np.float64]
    """[num_elem, n, n, n, 3] m"""
    stress: NDArray[np.float64]
    """[num_elem, n, n, n, 6] Pa: xx yy zz yz zx xy"""
    energy_density: NDArray[np.float64]
    """[num_elem, n, n, n] J/m^3"""

    @property
    def von_mises(self) -> NDArray[np.float64]:
        """[num_elem, n, n, n] Pa"""
        xx, yy, zz, yz, zx, xy = np.moveaxis(self.stress, -1, 0)
        return np.asarray(np.sqrt(0.5 * ((xx - yy)**2 + (yy - zz)**2 + (zz - xx)**2) + 3 * (yz**2 + zx**2 + xy**2)))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result(Held):
    """The solution of a model as it was when solve() was called."""
    _instead = "save() writes it, and its numbers, displacement, sample() and mesh can be pickled"
    strain_energy: float
    """J"""
    compliance: float
    """J: loads times displacements, twice the strain energy where nothing is displaced by supports"""
    iterations: int
    residual: float
    """|f - K u| / |f - K u0|, computed afresh, or the relative error in energy: see `residual_norm`"""
    residual_norm: str
    """"euclidean", or "energy" where a direct solve ended it: by preconditioner="ldlt", or in place of vertex stars"""
    converged: bool
    num_modes: int
    num_unknowns: int
    """components of modes that are free"""
    operator: str
    preconditioner: str
    reactions: tuple[tuple[float, float, float], ...]
    """N, of each hold(); what several hold is of the last"""
    mesh: Mesh
    _answer: Any
    _d: NDArray[np.float64]
    _order: NDArray[np.uint8]
    _choice: Any
    _kinds: tuple[int, ...]

    @functools.cached_property
    def displacement(self) -> NDArray[np.float64]:
        """[num_points, 3] m, of the vertices."""
        found: NDArray[np.float64] = self._answer.displacement()
        return found

    def sample(self, points: int | None = None) -> Samples:
        """Fields at `points` places along each axis of each element, ends included; by default the highest order
        + 1. Stresses are those of each element, not averaged."""
        return Samples(*self._answer.sample(int(self._order.max()) + 1 if points is None else
                                            _numbers.whole(points, "points")))

    def gradient(self, quantity: str = "compliance", *, callback: Callback | None = None) -> Gradient:
        """The derivatives of "compliance" or "strain_energy" by the elasticity of each element and by the loads,
        supports being as they are. It needs no further solve where no support displaces the body, else one.

        By the chain rule with K l = dJ/du: dJ/dD = dJ/dD at fixed u - l' (dK/dD) u, exact for the discrete model with
        its quadrature. Raises ConvergenceError where a solve does not meet the tolerance of the solution.
        """
        return self._gradient(self._answer.gradient(choice(quantity, _QUANTITIES, "quantity"), self._choice, callback))

    def adjoint(self, weights: ArrayLike, *, callback: Callback | None = None) -> Gradient:
        """The derivatives of any number J of the vertices' displacements, from weights [num_points, 3] dJ/du, by one
        solve with the same supports. Example: J = 1/2 sum (u - measured)^2 has the weights u - measured."""
        array = _arrays.host_floats(weights, np.float64, self.mesh.points.shape, "weights")
        _arrays.require_finite(array, "weights")
        return self._gradient(self._answer.adjoint(array, self._choice, callback))

    def save(self, path: str | os.PathLike[str], points: int | None = None) -> None:
        """Writes numbers and fields to a file: .npz for numpy.load(), with the arrays of sample(points), or .vtu, a mesh
        of VTK with `points` - 1 cells along each axis of each element.

        A file of that name is replaced when the new one is whole. Raises UsageError for other endings, OSError where
        the file cannot be written.
        """
        found = self.sample(points)
        numbers = _save.numbers_of(self, ("strain_energy", "compliance", "iterations", "residual", "num_unknowns"))
        _save.save(path, {".npz": lambda file: _save.write_npz(file, {
            "points": self.mesh.points, "hexa": self.mesh.hexa, "displacement": self.displacement, **numbers,
            **{"sample_" + name: array for name, array in vars(found).items()}}),
            ".vtu": lambda file: self._write_vtu(file, found, numbers)})

    def plot(self, *, path: str | os.PathLike[str] | None = None, engine: str | None = None) -> Any:
        """Draws the surface, coloured by the von Mises stress in Pa. Arguments and what is returned as of
        bone.Result.plot()."""
        points, faces, values = self._surface()
        return _draw.plot(
            lambda figure: _draw.surface(figure, points, [faces], [values], "von Mises stress, Pa", "m"),
            lambda plotter: _draw.surface_scene(plotter, points, [faces], [values], "von Mises stress, Pa"), (7, 5),
            path, engine)

    def _gradient(self, found: tuple[Any, Any, Any]) -> Gradient:
        elasticity, loads, solved = found
        if not solved["converged"] and self.converged:
            raise ConvergenceError(f"the solve for the gradient: {_shortfall(solved, self._choice)}", None)
        return Gradient(elasticity, tuple(value[0] if kind == 0 else value for kind, value in zip(self._kinds, loads)),
                        solved["iterations"], self._d)

    def _write_vtu(self, file: IO[bytes], found: Samples, numbers: dict[str, NDArray[Any]]) -> None:
        cells = _cells(found.positions.shape)
        elem = np.repeat(np.arange(len(found.positions), dtype=np.int32), len(cells) // len(found.positions))
        _save.write_vtu(file, found.positions.reshape(-1, 3), [cells], {"element": elem}, {
            "displacement": found.displacement.reshape(-1, 3), "von_mises": found.von_mises.ravel(),
            "stress": found.stress.reshape(-1, 6)[:, [0, 1, 2, 5, 3, 4]],
            "strain_energy_density": found.energy_density.ravel()}, numbers)

    def _surface(self) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """Points, faces of the cells of a grid that are on the surface of the body, and stresses of these."""
        found = self.sample(None)
        shape, outer = found.positions.shape, _draw.boundary(self.mesh.hexa)[0]
        outer_keys = {tuple(sorted(face)) for face in outer.tolist()}
        n = shape[1]
        number = np.arange(np.prod(shape[:4])).reshape(shape[:4])
        faces = []
        for elem, nodes in enumerate(self.mesh.hexa.tolist()):
            for axis in range(3):
                for side in (0, 1):
                    if tuple(sorted(nodes[k] for k in _CORNERS[axis][side])) not in outer_keys:
                        continue
                    grid = number[elem].take((n - 1) * side, axis)
                    faces.append(np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], -1).reshape(-1, 4))
        all_faces = np.concatenate(faces).astype(np.int32)
        return found.positions.reshape(-1, 3), all_faces, found.von_mises.ravel()[all_faces].mean(1)

    def _repr_html_(self) -> str:
        rows = [("strain energy", f"{self.strain_energy:.6g} J"), ("compliance", f"{self.compliance:.6g} J"),
                ("elements", str(len(self.mesh.hexa))), ("unknowns", str(self.num_unknowns)),
                ("residual", f"{self.residual:.1e} after {self.iterations} iterations"
                             f"{'' if self.converged else ', NOT CONVERGED'}")]
        points, faces, values = self._surface()
        return _draw.summary("hexahedra of high order", rows, lambda figure: _draw.surface(
            figure, points, [faces], [values], "von Mises stress, Pa", "m"), (5, 3.5))

    def __repr__(self) -> str:
        return (f"<ossatura.pfem.Result: strain energy {self.strain_energy:.6g} J, compliance {self.compliance:.6g} J; "
                f"{self.num_unknowns} unknowns, {self.iterations} iterations, residual {self.residual:.1e}"
                f"{'' if self.converged else ', NOT CONVERGED'}>")


class Model(Held):
    """A body with supports and loads.

    mesh: what Mesh(), sphere_octant() or cylinder_quarter() made.
    order: p from 1 to 10, of all elements or [num_elem].
    young, poisson: Pa and ratio, of all elements or [num_elem]; or elasticity: D in Pa, [21] or [num_elem, 21].
    space: "trunk", or "tensor" for distorted meshes that are refined (docs/pfem.md).
    points: of quadrature along each axis; by default order + 1, and 3 more for meshes of exact curved shape.

    Arrays are copied. A model may be used from several threads, one after the other. Raises InputError and ValueError
    for what makes no body, UsageError for options.
    """
    _instead = "make one in each process, of a mesh, which can be pickled; save() of a result writes it"

    def __init__(self, mesh: Mesh, *, order: _Order = 4, young: ArrayLike | None = None, poisson: ArrayLike = 0.3,
                 elasticity: ArrayLike | None = None, space: str = "trunk", points: int | None = None,
                 backend: str | None = None) -> None:
        if not isinstance(mesh, Mesh):
            raise TypeError("mesh: a pfem.Mesh")
        self.mesh = mesh
        self._lock = threading.RLock()
        self._order = self._orders(order)
        self._d = self._elasticity(young, poisson, elasticity)
        self._kinds: list[int] = []
        options = _core.PfemChoice()
        options.is_tensor = choice(space, _SPACES, "space") == "tensor"
        default = int(self._order.max()) + 1 + mesh._more_points if mesh._more_points else 0
        options.points = default if points is None else _numbers.whole(points, "points")
        if points is not None and not 1 <= points <= 14:
            raise UsageError(f"points={points!r}: 1 to 14")
        if 0 < options.points <= self._order.max():
            logger.warning("%d points of quadrature along each axis are too few for order %d: the matrices are inexact",
                           options.points, self._order.max(), extra={"code": "too-few-points"})
        self._model = _core.PfemModel(_backends.choose(backend), mesh._core, self._order,
                                      self._d.ravel(), options)

    def set_material(self, *, young: ArrayLike | None = None, poisson: ArrayLike = 0.3,
                     elasticity: ArrayLike | None = None) -> None:
        """Other materials for later solves, as in the constructor. Results that are there stay."""
        d = self._elasticity(young, poisson, elasticity)
        with self._lock:
            self._model.set_elasticity(d.ravel())
            self._d = d

    def hold(self, where: ArrayLike, components: str = "xyz", displacement: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Holds the chosen part of the surface, and each chosen vertex, along `components`, displaced by these of
        `displacement` in m. Raises InputError where nothing is chosen, or another hold() has another displacement."""
        if not components or not set(components) <= set("xyz"):
            raise UsageError(f"components={components!r}: some of \"xyz\"")
        bits = sum(1 << "xyz".index(one) for one in set(components))
        with self._lock:
            self._model.hold(self._chosen(where), bits, _numbers.vector(displacement, "displacement"))

    def add_pressure(self, where: ArrayLike, pressure: float) -> int:
        """Adds a pressure in N/m^2 against the outward normal of the chosen faces. Returns the number of the load, as
        the other functions that add one do, for set_load(). Raises InputError where no face is chosen."""
        return self._add(0, where, (_numbers.real(pressure, "pressure"), 0.0, 0.0))

    def add_traction(self, where: ArrayLike, traction: Sequence[float]) -> int:
        """Adds a force on the area of the chosen faces, (x, y, z) N/m^2."""
        return self._add(1, where, traction)

    def add_force(self, where: ArrayLike, force: Sequence[float]) -> int:
        """Adds a force (x, y, z) in N on each chosen vertex. The exact stress there is infinite."""
        return self._add(2, where, force)

    def add_body_force(self, density: Sequence[float]) -> int:
        """Adds a force density (x, y, z) in N/m^3 everywhere."""
        number = self._add(3, np.ones(len(self.mesh.points), bool), density)
        self._look_at_body_force(number, density)
        return number

    def _look_at_body_force(self, number: int, value: Sequence[float]) -> None:
        if _KINDS[self._kinds[number]] == "body_force":
            _doubts.body_force(value, _stiffest(np.atleast_2d(self._d)))

    def set_load(self, number: int, value: float | Sequence[float]) -> None:
        """Sets the value of a load that was added: a pressure, or (x, y, z)."""
        if not 0 <= _numbers.whole(number, "number") < len(self._kinds):
            raise UsageError(f"load {number}: there are {len(self._kinds)}, from 0")
        what = _KINDS[self._kinds[number]]
        three = (_numbers.real(value, what), 0.0, 0.0) if what == "pressure" else _numbers.vector(value, what)
        with self._lock:
            self._model.set_load(number, three)
        self._look_at_body_force(number, three)

    def solve(self, *, tolerance: float = 1e-8, max_iterations: int = 5000, preconditioner: str = "vertex-stars",
              operator: str = "auto", check: bool = True, progress: bool = False,
              callback: Callback | None = None) -> Result:
        """Solves K u = f.

        tolerance: of the residual relative to the first one. preconditioner: "vertex-stars", which factors the matrix
        where that takes less time than its iterations, as with thin plates; "ldlt", a direct solve; "jacobi"; "none".
        operator: "auto", "packed", "bsr", "matrix-free", "shared". check: raise ConvergenceError, which has the result,
        where the residual does not meet the tolerance. progress, callback: as of bone.solve().

        Raises InputError where supports let the body move and where nothing loads it.
        """
        options = _core.PfemSolverChoice()
        options.tolerance = _numbers.tolerance(tolerance)
        options.max_iterations = _numbers.at_least(1, max_iterations, "max_iterations")
        options.preconditioner = choice(preconditioner, _PRECONDITIONERS, "preconditioner")
        options.operator = choice(operator, _OPERATORS, "operator")
        check = _numbers.flag(check, "check")
        with self._lock, shown(progress, "elasticity", 1, tolerance, callback) as observe:
            answer = self._model.solve(options, observe)
            d, kinds = np.broadcast_to(self._d, (len(self.mesh.hexa), _ENTRIES)), tuple(self._kinds)
        numbers = answer.numbers()
        shortfall = _shortfall(numbers, options)
        result = Result(mesh=self.mesh, _answer=answer, _d=d, _order=self._order, _choice=options, _kinds=kinds,
                        **{name: value for name, value in numbers.items() if name != "broken"})
        if result.converged:
            largest = float(np.linalg.norm(result.displacement, axis=1).max())
            _doubts.displacement(largest, self.mesh.points, _stiffest(d), "hexahedra")
        if check and not result.converged:
            raise ConvergenceError(f"{shortfall}; check=False returns what there is", result)
        return result

    def _add(self, kind: int, where: ArrayLike, value: Sequence[float]) -> int:
        with self._lock:
            number: int = self._model.add_load(kind, self._chosen(where), _numbers.vector(value, _KINDS[kind]))
            self._kinds.append(kind)
        return number

    def _chosen(self, where: ArrayLike) -> NDArray[np.uint8]:
        mask = _arrays.host(where, "where")
        if mask.dtype != bool:
            raise TypeError(f"where: an array of bool, not of {mask.dtype}")
        _arrays.require_shape(mask, (len(self.mesh.points),), "where")
        if not mask.any():
            raise InputError("where: no vertex is chosen")
        return mask.astype(np.uint8)

    def _orders(self, order: _Order) -> NDArray[np.uint8]:
        array = _arrays.integers(np.atleast_1d(_arrays.host(order, "order")), (None,), "order")
        if len(array) not in (1, len(self.mesh.hexa)) or array.min() < 1 or array.max() > 10:
            raise InputError(f"order: 1 to 10, one or {len(self.mesh.hexa)} of them")
        return array.astype(np.uint8)

    def _elasticity(self, young: ArrayLike | None, poisson: ArrayLike,
                    elasticity: ArrayLike | None) -> NDArray[np.float64]:
        if (young is None) == (elasticity is None):
            raise UsageError("give young (and poisson), or elasticity")
        n = len(self.mesh.hexa)
        if young is not None:
            for what, values in (("young", young), ("poisson", poisson)):
                array = _arrays.numbers(values, what)
                if array.ndim > 0:
                    _arrays.require_shape(array, (n,), what)
            elasticity = isotropic(young, poisson)
            nu = float(_arrays.host(poisson).max())
            if nu > 0.49 and (self._order.min() < 4 or nu > 0.4999):
                logger.warning("Poisson's ratio is %g, elements of order %d: displacements may be far too small "
                               "(locking); take order 4 or more and at most 0.4999", nu, self._order.min(),
                               extra={"code": "locking"})
        d = _arrays.host(elasticity, "elasticity")
        return _arrays.host_floats(d, np.float64, (_ENTRIES,) if d.ndim == 1 else (n, _ENTRIES),
                              "young" if young is not None else "elasticity").copy()


_CORNERS = {0: ((0, 3, 4, 7), (1, 2, 5, 6)), 1: ((0, 1, 4, 5), (2, 3, 6, 7)), 2: ((0, 1, 2, 3), (4, 5, 6, 7))}


def _shortfall(solved: Mapping[str, Any], options: _core.PfemSolverChoice) -> str:
    """By how much a solve missed its tolerance, why, and what helps, as the executable says it."""
    in_energy, residual = solved["residual_norm"] == "energy", solved["residual"]
    text = (f"{'error in energy' if in_energy else 'residual'} {residual:.1e} after {solved['iterations']} iterations, which does "
            f"not meet the tolerance {options.tolerance:.1e}: ")
    # Conjugate gradients rise by less than 1e6 on their way down, and rounding leaves them less than 1.
    ended, is_singular = solved["iterations"] < options.max_iterations, in_energy and solved["broken"]
    if is_singular or not residual < (1 if ended else 1e6):
        return text + ("the matrix is not positive definite" if is_singular else "it is above the first one") + (
            ", as of a body that can move: join parts by faces, or hold each, and take no fewer points of quadrature than order + 1")
    if ended:
        return text + f"it fell no further, because of rounding: give tolerance={2 * residual:.1g}, or shorter elements where these are thin"
    return text + "raise max_iterations or the tolerance" + (
        "" if options.preconditioner == "vertex-stars" else ", or take preconditioner=\"vertex-stars\"")


def _stiffest(d: NDArray[np.float64]) -> float:
    """The largest Young's modulus (Pa) of [num, 21], of orthotropic elements about that."""
    mu, lame = d[:, _FULL[(3, 4, 5), (3, 4, 5)]].max(1), d[:, _FULL[0, 1]]
    return float((mu * (3 * lame + 2 * mu) / (lame + mu)).max())


def _cells(shape: Sequence[int]) -> NDArray[np.int32]:
    """[cells, 8] of the grids of samples."""
    number = np.arange(np.prod(shape[:4]), dtype=np.int32).reshape(shape[:4])
    low, high = slice(None, -1), slice(1, None)
    corners = [number[(slice(None), *(high if bit else low for bit in bits))] for bits in (
        (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))]
    return np.stack(corners, -1).reshape(-1, 8)
