# SPDX-License-Identifier: Apache-2.0
"""`ossatura eikonal` end to end on every backend: cases with closed answers, real file formats, batches
of sites, results read back from disk, bad input."""
import json
import math
import os
import struct

from support import driver_case
from support.driver_case import BAD_FILE, DONE, NOT_CONVERGED, UNAVAILABLE, USAGE, DriverCase
from support.rounded_box import rounded_box

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

    def vtu(self, cell_data):
        """`cell_data`: XML between arrays, as VTK writes it; TAGS and FIBRES stand for these arrays."""
        def array(name, rows, more="", kind="Int64"):
            numbers = "\n".join(" ".join(f"{x:g}" for x in row) for row in rows)
            return f'<DataArray type="{kind}" Name="{name}" format="ascii"{more}>\n{numbers}\n</DataArray>\n'
        three = ' NumberOfComponents="3"'
        for key, text in (("TAGS", array("tags", [(t,) for t in self.tags])),
                          ("FIBRES", array("fibre", [(1, 0, 0)] * len(self.tetra), three, "Float32"))):
            cell_data = cell_data.replace(key, text)
        n = len(self.tetra)
        return (f'<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian"><UnstructuredGrid>\n'
                f'<Piece NumberOfPoints="{len(self.points)}" NumberOfCells="{n}">\n<CellData>\n{cell_data}</CellData>\n'
                f'<Points>\n{array("Points", self.points, three, "Float64")}</Points>\n'
                f'<Cells>\n{array("connectivity", self.tetra)}{array("offsets", [(4 * e + 4,) for e in range(n)])}'
                f'{array("types", [(10,)] * n)}</Cells>\n</Piece></UnstructuredGrid></VTKFile>\n')

    def msh(self, groups=None, names=()):
        """`groups`: of each tag, 0 for none; else the tags themselves. Entities are the tags."""
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat"]
        if names:
            lines += ["$PhysicalNames", str(len(names)), *names, "$EndPhysicalNames"]
        lines += ["$Nodes", str(len(self.points))]
        lines += ["%d %g %g %g" % (v + 1, *p) for v, p in enumerate(self.points)]
        lines += ["$EndNodes", "$Elements", str(len(self.tetra))]
        lines += ["%d 4 2 %d %d %d %d %d %d" % (e + 1, tag if groups is None else groups[tag], tag, *(v + 1 for v in cell))
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
        super().close(value, expected, relative, scale=1e-3)

    def run_box(self, *arguments, code=DONE):
        """The box, started on its face x = 0."""
        return self.summary("eikonal", "box", "--velocities", "v.json", "--site", "box:0,0,0,0,9,9",
                            "-q", *arguments, code=code)

    def times(self, *arguments, name="t.dat"):
        """The times of a run, through its .dat file."""
        self.ossatura("eikonal", *arguments, "--dat", name, "-q")
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


class Tissues(EikonalCase):
    """Which tissue conducts, and how fast."""

    def setUp(self):
        super().setUp()
        # A block of tag 3 half across the way of the wave, two vertices of which are its alone.
        self.mesh = Mesh(6, 2, 1)
        for e, cell in enumerate(self.mesh.tetra):
            x, y = (sum(self.mesh.points[v][d] for v in cell) / 4 for d in (0, 1))
            self.mesh.tags[e] = 3 if 2 < x < 4 and y < 1 else 1
        self.inside = [self.mesh.vertex(3, 0, z) for z in (0, 1)]
        self.write_carp()

    def scar(self):
        return [e for e, tag in enumerate(self.mesh.tags) if tag == 3]

    def times_without_scar(self):
        """By vertex, of a mesh from which the scar was cut out beforehand."""
        cut = Mesh(6, 2, 1)
        kept = [v for v in range(len(cut.points)) if v not in self.inside]
        number = {v: i for i, v in enumerate(kept)}
        cut.points = [self.mesh.points[v] for v in kept]
        cut.tetra = [[number[v] for v in cell] for cell, tag in zip(self.mesh.tetra, self.mesh.tags)
                     if tag != 3]
        cut.tags = [1] * len(cut.tetra)
        self.write("cut.pts", cut.pts())
        self.write("cut.elem", cut.elem())
        self.write("cut.lon", cut.lon((1, 0, 0)))
        times = self.times("cut", "--velocity", "0.5,0.25", "--site", "box:0,0,0,0,9,9",
                           "--deterministic")
        return dict(zip(kept, times))

    def test_no_wave_goes_through_a_scar(self):
        expected = self.times_without_scar()
        without = max(self.times("box", "--velocity", "0.5,0.25", "--site", "box:0,0,0,0,9,9"))
        self.assertGreater(max(expected.values()), 1.05 * without)  # the way round is longer
        self.write("zero.json", '{"1": {"vl": 0.5, "vt": 0.25}, "3": {"vl": 0}}')
        self.write("null.json", '{"1": {"vl": 0.5, "vt": 0.25}, "3": {"vl": null, "vt": 1}}')
        self.write("tag.json", '{"default": {"vl": 0.5, "vt": 0.25}, "3": null}')
        rows = ["0.5 0.25"] * len(self.mesh.tetra)
        for i, e in enumerate(self.scar()):
            rows[e] = ("0 0", "nan 0.3", "0 7")[i % 3]
        self.write("each.dat", "\n".join(rows) + "\n")
        for velocities in (("--velocities", "zero.json"), ("--velocities", "null.json"),
                           ("--velocities", "tag.json"), ("--velocities", "each.dat"),
                           ("--velocity", "0.5,0.25", "--non-conducting", "3")):
            for method in METHODS:
                with self.subTest(velocities=velocities, method=method):
                    run = self.summary("eikonal", "box", *velocities, "--site", "box:0,0,0,0,9,9",
                                       "--method", method, "--deterministic", "--dat", "t.dat",
                                       "-q")
                    times = [float(line) for line in self.read("t.dat").split()]
                    for v, time in enumerate(times):
                        self.assertEqual(time, expected.get(v, -1))
                    activation = run["results"]["activation"][0]
                    self.assertEqual((activation["vertices"], activation["unreached"]),
                                     (len(expected), 0))
                    self.close(activation["latest"], max(expected.values()))
                    self.close(activation["mean"], sum(expected.values()) / len(expected))
                    self.assertEqual([tag["tag"] for tag in activation["tags"]], [1])
                    self.assertEqual(run["problem"]["non_conducting_tetrahedra"], len(self.scar()))
                    self.assertEqual(run["problem"]["non_conducting_vertices"], 2)
                    self.assertEqual(run["problem"]["tissues"][1]["tag"], 3)
                    self.assertEqual(run["warnings"], [])
        table = self.ossatura("eikonal", "box", "--velocities", "zero.json", "--site", "vertices:0")
        self.assertIn("12 tetrahedra; 2 vertices belong to no other", table.stdout)

    def test_a_site_in_a_scar_is_named(self):
        scar = ("box", "--velocity", "0.5", "--non-conducting", "3")
        inside = f"vertices:{self.inside[0]}"
        self.fails(BAD_FILE, f"'{inside}' lies in tissue that does not conduct", *scar, "--site",
                   "vertices:0", "--site", inside)
        run = self.summary("eikonal", *scar, "--site", "box:0,0,0,4,9,9", "-q")
        site = run["results"]["activation"][0]["sites"][0]
        self.assertEqual((site["vertices"], site["non_conducting_vertices"]), (28, 2))
        self.ossatura("eikonal", *scar, "--site", "vertices:0", "--hdf", "result.hdf", "-q")
        for more, told in (((), 1), (("--non-conducting", "3"), 0)):  # the result as a mesh
            run = self.summary("eikonal", "result.hdf", "--velocity", "0.5", "--site", "vertices:0", "--no-hdf", "-q", *more)
            texts = [w["text"] for w in run["warnings"] if w["code"] == "scars-conduct"]
            self.assertEqual(len(texts), told)
            if told:
                self.assertIn(f"{len(self.scar())} tetrahedra did not conduct", texts[0])
                self.assertIn("give --non-conducting 3, unless", texts[0])
        rows = ["0.5" if e else "0" for e in range(len(self.mesh.tetra))]  # of a tag that conducts elsewhere
        self.write("each.dat", "\n".join(rows) + "\n")
        self.ossatura("eikonal", "box", "--velocities", "each.dat", "--site", "vertices:0", "--hdf", "each.hdf", "-q")
        run = self.summary("eikonal", "each.hdf", "--velocity", "0.5", "--site", "vertices:0", "--no-hdf", "-q")
        self.assertIn("1 tetrahedron did not conduct", run["warnings"][0]["text"])
        self.assertIn("give the velocities of that run", run["warnings"][0]["text"])
        self.fails(BAD_FILE, "no tetrahedron has tag 9 of --non-conducting; there is tag 1, 3",
                   *scar, "--non-conducting", "9", "--site", "vertices:0")
        self.fails(BAD_FILE, "no tetrahedron of box conducts", *scar, "--non-conducting", "1",
                   "--site", "vertices:0")

    def test_a_scar_that_divides_the_mesh_is_told(self):
        for e, cell in enumerate(self.mesh.tetra):
            x = sum(self.mesh.points[v][0] for v in cell) / 4
            self.mesh.tags[e] = 3 if 2 < x < 4 else 1
        self.write_carp()
        run = self.summary("eikonal", "box", "--velocity", "0.5", "--non-conducting", "3", "--site",
                           "vertices:0", "-q")
        self.assertEqual(run["problem"]["parts"], 2)
        self.assertEqual(run["results"]["activation"][0]["unreached"], 18)
        self.assertEqual([w["code"] for w in run["warnings"]], ["unreached-vertices"])
        self.assertIn("what conducts has parts", run["warnings"][0]["text"])

    def test_parts_that_are_not_joined(self):
        """Halves that were meshed one by one: vertices between them are there twice."""
        face = self.mesh.face(2)
        joined = self.summary("eikonal", self.write("joined.vtk", self.mesh.vtk()), "--velocity", "0.5", "--site",
                              "vertices:0", "-q")
        self.assertEqual(joined["warnings"], [])
        twice = {v: len(self.mesh.points) + k for k, v in enumerate(face)}
        self.mesh.points += [self.mesh.points[v] for v in face]
        self.mesh.tetra = [[twice.get(v, v) if sum(self.mesh.points[w][0] for w in cell) > 8 else v for v in cell]
                           for cell in self.mesh.tetra]
        self.write("split.vtk", self.mesh.vtk())
        split = ("eikonal", "split.vtk", "--velocity", "0.5", "-q", "--site")
        run = self.summary(*split, "vertices:0")
        self.assertEqual([w["code"] for w in run["warnings"]], ["split-mesh", "unreached-vertices"])
        self.assertIn(f"split.vtk: {len(face)} vertices lie in the place of another one, without being it, the first at (2, 0, 0) mm: "
                      "tetrahedra there are not joined, and no wave crosses", run["warnings"][0]["text"])
        run = self.summary(*split, "vertices:0", "--site", "vertices:4")  # both halves are reached
        self.assertEqual([w["code"] for w in run["warnings"]], ["split-mesh"])
        self.mesh.tags = [3 if sum(self.mesh.points[v][0] for v in cell) > 8 else 1 for cell in self.mesh.tetra]
        self.write("split.vtk", self.mesh.vtk())  # of which one does not conduct: it is a line of block
        run = self.summary(*split, "vertices:0", "--non-conducting", "3")
        self.assertEqual(run["warnings"], [])

    def test_velocities_too_small_for_times_are_refused(self):
        for velocity in ("1e-20", "1e-10", "1e-200"):
            for precision in ("single", "double"):
                with self.subTest(velocity=velocity, precision=precision):
                    self.write("v.json", '{"1": {"vl": 0.6}, "3": {"vl": %s}}' % velocity)
                    process = self.ossatura("eikonal", "box", "--velocities", "v.json", "--site",
                                          "vertices:0", "--precision", precision, code=BAD_FILE)
                    self.assertIn("of tag 3: a wave takes more than 1e6 ms", process.stderr)

    def test_an_arrival_too_late_to_be_a_time_is_told(self):
        # Tetrahedra in a row, each edge just within the limit: 33 000 points take 1.03e10 ms.
        radius, turn, step = 0.3 * 3 ** 0.5, math.acos(-2 / 3), 1 / 10 ** 0.5
        self.write("long.pts", "33000\n" + "\n".join(
            "%.9g %.9g %.9g" % (radius * math.cos(turn * k), radius * math.sin(turn * k), step * k)
            for k in range(33000)) + "\n")
        self.write("long.elem", "32997\n" + "\n".join(
            f"Tt {k} {k + 1} {k + 2} {k + 3} 1" for k in range(32997)) + "\n")
        run = self.summary("eikonal", "long", "--unit", "1", "--velocity", "1.01e-6", "--site",
                           "vertices:0", "-q", "--backend", "serial", "--method", "queue")
        self.assertEqual([w["code"] for w in run["warnings"]], ["odd-size", "odd-velocity", "late-arrival"])
        self.assertIn("later than 1e10 ms", run["warnings"][2]["text"])
        self.assertGreater(run["results"]["activation"][0]["unreached"], 500)

    def test_velocities_in_another_unit_are_warned_of(self):
        for velocity, odd in (("600,400", True), ("0.6,0.4", False), ("10,0.01", False),
                              ("0.6,0.009", True)):
            with self.subTest(velocity=velocity):
                process = self.ossatura("eikonal", "box", "--velocity", velocity, "--site",
                                      "vertices:0", "--json", "-", "-q")
                codes = [w["code"] for w in json.loads(process.stdout)["warnings"]]
                self.assertEqual(codes, ["odd-velocity"] if odd else [])
                self.assertEqual("not mm/s" in process.stderr, odd)
        self.write("each.dat", "0.6\n" * (len(self.mesh.tetra) - 1) + "60\n")
        run = self.summary("eikonal", "box", "--velocities", "each.dat", "--site", "vertices:0",
                           "-q")
        self.assertIn("velocities of 1 of 72 tetrahedra", run["warnings"][0]["text"])

    def test_a_velocity_alone_is_that_of_all_directions(self):
        self.write("w.json", '{"default": {"vl": 0.6}}')
        site = ("--site", "vertices:0", "--deterministic")
        self.assertEqual(self.times("box", "--velocities", "w.json", *site),
                         self.times("box", "--velocity", "0.6", *site))

    def test_velocities_of_each_tetrahedron_are_those_of_its_tag(self):
        site = ("--site", "box:0,0,0,0,9,9", "--deterministic")
        self.write("w.json", '{"1": {"vl": 0.5, "vt": 0.25, "vn": 0.2}, "3": {"vl": 0.1}}')
        expected = self.times("box", "--velocities", "w.json", *site)
        each = [(0.5, 0.25, 0.2) if tag == 1 else (0.1, 0.1, 0.1) for tag in self.mesh.tags]
        self.write("each.dat", "\n".join("%g %g %g" % row for row in each) + "\n")
        self.assertEqual(self.times("box", "--velocities", "each.dat", *site), expected)
        text = self.mesh.vtk() + "VECTORS three double\n"
        text += "\n".join("%g %g %g" % row for row in each) + "\nFIELD f 3\n"
        for k, name in enumerate(("vl", "vt", "vn")):
            text += f"{name} 1 {len(each)} double\n" + "\n".join("%g" % row[k] for row in each) + "\n"
        self.write("box.vtk", text)
        for fields in ("three", "vl,vt,vn"):
            vtk = ("box.vtk", "--tag-field", "region", "--fibre-field", "axis", "--velocity-field",
                   fields)
            self.assertEqual(self.times(*vtk, *site), expected)
        run = self.summary("eikonal", *vtk, *site, "-q")
        self.assertEqual(run["problem"]["tissues"][1],
                         {"tag": 3, "tetrahedra": 12, "non_conducting_tetrahedra": 0,
                          "vl": [0.1, 0.1], "vt": [0.1, 0.1], "vn": [0.1, 0.1]})
        self.assertNotEqual(self.times(*vtk[:-1], "vl", *site), expected)  # isotropic
        self.fails(BAD_FILE, "there is no cell data called 'speed'", *vtk[:-1], "speed", *site)
        for fields, count in (("three,vl", 4), ("vl,three", 4), ("three,three", 6)):
            self.fails(BAD_FILE, f"box.vtk: {fields.replace(',', ', ')}: {count} numbers for each tetrahedron", *vtk[:-1], fields, *site)

    def test_bad_velocities_of_tetrahedra(self):
        def bad(message, text):
            self.write("each.dat", text)
            self.fails(BAD_FILE, message, "box", "--velocities", "each.dat", "--site", "vertices:0")

        n = len(self.mesh.tetra)
        bad("each.dat: tetrahedron 17 has velocity -0.3", "0.3\n" * 17 + "-0.3\n" * (n - 17))
        bad("each.dat: tetrahedron 71 has velocity 0", "0.3 1\n" * (n - 1) + "0.3 0\n")
        bad(f"the file ends after {n - 1} lines", "0.3\n" * (n - 1))
        bad("more lines than the", "0.3\n" * (n + 1))
        bad("each.dat: line 2", "0.3 0.2\n0.3\n" + "0.3 0.2\n" * (n - 2))
        bad("more than three numbers", "1 1 1 1\n" * n)
        bad("each.dat: line 3", "1\n1\ninf\n" + "1\n" * (n - 3))
        bad("no tetrahedron of box conducts", "0\n" * n)

    def test_a_tag_for_each_tetrahedron_does_not_flood_the_table(self):
        self.mesh = Mesh(10, 10, 10)
        self.mesh.tags = list(range(len(self.mesh.tetra)))
        self.write_carp()
        self.write("w.json", json.dumps({str(tag): {"vl": 0.5} for tag in self.mesh.tags}))
        process = self.ossatura("eikonal", "box", "--velocities", "w.json", "--site", "vertices:0",
                              "--json", "s.json", "-q")
        self.assertLess(len(process.stdout.splitlines()), 80)
        self.assertIn("5 980 more tags, which the summary has", process.stdout)
        run = json.loads(self.read("s.json"))
        self.assertEqual(len(run["problem"]["tissues"]), 6000)
        self.assertEqual(len(run["results"]["activation"][0]["tags"]), 6000)


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
                             ["box.pts", "box.elem", "box.lon", "v.json"])
        self.write("box.pts", self.mesh.pts(unit=1))
        self.expect_box("box", "--unit", "1")
        self.write("other.lon", self.mesh.lon((1, 0, 0)))
        os.remove(self.path("box.lon"))
        run = self.expect_box("box", "--unit", "1", "--fibre-file", "other.lon")
        self.assertTrue(run["problem"]["fibres"])

    def test_vtk_with_named_fields(self):
        for kind in ("int", "vtktypeint32", "vtktypeuint8"):  # meshio has names of its own
            self.write("box.vtk", self.mesh.vtk().replace("region int", "region " + kind))
            run = self.expect_box("box.vtk", "--tag-field", "region", "--fibre-field", "axis")
            self.assertTrue(run["problem"]["fibres"])

    def test_vtk_with_several_fields_that_may_be_the_tags(self):
        """Which of them velocities are meant for would be a guess, unless they are equal, or one is called so."""
        def write(name, values, more=""):
            rows = f"SCALARS {name} int 1\nLOOKUP_TABLE default\n" + "".join(f"{v}\n" for v in values)
            self.write("box.vtk", self.mesh.vtk().replace("VECTORS axis", rows + "VECTORS fiber") + more)
        n = len(self.mesh.tetra)
        arguments = ("box.vtk", "--velocities", "v.json", "--site", "box:0,0,0,0,9,9", "-q")
        write("material", [3 - tag for tag in self.mesh.tags])
        self.fails(BAD_FILE, "box.vtk: the cell data 'region' and 'material' differ, and each may be the tag: name the field", *arguments)
        self.expect_box("box.vtk", "--tag-field", "region")
        write("material", self.mesh.tags)
        self.expect_box("box.vtk")
        write("ids", range(n))  # of cells
        self.expect_box("box.vtk")
        write("elemTag", [1] * n)
        latest = self.summary("eikonal", *arguments)["results"]["activation"][0]["latest"]
        self.close(latest, max(p[0] for p in self.mesh.points) / 0.5)
        write("material", self.mesh.tags, "VECTORS f0 float\n" + "0 1 0\n" * n)
        self.fails(BAD_FILE, "box.vtk: the cell data 'fiber' and 'f0' differ, and each may be the fibre direction", *arguments)

    def test_a_file_without_tags_says_so(self):
        self.write("box.vtk", self.mesh.vtk().replace("SCALARS region", "SCALARS zone"))
        self.fails(BAD_FILE, "tetrahedra have tag 0, as all have where a file has no tags, or a file of VTK has them by another "
                   "name (--tag-field), for which v.json has no velocity", "box.vtk", "--velocities", "v.json", "--site",
                   "vertices:0")

    def test_vtk_with_strings_among_its_fields(self):
        """Names of materials, as VTK writes them: passed over, unless they are asked for."""
        n, fibres = len(self.mesh.tetra), ("--fibre-field", "axis")
        names = f"FIELD FieldData 1\nmaterial 1 {n} string\n" + "left%20wall\n" * (n - 1) + "\n"
        text = self.mesh.vtk()
        self.write("box.vtk", text.replace("VECTORS axis", names + "VECTORS axis"))
        self.assertTrue(self.expect_box("box.vtk", "--tag-field", "region", *fibres)["problem"]["fibres"])
        run = ("--velocity", "0.6,0.3,0.2", "--site", "vertices:0", "-q", "--json", "run.json")
        self.fails(BAD_FILE, "box.vtk: 'material' has texts, not numbers: choose another field",
                   "box.vtk", "--tag-field", "material", *fibres, *run)
        self.write("cut.vtk", text + names[:-14])
        self.fails(BAD_FILE, "cut.vtk: line ", "cut.vtk", "--tag-field", "region", *fibres, *run)

    def test_vtu_with_strings_among_its_fields(self):
        # VTK writes strings as <Array>, not as <DataArray>: what stands behind them was lost.
        strings = '<Array type="String" Name="name" format="ascii">\n109 121 111 0\n</Array>\n'
        for fields in ("TAGSFIBRES", strings + "TAGSFIBRES", "TAGS" + strings + "FIBRES",
                       "TAGSFIBRES" + strings + "<Unknown><Inner/></Unknown>", "<Unknown></Unknown>TAGSFIBRES"):
            with self.subTest(fields=fields):
                self.write("box.vtu", self.mesh.vtu(fields))
                self.assertTrue(self.expect_box("box.vtu")["problem"]["fibres"])

    def test_cells_that_vtk_marks_as_not_there_are_refused(self):
        """Copies, hidden ones and refined ones were solved as any others."""
        asked = ("--velocities", "v.json", "--site", "box:0,0,0,0,9,9", "-q")
        n, points = len(self.mesh.tetra), len(self.mesh.points)
        for name, of, flag, message in (
                ("vtkGhostType", "Cell", 1, "cell 5 is a copy of one of another piece (vtkGhostType 1); 2 of 96 cells"),
                ("vtkGhostType", "Cell", 8, "cell 5 is refined by others (vtkGhostType 8)"),
                ("vtkGhostType", "Cell", 36, "cell 5 is hidden (vtkGhostType 36)"),
                ("vtkGhostLevels", "Cell", 2, "cell 5 is a copy of one of another piece (vtkGhostLevels 2)"),
                ("vtkGhostType", "Point", 2, "point 5 is hidden (vtkGhostType 2); 2 of 45 points"),
                ("vtkGhostType", "Cell", 22, None), ("vtkGhostType", "Point", 1, None),
                ("vtkGhostType", "Cell", 0, None)):
            with self.subTest(name=name, of=of, flag=flag):
                rows = [flag if i in (5, 7) else 0 for i in range(n if of == "Cell" else points)]
                numbers = "\n".join(map(str, rows))
                array = f'<DataArray type="UInt8" Name="{name}" format="ascii">\n{numbers}\n</DataArray>\n'
                text = self.mesh.vtu("TAGSFIBRES" + (array if of == "Cell" else ""))
                if of == "Point":
                    text = text.replace("<CellData>", f"<PointData>\n{array}</PointData>\n<CellData>", 1)
                self.write("box.vtu", text)
                scalars = f"SCALARS {name} unsigned_char 1\nLOOKUP_TABLE default\n{numbers}\n"
                self.write("box.vtk", self.mesh.vtk().replace("region", "tag").replace("axis", "fibre") +
                           (scalars if of == "Cell" else f"POINT_DATA {points}\n" + scalars))
                for file in ("box.vtu", "box.vtk"):
                    if message is None:
                        self.expect_box(file)
                        continue
                    process = self.fails(BAD_FILE, message, file, *asked)
                    self.assertIn(file + ": line ", process.stderr)
                    self.assertIn("Remove Ghost Information" if of == "Cell" else "leave the array out", process.stderr)
        self.write("box.vtu", text.replace(f"{numbers}\n</DataArray>\n</CellData>", "0 0\n</DataArray>\n</CellData>"))
        self.fails(BAD_FILE, "box.vtu: 'vtkGhostType' has 2 numbers for 96 cells", "box.vtu", *asked)

    def test_results_are_meshes(self):
        asked = ("--velocities", "v.json", "--site", "box:0,0,0,0,9,9")
        times = self.times("box", *asked, "--hdf", "box.hdf", "--compress", "fast")
        self.expect_box("box.hdf")
        self.assertEqual(self.times("box.hdf", *asked), times)
        run = self.expect_box("box.hdf", "--tag-field", "tag", "--fibre-field", "fibre")
        self.assertTrue(run["problem"]["fibres"])
        self.fails(BAD_FILE, "no cell data called 'region'", "box.hdf", *asked, "--tag-field", "region")

    def test_gmsh(self):
        self.write("box.msh", self.mesh.msh())
        self.expect_box("box.msh")

    def test_entities_of_gmsh_that_have_the_number_of_a_group(self):
        # Without groups, and beside groups of other numbers, entities are the tags.
        for groups, names in (({1: 0, 2: 0}, ()), ({1: 1, 2: 0}, ()), ({1: 1, 2: 0}, ['3 1 "lv"', '2 2 "surface"'])):
            self.write("box.msh", self.mesh.msh(groups, names))
            self.expect_box("box.msh")
        arguments = ("box.msh", "--velocities", "v.json", "--site", "vertices:0")
        self.write("box.msh", self.mesh.msh({1: 0, 2: 1}))
        self.fails(BAD_FILE, "element 1 is in no physical group, and its entity has the number 1 of a group, so that tag 1 "
                   "would mean both: put all volumes into physical groups", *arguments)
        self.write("box.msh", self.mesh.msh({1: 0, 2: 0}, ['3 1 "lv"']))  # as Gmsh writes it with SaveAll
        self.fails(BAD_FILE, 'the number 1 of a group ("lv")', *arguments)


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
        flat = [(x, y, 0) for x, y, _ in self.mesh.points]
        for points in (flat, [(1, 2, 3)] * len(flat)):
            text = "\n".join([str(len(points))] + ["%d %d %d" % p for p in points]) + "\n"
            self.bad_mesh("none of the 96 tetrahedra has a volume", ".pts", text)

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
        bad('tag 2: "vt" is 0: greater than 0 in tissue that conducts', '{"1": {"vl": 1, "vt": 1}, "2": {"vl": 1, "vt": 0}}')
        bad('tag 1: "vl" is -1', '{"1": {"vl": -1, "vt": 1}}')
        bad("did you mean 'v", '{"1": {"vl": 1, "vt": 1, "vm": 1}}')
        bad("w.json: not JSON: line 2", '{"1": {"vl": 1,\n "vt" 1}}')
        bad("twice", '{"1": {"vl": 1, "vt": 1}, "1": {"vl": 1, "vt": 1}}')

    def test_velocities_of_tags_that_are_not_there(self):
        told = "no tetrahedron has tag 7, 9 of w.json; there is tag 1, 2"
        self.write("w.json", '{"9": {"vl": 0}, "7": null, "default": {"vl": 0.5, "vt": 0.5}}')
        run = self.summary("eikonal", "box", "--velocities", "w.json", "--site", "vertices:0", "-q")
        self.assertEqual([warning["code"] for warning in run["warnings"]], ["unused-velocity"])
        self.assertIn(told, run["warnings"][0]["text"])
        # The table of several meshes: each tag of this one has its own velocity.
        same = '{"vl": 0.5, "vt": 0.5}'
        self.write("w.json", f'{{"9": null, "7": null, "1": {same}, "2": {same}}}')
        process = self.ossatura("eikonal", "box", "--velocities", "w.json", "--site", "vertices:0",
                                "--json", "run.json")
        self.assertIn(told, process.stderr)
        self.assertEqual(json.loads(self.read("run.json"))["warnings"], [])

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
                          ("--velocity-field", "a"),
                          ("--hdf", "a.hdf", "--no-hdf")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, arguments[0], *box, *arguments)
        self.fails(USAGE, "--unit", "--generate", "slab", "--unit", "1")
        self.fails(USAGE, "--fibre-file", "--generate", "slab", "--fibre-file", "a.lon")
        self.fails(USAGE, "--seed", "--generate", "slab", "--seed", "1")

    def test_values_out_of_range(self):
        for arguments in (("--site", "vertices:-1"), ("--site", "ball:1,2,3,4"),
                          ("--site", "point:0,0,0@t=1e23"), ("--velocity", "0"),
                          ("--site", "point:0,0,0@t=nan"), ("--velocity-field", "a,,b"),
                          ("--velocity-field", "a,b,c,d"), ("--non-conducting", "scar"),
                          ("--generate", "box:n=2000"), ("--generate", "ventricles:h=0.1"),
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
        text = self.ossatura("eikonal", "--help").stdout
        for part in ("Conduction velocities", "Sites:", "Solver:", "[default: lengths]", "Examples:",
                     "Exit codes:"):
            self.assertIn(part, text)
        arguments = ("box", "--velocity", "0.6,0.4", "--site", "point:1,2,3@t=5", "--site",
                     "vertices:1,2", "--method", "patch", "--parts", "3", "--deterministic")
        self.write("c.toml", self.ossatura("eikonal", *arguments, "--print-config").stdout)
        again = self.ossatura("eikonal", "--config", "c.toml", "--print-config").stdout
        self.assertEqual(self.read("c.toml"), again)
        self.assertIn("point:1,2,3@t=5", again)
        run = self.summary("eikonal", "--config", "c.toml", "-q")
        self.assertEqual(len(run["results"]["activation"][0]["sites"]), 2)
        self.assertEqual(run["engine"]["method"], "patch")
        self.assertTrue(run["engine"]["deterministic"])


if __name__ == "__main__":
    driver_case.main()
