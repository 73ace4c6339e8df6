# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` under a launcher: a model that is divided among ranks gives the same bits for any
number of them."""
import json
import os
import signal
import struct
import subprocess
import sys
import zlib

from support import driver_case
import ranks
from support.dicom import dicom_slice
from support.driver_case import BAD_FILE, DONE, STOPPED, USAGE
from support.hdf5_values import read, write
from ranks import Ranks, without_times
from support.specimens import SPECIMENS, nifti_bytes, write_specimen

NOISE = ("bone", "--generate", "perlin", "--size", "28,24,32", "--backend", "serial", "-q")
BITS = ("--operator", "brick")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "bone")


class BoneRanks(Ranks):
    def run_of(self, num_ranks, *arguments, files):
        """Results without times of the clock, and files, of a run on so many ranks (0: without a
        launcher)."""
        arguments = (*NOISE, *arguments, "--json", "-")
        text = (self.ossatura(*arguments).stdout if num_ranks == 0 else
                self.launch(num_ranks, *arguments)[0])
        summary = json.loads(text)
        self.assertEqual(summary["engine"]["ranks"], max(num_ranks, 1))
        found = [without_times(summary[part])
                 for part in ("status", "problem", "results", "iterations", "residual", "warnings")]
        found += [summary["engine"][part] for part in ("levels", "work", "operator")]
        content = []
        for name in files:
            with open(self.path(name), "rb") as file:
                content.append(file.read())
            os.remove(self.path(name))
        return summary, found, content


class Model(BoneRanks):
    def check_ranks(self, summary):
        """What a run on three ranks says of them."""
        engine, memory = summary["engine"], summary["memory"]
        self.assertEqual((engine["split"], engine["transport"]), ("model", "mpi"))
        self.assertEqual(2 ** len(engine["cut_levels"]), engine["superblock_voxels"])
        for level, cut in zip(engine["levels"], engine["cut_levels"]):
            nodes, ghosts = cut["largest_rank_nodes"], cut["largest_rank_ghosts"]
            self.assertLessEqual(level["nodes"], 3 * nodes)
            self.assertLess(nodes, level["nodes"])
            self.assertTrue(0 < ghosts <= cut["ghosts"] <= 3 * ghosts)
            self.assertLessEqual(nodes + ghosts, 2 * level["nodes"])
            self.assertEqual(cut["most_neighbours"], 2)
        self.assertEqual(engine["largest_rank_nodes"], engine["cut_levels"][0]["largest_rank_nodes"])
        for part in "host", "kokkos":
            self.assertGreaterEqual(memory[f"largest_rank_{part}_peak_bytes"], memory[f"{part}_peak_bytes"])

    def test_the_same_bits_for_any_number_of_ranks(self):
        for options in ((), ("--precision", "double", "--test", "torsion", "--angle", "1"),
                        ("--precision", "mixed", "--hierarchy", "averaged", "--cycle", "inner-w"),
                        ("--fix", "z-:xyz", "--force", "z+:z=-50", "--operator", "gather", "--precision", "mixed"),
                        ("--surface", "visible", "--surface-depth", "3"),
                        ("--cap", "lower=3,upper=5:900:0.4", "--surface-depth", "2"),
                        ("--cap", "4", "--axis", "x", "--surface-depth", "2")):
            arguments = (*BITS, *options) if "gather" not in options else options
            with self.subTest(options=options):
                expected = self.run_of(0, *arguments, "--split", "model", "--history", "h.csv",
                                       files=())
                history = self.rows("h.csv", ["seconds"])
                for num_ranks in (2, 5) if not options else (3,):
                    found = self.run_of(num_ranks, *arguments, "--history", "h.csv", files=())
                    self.assertEqual(found[1], expected[1])
                    self.assertEqual(self.rows("h.csv", ["seconds"]), history)

    def test_what_one_process_gives_without_a_cut(self):
        whole = self.run_of(0, *BITS, files=())[0]["results"]
        for operator in ("brick", "offset", "hash"):
            summary = self.run_of(3, "--operator", operator, files=())[0]
            self.check_ranks(summary)
            cut = summary["results"]
            self.close(cut["response"]["stiffness"], whole["response"]["stiffness"], 1e-5)
            self.close(cut["strain_energy"], whole["strain_energy"], 1e-5)

    def test_files_are_those_of_one_process(self):
        arguments = (*NOISE, *BITS, "--fix", "z-:xyz", "--force", "z+:z=-50", "--fields", "all",
                     "--compress", "none")
        self.ossatura(*arguments, "--split", "model", "--hdf", "one.hdf", "--parosol-output",
                      "one.h5")
        self.launch(3, *arguments, "--hdf", "many.hdf", "--parosol-output", "many.h5")
        for field in ("Points", "Connectivity", "PointData/displacement", "PointData/held",
                      "PointData/load", "CellData/modulus", "CellData/stress", "CellData/sed",
                      "CellData/von_mises"):
            one, many = (read(self.path(name), "VTKHDF/" + field) for name in ("one.hdf", "many.hdf"))
            self.assertGreater(max(map(abs, one)), 0)
            self.assertEqual(one, many, field)
        for field in ("Mesh/Coordinates", "Mesh/Elements", "Solution/Nodal displacements",
                      "Solution/Nodal forces", "Solution/SED"):
            one, many = (read(self.path(name), field) for name in ("one.h5", "many.h5"))
            self.assertGreater(max(map(abs, one)), 0)
            self.assertEqual(one, many, field)


    def test_fields_that_ranks_compress_are_those_of_one_process(self):
        # Several chunks of 1 MiB for each field, which begin on one rank and end on the next.
        arguments = ("bone", "--generate", "perlin", "--size", "72,64,60", "--backend", "serial", "-q",
                     *BITS, "--fields", "all", "--test", "axial", "--tolerance", "1e-2")
        self.ossatura(*arguments, "--split", "model", "--hdf", "one.hdf")
        self.launch(3, *arguments, "--hdf", "many.hdf")
        for field in ("Points", "Connectivity", "PointData/displacement", "PointData/held",
                      "CellData/modulus", "CellData/stress", "CellData/strain", "CellData/von_mises"):
            one, many = (read(self.path(name), "VTKHDF/" + field) for name in ("one.hdf", "many.hdf"))
            self.assertGreater(max(map(abs, one)), 0)
            self.assertEqual(one, many, field)

    def test_images_of_files_laws_and_islands(self):
        labels, density = (os.path.join(EXAMPLES, name) for name in ("radius-labels.nii.gz",
                                                                    "radius.mha"))
        for arguments, warnings in (
                ((labels, "--law", "labels", "--labels", "1=17000:0.3,2=9000:0.2", "--test",
                  "torsion"), []),
                ((density, "--law", "threshold", "--lower", "450", "--upper", "860", "--islands",
                  "drop", "--tolerance", "1e-2"), ["islands-left-out"])):
            found = []
            for num_ranks in (0, 3):
                launch = ("bone", *arguments, *BITS, "--backend", "serial", "-q", "--json", "-")
                text = (self.ossatura(*launch, "--split", "model").stdout if num_ranks == 0 else
                        self.launch(num_ranks, *launch)[0])
                found.append(without_times(json.loads(text)))
            for part in ("status", "problem", "results", "warnings"):
                self.assertEqual(found[0][part], found[1][part])
            self.assertEqual([w["code"] for w in found[1]["warnings"]], warnings)
        self.fails_once(3, "voxel (16, 4, 0) has the label 2, which is not in the label table; 5808",
                        "bone", labels, "--law", "labels", "--labels", "1=17000:0.3", code=BAD_FILE)

    def test_a_dry_run_predicts_the_largest_rank(self):
        arguments = ("bone", "--generate", "perlin", "--size", "72", "--feature", "16", *BITS,
                     "--tolerance", "1e-2", "--backend", "serial", "-q", "--json", "-")
        plan = json.loads(self.launch(3, *arguments, "--dry-run")[0])
        run = json.loads(self.launch(3, *arguments)[0])
        self.assertEqual(plan["results"]["ranks"], 3)
        self.assertEqual(plan["problem"], run["problem"])
        self.close(plan["results"]["predicted_host_bytes"],
                   run["memory"]["largest_rank_host_peak_bytes"], 0.25)


class Cohort(BoneRanks):
    def setUp(self):
        super().setUp()
        names = ("a.mhd", "b.mhd", "c.mhd")
        self.inputs = [write_specimen(self.path(name), size) for name, size in zip(names, SPECIMENS)]
        bad = write_specimen(self.path("bad.mhd"), 8, values=bytes(8 ** 3))
        self.arguments = ("bone", *self.inputs[:2], bad, self.inputs[2], "--law", "threshold", "--lower",
                          "1", "--backend", "serial", *BITS, "--no-hdf")

    def members(self, folder):
        found = []
        for name in "abc":
            summary = json.loads(self.read(f"{folder}/{name}.summary.json"))
            found.append([without_times(summary[part]) for part in ("status", "problem", "results")])
        return found

    def test_ranks_share_the_inputs(self):
        self.ossatura(*self.arguments, "-o", "one", code=BAD_FILE)
        for num_ranks in (2, 5):
            out, log = self.launch(num_ranks, *self.arguments, "-o", f"of{num_ranks}", code=BAD_FILE)
            self.assertEqual(self.read(f"of{num_ranks}/cohort.csv"), self.read("one/cohort.csv"))
            self.assertEqual(self.members(f"of{num_ranks}"), self.members("one"))
            self.assertRegex(out, r"(?m)^  b +converged ")
            self.assertEqual(log.count("error: bad: "), 1)
            self.assertEqual(log.count("converged after"), 3)
        _, log = self.launch(2, *self.arguments, "-o", "one", "--skip-complete", code=BAD_FILE)
        self.assertEqual(log.count("converged before"), 3)

    def test_all_ranks_work_on_each_input(self):
        self.ossatura(*self.arguments, "--split", "model", "-o", "one", code=BAD_FILE)
        out, log = self.launch(3, *self.arguments, "--split", "model", "-o", "of3", code=BAD_FILE)
        self.assertEqual(self.read("of3/cohort.csv"), self.read("one/cohort.csv"))
        self.assertEqual(self.members("of3"), self.members("one"))
        self.assertEqual(log.count("error: bad: "), 1)
        summary = json.loads(self.read("of3/b.summary.json"))
        self.assertEqual((summary["engine"]["ranks"], summary["engine"]["split"]), (3, "model"))

    def test_a_scene_is_of_one_process(self):
        scenes = [os.path.join(EXAMPLES, "..", "softbody", name) for name in ("cloth.json", "pile.json")]
        self.launch(2, "softbody", *scenes, "--steps", "1", "--backend", "serial", "-q", "-o", "out")
        self.assertEqual(len([name for name in os.listdir(self.path("out"))
                              if name.endswith(".summary.json")]), 3)
        self.fails_once(2, "ossatura softbody runs a scene in one process", "softbody", scenes[0], "-q",
                        code=USAGE)

    def test_a_signal_stops_all_ranks_and_leaves_the_table(self):
        large = [write_specimen(self.path(name), 72) for name in ("big1.mhd", "big2.mhd")]
        process = self.start((2, ("bone", *self.inputs, *large, *self.arguments[5:], "--precision",
                                  "double", "--tolerance", "1e-12", "-v", "-o", "out")))
        for line in process.stderr:
            if line.startswith("big1: ") or line.startswith("big2: "):
                break
        for rank in self.children(process):
            os.kill(rank, signal.SIGTERM)
        self.end(process, STOPPED)
        table = self.read("out/cohort.csv").splitlines()
        self.assertEqual(len(table), 6)
        self.assertIn(",75,", table[-1])
class Planes(BoneRanks):
    """Each rank reads its planes of an image: 8, 16 and 16 of these 40."""
    SHAPE = (14, 12, 40)
    LAW = ("--law", "linear", "--lower", "1", "--slope", "10", "--test", "torsion", "--angle", "1")
    RAW = ("--shape", "14,12,40", "--spacing", "0.5")

    def voxels(self):
        nx, ny, nz = self.SHAPE
        return [(x % 5 == 0 or y % 4 == 0 or z % 7 == 0) * (100 + (3 * x + 5 * y + z) % 11)
                for z in range(nz) for y in range(ny) for x in range(nx)]

    @staticmethod
    def index(x, y, z):
        return x + 14 * (y + 12 * z)

    def meta_image(self, name, kind, data, compressed=False):
        header = ("ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
                  f"CompressedData = {compressed}\nElementSpacing = 0.5 0.5 0.5\nDimSize = 14 12 40\n"
                  f"ElementType = {kind}\nElementDataFile = LOCAL\n")
        return self.write(name, header.encode() + (zlib.compress(data) if compressed else data))

    def nifti(self, name, voxels):
        return self.write(name, nifti_bytes(self.SHAPE, 0.5, "h", voxels))

    def parosol(self, name, moduli, ratios):
        extents = (len(moduli) // (12 * 14), 12, 14)
        write(self.path(name), "Image_Data",
              {"Image": (extents, moduli), "Voxelsize": ((), [0.5]),
               "Poissons_ratio_Image": (extents, ratios)})
        return name

    def same_results(self, *arguments):
        """Results that do not depend on the number of ranks."""
        arguments = ("bone", *arguments, *BITS, "--backend", "serial", "-q", "--json", "-")
        one = json.loads(self.ossatura(*arguments, "--split", "model").stdout)
        many = json.loads(self.launch(3, *arguments)[0])
        for part in ("status", "problem", "results", "warnings"):
            self.assertEqual(without_times(many[part]), without_times(one[part]))
        self.assertEqual(many["provenance"]["inputs"], one["provenance"]["inputs"])
        self.assertEqual(many["engine"]["ranks"], 3)
        return one["results"]["strain_energy"]

    def same_error(self, expected, *arguments):
        """One error, in the same words, from a process and from ranks."""
        arguments = ("bone", *arguments, "--backend", "serial", "-q")
        one = self.ossatura(*arguments, code=BAD_FILE).stderr
        self.assertIn(expected, one)
        out, log = self.launch(3, *arguments, code=BAD_FILE)
        self.assertEqual(out, "")
        self.assertEqual([line for line in log.splitlines() if "error: " in line],
                         [line for line in one.splitlines() if "error: " in line])

    def test_masks_and_field_images(self):
        labels = [0 if i % 14 == 0 else 2 + (i // 168 >= 20) for i in range(14 * 12 * 40)]
        voxels = [int(v) for v in self.voxels()]
        arguments = ("bone", self.nifti("bone.nii.gz", voxels), "--mask", self.nifti("seg.nii.gz", labels),
                     *self.LAW, *BITS, "--backend", "serial", "-q", "--no-hdf", "--fields", "modulus,sed",
                     "--field-images", "nii.gz")
        self.ossatura(*arguments, "--split", "model", "-o", "one")
        self.launch(3, *arguments, "-o", "many")
        for name in ("bone.modulus.nii.gz", "bone.sed.nii.gz"):
            files = [open(self.path(f"{folder}/{name}"), "rb") for folder in ("one", "many")]
            contents = [file.read() for file in files]
            for file in files:
                file.close()
            self.assertEqual(*contents)
            self.assertGreater(len(contents[0]), 1000)
        self.same_results("bone.nii.gz", *self.LAW, "--mask", "seg.nii.gz")
        boxes = self.write("boxes.nii.gz", nifti_bytes(self.SHAPE, (0.5, 0.5, 0.9), "h", voxels))
        for edge in "0.6", "0.35":
            self.same_results(boxes, *self.LAW, "--resample", edge)
        self.same_results("bone.nii.gz", *self.LAW, "--mask", "seg.nii.gz", "--align", "long", "--turn", "y=4,x=-3")
        self.same_error("the mask has no label 4; it has 2, 3", "bone.nii.gz", *self.LAW, "--mask",
                        "seg.nii.gz", "--mask-labels", "2,4")

    def test_anatomy_and_preparation(self):
        voxels = [int(v) * (i // 168 < 16 + i % 14 % 7) for i, v in enumerate(self.voxels())]
        labels = [(1 if i // 168 > 3 else 3) if v else 2 if i // 168 >= 16 else 0 for i, v in enumerate(voxels)]
        labels[-1] = 7  # far from the bone
        shared = (self.nifti("bone.nii.gz", voxels), *self.LAW[:6], "--mask", self.nifti("seg.nii.gz", labels),
                  "--mask-labels", "1,3", "--largest-component")
        self.same_results(*shared, "--surface", "visible", "--surface-depth", "2", "--plate-labels", "upper=2")
        self.same_results(*shared, "--fix", "label:3:xyz", "--force", "label:2:z=-5")
        self.same_results(*shared, "--cap", "upper=6:3000:0.2", "--surface-depth", "3", "--test", "bending")
        pads = ("--label-laws", "1=linear:slope=12:lower=2", "--pads", "2=900:0.2", "--cap", "lower=2:500")
        self.same_results(*shared, *pads, "--plate-labels", "upper=2")
        self.same_results(*shared, "--pads", "2=900", "--fix", "line:3/x:xyz,label:2:xz=0,label:2:y=0.1")
        prepared = ("bone", *shared, "--crop", "1:12,:,2:36", "--gaussian", "0.5", "--calibrate", "1,-10", "--clamp",
                    "0,99", "--bins", "5", "--cap", "4", "--surface-depth", "1", "--backend", "serial", "-q")
        self.same_results(*prepared[1:-3])
        cropped = (*shared[:7], "--largest-component", "--crop", "1:12,:,2:36")
        self.same_results(*cropped, "--test", "torsion", "--centre", "2.5,3,9")
        self.same_results(*cropped, "--fix", "z-:xyz", "--force-file", self.write("nodes.csv", "6,6,12,x,2\n6,6,13,z,-3\n"))
        self.ossatura(*prepared, "--preview", "one.png")
        self.launch(3, *prepared, "--preview", "many.png")
        with open(self.path("one.png"), "rb") as one, open(self.path("many.png"), "rb") as many:
            self.assertEqual(one.read(), many.read())
        self.same_error("the upper plate touches nothing", *shared, "--plate-labels", "lower=2,upper=7")

    def test_results_are_those_of_one_process(self):
        voxels = self.voxels()
        data = struct.pack(f"<{len(voxels)}h", *voxels)
        os.makedirs(self.path("CT"))
        for z in range(40):
            self.write(f"CT/{40 - z}.dcm", dicom_slice(list(map(int, voxels[168 * z:168 * (z + 1)])), 14, (0, 0, z / 2),
                                                       spacing=(0.5, 0.5), unit="MGHA"))
        probe = self.ossatura("bone", "CT", *self.LAW, "--dry-run", code=(DONE, BAD_FILE))
        series = [("CT",)] if "which this build does not read" not in probe.stderr else []
        energies = [self.same_results(*file, *self.LAW) for file in (
            (self.write("bone.raw", data), *self.RAW, "--type", "int16"),
            (self.meta_image("plain.mha", "MET_SHORT", data),),
            (self.meta_image("packed.mha", "MET_SHORT", data, True),),
            (self.nifti("bone.nii.gz", voxels),), *series)]
        self.assertEqual(energies, energies[:1] * (4 + len(series)))
        ratios = [0.2 + i % 13 / 100 for i in range(len(voxels))]
        moduli = [10.0 * v for v in voxels]
        self.same_results(self.parosol("bone.h5", moduli, ratios), "--test", "axial")
        few = 8 * 12 * 14  # the first two ranks have none of these planes
        self.same_results(self.parosol("flat.h5", moduli[:few], ratios[:few]), "--test", "axial")

    def test_errors_are_those_of_one_process(self):
        voxels = [float(v) for v in self.voxels()]
        last = self.index(13, 11, 39)

        def floats(*wrong):
            values = list(voxels)
            for place, value in wrong:
                values[place] = value
            return struct.pack(f"<{len(values)}f", *values)
        raw = (*self.RAW, "--type", "float32", *self.LAW)
        self.same_error("voxel (x, y, z) = (13, 11, 39) is nan",
                        self.write("nan.raw", floats((last, float("nan")))), *raw)
        self.same_error("voxel (x, y, z) = (2, 3, 20) is inf",
                        self.meta_image("inf.mha", "MET_FLOAT", floats(
                            (last, float("nan")), (self.index(2, 3, 20), float("inf"))), True),
                        *self.LAW)
        self.same_error("check shape, type and header", self.write("long.raw", floats() + b"x"), *raw)
        self.nifti("sum.nii.gz", list(map(int, voxels)))
        with open(self.path("sum.nii.gz"), "r+b") as file:
            file.seek(-8, os.SEEK_END)
            byte = file.read(1)[0]
            file.seek(-8, os.SEEK_END)
            file.write(bytes([byte ^ 1]))
        self.same_error("the compressed data is damaged", "sum.nii.gz", *self.LAW)
        self.same_error("no voxel is bone: the values of the image are 0 to 110",
                        self.write("void.raw", floats()), *self.RAW, "--type", "float32", "--law",
                        "threshold", "--lower", "500")

    def test_errors_of_a_parosol_file_are_those_of_one_process(self):
        moduli, ratios = [10.0 * v for v in self.voxels()], [0.3] * len(self.voxels())
        below, last = self.index(0, 0, 9), self.index(10, 11, 39)
        ratios[last] = 0.5
        self.same_error("ratio of voxel (x, y, z) = (10, 11, 39) is 0.5",
                        self.parosol("ratio.h5", moduli, ratios))
        moduli[last] = moduli[below] = -1.0
        self.same_error("modulus of voxel (x, y, z) = (0, 0, 9) is -1",
                        self.parosol("modulus.h5", moduli, ratios))
        self.same_error("the largest modulus is 1.1",
                        self.parosol("unit.h5", [v / 100 for v in self.voxels()],
                                     [0.3] * len(self.voxels())))

    def test_a_rank_holds_its_planes_alone(self):
        n = 340
        with open(self.path("void.raw"), "wb") as file:  # without blocks on the disk
            file.truncate(n ** 3)
            for z in range(85, 255):
                for y in range(170, 174):
                    file.seek(170 + n * (y + n * z))
                    file.write(b"\1" * 4)
        arguments = ("bone", "void.raw", "--shape", f"{n},{n},{n}", "--type", "uint8", "--spacing",
                     "0.1", "--law", "threshold", "--lower", "1", *BITS, "--backend", "serial", "-q",
                     "--json", "-")
        one = json.loads(self.ossatura(*arguments, "--split", "model").stdout)
        many = json.loads(self.launch(3, *arguments)[0])
        self.assertEqual(many["results"]["strain_energy"], one["results"]["strain_energy"])
        # What any process takes, which with CUDA is a hundred MB.
        least = json.loads(self.ossatura("bone", "--generate", "cube", "--size", "4", "--backend",
                                         "serial", "-q", "--json", "-").stdout)
        least = least["memory"]["host_peak_bytes"]
        self.assertGreater(one["memory"]["host_peak_bytes"], 4 * n ** 3)  # which holds it once
        self.assertLess(one["memory"]["host_peak_bytes"] - least, 6 * n ** 3)
        self.assertLess(many["memory"]["largest_rank_host_peak_bytes"] - least,
                        0.7 * (one["memory"]["host_peak_bytes"] - least))


class Ends(BoneRanks):
    def test_a_file_that_the_first_rank_cannot_write_costs_nothing_else(self):
        with open(self.path("limited"), "w") as script: # files of 30 kB, on the first rank
            script.write('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 0 ] || ulimit -f 60\nexec "$@"\n')
        os.chmod(self.path("limited"), 0o755)
        process = subprocess.Popen(
            [ranks.LAUNCHER, "-n", "3", self.path("limited"), driver_case.EXECUTABLE, *NOISE, "-o",
             "out", "--parosol-output", "fields.h5"], cwd=self.directory.name, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, "OMPI_MCA_btl": "self,tcp"}) # whose memory is no file
        self.end(process, BAD_FILE, 30)
        with open(self.path("out/perlin.summary.json")) as file:
            summary = json.load(file)
        self.assertEqual(summary["status"], "converged")
        self.assertEqual([w["code"] for w in summary["warnings"]].count("not-written"), 2)
        self.assertEqual(summary["results"]["files"], [])
        self.assertEqual(os.listdir(self.path("out")), ["perlin.summary.json"])

    def test_what_one_rank_alone_cannot_read_ends_all(self):
        self.write("held.txt", "0 0 0 x 0\n")
        law = (*NOISE[5:], "--law", "threshold", "--lower", "320")
        for right, wrong in ((("bone", os.path.join(EXAMPLES, "radius.mha"), *law),
                              ("bone", "missing.mha", *law)),
                             ((*NOISE, "--fix-file", "held.txt"),
                              (*NOISE, "--fix-file", "missing.txt"))):
            out, log = self.end(self.start((1, right), (1, wrong), (1, right)), BAD_FILE, 20)
            self.assertEqual(out, "")
            self.assertEqual(log.count("error: "), 1, log)
            self.assertIn("there is no such file", log)

    def test_what_cannot_be_divided_is_refused(self):
        for message, arguments in (("--hierarchy paper is for one process", ("--hierarchy", "paper")),
                                   ("--coarse cg is for one process", ("--coarse", "cg")),
                                   ("voxels a side has more than 2 levels", ("--levels", "2")),
                                   ("--split loads divides the six loads", ("--split", "loads")),
                                   ("--split model is for one load",
                                    ("--split", "model", "--test", "homogenise"))):
            self.fails_once(2, message, *NOISE, *arguments, code=USAGE)

    def test_a_signal_to_one_rank_stops_all_at_one_iteration(self):
        summary = self.stopped_summary(
            "out/perlin.summary.json", "bone", "--generate", "perlin", "--size", "96", "--tolerance",
            "1e-14", "--backend", "serial", "--operator", "gather", "-v", "-o", "out", "--history",
            "h.csv", rank=2, ranks=3, line="iteration/most", seconds=0.5)
        with open(self.path("out/h.csv")) as file:
            lines = file.readlines()
        self.assertEqual(int(lines[-1].split(",")[2]), summary["iterations"])


if __name__ == "__main__":
    ranks.LAUNCHER = sys.argv.pop(2)
    driver_case.main()
