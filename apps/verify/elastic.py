# SPDX-License-Identifier: Apache-2.0
"""Linear elasticity of hexahedra and tetrahedra. A `slope` [points, functions, 3], or [functions, 3], has derivatives
of the functions of an element in reference coordinates; those of hexahedra are in the order of a grid, x first."""
import numpy

SIX = (..., [0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2])  # xx, yy, zz, xy, yz, xz of a tensor
TENSOR = (..., [[0, 3, 5], [3, 1, 4], [5, 4, 2]])  # and back


def slopes(order, at):
    """Of the polynomials through (order + 1)^3 samples of [-1, 1]^3, at the grid of the points `at`."""
    legendre, kron = numpy.polynomial.legendre, numpy.kron
    invert = numpy.linalg.inv(legendre.legvander(numpy.linspace(-1, 1, order + 1), order))
    v = legendre.legvander(at, order) @ invert
    d = legendre.legvander(at, order - 1) @ legendre.legder(numpy.eye(order + 1)) @ invert
    return numpy.stack([kron(v, kron(v, d)), kron(v, kron(d, v)), kron(d, kron(v, v))], axis=2)


TETRAHEDRON = numpy.vstack([-numpy.ones(3), numpy.eye(3)])
MIDDLE = {4: TETRAHEDRON, 8: slopes(1, [0.0])[0]}  # by the number of corners
QUADRATURE = {4: ([TETRAHEDRON], 1 / 6), 8: (slopes(1, numpy.array([-1, 1]) / 3 ** 0.5), 1)}  # with the weight


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


def volumes(corner):
    points, weight = QUADRATURE[corner.shape[1]]
    return weight * sum(jacobians(corner, slope)[1] for slope in points)


def element_forces(corner, u, young, poisson):
    """K_e u_e [n, corners, 3]; `corner` may be of one element, where all are congruent."""
    force, (points, weight) = numpy.zeros(u.shape), QUADRATURE[corner.shape[1]]
    for slope in points:
        inverse, determinant = jacobians(corner, slope)
        stress = stresses(strains(u, slope, inverse), young, poisson)
        force += slope @ inverse @ stress * (weight * determinant[:, None, None])
    return force


def assemble(cell, force, count):
    """The sum at the nodes, [count, 3]."""
    return numpy.stack([numpy.bincount(cell.ravel(), part.ravel(), count) for part in force.transpose(2, 0, 1)], axis=1)


def von_mises(s):
    """Of stresses [n, 6]: xx, yy, zz, xy, yz, xz."""
    return numpy.sqrt(((s[:, :3] - s[:, [1, 2, 0]]) ** 2).sum(axis=1) / 2 + 3 * (s[:, 3:] ** 2).sum(axis=1))
