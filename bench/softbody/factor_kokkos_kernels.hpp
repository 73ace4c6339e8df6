// SPDX-License-Identifier: Apache-2.0
// Kokkos Kernels' triangular solves run here with the factor of the factor_apply rows.
#pragma once

#include "bench/host/csr_matrix.hpp"
#include <ossatura/kernels/factor/pattern.hpp>

#include <functional>
#include <vector>

namespace ossatura::bench {

/// Two solves, analysed before; the caller divides by D between them. Empty functions where the
/// library was not built for the backend.
struct TriangleSolves {
  std::function<void()> lower; ///< y = L^-1 r
  std::function<void()> upper; ///< z = L^-T y
};

/// Levels of rows, with a thread or a team for each row. `rows` are those of L without its unit
/// diagonal. Fences.
template<class Exec>
TriangleSolves kokkos_kernels_solves(const Exec& exec, const CsrMatrix<double>& rows, bool teams,
                                     const Array<double, Exec>& r, const Array<double, Exec>& y,
                                     const Array<double, Exec>& z);

/// Whether the library was built with supernodal solves: KokkosKernels_INST_LAYOUTLEFT is on.
bool has_kokkos_kernels_supernodes();

/// The panels of L by levels of the elimination tree, diagonal blocks inverted before. Fences.
template<class Exec>
TriangleSolves kokkos_kernels_supernodes(const Exec& exec, const FactorPattern& pattern,
                                         const std::vector<double>& panel,
                                         const Array<double, Exec>& r, const Array<double, Exec>& y,
                                         const Array<double, Exec>& z);

} // namespace ossatura::bench
