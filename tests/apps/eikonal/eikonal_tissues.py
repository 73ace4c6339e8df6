# SPDX-License-Identifier: Apache-2.0
"""Tissue that conducts, does not, or is not joined, and its velocities, through `ossatura eikonal`."""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE
from support.eikonal_case import METHODS, EikonalCase, Mesh


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


if __name__ == "__main__":
    driver_case.main()
