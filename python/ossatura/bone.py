# SPDX-License-Identifier: Apache-2.0
"""Stiffness, strains and stresses of bone: one trilinear hexahedron for each voxel of an image of moduli.

    result = bone.solve(modulus, spacing=0.082, test="axial", strain=-0.01)
    result.stiffness, result.energy_density, result.gradient("stiffness")
    bone.solve(density, spacing=0.5, mask=labels, label_laws={1: bone.Law("linear", slope=8)}, pads={5: 2500}).labels
    bone.remodel(density, spacing=0.5, steps=50, coefficient=3790, exponent=3, stimulus=0.004, rate=1, limits=(0.01, 1.74))
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
from typing import IO, Any, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _backends, _core, _doubts, _draw, _numbers, _save
from ._errors import ConvergenceError, UsageError, choice
from ._held import Held
from ._libraries import Library, library_of
from ._log import logger
from ._progress import shown

__all__ = ["Engineering", "Homogenised", "Label", "Law", "Orthotropic", "QUANTITIES", "Reaction", "Remodelled", "Result",
           "Sections", "Solve", "State", "homogenise", "remodel", "solve"]

_TESTS = ("axial", "confined", "shear", "torsion", "bending", "symshear")  # as BoneTestKind
_SMOOTH = "uniaxial"  # axial, and lateral="free"
_AXES = ("x", "y", "z")
Spacing = Union[float, Sequence[float], NDArray[Any]]
_Number = TypeVar("_Number", bound=np.generic)
_Checked = TypeVar("_Checked")
_FIELDS = {"energy_density": "N/mm^2", "von_mises": "MPa", "effective_strain": ""}
_TENSORS = ("strain_tensor", "stress_tensor")
QUANTITIES = ("stiffness", "apparent_modulus", "force", "rotational_stiffness", "moment", "strain_energy")
"""The numbers that Result.gradient() is of."""
_NUMBERS = ("stiffness", "apparent_modulus", "mask_area", "mask_apparent_modulus", "force", "plate_displacement", "strain",
            "stress", "angle", "moment", "rotational_stiffness", "height", "area", "strain_energy", "iterations", "residual",
            "converged", "num_voxels", "num_nodes", "num_dropped", "spacing")


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


@dataclasses.dataclass(frozen=True)
class Law:
    """What the image's values mean in voxels with a label of the mask: Young's modulus E (MPa) of a value g.

    kind: "constant" (E = modulus whatever the value), "threshold" (E = modulus where g is within lower to upper),
        "linear" (E = intercept + slope g), "power" (E = coefficient (intercept + slope g)^exponent), "modulus" (E = g).
    Values outside lower to upper are void, but for "constant". UsageError for numbers that the kind does not have.
    """
    kind: str
    modulus: float | None = None
    """MPa"""
    slope: float | None = None
    """1 where it is not given"""
    intercept: float | None = None
    """0 where it is not given"""
    coefficient: float | None = None
    exponent: float | None = None
    lower: float | None = None
    upper: float | None = None
    poisson: float | None = None
    """that of the call where it is not given"""

    def __post_init__(self) -> None:
        known = _LAWS[choice(self.kind, tuple(_LAWS), "kind")]
        for field in dataclasses.fields(self)[1:]:
            value = getattr(self, field.name)
            if value is None:
                if field.name in known and known[field.name]:
                    raise UsageError(f"Law({self.kind!r}): give {field.name}")
            elif field.name not in known:
                raise UsageError(f"Law({self.kind!r}): {field.name}={value!r} has no effect; it has {', '.join(known)}")
            elif math.isnan(number := _numbers.any_real(value, f"Law({self.kind!r}): {field.name}")) or (
                    math.isinf(number) and field.name not in ("lower", "upper")):
                raise UsageError(f"Law({self.kind!r}): {field.name}={value!r} is no finite number")
        if self.kind == "threshold" and self.lower is None and self.upper is None:
            raise UsageError("Law('threshold'): give lower, upper or both; \"constant\" is bone whatever the value")
        if self.modulus is not None and not 0 < self.modulus <= 1e30:
            raise UsageError(f"Law({self.kind!r}): modulus={self.modulus!r}: greater than 0, up to 1e30 MPa")


_BOUNDS = {"lower": False, "upper": False, "poisson": False}
_LAWS: dict[str, dict[str, bool]] = {  # the numbers of each, and whether they have to be given
    "constant": {"modulus": True, "poisson": False}, "threshold": {"modulus": True, **_BOUNDS},
    "linear": {"slope": True, "intercept": False, **_BOUNDS},
    "power": {"coefficient": True, "exponent": True, "slope": False, "intercept": False, **_BOUNDS}, "modulus": _BOUNDS}


@dataclasses.dataclass(frozen=True)
class Label:
    """What the bone with one label of the mask bears; means and maxima are over voxels, at their centres."""
    num_voxels: int
    modulus_mean: float
    """MPa"""
    energy_density_mean: float
    """N/mm^2"""
    von_mises_mean: float
    """MPa"""
    von_mises_max: float
    effective_strain_mean: float
    effective_strain_max: float
    energy_share: float
    """part of the sum of energy densities at the centres of the bone's voxels"""


