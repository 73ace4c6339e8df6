# SPDX-License-Identifier: Apache-2.0
"""Soft bodies that touch planes, spheres and each other: conditions of contact, sliding and rolling."""
import csv
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import NOT_CONVERGED
from support.scenes import (WEIGHT, hexa_box, tetra_box, body, scene, SoftbodyCase, liver, pile, tower, ball_on_cloth,
                            cloth_on_sphere, flush_tower, column)


class Contact(SoftbodyCase):
    scenes = {"liver": liver, "pile": pile, "tower": tower, "ball on cloth": ball_on_cloth,
              "cloth on sphere": cloth_on_sphere}

    def places(self, run):
        return [x for state in run["results"]["objects"]
                for key in ("mean_position", "lower", "upper") for x in state[key]]

    def check_conditions(self, run):
        results = run["results"]
        self.assertGreater(results["most_contacts"], 5)
        self.assertLessEqual(results["worst_contact_residual"], 1e-8)
        # No free motion of these scenes is as long as 3 cm in a step.
        self.assertLessEqual(results["worst_penetration"], 3e-10)
        self.assertLessEqual(results["worst_complementarity"], 3e-10)
        self.assertLessEqual(results["worst_friction_residual"], 3e-10)
        self.assertLessEqual(run["residual"]["true"], 1e-9)

    def test_the_age_of_the_factor_does_not_change_the_motion(self):
        for name, make in self.scenes.items():
            for self.backend in driver_case.backends() if name == "tower" else ["serial"]:
                expected = self.run_scene(make(), "--refresh", "sync")
                self.check_conditions(expected)
                for refresh in ("every:16", "background"):
                    with self.subTest(scene=name, backend=self.backend, refresh=refresh):
                        run = self.run_scene(make(), "--refresh", refresh)
                        self.check_conditions(run)
                        for a, b in zip(self.places(run), self.places(expected)):
                            self.assertLess(abs(a - b), 1e-8)

    def test_a_factor_that_is_made_during_a_solve_is_no_time_of_the_solve(self):
        """On cores contact makes the factor of a step anew where an old one would take longer."""
        blocks = [{"name": name, "mesh": hexa_box((6, 6, 6), (0.1, 0.1, 0.1)), "translate": place, "fixed": fixed,
                   "material": {"young": 1e5, "poisson": 0.3}}
                  for name, place, fixed in (("low", [0, 0, 0], [{"box": [0, 0, 0, 0.1, 0.1, 0]}]), ("high", [0.05, 0, 0.1], []))]
        self.backend = "serial"
        self.run_scene(scene(*blocks, steps=4, gravity=[0, 0, -9.81], contact={"between_objects": True}), "--history", "h.csv")
        with open(self.path("h.csv"), encoding="utf-8") as file:
            _, first, *others = csv.DictReader(file)
        self.assertTrue(any(row["refreshed"] == "1" and row["staleness"] == "1" for row in others))
        for row in others:
            if row["refreshed"] == "1":
                self.assertGreater(float(row["factor"]), 0.1 * float(first["factor"]))

    def test_what_holds_beyond_an_instability(self):
        """The trajectories of two ways to refresh are different ones there; each state meets the
        tolerances, and no step gains energy to speak of."""
        for make in (flush_tower, column):
            for refresh in ("sync", "every:16", "background"):
                with self.subTest(scene=make.__name__, refresh=refresh):
                    run = self.run_scene(make(), "--refresh", refresh)
                    self.check_conditions(run)
                    steps = run["results"]["steps"]
                    energy = [sum(parts) for parts in zip(steps["kinetic"], steps["elastic"],
                                                          steps["potential"])]
                    gain = max(b - a for a, b in zip(energy, energy[1:]))
                    self.assertLess(gain, 1e-3 * (max(energy) - min(energy)))

    def test_a_column_moves_the_same_until_it_buckles(self):
        expected, *others = (self.places(self.run_scene(column(), "--refresh", refresh, "--steps",
                                                        "100"))
                             for refresh in ("sync", "every:16", "background"))
        for places in others:
            for a, b in zip(places, expected):
                self.assertLess(abs(a - b), 1e-8)

    def test_nodes_are_where_the_plane_lets_them(self):
        """What is reported is true of the positions: the lowest node over the last step is not
        below a horizontal plane by more than the penetration."""
        run = self.run_scene(tower(), "--refresh", "every:16")
        lowest = min(state["lower"][2] for state in run["results"]["objects"])
        self.assertGreaterEqual(lowest, -run["results"]["worst_penetration"] - 1e-15)
        self.assertLess(lowest, 1e-9)

    def test_history_and_summary_have_the_conditions(self):
        run = self.run_scene(liver(), "--history", "h.csv")
        rows, steps = self.rows("h.csv"), run["results"]["steps"]
        for key in ("penetration", "complementarity", "friction_residual", "contact_residual"):
            worst = max(float(row[key]) for row in rows)
            self.close(run["results"]["worst_" + key], worst, 1e-6)
            self.close(max(steps[key]), worst, 1e-6)
        table = self.ossatura("softbody", "s.json", "-q", "--backend", "serial").stdout
        self.assertIn("1 obstacle\n", table)
        self.assertRegex(table, "contacts +at most .* penetration .* m, residual")

    def test_sweeps_that_change_little_go_on(self):
        # A stack of cubes whose meshes do not meet: many contacts that share one force.
        cubes = [{**body(hexa_box([n] * 3, [0.1] * 3), {"young": 1e6, "poisson": 0.3},
                         translate=[x, y, k / 10]), "name": f"cube-{k}"}
                 for k, (n, x, y) in enumerate([(2, 0, 0), (3, 0.01, 0.013), (4, -0.01, -0.007)])]
        plane = {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5}}
        self.run_scene(scene(*cubes, steps=12, gravity=[0, 0, -9.81], obstacles=[plane],
                             contact={"between_objects": True, "friction": 0.5}))

    def test_a_cube_that_falls_flush_on_another(self):
        # All nodes of two faces meet at once, one upon the other: sweeps alone do not end.
        low = {**body(hexa_box([3] * 3, [0.1] * 3), {"young": 1e5, "poisson": 0.3}), "name": "low",
               "fixed": [{"box": [0, 0, 0, 0.1, 0.1, 0]}]}
        for gap, friction in (0.01, 0.3), (0.01, 0.1), (0.02, 0.3):
            high = {**low, "name": "high", "translate": [0, 0, 0.1 + gap]}
            del high["fixed"]
            with self.subTest(gap=gap, friction=friction):
                run = self.run_scene(scene(low, high, steps=60, time_step=0.005, gravity=[0, 0, -9.81],
                                           contact={"between_objects": True, "friction": friction}))
                self.assertEqual(run["status"], "converged")
                self.assertEqual(run["results"]["most_contacts"], 32)
                self.assertLess(run["results"]["worst_contact_residual"], 1e-8)

    def test_sweeps_that_do_not_suffice_are_named_as_the_cause(self):
        self.write_scene(pile())
        process = self.ossatura("softbody", "s.json", "-q", "--backend", "serial", "--steps", "5",
                              "--contact-iterations", "1", "--contact-tolerance", "1e-13", "--json",
                              "r.json", code=NOT_CONVERGED)
        self.assertIn("raise --contact-iterations", process.stderr)
        self.assertNotIn("--max-iterations", process.stderr)
        run = json.loads(self.read("r.json"))
        self.assertEqual(run["status"], "not converged")
        self.assertGreater(run["results"]["worst_contact_residual"], 1e-13)
        self.assertIn("not-converged", [warning["code"] for warning in run["warnings"]])

    def test_systems_that_do_not_converge_are_named_as_the_cause(self):
        self.write_scene(liver())
        process = self.ossatura("softbody", "s.json", "-q", "--backend", "serial", "--steps", "3",
                              "--refresh", "every:100", "--tolerance", "1e-16", code=NOT_CONVERGED)
        self.assertIn("raise --max-iterations", process.stderr)


