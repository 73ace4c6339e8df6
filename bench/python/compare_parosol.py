#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An axial test of porous bone beside parosol-py (pip install parosol-py), in one run: the same image and displacement.

    OMP_NUM_THREADS=2 python3 bench/python/compare_parosol.py [voxels along an edge [cuda]]

parosol-py computes on the cores, by as many processes as OMP_NUM_THREADS says, and runs an executable, with files on the
way. With cuda ours computes on the GPU. Prints seconds of both and the difference of the strain energies. Each is called
once before, for a small image.
"""
import os
import sys
import tempfile
import time

import numpy as np
from parosol_py import solve

from ossatura import bone


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def porous(n):
    image = np.full((n, n, n), 1000, np.float32)
    z, y, x = np.indices(image.shape)
    image[(np.sin(x / 3) * np.cos(y / 3) + np.sin(y / 3) * np.cos(z / 3) + np.sin(z / 3) * np.cos(x / 3)) > 0.4] = 0
    image[0] = image[-1] = 1000
    return image


def main():
    backend = "cuda" if sys.argv[2:] == ["cuda"] else "openmp"
    processes = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
    for n in (20, int(sys.argv[1]) if len(sys.argv) > 1 else 60):
        image = porous(n)
        with tempfile.TemporaryDirectory() as folder:
            theirs, their_seconds = timed(lambda: solve(
                material=image, spacing=(0.1, 0.1, 0.1), material_unit="MPa", test="axial", test_axis="z", strain=-0.01,
                mpi_processes=processes, export_dir=folder))
        (ours, density), our_seconds = timed(lambda: fields(bone.solve(image, 0.1, test="axial", strain=-0.01,
                                                                       backend=backend)))
    # each density is that of a voxel's centre
    energies = [float(np.sum(np.asarray(some, float))) * 0.1**3 for some in (density, theirs.fields["sed"])]
    print(f"{3 * ours.num_nodes} unknowns; sums of the energy densities {energies[0]:.7g} and {energies[1]:.7g} N mm")
    print(f"parosol-py, {processes} processes: {their_seconds:.2f} s; {theirs.summary.run}")
    print(f"ossatura, {backend}: {our_seconds:.3f} s")
    print(f"ratio: {their_seconds / our_seconds:.1f}")
    return 0 if abs(energies[1] / energies[0] - 1) < 1e-3 else 1


def fields(result):
    """With the field that parosol-py computes, too."""
    return result, result.energy_density


if __name__ == "__main__":
    sys.exit(main())
