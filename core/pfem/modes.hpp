// SPDX-License-Identifier: Apache-2.0
// Modes are the hierarchical shape functions of the hexahedron [-1, 1]^3: products of the
// one-dimensional functions psi_0 = (1 - s) / 2, psi_1 = (1 + s) / 2 and, from 2 on, integrated
// Legendre polynomials. The trunk space [1] takes the products whose superlinear degree [2], the
// sum of the indices from 2 on, is at most the order, and is the serendipity space S_p; the tensor
// space takes all products up to the order. Host memory, no Kokkos.
//
// [1] B. Szabo, A. Duester, E. Rank. The p-version of the finite element method. Encyclopedia of
//     Computational Mechanics, ch. 5 (2004).
// [2] D. Arnold, G. Awanou. The serendipity family of finite elements. Found. Comput. Math. 11
//     (2011) 337-344, doi:10.1007/s10208-011-9087-3.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

enum class HexaSpace { trunk, tensor };

constexpr Names<HexaSpace> names_of(HexaSpace) {
  return {{HexaSpace::trunk, "trunk"}, {HexaSpace::tensor, "tensor"}};
}

inline constexpr int max_hexa_order = 10;
/// Points along each axis, at most: those of the paper's rule at that order.
inline constexpr int max_hexa_points = 14;

/// psi_index[0](xi) psi_index[1](eta) psi_index[2](zeta).
struct HierarchicMode {
  std::uint8_t index[3];
};

/// The modes of an element of that order, ascending by index[0], then index[1], then index[2]: the
/// local numbering of everything in the library. Throws std::invalid_argument for orders outside
/// 1 .. max_hexa_order.
std::vector<HierarchicMode> hierarchic_modes(HexaSpace space, int order);

/// 8, 20, 32, 50, 74, 105, 144, 192, 250, 319 for the trunk space, (order + 1)^3 for the other.
int num_hierarchic_modes(HexaSpace space, int order);

/// The part of a hexahedron that a mode belongs to: the mode is zero on all other vertices, edges
/// and faces but those that touch that part.
inline HexaEntity entity_of(const HierarchicMode& mode) {
  return hexa_entity(mode.index);
}

} // namespace ossatura
