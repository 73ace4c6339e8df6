#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scan to learn on: the body of a lumbar vertebra in clinical CT, with two rods of a phantom beside it.

    python3 make_vertebra.py FOLDER [NAME [DENSITY]]

writes into FOLDER the folder NAME (vertebra), DICOM slices in Hounsfield units; NAME.nii.gz, the same as NIfTI; and
NAME-seg.nii.gz, on the same grid: 1 trabecular, 2 cortical bone. 48 x 48 x 32 mm in voxels of 1 x 1 x 2 mm. DENSITY:
mg/ccm of the trabecular bone, 120. Rods have 0 and 200 mg/ccm, and 8 and 258 Hounsfield units. Noise is the same
each time.
"""
import gzip
import math
import os
import random
import struct
import sys

N, EDGES = (48, 48, 16), (1.0, 1.0, 2.0)  # voxels and mm, of x to the left, y to the back, z upwards
CORNER = (-24.5, -140.0, 812.0)  # mm: where the scanner has the centre of the first voxel
CORTICAL, SHELL = 420, 1.4  # mg/ccm, mm
RODS = (((-15.0, 19.0), 0), ((15.0, 19.0), 200))  # mm, mg/ccm
ROD_RADIUS, SLOPE, WATER, NOISE = 4.0, 1.25, 8, 12  # mm, HU by mg/ccm, HU of no mineral, HU


def outside(x, y, z, inset=0.0):
    """Above 1 outside of the body, whose sides are drawn in by `inset` mm: an oval with a hollow back, narrower at
    its waist, between hollow endplates."""
    waist = 1 - 0.08 * math.cos(math.pi * z / 26)
    a, b = 21.5 * waist - inset, 15.5 * waist - inset
    flat = math.hypot(x / a, y / b) + 0.25 * max(0.0, y / b) ** 2 * math.exp(-(x / 8) ** 2)
    hollow = 1.5 * math.exp(-(x * x + y * y) / 150)
    return max(flat, abs(z) / (13.0 - hollow - inset))


def tissue(x, y, z, density):
    """mg/ccm at a point, mm from the centre of the body, and its label."""
    for (rod_x, rod_y), mineral in RODS:
        if math.hypot(x - rod_x, y - rod_y) < ROD_RADIUS:
            return mineral, 0
    if outside(x, y, z) > 1:
        return 20, 0  # muscle and discs
    if outside(x, y, z, SHELL) > 1:
        return CORTICAL, 2
    return density * (1 + 0.15 * math.cos(z / 3)), 1


def voxels(density):
    """Hounsfield units and labels, x fastest: the mean of four points, and the label of the centre."""
    chance = random.Random(1)
    values, labels = [], []
    for k in range(N[2]):
        for j in range(N[1]):
            for i in range(N[0]):
                x, y, z = i - 23.5, j - 16.5, 2.0 * k - 15.0
                part = [tissue(x + s, y + s * t, z + t, density)[0] for s in (-0.25, 0.25) for t in (-0.5, 0.5)]
                values.append(round(SLOPE * sum(part) / 4 + WATER + chance.gauss(0, NOISE)))
                labels.append(tissue(x, y, z, density)[1])
    return values, labels


def element(group, number, kind, value):
    """An element of DICOM, explicit and little endian."""
    if isinstance(value, int):
        value = struct.pack("<H", value)
    elif isinstance(value, str):
        value = value.encode()
    value += (b"\0" if kind in ("UI", "OB", "OW") else b" ") * (len(value) % 2)
    length = struct.pack("<HI", 0, len(value)) if kind in ("OB", "OW") else struct.pack("<H", len(value))
    return struct.pack("<2H", group, number) + kind.encode() + length + value


def dicom(values, k):
    """Slice k as a file."""
    image, uid, explicit = "1.2.840.10008.5.1.4.1.1.2", f"1.2.826.0.1.3680043.9.1.{k + 1}", "1.2.840.10008.1.2.1"
    count = N[0] * N[1]
    place = [CORNER[0], CORNER[1], CORNER[2] + EDGES[2] * k]
    meta = (element(2, 1, "OB", b"\0\1") + element(2, 2, "UI", image) + element(2, 3, "UI", uid) +
            element(2, 0x10, "UI", explicit))
    body = b"".join(element(*one) for one in (
        (8, 8, "CS", "ORIGINAL\\PRIMARY\\AXIAL"), (8, 0x16, "UI", image), (8, 0x18, "UI", uid), (8, 0x60, "CS", "CT"),
        (8, 0x103e, "LO", "Vertebra, made"), (0x20, 0xd, "UI", "1.2.826.0.1.3680043.9.2"),
        (0x20, 0xe, "UI", "1.2.826.0.1.3680043.9.3"), (0x20, 0x11, "IS", "2"),
        (0x20, 0x32, "DS", "\\".join(str(p) for p in place)), (0x20, 0x37, "DS", "1\\0\\0\\0\\1\\0"),
        (0x28, 2, "US", 1), (0x28, 4, "CS", "MONOCHROME2"), (0x28, 0x10, "US", N[1]), (0x28, 0x11, "US", N[0]),
        (0x28, 0x30, "DS", f"{EDGES[1]}\\{EDGES[0]}"), (0x28, 0x100, "US", 16), (0x28, 0x101, "US", 16),
        (0x28, 0x102, "US", 15), (0x28, 0x103, "US", 1), (0x28, 0x1052, "DS", "0"), (0x28, 0x1053, "DS", "1"),
        (0x28, 0x1054, "LO", "HU"),
        (0x7fe0, 0x10, "OW", struct.pack(f"<{count}h", *values[k * count:(k + 1) * count]))))
    return b"\0" * 128 + b"DICM" + element(2, 0, "UL", struct.pack("<I", len(meta))) + meta + body


def nifti(values, code, bits, form):
    """NIfTI-1 in one file, whose world is RAS where DICOM's is LPS."""
    header = bytearray(352)
    rows = [(-EDGES[0], 0, 0, -CORNER[0]), (0, -EDGES[1], 0, -CORNER[1]), (0, 0, EDGES[2], CORNER[2])]
    for place, layout, numbers in ((0, "<i", (348,)), (40, "<8h", (3, *N, 1, 1, 1, 1)), (70, "<2h", (code, bits)),
                                   (76, "<8f", (1, *EDGES, 0, 0, 0, 0)), (108, "<f", (352,)), (254, "<h", (1,)),
                                   (280, "<12f", [number for row in rows for number in row])):
        struct.pack_into(layout, header, place, *numbers)
    header[123], header[344:348] = 2, b"n+1\0"  # mm
    return gzip.compress(bytes(header) + struct.pack(f"<{len(values)}{form}", *values), 9, mtime=0)


def main():
    folder, name, density = (sys.argv[1:] + ["vertebra", "120"][len(sys.argv) - 2:])[:3]
    values, labels = voxels(float(density))
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    for k in range(N[2]):
        with open(os.path.join(folder, name, f"IM{k + 1:04}.dcm"), "wb") as file:
            file.write(dicom(values, k))
    for ending, content in ("", nifti(values, 4, 16, "h")), ("-seg", nifti(labels, 2, 8, "B")):
        with open(os.path.join(folder, name + ending + ".nii.gz"), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    main()
