# SPDX-License-Identifier: Apache-2.0
"""Linear elasticity of hexahedra, tetrahedra and other solids. A `slope` [points, functions, 3], or [functions, 3], has derivatives
of the functions of an element in reference coordinates; those of hexahedra are in the order of a grid, x first."""
import numpy

SIX = (..., [0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2])  # xx, yy, zz, xy, yz, xz of a tensor
TENSOR = (..., [[0, 3, 5], [3, 1, 4], [5, 4, 2]])  # and back


def polynomials(order, at):
    """Values and derivatives of those through order + 1 samples of [-1, 1], at points."""
    legendre = numpy.polynomial.legendre
    invert = numpy.linalg.inv(legendre.legvander(numpy.linspace(-1, 1, order + 1), order))
    return (legendre.legvander(at, order) @ invert,
            legendre.legvander(at, order - 1) @ legendre.legder(numpy.eye(order + 1)) @ invert)


def slopes(order, at):
    """Of the polynomials through (order + 1)^3 samples of [-1, 1]^3, at the grid of the points `at`."""
    v, d = polynomials(order, at)
    kron = numpy.kron
    return numpy.stack([kron(v, kron(v, d)), kron(v, kron(d, v)), kron(d, kron(v, v))], axis=2)


TETRAHEDRON = numpy.vstack([-numpy.ones(3), numpy.eye(3)])
MIDDLE = {4: TETRAHEDRON, 8: slopes(1, [0.0])[0]}  # by the number of corners
QUADRATURE = {4: ([TETRAHEDRON], [1 / 6]), 8: (slopes(1, numpy.array([-1, 1]) / 3 ** 0.5), numpy.ones(8))}  # with weights
CORNERS = (4, 4, 6, 6, 8, 8, 8)  # of the kinds of solids: C3D4, C3D10, C3D6, C3D15, C3D8, C3D20, C3D20R


def reference(kind):
    """Of a kind of solid the powers of its monomials, the inverse of their values at the nodes, in VTK's order, and its
    quadrature points with weights."""
    corners, second = CORNERS[kind], kind in (1, 3, 5, 6)
    cube = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
    nodes = {4: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], 8: cube,  # VTK's wedge turns the other way
             6: [(0, 0, -1), (0, 1, -1), (1, 0, -1), (0, 0, 1), (0, 1, 1), (1, 0, 1)]}[corners]
    edges = {4: "01 12 20 03 13 23", 6: "01 12 20 34 45 53 03 14 25", 8: "01 12 23 30 45 56 67 74 04 15 26 37"}[corners]
    node = numpy.array(nodes, float)
    if second:
        node = numpy.vstack([node, [(node[int(a)] + node[int(b)]) / 2 for a, b in edges.split()]])
    powers = [p for p in numpy.ndindex(3, 3, 3) if
              (sum(p) <= 1 + second if corners == 4 else
               p.count(2) <= second if corners == 8 else
               p[0] + p[1] <= 1 + second - (p[2] == 2) and p[2] <= 1 + second)]
    invert = numpy.linalg.inv(numpy.array([[numpy.prod(x ** p) for p in powers] for x in node]))
    line = {2: ([-1, 1] / numpy.sqrt(3), [1, 1]), 3: (numpy.array([-1, 0, 1]) * 0.6 ** 0.5, [5 / 9, 8 / 9, 5 / 9])}
    if corners == 4:
        a = (5 - 5 ** 0.5) / 20 if second else 0.25
        points = [(a, a, a), (1 - 3 * a, a, a), (a, 1 - 3 * a, a), (a, a, 1 - 3 * a)][:4 if second else 1]
        weights = [1 / 6 / len(points)] * len(points)
    else:
        at, of = line[3 if kind in (3, 5) else 2]
        plane = [(r, s, v * w) for r, v in zip(at, of) for s, w in zip(at, of)] if corners == 8 else \
            [(1 / 6, 1 / 6, 1 / 6), (2 / 3, 1 / 6, 1 / 6), (1 / 6, 2 / 3, 1 / 6)] if second else [(1 / 3, 1 / 3, 1 / 2)]
        points = [(r, s, t) for r, s, _ in plane for t in at]
        weights = [w * v for *_, w in plane for v in of]
    return powers, invert, points, weights


def solid(kind):
    """Slopes and weights of a kind of solid at its quadrature points: of the polynomials whose monomials at the nodes
    make an invertible matrix."""
    powers, invert, points, weights = reference(kind)
    return slopes_at(points, powers, invert), weights


def slopes_at(points, powers, invert):
    """Of the polynomials of `reference`."""
    def derivative(x, p, d):
        lower = [q - (e == d) for e, q in enumerate(p)]
        return p[d] * numpy.prod([y ** q for y, q in zip(x, lower)]) if p[d] else 0.0

    return [numpy.array([[derivative(x, p, d) for p in powers] for d in range(3)]).dot(invert).T for x in points]


