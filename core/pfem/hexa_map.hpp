// SPDX-License-Identifier: Apache-2.0
// A map takes the reference hexahedron to an element of a mesh. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ossatura {

class HexaMap {
public:
  virtual ~HexaMap() = default;

  /// Position x and jacobian[i][k] = dx_i / dxi_k (row-major) at xi in [-1, 1]^3. Any thread.
  virtual void evaluate(std::int64_t elem, const double (&xi)[3], double (&x)[3],
                        double (&jacobian)[9]) const = 0;
};

/// Positions [count, n^3, 3] and Jacobians [count, n^3, 9] of the elements elem[0 .. count - 1] at
/// the points whose coordinates are of the n numbers `xi`, the last coordinate the fastest, by all
/// threads. `x` may be null.
void evaluate_at_grid(const HexaMap& map, const std::int32_t* elem, std::size_t count,
                      const std::vector<double>& xi, double* x, double* jacobian);

/// A mesh of hexahedra, whose vertices are in ElementMesh, and the shape of its elements.
struct CurvedHexaMesh {
  ElementMesh mesh;
  std::shared_ptr<const HexaMap> map; ///< null: trilinear, from the vertices
};

/// The trilinear map of the vertices; `mesh` stays as long as the map does.
std::shared_ptr<const HexaMap> make_trilinear_map(const ElementMesh& mesh);

/// Triquadratic elements: `point` [num_elem, 27, 3] at the vertices, the middles of the edges, the
/// middles of the faces and the centre: 8 of ElementShape::hexa, 12 and 6 in the order of
/// core/mesh/hexa/entities.hpp, 1.
std::shared_ptr<const HexaMap> make_quadratic_map(std::vector<double> point);

} // namespace ossatura
