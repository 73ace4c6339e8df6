# SPDX-License-Identifier: Apache-2.0
"""Bone: closed forms, fields, axes, gradients against differences, and what must be refused."""
import math
import unittest

import numpy as np
import ossatura
from cases import porous_image
from ossatura import bone


def tight(image, **options):
    """A result to the end of double precision, for differences."""
    return bone.solve(image, 0.1, tolerance=1e-12, precision="double", backend="serial", **options)


class ClosedForms(unittest.TestCase):
    def test_a_confined_laminate_has_the_stiffness_of_springs_in_series(self):
        image = np.full((12, 5, 4), 800, np.float32)
        image[:3] = image[-3:] = 17000
        h, nu = 0.05, 0.3
        confined = (1 - nu) / ((1 + nu) * (1 - 2 * nu))
        compliance = sum(h / (confined * float(E)) for E in image[:, 0, 0]) / (20 * h * h)
        for backend in ossatura.backends():
            result = bone.solve(image, spacing=h, test="confined", backend=backend, tolerance=1e-10)
            self.assertAlmostEqual(result.stiffness * compliance, 1, delta=1e-8)
            self.assertAlmostEqual(result.force, result.stiffness * result.plate_displacement, delta=1e-9)
            self.assertAlmostEqual(result.plate_displacement, -0.01 * 12 * h)
            self.assertAlmostEqual(result.area, 20 * h * h)
            self.assertAlmostEqual(result.strain_energy, result.force * result.plate_displacement / 2, delta=1e-9)
            self.assertEqual(set(result.reactions), {"lower plate", "upper plate", "-x wall", "+x wall", "-y wall",
                                                     "+y wall"})

    def test_smooth_plates_leave_uniaxial_stress(self):
        image = np.full((6, 5, 4), 1234, np.float32)
        result = bone.solve(image, 0.2, lateral="free", strain=0.002, axis="y", tolerance=1e-10)
        self.assertAlmostEqual(result.apparent_modulus, 1234, delta=1e-4)
        np.testing.assert_allclose(result.von_mises, 1234 * 0.002, rtol=1e-5)
        np.testing.assert_allclose(result.energy_density, 1234 * 0.002**2 / 2, rtol=1e-5)
        np.testing.assert_allclose(result.effective_strain, 0.002, rtol=1e-5)
        np.testing.assert_allclose(result.strain_tensor[..., :3],
                                   np.broadcast_to([-0.0006, 0.002, -0.0006], (6, 5, 4, 3)), rtol=1e-4)
        np.testing.assert_allclose(result.stress_tensor[..., 1], 1234 * 0.002, rtol=1e-5)
        y = np.arange(6) * 0.2 * 0.002
        u = result.displacement
        self.assertEqual(u.shape, (7, 6, 5, 3))
        np.testing.assert_allclose(u[..., 1] - u[:, :1, :, 1], np.broadcast_to(y[:, None], (7, 6, 5)), atol=1e-8)

    def test_homogenising_a_solid_gives_hooke(self):
        E, nu = 1000.0, 0.25
        found = bone.homogenise(np.full((5, 4, 6), E, np.float32), 0.1, poisson=nu, tolerance=1e-10)
        lam, mu = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
        hooke = np.diag([2 * mu] * 3 + [mu] * 3)
        hooke[:3, :3] += lam
        np.testing.assert_allclose(found.stiffness, hooke, atol=1e-5)
        np.testing.assert_allclose(found.voigt, hooke, rtol=1e-6)
        np.testing.assert_allclose(found.reuss, hooke, rtol=1e-6)
        self.assertEqual(len(found.solves), 6)
        self.assertTrue(found.converged)

    def test_bounds_hold_with_holes(self):
        found = bone.homogenise(porous_image(), 0.1)
        self.assertTrue(np.all(np.linalg.eigvalsh(found.voigt - (found.stiffness + found.stiffness.T) / 2) > 0))
        self.assertTrue(np.all(np.linalg.eigvalsh((found.stiffness + found.stiffness.T) / 2) > 0))


def cell(image, **options):
    return bone.homogenise(image, 0.1, boundary="periodic", backend="serial",
                           **{"tolerance": 1e-10, "precision": "double", **options})


