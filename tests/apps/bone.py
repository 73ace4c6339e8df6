# SPDX-License-Identifier: Apache-2.0
"""`femura bone` end to end on every backend: cases with closed answers, real file formats, results
on disk, bad input."""
import csv
import json
import os
import signal
import struct
import subprocess

import driver_case
from driver_case import BAD_FILE, DONE, NOT_CONVERGED, USAGE, DriverCase

E, NU = 1000.0, 0.3
LAMBDA = E * NU / ((1 + NU) * (1 - 2 * NU))
MU = E / (2 * (1 + NU))
CUBE = ("--generate", "cube", "--size", "6,8,10", "--spacing", "0.5", "--modulus", E, "--poisson",
        NU, "--tolerance", "1e-10")
AREA, HEIGHT = 3.0 * 4.0, 5.0  # mm2 across z, mm along z


class BoneCase(DriverCase):
    def close(self, value, expected, relative=1e-6):
        self.assertLessEqual(abs(value - expected), relative * abs(expected),
                             f"{value} is not {expected}")

    def on_each_backend(self, *arguments, code=DONE):
        """(backend, summary) of the run on each backend."""
        for backend in driver_case.backends():
            with self.subTest(backend=backend):
                yield backend, self.summary("bone", *arguments, "--backend", backend, "-q",
                                            code=code)


class ClosedAnswers(BoneCase):
    def test_uniaxial_cube(self):
        for _, run in self.on_each_backend(*CUBE, "--test", "axial", "--lateral", "free",
                                           "--strain", "-0.01"):
            response = run["results"]["response"]
            self.close(response["apparent_modulus"], E)
            self.close(response["force"], -0.01 * E * AREA)
            self.close(response["stiffness"], E * AREA / HEIGHT)
            self.close(run["results"]["strain_energy"], 0.5 * E * 0.01 ** 2 * AREA * HEIGHT)
            self.close(run["results"]["sed"]["mean"], 0.5 * E * 0.01 ** 2)
            self.close(run["results"]["sed"]["maximum"], 0.5 * E * 0.01 ** 2)
            self.close(run["results"]["von_mises"]["percentiles"]["95"], 0.01 * E)
            self.close(run["results"]["effective_strain"]["mean"], 0.01)
            self.close(run["results"]["pistoia"]["factor"], 0.7)
            self.close(run["results"]["pistoia"]["force"], -0.007 * E * AREA)

    def test_confined_cube(self):
        for _, run in self.on_each_backend(*CUBE, "--test", "confined", "--strain", "-0.01"):
            self.close(run["results"]["response"]["apparent_modulus"], LAMBDA + 2 * MU)

    def test_displacement_is_strain_by_height(self):
        strain = self.summary("bone", *CUBE, "--test", "axial", "--strain", "0.02", "-q")
        moved = self.summary("bone", *CUBE, "--test", "axial", "--displacement", 0.02 * HEIGHT,
                             "-q")
        self.close(moved["results"]["response"]["force"], strain["results"]["response"]["force"])

    def test_axes_of_a_cube_are_alike(self):
        forces = []
        for axis in "xyz":
            run = self.summary("bone", "--generate", "cube", "--size", "6", "--test", "axial",
                               "--axis", axis, "--tolerance", "1e-10", "-q")
            forces.append(run["results"]["response"]["force"])
        self.close(forces[1], forces[0])
        self.close(forces[2], forces[0])

    def test_laminate_in_series(self):
        for _, run in self.on_each_backend("--generate", "laminate", "--size", "4,4,8", "--layers",
                                           "2=1000,2=4000", "--poisson", NU, "--test", "confined",
                                           "--tolerance", "1e-10"):
            factor = (LAMBDA + 2 * MU) / E
            self.close(run["results"]["response"]["apparent_modulus"],
                       factor * 2 / (1 / 1000 + 1 / 4000))

    def test_homogenised_cube_is_its_material(self):
        for _, run in self.on_each_backend(*CUBE, "--test", "homogenise"):
            homogenised = run["results"]["homogenised"]
            self.assertLess(homogenised["asymmetry"], 1e-8)
            for i, row in enumerate(homogenised["stiffness"]):
                for j, value in enumerate(row):
                    expected = (2 * MU if i == j and i < 3 else MU if i == j else 0) + \
                        (LAMBDA if i < 3 and j < 3 else 0)
                    self.assertAlmostEqual(value, expected, delta=1e-6 * E)
            for i in range(3):
                self.close(homogenised["engineering"]["young"][i], E)
                self.close(homogenised["engineering"]["shear"][i], MU)

    def test_forces_balance_reactions(self):
        for _, run in self.on_each_backend(*CUBE, "--test", "file", "--fix", "z-:xyz", "--force",
                                           "z+:xz=-12"):
            total = [sum(support["force"][d] for support in run["results"]["reactions"])
                     for d in range(3)]
            self.assertAlmostEqual(total[0], 12, delta=1e-6)
            self.assertAlmostEqual(total[1], 0, delta=1e-6)
            self.assertAlmostEqual(total[2], 12, delta=1e-6)

    def test_opposite_plates_feel_opposite_forces_and_scale_with_the_load(self):
        bone = ("--generate", "perlin", "--size", "24", "--feature", "12", "--fraction", "0.3",
                "--largest-component", "--seed", "3", "--tolerance", "1e-9", "-q")
        for test in ("axial", "shear-zx", "torsion", "bending"):
            with self.subTest(test=test):
                run = self.summary("bone", *bone, "--test", test)
                supports = run["results"]["reactions"]
                size = max(abs(f) for support in supports for f in support["force"])
                for d in range(3):
                    self.assertAlmostEqual(sum(s["force"][d] for s in supports), 0,
                                           delta=1e-6 * size)
        once = self.summary("bone", *bone, "--test", "axial", "--strain", "-0.01")
        twice = self.summary("bone", *bone, "--test", "axial", "--strain", "-0.02")
        self.close(twice["results"]["response"]["force"], 2 * once["results"]["response"]["force"])
        self.close(twice["results"]["pistoia"]["force"], once["results"]["pistoia"]["force"])


