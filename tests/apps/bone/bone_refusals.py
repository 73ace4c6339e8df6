# SPDX-License-Identifier: Apache-2.0
"""What `ossatura bone` refuses, warns of or doubts: bad input, supports that do not hold, numbers of other units."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case, hdf5_values
from support.bone_case import CUBE, E, NU, BoneCase, Images
from support.driver_case import BAD_FILE, NOT_CONVERGED, USAGE


class BadInput(BoneCase):
    @staticmethod
    def raw(size, kind):
        return ("x.raw", "--shape", f"{size},{size},{size}", "--type", kind, "--spacing", "1")

    def bad(self, message, *arguments, code=BAD_FILE):
        before = self.files()
        self.fails(code, message, "bone", *arguments, "--json", "s.json", "--hdf", "f.hdf",
                   "--history", "h.csv", "-q")
        self.assertEqual(self.files(), before)

    def test_missing_file(self):
        self.bad("nothere.h5", "nothere.h5")

    def test_directory(self):
        os.mkdir(self.path("d.h5"))
        self.bad("d.h5", "d.h5")

    def test_not_hdf5(self):
        self.write("x.h5", "this is no image")
        self.bad("x.h5", "x.h5")

    def test_empty_file(self):
        self.write("x.mha", "")
        self.bad("x.mha", "x.mha", "--law", "modulus")

    def test_truncated_raw(self):
        self.write("x.raw", struct.pack("<63f", *[E] * 63))
        self.bad("x.raw", *self.raw(4, "float32"), "--law", "modulus")

    def test_moduli_that_are_none(self):
        for value in (float("nan"), -1.0, float("inf")):
            with self.subTest(value=value):
                self.write("x.raw", struct.pack("<8f", *[E] * 7, value))
                self.bad("", *self.raw(2, "float32"), "--law", "modulus", "--test", "axial")

    def test_no_bone_at_all(self):
        self.write("x.raw", bytes(8))
        self.bad("", *self.raw(2, "uint8"), "--law", "threshold", "--lower", "1", "--test",
                 "axial")

    def test_an_output_that_is_no_hdf5_is_refused_before_the_solve(self):
        notes = self.write("notes.txt", b"not to be lost\n")
        self.bad("notes.txt: is not an HDF5 file", *CUBE, "--parosol-output", notes)
        with open(notes, "rb") as file:
            self.assertEqual(file.read(), b"not to be lost\n")

    def test_an_island_is_dropped_or_an_error(self):
        voxels = [0] * 5 ** 3
        for z in range(5):
            voxels[25 * z] = 1
        voxels[25 * 2 + 5 * 2 + 2] = 1
        self.write("x.raw", bytes(voxels))
        image = (*self.raw(5, "uint8"), "--law", "threshold", "--lower", "1", "--test", "axial")
        self.bad("2, 2, 2", *image, "--islands", "error")
        self.bad("--islands drop", *image) # a sixth of the bone is not left out without consent
        for choice in (("--islands", "drop"), ("--largest-component",)):
            run = self.summary("bone", *image, *choice, "-q")
            self.assertEqual(run["problem"]["elements"], 5)
            self.assertEqual(run["problem"]["dropped_elements"], 1)

    def test_conditions_on_void_or_outside(self):
        self.write("x.raw", bytes([1, 0, 0, 0, 1, 0, 0, 0]))
        image = (*self.raw(2, "uint8"), "--law", "threshold", "--lower", "1", "--test", "file",
                 "--fix", "z-:xyz")
        for place in ("2/2/2", "9/0/0"):
            with self.subTest(place=place):
                self.bad(place, *image, "--fix", f"{place}:x=1")

    def test_options_of_plates_beside_supports_of_nodes(self):
        # They did nothing, and the run was of another test than the one that was asked for.
        held = (*CUBE, "--fix", "z-:xyz", "--fix", "z+:z=-0.1", "-q")
        for more in (("--strain", "-0.05"), ("--displacement", "-0.5"), ("--axis", "x"), ("--lateral", "free"),
                     ("--surface", "visible", "--surface-depth", "1"), ("--cap", "2")):
            self.fails(USAGE, f"{more[0]} has no effect without", "bone", *held, *more)
        self.bad("nothing holds the specimen", *CUBE, "--force", "z+:z=-1", code=USAGE)
        nodes = [(z, y, x, d) for z in (0, 3) for y in range(4) for x in range(4) for d in range(3)]
        hdf5_values.write(self.path("p.h5"), "Image_Data", {
            "Image": ((3, 3, 3), [E] * 27), "Voxelsize": ((), [0.5]), "Poisons_ratio": ((), [NU]),
            "Fixed_Displacement_Coordinates": ((len(nodes), 4), [number for node in nodes for number in node]),
            "Fixed_Displacement_Values": ((len(nodes),), [-0.015 if (z, d) == (3, 2) else 0.0 for z, _, _, d in nodes])})
        file = ("bone", "p.h5", "--modulus-unit", "MPa", "--backend", "serial", "-q")
        for more in (("--strain", "-0.05"), ("--displacement", "-0.5"), ("--axis", "x"), ("--lateral", "free"),
                     ("--surface", "visible", "--surface-depth", "1"), ("--cap", "2"), ("--plate-depth", "1")):
            self.fails(USAGE, f"p.h5: has supports or forces of its nodes, and {more[0]} is of plates", *file, *more)
        given = self.summary(*file)["results"]["response"]["force"]
        pressed = self.summary(*file, "--test", "axial", "--strain", "-0.05")["results"]["response"]["force"]
        self.close(pressed, 5 * given, 1e-5)

    def test_forces_without_support(self):
        self.bad("--fix", *CUBE, "--test", "file", "--force", "z+:z=1", code=USAGE)


class Supports(Images):
    def test_a_plate_that_touches_little_warns(self):
        # A column of 9 x 9 voxels with a tip of 3 x 3, twice as high as the tip.
        image = self.raw((9, 9, 9), lambda x, y, z: z < 8 or (3 <= x < 6 and 3 <= y < 6))
        for test in ("axial", "confined", "shear-zx", "torsion", "bending"):
            with self.subTest(test=test):
                run = self.summary("bone", *image, "--test", test, "-q")
                self.assertEqual(self.codes(run), ["small-contact"])
                self.assertIn("upper plate: touches 2.25 mm2", run["warnings"][0]["text"])
                areas = [support["contact_area"] for support in run["results"]["reactions"][:2]]
                self.assertEqual(areas, [0.25 * 81, 0.25 * 9])
        run = self.summary("bone", *image, "--test", "axial", "--plate-depth", "1", "-q")
        self.assertEqual(self.codes(run), [])
        self.assertEqual(run["results"]["reactions"][1]["contact_area"], 0.25 * 81)
        self.assertIn("mm2", self.ossatura("bone", *image, "--test", "axial", "-q").stdout)
        run = self.summary("bone", *image, "--fix", "z-:xyz", "--force", "z+:z=-1", "-q")
        self.assertIn("side z+", run["warnings"][0]["text"])
        run = self.summary("bone", *image, "--fix", "z-:xyz", "--fix", "z+:z=-0.1", "-q")
        self.assertEqual(self.codes(run), ["small-contact"])

    def test_a_flat_support_beside_a_spot_is_across_its_own_axis(self):
        """The line between them leans far from it: the area was 0 mm2, and warned of."""
        box = ("--generate", "cube", "--size", "6,5,4", "--spacing", "0.5", "--backend", "serial", "-q", "--fix")
        for spot in "0/0/2:x=0.01", "6/0/2:x=0.01", "0/2/3:y=0.01":
            with self.subTest(spot=spot):
                run = self.summary("bone", *box, f"z-:xyz,{spot}")
                area = {one["support"]: one["contact_area"] for one in run["results"]["reactions"]}
                self.assertEqual(area, {"held xyz": 0.25 * 30, f"moved {spot[6]}": 0})
                self.assertEqual(run["warnings"], [])  # a node by name is no plate

    def test_supports_that_contradict_each_other(self):
        cube = ("--generate", "cube", "--size", "3", "--backend", "serial", "-q", "--fix")
        pressed, held = "z+:z=-0.01", "x+:xz"  # share an edge
        last = {order: self.summary("bone", *cube, ",".join(("z-:xyz", *order)))
                for order in ((pressed, held), (held, pressed), (pressed, pressed), ("x+:x", pressed))}
        self.assertEqual([self.codes(run) for run in last.values()], [["held-twice"], ["held-twice"], [], []])
        self.assertIn("--fix side x+: 4 degrees of freedom are held at another", last[pressed, held]["warnings"][0]["text"])
        refined = self.summary("bone", *cube, "z-:xyz,z+:xyz=0,z+:z=-0.01")  # what is held at 0 is said first
        self.assertEqual(self.codes(refined), [])
        said_once = self.summary("bone", *cube, "z-:xyz,z+:xy=0,z+:z=-0.01")
        self.assertEqual(refined["results"]["strain_energy"], said_once["results"]["strain_energy"])
        twice = self.summary("bone", *cube, "z-:xyz,z+:z=-0.02,z+:z=-0.01")
        self.assertEqual(self.codes(twice), ["held-twice"])
        # the list of an exchanged order says the same
        listed = [f"{x},{y},3,z,{0 if x == 3 else -0.01}\n" for x in range(4) for y in range(4)]
        listed += [f"3,{y},{z},{c},0\n" for y in range(4) for z in range(4) for c in "xz" if c == "x" or z < 3]
        name = self.write("edge.csv", "\ufeff" + "".join(listed))
        energy = last[pressed, held]["results"]["strain_energy"]
        run = self.summary("bone", *cube, "z-:xyz", "--fix-file", name)
        self.assertEqual(self.codes(run), [])
        self.close(run["results"]["strain_energy"], energy, 1e-7)
        self.write("edge.csv", "3,1,3,z,-0.01\n" + "".join(listed[1:] + listed[:1]))
        run = self.summary("bone", *cube, "z-:xyz", "--fix-file", name)
        self.assertEqual(self.codes(run), ["held-twice"])
        self.close(run["results"]["strain_energy"], energy, 1e-7)

    def test_porous_ends_of_porous_bone_do_not_warn(self):
        # A fifth of each layer, in bars that stand side by side, joined by one layer.
        image = self.raw((10, 10, 8), lambda x, y, z: z == 4 or (x % 5 == 0))
        run = self.summary("bone", *image, "--test", "axial", "-q")
        self.assertEqual(self.codes(run), [])
        self.close(run["results"]["reactions"][0]["contact_area"], 0.25 * 20)

    def test_most_of_the_bone_is_never_left_out(self):
        # Noise at both ends of the image takes the plates away from the bone.
        image = self.raw((6, 6, 10), lambda x, y, z: 1 <= z < 9 or (x == y == 0 and z in (0, 9)) or
                         (x == y == 5 and z in (0, 9)))
        apart = self.raw((6, 6, 12), lambda x, y, z: 2 <= z < 10 or x == y < 2 and z in (0, 11),
                         "apart.raw")
        crumbs = self.raw((6, 6, 12), lambda x, y, z: 2 <= z < 10 or x == y == 0 and z in (0, 11),
                          "crumbs.raw")
        self.assertEqual(self.summary("bone", *image, "-q")["problem"]["dropped_elements"], 0)
        run = self.summary("bone", *crumbs, "-q")  # less than a hundredth of the bone
        self.assertEqual((self.codes(run), run["problem"]["dropped_elements"]), (["islands-left-out"], 2))
        for choice in ((), ("--islands", "drop")):
            process = self.refused("--largest-component", *apart, *choice)
            for remedy in ("98.6 %", "--plate-depth", "--lower"):
                self.assertIn(remedy, process.stderr)
        run = self.summary("bone", *apart, "--largest-component", "-q")
        self.assertEqual(run["problem"]["elements"], 288)

    def test_crumbs_are_left_out_with_a_warning(self):
        image = self.raw((6, 6, 10), lambda x, y, z: y < 4 or (x == 2 and y == 5 and z == 5))
        run = self.summary("bone", *image, "-q")
        self.assertEqual(self.codes(run), ["islands-left-out"])
        self.assertEqual(run["problem"]["dropped_elements"], 1)
        self.assertEqual(run["problem"]["components"], 1)

    def test_a_cut_specimen_has_no_load_path(self):
        cut = self.raw((4, 4, 9), lambda x, y, z: z != 4)
        for test in (("--test", "axial"), ("--test", "axial", "--lateral", "free"),
                     ("--test", "torsion"), ("--test", "bending"), ("--test", "shear-zx"),
                     ("--fix", "z-:xyz", "--fix", "z+:xyz=0.1")):
            with self.subTest(test=test):
                self.refused("no path of bone", *cut, *test)
        whole = self.raw((4, 4, 9), lambda x, y, z: z != 4 or (x, y) == (1, 2), "whole.raw")
        self.assertEqual(self.summary("bone", *whole, "-q")["problem"]["components"], 1)
        self.refused("nothing loads", *whole, "--fix", "z-:xyz")

    def test_parts_that_carry_nothing_are_said(self):
        stumps = self.raw((9, 4, 9), lambda x, y, z: x < 4 or (x > 4 and z != 4))
        run = self.summary("bone", *stumps, "-q")
        self.assertEqual(self.codes(run), ["unloaded-parts"])
        self.assertEqual(run["problem"]["components"], 3)
        self.close(run["results"]["response"]["force"],
                   self.summary("bone", *self.raw((4, 4, 9), lambda x, y, z: True, "one.raw"),
                                "-q")["results"]["response"]["force"], 1e-5)

    def test_free_rigid_motions_are_named(self):
        cube = ("--generate", "cube", "--size", "4", "--backend", "serial")
        for held, motions in ((("z-:z",), "along x, along y, about z"),
                              (("z-:z", "0/0/0:xy"), "(about z)"),
                              (("z-:xz",), "(along y)"),
                              (("0/0/0:xyz",), "about x, about y, about z"),
                              (("0/0/0:xyz", "4/4/4:xyz"), "along none of the axes")):
            with self.subTest(held=held):
                self.fails(USAGE, motions, "bone", *cube, "--fix", ",".join(held), "--force", "z+:x=1", "-q")
        self.summary("bone", *cube, "--fix", "z-:z,0/0/0:xy,4/0/0:y", "--force", "z+:z=1", "-q")

    def test_a_generated_model_has_no_file_to_blame(self):
        """All were exit 5, of a bad file."""
        cube = ("bone", "--generate", "cube", "--size", "4", "--backend", "serial", "-q")
        for message, *options in (
                ("nothing holds the specimen", "--test", "file"), ("nothing loads the specimen", "--fix", "z-:xyz"),
                ("has no node of a solid voxel", "--fix", "9/9/9:xyz"), ("less than half a voxel", "--cap", "0.1"),
                ("acts only where the specimen is held", "--fix", "z-:xyz", "--force", "z-:z=1"),
                ("one rigid body", "--fix", "z-:xyz=0.1")):
            for more in ((), ("--dry-run",)):
                self.fails(USAGE, message, *cube, *options, *more)
        self.fails(USAGE, "no voxel is bone", "bone", "--generate", "sphere", "--size", "8", "--radius", "0.1", "-q")
        self.fails(USAGE, "no path of bone leads", "bone", "--generate", "laminate", "--size", "8", "--layers", "2=10,3=0", "-q")
        self.fails(BAD_FILE, "void.csv", *cube, "--fix-file", self.write("void.csv", "9,9,9,z,0\n"))

    def test_an_iteration_that_stalls_ends_and_says_why(self):
        # Two blocks that share one edge, about which the force turns the upper one.
        hinge = self.raw((4, 4, 8), lambda x, y, z: (z < 4) == (x < 2))
        process = self.ossatura("bone", *hinge, "--fix", "z-:xyz", "--force", "z+:z=-1",
                              code=NOT_CONVERGED)
        self.assertIn("edge or a corner", process.stderr)
        self.assertLess(process.stderr.count("\n"), 500)

    def test_slow_iterations_do_not_stall(self):
        run = self.summary("bone", "--generate", "perlin", "--size", "20", "--feature", "10",
                           "--fraction", "0.3", "--poisson", "0.4995", "--backend", "serial", "-q")
        self.assertGreater(run["iterations"], 100)
        self.assertEqual(self.codes(run), ["locking"])


class Units(Images):
    def test_moduli_that_may_be_in_gpa_ask_for_their_unit(self):
        self.write("soft.raw", struct.pack("<27f", *[15.0] * 27))
        image = ("soft.raw", "--shape", "3,3,3", "--type", "float32", "--spacing", "1", "--law",
                 "modulus", "--backend", "serial", "--lateral", "free", "--test", "axial")
        self.refused("--modulus-unit", *image)
        for unit, modulus in (("GPa", 15000), ("MPa", 15)):
            run = self.summary("bone", *image, "--modulus-unit", unit, "-q")
            self.close(run["results"]["response"]["apparent_modulus"], modulus)

    def test_parosol_files_in_gpa_ask_for_their_unit(self):
        hdf5_values.write(self.path("soft.h5"), "Image_Data",
                          {"Image": ((3, 3, 3), [15.0] * 27), "Voxelsize": ((), [0.5]),
                           "Poisons_ratio": ((), [NU])})
        image = ("soft.h5", "--backend", "serial", "--lateral", "free", "--test", "axial")
        self.refused("--modulus-unit GPa", *image)
        for arguments, modulus in ((("--modulus-unit", "GPa"), 15000),
                                   (("--modulus-unit", "MPa"), 15),
                                   (("--modulus-unit", "GPa", "--law", "modulus"), 15000)):
            run = self.summary("bone", *image, *arguments, "-q")
            self.close(run["results"]["response"]["apparent_modulus"], modulus)

    def test_values_without_bone_give_their_range(self):
        self.write("x.raw", struct.pack("<8h", -1024, 3, 5, 0, 1, 2, 777, -5))
        self.refused("-1024 to 777", "x.raw", "--shape", "2,2,2", "--type", "int16", "--spacing",
                     "1", "--law", "threshold", "--lower", "800")

    def test_a_voxel_that_turns_about_its_centre(self):
        self.fails(BAD_FILE, "no voxel is strained at its centre", "bone", "--generate", "cube", "--size", "1", "--test", "torsion")

    def test_numbers_beyond_the_arithmetic_are_refused(self):
        cube = ("bone", "--generate", "cube", "--backend", "serial", "--json", "s.json")
        for arguments in (("--modulus", "1e39"), ("--displacement", "1e100"), ("--poisson",
                          "-0.9999999999999999"), ("--poisson", "0.499999999999"),
                          ("--size", "1048577,1,1"), ("--size", "4194304"), ("--size", "1000000"),
                          ("--spacing", "1e-100"), ("--spacing", "1e10"),
                          ("--displacement", "1e-30")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], *cube, *arguments)
        header = ("NDims = 3\nDimSize = 2 2 2\nElementSpacing = {0} {0} {0}\nElementType = "
                  "MET_UCHAR\nElementDataFile = LOCAL\n")
        self.write("x.mha", header.format("1e-100").encode() + bytes([1] * 8))
        self.refused("edge of a voxel", "x.mha", "--law", "threshold", "--lower", "1")
        moduli = []
        for scale in ("1", "1e-25", "1e25"):
            run = self.summary("bone", "--generate", "cube", "--size", "4", "--backend", "serial",
                               "--modulus", scale, "-q")
            moduli.append(run["results"]["response"]["apparent_modulus"] / float(scale))
        self.close(moduli[1], moduli[0])
        self.close(moduli[2], moduli[0])

    def test_strains_of_another_theory_are_doubted(self):
        # Whatever loads: forces in the wrong unit, or turns.
        for more in (("--fix", "z-:xyz", "--force", "z+:z=-1e6"), ("--test", "torsion", "--angle", "45")):
            run = self.summary("bone", *CUBE, *more, "-q")
            self.assertEqual(self.codes(run), ["large-strain"])
            self.assertIn("the mean effective strain of the bone", run["warnings"][0]["text"])
        self.assertEqual(self.codes(self.summary("bone", *CUBE, "--fix", "z-:xyz", "--force", "z+:z=-100", "-q")), [])

    def test_loads_that_vanish_or_overflow_are_no_result(self):
        cube = ("--generate", "cube", "--size", "3", "--backend", "serial", "--fix")
        for load in (("z-:xyz,z+:z=1e-200",), ("z-:xyz,z+:z=1e-120",), ("z-:xyz,z+:z=1e25",),
                     ("z-:xyz", "--force", "z+:z=1e-300"), ("z-:xyz", "--force", "z+:z=1e30")):
            with self.subTest(load=load):
                self.refused("", *cube, *load)
                self.assertEqual(self.files(), [])

    def test_incompressible_bone_is_said_to_lock(self):
        cube = ("bone", "--generate", "cube", "--size", "3", "--backend", "serial", "-q")
        self.assertEqual(self.codes(self.summary(*cube, "--poisson", "0.495")), ["locking"])
        self.assertEqual(self.codes(self.summary(*cube, "--poisson", "0.49")), [])

    def test_fields_that_there_are_not(self):
        self.fails(USAGE, "displacement, modulus, strain", "bone", "--generate", "cube", "--fields",
                   "foo", "-o", "out")


if __name__ == "__main__":
    driver_case.main()
