# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` loaded by anatomy: the visible surface, labels of a mask and caps, against closed forms."""
import math
import struct
import zlib

from support import driver_case
from support.driver_case import BAD_FILE, USAGE, DriverCase
from support.hdf5_values import read, write
from support.specimens import nifti_bytes, read_nifti

SHAPE, EDGE, MODULUS = (8, 3, 12), 0.5, 1000
COLUMNS = {range(0, 3): 10, range(4, 8): 6}  # along x, and their height in voxels, a gap between them
AXIAL = ("--test", "axial", "--displacement", "-0.01", "--poisson", "0", "--law", "modulus", "-q",
         "--modulus-unit", "MPa", "--backend", "serial", "--tolerance", "1e-9")
#: Of columns without lateral strain, side by side: each has the whole displacement.
FORCE = -0.01 * MODULUS * EDGE * sum(3 * len(x) / height for x, height in COLUMNS.items())
AREA = EDGE ** 2 * 3 * 7


def height(x):
    return next((high for columns, high in COLUMNS.items() if x in columns), 0)


class Anatomy(DriverCase):
    def image(self, name, value, shape=SHAPE):
        values = [value(x, y, z) for z in range(shape[2]) for y in range(shape[1]) for x in range(shape[0])]
        return self.write(name, nifti_bytes(shape, EDGE, "h", values))

    def setUp(self):
        super().setUp()
        self.stepped = self.image("stepped.nii.gz", lambda x, y, z: MODULUS if z < height(x) else 0)
        # 1: bone; 2: a disc above it; 3: its lowest layer; 7: far away
        self.mask = self.image("mask.nii.gz", lambda x, y, z: (
            3 if z == 0 else 1) if z < height(x) else 2 if height(x) <= z < height(x) + 2 and height(x) else
            7 if x == 3 and z == 11 else 0)
        self.labels = ("--mask", self.mask, "--mask-labels", "1,3")

    def supports(self, run):
        return {one["support"]: one for one in run["results"]["reactions"]}


class Visible(Anatomy):
    def test_columns_of_two_heights_are_parallel(self):
        along_y = self.image("turned.nii.gz", lambda x, y, z: MODULUS if y < height(z) else 0,
                             (SHAPE[1], SHAPE[2], SHAPE[0]))
        for image, axis in ((self.stepped, "z"), (along_y, "y")):
            run = self.summary("bone", image, *AXIAL, "--axis", axis, "--surface", "visible", "--surface-depth", "2")
            self.close(run["results"]["response"]["force"], FORCE, 1e-7)
            plates = self.supports(run)
            self.close(plates["upper plate"]["contact_area"], AREA, 1e-12)
            self.close(plates["lower plate"]["contact_area"], AREA, 1e-12)
            self.assertEqual(plates["upper plate"]["nodes"], 4 * 4 + 4 * 5)
            self.assertEqual(run["warnings"], [])

    def test_the_depth_bounds_what_is_touched(self):
        tall = -0.01 * MODULUS * EDGE * 3 * 3 / 10  # the taller column alone
        for surface in (("--surface", "visible", "--surface-depth", "1.9"), ("--surface", "flat"), (),
                        ("--surface", "upper=visible,lower=flat", "--surface-depth", "upper=1"),
                        ("--surface", "lower=visible", "--surface-depth", "inf")):
            run = self.summary("bone", self.stepped, *AXIAL, "--largest-component", *surface)
            self.close(run["results"]["response"]["force"], tall, 1e-7)
        for surface in (("--surface", "upper=visible", "--surface-depth", "2"),
                        ("--surface", "visible", "--surface-depth", "upper=inf,lower=0")):
            run = self.summary("bone", self.stepped, *AXIAL, *surface)
            self.close(run["results"]["response"]["force"], FORCE, 1e-7)

    def test_on_a_flat_bone_it_is_what_flat_plates_touch(self):
        cube = ("bone", "--generate", "cube", "--size", "4,5,6", "-q", "--backend", "serial")
        for test in ("axial", "uniaxial", "confined", "shear-zx", "torsion", "bending"):
            flat = self.summary(*cube, "--test", test)["results"]
            visible = self.summary(*cube, "--test", test, "--surface", "visible", "--surface-depth", "2")["results"]
            self.assertEqual(visible["response"], flat["response"])
            self.assertEqual(visible["reactions"], flat["reactions"])

    def test_an_overhang_is_not_seen(self):
        # A table: what is below its top is hidden from above, and what is above its foot from below.
        table = self.image("table.nii.gz", lambda x, y, z: MODULUS if z >= 8 or x < 3 else 0)
        run = self.summary("bone", table, *AXIAL, "--surface", "visible", "--surface-depth", "inf",)
        plates = self.supports(run)
        self.close(plates["upper plate"]["contact_area"], EDGE ** 2 * 24, 1e-12)
        self.close(plates["lower plate"]["contact_area"], EDGE ** 2 * 24, 1e-12)

    def test_uniaxial_is_axial_between_smooth_plates(self):
        cube = ("bone", "--generate", "cube", "--size", "5", "--modulus", "700", "-q", "--backend", "serial")
        run = self.summary(*cube, "--test", "uniaxial", "--strain", "0.01", "--tolerance", "1e-9")
        self.assertEqual(run["results"]["test"], "uniaxial")
        self.close(run["results"]["response"]["apparent_modulus"], 700, 1e-7)

    def test_what_makes_no_test_is_refused(self):
        step = ("bone", self.stepped, *AXIAL)
        for message, *arguments in (
                ("--surface visible needs --surface-depth MM for the lower plate", "--surface", "visible"),
                ("for the upper plate", "--surface", "visible", "--surface-depth", "lower=1"),
                ("--surface-depth has no effect without --surface visible", "--surface-depth", "1"),
                ("'shown' is not one of flat|visible", "--surface", "shown"),
                ("plates are upper and lower", "--surface", "top=visible"),
                ("in mm, at least 0", "--surface", "visible", "--surface-depth", "-1"),
                ("--plate-depth is for flat plates", "--surface", "visible", "--surface-depth", "1", "--plate-depth",
                 "1")):
            self.fails(USAGE, message, *step, *arguments)
        self.fails(USAGE, "--surface has no effect without a test between plates", "bone", self.stepped, "--test",
                   "homogenise", "--surface", "visible", "--surface-depth", "1")
        # The step between two columns belongs to both: seen from above on one, from below on the other.
        both = self.image("both.nii.gz", lambda x, y, z: MODULUS if (z < 5) == (x < 4) or z in (4, 5) else 0)
        self.summary("bone", both, *AXIAL, "--surface", "visible", "--surface-depth", "inf")
        both = self.image("both.nii.gz", lambda x, y, z: MODULUS if (z < 5) == (x < 4) else 0)
        self.fails(BAD_FILE, "both.nii.gz: both plates touch 4 nodes of the bone", "bone", both, *AXIAL, "--surface",
                   "visible", "--surface-depth", "inf")


