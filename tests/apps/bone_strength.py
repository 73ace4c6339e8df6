# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone --strength`: curves of closed form, files, interrupted runs, and what is refused."""
import base64
import csv
import json
import math
import os
import re
import signal
import struct
import subprocess
import time
import zlib

from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, NOT_CONVERGED, STOPPED, USAGE, DriverCase
from support.specimens import nifti_bytes, read_nifti

E, NU, AREA, HEIGHT = 1000.0, 0.3, 3.0 * 4.0, 5.0
CUBE = ("--generate", "cube", "--size", "6,8,10", "--spacing", "0.5", "--modulus", E, "--poisson", NU,
        "--lateral", "free")
BLOCK = {"Image": ((4, 4, 4), [1000.0] * 64), "Voxelsize": ((), [0.5]), "Poisons_ratio": ((), [0.3])}
# A foam of 24 x 22 x 22 voxels, 1135 of them bone, a bit each: packed by zlib.
FOAM = ("c-oDWzi$&U7=|C;MLDMp$?-$zhNyK>g%}VVOhKxO>Cz4zIxsLWq$)$luobCl-4ZDoKx8Zn^iN>yc+dfc4*3&KOpF-=6SmWo1eA(TZ!Al`@6l`fbq0uxP?!"
        ")R5J%8QXkFA9t3AR#EI|sf7bs<a6s&Nvbw+4R_}PSNP)xaU0!J&Nql*O-w+(N*l+GY0Ja&y%^-(*VLrx6`h9{cMH0Tr7h;9T?i}I|guf=nNnC2O21{qQA2"
        "xY~h_mw~$BphU{fYvmW^It>6MbU)~)flK~pm?^6y2Y@<1}ln(P~lG<Xbv@BG~X46(k*o>^sdodU?AGNA<yrjmf<D@&dG{qE2CrxM+BkW3K|0@p;e|+p<jc"
        "$*5Q7wkgea()RI;;teg$wWc?Q>308-eP^Yy-XNP`6kcQ=SPu^KAKR#{P_5`)$zK=X%qP`*wqC+6vE?SaKSG>=|YBoQsWGR)&yi5}54sMSyr_jKjxNEuK*q"
        "i7$f`b@mCh8LBRkW2oY2q?9NqL8;Mj@df&pihh9!%~c)o}_uS@fVOX;d6R+Z@HQjAiOBZWw@xc6Tzl{fyOwH3E%jTBbqIpsJ|(^DN5P4WktOUF~CD&9U2M"
        "|Aa?5aSPtTN2s|3D;PD)u^dit%p&<5TZX6GtVb+cgEqn2SWo=$(W?x*CDZCQYR2vC`Y$&I%DpX`Uj8k)n;&+IDTL+GBq01i&>OXzQOAYlX@m!3OM&;Cc*3"
        "VK!sQ+sun7xZoTuOE8_`dXdg0%qoKDz)t7CfU9*NsR3(<x*P<Hp?#%MAK<AmWK(2(FyfY<)}qMx@sM^3+ux;JSz8~S-NxoW&BTvkK4B~)SVpU@2n|5>H!X"
        "LVWq28ZE{I{")
POROUS = ("--generate", "perlin", "--size", "20", "--feature", "9", "--fraction", "0.4", "--largest-component")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file.read().splitlines()))  # of one moment, where a run writes