class Masks(unittest.TestCase):
    def test_columns_share_the_force_by_their_moduli(self):
        """Without contraction a column carries E A strain."""
        mask = np.ones((8, 6, 6), int)
        mask[:, 2:, :] = 2
        mask[:, 5, 5] = 0
        grey = np.full(mask.shape, -3.0)
        grey[mask == 1] = 100
        grey[mask == 2] = 50
        for backend in ossatura.backends():
            result = bone.solve(grey, 0.5, mask=mask, label_laws={1: bone.Law("linear", slope=8, intercept=200),
                                                                  2: bone.Law("threshold", modulus=3000, lower=50)},
                                poisson=0, lateral="free", backend=backend, tolerance=1e-10)
            forces = {1: 1000 * 12 * 0.25 * -0.01, 2: 3000 * 23 * 0.25 * -0.01}
            self.assertAlmostEqual(result.force / sum(forces.values()), 1, delta=1e-6)
            for label, force in forces.items():
                np.testing.assert_allclose(result.sections.label_force[label], force, rtol=1e-5)
                np.testing.assert_allclose(result.sections.share(label), force / sum(forces.values()), rtol=1e-5)
                self.assertAlmostEqual(result.labels[label].energy_share, force / sum(forces.values()), delta=1e-5)
            self.assertEqual([of.num_voxels for of in result.labels.values()], [12 * 8, 23 * 8])
            self.assertEqual((result.sections.first_free, result.sections.last_free), (0, 7))
            np.testing.assert_array_equal(result.modulus, np.select([mask == 1, mask == 2], [1000, 3000], 0))

    def test_a_pad_is_in_series_and_left_out(self):
        mask = np.full((6, 4, 4), True)
        image = np.full(mask.shape, 1000, np.float32)
        labels = mask.astype(np.uint8)
        labels[4:] = 9
        result = bone.solve(image, 0.5, mask=labels, pads={9: 500}, poisson=0, lateral="free", tolerance=1e-10)
        stress = -0.01 * 6 / (4 / 1000 + 2 / 500)
        self.assertAlmostEqual(result.stress / stress, 1, delta=1e-6)
        self.assertEqual(result.labels[1].num_voxels, 4 * 16)
        self.assertEqual(list(result.labels), [1])
        self.assertEqual(result.num_voxels, 6 * 16)
        self.assertAlmostEqual(result.failure_factor(0.007) / (0.007 / (-stress / 1000)), 1, delta=1e-6)
        self.assertEqual(bone.solve(image, 0.5, mask=mask).labels[1].num_voxels, 6 * 16)

    def test_choices_that_contradict_each_other(self):
        image = porous_image()
        mask = np.ones(image.shape, int)
        mask[:, 7:] = 3
        constant = bone.Law("constant", modulus=1000)

        def refuse(error, text, **options):
            with self.assertRaisesRegex(error, text):
                bone.solve(image, 0.1, **{"mask": mask, **options})
        refuse(ossatura.UsageError, "pads: give the mask", mask=None, pads={1: 2000})
        refuse(ossatura.UsageError, "mask_labels: give the mask", mask=None, mask_labels=[1])
        refuse(ossatura.UsageError, "label 3 is bone in mask_labels", mask_labels=[1, 3], pads={3: 2000})
        refuse(ossatura.UsageError, "label_laws: label 3 is no bone", mask_labels=[1], label_laws={3: constant})
        refuse(ossatura.UsageError, "label_laws: label 3 is no bone", pads={3: 100}, label_laws={3: constant})
        refuse(ossatura.UsageError, "of which 0 is none", mask_labels=[0, 1])
        refuse(ossatura.UsageError, "a modulus of 0", pads={3: 0})
        refuse(ossatura.UsageError, "Poisson's ratio 0.5", pads={3: (100, 0.5)})
        refuse(TypeError, "a bone.Law, not dict", label_laws={3: {"kind": "constant"}})
        refuse(TypeError, "integers, not float", mask=mask * 1.0)
        refuse(ossatura.InputError, "mask: an array of shape", mask=mask[0])
        refuse(ossatura.InputError, "they have to be the same", mask=mask[1:])
        refuse(ossatura.InputError, "no voxel has the label 4, which mask_labels names; there are 1, 3", mask_labels=[4])
        refuse(ossatura.InputError, "the label 5, which is a pad", pads={5: 100})
        refuse(ossatura.InputError, r"labels are whole numbers up to 1e6", mask=mask * 10**7)
        refuse(ossatura.InputError, "no voxel is bone: look at mask_labels", label_laws={
            1: bone.Law("linear", slope=1, lower=1e6), 3: bone.Law("linear", slope=1, lower=1e6)})
        image[3, 2, 1] = -5
        refuse(ossatura.InputError, r"modulus: voxel \(1, 2, 3\) with the value -5")

    def test_laws(self):
        for text, arguments in (("give modulus", ("constant",)), ("no effect", ("constant", 1000.0, 2.0)),
                                ("kind='cubic'", ("cubic",)), ("give lower", ("threshold", 1000.0)),
                                ("no finite number", ("linear", None, math.nan)), ("give coefficient", ("power",)),
                                ("up to 1e30", ("constant", -1.0))):
            with self.assertRaisesRegex(ossatura.UsageError, text):
                bone.Law(*arguments)


