// SPDX-License-Identifier: Apache-2.0
// These generators make meshes for elements of high order, with few elements and curved patches of
// exact shape.
#pragma once

#include <ossatura/core/pfem/hexa_map.hpp>

namespace ossatura {

/// The octant of a hollow sphere about the origin: three patches (of a cube's faces, projected: the
/// direction is that of the bilinear point of the face, normalised, the radius linear), each of
/// along x along x across elements, the direction outwards last. Throws std::invalid_argument for
/// radii that are not 0 < inner < outer and fewer than one element.
CurvedHexaMesh make_sphere_octant(double inner, double outer, int along, int across);

/// The quarter of a hollow cylinder about the z axis, x, y >= 0, 0 <= z <= height: `across`
/// elements along the radius, `along` around, `up` along z, in this order of axes. Throws like the
/// sphere, and for heights that are not positive.
CurvedHexaMesh make_cylinder_quarter(double inner, double outer, double height, int along,
                                     int across, int up);

/// x -> (x, y, z) with x += shear[0] y + shear[1] z, y += shear[2] z: elements stay
/// parallelepipeds.
void shear(ElementMesh& mesh, const double (&shear)[3]);

} // namespace ossatura
