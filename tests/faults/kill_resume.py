# SPDX-License-Identifier: Apache-2.0
"""Runs of softbody, in contact, and of topopt are killed at random instants and go on from their last
checkpoint, again and again until they end: with the bits of the run that nobody killed, and nothing else left.
KILLS says how many times each (default 10)."""
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps"))
from support import driver_case, hdf5_values
from support.driver_case import DONE, USAGE, DriverCase

# A block that falls on a table, slides and stays.
SCENE = {"time_step": 0.01, "steps": 40, "gravity": [2, 0, -9.81],
         "obstacles": [{"plane": {"point": [0, 0, -0.02], "normal": [0, 0, 1], "friction": 0.1}}],
         "objects": [{"name": "block", "mesh": {"hexa_box": {"cells": [3, 3, 2], "size": [1, 1, 0.5]}},
                      "density": 1000, "material": {"young": 1e6, "poisson": 0.3}}]}


class KillAndResume(DriverCase):
    def start(self, arguments):
        return subprocess.Popen([driver_case.EXECUTABLE, *arguments, "--backend", "serial", "-q"],
                                cwd=self.directory.name, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def survives(self, arguments, result):
        killed, resumed = self.kill_and_resume(arguments, result, int(os.environ.get("KILLS", "10")))
        self.assertGreater(resumed, killed // 4)

    def kill_and_resume(self, arguments, result, kills):
        """`result` is of a summary what has to be equal to the last bit. Returns how often the run was killed, and resumed."""
        arguments += ["--json", "r.json", "--checkpoint", "c.h5", "--checkpoint-every", "1"]
        begin, whole = time.monotonic(), self.start(arguments)
        while whole.poll() is None and not os.path.exists(self.path("c.h5")):
            time.sleep(0.002)
        start = time.monotonic() - begin # seconds, on a GPU, in which there is nothing to lose
        _, message = whole.communicate(timeout=600)
        self.assertEqual(whole.returncode, DONE, message)
        seconds, files, expected = time.monotonic() - begin, self.files(), result(json.loads(self.read("r.json")))
        killed, resumed, choose = 0, 0, random.Random(11)
        while killed < kills:
            for name in ("c.h5", "r.json"):
                os.remove(self.path(name))
            code, in_a_row = None, 0
            while code != DONE:
                goes_on = os.path.exists(self.path("c.h5"))
                resumed += goes_on
                process = self.start(arguments + (["--resume", "c.h5"] if goes_on else []))
                try: # with more time after each kill: the machine may be slower than it was
                    earliest = choose.choice((0, 0.9 * start))
                    _, message = process.communicate(
                        timeout=choose.uniform(earliest, (1.3 + in_a_row / 5) * seconds))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    killed, in_a_row = killed + 1, in_a_row + 1
                    continue
                code = process.returncode
                if code == USAGE: # killed after its last checkpoint, before its summary
                    self.assertIn("is done already", message)
                    os.remove(self.path("c.h5"))
                else:
                    self.assertEqual(code, DONE, message)
            self.assertEqual(result(json.loads(self.read("r.json"))), expected)
            self.assertEqual(self.files(), files)
        return killed, resumed

    def test_softbody_in_contact(self):
        self.write("s.json", json.dumps(SCENE))

        def result(summary):
            self.assertGreater(summary["results"]["steps"]["contacts"][-1], 0)
            return summary["results"]["state_hash"], summary["results"]["objects"]
        self.survives(["softbody", "s.json", "--no-hdf"], result)

    def test_frames_of_softbody(self):
        """A checkpoint is of a step whose frames are written: none is missing in the end."""
        self.write("s.json", json.dumps({**SCENE, "steps": 20}))

        def result(summary):
            names = [f"f_{step:06}.hdf" for step in range(21)]
            with open(self.path("f.hdf.series")) as file:
                series = json.load(file)
            self.assertEqual([frame["name"] for frame in series["files"]], names)
            fields = ("PointData/displacement", "PointData/velocity", "Connectivity", "CellData/object")
            return summary["results"]["state_hash"], series, [
                hdf5_values.read(self.path(name), "VTKHDF/" + field) for name in names for field in fields]
        self.survives(["softbody", "s.json", "--hdf", "f.hdf", "--vtk-every", "1"], result)

    def test_topopt(self):
        def result(summary):
            with open(self.path("s.stl"), "rb") as file:
                return [summary["results"][part] for part in ("objective", "cases", "volume", "grey")], file.read()
        self.survives(["topopt", "cantilever", "--cells", "10x4x4", "--steps", "12", "--change", "0", "--no-hdf",
                       "--stl", "s.stl", "--stl-level", "0.3"], result)

    def test_designs_of_all_kinds(self):
        """Constraints, natural frequencies, three designs at once, temperatures: twice each, or as often as KILLS says."""
        def result(summary):
            results = summary["results"]
            return [results.get(part) for part in ("objective", "cases", "volume", "grey", "constraints", "frequencies")]
        self.write("warm.json", json.dumps({
            "mesh": {"box": {"cells": [10, 4, 4], "size": [1, 0.4, 0.4]}}, "volume_fraction": 0.4, "change": 0,
            "material": {"young": 2e11, "poisson": 0.3, "expansion": 1e-5}, "supports": [
                {"box": [0, 0, 0, 0, 0.4, 0.4]}, {"box": [1, 0, 0, 1, 0.4, 0.4]}], "cases": [{"name": "warm", "loads": [
                    {"box": [0.5, 0, 0, 0.5, 0.4, 0], "total_force": [0, 0, -1e5]}], "temperature_change": 4}]}))
        body, counts = ("cantilever", "--cells", "8x4x4", "--change", "0"), []
        for steps, name, *more in ((20, *body, "--max-stress", "9", "--max-compliance", "1e3"),
                                   (10, *body, "--objective", "frequency", "--frequencies", "2", "--mass-density", "3"),
                                   (20, *body, "--projection", "--robust", "0.2", "--sharpness", "1:4:3:x2"),
                                   (20, "warm.json")):
            for grid in ("mesh", "voxels"):
                with self.subTest(name=name, more=more, grid=grid):
                    counts.append(self.kill_and_resume(
                        ["topopt", name, *more, "--grid", grid, "--steps", str(steps), "--no-hdf", "--no-stl"], result,
                        int(os.environ.get("KILLS", "2"))))
        killed, resumed = map(sum, zip(*counts))
        self.assertGreater(resumed, killed // 4)


if __name__ == "__main__":
    driver_case.main()
