# SPDX-License-Identifier: Apache-2.0
"""The executable as a launcher (mpirun) starts it: the results of one process, whatever the number
of ranks, one voice, and an end of all when one fails."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from unittest import mock

from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, STOPPED, UNAVAILABLE, USAGE, DriverCase

LAUNCHER = None
DENSITY = "VTKHDF/CellData/density"
DECK_OF_PRISM = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
5, 1, 0, 1
6, 0, 1, 1
*ELEMENT, TYPE=C3D6, ELSET=ALL
1, 1, 2, 3, 4, 5, 6
*MATERIAL, NAME=M
*ELASTIC
1, 0.3
*SOLID SECTION, ELSET=ALL, MATERIAL=M
*STEP
*STATIC
*BOUNDARY
1, 1, 3
2, 1, 3
3, 1, 3
*CLOAD
5, 3, -1
*END STEP
"""
CUBES = ("bone", "--generate", "perlin", "--size", "24", "--test", "homogenise",
         "--backend", "serial")


def without_times(value):
    """A JSON value without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if "seconds" not in key}
    return [without_times(part) for part in value] if isinstance(value, list) else value


class Ranks(DriverCase):
    def start(self, *parts):
        """Starts a launcher; a part is a number of ranks and their arguments."""
        command = [LAUNCHER]
        for ranks, arguments in parts:
            command += ([":"] if len(command) > 1 else []) + ["-n", str(ranks),
                                                              driver_case.EXECUTABLE,
                                                              *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.directory.name, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def end(self, process, code, seconds=120):
        try:
            out, log = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail(f"still there after {seconds} s: {process.communicate()}")
        self.assertEqual(process.returncode, code, out + log)
        return out, log

    def launch(self, ranks, *arguments, code=DONE):
        return self.end(self.start((ranks, arguments)), code)

    def fails_once(self, ranks, message, *arguments, code):
        out, log = self.launch(ranks, *arguments, code=code)
        self.assertEqual(out, "")
        self.assertEqual(log.count("error: "), 1, log)
        self.assertIn(message, log)

    def is_alive(self, number):
        try:
            with open(f"/proc/{number}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def signal_rank(self, rank, number, arguments, line, seconds=0.0, ranks=2):
        """Starts ranks, and sends a signal to one so long after a line of the log. Returns all ranks and the
        launcher, which has ended, within ten seconds."""
        process = self.start((ranks, arguments))
        for text in process.stderr:
            if line in text:
                break
        time.sleep(seconds)
        started = self.children(process)
        self.assertEqual(len(started), ranks)
        os.kill(started[rank], number)
        before = time.monotonic()
        process.communicate(timeout=60)
        self.assertLess(time.monotonic() - before, 10)
        return started, process

    def stopped_summary(self, name, *arguments, **more):
        """The summary of a run that a signal to a rank has stopped."""
        _, process = self.signal_rank(number=signal.SIGTERM, arguments=arguments, **more)
        self.assertEqual(process.returncode, STOPPED)
        with open(self.path(name)) as file:
            summary = json.load(file)
        self.assertEqual(summary["status"], "interrupted")
        return summary

    def children(self, process):
        """The ranks of a launcher, by their processes."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat") as file:
                        parent = int(file.read().rsplit(")", 1)[1].split()[1])
                    if parent == process.pid:
                        found.append(int(entry))
                except (FileNotFoundError, ProcessLookupError):
                    pass
        return sorted(found)