class Formats(BoneCase):
    """The same cube through the image formats."""

    def expect_cube(self, *arguments):
        run = self.summary("bone", *arguments, "--poisson", NU, "--test", "confined",
                           "--tolerance", "1e-10", "-q")
        self.assertEqual(run["problem"]["elements"], 64)
        self.close(run["results"]["response"]["apparent_modulus"], LAMBDA + 2 * MU)
        self.close(run["problem"]["spacing"], 0.25)
        return run

    def test_raw_with_moduli(self):
        self.write("cube.raw", struct.pack("<64f", *[E] * 64))
        self.expect_cube("cube.raw", "--shape", "4,4,4", "--type", "float32", "--spacing", "0.25",
                         "--law", "modulus")

    def test_metaimage_with_grey_values(self):
        header = ("ObjectType = Image\nNDims = 3\nBinaryData = True\nDimSize = 6 4 4\n"
                  "ElementSpacing = 0.25 0.25 0.25\nElementType = MET_SHORT\n"
                  "ElementDataFile = LOCAL\n")
        voxels = [500 if 1 <= i % 6 <= 4 else -100 for i in range(96)]
        self.write("cube.mha", header.encode() + struct.pack("<96h", *voxels))
        self.expect_cube("cube.mha", "--law", "threshold", "--lower", "100", "--modulus", E)
        self.expect_cube("cube.mha", "--law", "linear", "--lower", "100", "--slope", E / 500)
        self.expect_cube("cube.mha", "--law", "power", "--lower", "100", "--slope", "0.002",
                         "--coefficient", E, "--exponent", "2")
        self.expect_cube("cube.mha", "--law", "labels", "--labels", f"500={E}:{NU},-100=0")
        self.fails(USAGE, "--law", "bone", "cube.mha", "-q")

    def test_surface_of_a_box(self):
        corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        lines = ["OFF", "8 12 0"] + ["%d %d %d" % c for c in corners]
        for a, b, c, d in faces:
            lines += [f"3 {a} {b} {c}", f"3 {a} {c} {d}"]
        self.write("box.off", "\n".join(lines) + "\n")
        self.expect_cube("box.off", "--voxel", "0.25", "--modulus", E)
        self.fails(USAGE, "--voxel", "bone", "box.off", "-q")

    def test_provenance_knows_the_input(self):
        self.write("cube.raw", struct.pack("<64f", *[E] * 64))
        run = self.expect_cube("cube.raw", "--shape", "4,4,4", "--type", "float32", "--spacing",
                               "0.25", "--law", "modulus")
        record = run["provenance"]["inputs"][0]
        self.assertEqual(record["bytes"], 256)
        self.assertTrue(record["path"].endswith("cube.raw"))
        # xxh64sum of 64 times float32(1000), xxhash 0.8.1
        self.assertEqual(record["xxh64"], "27fe5f3edf1ab3b5")


