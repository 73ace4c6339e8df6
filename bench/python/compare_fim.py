#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Activation times beside fim-python (pip install fim-python), in one run: the same mesh, fibres and site, in double.

    OMP_NUM_THREADS=2 python3 bench/python/compare_fim.py [cells along an edge [cuda]]

With cuda both compute on the GPU, fim-python with CuPy, and times stay there. Prints seconds of set-up and solve of both
and the largest difference of their times. Each is called once before, which compiles and starts what it needs.
"""
import sys
import time

import numpy as np
from fimpy.solver import create_fim_solver

from meshes import tetra_cube
from ossatura import eikonal


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def problem(n):
    points, tetra = tetra_cube(n)
    angle = 0.1 * points[tetra].mean(1)[:, 2]
    fibres = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1).astype(np.float32)
    along, across = 0.6, 0.3  # m/s
    f = fibres.astype(float)
    metric = across**2 * np.eye(3) + (along**2 - across**2) * f[:, :, None] * f[:, None, :]
    return points, tetra, fibres, metric, (along, across)


def run_theirs(points, tetra, metric, on_gpu):
    if on_gpu:
        import cupy
        wait = cupy.cuda.Device().synchronize
        solver, setup = timed(lambda: (create_fim_solver(points, tetra, metric, device="gpu", precision=cupy.float64),
                                       wait())[0])
        times, solve = timed(lambda: (solver.comp_fim(cupy.array([0]), cupy.array([0.0])), wait())[0])
        return cupy.asnumpy(times), setup, solve
    solver, setup = timed(lambda: create_fim_solver(points, tetra, metric, device="cpu", precision=np.float64))
    times, solve = timed(lambda: solver.comp_fim(np.array([0]), np.array([0.0])))
    return times, setup, solve


def run_ours(points, tetra, fibres, velocities, on_gpu):
    if on_gpu:
        import cupy
        out = cupy.empty(len(points))
        solver, setup = timed(lambda: eikonal.Solver(points, tetra, fibres=fibres, velocities=velocities, backend="cuda"))
        _, solve = timed(lambda: solver.solve({0: 0.0}, out=out))
        return cupy.asnumpy(out), setup, solve
    solver, setup = timed(lambda: eikonal.Solver(points, tetra, fibres=fibres, velocities=velocities, backend="openmp"))
    times, solve = timed(lambda: solver.solve({0: 0.0}))
    return times, setup, solve


def main():
    on_gpu = sys.argv[2:] == ["cuda"]
    for n in (4, int(sys.argv[1]) if len(sys.argv) > 1 else 30):
        points, tetra, fibres, metric, velocities = problem(n)
        their_times, their_setup, their_solve = run_theirs(points, tetra, metric, on_gpu)
        our_times, our_setup, our_solve = run_ours(points, tetra, fibres, velocities, on_gpu)

    difference = np.abs(our_times - their_times).max() / our_times.max()
    print(f"{len(tetra)} tetrahedra; largest difference of times {difference:.1e} of the last one")
    print(f"fim-python: set-up {their_setup:.3f} s, solve {their_solve:.4f} s")
    print(f"ossatura:   set-up {our_setup:.3f} s, solve {our_solve:.4f} s")
    print(f"ratio of set-up and solve together: {(their_setup + their_solve) / (our_setup + our_solve):.1f}")
    return 0 if difference < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
