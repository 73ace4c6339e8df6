#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compliance and its gradient by the modulus of each element beside torch-fem (pip install torch-fem), in one run: a
clamped bar of hexahedra under a load at its end.

    OMP_NUM_THREADS=2 python3 bench/python/compare_torch_fem.py [cells across [cuda]]

With cuda both compute on the GPU, from tensors there to tensors there. Prints for two sets of moduli, one after the
other as in a fit, seconds of both and the differences of compliance and gradient. What does not depend on moduli
is kept between them by ossatura, and made anew by torch-fem.
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
    moduli = [torch.full((len(hexa),), 1000.0), 1000.0 * (0.2 + 0.8 * torch.rand(len(hexa)))]

    def put(array):
        return torch.as_tensor(array, device=device)

    def theirs():
        parts = put(points), put(hexa.astype(np.int64)), put(force), put(held)

        def evaluate(given):
            modulus = given.clone().requires_grad_()
            model = Solid(parts[0], parts[1], IsotropicElasticity3D(E=modulus, nu=torch.full((len(hexa),), 0.3)))
            model.forces[:] = parts[2]
            model.constraints[parts[3], :] = True
            u = model.solve(rtol=1e-8, differentiable_parameters=modulus)[0]
            compliance = (model.forces * u).sum()
            return float(compliance), torch.autograd.grad(compliance, modulus)[0].cpu().numpy()
        return evaluate

    def ours():
        """With the penalty 1 a variable is the part of the modulus that an element has."""
        model = topopt.Optimizer(points, hexa, young=1000.0, held=held, loads=force, volume=0.5, filter="none",
                                 penalty=1.0, tolerance=1e-8, backend="cuda" if device == "cuda" else "openmp")

        def evaluate(given):
            x = given / 1000.0
            found = model.analyse(x if device == "cuda" else x.numpy())
            gradient = found.gradient / 1000.0
            return found.objective, gradient.cpu().numpy() if device == "cuda" else gradient
        return evaluate

    def run(make):
        """Results for both sets of moduli, and seconds: of all for the first, and of the second by what is there."""
        start = time.perf_counter()
        evaluate = make()
        first = evaluate(moduli[0])
        middle = time.perf_counter()
        second = evaluate(moduli[1])
        return (first, second), (middle - start, time.perf_counter() - middle)

    our_results, our_seconds = run(ours)
    their_results, their_seconds = run(theirs)
    print(f"{3 * len(points)} unknowns")
    agrees = True
    for what, mine, other, my_time, their_time in zip(("first moduli", "then others"), our_results, their_results,
                                                      our_seconds, their_seconds):
        values, gradients = abs(other[0] / mine[0] - 1), np.abs(mine[1] - other[1]).max() / np.abs(mine[1]).max()
        agrees = agrees and values < 1e-5 and gradients < 1e-4
        print(f"{what}: compliance {mine[0]:.8g}, differs by {values:.1e}, gradient by {gradients:.1e} of its largest "
              f"entry; torch-fem {their_time:.3f} s, ossatura {my_time:.3f} s, ratio {their_time / my_time:.1f}")
    return agrees


def main():
    device = "cuda" if sys.argv[2:] == ["cuda"] else "cpu"
    torch.set_default_dtype(torch.float64)
    torch.set_default_device(device)
    compare(4, device)  # which starts what both need
    return 0 if compare(int(sys.argv[1]) if len(sys.argv) > 1 else 16, device) else 1


if __name__ == "__main__":
    sys.exit(main())
