// SPDX-License-Identifier: Apache-2.0
// These functions turn planes and axes of a process, in m, into maps of the places of voxels.
#pragma once

#include <ossatura/kernels/topopt/lattice_links.hpp>
#include <ossatura/solvers/topopt/process/options.hpp>

#include <array>
#include <vector>

namespace ossatura {

/// The group that planes of symmetry and sectors generate, the identity first. `origin` is the
/// lower corner of the lattice and `edge` that of a voxel, m. Throws std::invalid_argument for what
/// maps no voxels to voxels: planes and axes that are not between voxels or in their middle, other
/// sectors than 2 and 4; and for more maps than max_lattice_maps, as of two parallel planes.
std::vector<LatticeMap> lattice_maps(const DesignProcess& process,
                                     const std::array<double, 3>& origin, double edge);

/// The voxel above the parting plane of `draw`. Throws std::invalid_argument where it goes through
/// voxels.
int parting_place(const DesignProcess::Draw& draw, const std::array<double, 3>& origin,
                  double edge);

} // namespace ossatura
