// SPDX-License-Identifier: Apache-2.0
// A process on the voxels of a grid is by their places.
#pragma once

#include <ossatura/kernels/image/grid.hpp>
#include <ossatura/solvers/topopt/problem.hpp>
#include <ossatura/solvers/topopt/process/element_process.hpp>

#include <memory>

namespace ossatura {

/// Voxels are where `solid` [num_nodes] is greater than 0; `origin` is the lower corner of the grid
/// and `edge` that of a voxel, m. Images in `mirrors` support voxels, too. Voxels that draw needs
/// to be solid become so in `role`. Throws std::invalid_argument where the lattice does not fit.
/// Fences.
template<class Exec>
std::unique_ptr<ElementProcess<Exec>>
make_lattice_process(const Exec& exec, const VoxelGrid<Exec>& grid, const Array<float, Exec>& solid,
                     const std::array<double, 3>& origin, double edge,
                     const std::vector<MirrorPlane>& mirrors, const DesignProcess& process,
                     const Array<std::uint8_t, Exec>& role);

} // namespace ossatura
