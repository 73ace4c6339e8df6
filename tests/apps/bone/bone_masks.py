# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` with an image and its mask, and what sections of it carry, in profiles for studies, too."""
import math
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE, USAGE, DriverCase
from support.hdf5_values import write
from support.image_case import EDGE, LAW, SHAPE, BoneImages, grey, label, turned, voxels
from support.specimens import nifti_bytes


class Mask(BoneImages):
    def test_the_bone_is_where_the_mask_has_labels(self):
        for labels, wanted in (((), (1, 5)), (("--mask-labels", "5"), (5,)), (("--mask-labels", "5,1"), (1, 5))):
            masked = self.run_of(self.image, "--mask", self.mask, *labels)
            by_hand = self.run_of(self.nifti(
                "cut.nii.gz", lambda *v: grey(*v) if label(*v) in wanted else 0))
            response = masked["results"]["response"]
            for key in "mask_area", "mask_apparent_modulus":
                response.pop(key)
            self.assertEqual(response, by_hand["results"]["response"])
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

    def test_a_core_has_the_modulus_of_its_own_section(self):
        """A bar that is round under smooth plates has the modulus of its material by its section, and less by the box's."""
        def is_round(x, y):
            return (x - 4.5) ** 2 + (y - 4) ** 2 < 13

        image = self.nifti("solid.nii.gz", lambda *v: 900)
        core = self.nifti("core.nii.gz", lambda x, y, z: 3 * is_round(x, y) if 1 <= z < 7 else 0)
        section = EDGE ** 2 * sum(is_round(x, y) for x, y, z in voxels() if z == 0)
        for more in ((), ("--crop", "1:,:,:"), ("--turn", "z=90"), ("--turn", "x=90", "--axis", "y"), ("--cap", "0.5:9000:0.3"),
                     ("--mask-labels", "3"), ("--test", "shear-zx", "--strain", "0.01")):
            with self.subTest(more=more):
                test = ("--test", "uniaxial") if "--test" not in more else ()
                response = self.run_of(image, "--mask", core, *test, *more)["results"]["response"]
                self.close(response["mask_area"], section, 1e-12)
                self.close(response["mask_apparent_modulus"],
                           response["force"] / section / response["strain"], 1e-12)
                if test and "--cap" not in more:
                    self.close(response["mask_apparent_modulus"], 9000, 1e-5)
                    self.close(response["apparent_modulus"], 9000 * section / response["area"], 1e-5)
        for at in (0, 0, 7), (9, 8, 0):  # a crumb of the segmentation beyond an end: the core was an eighth thinner
            with_crumb = self.nifti("crumb.nii.gz", lambda *v, at=at: 3 if v == at or (is_round(*v[:2]) and 1 <= v[2] < 7) else 0)
            for more in ((), ("--turn", "x=90", "--axis", "y"), ("--turn", "y=90", "--axis", "x"), ("--cap", "0.5:9000:0.3")):
                response = self.run_of(image, "--mask", with_crumb, "--largest-component", *more)["results"]["response"]
                self.close(response["mask_area"], section, 1e-12)
            response = self.run_of(image, "--mask", with_crumb)["results"]["response"]  # which leaves it out as an island
            self.close(response["mask_area"], section, 1e-12)
        for without in ((image, "--test", "axial"), (image, "--mask", core, "--test", "torsion"),
                        (image, "--mask", core, "--fix", "x-:xyz", "--fix", "x+:x=0.01")):
            self.assertNotIn("mask_area", self.run_of(*without)["results"]["response"])
        text = self.ossatura("bone", image, "--mask", core, "--test", "axial", *LAW).stdout
        self.assertRegex(text, r"mean cross-section of the mask +" + f"{section:g} mm2")
        self.assertIn("the same by the mask's section", text)

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
                ("ITKImage", "ct.h5", "/ITKImage: there is no group '0'"),
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
    EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "bone")

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
