# SPDX-License-Identifier: Apache-2.0
"""The part that comes of a design: its surface, solved again, places round and kept, files for printers."""
import json
import math
import os
import sys
import zipfile
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE, USAGE
from support.designs import TopoptCase, box, problem, shells, stl_of_box, stl_of_plate, volume_of


class Part(TopoptCase):
    """A part that can be made: its surface, solved again, what is kept whole, and the files."""

    def tower(self, **more):
        """A column of cubes of 1 m, pressed by 1 N/m2 from above, on rollers."""
        return problem(mesh=box((4, 4, 8)), material={"young": 5, "poisson": 0.3},
                       supports=[{"box": [0, 0, 0, 4, 4, 0], "components": "z"},
                                 {"box": [0, 0, 0, 0, 4, 8], "components": "x"},
                                 {"box": [0, 0, 0, 4, 0, 8], "components": "y"}],
                       cases=[{"name": "press", "loads": [
                           {"box": [0, 0, 8, 4, 4, 8], "traction": [0, 0, -1]}]}],
                       filter={"kind": "none"}, steps=1, **more)

    def test_the_surface_is_solved_again(self):
        # All of it is solid but an element at the foot, which the surface has, too.
        document = self.tower(passive=[{"box": [0, 0, 1, 4, 4, 8], "role": "solid"}],
                              volume_fraction=0.9999, solver={"tolerance": 1e-9})
        for grid in ("voxels", "mesh"):
            run = self.solve(document, "--grid", grid, "--stl", "s.stl", "--reanalyse", "1")
            again = run["results"]["reanalysis"]
            self.close(again["objective"], 16 * 8 / 5, 1e-6)
            self.close(again["difference"], again["objective"] / run["results"]["objective"] - 1,
                       1e-9)
            self.assertLess(abs(again["difference"]), 1e-3)
            case = again["cases"][0]
            self.close(case["largest_von_mises"]["value"], 1, 1e-4)
            self.close(case["von_mises_99_9_percent"], 1, 1e-4)
            self.assertEqual(case["largest_displacement"]["place"], [4, 4, 8])
            self.assertEqual((again["cubes"], again["failure"], case["moved_force_share"],
                              run["warnings"]), (128, None, 0, []))
        # By itself on voxels, with a table; finer cubes; not where it is not wanted.
        self.write("p.json", json.dumps(document))
        text = self.ossatura("topopt", "p.json", "--grid", "voxels", "--stl", "s.stl", "--backend",
                             self.backend).stdout
        for part in ("Surface, solved again", "von Mises stress", "% to the design's"):
            self.assertIn(part, text)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl", "--reanalyse", "2")
        self.close(run["results"]["reanalysis"]["objective"], 16 * 8 / 5, 1e-6)
        self.assertEqual(run["results"]["reanalysis"]["cubes"], 8 * 128)
        for more in (("--grid", "voxels", "--stl", "s.stl", "--reanalyse", "0"),
                     ("--grid", "voxels"), ("--stl", "s.stl")):
            self.assertNotIn("reanalysis", self.solve(document, *more)["results"])

    def test_a_surface_that_lost_its_loads(self):
        # One half is solid, the other one too thin for the surface: 3 of 8 parts of the traction.
        document = self.tower(passive=[{"box": [0, 0, 0, 2, 4, 8], "role": "solid"}],
                              volume_fraction=0.55, move=0.05)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl")
        self.assertIn("moved-loads", [w["code"] for w in run["warnings"]])
        case = run["results"]["reanalysis"]["cases"][0]
        self.close(case["moved_force_share"], 0.375, 1e-12)
        self.close(case["moved_force_distance"], 2, 1e-12)
        self.close(run["results"]["reanalysis"]["cube_volume"], 2 * 4 * 8, 1e-12)
        # At this level nothing is left around the supports.
        document = problem(steps=1, volume_fraction=0.5)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl", "--stl-level", "0.51")
        self.assertIn("not-reanalysed", [w["code"] for w in run["warnings"]])
        self.assertNotIn("objective", run["results"]["reanalysis"])

    def test_members_that_cubes_are_too_coarse_for(self):
        # A beam of 2 x 2 elements in void: the surface rounds its edges, the cubes do not.
        document = problem(mesh=box((8, 6, 6)), supports=[{"box": [0, 2, 2, 0, 4, 4]}],
                           cases=[{"name": "tip", "loads": [
                               {"box": [8, 2, 2, 8, 4, 4], "total_force": [0, 0, -1]}]}],
                           passive=[{"box": [1, 0, 0, 8, 6, 2], "role": "void"},
                                    {"box": [0, 1, 0, 8, 6, 2], "role": "void"},
                                    {"box": [0, 0, 1, 8, 2, 6], "role": "void"},
                                    {"box": [0, 2, 2, 8, 4, 4], "role": "solid"},
                                    {"box": [0, 0, 4, 8, 6, 6], "role": "void"},
                                    {"box": [0, 4, 2, 8, 6, 4], "role": "void"}],
                           volume_fraction=0.112, filter={"kind": "none"}, steps=1)
        run = self.solve(document, "--grid", "voxels", "--stl", "s.stl")
        again = run["results"]["reanalysis"]
        self.close(again["cube_volume"], 8 * 4, 1e-12)
        self.assertLess(run["results"]["surface"]["volume"], 0.95 * 8 * 4)
        self.assertIn("coarse-cubes", [w["code"] for w in run["warnings"]])
        # What is as grey is as stiff but for the void around.
        self.close(again["objective"], run["results"]["objective"], 1e-4)
        finer = self.solve(document, "--grid", "voxels", "--stl", "s.stl", "--reanalyse", "4")
        self.assertLess(finer["results"]["reanalysis"]["cube_volume"], 0.95 * 8 * 4)
        self.assertGreater(finer["results"]["reanalysis"]["objective"], again["objective"])

    def test_parts_that_are_not_what_was_designed(self):
        # A strip that is solid below grey elements, which are not in the surface.
        strip = problem(mesh=box((12, 3, 6)), supports=[{"box": [0, 0, 0, 0, 3, 6]}],
                        passive=[{"box": [0, 0, 0, 12, 3, 2], "role": "solid"}], volume_fraction=0.6, penalty=1,
                        cases=[{"name": "tip", "loads": [{"box": [12, 0, 0, 12, 3, 0], "total_force": [0, 0, -1]}]}],
                        move=0.001, filter={"kind": "none"}, steps=1)
        run = self.solve(strip, "--grid", "voxels", "--stl", "s.stl")
        self.assertEqual([w["code"] for w in run["warnings"]], ["coarse-cubes", "weak-surface"])
        self.assertGreater(run["results"]["reanalysis"]["difference"], 0.5)
        self.assertEqual(run["results"]["parts"]["force_share_beside"], [0])
        strip["cases"].append({"name": "top", "loads": [{"box": [12, 0, 6, 12, 3, 6], "total_force": [0, 0, -1]},
                                                        {"box": [11, 0, 0, 11, 3, 0], "total_force": [0, 0, -3]}]})
        run = self.solve(strip, "--stl", "s.stl")
        self.assertEqual([w["code"] for w in run["warnings"]], ["loads-beside"])
        self.assertIn("25 % of the loads of case 'top'", run["warnings"][0]["text"])
        tip, top = run["results"]["parts"]["force_share_beside"]
        self.assertEqual(tip, 0)
        self.close(top, 0.25, 1e-12)

    def test_surfaces_that_are_not_solved_again(self):
        for arguments, message in (
                (("--reanalyse", "9", "-o", "out"), "0 to 8 cubes"),
                (("--reanalyse", "1"), "--stl, --3mf or --output-dir"),
                (("--distort", "0.2", "--reanalyse", "1", "-o", "out"), "of other elements")):
            with self.subTest(arguments=arguments):
                self.fails(USAGE, message, "topopt", "cantilever", "--cells", "6x3x3", *arguments)
        self.fails(USAGE, "leave it out of a mechanism", "topopt", "inverter", "--cells", "6x4x4",
                   "--reanalyse", "1", "-o", "out")

    def plate(self, **more):
        """A plate of 12 x 8 x 2 mm in cubes of 1 mm, held at two walls and pressed at its end."""
        self.write("plate.stl", stl_of_box((12, 8, 2)))
        self.write("face.stl", "solid face\n" + "".join(
            "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x} {y} {z}\n" for x, y, z in t) +
            "endloop\nendfacet\n" for t in (((12, 0, 0), (12, 4, 0), (12, 4, 2)),
                                          ((12, 0, 0), (12, 4, 2), (12, 0, 2)))) + "endsolid\n")
        return {"mesh": {"file": "plate.stl", "unit": 0.001, "voxel": 0.001},
                "material": {"young": 1e9, "poisson": 0.3},
                "supports": [{"cylinder": {"from": [0.002, 0.002, 0], "to": [0.002, 0.002, 0.002],
                                           "radius": 0.0011}},
                             {"cylinder": {"from": [0, 0.006, 0], "to": [0, 0.006, 0.002],
                                           "radius": 0.001, "wall": 0.0001}}],
                "cases": [{"name": "press", "loads": [
                    {"surface": "face.stl", "traction": [0, 0, -1e4]}]}],
                "steps": 2, **more}

    def test_round_places_and_faces(self):
        run = self.solve(self.plate())
        # A cross of 5 nodes on 3 planes; where the side x = 0 meets the circle two on each, and one
        # more above and below.
        self.assertEqual(run["problem"]["held_dofs"], 3 * (3 * 5 + 3 * 2 + 2))
        case = run["problem"]["cases"][0]
        self.assertEqual(case["forces"], 5 * 3)
        self.close(case["total_force"][2], -1e4 * 0.004 * 0.002, 1e-9)
        self.assertEqual(sorted(os.path.basename(i["path"]) for i in run["provenance"]["inputs"]),
                         ["face.stl", "p.json", "plate.stl"])
        mesh = self.solve(self.plate(cases=[{"name": "press", "loads": [
            {"surface": {"file": "face.stl", "within": 1e-6}, "traction": [0, 0, -1e4]}]}],
                                     solver={"grid": "mesh"}))
        for part in ("held_dofs", "cases"):
            self.assertEqual(mesh["problem"][part], run["problem"][part])
        self.close(mesh["results"]["objective"], run["results"]["objective"], 1e-4)
        ring = {"cylinder": {"from": [0.006, 0.004, 0], "to": [0.006, 0.004, 0.002],
                             "radius": 0.0023, "inner": 0.001}, "role": "solid"}
        run = self.solve(self.plate(passive=[ring]))
        self.assertEqual(run["problem"]["solid_elements"], 2 * (8 + 4))

    def test_mistakes_in_round_places(self):
        def refused(message, **more):
            self.fails(BAD_FILE, message, "topopt",
                       self.write("p.json", json.dumps(self.plate(**more))), "-q")

        def cylinder(**keys):
            return [{"cylinder": {"from": [0, 0, 0], "to": [0, 0, 1], "radius": 1, **keys}}]

        refused("supports[0].cylinder.to", supports=cylinder(to=[0, 0, 0]))
        refused("supports[0].cylinder.radius: 0", supports=cylinder(radius=0))
        refused("less than \"radius\"", supports=cylinder(inner=1))
        refused("\"inner\" has no effect", supports=cylinder(inner=0.5, wall=0.1))
        refused("unknown key", supports=cylinder(walls=0.1))
        refused("no node is in the cylinder", supports=cylinder(to=[0, 0, -1], radius=1e-9,
                                                               **{"from": [1, 1, 1]}))
        refused("no node of the boundary is at the wall", supports=cylinder(wall=1e-6))
        refused("nothere.stl", supports=[{"surface": "nothere.stl"}])
        refused("supports[0].surface.within: 0", supports=[
            {"surface": {"file": "face.stl", "within": 0}}])
        refused("near the surface", supports=[
            {"surface": {"file": "face.stl", "within": 1e-9}}], mesh={
                "file": "plate.stl", "unit": 0.0005, "voxel": 0.00017})
        refused("needs \"within\"", supports=[{"surface": "face.stl"}], solver={"grid": "mesh"})
        refused("unknown key \"wall\"", passive=[{**cylinder(wall=1)[0], "role": "solid"}])

    def test_layers_that_are_kept(self):
        document = self.plate(keep=0.0009, volume_fraction=0.5)
        run = self.solve(document, "--stl", "s.stl")
        kept = run["problem"]["kept_elements"]
        # Around the ends of the face two columns, of the side two, of the cross a square of 4 x 4.
        self.assertEqual(kept, run["problem"]["solid_elements"])
        self.assertGreater(kept, 16)
        self.assertEqual(self.solve(document, "--keep", "0.0018")["problem"]["void_elements"], 0)
        self.assertGreater(self.solve(document, "--keep", "0.0018")["problem"]["kept_elements"],
                           kept)
        self.write("p.json", json.dumps(document))
        self.fails(BAD_FILE, "are kept around supports and loads: keep less", "topopt", "p.json",
                   "-q", "--volume", "0.1")
        self.fails(BAD_FILE, "no element has its centre within 0.0001 m", "topopt", "p.json", "-q",
                   "--keep", "0.0001")
        self.fails(BAD_FILE, "nothing to design: keep less", "topopt", "p.json", "-q", "--keep", "1")
        self.fails(USAGE, "--keep", "topopt", "p.json", "-q", "--keep", "0")
        self.fails(BAD_FILE, "keep: -1", "topopt",
                   self.write("p.json", json.dumps(self.plate(keep=-1))), "-q")

    def wall_of_hole(self, triangles, middle, reach):
        """Vertices of the triangles within `reach` of the axis that face it."""
        wall = set()
        for corners in triangles:
            a, b = ([y - x for x, y in zip(corners[0], corner)] for corner in corners[1:])
            normal = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
            way = [sum(corner[d] for corner in corners) / 3 - middle[d] for d in range(2)]
            inward = -normal[0] * way[0] - normal[1] * way[1]
            if math.hypot(*way) < reach and inward > 0.3 * math.hypot(*normal) * math.hypot(*way):
                wall.update(corners)
        return wall

    def test_holes_that_are_kept_are_round(self):
        # In edges: the radius, and the middle of the hole. Vertices of its wall are on the chords of the file, which are up to
        # 1 - cos(pi / 48) of the radius within the circle.
        for radius, middle in ((3, (10, 9)), (4, (10, 9)), (4.5, (10, 9)), (4.5, (10.3, 8.8)), (6, (10, 9))):
            with self.subTest(radius=radius, middle=middle):
                size = (32, 18, 8)
                self.write("plate.stl", stl_of_plate(size, middle, radius))
                at = [1e-3 * x for x in middle]
                run = self.solve({
                    "mesh": {"file": "plate.stl", "unit": 0.001, "voxel": 0.001}, "material": {"young": 1e9, "poisson": 0.3},
                    "supports": [{"cylinder": {"from": [*at, 0], "to": [*at, 0.008], "radius": 1e-3 * radius, "wall": 0.001}}],
                    "cases": [{"name": "tip", "loads": [{"box": [0.032, 0, 0, 0.032, 0.018, 0.008], "total_force": [0, -9, 0]}]}],
                    "keep": 0.0018, "volume_fraction": 0.6, "filter": {"kind": "density", "radius": 0.0016}, "steps": 6},
                    "--stl", "s.stl", "--reanalyse", "0")
                self.assertGreater(run["problem"]["kept_elements"], 8 * 2 * 2 * radius)
                triangles = self.triangles("s.stl")
                self.assert_closed(triangles)
                wall = self.wall_of_hole(triangles, middle, radius + 1.6)
                self.assertGreater(len(wall), 8 * 2 * 3 * radius)
                self.assertGreater(run["results"]["surface"]["vertices_on_body"], len(wall))
                for x, y, _ in wall:
                    off = math.hypot(x - middle[0], y - middle[1]) - radius
                    self.assertLess(off, 1e-5)
                    self.assertGreater(off, -radius * (1 - math.cos(math.pi / 48)) - 1e-5)
                # All around, below, in the middle and above.
                for low in range(8):
                    angles = sorted(math.atan2(y - middle[1], x - middle[0]) for x, y, z in wall if low - 0.01 < z < low + 1.01)
                    gaps = [b - a for a, b in zip(angles, angles[1:] + [angles[0] + 2 * math.pi])]
                    self.assertLess(radius * max(gaps), 1)

    def test_smooth_surfaces(self):
        arguments = ("--cells", "16x8x8", "--grid", "voxels", "--steps", "12", "--stl", "s.stl")
        rough = self.optimise("cantilever", *arguments, "--smooth", "0")["results"]
        before = self.triangles("s.stl")
        smooth = self.optimise("cantilever", *arguments, "--smooth", "20")["results"]
        after = self.triangles("s.stl")
        self.assert_closed(after)
        self.assertEqual(len(before), len(after))
        self.assertNotEqual(before, after)
        self.close(volume_of(after), volume_of(before), 1e-6)
        self.close(smooth["surface"]["volume"], rough["surface"]["volume"], 1e-12)
        # What lies on the clamped side stays there.
        for old, new in zip(before, after):
            for a, b in zip(old, new):
                if a[0] == 0:
                    self.assertEqual(b[0], 0)
        self.close(smooth["reanalysis"]["objective"], rough["reanalysis"]["objective"], 0.05)
        self.fails(USAGE, "--smooth", "topopt", "cantilever", "--smooth", "-1", "-o", "out")
        self.fails(USAGE, "--smooth", "topopt", "cantilever", "--smooth", "3")

    def test_3mf(self):
        def model(name):
            """Vertices and triangles of the only object, in its unit."""
            with zipfile.ZipFile(self.path(name)) as file:
                self.assertIsNone(file.testzip())
                self.assertEqual(file.namelist(), ["[Content_Types].xml", "_rels/.rels",
                                                   "3D/3dmodel.model"])
                for other in file.namelist()[:2]:
                    ElementTree.fromstring(file.read(other))
                root = ElementTree.fromstring(file.read("3D/3dmodel.model"))
            space = "{http://schemas.microsoft.com/3dmanufacturing/core/2015/02}"
            self.assertEqual((root.tag, root.get("unit")), (space + "model", "millimeter"))
            self.assertEqual(len(root.findall(f".//{space}object")), 1)
            vertices = [tuple(float(v.get(d)) for d in "xyz")
                        for v in root.iter(space + "vertex")]
            return vertices, [tuple(int(t.get(k)) for k in ("v1", "v2", "v3"))
                              for t in root.iter(space + "triangle")]

        # The file of the part is in mm, and so is its STL.
        document = self.plate(volume_fraction=0.6)
        document["material"]["mass_density"] = 7800
        run = self.solve(document, "--stl", "s.stl", "--3mf", "s.3mf")
        self.assertEqual(run["results"]["files"], [self.path("s.stl"), self.path("s.3mf")]
                         if os.path.isabs(run["results"]["files"][0]) else ["s.stl", "s.3mf"])
        vertices, triangles = model("s.3mf")
        flat = self.triangles("s.stl")
        self.assertEqual((len(vertices), len(triangles)),
                         (run["results"]["surface"]["vertices"], len(flat)))
        corners = [[vertices[v] for v in t] for t in triangles]
        self.assert_closed(corners)
        for a, b in zip(corners, flat):
            for p, q in zip(a, b):
                self.assertLess(max(abs(x - y) for x, y in zip(p, q)), 1e-4)
        self.close(volume_of(corners) * 1e-9, run["results"]["surface"]["volume"], 1e-9)
        self.close(run["results"]["surface"]["mass"], 7800 * run["results"]["surface"]["volume"],
                   1e-12)
        # In m, and alone.
        run = self.optimise("cantilever", "--cells", "8x4x4", "--steps", "8", "--no-stl", "--3mf",
                            "c.3mf", "--stl-level", "0.4")
        vertices, triangles = model("c.3mf")
        self.close(volume_of([[vertices[v] for v in t] for t in triangles]) * 1e-9,
                   run["results"]["surface"]["volume"], 1e-9)
        # In several blocks, of 16 384 rows.
        run = self.optimise("cantilever", "--cells", "64x32x32", "--grid", "voxels", "--steps", "1",
                            "--tolerance", "1e-2", "--no-stl", "--no-hdf", "--3mf", "large.3mf",
                            "--stl-level", "0.1", "--smooth", "0", "--reanalyse", "0")
        vertices, triangles = model("large.3mf")
        self.assertGreater(len(vertices), 16384)
        self.assertEqual((len(vertices), len(triangles)), (run["results"]["surface"]["vertices"],
                                                           run["results"]["surface"]["triangles"]))
        self.close(volume_of([[vertices[v] for v in t] for t in triangles]) * 1e-9,
                   run["results"]["surface"]["volume"], 1e-9)
        process = self.ossatura("topopt", "cantilever", "--cells", "4x2x2", "--steps", "1", "-q",
                                "--3mf", "none.3mf", "--stl-level", "0.99", "--backend",
                                self.backend)
        self.assertIn("none.3mf: not written", process.stderr)
        self.assertNotIn("none.3mf", self.files())
        # Nothing is begun where an output cannot be: not even the history.
        before = self.files()
        for option, name in (("--3mf", "s.3mf"), ("--stl", "s.stl"), ("--hdf", "s.hdf"), ("--checkpoint", "c.h5")):
            self.fails(BAD_FILE, "the directory 'nothere' does not exist", "topopt", "cantilever", "--cells", "4x2x2",
                       "--steps", "1", "-q", "--history", "h.csv", option, "nothere/" + name)
            self.assertEqual(self.files(), before)

    def test_images_in_mirrors_are_joined_to_the_surface(self):
        arguments = ("mbb", "--cells", "16x3x8", "--grid", "voxels", "--steps", "12", "--volume", "0.4",
                     "--mass-density", "1000", "--stl", "s.stl")
        quarter = self.optimise(*arguments)["results"]
        own = self.triangles("s.stl")
        whole = self.optimise(*arguments, "--whole")["results"]
        joined = self.triangles("s.stl")
        self.assert_closed(joined)
        self.assertEqual(len(shells(joined)), 1)
        self.close(volume_of(joined), 4 * volume_of(own), 1e-6)
        self.assertEqual([quarter["surface"][key] for key in ("body", "copies_of_model")], ["quarter", 1])
        self.assertEqual([whole["surface"][key] for key in ("body", "copies_of_model")], ["whole", 4])
        for key in ("volume", "mass"):
            self.close(whole["surface"][key], 4 * quarter["surface"][key], 1e-12)
        # Nothing is left in the mirrors, and no vertex is there twice.
        for axis in (0, 1):
            self.assertTrue(any(all(x[axis] == 0 for x in t) for t in own))
            self.assertFalse(any(all(abs(x[axis]) < 1e-6 for x in t) for t in joined))
            self.close(min(x[axis] for t in joined for x in t), -max(x[axis] for t in joined for x in t), 1e-6)
        places = {tuple(round(float(x), 5) for x in corner) for t in joined for corner in t}
        self.assertEqual(len(places), whole["surface"]["vertices"])
        # What is solved again is the model, and the share of it that is modelled is said.
        for results in (quarter, whole):
            self.assertEqual(results["reanalysis"]["body"], "quarter")
            self.close(results["reanalysis"]["cube_volume"], quarter["surface"]["volume"], 0.05)
        self.close(whole["reanalysis"]["objective"], quarter["reanalysis"]["objective"], 0.05)
        table = self.ossatura("topopt", *arguments, "--whole", "--backend", self.backend).stdout
        self.assertRegex(table, r"kg, of the whole part\n")
        self.assertIn("the modelled quarter, with its share of forces and energies", table)

    def test_a_whole_part_in_a_problem(self):
        half = {**problem(mesh=box((8, 3, 4)), supports=[{"box": [0, 0, 0, 0, 3, 4]}], steps=4,
                          cases=[{"name": "tip", "loads": [{"box": [8, 0, 0, 8, 3, 4], "traction": [0, 0, -1]}]}]),
                "mirrors": [{"axis": "y", "place": 3}], "whole": True}
        run = self.solve(half, "--stl", "s.stl", "--volume", "0.5")
        self.assert_closed(self.triangles("s.stl"))
        self.assertEqual(run["results"]["surface"]["body"], "whole")
        self.assertEqual(max(x[1] for t in self.triangles("s.stl") for x in t), 6)
        for message, arguments, change in (
                ("whole: 1: expected true or false", (), {"whole": 1}),
                ("give the planes of symmetry, or leave it out", (), {"mirrors": []}),
                ("mirrors[0] and [1] are both normal to y", (),
                 {"mirrors": [{"axis": "y", "place": 3}, {"axis": "y", "place": 0}]}),
                ("give the planes of symmetry, or leave it out", ("--whole",), {"mirrors": [], "whole": False})):
            self.write("p.json", json.dumps({**half, **change}))
            self.fails(BAD_FILE, message, "topopt", "p.json", "-q", "-o", "out", *arguments)
        self.fails(USAGE, "--stl, --3mf or --output-dir", "topopt", "mbb", "--whole")


if __name__ == "__main__":
    driver_case.main()
