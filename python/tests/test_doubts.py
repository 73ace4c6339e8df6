# SPDX-License-Identifier: Apache-2.0
"""Numbers in other units, and what else is hardly meant, are warnings with the codes of the executable."""
import logging
import pickle
import unittest

import numpy as np
from cases import porous_image, tetra_box
import ossatura
from ossatura import _doubts, bone, eikonal, pfem, softbody, topopt


class Doubts(unittest.TestCase):
    def codes(self, call, *arguments, again=False, **options):
        """Of the warnings that a call gives, the first one or `again`."""
        if not again:
            _doubts._given.clear()
        logger, before = logging.getLogger("ossatura"), logging.getLogger("ossatura").level
        seen = []
        handler = logging.Handler(logging.WARNING)
        handler.emit = seen.append
        logger.addHandler(handler)
        propagates, logger.propagate = logger.propagate, False
        try:
            logger.setLevel(logging.WARNING)
            call(*arguments, **options)
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)
            logger.propagate = propagates
        self.texts = [record.getMessage() for record in seen]
        return [record.code for record in seen]


class Bone(Doubts):
    IMAGE = porous_image((6, 5, 4))

    def solve(self, image=None, spacing=0.1, **options):
        return self.codes(bone.solve, self.IMAGE if image is None else image, spacing, backend="serial", **options)

    def test_moduli(self):
        self.assertEqual(self.solve(), [])
        for factor, text in ((1e-3, "softer than bone"), (1e6, "stiffer than metal")):
            self.assertEqual(self.solve(self.IMAGE * factor), ["odd-modulus"])
            self.assertIn(text, self.texts[0])
            self.assertEqual(self.codes(bone.homogenise, self.IMAGE * factor, 0.1, backend="serial"), ["odd-modulus"])

    def test_a_loop_of_calls_is_told_once(self):
        self.assertEqual(self.solve(self.IMAGE / 1000), ["odd-modulus"])
        self.assertEqual(self.solve(self.IMAGE / 1001, again=True), [])
        self.assertEqual(self.solve(self.IMAGE, again=True), [])
        self.assertEqual(self.solve(self.IMAGE / 1002, again=True), ["odd-modulus"])

    def test_moduli_by_a_mask(self):
        mask = np.ones(self.IMAGE.shape, int)
        mask[:2] = 2
        self.assertEqual(self.solve(mask=mask), [])
        self.assertEqual(self.solve(self.IMAGE / 1000, mask=mask), ["odd-modulus"])
        laws = {1: bone.Law("linear", slope=1000), 2: bone.Law("constant", modulus=12000)}
        self.assertEqual(self.solve(self.IMAGE / 1000, mask=mask, label_laws=laws), [])
        self.assertEqual(self.solve(self.IMAGE / 1e6, mask=mask, label_laws={1: laws[1]}, pads={2: 2500}), ["odd-modulus"])
        self.assertEqual(self.solve(mask=mask, pads={2: 2.5}), ["odd-modulus"])
        self.assertIn("pads[2] has 2.5 MPa", self.texts[0])

    def test_densities(self):
        options = {"steps": 0, "coefficient": 4000, "exponent": 2, "stimulus": 0.05, "rate": 0.5, "limits": (0.3, 1.6),
                   "backend": "serial"}
        density = self.IMAGE / 1000
        self.assertEqual(self.codes(bone.remodel, density, 0.1, **options), [])
        self.assertEqual(self.codes(bone.remodel, 1000 * density, 0.1, **options), ["odd-modulus"])

    def test_densities_that_swing(self):
        """A soft pad between two layers presses them with much the same force, whatever their densities."""
        labels = np.ones((6, 2, 2), int)
        labels[2:4] = 5
        options = {"steps": 12, "coefficient": 3790, "exponent": 3, "stimulus": 0.004, "limits": (0.05, 1.74), "backend": "serial",
                   "mask": labels, "pads": {5: 50}, "lateral": "free", "strain": -0.0133}
        density = np.full(labels.shape, 0.75)
        self.assertEqual(self.codes(bone.remodel, density, 0.5, rate=20, **options), [])
        self.assertEqual(self.codes(bone.remodel, density, 0.5, rate=400, **options), ["density-swings"])
        self.assertIn("a rate of 400 is too large", self.texts[0])

    def test_a_stimulus_in_another_unit(self):
        """Of 4 J/kg as 4 J/g all bone resorbs; of a thousandth all forms."""
        options = {"coefficient": 3790, "exponent": 3, "rate": 20, "limits": (0.05, 1.74), "lazy": 0.5, "lateral": "free",
                   "strain": 0.001, "backend": "serial"}
        density = np.full((3, 2, 2), 0.75)
        for stimulus, end in ((4, "least"), (4e-6, "largest")):
            self.assertEqual(self.codes(bone.remodel, density, 0.5, steps=30, stimulus=stimulus, **options), ["odd-stimulus"])
            self.assertIn(f"all bone has the {end} density of the limits", self.texts[0])
        self.assertEqual(self.codes(bone.remodel, density, 0.5, steps=30, stimulus=0.0011, **options), [])
        self.assertEqual(self.codes(bone.remodel, np.full((3, 2, 2), 0.5), 0.5, steps=0, stimulus=4,
                                    **{**options, "limits": (0.5, 1.74)}), [])

    def test_lengths(self):
        for spacing in (82.0, 8.2e-5, 5e-4):  # um; m; clinical CT in m
            self.assertEqual(self.solve(spacing=spacing), ["odd-size"])
        self.assertEqual(self.codes(bone.homogenise, self.IMAGE, 82.0, backend="serial"), ["odd-size"])

    def test_depths_of_plates(self):
        for depth, codes in ((0.05, ["no-depth"]), (0.0999999999, []), (0.1, []), (0.0, [])):
            self.assertEqual(self.solve(plate_depth=depth), codes)

    def test_strains(self):
        self.assertEqual(self.solve(strain=-1.0), ["large-strain"])
        self.assertEqual(self.solve(displacement=-0.1), ["large-strain"])
        self.assertEqual(self.solve(test="torsion", angle=1.0), ["large-strain"])
        self.assertIn("angle, which is in rad", self.texts[0])
        self.assertEqual(self.solve(test="torsion"), [])

    def test_centres(self):
        self.assertEqual(self.solve(test="torsion", centre=(0.2, 0.2, 900.0)), [])  # along the axis
        self.assertEqual(self.solve(test="torsion", centre=(0.2, -80.0, 0.0), angle=1e-4), ["odd-centre"])
        self.assertEqual(self.solve(self.IMAGE.swapaxes(0, 2), axes="xyz", test="torsion", centre=(0.2, 0.45, 0.0)), [])

    def test_bone_in_parts(self):
        image = np.full((4, 4, 9), 1000.0)
        self.assertEqual(self.codes(bone.homogenise, image, 0.1, backend="serial"), [])
        image[:, :, 4] = 0
        self.assertEqual(self.codes(bone.homogenise, image, 0.1, backend="serial"), ["bone-in-parts"])
        self.assertIn("2 parts that share no node, the largest of 64 of 128", self.texts[0])

    def test_crumbs_beside_the_specimen(self):
        image = np.zeros((6, 10, 10))
        image[:, :6, :6] = 1000
        alone = bone.solve(image, 0.1, test="confined", backend="serial").apparent_modulus
        image[2, 9, 9] = 1000
        for test in "confined", "symshear":
            self.assertEqual(self.codes(bone.solve, image, 0.1, test=test, backend="serial"), ["islands-left-out"])
        self.assertEqual(self.codes(bone.homogenise, image, 0.1, backend="serial"), ["islands-left-out"])
        self.assertAlmostEqual(bone.solve(image, 0.1, test="confined", backend="serial").apparent_modulus / alone, 1, 6)
        image[:4, 9, 9] = 1000
        self.assertEqual(self.codes(bone.solve, image, 0.1, test="confined", backend="serial"), ["bone-in-parts"])
        self.assertIn("4 of 220 voxels are in parts that lie beyond the largest", self.texts[0])

    def test_parts_of_voxels(self):
        random = np.random.default_rng(3)
        parts = random.integers(1, 200, self.IMAGE.shape)
        self.assertEqual(self.solve(mask=parts), ["partial-mask"])
        self.assertEqual(self.solve(mask=parts, mask_labels=sorted(set(parts.ravel()))), [])
        layers = np.repeat(np.arange(1, 11), 12).reshape(self.IMAGE.shape)
        self.assertEqual(self.solve(mask=layers), [])


