# SPDX-License-Identifier: Apache-2.0
"""`ossatura eikonal` end to end on every backend: cases with closed answers, batches of sites, results read
back from disk."""
import json
import math
import os
import struct

from support import driver_case
from support.driver_case import BAD_FILE, NOT_CONVERGED, USAGE
from support.eikonal_case import METHODS, EikonalCase, Mesh
from support.rounded_box import rounded_box


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

    def test_boxes_and_spheres_have_what_single_precision_puts_beside_them(self):
        self.write("r.vtk", rounded_box((3, 3, 3), 0.1, tetrahedra=True))
        for site, count in (("box:0.3,0,0,0.3,0.3,0.3", 16), ("sphere:0.3,0.3,0.3,0.1", 4)):
            self.assertEqual(self.times("r.vtk", "--velocity", "0.5", "--site", site).count(0), count)

    def test_the_earliest_of_several_waves_counts(self):
        both = self.times("box", "--velocities", "v.json", "--site", "box:0,0,0,0,9,9@t=1",
                          "--site", "box:4,0,0,4,9,9@t=2.5")
        for time, (x, _, _) in zip(both, self.mesh.points):
            left = 1 + min(x, 2) / 0.5 + max(x - 2, 0)
            right = 2.5 + min(4 - x, 2) + max(2 - x, 0) / 0.5
            self.close(time, min(left, right))

    def test_an_overtaken_site_is_reported(self):
        process = self.ossatura("eikonal", "box", "--velocities", "v.json", "--site",
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
        self.assertIsNone(run["results"]["activation"][0]["set"])

    def test_numbers_mean_nothing_where_points_are_left_out(self):
        """A triangle of points of its own, before those of the body."""
        lines = self.mesh.vtk().splitlines()
        points = next(i for i, line in enumerate(lines) if line.startswith("POINTS"))
        cells = next(i for i, line in enumerate(lines) if line.startswith("CELLS"))
        types = next(i for i, line in enumerate(lines) if line.startswith("CELL_TYPES"))
        count, rows = len(self.mesh.points), len(self.mesh.tetra)
        moved = ["4 " + " ".join(str(int(v) + 3) for v in row.split()[1:]) for row in lines[cells + 1:types]]
        self.write("electrode.vtk", "\n".join(
            [*lines[:points], f"POINTS {count + 3} double", "-9 0 0", "-9 1 0", "-9 0 1", *lines[points + 1:cells],
             f"CELLS {rows + 1} {5 * rows + 4}", "3 0 1 2", *moved, f"CELL_TYPES {rows + 1}", "5", *["10"] * rows]) + "\n")
        asked = ("electrode.vtk", "--velocity", "0.5")
        at = "point:%g,%g,%g" % self.mesh.points[3]
        run = self.summary("eikonal", *asked, "--site", at, "-q", "--dat", "t.dat")
        self.assertEqual([w["code"] for w in run["warnings"]], ["unused-points"])
        self.assertIn("3 points belong to no tetrahedron", run["warnings"][0]["text"])
        times = [float(line) for line in self.read("t.dat").split()]
        self.assertEqual((len(times), times[3]), (count, 0))
        self.write("a.vtx", "1\nintra\n3\n")
        for site in ("vertices:3", "vtx:a.vtx"):
            self.fails(BAD_FILE, f"'{site}': numbers of vertices mean nothing here, because the mesh has 3 points",
                       *asked, "--site", site)

    def test_files_whose_names_have_an_at_sign(self):
        for name in ("lab@home.vtx", "lab@2.vtx"):
            self.write(name, "1\nintra\n7\n")
            for time, site in ((0, "vtx:" + name), (3, f"vtx:{name}@t=3")):
                run = self.summary("eikonal", "box", "--velocities", "v.json", "--site", site, "-q")
                self.close(run["results"]["activation"][0]["earliest"], time)
        for site in ("vtx:lab@2", "vtx:lab@home.vtx@5", "vtx:lab@home.vtx@0.5", "point:0,0,0@t5"):
            self.fails(USAGE, "expected @t=MS after the place", "box", "--velocities", "v.json", "--site", site)


class Results(EikonalCase):
    def test_results_go_to_the_output_directory(self):
        self.ossatura("eikonal", "box", "--velocities", "v.json", "--site", "vertices:0", "-o", "out",
                    "--igb", "act.igb", "--dat", "act.dat", "-q")
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["act.dat", "act.igb", "box.hdf", "box.summary.json"])
        self.ossatura("eikonal", "box", "--velocities", "v.json", "--site", "vertices:0", "-o", "two",
                    "--no-hdf", "-q")
        self.assertEqual(os.listdir(self.path("two")), ["box.summary.json"])

    def test_nothing_is_written_unasked(self):
        before = self.files()
        process = self.ossatura("eikonal", "box", "--velocities", "v.json", "--site", "vertices:0")
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
        self.assertEqual(list(run), ["schema", "status", "warnings", "problem", "engine", "parameters",
                                     "iterations", "residual", "certificate", "timings", "memory",
                                     "results", "provenance"])
        self.assertEqual(run["warnings"], [])
        self.assertEqual(run["schema"], "ossatura/eikonal/1")
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
        process = self.ossatura("eikonal", "two", "--velocity", "0.5", "--site", "vertices:0",
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
        self.assertIn("the mesh has parts that share no vertex", process.stderr)
        self.assertEqual(run["problem"]["parts"], 2)
        times = [float(line) for line in self.read("act.dat").split()]
        self.assertEqual(times[shift:], [-1] * len(far.points))
        self.assertTrue(all(time >= 0 for time in times[:shift]))
        with open(self.path("act.igb"), "rb") as file:
            self.assertEqual(struct.unpack("<f", file.read()[-4:])[0], -1)

    def test_parts_that_touch_without_being_joined(self):
        """Each has a site, so that all is reached, and later than by a wave that crosses between them."""
        left = Mesh(10, 1, 1)
        shift = len(left.points)
        self.mesh.points = left.points + [(x + 10, y, z) for x, y, z in left.points]
        self.mesh.tetra = left.tetra + [[v + shift for v in cell] for cell in left.tetra]
        self.mesh.tags = left.tags + [7] * len(left.tetra)
        self.write_carp("two")
        arguments = ("eikonal", "two", "--site", "box:0,0,0,0,1,1", "--site", "box:20,0,0,20,1,1@t=30", "-q")
        run = self.summary(*arguments, "--velocity", "0.5")
        self.assertEqual([w["code"] for w in run["warnings"]], ["split-mesh"])
        self.assertIn("two: 4 vertices lie in the place of another one, without being it, the first at (10, 0, 0) mm",
                      run["warnings"][0]["text"])
        self.close(run["results"]["activation"][0]["latest"], 50)
        # What does not conduct is in no wave's way, joined or not.
        run = self.summary("eikonal", "two", "--site", "box:0,0,0,0,1,1", "--velocity", "0.5", "--non-conducting", "7",
                           "-q")
        self.assertEqual(run["warnings"], [])
        places = self.mesh.points
        self.mesh.points = sorted(set(places))
        number = {place: v for v, place in enumerate(self.mesh.points)}
        self.mesh.tetra = [[number[places[v]] for v in cell] for cell in self.mesh.tetra]
        self.write_carp("two")
        run = self.summary(*arguments, "--velocity", "0.5")
        self.assertEqual([w["code"] for w in run["warnings"]], [])
        self.close(run["results"]["activation"][0]["latest"], 34)  # at x = 17 and 18

    def test_a_mesh_that_is_folded(self):
        """A node out of its place, and points in another order, as of another mesh: waves take ways that are none."""
        arguments = ("eikonal", "box", "--velocity", "0.5", "--site", "box:0,0,0,0,9,9", "-q")
        self.mesh = Mesh(12, 6, 6)
        self.write_carp()
        self.assertEqual(self.summary(*arguments)["warnings"], [])
        places = list(self.mesh.points)
        v = places.index((6, 3, 3))
        self.mesh.points[v] = (8.6, 3.2, 3.3)
        self.write_carp()
        found = self.summary(*arguments)["warnings"]
        self.assertEqual([w["code"] for w in found], ["folded-mesh"])
        self.assertRegex(found[0]["text"], "^box: the mesh is folded: at [0-9]+ of [0-9]+ faces both tetrahedra lie on the same side")
        self.assertNotIn("another order", found[0]["text"])
        # What does not conduct carries no wave.
        self.mesh.tags = [3 if v in cell else 1 for cell in self.mesh.tetra]
        self.write_carp()
        self.assertEqual(self.summary(*arguments, "--non-conducting", "3")["warnings"], [])
        self.mesh.points = [places[i * 101 % len(places)] for i in range(len(places))]
        self.write_carp()
        found = [w["text"] for w in self.summary(*arguments)["warnings"] if w["code"] == "folded-mesh"]
        self.assertIn("as where points are those of another mesh, or in another order", found[0])

    def test_times_before_0(self):
        self.write("s.json", '{"early": ["box:0,0,0,0,9,9@t=-5", "box:4,0,0,4,9,9@t=0.5"]}')
        run = self.summary("eikonal", "box", "--velocities", "v.json", "--sites", "s.json",
                           "--dat", "t.dat", "-q")
        times = [float(line) for line in self.read("t_early.dat").split()]
        for time, (x, _, _) in zip(times, self.mesh.points):
            left, right = -5 + min(x, 2) / 0.5 + max(x - 2, 0), 0.5 + min(4 - x, 2)
            self.assertAlmostEqual(time, min(left, right + max(2 - x, 0) / 0.5), places=5)
        activation = run["results"]["activation"][0]
        self.assertEqual(activation["earliest"], -5)
        self.close(activation["total_activation_time"], 5.5)
        self.assertEqual([site["swallowed_vertices"] for site in activation["sites"]], [0, 0])
        self.assertEqual(run["results"]["unreached_mark"], "nan")

    def values_of_igb(self, name):
        with open(self.path(name), "rb") as file:
            data = file.read()[1024:]
        return struct.unpack(f"<{len(data) // 4}f", data)

    def test_durations_do_not_depend_on_the_start(self):
        self.mesh = Mesh(7, 5, 6)
        self.mesh.points = [(x + 0.2 * math.sin(7 * y + 3 * z), y + 0.2 * math.sin(5 * x + 11 * z),
                             z + 0.2 * math.sin(13 * x + 2 * y)) for x, y, z in self.mesh.points]
        self.write_carp()
        late = 9e5
        for backend in driver_case.backends():
            for method in METHODS:
                with self.subTest(backend=backend, method=method):
                    box = ("eikonal", "box", "--velocities", "v.json", "-q", "--igb", "t.igb", "--backend", backend,
                           "--method", method, "--sites", "s.json")
                    times, runs = [], []
                    for start in 0, late, -late:
                        self.write("s.json", json.dumps({"one": [f"vertices:0@t={start!r}"], "two": [
                            f"vertices:0@t={start!r}", f"vertices:40@t={start + 2.5!r}"]}))
                        runs.append(self.summary(*box))
                        times.append([t - start for name in ("one", "two") for t in self.values_of_igb(f"t_{name}.igb")])
                    for shifted, run in zip(times[1:], runs[1:]):
                        worst = max(abs(a - b) for a, b in zip(times[0], shifted))
                        self.assertLessEqual(worst, 1.1 * 2 ** -5)  # half the distance of two numbers of single precision
                        self.close(run["results"]["certificate_ms"], runs[0]["results"]["certificate_ms"], 0.5)
                        self.assertEqual([one["code"] for one in run["warnings"]], 2 * ["coarse-times"])
                    self.assertEqual(runs[0]["warnings"], [])
        found = [self.summary("eikonal", "box", "--velocities", "v.json", "-q", "--precision", "double", "--site",
                              f"vertices:0@t={start}") for start in (0, late)]
        early, shifted = (run["results"]["activation"][0] for run in found)
        self.close(shifted["latest"] - late, early["latest"], 1e-9)
        self.assertEqual(found[1]["warnings"], [])

    def test_unreached_vertices_are_no_times_before_0(self):
        self.mesh.tags = [3 if tag == 2 else 1 for tag in self.mesh.tags]
        self.write_carp()
        scar = ("box", "--velocity", "0.5", "--non-conducting", "3", "--site")
        for start, mark in (("0", "-1"), ("-5", "nan")):
            process = self.ossatura("eikonal", *scar, f"vertices:0@t={start}", "--dat", "t.dat",
                                  "--igb", "t.igb", "--json", "-", "-q")
            run = json.loads(process.stdout)
            self.assertEqual(run["results"]["unreached_mark"], mark)
            times = self.read("t.dat").split()
            for time, (x, _, _) in zip(times, self.mesh.points):
                self.assertEqual(time == mark, x > 2)
            with open(self.path("t.igb"), "rb") as file:
                last = struct.unpack("<f", file.read()[-4:])[0]
            self.assertEqual(str(last), {"-1": "-1.0"}.get(mark, mark))

    def test_the_certificate_tells_what_single_precision_loses(self):
        self.mesh = Mesh(8, 8, 8)
        self.mesh.points = [(x + 0.2 * math.sin(7 * y + 3 * z), y + 0.2 * math.sin(5 * x + 11 * z),
                             0.001 * (z + 0.2 * math.sin(13 * x + 2 * y)))
                            for x, y, z in self.mesh.points]
        self.write_carp()
        box = ("eikonal", "box", "--velocity", "0.6", "--site", "vertices:0", "-q", "--dat", "t.dat")
        certificate, times = {}, {}
        for precision in ("single", "double"):
            run = self.summary(*box, "--precision", precision)
            self.assertEqual(run["status"], "converged")
            certificate[precision] = run["results"]["certificate"]
            times[precision] = [float(line) for line in self.read("t.dat").split()]
        error = max(abs(a - b) / b for a, b in list(zip(times["single"], times["double"]))[1:])
        self.assertGreater(error, 3e-6)
        self.assertGreater(certificate["single"], error / 3)
        self.assertLess(certificate["double"], 1e-6)

    def test_too_few_iterations_are_reported_and_results_written(self):
        process = self.ossatura("eikonal", "--generate", "ventricles:h=3", "--max-iterations", "3",
                              "--json", "s.json", "--dat", "t.dat", code=NOT_CONVERGED)
        self.assertIn("NOT CONVERGED", process.stdout)
        self.assertIn("not converged after 3 iterations", process.stderr)
        self.assertIn("raise --max-iterations", process.stderr)
        self.assertNotIn("too flat", process.stderr)
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
                    self.ossatura("eikonal", "--generate", "ventricles:h=3", "--deterministic",
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


if __name__ == "__main__":
    driver_case.main()
