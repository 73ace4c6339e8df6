# SPDX-License-Identifier: Apache-2.0
"""Numbers that users mistake: of another unit, in another order, without effect. Each is refused, or warned
of, and what is right is neither."""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support import driver_case
from support.driver_case import BAD_FILE, USAGE, DriverCase
from support.designs import stl_of_box
from support.specimens import nifti_bytes


class MistakesCase(DriverCase):
    def codes(self, *arguments):
        """Of the warnings of a run that ends well."""
        run = self.summary(*arguments, "-q", "--backend", "serial")
        return [warning["code"] for warning in run["warnings"]]

    def refused(self, code, message, *arguments):
        self.fails(code, message, *arguments, "-q", "--backend", "serial")


class Bone(MistakesCase):
    def setUp(self):
        super().setUp()
        self.write("cube.nii.gz", nifti_bytes((3, 4, 5), 0.5, "h", [1000] * 60))
        self.cube = ("bone", self.path("cube.nii.gz"), "--law", "labels", "--labels", "1000=17000")

    def test_lengths_in_another_unit(self):
        for spacing, codes in (("0.0821", []), ("82.1", ["odd-size"]), ("8.21e-5", ["odd-size"])):
            self.assertEqual(self.codes(*self.cube, "--spacing", spacing), codes)
        self.assertEqual(self.codes(*self.cube, "--resample", "82"), ["resampled-extent", "odd-size"])
        self.assertEqual(self.codes(*self.cube, "--spacing", "0.0005"), ["odd-size"]) # of clinical CT in m
        self.write("long.nii.gz", nifti_bytes((1, 1, 1100), 0.0005, "h", [1000] * 1100))
        self.assertEqual(self.codes("bone", self.path("long.nii.gz"), *self.cube[2:]), [])
        self.assertEqual(self.codes("bone", "--generate", "cube", "--size", "3", "--spacing", "82"), [])

    def test_voxels_of_no_size(self):
        head = "NDims = 3\nDimSize = 3 4 5\n{}ElementType = MET_SHORT\nElementDataFile = LOCAL\n"
        for line, codes in (("", ["no-spacing"]), ("ElementSpacing = 1 1 1\n", []), ("ElementSize = 0.5 0.5 0.5\n", [])):
            self.write("cube.mha", head.format(line).encode() + struct.pack("<60h", *[1000] * 60))
            self.assertEqual(self.codes("bone", self.path("cube.mha"), *self.cube[2:]), codes)
            self.assertEqual(self.codes("bone", self.path("cube.mha"), *self.cube[2:], "--spacing", "0.5"), [])

    def test_forces_where_the_specimen_is_held(self):
        """Of a traction on x+ a tenth acts on the edge that z- holds: that is how forces meet supports."""
        fixed = (*self.cube, "--fix", "z-:xyz", "--force", "x+:z=-1")
        self.assertEqual(self.codes(*fixed), [])
        self.assertEqual(self.codes(*fixed, "--force", "z+:z=-5"), [])
        for lost in ("z-:z=-1", "z-:xyz=3", "0/0/0:y=1"):
            self.refused(BAD_FILE, "does nothing", *fixed, "--force", lost)
        self.assertIn("lost-load", self.codes(*fixed, "--fix", "0/0/5:z", "--force", "0/0/5:xz=-1"))
        self.write("forces.txt", "0 0 0 z -1\n0 0 5 z -1\n")
        self.assertEqual(self.codes(*fixed, "--force-file", self.path("forces.txt")), ["lost-load"])

    def test_moduli_in_another_unit(self):
        image = self.cube[:2]
        for law, codes in ((("--law", "labels", "--labels", "1000=17"), ["odd-modulus"]),
                           (("--law", "labels", "--labels", "1000=17e9"), ["odd-modulus"]),
                           (("--law", "threshold", "--lower", "1", "--modulus", "17"), ["odd-modulus"]),
                           (("--law", "linear", "--slope", "17000"), ["odd-modulus"]),
                           (("--law", "linear", "--slope", "17"), []),
                           (("--law", "modulus", "--modulus-unit", "GPa"), []),
                           (("--law", "modulus", "--modulus-unit", "MPa"), [])):
            with self.subTest(law=law):
                self.assertEqual(self.codes(*image, *law), codes)

    def test_strains_in_per_cent_and_displacements_in_um(self):
        for load, codes in ((("--strain", "-0.01"), []), (("--strain", "-0.5"), ["large-strain"]),
                            (("--displacement", "-0.02"), []), (("--displacement", "-20"), ["large-strain"]),
                            (("--fix", "z-:xyz,z+:xyz=0,z+:z=-20"), ["large-strain"])):
            with self.subTest(load=load):
                self.assertEqual(self.codes(*self.cube, *load), codes)
        self.refused(USAGE, "no per cent", *self.cube, "--pistoia-strain", "0.7")
        self.refused(USAGE, "no per cent", *self.cube, "--strength", "von-mises", "--yield-strain", "0.81")

    def test_a_centre_in_the_world(self):
        for test, centre, codes in (("torsion", "0.7,1,400", []), ("torsion", "-120,85,400", ["odd-centre", "large-strain"]),
                                    ("bending", "0.7,1,400", ["odd-centre"]), ("bending", "0.7,1,1.2", [])):
            with self.subTest(test=test, centre=centre):
                self.assertEqual(self.codes(*self.cube, "--test", test, "--centre", centre), codes)

    def test_options_of_another_kind_of_input(self):
        self.write("box.stl", stl_of_box((2, 2, 2)))
        surface = ("bone", self.path("box.stl"), "--voxel", "0.5")
        self.assertEqual(self.codes(*surface, "--surface-unit", "0.5"), [])
        for more in (("--spacing", "2"), ("--law", "threshold", "--lower", "100"), ("--law", "linear", "--slope", "2")):
            self.refused(USAGE, f"{more[0]} has no effect without an image", *surface, *more)
        for more in (("--voxel", "0.5"), ("--surface-unit", "2")):
            self.refused(USAGE, f"{more[0]} has no effect without a surface", *self.cube, *more)
            self.refused(USAGE, f"{more[0]} has no effect without a surface", "bone", "--generate", "cube", *more)
        for base in (surface, self.cube):
            for more in (("--shape", "4,4,4"), ("--type", "uint8")):
                self.refused(USAGE, f"{more[0]} is for raw images", *base, *more)
        self.refused(USAGE, "--connectivity has no effect without --largest-component", *self.cube, "--connectivity", "node")
        self.assertEqual(self.codes(*self.cube, "--connectivity", "node", "--largest-component"), [])

    def test_walls_thinner_than_a_voxel(self):
        """The first of two voxels of 5 mm is full and the second empty, or both are."""
        for thickness, codes in ((5, []), (5.4, []), (2.6, ["coarse-voxels"]), (7, ["coarse-voxels"])):
            self.write("plate.stl", stl_of_box((20, 10, thickness)))
            self.assertEqual(self.codes("bone", self.path("plate.stl"), "--voxel", "5"), codes)

    def test_a_surface_in_another_unit(self):
        """Of a surface in mm that is read as in km there are more voxels than any memory has room for."""
        self.write("box.stl", stl_of_box((20, 10, 5)))
        box = ("bone", self.path("box.stl"), "--voxel", "5")
        self.assertEqual(self.codes(*box), [])
        self.refused(BAD_FILE, "box.stl: is 2e+07 x 1e+07 x 5e+06 mm, which takes 8e+18 cubes of 5 mm, more than memory has room "
                     "for: give the length of its unit in mm (--surface-unit; 1000 for m), now 1e+06, or", *box,
                     "--surface-unit", "1e6")
        self.refused(BAD_FILE, "box.stl: no voxel of 5 mm has its centre in the surface: take smaller ones (--voxel), or give "
                     "the length of its unit in mm (--surface-unit; 1000 for m), now 0.001", *box, "--surface-unit", "0.001")

    def test_a_stiffness_of_two_pieces(self):
        for gap, codes in ((2, ["bone-in-parts"]), (7, [])):
            self.write("cut.nii.gz", nifti_bytes((3, 3, 5), 0.5, "h", [
                0 if z == gap else 1000 for z in range(5) for _ in range(9)]))
            cut = ("bone", self.path("cut.nii.gz"), *self.cube[2:], "--test", "homogenise")
            self.assertEqual(self.codes(*cut), codes)

    def test_a_crumb_beside_the_specimen(self):
        """Sides of its box hold whatever reaches them: one voxel of 217 made the box 2.6 times as large and the bone as much softer."""
        def block(name, *crumbs):
            self.write(name, nifti_bytes((10, 10, 6), 0.5, "h", [
                1000 if (max(x, y) < 6 or (x, y, z) in crumbs) else 0 for z in range(6) for y in range(10) for x in range(10)]))
            return ("bone", self.path(name), "--law", "labels", "--labels", "0=0,1000=17000")

        def results(run):
            found = run["results"]
            if "homogenised" in found:
                return [value for row in found["homogenised"]["stiffness"] for value in row]
            return [found["response"][key] for key in ("area", "height", "apparent_modulus")]

        alone, crumb = block("alone.nii.gz"), block("crumb.nii.gz", (9, 9, 2))
        pieces = block("pieces.nii.gz", *[(9, 9, z) for z in range(4)])
        for test in ("confined",), ("symshear", "--strain", "0.01"), ("symshear", "--strain", "0.01", "--axis", "x"), ("homogenise",):
            with self.subTest(test=test):
                wanted = self.summary(*alone, "-q", "--test", *test)
                found = self.summary(*crumb, "-q", "--test", *test)
                self.assertEqual([warning["code"] for warning in found["warnings"]], ["islands-left-out"])
                self.assertEqual(found["problem"]["dropped_elements"], 1)
                for mine, other in zip(results(found), results(wanted)):
                    self.close(mine, other, 1e-6, 1)
                self.assertIn("bone-in-parts", self.codes(*pieces, "--test", *test))
                self.assertNotIn("bone-in-parts", self.codes(*pieces, "--test", *test, "--largest-component"))
                self.refused(BAD_FILE, "1 voxels (0.461 % of the bone) in 1 parts touch no support, or one that the largest part "
                             "does not reach, the first at x, y, z = 9, 9, 2: --islands drop", *crumb, "--test", *test,
                             "--islands", "error")

    def test_a_crumb_above_the_specimen(self):
        """Plates lay at it: the specimen was refused as in two parts, or was longer with plates that reach further."""
        def column(name, top):
            self.write(name, nifti_bytes((6, 6, 12), 0.5, "h", [
                1000 if (z < 8 or (x, y, z) == (2, 2, 10) and top) else 0 for z in range(12) for y in range(6) for x in range(6)]))
            return ("bone", self.path(name), "--law", "labels", "--labels", "0=0,1000=17000", "-q")

        for more in ((), ("--test", "torsion"), ("--surface", "visible", "--surface-depth", "inf"), ("--plate-depth", "1.5")):
            with self.subTest(more=more):
                wanted = self.summary(*column("column.nii.gz", False), *more)["results"]
                found = self.summary(*column("column-crumb.nii.gz", True), *more)
                self.assertIn("islands-left-out", [warning["code"] for warning in found["warnings"]])
                for name, value in wanted["response"].items():
                    self.close(found["results"]["response"][name], value, 1e-5)
        self.refused(BAD_FILE, "keep the largest part with --largest-component", *column("column-crumb.nii.gz", True)[:-1],
                     "--fix", "z-:xyz", "--fix", "z+:z=-0.1")

    def test_a_crumb_beyond_a_specimen_with_caps(self):
        """Caps were put on the crumb: it was refused as in two parts, or had caps that were thicker, and 12 % less force."""
        shape, ends = (6, 6, 16), ((2, 2, 1), (3, 1, 13))

        def column(name, *crumbs):
            def image(kind, value):
                return self.write(f"{name}-{kind}.nii.gz", nifti_bytes(shape, 0.5, "h", [
                    value if (4 <= z < 11 + (x < 3) or (x, y, z) in crumbs) else 0
                    for z in range(shape[2]) for y in range(shape[1]) for x in range(shape[0])]))
            image("ct", 1000)
            image("seg", 1)
            return ("bone", self.path(f"{name}-ct.nii.gz"), "--law", "labels", "--labels", "0=0,1000=17000", "-q",
                    "--mask", self.path(f"{name}-seg.nii.gz"))

        alone, crumbs = column("alone"), column("crumbs", *ends)
        for more in (("--cap", "1", "--surface-depth", "3"), ("--cap", "1:500:0.4", "--surface-depth", "inf"),
                     ("--cap", "1"), ("--cap", "upper=1", "--surface-depth", "upper=0.5"), ("--cap", "lower=1"),
                     ("--cap", "1", "--surface-depth", "1", "--test", "torsion")):
            with self.subTest(more=more):
                wanted, found = (self.summary(*of, "--backend", "serial", *more) for of in (alone, crumbs))
                self.assertIn("islands-left-out", [warning["code"] for warning in found["warnings"]])
                self.assertEqual(found["problem"]["dropped_elements"], 2)
                self.assertEqual(found["problem"]["caps"]["elements"], wanted["problem"]["caps"]["elements"])
                for name, value in wanted["results"]["response"].items():
                    if value is not None:
                        self.close(found["results"]["response"][name], value, 1e-5)
        # Pieces that are no crumbs are the specimen's, and are potted with it.
        pieces = column("pieces", *[(x, y, 1) for x in range(3) for y in range(2)])
        self.assertEqual(self.summary(*pieces, "--cap", "1", "--surface-depth", "3", "--dry-run")["warnings"], [])
        self.refused(BAD_FILE, "1 voxels (0.369 % of the bone) in 1 parts touch no support, or one that the largest part does not "
                     "reach, the first at x, y, z = 2, 2, 1: --islands drop", *column("low", ends[0]), "--cap", "1",
                     "--islands", "error")


