# SPDX-License-Identifier: Apache-2.0
"""`ossatura pfem` end to end: closed answers, problems, mesh files, the table of the paper, and what
is refused."""
import csv
import json
import math
import os

from support import ansys_archive
from support import driver_case
from support import solid_decks
from support.driver_case import BAD_FILE, NOT_CONVERGED, UNAVAILABLE, USAGE, DriverCase

OPERATORS = ("packed", "bsr", "matrix-free", "shared")


def problem(**more):
    """A cube pulled apart; None leaves a key out."""
    document = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]},
                "order": 3, "material": {"young": 8, "poisson": 0.25},
                "supports": [{"plane": "x=0", "components": "x"},
                             {"plane": "y=0", "components": "y"},
                             {"plane": "z=0", "components": "z"}],
                "loads": [{"plane": "x=2", "traction": [4, 0, 0]}], **more}
    return {key: value for key, value in document.items() if value is not None}


POINTS = [(i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1, 2)]
ELEMENTS = [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]]


def vtk(points=None, elements=None, kind=12):
    """Two unit cubes side by side."""
    points, elements = points or POINTS, elements or ELEMENTS
    size = sum(len(corners) + 1 for corners in elements)
    return ("# vtk DataFile Version 3.0\nbox\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            f"POINTS {len(points)} double\n" + "".join(f"{x} {y} {z}\n" for x, y, z in points) +
            f"CELLS {len(elements)} {size}\n" +
            "".join(f"{len(corners)} " + " ".join(map(str, corners)) + "\n"
                    for corners in elements) +
            f"CELL_TYPES {len(elements)}\n" + f"{kind}\n" * len(elements))


def abaqus(material=True, boundary=True, load=True):
    """The same with sets and, in all, a force of 2 along x."""
    text = "*NODE\n" + "".join(f"{n + 1}, {x}., {y}., {z}.\n"
                               for n, (x, y, z) in enumerate(POINTS))
    text += "*ELEMENT, TYPE=C3D8, ELSET=ALL\n" + "".join(
        f"{e + 1}, " + ", ".join(str(n + 1) for n in corners) + "\n"
        for e, corners in enumerate(ELEMENTS))
    ends = {x: [n + 1 for n, point in enumerate(POINTS) if point[0] == x] for x in (0, 2)}
    text += "*NSET, NSET=LEFT\n" + "".join(f"{n},\n" for n in ends[0])
    text += "*NSET, NSET=RIGHT\n" + "".join(f"{n},\n" for n in ends[2])
    text += "*ELSET, ELSET=FIRST\n1,\n"
    if material:
        text += "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n8., 0.\n"
    if boundary:
        text += "*BOUNDARY\nLEFT, 1, 3\n"
    if load:
        text += "*STEP\n*STATIC\n*CLOAD\nRIGHT, 1, 0.5\n*END STEP\n"
    return text


def gmsh():
    """A unit cube as a hexahedron of 20 nodes, in the order of Gmsh."""
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1),
              (0, 1, 1)]
    for a, b in ((0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7),
                 (5, 6), (6, 7)):
        points.append(tuple((points[a][d] + points[b][d]) / 2 for d in range(3)))
    return ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n20\n" +
            "".join(f"{n + 1} {x} {y} {z}\n" for n, (x, y, z) in enumerate(points)) +
            "$EndNodes\n$Elements\n1\n1 17 2 0 1 " + " ".join(str(n) for n in range(1, 21)) +
            "\n$EndElements\n")


class PfemCase(DriverCase):
    backend = "serial"

    def run_pfem(self, name, *arguments, code=driver_case.DONE):
        """The summary of a run in this directory."""
        return self.summary("pfem", name, "-q", "--backend", self.backend, *arguments, code=code)

    def solve(self, document, *arguments, code=driver_case.DONE):
        self.write("p.json", json.dumps(document))
        return self.run_pfem("p.json", *arguments, code=code)

    def refuses(self, message, document, code=BAD_FILE, *arguments):
        self.write("p.json", json.dumps(document))
        return self.fails(code, message, "pfem", "p.json", "-q", "--backend", self.backend, *arguments)


class ClosedAnswers(PfemCase):
    """Energy-norm errors that an independent program found for the same elements (in percent)."""

    def test_sphere_on_every_backend(self):
        for self.backend in driver_case.backends():
            with self.subTest(backend=self.backend):
                self.sphere("trunk", 3, 6.596, 132)
        self.backend = "serial"
        self.sphere("trunk", 1, 55.47, 24)
        self.sphere("trunk", 5, 0.4873, 357)
        self.sphere("trunk", 6, 0.1415, 537)
        self.sphere("tensor", 4, 1.514, 780)

    def sphere(self, space, order, percent, free):
        run = self.run_pfem("sphere", "--order", order, "--space", space)
        exact = run["results"]["exact"]
        self.close(exact["strain_energy"], 0.2 * math.pi, 1e-12)
        self.close(100 * exact["relative_energy_norm_of_error"], percent, 1e-3)
        self.assertEqual(run["problem"]["dofs"] - run["problem"]["held_dofs"], free)
        self.assertLessEqual(run["residual"]["true"], 1e-8)

    def test_cylinder(self):
        run = self.run_pfem("cylinder", "--order", 6, "--across", 2)
        self.close(run["results"]["strain_energy"], 1.497492498, 1e-6)
        self.close(run["results"]["exact"]["strain_energy"], 1.497492498, 1e-9)
        self.assertLess(run["results"]["exact"]["max_displacement_error"], 1e-4)
        scaled = self.run_pfem("cylinder", "--order", 3, "--young", 7, "--height", 2)
        self.close(scaled["results"]["strain_energy"], 2 * 1.497492498 / 7, 2e-3)

    def test_uniform_stress(self):
        # sigma = 4, E = 8: 0.5 along x, -0.125 across; energy 1/2 sigma epsilon V.
        run = self.solve(problem())["results"]
        self.close(run["strain_energy"], 0.5 * 4 * 0.5 * 2, 1e-9)
        self.close(run["potential_energy"], -run["strain_energy"], 1e-9)
        self.close(run["max_displacement"]["value"], math.hypot(1, 0.125, 0.125), 1e-7)
        self.assertEqual(run["max_displacement"]["at"], [2, 1, 1])
        self.close(run["max_von_mises"]["value"], 4, 1e-6)
        self.close(run["reactions"][0]["force"][0], -4, 1e-7)
        self.assertEqual(run["reactions"][0]["support"], "supports[0]")
        # The same by what is prescribed.
        moved = self.solve(problem(loads=None, supports=problem()["supports"] + [
            {"plane": "x=2", "components": "x", "displacement": [1, 0, 0]}]))["results"]
        self.close(moved["strain_energy"], 2, 1e-9)
        self.close(moved["reactions"][3]["force"][0], 4, 1e-7)

    def test_thin_strip(self):
        # A plate of 1 mm took 15 300 iterations, and ended by rounding with exit 3.
        length, width, thickness = 0.5, 0.05, 0.001
        bending = width * thickness ** 3 / 12
        load = width * thickness  # N/m, of the weight of 1 N/m^3
        for choice, iterations in (("vertex-stars", 203), ("ldlt", 3)):
            run = self.run_pfem("cube", "--cells", "10x1x1", "--size", f"{length}x{width}x{thickness}", "--poisson", 0,
                                "--order", 4, "--preconditioner", choice)
            with self.subTest(choice):
                self.assertEqual(run["engine"]["residual_norm"], "energy")
                self.assertIn("factor of", run["engine"]["preconditioner_parts"])
                self.assertLessEqual(run["iterations"], iterations)
                self.assertAlmostEqual(run["results"]["max_displacement"]["value"] / (load * length ** 4 / 8 / bending), 1,
                                       delta=1e-4)
                self.assertAlmostEqual(run["results"]["strain_energy"] / (load ** 2 * length ** 5 / 40 / bending), 1,
                                       delta=1e-4)

    def test_thin_strip_that_is_moved(self):
        # The first residual is that of a short end that shears: 1e-5 of it was more than the force of the strip, whose
        # energy came out 2.2 times as large.
        length, width, thickness, young = 0.5, 0.05, 0.0005, 2e11
        stiffness = 12 * young * width * thickness ** 3 / 12 / length ** 3
        for choice in ("vertex-stars", "jacobi", "ldlt"):
            with self.subTest(choice):
                run = self.solve({"mesh": {"generator": "cube", "cells": [20, 1, 1], "size": [length, width, thickness]},
                                  "order": 3, "material": {"young": young, "poisson": 0}, "supports": [
                                      {"plane": "x=0"}, {"plane": "x=0.5", "displacement": [0, 0, 1e-3]}]},
                                 "--preconditioner", choice, "--tolerance", 1e-5,
                                 code=driver_case.NOT_CONVERGED if choice == "jacobi" else driver_case.DONE)
                if choice == "jacobi":
                    self.assertEqual(run["status"], "not converged")
                    self.assertGreater(run["residual"]["true"], 1e-5)
                else:
                    self.close(run["results"]["strain_energy"], stiffness * 1e-3 ** 2 / 2, 1e-4)
                    self.close(run["results"]["reactions"][1]["force"][2], stiffness * 1e-3, 1e-3)

    def test_settlement_beside_a_load(self):
        # A clamp that settles by 1 mm strains nothing: residuals were relative to forces that move the clamp alone.
        # Products of matrices that are kept strained it, too.
        for more in ([], ["--preconditioner", "jacobi", "--operator", "packed"],
                     ["--preconditioner", "jacobi", "--element-wise"], ["--preconditioner", "ldlt", "--operator", "bsr"]):
            still, moved = (self.solve({
                "mesh": {"generator": "cube", "cells": [3, 3, 3]}, "material": {"young": 2e11, "poisson": 0.3},
                "supports": [{"plane": "x=0", "displacement": 3 * [settlement]}],
                "loads": [{"plane": "x=1", "traction": [0, 0, 100]}]}, "--tolerance", 1e-7, *more)["results"]
                for settlement in (0, 1e-3))
            with self.subTest(more):
                self.close(moved["strain_energy"], still["strain_energy"], 1e-6)
                self.close(moved["reactions"][0]["force"][2], still["reactions"][0]["force"][2], 1e-5)
                self.close(moved["potential_energy"], still["potential_energy"] - 100 * 1e-3, 1e-6)

    def test_operators_agree(self):
        energies = []
        for operator in OPERATORS:
            run = self.run_pfem("distorted", "--cells", "2x2x2", "--order", 4, "--operator",
                                operator, "--tolerance", 1e-10)
            self.assertEqual(run["engine"]["operator"], operator)
            energies.append(run["results"]["strain_energy"])
        for more in (["--element-wise"], ["--preconditioner", "none"], ["--precision", "double"],
                     ["--form", "ai", "--operator", "packed"], ["--scaling", "paper"]):
            run = self.run_pfem("distorted", "--cells", "2x2x2", "--order", 4, "--tolerance", 1e-10,
                                *more)
            energies.append(run["results"]["strain_energy"])
        for energy in energies:
            self.close(energy, energies[0], 1e-9)


