# SPDX-License-Identifier: Apache-2.0
"""Designs that start on coarser grids and from the design of another mesh."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, USAGE
from support.designs import TopoptCase, stl_of_box
from support.solid_decks import Mesh


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
        self.fails(USAGE, "6 cells are no multiple of 4, so that no coarser grid fits (--levels)", "topopt",
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

    def test_designs_of_bodies_of_other_sizes(self):
        """From the same corner: the longer one has half of the other in common."""
        self.optimise("cantilever", "--cells", "8x4x4", "--size", "16x8x8", "--steps", "1", "--hdf", "d.hdf", "--no-stl")
        for size, spans in (("32x16x16", "0 to 32, 0 to 16, 0 to 16"), ("16x16x8", "0 to 16, 0 to 16, 0 to 8"),
                            ("8x4x4", "0 to 8, 0 to 4, 0 to 4"), ("24x8x8", "0 to 24, 0 to 8, 0 to 8")):
            with self.subTest(size=size):
                self.fails(BAD_FILE, f"d.hdf: the design is of another body, 0 to 16, 0 to 8, 0 to 8 m in x, y, z, and that of "
                           f"the problem is {spans} m: take a design of the same body", "topopt", "cantilever", "--cells", "16x8x8",
                           "--size", size, "--start-from", "d.hdf", "--no-stl", "-q")
        for size in ("18x8x8", "15x8x7"):  # a design space that was changed a little
            self.optimise("cantilever", "--cells", "8x4x4", "--size", size, "--start-from", "d.hdf", "--steps", "1", "--no-stl")

    def test_a_design_of_the_whole_for_its_half(self):
        whole = {"mesh": {"generator": "cantilever", "cells": [8, 4, 4]}, "volume_fraction": 0.3, "steps": 2}
        self.solve(whole, "--hdf", "whole.hdf", "--no-stl")
        half = {"mesh": {"generator": "cantilever", "cells": [8, 2, 4]}, "mirrors": [{"axis": "y", "place": 2}],
                "volume_fraction": 0.3, "steps": 1}
        size = ("--size", "8x2x4", "--no-stl")
        self.solve(half, *size, "--start-from", "whole.hdf")
        self.solve(half, *size, "--hdf", "half.hdf")
        self.write("q.json", json.dumps(whole))
        self.fails(BAD_FILE, "half.hdf: the design is of another body, 0 to 8, 0 to 2, 0 to 4 m", "topopt", "q.json", "--start-from",
                   "half.hdf", "--no-stl", "-q")
        self.write("q.json", json.dumps({**half, "mirrors": []}))
        self.fails(BAD_FILE, "whole.hdf: the design is of another body", "topopt", "q.json", *size, "--start-from", "whole.hdf", "-q")


if __name__ == "__main__":
    driver_case.main()
