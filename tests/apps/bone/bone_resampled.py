# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` with images that become cubes, and with bones that are turned."""
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE, USAGE, DriverCase
from support.hdf5_values import write
from support.image_case import EDGE, LAW, SHAPE, BoneImages, grey, label, turned, voxels
from support.specimens import nifti_bytes, read_nifti


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

    def test_a_segmentation_is_blended_about_its_middle(self):
        """With the value of the bone for a threshold a ball lost a third of its volume, and its stiffness with it."""
        shape = (12, 12, 12)
        ball = [sum((q - 5.5) ** 2 for q in (x, y, z)) < 25 for z in range(12) for y in range(12) for x in range(12)]
        image = self.write("ball.nii.gz", nifti_bytes(shape, 0.5, "h", [127 * inside for inside in ball]))
        law = ("--law", "threshold", "--surface", "visible", "--surface-depth", "1", "--backend", "serial", "--dry-run", "-q")
        blends = (("--turn", "x=30"), ("--resample", "0.25"), ("--gaussian", "0.4"), ("--turn", "x=90", "--resample", "0.25"))
        for how in blends:
            with self.subTest(how=how):
                option = "--resample" if "--resample" in how else how[0]
                said = f"ball.nii.gz: no value is between 0 and 127, as in a segmentation, until {option} blends them"
                self.fails(BAD_FILE, said, "bone", image, *law, "--lower", "127", *how)
                self.fails(BAD_FILE, "the bone too thick; take the middle, --lower 63.5", "bone", image, *law, "--lower", "1", *how)
                problem = self.summary("bone", image, *law, "--lower", "63.5", *how)["problem"]
                self.close(problem["bone_volume"], sum(ball) / 8, 0.05)
        self.fails(BAD_FILE, "take the middle, --lower 500", "bone", image, *law, "--calibrate", "0=0,127=1000", "--lower", "1000",
                   *blends[0])
        for exact in ((), ("--turn", "x=90,z=180"), ("--resample", "0.5"), ("--crop", "1:,:,:")):
            self.assertEqual(self.summary("bone", image, *law, "--lower", "127", *exact)["problem"]["elements"], sum(ball))
        # Where a law is graded the least parts of bone are soft, and a mask ends the bone by itself.
        mask = self.write("seg.nii.gz", nifti_bytes(shape, 0.5, "h", [int(inside) for inside in ball]))
        self.summary("bone", image, *law, "--lower", "1", "--mask", mask, *blends[1])
        graded = ("--law", "linear", "--slope", "100", *law[2:])
        self.summary("bone", image, *graded, "--lower", "1", *blends[1])
        self.fails(BAD_FILE, "the bone too thin", "bone", image, *graded, "--lower", "127", *blends[1])
        by_label = ("--mask", mask, *law[2:])  # with a law for each label, too
        for how in blends:
            option = "--resample" if "--resample" in how else how[0]
            for label_law in ("threshold:modulus=9000", "linear:slope=70"):
                said = (f"ball.nii.gz: no value is between 0 and 127, as in a segmentation, until {option} blends them at the surface "
                        "of the bone: with lower of label 1 at 127 a voxel there is void unless all of it is bone, and the bone too "
                        "thin; take the middle, lower of label 1 at 63.5")
                self.fails(BAD_FILE, said, "bone", image, *by_label, "--label-laws", f"1={label_law}:lower=127", *how)
                self.fails(BAD_FILE, "with --lower 127 a voxel", "bone", image, *by_label, "--label-laws", f"1={label_law}",
                           "--lower", "127", *how)
                volume = self.summary("bone", image, *by_label, "--label-laws", f"1={label_law}:lower=63.5", *how)["problem"]["bone_volume"]
                self.close(volume, sum(ball) / 8, 0.05)
        self.summary("bone", image, *by_label, "--label-laws", "1=constant:modulus=9000", *blends[1])

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


if __name__ == "__main__":
    driver_case.main()
