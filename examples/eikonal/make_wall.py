#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A piece of the wall of a left ventricle as an openCARP mesh, small enough to read.

    python3 make_wall.py [FOLDER] [CELLS]

writes wall.pts (micrometres), wall.elem, wall.lon and endocardium.vtx: 24 x 16 x 9 mm from the endocardium
(z = 0) to the epicardium, 6 x 4 x 3 cells of six tetrahedra each (CELLS times as many along each edge), fibres
that turn from +60 to -60 degrees. Tag 2 is a slow region of 8 x 8 mm through the wall, tag 1 the rest.
"""
import itertools
import math
import os
import sys

SIZE = (24000, 16000, 9000)  # micrometres
CELLS = (6, 4, 3)
SLOW = ((12000, 20000), (4000, 12000))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    n = [cells * times for cells in CELLS]

    def number(i, j, k):
        return i + (n[0] + 1) * (j + (n[1] + 1) * k)

    points = [(i * SIZE[0] / n[0], j * SIZE[1] / n[1], k * SIZE[2] / n[2])
              for k in range(n[2] + 1) for j in range(n[1] + 1) for i in range(n[0] + 1)]
    elements, fibres = [], []
    for k, j, i in itertools.product(range(n[2]), range(n[1]), range(n[0])):
        for order in itertools.permutations(range(3)):  # along three edges to the far corner
            corner, vertices = [i, j, k], [number(i, j, k)]
            for axis in order:
                corner[axis] += 1
                vertices.append(number(*corner))
            if order in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):  # all of positive volume
                vertices[2], vertices[3] = vertices[3], vertices[2]
            x, y, z = (sum(points[v][axis] for v in vertices) / 4 for axis in range(3))
            slow = SLOW[0][0] < x < SLOW[0][1] and SLOW[1][0] < y < SLOW[1][1]
            angle = math.radians(60 - 120 * z / SIZE[2])
            elements.append(("Tt", *vertices, 2 if slow else 1))
            fibres.append((f"{math.cos(angle):.4f}", f"{math.sin(angle):.4f}", 0))

    def write(name, *parts):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            for line in itertools.chain(*parts):
                file.write(" ".join(map(str, line)) + "\n")

    write("wall.pts", [(len(points),)], ([f"{x:.0f}" for x in point] for point in points))
    write("wall.elem", [(len(elements),)], elements)
    write("wall.lon", [(1,)], fibres)
    corner = [number(i, j, 0) for j in range(times + 1) for i in range(times + 1)]
    write("endocardium.vtx", [(len(corner),), ("intra",)], ((vertex,) for vertex in corner))


if __name__ == "__main__":
    main()
