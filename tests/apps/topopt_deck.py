# SPDX-License-Identifier: Apache-2.0
"""Decks of CalculiX and Abaqus as engineers have them, and the same in problems: several materials, imposed displacements,
couplings and rigid bodies. Bars of known stiffness tell what is right."""
import json

from support import driver_case
from support.driver_case import BAD_FILE, USAGE
from support.deck_case import CELLS, FLEXIBILITY, ONE, ROLLERS, SOLID, TWO, Decks, chosen, mesh, rows, step


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
        for constant, more in (("mass_density", ""), ("expansion", "*EXPANSION\n1e-5\n")):
            self.write("deck.inp", alike.replace("*DENSITY\n3.\n", "*DENSITY\n3.\n" + more, 1))
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


    def test_pressures_within_the_body(self):
        """P4 is x+: of element 1 the face that it has in common with the next one, whichever of both is inside out."""
        deck = mesh() + ONE + ROLLERS + step("*DLOAD", "1, P4, 2.")
        row = "\n1, 1, 2, 11, 10, 28, 29, 38, 37\n"
        self.assertIn(row, deck)
        inside_out = deck.replace(row, "\n1, 28, 29, 38, 37, 1, 2, 11, 10\n")
        for text in (deck, deck.replace("1, P4", "BODY, P4"), deck.replace("1, P4", "2, P6"), inside_out):
            self.refused(text, "deck.inp: a pressure acts on a face within the body, between element ")
        last = "\n8, 8, 9, 18, 17, 35, 36, 45, 44\n"
        self.assertIn(last, deck)
        outer = deck.replace("1, P4", "8, P4")
        pressed, same = (self.first(text)["results"]["objective"] for text in (
            outer, outer.replace(last, "\n8, 35, 36, 45, 44, 8, 9, 18, 17\n")))
        self.close(pressed, same, 1e-9)


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
                              ("in one place, which cannot take a moment: choose more nodes", {"nodes": [80], "remote": {"point": [6, 0, 0], "force": [0, 1, 0]}})):
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