class Labels(Anatomy):
    def test_plates_at_labels(self):
        for plates in ("upper=2,lower=3", "lower=3,upper=2,upper=7"):
            run = self.summary("bone", self.stepped, *AXIAL, *self.labels, "--plate-labels", plates, "--surface",
                               "lower=visible", "--surface-depth", "lower=0")
            self.close(run["results"]["response"]["force"], FORCE, 1e-7)
            self.close(self.supports(run)["upper plate"]["contact_area"], AREA, 1e-12)

    def test_plates_that_changed_places_are_refused(self):
        """What is said to be pressed would be pulled, and yield as in tension: z of the image may go down in the body."""
        for more in (), ("--strength", "drucker-prager"):
            self.fails(BAD_FILE, "the upper plate lies below the lower one along z", "bone", self.stepped, *AXIAL, *self.labels,
                       "--plate-labels", "upper=3,lower=2", *more)

    def test_bone_with_a_label_is_embedded(self):
        # The plate has all nodes of the lowest layer, of which the columns become shorter.
        run = self.summary("bone", self.stepped, *AXIAL, *self.labels, "--plate-labels", "lower=3,upper=2")
        force = -0.01 * MODULUS * EDGE * sum(3 * len(x) / (high - 1) for x, high in COLUMNS.items())
        self.close(run["results"]["response"]["force"], force, 1e-7)

    def test_plates_that_hold_all_of_the_bone(self):
        """It moves as a rigid body: with a cap or a pad below it the failure load was -5e17 N, or it was one voxel that turns."""
        block = self.image("block.nii.gz", lambda x, y, z: MODULUS if 3 <= z < 10 else 0)
        whole = self.image("whole.nii.gz", lambda x, y, z: 1 if 3 <= z < 10 else 0)
        padded = self.image("padded.nii.gz", lambda x, y, z: 1 if 6 <= z < 10 else 2 if 3 <= z < 6 else 3 if z == 2 else 0)
        pad = ("--mask", padded, "--mask-labels", "1", "--pads", "2=100")
        alone = "no bone is strained, but caps and pads alone: supports hold all of the bone, which moves as one rigid body; let plates"
        self.fails(BAD_FILE, alone, "bone", block, *AXIAL, *pad, "--plate-labels", "upper=1,lower=3")
        self.fails(BAD_FILE, alone, "bone", block, *AXIAL, "--mask", whole, "--cap", "lower=1", "--plate-labels", "upper=1")
        self.fails(BAD_FILE, alone, "bone", block, *AXIAL[4:], *pad, "--fix", "label:1:xyz=0,z-:xyz,z-:z=0.01")
        rigid = "supports move the specimen as one rigid body, and nothing strains it: let plates or --fix hold less of it"
        self.fails(BAD_FILE, rigid, "bone", block, *AXIAL, "--mask", whole, "--plate-labels", "upper=1")
        self.fails(BAD_FILE, rigid, "bone", block, *AXIAL[4:], "--fix", "z-:xyz=0.1")
        # A pad that is far softer than the bone leaves it a share.
        self.summary("bone", block, *AXIAL, *pad[:-1], "2=1e-3", "--plate-labels", "lower=3")

    def test_supports_and_loads_at_labels(self):
        listed = AXIAL[4:]
        run = self.summary("bone", self.stepped, *listed, *self.labels, "--fix", "z-:xyz,label:2:xyz=0,label:2:z=-0.01")
        self.close(run["results"]["response"]["force"], FORCE, 1e-7)
        cube = self.image("cube.nii.gz", lambda x, y, z: MODULUS if z < 7 else 0)
        mask = self.image("disc.nii.gz", lambda x, y, z: 1 if z < 7 else 4 if z < 9 else 0)
        shared = ("bone", cube, *listed, "--mask", mask, "--mask-labels", "1", "--fix", "z-:xyz")
        side, label = (self.summary(*shared, "--force", f"{where}:z=-30")["results"] for where in ("z+", "label:4"))
        self.close(label["strain_energy"], side["strain_energy"], 1e-9)
        self.close(label["von_mises"]["maximum"], side["von_mises"]["maximum"], 1e-6)
        self.close(label["strain_energy"], 30 ** 2 * 7 * EDGE / (2 * MODULUS * 24 * EDGE ** 2), 1e-7)

    def test_a_line_through_a_label_is_a_hinge(self):
        """Held along a line and at the top the block is statically determinate."""
        block = self.image("block.nii.gz", lambda x, y, z: MODULUS, (4, 3, 9))
        mask = self.image("pot.nii.gz", lambda x, y, z: 5 if z < 2 else 1, (4, 3, 9))
        hinged = ("bone", block, *AXIAL[4:], "--mask", mask, "--mask-labels", "1", "--pads", "5=2500", "--fix", "line:5/y:xyz",
                  "--force", "x+:x=12")
        run = self.summary(*hinged, "--fix", "z+:x")
        hinge, top = (self.supports(run)[name] for name in ("held xyz", "held x"))
        self.assertEqual((hinge["nodes"], top["nodes"]), (4, 20))
        self.close(top["force"][0], -12 * (4.5 - 1) / (9 - 1), 1e-6)
        self.close(hinge["force"][0], -12 * (9 - 4.5) / (9 - 1), 1e-6)
        self.fails(BAD_FILE, "supports hold 5 of its 6 rigid motions", *hinged)
        clamped = self.summary(*hinged[:-4], "--fix", "label:5:xyz", *hinged[-2:])
        self.assertEqual(self.supports(clamped)["held xyz"]["nodes"], 3 * 20)
        for message, *arguments in (("'w' is no axis", "--fix", "line:5/w:x"), ("LABEL/AXIS", "--fix", "line:5:x"),
                                    ("a line is held", "--force", "line:5/y:x=1")):
            self.fails(USAGE, message, *hinged, *arguments)
        self.fails(USAGE, "--fix line y through label 5 needs --mask", "bone", block, *AXIAL[4:], "--fix", "line:5/y:xyz")
        self.fails(BAD_FILE, "the mask has no label 6, which plates or supports", *hinged, "--fix", "line:6/y:xyz")

    def test_labels_follow_the_image_when_it_is_resampled(self):
        run = self.summary("bone", self.stepped, *AXIAL, *self.labels, "--resample", "0.25", "--plate-labels",
                           "upper=2,lower=3", "--surface", "visible", "--surface-depth", "2")
        self.close(self.supports(run)["upper plate"]["contact_area"], AREA, 1e-12)

    def test_labels_that_say_nothing_are_refused(self):
        step = ("bone", self.stepped, *AXIAL)
        self.fails(USAGE, "--plate-labels has no effect without --mask", *step, "--plate-labels", "upper=2")
        self.fails(USAGE, "label 2 is of both plates", *step, *self.labels, "--plate-labels", "2")
        self.fails(USAGE, "--fix label 2 needs --mask", "bone", self.stepped, *AXIAL[4:], "--fix", "label:2:xyz")
        self.fails(USAGE, "'two' is not a number", *step, *self.labels, "--plate-labels", "upper=two")
        self.fails(USAGE, "label:NUMBER", "bone", self.stepped, *AXIAL[4:], "--fix", "lable:2:xyz")
        self.fails(BAD_FILE, "mask.nii.gz: the mask has no label 5, which plates or supports are to touch; it has 1, "
                   "2, 3, 7", *step, *self.labels, "--plate-labels", "upper=5")
        far = self.image("far.nii.gz", lambda x, y, z: (1 if z < height(x) else 8 if (x, z) == (5, 9) else 0))
        self.fails(BAD_FILE, "stepped.nii.gz: the upper plate touches nothing", *step, "--mask", far, "--mask-labels",
                   "1", "--plate-labels", "upper=8")
        self.fails(BAD_FILE, "--fix: label 8 has no node of a solid voxel", "bone", self.stepped, *AXIAL[4:], "--mask",
                   far, "--mask-labels", "1", "--fix", "z-:xyz,label:8:z=1")


