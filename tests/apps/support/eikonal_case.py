# SPDX-License-Identifier: Apache-2.0
"""The box that tests of `ossatura eikonal` start from, in the formats that it is read from."""
import json

from support.driver_case import DONE, DriverCase

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
