# SPDX-License-Identifier: Apache-2.0
"""Calls of the CUDA driver fail in turn, and for good: the device has no memory, or it is lost. The run ends
with exit 4, or had no need of the call and gives the same; what stands under a final name is whole. At
FAULT_POINTS places of each run (default 12), spread over it; 0: at every one. Needs the library of tests/faults
and a GPU."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support import driver_case
from support.driver_case import DONE, INTERNAL, UNAVAILABLE
from support.fault_case import RUNS, FaultCase

# CUresult: out of memory; unknown; an error of memory that cannot be corrected; at the last Kokkos aborts.
OUT_OF_MEMORY, UNKNOWN, UNCORRECTABLE, LAUNCH_FAILED = "2", "999", "214", "719"
FAULTS = {
    "without_memory_once": ("device_memory", OUT_OF_MEMORY, {}),
    "without_memory": ("device_memory", OUT_OF_MEMORY, {"FAULT_LASTING": "1"}),
    "in_doubt_once": ("device", UNKNOWN, {}),
    "lost": ("device", UNCORRECTABLE, {"FAULT_LASTING": "1"}),
    "crashed": ("device", LAUNCH_FAILED, {"FAULT_LASTING": "1"}),
}


class FailingDevice(FaultCase):
    backend = "cuda"

    def setUp(self):
        super().setUp()
        if "no GPU" in self.ossatura("bone", "--generate", "cube", "--size", "1", "--backend", "cuda", "-q",
                                     code=(DONE, UNAVAILABLE)).stderr:
            raise unittest.SkipTest("no GPU")


def case(run, kind, error, lasting):
    def test(self):
        arguments = RUNS[run][1:]
        code, message, reference, count = self.run_once(arguments, FAULT_KIND=kind)
        self.assertEqual(code, DONE, message)
        count = int(count)
        self.assertGreater(count, 10)
        points = int(os.environ.get("FAULT_POINTS", "12")) or count
        codes = {}
        for k in range(min(points, count)):
            at = str(1 + k * count // min(points, count))
            with self.subTest(at=at):
                result = self.run_once(arguments, FAULT_KIND=kind, FAULT_DEVICE_ERROR=error, FAULT_AT=at, **lasting)
                codes[result[0]] = codes.get(result[0], 0) + 1
                # The next kernel may read what one that was not started did not write.
                stray = result[0] == INTERNAL and "cudaErrorIllegalAddress" in result[1]
                self.check(at, reference, result, {}, INTERNAL if stray else UNAVAILABLE)
        print(f"{run}, {kind} {error}: {count} calls; exit codes", codes)
    return test


for each in RUNS:
    for fault, parameters in FAULTS.items():
        if each != "bone_again":
            setattr(FailingDevice, f"test_{each}_{fault}", case(each, *parameters))

if __name__ == "__main__":
    driver_case.main()
