# SPDX-License-Identifier: Apache-2.0
"""`ossatura softbody` end to end: motions with closed answers, resumed runs, files, and scenes that are
refused."""
import json
import math
import os
import subprocess

from support import driver_case
from support.driver_case import BAD_FILE, NOT_CONVERGED, UNAVAILABLE, USAGE, DriverCase
from support.rounded_box import rounded_box

STIFF = {"young": 1e5, "poisson": 0.3}
LAWS = ({"law": "corotational", **STIFF}, {"law": "corotational", "rotation": "qr", **STIFF},
        {"law": "stvk", **STIFF}, {"law": "neo_hookean", **STIFF},
        {"law": "mooney_rivlin", "c1": 1e4, "c2": 5e3, "bulk": 1e5})


def hexa_box(cells=(2, 1, 1), size=(2, 1, 1)):
    return {"hexa_box": {"cells": list(cells), "size": list(size)}}


def tetra_box(cells=(2, 1, 1), size=(2, 1, 1)):
    return {"tetra_box": {"cells": list(cells), "size": list(size)}}


def cloth(nodes=(3, 3), size=(1, 1)):
    return {"cloth": {"nodes": list(nodes), "size": list(size)}}


def body(mesh=None, material=None, **more):
    return {"name": "body", "mesh": mesh or hexa_box(), "material": material or STIFF, **more}


def scene(*objects, **more):
    return {"time_step": 0.01, "steps": 10, "objects": list(objects) or [body()], **more}


def tetrahedron(points="0 0 0\n1 0 0\n0 1 0\n0 0 1", cell="0 1 2 3"):
    """A .vtk file of one tetrahedron."""
    return ("# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            f"POINTS {len(points.splitlines())} double\n{points}\nCELLS 1 5\n4 {cell}\n"
            "CELL_TYPES 1\n10\n")


class SoftbodyCase(DriverCase):
    backend = "serial"

    def write_scene(self, document, name="s.json"):
        return self.write(name, json.dumps(document))

    def run_scene(self, document, *arguments, code=driver_case.DONE):
        """The summary of a run in this directory."""
        self.write_scene(document)
        run = self.summary("softbody", "s.json", "-q", "--backend", self.backend, *arguments,
                           code=code)
        self.assert_finite(run["results"])
        return run

    def assert_finite(self, values):
        """JSON has null where a number is not finite."""
        if isinstance(values, dict):
            for key, value in values.items():
                if key not in ("breakdown", "last_time", "first_crossing_step"):
                    self.assert_finite(value)
        elif isinstance(values, list):
            for value in values:
                self.assert_finite(value)
        else:
            self.assertIsNotNone(values)

    def close(self, value, expected, relative=1e-8, scale=0):
        super().close(value, expected, relative, scale)

    def rows(self, name, seconds=("collect", "compress", "factor", "solve", "apply", "contact",
                                  "total")):
        return super().rows(name, seconds)


