# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with soft bodies is told: failures, warnings, scenes and options that are refused."""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE, NOT_CONVERGED, UNAVAILABLE, USAGE
from support.scenes import (STIFF, LAWS, hexa_box, tetra_box, cloth, body, scene, tetrahedron, SoftbodyCase, soft,
                            ellipsoid, tower, ball_on_cloth, pile, liver, cloth_on_sphere, flush_tower, FLOOR)


class InsideOut(SoftbodyCase):
    """A cube that is held below, and whose top is pressed through the floor."""

    def run_cube(self, shape, steps, force=0.0, **more):
        return self.run_scene(scene(
            body({shape: {"cells": [1, 1, 1], "size": [1, 1, 1]}}, {"young": 1000, "poisson": 0}, density=1,
                 fixed=[{"box": [0, 0, 0, 1, 1, 0]}],
                 loads=[{"box": [0, 0, 1, 1, 1, 1], "total_force": [0, 0, force]}], **more),
            steps=steps, time_step=0.1 if force else 0.01, damping={"mass": 10}))

    def test_elements_inside_out_at_the_end_are_warned_of(self):
        for shape, count in (("tetra_box", 5), ("hexa_box", 1)):
            for force, expected in ((-1500, count), (-300, 0)):
                with self.subTest(shape=shape, force=force):
                    run = self.run_cube(shape, 10, force)
                    self.assertEqual(run["results"]["objects"][0]["inverted_elements"], expected)
                    self.assertEqual([w["code"] for w in run["warnings"]], ["inside-out"] if expected else [])
                    if expected:
                        self.assertIn(f"{count} of {count} elements of 'body'", run["warnings"][0]["text"])

    def test_elements_that_recover_are_not(self):
        during = self.run_cube("hexa_box", 2, velocity=[0, 0, -100])
        self.assertEqual([w["code"] for w in during["warnings"]], ["inside-out"])
        after = self.run_cube("hexa_box", 40, velocity=[0, 0, -100])
        self.assertEqual(after["results"]["most_inverted_elements"], 1)
        self.assertEqual(after["warnings"], [])


