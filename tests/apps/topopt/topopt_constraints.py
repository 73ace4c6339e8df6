# SPDX-License-Identifier: Apache-2.0
"""Constraints of designs through the executable: stress, displacement, mass and compliance, which hold in the last
design, and what is refused."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, USAGE
from support.designs import TopoptCase, box, problem


def l_beam(**more):
    """An L of 0.2 m, one element thick, with 2 kN at its tip."""
    return {"mesh": box((20, 1, 20), (0.2, 0.01, 0.2)), "material": {"young": 2.1e11, "poisson": 0.3},
            "supports": [{"box": [0, 0, 0.2, 0.08, 0.01, 0.2]}],
            "passive": [{"box": [0.08, 0, 0.08, 0.2, 0.01, 0.2], "role": "void"}], "keep": 0.016,
            "cases": [{"name": "press", "loads": [
                {"box": [0.19, 0, 0.08, 0.2, 0.01, 0.08], "total_force": [0, 0, -2000]}]}],
            "volume_fraction": 0.28, "filter": {"kind": "density", "radius": 0.011}, "steps": 60,
            **more}


class Constraints(TopoptCase):
    tip = {"kind": "displacement", "box": [6, 0, 0, 6, 3, 0], "direction": [0, 0, -2]}

    def limited(self, *constraints, **more):
        return problem(**{"constraints": list(constraints), "method": "mma", "change": 0, **more})

    def test_an_l_beam_whose_stress_is_limited(self):
        # Against the stiffest one: less stress at the same volume, for a larger compliance.
        designs = []
        for limit in (1e9, 4.8e7):
            run = self.solve(l_beam(constraints=[{"kind": "stress", "at_most": limit}]), "--no-stl")
            self.assertEqual((run["warnings"], run["engine"]["move"]), ([], 0.1))
            volume, stress = run["results"]["constraints"]
            self.assertTrue(volume["holds"] and stress["holds"])
            self.close(volume["value"], 0.28, 1e-3)
            self.assertEqual((stress["case"], stress["bound"], stress["limit"]),
                             (None, "at_most", limit))
            self.assertGreater(stress["value"], stress["mean"])
            designs.append((stress["value"], run["results"]["cases"][0]["value"]))
        (stiff_stress, stiffest), (stress, compliance) = designs
        self.assertGreater(stiff_stress, 5e7)
        self.assertLess(stress, 4.8e7 * 1.001)
        self.assertGreater(compliance, stiffest)

    def test_the_least_volume_is_that_of_the_stiffest_design(self):
        # Of a given volume; at that compliance and displacement no less will do.
        stiff = self.solve(problem(method="mma", volume_fraction=0.5, steps=40, change=0))
        limit = stiff["results"]["objective"]
        light = self.solve(problem(objective="volume", steps=40, change=0), "--max-compliance", limit)
        self.assertEqual(light["warnings"], [])
        self.close(light["results"]["objective"], 0.5, 0.01)
        self.assertEqual(light["results"]["objective"], light["results"]["volume"])
        self.assertIsNone(light["problem"]["volume_fraction"])
        self.assertEqual(light["engine"]["method"], "mma")
        # It begins solid, whether this is said or not.
        for document, arguments in ((problem(objective="volume", steps=2, start=1), ()),
                                    (problem(objective="volume", steps=2), ("--start", "1"))):
            solid = self.solve(document, "--max-compliance", limit)["results"]["steps"]["objective"]
            self.assertEqual(solid, light["results"]["steps"]["objective"][:2])
            self.assertEqual(solid[0], 1)
        for start in (0, -0.1, 1.0001):
            expected = "the density of the first design, greater than 0 and at most 1"
            self.write("p.json", json.dumps(problem(start=start)))
            self.fails(BAD_FILE, f"start: {start}: expected {expected}", "topopt", "p.json")
            self.fails(USAGE, f"--start {start}: {expected}", "topopt", "mbb", "--start", start)
        # The force is 1 N at these nodes: what they move by is the compliance.
        moved = self.solve(problem(objective="volume", steps=40, change=0,
                                   constraints=[{**self.tip, "at_most": limit}]))
        self.close(moved["results"]["objective"], light["results"]["objective"], 0.01)
        constraint, = moved["results"]["constraints"]
        self.assertEqual((constraint["kind"], constraint["case"]), ("displacement", "tip"))
        self.close(constraint["value"], moved["results"]["cases"][0]["value"], 1e-9)

    def test_a_least_volume_by_a_sharp_projection_begins_where_it_is_felt(self):
        """At a density of 1 a sharpness of 16 is flat: the first step changed nothing, and all of the volume was "converged"."""
        limited = ("--cells", "18x3x6", "--objective", "volume", "--max-compliance", "200", "--projection", "--radius", "1.1")
        growing, sharp = (self.optimise("mbb", *limited, "--steps", "100", "--sharpness", sharpness) for sharpness in ("1:16:10:x2", "16"))
        self.assertTrue(sharp["results"]["constraints"][0]["holds"])
        self.close(sharp["results"]["volume"], growing["results"]["volume"], 0.15)
        self.fails(USAGE, "at a first density of 1 the projection of sharpness 16 is flat, and no change of it is felt: begin with a "
                   "smaller sharpness, which grows (1:64:40:x2), or with a density of at most 0.875", "topopt", "mbb", *limited,
                   "--sharpness", "16", "--start", "1", "-q")

    def test_a_least_volume_keeps_its_limits_in_the_end(self):
        """Runs ended with limits exceeded by some percent, and stopped early where steps had become short."""
        light = l_beam(objective="volume", constraints=[{"kind": "stress", "at_most": 6e7}])
        del light["volume_fraction"]
        raised = self.solve({**light, "steps": 48}, "--no-stl")["results"]
        self.assertLessEqual(raised["constraints"][0]["value"], 6e7 * 1.001)
        self.assertLess(raised["objective"], 1.05 * raised["steps"]["objective"][-1])
        sharp = {**light, "steps": 100, "projection": {"sharpness": {"start": 1, "end": 16, "every": 20, "factor": 2}}}
        settled = self.solve(sharp, "--no-stl")["results"]
        self.assertGreater(settled["steps_taken"], 81)  # where the sharpness grew last, and cut what carries
        self.assertLessEqual(settled["constraints"][0]["value"], 6e7 * 1.001)

    def test_a_limit_in_the_other_direction(self):
        def doubts(*limits, **more):
            run = self.solve(self.limited(*limits, steps=2, **more), "--no-stl", code=(DONE, NOT_CONVERGED))
            return {warning["code"]: warning["text"] for warning in run["warnings"]}, run
        down, up = {**self.tip, "at_most": 1}, {**self.tip, "direction": [0, 0, 1], "at_most": 1}
        found, run = doubts(down)
        self.assertIn("constraint-exceeded", found)
        self.assertNotIn("odd-direction", found)
        found, run = doubts(up)
        self.assertEqual(list(found), ["odd-direction"])
        self.assertIn("in the first design, the other way by more than the limit", found["odd-direction"])
        self.assertTrue(run["results"]["constraints"][1]["holds"])
        self.assertLess(run["results"]["constraints"][1]["value"], -1)
        # Of both directions one is always the other way, and what moves less than the limit is within it.
        self.assertNotIn("odd-direction", doubts(down, {**up, "at_most": 2})[0])
        self.assertEqual(doubts({**up, "at_most": 1e6})[0], {})
        found, run = doubts({**self.tip, "direction": [0, 0, 1], "at_least": 1})
        self.assertNotIn("odd-direction", found)
        self.assertIn('It moves the other way: turn "direction" round', found["constraint-exceeded"])

    def test_two_limits_that_hold_at_once(self):
        # Two bars of 4 m in a row, pulled by 1 N each at their ends, of rho_1 and rho_2: u_1 = 8 / rho_1^3 and
        # u_2 - u_1 = 4 / rho_2^3. Of u_2 alone the lightest has rho_1^4 = 2 rho_2^4, which u_1 does not allow.
        ends = [{"box": [x, 0, 0, x, 1, 1]} for x in (4, 8)]
        moved = [{"kind": "displacement", **end, "direction": [1, 0, 0], "at_most": most}
                 for end, most in zip(ends, (8 / 0.8**3, 8 / 0.8**3 + 4 / 0.5**3))]
        bars = problem(mesh=box((8, 1, 1)), material={"young": 1, "poisson": 0}, supports=[{"box": [0, 0, 0, 0, 1, 1]}],
                       cases=[{"name": "pull", "loads": [{**end, "total_force": [1, 0, 0]} for end in ends]}],
                       filter={"kind": "none"}, objective="volume", steps=60, change=0,
                       solver={"tolerance": 1e-10, "step_tolerance": 1e-10})
        for self.backend in driver_case.backends():
            for grid in ("mesh", "voxels"):
                with self.subTest(backend=self.backend, grid=grid):
                    both = self.solve({**bars, "constraints": moved}, "--grid", grid, "--hdf", "d.hdf", "--no-stl")
                    for limit in both["results"]["constraints"]:
                        self.assertTrue(limit["holds"])
                        self.close(limit["value"], limit["limit"], 1e-6)
                    for rho, expected in zip(hdf5_values.read(self.path("d.hdf"), "VTKHDF/CellData/density"),
                                             4 * [0.8] + 4 * [0.5]):
                        self.close(rho, expected, 1e-5)
                    one = self.solve({**bars, "constraints": moved[1:]}, "--grid", grid, "--no-stl")
                    second = ((8 / 2**0.75 + 4) / moved[1]["at_most"])**(1 / 3)
                    self.close(one["results"]["objective"], second * (2**0.25 + 1) / 2, 1e-5)
        self.backend = "serial"

    def test_a_half_is_as_the_whole(self):
        """Of forces that nodes share, those in the mirror, of means of displacements and of springs."""
        def of(width, place, **more):
            force = width / 4
            return problem(
                mesh=box((6, width, 3)), supports=[{"box": [0, 0, 0, 0, width, 3]}], volume_fraction=0.4, steps=3, change=0,
                cases=[{"name": "tip", "loads": [{"box": [6, 0, 0, 6, width, 1], "total_force": [0.5 * force, 0, -force]}]}],
                mirrors=[{"axis": "y", "place": place}] if width < 4 else None, **more)
        mean = {"kind": "displacement", "direction": [0, 0, -1], "at_most": 1e6}
        for place in (2, 0):  # a lower half, and an upper one
            for grid in ("mesh", "voxels"):
                for springs in (None,) if grid == "voxels" else (None, 7):
                    with self.subTest(place=place, grid=grid, springs=springs):
                        runs = []
                        for width in (4, 2):
                            more = {"constraints": [{**mean, "box": [6, 0, 1, 6, width, 2]}], "method": "mma"}
                            if springs:
                                more = {"objective": {"mechanism": {
                                    "output": [{"box": [3, 0, 3, 4, width, 3], "direction": [0, 0, 1]}],
                                    "springs": [{"box": [3, 0, 3, 4, width, 3], "stiffness": [0, 0, springs * width / 4]}]}}}
                            runs.append(self.solve(of(width, place, **more), "--grid", grid, "--tolerance", "1e-11", "--no-stl")["results"])
                        whole, half = runs
                        for step, (one, other) in enumerate(zip(whole["steps"]["objective"], half["steps"]["objective"])):
                            self.close(other, one if springs else one / 2, 1e-4 if step else 1e-9)
                        if not springs:
                            self.close(half["constraints"][1]["value"], whole["constraints"][1]["value"], 1e-4)
                            self.close(*(run["steps"]["constraints"][0][0] for run in runs), 1e-9)

    def test_a_half_and_a_quarter_under_a_load_at_a_point_are_as_the_whole(self):
        """Where the point lies in a mirror nodes and their images take its load together; elsewhere each side has its own."""
        def of(size, mirrors, *loads):
            return problem(mesh=box((6, *size)), supports=[{"box": [0, 0, 0, 0, *size]}], volume_fraction=0.4, steps=2, change=0,
                           mirrors=[{"axis": axis, "place": place} for axis, place in mirrors] or None,
                           cases=[{"name": "tip", "loads": [{"box": [6, *box_of], "remote": load} for box_of, load in loads]}])

        def results(document):
            return self.solve(document, "--tolerance", "1e-11", "--no-stl")["results"]["steps"]["objective"]

        def scaled(part, load):
            return {key: value if key == "point" else [part * x for x in value] for key, value in load.items()}

        bent = {"point": [8, 2, 1], "force": [0.5, 0, -1], "moment": [0, 3, 0]}
        end = [0, 0, 6, 4, 4]
        whole = results(of((4, 4), [], (end, bent)))
        half = results(of((2, 4), [("y", 2)], ([0, 0, 6, 2, 4], scaled(0.5, bent))))
        other = results(of((2, 4), [("y", 0)], ([0, 0, 6, 2, 4], {**scaled(0.5, bent), "point": [8, 0, 1]})))
        for part in half, other:
            for step, (one, two) in enumerate(zip(whole, part)):
                self.close(two, one / 2, 1e-4 if step else 1e-9)
        pulled = {"point": [8, 2, 2], "force": [1, 0, 0]}
        whole = results(of((4, 4), [], (end, pulled)))
        quarter = results(of((2, 2), [("y", 2), ("z", 2)], ([0, 0, 6, 2, 2], scaled(0.25, pulled))))
        for step, (one, two) in enumerate(zip(whole, quarter)):
            self.close(two, one / 4, 1e-4 if step else 1e-9)
        # Two points, one for each side; nodes in the mirror are of both.
        sides = [([0, 0, 6, 2, 4], {"point": [7, 0.5, 2], "force": [0, 0.3, -1], "moment": [1, 0, 2]}),
                 ([2, 0, 6, 4, 4], {"point": [7, 3.5, 2], "force": [0, -0.3, -1], "moment": [-1, 0, -2]})]
        whole, half = results(of((4, 4), [], *sides)), results(of((2, 4), [("y", 2)], sides[0]))
        self.close(half[0], whole[0] / 2, 1e-9)
        for load in ({"force": [0, 1, -1]}, {"force": [0, 0, -1], "moment": [0, 0, 1]}, {"moment": [1, 0, 0]}):
            self.write("p.json", json.dumps(of((2, 4), [("y", 2)], ([0, 0, 6, 2, 4], {"point": [8, 2, 1], **load}))))
            self.fails(BAD_FILE, "cases[0].loads[0]: the point lies in the mirror y = 2, beyond which its image cancels a force across "
                       "the mirror and a moment about an axis in it", "topopt", "p.json", "-q")
        # On a rigid body resultants count, wherever the point is that they are given at.
        rigid = {"rigid_bodies": [{"box": [6, 0, 0, 6, 1, 4]}]}
        one, two = (results({**of((2, 4), [("y", 2)], ([0, 0, 6, 1, 4], load)), **rigid}) for load in (
            {"point": [8, 2, 1], "force": [0, 1, -1]}, {"point": [8, 1, 1], "force": [0, 1, -1], "moment": [-1, 0, 0]}))
        self.close(one[0], two[0], 1e-9)

    def test_robust_designs(self):
        robust = problem(projection={"robust": 0.2, "sharpness": {"start": 1, "end": 2, "every": 6, "factor": 2}},
                         filter={"kind": "density", "radius": 1.6}, volume_fraction=0.4, change=0)
        run = self.solve(robust, "--steps", "12")
        self.assertEqual([run["engine"][key] for key in ("robust", "threshold", "method", "move")],
                         [0.2, 0.5, "mma", 0.1])
        # Steps are of the eroded design, the end is of the one that is made.
        self.assertLess(run["results"]["objective"], 0.9 * run["results"]["steps"]["objective"][-1])
        self.assertLessEqual(run["results"]["volume"], 0.4 * (1 + 1e-6))
        self.solve(robust, "--steps", "7", "--checkpoint", "c.h5")
        again = self.solve(robust, "--steps", "12", "--resume", "c.h5")
        for key in ("objective", "volume"):
            self.assertEqual(again["results"][key], run["results"][key])
            self.assertEqual(again["results"]["steps"][key], run["results"]["steps"][key][7:])
        self.fails(BAD_FILE, "checkpoint of other options", "topopt", "p.json", "--steps", "12", "--resume", "c.h5",
                   "--robust", "0.3", "-q")
        given = self.optimise("p.json", "--steps", "12", "--robust", "0.2", "--projection")
        self.assertEqual(given["results"]["steps"]["objective"], run["results"]["steps"]["objective"])
        table = self.ossatura("topopt", "p.json", "--steps", "1", "--backend", self.backend).stdout
        self.assertIn("robust projection at 0.3, 0.5 and 0.7", table)
        self.assertGreater(self.optimise("p.json", "--dry-run", "--grid", "voxels")["results"]["bytes_per_dof"],
                           self.optimise("p.json", "--dry-run", "--grid", "voxels", "--robust", "0")
                           ["results"]["bytes_per_dof"])
        for message, arguments in (("take the projection", ("--no-projection",)),
                                   ("without a filter", ("--filter", "none")),
                                   ("not between 0 and 1", ("--threshold", "0.1")),
                                   ("take the method mma, which is the default", ("--method", "oc")),
                                   ("constraints beside the volume", ("--max-stress", "9")),
                                   ("overhang is not known", ("--grid", "voxels", "--overhang", "+z"))):
            self.fails(BAD_FILE, "no robust design (\"robust\", --robust): ", "topopt", "p.json", *arguments, "-q")
            self.fails(BAD_FILE, message, "topopt", "p.json", *arguments, "-q", "--dry-run")
        self.fails(USAGE, "the objective is mechanism", "topopt", "inverter", "--cells", "6x4x4", "--robust", "0.2",
                   "--projection", "-q")
        self.fails(USAGE, "--robust 0.5: at least 0 and below 0.5", "topopt", "mbb", "--robust", "0.5")
        self.write("p.json", json.dumps({**robust, "projection": {"robust": 1}}))
        self.fails(BAD_FILE, "p.json: projection.robust: 1: expected how far", "topopt", "p.json", "-q")

    def test_values_of_each_step_and_limits_that_do_not_hold(self):
        self.write("p.json", json.dumps(self.limited(
            {**self.tip, "at_least": 1e6}, {"kind": "mass", "at_most": 60},
            material={"young": 1, "poisson": 0.3, "mass_density": 5})))
        process = self.ossatura("topopt", "p.json", "-q", "--backend", self.backend, "--history",
                                "h.csv", "--json", "s.json", code=NOT_CONVERGED)
        self.assertIn("the constraint displacement does not hold", process.stderr)
        run = json.loads(self.read("s.json"))
        self.assertEqual([w["code"] for w in run["warnings"]], ["constraint-exceeded"])  # whose remedy is no tolerance
        self.assertEqual(run["status"], "not converged")
        self.assertFalse(run["certificate"]["passed"])
        rows = self.rows("h.csv", ("prepare", "solve", "gradient", "update", "seconds"))
        columns = run["results"]["steps"]["constraints"]
        for row, values in zip(rows, columns, strict=True):
            self.assertEqual([float(row["constraint_0"]), float(row["constraint_1"])], values)
            self.assertEqual((row["constraint_0_limit"], row["constraint_0_holds"],
                              row["constraint_1_holds"]),
                             ("1e+06", "0", "1" if values[1] <= 60.06 else "0"))
            self.close(float(row["constraint_1"]), 5 * 54 * float(row["volume"]), 1e-9)
        volume, moved, mass = run["results"]["constraints"]
        self.assertEqual([c["holds"] for c in (volume, moved, mass)],
                         [True, False, mass["value"] <= 60.06])
        self.close(moved["excess"], 1 - moved["value"] / 1e6, 1e-9)
        self.assertEqual(run["problem"]["constraints"], [
            {"kind": "displacement", "case": "tip", "bound": "at_least", "limit": 1e6},
            {"kind": "mass", "case": None, "bound": "at_most", "limit": 60}])

    def test_a_least_volume_of_nothing(self):
        """What holds of no material: a displacement the other way, or that is to be large."""
        up = {**self.tip, "direction": [0, 0, 1]}
        for limit in ({**up, "at_most": 1e3}, {**self.tip, "at_least": 1}):
            run = self.solve(self.limited(limit, objective="volume", steps=30), "--no-stl", code=NOT_CONVERGED)
            self.assertLess(run["results"]["volume"], 1e-2)
            self.assertTrue(run["results"]["constraints"][0]["holds"])
            self.assertIn("nothing-carried", [warning["code"] for warning in run["warnings"]])
        run = self.solve(self.limited({**up, "at_most": 1e3}, objective="volume", steps=30, passive=[
            {"box": [0, 0, 0, 6, 3, 1], "role": "solid"}]), "--no-stl")
        self.assertNotIn("nothing-carried", [warning["code"] for warning in run["warnings"]])

    def test_a_loose_limit_of_stress_keeps_the_body(self):
        """Steps as long as solid material takes cut all members of grey material: they become shorter."""
        for cells, limit in (("10x3x10", 10), ("12x2x12", 20)):
            with self.subTest(cells=cells):
                def run(*more, code=DONE):
                    return self.optimise("lbeam", "--cells", cells, "--keep", "1", "--objective", "volume", "--max-stress",
                                         str(limit), "--no-stl", *more, code=code)["results"]

                results = run("--steps", "100")
                self.assertTrue(results["constraints"][0]["holds"])
                self.assertLess(results["volume"], 0.45)
                self.assertLess(max(step[0] for step in results["steps"]["constraints"]), 5 * limit)
        run("--steps", "16", "--checkpoint", "c.h5", code=(DONE, NOT_CONVERGED))
        again = run("--steps", "24", "--resume", "c.h5", code=(DONE, NOT_CONVERGED))["steps"]
        self.assertEqual(again["objective"], results["steps"]["objective"][16:24])

    def test_a_limit_that_the_solid_body_exceeds(self):
        run = self.solve(self.limited({**self.tip, "at_most": 1}, objective="volume"), "--no-stl", code=NOT_CONVERGED)
        text = {warning["code"]: warning["text"] for warning in run["warnings"]}["constraint-exceeded"]
        first = run["results"]["steps"]["constraints"][0][0]
        self.assertGreater(first, 1)
        self.assertRegex(text, r"or a limit that can be met: the first design, which had 100 % of the volume, had [\d.]+ m$")
        self.assertNotIn("more volume", text)

    def test_a_mass_that_solid_elements_exceed(self):
        """18 of 54 m^3 of density 5."""
        document = self.limited({"kind": "mass", "at_most": 100}, material={"young": 1, "poisson": 0.3, "mass_density": 5},
                                volume_fraction=0.6, passive=[{"box": [0, 0, 0, 6, 3, 1], "role": "solid"}])
        self.solve(document, code=(DONE, NOT_CONVERGED))
        document["constraints"][0]["at_most"] = 89
        self.fails(BAD_FILE, "constraint 1 (mass): elements that stay solid have 90 kg, and 89 kg is the limit of all",
                   "topopt", self.write("p.json", json.dumps(document)), "-q")

    def test_resumed_runs_and_checkpoints_of_other_limits(self):
        constraints = [{**self.tip, "at_most": 500}, {"kind": "stress", "at_most": 2}]
        for grid in ("mesh", "voxels"):
            with self.subTest(grid=grid):
                document = self.limited(*constraints, solver={"grid": grid})
                code = (DONE, NOT_CONVERGED)  # few steps: limits may hold or not
                self.solve(document, "--steps", "6", "--history", "whole.csv", code=code)
                self.solve(document, "--steps", "4", "--history", "first.csv",
                           "--checkpoint", "c.h5", code=code)
                self.solve(document, "--steps", "6", "--history", "second.csv",
                           "--resume", "c.h5", code=code)
                self.assertEqual(self.rows("first.csv") + self.rows("second.csv"),
                                 self.rows("whole.csv"))
        self.fails(BAD_FILE, "springs or constraints are not", "topopt", "p.json", "--max-stress",
                   "3", "--resume", "c.h5", "-q", "--steps", "8")

    def test_a_run_ends_where_its_objective_stays(self):
        run = self.solve(problem(steps=200, change=0, objective_change=1e-3))
        self.assertEqual(run["status"], "converged")
        objectives = run["results"]["steps"]["objective"]
        self.assertLess(len(objectives), 200)
        for steps, ends in ((objectives, True), (objectives[:-1], False)):
            last = steps[-6:]
            self.assertEqual(max(last) - min(last) < 1e-3 * last[-1], ends)
        plain = self.solve(problem(steps=len(objectives), change=0))
        self.assertEqual(plain["results"]["steps"]["objective"], objectives)

    def test_mistakes(self):
        def refused(message, document, *arguments):
            with self.subTest(message=message):
                self.fails(BAD_FILE, message, "topopt", self.write("p.json", json.dumps(document)),
                           "-q", "--dry-run", *arguments)

        stress = {"kind": "stress", "at_most": 2}
        refused('constraints[0].kind: "mas"', self.limited({"kind": "mas", "at_most": 1}))
        refused("constraints[1].at_most: 0: expected Pa, greater than 0",
                self.limited(stress, {"kind": "stress", "at_most": 0}))
        refused("constraints[0]", self.limited({"kind": "stress", "at_least": 1}))
        refused("at_most", self.limited(self.tip))
        refused('there is no load case "pull": take one of "tip"',
                self.limited({**stress, "case": "pull"}))
        refused("all nodes are held", self.limited(
            {**self.tip, "box": [0, 0, 0, 0, 3, 3], "at_most": 1}))
        refused("all of its elements are void", self.limited(
            {**self.tip, "box": [0, 3, 3, 6, 3, 3], "at_most": 1},
            passive=[{"box": [5, 2, 2, 6, 3, 3], "role": "void"}]))
        refused("4 constraints beside the volume: at most 3", self.limited(*[stress] * 4))
        refused("5 constraints: at most 4", self.limited(*[stress] * 5, objective="volume"))
        refused("take the method mma", self.limited(stress, method="oc"))
        refused("take the filter density", self.limited(stress, filter={"kind": "sensitivity"}))
        refused("has no mass density", self.limited({"kind": "mass", "at_most": 1}))
        refused("the least volume is none at all", self.limited(objective="volume"))
        mass = self.limited({"kind": "mass", "at_most": 1}, objective="volume",
                            material={"young": 1, "poisson": 0.3, "mass_density": 1})
        self.fails(BAD_FILE, "the least volume of a mass that may be less is nothing at all", "topopt",
                   self.write("mass.json", json.dumps(mass)), "-q")
        refused("leave out", self.limited(stress, objective="volume"), "--volume", "0.3")
        refused("limited twice", self.limited({"kind": "volume", "at_most": 0.4}, volume_fraction=0.3))
        refused("case", self.limited({**self.tip, "at_most": 1}, cases=[
            {"name": n, "loads": [{"box": [6, 0, 0, 6, 3, 0], "total_force": [0, 0, -1]}]}
            for n in ("a", "b")]))
        for objective in ("volume", "compliance"):
            self.fails(USAGE, "a mechanism has the largest output", "topopt", "inverter",
                       "--cells", "6x4x4", "--objective", objective, "--max-stress", "1", "-q",
                       "--dry-run")
        self.fails(USAGE, "the compliance of a mechanism", "topopt", "inverter", "--cells",
                   "6x4x4", "--max-compliance", "1", "-q", "--dry-run")
        for option in ("--max-stress", "--max-mass", "--max-compliance", "--objective-change"):
            self.fails(USAGE, option, "topopt", "cantilever", option, "0")
        plan = self.optimise("cantilever", "--cells", "6x3x3", "--dry-run")
        more = self.optimise("cantilever", "--cells", "6x3x3", "--max-stress", "9", "--dry-run")
        self.assertGreater(more["results"]["design_bytes"], plan["results"]["design_bytes"])
        self.assertEqual(self.solve(self.limited({"kind": "volume", "at_most": 0.4}), "--dry-run")
                         ["problem"]["volume_fraction"], 0.4)


if __name__ == "__main__":
    driver_case.main()
