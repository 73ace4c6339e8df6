# SPDX-License-Identifier: Apache-2.0
"""Decks of Abaqus for tests: boxes whose cells are elements of any kinds."""
import itertools

KINDS = {"C3D4": 4, "C3D10": 10, "C3D6": 6, "C3D15": 15, "C3D8": 8, "C3D20": 20, "C3D20R": 20}
VTK_CELL = {"C3D4": 10, "C3D10": 24, "C3D6": 13, "C3D15": 26, "C3D8": 12, "C3D20": 25, "C3D20R": 25}
# Corners of faces and of edges, from 0, as in the manual of Abaqus.
FACES = {4: ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)),
         6: ((0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)),
         8: ((0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0))}
EDGES = {4: ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)),
         6: ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
         8: ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))}


def corners_of(kind):
    return 4 if kind in ("C3D4", "C3D10") else 6 if kind in ("C3D6", "C3D15") else 8


def pieces(corners, c):
    """The elements that fill a cell with corners c, bottom around and top around."""
    if corners == 8:
        return [list(c)]
    if corners == 6:
        return [[c[k] for k in (0, 1, 2, 4, 5, 6)], [c[k] for k in (0, 2, 3, 4, 6, 7)]]
    corner = {0: 0, 1: 1, 3: 2, 2: 3, 4: 4, 5: 5, 7: 6, 6: 7}  # by bits of x, y, z
    found = []
    for axes in itertools.permutations(range(3)):
        at, piece = 0, [c[0]]
        for axis in axes:
            at |= 1 << axis
            piece.append(c[corner[at]])
        if (axes[1] - axes[0]) % 3 != 1:
            piece[1], piece[2] = piece[2], piece[1]
        found.append(piece)
    return found


class Mesh:
    """A box of cells, those with x below `split` of kind `other`."""

    def __init__(self, kind, cells=(4, 2, 2), size=(4, 1, 1), other=None, split=0):
        self.cells, self.size = cells, size
        row, layer = cells[0] + 1, (cells[0] + 1) * (cells[1] + 1)
        self.point = [tuple(s * n / c for s, n, c in zip(size, (i, j, k), cells))
                      for k in range(cells[2] + 1) for j in range(cells[1] + 1) for i in range(cells[0] + 1)]
        self.elements, middle = [], {}
        for k, j, i in itertools.product(*(range(c) for c in reversed(cells))):
            own = other if i < split else kind
            n = i + j * row + k * layer
            cell = [n, n + 1, n + row + 1, n + row]
            for nodes in pieces(corners_of(own), cell + [m + layer for m in cell]):
                if KINDS[own] > 8 or own == "C3D10":
                    for a, b in EDGES[corners_of(own)]:
                        ends = tuple(sorted((nodes[a], nodes[b])))
                        if ends not in middle:
                            middle[ends] = len(self.point)
                            self.point.append(tuple((x + y) / 2 for x, y in zip(*(self.point[e] for e in ends))))
                        nodes = nodes + [middle[ends]]
                self.elements.append((own, nodes))

    def nodes_at(self, axis, place):
        return [n + 1 for n, p in enumerate(self.point) if p[axis] == place]

    def faces_at(self, axis, place):
        """(element, face) from 1 on a plane."""
        return [(e + 1, f + 1) for e, (kind, nodes) in enumerate(self.elements)
                for f, face in enumerate(FACES[corners_of(kind)])
                if all(self.point[nodes[k]][axis] == place for k in face)]

    def flats(self, axis, places, name):
        """Elements without volume on the faces that are on these planes, as Gmsh writes its groups of surfaces."""
        rows, number = {}, 10001
        for e, f in (face for place in places for face in self.faces_at(axis, place)):
            nodes = self.elements[e - 1][1]
            corners = corners_of(self.elements[e - 1][0])
            local = FACES[corners][f - 1]
            own = [nodes[k] for k in local]
            if len(nodes) > corners:
                edges = [set(edge) for edge in EDGES[corners]]
                own += [nodes[corners + edges.index({a, b})] for a, b in zip(local, local[1:] + local[:1])]
            rows.setdefault(f"CPS{len(own)}", []).append(", ".join(str(n) for n in [number] + [n + 1 for n in own]))
            number += 1
        return "".join(f"*ELEMENT, TYPE={kind}, ELSET={name}\n" + "\n".join(one) + "\n" for kind, one in rows.items())

    def deck(self, material="8., 0.3", supports="", step=""):
        text = "*NODE\n" + "".join(f"{n + 1}, {x!r}, {y!r}, {z!r}\n" for n, (x, y, z) in enumerate(self.point))
        last = None
        for e, (kind, nodes) in enumerate(self.elements):
            if kind != last:
                text += f"*ELEMENT, TYPE={kind}, ELSET=ALL\n"
                last = kind
            numbers = [str(n) for n in [e + 1] + [n + 1 for n in nodes]]
            text += ",\n".join(", ".join(numbers[k:k + 16]) for k in range(0, len(numbers), 16)) + "\n"
        text += f"*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n{material}\n"
        for name, axis in zip("XYZ", range(3)):
            text += f"*NSET, NSET={name}0\n" + "".join(f"{n}\n" for n in self.nodes_at(axis, 0))
        text += "*NSET, NSET=END\n" + "".join(f"{n}\n" for n in self.nodes_at(0, self.size[0]))
        return text + (f"*BOUNDARY\n{supports}" if supports else "") + (f"*STEP\n*STATIC\n{step}*END STEP\n"
                                                                         if step else "")

    def pulled(self):
        """Under a tension of 2 along x, free to become thinner."""
        faces = "".join(f"{e}, P{f}, -2.\n" for e, f in self.faces_at(0, self.size[0]))
        return self.deck(supports="X0, 1, 1\nY0, 2, 2\nZ0, 3, 3\n", step="*DLOAD\n" + faces)

    def cantilever(self):
        end = self.nodes_at(0, self.size[0])
        return self.deck(supports="X0, 1, 3\n", step=f"*CLOAD\nEND, 3, {-1 / len(end)!r}\n")


