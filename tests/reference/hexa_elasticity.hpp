// SPDX-License-Identifier: Apache-2.0
// Oracle of the operators on hexahedra: K_e as B^T D B at Gauss points (soft_element.hpp), summed
// into a dense matrix. The standard library only.
#pragma once

#include "tests/reference/soft_element.hpp"

#include <cstdint>

namespace reference {

/// K_e [24, 24] for a modulus of 1 of a hexahedron with nodes at x [8, 3].
inline Dense hexa_stiffness(const std::vector<double>& x, double poisson) {
  return SoftElement{8, x, 1, poisson, 0}.stiffness();
}

/// The sum of modulus[e] K_e over elements node [num_elem, 8] with points [num_points, 3].
inline Dense hexa_matrix(const std::vector<double>& point, const std::vector<std::int32_t>& node,
                         double poisson, const std::vector<double>& modulus) {
  Dense matrix(int(point.size()), int(point.size()));
  for (std::size_t e = 0; e < modulus.size(); ++e) {
    std::vector<double> x(24);
    for (std::size_t i = 0; i < 24; ++i)
      x[i] = point[3 * std::size_t(node[8 * e + i / 3]) + i % 3];
    const Dense k = hexa_stiffness(x, poisson);
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        matrix(3 * node[8 * e + std::size_t(i / 3)] + i % 3,
               3 * node[8 * e + std::size_t(j / 3)] + j % 3) += modulus[e] * k(i, j);
  }
  return matrix;
}

} // namespace reference