class Motions(SoftbodyCase):
    """Closed answers, on every backend."""

    def test_free_fall_of_every_shape_and_law(self):
        bodies = [(hexa_box(), LAWS[0]), (hexa_box(), LAWS[1]),
                  (cloth(), {**STIFF, "thickness": 0.01})]
        bodies += [(tetra_box(), law) for law in LAWS]
        h, n, g, v = 0.01, 10, -9.81, 2.0
        for self.backend in driver_case.backends():
            for mesh, material in bodies:
                with self.subTest(backend=self.backend, mesh=mesh, material=material):
                    run = self.run_scene(scene(body(mesh, material, velocity=[v, 0, 0]), time_step=h,
                                               steps=n, gravity=[0, 0, g]))
                    state = run["results"]["objects"][0]
                    middle = [side / 2 for side in next(iter(mesh.values()))["size"]] + [0]
                    self.close(state["mean_position"][0], middle[0] + n * h * v)
                    self.close(state["mean_position"][1], middle[1], scale=1)
                    # Backward Euler: v_k = k h g, x_n = h sum of v_k.
                    self.close(state["mean_position"][2], middle[2] + h * h * g * n * (n + 1) / 2)
                    self.close(state["mean_velocity"][2], n * h * g)
                    energy, mass = run["results"]["energy"], run["problem"]["objects"][0]["mass"]
                    self.close(energy["initial"]["kinetic"], mass * v * v / 2)
                    self.close(energy["final"]["kinetic"], mass * (v * v + (n * h * g)**2) / 2)
                    self.close(energy["final"]["potential"], mass * (h * g)**2 * n * (n + 1) / -2)
                    self.close(energy["final"]["elastic"], 0, scale=mass)

    def test_damping_by_mass_slows_a_body(self):
        run = self.run_scene(scene(body(velocity=[0, 3, 0]), damping={"mass": 2}))
        self.close(run["results"]["objects"][0]["mean_velocity"][1], 3 / (1 + 0.01 * 2)**10)

    def test_a_hanging_bar_is_stretched_by_its_weight(self):
        length, young, density, g = 4, 1e6, 1000, 9.81
        bar = body(hexa_box((8, 1, 1), (length, 1, 1)), {"young": young, "poisson": 0},
                   density=density, fixed=[{"box": [0, 0, 0, 0, 1, 1]}])
        # Steps much longer than any period go to the equilibrium, where linear elements are exact
        # at their nodes.
        for self.backend in driver_case.backends():
            with self.subTest(backend=self.backend):
                run = self.run_scene(scene(bar, gravity=[g, 0, 0], time_step=100, steps=5))
                stretch = density * g * length**2 / (2 * young)
                self.close(run["results"]["objects"][0]["largest_displacement"], stretch)
                self.close(run["results"]["objects"][0]["upper"][0], length + stretch)
                # W = (rho g)^2 A L^3 / (6 E), and linear elements miss a part 1 / n^2 / 4 of it.
                energy = (density * g)**2 * length**3 / (6 * young)
                self.close(run["results"]["energy"]["final"]["elastic"], energy, 1e-2)

    def test_a_load_stretches_two_materials_in_series(self):
        bar = body(hexa_box((4, 1, 1), (4, 1, 1)), {"young": 1e6, "poisson": 0},
                   fixed=[{"box": [0, 0, 0, 0, 1, 1]}],
                   loads=[{"box": [4, 0, 0, 4, 1, 1], "total_force": [1e4, 0, 0]}],
                   regions=[{"box": [2, 0, 0, 4, 1, 1], "young_factor": 4}])
        run = self.run_scene(scene(bar, time_step=100, steps=5))
        stretch = 1e4 * (2 / 1e6 + 2 / 4e6)
        self.close(run["results"]["objects"][0]["largest_displacement"], stretch)
        self.close(run["results"]["energy"]["final"]["elastic"], 1e4 * stretch / 2)
        self.close(run["results"]["energy"]["final"]["potential"], -1e4 * stretch)

    def test_boxes_have_the_nodes_that_single_precision_puts_beside_them(self):
        self.write("r.vtk", rounded_box((2, 3, 4), 0.1))
        held = body({"file": "r.vtk"}, {"young": 1e6, "poisson": 0}, fixed=[{"box": [0, 0, 0, 0, 0.3, 0.4]}])
        self.assertEqual(self.run_scene(scene(held))["problem"]["objects"][0]["fixed_nodes"], 20)

    def test_a_force_for_each_node_and_a_mass_for_each(self):
        pushed = body(tetra_box(), node_mass=2, loads=[{"nodes": list(range(12)),
                                                        "force": [0, 6, 0]}])
        run = self.run_scene(scene(pushed))
        self.assertEqual(run["problem"]["objects"][0]["mass"], 24)
        self.close(run["results"]["objects"][0]["mean_velocity"][1], 0.1 * 6 / 2)

    def test_times_are_multiples_of_the_step_to_their_digits(self):
        run = self.run_scene(scene(steps=60), "--history", "h.csv")
        self.assertEqual(run["results"]["steps"]["time"], [n / 100 for n in range(1, 61)])
        self.assertEqual([row["time"] for row in self.rows("h.csv")][3], "0.03")

    def test_a_taut_body_gains_no_energy(self):
        # A bar under a load goes to L F / (A E) and the energy -F^2 L / (2 A E), and loses some all
        # the way: its waves across are of its tension alone.
        length, side, young, strain = 0.5, 0.02, 1e6, 0.1
        force, size = strain * young * side**2, (length, side, side)
        for mesh, material in ((hexa_box((25, 1, 1), size), {}), (tetra_box((25, 1, 1), size), {}),
                               (tetra_box((25, 1, 1), size), {"rotation": "qr"}),
                               (cloth((26, 3), (length, side)), {"thickness": side})):
            for step in 0.01, 0.04:
                with self.subTest(mesh=mesh, material=material, step=step):
                    bar = body(mesh, {"young": young, "poisson": 0.3, **material},
                               fixed=[{"box": [0, 0, 0, 0, side, side]}],
                               loads=[{"box": [length, 0, 0, length, side, side],
                                       "total_force": [force, 0, 0]}])
                    run = self.run_scene(scene(bar, time_step=step, steps=round(2 / step)))
                    state, energy = run["results"]["objects"][0], run["results"]["energy"]
                    self.close(state["largest_displacement"], strain * length, 0.02)
                    self.close(energy["final"]["total"], -force * strain * length / 2, 0.02)
                    rises = 1e-3 if material.get("rotation") == "qr" else 1e-10
                    self.close(energy["largest_rise"], 0, scale=rises / 1e-8)

    def test_stiff_bodies_swing_as_rigid_ones(self):
        # A bar that falls from level about an edge, 2.5 kg, has 12.9 J at the bottom.
        side, g = 0.05, 9.81
        drop = side / 2 + math.hypot(0.5, side / 2)
        stiff = {"young": 2e9, "poisson": 0.3}
        for mesh, material, part in (
                (hexa_box, stiff, 0.05), (tetra_box, stiff, 0.05),
                (tetra_box, {**stiff, "young": 2e6}, 0.05),
                (tetra_box, {**stiff, "rotation": "qr"}, 0.05),
                (tetra_box, {**stiff, "law": "neo_hookean"}, 0.15),
                (tetra_box, {**stiff, "law": "stvk"}, 0.15),
                (tetra_box, {"law": "mooney_rivlin", "c1": 3e8, "c2": 1e8, "bulk": 2e9}, 0.2)):
            with self.subTest(mesh=mesh.__name__, material=material):
                bar = body(mesh((10, 1, 1), (1, side, side)), material,
                           fixed=[{"box": [0, 0, 0, 0, side, 0]}])
                self.run_scene(scene(bar, time_step=0.005, steps=170, gravity=[0, 0, -g]),
                               "--history", "h.csv")
                swing = max(float(row["kinetic"]) for row in self.rows("h.csv"))
                self.close(swing, 1000 * side**2 * g * drop, part)

    def test_stiff_cloth_swings_as_soft_cloth(self):
        swings = []
        for young in 1e5, 1e8:
            sheet = body(cloth((11, 3), (1, 0.2)),
                         {"young": young, "poisson": 0.3, "thickness": 0.001},
                         fixed=[{"box": [0, 0, 0, 0, 0.2, 0]}])
            self.run_scene(scene(sheet, time_step=0.005, steps=180, gravity=[0, 0, -9.81]),
                           "--history", "h.csv")
            swings.append(max(float(row["kinetic"]) for row in self.rows("h.csv")))
        self.close(*swings, 0.05)

    def test_newton_iterations_of_what_flies_freely_converge(self):
        for law in LAWS:
            for speed, gravity in ([1, 2, 3], [0, 0, 0]), ([0, 0, 0], [0, 0, 0]), ([1, 2, 3], [0, 0, -9]):
                with self.subTest(law=law, speed=speed, gravity=gravity):
                    flying = body(tetra_box((1, 1, 1), (0.1, 0.1, 0.1)), law, velocity=speed)
                    run = self.run_scene(scene(flying, gravity=gravity), "--newton", 10)
                    for found, v, g in zip(run["results"]["objects"][0]["mean_velocity"], speed,
                                           gravity):
                        self.close(found, v + 0.1 * g, scale=1)

    def test_a_turned_bar_hangs_as_well(self):
        bar = body(hexa_box((4, 1, 1), (4, 1, 1)), {"young": 1e6, "poisson": 0}, scale=0.5,
                   rotate={"axis": [0, 1, 0], "degrees": 90}, translate=[1, 2, 3],
                   fixed=[{"box": [1, 2, 3, 1.5, 2.5, 3]}])
        run = self.run_scene(scene(bar, gravity=[0, 0, -9.81], time_step=100, steps=5))
        self.close(run["results"]["objects"][0]["lower"][2], 1 - 1000 * 9.81 * 2**2 / 2e6)

    def test_newton_iterations_end_in_the_same_balance(self):
        bar = body(tetra_box((2, 1, 1), (1, 0.5, 0.5)), LAWS[3],
                   fixed=[{"box": [0, 0, 0, 0, 0.5, 0.5]}])
        many = self.run_scene(scene(bar, gravity=[0, 0, -5], time_step=1, steps=30))
        newton = self.run_scene(scene(bar, gravity=[0, 0, -5], time_step=1, steps=8), "--newton",
                                "20")
        self.assertGreater(newton["results"]["newton_iterations"], 8)
        for a, b in zip(many["results"]["objects"][0]["mean_position"],
                        newton["results"]["objects"][0]["mean_position"]):
            self.close(a, b, 1e-6)

    def test_a_body_that_begins_on_a_plane_is_not_within_it(self):
        for below, codes in ((1e-16, []), (0.01, ["starts-inside-obstacle"])):
            plane = {"plane": {"point": [0, 0, below], "normal": [0, 0, 1]}}
            run = self.run_scene(scene(body(tetra_box((2, 2, 2), (1, 1, 1))), steps=1, obstacles=[plane]))
            self.assertEqual([warning["code"] for warning in run["warnings"]], codes)

    def test_a_body_comes_to_rest_on_a_plane(self):
        box = body(tetra_box((2, 2, 2), (1, 1, 1)), translate=[0, 0, 0.02])
        plane = {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5}}
        for self.backend in driver_case.backends():
            with self.subTest(backend=self.backend):
                run = self.run_scene(scene(box, gravity=[0, 0, -9.81], steps=150, obstacles=[plane],
                                           damping={"mass": 1, "stiffness": 0.02}))
                state = run["results"]["objects"][0]
                self.assertGreaterEqual(state["lower"][2], -1e-6)
                self.assertLess(abs(state["mean_velocity"][2]), 0.02)
                self.assertGreaterEqual(run["results"]["most_contacts"], 9)