@dataclasses.dataclass(frozen=True, eq=False)
class Sections:
    """The force along the axis of a test through each layer of voxels across it, by label."""
    axis: str
    position: NDArray[np.float64]
    """[layers] mm from the lower corner of the image, of the layer's middle"""
    force: NDArray[np.float64]
    """[layers] N, positive in tension; pads are in it"""
    label_force: Mapping[int, NDArray[np.float64]]
    """[layers] N of the bone with each label"""
    first_free: int
    """the first and the last layer between the plates, whose force is the reaction; last_free is first_free - 1 where
    there is none"""
    last_free: int
    reaction: float
    """N, of the upper plate"""

    def share(self, label: int) -> NDArray[np.float64]:
        """[layers] the part of the force that a label carries; nan where there is no force."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.force != 0, self.label_force[label] / self.force, math.nan)


@dataclasses.dataclass(frozen=True)
class State:
    """A state of remodelling that was solved for, and what it is about to do. Parts are of the number of voxels."""
    mass: float
    """g"""
    mean_density: float
    """g/cm^3"""
    mean_stimulus: float
    """J/g, over the volume"""
    forming: float
    resorbing: float
    at_least: float
    """at the bounds of the density"""
    at_most: float
    mean_change: float
    """g/cm^3 of the next step, without its sign"""
    strain_energy: float
    """N mm"""
    stiffness: float | None
    """N/mm, of tests that have it"""
    iterations: int
    residual: float


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Result(Held):
    """The result of a test. Numbers that a test does not give are None; fields are made when they are asked for.

    Arrays over voxels are [z, y, x], arrays over nodes [z + 1, y + 1, x + 1], each in the axes of the image; they
    are 0 in the void.
    """
    _instead = "result.save() writes it, and its numbers and arrays, such as result.displacement, can be pickled"
    test: str
    stiffness: float | None
    """N/mm: force by displacement of the upper plate (axial, uniaxial, confined, shear)"""
    apparent_modulus: float | None
    """MPa: stress by strain, of the cross-section of the specimen's box; the shear modulus of it (symshear)"""
    mask_area: float | None
    """mm^2, with a mask, of tests with a force: its mean cross-section along the bone; that of a cylindrical core, which
    the box is not"""
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
    labels: Mapping[int, Label]
    """with a mask: of the labels that the bone has"""
    sections: Sections | None
    """with a mask, of axial, uniaxial and confined tests"""
    _answer: Any
    _options: Any
    _shape: tuple[int, int, int]
    _axes: str
    _library: Library
    _pads: NDArray[np.bool_] | None

    @property
    def mask_apparent_modulus(self) -> float | None:
        """MPa: the apparent modulus by `mask_area` in place of the box's."""
        if self.mask_area is None or self.apparent_modulus is None:
            return None
        return self.apparent_modulus * self.area / self.mask_area

    @functools.cached_property
    def modulus(self) -> NDArray[np.float32]:
        """[z, y, x] Young's modulus of what was solved, pads included, MPa, single."""
        return self._field("modulus")

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
        check = _numbers.flag(check, "check")
        array = _arrays.array_of(weights, "weights")
        if self._axes == "xyz" and array.ndim == 4:
            array = array.swapaxes(0, 2)
        array = _arrays.floats(array, np.float64, (*(n + 1 for n in self._shape), 3), "weights")
        _arrays.require_finite(array, "weights")
        options = _options("auto", self._options.tolerance if tolerance is None else tolerance,
                           self._options.max_iterations, self._options.precision or None)
        solved: list[Solve] = []
        out = self._library.make(self._shape, np.float64, lambda memory: solved.append(
            Solve(**self._answer.adjoint(array, options, callback, memory))))
        return _checked(_in_axes(out, self._axes), solved, options.tolerance, check)

    def failure_factor(self, strain: float = 0.007, volume: float = 0.02) -> float:
        """The bone fails at this times the load of the test, by Pistoia's criterion [1]: where `volume`, a part of the
        bone, is beyond the effective `strain`. Its failure load is `force` times this. Pads are no bone.

        Infinite where less than that part is strained at all. Raises UsageError for other numbers.
        [1] Bone 30 (2002) 842-848, doi:10.1016/S8756-3282(02)00736-6.
        """
        strain, volume = _numbers.any_real(strain, "strain"), _numbers.any_real(volume, "volume")
        if not (0 < volume < 1 and 0 < strain < math.inf):
            raise UsageError(f"failure_factor({strain!r}, {volume!r}): a strain greater than 0, a part between 0 and 1")
        field = _in_axes(_arrays.host(self.effective_strain), self._axes)
        count = self.num_voxels
        if self._pads is not None:
            solid = _in_axes(_arrays.host(self.modulus), self._axes) > 0
            count -= int(np.count_nonzero(self._pads & solid))
            field = np.where(self._pads, 0, field)
        strained = field[field > 0]
        values = np.zeros(max(count, len(strained)))
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
        fields = [choice(name, ("displacement", *_FIELDS, *_TENSORS), "fields") for name in (
            (fields,) if isinstance(fields, str) else fields)]
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
            array, label = _arrays.host(field, "field"), ""
            array = array.astype(np.uint8) if array.dtype.kind == "b" else array
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


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Homogenised(Held):
    """The apparent stiffness of a specimen's box, by six loads that are uniform strains of its sides, or that of a cell
    that repeats."""
    _instead = "save() writes it, and its numbers and arrays, such as stiffness, can be pickled"
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
        array = _arrays.host_floats(weights, np.float64, (6, 6), "weights")
        _arrays.require_finite(array, "weights")
        matrix = array.tolist()
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

    def __repr__(self) -> str:
        diagonal = ", ".join(f"{value:.6g}" for value in np.diagonal(self.stiffness))
        return (f"<ossatura.bone.Homogenised ({self.boundary}): diagonal of the stiffness {diagonal} MPa; {self.num_voxels} voxels"
                f"{'' if self.converged else ', NOT CONVERGED'}>")

    def _repr_html_(self) -> str:
        names = ("xx", "yy", "zz", "xy", "yz", "zx")
        rows = [(name, "  ".join(f"{value:.5g}" for value in row)) for name, row in zip(names, self.stiffness)]
        return _draw.summary(f"apparent stiffness ({self.boundary}), MPa, by strain {', '.join(names)}", [
            *rows, ("voxels", str(self.num_voxels)), ("converged", "yes" if self.converged else "NO")], None, (0, 0))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Remodelled:
    """The states of a bone whose density followed its load."""
    states: tuple[State, ...]
    """from the first one on; one more than steps were taken"""
    result: Result
    """of the last state"""
    _coefficient: float
    _exponent: float

    @functools.cached_property
    def density(self) -> NDArray[np.float64]:
        """[z, y, x] g/cm^3 of the last state, 0 in the void and in pads, in the axes of the image, double."""
        result = self.result
        modulus = _in_axes(_arrays.host(result.modulus), result._axes).astype(np.float64)
        if result._pads is not None:
            modulus[result._pads] = 0
        return _in_axes((modulus / self._coefficient) ** (1 / self._exponent), result._axes)

    @property
    def converged(self) -> bool:
        """Whether all solves are."""
        return self.result.converged

    def __repr__(self) -> str:
        first, last = (f"{state.mass:.6g}" for state in (self.states[0], self.states[-1])) if self.states else ("?", "?")
        return (f"<ossatura.bone.Remodelled by {max(len(self.states) - 1, 0)} steps: mass {first} to {last} g"
                f"{'' if self.converged else ', NOT CONVERGED'}>")


