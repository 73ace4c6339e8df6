# SPDX-License-Identifier: Apache-2.0
"""Meshes that the scripts of this folder share."""
import numpy as np


def tetra_cube(n):
    """n^3 cells of 1 mm, each of six tetrahedra around its diagonal."""
    axis, step = np.arange(n + 1), np.array([(n + 1)**2, n + 1, 1])
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3).astype(float)
    first = np.stack(np.meshgrid(axis[:-1], axis[:-1], axis[:-1], indexing="ij"), -1).reshape(-1, 3) @ step
    ways = [[0, *np.cumsum(step[list(order)])] for order in
            ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))]
    tetra = np.concatenate([first[:, None] + np.array(way) for way in ways])
    p = points[tetra]
    inside_out = np.linalg.det(p[:, 1:] - p[:, :1]) < 0
    tetra[inside_out] = tetra[inside_out][:, [0, 2, 1, 3]]
    return points, tetra