class Agreement(SoftbodyCase):
    def swinging(self):
        return scene(body(tetra_box((3, 1, 1), (3, 1, 1)), fixed=[{"box": [0, 0, 0, 0, 1, 1]}]),
                     gravity=[0, 0, -9.81], steps=20, solver={"refresh": "sync"})

    def energies(self, *arguments, backend="serial"):
        self.backend = backend
        run = self.run_scene(self.swinging(), *arguments)
        return run["results"]["steps"]["elastic"] + run["results"]["steps"]["kinetic"]

    def test_every_backend_and_way_to_solve_gives_the_same_motion(self):
        expected = self.energies()
        for backend in driver_case.backends():
            with self.subTest(backend=backend):
                for a, b in zip(self.energies(backend=backend), expected):
                    self.close(a, b, 1e-8, scale=max(expected))
        ways = [("--preconditioner", name) for name in ("none", "jacobi", "block-jacobi")]
        ways += [("--apply", name) for name in ("levels", "dissection", "supernodes", "inverse")]
        ways += [("--factor", name) for name in ("host", "device")]
        ways += [("--refresh", "every:3"), ("--refresh", "background"),
                 ("--refresh", "every:100", "--no-warp"), ("--assembly", "triplets"),
                 ("--apply", "inverse", "--factor-storage", "fp16"),
                 ("--apply", "inverse", "--factor-storage", "fp64", "--bands", "2")]
        for way in ways:
            with self.subTest(way=way):
                for a, b in zip(self.energies(*way), expected):
                    self.close(a, b, 1e-6, scale=max(expected))

    def test_sync_is_never_stale_and_a_period_is(self):
        run = self.run_scene(self.swinging())
        self.assertEqual(run["results"]["largest_staleness"], 0)
        self.assertEqual(run["results"]["refreshes"], 20)
        run = self.run_scene(self.swinging(), "--refresh", "every:5")
        self.assertEqual(run["results"]["largest_staleness"], 4)
        self.assertEqual(run["results"]["refreshes"], 4)
        self.assertEqual(run["engine"]["refresh"], "every:5")