class Curves(DriverCase):
    def codes(self, run):
        return [warning["code"] for warning in run["warnings"]]

    def test_plates_by_what_they_touch(self):
        """A cube's visible surface is what flat plates touch."""
        runs = [self.summary("bone", *CUBE[:8], "--strain", "-0.02", "--strength", "von-mises", "--load-steps", "3", *more,
                             "--backend", "serial", "-q")["results"]
                for more in ((), ("--surface", "visible", "--surface-depth", "0.1"))]
        self.assertLess(runs[0]["strength"]["ultimate"]["force"], 0)
        self.assertEqual(runs[0]["strength"], runs[1]["strength"])

    def test_a_cube_has_the_curve_of_its_law(self):
        for backend in driver_case.backends():
            with self.subTest(backend=backend):
                run = self.summary("bone", *CUBE, "--test", "axial", "--strain", "-0.02", "--strength",
                                   "drucker-prager", "--yield-strain", "0.008", "--yield-strain-tension", "0.004",
                                   "--hardening", "0.1", "--load-steps", "10", "-o", backend, "--backend", backend,
                                   "-q")
                self.assertEqual(run["status"], "converged")
                self.assertTrue(run["certificate"]["passed"], run["certificate"])
                strength = run["results"]["strength"]
                self.assertEqual(len(strength["steps"]), 10)
                self.close(strength["stiffness"], E * AREA / HEIGHT, 1e-5)
                self.close(strength["apparent_modulus"], E, 1e-5)
                self.assertNotIn("stiffness", run["results"]["response"])
                rows = rows_of(self.path(f"{backend}/cube.curve.csv"))
                for k, (row, step) in enumerate(zip(rows, strength["steps"]), 1):
                    strain = -0.02 * k / 10
                    stress = E * (strain if strain >= -0.008 else -0.008 + 0.1 * (strain + 0.008))
                    self.close(step["strain"], strain)
                    self.close(step["force"], stress * AREA, 1e-5)
                    for name in ("factor", "force", "displacement", "external_work", "plastic_work", "residual"):
                        self.assertEqual(float(row[name]), step[name])
                    self.assertEqual((row["step"], row["angle"], row["moment"]), (str(k), "", ""))
                    if k != 4:  # at yield
                        self.assertEqual(step["plastic_fraction"], strain < -0.008)
                    self.close(step["external_work"], step["elastic_energy"] + step["plastic_work"], 1e-5)
                self.close(run["results"]["response"]["force"], -E * 0.0092 * AREA, 1e-5)
                self.close(run["results"]["strain_energy"], E * 0.0092 ** 2 / 2 * AREA * HEIGHT, 1e-5)
                # 0.008 + 0.1 (e - 0.008) = e - 0.002, or between the steps around there, whose curve is straight.
                self.close(strength["yield"]["strain"], -0.0092 / 0.9, 1e-5)
                self.close(strength["ultimate"]["force"], -E * 0.0092 * AREA, 1e-5)
                self.assertTrue(strength["still_rises"])
                self.assertEqual([w["code"] for w in run["warnings"]], ["no-ultimate-load"])
                self.assertNotIn("pistoia", run["results"])
                plastic = hdf5_values.read(self.path(f"{backend}/cube.hdf"), "VTKHDF/CellData/plastic_strain")
                self.close(max(plastic), 0.02 - 0.0092, 1e-4)
                self.close(min(plastic), 0.02 - 0.0092, 1e-4)

    def test_a_perfectly_plastic_cube_has_an_ultimate_load(self):
        for law, strain, force in ((("von-mises", "--yield-stress", "5"), "-0.02", -5 * AREA),
                                   (("drucker-prager", "--yield-stress", "5", "--yield-stress-tension", "3"), "0.02",
                                    3 * AREA)):
            run = self.summary("bone", *CUBE, "--test", "axial", "--strain", strain, "--strength", *law,
                               "--hardening", "0", "--load-steps", "8", "-q")
            strength = run["results"]["strength"]
            self.close(strength["ultimate"]["force"], force, 1e-5)
            self.close(strength["yield"]["force"], force, 1e-5)
            self.assertFalse(strength["still_rises"])
            self.assertEqual(run["warnings"], [])

    def test_one_layer_of_voxels_between_plates_that_hold_all(self):
        """Nothing is free, so that there are no residuals and nothing that they are relative to."""
        for law in (("von-mises",), ("damage", "--fracture-energy", "5")):
            run = self.summary("bone", "--generate", "cube", "--size", "3,3,1", "--modulus", "10000", "--poisson", "0", "--strain",
                               "-0.02", "--strength", *law, "--load-steps", "4", "--backend", "serial", "-q", "--tolerance", "1e-8")
            self.assertEqual((run["status"], run["problem"]["held_dofs"]), ("converged", run["problem"]["dofs"]))
            steps = run["results"]["strength"]["steps"]
            self.assertEqual([step["residual"] for step in steps], [0] * 4)
            self.close(steps[0]["force"], -0.005 * 10000 * 9, 1e-6)
            self.assertLess(abs(steps[3]["force"]), 0.9 * 0.02 * 10000 * 9)

    def test_steps_that_are_longer_than_the_yield_strain(self):
        # The curve has its bend within a step: the chord across it was taken for the curve, 70 to 80 % too low.
        law = ("--strength", "drucker-prager", "--hardening", "0.05", "-q")
        fine = self.summary("bone", *CUBE, "--test", "axial", "--strain", "-0.02", "--load-steps", "40", *law)
        load = fine["results"]["strength"]["yield"]["force"]
        self.assertEqual(self.codes(fine), ["no-ultimate-load"])
        coarse = self.summary("bone", *CUBE, "--test", "axial", "--strain", "-0.06", "--load-steps", "4", *law)
        self.close(coarse["results"]["strength"]["yield"]["force"], load, 1e-4)  # the law is straight behind its bend
        self.assertEqual(self.codes(coarse), ["coarse-steps", "no-ultimate-load"])
        one = self.summary("bone", *CUBE, "--test", "axial", "--strain", "-0.02", "--load-steps", "1", *law)
        text = one["warnings"][0]["text"]
        least, most = (float(x) for x in re.search(r"between ([\d.]+) and ([\d.]+) N", text).groups())
        self.assertTrue(least < -load < most, text)
        self.assertNotIn("yield", one["results"]["strength"])  # no step behind the bend says more
        between = one["results"]["strength"]["yield_between"]
        self.close(between[0], least, 1e-2)
        self.close(between[1], most, 1e-2)

    def test_too_few_iterations_of_the_elastic_solve(self):
        run = self.summary("bone", *CUBE, "--test", "axial", "--strain", "-0.02", "--strength", "von-mises", "--max-iterations",
                           "1", "-q", code=NOT_CONVERGED)
        self.assertIn("raise --max-iterations", run["warnings"][0]["text"])

    def test_the_default_hardens_in_tension_too(self):
        """By 0.9 % of the modulus: the largest force is that of the last step, whatever the strain."""
        for strain, steps in (("0.02", "10"), ("0.08", "40")):
            run = self.summary("bone", *CUBE, "--test", "axial", "--strain", strain, "--strength", "drucker-prager",
                               "--load-steps", steps, "-q")
            self.assertTrue(run["results"]["strength"]["still_rises"])
            self.assertEqual([w["code"] for w in run["warnings"]], ["no-ultimate-load"])

    def test_porous_bone(self):
        test = ("bone", *POROUS, "--test", "axial", "--strain", "-0.02", "-q")
        strength = ("--strength", "drucker-prager", "--load-steps")
        run, elastic = self.summary(*test, *strength, "8"), self.summary(*test)
        steps = run["results"]["strength"]["steps"]
        self.close(steps[0]["force"], elastic["results"]["response"]["force"] / 8, 0.05)
        forces = [abs(step["force"]) for step in steps]
        self.assertEqual(forces, sorted(forces))
        self.assertLess(forces[-1], 0.9 * abs(elastic["results"]["response"]["force"]))
        self.assertLess(max(step["newton_iterations"] for step in steps), 12)
        self.close(steps[-1]["external_work"], steps[-1]["elastic_energy"] + steps[-1]["plastic_work"], 1e-4)
        for count, *options in ("8", "--precision", "double"), ("8", "--operator", "gather"), ("16",):
            other = self.summary(*test, *strength, count, *options)
            self.close(other["results"]["response"]["force"], steps[-1]["force"], 1e-5 if options else 0.01)

    def test_torsion_has_a_moment(self):
        run = self.summary("bone", "--generate", "cube", "--size", "6", "--test", "torsion", "--angle", "3",
                           "--strength", "von-mises", "--load-steps", "5", "--curve", "c.csv", "-q")
        strength = run["results"]["strength"]
        self.assertNotIn("yield", strength)
        self.close(strength["ultimate"]["moment"], run["results"]["response"]["moment"])
        self.close(strength["steps"][1]["angle"], 0.4 * run["results"]["response"]["angle"])
        self.assertEqual(rows_of(self.path("c.csv"))[0]["force"], "")

    def test_the_table_has_the_loads(self):
        text = self.ossatura("bone", *CUBE, "--test", "axial", "--strain", "-0.02", "--strength", "von-mises",
                             "--load-steps", "5").stdout
        for part in ("Strength", "yield load", "ultimate load", "still rising", "5 steps of 5"):
            self.assertIn(part, text)

    def test_a_cohort_has_the_loads_in_its_table(self):
        for name in ("a", "b"):
            hdf5_values.write(self.path(f"{name}.h5"), "Image_Data", BLOCK)
        self.ossatura("bone", "a.h5", "b.h5", "--test", "axial", "--strain", "-0.02", "--strength", "von-mises",
                      "--load-steps", "4", "-o", "out", "--no-hdf", "-q")
        table = rows_of(self.path("out/cohort.csv"))
        self.assertEqual(len(table), 2)
        self.assertLess(float(table[0]["ultimate_force"]), float(table[0]["yield_force"]))
        self.assertEqual(table[0]["still_rises"], "true")
        self.assertTrue(os.path.exists(self.path("out/b.curve.csv")))


