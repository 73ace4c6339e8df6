# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` with the slices of a DICOM series: the same image as NIfTI, and folders that make none."""
import math
import os
import re
import resource
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support import driver_case
from support.dicom import IMPLICIT, JPEG_2000, REPORT, RLE, dicom_slice, element
from support.driver_case import BAD_FILE, DONE, UNAVAILABLE, USAGE, DriverCase
from support.specimens import nifti_bytes, read_nifti

SHAPE, EDGE = (7, 6, 5), 0.5
FIRST = (12.5, -30.0, 100.25)  # centre of the first voxel, LPS
A = 0.4
ROWS = (math.cos(A), math.sin(A), 0.0)
COLUMNS = (-math.sin(A) * math.cos(A), math.cos(A) * math.cos(A), math.sin(A))
NORMAL = tuple(ROWS[(i + 1) % 3] * COLUMNS[(i + 2) % 3] - ROWS[(i + 2) % 3] * COLUMNS[(i + 1) % 3] for i in range(3))
LAW = ("--law", "linear", "--slope", "10", "--lower", "1", "--backend", "serial", "-q")
NAMES = ("e", "b", "d", "a", "c")  # of slices, from below: not in their order


def grey(x, y, z):
    return 900 + (7 * x + 5 * y + 3 * z) % 97


def grid(value=grey, shape=SHAPE):
    return [[value(x, y, z) for y in range(shape[1]) for x in range(shape[0])] for z in range(shape[2])]


