# SPDX-License-Identifier: Apache-2.0
"""Arrays on a GPU, of PyTorch, CuPy and JAX: the numbers of NumPy's, in the caller's memory, in the order in which the
GPU is given work. Skipped without the backend cuda; what is chosen where a GPU does not fit is tested everywhere."""
import unittest

import numpy as np
import ossatura
from cases import porous_image, run_script, tetra_box, turning_fibres
from ossatura import _module, bone, eikonal, pfem, softbody, topopt

HAS_GPU = "cuda" in ossatura.backends()
LIBRARIES = {}
if HAS_GPU:
    try:
        import torch
        import ossatura.torch
        LIBRARIES["torch"] = (lambda x: torch.as_tensor(x, device="cuda"), lambda x: x.cpu().numpy(), torch.Tensor)
    except ImportError:
        pass
    try:
        import cupy
        LIBRARIES["cupy"] = (cupy.asarray, cupy.asnumpy, cupy.ndarray)
    except ImportError:
        pass
    try:
        import jax
        jax.config.update("jax_enable_x64", True)
        LIBRARIES["jax"] = (lambda x: jax.device_put(x, jax.devices("gpu")[0]), np.asarray, jax.Array)
    except (ImportError, RuntimeError):
        pass
WRITABLE = [name for name in LIBRARIES if name != "jax"]


class Choice(unittest.TestCase):
    def test_what_does_not_fit(self):
        _module.require_fit([90], "13.0.88", [(9, 0), (10, 0)], 13000)
        for architectures, cuda, gpus, driver, says in (
                ([90], "13.0", [], 13000, "no GPU is visible"), ([90], "13.0", [(8, 6)], 13000, "capability 8.6"),
                ([80, 90], "13.0", [(7, 5), (9, 0)], 13000, "for 8.0 and later"),
                ([90], "13.1", [(9, 0)], 12080, "the driver is of CUDA 12.8")):
            with self.assertRaisesRegex(_module.NoGpu, says):
                _module.require_fit(architectures, cuda, gpus, driver)

    def test_which_are_visible(self):
        ids = ["GPU-11", "GPU-22", "GPU-33"]
        for chosen, found in ((None, [0, 1, 2]), ("", []), ("2,0", [2, 0]), ("GPU-22", [1]), ("0,7,1", [0]), ("-1", []),
                              ("MIG-5", [0, 1, 2])):
            self.assertEqual(_module.visible(chosen, ids), found, chosen)

    def test_the_host_does_without_a_gpu(self):
        code, out, err = run_script("import ossatura; print(ossatura.backends()[-1])", CUDA_VISIBLE_DEVICES="")
        if code == 0:  # where there is a module for the host
            self.assertEqual((out, err), ("openmp\n", ""))
        script = ("import numpy, ossatura\n"
                  "try: ossatura.bone.solve(numpy.ones((3, 3, 3)), 1.0, backend='cuda')\n"
                  "except ossatura.BackendError as error: print(error)")
        code, out, err = run_script(script, CUDA_VISIBLE_DEVICES="")
        if code == 0:
            self.assertRegex(out, "^backend=\"cuda\": .*(not installed|no GPU is visible|no driver)")


