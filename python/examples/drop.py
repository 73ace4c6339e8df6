# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Soft bodies that drop
#
# Cubes of three stiffnesses fall on the floor, on a ball that is half in it, and on each other.
#
# It needs matplotlib. OSSATURA_SMALL=1 takes coarse cubes and stops early.

# %%
import os
import pathlib

import numpy as np

from ossatura import softbody, topopt

SMALL = bool(os.environ.get("OSSATURA_SMALL"))
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

# %% [markdown]
# ## The world

# %%
cells = 3 if SMALL else 7
points, hexa = topopt.box((cells, cells, cells), (0.1, 0.1, 0.1))  # m
world = softbody.World(time_step=0.005, rayleigh_stiffness=0.005, contact_between_bodies=True, contact_friction=0.4)
world.add_plane(friction=0.5)
world.add_sphere((0.05, 0.05, 0.0), 0.04, friction=0.5)
places = [(0.0, 0.0, 0.06), (0.03, 0.02, 0.2), (-0.02, 0.01, 0.34)]
cubes = [world.add(points + place, hexa, young=young, poisson=0.4, density=1000, name=f"{young / 1e3:.0f} kPa")
         for place, young in zip(places, (3e4, 6e4, 1e5))]

# %% [markdown]
# ## Its motion
#
# What the energy loses goes into friction, impacts and the damping of the material and of implicit steps.

# %%
start = sum(world.energy)
lost = []
while world.time < (0.3 if SMALL else 1.0) - 1e-9:
    step = world.step()
    lost.append(start - sum(world.energy))
    if round(step.time / 0.005) % 20 == 0:
        speed = np.linalg.norm(world.velocities, axis=1).max()
        print(f"{step.time:.2f} s: {step.contacts} contacts, {lost[-1]:.4f} J lost, fastest point {speed:.3f} m/s")
for cube in cubes:
    print(f"{cube.name}: height {np.ptp(cube.positions[:, 2]):.4f} m, lowest point {cube.positions[:, 2].min():.5f} m")

# %%
world.plot(path=OUT / "drop.png")
world.save(OUT / "drop.vtu")
