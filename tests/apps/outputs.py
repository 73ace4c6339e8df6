# SPDX-License-Identifier: Apache-2.0
"""What becomes of the results of ossatura: their names, what they may not replace, and what is left
when a file cannot be written, a pipe is closed or a signal ends the run."""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from support import driver_case, hdf5_values
from support.driver_case import BAD_FILE, DONE, INTERNAL, STOPPED, USAGE, DriverCase

CUBE = ("bone", "--generate", "cube", "--size", "3", "--backend", "serial", "-q")
SCENE = {"time_step": 0.01, "steps": 4, "gravity": [0, 0, -9.81], "objects": [
    {"name": "body", "mesh": {"hexa_box": {"cells": [6, 6, 6], "size": [1, 1, 1]}}, "density": 1000,
     "material": {"young": 1e6, "poisson": 0.3}, "fixed": [{"box": [-1, -1, -1, 2, 2, 0.1]}]}]}
PROBLEM = {"mesh": {"generator": "cube", "cells": [2, 1, 1], "size": [2, 1, 1]}, "order": 3,
           "material": {"young": 8, "poisson": 0.25},
           "supports": [{"plane": "x=0", "components": "xyz"}],
           "loads": [{"plane": "x=2", "traction": [4, 0, 0]}]}


def image(values=None, size=(3, 3, 3)):
    """A MetaImage of moduli, 1000 where no values are given."""
    count = size[0] * size[1] * size[2]
    head = ("ObjectType = Image\nNDims = 3\nDimSize = %d %d %d\nElementSpacing = 1 1 1\n"
            "ElementType = MET_USHORT\nElementByteOrderMSB = False\nElementDataFile = LOCAL\n" % size)
    values = values or [1000] * count
    return head.encode() + b"".join(v.to_bytes(2, "little") for v in values)


MESH = ("VTKHDF/Points", "VTKHDF/Connectivity", "VTKHDF/Offsets", "VTKHDF/Types")
LAW = ("--law", "threshold", "--lower", "500", "--modulus", "1000", "--backend", "serial", "-q")


