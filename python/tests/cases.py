# SPDX-License-Identifier: Apache-2.0
"""Models for the tests, made by NumPy alone."""
import os
import subprocess
import sys

import numpy as np


def porous_image(shape=(14, 12, 10), seed=1):
    """Moduli [z, y, x] with holes, of values that single precision holds with room to add small powers of two."""
    random = np.random.default_rng(seed)
    image = random.integers(500, 1500, shape).astype(np.float32)
    image[random.random(shape) < 0.15] = 0
    image[0] = image[-1] = 1000  # what plates touch
    return image


def tetra_box(n=6, seed=2, jitter=0.2):
    """A cube of n^3 cells of 1 mm, each of six tetrahedra around its diagonal: points, tetra."""
    axis = np.arange(n + 1)
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3).astype(float)
    inner = np.all((points > 0) & (points < n), axis=1)
    points[inner] += jitter * (np.random.default_rng(seed).random((inner.sum(), 3)) - 0.5)
    step = np.array([(n + 1)**2, n + 1, 1])
    first = (np.stack(np.meshgrid(axis[:-1], axis[:-1], axis[:-1], indexing="ij"), -1).reshape(-1, 3) @ step)[:, None]
    tetra = []
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        way = np.concatenate([[0], np.cumsum(step[list(order)])])
        if order not in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):  # mirror images
            way = way[[0, 2, 1, 3]]
        tetra.append(first + way)
    return points, np.concatenate(tetra).astype(np.int32)


def turning_fibres(points, tetra):
    """Fibres that turn by z, with a few zeros: isotropic tissue."""
    angle = points[tetra].mean(1)[:, 2]
    fibres = np.stack([np.cos(angle), np.sin(angle), 0.2 * np.ones_like(angle)], 1).astype(np.float32)
    fibres[::97] = 0
    return fibres


def run_script(script, seconds=120, **environment):
    """A Python process of its own with this package: its exit code, stdout and stderr."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=seconds,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr
