# SPDX-License-Identifier: Apache-2.0
"""Soft bodies: closed forms, states, contact, and what must be refused."""
import unittest

import numpy as np
import ossatura
from cases import tetra_box
from ossatura import softbody, topopt


class Motions(unittest.TestCase):
    def test_a_free_body_falls(self):
        points, tetra = tetra_box(2, jitter=0)
        world = softbody.World(time_step=0.01, backend="serial")
        body = world.add(points, tetra, velocity=np.tile([0.5, 0, 2.0], (len(points), 1)))
        for _ in range(20):
            world.step()
        self.assertAlmostEqual(world.time, 0.2)
        steps = np.arange(1, 21)  # backward Euler
        way = 0.01 * (2.0 * 20 - 9.81 * 0.01 * steps.sum())
        np.testing.assert_allclose(body.positions - points, np.tile([0.1, 0, way], (len(points), 1)), atol=1e-9)
        np.testing.assert_allclose(body.velocities, np.tile([0.5, 0, 2 - 9.81 * 0.2], (len(points), 1)), atol=1e-8)
        kinetic, elastic, _ = world.energy
        self.assertAlmostEqual(kinetic, 0.5 * 8000 * (0.5**2 + (2 - 9.81 * 0.2)**2), delta=1e-3)
        self.assertLess(elastic, 1e-6)

    def test_a_cube_on_the_floor_sinks_by_its_weight(self):
        points, hexa = topopt.box((4, 4, 4), (0.1, 0.1, 0.1))
        for backend in ossatura.backends():
            world = softbody.World(time_step=0.01, rayleigh_stiffness=0.01, backend=backend)
            world.add_plane()
            cube = world.add(points + [0, 0, 0.01], hexa, young=2e4, poisson=0.0, density=1000)
            while world.time < 1:
                step = world.step()
            self.assertGreaterEqual(step.contacts, 25)
            top = cube.positions[points[:, 2] == 0.1, 2].mean()
            exact = 1000 * 9.81 * 0.1**2 / (2 * 2e4)
            self.assertAlmostEqual((0.1 - top) / exact, 1, delta=1e-3)

    def test_a_loaded_bar_has_the_length_of_hooke(self):
        points, hexa = topopt.box((8, 2, 2), (0.4, 0.1, 0.1))
        force = np.zeros(points.shape)
        end = points[:, 0] == 0.4
        share = np.where((points[end, 1] == 0.05), 2, 1) * np.where(points[end, 2] == 0.05, 2, 1)
        force[end, 0] = 1.0 * share / share.sum()
        world = softbody.World(time_step=0.5, gravity=(0, 0, 0), newton_iterations=5, backend="serial")
        bar = world.add(points, hexa, young=1e5, poisson=0.0, fixed=points[:, 0] == 0, load=force)
        for _ in range(60):
            world.step()
        exact = 1.0 * 0.4 / (1e5 * 0.01)
        self.assertAlmostEqual((bar.positions[end, 0].mean() - 0.4) / exact, 1, delta=1e-4)

    def test_loads_change_between_steps(self):
        points, tetra = tetra_box(2, jitter=0)
        force = np.zeros(points.shape)
        force[-1] = 3, 1, 2
        worlds = [softbody.World(backend="serial") for _ in range(2)]
        late, early = (world.add(points, tetra, young=1e5, fixed=points[:, 0] == 0, load=load)
                       for world, load in zip(worlds, (None, force)))
        late.set_load(force)
        for world in worlds:
            world.step()
        self.assertTrue(np.array_equal(late.positions, early.positions))
        self.assertEqual(worlds[0].energy, worlds[1].energy)
        late.set_load(2 * force)
        self.assertTrue(np.array_equal(late.load, 2 * force))
        for world in worlds:
            world.step()
        self.assertGreater(late.positions[-1, 0], early.positions[-1, 0] + 1e-9)
        with self.assertRaisesRegex(ossatura.InputError, "load: node 4 has one that is not finite"):
            late.set_load(np.where(np.arange(len(points))[:, None] == 4, np.nan, force))
        with self.assertRaisesRegex(ossatura.InputError, "load: an array of shape"):
            late.set_load(force[:3])

    def test_a_top_that_is_turned_against_its_bottom(self):
        corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1.0]])
        world = softbody.World(backend="serial")
        with self.assertRaisesRegex(ossatura.InputError, "element 0: the top of the hexahedron is turned"):
            world.add(corners, [[0, 1, 2, 3, 5, 6, 7, 4]], young=1e5)
            world.step()

    def test_fixed_nodes_are_moved(self):
        points, hexa = topopt.box((6, 2, 2), (0.3, 0.1, 0.1))
        ends = (points[:, 0] == 0) | (points[:, 0] == 0.3)
        world = softbody.World(time_step=0.01, gravity=(0, 0, 0), rayleigh_mass=5.0, backend="serial")
        bar = world.add(points, hexa, young=1e5, poisson=0.0, law="corotational", fixed=ends)
        other = world.add(points + [0, 1, 0], hexa, young=1e5)
        pull = np.zeros(points.shape)
        pull[points[:, 0] == 0.3, 0] = 0.1
        pull[points[:, 0] == 0.15] = 7.0  # free nodes: does not count
        bar.move_fixed(pull)
        for _ in range(30):
            world.step()
        np.testing.assert_allclose(bar.positions[ends] - points[ends], 0.03 * (pull[ends] > 0), atol=1e-12)
        bar.move_fixed((0, 0, 0))
        for _ in range(300):
            world.step()
        stretched = points * [1.1, 1, 1]
        np.testing.assert_allclose(bar.positions, stretched, atol=1e-6)
        self.assertAlmostEqual(world.energy[1] / (0.5 * 1e5 * 0.1**2 * 0.3 * 0.1**2), 1, delta=1e-3)
        np.testing.assert_allclose(other.positions, points + [0, 1, 0], atol=1e-12)
        with self.assertRaisesRegex(ossatura.UsageError, "no node of 'body 1' is fixed"):
            other.move_fixed((0, 0, 1))
        with self.assertRaisesRegex(ossatura.InputError, "velocity: an array of shape"):
            bar.move_fixed(np.zeros((3, 3)))

    def test_gradients_of_a_motion_are_those_of_differences(self):
        points, tetra = tetra_box(2, jitter=0.1)
        held = points[:, 0] == 0
        rng = np.random.default_rng(1)
        weights = rng.standard_normal((2, 6, 2 * len(points), 3))
        load, start = (0.3 * rng.standard_normal(points.shape) for _ in range(2))

        def motion(young, poisson, density, c1, load, drive):
            world = softbody.World(time_step=0.02, rayleigh_mass=1.0, rayleigh_stiffness=0.005, newton_iterations=60,
                                   tolerance=1e-12, backend="serial")
            body = world.add(0.1 * points, tetra, law="neo_hookean", young=young, poisson=poisson, density=density,
                             fixed=held, load=load)
            world.add(0.1 * points, tetra, law="mooney_rivlin", c1=c1, c2=1e3, bulk=5e4, velocity=start)
            body.move_fixed(drive)
            return world.run(5)

        def objective(*parameters):
            found = motion(*parameters)
            return (weights[0] * found.positions).sum() + (weights[1] * found.velocities).sum()

        at = [4e4, 0.3, 1000.0, 5e3, load, np.array([0.1, 0, 0.2])]
        found = motion(*at)
        self.assertEqual(found.positions.shape, (6, 2 * len(points), 3))
        self.assertEqual(repr(found), f"Motion(5 steps to 0.1 s, {2 * len(points)} points)")
        gradient = found.gradient(*weights)
        self.assertLess(gradient.residual, 1e-11)
        n = len(points)
        body, other = gradient.bodies
        along = rng.standard_normal(points.shape)
        for k, exact, step in ((0, body.young, 40.0), (1, body.poisson, 1e-3), (2, body.density, 1.0),
                               (3, other.c1, 5.0), (4, (gradient.loads.sum(0)[:n] * along).sum(), 1e-3 * along),
                               (5, gradient.velocities[:n][held].sum(0)[1], np.array([0, 1e-3, 0]))):
            differ = [objective(*[x + sign * step if i == k else x for i, x in enumerate(at)]) for sign in (1, -1)]
            length = 1e-3 if k > 3 else step
            self.assertAlmostEqual((differ[0] - differ[1]) / (2 * length) / exact, 1, delta=1e-4, msg=str(k))
        last = found.gradient(positions=weights[0, -1])
        every = np.zeros_like(weights[0])
        every[-1] = weights[0, -1]
        self.assertTrue(np.array_equal(last.positions, found.gradient(positions=every).positions))

    def test_gradients_that_a_motion_does_not_have(self):
        points, tetra = tetra_box(1, jitter=0)

        def motion(world, law="stvk"):
            world.add(points, tetra, law=law)
            return world.run(1)

        weights = np.ones((len(points), 3))
        cases = [("one Newton iteration", motion(softbody.World())),
                 ("'body 0': the corotational law", motion(softbody.World(newton_iterations=20), "corotational"))]
        with_floor = softbody.World(newton_iterations=20)
        with_floor.add_plane((0, 0, -9))
        cases.append(("with contact", motion(with_floor)))
        for message, found in cases:
            with self.assertRaisesRegex(ossatura.UsageError, message):
                found.gradient(positions=weights)
        found = motion(softbody.World(newton_iterations=20))
        with self.assertRaisesRegex(ossatura.UsageError, "by positions, by velocities, or both"):
            found.gradient()
        with self.assertRaisesRegex(ossatura.InputError, "positions: an array of shape"):
            found.gradient(positions=weights[:2])
        with self.assertRaisesRegex(ossatura.InputError, "velocities: derivatives that are not finite"):
            found.gradient(velocities=np.nan * weights)
        body = found._world.bodies[0]
        with self.assertRaisesRegex(ossatura.InputError, "poisson=0.5"):
            body.set_moduli(poisson=0.5)
        with self.assertRaisesRegex(ossatura.UsageError, "law stvk='c1'"):
            body.set_moduli(c1=1.0)
        found.gradient(positions=weights)
        body.set_moduli(young=3e4)
        with self.assertRaisesRegex(ossatura.UsageError, "of other moduli"):
            found.gradient(positions=weights)
        with self.assertRaisesRegex(ossatura.UsageError, "at least 1"):
            found._world.run(0)

    def test_a_state_is_gone_back_to(self):
        points, tetra = tetra_box(3)
        world = softbody.World(backend="serial")
        world.add_plane((0, 0, -0.1))
        world.add(points, tetra, young=1e5)
        world.add(points + [0, 0, 5], tetra, young=1e5, law="neo_hookean")
        for _ in range(3):
            world.step()
        state = world.positions, world.velocities, world.time
        first = [world.step().time for _ in range(2)], world.positions
        world.set_state(*state)
        second = [world.step().time for _ in range(2)], world.positions
        self.assertEqual(first[0], second[0])
        np.testing.assert_allclose(first[1], second[1], atol=1e-7)
        self.assertEqual(len(world.bodies), 2)
        self.assertTrue(np.array_equal(world.bodies[1].positions, world.positions[len(points):]))

    def test_bodies_meet_each_other_and_a_sphere(self):
        points, hexa = topopt.box((3, 3, 3), (0.1, 0.1, 0.1))
        world = softbody.World(rayleigh_stiffness=0.01, contact_between_bodies=True, contact_friction=0.3)
        world.add_sphere((0.05, 0.05, -1.0), 1.0, friction=0.5)
        lower = world.add(points + [0, 0, 0.001], hexa, young=5e4)
        upper = world.add(points + [0, 0, 0.105], hexa, young=5e4)
        contacts = [world.step(check=False).contacts for _ in range(30)]
        self.assertGreater(contacts[-1], 0)
        self.assertGreater(upper.positions[:, 2].min(), lower.positions[:, 2].mean())


