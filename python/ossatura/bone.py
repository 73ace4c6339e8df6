# SPDX-License-Identifier: Apache-2.0
"""Stiffness, strains and stresses of bone: one trilinear hexahedron for each voxel of an image of moduli.

    result = bone.solve(modulus, spacing=0.082, test="axial", strain=-0.01)
    result.stiffness, result.energy_density, result.gradient("stiffness")
    bone.homogenise(modulus, spacing=0.082).stiffness

Images are arrays [z, y, x] in C order, or by axes="xyz" arrays [x, y, z]: both are read without a copy where x is
fastest in memory, as in NumPy's C and Fortran order. Fields that come back have the axes of the image.
"""
from __future__ import annotations

import dataclasses
import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _backends, _core, _draw, _save
from ._errors import ConvergenceError, UsageError, choice
from ._libraries import Library, library_of
from ._log import logger
from ._progress import shown

__all__ = ["Engineering", "Homogenised", "Orthotropic", "QUANTITIES", "Reaction", "Result", "Solve", "homogenise",
           "solve"]

_TESTS = ("axial", "confined", "shear", "torsion", "bending", "symshear")  # as BoneTestKind
_AXES = ("x", "y", "z")
_Number = TypeVar("_Number", bound=np.generic)
_Checked = TypeVar("_Checked")
_FIELDS = {"energy_density": "N/mm^2", "von_mises": "MPa", "effective_strain": ""}
_TENSORS = ("strain_tensor", "stress_tensor")
QUANTITIES = ("stiffness", "apparent_modulus", "force", "rotational_stiffness", "moment", "strain_energy")
"""The numbers that Result.gradient() is of."""
_NUMBERS = ("stiffness", "apparent_modulus", "force", "plate_displacement", "strain", "stress", "angle", "moment",
            "rotational_stiffness", "height", "area", "strain_energy", "iterations", "residual", "converged",
            "num_voxels", "num_nodes", "num_dropped", "spacing")


