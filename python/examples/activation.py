# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Conduction velocities and sites from measured activation times
#
# A left ventricle with a slow region is activated from three sites. From the times at 200 points of its outer surface
# the velocities along and across the fibres of both tissues are found, and when the later two sites fired: six
# numbers, by L-BFGS with the exact gradient, which costs about as much as the times.
#
# It needs SciPy and matplotlib. OSSATURA_SMALL=1 takes a coarse mesh.

# %%
import os
import pathlib
import time

import numpy as np
from numpy.typing import NDArray
from scipy import optimize  # type: ignore[import-untyped]

from ossatura import eikonal

SMALL = bool(os.environ.get("OSSATURA_SMALL"))
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

# %% [markdown]
# ## The ventricle
#
# Half an ellipsoid of 9 mm wall, open at the apex: cells around, from the apex to the base and through the wall, each
# of six tetrahedra around its diagonal. Fibres turn from +60 degrees inside to -60 outside.

# %%
around, along, through = (32, 12, 3) if SMALL else (240, 75, 12)
a, u, w = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.linspace(0.15, 1.5, along + 1),
                      np.linspace(0, 1, through + 1), indexing="ij")  # angle around, angle from the apex, depth
short, long = 20 + 9 * w, 50 + 9 * w  # mm
points = np.stack([short * np.sin(u) * np.cos(a), short * np.sin(u) * np.sin(a), -long * np.cos(u)], -1).reshape(-1, 3)

i, j, k = (index.ravel() for index in np.meshgrid(np.arange(around), np.arange(along), np.arange(through),
                                                  indexing="ij"))
orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
paths = [np.cumsum([[0, 0, 0], *(np.eye(3, dtype=int)[axis] for axis in order)], axis=0) for order in orders]
tetra = np.concatenate([
    np.stack([(((i + di) % around) * (along + 1) + j + dj) * (through + 1) + k + dk for di, dj, dk in path], 1)
    for path in paths])
tetra = np.ascontiguousarray(tetra, np.int32)

middle = points[tetra].mean(1)
depth = w.ravel()[tetra].mean(1)
angle = np.radians(60 - 120 * depth)
circle = np.stack([-middle[:, 1], middle[:, 0], 0 * depth], 1)
circle /= np.linalg.norm(circle, axis=1)[:, None]
outwards = middle / [20**2, 20**2, 50**2]
outwards /= np.linalg.norm(outwards, axis=1)[:, None]
fibres = np.cos(angle)[:, None] * circle + np.sin(angle)[:, None] * np.cross(outwards, circle)
tags = np.where((middle[:, 0] > 8) & (np.abs(middle[:, 1]) < 14), 2, 1)  # 2: the slow region

# %% [markdown]
# ## What was measured
#
# Here it is computed, from velocities and times that the fit does not know.

# %%
solver = eikonal.Solver(points, tetra, fibres=fibres, tags=tags, velocities=1.0, tolerance=1e-12)


def vertex_at(turn: float, height: float) -> int:
    """The vertex inside, `turn` of the way around and `height` of the way from the apex to the base."""
    return (round(turn * around) % around * (along + 1) + round(height * along)) * (through + 1)


sites = [vertex_at(0.3, 0.4), vertex_at(0.6, 0.6), vertex_at(0.95, 0.7)]
truth = np.array([0.62, 0.24, 0.35, 0.14, 6.0, 11.0])  # m/s: along, across in tissues 1, 2; ms: of sites 1, 2


def site_times(x: NDArray[np.float64]) -> dict[int, float]:
    """Of the unknowns x; the first site fires at 0."""
    return dict(zip(sites, [0.0, *x[4:].tolist()]))


def velocities(x: NDArray[np.float64]) -> dict[int, tuple[float, float]]:
    """By tissue, along and across the fibres."""
    return {1: (float(x[0]), float(x[1])), 2: (float(x[2]), float(x[3]))}


outside = np.flatnonzero(w.ravel() == 1)
measured = np.random.default_rng(1).choice(outside, 200, replace=False)
target = solver.solve(site_times(truth), velocities=velocities(truth))[measured]

# %% [markdown]
# ## The fit
#
# The unknowns of the search are logarithms of velocities, and times in units of 10 ms: all are of the order of 1.

# %%
TIME = 10.0  # ms
evaluations = 0


def unknowns(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocities and times of a point of the search."""
    return np.concatenate([np.exp(z[:4]), TIME * z[4:]])


def misfit(z: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Half the mean square of what is off, ms^2, and its gradient."""
    global evaluations
    evaluations += 1
    x = unknowns(z)
    times = solver.solve(site_times(x), velocities=velocities(x))
    off = (times[measured] - target) / np.sqrt(len(measured))
    weights = np.zeros(len(points))
    weights[measured] = off / np.sqrt(len(measured))
    found = solver.gradient(site_times(x), times, weights)
    tissue = found.by_tag()
    by_velocity = [tissue[1][0], sum(tissue[1][1:]), tissue[2][0], sum(tissue[2][1:])]
    slopes = [*(x[:4] * by_velocity), *(TIME * found.sites[site] for site in sites[1:])]
    return 0.5 * float(off @ off), np.array(slopes)


guess = np.array([0.5, 0.35, 0.5, 0.3, 3.0, 8.0])
begin = time.perf_counter()
search = optimize.minimize(misfit, np.concatenate([np.log(guess[:4]), guess[4:] / TIME]), jac=True, method="L-BFGS-B",
                           bounds=[(-5, 2)] * 4 + [(0, None)] * 2,
                           options={"maxfun": 100, "ftol": 0, "gtol": 1e-9, "maxcor": 20})
seconds = time.perf_counter() - begin
fitted = unknowns(search.x)
error = float(np.abs(fitted / truth - 1).max())

print(f"{len(tetra)} tetrahedra, {evaluations} evaluations in {seconds:.1f} s")
for name, value, true in zip(["along 1", "across 1", "along 2", "across 2", "site 1", "site 2"], fitted, truth):
    print(f"{name:9} {value:10.6f}   true {true}")
print(f"largest relative error {error:.1e}")

# %%
times = solver.solve(site_times(fitted), velocities=velocities(fitted))
solver.plot(times, path=OUT / "activation.png")
solver.save(OUT / "activation.vtu", times)