class Contract(BoneCase):
    SMALL = ("bone", "--generate", "cube", "--size", "4", "--test", "axial")

    def test_table_on_stdout_progress_on_stderr(self):
        process = self.femura(*self.SMALL)
        self.assertIn("apparent modulus", process.stdout)
        self.assertIn("Kokkos", process.stderr)
        self.assertNotIn("\033", process.stdout + process.stderr)
        self.assertEqual(self.femura(*self.SMALL, "-q").stderr, "")

    def test_summary_has_the_parts_of_the_contract(self):
        run = self.summary(*self.SMALL, "--seed", "7")
        self.assertEqual(list(run), ["schema", "status", "problem", "engine", "parameters",
                                     "iterations", "residual", "timings", "memory", "results",
                                     "provenance"])
        self.assertEqual(run["schema"], "femura/bone/1")
        self.assertEqual(run["status"], "converged")
        self.assertEqual(run["parameters"]["seed"], 7)
        self.assertEqual(run["provenance"]["seed"], 7)
        self.assertEqual(run["problem"]["dofs"], 3 * 5 ** 3)
        self.assertLessEqual(run["residual"]["true"], 1e-6)
        self.assertGreater(run["memory"]["kokkos_peak_bytes"], 0)
        self.assertGreater(run["timings"]["total_seconds"], 0)

    def test_output_directory_holds_all_results_and_nothing_else(self):
        self.femura(*self.SMALL, "-o", "out/deep", "--history", "h.csv", "-q")
        names = sorted(os.listdir(self.path("out/deep")))
        self.assertEqual(sorted(os.path.splitext(n)[1] for n in names), [".csv", ".hdf", ".json"])
        summary = json.loads(self.read("out/deep/" + [n for n in names if n.endswith("json")][0]))
        self.assertEqual(summary["status"], "converged")
        for name in summary["results"]["files"]:
            self.assertTrue(os.path.exists(self.path(name)), name)
        with open(self.path("out/deep/h.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(int(rows[-1]["iteration"]), summary["iterations"])
        self.assertLess(float(rows[-1]["relative_residual"]), 1e-5)
        self.assertEqual(self.files(), ["out"])

    def test_without_output_options_nothing_is_written(self):
        self.femura(*self.SMALL, "-q")
        self.assertEqual(self.files(), [])

    def test_no_hdf(self):
        self.femura(*self.SMALL, "-o", "out", "--no-hdf", "-q")
        self.assertEqual([os.path.splitext(n)[1] for n in os.listdir(self.path("out"))], [".json"])

    def test_dry_run_predicts_and_writes_no_fields(self):
        run = self.summary(*self.SMALL, "--dry-run", "-o", "out")
        self.assertEqual(run["status"], "dry run")
        self.assertEqual(run["problem"]["dofs"], 375)
        self.assertGreater(run["results"]["predicted_device_bytes"], 0)
        self.assertNotIn(".hdf", " ".join(os.listdir(self.path("out"))))

    def test_too_few_iterations_are_said_and_results_still_written(self):
        arguments = ("bone", "--generate", "perlin", "--size", "24", "--feature", "12",
                     "--fraction", "0.3", "--largest-component", "--test", "axial",
                     "--max-iterations", "2", "--tolerance", "1e-12", "-o", "out", "-q")
        process = self.femura(*arguments, code=NOT_CONVERGED)
        self.assertIn("NOT CONVERGED", process.stdout)
        self.assertIn("not converged", process.stderr)
        names = os.listdir(self.path("out"))
        summary = json.loads(self.read("out/" + [n for n in names if n.endswith("json")][0]))
        self.assertEqual(summary["status"], "not converged")
        self.assertGreater(summary["residual"]["true"], 1e-12)
        self.assertTrue(any(n.endswith(".hdf") for n in names))

    def test_timings_are_a_table_on_stderr(self):
        self.assertIn("region", self.femura(*self.SMALL, "--timings", "-q").stderr)

    def test_histograms_count_every_voxel(self):
        run = self.summary(*self.SMALL, "--histogram", "5")
        for histogram in run["results"]["histograms"].values():
            self.assertEqual(len(histogram["count"]), 5)
            self.assertEqual(sum(histogram["count"]), 64)

    def test_an_interrupt_leaves_no_file(self):
        process = subprocess.Popen(
            [driver_case.EXECUTABLE, "bone", "--generate", "perlin", "--size", "64", "--feature",
             "16", "--fraction", "0.3", "--largest-component", "--test", "axial", "--tolerance",
             "1e-15", "--max-iterations", "100000", "--history", "h.csv", "-o", "out"],
            cwd=self.directory.name, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in process.stderr:
            if len(line.split()) == 3 and line.split()[1] == "1":
                break
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_results_repeat_bit_by_bit(self):
        arguments = ("bone", "--generate", "perlin", "--size", "20", "--feature", "10",
                     "--fraction", "0.4", "--largest-component", "--test", "axial", "--operator",
                     "gather", "--backend", "serial", "-q")
        first, second = self.summary(*arguments), self.summary(*arguments)
        self.assertEqual(first["results"]["reactions"], second["results"]["reactions"])

    def test_operators_agree(self):
        forces = {}
        for operator in ("offset", "hash", "gather"):
            results = self.summary("bone", "--generate", "perlin", "--size", "20", "--feature", "10",
                                   "--fraction", "0.4", "--largest-component", "--test", "axial",
                                   "--tolerance", "1e-10", "--operator", operator, "--backend",
                                   "serial", "-q")
            self.assertEqual(results["engine"]["operator"], operator)
            forces[operator] = results["results"]["response"]["force"]
        for force in forces.values():
            self.assertLess(abs(force / forces["gather"] - 1), 1e-9)


class BadInput(BoneCase):
    @staticmethod
    def raw(size, kind):
        return ("x.raw", "--shape", f"{size},{size},{size}", "--type", kind, "--spacing", "1")

    def bad(self, message, *arguments):
        before = self.files()
        self.fails(BAD_FILE, message, "bone", *arguments, "--json", "s.json", "--hdf", "f.hdf",
                   "--history", "h.csv", "-q")
        self.assertEqual(self.files(), before)

    def test_missing_file(self):
        self.bad("nothere.h5", "nothere.h5")

    def test_directory(self):
        os.mkdir(self.path("d.h5"))
        self.bad("d.h5", "d.h5")

    def test_not_hdf5(self):
        self.write("x.h5", "this is no image")
        self.bad("x.h5", "x.h5")

    def test_empty_file(self):
        self.write("x.mha", "")
        self.bad("x.mha", "x.mha", "--law", "modulus")

    def test_truncated_raw(self):
        self.write("x.raw", struct.pack("<63f", *[E] * 63))
        self.bad("x.raw", *self.raw(4, "float32"), "--law", "modulus")

    def test_moduli_that_are_none(self):
        for value in (float("nan"), -1.0, float("inf")):
            with self.subTest(value=value):
                self.write("x.raw", struct.pack("<8f", *[E] * 7, value))
                self.bad("", *self.raw(2, "float32"), "--law", "modulus", "--test", "axial")

    def test_no_bone_at_all(self):
        self.write("x.raw", bytes(8))
        self.bad("", *self.raw(2, "uint8"), "--law", "threshold", "--lower", "1", "--test",
                 "axial")

    def test_an_island_is_dropped_or_an_error(self):
        voxels = [0] * 5 ** 3
        for z in range(5):
            voxels[25 * z] = 1
        voxels[25 * 2 + 5 * 2 + 2] = 1
        self.write("x.raw", bytes(voxels))
        image = (*self.raw(5, "uint8"), "--law", "threshold", "--lower", "1", "--test", "axial")
        self.bad("2, 2, 2", *image, "--islands", "error")
        for choice in (("--islands", "drop"), ("--largest-component",)):
            run = self.summary("bone", *image, *choice, "-q")
            self.assertEqual(run["problem"]["elements"], 5)
            self.assertEqual(run["problem"]["dropped_elements"], 1)

    def test_conditions_on_void_or_outside(self):
        self.write("x.raw", bytes([1, 0, 0, 0, 1, 0, 0, 0]))
        image = (*self.raw(2, "uint8"), "--law", "threshold", "--lower", "1", "--test", "file",
                 "--fix", "z-:xyz")
        for place in ("2/2/2", "9/0/0"):
            with self.subTest(place=place):
                self.bad(place, *image, "--fix", f"{place}:x=1")

    def test_forces_without_support(self):
        self.bad("--fix", *CUBE, "--test", "file", "--force", "z+:z=1")


if __name__ == "__main__":
    driver_case.main()