class OutputCase(DriverCase):
    def start(self, *arguments, **more):
        return subprocess.Popen([driver_case.EXECUTABLE, *map(str, arguments)],
                                cwd=self.directory.name, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    def run_with(self, arguments, code, **more):
        """Runs ossatura with more arguments of subprocess.run."""
        process = subprocess.run([driver_case.EXECUTABLE, *arguments], timeout=60,
                                 **{"cwd": self.directory.name, "stdout": subprocess.PIPE,
                                    "stderr": subprocess.PIPE, **more})
        self.assertEqual(process.returncode, code, process.stderr)
        return process

    def contents(self):
        content = {}
        for name in self.files():
            with open(self.path(name), "rb") as file:
                content[name] = file.read()
        return content

    def read_summary(self, name):
        return json.loads(self.read(name))

    def hidden(self, folder="."):
        return [name for name in os.listdir(self.path(folder)) if name.startswith(".")]


class Names(OutputCase):
    def test_all_but_the_last_extension_stays(self):
        for name in ("drop_v1.2", "drop_v1.3"):
            self.write(name + ".json", json.dumps(SCENE))
            self.ossatura("softbody", name + ".json", "-o", "out", "-q", "--backend", "serial")
        for name in ("P001.left", "P001.right"):
            self.write(name + ".mha", image())
            self.ossatura("bone", name + ".mha", *LAW, "-o", "out")
        names = os.listdir(self.path("out"))
        for name in ("drop_v1.2.csv", "drop_v1.3.csv", "drop_v1.2.hdf.series", "P001.left.hdf",
                     "P001.right.hdf", "P001.left.summary.json", "P001.right.summary.json"):
            self.assertIn(name, names)

    def test_a_name_that_is_not_utf_8(self):
        name = os.fsencode(self.directory.name) + b"/sc\xffn.mha"
        with open(name, "wb") as file:
            file.write(image())
        self.run_with(["bone", name, *LAW, "-o", b"o\xfe"], DONE)
        folder = os.fsencode(self.directory.name) + b"/o\xfe"
        self.assertEqual(sorted(os.listdir(folder)), [b"sc\xffn.hdf", b"sc\xffn.summary.json"])
        with open(folder + b"/sc\xffn.summary.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["status"], "converged")

    def test_a_directory_with_too_long_a_name(self):
        self.fails(BAD_FILE, "cannot be made a directory", *CUBE, "-o", 5000 * "x")


class Replacing(OutputCase):
    def test_results_of_another_input_are_not_replaced(self):
        os.mkdir(self.path("a"))
        os.mkdir(self.path("b"))
        self.write("a/scan.mha", image())
        self.write("b/scan.mha", image(27 * [2000]))
        arguments = (*LAW, "-o", "out")
        self.ossatura("bone", "a/scan.mha", *arguments)
        before = self.read("out/scan.summary.json")
        self.fails(USAGE, "--overwrite", "bone", "b/scan.mha", *arguments)
        self.assertEqual(self.read("out/scan.summary.json"), before)
        # The same names of files, typed in another directory.
        process = self.run_with(["bone", "scan.mha", *LAW, "-o", "../out"], USAGE,
                                cwd=self.path("b"))
        self.assertIn(b"of another input", process.stderr)
        self.run_with(["bone", "scan.mha", *LAW, "-o", "../out"], DONE, cwd=self.path("a"))
        shutil.copy(self.path("a/scan.mha"), self.path("scan.mha"))
        self.ossatura("bone", "scan.mha", *arguments)  # the same content
        self.write("scan.mha", image(27 * [3000]))
        self.ossatura("bone", "scan.mha", *arguments)  # edited
        self.ossatura("bone", "b/scan.mha", *arguments, "--overwrite")

    def test_results_of_another_mesh_with_the_same_velocities_are_not_replaced(self):
        points, tetra = "4\n0 0 0\n1000 0 0\n0 1000 0\n0 0 %d\n", "1\nTt 0 1 2 3 1\n"
        self.write("v.json", '{"1": {"vl": 0.5}}')
        self.write("v2.json", '{"1": {"vl": 0.6}}')
        for folder, height in (("p1", 1000), ("p2", 2000)):
            os.mkdir(self.path(folder))
            self.write(folder + "/heart.pts", points % height)
            self.write(folder + "/heart.elem", tetra)
        run = ("--site", "vertices:0", "-q", "-o", "out")
        self.ossatura("eikonal", "p1/heart.pts", "--velocities", "v.json", *run)
        before = self.read("out/heart.summary.json")
        self.fails(USAGE, "is of another input", "eikonal", "p2/heart.pts", "--velocities", "v.json", *run)
        self.assertEqual(self.read("out/heart.summary.json"), before)
        self.ossatura("eikonal", "p1/heart.pts", "--velocities", "v2.json", *run)  # the same mesh

    def test_results_of_another_subcommand_are_not_replaced(self):
        self.write("p.json", json.dumps(SCENE))
        self.ossatura("softbody", "p.json", "-o", "out", "-q", "--backend", "serial")
        self.write("p.json", json.dumps(PROBLEM))
        self.fails(USAGE, "is of ossatura softbody", "pfem", "p.json", "-o", "out", "-q")

    def test_a_dry_run_replaces_no_results(self):
        self.write("s.json", json.dumps(SCENE))
        arguments = ("softbody", "s.json", "-q", "--backend", "serial", "--history", "h.csv")
        for where in (("-o", "out"), ("-o", "out", "--json", "run.json")):
            with self.subTest(where=where):
                self.ossatura(*arguments, *where)
                before = {name: os.stat(self.path("out/" + name)).st_ino
                          for name in os.listdir(self.path("out"))}
                if "--json" in where:
                    self.fails(USAGE, "is the summary of a run", *arguments, *where, "--dry-run")
                else:
                    for _ in range(2):  # again, over its own
                        self.ossatura(*arguments, *where, "--dry-run")
                    run = self.read_summary("out/s.dry-run.json")
                    self.assertEqual(run["status"], "dry run")
                    before["s.dry-run.json"] = os.stat(self.path("out/s.dry-run.json")).st_ino
                self.assertEqual({name: os.stat(self.path("out/" + name)).st_ino
                                  for name in os.listdir(self.path("out"))}, before)
        self.ossatura(*arguments, "--dry-run", "--json", "plan.json")
        self.ossatura(*arguments, "--dry-run", "--json", "plan.json")
        self.ossatura(*arguments, "--json", "plan.json")

    def test_an_input_is_not_replaced(self):
        self.write("scan.mha", image())
        self.write("s.json", json.dumps(SCENE))
        self.write("p.json", json.dumps(PROBLEM))
        os.link(self.path("scan.mha"), self.path("hard.hdf"))
        os.symlink("s.json", self.path("soft.csv"))
        for arguments in (("bone", "scan.mha", *LAW, "--hdf", "scan.mha"),
                          ("bone", "scan.mha", *LAW, "--hdf", "hard.hdf"),
                          ("bone", "scan.mha", *LAW, "--history", "./scan.mha"),
                          ("softbody", "s.json", "--json", "s.json"),
                          ("softbody", "s.json", "--history", "soft.csv"),
                          ("softbody", "s.json", "--checkpoint", "s.json"),
                          ("pfem", "p.json", "--hdf", "../" + os.path.basename(self.directory.name)
                           + "/p.json")):
            with self.subTest(arguments=arguments):
                before = self.contents()
                self.fails(USAGE, "is an input of this run", *arguments)
                self.assertEqual(self.contents(), before)

    def test_a_configuration_is_not_replaced(self):
        self.write("scan.mha", image())
        self.write("c.ini", "tolerance = 1e-7\n")
        for option in "--json", "--hdf", "--history":
            before = self.contents()
            self.fails(USAGE, "c.ini: is the configuration of this run (--config), and would be replaced", "bone", "scan.mha", *LAW,
                       "--config", "c.ini", option, "c.ini")
            self.assertEqual(self.contents(), before)

    def test_fields_have_no_name_of_another_format(self):
        """Written as x.vtu they could not be opened, and nothing said so."""
        self.write("s.json", json.dumps(SCENE))
        for arguments in (CUBE, ("pfem", "cube", "--cells", "1x1x1"), ("eikonal", "--generate", "slab:h=2"), ("softbody", "s.json"),
                          ("topopt", "cantilever", "--cells", "8x4x4")):
            for name in "x.vtu", "out/fields.VTK", "x.xdmf":
                before = self.contents()
                self.fails(USAGE, f"--hdf {name}: the file is VTKHDF", *arguments, "--hdf", name)
                self.assertEqual(self.contents(), before)

    def test_surfaces_have_no_name_of_another_format(self):
        for option, name, kind in (("--stl", "x.obj", "binary STL"), ("--stl", "x.3mf", "binary STL"), ("--3mf", "x.STL", "3MF")):
            self.fails(USAGE, f"{option} {name}: the file is {kind}", "topopt", "cantilever", "--cells", "8x4x4", option, name)
            self.assertEqual(self.files(), [])

    def test_two_outputs_with_one_name(self):
        self.write("s.json", json.dumps(SCENE))
        self.fails(USAGE, "two outputs", "softbody", "s.json", "--history", "x", "--json", "./x")

    def test_outputs_are_probed_before_the_solve(self):
        for option in ("--hdf", "--parosol-output"):
            self.fails(BAD_FILE, "nodir", *CUBE, option, "nodir/x.h5")

    def test_a_run_that_is_refused_leaves_the_history_before(self):
        self.write("s.json", json.dumps(SCENE))
        self.write("p.json", json.dumps(PROBLEM))
        for arguments in ((*CUBE, "--hdf", "nodir/x.hdf"), ("pfem", "p.json", "--hdf", "nodir/x.hdf"),
                          ("softbody", "s.json", "--checkpoint", "nodir/c.h5", "--checkpoint-every", "1"),
                          ("softbody", "s.json", "--hdf", "nodir/x.hdf"),
                          ("topopt", "cantilever", "--stl", "nodir/x.stl"),
                          ("topopt", "cantilever", "--checkpoint", "nodir/c.h5", "--checkpoint-every", "1")):
            with self.subTest(arguments=arguments):
                self.write("h.csv", "of the run before")
                self.fails(BAD_FILE, "nodir", *arguments, "--history", "h.csv", "-q")
                self.assertEqual(self.read("h.csv"), "of the run before")
        # No iteration: the first line all the same.
        self.ossatura("pfem", "p.json", "--history", "h.csv", "-q")
        self.assertIn("iteration", self.read("h.csv").splitlines()[0])


class EarlierFiles(OutputCase):
    """Beside a new summary lie files of the run before that are not of it: a warning names them."""

    def doubts(self, name, *arguments):
        self.ossatura(*arguments, "-o", "out", "-q")
        return [w["text"] for w in self.read_summary(f"out/{name}.summary.json")["warnings"]
                if w["code"] == "earlier-files"]

    def test_fields_of_the_run_before(self):
        self.assertEqual(self.doubts("cube", *CUBE), [])
        self.assertEqual(self.doubts("cube", *CUBE), [])  # replaced
        texts = self.doubts("cube", *CUBE, "--no-hdf")
        self.assertEqual(len(texts), 1)
        self.assertIn("out/cube.hdf is of an earlier run", texts[0])
        # What the last summary does not list is not known any more, nor what is gone.
        self.assertEqual(self.doubts("cube", *CUBE, "--no-hdf"), [])
        self.ossatura(*CUBE, "-o", "out")
        os.remove(self.path("out/cube.hdf"))
        self.assertEqual(self.doubts("cube", *CUBE, "--no-hdf"), [])

    def test_frames_of_a_longer_run(self):
        self.write("s.json", json.dumps(SCENE))
        scene = ("softbody", "s.json", "--backend", "serial")
        self.assertEqual(self.doubts("s", *scene, "--vtk-every", "1"), [])
        texts = self.doubts("s", *scene, "--vtk-every", "1", "--steps", "2")
        self.assertIn("out/s_000003.hdf and 1 other file are of an earlier run", texts[0])

    def test_a_resumed_run_keeps_the_frames_before_it(self):
        self.write("s.json", json.dumps(SCENE))
        scene = ("softbody", "s.json", "--backend", "serial", "--vtk-every", "1")
        self.ossatura(*scene, "-o", "out", "--steps", "2", "--checkpoint", "c.h5")
        self.assertEqual(self.doubts("s", *scene, "--resume", "out/c.h5"), [])
        design = ("topopt", "cantilever", "--cells", "6x3x3", "--backend", "serial", "--vtk-every", "1")
        self.ossatura(*design, "-o", "out", "-q", "--steps", "2", "--checkpoint", "d.h5")
        self.assertEqual(self.doubts("cantilever", *design, "--steps", "4", "--resume", "out/d.h5"), [])
        series = json.loads(self.read("out/cantilever.hdf.series"))
        self.assertEqual([f["time"] for f in series["files"]], [1, 2, 3, 4])

    def test_a_dash_is_no_name_of_a_file(self):
        """Only --json writes to standard output by it; others made a file of this name."""
        self.write("s.json", json.dumps(SCENE))
        self.write("p.json", json.dumps(PROBLEM))
        for arguments in (("eikonal", "--generate", "ventricles:h=3", "--dat", "-"), ("pfem", "p.json", "--hdf", "-"),
                          (*CUBE, "--history", "-"),
                          ("softbody", "s.json", "--steps", "1", "--checkpoint", "-"), ("softbody", "s.json", "-o", "-"),
                          ("topopt", "cantilever", "--cells", "6x3x3", "--steps", "1", "--stl", "-"),
                          (*CUBE, "--fields", "all", "--hdf", "-")):
            before = self.files()
            self.fails(USAGE, "'-' is no name of an output: only the summary can be written to standard output (--json -)",
                       *arguments, *(() if "bone" in arguments else ("--backend", "serial", "-q")))
            self.assertEqual(self.files(), before)

    def test_a_resumed_run_keeps_no_frames_of_another_scene(self):
        for folder in "a", "b":
            os.mkdir(self.path(folder))
        self.write("a/s.json", json.dumps(SCENE))
        self.write("b/s.json", json.dumps({**SCENE, "gravity": [0, 0, -1]}))
        run = ("--backend", "serial", "--vtk-every", "1", "-q")
        self.ossatura("softbody", "a/s.json", *run, "-o", "out", "--steps", "3")
        self.ossatura("softbody", "b/s.json", *run, "-o", "other", "--steps", "2", "--checkpoint", "c.h5")
        before = self.read("out/s.hdf.series")
        process = self.ossatura("softbody", "b/s.json", *run, "-o", "out", "--resume", "other/c.h5", "--overwrite",
                                code=USAGE)
        self.assertIn("'out' has frames of another input, 'out/s_000000.hdf' among them", process.stderr)
        self.assertIn("choose another --output-dir, or remove them", process.stderr)
        self.assertEqual(self.read("out/s.hdf.series"), before)
        self.assertEqual(json.loads(self.read("out/s.summary.json"))["provenance"]["inputs"][0]["path"], "a/s.json")
        self.ossatura("softbody", "b/s.json", *run, "-o", "out", "--overwrite", "--steps", "2")


class Compression(OutputCase):
    MODES = ("none", "fast", "small")
    # Arguments, and some datasets of each file
    RUNS = {
        "bone": ((*CUBE[:4], "16", *CUBE[5:], "-o", "out", "--fields", "all", "--parosol-output", "p.h5"), {
            "cube.hdf": (*MESH, "VTKHDF/PointData/displacement", "VTKHDF/PointData/held",
                         "VTKHDF/CellData/stress", "VTKHDF/CellData/modulus"),
            "p.h5": ("Mesh/Coordinates", "Mesh/Elements", "Mesh/Material IDs", "Solution/Nodal displacements",
                     "Solution/SED", "Solution/Element stress")}),
        "eikonal": (("eikonal", "--generate", "ventricles:h=3", "--backend", "serial", "-q", "-o", "out"), {
            "ventricles.hdf": (*MESH, "VTKHDF/PointData/activation_time", "VTKHDF/CellData/tag",
                               "VTKHDF/CellData/fibre")}),
        "softbody": (("softbody", "s.json", "--backend", "serial", "-q", "-o", "out"), {
            f"s_00000{k}.hdf": (*MESH, "VTKHDF/PointData/velocity", "VTKHDF/CellData/object") for k in (0, 4)}),
        "topopt": (("topopt", "cantilever", "--cells", "16x8x8", "--steps", "2", "--vtk-every", "1", "--backend",
                    "serial", "-q", "-o", "out"), {
            name: (*MESH, "VTKHDF/PointData/displacement", "VTKHDF/CellData/density")
            for name in ("cantilever.hdf", "cantilever_000001.hdf")}),
        "pfem": (("pfem", "p.json", "--samples", "16", "--backend", "serial", "-q", "-o", "out"), {
            "p.hdf": (*MESH, "VTKHDF/PointData/stress", "VTKHDF/CellData/element")}),
    }

    def test_values_are_the_same_and_sizes_are_not(self):
        self.write("s.json", json.dumps({**SCENE, "objects": [{**SCENE["objects"][0], "mesh": {
            "hexa_box": {"cells": [9, 9, 9], "size": [1, 1, 1]}}}]}))
        self.write("p.json", json.dumps(PROBLEM))
        for subcommand, (arguments, files) in self.RUNS.items():
            sizes, values = {}, {}
            for mode in self.MODES:
                self.ossatura(*arguments, "--compress", mode, "--overwrite", "--json", "run.json")
                self.assertEqual(self.read_summary("out/run.json")["parameters"]["compress"], mode)
                for name, datasets in files.items():
                    path = self.path("out/" + name)
                    sizes.setdefault(name, []).append(os.path.getsize(path))
                    values.setdefault(name, []).append([hdf5_values.read(path, one) for one in datasets])
                    os.remove(path)
            for name in files:
                with self.subTest(subcommand=subcommand, file=name):
                    none, fast, small = sizes[name]
                    self.assertGreater(none, 1.5 * fast)
                    self.assertGreaterEqual(fast, small)
                    self.assertEqual(values[name][0], values[name][1])
                    self.assertEqual(values[name][0], values[name][2])
                    self.assertGreater(max(map(len, values[name][0])), 1000)

    def test_the_default_is_fast(self):
        plain = ("eikonal", "--generate", "ventricles:h=3", "--backend", "serial", "-q")
        self.ossatura(*plain, "--hdf", "a.hdf", "--json", "run.json")
        self.assertEqual(self.read_summary("run.json")["parameters"]["compress"], "fast")
        self.ossatura(*plain, "--hdf", "b.hdf", "--compress", "fast")
        self.assertEqual(os.path.getsize(self.path("a.hdf")), os.path.getsize(self.path("b.hdf")))

    def test_what_is_refused(self):
        for subcommand, (arguments, _) in self.RUNS.items():
            with self.subTest(subcommand=subcommand):
                self.fails(USAGE, "'smal' is not one of none|fast|small; did you mean 'small'?", *arguments,
                           "--compress", "smal")
                self.fails(USAGE, "--compress has no effect without --hdf or --output-dir",
                           *arguments[:arguments.index("-o")], "--compress", "none")
        self.fails(USAGE, "unknown option '--compress'", "pfem", "table3", "--compress", "none")


class Loss(OutputCase):
    def limited(self, size):
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))}

    def test_a_field_that_cannot_be_written_costs_nothing_else(self):
        """A limit on the size of files that the summary meets and the field does not."""
        self.write("p.json", json.dumps(PROBLEM))
        for arguments, summary in (((*CUBE[:4], "12", *CUBE[5:]), "cube.summary.json"),
                                   (("pfem", "p.json", "--samples", "12", "--backend", "serial",
                                     "-q"), "p.summary.json"),
                                   (("eikonal", "--generate", "ventricles:h=3", "--site", "vertices:0",
                                     "--backend", "serial", "-q"), "ventricles.summary.json")):
            with self.subTest(subcommand=arguments[0]):
                process = self.run_with([*arguments, "-o", "out"], BAD_FILE, **self.limited(30000))
                self.assertIn(b"peak memory", process.stdout)  # the table
                run = self.read_summary("out/" + summary)
                self.assertEqual(run["status"], "converged")
                self.assertEqual([w["code"] for w in run["warnings"]], ["not-written"])
                self.assertEqual(run["results"]["files"], [])
                self.assertEqual(sorted(os.listdir(self.path("out"))), [summary])
                shutil.rmtree(self.path("out"))

    def test_a_frame_that_cannot_be_written_costs_nothing_else(self):
        self.write("s.json", json.dumps(SCENE))
        arguments = ["softbody", "s.json", "-q", "--backend", "serial", "-o", "out",
                     "--checkpoint", "c.h5", "--vtk-every", "1"]
        os.makedirs(self.path("out/s_000002.hdf"))  # where a file is to be
        process = self.run_with(arguments, BAD_FILE)
        self.assertEqual(process.stderr.count(b"warning: "), 1)
        run = self.read_summary("out/s.summary.json")
        self.assertEqual(run["results"]["steps_taken"], 4)
        self.assertEqual(run["results"]["frames"], 4)
        shutil.rmtree(self.path("out"))
        self.run_with(arguments, DONE)
        size = {name: os.path.getsize(self.path("out/" + name)) for name in os.listdir(
            self.path("out"))}
        limit = min(size["c.h5"], size["s_000000.hdf"]) - 1
        self.assertLess(size["s.summary.json"], limit)
        shutil.rmtree(self.path("out"))
        process = self.run_with(arguments, BAD_FILE, **self.limited(limit))
        self.assertEqual(process.stderr.count(b"warning: "), 2)  # series and checkpoint
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["s.csv", "s.summary.json"])
        self.assertEqual(len(self.read("out/s.csv").splitlines()), 2 + 4)
        run = self.read_summary("out/s.summary.json")
        self.assertEqual(run["results"]["steps_taken"], 4)
        self.assertEqual(run["results"]["frames"], 0)

    def test_a_design_of_a_step_that_cannot_be_written_costs_nothing_else(self):
        arguments = ["topopt", "cantilever", "--cells", "6x3x3", "--steps", "4", "--change", "0", "-q", "--backend",
                     "serial", "-o", "out", "--no-stl", "--vtk-every", "1", "--checkpoint", "c.h5"]
        os.makedirs(self.path("out/cantilever_000002.hdf"))
        process = self.run_with(arguments, BAD_FILE)
        self.assertEqual(process.stderr.count(b"warning: "), 1)
        run = self.read_summary("out/cantilever.summary.json")
        self.assertEqual([w["code"] for w in run["warnings"]], ["not-written"])
        self.assertEqual(run["results"]["frames"], 3)
        listed = [frame["name"] for frame in self.read_summary("out/cantilever.hdf.series")["files"]]
        self.assertEqual(listed, [f"cantilever_00000{step}.hdf" for step in (1, 3, 4)])
        shutil.rmtree(self.path("out"))
        process = self.run_with(arguments, BAD_FILE, **self.limited(20000))
        self.assertEqual(process.stderr.count(b"warning: "), 2)  # series and design
        self.assertEqual(self.hidden("out"), [])
        self.assertNotIn("cantilever.hdf.series", os.listdir(self.path("out")))

    def test_a_folder_that_is_gone_costs_the_frames(self):
        """The folder of the frames goes away after the first of them; the run ends all the same."""
        self.write("s.json", json.dumps({**SCENE, "steps": 100000}))
        os.mkdir(self.path("frames"))
        process = self.start("softbody", "s.json", "-q", "--backend", "serial", "--hdf", "frames/f.hdf",
                             "--vtk-every", "1", "--json", "run.json")
        self.addCleanup(process.kill)
        while process.poll() is None and not os.path.exists(self.path("frames/f_000001.hdf")):
            time.sleep(0.002)
        os.rename(self.path("frames"), self.path("gone"))
        self.assertIn("frames/f.hdf.series: not written", process.stderr.readline())
        process.terminate()
        self.assertIn("not all outputs are written", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, BAD_FILE)
        run = self.read_summary("run.json")
        self.assertEqual(run["status"], "interrupted")
        listed = [frame["name"] for frame in self.read_summary("gone/f.hdf.series")["files"]]
        self.assertEqual(listed, [f"f_{step:06}.hdf" for step in range(len(listed))])
        self.assertLessEqual(set(listed), set(os.listdir(self.path("gone"))))

    def test_a_closed_pipe_costs_no_summary(self):
        process = self.start(*CUBE, "-o", "out")
        process.stdout.close()
        message = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), BAD_FILE)
        self.assertIn("standard output", message)
        self.assertEqual(self.read_summary("out/cube.summary.json")["status"], "converged")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["cube.hdf", "cube.summary.json"])

    def test_closed_descriptors_take_no_output(self):
        text = " ".join([driver_case.EXECUTABLE, *CUBE[:-1], "--history", "h.csv"])
        process = subprocess.run(["sh", "-c", text + " 0<&- 2>&-"], cwd=self.directory.name,
                                 stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(process.returncode, DONE)
        for line in self.read("h.csv").splitlines()[1:]:
            self.assertEqual(len(line.split(",")), 4)
        process = subprocess.run(["sh", "-c", text + " -o out >&-"], cwd=self.directory.name,
                                 stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(process.returncode, BAD_FILE)
        self.assertEqual(self.read_summary("out/cube.summary.json")["status"], "converged")

    def test_file_systems_without_locks_and_without_flushing(self):
        compiler = shutil.which("cc")
        if compiler is None or not sys.platform.startswith("linux"):
            self.skipTest("no C compiler")
        self.write("shim.c", "#include <errno.h>\n"
                             "int flock(int d, int o) { (void)d, (void)o; errno = EOPNOTSUPP; "
                             "return -1; }\n"
                             "int fsync(int d) { (void)d; errno = EINVAL; return -1; }\n")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", self.path("shim.so"),
                        self.path("shim.c")], check=True)
        environment = {**os.environ, "LD_PRELOAD": self.path("shim.so")}
        self.run_with([*CUBE, "-o", "out"], DONE, env=environment)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["cube.hdf", "cube.summary.json"])


