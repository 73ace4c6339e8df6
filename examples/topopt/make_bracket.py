#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plate with holes as a closed surface in mm: 100 x 20 x 60, two holes for bolts (radius 4.5) and one
for a pin (radius 6), all along y.

    python3 make_bracket.py [FOLDER]

writes bracket.stl.
"""
import math
import pathlib
import struct
import sys

CELL, THICKNESS, COUNT = 20, 20, (5, 3)  # the plate is of square cells, some with a hole
SIDE = 6  # points on the side of a cell; a hole has four times as many
HOLES = {(0, 0): 4.5, (0, 2): 4.5, (4, 1): 6}


def rim(cell):
    """Points around a cell, counter-clockwise from its lower corner."""
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    points = []
    for (x, z), (u, w) in zip(corners, corners[1:] + corners[:1]):
        points += [(CELL * (cell[0] + x + (u - x) * k / SIDE),
                    CELL * (cell[1] + z + (w - z) * k / SIDE)) for k in range(SIDE)]
    return points


def hole(cell, radius):
    """Points around a hole, each in the direction of one of the rim; on the circle."""
    middle = CELL * (cell[0] + 0.5), CELL * (cell[1] + 0.5)
    count = 4 * SIDE
    return [(middle[0] + radius * math.cos(2 * math.pi * (k / count - 0.375)),
             middle[1] + radius * math.sin(2 * math.pi * (k / count - 0.375)))
            for k in range(count)]


def pairs(points):
    return zip(points, points[1:] + points[:1])


def main():
    triangles = []

    def at(point, y):
        return point[0], y, point[1]

    def add_face(a, b, c):
        """A triangle of the front, y = 0, and of the back."""
        triangles.append([at(a, 0), at(b, 0), at(c, 0)])
        triangles.append([at(a, THICKNESS), at(c, THICKNESS), at(b, THICKNESS)])

    def add_wall(a, b):
        """Between front and back, with the body to the left of the way from a to b."""
        triangles.append([at(b, 0), at(a, 0), at(a, THICKNESS)])
        triangles.append([at(b, 0), at(a, THICKNESS), at(b, THICKNESS)])

    for x in range(COUNT[0]):
        for z in range(COUNT[1]):
            outside, radius = rim((x, z)), HOLES.get((x, z))
            if radius is None:
                middle = CELL * (x + 0.5), CELL * (z + 0.5)
                for a, b in pairs(outside):
                    add_face(a, b, middle)
            else:
                inside = hole((x, z), radius)
                for (a, b), (c, d) in zip(pairs(outside), pairs(inside)):
                    add_face(a, b, c)
                    add_face(b, d, c)
                for c, d in pairs(inside):
                    add_wall(d, c)
            for a, b in pairs(outside):
                for axis, end in ((0, CELL * COUNT[0]), (1, CELL * COUNT[1])):
                    if a[axis] == b[axis] and a[axis] in (0, end):
                        add_wall(a, b)

    folder = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    path = pathlib.Path(folder) / "bracket.stl"
    with path.open("wb") as file:
        file.write(b"SPDX-License-Identifier: Apache-2.0\nmake_bracket.py, mm\n".ljust(80))
        file.write(struct.pack("<I", len(triangles)))
        for corners in triangles:
            file.write(struct.pack("<12fH", 0, 0, 0, *(c for corner in corners for c in corner), 0))
    print(f"{path}: {len(triangles)} triangles")


if __name__ == "__main__":
    main()
