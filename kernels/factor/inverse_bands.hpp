// SPDX-License-Identifier: Apache-2.0
// These functions decide into how many bands the elimination tree is cut, and where, so that the
// inverses of the bands' factors have few entries (kernels/factor/inverse.hpp). A band
// more costs launches and saves bytes: the number chosen has the least
//     launches(K) t + 2 bytes(K) / rate.
#pragma once

#include <ossatura/kernels/factor/inverse.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace ossatura {

/// The cost of applying an inverse factor.
struct InverseCost {
  double launch;           ///< s, from a kernel to one that waits for it
  double rate;             ///< of entries as they are stored, bytes/s
  std::int64_t most_bytes; ///< of all entries
};

/// The defaults: those of a device fit one band of the bodies in docs/performance/softbody.md on an
/// H200 in single precision, recorded as a graph; cores open a parallel region.
constexpr InverseCost inverse_cost(bool is_device) {
  constexpr std::int64_t four_gib = std::int64_t(4) << 30;
  return is_device ? InverseCost{4.5e-6, 3.4e12, four_gib} : InverseCost{5e-6, 1e10, four_gib};
}

/// Of an application: a product for each band on the way up the tree and on the way down, and what
/// a band takes over from those below it.
constexpr int inverse_launches(int num_bands) {
  return 3 * num_bands - 1;
}

/// The best bounds for some number of bands.
struct InverseCut {
  std::vector<int> bounds; ///< of make_inverse_layout, one less than bands
  std::int64_t num_entries = 0;
};

namespace detail {

inline constexpr int most_chosen_bands = 8;

/// Entries of a band with the panels whose subtrees have more than `below` and at most `upto`
/// nodes; 0 where there are none.
inline std::int64_t band_entries(const FactorPattern& pattern, int below, int upto,
                                 std::vector<int>& nodes) {
  std::int64_t entries = 0;
  nodes.assign(pattern.parent.size(), 0);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const int size = subtree_size(pattern, s), parent = pattern.parent[s];
    if (size <= below || size > upto)
      continue;
    nodes[s] += pattern.width(s);
    const std::int64_t stride = round_up(3 * nodes[s] + 4, 8); // the padding of a usual origin
    entries += 3 * pattern.width(s) * stride;
    if (parent < 0)
      continue;
    if (subtree_size(pattern, parent) <= upto)
      nodes[parent] += nodes[s];
    else
      entries += 3 * pattern.num_below(s) * stride;
  }
  return entries;
}

/// Sizes of subtrees, ascending, the largest the last; where there are many, four in each doubling.
inline std::vector<int> candidate_bounds(const FactorPattern& pattern) {
  std::vector<int> sizes;
  for (int s = 0; s < pattern.num_panels(); ++s)
    sizes.push_back(subtree_size(pattern, s));
  std::sort(sizes.begin(), sizes.end(), std::greater<int>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  constexpr std::size_t most = 48;
  if (sizes.size() > most) {
    const double step = std::pow(2.0, 0.25);
    std::vector<int> thinned(1, sizes[0]);
    for (const int size : sizes)
      if (thinned.size() < most && size * step <= thinned.back())
        thinned.push_back(size);
    sizes = std::move(thinned);
  }
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

} // namespace detail

/// The bounds with the fewest entries for 1, 2, ... bands, up to `most` or as many as the tree
/// has. By dynamic programming over the bounds: the entries of a band depend on its own two alone.
inline std::vector<InverseCut> cut_inverse(const FactorPattern& pattern, int most) {
  const std::vector<int> size = detail::candidate_bounds(pattern);
  const int n = int(size.size());
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::vector<InverseCut> cuts(1);
  if (n == 0)
    return cuts;
  // entries[lower, upper] of the band above the bound before `lower`, up to `upper`.
  std::vector<std::int64_t> entries(std::size_t(n) * std::size_t(n), none);
  std::vector<int> scratch;
  const auto of_band = [&](int lower, int upper) -> std::int64_t& {
    return entries[std::size_t(lower) * std::size_t(n) + std::size_t(upper)];
  };
  for (int upper = 0; upper < n; ++upper)
    for (int lower = most > 1 ? 0 : n - 1; lower <= upper; ++lower)
      of_band(lower, upper) =
          detail::band_entries(pattern, lower > 0 ? size[lower - 1] : 0, size[upper], scratch);
  if (most == 1)
    of_band(0, n - 1) = detail::band_entries(pattern, 0, size[n - 1], scratch);
  // least[k][i] of k + 1 bands up to bound i, and the bound before the last of them.
  std::vector<std::vector<std::int64_t>> least(1, std::vector<std::int64_t>(n));
  std::vector<std::vector<int>> before(1, std::vector<int>(n, -1));
  for (int i = 0; i < n; ++i)
    least[0][i] = of_band(0, i);
  cuts[0].num_entries = least[0][n - 1];
  for (int k = 1; k < std::min(most, n); ++k) {
    least.emplace_back(n, none);
    before.emplace_back(n, -1);
    for (int i = k; i < n; ++i)
      for (int j = k - 1; j < i; ++j) {
        const std::int64_t sum = least[k - 1][j] + of_band(j + 1, i);
        if (sum < least[k][i]) {
          least[k][i] = sum;
          before[k][i] = j;
        }
      }
    InverseCut cut;
    cut.num_entries = least[k][n - 1];
    for (int band = k, i = n - 1; band > 0; --band) {
      i = before[band][i];
      cut.bounds.push_back(size[i]);
    }
    std::reverse(cut.bounds.begin(), cut.bounds.end());
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

/// With `bands` of them, or as many as the tree has if these are fewer; 0: with what costs least
/// among those within the bound on bytes, or with the fewest entries if there are none.
inline InverseLayout choose_inverse_layout(const FactorPattern& pattern, int bands,
                                           int bytes_per_entry, const InverseCost& cost) {
  OSSATURA_REQUIRE(bands >= 0,
                   bands << " bands of the inverse factor; 1 or more, or 0 for a choice");
  InverseLayout whole = make_inverse_layout(pattern);
  const auto seconds = [&](int num_bands, std::int64_t entries) {
    return inverse_launches(num_bands) * cost.launch +
           2 * double(bytes_per_entry) * double(entries) / cost.rate;
  };
  const auto fits = [&](std::int64_t entries) {
    return double(bytes_per_entry) * double(entries) <= double(cost.most_bytes);
  };
  const bool never_worse = seconds(1, whole.num_entries) <= seconds(2, 0);
  if (bands == 1 || (bands == 0 && never_worse && fits(whole.num_entries)))
    return whole;
  const std::vector<InverseCut> cuts =
      cut_inverse(pattern, bands > 0 ? bands : detail::most_chosen_bands);
  if (bands > 0)
    return make_inverse_layout(pattern, cuts.back().bounds);
  const auto better = [&](const InverseCut& a, const InverseCut& b) {
    const bool a_fits = fits(a.num_entries), b_fits = fits(b.num_entries);
    if (a_fits && b_fits)
      return seconds(int(a.bounds.size()) + 1, a.num_entries) <
             seconds(int(b.bounds.size()) + 1, b.num_entries);
    return a_fits != b_fits ? a_fits : a.num_entries < b.num_entries;
  };
  return make_inverse_layout(pattern, std::min_element(cuts.begin(), cuts.end(), better)->bounds);
}

} // namespace ossatura