class Options(MistakesCase):
    def test_of_two_values_none_is_dropped(self):
        for name, quote in (("list.ini", ""), ("one.ini", '"')):
            self.write(name, f"velocity = {quote}0.6,0.3{quote}\n")
        slab = ("eikonal", "--generate", "slab:h=2")
        for arguments in ((*slab, "--velocity", "0.6,0.3", "--velocity", "0.7"), (*slab, "--generate", "box:n=4"),
                          (*slab, "--config", self.path("list.ini")),
                          ("topopt", "mbb", "--cells", "6x2x2", "--cells", "8x2x2"),
                          ("topopt", "mbb", "--cells", "6x2x2", "--draw", "+z", "--draw", "-z"),
                          ("topopt", "mbb", "--cells", "6x2x2", "--penalty", "3", "--penalty", "1:3:2:+1"),
                          ("pfem", "cube", "--size", "1x1x1", "--size", "2x1x1")):
            with self.subTest(arguments=arguments):
                self.refused(USAGE, "more than once", *arguments, "--dry-run")
        latest = [self.summary(*slab, "--site", "vertices:0", *velocity, "-q", "--backend", "serial")["results"]
                  for velocity in (("--velocity", "0.6,0.3"), ("--config", self.path("one.ini")))]
        self.assertEqual(latest[0]["activation"], latest[1]["activation"])


