# SPDX-License-Identifier: Apache-2.0
"""A CT and its segmentation on one grid that is turned in the world, for tests of `ossatura bone` with images."""
import math

from support.driver_case import DriverCase
from support.specimens import nifti_bytes

SHAPE, EDGE = (10, 9, 8), 0.5
LAW = ("--law", "linear", "--slope", "10", "--lower", "1", "--backend", "serial", "-q")


def turned(edge=EDGE, away=0.0):
    """Rows of an sform: axes that are turned, one of them backwards."""
    c, s = edge * math.cos(0.4), edge * math.sin(0.4)
    return [(c, -s, 0, 12.5 + away), (s, c, 0, -30), (0, 0, -edge, 7.25)]


def voxels():
    """(x, y, z) in the order of a file."""
    return [(x, y, z) for z in range(SHAPE[2]) for y in range(SHAPE[1]) for x in range(SHAPE[0])]


def grey(x, y, z):
    return 900 + (7 * x + 5 * y + 3 * z) % 97


def label(x, y, z):
    """1: a core; 5: a shell; 0 around them."""
    if min(x, y) < 1 or x > 8 or y > 7:
        return 0
    return 1 if 3 <= x <= 6 and 3 <= y <= 5 else 5


class BoneImages(DriverCase):
    def setUp(self):
        super().setUp()
        self.image = self.nifti("ct.nii.gz", grey)
        self.mask = self.nifti("seg.nii.gz", label)

    def nifti(self, name, value, kind="h", shape=SHAPE, **place):
        values = [value(*v) for v in voxels()][:shape[0] * shape[1] * shape[2]]
        return self.write(name, nifti_bytes(shape, EDGE, kind, values, turned(**place)))

    def run_of(self, *arguments):
        return self.summary("bone", *arguments, *LAW)
