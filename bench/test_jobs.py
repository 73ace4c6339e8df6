#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The group `jobs` of ossatura_bench: its rows are runs of ossatura, and what goes wrong in these fails them.

    bench/test_jobs.py OSSATURA_BENCH BACKEND

Ends with 4 where ossatura_bench does, for want of a GPU.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

program = os.path.abspath(sys.argv.pop(1))
BACKEND = sys.argv.pop(1)
PARTS = ("start_s", "read_s", "setup_s", "solve_s", "statistics_s", "write_s", "other_s")
LARGE = tuple(f"jobs/{system}/{BACKEND}/{name}" for system, name in (
    ("bone", "perlin:550"), ("bone", "perlin-no-fields:550"), ("bone", "homogenise-periodic:200"),
    ("eikonal", "ventricles:36"),
    ("topopt", "cantilever:120"), ("topopt", "cantilever:494"), ("softbody", "raptor:1000")))
SPHERE = f"jobs/bone/{BACKEND}/sphere:32"
# Stands in for ossatura: finds its folder, and writes a summary with what SUMMARY changes in it.
CHILD = """#!/usr/bin/env python3
import json, os, signal, sys
folder = sys.argv[sys.argv.index("--output-dir") + 1]
summary = {"status": "converged", "iterations": 3, "memory": {"host_peak_bytes": 1, "kokkos_peak_bytes": 1},
           "certificate": {"passed": True, "checks": [{"name": "residual", "passed": True}], "files": []},
           "timings": {"fenced": True, "regions": [{"name": "ossatura::bone::solve", "depth": 0, "seconds": 1e-3}]}}
"""
WRITE = """
os.mkdir(folder)
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    json.dump(summary, file)
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("tmp"))
        self.environment = {**os.environ, "TMPDIR": self.path("tmp")}
        self.environment.pop("OSSATURA_SHARED_DATA", None)

    def path(self, name):
        return os.path.join(self.folder, name)

    def bench(self, *arguments, code=0, of=program):
        process = subprocess.run([of, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env=self.environment, timeout=250)
        if process.returncode == 4:
            sys.exit(4)
        self.assertEqual(process.returncode, code, process.stdout)
        self.assertEqual(os.listdir(self.path("tmp")), [])  # each run's folder is gone
        return process.stdout

    def rows(self, *arguments):
        return self.bench("list", "jobs", "--rows", f"--backends={BACKEND}", *arguments).split()

    def test_large_rows_are_of_the_full_extent(self):
        quick, own, full = self.rows("--quick"), self.rows(), self.rows("--full")
        self.assertEqual(len(own), len(set(own)))
        self.assertLess(set(quick), set(own))
        self.assertLess(set(own), set(full))
        self.assertEqual(set(full) - set(own), set(LARGE))
        self.assertEqual({row.split("/")[1] for row in quick}, {"bone", "eikonal", "softbody", "topopt", "pfem"})
        self.assertGreaterEqual(len(quick), 12)

    def test_parts_make_up_the_time(self):
        path = self.path("jobs.json")
        self.bench("run", "jobs", "--quick", f"--backends={BACKEND}", f"--output={path}")
        with open(path, encoding="utf-8") as file:
            runs = json.load(file)["benchmarks"]
        self.assertEqual(len(runs), len(self.rows("--quick")))
        for run in runs:
            with self.subTest(row=run["name"]):
                self.assertFalse(run.get("error_occurred"), run)
                self.assertAlmostEqual(sum(run[part] for part in PARTS), 1e-3 * run["real_time"], places=6)
                for part in PARTS:
                    self.assertGreaterEqual(run[part], 0, part)
                self.assertEqual(run["other_s"], 0)  # every region is of a part: bench/jobs/job_summary.cpp
                self.assertGreater(run["solve_s"], 0)
                self.assertGreater(run["start_s"], 0)
                self.assertGreater(run["cpu_s"], 0)
                self.assertGreater(run["host_peak_bytes"], 1e6)
                self.assertGreater(run["file_bytes"], 1e3)

    def test_what_is_not_here_is_skipped(self):
        output = self.bench("run", f"jobs/bone/{BACKEND}/tibia", "--quick", code=2)
        self.assertIn("no group and no row", output)
        self.environment["OSSATURA_SHARED_DATA"] = self.folder
        output = self.bench("run", f"jobs/bone/{BACKEND}/tibia", "--min-time=0")
        self.assertIn(f"skipped: there is no {self.folder}/bone/tibia.h5", output)

    def test_an_executable_is_looked_for_beside(self):
        alone = self.path("ossatura_bench")
        try:
            os.link(program, alone)
        except OSError:
            shutil.copy(program, alone)
        output = self.bench("run", SPHERE, "--quick", of=alone)
        self.assertIn("skipped: there is no ossatura beside ossatura_bench: give --executable", output)
        beside = os.path.join(os.path.dirname(program), "ossatura")
        output = self.bench("run", SPHERE, "--quick", f"--executable={beside}", of=alone)
        self.assertIn("solve_s=", output)
        for wrong in (self.path("none"), self.folder, __file__ + "x"):
            self.assertIn("is no file that can be executed",
                          self.bench("run", SPHERE, f"--executable={wrong}", code=2))

    def child(self, change):
        child = self.path("child")
        with open(child, "w", encoding="utf-8") as file:
            file.write(CHILD + change + WRITE)
        os.chmod(child, 0o700)
        return child

    def run_child(self, change="", code=1):
        """The row's line where this runs in place of ossatura."""
        lines = self.bench("run", SPHERE, "--quick", f"--backends={BACKEND}", f"--executable={self.child(change)}",
                           code=code).splitlines()
        return [line for line in lines if line.startswith(SPHERE)][0]

    def test_a_child_that_fails_fails_its_row(self):
        self.assertIn("solve_s=0.001", self.run_child(code=0))
        for change, message in (
                ("print('no\\nsuch bone', file=sys.stderr); sys.exit(3)", "ossatura ended with exit code 3: such bone"),
                ("os.kill(os.getpid(), signal.SIGKILL)", "ossatura ended with signal 9"),
                ("os._exit(0)", "but there is no summary"),
                ("summary['status'] = 'not converged'", "but its status is 'not converged'"),
                ("summary['certificate']['checks'][0]['passed'] = False", "but the check 'residual' of its"),
                ("summary['certificate']['checks'] = []", "but its certificate has no checks"),
                ("summary['certificate']['passed'] = False", "but its certificate did not pass"),
                ("summary['certificate']['files'] = [{'file': 'x.hdf', 'bytes': 5}]", "but its file x.hdf is not"),
                ("summary['timings']['fenced'] = False", "did not wait for the device"),
                ("summary['timings']['regions'] = []", "no timed regions"),
                ("del summary['certificate']", "certificate")):
            with self.subTest(change=change):
                line = self.run_child(change)
                self.assertIn("FAILED: ", line)
                self.assertIn(message, line)

    def test_a_large_row_is_for_machines_with_its_memory(self):
        """All in one run, as measuring the ceilings takes longer than these rows; a word of its own tells each child
        which row it is of."""
        predict = "summary['results'] = {'predicted_host_bytes': %s, 'predicted_device_bytes': 1e3}"
        only_dry = "if '--dry-run' in sys.argv: "
        rows = {
            f"jobs/bone/{BACKEND}/perlin:550": ("550", predict % "1e6", "solve_s="),
            f"jobs/bone/{BACKEND}/homogenise-periodic:200":
                ("200", predict % "3e17", "skipped: does not fit: takes 300000000.0 GB of "),
            f"jobs/eikonal/{BACKEND}/ventricles:36":
                ("ventricles:h=0.36", only_dry + "sys.exit(4)", "skipped: does not fit: its dry run ended with exit code 4"),
            f"jobs/topopt/{BACKEND}/cantilever:120":
                ("120x60x60", only_dry + "sys.exit(5)", "FAILED: its dry run ended with exit code 5"),
            f"jobs/topopt/{BACKEND}/cantilever:494":
                ("494x247x247", predict % "1e6" + "\n    if '--dry-run' not in sys.argv: sys.exit(4)",
                 "FAILED: ossatura ended with exit code 4")}
        self.assertLess(set(rows), set(LARGE))
        change = "".join(f"if {word!r} in sys.argv:\n    {what}\n" for word, what, _ in rows.values())
        output = self.bench("run", *rows, f"jobs/bone/{BACKEND}/tibia", "--full", "--min-time=0",
                            f"--executable={self.child(change)}", code=1)
        for row, (_, _, message) in rows.items():
            self.assertRegex(output, f"(?m)^{row}.*{message}")
        self.assertIn("skipped: OSSATURA_SHARED_DATA is not set", output)

    def test_the_child_has_no_shell_and_all_processors(self):
        """Whatever OpenMP does with the first thread of ossatura_bench."""
        self.environment["OMP_PROC_BIND"] = "spread"
        line = self.run_child(f"assert len(os.sched_getaffinity(0)) == {len(os.sched_getaffinity(0))}\n"
                              "assert 'OMP_PROC_BIND' not in os.environ\n"
                              "assert sys.stdin.read() == ''\n"
                              "assert sys.argv[1:7] == ['bone', '--generate', 'sphere', '--size', '32', '--backend']\n",
                              code=0)
        self.assertIn("solve_s=", line)


if __name__ == "__main__":
    unittest.main()
