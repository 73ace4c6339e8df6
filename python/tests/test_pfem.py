# SPDX-License-Identifier: Apache-2.0
"""Hexahedra of high order: closed forms, gradients against differences, and what must be refused."""
import pathlib
import re
import tempfile
import unittest

import numpy as np
import ossatura
from ossatura import pfem, topopt


def lame_energy(inner, outer, young, poisson):
    """J of an octant of a hollow sphere under 1 Pa from inside."""
    scale = inner**3 / (young * (outer**3 - inner**3))
    radial = scale * ((1 - 2 * poisson) * inner + (1 + poisson) * outer**3 / (2 * inner**2))
    return np.pi * inner**2 / 4 * radial


def sphere(order, backend="serial", **options):
    mesh = pfem.sphere_octant(1.0, 2.0)
    model = pfem.Model(mesh, order=order, young=1.0, poisson=0.3, backend=backend, **options)
    for axis in range(3):
        model.hold(mesh.points[:, axis] < 1e-9, "xyz"[axis])
    model.add_pressure(np.isclose(mesh.radii, 1.0), 1.0)
    return model


def rough_mesh():
    """Eight distorted elements."""
    points, hexa = topopt.box((2, 2, 2), (2.0, 1.6, 1.2))
    inner = np.random.default_rng(1).random(points.shape) - 0.5
    inner[:, 0][points[:, 0] % 2 == 0] = 0  # the ends stay plane
    return pfem.Mesh(points + 0.15 * inner, hexa)


def rough_elasticity(mesh):
    """Of each element, without symmetries."""
    random = np.random.default_rng(2)
    matrix = random.random((len(mesh.hexa), 6, 6)) - 0.5
    matrix = matrix + matrix.swapaxes(1, 2) + 8 * np.eye(6)
    return matrix[(..., *np.triu_indices(6))]


