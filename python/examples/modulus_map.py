# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A map of moduli from measured displacements
#
# A cube of foam is imaged while it is compressed, sheared, twisted and bent; registering the images to each other
# (digital volume correlation) gives its displacements, and the machine gives the forces. Sought is Young's modulus of
# each voxel: 10^5 unknowns from ten load cases, by L-BFGS with exact gradients. Each takes one further solve a case,
# however many the unknowns are.
#
# It needs SciPy and matplotlib. OSSATURA_SMALL=1 takes a small cube and four load cases.

# %%
import os
import pathlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, optimize  # type: ignore[import-untyped]

from ossatura import bone

SMALL = bool(os.environ.get("OSSATURA_SMALL"))
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

# %% [markdown]
# ## The foam and its tests

# %%
edge = 6 if SMALL else 47
spacing = 1.0  # mm
waves = ndimage.gaussian_filter(np.random.default_rng(2).standard_normal((edge,) * 3), 1.5 if SMALL else 4)
truth = (100 * np.exp(1.2 * waves / np.abs(waves).max())).astype(np.float32)  # 30 to 230 MPa

cases: list[dict[str, Any]] = [
    {"test": "axial", "axis": "z"}, {"test": "axial", "axis": "y"}, {"test": "axial", "axis": "x"},
    {"test": "shear", "axis": "z", "direction": "x"}, {"test": "shear", "axis": "x", "direction": "y"},
    {"test": "shear", "axis": "y", "direction": "z"}, {"test": "torsion", "axis": "z", "centre": "box"},
    {"test": "torsion", "axis": "x", "centre": "box"}, {"test": "bending", "axis": "z", "direction": "x", "centre": "box"},
    {"test": "bending", "axis": "x", "direction": "y", "centre": "box"}][::3 if SMALL else 1]


def solve(modulus: NDArray[Any], case: dict[str, Any]) -> bone.Result:
    """One test of the cube."""
    return bone.solve(modulus, spacing, tolerance=1e-7, **case)


# %% [markdown]
# ## What is compared
#
# Displacements say little of a single voxel, their slopes much: the derivatives of all three components along all axes
# at the centre of each voxel, from its eight nodes. Prescribed displacements leave the moduli free up to a factor; the
# forces of the axial tests fix it.


# %%
def at_centres(values: NDArray[np.float64], axis: int | None) -> NDArray[np.float64]:
    """Of nodes: the slope along an axis of the array, or the mean, at the centres of voxels."""
    for k in range(3):
        first, second = (np.take(values, range(start, values.shape[k] - 1 + start), k) for start in (0, 1))
        values = second - first if k == axis else (second + first) / 2
    return values / spacing if axis is not None else values


def to_nodes(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The transpose of at_centres(): from derivatives by slopes to those by nodes."""
    for k in range(3):
        before, after = [(0, 0)] * 4, [(0, 0)] * 4
        before[k], after[k] = (1, 0), (0, 1)
        second, first = np.pad(values, before), np.pad(values, after)
        values = second - first if k == axis else (second + first) / 2
    return values / spacing


measured = []
for case in cases:
    test = solve(truth, case)
    slopes = [at_centres(test.displacement, axis) for axis in range(3)]
    measured.append((slopes, sum(float((slope**2).sum()) for slope in slopes), float(test.force or 0)))

# %% [markdown]
# ## The fit
#
# It begins with one modulus for all, a third off the mean.

# %%
evaluations = 0


def misfit(z: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Half the relative squares of what is off, over all cases, and its gradient by the logarithms of the moduli."""
    global evaluations
    evaluations += 1
    modulus = np.exp(z).reshape(truth.shape)
    total = 0.0
    gradient: NDArray[np.float64] = np.zeros(truth.shape)
    for case, (target, scale, force) in zip(cases, measured):
        found = solve(modulus, case)
        weights = np.zeros(found.displacement.shape)
        for axis, slope in enumerate(target):
            off = at_centres(found.displacement, axis) - slope
            total += 0.5 * float((off**2).sum()) / scale
            weights += to_nodes(off, axis) / scale
        gradient += found.adjoint(weights)
        if case["test"] == "axial":
            off_force = float(found.force or 0) / force - 1
            total += 0.5 * off_force**2
            gradient += off_force / force * found.gradient("force")
    return total, (modulus * gradient).ravel()


begin = time.perf_counter()
search = optimize.minimize(misfit, np.full(truth.size, np.log(0.66 * truth.mean())), jac=True, method="L-BFGS-B",
                           options={"maxfun": 40, "ftol": 0, "gtol": 0, "maxcor": 20})
seconds = time.perf_counter() - begin
fitted = np.exp(search.x).reshape(truth.shape)
off = np.abs(fitted / truth - 1)
error = float(np.sqrt((off**2).mean()))

print(f"{truth.size} moduli from {len(cases)} tests: {evaluations} evaluations in {seconds:.0f} s")
print(f"misfit {search.fun:.2e}; moduli off by {error:.2%} in the mean square, {off.max():.2%} at most")

# %%
last = solve(fitted, cases[0])
last.plot(fitted, label="Young's modulus, MPa", path=OUT / "modulus_map.png")