class Eikonal(Doubts):
    POINTS, TETRA = tetra_box(3)

    def make(self, factor=1.0, **options):
        return self.codes(eikonal.Solver, factor * self.POINTS, self.TETRA, **{"velocities": 0.5, "backend": "serial", **options})

    def test_lengths(self):
        self.assertEqual(self.make(), [])
        for factor in (1000.0, 0.001):
            self.assertEqual(self.make(factor), ["odd-size"])

    def test_velocities(self):
        fibres = np.ones((len(self.TETRA), 3))
        for velocities in (600.0, 0.001, {0: 600.0}, np.full(len(self.TETRA), 600.0)):
            self.assertEqual(self.make(velocities=velocities), ["odd-velocity"])
        self.assertEqual(self.make(velocities=(0.3, 0.6), fibres=fibres), ["odd-velocity"])
        self.assertIn("the one along fibres comes first", self.texts[0])
        self.assertEqual(self.make(velocities=0), [])  # does not conduct
        solver = eikonal.Solver(self.POINTS, self.TETRA, velocities=0.5, backend="serial")
        self.assertEqual(self.codes(solver.set_velocities, 500.0), ["odd-velocity"])

    def test_sites_that_are_passed(self):
        solver = eikonal.Solver(self.POINTS, self.TETRA, velocities=0.5, backend="serial")
        self.assertEqual(self.codes(solver.solve, {0: 0.0, 1: 1.0}), [])
        self.assertEqual(self.codes(solver.solve, {0: 0.0, 1: 1000.0}), ["swallowed-site"])
        self.assertIn("vertex 1 is activated before its 1000 ms", self.texts[0])
        self.assertEqual(self.codes(solver.solve, [{0: 0.0}, {0: 0.0, 1: 1e3, 2: 1e3}]), ["swallowed-site"])
        self.assertIn("vertex 1 of set 1", self.texts[0])
        self.assertIn("1 others", self.texts[0])


    def test_what_single_precision_loses(self):
        flat = self.POINTS * (1, 1, 0.003)
        for precision, codes in (("double", []), ("single", ["coarse-precision"])):
            solver = eikonal.Solver(flat, self.TETRA, velocities=0.5, precision=precision, backend="serial")
            self.assertEqual(self.codes(solver.solve, {0: 0.0}, check=False), codes)


    def test_what_no_wave_reaches(self):
        far = np.concatenate([self.POINTS, self.POINTS + 10])
        both = np.concatenate([self.TETRA, self.TETRA + len(self.POINTS)])
        solver = eikonal.Solver(far, both, velocities=0.5, backend="serial")
        self.assertEqual(self.codes(solver.solve, {0: 0.0}), ["unreached-vertices"])
        self.assertIn("64 of 128 vertices are reached by no site", self.texts[0])
        self.assertEqual(self.codes(solver.solve, {0: 0.0}, again=True), [])
        self.assertEqual(self.codes(solver.solve, {0: 0.0, 64: 0.0}), [])
        self.assertEqual(self.codes(solver.solve, [{0: 0.0, 64: 0.0}, {64: 0.0}]), ["unreached-vertices"])
        self.assertIn("no site of set 1", self.texts[0])
        tags = np.repeat([1, 2], len(self.TETRA))  # what is apart does not conduct
        solver = eikonal.Solver(far, both, tags=tags, velocities={1: 0.5, 2: 0.0}, backend="serial")
        self.assertEqual(self.codes(solver.solve, {0: 0.0}), [])
        solver.set_velocities(np.repeat([0.5, np.nan], len(self.TETRA)))
        self.assertEqual(self.codes(solver.solve, {0: 0.0}), [])

    def test_tissue_that_is_not_joined(self):
        beside = np.concatenate([self.POINTS, self.POINTS + (self.POINTS[:, 0].max(), 0, 0)])
        both = np.concatenate([self.TETRA, self.TETRA + len(self.POINTS)])
        tags = np.repeat([1, 2], len(self.TETRA))
        for second, codes in ((0.5, ["split-mesh"]), (0.0, [])):  # a scar beside it has no part in this
            self.assertEqual(self.codes(eikonal.Solver, beside, both, tags=tags, velocities={1: 0.5, 2: second},
                                        backend="serial"), codes)

    def test_meshes_that_are_folded(self):
        points = self.POINTS.copy()
        inner = int(np.linalg.norm(points - points.mean(0), axis=1).argmin())
        points[inner, 2] = -0.5  # below the bottom
        self.assertEqual(self.codes(eikonal.Solver, points, self.TETRA, velocities=0.5, backend="serial"), ["folded-mesh"])
        self.assertIn("waves take ways there", self.texts[0].lower())
        tags = (self.TETRA == inner).any(1).astype(int)
        self.assertEqual(self.codes(eikonal.Solver, points, self.TETRA, tags=tags, velocities={0: 0.5, 1: 0.0}, backend="serial"), [])

    def test_waves_that_arrive_too_late(self):
        # Tetrahedra in a row, each edge just within the limit: 33 000 points take 1.03e10 ms.
        k = np.arange(33000)
        turn = np.arccos(-2 / 3) * k
        points = np.stack([0.3 * 3**0.5 * np.cos(turn), 0.3 * 3**0.5 * np.sin(turn), k / 10**0.5], 1)
        row = eikonal.Solver(points, k[:-3, None] + np.arange(4), velocities=1.01e-6, method="queue", backend="serial")
        self.assertEqual(self.codes(row.solve, {0: 0.0}), ["late-arrival"])
        self.assertRegex(self.texts[0], "later than 1e10 ms at [0-9]+ of 33000 vertices")
        short = eikonal.Solver(self.POINTS, self.TETRA, velocities=0.5, max_iterations=1, backend="serial")
        self.assertIn("unreached-vertices", self.codes(short.solve, {0: 0.0}, check=False))
        self.assertIn("before the iteration ended", self.texts[0])

    def test_late_starts_in_single_precision(self):
        for precision, start, codes in (("single", 1e7, ["coarse-times"]), ("double", 1e7, []), ("single", 0.0, []),
                                        ("single", 1.0, [])):
            solver = eikonal.Solver(self.POINTS, self.TETRA, velocities=0.5, precision=precision, backend="serial")
            self.assertEqual(self.codes(solver.solve, {0: start}), codes)


