# SPDX-License-Identifier: Apache-2.0
"""Warnings of what is hardly meant, as numbers in other units: those that the executable gives, with its codes. In a loop
of calls, as of a fit, each is given once, until a call is without it."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core
from ._log import logger

_EDGES = 1e-4, 5.0  # mm, of voxels from those of a synchrotron to slices of clinical CT
_FINE_EDGE, _SHORT_IMAGE = 5e-3, 0.5  # mm: edges of clinical CT in m are finer, and its images in m are shorter
_MODULI = SUSPICIOUS, STIFFEST = 100.0, 1e6  # MPa, of the stiffest part of bone, cement or metal
_PADS = 10.0, 1e6  # MPa: discs and foams are softer than 1 GPa, but hardly what a user has who thinks in GPa
_STRAIN = 0.1  # beyond it a linear test says little about bone, which yields below 0.01
_FEW_LABELS = 8
_VELOCITIES = 0.01, 10.0  # m/s, of a heart, and of most tissue grown in a laboratory
_HEARTS = 1.0, 1000.0  # mm, the longest side of a heart, or of a piece of one
_SOFTEST = 1000.0  # Pa, of the softest tissues and gels; moduli near 1 stand for units
_DISPLACEMENT = 0.1  # of the body: no theory of small displacements goes so far
_IN_GPA = 1e3  # of the body, where the modulus may be in GPa: 210 for 210e9 makes this of a strain of 1e-6
_LOCKING = 0.49  # Poisson's ratio
_GRAVITY = 9.7, 10.0  # m/s^2


_given: set[str] = set()


def _look(is_odd: bool, code: str, what: str, text: Callable[[], str]) -> None:
    """Warns of what is odd, unless the last look at `what` did."""
    key = f"{code} {what}"
    if not is_odd:
        _given.discard(key)
    elif key not in _given:
        _given.add(key)
        logger.warning("%s", text(), extra={"code": code})


def voxels(shape: Sequence[int], spacing: float) -> None:
    """Of images: the edge of a voxel, and the size of the whole."""
    extent = spacing * max(shape)
    _look(spacing > 0 and not _EDGES[0] <= spacing <= _EDGES[1], "odd-size", "edge", lambda: (
        f"spacing: the edge of a voxel is {spacing:.6g} mm, and forces grow with its square: lengths are in mm, not in um or m"))
    _look(_EDGES[0] <= spacing <= _FINE_EDGE and extent < _SHORT_IMAGE, "odd-size", "extent", lambda: (
        f"spacing: the longest side of the image is {extent:.3g} mm, by voxels of {spacing:.6g} mm, and forces grow with its "
        "square: lengths are in mm, not in m"))


def moduli(largest: float, what: str = "modulus") -> None:
    """Of the stiffest bone, MPa."""
    is_soft = 0 < largest < _MODULI[0]
    _look(is_soft or largest > _MODULI[1], "odd-modulus", "bone", lambda: (
        f"{what}: the largest modulus is {largest:.6g} MPa, {'softer than bone' if is_soft else 'stiffer than metal'}: moduli are "
        "in MPa, so that 17 GPa are 17000"))


def pads(given: Mapping[int, Any] | None) -> None:
    for label, pad in (given or {}).items():
        modulus = float(pad[0] if isinstance(pad, (tuple, list)) else pad)
        what = "as soft as rubber or foam" if modulus < _PADS[0] else "stiffer than metal"
        _look(not _PADS[0] <= modulus <= _PADS[1], "odd-modulus", f"pad {label}", lambda: (
            f"pads[{label}] has {modulus:.6g} MPa, {what}: it is given in MPa, so that 2.5 GPa of PMMA are 2500"))


def depth(plate_depth: float, spacing: float) -> None:
    """mm, of plates."""
    _look(0 < plate_depth * (1 + 1e-6) < spacing, "no-depth", "plate_depth", lambda: (
        f"plate_depth={plate_depth:.6g}: is less than a voxel of {spacing:.6g} mm, and does nothing: depths are in mm"))


def parts(mask: NDArray[np.int32], labels: Sequence[int]) -> None:
    """Of a mask all of whose `labels` are bone, but are parts of voxels, as of one that was blurred: between 0 and the
    largest they differ from voxel to voxel."""
    if len(labels) <= _FEW_LABELS or min(labels) < 0:
        return
    values = mask.ravel()
    between = (values[1:-1] > 0) & (values[1:-1] < max(labels))
    alike = between & ((values[1:-1] == values[:-2]) | (values[1:-1] == values[2:]))
    _look(bool(2 * np.count_nonzero(alike) < np.count_nonzero(between)), "partial-mask", "mask", lambda: (
        f"mask: has {len(labels)} values from {min(labels)} to {max(labels)} that differ from voxel to voxel, as parts of voxels "
        "do, and all above 0 is bone: resample labels to the nearest, threshold the mask, or name labels by mask_labels"))


def centre(point: Sequence[float] | None, shape: Sequence[int], spacing: float, along: int | None) -> None:
    """Of a point x, y, z that turns go about, in an image [z, y, x]; where it lies along axis `along` has no effect."""
    beside = [] if point is None else [(axis, x, n * spacing) for axis, (x, n) in enumerate(zip(point, reversed(shape)))
                                       if axis != along and not 0 <= x <= n * spacing]
    _look(bool(beside), "odd-centre", "centre", lambda: (
        f"centre: {beside[0][1]:.6g} mm along {'xyz'[beside[0][0]]} lies beside the image, which is from 0 to {beside[0][2]:.6g} "
        "mm: it is given along the axes of the image from its lower corner, not in the world of the scanner"))


def strain(strain: float | None, angle: float | None, height: float, area: float) -> None:
    """Of the plates, or of the surface of what turns."""
    _look(strain is not None and abs(strain) > _STRAIN, "large-strain", "strain", lambda: (
        f"the plates move by {100 * (strain or 0):.3g} % of the height: the theory is linear, and results grow with the "
        "displacement; strain is a part, 0.01 for 1 %, and displacement is in mm"))
    turns_far = angle is not None and height > 0 and abs(angle) * math.sqrt(area) / 2 / height > _STRAIN
    _look(turns_far, "large-strain", "angle", lambda: (
        f"the plates turn by {math.degrees(angle or 0):.3g} degrees: the theory is linear, and results grow with the angle, which "
        "is in rad"))


def hearts(points: NDArray[np.float64], tetra: NDArray[np.int32]) -> None:
    """Of the vertices of tetrahedra, mm."""
    used = points[np.unique(tetra)]
    extent = float((used.max(0) - used.min(0)).max())
    _look(not _HEARTS[0] <= extent <= _HEARTS[1], "odd-size", "heart", lambda: (
        f"points: the mesh is {extent:.4g} mm long, and times grow with lengths: points are in mm, not in um or m"))


def velocities(rows: NDArray[np.float64], names: Sequence[object] | None) -> None:
    """Of rows along fibre, sheet and normal, m/s, of the tags `names` or of tetrahedra."""
    conducts = rows[:, 0] > 0

    def look(are_odd: NDArray[np.bool_], what: str, text: str) -> None:
        odd = np.flatnonzero(conducts & are_odd)

        def describe() -> str:
            first = f"tetrahedron {odd[0]}" if names is None else f"tag {names[odd[0]]}"
            return (f"velocities: {odd.size} of {len(rows)} {'tetrahedra' if names is None else 'tags'} have some {text} ({first} "
                    f"has {', '.join(f'{v:.6g}' for v in rows[odd[0]])} m/s)")

        _look(odd.size > 0, "odd-velocity", what, describe)

    unusual = (rows < _VELOCITIES[0]) | (rows > _VELOCITIES[1])
    look(np.any(unusual, axis=1), "size", "outside 0.01 to 10 m/s: they are in m/s = mm/ms, not mm/s")
    look(rows[:, 0] < np.max(rows, axis=1), "order", "that are less along fibres than across: the one along fibres comes first")


def swallowed(pairs: Sequence[tuple[int, float]], times: Any, of_set: str) -> None:
    """Of sites (vertex, time) that a wave reaches before their own."""
    found = _arrays.host(times[np.array([vertex for vertex, _ in pairs])])  # a list is none of JAX
    late = [(vertex, own) for (vertex, own), t in zip(pairs, found) if t < own - 1e-6 * (1 + abs(own))]
    _look(bool(late), "swallowed-site", of_set, lambda: (
        f"sites: vertex {late[0][0]}{of_set} is activated before its {late[0][1]:.6g} ms, and has no effect" +
        (f"; so have {len(late) - 1} others" if len(late) > 1 else "")))


def unreached(num_vertices: int, num_apart: int, num_late: int, is_steady: bool, is_blocked: bool, of_set: str) -> None:
    """Of vertices of tissue that conducts which no wave reaches: those in parts without a site, and others."""
    _look(num_apart > 0, "unreached-vertices", "apart" + of_set, lambda: (
        f"{num_apart} of {num_vertices} vertices are reached by no site{of_set}: {'what conducts' if is_blocked else 'the mesh'} "
        "has parts that share no vertex with one that has a site; their time is infinity"))
    _look(num_late > 0 and is_steady, "late-arrival", of_set, lambda: (
        f"the wave arrives later than 1e10 ms at {num_late} of {num_vertices} vertices{of_set}, whose time is infinity: is a "
        "velocity too small? Tissue that does not conduct has velocity 0"))
    _look(num_late > 0 and not is_steady, "unreached-vertices", "ended" + of_set, lambda: (
        f"{num_late} of {num_vertices} vertices were not reached before the iteration ended{of_set}; their time is infinity"))


def rounded_times(earliest: float, latest: float, of_set: str) -> None:
    """Of times in single precision, which have as many digits whenever the wave starts."""
    rounding = _core.eikonal_coarse_rounding(earliest, latest)
    _look(rounding > 0, "coarse-times", of_set, lambda: (
        f"times{of_set} reach {max(abs(earliest), abs(latest)):.6g} ms, where numbers of single precision are rounded by up to "
        f"{rounding:.2g} ms, and the wave takes {latest - earliest:.4g} ms: start at 0, and add the start afterwards, or "
        "precision=\"double\""))


def displacement(largest: float, points: NDArray[np.float64], stiffest: float, what: str) -> None:
    """Of a body, m, whose largest modulus is `stiffest` Pa."""
    extent = float((points.max(0) - points.min(0)).max())
    most = _DISPLACEMENT if stiffest >= _SOFTEST else _IN_GPA if stiffest > 1 else math.inf
    _look(largest > most * extent, "large-displacement", what, lambda: (
        f"the body moves by {largest:.3g} m, and its longest side is {extent:.3g} m: the theory is of small displacements. Moduli "
        f"are in Pa and forces in N; the largest modulus is {stiffest:.3g} Pa, and steel has 210e9"))


def locking(poisson: float) -> None:
    """Of hexahedra of order 1 that bend."""
    _look(poisson > _LOCKING, "locking", "design", lambda: (
        f"Poisson's ratio is {poisson:.6g}: above {_LOCKING} trilinear hexahedra are far too stiff in bending (locking), and designs "
        "are not what they would be: take at most that"))


def body_force(density: Sequence[float], stiffest: float) -> None:
    """N/m^3, of a body whose largest modulus is `stiffest` Pa; of an acceleration that was given for a weight by volume."""
    size = math.hypot(*density)
    _look(_GRAVITY[0] <= size <= _GRAVITY[1] and stiffest > _SOFTEST, "odd-gravity", "body force", lambda: (
        f"a body force of {size:.6g} N/m^3 is the weight of air: it is not the acceleration of gravity, but the density times it, "
        "77000 for steel"))