@dataclasses.dataclass(frozen=True)
class Reaction:
    """What one support feels: the sum over its nodes of the forces that hold them."""
    num_nodes: int
    force: tuple[float, float, float]
    """N, along x, y, z"""
    moment: tuple[float, float, float]
    """N mm, about `centre`"""
    centre: tuple[float, float, float]
    """mm from the lower corner of the image: of the support's nodes; of a turn what it goes about"""
    displacement: tuple[float, float, float]
    """mm, mean over the held nodes"""
    contact_area: float
    """mm^2 of bone that it touches"""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of a test. Numbers that a test does not give are None; fields are made when they are asked for.

    Arrays over voxels are [z, y, x], arrays over nodes [z + 1, y + 1, x + 1], each in the axes of the image; they
    are 0 in the void.
    """
    test: str
    stiffness: float | None
    """N/mm: force by displacement of the upper plate (axial, confined, shear)"""
    apparent_modulus: float | None
    """MPa: stress by strain, of the cross-section of the specimen's box; the shear modulus of it (symshear)"""
    force: float | None
    """N on the upper plate, along its displacement"""
    plate_displacement: float | None
    """mm"""
    strain: float | None
    """displacement by height"""
    stress: float | None
    """MPa"""
    angle: float | None
    """rad (torsion, bending)"""
    moment: float | None
    """N mm"""
    rotational_stiffness: float | None
    """N mm/rad"""
    height: float
    """mm between the plates"""
    area: float
    """mm^2 of the box across the axis"""
    strain_energy: float
    """N mm"""
    reactions: Mapping[str, Reaction]
    """by support: "lower plate", "upper plate", and the walls of a confined test; the sides of symshear"""
    iterations: int
    residual: float
    """|b - A x| / |b - A x0|, computed afresh"""
    converged: bool
    """whether the residual meets the tolerance"""
    fell_back: bool
    """whether a faster form of the solver stalled and a safer one went on"""
    num_voxels: int
    num_nodes: int
    num_dropped: int
    """voxels in islands that were left out"""
    spacing: float
    """mm, edge of a voxel"""
    _answer: Any
    _options: Any
    _shape: tuple[int, int, int]
    _axes: str
    _library: Library

    @functools.cached_property
    def displacement(self) -> NDArray[np.float64]:
        """[z + 1, y + 1, x + 1, 3] mm along x, y, z, double."""
        shape = (*(n + 1 for n in self._shape), 3)
        return _in_axes(self._library.make(shape, np.float64, self._answer.displacement), self._axes)

    @functools.cached_property
    def energy_density(self) -> NDArray[np.float32]:
        """[z, y, x] strain energy density at the centres of voxels, N/mm^2, single."""
        return self._field("energy_density")

    @functools.cached_property
    def von_mises(self) -> NDArray[np.float32]:
        """[z, y, x] von Mises stress at the centres of voxels, MPa, single."""
        return self._field("von_mises")

    @functools.cached_property
    def effective_strain(self) -> NDArray[np.float32]:
        """[z, y, x] sqrt(2 energy density / E) (Pistoia et al. 2002), single."""
        return self._field("effective_strain")

    @functools.cached_property
    def strain_tensor(self) -> NDArray[np.float32]:
        """[z, y, x, 6] strain xx, yy, zz, gamma xy, yz, zx at the centres of voxels, single."""
        return self._field("strain", 6)

    @functools.cached_property
    def stress_tensor(self) -> NDArray[np.float32]:
        """[z, y, x, 6] stress xx, yy, zz, xy, yz, zx at the centres of voxels, MPa, single."""
        return self._field("stress", 6)

    def gradient(self, quantity: str = "stiffness") -> NDArray[np.float64]:
        """The derivative of a number by Young's modulus of each voxel, [z, y, x] in double.

        `quantity` is "stiffness" (1 mm), "apparent_modulus", "force" (mm^2), "rotational_stiffness", "moment" or
        "strain_energy" (mm^3), of the same displacements of the plates. It needs no further solve: such a number
        is the strain energy W times a constant, and W depends on the modulus of a voxel as the energy W_e in it
        does, dW/dE_e = W_e / E_e. The void has 0: whether there is a voxel is not differentiable.
        Raises UsageError where the test does not have the number, and for bending, whose plates turn both.
        """
        factor = self._energy_factor(quantity)
        out = self._library.make(self._shape, np.float64, self._answer.energy_gradient)
        out *= factor
        return _in_axes(out, self._axes)

    def adjoint(self, weights: ArrayLike, *, tolerance: float | None = None, check: bool = True,
                callback: Callable[[int, float], None] | None = None) -> NDArray[np.float64]:
        """The derivative of any number J of the displacements by Young's modulus of each voxel, [z, y, x].

        weights: dJ/du of each node, of the shape of `displacement`; those at held components and in the void do
        not count. One solve with the same supports, to `tolerance` (by default that of the test).
        Example: J = 1/2 sum (u - measured)^2 has the weights u - measured.
        """
        array = _arrays.array_of(weights)
        if self._axes == "xyz" and array.ndim == 4:
            array = array.swapaxes(0, 2)
        array = _arrays.floats(array, np.float64, (*(n + 1 for n in self._shape), 3), "weights")
        options = _options("auto", self._options.tolerance if tolerance is None else tolerance,
                           self._options.max_iterations, self._options.precision or None)
        solved: list[Solve] = []
        out = self._library.make(self._shape, np.float64, lambda memory: solved.append(
            Solve(**self._answer.adjoint(array, options, callback, memory))))
        return _checked(_in_axes(out, self._axes), solved, options.tolerance, check)

    def failure_factor(self, strain: float = 0.007, volume: float = 0.02) -> float:
        """The bone fails at this times the load of the test, by Pistoia's criterion [1]: where `volume`, a part of the
        bone, is beyond the effective `strain`. Its failure load is `force` times this.

        Infinite where less than that part is strained at all. Raises UsageError for other numbers.
        [1] Bone 30 (2002) 842-848, doi:10.1016/S8756-3282(02)00736-6.
        """
        if not (0 < volume < 1 and 0 < strain < math.inf):
            raise UsageError(f"failure_factor({strain!r}, {volume!r}): a strain greater than 0, a part between 0 and 1")
        field = _arrays.host(self.effective_strain)
        strained = field[field > 0]
        values = np.zeros(max(self.num_voxels, len(strained)))
        values[:len(strained)] = strained
        found = float(np.quantile(values, 1 - volume))
        return strain / found if found > 0 else math.inf

    def save(self, path: str | os.PathLike[str],
             fields: Sequence[str] = ("displacement", "energy_density", "von_mises", "effective_strain")) -> None:
        """Writes numbers and fields to a file: .npz for numpy.load(), in the axes of the image, or .vti, an image of
        VTK, which ParaView and PyVista read.

        fields: names of those of this result. A file of that name is replaced when the new one is whole.
        Raises UsageError for other endings and fields, OSError where the file cannot be written.
        """
        for name in fields:
            choice(name, ("displacement", *_FIELDS, *_TENSORS), "fields")
        _save.save(path, {".npz": lambda file: self._write_npz(file, fields),
                          ".vti": lambda file: self._write_vti(file, fields)})

    def plot(self, field: str | ArrayLike = "effective_strain", *, label: str | None = None,
             path: str | os.PathLike[str] | None = None, engine: str | None = None) -> Any:
        """Draws three sections through the middle of the bone, coloured by a field.

        field: "energy_density", "von_mises", "effective_strain", or an array of the image's shape, such as a gradient;
            where it is 0 nothing is drawn. label: of the colours, by default the field's name and unit.
        path: of a picture (.png) to write, without a display. engine: "pyvista" or "matplotlib", by default PyVista
            where it is installed.
        Returns the three axes of matplotlib, or the plotter of PyVista, whose show() opens a window. ImportError where
        what draws is not installed.
        """
        values, name = self._values(field)
        label = name if label is None else label
        return _draw.plot(lambda figure: _draw.sections(figure, values, self.spacing, label),
                          lambda plotter: _draw.sections_scene(plotter, values, self.spacing, label),
                          (10, 4), path, engine)

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), f"{getattr(self, name):.6g} {unit}") for name, unit in (
            ("stiffness", "N/mm"), ("apparent_modulus", "MPa"), ("force", "N"), ("rotational_stiffness", "N mm/rad"),
            ("moment", "N mm"), ("strain_energy", "N mm")) if getattr(self, name) is not None]
        rows += [("voxels", str(self.num_voxels)),
                 ("residual", f"{self.residual:.1e} after {self.iterations} iterations"
                              f"{'' if self.converged else ', NOT CONVERGED'}")]
        values, label = self._values("effective_strain")
        return _draw.summary(f"bone, {self.test}", rows,
                             lambda figure: _draw.sections(figure, values, self.spacing, label), (8, 3))

    def _values(self, field: str | ArrayLike) -> tuple[NDArray[Any], str]:
        """A field [z, y, x] and its name with the unit."""
        if isinstance(field, str):
            unit = _FIELDS[choice(field, tuple(_FIELDS), "field")]
            array, label = _arrays.host(getattr(self, field)), field.replace("_", " ") + (f", {unit}" if unit else "")
        else:
            array, label = _arrays.host(field), ""
            _arrays.require_shape(array, _in_axes(np.empty(self._shape, bool), self._axes).shape, "field")
        return _in_axes(array, self._axes), label

    def _write_npz(self, file: IO[bytes], fields: Sequence[str]) -> None:
        supports = list(self.reactions.values())
        _save.write_npz(file, {
            "test": self.test, "axes": self._axes, **{name: getattr(self, name) for name in _NUMBERS},
            "supports": np.array(list(self.reactions)), "reaction_forces": np.array([one.force for one in supports]),
            "reaction_moments": np.array([one.moment for one in supports]),
            **{name: _arrays.host(getattr(self, name)) for name in fields}})

    def _write_vti(self, file: IO[bytes], fields: Sequence[str]) -> None:
        arrays = {name: _in_axes(_arrays.host(getattr(self, name)), self._axes) for name in fields}
        nodes = {"displacement": arrays.pop("displacement")} if "displacement" in arrays else {}
        _save.write_vti(file, self._shape, self.spacing, arrays, nodes, _save.numbers_of(self, _NUMBERS))

    def _energy_factor(self, quantity: str) -> float:
        """The quantity by the strain energy."""
        if choice(quantity, QUANTITIES, "quantity") == "strain_energy":
            return 1
        if getattr(self, quantity) is None or self.test == "bending":
            raise UsageError(f"gradient({quantity!r}): a test of {self.test} does not have it")
        if self.test == "symshear":  # W = 1/2 stress strain volume
            assert self.strain is not None
            return 2 / (self.strain**2 * self.height * self.area)
        d = self.plate_displacement if self.angle is None else self.angle
        assert d is not None
        factor = {"stiffness": 2 / d**2, "force": 2 / d, "rotational_stiffness": 2 / d**2, "moment": 2 / d}
        if quantity == "apparent_modulus":
            return factor["stiffness"] * self.height / self.area
        return factor[quantity]

    def _field(self, name: str, components: int = 1) -> NDArray[np.float32]:
        out = self._library.make((*self._shape, components), np.float32, lambda memory: self._answer.field(name, memory))
        return _in_axes(out if components > 1 else out[..., 0], self._axes)

    def __repr__(self) -> str:
        if self.rotational_stiffness is not None:
            what = f"rotational stiffness {self.rotational_stiffness:.6g} N mm/rad"
        elif self.stiffness is not None:
            what = f"stiffness {self.stiffness:.6g} N/mm, apparent modulus {self.apparent_modulus:.6g} MPa"
        else:
            what = f"strain energy {self.strain_energy:.6g} N mm"
        return (f"<ossatura.bone.Result of {self.test}: {what}; {self.num_voxels} voxels, {self.iterations} "
                f"iterations, residual {self.residual:.1e}{'' if self.converged else ', NOT CONVERGED'}>")