class LabelLaws(Anatomy):
    """Bone with a law for each label, and pads that are none, in a block of values that differ."""
    BLOCK = (4, 3, 9)
    SHARED = ("--test", "axial", "--displacement", "-0.01", "-q", "--backend", "serial", "--tolerance", "1e-9")
    LAWS = ("--label-laws", "1=linear:slope=8:intercept=-50,2=power:coefficient=14664:exponent=1.49:slope=0.001")
    PAD = 2500

    def block(self, part, grey):
        """Image and mask: `part` of a place is its label, `grey` of a label and a place its value."""
        image = self.image("block.nii.gz", lambda *v: grey(part(*v), *v), self.BLOCK)
        return image, self.image("parts.nii.gz", part, self.BLOCK)

    def modulus(self, label, value):
        return {1: 8 * value - 50, 2: 14664 * (0.001 * value) ** 1.49, 5: self.PAD}[label]

    def run_of(self, image, mask, *arguments):
        return self.summary("bone", image, "--mask", mask, *self.SHARED, *arguments)

    def test_layers_in_series_and_in_parallel(self):
        values = {1: 220, 2: 340, 5: -70}  # a pad is below all thresholds
        moduli = {label: self.modulus(label, value) for label, value in values.items()}
        area = 12 * EDGE ** 2
        image, mask = self.block(lambda x, y, z: 1 if z < 2 else 2 if z < 6 else 5, lambda label, *v: values[label])
        for labels in ("--mask-labels", "1,2"), ():
            run = self.run_of(image, mask, *labels, *self.LAWS, "--pads", "5=2500", "--poisson", "0", "--lower", "50")
            height = {1: 2, 2: 4, 5: 3}
            force = -0.01 * area / (EDGE * sum(height[label] / moduli[label] for label in moduli))
            self.close(run["results"]["response"]["force"], force, 1e-7)
            # What is said of the bone is of the bone.
            self.assertEqual(run["problem"]["pads"], {"elements": 36})
            self.assertEqual(run["problem"]["elements"], 108)
            self.assertEqual(run["problem"]["bone_volume"], 72 * EDGE ** 3)
            self.close(run["problem"]["modulus"]["maximum"], moduli[2], 1e-6)
            self.assertEqual(run["results"]["sed"]["count"], 72)
            self.assertEqual({label: part["elements"] for label, part in run["results"]["labels"].items()},
                             {"1": 24, "2": 48})
            self.close(run["results"]["sed"]["maximum"], (force / area) ** 2 / (2 * min(moduli[1], moduli[2])), 1e-6)
        image, mask = self.block(lambda x, y, z: (1, 2, 2, 5)[x], lambda label, *v: values[label])
        run = self.run_of(image, mask, *self.LAWS, "--pads", "5=2500:0", "--poisson", "0", "--lower", "50")
        force = -0.01 / (9 * EDGE) * 3 * EDGE ** 2 * (moduli[1] + 2 * moduli[2] + moduli[5])
        self.close(run["results"]["response"]["force"], force, 1e-7)
        sections = run["results"]["sections"]
        for layer in range(9):  # a pad bears its part of the force, and is no label of the bone
            self.close(sections["force"][layer], force, 1e-6)
            shares = [sections["labels"][label][layer] for label in ("1", "2")]
            self.close(sum(shares), force * (1 - moduli[5] / (moduli[1] + 2 * moduli[2] + moduli[5])), 1e-6)
        self.assertEqual(list(sections["labels"]), ["1", "2"])

    def test_it_is_the_model_of_its_moduli_and_ratios(self):
        def part(x, y, z):
            return 5 if z in (0, 8) else 2 if (x, y) != (1, 1) else 1

        def grey(label, x, y, z):
            return -1000 + x if label == 5 else 200 + (7 * x + 5 * y + 3 * z) % 31

        image, mask = self.block(part, grey)
        run = self.run_of(image, mask, *self.LAWS[:1], self.LAWS[1] + ":poisson=0.2", "--pads", "5=2500:0.42", "--poisson",
                          "0.35", "--lower", "50", "--bins", "0")
        places = [(x, y, z) for z in range(9) for y in range(3) for x in range(4)]
        write(self.path("same.h5"), "Image_Data", {
            "Image": ((9, 3, 4), [self.modulus(part(*v), grey(part(*v), *v)) for v in places]), "Voxelsize": ((), [EDGE]),
            "Poisons_ratio_Image": ((9, 3, 4), [{1: 0.35, 2: 0.2, 5: 0.42}[part(*v)] for v in places])})
        same = self.summary("bone", "same.h5", *self.SHARED, "--modulus-unit", "MPa")
        self.close(run["results"]["response"]["force"], same["results"]["response"]["force"], 1e-6)
        self.close(run["results"]["strain_energy"], same["results"]["strain_energy"], 1e-6)
        self.assertEqual(run["problem"]["poisson"]["maximum"], same["problem"]["poisson"]["maximum"])

    def test_numbers_that_a_label_does_not_name_are_those_of_the_options(self):
        image, mask = self.block(lambda x, y, z: 1 + (z > 3), lambda label, x, y, z: 100 * label + x)
        for options, same in (
                (("--label-laws", "1=linear,2=linear:slope=3", "--slope", "5", "--lower", "101"),
                 ("--label-laws", "1=linear:slope=5:lower=101,2=linear:slope=3:lower=101")),
                (("--law", "linear", "--slope", "5", "--label-laws", "2=threshold:lower=202:modulus=900"),
                 ("--label-laws", "1=linear:slope=5,2=threshold:lower=202:modulus=900")),
                (("--label-laws", "1=constant,2=constant:modulus=900", "--modulus", "1200"),
                 ("--label-laws", "1=threshold:lower=0:modulus=1200,2=threshold:upper=900:modulus=900")),
                (("--law", "modulus", "--modulus-unit", "GPa", "--label-laws", "1=constant:modulus=5e4"),
                 ("--label-laws", "1=constant:modulus=5e4,2=linear:slope=1000"))):
            runs = [self.run_of(image, mask, *those) for those in (options, same)]
            self.assertEqual(runs[0]["results"]["response"], runs[1]["results"]["response"])
            self.assertEqual(runs[0]["problem"]["modulus"], runs[1]["problem"]["modulus"])

    def test_labels_follow_the_image(self):
        """Cropped, resampled, turned, in bins and in a config file."""
        values = {1: 220, 2: 340, 5: -70}
        image, mask = self.block(lambda x, y, z: 1 if z < 2 else 2 if z < 6 else 5, lambda label, *v: values[label])
        pads = (*self.LAWS, "--pads", "5=2500:0", "--poisson", "0")
        plain = self.run_of(image, mask, *pads)["results"]["response"]["force"]
        self.close(self.run_of(image, mask, *pads, "--crop", ":,:2,:")["results"]["response"]["force"], plain * 2 / 3, 1e-7)
        turned = self.run_of(image, mask, *pads, "--turn", "y=90", "--axis", "x")
        self.close(turned["results"]["response"]["force"], plain, 1e-7)
        self.assertEqual(turned["problem"]["pads"], {"elements": 36})
        self.close(self.run_of(image, mask, *pads, "--align", "long")["results"]["response"]["force"], plain, 1e-7)
        binned = self.run_of(image, mask, *pads, "--bins", "2")
        moduli = [self.modulus(label, values[label]) for label in (1, 2)]
        middles = [min(moduli) + (max(moduli) - min(moduli)) * part for part in (0.25, 0.75)]
        self.close(binned["problem"]["modulus"]["maximum"], middles[1], 1e-6)
        force = -0.01 * 12 * EDGE / sum(n / E for n, E in (  # the pad is in no bin
            (2, middles[moduli[0] > moduli[1]]), (4, middles[moduli[1] > moduli[0]]), (3, self.PAD)))
        self.close(binned["results"]["response"]["force"], force, 1e-6)
        fine = self.run_of(image, mask, *pads, "--resample", "0.25")
        self.assertEqual(fine["problem"]["pads"], {"elements": 8 * 36})
        self.write("pads.ini", f"label-laws = {self.LAWS[1]}\npads = 5=2500:0\npoisson = 0\n")
        self.close(self.run_of(image, mask, "--config", "pads.ini")["results"]["response"]["force"], plain, 1e-12)

    def test_supports_on_pads_beside_caps(self):
        """A cap enlarges the image, and labels move with it."""
        image, mask = self.block(lambda x, y, z: (5 if z == 6 else 2 if z == 7 else 1) if z < 8 else 0,
                                 lambda label, *v: 220 if label == 1 else 0)
        E = 8 * 220 - 50
        run = self.run_of(image, mask, "--mask-labels", "1", "--label-laws", "1=linear:slope=8:intercept=-50:poisson=0",
                          "--pads", "5=2500:0", "--cap", "lower=1:500:0", "--plate-labels", "upper=2", "--poisson", "0")
        force = -0.01 * 12 * EDGE / (6 / E + 1 / self.PAD + 2 / 500)
        self.close(run["results"]["response"]["force"], force, 1e-7)
        self.assertEqual((run["problem"]["caps"]["elements"], run["problem"]["pads"]["elements"]), (24, 12))

    def test_a_pad_is_a_phase_of_a_unit_cell(self):
        image, mask = self.block(lambda x, y, z: 5 if z > 5 else 1, lambda label, *v: 100 if label == 1 else -100)
        shared = ("--test", "homogenise", "-q", "--backend", "serial", "--tolerance", "1e-9", "--boundary")
        for boundary in "kinematic", "periodic":
            cell = self.summary("bone", image, "--mask", mask, "--label-laws", "1=linear:slope=20", "--pads", "5=500", *shared,
                                boundary)
            same = self.summary("bone", "--generate", "laminate", "--size", "4,3,9", "--layers", "6=2000,3=500", "--spacing", EDGE,
                                *shared, boundary)
            for row, other in zip(*(run["results"]["homogenised"]["stiffness"] for run in (cell, same))):
                for value, expected in zip(row, other):
                    self.close(value, expected, 1e-6, 500)
            self.assertEqual((cell["problem"]["pads"]["elements"], cell["problem"]["bone_volume"]), (36, 72 * EDGE ** 3))

    def test_pads_are_marked_in_files(self):
        image, mask = self.block(lambda x, y, z: 5 if z > 6 else 1, lambda label, *v: 220)
        run = self.run_of(image, mask, *self.LAWS[:1], "1=linear", "--pads", "5=2500", "-o", "out")
        cap = read(self.path("out/block.hdf"), "VTKHDF/CellData/cap")
        self.assertEqual((cap.count(3), cap.count(0)), (24, 84))
        self.assertEqual(run["parameters"]["pads"], ["5=2500"] if isinstance(run["parameters"]["pads"], list) else "5=2500")
        text = self.ossatura("bone", image, "--mask", mask, "--label-laws", "1=linear", "--pads", "5=2500", *self.SHARED[:-2],
                             "--preview", "look.png").stdout
        self.assertRegex(text, r"(?m)^  pads +24 voxels")

    def test_pads_and_caps_in_gpa_are_doubted(self):
        image, mask = self.block(lambda x, y, z: 1 if z < 6 else 5, lambda label, *v: 100)

        def doubts(*options):
            run = self.summary("bone", image, *self.SHARED[:-2], "--mask", mask, *options)
            return [warning["text"] for warning in run["warnings"] if warning["code"] == "odd-modulus"]
        law = ("--law", "linear", "--slope", "10")
        self.assertIn("--pads 5 has 2.5 MPa, as soft as rubber", " ".join(doubts(*law, "--pads", "5=2.5")))
        self.assertEqual(doubts(*law, "--pads", "5=12"), [])
        self.assertIn("--pads 5 has 200 MPa", " ".join(doubts("--law", "modulus", "--modulus-unit", "GPa", "--pads", "5=200")))
        self.assertIn("--cap has 2.5 MPa", " ".join(doubts(*law, "--pads", "5=2500", "--cap", "lower=1:2.5")))

    def test_what_is_no_law_of_a_label_is_refused(self):
        image, mask = self.block(lambda x, y, z: 1 if z < 2 else 2 if z < 6 else 5, lambda label, *v: 100)
        bone = ("bone", image, *self.SHARED)
        masked = (*bone, "--mask", mask)
        for message, *arguments in (
                ("there is no law 'lineer'; there are constant, threshold, linear, power, modulus; did you mean 'linear'",
                 "--label-laws", "1=lineer"),
                ("linear has no 'modulus', but slope, intercept, lower, upper, poisson", "--label-laws", "1=linear:modulus=3"),
                ("slope is given twice", "--label-laws", "1=linear:slope=3:slope=4"),
                ("label of '1=power' is listed twice", "--label-laws", "1=linear,1=power"),
                ("expected LABEL=LAW[:NAME=X:...]", "--label-laws", "linear"),
                ("'x' is not a number", "--label-laws", "x=linear"),
                ("'y' is not a number", "--label-laws", "1=linear:slope=y"),
                ("a modulus of -2 MPa", "--label-laws", "1=constant:modulus=-2"),
                ("Poisson's ratio of 0.5", "--label-laws", "1=linear:poisson=0.5"),
                ("exponent of 0; greater than 0", "--label-laws", "1=power:exponent=0"),
                ("lower 5 is above upper 4", "--label-laws", "1=linear:lower=5:upper=4"),
                ("--label-laws 1=threshold needs lower, upper or both", "--label-laws", "1=threshold"),
                ("label 3 is no bone, as --mask-labels does not have it", "--label-laws", "3=linear", "--mask-labels", "1"),
                ("label 0 is no bone", "--label-laws", "0=linear"),
                ("label 2 of --mask-labels has no law", "--label-laws", "1=linear", "--mask-labels", "1,2"),
                ("--slope has no effect", "--label-laws", "1=linear:slope=3,2=constant", "--slope", "3", "--mask-labels",
                 "1,2"),
                ("--label-laws has no effect without grey values", "--law", "labels", "--labels", "1=5", "--label-laws",
                 "1=linear"),
                ("--pads has no effect without grey values", "--law", "labels", "--labels", "1=5", "--pads", "5=2"),
                # Moduli of 100 GPa would hide behind others.
                ("needs its unit: --modulus-unit MPa or GPa", "--law", "modulus", "--label-laws", "2=constant:modulus=17000",
                 "--pads", "5=2500"),
                ("--remodel takes one Poisson's ratio: a pad has 0.25, and bone 0.3", "--law", "power", "--coefficient", "1",
                 "--exponent", "2", "--pads", "5=2500:0.25", "--remodel", "3", "--remodel-stimulus", "1", "--remodel-rate", "1",
                 "--remodel-range", "0.01,1.7"),
                ("label of '5=3' is listed twice", "--law", "linear", "--pads", "5=2,5=3"),
                ("--pads: label 1 is bone", "--law", "linear", "--pads", "1=2", "--mask-labels", "1"),
                ("--pads: label 0 is what is not segmented", "--law", "linear", "--pads", "0=2"),
                ("label 1 is in --label-laws, which are of bone, and in --pads", "--label-laws", "1=linear", "--pads", "1=2"),
                ("--pads 5: a modulus of 0 MPa", "--law", "linear", "--pads", "5=0"),
                ("--pads 5: Poisson's ratio of -1", "--law", "linear", "--pads", "5=1:-1")):
            self.fails(USAGE, message, *masked, *arguments)
        self.fails(USAGE, "--label-laws has no effect without --mask", *bone, "--label-laws", "1=linear")
        self.fails(USAGE, "--pads has no effect without --mask", *bone, "--law", "linear", "--pads", "5=2")
        self.fails(USAGE, "say what its grey values mean", *masked, "--pads", "5=2")
        for message, *arguments in (
                ("the mask has no label 7, which has a law in --label-laws; it has 1, 2, 5", "--law", "linear",
                 "--label-laws", "7=linear"),
                ("the mask has no label 7, which is a pad in --pads; it has 1, 2, 5", "--law", "linear", "--pads", "7=1"),
                ("the mask has the label 2, which has no law", "--label-laws", "1=linear", "--pads", "5=1"),
                ("of the pad with the label 5 nothing is left", "--law", "linear", "--pads", "5=1", "--crop", ":,:,:6"),
                ("voxel (0, 0, 0) with the value -5 would have a negative", "--label-laws", "1=modulus,2=linear", "--pads",
                 "5=1", "--calibrate", "1,-105")):
            self.fails(BAD_FILE, message, *masked, *arguments)


