#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The room for a bracket as a STEP file in mm, by the OpenCASCADE kernel of gmsh (pip install gmsh): a base of 90 x 60 x
12 with four holes for bolts (radius 4), and a block of 50 x 20 x 38 on it with one for a pin (radius 8).

    python3 make_anchor.py [FOLDER]

writes anchor.step.
"""
import pathlib
import re
import sys

import gmsh

LENGTH, WIDTH, HEIGHT, BASE = 90, 60, 50, 12
BOLTS = [(10, 10), (80, 10), (10, 50), (80, 50)]  # x, y


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    path = pathlib.Path(folder) / "anchor.step"
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 1)
    occ = gmsh.model.occ
    base = occ.addBox(0, 0, 0, LENGTH, WIDTH, BASE)
    block = occ.addBox(20, 20, BASE, 50, 20, HEIGHT - BASE)
    body, _ = occ.fuse([(3, base)], [(3, block)])
    holes = [(3, occ.addCylinder(x, y, 0, 0, 0, BASE, 4)) for x, y in BOLTS]
    holes.append((3, occ.addCylinder(45, 20, 38, 0, 20, 0, 8)))
    occ.cut(body, holes)
    occ.synchronize()
    gmsh.write(str(path))
    gmsh.finalize()
    text = path.read_text()  # the same file on every day
    path.write_text(re.sub(r"'\d{4}-\d\d-\d\dT[\d:]+'", "'2026-01-01T00:00:00'", text, count=1))
    print(path)


if __name__ == "__main__":
    main()