class Problems(PfemCase):
    def test_orders_and_materials_by_element(self):
        soft = {"box": [1, 0, 0, 2, 1, 1], "young": 4, "poisson": 0.25}
        run = self.solve(problem(order={"all": 2, "parts": [{"elements": [0], "order": 5}]},
                                 materials=[soft]))
        self.close(run["results"]["strain_energy"], 1 + 2, 0.02)
        orders = {part["order"]: part for part in run["problem"]["orders"]}
        self.assertEqual((orders[2]["elements"], orders[5]["elements"]), (1, 1))
        self.assertEqual(orders[5]["dofs_per_element"], 222)
        by_list = self.solve(problem(order=[5, 2], materials=[soft]))
        self.assertEqual(by_list["results"]["strain_energy"], run["results"]["strain_energy"])
        # The command line wins.
        self.assertEqual(len(self.solve(problem(order=[5, 2]), "--order", 1)["problem"]["orders"]),
                         1)

    def test_anisotropic(self):
        # Without ratios, each direction is a spring of its own.
        material = {"orthotropic": {"young": [2, 8, 8], "poisson": [0, 0, 0], "shear": [3, 3, 3]}}
        self.write("o.json", json.dumps(problem(material=material)))
        for option in "--young", "--poisson": # which made it isotropic, of 1 Pa
            self.fails(USAGE, option, "pfem", "o.json", option, "0.2")
        everywhere = {"box": [-9, -9, -9, 9, 9, 9], "young": 4, "poisson": 0.25}
        self.write("o.json", json.dumps(problem(materials=[everywhere])))
        self.fails(USAGE, "have all elements", "pfem", "o.json", "--young", "2")
        run = self.solve(problem(material=material))
        self.close(run["results"]["strain_energy"], 0.5 * 4 * 2 * 2, 1e-9)
        entries = [2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 3, 0, 3]
        same = self.solve(problem(material={"elasticity": entries}))
        self.close(same["results"]["strain_energy"], 8, 1e-9)

    def test_mesh_files(self):
        self.write("m.inp", abaqus())
        run = self.run_pfem("m.inp", "--order", 2)
        self.close(run["results"]["total_load"][0], 2, 1e-12)
        self.close(run["results"]["total_reaction"][0], -2, 1e-6)
        # A bar without contraction, in millimetres (so that E = 8e6) and with sets of the file.
        run = self.solve(problem(mesh={"file": "m.inp", "unit": 0.001}, material=None,
                                 supports=None, loads=[{"set": "RIGHT", "traction": [8, 0, 0]}],
                                 order={"parts": [{"set": "FIRST", "order": 1}], "all": 3}))
        self.close(run["results"]["max_displacement"]["value"], 2e-9, 1e-7)
        self.assertEqual(len(run["provenance"]["inputs"]), 2)
        self.write("m.vtk", vtk())
        run = self.solve(problem(mesh={"file": "m.vtk"}))
        self.close(run["results"]["strain_energy"], 2, 1e-9)

    def test_pressures_of_decks_are_integrated_at_every_order(self):
        """sigma = -4 in a bar of E = 8 and nu = 0, whose ends are those of a file: 1/2 sigma epsilon V = 2."""
        head = abaqus(load=False)
        faces = head + "*STEP\n*STATIC\n*DLOAD\n2, P4, 4.\n*END STEP\n"
        surface = head + "*SURFACE, NAME=END, TYPE=ELEMENT\n2, S4\n*STEP\n*STATIC\n*DSLOAD\nEND, P, 4.\n*END STEP\n"
        for deck in (faces, surface):
            self.write("m.inp", deck)
            for order in (1, 2, 5):
                for space in ("trunk", "tensor"):
                    run = self.run_pfem("m.inp", "--unit", 1, "--order", order, "--space", space)
                    self.close(run["results"]["strain_energy"], 2, 1e-7)
                    self.close(run["results"]["max_von_mises"]["value"], 4, 1e-5)
                    self.assertEqual([w["code"] for w in run["warnings"] if w["code"] != "odd-modulus"], [])
        self.write("m.inp", head + "*STEP\n*STATIC\n*DLOAD\n1, P4, 4.\n*END STEP\n")
        self.fails(BAD_FILE, "a pressure acts on a face within the body", "pfem", "m.inp", "--unit", "1")

    def beam_on_two_edges(self, supports, more=""):
        """A hexahedron of 4 x 1 x 0.5 m under a pressure on its top; LEFT and RIGHT are edges of its bottom."""
        beam = solid_decks.Mesh("C3D8", (1, 1, 1), (4, 1, 0.5))
        sets = "".join(f"*NSET, NSET={name}\n{a},\n{b},\n" for name, a, b in (("LEFT", 1, 3), ("RIGHT", 2, 4)))
        return beam.deck("1e9, 0.3").replace("*SOLID", sets + "*SOLID", 1) + more + supports + (
            "*STEP\n*STATIC\n*DLOAD\n1, P2, 1000.\n*END STEP\n")

    def test_rows_of_decks_are_not_united(self):
        """A beam on two edges, each of a row of its own: the face between them is free. Energy and displacement are by
        another program of the p-version; by beam theory the displacement is 3.2e-4 m."""
        energy, displacement = 0.430990243, 3.46545e-4
        sides = "*BOUNDARY\n1, 2\n*BOUNDARY\n2, 2\n"
        for supports in ("*BOUNDARY\nLEFT, 3, 3\nRIGHT, 3, 3\nLEFT, 1, 1\n" + sides,
                         "*BOUNDARY\nLEFT, 1\nLEFT, 3\n*BOUNDARY\nRIGHT, 3\n" + sides,
                         "*BOUNDARY\n1, 1\n1, 3\n3, 1\n3, 3\n*BOUNDARY\n2, 3\n4, 3\n" + sides):
            self.write("beam.inp", self.beam_on_two_edges(supports))
            run = self.run_pfem("beam.inp", "--order", 6, "--space", "tensor")
            self.close(run["results"]["strain_energy"], energy, 1e-5)
            self.close(run["results"]["max_displacement"]["value"], displacement, 1e-3)
            self.assertNotIn("point-supports", [w["code"] for w in run["warnings"]])
        self.write("mesh.inp", self.beam_on_two_edges(""))
        same = self.solve({"mesh": {"file": "mesh.inp"}, "order": 6, "space": "tensor", "supports": [
            {"set": "LEFT", "components": "xz"}, {"set": "RIGHT", "components": "z"},
            {"vertices": [0], "components": "y"}, {"vertices": [1], "components": "y"}]})
        self.close(run["results"]["strain_energy"], same["results"]["strain_energy"], 1e-9)
        self.assertEqual(run["problem"]["held_dofs"], same["problem"]["held_dofs"])

    def test_rows_of_decks_that_hold_a_face(self):
        """A set, nodes by number under one keyword, and a body that its reference node holds are the same."""
        self.write("mesh.inp", self.beam_on_two_edges(""))
        document = {"mesh": {"file": "mesh.inp"}, "order": 4, "supports": [{"plane": "x=0"}]}
        clamped = self.solve(document)
        nodes = solid_decks.Mesh("C3D8", (1, 1, 1), (4, 1, 0.5)).nodes_at(0, 0)
        by_number = "*BOUNDARY\n" + "".join(f"{n}, 1, 3\n" for n in nodes)
        rigid = "*NODE\n99, -1., 0., 0.\n*RIGID BODY, NSET=X0, REF NODE=99\n*BOUNDARY\n99, 1, 6\n"
        again = "*BOUNDARY\nLEFT, 1, 3\n*STEP\n*STATIC\n*BOUNDARY, OP=NEW\nX0, 1, 3\n"
        for supports in ("*BOUNDARY\nX0, 1\nX0, 2\nX0, 3\n", by_number, by_number.replace(", 1, 3", ", PINNED"),
                         rigid, again):
            deck = self.beam_on_two_edges(supports)
            self.write("beam.inp", deck.replace(again + "*STEP\n*STATIC\n", again))
            run = self.run_pfem("beam.inp", "--order", 4)
            self.assertEqual(run["problem"]["held_dofs"], clamped["problem"]["held_dofs"])
            self.close(run["results"]["strain_energy"], clamped["results"]["strain_energy"], 1e-9)
        # Two sides of which each row holds its own.
        self.write("beam.inp", self.beam_on_two_edges("*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n"))
        sides = self.solve({**document, "supports": [{"plane": f"{c}=0", "components": c} for c in "xyz"]})
        run = self.run_pfem("beam.inp", "--order", 4)
        self.close(run["results"]["strain_energy"], sides["results"]["strain_energy"], 1e-9)

    def test_rows_of_archives_are_not_united(self):
        edges = "".join(f"CMBLOCK,{name},NODE,       2\n(8i10)\n{ansys_archive.columns(10, nodes)}\n"
                        for name, nodes in (("LEFT", (1, 6)), ("RIGHT", (2, 7))))
        press = "".join(f"SFE,{e},6,PRES,0,1\n" for e in range(1, 5))
        whole = ansys_archive.archive(loads=press)
        first, last = whole.index("CMSEL,S,X0"), whole.index("ALLSEL")
        energy = {}
        for name, rows in (("sets", "D,LEFT,ALL\nD,RIGHT,UZ\n"), ("ranges", "D,1,ALL,0,,6,5\nD,2,UZ,0,,7,5\n"),
                           ("united", "".join(f"D,{n},UZ\n" for n in (1, 2, 6, 7)) + "D,LEFT,ALL\n")):
            self.write("bar.cdb", whole[:first] + edges + rows + whole[last:])
            run = self.run_pfem("bar.cdb", "--order", 4)
            energy[name] = run["results"]["strain_energy"]
        self.write("p.json", json.dumps({"mesh": {"file": "bar.cdb"}, "supports": [
            {"vertices": [0, 5]}, {"vertices": [1, 6], "components": "z"}]}))
        self.write("plain.cdb", whole[:first] + whole[last:])
        same = self.run_pfem("p.json", "--order", 4)["results"]["strain_energy"]
        self.close(energy["sets"], same, 1e-9)
        self.close(energy["ranges"], same, 1e-9)
        self.assertLess(energy["united"], 0.999 * same)

    def test_options_keep_what_else_the_deck_says_of_its_material(self):
        """A bar that is held across: energy 1/2 sigma^2 V / M with M = E (1 - nu) / (1 + nu) / (1 - 2 nu)."""
        bar = solid_decks.Mesh("C3D8", (2, 1, 1), (2, 1, 1))
        sides = "".join(f"{n}, {d + 1}\n" for d in (1, 2) for n in bar.nodes_at(d, 1))
        faces = "".join(f"{e}, P{f}, -2.\n" for e, f in bar.faces_at(0, 2))
        self.write("bar.inp", bar.deck("8., 0.25", "X0, 1\nY0, 2\nZ0, 3\n" + sides, "*DLOAD\n" + faces))
        for young, poisson, arguments in ((8, 0.25, []), (8, 0.25, ["--young", 8]), (4, 0.25, ["--young", 4]),
                                          (8, 0, ["--poisson", 0]), (2, 0.4, ["--young", 2, "--poisson", 0.4])):
            run = self.run_pfem("bar.inp", "--order", 3, *arguments)
            self.assertEqual(run["problem"]["material"], {"young": young, "poisson": poisson})
            modulus = young * (1 - poisson) / (1 + poisson) / (1 - 2 * poisson)
            self.close(run["results"]["strain_energy"], 0.5 * 4 * 2 / modulus, 1e-9)
        soft = {"elements": [1], "young": 4, "poisson": 0.25}
        run = self.solve({"mesh": {"file": "bar.inp"}, "materials": [soft]}, "--young", 16)
        self.close(run["results"]["strain_energy"], 0.5 * 4 * (1 / 19.2 + 1 / 4.8), 1e-9)
        self.assertEqual(run["problem"]["materials"], [{"young": 16, "poisson": 0.25, "elements": 1},
                                                       {"young": 4, "poisson": 0.25, "elements": 1}])

    def test_forces_on_vertices_are_doubted(self):
        self.write("m.inp", abaqus())
        for order, doubts in ((1, 0), (2, 1)):
            run = self.run_pfem("m.inp", "--unit", 1, "--order", order)
            self.assertEqual(sum(w["code"] == "point-forces" for w in run["warnings"]), doubts)
        run = self.solve(problem(loads=[{"vertices": [1], "force": [1, 0, 0]}]))
        self.assertIn("point-forces", [w["code"] for w in run["warnings"]])

    def test_a_box_that_ends_between_vertices(self):
        """Its faces count whole: of a pressure, too, and of elements as large as those of high order are."""
        for load, force in (({"traction": [0, 0, -3]}, -3), ({"pressure": 3}, -3)):
            for end, area, doubts in ((2, 2, 0), (3, 2, 0), (1.3, 1, 0), (1.7, 1, 1)):
                run = self.solve(problem(loads=[{"box": [0, 0, 1, end, 1, 1], **load}], supports=[{"plane": "z=0"}]))
                self.close(run["results"]["total_load"][2], force * area, 1e-9)
                loaded, = run["problem"]["loaded_boxes"]
                self.assertEqual(loaded["place"], "loads[0]")
                self.close(loaded["area"], area, 1e-9)
                self.close(loaded["area_in_box"], min(end, 2), 1e-9)
                lost = [w["text"] for w in run["warnings"] if w["code"] == "lost-load"]
                self.assertEqual(len(lost), doubts)
        self.assertIn("loads[0]: 1 m2 of whole faces, of 1.7 m2 in the box, are loaded", lost[0])

    def test_reactions_of_supports_that_share_edges(self):
        run = self.solve(problem(loads=[{"plane": "x=2", "traction": [1, 2, -1]}], supports=[
            {"plane": "x=0"}, {"plane": "z=0", "components": "z"}, {"plane": "y=0", "components": "y"}]))
        forces = [reaction["force"] for reaction in run["results"]["reactions"]]
        for c, load in enumerate((1, 2, -1)):
            self.close(sum(force[c] for force in forces), -load, 1e-7)
            self.close(run["results"]["total_reaction"][c], -load, 1e-7)

    def test_places_far_from_the_origin(self):
        """Bodies in the coordinates of a map, in m: what is chosen on a side is not what lies a metre behind it."""
        energy = []
        for at in ((0, 0, 0), (5e5, 5e6, 100)):
            self.write("m.vtk", vtk(points=[[x + d for x, d in zip(p, at)] for p in POINTS]))
            x, y, z = at
            run = self.solve(problem(mesh={"file": "m.vtk"}, supports=[{"box": [x, y, z, x, y + 1, z + 1]}], loads=[
                {"box": [x + 2, y, z, x + 2, y + 1, z + 1], "traction": [4, 0, 1]}]))
            energy.append(run["results"]["strain_energy"])
            self.assertEqual([round(f, 6) for f in run["results"]["total_load"]], [4, 0, 1])
        self.close(energy[1], energy[0], 1e-6)

    def test_edges_are_held_as_a_whole(self):
        """Order 2 is that of C3D20, whose nodes of the edges are held: `topopt` solves the solid body."""
        beam = solid_decks.Mesh("C3D20", (4, 2, 2), (4, 2, 2))
        held = "".join(f"{n + 1}, {first}, 3\n" for n, p in enumerate(beam.point) for place, first in ((0, 1), (4, 2))
                       if p[0] == place and p[2] == 0)
        faces = "".join(f"{e}, P{f}, 1000000.\n" for e, f in beam.faces_at(2, 2))
        self.write("beam.inp", beam.deck("2e11, 0.3", "*BOUNDARY\n" + held, "*DLOAD\n" + faces))
        solid = self.ossatura("topopt", "beam.inp", "--steps", "1", "--start", "0.9999999", "--volume", "0.9999999",
                              "--filter", "none", "--tolerance", "1e-10", "--step-tolerance", "1e-10", "--json", "t.json")
        self.assertIn(solid.returncode, (0, NOT_CONVERGED))
        with open(self.path("t.json"), encoding="utf-8") as file:
            compliance = json.load(file)["results"]["steps"]["objective"][0]
        ends = [{"box": [0, 0, 0, 0, 2, 0]}, {"box": [4, 0, 0, 4, 2, 0], "components": "yz"}]
        bent = {"mesh": {"generator": "cube", "cells": [4, 2, 2], "size": [4, 2, 2]}, "material": {"young": 2e11, "poisson": 0.3},
                "loads": [{"plane": "z=2", "traction": [0, 0, -1e6]}]}
        energy = {}
        for order in (1, 2, 4, 6):
            run = self.solve(problem(**bent, order=order, supports=ends))
            energy[order] = 2 * run["results"]["strain_energy"]
            self.assertNotIn("point-supports", [w["code"] for w in run["warnings"]])
        self.close(energy[2], compliance, 1e-5)
        self.assertLess(energy[6], 1.2 * energy[4])
        for order, doubts in ((1, []), (3, ["point-supports"])):
            run = self.solve(problem(**bent, order=order, supports=[{"box": [0, y, 0, 0, y, 0]} for y in (0, 2)] + [ends[1]]))
            self.assertEqual(sorted({w["code"] for w in run["warnings"]}), doubts)
        # Points that keep a body from moving take nothing.
        run = self.solve(problem(mesh={"generator": "cube", "cells": [4, 2, 2], "size": [4, 2, 2]}, loads=[
            {"plane": "x=4", "traction": [4, 0, 0]}, {"plane": "x=0", "traction": [-4, 0, 0]}], supports=[
                {"box": [0, 0, 0, 0, 0, 0]}, {"box": [4, 0, 0, 4, 0, 0], "components": "yz"}, {"box": [0, 2, 0, 0, 2, 0], "components": "z"}]))
        self.close(run["results"]["strain_energy"], 0.5 * 16 / 8 * 16, 1e-7)
        self.assertEqual(run["warnings"], [])

    def test_groups_of_surfaces_have_their_own_faces(self):
        """Sides of a plate of one element have all of their vertices on its top and bottom."""
        document = problem(mesh={"file": self.write("plate.msh", solid_decks.plate_of_one_element())}, order=2,
                           supports=[{"vertices": [0]}, {"vertices": [4], "components": "yz"},
                                     {"vertices": [20], "components": "z"}])
        energy = {}
        for sets in (("TOP", "BOT"), ("TOPBOT",)):
            document["loads"] = [{"set": name, "pressure": 0.1} for name in sets]
            energy[sets] = self.solve(document)["results"]["strain_energy"]
            document["loads"] = [{"set": name, "traction": [0, 0, 0.1]} for name in sets]
            force = self.solve(document)["results"]["total_reaction"]
            self.assertAlmostEqual(force[2], -3.2, places=9)
        self.assertAlmostEqual(energy["TOPBOT",], energy["TOP", "BOT"], places=12)
        document["supports"] = [{"set": "TOPBOT", "components": "z"}, {"vertices": [0], "components": "xy"},
                                {"vertices": [4], "components": "y"}]
        document["loads"] = [{"plane": "x=4", "traction": [1, 0, 0]}]
        held = self.solve(document)["problem"]["held_dofs"]
        # 2 x 25 vertices, 2 x 40 edges and the points of the other supports
        self.assertEqual(held, 50 + 80 + 3)

    def test_faces_of_a_group_that_lie_within_the_body(self):
        """Of a pressure on both sides of a volume inside, the faces between volumes had nothing, with exit 0."""
        quads = [(1, (0, 3, 9, 6)), (2, (2, 5, 11, 8)), (3, (1, 4, 10, 7)), (3, (2, 5, 11, 8))]
        rows = [f"3 2 {group} {group} " + " ".join(str(n + 1) for n in nodes) for group, nodes in quads]
        rows += ["5 2 9 9 " + " ".join(str(n + 1) for n in nodes) for nodes in ELEMENTS]
        self.write("two.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n2 1 \"LEFT\"\n2 2 \"RIGHT\"\n2 3 \"BOTH\"\n"
                   f"3 9 \"BODY\"\n$EndPhysicalNames\n$Nodes\n{len(POINTS)}\n" +
                   "".join(f"{n + 1} {x} {y} {z}\n" for n, (x, y, z) in enumerate(POINTS)) +
                   f"$EndNodes\n$Elements\n{len(rows)}\n" + "".join(f"{n + 1} {row}\n" for n, row in enumerate(rows)) + "$EndElements\n")
        document = problem(mesh={"file": "two.msh"}, supports=[{"set": "LEFT"}], loads=[{"set": "RIGHT", "traction": [4, 0, 0]}])
        self.close(self.solve(document)["results"]["total_load"][0], 4, 1e-12)
        message = "loads[0]: of the 2 faces of the set 'BOTH' 1 lie within the body, or are of no element"
        document["loads"] = [{"set": "BOTH", "traction": [4, 0, 0]}]
        self.refuses(message, document)
        design = {key: document[key] for key in ("mesh", "material", "supports")}
        self.write("d.json", json.dumps({**design, "cases": [{"name": "pull", "loads": document["loads"]}], "volume_fraction": 0.5}))
        self.fails(BAD_FILE, message, "topopt", "d.json", "-q", "--steps", "1")

    def test_groups_of_curves_have_their_own_edges(self):
        """Energies by another program of the p-version, with the nodes of the four edges held; with the face between
        them held, too, the plate is ten times as stiff."""
        for second_order in (False, True):
            document = problem(mesh={"file": self.write("rim.msh", solid_decks.plate_on_its_rim(second_order))},
                               space="tensor", material={"young": 1e9, "poisson": 0.3}, supports=[{"set": "RIM"}],
                               loads=[{"set": "TOP", "pressure": 1e3}])
            for order, energy, held in ((4, 9.41562256e-4, 48), (6, 1.078720042e-3, 72)):
                run = self.solve({**document, "order": order})
                self.close(run["results"]["strain_energy"], energy, 1e-6)
                self.assertEqual(run["problem"]["held_dofs"], held)
                self.assertEqual(run["warnings"], [])
            # Points have neither edges nor faces.
            run = self.solve({**document, "supports": [{"set": "CORNERS"}]})
            self.assertEqual(run["problem"]["held_dofs"], 12)
            self.assertEqual([w["code"] for w in run["warnings"]], ["point-supports"])
            for name in ("RIM", "CORNERS"):
                for load in ({"pressure": 1e3}, {"traction": [0, 0, -1e3]}):
                    self.refuses(f"loads[0]: the set '{name}' is a group of curves or points, which has no faces: "
                                 "take a group of surfaces", {**document, "loads": [{"set": name, **load}]})
            run = self.solve({**document, "supports": [{"set": "TOP"}],
                              "loads": [{"set": "RIM", "force": [0, 0, -250]}]})
            self.close(run["results"]["total_load"][2], -1000, 1e-12)

    def test_flat_elements_have_their_own_faces(self):
        """Those of a deck, as Gmsh writes its groups; trusses are its curves."""
        plate = solid_decks.Mesh("C3D8", (1, 1, 1), (1, 1, 0.2))
        rim = "*ELEMENT, TYPE=T3D2, ELSET=RIM\n901, 1, 2\n902, 2, 4\n903, 4, 3\n904, 3, 1\n"
        deck = self.write("plate.inp", plate.deck("1e9, 0.3") + rim + plate.flats(2, (0, 0.2), "SKIN") + plate.flats(
            2, (0.2,), "TOP").replace("1000", "2000"))
        document = problem(mesh={"file": deck}, space="tensor", order=4, material=None, supports=[{"set": "RIM"}],
                           loads=[{"set": "TOP", "pressure": 1e3}])
        self.close(self.solve(document)["results"]["strain_energy"], 9.41562256e-4, 1e-6)
        self.refuses("the set 'RIM' is a group of curves", {**document, "loads": [{"set": "RIM", "pressure": 1}]})
        document["supports"] = [{"plane": "x=0"}]
        document["loads"] = [{"set": "SKIN", "traction": [0, 0, 1e3]}]
        self.close(self.solve(document)["results"]["total_load"][2], 2e3, 1e-12)

    def test_volumes_that_were_meshed_one_by_one(self):
        # Both cubes are held, and have nodes of their own between them.
        apart = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)]
        apart += [(x + 1, y, z) for x, y, z in apart]
        document = problem(mesh={"file": "box.vtk"}, supports=[{"plane": "x=0"}, {"plane": "x=2"}],
                           loads=[{"body_force": [0, 0, -1]}])
        energy = {}
        for name, points, elements in (("joined", POINTS, ELEMENTS),
                                       ("split", apart, [[0, 1, 3, 2, 4, 5, 7, 6], [8, 9, 11, 10, 12, 13, 15, 14]])):
            self.write("box.vtk", vtk(points, elements))
            run = self.solve(document)
            self.assertEqual([one["code"] for one in run["warnings"]], ["split-mesh"] if name == "split" else [])
            energy[name] = run["results"]["strain_energy"]
        self.assertIn("4 nodes lie in the place of another one, without being it, the first at (1, 0, 0) m",
                      run["warnings"][0]["text"])
        self.assertGreater(energy["split"], 1.2 * energy["joined"])

    def test_tops_that_are_turned_against_bottoms(self):
        """Their Jacobian is positive at corners and Gauss points; such runs ended with exit 0."""
        for by in (1, 2, 3):
            numbers = [4 + (k + by) % 4 for k in range(4)]
            elements = [ELEMENTS[0], ELEMENTS[1][:4] + [ELEMENTS[1][k] for k in numbers]]
            self.write("box.vtk", vtk(elements=elements))
            place = "box.vtk: line 20: cell 1: the top of the hexahedron is turned against its bottom: its node "
            self.refuses(f"{place}{9 - by} lies over its node 1, and its node 5 is to do so",
                         problem(mesh={"file": "box.vtk"}, loads=[{"body_force": [0, 0, -1]}]))
            self.write("part.json", json.dumps({
                "mesh": {"file": "box.vtk"}, "material": {"young": 8, "poisson": 0.25}, "volume_fraction": 0.5,
                "supports": [{"box": [0, 0, 0, 0, 1, 1]}],
                "cases": [{"name": "pull", "loads": [{"box": [2, 0, 0, 2, 1, 1], "total_force": [1, 0, 0]}]}]}))
            self.fails(BAD_FILE, place, "topopt", "part.json", "-q")
            self.write("drop.json", json.dumps({"objects": [{"name": "box", "mesh": {"file": "box.vtk"}, "material": {
                "law": "corotational", "young": 1e4, "poisson": 0.3}}], "steps": 1, "time_step": 0.01}))
            self.fails(BAD_FILE, place, "softbody", "drop.json", "-q")
        # A column that is twisted by sixty degrees in one element is what it is.
        c, s = math.cos(math.pi / 3), math.sin(math.pi / 3)
        square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        twisted = [(x, y, 0) for x, y in square] + [(c * x - s * y, s * x + c * y, 1) for x, y in square]
        self.write("box.vtk", vtk(twisted, [list(range(8))]))
        self.solve(problem(mesh={"file": "box.vtk"}, supports=[{"plane": "z=0"}], loads=[{"body_force": [0, 0, -1]}]))

    def test_nodes_that_hang(self):
        # A cube beside eight, as adaptive meshes are: nodes in the middle of its edges are not its own.
        points, elements = list(POINTS), [ELEMENTS[0]]
        for x, y, z in ((1 + i / 2, j / 2, k / 2) for k in (0, 1) for j in (0, 1) for i in (0, 1)):
            corners = [(x + i / 2, y + j / 2, z + k / 2) for k in (0, 1) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
            points += [corner for corner in corners if corner not in points]
            elements.append([points.index(corner) for corner in corners])
        self.write("box.vtk", vtk(points, elements))
        run = self.solve(problem(mesh={"file": "box.vtk"}))
        self.assertEqual([one["code"] for one in run["warnings"]], ["split-mesh"])
        self.assertIn("4 nodes lie on edges of elements that do not have them (hanging nodes), the first at (1, 0.5, 0) m",
                      run["warnings"][0]["text"])
        self.write("part.json", json.dumps({
            "mesh": {"file": "box.vtk"}, "material": {"young": 8, "poisson": 0.25}, "supports": [{"box": [0, 0, 0, 0, 1, 1]}],
            "cases": [{"name": "pull", "loads": [{"box": [2, 0, 0, 2, 1, 1], "traction": [1, 0, 0]}]}], "volume_fraction": 0.5}))
        run = self.summary("topopt", "part.json", "-q", "--steps", "1", "--no-stl")
        self.assertIn("split-mesh", [one["code"] for one in run["warnings"]])

    def hinged(self, lows, force, order=3, **more):
        """Blocks of 2 x 2 x 2 cubes from these corners on, held where x is 0; traction on the one that is last."""
        self.number = number = {}
        cells = []
        for low in lows:
            for i, j, k in ((i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1)):
                corners = [(i, j, k), (i + 1, j, k), (i + 1, j + 1, k), (i, j + 1, k)]
                cells.append([number.setdefault((low[0] + x, low[1] + y, low[2] + z + up), len(number))
                              for up in (0, 1) for x, y, z in corners])
        self.write("box.vtk", vtk(list(number), cells))
        x, y, z = lows[-1]
        return {"mesh": {"file": "box.vtk", "unit": 1}, "material": {"young": 1e9, "poisson": 0.3}, "order": order,
                "supports": [{"plane": "x=0"}], "loads": [{"box": [x + 2, y, z, x + 2, y + 2, z + 2], "traction": force}], **more}

    def test_parts_that_turn_about_an_edge(self):
        """A hinge: loads that turn it are refused, others are solved."""
        def refused(place, *arguments):
            document = self.hinged(*arguments)
            self.refuses(f"p.json: what the loads push can turn about vertex {self.number[place]} at {'%d, %d, %d' % place}, where "
                         "elements touch others along an edge or in a corner alone, which is a hinge: join them by faces, or hold more "
                         "vertices", document)

        edge, corner = ((0, 0, 0), (2, 2, 0)), ((0, 0, 0), (2, 2, 2))
        for order in (1, 2, 4):
            for force in ([1, -1, 0], [1, 1, 0]):
                refused((2, 2, 0), edge, force, order)
            refused((2, 2, 2), corner, [0, 0, -1], order)
        # A force along the edge turns nothing, and a support on that side holds all.
        along = self.solve(self.hinged(edge, [0, 0, 2]))["results"]["reactions"]
        self.close(along[0]["force"][2], -8, 1e-6)
        self.solve(self.hinged(edge, [1, -1, 0], supports=[{"box": [0, 0, 0, 0, 2, 2]}, {"box": [4, 4, 0, 4, 4, 2]}]))
        # A third block closes the ring.
        self.solve(self.hinged(((0, 0, 0), (0, 2, 0), (2, 2, 0)), [1, -1, 0]))
        # The block beyond the hinge is not loaded.
        self.solve({**self.hinged(corner, None), "loads": [{"box": [0, 0, 2, 1, 2, 2], "traction": [1, 0, 0]}]})

    def test_displacements_that_strain_nothing(self):
        """They gave stresses of rounding, and exit 0."""
        message = "p.json: the displacements of supports move the body as a rigid body, which strains nothing: hold some of them in place"
        self.refuses(message, problem(loads=[], supports=[{"plane": "x=0", "displacement": [1e-3, 0, 0]}]))
        # A turn by 1e-3 about z, of the ends of a bar.
        turned = [{"vertices": [n], "displacement": [-1e-3 * y, 1e-3 * x, 0]} for n, (x, y, z) in enumerate(POINTS)]
        self.write("box.vtk", vtk())
        bar = {"mesh": {"file": "box.vtk", "unit": 1}, "loads": []}
        self.refuses(message, problem(**bar, supports=turned[:6]))
        bent = [*turned[:5], {"vertices": [5], "displacement": [-1e-3, 2.1e-3, 0]}]
        self.assertGreater(self.solve(problem(**bar, supports=bent))["results"]["strain_energy"], 1e-10)
        # Supports that give way under a load.
        self.solve(problem(supports=[{"plane": "x=0", "displacement": [1e-3, 0, 0]}]))

    def test_parts_that_a_bent_edge_joins(self):
        """Cubes along a diagonal of the plane x, y whose common edge is a line, and one that bulges, which is no hinge."""
        def gmsh_of(rise):
            cubes = []
            for low in ((0, 0, 0), (1, 1, 0)):
                corner = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
                corner = [tuple(low[d] + at[d] for d in range(3)) for at in corner]
                middles = [tuple((corner[a][d] + corner[b][d]) / 2 for d in range(3)) for a, b in (
                    (0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7))]
                cubes.append(corner + [(1 + rise, 1 - rise, 0.5) if at == (1, 1, 0.5) else at for at in middles])
            number = {}
            nodes = [[number.setdefault(at, len(number) + 1) for at in cube] for cube in cubes]
            return ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + f"{len(number)}\n" + "".join(
                f"{n} {x} {y} {z}\n" for (x, y, z), n in number.items()) + "$EndNodes\n$Elements\n2\n" + "".join(
                f"{e + 1} 17 2 0 1 " + " ".join(map(str, cube)) + "\n" for e, cube in enumerate(nodes)) + "$EndElements\n")

        document = {"mesh": {"file": "c.msh", "unit": 1}, "material": {"young": 1e9, "poisson": 0.3}, "order": 3,
                    "supports": [{"plane": "x=0"}], "loads": [{"plane": "x=2", "traction": [1, -1, 0]}]}
        self.write("c.msh", gmsh_of(0))
        self.refuses("what the loads push can turn about vertex", document)
        self.write("c.msh", gmsh_of(0.1))
        self.solve(document)

    def test_round_surfaces_in_coordinates_of_six_digits(self):
        """Some vertices are nearer to the radius than others, and faces between those alone were a tenth of the surface."""
        radius, around = 15.2, 16
        places = [(r * math.cos(0.5 * math.pi * j / around), r * math.sin(0.5 * math.pi * j / around), 10.0 * k)
                  for k in range(2) for j in range(around + 1) for r in (0.5 * radius, radius)]
        points = [tuple(float("%.6g" % x) for x in place) for place in places]
        cells = [[2 * j, 2 * j + 1, 2 * j + 3, 2 * j + 2] for j in range(around)]
        cells = [cell + [v + 2 * (around + 1) for v in cell] for cell in cells]
        self.write("ring.vtk", vtk(points, cells))
        for unit in (1, 0.001):
            run = self.solve(problem(mesh={"file": "ring.vtk", "unit": unit}, order=1, supports=[{"plane": "y=0"}],
                                     loads=[{"cylinder": radius * unit, "pressure": 1}]))
            resultant = radius * 10 * unit**2  # of each plane between the ends
            for force, expected in zip(run["results"]["total_load"], (-resultant, -resultant, 0)):
                self.close(force, expected, 1e-5, scale=resultant)
        # What lies a twentieth of an edge beside it is no part of it.
        self.refuses("no vertex is at the distance 15.1 m from the z axis", problem(
            mesh={"file": "ring.vtk"}, order=1, supports=[{"plane": "y=0"}], loads=[{"cylinder": 15.1, "pressure": 1}]))

    def test_second_order_mesh(self):
        self.write("m.msh", gmsh())
        cube = problem(mesh={"file": "m.msh"}, loads=[{"plane": "x=1", "traction": [4, 0, 0]}])
        run = self.solve(cube)
        self.assertEqual(run["problem"]["geometry"], "curved")
        self.assertEqual(run["problem"]["vertices"], 8)
        self.close(run["results"]["strain_energy"], 1, 1e-9)
        cube["loads"] = [{"vertices": [1], "force": [1, 0, 0]}]
        self.refuses("m.msh has nodes that are no vertices", cube)
        abaqus = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 10, 17, 19, 20, 18, 11, 13, 15, 16]  # and VTK: bottom, top, between
        self.write("m.msh", gmsh().replace(" ".join(map(str, range(1, 21))), " ".join(map(str, abaqus))))
        self.refuses("element 1: the second-order hexahedron is inside out in part, though its vertices alone are not: its "
                     "middle nodes are in the order of another program", cube)

    def test_other_elements_of_vtk(self):
        """What is said of them is right for who reads them."""
        points = [line.split()[1:] for line in gmsh().splitlines()[5:25]]
        tetra = vtk(points[:8], [[0, 1, 3, 4]], 10)
        pull = {"material": {"young": 8, "poisson": 0.25}, "volume_fraction": 0.5, "supports": [{"box": [0, 0, 0, 0, 1, 1]}],
                "cases": [{"name": "pull", "loads": [{"box": [1, 0, 0, 1, 1, 1], "total_force": [1, 0, 0]}]}]}
        for name, text, what in (("q.vtk", vtk(points, [list(range(20))], 25), "q.vtk: line 27: cell 0 is of type 25, quadratic hexahedron: "),
                                 ("t.vtk", tetra, "t.vtk: its elements are of shape tetra: ")):
            self.write(name, text)
            self.refuses(what + "hexahedra of eight nodes are read from files of VTK; mesh with these, or with hexahedra of 20 or 27 "
                         "nodes in Gmsh's format (.msh)", problem(mesh={"file": name}))
            self.write("part.json", json.dumps({"mesh": {"file": name}, **pull}))
            self.fails(BAD_FILE, what + "hexahedra of eight nodes are read from files of VTK; other shapes and those of second order from "
                       "decks of Abaqus and CalculiX (.inp)", "topopt", "part.json", "-q")
        self.write("drop.json", json.dumps({"objects": [{"name": "box", "mesh": {"file": "q.vtk"}, "material": {
            "law": "corotational", "young": 1e4, "poisson": 0.3}}], "steps": 1, "time_step": 0.01}))
        self.fails(BAD_FILE, "quadratic hexahedron: of volume elements, tetrahedra and hexahedra of first order are solved; mesh with "
                   "these", "softbody", "drop.json", "-q")

    def test_examples(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples",
                              "pfem")
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
        self.assertIn("laminate.json", names)
        for name in names:
            plan = self.run_pfem(os.path.join(folder, name), "--dry-run")
            self.assertGreater(plan["results"]["blocks"], 0)