class Damage(DriverCase):
    """Softening to nothing: a bar of voxels in closed form, and what is written of it."""
    TENSION, COMPRESSION, ENERGY, EDGE = 0.0033, 0.0081, 0.05, 0.5
    LAW = ("--strength", "damage", "--fracture-energy", ENERGY)

    def stress(self, strain, begin):
        """Of the largest strain so far; a crack is one voxel wide."""
        broken = 2 * self.ENERGY / (self.EDGE * E * self.TENSION ** 2)
        r = abs(strain) / begin
        return math.copysign(E * begin * (r if r < 1 else max(0, (broken - r) / (broken - 1))), strain)

    def test_a_cube_has_the_curve_of_its_law(self):
        """All voxels soften alike, for sides are free and the height is one voxel."""
        plate = ("--generate", "cube", "--size", "6,8,1", "--spacing", self.EDGE, "--modulus", E, "--poisson", NU,
                 "--lateral", "free", "--test", "axial", "-q")
        curves = {}
        for backend in driver_case.backends():
            for begin, end in ((self.TENSION, 0.03), (self.COMPRESSION, -0.06)):
                out = f"{backend}{end}"
                run = self.summary("bone", *plate, "--strain", end, *self.LAW, "--load-steps", "12", "-o", out, "--backend",
                                   backend, "--field-images", "nii")
                self.assertEqual(run["status"], "converged")
                self.assertTrue(run["certificate"]["passed"], run["certificate"])
                self.assertEqual(run["warnings"], [])
                strength = run["results"]["strength"]
                self.assertEqual((strength["criterion"], strength["fracture_energy"]), ("damage", self.ENERGY))
                rows = rows_of(self.path(f"{out}/cube.curve.csv"))
                curves[out] = [row["force"] for row in rows]
                for k, (row, step) in enumerate(zip(rows, strength["steps"]), 1):
                    force = self.stress(end * k / 12, begin) * AREA
                    self.close(step["force"], force, 2e-4, 1e-3 * E * begin * AREA)
                    for name in ("dissipated_energy", "damaged_fraction", "broken_fraction", "mean_damage", "residual"):
                        self.assertEqual(float(row[name]), step[name])
                    self.close(step["external_work"], step["elastic_energy"] + step["dissipated_energy"], 1e-5)
                    self.assertEqual(step["damaged_fraction"], abs(end) * k / 12 > begin)
                self.assertFalse(strength["still_rises"])
                self.assertEqual(strength["ultimate"]["force"], max((s["force"] for s in strength["steps"]), key=abs))
                damage = strength["steps"][-1]["mean_damage"]
                for value in (*hdf5_values.read(self.path(f"{out}/cube.hdf"), "VTKHDF/CellData/damage"),
                              *read_nifti(self.path(f"{out}/cube.damage.nii"))[2]):
                    self.close(value, damage, 1e-5)
        for end in "0.03", "-0.06":
            for one, other in zip(curves["serial" + end], curves.get("openmp" + end, curves["serial" + end])):
                self.close(float(one), float(other), 1e-8)

    def test_a_brittle_bone_drops_its_load(self):
        brittle = ("bone", *POROUS[:3], "14", *POROUS[4:], "--spacing", "0.06", "--modulus", "10000", "--test", "axial",
                   "--strain", "0.02", "--strength", "damage", "--fracture-energy", "0.05", "-q", "--backend", "serial")
        run = self.summary(*brittle, "--load-steps", "6")
        strength = run["results"]["strength"]
        self.assertEqual(run["status"], "converged")
        steps = strength["steps"]
        self.assertLess(steps[-1]["force"], 0.3 * strength["ultimate"]["force"])
        self.assertGreater(steps[-1]["broken_fraction"], 0)
        for step, later in zip(steps, steps[1:]):
            self.assertGreaterEqual(later["dissipated_energy"], step["dissipated_energy"])
            self.assertGreaterEqual(later["damaged_fraction"], step["damaged_fraction"])
        self.close(steps[-1]["external_work"], steps[-1]["elastic_energy"] + steps[-1]["dissipated_energy"], 1e-4)
        # It drops within a step, and more steps have a larger ultimate load.
        self.assertEqual([w["code"] for w in run["warnings"]], ["coarse-steps"])
        least, most = strength["ultimate_between"]
        fine = self.summary(*brittle, "--load-steps", "40")["results"]["strength"]
        self.assertEqual(least, strength["ultimate"]["force"])
        self.assertLess(least, fine["ultimate"]["force"])
        self.assertLess(fine["ultimate"]["force"], most)
        self.assertNotIn("ultimate_between", fine)
        once = self.summary(*brittle, "--load-steps", "1")["results"]["strength"]
        self.assertLess(once["ultimate_between"][0], 0.01 * fine["ultimate"]["force"])
        self.assertGreater(once["ultimate_between"][1], fine["ultimate"]["force"])
        text = self.ossatura("bone", *CUBE, "--test", "axial", "--strain", "0.002", *self.LAW, "--load-steps", "2").stdout
        for part in ("fracture energy 0.05 N/mm", "voxels with damage", "of which dissipated", "still rising"):
            self.assertIn(part, text)

    def test_a_foam_that_breaks_in_a_step(self):
        """Single precision is too coarse for what is left, and double takes over in the middle of a step, behind which damage may
        heal yet: such a step was never done."""
        bits = zlib.decompress(base64.b85decode(FOAM))
        head = ("ObjectType = Image\nNDims = 3\nDimSize = 24 22 22\nElementSpacing = 0.1 0.1 0.1\nElementType = MET_UCHAR\n"
                "ElementDataFile = LOCAL\n")
        self.write("foam.mha", head.encode() + bytes(byte >> bit & 1 for byte in bits for bit in range(7, -1, -1)))
        run = self.summary("bone", "foam.mha", "--law", "threshold", "--lower", "1", "--modulus", "10000", "--test", "axial", "--strain",
                           "-0.03", "--strength", "damage", "--fracture-energy", "0.0081675", "--load-steps", "2", "-q", "--backend",
                           "serial")
        steps = run["results"]["strength"]["steps"]
        self.assertEqual(len(steps), 2)
        for step in steps:
            self.assertLess(step["secant_iterations"], 100)
            self.assertEqual(step["halvings"], 0)
            self.assertGreater(step["broken_fraction"], 0)
        self.assertIn("the load drops within a step", " ".join(w["text"] for w in run["warnings"]))

    def test_what_makes_no_damage_is_refused(self):
        cube = ("bone", "--generate", "cube", "--size", "4")
        for message, *options in (
                ("needs --fracture-energy in N/mm", "--strength", "damage"),
                ("--fracture-energy has no effect without --strength damage", "--strength", "von-mises", "--fracture-energy", "1"),
                ("--hardening has no effect without --strength von-mises", *self.LAW, "--hardening", "0.1"),
                ("--checkpoint-every has no effect without --strength", "--checkpoint-every", "2"),
                ("needs --yield-stress-tension", *self.LAW, "--yield-stress", "9")):
            self.fails(USAGE, message, *cube, *options)
        process = self.fails(BAD_FILE, "give a larger one, smaller voxels", *cube, "--modulus", "17000", "--spacing", "0.6",
                             "--strength", "damage", "--fracture-energy", "0.05", "-q")
        self.assertTrue(process.stderr.startswith("ossatura: error: --fracture-energy 0.05: voxels of 0.6 mm"), process.stderr)