def solve(modulus: ArrayLike, spacing: Spacing, *, mask: ArrayLike | None = None, mask_labels: Sequence[int] | None = None,
          label_laws: Mapping[int, Law] | None = None, pads: Mapping[int, float | tuple[float, float]] | None = None,
          test: str = "axial", axis: str = "z", direction: str | None = None,
          strain: float | None = None, displacement: float | None = None, angle: float | None = None,
          lateral: str | None = None, plate_depth: float = 0.0,
          centre: str | Sequence[float] | None = None, poisson: float = 0.3, islands: str = "auto",
          tolerance: float = 1e-6, max_iterations: int = 1000, precision: str | None = None, axes: str = "zyx",
          backend: str | None = None, check: bool = True, progress: bool = False,
          callback: Callable[[int, float], None] | None = None) -> Result:
    """Solves a mechanical test of a specimen between two plates at the ends of what is solid.

    modulus: [z, y, x] Young's moduli in MPa, 0 = void; float32 is read where it is, other numbers are converted.
    spacing: edge of a voxel, mm; or three, which are equal.
    mask: labels of the voxels, whole numbers in an array of the image's shape: bone is where it has one of `mask_labels`,
        by default all but 0 and pads, and the result has numbers by label.
    label_laws: for labels of bone what the image's values mean there, for each of them; without it they are moduli.
    pads: labels that are no bone, but pads, pots, cement or implants, of this modulus in MPa (and Poisson's ratio)
        whatever the image has: numbers by label and failure_factor() leave them out.
    test: "axial" (the upper plate moves along `axis`), "uniaxial" (the same between smooth plates), "confined" (in a smooth-walled box), "shear" (along
        `direction`), "torsion" (about `axis`), "bending" (the plates tilt against each other about `direction`),
        "symshear" (no plates: the four sides beside `axis` move as a shear says, without a rotation).
    strain: displacement of the upper plate by the height, by default -0.01, or `displacement` in mm; of symshear the
        engineering shear strain; `angle` of turns in rad, by default that of 1 degree.
    lateral: "constrained" (plates glued, the default) or "free" (smooth).
    plate_depth: mm; nodes so far inside the ends are held by the plates too.
    centre: what turns go about: "mass" (the default), "box", or a point x, y, z in mm from the lower corner of the image.
    islands: parts that no plate touches are left out with a warning, up to 1 % of the bone by "auto", up to half
        by "drop", never by "error".
    precision: of the iteration: "lean" (the default), "mixed" or "double"; the residual is in double always.
    check: raise ConvergenceError, which has the result, where the residual does not meet `tolerance`.
    progress: show a bar of tqdm, which moves by the decades of the residual.
    callback(iteration, residual): called after iterations on this thread; an exception ends the solve.

    Raises InputError for images and plates that make no test, UsageError for options, ValueError for numbers out
    of range. The GIL is free meanwhile, and Ctrl-C ends the solve between two iterations.
    """
    check, image = _numbers.flag(check, "check"), _image(modulus, axes)
    spacing, poisson = _numbers.edge(spacing, "spacing"), _numbers.real(poisson, "poisson")
    labels, chosen = _mask(mask, mask_labels, label_laws, pads, poisson, axes)
    made = _test(test, axis, direction, strain, displacement, angle, lateral, plate_depth, centre)
    options = _options(islands, tolerance, max_iterations, precision)
    _warn_of_image(image, spacing, made, pads)
    if labels is None:
        _doubts.moduli(_largest(image))
    with shown(progress, test, 1, tolerance, callback) as observe:
        answer = _core.solve_bone(_backends.choose(backend), image, spacing, poisson, labels, chosen, made, options, observe)
    result = _result(answer, test, spacing, options, image, axes, _pads_of(labels, pads))
    _warn_of_result(result, labels, mask_labels)
    return _checked(result, [result], tolerance, check)


