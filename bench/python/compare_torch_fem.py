#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compliance and its gradient by the modulus of each element beside torch-fem (pip install torch-fem), in one run: a
clamped bar of hexahedra under a load at its end.

    OMP_NUM_THREADS=2 python3 bench/python/compare_torch_fem.py [cells across [cuda]]

With cuda both compute on the GPU, from tensors there to tensors there. For three kinds of moduli prints seconds of both
and the differences of compliance and gradient: from the mesh to the gradient, and with what ossatura keeps of the mesh
between moduli, as in a fit; torch-fem makes all anew.
"""
import sys
import time

import numpy as np
import torch
from torchfem import Solid
from torchfem.materials import IsotropicElasticity3D

from ossatura import topopt


def timed(call, *arguments):
    start = time.perf_counter()
    result = call(*arguments)
    return result, time.perf_counter() - start


def moduli_of(points, hexa):
    """All the same; at random; and of a design: bands that fade into a foam of a hundredth."""
    centre = torch.as_tensor(points[hexa[:, 0]])
    wave = 0.5 + 0.5 * torch.cos(9 * centre[:, 0]) * torch.cos(7 * centre[:, 1] + 5 * centre[:, 2])
    return {"uniform": torch.full((len(hexa),), 1000.0),
            "random, 0.2 to 1": 1000.0 * (0.2 + 0.8 * torch.rand(len(hexa))),
            "bands, 0.01 to 1": 1000.0 * (0.01 + 0.99 * wave**3)}


def compare(n, device):
    points, hexa = topopt.box((3 * n, n, n), (3.0, 1.0, 1.0))
    held, force = points[:, 0] == 0, np.zeros(points.shape)
    end = points[:, 0] == 3
    force[end, 2] = -1.0 / end.sum()
    theirs_given = [torch.as_tensor(array, device=device) for array in (points, hexa.astype(np.int64), force, held)]
    kept = []

    def theirs(given):
        modulus = given.clone().requires_grad_()
        material = IsotropicElasticity3D(E=modulus, nu=torch.full((len(hexa),), 0.3))
        model = Solid(theirs_given[0], theirs_given[1], material)
        model.forces[:] = theirs_given[2]
        model.constraints[theirs_given[3], :] = True
        u = model.solve(rtol=1e-8, differentiable_parameters=modulus)[0]
        compliance = (model.forces * u).sum()
        return float(compliance), torch.autograd.grad(compliance, modulus)[0].cpu().numpy()

    def ours(given):
        """With the penalty 1 a variable is the part of the modulus that an element has."""
        if not kept:
            kept.append(topopt.Optimizer(points, hexa, young=1000.0, held=held, loads=force, volume=0.5, filter="none",
                                         penalty=1.0, tolerance=1e-8, backend="cuda" if device == "cuda" else "openmp"))
        x = given / 1000.0
        found = kept[0].analyse(x if device == "cuda" else x.numpy())
        gradient = found.gradient / 1000.0
        return found.objective, gradient.cpu().numpy() if device == "cuda" else gradient

    print(f"{3 * len(points)} unknowns")
    agrees = True
    for kind, given in moduli_of(points, hexa).items():
        kept.clear()
        mine, from_mesh = timed(ours, given.to(device))
        ours(0.9 * given.flip(0).to(device))
        again, from_moduli = timed(ours, given.to(device))
        other, their_time = timed(theirs, given.to(device))
        values = max(abs(other[0] / one[0] - 1) for one in (mine, again))
        gradients = np.abs(mine[1] - other[1]).max() / np.abs(mine[1]).max()
        agrees = agrees and values < 1e-5 and gradients < 1e-4
        print(f"{kind}: compliance {mine[0]:.8g}, differs by {values:.1e}, gradient by {gradients:.1e} of its largest "
              f"entry; torch-fem {their_time:.3f} s, ossatura {from_mesh:.3f} s, ratio {their_time / from_mesh:.1f}, "
              f"with the mesh kept {from_moduli:.3f} s, ratio {their_time / from_moduli:.1f}")
    return agrees


def main():
    device = "cuda" if sys.argv[2:] == ["cuda"] else "cpu"
    torch.set_default_dtype(torch.float64)
    torch.set_default_device(device)
    compare(4, device)  # which starts what both need
    return 0 if compare(int(sys.argv[1]) if len(sys.argv) > 1 else 16, device) else 1


if __name__ == "__main__":
    sys.exit(main())