class Sections(unittest.TestCase):
    """A cylindrical core: the box around it is 4 / pi times its section."""
    Y, X = np.mgrid[:16, :16]
    DISC = (X - 7.5)**2 + (Y - 7.5)**2 < 64

    def solve(self, image, mask, **options):
        return bone.solve(image, 0.1, mask=mask, lateral=None if options.get("test") == "confined" else "free",
                          backend="serial", **options)

    def test_the_section_of_a_core(self):
        disc = self.DISC.sum() * 0.01
        mask = np.tile(self.DISC, (8, 1, 1)).astype(np.uint8)
        image = np.where(mask > 0, 1000.0, 0.0)
        core = self.solve(image, mask)
        self.assertAlmostEqual(core.area, 2.56, delta=1e-12)
        self.assertAlmostEqual(core.mask_area, disc, delta=1e-12)
        self.assertAlmostEqual(core.mask_apparent_modulus, 1000, delta=1e-2)
        self.assertAlmostEqual(core.apparent_modulus, 1000 * disc / 2.56, delta=1e-2)
        for name, at in (("axis", {"axis": "x"}), ("axes", {"axes": "xyz", "axis": "x"})):
            self.assertAlmostEqual(self.solve(*(np.moveaxis(of, 0, 2 if name == "axis" else 0) for of in (image, mask)),
                                              **at).mask_area, disc, delta=1e-12)
        pores = image.copy()
        pores[2:6, 6:9, 6:9] = 0  # void within the region of interest is of it
        self.assertAlmostEqual(self.solve(pores, mask).mask_area, disc, delta=1e-12)

    def test_what_is_beyond_the_bone(self):
        disc = self.DISC.sum() * 0.01
        mask = np.zeros((14, 16, 16), int)
        mask[3:11, self.DISC] = 2
        mask[0, 8, 8] = 2  # a crumb of the segmentation
        mask[1:3, self.DISC] = mask[11:13, self.DISC] = 5
        image = np.where(mask == 2, 1000.0, 0.0)
        image[0] = 0
        self.assertAlmostEqual(self.solve(image, mask, pads={5: 2500}).mask_area, disc, delta=1e-12)
        image[mask == 5] = 1000
        self.assertAlmostEqual(self.solve(image, mask, mask_labels=[2]).mask_area, disc, delta=1e-12)
        all_labels = self.solve(image, mask)
        self.assertAlmostEqual(all_labels.mask_area, disc, delta=1e-12)
        self.assertIsNone(self.solve(image, mask, mask_labels=[2], test="torsion").mask_area)
        self.assertIsNone(self.solve(image, mask, mask_labels=[2], test="torsion").mask_apparent_modulus)
        self.assertIsNone(bone.solve(image, 0.1, backend="serial").mask_area)