class Eikonal(MistakesCase):
    def setUp(self):
        super().setUp()
        self.write_box("box")
        self.site = ("--site", "vertices:0")

    def write_box(self, name, fibre="1 0 0"):
        """A cell of 4 x 3 x 2 mm as six tetrahedra, in openCARP's um."""
        points = [(x, y, z) for z in (0, 2000) for y in (0, 3000) for x in (0, 4000)]
        tetra = [(0, a, b, 7) for a, b in ((1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1))]
        self.write(name + ".pts", "8\n" + "".join("%d %d %d\n" % p for p in points))
        self.write(name + ".elem", "6\n" + "".join("Tt %d %d %d %d 1\n" % t for t in tetra))
        if fibre:
            self.write(name + ".lon", "1\n" + f"{fibre}\n" * 6)
        return name

    def run_box(self, name, *arguments):
        return self.codes("eikonal", self.path(name), *self.site, *arguments)

    def test_a_mesh_in_another_unit(self):
        for unit, codes in ((None, []), ("1", ["odd-size"]), ("1e-6", ["odd-size"])):
            more = ("--unit", unit) if unit else ()
            self.assertEqual(self.run_box("box", "--velocity", "0.6,0.3", *more), codes)

    def test_velocities_in_another_order(self):
        self.write("each.dat", "0.6 0.3\n" * 5 + "0.3 0.6\n")
        self.write("tags.json", json.dumps({"1": {"vl": 0.6, "vt": 0.4, "vn": 0.2}}))
        for velocities, codes in ((("--velocity", "0.3,0.6"), ["odd-velocity"]),
                                  (("--velocities", "each.dat"), ["odd-velocity"]),
                                  (("--velocity", "0.6,0.3"), []), (("--velocity", "0.6"), [])):
            with self.subTest(velocities=velocities):
                self.assertEqual(self.run_box("box", *velocities), codes)

    def test_velocities_by_direction_without_directions(self):
        self.write_box("bare", None)
        self.write_box("zero", "0 0 0")
        self.write_box("along", "1 0 0")
        self.write("along.lon", "2\n" + "1 0 0 1 0 0\n" * 6) # sheets that are the fibres
        self.write_box("near", "1 0 0")
        self.write("near.lon", "2\n" + "1 0 0 1 1e-4 0\n" * 6) # and some that nearly are
        for mesh, velocity, codes in (("bare", "0.6,0.3", ["missing-directions"]),
                                      ("along", "0.6,0.4,0.2", ["missing-directions"]), ("near", "0.6,0.4,0.2", []),
                                      ("zero", "0.6,0.3", ["missing-directions"]),
                                      ("box", "0.6,0.4,0.2", ["missing-directions"]), # it has no sheets
                                      ("bare", "0.6", []), ("box", "0.6,0.3", [])):
            with self.subTest(mesh=mesh, velocity=velocity):
                self.assertEqual(self.run_box(mesh, "--velocity", velocity), codes)
        # Some tetrahedra without a fibre are openCARP's way to say that they are isotropic.
        self.write("box.lon", "1\n" + "0 0 0\n" * 5 + "1 0 0\n")
        self.assertEqual(self.run_box("box", "--velocity", "0.6,0.3"), [])

    def test_a_tag_of_which_some_have_no_fibre(self):
        """Waves go there as fast across as along. Of a tag whose velocities are for all tags it may be meant, of many."""
        self.write_box("box")
        self.write("box.lon", "1\n" + "1 0 0\n" * 4 + "0 0 0\n" + "1 0 0\n")
        self.write("tags.json", json.dumps({"1": {"vl": 0.6, "vt": 0.3}}))
        run = self.summary("eikonal", self.path("box"), *self.site, "--velocities", "tags.json", "-q", "--backend", "serial")
        self.assertEqual([w["code"] for w in run["warnings"]], ["missing-directions"])
        self.assertIn("1 of the 6 tetrahedra of tag 1, the first 4, have no fibre, though their velocities differ by direction",
                      run["warnings"][0]["text"])
        for velocities in ({"default": {"vl": 0.6, "vt": 0.3}}, {"1": {"vl": 0.6}}):
            self.write("tags.json", json.dumps(velocities))
            self.assertEqual(self.run_box("box", "--velocities", "tags.json"), [])
        self.write("each.dat", "0.6 0.3\n" * 4 + "0.6 0.6\n" + "0.6 0.3\n")  # isotropic where there is no fibre
        self.assertEqual(self.run_box("box", "--velocities", "each.dat"), [])
        # One of twelve is no isotropic tissue, whatever else the velocities are of.
        n = 12
        self.write("row.pts", f"{n + 3}\n" + "".join(f"{1000 * k} {3000 * (k % 3 == 1)} {3000 * (k % 3 == 2)}\n" for k in range(n + 3)))
        self.write("row.elem", f"{n}\n" + "".join(f"Tt {k} {k + 1} {k + 2} {k + 3} 5\n" for k in range(n)))
        for bare, codes in ((1, ["missing-directions"]), (2, []), (0, [])):
            self.write("row.lon", "1\n" + "1 0 0\n" * (n - bare) + "0 0 0\n" * bare)
            self.assertEqual(self.run_box("row", "--velocity", "0.6,0.3"), codes)
        for bare, codes in ((1, ["missing-directions"]), (0, [])):  # sheets
            self.write("row.lon", "2\n" + "1 0 0 0 1 0\n" * (n - bare) + "1 0 0 0 0 0\n" * bare)
            self.assertEqual(self.run_box("row", "--velocity", "0.6,0.4,0.2"), codes)
            self.assertEqual(self.run_box("row", "--velocity", "0.6,0.4"), [])

    def test_a_site_in_um(self):
        """As openCARP's points are: it holds the whole mesh, and all times are 0."""
        self.write_box("box")
        for site, codes in (("sphere:0,0,0,1500", ["large-site"]), ("box:0,0,0,2000,3000,1000", ["large-site"]),
                            ("sphere:0,0,0,1.5", []), ("box:0,0,0,0,3,2", []), ("vertices:0,1,2,3,4,5,6,7", [])):
            with self.subTest(site=site):
                self.assertEqual(self.codes("eikonal", self.path("box"), "--velocity", "0.6", "--site", site), codes)

    def test_a_tag_without_fibres_that_has_velocities_by_direction(self):
        self.write_box("box", "1 0 0")
        self.write("box.lon", "1\n" + "0 0 0\n" * 3 + "1 0 0\n" * 3)
        elem = self.read("box.elem").splitlines()
        self.write("box.elem", "\n".join(elem[:1] + [" ".join(line.split()[:5] + [str(1 + (k > 2))]) for k, line in enumerate(elem[1:])]) + "\n")
        across = {"vl": 0.6, "vt": 0.3}
        for tissues, codes in (({"1": across, "2": across}, ["missing-directions"]), ({"1": {"vl": 0.6}, "2": across}, []),
                               ({"default": across}, []), ({"1": {"vl": 0}, "2": across}, [])):
            with self.subTest(tissues=tissues):
                self.write("tags.json", json.dumps(tissues))
                self.assertEqual(self.run_box("box", "--velocities", "tags.json"), codes)


