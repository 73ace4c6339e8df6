// SPDX-License-Identifier: Apache-2.0
// A TetraMesh is a tetrahedral mesh of the heart, as readers and generators make it, in host memory
// without Kokkos.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Tetrahedra with a tag and fibre directions each. Arrays are flat and row-major.
struct TetraMesh {
  std::vector<double> point;       ///< [num_points, 3], mm
  std::vector<std::int32_t> tetra; ///< [num_tetra, 4], entries in [0, num_points), either sign
  std::vector<std::int32_t> tag;   ///< [num_tetra], the tissue
  /// [num_tetra, 3] of any length, or empty; a zero row has no direction: isotropic.
  std::vector<float> fibre;
  /// [num_tetra, 3], or empty: transversely isotropic about the fibre. Need not be normal to it.
  std::vector<float> sheet;
  /// [num_tetra, any] what else was asked for of a file, see TetraFileOptions::value_fields.
  std::vector<double> value;
  /// Points of its file that no tetrahedron has, and that are left out: where there are any,
  /// numbers of points are not those of the file.
  std::int64_t num_left_out = 0;

  std::size_t num_points() const { return point.size() / 3; }
  std::size_t num_tetra() const { return tetra.size() / 4; }
};

/// Throws std::invalid_argument where a tetrahedron has a point that is not in [0, num_points), and
/// names the first.
void check_points_of_tetra(const TetraMesh& mesh);

} // namespace ossatura