class Remodelling(unittest.TestCase):
    LAW = {"coefficient": 4000, "exponent": 2, "stimulus": 0.1, "rate": 0.5, "limits": (0.2, 1.6)}

    def test_a_block_follows_a_sequence_of_numbers(self):
        """Uniform strain: S = E eps^2 / (2 rho) = 2000 rho eps^2."""
        rho, eps = 0.6, 0.01
        found = bone.remodel(np.full((5, 4, 3), rho), 0.5, steps=6, strain=-eps, poisson=0, lateral="free", lazy=0.1,
                             tolerance=1e-10, **self.LAW)
        self.assertEqual(len(found.states), 7)
        for state in found.states:
            stimulus = 2000 * rho * eps**2
            change = 0.5 * (stimulus - 0.11) if stimulus > 0.11 else 0.5 * (stimulus - 0.09) if stimulus < 0.09 else 0
            self.assertAlmostEqual(state.mean_density / rho, 1, delta=1e-6)
            self.assertAlmostEqual(state.mean_stimulus / stimulus, 1, delta=1e-5)
            self.assertAlmostEqual(state.mass / (rho * 1e-3 * 0.125 * 60), 1, delta=1e-6)
            self.assertAlmostEqual(state.mean_change, abs(change), delta=1e-6)
            last, rho = rho, min(1.6, max(0.2, rho + change))
        np.testing.assert_allclose(found.density, last, rtol=1e-6)
        self.assertIn("6 steps", repr(found))

    def test_what_is_refused(self):
        def refuse(error, text, image=np.full((4, 4, 4), 0.5), **options):
            with self.assertRaisesRegex(error, text):
                bone.remodel(image, 0.1, **{"steps": 2, **self.LAW, **options})
        refuse(ossatura.UsageError, "steps=-1", steps=-1)
        refuse(ossatura.UsageError, "rate=0", rate=0)
        refuse(ossatura.UsageError, "lazy=1", lazy=1)
        refuse(ossatura.UsageError, r"limits=\(1, 0.5\)", limits=(1, 0.5))
        refuse(ossatura.InputError, r"density at \[z, y, x\] = \[0, 0, 1\]", np.where(np.arange(64).reshape(4, 4, 4) == 1, -1, 0.5))
        mask = np.ones((4, 4, 4), int)
        mask[3] = 2
        refuse(ossatura.InputError, "takes one Poisson's ratio", mask=mask, pads={2: (100, 0.2)})
        with self.assertRaises(ossatura.ConvergenceError) as caught:
            bone.remodel(porous_image() / 1000, 0.1, steps=2, max_iterations=2, **self.LAW)
        self.assertEqual(caught.exception.result.states, ())

    def test_a_callback_ends_it(self):
        calls = []

        def stop(iteration, residual):
            calls.append(iteration)
            if len(calls) > 12:
                raise KeyError("enough")
        with self.assertRaises(KeyError):
            bone.remodel(porous_image() / 1000, 0.1, steps=50, callback=stop, **self.LAW)


class UnitCells(unittest.TestCase):
    def test_a_laminate_has_the_means_of_its_layers(self):
        image = np.full((4, 3, 5), 800, np.float32)
        image[1:] = 17000
        nu = 0.3
        E = image[:, 0, 0].astype(float)
        stiff, mu = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
        for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
            layers = 2 - order.index(0)  # the axis x, y or z across them
            found = cell(image.transpose(order))
            self.assertEqual(found.boundary, "periodic")
            C = found.stiffness
            across, along = [{2: (4, 5), 1: (3, 4), 0: (3, 5)}[layers], {2: 3, 1: 5, 0: 4}[layers]]
            self.assertAlmostEqual(C[layers, layers] * (1 / stiff).mean(), 1, delta=1e-8)
            for shear in across:
                self.assertAlmostEqual(C[shear, shear] * (1 / mu).mean(), 1, delta=1e-8)
            self.assertAlmostEqual(C[along, along] / mu.mean(), 1, delta=1e-8)

    def test_a_cell_begins_anywhere_and_is_softer_than_its_box(self):
        image = porous_image((8, 7, 6))
        found = cell(image)
        np.testing.assert_allclose(cell(np.roll(image, (3, 2, 1), (0, 1, 2))).stiffness, found.stiffness,
                                   atol=1e-7 * found.stiffness.max())
        box = bone.homogenise(image, 0.1, tolerance=1e-10)
        self.assertEqual(box.boundary, "kinematic")
        self.assertTrue(np.all(np.linalg.eigvalsh(box.stiffness - found.stiffness) > 0))
        np.testing.assert_allclose(found.voigt, box.voigt, rtol=1e-6)
        turned = cell(image.T, axes="xyz")
        self.assertTrue(np.array_equal(turned.stiffness, found.stiffness))

    def test_what_carries_nothing_is_told(self):
        plates = np.zeros((6, 4, 4), np.float32)
        plates[:2] = 1000
        with self.assertLogs("ossatura") as log:
            found = cell(plates)
        self.assertEqual([record.code for record in log.records], ["open-cell"])
        self.assertIn("along z", log.output[0])
        self.assertAlmostEqual(found.stiffness[2, 2], 0, delta=1e-6)
        self.assertIsNone(found.engineering)
        self.assertRegex(repr(found), r"^<ossatura.bone.Homogenised \(periodic\): diagonal of the stiffness .* MPa; 32 voxels>$")
        plates[4, 1, 1] = 1000  # it touches no other, nor its own image
        with self.assertRaisesRegex(ossatura.InputError, "lead through the cell to no next one"):
            cell(plates)
        with self.assertLogs("ossatura"):
            loose = cell(plates, islands="drop")
        self.assertEqual(loose.num_dropped, 1)
        self.assertTrue(np.array_equal(loose.stiffness, found.stiffness))
        self.assertEqual(plates[4, 1, 1], 1000)
        with self.assertRaisesRegex(ossatura.UsageError, "boundary='free': one of 'kinematic', 'periodic'"):
            bone.homogenise(plates, 0.1, boundary="free")

    def test_gradients_of_the_stiffness(self):
        image = porous_image((6, 5, 4))
        weights = np.random.default_rng(8).normal(size=(6, 6))
        found = cell(image, tolerance=1e-12, gradients=True)
        gradient = found.gradient(weights)
        self.assertTrue(np.all(gradient[image == 0] == 0))
        solid = np.argwhere(image > 0)
        for place in map(tuple, solid[::len(solid) // 6]):
            values = []
            for step in (-2.0, 2.0):
                moved = image.copy()
                moved[place] += step
                values.append(cell(moved, tolerance=1e-12).stiffness)
            difference = (weights * (values[1] - values[0])).sum() / 4
            self.assertLess(abs(difference - gradient[place]), 1e-5 * np.abs(gradient).max())
        turned = cell(image.T, axes="xyz", tolerance=1e-12, gradients=True).gradient(weights)
        self.assertTrue(np.array_equal(turned.T, gradient))


def turn(stiffness, axes):
    """A stiffness in other axes, by the tensor of fourth order."""
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)]
    tensor = np.zeros((3, 3, 3, 3))
    for row, (i, j) in enumerate(pairs):
        for column, (k, m) in enumerate(pairs):
            for a, b in {(i, j), (j, i)}:
                for c, d in {(k, m), (m, k)}:
                    tensor[a, b, c, d] = stiffness[row, column]
    turned = np.einsum("ai,bj,ck,dm,ijkm->abcd", axes, axes, axes, axes, tensor)
    return np.array([[turned[(*a, *b)] for b in pairs] for a in pairs])


