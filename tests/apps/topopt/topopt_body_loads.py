# SPDX-License-Identifier: Apache-2.0
"""Loads of mass and of temperature, of decks and of problems: gravity, rotation and what is warm. Bars of known stiffness tell
what is right."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, NOT_CONVERGED, USAGE
from support.deck_case import ONE, ROLLERS, SOLID, TWO, Decks, mesh, points, step


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

    def test_what_void_cuts_off_has_a_weight(self):
        void, solid = [{"box": [x, 0, 0, x + 1, 1, 1], "role": role} for x, role in ((2, "void"), (3, "solid"))]
        document = {"mesh": {"box": {"cells": [8, 2, 2], "size": [4, 1, 1]}}, "steps": 1, "volume_fraction": 0.6,
                    "material": {"young": 6, "poisson": 0, "mass_density": 3},
                    "supports": [{"box": [0, 0, 0, 0, 1, 1]}],
                    "cases": [{"name": "w", "gravity": [0, 0, -1], "loads": [{"box": [2, 0, 0, 2, 1, 1],
                                                                             "total_force": [0, 0, -1]}]}]}
        end = {"box": [4, 0, 0, 4, 1, 1]}
        for grid in ("mesh", "voxels"):
            with self.subTest(grid=grid):
                document["solver"] = {"grid": grid}
                for passive in ([void, solid], [void]):
                    self.fails(BAD_FILE, 'p.json: void elements ("passive") cut off element 6 from all supports, where nothing '
                               "carries its weight", "topopt", self.write("p.json", json.dumps({**document, "passive": passive})),
                               "-q")
                pushed = {"name": "w", "loads": document["cases"][0]["loads"]}
                self.solve({**document, "passive": [void], "cases": [pushed]})
                self.solve({**document, "passive": [void, solid], "supports": [*document["supports"], end]})

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


if __name__ == "__main__":
    driver_case.main()
