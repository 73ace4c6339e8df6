# SPDX-License-Identifier: Apache-2.0
"""`femura eikonal` end to end on every backend: cases with closed answers, real file formats, batches
of sites, results read back from disk, bad input."""
import json
import os
import struct

import driver_case
from driver_case import BAD_FILE, DONE, NOT_CONVERGED, UNAVAILABLE, USAGE, DriverCase

KUHN = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
METHODS = ("queue", "scan", "spread", "patch")


class Mesh:
    """A box of cubes of 1 mm, each of six tetrahedra; the tag is 1 below x = `middle`, else 2."""

    def __init__(self, nx=4, ny=2, nz=2, middle=2):
        self.n = (nx, ny, nz)
        self.points = [(x, y, z) for z in range(nz + 1) for y in range(ny + 1)
                       for x in range(nx + 1)]
        self.tetra, self.tags = [], []
        for z in range(nz):
            for y in range(ny):
                for x in range(nx):
                    for steps in KUHN:
                        corner, cell = [x, y, z], [self.vertex(x, y, z)]
                        for d in steps:
                            corner[d] += 1
                            cell.append(self.vertex(*corner))
                        self.tetra.append(cell)
                        self.tags.append(1 if x < middle else 2)

    def vertex(self, x, y, z):
        return x + (self.n[0] + 1) * (y + (self.n[1] + 1) * z)

    def face(self, x):
        """Vertices of a plane normal to x."""
        return [v for v, p in enumerate(self.points) if p[0] == x]

    def pts(self, unit=1000):
        return "\n".join([str(len(self.points))] +
                         ["%.9g %.9g %.9g" % tuple(unit * c for c in p) for p in self.points]) + "\n"

    def elem(self):
        return "\n".join([str(len(self.tetra))] +
                         ["Tt %d %d %d %d %d" % (*cell, tag)
                          for cell, tag in zip(self.tetra, self.tags)]) + "\n"

    def lon(self, *directions):
        row = " ".join("%g %g %g" % d for d in directions)
        return "\n".join([str(len(directions))] + [row] * len(self.tetra)) + "\n"

    def vtk(self):
        lines = ["# vtk DataFile Version 3.0", "box", "ASCII", "DATASET UNSTRUCTURED_GRID",
                 f"POINTS {len(self.points)} double"]
        lines += ["%g %g %g" % p for p in self.points]
        lines += [f"CELLS {len(self.tetra)} {5 * len(self.tetra)}"]
        lines += ["4 %d %d %d %d" % tuple(cell) for cell in self.tetra]
        lines += [f"CELL_TYPES {len(self.tetra)}"] + ["10"] * len(self.tetra)
        lines += [f"CELL_DATA {len(self.tetra)}", "SCALARS region int 1", "LOOKUP_TABLE default"]
        lines += [str(tag) for tag in self.tags]
        lines += ["VECTORS axis float"] + ["1 0 0"] * len(self.tetra)
        return "\n".join(lines) + "\n"

    def msh(self):
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(self.points))]
        lines += ["%d %g %g %g" % (v + 1, *p) for v, p in enumerate(self.points)]
        lines += ["$EndNodes", "$Elements", str(len(self.tetra))]
        lines += ["%d 4 2 %d %d %d %d %d %d" % (e + 1, tag, tag, *(v + 1 for v in cell))
                  for e, (cell, tag) in enumerate(zip(self.tetra, self.tags))]
        return "\n".join(lines + ["$EndElements"]) + "\n"