class Orthotropy(unittest.TestCase):
    def test_the_constants_of_a_solid(self):
        found = bone.homogenise(np.full((4, 4, 5), 1000, np.float32), 0.1, poisson=0.25, tolerance=1e-10)
        np.testing.assert_allclose(found.engineering.young, 1000, rtol=1e-6)
        np.testing.assert_allclose(found.engineering.shear, 400, rtol=1e-6)
        np.testing.assert_allclose(found.engineering.poisson, 0.25 * (1 - np.eye(3)), rtol=1e-6)
        np.testing.assert_array_equal(found.orthotropic.axes, np.eye(3))
        self.assertLess(found.orthotropic.departure, 1e-6)

    def test_the_axes_are_those_where_least_is_forbidden(self):
        found = bone.homogenise(porous_image((9, 8, 7), seed=4), 0.1, tolerance=1e-9)
        best = found.orthotropic
        np.testing.assert_allclose(best.axes @ best.axes.T, np.eye(3), atol=1e-12)
        self.assertGreater(np.linalg.det(best.axes), 0)
        symmetric = (found.stiffness + found.stiffness.T) / 2
        np.testing.assert_allclose(best.stiffness, turn(symmetric, best.axes), atol=1e-9 * symmetric.max())

        def departure(stiffness):
            times = np.outer([1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 2])  # that a number stands in the tensor
            allowed = np.eye(6, dtype=bool)
            allowed[:3, :3] = True
            return np.sqrt((times * stiffness**2)[~allowed].sum() / (times * stiffness**2).sum())

        self.assertAlmostEqual(best.departure, departure(best.stiffness), delta=1e-12)
        self.assertLess(best.departure, departure(symmetric))
        np.testing.assert_allclose(1 / np.diag(np.linalg.inv(best.stiffness))[:3], best.engineering.young, rtol=1e-9)


