// SPDX-License-Identifier: Apache-2.0
// A class holds the elements of a batch with one stiffness matrix: the same edges up to
// translation, and the same D. Classes exist for trilinear elements with one D each. Modes are
// numbered in the frame of an element, so that turned elements are of other classes.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/sorting/ordered_bits.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ossatura {

template<class Exec>
struct HexaClasses {
  std::vector<int> first;   ///< [num_classes] the first element of each, from `begin` on
  Array<int, Exec> of_elem; ///< [end - begin]

  int num_classes() const { return int(first.size()); }
};

namespace detail {

template<class Exec>
struct LongestHexaEdge {
  HexaBatchPointers batch;

  KOKKOS_FUNCTION void operator()(std::int64_t e, double& longest) const {
    const double* const x = batch.corner.data + 24 * e;
    for (int t = 3; t < 24; ++t) {
      const double d = x[t] - x[t % 3], size = d < 0 ? -d : d;
      longest = Kokkos::max(longest, size);
    }
  }
};

/// A number of 64 bits for what makes up a matrix, positions in steps of `quantum`.
template<class Exec>
struct HashHexa {
  HexaBatchPointers batch;
  std::int64_t begin;
  double quantum;
  Array<std::uint64_t, Exec> hash;

  KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t mix(std::uint64_t h, std::int64_t x) {
    h = (h ^ std::uint64_t(x)) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 29);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const double* const x = batch.corner.data + 24 * (begin + item);
    std::uint64_t h = 1;
    for (int t = 3; t < 24; ++t)
      h = mix(h, std::int64_t(floor((x[t] - x[t % 3]) / quantum + 0.5)));
    const double* const d = batch.elasticity(begin + item, 0);
    for (int t = 0; t < elasticity_entries; ++t)
      h = mix(h, ordered_bits(d[t] + 0.0)); // -0 is 0
    hash(item) = h;
  }
};

/// Counts elements that differ from the first of their class although their hashes agree.
template<class Exec>
struct CountUnlikeFirst {
  HexaBatchPointers batch;
  std::int64_t begin;
  double tolerance;
  Array<int, Exec> first, of_elem;

  KOKKOS_FUNCTION void operator()(std::int64_t item, int& count) const {
    const std::int64_t e = begin + item, r = begin + first(of_elem(item));
    const double *const x = batch.corner.data + 24 * e, *const y = batch.corner.data + 24 * r,
                        *const d = batch.elasticity(e, 0), *const f = batch.elasticity(r, 0);
    bool same = true;
    for (int t = 3; t < 24; ++t) {
      const double change = (x[t] - x[t % 3]) - (y[t] - y[t % 3]);
      same = same && change <= tolerance && change >= -tolerance;
    }
    for (int t = 0; t < elasticity_entries; ++t)
      same = same && d[t] == f[t];
    count += same ? 0 : 1;
  }
};

/// Edges agree to this, 1e-10 of the longest there is.
template<class Exec>
double edge_quantum(const Exec& exec, const HexaBatch<Exec>& batch, std::int64_t begin,
                    std::int64_t end) {
  double longest = 0;
  Kokkos::parallel_reduce(
      "ossatura::longest_hexa_edge",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, begin, end),
      LongestHexaEdge<Exec>{HexaBatchPointers(batch)}, Kokkos::Max<double>(longest));
  return longest > 0 ? 1e-10 * longest : 1;
}

template<class Exec>
std::vector<std::uint64_t> hashes_of(const Exec& exec, const HexaBatch<Exec>& batch,
                                     std::int64_t begin, std::int64_t end, double quantum) {
  OSSATURA_REQUIRE(batch.is_trilinear() && batch.point_stride == 0,
                   "find_hexa_classes: trilinear elements with one D each");
  const Array<std::uint64_t, Exec> hash =
      make_uninitialized<std::uint64_t>(exec, end - begin, "ossatura::hexa_classes::hash");
  Kokkos::parallel_for("ossatura::hash_hexa", range(exec, end - begin),
                       HashHexa<Exec>{HexaBatchPointers(batch), begin, quantum, hash});
  return download(exec, hash);
}

} // namespace detail

/// The number of classes, or most + 1 if there are more. Fences.
template<class Exec>
std::int64_t count_hexa_classes(const Exec& exec, const HexaBatch<Exec>& batch, std::int64_t most) {
  std::unordered_set<std::uint64_t> known;
  for (const std::uint64_t h : detail::hashes_of(
           exec, batch, 0, batch.num_elem, detail::edge_quantum(exec, batch, 0, batch.num_elem)))
    if (known.insert(h).second && std::int64_t(known.size()) > most)
      break;
  return std::int64_t(known.size());
}

/// Classes of the elements begin .. end - 1. Fences.
template<class Exec>
HexaClasses<Exec> find_hexa_classes(const Exec& exec, const HexaBatch<Exec>& batch,
                                    std::int64_t begin, std::int64_t end) {
  const double quantum = detail::edge_quantum(exec, batch, begin, end);
  HexaClasses<Exec> classes;
  std::vector<int> of_elem;
  std::unordered_map<std::uint64_t, int> known;
  for (const std::uint64_t h : detail::hashes_of(exec, batch, begin, end, quantum)) {
    const auto found = known.emplace(h, classes.num_classes());
    if (found.second)
      classes.first.push_back(int(of_elem.size()));
    of_elem.push_back(found.first->second);
  }
  classes.of_elem = upload(exec, "ossatura::hexa_classes::of_elem", of_elem);
  const Array<int, Exec> first = upload(exec, "ossatura::hexa_classes::first", classes.first);
  int unlike = 0;
  Kokkos::parallel_reduce("ossatura::count_unlike_first", range(exec, end - begin),
                          detail::CountUnlikeFirst<Exec>{detail::HexaBatchPointers(batch), begin,
                                                         2 * quantum, first, classes.of_elem},
                          unlike);
  OSSATURA_REQUIRE(unlike == 0, "find_hexa_classes: two shapes have one hash");
  return classes;
}

} // namespace ossatura
