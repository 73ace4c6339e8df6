# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` with an image and its mask, and fields as images on the same grid."""
import gzip
import math
import os
import re
import struct
import subprocess
import sys
import unittest

from support import driver_case
from support.driver_case import BAD_FILE, USAGE, DriverCase
from support.hdf5_values import read, write
from support.specimens import nifti_bytes, read_nifti

try:  # what users look at CT with; no part of the project needs them
    import nibabel
    import numpy
    import SimpleITK
except ImportError as error:
    nibabel, lacking = None, str(error)

SHAPE, EDGE = (10, 9, 8), 0.5
LAW = ("--law", "linear", "--slope", "10", "--lower", "1", "--backend", "serial", "-q")


def turned(edge=EDGE, away=0.0):
    """Rows of an sform: axes that are turned, one of them backwards."""
    c, s = edge * math.cos(0.4), edge * math.sin(0.4)
    return [(c, -s, 0, 12.5 + away), (s, c, 0, -30), (0, 0, -edge, 7.25)]


def voxels():
    """(x, y, z) in the order of a file."""
    return [(x, y, z) for z in range(SHAPE[2]) for y in range(SHAPE[1]) for x in range(SHAPE[0])]


def grey(x, y, z):
    return 900 + (7 * x + 5 * y + 3 * z) % 97


def label(x, y, z):
    """1: a core; 5: a shell; 0 around them."""
    if min(x, y) < 1 or x > 8 or y > 7:
        return 0
    return 1 if 3 <= x <= 6 and 3 <= y <= 5 else 5


class BoneImages(DriverCase):
    def setUp(self):
        super().setUp()
        self.image = self.nifti("ct.nii.gz", grey)
        self.mask = self.nifti("seg.nii.gz", label)

    def nifti(self, name, value, kind="h", shape=SHAPE, **place):
        values = [value(*v) for v in voxels()][:shape[0] * shape[1] * shape[2]]
        return self.write(name, nifti_bytes(shape, EDGE, kind, values, turned(**place)))

    def run_of(self, *arguments):
        return self.summary("bone", *arguments, *LAW)


class Nrrd(BoneImages):
    def nrrd(self, name, value, kind="short", detached=False):
        axes = turned()
        vectors = " ".join("(" + ",".join(repr(axes[i][d]) for i in range(3)) + ")" for d in range(3))
        origin = ",".join(repr(axes[i][3]) for i in range(3))
        head = (f"NRRD0004\ntype: {kind}\ndimension: 3\nspace: right-anterior-superior\nsizes: 10 9 8\n"
                f"space directions: {vectors}\nspace origin: ({origin})\nendian: little\n"
                f"encoding: {'gzip' if not detached else 'raw'}\n")
        data = struct.pack("<720h", *(value(*v) for v in voxels()))
        if detached:
            self.write("voxels.raw", data)
            return self.write(name, head + "data file: voxels.raw\n")
        return self.write(name, head.encode() + b"\n" + gzip.compress(data))

    def test_nrrd_is_what_nifti_is(self):
        masked = self.run_of(self.image, "--mask", self.mask)
        for image in self.nrrd("ct.nrrd", grey), self.nrrd("ct.nhdr", grey, detached=True):
            run = self.run_of(image, "--mask", self.nrrd("seg.nrrd", label))
            self.assertEqual(run["results"]["response"], masked["results"]["response"])
            self.assertEqual(run["results"]["labels"], masked["results"]["labels"])
            self.assertEqual(run["problem"]["world"], "RAS")
            for place, other in zip(run["problem"]["origin"], masked["problem"]["origin"]):
                self.close(place, other, 1e-5, 10)  # NIfTI has it in single precision
        self.assertEqual([os.path.basename(file["path"]) for file in run["provenance"]["inputs"]],
                         ["ct.nhdr", "voxels.raw", "seg.nrrd"])
        self.fails(BAD_FILE, "ct.nrrd: encoding: hex: raw and gzip are read", "bone",
                   self.write("ct.nrrd", self.read("ct.nhdr").replace("raw\n", "hex\n")), *LAW)

    def test_axes_that_are_no_lengths_are_refused(self):
        head = self.read(self.nrrd("ct.nhdr", grey, detached=True))
        for kinds in "list domain domain", "vector space space", "3-color domain domain", "space space time":
            self.fails(BAD_FILE, f"ct.nhdr: kinds: {kinds}: three axes of space", "bone",
                       self.write("ct.nhdr", head + f"kinds: {kinds}\n"), *LAW)
        for kinds in "domain domain domain", "space space ???":
            self.run_of(self.write("ct.nhdr", head + f"kinds: {kinds}\n"))
        files = "".join(f"slice{z}.raw\n" for z in range(8))
        self.fails(BAD_FILE, "slices in many files are not read", "bone",
                   self.write("ct.nhdr", head.replace("data file: voxels.raw\n", "data file: LIST\n" + files)), *LAW)

    def test_units_and_values_of_meta_images(self):
        def meta(name, edge, more=""):
            head = (f"ObjectType = Image\nNDims = 3\nDimSize = 10 9 8\nElementSpacing = {edge} {edge} {edge}\nOffset = 3 -4 7\n"
                    f"{more}ElementType = MET_SHORT\nElementDataFile = LOCAL\n")
            return self.write(name, head.encode() + struct.pack("<720h", *(grey(*v) for v in voxels())))

        expected = self.run_of(meta("mm.mha", EDGE))
        for edge, more in ((EDGE, "DistanceUnits = mm\n"), (EDGE / 10, "DistanceUnits = cm\n"), (1000 * EDGE, "DistanceUnits = um\n"),
                           (EDGE, "ElementToIntensityFunctionSlope = 1\nElementToIntensityFunctionOffset = 0\n")):
            run = self.run_of(meta("ct.mha", edge, more))
            self.close(run["results"]["response"]["stiffness"], expected["results"]["response"]["stiffness"], 1e-9)
            self.assertEqual(run["warnings"], [])
        self.close(self.run_of(meta("ct.mha", EDGE / 10, "DistanceUnits = cm\n"))["problem"]["origin"][0], 30 - EDGE / 2, 1e-12)
        for more in ("DistanceUnits = inch\n", "ElementToIntensityFunctionSlope = 2\n", "ElementToIntensityFunctionOffset = 100\n"):
            self.fails(BAD_FILE, "ct.mha: " + more.strip(), "bone", meta("ct.mha", EDGE, more), *LAW)

    def test_a_space_that_is_no_world_is_warned_of(self):
        image = self.nrrd("ct.nhdr", grey, detached=True)
        ras = self.read(image)
        for space, options, codes in (("3D-right-handed", ("nii.gz",), ["unknown-world"]),
                                      ("3D-left-handed", ("mha",), ["unknown-world"]), ("3D-right-handed", (), []),
                                      ("right-anterior-superior", ("mha",), []), ("LPS", ("nii.gz",), [])):
            self.write("ct.nhdr", ras.replace("right-anterior-superior", space))
            run = self.run_of(image, "-o", "out", "--overwrite", "--fields", "modulus", *(
                ("--field-images", *options) if options else ()))
            found = [warning for warning in run["warnings"] if warning["code"] == "unknown-world"]
            self.assertEqual([warning["code"] for warning in found], codes, space)
            for warning in found:
                self.assertIn("programs take them for " + ("LPS" if "mha" in options else "RAS"), warning["text"])
                self.assertIsNone(run["problem"]["world"])

    def test_an_image_that_does_not_say_where_it_is(self):
        """It lies where other programs put it: the centre of its first voxel is at 0; and so do its fields."""
        data = struct.pack("<720h", *(grey(*v) for v in voxels()))
        meta = f"ObjectType = Image\nNDims = 3\nDimSize = 10 9 8\nElementSpacing = {EDGE} {EDGE} {EDGE}\n"
        rest = "ElementType = MET_SHORT\nElementDataFile = LOCAL\n"
        axes = f"space directions: ({EDGE},0,0) (0,{EDGE},0) (0,0,{EDGE})\n"
        nrrd = "NRRD0004\ntype: int16\ndimension: 3\nsizes: 10 9 8\nendian: little\nencoding: raw\n"
        bare = f"{nrrd}spacings: {EDGE} {EDGE} {EDGE}\n"
        corner, zero = -EDGE / 2, (0, 0, 0)
        for name, head, world, origin in (
                ("a.mha", meta + rest, "LPS", (corner,) * 3),
                ("turned.mha", meta + "TransformMatrix = 0 1 0 -1 0 0 0 0 1\n" + rest, "LPS", (-corner, corner, corner)),
                ("a.nrrd", bare + "\n", None, (corner,) * 3),
                ("lps.nrrd", nrrd + "space: LPS\n" + axes + "\n", "LPS", (corner,) * 3),
                ("ras.nrrd", nrrd + "space: RAS\n" + axes + "\n", "RAS", (corner,) * 3),
                ("cells.nrrd", bare + "axis mins: 3 -4 7\n\n", None, (3, -4, 7)),
                ("nodes.nrrd", bare + "axis mins: 3 -4 7\ncenters: node cell node\n\n", None, (3 + corner, -4, 7 + corner)),
                ("none.nrrd", bare + "axis mins: nan nan nan\n\n", None, (corner,) * 3),
                ("a.nii", None, None, (corner,) * 3)):
            with self.subTest(name=name):
                self.write(name, nifti_bytes(SHAPE, EDGE, "h", [grey(*v) for v in voxels()]) if head is None
                           else head.encode() + data)
                run = self.run_of(self.path(name), "-o", "out", "--overwrite", "--fields", "modulus", "--field-images", "nii")
                self.assertEqual(run["problem"]["world"], world)
                for found, expected in zip(run["problem"]["origin"], origin):
                    self.close(found, expected, 1e-12, 1)
                with open(self.path(f"out/{os.path.splitext(name)[0]}.modulus.nii"), "rb") as file:
                    header = file.read(352)
                # Without a world and a place there is none in the file either, which ITK and nibabel see differently.
                is_placed = world is not None or origin[1] == -4
                self.assertEqual(struct.unpack_from("<hh", header, 252), (is_placed, is_placed))
                rows = [struct.unpack_from("<4f", header, 280 + 16 * i) for i in range(3)]
                sense = -1 if world == "LPS" else 1
                if name != "turned.mha":
                    for i, row in enumerate(rows):
                        self.close(row[3], (sense if i < 2 else 1) * (origin[i] - corner), 1e-6, 1)
                        self.close(row[i], (sense if i < 2 else 1) * EDGE, 1e-6)
                codes = ["unknown-world"] if is_placed and world is None else []
                self.assertEqual([warning["code"] for warning in run["warnings"]], codes)
                # A mask without a place is taken to lie on it, and one with another place not.
                mask = self.write("mask.nii.gz", nifti_bytes(SHAPE, EDGE, "h", [label(*v) for v in voxels()]))
                masked = self.run_of(self.path(name), "--mask", mask)
                codes = ["mask-place"] if origin[1] == -4 or name == "turned.mha" else []
                self.assertEqual([warning["code"] for warning in masked["warnings"]], codes)
                placed = self.nifti("placed.nii.gz", label)
                if name == "turned.mha":  # its axes say that it is another
                    self.fails(BAD_FILE, "the mask lies elsewhere than the image", "bone", self.path(name), "--mask", placed, *LAW)
                    continue
                masked = self.run_of(self.path(name), "--mask", placed)
                self.assertEqual([warning["code"] for warning in masked["warnings"]], ["mask-place"])
                self.assertIn(name + ": says nothing of its place", masked["warnings"][0]["text"])

    def test_a_pair_by_the_name_of_its_voxels(self):
        """Its numbers were taken for raw, with the advice to say their shape."""
        header = bytearray(gzip.decompress(nifti_bytes(SHAPE, EDGE, "h", []))[:348])
        self.write("pair.img", struct.pack("<720h", *(grey(*v) for v in voxels())))
        raw = ("--shape", "10,9,8", "--type", "int16", "--spacing", EDGE)
        for magic, order in ((b"ni1\0", "<"), (bytes(4), "<"), (bytes(4), ">")):
            header[:4], header[344:348] = struct.pack(order + "i", 348), magic
            self.write("pair.hdr", bytes(header))
            for more in ((), raw):
                self.fails(BAD_FILE, "pair.img: is one of a pair with", "bone", self.path("pair.img"), *more, *LAW)
        run = self.run_of(self.path("pair.img"), *raw, "--format", "raw")
        self.write("pair.hdr", "ENVI\nsamples = 10\n")
        self.assertEqual(self.run_of(self.path("pair.img"), *raw)["results"]["response"], run["results"]["response"])

    def test_axes_of_few_digits_are_a_rotation(self):
        """Which turns forces and stresses into the world: NIfTI has seven digits, other headers may have four."""
        head = self.read(self.nrrd("ct.nhdr", grey, detached=True))
        vectors = " ".join("(" + ",".join(f"{turned()[i][d]:.4f}" for i in range(3)) + ")" for d in range(3))
        few = re.sub("space directions: .*", f"space directions: {vectors}", head)
        for image, digits in ((self.image, 1e-6), (self.write("ct.nhdr", few), 3e-4)):
            found = self.run_of(image)["problem"]["direction"]
            for a in range(3):
                for b in range(3):
                    self.close(sum(found[i][a] * found[i][b] for i in range(3)), float(a == b), 1e-14, 1)
                    self.close(found[a][b], turned()[a][b] / EDGE, digits, 1)

    def test_another_spacing_keeps_the_centre_of_the_first_voxel(self):
        axes = turned()
        flat = self.nrrd("ct.nhdr", grey, detached=True)
        head = (f"ObjectType = Image\nNDims = 3\nDimSize = 10 9 8\nElementSpacing = {EDGE} {EDGE} {EDGE}\n"
                f"Offset = 3 -4 7\nElementType = MET_SHORT\nElementDataFile = LOCAL\n")
        meta = self.write("ct.mha", head.encode() + struct.pack("<720h", *(grey(*v) for v in voxels())))
        for image, centre in ((self.image, [row[3] for row in axes]), (flat, [row[3] for row in axes]), (meta, [3, -4, 7])):
            for edge in (0.25, EDGE, 0.8):
                problem = self.run_of(image, "--spacing", edge)["problem"]
                for i in range(3):
                    self.close(problem["origin"][i] + edge / 2 * sum(problem["direction"][i]), centre[i], 1e-6, 10)