class Solutions(unittest.TestCase):
    def test_a_stretched_bar(self):
        points, hexa = topopt.box((3, 1, 2), (3.0, 1.0, 2.0))
        for backend in ossatura.backends():
            mesh = pfem.Mesh(points, hexa)
            model = pfem.Model(mesh, order=[1, 2, 3, 3, 2, 1], young=200.0, poisson=0.25, backend=backend)
            for axis in range(3):
                model.hold(points[:, axis] == 0, "xyz"[axis])
            load = model.add_traction(points[:, 0] == 3, (4.0, 0, 0))
            result = model.solve(tolerance=1e-12)
            exact = 0.02 * points * [1, -0.25, -0.25]
            np.testing.assert_allclose(result.displacement, exact, atol=1e-12)
            self.assertAlmostEqual(result.strain_energy, 0.5 * 4 * 0.02 * 6, delta=1e-10)
            self.assertAlmostEqual(result.compliance, 2 * result.strain_energy, delta=1e-10)
            np.testing.assert_allclose(np.array(result.reactions)[0], (-8, 0, 0), atol=1e-9)
            samples = result.sample(3)
            np.testing.assert_allclose(samples.displacement, 0.02 * samples.positions * [1, -0.25, -0.25], atol=1e-12)
            np.testing.assert_allclose(samples.stress, np.broadcast_to([4.0, 0, 0, 0, 0, 0], samples.stress.shape),
                                       atol=1e-9)
            np.testing.assert_allclose(samples.von_mises, 4, atol=1e-9)
            np.testing.assert_allclose(samples.energy_density, 0.04, atol=1e-11)
            model.set_load(load, (2.0, 0, 0))
            model.set_material(young=100.0, poisson=0.25)
            np.testing.assert_allclose(model.solve(tolerance=1e-12).displacement, exact, atol=1e-12)
            self.assertAlmostEqual(result.sample(2).stress[0, 0, 0, 0, 0], 4, delta=1e-9)  # as it was

    def test_lames_sphere(self):
        energies = [sphere(order).solve().strain_energy for order in (2, 4, 6, 8)]
        errors = np.sqrt(1 - np.array(energies) / lame_energy(1, 2, 1.0, 0.3))
        self.assertTrue(np.all(errors[1:] < 0.2 * errors[:-1]), errors)
        self.assertAlmostEqual(errors[1], 0.019, delta=0.0005)  # docs/pfem.md
        for backend in ossatura.backends():
            self.assertAlmostEqual(sphere(4, backend).solve().strain_energy / energies[1], 1, delta=1e-12)

    def test_preconditioners(self):
        model = sphere(3)
        expected = model.solve(tolerance=1e-11)
        self.assertEqual(expected.residual_norm, "euclidean")
        for name in ("vertex-stars", "ldlt", "jacobi", "none"):
            result = model.solve(tolerance=1e-11, preconditioner=name)
            self.assertAlmostEqual(result.strain_energy / expected.strain_energy, 1, delta=1e-12)
            np.testing.assert_allclose(result.displacement, expected.displacement, atol=1e-9)
            self.assertEqual(result.residual_norm, "energy" if name == "ldlt" else "euclidean")
            self.assertIn({"ldlt": "factor of", "vertex-stars": "vertex stars"}.get(name, name), result.preconditioner)
        for operator in ("auto", "packed", "bsr", "matrix-free"):
            self.assertAlmostEqual(model.solve(operator=operator).strain_energy / expected.strain_energy, 1, delta=1e-7)
        with self.assertRaisesRegex(ossatura.UsageError, r'operator "shared": .* share no matrix: take "auto"'):
            model.solve(operator="shared")  # elements are curved
        self.assertTrue(model.solve().converged)

    def test_gradients_by_a_factor(self):
        model = sphere(3)
        weights = np.random.default_rng(4).random(model.mesh.points.shape)
        one, other = (model.solve(tolerance=1e-11, preconditioner=name).adjoint(weights) for name in ("vertex-stars", "ldlt"))
        np.testing.assert_allclose(other.elasticity, one.elasticity, atol=1e-8 * np.abs(one.elasticity).max())
        self.assertLess(other.iterations, 4)

    def test_what_is_said_of_a_solve_that_misses_its_tolerance(self):
        def text_of(**options):
            with self.assertRaises(ossatura.ConvergenceError) as caught:
                sphere(4).solve(**options)
            return str(caught.exception)

        self.assertRegex(text_of(max_iterations=2), r"^residual .* after 2 iterations.* 1.0e-08: raise max_iterations or the "
                         "tolerance; check=False")
        self.assertIn("or take preconditioner=\"vertex-stars\"", text_of(max_iterations=2, preconditioner="jacobi"))
        for name in ("vertex-stars", "ldlt"):  # a factor follows stars that rounding ends
            text = text_of(tolerance=1e-22, preconditioner=name)
            self.assertRegex(text, "^error in energy")
            remedy = re.search("because of rounding: give tolerance=([^ ,]+), or", text)
            self.assertIsNotNone(remedy, text)
            self.assertTrue(sphere(4).solve(tolerance=float(remedy[1]), preconditioner=name).converged)

    def test_a_tube_in_plane_strain(self):
        mesh = pfem.cylinder_quarter(1.0, 2.0, 0.5, along=2)
        model = pfem.Model(mesh, order=7, young=1.0, backend="serial")
        for axis in range(3):
            model.hold(mesh.points[:, axis] < 1e-9, "xyz"[axis])
        model.hold(mesh.points[:, 2] == 0.5, "z")
        radius = np.hypot(*mesh.points.T[:2])
        model.add_pressure(np.isclose(radius, 1), 1.0)
        u = model.solve().displacement
        exact = 1.3 / 3 * (0.4 * radius + 4 / radius)
        np.testing.assert_allclose((u[:, :2] * mesh.points[:, :2]).sum(1) / radius, exact, rtol=1e-4)

    def test_curved_elements(self):
        """A map that is quadratic, of a body under uniform stress."""
        points, hexa = topopt.box((1, 1, 1), (1, 1, 1))
        ends = np.array([[0, 1], [4, 5], [3, 2], [7, 6], [0, 3], [4, 7], [1, 2], [5, 6], [0, 4], [3, 7], [1, 5], [2, 6]])
        sides = np.array([[0, 3, 7, 4], [1, 2, 6, 5], [0, 1, 5, 4], [3, 2, 6, 7], [0, 1, 2, 3], [4, 5, 6, 7]])
        corner = points[hexa[0]]
        nodes = np.concatenate([corner, corner[ends].mean(1), corner[sides].mean(1), [corner.mean(0)]])
        bent = nodes + np.stack([0 * nodes[:, 0], 0.2 * nodes[:, 0]**2, 0 * nodes[:, 0]], 1)
        mesh = pfem.Mesh(bent[:8][np.argsort(hexa[0])], hexa, quadratic=bent[None])
        self.assertTrue(mesh.is_curved)
        model = pfem.Model(mesh, order=4, space="tensor", young=10.0, poisson=0.0, points=7, backend="serial")
        model.hold(mesh.points[:, 2] == 0)
        model.add_traction(mesh.points[:, 2] == 1, (0, 0, 1.0))
        result = model.solve(tolerance=1e-11)
        samples = result.sample(4)
        np.testing.assert_allclose(samples.displacement[..., 2], 0.1 * samples.positions[..., 2], atol=1e-9)
        self.assertAlmostEqual(result.strain_energy, 0.05, delta=1e-9)

    def test_files_and_pictures(self):
        result = sphere(3).solve()
        with tempfile.TemporaryDirectory() as folder:
            result.save(pathlib.Path(folder) / "sphere.npz", 3)
            with np.load(pathlib.Path(folder) / "sphere.npz") as file:
                self.assertEqual(float(file["strain_energy"][0]), result.strain_energy)
                self.assertTrue(np.array_equal(file["sample_stress"], result.sample(3).stress))
            result.save(pathlib.Path(folder) / "sphere.vtu", 3)
            head = (pathlib.Path(folder) / "sphere.vtu").read_bytes()
            self.assertIn(b'NumberOfPoints="81" NumberOfCells="24"', head)
            with self.assertRaisesRegex(ossatura.UsageError, "ends in"):
                result.save(pathlib.Path(folder) / "sphere.stl")
        self.assertIn("unknowns", result._repr_html_())
        self.assertIn("strain energy", repr(result))
        _, faces, values = result._surface()
        self.assertEqual(len(faces), 12 * 9)  # of 3 elements: two inner faces each
        self.assertTrue(np.isfinite(values).all())


