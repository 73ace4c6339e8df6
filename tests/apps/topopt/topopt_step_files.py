# SPDX-License-Identifier: Apache-2.0
"""`ossatura topopt` with STEP files as the body."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE, USAGE
from support.designs import TopoptCase, box, problem, triangles_of_box


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
        subprocess.run([sys.executable, "-c", "import gmsh; gmsh.initialize(); gmsh.model.occ.addRectangle(0, 0, 0, 60, 30); "
                        "gmsh.model.occ.synchronize(); gmsh.write('face.iges')"], cwd=self.directory.name, check=True,
                       stdout=subprocess.DEVNULL)
        self.refused("face.iges: has no solids, but surfaces alone", mesh={"file": "face.iges", "unit": 0.001, "voxel": 0.01})
        anchor = pathlib.Path(__file__).parents[3] / "examples/topopt/anchor.json"
        run = self.optimise(str(anchor), "--voxel", "0.0025", "--radius", "0.004", "--steps", "2")
        self.close(run["problem"]["elements"] * 0.0025**3, 96366e-9, 0.02)


if __name__ == "__main__":
    driver_case.main()
