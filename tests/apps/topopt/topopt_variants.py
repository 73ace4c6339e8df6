# SPDX-License-Identifier: Apache-2.0
"""One bar of distorted elements in decks of many kinds, from the deck through the executable, against a matrix that
is assembled here: shape functions, quadrature and elimination are of this file."""
import itertools
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.designs import TopoptCase
from support.solid_decks import FACES

SIGNS = ((-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1))
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))  # of a tetrahedron, in the order of mid-nodes
TETRAHEDRA = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))  # of a cell
LENGTH = 2
REFERENCE = (2.4, 0.2, 0.7)  # m, node 901
FORCE, MOMENT = (0.3, -0.2, -1), (0.1, 0.05, -0.4)
GRAVITY = (3, -2, -9)
LEAST = 1e-9  # modulus of void, as a part of the material's


def hexahedron(p):
    """Shape functions and their derivatives."""
    values = [math.prod(1 + s[k] * p[k] for k in range(3)) / 8 for s in SIGNS]
    slopes = [[s[d] / 8 * math.prod(1 + s[k] * p[k] for k in range(3) if k != d) for d in range(3)] for s in SIGNS]
    return values, slopes


def tetrahedron(p):
    return [1 - sum(p), *p], [[-1, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def parabolic(p):
    at, slope = tetrahedron(p)
    values = [x * (2 * x - 1) for x in at] + [4 * at[a] * at[b] for a, b in EDGES]
    slopes = [[(4 * at[k] - 1) * slope[k][d] for d in range(3)] for k in range(4)]
    slopes += [[4 * (at[a] * slope[b][d] + at[b] * slope[a][d]) for d in range(3)] for a, b in EDGES]
    return values, slopes


GAUSS = 1 / math.sqrt(3)
NEAR, FAR = (5 - math.sqrt(5)) / 20, (5 + 3 * math.sqrt(5)) / 20
RULES = {"C3D8": (hexahedron, [(p, 1) for p in itertools.product((-GAUSS, GAUSS), repeat=3)]),
         "C3D4": (tetrahedron, [((0.25, 0.25, 0.25), 1 / 6)]),
         "C3D10": (parabolic, [(p, 1 / 24) for p in ((NEAR, NEAR, NEAR), (FAR, NEAR, NEAR), (NEAR, FAR, NEAR),
                                                     (NEAR, NEAR, FAR))])}


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def element_matrices(kind, corners, young, poisson):
    """Stiffness [3 n, 3 n] of elasticity, and the integrals of the shape functions."""
    shape, rule = RULES[kind]
    n = len(corners)
    stiffness, volume = [[0] * (3 * n) for _ in range(3 * n)], [0] * n
    lame, shear = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))
    for p, weight in rule:
        values, slopes = shape(p)
        a, b, c = ([dot([x[d] for x in corners], [s[k] for s in slopes]) for d in range(3)] for k in range(3))
        determinant = dot(a, cross(b, c))
        inverse = [cross(b, c), cross(c, a), cross(a, b)]
        gradient = [[sum(s[k] * inverse[k][d] for k in range(3)) / determinant for d in range(3)] for s in slopes]
        for m in range(n):
            volume[m] += weight * determinant * values[m]
            for k in range(n):
                both = dot(gradient[m], gradient[k])
                for i, j in itertools.product(range(3), repeat=2):
                    stiffness[3 * m + i][3 * k + j] += weight * determinant * (
                        lame * gradient[m][i] * gradient[k][j] + shear * gradient[m][j] * gradient[k][i] +
                        (shear * both if i == j else 0))
    return stiffness, volume


