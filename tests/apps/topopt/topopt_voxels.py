# SPDX-License-Identifier: Apache-2.0
"""`ossatura topopt` on voxels: courses, loads and frequencies are those of the same cubes as hexahedra."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, NOT_CONVERGED, USAGE
from support.designs import TopoptCase, box, problem, stl_of_box


class Voxels(TopoptCase):
    """The solver on voxels."""

    def test_the_course_of_the_mesh(self):
        for name, cells, more in (("cantilever", "12x6x6", ("--volume", "0.2")),
                                  ("mbb", "18x3x6", ("--projection", "--sharpness", "1:8:2:x2")),
                                  ("lbeam", "10x4x10", ("--method", "mma")),
                                  ("bridge", "16x4x6", ("--filter", "sensitivity"))):
            arguments = ("--cells", cells, "--steps", "6", "--tolerance", "1e-8", *more)
            mesh = self.optimise(name, *arguments)
            voxels = self.optimise(name, *arguments, "--grid", "voxels")
            with self.subTest(name=name):
                for part in ("objective", "volume"):
                    for a, b in zip(voxels["results"]["steps"][part],
                                    mesh["results"]["steps"][part]):
                        self.close(a, b, 1e-5)
                self.close(voxels["results"]["objective"], mesh["results"]["objective"], 1e-5)
                self.assertEqual(sorted(voxels["results"]), sorted(mesh["results"]))
                self.assertEqual(sorted(voxels["engine"]), sorted(mesh["engine"]))
        engine = voxels["engine"]
        self.assertEqual((engine["grid"], engine["operator"], engine["preconditioner"],
                          engine["solver_precision"]),
                         ("voxels", "brick" if self.backend == "cuda" else "offset", "multigrid",
                          "lean"))
        self.assertTrue(engine["deterministic"])
        self.assertEqual(mesh["engine"]["grid"], "mesh")

    def test_published_courses(self):
        # As on the mesh: TopOpt in PETSc (73307a23).
        steps = self.optimise("cantilever", "--cells", "32x16x16", "--size", "2x1x1", "--volume",
                              "0.12", "--radius", "0.08", "--method", "mma", "--steps", "2",
                              "--grid", "voxels")["results"]["steps"]
        for objective, expected in zip(steps["objective"], (6.301474, 4.439795)):
            self.close(0.016**2 * objective, expected, 3e-5)

    def test_precisions(self):
        arguments = ("--cells", "12x6x6", "--steps", "4", "--grid", "voxels", "--tolerance", "1e-8")
        expected = self.optimise("cantilever", *arguments)["results"]["steps"]["objective"]
        for precision in ("mixed", "double", "lean"):
            run = self.optimise("cantilever", *arguments, "--precision", precision)
            self.assertEqual(run["engine"]["solver_precision"], precision)
            for a, b in zip(run["results"]["steps"]["objective"], expected):
                self.close(a, b, 1e-6)

    def test_a_resumed_run_equals_the_one_without_a_stop(self):
        base = ("--cells", "8x4x4", "--grid", "voxels", "--projection", "--sharpness", "1:8:3:x2",
                "--change", "0")
        for more in ((), ("--method", "mma")):
            whole = self.optimise("cantilever", *base, *more, "--steps", "7", "--history", "w.csv")
            self.optimise("cantilever", *base, *more, "--steps", "4", "--checkpoint", "c.h5",
                          "--history", "a.csv")
            resumed = self.optimise("cantilever", *base, *more, "--steps", "7", "--resume", "c.h5",
                                    "--history", "b.csv")
            self.assertEqual(self.rows("a.csv") + self.rows("b.csv"), self.rows("w.csv"))
            self.assertEqual(resumed["results"]["objective"], whole["results"]["objective"])
        self.fails(BAD_FILE, "checkpoint of other options", "topopt", "cantilever", "--cells",
                   "8x4x4", "--projection", "--sharpness", "1:8:3:x2", "--change", "0", "--method",
                   "mma", "--resume", "c.h5", "-q")

    def test_a_signal_writes_the_checkpoint(self):
        arguments = ("--cells", "8x4x4", "--change", "0", "--grid", "voxels")
        self.interrupt(lambda line: line.split()[1:2] and "/" in line.split()[1], "topopt",
                       "cantilever", *arguments, "--backend", self.backend, "--steps", "100000000",
                       "--checkpoint", "c.h5", "--json", "run.json")
        run = json.loads(self.read("run.json"))
        self.assertEqual(run["status"], "interrupted")
        taken = run["results"]["steps_taken"]
        self.optimise("cantilever", *arguments, "--resume", "c.h5", "--steps", str(taken + 1))

    def test_dry_run(self):
        arguments = ("--cells", "40x20x20", "--grid", "voxels")
        plan = self.optimise("cantilever", *arguments, "--dry-run")["results"]
        self.close(plan["bytes_per_dof"], plan["predicted_device_bytes"] / (3 * 41 * 21 * 21), 1e-9)
        run = self.optimise("cantilever", *arguments, "--steps", "1")
        ratio = run["memory"]["kokkos_peak_bytes"] / plan["predicted_device_bytes"]
        self.assertGreater(ratio, 0.7)
        self.assertLess(ratio, 1.4)

    HEAVY = {"young": 2.1e11, "poisson": 0.3, "mass_density": 7850}

    def test_frequencies_are_those_of_the_mesh(self):
        beam = problem(mesh=box((12, 2, 4), (0.6, 0.1, 0.2)), material=self.HEAVY, supports=[{"box": [0, 0, 0, 0, 0.1, 0.2]}],
                       cases=[{"name": "tip", "loads": [{"box": [0.6, 0, 0, 0.6, 0.1, 0], "total_force": [0, 0, -1]}]}],
                       passive=[{"box": [0.5, 0, 0, 0.6, 0.1, 0.2], "role": "solid"}], objective="frequency",
                       volume_fraction=0.5, filter={"kind": "density", "radius": 0.08}, frequencies=4, steps=3)
        mesh = self.solve(beam, "--grid", "mesh")
        for self.backend in driver_case.backends():
            for precision in ("lean", "mixed", "double") if self.backend == "serial" else ("lean",):
                run = self.solve(beam, "--grid", "voxels", "--precision", precision, "--hdf", "v.hdf")
                self.assertTrue(run["certificate"]["passed"])
                self.assertEqual(len(run["results"]["frequencies"]), 4)
                self.assertLessEqual(max(run["results"]["frequency_residuals"]), 1e-6)
                for a, b in zip(run["results"]["steps"]["frequencies"] + [run["results"]["frequencies"]],
                                mesh["results"]["steps"]["frequencies"] + [mesh["results"]["frequencies"]]):
                    for one, other in zip(a, b):
                        self.close(one, other, 1e-5)
            mode = hdf5_values.read(self.path("v.hdf"), "VTKHDF/PointData/mode_4")
            self.close(max(sum(x * x for x in mode[k:k + 3]) for k in range(0, len(mode), 3)), 1, 1e-12)
        self.backend = "serial"
        # Killed after a step, and resumed; a limit; what is not held to frequencies has them in the end.
        whole = self.solve(beam, "--grid", "voxels", "--history", "whole.csv")
        self.solve(beam, "--grid", "voxels", "--steps", "2", "--history", "first.csv", "--checkpoint", "c.h5")
        self.solve(beam, "--grid", "voxels", "--history", "second.csv", "--resume", "c.h5")
        self.assertEqual(self.rows("first.csv") + self.rows("second.csv"), self.rows("whole.csv"))
        least = 0.5 * whole["results"]["frequencies"][0]
        limited = self.solve({**beam, "objective": "compliance", "constraints": [{"kind": "frequency", "at_least": least}]},
                             "--grid", "voxels", "--steps", "3")
        self.assertTrue(limited["results"]["constraints"][-1]["holds"])
        self.refused_of_frequencies(beam)

    def refused_of_frequencies(self, beam):
        for more, message in (({"material": {"young": 1, "poisson": 0.3}}, "has no mass density"),
                              ({"method": "oc"}, "take the method mma")):
            self.write("bad.json", json.dumps({**beam, **more, "solver": {"grid": "voxels"}}))
            self.fails(BAD_FILE, message, "topopt", "bad.json", "-q")

    def test_frequencies_of_a_surface_and_what_they_take(self):
        self.write("part.stl", stl_of_box((8, 2, 2)))
        part = problem(mesh={"file": "part.stl", "voxel": 0.5}, material={"young": 200, "poisson": 0.3, "mass_density": 3},
                       supports=[{"box": [0, 0, 0, 0, 2, 2]}],
                       cases=[{"name": "tip", "loads": [{"box": [8, 0, 0, 8, 2, 2], "total_force": [0, 0, -1]}]}],
                       volume_fraction=0.6, filter={"kind": "density", "radius": 0.8}, steps=1)
        run = self.solve(part, "--frequencies", "2")
        same = self.solve({**part, "mesh": box((16, 4, 4), (8, 2, 2))}, "--frequencies", "2", "--grid", "mesh")
        for one, other in zip(run["results"]["frequencies"], same["results"]["frequencies"]):
            self.close(one, other, 1e-6)
        arguments = ("--cells", "24x12x12", "--grid", "voxels", "--mass-density", "3", "--frequencies", "3", "--tolerance", "1e-3",
                     "--steps", "1", "--no-hdf", "--no-stl")
        plan = self.optimise("cantilever", *arguments, "--dry-run")["results"]
        run = self.optimise("cantilever", *arguments)
        ratio = run["memory"]["kokkos_peak_bytes"] / plan["predicted_device_bytes"]
        self.assertGreater(ratio, 0.7)
        self.assertLess(ratio, 1.4)

    def test_a_surface_is_filled(self):
        # 60 x 30 x 30 mm with cubes of 10 mm, as a box of them.
        scaled = {"material": {"young": 1, "poisson": 0.3},
                  "supports": [{"box": [0, 0, 0, 0, 0.03, 0.03]}],
                  "cases": [{"name": "tip", "loads": [
                      {"box": [0.06, 0, 0, 0.06, 0.03, 0], "total_force": [0, 0, -1]}]}]}
        self.write("part.stl", stl_of_box((60, 30, 30)))
        part = self.solve(problem(mesh={"file": "part.stl", "unit": 0.001, "voxel": 0.01}, **scaled),
                          "--stl", "design.stl", "--stl-level", "0.3", "--hdf", "design.hdf")
        whole = self.solve(problem(mesh=box((6, 3, 3), (0.06, 0.03, 0.03)), **scaled), "--grid",
                           "voxels")
        self.assertEqual(part["engine"]["grid"], "voxels")
        self.assertEqual(part["problem"]["elements"], 54)
        for a, b in zip(part["results"]["steps"]["objective"],
                        whole["results"]["steps"]["objective"]):
            self.close(a, b, 1e-9)
        triangles = self.triangles("design.stl")
        self.assert_closed(triangles)
        self.assertGreater(max(corner[0] for corners in triangles for corner in corners), 30)
        self.assertIn("part.stl", [i["path"] for i in part["provenance"]["inputs"]])
        on_mesh = self.solve(problem(mesh={"file": "part.stl", "unit": 0.001, "voxel": 0.01},
                                     solver={"grid": "mesh"}, **scaled))
        self.assertEqual(on_mesh["engine"]["grid"], "mesh")

    def test_more_elements_than_files_take(self):
        self.fails(USAGE, "too many for .hdf and .stl", "topopt", "cantilever", "--grid", "voxels",
                   "--cells", "650x650x650", "--no-stl")

    def test_refusals(self):
        def refused(message, *arguments, code=None, name="cantilever"):
            is_file = "." in name
            self.fails(code or (BAD_FILE if is_file else USAGE), message, "topopt", name, "-q", *arguments)

        voxels = ("--cells", "6x4x4", "--grid", "voxels")
        refused("no cube", *voxels, "--distort", "0.2")
        refused("no cube", *voxels, "--size", "6x4x3")
        refused("springs are not known on voxels", *voxels, name="inverter")
        refused("Helmholtz", *voxels, "--filter", "helmholtz")
        refused("the operator has no effect on voxels", *voxels, "--operator", "csr")
        refused("the preconditioner has no effect", *voxels, "--preconditioner", "jacobi")
        refused("the cost of forming", *voxels, "--forming-cost", "3")
        refused("lean precision", "--cells", "6x4x4", "--precision", "lean")
        refused("reaches no element's neighbour", *voxels, "--radius", "0.9")
        refused("--grid", "--cells", "6x4x4", "--grid", "octree", code=USAGE)
        refused("--voxel", "--voxel", "0.1", code=USAGE)
        refused("--voxel", "--voxel", "0", code=USAGE)
        self.write("open.stl", stl_of_box((6, 3, 3), open_=True))
        self.write("part.stl", stl_of_box((6, 3, 3)))
        refused("needs --voxel M", name="part.stl", code=USAGE)
        refused("open.stl", "--voxel", "1", name="open.stl")
        refused("no cube of 100 m", "--voxel", "100", name="part.stl")
        refused("there are no loads", "--voxel", "1", "--young", "1", name="part.stl")
        for mesh, message in (({"file": "part.inp", "voxel": 1}, "is of surfaces"),
                              ({"file": "part.stl", "voxel": 0}, "greater than 0"),
                              ({"generator": "mbb", "voxel": 1}, "has no effect")):
            with self.subTest(mesh=mesh):
                refused(message, name=self.write("p.json", json.dumps(problem(mesh=mesh))))

    def test_a_solve_that_does_not_converge(self):
        run = self.optimise("cantilever", "--cells", "16x8x8", "--grid", "voxels",
                            "--max-iterations", "2", code=NOT_CONVERGED)
        self.assertEqual(run["status"], "broken down")
        self.assertIsNone(run["results"]["objective"])


class Loads(TopoptCase):
    """Gravity, rotation and imposed displacements on voxels."""
    STONE = {"young": 2e7, "poisson": 0.2, "mass_density": 2000}
    VOLUME = 0.6 * 0.1 * 0.2

    def beam(self, **more):
        """A beam that bends by its weight, one that turns, and one whose tip a grip moves."""
        return problem(mesh=box((12, 2, 4), (0.6, 0.1, 0.2)), material=self.STONE, supports=[{"box": [0, 0, 0, 0, 0.1, 0.2]}], **{
            "cases": [{"name": "weight", "gravity": [0, 1, -9.81]},
                      {"name": "turn", "weight": 0.1, "rotation": {"origin": [0, 0.05, 0], "axis": [0, 0, 2], "speed": 9}},
                      {"name": "move", "weight": 2, "loads": [{"box": [0.3, 0, 0.2, 0.3, 0.1, 0.2], "total_force": [0, 0, -20]}],
                       "displacements": [{"box": [0.6, 0, 0, 0.6, 0.1, 0], "displacement": [None, None, -1e-4]}]}],
            "passive": [{"box": [0.2, 0, 0.06, 0.3, 0.1, 0.14], "role": "void"}], "volume_fraction": 0.5, "start": 0.5,
            "filter": {"kind": "density", "radius": 0.08}, "tolerance": 1e-9, **more})

    def test_designs_are_those_of_the_mesh(self):
        beam = self.beam(steps=5)
        del beam["tolerance"]
        exact = ("--tolerance", "1e-9")
        mesh = self.solve(beam, "--grid", "mesh", *exact, "--hdf", "mesh.hdf")
        self.assertEqual(mesh["engine"]["method"], "mma")
        for self.backend in driver_case.backends():
            for precision in ("lean", "mixed", "double") if self.backend == "serial" else ("lean",):
                run = self.solve(beam, "--grid", "voxels", "--precision", precision, *exact, "--hdf", "v.hdf")
                self.assertTrue(run["certificate"]["passed"])
                self.assertEqual(run["engine"]["linear_below"], 0.25)
                self.assertEqual(run["problem"]["cases"], mesh["problem"]["cases"])
                for one, other in zip(run["results"]["steps"]["objective"], mesh["results"]["steps"]["objective"]):
                    self.close(one, other, 1e-5)
                for own, of_mesh in zip(run["results"]["cases"], mesh["results"]["cases"]):
                    self.close(own["value"], of_mesh["value"], 1e-5)
                    for key in "support_force", "imposed_force":
                        scale = max(map(abs, of_mesh.get(key, [1])))
                        for one, other in zip(own.get(key, []), of_mesh.get(key, [])):
                            self.assertLess(abs(one - other), 1e-5 * scale)
                self.close(run["results"]["cases"][2]["imposed_work"], mesh["results"]["cases"][2]["imposed_work"], 1e-5)
            # What is there is carried.
            mass = 2000 * self.VOLUME * run["results"]["volume"]
            self.close(run["results"]["cases"][0]["support_force"][2], 9.81 * mass, 1e-6)
            for name in "weight_weight", "weight_turn", "imposed_move", "displacement_move":
                found, expected = (hdf5_values.read(self.path(file), "VTKHDF/PointData/" + name)
                                   for file in ("v.hdf", "mesh.hdf"))
                scale = max(map(abs, expected))
                self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-4 * scale)

    def test_a_bar_that_hangs_turns_and_is_pulled(self):
        # rho^2 g^2 A L^3 / (3 E), less what linear elements lack; the force rho w^2 A L^2 / 2; E A d / L.
        size, area, length = (2, 0.5, 0.5), 0.25, 2
        bar = problem(mesh=box((16, 4, 4), size), material={"young": 6e5, "poisson": 0, "mass_density": 300},
                      supports=[{"box": [0, 0, 0, 0, *size[1:]], "components": "x"}, {"box": [0, 0, 0, 2, 0, 0.5], "components": "y"},
                                {"box": [0, 0, 0, 2, 0.5, 0], "components": "z"}],
                      cases=[{"name": "hang", "gravity": [10, 0, 0]},
                             {"name": "turn", "rotation": {"origin": [0, 0, 0], "axis": [0, 0, 1], "speed": 3}},
                             {"name": "pull", "displacements": [{"box": [2, 0, 0, 2, 0.5, 0.5], "displacement": [0.01, None, None]}]}])
        solid = ("--grid", "voxels", "--steps", "1", "--start", "0.999999", "--volume", "0.999999", "--move", "1e-6", "--filter", "none",
                 "--tolerance", "1e-9")
        # What one case moves is held in the others: the end of the pulled bar is of its own.
        for cases, check in ((bar["cases"][:2], self.check_free_bar), (bar["cases"][2:], self.check_pulled_bar)):
            run = self.solve({**bar, "cases": cases}, *solid)
            check(run["results"], area, length)

    def check_free_bar(self, results, area, length):
        hang, turn = results["steps"]["cases"][0]
        self.close(hang, (300 * 10) ** 2 * area * length ** 3 / (3 * 6e5) * (1 - 1 / (4 * 16 ** 2)), 2e-5)
        of_volume = results["volume"]
        self.close(results["cases"][0]["support_force"][0], -300 * 10 * area * length * of_volume, 1e-5)
        self.close(results["cases"][1]["support_force"][0], -300 * 9 * area * length ** 2 / 2 * of_volume, 1e-5)
        # 2 rho^2 w^4 A L^5 / (15 E) along the bar, and as much across, less what linear elements lack of each.
        lack = 15 / 72
        along, across = area * length ** 5 * (1 - lack / 16 ** 2), 0.5 * length * 0.5 ** 5 * (1 - lack / 4 ** 2)
        self.close(turn, 2 * (300 * 9) ** 2 / (15 * 6e5) * (along + across), 2e-5)

    def check_pulled_bar(self, results, area, length):
        force = 6e5 * area * 0.01 / length
        self.close(results["steps"]["objective"][0], -0.01 * force, 1e-5)
        case = results["cases"][0]
        self.close(case["imposed_work"], 0.01 * case["imposed_force"][0], 1e-9)
        self.close(case["support_force"][0], -case["imposed_force"][0], 1e-6)

    def test_surfaces_and_halves(self):
        self.write("beam.stl", stl_of_box((0.6, 0.2, 0.2)))
        def of(width, mesh, **more):
            cases = [{"name": "weight", "gravity": [0.5, 0, -9.81]},
                     {"name": "turn", "rotation": {"origin": [0.1, 0.1, 0], "axis": [0, 1, 0], "speed": 9},
                      "displacements": [{"box": [0.6, 0, 0, 0.6, width, 0.05], "displacement": [None, None, -1e-4]}]}]
            return self.solve(problem(mesh=mesh, material=self.STONE, supports=[{"box": [0, 0, 0, 0, width, 0.2]}], cases=cases,
                                      volume_fraction=0.5, start=0.5, filter={"kind": "density", "radius": 0.08}, steps=3, **more),
                              "--grid", "voxels", "--tolerance", "1e-9")["results"]
        whole = of(0.2, box((12, 4, 4), (0.6, 0.2, 0.2)))
        filled = of(0.2, {"file": "beam.stl", "voxel": 0.05})
        half = of(0.1, box((12, 2, 4), (0.6, 0.1, 0.2)), mirrors=[{"axis": "y", "place": 0.1}])
        for one, other, of_half in zip(*(run["steps"]["objective"] for run in (whole, filled, half))):
            self.close(other, one, 1e-9)
            self.close(of_half, one / 2, 1e-5)

    def test_resumed_planned_and_coarser(self):
        beam = self.beam()
        del beam["tolerance"]
        whole = self.solve(beam, "--grid", "voxels", "--steps", "4", "--history", "whole.csv")
        self.solve(beam, "--grid", "voxels", "--steps", "2", "--history", "first.csv", "--checkpoint", "c.h5")
        self.solve(beam, "--grid", "voxels", "--steps", "4", "--history", "second.csv", "--resume", "c.h5")
        self.assertEqual(self.rows("first.csv") + self.rows("second.csv"), self.rows("whole.csv"))
        self.assertGreater(whole["results"]["objective"], 0)
        other = json.loads(json.dumps(beam))
        other["cases"][0]["gravity"][2] = -9.8
        self.write("other.json", json.dumps(other))
        self.fails(BAD_FILE, "another problem", "topopt", "other.json", "--grid", "voxels", "--resume", "c.h5", "-q")
        finer = ("--cells", "24x4x8", "--grid", "voxels", "--steps", "4")
        coarse = self.solve(beam, *finer, "--levels", "1")
        self.assertEqual([one["steps"] for one in coarse["results"]["grids"]], [3, 1])
        straight = self.solve(beam, *finer[:-1], "1")
        self.assertLess(coarse["results"]["steps"]["objective"][-1], straight["results"]["steps"]["objective"][0])
        large = ("--cells", "48x8x16", "--grid", "voxels")
        plan = self.solve(beam, *large, "--dry-run")["results"]
        run = self.solve(beam, *large, "--steps", "1")
        ratio = run["memory"]["kokkos_peak_bytes"] / plan["predicted_device_bytes"]
        self.assertGreater(ratio, 0.7)
        self.assertLess(ratio, 1.4)


if __name__ == "__main__":
    driver_case.main()
