# SPDX-License-Identifier: Apache-2.0
"""The gallery at small size: its scripts run, and end with the results that they promise."""
import contextlib
import importlib.util
import io
import os
import pathlib
import runpy
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
os.environ["MPLBACKEND"] = "Agg"
sys.modules["pyvista"] = None  # pictures are by matplotlib, which needs no display


def lacks(*names):
    return [name for name in names if not importlib.util.find_spec(name)]


@unittest.skipIf(lacks("matplotlib"), "no matplotlib")
class Gallery(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def run_example(self, name, *arguments):
        """The names that the script leaves."""
        with unittest.mock.patch.dict(os.environ, {"OSSATURA_SMALL": "1"}), \
                unittest.mock.patch.object(sys, "argv", [name, *arguments]), \
                contextlib.redirect_stdout(io.StringIO()):
            return runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    def require_files(self, *names):
        for name in names:
            self.assertGreater((self.folder / "out" / name).stat().st_size, 1000, name)

    def test_vertebra(self):
        found = self.run_example("vertebra")
        result = found["result"]
        self.assertTrue(result.converged)
        self.assertAlmostEqual(float(found["share"].sum()) / result.stiffness, 1, delta=1e-4)
        self.assertTrue(1000 < found["failure_load"] < 20000, found["failure_load"])
        self.require_files("vertebra.png", "vertebra-stiffness.png", "vertebra.vti")

    @unittest.skipIf(lacks("nibabel"), "no nibabel")
    def test_vertebra_from_files(self):
        import nibabel
        made = self.run_example("vertebra")
        for name, array in (("image", made["density"]), ("mask", made["mask"].astype(np.uint8))):
            nibabel.save(nibabel.Nifti1Image(array.T, np.eye(4)), f"{name}.nii.gz")
        read = self.run_example("vertebra", "image.nii.gz", "mask.nii.gz")
        self.assertEqual(read["spacing"], 1.0)
        self.assertAlmostEqual(read["result"].stiffness / made["result"].stiffness, 1, delta=1e-6)
        with self.assertRaisesRegex(SystemExit, "an image and a mask"):
            self.run_example("vertebra", "image.nii.gz")

    @unittest.skipIf(lacks("scipy"), "no SciPy")
    def test_activation(self):
        found = self.run_example("activation")
        self.assertLess(found["error"], 1e-4)
        self.assertLess(found["evaluations"], 100)
        self.require_files("activation.png", "activation.vtu")

    def test_bridge(self):
        found = self.run_example("bridge")
        steps = found["steps"]
        self.assertLess(steps[-1].objective, 0.1 * steps[0].objective)
        self.assertLess(steps[-1].volume, 0.1201)
        densities = found["optimizer"].densities
        self.assertTrue(np.all(densities[found["road"]] == 1))
        self.require_files("bridge.png", "bridge.vtu")

    def test_vessel(self):
        found = self.run_example("vessel")
        errors = np.array([row[2] for row in found["rows"]])
        self.assertTrue(np.all(errors[1:] < 0.5 * errors[:-1]), errors)
        self.assertLess(errors[-1], 2e-3)
        self.assertLess(found["rows"][-1][3], 1e-3)
        self.require_files("vessel.png", "vessel-convergence.png")

    def test_drop(self):
        found = self.run_example("drop")
        self.assertGreater(found["step"].contacts, 0)
        self.assertGreater(min(found["lost"]), -1e-3 * abs(found["start"]))  # contact and damping take energy
        lowest = [cube.positions[:, 2].min() for cube in found["cubes"]]
        self.assertEqual(lowest, sorted(lowest))
        self.assertGreater(lowest[0], -1e-4)
        self.require_files("drop.png", "drop.vtu")

    @unittest.skipIf(lacks("scipy"), "no SciPy")
    def test_modulus_map(self):
        found = self.run_example("modulus_map")
        self.assertLess(found["error"], 0.01)
        self.assertGreater(float(np.abs(found["truth"] / found["truth"].mean() - 1).max()), 0.5)
        self.require_files("modulus_map.png")

    @unittest.skipIf(lacks("scipy"), "no SciPy")
    def test_stiffness(self):
        found = self.run_example("stiffness")
        self.assertLess(found["error"], 1e-4)
        self.assertLess(found["evaluations"], 100)
        self.require_files("stiffness.png", "stiffness.vtu")


if __name__ == "__main__":
    unittest.main()
