# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch: their gradients by gradcheck, from its own threads, in an inverse problem. Skipped without
PyTorch."""
import threading
import unittest

import numpy as np
import ossatura
from cases import run_script, tetra_box, turning_fibres
from ossatura import bone, eikonal, softbody, topopt

try:
    import torch
    import ossatura.torch
    from torch.autograd import gradcheck
except ImportError as error:
    torch, why = None, f"PyTorch is not there ({error}): python -m pip install torch"


def tensor(values):
    return torch.tensor(np.asarray(values, float), requires_grad=True)


@unittest.skipIf(torch is None, "" if torch else why)
class Gradients(unittest.TestCase):
    def test_activation_times(self):
        points, tetra = tetra_box(2)
        random = np.random.default_rng(5)
        solver = eikonal.Solver(points, tetra, fibres=turning_fibres(points, tetra), velocities=1.0, tolerance=1e-14,
                                backend="serial")
        times = ossatura.torch.activation_times(solver, [0, 17])
        for shape in ((len(tetra), 3), (len(tetra), 2), (len(tetra), 1), (len(tetra),)):
            velocities, start = tensor(0.5 + random.random(shape)), tensor([0.25, 0.5])
            self.assertTrue(gradcheck(times, (velocities, start), eps=1e-6, atol=1e-6, rtol=1e-5))

    def test_backward_has_the_velocities_of_its_own_forward(self):
        points, tetra = tetra_box(3)
        solver = eikonal.Solver(points, tetra, velocities=1.0, tolerance=1e-14, backend="serial")
        times = ossatura.torch.activation_times(solver, [0])
        slow, start = tensor(np.full(len(tetra), 0.5)), tensor([0.0])
        first = times(slow, start)
        times(tensor(np.full(len(tetra), 2.0)), start)
        first.sum().backward()
        with torch.no_grad():
            self.assertAlmostEqual(float((slow.grad * slow).sum() / -first.sum()), 1, delta=1e-9)  # t ~ 1 / v
        self.assertAlmostEqual(float(start.grad[0]), solver.num_points, delta=1e-9)

    def test_stiffness(self):
        random = np.random.default_rng(6)
        image = tensor(random.integers(256, 512, (4, 3, 3)) / 256)  # single precision holds it, and steps of 2^-8
        for quantity, options in (("stiffness", {}), ("apparent_modulus", {"lateral": "free"}),
                                  ("moment", {"test": "torsion", "centre": "box"}),
                                  ("strain_energy", {"test": "bending", "centre": "box"})):
            if quantity == "strain_energy" or quantity == "moment":
                options["angle"] = 0.5  # so that numbers are about 1
            else:
                options["strain"] = -0.5
            function = ossatura.torch.stiffness(1.0, quantity, tolerance=1e-10, precision="double", backend="serial",
                                                **options)
            self.assertTrue(gradcheck(function, (image,), eps=2.0**-8, atol=1e-5, rtol=1e-3), quantity)

    def test_laws_and_pads_have_no_gradients(self):
        for options in ({"label_laws": {1: bone.Law("linear", slope=8)}}, {"pads": {1: 2500}}):
            for make in (ossatura.torch.stiffness, ossatura.torch.displacement, ossatura.torch.homogenise):
                with self.assertRaisesRegex(ossatura.UsageError, f"{next(iter(options))}: gradients are by the modulus"):
                    make(0.5, mask=np.ones((2, 2, 2), np.uint8), **options)

    def test_displacement(self):
        image = tensor(np.random.default_rng(7).integers(256, 512, (3, 2, 2)) / 256)
        function = ossatura.torch.displacement(1.0, strain=-1.0, tolerance=1e-10, precision="double", backend="serial")
        self.assertTrue(gradcheck(function, (image,), eps=2.0**-8, atol=1e-5, rtol=1e-3))

    def test_homogenised_stiffness(self):
        image = tensor(np.random.default_rng(8).integers(256, 512, (3, 2, 2)) / 256)
        function = ossatura.torch.homogenise(1.0, tolerance=1e-10, precision="double", backend="serial")
        self.assertTrue(gradcheck(function, (image,), eps=2.0**-8, atol=1e-5, rtol=1e-3))

    def test_motion(self):
        points, tetra = tetra_box(1)
        world = softbody.World(time_step=0.1, gravity=(0, 0, -1), rayleigh_stiffness=0.01, newton_iterations=60,
                               tolerance=1e-13, backend="serial")
        for place in (0, 3):
            world.add(points + place, tetra, law="neo_hookean", young=20, density=10, fixed=points[:, 0] == 0)
        function = ossatura.torch.motion(world, 3)
        random = np.random.default_rng(9)
        start = tensor(world.positions + 0.03 * random.standard_normal((world.num_points, 3)))
        others = (tensor(scale * random.standard_normal((world.num_points, 3))) for scale in (0.1, 0.5))
        young = tensor([20.0, 30.0])
        self.assertTrue(gradcheck(function, (start, *others, young), eps=1e-5, atol=1e-5, rtol=1e-4))
        softer = function(young=young)[0][-1].sum()
        function(young=2 * young)
        softer.backward()  # with the moduli of its own forward
        found = young.grad.clone()
        young.grad = None
        function(young=young)[0][-1].sum().backward()
        np.testing.assert_allclose(found, young.grad, rtol=1e-9)
        with self.assertRaisesRegex(ossatura.UsageError, "young: of shape"):
            function(young=tensor([1.0]))

    def test_compliance(self):
        points, hexa = topopt.box((4, 3, 2), (4, 3, 2))
        force = np.where((points == (4, 0, 0)).all(1)[:, None], (0, 0, -1e-2), 0)
        options = {"young": 1, "held": points[:, 0] == 0, "loads": force, "volume": 0.4, "backend": "serial"}
        x = tensor(np.linspace(0.5, 0.9, len(hexa)))
        for filter in ("none", "density", "helmholtz"):
            function = ossatura.torch.compliance(topopt.Optimizer(points, hexa, **options, filter=filter,
                                                                  tolerance=1e-12))
            self.assertTrue(gradcheck(function, (x,), eps=1e-5, atol=1e-7, rtol=1e-5), filter)
        with self.assertRaisesRegex(ossatura.UsageError, "sensitivity"):
            ossatura.torch.compliance(topopt.Optimizer(points, hexa, **options, filter="sensitivity"))


@unittest.skipIf(torch is None, "" if torch else why)
class Use(unittest.TestCase):
    def test_types_and_devices_are_those_of_the_argument(self):
        image = torch.full((3, 3, 3), 100.0, requires_grad=True)
        value = ossatura.torch.stiffness(1.0, backend="serial")(image)
        value.backward()
        self.assertEqual((value.dtype, image.grad.dtype, value.shape), (torch.float32, torch.float32, ()))
        result = bone.solve(image.detach(), 1.0, backend="serial")
        self.assertAlmostEqual(float(value.detach()), result.stiffness, delta=1e-6 * result.stiffness)
        np.testing.assert_allclose(image.grad, result.gradient(), rtol=1e-6)
        for wrong in (torch.ones((3, 3, 3), dtype=torch.int32), np.ones((3, 3, 3))):
            with self.assertRaisesRegex(TypeError, "modulus: a tensor of a floating type"):
                ossatura.torch.stiffness(1.0)(wrong)
        with self.assertRaisesRegex(ossatura.InputError, "modulus at"):
            ossatura.torch.stiffness(1.0)(-image)
        with self.assertRaisesRegex(ossatura.UsageError, "quantity"):
            ossatura.torch.stiffness(1.0, "beauty")

    def test_tensors_and_arrays_share_memory(self):
        points, tetra = tetra_box(3)
        solver = eikonal.Solver(torch.from_numpy(points), tetra, velocities=0.5, backend="serial")
        out = torch.empty(solver.num_points, dtype=torch.float64)
        solver.solve({0: 0.0}, out=out.numpy())
        self.assertTrue(np.array_equal(out.numpy(), solver.solve({0: 0.0})))

    def test_sites(self):
        points, tetra = tetra_box(2)
        solver = eikonal.Solver(points, tetra, velocities=0.5, backend="serial")
        with self.assertRaisesRegex(ossatura.UsageError, "each once"):
            ossatura.torch.activation_times(solver, [3, 3])
        with self.assertRaisesRegex(ossatura.UsageError, "site_times: 2 numbers"):
            ossatura.torch.activation_times(solver, [0, 3])(tensor(np.ones(len(tetra))), tensor([0.0]))
        with self.assertRaisesRegex(TypeError, "vertices=0.7: a whole number"):
            ossatura.torch.activation_times(solver, [0.7, 3.2])
        for vertices, text in (([0, 27], "vertices: 27, and the mesh has 0 to 26"), ([], "at least one")):
            with self.assertRaisesRegex(ValueError, text):
                ossatura.torch.activation_times(solver, vertices)
        for shape in ((), (3,), (len(tetra), 4)):
            with self.assertRaisesRegex(ossatura.InputError, r"velocities: an array of shape \[48\] or \[48, 1 to 3\], not"):
                ossatura.torch.activation_times(solver, [0])(tensor(np.ones(shape)), tensor([0.0]))

    def test_threads_at_once(self):
        """The backward of each runs on a thread of PyTorch's, too."""
        image = np.random.default_rng(9).integers(500, 1500, (8, 6, 6)).astype(np.float32)
        expected = bone.solve(image, 0.1, backend="serial").gradient()
        function, found = ossatura.torch.stiffness(0.1, backend="serial"), []

        def work():
            x = torch.tensor(image, dtype=torch.float64, requires_grad=True)
            function(x).backward()
            found.append(x.grad.numpy())

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 8)
        for one in found:
            np.testing.assert_allclose(one, expected, rtol=1e-12)

    def test_velocities_and_onsets_from_measured_times(self):
        points, tetra = tetra_box(6)
        fibres = turning_fibres(points, tetra)
        rows = torch.from_numpy((points[tetra].mean(1)[:, 0] > 3).astype(np.int64))
        solver = eikonal.Solver(points, tetra, fibres=fibres, velocities=1.0, tolerance=1e-13, backend="serial")
        times = ossatura.torch.activation_times(solver, [0, len(points) - 1])
        truth = torch.tensor([[0.6, 0.3], [0.8, 0.5]], dtype=torch.float64), torch.tensor([0.0, 2.0])
        measured = torch.from_numpy(np.random.default_rng(4).choice(len(points), 120, replace=False))
        target = times(truth[0][rows], truth[1].double())[measured]
        by_tag, start = tensor([[0.45, 0.42], [0.55, 0.4]]), tensor([0.4, 1.5])
        optimiser = torch.optim.LBFGS([by_tag, start], max_iter=60, max_eval=90, tolerance_grad=1e-12,
                                      tolerance_change=1e-14, line_search_fn="strong_wolfe")
        evaluations = [0]

        def misfit():
            evaluations[0] += 1
            optimiser.zero_grad()
            loss = ((times(by_tag.abs()[rows], start)[measured] - target)**2).sum()
            loss.backward()
            return loss

        optimiser.step(misfit)
        self.assertLess(evaluations[0], 100)
        np.testing.assert_allclose(by_tag.detach(), truth[0], atol=1e-4)
        np.testing.assert_allclose(start.detach(), truth[1], atol=1e-4)

    def test_the_end_with_live_functions_is_quiet(self):
        for imports in ("import torch, ossatura.torch", "import ossatura, torch, ossatura.torch"):
            code, out, error = run_script(imports + """
x = torch.full((3, 3, 3), 100.0, dtype=torch.float64, requires_grad=True)
u = ossatura.torch.displacement(1.0)(x)
k = ossatura.torch.stiffness(1.0)(x)
k.backward(retain_graph=True)
print(u.shape)
""")
            self.assertEqual((code, out, error), (0, "torch.Size([4, 4, 4, 3])\n", ""))


if __name__ == "__main__":
    unittest.main()
