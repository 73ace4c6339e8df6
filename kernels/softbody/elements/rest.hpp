// SPDX-License-Identifier: Apache-2.0
// Rest numbers describe the rest shape and material that an element of a soft body keeps; the host
// makes them once.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/softbody/elements/corotational_hexa.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace ossatura::detail {

/// Numbers an element keeps: see CorotationalSimplex and CorotationalHexa.
constexpr int rest_numbers(ElementShape shape) {
  return shape == ElementShape::hexa ? 22 : 10;
}

/// Throws for a material that is not positive definite or not made for the shape.
inline void check_soft_material(ElementShape shape, const SoftMaterial& material) {
  OSSATURA_REQUIRE(is_made_for(material.law, shape),
                   "the law " << name_of(material.law) << " is for tetrahedra: choose corotational "
                              << "for elements of shape " << name_of(shape));
  for (const SoftParameter& p : soft_parameters)
    OSSATURA_REQUIRE(!p.is_of(material.law) || p.admits(material.*p.value),
                     "the law " << name_of(material.law) << " has " << p.name << " = "
                                << material.*p.value << ": expected " << p.expected);
  OSSATURA_REQUIRE(fault_of(material) == nullptr, fault_of(material));
  OSSATURA_REQUIRE(shape != ElementShape::triangle ||
                       (material.thickness > 0 && std::isfinite(material.thickness)),
                   "the thickness is " << material.thickness << ": it must be positive");
}

/// SoftInput::coefficient: lambda, mu (lambda of plane stress for triangles) or c1, c2, bulk.
inline void set_soft_coefficients(ElementShape shape, const SoftMaterial& material,
                                  double (&coefficient)[3]) {
  if (moduli_of(material.law) != SoftModuli::hooke) {
    double* next = coefficient;
    for (const SoftParameter& p : soft_parameters)
      if (p.is_of(material.law))
        *next++ = material.*p.value;
    return;
  }
  const double young = material.young, poisson = material.poisson;
  const bool plane = shape == ElementShape::triangle;
  coefficient[0] = young * poisson / ((1 + poisson) * (1 - (plane ? 1 : 2) * poisson));
  coefficient[1] = young / (2 * (1 + poisson));
  coefficient[2] = 0;
}

/// Throws unless `volume` is one of an element as long as `length`; both in the same dimensions.
/// `place` begins messages: "object 'liver': ".
inline void check_element_volume(const std::string& place, ElementShape shape, std::size_t elem,
                                 double volume, double length) {
  OSSATURA_REQUIRE(volume > 1e-10 * length,
                   place << name_of(shape) << ' ' << elem << " has "
                         << (volume < -1e-10 * length
                                 ? "a negative volume at rest: reverse its nodes"
                                 : "no volume at rest: remove it or move its nodes"));
}

/// Fills rest[k][elem] of a tetrahedron or triangle.
inline void set_simplex_rest(const std::string& place, const ElementMesh& mesh, std::size_t elem,
                             double factor, std::vector<double>& rest) {
  const bool is_tetra = mesh.shape == ElementShape::tetra;
  const std::int32_t* node = &mesh.node[elem * nodes_per_elem(mesh.shape)];
  Vector3 edge[3];
  double longest = 0;
  for (int i = 0; i < (is_tetra ? 3 : 2); ++i) {
    for (int c = 0; c < 3; ++c)
      edge[i][c] =
          mesh.point[3 * std::size_t(node[i + 1]) + c] - mesh.point[3 * std::size_t(node[0]) + c];
    longest = std::fmax(longest, std::sqrt(dot(edge[i], edge[i])));
  }
  double volume; // of the parallelepiped or -gram
  if (is_tetra) {
    volume = dot(cross(edge[0], edge[1]), edge[2]);
    check_element_volume(place, mesh.shape, elem, volume, longest * longest * longest);
  } else {
    edge[2] = cross(edge[0], edge[1]);
    volume = std::sqrt(dot(edge[2], edge[2]));
    check_element_volume(place, mesh.shape, elem, volume, longest * longest);
    edge[2] = (1 / volume) * edge[2];
  }
  const Matrix3 dm_inverse = inverse(from_columns(edge[0], edge[1], edge[2]));
  const std::size_t n = mesh.num_elem();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      rest[(3 * i + j) * n + elem] = dm_inverse(i, j);
  rest[9 * n + elem] = factor * volume / (is_tetra ? 6 : 2);
}

inline void set_hexa_rest(const std::string& place, const ElementMesh& mesh, std::size_t elem,
                          double factor, std::vector<double>& rest) {
  HexaModes modes = no_modes();
  for (int a = 0; a < 8; ++a) {
    const double* x = &mesh.point[3 * std::size_t(mesh.node[8 * elem + a])];
    modes.add_corner(a, Vector3{{x[0], x[1], x[2]}});
  }
  double square = 0;
  for (int k = 0; k < 3; ++k)
    square = std::fmax(square, dot(modes.c[k], modes.c[k]));
  for (int g = 0; g < 8; ++g)
    check_element_volume(place, mesh.shape, elem, determinant(gauss_jacobian(modes, g)),
                         square * std::sqrt(square));
  check_element_volume(place, mesh.shape, elem, determinant(modes.centre_jacobian()),
                       square * std::sqrt(square));
  const std::size_t n = mesh.num_elem();
  for (int k = 0; k < 7; ++k)
    for (int c = 0; c < 3; ++c)
      rest[(3 * k + c) * n + elem] = modes.c[k][c];
  rest[21 * n + elem] = factor;
}

/// [rest_numbers, num_elem]; throws as make_soft_elements does.
inline std::vector<double> make_soft_rest(const ElementMesh& mesh, const SoftMaterial& material,
                                          const std::vector<double>& factor,
                                          const std::string& place = {}) {
  const std::size_t num_elem = mesh.num_elem(), num_points = mesh.num_points();
  OSSATURA_REQUIRE(factor.empty() || factor.size() == num_elem,
                   place << "there are " << factor.size() << " factors of the moduli for "
                         << num_elem << " elements");
  for (std::size_t i = 0; i < mesh.node.size(); ++i)
    OSSATURA_REQUIRE(mesh.node[i] >= 0 && std::size_t(mesh.node[i]) < num_points,
                     place << name_of(mesh.shape) << ' ' << i / nodes_per_elem(mesh.shape)
                           << " has node " << mesh.node[i] << " of " << num_points);
  std::vector<double> rest(num_elem * rest_numbers(mesh.shape));
  for (std::size_t elem = 0; elem < num_elem; ++elem) {
    const double f = factor.empty() ? 1 : factor[elem];
    OSSATURA_REQUIRE(f > 0 && std::isfinite(f), place << "the factor of the moduli of element "
                                                      << elem << " is " << f
                                                      << ": it must be positive");
    if (mesh.shape == ElementShape::hexa)
      set_hexa_rest(place, mesh, elem, f, rest);
    else
      set_simplex_rest(place, mesh, elem,
                       mesh.shape == ElementShape::triangle ? f * material.thickness : f, rest);
  }
  return rest;
}

} // namespace ossatura::detail