class Gradients(unittest.TestCase):
    def model(self, elasticity, pull, loads=((0.3,), (0.1, -0.2, 0.4), (0.05, 0.1, 0.2), (0.2, 0.1, -0.3))):
        mesh = rough_mesh()
        model = pfem.Model(mesh, order=[2, 3, 2, 3, 3, 2, 4, 2], elasticity=elasticity, backend="serial")
        x = mesh.points[:, 0]
        model.hold(x == 0)
        if pull:
            model.hold(x == 2, "x", (pull, 0, 0))
        end = x == 2
        model.add_pressure(end, loads[0][0])
        model.add_traction(end, loads[1])
        model.add_force(end, loads[2])
        model.add_body_force(loads[3])
        return model

    def differ(self, number, elasticity, entry, loads=None, step=1e-3):
        """By central differences."""
        values = []
        for sign in (-1, 1):
            if loads is None:
                moved = elasticity.copy()
                moved[entry] += sign * step
                values.append(number(moved, None))
            else:
                moved = [list(load) for load in loads]
                moved[entry[0]][entry[1]] += sign * step
                values.append(number(elasticity, moved))
        return (values[1] - values[0]) / (2 * step)

    def check(self, gradient, number, elasticity):
        size = np.abs(gradient.elasticity).max()
        for entry in ((0, 0), (0, 1), (3, 6), (5, 17), (6, 20), (7, 13)):
            slope = self.differ(number, elasticity, entry)
            self.assertLess(abs(slope - gradient.elasticity[entry]), 1e-6 * size, entry)
        loads = ((0.3,), (0.1, -0.2, 0.4), (0.05, 0.1, 0.2), (0.2, 0.1, -0.3))
        size = max(np.abs(np.ravel(one)).max() for one in gradient.loads)
        for entry in ((0, 0), (1, 0), (1, 2), (2, 1), (3, 0), (3, 2)):
            slope = self.differ(number, elasticity, entry, loads)
            self.assertLess(abs(slope - np.ravel(gradient.loads[entry[0]])[entry[1]]), 1e-6 * size, entry)

    def test_energies_by_elasticity_and_loads(self):
        elasticity = rough_elasticity(rough_mesh())
        for pull in (0.0, 0.2):
            for quantity in ("compliance", "strain_energy"):
                def number(d, loads, pull=pull, quantity=quantity):
                    model = self.model(d, pull, *([] if loads is None else [loads]))
                    return getattr(model.solve(tolerance=1e-13), quantity)
                result = self.model(elasticity, pull).solve(tolerance=1e-13)
                self.check(result.gradient(quantity), number, elasticity)

    def test_any_number_of_the_displacements(self):
        elasticity = rough_elasticity(rough_mesh())
        wanted = np.random.default_rng(3).random(rough_mesh().points.shape)
        def number(d, loads):
            u = self.model(d, 0.2, *([] if loads is None else [loads])).solve(tolerance=1e-13).displacement
            return 0.5 * ((u - wanted)**2).sum()
        result = self.model(elasticity, 0.2).solve(tolerance=1e-13)
        gradient = result.adjoint(result.displacement - wanted)
        self.check(gradient, number, elasticity)
        self.assertGreater(gradient.iterations, 0)

    def test_common_factors(self):
        """The compliance of a body is that of one, by the factor of its elasticity."""
        result = sphere(4).solve(tolerance=1e-12)
        gradient = result.gradient()
        self.assertAlmostEqual(gradient.scale.sum() / -result.compliance, 1, delta=1e-9)
        self.assertAlmostEqual(gradient.loads[0] / (2 * result.compliance), 1, delta=1e-9)
        self.assertEqual(gradient.iterations, result.iterations)  # no further solve
        self.assertAlmostEqual(result.gradient("strain_energy").scale.sum() / -result.strain_energy, 1, delta=1e-9)

    def test_isotropic_elasticity(self):
        d = pfem.isotropic([3.0, 5.0], 0.25)
        self.assertEqual(d.shape, (2, 21))
        matrix = np.zeros((6, 6))
        matrix[np.triu_indices(6)] = d[0]
        matrix = matrix + matrix.T - np.diag(np.diag(matrix))
        compliance = np.linalg.inv(matrix)
        self.assertAlmostEqual(compliance[0, 0], 1 / 3.0)
        self.assertAlmostEqual(compliance[0, 1], -0.25 / 3.0)
        self.assertAlmostEqual(compliance[3, 3], 2 * 1.25 / 3.0)