class Results(PfemCase):
    def test_files(self):
        process = self.ossatura("pfem", "cube", "--cells", "2x1x1", "--order", "2", "-o", "out",
                              "--history", "h.csv", "--samples", "3", "--backend", "serial")
        self.assertIn("strain energy", process.stdout)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["cube.hdf", "cube.summary.json", "h.csv"])
        summary = json.loads(self.read("out/cube.summary.json"))
        self.assertEqual(summary["schema"], "ossatura/pfem/1")
        self.assertEqual(summary["status"], "converged")
        self.assertEqual(summary["results"]["samples"], 2 * 4 ** 3)
        regions = {region["name"].split("::")[-1]: region for region in summary["timings"]["regions"]}
        for name in ("read", "setup", "solve", "sample", "write"):  # ended, not open still
            self.assertEqual(regions[name]["calls"], 1, name)
            self.assertGreater(regions[name]["seconds"], 0, name)
        with open(self.path("out/h.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), summary["iterations"] + 1)
        with open(self.path("out/cube.hdf"), "rb") as file:
            self.assertEqual(file.read(4), b"\x89HDF")

    def test_prediction(self):
        arguments = ("distorted", "--cells", "3x2x2", "--order", "4")
        plan = self.run_pfem(*arguments, "--dry-run")["results"]["operator_bytes"]
        for operator in ("packed", "bsr"):
            run = self.run_pfem(*arguments, "--operator", operator)
            self.close(plan[operator], run["engine"]["operator_bytes"], 0.05)
            whole = self.run_pfem(*arguments, "--operator", operator, "--dry-run")["results"]
            self.close(whole["predicted_device_bytes"], run["memory"]["kokkos_peak_bytes"], 0.25)

    def test_stars_that_take_long_are_announced(self):
        # Of order 8 in the tensor space they have 10 000 rows, and seemed to hang.
        for order, space, long in ((8, "tensor", True), (8, "trunk", False), (3, "tensor", False)):
            process = self.ossatura("pfem", "cube", "--cells", "4x2x2", "--order", str(order), "--space", space, "--dry-run",
                                    "--threads", "1")
            self.assertEqual("vertex stars: their inverses take about" in process.stderr, long, process.stderr)
        process = self.ossatura("pfem", "cube", "--cells", "4x2x2", "--order", "8", "--space", "tensor", "--dry-run",
                                "--preconditioner", "jacobi")
        self.assertNotIn("their inverses", process.stderr)

    def test_not_converged(self):
        run = self.run_pfem("cube", "--order", 3, "--max-iterations", 2, code=NOT_CONVERGED)
        self.assertEqual(run["status"], "not converged")
        self.assertGreater(run["residual"]["true"], 1e-8)

    # The remedy is none that is in use already.
    def test_remedies_of_what_did_not_converge(self):
        def text(*arguments):
            run = self.run_pfem("cube", "--order", "3", *arguments, code=NOT_CONVERGED)
            return [w["text"] for w in run["warnings"] if w["code"] == "not-converged"][0]
        self.assertTrue(text("--max-iterations", "2").endswith("Raise --max-iterations or --tolerance"))
        self.assertIn("or choose --preconditioner vertex-stars", text(
            "--max-iterations", "2", "--preconditioner", "jacobi"))
        long = text("--cells", "1x1x1", "--size", "100x1x1", "--tolerance", "1e-14")
        self.assertIn("elements are 100 times as long as wide", long)
        self.assertNotIn("max-iterations", long)
        remedy = long.split("give --tolerance ")[1].split(",")[0]
        self.run_pfem("cube", "--order", "3", "--cells", "1x1x1", "--size", "100x1x1", "--tolerance", remedy)
        self.assertNotIn("as long as wide", text("--tolerance", "1e-19"))

    def test_table3(self):
        for backend in driver_case.backends():
            run = self.summary("pfem", "table3", "--elements", 3, "--max-order", 2, "-q",
                               "--backend", backend)
            self.assertEqual(run["schema"], "ossatura/pfem-table3/1")
            rows = run["results"]["rows"]
            self.assertEqual([row["dofs_per_element"] for row in rows], [24, 60])
            self.assertEqual([row["quadrature_points"] for row in rows], [8, 8])
            for row in rows:
                for method in ("ai", "aii", "sum-fact"):
                    self.assertLess(row["methods"][method]["largest_relative_difference"], 1e-12)
                    self.assertGreater(row["methods"][method]["seconds"], 0)
        # More than a row of a box has, as in the paper.
        self.summary("pfem", "table3", "--elements", 10001, "--max-order", 1, "-q")

    def test_help_and_configuration(self):
        text = self.ossatura("pfem", "--help").stdout
        for part in ("Elements", "--operator auto|packed", "Examples:", "table3"):
            self.assertIn(part, text)
        arguments = ("distorted", "--cells", "3x2x2", "--order", "5", "--operator", "packed",
                     "--shear", "0.1,0,0", "--element-wise")
        self.write("c.toml", self.ossatura("pfem", *arguments, "--print-config").stdout)
        again = self.ossatura("pfem", "--config", "c.toml", "--print-config").stdout
        self.assertEqual(self.read("c.toml"), again)


class BadInput(PfemCase):
    def test_problems(self):
        self.refuses("unknown key \"materal\"", problem(materal={}))
        self.refuses("did you mean 'trunk'?", problem(space="trnk"))
        self.refuses("order: 11: expected an order, 1 to 10", problem(order=11))
        self.refuses("1 orders, but the mesh has 2 elements", problem(order=[3]))
        self.refuses("there are no supports", problem(supports=[]))
        self.refuses("hold 4 of its 6", problem(supports=[{"plane": "x=0", "components": "x"},
                                                          {"vertices": [0], "components": "y"}]))
        self.refuses("there are no loads", problem(loads=[]))
        self.refuses("no vertex is on the plane x = 3", problem(loads=[
            {"plane": "x=3", "pressure": 1}]))
        self.refuses("\"x3\": expected a plane", problem(loads=[{"plane": "x3", "pressure": 1}]))
        self.refuses("none of the faces of the boundary", problem(loads=[
            {"vertices": [0, 1], "pressure": 1}]))
        self.refuses("not positive definite", problem(material={"elasticity": [-1] * 21}))
        self.refuses("moved by 0.5 m along x here, and by 0 m", problem(supports=[
            {"plane": "x=0"}, {"box": [0, 0, 0, 0, 1, 0], "displacement": [0.5, 0, 0]}]))
        self.refuses("\"distort\" has no effect on the generator sphere", problem(
            mesh={"generator": "sphere", "distort": 0.1}))
        self.write("p.json", "{")
        self.fails(BAD_FILE, "p.json", "pfem", "p.json", "--backend", "serial")

    def test_meshes(self):
        self.write("m.vtk", vtk())
        self.refuses("the material is missing", problem(mesh={"file": "m.vtk"}, material=None))
        part = {"elements": [0], "young": 1, "poisson": 0}
        self.refuses("element 1 and 0 others have no material", problem(
            mesh={"file": "m.vtk"}, material=None, materials=[part]))
        self.refuses("the mesh has no node set 'LEFT'", problem(
            mesh={"file": "m.vtk"}, supports=[{"set": "LEFT"}]))
        self.write("m.inp", abaqus())
        self.refuses("did you mean 'RIGHT'?", problem(
            mesh={"file": "m.inp"}, loads=[{"set": "RIHGT", "pressure": 1}]))
        # A corner pushed through the element.
        points = list(POINTS)
        points[11] = (1.2, 0.1, 0.1)
        self.write("folded.vtk", vtk(points))
        self.refuses("cell 1: the hexahedron", problem(mesh={"file": "folded.vtk"}, loads=[
            {"body_force": [0, 0, 1]}]))
        # The middle of the box upon one of its neighbours; at its middle nodes only.
        points = list(POINTS)
        points[11] = points[8]
        self.write("upon.vtk", vtk(points))
        self.refuses("cell 1: the hexahedron", problem(mesh={"file": "upon.vtk"}, order=1, loads=[
            {"body_force": [0, 0, 1]}]))
        self.write("wedges.vtk", vtk(elements=[[0, 1, 3, 6, 7, 9]], kind=13))
        self.refuses("wedge", problem(mesh={"file": "wedges.vtk"}))
        self.fails(BAD_FILE, "no such file", "pfem", "none.msh", "--backend", "serial")

    def test_results_that_are_not_finite(self):
        # An element of quarter points, as at the tip of a crack: stresses are infinite there.
        text = gmsh().replace("9 0.5 0.0 0.0", "9 0.25 0.0 0.0")
        text = text.replace("9 0.5 0 0", "9 0.25 0 0")
        self.write("tip.msh", text)
        document = problem(mesh={"file": "tip.msh"}, order=2, loads=[
            {"plane": "x=1", "traction": [1, 0, 0]}])
        run = self.solve(document, code=NOT_CONVERGED)
        self.assertEqual(run["status"], "not finite")
        self.assertEqual([w["code"] for w in run["warnings"]], ["not-finite"])
        self.assertIn("max_von_mises", run["warnings"][0]["text"])
        self.assertGreater(run["results"]["strain_energy"], 0)

    def test_numbers_that_cannot_be_right(self):
        size = {"generator": "cube", "cells": [2, 1, 1], "size": [2e-60, 1e-60, 1e-60]}
        self.refuses("the body is 2e-60 m long", problem(mesh=size))
        self.refuses("forces of ", problem(loads=[{"plane": "x=2", "traction": [1e-200, 0, 0]}]))
        self.refuses("elastic constants of ", problem(material={"young": 1e-200, "poisson": 0.3}))
        self.refuses("displacements of ", problem(supports=[
            {"plane": "x=0"}, {"plane": "x=2", "displacement": [1e-200, 0, 0]}]))

    def test_locking(self):
        for order, poisson, warns in ((2, 0.48, False), (2, 0.499, True), (4, 0.499, False),
                                      (4, 0.49995, True)):
            run = self.solve(problem(order=order, material={"young": 8, "poisson": poisson}))
            self.assertEqual([w["code"] for w in run["warnings"]], ["locking"] if warns else [])

    def test_usage(self):
        for message, arguments in (
                ("--order 11: 1 to 10", ["cube", "--order", "11"]),
                ("--along has no effect on the generator cube", ["cube", "--along", "2"]),
                ("did you mean 'packed'?", ["cube", "--operator", "paked"]),
                ("(ossatura pfem --help lists all)", ["cube", "--ordr", "2"]),
                ("leave it out, or these", ["cube", "--element-wise", "--operator", "bsr"]),
                ("is no parallelepiped. Take --form auto", ["distorted", "--form", "affine"]),
                ("--form affine: elements are curved. Take --form auto", ["sphere", "--form", "affine"]),
                ("--form tensor-cores: this backend has no", ["cube", "--form", "tensor-cores"]),
                ("--inner is 3, --outer 2", ["sphere", "--inner", "3"]),
                ("--reference-elements 9: 1 to --elements", [
                    "table3", "--elements", "2", "--reference-elements", "9"])):
            self.fails(USAGE, message, "pfem", *arguments, "--backend", "serial")
        self.fails(UNAVAILABLE, "is not in this build", "pfem", "cube", "--backend", "abacus")

    def test_who_made_a_choice_that_elements_cannot_have(self):
        """The command line, which is exit 2, or the problem, which is 5: all were 2."""
        sphere = {"mesh": {"generator": "sphere"}, "material": {"young": 1, "poisson": 0.3}, "order": 2, "supports": None, "loads": None}
        shared, affine = "elements that are curved or have a material that varies share no matrix", "elements are curved"
        for key, value, reason in (("operator", "shared", shared), ("form", "affine", affine), ("form", "congruent", affine)):
            for dry in ((), ("--dry-run",)):  # which passed
                self.refuses(f'p.json: solver.{key}: {value}: {reason}: take "auto", which fits all elements',
                             problem(**{**sphere, "solver": {key: value}}), BAD_FILE, *dry)
                self.write("p.json", json.dumps(problem(**sphere)))
                for name in ("p.json", "sphere"):
                    self.fails(USAGE, f"--{key} {value}: {reason}. Take --{key} auto, which fits all elements", "pfem", name, "-q",
                               "--backend", "serial", f"--{key}", value, *dry)
        # No matrix is formed without one of stars either.
        unformed = ("pfem", "sphere", "-q", "--backend", "serial", "--form", "affine", "--operator", "matrix-free")
        self.fails(USAGE, "--form affine: elements are curved", *unformed, "--preconditioner", "vertex-stars", "--dry-run")
        self.ossatura(*unformed, "--preconditioner", "jacobi", "--dry-run")
        # Shapes are counted where matrices are asked for, too: twelve elements have one, or as many.
        one, all_of_them = (self.summary("pfem", name, "--cells", "3x2x2", "--operator", "shared", "--backend", "serial", "--dry-run",
                                         "-q")["results"]["operator_bytes"]["shared"] - 4 * 12 for name in ("cube", "distorted"))
        self.close(all_of_them, 12 * one, 1e-12)
        by_elements = {"element_wise": True, "operator": "bsr", "preconditioner": "jacobi"}
        self.refuses("p.json: solver.element_wise: goes with the operator packed and the preconditioner jacobi or none: leave it out, or "
                     "these", problem(solver=by_elements))
        self.refuses("--element-wise goes with", problem(solver={"element_wise": True}), USAGE, "--operator", "matrix-free")


if __name__ == "__main__":
    driver_case.main()