class EikonalCase(DriverCase):
    def setUp(self):
        super().setUp()
        self.mesh = Mesh()
        self.write_carp()
        self.write("v.json", json.dumps({"1": {"vl": 0.5, "vt": 0.25}, "2": {"vl": 1, "vt": 0.5}}))

    def write_carp(self, name="box"):
        self.write(name + ".pts", self.mesh.pts())
        self.write(name + ".elem", self.mesh.elem())
        self.write(name + ".lon", self.mesh.lon((1, 0, 0)))

    def close(self, value, expected, relative=2e-6):
        self.assertLessEqual(abs(value - expected), relative * max(abs(expected), 1e-3),
                             f"{value} is not {expected}")

    def run_box(self, *arguments, code=DONE):
        """The box, started on its face x = 0."""
        return self.summary("eikonal", "box", "--velocities", "v.json", "--site", "box:0,0,0,0,9,9",
                            "-q", *arguments, code=code)

    def times(self, *arguments, name="t.dat"):
        """The times of a run, through its .dat file."""
        self.femura("eikonal", *arguments, "--dat", name, "-q")
        return [float(line) for line in self.read(name).split()]

    def fails(self, code, message, *arguments):
        """And leaves nothing behind."""
        before = self.files()
        process = super().fails(code, message, "eikonal", *arguments)
        self.assertEqual(self.files(), before)
        return process


class ClosedAnswers(EikonalCase):
    def test_plane_wave_through_two_tissues_on_each_backend_method_and_metric(self):
        self.write("end.vtx", "9\nextra\n" + "\n".join(map(str, self.mesh.face(0))) + "\n")
        for backend in driver_case.backends():
            for method in METHODS:
                for options in ((), ("--metric", "products"), ("--deterministic",),
                                ("--precision", "double")):
                    with self.subTest(backend=backend, method=method, options=options):
                        run = self.summary("eikonal", "box.pts", "--velocities", "v.json", "--site",
                                           "vtx:end.vtx@t=3", "--method", method, "--backend",
                                           backend, "--dat", "t.dat", "-q", *options)
                        self.assertEqual(run["status"], "converged")
                        times = [float(line) for line in self.read("t.dat").split()]
                        for time, point in zip(times, self.mesh.points):
                            x = point[0]
                            self.close(time, 3 + min(x, 2) / 0.5 + max(x - 2, 0) / 1)
                        activation = run["results"]["activation"][0]
                        self.close(activation["earliest"], 3)
                        self.close(activation["latest"], 9)
                        self.close(activation["total_activation_time"], 6)
                        self.assertLessEqual(run["results"]["certificate"], 1e-6)

    def test_statistics_by_tag(self):
        run = self.run_box()
        activation = run["results"]["activation"][0]
        self.assertEqual([tag["tag"] for tag in activation["tags"]], [1, 2])
        one, two = activation["tags"]
        self.assertEqual((one["vertices"], two["vertices"]), (27, 27))  # one plane is shared
        for tag, earliest, mean, latest in ((one, 0, 2, 4), (two, 4, 5, 6)):
            self.close(tag["earliest"], earliest)
            self.close(tag["mean"], mean)
            self.close(tag["latest"], latest)
        self.assertEqual(activation["vertices"], 45)
        self.assertEqual(activation["unreached"], 0)

    def test_fibres_and_sheets_make_three_velocities(self):
        self.write("box.lon", self.mesh.lon((0, 1, 0), (0, 0, 1)))
        along = self.times("box", "--velocity", "0.8,0.4,0.2", "--site", "box:0,0,0,0,9,9")
        self.close(max(along), 4 / 0.2)  # x is normal to both
        along = self.times("box", "--velocity", "0.8,0.4,0.2", "--site", "box:0,0,0,9,0,9")
        self.close(max(along), 2 / 0.8)
        along = self.times("box", "--velocity", "0.8,0.4,0.2", "--site", "box:0,0,0,9,9,0")
        self.close(max(along), 2 / 0.4)

    def test_no_fibre_is_isotropic(self):
        self.write("box.lon", self.mesh.lon((0, 0, 0)))
        run = self.summary("eikonal", "box", "--velocity", "0.8,0.4", "--site", "box:0,0,0,9,0,9",
                           "-q")
        self.close(run["results"]["activation"][0]["latest"], 2 / 0.8)
        self.assertEqual(run["problem"]["isotropic_tetrahedra"], len(self.mesh.tetra))
        os.remove(self.path("box.lon"))
        run = self.summary("eikonal", "box", "--velocity", "0.8,0.4", "--site", "box:0,0,0,9,0,9",
                           "-q")
        self.close(run["results"]["activation"][0]["latest"], 2 / 0.8)
        self.assertFalse(run["problem"]["fibres"])

    def test_slab_of_niederer(self):
        run = self.summary("eikonal", "--generate", "slab:h=0.5", "--precision", "double", "-q")
        far = run["results"]["activation"][0]["latest"]
        self.assertGreater(far, 36.2189)  # an upper bound of the exact time
        self.assertLess(far, 1.025 * 36.2189)
        self.assertEqual(run["results"]["activation"][0]["sites"][0]["vertices"], 64)
        self.assertEqual(run["problem"]["tissues"][0]["vl"], 0.6)

    def test_ventricles_are_activated_as_a_heart(self):
        run = self.summary("eikonal", "--generate", "ventricles:h=3", "-q")
        activation = run["results"]["activation"][0]
        self.assertEqual(len(activation["sites"]), 5)
        self.assertEqual(activation["unreached"], 0)
        self.assertEqual([tag["tag"] for tag in activation["tags"]], [1, 2])
        self.assertGreater(activation["total_activation_time"], 100)
        self.assertLess(activation["total_activation_time"], 180)
        tissue = run["problem"]["tissues"][0]
        self.assertEqual((tissue["vl"], tissue["vt"], tissue["vn"]), (0.6, 0.4, 0.2))

    def test_seed_moves_the_points_of_a_box(self):
        box = ("--generate", "box:n=3,h=2,jitter=0.2", "--site", "point:0,0,0",
               "--deterministic")
        first = self.times(*box, "--seed", "1")
        self.assertEqual(self.times(*box, "--seed", "1"), first)
        self.assertNotEqual(self.times(*box, "--seed", "2"), first)