def eliminate(matrix, right):
    """Gauss, with pivots."""
    n, rows = len(right), [row[:] + [x] for row, x in zip(matrix, right)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for row in rows[k + 1:]:
            if row[k]:
                part = row[k] / rows[k][k]
                row[k:] = [x - part * y for x, y in zip(row[k:], rows[k][k:])]
    found = [0] * n
    for k in reversed(range(n)):
        found[k] = (rows[k][n] - sum(x * y for x, y in zip(rows[k][k + 1:n], found[k + 1:]))) / rows[k][k]
    return found


class Bar:
    """Points, elements and loads of a bar of LENGTH x 1 x 1 whose inner points are moved at random, the end stays plane."""

    def __init__(self, kind, materials):
        self.kind, self.materials = kind, materials  # (young, poisson, mass density), the second one beyond the middle
        cells = (2, 1, 1) if kind == "C3D10" else (3, 2, 2)
        chance, number = random.Random(4), {}
        self.point, self.element = [], []
        for place in itertools.product(*(range(n + 1) for n in cells)):
            x = [LENGTH * place[0] / cells[0], place[1] / cells[1], place[2] / cells[2]]
            if place[0] > 0:
                x = [c + 0.08 * (chance.random() - 0.5) if d > 0 or place[0] < cells[0] else c for d, c in enumerate(x)]
            number[place] = len(self.point)
            self.point.append(x)
        for place in itertools.product(*(range(n) for n in cells)):
            corners = [number[tuple(i + (s > 0) for i, s in zip(place, sign))] for sign in SIGNS]
            self.element += [corners] if kind == "C3D8" else [[corners[k] for k in four] for four in TETRAHEDRA]
        if kind == "C3D10":
            self.add_middles()
        self.left = [m for m, x in enumerate(self.point) if x[0] == 0]
        self.end = [m for m, x in enumerate(self.point) if x[0] == LENGTH]
        centre = [sum(self.point[m][0] for m in e) / len(e) for e in self.element]
        self.material = [int(len(materials) > 1 and x > LENGTH / 2) for x in centre]
        self.matrices = [element_matrices(kind, [self.point[m] for m in e], *materials[k][:2])
                         for e, k in zip(self.element, self.material)]

    def add_middles(self):
        known = {}
        for e in self.element:
            for a, b in EDGES:
                ends = tuple(sorted((e[a], e[b])))
                if ends not in known:
                    known[ends] = len(self.point)
                    self.point.append([(x + y) / 2 for x, y in zip(*(self.point[m] for m in ends))])
                e.append(known[ends])

    def faces(self):
        """(element, face) from 0 at the end."""
        sides = FACES[8 if self.kind == "C3D8" else 4]
        return [(e, f) for e, nodes in enumerate(self.element) for f, side in enumerate(sides)
                if all(nodes[k] in self.end for k in side)]

    def deck(self, *lines, extra=""):
        def rows(numbers):
            return "".join(f"{n + 1},\n" for n in numbers)

        text = "*NODE, NSET=ALL\n" + "".join("{}, {!r}, {!r}, {!r}\n".format(m + 1, *x) for m, x in enumerate(self.point))
        text += "*NODE\n901, {}, {}, {}\n".format(*REFERENCE) if extra else ""
        text += f"*ELEMENT, TYPE={self.kind}, ELSET=BODY\n"
        text += "".join(", ".join(str(n) for n in (i + 1, *(m + 1 for m in e))) + "\n" for i, e in enumerate(self.element))
        text += f"*NSET, NSET=X0\n{rows(self.left)}*NSET, NSET=END\n{rows(self.end)}"
        for k, (young, poisson, density) in enumerate(self.materials):
            text += f"*ELSET, ELSET=S{k}\n{rows(i for i, own in enumerate(self.material) if own == k)}"
            text += f"*MATERIAL, NAME=M{k}\n*ELASTIC\n{young}, {poisson}\n*DENSITY\n{density}\n"
            text += f"*SOLID SECTION, ELSET=S{k}, MATERIAL=M{k}\n"
        return text + extra + "*BOUNDARY\nX0, 1, 3\n*STEP\n*STATIC\n" + "".join(x + "\n" for x in lines) + "*END STEP\n"

    def weights(self):
        """Areas of the nodes of the end: of a straight face with parabolas those in the middle have all of it."""
        weight = {}
        for e, f in self.faces():
            nodes = self.element[e]
            side = FACES[8 if self.kind == "C3D8" else 4][f]
            a, b, c = (self.point[nodes[k]] for k in side)
            area = math.hypot(*cross([y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)])) / 2
            own = [nodes[4 + k] for k, ends in enumerate(EDGES) if set(ends) <= set(side)]
            for m in own:
                weight[m] = weight.get(m, 0) + area / 3
        return weight

    def distributed(self):
        """Forces of the end whose resultants about REFERENCE are FORCE and MOMENT: f_i = w_i (a + b x r_i)."""
        weight = self.weights()
        total = sum(weight.values())
        centre = [sum(w * self.point[m][d] for m, w in weight.items()) / total for d in range(3)]
        arm = [x - c for x, c in zip(REFERENCE, centre)]
        moment = [x + y for x, y in zip(MOMENT, cross(arm, FORCE))]
        inertia = [[0] * 3 for _ in range(3)]
        for m, w in weight.items():
            r = [x - c for x, c in zip(self.point[m], centre)]
            for i, j in itertools.product(range(3), repeat=2):
                inertia[i][j] += w * ((dot(r, r) if i == j else 0) - r[i] * r[j])
        turn = eliminate(inertia, moment)
        return {m: [w * (x / total + y) for x, y in zip(FORCE, cross(turn, [x - c for x, c in zip(self.point[m], centre)]))]
                for m, w in weight.items()}

    def solve(self, density, forces=(), gravity=None, moved=None, rigid=False):
        """Compliance (f . u less the work of imposed displacements), u, and the sum of the reactions of the clamped end."""
        n = 3 * len(self.point)
        matrix, force = [[0] * n for _ in range(n)], [0] * n
        for e, rho, k, (own, volume) in zip(self.element, density, self.material, self.matrices):
            scale = LEAST + (1 - LEAST) * rho**3
            dofs = [3 * m + d for m in e for d in range(3)]
            for i, row in zip(dofs, own):
                for j, x in zip(dofs, row):
                    matrix[i][j] += scale * x
            if gravity:
                for i, dof in enumerate(dofs):
                    force[dof] += rho * self.materials[k][2] * volume[i // 3] * gravity[i % 3]
        for m, f in dict(forces).items():
            for d in range(3):
                force[3 * m + d] += f[d]
        held = {3 * m + d: 0 for m in self.left for d in range(3)}
        if moved is not None:
            held.update({3 * m + 2: moved for m in self.end})
        columns = self.columns(held, rigid)
        load = [sum(x * (force[i] - sum(matrix[i][j] * v for j, v in held.items() if v)) for i, x in one.items())
                for one in columns]
        if rigid:
            load[-6:] = [x + y for x, y in zip(load[-6:], (*FORCE, *MOMENT))]
        moved_by = [[sum(x * matrix[i][j] for i, x in one.items()) for j in range(n)] for one in columns]
        small = [[sum(row[j] * y for j, y in other.items()) for other in columns] for row in moved_by]
        found = eliminate(small, load)
        u = [held.get(i, 0) for i in range(n)]
        for one, x in zip(columns, found):
            for i, y in one.items():
                u[i] += x * y
        reaction = {i: dot(matrix[i], u) - force[i] for i in held}
        work = dot(force, u) + (dot(found[-6:], (*FORCE, *MOMENT)) if rigid else 0)
        return (work - sum(reaction[i] * v for i, v in held.items()), u,
                [sum(reaction[3 * m + d] for m in self.left) for d in range(3)])

    def columns(self, held, rigid):
        """The unknowns, by the degrees of freedom that each moves: of a rigid end, six about REFERENCE come last."""
        bound = set(self.end) if rigid else set()
        columns = [{i: 1} for i in range(3 * len(self.point)) if i not in held and i // 3 not in bound]
        if rigid:
            axes = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
            columns += [{3 * m + d: 1 for m in self.end} for d in range(3)]
            columns += [{3 * m + d: x for m in self.end
                         for d, x in enumerate(cross(axis, [p - c for p, c in zip(self.point[m], REFERENCE)]))}
                        for axis in axes]
        return columns


class Variants(TopoptCase):
    """Compliance of the first design, all elements of 0.5, and of the last one, whose elements differ, with its
    displacements and reactions."""
    ONE, TWO = ((7, 0.3, 3),), ((7, 0.3, 3), (2, 0.2, 1.5))
    ALIKE = ((7, 0.3, 3), (2, 0.3, 1.5))  # tetrahedra know one of Poisson's ratios
    RIGID = "*RIGID BODY, NSET=END, REF NODE=901\n"
    LOADED = ("*CLOAD", *(f"901, {d + 1}, {x}" for d, x in enumerate((*FORCE, *MOMENT))))

    def compare(self, bar, deck, **load):
        self.write("deck.inp", deck)
        first, known = bar.solve([0.5] * len(bar.element), **load)[0], {}
        for self.backend in driver_case.backends():
            with self.subTest(backend=self.backend):
                run = self.optimise("deck.inp", "--steps", "1", "--start", "0.5", "--volume", "0.5", "--filter", "none",
                                    "--min-modulus", str(LEAST), "--tolerance", "1e-12", "--step-tolerance", "1e-12",
                                    "--no-stl", "--hdf", "d.hdf")
                results = run["results"]
                self.close(results["steps"]["objective"][0], first, 1e-11)
                density = hdf5_values.read(self.path("d.hdf"), "VTKHDF/CellData/density")
                self.assertGreater(max(density) - min(density), 0.1)
                if tuple(density) not in known:  # backends have the same one, but for bits
                    known[tuple(density)] = bar.solve(density, **load)
                last, displacement, reaction = known[tuple(density)]
                self.close(results["objective"], last, 1e-11)
                most = max(abs(x) for x in displacement)
                found = hdf5_values.read(self.path("d.hdf"), "VTKHDF/PointData/displacement")
                self.assertEqual(len(found), len(displacement))
                for one, other in zip(found, displacement):
                    self.close(one, other, 1e-11, scale=most)
                for one, other in zip(results["cases"][0]["support_force"], reaction):
                    self.close(one, other, 1e-11, scale=max(abs(x) for x in reaction))
        self.backend = "serial"
        return run

    def pressed(self, kind, materials=ONE):
        bar = Bar(kind, materials)
        forces = {m: [x / len(bar.end) for x in FORCE] for m in bar.end}
        rows = [f"{m + 1}, {d + 1}, {x!r}" for m, f in forces.items() for d, x in enumerate(f)]
        self.compare(bar, bar.deck("*CLOAD", *rows), forces=forces)

    def test_kinds(self):
        for kind in RULES:
            with self.subTest(kind=kind):
                self.pressed(kind)

    def test_two_materials(self):
        for kind in RULES:
            with self.subTest(kind=kind):
                self.pressed(kind, self.TWO if kind == "C3D8" else self.ALIKE)

    def test_gravity(self):
        size = math.hypot(*GRAVITY)
        row = "BODY, GRAV, {!r}, {!r}, {!r}, {!r}".format(size, *(x / size for x in GRAVITY))
        for kind, materials in (("C3D8", self.ONE), ("C3D10", self.ONE), ("C3D8", self.TWO)):
            with self.subTest(kind=kind, materials=len(materials)):
                bar = Bar(kind, materials)
                self.compare(bar, bar.deck("*DLOAD", row), gravity=GRAVITY)

    def test_imposed_displacement(self):
        for kind in ("C3D8", "C3D10"):
            with self.subTest(kind=kind):
                bar = Bar(kind, self.ONE)
                run = self.compare(bar, bar.deck("*BOUNDARY", "END, 3, 3, -0.1"), moved=-0.1)
                self.assertLess(run["results"]["objective"], 0)

    def test_rigid_body(self):
        for kind in ("C3D8", "C3D10"):
            with self.subTest(kind=kind):
                bar = Bar(kind, self.ONE)
                self.compare(bar, bar.deck(*self.LOADED, extra=self.RIGID), rigid=True)

    def test_distributing_coupling(self):
        bar = Bar("C3D10", self.ONE)
        extra = "*SURFACE, NAME=TIP\n" + "".join(f"{e + 1}, S{f + 1}\n" for e, f in bar.faces())
        extra += "*COUPLING, REF NODE=901, SURFACE=TIP, CONSTRAINT NAME=C\n*DISTRIBUTING\n1, 6\n"
        self.assertEqual(len(set(bar.weights().values())), 3)  # two faces, and the edge between them
        self.compare(bar, bar.deck(*self.LOADED, extra=extra), forces=bar.distributed())


if __name__ == "__main__":
    driver_case.main()