class Ends(DriverCase):
    def test_an_interrupted_run_writes_its_steps(self):
        self.interrupt(lambda line: "of step" in line, "bone", "--generate", "perlin", "--size", "24", "--feature",
                       "12", "--fraction", "0.4", "--largest-component", "--test", "axial", "--strain", "-0.02",
                       "--strength", "von-mises", "--load-steps", "1000", "-v", "-o", "out", "--json", "run.json")
        run = json.loads(self.read("out/run.json"))
        self.assertEqual(run["status"], "interrupted")
        steps = run["results"]["strength"]["steps"]
        self.assertGreaterEqual(len(steps), 2)
        self.assertLess(len(steps), 1000)
        self.assertEqual(len(rows_of(self.path("out/perlin.curve.csv"))), len(steps))
        self.close(run["results"]["response"]["force"], steps[-1]["force"], 1e-4)
        self.assertIn("perlin.hdf", os.listdir(self.path("out")))

    def test_a_step_that_fails_ends_the_run_with_those_before(self):
        run = self.summary("bone", *POROUS, "--test", "axial", "--strain", "-0.02", "--strength", "von-mises",
                           "--load-steps", "4", "--max-iterations", "2", "-q", code=NOT_CONVERGED)
        self.assertEqual(run["status"], "not converged")
        self.assertIn("not-converged", [w["code"] for w in run["warnings"]])
        self.assertEqual(run["results"]["strength"]["steps"], [])


