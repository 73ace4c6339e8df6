#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A specimen to learn on, in the shape of a section of a distal radius: a shell of cortical bone round
a lattice of trabeculae, the gyroid.

    python3 make_radius.py [FOLDER [EDGE]]

writes radius.mha, mineral density in mg HA/cm3 as a calibrated scanner gives it, and
radius-labels.nii.gz, 1 cortical and 2 trabecular bone: 20 x 17 x 12 mm in voxels of EDGE mm (0.5). No noise.
"""
import gzip
import math
import os
import struct
import sys
import zlib

SIZE = (20, 17, 12)  # mm
EDGE = float(sys.argv[2]) if len(sys.argv) > 2 else 0.5
N = tuple(round(size / EDGE) for size in SIZE)
RADII = (9.5, 8.0)  # mm, of the outside
SHELL = 1.5  # mm, of cortical bone
CELL = 4.0  # mm, of the gyroid
CORTICAL, TRABECULAR, MARROW = 900, 700, 0  # mg HA/cm3


def tissue(x, y, z):
    """Density at a point, mm from the axis, and its label."""
    outside = math.hypot(x / RADII[0], y / RADII[1])
    if outside > 1:
        return 0, 0
    if math.hypot(x / (RADII[0] - SHELL), y / (RADII[1] - SHELL)) > 1:
        return CORTICAL, 1
    a, b, c = (2 * math.pi * t / CELL for t in (x, y, z))
    gyroid = math.sin(a) * math.cos(b) + math.sin(b) * math.cos(c) + math.sin(c) * math.cos(a)
    return (TRABECULAR, 2) if abs(gyroid) < 0.5 else (MARROW, 0)


def voxel(i, j, k):
    """Mean density of eight points, in steps of 20, and the label of the centre."""
    at = [[(index + s) * EDGE - 0.5 * n * EDGE for s in (0.25, 0.75, 0.5)]
          for index, n in zip((i, j, k), N)]
    density = sum(tissue(x, y, z)[0] for x in at[0][:2] for y in at[1][:2] for z in at[2][:2]) / 8
    return 20 * round(density / 20), tissue(at[0][2], at[1][2], at[2][2])[1]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    voxels = [voxel(i, j, k) for k in range(N[2]) for j in range(N[1]) for i in range(N[0])]
    densities, labels = zip(*voxels)

    data = zlib.compress(struct.pack(f"<{len(densities)}h", *densities), 9)
    header = (f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
              f"CompressedData = True\nCompressedDataSize = {len(data)}\n"
              f"ElementSpacing = {EDGE} {EDGE} {EDGE}\nOffset = 0 0 0\n"
              f"DimSize = {N[0]} {N[1]} {N[2]}\nElementType = MET_SHORT\nElementDataFile = LOCAL\n")
    with open(os.path.join(folder, "radius.mha"), "wb") as file:
        file.write(header.encode() + data)

    nifti = bytearray(352)  # NIfTI-1, one file
    struct.pack_into("<i", nifti, 0, 348)
    struct.pack_into("<8h", nifti, 40, 3, *N, 1, 1, 1, 1)
    struct.pack_into("<2h", nifti, 70, 2, 8)  # unsigned bytes
    struct.pack_into("<8f", nifti, 76, 1, EDGE, EDGE, EDGE, 0, 0, 0, 0)
    struct.pack_into("<f", nifti, 108, 352)  # where the voxels begin
    nifti[123] = 2  # mm
    nifti[344:348] = b"n+1\0"
    with open(os.path.join(folder, "radius-labels.nii.gz"), "wb") as file:
        file.write(gzip.compress(bytes(nifti) + bytes(labels), 9, mtime=0))


if __name__ == "__main__":
    main()
