# SPDX-License-Identifier: Apache-2.0
"""The peak of the process that `--dry-run` predicts is within a quarter of the largest resident set
that the system sees in the run, on the serial backend."""
import json
import math
import os
import re
import subprocess

from support import driver_case
from support.driver_case import DONE, NOT_CONVERGED, UNAVAILABLE, DriverCase

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


def example(*path):
    return os.path.join(EXAMPLES, *path)


# By subcommand; short, because memory does not depend on the number of steps, nor on that of iterations.
CASES = {
    "bone": [
        (example("bone", "radius.mha"), "--law", "threshold", "--lower", "320"),
        (example("bone", "radius-labels.nii.gz"), "--law", "labels", "--labels",
         "1=17000:0.3,2=9000:0.35", "--test", "torsion"),
        ("--generate", "cube", "--size", "60,60,3"),
        ("--generate", "cube", "--size", "20,20,60", "--plate-depth", "29"),
        ("--generate", "perlin", "--size", "64", "--feature", "16", "--test", "homogenise"),
        ("--generate", "perlin", "--size", "48", "--feature", "16", "--test", "homogenise",
         "--boundary", "periodic", "--islands", "drop"),
    ],
    "eikonal": [
        (example("eikonal", "wall.pts"), "--velocities", example("eikonal", "tissues.json"),
         "--site", "vtx:" + example("eikonal", "endocardium.vtx")),
        ("--generate", "ventricles:h=2"),
        ("--generate", "ventricles:h=2", "--precision", "double", "--metric", "products"),
        ("--generate", "box:n=30", "--site", "vertices:0", "--method", "scan"),
        ("--generate", "slab:h=1"),
    ],
    "topopt": [
        (example("topopt", "cantilever.json"), "--steps", "1"),
        (example("topopt", "gripper.json"), "--steps", "1"),
        (example("topopt", "bridge.json"), "--steps", "1"),
        ("cantilever", "--cells", "2x1x1", "--steps", "1"),
        ("lbeam", "--cells", "24x8x24", "--steps", "1", "--operator", "csr"),
        ("cantilever", "--cells", "24x12x12", "--steps", "1", "--radius", "4", "--preconditioner",
         "jacobi"),
    ],
    "pfem": [
        (example("pfem", "laminate.json"),),
        (example("pfem", "pressure-vessel.json"),),
        (example("pfem", "stretch.json"),),
        ("distorted", "--cells", "6x6x6", "--order", "4"),
        ("distorted", "--cells", "4x4x4", "--order", "6"),
    ],
}


class Prediction(DriverCase):
    def peak(self, arguments):
        """Largest resident set of a run, in bytes, and its summary."""
        with open(self.path("out.json"), "w+") as out, open(self.path("log"), "w+") as log:
            process = subprocess.Popen([driver_case.EXECUTABLE, *arguments, "-q", "--backend",
                                        "serial", "--json", "-", "-o", "out"],
                                       cwd=self.directory.name, stdout=out, stderr=log)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            log.seek(0)
            self.assertIn(process.returncode, (DONE, NOT_CONVERGED), log.read())
            return 1024 * usage.ru_maxrss, json.load(out)

    def check(self, system):
        for arguments in CASES[system]:
            arguments = (system, *arguments)
            with self.subTest(arguments=arguments):
                _, plan = self.peak((*arguments, "--dry-run"))
                self.assertEqual(plan["status"], "dry run")
                predicted = plan["results"]["predicted_host_bytes"]
                taken, run = self.peak((*arguments, *(("--tolerance", "1e-2") if system in ("bone", "topopt") else ())))
                self.assertLess(abs(run["memory"]["host_peak_bytes"] / taken - 1), 0.05)
                self.assertLess(abs(predicted / taken - 1), 0.25,
                                f"{predicted / 1e6:.1f} MB predicted, {taken / 1e6:.1f} MB taken")

    def test_bone(self):
        self.check("bone")

    def test_generated_bone_that_no_machine_has_memory_for(self):
        """Before anything is made, with what a run would take."""
        for generator, more, image in (("cube", (), "TB"), ("sphere", (), "TB"), ("laminate", ("--layers", "5=1000"), "TB"),
                                       ("perlin", (), "TB")):
            for plan in (("--dry-run",), ()):
                with self.subTest(generator=generator, plan=plan):
                    done = self.fails(UNAVAILABLE, "are left: a smaller --size", "bone", "--generate", generator, "--size", "9000",
                                      *more, *plan)
                    taken = re.search(r"voxels take ([\d.]+) (TB) as an image, and a run about ([\d.]+) TB in all", done.stderr)
                    self.assertTrue(taken, done.stderr)
                    self.assertEqual(float(taken[1]), 2.92)  # four bytes each
                    # 43 bytes for each degree of freedom (docs/troubleshooting.md), of the bone there is.
                    bone = {"cube": 1, "sphere": math.pi / 6, "laminate": 1, "perlin": 0.2}[generator]
                    expected = 2.92 + 129 * bone * 9000**3 / 1e12
                    self.assertLess(abs(float(taken[3]) / expected - 1), 0.3, done.stderr)

    def test_bone_that_breaks(self):
        """Arrays alone, of which there are most where the levels of the multigrid are made anew."""
        arguments = ("bone", "--generate", "perlin", "--size", "32", "--fraction", "0.4", "--strength", "damage",
                     "--fracture-energy", "1", "--load-steps", "2")
        plan, run = self.peak((*arguments, "--dry-run"))[1], self.peak(arguments)[1]
        ratio = plan["results"]["predicted_device_bytes"] / run["memory"]["kokkos_peak_bytes"]
        self.assertTrue(1 <= ratio < 1.02, ratio)

    def test_eikonal(self):
        self.check("eikonal")

    def test_topopt(self):
        self.check("topopt")

    def test_pfem(self):
        self.check("pfem")


if __name__ == "__main__":
    driver_case.main()
