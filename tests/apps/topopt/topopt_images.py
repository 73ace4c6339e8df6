# SPDX-License-Identifier: Apache-2.0
"""`ossatura topopt` with an image as the body, and places by its labels."""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from support import driver_case
from support.driver_case import BAD_FILE, USAGE
from support.designs import TopoptCase, box, problem
from support.specimens import nifti_bytes

SHAPE = (6, 3, 3)
M = 1000  # mm, the edge of voxels of 1 m


def metaimage(values, shape=SHAPE, edge=M, corner=(0, 0, 0), direction=None, kind="h"):
    """Its header names the centre of the first voxel."""
    edges = edge if isinstance(edge, tuple) else (edge,) * 3
    axes = direction or (1, 0, 0, 0, 1, 0, 0, 0, 1)
    centre = [c + 0.5 * sum(edges[d] * axes[3 * d + i] for d in range(3)) for i, c in enumerate(corner)]
    lines = ["ObjectType = Image", "NDims = 3", "BinaryData = True", "BinaryDataByteOrderMSB = False",
             "TransformMatrix = " + " ".join(map(str, axes)), "Offset = " + " ".join(map(str, centre)),
             "ElementSpacing = " + " ".join(map(str, edges)), "DimSize = " + " ".join(map(str, shape)),
             "ElementType = " + {"h": "MET_SHORT", "f": "MET_FLOAT"}[kind], "ElementDataFile = LOCAL", ""]
    return "\n".join(lines).encode() + struct.pack(f"<{len(values)}{kind}", *values)


def voxels(value, shape=SHAPE):
    """The values of an image in the order of a file."""
    return [value(x, y, z) for z in range(shape[2]) for y in range(shape[1]) for x in range(shape[0])]


def label(x, y, z):
    """2: the end that is held; 3: an edge that is loaded; 1: between them."""
    return 2 if x == 0 else 3 if x == 5 and z == 0 else 1


def node(x, y, z):
    return x + 7 * (y + 4 * z)


# Corners of faces on the boundary, by hand: of 2 all at x = 0, and the rim of x = 1.
HELD = [node(x, y, z) for x in (0, 1) for y in range(4) for z in range(4)
        if x == 0 or y in (0, 3) or z in (0, 3)]
# Of 3: below, on the side x = 6, and the two ends at y = 0 and 3.
LOADED = [node(x, y, z) for x in (5, 6) for y in range(4) for z in (0, 1)
          if z == 0 or x == 6 or y in (0, 3)]
SOLID = [6 * (y + 3 * z) for y in range(3) for z in range(3)]