def remodel(density: ArrayLike, spacing: Spacing, *, steps: int, coefficient: float, exponent: float, stimulus: float,
            rate: float, limits: tuple[float, float], lazy: float = 0.0, mask: ArrayLike | None = None,
            mask_labels: Sequence[int] | None = None, pads: Mapping[int, float | tuple[float, float]] | None = None,
            test: str = "axial", axis: str = "z", direction: str | None = None, strain: float | None = None,
            displacement: float | None = None, angle: float | None = None, lateral: str | None = None,
            plate_depth: float = 0.0, centre: str | Sequence[float] | None = None, poisson: float = 0.3, islands: str = "auto",
            tolerance: float = 1e-6, max_iterations: int = 1000, precision: str | None = None, axes: str = "zyx",
            backend: str | None = None, check: bool = True, progress: bool = False,
            callback: Callable[[int, float], None] | None = None) -> Remodelled:
    """Lets the density of bone follow its load, by the strain energy by mass S of each voxel.

    density: [z, y, x] g/cm^3, 0 = void; Young's modulus is coefficient density^exponent, MPa.
    steps: of remodelling; each state is solved for from the one before. 0: the first state alone.
    stimulus: k, J/g, at which bone stays as it is. In a step the density changes by rate (S - (1 + lazy) k) where S is
        above (1 + lazy) k, by rate (S - (1 - lazy) k) where it is below (1 - lazy) k, and keeps to `limits`.
    rate: g/cm^3 for each J/g. limits: least and greatest density, g/cm^3. lazy: a part, from 0 to less than 1.
    mask, mask_labels, pads: as in solve(); pads keep their modulus, and have the Poisson's ratio of the bone.

    Other arguments and errors are those of solve(). ConvergenceError, with the states so far, where a solve does not
    meet the tolerance; callback() is called in all solves.
    """
    check, image = _numbers.flag(check, "check"), _image(density, axes, "density")
    spacing, poisson = _numbers.edge(spacing, "spacing"), _numbers.real(poisson, "poisson")
    labels, chosen = _mask(mask, mask_labels, None, pads, poisson, axes)
    made = _test(test, axis, direction, strain, displacement, angle, lateral, plate_depth, centre)
    options = _options(islands, tolerance, max_iterations, precision)
    adaptation = _adaptation(steps, coefficient, exponent, stimulus, lazy, rate, limits)
    _warn_of_image(image, spacing, made, pads)
    if labels is None:
        _doubts.moduli(float(coefficient) * max(0.0, _largest(image)) ** float(exponent), "density, coefficient, exponent")
    with shown(progress, "remodelling", steps + 1, tolerance, callback) as observe:
        answer = _core.remodel_bone(_backends.choose(backend), image, spacing, poisson, labels, chosen, made, adaptation,
                                    options, observe)
    result = _result(answer, test, spacing, options, image, axes, _pads_of(labels, pads))
    _warn_of_result(result, labels, mask_labels)
    remodelled = Remodelled(states=tuple(State(**state) for state in answer.states()), result=result,
                            _coefficient=coefficient, _exponent=exponent)
    return _checked(remodelled, [result], tolerance, check)