PLANE = {"plane": {"point": [0, 0, 0], "normal": [0.1, 0, 1], "friction": 0.4}}
FLOOR = {"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5}}
DAMPING = {"mass": 0.1, "stiffness": 0.01}
WEIGHT = [0, 0, -9.81]


def soft(name, mesh, young, at, poisson=0.4, **more):
    return body(mesh, {"law": "corotational", "young": young, "poisson": poisson}, translate=at,
                **{**more, "name": name})


def ellipsoid(axes, cells):
    return {"ellipsoid": {"semi_axes": list(axes), "cells": cells}}


def liver():
    return scene(soft("liver", ellipsoid((0.1, 0.07, 0.04), 6), 5e3, [0, 0, 0.055], 0.45,
                      rotate={"axis": [0, 1, 0], "degrees": 20}),
                 steps=16, gravity=WEIGHT, damping={"mass": 0.1, "stiffness": 0.02},
                 obstacles=[PLANE], contact={"distance": 0.005})


def pile():
    return scene(soft("left", hexa_box((3, 3, 3), (0.1, 0.1, 0.1)), 8e3, [-0.12, -0.05, 0.002]),
                 soft("right", hexa_box((3, 3, 3), (0.1, 0.1, 0.1)), 8e3, [0.02, -0.05, 0.002]),
                 soft("slab", hexa_box((7, 3, 1), (0.3, 0.08, 0.04)), 8e3, [-0.155, -0.043, 0.105]),
                 soft("ball", ellipsoid((0.055, 0.05, 0.045), 4), 4e3, [0.003, 0.002, 0.2], 0.45),
                 steps=14, gravity=WEIGHT, damping=DAMPING, obstacles=[FLOOR],
                 contact={"between_objects": True, "friction": 0.4, "distance": 0.005})


def tower():
    # Smaller and turned from one to the next: no edge lies exactly on another.
    boxes = [soft(f"box{k}", hexa_box((2, 2, 2), (0.1 - 0.012 * k,) * 3), 2e4,
                  [0.007 * k, 0.004 * k, 0.001 + (0.1015 - 0.006 * (k - 1)) * k],
                  rotate={"axis": [0, 0, 1], "degrees": 3 * k}) for k in range(4)]
    return scene(*boxes, steps=14, gravity=WEIGHT, damping=DAMPING,
                 obstacles=[FLOOR],
                 contact={"between_objects": True, "friction": 0.4, "distance": 0.005})


def ball_on_cloth():
    corners = [{"box": [x, y, 0, x, y, 0]} for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    return scene(body(cloth((12, 12)), {"young": 1e6, "poisson": 0.3, "thickness": 0.001},
                      name="cloth", density=300, translate=[-0.5, -0.5, 0], fixed=corners),
                 soft("ball", ellipsoid((0.1, 0.1, 0.1), 4), 5e4, [0.01, 0.02, 0.105],
                      velocity=[0, 0, -3]),
                 time_step=0.005, steps=12, gravity=WEIGHT,
                 damping={"mass": 0.5, "stiffness": 0.004},
                 contact={"between_objects": True, "friction": 0.3})


def cloth_on_sphere():
    return scene(body(cloth((10, 10)), {"young": 1e5, "poisson": 0.3, "thickness": 0.001},
                      density=300, translate=[-0.51, -0.48, 0.31]),
                 steps=25, gravity=WEIGHT, damping={"mass": 0.5, "stiffness": 0.004},
                 obstacles=[{"sphere": {"centre": [0, 0, 0], "radius": 0.3, "friction": 0.4}}])


def flush_tower():
    # All edges lie exactly on others.
    boxes = [soft(f"box{k}", hexa_box((3, 3, 3), (0.1, 0.1, 0.1)), 2e4, [0, 0, 0.001 + 0.1015 * k])
             for k in range(3)]
    return scene(*boxes, steps=30, gravity=WEIGHT, damping=DAMPING, obstacles=[FLOOR],
                 contact={"between_objects": True, "friction": 0.4, "distance": 0.005})


def column():
    # Symmetric, and too slender to stand: it falls to the side that rounding chooses.
    return scene(body(hexa_box((2, 2, 16), (0.05, 0.05, 0.8)), {"young": 3e4, "poisson": 0.3},
                      translate=[0, 0, 0.02], fixed=[{"box": [0, 0, 0.02, 0.05, 0.05, 0.02]}]),
                 steps=300, gravity=WEIGHT, damping=DAMPING, obstacles=[FLOOR])


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
                for refresh in ("every:4", "every:16", "background"):
                    with self.subTest(scene=name, backend=self.backend, refresh=refresh):
                        run = self.run_scene(make(), "--refresh", refresh)
                        self.check_conditions(run)
                        for a, b in zip(self.places(run), self.places(expected)):
                            self.assertLess(abs(a - b), 1e-8)

    def test_what_holds_beyond_an_instability(self):
        """The trajectories of two ways to refresh are different ones there; each state meets the
        tolerances, and no step gains energy to speak of."""
        for make in (flush_tower, column):
            for refresh in ("sync", "every:4", "every:16", "background"):
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
                             for refresh in ("sync", "every:4", "every:16", "background"))
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
        ball = body({"ellipsoid": {"semi_axes": [radius] * 3, "cells": 8}},
                    {"young": 1e8, "poisson": 0.3}, translate=[0, 0, radius])
        run = self.run_scene(scene(
            ball, steps=40, gravity=[g * math.sin(angle), 0, -g * math.cos(angle)],
            obstacles=[{"plane": {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": 0.5}}]))
        # 5/7 g sin(angle) t of a sphere, less what backward Euler takes in steps of 0.01 s
        rolls = run["results"]["objects"][0]["mean_velocity"][0]
        self.close(rolls, 5 / 7 * g * math.sin(angle) * 0.4, 0.15)


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


class Resume(SoftbodyCase):
    def document(self):
        return scene(body(tetra_box((2, 1, 1)), LAWS[3], fixed=[{"box": [0, 0, 0, 0, 1, 1]}]),
                     gravity=[0, 0, -9.81], steps=8, damping={"mass": 0.1, "stiffness": 0.01},
                     solver={"refresh": "sync"})

    def test_a_resumed_run_equals_the_one_without_a_stop(self):
        whole = self.run_scene(self.document(), "--history", "whole.csv")
        self.run_scene(self.document(), "--steps", "5", "--checkpoint", "c.h5", "--history",
                       "first.csv")
        resumed = self.run_scene(self.document(), "--resume", "c.h5", "--history", "second.csv")
        self.assertEqual(resumed["results"]["first_step"], 5)
        self.assertEqual(resumed["results"]["steps_taken"], 3)
        self.assertEqual(resumed["results"]["objects"], whole["results"]["objects"])
        first, second = self.rows("first.csv"), self.rows("second.csv")
        self.assertEqual(first, self.rows("whole.csv")[:6])
        self.assertEqual(second[1:], self.rows("whole.csv")[6:])
        self.assertEqual([row["step"] for row in second], ["5", "6", "7", "8"])
        self.assertEqual(second[0]["elastic"], first[-1]["elastic"])
        self.assertIn("c.h5", [i["path"] for i in resumed["provenance"]["inputs"]])

    def test_a_resumed_run_in_contact_has_the_same_bits(self):
        # With every:7 the run stops between two factors, with cloth that has two sides.
        for make in (liver, pile, ball_on_cloth):
            for refresh in ("sync", "every:7"):
                with self.subTest(scene=make.__name__, refresh=refresh):
                    document = make()
                    half = document["steps"] - 5
                    whole = self.run_scene(document, "--refresh", refresh)
                    first = self.run_scene(document, "--refresh", refresh, "--steps", half,
                                           "--checkpoint", "c.h5")
                    rest = self.run_scene(document, "--refresh", refresh, "--resume", "c.h5")
                    self.assertGreater(first["results"]["steps"]["contacts"][-1], 0)
                    self.assertNotEqual(first["results"]["state_hash"],
                                        whole["results"]["state_hash"])
                    self.assertEqual(rest["results"]["state_hash"], whole["results"]["state_hash"])
                    self.assertEqual(rest["results"]["objects"], whole["results"]["objects"])

    def test_checkpoints_while_running_are_replaced(self):
        self.run_scene(self.document(), "--checkpoint", "c.h5", "--checkpoint-every", "3")
        self.write_scene(self.document())
        self.fails(USAGE, "step 8 of 8 is done already", "softbody", "s.json", "--resume", "c.h5",
                   "-q")
        self.assertEqual(self.files(), ["c.h5", "s.json"])

    def test_a_series_goes_on(self):
        self.run_scene(self.document(), "--steps", "4", "--checkpoint", "c.h5", "--hdf", "f.hdf",
                       "--vtk-every", "2")
        self.run_scene(self.document(), "--resume", "c.h5", "--hdf", "f.hdf", "--vtk-every", "2")
        series = json.loads(self.read("f.hdf.series"))
        self.assertEqual([f["name"] for f in series["files"]],
                         [f"f_{step:06}.hdf" for step in (0, 2, 4, 6, 8)])

    def test_other_scenes_and_files_are_refused(self):
        self.run_scene(self.document(), "--steps", "2", "--checkpoint", "c.h5")

        def refused(message, document, checkpoint="c.h5"):
            self.write_scene(document)
            self.fails(BAD_FILE, message, "softbody", "s.json", "--resume", checkpoint, "-q")

        other = self.document()
        other["objects"][0]["mesh"] = tetra_box((1, 1, 1))
        refused("checkpoint of other meshes", other)
        other = self.document()
        other["gravity"] = [0, 0, -1]
        refused("checkpoint of another scene", other)
        for damping in ({"mass": 5, "stiffness": 0.01}, {"mass": 0.1, "stiffness": 0.1}, {}):
            refused("gravity or damping are not", {**self.document(), "damping": damping})
        other = self.document()
        other["objects"][0]["velocity"] = [1, 0, 0]
        refused("velocities at the start", other)
        self.write("text.h5", "not HDF5")
        refused("text.h5", self.document(), "text.h5")
        refused("nothere.h5", self.document(), "nothere.h5")

    def test_a_run_that_goes_on_otherwise_is_doubted(self):
        self.run_scene(self.document(), "--steps", "2", "--checkpoint", "c.h5")
        for arguments, text in (((), ""), (("--refresh", "every:2", "--tolerance", "1e-9"), ""),
                                (("--time-step", "0.002"), "c.h5: its steps were taken with --time-step 0.01, and"),
                                (("--newton", "3"), "--newton 1, and those from here on are with 3"),
                                (("--tolerance", "1e-6"), "--tolerance 1e-09, and those from here on are with 1e-06")):
            run = self.run_scene(self.document(), "--resume", "c.h5", "--steps", "3", *arguments)
            found = [w for w in run["warnings"] if w["code"] == "resumed-otherwise"]
            self.assertEqual(len(found), bool(text))
            self.assertIn(text, " ".join(w["text"] for w in found))

    def stop(self, *options):
        """Stops a run after some steps; what it said after the first."""
        self.write_scene(self.document())
        message = self.interrupt(
            lambda line: line.rstrip().endswith("ms"), "softbody", "s.json", "--backend",
            self.backend, "--steps", "100000000", "--checkpoint", "c.h5", "--history", "h.csv",
            "--json", "run.json", *options)
        self.assertEqual(json.loads(self.read("run.json"))["status"], "interrupted")
        return message

    def test_a_signal_writes_the_checkpoint(self):
        self.stop()
        run = json.loads(self.read("run.json"))
        taken = run["results"]["steps_taken"]
        self.assertEqual(len(self.rows("h.csv")), taken + 1)
        self.assertLessEqual(len(run["results"]["steps"]["step"]), 2000)
        self.fails(USAGE, f"step {taken} of {taken} is done", "softbody", "s.json", "--resume",
                   "c.h5", "-q", "--steps", taken)

    def test_a_signal_leaves_all_frames_so_far(self):
        self.stop("--hdf", "f.hdf", "--vtk-every", "3")
        run = json.loads(self.read("run.json"))
        taken = run["results"]["steps_taken"]
        steps = [*range(0, taken, 3), taken]
        names = [f"f_{step:06}.hdf" for step in steps]
        series = json.loads(self.read("f.hdf.series"))
        self.assertEqual([f["name"] for f in series["files"]], names)
        self.assertEqual([name for name in self.files() if name.endswith(".hdf")], sorted(names))
        self.assertEqual(run["results"]["frames"], len(names))
        certified = {file["file"]: file["bytes"] for file in run["certificate"]["files"]}
        for name in names:
            self.assertEqual(certified[name], os.path.getsize(self.path(name)))

    def test_a_stopped_run_says_so_where_steps_did_not_converge_either(self):
        message = self.stop("--preconditioner", "jacobi", "--max-iterations", "1")
        self.assertIn("steps not converged: 1, 2, 3, 4, 5, ...", message)


class Results(SoftbodyCase):
    def test_files_of_the_output_directory(self):
        self.write_scene(scene(body(), body(cloth(), {**STIFF, "thickness": 0.1}, name="sheet",
                                            translate=[0, 0, 3]), steps=4))
        process = self.ossatura("softbody", "s.json", "-o", "out", "--vtk-every", "3")
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["s.csv", "s.hdf.series", "s.summary.json", "s_000000.hdf", "s_000003.hdf",
                          "s_000004.hdf"])
        series = json.loads(self.read("out/s.hdf.series"))
        self.assertEqual([f["name"] for f in series["files"]],
                         ["s_000000.hdf", "s_000003.hdf", "s_000004.hdf"])
        self.close(series["files"][1]["time"], 0.03)
        run = json.loads(self.read("out/s.summary.json"))
        self.assertEqual(run["schema"], "ossatura/softbody/1")
        self.assertEqual(run["status"], "converged")
        for part in ("problem", "engine", "parameters", "iterations", "residual", "certificate",
                     "timings", "memory", "provenance"):
            self.assertIn(part, run)
        self.assertEqual(run["provenance"]["units"]["force"], "N")
        self.assertEqual(run["results"]["frames"], 3)
        self.assertEqual(run["problem"]["nodes"], 12 + 9)
        self.assertEqual(run["problem"]["elements"], 2 + 8)
        self.assertEqual([o["shape"] for o in run["problem"]["objects"]], ["hexa", "triangle"])
        for part in ("Scene", "sheet", "Milliseconds of a step", "Energy", "out/s.hdf.series"):
            self.assertIn(part, process.stdout)
        self.assertIn("4 steps in", process.stderr)

    def test_the_history_and_the_summary_say_the_same(self):
        run = self.run_scene(scene(body(fixed=[{"box": [0, 0, 0, 0, 1, 1]}]),
                                   gravity=[0, 0, -9.81]), "--history", "h.csv", "--timings")
        rows, steps = self.rows("h.csv"), run["results"]["steps"]
        self.assertEqual(len(rows), 11)
        self.assertEqual([int(row["step"]) for row in rows[1:]], steps["step"])
        for name in ("time", "kinetic", "elastic", "potential"):
            self.assertEqual([float(row[name]) for row in rows[1:]], steps[name])
        for name in ("iterations", "staleness", "contacts", "newton_iterations"):
            self.assertEqual([int(row[name]) for row in rows[1:]], steps[name])
        self.assertEqual(sum(steps["iterations"]), run["iterations"])
        self.close(max(steps["residual"]), run["residual"]["true"], 1e-12)
        self.assertLessEqual(run["residual"]["true"], 1e-9)
        self.assertEqual(rows[0]["elastic"], "0")
        for phase, spread in run["results"]["step_seconds"].items():
            self.close(spread["mean"], math.fsum(steps[phase + "_seconds"]) / 10, scale=1e-9)
            self.close(spread["maximum"], max(steps[phase + "_seconds"]), scale=1e-9)
        self.assertGreater(run["results"]["step_seconds"]["total"]["mean"], 0)
        self.assertTrue(run["results"]["phases_fenced"])
        self.assertEqual(self.files(), ["h.csv", "s.json"])

    def test_the_command_line_wins_over_the_scene(self):
        document = scene(solver={"refresh": "sync", "tolerance": 1e-6, "warp": False,
                                 "apply": "levels", "preconditioner": "ldlt"})
        run = self.run_scene(document)
        self.assertEqual((run["engine"]["refresh"], run["engine"]["tolerance"],
                          run["engine"]["warp"], run["engine"]["apply"]),
                         ("sync", 1e-6, False, "levels"))
        run = self.run_scene(document, "--refresh", "every:2", "--tolerance", "1e-10", "--warp",
                             "--apply", "supernodes", "--steps", "3", "--time-step", "0.5")
        self.assertEqual((run["engine"]["refresh"], run["engine"]["tolerance"],
                          run["engine"]["warp"], run["engine"]["apply"]),
                         ("every:2", 1e-10, True, "supernodes"))
        self.assertEqual((run["problem"]["steps"], run["problem"]["time_step"]), (3, 0.5))
        self.close(run["results"]["last_time"], 1.5)

    def test_meshes_from_files(self):
        os.mkdir(self.path("meshes"))
        self.write("meshes/one.vtk", tetrahedron())
        self.write("big.vtk", tetrahedron(points="0 0 0\n2 0 0\n0 2 0\n0 0 2"))
        document = scene(body({"file": "meshes/one.vtk", "unit": 0.5}))
        run = self.run_scene(document)
        self.close(run["problem"]["objects"][0]["mass"], 1000 / 6 / 8)
        self.assertEqual([os.path.basename(i["path"]) for i in run["provenance"]["inputs"]],
                         ["s.json", "one.vtk"])
        run = self.run_scene(document, "--mesh", "body=big.vtk")
        self.close(run["problem"]["objects"][0]["mass"], 1000 / 6)
        self.write("turned.vtk", tetrahedron(cell="0 2 1 3"))
        run = self.run_scene(scene(body({"file": "turned.vtk"})))
        self.close(run["problem"]["objects"][0]["mass"], 1000 / 6)  # inside out in the file

    def test_points_without_element_are_reported_and_left_out(self):
        self.write("loose.vtk", tetrahedron(points="5 5 5\n0 0 0\n1 0 0\n0 1 0\n0 0 1",
                                            cell="1 2 3 4"))
        self.write_scene(scene(body({"file": "loose.vtk"})))
        process = self.ossatura("softbody", "s.json", "--json", "-", "-q")
        self.assertIn("loose.vtk: 1 points belong to no element and are left out", process.stderr)
        run = json.loads(process.stdout)
        self.assertEqual(run["problem"]["objects"][0]["nodes"], 4)
        self.assertEqual(run["problem"]["objects"][0]["unused_points_left_out"], 1)
        self.write_scene(scene(body({"file": "loose.vtk"}, fixed=[{"nodes": [1]}])))
        self.fails(BAD_FILE, "choose by boxes", "softbody", "s.json", "-q")

    def test_dry_run_predicts_and_writes_nothing(self):
        box = body(tetra_box((4, 4, 2), (1, 1, 0.5)))
        self.write_scene(scene(box))
        before = self.files()
        plan = self.summary("softbody", "s.json", "-q", "--dry-run", "--hdf", "f", "--history", "h")
        self.assertEqual(self.files(), before)
        self.assertEqual(plan["status"], "dry run")
        self.assertEqual(plan["problem"]["dofs"], 3 * 75)
        self.assertGreater(plan["results"]["predicted_host_bytes"], 0)
        run = self.run_scene(scene(box))
        self.assertEqual(plan["results"]["matrix_blocks"], run["engine"]["matrix_blocks"])
        self.assertEqual(plan["results"]["factor_entries"], run["engine"]["factor_entries"])
        ratio = run["memory"]["kokkos_peak_bytes"] / plan["results"]["predicted_device_bytes"]
        self.assertGreater(ratio, 0.4)
        self.assertLess(ratio, 1.6)


class Scenes(SoftbodyCase):
    """Those that come with ossatura."""

    def test_they_can_be_read(self):
        here = os.path.dirname(os.path.abspath(__file__))
        folder = os.path.join(here, "..", "..", "examples", "softbody")
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
        self.assertIn("cloth.json", names)
        for name in names:
            with self.subTest(scene=name):
                path = os.path.join(folder, name)
                if name == "raptor.json":  # whose mesh is not ours to give
                    self.write("one.vtk", tetrahedron())
                    self.fails(BAD_FILE, "is inside the box", "softbody", path, "--dry-run", "-q",
                               "--mesh", "raptor=one.vtk")
                    continue
                plan = self.summary("softbody", path, "--dry-run", "-q")
                self.assertGreater(plan["results"]["factor_entries"], plan["problem"]["dofs"])

    def test_the_pile_ends_without_a_doubt(self):
        here = os.path.dirname(os.path.abspath(__file__))
        path = os.path.join(here, "..", "..", "examples", "softbody", "pile.json")
        run = self.summary("softbody", path, "-q", "--backend", "serial", "--steps", "36")  # of 60: all has met
        self.assertEqual(run["warnings"], [])
        self.assertGreater(run["results"]["most_contacts"], 100)
        self.assertLess(run["results"]["deepest_crossing"], 2e-3)  # an eighth of an element


class Memory(SoftbodyCase):
    def test_a_dry_run_predicts_the_process(self):
        here = os.path.dirname(os.path.abspath(__file__))

        def example(name):
            with open(os.path.join(here, "..", "..", "examples", "softbody", name)) as file:
                return json.load(file)

        lying = example("liver-on-plane.json")  # without the fall
        lying["objects"][0]["translate"] = [0, 0, 0.052]
        lying["objects"][0]["mesh"]["ellipsoid"]["cells"] = 9
        for name, document, steps in (("cube", example("cube.json"), 1),
                                      ("cloth", example("cloth.json"), 2),
                                      ("pile", example("pile.json"), 14), ("liver", lying, 14)):
            self.write_scene(document)
            arguments = ("softbody", "s.json", "-q", "--backend", "serial", "--steps", steps)
            expected = self.summary(*arguments, "--dry-run")["results"]["predicted_host_bytes"]
            taken = self.summary(*arguments)["memory"]["host_peak_bytes"]
            with self.subTest(scene=name, expected=expected, taken=taken):
                self.assertLess(abs(expected / taken - 1), 0.25)


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
        run = json.loads(self.read("out/s.summary.json"))
        self.assertEqual(run["status"], "broken down")
        self.assert_finite(run["results"])
        taken = run["results"]["steps_taken"]
        self.assertLess(taken, 10)
        self.assertEqual(len(self.rows("out/s.csv")), taken + 1)
        series = json.loads(self.read("out/s.hdf.series"))
        self.assertEqual(series["files"][-1]["name"], f"s_{taken:06}.hdf")

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
        # Without contact between objects they are not meant to feel each other.
        self.assertEqual(self.codes(self.run_scene(scene(*bars, steps=20))), [])

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
