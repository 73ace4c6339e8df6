# SPDX-License-Identifier: Apache-2.0
"""What `ossatura topopt` refuses, and runs that do not end well. Files that are damaged are in ../../faults."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.box_files import abaqus, box_points, vtk
from support.designs import TopoptCase, box, problem
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, UNAVAILABLE, USAGE


class Failures(TopoptCase):
    """Runs that do not end well say so, keep what they have, and never end with 0."""

    def test_a_solve_that_does_not_converge(self):
        process = self.ossatura("topopt", "cantilever", "--cells", "8x4x4", "--preconditioner",
                              "jacobi", "--max-iterations", "3", "-o", "out", "-q", "--backend",
                              self.backend, code=NOT_CONVERGED)
        self.assertIn("broke down in step 1", process.stderr)
        self.assertRegex(process.stderr, r"more iterations, a larger tolerance or least modulus, double precision, or is a part held "
                                         r"by nothing\?; results are of the design before it\n")
        self.assertIn("BREAKDOWN", process.stdout)
        run = json.loads(self.read("out/cantilever.summary.json"))
        self.assertEqual(run["status"], "broken down")
        self.assertIsNone(run["results"]["objective"])
        self.assertEqual(run["results"]["steps_taken"], 0)
        self.assertIn("load case 1", run["results"]["breakdown"])
        self.assertEqual(self.rows("out/cantilever.csv"), [])
        self.assertIn("cantilever.hdf", os.listdir(self.path("out")))

    def test_a_design_that_cannot_be_solved_any_more(self):
        # Void of next to no stiffness, so that even the true residual of a solve in double
        # precision stays above the tolerance as soon as the design has holes.
        arguments = ("--cells", "16x8x8", "--min-modulus", "1e-30", "--steps", "40", "--penalty",
                     "4.5", "--tolerance", "1e-13", "--max-iterations", "40", "--preconditioner",
                     "jacobi")
        run = self.optimise("cantilever", *arguments, code=NOT_CONVERGED)
        self.assertEqual(run["status"], "broken down")
        self.assertIsNone(run["results"]["objective"])

    def test_refusals(self):
        def refused(message, document):
            self.write("p.json", json.dumps(document))
            before = self.files()
            for more in ((), ("--dry-run",)):
                self.fails(BAD_FILE, message, "topopt", "p.json", "--json", "r.json", "--hdf", "f",
                           "--history", "h.csv", "-q", "--backend", self.backend, *more)
            self.assertEqual(self.files(), before)

        # All of them are in topopt_problem.cpp.
        refused("unknown key \"volume\"", {**problem(), "volume": 0.3})
        refused("there are no supports", problem(supports=None))
        refused("there are no loads", problem(cases=None))
        refused("can move freely", problem(supports=[{"box": [0, 0, 0, 0, 0, 3]}]))
        refused("held in the direction of the force", problem(
            cases=[{"name": "a", "loads": [{"box": [0, 0, 0, 0, 3, 3], "total_force": [1, 0, 0]}]}]))
        refused("all of its elements are void", problem(
            passive=[{"box": [5, 0, 0, 6, 3, 3], "role": "void"}]))
        far = {"point": [1000, 1, 1], "force": [0, 0, -1]}
        refused("cases[0].loads[0].remote.point: is 994 m away from the body, which is 7.348 m across", problem(
            cases=[{"name": "tip", "loads": [{"box": [6, 0, 0, 6, 3, 3], "remote": far}]}]))
        refused("volume_fraction: 1.5", problem(volume_fraction=1.5))
        refused("is not one of", problem(solver={"operator": "fast"}))
        self.write("text.json", '{"steps": 3,\n "mesh" 1}')
        self.fails(BAD_FILE, "text.json: not JSON: line 2", "topopt", "text.json")

    def test_void_that_cuts_a_load_off_its_supports(self):
        """Beside what holds the body, and between it and the load: only void would carry it there."""
        between, around = ([{"box": [x, 0, 0, x + 2, 3, 3], "role": "void"}] for x in (2, 0))
        for grid in ("mesh", "voxels"):
            for passive, message in (
                    (between, "void elements (\"passive\") cut off what the load case 'tip' pushes at node "),
                    (around, "supports[0]: holds nothing, because all elements of its nodes are void")):
                self.write("p.json", json.dumps(problem(passive=passive, solver={"grid": grid})))
                self.fails(BAD_FILE, "p.json: " + message, "topopt", "p.json", "-q", "--backend", self.backend)
            edge = [{"box": [2, 0, 0, 4, 3, 2], "role": "void"}]  # a layer is left
            self.solve(problem(steps=1, passive=edge, solver={"grid": grid}))
        self.solve(problem(steps=1, passive=between, rigid_bodies=[{"box": [2, 0, 0, 4, 3, 3]}]))

    def test_void_that_leaves_a_part_free_to_move(self):
        """A mirror, rollers or a point hold the part behind the void in some ways, and not in all."""
        def refused(message, **more):
            self.write("p.json", json.dumps(problem(**{"passive": between, **more})))
            return self.fails(BAD_FILE, 'p.json: void elements ("passive") cut off ' + message, "topopt", "p.json", "-q",
                              "--backend", self.backend).stderr

        between = [{"box": [2, 0, 0, 4, 3, 3], "role": "void"}]
        clamp, end = {"box": [0, 0, 0, 0, 3, 3]}, [6, 0, 0, 6, 3, 3]
        line, corner = [6, 0, 0, 6, 3, 0], [6, 0, 3, 6, 0, 3]
        for grid in ("mesh", "voxels"):
            solver = {"grid": grid}
            for more, motions in (
                    ({}, "along x, along y, along z, about x, about y, about z"),
                    ({"mirrors": [{"axis": "y", "place": 0}]}, "along x, along z, about y"),
                    ({"supports": [clamp, {"box": [0, 0, 0, 6, 3, 0], "components": "y"}]}, "along x, along z, about x, about y"),
                    ({"supports": [clamp, {"box": corner}]}, "about x, about y, about z"),
                    ({"supports": [clamp, {"box": [6, 0, 3, 6, 3, 3]}]}, "about y")):
                with self.subTest(grid=grid, motions=motions):
                    self.assertIn(f"nothing holds it there ({motions}). Leave them free",
                                  refused("what the load case 'tip' pushes at node", solver=solver, **more))
            self.solve(problem(steps=1, passive=between, solver=solver, supports=[clamp, {"box": end, "components": "xy"}, {
                "box": corner}]))
            near = [{"name": "tip", "loads": [{"box": [1, 0, 3, 1, 3, 3], "total_force": [0, 0, -1]}]}]
            refused("what a constraint limits at node", cases=near, solver=solver, constraints=[
                {"kind": "displacement", "box": end, "direction": [0, 0, -1], "at_most": 1}])
            self.fails(BAD_FILE, "cut off element 4 from all supports, where it would float with a natural frequency",
                       "topopt", self.write("f.json", json.dumps(problem(
                           passive=between, cases=near, solver=solver,
                           material={"young": 1, "poisson": 0.3, "mass_density": 1}))), "--frequencies", "1", "-q")
        refused("what the mechanism is to move at node", cases=near, objective={"mechanism": {
            "output": [{"box": line, "direction": [0, 0, 1]}]}})

    def test_displacements_that_strain_nothing(self):
        """Of a part that void cuts off, in some ways or in all, and of a body whose supports all move alike."""
        clamp, end, at_void = [0, 0, 0, 0, 3, 3], [6, 0, 0, 6, 3, 3], [4, 0, 0, 4, 3, 3]
        between = [{"box": [2, 0, 0, 4, 3, 3], "role": "void"}]
        push = {"box": [1, 0, 3, 1, 3, 3], "total_force": [0, 0, -1]}

        def moved(*displacements, loads=(push,), **more):
            return problem(**{"steps": 1, "passive": between, "cases": [{"name": "tip", "loads": loads, "displacements": [
                {"box": place, "displacement": by} for place, by in displacements]}], **more})

        def refused(message, *displacements, **more):
            self.fails(BAD_FILE, "p.json: " + message, "topopt", self.write("p.json", json.dumps(moved(*displacements, **more))),
                       "-q")

        whole = "load case 'tip': the displacements move the body at node 0 as a rigid body, which strains nothing: hold "\
            "these nodes in place of moving them, or move them against others"
        cut = "void elements (\"passive\") cut off what the load case 'tip' moves at node "
        turned = [[6, y, z, 6, y, z] for y in range(4) for z in range(4)]
        turned = [(place, [-0.01 * place[2], 0, 0.06]) for place in turned]
        for grid in ("mesh", "voxels"):
            with self.subTest(grid=grid):
                solver = {"grid": grid}
                refused(cut + "6: by the elements that may have material nothing holds it there (along x, along y, about y, "
                        "about z)", (end, [None, None, -1]),
                        solver=solver)
                refused(cut + "6: it moves as a rigid body, which strains nothing. Leave them free", (end, [0, 0, -1]), solver=solver)
                refused(cut + "6: it moves as a rigid body", *turned, solver=solver)
                settled = (clamp, [0, 0, -1]), (end, [0, 0, -1])
                refused(whole, *settled, loads=[], supports=[], passive=None, solver=solver)
                self.solve(moved(*settled, supports=[], passive=None, solver=solver))  # supports that give way under a load
                # Between two places, which would be closer with another number.
                for displacements in (((end, [0, 0, -1]), (at_void, [0, 0, -1 + 1e-3])), ((end, [0, 0, -1]), ([4, 0, 0, 4, 0, 0], [1e-3, 0, 0]))):
                    run = self.solve(moved(*displacements, solver=solver))
                    self.assertGreater(abs(run["results"]["cases"][0]["imposed_work"]), 0)
                self.solve(moved((end, [0, 0, -1]), passive=None, solver=solver))

    def test_blocks_that_touch_along_an_edge(self):
        """A hinge, which void alone would hold: loads that turn it are refused, others are not."""
        def blocks(void, low, force, grid, **more):
            high = low[2] + 2
            return problem(**{"mesh": box((4, 4, high), (4, 4, high)), "supports": [{"box": [0, 0, 0, 0, 2, 2]}], "steps": 1,
                              "passive": [{"box": one, "role": "void"} for one in void], "solver": {"grid": grid}, "cases": [
                                  {"name": "tip", "loads": [{"box": [4, *low[1:], 4, 4, high], "total_force": force}]}], **more})

        def refused(document, node):
            self.fails(BAD_FILE, "p.json: what the load case 'tip' pushes can turn about node " + str(node) + ", where elements that "
                       "may have material touch others along an edge or in a corner alone, which is a hinge: join them by faces, "
                       "or hold more nodes", "topopt", self.write("p.json", json.dumps(document)), "-q")

        edge = [[2, 0, 0, 4, 2, 2], [0, 2, 0, 2, 4, 2]], (2, 2, 0)
        corner = [[2, 0, 0, 4, 2, 2], [0, 2, 0, 4, 4, 2], [0, 0, 2, 2, 4, 4], [2, 0, 2, 4, 2, 4]], (2, 2, 2)
        for grid in ("mesh", "voxels"):
            with self.subTest(grid=grid):
                refused(blocks(*edge, [1, -1, 0], grid), 12)
                refused(blocks(*corner, [0, 0, -1], grid), 62)
                # Along the axis of the hinge, and towards it, the edge carries; a support on that side, a rigid body across the
                # hinge, and a part that closes the ring hold it.
                self.solve(blocks(*edge, [0, 0, -1], grid), code=(DONE, NOT_CONVERGED))  # of next to no stiffness about it
                self.solve(blocks(*edge, [1, -1, 0], grid, supports=[{"box": [0, 0, 0, 0, 2, 2]}, {"box": [4, 4, 0, 4, 4, 2]}]))
                self.solve(blocks(edge[0][:1], edge[1], [1, -1, 0], grid))
                speck = problem(steps=1, solver={"grid": grid}, passive=[{"box": one, "role": "void"} for one in (
                    [5, 0, 1, 6, 3, 3], [5, 1, 0, 6, 3, 3], [4, 0, 0, 5, 1, 2])], cases=[{"name": "tip", "loads": [
                        {"box": [4, 0, 3, 4, 3, 3], "total_force": [0, 0, -1]}]}])
                self.solve(speck)
        self.solve(blocks(*edge, [1, -1, 0], "mesh", rigid_bodies=[{"box": [1, 1, 0, 3, 3, 2]}]))

    def test_supports_in_void_hold_nothing(self):
        void = [{"box": [4, 0, 0, 6, 3, 1], "role": "void"}]
        for box_of, holds in (([5, 0, 0, 6, 3, 0], False), ([4, 0, 0, 6, 3, 0], True)):
            self.write("p.json", json.dumps(problem(steps=1, passive=void, supports=[
                {"box": [0, 0, 0, 0, 3, 3]}, {"box": box_of}], cases=[{"name": "tip", "loads": [
                    {"box": [6, 0, 3, 6, 3, 3], "total_force": [0, 0, -1]}]}])))
            if holds:
                self.optimise("p.json")
            else:
                self.fails(BAD_FILE, "p.json: supports[1]: holds nothing, because all elements of its nodes are void",
                           "topopt", "p.json")

    def test_ports_of_mechanisms_that_do_nothing(self):
        def refused(message, ports, **more):
            self.write("p.json", json.dumps(problem(objective={"mechanism": {**usual, **ports}}, **more)))
            self.fails(BAD_FILE, "p.json: objective.mechanism." + message, "topopt", "p.json", "-q")

        end = [6, 0, 3, 6, 3, 3]
        usual = {"output": [{"box": end, "direction": [0, 0, 1]}], "springs": [{"box": end, "stiffness": [0, 0, 1]}]}
        void = [{"box": [5, 0, 2, 6, 3, 3], "role": "void"}]
        refused("springs[0]: the springs do nothing, because all of their nodes are held",
                {"springs": [{"box": [0, 0, 0, 0, 3, 3], "stiffness": [1, 0, 0]}]})
        refused("output[0]: node 90 is of the output, but all of its elements are void", {}, passive=void)
        refused("springs[0]: node 90 has a spring, but all of its elements are void",
                {"output": [{"box": [6, 0, 0, 6, 3, 0], "direction": [0, 0, 1]}]}, passive=void)

    def test_elements_that_are_folded_at_a_corner(self):
        # Positive Jacobians at all Gauss points, a negative one at a corner; none there.
        points = box_points((3, 2, 2))
        for place, name in (((1.5, 0.5, 0.5), "part"), ((2, 1, 1), "upon")):
            moved = [place if point == (1, 1, 1) else point for point in points]
            text = vtk((3, 2, 2))
            lines = text.split("\n")
            for n, point in enumerate(moved):
                lines[5 + n] = " ".join(map(str, point))
            self.write(f"{name}.vtk", "\n".join(lines))
            document = problem(mesh={"file": f"{name}.vtk"}, cases=[{"name": "tip", "loads": [
                {"box": [3, 0, 0, 3, 2, 2], "total_force": [0, 0, -1]}]}])
            with self.subTest(name=name):
                process = self.fails(BAD_FILE, f"{name}.vtk: ", "topopt", self.write(
                    "p.json", json.dumps(document)), "-q")
                self.assertIn("in part inside out", process.stderr)
                self.assertRegex(process.stderr, "cell [0-9]+")

    def test_numbers_that_cannot_be_right(self):
        for message, document in (
                ("the body is 6e-60 m long", problem(mesh=box(size=(6e-60, 3e-60, 3e-60)))),
                ("the body is 1e+308 m long", problem(mesh=box(size=(6, 3, 1e308)))),
                ("a side in m of 1e-310", problem(mesh=box(size=(6, 3, 1e-310)))),
                ("forces of 1e-200", problem(cases=[{"name": "tip", "loads": [
                    {"box": [6, 0, 0, 6, 3, 3], "force": [0, 0, -1e-200]}]}])),
                ("a modulus of 1e-200", problem(material={"young": 1e-200, "poisson": 0.3}))):
            with self.subTest(message=message):
                self.fails(BAD_FILE, message, "topopt",
                           self.write("p.json", json.dumps(document)), "-q")
        for poisson, codes in ((0.48, []), (0.495, ["locking"])):
            run = self.solve(problem(steps=1, material={"young": 1, "poisson": poisson}))
            self.assertEqual([w["code"] for w in run["warnings"] if w["code"] == "locking"], codes)

    def test_files_that_say_too_little_or_too_much(self):
        def refused(name, text, message, *arguments):
            self.fails(BAD_FILE, message, "topopt", self.write(name, text), "-q", *arguments)

        refused("deck.inp", abaqus(material=False), "the material is missing")
        refused("deck.inp", abaqus(load=False), "there are no loads")
        refused("deck.inp", abaqus(boundary=False), "there are no supports")
        refused("deck.inp", abaqus() + "*CONTACT PAIR\n1, 2\n", "CONTACT PAIR")
        refused("deck.inp", abaqus().replace("C3D8", "C3D4"), "C3D4")
        refused("box.vtk", vtk(), "there are no loads", "--young", "1")
        refused("turned.vtk", vtk(turned=7), "turned.vtk", "--young", "1")
        refused("cut.vtk", vtk()[:-40], "cut.vtk", "--young", "1")
        cells = vtk().split("CELL_TYPES ")[1].split()[0]
        refused("copies.vtk", vtk() + f"CELL_DATA {cells}\nSCALARS vtkGhostType unsigned_char 1\nLOOKUP_TABLE default\n"
                + "1\n" * int(cells), "cell 0 is a copy of one of another piece (vtkGhostType 1)", "--young", "1")
        self.fails(BAD_FILE, "nothere.inp", "topopt", "nothere.inp")

    def test_a_filter_that_reaches_nothing_is_refused(self):
        for more in ((), ("--filter", "sensitivity"), ("--filter", "helmholtz")):
            with self.subTest(more=more):
                process = self.fails(USAGE, "radius of 0.1 m", "topopt", "cantilever", "--cells",
                                     "20x10x10", "--radius", "0.1", "-q", *more)
                self.assertIn("edges are of 1 m", process.stderr)
        self.optimise("cantilever", "--cells", "4x2x2", "--radius", "1.1", "--steps", "1")
        self.optimise("cantilever", "--cells", "4x2x2", "--filter", "none", "--steps", "1")
        # Centres at exactly the radius have no weight, whatever rounding says of their distance.
        for grid in ("mesh", "voxels"):
            self.fails(USAGE, "reaches no element's neighbour", "topopt", "cantilever", "--cells", "20x10x10", "--size",
                       "2x1x1", "--radius", "0.1", "--grid", grid, "-q")


class Usage(TopoptCase):
    def test_contradictions_and_options_without_effect(self):
        self.fails(USAGE, "no problem", "topopt")
        for arguments in (("--hdf", "a", "--no-hdf"), ("--stl", "a", "--no-stl"),
                          ("--vtk-every", "2"), ("--stl-level", "0.4"), ("--keep-loose",), ("--checkpoint-every", "2"),
                          ("--seed", "1"), ("--unit", "2"), ("--projection", "--no-projection")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "topopt", "cantilever", *arguments)
        small = ("--cells", "4x2x2", "--steps", "1", "-q")
        for given, beside, used in ((("--threshold", "0.4"), (), "--projection"), (("--sharpness", "4"), (), "--projection"),
                                    (("--sharpness", "4"), ("--no-projection",), None),
                                    (("--radius", "3"), ("--filter", "none"), None),
                                    (("--chebyshev-degree", "3"), (), ("--preconditioner", "chebyshev")),
                                    (("--forming-cost", "3"), ("--preconditioner", "jacobi"), None)):
            with self.subTest(given=given, beside=beside):
                self.fails(USAGE, given[0] + " has no effect without", "topopt", "cantilever", *given, *beside, *small)
                if used:
                    self.ossatura("topopt", "cantilever", *given, *([used] if isinstance(used, str) else used), *small)
        self.ossatura("topopt", "cantilever", "--sharpness", "4", "--draw", "+z", *small)
        for keys, name in (({"filter": {"kind": "none", "radius": 3}}, "filter.radius"),
                           ({"solver": {"chebyshev_degree": 3}}, "solver.chebyshev_degree"),
                           ({"solver": {"forming_cost": 3, "preconditioner": "jacobi"}}, "solver.forming_cost")):
            with self.subTest(keys=keys):
                self.write("p.json", json.dumps({"mesh": {"generator": "cantilever", "cells": [4, 2, 2]}, "steps": 1, **keys}))
                self.fails(BAD_FILE, "p.json: " + name + " has no effect without", "topopt", "p.json", "-q")
        # What a problem gives may wait for an option, and an option may take its effect away; what an option gives has one.
        self.write("p.json", json.dumps({"mesh": {"generator": "cantilever", "cells": [4, 2, 2]}, "steps": 1, "projection": {
            "sharpness": 4, "threshold": 0.4}, "filter": {"radius": 3}, "solver": {"chebyshev_degree": 3, "preconditioner": "chebyshev"}}))
        for more in ((), ("--no-projection", "--filter", "none", "--preconditioner", "amg"), ("--sharpness", "3")):
            self.ossatura("topopt", "p.json", *more, "-q")
        self.fails(USAGE, "--threshold has no effect", "topopt", "p.json", "--no-projection", "--threshold", "0.3")
        self.write("deck.inp", abaqus())
        self.fails(USAGE, "--cells", "topopt", "deck.inp", "--cells", "2x2x2")
        self.fails(USAGE, "density or Helmholtz", "topopt", "cantilever", "--cells", "4x2x2",
                   "--projection", "--filter", "sensitivity", "-q")

    def test_options_of_a_generator_that_do_not_go_together(self):
        """There is no file with anything wrong in it: all were exit 5."""
        for message, *arguments in (
                ("give constraints", "cantilever", "--objective", "volume"), ("leave one out", "cantilever", "--draw", "+z", "--extrude", "y"),
                ("no mass density", "cantilever", "--frequencies", "3"), ("leave out another one", "inverter", "--objective", "volume"),
                ("take the projection", "inverter", "--robust", "0.3"), ("take --grid mesh", "inverter", "--grid", "voxels")):
            for more in ((), ("--dry-run",)):
                self.fails(USAGE, message, "topopt", *arguments, "--cells", "8x4x4", "-q", *more)
        self.write("p.json", json.dumps({"mesh": {"generator": "cantilever", "cells": [8, 4, 4]}}))
        self.fails(BAD_FILE, "give constraints", "topopt", "p.json", "--objective", "volume", "-q")

    def test_values_out_of_range(self):
        for arguments in (("--steps", "0"), ("--volume", "0"), ("--volume", "1"), ("--radius", "0"),
                          ("--penalty", "0.5"), ("--penalty", "1:2:3"), ("--sharpness", "0"),
                          ("--threshold", "1"), ("--min-modulus", "0"), ("--move", "0"),
                          ("--move", "1.5"), ("--start", "0"), ("--start", "1.01"), ("--change", "-1"),
                          ("--tolerance", "1"), ("--max-iterations", "0"), ("--cells", "4x2"),
                          ("--cells", "0x1x1"), ("--size", "1x1x0"), ("--distort", "0.6"),
                          ("--young", "0"), ("--poisson", "0.5"), ("--mass-density", "0"), ("--vtk-every", "0"),
                          ("--stl-level", "0"), ("--chebyshev-degree", "0"),
                          ("--forming-cost", "-1"),
                          ("--operator", "ebe128"), ("--precision", "single"),
                          ("--method", "sqp"), ("--filter", "cone")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "topopt", "cantilever", *arguments, "-o", "out")
        self.fails(USAGE, "did you mean 'ebeSym'?", "topopt", "mbb", "--operator", "ebesym")
        self.fails(USAGE, "at least 2x1x2", "topopt", "lbeam", "--cells", "1x1x1", "-q")
        self.fails(UNAVAILABLE, "serial", "topopt", "mbb", "--backend", "quantum")

    def test_help_and_printed_configuration(self):
        text = self.ossatura("topopt", "--help").stdout
        for part in ("Problem:", "Linear systems", "--operator auto|csr", "|nbn|", "Examples:", "inverter",
                     "75  stopped by SIGINT"):
            self.assertIn(part, text)
        arguments = ("mbb", "--cells", "6x2x3", "--steps", "3", "--penalty", "1:3:20:+0.5",
                     "--operator", "nbn", "--projection", "--precision", "double")
        self.write("c.toml", self.ossatura("topopt", *arguments, "--print-config").stdout)
        again = self.ossatura("topopt", "--config", "c.toml", "--print-config").stdout
        self.assertEqual(self.read("c.toml"), again)
        for part in ('cells = "6x2x3"', "projection = true", 'penalty = "1:3:20:+0.5"'):
            self.assertIn(part, again)


if __name__ == "__main__":
    driver_case.main()