def _test(test: str, axis: str, direction: str | None, strain: float | None, displacement: float | None,
          angle: float | None, lateral: str | None, plate_depth: float,
          centre: str | Sequence[float] | None) -> _core.BoneTest:
    plate_depth = _numbers.real(plate_depth, "plate_depth")
    if plate_depth < 0:
        raise UsageError(f"plate_depth: {plate_depth:g} mm; at least 0")
    if test == "symshear" and (displacement is not None or plate_depth != 0):
        raise UsageError("displacement, plate_depth: symshear has no plates; give the strain")
    made = _core.BoneTest()
    is_smooth = choice(test, (_TESTS[0], _SMOOTH, *_TESTS[1:]), "test") == _SMOOTH
    made.kind = 0 if is_smooth else _TESTS.index(test)
    turns = test in ("torsion", "bending")
    for name, given, is_used, remedy in (
            ("strain", strain, not turns, "give the angle"), ("displacement", displacement, not turns, "give the angle"),
            ("angle", angle, turns, "it is of torsion and bending"), ("centre", centre, turns, "it is of torsion and bending"),
            ("direction", direction, test in ("shear", "bending", "symshear"), "it is of shear and bending"),
            ("lateral", lateral, test not in ("confined", _SMOOTH),
             "its plates are smooth" if is_smooth else "its walls hold the sides")):
        if given is not None and not is_used:
            raise UsageError(f"{name}: has no effect with the test {test}: {remedy}, or leave it out")
    if strain is not None and displacement is not None:
        raise UsageError("both strain and displacement: leave one out")
    made.axis = _AXES.index(choice(axis, _AXES, "axis"))
    made.direction = _direction(direction, test, axis)
    made.strain = -0.01 if strain is None else _numbers.real(strain, "strain")
    made.displacement = None if displacement is None else _numbers.real(displacement, "displacement")
    made.angle = math.radians(1) if angle is None else _numbers.real(angle, "angle")
    made.lateral_free = is_smooth or lateral is not None and choice(lateral, ("constrained", "free"), "lateral") == "free"
    made.plate_depth = plate_depth
    if centre is None or isinstance(centre, str):
        made.about_mass = centre is None or choice(centre, ("mass", "box"), "centre") == "mass"
    else:
        made.about_mass = False
        made.centre = _numbers.vector(centre, "centre")
    return made


