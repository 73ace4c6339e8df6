# SPDX-License-Identifier: Apache-2.0
"""Natural frequencies of decks and problems, in designs, and of parts with mirrors. A bar of known ones tells what is right."""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, USAGE
from support.deck_case import ONE, ROLLERS, SOLID, TWO, Decks, mesh, step


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


if __name__ == "__main__":
    driver_case.main()
