# SPDX-License-Identifier: Apache-2.0
"""`ossatura topopt` on decks of tetrahedra, prisms and second-order elements, from the deck to the surface."""
import json
import os

from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, USAGE
from support.designs import TopoptCase, volume_of
from support.solid_decks import KINDS, VTK_CELL, Mesh


class Solids(TopoptCase):
    def pull(self, mesh, *arguments):
        self.write("deck.inp", mesh.pulled())
        return self.optimise("deck.inp", "--volume", "0.5", "--steps", "1", "--filter", "none", "--tolerance",
                             "1e-11", *arguments)

    # F = 2, u = 2 * 4 / (8 / 2^3): the displacement of a bar is that of all kinds.
    def test_a_bar_of_every_kind_on_every_backend(self):
        for self.backend in driver_case.backends():
            for kind, num in KINDS.items():
                with self.subTest(kind=kind, backend=self.backend):
                    mesh = Mesh(kind)
                    run = self.pull(mesh)
                    self.close(run["results"]["steps"]["objective"][0], 16, 1e-8)
                    self.assertEqual(run["problem"]["nodes"], len(mesh.point))
                    self.assertEqual(run["problem"]["elements"], len(mesh.elements))
                    self.assertEqual(len(mesh.elements[0][1]), num)
        self.backend = "serial"

    # A solid bar, 4 x 1 x 1, of E = 8 under F = 2: the farthest corner moves by 1, and by 0.3 / 4 to both sides.
    def test_displacement_and_stress_of_a_bar_of_every_kind(self):
        for self.backend in driver_case.backends():
            for kind in KINDS:
                with self.subTest(kind=kind, backend=self.backend):
                    self.write("deck.inp", Mesh(kind).pulled())
                    case = self.optimise("deck.inp", "--volume", "0.999999", "--start", "0.999999", "--steps", "1",
                                         "--move", "1e-7", "--filter", "none", "--tolerance", "1e-11")["results"]["cases"][0]
                    self.close(case["largest_displacement"], (1 + 2 * 0.075**2)**0.5, 1e-5)
                    self.close(case["largest_von_mises"], 2, 1e-5)
        self.backend = "serial"
        grey = self.pull(Mesh("C3D10"), "--start", "0.4", "--move", "1e-7")["results"]["cases"][0]
        self.assertIsNone(grey["largest_displacement"])
        self.assertIsNone(grey["largest_von_mises"])

    def test_kinds_beside_each_other(self):
        for kind, other in (("C3D8", "C3D6"), ("C3D15", "C3D20"), ("C3D20R", "C3D15")):
            with self.subTest(kind=kind, other=other):
                run = self.pull(Mesh(kind, other=other, split=2))
                self.close(run["results"]["steps"]["objective"][0], 16, 1e-8)

    # F l^3 / (3 E I) + F l / (kappa G A) of a beam of 10 x 1 x 1, E = 8 * 0.5^3, kappa = 5 / 6, nu = 0.
    def test_a_beam_bends_as_the_theory_says(self):
        expected = 4000 + 10 * 2 * 6 / 5
        for kind, part in (("C3D10", 1), ("C3D20R", 1), ("C3D15", 1), ("C3D4", 0.5)):
            with self.subTest(kind=kind):
                mesh = Mesh(kind, (10, 1, 2), (10, 1, 1))
                self.write("deck.inp", mesh.deck(material="8., 0.", supports="X0, 1, 3\n"))
                document = {"mesh": {"file": "deck.inp"}, "volume_fraction": 0.5, "steps": 1, "cases": [
                    {"name": "tip", "loads": [{"box": [10, 0, 0, 10, 1, 1], "traction": [0, 0, -1]}]}],
                            "filter": {"kind": "none"}}
                found = self.solve(document)["results"]["steps"]["objective"][0]
                if part == 1:
                    self.close(found, expected, 2e-3)
                else:  # too stiff, and a note says so
                    self.assertLess(found, part * expected)
                    self.assertIn("far too stiff in bending", self.ossatura(
                        "topopt", "p.json", "--steps", "1").stderr)

    def test_hybrid_reduced_hexahedra_are_solved_as_meshio_writes_them(self):
        for kind, solved in (("C3D8RH", "C3D8"), ("C3D20RH", "C3D20R")):
            deck = Mesh(solved).pulled()
            self.write("deck.inp", deck.replace(f"TYPE={solved}", f"TYPE={kind}"))
            self.assertIn(f"TYPE={kind}", self.read("deck.inp"))
            run = self.optimise("deck.inp", "--volume", "0.5", "--steps", "1", "--filter", "none", "--tolerance", "1e-11")
            self.close(run["results"]["steps"]["objective"][0], 16, 1e-8)
            self.assertIn(f"elements of type {kind} are solved as {solved}", "\n".join(
                warning["text"] for warning in run["warnings"] if warning["code"] == "mesh-note"))

    # Halves of E = 8 * 0.5^3 and 2 * 0.5^3: F = 2 on them, or the end moved by 0.5.
    def test_materials_and_imposed_displacements(self):
        for kind in ("C3D4", "C3D15", "C3D20R"):
            mesh = Mesh(kind)
            halves = {"LEFT": [], "RIGHT": []}
            for e, (_, nodes) in enumerate(mesh.elements):
                halves["LEFT" if all(mesh.point[n][0] <= 2 for n in nodes) else "RIGHT"].append(f"{e + 1}\n")
            sets = "".join(f"*ELSET, ELSET={name}\n{''.join(half)}" for name, half in halves.items())
            pull = "*DLOAD\n" + "".join(f"{e}, P{f}, -2.\n" for e, f in mesh.faces_at(0, 4))
            for step, expected in ((pull, 2 ** 2 * (2 / 1 + 2 / 0.25)),
                                   ("*BOUNDARY\nEND, 1, 1, 0.5\n", -0.5 ** 2 / (2 / 1 + 2 / 0.25))):
                with self.subTest(kind=kind, step=step[:9]):
                    deck = mesh.deck("8., 0.", "X0, 1, 1\nY0, 2, 2\nZ0, 3, 3\n", step)
                    self.write("deck.inp", deck.replace(
                        "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n", sets + "*SOLID SECTION, ELSET=LEFT, MATERIAL=M\n"
                        "*SOLID SECTION, ELSET=RIGHT, MATERIAL=N\n*MATERIAL, NAME=N\n*ELASTIC\n2., 0.\n"))
                    run = self.optimise("deck.inp", "--volume", "0.5", "--steps", "1", "--filter", "none",
                                        "--tolerance", "1e-11")
                    self.close(run["results"]["steps"]["objective"][0], expected, 1e-8)

    def test_parts_that_can_be_made(self):
        def design(kind, *process):
            self.write("deck.inp", Mesh(kind, (3, 2, 3), (3, 2, 3)).pulled())
            return ("deck.inp", "--volume", "0.4", "--steps", "3", "--filter", "none", *process)
        for kind, process in (("C3D6", ("--extrude", "z")), ("C3D15", ("--draw", "+z")),
                              ("C3D6", ("--symmetry", "z:1.5")), ("C3D20", ("--sectors", "2:x:0,1,1.5")),
                              ("C3D20R", ("--draw", "y:1", "--symmetry", "z:1.5"))):
            with self.subTest(kind=kind, process=process):
                run = self.optimise(*design(kind, *process))
                self.assertEqual(run["results"]["manufacturing"], {"undercuts": 0, "hanging": 0, "unlike": 0})
        for kind, process, message in (("C3D6", ("--extrude", "x"), "no columns along x: element 0 has a corner"),
                                       ("C3D4", ("--draw", "+z"), "no columns along z"),
                                       ("C3D4", ("--symmetry", "z:1.5"), "has no image across the plane z = 1.5 m"),
                                       ("C3D8", ("--overhang", "+z"), "take --grid voxels"),
                                       ("C3D10", ("--overhang", "+z"), "not known on a mesh with")):
            with self.subTest(kind=kind, process=process):
                self.fails(BAD_FILE, message, "topopt", *design(kind, *process), "-q")

    # Beyond the end of the bar, with an arm of 2 about the support.
    def test_couplings_take_loads(self):
        for kind in KINDS:
            with self.subTest(kind=kind):
                mesh = Mesh(kind)
                surface = "*SURFACE, NAME=TIP\n" + "".join(f"{e}, S{f}\n" for e, f in mesh.faces_at(0, 4))
                deck = mesh.deck("8., 0.", "X0, 1, 3\n", "*CLOAD\n9999, 1, 3.\n9999, 6, 0.25\n").replace(
                    "*BOUNDARY", "*NODE\n9999, 6., 0.5, 0.5\n" + surface + "*COUPLING, REF NODE=9999, SURFACE=TIP, "
                    "CONSTRAINT NAME=C\n*DISTRIBUTING\n*BOUNDARY", 1)
                self.write("deck.inp", deck)
                run = self.optimise("deck.inp", "--volume", "0.5", "--steps", "1", "--filter", "none")
                for found, expected in zip(run["problem"]["cases"][0]["total_force"], (3, 0, 0)):
                    self.close(found, expected, 1e-9, scale=3)

    # Corners, too, which have no share of the area of second-order faces.
    def test_kinematic_couplings_take_all_nodes_of_faces(self):
        surfaces = {
            "faces": lambda mesh, x: "*SURFACE, NAME=S\n" + "".join(f"{e}, S{f}\n" for e, f in mesh.faces_at(0, x)),
            "nodes": lambda mesh, x: "*SURFACE, NAME=S, TYPE=NODE\n" + "".join(
                f"{n}, 1.\n" for n in mesh.nodes_at(0, x))}

        def run(mesh, x, surface, supports, step):
            coupling = (f"*NODE\n9999, 6., 0.5, 0.5\n{surface}"
                        "*COUPLING, REF NODE=9999, SURFACE=S, CONSTRAINT NAME=C\n*KINEMATIC\n1, 6\n") if surface else ""
            self.write("deck.inp", mesh.deck("8., 0.", supports, step).replace("*BOUNDARY", coupling + "*BOUNDARY", 1))
            return self.optimise("deck.inp", "--volume", "0.5", "--steps", "1", "--filter", "none", "--tolerance",
                                 "1e-11")
        for kind in KINDS:
            mesh = Mesh(kind, (4, 2, 1))
            bend = "*CLOAD\n" + "".join(f"{n}, 3, 0.1\n" for n in mesh.nodes_at(0, 4))
            plain = run(mesh, 0, "", "X0, 1, 3\n", bend)
            self.assertEqual(plain["problem"]["held_dofs"], 3 * len(mesh.nodes_at(0, 0)))
            for name, surface in surfaces.items():
                with self.subTest(kind=kind, surface=name):
                    held = run(mesh, 0, surface(mesh, 0), "9999, 1, 6\n", bend)
                    self.assertEqual(held["problem"]["held_dofs"], plain["problem"]["held_dofs"])
                    self.close(held["results"]["objective"], plain["results"]["objective"], 1e-9)
                    # M^2 L / (E I) of a rigid end, where elements have parabolas
                    turned = run(mesh, 4, surface(mesh, 4), "X0, 1, 3\n", "*CLOAD\n9999, 5, 1.\n")
                    if kind in ("C3D10", "C3D15", "C3D20", "C3D20R"):
                        self.close(turned["results"]["steps"]["objective"][0], 1 ** 2 * 4 / (1 / 12), 1e-7)

    # The end of a bar of E = 8 * 0.5^3 is rigid: F^2 L / (E A), and M^2 L / (E I) where elements have parabolas.
    def test_rigid_ends_that_are_free(self):
        for self.backend in driver_case.backends():
            for kind in KINDS:
                with self.subTest(kind=kind, backend=self.backend):
                    self.write("deck.inp", Mesh(kind, (4, 2, 2)).deck("8., 0.", "X0, 1, 3\n"))
                    run = self.solve(
                        {"mesh": {"file": "deck.inp"}, "rigid_bodies": [{"set": "END"}], "volume_fraction": 0.5,
                         "steps": 1, "filter": {"kind": "none"}, "solver": {"tolerance": 1e-10}, "cases": [
                             {"name": "pull", "loads": [{"set": "END", "remote": {
                                 "point": [9, 0.5, 0.5], "force": [2, 0, 0], "moment": [0, 0, 0]}}]},
                             {"name": "bend", "loads": [{"set": "END", "remote": {
                                 "point": [9, 0.5, 0.5], "force": [0, 0, 0], "moment": [0, 1, 0]}}]}]},
                        "--hdf", "d.hdf")
                    self.assertEqual(run["problem"]["rigid_bodies"], 1)
                    pull, bend = run["results"]["steps"]["cases"][0]
                    self.close(pull, 2 ** 2 * 4, 1e-8)
                    if kind in ("C3D10", "C3D15", "C3D20", "C3D20R"):
                        self.close(bend, 1 ** 2 * 4 / (1 / 12), 1e-7)
                    else:
                        self.assertTrue(5 < bend < 48)
                    ends = hdf5_values.read(self.path("d.hdf"), "VTKHDF/PointData/rigid_body")
                    self.assertEqual(int(sum(ends)), len(Mesh(kind, (4, 2, 2)).nodes_at(0, 4)))
        self.backend = "serial"

    def test_rigid_bodies_that_are_refused(self):
        self.write("deck.inp", Mesh("C3D10", (2, 1, 1)).deck("8., 0.3", "X0, 1, 3\n"))
        design = {"mesh": {"file": "deck.inp"}, "steps": 1, "cases": [
            {"name": "pull", "loads": [{"set": "END", "total_force": [1, 0, 0]}]}]}
        for bodies, message in (([{"set": "X0"}], "of rigid body 0 is held or moved"),
                                ([{"set": "END"}, {"set": "END"}], "is of two rigid bodies"),
                                ([{"box": [4, 0, 0, 4, 0, 1]}], "are on a line, and have no rotation about it"),
                                ([{"set": "NONE"}], "NONE")):
            with self.subTest(bodies=bodies):
                self.write("p.json", json.dumps({**design, "rigid_bodies": bodies}))
                self.fails(BAD_FILE, message, "topopt", "p.json", "-q")
        self.fails(BAD_FILE, "p.json: rigid bodies are not known to the solver on voxels: take the grid mesh",
                   "topopt", self.write("p.json", json.dumps({
                       "mesh": {"box": {"cells": [4, 2, 2], "size": [4, 2, 2]}}, "material": {"young": 1, "poisson": 0.3},
                       "supports": [{"box": [0, 0, 0, 0, 2, 2]}], "rigid_bodies": [{"box": [4, 0, 0, 4, 2, 2]}],
                       "cases": [{"name": "a", "loads": [{"box": [4, 0, 0, 4, 2, 2], "total_force": [1, 0, 0]}]}],
                       "steps": 1})) and "p.json", "--grid", "voxels", "-q")

    # A bar of density 3 and E = 6 half as dense hangs: (rho / 2)^2 g^2 A L^3 / (3 E / 8) = 4800; one that turns.
    def test_bars_that_hang_and_turn(self):
        solid = ("--volume", "0.5", "--steps", "1", "--filter", "none", "--tolerance", "1e-11")
        rollers = "X0, 1, 1\nY0, 2, 2\nZ0, 3, 3\n"
        for self.backend in driver_case.backends():
            for kind in KINDS:
                with self.subTest(kind=kind, backend=self.backend):
                    def bar(*load):
                        self.write("deck.inp", Mesh(kind, (4, 1, 1)).deck(
                            "6., 0.\n*DENSITY\n3.", rollers, "*DLOAD\n" + "\n".join(load) + "\n"))
                        return self.optimise("deck.inp", *solid)
                    run = bar("ALL, GRAV, 10., 1., 0., 0.")
                    self.assertEqual(run["engine"]["method"], "mma")
                    self.assertEqual(run["engine"]["linear_below"], 0.25)
                    if kind in ("C3D10", "C3D15", "C3D20", "C3D20R"):
                        self.close(run["results"]["steps"]["objective"][0], 2.25 * 100 * 64 / 3 / 0.75, 1e-8)
                    else:  # of linear elements, which lack some of the energy
                        self.close(run["results"]["steps"]["objective"][0], 2.25 * 100 * 64 / 3 / 0.75, 0.06)
                    self.close(run["results"]["cases"][0]["support_force"][0], -120 * run["results"]["volume"], 1e-6)
                    # w^2 times mass times the distance of the middle.
                    run = bar("ALL, CENTRIF, 5., 0., 0., 7., 0., 0., -2.")
                    self.close(run["results"]["cases"][0]["support_force"][0], -5 * 12 * 2 * run["results"]["volume"],
                               0.2)
        self.backend = "serial"
        self.write("deck.inp", Mesh("C3D10").deck("8., 0.3", rollers, "*DLOAD\nALL, GRAV, 9.81, 0., 0., -1.\n"))
        self.fails(BAD_FILE, "has no mass density", "topopt", "deck.inp")

    # Free and warmer by T = 3 + 2 x - z + y / 2 it has u = a (T x - g |x|^2 / 2), but for a rigid motion, and no stress; linear
    # elements have that of T = 3. Between walls it is pressed by E A a T. E = 8 (1e-4 + 0.9999 * 0.5^3), a = 0.01.
    def test_bars_that_are_warm(self):
        solid = ("--volume", "0.5", "--steps", "1", "--filter", "none", "--tolerance", "1e-11", "--min-modulus", "1e-4",
                 "--change", "0", "--move", "1e-9")
        modulus = 8 * (1e-4 + (1 - 1e-4) * 0.5**3)
        warm = "*EXPANSION\n0.01\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\n, 20."
        for self.backend in driver_case.backends():
            for kind in KINDS:
                with self.subTest(kind=kind, backend=self.backend):
                    mesh = Mesh(kind, (4, 2, 2))
                    gradient = (2, 0.5, -1) if kind in ("C3D10", "C3D15", "C3D20", "C3D20R") else (0, 0, 0)
                    change = [3 + sum(g * x for g, x in zip(gradient, p)) for p in mesh.point]
                    rows = "".join(f"{n + 1}, {20 + t!r}\n" for n, t in enumerate(change))
                    at = {name: mesh.point.index(p) + 1 for name, p in (("O", (0, 0, 0)), ("X", (4, 0, 0)), ("Y", (0, 1, 0)))}
                    self.write("deck.inp", mesh.deck("8., 0.3\n" + warm, f"{at['O']}, 1, 3\n{at['X']}, 2, 3\n{at['Y']}, 3\n",
                                                     "*TEMPERATURE\n" + rows))
                    run = self.optimise("deck.inp", *solid, "--hdf", "d.hdf", "--max-stress", "1")
                    self.assertLess(max(abs(f) for f in run["results"]["cases"][0]["support_force"]), 1e-7)
                    self.assertLess(max(hdf5_values.read(self.path("d.hdf"), "VTKHDF/CellData/relaxed_von_mises")), 1e-6)
                    self.assertLess(max(map(abs, hdf5_values.read(
                        self.path("d.hdf"), "VTKHDF/CellData/strain_energy_density"))), 1e-8)
                    u = hdf5_values.read(self.path("d.hdf"), "VTKHDF/PointData/displacement")
                    bent = u[3 * at["X"] - 3]  # nothing turns about y or z what is held on the line through O and X
                    self.close(bent, 0.01 * (3 * 4 + gradient[0] * 4**2 / 2), 1e-7)
                    # The chord from O to X stays, and the middle is off by g L^2 / 8 of the curvature.
                    if any(gradient):
                        middle = 3 * mesh.point.index((2, 0, 0))
                        for c in (1, 2):
                            self.close(u[middle + c], 0.01 * gradient[c] * 4**2 / 8, 1e-6)
                    self.write("deck.inp", mesh.deck("8., 0.3\n" + warm, "X0, 1, 1\nY0, 2, 2\nZ0, 3, 3\n",
                                                     "*BOUNDARY\nEND, 1, 1, 0.04\n*TEMPERATURE\n, 23.\n"))
                    run = self.optimise("deck.inp", *solid)
                    self.close(run["results"]["cases"][0]["imposed_force"][0], modulus * (0.04 / 4 - 0.01 * 3), 1e-7)
        self.backend = "serial"

    def test_what_is_of_hexahedra_alone(self):
        mesh = Mesh("C3D4", (2, 1, 1))
        self.write("two.inp", mesh.deck("8., 0.3", "X0, 1, 3\n", "*CLOAD\nEND, 3, -1.\n").replace(
            "*SOLID SECTION, ELSET=ALL", "*ELSET, ELSET=ONE\n1\n*ELSET, ELSET=REST, GENERATE\n2, 12\n"
            "*MATERIAL, NAME=N\n*ELASTIC\n8., 0.2\n*SOLID SECTION, ELSET=ONE, MATERIAL=N\n"
            "*SOLID SECTION, ELSET=REST"))
        self.fails(BAD_FILE, "know one: give them the same", "topopt", "two.inp")

    def test_designs_with_files_and_a_closed_surface(self):
        for kind in ("C3D4", "C3D10", "C3D6", "C3D20R"):
            with self.subTest(kind=kind):
                mesh = Mesh(kind)
                self.write("deck.inp", mesh.cantilever())
                run = self.optimise("deck.inp", "--steps", "4", "--radius", "0.8", "--volume", "0.4", "-o", kind,
                                    "--stl-level", "0.3")
                steps = run["results"]["steps"]["objective"]
                self.assertLess(steps[-1], 0.8 * steps[0])
                self.assertEqual(run["engine"]["operator"], "bsr")
                self.assertTrue(run["engine"]["deterministic"])
                triangles = self.triangles(f"{kind}/deck.stl")
                self.assert_closed(triangles)
                self.close(volume_of(triangles), run["results"]["surface"]["volume"], 1e-4)
                path = self.path(f"{kind}/deck.hdf")
                self.assertEqual(set(hdf5_values.read(path, "VTKHDF/Types")), {VTK_CELL[kind]})
                offsets = hdf5_values.read(path, "VTKHDF/Offsets")
                self.assertEqual(offsets[-1], KINDS[kind] * len(mesh.elements))
                self.assertEqual(len(hdf5_values.read(path, "VTKHDF/Connectivity")), offsets[-1])
                self.assertEqual(len(hdf5_values.read(path, "VTKHDF/PointData/displacement")), 3 * len(mesh.point))

    def test_a_half_that_is_robust_and_written_whole(self):
        for kind in ("C3D4", "C3D10", "C3D15"):
            with self.subTest(kind=kind):
                self.write("deck.inp", Mesh(kind).cantilever())
                self.write("half.json", json.dumps({
                    "mesh": {"file": "deck.inp"}, "mirrors": [{"axis": "y", "place": 0}], "whole": True, "steps": 4,
                    "filter": {"kind": "density", "radius": 0.8}, "volume_fraction": 0.4,
                    "projection": {"robust": 0.2, "sharpness": {"start": 1, "end": 2, "every": 2, "factor": 2}}}))
                run = self.optimise("half.json", "--stl", "s.stl", "--stl-level", "0.3")
                steps = run["results"]["steps"]["objective"]
                self.assertLess(steps[1], steps[0])
                self.assertEqual((run["engine"]["robust"], run["results"]["surface"]["body"]), (0.2, "whole"))
                triangles = self.triangles("s.stl")
                self.assert_closed(triangles)
                self.close(volume_of(triangles), run["results"]["surface"]["volume"], 1e-4)
                sides = [corner[1] for t in triangles for corner in t]
                self.close(min(sides), -max(sides), 1e-6)

    def test_places_of_a_problem(self):
        mesh = Mesh("C3D10", (4, 2, 2), (4, 1, 1))
        self.write("deck.inp", mesh.deck())
        document = {"mesh": {"file": "deck.inp"}, "supports": [{"set": "X0"}], "keep": 0.6,
                    "cases": [{"name": "a", "loads": [{"box": [4, 0, 0, 4, 1, 1], "traction": [0, 0, -2]}]}],
                    "passive": [{"box": [1, 0, 0, 2, 1, 0.4], "role": "void"},
                                {"cylinder": {"from": [3, 0.5, 0.5], "to": [4, 0.5, 0.5], "radius": 0.3},
                                 "role": "solid"}],
                    "mirrors": [{"axis": "y", "place": 0}], "volume_fraction": 0.6,
                    "filter": {"kind": "density", "radius": 0.6}, "steps": 2}
        run = self.solve(document)
        self.close(run["problem"]["cases"][0]["total_force"][2], -2, 1e-12)
        self.assertGreater(run["problem"]["void_elements"], 0)
        self.assertGreater(run["problem"]["solid_elements"], 0)
        document["cases"][0]["loads"][0]["box"] = [4, 0, 0, 4, 0.9, 1]  # and half of the triangles that go on to y = 1
        loaded, = self.solve(document)["problem"]["loaded_boxes"]
        self.close(loaded["area"], 0.5 if loaded["area"] < 0.6 else 0.75, 1e-9)
        self.close(loaded["area_in_box"], 0.9, 1e-9)
        document["cases"][0]["loads"][0]["box"] = [4, 0, 0, 4, 1, 1]
        document["cases"][0]["loads"][0]["box"] = [4, 0, 0, 4, 0.2, 1]
        self.fails(BAD_FILE, "has all of its nodes among", "topopt", self.write("p.json", json.dumps(document)), "-q")
        document["supports"] = [{"nodes": [0]}]
        self.fails(BAD_FILE, "none of the faces", "topopt", self.write("p.json", json.dumps(document)), "-q")

    def test_flat_elements_have_their_own_faces(self):
        """A traction on the top and the bottom of a plate: 2 x 4 m2, without the sides between them."""
        for kind in KINDS:
            with self.subTest(kind=kind):
                mesh = Mesh(kind, (2, 2, 1), (2, 2, 0.5))
                self.write("deck.inp", mesh.deck() + mesh.flats(2, (0, 0.5), "SKIN"))
                run = self.solve({
                    "mesh": {"file": "deck.inp"}, "supports": [{"set": "X0"}], "filter": {"kind": "none"}, "steps": 1,
                    "cases": [{"name": "a", "loads": [{"set": "SKIN", "traction": [0, 0, -3]}]}], "volume_fraction": 0.5})
                self.close(run["problem"]["cases"][0]["total_force"][2], -3 * 8, 1e-12)

    def test_a_resumed_run_has_the_same_bits(self):
        self.write("deck.inp", Mesh("C3D10").cantilever())
        common = ("--radius", "0.8", "--change", "0", "--no-stl", "--no-hdf")
        whole = self.optimise("deck.inp", *common, "--steps", "4", "--history", "whole.csv")
        self.optimise("deck.inp", *common, "--steps", "2", "--checkpoint", "c.h5", "--checkpoint-every", "2")
        rest = self.optimise("deck.inp", *common, "--steps", "4", "--resume", "c.h5")
        self.assertEqual(rest["results"]["steps"]["objective"], whole["results"]["steps"]["objective"][2:])
        self.write("deck.inp", Mesh("C3D4").cantilever())
        self.fails(BAD_FILE, "mesh", "topopt", "deck.inp", *common, "--steps", "4", "--resume", "c.h5")

    def test_dry_run(self):
        mesh = Mesh("C3D10")
        self.write("deck.inp", mesh.cantilever())
        plan = self.summary("topopt", "deck.inp", "--dry-run", "-q", "--backend", "serial")
        self.assertEqual(plan["results"]["automatic_operator"], "bsr")
        self.assertEqual(list(plan["results"]["operator_bytes"]), ["bsr"])
        neighbours = {n: set() for n in range(len(mesh.point))}
        for _, nodes in mesh.elements:
            for n in nodes:
                neighbours[n].update(nodes)
        blocks = sum(len(row) for row in neighbours.values())
        self.close(plan["results"]["operator_bytes"]["bsr"], 76 * blocks + 8 * len(mesh.point), 1e-9)

    def test_what_is_unknown_on_such_a_mesh_is_refused(self):
        self.write("deck.inp", Mesh("C3D10", (2, 1, 1), (2, 1, 1)).cantilever())
        for arguments, message in ((("--operator", "ebe"), "the operator ebe is not known"),
                                   (("--operator", "recompute"), "take auto or bsr"),
                                   (("--preconditioner", "jacobi"), "take amg"),
                                   (("--chebyshev-degree", "4"), "leave it out"),
                                   (("--forming-cost", "3"), "leave it out"),
                                   (("--filter", "helmholtz"), "take the filter density"),
                                   (("--precision", "lean"), "lean"),
                                   (("--grid", "voxels"), "take the grid mesh")):
            with self.subTest(arguments=arguments):
                self.fails(BAD_FILE, message, "topopt", "deck.inp", "-q", *arguments)
        self.fails(USAGE, "leave it out", "topopt", "deck.inp", "-q", "-o", "out", "--reanalyse", "1")
        self.assertFalse(os.path.exists(self.path("out/deck.hdf")))

    def test_bad_decks_are_refused_with_file_and_place(self):
        good = Mesh("C3D10", (2, 1, 1), (2, 1, 1))
        text = good.cantilever()
        row = text.index("\n1, ", text.index("*ELEMENT")) + 1
        element, line = text[row:text.index("\n", row)], text[:row].count("\n") + 1

        def refused(deck, *messages):
            process = self.fails(BAD_FILE, "deck.inp", "topopt", self.write("deck.inp", deck), "-q")
            for message in messages:
                self.assertIn(message, process.stderr)

        refused(text.replace(element, element + ", 5"), f"line {line}", "more than 10 nodes")
        refused(text.replace(element, element + "999"), f"line {line}", "not among the nodes")
        refused(text.replace("TYPE=C3D10", "TYPE=C3D4"), f"line {line}", "more than 4 nodes")
        refused(text.replace("TYPE=C3D10", "TYPE=C3D27"), "C3D27", "C3D20R")
        numbers = element.split(", ")
        turned = [numbers[k] for k in (0, 2, 1, 3, 4, 5, 7, 6, 9, 8, 10)]
        refused(text.replace(element, ", ".join(turned)), "element 1", "inside out")
        for kind, base in (("C3D6", 3), ("C3D15", 3), ("C3D20", 4)):
            deck = Mesh(kind, (2, 1, 1), (2, 1, 1)).cantilever()
            at = deck.index("\n1, ", deck.index("*ELEMENT")) + 1
            one = deck[at:deck.index("\n2, ", at)]
            nodes = one.replace(",\n", ", ").split(", ")
            for begin in (1 + base, 1 + 3 * base):  # corners of the top, and its mid-nodes
                top = slice(begin, begin + base)
                nodes[top] = nodes[top][-1:] + nodes[top][:-1]
            refused(deck.replace(one, ", ".join(nodes[:7]) + ",\n" + ", ".join(nodes[7:])), "element 1", f"its node {base + 2} lies over its node 1")
        swapped = numbers[:5] + [numbers[8]] + numbers[6:8] + [numbers[5]] + numbers[9:]
        refused(text.replace(element, ", ".join(swapped)), "element 1", "mid-node")
        linear = Mesh("C3D6", (2, 1, 1), (2, 1, 1))
        refused(linear.pulled().replace("*DLOAD\n", "*DLOAD\n1, P6, 1.\n"), "face 6", "a prism", "faces 1 to 5")

    def test_pressures_within_the_body(self):
        """A face of all elements of a set is one of the surface for the outer ones alone."""
        for kind in ("C3D4", "C3D6", "C3D8", "C3D10", "C3D15", "C3D20"):
            body = Mesh(kind, (2, 1, 1), (2, 1, 1))
            good = body.pulled()
            self.write("deck.inp", good)
            self.optimise("deck.inp", "--steps", "1", "--no-stl")
            self.write("deck.inp", good.replace("*DLOAD\n", "*DLOAD\n" + "".join(f"ALL, P{f}, 1.\n" for f in range(1, 5))))
            self.fails(BAD_FILE, "deck.inp: a pressure acts on a face within the body, between element ", "topopt", "deck.inp")


if __name__ == "__main__":
    driver_case.main()