class Sites(EikonalCase):
    def test_vertices_points_spheres_and_boxes_mean_the_same(self):
        expected = None
        for site in ("vertices:0,1", "box:0,0,0,1,0,0", "sphere:0.5,0,0,0.5"):
            with self.subTest(site=site):
                times = self.times("box", "--velocities", "v.json", "--site", site)
                expected = expected or times
                self.assertEqual(times, expected)
        two = self.times("box", "--velocities", "v.json", "--site", "point:0.1,0.2,0.1", "--site",
                         "point:0.9,0.1,-0.2")
        self.assertEqual(two, expected)

    def test_the_earliest_of_several_waves_counts(self):
        both = self.times("box", "--velocities", "v.json", "--site", "box:0,0,0,0,9,9@t=1",
                          "--site", "box:4,0,0,4,9,9@t=2.5")
        for time, (x, _, _) in zip(both, self.mesh.points):
            left = 1 + min(x, 2) / 0.5 + max(x - 2, 0)
            right = 2.5 + min(4 - x, 2) + max(2 - x, 0) / 0.5
            self.close(time, min(left, right))

    def test_an_overtaken_site_is_reported(self):
        process = self.femura("eikonal", "box", "--velocities", "v.json", "--site",
                              "box:0,0,0,0,9,9", "--site", "vertices:4@t=20", "--site",
                              "vertices:4,0@t=6.5", "--json", "-", "-q")
        activation = json.loads(process.stdout)["results"]["activation"][0]
        self.assertEqual(activation["swallowed_sites"], 2)
        self.assertEqual([site["swallowed_vertices"] for site in activation["sites"]], [0, 1, 2])
        self.close(activation["latest"], 6)
        self.assertIn("vertices:4@t=20 is swallowed", process.stderr)

    def test_sets_of_sites_are_solved_each_on_its_own(self):
        sets = {"left": ["box:0,0,0,0,9,9"], "right": ["box:4,0,0,4,9,9@t=2"],
                "both": ["box:0,0,0,0,9,9", "box:4,0,0,4,9,9@t=2"]}
        self.write("s.json", json.dumps(sets))
        for backend in driver_case.backends():
            for method in METHODS:
                with self.subTest(backend=backend, method=method):
                    run = self.summary("eikonal", "box", "--velocities", "v.json", "--sites",
                                       "s.json", "--dat", "act.dat", "--igb", "act.igb", "--hdf",
                                       "f.hdf", "--method", method, "--backend", backend, "-q")
                    activation = run["results"]["activation"]
                    self.assertEqual([a["set"] for a in activation], ["left", "right", "both"])
                    times = {}
                    for name, sites in sets.items():
                        times[name] = [float(t) for t in self.read(f"act_{name}.dat").split()]
                        alone = self.times("box", "--velocities", "v.json", "--method", method,
                                           "--backend", backend, *sum((["--site", s] for s in sites),
                                                                      []))
                        for a, b in zip(times[name], alone):
                            self.close(a, b)
                        self.assertTrue(os.path.exists(self.path(f"act_{name}.igb")))
                    for left, right, both in zip(*times.values()):
                        self.close(both, min(left, right))

    def test_a_file_with_one_set_needs_no_name(self):
        os.mkdir(self.path("sites"))
        self.write("sites/a.vtx", "1\nintra\n7\n")
        self.write("sites/s.json", '["vtx:a.vtx@t=4"]')
        run = self.summary("eikonal", "box", "--velocities", "v.json", "--sites", "sites/s.json",
                           "-q")
        self.close(run["results"]["activation"][0]["earliest"], 4)
        self.assertEqual(run["results"]["activation"][0]["set"], "")


