// SPDX-License-Identifier: Apache-2.0
// The rows pfem_* run on these hierarchical hexahedra: shapes with their materials. Host memory.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/pfem/hexa_map.hpp>
#include <ossatura/solvers/pfem/model.hpp>

#include <cstdint>

namespace ossatura::bench {

/// Anisotropic matrices D are a multiple of an isotropic one and a matrix of rank one that couples
/// all six strains.
enum class PfemShapes {
  points,   ///< trilinear, points inside moved by up to a fifth of an edge; anisotropic D at every
            ///< quadrature point
  elements, ///< the same shapes; anisotropic D of each element
  sheared,  ///< parallelepipeds, neighbours of other sizes; anisotropic D of each element
  cubes     ///< unit cubes of one isotropic material
};
constexpr Names<PfemShapes> names_of(PfemShapes) {
  return {{PfemShapes::points, "points"},
          {PfemShapes::elements, "elements"},
          {PfemShapes::sheared, "sheared"},
          {PfemShapes::cubes, "cubes"}};
}

/// cells[0] x cells[1] x cells[2] elements, x fastest.
CurvedHexaMesh make_pfem_mesh(PfemShapes shapes, const int (&cells)[3]);

/// The first `num_elem` elements of a mesh that is about a cube.
CurvedHexaMesh make_pfem_elements(PfemShapes shapes, std::int64_t num_elem);

ElasticityField make_pfem_elasticity(PfemShapes shapes, const CurvedHexaMesh& mesh);

} // namespace ossatura::bench