class Images(TopoptCase):
    def labelled(self, mesh="part.mha", **more):
        mesh = mesh if isinstance(mesh, dict) else {"file": mesh, "lower": 1}
        return problem(**{"mesh": mesh, "supports": [{"label": 2}],
                          "cases": [{"name": "tip", "loads": [{"label": 3, "total_force": [0, 0, -1]}]}],
                          "passive": [{"label": 2, "role": "solid"}], "volume_fraction": 0.5, **more})

    def numbered(self, **more):
        return problem(**{"supports": [{"nodes": HELD}],
                          "cases": [{"name": "tip", "loads": [{"nodes": LOADED, "total_force": [0, 0, -1]}]}],
                          "passive": [{"elements": SOLID, "role": "solid"}], "volume_fraction": 0.5, **more})

    def setUp(self):
        super().setUp()
        self.write("part.mha", metaimage(voxels(label)))

    def same(self, run, other):
        for part in ("nodes", "elements", "held_dofs", "solid_elements"):
            self.assertEqual(run["problem"][part], other["problem"][part])
        self.assertEqual(run["results"]["objective"], other["results"]["objective"])
        self.assertEqual(run["results"]["steps"]["objective"], other["results"]["steps"]["objective"])

    def test_a_box_and_its_labels(self):
        self.addCleanup(setattr, self, "backend", self.backend)
        for self.backend in (name for name in driver_case.backends() if name in ("openmp", "serial")):
            for grid in ("voxels", "mesh"):
                with self.subTest(backend=self.backend, grid=grid):
                    boxes = self.solve(self.numbered(), "--grid", grid)
                    run = self.solve(self.labelled(), *(("--grid", "mesh") if grid == "mesh" else ()))
                    self.assertEqual(run["engine"]["backend"], self.backend)
                    self.assertEqual(run["engine"]["grid"], grid)
                    self.assertEqual(run["problem"]["solid_elements"], 9)
                    self.same(run, boxes)
        self.assertIn("part.mha", [i["path"].split("/")[-1] for i in run["provenance"]["inputs"]])
        # Two labels; a box; tractions on the side x = 0 of the box as on its voxels' faces.
        both = self.solve(self.labelled(passive=[{"label": [3, 2], "role": "solid"}]))
        self.assertEqual(both["problem"]["solid_elements"], 12)
        plane = {"supports": [{"box": [6, 0, 0, 6, 3, 3]}], "passive": None,
                 "cases": [{"name": "tip", "loads": [{"box": [0, 0, 0, 0, 3, 3], "traction": [0, 0, -1]}]}]}
        self.same(self.solve(self.labelled(**plane)), self.solve(self.numbered(**plane), "--grid", "voxels"))

    def test_values_below_are_void(self):
        """A hole, by grey values; lower itself is the body."""
        def grey(x, y, z):
            return 99.5 if x in (2, 3) and y == 1 else 100 + x
        self.write("grey.mha", metaimage(voxels(grey), kind="f"))
        places = {"supports": [{"box": [0, 0, 0, 0, 3, 3]}], "passive": None,
                  "cases": [{"name": "tip", "loads": [{"box": [6, 0, 0, 6, 3, 0], "total_force": [0, 0, -1]}]}]}
        run = self.solve(self.labelled(mesh={"file": "grey.mha", "lower": 100}, **places))
        self.assertEqual(run["problem"]["elements"], 54 - 6)
        void = self.solve(self.labelled(mesh={"file": "grey.mha", "lower": 99.5}, **places))
        self.same(void, self.solve(self.numbered(**places), "--grid", "voxels"))
        option = self.solve(self.labelled(mesh={"file": "grey.mha"}, **places), "--lower", "100")
        self.same(option, run)
        # Voxels around the body belong to no lattice.
        self.write("wide.mha", metaimage(voxels(lambda x, y, z: grey(x - 2, y - 1, z - 1) if 2 <= x < 8 and
                                                1 <= y < 4 and 1 <= z < 4 else 0, (9, 5, 5)), (9, 5, 5), kind="f",
                                         corner=(-2 * M, -M, -M)))
        self.same(self.solve(self.labelled(mesh={"file": "wide.mha", "lower": 100}, **places)), run)

    def test_places_are_those_of_the_image(self):
        places = {"supports": [{"box": [-8, 4, 2, -8, 7, 5]}], "passive": None,
                  "cases": [{"name": "tip", "loads": [{"box": [-2, 4, 2, -2, 7, 2], "total_force": [0, 0, -1]}]}]}
        origin = {"supports": [{"box": [0, 0, 0, 0, 3, 3]}], "passive": None,
                  "cases": [{"name": "tip", "loads": [{"box": [6, 0, 0, 6, 3, 0], "total_force": [0, 0, -1]}]}]}
        plain = self.solve(self.labelled(**origin))
        self.write("far.mha", metaimage(voxels(label), corner=(-8 * M, 4 * M, 2 * M)))
        far = self.solve(self.labelled("far.mha", **places), "--stl", "far.stl")
        self.same(far, plain)
        lows = [min(x[d] for t in self.triangles("far.stl") for x in t) for d in range(3)]
        for low, corner in zip(lows, (-8 * M, 4 * M, 2 * M)):
            self.close(low, corner, 1e-6)
        # NIfTI: the same numbers, and the same places along axes that are turned by 180 degrees in its world.
        for name, sign in (("same.nii.gz", 1), ("turned.nii.gz", -1)):
            rows = [(sign * M, 0, 0, sign * -7.5 * M), (0, sign * M, 0, sign * 4.5 * M), (0, 0, M, 2.5 * M)]
            self.write(name, nifti_bytes(SHAPE, M, "h", voxels(label), rows))
            with self.subTest(name=name):
                self.same(self.solve(self.labelled(name, **places)), far)
        # Mirrored: x is turned round, from the other end of the image, and the body is where it was.
        self.write("left.nii.gz", nifti_bytes(SHAPE, M, "h", voxels(lambda x, y, z: label(5 - x, y, z)),
                                              [(-M, 0, 0, -2.5 * M), (0, M, 0, 4.5 * M), (0, 0, M, 2.5 * M)]))
        self.same(self.solve(self.labelled("left.nii.gz", **places)), far)

    def test_a_resumed_run_equals_the_one_without_a_stop(self):
        whole = self.solve(self.labelled(steps=5))
        self.solve(self.labelled(steps=3), "--checkpoint", "c.h5")
        resumed = self.solve(self.labelled(steps=5), "--resume", "c.h5")
        self.assertEqual(resumed["results"]["objective"], whole["results"]["objective"])
        self.write("other.mha", metaimage(voxels(lambda x, y, z: 0 if (x, y, z) == (3, 1, 1) else label(x, y, z))))
        self.write("p.json", json.dumps(self.labelled("other.mha", steps=5)))
        self.fails(BAD_FILE, "c.h5", "topopt", "p.json", "--resume", "c.h5", "-q")

    def refused(self, message, *arguments, code=BAD_FILE, **more):
        with self.subTest(message=message):
            self.write("p.json", json.dumps(self.labelled(**more)))
            self.fails(code, message, "topopt", "p.json", *arguments, "-q")

    def test_mistakes(self):
        self.refused("supports[0]: no voxel of the body has the label 7: ", supports=[{"label": 7}])
        self.refused("part.mha has 1, 2, 3, and voxels below 1 (\"lower\", --lower) are void",
                     passive=[{"label": [2, 4], "role": "solid"}])
        self.refused("supports[0].label", supports=[{"label": []}])
        self.refused("supports[0].label: -1", supports=[{"label": -1}])
        self.refused("supports[0].label", supports=[{"label": "seat"}])
        self.refused("\"label\" is of an image (.mha, .nii.gz, .nrrd), and the mesh is another", mesh=box())
        self.refused("part.mha: no voxel has a value of 4 or more (\"lower\", --lower): the largest one is 3",
                     mesh={"file": "part.mha", "lower": 4})
        self.refused("mesh.voxel: \"voxel\" is of surfaces (.stl, .off, .step): leave it out; the voxels of an image",
                     mesh={"file": "part.mha", "lower": 1, "voxel": 1})
        self.refused("mesh.unit: has no effect on an image", mesh={"file": "part.mha", "lower": 1, "unit": 1})
        self.refused("mesh.lower: \"lower\" is of images", mesh={"file": "deck.inp", "lower": 1})
        self.refused("\"lower\" has no effect with \"box\"", mesh={**box(), "lower": 1})
        self.refused("an image needs --lower V", code=USAGE, mesh={"file": "part.mha"})
        self.refused("nothere.mha", mesh={"file": "nothere.mha", "lower": 1})
        self.refused("part.mha is an image, and has the grid of its voxels alone", "--levels", "1")
        self.refused("--unit has no effect on", "--unit", "1", code=USAGE)
        self.refused("--voxel has no effect on", "--voxel", "1", code=USAGE)
        self.refused("--lower has no effect without an image", "--lower", "1", code=USAGE, mesh=box())
        self.fails(BAD_FILE, "the material is missing", "topopt", "part.mha", "--lower", "1", "-q")

    def test_images_that_are_none(self):
        for name, content, message in (
                ("text.mha", "no image", "text.mha: "), ("empty.nii.gz", "", "empty.nii.gz: "),
                ("solid.nrrd", "solid a\nfacet normal 0 0 1\n", "solid.nrrd: is a surface, and no image"),
                ("voxels.raw", "\0" * 54, "voxels.raw: is raw, and no image that says its shape"),
                ("flat.mha", metaimage(voxels(label), edge=(M, M, 2 * M)), "flat.mha: "),
                ("cut.mha", metaimage(voxels(label))[:-9], "cut.mha: "),
                ("half.mha", metaimage(voxels(lambda x, y, z: 1.5), kind="f"),
                 "supports[0]: labels are whole numbers, and ")):
            self.write(name, content)
            self.refused(message, mesh={"file": name, "lower": 1})
        # Whole numbers, but grey values; as many labels have regions.
        shape = (60, 8, 8)
        ends = {"supports": [{"box": [0, 0, 0, 0, 8, 8]}], "passive": [{"label": 160, "role": "solid"}],
                "cases": [{"name": "tip", "loads": [{"box": [60, 0, 0, 60, 8, 8], "total_force": [0, 0, -1]}]}]}
        self.write("ct.mha", metaimage(voxels(lambda x, y, z: 100 + (47 * x + 31 * y + 17 * z) % 211, shape), shape))
        self.refused("passive[0]: \"label\" is of a segmentation, and ct.mha has more than 64 values",
                     mesh={"file": "ct.mha", "lower": 100}, **ends)
        without = self.labelled("ct.mha", **{**ends, "passive": None})
        self.assertEqual(self.solve({**without, "steps": 1})["problem"]["elements"], 60 * 8 * 8)
        self.write("many.mha", metaimage(voxels(lambda x, y, z: 100 + x // 6 + 10 * y, shape), shape))
        run = self.solve(self.labelled("many.mha", **{**ends, "steps": 1}))
        self.assertEqual(run["problem"]["solid_elements"], 6 * 8)
        # A label that nothing of is outside.
        inside = voxels(lambda x, y, z: 4 if (x, y, z) == (3, 1, 1) else label(x, y, z))
        self.write("inside.mha", metaimage(inside))
        self.refused("none of the 1 voxels has a face on the boundary", mesh={"file": "inside.mha", "lower": 1},
                     supports=[{"label": 4}])


if __name__ == "__main__":
    driver_case.main()
