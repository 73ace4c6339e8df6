# SPDX-License-Identifier: Apache-2.0
"""Activation times: closed forms, velocities and sites of all kinds, outputs, and what must be refused."""
import unittest

import numpy as np
import ossatura
from cases import tetra_box, turning_fibres
from ossatura import eikonal


class Times(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.points, cls.tetra = tetra_box(6)

    def make(self, **options):
        return eikonal.Solver(self.points, self.tetra, **{"velocities": 0.5, "backend": "serial", **options})

    def test_a_plane_wave_is_exact(self):
        side = {int(v): 0.0 for v in np.flatnonzero(self.points[:, 0] == 0)}
        for backend in ossatura.backends():
            for precision, most in (("double", 1e-9), ("single", 1e-5)):
                times = self.make(backend=backend, precision=precision, tolerance=most / 1000).solve(side)
                self.assertEqual(times.dtype, np.float64 if precision == "double" else np.float32)
                np.testing.assert_allclose(times, self.points[:, 0] / 0.5, atol=most)

    def test_what_single_precision_cannot_solve_is_no_result(self):
        """The executable ends with exit 3 where the certificate of single precision is above 1e-2."""
        points, tetra = tetra_box(4)
        for height, text in ((1e-3, "certificate 1.3e-01: "), (3e-4, "residual ")):
            flat = points * (1, 1, height)
            eikonal.Solver(flat, tetra, velocities=0.5, backend="serial").solve({0: 0.0})
            single = eikonal.Solver(flat, tetra, velocities=0.5, precision="single", backend="serial")
            with self.assertRaisesRegex(ossatura.ConvergenceError, text + '.* single precision, .* precision="double"'):
                single.solve({0: 0.0})
        self.assertFalse(single.info.converged)
        self.assertGreater(single.info.certificate, 1e-2)
        self.assertEqual(single.solve({0: 0.0}, check=False).shape, (single.num_points,))

    def test_times_add_to_those_of_sites_also_before_0(self):
        solver = self.make()
        times = solver.solve({7: 0.0})
        np.testing.assert_allclose(solver.solve({7: -3.5}), times - 3.5, atol=1e-12)
        np.testing.assert_allclose(solver.solve({7: 2.25}), times + 2.25, atol=1e-12)

    def test_sets_of_sites_are_solved_on_their_own(self):
        solver = self.make()
        sets = [{0: 0.0}, {5: 1.0, 300: 0.5}, {342: 0.0}]
        together = solver.solve(sets)
        self.assertEqual(together.shape, (3, solver.num_points))
        self.assertEqual(len(solver.info.num_unreached), 3)
        for one, row in zip(sets, together):
            self.assertTrue(np.array_equal(solver.solve(one), row))

    def test_one_velocity_is_the_same_in_all_its_forms(self):
        fibres = turning_fibres(self.points, self.tetra)
        tags = (self.points[self.tetra].mean(1)[:, 0] > 3).astype(np.int64) + 1
        by_tag = {1: (0.6, 0.3), 2: (0.8, 0.4)}
        rows = np.array([(0.6, 0.3, 0.3) if tag == 1 else (0.8, 0.4, 0.4) for tag in tags])
        times = self.make(fibres=fibres, tags=tags, velocities=by_tag).solve({0: 0.0})
        for options in ({"tags": tags, "velocities": {1: (0.6, 0.3, 0.3), 2: [0.8, 0.4, 0.4]}},
                        {"velocities": rows}, {"velocities": rows[:, :2]}):
            self.assertTrue(np.array_equal(self.make(fibres=fibres, **options).solve({0: 0.0}), times))
        solver = self.make(fibres=fibres, tags=tags)
        isotropic = solver.solve({0: 0.0})
        self.assertTrue(np.array_equal(solver.solve({0: 0.0}, velocities=by_tag), times))
        solver.set_velocities((0.5,))
        self.assertTrue(np.array_equal(solver.solve({0: 0.0}), isotropic))
        solver.set_velocities(rows)
        self.assertTrue(np.array_equal(solver.solve({0: 0.0}), times))

    def test_no_wave_goes_where_nothing_conducts(self):
        tags = (self.points[self.tetra].mean(1)[:, 0] > 3).astype(np.int32)
        solver = self.make(tags=tags, velocities={0: 0.5, 1: 0})
        times = solver.solve({0: 0.0})
        self.assertTrue(np.array_equal(np.isinf(times), self.points[:, 0] > 3.5))
        self.assertEqual(solver.info.num_unreached, (int(np.isinf(times).sum()),))

    def test_out_is_used_where_it_is(self):
        solver = self.make()
        times = solver.solve({0: 0.0})
        out = np.full(solver.num_points, 7.0)
        self.assertIs(solver.solve({0: 0.0}, out=out), out)
        self.assertTrue(np.array_equal(out, times))
        rows = np.full((2, solver.num_points), 7.0)
        self.assertIs(solver.solve([{0: 0.0}, {1: 0.0}], out=rows), rows)
        self.assertTrue(np.array_equal(rows[0], times))

    def test_a_wrong_out_is_untouched(self):
        solver = self.make()
        n = solver.num_points
        frozen = np.full(n, 7.0)
        frozen.flags.writeable = False
        for out in (np.full(n, 7, np.float32), np.full(n + 1, 7.0), np.full((2, n), 7.0), np.full(2 * n, 7.0)[::2],
                    frozen, [7.0] * n):
            with self.assertRaisesRegex(TypeError, "out: a writable C-contiguous array of float64"):
                solver.solve({0: 0.0}, out=out)
            self.assertTrue(np.all(np.asarray(out) == 7))

    def test_deterministic_times_have_the_same_bits_on_cores(self):
        fibres = turning_fibres(self.points, self.tetra)
        found = [self.make(fibres=fibres, velocities=(0.6, 0.3), deterministic=True, backend=backend).solve({0: 0.0})
                 for backend in ossatura.backends() if backend != "cuda"]
        for times in found[1:]:
            self.assertTrue(np.array_equal(times, found[0]))

    def test_what_is_said_of_a_solve(self):
        solver = self.make()
        self.assertIsNone(solver.info)
        solver.solve({0: 0.0})
        self.assertTrue(solver.info.converged)
        self.assertLess(solver.info.certificate, 1e-6)

    def test_what_does_not_converge_is_an_error_with_the_times(self):
        solver = self.make(max_iterations=1)
        with self.assertRaisesRegex(ossatura.ConvergenceError, "raise max_iterations") as caught:
            solver.solve({0: 0.0})
        self.assertEqual(caught.exception.result.shape, (solver.num_points,))
        self.assertFalse(solver.info.converged)
        solver.solve({0: 0.0}, check=False)


class Gradients(unittest.TestCase):
    def setUp(self):
        self.points, self.tetra = tetra_box(6)
        self.tags = (self.points[self.tetra].mean(1)[:, 0] > 3).astype(np.int32) + 1
        self.velocities = {1: (0.6, 0.3), 2: (0.8, 0.5)}
        self.sites = {0: 0.0, 340: 2.0, 171: 1.5}
        self.solver = eikonal.Solver(self.points, self.tetra, fibres=turning_fibres(self.points, self.tetra),
                                     tags=self.tags, velocities=self.velocities, tolerance=1e-14,
                                     backend="serial")
        self.measured = np.arange(5, 340, 9)
        self.target = np.linspace(3, 9, len(self.measured))

    def misfit(self, sites, velocities):
        times = self.solver.solve(sites, velocities=velocities)
        return ((times[self.measured] - self.target)**2).sum(), times

    def gradient(self, sites, velocities):
        value, times = self.misfit(sites, velocities)
        weights = np.zeros(self.solver.num_points)
        weights[self.measured] = 2 * (times[self.measured] - self.target)
        return self.solver.gradient(sites, times, weights)

    def test_a_misfit_by_sites_and_tissues_is_that_of_differences(self):
        found = self.gradient(self.sites, self.velocities)
        step = 1e-6
        for vertex in self.sites:
            values = [self.misfit({**self.sites, vertex: self.sites[vertex] + move}, self.velocities)[0]
                      for move in (-step, step)]
            self.assertAlmostEqual((values[1] - values[0]) / (2 * step) / found.sites[vertex], 1, delta=1e-6)
        for tag, pair in self.velocities.items():
            slopes = found.by_tag()[tag]
            for k, slope in ((0, slopes[0]), (1, slopes[1] + slopes[2])):
                values = []
                for move in (-step, step):
                    moved = list(pair)
                    moved[k] += move
                    values.append(self.misfit(self.sites, {**self.velocities, tag: tuple(moved)})[0])
                self.assertAlmostEqual((values[1] - values[0]) / (2 * step) / slope, 1, delta=1e-6)

    def test_velocities_are_fitted_to_measured_times(self):
        """Gauss-Newton on four velocities and a site's time, from times of other values."""
        goal = np.array([0.7, 0.35, 0.75, 0.45, 1.0])

        def model(x):
            return {0: 0.0, 340: x[4]}, {1: (x[0], x[1]), 2: (x[2], x[3])}

        self.target = self.solver.solve(model(goal)[0], velocities=model(goal)[1])[self.measured]
        x = np.array([0.6, 0.4, 0.6, 0.6, 0.0])
        for _ in range(12):
            sites, velocities = model(x)
            times = self.solver.solve(sites, velocities=velocities)
            rows = []
            for vertex in self.measured:
                found = self.solver.gradient(sites, times, np.eye(1, self.solver.num_points, vertex)[0])
                tissue = found.by_tag()
                rows.append([tissue[1][0], sum(tissue[1][1:]), tissue[2][0], sum(tissue[2][1:]), found.sites[340]])
            x = x + np.linalg.lstsq(np.array(rows), self.target - times[self.measured], rcond=None)[0]
        np.testing.assert_allclose(x, goal, atol=1e-6)

    def test_single_precision_has_the_same_gradient(self):
        single = eikonal.Solver(self.points, self.tetra, fibres=turning_fibres(self.points, self.tetra), tags=self.tags,
                                velocities=self.velocities, precision="single")
        weights = np.cos(np.arange(single.num_points))
        one = self.solver.gradient(self.sites, self.solver.solve(self.sites), weights)
        other = single.gradient(self.sites, single.solve(self.sites), weights)
        for vertex in self.sites:
            self.assertAlmostEqual(one.sites[vertex], other.sites[vertex], delta=1e-3 * abs(one.sites[vertex]) + 1e-3)
        self.assertEqual(one.velocities.shape, (len(self.tetra), 3))

    def test_what_does_not_fit_is_refused(self):
        times = self.solver.solve(self.sites)
        with self.assertRaisesRegex(ossatura.InputError, "weights: an array of shape"):
            self.solver.gradient(self.sites, times, np.ones(3))
        with self.assertRaisesRegex(ossatura.InputError, "times: an array of shape"):
            self.solver.gradient(self.sites, times[:5], np.ones(len(times)))
        with self.assertRaisesRegex(ossatura.UsageError, "one set"):
            self.solver.gradient([self.sites], times, np.ones(len(times)))

    def test_times_of_others_are_refused(self):
        """A gradient from these would be one of nothing."""
        first, weights = min(self.sites), np.ones(self.solver.num_points)
        for precision in ("double", "single"):
            solver = eikonal.Solver(self.points, self.tetra, fibres=turning_fibres(self.points, self.tetra), tags=self.tags,
                                    velocities=self.velocities, precision=precision, backend="serial")
            times = solver.solve(self.sites)
            expected = solver.gradient(self.sites, times, weights).velocities
            nans = times.copy()
            nans[3] = np.nan
            for sites, others in ((self.sites, 1.1 * times), (self.sites, solver.solve({first: 0.0})), ({first: 0.0}, times),
                                  ({vertex: time + 1 for vertex, time in self.sites.items()}, times), (self.sites, nans),
                                  (self.sites, 0 * times)):
                with self.assertRaisesRegex(ossatura.InputError, "these are not the times of these sites and velocities"):
                    solver.gradient(sites, others, weights)
            solver.set_velocities(0.1)
            with self.assertRaisesRegex(ossatura.InputError, "whose waves arrive otherwise by up to [0-9.]+ %"):
                solver.gradient(self.sites, times, weights)
            found = solver.gradient(self.sites, times, weights, velocities=self.velocities).velocities
            np.testing.assert_array_equal(found, expected)


class Batches(unittest.TestCase):
    def test_many_sets_are_each_on_their_own(self):
        points, tetra = tetra_box(24)  # 48 sets are solved together
        solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")
        sets, seen = [{v: 0.1 * v} for v in range(60)], []
        many = solver.solve(sets, callback=lambda *counts: seen.append(counts))
        self.assertEqual(seen, [(48, 60), (60, 60)])
        self.assertEqual(solver.info.num_unreached, (0,) * 60)
        for number in (0, 47, 48, 59):
            np.testing.assert_allclose(many[number], solver.solve(sets[number]), rtol=1e-12)

    def test_a_callback_that_raises_ends_a_batch(self):
        points, tetra = tetra_box(24)
        solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")

        def stop(done, total):
            raise ZeroDivisionError((done, total))

        with self.assertRaisesRegex(ZeroDivisionError, "48, 100"):
            solver.solve([{v: 0.0} for v in range(100)], callback=stop)
        self.assertTrue(np.isfinite(solver.solve({0: 0.0})).all())


class Refusals(unittest.TestCase):
    def setUp(self):
        self.points, self.tetra = tetra_box(2)

    def refuse(self, error, text, points=None, tetra=None, **options):
        with self.assertRaisesRegex(error, text):
            eikonal.Solver(self.points if points is None else points, self.tetra if tetra is None else tetra,
                           **{"velocities": 0.5, **options})

    def test_meshes(self):
        self.refuse(ossatura.InputError, "points: an array of shape", points=self.points[:, :2])
        self.refuse(ossatura.InputError, "tetra: an array of shape", tetra=self.tetra[:, :3])
        self.refuse(TypeError, "tetra: integers", tetra=self.tetra.astype(float))
        self.refuse(ossatura.InputError, "more than 32 bits", tetra=self.tetra.astype(np.int64) + (1 << 32))
        n = len(self.points)
        self.refuse(ossatura.InputError, f"tetra: element 0 has nodes .*, and the {n} points are numbered 0 to {n - 1}: these are "
                    "elements of other points", tetra=self.tetra + 1000)
        self.refuse(ossatura.InputError, "they are counted from 1 here, so subtract it", tetra=self.tetra + 1)
        self.refuse(ValueError, "no tetrahedra", tetra=np.empty((0, 4), np.int32))
        self.refuse(ossatura.InputError, "fibres: an array of shape", fibres=np.ones((3, 3)))
        self.refuse(ossatura.InputError, "tags: an array of shape", tags=[1, 2])
        self.refuse(ossatura.InputError, r"tetra: element 47 has nodes \[0, 1, 2, 2\], not 4 different ones",
                    tetra=np.vstack([self.tetra[:-1], [[0, 1, 2, 2]]]))
        self.refuse(ossatura.InputError, "tetra: element 47 has the same nodes as element 3: it would count twice",
                    tetra=np.vstack([self.tetra[:-1], self.tetra[3:4, ::-1]]))

    def test_directions_without_effect(self):
        n = len(self.tetra)
        fibres, sheets = np.tile([1.0, 0, 0], (n, 1)), np.tile([0, 1.0, 0], (n, 1))
        self.refuse(ossatura.InputError, "sheets: there are no fibres", sheets=sheets)
        tags, half = np.arange(n) % 2, fibres * (np.arange(n) % 2)[:, None]
        for options, text in (({"velocities": (0.6, 0.3)}, "the mesh has no fibres"),
                              ({"velocities": (0.6, 0.3), "fibres": 0 * fibres}, "all fibres are zero"),
                              ({"velocities": np.full((n, 3), (0.6, 0.3, 0.1)), "fibres": fibres}, "the mesh has no sheets"),
                              ({"velocities": (0.6, 0.3, 0.1), "fibres": fibres, "sheets": 2 * fibres}, "zero or along fibres"),
                              ({"velocities": {0: (0.6, 0.3), 1: (0.6, 0.3)}, "tags": tags, "fibres": half},
                               "velocities of tag 0 differ by direction, but none of its tetrahedra has a fibre"),
                              ({"velocities": (0.6, 0.3), "fibres": fibres * (np.arange(n) != 7)[:, None]},
                               f"1 of the {n} tetrahedra of tag 0, the first 7, have no fibre")):
            with self.assertLogs("ossatura", "WARNING") as log:
                eikonal.Solver(self.points, self.tetra, **options)
            self.assertEqual([record.code for record in log.records], ["missing-directions"])
            self.assertIn(text, log.output[0])
        for options in ({"velocities": 0.6}, {"velocities": (0.6, 0.3), "fibres": fibres},
                        {"velocities": (0.6, 0.3, 0.1), "fibres": fibres, "sheets": sheets},
                        {"velocities": (0.6, 0.3), "tags": tags, "fibres": half},
                        {"velocities": {0: 0.6, 1: (0.6, 0.3), 7: (0.6, 0.3)}, "tags": tags, "fibres": half}):
            with self.assertNoLogs("ossatura", "WARNING"):
                eikonal.Solver(self.points, self.tetra, **options)
        with self.assertLogs("ossatura", "WARNING") as log:  # once, as of a fit
            solver = eikonal.Solver(self.points, self.tetra, velocities={0: 0.6, 1: (0.6, 0.3)}, tags=tags, fibres=half)
            for v in (0.3, 0.2):
                solver.set_velocities({0: (0.6, v), 1: (0.6, v)})
        self.assertEqual([record.code for record in log.records], ["missing-directions"])

    def test_velocities_of_tags_that_are_not_there(self):
        tags = (self.points[self.tetra].mean(1)[:, 2] > 1).astype(int)
        with self.assertLogs("ossatura", "INFO") as log:
            solver = eikonal.Solver(self.points, self.tetra, tags=tags, velocities={0: 0.6, 1: 0.5, 9: 0.1, 7: 0.1})
            solver.set_velocities({0: 0.6, 1: 0.5, 8: 0})
        self.assertEqual([record.code for record in log.records], [""] * 2)
        self.assertIn("tags that no tetrahedron has: 7, 9; the mesh has 0, 1", log.output[0])
        self.assertIn("tags that no tetrahedron has: 8; the mesh has 0, 1", log.output[1])

    def test_points_without_volume(self):
        flat = self.points * [1, 1, 0]
        self.refuse(ossatura.InputError, "none of the 48 has a volume", points=flat)
        self.refuse(ossatura.InputError, "has a volume", points=flat * 0)
        with self.assertLogs("ossatura", "WARNING") as log:
            solver = eikonal.Solver(np.vstack([self.points, [[9, 9, 9]] * 2]), self.tetra, velocities=0.5)
        self.assertEqual([record.code for record in log.records], ["unused-points"])
        self.assertIn("2 of 29 points (27 is the first)", log.output[0])
        with self.assertRaisesRegex(ossatura.InputError, "vertex 28 .*in no tetrahedron"):
            solver.solve({28: 0.0})
        np.testing.assert_array_equal(solver.solve({0: 0.0})[:27],
                                      eikonal.Solver(self.points, self.tetra, velocities=0.5).solve({0: 0.0}))

    def test_parts_that_are_not_joined(self):
        """The upper layer has vertices of its own."""
        upper = self.points[self.tetra].mean(1)[:, 2] > 1
        points = np.vstack([self.points, self.points])
        tetra = np.where(upper[:, None], self.tetra + len(self.points), self.tetra)
        with self.assertLogs("ossatura", "WARNING") as log:
            eikonal.Solver(points, tetra, velocities=0.5)
        self.assertIn("split-mesh", [record.code for record in log.records])
        text = next(record.getMessage() for record in log.records if record.code == "split-mesh")
        self.assertIn("9 vertices lie in the place of another one", text)

    def test_sites_in_tissue_that_does_not_conduct(self):
        tags = (self.points[self.tetra].mean(1)[:, 2] > 1).astype(int)
        top = int(np.argmax(self.points[:, 2]))
        message = f"vertex {top}.*does not conduct"
        solver = eikonal.Solver(self.points, self.tetra, tags=tags, velocities={0: 0.5, 1: 0.0})
        with self.assertRaisesRegex(ossatura.InputError, message):
            solver.solve({top: 0.0})
        with self.assertRaisesRegex(ossatura.InputError, message + "|of set 1"):
            solver.solve([{0: 0.0}, {top: 0.0}])
        with self.assertLogs("ossatura", "INFO") as log:
            self.assertTrue(np.isfinite(solver.solve({0: 0.0, top: 0.0})[0]))
        self.assertIn("1 of 2 sites", log.output[0])
        by_tetra = np.where(tags == 1, np.nan, 0.5)
        with self.assertRaisesRegex(ossatura.InputError, message):
            solver.solve({top: 0.0}, velocities=by_tetra)
        self.assertEqual(solver.solve({top: 0.0}, velocities=0.5)[top], 0)

    def test_velocities(self):
        n = len(self.tetra)
        self.refuse(ValueError, "tag", tags=np.ones(n, int), velocities={2: 0.5})
        self.refuse(ValueError, "", velocities=-0.5)
        self.refuse(ossatura.InputError, "one to three", velocities={0: (1, 2, 3, 4)})
        self.refuse(ossatura.InputError, "velocities: an array of shape", velocities=np.ones((n + 1, 3)))
        wrong = np.ones((n, 3))
        wrong[7, 1] = -1
        self.refuse(ossatura.InputError, "tetrahedron 7", velocities=wrong)

    def test_options(self):
        self.refuse(ossatura.UsageError, "precision", precision="half")
        self.refuse(ossatura.UsageError, "method", method="guess")
        self.refuse(ossatura.BackendError, "not in this build", backend="abacus")

    def test_sites(self):
        solver = eikonal.Solver(self.points, self.tetra, velocities=0.5)
        for sites, text in (({27: 0.0}, "vertex 27, and the mesh has 0 to 26"), ({-1: 0.0}, "vertex -1"),
                            ({}, "a set without a site"), ([], "no set of sites"), ([{0: 0.0}, {}], "without a site")):
            with self.assertRaisesRegex(ossatura.InputError, text):
                solver.solve(sites)
        with self.assertRaisesRegex(ossatura.UsageError, "vertex: time"):
            solver.solve([0, 1])
        with self.assertRaises(ValueError):
            solver.solve({0: float("nan")})
        with self.assertRaises(TypeError):
            solver.solve({0.5: 0.0})


if __name__ == "__main__":
    unittest.main()