class Failures(SoftbodyCase):
    """Runs that do not end well say so, keep what they have, and never end with 0."""

    def test_steps_that_do_not_converge_are_named(self):
        document = scene(body(fixed=[{"box": [0, 0, 0, 0, 1, 1]}]), gravity=[0, 0, -9.81])
        self.write_scene(document)
        process = self.ossatura("softbody", "s.json", "--preconditioner", "jacobi", "--max-iterations",
                              "1", "-o", "out", "-q", "--backend", self.backend, code=NOT_CONVERGED)
        self.assertIn("10 of 10 steps not converged: 1, 2, 3, 4, 5, ...", process.stderr)
        self.assertIn("NOT CONVERGED", process.stdout)
        run = json.loads(self.read("out/s.summary.json"))
        self.assertEqual(run["status"], "not converged")
        self.assertEqual(run["results"]["first_not_converged"], list(range(1, 11)))
        self.assertEqual(len(self.rows("out/s.csv")), 11)
        self.assertGreater(run["residual"]["true"], 1e-9)

    def test_a_breakdown_keeps_what_there_was(self):
        # Its energy is beyond what numbers can hold.
        bar = body(tetra_box((2, 1, 1)), LAWS[2], fixed=[{"box": [0, 0, 0, 0, 1, 1]}],
                   loads=[{"box": [2, 0, 0, 2, 1, 1], "total_force": [1e170, 0, 0]}])
        self.write_scene(scene(bar))
        process = self.ossatura("softbody", "s.json", "-o", "out", "-q", "--backend", self.backend,
                              code=NOT_CONVERGED)
        self.assertIn("broke down in step", process.stderr)
        self.assertIn(": take smaller steps, more damping, or hold the bodies; results end before it\n", process.stderr)
        run = json.loads(self.read("out/s.summary.json"))
        self.assertEqual(run["status"], "broken down")
        self.assert_finite(run["results"])
        taken = run["results"]["steps_taken"]
        self.assertLess(taken, 10)
        self.assertEqual(len(self.rows("out/s.csv")), taken + 1)
        series = json.loads(self.read("out/s.hdf.series"))
        self.assertEqual(series["files"][-1]["name"], f"s_{taken:06}.hdf")

    def test_steps_in_which_bodies_go_through_what_they_meet_end_the_run(self):
        """They took 45 minutes each, whatever a signal said: contact has thousands of pairs, and a sweep takes the square
        of their number."""
        box = body(tetra_box((10, 10, 10), (0.1, 0.1, 0.1)), translate=[0, 0, 0.01])
        floor = {"obstacles": [{"plane": {"point": [0, 0, 0], "normal": [0, 0, 1]}}]}
        for changes in ({"gravity": [0, 0, -9810]}, {"gravity": [0, 0, -9.81], "time_step": 10}):
            self.write_scene(scene(box, steps=5, **floor, **changes))
            process = subprocess.run([driver_case.EXECUTABLE, "softbody", "s.json", "--json", "-", "-q", "--backend",
                                      self.backend], text=True, cwd=self.directory.name, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(process.returncode, NOT_CONVERGED, process.stderr)
            run = json.loads(process.stdout)
            self.assertEqual(run["status"], "broken down")
            self.assertRegex(run["results"]["breakdown"],
                             r"within the step nodes would move by .* m, and the longest body has 0.1 m: .* of 1331 pairs")
        self.run_scene(scene(box, steps=2, gravity=[0, 0, -9.81], **floor))

    def test_elements_that_are_turned_inside_out_recover_or_are_told(self):
        for law in LAWS:
            with self.subTest(law=law):
                thrown = body(tetra_box(), law, fixed=[{"box": [0, 0, 0, 0, 1, 1]}],
                              velocity=[-300, 0, 0])
                self.write_scene(scene(thrown, steps=20))
                process = subprocess.run([driver_case.EXECUTABLE, "softbody", "s.json", "--json",
                                          "-", "-q", "--backend", self.backend], text=True,
                                         cwd=self.directory.name, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, timeout=60)
                self.assertIn(process.returncode, (0, NOT_CONVERGED), process.stderr)
                run = json.loads(process.stdout)
                self.assert_finite(run["results"])
                self.assertEqual(process.returncode == 0, run["status"] == "converged")


class Doubts(SoftbodyCase):
    """What can be solved and may not be what was meant."""

    def codes(self, run):
        return [warning["code"] for warning in run["warnings"]]

    def test_materials_that_lock(self):
        def of(material, mesh=None):
            self.write_scene(scene(body(mesh or tetra_box(), material), steps=1))
            return self.codes(self.summary("softbody", "s.json", "-q", "--backend", "serial"))

        for law in ("corotational", "neo_hookean"):
            self.assertIn("locking", of({"law": law, "young": 1e5, "poisson": 0.49}))
            self.assertNotIn("locking", of({"law": law, "young": 1e5, "poisson": 0.47}))
        self.assertIn("locking", of({"young": 1e5, "poisson": 0.49}, hexa_box()))
        self.assertNotIn("locking", of({"young": 1e5, "poisson": 0.49, "thickness": 1}, cloth()))
        # 3K - 2G over 6K + 2G with G = 2 (c1 + c2)
        self.assertIn("locking", of({"law": "mooney_rivlin", "c1": 1e4, "c2": 0, "bulk": 1e6}))
        self.assertNotIn("locking", of(LAWS[4]))

    def test_bodies_that_go_through_each_other_by_their_edges(self):
        # A bar falls across another; their nodes are beside each other.
        bars = [body(hexa_box((1, 1, 1), (3, 0.2, 0.2)), name="lower", translate=[-1.5, -0.1, 0],
                     fixed=[{"box": [-2, -1, -1, 2, 1, 1]}]),
                body(hexa_box((1, 1, 1), (0.2, 3, 0.2)), name="upper", translate=[-0.1, -1.5, 0.25],
                     velocity=[0, 0, -1])]
        run = self.run_scene(scene(*bars, steps=20, contact={"between_objects": True}))
        self.assertEqual(self.codes(run), ["surfaces-intersect"])
        step = run["results"]["first_crossing_step"]
        # 0.05 m to go at 0.01 m a step, then some depth.
        self.assertGreater(step, 5)
        text = run["warnings"][0]["text"]
        self.assertIn(f"after step {step} 'lower' and 'upper' are in each other", text)
        self.assertGreaterEqual(run["results"]["most_crossing_edges"], 4)
        self.assertGreater(run["results"]["deepest_crossing"], 0.05)
        # Without contact between objects they are not meant to feel each other, and the one that is held is there for nothing.
        self.assertEqual(self.codes(self.run_scene(scene(*bars, steps=20))), ["held-whole"])

    def test_bodies_that_start_in_each_other(self):
        balls = [soft(name, ellipsoid((0.1, 0.1, 0.1), 4), 1e4, [x, 0, 0])
                 for name, x in (("left", 0), ("right", 0.15))]
        run = self.run_scene(scene(*balls, steps=1, contact={"between_objects": True}))
        self.assertEqual(run["results"]["first_crossing_step"], 0)
        self.assertIn("at the start 'left' and 'right'", run["warnings"][0]["text"])

    def test_bodies_that_rest_on_each_other_are_no_doubt(self):
        for make in (tower, ball_on_cloth):
            run = self.run_scene(make())
            self.assertNotIn("surfaces-intersect", self.codes(run))
            self.assertLess(run["results"]["deepest_crossing"], 0.01)

    def test_a_flat_body_on_a_flat_cloth_is_no_doubt(self):
        # They touch to rounding, and share nothing but the plane of the cloth, in which none of the body's faces is.
        plane = {"name": "sheet", "mesh": {"cloth": {"nodes": [9, 9], "size": [1, 1]}}, "translate": [-0.5, -0.5, 0],
                 "material": {"young": 1e5, "poisson": 0.3, "thickness": 0.01}, "density": 1000,
                 "fixed": [{"box": [-1, -1, -1, 1, 1, 1]}]}
        for height in (0.05, 0.2):
            box = body(hexa_box((2, 2, 2), (0.1, 0.1, 0.1)), {"young": 1e6, "poisson": 0.3}, translate=[0.013, 0.027, height],
                       velocity=[0, 0, -1])
            run = self.run_scene(scene(plane, box, steps=30, gravity=[0, 0, -9.81], contact={"between_objects": True}))
            self.assertNotIn("surfaces-intersect", self.codes(run))
            self.assertLess(run["results"]["deepest_crossing"], 1e-6)

    def test_densities_in_another_unit(self):
        """Of 1.06 g/cm3 a body weighs a thousandth, and hardly sags."""
        for density, young, codes in ((1.06, 1e5, ["odd-density"]), (1060, 1e5, []), (7.85e6, 1e9, ["odd-density"]), (1, 1, [])):
            run = self.run_scene(scene(body(fixed=[{"box": [0, 0, 0, 0, 1, 1]}], material={"young": young, "poisson": 0.3},
                                            density=density), steps=1))
            self.assertEqual([w["code"] for w in run["warnings"]], codes)
            if codes:
                self.assertIn(f"'body' has a density of {density:.4g} kg/m3", run["warnings"][0]["text"])

    def test_a_body_that_is_held_as_a_whole(self):
        """As by a box in mm. One that others touch is a floor."""
        whole, part = {"box": [0, 0, 0, 1000, 1000, 1000]}, {"box": [0, 0, 0, 0, 1000, 1000]}
        for place, codes in (whole, ["held-whole"]), (part, []):
            self.assertEqual(self.codes(self.run_scene(scene(body(fixed=[place]), steps=1))), codes)
        other = {**body(translate=[0, 0, 5]), "name": "other"}
        floor = scene(body(fixed=[whole]), other, steps=1, contact={"between_objects": True})
        self.assertEqual(self.codes(self.run_scene(floor)), [])

    def test_masses_of_nodes_in_another_unit(self):
        """Of 12 nodes of a body of 2 m3: 160 kg of each are water's; the raptor of SOFA has 1 kg/m3 in all."""
        for mass, young, density in ((160, 1e5, None), (1.6e5, 1e5, "9.6e+05"), (0.2, 1e5, None), (0.01, 1e5, "0.06"), (1e-5, 1, None)):
            run = self.run_scene(scene(body(tetra_box(), {"young": young, "poisson": 0.3}, node_mass=mass), steps=1))
            self.assertEqual(self.codes(run), ["odd-density"] if density else [])
            if density:
                self.assertIn(f"'body' has a density of {density} kg/m3, by a node_mass of", run["warnings"][0]["text"])

    def test_moduli_in_another_unit(self):
        """They go with the density: a soft body of 5e10 Pa does not move, one of 5 Pa runs apart."""
        for young, density, gravity, text in (
                (5e10, 1060, 9.81, "no material as light is as stiff"), (2.1e5, 7850, 9.81, "no material as heavy is as soft"),
                (5, 1060, 9.81, "2.08e+03 times"), (5, 1060, 0, None), (5e3, 1060, 9.81, None), (1.2e10, 600, 9.81, None),
                (2.1e11, 7850, 9.81, None), (1.5e11, 1600, 9.81, None), (500, 1040, 9.81, None), (1.6e10, 11340, 9.81, None),
                (1.6e10, 11.34, 9.81, "no material as light is as stiff"), (1e6, 3500, 9.81, None), (1, 1, 9.81, None)):
            with self.subTest(young=young, density=density, gravity=gravity):
                run = self.run_scene(scene(body(fixed=[{"box": [0, 0, 0, 0, 1, 1]}], mesh=hexa_box((2, 1, 1), (1, 0.1, 0.1)),
                                                material={"young": young, "poisson": 0.3}, density=density),
                                           steps=1, gravity=[0, 0, -gravity]))
                self.assertEqual(self.codes(run),
                                 ["odd-modulus"] if text else [])
                if text:
                    self.assertIn(text, run["warnings"][0]["text"])
        sheet = {"law": "corotational", "poisson": 0.3, "thickness": 1e-4}  # of fibres of polyethylene
        run = self.run_scene(scene(body(cloth(), {**sheet, "young": 1e11}, density=970), steps=1))
        self.assertEqual(self.codes(run), [])

    def test_bodies_that_are_drawn_out_like_nothing(self):
        """10 kPa as 10 Pa, which loads alone show where nothing has weight."""
        for law, mesh in (("neo_hookean", tetra_box((4, 1, 1), (0.4, 0.1, 0.1))), ("corotational", hexa_box((4, 1, 1), (0.4, 0.1, 0.1)))):
            for young, codes in ((10.0, ["overstretched"]), (1e4, [])):
                with self.subTest(law=law, young=young):
                    run = self.run_scene(scene(body(fixed=[{"box": [0, 0, 0, 0, 1, 1]}], mesh=mesh, density=1000,
                                                    material={"law": law, "young": young, "poisson": 0.0},
                                                    loads=[{"box": [0.4, 0, 0, 0.4, 1, 1], "total_force": [3, 0, 0]}]),
                                               steps=100, time_step=0.1, gravity=[0, 0, 0], damping={"mass": 10}))
                    self.assertEqual(self.codes(run), codes)
                    if codes:
                        self.assertRegex(run["warnings"][0]["text"], r"'body' is stretched to [0-9.]+ times its length at the end")

    def test_velocities_in_another_unit(self):
        """2000 mm/s as 2000 m/s: faster than ten times what waves in the body do, or than anything."""
        for young, speed, text in ((1e5, 2000, "'body' starts with 2000 m/s, and waves go through it at 10 m/s"), (1e5, 150, "150 m/s"),
                                   (1e5, 90, None), (2e3, 25, None), (2.1e11, 1500, "1500 m/s"), (2.1e11, 900, None), (1, 1e4, None)):
            with self.subTest(young=young, speed=speed):
                moving = body(material={"young": young, "poisson": 0.3}, velocity=[0, 0.6 * speed, -0.8 * speed],
                              density=7800 if young > 1e9 else 1000 if young > 1 else 1e-4)
                run = self.run_scene(scene(moving, steps=1, time_step=1e-6, gravity=[0, 0, 0]))
                self.assertEqual(self.codes(run), ["odd-velocity"] if text else [])
                if text:
                    self.assertIn(text, run["warnings"][0]["text"])

    def test_friction_in_degrees(self):
        box = soft("box", hexa_box((1, 1, 1), (0.1, 0.1, 0.1)), 1e5, [0, 0, 0.2])
        for friction, codes in ((30, ["odd-friction"]), (1.5, [])):
            floor = {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": friction}}
            self.assertEqual(self.codes(self.run_scene(scene(box, steps=1, obstacles=[floor]))), codes)

    def test_gravity_in_another_unit(self):
        held = [{"box": [0, 0, 0, 0, 1, 1]}]
        for gravity, young, codes in ((9810, 1e9, ["odd-gravity"]), (981, 1e9, ["odd-gravity"]), (9.81, 1e9, []), (9810, 1, [])):
            run = self.run_scene(scene(body(material={"young": young, "poisson": 0.3}, fixed=held, density=1000 if young > 1 else 1e-4),
                                       steps=1, gravity=[0, 0, -gravity]))
            self.assertEqual(self.codes(run), codes)

    def test_steps_that_contact_cannot_follow(self):
        """The whole body is through the floor within a step: contact takes all its nodes, and minutes where they are
        thousands; it is told before."""
        def of(expected, more=None, **changes):
            ball = soft("ball", hexa_box((2, 2, 2), (0.1, 0.1, 0.1)), 1e5, [0, 0, 0.05], **(more or {}))
            document = scene(ball, **{"steps": 1, "gravity": [0, 0, -9.81], "obstacles": [FLOOR], **changes})
            self.write_scene(document)
            run = self.summary("softbody", "s.json", "-q", "--backend", self.backend, "--dry-run")
            codes = self.codes(run)
            self.assertEqual(codes, expected)
            return run["warnings"]

        of([])
        text = of(["long-steps"], time_step=10)[0]["text"]
        self.assertIn("'ball' would move by 981 m in the first step, and is 0.1 m long", text)
        of(["odd-gravity", "long-steps"], gravity=[0, 0, -9810])
        of(["long-steps"], {"velocity": [0, 0, -95]}, time_step=0.02)
        of(["odd-velocity", "long-steps"], {"velocity": [0, 0, -1000]})
        of(["long-steps"], {"loads": [{"box": [0, 0, 0, 1, 1, 1], "total_force": [0, 0, -5000]}]})
        of([], time_step=10, obstacles=[])  # rests, or falls
        of([], {"fixed": [{"box": [0, 0, 0.05, 0, 0.1, 0.15]}]}, time_step=10)

    def test_bodies_that_fly_apart(self):
        """They begin in each other by less than goes through, and contact pushes them out within a step."""
        def of(overlap, obstacles=(), gravity=-9.81):
            block = soft("block", hexa_box((3, 3, 3), (0.2, 0.2, 0.1)), 1e5, [0, 0, 0], fixed=[{"box": [0, 0, 0, 1, 1, 0]}])
            ball = soft("ball", hexa_box((3, 3, 3), (0.1, 0.1, 0.1)), 1e5, [0.02, 0.03, (0 if obstacles else 0.1) - overlap])
            between = {} if obstacles else {"contact": {"between_objects": True}}
            return self.run_scene(scene(*([ball] if obstacles else [block, ball]), steps=5, gravity=[0, 0, gravity],
                                        obstacles=list(obstacles), **between))

        run = of(0.003)
        self.assertEqual(self.codes(run), ["contact-energy"])
        self.assertIn("at the start 'block' and 'ball' are in each other, by 0.003 m at (", run["warnings"][0]["text"])
        energy = run["results"]["energy"]
        self.assertEqual(energy["largest_rise"], 0)
        self.assertGreater(energy["largest_rise_with_contact"], 0.02)
        self.assertEqual(self.codes(of(0)), [])
        self.assertEqual(self.codes(of(1e-4)), [])  # less than its fall gives
        run = of(0.003, [FLOOR])
        self.assertEqual(self.codes(run), ["starts-inside-obstacle", "contact-energy"])
        self.assertIn("16 nodes of 'ball' start inside obstacles[0], the deepest by 0.003 m at (", run["warnings"][0]["text"])
        self.assertIn("with 0.3 m/s", run["warnings"][0]["text"])

    def test_contact_gives_no_energy(self):
        for make in (tower, ball_on_cloth, pile, liver, cloth_on_sphere, flush_tower):
            run = self.run_scene(make())
            self.assertNotIn("contact-energy", self.codes(run))
            self.assertLess(run["results"]["energy"]["largest_rise_with_contact"], 1e-9)

    def test_a_mesh_that_is_folded(self):
        """The elements around a node that was moved through the opposite side are turned, and lie in each other."""
        def write(top, turned=()):
            corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
            corners[7] = top
            cells = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]
            cells = [(a, c, b, d) if k in turned else (a, b, c, d) for k, (a, b, c, d) in enumerate(cells)]
            self.write("m.vtk", "# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n" +
                       "".join("%g %g %g\n" % p for p in corners) + "CELLS 6 30\n" +
                       "".join("4 %d %d %d %d\n" % c for c in cells) + "CELL_TYPES 6\n" + "10\n" * 6)
            return self.run_scene(scene(body({"file": "m.vtk"}), steps=1))

        self.assertEqual(self.codes(write((1, 1, 1))), [])
        self.assertEqual(self.codes(write((1, 1, 1), turned=(1, 4))), [])  # the order of nodes alone
        run = write((0.5, 0.5, -0.2))
        self.assertEqual(self.codes(run), ["folded-mesh"])
        self.assertIn("both tetrahedra lie on the same side, in each other, elements ", run["warnings"][0]["text"])

    def test_a_mesh_in_parts(self):
        points = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n5 0 0\n6 0 0\n5 1 0\n5 0 1"
        self.write("two.vtk", tetrahedron(points).replace("CELLS 1 5\n4 0 1 2 3", "CELLS 2 10\n"
                                                          "4 0 1 2 3\n4 4 5 6 7")
                   .replace("CELL_TYPES 1\n10", "CELL_TYPES 2\n10\n10"))
        self.write_scene(scene(body({"file": "two.vtk"}), steps=1))
        process = self.ossatura("softbody", "s.json", "-q", "--json", "-")
        self.assertEqual(self.codes(json.loads(process.stdout)), ["mesh-in-parts"])
        self.assertIn("'body' is in 2 parts", process.stderr)
        self.assertEqual(self.codes(self.run_scene(scene(steps=1))), [])
        with open(self.path("two.vtk")) as file:  # whose second part touches the first, and is not joined
            text = file.read()
        self.write("two.vtk", text.replace("5 0 0\n6 0 0\n5 1 0\n5 0 1", "-1 0 0\n0 0 0\n0 1 0\n0 0 1"))
        run = self.run_scene(scene(body({"file": "two.vtk"}), steps=1))
        self.assertEqual(self.codes(run), ["split-mesh"])
        self.assertIn("the mesh of 'body': 3 nodes lie in the place of another one, without being it, the first at (0, 0, 0) m",
                      run["warnings"][0]["text"])

    def test_a_mesh_whose_seam_is_open(self):
        """A bar bent to a C whose ends meet without being joined; they are one body, and nothing else says it."""
        def tetra(corners):  # of a hexahedron in the order of VTK
            return [[corners[k] for k in cell] for cell in ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6),
                                                            (0, 4, 5, 6), (0, 5, 1, 6))]

        def run(num_rings):
            places = [(math.cos(k * math.pi / 4) * r, math.sin(k * math.pi / 4) * r, z)
                      for k in range(num_rings) for r in (0.5, 1) for z in (0, 0.5)]
            rings = [[4 * (k % num_rings) + i for i in (0, 2, 3, 1)] for k in range(9)]
            cells = [cell for k in range(8) for cell in tetra(rings[k] + rings[k + 1])]
            self.write("c.vtk", tetrahedron("\n".join("%.6f %.6f %.6f" % place for place in places))
                       .replace("CELLS 1 5\n4 0 1 2 3", f"CELLS {len(cells)} {5 * len(cells)}\n" +
                                "\n".join("4 %d %d %d %d" % tuple(cell) for cell in cells))
                       .replace("CELL_TYPES 1\n10", f"CELL_TYPES {len(cells)}\n" + "\n".join(["10"] * len(cells))))
            return self.run_scene(scene(body({"file": "c.vtk"}), steps=1))
        open_ring = run(9)
        self.assertEqual(self.codes(open_ring), ["split-mesh"])
        self.assertIn("the mesh of 'body': 4 nodes lie in the place of another one", open_ring["warnings"][0]["text"])
        self.assertEqual(self.codes(run(8)), [])