def shapes(kind):
    """The values of the shape functions of a kind of solid at its quadrature points, [points, nodes]; those of a
    hexahedron of eight nodes are in the order of a grid."""
    if kind == 4:
        v = polynomials(1, numpy.array([-1, 1]) / 3 ** 0.5)[0]
        return numpy.kron(v, numpy.kron(v, v))
    powers, invert, points, _ = reference(kind)
    return numpy.array([[numpy.prod(numpy.power(x, p)) for p in powers] for x in points]) @ invert


def products(kind):
    """Values, slopes and weights at points that integrate products of two shape functions of a kind of solid on straight
    edges: those of Gauss in a cube, whose sides are drawn together for triangles."""
    at, of = numpy.polynomial.legendre.leggauss(4)
    if kind == 4:
        v, weight = polynomials(1, at)[0], numpy.kron(of, numpy.kron(of, of))
        return numpy.kron(v, numpy.kron(v, v)), slopes(1, at), weight
    powers, invert = reference(kind)[:2]
    points, weights = [], []
    for r, a in zip(at, of):
        for s, b in zip(at, of):
            for t, c in zip(at, of):
                u, v, w = (1 + r) / 2, (1 + s) / 2, (1 + t) / 2
                point, part = {8: ((r, s, t), 1), 6: ((u, v * (1 - u), t), (1 - u) / 4),
                               4: ((u, v * (1 - u), w * (1 - u) * (1 - v)), (1 - u) ** 2 * (1 - v) / 8)}[CORNERS[kind]]
                points.append(point)
                weights.append(a * b * c * part)
    values = numpy.array([[numpy.prod(numpy.power(x, p)) for p in powers] for x in points]) @ invert
    return values, slopes_at(points, powers, invert), weights


def mass_forces(corner, u, density, kind):
    """M_e u_e [n, nodes, 3] with the consistent mass of elements of these densities."""
    force = numpy.zeros(u.shape)
    for value, slope, weight in zip(*products(kind)):
        share = density * weight * jacobians(corner, slope)[1]
        force += share[:, None, None] * value[:, None] * numpy.einsum("a,eai->ei", value, u)[:, None, :]
    return force


def derivatives(values, slope):
    """d values_i / d xi_j [n, points, 3, 3] of elements [n, functions, 3]."""
    return numpy.einsum("eai,...aj->e...ij", values, slope, optimize=True)


def jacobians(corner, slope):
    """The inverses and the determinants."""
    jacobian = derivatives(corner, slope)
    return numpy.linalg.inv(jacobian), numpy.linalg.det(jacobian)


def strains(u, slope, inverse):
    h = derivatives(u, slope) @ inverse
    return (h + h.swapaxes(-1, -2)) / 2


def stresses(strain, young, poisson):
    trace = poisson / (1 - 2 * poisson) * numpy.trace(strain, axis1=1, axis2=2)
    return (strain + trace[:, None, None] * numpy.eye(3)) * numpy.reshape(young / (1 + poisson), (-1, 1, 1))


def volumes(corner, rule=None):
    return sum(weight * jacobians(corner, slope)[1] for slope, weight in zip(*(rule or QUADRATURE[corner.shape[1]])))


def element_forces(corner, u, young, poisson, rule=None):
    """K_e u_e [n, corners, 3]; `corner` may be of one element, where all are congruent."""
    force = numpy.zeros(u.shape)
    for slope, weight in zip(*(rule or QUADRATURE[corner.shape[1]])):
        inverse, determinant = jacobians(corner, slope)
        stress = stresses(strains(u, slope, inverse), young, poisson)
        force += slope @ inverse @ stress * (weight * determinant[:, None, None])
    return force


def thermal(corner, strain, young, poisson, shape, rule=None):
    """Forces [n, nodes, 3] of elements whose nodes would be longer by `strain` [n, nodes], and the strain energy of
    each where nothing moves."""
    force, energy = numpy.zeros(corner.shape), numpy.zeros(len(corner))
    for value, slope, weight in zip(shape, *(rule or QUADRATURE[corner.shape[1]])):
        inverse, determinant = jacobians(corner, slope)
        at = strain @ value
        stress = young / (1 - 2 * poisson) * at * weight * determinant
        force += stress[:, None, None] * (slope @ inverse)
        energy += 1.5 * stress * at
    return force, energy


def assemble(cell, force, count):
    """The sum at the nodes, [count, 3]."""
    return numpy.stack([numpy.bincount(cell.ravel(), part.ravel(), count) for part in force.transpose(2, 0, 1)], axis=1)


def von_mises(s):
    """Of stresses [n, 6]: xx, yy, zz, xy, yz, xz."""
    return numpy.sqrt(((s[:, :3] - s[:, [1, 2, 0]]) ** 2).sum(axis=1) / 2 + 3 * (s[:, 3:] ** 2).sum(axis=1))
