# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` with images of all formats, numbers in other units, and fields as images on the same grid."""
import gzip
import math
import os
import re
import struct
import unittest

from support import driver_case
from support.driver_case import BAD_FILE, USAGE, DriverCase
from support.hdf5_values import read, write
from support.image_case import EDGE, LAW, SHAPE, BoneImages, grey, label, turned, voxels
from support.specimens import nifti_bytes, read_nifti

try:  # what users look at CT with; no part of the project needs them
    import nibabel
    import numpy
    import SimpleITK
except ImportError as error:
    nibabel, lacking = None, str(error)


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
        corner = -EDGE / 2
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

    def aim(self, name, kind, data, log=LOG, edge=EDGE):
        head = struct.pack("<5i", 20, 140, len(log), len(data), 0)
        head += struct.pack("<12i", 16, 0, 0, 0, 0, kind, 0, 0, 0, *SHAPE).ljust(108, b"\0") + vax(edge) + 2 * vax(EDGE)
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
        self.fails(BAD_FILE, "minus.aim: the voxel spacing is -0.5 x 0.5 x 0.5; it must be positive", "bone",
                   self.aim("minus.aim", 0x00020002, stored, edge=-EDGE), *LAW)
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


class Itk(BoneImages):
    """HDF5 as ITK and SimpleITK write it."""

    def geometry(self, **more):
        """Axes and the centre of the first voxel in LPS."""
        axes = [[-x for x in row] if i < 2 else list(row) for i, row in enumerate(turned())]
        return {"Dimension": ((3,), list(SHAPE)), "Spacing": ((3,), [EDGE] * 3), "Origin": ((3,), [float(row[3]) for row in axes]),
                "Directions": ((3, 3), [axes[i][d] / EDGE for d in range(3) for i in range(3)]), **more}

    def itk(self, name, value, **more):
        write(self.path(name), "ITKImage/0", self.geometry(VoxelData=(SHAPE[::-1], [value(*v) for v in voxels()]), **more))
        return self.path(name)

    def test_images_and_masks_are_those_of_nifti(self):
        expected = self.run_of(self.image, "--mask", self.mask)
        for mask in self.mask, self.itk("seg.h5", label):
            run = self.run_of(self.itk("ct.h5", grey), "--mask", mask)
            self.assertEqual(run["results"]["response"], expected["results"]["response"])
            self.assertEqual(run["results"]["labels"], expected["results"]["labels"])
            self.assertEqual(run["problem"]["world"], "LPS")
            self.assertEqual(run["warnings"], [])
            for i, sign in enumerate((-1, -1, 1)):
                self.close(run["problem"]["origin"][i], sign * expected["problem"]["origin"][i], 1e-5, 10)
        coarse = self.run_of("ct.h5", "--resample", "1")
        self.assertEqual(coarse["results"]["response"], self.run_of(self.image, "--resample", "1")["results"]["response"])

    def test_other_images_are_refused(self):
        for message, more in (
                ("VoxelData has 2 components for each voxel; write one grey value or label", {
                    "VoxelData": ((8, 9, 10, 2), [1.0] * 1440)}),
                ("VoxelData has rank 2 (9 x 10); a 3-D image is expected", {"VoxelData": ((9, 10), [1.0] * 90)}),
                ("/Spacing", {"Spacing": ((3,), [0.5, 0.5, 1.0])}), ("Origin", {"Origin": ((2,), [0.5, 0.5])}),
                ("Directions is no rotation, so voxels are not cubes", {"Directions": ((3, 3), [1.0] * 9)}),
                ("voxel (x, y, z) = (3, 1, 0) is nan; values must be finite", {
                    "VoxelData": (SHAPE[::-1], [math.nan if k == 13 else 1000.0 for k in range(720)])})):
            with self.subTest(message=message):
                write(self.path("ct.h5"), "ITKImage/0", {"VoxelData": (SHAPE[::-1], [1000] * 720), **self.geometry(), **more})
                self.fails(BAD_FILE, message, "bone", "ct.h5", *LAW)

    def test_values_in_other_files_are_refused(self):
        """HDF5 gives zeros for what is missing there, as of a file that was copied in part."""
        write(self.path("ct.h5"), "ITKImage/0", {"VoxelData": (SHAPE[::-1], [1000] * 720), **self.geometry()}, ["VoxelData"])
        with open(self.path("ct.h5.VoxelData"), "rb+") as file:
            file.truncate(8 * 400)
        self.fails(BAD_FILE, "/ITKImage/0/VoxelData: has its values in other files; write them into this one", "bone", "ct.h5", *LAW)