class Formats(EikonalCase):
    """The same box through the formats."""

    def expect_box(self, *arguments):
        run = self.summary("eikonal", *arguments, "--velocities", "v.json", "--site",
                           "box:0,0,0,0,9,9", "-q")
        self.assertEqual(run["problem"]["vertices"], len(self.mesh.points))
        self.assertEqual(run["problem"]["tetrahedra"], len(self.mesh.tetra))
        self.assertEqual(run["problem"]["upper"], [4, 2, 2])
        self.close(run["results"]["activation"][0]["latest"], 6)
        return run

    def test_opencarp(self):
        for name in ("box", "box.pts", "box.elem"):
            run = self.expect_box(name)
            self.assertEqual([os.path.basename(i["path"]) for i in run["provenance"]["inputs"]],
                             ["v.json", "box.pts", "box.elem", "box.lon"])
        self.write("box.pts", self.mesh.pts(unit=1))
        self.expect_box("box", "--unit", "1")
        self.write("other.lon", self.mesh.lon((1, 0, 0)))
        os.remove(self.path("box.lon"))
        run = self.expect_box("box", "--unit", "1", "--fibre-file", "other.lon")
        self.assertTrue(run["problem"]["fibres"])

    def test_vtk_with_named_fields(self):
        self.write("box.vtk", self.mesh.vtk())
        run = self.expect_box("box.vtk", "--tag-field", "region", "--fibre-field", "axis")
        self.assertTrue(run["problem"]["fibres"])

    def test_gmsh(self):
        self.write("box.msh", self.mesh.msh())
        self.expect_box("box.msh")


