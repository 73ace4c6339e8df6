# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` end to end on every backend: cases with closed answers, real file formats, results
on disk. What is refused is in bone/bone_refusals.py."""
import csv
import json
import os
import struct

from support import driver_case, hdf5_values
from support.bone_case import AREA, CUBE, E, HEIGHT, LAMBDA, MU, NU, BoneCase, Images
from support.driver_case import BAD_FILE, NOT_CONVERGED, USAGE


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
        self.fails(USAGE, "--crop", "bone", "--generate", "sphere", "--size", "8", "--radius",
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
