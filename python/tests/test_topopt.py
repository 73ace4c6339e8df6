# SPDX-License-Identifier: Apache-2.0
"""Topology optimisation: a known course, gradients against differences, and what must be refused."""
import unittest

import numpy as np
import ossatura
from ossatura import topopt


def cantilever(cells=(12, 6, 4), **options):
    """A beam held at x = 0 with a load at the lower edge of its end, and its keywords."""
    points, hexa = topopt.box(cells, cells)
    force = np.zeros(points.shape)
    end = (points[:, 0] == cells[0]) & (points[:, 2] == 0)
    force[end, 2] = -1.0 / end.sum()
    return points, hexa, {"young": 1.0, "held": points[:, 0] == 0, "loads": force, "volume": 0.4, "backend": "serial",
                          **options}


class Courses(unittest.TestCase):
    def test_the_course_of_top3D125(self):
        """Five steps of Ferrari and Sigmund's example (doi:10.1007/s00158-020-02629-w), whose fifth compliance is from
        a program in Octave that follows theirs."""
        cells = (24, 12, 12)
        points, hexa = topopt.box(cells, cells)
        force = np.zeros(points.shape)
        edge = (points[:, 0] == 24) & (points[:, 2] == 0)
        force[edge, 2] = -np.sin(np.pi * points[edge, 1] / 12)
        for backend in ossatura.backends():
            optimizer = topopt.Optimizer(points, hexa, young=1, held=points[:, 0] == 0, loads=force, volume=0.12,
                                         radius=3**0.5, backend=backend, multiplier_tolerance=1e-4,
                                         mirrors=[(axis, place) for axis, n in zip("xyz", cells) for place in (0, n)])
            steps = [optimizer.step() for _ in range(5)]
            self.assertAlmostEqual(steps[-1].objective / 3.52973593e4, 1, delta=1e-5)
            self.assertEqual([step.number for step in steps], [1, 2, 3, 4, 5])
            self.assertAlmostEqual(steps[-1].volume, 0.12, delta=1e-4)

    def test_iterating_ends_and_improves(self):
        points, hexa, options = cantilever(max_steps=12)
        optimizer = topopt.Optimizer(points, hexa, **options)
        steps = list(optimizer)
        self.assertLessEqual(len(steps), 12)
        self.assertLess(steps[-1].objective, 0.5 * steps[0].objective)
        self.assertTrue(np.all((optimizer.densities >= 0) & (optimizer.densities <= 1)))
        self.assertAlmostEqual(optimizer.densities.mean(), 0.4, delta=1e-3)
        self.assertEqual(optimizer.energies.shape, (len(hexa),))
        self.assertTrue(np.all(optimizer.displacement()[points[:, 0] == 0] == 0))

    def test_variables_are_set(self):
        points, hexa, options = cantilever()
        roles = np.zeros(len(hexa), int)
        roles[:5], roles[5:9] = 1, 2
        optimizer = topopt.Optimizer(points, hexa, **options, roles=roles)
        optimizer.step()
        x = np.linspace(0, 1, len(hexa))
        optimizer.set_variables(x)
        x[:5], x[5:9] = 1, 0
        self.assertTrue(np.array_equal(optimizer.variables, x))
        fresh = topopt.Optimizer(points, hexa, **options, roles=roles)
        self.assertAlmostEqual(optimizer.analyse().objective / fresh.analyse(x).objective, 1, delta=1e-5)
        self.assertEqual(optimizer.step().number, 2)
        for wrong in (-0.1, 1.1, np.nan):
            with self.assertRaisesRegex(ossatura.InputError, "x: variables from 0 to 1"):
                optimizer.set_variables(np.full(len(hexa), wrong))
        with self.assertRaisesRegex(ossatura.InputError, "x: an array of shape"):
            optimizer.set_variables(np.ones(3))

    def test_roles_and_cases_are_kept(self):
        points, hexa, options = cantilever()
        middle = points[hexa].mean(1)
        roles = np.where(middle[:, 2] > 3, 1, 0)
        roles[middle[:, 0] > 11] = 2
        roles[middle[:, 2] < 1] = 0
        down, side = options["loads"], np.roll(options["loads"], 1, axis=1)
        options.update(loads=[down, side], weights=(1.0, 0.5), roles=roles, penalty=(1, 3, 2, 1))
        optimizer = topopt.Optimizer(points, hexa, **options)
        first = optimizer.step()
        self.assertAlmostEqual(first.objective, first.cases[0] + 0.5 * first.cases[1], delta=1e-9 * first.objective)
        self.assertEqual([optimizer.step().penalty for _ in range(4)], [1, 2, 2, 3])
        self.assertTrue(np.all(optimizer.densities[roles == 1] == 1))
        self.assertTrue(np.all(optimizer.densities[roles == 2] == 0))
        f_u = (down * optimizer.displacement(0)).sum()
        self.assertGreater(f_u, 0)
        with self.assertRaisesRegex(ossatura.UsageError, "load case 2"):
            optimizer.displacement(2)