class Results(EikonalCase):
    def test_results_go_to_the_output_directory(self):
        self.femura("eikonal", "box", "--velocities", "v.json", "--site", "vertices:0", "-o", "out",
                    "--igb", "act.igb", "--dat", "act.dat", "-q")
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["act.dat", "act.igb", "box.hdf", "box.summary.json"])
        self.femura("eikonal", "box", "--velocities", "v.json", "--site", "vertices:0", "-o", "two",
                    "--no-hdf", "-q")
        self.assertEqual(os.listdir(self.path("two")), ["box.summary.json"])

    def test_nothing_is_written_unasked(self):
        before = self.files()
        process = self.femura("eikonal", "box", "--velocities", "v.json", "--site", "vertices:0")
        self.assertEqual(self.files(), before)
        for part in ("Activation (ms)", "total activation time", "certificate", "tag 2"):
            self.assertIn(part, process.stdout)
        self.assertIn("million tetrahedra per second", process.stderr)

    def test_igb_holds_the_times_in_a_header_of_1024_bytes(self):
        times = self.times("box", "--velocities", "v.json", "--site", "vertices:0", "--igb",
                           "act.igb")
        with open(self.path("act.igb"), "rb") as file:
            content = file.read()
        header = dict(pair.split(":", 1) for pair in content[:1024].decode("ascii").split()
                      if ":" in pair)
        self.assertEqual((header["x"], header["t"], header["type"]),
                         (str(len(self.mesh.points)), "1", "float"))
        values = struct.unpack("<%df" % len(self.mesh.points), content[1024:])
        for value, time in zip(values, times):
            self.close(value, time)

    def test_summary_has_the_parts_of_every_subcommand(self):
        run = self.run_box()
        self.assertEqual(list(run), ["schema", "status", "problem", "engine", "parameters",
                                     "iterations", "residual", "timings", "memory", "results",
                                     "provenance"])
        self.assertEqual(run["schema"], "femura/eikonal/1")
        self.assertIn(run["engine"]["method"], ("queue", "spread"))
        self.assertEqual(run["engine"]["precision"], "single")
        self.assertEqual(run["engine"]["metric_bytes_per_tetrahedron"], 24)
        self.assertLessEqual(run["parameters"]["tolerance"], 1e-6)
        self.assertEqual(run["residual"]["true"], run["results"]["certificate"])
        self.assertEqual(run["provenance"]["units"]["time"], "ms")
        for seconds in ("read", "setup", "solve", "write"):
            self.assertGreaterEqual(run["results"]["seconds"][seconds], 0)
        self.assertGreater(run["results"]["million_tetrahedra_per_second"], 0)
        self.assertGreaterEqual(run["results"]["evaluations_per_vertex"], 0.5)
        self.assertGreater(run["results"]["local_solves_per_vertex"],
                           run["results"]["evaluations_per_vertex"])
        tissue = run["problem"]["tissues"][1]
        self.assertEqual(tissue, {"tag": 2, "tetrahedra": len(self.mesh.tetra) // 2, "vl": 1,
                                  "vt": 0.5, "vn": 0.5})
        products = self.run_box("--metric", "products")
        self.assertEqual(products["engine"]["metric_bytes_per_tetrahedron"], 72)

    def test_unreached_parts_are_told_apart_from_non_convergence(self):
        near, far = Mesh(1, 1, 1), Mesh(2, 1, 1)
        shift = len(near.points)
        self.mesh.points = near.points + [(x + 10, y, z) for x, y, z in far.points]
        self.mesh.tetra = near.tetra + [[v + shift for v in cell] for cell in far.tetra]
        self.mesh.tags = near.tags + [5] * len(far.tetra)
        self.write_carp("two")
        process = self.femura("eikonal", "two", "--velocity", "0.5", "--site", "vertices:0",
                              "--json", "-", "--dat", "act.dat", "--igb", "act.igb", "-q")
        run = json.loads(process.stdout)
        self.assertEqual(run["status"], "converged")
        activation = run["results"]["activation"][0]
        self.assertEqual(activation["unreached"], len(far.points))
        self.assertEqual(activation["reached"], shift)
        self.assertEqual(activation["tags"][-1]["tag"], 5)
        self.assertEqual(activation["tags"][-1]["reached"], 0)
        self.assertIsNone(activation["tags"][-1]["latest"])
        self.assertIn("12 of 20 vertices are reached by no site", process.stderr)
        times = [float(line) for line in self.read("act.dat").split()]
        self.assertEqual(times[shift:], [-1] * len(far.points))
        self.assertTrue(all(time >= 0 for time in times[:shift]))
        with open(self.path("act.igb"), "rb") as file:
            self.assertEqual(struct.unpack("<f", file.read()[-4:])[0], -1)

    def test_too_few_iterations_are_reported_and_results_written(self):
        process = self.femura("eikonal", "--generate", "ventricles:h=3", "--max-iterations", "3",
                              "--json", "s.json", "--dat", "t.dat", code=NOT_CONVERGED)
        self.assertIn("NOT CONVERGED", process.stdout)
        self.assertIn("not converged after 3 iterations", process.stderr)
        run = json.loads(self.read("s.json"))
        self.assertEqual(run["status"], "not converged")
        self.assertFalse(run["results"]["converged"])
        self.assertEqual(len(self.read("t.dat").split()), run["problem"]["vertices"])

    def test_dry_run_predicts_and_writes_nothing(self):
        before = self.files()
        plan = self.run_box("--dry-run", "--dat", "t.dat", "--hdf", "f.hdf")
        self.assertEqual(self.files(), before)
        self.assertEqual(plan["status"], "dry run")
        self.assertEqual(plan["problem"]["tetrahedra"], len(self.mesh.tetra))
        more = self.run_box("--dry-run", "--metric", "products")
        self.assertEqual(more["results"]["predicted_device_bytes"] -
                         plan["results"]["predicted_device_bytes"], 48 * len(self.mesh.tetra))
        self.assertGreater(plan["results"]["predicted_host_bytes"], 0)

    def test_predicted_memory_is_about_what_is_used(self):
        mesh = ("--generate", "ventricles:h=1.5", "-q")
        for backend in driver_case.backends():
            with self.subTest(backend=backend):
                plan = self.summary("eikonal", *mesh, "--dry-run", "--backend", backend)
                run = self.summary("eikonal", *mesh, "--backend", backend)
                ratio = run["memory"]["kokkos_peak_bytes"] / \
                    plan["results"]["predicted_device_bytes"]
                self.assertGreater(ratio, 0.5)
                self.assertLess(ratio, 1.5)

    def test_two_precisions_agree(self):
        box = ("--generate", "ventricles:h=3")
        single = self.times(*box)
        double = self.times(*box, "--precision", "double")
        for a, b in zip(single, double):
            self.close(a, b, 2e-5)


