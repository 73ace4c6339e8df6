# SPDX-License-Identifier: Apache-2.0
"""`ossatura topopt` on voxels, and the part that comes of a design: its surface, solved again, places
round and kept, files for printers."""
import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, NOT_CONVERGED, USAGE
from support.designs import TopoptCase, box, problem, shells, stl_of_box, stl_of_plate, triangles_of_box, volume_of
from support.solid_decks import Mesh


class StepFiles(TopoptCase):
    """Problems with STEP files: a script in the place of Python prints what mesh_step.py would."""

    def python(self, command):
        """Makes `command` of a shell what OSSATURA_PYTHON names."""
        os.chmod(self.write("python", "#!/bin/sh\n" + command + "\n"), 0o755)
        os.environ["OSSATURA_PYTHON"] = self.path("python")
        self.addCleanup(os.environ.pop, "OSSATURA_PYTHON", None)

    def box(self, **more):
        """60 x 30 x 30 mm with cubes of 10 mm; its faces are numbered as triangles_of_box() lists them."""
        at, triangles = triangles_of_box((60, 30, 30))
        lines = [f"{len(at)} {len(triangles)}"] + ["{} {} {}".format(*x) for x in at]
        lines += ["{} {} {} {}".format(*corners, 1 + k // 2) for k, corners in enumerate(triangles)]
        self.write("printed.txt", "\n".join(lines) + "\n")
        self.write("part.step", "ISO-10303-21;\n")
        return {"mesh": {"file": "part.step", "unit": 0.001, "voxel": 0.01},
                "material": {"young": 1, "poisson": 0.3}, "supports": [{"faces": [5]}],
                "cases": [{"name": "tip", "loads": [{"faces": [6], "traction": [0, 0, -1]}]}],
                "volume_fraction": 0.6, "steps": 3, **more}

    def test_a_body_and_its_faces(self):
        self.python('test "$(basename "$1") $2 $(basename "$3")" = "mesh_step.py --triangles part.step" '
                    '&& cat "$(dirname "$0")/printed.txt"')
        run = self.solve(self.box(), "--3mf", "part.3mf")
        boxes = self.solve(problem(mesh=box((6, 3, 3), (0.06, 0.03, 0.03)),
                                   supports=[{"box": [0, 0, 0, 0, 0.03, 0.03]}],
                                   volume_fraction=0.6,
                                   cases=[{"name": "tip", "loads": [
                                       {"box": [0.06, 0, 0, 0.06, 0.03, 0.03],
                                        "traction": [0, 0, -1]}]}]), "--grid", "voxels")
        self.assertEqual(run["engine"]["grid"], "voxels")
        self.assertEqual(run["problem"]["held_dofs"], boxes["problem"]["held_dofs"])
        self.close(run["results"]["objective"], boxes["results"]["objective"], 1e-9)
        self.assertIn("part.step", [os.path.basename(i["path"]) for i in run["provenance"]["inputs"]])
        self.assertGreater(run["results"]["surface"]["triangles"], 0)
        self.assertIn("reanalysis", run["results"])
        # Two faces, and a distance.
        both = self.solve(self.box(supports=[{"faces": {"numbers": [5, 1], "within": 1e-6}}]))
        self.assertEqual(both["problem"]["held_dofs"], 3 * (4 * 4 + 6 * 4))
        skin = self.solve(self.box(passive=[{"faces": [2], "role": "solid"}], volume_fraction=0.5))
        self.assertEqual(skin["problem"]["solid_elements"], 6 * 3)

    def refused(self, message, **more):
        self.fails(BAD_FILE, message, "topopt", self.write("p.json", json.dumps(self.box(**more))), "-q")

    def test_mistakes(self):
        self.python('cat "$(dirname "$0")/printed.txt"')
        self.refused("there is no face 7, but 1 to 6", supports=[{"faces": [7]}])
        self.refused("supports[0].faces[0]: 0", supports=[{"faces": [0]}])
        self.refused("supports[0].faces", supports=[{"faces": []}])
        self.refused("unknown key", supports=[{"faces": {"numbers": [1], "wall": 1}}])
        self.refused("needs \"within\"", solver={"grid": "mesh"})
        self.refused("nothere.step: cannot be opened", mesh={"file": "nothere.step", "voxel": 1})
        self.refused("\"faces\" are of a STEP file", mesh=box((6, 3, 3)))
        self.fails(USAGE, "needs --voxel", "topopt", "part.step", "-q")

    def test_scripts_that_fail(self):
        for command, message in (
                ("echo 'part.step: has no solids' >&2; exit 1", "ended with 1: part.step: has no solids"),
                ("exit 3", "ended with 3: it said nothing"), ("kill -9 $$", "was ended by Killed"),
                ("echo 8 12 no", "printed no closed surface"), ("true", "printed no closed surface"),
                ("echo 99999999999 4", "printed no closed surface"),
                ('sed "s/^0 2 3 1/0 2 8 1/" "$(dirname "$0")/printed.txt"', "printed no closed surface"),
                ('cat "$(dirname "$0")/printed.txt"; echo 1', "printed no closed surface"),
                ('sed "s/^0 2 3 1/2 0 3 1/" "$(dirname "$0")/printed.txt"', "part.step: the surface")):
            with self.subTest(command=command):
                self.python(command)
                self.refused(message)
        os.environ["OSSATURA_PYTHON"] = self.path("nothere")
        self.refused("name another one by OSSATURA_PYTHON")

    def test_gmsh(self):
        """The script itself, where there is gmsh; else it says how to install it."""
        self.box()
        os.environ["OSSATURA_PYTHON"] = sys.executable
        self.addCleanup(os.environ.pop, "OSSATURA_PYTHON", None)
        if importlib.util.find_spec("gmsh") is None or importlib.util.find_spec("numpy") is None:
            self.refused("pip install gmsh numpy")
            return
        self.refused("part.step: ")
        anchor = pathlib.Path(__file__).parents[2] / "examples/topopt/anchor.json"
        run = self.optimise(str(anchor), "--voxel", "0.0025", "--radius", "0.004", "--steps", "2")
        self.close(run["problem"]["elements"] * 0.0025**3, 96366e-9, 0.02)


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
        def refused(message, *arguments, code=BAD_FILE, name="cantilever"):
            self.fails(code, message, "topopt", name, "-q", *arguments)

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


class Part(TopoptCase):
    """A part that can be made: its surface, solved again, what is kept whole, and the files."""

    def tower(self, **more):
        """A column of cubes of 1 m, pressed by 1 N/m2 from above, on rollers."""
        return problem(mesh=box((4, 4, 8)), material={"young": 5, "poisson": 0.3},
                       supports=[{"box": [0, 0, 0, 4, 4, 0], "components": "z"},
                                 {"box": [0, 0, 0, 0, 4, 8], "components": "x"},
                                 {"box": [0, 0, 0, 4, 0, 8], "components": "y"}],
                       cases=[{"name": "press", "loads": [
                           {"box": [0, 0, 8, 4, 4, 8], "traction": [0, 0, -1]}]}],
                       filter={"kind": "none"}, steps=1, **more)

    def test_the_surface_is_solved_again(self):
        # All of it is solid but an element at the foot, which the surface has, too.
        document = self.tower(passive=[{"box": [0, 0, 1, 4, 4, 8], "role": "solid"}],
                              volume_fraction=0.9999, solver={"tolerance": 1e-9})
        for grid in ("voxels", "mesh"):
            run = self.solve(document, "--grid", grid, "--stl", "s.stl", "--reanalyse", "1")
            again = run["results"]["reanalysis"]
            self.close(again["objective"], 16 * 8 / 5, 1e-6)
            self.close(again["difference"], again["objective"] / run["results"]["objective"] - 1,
                       1e-9)
            self.assertLess(abs(again["difference"]), 1e-3)
            case = again["cases"][0]
            self.close(case["largest_von_mises"]["value"], 1, 1e-4)
            self.close(case["von_mises_99_9_percent"], 1, 1e-4)
            self.assertEqual(case["largest_displacement"]["place"], [4, 4, 8])
            self.assertEqual((again["cubes"], again["failure"], case["moved_force_share"],
                              run["warnings"]), (128, None, 0, []))
        # By itself on voxels, with a table; finer cubes; not where it is not wanted.
        self.write("p.json", json.dumps(document))
        text = self.ossatura("topopt", "p.json", "--grid", "voxels", "--stl", "s.stl", "--backend",
                             self.backend).stdout
        for part in ("Surface, solved again", "von Mises stress", "% to the design's"):
            self.assertIn(part, text)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl", "--reanalyse", "2")
        self.close(run["results"]["reanalysis"]["objective"], 16 * 8 / 5, 1e-6)
        self.assertEqual(run["results"]["reanalysis"]["cubes"], 8 * 128)
        for more in (("--grid", "voxels", "--stl", "s.stl", "--reanalyse", "0"),
                     ("--grid", "voxels"), ("--stl", "s.stl")):
            self.assertNotIn("reanalysis", self.solve(document, *more)["results"])

    def test_a_surface_that_lost_its_loads(self):
        # One half is solid, the other one too thin for the surface: 3 of 8 parts of the traction.
        document = self.tower(passive=[{"box": [0, 0, 0, 2, 4, 8], "role": "solid"}],
                              volume_fraction=0.55, move=0.05)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl")
        self.assertIn("moved-loads", [w["code"] for w in run["warnings"]])
        case = run["results"]["reanalysis"]["cases"][0]
        self.close(case["moved_force_share"], 0.375, 1e-12)
        self.close(case["moved_force_distance"], 2, 1e-12)
        self.close(run["results"]["reanalysis"]["cube_volume"], 2 * 4 * 8, 1e-12)
        # At this level nothing is left around the supports.
        document = problem(steps=1, volume_fraction=0.5)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl", "--stl-level", "0.51")
        self.assertIn("not-reanalysed", [w["code"] for w in run["warnings"]])
        self.assertNotIn("objective", run["results"]["reanalysis"])

    def test_members_that_cubes_are_too_coarse_for(self):
        # A beam of 2 x 2 elements in void: the surface rounds its edges, the cubes do not.
        document = problem(mesh=box((8, 6, 6)), supports=[{"box": [0, 2, 2, 0, 4, 4]}],
                           cases=[{"name": "tip", "loads": [
                               {"box": [8, 2, 2, 8, 4, 4], "total_force": [0, 0, -1]}]}],
                           passive=[{"box": [1, 0, 0, 8, 6, 2], "role": "void"},
                                    {"box": [0, 1, 0, 8, 6, 2], "role": "void"},
                                    {"box": [0, 0, 1, 8, 2, 6], "role": "void"},
                                    {"box": [0, 2, 2, 8, 4, 4], "role": "solid"},
                                    {"box": [0, 0, 4, 8, 6, 6], "role": "void"},
                                    {"box": [0, 4, 2, 8, 6, 4], "role": "void"}],
                           volume_fraction=0.112, filter={"kind": "none"}, steps=1)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl")
        again = run["results"]["reanalysis"]
        self.close(again["cube_volume"], 8 * 4, 1e-12)
        self.assertLess(run["results"]["surface"]["volume"], 0.95 * 8 * 4)
        self.assertIn("coarse-cubes", [w["code"] for w in run["warnings"]])
        # What is as grey is as stiff but for the void around.
        self.close(again["objective"], run["results"]["objective"], 1e-4)
        finer = self.solve(document, "--grid", "voxels", "--stl", "s.stl", "--reanalyse", "4")
        self.assertLess(finer["results"]["reanalysis"]["cube_volume"], 0.95 * 8 * 4)
        self.assertGreater(finer["results"]["reanalysis"]["objective"], again["objective"])

    def test_parts_that_are_not_what_was_designed(self):
        # A strip that is solid below grey elements, which are not in the surface.
        strip = problem(mesh=box((12, 3, 6)), supports=[{"box": [0, 0, 0, 0, 3, 6]}],
                        passive=[{"box": [0, 0, 0, 12, 3, 2], "role": "solid"}], volume_fraction=0.6, penalty=1,
                        cases=[{"name": "tip", "loads": [{"box": [12, 0, 0, 12, 3, 0], "total_force": [0, 0, -1]}]}],
                        move=0.001, filter={"kind": "none"}, steps=1)
        run = self.solve(strip, "--grid", "voxels", "--stl", "s.stl")
        self.assertEqual([w["code"] for w in run["warnings"]], ["coarse-cubes", "weak-surface"])
        self.assertGreater(run["results"]["reanalysis"]["difference"], 0.5)
        self.assertEqual(run["results"]["parts"]["force_share_beside"], [0])
        strip["cases"].append({"name": "top", "loads": [{"box": [12, 0, 6, 12, 3, 6], "total_force": [0, 0, -1]},
                                                        {"box": [11, 0, 0, 11, 3, 0], "total_force": [0, 0, -3]}]})
        run = self.solve(strip, "--stl", "s.stl")
        self.assertEqual([w["code"] for w in run["warnings"]], ["loads-beside"])
        self.assertIn("25 % of the loads of case 'top'", run["warnings"][0]["text"])
        tip, top = run["results"]["parts"]["force_share_beside"]
        self.assertEqual(tip, 0)
        self.close(top, 0.25, 1e-12)

    def test_surfaces_that_are_not_solved_again(self):
        for arguments, message in (
                (("--reanalyse", "9", "-o", "out"), "0 to 8 cubes"),
                (("--reanalyse", "1"), "--stl, --3mf or --output-dir"),
                (("--distort", "0.2", "--reanalyse", "1", "-o", "out"), "of other elements")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, message, "topopt", "cantilever", "--cells", "6x3x3", *arguments)
        self.fails(USAGE, "leave it out of a mechanism", "topopt", "inverter", "--cells", "6x4x4",
                   "--reanalyse", "1", "-o", "out")

    def plate(self, **more):
        """A plate of 12 x 8 x 2 mm in cubes of 1 mm, held at two walls and pressed at its end."""
        self.write("plate.stl", stl_of_box((12, 8, 2)))
        self.write("face.stl", "solid face\n" + "".join(
            "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in t) +
            "endloop\nendfacet\n" for t in (((12, 0, 0), (12, 4, 0), (12, 4, 2)),
                                          ((12, 0, 0), (12, 4, 2), (12, 0, 2)))) + "endsolid\n")
        return {"mesh": {"file": "plate.stl", "unit": 0.001, "voxel": 0.001},
                "material": {"young": 1e9, "poisson": 0.3},
                "supports": [{"cylinder": {"from": [0.002, 0.002, 0], "to": [0.002, 0.002, 0.002],
                                           "radius": 0.0011}},
                             {"cylinder": {"from": [0, 0.006, 0], "to": [0, 0.006, 0.002],
                                           "radius": 0.001, "wall": 0.0001}}],
                "cases": [{"name": "press", "loads": [
                    {"surface": "face.stl", "traction": [0, 0, -1e4]}]}],
                "steps": 2, **more}

    def test_round_places_and_faces(self):
        run = self.solve(self.plate())
        # A cross of 5 nodes on 3 planes; where the side x = 0 meets the circle two on each, and one
        # more above and below.
        self.assertEqual(run["problem"]["held_dofs"], 3 * (3 * 5 + 3 * 2 + 2))
        case = run["problem"]["cases"][0]
        self.assertEqual(case["forces"], 5 * 3)
        self.close(case["total_force"][2], -1e4 * 0.004 * 0.002, 1e-9)
        self.assertEqual(sorted(os.path.basename(i["path"]) for i in run["provenance"]["inputs"]),
                         ["face.stl", "p.json", "plate.stl"])
        mesh = self.solve(self.plate(cases=[{"name": "press", "loads": [
            {"surface": {"file": "face.stl", "within": 1e-6}, "traction": [0, 0, -1e4]}]}],
                                     solver={"grid": "mesh"}))
        for part in ("held_dofs", "cases"):
            self.assertEqual(mesh["problem"][part], run["problem"][part])
        self.close(mesh["results"]["objective"], run["results"]["objective"], 1e-4)
        ring = {"cylinder": {"from": [0.006, 0.004, 0], "to": [0.006, 0.004, 0.002],
                             "radius": 0.0023, "inner": 0.001}, "role": "solid"}
        run = self.solve(self.plate(passive=[ring]))
        self.assertEqual(run["problem"]["solid_elements"], 2 * (8 + 4))

    def test_mistakes_in_round_places(self):
        def refused(message, **more):
            self.fails(BAD_FILE, message, "topopt",
                       self.write("p.json", json.dumps(self.plate(**more))), "-q")

        def cylinder(**keys):
            return [{"cylinder": {"from": [0, 0, 0], "to": [0, 0, 1], "radius": 1, **keys}}]

        refused("supports[0].cylinder.to", supports=cylinder(to=[0, 0, 0]))
        refused("supports[0].cylinder.radius: 0", supports=cylinder(radius=0))
        refused("less than \"radius\"", supports=cylinder(inner=1))
        refused("\"inner\" has no effect", supports=cylinder(inner=0.5, wall=0.1))
        refused("unknown key", supports=cylinder(walls=0.1))
        refused("no node is in the cylinder", supports=cylinder(to=[0, 0, -1], radius=1e-9,
                                                               **{"from": [1, 1, 1]}))
        refused("no node of the boundary is at the wall", supports=cylinder(wall=1e-6))
        refused("nothere.stl", supports=[{"surface": "nothere.stl"}])
        refused("supports[0].surface.within: 0", supports=[
            {"surface": {"file": "face.stl", "within": 0}}])
        refused("near the surface", supports=[
            {"surface": {"file": "face.stl", "within": 1e-9}}], mesh={
                "file": "plate.stl", "unit": 0.0005, "voxel": 0.00017})
        refused("needs \"within\"", supports=[{"surface": "face.stl"}], solver={"grid": "mesh"})
        refused("unknown key \"wall\"", passive=[{**cylinder(wall=1)[0], "role": "solid"}])

    def test_layers_that_are_kept(self):
        document = self.plate(keep=0.0009, volume_fraction=0.5)
        run = self.solve(document, "--stl", "s.stl")
        kept = run["problem"]["kept_elements"]
        # Around the ends of the face two columns, of the side two, of the cross a square of 4 x 4.
        self.assertEqual(kept, run["problem"]["solid_elements"])
        self.assertGreater(kept, 16)
        self.assertEqual(self.solve(document, "--keep", "0.0018")["problem"]["void_elements"], 0)
        self.assertGreater(self.solve(document, "--keep", "0.0018")["problem"]["kept_elements"],
                           kept)
        self.write("p.json", json.dumps(document))
        self.fails(BAD_FILE, "are kept around supports and loads: keep less", "topopt", "p.json",
                   "-q", "--volume", "0.1")
        self.fails(BAD_FILE, "no element has its centre within 0.0001 m", "topopt", "p.json", "-q",
                   "--keep", "0.0001")
        self.fails(BAD_FILE, "nothing to design: keep less", "topopt", "p.json", "-q", "--keep", "1")
        self.fails(USAGE, "--keep", "topopt", "p.json", "-q", "--keep", "0")
        self.fails(BAD_FILE, "keep: -1", "topopt",
                   self.write("p.json", json.dumps(self.plate(keep=-1))), "-q")

    def wall_of_hole(self, triangles, middle, reach):
        """Vertices of the triangles within `reach` of the axis that face it."""
        wall = set()
        for corners in triangles:
            a, b = ([y - x for x, y in zip(corners[0], corner)] for corner in corners[1:])
            normal = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
            way = [sum(corner[d] for corner in corners) / 3 - middle[d] for d in range(2)]
            inward = -normal[0] * way[0] - normal[1] * way[1]
            if math.hypot(*way) < reach and inward > 0.3 * math.hypot(*normal) * math.hypot(*way):
                wall.update(corners)
        return wall

    def test_holes_that_are_kept_are_round(self):
        # In edges: the radius, and the middle of the hole. Vertices of its wall are on the chords of the file, which are up to
        # 1 - cos(pi / 48) of the radius within the circle.
        for radius, middle in ((3, (10, 9)), (4, (10, 9)), (4.5, (10, 9)), (4.5, (10.3, 8.8)), (6, (10, 9))):
            with self.subTest(radius=radius, middle=middle):
                size = (32, 18, 8)
                self.write("plate.stl", stl_of_plate(size, middle, radius))
                at = [1e-3 * x for x in middle]
                run = self.solve({
                    "mesh": {"file": "plate.stl", "unit": 0.001, "voxel": 0.001}, "material": {"young": 1e9, "poisson": 0.3},
                    "supports": [{"cylinder": {"from": [*at, 0], "to": [*at, 0.008], "radius": 1e-3 * radius, "wall": 0.001}}],
                    "cases": [{"name": "tip", "loads": [{"box": [0.032, 0, 0, 0.032, 0.018, 0.008], "total_force": [0, -9, 0]}]}],
                    "keep": 0.0018, "volume_fraction": 0.6, "filter": {"kind": "density", "radius": 0.0016}, "steps": 6},
                    "--stl", "s.stl", "--reanalyse", "0")
                self.assertGreater(run["problem"]["kept_elements"], 8 * 2 * 2 * radius)
                triangles = self.triangles("s.stl")
                self.assert_closed(triangles)
                wall = self.wall_of_hole(triangles, middle, radius + 1.6)
                self.assertGreater(len(wall), 8 * 2 * 3 * radius)
                self.assertGreater(run["results"]["surface"]["vertices_on_body"], len(wall))
                for x, y, _ in wall:
                    off = math.hypot(x - middle[0], y - middle[1]) - radius
                    self.assertLess(off, 1e-5)
                    self.assertGreater(off, -radius * (1 - math.cos(math.pi / 48)) - 1e-5)
                # All around, below, in the middle and above.
                for low in range(8):
                    angles = sorted(math.atan2(y - middle[1], x - middle[0]) for x, y, z in wall if low - 0.01 < z < low + 1.01)
                    gaps = [b - a for a, b in zip(angles, angles[1:] + [angles[0] + 2 * math.pi])]
                    self.assertLess(radius * max(gaps), 1)

    def test_smooth_surfaces(self):
        arguments = ("--cells", "16x8x8", "--grid", "voxels", "--steps", "12", "--stl", "s.stl")
        rough = self.optimise("cantilever", *arguments, "--smooth", "0")["results"]
        before = self.triangles("s.stl")
        smooth = self.optimise("cantilever", *arguments, "--smooth", "20")["results"]
        after = self.triangles("s.stl")
        self.assert_closed(after)
        self.assertEqual(len(before), len(after))
        self.assertNotEqual(before, after)
        self.close(volume_of(after), volume_of(before), 1e-6)
        self.close(smooth["surface"]["volume"], rough["surface"]["volume"], 1e-12)
        # What lies on the clamped side stays there.
        for old, new in zip(before, after):
            for a, b in zip(old, new):
                if a[0] == 0:
                    self.assertEqual(b[0], 0)
        self.close(smooth["reanalysis"]["objective"], rough["reanalysis"]["objective"], 0.05)
        self.fails(USAGE, "--smooth", "topopt", "cantilever", "--smooth", "-1", "-o", "out")
        self.fails(USAGE, "--smooth", "topopt", "cantilever", "--smooth", "3")

    def test_3mf(self):
        def model(name):
            """Vertices and triangles of the only object, in its unit."""
            with zipfile.ZipFile(self.path(name)) as file:
                self.assertIsNone(file.testzip())
                self.assertEqual(file.namelist(), ["[Content_Types].xml", "_rels/.rels",
                                                   "3D/3dmodel.model"])
                for other in file.namelist()[:2]:
                    ElementTree.fromstring(file.read(other))
                root = ElementTree.fromstring(file.read("3D/3dmodel.model"))
            space = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"
            self.assertEqual((root.tag, root.get("unit")), (space + "model", "millimeter"))
            self.assertEqual(len(root.findall(f".//{space}object")), 1)
            vertices = [tuple(float(v.get(d)) for d in "xyz")
                        for v in root.iter(space + "vertex")]
            return vertices, [tuple(int(t.get(k)) for k in ("v1", "v2", "v3"))
                              for t in root.iter(space + "triangle")]

        # The file of the part is in mm, and so is its STL.
        document = self.plate(volume_fraction=0.6)
        document["material"]["mass_density"] = 7800
        run = self.solve(document, "--stl", "s.stl", "--3mf", "s.3mf")
        self.assertEqual(run["results"]["files"], [self.path("s.stl"), self.path("s.3mf")]
                         if os.path.isabs(run["results"]["files"][0]) else ["s.stl", "s.3mf"])
        vertices, triangles = model("s.3mf")
        flat = self.triangles("s.stl")
        self.assertEqual((len(vertices), len(triangles)),
                         (run["results"]["surface"]["vertices"], len(flat)))
        corners = [[vertices[v] for v in t] for t in triangles]
        self.assert_closed(corners)
        for a, b in zip(corners, flat):
            for p, q in zip(a, b):
                self.assertLess(max(abs(x - y) for x, y in zip(p, q)), 1e-4)
        self.close(volume_of(corners) * 1e-9, run["results"]["surface"]["volume"], 1e-9)
        self.close(run["results"]["surface"]["mass"], 7800 * run["results"]["surface"]["volume"],
                   1e-12)
        # In m, and alone.
        run = self.optimise("cantilever", "--cells", "8x4x4", "--steps", "8", "--no-stl", "--3mf",
                            "c.3mf", "--stl-level", "0.4")
        vertices, triangles = model("c.3mf")
        self.close(volume_of([[vertices[v] for v in t] for t in triangles]) * 1e-9,
                   run["results"]["surface"]["volume"], 1e-9)
        process = self.ossatura("topopt", "cantilever", "--cells", "4x2x2", "--steps", "1", "-q",
                                "--3mf", "none.3mf", "--stl-level", "0.99", "--backend",
                                self.backend)
        self.assertIn("none.3mf: not written", process.stderr)
        self.assertNotIn("none.3mf", self.files())
        # Nothing is begun where an output cannot be: not even the history.
        before = self.files()
        for option, name in (("--3mf", "s.3mf"), ("--stl", "s.stl"), ("--hdf", "s.hdf"), ("--checkpoint", "c.h5")):
            self.fails(BAD_FILE, "the directory 'nothere' does not exist", "topopt", "cantilever", "--cells", "4x2x2",
                       "--steps", "1", "-q", "--history", "h.csv", option, "nothere/" + name)
            self.assertEqual(self.files(), before)

    def test_images_in_mirrors_are_joined_to_the_surface(self):
        arguments = ("mbb", "--cells", "16x3x8", "--grid", "voxels", "--steps", "12", "--volume", "0.4",
                     "--mass-density", "1000", "--stl", "s.stl")
        quarter = self.optimise(*arguments)["results"]
        own = self.triangles("s.stl")
        whole = self.optimise(*arguments, "--whole")["results"]
        joined = self.triangles("s.stl")
        self.assert_closed(joined)
        self.assertEqual(len(shells(joined)), 1)
        self.close(volume_of(joined), 4 * volume_of(own), 1e-6)
        self.assertEqual([quarter["surface"][key] for key in ("body", "copies_of_model")], ["quarter", 1])
        self.assertEqual([whole["surface"][key] for key in ("body", "copies_of_model")], ["whole", 4])
        for key in ("volume", "mass"):
            self.close(whole["surface"][key], 4 * quarter["surface"][key], 1e-12)
        # Nothing is left in the mirrors, and no vertex is there twice.
        for axis in (0, 1):
            self.assertTrue(any(all(x[axis] == 0 for x in t) for t in own))
            self.assertFalse(any(all(abs(x[axis]) < 1e-6 for x in t) for t in joined))
            self.close(min(x[axis] for t in joined for x in t), -max(x[axis] for t in joined for x in t), 1e-6)
        places = {tuple(round(float(x), 5) for x in corner) for t in joined for corner in t}
        self.assertEqual(len(places), whole["surface"]["vertices"])
        # What is solved again is the model, and the share of it that is modelled is said.
        for results in (quarter, whole):
            self.assertEqual(results["reanalysis"]["body"], "quarter")
            self.close(results["reanalysis"]["cube_volume"], quarter["surface"]["volume"], 0.05)
        self.close(whole["reanalysis"]["objective"], quarter["reanalysis"]["objective"], 0.05)
        table = self.ossatura("topopt", *arguments, "--whole", "--backend", self.backend).stdout
        self.assertRegex(table, r"kg, of the whole part\n")
        self.assertIn("the modelled quarter, with its share of forces and energies", table)

    def test_a_whole_part_in_a_problem(self):
        half = {**problem(mesh=box((8, 3, 4)), supports=[{"box": [0, 0, 0, 0, 3, 4]}], steps=4,
                          cases=[{"name": "tip", "loads": [{"box": [8, 0, 0, 8, 3, 4], "traction": [0, 0, -1]}]}]),
                "mirrors": [{"axis": "y", "place": 3}], "whole": True}
        run = self.solve(half, "--stl", "s.stl", "--volume", "0.5")
        self.assert_closed(self.triangles("s.stl"))
        self.assertEqual(run["results"]["surface"]["body"], "whole")
        self.assertEqual(max(x[1] for t in self.triangles("s.stl") for x in t), 6)
        for message, arguments, change in (
                ("whole: 1: expected true or false", (), {"whole": 1}),
                ("give the planes of symmetry, or leave it out", (), {"mirrors": []}),
                ("mirrors[0] and [1] are both normal to y", (),
                 {"mirrors": [{"axis": "y", "place": 3}, {"axis": "y", "place": 0}]}),
                ("give the planes of symmetry, or leave it out", ("--whole",), {"mirrors": [], "whole": False})):
            self.write("p.json", json.dumps({**half, **change}))
            self.fails(BAD_FILE, message, "topopt", "p.json", "-q", "-o", "out", *arguments)
        self.fails(USAGE, "--stl, --3mf or --output-dir", "topopt", "mbb", "--whole")


class Made(TopoptCase):
    """Parts that can be made by a process."""

    processes = (("--extrude", "y"), ("--symmetry", "z:1.5", "--sectors", "4:x:0,1.5,1.5"), ("--draw", "-z"),
                 ("--draw", "z:1"), ("--overhang", "+z", "--projection"))

    def test_designs(self):
        plain = self.optimise("cantilever", "--cells", "6x3x3", "--steps", "8")
        self.assertNotIn("manufacturing", plain["problem"])
        self.assertNotIn("manufacturing", plain["results"])
        for process in self.processes:
            grids = ("voxels",) if "--overhang" in process else ("mesh", "voxels")
            runs = [self.optimise("cantilever", "--cells", "6x3x3", "--steps", "8", *process, "--grid", grid)
                    for grid in grids]
            with self.subTest(process=process):
                for run in runs:
                    self.assertEqual(run["results"]["manufacturing"], {"undercuts": 0, "hanging": 0, "unlike": 0})
                    self.assertEqual(run["warnings"], [])
                    self.assertEqual(run["status"], "steps done")
                    self.assertLess(run["results"]["objective"], 0.9 * run["results"]["steps"]["objective"][0])
                self.close(runs[-1]["results"]["objective"], runs[0]["results"]["objective"], 1e-4)
                self.assertNotEqual(runs[0]["results"]["objective"], plain["results"]["objective"])

    def test_what_is_printed_has_the_volume_that_is_allowed(self):
        printed = ("cantilever", "--cells", "16x8x8", "--grid", "voxels", "--overhang", "+z", "--volume", "0.12")
        for projection in ((), ("--projection",)):
            run = self.optimise(*printed, "--steps", "8", "--method", "oc", *projection)
            for volume in run["results"]["steps"]["volume"][1:]:
                self.close(volume, 0.12, 1.01e-4)
            self.assertEqual(run["warnings"], [])

    def test_what_is_printed_is_designed_by_moving_asymptotes(self):
        printed = ("cantilever", "--cells", "16x8x8", "--grid", "voxels", "--overhang", "+z", "--volume", "0.12", "--steps", "30")
        usual, criteria = self.optimise(*printed), self.optimise(*printed, "--method", "oc")
        self.assertEqual([run["engine"]["method"] for run in (usual, criteria)], ["mma", "oc"])
        self.assertLess(usual["results"]["objective"], 0.95 * criteria["results"]["objective"])
        self.assertLessEqual(usual["results"]["volume"], 0.12)

    def test_three_sectors_of_a_ring(self):
        # Loaded at one place; three layers, of 2 x 12 elements each, the inner wall held.
        around, layers = 12, 3
        points = [((2 + r) * math.cos(2 * math.pi * k / around), (2 + r) * math.sin(2 * math.pi * k / around), z)
                  for z in range(layers + 1) for k in range(around) for r in range(3)]

        def node(r, k, z):
            return 1 + r + 3 * (k % around + around * z)
        cells = [(r, k, z) for z in range(layers) for k in range(around) for r in range(2)]
        deck = "*NODE\n" + "".join("{}, {!r}, {!r}, {!r}\n".format(n + 1, *x) for n, x in enumerate(points))
        deck += "*ELEMENT, TYPE=C3D8\n" + "".join(
            ", ".join(str(n) for n in (e + 1, *(node(r + i, k + j, z + up) for up in (0, 1)
                                                for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))))) + "\n"
            for e, (r, k, z) in enumerate(cells))
        deck += "*NSET, NSET=INNER\n" + "".join(f"{node(0, k, z)}\n" for k in range(around) for z in range(layers + 1))
        self.write("ring.inp", deck + "*MATERIAL, NAME=M\n*ELASTIC\n1., 0.3\n*BOUNDARY\nINNER, 1, 3\n*STEP\n*STATIC\n*CLOAD\n"
                   f"{node(2, 1, 0)}, 2, 1.\n{node(2, 2, 2)}, 3, 0.5\n*END STEP\n")
        for self.backend in driver_case.backends():
            for sectors in ((), ("--sectors", "3:z:0,0,0")):
                with self.subTest(backend=self.backend, sectors=sectors):
                    run = self.optimise("ring.inp", "--volume", "0.4", "--steps", "12", "--hdf", "r.hdf", "--no-stl", *sectors)
                    density = dict(zip(cells, hdf5_values.read(self.path("r.hdf"), "VTKHDF/CellData/density")))
                    apart = max(abs(rho - density[r, (k + around // 3) % around, z]) for (r, k, z), rho in density.items())
                    if sectors:
                        self.assertEqual(apart, 0)
                        self.assertEqual(run["results"]["manufacturing"], {"undercuts": 0, "hanging": 0, "unlike": 0})
                    else:
                        self.assertGreater(apart, 0.3)
                    for m in (2, 6):  # and no smaller sectors
                        self.assertGreater(max(abs(rho - density[r, (k + around // m) % around, z])
                                               for (r, k, z), rho in density.items()), 0.1)
        self.backend = "serial"

    def test_problems_say_what_options_do(self):
        for process, arguments in (
                ({"extrude": "y"}, ("--extrude", "y")),
                ({"symmetry": [{"axis": "z", "place": 1.5}, {"axis": "y", "place": 1.5}]},
                 ("--symmetry", "z:1.5", "--symmetry", "y:1.5")),
                ({"sectors": {"count": 2, "axis": "x", "point": [0, 1.5, 1.5]}}, ("--sectors", "2:x:0,1.5,1.5")),
                ({"draw": "-z", "sharpness": {"start": 1, "end": 8, "every": 1, "factor": 2}},
                 ("--draw", "-z", "--sharpness", "1:8:1:x2")),
                ({"draw": {"axis": "z", "parting": 2}}, ("--draw", "z:2")),
                ({"overhang": "-z"}, ("--overhang", "-z"))):
            grid = {"solver": {"grid": "voxels"}}
            ours = self.solve(problem(manufacturing=process, **grid))
            theirs = self.solve(problem(**grid), *arguments)
            for one in (ours, theirs):
                self.assertEqual(one["problem"]["manufacturing"],
                                 {key: value for key, value in process.items() if key != "sharpness"})
            self.assertEqual(ours["results"]["objective"], theirs["results"]["objective"])
        # Options win over the problem, one by one.
        both = self.solve(problem(manufacturing={"draw": "+z", "symmetry": [{"axis": "y", "place": 1.5}]}),
                          "--draw", "z:1")
        self.assertEqual(both["problem"]["manufacturing"],
                         {"symmetry": [{"axis": "y", "place": 1.5}], "draw": {"axis": "z", "parting": 1}})

    def test_resumed_runs(self):
        for process in self.processes:
            sharpness = ("--sharpness", "1:8:2:x2") if {"--draw", "--projection"} & set(process) else ()
            arguments = ("--cells", "6x3x3", "--grid", "voxels", "--change", "0", *sharpness, *process)
            whole = self.optimise("cantilever", *arguments, "--steps", "5", "--history", "whole.csv")
            self.optimise("cantilever", *arguments, "--steps", "3", "--checkpoint", "c.h5", "--history", "a.csv")
            resumed = self.optimise("cantilever", *arguments, "--steps", "5", "--resume", "c.h5", "--history", "b.csv")
            self.assertEqual(self.rows("a.csv") + self.rows("b.csv"), self.rows("whole.csv"))
            self.assertEqual(resumed["results"]["objective"], whole["results"]["objective"])
        self.fails(BAD_FILE, "checkpoint of other options", "topopt", "cantilever", *arguments[:-3], "--projection",
                   "--overhang", "-z", "--steps", "5", "--resume", "c.h5", "-q")

    def test_what_cannot_be_made_is_a_warning(self):
        def counts(role, place, *process):
            lump = {"box": [2.1, 1.1, place, 2.9, 1.9, place + 0.9], "role": role}
            run = self.solve(problem(passive=[lump], steps=6), "--grid", "voxels", *process)
            self.assertEqual([w["code"] for w in run["warnings"] if w["code"] != "loose-pieces"], ["not-made-so"])
            return run["results"]["manufacturing"]
        self.assertEqual(counts("void", 0.1, "--draw", "+z", "--volume", "0.9")["undercuts"], 1)
        self.assertEqual(counts("solid", 2.1, "--overhang", "+z", "--volume", "0.1", "--start", "0.05")["hanging"], 1)
        self.assertEqual(counts("void", 1.1, "--extrude", "y", "--volume", "0.9")["unlike"], 1)

    def test_mistakes(self):
        for arguments in (("--extrude", "w"), ("--symmetry", "x"), ("--symmetry", "q:1"), ("--sectors", "1:x:0,0,0"),
                          ("--sectors", "2:x:0,0"), ("--draw", "z"), ("--draw", "z:here"), ("--overhang", "z"),
                          ("--symmetry", "x:nan")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "topopt", "cantilever", *arguments)
        for arguments, message in (
                (("--draw", "+z", "--overhang", "+x", "--grid", "voxels"), "leave one out"),
                (("--draw", "z:7"), "z = 7 m does not part the body, which reaches from 0 to 3 m"),
                (("--draw", "z:1.2", "--grid", "voxels"), "the parting plane at z = 1.2 m does not fit the cubes"),
                (("--draw", "+z", "--projection"), "leave the projection out"),
                (("--draw", "+z", "--filter", "sensitivity"), "take the filter density"),
                (("--overhang", "+z"), "take --grid voxels"),
                (("--sectors", "3:x:0,1.5,1.5", "--grid", "voxels"), "2 or 4 on voxels, or the grid mesh"),
                (("--sectors", "3:x:0,1.5,1.5"), "has no image a turn of 360 / 3 degrees about x away"),
                (("--symmetry", "x:2"), "has no image across the plane x = 2 m"),
                (("--extrude", "x", "--symmetry", "x:3"), "planes that contain the direction alone"),
                (("--extrude", "x", "--distort", "0.3"), "Sweep the mesh along x")):
            with self.subTest(arguments=arguments):
                self.fails(BAD_FILE, message, "topopt", "cantilever", "--cells", "6x3x3", "-q", *arguments)
        for process, message in (({"draw": "z"}, "manufacturing.draw"), ({"milled": "z"}, "milled"),
                                 ({"sectors": {"count": 1, "axis": "x", "point": [0, 0, 0]}}, "at least 2"),
                                 ({"sharpness": 2}, "draw"), ({"extrude": 2}, "manufacturing.extrude")):
            self.write("p.json", json.dumps(problem(manufacturing=process)))
            self.fails(BAD_FILE, message, "topopt", "p.json", "-q")


class Starts(TopoptCase):
    """Designs that begin with those of coarser grids and of other meshes."""
    base = ("--cells", "16x8x8", "--volume", "0.2", "--change", "0")
    levels = (*base, "--grid", "voxels", "--levels", "2")

    def elements(self, run):
        return [(grid["elements"], grid["steps"]) for grid in run["results"]["grids"]]

    def test_steps_on_coarser_grids(self):
        run = self.optimise("cantilever", *self.levels, "--steps", "16", "--history", "h.csv", "--hdf", "d.hdf",
                            "--vtk-every", "4", "--radius", "3", "--stl", "d.stl")
        self.assertEqual(self.elements(run), [(16, 6), (128, 6), (1024, 4)])
        self.assertEqual([grid["edge"] for grid in run["results"]["grids"]], [4, 2, 1])
        self.assertEqual([grid["filter_radius"] for grid in run["results"]["grids"]], [6, 3, 3])
        rows = self.rows("h.csv")
        self.assertEqual([int(row["step"]) for row in rows], list(range(1, 17)))
        self.assertEqual([int(row["elements"]) for row in rows], 6 * [16] + 6 * [128] + 4 * [1024])
        for row in rows:
            self.close(float(row["volume"]), 0.2, 1e-6)
        # The first step on a grid has the design of the one before.
        self.close(float(rows[12]["objective"]), float(rows[11]["objective"]), 0.1)
        self.assertEqual([file["time"] for file in json.loads(self.read("d.hdf.series"))["files"]], [16])
        direct = self.optimise("cantilever", *self.base, "--grid", "voxels", "--steps", "16", "--radius", "3")
        self.assertNotIn("grids", direct["results"])
        self.assertLess(float(rows[12]["objective"]), 0.6 * direct["results"]["steps"]["objective"][0])

    def kill_after(self, step, *arguments):
        """Kills a run soon after its checkpoint of a step."""
        process = subprocess.Popen(
            [driver_case.EXECUTABLE, "topopt", *arguments, "--backend", self.backend, "-v", "--checkpoint", "c.h5",
             "--checkpoint-every", "1"], cwd=self.directory.name, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        with process.stderr as log:
            for line in log:
                if f"wrote c.h5 after step {step}" in line:
                    break
            process.kill()
        process.wait(timeout=60)

    def test_killed_on_any_grid(self):
        first_steps = set()
        for more in ((), ("--method", "mma", "--projection", "--sharpness", "1:8:3:x2"),
                     ("--penalty", "1:3:2:+0.5", "--overhang", "+z")):
            arguments = ("cantilever", *self.levels, "--steps", "8", "--no-stl", *more)
            whole = self.optimise(*arguments, "--history", "whole.csv")
            self.assertEqual(self.elements(whole), [(16, 3), (128, 3), (1024, 2)])
            for step in (1, 3, 4, 6, 7):
                with self.subTest(more=more, step=step):
                    self.kill_after(step, *arguments)
                    resumed = self.optimise(*arguments, "--resume", "c.h5", "--history", "b.csv")
                    first = resumed["results"]["first_step"]
                    first_steps.add(first)
                    self.assertGreaterEqual(first, step)
                    self.assertEqual(self.rows("whole.csv")[first:], self.rows("b.csv"))
                    self.assertEqual(resumed["results"]["objective"], whole["results"]["objective"])
        self.assertGreater(len(first_steps), 3)
        self.fails(BAD_FILE, "is a checkpoint of another mesh", "topopt", "cantilever", *self.levels, "--steps", "8",
                   "--resume", "c.h5", "-q", "--size", "8x4x4")

    def test_a_signal_on_a_coarser_grid(self):
        arguments = ("--cells", "16x8x8", "--grid", "voxels", "--change", "0", "--levels", "1", "--no-stl")
        self.interrupt(lambda line: line.split()[1:2] and "/" in line.split()[1], "topopt", "cantilever", *arguments,
                       "--backend", self.backend, "--steps", "40000", "--checkpoint", "c.h5", "--json", "run.json",
                       "--hdf", "d.hdf")
        run = json.loads(self.read("run.json"))
        self.assertEqual(run["status"], "interrupted")
        taken = run["results"]["steps_taken"]
        self.assertEqual(self.elements(run), [(128, taken)])
        resumed = self.optimise("cantilever", *arguments, "--resume", "c.h5", "--steps", str(2 * taken))
        self.assertEqual(sum(steps for _, steps in self.elements(resumed)), taken)

    def test_bodies_that_are_filled(self):
        self.write("box.stl", stl_of_box((0.16, 0.08, 0.08)))
        document = {"mesh": {"file": "box.stl", "voxel": 0.01}, "material": {"young": 1, "poisson": 0.3},
                    "supports": [{"box": [0, 0, 0, 0, 0.08, 0.08]}], "keep": 0.01, "cases": [
                        {"name": "tip", "loads": [{"box": [0.16, 0, 0, 0.16, 0.08, 0.08],
                                                   "traction": [0, 0, -1]}]}], "volume_fraction": 0.4, "steps": 4}
        run = self.solve(document, "--levels", "1", "--no-stl")
        self.assertEqual(self.elements(run), [(128, 3), (1024, 1)])

        def refused(code, message, levels, **more):
            self.write("q.json", json.dumps({**document, **more}))
            self.fails(code, message, "topopt", "q.json", "--levels", levels, "-q")
        refused(BAD_FILE, "on the grid of cubes of 0.02 m (--levels): the forces of load case 'tip'", "1",
                cases=[{"name": "tip", "loads": [{"box": [0.16, 0, 0, 0.16, 0.08, 0.08], "force": [0, 0, -1]}]}])
        refused(BAD_FILE, "numbers of nodes and elements are others on coarser grids (--levels)", "1",
                supports=[{"nodes": [0, 1, 2, 20, 21]}])
        refused(BAD_FILE, "on the grid of cubes of 0.04 m (--levels): ", "2",
                supports=[{"box": [0, 0, 0, 0.011, 0.08, 0.08]}, {"box": [0.02, 0, 0, 0.02, 0, 0]}])
        refused(USAGE, "takes at least 6 steps, some for each grid, and there are 4 (--steps)", "3")

    def test_what_has_no_coarser_grid(self):
        self.fails(USAGE, "take --grid voxels", "topopt", "cantilever", *self.base, "--levels", "1", "-q")
        self.fails(BAD_FILE, "6 cells are no multiple of 4, so that no coarser grid fits (--levels)", "topopt",
                   "cantilever", "--cells", "8x6x4", "--grid", "voxels", "--levels", "2", "-q")
        self.fails(USAGE, "--levels 9: 0 to 8 coarser grids", "topopt", "cantilever", "--levels", "9")

    def test_designs_of_other_meshes(self):
        def start(name, *arguments, source="coarse.hdf"):
            run = self.optimise(name, "--volume", "0.2", "--change", "0", "--steps", "4", "--start-from", source,
                                "--no-stl", *arguments)
            self.assertIn(source, [i["path"] for i in run["provenance"]["inputs"]])
            return run["results"]["steps"]
        coarse = self.optimise("cantilever", "--cells", "8x4x4", "--size", "16x8x8", "--volume", "0.2", "--steps",
                               "30", "--radius", "3", "--hdf", "coarse.hdf", "--no-stl")
        for name, arguments in (("cantilever", ("--cells", "16x8x8", "--radius", "3")),
                                ("cantilever", ("--cells", "16x8x8", "--radius", "3", "--grid", "voxels")),
                                ("cantilever", ("--cells", "12x7x5", "--size", "16x8x8", "--radius", "3", "--distort",
                                                "0.2", "--renumber", "3"))):
            with self.subTest(arguments=arguments):
                steps = start(name, *arguments)
                self.close(steps["volume"][0], 0.2, 1e-8)
                even = self.optimise(name, *arguments, "--volume", "0.2", "--steps", "1", "--no-stl")
                self.assertLess(steps["objective"][0], 0.4 * even["results"]["steps"]["objective"][0])
                self.assertLess(steps["objective"][-1], steps["objective"][0])
        same = start("cantilever", "--cells", "8x4x4", "--size", "16x8x8", "--radius", "3")
        self.assertLess(abs(same["objective"][-1] / coarse["results"]["objective"] - 1), 0.05)
        # A design of tetrahedra, and onto them.
        mesh = Mesh("C3D10", (8, 4, 4), (16, 8, 8))
        self.write("deck.inp", mesh.deck("1., 0.3", "X0, 1, 3\n", "*CLOAD\nEND, 3, -1.\n"))
        onto = start("deck.inp", "--radius", "3", "--hdf", "tetra.hdf")
        self.assertLess(onto["objective"][-1], onto["objective"][0])
        start("cantilever", "--cells", "16x8x8", "--radius", "3", source="tetra.hdf")

    def test_the_same_in_a_problem(self):
        document = {"mesh": {"generator": "cantilever", "cells": [16, 8, 8]}, "volume_fraction": 0.2, "change": 0, "steps": 4,
                    "solver": {"grid": "voxels"}}
        asked = self.solve(document, "--levels", "1", "--no-stl", "--hdf", "d.hdf")
        run = self.solve({**document, "levels": 1}, "--no-stl", "--history", "h.csv")
        self.assertEqual(self.elements(run), [(128, 3), (1024, 1)])
        self.assertEqual(run["results"]["objective"], asked["results"]["objective"])
        self.assertEqual({row["elements"] for row in self.rows("h.csv")}, {"128", "1024"})
        self.assertNotIn("grids", self.solve({**document, "levels": 1}, "--levels", "0", "--no-stl")["results"])
        asked = self.solve(document, "--start-from", "d.hdf", "--no-stl")["results"]["steps"]["objective"]
        os.mkdir(self.path("sub"))
        self.write("sub/q.json", json.dumps({**document, "start_from": "../d.hdf"}))
        run = self.optimise("sub/q.json", "--no-stl", "--checkpoint", "c.h5")
        self.assertEqual(run["results"]["steps"]["objective"], asked)
        self.assertIn("sub/../d.hdf", [one["path"] for one in run["provenance"]["inputs"]])
        even = self.optimise("sub/q.json", "--start", "0.2", "--no-stl")
        self.assertGreater(even["results"]["steps"]["objective"][0], 1.5 * asked[0])
        resumed = self.optimise("sub/q.json", "--resume", "c.h5", "--steps", "5", "--no-stl")
        self.assertEqual(resumed["results"]["first_step"], 4)
        for keys, message in (({"levels": 9}, "levels"), ({"levels": -1}, "0 to 8 coarser grids"), ({"levels": "two"}, "levels"),
                              ({"start_from": ""}, "the name of a .hdf file"), ({"start_from": "none.hdf"}, "none.hdf"),
                              ({"start_from": "d.hdf", "start": 0.2}, '"start" has no effect with it'),
                              ({"levels": 3}, '"levels" 3: takes at least 6 steps'),
                              ({"levels": 1, "solver": {"grid": "mesh"}}, '"levels" makes coarser grids of voxels')):
            with self.subTest(keys=keys):
                self.write("p.json", json.dumps({**document, **keys}))
                self.fails(BAD_FILE, message, "topopt", "p.json", "-q")

    def test_no_designs_to_start_from(self):
        self.optimise("cantilever", "--cells", "6x3x3", "--steps", "1", "--hdf", "d.hdf", "--checkpoint", "c.h5",
                      "--no-stl")
        self.write("text.hdf", "not HDF5")
        arguments = ("topopt", "cantilever", "--cells", "6x3x3", "--size", "6x3x3", "-q", "--start-from")
        for file, message in (("c.h5", "as it is a checkpoint, from which its own run goes on (--resume)"),
                              ("text.hdf", "text.hdf"), ("none.hdf", "none.hdf")):
            with self.subTest(file=file):
                self.fails(BAD_FILE, message, *arguments, file)
        hdf5_values.change(self.path("d.hdf"), "VTKHDF/CellData/variable", 7, 1.5)
        self.fails(BAD_FILE, "d.hdf: /VTKHDF/CellData/variable: element 7 has 1.5; expected a density from 0 to 1",
                   *arguments, "d.hdf")
        hdf5_values.change(self.path("d.hdf"), "VTKHDF/CellData/variable", 7, 0.5)
        hdf5_values.change(self.path("d.hdf"), "VTKHDF/Connectivity", 3, 5000)
        self.fails(BAD_FILE, "d.hdf: /VTKHDF: element 0 has node 5000 of 112: give a .hdf file that topopt has written",
                   *arguments, "d.hdf")
        self.optimise("cantilever", "--cells", "6x3x3", "--steps", "1", "--hdf", "d.hdf", "--no-stl")
        mesh = Mesh("C3D10", (2, 1, 1))
        mesh.point = [(x, y + 5000, z) for x, y, z in mesh.point]
        self.write("deck.inp", mesh.deck("1., 0.3", "X0, 1, 3\n", "*CLOAD\nEND, 3, -1.\n"))
        self.fails(BAD_FILE, "the design is of another body", "topopt", "deck.inp", "-q", "--start-from", "d.hdf")
        for more, message in ((("--start", "0.3"), "both --start and --start-from"),
                              (("--resume", "c.h5"), "leave --start-from out")):
            self.fails(USAGE, message, *arguments, "d.hdf", *more)


if __name__ == "__main__":
    driver_case.main()