class Axes(unittest.TestCase):
    def test_the_same_image_in_both_orders_has_the_same_bits(self):
        image = porous_image()
        one = bone.solve(image, 0.1, backend="serial")
        for other_image in (image.transpose(2, 1, 0), np.asfortranarray(image.transpose(2, 1, 0)),
                            np.ascontiguousarray(image.transpose(2, 1, 0))):
            other = bone.solve(other_image, 0.1, axes="xyz", backend="serial")
            self.assertEqual(one.stiffness, other.stiffness)
            self.assertTrue(np.array_equal(other.displacement.swapaxes(0, 2), one.displacement))
            self.assertTrue(np.array_equal(other.stress_tensor.swapaxes(0, 2), one.stress_tensor))
            self.assertTrue(np.array_equal(other.energy_density.T, one.energy_density))
            self.assertTrue(np.array_equal(other.gradient().T, one.gradient()))

    def test_other_numbers_and_strides_are_converted(self):
        image = porous_image()
        one = bone.solve(image, 0.1, backend="serial")
        wide = np.zeros((*image.shape[:2], 2 * image.shape[2]), np.float64)
        wide[..., ::2] = image
        for other in (image.astype(np.int64), wide[..., ::2], image.astype(">f4"), image.tolist()):
            self.assertEqual(bone.solve(other, 0.1, backend="serial").stiffness, one.stiffness)

    def test_an_image_with_x_fastest_is_read_where_it_is(self):
        image = porous_image()
        self.assertIs(bone._image(image, "zyx"), image)
        self.assertTrue(np.shares_memory(bone._image(image.T, "xyz"), image))
        self.assertTrue(np.shares_memory(bone._image(np.asfortranarray(image.T), "xyz"), image))
        self.assertFalse(np.shares_memory(bone._image(image.T, "zyx"), image))

    def test_reading_an_image_does_not_change_it(self):
        image = porous_image()
        image.flags.writeable = False
        before = image.copy()
        bone.solve(image, 0.1)
        self.assertTrue(np.array_equal(image, before))

    def test_an_image_is_not_copied(self):
        def memory(name):
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) << 10 for line in file if line.startswith(name))
        bone.solve(porous_image(), 0.1, backend="serial")  # what a first call leaves
        image = np.zeros((200, 200, 200), np.float32)
        image[:, 96:104, 96:104] = 1000
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak begins anew
        before = memory("VmRSS")
        self.assertTrue(bone.solve(image, 0.1, backend="serial").converged)
        self.assertLess(memory("VmHWM") - before, image.nbytes / 2)  # of the solver, 12 800 voxels