def vax(value):
    """A float of a VAX: words of 16 bits in turn, and an exponent that is two higher."""
    big = struct.pack(">f", 4 * value)
    return bytes((big[1], big[0], big[3], big[2]))


class Scanco(BoneImages):
    LOG = (b"! Processing Log\nMu_Scaling                   8192\nDensity: unit                  mg HA/ccm\n"
           b"Density: slope         4096.\nDensity: intercept     -20.\n")

    def isq(self, name, values):
        counts = struct.pack("<13i", 3, 2 * len(values), 0, 0, 0, 0, 0, *SHAPE, *(round(1000 * EDGE * n) for n in SHAPE))
        head = (b"CTDATA-HEADER_V1" + counts).ljust(88, b"\0") + struct.pack("<i", 8192)
        return self.write(name, head.ljust(512, b"\0") + struct.pack(f"<{len(values)}h", *values))

    def aim(self, name, kind, data, log=LOG):
        head = struct.pack("<5i", 20, 140, len(log), len(data), 0)
        head += struct.pack("<12i", 16, 0, 0, 0, 0, kind, 0, 0, 0, *SHAPE).ljust(108, b"\0") + 3 * vax(EDGE)
        return self.write(name, head.ljust(160, b"\0") + log + data)

    def test_densities_and_labels_are_those_of_nifti(self):
        """Stored values are 2 (density + 20); labels are runs of bytes."""
        density = [grey(*v) for v in voxels()]
        stored = struct.pack(f"<{len(density)}h", *(2 * (d + 20) for d in density))
        runs = b"".join(bytes((1, label(*v))) for v in voxels())
        image = self.aim("ct.aim", 0x00020002, stored)
        mask = self.aim("seg.aim", 0x00080002, struct.pack("<i", 4 + len(runs)) + runs)
        plain = [(EDGE, 0, 0, EDGE / 2), (0, EDGE, 0, EDGE / 2), (0, 0, EDGE, EDGE / 2)]
        same = self.write("same.nii", nifti_bytes(SHAPE, EDGE, "h", density, plain))
        same_mask = self.write("same-seg.nii", nifti_bytes(SHAPE, EDGE, "h", [label(*v) for v in voxels()], plain))
        expected = self.run_of(same, "--mask", same_mask)
        run = self.run_of(image, "--mask", mask)
        self.assertEqual(run["results"]["response"], expected["results"]["response"])
        self.assertEqual(run["results"]["labels"], expected["results"]["labels"])
        self.assertNotIn("no-calibration", [w["code"] for w in run["warnings"]])
        for edge in 0.1, EDGE:  # the centre of the first voxel stays
            self.close(self.run_of(image, "--spacing", edge)["problem"]["origin"][0] + edge / 2, 0, 1e-9, 1)

    def test_values_without_a_calibration_are_said_so(self):
        values = [grey(*v) for v in voxels()]
        image = self.isq("ct.isq", values)
        run = self.run_of(image)
        self.assertEqual([w["code"] for w in run["warnings"] if w["code"].startswith("no-c")], ["no-calibration"])
        run = self.run_of(image, "--calibrate", "1,0")
        self.assertNotIn("no-calibration", [w["code"] for w in run["warnings"]])
        for slope, codes in ((b"0.", ["no-calibration"]), (b"4096.", [])):
            image = self.aim("ct.aim", 0x00020002, struct.pack(f"<{len(values)}h", *values),
                             self.LOG.replace(b"4096.", slope))
            run = self.run_of(image)
            self.assertEqual([w["code"] for w in run["warnings"] if w["code"] == "no-calibration"], codes)
        self.fails(BAD_FILE, "ct.aim: voxels are packed bits", "bone",
                   self.aim("ct.aim", 0x00060001, bytes(200)), *LAW)


