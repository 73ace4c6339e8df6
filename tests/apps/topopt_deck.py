# SPDX-License-Identifier: Apache-2.0
"""Decks of CalculiX and Abaqus as engineers have them, and the same in problems: several materials,
imposed displacements, gravity and rotation, temperatures, couplings and rigid bodies. Bars of known stiffness tell what is right."""
import json
import math

from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, USAGE
from support.designs import TopoptCase

CELLS = (8, 2, 2)  # of 0.5 m each


def points():
    return [(i, j, k) for k in range(CELLS[2] + 1) for j in range(CELLS[1] + 1) for i in range(CELLS[0] + 1)]


def chosen(choose):
    return [n + 1 for n, p in enumerate(points()) if choose(*p)]


def rows(numbers):
    return "".join(f"{n},\n" for n in numbers)


def mesh():
    """A bar of 4 x 1 x 1 m with sets of nodes at its ends and sides, and of elements LEFT (x < 1) and RIGHT."""
    row, layer = CELLS[0] + 1, (CELLS[0] + 1) * (CELLS[1] + 1)
    corners = (0, 1, row + 1, row, layer, layer + 1, layer + row + 1, layer + row)
    first = [i + j * row + k * layer for k in range(CELLS[2]) for j in range(CELLS[1]) for i in range(CELLS[0])]
    nodes = "".join(f"{n + 1}, {x / 2}, {y / 2}, {z / 2}\n" for n, (x, y, z) in enumerate(points()))
    elements = "".join(f"{e + 1}, " + ", ".join(str(n + c + 1) for c in corners) + "\n" for e, n in enumerate(first))
    sets = {"X0": lambda x, y, z: x == 0, "Y0": lambda x, y, z: y == 0, "Z0": lambda x, y, z: z == 0,
            "X1": lambda x, y, z: x == CELLS[0]}
    return (f"*NODE, NSET=ALL\n{nodes}*ELEMENT, TYPE=C3D8, ELSET=BODY\n{elements}" +
            "".join(f"*NSET, NSET={name}\n{rows(chosen(choose))}" for name, choose in sets.items()) +
            f"*ELSET, ELSET=LEFT\n{rows(e + 1 for e in range(len(first)) if e % CELLS[0] < 2)}"
            f"*ELSET, ELSET=RIGHT\n{rows(e + 1 for e in range(len(first)) if e % CELLS[0] >= 2)}")


ROLLERS = "*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n"
ONE = "*MATERIAL, NAME=M\n*ELASTIC\n6., 0.\n*DENSITY\n3.\n*SOLID SECTION, ELSET=BODY, MATERIAL=M\n"
TWO = ("*MATERIAL, NAME=STIFF\n*ELASTIC\n6., 0.\n*DENSITY\n3.\n*MATERIAL, NAME=SOFT\n*ELASTIC\n2., 0.\n*DENSITY\n1.\n"
       "*SOLID SECTION, ELSET=LEFT, MATERIAL=STIFF\n*SOLID SECTION, ELSET=RIGHT, MATERIAL=SOFT\n")
SOLID = ("--steps", "1", "--start", "0.999999", "--volume", "0.999999", "--filter", "none", "--tolerance", "1e-10")
FLEXIBILITY = 1 / 6 + 3 / 2  # of both, sum of L / (E A)


def step(*lines):
    return "*STEP\n*STATIC\n" + "".join(line + "\n" for line in lines) + "*END STEP\n"


class Decks(TopoptCase):
    def first(self, deck, *arguments):
        """The summary of one step from the solid body."""
        self.write("deck.inp", deck)
        return self.optimise("deck.inp", *SOLID, *arguments)

    def refused(self, deck, message, *arguments):
        self.write("deck.inp", deck)
        self.fails(BAD_FILE, message, "topopt", "deck.inp", *arguments)

    def pull(self, force=0.5, place=CELLS[0]):
        """A uniform traction on the far end, or inside, in forces of its nodes."""
        share = {0: 1, CELLS[1]: 1}
        return ["*CLOAD"] + [f"{n}, 1, {force * share.get(points()[n - 1][1], 2) * share.get(points()[n - 1][2], 2) / 16}"
                             for n in chosen(lambda x, y, z: x == place)]


class Materials(Decks):
    def test_halves_that_were_meshed_one_by_one(self):
        # Both ends are held, so that each half is; the nodes between them are there twice, as two files make them.
        lines, apart, part = mesh().splitlines(), [], ""
        for line in lines:
            part = line if line.startswith("*") else part
            numbers = line.rstrip(",").split(", ")
            if part.startswith("*ELEMENT") and line != part and (int(numbers[0]) - 1) % CELLS[0] >= 2:
                line = ", ".join([numbers[0]] + [str(int(n) + 1000) for n in numbers[1:]])
            if part.endswith("NSET=X1") and line != part:
                line = f"{int(numbers[0]) + 1000},"
            apart.append(line)
            if part.startswith("*NODE") and line != part:
                apart.append(", ".join([str(int(numbers[0]) + 1000)] + numbers[1:]))
        rest = ONE + "*BOUNDARY\nX0, 1, 3\nX1, 1, 3\n" + step("*DLOAD", "BODY, GRAV, 1., 0., 0., -1.")
        compliance = {}
        for name, text in (("joined", lines), ("split", apart)):
            run = self.first("\n".join(text) + "\n" + rest)
            texts = [w["text"] for w in run["warnings"] if w["code"] == "split-mesh"]
            self.assertEqual(len(texts), 1 if name == "split" else 0)
            compliance[name] = run["results"]["objective"]
        self.assertIn("9 nodes lie in the place of another one", texts[0])
        self.assertGreater(compliance["split"], 1.2 * compliance["joined"])

    def test_a_bar_of_two_materials(self):
        for self.backend in driver_case.backends():
            with self.subTest(backend=self.backend):
                run = self.first(mesh() + TWO + ROLLERS + step(*self.pull()))
                self.close(run["results"]["steps"]["objective"][0], 0.25 * FLEXIBILITY, 1e-5)
        self.backend = "serial"
        self.assertEqual(run["problem"]["materials"], [
            {"name": "STIFF", "young": 6, "poisson": 0, "mass_density": 3, "elements": 8},
            {"name": "SOFT", "young": 2, "poisson": 0, "mass_density": 1, "elements": 24}])
        self.assertIsNone(run["problem"]["material"]["mass_density"])
        voxels = self.first(mesh() + TWO + ROLLERS + step(*self.pull()), "--grid", "voxels", "--no-stl")
        self.close(voxels["results"]["steps"]["objective"][0], 0.25 * FLEXIBILITY, 1e-5)

    def test_the_same_in_a_problem(self):
        self.write("deck.inp", mesh() + TWO + ROLLERS + step(*self.pull()))
        arguments = ("--steps", "3", "--tolerance", "1e-10")
        deck = self.optimise("deck.inp", *arguments)
        self.write("plain.inp", mesh() + ROLLERS + step(*self.pull()))
        for materials in (
                {"materials": [{"set": "LEFT", "name": "STIFF", "young": 6, "poisson": 0, "mass_density": 3},
                               {"set": "RIGHT", "name": "SOFT", "young": 2, "poisson": 0, "mass_density": 1}]},
                {"material": {"young": 6, "poisson": 0}, "materials": [
                    {"box": [1, 0, 0, 4, 1, 1], "name": "SOFT", "young": 2, "poisson": 0}]}):
            run = self.solve({"mesh": {"file": "plain.inp"}, **materials}, *arguments)
            if "material" not in materials:
                self.write("all.json", json.dumps({"mesh": {"file": "plain.inp"}, **materials}))
                for option in ("--young", "--mass-density"):
                    self.fails(USAGE, option + " has no effect", "topopt", "all.json", option, "3")
            self.assertEqual(run["results"]["steps"]["objective"], deck["results"]["steps"]["objective"])

    def test_a_resumed_run_is_of_the_same_materials(self):
        self.write("deck.inp", mesh() + TWO + ROLLERS + step(*self.pull()))
        self.optimise("deck.inp", "--steps", "2", "--checkpoint", "c.h5")
        whole = self.optimise("deck.inp", "--steps", "4")
        resumed = self.optimise("deck.inp", "--steps", "4", "--resume", "c.h5")
        self.assertEqual(resumed["results"]["objective"], whole["results"]["objective"])
        self.refused(mesh() + TWO.replace("2., 0.", "2.5, 0.") + ROLLERS + step(*self.pull()), "another problem",
                     "--steps", "4", "--resume", "c.h5")

    def test_two_poissons_ratios(self):
        # nu_1 / E_1 = nu_2 / E_2: both contract alike under the same stress, so that there is none across.
        two = TWO.replace("6., 0.", "6., 0.3").replace("2., 0.", "2., 0.1")
        for operator in ("congruent", "recompute", "csr", "ebe"):
            run = self.first(mesh() + two + ROLLERS + step(*self.pull()), "--operator", operator)
            self.close(run["results"]["steps"]["objective"][0], 0.25 * FLEXIBILITY, 1e-5)
        self.assertEqual([one["poisson"] for one in run["problem"]["materials"]], [0.3, 0.1])

    def test_mass_is_of_the_deck(self):
        self.write("deck.inp", mesh() + ONE + ROLLERS + step(*self.pull()))
        run = self.optimise("deck.inp", "--steps", "2", "--volume", "0.8", "--stl", "s.stl")
        self.assertEqual(run["problem"]["material"]["mass_density"], 3)
        self.close(run["results"]["surface"]["mass"], 3 * run["results"]["surface"]["volume"], 1e-12)

    def test_what_is_not_known_of_materials(self):
        good = mesh() + TWO + ROLLERS + step(*self.pull())
        self.refused(good.replace("2., 0.", "2., 0.25"), "voxels know one", "--grid", "voxels")
        self.refused(good, "several materials", "--young", "3")
        self.refused(good, "several materials with mass densities of their own", "--mass-density", "3")
        # Of one modulus, too.
        alike = good.replace("2., 0.", "6., 0.")
        self.refused(alike, "several materials with mass densities of their own", "--mass-density", "3")
        for constant, rows in (("mass_density", ""), ("expansion", "*EXPANSION\n1e-5\n")):
            self.write("deck.inp", alike.replace("*DENSITY\n3.\n", "*DENSITY\n3.\n" + rows, 1))
            self.write("p.json", json.dumps({"mesh": {"file": "deck.inp"}, "material": {constant: 1e-5}}))
            self.fails(BAD_FILE, "several materials with", "topopt", "p.json")
        run = self.first(good.replace("*DENSITY\n1.", "*DENSITY\n3."), "--mass-density", "2")
        self.assertEqual([one["mass_density"] for one in run["problem"]["materials"]], [2, 2])
        self.refused(good.replace("*ELASTIC\n2.", "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n2."),
                     "elasticity of type ENGINEERING CONSTANTS is not solved")
        self.refused(good.replace("ELSET=RIGHT, MATERIAL", "ELSET=BODY, MATERIAL"), "element 1 has a section of material STIFF")
        self.refused(good.replace("*SOLID SECTION, ELSET=RIGHT, MATERIAL=SOFT\n", ""), "has no *SOLID SECTION")
        self.write("deck.inp", mesh() + ROLLERS + step(*self.pull()))

        def problem_refused(message, **more):
            self.write("p.json", json.dumps({"mesh": {"file": "deck.inp"}, **more}))
            self.fails(BAD_FILE, message, "topopt", "p.json")

        soft = {"set": "RIGHT", "name": "SOFT", "young": 2, "poisson": 0}
        problem_refused("element 0 is of none of the", materials=[soft])
        problem_refused("materials[0].young", materials=[{**soft, "young": -1}])
        problem_refused("materials[0]: \"poisson\" is missing", materials=[
            {key: value for key, value in soft.items() if key != "poisson"}])
        problem_refused("NONE", materials=[{**soft, "set": "NONE"}])


