#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scan to learn on: a left proximal femur in clinical CT, as it lies in the scanner.

    python3 make_femur.py FOLDER [NAME [DENSITY]]

writes into FOLDER NAME.nii.gz (femur), in mg/ccm of mineral, and NAME-seg.nii.gz on the same grid: 1 trabecular, 2
cortical bone, and in the void beside it what a test of a fall on the side has: 3 a pad on the inner side of the head
and 6 the plate on that pad, 4 a pad on the outer side of the greater trochanter and 7 the plate under it, 5 the pot
below the cut of the shaft. 64 x 40 x 78 voxels of 2 mm. DENSITY: mg/ccm of the trabecular bone of the neck, 120; the
head has twice that. A ball, capsules and an ellipsoid; the neck leans 15 degrees to the front.
"""
import gzip
import math
import os
import struct
import sys

N, EDGE = (64, 40, 78), 2.0  # x to the left, y to the back, z upwards
CORNER = (-81.0, -43.0, -99.0)  # mm, centre of the first voxel from where the axes of neck and shaft meet
TURN, RISE = math.radians(15), math.radians(37)  # of the neck: to the front, and above the horizontal
HEAD = tuple(52 * part for part in (-math.cos(RISE) * math.cos(TURN), -math.cos(RISE) * math.sin(TURN), math.sin(RISE)))
INNER = (-math.cos(TURN), -math.sin(TURN), 0.0)  # where the body falls from
END, POT = -70.0, 28.0  # mm: where the shaft is cut, and how deep the pot below is
PAD, PLATE, ROUND = 6.0, 4.0, 18.0  # mm: thickness of pads beyond the bone and of plates, and their radius
TROCHANTER, AXES = (10.0, 4.0, 14.0), (17.0, 19.0, 22.0)  # mm, of an ellipsoid
CORTICAL = 900  # mg/ccm


def from_segment(point, end, begin=(0.0, 0.0, 0.0)):
    """Distance from the segment between two points."""
    axis, arm = [b - a for a, b in zip(begin, end)], [p - a for a, p in zip(begin, point)]
    part = sum(a * b for a, b in zip(axis, arm)) / sum(a * a for a in axis)
    return math.dist(arm, [min(1.0, max(0.0, part)) * a for a in axis])


def parts(point):
    """Depth below the surface of each part, its cortical thickness in mm and what its density is multiplied by."""
    z, trochanter = point[2], math.hypot(*((p - c) / a for p, c, a in zip(point, TROCHANTER, AXES)))
    return ((23 - math.dist(point, HEAD), 1.0, 2.0), (15 - from_segment(point, HEAD), 2.0, 1.0),
            (15 - from_segment(point, (0.0, 0.0, END - 20)), 6.0, 0.1 if z < -15 else 1.0),
            (17 * (1 - trochanter), 1.0, 0.8))


def pressed(point, centre, outer, direction, pad, plate):
    """The label of a pad or a plate, round and normal to a direction, on a part that reaches as far as `outer` along it."""
    arm = [p - c for p, c in zip(point, centre)]
    along = sum(a * d for a, d in zip(arm, direction))
    if math.dist(arm, [along * d for d in direction]) > ROUND or not 0.5 * outer < along <= outer + PAD + PLATE:
        return 0
    return pad if along <= outer + PAD else plate


def tissue(point, density):
    """mg/ccm at a point, and its label."""
    found = parts(point)
    depth = max(one[0] for one in found)
    if point[2] < END:
        return 0, 5 if depth > 0 and point[2] > END - POT else 0
    if depth > 0:
        inside = [one for one in found if one[0] > one[1]]
        return (round(density * max(one[2] for one in inside)), 1) if inside else (CORTICAL, 2)
    reach = math.hypot(*(a * d for a, d in zip(AXES, INNER)))
    return 0, (pressed(point, HEAD, 23.0, INNER, 3, 6) or
               pressed(point, TROCHANTER, reach, [-d for d in INNER], 4, 7))


def nifti(values, code, bits, form):
    """NIfTI-1 in one file, whose x and y point to the right and to the front."""
    header = bytearray(352)
    rows = [(-EDGE, 0, 0, -CORNER[0]), (0, -EDGE, 0, -CORNER[1]), (0, 0, EDGE, CORNER[2])]
    for place, layout, numbers in ((0, "<i", (348,)), (40, "<8h", (3, *N, 1, 1, 1, 1)), (70, "<2h", (code, bits)),
                                   (76, "<8f", (1, *(EDGE,) * 3, 0, 0, 0, 0)), (108, "<f", (352,)), (254, "<h", (1,)),
                                   (280, "<12f", [number for row in rows for number in row])):
        struct.pack_into(layout, header, place, *numbers)
    header[123], header[344:348] = 2, b"n+1\0"  # mm
    return gzip.compress(bytes(header) + struct.pack(f"<{len(values)}{form}", *values), 9, mtime=0)


def main():
    folder, name, density = (sys.argv[1:] + ["femur", "120"][len(sys.argv) - 2:])[:3]
    voxels = [tissue(tuple(c + EDGE * i for c, i in zip(CORNER, (x, y, z))), float(density))
              for z in range(N[2]) for y in range(N[1]) for x in range(N[0])]
    os.makedirs(folder, exist_ok=True)
    for ending, k, kind in ("", 0, (4, 16, "h")), ("-seg", 1, (2, 8, "B")):
        with open(os.path.join(folder, name + ending + ".nii.gz"), "wb") as file:
            file.write(nifti([voxel[k] for voxel in voxels], *kind))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        sys.exit(__doc__)
    main()
