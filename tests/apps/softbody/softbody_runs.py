# SPDX-License-Identifier: Apache-2.0
"""Runs of `ossatura softbody` that stop and go on, the files that they write, examples and memory."""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE, USAGE
from support.scenes import (STIFF, LAWS, tetra_box, cloth, body, scene, tetrahedron, SoftbodyCase, liver, pile,
                            ball_on_cloth)


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
            for refresh in (("sync",), ("every:7",), ("every:5", "--newton", "20")):
                if make is not pile and len(refresh) > 1:
                    continue  # Newton's iterations over thin cloth do not converge
                with self.subTest(scene=make.__name__, refresh=refresh):
                    document = make()
                    half = document["steps"] - 5
                    whole = self.run_scene(document, "--refresh", *refresh)
                    first = self.run_scene(document, "--refresh", *refresh, "--steps", half,
                                           "--checkpoint", "c.h5")
                    rest = self.run_scene(document, "--refresh", *refresh, "--resume", "c.h5")
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

    def test_a_long_run_lists_its_last_step(self):
        run = self.run_scene(scene(body(tetra_box((1, 1, 1)), LAWS[0]), gravity=[0, 0, -9.81], steps=2002, time_step=1e-4))
        steps = run["results"]["steps"]
        self.assertEqual((steps["every"], steps["step"][:2], steps["step"][-2:]), (2, [1, 3], [2001, 2002]))
        self.assertEqual(steps["kinetic"][-1], run["results"]["energy"]["final"]["kinetic"])

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
        self.write("hidden.vtk", tetrahedron() + "CELL_DATA 1\nSCALARS vtkGhostType unsigned_char 1\nLOOKUP_TABLE default\n32\n")
        self.write_scene(scene(body({"file": "hidden.vtk"})))
        self.fails(BAD_FILE, "hidden.vtk: line 11: cell 0 is hidden (vtkGhostType 32)", "softbody", "s.json", "-q")

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
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
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
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
        path = os.path.join(here, "..", "..", "examples", "softbody", "pile.json")
        run = self.summary("softbody", path, "-q", "--backend", "serial", "--steps", "20")  # of 60: all has met
        self.assertEqual(run["warnings"], [])
        self.assertGreater(run["results"]["most_contacts"], 100)
        self.assertLess(run["results"]["deepest_crossing"], 2e-3)  # an eighth of an element


class Memory(SoftbodyCase):
    def test_a_dry_run_predicts_the_process(self):
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

        def example(name):
            with open(os.path.join(here, "..", "..", "examples", "softbody", name)) as file:
                return json.load(file)

        lying = example("liver-on-plane.json")  # without the fall
        lying["objects"][0]["translate"] = [0, 0, 0.052]
        lying["objects"][0]["mesh"]["ellipsoid"]["cells"] = 9
        cube = example("cube.json")
        cube["objects"][0]["mesh"]["hexa_box"]["cells"] = [13, 13, 13]
        for name, document, steps in (("cube", cube, 1),
                                      ("cloth", example("cloth.json"), 2),
                                      ("pile", example("pile.json"), 14), ("liver", lying, 9)):
            self.write_scene(document)
            arguments = ("softbody", "s.json", "-q", "--backend", "serial", "--steps", steps)
            expected = self.summary(*arguments, "--dry-run")["results"]["predicted_host_bytes"]
            taken = self.summary(*arguments)["memory"]["host_peak_bytes"]
            with self.subTest(scene=name, expected=expected, taken=taken):
                self.assertLess(abs(expected / taken - 1), 0.25)


if __name__ == "__main__":
    driver_case.main()