def _result(answer: Any, test: str, spacing: float, options: _core.BoneOptions, image: NDArray[np.float32], axes: str,
            pads: NDArray[np.bool_] | None) -> Result:
    reactions = {reaction.pop("name"): Reaction(**reaction) for reaction in answer.reactions()}
    labels = {label.pop("label"): Label(**label) for label in answer.labels()}
    return Result(test=test, reactions=reactions, spacing=spacing, labels=labels, sections=_sections(answer.sections()),
                  _answer=answer, _options=options, _shape=tuple(image.shape), _axes=axes, _library=library_of(image),
                  _pads=pads, **answer.numbers())


def _largest(image: Any) -> float:
    return float(image.max()) if 0 not in image.shape else 0.0


def _warn_of_image(image: Any, spacing: float, test: _core.BoneTest, pads: Mapping[int, Any] | None) -> None:
    """Before the solve: of lengths and pads."""
    _doubts.voxels(image.shape, spacing)
    _doubts.depth(test.plate_depth, spacing)
    _doubts.pads(pads)
    _doubts.centre(test.centre, image.shape, spacing, test.axis if _TESTS[test.kind] == "torsion" else None)


def _warn_of_result(result: Result, labels: NDArray[np.int32] | None, mask_labels: Any) -> None:
    """After it: of the moduli that laws made, and of strains."""
    means = [of.modulus_mean for of in result.labels.values()]
    if means and (max(means) < _doubts.SUSPICIOUS or max(means) > _doubts.STIFFEST):
        modulus = _in_axes(_arrays.host(result.modulus), result._axes)
        _doubts.moduli(float((modulus if result._pads is None else modulus[~result._pads]).max()))
    if labels is not None and mask_labels is None:
        _doubts.parts(labels, list(result.labels))
    _doubts.strain(result.strain, result.angle, result.height, result.area)