def soft(name, size, at, **more):
    return {"name": name, "mesh": {"hexa_box": {"cells": [2, 2, 2], "size": [size] * 3}}, "translate": [at] * 3,
            "material": {"young": 1e5, "poisson": 0.3}, "density": 1000, **more}


class Softbody(MistakesCase):
    def scene(self, *objects, **more):
        return "softbody", self.write("s.json", json.dumps({"time_step": 0.01, "steps": 1, "objects": objects, **more}))

    def test_a_mesh_in_mm(self):
        self.assertEqual(self.codes(*self.scene(soft("a", 200, 0))), ["odd-size"])
        self.assertEqual(self.codes(*self.scene(soft("a", 200, 0, scale=0.001))), [])
        organ = {"material": {"young": 2e4, "poisson": 0.3}}
        self.assertEqual(self.codes(*self.scene(soft("a", 60, 0, **organ))), ["odd-size"])
        self.assertEqual(self.codes(*self.scene(soft("a", 60, 0, scale=0.001, **organ))), [])
        self.assertEqual(self.codes(*self.scene(soft("a", 60, 0, material={"young": 1e7, "poisson": 0.3}))), [])

    def test_bodies_within_another(self):
        contact = {"contact": {"between_objects": True}}
        for objects, codes in (((soft("a", 1, 0), soft("b", 1, 0)), ["surfaces-intersect"]),
                               ((soft("a", 1, 0), soft("b", 0.3, 0.35)), ["surfaces-intersect"]),
                               ((soft("b", 0.3, 0.35), soft("a", 1, 0)), ["surfaces-intersect"]),
                               ((soft("a", 1, 0), soft("b", 1, 1.01)), [])):
            with self.subTest(objects=[o["name"] for o in objects], codes=codes):
                self.assertEqual(self.codes(*self.scene(*objects, **contact)), codes)
        self.assertEqual(self.codes(*self.scene(soft("a", 1, 0), soft("b", 1, 0))), []) # they do not feel each other

    def test_a_load_on_nodes_that_are_held(self):
        fixed = {"fixed": [{"box": [0, 0, 0, 0, 1, 1]}]}
        for x, refused in ((0, True), (1, False)):
            loaded = self.scene(soft("a", 1, 0, **fixed, loads=[{"box": [x, 0, 0, x, 1, 1], "total_force": [0, 0, 1]}]))
            if refused:
                self.refused(BAD_FILE, "objects[0].loads[0]: all loaded nodes are fixed", *loaded)
            else:
                self.assertEqual(self.codes(*loaded), [])
        for kind in ("force", "total_force"):
            whole = self.scene(soft("a", 1, 0, **fixed, loads=[{"box": [0, 0, 0, 1, 1, 1], kind: [0, 0, 1]}]))
            self.assertEqual(self.codes(*whole), ["lost-load"])

    def test_a_velocity_of_what_does_not_move(self):
        for corner, speed, refused in ((1, 2, True), (0.5, 2, False), (1, 0, False)):
            thrown = self.scene(soft("a", 1, 0, fixed=[{"box": [0, 0, 0, corner, 1, 1]}], velocity=[speed, 0, 0]), soft("b", 1, 2))
            if refused:
                self.refused(BAD_FILE, "objects[0].velocity: all nodes of \"a\" are fixed", *thrown)
            else:
                self.assertEqual(self.codes(*thrown), ["held-whole"] if corner == 1 else [])

    def test_a_node_that_is_there_twice(self):
        for nodes, message in (([0, 1, 2], ""), ([1, 1], "s.json: objects[0].fixed[0].nodes[1]: 1 is there twice"),
                               ([3, 0, 4, 3], "objects[0].fixed[0].nodes[3]: 3 is there twice")):
            scene = self.scene(soft("a", 1, 0, fixed=[{"nodes": nodes}]))
            if message:
                self.refused(BAD_FILE, message, *scene)
            else:
                self.assertEqual(self.codes(*scene), [])

    def test_contact_of_nothing(self):
        one, two = [soft("a", 1, 0)], [soft("a", 1, 0), soft("b", 1, 1.01)]
        floor = {"obstacles": [{"plane": {"point": [0, 0, -1], "normal": [0, 0, 1]}}]}
        for objects, more, contact, message in (
                (two, {}, {"friction": 0.3}, "contact.friction: has no effect"),
                (two, floor, {"friction": 0.3}, "contact.friction: has no effect"),
                (two, {}, {"between_objects": False, "distance": 0.02}, "contact.distance: has no effect"),
                (one, floor, {"between_objects": True}, "contact.between_objects: has no effect on one object")):
            with self.subTest(contact=contact):
                self.refused(BAD_FILE, message, *self.scene(*objects, **more, contact=contact))
        for contact in ({"between_objects": True, "friction": 0.3, "distance": 0.02}, {"between_objects": False}, {}):
            self.assertEqual(self.codes(*self.scene(*two, contact=contact)), [])
        self.assertEqual(self.codes(*self.scene(*one, **floor, contact={"distance": 0.02})), [])


