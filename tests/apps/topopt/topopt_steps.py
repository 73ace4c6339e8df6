# SPDX-License-Identifier: Apache-2.0
"""Steps of decks, and problems beside them: names, OP, loads that belong to no step, sets that share a name."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, solid_decks
from support.driver_case import BAD_FILE
from support.deck_case import CELLS, ONE, ROLLERS, SOLID, Decks, chosen, mesh, rows, step

HEAD = mesh() + ONE + ROLLERS


def named(name, *lines):
    return step(*lines).replace("*STEP", f"*STEP, NAME={name}")


class Steps(Decks):
    def test_a_case_of_a_problem_is_the_step_of_its_name(self):
        """Decks do not tell small letters from capitals: the loads of 'pull' are of the step Pull."""
        self.write("deck.inp", HEAD + named("Pull", *self.pull()))
        whole = self.first(HEAD + named("Pull", *self.pull(1.5)))["results"]["steps"]["objective"][0]
        self.write("deck.inp", HEAD + named("Pull", *self.pull()))
        for name in ("PULL", "pull", "Pull"):
            run = self.solve({"mesh": {"file": "deck.inp"}, "cases": [
                {"name": name, "loads": [{"box": [4, 0, 0, 4, 1, 1], "traction": [1, 0, 0]}]}]}, *SOLID)
            self.assertEqual([case["name"] for case in run["results"]["cases"]], ["PULL"])
            self.close(run["results"]["steps"]["objective"][0], whole, 1e-9)
        other = self.solve({"mesh": {"file": "deck.inp"}, "cases": [
            {"name": "push", "loads": [{"box": [4, 0, 0, 4, 1, 1], "traction": [1, 0, 0]}]}]}, "--steps", "1")
        self.assertEqual([case["name"] for case in other["results"]["cases"]], ["PULL", "push"])
        self.write("p.json", json.dumps({"mesh": {"file": "deck.inp"}, "cases": [{"name": "pull", "weight": 2},
                                                                                 {"name": "Pull", "weight": 3}]}))
        self.fails(BAD_FILE, "in small letters and in capitals", "topopt", "p.json")

    def test_what_belongs_to_no_step(self):
        for loads in (self.pull(), ["*DLOAD", "BODY, GRAV, 9.81, 0., 0., -1."], ["*DLOAD", "1, P1, 2."]):
            self.refused(HEAD + "".join(line + "\n" for line in loads) + step(*self.pull()), "before the first step")
        self.refused(HEAD + named("A", *self.pull()) + named("a", *self.pull()), "a second step of the name A")

    def test_op_is_new_or_mod(self):
        surface = "*SURFACE, NAME=S, TYPE=ELEMENT\n1, S1\n"
        for lines in (("*CLOAD, OP=NWE", *self.pull()[1:]), ("*DLOAD, OP=NWE", "1, P1, 2."), ("*DSLOAD, OP=NWE", "S, P, 2."),
                      ("*BOUNDARY, OP=NWE", "X0, 1", *self.pull()), ("*TEMPERATURE, OP=NWE", "ALL, 1.")):
            self.refused(HEAD + surface + step(*lines), "OP is NWE where NEW or MOD is expected")
        for first in ("*CLOAD, OP=MOD", "*CLOAD, OP=NEW", "*Cload, op=new"):
            self.assertGreater(self.first(HEAD + step(first, *self.pull()[1:]))["results"]["objective"], 0)

    def test_rows_of_a_keyword_that_is_lost(self):
        """A comment in the place of a keyword leaves its rows to the one before, which takes none of them."""
        pull, output = self.pull(), "*NODE FILE\nU\n*EL PRINT, ELSET=BODY\nS, E\n*AMPLITUDE, NAME=A\n0., 0., 1., 1.\n"
        whole = HEAD + output + step("0.1, 1.", *pull, "*NODE PRINT, NSET=X1", "U, RF")
        self.first(whole.replace("*STATIC\n", "a title\n*STATIC\n"))
        self.first(whole.replace("MATERIAL=M\n", "MATERIAL=M\n,\n"))
        self.first(whole.replace("MATERIAL=M\n", "MATERIAL=M\n1.,\n"))
        for deck, keyword in (
                (whole.replace("*STATIC\n0.1, 1.\n*CLOAD", "*STATIC\n0.1, 1.\n**CLOAD"), "*STATIC"),
                (whole.replace("*STATIC\n0.1, 1.\n*CLOAD", "**CLOAD"), "*STEP"),
                (whole.replace("*BOUNDARY", "**BOUNDARY"), "*SOLID SECTION"),
                (whole.replace("*ELASTIC", "**ELASTIC"), "*MATERIAL"),
                (whole + "X0, 1, 1.\n", "*END STEP"),
                (whole.replace("*END STEP", "X1, 1, 5.\n*END STEP"), "*NODE PRINT"),
                (whole.replace("*AMPLITUDE, NAME=A\n", "*AMPLITUDE, NAME=A\nX1, 1, 5.\n"), "*AMPLITUDE"),
                (whole.replace("*NODE FILE\n", "*RESTART, WRITE\nX1, 1, 5.\n*NODE FILE\n"), "*RESTART")):
            self.refused(deck, f"this row is none that {keyword} takes")
        for twice in ("*ELASTIC\n6., 0.\n", "*DENSITY\n3.\n"):
            self.refused(whole.replace(twice, twice + twice), "a second ")
        self.refused("1, 0., 0., 0.\n" + whole, "a row before the first keyword")

    def test_nodes_and_flat_elements_of_one_name(self):
        """A problem's set is that of *NSET, which may have other nodes."""
        far = [n for n in chosen(lambda x, y, z: x == CELLS[0] and z == 0)]
        flat = "*ELEMENT, TYPE=CPS3, ELSET={}\n901, 1, 2, 10\n"
        objective = {}
        for name in ("SIDE", "OTHER"):
            self.write("deck.inp", HEAD + flat.format(name) + f"*NSET, NSET=SIDE\n{rows(far)}")
            run = self.solve({"mesh": {"file": "deck.inp"}, "cases": [
                {"name": "a", "loads": [{"set": "SIDE", "total_force": [1, 0, 0]}]}]}, *SOLID)
            objective[name] = run["results"]["steps"]["objective"][0]
        self.assertEqual(objective["SIDE"], objective["OTHER"])

    def test_a_group_of_surfaces_has_its_own_faces(self):
        """The sides of a plate of one element have all of their nodes on its top and bottom: 16 and 32 m2, not 48."""
        self.write("plate.msh", solid_decks.plate_of_one_element())
        for name, area in (("TOP", 16), ("TOPBOT", 32)):
            run = self.solve({"mesh": {"file": "plate.msh"}, "volume_fraction": 0.5, "material": {"young": 1, "poisson": 0.3},
                              "supports": [{"nodes": [0, 4, 20, 24]}],
                              "cases": [{"name": "a", "loads": [{"set": name, "traction": [0, 0, -0.1]}]}]}, "--steps", "1")
            self.close(run["results"]["cases"][0]["support_force"][2], 0.1 * area, 1e-6)

    def test_a_group_of_curves_has_no_faces(self):
        self.write("rim.msh", solid_decks.plate_on_its_rim())
        self.write("p.json", json.dumps({
            "mesh": {"file": "rim.msh"}, "material": {"young": 1, "poisson": 0.3}, "supports": [{"set": "TOP"}],
            "cases": [{"name": "a", "loads": [{"set": "RIM", "traction": [0, 0, -0.1]}]}]}))
        self.fails(BAD_FILE, "the set 'RIM' is a group of curves or points, which has no faces: take a group of "
                   "surfaces, or a \"total_force\"", "topopt", "p.json")


if __name__ == "__main__":
    driver_case.main()
