# SPDX-License-Identifier: Apache-2.0
"""OpenMP may bind threads to processors (OMP_PROC_BIND, OMP_PLACES), the first one before main(). A run takes as many
threads then as without, on as many processors, and no more than the user leaves to it."""
import json
import os
import subprocess
import sys
import unittest

from support import driver_case
from support.driver_case import DriverCase

CUBE = ("bone", "--generate", "cube", "--size", "2", "--backend", "openmp", "-q", "--no-hdf")
BINDINGS = ("true", "spread", "close")


def processors_of(pid):
    """The processors that each thread of a process may run on now."""
    found = {}
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found[int(thread)] = frozenset(os.sched_getaffinity(int(thread)))
    except OSError: # a thread, or the process, has ended
        pass
    return found


@unittest.skipUnless(sys.platform.startswith("linux"), "affinity is Linux'")
class ProcessorBinding(DriverCase):
    def setUp(self):
        super().setUp()
        if "openmp" not in driver_case.backends():
            self.skipTest("a build without openmp")
        self.all = frozenset(os.sched_getaffinity(0))
        if len(self.all) < 2:
            self.skipTest("there is one processor")

    def start(self, variables, *arguments, allowed=None):
        """Starts ossatura without the variables of OpenMP that the test was started with."""
        inherited = {name: value for name, value in os.environ.items()
                     if not name.startswith(("OMP_", "GOMP_", "KOKKOS_"))}
        restrict = None if allowed is None else lambda: os.sched_setaffinity(0, allowed)
        return subprocess.Popen([driver_case.EXECUTABLE, *arguments], cwd=self.directory.name,
                                env={**inherited, **variables}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, preexec_fn=restrict)

    def threads(self, variables, *arguments, **more):
        process = self.start(variables, *CUBE, "--json", "-", *arguments, **more)
        out, message = process.communicate(timeout=100)
        self.assertEqual(process.returncode, driver_case.DONE, message)
        return json.loads(out)["engine"]["threads"]

    def watch(self, is_seen, variables, *arguments, **more):
        """Whether is_seen(pid, processors of each thread) is true at some moment of a run, which ends there."""
        process = self.start(variables, *arguments, **more)
        seen = False
        try:
            while not seen and process.poll() is None:
                seen = is_seen(process.pid, processors_of(process.pid))
        finally:
            process.kill()
            _, message = process.communicate()
        if not seen:
            self.assertIn(process.returncode, (0, -9), message)
        return seen

    def test_as_many_threads_as_without(self):
        unbound = self.threads({})
        if unbound < 2:
            self.skipTest("a quota leaves one processor")
        # The executable starts itself again where nothing says how threads wait.
        for waiting in ({}, {"GOMP_SPINCOUNT": "1000"}, {"OMP_WAIT_POLICY": "passive"}):
            for binding in BINDINGS:
                with self.subTest(binding=binding, waiting=waiting):
                    self.assertEqual(self.threads({"OMP_PROC_BIND": binding, **waiting}), unbound)

    def test_two_threads_are_bound_to_two_processors(self):
        def is_seen(_, processors):
            return {len(one) for one in processors.values()} == {1} and len(set(processors.values())) == 2
        for waiting in ({}, {"GOMP_SPINCOUNT": "1000"}):
            for binding in BINDINGS:
                with self.subTest(binding=binding, waiting=waiting):
                    self.assertTrue(self.watch(
                        is_seen, {"OMP_PROC_BIND": binding, "OMP_NUM_THREADS": "2", **waiting},
                        "bone", "--generate", "perlin", "--size", "64", "--backend", "openmp", "-q", "--no-hdf"))

    def test_threads_that_are_not_of_openmp_have_all_processors(self):
        def is_seen(pid, processors):
            return any(one == self.all for thread, one in processors.items() if thread != pid)
        for waiting in ({}, {"GOMP_SPINCOUNT": "1000"}):
            with self.subTest(waiting=waiting):
                # With one thread of OpenMP all others make meshes and files.
                self.assertTrue(any(self.watch(
                    is_seen, {"OMP_PROC_BIND": "spread", "OMP_NUM_THREADS": "1", **waiting},
                    "eikonal", "--generate", "box:n=60", "--site", "point:0,0,0", "--backend", "openmp", "-q",
                    "-o", "out", "--overwrite", "--compress", "small") for _ in range(5)))

    def test_what_the_user_restricts_stays_restricted(self):
        one, other = sorted(self.all)[:2]
        for variables, allowed in (({"OMP_PROC_BIND": "spread"}, {other}), ({"OMP_PLACES": f"{{{other}}}"}, None),
                                   ({"OMP_PLACES": f"{{{other}}}", "OMP_PROC_BIND": "true"}, None),
                                   ({"OMP_PROC_BIND": "master", "OMP_PLACES": f"{{{one}}},{{{other}}}"}, None)):
            with self.subTest(variables=variables, allowed=allowed):
                self.assertEqual(self.threads(variables, allowed=allowed), 1)
        self.assertEqual(self.threads({"OMP_PLACES": f"{{{one},{other}}}", "OMP_PROC_BIND": "true"}),
                         min(2, self.threads({})))

    def test_no_thread_leaves_the_places_of_the_user(self):
        other = max(self.all)
        seen = set()

        def is_seen(_, processors):
            if len(processors) > 1: # OpenMP has bound the first thread before there are others
                seen.update(processors.values())
            return False
        self.watch(is_seen, {"OMP_PLACES": f"{{{other}}}", "OMP_NUM_THREADS": "2"},
                   "bone", "--generate", "perlin", "--size", "32", "--backend", "openmp", "-q")
        self.assertEqual(seen, {frozenset({other})})


if __name__ == "__main__":
    driver_case.main()
