# SPDX-License-Identifier: Apache-2.0
"""What `ossatura eikonal` reads: one mesh through all formats, and files and options that are refused."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import driver_case
from support.driver_case import BAD_FILE, UNAVAILABLE, USAGE
from support.eikonal_case import EikonalCase


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
