# SPDX-License-Identifier: Apache-2.0
"""The thread that runs the library: callers, signals, callbacks, forks, messages and the end."""
import gc
import logging
import os
import signal
import sys
import threading
import time
import unittest

import numpy as np
import ossatura
from cases import porous_image, run_script, tetra_box
from ossatura import bone, eikonal, pfem, topopt

LARGE = np.full((64, 64, 64), 1000, np.float32)  # six solves of it take longer than any test waits
SLOW = [backend for backend in ossatura.backends() if backend != "cuda"][-1]  # so slow that a signal comes in time


class Calls(unittest.TestCase):
    def test_eight_threads_at_once_get_the_results_of_one(self):
        image = porous_image()
        points, tetra = tetra_box(4)
        solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")
        stiffness = bone.solve(image, 0.1, backend="serial").stiffness
        times = solver.solve({0: 0.0})
        found, failed = [], []

        def work():
            try:
                for _ in range(3):
                    found.append((bone.solve(image, 0.1, backend="serial").stiffness, solver.solve({0: 0.0})))
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual(len(found), 24)
        for one, other in found:
            self.assertEqual(one, stiffness)
            self.assertTrue(np.array_equal(other, times))

    def test_other_threads_of_python_run_meanwhile(self):
        count, stop = [0], threading.Event()

        def work():
            while not stop.is_set():
                count[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=work)
        thread.start()
        before = count[0]
        bone.solve(LARGE, 0.1)
        during = count[0] - before
        stop.set()
        thread.join()
        self.assertGreater(during, 10)

    def test_a_thousand_solves_take_no_more_memory(self):
        points, tetra = tetra_box(3)
        image = porous_image((4, 3, 3))

        def resident():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def work(number):
            for _ in range(number):
                solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")
                solver.solve({0: 0.0})
                bone.solve(image, 0.1, backend="serial").displacement

        work(300)
        before = resident()
        work(700)
        self.assertLess(resident() - before, 4 << 20)


class Interruptions(unittest.TestCase):
    def interrupt(self, call, after=0.3):
        """Sends SIGINT while call() runs; returns the seconds until it ended after that."""
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(after, send)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                call()
            return time.monotonic() - sent[0]
        finally:
            timer.join()

    def test_bone_ends_by_a_signal_and_the_next_call_works(self):
        self.assertLess(self.interrupt(lambda: bone.homogenise(LARGE, 0.1, tolerance=1e-12, check=False,
                                                                    backend=SLOW)), 3)
        self.assertTrue(bone.solve(porous_image(), 0.1).converged)

    def test_a_batch_of_activations_ends_by_a_signal(self):
        points, tetra = tetra_box(24)
        solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")
        sets = [{v: 0.0} for v in range(200)]
        self.assertLess(self.interrupt(lambda: solver.solve(sets)), 1)
        self.assertTrue(np.isfinite(solver.solve({0: 0.0})).all())

    def test_a_design_ends_by_a_signal_and_is_whole_or_says_that_it_is_not(self):
        points, hexa = topopt.box((40, 40, 40), (40, 40, 40))
        force = np.zeros(points.shape)
        force[-1] = 1
        optimizer = topopt.Optimizer(points, hexa, young=1, held=points[:, 2] == 0, loads=force, volume=0.3,
                                     max_steps=1000, change_tolerance=0, tolerance=1e-10, backend=SLOW)
        self.assertLess(self.interrupt(lambda: list(optimizer)), 5)
        try:  # the signal may have come when a step was done
            self.assertGreater(optimizer.step().number, 0)
        except ossatura.UsageError as error:
            self.assertIn("was interrupted", str(error))

    def test_a_factor_ends_by_a_signal(self):
        """It has no iterations, and takes ten seconds here, minutes of larger bodies."""
        points, hexa = topopt.box((14, 14, 14), (1.0, 1.0, 1.0))
        model = pfem.Model(pfem.Mesh(points, hexa), order=2, young=1.0, backend=SLOW)
        model.hold(points[:, 0] == 0)
        model.add_traction(points[:, 0] == 1, (0, 0, 1e-9))
        self.assertLess(self.interrupt(lambda: model.solve(preconditioner="ldlt")), 8)
        again = model.solve(preconditioner="none", operator="matrix-free", max_iterations=1, check=False)
        self.assertEqual(again.iterations, 1)

    def test_a_callback_that_raises_ends_the_solve(self):
        class Enough(Exception):
            pass

        seen = []

        def callback(iteration, residual):
            seen.append((iteration, residual, threading.current_thread()))
            if iteration == 3:
                raise Enough

        with self.assertRaises(Enough):
            bone.solve(porous_image(), 0.1, callback=callback)
        self.assertEqual([one[0] for one in seen], [0, 1, 2, 3])
        self.assertTrue(all(one[2] is threading.current_thread() for one in seen))
        self.assertTrue(bone.solve(porous_image(), 0.1).converged)

    def test_a_callback_that_calls_the_library_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "from a callback"):
            bone.solve(porous_image(), 0.1, callback=lambda *_: bone.solve(porous_image(), 0.1))
        self.assertTrue(bone.solve(porous_image(), 0.1).converged)

    def test_a_callback_that_calls_its_own_solver_is_refused(self):
        """It waited for the solver for ever, which waited for it."""
        code, out, error = run_script("""
import numpy as np
from cases import tetra_box
from ossatura import eikonal, pfem, topopt
points, tetra = tetra_box(3)
solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")
nodes, hexa = topopt.box((2, 1, 1), (2, 1, 1))
model = pfem.Model(pfem.Mesh(nodes, hexa), order=2, young=1.0, backend="serial")
model.hold(nodes[:, 0] == 0)
model.add_traction(nodes[:, 0] == 2, (1, 0, 0))
for call in (lambda: solver.solve({0: 0.0}, callback=lambda *_: solver.solve({1: 0.0})),
             lambda: solver.solve({0: 0.0}, callback=lambda *_: solver.set_velocities(1.0)),
             lambda: model.solve(callback=lambda *_: model.solve()),
             lambda: model.solve(callback=lambda *_: model.hold(nodes[:, 0] == 0, "x"))):
    try:
        call()
    except RuntimeError as error:
        print("from a callback" in str(error))
print(solver.solve({0: 0.0}).max() > 0, model.solve().converged)
""", seconds=30, PYTHONPATH=os.pathsep.join(sys.path))
        self.assertEqual((code, out.split(), error), (0, ["True"] * 6, ""))

    def test_garbage_is_collected_within_a_callback(self):
        points, tetra = tetra_box(3)
        kept = [eikonal.Solver(points, tetra, velocities=0.5)]
        bone.solve(porous_image(), 0.1, callback=lambda *_: kept.clear())
        self.assertEqual(kept, [])