def deck(length, young):
    """A bar of two cells, held at one end and pulled at the other."""
    points = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1, 2)]
    text = "*NODE\n" + "".join(f"{n + 1}, {x * length}, {y * length}, {z * length}\n"
                               for n, (x, y, z) in enumerate(points))
    return text + ("*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, 1, 2, 5, 4, 7, 8, 11, 10\n2, 2, 3, 6, 5, 8, 9, 12, 11\n"
                   "*NSET, NSET=LEFT\n1, 4, 7, 10\n*NSET, NSET=RIGHT\n3, 6, 9, 12\n"
                   "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n"
                   f"{young}, 0.3\n*BOUNDARY\nLEFT, 1, 3\n*STEP\n*STATIC\n*CLOAD\nRIGHT, 1, 10.\n*END STEP\n")


class Decks(MistakesCase):
    def test_units_that_do_not_fit(self):
        self.write("mm.inp", deck(50.0, 210000.0))
        self.write("m.inp", deck(0.05, 2.1e11))
        for program in (("pfem", "--order", "1"), ("topopt", "--steps", "1", "--filter", "none")):
            for name, unit, codes in (("mm.inp", (), ["odd-modulus"]), ("mm.inp", ("--unit", "0.001"), []),
                                      ("m.inp", (), []), ("m.inp", ("--unit", "0.001"), ["odd-modulus"])):
                with self.subTest(program=program[0], name=name, unit=unit):
                    found = self.codes(program[0], self.path(name), *program[1:], *unit)
                    self.assertEqual([code for code in found if code == "odd-modulus"], codes)