class Gradients(unittest.TestCase):
    def check(self, quantity, most, **options):
        image = porous_image((8, 7, 6))
        gradient = tight(image, **options).gradient(quantity)
        self.assertEqual(gradient.shape, image.shape)
        self.assertTrue(np.all(gradient[image == 0] == 0))
        solid = np.argwhere(image > 0)
        largest = np.abs(gradient).max()
        for place in map(tuple, solid[::len(solid) // 7]):
            values, step = [], 2.0  # moduli and step are exact in single precision
            for sign in (-1, 1):
                moved = image.copy()
                moved[place] += sign * step
                values.append(getattr(tight(moved, **options), quantity))
            difference = (values[1] - values[0]) / (2 * step)
            self.assertLess(abs(difference - gradient[place]), most * largest, (quantity, place))

    def test_stiffness_of_glued_plates(self):
        self.check("stiffness", 1e-5)

    def test_stiffness_of_smooth_plates(self):
        self.check("stiffness", 1e-5, lateral="free", axis="x")

    def test_stiffness_of_a_confined_test(self):
        self.check("stiffness", 1e-5, test="confined")

    def test_stiffness_in_shear(self):
        self.check("stiffness", 1e-5, test="shear", direction="y")

    def test_apparent_modulus_and_force(self):
        self.check("apparent_modulus", 1e-5)
        self.check("force", 1e-5)

    def test_torsion(self):
        self.check("rotational_stiffness", 1e-5, test="torsion")
        self.check("moment", 1e-5, test="torsion", centre="box")

    def test_symmetric_shear(self):
        self.check("apparent_modulus", 1e-5, test="symshear", axis="x")
        uniform = tight(np.full((8, 7, 6), 1300, np.float32), test="symshear", strain=0.02)
        self.assertAlmostEqual(uniform.apparent_modulus / 500, 1, delta=1e-6)  # E / (2 (1 + nu))
        self.assertAlmostEqual(uniform.stress, 10, delta=1e-4)
        self.assertIsNone(uniform.stiffness)
        with self.assertRaisesRegex(ossatura.UsageError, "symshear has no plates"):
            bone.solve(porous_image(), 0.1, test="symshear", plate_depth=0.2)

    def test_energy_in_bending(self):
        self.check("strain_energy", 1e-5, test="bending")

    def test_any_number_of_the_displacements(self):
        image = porous_image((8, 7, 6))
        target = np.random.default_rng(5).normal(0, 1e-3, (9, 8, 7, 3))
        for options in ({}, {"test": "torsion", "axis": "x"}, {"lateral": "free"}):
            result = tight(image, **options)
            gradient = result.adjoint(result.displacement - target)

            def misfit(moduli):
                return 0.5 * ((tight(moduli, **options).displacement - target)**2).sum()

            self.assertTrue(np.all(gradient[image == 0] == 0))
            solid = np.argwhere(image > 0)
            for place in map(tuple, solid[::len(solid) // 5]):
                values = []
                for step in (-2.0, 2.0):
                    moved = image.copy()
                    moved[place] += step
                    values.append(misfit(moved))
                self.assertLess(abs((values[1] - values[0]) / 4 - gradient[place]), 1e-5 * np.abs(gradient).max())

    def test_an_adjoint_is_linear_and_has_the_axes_of_the_image(self):
        image = porous_image((8, 7, 6))
        result = tight(image)
        weights = np.random.default_rng(6).normal(size=(9, 8, 7, 3))
        gradient = result.adjoint(weights)
        np.testing.assert_allclose(result.adjoint(-2 * weights), -2 * gradient, atol=1e-9 * np.abs(gradient).max())
        self.assertTrue(np.all(result.adjoint(np.zeros_like(weights)) == 0))
        turned = tight(image.T, axes="xyz")
        self.assertTrue(np.array_equal(turned.adjoint(weights.swapaxes(0, 2)).T, gradient))

    def test_an_adjoint_of_another_shape_or_without_convergence_is_refused(self):
        result = bone.solve(porous_image((8, 7, 6)), 0.1)
        weights = np.ones((9, 8, 7, 3))
        with self.assertRaisesRegex(ossatura.InputError, r"weights: an array of shape \[9, 8, 7, 3\]"):
            result.adjoint(weights[1:])
        with self.assertRaises(ossatura.ConvergenceError) as caught:
            result.adjoint(weights, tolerance=1e-30)
        self.assertEqual(caught.exception.result.shape, (8, 7, 6))

    def test_moduli_are_fitted_to_displacements(self):
        """The moduli of one of two layers from the displacements of a test, by secants on the slope of the misfit."""
        image = np.full((8, 6, 6), 1000, np.float32)
        image[4:] = 1700
        measured = tight(image).displacement

        def slope(value):
            guess = np.full((8, 6, 6), 1000, np.float32)
            guess[4:] = value
            result = tight(guess)
            return result.adjoint(result.displacement - measured)[4:].sum()

        points = [1000.0, 1200.0]
        slopes = [slope(value) for value in points]
        for _ in range(12):
            if slopes[1] == slopes[0]:
                break
            step = slopes[1] * (points[1] - points[0]) / (slopes[1] - slopes[0])
            points = [points[1], points[1] - step]
            slopes = [slopes[1], slope(points[1])]
        self.assertAlmostEqual(points[1], 1700, delta=0.01)

    def test_entries_of_the_homogenised_stiffness(self):
        image = porous_image((6, 5, 5))

        def stiffness(moduli, gradients=False):
            return bone.homogenise(moduli, 0.1, tolerance=1e-12, precision="double", backend="serial",
                                   gradients=gradients)

        found = stiffness(image, True)
        solid = np.argwhere(image > 0)
        weights = np.random.default_rng(7).normal(size=(6, 6))
        gradient = found.gradient(weights)
        self.assertTrue(np.all(gradient[image == 0] == 0))
        for place in map(tuple, solid[::len(solid) // 5]):
            values = []
            for step in (-2.0, 2.0):
                moved = image.copy()
                moved[place] += step
                values.append(stiffness(moved).stiffness)
            difference = (values[1] - values[0]) / 4
            self.assertLess(abs((weights * difference).sum() - gradient[place]), 1e-5 * np.abs(gradient).max())
        one = np.zeros((6, 6))
        one[1, 0] = 1
        self.assertAlmostEqual((found.gradient(one) * image).sum() / found.stiffness[1, 0], 1, delta=1e-6)
        with self.assertRaisesRegex(ossatura.UsageError, "gradients=True"):
            stiffness(image).gradient(one)
        with self.assertRaisesRegex(ossatura.InputError, "weights"):
            found.gradient(one[0])

    def test_scaling_all_moduli_is_the_sum(self):
        """By Euler: stiffness is homogeneous of degree 1 in the moduli."""
        image = porous_image()
        result = bone.solve(image, 0.1, tolerance=1e-9)
        self.assertAlmostEqual((result.gradient() * image).sum() / result.stiffness, 1, delta=1e-6)

    def test_numbers_that_a_test_does_not_have_are_refused(self):
        image = porous_image((8, 7, 6))
        with self.assertRaisesRegex(ossatura.UsageError, "a test of torsion does not have it"):
            bone.solve(image, 0.1, test="torsion").gradient("stiffness")
        with self.assertRaisesRegex(ossatura.UsageError, "a test of bending"):
            bone.solve(image, 0.1, test="bending").gradient("moment")
        with self.assertRaisesRegex(ossatura.UsageError, "one of 'stiffness'"):
            bone.solve(image, 0.1).gradient("beauty")


class Refusals(unittest.TestCase):
    def refuse(self, error, text, image=None, spacing=0.1, **options):
        with self.assertRaisesRegex(error, text):
            bone.solve(porous_image() if image is None else image, spacing, **options)

    def test_images(self):
        image = porous_image()
        for bad in (-1, math.nan, math.inf):
            wrong = image.copy()
            wrong[3, 2, 1] = bad
            self.refuse(ossatura.InputError, r"modulus at \[z, y, x\] = \[3, 2, 1\]", wrong)
        self.refuse(ValueError, "no voxel greater than 0", np.zeros((3, 3, 3), np.float32))
        self.refuse(ossatura.InputError, "shape", np.ones((3, 3), np.float32))
        self.refuse(ValueError, "1 to 1048575", np.ones((0, 3, 3), np.float32))
        self.refuse(TypeError, "not bool", np.ones((3, 3, 3), bool))
        self.refuse(TypeError, "not complex", np.ones((3, 3, 3), complex))

    def test_numbers(self):
        self.refuse(ValueError, "edge of -1 mm", spacing=-1)
        self.refuse(ossatura.InputError, "Poisson", poisson=0.5)
        self.refuse(ossatura.InputError, "nothing loads", strain=0)
        self.refuse(ossatura.UsageError, "plates", plate_depth=5)
        self.refuse(ossatura.UsageError, "plate_depth: -1 mm; at least 0", plate_depth=-1)
        self.refuse(ossatura.UsageError, "both strain and displacement", strain=-0.02, displacement=-0.001)
        for test, name, value in (("axial", "angle", 0.02), ("axial", "centre", "box"), ("axial", "direction", "x"),
                                  ("confined", "lateral", "free"), ("uniaxial", "lateral", "constrained"), ("torsion", "strain", 0.01), ("bending", "displacement", 0.1),
                                  ("torsion", "direction", "x")):
            self.refuse(ossatura.UsageError, f"{name}: has no effect with the test {test}", test=test, **{name: value})
        self.refuse(ossatura.UsageError, "tolerance", tolerance=0)
        self.refuse(ossatura.UsageError, "max_iterations", max_iterations=0)

    def test_words(self):
        self.refuse(ossatura.UsageError, "test='pull': one of 'axial'", test="pull")
        self.refuse(ossatura.UsageError, "axes", axes="yxz")
        self.refuse(ossatura.UsageError, "across the plates' normal", test="shear", direction="z")
        self.refuse(ossatura.UsageError, "precision", precision="half")
        self.refuse(ossatura.BackendError, "not in this build", backend="abacus")

    def test_specimens_that_are_no_test(self):
        apart = np.zeros((7, 4, 4), np.float32)
        apart[:3] = apart[4:] = 1000
        self.refuse(ossatura.InputError, "no path of bone leads", apart)
        loose = np.zeros((9, 9, 9), np.float32)
        loose[:, :4] = 1000
        loose[2:7, 5:] = 1000
        self.refuse(ossatura.InputError, "touch no support", loose)
        with self.assertLogs("ossatura"):
            self.assertEqual(bone.solve(loose, 0.1, islands="drop").num_dropped, 5 * 4 * 9)
        self.refuse(ossatura.InputError, "islands=\"drop\" leaves them out", loose, islands="error")

    def test_what_does_not_converge_is_an_error_with_the_result(self):
        with self.assertRaisesRegex(ossatura.ConvergenceError, "after 2 iterations") as caught:
            bone.solve(porous_image(), 0.1, max_iterations=2)
        result = caught.exception.result
        self.assertFalse(result.converged)
        self.assertEqual(result.iterations, 2)
        self.assertGreater(result.residual, 1e-6)
        self.assertIn("NOT CONVERGED", repr(result))
        self.assertFalse(bone.solve(porous_image(), 0.1, max_iterations=2, check=False).converged)
        with self.assertRaises(ossatura.ConvergenceError) as caught:
            bone.homogenise(porous_image(), 0.1, max_iterations=2)
        self.assertFalse(caught.exception.result.converged)


if __name__ == "__main__":
    unittest.main()
