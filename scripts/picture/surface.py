# SPDX-License-Identifier: Apache-2.0
"""Triangles to draw: the boundary of a mesh, and its section by a plane."""
import numpy

# Faces of a tetrahedron, and of a hexahedron in VTK's order, counter-clockwise from outside
FACES = {4: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
         8: [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]}
# A hexahedron as six tetrahedra around its diagonal
TETRAS = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
# Edges that a plane cuts, of vertices in ascending order of distance, by how many are below
CUTS = {1: [[0, 1], [0, 2], [0, 3]], 2: [[0, 2], [0, 3], [1, 3], [1, 2]],
        3: [[3, 0], [3, 1], [3, 2]]}


class Triangles:
    """corner [n, 3, 3], value [n, 3] of a field at the corners, ahead [n, 3]: how far
    corners are in front of the plane that cuts them off, cell [n] they come from, is_section."""

    def __init__(self, corner, value, cell, is_section=False):
        self.corner, self.value, self.cell = corner, value, cell
        self.ahead = numpy.zeros(value.shape)
        self.is_section = numpy.full(len(cell), is_section)

    def map(self, change, *others):
        """`change(array of all, of each of the others)` for every array."""
        found = Triangles.__new__(Triangles)
        for name, array in vars(self).items():
            setattr(found, name, change(array, *(vars(other)[name] for other in others)))
        return found

    def __add__(self, other):
        return self.map(lambda *arrays: numpy.concatenate(arrays), other)

    def chosen(self, which):
        return self.map(lambda array: array[which])

    def mirrored(self, axis, place):
        found = self.map(lambda array: array if array.ndim == 1 else array[:, ::-1].copy())
        found.corner[:, :, axis] = 2 * place - found.corner[:, :, axis]
        return found


def hash_rows(rows):
    """A number of 64 bits for each row of numbers of 64 bits, the same for equal rows."""
    bits = numpy.ascontiguousarray(rows).view(numpy.uint64)
    factor = numpy.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                          0xD6E8FEB86659FD93][:bits.shape[1]], numpy.uint64)
    mixed = (bits ^ (bits >> numpy.uint64(29))) * factor
    mixed = (mixed ^ (mixed >> numpy.uint64(32))) * factor[::-1]
    return mixed.sum(axis=1, dtype=numpy.uint64)