class Texts(Decks):
    def test_marks_and_line_ends_of_other_editors(self):
        deck = mesh() + ONE + ROLLERS + step(*self.pull())
        expected = self.first(deck)["results"]["objective"]
        for text in ("\ufeff" + deck, deck.replace("\n", "\r\n"), "\ufeff" + deck.replace("\n", "\r\n")):
            self.assertEqual(self.first(text)["results"]["objective"], expected)


    def test_decimals_are_written_with_a_point(self):
        """Each comma begins a field, and what is behind the last one of a row was passed over."""
        deck = mesh() + ONE + ROLLERS + step("*CLOAD", "X1, 1, 0.5", "*DLOAD", "BODY, P4, 2.5")
        for good, bad, what in (("X1, 1, 0.5", "X1, 1, 0,5", "'5'"), ("P4, 2.5", "P4, 2,5", "'5'"), ("6., 0.", "6., 0,3", "ratio of 0"),
                                ("*DENSITY\n3.", "*DENSITY\n3,2", "density of 3 at"), ("X0, 1\n", "X0, 1, 1, 0,1\n", "'1'"),
                                ("\n2, 0.5, 0.0, 0.0\n", "\n2, 0,5, 0,0, 0,0\n", "'0'")):
            self.assertIn(good, deck)
            self.write("deck.inp", deck.replace(good, bad))
            for system in ("topopt", "pfem"):
                process = self.fails(BAD_FILE, what, system, "deck.inp")
                self.assertIn("decimals are written with a point", process.stderr)


class Sets(Decks):
    def test_numbers_are_finite_and_rows_are_no_parameters(self):
        deck = mesh() + ONE + ROLLERS + step(*self.pull())
        for message, was, now in (
                ("'nan' where a coordinate is expected", "\n2, 0.5, 0.0, 0.0", "\n2, nan, 0.0, 0.0"),
                ("'-inf' where a force is expected", "\n*END STEP", "\nX1, 1, -inf\n*END STEP"),
                ("'infinity' where a force is expected", "\n*END STEP", "\nX1, 1, infinity\n*END STEP"),
                ("'NAN' where the modulus", "\n6., 0.", "\nNAN, 0."),
                ("continues the keyword with the next line", "*CLOAD\n", "*CLOAD,\n"),
                ("continues the keyword with the next line", "*BOUNDARY\n", "*BOUNDARY,\n"),
                ("continues the keyword with the next line", "*NODE, NSET=ALL\n", "*NODE, NSET=ALL,\n")):
            with self.subTest(now=now):
                self.assertIn(was, deck)
                self.refused(deck.replace(was, now, 1), message)
        self.first(deck.replace("*ELEMENT, TYPE=C3D8,", "*ELEMENT, TYPE=C3D8,\n", 1))

    def test_members_count_once(self):
        """Nodes of elements come as often as elements share them, and names may be there twice."""
        end = chosen(lambda x, y, z: x == CELLS[0])
        last = [e + 1 for e in range(CELLS[0] * CELLS[1] * CELLS[2]) if e % CELLS[0] == CELLS[0] - 1]
        behind = chosen(lambda x, y, z: x >= CELLS[0] - 1)
        ends = f"*ELSET, ELSET=LAST\n{rows(last)}"

        def compare(sets, by_name, by_number, keyword):
            decks = [mesh() + ends + lines + ONE + ROLLERS + step(keyword, *loads)
                     for lines, loads in ((sets, by_name), ("", by_number))]
            named, numbered = (self.first(deck)["results"] for deck in decks)
            self.close(named["objective"], numbered["objective"], 1e-10)
            found = []
            for deck in decks:
                self.write("deck.inp", deck)
                summary = self.summary("pfem", "deck.inp", "--order", "1")
                found.append(summary["results"]["strain_energy"])
            self.close(*found, 1e-10)

        for sets, nodes in (("*NSET, NSET=TWO, ELSET=LAST\n", behind), ("*NSET, NSET=TWO\nX1, X1\n", end),
                            ("*NSET, NSET=TWO\nX1\n*NSET, NSET=TWO, ELSET=LAST\n", behind),
                            (f"*NSET, NSET=TWO, GENERATE\n{end[0]}, {end[0]}\n{end[0]}, {end[0]}\n", end[:1])):
            with self.subTest(sets=sets):
                compare(sets, ["TWO, 1, 0.01"], [f"{n}, 1, 0.01" for n in nodes], "*CLOAD")
        for sets in ("*ELSET, ELSET=TWO\nLAST, LAST\n", f"*ELSET, ELSET=TWO\nLAST\n*ELSET, ELSET=TWO\n{last[0]}, LAST\n"):
            with self.subTest(sets=sets):
                compare(sets, ["TWO, P4, -1."], [f"{e}, P4, -1." for e in last], "*DLOAD")


