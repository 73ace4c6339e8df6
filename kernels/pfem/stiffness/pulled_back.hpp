// SPDX-License-Identifier: Apache-2.0
// The coefficients C of a point: the elasticity pulled back to the reference cube,
//
//   C_kl[c][d] = w sum_mn dxi_k/dx_m D(voigt(c, m), voigt(d, n)) dxi_l/dx_n.
//
// Point body of the kernels with matrix instructions, which unroll it.
#pragma once

#include <ossatura/kernels/pfem/hexa_point.hpp>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// Calls store(k, l, c, d, x) for C_kl[c][d] of a point. Row: the component c, with all k and l; or
/// -1 for all c, k <= l, and c <= d where k = l: C_lk[d][c] is the same. d_upper: the upper
/// triangle of D, 21 entries.
template<int Row, class Store>
__device__ __forceinline__ void pull_back_elasticity(const HexaPoint& point, const double* d_upper,
                                                     const Store& store) {
  const Matrix3& g = point.to_gradient; // (m, k)
#pragma unroll
  for (int k = 0; k < 3; ++k)
#pragma unroll
    for (int c = Row < 0 ? 0 : Row; c < (Row < 0 ? 3 : Row + 1); ++c) {
      double stress[6];
#pragma unroll
      for (int s = 0; s < 6; ++s)
        stress[s] = point.weight * (g.row[0][k] * d_upper[elasticity_entry(voigt(c, 0), s)] +
                                    g.row[1][k] * d_upper[elasticity_entry(voigt(c, 1), s)] +
                                    g.row[2][k] * d_upper[elasticity_entry(voigt(c, 2), s)]);
#pragma unroll
      for (int l = Row < 0 ? k : 0; l < 3; ++l)
#pragma unroll
        for (int d = 0; d < 3; ++d)
          if (Row >= 0 || k != l || c <= d)
            store(k, l, c, d,
                  stress[voigt(d, 0)] * g.row[0][l] + stress[voigt(d, 1)] * g.row[1][l] +
                      stress[voigt(d, 2)] * g.row[2][l]);
    }
}

#endif

} // namespace ossatura::detail