@dataclasses.dataclass(frozen=True)
class Solve:
    """One linear solve."""
    iterations: int
    residual: float
    """|b - A x| / |b - A x0|, computed afresh"""
    converged: bool
    fell_back: bool


@dataclasses.dataclass(frozen=True)
class Engineering:
    """Engineering constants of a stiffness, along the axes 1, 2, 3 that it is given in."""
    young: tuple[float, float, float]
    """MPa, along each axis"""
    shear: tuple[float, float, float]
    """MPa: 12, 23, 31"""
    poisson: tuple[tuple[float, float, float], ...]
    """[i][j]: contraction along j by extension along i; 0 at i = j"""


@dataclasses.dataclass(frozen=True, eq=False)
class Orthotropic:
    """A stiffness in the axes in which it is nearest to orthotropy."""
    axes: NDArray[np.float64]
    """[3, 3]: each row a direction x, y, z in the image, of unit length; right-handed"""
    stiffness: NDArray[np.float64]
    """[6, 6] MPa in these axes, the symmetric part"""
    departure: float
    """norm of what orthotropy forbids by that of the whole tensor: 0 of an orthotropic stiffness"""
    engineering: Engineering | None
    """constants along these axes"""


@dataclasses.dataclass(frozen=True, eq=False)
class Homogenised:
    """The apparent stiffness of a specimen's box, by six loads that are uniform strains of its sides, or that of a cell
    that repeats."""
    boundary: str
    """"kinematic" or "periodic", of the sides"""
    stiffness: NDArray[np.float64]
    """[6, 6] MPa: stress by strain in the order xx, yy, zz, xy, yz, zx, with engineering shear strains"""
    voigt: NDArray[np.float64]
    """[6, 6] MPa: the average of the voxels' stiffness, an upper bound"""
    reuss: NDArray[np.float64]
    """[6, 6] MPa: the average of their compliance, a lower bound; 0 with void in the box"""
    solves: tuple[Solve, ...]
    """of the six loads"""
    num_voxels: int
    num_nodes: int
    num_dropped: int
    """voxels in islands that were left out"""
    _answer: Any
    _shape: tuple[int, int, int]
    _axes: str
    _library: Library

    def gradient(self, weights: ArrayLike) -> NDArray[np.float64]:
        """The derivative of any number J of `stiffness` by Young's modulus of each voxel, [z, y, x] in the axes of the
        image, of homogenise(..., gradients=True); UsageError otherwise.

        weights: [6, 6] dJ/dC: all 0 but a 1 for one entry. No further solve: dC_ij/dE_e = u_i' K_e u_j / (E_e V) with
        the displacements of the loads.
        """
        matrix = _arrays.host_floats(weights, np.float64, (6, 6), "weights").tolist()
        out = self._library.make(self._shape, np.float64, lambda memory: self._answer.gradient(matrix, memory))
        return _in_axes(out, self._axes)

    @functools.cached_property
    def engineering(self) -> Engineering | None:
        """Engineering constants along the axes of the image, of the symmetric part of the stiffness; None where that is
        not positive definite, as where nothing leads through a cell."""
        return _engineering(self.stiffness)

    @functools.cached_property
    def orthotropic(self) -> Orthotropic:
        """The axes in which the stiffness is as near to an orthotropic one as it gets [1]; those of the image where it
        departs from orthotropy there by no more than solves leave.

        [1] J. Biomech. 29 (1996) 1653-1657, doi:10.1016/S0021-9290(96)00093-0.
        """
        found = _core.orthotropic_axes(self.stiffness.tolist())
        stiffness = np.array(found["stiffness"])
        return Orthotropic(axes=np.array(found["axes"]), stiffness=stiffness, departure=found["departure"],
                           engineering=_engineering(stiffness))

    @property
    def converged(self) -> bool:
        """Whether all solves are."""
        return all(solve.converged for solve in self.solves)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the matrices and numbers to an .npz file for numpy.load(). Errors as of Result.save()."""
        _save.save(path, {".npz": lambda file: _save.write_npz(file, {
            **{name: getattr(self, name) for name in ("boundary", "stiffness", "voigt", "reuss", "num_voxels",
                                                      "num_nodes", "num_dropped", "converged")},
            "iterations": np.array([one.iterations for one in self.solves]),
            "residuals": np.array([one.residual for one in self.solves])})})

    def _repr_html_(self) -> str:
        names = ("xx", "yy", "zz", "xy", "yz", "zx")
        rows = [(name, "  ".join(f"{value:.5g}" for value in row)) for name, row in zip(names, self.stiffness)]
        return _draw.summary(f"apparent stiffness ({self.boundary}), MPa, by strain {', '.join(names)}", [
            *rows, ("voxels", str(self.num_voxels)), ("converged", "yes" if self.converged else "NO")], None, (0, 0))


def solve(modulus: ArrayLike, spacing: float, *, test: str = "axial", axis: str = "z", direction: str | None = None,
          strain: float = -0.01, displacement: float | None = None, angle: float = math.radians(1),
          lateral: str = "constrained", plate_depth: float = 0.0,
          centre: str | Sequence[float] = "mass", poisson: float = 0.3, islands: str = "auto",
          tolerance: float = 1e-6, max_iterations: int = 1000, precision: str | None = None, axes: str = "zyx",
          backend: str | None = None, check: bool = True, progress: bool = False,
          callback: Callable[[int, float], None] | None = None) -> Result:
    """Solves a mechanical test of a specimen between two plates at the ends of what is solid.

    modulus: [z, y, x] Young's moduli in MPa, 0 = void; float32 is read where it is, other numbers are converted.
    spacing: edge of a voxel, mm.
    test: "axial" (the upper plate moves along `axis`), "confined" (in a smooth-walled box), "shear" (along
        `direction`), "torsion" (about `axis`), "bending" (the plates tilt against each other about `direction`),
        "symshear" (no plates: the four sides beside `axis` move as a shear says, without a rotation).
    strain: displacement of the upper plate by the height, or `displacement` in mm; of symshear the engineering shear
        strain; `angle` of turns in rad.
    lateral: "constrained" (plates glued) or "free" (smooth).
    plate_depth: mm; nodes so far inside the ends are held by the plates too.
    centre: what turns go about: "mass", "box", or a point x, y, z in mm from the lower corner of the image.
    islands: parts that no plate touches are left out with a warning, up to 1 % of the bone by "auto", up to half
        by "drop", never by "error".
    precision: of the iteration: "lean" (the default), "mixed" or "double"; the residual is in double always.
    check: raise ConvergenceError, which has the result, where the residual does not meet `tolerance`.
    progress: show a bar of tqdm, which moves by the decades of the residual.
    callback(iteration, residual): called after iterations on this thread; an exception ends the solve.

    Raises InputError for images and plates that make no test, UsageError for options, ValueError for numbers out
    of range. The GIL is free meanwhile, and Ctrl-C ends the solve between two iterations.
    """
    image = _image(modulus, axes)
    if test == "symshear" and (displacement is not None or plate_depth != 0):
        raise UsageError("displacement, plate_depth: symshear has no plates; give the strain")
    made = _core.BoneTest()
    made.kind = _TESTS.index(choice(test, _TESTS, "test"))
    made.axis = _AXES.index(choice(axis, _AXES, "axis"))
    made.direction = _direction(direction, test, axis)
    made.strain = strain
    made.displacement = displacement
    made.angle = angle
    made.lateral_free = choice(lateral, ("constrained", "free"), "lateral") == "free"
    made.plate_depth = plate_depth
    if isinstance(centre, str):
        made.about_mass = choice(centre, ("mass", "box"), "centre") == "mass"
    else:
        made.about_mass = False
        made.centre = tuple(float(x) for x in centre)
    options = _options(islands, tolerance, max_iterations, precision)
    with shown(progress, test, 1, tolerance, callback) as observe:
        answer = _core.solve_bone(_backends.choose(backend), image, spacing, poisson, made, options, observe)
    numbers = answer.numbers()
    reactions = {reaction.pop("name"): Reaction(**reaction) for reaction in answer.reactions()}
    result = Result(test=test, reactions=reactions, spacing=spacing, _answer=answer, _options=options,
                    _shape=tuple(image.shape), _axes=axes, _library=library_of(image), **numbers)
    return _checked(result, [result], tolerance, check)


def homogenise(modulus: ArrayLike, spacing: float, *, boundary: str = "kinematic", poisson: float = 0.3,
               islands: str = "auto", tolerance: float = 1e-6, max_iterations: int = 1000, precision: str | None = None, axes: str = "zyx",
               backend: str | None = None, gradients: bool = False, check: bool = True, progress: bool = False,
               callback: Callable[[int, float], None] | None = None) -> Homogenised:
    """The apparent stiffness of a specimen by six loads. Arguments and errors as in solve().

    boundary: "kinematic": all sides move as the strain says, which gives an upper bound; "periodic": the image is a
        cell that repeats along x, y and z, void at its sides included. Islands are the parts that lead through no cell.
    gradients: keep the displacements of the loads, 144 bytes a node, for the result's gradient().
    """
    choice(boundary, ("kinematic", "periodic"), "boundary")
    image = _image(modulus, axes)
    options = _options(islands, tolerance, max_iterations, precision)
    with shown(progress, "homogenise", 6, tolerance, callback) as observe:
        answer = _core.homogenise_bone(_backends.choose(backend), image, spacing, poisson, options, boundary == "periodic",
                                       gradients, observe)
    found = answer.numbers()
    solves = tuple(Solve(**numbers) for numbers in found.pop("solves"))
    matrices: dict[str, Any] = {name: np.array(found.pop(name)) for name in ("stiffness", "voigt", "reuss")}
    result = Homogenised(boundary=boundary, solves=solves, _answer=answer, _shape=tuple(image.shape), _axes=axes,
                         _library=library_of(image), **matrices, **found)
    return _checked(result, solves, tolerance, check)


def _engineering(stiffness: NDArray[np.float64]) -> Engineering | None:
    found = _core.engineering_constants(stiffness.tolist())
    return None if found is None else Engineering(
        tuple(found["young"]), tuple(found["shear"]), tuple(tuple(row) for row in found["poisson"]))


def _image(modulus: ArrayLike, axes: str) -> NDArray[np.float32]:
    array = _arrays.array_of(modulus)
    if choice(axes, ("zyx", "xyz"), "axes") == "xyz" and array.ndim == 3:
        array = array.swapaxes(0, 2)
    return _arrays.floats(array, np.float32, (None, None, None), "modulus")


def _in_axes(array: NDArray[_Number], axes: str) -> NDArray[_Number]:
    """An array [z, y, x, ...] in the axes of the image, as a view."""
    return array if axes == "zyx" else array.swapaxes(0, 2)


def _direction(direction: str | None, test: str, axis: str) -> int:
    if direction is None:
        direction = "y" if axis == "x" else "x"
    if choice(direction, _AXES, "direction") == axis and test in ("shear", "bending"):
        raise UsageError(f"direction={direction!r}: {test} goes across the plates' normal, axis={axis!r}")
    return _AXES.index(direction)


def _options(islands: str, tolerance: float, max_iterations: int, precision: str | None) -> _core.BoneOptions:
    options = _core.BoneOptions()
    options.islands = choice(islands, ("auto", "drop", "error"), "islands")
    options.precision = "" if precision is None else choice(precision, ("lean", "mixed", "double"), "precision")
    if not 0 < tolerance < 1:
        raise UsageError(f"tolerance={tolerance!r}: between 0 and 1")
    if max_iterations < 1:
        raise UsageError(f"max_iterations={max_iterations!r}: at least 1")
    options.tolerance = tolerance
    options.max_iterations = max_iterations
    return options


def _checked(result: _Checked, solves: Sequence[Solve | Result], tolerance: float, check: bool) -> _Checked:
    for one in solves:
        if one.fell_back:
            logger.info("the iteration stalled, and went on in double precision with the W-cycle", extra={"code": ""})
    failed = [one for one in solves if not one.converged]
    if failed and check:
        raise ConvergenceError(
            f"residual {failed[0].residual:.1e} after {failed[0].iterations} iterations, which does not meet the "
            f"tolerance {tolerance:.1e}: raise max_iterations or the tolerance, or take precision=\"double\"; "
            "check=False returns what there is", result)
    return result
