# SPDX-License-Identifier: Apache-2.0
"""scripts/picture end to end: what ossatura wrote becomes a PNG that shows it. Skipped where the
packages for it are missing."""
import importlib
import os
import subprocess
import sys

from support import driver_case
from support.driver_case import DriverCase

try:
    import numpy
    from PIL import Image
    for module in ("h5py", "matplotlib"):  # for the script
        importlib.import_module(module)
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit()

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "picture")


class Picture(DriverCase):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], text=True,
                              cwd=self.directory.name, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300)

    def picture(self, *arguments, size=(160, 120)):
        """Pixels [height, width, 3] of the picture, which has the size that was asked for."""
        process = self.run_script(*arguments, "--size", *size, "-o", "picture.png")
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        with Image.open(self.path("picture.png")) as image:
            self.assertEqual((image.format, image.size), ("PNG", size))
            return numpy.asarray(image.convert("RGB"), int)

    def refused(self, message, *arguments):
        process = self.run_script(*arguments)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn(message, process.stderr)
        self.assertNotIn("Traceback", process.stderr)

    def share(self, pixels):
        """The part of the picture that is not background."""
        return (pixels < 250).any(axis=2).mean()

    def test_a_cube_fills_what_it_should(self):
        self.ossatura("pfem", "cube", "--cells", "2x2x2", "--order", "2", "-o", ".")
        front = ("cube.hdf", "--view", 0, -1, 0, "--bar", "none")
        whole = self.picture(*front, "--field", "none", size=(100, 100))
        self.assertAlmostEqual(self.share(whole), 0.95 ** 2, delta=0.02)
        self.assertLess(numpy.ptp(whole[20:80, 20:80]), 80)  # one colour, in the light
        twice = self.picture(*front, "--field", "none", "--mirror", "x", 0, size=(200, 100))
        self.assertAlmostEqual(self.share(twice), 0.95 ** 2, delta=0.02)
        # From the side, behind a plane at x = 0.25, it is as high and wide as before; from the
        # front it is a quarter as wide.
        half = ("--cut", "x", 0.25, "--bar", "none", "--field", "von_mises")
        side = self.picture("cube.hdf", *half, "--view", 1, 0, 0, size=(100, 100))
        self.assertAlmostEqual(self.share(side), 0.95 ** 2, delta=0.02)
        front = self.picture("cube.hdf", *half, "--view", 0.001, -1, 0, size=(100, 100))
        self.assertAlmostEqual(self.share(front), 0.95 ** 2 / 4, delta=0.02)
        warped = self.picture("cube.hdf", "--warp", 0.1, "--rest", "--lines", "element", "--log")
        self.assertGreater(self.share(warped), 0.2)

    def test_isochrones_are_bands(self):
        self.ossatura("eikonal", "--generate", "slab:h=0.5", "-o", ".")
        view = ("slab.hdf", "--isochrones", 10, "--view", 0.001, 0, 1, "--up", "y", "--bar", "none")
        pixels = self.picture(*view, size=(400, 160))
        hue = pixels[80, 20:380] / pixels[80, 20:380].sum(axis=1, keepdims=True)
        _, count = numpy.unique(numpy.round(hue, 2), axis=0, return_counts=True)
        # Along 20 mm the wave takes about 33 ms: four bands of many pixels each.
        self.assertIn((count > 25).sum(), (3, 4, 5))
        self.assertGreater(self.share(self.picture("slab.hdf")), 0.1)  # with colour bar

    def test_where_no_wave_arrives_is_grey_and_not_on_the_scale(self):
        # 1 mm cubes of six tetrahedra each, x fastest, of which the last eight do not conduct.
        rows = ["0.5" if i // 6 % 20 < 12 else "0" for i in range(6 * 20 * 7 * 3)]
        self.write("v.dat", "\n".join(rows) + "\n")
        for start, least, options in ((0, 0, ("--cut", "z")), (-9, -9, ("--isochrones", 5))):
            self.ossatura("eikonal", "--generate", "slab:h=1", "--velocities", "v.dat", "--site",
                        f"box:0,0,0,0,9,9@t={start}", "-o", ".")
            view = ("slab.hdf", "--view", 0.001, 0, 1, "--up", "y", "--bar", "none")
            process = self.run_script(*view, *options, "--size", 400, 160, "-o", "p.png")
            low, high = map(float, process.stdout.split(" from ")[1].split(" to "))
            self.assertGreaterEqual(low, least)
            self.assertAlmostEqual(high, least + 24, delta=1.5)
            with Image.open(self.path("p.png")) as image:
                pixels = numpy.asarray(image.convert("RGB"), int)
            self.assertGreater(numpy.ptp(pixels[80, 60]), 30)
            self.assertLess(numpy.ptp(pixels[80, 350]), 5)

    def test_voxels_and_a_surface(self):
        self.ossatura("bone", "--generate", "perlin", "--size", "16", "--feature", "8", "-o", ".")
        name = next(name for name in self.files() if name.endswith(".hdf"))
        pixels = self.picture(name, "--cut", "y", "--smooth", 3, "--bar", "bottom")
        self.assertGreater(self.share(pixels), 0.1)
        self.assertGreater(len(numpy.unique(pixels.reshape(-1, 3), axis=0)), 100)
        self.ossatura("topopt", "cantilever", "--cells", "12x6x6", "--steps", "3", "--volume", "0.4",
                    "-o", ".")
        for arguments in (("cantilever.stl",), ("cantilever.stl", "--cut", "y"),
                          ("cantilever.hdf", "--where", "density", 0.5, 1)):
            self.assertGreater(self.share(self.picture(*arguments)), 0.1)

    def test_what_is_wrong_is_said(self):
        self.ossatura("pfem", "cube", "--cells", "1x1x1", "--order", "1", "-o", ".")
        self.refused("nowhere.hdf: there is no such file", "nowhere.hdf")
        self.refused("there is no field 'heat'; there is: displacement, ", "cube.hdf",
                     "--field", "heat")
        self.refused("say stress:xx", "cube.hdf", "--field", "stress")
        self.refused("is a field of points", "cube.hdf", "--lines", "von_mises")
        self.refused("is nowhere from 5 to 6", "cube.hdf", "--where", "element", 5, 6)
        self.refused("'w' is not an axis", "cube.hdf", "--cut", "w")
        self.refused("nothing is left behind the cut", "cube.hdf", "--cut", "x", -1)
        self.refused("must not be along --up", "cube.hdf", "--view", 0, 0, 1)
        self.refused("not an HDF5 file", self.write("text.hdf", "no"))
        self.refused("not a whole file of binary STL", self.write("part.stl", "solid x"))
        self.refused("is not a series", self.write("x.hdf.series", "{}"))


if __name__ == "__main__":
    driver_case.main()
