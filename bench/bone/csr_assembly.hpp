// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/host/csr_matrix.hpp"
#include <ossatura/solvers/bone/solver.hpp>

namespace ossatura::bench {

using HostBackend = Kokkos::DefaultHostExecutionSpace;

/// The stiffness matrix of a voxel problem without its constraints, assembled row by row. Throws
/// std::invalid_argument for more entries than 32-bit offsets reach.
template<class Scalar>
CsrMatrix<Scalar> assemble_csr(const VoxelProblem<HostBackend>& problem);

} // namespace ossatura::bench
