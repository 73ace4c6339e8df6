# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A vertebra: from an image and a mask to stiffness and failure load
#
# The image has the density of mineral in mg HA/cm^3, as of a calibrated CT; the mask is 1 in the vertebra's body. Both
# are arrays [z, y, x], made here or read from NIfTI files by nibabel:
#
#     python3 vertebra.py image.nii.gz mask.nii.gz
#
# It needs matplotlib. OSSATURA_SMALL=1 takes a coarse image.

# %%
import os
import pathlib
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ossatura import bone

SMALL = bool(os.environ.get("OSSATURA_SMALL"))
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)

# %% [markdown]
# ## Image and mask
#
# A vertebral body of 40 x 28 x 26 mm: a shell with end plates around a lattice of rods and plates, which waves in three
# directions with some noise make.


# %%
def make_vertebra(spacing: float) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Densities in mg HA/cm^3 and the mask, for voxels of `spacing` mm."""
    size = np.array([26.0, 28.0, 40.0])  # mm along z, y, x
    z, y, x = np.meshgrid(*((np.arange(round(length / spacing)) + 0.5) * spacing for length in size), indexing="ij")
    waist = 1 - 0.12 * np.sin(np.pi * z / size[0])  # narrower halfway up
    across = np.hypot((x - 20) / 20, (y - 14) / 14) / waist
    mask = (across < 1) & ((y - 14) > -11 * waist)  # flat at the back
    wave = 2 * np.pi / 3.0  # of lattice, mm
    rods = (np.cos(wave * x) * np.sin(wave * y) + np.cos(wave * y) * np.sin(0.8 * wave * z)
            + np.cos(0.8 * wave * z) * np.sin(wave * x))
    rods += 0.3 * np.random.default_rng(3).standard_normal(rods.shape)
    shell = (across > 0.95) | (z < 1) | (z > size[0] - 1) | ((y - 14) < -10.4 * waist)
    density = np.where(shell, 500, np.clip(100 + 200 * rods, 0, 500))
    return np.where(mask, density, 0).astype(np.float32), mask


def read(path: str) -> tuple[NDArray[Any], float]:
    """The values [z, y, x] of a NIfTI image, and the edge of its voxels in mm."""
    try:
        import nibabel  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        sys.exit(f"{path}: python -m pip install nibabel")
    file: Any = nibabel.load(path)
    edges = file.header.get_zooms()[:3]
    if max(edges) > 1.001 * min(edges):
        sys.exit(f"{path}: voxels of {edges} mm: resample the image to cubes")
    return np.asarray(file.dataobj).T, float(edges[0])


files = [name for name in sys.argv[1:] if ".nii" in name]
if len(files) not in (0, 2):
    sys.exit("an image and a mask, both .nii or .nii.gz")
if files:
    (density, spacing), (labels, _) = read(files[0]), read(files[1])
    mask = labels > 0
else:
    spacing = 1.0 if SMALL else 0.25
    density, mask = make_vertebra(spacing)

# %% [markdown]
# ## Moduli
#
# A power law of density; below a threshold there is void. Laws differ from study to study: take that of your
# calibration. The plates of the test are layers of bone cement on both ends, which load uneven ends evenly.

# %%
threshold = 100.0  # mg HA/cm^3
modulus = np.where(mask & (density > threshold), 10000 * (np.maximum(density, 0) / 1000)**1.5, 0)  # MPa
modulus = modulus.astype(np.float32)
ends = np.flatnonzero((modulus > 0).any(axis=(1, 2)))
modulus = modulus[ends[0]:ends[-1] + 1]
layers = max(1, round(1 / spacing))
outline = mask.any(axis=0)
cement = np.broadcast_to(np.where(outline, 2500, 0).astype(np.float32), (layers, *outline.shape))
modulus = np.ascontiguousarray(np.concatenate([cement, modulus, cement]))

# %% [markdown]
# ## Stiffness, and the load at failure
#
# Pistoia's criterion: the bone fails where 2 % of it is strained beyond 0.007. The cement counts as bone here.

# %%
result = bone.solve(modulus, spacing, test="axial", strain=-0.01)
assert result.force is not None
failure_load = abs(result.force) * result.failure_factor()
print(result)
print(f"stiffness {result.stiffness:.5g} N/mm, failure load {failure_load:.5g} N "
      f"at a compression of {100 * 0.01 * result.failure_factor():.2g} %")

# %% [markdown]
# ## Which voxels the stiffness hangs on
#
# Its derivative by the modulus of each voxel, without a further solve: by Euler's theorem the sum of modulus times
# derivative is the stiffness itself.

# %%
gradient = result.gradient("stiffness")
share = gradient * modulus
part = share[layers:-layers].sum() / share.sum()
print(f"{share.sum() / float(result.stiffness or 0):.6f} of the stiffness, {part:.3f} of it by the bone")

# %%
result.plot("effective_strain", path=OUT / "vertebra.png")
result.plot(share, label="part of the stiffness, N/mm", path=OUT / "vertebra-stiffness.png")
result.save(OUT / "vertebra.vti")
