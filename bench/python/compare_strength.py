#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The yield load of porous bone beside CalculiX (Debian: calculix-ccx) and parosol-py (pip install parosol-py).

    python3 bench/python/compare_strength.py build/ossatura [ccx]

Cubic voxels of one material, E 10 000 MPa and Poisson's ratio 0.3, which yields at 50 MPa after von Mises, between plates
that hold their nodes, compressed by 2 % in 20 steps. CalculiX hardens by 500 MPa, with fully integrated hexahedra (C3D8,
which lock as they flow), with incompatible modes (C3D8I, more flexible than voxels), and with one point (C3D8R, softest);
ours does, too. parosol-py is perfectly plastic, to 0.8 %, and so is ours then. What is not there is left out. Prints
yield loads by an offset of 0.2 % and seconds; fails where ours lies outside of what CalculiX spans, or is 5 % off
parosol-py's.
"""
import csv
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

N, EDGE, E, YIELD, HARDENING = 16, 0.1, 10000.0, 50.0, 500.0


def porous():
    """[z, y, x] which voxels are bone: a gyroid."""
    z, y, x = np.indices((N, N, N)) * (2 * np.pi / 11)
    return np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x) < 0.1


def yield_load(forces, strain, offset=0.002):
    """Where the curve of equal steps from nothing to `strain` meets its first slope, shifted by the offset."""
    force = np.abs(np.concatenate([[0.0], forces]))
    at = strain / len(forces) * np.arange(len(force))
    above = force - force[1] / at[1] * (at - offset)
    k = int(np.argmax(above <= 0))
    part = above[k - 1] / (above[k - 1] - above[k])
    return force[k - 1] + part * (force[k] - force[k - 1])


def ours(executable, folder, bone, strain, steps, hardening):
    bone.astype(np.uint8).tofile(os.path.join(folder, "bone.raw"))
    with open(os.path.join(folder, "bone.mhd"), "w", encoding="utf-8") as file:
        file.write(f"ObjectType = Image\nNDims = 3\nDimSize = {N} {N} {N}\nElementSpacing = {EDGE} {EDGE} {EDGE}\n"
                   "ElementType = MET_UCHAR\nElementDataFile = bone.raw\n")
    subprocess.run([executable, "bone", "bone.mhd", "--law", "threshold", "--lower", "1", "--modulus", str(E), "--poisson",
                    "0.3", "--test", "axial", "--strain", str(-strain), "--load-steps", str(steps), "--strength",
                    "von-mises", "--yield-stress", str(YIELD), "--hardening", repr(hardening / (hardening + E)), "--curve",
                    "curve.csv", "-q"], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, "curve.csv"), encoding="utf-8") as file:
        return [float(row["force"]) for row in csv.DictReader(file)]


def calculix(executable, folder, bone, element, strain, steps):
    number, elements = {}, []
    for z, y, x in zip(*np.nonzero(bone)):
        elements.append([number.setdefault((x + a, y + b, z + c), len(number) + 1) for a, b, c in
                         ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))])
    with open(os.path.join(folder, "bone.inp"), "w", encoding="utf-8") as deck:
        deck.write("*NODE\n")
        deck.writelines(f"{i},{x * EDGE:.6f},{y * EDGE:.6f},{z * EDGE:.6f}\n" for (x, y, z), i in number.items())
        deck.write(f"*ELEMENT,TYPE={element},ELSET=BONE\n")
        deck.writelines(f"{i},{','.join(map(str, nodes))}\n" for i, nodes in enumerate(elements, 1))
        for name, plane in (("LOW", 0), ("HIGH", N)):
            deck.write(f"*NSET,NSET={name}\n")
            deck.writelines(f"{i},\n" for (_, _, z), i in number.items() if z == plane)
        deck.write(f"*MATERIAL,NAME=TISSUE\n*ELASTIC\n{E},0.3\n*PLASTIC\n{YIELD},0\n{YIELD + HARDENING},1\n"
                   "*SOLID SECTION,ELSET=BONE,MATERIAL=TISSUE\n*BOUNDARY\nLOW,1,3\nHIGH,1,2\n"
                   f"*STEP,INC={10 * steps}\n*STATIC,DIRECT\n{1 / steps},1\n*BOUNDARY\nHIGH,3,3,{-strain * N * EDGE}\n"
                   "*NODE PRINT,NSET=HIGH,TOTALS=ONLY\nRF\n*END STEP\n")
    subprocess.run([executable, "bone"], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, "bone.dat"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    return [float(lines[i + 2].split()[2]) for i, line in enumerate(lines) if "total force" in line]


def parosol(bone, folder, strain):
    from parosol_py import solve
    from parosol_py.nonlinear import NonlinearSolverOptions, VonMisesMaterial

    result = solve(material=(bone * E).astype(np.float32), spacing=(EDGE,) * 3, strain=-strain, test="axial",
                   load_case_type="constrained_axial", outputs=("plastic_strain",), tolerance=1e-8, work_dir=folder,
                   nonlinear_material=VonMisesMaterial(E, 0.3, YIELD),
                   nonlinear_solver=NonlinearSolverOptions(convergence_tolerance=1e-7, maximum_plastic_iterations=2000))
    return result.diagnostics["mechanics"]["reaction_force"]["z"]


def shown(name, start, forces, strain):
    load = yield_load(forces, strain)
    print(f"  {name:12} {load:10.4f} N {time.perf_counter() - start:8.2f} s")
    return load


def main():
    bone, failed = porous(), False
    print(f"{int(bone.sum())} voxels; yield loads")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        own = shown("ossatura", start, ours(sys.argv[1], folder, bone, 0.02, 20, HARDENING), 0.02)
        if len(sys.argv) > 2:
            span = []
            for element in ("C3D8", "C3D8I", "C3D8R"):
                start = time.perf_counter()
                span.append(shown(element, start, calculix(sys.argv[2], folder, bone, element, 0.02, 20), 0.02))
            failed = not min(span) < own < max(span)
        try:
            start = time.perf_counter()
            theirs = [parosol(bone, os.path.join(folder, str(k)), 0.001 * k) for k in range(1, 9)]
        except ImportError:
            return int(failed)
        print("perfectly plastic")
        load = shown("parosol-py", start, theirs, 0.008)
        start = time.perf_counter()
        own = shown("ossatura", start, ours(sys.argv[1], folder, bone, 0.008, 8, 0.0), 0.008)
        return int(failed or abs(own / load - 1) > 0.05)


if __name__ == "__main__":
    sys.exit(main())
