#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The room for a wishbone as a deck of Abaqus or CalculiX in mm, N and N/mm2: a plate of second-order tetrahedra
(C3D10), 200 x 200 x 24, with two bores for bushings and one for the ball joint, whose mid-nodes lie on the circles.
Kinematic couplings hold the bushings, a distributing coupling takes the force of the wheel at the middle of the
ball joint, 30 mm above the plate; two steps: braking and cornering.

    python3 make_arm.py [FOLDER [N]]

writes arm.inp; N (6): edges of elements along 40 mm.
"""
import math
import pathlib
import sys

CELL, THICKNESS, RADIUS, RING = 40, 24, 11, 17  # mm; elements around a bore are in rings up to RING
CELLS = [(x, y) for x in range(5) for y in range(5) if (x, y) != (0, 2)]
BORES = {"FRONT": (0, 0), "REAR": (0, 4), "BALL": (4, 2)}
FACES = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))  # S1 to S4
EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
JOINT = (180, 100, 54)


class Arm:
    def __init__(self, n):
        self.points, self.known, self.elements = [], {}, []
        self.layers = max(2, round(THICKNESS / CELL * n))
        for cell in CELLS:
            centre = [CELL * (c + 0.5) for c in cell]
            if cell not in BORES.values():
                rows = [[(CELL * (cell[0] + i / n), CELL * (cell[1] + j / n)) for i in range(n + 1)] for j in range(n + 1)]
            else:
                side = [(1, 2 * k / n - 1) for k in range(n)]
                rim = [(x, y) for x, y in side] + [(-y, x) for x, y in side] + [(-x, -y) for x, y in side] + \
                    [(y, -x) for x, y in side] + side[:1]
                m = max(1, n // 3)
                circles = [RADIUS + (RING - RADIUS) * k / m for k in range(m + 1)]
                rows = [[tuple(c + radius * s / math.hypot(*p) for c, s in zip(centre, p)) for p in rim]
                        for radius in circles]
                rows += [[tuple(c + CELL / 2 * s * t + (1 - t) * (x - c) for c, s, x in zip(centre, p, q))
                          for p, q in zip(rim, rows[-1])] for t in (0.5, 1)]
            for low, high in zip(rows, rows[1:]):
                for corners in zip(low, low[1:], high[1:], high):
                    self.add_column(corners)

    def node(self, point):
        key = tuple(round(x, 6) for x in point)
        if key not in self.known:
            self.points.append(point)
            self.known[key] = len(self.points)
        return self.known[key]

    def bore_of(self, node):
        x, y, _ = self.points[node - 1]
        return next((name for name, cell in BORES.items() if abs(
            math.hypot(x - CELL * (cell[0] + 0.5), y - CELL * (cell[1] + 0.5)) - RADIUS) < 1e-6), None)

    def add_column(self, corners):
        """Prisms on both halves of a quadrangle, each of three tetrahedra, whose diagonals begin at the first node."""
        for layer in range(self.layers):
            low, high = ([self.node((*p, THICKNESS * (layer + k) / self.layers)) for p in corners] for k in (0, 1))
            for three in ((0, 1, 2), (0, 2, 3)):
                a, b, c = sorted(three, key=lambda k: low[k])
                for four in ((low[a], low[b], low[c], high[c]), (low[a], low[b], high[b], high[c]),
                             (low[a], high[a], high[b], high[c])):
                    self.add_tetrahedron(list(four))

    def add_tetrahedron(self, nodes):
        u, v, w = ([x - y for x, y in zip(self.points[n - 1], self.points[nodes[0] - 1])] for n in nodes[1:])
        if sum(u[k] * (v[k - 2] * w[k - 1] - v[k - 1] * w[k - 2]) for k in range(3)) < 0:
            nodes[2:] = nodes[:1:-1]
        self.elements.append(nodes + [self.middle(nodes[a], nodes[b]) for a, b in EDGES])

    def middle(self, a, b):
        point = [(x + y) / 2 for x, y in zip(self.points[a - 1], self.points[b - 1])]
        bore = self.bore_of(a)
        if bore and bore == self.bore_of(b):
            centre = [CELL * (c + 0.5) for c in BORES[bore]]
            away = [x - c for x, c in zip(point, centre)]
            point[:2] = [c + RADIUS / math.hypot(*away) * s for c, s in zip(centre, away)]
        return self.node(tuple(point))

    def deck(self):
        yield "** SPDX-License-Identifier: Apache-2.0\n*HEADING\nWishbone, mm, N, N/mm2: make_arm.py"
        yield "*NODE, NSET=NALL"
        for number, point in enumerate(self.points, 1):
            yield f"{number}, " + ", ".join(f"{x:.6g}" for x in point)
        reference = dict(zip(BORES, range(len(self.points) + 1, len(self.points) + 4)))
        for name, cell in BORES.items():
            place = JOINT if name == "BALL" else [CELL * (c + 0.5) for c in cell] + [THICKNESS / 2]
            yield f"{reference[name]}, " + ", ".join(f"{x:.6g}" for x in place)
        yield "*ELEMENT, TYPE=C3D10, ELSET=ARM"
        for number, nodes in enumerate(self.elements, 1):
            yield f"{number}, " + ", ".join(map(str, nodes))
        for name in BORES:
            yield f"*SURFACE, NAME={name}, TYPE=ELEMENT"
            for number, nodes in enumerate(self.elements, 1):
                for face, corners in enumerate(FACES, 1):
                    if all(self.bore_of(nodes[k]) == name for k in corners):
                        yield f"{number}, S{face}"
        yield "*MATERIAL, NAME=ALUMINIUM\n*ELASTIC\n70000., 0.33\n*DENSITY\n2.7E-9"
        yield "*SOLID SECTION, ELSET=ARM, MATERIAL=ALUMINIUM"
        for name, kind in (("FRONT", "KINEMATIC\n1, 3"), ("REAR", "KINEMATIC\n1, 3"), ("BALL", "DISTRIBUTING\n1, 3")):
            yield f"*COUPLING, REF NODE={reference[name]}, SURFACE={name}, CONSTRAINT NAME=C_{name}\n*{kind}"
        yield f"*BOUNDARY\n{reference['FRONT']}, 1, 6\n{reference['REAR']}, 1, 6"
        ball = reference["BALL"]
        yield f"** braking\n*STEP\n*STATIC\n*CLOAD\n{ball}, 2, 6000.\n{ball}, 3, 1500.\n*END STEP"
        yield f"** cornering\n*STEP\n*STATIC\n*CLOAD, OP=NEW\n{ball}, 1, -9000.\n{ball}, 3, 1500.\n*END STEP"


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    arm = Arm(int(sys.argv[2]) if len(sys.argv) > 2 else 6)
    path = pathlib.Path(folder) / "arm.inp"
    path.write_text("\n".join(arm.deck()) + "\n", encoding="utf-8")
    print(f"{path}: {len(arm.elements)} elements, {len(arm.points)} nodes")


if __name__ == "__main__":
    main()
