#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run of ossatura_bench that SIGTERM ends: the rows so far are in a whole file.

    bench/test_interruption.py OSSATURA_BENCH BACKEND WORK_DIR

Ends with 4 where ossatura_bench does, for want of a GPU.
"""

import json
import os
import signal
import subprocess
import sys
import unittest

program, backend, folder = (sys.argv.pop(1) for _ in range(3))
REPETITIONS = 2


class Interruption(unittest.TestCase):
    def test_sigterm_keeps_the_rows_so_far(self):
        path = os.path.join(folder, "interrupted.json")
        if os.path.exists(path):
            os.remove(path)
        # Each row takes 0.6 s, and there are at least eight.
        process = subprocess.Popen(
            [program, "run", "voxel_apply", "voxel_residual", "--quick", f"--backends={backend}",
             "--min-time=0.3", f"--repetitions={REPETITIONS}", f"--output={path}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expected = running = None
        for line in process.stdout:
            if " rows take about " in line:
                expected = line
            if line.startswith("voxel_apply/"):  # the first row has ended, the second runs
                with open(path, encoding="utf-8") as file:
                    running = json.load(file)
                process.send_signal(signal.SIGTERM)
                break
        output, error = process.communicate(timeout=120)
        if process.returncode == 4:
            sys.exit(4)
        self.assertEqual(process.returncode, 75, output + error)
        self.assertIsNotNone(expected, output)
        self.assertEqual(running["status"], "running")

        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual(result["status"], "interrupted")
        rows = result["rows"]
        self.assertEqual(rows["planned"], running["rows"]["planned"])
        self.assertGreaterEqual(rows["planned"], 8)
        self.assertTrue(1 <= rows["done"] <= 3, rows)
        runs = [run for run in result["benchmarks"] if run["run_type"] == "iteration"]
        self.assertEqual(len(runs), REPETITIONS * rows["done"])  # the last row is whole
        self.assertFalse([run for run in runs if run.get("error_occurred")])
        self.assertIn(f"{rows['planned'] - rows['done']} of {rows['planned']} rows did not run",
                      error)
        self.assertEqual([name for name in os.listdir(folder) if name.startswith("interrupted.json.")],
                         [])


if __name__ == "__main__":
    unittest.main()