@unittest.skipUnless(LIBRARIES, "no backend cuda, or no library with arrays on a GPU")
class Arrays(unittest.TestCase):
    @staticmethod
    def each(names=None):
        return [LIBRARIES[name] for name in (LIBRARIES if names is None else names)]

    def assert_is(self, found, expected, library, **tolerance):
        """An array of the library with the values of NumPy's."""
        put, host, kind = library
        self.assertIsInstance(found, kind)
        self.assertEqual(found.__dlpack_device__()[0], 2)
        if tolerance:
            np.testing.assert_allclose(host(found), expected, **tolerance)
        else:
            np.testing.assert_array_equal(host(found), expected)

    def test_bone(self):
        image = porous_image((24, 20, 17))
        expected = bone.solve(image, 0.1, backend="cuda", tolerance=1e-9)
        on_host = bone.solve(image, 0.1, backend="openmp", tolerance=1e-9)
        self.assertAlmostEqual(expected.stiffness / on_host.stiffness, 1, delta=1e-8)
        weights = np.random.default_rng(1).standard_normal(expected.displacement.shape)
        for library in self.each():
            put, host, _ = library
            found = bone.solve(put(image), 0.1, tolerance=1e-9)
            self.assertEqual(found.stiffness, expected.stiffness)
            self.assert_is(found.displacement, expected.displacement, library)
            self.assert_is(found.von_mises, expected.von_mises, library)
            self.assert_is(found.stress_tensor, expected.stress_tensor, library)
            self.assert_is(found.gradient("stiffness"), expected.gradient("stiffness"), library)
            self.assert_is(found.adjoint(put(weights)), expected.adjoint(weights), library, rtol=1e-6, atol=1e-12)
            self.assertAlmostEqual(found.failure_factor(), expected.failure_factor(), delta=1e-6)
            turned = bone.solve(put(np.ascontiguousarray(image.transpose(2, 1, 0))), 0.1, tolerance=1e-9, axes="xyz")
            self.assertEqual(turned.stiffness, expected.stiffness)
            self.assert_is(turned.energy_density, expected.energy_density.transpose(2, 1, 0), library)
            of_doubles = bone.solve(put(image.astype(np.float64))[2:], 0.1, tolerance=1e-9)  # converted, and a part
            self.assertEqual(of_doubles.stiffness, bone.solve(image[2:], 0.1, backend="cuda", tolerance=1e-9).stiffness)

    def test_an_array_that_begins_anywhere(self):
        image = porous_image((12, 11, 9))
        expected = bone.solve(image, 0.1, backend="cuda").stiffness
        for put, _, _ in self.each(WRITABLE):
            whole = put(np.zeros(image.size + 3, np.float32))
            for first in (1, 2, 3):
                whole[first:first + image.size] = put(image.ravel())
                part = whole[first:first + image.size].reshape(image.shape)
                self.assertEqual(bone.solve(part, 0.1).stiffness, expected)
            self.assertEqual(float(whole[0]), 0)

    def test_islands_leave_the_image_as_it_is(self):
        image = porous_image((30, 30, 30))
        image[12:18, 12:18, 12:18] = 0
        image[14, 14, 14] = 1000
        for library in self.each():
            given = library[0](image)
            with self.assertLogs("ossatura"):
                self.assertEqual(bone.solve(given, 0.1).num_dropped, 1)
            self.assert_is(given, image, library)

    def test_homogenised_stiffness(self):
        image = porous_image((10, 9, 8))
        expected = bone.homogenise(image, 0.1, boundary="periodic", gradients=True, backend="cuda")
        weights = np.zeros((6, 6))
        weights[2, 2] = 1
        for library in self.each():
            found = bone.homogenise(library[0](image), 0.1, boundary="periodic", gradients=True)
            np.testing.assert_array_equal(found.stiffness, expected.stiffness)
            self.assert_is(found.gradient(weights), expected.gradient(weights), library, rtol=1e-12)

    def test_activation_times(self):
        points, tetra = tetra_box(8)
        fibres = turning_fibres(points, tetra)
        velocities = 0.5 + np.random.default_rng(4).random((len(tetra), 3))
        sites, weights = {0: 0.0, 300: 2.0}, np.linspace(-1, 1, len(points))
        solver = eikonal.Solver(points, tetra, fibres=fibres, velocities=velocities, backend="cuda", deterministic=True,
                                tolerance=1e-13)
        times = solver.solve(sites)
        gradient = solver.gradient(sites, times, weights)
        for library in self.each():
            put, _, _ = library
            own = eikonal.Solver(put(points), put(tetra), fibres=put(fibres), velocities=put(velocities),
                                 deterministic=True, tolerance=1e-13)
            self.assert_is(own.solve(sites), times, library)
            own.set_velocities(1.0)
            found = own.solve([sites, {5: 0.0}], velocities=put(velocities))
            self.assert_is(found[0], times, library)
            derived = own.gradient(sites, found[0], put(weights))
            self.assert_is(derived.velocities, gradient.velocities, library, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose([*derived.sites.values()], [*gradient.sites.values()])
            np.testing.assert_allclose(derived.by_tag()[0], gradient.by_tag()[0])
            negative = np.array(velocities)
            negative[77, 1] = -1
            with self.assertRaisesRegex(ValueError, "tetrahedron 77"):
                own.set_velocities(put(negative))
        for library in self.each(WRITABLE):
            out = library[0](np.zeros(len(points)))
            self.assertIs(solver.solve(sites, out=out), out)
            self.assert_is(out, times, library)
            for wrong in (np.zeros(len(points), np.float32), np.zeros(3)):
                with self.assertRaisesRegex(TypeError, "out: a writable"):
                    solver.solve(sites, out=library[0](wrong))

    def test_soft_bodies(self):
        points, tetra = tetra_box(2)
        rng = np.random.default_rng(5)
        load, start = (0.3 * rng.standard_normal(points.shape) for _ in range(2))

        def world(put=lambda x: x):
            made = softbody.World(time_step=0.02, rayleigh_stiffness=0.005, newton_iterations=60, tolerance=1e-12,
                                  backend="cuda")
            body = made.add(put(0.1 * points), put(tetra), law="neo_hookean", young=4e4, poisson=0.3,
                            fixed=points[:, 2] == 0)
            body.set_load(put(load))
            made.set_state(put(0.1 * points), put(start), 0.0)
            return made

        expected = world().run(4)
        weights = rng.standard_normal(expected.positions.shape)
        gradient = expected.gradient(weights, weights[-1])
        for library in self.each(WRITABLE):
            put, host, _ = library
            moved = world(put)
            motion = moved.run(4)
            self.assert_is(motion.positions, expected.positions, library, rtol=1e-12, atol=1e-14)
            self.assert_is(moved.velocities, expected.velocities[-1], library, rtol=1e-9, atol=1e-12)
            self.assert_is(moved.bodies[0].load, load, library)
            found = motion.gradient(put(weights), put(weights[-1]))
            for name in ("positions", "velocities", "loads"):
                size = np.abs(getattr(gradient, name)).max()
                self.assert_is(getattr(found, name), getattr(gradient, name), library, rtol=0, atol=1e-9 * size)
            self.assertAlmostEqual(found.bodies[0].young / gradient.bodies[0].young, 1, delta=1e-8)
            self.assertAlmostEqual(found.bodies[0].density / gradient.bodies[0].density, 1, delta=1e-8)
            with self.assertRaisesRegex(ossatura.InputError, "load: node 3"):
                wrong = np.array(load)
                wrong[3, 1] = np.inf
                moved.bodies[0].set_load(put(wrong))
        if "jax" in LIBRARIES:  # whose arrays nothing is added to: NumPy's come back
            self.assertIsInstance(world(LIBRARIES["jax"][0]).positions, np.ndarray)

    def test_designs_and_pressure_vessels(self):
        points, hexa = topopt.box((6, 4, 2), (6, 4, 2))
        force = np.where((points == (6, 0, 0)).all(1)[:, None], (0, 0, -1e-2), 0)
        x = np.linspace(0.4, 0.9, len(hexa))

        def optimizer(put=lambda x: x):
            return topopt.Optimizer(put(points), put(hexa), young=1, held=points[:, 0] == 0, loads=put(force),
                                    volume=0.4, tolerance=1e-10, backend="cuda")

        expected = optimizer().analyse(x)
        mesh = pfem.sphere_octant(1.0, 2.0)
        for library in self.each():
            put, host, _ = library
            design = optimizer(put)
            found = design.analyse(put(x))
            self.assertAlmostEqual(found.objective / expected.objective, 1, delta=1e-9)
            self.assert_is(found.gradient, expected.gradient, library, rtol=1e-7)
            self.assert_is(found.volume_gradient, expected.volume_gradient, library, rtol=1e-12)
            self.assert_is(design.variables, x, library)
            energies = []
            for given in (lambda values: values, put):
                model = pfem.Model(mesh, order=3, young=given(np.full(len(mesh.hexa), 1e9)), backend="cuda")
                for axis in range(3):
                    model.hold(given(mesh.points[:, axis] == 0), "xyz"[axis])
                model.add_pressure(given(np.isclose(mesh.radii, 1.0)), 1e6)
                energies.append(model.solve().strain_energy)
            self.assertEqual(*energies)

    def test_work_of_others_is_waited_for(self):
        image = porous_image((24, 20, 17))
        expected = bone.solve(image, 0.1, backend="cuda").stiffness
        if "torch" in LIBRARIES:
            source, target = LIBRARIES["torch"][0](image), torch.zeros(image.shape, device="cuda")
            busy = torch.ones((4096, 4096), device="cuda")
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(20):
                    busy = busy @ busy * 1e-4
                target.copy_(source)
                self.assertEqual(bone.solve(target, 0.1).stiffness, expected)
        if "cupy" in LIBRARIES:
            source, target = cupy.asarray(image), cupy.zeros(image.shape, np.float32)
            busy = cupy.ones((4096, 4096), np.float32)
            with cupy.cuda.Stream(non_blocking=True):
                for _ in range(20):
                    busy = busy @ busy * np.float32(1e-4)
                cupy.copyto(target, source)
                self.assertEqual(bone.solve(target, 0.1).stiffness, expected)

    @unittest.skipUnless("torch" in LIBRARIES, "PyTorch counts the copies")
    def test_nothing_large_goes_through_the_host(self):
        image = torch.full((160, 160, 160), 1000.0, device="cuda")
        points, tetra = tetra_box(20)
        solver = eikonal.Solver(points, tetra, velocities=1.0, backend="cuda")
        velocities = torch.full((len(tetra), 3), 0.5, device="cuda", dtype=torch.float64)
        world = softbody.World(newton_iterations=60, backend="cuda")
        body = world.add(torch.as_tensor(0.01 * points, device="cuda"), tetra, law="stvk", fixed=points[:, 2] == 0)
        world.step()

        def copied(call):
            kinds = torch.profiler.ProfilerActivity
            call()
            torch.cuda.synchronize()
            with torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA]) as profile:
                call()
                torch.cuda.synchronize()
            copies = [event for event in profile.profiler.kineto_results.events()
                      if event.name().startswith("Memcpy") and ("DtoH" in event.name() or "HtoD" in event.name())]
            return sum(event.nbytes() for event in copies)

        def solve():
            result = bone.solve(image, 0.1)
            return result.displacement.sum() + result.von_mises.sum() + result.gradient("stiffness").sum()

        self.assertLess(copied(solve), 0.1 * image.numel() * 4)
        self.assertLess(copied(lambda: solver.solve({0: 0.0}, velocities=velocities).sum()),
                        0.2 * velocities.numel() * 8)
        load = torch.zeros((len(points), 3), device="cuda", dtype=torch.float64)

        def move():
            body.set_load(load)
            world._made()  # what a step does first
            return world.positions.sum()

        self.assertLess(copied(move), 0.1 * load.numel() * 8)

    @unittest.skipUnless("torch" in LIBRARIES, "PyTorch's functions")
    def test_gradients_by_torch(self):
        points, tetra = tetra_box(2)
        solver = eikonal.Solver(points, tetra, fibres=turning_fibres(points, tetra), velocities=1.0, tolerance=1e-14,
                                backend="cuda")
        times = ossatura.torch.activation_times(solver, [0, 17])
        random = np.random.default_rng(5)

        def tensor(values):
            return torch.tensor(np.asarray(values, float), device="cuda", requires_grad=True)

        for shape in ((len(tetra), 3), (len(tetra), 2), (len(tetra),)):
            self.assertTrue(torch.autograd.gradcheck(times, (tensor(0.5 + random.random(shape)), tensor([0.25, 0.5])),
                                                     eps=1e-6, atol=1e-6, rtol=1e-5))
        image = tensor(random.integers(256, 512, (4, 3, 3)) / 256)
        stiffness = ossatura.torch.stiffness(1.0, tolerance=1e-10, precision="double", strain=-0.5)
        self.assertTrue(torch.autograd.gradcheck(stiffness, (image,), eps=2.0**-8, atol=1e-5, rtol=1e-3))
        displacement = ossatura.torch.displacement(1.0, strain=-1.0, tolerance=1e-10, precision="double")
        self.assertTrue(torch.autograd.gradcheck(displacement, (image[:3, :2, :2],), eps=2.0**-8, atol=1e-5, rtol=1e-3))
        world = softbody.World(time_step=0.1, gravity=(0, 0, -1), rayleigh_stiffness=0.01, newton_iterations=60,
                               tolerance=1e-13, backend="cuda")
        cube, cells = tetra_box(1)
        world.add(torch.as_tensor(cube, device="cuda"), cells, law="neo_hookean", young=20, density=10,
                  fixed=cube[:, 0] == 0)
        motion = ossatura.torch.motion(world, 2)
        start = tensor(cube + 0.03 * random.standard_normal(cube.shape))
        self.assertTrue(torch.autograd.gradcheck(lambda x, e: motion(positions=x, young=e), (start, tensor([20.0])),
                                                 eps=1e-5, atol=1e-5, rtol=1e-4))

    def test_other_backends_refuse_them(self):
        image = porous_image()
        for put, _, _ in self.each():
            with self.assertRaisesRegex(ossatura.UsageError, "for the backend serial: take backend"):
                bone.solve(put(image), 0.1, backend="serial")

    def test_memory_does_not_grow(self):
        for put, _, _ in self.each(WRITABLE):
            image = put(porous_image())
            free = []
            for _ in range(60):
                result = bone.solve(image, 0.1)
                result.gradient("stiffness")
                del result
                ossatura.threads()  # the engine has dropped what was given back
                free.append(_free_memory())
            self.assertGreaterEqual(free[-1], free[20])

    def test_arrays_outlive_the_library(self):
        for name in WRITABLE:
            make = {"torch": "torch.as_tensor(image, device='cuda')", "cupy": "cupy.asarray(image)"}[name]
            script = (f"import numpy, {name}, ossatura\n"
                      "image = numpy.full((6, 6, 6), 1000, numpy.float32)\n"
                      f"kept = ossatura.bone.solve({make}, 0.1)\n"
                      "field = kept.displacement\n"
                      "ossatura._core.finish()\n"
                      "print(float(field.max()) >= 0)")
            code, out, err = run_script(script)
            self.assertEqual((code, out, err), (0, "True\n", ""), err)


def _free_memory():
    return torch.cuda.mem_get_info()[0] if "torch" in LIBRARIES else cupy.cuda.runtime.memGetInfo()[0]


if __name__ == "__main__":
    unittest.main()
