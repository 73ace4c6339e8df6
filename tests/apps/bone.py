# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` end to end on every backend: cases with closed answers, real file formats, results
on disk, bad input."""
import csv
import json
import os
import struct

from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, USAGE, DriverCase

E, NU = 1000.0, 0.3
LAMBDA = E * NU / ((1 + NU) * (1 - 2 * NU))
MU = E / (2 * (1 + NU))
CUBE = ("--generate", "cube", "--size", "6,8,10", "--spacing", "0.5", "--modulus", E, "--poisson",
        NU, "--tolerance", "1e-10")
AREA, HEIGHT = 3.0 * 4.0, 5.0  # mm2 across z, mm along z


class BoneCase(DriverCase):
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

    def test_symmetric_shear(self):
        """Of a box the shear modulus, by each pair of axes; of layers in the plane of the shear their mean."""
        box = ("--generate", "laminate", "--size", "5,4,6", "--layers", f"6={E}", "--poisson", NU, "--tolerance", "1e-10",
               "--spacing", "0.5", "-q", "--backend", "serial")
        for axis, height, area in (("z", 6, 20), ("x", 5, 24), ("y", 4, 30)):
            for lateral in ("constrained", "free") if axis == "z" else ("free",):
                run = self.summary("bone", *box, "--test", "symshear", "--axis", axis, "--strain", "0.02", "--lateral", lateral)
                response = run["results"]["response"]
                self.close(response["apparent_modulus"], MU, 1e-9)
                self.close(response["stress"], 0.02 * MU, 1e-9)
                self.assertEqual((response["height"], response["area"]), (height / 2, area / 4))
                self.close(2 * run["results"]["strain_energy"], 0.02 ** 2 * MU * height * area / 8, 1e-9)
                self.assertEqual((run["results"]["test"], run["warnings"]), ("symshear", []))
        layers = (*box[:5], f"2={E},1={4 * E}", *box[6:])
        self.close(self.summary("bone", *layers, "--test", "symshear")["results"]["response"]["apparent_modulus"],
                   2 * MU, 1e-9)
        bone = ("--generate", "perlin", "--size", "12", "--feature", "7", "--tolerance", "1e-10", "-q", "--backend", "serial")
        bound = self.summary("bone", *bone, "--test", "homogenise")["results"]["homogenised"]["stiffness"]
        for i, axis in enumerate("zxy"):  # to hold all six sides is stiffer
            run = self.summary("bone", *bone, "--test", "symshear", "--axis", axis)["results"]
            response = run["response"]
            self.close(2 * run["strain_energy"], response["strain"] * response["stress"] * 12 ** 3, 1e-7)
            self.assertLess(response["apparent_modulus"], bound[3 + i][3 + i])
            self.assertGreater(response["apparent_modulus"], 0.5 * bound[3 + i][3 + i])
            self.assertNotIn("force", run["pistoia"])
        self.assertIn("height of the box", self.ossatura("bone", *box, "--test", "symshear").stdout)
        for message, *options in (("--displacement has no effect", "--displacement", "1"),
                                  ("--plate-depth has no effect", "--plate-depth", "1"),
                                  ("--surface has no effect", "--surface", "visible", "--surface-depth", "1"),
                                  ("--cap has no effect", "--cap", "2"), ("no plates", "--strength", "von-mises"),
                                  ("--angle has no effect", "--angle", "1"), ("go with --test file", "--fix", "z-:z")):
            self.fails(USAGE, message, "bone", *box, "--test", "symshear", *options)

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

    def test_periodic_laminate(self):
        cell = ("--generate", "laminate", "--size", "3,5,6", "--layers", "1=1000,2=10",
                "--poisson", NU, "--test", "homogenise", "--boundary", "periodic", "--tolerance",
                "1e-9")
        lam, mu = LAMBDA / E, MU / E  # of modulus 1

        def mean(f):
            return (f(1000) + 2 * f(10)) / 3

        p = lam + 2 * mu
        normal = 1 / mean(lambda e: 1 / (p * e))
        along = mean(lambda e: e) * (p - lam * lam / p) + (lam / p) ** 2 * normal
        for _, run in self.on_each_backend(*cell):
            homogenised = run["results"]["homogenised"]
            self.assertEqual(homogenised["boundary"], "periodic")
            stiffness = homogenised["stiffness"]
            expected = {(2, 2): normal, (0, 0): along, (1, 1): along, (0, 2): lam / p * normal,
                        (3, 3): mu * mean(lambda e: e), (4, 4): mu / mean(lambda e: 1 / e),
                        (5, 5): mu / mean(lambda e: 1 / e), (2, 4): 0, (0, 3): 0}
            for (i, j), value in expected.items():
                self.assertAlmostEqual(stiffness[i][j], value, delta=1e-6 * along)
            self.assertEqual(run["warnings"], [])
            orthotropic = homogenised["orthotropic"]
            self.assertLess(orthotropic["departure"], 1e-6)
            self.assertEqual(orthotropic["axes"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
            self.close(orthotropic["engineering"]["shear"][0], stiffness[3][3])

    def test_unit_cell_across_its_sides(self):
        # A column along z that is whole only across the sides of x and y, and a speck in the void.
        def cell_file(name, shift, speck):
            def value(x, y, z):
                x, y = (x - shift) % 8, (y - shift) % 8
                solid = x in (0, 1, 6, 7) and y in (0, 7)
                return E if solid or (speck and (x, y, z) == (4, 4, 1)) else 0

            self.write(name, struct.pack("<256f", *[value(i % 8, i // 8 % 8, i // 64)
                                                    for i in range(256)]))
            return name, "--shape", "8,8,4", "--type", "float32", "--spacing", 1

        options = ("--law", "modulus", "--poisson", 0, "--test", "homogenise", "--boundary",
                   "periodic", "-q")
        cell = cell_file("cell.raw", 0, True)
        self.fails(BAD_FILE, "lead through the cell to no next one", "bone", *cell, *options,
                   "--islands", "error")
        run = self.summary("bone", *cell, *options, "--islands", "drop")
        warnings = {warning["code"]: warning["text"] for warning in run["warnings"]}
        self.assertEqual(sorted(warnings), ["islands-left-out", "open-cell"])
        self.assertIn("along x, y:", warnings["open-cell"])
        self.assertEqual(run["problem"]["components"], 1)
        stiffness = run["results"]["homogenised"]["stiffness"]
        self.close(stiffness[2][2], E * 8 / 64)
        self.assertAlmostEqual(stiffness[0][0], 0, delta=1e-3)
        moved = self.summary("bone", *cell_file("middle.raw", 3, False), *options)
        for row, other in zip(stiffness, moved["results"]["homogenised"]["stiffness"]):
            for value, there in zip(row, other):
                self.assertAlmostEqual(value, there, delta=1e-3)
        self.fails(BAD_FILE, "--crop", "bone", "--generate", "sphere", "--size", "8", "--radius",
                   "3", *options[2:])

    def test_what_a_unit_cell_refuses(self):
        cell = ("bone", *CUBE, "--test", "homogenise", "--boundary", "periodic", "-q")
        for words, why in ((("--largest-component",), "does not look across"),
                           (("--hierarchy", "paper"), "has none"),
                           (("--coarse", "cg"), "has none"), (("--levels", "1"), "needs 2"),
                           (("--split", "model"), "divides its loads")):
            self.fails(USAGE, why, *cell, *words)
        self.fails(USAGE, "--boundary has no effect", "bone", *CUBE, "--test", "axial",
                   "--boundary", "periodic")
        for option, value in (("--hdf", "x.hdf"), ("--parosol-output", "x.h5"), ("--histogram", "5"),
                              ("--pistoia-strain", "0.005"), ("--pistoia-volume", "0.03")):
            self.fails(USAGE, f"{option} has no effect with --test homogenise", *cell, option, value, "--json", "s.json", "-q")

    def test_levels_that_are_too_few_are_refused(self):
        """Their coarsest one was inverted, of 24^3 voxels in more than a minute and half a gigabyte."""
        cube = ("bone", "--generate", "cube", "--size", "24", "-q")
        for more in ((), ("--test", "homogenise", "--boundary", "periodic")):
            self.fails(USAGE, "the coarsest of 2 levels has ", *cube, "--levels", "2", *more)
            self.fails(USAGE, "nodes, whose dense inverse would take 0.", *cube, "--levels", "2", *more)
        force = self.summary(*cube)["results"]["reactions"][0]["force"][2]
        for more in (("--levels", "3"), ("--levels", "2", "--coarse", "cg")):
            self.close(self.summary(*cube, *more)["results"]["reactions"][0]["force"][2], force, 1e-6)

    def test_an_open_cell_has_no_engineering_constants(self):
        # They were quotients of what solves leave, with Poisson's ratios of -1.4 and 0.5.
        for axis in "xyz":
            layers = ("--generate", "laminate", "--size", "10", "--layer-axis", axis, "--layers", "3=1000,2=0")
            self.fails(USAGE, "--modulus has no effect", "bone", *layers, "--modulus", "5", "-q")
            run = self.summary("bone", *layers, "--test", "homogenise", "--boundary", "periodic", "-q")
            self.assertNotIn("engineering", run["results"]["homogenised"])
            self.assertEqual([one["code"] for one in run["warnings"]], ["open-cell"])

    def test_forces_balance_reactions(self):
        for _, run in self.on_each_backend(*CUBE, "--test", "file", "--fix", "z-:xyz", "--force",
                                           "z+:xz=-12"):
            total = [sum(support["force"][d] for support in run["results"]["reactions"])
                     for d in range(3)]
            self.assertAlmostEqual(total[0], 12, delta=1e-6)
            self.assertAlmostEqual(total[1], 0, delta=1e-6)
            self.assertAlmostEqual(total[2], 12, delta=1e-6)

    def test_an_eighth_of_a_specimen_between_planes_of_symmetry(self):
        # The nodes of the plate that are on planes are held otherwise than its others, and are the plate's all the same.
        names = []
        for fix in ("x-:x,z-:z,z+:z=-0.05,0/0/0:y", "x-:x,y-:y,z-:z,z+:z=-0.05"):
            results = self.summary("bone", *CUBE, "--test", "file", "--fix", fix, "-q")["results"]
            self.close(results["response"]["force"], -0.01 * E * AREA)
            self.close(results["response"]["apparent_modulus"], E)
            self.close(results["pistoia"]["force"], -0.007 * E * AREA)
            names.append({one["support"] for one in results["reactions"]})
        self.assertTrue({"moved z", "moved xz"} < names[0])
        self.assertEqual(names[1], {"held", "moved z"})  # too many to tell apart by what is held
        apart = ("--fix", "x-:x,z-:z,z+:z=-0.05,0/0/0:y,y+:y=0.01")  # two motions
        self.assertIsNone(self.summary("bone", *CUBE, "--test", "file", *apart, "-q")["results"].get("response"))

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

    def test_one_ratio_of_several_moduli_is_one_number(self):
        self.write("many.raw", struct.pack("<64f", *range(100, 164)))
        table = self.ossatura("bone", "many.raw", "--shape", "4,4,4", "--type", "float32", "--spacing", "1", "--law",
                              "modulus", "--modulus-unit", "MPa", "-q", "--test", "axial").stdout
        self.assertRegex(table, "Poisson's ratio +0.3\n")

    def test_surface_of_a_box(self):
        corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        lines = ["OFF", "8 12 0"] + ["%d %d %d" % c for c in corners]
        for a, b, c, d in faces:
            lines += [f"3 {a} {b} {c}", f"3 {a} {c} {d}"]
        self.write("box.off", "\n".join(lines) + "\n")
        self.expect_cube("box.off", "--voxel", "0.25", "--modulus", E)
        self.fails(USAGE, "--voxel", "bone", "box.off", "-q")
        self.fails(USAGE, "a surface has none", "bone", "box.off", "--voxel", "0.25", "--modulus-unit", "GPa", "-q")
        run = self.summary("bone", "box.off", "--voxel", "0.25", "--modulus", E, "--poisson", "0", "-q")
        self.close(run["results"]["response"]["stiffness"], E, 1e-5)  # E A / L, of a unit cube that does not bulge
        inward = lines[:10] + [" ".join(line.split()[k] for k in (0, 1, 3, 2)) for line in lines[10:]]
        self.write("inward.off", "\n".join(inward) + "\n")
        turned = self.summary("bone", "inward.off", "--voxel", "0.25", "--modulus", E, "--poisson", "0", "-q")
        self.assertEqual(turned["results"]["response"]["stiffness"], run["results"]["response"]["stiffness"])
        self.assertEqual(turned["warnings"], run["warnings"])

    def test_provenance_knows_the_input(self):
        self.write("cube.raw", struct.pack("<64f", *[E] * 64))
        run = self.expect_cube("cube.raw", "--shape", "4,4,4", "--type", "float32", "--spacing",
                               "0.25", "--law", "modulus")
        record = run["provenance"]["inputs"][0]
        self.assertEqual(record["bytes"], 256)
        self.assertTrue(record["path"].endswith("cube.raw"))
        # xxh64sum of 64 times float32(1000), xxhash 0.8.1
        self.assertEqual(record["xxh64"], "27fe5f3edf1ab3b5")

    def test_a_long_input_is_hashed_as_it_is_read(self):
        """In blocks, of which threads read the next: the hash is that of the whole in its order."""
        n = 450
        self.write("long.raw", b"".join(bytes([z * 7 % 251]) * n**2 for z in range(n)))
        for threads in ("1", "2"):
            run = self.summary("bone", "long.raw", "--shape", f"{n},{n},{n}", "--type", "uint8", "--spacing", "1",
                               "--crop", ":4,:4,1:5", "--law", "modulus", "--modulus-unit", "GPa", "--dry-run", "--backend", "openmp",
                               "--threads", threads)
            record = run["provenance"]["inputs"][0]
            # xxh64 of xxhash 0.8
            self.assertEqual((record["bytes"], record["xxh64"]), (n**3, "4e78a12aa21503a5"))


class Contract(BoneCase):
    SMALL = ("bone", "--generate", "cube", "--size", "4", "--test", "axial")

    def test_table_on_stdout_progress_on_stderr(self):
        process = self.ossatura(*self.SMALL)
        self.assertIn("apparent modulus", process.stdout)
        self.assertIn("Kokkos", process.stderr)
        self.assertNotIn("\033", process.stdout + process.stderr)
        self.assertEqual(self.ossatura(*self.SMALL, "-q").stderr, "")

    def test_summary_has_the_parts_of_the_contract(self):
        run = self.summary(*self.SMALL, "--seed", "7")
        self.assertEqual(list(run), ["schema", "status", "warnings", "problem", "engine",
                                     "parameters", "iterations", "residual", "certificate",
                                     "timings", "memory", "results", "provenance"])
        self.assertEqual(run["schema"], "ossatura/bone/1")
        self.assertEqual(run["status"], "converged")
        self.assertEqual(run["parameters"]["seed"], 7)
        self.assertEqual(run["provenance"]["seed"], 7)
        self.assertEqual(run["problem"]["dofs"], 3 * 5 ** 3)
        self.assertLessEqual(run["residual"]["true"], 1e-6)
        self.assertGreater(run["memory"]["kokkos_peak_bytes"], 0)
        self.assertGreater(run["timings"]["total_seconds"], 0)

    def test_output_directory_holds_all_results_and_nothing_else(self):
        self.ossatura(*self.SMALL, "-o", "out/deep", "--history", "h.csv", "-q")
        names = sorted(os.listdir(self.path("out/deep")))
        self.assertEqual(sorted(os.path.splitext(n)[1] for n in names), [".csv", ".hdf", ".json"])
        summary = json.loads(self.read("out/deep/" + [n for n in names if n.endswith("json")][0]))
        self.assertEqual(summary["status"], "converged")
        for name in summary["results"]["files"]:
            self.assertTrue(os.path.exists(self.path(name)), name)
        with open(self.path("out/deep/h.csv")) as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(int(rows[-1]["iteration"]), summary["iterations"])
        self.assertLess(float(rows[-1]["recurrent_residual"]), 1e-5)
        self.assertEqual(self.files(), ["out"])

    def test_without_output_options_nothing_is_written(self):
        self.ossatura(*self.SMALL, "-q")
        self.assertEqual(self.files(), [])

    def test_no_hdf(self):
        self.ossatura(*self.SMALL, "-o", "out", "--no-hdf", "-q")
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
        process = self.ossatura(*arguments, code=NOT_CONVERGED)
        self.assertIn("NOT CONVERGED", process.stdout)
        self.assertIn("not converged", process.stderr)
        names = os.listdir(self.path("out"))
        summary = json.loads(self.read("out/" + [n for n in names if n.endswith("json")][0]))
        self.assertEqual(summary["status"], "not converged")
        self.assertGreater(summary["residual"]["true"], 1e-12)
        self.assertTrue(any(n.endswith(".hdf") for n in names))

    def test_timings_are_a_table_on_stderr(self):
        self.assertIn("region", self.ossatura(*self.SMALL, "--timings", "-q").stderr)

    def test_histograms_count_every_voxel(self):
        run = self.summary(*self.SMALL, "--histogram", "5")
        for histogram in run["results"]["histograms"].values():
            self.assertEqual(len(histogram["count"]), 5)
            self.assertEqual(sum(histogram["count"]), 64)

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

    def test_operators_take_as_many_iterations_where_bone_hangs_at_four_nodes(self):
        """It turns as a whole, with forces that rounding must not make."""
        iterations = {}
        for operator in ("offset", "gather", "brick"):
            run = self.summary("bone", "--generate", "cube", "--size", "16", "--spacing", "0.05", "--force", "z+:z=-10",
                               *(f"--fix={x}/{y}/0:xyz" for x in (0, 16) for y in (0, 16)), "--operator", operator, "--backend",
                               "serial", "-q")
            iterations[operator] = run["results"]["solves"][0]["iterations"]
        self.assertLessEqual(max(iterations.values()), iterations["offset"] + 2, iterations)


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

    def test_an_output_that_is_no_hdf5_is_refused_before_the_solve(self):
        notes = self.write("notes.txt", b"not to be lost\n")
        self.bad("notes.txt: is not an HDF5 file", *CUBE, "--parosol-output", notes)
        with open(notes, "rb") as file:
            self.assertEqual(file.read(), b"not to be lost\n")

    def test_an_island_is_dropped_or_an_error(self):
        voxels = [0] * 5 ** 3
        for z in range(5):
            voxels[25 * z] = 1
        voxels[25 * 2 + 5 * 2 + 2] = 1
        self.write("x.raw", bytes(voxels))
        image = (*self.raw(5, "uint8"), "--law", "threshold", "--lower", "1", "--test", "axial")
        self.bad("2, 2, 2", *image, "--islands", "error")
        self.bad("--islands drop", *image) # a sixth of the bone is not left out without consent
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

    def test_options_of_plates_beside_supports_of_nodes(self):
        # They did nothing, and the run was of another test than the one that was asked for.
        held = (*CUBE, "--fix", "z-:xyz", "--fix", "z+:z=-0.1", "-q")
        for more in (("--strain", "-0.05"), ("--displacement", "-0.5"), ("--axis", "x"), ("--lateral", "free"),
                     ("--surface", "visible", "--surface-depth", "1"), ("--cap", "2")):
            self.fails(USAGE, f"{more[0]} has no effect without", "bone", *held, *more)
        self.bad("nothing holds the specimen", *CUBE, "--force", "z+:z=-1")
        nodes = [(z, y, x, d) for z in (0, 3) for y in range(4) for x in range(4) for d in range(3)]
        hdf5_values.write(self.path("p.h5"), "Image_Data", {
            "Image": ((3, 3, 3), [E] * 27), "Voxelsize": ((), [0.5]), "Poisons_ratio": ((), [NU]),
            "Fixed_Displacement_Coordinates": ((len(nodes), 4), [number for node in nodes for number in node]),
            "Fixed_Displacement_Values": ((len(nodes),), [-0.015 if (z, d) == (3, 2) else 0.0 for z, _, _, d in nodes])})
        file = ("bone", "p.h5", "--modulus-unit", "MPa", "--backend", "serial", "-q")
        for more in (("--strain", "-0.05"), ("--displacement", "-0.5"), ("--axis", "x"), ("--lateral", "free"),
                     ("--surface", "visible", "--surface-depth", "1"), ("--cap", "2"), ("--plate-depth", "1")):
            self.fails(USAGE, f"p.h5: has supports or forces of its nodes, and {more[0]} is of plates", *file, *more)
        given = self.summary(*file)["results"]["response"]["force"]
        pressed = self.summary(*file, "--test", "axial", "--strain", "-0.05")["results"]["response"]["force"]
        self.close(pressed, 5 * given, 1e-5)

    def test_forces_without_support(self):
        self.bad("--fix", *CUBE, "--test", "file", "--force", "z+:z=1")


class Images(BoneCase):
    """Specimens from voxels that a test sets one by one."""

    def raw(self, shape, solid, name="x.raw", value=1):
        """The image whose voxels (x, y, z) are bone where solid(x, y, z), as arguments."""
        nx, ny, nz = shape
        voxels = bytes(value if solid(x, y, z) else 0
                       for z in range(nz) for y in range(ny) for x in range(nx))
        self.write(name, voxels)
        return (name, "--shape", f"{nx},{ny},{nz}", "--type", "uint8", "--spacing", "0.5", "--law",
                "threshold", "--lower", "1", "--modulus", E, "--poisson", NU, "--backend", "serial")

    def codes(self, run):
        return [warning["code"] for warning in run["warnings"]]

    def refused(self, message, *arguments):
        return self.fails(BAD_FILE, message, "bone", *arguments, "-q", "--json", "s.json")


class Supports(Images):
    def test_a_plate_that_touches_little_warns(self):
        # A column of 9 x 9 voxels with a tip of 3 x 3, twice as high as the tip.
        image = self.raw((9, 9, 9), lambda x, y, z: z < 8 or (3 <= x < 6 and 3 <= y < 6))
        for test in ("axial", "confined", "shear-zx", "torsion", "bending"):
            with self.subTest(test=test):
                run = self.summary("bone", *image, "--test", test, "-q")
                self.assertEqual(self.codes(run), ["small-contact"])
                self.assertIn("upper plate: touches 2.25 mm2", run["warnings"][0]["text"])
                areas = [support["contact_area"] for support in run["results"]["reactions"][:2]]
                self.assertEqual(areas, [0.25 * 81, 0.25 * 9])
        run = self.summary("bone", *image, "--test", "axial", "--plate-depth", "1", "-q")
        self.assertEqual(self.codes(run), [])
        self.assertEqual(run["results"]["reactions"][1]["contact_area"], 0.25 * 81)
        self.assertIn("mm2", self.ossatura("bone", *image, "--test", "axial", "-q").stdout)
        run = self.summary("bone", *image, "--fix", "z-:xyz", "--force", "z+:z=-1", "-q")
        self.assertIn("side z+", run["warnings"][0]["text"])
        run = self.summary("bone", *image, "--fix", "z-:xyz", "--fix", "z+:z=-0.1", "-q")
        self.assertEqual(self.codes(run), ["small-contact"])

    def test_a_flat_support_beside_a_spot_is_across_its_own_axis(self):
        """The line between them leans far from it: the area was 0 mm2, and warned of."""
        box = ("--generate", "cube", "--size", "6,5,4", "--spacing", "0.5", "--backend", "serial", "-q", "--fix")
        for spot in "0/0/2:x=0.01", "6/0/2:x=0.01", "0/2/3:y=0.01":
            with self.subTest(spot=spot):
                run = self.summary("bone", *box, f"z-:xyz,{spot}")
                area = {one["support"]: one["contact_area"] for one in run["results"]["reactions"]}
                self.assertEqual(area, {"held xyz": 0.25 * 30, f"moved {spot[6]}": 0})
                self.assertEqual(run["warnings"], [])  # a node by name is no plate

    def test_supports_that_contradict_each_other(self):
        cube = ("--generate", "cube", "--size", "3", "--backend", "serial", "-q", "--fix")
        pressed, held = "z+:z=-0.01", "x+:xz"  # share an edge
        last = {order: self.summary("bone", *cube, ",".join(("z-:xyz", *order)))
                for order in ((pressed, held), (held, pressed), (pressed, pressed), ("x+:x", pressed))}
        self.assertEqual([self.codes(run) for run in last.values()], [["held-twice"], ["held-twice"], [], []])
        self.assertIn("--fix side x+: 4 degrees of freedom are held at another", last[pressed, held]["warnings"][0]["text"])
        refined = self.summary("bone", *cube, "z-:xyz,z+:xyz=0,z+:z=-0.01")  # what is held at 0 is said first
        self.assertEqual(self.codes(refined), [])
        said_once = self.summary("bone", *cube, "z-:xyz,z+:xy=0,z+:z=-0.01")
        self.assertEqual(refined["results"]["strain_energy"], said_once["results"]["strain_energy"])
        twice = self.summary("bone", *cube, "z-:xyz,z+:z=-0.02,z+:z=-0.01")
        self.assertEqual(self.codes(twice), ["held-twice"])
        # the list of an exchanged order says the same
        listed = [f"{x},{y},3,z,{0 if x == 3 else -0.01}\n" for x in range(4) for y in range(4)]
        listed += [f"3,{y},{z},{c},0\n" for y in range(4) for z in range(4) for c in "xz" if c == "x" or z < 3]
        name = self.write("edge.csv", "\ufeff" + "".join(listed))
        energy = last[pressed, held]["results"]["strain_energy"]
        run = self.summary("bone", *cube, "z-:xyz", "--fix-file", name)
        self.assertEqual(self.codes(run), [])
        self.close(run["results"]["strain_energy"], energy, 1e-7)
        self.write("edge.csv", "3,1,3,z,-0.01\n" + "".join(listed[1:] + listed[:1]))
        run = self.summary("bone", *cube, "z-:xyz", "--fix-file", name)
        self.assertEqual(self.codes(run), ["held-twice"])
        self.close(run["results"]["strain_energy"], energy, 1e-7)

    def test_porous_ends_of_porous_bone_do_not_warn(self):
        # A fifth of each layer, in bars that stand side by side, joined by one layer.
        image = self.raw((10, 10, 8), lambda x, y, z: z == 4 or (x % 5 == 0))
        run = self.summary("bone", *image, "--test", "axial", "-q")
        self.assertEqual(self.codes(run), [])
        self.close(run["results"]["reactions"][0]["contact_area"], 0.25 * 20)

    def test_most_of_the_bone_is_never_left_out(self):
        # Noise at both ends of the image takes the plates away from the bone.
        image = self.raw((6, 6, 10), lambda x, y, z: 1 <= z < 9 or (x == y == 0 and z in (0, 9)) or
                         (x == y == 5 and z in (0, 9)))
        apart = self.raw((6, 6, 12), lambda x, y, z: 2 <= z < 10 or x == y == 0 and z in (0, 11),
                         "apart.raw")
        self.assertEqual(self.summary("bone", *image, "-q")["problem"]["dropped_elements"], 0)
        for choice in ((), ("--islands", "drop")):
            process = self.refused("--largest-component", *apart, *choice)
            for remedy in ("99.3 %", "--plate-depth", "--lower"):
                self.assertIn(remedy, process.stderr)
        run = self.summary("bone", *apart, "--largest-component", "-q")
        self.assertEqual(run["problem"]["elements"], 288)

    def test_crumbs_are_left_out_with_a_warning(self):
        image = self.raw((6, 6, 10), lambda x, y, z: y < 4 or (x == 2 and y == 5 and z == 5))
        run = self.summary("bone", *image, "-q")
        self.assertEqual(self.codes(run), ["islands-left-out"])
        self.assertEqual(run["problem"]["dropped_elements"], 1)
        self.assertEqual(run["problem"]["components"], 1)

    def test_a_cut_specimen_has_no_load_path(self):
        cut = self.raw((4, 4, 9), lambda x, y, z: z != 4)
        for test in (("--test", "axial"), ("--test", "axial", "--lateral", "free"),
                     ("--test", "torsion"), ("--test", "bending"), ("--test", "shear-zx"),
                     ("--fix", "z-:xyz", "--fix", "z+:xyz=0.1")):
            with self.subTest(test=test):
                self.refused("no path of bone", *cut, *test)
        whole = self.raw((4, 4, 9), lambda x, y, z: z != 4 or (x, y) == (1, 2), "whole.raw")
        self.assertEqual(self.summary("bone", *whole, "-q")["problem"]["components"], 1)
        self.refused("nothing loads", *whole, "--fix", "z-:xyz")

    def test_parts_that_carry_nothing_are_said(self):
        stumps = self.raw((9, 4, 9), lambda x, y, z: x < 4 or (x > 4 and z != 4))
        run = self.summary("bone", *stumps, "-q")
        self.assertEqual(self.codes(run), ["unloaded-parts"])
        self.assertEqual(run["problem"]["components"], 3)
        self.close(run["results"]["response"]["force"],
                   self.summary("bone", *self.raw((4, 4, 9), lambda x, y, z: True, "one.raw"),
                                "-q")["results"]["response"]["force"], 1e-5)

    def test_free_rigid_motions_are_named(self):
        cube = ("--generate", "cube", "--size", "4", "--backend", "serial")
        for held, motions in ((("z-:z",), "along x, along y, about z"),
                              (("z-:z", "0/0/0:xy"), "(about z)"),
                              (("z-:xz",), "(along y)"),
                              (("0/0/0:xyz",), "about x, about y, about z"),
                              (("0/0/0:xyz", "4/4/4:xyz"), "along none of the axes")):
            with self.subTest(held=held):
                self.refused(motions, *cube, "--fix", ",".join(held), "--force", "z+:x=1")
        self.summary("bone", *cube, "--fix", "z-:z,0/0/0:xy,4/0/0:y", "--force", "z+:z=1", "-q")

    def test_an_iteration_that_stalls_ends_and_says_why(self):
        # Two blocks that share one edge, about which the force turns the upper one.
        hinge = self.raw((4, 4, 8), lambda x, y, z: (z < 4) == (x < 2))
        process = self.ossatura("bone", *hinge, "--fix", "z-:xyz", "--force", "z+:z=-1",
                              code=NOT_CONVERGED)
        self.assertIn("edge or a corner", process.stderr)
        self.assertLess(process.stderr.count("\n"), 500)

    def test_slow_iterations_do_not_stall(self):
        run = self.summary("bone", "--generate", "perlin", "--size", "20", "--feature", "10",
                           "--fraction", "0.3", "--poisson", "0.4995", "--backend", "serial", "-q")
        self.assertGreater(run["iterations"], 100)
        self.assertEqual(self.codes(run), ["locking"])


class Forces(Images):
    def test_uniform_compression_by_a_force_is_uniform(self):
        # sigma = F / A in each voxel: columns of any cross-section, of any size.
        force = 7.0
        shapes = [((n, n, n), lambda x, y, z: True) for n in (1, 2, 3, 5, 8)]
        shapes += [((5, 4, 6), lambda x, y, z: (x + y) % 2 == 0 or x == 2 or y == 1),
                   ((6, 6, 3), lambda x, y, z: x in (0, 5) or y in (0, 5))]
        for axis in range(3):
            for shape, solid in shapes:
                def turned(*site):
                    return solid(site[(axis + 1) % 3], site[(axis + 2) % 3], site[axis])
                extent = [0, 0, 0]
                extent[axis] = shape[2]
                extent[(axis + 1) % 3], extent[(axis + 2) % 3] = shape[0], shape[1]
                image = self.raw(extent, turned)
                a, b, c = "xyz"[axis], "xyz"[(axis + 1) % 3], "xyz"[(axis + 2) % 3]
                far = [0, 0, 0]
                far[(axis + 1) % 3] = shape[0]
                run = self.summary(
                    "bone", *image, "--fix", f"{a}-:{a},0/0/0:{b}{c},{'/'.join(map(str, far))}:{c}",
                    "--force", f"{a}+:{a}={-force}", "--tolerance", "1e-13", "--precision",
                    "double", "-q")
                area = 0.25 * sum(solid(x, y, 0) for x in range(shape[0]) for y in range(shape[1]))
                height = 0.5 * shape[2]
                self.close(run["results"]["strain_energy"],
                           0.5 * force ** 2 * height / (E * area), 1e-10)
                stress = run["results"]["von_mises"] # a field of single precision
                self.close(stress["maximum"], force / area, 2e-7)
                self.close(stress["minimum"], force / area, 2e-7)

    def test_bending_is_that_of_the_specimen_upside_down(self):
        """Plates carry a shear force where halves differ, so that their moments do."""
        found = {}
        for name, notch in (("above", lambda x, y, z: z < 3 or y > 1), ("below", lambda x, y, z: z > 2 or y > 1)):
            run = self.summary("bone", *self.raw((6, 6, 6), notch), "--test", "bending", "-q", "--tolerance", "1e-10")
            lower, upper = run["results"]["reactions"][:2]
            found[name] = run["results"]["response"]["rotational_stiffness"]
            self.assertGreater(abs(upper["moment"][0] / lower["moment"][0] + 1), 0.1)
            self.close(run["results"]["response"]["moment"] * run["results"]["response"]["angle"],
                       2 * run["results"]["strain_energy"], 1e-6)
        self.close(found["above"], found["below"], 1e-6)

    def test_no_stiffness_beside_forces(self):
        """What a moved support feels is the answer to the forces, too."""
        image = self.raw((4, 4, 6), lambda x, y, z: True)
        moved = ("bone", *image, "--test", "file", "--fix", "z-:xyz", "--fix", "z+:z=-0.02", "-q")
        self.assertLess(self.summary(*moved)["results"]["response"]["force"], 0)
        pushed = self.summary(*moved, "--force", "x+:z=-20")
        self.assertNotIn("response", pushed["results"])
        self.assertNotIn("force", pushed["results"]["pistoia"])

    def test_a_failure_load_of_forces_is_a_factor_of_all(self):
        """A column fails under 0.007 E on its area, of either sign; there is no response to multiply."""
        image = self.raw((4, 4, 6), lambda x, y, z: True)
        column = ("bone", *image, "--fix", "z-:z,0/0/0:xy,4/0/0:y", "-q", "--tolerance", "1e-9")
        area = 2.0 * 2.0  # mm2
        for force in -3.0, 60.0:
            run = self.summary(*column, "--force", f"z+:z={force}")
            self.assertNotIn("response", run["results"])
            self.close(run["results"]["pistoia"]["factor"], 0.007 * E * area / abs(force), 1e-5)
        other = self.summary(*column, "--force", "z+:z=60", "--pistoia-strain", "0.0035")
        self.close(other["results"]["pistoia"]["factor"], 0.0035 * E * area / 60, 1e-5)
        self.assertIn("load factor", self.ossatura(*column, "--force", "z+:z=60").stdout)

    def test_the_centre_of_a_turn(self):
        # Twice the strain energy is moment times angle, whatever the plates turn about.
        image = self.raw((8, 6, 6), lambda x, y, z: x < 3 or y < 2)
        moments = {}
        for test in ("torsion", "bending"):
            for centre in ("box", "mass", "0.3,-1,2"):
                run = self.summary("bone", *image, "--test", test, "--centre", centre, "-q",
                                   "--tolerance", "1e-10")
                lower, upper = run["results"]["reactions"][:2]
                axis, angle = (2, 3.141592653589793 / 180) if test == "torsion" else \
                    (0, 3.141592653589793 / 360)
                work = angle * (upper["moment"][axis] - (test == "bending") * lower["moment"][axis])
                self.close(2 * run["results"]["strain_energy"], work, 1e-6)
                response = run["results"]["response"]
                moments[test, centre] = response["moment"]
                self.close(2 * run["results"]["strain_energy"], response["moment"] * response["angle"], 1e-6)
        self.assertGreater(abs(moments["torsion", "box"] / moments["torsion", "mass"] - 1), 1e-3)
        run = self.summary("bone", *image, "--test", "torsion", "-q")
        self.close(run["results"]["response"]["moment"], moments["torsion", "mass"], 1e-5)
        bone = [(x + 0.5, y + 0.5) for x in range(8) for y in range(6) if x < 3 or y < 2]
        for d in range(2):
            self.close(run["results"]["reactions"][1]["centre"][d],
                       0.5 * sum(site[d] for site in bone) / len(bone), 1e-12)


class Units(Images):
    def test_moduli_that_may_be_in_gpa_ask_for_their_unit(self):
        self.write("soft.raw", struct.pack("<27f", *[15.0] * 27))
        image = ("soft.raw", "--shape", "3,3,3", "--type", "float32", "--spacing", "1", "--law",
                 "modulus", "--backend", "serial", "--lateral", "free", "--test", "axial")
        self.refused("--modulus-unit", *image)
        for unit, modulus in (("GPa", 15000), ("MPa", 15)):
            run = self.summary("bone", *image, "--modulus-unit", unit, "-q")
            self.close(run["results"]["response"]["apparent_modulus"], modulus)

    def test_parosol_files_in_gpa_ask_for_their_unit(self):
        hdf5_values.write(self.path("soft.h5"), "Image_Data",
                          {"Image": ((3, 3, 3), [15.0] * 27), "Voxelsize": ((), [0.5]),
                           "Poisons_ratio": ((), [NU])})
        image = ("soft.h5", "--backend", "serial", "--lateral", "free", "--test", "axial")
        self.refused("--modulus-unit GPa", *image)
        for arguments, modulus in ((("--modulus-unit", "GPa"), 15000),
                                   (("--modulus-unit", "MPa"), 15),
                                   (("--modulus-unit", "GPa", "--law", "modulus"), 15000)):
            run = self.summary("bone", *image, *arguments, "-q")
            self.close(run["results"]["response"]["apparent_modulus"], modulus)

    def test_values_without_bone_give_their_range(self):
        self.write("x.raw", struct.pack("<8h", -1024, 3, 5, 0, 1, 2, 777, -5))
        self.refused("-1024 to 777", "x.raw", "--shape", "2,2,2", "--type", "int16", "--spacing",
                     "1", "--law", "threshold", "--lower", "800")

    def test_a_voxel_that_turns_about_its_centre(self):
        self.fails(BAD_FILE, "no voxel is strained at its centre", "bone", "--generate", "cube", "--size", "1", "--test", "torsion")

    def test_numbers_beyond_the_arithmetic_are_refused(self):
        cube = ("bone", "--generate", "cube", "--backend", "serial", "--json", "s.json")
        for arguments in (("--modulus", "1e39"), ("--displacement", "1e100"), ("--poisson",
                          "-0.9999999999999999"), ("--poisson", "0.499999999999"),
                          ("--size", "1048577,1,1"), ("--size", "4194304"), ("--size", "1000000"),
                          ("--spacing", "1e-100"), ("--spacing", "1e10"),
                          ("--displacement", "1e-30")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], *cube, *arguments)
        header = ("NDims = 3\nDimSize = 2 2 2\nElementSpacing = {0} {0} {0}\nElementType = "
                  "MET_UCHAR\nElementDataFile = LOCAL\n")
        self.write("x.mha", header.format("1e-100").encode() + bytes([1] * 8))
        self.refused("edge of a voxel", "x.mha", "--law", "threshold", "--lower", "1")
        moduli = []
        for scale in ("1", "1e-25", "1e25"):
            run = self.summary("bone", "--generate", "cube", "--size", "4", "--backend", "serial",
                               "--modulus", scale, "-q")
            moduli.append(run["results"]["response"]["apparent_modulus"] / float(scale))
        self.close(moduli[1], moduli[0])
        self.close(moduli[2], moduli[0])

    def test_strains_of_another_theory_are_doubted(self):
        # Whatever loads: forces in the wrong unit, or turns.
        for more in (("--fix", "z-:xyz", "--force", "z+:z=-1e6"), ("--test", "torsion", "--angle", "45")):
            run = self.summary("bone", *CUBE, *more, "-q")
            self.assertEqual(self.codes(run), ["large-strain"])
            self.assertIn("the mean effective strain of the bone", run["warnings"][0]["text"])
        self.assertEqual(self.codes(self.summary("bone", *CUBE, "--fix", "z-:xyz", "--force", "z+:z=-100", "-q")), [])

    def test_loads_that_vanish_or_overflow_are_no_result(self):
        cube = ("--generate", "cube", "--size", "3", "--backend", "serial", "--fix")
        for load in (("z-:xyz,z+:z=1e-200",), ("z-:xyz,z+:z=1e-120",), ("z-:xyz,z+:z=1e25",),
                     ("z-:xyz", "--force", "z+:z=1e-300"), ("z-:xyz", "--force", "z+:z=1e30")):
            with self.subTest(load=load):
                self.refused("", *cube, *load)
                self.assertEqual(self.files(), [])

    def test_incompressible_bone_is_said_to_lock(self):
        cube = ("bone", "--generate", "cube", "--size", "3", "--backend", "serial", "-q")
        self.assertEqual(self.codes(self.summary(*cube, "--poisson", "0.495")), ["locking"])
        self.assertEqual(self.codes(self.summary(*cube, "--poisson", "0.49")), [])

    def test_fields_that_there_are_not(self):
        self.fails(USAGE, "displacement, modulus, strain", "bone", "--generate", "cube", "--fields",
                   "foo", "-o", "out")


class ThinSpecimens(BoneCase):
    """Plates that hold all nodes of a coarse level leave nothing for its solver to do."""

    def test_they_take_seconds_and_little_memory(self):
        for arguments in (("--size", "60,60,3"), ("--size", "100,100,3"),
                          ("--size", "20,20,60", "--plate-depth", "29"),
                          ("--size", "6,6,200", "--plate-depth", "99")):
            with self.subTest(arguments=arguments):
                run = self.summary("bone", "--generate", "cube", *arguments, "--modulus", E,
                                   "--poisson", "0", "--backend", "serial", "-q", "--test", "axial",
                                   "--tolerance", "1e-10")
                self.assertLess(run["timings"]["total_seconds"], 20)
                # 1.5 GB before; a build with CUDA takes some 130 MB to start.
                self.assertLess(run["memory"]["host_peak_bytes"], 250e6)
                # Without Poisson's effect the stress is the same in the layers that are free.
                size = [int(n) for n in arguments[1].split(",")]
                free = size[2] - 2 * int(arguments[3] if len(arguments) > 2 else 0)
                self.close(run["results"]["response"]["force"],
                           -0.01 * size[2] / free * E * size[0] * size[1])

    def test_too_little_strained_bone_has_no_failure_load(self):
        run = self.summary("bone", "--generate", "cube", "--size", "4,4,300", "--plate-depth",
                           "148", "--backend", "serial", "-q")
        self.assertEqual([w["code"] for w in run["warnings"]], ["no-failure-load"])
        self.assertNotIn("pistoia", run["results"])

    def test_slender_images_are_numbered_at_once(self):
        run = self.summary("bone", "--generate", "cube", "--size", "2,2,6000", "--backend",
                           "serial", "--dry-run")
        self.assertEqual(run["problem"]["nodes"], 9 * 6001)
        self.assertLess(run["timings"]["total_seconds"], 20)


class Directions(BoneCase):
    """The same asymmetric specimen, stored along other axes."""

    SHAPE = (5, 4, 6)
    EDGE = 0.5
    # Columns are the axes of the image in the world; half-turns, mirrors, permutations, oblique.
    TURNS = {"identity": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
             "LAS": ((-1, 0, 0), (0, 1, 0), (0, 0, 1)),
             "half turn": ((-1, 0, 0), (0, -1, 0), (0, 0, 1)),
             "permuted": ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
             "oblique": ((0.6, -0.8, 0), (0.8, 0.6, 0), (0, 0, 1))}
    CENTRE = (10.0, -20.0, 30.0) # of the first voxel

    def voxels(self):
        nx, ny, nz = self.SHAPE
        return bytes(1 if x < 3 or y < 2 else 0
                     for z in range(nz) for y in range(ny) for x in range(nx))

    def metaimage(self, turn):
        h = self.EDGE
        numbers = " ".join(str(turn[i][d]) for d in range(3) for i in range(3))
        return (f"NDims = 3\nTransformMatrix = {numbers}\nOffset = "
                f"{' '.join(map(str, self.CENTRE))}\nDimSize = {' '.join(map(str, self.SHAPE))}\n"
                f"ElementSpacing = {h} {h} {h}\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n"
                ).encode() + self.voxels()

    def nifti(self, turn, by_quaternion):
        head = bytearray(352)
        struct.pack_into("<i8h", head, 0, 348, *[0] * 8)
        struct.pack_into("<8h", head, 40, 3, *self.SHAPE, 1, 1, 1, 1)
        struct.pack_into("<2h", head, 70, 2, 8)
        mirror = -1 if turn == self.TURNS["LAS"] else 1
        struct.pack_into("<4f", head, 76, mirror, *[self.EDGE] * 3)
        struct.pack_into("<3f", head, 108, 352, 0, 0)
        head[123] = 2
        head[344:348] = b"n+1\0"
        if by_quaternion:
            struct.pack_into("<2h", head, 252, 1, 0)
            # LAS: a half turn about y, and z mirrored; oblique: about z by acos(0.6).
            quaternion = {self.TURNS["LAS"]: (0, 1, 0), self.TURNS["half turn"]: (0, 0, 1),
                          self.TURNS["permuted"]: (0.5, 0.5, 0.5),
                          self.TURNS["oblique"]: (0, 0, 0.2 ** 0.5),
                          self.TURNS["identity"]: (0, 0, 0)}[turn]
            struct.pack_into("<6f", head, 256, *quaternion, *self.CENTRE)
        else:
            struct.pack_into("<2h", head, 252, 0, 1)
            for i in range(3):
                struct.pack_into("<4f", head, 280 + 16 * i, *[self.EDGE * e for e in turn[i]],
                                 self.CENTRE[i])
        return bytes(head) + self.voxels()

    def run_image(self, name):
        return self.summary("bone", name, "--law", "threshold", "--lower", "1", "--modulus", E,
                            "--test", "shear-zx", "--tolerance", "1e-10", "--backend", "serial",
                            "--precision", "double", "--fields", "all", "--hdf", name + ".hdf",
                            "--parosol-output", name + ".h5", "-q")

    def test_results_lie_on_the_image(self):
        self.write("plain.mha", self.metaimage(self.TURNS["identity"]))
        plain = self.run_image("plain.mha")
        u = hdf5_values.read(self.path("plain.mha.hdf"), "VTKHDF/PointData/displacement")
        points = hdf5_values.read(self.path("plain.mha.hdf"), "VTKHDF/Points")
        strain = hdf5_values.read(self.path("plain.mha.hdf"), "VTKHDF/CellData/strain")
        for name, turn in self.TURNS.items():
            for kind, content in (("mha", self.metaimage(turn)), ("nii", self.nifti(turn, False)),
                                  ("q.nii", self.nifti(turn, True))):
                with self.subTest(turn=name, kind=kind):
                    file = f"{name}.{kind}".replace(" ", "_")
                    self.write(file, content)
                    run = self.run_image(file)
                    self.check_problem(run["problem"], turn, "LPS" if kind == "mha" else "RAS")
                    self.assertEqual(run["results"]["response"], plain["results"]["response"])
                    for output, group in ((file + ".hdf", "VTKHDF/Points"),
                                          (file + ".h5", "Mesh/Coordinates")):
                        self.check_vectors(hdf5_values.read(self.path(output), group), points, turn,
                                           self.CENTRE, 3e-6)
                    for output, group in ((file + ".hdf", "VTKHDF/PointData/displacement"),
                                          (file + ".h5", "Solution/Nodal displacements")):
                        self.check_vectors(hdf5_values.read(self.path(output), group), u, turn,
                                           None, 3e-8)
                    self.check_strains(hdf5_values.read(self.path(file + ".hdf"),
                                                        "VTKHDF/CellData/strain"), strain, turn)
                    self.check_volumes(self.path(file + ".hdf"))

    def check_problem(self, problem, turn, world):
        self.assertEqual(problem["world"], world)
        for i in range(3):
            for d in range(3):
                self.assertAlmostEqual(problem["direction"][i][d], turn[i][d], delta=1e-6)
            self.assertAlmostEqual(problem["origin"][i],
                                   self.CENTRE[i] - self.EDGE / 2 * sum(turn[i]), delta=2e-6)

    def check_vectors(self, found, plain, turn, centre, delta):
        """`plain` are those of the image that is not turned; points are about `centre`."""
        self.assertEqual(len(found), len(plain))
        about = centre or (0, 0, 0)
        for n in range(0, len(plain), 3):
            for i in range(3):
                expected = about[i] + sum(turn[i][d] * (plain[n + d] - about[d]) for d in range(3))
                self.assertAlmostEqual(found[n + i], expected, delta=delta)

    def check_strains(self, found, plain, turn):
        """The normal strain along a direction of the body is the same number in both worlds."""
        def normal(six, n):
            xx, yy, zz, xy, yz, zx = six
            return (xx * n[0] ** 2 + yy * n[1] ** 2 + zz * n[2] ** 2 + xy * n[0] * n[1] +
                    yz * n[1] * n[2] + zx * n[2] * n[0])
        for n in ((1, 0, 0), (0, 1, 1), (1, -2, 0.5), (0.3, 0.7, -1)):
            there = [sum(turn[i][d] * n[d] for d in range(3)) for i in range(3)]
            for e in range(0, len(plain), 6):
                self.assertAlmostEqual(normal(found[e:e + 6], there), normal(plain[e:e + 6], n),
                                       delta=1e-7)

    def check_volumes(self, path):
        """Hexahedra with a positive volume; voxels along the axes of the world."""
        points = hdf5_values.read(path, "VTKHDF/Points")
        corner = [int(i) for i in hdf5_values.read(path, "VTKHDF/Connectivity")]
        order = (1, 3, 4) if hdf5_values.read(path, "VTKHDF/Types")[0] == 12 else (1, 2, 4)
        for e in range(0, len(corner), 8):
            at = [points[3 * corner[e + v]:3 * corner[e + v] + 3] for v in (0, *order)]
            a, b, c = [[at[k][i] - at[0][i] for i in range(3)] for k in (1, 2, 3)]
            volume = (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                      a[2] * (b[0] * c[1] - b[1] * c[0]))
            self.close(volume, self.EDGE ** 3, 1e-4)

    def test_axes_that_are_none_are_refused(self):
        self.write("x.mha", self.metaimage(((1, 0.2, 0), (0, 1, 0), (0, 0, 1))))
        self.fails(BAD_FILE, "TransformMatrix", "bone", "x.mha", "--law", "threshold", "--lower",
                   "1", "-q")
        self.write("x.nii", self.nifti(((2, 0, 0), (0, 2, 0), (0, 0, 2)), False))
        self.fails(BAD_FILE, "sform", "bone", "x.nii", "--law", "threshold", "--lower", "1", "-q")
        both = bytearray(self.nifti(self.TURNS["identity"], True)) # qform and pixdim: EDGE
        struct.pack_into("<h", both, 254, 1)
        for i in range(3):
            row = [self.EDGE / 2 * (i == d) for d in range(3)]
            struct.pack_into("<4f", both, 280 + 16 * i, *row, self.CENTRE[i])
        self.write("x.nii", bytes(both))
        self.fails(BAD_FILE, "by the sform of the NIfTI header, and other ones by its pixdim", "bone",
                   "x.nii", "--law", "threshold", "--lower", "1", "-q")


if __name__ == "__main__":
    driver_case.main()
