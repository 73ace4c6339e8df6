// SPDX-License-Identifier: Apache-2.0
// Tables of the tissues of a mesh: which tags it has, and the squared slownesses that their
// velocities make.
#pragma once

#include <ossatura/kernels/eikonal/tetra_metric.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

namespace ossatura::detail {

/// The row of each tetrahedron in tables by tag.
struct TissueRows {
  std::vector<int> tag; ///< of each row, in the order of first appearance
  std::vector<int> row; ///< [num_tetra]

  explicit TissueRows(const TetraMesh& mesh);
};

/// Throws std::invalid_argument for arrays whose sizes do not belong together and for coordinates
/// that are not finite.
void check_tetra_mesh(const TetraMesh& mesh);

/// Squared slownesses [tags, 3], ms^2/mm^2: along fibres, along sheets, along the normal of both;
/// -1 where no wave goes. Throws std::invalid_argument for a tag without velocity, and for
/// velocities of tissue that conducts which are not positive and finite.
std::vector<double> slowness_table(const std::vector<int>& tags,
                                   const TissueVelocities& velocities);

/// The same [num_tetra, 3] from the velocities of each tetrahedron, which must be as many.
std::vector<double> slowness_table(std::int64_t num_tetra,
                                   const std::vector<ConductionVelocity>& velocities);

/// The end of a sentence that begins with the tetrahedron.
const char* describe_fault(MetricFault fault);

} // namespace ossatura::detail