class Capped(Anatomy):
    def test_a_cap_of_the_same_material_makes_a_longer_cube(self):
        cube = ("bone", "--generate", "cube", "-q", "--backend", "serial", "--size")
        for test in ("axial", "uniaxial", "confined", "torsion", "bending", "shear-zx"):
            longer = self.summary(*cube, "4,5,10", "--test", test, "--centre", "1,2,5") if test in (
                "torsion", "bending") else self.summary(*cube, "4,5,10", "--test", test)
            for caps in ("2:10000:0.3", "lower=1:10000,upper=3:10000"):
                centre = ("--centre", f"1,2,{3 if caps[0] == '2' else 4}") if test in ("torsion", "bending") else ()
                run = self.summary(*cube, "4,5,6", "--test", test, "--cap", caps, *centre)
                self.assertEqual(run["results"]["response"], longer["results"]["response"])
                self.assertEqual(run["results"]["strain_energy"], longer["results"]["strain_energy"])
                self.assertEqual(run["problem"]["elements"], longer["problem"]["elements"])
                self.assertEqual(run["problem"]["caps"]["elements"], 4 * 5 * 4)
                self.assertEqual(run["problem"]["bone_volume"], 4 * 5 * 6)
                self.assertEqual(run["problem"]["volume_fraction"], 1)
                self.assertEqual(run["results"]["sed"]["count"], 4 * 5 * 6)
                self.assertEqual(self.supports(run)["upper plate"]["contact_area"], 20)

    def test_turns_are_about_the_centre_of_the_bone_alone(self):
        step = self.image("step.nii.gz", lambda x, y, z: MODULUS if z < (10 if x < 3 else 6) else 0)
        bone = ("bone", step, *AXIAL[4:], "--test", "torsion")
        x, z = (EDGE * (sum((c + 0.5) * n for c, n in terms) / sum(n for _, n in terms)) for terms in (
            [(x, 3 * (10 if x < 3 else 6)) for x in range(8)],
            [(z, 3 * (8 if z < 6 else 3)) for z in range(10)]))
        cap = ("--cap", "2", "--surface-depth", "2")
        mass, point = (self.summary(*bone, *cap, *centre)["results"]["response"]["moment"]
                       for centre in ((), ("--centre", f"{x},{0.75},{z}")))
        self.close(mass, point, 1e-9)

    def test_a_cap_is_in_series_with_each_column(self):
        for thickness, modulus, layers in ((1, 250, 2), (1.6, 40, 3)):
            run = self.summary("bone", self.stepped, *AXIAL, "--cap", f"upper={thickness}:{modulus}:0",
                               "--surface-depth", "2")
            force = -0.01 * EDGE ** 2 * sum(
                3 * len(x) / EDGE / (high / MODULUS + (10 + layers - high) / modulus) for x, high in COLUMNS.items())
            self.close(run["results"]["response"]["force"], force, 1e-7)
            self.assertEqual(run["problem"]["caps"]["elements"], 9 * layers + 12 * (layers + 4))
            self.assertEqual(run["problem"]["modulus"], {"minimum": MODULUS, "maximum": MODULUS, "mean": MODULUS})
            self.close(self.supports(run)["upper plate"]["contact_area"], AREA, 1e-12)
            # Less deep, it does not reach the shorter column, which then nothing presses.
            run = self.summary("bone", self.stepped, *AXIAL, "--cap", f"upper={thickness}:{modulus}:0",
                               "--surface-depth", "1.9", "--largest-component")
            tall = -0.01 * EDGE * 9 / (10 / MODULUS + layers / modulus)
            self.close(run["results"]["response"]["force"], tall, 1e-7)

    def test_statistics_and_images_are_those_of_the_bone_on_its_scan(self):
        law = ("--law", "modulus", "--modulus-unit", "MPa", "-q", "--backend", "serial", *self.labels)
        run = self.summary("bone", self.stepped, *law, "--cap", "1", "--surface-depth", "2", "--test", "axial",
                           "--field-images", "nii.gz", "-o", "out", "--fields", "all")
        parts = run["results"]["labels"]
        self.assertEqual([parts[label]["elements"] for label in ("1", "3")], [9 * 9 + 12 * 5, 21])
        self.assertEqual(run["results"]["von_mises"]["count"], 9 * 10 + 12 * 6)
        self.close(sum(part["energy_share"] for part in parts.values()), 1, 1e-12)
        self.assertEqual(run["problem"]["caps"]["planes_below"], [0, 0, 2])
        self.assertEqual(run["problem"]["shape"], [8, 3, 14])
        shape, rows, values = read_nifti(self.path("out/stepped.modulus.nii.gz"))
        self.assertEqual(shape, (8, 3, 14))
        self.close(rows[2][3], -2 * EDGE, 1e-6)  # a voxel's centre, where that of the scan is at 0
        moduli = [values[x + 8 * (1 + 3 * z)] for x in (1, 3, 6) for z in range(14)]
        self.assertEqual([round(value) for value in moduli], [2500] * 2 + [1000] * 10 + [2500] * 2 + [0] * 14 +
                         [2500] * 2 + [1000] * 6 + [2500] * 6)

    def test_the_image_grows_only_where_it_must(self):
        padded = self.image("padded.nii.gz", lambda x, y, z: MODULUS if 3 <= z < 10 else 0)
        run = self.summary("bone", padded, *AXIAL, "--cap", "1.5")
        self.assertEqual(run["problem"]["shape"], [8, 3, 13])
        self.assertEqual(run["problem"]["caps"]["planes_above"], [0, 0, 1])
        force = -0.01 * EDGE * 24 / (7 / MODULUS + 6 / 2500)
        self.close(self.summary("bone", padded, *AXIAL, "--cap", "1.5:2500:0")["results"]["response"]["force"], force,
                   1e-7)

    def test_caps_that_are_none_are_refused(self):
        step = ("bone", self.stepped, *AXIAL)
        for message, *arguments in (
                ("expected MM[:MPA[:NU]]", "--cap", "1:2:3:4"),
                ("a thickness of", "--cap", "0"),
                ("a modulus of -3 MPa", "--cap", "1:-3"),
                ("Poisson's ratio of 0.5", "--cap", "1:2500:0.5"),
                ("the upper plate touches the plane of its cap", "--cap", "upper=1", "--surface", "upper=visible",
                 "--surface-depth", "1"),
                ("--parosol-output is for the voxels of the input", "--cap", "1", "--parosol-output", "x.h5")):
            self.fails(USAGE, message, *step, *arguments)
        self.fails(USAGE, "--cap has no effect without a test between plates", "bone", self.stepped, *AXIAL[4:],
                   "--fix", "z-:xyz,z+:z=1", "--test", "file", "--cap", "1")
        self.fails(BAD_FILE, "less than half a voxel", *step, "--cap", "0.2")