class BadScenes(SoftbodyCase):
    def bad(self, message, document, *arguments):
        """Is refused before anything is solved, also by --dry-run, and leaves nothing behind."""
        self.write_scene(document)
        before = self.files()
        for more in ((), ("--dry-run",)):
            self.fails(BAD_FILE, message, "softbody", "s.json", "--json", "r.json", "--hdf", "f",
                       "--history", "h.csv", "-q", *arguments, *more)
        self.assertEqual(self.files(), before)

    def test_keys_and_values(self):
        # All of them are in softbody_scene.cpp.
        self.bad("unknown key \"stesp\"", {**scene(), "stesp": 3})
        self.bad("did you mean 'steps'?", {**scene(), "stesp": 3})
        self.bad("objects[0].density: -1", scene(body(density=-1)))
        self.bad("objects[0].fixed[0]: no node is inside the box",
                 scene(body(fixed=[{"box": [5, 5, 5, 6, 6, 6]}])))
        self.bad("the law stvk is for tetrahedra", scene(body(material=LAWS[2])))
        self.bad("the law neo_hookean is for tetrahedra",
                 scene(body(cloth(), {**LAWS[3], "thickness": 1})))

    def test_what_is_not_held_and_has_no_mass(self):
        self.bad("'body' has no mass and nothing is fixed", scene(body(density=0)))
        self.bad("is fixed on one line", scene(body(density=0, fixed=[{"box": [0, 0, 0, 2, 0, 0]}])))
        self.bad("keeps its triangles in their plane",
                 scene(body(cloth(), {**STIFF, "thickness": 1}, density=0,
                            fixed=[{"box": [0, 0, 0, 0, 1, 0]}])))
        held = body(density=0, fixed=[{"box": [0, 0, 0, 0, 1, 1]}])
        self.run_scene(scene(held))

    def test_meshes(self):
        self.bad("nothere.vtu", scene(body({"file": "nothere.vtu"})))
        self.write("flat.vtk", tetrahedron(points="0 0 0\n1 0 0\n0 1 0\n1 1 0"))
        self.bad("flat.vtk", scene(body({"file": "flat.vtk"})))
        self.write("cut.vtk", tetrahedron()[:-40])
        self.bad("cut.vtk", scene(body({"file": "cut.vtk"})))
        self.write("nan.vtk", tetrahedron(points="0 0 0\n1 0 nan\n0 1 0\n0 0 1"))
        self.bad("nan.vtk", scene(body({"file": "nan.vtk"})))
        self.write("repeated.vtk", tetrahedron(cell="0 1 1 3"))
        self.bad("repeated.vtk", scene(body({"file": "repeated.vtk"})))
        self.bad("has no object 'boddy', but body; did you mean 'body'?", scene(), "--mesh",
                 "boddy=a.vtk")

    def test_files(self):
        self.fails(BAD_FILE, "nothere.json", "softbody", "nothere.json")
        self.write("text.json", '{"steps": 3,\n "time_step" 1}')
        self.fails(BAD_FILE, "text.json: not JSON: line 2", "softbody", "text.json")
        self.write("twice.json", '{"steps": 3, "steps": 4}')
        self.fails(BAD_FILE, "twice", "softbody", "twice.json")


