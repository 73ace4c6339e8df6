#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gradients take beside what they are of: seconds forwards and backwards, and their ratio, of bone, activation
times, soft bodies and designs.

    OMP_NUM_THREADS=2 python3 bench/python/gradients.py [BACKEND [SCALE]]

BACKEND: by default the last of ossatura.backends(); with cuda arrays are PyTorch's on the GPU. SCALE multiplies the
number of elements along each axis. Each is done once before, then five times: the median, and (largest - smallest) / median.
"""
import statistics
import sys
import time

import numpy as np

import ossatura
from meshes import tetra_cube
from ossatura import bone, eikonal, softbody, topopt


def seconds(call, repeats=5):
    call()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found), (max(found) - min(found)) / statistics.median(found)


def report(name, size, forwards, backwards):
    (f, f_spread), (b, b_spread) = seconds(forwards), seconds(backwards)
    print(f"{name:34} {size:>22} {f:9.4f} ({f_spread:4.0%}) {b:9.4f} ({b_spread:4.0%}) {b / f:6.2f}", flush=True)


def porous(n):
    z, y, x = np.indices((n, n, n))
    wave = np.sin(x / 3) * np.cos(y / 3) + np.sin(y / 3) * np.cos(z / 3) + np.sin(z / 3) * np.cos(x / 3)
    image = np.where(wave > 0.4, 0, 1000).astype(np.float32)
    image[0] = image[-1] = 1000
    return image


def main():
    backend = sys.argv[1] if len(sys.argv) > 1 else ossatura.backends()[-1]
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    put = np.asarray
    if backend == "cuda":
        import torch

        def put(array):
            return torch.as_tensor(array, device="cuda")
    print(f"{backend}, {ossatura.threads(backend)} threads")
    print(f"{'':34} {'size':>22} {'forwards, s':>16} {'backwards, s':>16} {'ratio':>6}")

    image = put(porous(int(80 * scale)))
    result = bone.solve(image, 0.1, backend=backend)
    weights = result.displacement
    size = f"{3 * result.num_nodes} unknowns"
    report("bone, stiffness by moduli", size, lambda: bone.solve(image, 0.1, backend=backend),
           lambda: result.gradient("stiffness"))
    report("bone, any number (adjoint)", size, lambda: bone.solve(image, 0.1, backend=backend),
           lambda: result.adjoint(weights))

    points, tetra = tetra_cube(int(40 * scale))
    velocities = put(np.full((len(tetra), 3), 0.5))
    solver = eikonal.Solver(put(points), tetra, velocities=0.5, backend=backend)
    times = solver.solve({0: 0.0}, velocities=velocities)
    report("activation times", f"{len(tetra)} tetrahedra", lambda: solver.solve({0: 0.0}, velocities=velocities),
           lambda: solver.gradient({0: 0.0}, times, times, velocities=velocities))

    points, tetra = tetra_cube(int(10 * scale))
    world = softbody.World(time_step=0.01, newton_iterations=60, tolerance=1e-9, backend=backend)
    world.add(put(0.01 * points), tetra, law="neo_hookean", young=5e4, fixed=points[:, 2] == 0)
    start = world.positions, world.velocities

    def move():
        world.set_state(*start, 0.0)
        return world.run(10)

    motion = move()
    report("soft body, 10 steps", f"{len(tetra)} tetrahedra", move, lambda: motion.gradient(positions=start[0]))

    n = int(16 * scale)
    points, hexa = topopt.box((3 * n, n, n), (3.0, 1.0, 1.0))
    end = points[:, 0] == 3
    optimizer = topopt.Optimizer(put(points), hexa, young=1e9, held=points[:, 0] == 0, volume=0.4, backend=backend,
                                 loads=np.where(end[:, None], (0, 0, -1.0 / end.sum()), 0))
    low, high = (put(np.full(len(hexa), x)) for x in (0.4, 0.41))
    variables = [low]

    def analyse():  # of another design each time, from whose displacements the solve starts
        variables.append(high if variables.pop() is low else low)
        return optimizer.analyse(variables[0])

    taken, spread = seconds(analyse)
    print(f"{'design, objective with gradient':34} {f'{len(hexa)} hexahedra':>22} {taken:9.4f} ({spread:4.0%})")


if __name__ == "__main__":
    main()
