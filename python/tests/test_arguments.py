# SPDX-License-Identifier: Apache-2.0
"""Arguments of all systems: what is no number, no array and not finite is refused by its name."""
import math
import pathlib
import tempfile
import unittest

import numpy as np
import ossatura
from cases import porous_image, tetra_box
from ossatura import bone, eikonal, pfem, softbody, topopt

NAN = math.nan


def masked(shape, value=1.0):
    """An array with one masked entry."""
    array = np.ma.array(np.full(shape, value))
    array[(0,) * len(shape)] = np.ma.masked
    return array


class Arguments(unittest.TestCase):
    def refuse(self, error, text, call, *arguments, **options):
        with self.assertRaisesRegex(error, text) as caught:
            call(*arguments, **options)
        self.assertNotIn("incompatible function arguments", str(caught.exception))
        self.assertNotRegex(str(caught.exception), r"\.[ch]pp")


class Bone(Arguments):
    IMAGE = porous_image((5, 4, 4))

    def solve(self, spacing=0.1, image=None, **options):
        return bone.solve(self.IMAGE if image is None else image, spacing, backend="serial", **options)

    def test_masked_arrays(self):
        image = np.ma.masked_equal(np.where(self.IMAGE == 0, 9999, self.IMAGE), 9999)
        self.refuse(TypeError, "modulus: a masked array.*filled", self.solve, image=image)
        self.refuse(TypeError, "modulus: a masked array", bone.homogenise, image, 0.1)
        self.refuse(TypeError, "modulus: a masked array", self.solve, image=list(image))
        self.refuse(TypeError, "mask: a masked array", self.solve, mask=np.ma.masked_equal(np.eye(4, dtype=int), 0))
        expected = self.solve()
        self.assertEqual(self.solve(image=image.filled(0)).stiffness, expected.stiffness)
        self.assertEqual(self.solve(image=np.ma.array(self.IMAGE)).stiffness, expected.stiffness)
        self.refuse(TypeError, "weights: a masked array", expected.adjoint, masked(expected.displacement.shape))
        self.refuse(TypeError, "field: a masked array", expected.plot, image)

    def test_edges_of_voxels(self):
        expected = self.solve().stiffness
        for spacing in ((0.1, 0.1, 0.1), [0.1, 0.1 + 4e-8, 0.1], np.full(3, 0.1), np.float64(0.1), np.array(0.1)):
            found = self.solve(spacing)
            self.assertEqual(found.stiffness, expected)
            self.assertEqual(found.spacing, 0.1)
        self.refuse(ossatura.InputError, "spacing=.*voxels are cubes.*resample", self.solve, (0.1, 0.1, 0.2))
        self.refuse(ossatura.InputError, "spacing: an array of shape", self.solve, np.array([0.1]))
        self.refuse(TypeError, "spacing='0.1'", self.solve, "0.1")
        self.refuse(ValueError, "spacing=nan", self.solve, NAN)
        self.refuse(TypeError, "spacing", self.solve, None)

    def test_numbers(self):
        self.refuse(TypeError, "poisson=.*: a number", self.solve, poisson=self.IMAGE)
        self.refuse(ossatura.InputError, "centre: an array of shape", self.solve, test="torsion", centre=(1, 0))
        self.refuse(ossatura.InputError, "centre=.*not finite", self.solve, test="torsion", centre=(NAN, 0, 0))
        self.refuse(TypeError, "centre=1", self.solve, test="torsion", centre=1)
        self.refuse(TypeError, "max_iterations=2.5: a whole number", self.solve, max_iterations=2.5)
        self.refuse(ValueError, "max_iterations=.*32 bits", self.solve, max_iterations=10**10)
        self.refuse(TypeError, "tolerance='1e-6': a number", self.solve, tolerance="1e-6")
        for name in ("strain", "displacement", "plate_depth", "poisson", "tolerance"):
            self.refuse(ossatura.UsageError, f"{name}=nan", self.solve, **{name: NAN})
        self.refuse(ossatura.UsageError, "angle=nan", self.solve, test="torsion", angle=NAN)
        self.refuse(TypeError, "poisson=1j", bone.homogenise, self.IMAGE, 0.1, poisson=1j)
        self.refuse(TypeError, "slope='8'", bone.Law, "linear", slope="8")
        self.refuse(TypeError, "strain=None", self.solve().failure_factor, None)

    def test_flags(self):
        """A text counts as true, "no" as well as "yes"."""
        for name in ("check", "progress"):
            self.refuse(TypeError, f"{name}='no': True or False", self.solve, **{name: "no"})
            self.refuse(TypeError, f"{name}='no': True or False", bone.homogenise, self.IMAGE, 0.1, **{name: "no"})
        self.refuse(TypeError, "gradients='no': True or False", bone.homogenise, self.IMAGE, 0.1, gradients="no")
        self.refuse(TypeError, "check=0: True or False", bone.remodel, 800 * self.IMAGE, 0.1, steps=1, coefficient=1,
                    exponent=1, stimulus=1, rate=1, limits=(1, 1000), check=0)
        result = self.solve(check=np.bool_(True), progress=np.bool_(False))
        self.refuse(TypeError, "check='no': True or False", result.adjoint, result.displacement, check="no")

    def test_labels(self):
        mask = np.ones(self.IMAGE.shape, np.uint8)
        mask[:2] = 2
        self.refuse(TypeError, r"mask: integers, not float64: array.astype\(int\)", self.solve, mask=mask.astype(float))
        self.refuse(TypeError, "mask_labels=1: a list", self.solve, mask=mask, mask_labels=1)
        self.refuse(TypeError, "mask_labels=1.5: a whole number", self.solve, mask=mask, mask_labels=[1.5])
        self.refuse(TypeError, "pads=.*: a mapping", self.solve, mask=mask, pads=[2])
        self.refuse(TypeError, "label_laws=.*: a mapping", self.solve, mask=mask, label_laws=[bone.Law("modulus")])
        self.assertEqual(self.solve(mask=mask, pads={2: [2500, 0.4]}).stiffness,
                         self.solve(mask=mask, pads={2: (2500, 0.4)}).stiffness)

    def test_fields_of_a_file(self):
        """An iterator of names is used up by a look at it."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "bone.npz")
            result = self.solve()
            result.save(path, fields=(name for name in ("von_mises", "displacement")))
            with np.load(path) as file:
                self.assertLess({"von_mises", "displacement"}, set(file.files))
            result.save(path, fields="von_mises")
            with np.load(path) as file:
                np.testing.assert_array_equal(file["von_mises"], result.von_mises)
            self.refuse(ossatura.UsageError, "fields='stress'", result.save, path, fields=["stress"])

    def test_weights_that_are_not_finite(self):
        result = self.solve()
        weights = np.zeros(result.displacement.shape)
        weights[2, 1, 0, 2] = NAN
        self.refuse(ossatura.InputError, r"weights\[2, 1, 0, 2\] is not finite", result.adjoint, weights)
        found = bone.homogenise(self.IMAGE, 0.1, gradients=True)
        self.refuse(ossatura.InputError, r"weights\[0, 0\]", found.gradient, np.full((6, 6), np.inf))


class Softbody(Arguments):
    POINTS, TETRA = tetra_box(2)

    def world(self, **body):
        world = softbody.World(backend="serial")
        world.add(self.POINTS, self.TETRA, **body)
        return world

    def test_masked_arrays(self):
        self.refuse(TypeError, "load: a masked array", self.world, load=masked(self.POINTS.shape))
        self.refuse(TypeError, "fixed: a masked array", self.world, fixed=np.ma.masked_equal(np.arange(4), 0))
        self.refuse(TypeError, "velocity: a masked array", self.world(fixed=[0]).bodies[0].move_fixed,
                    np.ma.masked_equal([0.0, 0.0, 9.0], 9))

    def test_numbers(self):
        for value in (1.0, 2.0, 0.0, -1e-9, NAN):
            self.refuse(ossatura.UsageError, "tolerance=.*between 0 and 1", softbody.World, tolerance=value)
        self.refuse(ossatura.InputError, "gravity=.*not finite", softbody.World, gravity=(0, 0, NAN))
        self.refuse(TypeError, "gravity=-9.81", softbody.World, gravity=-9.81)
        self.refuse(TypeError, "newton_iterations=1.5", softbody.World, newton_iterations=1.5)
        self.refuse(TypeError, "time_step='1'", softbody.World, time_step="1")
        self.refuse(ossatura.UsageError, "young=nan", self.world, young=NAN)
        self.refuse(TypeError, "density=", self.world, density=np.ones(3))
        self.refuse(ossatura.InputError, r"load\[0, 0\] is not finite", self.world,
                    load=np.full(self.POINTS.shape, NAN))
        self.refuse(ossatura.InputError, "point=.*not finite", self.world().add_plane, (0, 0, NAN))
        self.refuse(TypeError, "name=3: a text", self.world, name=3)
        self.refuse(ossatura.UsageError, "rayleigh_mass=-1: at least 0", softbody.World, rayleigh_mass=-1)

    def test_flags(self):
        self.refuse(TypeError, "contact_between_bodies='no': True or False", softbody.World, contact_between_bodies="no")
        world = self.world()
        self.refuse(TypeError, "check='no': True or False", world.step, check="no")
        self.refuse(TypeError, "check='no': True or False", world.run, 2, check="no")
        self.assertEqual(world.time, 0)

    def test_nodes_that_are_fixed(self):
        """0 and 1 of each node would be the numbers of two."""
        held = self.POINTS[:, 2] == 0

        def ends(fixed):
            world = self.world(fixed=fixed)
            world.step()
            return world.positions

        expected = ends(held)
        np.testing.assert_array_equal(expected[held], self.POINTS[held])
        for fixed in (np.flatnonzero(held), held.tolist(), np.flatnonzero(held).tolist()):
            np.testing.assert_array_equal(ends(fixed), expected)
        for kind in (int, np.uint8, float):
            self.refuse(ossatura.InputError, r"fixed: 0 or 1 of each of the 27 nodes.*astype\(bool\)", ends, held.astype(kind))
        ends([0, 1])

    def test_states(self):
        world = self.world()
        x, v = world.positions, world.velocities
        self.refuse(ossatura.UsageError, "time=nan", world.set_state, x, v, NAN)
        self.refuse(ossatura.InputError, r"positions\[0, 0\]", world.set_state, x * NAN, v, 0.0)
        self.refuse(ossatura.InputError, r"velocities\[0, 0\]", world.set_state, x, v * NAN, 0.0)
        np.testing.assert_array_equal(world.positions, x)


class Topopt(Arguments):
    POINTS, HEXA = topopt.box((2, 2, 1), (2.0, 2.0, 1.0))

    def make(self, **changes):
        loads = np.where(self.POINTS[:, :1] == 2, [[0.0, 0.0, 1.0]], 0.0)
        return topopt.Optimizer(self.POINTS, self.HEXA, **{
            "young": 1.0, "held": self.POINTS[:, 0] == 0, "loads": loads, "volume": 0.5, "backend": "serial", **changes})

    def test_masked_arrays(self):
        held = np.ma.masked_equal(self.POINTS[:, 0] == 0, False)
        self.refuse(TypeError, "held: a masked array", self.make, held=held)
        self.refuse(TypeError, "loads: a masked array", self.make, loads=masked(self.POINTS.shape))
        self.refuse(TypeError, "x: a masked array", self.make().analyse, masked((4,)))

    def test_numbers(self):
        for value in (1.0, 2.0, 0.0, -1e-9, NAN):
            self.refuse(ossatura.UsageError, "tolerance=.*between 0 and 1", self.make, tolerance=value)
        self.refuse(TypeError, "young=", self.make, young=np.ones(4))
        self.refuse(TypeError, "volume='half'", self.make, volume="half")
        self.refuse(TypeError, "max_steps=2.5", self.make, max_steps=2.5)
        self.refuse(ossatura.UsageError, "penalty=nan", self.make, penalty=NAN)
        self.refuse(ossatura.UsageError, "weights=nan", self.make, weights=[NAN])
        self.refuse(TypeError, "mirrors: planes.* not 'x'", self.make, mirrors=("x", 0.0))
        self.refuse(ossatura.InputError, "size: an array of shape", topopt.box, (2, 2, 2), (1, 1))
        self.refuse(ossatura.UsageError, "size=", topopt.box, (2, 2, 2), (1, 0, 1))
        self.refuse(ossatura.UsageError, "cells=", topopt.box, (2, 2.5, 2), (1, 1, 1))
        optimizer = self.make()
        optimizer.analyse()
        self.refuse(TypeError, "case=0.5", optimizer.displacement, 0.5)
        self.refuse(TypeError, "weights=2: a number for each", self.make, weights=2)
        for radius in (0, -1.0):
            self.refuse(ossatura.UsageError, f"radius={radius}: .*greater than 0", self.make, radius=radius)
        self.refuse(ossatura.UsageError, "radius=1.6: has no effect with filter=.none", self.make, radius=1.6, filter="none")
        self.assertEqual(self.make(filter="none").radius, 0)

    def test_mirrors(self):
        """An iterator of planes is used up by a look at them."""
        objectives = []
        for mirrors in ((), [("x", 2.0), ("y", 0.0)], zip("xy", (2.0, 0.0))):
            optimizer = self.make(mirrors=mirrors)
            optimizer.step()
            objectives.append(optimizer.step().objective)
        self.assertNotEqual(objectives[0], objectives[1])
        self.assertEqual(objectives[2], objectives[1])
        for mirrors in (None, "x"):
            self.refuse(TypeError, "mirrors=.*planes of an axis and a place", self.make, mirrors=mirrors)

    def test_before_the_first_analysis(self):
        optimizer = self.make()
        self.refuse(ossatura.UsageError, "displacement: no design is analysed yet", optimizer.displacement)
        self.refuse(ossatura.UsageError, "energies: no design is analysed yet", lambda: optimizer.energies)
        optimizer.step()
        self.assertGreater(np.abs(optimizer.displacement()).max(), 0)
        self.assertGreater(optimizer.energies.min(), 0)


class Pfem(Arguments):
    POINTS, HEXA = topopt.box((2, 1, 1), (2.0, 1.0, 1.0))

    def model(self, **options):
        model = pfem.Model(pfem.Mesh(self.POINTS, self.HEXA), **{"young": 1.0, "backend": "serial", **options})
        model.hold(self.POINTS[:, 0] == 0)
        model.add_traction(self.POINTS[:, 0] == 2, (1, 0, 0))
        return model

    def test_masked_arrays(self):
        self.refuse(TypeError, "young: a masked array", self.model, young=masked((2,)))
        self.refuse(TypeError, "poisson: a masked array", self.model, poisson=masked((2,), 0.3))
        self.refuse(TypeError, "where: a masked array", self.model().hold,
                    np.ma.masked_equal(self.POINTS[:, 0] == 2, False))

    def test_numbers(self):
        model = self.model(order=2)
        self.refuse(TypeError, "tolerance='1e-6'", model.solve, tolerance="1e-6")
        self.refuse(ossatura.UsageError, "tolerance=1.0", model.solve, tolerance=1.0)
        self.refuse(TypeError, "max_iterations=2.5", model.solve, max_iterations=2.5)
        self.refuse(TypeError, "pressure=", model.add_pressure, self.POINTS[:, 0] == 2, (1, 0, 0))
        self.refuse(TypeError, "traction=1", model.set_load, 0, 1)
        self.refuse(TypeError, "inner='1'", pfem.sphere_octant, "1", 2.0)
        self.refuse(TypeError, "along=1.5", pfem.sphere_octant, 1.0, 2.0, along=1.5)
        weights = np.zeros(self.POINTS.shape)
        weights[3, 1] = NAN
        self.refuse(ossatura.InputError, r"weights\[3, 1\] is not finite", model.solve().adjoint, weights)

    def test_flags(self):
        for name in ("check", "progress"):
            self.refuse(TypeError, f"{name}='no': True or False", self.model(order=2).solve, **{name: "no"})

    def test_a_mesh_is_not_changed_in_place(self):
        """Its arrays are copies: what is solved would not follow."""
        mesh = pfem.Mesh(self.POINTS, self.HEXA)
        for made in (mesh, pfem.sphere_octant(1.0, 2.0)):
            with self.assertRaisesRegex(ValueError, "read-only"):
                made.points *= 0.001
            with self.assertRaisesRegex(ValueError, "read-only"):
                made.hexa[0] = 1
        np.testing.assert_array_equal(mesh.points, self.POINTS)


class Eikonal(Arguments):
    POINTS, TETRA = tetra_box(2)

    def solver(self, **options):
        return eikonal.Solver(self.POINTS, self.TETRA, **{"velocities": 0.5, "backend": "serial", **options})

    def test_masked_arrays(self):
        n = len(self.TETRA)
        self.refuse(TypeError, "velocities: a masked array", self.solver, velocities=masked((n,)))
        self.refuse(TypeError, "velocities.*: a masked array", self.solver, velocities={0: masked((2,))})
        self.refuse(TypeError, "fibres: a masked array", self.solver, fibres=masked((n, 3)))

    def test_numbers(self):
        fibres = np.ones((len(self.TETRA), 3))
        fibres[5, 1] = NAN
        self.refuse(ossatura.InputError, r"fibres\[5, 1\] is not finite", self.solver, fibres=fibres)
        self.refuse(ossatura.InputError, r"sheets\[5, 1\] is not finite", self.solver, fibres=np.ones_like(fibres),
                    sheets=fibres)
        self.refuse(TypeError, "max_iterations=1.5", self.solver, max_iterations=1.5)
        self.refuse(TypeError, "tolerance='1'", self.solver, tolerance="1")
        self.refuse(TypeError, "velocities of tag 0=.*'a'", self.solver, velocities={0: "a"})
        self.refuse(TypeError, "velocities: tag='0': a whole number", self.solver, velocities={"0": 0.5})
        self.refuse(ossatura.InputError, r"velocities: an array of shape \[48, 1\], not \[2, 1\]", self.solver,
                    velocities=[[0.5], [0.6]])  # rows of tetrahedra, not two velocities of all
        self.refuse(TypeError, "sites=0: {vertex", self.solver().solve, 0)
        solver = self.solver()
        self.refuse(ossatura.UsageError, "sites: time of vertex 0=nan", solver.solve, {0: NAN})
        self.refuse(TypeError, "sites: vertex=0.5", solver.solve, {0.5: 0.0})
        times = solver.solve({0: 0.0})
        self.refuse(ossatura.InputError, r"weights\[0\]", solver.gradient, {0: 0.0}, times, times * NAN)

    def test_flags(self):
        self.refuse(TypeError, "deterministic='no': True or False", self.solver, deterministic="no")
        self.refuse(TypeError, "check='no': True or False", self.solver().solve, {0: 0.0}, check="no")


class Messages(Arguments):
    def test_no_place_in_our_sources(self):
        """refuse() looks for one, whether the call runs on the engine's thread or not."""
        points, hexa = topopt.box((2, 2, 2), (1.0, 1.0, 1.0))
        self.refuse(ValueError, "^element 0 is inverted", pfem.Model, pfem.Mesh(points, hexa[:, [4, 5, 6, 7, 0, 1, 2, 3]]), young=1.0)
        self.refuse(ValueError, "", pfem.sphere_octant, 2.0, 1.0)
        self.refuse(ValueError, "", pfem.cylinder_quarter, 2.0, 1.0, 1.0)
        self.refuse(ValueError, "", eikonal.Solver, points, np.zeros((3, 4), int), velocities=1.0)
        self.refuse(ValueError, "", topopt.Optimizer, points, hexa + 1, young=1.0, held=points[:, 0] == 0, volume=0.5,
                    loads=np.ones_like(points))


if __name__ == "__main__":
    unittest.main()