class Bodies(Doubts):
    POINTS, TETRA = tetra_box(2)

    def step(self, *bodies, **world):
        made = softbody.World(backend="serial", **world)
        for points, options in bodies:
            made.add(points, options.pop("tetra", self.TETRA), **options)
        return self.codes(made.step, check=False)

    def test_lengths(self):
        self.assertEqual(self.step((self.POINTS, {"young": 1e6})), [])
        self.assertEqual(self.step((100 * self.POINTS, {"young": 1e12})), ["odd-size"])
        self.assertEqual(self.step((10 * self.POINTS, {"young": 1e4})), ["odd-size"])

    def test_densities(self):
        self.assertEqual(self.step((self.POINTS, {"young": 1e6, "density": 1.06})), ["odd-density"])
        self.assertEqual(self.step((self.POINTS, {"young": 1.0, "density": 1.0})), [])  # units

    def test_velocities(self):
        for speed, codes in ((2000.0, ["odd-velocity"]), (2.0, [])):
            self.assertEqual(self.step((self.POINTS, {"young": 1e6, "velocity": np.full(self.POINTS.shape, (0, 0, speed))})), codes)

    def test_moduli_gravity_and_steps(self):
        self.assertEqual(self.step((self.POINTS, {"young": 5e10})), ["odd-modulus"])
        self.assertEqual(self.step((self.POINTS / 20, {"young": 5.0})), ["odd-modulus"])
        self.assertEqual(self.step((self.POINTS, {"young": 2.1e11, "density": 7850})), [])
        self.assertEqual(self.step((self.POINTS, {"young": 1e9}), gravity=(0, 0, -9810)), ["odd-gravity"])
        for time_step, codes in ((0.01, []), (10.0, ["long-steps"])):
            world = softbody.World(backend="serial", time_step=time_step)
            world.add_plane((0, 0, -0.5))
            world.add(self.POINTS, self.TETRA, young=1e6)
            self.assertEqual(self.codes(lambda: world.positions), codes)  # before a step

    def test_bodies_that_begin_in_each_other(self):
        def of(overlap, floor=False):
            world = softbody.World(backend="serial", contact_between_bodies=not floor)
            points = 0.05 * self.POINTS
            if floor:
                world.add_plane()
            else:
                world.add(points * 2 - (0.01, 0.02, 0.2), self.TETRA, young=1e5, fixed=np.flatnonzero(points[:, 2] == 0))
            world.add(points - (0, 0, overlap), self.TETRA, young=1e5)
            return self.codes(lambda: [world.step() for _ in range(3)])

        self.assertEqual(of(0), [])
        self.assertEqual(of(0.005), ["contact-energy"])
        self.assertIn("at the start 'body 0' and 'body 1' are in each other, by 0.005 m at", self.texts[0])
        self.assertIn("surfaces-intersect", of(0.04))
        self.assertEqual(of(0.005, floor=True), ["starts-inside-obstacle", "contact-energy"])
        self.assertIn("9 nodes of 'body 0' start inside obstacles[0], the deepest by 0.005 m at (", self.texts[0])
        self.assertIn("which will push them out at once, with 0.5 m/s", self.texts[0])

    def test_bodies_that_go_through_each_other(self):
        world = softbody.World(backend="serial", gravity=(0, 0, 0), contact_between_bodies=True)
        points, hexa = topopt.box((1, 1, 1), (1.0, 1.0, 1.0))
        world.add((points - 0.5) * (3, 0.2, 0.2), hexa, young=1e5, fixed=np.arange(8))
        world.add((points - 0.5) * (0.2, 3, 0.2) + (0, 0, 0.25), hexa, young=1e5, velocity=np.full((8, 3), (0, 0, -1.0)))
        self.assertEqual(self.codes(world.run, 24, check=False), ["surfaces-intersect"])
        self.assertIn(" s 'body 0' and 'body 1' are in each other", self.texts[0])

    def test_loads_on_fixed_nodes(self):
        load = np.ones(self.POINTS.shape)
        self.assertEqual(self.step((self.POINTS, {"young": 1e6, "load": load, "fixed": [4, 9]})), ["lost-load"])
        self.assertIn("2 of 27 loaded nodes are fixed (node 4", self.texts[0])
        load[[4, 9]] = 0
        self.assertEqual(self.step((self.POINTS, {"young": 1e6, "load": load, "fixed": [4, 9]})), [])

    def test_meshes_that_are_folded(self):
        points = self.POINTS.copy()
        points[13] = (1, 1, -0.3)  # the node in the middle is through the bottom
        tetra = self.TETRA.copy()  # each is turned by itself, as readers do
        inverted = np.linalg.det(points[tetra[:, 1:]] - points[tetra[:, :1]]) < 0
        tetra[inverted] = tetra[inverted][:, [0, 2, 1, 3]]
        self.assertEqual(self.step((points, {"young": 1e6, "tetra": tetra})), ["folded-mesh"])

    def test_bodies_in_parts_and_in_each_other(self):
        both = np.concatenate([self.POINTS, self.POINTS + 5])
        tetra = np.concatenate([self.TETRA, self.TETRA + len(self.POINTS)])
        self.assertEqual(self.step((both, {"young": 1e9, "tetra": tetra})), ["mesh-in-parts"])
        both[len(self.POINTS):] -= 5 - np.array((self.POINTS[:, 0].max(), 0, 0))  # beside the other
        self.assertEqual(self.step((both, {"young": 1e9, "tetra": tetra})), ["split-mesh"])
        bodies = (self.POINTS, {"young": 1e6}), (0.5 * self.POINTS + 0.5, {"young": 1e6})
        self.assertEqual(self.step(*((points, dict(options)) for points, options in bodies), contact_between_bodies=True),
                         ["surfaces-intersect"])
        self.assertEqual(self.step(*bodies), [])  # do not meet

    def test_elements_inside_out(self):
        world = softbody.World(backend="serial", gravity=(0, 0, 0))
        body = world.add(self.POINTS, self.TETRA, young=1e6)
        world.set_state(body.positions * (1, 1, -1), body.velocities, 0.0)
        self.assertEqual(self.codes(world.run, 2, check=False), ["inside-out"])  # once


    def test_bodies_that_are_drawn_out(self):
        for young, codes in ((1e4, []), (1.0, ["overstretched"])):  # 10 kPa; and hardly anything
            world = softbody.World(backend="serial", gravity=(0, 0, 0), time_step=0.1, rayleigh_mass=1.0)
            top = self.POINTS[:, 2] == self.POINTS[:, 2].max()
            world.add(self.POINTS, self.TETRA, young=young, poisson=0.0, law="neo_hookean", name="bar",
                      fixed=np.flatnonzero(self.POINTS[:, 2] == self.POINTS[:, 2].min()),
                      load=np.where(top[:, None], (0, 0, 300 * np.ptp(self.POINTS[:, 0])**2 / top.sum()), 0.0))
            self.assertEqual(self.codes(world.run, 90), codes)  # once

    def test_energy_that_comes_from_nothing(self):
        """A linear step of the corotational law in one Newton iteration, of a body that turns fast."""
        world = softbody.World(backend="serial", gravity=(0, 0, 0), time_step=0.05, newton_iterations=1)
        body = world.add(self.POINTS, self.TETRA, young=1e6)
        turning = 200 * np.cross((0, 0, 1), body.positions - body.positions.mean(0))
        world.set_state(body.positions, turning, 0.0)
        self.assertIn("energy-rises", self.codes(world.step, check=False))
        self.assertNotIn("energy-rises", self.codes(world.step, check=False))  # once
        calm = softbody.World(backend="serial", newton_iterations=10)
        body = calm.add(self.POINTS, self.TETRA, young=1e6, fixed=np.flatnonzero(self.POINTS[:, 2] == 0))
        self.assertEqual(self.codes(calm.run, 10), [])
        body.set_load(np.full(self.POINTS.shape, 100.0))  # gives energy
        self.assertEqual(self.codes(calm.run, 10), [])