class Spacings(BoneImages):
    """An axis of negative spacing runs the other way from the first voxel, as in ITK, NiBabel, and teem."""

    def placed(self, name):
        run = self.summary("bone", name, "--law", "linear", "--slope", "10", "--lower", "1", "-q", "--backend", "serial",
                           "-o", "out", "--overwrite", "--fields", "displacement")
        stem = os.path.splitext(os.path.basename(name))[0]
        points = read(self.path(f"out/{stem}.hdf"), "VTKHDF/Points")
        return run["problem"]["origin"], run["results"]["response"], [(min(points[d::3]), max(points[d::3])) for d in range(3)]

    def test_an_axis_that_runs_back(self):
        data = struct.pack("<720h", *(grey(*v) for v in voxels()))
        meta = "ObjectType = Image\nNDims = 3\nDimSize = 10 9 8\nOffset = 3 -4 7\n"
        rest = "ElementType = MET_SHORT\nElementDataFile = LOCAL\n"
        nrrd = "NRRD0004\ntype: int16\ndimension: 3\nsizes: 10 9 8\nendian: little\nencoding: raw\nspace: LPS\nspace origin: (3,-4,7)\n"
        self.write("back.mha", (meta + f"ElementSpacing = {EDGE} -{EDGE} {EDGE}\n" + rest).encode() + data)
        self.write("turned.mha", (meta + f"ElementSpacing = {EDGE} {EDGE} -{EDGE}\nTransformMatrix = 1 0 0 0 -1 0 0 0 -1\n" +
                                  rest).encode() + data)
        self.write("axes.nrrd", (nrrd + f"space directions: ({EDGE},0,0) (0,-{EDGE},0) (0,0,{EDGE})\n\n").encode() + data)
        self.write("back.nrrd", (nrrd + f"spacings: {EDGE} -{EDGE} {EDGE}\n\n").encode() + data)
        write(self.path("back.h5"), "ITKImage/0", {
            "VoxelData": (SHAPE[::-1], [grey(*v) for v in voxels()]), "Dimension": ((3,), list(SHAPE)), "Origin": ((3,), [3.0, -4.0, 7.0]),
            "Spacing": ((3,), [EDGE, -EDGE, EDGE]), "Directions": ((3, 3), [1.0, 0, 0, 0, 1, 0, 0, 0, 1])})
        expected = self.placed("axes.nrrd")
        self.assertEqual(expected[0], [3 - EDGE / 2, -4 + EDGE / 2, 7 - EDGE / 2])
        for name in "back.mha", "turned.mha", "back.nrrd", "back.h5":
            with self.subTest(name=name):
                self.assertEqual(self.placed(name), expected)

    def test_edges_of_nifti_are_lengths(self):
        """sform and qform say which way axes run."""
        with open(self.image, "rb") as file:
            plain = bytearray(gzip.decompress(file.read()))
        struct.pack_into("<3f", plain, 80, -EDGE, EDGE, EDGE)
        self.assertEqual(self.run_of(self.write("ct.nii", bytes(plain)))["results"]["response"],
                         self.run_of(self.image)["results"]["response"])

    def test_edges_that_are_no_lengths(self):
        data = bytes(1440)
        for text in "0", "nan", "inf":
            with self.subTest(text=text):
                for name, head in (
                        ("a.mha", f"ObjectType = Image\nNDims = 3\nDimSize = 10 9 8\nElementSpacing = 1 {text} 1\n"
                                  "ElementType = MET_SHORT\nElementDataFile = LOCAL\n"),
                        ("a.nrrd", "NRRD0004\ntype: int16\ndimension: 3\nsizes: 10 9 8\nendian: little\nencoding: raw\n"
                                   f"spacings: 1 {text} 1\n\n")):
                    self.fails(BAD_FILE, name, "bone", self.write(name, head.encode() + data), *LAW)
                write(self.path("a.h5"), "ITKImage/0", {
                    "VoxelData": (SHAPE[::-1], [1] * 720), "Dimension": ((3,), list(SHAPE)), "Origin": ((3,), [0.0] * 3),
                    "Spacing": ((3,), [1.0, float(text), 1.0]), "Directions": ((3, 3), [1.0, 0, 0, 0, 1, 0, 0, 0, 1])})
                self.fails(BAD_FILE, "a.h5: /ITKImage/0/Spacing: the voxel spacing is", "bone", "a.h5", *LAW)
                plain = bytearray(nifti_bytes(SHAPE, 1, "h", [1] * 720))
                plain = bytearray(gzip.decompress(plain))
                struct.pack_into("<f", plain, 84, float(text))
                self.fails(BAD_FILE, "a.nii: pixdim", "bone", self.write("a.nii", bytes(plain)), *LAW)
        head = ("NRRD0004\ntype: int16\ndimension: 3\nsizes: 10 9 8\nendian: little\nencoding: raw\nspace: LPS\n"
                "space directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (nan,0,0)\n\n")
        self.fails(BAD_FILE, "a.nrrd: ", "bone", self.write("a.nrrd", head.encode() + data), *LAW)


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


if __name__ == "__main__":
    driver_case.main()
