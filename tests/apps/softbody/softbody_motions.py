# SPDX-License-Identifier: Apache-2.0
"""`ossatura softbody` end to end: motions with closed answers, the same for every backend and way to solve."""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.rounded_box import rounded_box
from support.scenes import STIFF, LAWS, hexa_box, tetra_box, cloth, body, scene, SoftbodyCase


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
        for below, codes in ((1e-16, []), (0.01, ["starts-inside-obstacle", "contact-energy"])):
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


if __name__ == "__main__":
    driver_case.main()