class Checkpoints(DriverCase):
    BONE = ("bone", "--generate", "perlin", "--size", "14", "--feature", "7", "--fraction", "0.4", "--largest-component",
            "--test", "axial", "--strain", "-0.01", "--backend", "serial", "-q")

    def stopped(self, number, rows, out, *arguments):
        """Sends a signal to a run once its curve has so many rows."""
        process = subprocess.Popen([driver_case.EXECUTABLE, *arguments, "-o", out], cwd=self.directory.name,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(20000):
            try:
                if len(rows_of(self.path(f"{out}/perlin.curve.csv"))) >= rows:
                    break
            except FileNotFoundError:
                pass
            time.sleep(0.001)
        process.send_signal(number)
        return process.wait(timeout=60)

    def test_stopped_and_killed_runs_go_on_with_the_same_bits(self):
        for law, number, code in ((("von-mises", "--load-steps", "48"), signal.SIGTERM, STOPPED),
                                  (("damage", "--fracture-energy", "2", "--load-steps", "16"), signal.SIGKILL, -signal.SIGKILL)):
            run = (*self.BONE, "--strength", *law)
            whole = self.summary(*run, "-o", "whole", "--overwrite")
            ended = self.stopped(number, 5, law[0], *run, "--checkpoint", "c.ck", "--checkpoint-every", "2")
            self.assertEqual(ended, code)  # 0: it was over before the signal came
            again = self.summary(*run, "--resume", self.path(f"{law[0]}/c.ck"), "-o", law[0], "--overwrite")
            strength = again["results"]["strength"]
            self.assertGreaterEqual(strength.pop("first_step"), 4)
            self.assertEqual(whole["results"]["strength"].pop("first_step"), 0)
            self.assertEqual(strength, whole["results"]["strength"])
            self.assertEqual(again["results"]["solves"][0]["iterations"], whole["results"]["solves"][0]["iterations"])
            for name in ("response", "strain_energy", "sed", "von_mises", "reactions"):
                self.assertEqual(again["results"].get(name), whole["results"].get(name))
            self.assertEqual(self.read(f"{law[0]}/perlin.curve.csv"), self.read("whole/perlin.curve.csv"))
            self.assertIn("c.ck", json.dumps(again["provenance"]["inputs"]))
            self.assertTrue(again["certificate"]["passed"])

    def test_a_run_goes_farther(self):
        law = ("--strength", "drucker-prager")
        near = [*self.BONE, "--load-steps", "4"]
        self.summary(*near, *law, "--checkpoint", self.path("c.ck"))
        far = [{"4": "8", "-0.01": "-0.02"}.get(word, word) for word in near]
        whole = self.summary(*far, *law)["results"]
        more = self.summary(*far, *law, "--resume", self.path("c.ck"))["results"]
        self.assertEqual(more["strength"]["first_step"], 4)
        for one, other in zip(more["strength"]["steps"], whole["strength"]["steps"]):
            for name in ("factor", "strain", "force", "external_work", "plastic_work"):
                self.close(one[name], other[name], 1e-4, scale=1e-4 * abs(whole["strength"]["ultimate"]["force"]))
        for name in ("strain", "force"):
            self.close(more["strength"]["ultimate"][name], whole["strength"]["ultimate"][name], 1e-5)
            self.close(more["strength"]["yield"][name], whole["strength"]["yield"][name], 1e-5)
        for arguments, codes in (((), []), (("--tolerance", "1e-4"), ["resumed-otherwise"])):
            found = self.summary(*far, *law, "--resume", self.path("c.ck"), *arguments)["warnings"]
            self.assertEqual([w["code"] for w in found if w["code"] not in ("no-ultimate-load", "coarse-steps")], codes)
        self.assertIn("--tolerance 1e-06, and those from here on are with 0.0001", found[0]["text"])
        finer = ["80" if word == "8" else word for word in far]  # smaller steps from there on
        steps = self.summary(*finer, *law, "--resume", self.path("c.ck"))["results"]["strength"]["steps"]
        self.assertEqual(len(steps), 4 + 40)
        self.close(steps[-1]["force"], whole["strength"]["steps"][-1]["force"], 5e-3)

    def test_what_does_not_belong_together_is_refused(self):
        bone = ("bone", "--generate", "cube", "--size", "4", "-q")
        law = ("--strength", "von-mises")
        steps = ("--strain", "-0.02", "--load-steps", "2")
        self.ossatura(*bone, *law, *steps, "--checkpoint", self.path("c.ck"))
        resume = ("--resume", self.path("c.ck"))
        self.fails(BAD_FILE, "another bone", *bone[:4], "5", "-q", *law, *steps, *resume)
        self.fails(BAD_FILE, "another bone", *bone, "--modulus", "5000", *law, *steps, *resume)
        self.fails(BAD_FILE, "another bone", *bone, "--poisson", "0.29", *law, *steps, *resume)
        self.fails(BAD_FILE, "another bone", *bone, "--lateral", "free", *law, *steps, *resume)
        self.fails(BAD_FILE, "another law", *bone, *law, "--hardening", "0.1", *steps, *resume)
        self.fails(BAD_FILE, "no multiple", *bone, "--test", "shear-zx", *law, *steps, *resume)
        self.fails(USAGE, "go as far as this run would", *bone, *law, *steps, *resume)
        self.fails(USAGE, "--checkpoint", *bone, "--checkpoint", "c.ck")
        self.fails(USAGE, "--resume", *bone, *resume)
        self.fails(USAGE, "--checkpoint-every", *bone, *law, "--checkpoint-every", "2")
        with open(self.path("c.ck"), "r+b") as file:
            file.seek(5000)
            byte = file.read(1)
            file.seek(5000)
            file.write(bytes([byte[0] ^ 1]))
        self.fails(BAD_FILE, "is damaged", *bone, *law, "--strain", "-0.04", *resume)
        self.write("text.ck", "no checkpoint")
        self.fails(BAD_FILE, "is not an ossatura bone checkpoint", *bone, *law, "--resume", self.path("text.ck"))


def confined(modulus, poisson):
    """Modulus of a material that is strained along one axis alone."""
    return modulus * (1 - poisson) / ((1 + poisson) * (1 - 2 * poisson))


class Foreign(DriverCase):
    """Layers of bone in series with pads and caps, which stay elastic, without strain across the axis."""
    SHAPE, EDGE, CAP, PAD = (4, 3, 8), 0.5, (3000.0, 0.25), (20000.0, 0.1)

    def setUp(self):
        super().setUp()
        self.area = self.SHAPE[0] * self.SHAPE[1] * self.EDGE ** 2

    def run_of(self, bone, *arguments):
        """Of an image whose layers `bone` are bone, and whose others a pad, of no value."""
        places = [z for z in range(8) for _ in range(12)]
        image = self.write("layers.nii.gz", nifti_bytes(self.SHAPE, self.EDGE, "h", [100 if z in bone else -50 for z in places]))
        mask = self.write("seg.nii.gz", nifti_bytes(self.SHAPE, self.EDGE, "h", [1 if z in bone else 5 for z in places]))
        text = ["{}:{}".format(*material) for material in (self.CAP, self.PAD)]
        return self.summary("bone", image, "--mask", mask, "--law", "linear", "--slope", "10", "--lower", "1", "--poisson", NU,
                            "--pads", "5=" + text[1], "--cap", "upper=1:" + text[0], "--test", "confined", "-q", "--backend",
                            "serial", "--tolerance", "1e-8", *arguments)

    def compliance(self, num_pads):
        """Strain of all layers of caps and pads for a stress, in layers."""
        return 2 / confined(*self.CAP) + num_pads / confined(*self.PAD)

    def test_plastic_bone_between_them(self):
        run = self.run_of(range(2, 8), "--displacement", "-0.1", "--strength", "von-mises", "--yield-strain", "0.008",
                          "--hardening", "0", "--load-steps", "5", "-o", "out", "--fields", "all")
        bulk, stress_at_yield = E / (3 * (1 - 2 * NU)), 0.008 * E
        strain_at_yield, passed = stress_at_yield * (1 + NU) / E, 0
        for k, step in enumerate(run["results"]["strength"]["steps"], 1):
            layers = 0.1 * k / 5 / self.EDGE
            stress = layers / (6 / confined(E, NU) + self.compliance(2))
            yields = stress / confined(E, NU) > strain_at_yield
            if yields:
                stress = (layers + 6 * 2 / 3 * stress_at_yield / bulk) / (6 / bulk + self.compliance(2))
            self.close(step["force"], -stress * self.area, 1e-5)
            self.assertEqual(step["plastic_fraction"], float(yields))
            self.close(step["external_work"], step["elastic_energy"] + step["plastic_work"], 1e-4)
            passed += yields
        self.assertIn(passed, (2, 3, 4))
        self.close(run["results"]["von_mises"]["maximum"], stress_at_yield, 1e-4)
        self.assertEqual(run["results"]["von_mises"]["count"], 72)
        self.close(run["problem"]["modulus"]["maximum"], E)
        cap, plastic = (hdf5_values.read(self.path("out/layers.hdf"), f"VTKHDF/CellData/{name}")
                        for name in ("cap", "plastic_strain"))
        self.assertEqual([cap.count(kind) for kind in range(4)], [72, 0, 24, 24])
        self.assertTrue(all((value > 0) == (kind == 0) for kind, value in zip(cap, plastic)))

    def test_bone_that_breaks_between_them(self):
        tension, compression, broken = 0.0033, 0.0081, 40
        energy = broken * self.EDGE * E * tension ** 2 / 2
        run = self.run_of([4], "--displacement", "0.02", "--strength", "damage", "--fracture-energy", repr(energy),
                          "--load-steps", "8", "-o", "out", "--fields", "all")
        mu, bulk = E / (2 * (1 + NU)), E / (3 * (1 - 2 * NU))
        slope, strength = (compression - tension) / (compression + tension), 2 * E * compression * tension / (compression + tension)
        begin = strength / (2 * mu + 3 * bulk * slope)  # strain along the axis
        for k, step in enumerate(run["results"]["strength"]["steps"], 1):
            layers = 0.02 * k / 8 / self.EDGE
            low, high = 0.0, layers  # strain of the bone, of which that of the whole grows
            for _ in range(80):
                strain = 0.5 * (low + high)
                r = max(1, strain / begin)
                stress = max(0, broken / r - 1) / (broken - 1) * confined(E, NU) * strain
                low, high = (strain, high) if strain + stress * self.compliance(7) < layers else (low, strain)
            self.close(step["force"], stress * self.area, 1e-4)
            self.assertEqual(step["damaged_fraction"], float(r > 1))
        self.assertGreater(r, 2)
        cap, damage = (hdf5_values.read(self.path("out/layers.hdf"), f"VTKHDF/CellData/{name}") for name in ("cap", "damage"))
        self.assertTrue(all((value > 0.5) == (kind == 0) and (value == 0) == (kind != 0) for kind, value in zip(cap, damage)))

    def test_they_do_not_remodel(self):
        """Beside pads of the same ratio the density of the bone follows its own energy."""
        law = ["--coefficient", "3790", "--exponent", "3", "--remodel", "4", "--remodel-stimulus", "0.004", "--remodel-rate",
               "20", "--remodel-range", "0.05,1.74"]
        image = self.write("layers.nii.gz", nifti_bytes(self.SHAPE, self.EDGE, "h", [75] * 96))
        mask = self.write("seg.nii.gz", nifti_bytes(self.SHAPE, self.EDGE, "h", [5 if z < 3 else 1 for z in range(8)
                                                                              for _ in range(12)]))
        shared = ("bone", image, "--mask", mask, "--law", "power", "--slope", "0.01", "--poisson", "0", "--test", "file", "-q",
                  "--fix", "z-:xyz", "--force", "z+:z=-6", *law, "--backend", "serial", "--tolerance", "1e-10", "--precision",
                  "double")
        run = self.summary(*shared, "--pads", "5=2500", "-o", "out")
        rho, stress = 0.75, 6 / self.area
        for row in run["results"]["remodelling"]["steps"]:
            energy = stress ** 2 / (2 * 3790 * rho ** 3)
            self.close(row["mean_density"], rho, 1e-6)
            self.close(row["mass"], 1e-3 * rho * self.area * 5 * self.EDGE, 1e-6)
            self.close(row["strain_energy"], self.area * self.EDGE * (5 * energy + 3 * stress ** 2 / (2 * 2500)), 1e-5)
            rho += 20 * (energy / rho - 0.004)
        density = hdf5_values.read(self.path("out/layers.hdf"), "VTKHDF/CellData/density")
        self.assertEqual((density.count(0), sum(value > 0.05 for value in density)), (36, 60))
        capped = list(shared)
        capped[capped.index("file")] = "axial"
        del capped[capped.index("--fix"):capped.index("--fix") + 4]
        run = self.summary(*capped, "--pads", "5=2500", "--cap", "upper=1:800:0", "--displacement", "-0.008")
        rho = 0.75
        for row in run["results"]["remodelling"]["steps"]:
            stress = 0.008 / self.EDGE / (5 / (3790 * rho ** 3) + 3 / 2500 + 2 / 800)
            energy = stress ** 2 / (2 * 3790 * rho ** 3)
            self.close(row["mean_density"], rho, 1e-6)
            self.close(row["stiffness"], stress * self.area / 0.008, 1e-5)
            rho += 20 * (energy / rho - 0.004)
        self.fails(USAGE, "--remodel takes one Poisson's ratio: a pad has 0.2, and bone 0 (--poisson)", *shared, "--pads", "5=2500:0.2")
        self.fails(USAGE, "--label-laws has others", *shared, "--label-laws", "1=power")


class Refusals(DriverCase):
    def refused(self, message, *arguments):
        self.fails(USAGE, message, "bone", "--generate", "cube", "--size", "4", *arguments)

    def test_options_that_contradict(self):
        self.refused("--strength", "--hardening", "0.1")
        self.refused("--strength drucker-prager", "--strength", "von-mises", "--yield-strain-tension", "0.003")
        self.refused("from 0 to less than 1", "--strength", "von-mises", "--hardening", "1")
        self.refused("up to 3 times", "--strength", "drucker-prager", "--yield-strain-tension", "0.0027")
        self.refused("needs --yield-stress-tension", "--strength", "drucker-prager", "--yield-stress", "100")
        self.refused("leave one out", "--strength", "von-mises", "--yield-stress", "100", "--yield-strain", "0.01")
        self.refused("homogenise has six", "--strength", "von-mises", "--test", "homogenise")
        self.refused("--fix in place of --force", "--strength", "von-mises", "--fix", "z-:xyz", "--force", "z+:z=-1")
        self.refused("elastic test", "--strength", "von-mises", "--pistoia-strain", "0.01")
        self.refused("a strain and no per cent", "--strength", "von-mises", "--yield-offset", "0.2")
        self.refused("--load-steps", "--strength", "von-mises", "--load-steps", "0")
        self.refused("one process", "--strength", "von-mises", "--split", "model")
        self.refused("mises", "--strength", "mises")

    def test_a_unit_of_moduli_that_are_options(self):
        self.refused("those of options are in MPa", "--modulus-unit", "GPa", "--modulus", "17")
        self.fails(USAGE, "those of options are in MPa", "bone", "i.mha", "--law", "threshold", "--lower", "3", "--modulus",
                   "6.8", "--modulus-unit", "GPa")

    def test_loads_without_a_curve(self):
        self.refused("hold one side", "--strength", "von-mises", "--fix", "z-:xyz,z+:z=-0.1,x+:x=0.1")


class Remodelling(DriverCase):
    """Densities that follow the strain energy, against recursions by hand."""
    COEFFICIENT, EXPONENT, STIMULUS = 3790.0, 3.0, 0.004
    RANGE = (0.05, 1.74)
    LAW = ("--law", "power", "--coefficient", COEFFICIENT, "--exponent", EXPONENT, "--poisson", "0.3", "--backend", "serial",
           "-q", "--precision", "double", "--tolerance", "1e-10")

    def image(self, name, shape, value):
        nx, ny, nz = shape
        values = [value(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]
        self.write(name, struct.pack(f"<{len(values)}f", *values))
        return (name, "--shape", ",".join(map(str, shape)), "--type", "float32", "--spacing", "0.5")

    def options(self, steps, rate, lazy=0.0):
        return ("--remodel", steps, "--remodel-stimulus", self.STIMULUS, "--remodel-lazy", lazy, "--remodel-rate", rate,
                "--remodel-range", ",".join(map(str, self.RANGE)))

    def step(self, rho, energy, rate, lazy):
        stimulus, k = energy / rho, self.STIMULUS
        beyond = max(stimulus - (1 + lazy) * k, 0) + min(stimulus - (1 - lazy) * k, 0)
        return min(max(rho + rate * beyond, self.RANGE[0]), self.RANGE[1])

    def test_a_bar_under_a_force(self):
        """U = sigma^2 / 2 E in each step, and what is left is the density whose stimulus is that of the zone."""
        bar = self.image("bar.raw", (3, 3, 6), lambda x, y, z: 0.75)
        stress, area = -2.0, 1.5 ** 2
        load = ("--fix", "z-:z", "--fix", "0/0/0:xy", "--fix", "3/0/0:y", "--force", f"z+:z={stress * area}")
        for lazy in 0.0, 0.2:
            run = self.summary("bone", *bar, *self.LAW, *load, *self.options(60, 20, lazy), "-o", "out", "--overwrite",
                               "--field-images", "nii", "--fields", "modulus")
            rows = run["results"]["remodelling"]["steps"]
            self.assertEqual(len(rows), 61)
            rho = 0.75
            for row in rows:
                modulus = self.COEFFICIENT * rho ** self.EXPONENT
                self.close(row["mean_density"], rho, 1e-6)
                self.close(row["mass"], 1e-3 * rho * area * 3, 1e-6)
                self.close(row["strain_energy"], stress ** 2 / (2 * modulus) * area * 3, 1e-5)
                later = self.step(rho, stress ** 2 / (2 * modulus), 20, lazy)
                self.assertAlmostEqual(row["mean_change"], abs(later - rho), delta=1e-7)
                rho = later
            edge = (1 + lazy if stress ** 2 / (2 * self.COEFFICIENT * 0.75 ** 4) > self.STIMULUS else 1 - lazy) * self.STIMULUS
            final = (stress ** 2 / (2 * self.COEFFICIENT * edge)) ** (1 / (self.EXPONENT + 1))
            self.close(rows[-1]["mean_density"], final, 1e-3)
            self.assertEqual(run["status"], "converged")
            for field, wanted in (("density", rho), ("modulus", self.COEFFICIENT * rho ** self.EXPONENT)):
                for value in read_nifti(self.path(f"out/bar.{field}.nii"))[2]:
                    self.close(value, wanted, 1e-5)
            for value in hdf5_values.read(self.path("out/bar.hdf"), "VTKHDF/CellData/density"):
                self.close(value, rho, 1e-6)
            table = rows_of(self.path("out/bar.remodelling.csv"))
            self.assertEqual([float(row["mass"]) for row in table], [row["mass"] for row in rows])

    def test_a_stimulus_in_another_unit(self):
        """Of 4 J/kg as 4 J/g all bone resorbs; of a thousandth all forms."""
        bar = self.image("bar.raw", (2, 2, 3), lambda x, y, z: 0.75)
        for stimulus, codes, end in ((4, ["odd-stimulus"], "least"), (4e-6, ["odd-stimulus"], "largest"), (0.0011, [], "")):
            run = self.summary("bone", *bar, *self.LAW, "--lower", "0.1", "--test", "uniaxial", "--strain", "0.001", "--remodel", "30",
                               "--remodel-stimulus", stimulus, "--remodel-lazy", "0.5", "--remodel-rate", 20, "--remodel-range", "0.05,1.74")
            self.assertEqual([w["code"] for w in run["warnings"]], codes)
            if codes:
                self.assertIn(f"all bone has the {end} density", run["warnings"][0]["text"])

    def test_a_rate_beyond_which_densities_swing(self):
        """d change / d density is -rate 4 k / 0.603 where the bar is at rest, so that rates of up to 75 settle."""
        bar = self.image("bar.raw", (2, 2, 3), lambda x, y, z: 0.75)
        load = ("--fix", "z-:z", "--fix", "0/0/0:xy", "--fix", "2/0/0:y", "--force", "z+:z=-2")
        for rate, steps, swings in ((5, 40, False), (50, 12, False), (70, 40, False), (70, 12, False), (90, 40, True), (150, 40, True),
                                    (400, 8, True), (5000, 40, True)):
            with self.subTest(rate=rate, steps=steps):
                run = self.summary("bone", *bar, *self.LAW, "--lower", "0.1", *load, *self.options(steps, rate))
                self.assertEqual([w["code"] for w in run["warnings"]], ["density-swings"] if swings else [])
                if swings:
                    self.assertIn(f"do not settle, so that the last state is one of many: --remodel-rate {rate} is too large",
                                  run["warnings"][0]["text"])

    def test_columns_under_a_displacement(self):
        """Bone that is dense takes more energy by mass, and the other is resorbed down to the bound."""
        pair = self.image("pair.raw", (4, 2, 4), lambda x, y, z: 1.2 if x < 2 else 0.5)
        strain, rate, law = 0.0018, 8.0, list(self.LAW)
        law[law.index("--poisson") + 1] = "0"
        run = self.summary("bone", *pair, *law, "--test", "confined", "--strain", -strain, *self.options(12, rate, 0.1))
        densities = [1.2, 0.5]
        for row in run["results"]["remodelling"]["steps"]:
            later = [self.step(rho, self.COEFFICIENT * rho ** self.EXPONENT * strain ** 2 / 2, rate, 0.1) for rho in densities]
            self.close(row["mean_density"], sum(densities) / 2, 1e-5)
            self.assertEqual(row["forming"], sum(a > b for a, b in zip(later, densities)) / 2)
            self.assertEqual(row["resorbing"], sum(a < b for a, b in zip(later, densities)) / 2)
            self.assertEqual(row["at_most"], sum(rho >= self.RANGE[1] for rho in densities) / 2)
            densities = later
        self.assertEqual((row["at_most"], row["resorbing"] > 0), (0.5, True))

    def test_the_last_state_is_that_of_a_run_of_its_own(self):
        block = self.image("block.raw", (6, 6, 8), lambda x, y, z: 0.5 + 0.6 * ((x * 7 + y * 5 + z * 3) % 11) / 10)
        run = self.summary("bone", *block, *self.LAW, "--test", "axial", "--strain", "-0.003", *self.options(6, 4), "-o", "out",
                           "--field-images", "nii", "--fields", "modulus,sed")
        rows, response = run["results"]["remodelling"]["steps"], run["results"]["response"]
        alone = self.summary("bone", "out/block.modulus.nii", "--law", "modulus", *self.LAW[6:], "--test", "axial", "--strain",
                             "-0.003")["results"]
        self.close(response["stiffness"], alone["response"]["stiffness"], 1e-7)
        self.assertEqual(rows[-1]["stiffness"], response["stiffness"])
        self.close(run["results"]["strain_energy"], alone["strain_energy"], 1e-7)
        self.assertNotEqual(rows[0]["stiffness"], rows[-1]["stiffness"])
        self.assertLess(rows[-1]["iterations"], rows[0]["iterations"])  # from where the step before ended
        self.assertIn("Remodelling", self.ossatura("bone", *block, *self.LAW, "--test", "axial", *self.options(2, 4)).stdout)

    def test_what_makes_no_remodelling_is_refused(self):
        bar = self.image("bar.raw", (2, 2, 2), lambda x, y, z: 0.75)
        full = self.options(3, 2)
        for message, *arguments in (
                ("--remodel needs --remodel-rate", "--remodel", 3, "--remodel-stimulus", 1, "--remodel-range", "0.1,1"),
                ("--remodel-lazy has no effect without --remodel", "--remodel-lazy", "0.1"),
                ("--remodel-lazy 1: a part", *self.options(3, 2, 1)),
                ("in g/cm3 for each J/g", *self.options(3, -2)),
                ("densities in g/cm3, greater than 0 and in order", *full[:-1], "1,0.5"),
                ("expected MIN,MAX", *full[:-1], "1"),
                ("has six", *full, "--test", "homogenise"), ("leave one out", *full, "--strength", "von-mises"),
                ("0 to 100000", *full[2:], "--remodel", "-1")):
            self.fails(USAGE, message, "bone", *bar, *self.LAW, *arguments)
        self.fails(USAGE, "--law power alone", "bone", *bar, "--law", "modulus", *full)
        hdf5_values.write(self.path("bone.h5"), "Image_Data", {
            "Image": ((2, 2, 2), [0.75] * 8), "Voxelsize": ((), [0.5]), "Poisons_ratio_Image": ((2, 2, 2), [0.2, 0.3] * 4)})
        self.fails(BAD_FILE, "has a Poisson's ratio for each voxel", "bone", "bone.h5", "--test", "axial", *self.LAW[:6], *full, "-q")


if __name__ == "__main__":
    driver_case.main()
