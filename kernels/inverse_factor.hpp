// SPDX-License-Identifier: BSD-3-Clause
// W = L^-1 as dense rectangles: the rows of panel s have entries in the columns of its subtree
// alone, a contiguous range, because nodes are postordered. A^-1 = W^T D^-1 W. The partitioned
// inverse of Alvarado and Schreiber [1] with one part.
//
// [1] F. Alvarado, R. Schreiber. Optimal parallel solution of sparse triangular systems. SIAM J.
//     Sci. Comput. 14 (1993) 446-460, doi:10.1137/0914027.
#pragma once

#include "core/half.hpp"
#include "core/vector.hpp"
#include "kernels/factor_pattern.hpp"
#include "kernels/upload.hpp"

namespace femura {

/// Row i (scalar, of panel s) and column c (scalar, of its subtree) at
/// begin(s) + (i - 3 first(s)) stride(s) + c - origin(s). begin, origin and stride are multiples of
/// 8, so that eight columns from a multiple of 8 are one aligned load; what is outside is zero.
template<class Exec, class Storage>
struct InverseFactor {
  FactorPatternArrays<Exec> pattern;
  Array<std::int64_t, Exec> begin;   ///< [num_panels + 1]
  Array<int, Exec> origin;           ///< [num_panels]
  Array<int, Exec> stride;           ///< [num_panels]
  Array<Storage, Exec> value;        ///< W
  Array<double, Exec> inverse_pivot; ///< [3 num_nodes], D^-1
};

/// Eight entries as they are loaded.
template<class Storage>
struct alignas(16) EightEntries {
  Storage entry[8];
};

/// Where W is, on the host.
struct InverseLayout {
  std::vector<std::int64_t> begin;
  std::vector<int> origin, stride;
};

inline InverseLayout make_inverse_layout(const FactorPattern& pattern) {
  InverseLayout layout;
  layout.begin.push_back(0);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const int origin = 3 * pattern.subtree_first[s] / 8 * 8;
    const int stride = (3 * pattern.first[s + 1] + 7) / 8 * 8 - origin;
    layout.origin.push_back(origin);
    layout.stride.push_back(stride);
    layout.begin.push_back(layout.begin.back() + 3 * std::int64_t(pattern.width(s)) * stride);
  }
  return layout;
}

/// All zero; kernels/form_inverse.hpp fills it. Fences.
template<class Storage, class Exec>
InverseFactor<Exec, Storage> make_inverse_factor(const Exec& exec,
                                                 const FactorPatternArrays<Exec>& pattern,
                                                 const InverseLayout& layout) {
  InverseFactor<Exec, Storage> inverse;
  inverse.pattern = pattern;
  inverse.begin = upload(exec, "femura::inverse::begin", layout.begin);
  inverse.origin = upload(exec, "femura::inverse::origin", layout.origin);
  inverse.stride = upload(exec, "femura::inverse::stride", layout.stride);
  inverse.value = make_uninitialized<Storage>(exec, layout.begin.back(), "femura::inverse::value");
  Kokkos::deep_copy(exec, inverse.value, Storage(0.0f));
  inverse.inverse_pivot =
      make_zeros<double>(exec, 3 * std::int64_t(pattern.num_nodes), "femura::inverse::pivot");
  fence(exec, "femura::make_inverse_factor");
  return inverse;
}

} // namespace femura
