# SPDX-License-Identifier: Apache-2.0
"""In a control group without enough memory, as in a container or a batch job, a run ends with exit 4 and leaves
no file half written; the kernel does not kill it. Needs the right to make control groups: skipped without."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support import driver_case
from support.driver_case import DONE, UNAVAILABLE, DriverCase

MEMORY = "/sys/fs/cgroup/memory" # version 1; version 2 has one folder for all
VERSION_1 = os.path.isdir(MEMORY)
PARENT = MEMORY if VERSION_1 else "/sys/fs/cgroup"
LIMIT = "memory.limit_in_bytes" if VERSION_1 else "memory.max"


class MemoryLimit(DriverCase):
    def setUp(self):
        super().setUp()
        if "CUDA" in self.ossatura("--version").stdout:
            raise unittest.SkipTest("builds with CUDA set no limit")
        self.group = os.path.join(PARENT, f"ossatura-test-{os.getpid()}")
        try:
            os.mkdir(self.group)
        except OSError as error:
            raise unittest.SkipTest(f"no control group can be made: {error}")
        self.addCleanup(os.rmdir, self.group)
        if not os.path.exists(os.path.join(self.group, LIMIT)):
            raise unittest.SkipTest("no control group for memory can be made")

    def limited(self, megabytes, *arguments):
        with open(os.path.join(self.group, LIMIT), "w") as file:
            file.write(str(megabytes << 20))
        join = f'echo $$ > {self.group}/cgroup.procs && exec "$@"'
        return subprocess.run(["sh", "-c", join, "sh", driver_case.EXECUTABLE, *arguments, "-o", f"out{megabytes}"],
                              cwd=self.directory.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120)

    def refused_then_done(self, limits, *arguments):
        codes = []
        for megabytes in limits:
            run = self.limited(megabytes, *arguments)
            self.assertIn(run.returncode, (DONE, UNAVAILABLE), f"{megabytes} MB: {run.stderr}")
            if run.returncode == UNAVAILABLE:
                self.assertIn("out of memory", run.stderr)
                self.assertRegex(run.stderr, r"the control group of this process left it \d+ MB")
            folder = self.path(f"out{megabytes}")
            left = os.listdir(folder) if os.path.isdir(folder) else []
            self.assertEqual([name for name in left if name.startswith(".")], [])
            codes.append(run.returncode)
        self.assertEqual(codes[0], UNAVAILABLE)
        self.assertEqual(codes[-1], DONE)
        self.assertEqual(codes, sorted(codes, reverse=True))

    def test_bone(self):
        self.refused_then_done((24, 32, 48, 64, 96, 400), "bone", "--generate", "cube", "--size", "40", "-q")

    def test_eikonal(self):
        self.refused_then_done((24, 48, 96, 192, 800), "eikonal", "--generate", "box:n=40", "--site", "point:0,0,0",
                               "-q")

    def test_topopt(self):
        self.refused_then_done((24, 48, 96, 400), "topopt", "cantilever", "--cells", "24x12x12", "--steps", "2", "-q")


if __name__ == "__main__":
    driver_case.main()