class Problems(MistakesCase):
    """Problems in JSON say no unit: what is odd is the displacement."""

    def filled(self, thickness, unit=1, young=2.1e11):
        """A plate of 80 x 40 mm by `unit` of 1 mm, pulled along."""
        self.write("plate.stl", stl_of_box((80 * unit, 40 * unit, thickness * unit)))
        return "topopt", self.write("p.json", json.dumps({
            "mesh": {"file": self.path("plate.stl"), "unit": 0.001 / unit, "voxel": 0.005},
            "material": {"young": young, "poisson": 0}, "supports": [{"box": [0, 0, 0, 0, 0.04, 0.02]}],
            "cases": [{"name": "p", "loads": [{"box": [0.08, 0, 0, 0.08, 0.04, 0.02], "traction": [1e6, 0, 0]}]}],
            "volume_fraction": 0.5, "filter": {"kind": "none"}, "steps": 1})), "--no-stl"

    def test_moduli_in_mpa(self):
        bar = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [4, 1, 1]}, "order": 1,
               "supports": [{"plane": "x=0"}], "loads": [{"plane": "x=4", "traction": [1e6, 0, 0]}]}
        for young, codes in ((210e9, []), (210e3, ["large-displacement"]), (210, ["large-displacement"])):  # Pa, MPa, GPa
            with self.subTest(young=young):
                problem = self.write("bar.json", json.dumps({**bar, "material": {"young": young, "poisson": 0.3}}))
                self.assertEqual(self.codes("pfem", problem), codes)
                found = self.codes(*self.filled(20, young=young))
                self.assertEqual([code for code in found if code == "large-displacement"], codes)

    def test_a_mesh_in_mm_whose_unit_is_forgotten(self):
        """Displacements are 1000 times as large, forces of tractions a million times, and stresses as they are."""
        points = [(x, y, z) for z in (0, 40) for y in (0, 40) for x in (0, 60, 120)]
        elements = [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]]
        self.write("bar.vtk", "# vtk DataFile Version 3.0\nbar\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 12 double\n" +
                   "".join(f"{x} {y} {z}\n" for x, y, z in points) + "CELLS 2 18\n" +
                   "".join("8 " + " ".join(map(str, nodes)) + "\n" for nodes in elements) + "CELL_TYPES 2\n12\n12\n")
        left, right = [0, 3, 6, 9], [2, 5, 8, 11]
        pfem = {"mesh": {"file": "bar.vtk"}, "order": 2, "supports": [{"vertices": left}], "loads": [{"vertices": right, "traction": [1e6, 0, 0]}]}
        topopt = {"mesh": {"file": "bar.vtk"}, "supports": [{"nodes": left}], "volume_fraction": 0.5, "filter": {"kind": "none"}, "steps": 1,
                  "cases": [{"name": "pull", "loads": [{"nodes": right, "traction": [1e6, 0, 0]}]}]}
        for young, options, odd in ((210e9, (), True), (210e9, ("--unit", "0.001"), False), (210e9, ("--unit", "1"), False), (1e3, (), False)):
            for system, document, more in (("pfem", pfem, ()), ("topopt", topopt, ("--no-stl",))):
                problem = self.write("bar.json", json.dumps({**document, "material": {"young": young, "poisson": 0.3}}))
                with self.subTest(system=system, young=young, options=options):
                    self.assertEqual("odd-size" in self.codes(system, problem, *options, *more), odd)

    def test_gravity_on_moduli_in_mpa(self):
        shelf = {"mesh": {"box": {"cells": [4, 2, 2], "size": [4, 2, 2]}}, "supports": [{"box": [0, 0, 0, 0, 2, 2]}],
                 "cases": [{"name": "own", "gravity": [0, 0, -9.81]}], "volume_fraction": 0.5,
                 "filter": {"kind": "none"}, "steps": 1}
        for young, odd in ((210e9, False), (210e3, True)):
            problem = {**shelf, "material": {"young": young, "poisson": 0.3, "mass_density": 7850}}
            found = self.codes("topopt", self.write("s.json", json.dumps(problem)), "--no-stl")
            self.assertEqual("large-displacement" in found, odd)

    def test_walls_thinner_than_a_voxel(self):
        for thickness, odd in ((5, False), (2.6, True), (7, True)):
            self.assertEqual("coarse-voxels" in self.codes(*self.filled(thickness)), odd)

    def test_a_surface_whose_unit_is_forgotten(self):
        self.write("plate.stl", stl_of_box((80, 40, 20)))
        self.refused(BAD_FILE, "plate.stl: is 80 x 40 x 20 m, which takes 5.12e+11 cubes of 0.005 m, more than memory",
                     "topopt", self.path("plate.stl"), "--voxel", "0.005", "--young", "1e9")


