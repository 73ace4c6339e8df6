# SPDX-License-Identifier: Apache-2.0
"""Linear elasticity of trilinear hexahedra, with 2 x 2 x 2 Gauss points, and of linear tetrahedra."""
import itertools

import numpy

SIGNS = numpy.array([[x * y, y, z] for z in (-1, 1) for y in (-1, 1) for x in (1, -1)], float)
CENTRE = numpy.zeros(3)


def shape_derivatives(place):
    """[8, 3] of the trilinear functions, in reference coordinates."""
    terms = 1 + SIGNS * place
    return numpy.stack([SIGNS[:, d] * terms[:, d - 1] * terms[:, d - 2] / 8 for d in range(3)], axis=1)


def gradients(corner, place):
    """Of the functions of each element `corner` [n, 4 or 8, 3], [n, corners, 3], and the Jacobians' determinants;
    those of a tetrahedron are the same everywhere."""
    slope = shape_derivatives(place) if corner.shape[1] == 8 else numpy.vstack([-numpy.ones(3), numpy.eye(3)])
    jacobian = corner.transpose(0, 2, 1) @ slope  # dx_i / d xi_j
    return slope @ numpy.linalg.inv(jacobian), numpy.linalg.det(jacobian)


def points_of(corner):
    """(gradients, volumes) at the integration points."""
    signs = itertools.product((-1.0, 1.0), repeat=3) if corner.shape[1] == 8 else [(0, 0, 0)]
    for gradient, determinant in (gradients(corner, numpy.array(sign) / 3 ** 0.5) for sign in signs):
        yield gradient, determinant / (1 if corner.shape[1] == 8 else 6)


def volumes(corner):
    return sum(volume for _, volume in points_of(corner))


def lame_of(young, poisson):
    return young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))


def strain_stress(gradient, u, lame, mu):
    """[n, 3, 3] each, of the displacements u [n, corners, 3]."""
    h = u.transpose(0, 2, 1) @ gradient
    strain = (h + h.transpose(0, 2, 1)) / 2
    trace = (lame * numpy.trace(strain, axis1=1, axis2=2))[:, None, None]
    return strain, trace * numpy.eye(3) + 2 * mu[:, None, None] * strain


def element_forces(corner, u, lame, mu):
    """K_e u_e [n, corners, 3]; `corner` may be of one element, where all are congruent."""
    return sum(volume[:, None, None] * (gradient @ strain_stress(gradient, u, lame, mu)[1])
               for gradient, volume in points_of(corner))


def assemble(cell, force, count):
    """The sum at the nodes, [count, 3]."""
    return numpy.stack([numpy.bincount(cell.ravel(), force[:, :, c].ravel(), count) for c in range(3)], axis=1)


def von_mises(s):
    """Of stresses [n, 6]: xx, yy, zz, xy, yz, xz."""
    return numpy.sqrt(((s[:, :3] - s[:, [1, 2, 0]]) ** 2).sum(axis=1) / 2 + 3 * (s[:, 3:] ** 2).sum(axis=1))


def held_bits(mask):
    """[n, 3] of a mask with a bit for each component."""
    return (mask.astype(int)[:, None] >> numpy.arange(3) & 1).astype(bool)