class Messages(unittest.TestCase):
    def test_warnings_go_to_logging_with_their_code(self):
        image = np.zeros((20, 12, 12), np.float32)
        image[:, 1:, 1:] = 1000
        image[10, 0, 0] = 0
        image[9:11, 4:6, 4:6] = 1000
        image[8:12, 3:7, 3:7] = 0
        image[9, 5, 5] = 1000  # an island in a hole
        with self.assertLogs("ossatura", logging.WARNING) as seen:
            result = bone.solve(image, 0.1)
        self.assertEqual([record.code for record in seen.records], ["islands-left-out"])
        self.assertIn("[z, y, x] = [9, 5, 5]", seen.output[0])
        self.assertEqual(result.num_dropped, 1)
        self.assertEqual(image[9, 5, 5], 1000)  # the caller's image stays as it is
        self.assertEqual(result.energy_density[9, 5, 5], 0)

    def test_a_handler_that_raises_is_heard(self):
        class Strict(logging.Handler):
            def emit(self, record):
                raise ZeroDivisionError

        handler, logger = Strict(), logging.getLogger("ossatura")
        logger.addHandler(handler)
        try:
            with self.assertRaises(ZeroDivisionError):
                bone.solve(porous_image(), 0.1, poisson=0.495, max_iterations=3)
        finally:
            logger.removeHandler(handler)


class Backends(unittest.TestCase):
    def test_names_and_versions(self):
        self.assertIn("serial", ossatura.backends())
        self.assertIn(ossatura.__version__, ossatura.describe())
        self.assertEqual(ossatura.threads("serial"), 1)
        with self.assertRaisesRegex(ossatura.BackendError, "not in this build"):
            ossatura.threads("abacus")
        self.assertTrue(issubclass(ossatura.BackendError, RuntimeError))
        self.assertTrue(issubclass(ossatura.InputError, ValueError))
        self.assertTrue(issubclass(ossatura.UsageError, ValueError))

    def test_threads_are_set_before_the_first_call_alone(self):
        ossatura.threads("serial")
        with self.assertRaisesRegex(ossatura.UsageError, "has started"):
            ossatura.set_threads(2)
        code, out, error = run_script("import ossatura; ossatura.set_threads(2); print(ossatura.threads('openmp'))")
        if "openmp" in ossatura.backends():
            self.assertEqual((code, out, error), (0, "2\n", ""))

    def test_too_many_threads_are_an_error_of_the_backend(self):
        code, out, error = run_script("""
import ossatura
ossatura.set_threads(1 << 20)
for _ in range(2):
    try:
        ossatura.threads('serial')
    except ossatura.BackendError as error:
        print(error)
""")
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(out.count("threads: 1 to"), 2)