class Mask(BoneImages):
    def test_the_bone_is_where_the_mask_has_labels(self):
        for labels, wanted in (((), (1, 5)), (("--mask-labels", "5"), (5,)), (("--mask-labels", "5,1"), (1, 5))):
            masked = self.run_of(self.image, "--mask", self.mask, *labels)
            by_hand = self.run_of(self.nifti(
                "cut.nii.gz", lambda *v: grey(*v) if label(*v) in wanted else 0))
            self.assertEqual(masked["results"]["response"], by_hand["results"]["response"])
            self.assertEqual(masked["problem"]["elements"], sum(label(*v) in wanted for v in voxels()))
            self.assertEqual([os.path.basename(file["path"]) for file in masked["provenance"]["inputs"]],
                             ["ct.nii.gz", "seg.nii.gz"])

    def test_a_part_of_the_mask_is_bone(self):
        """BV/TV of a region of interest is by its own volume; pads are no part of it."""
        image = self.nifti("pores.nii.gz", lambda x, y, z: grey(x, y, z) if (x + y + z) % 4 else -1000)
        region = self.nifti("roi.nii.gz", lambda x, y, z: 7 if z == 0 else int(1 <= x < 8))
        for more in ((), ("--mask-labels", "1"), ("--pads", "7=2500"), ("--crop", "2:,:,:"), ("--turn", "z=90")):
            with self.subTest(more=more):
                labels = (1,) if "--pads" in more or "--mask-labels" in more else (1, 7)
                inside = [(x, y, z) for x, y, z in voxels()
                          if x >= 2 * ("--crop" in more) and (7 if z == 0 else int(1 <= x < 8)) in labels]
                run = self.run_of(image, "--mask", region, *more)
                self.assertEqual(run["problem"]["dropped_elements"], 0)
                self.close(run["problem"]["mask_fraction"], sum(sum(v) % 4 > 0 for v in inside) / len(inside), 1e-12)
        self.assertNotIn("mask_fraction", self.run_of(image)["problem"])
        text = self.ossatura("bone", image, "--mask", region, *LAW).stdout
        self.assertRegex(text, r"BV/TV 0\.\d+ of the image, 0\.\d+ of the mask")

    def test_a_round_region_is_no_cell(self):
        """What a box has beside a region is void, and homogenised with it; the cell of periodic sides is the whole image.
        A mask of the bone itself has no voids."""
        def is_pore(x, y, z):
            return (x // 2 + y // 2 + z // 2) % 3 == 0

        def is_round(x, y, z):
            return (x - 4.5) ** 2 + (y - 4) ** 2 < 22

        image = self.nifti("cube.nii.gz", lambda *v: -1000 if is_pore(*v) else 900)
        both = ("kinematic", "periodic")
        for name, inside, doubted in (("round", is_round, both), ("box", lambda x, y, z: 2 <= x < 9, ("periodic",)),
                                      ("whole", lambda *v: True, ()), ("bone", lambda *v: not is_pore(*v), ()),
                                      ("round-bone", lambda *v: is_round(*v) and not is_pore(*v), ())):
            mask = self.nifti(name + ".nii.gz", lambda *v, inside=inside: int(inside(*v)))
            for boundary in both:
                with self.subTest(name=name, boundary=boundary):
                    run = self.run_of(image, "--mask", mask, "--test", "homogenise", "--boundary", boundary)
                    self.assertEqual("masked-cell" in [w["code"] for w in run["warnings"]], boundary in doubted)

    def test_statistics_of_labels_add_up_to_those_of_the_whole(self):
        for options in ((), ("--resample", "0.35")):
            results = self.run_of(self.image, "--mask", self.mask, *options)["results"]
            parts = results["labels"]
            self.assertEqual(list(parts), ["1", "5"])
            count = sum(part["elements"] for part in parts.values())
            self.assertEqual(count, results["sed"]["count"])
            self.close(sum(part["energy_share"] for part in parts.values()), 1, 1e-12)
            for field in "sed", "von_mises", "effective_strain":
                mean = sum(part["elements"] * part[field + "_mean"] for part in parts.values()) / count
                self.close(mean, results[field]["mean"], 1e-6)
            for field in "von_mises", "effective_strain":
                self.assertEqual(max(part[field + "_maximum"] for part in parts.values()),
                                 results[field]["maximum"])
            for part in parts.values():
                self.close(part["energy_share"], part["sed_mean"] * part["elements"] / count /
                           results["sed"]["mean"], 1e-6)
        core = [10 * grey(*v) for v in voxels() if label(*v) == 1]
        part = self.run_of(self.image, "--mask", self.mask)["results"]["labels"]["1"]
        self.assertEqual(part["elements"], len(core))
        self.close(part["modulus_mean"], sum(core) / len(core), 1e-6)
        text = self.ossatura("bone", self.image, "--mask", self.mask, *LAW).stdout
        self.assertRegex(text, rf"(?m)^  1 +{len(core)} ")

    def test_a_mask_in_the_world_of_itk(self):
        axes = turned()
        matrix = " ".join(str((-1 if i < 2 else 1) * axes[i][d] / EDGE) for d in range(3) for i in range(3))
        offset = " ".join(str((-1 if i < 2 else 1) * axes[i][3]) for i in range(3))
        head = (f"ObjectType = Image\nNDims = 3\nDimSize = 10 9 8\nElementSpacing = {EDGE} {EDGE} {EDGE}\n"
                f"TransformMatrix = {matrix}\nOffset = {offset}\nElementType = MET_UCHAR\n"
                "ElementDataFile = LOCAL\n").encode()
        path = self.write("seg.mha", head + bytes(label(*v) for v in voxels()))
        self.assertEqual(self.run_of(self.image, "--mask", path)["results"]["response"],
                         self.run_of(self.image, "--mask", self.mask)["results"]["response"])
        mirrored = self.write("wrong.mha", head.replace(offset.encode(), b"0 0 0") +
                              bytes(label(*v) for v in voxels()))
        self.fails(BAD_FILE, "wrong.mha: the mask lies elsewhere than the image", "bone", self.image, "--mask",
                   mirrored, *LAW)

    def test_what_is_no_mask_of_the_image_is_refused(self):
        for mask, message in (
                (self.nifti("thin.nii.gz", label, shape=(10, 9, 7)),
                 "thin.nii.gz: the mask has 10 x 9 x 7 voxels, and the image"),
                (self.nifti("away.nii.gz", label, away=0.3), "their corners are up to 0.3 mm apart"),
                (self.nifti("half.nii.gz", lambda *v: 0.5 if v == (4, 3, 2) else label(*v), "f"),
                 "half.nii.gz: voxel (4, 3, 2) has the value 0.5: a mask holds labels"),
                (self.nifti("grey.nii.gz", lambda x, y, z: 0 if x < 3 else grey(x, y, z)),
                 "grey.nii.gz: has more than 64 values that differ from voxel to voxel, as grey values do"),
                (self.nifti("empty.nii.gz", lambda *v: 0), "none of the 720 voxels of bone has a label"),
                ("none.nii.gz", "none.nii.gz: there is no such file")):
            self.fails(BAD_FILE, message, "bone", self.image, "--mask", mask, *LAW)
        self.fails(BAD_FILE, "the mask has no label 3; it has 1, 5", "bone", self.image, "--mask", self.mask,
                   "--mask-labels", "1,3", *LAW)
        self.nifti("near.nii.gz", label, away=0.02)  # less than a tenth of a voxel
        self.run_of(self.image, "--mask", self.path("near.nii.gz"))
        raw = self.write("ct.raw", struct.pack("<720h", *(grey(*v) for v in voxels())))
        self.fails(BAD_FILE, "a mask is MetaImage (.mha, .mhd), NIfTI (.nii, .nii.gz), NRRD", "bone", self.image, "--mask", raw, *LAW)
        self.run_of(raw, "--shape", "10,9,8", "--type", "int16", "--spacing", "0.5", "--mask", self.mask)

    def test_what_is_outside_of_the_mask_is_not_looked_at(self):
        """Padding, metal and labels without a material: of no voxel of the bone."""
        modulus = ("--law", "modulus", "--mask", self.mask, *LAW[-3:])
        inside = self.nifti("inside.nii.gz", lambda *v: grey(*v) if label(*v) else 0, "f")
        expected = self.summary("bone", inside, *modulus)
        for outside in -3024, 1e32, 5e4:
            image = self.nifti("padded.nii.gz", lambda *v: grey(*v) if label(*v) else outside, "f")
            run = self.summary("bone", image, *modulus)
            self.assertEqual(run["results"]["response"], expected["results"]["response"])
            self.assertEqual(run["problem"]["modulus"], expected["problem"]["modulus"])
            soft = self.nifti("gpa.nii.gz", lambda *v: 15 if label(*v) else outside, "f")
            self.fails(BAD_FILE, "the largest modulus is 15, which is softer than any bone", "bone", soft, *modulus)
            run = self.summary("bone", soft, *modulus, "--modulus-unit", "GPa")
            self.close(run["problem"]["modulus"]["maximum"], 15000)
        labels = self.nifti("labels.nii.gz", lambda *v: 1 + label(*v))
        run = self.summary("bone", labels, *modulus[2:], "--law", "labels", "--labels", "2=900,6=1200:0.2")
        self.assertEqual(run["problem"]["elements"], sum(label(*v) > 0 for v in voxels()))
        core = ("bone", labels, *modulus[2:], "--mask-labels", "1", "--law", "labels", "--labels")
        self.close(self.summary(*core, "2=900")["problem"]["modulus"]["maximum"], 900)
        self.fails(BAD_FILE, "has the label 2, which is not in the label table", *core, "6=1200")
        for wrong, message in ((-5, "would have a negative"), (1e32, "at most 1e30 is taken")):
            image = self.nifti("bad.nii.gz", lambda *v: wrong if v == (4, 4, 3) else grey(*v), "f")
            self.fails(BAD_FILE, message, "bone", image, *modulus)
        write(self.path("parosol.h5"), "Image_Data", {"Image": ((2, 2, 2), [1000.0] * 8), "Voxelsize": ((), [0.5]),
                                                      "Poisons_ratio": ((), [0.3])})
        self.fails(USAGE, "--mask is for grey values", "bone", "parosol.h5", "--mask", self.mask, "-q")

    def test_images_of_others_in_hdf5(self):
        """The first bytes are those of ParOSol's files."""
        for group, name, message in (
                ("ITKImage", "ct.h5", "is an image of ITK (HDF5ImageIO), not of ParOSol, which is what is read of HDF5: convert it to .mha"),
                ("minc-2.0", "ct.mnc", "is an image of MINC 2, not of ParOSol, which is what is read of HDF5: convert it to .nii"),
                ("VTKHDF", "ct.hdf", "is a file of VTKHDF, as of results")):
            write(self.path(name), group, {"VoxelData": ((2, 2, 2), [1000.0] * 8)})
            self.fails(BAD_FILE, f"{name}: {message}", "bone", name, *LAW, "-q")
        write(self.path("other.h5"), "entry", {"data": ((2, 2, 2), [1000.0] * 8)})
        self.fails(BAD_FILE, "other.h5: /: there is no group 'Image_Data'; it has entry", "bone", "other.h5", "-q")

    def test_a_mask_of_parts_of_voxels_is_doubted(self):
        """As of one that was blurred: its values are few enough for labels."""
        def soft(x, y, z):
            return 15 * max(0, min(17, round(27 - 7 * math.hypot(x - 4.3, y - 3.8))))

        def bands(x, y, z):
            return 20 * (z + 1)

        run = self.run_of(self.image, "--mask", self.nifti("soft.nii.gz", soft))
        self.assertEqual([warning["code"] for warning in run["warnings"]], ["partial-mask"])
        self.assertIn("127.5 is half", run["warnings"][0]["text"])
        for mask, more in ((self.nifti("soft.nii.gz", soft), ("--mask-labels", "255")), (self.nifti("bands.nii.gz", bands), ()),
                           (self.nifti("solid.nii.gz", lambda *v: 255 * (label(*v) > 0)), ())):
            self.assertEqual(self.run_of(self.image, "--mask", mask, *more)["warnings"], [])

    def test_a_mask_without_a_place_is_doubted(self):
        values = [label(*v) for v in voxels()]
        path = self.write("bare.nii.gz", nifti_bytes(SHAPE, EDGE, "h", values))
        summary = self.run_of(self.image, "--mask", path)
        self.assertEqual([warning["code"] for warning in summary["warnings"]], ["mask-place"])
        self.assertEqual(self.run_of(self.image, "--mask", self.mask)["warnings"], [])
        path = self.write("large.nii.gz", nifti_bytes(SHAPE, 0.6, "h", values))
        self.fails(BAD_FILE, "an edge of 0.6 mm along x", "bone", self.image, "--mask", path, *LAW)

    def test_a_mask_lies_on_the_image_whatever_its_edge_is(self):
        """--spacing says what the edge is, not where the axes of the mask point."""
        def nifti(name, value, edge, rows):
            return self.write(name, nifti_bytes(SHAPE, edge, "h", [value(*v) for v in voxels()], rows))

        other = ("--spacing", "0.3")
        expected = self.run_of(self.image, "--mask", self.mask, *other)
        self.assertEqual(expected["warnings"], [])
        # Of the edge that is said, with the centre of the first voxel.
        right = nifti("right.nii.gz", label, 0.3, turned(edge=0.3))
        self.assertEqual(self.run_of(self.image, "--mask", right, *other)["results"]["response"], expected["results"]["response"])
        back = nifti("back.nii.gz", lambda x, y, z: label(9 - x, y, z), EDGE,
                     [(-row[0], row[1], row[2], row[3] + 9 * row[0]) for row in turned()])
        away = self.nifti("away.nii.gz", label, away=0.3)
        for more in ((), other, ("--spacing", str(EDGE))):
            for mask in (back, away):
                self.fails(BAD_FILE, "the mask lies elsewhere than the image", "bone", self.image, "--mask", mask, *more, *LAW)
        self.fails(BAD_FILE, "the voxels of the mask have an edge of 0.4 mm along x", "bone", self.image, "--mask",
                   nifti("else.nii.gz", label, 0.4, turned(edge=0.4)), *other, *LAW)
        # Without the name of a world, numbers are compared.
        def nrrd(name, value, rows):
            vectors = " ".join("(" + ",".join(str(rows[i][d]) for i in range(3)) + ")" for d in range(3))
            head = ("NRRD0004\ntype: int16\ndimension: 3\nsizes: 10 9 8\nendian: little\nencoding: raw\nspace dimension: 3\n"
                    f"space directions: {vectors}\nspace origin: ({','.join(str(row[3]) for row in rows)})\n\n")
            return self.write(name, head.encode() + struct.pack("<720h", *(value(*v) for v in voxels())))

        straight = [(EDGE, 0, 0, 3), (0, EDGE, 0, 4), (0, 0, EDGE, 5)]
        image = nrrd("ct.nrrd", grey, straight)
        self.assertEqual(self.run_of(image, "--mask", nrrd("seg.nrrd", label, straight))["warnings"], [])
        for rows in ([(-EDGE, 0, 0, 7.5), *straight[1:]], [(EDGE, 0, 0, 3.3), *straight[1:]]):
            self.fails(BAD_FILE, "the mask lies elsewhere than the image", "bone", image, "--mask", nrrd("seg.nrrd", label, rows), *LAW)
        nowhere = [(EDGE, 0, 0, 0), (0, EDGE, 0, 0), (0, 0, EDGE, 0)]
        run = self.run_of(image, "--mask", nrrd("seg.nrrd", label, nowhere))
        self.assertEqual([warning["code"] for warning in run["warnings"]], ["mask-place"])
        self.assertIn("seg.nrrd: says nothing of its place", run["warnings"][0]["text"])
        # A raw image has no place, and the edge that is said.
        raw = (self.write("ct.raw", struct.pack("<720h", *(grey(*v) for v in voxels()))), "--shape", "10,9,8", "--type", "int16")
        for edge, mask in (("0.5", self.mask), ("0.3", right)):
            run = self.run_of(*raw, "--spacing", edge, "--mask", mask)
            self.assertEqual([warning["code"] for warning in run["warnings"]], ["mask-place"])
        self.fails(BAD_FILE, "an edge of 0.5 mm along x, and those of the image", "bone", *raw, "--spacing", "0.3", "--mask",
                   self.mask, *LAW)
        plain = self.write("plain.nii.gz", nifti_bytes(SHAPE, 1, "h", [label(*v) for v in voxels()]))
        run = self.run_of(*raw, "--spacing", "0.3", "--mask", plain)
        self.assertEqual(run["results"]["response"], expected["results"]["response"])
        (warning,) = run["warnings"]
        self.assertIn("plain.nii.gz: its voxels have edges of 1 mm, as of files that do not know theirs", warning["text"])

    def test_options_that_say_nothing_are_refused(self):
        self.fails(USAGE, "--mask-labels has no effect without --mask", "bone", self.image, *LAW,
                   "--mask-labels", "1")
        self.fails(USAGE, "--mask has no effect without an image that is read", "bone", "--generate", "cube",
                   "--mask", self.mask)
        surface = self.write("tetra.off", "OFF\n4 4 0\n0 0 0\n9 0 0\n0 9 0\n0 0 9\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
        self.fails(USAGE, "is a surface", "bone", surface, "--voxel", "1", "--mask", self.mask, "-q")
        self.fails(USAGE, "put a * for the name of each", "bone", self.image, self.mask, "--mask", self.mask, *LAW)

    def test_each_of_several_images_has_its_mask(self):
        os.mkdir(self.path("masks"))
        inputs = [self.nifti(f"{name}.nii.gz", grey) for name in ("P1", "P2")]
        for name, value in (("P1", label), ("P2", lambda *v: label(*v) == 5)):
            self.nifti(f"masks/{name}-seg.nii.gz", value)
        cohort = self.summary("bone", *inputs, "--mask", self.path("masks/*-seg.nii.gz"), *LAW)
        table = self.summary("bone", *inputs, "--mask", self.path("masks/*-seg.nii.gz"), "--mask-labels", "1",
                             *LAW)["members"]
        self.assertEqual([member["values"]["label_1_elements"] for member in table],
                         [sum(label(*v) == name for v in voxels()) for name in (1, 5)])
        self.assertIn("energy_share", "".join(table[0]["values"]))
        self.assertEqual([member["values"]["elements"] for member in cohort["members"]],
                         [sum(label(*v) > 0 for v in voxels()), sum(label(*v) == 5 for v in voxels())])
        done = self.ossatura("bone", *inputs, "--mask", self.path("masks/*-seg.nii.gz"), *LAW[:-1], "-o", "out",
                             "--skip-complete")
        self.assertEqual(done.stderr.count("converged after"), 2)
        self.nifti("masks/P2-seg.nii.gz", label)
        done = self.ossatura("bone", *inputs, "--mask", self.path("masks/*-seg.nii.gz"), *LAW[:-1], "-o", "out",
                             "--skip-complete", "--overwrite")
        self.assertEqual((done.stderr.count("P1: converged before"), done.stderr.count("P2: converged after")), (1, 1))


class Doubts(BoneImages):
    """Numbers in other units, and images without void, end with exit 0 and a word."""

    def codes(self, *arguments):
        return [w["code"] for w in self.summary("bone", self.image, "--law", "linear", "--slope", "10", "--backend", "serial",
                                                "--tolerance", "1e-3", "-q", *arguments)["warnings"]]

    def test_a_filter_of_a_sigma_in_voxels(self):
        for sigma, codes in (("0.4:1", []), ("0.6:2", []), ("0.4", []), ("2.4", []), ("0.8:1", ["odd-filter"]),
                             ("3", ["odd-filter"]), ("40", ["odd-filter"]), ("0.0004", ["odd-filter"]), ("0.15", [])):
            with self.subTest(sigma=sigma):
                self.assertEqual(self.codes("--lower", "1", "--gaussian", sigma), codes)
        process = self.ossatura("bone", self.image, *LAW, "--gaussian", "0.8:1")
        self.assertIn("--gaussian 0.8 is a sigma of 1.6 voxels of 0.5 mm, of which the filter takes 1 on either side",
                      process.stderr)
        self.assertIn("0.8 voxels are 0.4 mm", process.stderr)

    def test_depths_of_less_than_a_voxel(self):
        """As of 4 mm in m: plates touched the ends alone, as without the option."""
        for options, codes in ((("--plate-depth", "0.004"), ["no-depth"]), (("--plate-depth", "0.5"), []), (("--plate-depth", "0"), []),
                               (("--surface", "visible", "--surface-depth", "upper=0.004,lower=0"), ["no-depth"]),
                               (("--surface", "visible", "--surface-depth", "inf"), [])):
            with self.subTest(options=options):
                self.assertEqual(self.codes("--lower", "1", *options), codes)

    def test_a_cap_as_thick_as_its_modulus(self):
        self.assertEqual(self.codes("--lower", "1", "--cap", "3"), [])
        self.fails(BAD_FILE, "--cap: a thickness of 2500 mm is more than ten times the longest side of the image, 5 mm: the thickness "
                   "comes before the modulus", "bone", self.image, *LAW, "--cap", "2500")

    def test_an_image_that_is_bone_everywhere(self):
        """The law has a modulus for soft tissue and air as well; the apparent modulus is of all of them."""
        everywhere = ["no-void"]
        self.assertEqual(self.codes(), everywhere)
        self.assertEqual(self.codes("--lower", "950", "--clamp", "955,990"), everywhere)
        for meant in (("--lower", "1"), ("--crop", "1:,:,:"), ("--mask", self.mask), ("--lower", "950"), ("--clamp", "0,950"),
                      ("--lower", "900", "--clamp", "890,950")):
            with self.subTest(options=meant):
                self.assertEqual(self.codes(*meant), everywhere if meant[0] == "--clamp" else [])

    def test_yield_and_fracture_in_other_units(self):
        mean = 9480  # MPa: 60 of them are 0.0063
        for stress, codes in ((60, []), (15, []), (0.06, ["odd-strength"]), (6e7, ["odd-strength"])):
            with self.subTest(stress=stress):
                found = self.codes("--lower", "1", "--strength", "von-mises", "--yield-stress", str(stress), "--load-steps", "4",
                                   "--strain", "-0.01")
                self.assertEqual([code for code in found if code == "odd-strength"], codes)
        for energy, codes in (("1", []), ("300", ["odd-strength"])):
            found = self.codes("--lower", "1", "--strength", "damage", "--fracture-energy", energy, "--load-steps", "2",
                               "--strain", "-0.001")
            self.assertEqual([code for code in found if code == "odd-strength"], codes)
        self.close(self.run_of(self.image)["problem"]["modulus"]["mean"], mean, 1e-2)


class FieldImages(BoneImages):
    def test_fields_lie_on_the_image(self):
        arguments = (self.image, "--mask", self.mask, *LAW, "--fields", "modulus,sed,von_mises", "-o", "out")
        for kind in "nii.gz", "nii":
            self.ossatura("bone", *arguments, "--field-images", kind)
            solid = [v for v in voxels() if label(*v) > 0]
            index = {v: i for i, v in enumerate(voxels())}
            corners = self.corners("out/ct.hdf")
            for field in "modulus", "sed", "von_mises":
                shape, rows, values = read_nifti(self.path(f"out/ct.{field}.{kind}"))
                self.assertEqual(shape, SHAPE)
                for row, wanted in zip(rows, turned()):
                    for number, right in zip(row, wanted):
                        self.close(number, right, 1e-6, 1)
                self.assertEqual(sum(value != 0 for value in values), len(solid))
                of_file = read(self.path("out/ct.hdf"), f"VTKHDF/CellData/{field}")
                for corner, value in zip(corners, of_file):  # voxels by their lowest corner in the image
                    self.assertEqual(values[index[corner]], struct.unpack("f", struct.pack("f", value))[0])
                if field == "modulus":
                    for v in solid:
                        self.close(values[index[v]], 10 * grey(*v), 1e-6)

    def corners(self, path):
        """(x, y, z) of the voxels of the fields, from points in the world."""
        points, corners = (read(self.path(path), f"VTKHDF/{name}") for name in ("Points", "Connectivity"))
        axes = [[turned()[i][d] / EDGE for i in range(3)] for d in range(3)]
        found = []
        for cell in range(len(corners) // 8):
            nodes = list(map(int, corners[8 * cell:8 * cell + 8]))
            middle = [sum(points[3 * n + i] for n in nodes) / 8 - turned()[i][3] for i in range(3)]
            found.append(tuple(round(sum(a * m for a, m in zip(axis, middle)) / EDGE) for axis in axes))
        return found

    def test_meta_images(self):
        self.ossatura("bone", self.image, *LAW, "--fields", "sed", "-o", "out", "--no-hdf", "--field-images", "mha",
                      "--compress", "none")
        with open(self.path("out/ct.sed.mha"), "rb") as file:
            head, data = file.read().split(b"ElementDataFile = LOCAL\n")
        facts = dict(line.split(" = ") for line in head.decode().splitlines())
        sense = (-1, -1, 1)
        for text, wanted in (
                (facts["Offset"], [s * row[3] for s, row in zip(sense, turned())]),
                (facts["TransformMatrix"], [sense[i] * turned()[i][d] / EDGE for d in range(3) for i in range(3)])):
            for number, right in zip(map(float, text.split()), wanted):
                self.close(number, right, 1e-6, 1)
        self.assertEqual((facts["DimSize"], facts["ElementType"], len(data)), ("10 9 8", "MET_FLOAT", 4 * 720))
        packed = self.run_of(self.image, "--fields", "sed", "-o", "out", "--no-hdf", "--field-images", "mha")
        self.assertEqual([os.path.basename(name) for name in packed["results"]["files"]], ["ct.sed.mha"])
        again = self.summary("bone", self.path("out/ct.sed.mha"), "--law", "linear", "--dry-run", "-q")
        self.assertEqual(again["problem"]["shape"], list(SHAPE))

    def test_parts_of_an_image_that_says_no_place(self):
        """ITK has such an image along LPS from 0; programs that read a field of it are to show it there."""
        plain = self.write("plain.nii", gzip.decompress(nifti_bytes(SHAPE, EDGE, "h", [grey(*v) for v in voxels()])))
        half = EDGE / 2
        for options, centre in (((), None), (("--crop", "1:10,2:9,3:8"), (-EDGE, -2 * EDGE, 3 * EDGE)),
                                (("--resample", str(half)), (half / 2, half / 2, -half / 2))):
            self.run_of(plain, *options, "--fields", "modulus", "-o", "out", "--overwrite", "--no-hdf", "--field-images", "nii")
            with open(self.path("out/plain.modulus.nii"), "rb") as file:
                codes = struct.unpack_from("<2h", file.read(), 252)
            self.assertEqual(codes, (0, 0) if centre is None else (1, 1))
            _, rows, _ = read_nifti(self.path("out/plain.modulus.nii"))
            if centre is not None:
                for d, sense in enumerate((-1, -1, 1)):
                    self.close(rows[d][3], centre[d], 1e-6, 1)
                    self.assertEqual([number * sense > 0 for number in rows[d][:3]], [k == d for k in range(3)])

    def test_options_that_give_no_image_are_refused(self):
        images = ("--field-images", "nii.gz")
        for options, message in (((), "--field-images has no effect without --output-dir"),
                                 (("-o", "out", "--test", "homogenise"), "of whose six loads no fields are kept"),
                                 (("-o", "out", "--fields", "displacement,stress"), "has one number for a voxel")):
            self.fails(USAGE, message, "bone", self.image, *LAW, *images, *options)


class Resample(DriverCase):
    """Boxes of 0.5 x 0.5 x 1 mm, as of clinical CT."""
    SHAPE, EDGES = (8, 7, 6), (0.5, 0.5, 1.0)
    ROWS = [(0, -0.5, 0, 4), (0.5, 0, 0, -2), (0, 0, 1.0, 9)]

    def setUp(self):
        super().setUp()
        self.boxes = [(x, y, z) for z in range(6) for y in range(7) for x in range(8)]
        self.image = self.write_boxes("ct.nii.gz", self.grey)

    def write_boxes(self, name, value):
        return self.write(name, nifti_bytes(self.SHAPE, self.EDGES, "h", [value(*v) for v in self.boxes], self.ROWS))

    @staticmethod
    def grey(x, y, z):
        return 900 + (7 * x + 5 * y + 31 * z) % 97

    def cubes(self, name, value):
        """What --resample 0.5 makes of a function of z: halves of boxes, linearly between their centres."""
        def at(x, y, z):
            place = min(max((z + 0.5) / 2 - 0.5, 0), 5)
            low = min(int(place), 4)
            return (1 - place + low) * value(x, y, low) + (place - low) * value(x, y, low + 1)
        values = [at(x, y, z) for z in range(12) for y in range(7) for x in range(8)]
        rows = [(*row[:2], row[2] / 2, row[3] - row[2] / 4) for row in self.ROWS]
        return self.write(name, nifti_bytes((8, 7, 12), 0.5, "f", values, rows))

    def test_boxes_become_cubes(self):
        self.fails(BAD_FILE, "--resample 0.5", "bone", self.image, *LAW)
        arguments = ("--field-images", "nii", "--fields", "modulus", "--no-hdf")
        mine = self.summary("bone", self.image, *LAW, "--resample", "0.5", "-o", "mine", *arguments)
        hand = self.summary("bone", self.cubes("hand.nii.gz", self.grey), *LAW, "-o", "hand", *arguments)
        self.assertEqual((mine["problem"]["shape"], mine["problem"]["spacing"]), ([8, 7, 12], 0.5))
        self.assertIn("resampled from 8 x 7 x 6 voxels of 0.5 x 0.5 x 1 mm", mine["problem"]["source"])
        self.assertEqual(mine["problem"]["origin"], hand["problem"]["origin"])
        self.close(mine["results"]["response"]["stiffness"], hand["results"]["response"]["stiffness"], 1e-5)
        shape, rows, values = read_nifti(self.path("mine/ct.modulus.nii"))
        other = read_nifti(self.path("hand/hand.modulus.nii"))
        self.assertEqual((shape, rows), other[:2])
        for value, wanted in zip(values, other[2]):
            self.close(value, wanted, 1e-6)
        self.assertEqual(self.summary("bone", self.image, *LAW, "--resample", "1", "--dry-run")["problem"]["shape"],
                         [4, 4, 6])

    def test_labels_and_masks_are_of_the_nearest(self):
        def labels(x, y, z):
            return 1 if 2 <= x <= 5 else 2
        mask = self.write_boxes("seg.nii.gz", labels)
        law = ("--law", "labels", "--labels", "1=17000,2=9000", "--backend", "serial", "-q")
        problem = self.summary("bone", mask, *law, "--resample", "0.25", "--dry-run")["problem"]
        self.assertEqual((problem["shape"], problem["modulus"]["minimum"], problem["modulus"]["maximum"]),
                         ([16, 14, 24], 9000, 17000))
        self.assertEqual(problem["modulus"]["mean"], 13000)
        masked = self.summary("bone", self.image, *LAW, "--resample", "0.25", "--mask", mask, "--mask-labels", "1",
                              "--dry-run")
        self.assertEqual(masked["problem"]["elements"], 8 * 14 * 24)
        thin = self.write("thin.nii.gz", nifti_bytes(self.SHAPE, (0.5, 0.5, 0.9), "h", [1] * 336, [
            (*row[:2], 0.9 * row[2], row[3]) for row in self.ROWS]))
        self.fails(BAD_FILE, "an edge of 0.9 mm along z", "bone", self.image, *LAW, "--resample", "0.5", "--mask", thin)

    def test_of_two_voxels_that_are_equally_near_the_upper_one_counts(self):
        """Whatever the digits of an edge are: NIfTI has it in single precision, MetaImage in double."""
        shape = (6, 5, 9)
        cells = [(x, y, z) for z in range(9) for y in range(5) for x in range(6)]
        values = [900 + (7 * x + 5 * y + 3 * z) % 97 for x, y, z in cells]
        marks = [1 + (x * y + z) % 3 for x, y, z in cells]

        def meta(name, edge, numbers):
            head = f"ObjectType = Image\nNDims = 3\nDimSize = 6 5 9\nElementSpacing = {edge} {edge} {edge}\n"
            return self.write(name, (head + "ElementType = MET_SHORT\nElementDataFile = LOCAL\n").encode() +
                              struct.pack(f"<{len(numbers)}h", *numbers))

        # Voxel k of labels takes floor(ratio (k + 1 / 2)); halves of a cube more are a cube.
        for edge, ratio, cubes in ((0.1, 2, (3, 3, 5)), (0.082, 2, (3, 3, 5)), (0.0607, 2, (3, 3, 5)), (0.3, 4, (2, 1, 2)),
                                   (0.7, 2, (3, 3, 5)), (0.5, 2, (3, 3, 5)), (0.3, 0.4, (15, 13, 23))):
            more = ("--resample", f"{edge * ratio:.6g}", "--mask-labels", "1,2", "-o", "out", "--overwrite")
            taken = [[min(int(ratio * (k + 0.5) + 1e-9), count - 1) for k in range(cubes[d])] for d, count in enumerate(shape)]
            count = sum(marks[x + 6 * (y + 5 * z)] < 3 for z in taken[2] for y in taken[1] for x in taken[0])
            found = []
            for image, mask in ((meta("ct.mha", edge, values), meta("seg.mha", edge, marks)),
                                (self.write("ct.nii.gz", nifti_bytes(shape, edge, "h", values)),
                                 self.write("seg.nii.gz", nifti_bytes(shape, edge, "h", marks)))):
                problem = self.summary("bone", image, "--mask", mask, *LAW, *more, "--dry-run")["problem"]
                found.append((problem["shape"], problem["elements"]))
            with self.subTest(edge=edge, ratio=ratio):
                self.assertEqual(found[0], (list(cubes), count))
                self.assertEqual(found[1], found[0])
        for edge in 0.1, 0.082:
            turn = ("--turn", "z=90", "--resample", str(2 * edge), "--dry-run")
            counts = [self.summary("bone", image, "--mask", mask, "--mask-labels", "1", *LAW, *turn)["problem"]["elements"]
                      for image, mask in ((meta("ct.mha", edge, values), meta("seg.mha", edge, marks)),
                                          (self.write("ct.nii.gz", nifti_bytes(shape, edge, "h", values)),
                                           self.write("seg.nii.gz", nifti_bytes(shape, edge, "h", marks))))]
            self.assertEqual(counts[0], counts[1])

    def test_what_is_not_resampled_is_refused(self):
        surface = self.write("tetra.off", "OFF\n4 4 0\n0 0 0\n9 0 0\n0 9 0\n0 0 9\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
        write(self.path("bone.h5"), "Image_Data", {"Image": ((2, 2, 2), [1000.0] * 8), "Voxelsize": ((), [0.5]),
                                                   "Poisons_ratio": ((), [0.3])})
        for arguments, message in (((surface, "--voxel", "1"), "choose its voxels with --voxel"),
                                   (("bone.h5",), "--resample is for grey values"),
                                   ((self.image, "--spacing", "0.5", "--law", "linear"), "both --spacing and --resample"),
                                   (("--generate", "cube"), "--resample has no effect without an image"),
                                   ((self.image, "--voxel", "-1"), "--voxel -1: an edge in mm")):
            self.fails(USAGE, message, "bone", "--resample", "0.5", *arguments, "-q")
        self.fails(USAGE, "--resample -1: an edge in mm", "bone", self.image, "--resample", "-1")
        self.fails(BAD_FILE, "at most 2^20", "bone", self.image, *LAW, "--resample", "1e-7")
        raw = self.write("ct.raw", struct.pack("<336h", *(self.grey(*v) for v in self.boxes)))
        problem = self.summary("bone", raw, "--shape", "8,7,6", "--type", "int16", "--spacing", "0.5", *LAW,
                               "--resample", "1", "--dry-run")["problem"]
        self.assertEqual(problem["shape"], [4, 4, 3])


class Turn(BoneImages):
    """--turn and --align: the bone is turned, and lies where the scan has it all the same."""
    SIDE = 32
    AXIS, ANGLE = (0.6, 0.8, 0.0), 25.0  # by which the pin below leans
    EXACT = ("--precision", "double", "--tolerance", "1e-10")

    def rotate(self, v, angle):
        """Rodrigues' formula, in degrees."""
        (a, b, c), s, k = v, math.sin(math.radians(angle)), self.AXIS
        cosine, along = math.cos(math.radians(angle)), sum(x * y for x, y in zip(k, v))
        cross = (k[1] * c - k[2] * b, k[2] * a - k[0] * c, k[0] * b - k[1] * a)
        return tuple(cosine * x + s * y + (1 - cosine) * along * z for x, y, z in zip(v, cross, k))

    def pin(self, name, value, angle):
        """value(d) of the distance d, in mm from within, to the surface of a pin that leans, whose area
        voxels have to 1 %, wherever their centres are."""
        values = []
        for z in range(self.SIDE):
            for y in range(self.SIDE):
                for x in range(self.SIDE):
                    a, b, c = self.rotate(tuple(i + 0.5 - self.SIDE / 2 for i in (x, y, z)), -angle)
                    values.append(value(min(4.39 - math.hypot(a, b), 11 - abs(c))))
        place = [(1, 0, 0, 4), (0, -1, 0, 7), (0, 0, 1, -9)]
        return self.write(name, nifti_bytes((self.SIDE,) * 3, 1.0, "h", values, place))

    def angle_to(self, axis, wanted):
        return math.degrees(math.acos(min(1, abs(sum(a * b for a, b in zip(axis, wanted))))))

    def test_a_turn_by_a_right_angle_exchanges_axes(self):
        nx, ny, nz = SHAPE
        # x=90 takes y to z and z to -y.
        places = [(x, z, nz - 1 - y) for z in range(ny) for y in range(nz) for x in range(nx)]
        rows = [(a, -c, b, o + c * (nz - 1)) for a, b, c, o in turned()]
        hand = self.write("hand.nii.gz", nifti_bytes((nx, nz, ny), EDGE, "h", [grey(*v) for v in places], rows))
        hand_mask = self.write("hand-seg.nii.gz", nifti_bytes((nx, nz, ny), EDGE, "h", [label(*v) for v in places], rows))
        fields = ("--fields", "modulus,sed", "--field-images", "nii", "-o", "out")
        wanted = self.run_of(hand, "--mask", hand_mask, *fields)
        for turns in ("x=90",), ("2/0/0=-270",), ("z=90,y=90", "--turn", "z=-90"):
            run = self.run_of(self.image, "--mask", self.mask, *fields, "--overwrite", "--turn", *turns)
            for part in "response", "reactions", "labels", "sections":
                self.assertEqual(run["results"][part], wanted["results"][part])
            for field in "modulus", "sed":
                found, other = (read_nifti(self.path(f"out/{name}.{field}.nii")) for name in ("ct", "hand"))
                self.assertEqual((found[0], found[2]), (other[0], other[2]))
                for number, right in zip(sum(found[1], ()), sum(other[1], ())):
                    self.close(number, right, 1e-6, 1)
            self.assertEqual(run["problem"]["volume_fraction"], wanted["problem"]["volume_fraction"])
        self.assertEqual([[round(n) for n in row] for row in run["problem"]["turn"]["rotation"]],
                         [[1, 0, 0], [0, 0, -1], [0, 1, 0]])

    def test_a_leaning_pin_is_as_stiff_as_a_straight_one(self):
        """By its grey values, and by a mask in a uniform image: distances are linear beside the surface."""
        law = ("--law", "threshold", "--lower", "500", "--modulus", "1000", "--backend", "serial", "-q", *self.EXACT,
               "--test", "uniaxial")
        leaning, straight = (self.pin(f"{name}.nii.gz", lambda d: round(1000 * min(max(d / 4 + 0.5, 0), 1)), angle)
                             for name, angle in (("leaning", self.ANGLE), ("straight", 0)))
        known = "/".join(map(str, self.AXIS))
        stiffness = 1000 * math.pi * 4.39 ** 2 / 22
        wanted = self.summary("bone", straight, *law)["results"]["response"]["stiffness"]
        self.close(wanted, stiffness, 0.01)
        axis = self.rotate((0, 0, 1), self.ANGLE)
        for options in ("--align", "long"), ("--turn", f"{known}={-self.ANGLE}"), ("--align", "long", "--turn", "z=90"):
            run = self.summary("bone", leaning, *law, *options)
            self.close(run["results"]["response"]["stiffness"], stiffness, 0.02)
            self.close(run["problem"]["bone_volume"], math.pi * 4.39 ** 2 * 22, 0.015)
            if "--align" in options:
                self.assertLess(self.angle_to(run["problem"]["turn"]["bone"]["axes"][0], axis), 0.5)
                self.close(run["problem"]["turn"]["bone"]["spread"][0], 22 / math.sqrt(12), 0.02)
        self.close(self.summary("bone", leaning, *law, "--align", "long", "--axis", "x")["results"]["response"]["height"],
                   22, 0.05)
        box, seg = (self.pin(f"{name}.nii.gz", value, self.ANGLE)
                    for name, value in (("box", lambda d: 1000), ("seg", lambda d: 3 * (d > 0))))
        run = self.summary("bone", box, "--mask", seg, *law, "--align", "long", "--surface", "visible", "--surface-depth", "2")
        self.assertLess(self.angle_to(run["problem"]["turn"]["bone"]["axes"][0], axis), 0.5)
        self.close(run["problem"]["bone_volume"], math.pi * 4.39 ** 2 * 22, 0.03)

    def test_what_is_marked_stays_where_it_is(self):
        """A soft ball in a block: its centre in the world, by the image that is written."""
        centre = (6.2, 3.1, 4.4)

        def ball(*v):
            return round(900 - 600 * math.exp(-sum((a - b) ** 2 for a, b in zip(v, centre)) / 2))

        def centroid(path):
            shape, rows, values = read_nifti(path)
            sums, i = [0.0] * 4, 0
            for z in range(shape[2]):
                for y in range(shape[1]):
                    for x in range(shape[0]):
                        weight = max(0, 8000 - values[i]) * (values[i] > 0)
                        point = [row[0] * x + row[1] * y + row[2] * z + row[3] for row in rows]
                        sums = [s + weight * p for s, p in zip(sums, (*point, 1))]
                        i += 1
            return [s / sums[3] for s in sums[:3]]

        image = self.nifti("ball.nii.gz", ball)
        wanted = [row[0] * centre[0] + row[1] * centre[1] + row[2] * centre[2] + row[3] for row in turned()]
        for edge, options in ((0.5, ()), (0.3, ("--resample", "0.3"))):
            run = self.run_of(image, "--turn", "0.3/-0.5/0.8=40,x=-20", "-o", "out", "--overwrite", "--fields", "modulus",
                              "--field-images", "nii", *options)
            found = centroid(self.path("out/ball.modulus.nii"))
            for one, other in zip(found, wanted):
                self.close(one, other, 0.15 * EDGE, 1)
            # What lies beside the image is void, and no bone of the intercept of a law.
            self.close(run["problem"]["elements"] * edge ** 3, 720 * EDGE ** 3, 0.05)
            self.close(run["problem"]["volume_fraction"], 1, 0.05)
            self.assertIn("turned by", run["problem"]["source"])

    def test_labels_stay_labels(self):
        law = ("--law", "labels", "--labels", "1=17000,5=9000,0=0", "--backend", "serial", "-q")
        run = self.summary("bone", self.mask, "--mask", self.mask, *law, "--turn", "z=30", "--test", "confined")
        parts = run["results"]["labels"]
        for name, modulus in (("1", 17000), ("5", 9000)):
            self.close(parts[name]["modulus_mean"], modulus, 1e-6)
            self.close(parts[name]["elements"], sum(label(*v) == int(name) for v in voxels()), 0.1)

    def test_what_cannot_be_turned_is_refused(self):
        surface = self.write("tetra.off", "OFF\n4 4 0\n0 0 0\n9 0 0\n0 9 0\n0 0 9\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
        write(self.path("bone.h5"), "Image_Data", {"Image": ((2, 2, 2), [1000.0] * 8), "Voxelsize": ((), [0.5]),
                                                   "Poisons_ratio": ((), [0.3])})
        turn, align = ("--turn", "z=10"), ("--align", "long")
        image = ("bone", self.image, *LAW)
        for message, *arguments in (
                ("--turn has no effect without an image that is read", "bone", "--generate", "cube", *turn),
                ("--align has no effect without an image that is read", "bone", "--generate", "cube", *align),
                ("--turn is for grey values, and", "bone", surface, "--voxel", "1", *turn),
                ("none: it is a surface", "bone", surface, "--voxel", "1", *align),
                ("--align is for grey values, and bone.h5 has moduli", "bone", "bone.h5", *align),
                ("--fix X/Y/Z names a place in the image, which --turn turns", *image, *turn, "--fix", "1/2/3:xyz"),
                ("--force X/Y/Z names a place", *image, *align, "--fix", "z-:xyz", "--force", "1/2/3:z=1"),
                ("--fix-file names a place", *image, *turn, "--fix-file", "x.csv"),
                ("--centre X,Y,Z names a place", *image, *align, "--test", "torsion", "--centre", "1,2,3"),
                ("--boundary periodic is for a cell", *image, *turn, "--test", "homogenise", "--boundary", "periodic"),
                ("an angle of 361 degrees", *image, "--turn", "x=361"),
                ("an axis of length 1e-9 to 1e9", *image, "--turn", "0/0/0=3"),
                ("expected AXIS=DEGREES", *image, "--turn", "30"),
                ("expected three numbers", *image, "--turn", "w=30"),
                ("'bone' is not one of none|long|short", *image, "--align", "bone")):
            self.fails(USAGE, message, *arguments)
        # A ball has no axes, a plate no long one, and a rod no short one.
        shapes = {"ball": lambda x, y, z: 900 * ((x - 4) ** 2 + (y - 4) ** 2 + (z - 4) ** 2 < 16),
                  "plate": lambda x, y, z: 900 * (x < 8 and y < 8 and z < 3),
                  "rod": lambda x, y, z: 900 * (x < 3 and y < 3)}
        for name, axis in (("ball", "long"), ("ball", "short"), ("plate", "long"), ("rod", "short")):
            self.fails(BAD_FILE, f"two are alike: it has no {axis} axis", "bone", self.nifti("s.nii.gz", shapes[name]),
                       *LAW, "--align", axis)
        run = self.run_of(self.nifti("s.nii.gz", shapes["plate"]), "--align", "short", "--axis", "x")
        self.close(run["results"]["response"]["height"], 3 * EDGE, 1e-6)
        self.fails(BAD_FILE, "no voxel is bone: the values of the image are 900 to 996", *image[:2], "--law", "linear",
                   "--lower", "5000", "--align", "long", "-q")
        self.fails(BAD_FILE, "not cubes", "bone", self.write("b.nii.gz", nifti_bytes((2, 2, 2), (1.0, 1.0, 2.0), "h", [9] * 8)),
                   *LAW, *turn)


@unittest.skipIf(nibabel is None, "" if nibabel else lacking)
class ReadByOthers(DriverCase):
    """Fields of a bone that was turned lie on the CT for nibabel and SimpleITK: where they say that a voxel of the field is, the
    CT has its modulus. Grey values are linear in space, so that interpolation has no error."""
    SIDE = 26
    ROWS = [(0.42, -0.36, 0.16, 12.5), (0.36, 0.46, 0.04, -30), (0.14, -0.066, -0.5575, 7.25)]

    def setUp(self):
        super().setUp()
        self.ct, self.seg = (self.write(f"{name}.nii.gz", nifti_bytes((self.SIDE,) * 3, self.edge(), kind, [
            value(x, y, z) for z in range(self.SIDE) for y in range(self.SIDE) for x in range(self.SIDE)], self.rows()))
                             for name, kind, value in (("ct", "f", lambda x, y, z: 300 + 8.5 * x + 11 * y + 4.25 * z),
                                                       ("seg", "h", self.rod)))

    def edge(self):
        return 0.5

    def rows(self):
        """Orthogonal to rounding, by Gram and Schmidt: columns are axes of the image."""
        axes = []
        for d in range(3):
            axis = numpy.array([row[d] for row in self.ROWS])
            for other in axes:
                axis -= (axis @ other) * other
            axes.append(axis / numpy.sqrt(axis @ axis))
        return [(*(self.edge() * axes[d][i] for d in range(3)), self.ROWS[i][3]) for i in range(3)]

    def rod(self, x, y, z):
        """Well within the image, and not along any axis of it."""
        point, axis = numpy.array((x, y, z)) - 12.5, numpy.array((0.36, 0.48, 0.8))
        along = point @ axis
        return int(abs(along) < 8 and point @ point - along * along < 9)

    def test_turned_fields_lie_on_the_ct(self):
        for kind, more in (("nii.gz", ()), ("mha", ()), ("nii", ("--resample", "0.35"))):
            self.ossatura("bone", self.ct, "--mask", self.seg, *LAW, "--align", "long", "--turn", "z=20", *more, "--fields",
                          "modulus,sed", "--field-images", kind, "--no-hdf", "-o", "out", "--overwrite")
            moduli = self.path(f"out/ct.modulus.{kind}")
            for found in self.by_itk(moduli), *([self.by_nibabel(moduli)] if kind != "mha" else []):
                self.assertGreater(len(found), 300)
                self.assertLess(numpy.abs(found[:, 0] / (10 * found[:, 1]) - 1).max(), 1e-5)
                self.assertGreater(found[:, 0].max(), 1.3 * found[:, 0].min())  # a shift by a voxel would be 1 %
            field, other = (SimpleITK.ReadImage(self.path(f"out/ct.{name}.{kind}")) for name in ("modulus", "sed"))
            for about in "GetOrigin", "GetDirection", "GetSpacing", "GetSize":
                self.assertEqual(getattr(field, about)(), getattr(other, about)())

    def by_itk(self, path):
        """Rows of modulus and of what ITK interpolates in the CT at the place of the voxel."""
        field, ct = SimpleITK.ReadImage(path), SimpleITK.ReadImage(self.ct)
        there = SimpleITK.Resample(ct, field, SimpleITK.Transform(), SimpleITK.sitkLinear, -1.0, SimpleITK.sitkFloat64)
        rows = numpy.stack([SimpleITK.GetArrayFromImage(image).ravel() for image in (field, there)], axis=1)
        return rows[rows[:, 0] > 0]

    def by_nibabel(self, path):
        field, ct = nibabel.load(path), nibabel.load(self.ct)
        moduli = field.get_fdata()
        voxels_of_bone = numpy.argwhere(moduli > 0)
        world = nibabel.affines.apply_affine(field.affine, voxels_of_bone)
        there = nibabel.affines.apply_affine(numpy.linalg.inv(ct.affine), world)
        grey_values = ct.get_fdata()
        low = numpy.floor(there).astype(int)
        part, total = there - low, 0
        for corner in numpy.ndindex(2, 2, 2):
            weight = numpy.prod(numpy.where(corner, part, 1 - part), axis=1)
            total = total + weight * grey_values[tuple((low + corner).T)]
        return numpy.stack([moduli[moduli > 0], total], axis=1)


class Sections(BoneImages):
    """A block of stiff and soft columns, 1 and 5, whose forces are in closed form."""
    SOFT, STIFF = 1000.0, 3000.0

    def setUp(self):
        super().setUp()
        self.block = self.nifti("block.nii.gz", lambda x, y, z: 300 if x < 4 else 100)
        self.halves = self.nifti("halves.nii.gz", lambda x, y, z: 5 if x < 4 else 1)
        self.arguments = (self.block, "--mask", self.halves, "--test", "confined", "--poisson", "0", "--strain", "-0.01")

    def test_columns_carry_by_their_stiffness(self):
        run = self.run_of(*self.arguments, "-o", "out", "--mask-labels", "5,1")
        sections = run["results"]["sections"]
        stiff, soft = (-0.01 * modulus * width * 9 * EDGE ** 2 for modulus, width in ((self.STIFF, 4), (self.SOFT, 6)))
        self.assertEqual((sections["axis"], sections["first_free"], sections["last_free"]), ("z", 0, 7))
        for layer in range(8):
            self.close(sections["labels"]["5"][layer], stiff, 1e-4)
            self.close(sections["labels"]["1"][layer], soft, 1e-4)
            self.close(sections["position"][layer], EDGE * (layer + 0.5))
            self.close(sections["force"][layer], run["results"]["response"]["force"], 1e-4)
        for end in ("lower", "middle", "upper"):
            self.close(sections["share"][end]["5"], stiff / (stiff + soft), 1e-4)
        checks = {one["name"]: one for one in run["certificate"]["checks"]}
        self.assertLess(checks["section_balance"]["value"], 1e-4)
        rows = self.rows("out/block.sections.csv", ())
        self.assertEqual(list(rows[0]), ["layer", "position", "is_free", "force", "label_1", "label_5"])
        self.assertEqual([float(row["label_5"]) for row in rows], sections["labels"]["5"])
        self.assertIn("block.sections.csv", [os.path.basename(one["file"]) for one in run["certificate"]["files"]])

    def test_a_share_of_nothing_is_0_without_a_sign(self):
        layers = self.nifti("layers.nii.gz", lambda x, y, z: 5 if z < 4 else 1)
        text = self.ossatura("bone", self.block, "--mask", layers, *self.arguments[3:], *LAW).stdout
        rows = [line.split() for line in text[text.index("Share of the axial force"):].splitlines()[2:4]]
        self.assertEqual([[row[0], row[1], row[-1]] for row in rows], [["1", "0", "1"], ["5", "1", "0"]])
        shares = self.run_of(self.block, "--mask", layers)["results"]["sections"]["share"]
        self.assertEqual([str(shares["lower"]["1"]), str(shares["upper"]["5"])], ["0.0", "0.0"])

    def test_sections_of_porous_bone_balance(self):
        """Whatever the path of the force: along x, between plates by contact, with caps, and beyond yield."""
        image = self.nifti("porous.nii.gz", lambda x, y, z: 900 if (x * y + z * x + 3 * y) % 5 else 0)
        for more in (("--axis", "x"), ("--plate-depth", "1"), ("--surface", "visible", "--surface-depth", "1"),
                     ("--cap", "1"), ("--strength", "von-mises", "--load-steps", "2", "--strain", "-0.02")):
            run = self.run_of(image, "--mask", self.mask, "--islands", "drop", *more)
            sections, force = run["results"]["sections"], run["results"]["response"]["force"]
            free = range(sections["first_free"], sections["last_free"] + 1)
            self.assertGreater(len(free), 2, more)
            for layer in free:
                self.close(sections["force"][layer], force, 1e-3)
                if "--cap" not in more:
                    self.close(sum(one[layer] for one in sections["labels"].values()), force, 1e-3)
        self.assertNotIn("sections", self.run_of(image, "--mask", self.mask, "--islands", "drop", "--test", "torsion")["results"])


class Profiles(DriverCase):
    """examples/bone/profiles: what they say arrives, options on the command line win."""
    EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "bone")

    def profile(self, name):
        """The path of a profile and what it says."""
        path = os.path.join(self.EXAMPLES, "profiles", name + ".ini")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        said = {}
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if line:
                key, value = (part.strip() for part in line.split("=", 1))
                said[key] = {"true": True}.get(value, value)
        for number in said:  # each source is used, and each that is used is there
            self.assertRegex(text, rf"(?m)^{number} = ")
        listed = set(re.findall(r"(?m)^# (\[\d\]) ", text))
        self.assertEqual(listed, set(re.findall(r"\[\d\]", re.sub(r"(?m)^# \[\d\] ", "", text).replace("[1, 2]", "[1] [2]"))))
        self.assertIn("VARIES", text)
        return path, said

    def check(self, said, parameters):
        for key, value in said.items():
            if isinstance(parameters[key], float) or isinstance(parameters[key], int) and not isinstance(value, bool):
                self.assertEqual(parameters[key], float(value), key)
            else:
                self.assertEqual(parameters[key], value, key)

    def test_sections_of_radius_and_tibia(self):
        image = os.path.join(self.EXAMPLES, "radius.mha")
        stiffness = []
        for name, modulus in (("xtremect-1", 6829), ("xtremect-2", 8748)):
            path, said = self.profile(name)
            run = self.summary("bone", "--config", path, image, "--backend", "serial", "-q")
            self.check(said, run["parameters"])
            self.close(run["problem"]["modulus"]["mean"], modulus, 1e-9)
            pistoia = run["results"]["pistoia"]
            self.assertEqual((pistoia["critical_strain"], pistoia["volume"]), (0.007, 0.02))
            self.close(run["results"]["response"]["strain"], -0.01, 1e-9)
            self.assertEqual(run["warnings"], [])
            stiffness.append(run["results"]["response"]["stiffness"])
        self.close(stiffness[1] / stiffness[0], 8748 / 6829, 1e-5)
        other = self.summary("bone", image, "--config", path, "--modulus", "6829", "--pistoia-volume", "0.05",
                             "--backend", "serial", "-q")
        self.close(other["results"]["response"]["stiffness"], stiffness[0], 1e-5)
        self.assertEqual(other["results"]["pistoia"]["volume"], 0.05)

    def test_a_vertebra(self):
        """Moduli are those of the densities that the scan was made of, but for voxels at the shell."""
        subprocess.run([sys.executable, os.path.join(self.EXAMPLES, "make_vertebra.py"), self.directory.name], check=True)
        path, said = self.profile("vertebra-qct")
        study = ("bone", "--config", path, "vertebra.nii.gz", "--mask", "*-seg.nii.gz", "--calibrate", "8=0,258=200",
                 "--backend", "serial", "-q")
        run = self.summary(*study)
        self.check(said, run["parameters"])
        self.assertEqual(run["problem"]["shape"], [48, 48, 32])
        self.assertEqual(run["warnings"], [])
        # Mean densities that the script gives trabecular and cortical bone, by the law of the profile.
        self.close(run["results"]["labels"]["1"]["modulus_mean"], 3.23 * 120 - 34.7, 0.2)
        self.assertGreater(run["results"]["labels"]["2"]["modulus_mean"], 800)

    def test_a_femur_in_a_fall(self):
        """The head moves down on its pad, trochanter and hinge bear what it takes, and the yield is along the same path."""
        subprocess.run([sys.executable, os.path.join(self.EXAMPLES, "make_femur.py"), self.directory.name], check=True)
        path, said = self.profile("femur-fall")
        for name in "fix", "turn", "mask-labels", "pads":  # lists, not as they are written
            said.pop(name)
        study = ("bone", "--config", path, "femur.nii.gz", "--mask", "*-seg.nii.gz", "--backend", "serial", "-q")
        run = self.summary(*study)
        self.check(said, run["parameters"])
        self.assertEqual(run["warnings"], [])
        self.close(run["problem"]["bone_volume"], 143900, 0.01)
        self.assertGreater(run["problem"]["pads"]["elements"], 4000)
        self.assertEqual(list(run["results"]["labels"]), ["1", "2"])
        supports = {one["support"]: one["force"] for one in run["results"]["reactions"]}
        head, trochanter, shaft = (supports[name] for name in ("moved z", "held z", "held xyz"))
        self.close(sum(force[2] for force in supports.values()), 0, 1e-4, abs(head[2]))
        self.assertEqual((head[:2], trochanter[:2]), ([0, 0], [0, 0]))
        self.assertLess(head[2], -1000)
        self.assertGreater(trochanter[2], abs(shaft[2]))
        hinge = next(one for one in run["results"]["reactions"] if one["support"] == "held xyz")
        self.close(hinge["moment"][1], 0, 1e-6, abs(head[2]))  # N mm: the shaft turns freely
        response = run["results"]["response"]
        self.close(response["force"], head[2], 1e-9)
        self.close(response["stiffness"], -head[2], 1e-9)  # 1 mm
        self.close(response["force"] * response["displacement"], 2 * run["results"]["strain_energy"], 1e-4)
        first = None
        for more in (), ("--turn", "y=90,x=165"):  # upside down
            run = self.summary(*study, *more, "--resample", "4", "--strength", "drucker-prager", "--load-steps", "3", "--fix",
                               "label:6:z=-2" if not more else "label:6:z=2", "--fix", "label:7:z,line:5/y:xyz")
            strength = run["results"]["strength"]
            if more:
                self.close(strength["ultimate"]["force"], -first, 1e-3)
            else:
                first = strength["ultimate"]["force"]
            self.assertLess(abs(first), 2 * strength["stiffness"])
        clamped = self.summary(*study, "--resample", "4", "--fix", "label:6:z=-1,label:7:z,label:5:xyz")["results"]["response"]
        self.assertLess(strength["stiffness"], clamped["stiffness"])


if __name__ == "__main__":
    driver_case.main()
