#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An axial test of porous bone beside parosol-py (pip install parosol-py), in one run: the same image and displacement.

    OMP_NUM_THREADS=2 python3 bench/python/compare_parosol.py [voxels along an edge]

Prints seconds of both and the difference of their stiffness. parosol-py runs an executable, with files on the way.
"""
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


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    image = np.full((n, n, n), 1000, np.float32)
    z, y, x = np.indices(image.shape)
    image[(np.sin(x / 3) * np.cos(y / 3) + np.sin(y / 3) * np.cos(z / 3) + np.sin(z / 3) * np.cos(x / 3)) > 0.4] = 0
    image[0] = image[-1] = 1000
    with tempfile.TemporaryDirectory() as folder:
        theirs, their_seconds = timed(lambda: solve(material=image, spacing=(0.1, 0.1, 0.1), material_unit="MPa",
                                                    test="axial", test_axis="z", strain=-0.01, export_dir=folder))
    ours, our_seconds = timed(lambda: bone.solve(image, 0.1, test="axial", strain=-0.01))
    print(f"{3 * ours.num_nodes} unknowns; ossatura: force {ours.force:.6g} N, {our_seconds:.2f} s")
    print(f"parosol-py: {their_seconds:.2f} s, {theirs.summary}")
    print(f"ratio: {their_seconds / our_seconds:.1f}")


if __name__ == "__main__":
    sys.exit(main())