class Usage(SoftbodyCase):
    def test_contradictions_and_options_without_effect(self):
        self.fails(USAGE, "no scene", "softbody")
        self.write_scene(scene())
        for arguments in (("--hdf", "a", "--no-hdf"), ("--vtk-every", "2"),
                          ("--checkpoint-every", "2"), ("--seed", "1"),
                          ("--refresh", "sync", "--preconditioner", "jacobi"),
                          ("--apply", "levels", "--preconditioner", "none"),
                          ("--warp", "--no-warp")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "softbody", "s.json", *arguments)

    def test_a_tolerance_of_one_newton_iteration(self):
        """It would seem that iterations are made until it is met."""
        self.write_scene(scene())
        self.fails(USAGE, "--newton-tolerance has no effect on the one Newton iteration", "softbody", "s.json",
                   "--newton-tolerance", "1e-10", "-q")
        self.run_scene(scene(), "--newton", "3", "--newton-tolerance", "1e-10")
        alone = scene(solver={"newton_tolerance": 1e-10})
        self.write_scene(alone)
        self.fails(BAD_FILE, "s.json: solver.newton_tolerance has no effect", "softbody", "s.json", "-q")
        self.run_scene(alone, "--newton", "3")
        self.run_scene(scene(solver={"newton_tolerance": 1e-10, "newton_iterations": 3}), "--newton", "1")

    def test_choices_of_a_factor_that_there_is_not(self):
        for key, value in (("refresh", "every:4"), ("refresh_after", 7), ("factor", "host"), ("apply", "levels"),
                           ("factor_storage", "fp64"), ("bands", 2), ("warp", False)):
            with self.subTest(key=key):
                document = scene(solver={"preconditioner": "jacobi", key: value})
                self.write_scene(document)
                self.fails(BAD_FILE, f's.json: solver.{key} has no effect beside "jacobi"', "softbody", "s.json", "-q")
                self.run_scene(document, "--preconditioner", "ldlt")
        self.run_scene(scene(solver={"refresh": "sync"}), "--preconditioner", "jacobi")
        self.write_scene(scene(solver={"preconditioner": "jacobi"}))
        self.fails(USAGE, "--apply has no effect on the preconditioner jacobi of s.json", "softbody", "s.json", "-q", "--apply", "levels")
        self.fails(USAGE, "--refresh-after has no effect without --preconditioner ldlt", "softbody", "s.json", "-q",
                   "--preconditioner", "none", "--refresh-after", "7")

    def test_a_background_beside_a_factor_that_is_made_there(self):
        """The message began with a place in our sources."""
        self.write_scene(scene(solver={"refresh": "background", "factor": "device"}))
        self.fails(BAD_FILE, "error: s.json: refresh background: on cores it is a thread of the host, and on devices only the inverse "
                   "factor can be made beside the one in use: take the factor host or auto", "softbody", "s.json", "-q", "--backend",
                   "serial")

    def test_values_out_of_range(self):
        self.write_scene(scene())
        for arguments in (("--steps", "0"), ("--time-step", "0"), ("--time-step", "nan"),
                          ("--refresh", "every:0"), ("--refresh", "often"), ("--newton", "0"),
                          ("--tolerance", "1"), ("--newton-tolerance", "-1"),
                          ("--max-iterations", "0"), ("--vtk-every", "0"), ("--batch", "-1"),
                          ("--max-halvings", "31"), ("--contact-iterations", "0"),
                          ("--contact-tolerance", "2"), ("--mesh", "body"),
                          ("--factor-storage", "fp8"), ("--bands", "9"), ("--bands", "-1"),
                          ("--precision", "single")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "softbody", "s.json", *arguments, "-o", "out")
        self.fails(USAGE, "did you mean 'supernodes'?", "softbody", "s.json", "--apply", "supernode")
        self.fails(UNAVAILABLE, "serial", "softbody", "s.json", "--backend", "quantum")

    def test_help_and_printed_configuration(self):
        text = self.ossatura("softbody", "--help").stdout
        for part in ("Scene:", "Linear systems", "--refresh sync|every:K|background", "Examples:",
                     "75  stopped by SIGINT"):
            self.assertIn(part, text)
        self.write_scene(scene())
        arguments = ("s.json", "--steps", "3", "--refresh", "every:2", "--apply", "levels",
                     "--mesh", "body=a.vtk", "--no-warp", "--tolerance", "1e-7")
        self.write("c.toml", self.ossatura("softbody", *arguments, "--print-config").stdout)
        again = self.ossatura("softbody", "--config", "c.toml", "--print-config").stdout
        self.assertEqual(self.read("c.toml"), again)
        for part in ('refresh = "every:2"', "no-warp = true", "steps = 3"):
            self.assertIn(part, again)


if __name__ == "__main__":
    driver_case.main()
