// SPDX-License-Identifier: Apache-2.0
// The rows of hexahedra run on these meshes.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>

#include <vector>

namespace ossatura::bench {

enum class HexaMesh {
  box,      ///< n^3 unit cubes, nodes and elements with x fastest, taken as any mesh
  distorted ///< the same with every point moved by up to a fifth of an edge along each axis
};
constexpr Names<HexaMesh> names_of(HexaMesh) {
  return {{HexaMesh::box, "box"}, {HexaMesh::distorted, "distorted"}};
}

/// `n` elements along each axis.
ElementMesh make_bench_hexa_mesh(HexaMesh mesh, int n);

/// Moduli between 0.001 and 1.
std::vector<double> make_bench_moduli(std::size_t num_elem);

} // namespace ossatura::bench
