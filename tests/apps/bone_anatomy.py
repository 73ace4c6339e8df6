# SPDX-License-Identifier: Apache-2.0
"""`ossatura bone` loaded by anatomy: the visible surface, labels of a mask and caps, against closed forms."""
import driver_case
from driver_case import BAD_FILE, USAGE, DriverCase
from specimens import nifti_bytes, read_nifti

SHAPE, EDGE, MODULUS = (8, 3, 10), 0.5, 1000
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
            7 if x == 3 and z == 9 else 0)
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

    def test_bone_with_a_label_is_embedded(self):
        # The plate has all nodes of the lowest layer, of which the columns become shorter.
        run = self.summary("bone", self.stepped, *AXIAL, *self.labels, "--plate-labels", "lower=3,upper=2")
        force = -0.01 * MODULUS * EDGE * sum(3 * len(x) / (high - 1) for x, high in COLUMNS.items())
        self.close(run["results"]["response"]["force"], force, 1e-7)

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
        self.fails(BAD_FILE, "mask.nii.gz: the mask has no label 5, which plates or supports are to touch; it has 1, 2, "
                   "3, 7", *step, *self.labels, "--plate-labels", "upper=5")
        far = self.image("far.nii.gz", lambda x, y, z: (1 if z < height(x) else 8 if (x, z) == (5, 9) else 0))
        self.fails(BAD_FILE, "stepped.nii.gz: the upper plate touches nothing", *step, "--mask", far, "--mask-labels",
                   "1", "--plate-labels", "upper=8")
        self.fails(BAD_FILE, "--fix: label 8 has no node of a solid voxel", "bone", self.stepped, *AXIAL[4:], "--mask",
                   far, "--mask-labels", "1", "--fix", "z-:xyz,label:8:z=1")


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
        self.close(rows[2][3], -2 * EDGE, 1e-6)  # where the scan begins at 0
        moduli = [values[x + 8 * (1 + 3 * z)] for x in (1, 3, 6) for z in range(14)]
        self.assertEqual([round(value) for value in moduli], [2500] * 2 + [1000] * 10 + [2500] * 2 + [0] * 14 +
                         [2500] * 2 + [1000] * 6 + [2500] * 6)

    def test_the_image_grows_only_where_it_must(self):
        padded = self.image("padded.nii.gz", lambda x, y, z: MODULUS if 3 <= z < 8 else 0)
        run = self.summary("bone", padded, *AXIAL, "--cap", "1.5")
        self.assertEqual(run["problem"]["shape"], [8, 3, 11])
        self.assertEqual(run["problem"]["caps"]["planes_above"], [0, 0, 1])
        force = -0.01 * EDGE * 24 / (5 / MODULUS + 6 / 2500)
        self.summary("bone", padded, *AXIAL, "--cap", "1.5:2500:0")
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
                "axial", "--displacement", "-0.1", "--surface-depth", "2.5")
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


if __name__ == "__main__":
    driver_case.main()