def boundary(mesh, values, of_points, shown):
    """Faces that one cell alone has, of the cells that are `shown` [num_cells] (None: all)."""
    corner, cell = [], []
    for cells, corners in mesh.blocks:
        if shown is not None:
            cells, corners = cells[shown[cells]], corners[shown[cells]]
        if corners.shape[1] == 3:
            corner.append(corners)
            cell.append(cells)
            continue
        faces = corners[:, FACES[corners.shape[1]]].reshape(-1, 3 if corners.shape[1] == 4 else 4)
        key = hash_rows(numpy.sort(faces.astype(numpy.int64), axis=1))
        order = numpy.argsort(key)
        same = key[order[1:]] == key[order[:-1]]
        alone = numpy.ones(len(key), bool)
        alone[order[1:]] &= ~same
        alone[order[:-1]] &= ~same
        found = numpy.flatnonzero(alone)
        cells = cells[found // len(FACES[corners.shape[1]])]
        for triangle in [[0, 1, 2], [0, 2, 3]][:faces.shape[1] - 2]:
            corner.append(faces[found][:, triangle])
            cell.append(cells)
    corner, cell = numpy.concatenate(corner), numpy.concatenate(cell)
    value = values[corner] if of_points else numpy.repeat(values[cell][:, None], 3, axis=1)
    return Triangles(mesh.points[corner], value, cell)


def section(mesh, values, of_points, shown, axis, place):
    """The section of the solid cells by the plane `axis` = `place`."""
    found = Triangles(numpy.empty((0, 3, 3)), numpy.empty((0, 3)), numpy.empty(0, int), True)
    distance = mesh.points[:, axis] - place
    # A plane through vertices would have sections of no width: it passes just beside them.
    distance[distance == 0] = 1e-9 * (numpy.ptp(mesh.points) or 1)
    for cells, corners in mesh.blocks:
        if corners.shape[1] == 3:
            continue
        above = distance[corners] > 0
        cut = above.any(axis=1) & ~above.all(axis=1)
        if shown is not None:
            cut &= shown[cells]
        cells, corners = cells[cut], corners[cut]
        if corners.shape[1] == 8:
            cells, corners = numpy.repeat(cells, 6), corners[:, TETRAS].reshape(-1, 4)
        corners = numpy.take_along_axis(corners, numpy.argsort(distance[corners], axis=1), axis=1)
        below = (distance[corners] < 0).sum(axis=1)
        for count, edges in CUTS.items():
            here = below == count
            first, last = corners[here][:, numpy.array(edges).T].transpose(1, 0, 2)
            part = (distance[first] / (distance[first] - distance[last]))
            point = mesh.points[first] + part[..., None] * (mesh.points[last] - mesh.points[first])
            cell = cells[here]
            value = (values[first] + part * (values[last] - values[first]) if of_points else
                     numpy.repeat(values[cell][:, None], len(edges), axis=1))
            for triangle in [[0, 1, 2], [0, 2, 3]][:len(edges) - 2]:
                found += Triangles(point[:, triangle], value[:, triangle], cell, True)
    return found


def unit(vectors):
    length = numpy.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / numpy.where(length > 0, length, 1)


def number_vertices(corners):
    """For each corner [3 n] the number of its vertex: equal positions are one."""
    return numpy.unique(hash_rows(corners.reshape(-1, 3) + 0.0), return_inverse=True)[1].ravel()


def face_normals(corners):
    """[n, 3], as long as twice the areas."""
    return numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def creased_normals(corners, crease):
    """Unit normals [n, 3, 3]: of each corner the mean over the triangles of its vertex that are
    turned by less than `crease` degrees from its own."""
    vertex = number_vertices(corners)
    order = numpy.argsort(vertex, kind="stable")
    degree = numpy.bincount(vertex)
    begin = numpy.repeat(numpy.cumsum(degree) - degree, degree)
    degree = numpy.repeat(degree, degree)
    area = face_normals(corners)[order // 3]
    own = unit(area)
    total = area.copy()
    least = numpy.cos(numpy.radians(crease))
    for step in range(1, degree.max(initial=0)):  # to the others of the vertex, in a circle
        corner = numpy.flatnonzero(degree > step)
        other = begin[corner] + (corner - begin[corner] + step) % degree[corner]
        near = (own[corner] * own[other]).sum(axis=1) > least
        total[corner[near]] += area[other[near]]
    normals = numpy.empty_like(total)
    normals[order] = unit(total)
    return normals.reshape(-1, 3, 3)


def smooth_normals(corners, passes):
    """Unit normals [n, 3, 3]: means over the triangles of a vertex, again and again."""
    vertex = number_vertices(corners)
    normal = face_normals(corners)
    area = numpy.linalg.norm(normal, axis=1)[:, None]
    for _ in range(passes):
        mean = unit(numpy.stack([numpy.bincount(vertex, numpy.repeat(normal[:, axis], 3))
                                 for axis in range(3)], axis=1))[vertex].reshape(-1, 3, 3)
        normal = area * mean.mean(axis=1)
    return mean


def corner_normals(triangles, crease, passes):
    """Unit normals [n, 3, 3]; sections are flat."""
    normals = numpy.empty(triangles.corner.shape)
    flat = triangles.is_section
    normals[flat] = unit(face_normals(triangles.corner[flat]))[:, None]
    corners = triangles.corner[~flat]
    normals[~flat] = smooth_normals(corners, passes) if passes else creased_normals(corners, crease)
    return normals