def plate_on_its_rim(second_order=False):
    """One hexahedron of 1 x 1 x 0.2 m in Gmsh's format 2.2, with groups of the four edges of the bottom (RIM), of the
    top (TOP) and of the corners of the bottom (CORNERS)."""
    corners = [(x, y, z) for z in (0, 0.2) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    # In the order of Gmsh.
    edges = ((0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7))
    middle = {edge: 9 + n for n, edge in enumerate(edges)} if second_order else {}
    points = corners + [tuple((p + q) / 2 for p, q in zip(corners[a], corners[b])) for a, b in middle]

    def nodes(*around, pairs):
        return [n + 1 for n in around] + [middle[tuple(sorted(pair))] for pair in pairs if middle]

    elements = [(17 if second_order else 5, 9, nodes(*range(8), pairs=edges)),
                (16 if second_order else 3, 2, nodes(4, 5, 6, 7, pairs=((4, 5), (5, 6), (6, 7), (4, 7))))]
    elements += [(8 if second_order else 1, 1, nodes(a, b, pairs=((a, b),)))
                 for a, b in ((0, 1), (1, 2), (3, 2), (0, 3))]
    elements += [(15, 3, [n + 1]) for n in range(4)]
    return ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n0 3 \"CORNERS\"\n1 1 \"RIM\"\n2 2 \"TOP\"\n"
            f"3 9 \"BODY\"\n$EndPhysicalNames\n$Nodes\n{len(points)}\n" +
            "".join(f"{n + 1} {x} {y} {z}\n" for n, (x, y, z) in enumerate(points)) +
            f"$EndNodes\n$Elements\n{len(elements)}\n" +
            "".join(f"{n + 1} {kind} 2 {group} {group} {' '.join(map(str, of))}\n"
                    for n, (kind, group, of) in enumerate(elements)) + "$EndElements\n")


def plate_of_one_element():
    """4 x 4 x 1 cubes in Gmsh's format 2.2, with groups of the top, the bottom and both."""
    point = {(i, j, k): 1 + i + 5 * j + 25 * k for k in (0, 1) for j in range(5) for i in range(5)}
    around = ((0, 0), (1, 0), (1, 1), (0, 1))
    elements = []
    for j in range(4):
        for i in range(4):
            faces = [[point[i + a, j + b, k] for a, b in around] for k in (0, 1)]
            elements.append((5, 9, faces[0] + faces[1]))
            elements += [(3, group, faces[k]) for k, own in ((0, 1), (1, 2)) for group in (own, 3)]
    return ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n2 1 \"BOT\"\n2 2 \"TOP\"\n"
            "2 3 \"TOPBOT\"\n3 9 \"BODY\"\n$EndPhysicalNames\n"
            f"$Nodes\n{len(point)}\n" +
            "".join(f"{n} {x} {y} {z}\n" for (x, y, z), n in point.items()) +
            f"$EndNodes\n$Elements\n{len(elements)}\n" +
            "".join(f"{n + 1} {kind} 2 {group} {group} {' '.join(map(str, nodes))}\n"
                    for n, (kind, group, nodes) in enumerate(elements)) + "$EndElements\n")
