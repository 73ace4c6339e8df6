# SPDX-License-Identifier: Apache-2.0
"""What the tests share in which one call of a run fails, by the library of tests/faults: the runs, and what may
come of them."""
import gzip
import json
import os
import shutil
import subprocess
import sys

from support import driver_case
from support.driver_case import BAD_FILE, DONE, DriverCase
from support.specimens import nifti_bytes

LIBRARY = os.path.abspath(sys.argv.pop(2))

SCENE = {"time_step": 0.01, "steps": 1, "gravity": [0, 0, -9.81],
         "objects": [{"name": "body", "mesh": {"hexa_box": {"cells": [1, 1, 1], "size": [1, 1, 1]}},
                      "material": {"young": 1e5, "poisson": 0.3},
                      "fixed": [{"box": [0, 0, 0, 0, 1, 1]}]}]}
# Name: arguments, and the step from one call that fails to the next
RUNS = {
    "bone": (1, "bone", "--generate", "cube", "--size", "2", "-o", ".", "--parosol-output", "p.h5",
             "--history", "h.csv"),
    "bone_mask": (2, "bone", "m.nii", "--mask", "m.nii", "--law", "labels", "--labels", "1=1000", "--no-hdf", "-o", "."),
    "bone_strength": (2, "bone", "--generate", "cube", "--size", "2", "--strength", "von-mises", "--strain", "-0.02",
                      "--load-steps", "2", "--no-hdf", "--curve", "f.csv", "--checkpoint", "c.h5", "--json", "s.json"),
    "bone_preview": (1, "bone", "--generate", "cube", "--size", "2", "--preview", "p.png"),
    # again into a file that is there: it is copied first
    "bone_again": (1, "bone", "--generate", "cube", "--size", "2", "--parosol-output", "p.h5"),
    # without filters
    "bone_plain": (2, "bone", "--generate", "cube", "--size", "2", "--hdf", "f.hdf", "--parosol-output", "p.h5",
                   "--compress", "none"),
    "eikonal": (1, "eikonal", "--generate", "box:n=1", "--site", "point:0,0,0", "-o", ".",
                "--dat", "t.dat", "--igb", "t.igb"),
    "softbody": (1, "softbody", "s.json", "--checkpoint", "c.h5", "--history", "h.csv",
                 "--json", "s.summary.json"),
    "softbody_frames": (5, "softbody", "s.json", "--hdf", "f.hdf", "--vtk-every", "1"),
    # frames by a thread of their own, beside a history; the checkpoint is that of the end, as in the run that is whole
    "softbody_series": (5, "softbody", "s.json", "--steps", "2", "-o", ".", "--vtk-every", "1", "--checkpoint", "c.h5"),
    "topopt_series": (5, "topopt", "cantilever", "--cells", "2x1x1", "--steps", "2", "-o", ".", "--vtk-every", "1",
                      "--no-stl", "--checkpoint", "c.h5", "--checkpoint-every", "2"),
    "topopt": (2, "topopt", "cantilever", "--cells", "2x1x1", "--steps", "1", "-o", ".",
               "--checkpoint", "c.h5", "--stl", "s.stl", "--stl-level", "0.1"),
    "pfem": (1, "pfem", "cube", "--cells", "1x1x1", "--order", "1", "-o", "."),
}
# Where two threads write at a time, which call is the n-th is open; of each thread it is not.
THREADS = {"softbody_series": ("main", "other"), "topopt_series": ("main", "other")}
TIMES = ("seconds", "prepare", "solve", "gradient", "update", "collect", "compress", "factor", "apply", "contact",
         "total") # columns of histories
LISTS = ("files", "frames") # in a summary: shorter where one could not be written


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items()
                if "second" not in key and key not in LISTS}
    if isinstance(value, list):
        return [without_times(part) for part in value]
    return value


def rows_without_times(content):
    """The whole rows of a history, less its columns of times."""
    rows = [line.split(",") for line in content.decode().split("\n")[:-1]]
    if not rows:
        return []
    kept = [i for i, name in enumerate(rows[0]) if name not in TIMES]
    return [[row[i] for i in kept] for row in rows]


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


class FaultCase(DriverCase):
    backend = "serial"
    before = () # files that are copied into the directory of each run

    def run_once(self, arguments, **environment):
        """Runs in an empty directory, always of the same name, which is in the files; returns exit
        code, messages, files, and the name of the call that failed, or how many there were."""
        directory = self.path("run")
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
        with open(os.path.join(directory, "s.json"), "w") as file:
            json.dump(SCENE, file)
        with open(os.path.join(directory, "m.nii"), "wb") as file:
            file.write(gzip.decompress(nifti_bytes((2, 2, 2), 1, "h", [1] * 8)))
        for old in self.before:
            shutil.copy(old, directory)
        marker = self.path("marker")
        process = subprocess.run(
            [driver_case.EXECUTABLE, *arguments, "--backend", self.backend, "-q"],
            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
            env={name: value for name, value in {
                **os.environ, "OMP_NUM_THREADS": "1", # fast to start
                "LD_PRELOAD": LIBRARY, "FAULT_MARKER": marker, **environment}.items() if value is not None})
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
        if name.endswith(".csv"):
            return rows_without_times(files[name])
        return files[name]

    def check_list(self, name, files, reference, where):
        """A list has what is there: of a summary the files, of a series the frames."""
        listed = json.loads(files[name])
        if name.endswith(".series"):
            known = json.loads(reference[name])["files"]
            for frame in listed["files"]:
                self.assertIn(frame, known, where)
                self.assertIn(frame["name"], sorted(files), where)
        else:
            for path in (listed.get("results") or {}).get("files", []):
                self.assertIn(os.path.basename(path), sorted(files), where)

    def check(self, number, reference, result, start, failure=BAD_FILE):
        code, message, files, failed = result
        where = f"call {number} ({failed}): exit {code}, {message}"
        if code == DONE: # nothing was lost, as where the last close of a flushed file fails
            self.assertEqual(sorted(files), sorted(reference), where)
            for name in files:
                self.assertEqual(self.content(name, files), self.content(name, reference), where)
            return
        self.assertEqual(code, failure, where)
        self.assertRegex(message, "ossatura: (error: |internal error: |out of memory)|warning: ", where)
        for name in files:
            self.assertIn(name, sorted(reference), where)
            if name.endswith(".csv"): # a history may be written as it goes
                rows = self.content(name, files)
                self.assertEqual(rows, self.content(name, reference)[:len(rows)], f"{name}, {where}")
            elif name.endswith(".series"):
                self.check_list(name, files, reference, where)
            elif files[name] != start.get(name):
                found, expected = self.content(name, files), self.content(name, reference)
                if name.endswith(".json"): # what is known of a file that was lost is not there
                    self.check_list(name, files, reference, where)
                    expected = {key: expected[key] for key in expected if key in found}
                self.assertEqual(found, expected, f"{name}, {where}")