class Refusals(unittest.TestCase):
    def refuse(self, error, text, **options):
        points, tetra = tetra_box(2)
        keywords = {"points": points, "elements": tetra, **options}
        world = softbody.World(backend="serial")
        with self.assertRaisesRegex(error, text):
            world.add(keywords.pop("points"), keywords.pop("elements"), name="liver", **keywords)
            world.step()

    def test_bodies(self):
        self.refuse(ossatura.InputError, "'liver': young=-1.*Young's modulus in Pa", young=-1)
        self.refuse(ossatura.InputError, "poisson", poisson=0.5)
        self.refuse(ossatura.InputError, "c1 and c2 are both 0", law="mooney_rivlin", bulk=1e5)
        self.refuse(ossatura.UsageError, "law", law="jelly")
        self.refuse(ossatura.InputError, "3, 4 or 8 nodes", elements=np.zeros((3, 5), int))
        self.refuse(ossatura.InputError, "the law stvk is for tetrahedra", law="stvk", elements=[list(range(8))])
        self.refuse(ossatura.InputError, "'liver': elements: element 0 has nodes", elements=np.full((3, 4), 1000))
        self.refuse(ossatura.InputError, "counted from 1", elements=tetra_box(2)[1] + 1)
        self.refuse(ossatura.InputError, "fixed: no node is chosen", fixed=np.zeros(27, bool))
        self.refuse(ValueError, "liver", fixed=[1000])
        tetra = tetra_box(2)[1]
        self.refuse(ossatura.InputError, "'liver': elements: element 48 has the same nodes as element 7",
                    elements=np.vstack([tetra, tetra[7:8]]))
        self.refuse(ValueError, "object 'liver': tetra 0 has a negative volume at rest: reverse its nodes", elements=tetra[:, [0, 2, 1, 3]])
        self.refuse(ossatura.InputError, "load: an array of shape", load=np.zeros((3, 3)))
        self.refuse(ValueError, "liver", density=0)
        self.refuse(ossatura.UsageError, "c1: has no effect with the law corotational", c1=5)
        self.refuse(ossatura.UsageError, "young: has no effect with the law mooney_rivlin", law="mooney_rivlin", young=1e3, c1=1)
        self.refuse(ossatura.UsageError, "thickness: is of membranes", thickness=0.001)
        world = softbody.World(backend="serial")
        world.add(*tetra_box(2), name="liver")
        with self.assertRaisesRegex(ossatura.InputError, "'liver' is that of another body"):
            world.add(*tetra_box(2), name="liver")

    def test_worlds(self):
        for options, text in (({"contact_friction": 0.5}, "contact_friction: has no effect"),
                              ({"contact_friction": -1, "contact_between_bodies": True}, "contact_friction=-1: at least 0"),
                              ({"contact_distance": -1}, "contact_distance=-1: at least 0")):
            with self.assertRaisesRegex(ossatura.UsageError, text):
                softbody.World(**options)
        with self.assertRaisesRegex(ossatura.UsageError, "time_step"):
            softbody.World(time_step=0)
        world = softbody.World(backend="serial")
        with self.assertRaisesRegex(ossatura.UsageError, "without bodies"):
            world.step()
        with self.assertRaisesRegex(ossatura.InputError, "no direction"):
            world.add_plane(normal=(0, 0, 0))
        with self.assertRaisesRegex(ossatura.InputError, "radius"):
            world.add_sphere((0, 0, 0), -1)
        points, tetra = tetra_box(2)
        world.add(points, tetra)
        world.step()
        with self.assertRaisesRegex(ossatura.UsageError, "in motion"):
            world.add(points, tetra)
        with self.assertRaisesRegex(ossatura.InputError, "positions: an array of shape"):
            world.set_state(points[1:], points, 0)

    def test_doubts_are_warnings(self):
        points, tetra = tetra_box(2)
        world = softbody.World(backend="serial")
        world.add_plane((0, 0, 0.5))
        world.add(points, tetra, poisson=0.49)
        with self.assertLogs("ossatura") as seen:
            world.step(check=False)
        self.assertEqual([record.code for record in seen.records], ["locking", "starts-inside-obstacle", "contact-energy"])


if __name__ == "__main__":
    unittest.main()
