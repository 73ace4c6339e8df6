#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The room that a machine leaves for a stand, as an image of labels in voxels of 1 mm: 1 is the room, 2 four feet that
are bolted down, 3 the seat of a sensor above. A pipe goes through between the feet, and a ball is beside it.

    python3 make_stand.py [FOLDER]

writes stand.nii.gz.
"""
import gzip
import math
import pathlib
import struct
import sys

EDGE, N = 1, (70, 44, 42)  # mm, voxels along x, y and z upwards
PIPE, BALL = (0, 13, 11), (20, 0, 27, 11)  # mm: x, z and radius; x, y, z and radius
FOOT, SEAT, LAYER = (28, 14, 6), 8, 3  # mm: x, y and radius; radius; thickness of both


def label(x, y, z):
    """At a point, mm from the middle of the floor."""
    if math.hypot(x - PIPE[0], z - PIPE[1]) < PIPE[2] or math.dist((x, y, z), BALL[:3]) < BALL[3]:
        return 0
    if z < LAYER and math.hypot(abs(x) - FOOT[0], abs(y) - FOOT[1]) < FOOT[2]:
        return 2
    return 3 if z > EDGE * N[2] - LAYER and math.hypot(x, y) < SEAT else 1


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent
    corner = -EDGE * (N[0] - 1) / 2, -EDGE * (N[1] - 1) / 2, EDGE / 2  # centre of the first voxel
    values = bytes(label(*(c + EDGE * i for c, i in zip(corner, place)))
                   for place in ((i, j, k) for k in range(N[2]) for j in range(N[1]) for i in range(N[0])))
    header = struct.pack("<i36x8h3f4h8f", 348, 3, *N, 1, 1, 1, 1, 0, 0, 0, 0, 2, 8, 0, 1, EDGE, EDGE, EDGE, 0, 0, 0, 0)
    header += struct.pack("<3fh2b4f2i", 352, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0)
    header += b"make_stand.py".ljust(80, b"\0") + bytes(24) + struct.pack("<2h6f", 0, 1, 0, 0, 0, *corner)
    for axis in range(3):
        header += struct.pack("<4f", *(EDGE if d == axis else 0 for d in range(3)), corner[axis])
    header += bytes(16) + b"n+1\0" + bytes(4)
    path = pathlib.Path(folder) / "stand.nii.gz"
    path.write_bytes(gzip.compress(header + values, 9, mtime=0))
    print(f"{path}: {sum(1 for value in values if value)} voxels")


if __name__ == "__main__":
    main()