class Newton(SoftbodyCase):
    """Newton's iterations go over the balance with contact: what rests does so whatever the step is."""

    def at_rest(self, mesh, law, step, iterations):
        """Height and elastic energy of a block on a plane without friction that has come to rest."""
        document = scene(body(mesh, {"law": law, "young": 5e3, "poisson": 0.0}, density=1000),
                         gravity=WEIGHT, time_step=step, steps=round(2.4 / step), damping={"mass": 40},
                         obstacles=[{"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0}}])
        results = self.run_scene(document, "--newton", str(iterations))["results"]
        self.assertTrue(all(results["steps"]["converged"]))
        self.assertLess(results["energy"]["final"]["kinetic"], 1e-15)
        return results["objects"][0]["upper"][2], results["energy"]["final"]["elastic"]

    def test_what_rests_is_in_balance(self):
        # Four layers, each under the weight of the nodes above it; masses are lumped, and stress is E (stretch - 1).
        stretch = [1 - 9.81 * 1000 * 0.025 * (3.5 - k) / 5e3 for k in range(4)]
        layers = 0.025 * sum(stretch), sum(5e3 / 2 * (s - 1) ** 2 * 0.025 * 0.1 ** 2 for s in stretch)
        box = ((2, 2, 4), (0.1, 0.1, 0.1))
        for mesh, law, known in ((hexa_box(*box), "corotational", layers), (tetra_box(*box), "stvk", None)):
            for step, iterations in ((0.02, 1), (0.02, 15), (0.01, 15)):
                with self.subTest(law=law, step=step, iterations=iterations):
                    found = self.at_rest(mesh, law, step, iterations)
                    known = known or found
                    for value, expected in zip(found, known):
                        self.close(value, expected, 1e-6)

    def test_iterations_converge_where_bodies_press_each_other(self):
        """With friction, between bodies and with planes, the tower on every backend: in a few iterations each."""
        for name in "pile", "tower":
            document = Contact.scenes[name]()
            for self.backend in driver_case.backends() if name == "tower" else ["serial"]:
                with self.subTest(scene=name, backend=self.backend):
                    run = self.run_scene(document, "--newton", "12")
                    self.check_ended(run)
                    self.assertLess(run["results"]["newton_iterations"], 8 * document["steps"])
            self.backend = "serial"
            # The limit of small steps is the same; with one iteration it is only nearly so.
            once = self.run_scene(document)["results"]["energy"]["final"]
            self.close(run["results"]["energy"]["final"]["elastic"], once["elastic"], 0.02)
            self.assertNotEqual(run["results"]["energy"]["final"]["elastic"], once["elastic"])

    def check_ended(self, run):
        self.assertTrue(all(run["results"]["steps"]["converged"]))
        self.assertLess(run["results"]["worst_contact_residual"], 1e-8)
        self.assertGreater(run["results"]["most_contacts"], 3)


class Sliding(SoftbodyCase):
    """A flat block on a flat floor, both of elements: nothing of their meshes is to be felt."""

    def slide(self, *, friction, gravity, lift=0.0, speed=0.0, mesh=hexa_box, step=0.01, steps=30):
        """Speeds of the block along and across the floor at the end, m/s."""
        floor = body(mesh((20, 4, 1), (1.2, 0.24, 0.06)), {"young": 1e7, "poisson": 0.3},
                     translate=[-0.1, -0.06, -0.06], fixed=[{"box": [-1, -1, -0.06, 2, 1, -0.06]}])
        block = {**body(mesh((2, 2, 1), (0.2, 0.14, 0.06)), {"young": 1e6, "poisson": 0.3},
                        translate=[0.013, 0.007, lift], velocity=[speed, 0, 0]), "name": "block"}
        run = self.run_scene(scene(floor, block, time_step=step, steps=steps, gravity=gravity,
                                   contact={"between_objects": True, "friction": friction}))
        velocity = run["results"]["objects"][1]["mean_velocity"]
        return velocity[0], math.hypot(*velocity[1:])

    def test_a_block_that_glides_over_a_floor_does_not_feel_its_nodes(self):
        for mesh in hexa_box, tetra_box:
            for lift in 0.0, 1e-4, 1e-3:
                with self.subTest(mesh=mesh.__name__, lift=lift):
                    along, across = self.slide(friction=0, gravity=[0, 0, 0], lift=lift, speed=1,
                                               mesh=mesh)
                    self.close(along, 1)
                    self.close(across, 0, scale=1)

    def test_a_block_slides_down_an_incline(self):
        angle, g = math.radians(30), 9.81
        gravity = [g * math.sin(angle), 0, -g * math.cos(angle)]
        for friction in 0, 0.2, 0.4:
            for step, steps in (0.01, 30), (0.002, 100):
                with self.subTest(friction=friction, step=step):
                    along, across = self.slide(friction=friction, gravity=gravity, step=step,
                                               steps=steps)
                    speed = g * (math.sin(angle) - friction * math.cos(angle)) * step * steps
                    self.close(along, speed, 0.01)
                    self.close(across, 0, scale=0.01 / 1e-8)


class Rolling(SoftbodyCase):
    def test_a_stiff_ball_rolls_down_an_incline(self):
        angle, g, radius = math.radians(20), 9.81, 0.1
        ball = body({"ellipsoid": {"semi_axes": [radius] * 3, "cells": 6}},
                    {"young": 1e8, "poisson": 0.3}, translate=[0, 0, radius])
        run = self.run_scene(scene(
            ball, steps=24, gravity=[g * math.sin(angle), 0, -g * math.cos(angle)],
            obstacles=[{"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5}}]))
        # 5/7 g sin(angle) t of a sphere, less what backward Euler takes in steps of 0.01 s
        rolls = run["results"]["objects"][0]["mean_velocity"][0]
        self.close(rolls, 5 / 7 * g * math.sin(angle) * 0.24, 0.15)


if __name__ == "__main__":
    driver_case.main()
