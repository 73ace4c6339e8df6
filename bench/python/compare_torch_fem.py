#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compliance and its gradient by the modulus of each element beside torch-fem (pip install torch-fem), in one run: a
clamped bar of hexahedra under a load at its end.

    OMP_NUM_THREADS=2 python3 bench/python/compare_torch_fem.py [cells across [cuda]]

With cuda both compute on the GPU, from tensors there to tensors there. Prints seconds of both and the differences of compliance and gradient.
"""
import sys
import time

import numpy as np
import torch
from torchfem import Solid
from torchfem.materials import IsotropicElasticity3D

from ossatura import topopt


def timed(call):
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def compare(n, device):
    points, hexa = topopt.box((3 * n, n, n), (3.0, 1.0, 1.0))
    held, force = points[:, 0] == 0, np.zeros(points.shape)
    end = points[:, 0] == 3
    force[end, 2] = -1.0 / end.sum()
    def put(array):
        return torch.as_tensor(array, device=device)

    def theirs():
        modulus = torch.full((len(hexa),), 1000.0, requires_grad=True)
        model = Solid(put(points), put(hexa.astype(np.int64)),
                      IsotropicElasticity3D(E=modulus, nu=torch.full((len(hexa),), 0.3)))
        model.forces[:] = put(force)
        model.constraints[put(held), :] = True
        u = model.solve(rtol=1e-8, differentiable_parameters=modulus)[0]
        compliance = (model.forces * u).sum()
        return float(compliance), torch.autograd.grad(compliance, modulus)[0].cpu().numpy()

    def ours():
        """With the penalty 1 a variable is the part of the modulus that an element has."""
        model = topopt.Optimizer(points, hexa, young=1000.0, held=held, loads=force, volume=0.5, filter="none",
                                 penalty=1.0, tolerance=1e-8, backend="cuda" if device == "cuda" else "openmp")
        found = model.analyse(torch.ones(len(hexa)) if device == "cuda" else np.ones(len(hexa)))
        return found.objective, np.asarray((found.gradient / 1000.0).cpu() if device == "cuda" else found.gradient / 1000.0)

    (our_value, our_gradient), our_seconds = timed(ours)
    (their_value, their_gradient), their_seconds = timed(theirs)
    difference = np.abs(our_gradient - their_gradient).max() / np.abs(our_gradient).max()
    print(f"{3 * len(points)} unknowns; compliance {our_value:.8g}, differs by {abs(their_value / our_value - 1):.1e}, "
          f"gradient by {difference:.1e} of its largest entry")
    print(f"torch-fem: {their_seconds:.2f} s")
    print(f"ossatura:  {our_seconds:.2f} s")
    print(f"ratio: {their_seconds / our_seconds:.1f}")
    return difference < 1e-4 and abs(their_value / our_value - 1) < 1e-5


def main():
    device = "cuda" if sys.argv[2:] == ["cuda"] else "cpu"
    torch.set_default_dtype(torch.float64)
    torch.set_default_device(device)
    compare(4, device)  # which starts what both need
    return 0 if compare(int(sys.argv[1]) if len(sys.argv) > 1 else 16, device) else 1


if __name__ == "__main__":
    sys.exit(main())