class Series(DriverCase):
    def setUp(self):
        super().setUp()
        rows = [(s * EDGE * ROWS[i], s * EDGE * COLUMNS[i], s * EDGE * NORMAL[i], s * FIRST[i])
                for i, s in enumerate((-1, -1, 1))]
        self.nifti = self.write("ct.nii.gz", nifti_bytes(SHAPE, EDGE, "h", sum(grid(), []), rows))
        self.mask = self.write("seg.nii.gz", nifti_bytes(
            SHAPE, EDGE, "h", sum(grid(lambda x, y, z: 1 + (x > 2) if y > 0 else 0), []), rows))
        version = self.ossatura("bone", self.slice_file("probe/a.dcm", 0), *LAW, code=BAD_FILE).stderr
        if "which this build does not read" in version:
            self.assertIn("libgdcm-dev", version)
            self.assertIn("dcm2niix", version)
            self.skipTest("a build without GDCM")
        shutil.rmtree(self.path("probe"))

    def slice_file(self, name, z, values=None, **more):
        """One slice of the image; what is said replaces what it has otherwise."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        slope, intercept = more.get("slope", 1), more.get("intercept", 0)
        pixels = [round((v - intercept) / slope) for v in values or grid()[z % SHAPE[2]]]
        more = {"position": [FIRST[i] + EDGE * z * NORMAL[i] for i in range(3)], "rows_along": ROWS,
                "columns_along": COLUMNS, "spacing": (EDGE, EDGE), "columns": SHAPE[0], "unit": "MGHA", **more}
        return self.write(name, dicom_slice(pixels, **more))

    def series(self, folder="CT", count=SHAPE[2], of=None, **more):
        """All slices into a folder; `of` gives what is different in slice z."""
        for z in range(count):
            self.slice_file(f"{folder}/{NAMES[z % 5]}{z}.dcm", z, **{**more, **(of(z) if of else {})})
        return self.path(folder)

    def run_of(self, *arguments):
        return self.summary("bone", *arguments, *LAW)

    def refused(self, message, folder=None, *arguments):
        process = self.fails(BAD_FILE, message, "bone", folder or self.path("CT"), *arguments, *LAW)
        self.assertLess(len(process.stderr), 1500)


class Reading(Series):
    def test_a_series_is_what_nifti_is(self):
        """Forces, fields and their place in the world; files are in no order of their names."""
        nifti = self.run_of(self.nifti, "--mask", self.mask, "--field-images", "nii.gz", "-o", "n")
        dicom = self.run_of(self.series(), "--mask", self.mask, "--field-images", "nii.gz", "-o", "d")
        self.assertEqual(dicom["results"]["response"], nifti["results"]["response"])
        self.assertEqual(dicom["results"]["labels"], nifti["results"]["labels"])
        self.assertEqual((dicom["problem"]["world"], nifti["problem"]["world"]), ("LPS", "RAS"))
        for i, sign in enumerate((-1, -1, 1)):
            self.close(sign * dicom["problem"]["origin"][i], nifti["problem"]["origin"][i], 1e-6, 10)
            for d in range(3):
                self.close(sign * dicom["problem"]["direction"][i][d], nifti["problem"]["direction"][i][d], 1e-6, 1)
        ours, its = read_nifti(self.path("d/CT.sed.nii.gz")), read_nifti(self.path("n/ct.sed.nii.gz"))
        self.assertEqual((ours[0], ours[2]), (its[0], its[2]))
        for mine, row in zip(ours[1], its[1]):
            for a, b in zip(mine, row):
                self.close(a, b, 1e-5, 10)
        self.assertEqual([os.path.basename(one["path"]) for one in dicom["provenance"]["inputs"]],
                         [f"{NAMES[z]}{z}.dcm" for z in range(5)] + ["seg.nii.gz"])
        self.assertEqual(len(dicom["certificate"]["inputs"]), 6)

    def test_every_kind_of_values(self):
        expected = self.run_of(self.nifti)["results"]["response"]
        kinds = [{"syntax": IMPLICIT, "signed": False}, {"syntax": RLE, "intercept": 1000}, {"stored": 12, "intercept": 1024},
                 {"bits": 32, "intercept": 7000}, {"signed": False, "stored": 12, "syntax": RLE},
                 {"bits": 8, "signed": False, "intercept": 850}, {"bits": 8, "intercept": 940}]
        for number, kind in enumerate(kinds):
            folder = self.series(f"kind{number}", of=lambda z: {"slope": (1, 0.5, 0.25)[z % 3] if number < 4 else 1, **kind})
            self.assertEqual(self.run_of(folder)["results"]["response"], expected, kind)

    def test_slices_say_their_series(self):
        expected = self.run_of(self.series())["results"]["response"]
        self.series(series="1.2.9", description="Lung", of=lambda z: {"values": [1000 + z] * 42}, count=4)
        self.slice_file("CT/scout.dcm", 0, kind=("ORIGINAL", "PRIMARY", "LOCALIZER"), series="1.2.3")
        self.write("CT/report.dcm", dicom_slice([0], 1, None, place=False, image=False, of=REPORT))
        self.write("CT/notes.txt", "of the study")
        self.series(series="1.2.3")  # the files of four slices again
        self.series("CT", series="1.2.9", description="Lung", count=0)
        for z in range(4):
            self.slice_file(f"CT/other{z}", z, [1000 + z] * 42, series="1.2.9", description="Lung", number="7")
        self.refused("CT: has 2 series; choose one with --series UID, or give a slice of it in place of the folder:\n  1.2.3: 5 images, number 4\n"
                     "  1.2.9: 4 images, number 7, 'Lung'")
        for choice in ("CT/a3.dcm",), ("CT", "--series", "1.2.3"), ("CT/", "--series", "1.2.3"), \
                ("CT/other0", "--series", "1.2.3"):
            run = self.run_of(self.path(choice[0]), *choice[1:])
            self.assertEqual(run["results"]["response"], expected)
            self.assertEqual([w["code"] for w in run["warnings"]], ["files-left-out"])
            self.assertIn("7 files are left out", run["warnings"][0]["text"])
        other = self.run_of(self.path("CT/other2"))
        self.assertEqual(other["problem"]["image_shape"] if "image_shape" in other["problem"] else [7, 6, 4], [7, 6, 4])
        self.assertNotEqual(other["results"]["response"], expected)
        self.refused("has no series 1.2.4 of slices; there is\n  1.2.3: 5 images", None, "--series", "1.2.4")
        self.fails(USAGE, "--series is for DICOM", "bone", self.nifti, "--series", "1.2.3", *LAW)
        self.fails(USAGE, "--series", "bone", self.nifti, "--format", "nifti", "--series", "1.2.3", *LAW)

    def test_boxes_are_resampled(self):
        boxes = {"spacing": (0.5, 0.25)}
        self.series(**boxes)
        self.refused("the voxels are not cubes (spacing 0.5 x 0.25 x 0.5)")
        run = self.run_of(self.path("CT"), "--resample", "0.25")
        self.assertEqual(run["problem"]["spacing"], 0.25)

    def test_values_that_are_no_densities(self):
        run = self.run_of(self.series(rescaled=False))
        self.assertEqual([w["code"] for w in run["warnings"]], ["no-calibration"])
        self.assertEqual(run["results"]["response"], self.run_of(self.nifti)["results"]["response"])
        self.assertEqual(self.run_of(self.path("CT"), "--calibrate", "1,0")["warnings"], [])

    def test_an_intercept_alone(self):
        """It is applied, with a slope of 1, and values are not said to be as stored."""
        self.series(intercept=-24, rescaled=False, more=element(0x0028, 0x1052, "DS", "-24") +
                    element(0x0028, 0x1054, "LO", "MGHA"))
        run = self.run_of(self.path("CT"))
        self.assertEqual(run["warnings"], [])
        self.assertEqual(run["results"]["response"], self.run_of(self.nifti)["results"]["response"])

    def test_hounsfield_units_are_no_densities(self):
        """CT has them unless it says otherwise."""
        for unit, law, codes in (("HU", "linear", ["no-calibration"]), ("", "linear", ["no-calibration"]),
                                 ("MGHA", "linear", []), ("HU", "threshold", [])):
            self.series(unit=unit)
            run = self.summary("bone", self.path("CT"), "--law", law, "--lower", "1", "--backend", "serial", "-q")
            self.assertEqual([w["code"] for w in run["warnings"]], codes, (unit, law))
        self.series()
        run = self.run_of(self.series(unit="HU", description="Sch\u00e4del"), "--calibrate", "1,0")
        self.assertEqual(run["warnings"], [])

    def test_a_cohort_of_folders(self):
        for name in "PQ":
            self.series(f"{name}/CT")
        study = ("bone", self.path("P/CT"), self.path("Q/CT/"), "-o", "out", "--skip-complete", *LAW)
        self.ossatura(*study)
        self.assertEqual([row["specimen"] for row in self.rows("out/cohort.csv", ())], ["P-CT", "Q-CT"])

        def done():
            text = self.read("out/cohort.summary.json")
            return text.count('"was_complete": true')
        self.ossatura(*study)
        self.assertEqual(done(), 2)
        self.slice_file("Q/CT/z5.dcm", 5)  # one more slice: another volume
        self.ossatura(*study, "--overwrite")
        self.assertEqual(done(), 1)


class Refusals(Series):
    def test_slices_that_make_no_volume(self):
        def moved(z, **shift):
            along, across = shift.get("along", 0), shift.get("across", 0)
            return [FIRST[i] + (EDGE * z + along) * NORMAL[i] + across * ROWS[i] for i in range(3)]
        folder = self.series()
        os.remove(self.path("CT/d2.dcm"))
        self.refused("CT: 1 slice is missing between b1.dcm and a3.dcm, which are 1 mm apart, where others are 0.5 mm")
        self.slice_file("CT/d2.dcm", 2, position=moved(2, along=0.1))
        self.refused("CT: the slices are not evenly spaced between")
        self.slice_file("CT/d2.dcm", 2, position=moved(2, along=0.002))  # a number that was rounded
        self.run_of(folder)
        self.slice_file("CT/d2.dcm", 2)
        self.slice_file("CT/twice.dcm", 2)
        self.refused("CT: the slices d2.dcm and twice.dcm lie at the same place")
        os.remove(self.path("CT/twice.dcm"))
        self.slice_file("CT/d2.dcm", 2, position=moved(2, across=0.1))
        self.refused("CT: the slice d2.dcm does not lie behind the others")
        self.series(of=lambda z: {"position": moved(z, across=0.1 * z)})
        self.refused("by 11.3099 degrees (a tilted gantry)")
        self.series()
        self.slice_file("CT/d2.dcm", 2, grid()[2][:35])
        self.refused("differ in the numbers of columns and rows of a3.dcm (7, 6) and d2.dcm (7, 5)")
        self.slice_file("CT/d2.dcm", 2, spacing=(0.5, 0.51))
        self.refused("differ in the spacing")
        for spacing in ((-EDGE, EDGE), (-EDGE, -EDGE), (EDGE, 0)):
            self.series(spacing=spacing)
            self.refused("must be positive and finite")
        self.series()
        self.slice_file("CT/d2.dcm", 2, rows_along=COLUMNS, columns_along=ROWS)
        self.refused("differ in the orientation of their rows")
        self.slice_file("CT/d2.dcm", 2, unit="MGML")
        self.refused("its values are 'MGML'")
        self.series(intercept=-1024, unit="")
        self.slice_file("CT/d2.dcm", 2, intercept=-1024, rescaled=False)
        self.refused("d2.dcm: has no rescale slope and intercept, and a3.dcm has 1 and -1024")
        self.series()
        self.slice_file("CT/d2.dcm", 2, rescaled=False, more=element(0x0028, 0x1054, "LO", "MGHA"))
        self.run_of(folder)  # values are the same with 1 and 0
        self.series("skew", columns_along=ROWS)
        self.refused("orthogonal unit vectors", self.path("skew"))
        self.slice_file("one/a.dcm", 0)
        self.refused("a.dcm: is the only slice of its series here", self.path("one"))

    def test_files_that_are_no_grey_slices(self):
        self.series()
        for message, more in (
                ("d2.dcm: is of RGB colours, 3 samples a pixel", {"photometric": "RGB", "samples": 3, "bits": 8,
                                                                  "signed": False, "values": [9] * 126}),
                ("d2.dcm: is MONOCHROME1, whose small values are white", {"photometric": "MONOCHROME1"}),
                ("d2.dcm: has 3 frames in one file (enhanced CT)", {"frames": 3}),
                ("d2.dcm: has a rescale slope of 0", {"more": element(0x0028, 0x1053, "DS", "0"), "rescaled": False}),
                ("d2.dcm: is an image of the series without position", {"place": False}),
                ("d2.dcm: its pixels are compressed", {"syntax": JPEG_2000}),
                ("bits beyond the 10 that the header says are used", {"stored": 10, "signed": False,
                                                                      "values": [1024] * 42})):
            self.slice_file("CT/d2.dcm", 2, **more)
            self.refused(message)
        self.slice_file("enhanced/a.dcm", 0, frames=3)
        self.refused("has 3 frames in one file", self.path("enhanced/a.dcm"))
        os.makedirs(self.path("empty"))
        self.refused("empty: there are no DICOM slices with a place in space", self.path("empty"))
        self.write("empty/notes.txt", "of the study")
        self.refused("but notes.txt (not DICOM)", self.path("empty"))
        self.series("study/CT")
        self.refused("Folders in it are not looked into: give the one with the slices, such as "
                     + self.path("study/CT"), self.path("study"))

    def test_a_link_to_nothing(self):
        """As of git-annex, or of a disk that is not there."""
        self.series()
        os.rename(self.path("CT/d2.dcm"), self.path("elsewhere.dcm"))
        os.symlink("../elsewhere.dcm", self.path("CT/d2.dcm"))
        self.run_of(self.path("CT"))
        os.remove(self.path("elsewhere.dcm"))
        self.refused("d2.dcm: is a link to nothing: fetch its file")

    def test_the_module_that_reads_dicom(self):
        """It is loaded for DICOM alone, and belongs beside the executable: without it other images are read."""
        self.series()
        own, name = os.path.realpath(driver_case.EXECUTABLE), "ossatura_dicom.so"
        os.mkdir(self.path("bin"))
        copy = shutil.copy(own, self.path("bin/ossatura"))
        run = lambda image: subprocess.run([copy, "bone", image, *LAW, "--dry-run"], capture_output=True, text=True,
                                           timeout=60)
        self.assertEqual(run(self.nifti).returncode, DONE)
        with open(own, "rb") as file:
            installed = re.findall(rb"/[^\0]*/ossatura/ossatura_dicom[.]so", file.read())
        if not any(map(os.path.exists, installed)):
            process = run(self.path("CT"))
            self.assertEqual(process.returncode, BAD_FILE, process.stderr)
            for part in (self.path("CT"), name + ": cannot open", "dcm2niix"):
                self.assertIn(part, process.stderr)
            self.write("bin/" + name, "not a library")
            process = run(self.path("CT"))
            self.assertEqual(process.returncode, BAD_FILE, process.stderr)
            self.assertIn(name + ": file too short", process.stderr)
        shutil.copy(os.path.join(os.path.dirname(own), name), self.path("bin"))
        process = run(self.path("CT"))
        self.assertEqual(process.returncode, DONE, process.stderr)

    def test_a_limit_of_memory_is_no_fault_of_the_file(self):
        """The module of DICOM is loaded when most of a small limit is taken."""
        folder = self.series()
        for megabytes in range(32, 160, 4):
            limit = (megabytes << 20,) * 2
            process = subprocess.run([driver_case.EXECUTABLE, "bone", folder, *LAW], cwd=self.directory.name, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
                                     preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, limit))
            if process.returncode == DONE:
                break
            self.assertNotEqual(process.returncode, BAD_FILE, process.stderr)
            if "no memory for the module" in process.stderr:
                self.assertEqual(process.returncode, UNAVAILABLE)

    def test_damaged_files(self):
        """A slice that is cut off anywhere is refused, whatever it has lost; so is one without its signature."""
        self.series()
        with open(self.path("CT/d2.dcm"), "rb") as file:
            whole = file.read()
        for size in (0, 131, 300, len(whole) // 2, len(whole) - 84, len(whole) - 2):
            self.write("CT/d2.dcm", whole[:size])
            self.refused("d2.dcm", None)
        self.write("CT/d2.dcm", b"\0" * 200)
        self.refused("d2.dcm: lacks the signature DICM")
        places = [i for i in range(132, len(whole)) if whole[i:i + 2] in (b"US", b"DS", b"OW", b"UI")]
        for place in places[::5]:  # lengths that are wrong
            damaged = bytearray(whole)
            damaged[place + 2 + (4 if whole[place:place + 2] == b"OW" else 0)] ^= 0x40
            self.write("CT/d2.dcm", bytes(damaged))
            self.ossatura("bone", self.path("CT"), *LAW, code=(DONE, BAD_FILE))
        self.series("runs", syntax=RLE)
        with open(self.path("runs/d2.dcm"), "rb") as file:
            whole = file.read()
        fragment = whole.index(struct.pack("<2HI", 0xfffe, 0xe000, 0)) + 12
        self.write("runs/d2.dcm", whole[:fragment] + struct.pack("<I", 0x8e000000) + whole[fragment + 4:])
        self.refused("d2.dcm: a value of 2382364672 bytes, of which", self.path("runs"))


if __name__ == "__main__":
    driver_case.main()