def _sections(found: dict[str, Any] | None) -> Sections | None:
    if found is None:
        return None
    forces = {label: np.array(force) for label, force in zip(found["labels"], found["label_force"])}
    return Sections(axis=_AXES[found["axis"]], position=np.array(found["position"]), force=np.array(found["force"]),
                    label_force=forces, first_free=found["begin"], last_free=found["end"] - 1, reaction=found["reaction"])


def require_moduli(options: Mapping[str, Any]) -> None:
    """Of functions of an image with gradients, which are by moduli: refuses options that make other moduli of its values."""
    for name in ("label_laws", "pads"):
        if options.get(name):
            raise UsageError(f"{name}: gradients are by the modulus of each voxel, which {name} make of the image's values: "
                             "apply the laws to the image before, and leave them out")


def _mask(mask: ArrayLike | None, mask_labels: Sequence[int] | None, label_laws: Mapping[int, Law] | None,
          pads: Mapping[int, float | tuple[float, float]] | None, poisson: float,
          axes: str) -> tuple[NDArray[np.int32] | None, _core.BoneMask]:
    """The labels [z, y, x], and what is said of them."""
    chosen = _core.BoneMask()
    if mask is None:
        for name, value in (("mask_labels", mask_labels), ("label_laws", label_laws), ("pads", pads)):
            if value is not None:
                raise UsageError(f"{name}: give the mask, which has the labels")
        return None, chosen
    array = _arrays.host(mask, "mask")
    array = array.astype(np.int32) if array.dtype.kind == "b" else array
    if axes == "xyz" and array.ndim == 3:
        array = array.swapaxes(0, 2)
    labels = _arrays.integers(array, (None, None, None), "mask")
    if isinstance(mask_labels, (int, str, np.integer)):
        raise TypeError(f"mask_labels={mask_labels!r}: a list of labels, as [1]")
    bone = [] if mask_labels is None else [_numbers.whole(label, "mask_labels") for label in mask_labels]
    for name, given in (("label_laws", label_laws), ("pads", pads)):
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{name}={given!r}: a mapping of labels, as " + (
                "{1: Law(\"linear\", slope=8)}" if name == "label_laws" else "{5: 2500}"))
    if mask_labels is not None and (not bone or 0 in bone):
        raise UsageError(f"mask_labels={mask_labels!r}: labels of bone, of which 0 is none")
    chosen.bone = bone
    for label, law in (label_laws or {}).items():
        if label == 0 or label in (pads or {}) or (bone and label not in bone):
            raise UsageError(f"label_laws: label {label} is no bone, as mask_labels and pads have it")
        chosen.add_law(_label_law(_numbers.whole(label, "label_laws: label"), law, poisson))
    for label, pad in (pads or {}).items():
        if label == 0 or label in bone:
            raise UsageError(f"pads: label {label} is {'what is not segmented' if label == 0 else 'bone in mask_labels'}")
        chosen.add_pad(_pad(_numbers.whole(label, "pads: label"), pad, poisson))
    return labels, chosen


def _label_law(label: int, law: Law, poisson: float) -> _core.BoneLabelLaw:
    if not isinstance(law, Law):
        raise TypeError(f"label_laws[{label}]: a bone.Law, not {type(law).__name__}")
    made = _core.BoneLabelLaw()
    made.label = label
    made.kind = law.kind
    made.lower = -math.inf if law.lower is None else law.lower
    made.upper = math.inf if law.upper is None else law.upper
    made.poisson = _ratio(poisson if law.poisson is None else law.poisson, f"label_laws[{label}]")
    for name in ("modulus", "slope", "intercept", "coefficient", "exponent"):
        value = getattr(law, name)
        if value is not None:
            setattr(made, name, value)
    return made


