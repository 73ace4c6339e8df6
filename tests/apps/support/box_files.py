# SPDX-License-Identifier: Apache-2.0
"""Boxes of hexahedra with edges of 1 as files of other programs."""


def box_points(cells):
    return [(i, j, k) for k in range(cells[2] + 1) for j in range(cells[1] + 1)
            for i in range(cells[0] + 1)]


def box_elements(cells):
    """Corners of each cell, from 0, bottom around and top around."""
    row, layer = cells[0] + 1, (cells[0] + 1) * (cells[1] + 1)
    corners = (0, 1, row + 1, row, layer, layer + 1, layer + row + 1, layer + row)
    return [[i + j * row + k * layer + corner for corner in corners]
            for k in range(cells[2]) for j in range(cells[1]) for i in range(cells[0])]


def abaqus(cells=(6, 3, 3), material=True, load=True, boundary=True):
    """The cantilever of problem() as an Abaqus deck."""
    points = box_points(cells)
    nodes = "".join(f"{n + 1}, {x}., {y}., {z}.\n" for n, (x, y, z) in enumerate(points))
    elements = "".join(f"{e + 1}, " + ", ".join(str(n + 1) for n in corners) + "\n"
                       for e, corners in enumerate(box_elements(cells)))
    fixed = "".join(f"{n + 1},\n" for n, p in enumerate(points) if p[0] == 0)
    tip = [n + 1 for n, p in enumerate(points) if p[0] == cells[0] and p[2] == 0]
    text = (f"*HEADING\na box\n*NODE\n{nodes}*ELEMENT, TYPE=C3D8, ELSET=ALL\n{elements}"
            f"*NSET, NSET=Left\n{fixed}*NSET, NSET=Tip\n" + "".join(f"{n},\n" for n in tip))
    if material:
        text += "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n1., 0.3\n"
    if boundary:
        text += "*BOUNDARY\nLeft, 1, 3\n"
    if load:
        text += f"*STEP\n*STATIC\n*CLOAD\nTip, 3, {-1 / len(tip)!r}\n*END STEP\n"
    return text


def vtk(cells=(6, 3, 3), turned=None):
    """The mesh alone; element `turned` is inside out in the middle."""
    points = box_points(cells)
    elements = box_elements(cells)
    if turned is not None:
        elements[turned][0], elements[turned][6] = elements[turned][6], elements[turned][0]
    return ("# vtk DataFile Version 3.0\nbox\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            f"POINTS {len(points)} double\n" + "".join(f"{x} {y} {z}\n" for x, y, z in points) +
            f"CELLS {len(elements)} {9 * len(elements)}\n" +
            "".join("8 " + " ".join(map(str, corners)) + "\n" for corners in elements) +
            f"CELL_TYPES {len(elements)}\n" + "12\n" * len(elements))
