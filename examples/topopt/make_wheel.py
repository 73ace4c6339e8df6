#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The room for a wheel as a deck of Abaqus or CalculiX in mm: half of a disc of hexahedra (C3D8) with a bore, in rings.

    python3 make_wheel.py [FOLDER [N]]

writes wheel.inp, the mesh alone; wheel.json has the rest. N (24): elements around a fifth.
"""
import math
import pathlib
import sys

INNER, OUTER, HEIGHT = 15, 100, 15  # mm


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    around, rings, layers = 5 * n, round(0.875 * n), max(2, round(n / 6))
    path = pathlib.Path(folder) / "wheel.inp"
    lines = ["** SPDX-License-Identifier: Apache-2.0", "*HEADING", "Half of a wheel, mm: make_wheel.py", "*NODE"]
    for k in range(layers + 1):
        for j in range(rings + 1):
            radius = INNER + (OUTER - INNER) * j / rings
            for i in range(around):
                angle = 2 * math.pi * i / around
                lines.append(f"{1 + i + around * (j + (rings + 1) * k)}, {radius * math.cos(angle):.9g}, "
                             f"{radius * math.sin(angle):.9g}, {HEIGHT * k / layers:.9g}")
    lines.append("*ELEMENT, TYPE=C3D8, ELSET=WHEEL")
    for k in range(layers):
        for j in range(rings):
            for i in range(around):
                corners = [1 + (i + a) % around + around * (j + b + (rings + 1) * (k + c))
                           for c in (0, 1) for a, b in ((0, 0), (0, 1), (1, 1), (1, 0))]
                lines.append(", ".join(map(str, [1 + i + around * (j + rings * k)] + corners)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path}: {around * rings * layers} elements")


if __name__ == "__main__":
    main()