class Vertebra(Anatomy):
    """A body with concave endplates, a shell, and a posterior part that no plate should touch."""
    SIZE = (38, 46, 26)

    @staticmethod
    def modulus(x, y, z):
        u, v = (x - 18.5) / 17, (y - 15.5) / 13.5
        r = u * u + v * v
        dish = 3.5 * max(0, 1 - r / 0.8)
        low, high = 2 + dish, 24 - dish - 0.08 * (x - 18.5)
        if r <= 1 and low <= z + 0.5 <= high:
            rim = r > 0.86 or z + 0.5 < low + 1 or z + 0.5 > high - 1
            return 3000 if rim else 300 + 20 * ((x * 7 + y * 5 + z * 3) % 11)
        return 2000 if 27 <= y < 44 and 14 <= x < 24 and 9 <= z < 17 else 0

    def test_the_visible_surface_is_what_stiff_caps_hold(self):
        image = self.image("vertebra.nii.gz", self.modulus, self.SIZE)
        bone = ("bone", image, "--law", "modulus", "--modulus-unit", "MPa", "-q", "--backend", "serial", "--test",
                "axial", "--displacement", "-0.1", "--tolerance", "1e-9", "--surface-depth", "2.5")
        visible = self.summary(*bone, "--surface", "visible")
        potted = self.summary(*bone, "--cap", "1:1e7:0.3")
        soft = self.summary(*bone, "--cap", "1")
        force = visible["results"]["response"]["force"]
        self.assertEqual(visible["warnings"], [])
        self.close(potted["results"]["response"]["force"], force, 0.02)
        self.close(potted["results"]["pistoia"]["force"], visible["results"]["pistoia"]["force"], 0.02)
        self.assertLess(abs(soft["results"]["response"]["force"]), 0.98 * abs(force))
        for plate in ("lower plate", "upper plate"):
            area = self.supports(visible)[plate]["contact_area"]
            self.close(self.supports(potted)[plate]["contact_area"], area, 1e-12)
            self.assertGreater(area, 700 * EDGE ** 2)
        # A flat plate touches a few spots.
        flat = self.summary(*bone[:-2])
        self.assertEqual({warning["code"] for warning in flat["warnings"]}, {"small-contact"})