class Determinism(EikonalCase):
    def test_bitwise_the_same_for_threads_methods_and_parts(self):
        expected = None
        engines = [("--backend", "serial")]
        if "openmp" in driver_case.backends():
            engines += [("--backend", "openmp", "--threads", n) for n in (1, 2)]
        for engine in engines:
            for method in (("queue",), ("scan",), ("spread", "--parts", "8"), ("patch",),
                           ("patch", "--parts", "1"), ("patch", "--parts", "64")):
                with self.subTest(engine=engine, method=method):
                    self.femura("eikonal", "--generate", "ventricles:h=3", "--deterministic",
                                "--igb", "act.igb", "-q", *engine, "--method", *method)
                    with open(self.path("act.igb"), "rb") as file:
                        content = file.read()[1024:]
                    expected = expected or content
                    self.assertTrue(content == expected)

    def test_results_say_what_is_deterministic_unasked(self):
        def solve(backend, method, *options):
            run = self.summary("eikonal", "--generate", "ventricles:h=3", "--igb", "act.igb", "-q",
                               "--backend", backend, "--method", method, *options)
            with open(self.path("act.igb"), "rb") as file:
                return run["engine"]["deterministic"], file.read()[1024:]

        for backend in driver_case.backends():
            asked, expected = solve(backend, "queue", "--deterministic")
            self.assertTrue(asked)
            always = {"scan", "queue", "spread"} if backend == "cuda" else {"scan"}
            for method in METHODS:
                with self.subTest(backend=backend, method=method):
                    deterministic, content = solve(backend, method)
                    self.assertEqual(deterministic, method in always)
                    if deterministic:
                        self.assertTrue(content == expected)


