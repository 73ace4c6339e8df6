# SPDX-License-Identifier: Apache-2.0
"""Files with a fault in them, as a copy, a disk or a CAD program makes it: each would have given
another number with exit 0."""
import gzip
import json
import os
import random
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support import driver_case
from support.driver_case import BAD_FILE, DONE, DriverCase

SOLID = ("--law", "threshold", "--lower", "500", "--modulus", "1000", "--test", "axial", "-q")


def nifti(values, shape=(4, 4, 4)):
    """A NIfTI-1 image of 16-bit integers in voxels of 0.5 mm."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *shape, 1, 1, 1, 1)
    struct.pack_into("<hh", header, 70, 4, 16)
    struct.pack_into("<8f", header, 76, 1, 0.5, 0.5, 0.5, 1, 1, 1, 1)
    struct.pack_into("<f", header, 108, 352)
    header[123] = 2
    header[344:348] = b"n+1\0"
    return bytes(header) + struct.pack(f"<{len(values)}h", *values)


def metaimage(data, more="", shape="4 4 4"):
    return (f"ObjectType = Image\nNDims = 3\n{more}DimSize = {shape}\nElementSpacing = 0.5 0.5 0.5\n"
            "ElementType = MET_SHORT\nElementDataFile = LOCAL\n").encode() + data


class Images(DriverCase):
    values = [1000] * 64

    def refused(self, name, content, message):
        self.write(name, content)
        self.fails(BAD_FILE, message, "bone", name, *SOLID)

    def test_the_checksum_of_gzip_is_compared(self):
        plain = nifti(self.values)
        self.write("good.nii.gz", gzip.compress(plain))
        self.summary("bone", "good.nii.gz", *SOLID)
        # Not compressed in its gzip: a damaged voxel inflates without complaint.
        whole = bytearray(gzip.compress(plain, compresslevel=0))
        at = whole.find(struct.pack("<h", 1000) * 8)
        self.assertGreater(at, 0)
        whole[at + 1] ^= 3
        self.refused("voxel.nii.gz", bytes(whole), "damaged")
        whole = gzip.compress(plain)
        self.refused("crc.nii.gz", whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:], "damaged")
        self.refused("cut.nii.gz", whole[:-3], "truncated")

    def test_the_checksum_of_zlib_is_compared(self):
        data = zlib.compress(struct.pack("<64h", *self.values))
        self.write("good.mha", metaimage(data, "CompressedData = True\n"))
        self.summary("bone", "good.mha", *SOLID)
        damaged = data[:-1] + bytes([data[-1] ^ 1])
        self.refused("bad.mha", metaimage(damaged, "CompressedData = True\n"), "damaged")

    def test_a_flipped_bit_of_a_compressed_image(self):
        # Harmless in some: the checksum covers the voxels, not the time in gzip's header. FLIPS=0: every bit.
        whole = gzip.compress(nifti([700 + 10 * (i % 31) for i in range(64)]))
        command = ("bone", "i.nii.gz", "--law", "linear", "--test", "axial", "--backend", "serial", "--no-hdf", "-q",
                   "--json")
        self.write("i.nii.gz", whole)
        self.ossatura(*command, "expected.json")

        def numbers(name):
            results = json.loads(self.read(name))["results"]
            return results["response"], results["strain_energy"]
        bits, refused = range(8 * len(whole)), 0
        flips = int(os.environ.get("FLIPS", "24"))
        for bit in random.Random(5).sample(bits, flips) if 0 < flips < len(bits) else bits:
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            self.write("i.nii.gz", bytes(damaged))
            if self.ossatura(*command, "r.json", code=(DONE, BAD_FILE)).returncode == BAD_FILE:
                refused += 1
            else:
                self.assertEqual(numbers("r.json"), numbers("expected.json"), bit)
        self.assertGreater(refused, 0)

    def test_more_data_than_announced_is_refused(self):
        data = struct.pack("<64h", *self.values)
        self.refused("a.mha", metaimage(data, shape="4 4 3"), "more data")
        self.refused("b.mha", metaimage(data, "DimSize = 4 4 2\n"), "DimSize is there twice")
        self.refused("c.nii", nifti(self.values, (4, 4, 3)), "more data")
        self.refused("d.nii.gz", gzip.compress(nifti(self.values, (4, 4, 3))), "more data")


def box(lower, edge, first, turned=False):
    """Corners and outward triangles of a cube, the first corner of number `first`."""
    corners = [[lower[d] + edge * (c >> d & 1) for d in range(3)] for c in range(8)]
    quads = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return corners, [[first + v for v in (reversed(t) if turned else t)] for t in triangles]


def off(*boxes):
    points, triangles = [], []
    for lower, edge, turned in boxes:
        corners, more = box(lower, edge, len(points), turned)
        points += corners
        triangles += more
    lines = ["OFF", f"{len(points)} {len(triangles)} 0"]
    lines += [" ".join(map(str, p)) for p in points]
    lines += ["3 " + " ".join(map(str, t)) for t in triangles]
    return "\n".join(lines) + "\n"


class Surfaces(DriverCase):
    def volume(self, text):
        self.write("s.off", text)
        run = self.summary("bone", "s.off", "--voxel", "0.125", "--test", "axial", "-q",
                           "--largest-component")
        return run["problem"]["bone_volume"], [w["code"] for w in run["warnings"]]

    def test_overlapping_shells_are_united(self):
        volume, warnings = self.volume(off(((0, 0, 0), 1, False), ((0.5, 0.5, 0), 1, False)))
        self.assertEqual(volume, 1.75)
        self.assertIn("surfaces-overlap", warnings)

    def test_a_shell_that_faces_inward_is_a_cavity(self):
        volume, warnings = self.volume(off(((0, 0, 0), 1, False), ((0.25, 0.25, 0.25), 0.5, True)))
        self.assertEqual(volume, 0.875)
        self.assertNotIn("surfaces-overlap", warnings)
        volume, warnings = self.volume(off(((0, 0, 0), 1, True)))
        self.assertEqual(volume, 1)

    def test_bodies_that_face_different_ways_are_refused(self):
        self.write("s.off", off(((0, 0, 0), 1, False), ((2, 0, 0), 1, True)))
        self.fails(BAD_FILE, "face different ways", "bone", "s.off", "--voxel", "0.125", "--test",
                   "axial", "-q")


HEXA = [[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]]


def vtk(points, cells, kind):
    size = sum(len(c) + 1 for c in cells)
    return (f"# vtk DataFile Version 3.0\nm\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            f"POINTS {len(points)} double\n" + "".join("%g %g %g\n" % p for p in points) +
            f"CELLS {len(cells)} {size}\n" +
            "".join(f"{len(c)} " + " ".join(map(str, c)) + "\n" for c in cells) +
            f"CELL_TYPES {len(cells)}\n" + f"{kind}\n" * len(cells))


class Duplicates(DriverCase):
    """The same element twice, once with its nodes in another order."""
    points = [(i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1, 2)]

    def refused(self, *arguments):
        self.fails(BAD_FILE, "has the same nodes as", *arguments, "-q")

    def test_hexahedra(self):
        turned = [2, 5, 4, 1, 8, 11, 10, 7]
        self.write("m.vtk", vtk(self.points, HEXA + [turned], 12))
        support = [{"box": [0, 0, 0, 0, 9, 9]}]
        self.write("t.json", json.dumps({
            "mesh": {"file": "m.vtk"}, "material": {"young": 1, "poisson": 0.3},
            "supports": support,
            "cases": [{"name": "a", "loads": [{"box": [2, 0, 0, 9, 9, 9],
                                               "total_force": [0, 0, -1]}]}],
            "volume_fraction": 0.6, "steps": 1, "filter": {"kind": "density", "radius": 1.5}}))
        self.refused("topopt", "t.json")
        self.write("s.json", json.dumps({
            "time_step": 0.01, "steps": 1,
            "objects": [{"name": "b", "mesh": {"file": "m.vtk"}, "fixed": support,
                         "material": {"young": 1e5, "poisson": 0.3}}]}))
        self.refused("softbody", "s.json")
        self.write("p.json", json.dumps({
            "mesh": {"file": "m.vtk"}, "order": 1, "material": {"young": 1, "poisson": 0.3},
            "supports": [{"plane": "x=0"}], "loads": [{"plane": "x=2", "traction": [1, 0, 0]}]}))
        self.refused("pfem", "p.json")

    def test_triangles_of_a_membrane(self):
        self.write("m.vtk", vtk([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)],
                                [[0, 1, 2], [1, 3, 2], [2, 1, 0]], 5))
        self.write("s.json", json.dumps({
            "time_step": 0.01, "steps": 1,
            "objects": [{"name": "b", "mesh": {"file": "m.vtk"},
                         "material": {"young": 1e5, "poisson": 0.3,
                                      "thickness": 1e-3}}]}))
        self.refused("softbody", "s.json")

    def test_tetrahedra_of_a_heart(self):
        self.write("m.pts", "5\n0 0 0\n1000 0 0\n0 1000 0\n0 0 1000\n1000 1000 1500\n")
        self.write("m.elem", "3\nTt 0 1 2 3 1\nTt 1 2 3 4 1\nTt 2 1 0 3 2\n")
        self.fails(BAD_FILE, "tetrahedra 0 and 2", "eikonal", "m", "--site",
                   "vertices:0", "--velocity", "0.6,0.3,0.2", "-q")


class Results(DriverCase):
    """Files of results are meshes, too."""
    def test_a_flipped_bit_ends_no_run_but_by_an_error(self):
        asked = ("--velocity", "0.6,0.4,0.2", "--site", "vertices:0", "-q")
        self.ossatura("eikonal", "--generate", "slab:h=2", *asked, "--hdf", "m.hdf")
        with open(self.path("m.hdf"), "rb") as file:
            whole = file.read()
        choose = random.Random(5)
        ends = set()
        for k in range(int(os.environ.get("FLIPS", "8")) * 3):
            damaged = bytearray(whole)
            # The first kilobytes and the last are the library's own.
            place = choose.randrange(4096) if k % 3 == 0 else -1 - choose.randrange(4096) if k % 3 == 1 else (
                choose.randrange(len(whole)))
            damaged[place] ^= 1 << choose.randrange(8)
            self.write("m.hdf", bytes(damaged))
            process = self.ossatura("eikonal", "m.hdf", *asked, code=(DONE, BAD_FILE))
            ends.add(process.returncode)
            if process.returncode == BAD_FILE:
                self.assertIn("m.hdf", process.stderr)
        self.assertIn(BAD_FILE, ends)
        for length in (0, 100, len(whole) // 2, len(whole) - 1):
            self.write("m.hdf", whole[:length])
            self.fails(BAD_FILE, "m.hdf", "eikonal", "m.hdf", *asked)

    def test_samples_of_elements_are_no_mesh(self):
        self.write("p.json", json.dumps({
            "mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]}, "order": 1,
            "material": {"young": 1e9, "poisson": 0.3},
            "supports": [{"plane": "x=0"}], "loads": [{"plane": "x=2", "traction": [1, 0, 0]}]}))
        self.ossatura("pfem", "p.json", "--hdf", "m.hdf", "-q")
        problem = json.loads(self.read("p.json"))
        problem["mesh"] = {"file": "m.hdf"}
        self.write("p.json", json.dumps(problem))
        self.fails(BAD_FILE, "samples of elements", "pfem", "p.json", "-q")


class Checkpoints(DriverCase):
    scene = {"time_step": 0.01, "steps": 2, "gravity": [0, 0, -9.81],
             "objects": [{"name": "body", "fixed": [{"box": [0, 0, 0, 0, 1, 1]}],
                          "mesh": {"hexa_box": {"cells": [2, 1, 1], "size": [2, 1, 1]}},
                          "material": {"young": 1e5, "poisson": 0.3}}]}

    def flip(self, name, *arguments):
        with open(self.path(name), "rb") as file:
            whole = file.read()
        self.ossatura(*arguments, "--resume", name, "-q")
        choose = random.Random(3)
        for _ in range(int(os.environ.get("FLIPS", "8"))):
            damaged = bytearray(whole)
            damaged[choose.randrange(len(whole))] ^= 1 << choose.randrange(8)
            self.write(name, bytes(damaged))
            self.fails(BAD_FILE, name, *arguments, "--resume", name, "-q")

    def test_a_flipped_bit_of_a_soft_body(self):
        self.write("s.json", json.dumps(self.scene))
        base = ("softbody", "s.json", "--backend", "serial", "--no-hdf")
        self.ossatura(*base, "--checkpoint", "c.h5", "-q")
        self.flip("c.h5", *base, "--steps", "3")

    def test_a_flipped_bit_of_a_design(self):
        base = ("topopt", "cantilever", "--cells", "2x1x1", "--backend", "serial", "--no-hdf",
                "--no-stl")
        self.ossatura(*base, "--steps", "1", "--checkpoint", "c.h5", "-q")
        self.flip("c.h5", *base, "--steps", "2")


if __name__ == "__main__":
    driver_case.main()
