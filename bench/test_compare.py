#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py on results made by hand: what is a regression, what is noise, what it ends with."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare.py")


def repetitions(name, times, **counters):
    suffix = f"/iterations:1/repeats:{len(times)}/manual_time"
    return [dict({"name": name + suffix, "run_type": "iteration", "real_time": time,
                  "time_unit": "ms"}, **counters) for time in times]


def failed(name, message):
    return [{"name": name, "run_type": "iteration", "error_occurred": True,
             "error_message": message, "real_time": 0.0, "time_unit": "ms"}]


OLD = [
    *repetitions("steady", [10.0, 10.1, 9.9]),
    *repetitions("noisy", [10.0, 13.0, 8.0]),
    *repetitions("slower", [10.0, 10.1, 9.9]),
    *repetitions("faster", [10.0, 10.1, 9.9]),
    *repetitions("once", [10.0]),
    *repetitions("rate", [1.0, 1.0, 1.0], **{"dofs/s": 100.0}),
]
NEW = [
    *repetitions("steady", [10.1, 10.2, 10.0]),  # 1 % slower: below the least noise
    *repetitions("noisy", [12.0, 15.0, 9.0]),  # 20 % slower, and so are its repetitions apart
    *repetitions("slower", [12.0, 12.1, 11.9]),
    *repetitions("faster", [5.0, 5.1, 4.9]),
    *repetitions("once", [10.2]),
    *repetitions("rate", [1.0, 1.0, 1.0], **{"dofs/s": 50.0}),
]


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, benchmarks, **more):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"context": {"git": "a"}, "benchmarks": benchmarks, **more}, file)
        return path

    def compare(self, old, new, *flags):
        result = subprocess.run(
            [sys.executable, COMPARE, self.write("old.json", old), self.write("new.json", new),
             *flags], capture_output=True, text=True, check=False)
        lines = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line}
        return result, lines

    def test_flags_what_is_beyond_the_noise_alone(self):
        result, lines = self.compare(OLD, NEW)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(lines["slower"][3:], ["0.833", "0.039", "REGRESSION"])
        self.assertEqual(lines["faster"][-1], "better")
        self.assertEqual(lines["steady"][3:], ["0.990", "0.042"])
        # Deviations 0.2 of 10 and 0.25 of 12: noise 3 hypot(0.2, 0.25).
        self.assertEqual(lines["noisy"][3:], ["0.833", "0.960"])
        self.assertEqual(lines["once"][3:], ["0.980", "0.030"])
        self.assertIn("6 rows: 1 regressions, 1 better, 4 within the noise; 0 failed",
                      result.stdout)

    def test_ends_with_1_on_a_regression_if_asked(self):
        self.assertEqual(self.compare(OLD, NEW, "--fail-on-regression")[0].returncode, 1)
        within = ["--fail-on-regression", "--filter", "^(steady|noisy|once|faster|rate)$"]
        self.assertEqual(self.compare(OLD, NEW, *within)[0].returncode, 0)

    def test_worse_knows_no_noise(self):
        self.assertEqual(self.compare(OLD, NEW, "--filter", "noisy", "--worse", "0.9")[0].returncode,
                         1)
        self.assertEqual(self.compare(OLD, NEW, "--filter", "noisy", "--worse", "0.8")[0].returncode,
                         0)

    def test_of_a_rate_more_is_better(self):
        result, lines = self.compare(OLD, NEW, "--counter", "dofs/s", "--fail-on-regression")
        self.assertEqual(lines["rate"][3], "0.500")
        self.assertEqual(result.returncode, 1)

    def test_of_a_cost_less_is_better(self):
        for counter in ("wall_s", "solve_us", "recorded_ms", "kokkos_peak_bytes", "newton_iterations", "p90_us", "ms/set",
                        "peak_bytes/dof", "energy_error", "ms_10000", "products", "setup_s"):
            with self.subTest(counter=counter):
                old, new = (repetitions("row", [1.0], **{counter: value}) for value in (10.0, 5.0))
                result, lines = self.compare(old, new, "--counter", counter, "--fail-on-regression")
                self.assertEqual((lines["row"][3], result.returncode), ("2.000", 0))
                self.assertEqual(self.compare(new, old, "--counter", counter, "--fail-on-regression")[0].returncode, 1)

    def test_counters_that_are_neither_cost_nor_rate_are_refused(self):
        for counter in ("levels", "dofs", "volume", "flops/byte"):
            row = repetitions("row", [1.0], **{counter: 10.0})
            result, _ = self.compare(row, row, "--counter", counter)
            self.assertEqual(result.returncode, 2, counter)
            self.assertIn(f"--counter {counter}: is neither a cost", result.stderr)

    def test_rows_that_an_interrupted_run_lacks_are_no_success(self):
        old, new = self.write("old.json", OLD), self.write("new.json", OLD[:3], status="interrupted",
                                                           rows={"planned": 6, "done": 1})
        for flags, code in (([], 0), (["--fail-on-regression"], 1), (["--worse", "0.5"], 1),
                            (["--fail-on-regression", "--filter", "steady"], 0)):
            result = subprocess.run([sys.executable, COMPARE, old, new, *flags], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn("new.json: interrupted, 1 of 6 rows", result.stderr)

    def test_a_failed_row_is_a_regression_and_a_skipped_one_is_not(self):
        new = failed("steady", "the operators differ") + failed("once", "skipped: does not fit")
        result, _ = self.compare(OLD, new + NEW[6:], "--fail-on-regression", "--filter",
                                 "^(steady|once|faster)$")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed in new: steady: the operators differ", result.stdout)
        self.assertNotIn("once:", result.stdout)

    def test_refuses_what_is_no_result(self):
        path = os.path.join(self.folder, "other.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[]")
        result = subprocess.run([sys.executable, COMPARE, path, path], capture_output=True,
                                text=True, check=False)
        self.assertEqual(result.returncode, 5)
        self.assertIn("other.json", result.stderr)

    def test_refuses_files_without_a_common_row(self):
        result, _ = self.compare(OLD[:1], repetitions("other", [1.0]))
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
