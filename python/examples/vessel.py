# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A pressure vessel: how fast an error falls with the order
#
# A thick sphere under pressure from inside has a solution in closed form, Lamé's. Three curved elements make up an
# eighth of it. The table has the error in the energy norm and that of the displacement at the inner wall, by the order
# p of the elements; the gradient says what a change of pressure or of the material does.
#
# It needs matplotlib. OSSATURA_SMALL=1 takes fewer orders.

# %%
import os
import pathlib
from typing import Any

import numpy as np

from ossatura import pfem

SMALL = bool(os.environ.get("OSSATURA_SMALL"))
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

inner, outer = 1.0, 2.0  # m
young, poisson, pressure = 210e9, 0.3, 1e8  # Pa, of steel


def wall_displacement(radius: Any) -> Any:
    """m outwards, by Lamé."""
    scale = pressure * inner**3 / (young * (outer**3 - inner**3))
    return scale * ((1 - 2 * poisson) * radius + (1 + poisson) * outer**3 / (2 * radius**2))


exact_energy = 0.5 * pressure * (np.pi / 2 * inner**2) * wall_displacement(inner)  # J, of an octant

# %% [markdown]
# ## The model
#
# The planes of symmetry hold what is across them. Parts of the surface are chosen by their vertices.

# %%
mesh = pfem.sphere_octant(inner, outer)


def solve(order: int) -> pfem.Result:
    model = pfem.Model(mesh, order=order, young=young, poisson=poisson)
    for axis in range(3):
        model.hold(mesh.points[:, axis] < 1e-9, "xyz"[axis])
    model.add_pressure(np.isclose(mesh.radii, inner), pressure)
    return model.solve(tolerance=1e-10)


# %% [markdown]
# ## The table

# %%
print(" p  unknowns  energy norm  inner wall")
rows = []
for order in range(2, 7 if SMALL else 11):
    result = solve(order)
    energy_error = np.sqrt(max(0.0, 1 - result.strain_energy / exact_energy))
    wall = np.isclose(mesh.radii, inner)
    wall_error = np.abs(np.linalg.norm(result.displacement[wall], axis=1) / wall_displacement(inner) - 1).max()
    rows.append((order, result.num_unknowns, energy_error, wall_error))
    print(f"{order:2}  {result.num_unknowns:8}  {energy_error:11.2e}  {wall_error:10.2e}")

# %% [markdown]
# ## What it hangs on
#
# The compliance grows with the square of the pressure, and falls with the stiffness of each element.

# %%
gradient = result.gradient("compliance")
print(f"compliance {result.compliance:.5g} J; by 1 % more pressure {0.01 * pressure * gradient.loads[0]:+.3g} J, "
      f"by a modulus 1 % larger in element 0 {0.01 * gradient.scale[0]:+.3g} J")

# %% [markdown]
# ## Pictures

# %%
from matplotlib.figure import Figure  # noqa: E402

figure = Figure(figsize=(5, 4), layout="constrained")
axes = figure.subplots()
axes.semilogy([row[0] for row in rows], [row[2] for row in rows], "o-", label="energy norm")
axes.semilogy([row[0] for row in rows], [row[3] for row in rows], "s-", label="displacement of the inner wall")
axes.set_xlabel("order p")
axes.set_ylabel("relative error")
axes.legend()
figure.savefig(OUT / "vessel-convergence.png", dpi=150)
result.plot(path=OUT / "vessel.png", engine="matplotlib")
