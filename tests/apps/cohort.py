# SPDX-License-Identifier: Apache-2.0
"""Several inputs of one command: each has the results of a run of its own, and all a table."""
import csv
import json
import os
import re
import signal
import subprocess

from support import driver_case
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, STOPPED, USAGE, DriverCase
from support.specimens import SPECIMENS, write_specimen

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "softbody")
TEST = ("--law", "threshold", "--lower", "1", "--backend", "serial")


class Cohort(DriverCase):
    def specimens(self, *names):
        return [write_specimen(self.path(name), size) for name, size in zip(names, SPECIMENS)]

    def table(self, name="out/cohort.csv"):
        with open(self.path(name), newline="") as file:
            return list(csv.DictReader(file))

    def member(self, name, folder="out"):
        return json.loads(self.read(f"{folder}/{name}.summary.json"))

    def statuses(self):
        return [(row["status"], row["exit_code"]) for row in self.table()]


class Bone(Cohort):
    def test_each_has_the_results_of_its_own_run_and_the_table_shows_them(self):
        inputs = self.specimens("a.mhd", "b.mhd", "c.mhd")
        done = self.ossatura("bone", *inputs, *TEST, "-o", "out", "--json", "cohort.json")
        self.assertEqual([line for line in done.stderr.splitlines() if "converged after" in line][1]
                         .split(" after")[0], "2 of 3, b: converged")
        table = self.table()
        self.assertEqual([row["specimen"] for row in table], ["a", "b", "c"])
        for path, row in zip(inputs, table):
            name = row["specimen"]
            self.ossatura("bone", path, *TEST, "-o", "alone", "-q")
            mine, alone = self.member(name), self.member(name, "alone")
            for part in ("status", "warnings", "problem", "iterations", "residual"):
                self.assertEqual(mine[part], alone[part])
            self.assertEqual(mine["results"]["response"], alone["results"]["response"])
            self.assertEqual(mine["parameters"]["input"], path)
            self.assertEqual([file["bytes"] for file in mine["certificate"]["files"]],
                             [os.path.getsize(self.path(f"out/{name}.hdf"))])
            for column, value in (
                    ("input", path), ("status", "converged"), ("exit_code", "0"), ("error", ""),
                    ("stiffness", alone["results"]["response"]["stiffness"]),
                    ("failure_force", alone["results"]["pistoia"]["force"]),
                    ("von_mises_maximum", alone["results"]["von_mises"]["maximum"]),
                    ("volume_fraction", alone["problem"]["volume_fraction"])):
                self.assertEqual(row[column] if isinstance(value, str) else float(row[column]),
                                 value, column)
            self.assertRegex(done.stdout, rf"(?m)^  {name}  converged ")
        cohort = json.loads(self.read("out/cohort.json"))
        self.assertEqual((cohort["schema"], cohort["status"]), ("ossatura/bone-cohort/1", "done"))
        self.assertEqual([(member["name"], str(member["values"]["stiffness"]))
                          for member in cohort["members"]],
                         [(row["specimen"], row["stiffness"]) for row in table])

    def test_the_stiffness_of_each_is_in_the_table(self):
        inputs = self.specimens("a.mhd", "b.mhd")
        self.ossatura("bone", *inputs, *TEST, "--test", "homogenise", "-o", "out", "-q")
        for row in self.table():
            found = self.member(row["specimen"])["results"]["homogenised"]
            self.assertEqual(float(row["young_y"]), found["engineering"]["young"][1])
            self.assertEqual(float(row["shear_zx"]), found["engineering"]["shear"][2])
            self.assertEqual(float(row["poisson_zy"]), found["engineering"]["poisson"][2][1])
            self.assertEqual(float(row["stiffness_yy_zx"]), found["stiffness"][1][5])
            self.assertNotIn("stiffness", row)

    def test_memory_and_times_are_a_members_own(self):
        big = write_specimen(self.path("big.mhd"), 64)
        small = write_specimen(self.path("small.mhd"), 16)
        self.ossatura("bone", big, small, *TEST, "-o", "out", "--no-hdf", "-q")
        big, small = self.member("big"), self.member("small")
        self.assertLess(small["memory"]["kokkos_peak_bytes"], big["memory"]["kokkos_peak_bytes"] / 8)
        for member in big, small:
            self.assertTrue(all(region["calls"] == 1 for region in member["timings"]["regions"]
                                if region["name"] == "ossatura::bone::input"))

    def test_one_that_fails_does_not_end_the_others(self):
        first, last = self.specimens("first.mhd", "last.mhd")
        bad = write_specimen(self.path("bad,one.mhd"), 8)
        os.truncate(bad.replace(".mhd", ".raw"), 100)
        void = write_specimen(self.path("void.mhd"), 8, values=bytes(8 ** 3))
        done = self.ossatura("bone", first, bad, void, last, *TEST, "-o", "out", code=BAD_FILE)
        self.assertEqual(self.statuses(), [("converged", "0"), ("failed", "5"), ("failed", "5"),
                                           ("converged", "0")])
        table = self.table()
        self.assertIn("100 bytes", table[1]["error"])
        self.assertEqual((table[1]["specimen"], table[1]["stiffness"]), ("bad,one", ""))
        self.assertIn("no voxel is bone", table[2]["error"])
        self.assertIn(f"ossatura: error: void: {table[2]['error']}", done.stderr)
        self.assertEqual(done.stderr.count("error: "), 2)
        self.assertEqual(sorted(name for name in os.listdir(self.path("out")) if "." in name[1:]),
                         ["cohort.csv", "cohort.summary.json", "first.hdf", "first.summary.json",
                          "last.hdf", "last.summary.json"])

    def test_one_that_does_not_converge_says_so(self):
        easy = write_specimen(self.path("easy.mhd"), 2, values=bytes([1]) * 8)
        hard, = self.specimens("hard.mhd")
        done = self.ossatura("bone", easy, hard, *TEST, "--max-iterations", "3", "-o", "out",
                             code=NOT_CONVERGED)
        self.assertEqual(self.statuses(), [("converged", "0"), ("not converged", "3")])
        self.assertIn("warning: hard: load axial: not converged", done.stderr)
        self.assertEqual(self.member("easy")["warnings"], [])
        self.assertEqual([w["code"] for w in self.member("hard")["warnings"]], ["not-converged"])

    def test_what_is_complete_is_skipped_until_something_changes(self):
        inputs = self.specimens("a.mhd", "b.mhd", "c.mhd")
        run = ("bone", *inputs, *TEST, "-o", "out")

        def again(*options, count, arguments=run):
            done = self.ossatura(*arguments, "--skip-complete", *options)
            self.assertEqual(len(re.findall("converged before", done.stderr)), count, done.stderr)
            self.assertEqual([row["status"] for row in self.table()], ["converged"] * 3)

        again(count=0)
        table = self.read("out/cohort.csv")
        again(count=3)
        self.assertEqual(self.read("out/cohort.csv"), table)
        os.remove(self.path("out/b.hdf"))
        again(count=2)
        with open(self.path("out/c.hdf"), "r+b") as file:
            file.seek(3000)
            file.write(b"?")
        again(count=2)
        write_specimen(self.path("a.mhd"), 20)
        again("--overwrite", count=2)
        self.assertNotEqual(self.read("out/cohort.csv"), table)
        with open(self.path("b.raw"), "r+b") as file:  # beside a header that stays
            file.write(bytes(40))
        again("--overwrite", count=2)
        for content in ("{", "[]", '{"schema": "ossatura/bone/1", "status": "converged", "parameters": 3}'):
            self.write("out/a.summary.json", content)
            again("--overwrite", count=2)
        again("--tolerance", "1e-8", count=0)
        again("--tolerance", "1e-8", "--json", "j.json", count=3)
        self.write("loads.csv", "8,8,16,z,-1\n")
        loads = (*run, "--test", "file", "--fix", "z-:xyz", "--force-file", self.path("loads.csv"), "--no-hdf")
        again("--overwrite", count=0, arguments=loads)
        again(count=3, arguments=loads)
        self.write("loads.csv", "8,8,16,z,-2\n")
        again(count=0, arguments=loads)

    def test_a_signal_stops_between_two_iterations_and_the_table_says_what_is_not_done(self):
        first, = self.specimens("first.mhd")
        large = [write_specimen(self.path(name), 48) for name in ("second.mhd", "third.mhd")]
        arguments = ("bone", first, *large, *TEST, "--tolerance", "1e-12", "--precision", "double",
                     "--no-hdf", "-v", "-o", "out")
        process = subprocess.Popen([driver_case.EXECUTABLE, *arguments], cwd=self.directory.name,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with process.stderr as log:
            next(line for line in log if line.startswith("second: "))  # its problem is made
            process.send_signal(signal.SIGTERM)
            text = log.read()
        self.assertEqual(process.wait(timeout=60), STOPPED)
        self.assertIn("warning: second: load axial: stopped by a signal", text)
        self.assertEqual(self.statuses(), [("converged", "0"), ("interrupted", "75"),
                                           ("not run", "75")])
        self.assertFalse(os.path.exists(self.path("out/third.summary.json")))
        done = self.ossatura(*arguments, "--skip-complete")
        self.assertEqual(self.statuses(), [("converged", "0")] * 3)
        self.assertIn("first: converged before", done.stderr)

    def test_a_killed_run_leaves_the_table_of_what_it_did(self):
        first, = self.specimens("first.mhd")
        large = write_specimen(self.path("second.mhd"), 72)
        process = subprocess.Popen([driver_case.EXECUTABLE, "bone", first, large, *TEST, "--tolerance",
                                    "1e-12", "--no-hdf", "-v", "-o", "out"], cwd=self.directory.name,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with process.stderr as log:
            next(line for line in log if line.startswith("second: "))
            process.kill()
        process.wait(timeout=60)
        self.assertEqual(self.statuses(), [("converged", "0"), ("not run", "75")])

    def test_names_that_are_the_same_have_the_folder_before_them(self):
        inputs = []
        for folder in ("P001", "P002"):
            os.mkdir(self.path(folder))
            inputs += self.specimens(f"{folder}/scan.mhd")
        inputs += self.specimens("other.mhd")
        self.ossatura("bone", *inputs, *TEST, "-o", "out", "--no-hdf", "-q")
        self.assertEqual([row["specimen"] for row in self.table()],
                         ["P001-scan", "P002-scan", "other"])
        self.member("P002-scan")
        self.fails(USAGE, "P001/scan.mhd: is given twice", "bone", inputs[0], inputs[0], *TEST, "-q")
        for site in ("bern", "basel"):
            os.makedirs(self.path(f"{site}/P001"))
        sites = self.specimens("bern/P001/scan.mhd", "basel/P001/scan.mhd")
        self.ossatura("bone", *sites, "other.mhd", *TEST, "-o", "sites", "--no-hdf", "-q")
        with open(self.path("sites/cohort.csv")) as file:
            self.assertEqual([row["specimen"] for row in csv.DictReader(file)],
                             ["bern-P001-scan", "basel-P001-scan", "other"])
        self.specimens("bern-P001-scan.mhd")
        self.fails(USAGE, "would both be called 'bern-P001-scan'", "bone", *sites, "bern-P001-scan.mhd", *TEST, "-q")

    def test_a_mask_is_of_one_specimen(self):
        """Scans that are called alike, in a folder for each: the * is the folder, never one mask for two scans."""
        inputs = []
        for folder in ("P1", "P2", "bern/P1", "basel/P1"):
            os.makedirs(self.path(folder))
            inputs.append(write_specimen(self.path(f"{folder}/scan.mhd"), 16))
            planes = 8 if folder == "P1" else 12
            write_specimen(self.path(f"{folder}/seg.mhd"), 16, bytes(16 * 16 * planes * [1] + 16 * 16 * (16 - planes) * [0]))
        self.ossatura("bone", *inputs[:2], *TEST, "--mask", "*/seg.mhd", "-o", "out", "--no-hdf", "-q")
        volumes = [float(row["bone_volume"]) for row in self.table()]
        for path, folder, volume in zip(inputs, ("P1", "P2"), volumes):
            alone = self.summary("bone", path, *TEST, "--mask", f"{folder}/seg.mhd", "-q")
            self.assertEqual(alone["problem"]["bone_volume"], volume)
        self.assertLess(volumes[0], volumes[1])
        for name in ("scan-seg.mhd", "seg.raw"):  # what both would have had by their own name
            os.rename(self.path("P1/" + name.replace("scan-", "")), self.path(name))
        failed = self.ossatura("bone", *inputs[:2], *TEST, "--mask", "*-seg.mhd", "-q", code=BAD_FILE)
        for folder in ("P1", "P2"):
            self.assertIn(f"{folder}-seg.mhd: there is no such file", failed.stderr)
        self.fails(USAGE, "P1/seg.mhd would be of both", "bone", *inputs[2:], *TEST, "--mask", "*/seg.mhd", "-q")
        self.ossatura("bone", inputs[0], *TEST, "--mask", "*-seg.mhd", "-q")

    def test_a_dry_run_predicts_each(self):
        inputs = self.specimens("a.mhd", "b.mhd")
        done = self.ossatura("bone", *inputs, *TEST, "--dry-run", "-o", "out")
        self.assertRegex(done.stdout, r"(?m)^  b  dry run .* MB$")
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["a.dry-run.json", "b.dry-run.json", "cohort.dry-run.json"])

    def test_without_a_folder_there_is_the_table_alone(self):
        inputs = self.specimens("a.mhd", "b.mhd")
        before = self.files()
        summary = self.summary("bone", *inputs, *TEST)
        self.assertEqual([member["status"] for member in summary["members"]], ["converged"] * 2)
        self.assertEqual(self.files(), before)

    def test_what_is_of_one_input_is_refused(self):
        inputs = self.specimens("a.mhd", "b.mhd")
        for option, value in (("--hdf", "x.hdf"), ("--parosol-output", "x.h5"), ("--history", "x.csv")):
            self.fails(USAGE, f"{option} is of one input, and there are 2", "bone", *inputs, *TEST,
                       option, value)
        self.fails(USAGE, "--skip-complete has no effect without --output-dir", "bone", *inputs, *TEST,
                   "--skip-complete")
        self.fails(USAGE, "--split inputs divides several inputs", "bone", inputs[0], *TEST, "--split",
                   "inputs")
        self.fails(BAD_FILE, "none.mhd: there is no such file", "bone", inputs[0], "none.mhd", *TEST,
                   "-q", "-o", "out")
        self.assertFalse(os.path.exists(self.path("out/a.summary.json")))
        os.rename(inputs[0], self.path("cohort.mhd"))
        self.fails(USAGE, "give its file another name", "bone", self.path("cohort.mhd"), inputs[1],
                   *TEST, "-q")

    def test_results_of_others_are_not_replaced(self):
        inputs = self.specimens("a.mhd", "b.mhd", "c.mhd")
        self.ossatura("bone", *inputs[:2], *TEST, "-o", "out", "--no-hdf", "-q")
        self.fails(USAGE, "out/cohort.summary.json: is of another input", "bone", inputs[2], inputs[1],
                   *TEST, "-o", "out", "--no-hdf", "-q")
        self.ossatura("bone", *inputs, *TEST, "-o", "out", "--no-hdf", "-q")
        os.mkdir(self.path("elsewhere"))
        other = write_specimen(self.path("elsewhere/a.mhd"), 12)
        done = self.ossatura("bone", inputs[1], other, *TEST, "-o", "out", "--overwrite", "--no-hdf",
                             "-q", code=DONE)
        self.assertEqual(done.stderr, "")


class Softbody(Cohort):
    def test_scenes_in_one_run(self):
        scenes = [os.path.join(SCENES, name) for name in ("cloth.json", "pile.json")]
        run = ("softbody", *scenes, "--steps", "2", "--backend", "serial", "--no-hdf", "-q")
        self.ossatura(*run, "-o", "out")
        for row in self.table():
            self.ossatura("softbody", row["input"], *run[3:], "-o", "alone")
            alone = self.member(row["scene"], "alone")
            self.assertEqual(row["state_hash"], alone["results"]["state_hash"])
            self.assertEqual(row["status"], "converged")
            for folder in ("out", "alone"):
                self.assertEqual(len(self.read(f"{folder}/{row['scene']}.csv").splitlines()), 4)
        done = self.ossatura(*run[:-1], "-o", "out", "--skip-complete")
        self.assertEqual(done.stderr.count("converged before"), 2)
        self.fails(USAGE, "--checkpoint is of one input", *run, "--checkpoint", "x.h5")


if __name__ == "__main__":
    driver_case.main()