class Gradients(unittest.TestCase):
    def test_objective_and_volume_by_variables_are_those_of_differences(self):
        points, hexa, options = cantilever((6, 4, 3))
        random = np.random.default_rng(3)
        for filter in ("none", "density", "helmholtz"):
            optimizer = topopt.Optimizer(points, hexa, **options, filter=filter, tolerance=1e-12)
            x = 0.3 + 0.6 * random.random(len(hexa))
            found = optimizer.analyse(x)
            self.assertTrue(np.array_equal(optimizer.variables, x))
            for e in (0, 17, 40, 71):
                values = []
                for step in (-1e-5, 1e-5):
                    moved = x.copy()
                    moved[e] += step
                    other = optimizer.analyse(moved)
                    values.append((other.objective, other.volume))
                slope = (np.array(values[1]) - np.array(values[0])) / 2e-5
                self.assertLess(abs(slope[0] - found.gradient[e]), 1e-6 * np.abs(found.gradient).max(), filter)
                self.assertLess(abs(slope[1] - found.volume_gradient[e]), 1e-8)

    def test_compliance_by_one_factor_of_all_densities(self):
        """Without a filter and with E_min = 0 nearly: c(a x) = a^-p c(x), so that x . dc/dx = -p c."""
        points, hexa, options = cantilever((6, 4, 3), filter="none", min_modulus=1e-12, tolerance=1e-10)
        optimizer = topopt.Optimizer(points, hexa, **options)
        x = np.full(len(hexa), 0.5)
        found = optimizer.analyse(x)
        self.assertAlmostEqual((x * found.gradient).sum() / found.objective, -3, delta=1e-6)


class Doubts(unittest.TestCase):
    def test_forces_that_do_nothing(self):
        points, hexa, options = cantilever((4, 3, 2))
        loads = np.array(options["loads"])
        loads[0, 1:] = -1  # at x = 0, which is held
        with self.assertLogs("ossatura", "WARNING") as log:
            topopt.Optimizer(points, hexa, **{**options, "loads": [options["loads"], loads]})
        self.assertEqual([record.code for record in log.records], ["lost-load"])
        self.assertRegex(log.output[0], r"loads: 2 of 6 components of load case 1 .* \(node 0 is the first\)")

    def test_parts_that_are_not_joined(self):
        """Two beams, each held at its end, whose common face is there twice."""
        one, beam, options = cantilever((4, 3, 2))
        points = np.concatenate([one, one + [4.0, 0.0, 0.0]])
        hexa = np.concatenate([beam, beam + len(one)])
        force = np.zeros(points.shape)
        force[points[:, 0] == 4, 2] = -1.0
        held = (points[:, 0] == 0) | (points[:, 0] == 8)
        with self.assertLogs("ossatura", "WARNING") as log:
            topopt.Optimizer(points, hexa, **{**options, "held": held, "loads": force})
        self.assertEqual([record.code for record in log.records], ["split-mesh"])
        self.assertIn("12 nodes lie in the place of another one", log.output[0])