class Elastic(Doubts):
    POINTS, HEXA = topopt.box((4, 2, 2), (2.0, 1.0, 1.0))
    LOADS = np.where(POINTS[:, :1] == 2, [[0.0, 0.0, -1e3]], 0.0)

    def test_high_order(self):
        for young, codes in ((210e9, []), (210e3, ["large-displacement"]), (1e9, []),
                             (210.0, ["large-displacement"]), (1.0, [])):  # of GPa; 1: units
            model = pfem.Model(pfem.Mesh(self.POINTS, self.HEXA), order=2, young=young, backend="serial")
            model.hold(self.POINTS[:, 0] == 0)
            model.add_traction(self.POINTS[:, 0] == 2, (0, 0, -1e6))
            self.assertEqual(self.codes(model.solve), codes)

    def test_gravity_of_high_order(self):
        for young, density, codes in ((210e9, 9.81, ["odd-gravity"]), (210e9, 77000, []), (1.0, 9.81, [])):
            model = pfem.Model(pfem.Mesh(self.POINTS, self.HEXA), order=1, young=young, backend="serial")
            self.assertEqual(self.codes(model.add_body_force, (0, 0, -density)), codes)
            self.assertEqual(self.codes(model.set_load, 0, (0, 0, -77000.0)), [])
            self.assertEqual(self.codes(model.set_load, 0, (0, 0, -density)), codes)

    def test_points_of_high_order(self):
        corner = np.all(self.POINTS == (2, 0, 0), axis=1)
        for order, codes in ((1, []), (2, ["point-forces"])):
            model = pfem.Model(pfem.Mesh(self.POINTS, self.HEXA), order=order, young=210e9, backend="serial")
            model.hold(self.POINTS[:, 0] == 0)
            model.add_force(corner, (0, 0, -1e3))
            self.assertEqual(self.codes(model.solve), codes)
            self.assertEqual(self.codes(model.solve, again=True), codes)
        model = pfem.Model(pfem.Mesh(self.POINTS, self.HEXA), order=2, young=210e9, backend="serial")
        model.hold(self.POINTS[:, 0] == 0)
        model.hold(corner, "z")
        model.add_traction(self.POINTS[:, 0] == 2, (0, 0, -1e4))
        self.assertEqual(self.codes(model.solve), ["point-supports"])
        self.assertRegex(self.texts[0], "hold 1: 1 vertex that is held alone takes .* % of the reactions")

    def test_a_mesh_in_mm(self):
        def of(young=210e9, **unit):
            mesh = pfem.Mesh(1000 * self.POINTS, self.HEXA, **unit)
            return self.codes(lambda: setattr(self, "model", pfem.Model(mesh, order=2, young=young, backend="serial")))

        self.assertEqual(of(), ["odd-size"])
        self.assertIn("the body is 2000 m long", self.texts[0])
        self.assertEqual(of(1.0), [])  # units
        self.assertEqual(of(unit=1), [])
        self.assertEqual(of(unit=0.001), [])
        np.testing.assert_allclose(self.model.mesh.points, self.POINTS)
        again = pickle.loads(pickle.dumps(self.model.mesh))
        np.testing.assert_array_equal(again.points, self.model.mesh.points)
        for bad in (0, -1.0, float("nan")):
            with self.assertRaisesRegex(ossatura.UsageError, "unit="):
                pfem.Mesh(self.POINTS, self.HEXA, unit=bad)

    def test_designs(self):
        for young, codes in ((210e9, []), (210e3, ["large-displacement"]), (1.0, [])):
            optimizer = topopt.Optimizer(self.POINTS, self.HEXA, young=young, held=self.POINTS[:, 0] == 0, loads=self.LOADS,
                                         volume=0.4, max_steps=3, backend="serial")
            self.assertEqual(self.codes(lambda: list(optimizer)), codes)
            other = topopt.Optimizer(self.POINTS, self.HEXA, young=young, held=self.POINTS[:, 0] == 0, loads=self.LOADS,
                                     volume=0.4, backend="serial")
            self.assertEqual(self.codes(other.analyse), codes)

    def test_a_design_that_locks(self):
        for poisson, codes in ((0.49, []), (0.4999, ["locking"])):
            self.assertEqual(self.codes(topopt.Optimizer, self.POINTS, self.HEXA, young=210e9, poisson=poisson,
                                        held=self.POINTS[:, 0] == 0, loads=self.LOADS, volume=0.4, backend="serial"), codes)

    def test_a_design_in_mm(self):
        def of(young=210e9, **unit):
            return self.codes(lambda: setattr(self, "optimizer", topopt.Optimizer(
                1000 * self.POINTS, self.HEXA, young=young, held=self.POINTS[:, 0] == 0, loads=self.LOADS, volume=0.4,
                backend="serial", **unit)))

        self.assertEqual(of(), ["odd-size"])
        self.assertIn("the body is 2000 m long", self.texts[0])
        self.assertEqual(of(1.0), [])  # units
        self.assertEqual(of(unit=1), [])
        self.assertEqual(of(unit=0.001), [])
        own = topopt.Optimizer(self.POINTS, self.HEXA, young=210e9, held=self.POINTS[:, 0] == 0, loads=self.LOADS,
                               volume=0.4, backend="serial")
        self.assertAlmostEqual(self.optimizer.radius, own.radius)
        self.assertAlmostEqual(self.optimizer.step().objective / own.step().objective, 1)
        for bad in (0, -1.0, float("nan")):
            with self.assertRaisesRegex(ossatura.UsageError, "unit="):
                of(unit=bad)


if __name__ == "__main__":
    unittest.main()
