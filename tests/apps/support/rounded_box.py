# SPDX-License-Identifier: Apache-2.0
"""Boxes of equal cells as legacy VTK, with coordinates in single precision, as ParaView and meshio write them."""
import itertools
import struct


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def rounded_box(cells, edge, tetrahedra=False):
    """Text of a box from 0 to cells * edge, of hexahedra or of six tetrahedra in each of them."""
    nx, ny, nz = (n + 1 for n in cells)
    points = [" ".join(repr(single(i * edge)) for i in (x, y, z))
              for z in range(nz) for y in range(ny) for x in range(nx)]
    elements = []
    for z, y, x in itertools.product(range(cells[2]), range(cells[1]), range(cells[0])):
        corner = [x + i + nx * (y + j + ny * (z + k)) for k in (0, 1) for j in (0, 1) for i in (0, 1)]
        if tetrahedra:
            for first, second in ((1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1)):
                elements.append([corner[0], corner[first], corner[second], corner[7]])
        else:
            elements.append([corner[c] for c in (0, 1, 3, 2, 4, 5, 7, 6)])
    size = len(elements[0])
    return (f"# vtk DataFile Version 3.0\nbox\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {len(points)} float\n" +
            "\n".join(points) + f"\nCELLS {len(elements)} {(size + 1) * len(elements)}\n" +
            "\n".join(" ".join(map(str, [size, *nodes])) for nodes in elements) +
            f"\nCELL_TYPES {len(elements)}\n" + "\n".join(["10" if tetrahedra else "12"] * len(elements)) + "\n")
