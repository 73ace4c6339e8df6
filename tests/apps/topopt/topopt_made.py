# SPDX-License-Identifier: Apache-2.0
"""Designs that are made by a process: extruded, symmetric, in sectors, drawn, printed."""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, USAGE
from support.designs import TopoptCase, problem


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
                self.fails(USAGE, message, "topopt", "cantilever", "--cells", "6x3x3", "-q", *arguments)
        for process, message in (({"draw": "z"}, "manufacturing.draw"), ({"milled": "z"}, "milled"),
                                 ({"sectors": {"count": 1, "axis": "x", "point": [0, 0, 0]}}, "at least 2"),
                                 ({"sharpness": 2}, "draw"), ({"extrude": 2}, "manufacturing.extrude")):
            self.write("p.json", json.dumps(problem(manufacturing=process)))
            self.fails(BAD_FILE, message, "topopt", "p.json", "-q")


if __name__ == "__main__":
    driver_case.main()