class Prepared(Anatomy):
    """The image is cropped, filtered, calibrated and clamped before the law."""
    LAW = ("--law", "linear", "--slope", "10", "-q", "--backend", "serial", "--test", "axial")

    def setUp(self):
        super().setUp()
        self.values = lambda x, y, z: 100 + (7 * x + 5 * y + 3 * z) % 23
        self.scan = self.image("scan.nii.gz", self.values, (8, 3, 10))

    def run_of(self, *arguments):
        return self.summary("bone", *arguments, *self.LAW)

    def same_results(self, run, other):
        for part in "response", "sed", "strain_energy":
            self.assertEqual(run["results"][part], other["results"][part])
        self.assertEqual(run["problem"]["modulus"], other["problem"]["modulus"])

    def cut(self, name, value):
        shape = (5, 3, 6)
        return self.write(name, nifti_bytes(shape, EDGE, "h", [
            value(x + 2, y, z + 4) for z in range(6) for y in range(3) for x in range(5)],
            [(EDGE, 0, 0, 2 * EDGE), (0, EDGE, 0, 0), (0, 0, EDGE, 4 * EDGE)]))

    def test_a_crop_is_the_image_of_its_voxels_in_its_place(self):
        self.scan = self.write("placed.nii.gz", nifti_bytes((8, 3, 10), EDGE, "h", [
            self.values(x, y, z) for z in range(10) for y in range(3) for x in range(8)],
            [(EDGE, 0, 0, 0), (0, EDGE, 0, 0), (0, 0, EDGE, 0)]))
        mask = self.image("part.nii.gz", lambda x, y, z: 1 + (x + z) % 2 if y > 0 else 0, (8, 3, 10))
        for options, other in (((), ()), (("--mask", mask), ("--mask", self.cut(
                "cut-mask.nii.gz", lambda x, y, z: 1 + (x + z) % 2 if y > 0 else 0)))):
            run = self.run_of(self.scan, "--crop", "2:7,:,4:", *options)
            by_hand = self.run_of(self.cut("cut.nii.gz", self.values), *other)
            self.same_results(run, by_hand)
            self.assertEqual(run["problem"]["origin"], by_hand["problem"]["origin"])
            self.assertEqual(run["problem"]["shape"], [5, 3, 6])
            self.assertEqual(run["results"].get("labels"), by_hand["results"].get("labels"))

    def place_scans(self):
        """A scan with a margin of void, what --crop takes of it, and that cut by hand."""
        def inner(x, y, z):
            return self.values(x - 2, y - 1, z - 3) if 2 <= x < 7 and 1 <= y < 4 and 3 <= z < 9 else 0
        whole = self.image("whole.nii.gz", inner, (9, 5, 10))
        cut = self.image("cut.nii.gz", lambda x, y, z: inner(x + 2, y + 1, z + 3), (5, 3, 6))
        return whole, cut, ("--crop", "2:7,1:4,3:9")

    def test_places_of_options_are_those_of_the_image_as_given(self):
        whole, cut, crop = self.place_scans()
        law = (*self.LAW[:-1], "torsion", "--lower", "1", "--tolerance", "1e-10")
        for options in ((), ("--cap", "1")):  # which makes the image grow where it is cropped
            moments = [self.summary("bone", image, *law, *options, *more, "--centre", centre)["results"]["response"]["moment"]
                       for image, more, centre in ((whole, (), "1.9,1.1,0"), (whole, crop, "1.9,1.1,0"), (cut, (), "0.9,0.6,0"))]
            self.close(moments[1], moments[2], 1e-9)  # the centres differ by their last digits
            self.close(moments[0], moments[1], 1e-7)
        finer = [self.summary("bone", image, *law, *more, "--resample", "0.25", "--centre", centre)["results"]["response"]["moment"]
                 for image, more, centre in ((whole, crop, "1.9,1.1,0"), (cut, (), "0.9,0.6,0"))]
        self.close(*finer, 1e-9)
        # Beside what is cropped, and in the image as given: nothing is odd about that.
        run = self.summary("bone", whole, *law, *crop, "--centre", "0.1,0.1,0")
        self.assertEqual([one["code"] for one in run["warnings"] if one["code"] == "odd-centre"], [])
        self.assertEqual(run["problem"]["crop"], {"begin": [2, 1, 3], "end": [7, 4, 9]})
        far = self.summary("bone", whole, *law, *crop, "--centre", "4.6,0.1,0")
        self.assertIn("odd-centre", [one["code"] for one in far["warnings"]])

    def test_nodes_of_options_are_those_of_the_image_as_given(self):
        whole, cut, crop = self.place_scans()
        law = (*self.LAW[:-1], "file", "--lower", "1", "--tolerance", "1e-10")
        nodes = [(x, y) for y in range(4) for x in range(6)]

        def lists(name, x0, y0, z0):
            return ("--fix-file", self.write(name + "-fix.csv", "".join(
                        f"{x + x0},{y + y0},{z0},{c},0\n" for x, y in nodes for c in "xyz")),
                    "--force-file", self.write(name + "-force.csv", "".join(
                        f"{x + x0},{y + y0},{z0 + 6},z,-1\n" for x, y in nodes)))

        for here, there in ((lists("given", 2, 1, 3), lists("cut", 0, 0, 0)),
                            (("--fix", "z-:xyz,5/3/9:x=0.01", "--force", "4/3/9:z=-5"),
                             ("--fix", "z-:xyz,3/2/6:x=0.01", "--force", "2/2/6:z=-5"))):
            full, cropped, by_hand = (self.summary("bone", image, *law, *options)["results"] for image, options in (
                (whole, here), (whole, (*crop, *here)), (cut, there)))
            self.assertEqual(cropped["strain_energy"], by_hand["strain_energy"])
            self.assertEqual(cropped["reactions"], by_hand["reactions"])
            self.close(full["strain_energy"], cropped["strain_energy"], 1e-7)
        beside = "node 1/2/9 lies beside the voxels of --crop, whose nodes are 2 to 7 along x"
        self.fails(BAD_FILE, "--force: " + beside, "bone", whole, *law, *crop, "--fix", "z-:xyz", "--force", "1/2/9:z=-5")
        self.fails(BAD_FILE, "--fix: " + beside, "bone", whole, *law, *crop, "--fix", "z-:xyz,1/2/9:x=1")
        out = self.write("out.csv", "3,2,3,z,0\n1,2,9,z,1\n")
        for option in "--fix-file", "--force-file":
            self.fails(BAD_FILE, "out.csv: " + beside, "bone", whole, *law, *crop, "--fix", "z-:xyz", option, out)
        gap = self.image("gap.nii.gz", lambda x, y, z: self.values(x, y, z) if z > 4 else 0, (9, 5, 10))
        self.fails(BAD_FILE, "the first at x, y, z = 3, 2, 3", "bone", gap, *law, *crop, "--fix-file",
                   self.write("void.csv", "3,2,3,z,0\n"))
        for option, value in (("--fix", "1/2/3:x"), ("--force", "1/2/3:x=1"), ("--fix-file", out), ("--force-file", out)):
            self.fails(USAGE, " numbers nodes of the image as given, and --resample makes voxels of its own", "bone", whole,
                       *law, "--fix", "z-:xyz", "--resample", "0.3", option, value)

    def test_sections_and_reactions_of_a_grown_image_have_one_origin(self):
        mask = self.image("halves.nii.gz", lambda x, y, z: 1 + (x > 3), (8, 3, 10))
        run = self.run_of(self.scan, "--mask", mask, "--cap", "1", "--poisson", "0")
        sections, plates = run["results"]["sections"], self.supports(run)
        self.assertEqual(run["problem"]["shape"], [8, 3, 14])
        self.assertEqual(run["problem"]["caps"]["planes_below"], [0, 0, 2])
        self.assertEqual(sections["position"], [EDGE * (layer + 0.5) for layer in range(14)])
        self.close(plates["upper plate"]["centre"][2] - sections["position"][-1], EDGE / 2, 1e-12)
        self.close(sections["position"][0] - plates["lower plate"]["centre"][2], EDGE / 2, 1e-12)

    def test_a_line_of_calibration_and_a_clamp(self):
        by_hand = self.run_of(self.image("dense.nii.gz", lambda *v: min(max(2 * self.values(*v) - 150, 60), 90),
                                         (8, 3, 10)))
        for calibration in ("2,-150", "100=50,120=90"):
            self.same_results(self.run_of(self.scan, "--calibrate", calibration, "--clamp", "60,90"), by_hand)
        self.fails(BAD_FILE, "the values of the image are 50 to 94", "bone", self.scan, "--calibrate", "2,-150",
                   "--lower", "1000", *self.LAW)

    def test_a_line_of_calibration_that_falls(self):
        for calibration in "-1,200", "100=100,122=78", "122=78,100=100":  # the last two: as exchanged densities
            with self.subTest(calibration=calibration):
                warning, = self.run_of(self.scan, f"--calibrate={calibration}", "--lower", "1")["warnings"]
                self.assertEqual(warning["code"], "odd-calibration")
                self.assertIn("--calibrate: a slope of -1: the brightest of the image becomes", warning["text"])
        for calibration in "1,-5", "122=100,100=78", "100=78,122=100":
            self.assertEqual(self.run_of(self.scan, "--calibrate", calibration, "--lower", "1")["warnings"], [])

    def test_bins_of_moduli(self):
        run = self.summary("bone", self.scan, *self.LAW, "--bins", "2", "-o", "out", "--fields", "modulus",
                           "--field-images", "nii.gz")
        moduli = [1000 + 10 * ((7 * x + 5 * y + 3 * z) % 23)
                  for z in range(10) for y in range(3) for x in range(8)]  # 1000 to 1220
        found = read_nifti(self.path("out/scan.modulus.nii.gz"))[2]
        self.assertEqual(set(found), {1055.0, 1165.0})
        for value, modulus in zip(found, moduli):
            self.assertLessEqual(abs(value - modulus), 55)
        self.close(run["problem"]["modulus"]["maximum"], 1165, 1e-9)
        # What the mask leaves out, a screw here, is in no bin.
        screw = self.image("screw.nii.gz", lambda x, y, z: 3000 if (x, y, z) == (0, 0, 0) else
                           100 if x < 4 else 120)
        bone = self.image("mask.nii.gz", lambda x, y, z: int(x > 0))
        run = self.summary("bone", screw, "--mask", bone, *self.LAW, "--bins", "2")
        self.close(run["problem"]["modulus"]["minimum"], 1050, 1e-9)
        self.close(run["problem"]["modulus"]["maximum"], 1150, 1e-9)

    # NIfTI has edges in single precision: that of 0.1 is above it, and three layers are 0.3 mm deep all the same.
    def test_depths_of_whole_layers(self):
        values = [self.values(x, y, z) for z in range(10) for y in range(3) for x in range(8)]
        scan = self.write("float.nii.gz", nifti_bytes((8, 3, 10), 0.1, "h", values))
        exact = self.write("double.mha", (
            "ObjectType = Image\nNDims = 3\nDimSize = 8 3 10\nElementSpacing = 0.1 0.1 0.1\nBinaryData = True\n"
            "ElementType = MET_SHORT\nElementDataFile = LOCAL\n").encode() + struct.pack(f"<{len(values)}h", *values))
        for options in (("--plate-depth", "0.3"),
                        ("--cap", "0.2", "--surface-depth", "0.3"), ("--gaussian", "0.1")):
            with self.subTest(options=options):
                found, expected = (self.run_of(image, *options)["results"]["strain_energy"] for image in (scan, exact))
                self.close(found, expected, 1e-6)
                self.assertGreater(abs(expected / self.run_of(exact)["results"]["strain_energy"] - 1), 1e-4)

    def test_a_gaussian_filter(self):
        step = self.image("step.nii.gz", lambda x, y, z: 200 if x < 4 else 100)
        weight = [math.exp(-0.5 * (k * EDGE / 0.6) ** 2) for k in range(3)]

        def filtered(x):
            near = [(weight[abs(k)], 200 if x + k < 4 else 100) for k in range(-2, 3) if 0 <= x + k < 8]
            return sum(w * v for w, v in near) / sum(w for w, _ in near)

        self.summary("bone", step, *self.LAW, "--gaussian", "0.6:2", "-o", "out", "--fields", "modulus",
                     "--field-images", "nii.gz")
        for x, value in zip(range(8), read_nifti(self.path("out/step.modulus.nii.gz"))[2]):
            self.close(value, 10 * filtered(x), 1e-6)
        same = self.image("same.nii.gz", lambda x, y, z: 150)
        self.same_results(self.run_of(same, "--gaussian", "0.4"), self.run_of(same))

    def test_what_cannot_be_prepared_is_refused(self):
        for message, *arguments in (
                ("expected FIRST:END of x, y and z", "--crop", "1:2"),
                ("voxels are counted from 0", "--crop", "3:3,:,:"),
                ("a sigma of 1e-9 to 1e9 mm", "--gaussian", "0"),
                ("a support of 0 voxels", "--gaussian", "1:0"),
                *(("--gaussian", "--gaussian", wrong) for wrong in ("abc", "nan", ".5:1.5", ".5:")),
                ("expected SLOPE,INTERCEPT or two points", "--calibrate", "3"),
                ("both points have the value 5", "--calibrate", "5=1,5=2"),
                ("a slope other than 0", "--calibrate", "0,1"),
                ("the lower bound is below", "--clamp", "2,1"),
                ("--bins -1", "--bins", "-1")):
            self.fails(USAGE, message, "bone", self.scan, *arguments, *self.LAW)
        for more, what in (((), "--resample 0.0005"), (("--turn", "z=10"), "turned")):
            self.fails(BAD_FILE, f"scan.nii.gz: {what}: makes", "bone", self.scan, *self.LAW, "--resample", "0.0005", *more, "-q")
        self.fails(USAGE, "--crop -1:: voxels are counted from 0", "bone", self.scan, "--crop=-1:,:,:", "-q")
        self.fails(BAD_FILE, "scan.nii.gz: --crop takes voxels 2 to 9 along x, and the image has 8", "bone", self.scan,
                   "--crop", "2:9,:,:", *self.LAW)
        self.fails(USAGE, "--gaussian has no effect without another --law", "bone", self.mask, "--law", "labels",
                   "--labels", "1=5", "--gaussian", "1")
        self.fails(USAGE, "--crop has no effect without an image that is read", "bone", "--generate", "cube", "--crop",
                   "1:2,:,:")
        surface = self.write("tetra.off", "OFF\n4 4 0\n0 0 0\n9 0 0\n0 9 0\n0 0 9\n"
                             "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
        self.fails(USAGE, "--clamp is for grey values, and", "bone", surface, "--voxel", "1", "--clamp", "1,2", "-q")


class Preview(Anatomy):
    REST, MOVED, PUSHED = (70, 150, 255), (255, 60, 50), (255, 220, 0)

    def picture(self, name):
        """Width, height and rows of pixels, after the specification."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        place, chunks = 8, []
        while place < len(data):
            size, kind = struct.unpack_from(">I4s", data, place)
            content = data[place + 8:place + 8 + size]
            self.assertEqual(struct.unpack_from(">I", data, place + 8 + size)[0], zlib.crc32(kind + content))
            chunks.append((kind, content))
            place += 12 + size
        self.assertEqual([kind for kind, _ in chunks], [b"IHDR", b"IDAT", b"IEND"])
        width, height, *form = struct.unpack(">2I5B", chunks[0][1])
        self.assertEqual(form, [8, 2, 0, 0, 0])
        lines = zlib.decompress(chunks[1][1])
        self.assertEqual(len(lines), height * (1 + 3 * width))
        rows = []
        for y in range(height):
            line = lines[y * (1 + 3 * width):(y + 1) * (1 + 3 * width)]
            self.assertEqual(line[0], 0)
            rows.append([tuple(line[1 + 3 * x:4 + 3 * x]) for x in range(width)])
        return rows

    def test_sections_show_material_caps_and_what_is_held(self):
        run = self.summary("bone", self.stepped, *AXIAL, "--cap", "upper=1", "--surface-depth", "2", "--preview",
                           "*.png")
        self.assertEqual(run["status"], "dry run")
        self.assertEqual(run["results"]["preview"], "stepped.png")
        self.assertEqual(self.files(), ["mask.nii.gz", "stepped.nii.gz", "stepped.png"])
        rows = self.picture("stepped.png")
        scale, margin = 16, 12  # 480 pixels are more than 16 for each of 12 voxels
        widths = (3, 8, 8)  # of the sections across x, y and z
        self.assertEqual((len(rows[0]), len(rows)), (4 * margin + scale * sum(widths), 2 * margin + 12 * scale))
        left, top = 2 * margin + scale * widths[0], margin

        def voxel(x, z):  # its middle, in the section across y
            return rows[top + (11 - z) * scale + scale // 2][left + x * scale + scale // 2]

        for x in range(8):
            for z in range(12):
                r, g, b = voxel(x, z)
                kind = "bone" if r == g == b > 0 else "void" if r == 0 else "cap"
                self.assertEqual(kind, "void" if not height(x) else "bone" if z < height(x) else "cap", (x, z))

        def node(x, z):
            return rows[top + (12 - z) * scale][left + x * scale]

        for x in (0, 1, 2, 3, 4, 5, 6, 7):
            self.assertEqual((node(x, 0), node(x, 12)), (self.REST, self.MOVED), x)
        self.assertNotIn(node(1, 5), (self.REST, self.MOVED))

    def test_forces_are_shown_and_names_are_checked(self):
        cube = ("bone", "--generate", "cube", "--size", "4", "-q")
        self.ossatura(*cube, "--fix", "z-:xyz", "--force", "z+:z=-1", "--preview", "p.png")
        colours = {pixel for row in self.picture("p.png") for pixel in row}
        self.assertTrue({self.REST, self.PUSHED} <= colours)
        self.assertNotIn(self.MOVED, colours)
        self.ossatura(*cube, "--test", "homogenise", "--preview", "h.png")
        self.picture("h.png")
        self.fails(USAGE, "a picture is a .png file", *cube, "--preview", "p.jpg")
        self.fails(USAGE, "put a * for the name of each", "bone", self.stepped, self.mask, *AXIAL, "--preview", "p.png")
        self.ossatura("bone", self.stepped, self.mask, *AXIAL, "--preview", "*.png")
        self.assertTrue({"stepped.png", "mask.png"} <= set(self.files()))


if __name__ == "__main__":
    driver_case.main()
