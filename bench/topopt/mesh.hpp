// SPDX-License-Identifier: Apache-2.0
// The rows of hexahedra run on these meshes.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <vector>

namespace ossatura::bench {

enum class HexaMesh {
  box,      ///< n^3 unit cubes, nodes and elements with x fastest, taken as any mesh
  distorted ///< the same with every point moved by up to a fifth of an edge along each axis
};
inline constexpr HexaMesh all_hexa_meshes[] = {HexaMesh::box, HexaMesh::distorted};
inline const char* name_of(HexaMesh mesh) {
  return mesh == HexaMesh::box ? "box" : "distorted";
}

/// `n` elements along each axis.
ElementMesh make_bench_hexa_mesh(HexaMesh mesh, int n);

/// Moduli between 0.001 and 1.
std::vector<double> make_bench_moduli(std::size_t num_elem);

} // namespace ossatura::bench