class Refusals(unittest.TestCase):
    def test_loads_that_do_nothing(self):
        points, hexa = topopt.box((2, 1, 1), (2.0, 1.0, 1.0))
        model = pfem.Model(pfem.Mesh(points, hexa), order=2, young=1.0, poisson=0.0)
        model.hold(points[:, 0] == 0)
        model.add_traction(points[:, 0] == 0, (1, 0, 0))
        with self.assertRaisesRegex(ossatura.InputError, "all loads act where the body is held"):
            model.solve()
        model.add_traction(points[:, 0] == 2, (1, 0, 0))
        with self.assertLogs("ossatura", "WARNING") as log:
            self.assertAlmostEqual(model.solve().strain_energy, 1.0)  # 1/2 stress^2 volume / young
        self.assertEqual([record.code for record in log.records], ["lost-load"])
        self.assertIn("load 0: all of its forces", log.output[0])
        model.add_traction((points[:, 0] == 0) | (points[:, 0] == 2), (1, 0, 0))
        with self.assertLogs("ossatura", "WARNING") as log:
            model.solve()
        self.assertEqual(len(log.records), 2)
        self.assertIn("load 2: 1 of 2 components of forces act where", log.output[1])

    def test_displacements_that_strain_nothing(self):
        points, hexa = topopt.box((2, 1, 1), (2.0, 1.0, 1.0))
        model = pfem.Model(pfem.Mesh(points, hexa), order=2, young=1.0, poisson=0.0)
        model.hold(points[:, 0] == 0, displacement=(1e-3, 0, 0))
        with self.assertRaisesRegex(ossatura.InputError, "move the body as a rigid body, which strains nothing"):
            model.solve()
        model.add_traction(points[:, 0] == 2, (1, 0, 0))  # supports that give way under a load
        self.assertAlmostEqual(model.solve().strain_energy, 1.0)

    def test_elements_that_turn_about_an_edge(self):
        points, hexa = topopt.box((2, 2, 1), (2.0, 2.0, 1.0))
        used, hexa = np.unique(hexa[[0, 3]], return_inverse=True)
        points = points[used]
        model = pfem.Model(pfem.Mesh(points, hexa.reshape(2, 8).astype(np.int32)), order=2, young=1.0, poisson=0.3)
        model.hold(points[:, 0] == 0)
        model.add_traction(points[:, 0] == 2, (1, -1, 0))
        with self.assertRaisesRegex(ossatura.InputError, "can turn about vertex [0-9]+, where elements touch others along an edge"):
            model.solve()

    def test_curved_elements_that_do_not_fit(self):
        points, hexa = topopt.box((2, 1, 1), (2.0, 1.0, 1.0))
        edges = "01 45 32 76 03 47 12 56 04 37 15 26".split()
        faces = "0374 1265 0154 3267 0321 4567".split()
        quadratic = np.array([[points[elem[[int(k) for k in some]]].mean(0)
                               for some in [*"01234567", *edges, *faces, "01234567"]] for elem in hexa])

        def refuse(elem, point, text, shift=(0.0, 0.02, 0.01)):
            wrong = quadratic.copy()
            wrong[elem, point] += shift
            with self.assertRaisesRegex(ossatura.InputError, text):
                pfem.Mesh(points, hexa, quadratic=wrong)

        refuse(1, 3, r"quadratic: point 3 of element 1 is at \(1, 1.02, 0.01\), and its vertex, node 4 of points, at \(1, 1, 0\)")
        refuse(0, 21, "point 20 of element 1, in the middle of a face, is at .* and element 0 has it, its point 21")
        refuse(1, 12, "point 12 of element 1, in the middle of an edge, is at .* and element 0 has it, its point 14")
        refuse(0, 9, "point 9 of element 0 is not finite", np.nan)
        fitting = quadratic.copy()  # what no neighbour has may be anywhere, and what both have where both have it
        fitting[0, [20, 26]] += 0.02
        fitting[0, 21] += 0.03
        fitting[1, 20] += 0.03
        for given in (fitting, fitting.astype(np.float32)):
            self.assertTrue(pfem.Mesh(points, hexa, quadratic=given).is_curved)
        with self.assertRaisesRegex(ossatura.InputError, "element 2 has the same nodes as element 0"):
            pfem.Mesh(points, np.vstack([hexa, hexa[:1]]))

    def test_meshes_and_materials(self):
        points, hexa = topopt.box((1, 1, 1), (1, 1, 1))
        mesh = pfem.Mesh(points, hexa)
        for error, text, call in (
                (ossatura.InputError, "points: an array", lambda: pfem.Mesh(points[:, :2], hexa)),
                (ossatura.InputError, "not finite", lambda: pfem.Mesh(points * np.nan, hexa)),
                (ossatura.InputError, "hexa: element 0 .* are elements of other points", lambda: pfem.Mesh(points, hexa + 5)),
                (ossatura.InputError, "counted from 1", lambda: pfem.Mesh(points, hexa + 1)),
                (ossatura.InputError, "quadratic: an array", lambda: pfem.Mesh(points, hexa, quadratic=np.ones((1, 20, 3)))),
                (ossatura.InputError, r"points: 1 of 9 \(8 is the first\) belong to no element",
                 lambda: pfem.Mesh(np.vstack([points, [[0, 9, 9]]]), hexa)),
                (ValueError, "", lambda: pfem.sphere_octant(2.0, 1.0)),
                (TypeError, "pfem.Mesh", lambda: pfem.Model(points, young=1.0)),
                (ossatura.UsageError, "give young", lambda: pfem.Model(mesh)),
                (ossatura.UsageError, "give young", lambda: pfem.Model(mesh, young=1, elasticity=np.ones(21))),
                (ossatura.InputError, "elasticity: an array", lambda: pfem.Model(mesh, elasticity=np.ones(6))),
                (ValueError, "positive definite", lambda: pfem.Model(mesh, elasticity=-np.ones(21))),
                (ossatura.InputError, "isotropic", lambda: pfem.Model(mesh, young=1, poisson=0.5)),
                (TypeError, "young: numbers, not <U5", lambda: pfem.Model(mesh, young="210e9")),
                (TypeError, "poisson: numbers", lambda: pfem.Model(mesh, young=1, poisson=["0.3"])),
                (ossatura.InputError, r"young: an array of shape \[1\], not \[3\]", lambda: pfem.Model(mesh, young=[1, 2, 3])),
                (ossatura.InputError, "order: 1 to 10", lambda: pfem.Model(mesh, young=1, order=11)),
                (ossatura.UsageError, "points=15", lambda: pfem.Model(mesh, young=1, points=15)),
                (ossatura.UsageError, "space", lambda: pfem.Model(mesh, young=1, space="full")),
                (ossatura.BackendError, "not in this build", lambda: pfem.Model(mesh, young=1, backend="abacus"))):
            with self.assertRaisesRegex(error, text):
                call()
        model = pfem.Model(mesh, young=1.0)
        with self.assertRaisesRegex(ValueError, "positive definite"):
            model.set_material(elasticity=-np.ones(21))
        model.hold(points[:, 2] == 0)
        model.add_pressure(points[:, 2] == 1, 1.0)
        self.assertTrue(model.solve().converged)  # with what it had

    def test_supports_and_loads(self):
        points, hexa = topopt.box((2, 1, 1), (2, 1, 1))
        model = pfem.Model(pfem.Mesh(points, hexa), young=1.0, order=2, backend="serial")
        for error, text, call in (
                (TypeError, "where: an array of bool", lambda: model.hold([0, 1])),
                (ossatura.InputError, "where: an array of shape", lambda: model.hold(points[:3, 0] == 0)),
                (ossatura.InputError, "no vertex is chosen", lambda: model.hold(points[:, 0] > 5)),
                (ossatura.UsageError, "components", lambda: model.hold(points[:, 0] == 0, "xw")),
                (ossatura.InputError, "displacement", lambda: model.hold(points[:, 0] == 0, "x", (np.nan, 0, 0))),
                (ossatura.InputError, "none of the faces", lambda: model.add_pressure((points == 0).all(1), 1.0)),
                (ossatura.UsageError, "load 0: there are 0", lambda: model.set_load(0, 1.0)),
                (ossatura.InputError, "move", lambda: model.solve())):
            with self.assertRaisesRegex(error, text):
                call()
        model.hold(points[:, 0] == 0)
        with self.assertRaisesRegex(ossatura.InputError, "there are no loads"):
            model.solve()
        with self.assertRaisesRegex(ossatura.InputError, "another hold"):
            model.hold((points == 0).all(1), "x", (1, 0, 0))
        model.add_pressure(points[:, 0] == 2, 1.0)
        for options, text in (({"tolerance": 2}, "tolerance"), ({"max_iterations": 0}, "max_iterations"),
                              ({"preconditioner": "magic"}, "preconditioner='magic': one of 'vertex-stars', 'ldlt'"),
                              ({"operator": None}, "operator=None: one of 'auto'")):
            with self.assertRaisesRegex(ossatura.UsageError, text):
                model.solve(**options)
        with self.assertRaises(ossatura.ConvergenceError) as caught:
            model.solve(max_iterations=1, preconditioner="jacobi")
        self.assertFalse(caught.exception.result.converged)
        with self.assertRaisesRegex(ossatura.UsageError, "quantity"):
            model.solve().gradient("beauty")
        with self.assertRaisesRegex(ossatura.InputError, "weights"):
            model.solve().adjoint(np.ones(3))

    def test_warnings(self):
        points, hexa = topopt.box((1, 1, 1), (1, 1, 1))
        for options, code in (({"poisson": 0.495, "order": 2}, "locking"), ({"points": 2, "order": 2}, "too-few-points")):
            with self.assertLogs("ossatura") as seen:
                pfem.Model(pfem.Mesh(points, hexa), young=1.0, **options)
            self.assertEqual([record.code for record in seen.records], [code])

    def test_a_top_that_is_turned_against_its_bottom(self):
        points, hexa = topopt.box((2, 1, 1), (2.0, 1.0, 1.0))
        hexa[1, 4:] = np.roll(hexa[1, 4:], 1)
        with self.assertRaisesRegex(ossatura.InputError, "hexa: element 1: the top of the hexahedron is turned"):
            pfem.Model(pfem.Mesh(points, hexa), order=2, young=1.0, poisson=0.0)

    def test_parts_that_are_not_joined(self):
        """Two cubes whose common face is there twice."""
        one, cube = topopt.box((1, 1, 1), (1.0, 1.0, 1.0))
        points = np.concatenate([one, one + [1.0, 0.0, 0.0]])
        hexa = np.concatenate([cube, cube + len(one)])
        with self.assertLogs("ossatura", "WARNING") as log:
            pfem.Model(pfem.Mesh(points, hexa), order=2, young=1.0, poisson=0.0)
        self.assertEqual([record.code for record in log.records], ["split-mesh"])
        self.assertIn("4 nodes lie in the place of another one", log.output[0])


if __name__ == "__main__":
    unittest.main()
