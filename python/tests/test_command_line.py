# SPDX-License-Identifier: Apache-2.0
"""The package and the executable have the same bits on `serial`. OSSATURA in the environment names the executable."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import ossatura
from cases import porous_image
from ossatura import bone, eikonal, pfem, softbody, topopt

try:
    import h5py
except ImportError:
    h5py = None

EXECUTABLE = os.environ.get("OSSATURA")


def write_image(path, image, spacing):
    """A MetaImage of float32 [z, y, x]."""
    nz, ny, nx = image.shape
    header = (f"ObjectType = Image\nNDims = 3\nDimSize = {nx} {ny} {nz}\n"
              f"ElementSpacing = {spacing} {spacing} {spacing}\n"
              "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n")
    path.write_bytes(header.encode() + image.astype("<f4").tobytes())


@unittest.skipUnless(EXECUTABLE, "OSSATURA names no executable")
class SameBits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *arguments):
        subprocess.run([EXECUTABLE, *map(str, arguments), "--backend", "serial", "-o", self.folder, "--json",
                        "run.json"], check=True, capture_output=True)
        return json.loads((self.folder / "run.json").read_text())["results"]

    def fields(self, name):
        """A function that reads datasets of NAME.hdf."""
        if h5py is None:
            self.skipTest("numbers are the same; no h5py to read the fields")
        file = h5py.File(self.folder / f"{name}.hdf")
        self.addCleanup(file.close)
        return lambda path: file["VTKHDF/" + path][()]

    def compare_test(self, options, keywords):
        image = porous_image((17, 13, 11))
        image[8, 6, 5] = 900  # an island, alone in a hole
        image[7:10, 5:8, 4:7][np.arange(27).reshape(3, 3, 3) != 13] = 0
        write_image(self.folder / "bone.mha", image, 0.1)
        there = self.run_command("bone", self.folder / "bone.mha", "--law", "modulus", *options)
        with self.assertLogs("ossatura"):
            here = bone.solve(image, 0.1, backend="serial", **keywords)
        self.assertEqual(here.num_dropped, 1)
        self.assertEqual(there["strain_energy"], here.strain_energy)
        self.assertEqual(there["solves"][0]["iterations"], here.iterations)
        self.assertEqual(there["solves"][0]["true_residual"], here.residual)
        self.assertAlmostEqual(there["pistoia"]["factor"] / here.failure_factor(), 1, delta=1e-6)
        for name, value in there["response"].items():
            self.assertEqual(getattr(here, "plate_displacement" if name == "displacement" else name), value, name)
        for support in there["reactions"]:
            reaction = here.reactions[support["support"]]
            self.assertEqual(tuple(support["force"]), reaction.force)
            self.assertEqual(tuple(support["moment"]), reaction.moment)
            self.assertEqual(support["contact_area"], reaction.contact_area)
        read = self.fields("bone")
        nodes = np.rint(read("Points") / 0.1).astype(int)
        x, y, z = nodes.T
        self.assertTrue(np.array_equal(read("PointData/displacement"),
                                       here.displacement[z, y, x].astype(read("PointData/displacement").dtype)))
        solid = here.energy_density > 0
        for name, field in (("sed", here.energy_density), ("von_mises", here.von_mises),
                            ("effective_strain", here.effective_strain)):
            self.assertTrue(np.array_equal(np.sort(read("CellData/" + name)), np.sort(field[solid])), name)

    def test_an_axial_test(self):
        self.compare_test(["--test", "axial"], {})

    def test_torsion_about_x(self):
        self.compare_test(["--test", "torsion", "--axis", "x", "--angle", "1", "--tolerance", "1e-8"],
                          {"test": "torsion", "axis": "x", "tolerance": 1e-8})

    def test_homogenisation(self):
        image = porous_image((9, 8, 7))
        write_image(self.folder / "bone.mha", image, 0.1)
        there = self.run_command("bone", self.folder / "bone.mha", "--law", "modulus", "--test", "homogenise")
        here = bone.homogenise(image, 0.1, backend="serial")
        self.assertEqual(there["homogenised"]["stiffness"], here.stiffness.tolist())
        self.assertEqual([solve["true_residual"] for solve in there["solves"]], [one.residual for one in here.solves])
        found = there["homogenised"]
        self.assertEqual(found["orthotropic"]["axes"], here.orthotropic.axes.tolist())
        for along, constants in ((found, here.engineering), (found["orthotropic"], here.orthotropic.engineering)):
            self.assertEqual(along["engineering"], {"young": list(constants.young), "shear": list(constants.shear),
                                                    "poisson": [list(row) for row in constants.poisson]})

    def test_a_unit_cell(self):
        image = porous_image((9, 8, 7))
        write_image(self.folder / "bone.mha", image, 0.1)
        there = self.run_command("bone", self.folder / "bone.mha", "--law", "modulus", "--test", "homogenise",
                                 "--boundary", "periodic")
        here = bone.homogenise(image, 0.1, boundary="periodic", backend="serial")
        self.assertEqual(there["homogenised"]["stiffness"], here.stiffness.tolist())
        self.assertEqual(there["homogenised"]["boundary"], here.boundary)

    def test_activation_of_ventricles(self):
        for precision in ("double", "single"):
            self.run_command("eikonal", "--generate", "ventricles:h=3", "--velocity", "0.6,0.4,0.2", "--precision",
                             precision, "--site", "vertices:100", "--site", "vertices:900@t=3.5", "--overwrite")
            read = self.fields("ventricles")
            tetra = read("Connectivity").reshape(-1, 4)
            solver = eikonal.Solver(read("Points"), tetra, tags=read("CellData/tag"), fibres=read("CellData/fibre"),
                                    sheets=read("CellData/sheet"), velocities=(0.6, 0.4, 0.2), precision=precision,
                                    backend="serial")
            times = solver.solve({100: 0.0, 900: 3.5})
            self.assertEqual(times.dtype, read("PointData/activation_time").dtype)
            self.assertTrue(np.array_equal(times, read("PointData/activation_time")))

    def test_a_sphere_of_high_order(self):
        there = self.run_command("pfem", "sphere", "--order", "5", "--no-hdf")
        mesh = pfem.sphere_octant(1.0, 2.0)
        model = pfem.Model(mesh, order=5, young=1.0, poisson=0.3, backend="serial")
        for axis in range(3):
            model.hold(mesh.points[:, axis] < 1e-9, "xyz"[axis])
        model.add_pressure(np.isclose(mesh.radii, 1.0), 1.0)
        here = model.solve()
        self.assertEqual(there["strain_energy"], here.strain_energy)
        self.assertEqual(there["potential_energy"], here.strain_energy - here.compliance)

    def test_a_design(self):
        (self.folder / "beam.json").write_text(json.dumps({
            "mesh": {"box": {"cells": [12, 6, 4], "size": [12, 6, 4]}}, "material": {"young": 1, "poisson": 0.3},
            "supports": [{"box": [0, 0, 0, 0, 6, 4]}],
            "cases": [{"name": "end", "loads": [{"box": [12, 0, 0, 12, 0, 0], "total_force": [0, 0, -1]}]}],
            "volume_fraction": 0.4, "filter": {"kind": "density", "radius": 1.6}, "steps": 6}))
        self.run_command("topopt", self.folder / "beam.json")
        points, hexa = topopt.box((12, 6, 4), (12, 6, 4))
        force = np.zeros(points.shape)
        force[(points == (12, 0, 0)).all(1)] = (0, 0, -1)
        optimizer = topopt.Optimizer(points, hexa, young=1, held=points[:, 0] == 0, loads=force, volume=0.4, radius=1.6,
                                     max_steps=6, backend="serial")
        with open(self.folder / "beam.csv") as file:
            rows = list(csv.DictReader(file))
        for row, step in zip(rows, optimizer, strict=True):
            for name in ("objective", "volume", "change", "grey"):
                self.assertEqual(float(row[name]), getattr(step, name), name)

    def test_steps_of_a_soft_body(self):
        (self.folder / "cube.json").write_text(json.dumps({
            "time_step": 0.01, "steps": 25, "gravity": [0, 0, -9.81], "damping": {"mass": 0.1, "stiffness": 0.01},
            "objects": [{"name": "cube", "mesh": {"hexa_box": {"cells": [4, 4, 4], "size": [0.1, 0.1, 0.1]}},
                         "translate": [0, 0, 0.01], "density": 1000,
                         "material": {"law": "corotational", "young": 20000, "poisson": 0.3}}],
            "obstacles": [{"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.4}}]}))
        self.run_command("softbody", self.folder / "cube.json")
        points, hexa = topopt.box((4, 4, 4), (0.1, 0.1, 0.1))
        world = softbody.World(time_step=0.01, rayleigh_mass=0.1, rayleigh_stiffness=0.01, backend="serial")
        world.add_plane(friction=0.4)
        world.add(points + [0, 0, 0.01], hexa, young=2e4, poisson=0.3, density=1000)
        with open(self.folder / "cube.csv") as file:
            rows = [row for row in csv.DictReader(file) if int(row["step"]) > 0]
        self.assertEqual(len(rows), 25)
        for row in rows:
            step = world.step()
            self.assertEqual([float(row[name]) for name in ("kinetic", "elastic", "potential")], list(world.energy))
            self.assertEqual(int(row["contacts"]), step.contacts)
            self.assertEqual(int(row["iterations"]), step.iterations)
        self.assertGreater(step.contacts, 0)


@unittest.skipUnless(EXECUTABLE, "OSSATURA names no executable")
class Module(unittest.TestCase):
    def run_module(self, *arguments, **options):
        return subprocess.run([sys.executable, "-m", "ossatura", *arguments], capture_output=True, text=True, timeout=60,
                              **options)

    def test_it_is_the_executable(self):
        there = subprocess.run([EXECUTABLE, "--version"], capture_output=True, text=True, check=True)
        here = self.run_module("--version")
        self.assertEqual((here.returncode, here.stdout, here.stderr), (0, there.stdout, there.stderr))
        self.assertIn(ossatura.__version__, here.stdout)

    def test_exit_codes_and_messages(self):
        missing = self.run_module("bone", "/nowhere/bone.mha")
        self.assertEqual(missing.returncode, 5)
        self.assertIn("/nowhere/bone.mha", missing.stderr)
        self.assertEqual(self.run_module("bone", "--nonsense").returncode,
                         subprocess.run([EXECUTABLE, "bone", "--nonsense"], capture_output=True).returncode)

    def test_a_pipe_that_closes_is_an_error_as_of_the_executable(self):
        ends = []
        for program in ([EXECUTABLE], [sys.executable, "-m", "ossatura"]):
            with subprocess.Popen([*program, "bone", "--help"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                process.stdout.close()
                ends.append((process.stderr.read(), process.wait(60)))
        self.assertEqual(*ends)

    def test_without_the_executable_it_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "ossatura").mkdir()
            package = pathlib.Path(ossatura.__file__).parent
            for path in package.iterdir():
                if path.is_file():
                    (pathlib.Path(folder) / "ossatura" / path.name).symlink_to(path.resolve())
            done = self.run_module("--version", env={**os.environ, "PYTHONPATH": folder})
            self.assertEqual(done.returncode, 4)
            self.assertIn("without the executable", done.stderr)


if __name__ == "__main__":
    unittest.main()