class Processes(unittest.TestCase):
    def test_a_fork_after_use_is_told_at_once(self):
        code, out, error = run_script("""
import os, numpy as np, ossatura
from ossatura import bone
kept = bone.solve(np.full((4, 4, 4), 1000, np.float32), 1.0)
child = os.fork()
if child == 0:
    try:
        bone.solve(np.full((4, 4, 4), 1000, np.float32), 1.0)
    except RuntimeError as error:
        print(error, flush=True)
    raise SystemExit  # by the way of every process, with `kept`
_, status = os.waitpid(child, 0)
print(status, bone.solve(np.full((4, 4, 4), 1000, np.float32), 1.0).converged)
""", PYTHONWARNINGS="ignore::DeprecationWarning")  # Python 3.12 warns of forks where there are threads
        if "cuda" not in ossatura.backends():  # of which Kokkos says in the child that it was not ended
            self.assertEqual(error, "")
        self.assertEqual(code, 0)
        self.assertIn("'spawn' or 'forkserver'", out)
        self.assertTrue(out.endswith("0 True\n"), out)

    def test_a_fork_before_use_works(self):
        code, out, error = run_script("""
import os, numpy as np, ossatura
from ossatura import bone
child = os.fork()
result = bone.solve(np.full((4, 4, 4), 1000, np.float32), 1.0)
if child:
    print(os.waitpid(child, 0)[1], result.converged)
elif not result.converged:
    raise SystemExit(3)
""", PYTHONWARNINGS="ignore::DeprecationWarning")
        self.assertEqual((code, out, error), (0, "0 True\n", ""))

    def test_the_end_finds_live_objects_everywhere(self):
        code, out, error = run_script("""
import threading, numpy as np
from ossatura import bone, eikonal, softbody, topopt
result = bone.solve(np.full((4, 4, 4), 1000, np.float32), 1.0)
points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]
solver = eikonal.Solver(points, [[0, 1, 2, 3]], velocities=1.0)
cycle = [solver, eikonal.Solver(points, [[0, 1, 2, 3]], velocities=1.0)]
cycle.append(cycle)
class Last:
    def __del__(self):
        del self.solver
last = Last()
last.solver = eikonal.Solver(points, [[0, 1, 2, 3]], velocities=1.0)
points, hexa = topopt.box((2, 2, 2), (1, 1, 1))
design = topopt.Optimizer(points, hexa, young=1, held=points[:, 0] == 0, loads=points * (points[:, :1] > 0),
                          volume=0.3)
design.step()
world = softbody.World()
body = world.add(points, hexa)
world.step()
times = solver.solve({0: 0.0})
field = result.displacement
print("end")
""")
        self.assertEqual((code, out, error), (0, "end\n", ""))

    def test_the_end_stops_a_call_of_a_daemon(self):
        start = time.monotonic()
        code, out, error = run_script("""
import threading, time, numpy as np
from ossatura import bone
image = np.full((64, 64, 64), 1000, np.float32)
def work():
    try:
        bone.homogenise(image, 0.1, tolerance=1e-12, check=False)
    except RuntimeError as error:
        pass
threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
""")
        self.assertEqual((code, out, error), (0, "", ""))
        self.assertLess(time.monotonic() - start, 20)

    def test_the_end_waits_for_a_daemon_that_has_not_the_lock(self):
        for _ in range(5):  # without the wait it is taken back too late in about one of three
            code, out, error = run_script("""
import threading, time, numpy as np
from ossatura import bone
image = np.full((40, 40, 40), 1000, np.float32)
def work():
    try:
        bone.homogenise(image, 0.1, tolerance=1e-12, check=False)
    except RuntimeError as error:
        pass
def hold():
    while True:
        sum(range(1_000_000))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
threading.Thread(target=hold, daemon=True).start()
""")
            self.assertEqual((code, out, error), (0, "", ""))

    def test_the_end_does_not_wait_for_ever_for_a_callback(self):
        start = time.monotonic()
        code, out, error = run_script("""
import threading, time, numpy as np
from ossatura import bone
image = np.full((16, 16, 16), 1000, np.float32)
called = threading.Event()
def sleep(iteration, residual):
    called.set()
    time.sleep(60)
threading.Thread(target=lambda: bone.solve(image, 0.1, callback=sleep), daemon=True).start()
called.wait()
""")
        self.assertEqual((code, out, error), (0, "", ""))
        self.assertLess(time.monotonic() - start, 30)

    def test_a_call_after_the_end_is_told(self):
        code, out, error = run_script("""
import atexit
def late():
    try:
        ossatura.threads("serial")
    except RuntimeError as error:
        print(error)
atexit.register(late)  # runs after those that are registered later
import ossatura
ossatura.threads("serial")
""")
        self.assertEqual((code, error), (0, ""))
        self.assertIn("has ended", out)


if __name__ == "__main__":
    unittest.main()
