// SPDX-License-Identifier: Apache-2.0
// The inverse W = L^-1 is kept as dense rectangles: the rows of panel s have entries in the columns
// of its subtree alone, a contiguous range, because nodes are postordered. A^-1 = W^T D^-1 W. This
// is the partitioned inverse of Alvarado and Schreiber [1] with one part.
//
// With K parts the tree is cut into bands, from the leaves up: L = L_1 ... L_K, where L_k is I but
// for the columns of band k, and W = P_K ... P_1 with P_k = L_k^-1. Each band more saves entries
// and costs one more step from band to band. In the columns of band k, P_k has two parts: the
// inverse of the band's own block, rectangles over the part of each subtree that is in the band,
// and -L_Rk times that inverse in the rows R above. The rows R are the same for all of a tree of
// the band, namely the rows below its root in L, and dense.
//
// [1] F. Alvarado, R. Schreiber. Optimal parallel solution of sparse triangular systems. SIAM J.
//     Sci. Comput. 14 (1993) 446-460, doi:10.1137/0914027.
#pragma once

#include <ossatura/core/base/half.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/pattern.hpp>

#include <algorithm>
#include <vector>

namespace ossatura {

/// Row i (scalar, of panel s) and column c (scalar, of its subtree) at
/// begin(s) + (i - 3 first(s)) stride(s) + c - origin(s). begin, origin and stride are multiples of
/// 8, so that eight columns from a multiple of 8 are one aligned load; what is outside is zero.
/// With more than one band columns are counted as by InverseLayout, which has the rows above, too.
template<class Exec, class Storage>
struct InverseFactor {
  FactorPatternArrays<Exec> pattern;
  int num_bands = 1;
  Array<std::int64_t, Exec> begin;   ///< [num_panels + 1]
  Array<int, Exec> origin;           ///< [num_panels]
  Array<int, Exec> stride;           ///< [num_panels]
  Array<Storage, Exec> value;        ///< W, or all P_k
  Array<double, Exec> inverse_pivot; ///< [3 num_nodes], D^-1
};

/// Eight entries as they are loaded.
template<class Storage>
struct alignas(16) EightEntries {
  Storage entry[8];
};

namespace detail {
inline constexpr int column_tile = 48; ///< columns of W that a team sums: 16 nodes
} // namespace detail

/// Rows above a band in the columns of one of its trees: those of the nodes below panel `root` in
/// L, stored as the rows of a panel are.
struct InverseUpdate {
  int root;
  std::int64_t begin;
  int origin, stride;
};

/// Where W is, on the host. Columns of the lowest band are numbered as rows are. Those of other
/// bands have numbers of their own, without gaps and in the same order, after the others, from a
/// multiple of the width of tiles on.
struct InverseLayout {
  std::vector<std::int64_t> begin;    ///< [num_panels + 1]
  std::vector<int> origin, stride;    ///< [num_panels]
  std::vector<int> band;              ///< [num_panels]
  std::vector<int> column;            ///< [num_panels], of the first node
  std::vector<int> subtree_column;    ///< [num_panels], first of the subtree in the band
  std::vector<int> band_column;       ///< [num_bands + 1]
  std::vector<InverseUpdate> updates; ///< of all trees of bands with rows above, after the panels
  std::vector<int> update_of;         ///< [num_panels], of the tree; -1: there are no rows above
  std::int64_t num_entries = 0;

