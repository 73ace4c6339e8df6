#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A solve for the design that `ossatura topopt` has reached, beside torch-fem (pip install torch-fem h5py), in one run: the
published cantilever of cubes in a box of 2 : 1 : 1, void of 1e-9, both from zero.

    python3 bench/python/compare_design_step.py EXECUTABLE [cells along [steps [cuda]]]

Prints seconds of both, the compliances, and the memory of torch-fem on the card; the residuals of both are asked to be 1e-6
of the loads. Seconds of ossatura are of a step of its run (levels, solve, gradient, update: the mean and the last), and of the
solve from zero that begins another run there, whose variables are 0.001 at least; those of torch-fem are of `solve` alone.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import torch
from torchfem import Solid
from torchfem.materials import IsotropicElasticity3D

TOLERANCE = 1e-6


def run(executable, folder, cells, device, *arguments):
    """Summary of a run of the cantilever, with the name of its design in `folder`."""
    subprocess.run([executable, "topopt", "cantilever", "--cells", f"{cells}x{cells // 2}x{cells // 2}", "--grid", "voxels",
                    "--volume", "0.12", "--change", "0", "--backend", "cuda" if device == "cuda" else "openmp", "--no-stl",
                    "--tolerance", str(TOLERANCE), "-q", "-o", folder, "--json", folder / "summary.json", *arguments],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.loads((folder / "summary.json").read_text())


def seconds_of_steps(summary):
    steps = summary["results"]["steps"]
    return sum(np.array(steps[part]) for part in ("prepare_seconds", "solve_seconds", "gradient_seconds", "update_seconds"))


def read_design(name):
    """Points, hexahedra, moduli, held nodes [n, 3] and forces of a design."""
    with h5py.File(name) as file:
        group = file["VTKHDF"]
        held = np.array(group["PointData/held"])[:, None] >> np.arange(3) & 1 == 1
        density = np.array(group["CellData/density"])
        return (np.array(group["Points"]), np.array(group["Connectivity"]).reshape(-1, 8), 1e-9 + (1 - 1e-9) * density**3,
                held, np.array(group["PointData/load"]))


def solve_theirs(design, device):
    points, hexa, modulus, held, force = (torch.as_tensor(array, device=device) for array in design)
    model = Solid(points, hexa, IsotropicElasticity3D(E=modulus, nu=torch.full_like(modulus, 0.3)))
    model.forces[:] = force
    model.constraints[:] = held
    start = time.perf_counter()
    u = model.solve(stol=TOLERANCE, rtol=1e-4, atol=0.0)[0]
    compliance = float((model.forces * u).sum())
    return compliance, time.perf_counter() - start


def main():
    executable = Path(sys.argv[1]).resolve()
    cells, steps = (int(given) for given in (sys.argv[2:4] + ["32", "20"][len(sys.argv[2:4]):]))
    device = "cuda" if sys.argv[4:] == ["cuda"] else "cpu"
    torch.set_default_dtype(torch.float64)
    torch.set_default_device(device)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        course = run(executable, folder, cells, device, "--steps", str(steps))
        design = read_design(folder / "cantilever.hdf")
        (folder / "again").mkdir()
        again = run(executable, folder / "again", cells, device, "--steps", "1", "--step-tolerance", str(TOLERANCE),
                    "--no-hdf", "--start-from", folder / "cantilever.hdf")
    spent = seconds_of_steps(course)
    first = {key: again["results"]["steps"][key][0] for key in ("prepare_seconds", "solve_seconds", "iterations")}
    print(f"{course['problem']['dofs']} unknowns, step {steps}: ossatura {spent.mean():.4f} s a step, the last "
          f"{spent[-1]:.4f} s; from zero {first['prepare_seconds'] + first['solve_seconds']:.4f} s, {first['iterations']} "
          f"iterations; compliance {course['results']['objective']:.8g}", flush=True)
    for attempt in range(2):
        found, seconds = solve_theirs(design, device)
        memory = f", {torch.cuda.max_memory_allocated() / 1e9:.1f} GB" if device == "cuda" else ""
        differs = found / course["results"]["objective"] - 1
        print(f"torch-fem {seconds:.3f} s, compliance {found:.8g}, differs by {differs:.1e}{memory}", flush=True)
    return 0 if abs(differs) < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
