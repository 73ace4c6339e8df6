# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # The stiffness of a soft body from how it swings
#
# A bar of silicone is held at one end and let go, with something unknown hanging at the other. From the places of 40
# marks on its surface, which a camera takes every 10 ms, its Young's modulus, Poisson's ratio and the force at its end
# are found: five numbers, by L-BFGS with the exact gradient of the whole motion.
#
# It needs SciPy and matplotlib. OSSATURA_SMALL=1 takes a coarse bar.

# %%
import os
import pathlib
import time

import numpy as np
from numpy.typing import NDArray
from scipy import optimize  # type: ignore[import-untyped]

from ossatura import softbody, topopt

SMALL = bool(os.environ.get("OSSATURA_SMALL"))
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

# %% [markdown]
# ## The bar
#
# 160 x 30 x 30 mm; each cube is six tetrahedra around its diagonal. Gradients need a law with an exact tangent, here
# stable neo-Hookean, and Newton's iteration to its end.

# %%
cells = (6, 2, 2) if SMALL else (24, 5, 5)
points, hexa = topopt.box(cells, (0.16, 0.03, 0.03))  # m
corner = [0, 1, 3, 2, 4, 5, 7, 6]  # of VTK's order, by bits x + 2 y + 4 z
paths = [(1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6)]
tetra = np.concatenate([hexa[:, [corner[0], corner[a], corner[b], corner[7]]] for a, b in paths])
edges = points[tetra[:, 1:]] - points[tetra[:, :1]]
inside_out = np.linalg.det(edges) < 0
tetra[inside_out] = tetra[inside_out][:, [0, 2, 1, 3]]

held = points[:, 0] == 0
end = points[:, 0] == points[:, 0].max()
world = softbody.World(time_step=0.01, newton_iterations=20, rayleigh_mass=0.5)
bar = world.add(points, tetra, law="neo_hookean", young=1e5, poisson=0.4, density=1070, fixed=held, name="bar")
steps = 20

# %% [markdown]
# ## What the camera saw
#
# Here it is computed, from numbers that the fit does not know.

# %%
truth = np.array([1.3e5, 0.42, 0.02, -0.01, -0.05])  # Pa, 1, and N on the whole end
UNITS = np.array([1e5, 0.4, 0.05, 0.05, 0.05])       # of the search: all unknowns are of the order of 1


def motion(unknowns: NDArray[np.float64]) -> softbody.Motion:
    """From rest, with these numbers."""
    bar.set_moduli(young=unknowns[0], poisson=unknowns[1])
    bar.set_load(np.where(end[:, None], unknowns[2:] / end.sum(), 0.0))
    world.set_state(points, np.zeros(points.shape), 0.0)
    return world.run(steps)


on_surface = np.flatnonzero(((points == points.min(0)) | (points == points.max(0))).any(1) & ~held)
marks = np.random.default_rng(1).choice(on_surface, min(40, len(on_surface)), replace=False)
seen = motion(truth).positions[:, marks]

# %% [markdown]
# ## The fit

# %%
evaluations = 0


def misfit(z: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The sum of squares of what is off, cm^2, and its gradient."""
    global evaluations
    evaluations += 1
    found = motion(UNITS * z)
    off = 100 * (found.positions[:, marks] - seen)
    weights = np.zeros_like(found.positions)
    weights[:, marks] = 200 * off
    gradient = found.gradient(positions=weights)
    force = gradient.loads[:, end].sum((0, 1)) / end.sum()
    return float((off**2).sum()), UNITS * [gradient.bodies[0].young, gradient.bodies[0].poisson, *force]


begin = time.perf_counter()
search = optimize.minimize(misfit, [0.6, 0.8, 0.0, 0.0, 0.0], jac=True, method="L-BFGS-B",
                           bounds=[(0.1, 10), (0.0, 1.2), *[(None, None)] * 3],
                           options={"maxfun": 100, "ftol": 0, "gtol": 1e-7, "maxcor": 20})
seconds = time.perf_counter() - begin
fitted = UNITS * search.x
error = float(np.abs(fitted / truth - 1).max())

print(f"{len(tetra)} tetrahedra, {steps} steps, {evaluations} motions with their gradients in {seconds:.1f} s")
for name, value, true in zip(["Young's modulus, Pa", "Poisson's ratio", "force x, N", "force y, N", "force z, N"],
                             fitted, truth):
    print(f"{name:20} {value:12.6g}   true {true:g}")
print(f"largest relative error {error:.1e}")

# %%
world.plot(path=OUT / "stiffness.png")
world.save(OUT / "stiffness.vtu")
