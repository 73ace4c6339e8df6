# SPDX-License-Identifier: Apache-2.0
"""Each call of `ossatura` that writes or reads a file fails once, in turn: the run ends with exit 5, what
stands under a final name is whole, and nothing else is left. So it is, with exit 4, where memory is not to be
had: at FAULT_POINTS places of each run (default 60), spread over it; 0: at every one, which takes an hour.
Needs the library of tests/faults."""
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys

import driver_case
from driver_case import BAD_FILE, DONE, UNAVAILABLE, DriverCase
from faults import metaimage, nifti

LIBRARY = os.path.abspath(sys.argv.pop(2))

SCENE = {"time_step": 0.01, "steps": 1, "gravity": [0, 0, -9.81],
         "objects": [{"name": "body", "mesh": {"hexa_box": {"cells": [1, 1, 1], "size": [1, 1, 1]}},
                      "material": {"young": 1e5, "poisson": 0.3},
                      "fixed": [{"box": [0, 0, 0, 0, 1, 1]}]}]}
# Name: arguments, and the step from one call that fails to the next
RUNS = {
    "bone": (1, "bone", "--generate", "cube", "--size", "2", "-o", ".", "--parosol-output", "p.h5",
             "--history", "h.csv"),
    # again into a file that is there: it is copied first
    "bone_again": (1, "bone", "--generate", "cube", "--size", "2", "--parosol-output", "p.h5"),
    "eikonal": (1, "eikonal", "--generate", "box:n=1", "--site", "point:0,0,0", "-o", ".",
                "--dat", "t.dat", "--igb", "t.igb"),
    "softbody": (1, "softbody", "s.json", "--checkpoint", "c.h5", "--history", "h.csv",
                 "--json", "s.summary.json"),
    "softbody_frames": (5, "softbody", "s.json", "--hdf", "f.hdf", "--vtk-every", "1"),
    "topopt": (1, "topopt", "cantilever", "--cells", "2x1x1", "--steps", "1", "-o", ".",
               "--checkpoint", "c.h5", "--stl", "s.stl", "--stl-level", "0.1"),
    "pfem": (1, "pfem", "cube", "--cells", "1x1x1", "--order", "1", "-o", "."),
}
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
    "softbody": (("softbody", "s.json", "--no-hdf", "--checkpoint", "c.h5"),
                 ("softbody", "s.json", "--no-hdf", "--steps", "2", "--resume", "c.h5",
                  "--json", "s.summary.json")),
    "topopt": (("topopt", "cantilever", "--cells", "2x1x1", "--no-hdf", "--no-stl", "--steps", "1",
                "--checkpoint", "c.h5"),
               ("topopt", "cantilever", "--cells", "2x1x1", "--no-hdf", "--no-stl", "--steps", "2",
                "--resume", "c.h5", "--json", "t.json")),
}
LISTS = ("files", "frames") # in a summary: shorter where one could not be written


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items()
                if "second" not in key and key not in LISTS}
    if isinstance(value, list):
        return [without_times(part) for part in value]
    return value


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


class FailingCalls(DriverCase):
    def run_once(self, arguments, **environment):
        """Runs in an empty directory, always of the same name, which is in the files; returns exit
        code, messages, files, and the name of the call that failed, or how many there were."""
        directory = self.path("run")
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
        with open(os.path.join(directory, "s.json"), "w") as file:
            json.dump(SCENE, file)
        for old in self.before:
            shutil.copy(old, directory)
        marker = self.path("marker")
        process = subprocess.run(
            [driver_case.EXECUTABLE, *arguments, "--backend", "serial", "-q"],
            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
            env={**os.environ, "OMP_NUM_THREADS": "1", # fast to start
                 "LD_PRELOAD": LIBRARY, "FAULT_MARKER": marker, **environment})
        failed = None
        if os.path.exists(marker):
            with open(marker) as file:
                failed = file.read()
            os.remove(marker)
        files = {}
        for found in os.listdir(directory):
            files[found] = bytes_of(os.path.join(directory, found))
        return process.returncode, process.stderr, files, failed

    def content(self, name, files):
        """What two runs agree in: of a summary, the results but for times and lists of files."""
        if name.endswith(".json"):
            return without_times(json.loads(files[name]).get("results") or {})
        return files[name]

    def check_list(self, name, files, reference, where):
        """A list has what is there: of a summary the files, of a series the frames."""
        listed = json.loads(files[name])
        if name.endswith(".series"):
            known = json.loads(reference[name])["files"]
            for frame in listed["files"]:
                self.assertIn(frame, known, where)
                self.assertIn(frame["name"], files, where)
        else:
            for path in (listed.get("results") or {}).get("files", []):
                self.assertIn(os.path.basename(path), files, where)

    def check(self, number, reference, result, start, failure=BAD_FILE):
        code, message, files, failed = result
        where = f"call {number} ({failed}): exit {code}, {message}"
        if code == DONE: # nothing was lost, as where the last close of a flushed file fails
            self.assertEqual(sorted(files), sorted(reference), where)
            for name in files:
                self.assertEqual(self.content(name, files), self.content(name, reference), where)
            return
        self.assertEqual(code, failure, where)
        self.assertRegex(message, "ossatura: (error: |out of memory)|warning: ", where)
        for name in files:
            self.assertIn(name, reference, where)
            if name.endswith(".csv"): # a history may be written as it goes
                self.assertTrue(reference[name].startswith(files[name]), f"{name}, {where}")
            elif name.endswith(".series"):
                self.check_list(name, files, reference, where)
            elif files[name] != start.get(name):
                found, expected = self.content(name, files), self.content(name, reference)
                if name.endswith(".json"): # what is known of a file that was lost is not there
                    self.check_list(name, files, reference, where)
                    expected = {key: expected[key] for key in expected if key in found}
                self.assertEqual(found, expected, f"{name}, {where}")

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
        count, points = int(count), int(os.environ.get("FAULT_POINTS", "60")) or int(count)
        self.assertGreater(count, 1000)
        for k in range(points):
            at = str(1 + k * count // points)
            self.check(at, reference, self.run_once(arguments, FAULT_KIND="memory", FAULT_AT=at), {}, UNAVAILABLE)

    def test_clocks_that_jump(self):
        self.before = ()
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
                               (("bone", "eikonal", "softbody", "topopt", "pfem"), "memory", memory_case)):
    for run in cases:
        setattr(FailingCalls, f"test_{kind}_{run}", make_case(run))

if __name__ == "__main__":
    driver_case.main()