class Loads(Ranks):
    def test_six_loads_give_the_same_bits_on_any_number_of_ranks(self):
        one = self.summary(*CUBES, "--history", "one.csv", "-q")
        self.assertEqual(one["engine"]["ranks"], 1)
        history = self.rows("one.csv", ["seconds"])
        self.assertEqual({row["load_case"] for row in history}, set("012345"))
        for ranks in (1, 2, 4, 7):  # the last have no load
            out, _ = self.launch(ranks, *CUBES, "--history", "many.csv", "-q", "--json", "-")
            many = json.loads(out)  # and nothing else on stdout
            self.assertEqual(many["engine"]["ranks"], ranks)
            self.assertEqual(many["engine"].get("split"), "loads" if ranks > 1 else None)
            for part in ("status", "problem", "results", "iterations", "residual", "warnings"):
                self.assertEqual(without_times(many[part]), without_times(one[part]), part)
            self.close(many["engine"]["work"], one["engine"]["work"], 1e-12)
            self.assertEqual(self.rows("many.csv", ["seconds"]), history)

    def test_the_log_says_how_long_all_solves_take_together(self):
        """Ranks solve at the same time: the longest part, not the sum of all."""
        for ranks in (1, 2, 7):
            _, log = self.launch(ranks, *CUBES, "--json", "s.json")
            with open(self.path("s.json")) as file:
                seconds = [solve["seconds"] for solve in json.load(file)["results"]["solves"]]
            os.remove(self.path("s.json"))
            parts = [seconds[6 * rank // ranks:6 * (rank + 1) // ranks] for rank in range(ranks)]
            self.close(float(re.search(r"solved in (\S+) s:", log)[1]), max(map(sum, parts)), 1e-3)

    def test_loads_of_a_unit_cell_give_the_same_bits(self):
        cell = ("bone", "--generate", "sphere", "--size", "12", "--outer-modulus", "100", "--test",
                "homogenise", "--boundary", "periodic", "--backend", "serial", "-q")
        out, _ = self.launch(4, *cell, "--json", "-")
        self.assertEqual(without_times(json.loads(out)["results"]),
                         without_times(self.summary(*cell)["results"]))

    def test_the_first_rank_prints_and_writes_for_all(self):
        one = self.ossatura(*CUBES, "-q")
        out, log = self.launch(3, *CUBES, "-q", "-o", "out")
        self.assertEqual(log, "")
        self.assertEqual(out.count("Apparent stiffness"), 1, out)
        self.assertEqual(out.split("Apparent stiffness")[1].split("Certificate")[0],
                         one.stdout.split("Apparent stiffness")[1].split("Certificate")[0])
        self.assertEqual(os.listdir(self.path("out")), ["perlin.summary.json"])
        out, _ = self.launch(2, "--version")
        self.assertEqual(out.count("Kokkos"), 1)
        out, _ = self.launch(2, *CUBES, "--dry-run", "-q")
        self.assertEqual(out.count("degrees of freedom"), 1)

    def test_what_is_not_converged_on_one_rank_is_so_for_all(self):
        arguments = (*CUBES, "--max-iterations", "12", "-q", "--json", "-")
        one = self.summary(*arguments[:-2], code=NOT_CONVERGED)
        converged = [solve["converged"] for solve in one["results"]["solves"]]
        self.assertIn(True, converged)  # some of the loads take fewer iterations, some more
        self.assertIn(False, converged)
        out, _ = self.launch(6, *arguments, code=NOT_CONVERGED)
        self.assertEqual(without_times(json.loads(out)["results"]), without_times(one["results"]))
        self.assertEqual(json.loads(out)["warnings"], one["warnings"])


class Designs(Ranks):
    """`topopt` on voxels: each rank has the design, and the nodes of its solves are divided."""
    COURSE = ("topopt", "cantilever", "--cells", "14x7x7", "--grid", "voxels", "--volume", "0.3",
              "--radius", "2", "--change", "0", "-q")
    SECONDS = ("prepare", "solve", "gradient", "update", "seconds")

    def course(self, ranks, *arguments, code=DONE):
        """The summary of a run with --split model on so many ranks, without times, and its history."""
        out, _ = self.launch(ranks, *self.COURSE, *arguments, "--split", "model", "--json", "-",
                             "--history", "h.csv", code=code)
        summary = json.loads(out)
        self.assertEqual(summary["engine"]["ranks"], ranks)
        self.assertEqual(summary["engine"]["split"], "model")
        self.assertEqual(summary["engine"]["transport"], "none" if ranks == 1 else "mpi")
        kept = [without_times(summary[part]) for part in
                ("status", "problem", "results", "iterations", "residual", "warnings")]
        return kept, self.rows("h.csv", self.SECONDS), summary["engine"]

    def content(self, *names):
        found = []
        for name in names:
            with open(self.path(name), "rb") as file:
                found.append(file.read())
            os.remove(self.path(name))
        return found

    def test_courses_have_the_same_bits_on_any_number_of_ranks(self):
        for backend, numbers in (("serial", (1, 2, 3, 4)), ("openmp", (1, 3))):
            if backend not in driver_case.backends():
                continue
            expected, nodes = None, None
            for ranks in numbers:
                with self.subTest(backend=backend, ranks=ranks):
                    *found, engine = self.course(ranks, "--steps", "3", "--backend", backend,
                                                 "--stl", "d.stl", "--hdf", "d.hdf")
                    density = hdf5_values.read(self.path("d.hdf"), DENSITY)
                    found += [density, self.content("d.stl")]
                    expected = expected or found
                    self.assertEqual(found, expected)
                    self.assertEqual(len(found[1]), 3)
                    self.assertGreater(max(density), 0.6)
                    nodes = nodes or engine["largest_rank_nodes"]
                    self.assertLess(engine["largest_rank_nodes"], nodes * 1.3 / ranks + 1)
        # And those of one process but for what the tolerance leaves.
        one = self.summary(*self.COURSE, "--steps", "3", "--backend", "serial")["results"]
        self.close(found[0][2]["objective"], one["objective"], 1e-4)

    def test_designs_that_are_heavy_and_moved(self):
        self.write("heavy.json", json.dumps({
            "mesh": {"box": {"cells": [8, 4, 6], "size": [0.4, 0.2, 0.3]}}, "material": {"young": 2e7, "poisson": 0.2, "mass_density": 2000,
                                                                                                 "expansion": 1e-5},
            "supports": [{"box": [0, 0, 0, 0, 0.2, 0.3]}], "volume_fraction": 0.5, "steps": 3, "cases": [
                {"name": "weight", "gravity": [0, 1, -9.81], "temperature_change": 2},
                {"name": "turn", "rotation": {"origin": [0, 0.1, 0], "axis": [0, 1, 2], "speed": 9},
                 "displacements": [{"box": [0.4, 0, 0, 0.4, 0.2, 0.1], "displacement": [None, None, -1e-4]}]}]}))
        design = ("topopt", "heavy.json", "--grid", "voxels", "-q", "--backend", "serial", "--tolerance", "1e-8")
        expected = None
        for ranks in (1, 3):
            out, _ = self.launch(ranks, *design, "--split", "model",
                                 "--json", "-", "--stl", "d.stl", "--hdf", "d.hdf")
            found = [without_times(json.loads(out)["results"]), hdf5_values.read(self.path("d.hdf"), DENSITY),
                     hdf5_values.read(self.path("d.hdf"), "VTKHDF/PointData/weight_turn"), self.content("d.stl")]
            expected = expected or found
            self.assertEqual(found, expected)
        one = self.summary(*design)["results"]
        self.close(expected[0]["objective"], one["objective"], 1e-4)
        self.close(expected[0]["cases"][1]["imposed_work"], one["cases"][1]["imposed_work"], 1e-4)

    def test_a_run_that_is_stopped_goes_on_with_another_number_of_ranks(self):
        state = ("--method", "mma", "--backend", "serial", "--checkpoint", "c.h5")
        self.stopped_summary("cantilever.summary.json", *self.COURSE[:-1], *state, "--steps", "9999",
                             "-o", ".", "--no-hdf", "--no-stl", rank=1, line="step/most",
                             seconds=0.2)
        begun = os.path.getsize(self.path("c.h5"))
        self.assertGreater(begun, 0)
        done = len(self.rows("cantilever.csv", self.SECONDS))
        self.assertLess(done, 9990)
        steps = ("--steps", str(done + 2), "--no-stl")
        resumed = self.course(3, *state[:-2], *steps, "--resume", "c.h5")[0][2]
        self.assertEqual(resumed["first_step"], done)
        whole = self.course(1, *state[:-2], *steps)[0][2]
        self.assertEqual(resumed["objective"], whole["objective"])
        self.assertEqual(resumed["steps"]["objective"], whole["steps"]["objective"][done:])
        # A rank that lacks the file, as on another machine, ends all.
        begin = (*self.COURSE, *state[:-2], *steps, "--resume")
        log = self.end(self.start((1, (*begin, "c.h5")), (1, (*begin, "d.h5"))), BAD_FILE)[1]
        self.assertIn("on rank 1 of 2: d.h5: there is no such file", log)
        self.assertEqual(log.count("error: "), 1, log)


class Failures(Ranks):
    def test_what_all_find_wrong_is_said_once(self):
        self.fails_once(3, "unknown option '--bad'", "bone", "--bad", code=USAGE)
        self.fails_once(3, "unknown subcommand 'bones'", "bones", code=USAGE)
        self.fails_once(3, "there is no such file", "bone", "none.h5", "--test", "homogenise", "-q",
                        code=BAD_FILE)

    def test_tasks_that_mpi_does_not_join_do_not_do_all_of_the_work_each(self):
        arguments = (*CUBES, "--dry-run", "-q")
        step = {"SLURM_NTASKS": "2", "SLURM_PROCID": "0", "SLURM_STEP_ID": "0"}
        # A batch script, and an interactive step of one task, are one process.
        for variables in ({"SLURM_NTASKS": "2", "SLURM_PROCID": "0"},
                          {**step, "SLURM_STEP_NUM_TASKS": "1"}):
            with mock.patch.dict(os.environ, variables):
                self.ossatura(*arguments)
        with mock.patch.dict(os.environ, {**step, "SLURM_STEP_NUM_TASKS": "2"}):
            self.launch(1, *arguments)  # ranks of mpirun inherit the step of its daemons
            for first in ("bone", "--version"):
                done = self.fails(UNAVAILABLE, "srun started 2 tasks that MPI does not join", first)
                self.assertIn("srun --mpi=pmix", done.stderr)
        with mock.patch.dict(os.environ, {"PMI_SIZE": "3", "PMI_RANK": "1"}):  # of another MPI
            self.fails(UNAVAILABLE, "a launcher started 3 processes that MPI does not join", "bone")

    def test_what_cannot_be_divided_is_refused(self):
        self.fails_once(2, "ossatura pfem runs in one process", "pfem", "none.json",
                        "-q", code=USAGE)
        design = ("topopt", "cantilever", "--cells", "6x4x4", "-q")
        self.fails_once(2, "divides designs of equal cubes alone (--grid voxels); cantilever of 6x4x4 "
                        "cells is solved on a mesh: take --grid voxels", *design, code=USAGE)
        self.write("solids.inp", DECK_OF_PRISM)
        self.fails_once(3, "solids.inp has other elements, or start one process",
                        "topopt", "solids.inp", "-q", code=USAGE)
        self.fails(USAGE, "--split model divides designs of equal cubes alone", *design, "--split",
                   "model")
        # Nothing of what is refused otherwise goes unsaid where there are ranks.
        self.fails_once(2, "divides no designs with natural frequencies: start one process", *design,
                        "--grid", "voxels", "--frequencies", "2", "--mass-density", "1", code=USAGE)
        self.fails_once(2, "part.json: there is no such file", "topopt", "part.json", "-q",
                        code=BAD_FILE)

    def test_what_one_rank_finds_wrong_ends_all(self):
        good = (*CUBES, "-q", "-o", "out")
        bad = ("bone", "none.h5", "--test", "homogenise", "-q", "-o", "out")
        before = time.monotonic()
        out, log = self.end(self.start((1, good), (1, bad)), BAD_FILE)
        self.assertLess(time.monotonic() - before, 10)
        self.assertIn("on rank 1 of 2: none.h5: there is no such file", log)
        self.assertEqual(log.count("error: "), 1, log)
        self.assertEqual(out, "")
        self.assertEqual(os.listdir(self.path("out")), [])
        # An output is the first rank's alone.
        self.write("file", "")
        self.fails_once(2, "cannot be made a directory", *CUBES, "-q", "-o", "file", code=BAD_FILE)

    def test_a_killed_rank_ends_all_and_leaves_no_half_of_a_file(self):
        large = ("bone", "--generate", "perlin", "--size", "96", "--test", "homogenise",
                 "--backend", "serial", "--tolerance", "1e-12", "-v", "-o", "out")
        before = time.monotonic()
        ranks, process = self.signal_rank(1, signal.SIGKILL, large, "iteration/most")
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual([name for name in os.listdir(self.path("out"))
                          if not name.startswith(".")], [])
        while any(map(self.is_alive, ranks)):
            self.assertLess(time.monotonic() - before, 30)
            time.sleep(0.1)

    def test_a_signal_to_one_rank_stops_all(self):
        large = ("bone", "--generate", "perlin", "--size", "64", "--test", "homogenise",
                 "--backend", "serial", "--tolerance", "1e-12", "-v", "-o", "out")
        summary = self.stopped_summary("out/perlin.summary.json", *large, rank=1,
                                       line="iteration/most", seconds=0.1)
        self.assertNotIn("homogenised", summary["results"])


if __name__ == "__main__":
    LAUNCHER = sys.argv.pop(2)
    driver_case.main()