def _pad(label: int, pad: float | tuple[float, float], poisson: float) -> _core.BonePad:
    made = _core.BonePad()
    made.label = label
    modulus, ratio = pad if isinstance(pad, (tuple, list)) and len(pad) == 2 else (pad, poisson)
    made.modulus = _numbers.any_real(modulus, f"pads[{label}]")
    made.poisson = _numbers.any_real(ratio, f"pads[{label}]: Poisson's ratio")
    if not 0 < made.modulus <= 1e30:
        raise UsageError(f"pads[{label}]: a modulus of {made.modulus!r}: greater than 0, up to 1e30 MPa")
    _ratio(made.poisson, f"pads[{label}]")
    return made


def _ratio(poisson: float, what: str) -> float:
    if not -0.999 <= poisson <= 0.499999:
        raise UsageError(f"{what}: Poisson's ratio {poisson!r}: -0.999 to 0.499999 is taken")
    return poisson


def _pads_of(labels: NDArray[np.int32] | None,
             pads: Mapping[int, float | tuple[float, float]] | None) -> NDArray[np.bool_] | None:
    return np.isin(labels, list(pads)) if pads and labels is not None else None


def _adaptation(steps: int, coefficient: float, exponent: float, stimulus: float, lazy: float, rate: float,
                limits: tuple[float, float]) -> _core.BoneAdaptation:
    made = _core.BoneAdaptation()
    made.steps = _numbers.whole(steps, "steps")
    if not 0 <= steps <= 100000:
        raise UsageError(f"steps={steps!r}: 0 to 100000")
    for name, value in (("coefficient", coefficient), ("exponent", exponent), ("stimulus", stimulus), ("rate", rate)):
        number = _numbers.any_real(value, name)
        if not 0 < number < math.inf:
            raise UsageError(f"{name}={value!r}: greater than 0")
        setattr(made, name, number)
    made.lazy = _numbers.any_real(lazy, "lazy")
    if not 0 <= made.lazy < 1:
        raise UsageError(f"lazy={lazy!r}: a part, from 0 to less than 1")
    if np.shape(limits) != (2,):
        raise TypeError(f"limits={limits!r}: the least and the greatest density, g/cm^3")
    made.least, made.most = (_numbers.any_real(limit, "limits") for limit in limits)
    if not 0 < made.least < made.most <= 100:
        raise UsageError(f"limits={limits!r}: densities in g/cm^3, greater than 0 and in order, such as (0.01, 1.74)")
    return made


def homogenise(modulus: ArrayLike, spacing: Spacing, *, boundary: str = "kinematic", poisson: float = 0.3,
               islands: str = "auto", tolerance: float = 1e-6, max_iterations: int = 1000, precision: str | None = None, axes: str = "zyx",
               backend: str | None = None, gradients: bool = False, check: bool = True, progress: bool = False,
               callback: Callable[[int, float], None] | None = None) -> Homogenised:
    """The apparent stiffness of a specimen by six loads. Arguments and errors as in solve().

    boundary: "kinematic": all sides move as the strain says, which gives an upper bound; "periodic": the image is a
        cell that repeats along x, y and z, void at its sides included. Islands are the parts that lead through no cell.
    gradients: keep the displacements of the loads, 144 bytes a node, for the result's gradient().
    """
    choice(boundary, ("kinematic", "periodic"), "boundary")
    gradients = _numbers.flag(gradients, "gradients")
    check, image = _numbers.flag(check, "check"), _image(modulus, axes)
    spacing, poisson = _numbers.edge(spacing, "spacing"), _numbers.real(poisson, "poisson")
    options = _options(islands, tolerance, max_iterations, precision)
    _doubts.voxels(image.shape, spacing)
    _doubts.moduli(_largest(image))
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


def _image(modulus: ArrayLike, axes: str, what: str = "modulus") -> NDArray[np.float32]:
    array = _arrays.array_of(modulus, what)
    if choice(axes, ("zyx", "xyz"), "axes") == "xyz" and array.ndim == 3:
        array = array.swapaxes(0, 2)
    return _arrays.floats(array, np.float32, (None, None, None), what)


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
    options.tolerance = _numbers.tolerance(tolerance)
    options.max_iterations = _numbers.at_least(1, max_iterations, "max_iterations")
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