class Refusals(unittest.TestCase):
    def refuse(self, error, text, **changes):
        points, hexa, options = cantilever((4, 3, 2))
        keywords = {"points": points, "hexa": hexa, **options, **changes}
        with self.assertRaisesRegex(error, text):
            topopt.Optimizer(keywords.pop("points"), keywords.pop("hexa"), **keywords)

    def test_arrays(self):
        self.refuse(TypeError, "held: an array of bool", held=np.zeros(60))
        self.refuse(ossatura.InputError, "held: an array of shape", held=np.zeros((3, 3), bool))
        self.refuse(ossatura.InputError, "loads: an array of shape", loads=np.zeros((3, 3)))
        self.refuse(ossatura.InputError, "weights", weights=(1, 2))
        self.refuse(ossatura.InputError, "hexa: an array of shape", hexa=np.zeros((2, 4), int))
        self.refuse(ossatura.InputError, "roles", roles=np.full(24, 3))
        self.refuse(ossatura.InputError, "hold more nodes", held=np.zeros(60, bool))
        points = topopt.box((4, 3, 2), (4, 3, 2))[0]
        self.refuse(ossatura.InputError, "hold more nodes",
                    held=(points == 0) & (points[:, :1] == 0) & [[True, False, True]])
        self.refuse(ValueError, "nothing on components that are free", loads=np.zeros((60, 3)))
        self.refuse(ValueError, "nothing on components that are free", loads=[
            np.ones((60, 3)), np.where(points[:, :1] == 0, 1.0, 0.0) * np.ones(3)])
        self.refuse(ossatura.InputError, "not finite", loads=np.full((60, 3), np.nan))
        self.refuse(ossatura.InputError, "all of its elements are void",
                    roles=np.where(points[topopt.box((4, 3, 2), (4, 3, 2))[1]].mean(1)[:, 0] > 3, 2, 0))
        self.refuse(ossatura.InputError, "cut off what the load case", roles=np.where(
            np.abs(points[topopt.box((4, 3, 2), (4, 3, 2))[1]].mean(1)[:, 0] - 2) < 1, 2, 0))
        self.refuse(ossatura.InputError, "and the 60 points are numbered 0 to 59", hexa=np.full((24, 8), 1000))
        self.refuse(ossatura.InputError, "load case 1 has nothing on components that are free", loads=[
            np.ones((60, 3)), np.where(points[:, :1] == 0, 1.0, 0.0) * np.ones(3)])  # counted from 0, as all here
        self.refuse(ossatura.InputError, r"weights\[1\]=0.0: greater than 0", loads=[np.ones((60, 3))] * 2, weights=(1, 0))
        hexa = topopt.box((4, 3, 2), (4, 3, 2))[1]
        more = np.vstack([[[9.0, 9.0, 9.0]], points])  # as reference points of other programs
        self.refuse(ossatura.InputError, r"points: 1 of 61 \(0 is the first\) belong to no element of hexa.*points\[used\]",
                    points=more, hexa=hexa + 1, held=more[:, 0] == 0, loads=np.ones((61, 3)))
        used, numbers = np.unique(hexa + 1, return_inverse=True)  # the remedy
        np.testing.assert_array_equal(more[used], points)
        np.testing.assert_array_equal(numbers.reshape(hexa.shape), hexa)
        turned = hexa[5, [1, 2, 3, 0, 5, 6, 7, 4]]  # the same element with another first node
        self.refuse(ossatura.InputError, "element 24 has the same nodes as element 5", hexa=np.vstack([hexa, [turned]]))
        turned = hexa.copy()
        turned[5, 4:] = np.roll(turned[5, 4:], 1)
        self.refuse(ossatura.InputError, "hexa: element 5: the top of the hexahedron is turned", hexa=turned)
        folded = hexa.copy()
        folded[3, 7] = folded[3, 6]
        self.refuse(ossatura.InputError, "hexa: element 3 has nodes .*, not 8 different ones", hexa=folded)

    def test_options(self):
        self.refuse(ossatura.UsageError, "filter", filter="coffee")
        self.refuse(ossatura.UsageError, "method", method="luck")
        self.refuse(ossatura.UsageError, "penalty", penalty=(1, 2))
        for every in (0, -1, 0.5, 2.9):
            self.refuse(ossatura.UsageError, "penalty: it grows every", penalty=(1, 3, every, 0.5))
        for tolerance in (0.9, 0, -1):
            self.refuse(ossatura.UsageError, "multiplier_tolerance", multiplier_tolerance=tolerance)
        self.refuse(ossatura.UsageError, "mirrors", mirrors=[("w", 0)])
        self.refuse(ValueError, "", volume=0)
        self.refuse(ValueError, "", young=-1)
        self.refuse(ossatura.BackendError, "not in this build", backend="abacus")
        with self.assertRaisesRegex(ossatura.UsageError, "at least one"):
            topopt.box((0, 1, 1), (1, 1, 1))

    def test_variables(self):
        points, hexa, options = cantilever((4, 3, 2))
        optimizer = topopt.Optimizer(points, hexa, **options)
        with self.assertRaisesRegex(ossatura.InputError, "from 0 to 1"):
            optimizer.analyse(np.full(len(hexa), 1.5))
        with self.assertRaisesRegex(ossatura.InputError, "x: an array of shape"):
            optimizer.analyse(np.ones(3))

    def test_what_does_not_converge_leaves_the_design(self):
        points, hexa, options = cantilever(max_iterations=1)
        optimizer = topopt.Optimizer(points, hexa, **options)
        before = optimizer.variables
        with self.assertRaises(ossatura.ConvergenceError):
            optimizer.step()
        self.assertTrue(np.array_equal(optimizer.variables, before))


if __name__ == "__main__":
    unittest.main()