class BadInput(EikonalCase):
    def bad(self, message, *arguments):
        self.fails(BAD_FILE, message, *arguments, "--json", "s.json", "--hdf", "f.hdf", "--dat",
                   "t.dat", "-q")

    def bad_mesh(self, message, name, content):
        """The box with one file replaced."""
        self.write_carp()
        self.write("box" + name, content)
        self.bad(message, "box", "--velocities", "v.json", "--site", "vertices:0")

    def test_meshes(self):
        pts, elem, lon = self.mesh.pts(), self.mesh.elem(), self.mesh.lon((1, 0, 0))

        def edited(text, line, replacement):
            lines = text.splitlines()
            lines[line - 1] = replacement
            return "\n".join(lines) + "\n"

        self.bad_mesh("box.elem: line 3", ".elem", edited(elem, 3, "Tt 0 1 2 45 1"))  # out of range
        self.bad_mesh("box.elem: line 3", ".elem", edited(elem, 3, "Tt 0 1 2 -1 1"))
        self.bad_mesh("box.elem: line 4", ".elem", edited(elem, 4, "Tt 0 1 1 6 1"))  # twice
        self.bad_mesh("box.elem: line 2", ".elem", edited(elem, 2, "Hx 0 1 2 3 4 5 6 7 1"))
        self.bad_mesh("box.elem", ".elem", elem[:len(elem) // 2])
        self.bad_mesh("box.pts", ".pts", pts[:len(pts) // 2])
        self.bad_mesh("box.pts: line 3", ".pts", edited(pts, 3, "0 nan 0"))
        self.bad_mesh("box.pts", ".pts", pts.replace("45\n", "46\n", 1) + "0 0 9000\n")  # unused
        self.bad_mesh("box.lon", ".lon", "\n".join(lon.splitlines()[:-1]) + "\n")
        self.bad_mesh("box.pts", ".pts", "")

    def test_missing_files(self):
        site = ("--velocities", "v.json", "--site", "vertices:0")
        self.bad("nothere", "nothere", *site)
        self.bad("nothere.vtu", "nothere.vtu", *site)
        self.bad("nothere.json", "box", "--velocities", "nothere.json", "--site", "vertices:0")
        self.bad("nothere.vtx", "box", "--velocities", "v.json", "--site", "vtx:nothere.vtx")
        self.bad("nothere.json", "box", "--velocities", "v.json", "--sites", "nothere.json")
        self.bad("nothere.lon", "box", *site, "--fibre-file", "nothere.lon")

    def test_velocities(self):
        def bad(message, text):
            self.write("w.json", text)
            self.bad(message, "box", "--velocities", "w.json", "--site", "vertices:0")

        bad('48 tetrahedra have tag 2, for which w.json has no velocity: add "2"',
            '{"1": {"vl": 0.6, "vt": 0.3}}')
        bad('tag 2: "vt" is 0', '{"1": {"vl": 1, "vt": 1}, "2": {"vl": 1, "vt": 0}}')
        bad('tag 1: "vl" is -1', '{"1": {"vl": -1, "vt": 1}}')
        bad("did you mean 'v", '{"1": {"vl": 1, "vt": 1, "vm": 1}}')
        bad("w.json: not JSON: line 2", '{"1": {"vl": 1,\n "vt" 1}}')
        bad("twice", '{"1": {"vl": 1, "vt": 1}, "1": {"vl": 1, "vt": 1}}')

    def test_velocities_that_are_not_needed_are_said_in_the_log(self):
        self.write("w.json", '{"7": {"vl": 1, "vt": 1}, "default": {"vl": 0.5, "vt": 0.5}}')
        process = self.femura("eikonal", "box", "--velocities", "w.json", "--site", "vertices:0")
        self.assertIn("no tetrahedron has tag 7", process.stderr)

    def test_sites(self):
        self.write("empty.vtx", "0\nextra\n")
        self.write("far.vtx", "2\nextra\n3\n45\n")
        for message, site in (("vertex 45 is not in the mesh", "vertices:45"),
                              ("no vertex is inside", "sphere:0.5,0.5,0.5,0.1"),
                              ("no vertex is inside", "box:50,0,0,60,9,9"),
                              ("are these coordinates mm?", "point:4000,0,0"),
                              ("far.vtx: line 4", "vtx:far.vtx"), ("empty.vtx", "vtx:empty.vtx")):
            with self.subTest(site=site):
                self.bad(message, "box", "--velocities", "v.json", "--site", site)
        for message, text in (("s1.json: not JSON: line 2", '["vertices:1",\n]'),
                              ('set "a": has no site', '{"a": []}'),
                              ('set "a": site 1', '{"a": ["vertices:x"]}'),
                              ('set "a": \'vertices:99\'', '{"a": ["vertices:99"]}')):
            with self.subTest(text=text):
                self.write("s1.json", text)
                self.bad(message, "box", "--velocities", "v.json", "--sites", "s1.json")


class Usage(EikonalCase):
    def test_what_is_missing(self):
        self.fails(USAGE, "no input")
        self.fails(USAGE, "no conduction velocities", "box", "--site", "vertices:0")
        self.fails(USAGE, "no sites", "box", "--velocities", "v.json")
        self.fails(USAGE, "no sites", "--generate", "box:n=2")

    def test_contradictions_and_options_without_effect(self):
        box = ("box", "--velocities", "v.json", "--site", "vertices:0")
        for arguments in (("--generate", "slab"), ("--velocity", "1"), ("--sites", "s.json"),
                          ("--parts", "3"), ("--seed", "3"), ("--tag-field", "a"),
                          ("--hdf", "a.hdf", "--no-hdf")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], *box, *arguments)
        self.fails(USAGE, "--unit", "--generate", "slab", "--unit", "1")
        self.fails(USAGE, "--fibre-file", "--generate", "slab", "--fibre-file", "a.lon")
        self.fails(USAGE, "--seed", "--generate", "slab", "--seed", "1")

    def test_values_out_of_range(self):
        for arguments in (("--site", "vertices:-1"), ("--site", "ball:1,2,3,4"),
                          ("--site", "point:0,0,0@t=-1"), ("--velocity", "0"),
                          ("--velocity", "1,2,3,4"), ("--tolerance", "-1"), ("--tolerance", "nan"),
                          ("--max-iterations", "0"), ("--method", "fast"), ("--metric", "both"),
                          ("--precision", "mixed"), ("--unit", "0"), ("--parts", "-1")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], "box", *arguments)
        self.fails(USAGE, "did you mean 'queue'?", "box", "--method", "queu")
        self.fails(USAGE, "did you mean 'ventricles'?", "--generate", "ventricle:h=1")
        self.fails(USAGE, "slab has no 'n'", "--generate", "slab:n=3")
        self.fails(USAGE, "unknown option '--history'", "box", "--history", "h.csv")

    def test_a_backend_that_is_not_there(self):
        self.fails(UNAVAILABLE, "serial", "--generate", "slab", "--backend", "quantum")

    def test_help_and_printed_configuration(self):
        text = self.femura("eikonal", "--help").stdout
        for part in ("Conduction velocities", "Sites:", "Solver:", "[default: lengths]", "Examples:",
                     "Exit codes:"):
            self.assertIn(part, text)
        arguments = ("box", "--velocity", "0.6,0.4", "--site", "point:1,2,3@t=5", "--site",
                     "vertices:1,2", "--method", "patch", "--parts", "3", "--deterministic")
        self.write("c.toml", self.femura("eikonal", *arguments, "--print-config").stdout)
        again = self.femura("eikonal", "--config", "c.toml", "--print-config").stdout
        self.assertEqual(self.read("c.toml"), again)
        self.assertIn("point:1,2,3@t=5", again)
        run = self.summary("eikonal", "--config", "c.toml", "-q")
        self.assertEqual(len(run["results"]["activation"][0]["sites"]), 2)
        self.assertEqual(run["engine"]["method"], "patch")
        self.assertTrue(run["engine"]["deterministic"])


if __name__ == "__main__":
    driver_case.main()
