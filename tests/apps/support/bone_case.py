# SPDX-License-Identifier: Apache-2.0
"""Cases and specimens of `ossatura bone` that several tests have."""
from support import driver_case
from support.driver_case import BAD_FILE, DONE, DriverCase

E, NU = 1000.0, 0.3
LAMBDA = E * NU / ((1 + NU) * (1 - 2 * NU))
MU = E / (2 * (1 + NU))
CUBE = ("--generate", "cube", "--size", "6,8,10", "--spacing", "0.5", "--modulus", E, "--poisson",
        NU, "--tolerance", "1e-10")
AREA, HEIGHT = 3.0 * 4.0, 5.0  # mm2 across z, mm along z


class BoneCase(DriverCase):
    def on_each_backend(self, *arguments, code=DONE):
        """(backend, summary) of the run on each backend."""
        for backend in driver_case.backends():
            with self.subTest(backend=backend):
                yield backend, self.summary("bone", *arguments, "--backend", backend, "-q",
                                            code=code)


class Images(BoneCase):
    """Specimens from voxels that a test sets one by one."""

    def raw(self, shape, solid, name="x.raw", value=1):
        """The image whose voxels (x, y, z) are bone where solid(x, y, z), as arguments."""
        nx, ny, nz = shape
        voxels = bytes(value if solid(x, y, z) else 0
                       for z in range(nz) for y in range(ny) for x in range(nx))
        self.write(name, voxels)
        return (name, "--shape", f"{nx},{ny},{nz}", "--type", "uint8", "--spacing", "0.5", "--law",
                "threshold", "--lower", "1", "--modulus", E, "--poisson", NU, "--backend", "serial")

    def codes(self, run):
        return [warning["code"] for warning in run["warnings"]]

    def refused(self, message, *arguments):
        return self.fails(BAD_FILE, message, "bone", *arguments, "-q", "--json", "s.json")