class Signals(OutputCase):
    """What is computed when a signal comes is written, in every subcommand."""

    def wait_for(self, process, text):
        """Reads the log of a run up to a line with this text."""
        for line in process.stderr:
            if text in line:
                return
        self.fail(f"the run ended without a line that has '{text}'")

    def stop(self, *arguments, until, signal_number=signal.SIGTERM):
        """Stops a run after a line of progress with this text; its log."""
        process = self.start(*arguments, "--backend", "serial", "-o", "out", "--json", "run.json")
        self.wait_for(process, until)
        process.send_signal(signal_number)
        _, log = process.communicate(timeout=5)
        self.assertEqual(process.returncode, STOPPED, log)
        self.assertIn("stopped by a signal", log)
        run = self.read_summary("out/run.json")
        self.assertEqual(run["status"], "interrupted")
        self.assertIn("interrupted", [warning["code"] for warning in run["warnings"]])
        self.assertEqual(self.hidden("out"), [])
        return run

    BONE = ("bone", "--generate", "perlin", "--size", "48", "--feature", "16", "--fraction", "0.3",
            "--largest-component", "--tolerance", "1e-15", "--max-iterations", "100000")

    def test_bone(self):
        run = self.stop(*self.BONE, "--history", "h.csv", "-v", until=" 3/",
                        signal_number=signal.SIGINT)
        solve = run["results"]["solves"][0]
        self.assertGreaterEqual(solve["iterations"], 3)
        self.assertLess(solve["recurrent_residual"], 1)
        self.assertIsNone(solve["true_residual"])
        self.assertGreater(run["results"]["strain_energy"], 0)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["h.csv", "perlin.hdf", "run.json"])
        self.assertEqual(len(self.read("out/h.csv").splitlines()), 2 + solve["iterations"])
        with open(self.path("out/perlin.hdf"), "rb") as file:
            self.assertIn(b"interrupted", file.read())

    def test_homogenisation(self):
        run = self.stop(*self.BONE, "--test", "homogenise", "-v", until=" 3/")
        self.assertEqual([solve["load"] for solve in run["results"]["solves"]], ["xx"])
        self.assertNotIn("homogenised", run["results"])

    def test_pfem(self):
        problem = {**PROBLEM, "mesh": {"generator": "cube", "cells": [6, 6, 6], "size": [2, 2, 2]},
                   "order": 6}
        self.write("p.json", json.dumps(problem))
        run = self.stop("pfem", "p.json", "--preconditioner", "jacobi", "--tolerance", "1e-15",
                        "--max-iterations", "1000000", "--history", "h.csv", "-v", until=" 20/")
        self.assertGreaterEqual(run["iterations"], 20)
        self.assertIsNone(run["residual"]["true"])
        self.assertGreater(run["results"]["strain_energy"], 0)
        self.assertIn("p.hdf", os.listdir(self.path("out")))

    def test_pfem_that_makes_a_factor(self):
        run = self.stop("pfem", "cube", "--cells", "18x18x1", "--size", "0.5x0.5x0.002", "--history", "h.csv",
                        until="making the factor")
        self.assertEqual(run["iterations"], 200)
        self.assertGreater(run["results"]["strain_energy"], 0)
        self.assertEqual(len(self.read("out/h.csv").splitlines()), 2 + 200)
        self.assertIn("cube.hdf", os.listdir(self.path("out")))

    def stop_eikonal(self, time):
        """Of many sets of sites that start at `time`, so that the solve takes seconds; the run and
        its times."""
        self.write("sites.json", json.dumps({f"s{i}": [f"vertices:{i}@t={time}"]
                                             for i in range(100)}))
        run = self.stop("eikonal", "--generate", "box:n=24", "--sites", "sites.json", "--dat",
                        "t.dat", until="set up in", signal_number=signal.SIGINT)
        self.assertFalse(run["results"]["converged"])
        reached = [part["reached"] for part in run["results"]["activation"]]
        self.assertEqual(len(reached), 100)
        self.assertGreaterEqual(min(reached), 1)  # the sites at least
        self.assertLess(max(reached), 15625)
        with open(self.path("out/box.hdf"), "rb") as file:
            self.assertIn(b"interrupted", file.read())
        text = [w["text"] for w in run["warnings"] if w["code"] == "interrupted"][0]
        mark = run["results"]["unreached_mark"]
        self.assertIn(f"{mark} where no wave had come", text)
        times = self.read("out/t_s0.dat").split()
        self.assertEqual(times.count(mark), 15625 - reached[0])
        return mark, times

    def test_eikonal(self):
        mark, times = self.stop_eikonal(0)
        self.assertEqual(mark, "-1")
        self.assertEqual(times.count("0"), 1)

    def test_eikonal_with_sites_before_0(self):
        mark, times = self.stop_eikonal(-3)
        self.assertEqual(mark, "nan")
        self.assertEqual(times.count("-3"), 1)

    def test_table3(self):
        self.stop("pfem", "table3", "--elements", "500", until="order 1:")

    def test_reading_and_setting_up_end_soon(self):
        """A signal right after the first line of the log, of runs that take longer to begin."""
        self.write("s.json", json.dumps({**SCENE, "objects": [{**SCENE["objects"][0], "mesh": {
            "hexa_box": {"cells": [24, 24, 24], "size": [1, 1, 1]}}}]}))
        for arguments in ((*self.BONE[:4], "160", *self.BONE[5:]),
                          ("eikonal", "--generate", "ventricles"),
                          ("softbody", "s.json"),
                          ("topopt", "cantilever", "--cells", "80x40x40"),
                          ("pfem", "sphere", "--order", "8")):
            with self.subTest(subcommand=arguments[0]):
                process = self.start(*arguments, "--backend", "serial", "-o", "out")
                self.wait_for(process, "ossatura ")
                process.send_signal(signal.SIGTERM)
                _, log = process.communicate(timeout=5)
                self.assertEqual(process.returncode, STOPPED, log)
                self.assertIn("stopped by a signal", log)
                self.assertEqual(self.hidden("out"), [])

    def test_a_second_signal_ends_a_run_at_once(self):
        """While it cannot go on, since nobody reads the table that it prints."""
        for second in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(second=second):
                read_end, write_end = os.pipe()
                os.set_blocking(write_end, False)
                try:
                    while os.write(write_end, 4096 * b"x"):
                        pass
                except BlockingIOError:
                    os.set_blocking(write_end, True)
                process = subprocess.Popen(
                    [driver_case.EXECUTABLE, *self.BONE, "-v", "--backend", "serial"],
                    cwd=self.directory.name, stdout=write_end, stderr=subprocess.PIPE, text=True)
                os.close(write_end)
                self.addCleanup(process.kill)
                self.wait_for(process, " 3/")
                process.send_signal(signal.SIGTERM)
                self.wait_for(process, "stopped by a signal")
                self.assertIsNone(process.poll())
                time.sleep(0.15)
                process.send_signal(second)
                self.assertEqual(process.wait(timeout=5), -second)
                process.stderr.close()
                os.close(read_end)

    def test_a_library_that_aborts_ends_a_run_with_an_exit_code(self):
        """As Kokkos does where a device fails; nothing half written is left."""
        process = self.start(*self.BONE, "-v", "--backend", "serial", "-o", "out", "--history", "h.csv")
        self.wait_for(process, " 3/")
        process.send_signal(signal.SIGABRT)
        _, log = process.communicate(timeout=5)
        self.assertEqual(process.returncode, INTERNAL, log)
        self.assertIn("ossatura: internal error: aborted", log)
        self.assertEqual(self.hidden(".") + self.hidden("out"), [])

    def test_a_signal_that_is_sent_twice_is_one(self):
        """As `timeout` does, to a process and to its group."""
        process = self.start(*self.BONE, "-v", "--backend", "serial", "-o", "out")
        self.wait_for(process, " 3/")
        for _ in range(3):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.01)
        _, log = process.communicate(timeout=10)
        self.assertEqual(process.returncode, STOPPED, log)
        self.assertIn("perlin.hdf", os.listdir(self.path("out")))

    def test_two_signals_at_once_end_a_run_at_once(self):
        process = self.start(*self.BONE, "-v", "--backend", "serial", "-o", "out", "--history", "h.csv")
        self.wait_for(process, " 3/")
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
            process.send_signal(number)
        _, log = process.communicate(timeout=5)
        self.assertIn(process.returncode, (-signal.SIGTERM, -signal.SIGINT))
        self.assertNotIn("stopped by a signal", log)
        self.assertEqual(self.hidden(".") + self.hidden("out"), []) # nothing half written is left

    def test_softbody_without_a_checkpoint(self):
        self.write("s.json", json.dumps({**SCENE, "steps": 100000000}))
        run = self.stop("softbody", "s.json", "-v", until=" 20/")
        taken = run["results"]["steps_taken"]
        self.assertGreaterEqual(taken, 20)
        self.assertEqual(len(self.read("out/s.csv").splitlines()), 2 + taken)
        self.assertIn(f"s_{taken:06}.hdf", os.listdir(self.path("out")))

    def test_a_signal_ends_a_search_for_frequencies(self):
        """It went on to its end, for minutes, and the exit code was 0: of a step, and of the design after the last one."""
        vibrating = ("topopt", "--max-iterations", "100000", "--tolerance", "1e-11", "--precision", "double")
        run = self.stop(*vibrating, "cantilever", "--cells", "40x20x20", "--mass-density", "7800", "--steps", "1",
                        "--frequencies", "10", "--min-modulus", "1e-9", "-v", until=" 1/1 ")
        self.assertEqual(run["results"]["steps_taken"], 1)
        self.assertIn("cantilever.hdf", os.listdir(self.path("out")))
        self.write("f.json", json.dumps({
            "mesh": {"box": {"cells": [40, 20, 20], "size": [40, 20, 20]}}, "volume_fraction": 0.5, "objective": "frequency",
            "material": {"young": 2e11, "poisson": 0.3, "mass_density": 7800}, "supports": [{"box": [0, 0, 0, 0, 20, 20]}],
            "passive": [{"box": [39, 0, 0, 40, 20, 20], "role": "solid"}], "cases": [
                {"name": "tip", "loads": [{"box": [40, 0, 0, 40, 20, 20], "total_force": [0, 0, -1]}]}]}))
        process = self.start(*vibrating, "f.json", "--frequencies", "10", "--min-modulus", "1e-9", "--backend", "serial", "-o",
                             "step", "--checkpoint", "c.h5")
        self.wait_for(process, "operator")
        time.sleep(2)  # it takes ten times as long
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=15)  # a step has five seconds to end
        self.assertEqual(process.returncode, STOPPED, log)
        self.assertIn("stopped by a signal after step 0", log)
        self.assertIn("c.h5", os.listdir(self.path("step")))
        self.assertEqual(self.hidden("step"), [])

    def test_a_signal_ends_what_follows_the_steps(self):
        """The surface is not solved again, and the bound is what it was; the exit code was 0."""
        part = ("topopt", "cantilever", "--cells", "48x24x24", "--steps", "8", "--overwrite")
        run = self.stop(*part, "--grid", "voxels", "--reanalyse", "4", until="solving the surface again")
        self.assertEqual(run["results"]["reanalysis"]["failure"], "stopped by a signal")
        self.assertEqual((run["results"]["steps_taken"], run["results"]["reanalysis"].get("cubes")), (8, None))
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["cantilever.csv", "cantilever.hdf", "cantilever.stl", "run.json"])
        run = self.stop(*part, "--bound", until="looking for a bound")
        self.assertEqual(run["results"]["steps_taken"], 8)

    def test_topopt_without_a_checkpoint(self):
        run = self.stop("topopt", "cantilever", "--cells", "8x4x4", "--change", "0", "--steps",
                        "100000000", "-v", until=" 3/")
        taken = run["results"]["steps_taken"]
        self.assertEqual(len(self.read("out/cantilever.csv").splitlines()), 1 + taken)
        self.assertIn("cantilever.hdf", os.listdir(self.path("out")))

    def test_another_run_of_the_same_name_is_refused_meanwhile(self):
        process = self.start(*self.BONE, "-v", "-o", "out", "--backend", "serial")
        for line in process.stderr:
            if " 1/" in line:
                break
        small = ("bone", "--generate", "perlin", "--size", "8", "-o", "out", "--backend", "serial",
                 "-q", "--fraction", "0.9", "--feature", "4", "--largest-component")
        self.fails(USAGE, "another run", *small)
        self.ossatura(*CUBE, "-o", "out")  # another name
        process.kill()
        process.communicate()
        self.ossatura(*small)
        self.assertEqual(self.hidden("out"), [])


class Progress(OutputCase):
    def lines(self, *options):
        """Lines of progress of many iterations, and the one that names the columns."""
        self.write("p.json", json.dumps({**PROBLEM, "order": 4, "mesh": {
            "generator": "cube", "cells": [12, 1, 1], "size": [24, 1, 1]}, "loads": [
                {"plane": "x=24", "traction": [0, 0, 1]}]}))
        log = self.ossatura("pfem", "p.json", "--preconditioner", "jacobi", "--backend", "serial",
                          *options).stderr.splitlines()
        heading = next(i for i, line in enumerate(log) if "iteration" in line and "residual" in line)
        return log[heading], [line for line in log[heading + 1:] if "/5000 " in line]

    def test_a_file_gets_few_lines(self):
        heading, lines = self.lines()
        self.assertIn("of the displacements", heading)
        _, every = self.lines("-v")
        self.assertGreater(len(every), 100)
        self.assertLess(len(lines), 40)
        self.assertEqual([line.split()[1] for line in (lines[0], lines[-1])],
                         [line.split()[1] for line in (every[0], every[-1])])


if __name__ == "__main__":
    driver_case.main()