class Loads(MistakesCase):
    def test_a_load_on_nodes_that_are_held(self):
        problem = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]}, "order": 2,
                   "material": {"young": 8, "poisson": 0.25}, "supports": [{"plane": "x=0"}],
                   "loads": [{"plane": "x=2", "traction": [4, 0, 0]}]}
        self.assertEqual(self.codes("pfem", self.write("p.json", json.dumps(problem))), [])
        problem["loads"].append({"plane": "x=0", "traction": [4, 0, 0]})
        self.assertEqual(self.codes("pfem", self.write("p.json", json.dumps(problem))), ["lost-load"])
        del problem["loads"][0]
        self.refused(BAD_FILE, "no load acts where the body is free", "pfem",
                     self.write("p.json", json.dumps(problem)))

    def test_a_load_of_which_a_part_is_held(self):
        """As topopt warns of it; tractions beside a support, which the edge takes in part, are as they should be."""
        problem = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]}, "order": 1,
                   "material": {"young": 8, "poisson": 0.25}, "supports": [{"plane": "x=0"}]}

        def codes(load, supports=problem["supports"]):
            text = json.dumps({**problem, "supports": supports, "loads": [load]})
            run = self.summary("pfem", self.write("p.json", text), "-q", "--backend", "serial")
            return {warning["code"]: warning["text"] for warning in run["warnings"]}

        everywhere = {"box": [0, 0, 0, 2, 1, 1]}
        for load, said in (({**everywhere, "force": [0, 2, 1]}, "loads[0]: 8 of 24 components"),
                           ({**everywhere, "traction": [0, 0, 1]}, "1 of 10 components"),
                           ({**everywhere, "pressure": 3}, "1 of 10 components")):
            with self.subTest(load=load):
                found = codes(load)
                self.assertEqual(list(found), ["lost-load"])
                self.assertIn(said, found["lost-load"])
                self.assertIn("(vertex 0 is the first)", found["lost-load"])
        for load in ({"plane": "z=1", "traction": [1, 2, 3]}, {"plane": "z=1", "pressure": 3}, {"body_force": [0, 0, 1]},
                     {"plane": "x=2", "force": [0, 0, 1]}):
            self.assertEqual(codes(load), {})
        # Rollers hold what presses on them, and no shear.
        rollers = [{"plane": "x=0"}, {"plane": "z=0", "components": "z"}]
        self.assertEqual(list(codes({**everywhere, "pressure": 3}, rollers)), ["lost-load"])
        self.assertEqual(codes({"plane": "z=0", "traction": [1, 0, 0]}, rollers), {})
        deck = ("*NODE\n" + "".join(f"{1 + i + 3 * (j + 2 * k)}, {i}, {j}, {k}\n" for k in (0, 1) for j in (0, 1) for i in (0, 1, 2)) +
                "*ELEMENT, TYPE=C3D8, ELSET=B\n1, 1, 2, 5, 4, 7, 8, 11, 10\n2, 2, 3, 6, 5, 8, 9, 12, 11\n"
                "*NSET, NSET=END\n3, 6, 9, 12\n*MATERIAL, NAME=M\n*ELASTIC\n8e9, 0.25\n*BOUNDARY\n1, 1, 3\n4, 1, 3\n7, 1, 3\n10, 1, 3\n"
                "*STEP\n*STATIC\n*CLOAD\nEND, 3, 1.\n{}*END STEP\n")
        for line, expected in (("", []), ("1, 3, 1.\n", ["lost-load"])):
            self.assertEqual(self.codes("pfem", self.write("p.inp", deck.replace("{}", line)), "-p", "1"), expected)
            self.assertEqual(self.codes("topopt", self.path("p.inp"), "--volume", "0.5", "--filter", "none", "--steps", "1",
                                        "--no-stl"), expected)

    def test_a_body_force_that_is_an_acceleration(self):
        """Steel of 9.81 N/m3 weighs as much as air."""
        for force, young, codes in ((-9.81, 2.1e11, ["odd-gravity"]), (-77000, 2.1e11, []), (-9.81, 8, []), (-1, 2.1e11, [])):
            problem = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]}, "order": 1, "supports": [{"plane": "z=0"}],
                       "material": {"young": young, "poisson": 0.25}, "loads": [{"body_force": [0, 0, force]}]}
            found = self.codes("pfem", self.write("p.json", json.dumps(problem)))
            self.assertEqual([code for code in found if code != "large-displacement"], codes)

    def test_numbers_that_are_there_twice(self):
        loads = [{"nodes": [2, 5, 2], "force": [0, 0, 1]}]
        box = {"mesh": {"box": {"cells": [2, 1, 1], "size": [2, 1, 1]}}, "material": {"young": 8, "poisson": 0.25},
               "supports": [{"box": [0, 0, 0, 0, 1, 1]}], "cases": [{"name": "p", "loads": loads}], "volume_fraction": 0.5}
        self.refused(BAD_FILE, "p.json: cases[0].loads[0].nodes[2]: 2 is there twice", "topopt",
                     self.write("p.json", json.dumps(box)))
        for key, numbers, place in (("elements", [0, 0], "[1]"), ("label", [3, 4, 3], "[2]"), ("faces", [1, 1], "[1]")):
            loads[0]["nodes"] = [2, 5]
            box["passive"] = [{key: numbers, "role": "solid"}]
            self.refused(BAD_FILE, f"p.json: passive[0].{key}{place}: {numbers[0]} is there twice", "topopt",
                         self.write("p.json", json.dumps(box)))
        bar = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]}, "order": 2,
               "material": {"young": 8, "poisson": 0.25}, "supports": [{"vertices": [0, 3, 6, 9, 3]}],
               "loads": [{"plane": "x=2", "traction": [4, 0, 0]}]}
        self.refused(BAD_FILE, "p.json: supports[0].vertices[4]: 3 is there twice", "pfem",
                     self.write("p.json", json.dumps(bar)))
        self.refused(USAGE, "the vertex 4 is there twice", "eikonal", "--generate", "box:n=2", "--velocity", "0.6",
                     "--site", "vertices:4,2,4")

    def test_a_filter_across_the_whole_body(self):
        design = ("topopt", "cantilever", "--cells", "8x4x4", "--steps", "1", "--radius")
        self.refused(USAGE, "reaches across the whole body, which is 8 m long", *design, "8")
        self.summary(*design, "1.5", "-q", "--backend", "serial")


class Configuration(MistakesCase):
    def test_a_name_that_is_there_twice(self):
        cube = ("bone", "--generate", "cube", "--size", "2", "--config", "c.toml")
        for lines in (('fix = "z-:xyz"', 'force = "z+:z=-1"', 'fix = "z+:xy"'),
                      ("tolerance = 1e-3", "levels = 3", "tolerance = 1e-9")):
            self.write("c.toml", "\n".join(lines) + "\n")
            self.refused(USAGE, "is there twice", *cube)
        self.write("c.toml", 'fix = ["z-:xyz", "z+:xy"]\nforce = "z+:z=-1"\n')
        self.assertEqual(self.codes(*cube), [])


if __name__ == "__main__":
    driver_case.main()
