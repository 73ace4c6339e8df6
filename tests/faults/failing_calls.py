# SPDX-License-Identifier: Apache-2.0
"""Each call of `ossatura` that writes or reads a file fails once, in turn: the run ends with exit 5, what
stands under a final name is whole, and nothing else is left. So it is, with exit 4, where memory is not to be
had: at FAULT_POINTS places of each run (default 40), spread over it; 0: at every one, which takes an hour.
Needs the library of tests/faults."""
import gzip
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support import driver_case
from support.driver_case import DONE, UNAVAILABLE
from support.fault_case import RUNS, THREADS, FaultCase, bytes_of
from damaged_files import metaimage, nifti

# Read: what is there beside the scene, and arguments.
TETRAHEDRON = {"m.pts": b"4\n0 0 0\n1000 0 0\n0 1000 0\n0 0 1000\n", "m.elem": b"1\nTt 0 1 2 3 1\n",
               "m.lon": b"1\n1 0 0\n", "s.vtx": b"1\nintra\n0\n"}
IMAGE = ("--law", "threshold", "--lower", "500", "--modulus", "1000", "--test", "axial", "-o", ".")
INPUTS = {
    "nifti": ({"i.nii.gz": gzip.compress(nifti([1000] * 64), mtime=0)}, "bone", "i.nii.gz", *IMAGE),
    "metaimage": ({"i.mha": metaimage(struct.pack("<64h", *[1000] * 64))}, "bone", "i.mha", *IMAGE),
    "opencarp": (TETRAHEDRON, "eikonal", "m", "--site", "vtx:s.vtx",
                 "--velocity", "0.6,0.3,0.2", "-o", "."),
    "scene": ({}, "softbody", "s.json", "--json", "s.summary.json"),
}
STATES = { # made by the first, read by the second
    "bone": (("bone", "--generate", "cube", "--size", "2", "--strength", "von-mises", "--load-steps", "1", "--strain",
              "-0.01", "--checkpoint", "c.h5"),
             ("bone", "--generate", "cube", "--size", "2", "--strength", "von-mises", "--load-steps", "2", "--strain",
              "-0.02", "--no-hdf", "--resume", "c.h5", "--json", "s.summary.json")),
    "softbody": (("softbody", "s.json", "--no-hdf", "--checkpoint", "c.h5"),
                 ("softbody", "s.json", "--no-hdf", "--steps", "2", "--resume", "c.h5",
                  "--json", "s.summary.json")),
    "topopt": (("topopt", "cantilever", "--cells", "2x1x1", "--no-hdf", "--no-stl", "--steps", "1",
                "--checkpoint", "c.h5"),
               ("topopt", "cantilever", "--cells", "2x1x1", "--no-hdf", "--no-stl", "--steps", "2",
                "--resume", "c.h5", "--json", "t.json")),
}


class FailingCalls(FaultCase):
    def each_call_fails(self, arguments, step=1, before=(), **environment):
        self.before = before
        code, message, reference, count = self.run_once(arguments, **environment)
        self.assertEqual(code, DONE, message)
        _, _, again, _ = self.run_once(arguments)
        for name in reference:
            self.assertEqual(self.content(name, again), self.content(name, reference), name)
        start = {os.path.basename(old): bytes_of(old) for old in before}
        lasting = 20
        if os.environ.get("FAULT_POINTS") == "0":
            step = lasting = 1
        numbers = [(n, {}) for n in range(1, int(count) + 1, step)]
        # and as if the disk stayed full
        numbers += [(n, {"FAULT_LASTING": "1"}) for n in range(1, int(count) + 1, lasting)]
        self.assertGreater(len(numbers), 2)

        for number, more in numbers:
            self.check(number, reference,
                       self.run_once(arguments, FAULT_AT=str(number), **more, **environment), start)

    def memory_fails(self, arguments):
        self.before = ()
        code, message, reference, count = self.run_once(arguments, FAULT_KIND="memory")
        self.assertEqual(code, DONE, message)
        count, points = int(count), int(os.environ.get("FAULT_POINTS", "40")) or int(count)
        self.assertGreater(count, 1000)
        for k in range(points):
            at = str(1 + k * count // points)
            start = {} if k else {"GLIBC_TUNABLES": None} # before it starts itself again
            result = self.run_once(arguments, FAULT_KIND="memory", FAULT_AT=at, FAULT_END_MS="20", **start)
            self.check(at, reference, result, {}, UNAVAILABLE)

    def test_clocks_that_jump(self):
        for name, (_, *arguments) in RUNS.items():
            with self.subTest(run=name):
                _, _, reference, _ = self.run_once(arguments)
                code, message, files, _ = self.run_once(arguments, FAULT_KIND="clock")
                self.assertEqual(code, DONE, message)
                self.assertEqual(sorted(files), sorted(reference))
                for file in files: # HDF5 files have times of their objects, histories how long a step took
                    if not file.endswith((".hdf", ".h5", ".csv")):
                        self.assertEqual(self.content(file, files), self.content(file, reference), file)


def case(name):
    def test(self):
        step, *arguments = RUNS[name]
        for thread in THREADS.get(name, ()):
            with self.subTest(thread=thread):
                self.each_call_fails(arguments, step, FAULT_THREAD=thread)
        if name in THREADS:
            return
        before = ()
        if name == "bone_again":
            self.before = ()
            code, message, files, _ = self.run_once(arguments)
            self.assertEqual(code, DONE, message)
            before = (self.write("p.h5", files["p.h5"]),)
        self.each_call_fails(arguments, step, before)
    return test


def reading_case(name):
    def test(self):
        files, *arguments = INPUTS[name]
        self.each_call_fails(arguments, 1, [self.write(*file) for file in files.items()], FAULT_KIND="read")
    return test


def resuming_case(name):
    def test(self):
        make, go_on = STATES[name]
        self.before = ()
        code, message, files, _ = self.run_once(make)
        self.assertEqual(code, DONE, message)
        self.each_call_fails(go_on, 1, [self.write("c.h5", files["c.h5"])], FAULT_KIND="read")
    return test


def memory_case(name):
    return lambda self: self.memory_fails(RUNS[name][1:])


for cases, kind, make_case in ((RUNS, "writing", case), (INPUTS, "reading", reading_case),
                               (STATES, "resuming", resuming_case),
                               (("bone", "eikonal", "softbody", "softbody_series", "topopt", "topopt_series", "pfem"),
                                "memory", memory_case)):
    for run in cases:
        setattr(FailingCalls, f"test_{kind}_{run}", make_case(run))

if __name__ == "__main__":
    driver_case.main()
