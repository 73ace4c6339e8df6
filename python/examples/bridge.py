# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A bridge by topology optimisation
#
# A road of 40 m by 8 m carries a uniform load. Its supports are at both ends, and 12 % of the space below and above it
# may be steel. Two planes of symmetry leave a quarter of the bridge to compute.
#
# It needs matplotlib. OSSATURA_SMALL=1 takes a coarse mesh.

# %%
import os
import pathlib

import numpy as np

from ossatura import topopt

SMALL = bool(os.environ.get("OSSATURA_SMALL"))
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

# %% [markdown]
# ## The problem
#
# x goes from an end to the middle of the bridge, y from its side to the middle of the road, z up. The road is a plate
# of half a metre that stays, at a third of the height; above it the space for cars stays empty.

# %%
length, width, height = 20.0, 4.0, 10.0  # m, of the quarter
edge = 0.5 if SMALL else 0.25  # m
points, hexa = topopt.box([round(size / edge) for size in (length, width, height)], (length, width, height))
x, y, z = points.T
middle = points[hexa].mean(1)
low, high = 3.0, 3.5  # m, of the road

road = (middle[:, 2] > low) & (middle[:, 2] < high)
cars = (middle[:, 2] > high) & (middle[:, 2] < high + 4) & (middle[:, 1] > 1)
roles = np.where(road, 1, np.where(cars, 2, 0))

held = np.zeros(points.shape, bool)
held[(x == 0) & (z <= 1), :] = True  # abutment
held[x == length, 0] = True  # planes of symmetry
held[y == width, 1] = True

top = np.flatnonzero(road & (middle[:, 2] > high - edge))
loads = np.zeros(points.shape)
np.add.at(loads[:, 2], hexa[top][:, 4:].ravel(), -5e3 * edge**2 / 4)  # N, of 5 kN/m^2

# %% [markdown]
# ## The design

# %%
optimizer = topopt.Optimizer(points, hexa, young=210e9, held=held, loads=loads, volume=0.12, radius=2 * edge,
                             roles=roles, mirrors=[("x", length), ("y", width)], max_steps=20 if SMALL else 60)
steps = []
for step in optimizer:
    steps.append(step)
    if step.number % 10 == 1:
        print(f"step {step.number}: {step.objective:.4g} J, volume {step.volume:.4f}, change {step.change:.3f}")
sag = -float(optimizer.displacement()[hexa[top], 2].min())
print(f"{optimizer.num_elem} elements: {steps[0].objective:.4g} J at first, {steps[-1].objective:.4g} J after "
      f"{len(steps)} steps, sag {1000 * sag:.3g} mm")

# %%
optimizer.plot(path=OUT / "bridge.png")
optimizer.save(OUT / "bridge.vtu")