  int num_bands() const { return int(band_column.size()) - 1; }
};

namespace detail {

inline int subtree_size(const FactorPattern& pattern, int s) {
  return pattern.first[s + 1] - pattern.subtree_first[s];
}

/// Up to the next multiple.
inline int round_up(int n, int multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Nodes of each subtree that are in the band of the panel that it ends.
inline std::vector<int> nodes_in_band(const FactorPattern& pattern, const std::vector<int>& band) {
  std::vector<int> nodes(band.size(), 0);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    nodes[s] += pattern.width(s);
    const int parent = pattern.parent[s];
    if (parent >= 0 && band[parent] == band[s])
      nodes[parent] += nodes[s];
  }
  return nodes;
}

/// Numbers the columns of all bands.
inline void number_columns(const FactorPattern& pattern, int num_bands, InverseLayout& layout) {
  const int n = 3 * pattern.num_nodes;
  std::vector<int> width(num_bands, 0), next(num_bands);
  for (int s = 0; s < pattern.num_panels(); ++s)
    width[layout.band[s]] += 3 * pattern.width(s);
  layout.band_column = {0, num_bands == 1 ? n : round_up(n, column_tile)};
  for (int band = 1; band < num_bands; ++band)
    layout.band_column.push_back(layout.band_column.back() + round_up(width[band], column_tile));
  for (int band = 0; band < num_bands; ++band)
    next[band] = layout.band_column[band];
  for (int s = 0; s < pattern.num_panels(); ++s) {
    int& column = next[layout.band[s]];
    layout.column.push_back(layout.band[s] == 0 ? 3 * pattern.first[s] : column);
    column += 3 * pattern.width(s);
  }
}

} // namespace detail

/// A panel is in the first band whose bound, in nodes, its subtree does not exceed; in the last
/// band if it exceeds all `bounds`, which ascend. Bounds that leave a band empty are passed over.
inline InverseLayout make_inverse_layout(const FactorPattern& pattern,
                                         const std::vector<int>& bounds = {}) {
  const int num_panels = pattern.num_panels();
  InverseLayout layout;
  std::vector<int> size;
  for (int s = 0; s < num_panels; ++s)
    size.push_back(detail::subtree_size(pattern, s));
  std::vector<int> number; // of the band below each bound, and of the last one
  int num_bands = 0;
  for (std::size_t k = 0; k <= bounds.size(); ++k) {
    const auto within = [&](int n) {
      return (k == 0 || n > bounds[k - 1]) && (k == bounds.size() || n <= bounds[k]);
    };
    number.push_back(num_bands);
    num_bands += std::any_of(size.begin(), size.end(), within);
  }
  for (const int n : size)
    layout.band.push_back(
        number[std::size_t(std::lower_bound(bounds.begin(), bounds.end(), n) - bounds.begin())]);
  detail::number_columns(pattern, std::max(1, num_bands), layout);

  const std::vector<int> nodes = detail::nodes_in_band(pattern, layout.band);
  layout.begin.push_back(0);
  for (int s = 0; s < num_panels; ++s) {
    const int end = layout.column[s] + 3 * pattern.width(s);
    layout.subtree_column.push_back(end - 3 * nodes[s]);
    layout.origin.push_back(layout.subtree_column[s] / 8 * 8);
    layout.stride.push_back(detail::round_up(end, 8) - layout.origin[s]);
    layout.begin.push_back(layout.begin.back() +
                           3 * std::int64_t(pattern.width(s)) * layout.stride[s]);
  }
  layout.num_entries = layout.begin.back();
  layout.update_of.assign(num_panels, -1);
  for (int s = num_panels - 1; s >= 0; --s) {
    const int parent = pattern.parent[s];
    if (parent >= 0 && layout.band[parent] == layout.band[s]) {
      layout.update_of[s] = layout.update_of[parent];
    } else if (parent >= 0) {
      layout.update_of[s] = int(layout.updates.size());
      layout.updates.push_back({s, layout.num_entries, layout.origin[s], layout.stride[s]});
      layout.num_entries += 3 * std::int64_t(pattern.num_below(s)) * layout.stride[s];
    }
  }
  return layout;
}

/// All zero; kernels/factor/form_inverse.hpp fills it. Fences.
template<class Storage, class Exec>
InverseFactor<Exec, Storage> make_inverse_factor(const Exec& exec,
                                                 const FactorPatternArrays<Exec>& pattern,
                                                 const InverseLayout& layout) {
  InverseFactor<Exec, Storage> inverse;
  inverse.pattern = pattern;
  inverse.num_bands = layout.num_bands();
  inverse.begin = upload(exec, "ossatura::inverse::begin", layout.begin);
  inverse.origin = upload(exec, "ossatura::inverse::origin", layout.origin);
  inverse.stride = upload(exec, "ossatura::inverse::stride", layout.stride);
  inverse.value = make_uninitialized<Storage>(exec, layout.num_entries, "ossatura::inverse::value");
  Kokkos::deep_copy(exec, inverse.value, Storage(0.0f));
  inverse.inverse_pivot =
      make_zeros<double>(exec, 3 * std::int64_t(pattern.num_nodes), "ossatura::inverse::pivot");
  fence(exec, "ossatura::make_inverse_factor");
  return inverse;
}

} // namespace ossatura
