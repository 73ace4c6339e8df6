# SPDX-License-Identifier: Apache-2.0
"""Functions of JAX: values and gradients of those of the package, under grad, jit and vmap. Skipped without JAX."""
import unittest

import numpy as np
import ossatura
from cases import porous_image, tetra_box, turning_fibres
from ossatura import bone, eikonal, softbody, topopt

try:
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    import ossatura.jax
except ImportError:
    jax = None


@unittest.skipUnless(jax, "no JAX")
class Functions(unittest.TestCase):
    def test_activation_times(self):
        points, tetra = tetra_box(4)
        fibres = turning_fibres(points, tetra)
        rows = (points[tetra].mean(1)[:, 0] > 2).astype(int)
        solver = eikonal.Solver(points, tetra, fibres=fibres, velocities=1.0, tolerance=1e-14, backend="serial")
        times = ossatura.jax.activation_times(solver, [0, 60])
        target = np.linspace(1, 5, solver.num_points)

        def misfit(by_tag, site_times):
            return ((times(by_tag[rows], site_times) - target)**2).sum()

        by_tag = jnp.array([[0.6, 0.3, 0.2], [0.8, 0.5, 0.4]])
        start = jnp.array([0.0, 1.5])
        value, slopes = jax.jit(jax.value_and_grad(misfit, argnums=(0, 1)))(by_tag, start)
        there = solver.solve({0: 0.0, 60: 1.5}, velocities=np.asarray(by_tag)[rows])
        self.assertAlmostEqual(float(value), ((there - target)**2).sum(), delta=1e-9)
        step = 1e-6
        for place in ((0, 0), (0, 1), (1, 1)):  # without sheets the third counts for nothing
            move = np.zeros((2, 3))
            move[place] = step
            slope = (misfit(by_tag + move, start) - misfit(by_tag - move, start)) / (2 * step)
            self.assertAlmostEqual(float(slope / slopes[0][place]), 1, delta=1e-5)
        move = np.array([0, step])
        slope = (misfit(by_tag, start + move) - misfit(by_tag, start - move)) / (2 * step)
        self.assertAlmostEqual(float(slope / slopes[1][1]), 1, delta=1e-5)
        many = jax.vmap(times, in_axes=(None, 0))(by_tag[rows], jnp.array([[0.0, 1.5], [1.0, 2.5]]))
        np.testing.assert_allclose(many[1], many[0] + 1, atol=1e-9)
        single = times(by_tag[rows].astype(jnp.float32), start.astype(jnp.float32))
        self.assertEqual(single.dtype, jnp.float32)

    def test_velocities_of_one_and_two_directions(self):
        points, tetra = tetra_box(3)
        solver = eikonal.Solver(points, tetra, fibres=turning_fibres(points, tetra), velocities=1.0, tolerance=1e-14,
                                backend="serial")
        times, start = ossatura.jax.activation_times(solver, [0, 40]), jnp.array([0.0, 1.5])
        random = np.random.default_rng(4)
        weights = random.normal(size=len(points))
        for shape in ((len(tetra),), (len(tetra), 1), (len(tetra), 2)):
            velocities, move = random.uniform(0.4, 0.6, shape), random.normal(size=shape) * 1e-6
            for made in (lambda function: function, jax.jit):
                slopes = made(jax.grad(lambda v: (weights * times(v, start)).sum()))(velocities)
                self.assertEqual(slopes.shape, shape)
                slope = [(weights * solver.solve({0: 0.0, 40: 1.5}, velocities=velocities + sign * move)).sum() / 2
                         for sign in (1, -1)]
                self.assertAlmostEqual(float((slopes * move).sum()) / (slope[0] - slope[1]), 1, delta=1e-5)
        self.assertEqual(times(jnp.full(len(tetra), 0.5, jnp.bfloat16), start).dtype, jnp.bfloat16)
        for shape in ((), (3,), (len(tetra), 4)):
            with self.assertRaisesRegex(ossatura.InputError, r"velocities: an array of shape \[162\] or \[162, 1 to 3\], not"):
                times(np.ones(shape), start)
        with self.assertRaisesRegex(ossatura.UsageError, "site_times: 2 numbers"):
            times(velocities, jnp.zeros(3))
        with self.assertRaisesRegex(TypeError, "vertices=0.7: a whole number"):
            ossatura.jax.activation_times(solver, [0.7])

    def test_compliance(self):
        points, hexa = topopt.box((6, 4, 3), (6, 4, 3))
        force = np.where((points == (6, 0, 0)).all(1)[:, None], (0, 0, -1.0), 0)
        options = {"young": 1, "held": points[:, 0] == 0, "loads": force, "volume": 0.4, "backend": "serial"}
        optimizer = topopt.Optimizer(points, hexa, **options, tolerance=1e-10)
        function = ossatura.jax.compliance(optimizer)
        x = np.linspace(0.3, 0.9, len(hexa))
        found = optimizer.analyse(x)
        objective, volume = jax.jit(function)(x)
        self.assertAlmostEqual(float(objective / found.objective), 1, delta=1e-9)
        self.assertAlmostEqual(float(volume), found.volume, delta=1e-12)
        gradient = jax.grad(lambda x: function(x)[0] + 10 * function(x)[1]**2)(x)
        np.testing.assert_allclose(gradient, found.gradient + 20 * found.volume * found.volume_gradient, rtol=1e-6)
        sensitivity = ossatura.jax.compliance(topopt.Optimizer(points, hexa, **options, filter="sensitivity"))
        with self.assertRaisesRegex(ossatura.UsageError, "sensitivity"):
            sensitivity(x)

    def test_stiffness(self):
        image = porous_image((8, 7, 6)).astype(float)
        result = bone.solve(image, 0.1, backend="serial")
        function = ossatura.jax.stiffness(0.1, backend="serial")
        value, gradient = jax.value_and_grad(lambda moduli: 2 * function(moduli))(image)
        self.assertEqual(float(value), 2 * result.stiffness)
        np.testing.assert_allclose(gradient, 2 * result.gradient(), rtol=1e-12)
        with self.assertRaisesRegex(ossatura.UsageError, "quantity"):
            ossatura.jax.stiffness(0.1, "beauty")

    def test_displacement_and_homogenised_stiffness(self):
        image = porous_image((5, 4, 4)).astype(float)
        weights = np.random.default_rng(3).standard_normal((6, 5, 5, 3))
        result = bone.solve(image, 0.1, backend="serial")
        function = ossatura.jax.displacement(0.1, backend="serial")
        value, gradient = jax.jit(jax.value_and_grad(lambda moduli: (weights * function(moduli)).sum()))(image)
        self.assertAlmostEqual(float(value), (weights * result.displacement).sum(), delta=1e-12)
        np.testing.assert_allclose(gradient, result.adjoint(weights), rtol=1e-9, atol=1e-15)
        cell = ossatura.jax.homogenise(0.1, boundary="periodic", backend="serial")
        found = bone.homogenise(image, 0.1, boundary="periodic", gradients=True, backend="serial")
        shear = np.zeros((6, 6))
        shear[3, 3] = 1
        np.testing.assert_array_equal(cell(image), found.stiffness)
        np.testing.assert_allclose(jax.grad(lambda moduli: cell(moduli)[3, 3])(image), found.gradient(shear), rtol=1e-9)

    def test_motion(self):
        points, tetra = tetra_box(1)
        world = softbody.World(time_step=0.1, gravity=(0, 0, -1), rayleigh_stiffness=0.01, newton_iterations=60,
                               tolerance=1e-13, backend="serial")
        world.add(points, tetra, law="neo_hookean", young=20, density=10, fixed=points[:, 0] == 0)
        motion = ossatura.jax.motion(world, 3)
        goal = points + 0.1

        def miss(velocities, loads, young):
            positions, speeds = motion(velocities=velocities, loads=loads, young=young)
            return ((positions[-1] - goal)**2).sum() + 0.01 * (speeds[1]**2).sum()

        random = np.random.default_rng(9)
        given = [0.1 * random.standard_normal(points.shape), 0.5 * random.standard_normal(points.shape), np.array([20.0])]
        slopes = jax.jit(jax.grad(miss, argnums=(0, 1, 2)))(*given)
        for k, step in enumerate((1e-5, 1e-5, 1e-3)):
            along = step * random.standard_normal(given[k].shape)
            moved = [miss(*(x + sign * along if i == k else x for i, x in enumerate(given))) for sign in (1, -1)]
            self.assertAlmostEqual(float((moved[0] - moved[1]) / 2 / (slopes[k] * along).sum()), 1, delta=1e-5)
        with self.assertRaisesRegex(ossatura.UsageError, "young: of shape"):
            motion(young=np.ones(2))

    def test_laws_and_pads_have_no_gradients(self):
        mask = np.ones((2, 2, 2), np.uint8)
        for options in ({"label_laws": {1: bone.Law("linear", slope=8)}}, {"pads": {1: 2500}}):
            for make in (ossatura.jax.stiffness, ossatura.jax.displacement, ossatura.jax.homogenise):
                with self.assertRaisesRegex(ossatura.UsageError, f"{next(iter(options))}: gradients are by the modulus"):
                    make(0.5, mask=mask, **options)

    def test_errors_arrive(self):
        function = ossatura.jax.stiffness(0.1, backend="serial")
        with self.assertRaisesRegex(Exception, "modulus at|InputError"):
            function(-np.ones((3, 3, 3))).block_until_ready()


if __name__ == "__main__":
    unittest.main()