class Displacements(Decks):
    def test_a_bar_that_is_pulled_by_its_end(self):
        for grid in ("mesh", "voxels"):
            run = self.first(mesh() + TWO + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1"), "-o", "out", "--grid", grid, "--reanalyse", "0")
            self.close(run["results"]["steps"]["objective"][0], -0.01 / FLEXIBILITY, 1e-5)
            case = run["results"]["cases"][0]
            self.close(case["imposed_work"], -case["value"], 1e-8)
            self.close(case["imposed_force"][0], case["imposed_work"] / 0.1, 1e-9)
            self.close(case["support_force"][0], -case["imposed_force"][0], 1e-6)
            self.assertEqual(run["problem"]["cases"][0]["displacements"], 9)

    # Forces F at the end that moves by v and G in the middle, of flexibilities 2/3 before it and 1 behind it, where N
    # is the tension: c = f . u - r . v with N_1 2/3 + N_2 = v, N_1 - N_2 = G, r = N_2 - F.
    def test_forces_on_what_moves_do_work(self):
        moved, at_end, in_middle = ("*BOUNDARY", "X1, 1, 1, 0.1"), self.pull(0.5), self.pull(1, 4)

        def lost(run):
            return [w["text"] for w in run["warnings"] if w["code"] == "lost-load"]
        tension = (0.1 + 1) / FLEXIBILITY
        for end, force in ((at_end, 0.5), ([], 0)):
            run = self.first(mesh() + TWO + ROLLERS + step(*moved, *end, *in_middle))
            self.close(run["results"]["steps"]["objective"][0],
                       2 / 3 * tension + force * 0.1 - (tension - 1 - force) * 0.1, 1e-5)
            self.assertEqual(len(lost(run)), 1 if end else 0, lost(run))
        self.write("plain.inp", mesh() + TWO + ROLLERS)
        both = [n - 1 for x in (4, CELLS[0]) for n in chosen(lambda i, j, k, x=x: i == x)]
        case = {"name": "a", "displacements": [{"set": "X1", "displacement": [0.1, None, None]}],
                "loads": [{"nodes": both, "total_force": [1.8, 0, 0]}]}
        run = self.solve({"mesh": {"file": "plain.inp"}, "cases": [case]}, *SOLID)
        self.assertEqual(len(lost(run)), 1)
        self.assertIn("9 of 18 components of forces act where the same load case moves the body: they change the work",
                      lost(run)[0])
        self.refused(mesh() + TWO + ROLLERS + step(*moved, *at_end),
                     "are moved in the direction of the force by the same load case")
        # what another case moves is held in this one
        self.refused(mesh() + TWO + ROLLERS + step(*moved) + step("*BOUNDARY", "X1, 1, 1, 0.", *at_end),
                     "held in the direction of the force, which does nothing")

    def test_designs_are_those_of_the_force_that_moves_them(self):
        # With one load the stiffest design is the same either way, and k of the force is k of the displacement.
        arguments = ("--steps", "6", "--volume", "0.5", "--tolerance", "1e-10", "--change", "0")
        tip = chosen(lambda x, y, z: x == CELLS[0] and z == 0 and y == 1)[0]
        clamp = "*BOUNDARY\nX0, 1, 3\n"
        self.write("deck.inp", mesh() + ONE + clamp + step("*CLOAD", f"{tip}, 3, -1."))
        pressed = self.optimise("deck.inp", *arguments)["results"]["steps"]["objective"]
        self.write("deck.inp", mesh() + ONE + clamp + step("*BOUNDARY", f"{tip}, 3, 3, -0.01"))
        moved = self.optimise("deck.inp", *arguments)["results"]["steps"]["objective"]
        for of_force, of_displacement in zip(pressed, moved):
            self.close(of_force * of_displacement, -1e-4, 1e-4)

    def test_units_and_steps(self):
        deck = mesh() + ONE + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1") + step(
            "*BOUNDARY", "X1, 1, 1, -0.2")
        self.write("deck.inp", deck)
        run = self.optimise("deck.inp", *SOLID, "--unit", "0.001")
        # k = E A / L in N/m.
        stiffness = 6e6 * 1e-6 / 4e-3
        for case, way in zip(run["results"]["cases"], (0.1e-3, -0.2e-3)):
            self.close(case["value"], -stiffness * way**2, 1e-5)

    def test_the_same_in_a_problem(self):
        self.write("deck.inp", mesh() + ONE + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1"))
        deck = self.optimise("deck.inp", "--steps", "3")
        self.write("plain.inp", mesh() + ONE + ROLLERS)
        document = {"mesh": {"file": "plain.inp"}, "cases": [
            {"name": "move", "displacements": [{"set": "X1", "displacement": [0.1, None, None]}]}]}
        run = self.solve(document, "--steps", "3")
        self.assertEqual(run["results"]["steps"]["objective"], deck["results"]["steps"]["objective"])

        def refused(message, *arguments, case=None, **more):
            self.write("p.json", json.dumps({**document, **({"cases": [case]} if case else {}), **more}))
            self.fails(BAD_FILE, message, "topopt", "p.json", *arguments)

        refused("cases[0].displacements[0].displacement", case={
            "name": "move", "displacements": [{"set": "X1", "displacement": [0, None, None]}]})
        refused("where supports, mirrors or the mesh hold it", case={
            "name": "move", "displacements": [{"set": "X0", "displacement": [0.1, None, None]}]})
        refused("in the same load case", case={"name": "move", "displacements": [
            {"set": "X1", "displacement": [0.1, None, None]}, {"set": "X1", "displacement": [0.2, None, None]}]})
        refused("all of its elements are void", passive=[{"box": [3.5, 0, 0, 4, 1, 1], "role": "void"}])
        voxels = self.solve(document, "--steps", "3", "--grid", "voxels", "--tolerance", "1e-9")
        for one, other in zip(voxels["results"]["steps"]["objective"], run["results"]["steps"]["objective"]):
            self.close(one, other, 1e-5)

    def test_supports_of_a_problem_do_not_hold_what_a_deck_moves(self):
        self.write("deck.inp", mesh() + ONE + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1"))
        for more, message in (({"supports": [{"box": [4, 0, 0, 4, 0, 1], "components": "x"}]}, "held by \"supports\""),
                              ({"mirrors": [{"axis": "x", "place": 4}]}, "held by \"mirrors\"")):
            self.write("p.json", json.dumps({"mesh": {"file": "deck.inp"}, **more}))
            self.fails(BAD_FILE, message, "topopt", "p.json")
        self.solve({"mesh": {"file": "deck.inp"}, "steps": 1,
                    "supports": [{"box": [4, 0, 0, 4, 0, 1], "components": "yz"}]})

    def test_what_is_not_known_of_displacements(self):
        self.refused(mesh() + ONE + ROLLERS + step("*BOUNDARY", "X1, 4, 4, 0.1"), "a rotation of 0.1")
        self.refused(mesh() + ONE + ROLLERS + "*BOUNDARY\nX1, 1, 1, 0.1\n" + step(*self.pull()), "before the first step")
        self.refused(mesh() + ONE + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1", "X1, 1, 1, 0.2"), "in one step")
        self.refused(mesh() + ONE + ROLLERS + step(*self.pull()) + step("*BOUNDARY", "X1, 1, 1, 0.1"),
                     "supports of step 2 are not those of the first")
        self.refused(mesh() + ONE + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1", *self.pull()),
                     "changes no displacement")

    def test_resumed_runs(self):
        self.write("deck.inp", mesh() + TWO + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1"))
        self.optimise("deck.inp", "--steps", "2", "--checkpoint", "c.h5")
        whole = self.optimise("deck.inp", "--steps", "4")
        resumed = self.optimise("deck.inp", "--steps", "4", "--resume", "c.h5")
        self.assertEqual(resumed["results"]["objective"], whole["results"]["objective"])


class Mass(Decks):
    """Loads on mass: a bar of density 3, E = 6, 4 m long, in 8 elements."""

    def test_a_bar_that_hangs_and_one_that_turns(self):
        energy = 9 * 100 * 64 / 18 * (1 - 1 / 256)  # rho^2 g^2 A L^3 / (3 E), less what linear elements lack
        hang = step("*DLOAD", "BODY, GRAV, 10., 2., 0., 0.")
        for self.backend in driver_case.backends():
            with self.subTest(backend=self.backend):
                for grid in ("voxels", "mesh"):
                    run = self.first(mesh() + ONE + ROLLERS + hang, "--grid", grid)
                    self.close(run["results"]["steps"]["objective"][0], energy, 2e-5)
        self.backend = "serial"
        self.assertEqual(run["engine"]["method"], "mma")
        self.assertEqual(run["problem"]["cases"][0]["body_loads"], [{"acceleration": [10, 0, 0]}])
        self.close(run["results"]["cases"][0]["support_force"][0], -120 * run["results"]["volume"], 1e-6)
        # All elements, as Abaqus/CAE writes it; and two sets.
        for row in (", GRAV, 10., 1., 0., 0.", "LEFT, GRAV, 10., 1., 0., 0.\nRIGHT, GRAV, 10., 1., 0., 0."):
            again = self.first(mesh() + ONE + ROLLERS + step("*DLOAD", row))
            self.close(again["results"]["steps"]["objective"][0], run["results"]["steps"]["objective"][0], 1e-12)
        turn = self.first(mesh() + ONE + ROLLERS + step("*DLOAD", "BODY, CENTRIF, 5., 0., 0., 7., 0., 0., -2."))
        self.assertEqual(turn["problem"]["cases"][0]["body_loads"][0]["axis"], [0, 0, -1])
        self.write("plain.inp", mesh() + ONE + ROLLERS)
        for case, expected in (({"gravity": [10, 0, 0]}, run),
                               ({"rotation": {"origin": [0, 0, 7], "axis": [0, 0, -3], "speed": 5**0.5}}, turn)):
            other = self.solve({"mesh": {"file": "plain.inp"}, "cases": [{"name": "mass", **case}]}, *SOLID)
            self.close(other["results"]["steps"]["objective"][0], expected["results"]["steps"]["objective"][0], 1e-12)

    # Half of a bar that is held at both ends, with a mirror in its middle; and the whole.
    def test_mirrors(self):
        def document(load, whole=False):
            ends = [{"box": [x, 0, 0, x, 1, 1]} for x in ((0, 8) if whole else (0,))]
            return {"mesh": {"box": {"cells": [16 if whole else 8, 2, 4], "size": [8 if whole else 4, 1, 1]}}, "steps": 1,
                    "material": {"young": 6, "poisson": 0.3, "mass_density": 3}, "supports": ends,
                    "mirrors": [] if whole else [{"axis": "x", "place": 4}],
                    "cases": [{"name": "mass", **load}]}

        def turn(origin, axis):
            return {"rotation": {"origin": origin, "axis": axis, "speed": 2}}

        for load in ({"gravity": [0, 0.3, -1]}, turn([4, 7, 0], [0, 1, 1]), turn([-3, 0.2, 0], [1, 0, 0])):
            with self.subTest(load=load):
                half, whole = (self.solve(document(load, is_whole))["results"]["steps"]["objective"][0]
                               for is_whole in (False, True))
                self.close(2 * half, whole, 1e-5)
        for load, text in (({"gravity": [1, 0, -1]}, "load case 'mass': mirrors[0]: gravity has a component along x, and beyond the "
                                                     "mirror x = 4 it would act the other way: model the whole part"),
                           (turn([0, 0, 0], [0, 0, 1]), "the axis of rotation is neither in the plane x = 4 nor normal to it"),
                           (turn([4, 0, 0], [1, 1, 0]), "the axis of rotation is neither")):
            with self.subTest(load=load):
                self.write("p.json", json.dumps(document(load)))
                self.fails(BAD_FILE, text, "topopt", "p.json")

    def test_mass_alone_loads_the_design(self):
        def codes(**more):
            document = {"mesh": {"box": {"cells": [8, 2, 2], "size": [4, 1, 1]}}, "steps": 1,
                        "material": {"young": 6, "poisson": 0, "mass_density": 3},
                        "supports": [{"box": [0, 0, 0, 0, 1, 1]}], "cases": [{"name": "w", "gravity": [0, 0, -1]}]}
            return [warning["code"] for warning in self.solve({**document, **more})["warnings"]]

        end = [4, 0, 0, 4, 1, 1]
        self.assertIn("weight-alone", codes())
        self.assertIn("weight-alone", codes(cases=[{"name": "s", "rotation": {
            "origin": [0, 0, 0], "axis": [0, 0, 1], "speed": 1}}]))
        self.assertNotIn("weight-alone", codes(passive=[{"box": [3.4, 0, 0, 4, 1, 1], "role": "solid"}]))
        self.assertNotIn("weight-alone", codes(cases=[{"name": "w", "gravity": [0, 0, -1],
                                                       "loads": [{"box": end, "total_force": [0, 0, -1]}]}]))
        self.assertNotIn("weight-alone", codes(objective="volume", constraints=[
            {"kind": "displacement", "box": end, "direction": [0, 0, -1], "at_most": 1000}]))

    def test_units(self):
        # In N, mm and s: t/mm3 and mm/s2.
        deck = (mesh() + ONE.replace("6., 0.", "210000., 0.").replace("3.\n", "7.85e-9\n") + ROLLERS +
                step("*DLOAD", "BODY, GRAV, 9810., 1., 0., 0."))
        self.write("deck.inp", deck)
        run = self.optimise("deck.inp", *SOLID, "--unit", "0.001")
        length, area = 4e-3, 1e-6
        self.close(run["results"]["steps"]["objective"][0],
                   (7850 * 9.81)**2 * area * length**3 / (3 * 2.1e11) * (1 - 1 / 256), 2e-5)

    def test_steps_and_a_design(self):
        deck = mesh() + ONE + "*BOUNDARY\nX0, 1, 3\nX1, 1, 3\n" + step("*DLOAD", "BODY, GRAV, 1., 0., 0., -1.") + step(
            *self.pull(), "*DLOAD, OP=NEW", "BODY, CENTRIF, 0.3, 2., 0.5, 0.5, 0., 0., 1.")
        deck = deck.replace("X1, 1, 3", "X1, 3")
        self.write("deck.inp", deck)
        for grid in ("mesh", "voxels"):
            arguments = ("--volume", "0.5", "--grid", grid)
            run = self.optimise("deck.inp", "--steps", "12", *arguments, "-o", "out", "--reanalyse", "0")
            self.assertEqual([len(case["body_loads"]) for case in run["problem"]["cases"]], [1, 1])
            objective = run["results"]["steps"]["objective"]
            self.assertLess(objective[-1], 0.9 * objective[0])
            self.assertTrue(run["certificate"]["passed"])
            self.optimise("deck.inp", "--steps", "4", "--checkpoint", "c.h5", *arguments)
            resumed = self.optimise("deck.inp", "--steps", "12", "--resume", "c.h5", *arguments)
            self.assertEqual(resumed["results"]["objective"], run["results"]["objective"])

    def test_what_is_not_known_of_mass(self):
        gravity = step("*DLOAD", "BODY, GRAV, 9.81, 0., 0., -1.")
        good = mesh() + ONE + ROLLERS + gravity
        self.refused(good.replace("*DENSITY\n3.\n", ""), "has no mass density")
        self.refused(good, "take mma", "--method", "oc")
        self.refused(good, "take mma", "--method", "oc", "--grid", "voxels")
        self.refused(good.replace("*DENSITY\n3.\n", ""), "has no mass density", "--grid", "voxels")
        self.refused(good.replace("BODY, GRAV", "LEFT, GRAV"), "acts on 8 of 32 elements")
        self.refused(good.replace("0., 0., -1.\n*END", "0., 0., 0.\n*END"), "a direction of length 0")
        self.refused(mesh() + ONE + ROLLERS + gravity + step("*DLOAD", "BODY, GRAV, 5., 0., 0., -1."), "OP=NEW")
        self.refused(good.replace("*END", "BODY, GRAV, 5., 0., 1., 0.\n*END"), "a second gravity")
        self.refused(good.replace("GRAV, 9.81", "CORIO, 9.81"), "GRAV or CENTRIF")
        self.refused(good.replace("BODY, GRAV, 9.81", "BODY, CENTRIF, -1., 0., 0., 0."), "square of a speed")
        self.write("plain.inp", mesh() + ROLLERS)

        def problem_refused(message, case):
            self.write("p.json", json.dumps({"mesh": {"file": "plain.inp"}, "cases": [{"name": "a", **case}],
                                             "material": {"young": 1, "poisson": 0}}))
            self.fails(BAD_FILE, message, "topopt", "p.json")

        problem_refused("has no mass density", {"gravity": [0, 0, -9.81]})
        problem_refused("cases[0].gravity", {"gravity": [0, 0, 0]})
        problem_refused("cases[0].rotation.speed", {"rotation": {"origin": [0, 0, 0], "axis": [0, 0, 1], "speed": 0}})


class Temperatures(Decks):
    """A bar of E = 6, 4 m long, whose material is longer by 0.01 for each K."""
    WARM = ONE.replace("3.\n", "3.\n*EXPANSION, ZERO=-5.\n0.01\n")
    PROBLEM = {"material": {"young": 6, "poisson": 0.3, "expansion": 0.01}, "supports": [{"box": [0, 0, 0, 0, 2, 2]}], "cases": [
        {"name": "warm", "temperature_change": [{"box": [1, 0, 0, 4, 1, 1], "change": 7}]}]}
    INITIAL = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\n"

    def deck(self, *steps, material=WARM, initial=INITIAL + "ALL, 20.\n"):
        return mesh() + material + initial + ROLLERS + "".join(steps)

    # It needs (0.1 / 4 - 0.01 * 10) E A to be moved by 0.1.
    def test_a_bar_that_is_warm_and_held(self):
        moved = ("*BOUNDARY", "X1, 1, 1, 0.1")
        for self.backend in driver_case.backends():
            with self.subTest(backend=self.backend):
                run = self.first(self.deck(step("*TEMPERATURE", "ALL, 30.", *moved)))
                case, modulus = run["results"]["cases"][0], 6 * run["results"]["volume"]**3
                self.assertEqual(run["engine"]["method"], "mma")
                self.assertEqual(run["engine"]["linear_below"], 0)
                self.assertEqual(run["problem"]["cases"][0]["temperature_change"], {"least": 10, "most": 10})
                self.assertEqual(run["problem"]["material"]["expansion"], 0.01)
        self.backend = "serial"
        # Of the first design, solid but for 1e-6: 2 f . u - u . K u, f along the bar being at its ends alone, of which one moves.
        self.close(run["results"]["steps"]["objective"][0], 2 * 6 * 0.1 * 0.1 - 6 * 0.1**2 / 4 + 2 * 6 * 0.1**2 * 4, 1e-5)
        self.assertGreater(modulus, 0)
        self.assertLess(abs(case["support_force"][0] + case["imposed_force"][0]), 1e-8)
        # Rows of sets, of nodes and of all, of which the last counts; a ZERO has no effect.
        for rows in (["ALL, 11.", ", 30."], [f"{n + 1}, 30." for n in range(len(points()))], ["ALL, 30.", "X0, 30., 0., 0."]):
            again = self.first(self.deck(step("*TEMPERATURE", *rows, *moved), material=self.WARM.replace("-5.", "300.")))
            self.close(again["results"]["objective"], run["results"]["objective"], 1e-12)
        self.write("plain.inp", mesh() + ONE + ROLLERS)
        for change in (10, [{"set": "ALL", "change": 3}, {"box": [0, 0, 0, 4, 1, 1], "change": 10}]):
            problem = self.solve({"mesh": {"file": "plain.inp"}, "material": {"expansion": 0.01}, "cases": [
                {"name": "warm", "temperature_change": change,
                 "displacements": [{"set": "X1", "displacement": [0.1, None, None]}]}]}, *SOLID)
            self.close(problem["results"]["objective"], run["results"]["objective"], 1e-12)

    def test_voxels_that_are_warm(self):
        bar = {"mesh": {"box": {"cells": [8, 2, 2], "size": [4, 1, 1]}}, "material": {"young": 6, "poisson": 0.3, "expansion": 0.01},
               "supports": [{"box": [0, 0, 0, 0, 1, 1], "components": "x"}, {"box": [4, 0, 0, 4, 1, 1], "components": "x"},
                            {"box": [0, 0, 0, 4, 0, 1], "components": "y"}, {"box": [0, 0, 0, 4, 1, 0], "components": "z"}],
               "cases": [{"name": "held", "temperature_change": 10}], "filter": {"kind": "none"}, "volume_fraction": 0.5, "steps": 2}
        loaded = {**bar, "supports": [{"box": [0, 0, 0, 0, 1, 1]}], "cases": [
            {"name": "both", "temperature_change": [{"box": [1, 0, 0, 3, 1, 0.5], "change": 7}],
             "loads": [{"box": [4, 0, 0, 4, 1, 1], "total_force": [0, 0, -0.1]}]}]}
        for self.backend in driver_case.backends():
            run = self.solve(bar, "--grid", "voxels", "--hdf", "bar.hdf")
            self.assertTrue(run["certificate"]["passed"])
            self.assertEqual(run["engine"]["method"], "mma")
            # The first design is of one density: E A alpha dT between walls, and 1/2 E (alpha dT)^2 in each m^3.
            start = self.solve(bar, "--grid", "voxels", "--steps", "1", "--move", "1e-9", "--hdf", "bar.hdf")
            energy = hdf5_values.read(self.path("bar.hdf"), "VTKHDF/CellData/strain_energy_density")
            for one in energy:
                self.close(one, 0.5 * 6 * 0.5**3 * 0.1**2, 1e-5)
            self.assertLess(max(abs(x) for x in start["results"]["cases"][0]["support_force"]), 1e-6)
            # What one cannot tell from the mesh.
            found, known = (self.solve(loaded, "--grid", grid, "--steps", "4") for grid in ("voxels", "mesh"))
            for one, other in zip(found["results"]["steps"]["objective"], known["results"]["steps"]["objective"]):
                self.close(one, other, 1e-4)
        self.backend = "serial"
        free = {**bar, "supports": [{"box": [0, 0, 0, 0, 0, 0]}, {"box": [4, 0, 0, 4, 0, 0], "components": "yz"},
                                    {"box": [0, 1, 0, 0, 1, 0], "components": "z"}]}
        self.solve(free, "--grid", "voxels", "--steps", "1", "--tolerance", "1e-10", "--precision", "double", "--hdf", "free.hdf")
        for one in hdf5_values.read(self.path("free.hdf"), "VTKHDF/CellData/strain_energy_density"):
            self.assertLess(abs(one), 1e-7 * 0.5 * 6 * 0.1**2)
        moved = hdf5_values.read(self.path("free.hdf"), "VTKHDF/PointData/displacement")
        self.close(max(moved[0::3]), 4 * 0.1, 1e-6)

    def test_what_is_pressed_far_more_than_it_carries(self):
        # Less material is less compliant until the force is all that is left: a step may take all of it away.
        for name, problem in {
                "walls": {"supports": [{"box": [0, 0, 0, 0, 4, 4]}, {"box": [8, 0, 0, 8, 4, 4]}], "cases": [
                    {"name": "a", "temperature_change": 50, "loads": [{"box": [4, 0, 4, 4, 4, 4], "total_force": [0, 0, -1000]}]}]},
                "half": {"supports": [{"box": [0, 0, 0, 0, 4, 4]}], "mirrors": [{"axis": "y", "place": 0}], "cases": [
                    {"name": "a", "temperature_change": 20, "loads": [{"box": [8, 0, 0, 8, 4, 0], "total_force": [0, 0, -100]}]}]}}.items():
            problem = {"mesh": {"box": {"cells": [8, 4, 4], "size": [8, 4, 4]}},
                       "material": {"young": 1e6, "poisson": 0.3, "expansion": 1e-3}, **problem}
            self.write(name + ".json", json.dumps(problem))
            for grid in ("mesh", "voxels"):
                with self.subTest(problem=name, grid=grid):
                    run = self.optimise(name + ".json", "--grid", grid)
                    steps = run["results"]["steps"]["objective"]
                    self.assertEqual(run["status"], "converged")
                    self.assertGreater(max(steps[2:]), 1e3 * steps[1])  # hardly any was left, and came back
                    self.assertLess(run["results"]["objective"], 0.5 * steps[1])
                    self.assertGreater(run["results"]["volume"], 0.05)
            # A run that ends there is no success.
            ended = self.summary("topopt", name + ".json", "-q", "--backend", "serial", "--steps", "2", code=NOT_CONVERGED)
            self.assertEqual((ended["status"], ended["results"]["converged"]), ("not converged", False))
            rise, = [one for one in ended["warnings"] if one["code"] == "compliance-rose"]
            self.assertIn("hardly any material is left", rise["text"])

    def test_what_moves_freely(self):
        # u = 0.01 * 10 x, 0.1 y, 0.1 z, whatever the unit of length: f . u = 3 E (0.01 * 10)^2 V.
        free = self.deck(step("*TEMPERATURE", "ALL, 30."))
        run = self.first(free, "-o", "out", "--reanalyse", "0")
        self.close(run["results"]["steps"]["objective"][0], 3 * 6 * 0.1**2 * 4, 1e-5)
        self.assertLess(max(abs(f) for f in run["results"]["cases"][0]["support_force"]), 1e-8)
        moved = hdf5_values.read(self.path("out/deck.hdf"), "VTKHDF/PointData/displacement")
        for n, p in enumerate(points()):
            for c in range(3):
                self.assertLess(abs(moved[3 * n + c] - 0.1 * p[c] / 2), 1e-7)
        self.assertLess(max(abs(x) for x in hdf5_values.read(
            self.path("out/deck.hdf"), "VTKHDF/CellData/strain_energy_density")), 1e-7)
        self.assertEqual(set(hdf5_values.read(self.path("out/deck.hdf"), "VTKHDF/PointData/temperature_change")), {10})
        small = self.first(free.replace("6., 0.", "6e-6, 0."), "--unit", "0.001")
        self.close(small["results"]["steps"]["objective"][0], 3 * 6 * 0.1**2 * 4e-9, 1e-5)

    # What pulls at the end that moves does so too: c = f . u - r . v for the whole bar, whatever its cells.
    def test_a_warm_bar_that_is_moved_is_not_made_weak(self):
        self.write("plain.inp", mesh() + ROLLERS)
        self.solve({"mesh": {"file": "plain.inp"}, "material": {"young": 6, "poisson": 0, "expansion": 0.01}, "cases": [
            {"name": "warm", "temperature_change": 1, "displacements": [{"set": "X1", "displacement": [0.1, None, None]}]}]},
            "--volume", "0.5", "--steps", "20", "--filter", "none", "--tolerance", "1e-10", "--no-stl", "-o", "out")
        density = hdf5_values.read(self.path("out/p.hdf"), "VTKHDF/CellData/density")
        self.assertLess(max(density) - min(density), 0.02)

    def test_what_is_hardly_meant(self):
        def codes(*rows):
            run = self.first(self.deck(step("*TEMPERATURE", *rows)), "--no-stl")
            return [warning["code"] for warning in run["warnings"]]
        pull = self.pull()
        self.assertEqual(codes("ALL, 29."), ["temperatures-alone"])
        self.assertEqual(codes("ALL, 29.", *pull), [])
        self.assertEqual(codes("ALL, 31.", *pull), ["large-strain"])  # 0.01 * 11
        self.assertEqual(codes("ALL, 20.", "X1, 9.", *pull), ["large-strain"])
        # Temperatures from 0 K on, in place of changes; a machine that becomes warmer by 300 K has a change.
        self.write("plain.inp", mesh() + ROLLERS)
        for change, expected in ((20, []), (25, []), (280, []), (300, []), (293, ["odd-temperature"]),
                                 (293.15, ["odd-temperature"]), (353.15, ["odd-temperature"]), (-293.15, []), (120.15, []),
                                 ([{"set": "ALL", "change": 298.15}, {"set": "X1", "change": 341.7}], ["odd-temperature"]),
                                 ([{"set": "X1", "change": 353.2}], [])):
            with self.subTest(change=change):
                run = self.solve({"mesh": {"file": "plain.inp"}, "material": {"young": 6, "poisson": 0, "expansion": 1.2e-5}, "cases": [
                    {"name": "warm", "temperature_change": change, "loads": [{"set": "X1", "total_force": [1, 0, 0]}]}]},
                    "--volume", "0.5", "--steps", "1", "--filter", "none", "--no-stl")
                self.assertEqual([warning["code"] for warning in run["warnings"]], expected)
        one_expands = TWO.replace("6., 0.\n", "6., 0.\n*EXPANSION\n0.01\n")
        run = self.first(self.deck(step("*TEMPERATURE", "ALL, 29.", *pull), material=one_expands), "--no-stl")
        self.assertEqual([warning["code"] for warning in run["warnings"]], ["no-expansion"])
        self.assertIn("material SOFT does not expand", run["warnings"][0]["text"])

    def test_steps(self):
        # Temperatures stay, a new one counts, and OP=NEW ends them all; of two keywords the first says so.
        self.write("deck.inp", self.deck(
            step("*TEMPERATURE", "ALL, 30."), step(*self.pull()), step("*TEMPERATURE", "X1, 40."),
            step("*TEMPERATURE, OP=NEW", "X0, 25."), step("*TEMPERATURE, OP=NEW"),
            step("*TEMPERATURE, OP=NEW", "ALL, 10.", "*TEMPERATURE, OP=NEW", "X1, 5."),
            step("*TEMPERATURE, OP=MOD", "X1, 10.")).replace("*STEP\n*STATIC\n*TEMPERATURE, OP=NEW\n*END STEP\n",
                                                             "*STEP, PERTURBATION\n*STATIC\n*CLOAD\n81, 1, 1.\n*END STEP\n"))
        run = self.optimise("deck.inp", *SOLID)
        self.assertEqual([case.get("temperature_change") for case in run["problem"]["cases"]], [
            {"least": least, "most": most} if most > least or least else None
            for least, most in ((10, 10), (10, 10), (10, 20), (0, 5), (0, 0), (-15, -10), (-10, -10))])

    def test_designs_with_other_loads(self):
        deck = self.deck(step("*TEMPERATURE", "ALL, 21.", "X1, 20.5", "*CLOAD", "X1, 3, -0.01", "*DLOAD", "BODY, GRAV, 0.01, 0., 0., -1."),
                         step("*TEMPERATURE, OP=NEW", "*DLOAD, OP=NEW", "*CLOAD, OP=NEW", "X1, 2, 0.01")).replace(
                             ROLLERS, "*BOUNDARY\nX0, 1, 3\n")
        self.write("deck.inp", deck)
        run = self.optimise("deck.inp", "--steps", "12", "--volume", "0.5", "-o", "out")
        self.assertEqual(["temperature_change" in case for case in run["problem"]["cases"]], [True, False])
        objective = run["results"]["steps"]["objective"]
        self.assertLess(objective[-1], 0.9 * objective[0])
        self.assertTrue(run["certificate"]["passed"])
        self.optimise("deck.inp", "--steps", "4", "--checkpoint", "c.h5", "--volume", "0.5")
        resumed = self.optimise("deck.inp", "--steps", "12", "--resume", "c.h5", "--volume", "0.5")
        self.assertEqual(resumed["results"]["objective"], run["results"]["objective"])
        for change in (deck.replace("0.01\n", "0.011\n"), deck.replace("ALL, 21.", "ALL, 21.1")):
            self.refused(change, "another problem", "--steps", "12", "--resume", "c.h5", "--volume", "0.5")
        limited = self.first(deck, "--max-stress", "50", "--move", "0.1")
        self.assertTrue(limited["results"]["constraints"][1]["holds"])
        # What is renumbered has the same temperatures.
        renumbered = self.solve({"mesh": {"box": {"cells": [4, 2, 2], "size": [4, 2, 2]}, "renumber": 3}, **self.PROBLEM}, *SOLID)
        plain = self.solve({"mesh": {"box": {"cells": [4, 2, 2], "size": [4, 2, 2]}}, **self.PROBLEM}, *SOLID)
        self.close(renumbered["results"]["steps"]["objective"][0], plain["results"]["steps"]["objective"][0], 1e-9)

    def test_what_is_not_known_of_temperatures(self):
        warm = step("*TEMPERATURE", "ALL, 30.")
        good = self.deck(warm)
        row = good[:good.index("ALL, 30.")].count("\n") + 1
        for change, message in (
                ((self.INITIAL + "ALL, 20.\n", ""), "node 1 has a temperature, but none at first"),
                (("TEMPERATURE\nALL, 20.", "TEMPERATURE\nX0, 20."), "node 2 has a temperature, but none at first"),
                (("TYPE=TEMPERATURE", "TYPE=STRESS"), "of type STRESS are not solved"),
                (("TYPE=TEMPERATURE", "TYPE=TEMPERATURE, FILE=old"), "the parameter FILE"),
                (("0.01\n", "0.01, 20.\n0.02, 80.\n"), "depends on temperature"),
                (("0.01\n", "0.01, 20., 3.\n"), "the same in all directions"),
                (("0.01\n", "much\n"), "a coefficient of expansion is expected"),
                (("*EXPANSION, ", "*EXPANSION, TYPE=ORTHO, "), "expansion of type ORTHO"),
                (("*EXPANSION, ZERO=-5.\n0.01\n", ""), "no material expands: give *EXPANSION"),
                (("*TEMPERATURE\nALL, 30.", "*TEMPERATURE, AMPLITUDE=A\nALL, 30."), "temperatures by AMPLITUDE"),
                (("*TEMPERATURE\nALL, 30.", "*TEMPERATURE, FILE=heat.frd"), "temperatures by FILE"),
                (("*TEMPERATURE\nALL, 30.", "*TEMPERATURE, OP=OLD\nALL, 30."), "OP is OLD where NEW or MOD"),
                (("ALL, 30.", "ALL, 30., 2."), f"deck.inp: line {row}: a gradient of 2"),
                (("ALL, 30.", "ALL, hot"), "a temperature is expected"),
                (("ALL, 30.", "NONE, 30."), "NONE"),
                (("*STEP\n", "*STEP, PERTURBATION\n"), "PERTURBATION are not solved"),
                (("*STEP\n*STATIC\n*TEMPERATURE\nALL, 30.\n", "*TEMPERATURE\nALL, 30.\n*STEP\n"), "stands in no step"),
                (("*END STEP\n", "*END STEP\n" + self.INITIAL + "ALL, 3.\n"), "stands behind steps")):
            with self.subTest(change=change):
                self.assertIn(change[0], good)
                self.refused(good.replace(*change), message)
        self.refused(good, "temperatures they have both: take mma", "--method", "oc")
        self.refused(good, "leave temperatures out", "--projection", "--robust", "0.2")
        self.fails(USAGE, "forces of temperature change with the design", "topopt", "deck.inp", "--bound")
        # What has no temperature may expand in any way.
        self.first(good.replace("*EXPANSION, ", "*EXPANSION, TYPE=ORTHO, ").replace("*TEMPERATURE\nALL, 30.", "\n".join(self.pull())))
        self.refused(mesh() + ONE + ROLLERS, "any will do", "--objective", "frequency")
        self.write("deck.inp", good)
        self.fails(BAD_FILE, "has temperatures, which are not solved here", "pfem", "deck.inp")
        self.write("plain.inp", mesh() + ROLLERS)

        def problem_refused(message, case, **material):
            self.write("p.json", json.dumps({"mesh": {"file": "plain.inp"}, "cases": [{"name": "a", **case}],
                                             "material": {"young": 1, "poisson": 0, **material}}))
            self.fails(BAD_FILE, message, "topopt", "p.json")

        problem_refused("but no material expands", {"temperature_change": 5})
        problem_refused("is 0 at all nodes", {"temperature_change": 0}, expansion=1)
        problem_refused("cases[0].temperature_change", {"temperature_change": "hot"}, expansion=1)
        problem_refused("cases[0].temperature_change[0].change", {"temperature_change": [{"set": "X0", "change": None}]}, expansion=1)
        problem_refused("material.expansion", {"temperature_change": 5}, expansion="1e-5")
        problem_refused("NOWHERE", {"temperature_change": [{"set": "NOWHERE", "change": 1}]}, expansion=1)
        self.write("p.json", json.dumps({"mesh": {"file": "plain.inp"}, "cases": [{"name": "a", "temperature_change": 5}],
                                         "material": {"young": 1, "poisson": 0}, "start_from": "nowhere.hdf"}))
        self.fails(BAD_FILE, "there is no file", "topopt", "p.json", "--dry-run")


class Couplings(Decks):
    """Loads of a reference node, 901, which no element has, and rigid ends."""
    END = "*SURFACE, NAME=END\n" + "".join(f"{e}, S4\n" for e in range(8, 33, 8))

    def deck(self, reference, coupling, *lines, materials=TWO, supports=ROLLERS):
        nodes = mesh().replace("*ELEMENT", f"*NODE\n901, {reference}\n*ELEMENT", 1)
        return nodes + materials + self.END + coupling + supports + step(*lines)

    def coupling(self, kind, surface="END"):
        return f"*COUPLING, CONSTRAINT NAME=C, REF NODE=901, SURFACE={surface}\n*{kind}\n1, 6\n"

    def test_a_force_at_the_middle_is_a_uniform_traction(self):
        run = self.first(self.deck("9., 0.5, 0.5", self.coupling("DISTRIBUTING"), "*CLOAD", "901, 1, 0.5"))
        self.close(run["results"]["steps"]["objective"][0], 0.25 * FLEXIBILITY, 1e-5)
        # the reference node is no point that was forgotten
        deck = self.deck("9., 0.5, 0.5", self.coupling("DISTRIBUTING"), "*CLOAD", "901, 1, 0.5", materials=ONE)
        for points, codes in (("", []), ("*NODE\n902, 9., 9., 9.\n", ["unused-points"])):
            self.write("deck.inp", deck.replace("*SURFACE", points + "*SURFACE", 1))
            for run in (self.optimise("deck.inp", *SOLID), self.summary("pfem", "deck.inp", "--order", "1")):
                self.assertEqual([w["code"] for w in run["warnings"] if w["code"] == "unused-points"], codes)
                self.assertEqual([w["text"].split(": ")[1].split()[0] for w in run["warnings"]
                                  if w["code"] == "unused-points"], ["1"] * len(codes))

    def test_a_moment_and_an_arm_bend_alike(self):
        # A force of 1 along y, 2 m beyond the end, is one at the end and a moment of 2 about z.
        clamp = "*BOUNDARY\nX0, 1, 3\n"
        arm = self.first(self.deck("6., 0.5, 0.5", self.coupling("DISTRIBUTING"), "*CLOAD", "901, 2, 1.", supports=clamp))
        both = self.first(self.deck("4., 0.5, 0.5", self.coupling("DISTRIBUTING"), "*CLOAD", "901, 2, 1.", "901, 6, 2.",
                                    supports=clamp))
        self.close(arm["results"]["objective"], both["results"]["objective"], 1e-9)
        self.close(arm["results"]["cases"][0]["support_force"][1], -1, 1e-6)
        # The same in a problem, where all nodes weigh the same.
        self.write("plain.inp", self.deck("6., 0.5, 0.5", "*SURFACE, NAME=NODES, TYPE=NODE\nX1\n" +
                                          self.coupling("DISTRIBUTING", "NODES"), "*CLOAD", "901, 2, 1.", supports=clamp))
        nodes = self.optimise("plain.inp", *SOLID)
        self.write("plain.inp", mesh() + TWO + clamp)
        for remote in ({"point": [6, 0.5, 0.5], "force": [0, 1, 0]},
                       {"point": [4, 0.5, 0.5], "force": [0, 1, 0], "moment": [0, 0, 2]}):
            run = self.solve({"mesh": {"file": "plain.inp"}, "cases": [
                {"name": "a", "loads": [{"set": "X1", "remote": remote}]}]}, *SOLID)
            self.close(run["results"]["objective"], nodes["results"]["objective"], 1e-9)
        for message, load in (("\"force\" or a \"moment\"", {"set": "X1", "remote": {"point": [0, 0, 0]}}),
                              ("in one place", {"nodes": [80], "remote": {"point": [6, 0, 0], "force": [0, 1, 0]}})):
            self.write("p.json", json.dumps({"mesh": {"file": "plain.inp"}, "cases": [{"name": "a", "loads": [load]}]}))
            self.fails(BAD_FILE, message, "topopt", "p.json")

    def test_rigid_ends_that_are_moved(self):
        rigid = "*RIGID BODY, NSET=X1, REF NODE=901\n"
        for coupling in (rigid, self.coupling("KINEMATIC")):
            run = self.first(self.deck("9., 0.5, 0.5", coupling, "*BOUNDARY", "901, 1, 1, 0.1", "901, 2, 6"))
            self.close(run["results"]["steps"]["objective"][0], -0.01 / FLEXIBILITY, 1e-5)
        held = self.first(self.deck("9., 0.5, 0.5", rigid, "*CLOAD", "14, 2, 1.", supports=ROLLERS + "*BOUNDARY\n901, ENCASTRE\n"))
        self.assertEqual(held["problem"]["held_dofs"], 9 + 27 + 27 + 27 - 6)

    # F^2 times the flexibility of the bar; a moment as a problem states it.
    def test_rigid_ends_that_are_free(self):
        clamp = "*BOUNDARY\nX0, 1, 3\n"
        for coupling in ("*RIGID BODY, NSET=X1, REF NODE=901\n", self.coupling("KINEMATIC")):
            for self.backend in driver_case.backends():
                run = self.first(self.deck("9., 0.5, 0.5", coupling, "*CLOAD", "901, 1, 2.", supports=clamp))
                self.assertEqual(run["problem"]["rigid_bodies"], 1)
                self.close(run["results"]["steps"]["objective"][0], 4 * FLEXIBILITY, 1e-5)
            self.backend = "serial"
            turned = self.first(self.deck("6., 0.5, 0.5", coupling, "*CLOAD", "901, 2, 1.", "901, 4, 3.", supports=clamp))
            self.write("plain.inp", mesh() + TWO + clamp)
            same = self.solve({"mesh": {"file": "plain.inp"}, "rigid_bodies": [{"set": "X1"}], "cases": [
                {"name": "a", "loads": [{"set": "X1", "remote": {
                    "point": [6, 0.5, 0.5], "force": [0, 1, 0], "moment": [3, 0, 0]}}]}]}, *SOLID)
            self.close(turned["results"]["objective"], same["results"]["objective"], 1e-6)
            soft = self.first(self.deck("6., 0.5, 0.5", self.coupling("DISTRIBUTING"), "*CLOAD", "901, 2, 1.", "901, 4, 3.",
                                        supports=clamp))
            self.assertGreater(soft["results"]["steps"]["objective"][0], turned["results"]["steps"]["objective"][0])

    def of_part(self, reference, coupling, *lines, supports="*BOUNDARY\nP-1.X0, 1, 3\n"):
        """As Abaqus/CAE writes it: the numbers of the assembly begin again at 1, those of the part are P-1's."""
        material, section = TWO.split("*SOLID", 1)
        return ("*PART, NAME=P\n" + mesh() + "*SOLID" + section + "*END PART\n*ASSEMBLY, NAME=A\n"
                "*INSTANCE, NAME=P-1, PART=P\n*END INSTANCE\n" + f"*NODE\n1, {reference}\n"
                "*NSET, NSET=RP\n1,\n*NSET, NSET=TIP, INSTANCE=P-1\n" + rows(chosen(lambda x, y, z: x == CELLS[0])) +
                "*NSET, NSET=FOOT, INSTANCE=P-1, GENERATE\n1, 73, 9\n*SURFACE, NAME=END, TYPE=NODE\nTIP, 1.\n" +
                coupling + "*END ASSEMBLY\n" + material + supports + step(*lines))

    def test_numbers_of_an_assembly_are_apart(self):
        clamp = "*BOUNDARY\nX0, 1, 3\n"
        nodes = "*SURFACE, NAME=NODES, TYPE=NODE\nX1\n"
        for kind in ("KINEMATIC", "DISTRIBUTING"):
            flat = self.first(self.deck("6., 0.5, 0.5", nodes + self.coupling(kind, "NODES"), "*CLOAD", "901, 2, 1.",
                                        "14, 3, 0.2", supports=clamp))
            for reference, name, foot in (("RP", "RP", "P-1.X0"), ("1", "1", "FOOT")):
                with self.subTest(kind=kind, reference=reference):
                    run = self.first(self.of_part(
                        "6., 0.5, 0.5", self.coupling(kind).replace("901", reference), "*CLOAD", f"{name}, 2, 1.",
                        "P-1.14, 3, 0.2", supports=f"*BOUNDARY\n{foot}, 1, 3\n"))
                    self.assertEqual(run["problem"]["held_dofs"], flat["problem"]["held_dofs"])
                    self.close(run["results"]["objective"], flat["results"]["objective"], 1e-9)
        moved = self.first(self.of_part(
            "6., 0.5, 0.5", self.coupling("KINEMATIC").replace("901", "RP"), "*BOUNDARY", "RP, 1, 1, 0.1", "1, 2, 6",
            supports="*BOUNDARY\nP-1.X0, 1\nP-1.Y0, 2\nP-1.Z0, 3\n"))
        self.close(moved["results"]["steps"]["objective"][0], -0.01 / FLEXIBILITY, 1e-5)
        distributing = self.coupling("DISTRIBUTING").replace("901", "RP")
        for message, lines in (
                ("no node 14; that of its part is P-1.14", ("*CLOAD", "14, 3, 1.")),
                ("the part has no node 900", ("*CLOAD", "P-1.900, 3, 1.")),
                ("node 1 of the assembly is the reference node of a distributing", ("*BOUNDARY", "1, 1"))):
            self.refused(self.of_part("6., 0.5, 0.5", distributing, *lines), message)
        self.refused(self.of_part("6., 0.5, 0.5\n1, 7., 0., 0.", distributing, "*CLOAD", "RP, 2, 1."),
                     "node 1 is there twice")

    def test_what_is_not_known_of_couplings(self):
        rigid = "*RIGID BODY, NSET=X1, REF NODE=901\n"
        self.refused(self.deck("9., 0.5, 0.5", rigid, "*BOUNDARY", "901, 1, 1, 0.1"), "is free to move")
        self.refused(self.deck("9., 0.5, 0.5", rigid, "*BOUNDARY", "901, 1, 3, 0."), "is free to turn")
        self.refused(self.deck("9., 0.5, 0.5", rigid, "*CLOAD", "901, 1, 1.", supports=ROLLERS + "*BOUNDARY\n901, ENCASTRE\n"),
                     "that is held, where loads do nothing")
        self.refused(self.deck("9., 0.5, 0.5", rigid.replace("X1", "X0"), "*CLOAD", "14, 1, 1."), "is held or moved")
        self.refused(self.deck("9., 0.5, 0.5", self.coupling("DISTRIBUTING"), "*BOUNDARY", "901, 1, 1, 0.1"),
                     "mean displacement is not held")


class Frequencies(Decks):
    """Axial vibrations of the bar of E = 6 and density 3 in 8 elements, whose nodes move along x alone."""
    ALONG = "*BOUNDARY\nX0, 1, 3\nALL, 2, 3\n"

    def discrete(self, angle):
        """Hz of linear elements of 0.5 m with consistent mass, where k h = angle: above those of a rod by angle^2 / 24."""
        return math.sqrt(2 * 6 * (1 - math.cos(angle)) / (2 + math.cos(angle))) / 0.5 / (2 * math.pi)

    def found(self, deck, *arguments):
        run = self.first(deck, "--frequencies", "2", *arguments)
        self.assertTrue(run["certificate"]["passed"])
        self.assertEqual(run["problem"]["frequencies"], 2)
        self.assertLessEqual(max(run["results"]["frequency_residuals"]), 1e-10)
        return run["results"]["frequencies"]

    def test_a_bar_is_as_known(self):
        expected = [self.discrete(math.pi / 16), self.discrete(3 * math.pi / 16)]
        self.close(expected[0], math.sqrt(2) / 16, 2e-3)  # sqrt(E / rho) / 4 L
        deck = mesh() + ONE + self.ALONG + step(*self.pull())
        for self.backend in driver_case.backends():
            for value, known in zip(self.found(deck), expected):
                self.close(value, known, 1e-5)
        self.backend = "serial"
        # Gravity and other loads have no part in it; millimetres and tonnes have the same Hz.
        for other in (step(*self.pull(), "*DLOAD", "BODY, GRAV, 10., 1., 0., 0."), step(*self.pull()) + step(*self.pull(3))):
            run = self.first(mesh() + ONE + self.ALONG + other, "--objective", "frequency", "--frequencies", "2")
            for value, known in zip(run["results"]["steps"]["frequencies"][0], expected):
                self.close(value, known, 1e-5)
        scaled = ONE.replace("6., 0.", "6e-6, 0.").replace("3.\n", "3e-12\n")
        for value, known in zip(self.found(mesh() + scaled + self.ALONG + step(*self.pull()), "--unit", "0.001"), expected):
            self.close(value, 1e3 * known, 1e-5)
        self.write("plain.inp", mesh() + ONE + self.ALONG)
        run = self.solve({"mesh": {"file": "plain.inp"}, "frequencies": 2, "cases": [
            {"name": "a", "loads": [{"set": "X1", "total_force": [1, 0, 0]}]}]}, *SOLID)
        for value, known in zip(run["results"]["frequencies"], expected):
            self.close(value, known, 1e-5)

    def test_steps_that_ask_for_them(self):
        def deck(row, *head):
            return mesh() + ONE + self.ALONG + step(*self.pull()) + f"*STEP{''.join(head)}\n*FREQUENCY\n{row}\n*END STEP\n"

        first, second = self.discrete(math.pi / 16), self.discrete(3 * math.pi / 16)
        found = self.first(deck("2"))
        self.assertEqual(found["problem"]["frequencies"], 2)
        for value, known in zip(found["results"]["frequencies"], (first, second)):
            self.close(value, known, 1e-5)
        self.assertEqual(len(found["problem"]["cases"]), 1)
        # A range; the command line and a problem win.
        ranged = self.first(deck(f"2, 0., {(first + second) / 2}"))
        self.assertEqual((ranged["problem"]["frequencies"], len(ranged["results"]["frequencies"])), (2, 1))
        none = self.first(deck(f"2, , {first / 2}"))
        self.assertEqual((none["problem"]["frequencies_below"], none["results"]["frequencies"]), (first / 2, []))
        self.assertEqual(len(self.first(deck(f"2, , {first / 2}"), "--frequencies", "3")["results"]["frequencies"]), 3)
        self.assertNotIn("frequencies", self.first(deck("2"), "--frequencies", "0")["results"])
        self.write("deck.inp", deck("2", ", PERTURBATION"))
        run = self.solve({"mesh": {"file": "deck.inp"}, "frequencies": 1}, *SOLID)
        self.assertEqual(len(run["results"]["frequencies"]), 1)
        self.assertIn("without the stiffening", json.dumps(run["warnings"]))
        # Objectives take that many, too.
        held = self.first(deck("2"), "--objective", "frequency")
        self.assertEqual(len(held["results"]["steps"]["frequencies"][0]), 2)
        self.refused(deck("12"), "'STEP 2' asks for 12 natural frequencies, and at most 10 are found")
        self.refused(mesh() + ONE + self.ALONG + "*STEP\n*FREQUENCY\n2\n*END STEP\n", "there are no loads: give \"cases\"")
        self.refused(mesh() + ONE + self.ALONG + "*STEP\n*FREQUENCY\n2\n*END STEP\n", "Frequencies do not depend on them")
        self.write("deck.inp", deck("2"))
        self.fails(BAD_FILE, "'STEP 2' asks for natural frequencies, which are not solved here", "pfem", "deck.inp")

    def test_no_frequencies_of_designs_that_are_held_to_them(self):
        self.write("deck.inp", mesh() + ONE + self.ALONG + step(*self.pull()))
        for held in (("--objective", "frequency"), ("--min-frequency", "1")):
            self.fails(USAGE, "--frequencies 0, but the objective or a constraint is of natural frequencies", "topopt", "deck.inp",
                       "--frequencies", "0", *held)
        self.write("p.json", json.dumps({"mesh": {"file": "deck.inp"}, "objective": "frequency", "frequencies": 0}))
        self.fails(BAD_FILE, "\"frequencies\": 0, but the objective", "topopt", "p.json")
        self.assertEqual(len(self.optimise("p.json", "--frequencies", "2", "--steps", "1")["results"]["frequencies"]), 2)

    def test_modes_that_a_cycle_alone_does_not_find(self):
        """A rigid end beside void: residuals stay for dozens of iterations, and systems have to be solved."""
        steel = {"young": 2.1e11, "poisson": 0.3, "mass_density": 7850}
        run = self.solve({
            "mesh": {"box": {"cells": [24, 2, 8], "size": [0.6, 0.05, 0.2]}}, "material": steel, "volume_fraction": 0.5,
            "supports": [{"box": [0, 0, 0, 0, 0.1, 0.2]}], "rigid_bodies": [{"box": [0.6, 0, 0, 0.6, 0.05, 0.2]}],
            "cases": [{"name": "p", "loads": [{"nodes": [24], "total_force": [0, 0, -1000]}]}]},
            "--frequencies", "4", "--steps", "12")
        self.assertEqual(len(run["results"]["frequencies"]), 4)
        self.assertLessEqual(max(run["results"]["frequency_residuals"]), 1e-6)

    def test_a_part_that_comes_loose(self):
        """Nothing asks for the material between a heavy block and the rest: it goes at once."""
        loose = {"mesh": {"box": {"cells": [12, 2, 6], "size": [1.2, 0.2, 0.6]}}, "volume_fraction": 0.3, "filter": {"kind": "none"},
                 "material": {"young": 2.1e11, "poisson": 0.3, "mass_density": 7850}, "supports": [{"box": [0, 0, 0, 0, 0.2, 0.6]}],
                 "passive": [{"box": [1, 0, 0.4, 1.2, 0.2, 0.6], "role": "solid"}], "min_modulus": 1e-6, "frequencies": 2, "move": 1,
                 "cases": [{"name": "a", "loads": [{"box": [0.6, 0, 0, 0.6, 0.2, 0], "total_force": [0, 0, -1000]}]}],
                 "constraints": [{"kind": "frequency", "at_least": 1e-3}], "solver": {"tolerance": 1e-5}}
        fell = self.solve(loose, "--steps", "1")
        before, after = fell["results"]["steps"]["frequencies"][0][0], fell["results"]["frequencies"][0]
        self.assertLess(after, 0.1 * before)
        text = [w for w in fell["warnings"] if w["code"] == "frequency-fell"]
        self.assertEqual(len(text), 1)
        for part in (f"{after:.4g}"[:4], f"{before:.4g}"[:4], "a part has come loose"):
            self.assertIn(part, json.dumps(text))
        self.assertNotIn("frequency-fell", [w["code"] for w in self.solve(loose, "--steps", "2")["warnings"]])
        soft = {**loose, "constraints": [], "objective": "frequency", "volume_fraction": 0.4, "move": 0.01}
        grown = self.solve(soft, "--penalty", "1:5:1:+4", "--steps", "1")
        self.assertNotIn("frequency-fell", [w["code"] for w in grown["warnings"]])

    def test_a_body_with_fewer_modes(self):
        held = {"mesh": {"box": {"cells": [3, 1, 1], "size": [3, 1, 1]}}, "cases": [{"name": "a", "gravity": [0, 0, -9.81]}],
                "material": {"young": 2.1e11, "poisson": 0.3, "mass_density": 7850}, "volume_fraction": 0.2, "supports": [
                    {"box": [0, 0, 0, 0, 1, 1]}, {"box": [1, 0, 0, 1, 1, 1], "components": "xy"},
                    {"box": [1, 0, 0, 1, 0, 1], "components": "z"}], "passive": [{"elements": [1, 2], "role": "void"}]}
        run = self.solve(held, "--frequencies", "3", "--steps", "4", code=NOT_CONVERGED)
        self.assertIn("no-frequencies", [w["code"] for w in run["warnings"]])
        self.assertGreater(run["results"]["objective"], 0)  # the analysis is there
        self.assertNotIn("frequencies", run["results"])
        one = {**held, "mesh": {"box": {"cells": [1, 1, 1], "size": [1, 1, 1]}}, "passive": [],
               "supports": held["supports"][:1] + [{"box": [1, 0, 0, 1, 1, 1], "components": "xy"}]}
        self.write("one.json", json.dumps(one))
        self.fails(BAD_FILE, "free components of displacement", "topopt", "one.json", "--frequencies", "10")
        run = self.solve({**held, "material": {**held["material"], "mass_density": 7.85e-9}}, "--frequencies", "1", "--steps", "1")
        self.assertIn("odd-density", [w["code"] for w in run["warnings"]])
        # In g/cm3 a frequency is 32 times what it is.
        for density, young, found in ((7.85, 2.1e11, True), (2.7, 7e10, True), (1.24, 3.5e9, True), (1.1, 1e7, True),
                                      (30, 2e7, False), (150, 3e9, False), (1600, 3e11, False), (7850, 2.1e11, False)):
            material = {"young": young, "poisson": 0.3, "mass_density": density}
            run = self.solve({**held, "material": material}, "--frequencies", "1", "--steps", "1")
            self.assertEqual("odd-density" in [w["code"] for w in run["warnings"]], found)
            push = [{"name": "a", "loads": [{"box": [3, 0, 0, 3, 1, 1], "total_force": [0, 0, 1]}]}]
            run = self.solve({**held, "cases": push, "passive": [], "material": material}, "--steps", "1",
                             code=(DONE, NOT_CONVERGED))  # whose mass is in table and summary
            self.assertEqual([w["text"].split("kg/m3, ")[1].split(":")[0] for w in run["warnings"] if w["code"] == "odd-density"],
                             ["and the mass of the part goes with it"] if found else [])
        for density, more, found in ((7.85e-9, {}, True), (7850, {}, False), (7.85e-9, {"young": 1}, False)):
            material = {**held["material"], "mass_density": density, **more}
            run = self.solve({**held, "material": material}, "--steps", "1", code=(DONE, NOT_CONVERGED))  # its own weight
            self.assertEqual("odd-density" in [w["code"] for w in run["warnings"]], found)
            push = [{"name": "a", "loads": [{"box": [3, 0, 0, 3, 1, 1], "total_force": [0, 0, 1]}]}]
            run = self.solve({**held, "cases": push, "material": material, "passive": []}, "--max-mass", "1e9", "--steps", "1",
                             code=(DONE, NOT_CONVERGED))
            self.assertEqual("odd-density" in [w["code"] for w in run["warnings"]], found)

    def test_a_gravity_in_other_units_is_doubted(self):
        for gravity, young, found in ((-9810, 2.1e11, True), (-981, 2.1e11, True), (-400, 2.1e11, False), (-9810, 1, False)):
            run = self.solve({"mesh": {"box": {"cells": [3, 1, 1], "size": [3, 1, 1]}}, "volume_fraction": 0.5, "supports": [
                {"box": [0, 0, 0, 0, 1, 1]}], "cases": [{"name": "own weight", "gravity": [0, 0, gravity]}],
                "material": {"young": young, "poisson": 0.3, "mass_density": 7850}, "passive": [{"elements": [2], "role": "solid"}]},
                "--steps", "1", code=(DONE, NOT_CONVERGED))
            odd = [w["text"] for w in run["warnings"] if w["code"] == "odd-gravity"]
            self.assertEqual(len(odd), found, (gravity, young))
            if odd:
                self.assertIn(f"load case 'own weight' has a gravity of {-gravity} m/s2", odd[0])

    def test_parts_with_mirrors_have_the_frequencies_of_the_whole(self):
        def part(cells, size, *planes, **more):
            return {"mesh": {"box": {"cells": cells, "size": size}}, "material": {"young": 200, "poisson": 0.3, "mass_density": 3},
                    "supports": [{"box": [0, 0, 0, 0, 9, 9]}], "passive": [{"box": [3, 0, 0, 4, 9, 9], "role": "solid"}],
                    "cases": [{"name": "a", "loads": [{"box": [4, 0, 0, 4, 9, 9], "total_force": [1, 0, 0]}]}],
                    "mirrors": [{"axis": axis, "place": 0} for axis in planes], "frequencies": 5, "volume_fraction": 0.6,
                    "filter": {"kind": "density", "radius": 0.8}, "steps": 2, "objective": "frequency", "min_modulus": 1e-6, **more}
        shift = {"solver": {"tolerance": 1e-8}}
        whole = self.solve(part([8, 4, 6], [4, 2, 3], **shift))["results"]
        self.assertNotIn("antisymmetric_about", whole)
        for grid in ("mesh", "voxels"):
            for cells, size, planes in (([8, 2, 6], [4, 1, 3], "y"), ([8, 2, 3], [4, 1, 1.5], "yz")):
                run = self.solve(part(cells, size, *planes, **shift), "--grid", grid, "--hdf", "part.hdf")
                self.assertTrue(run["certificate"]["passed"])
                results = run["results"]
                for one, other in zip(results["steps"]["frequencies"] + [results["frequencies"]],
                                      whole["steps"]["frequencies"] + [whole["frequencies"]]):
                    for a, b in zip(one, other):
                        self.close(a, b, 1e-5)
                families = results["antisymmetric_about"]
                self.assertEqual(len(families), 5)
                self.assertGreater(len(set(families)), 1 if planes == "y" else 2)
                self.assertLessEqual(set(families), {"", "y", "z", "y z"})
        held = hdf5_values.read(self.path("part.hdf"), "VTKHDF/PointData/held_without_mirrors")
        self.assertEqual([held.count(7), held.count(0)], [3 * 4, 8 * 3 * 4])
        self.write("p.json", json.dumps(part([8, 2, 3], [4, 1, 1.5], "y", "z")))
        process = self.ossatura("topopt", "p.json", "--backend", self.backend)
        self.assertRegex(process.stdout, r"antisymmetric about +[-yz ]+, ")
        # Killed after a step, and resumed.
        self.optimise("p.json", "--steps", "1", "--history", "first.csv", "--checkpoint", "c.h5")
        self.optimise("p.json", "--steps", "2", "--history", "second.csv", "--resume", "c.h5")
        self.optimise("p.json", "--steps", "2", "--history", "whole.csv")
        self.assertEqual(self.rows("first.csv") + self.rows("second.csv"), self.rows("whole.csv"))
        # Its mirrors hold the half, and nothing the whole.
        loose = part([8, 2, 6], [4, 1, 3], "y", supports=[{"box": [0, 0, 0, 0, 0, 9], "components": "xz"},
                                                          {"box": [4, 0, 0, 4, 0, 9], "components": "z"}])
        self.write("loose.json", json.dumps(loose))
        self.fails(BAD_FILE, "in modes that are antisymmetric about the mirrors along y", "topopt", "loose.json", "-q")

    def test_what_is_moved_is_held_and_rigid_ends_move_as_bodies(self):
        moved = self.found(mesh() + ONE + self.ALONG + step("*BOUNDARY", "X1, 1, 1, 0.1"))
        self.close(moved[0], self.discrete(math.pi / 8), 1e-5)  # between two walls: c / 2 L
        clamp = "*BOUNDARY\nX0, 1, 3\n"
        material = ONE.replace("6., 0.", "6., 0.3")
        nodes = mesh().replace("*ELEMENT", "*NODE\n901, 4., 0.5, 0.5\n*ELEMENT", 1) + material
        pull = step("*CLOAD", "901, 1, 1.")
        rigid = self.found(nodes + "*RIGID BODY, NSET=X1, REF NODE=901\n" + clamp + pull)
        free = self.found(mesh() + material + clamp + step(*self.pull()))
        self.close(rigid[1], rigid[0], 1e-6)  # bending both ways
        self.assertGreater(rigid[0], free[0])  # what may move less is stiffer
        self.assertLess(rigid[0], 1.02 * free[0])
        self.assertEqual(self.first(mesh() + TWO + clamp + step(*self.pull()))["results"].get("frequencies"), None)

    def test_designs(self):
        deck = mesh() + ONE + "*BOUNDARY\nX0, 1, 3\n" + step(*self.pull())
        self.write("deck.inp", deck)
        arguments = ("--objective", "frequency", "--volume", "0.5", "--radius", "0.8", "--min-modulus", "1e-6", "--steps", "1")
        process = self.ossatura("topopt", "deck.inp", *arguments, "--backend", self.backend)
        self.assertIn("and nothing has to be carried", process.stderr)
        arguments = (*arguments[:-2], "--keep", "0.6")
        process = self.ossatura("topopt", "deck.inp", "--steps", "6", *arguments, "-o", "out", "--backend", self.backend)
        self.assertNotIn("has to be carried", process.stderr)
        self.assertRegex(process.stdout, r"objective +largest lowest natural frequency")
        self.assertRegex(process.stdout, r"natural frequencies +[\d.]+, [\d.]+, [\d.]+ Hz")
        run = json.loads(self.read("out/deck.summary.json"))
        results, steps = run["results"], run["results"]["steps"]
        self.assertGreater(results["objective"], 1.05 * steps["objective"][0])
        self.assertEqual(results["objective"], results["frequencies"][0])
        self.assertEqual(len(results["frequencies"]), 3)
        self.assertEqual((run["engine"]["method"], run["engine"]["move"]), ("mma", 0.1))
        for row, values in zip(self.rows("out/deck.csv"), steps["frequencies"]):
            self.assertEqual([float(row[f"frequency_{i + 1}"]) for i in range(3)], values)
        for i in (1, 2, 3):
            mode = hdf5_values.read(self.path("out/deck.hdf"), f"VTKHDF/PointData/mode_{i}")
            self.close(max(math.hypot(*mode[k:k + 3]) for k in range(0, len(mode), 3)), 1, 1e-12)
        # Killed after any step, and resumed.
        self.optimise("deck.inp", "--steps", "4", *arguments, "--history", "first.csv", "--checkpoint", "c.h5")
        self.optimise("deck.inp", "--steps", "6", *arguments, "--history", "second.csv", "--resume", "c.h5")
        self.assertEqual(self.rows("first.csv") + self.rows("second.csv"), self.rows("out/deck.csv"))
        self.fails(BAD_FILE, "of other options", "topopt", "deck.inp", "--steps", "9", *arguments, "--frequencies", "4",
                   "--resume", "c.h5", "-q")
        # A limit that holds, beside another one; one that does not.
        least = 0.9 * steps["objective"][0]
        both = self.optimise("deck.inp", "--steps", "8", "--volume", "0.6", "--radius", "0.8", "--min-frequency", str(least),
                             "--max-stress", "40", "--min-modulus", "1e-6")
        limit = both["results"]["constraints"][-1]
        self.assertEqual((limit["kind"], limit["bound"], limit["holds"]), ("frequency", "at_least", True))
        self.assertLessEqual(limit["mean"], limit["value"])
        process = self.ossatura("topopt", "deck.inp", "--steps", "1", "--volume", "0.3", "--min-frequency", "9", "-q",
                                "--backend", self.backend, code=NOT_CONVERGED)
        self.assertIn("the constraint frequency does not hold", process.stderr)
        self.assertIn("and 9 Hz at least was asked for", process.stderr)

    def test_what_is_not_known_of_frequencies(self):
        good = mesh() + ONE + ROLLERS + step(*self.pull())
        some = ("--frequencies", "2")
        self.refused(good.replace("*DENSITY\n3.\n", ""), "natural frequencies are of mass, but the material M has no mass "
                     "density: give *DENSITY", *some)
        self.refused(good, "take the method mma", "--objective", "frequency", "--method", "oc")
        self.refused(good, "take the filter density", "--objective", "frequency", "--filter", "sensitivity")
        self.refused(good, "take the least compliance", "--objective", "frequency", "--projection", "--robust", "0.1")
        self.refused(good, "nothing at all", "--objective", "volume", "--min-frequency", "1")
        self.refused(mesh() + ONE + step(*self.pull()), "there are no supports", *some)
        self.write("deck.inp", good)
        for arguments, message in ((("--frequencies", "11"), "--frequencies 11: 0 to 10"),
                                   (("--min-frequency", "0"), "--min-frequency 0"),
                                   (("--objective", "frequency", "--bound"), "the objective is frequency, not compliance")):
            self.fails(USAGE, message, "topopt", "deck.inp", *arguments)
        self.write("plain.inp", mesh() + ONE + ROLLERS)
        cases = [{"name": "a", "loads": [{"set": "X1", "total_force": [1, 0, 0]}]}]
        for more, message in (({"constraints": [{"kind": "frequency", "at_most": 3}]}, "at_most"),
                              ({"constraints": [{"kind": "frequency", "at_least": 0}]}, "Hz, greater than 0"),
                              ({"constraints": [{"kind": "frequency", "at_least": 3, "case": "a"}]}, "case"),
                              ({"frequencies": 11}, "0 to 10"), ({"objective": "frequencies"}, "frequency"),
                              ({"frequencies": 2, "mirrors": [{"axis": "y", "place": 1}, {"axis": "y", "place": 0}]},
                               "the mirror y = 1 and the mirror y = 0 make images without end"),
                              ({"frequencies": 2, "mirrors": [{"axis": "y", "place": 0}]},
                               "hold all nodes on the mirror y = 0 across it")):
            self.write("p.json", json.dumps({"mesh": {"file": "plain.inp"}, "cases": cases, **more}))
            self.fails(BAD_FILE, message, "topopt", "p.json")


class OtherPrograms(Decks):
    def test_pfem_takes_neither(self):
        self.write("deck.inp", mesh() + TWO + ROLLERS + step(*self.pull()))
        self.fails(BAD_FILE, "several materials", "pfem", "deck.inp")
        for option in "--young", "--poisson":
            self.fails(BAD_FILE, f"has elements of several materials: leave {option} out", "pfem", "deck.inp", option,
                       "0.2")
        self.write("deck.inp", mesh() + ONE + ROLLERS + step("*BOUNDARY", "X1, 1, 1, 0.1"))
        self.fails(BAD_FILE, "imposes displacements", "pfem", "deck.inp")
        self.write("deck.inp", mesh() + ONE + ROLLERS + step("*DLOAD", "BODY, GRAV, 9.81, 0., 0., -1."))
        self.fails(BAD_FILE, "gravity or rotation", "pfem", "deck.inp")
        self.write("deck.inp", mesh().replace("*ELEMENT", "*NODE\n901, 6., 0.5, 0.5\n*ELEMENT", 1) + ONE +
                   "*RIGID BODY, NSET=X1, REF NODE=901\n" + ROLLERS + step("*CLOAD", "901, 1, 1."))
        self.fails(BAD_FILE, "free rigid bodies", "pfem", "deck.inp")


if __name__ == "__main__":
    driver_case.main()
