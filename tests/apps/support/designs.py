# SPDX-License-Identifier: Apache-2.0
"""Problems of `ossatura topopt` and what tests ask of their designs and surfaces."""
import json
import math
import re
import struct

from support.driver_case import DONE, USAGE, DriverCase

SECONDS = ("prepare", "solve", "gradient", "update", "seconds")


def box(cells=(6, 3, 3), size=None, **more):
    return {"box": {"cells": list(cells), "size": list(size or cells)}, **more}


def problem(**more):
    """A cantilever; None leaves a key out."""
    document = {"mesh": box(), "material": {"young": 1, "poisson": 0.3},
                "supports": [{"box": [0, 0, 0, 0, 3, 3]}],
                "cases": [{"name": "tip", "loads": [
                    {"box": [6, 0, 0, 6, 3, 0], "total_force": [0, 0, -1]}]}],
                "steps": 3, **more}
    return {key: value for key, value in document.items() if value is not None}


def triangles_of_box(size):
    """Corners of a box from the origin, and two triangles of each side: z, y, x, the lower one first."""
    at = [(size[0] * (k & 1), size[1] * (k >> 1 & 1), size[2] * (k >> 2)) for k in range(8)]
    sides = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    return at, [corners for a, b, c, d in sides for corners in ((a, b, c), (a, c, d))]


def stl_of_box(size, open_=False):
    """A box from the origin as an ASCII STL file, two triangles a side; `open_` lacks one."""
    at, triangles = triangles_of_box(size)
    lines = ["solid box"]
    for corners in triangles[1:] if open_ else triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex {} {} {}".format(*at[k]) for k in corners]
        lines += ["endloop", "endfacet"]
    return "\n".join(lines + ["endsolid box", ""])


def stl_of_plate(size, middle, radius, count=48):
    """A plate from the origin with a hole along z, of so many chords at least, as an ASCII STL file."""
    angles = sorted({2 * math.pi * k / count for k in range(count)} |
                    {math.atan2(y - middle[1], x - middle[0]) % (2 * math.pi) for x in (0, size[0]) for y in (0, size[1])})
    inside = [(middle[0] + radius * math.cos(a), middle[1] + radius * math.sin(a)) for a in angles]
    outside = []
    for a in angles:
        way = math.cos(a), math.sin(a)
        far = min(((size[d] if way[d] > 0 else 0) - middle[d]) / way[d] for d in range(2) if abs(way[d]) > 1e-12)
        outside.append((middle[0] + far * way[0], middle[1] + far * way[1]))
    triangles = []
    for k in range(len(angles)):
        (a, b), (c, d) = ((ring[k - 1], ring[k]) for ring in (outside, inside))
        for three in ((a, b, c), (b, d, c)):
            triangles += [[(*p, size[2]) for p in three], [(*p, 0) for p in reversed(three)]]
        for one, other in ((a, b), (d, c)):
            triangles += [[(*one, 0), (*other, 0), (*other, size[2])], [(*one, 0), (*other, size[2]), (*one, size[2])]]
    return "solid plate\n" + "".join(
        "facet normal 0 0 0\nouter loop\n" + "".join("vertex {!r} {!r} {!r}\n".format(*p) for p in three) + "endloop\nendfacet\n"
        for three in triangles) + "endsolid plate\n"


class TopoptCase(DriverCase):
    backend = "serial"

    def fails(self, code, message, *arguments):
        """Where the backend does not matter, any of the build will do."""
        if "--backend" not in arguments and "--config" not in arguments and len(arguments) > 1:
            arguments = (*arguments, "--backend", self.backend)
        return super().fails(code, message, *arguments)

    def optimise(self, name, *arguments, code=DONE):
        """The summary of a run in this directory."""
        return self.summary("topopt", name, "-q", "--backend", self.backend, *arguments, code=code)

    def solve(self, document, *arguments, code=DONE):
        self.write("p.json", json.dumps(document))
        return self.optimise("p.json", *arguments, code=code)

    def operators(self):
        """The names that --operator takes, as a refusal lists them, but auto."""
        refusal = self.fails(USAGE, "is not one of", "topopt", "mbb", "--operator", "none").stderr
        auto, *names = re.search(r"is not one of ([\w|-]+)", refusal)[1].split("|")
        self.assertEqual(auto, "auto")
        return names

    def rows(self, name, seconds=SECONDS):
        return super().rows(name, seconds)

    def triangles(self, name):
        """The corners of the triangles of a binary STL file."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        count = struct.unpack_from("<I", data, 80)[0]
        self.assertEqual(len(data), 84 + 50 * count)
        return [[struct.unpack_from("<3f", data, 84 + 50 * t + 12 * c) for c in (1, 2, 3)]
                for t in range(count)]

    def assert_closed(self, triangles):
        edges = {}
        for corners in triangles:
            for a, b in zip(corners, corners[1:] + corners[:1]):
                edges[a, b] = edges.get((a, b), 0) + 1
        for (a, b), count in edges.items():
            self.assertEqual((count, edges.get((b, a))), (1, 1))


def shells(triangles):
    """The triangles of each piece: what is joined by common corners."""
    root = {}

    def find(corner):
        while root.setdefault(corner, corner) != corner:
            root[corner] = root[root[corner]]
            corner = root[corner]
        return corner

    for a, b, c in triangles:
        root[find(a)] = find(b)
        root[find(b)] = find(c)
    pieces = {}
    for corners in triangles:
        pieces.setdefault(find(corners[0]), []).append(corners)
    return list(pieces.values())


def volume_of(triangles):
    return math.fsum(a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                     a[2] * (b[0] * c[1] - b[1] * c[0]) for a, b, c in triangles) / 6
