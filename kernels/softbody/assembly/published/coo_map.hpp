// SPDX-License-Identifier: Apache-2.0
// A CooMap sums triplets (i, j, value) whose indices stay and whose values change: the map is made
// once and lists the triplets of every entry. Applying the map is a gather in ascending order of
// triplets, so that results do not depend on the threads. The conventions are those of PETSc's
// MatSetPreallocationCOO and MatSetValuesCOO; the use in time integration is that of [1].
//
// [1] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include <ossatura/kernels/algebra/mix_bits.hpp>
#include <ossatura/kernels/algebra/sparse/graph.hpp>

#include <cstdint>

namespace ossatura {

/// Triplets of scalars or of 3 x 3 blocks, of a square matrix. Rows and columns count scalars or
/// blocks, and so do entries. Every row has its diagonal.
template<class Exec>
struct CooMap : Graph<Exec, int> {
  int block_size = 1; ///< 1 or 3
  std::int64_t num_triplets = 0;
  std::uint64_t hash = 0;          ///< of the indices in their order
  Array<int, Exec> source_begin;   ///< [num_entries + 1]
  Array<int, Exec> source;         ///< triplets of each entry, ascending
  Array<std::uint8_t, Exec> fixed; ///< [num_rows]

  /// Whether i, j [num_triplets] are the indices that the map was made of, in the same order: by
  /// their hash, which misses a change with a probability of 2^-64. Fences.
  bool matches(const Exec& exec, const Array<int, Exec>& i, const Array<int, Exec>& j) const;
};

namespace detail {

struct HashTriplets {
  const int *i, *j;

  /// The place of a triplet is part of what is hashed, so the sum need not be ordered.
  KOKKOS_FUNCTION void operator()(std::int64_t k, std::uint64_t& sum) const {
    const std::uint64_t place = mix_bits(golden_step * std::uint64_t(k + 1));
    sum += mix_bits(place ^ (std::uint64_t(std::uint32_t(i[k])) << 32 | std::uint32_t(j[k])));
  }
};

/// Fences.
template<class Exec>
std::uint64_t hash_of_triplets(const Exec& exec, const Array<int, Exec>& i,
                               const Array<int, Exec>& j) {
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce("ossatura::hash_of_triplets", range(exec, i.extent(0)),
                          HashTriplets{i.data(), j.data()}, sum);
  return sum;
}

/// The sums of the triplets of an entry. Without any it is 0, or 1 on the diagonal of a fixed row
/// (which has no other entries).
template<int Block>
struct TripletSums {
  const int *column, *source_begin, *source;
  const std::uint8_t* fixed;

  /// Scalar `lane` of entry e.
  KOKKOS_FUNCTION double scalar(int e, int lane, const double* triplets) const {
    const int begin = source_begin[e], end = source_begin[e + 1];
    constexpr int batch = 4; // as many loads are under way
    double sum = 0;
    for (int first = begin; first < end; first += batch) {
      double value[batch];
      for (int k = 0; k < batch; ++k)
        value[k] =
            first + k < end ? triplets[std::int64_t(Block * Block) * source[first + k] + lane] : 0;
      for (int k = 0; k < batch; ++k)
        sum += value[k];
    }
    return sum;
  }
  KOKKOS_FUNCTION double identity(int e, int lane) const {
    return lane % (Block + 1) == 0 && fixed[column[e]] ? 1 : 0;
  }
};

/// A thread for each scalar.
template<int Block>
struct SumScalars {
  TripletSums<Block> sums;
  const double* triplets;
  double* value;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const unsigned i = unsigned(item); // below 2^32, see make_coo_map
    const int e = int(i / unsigned(Block * Block)), lane = int(i % unsigned(Block * Block));
    value[item] = sums.source_begin[e] == sums.source_begin[e + 1] ? sums.identity(e, lane)
                                                                   : sums.scalar(e, lane, triplets);
  }
};

/// A thread for each entry.
template<int Block>
struct SumEntries {
  TripletSums<Block> sums;
  const double* triplets;
  double* value;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    constexpr int size = Block * Block;
    const int e = int(item);
    const int begin = sums.source_begin[e], end = sums.source_begin[e + 1];
    double sum[size] = {};
    for (int k = begin; k < end; ++k)
      for (int lane = 0; lane < size; ++lane)
        sum[lane] += triplets[std::int64_t(size) * sums.source[k] + lane];
    for (int lane = 0; lane < size; ++lane)
      value[size * item + lane] = begin == end ? sums.identity(e, lane) : sum[lane];
  }
};

template<int Block, class Exec>
TripletSums<Block> triplet_sums(const CooMap<Exec>& map) {
  return {map.column.data(), map.source_begin.data(), map.source.data(), map.fixed.data()};
}

/// With the kernel of devices or that of cores; both run everywhere and give the same.
template<bool by_scalars, int Block, class Exec>
void sum_triplets(const Exec& exec, const CooMap<Exec>& map, const Array<double, Exec>& triplets,
                  const Array<double, Exec>& value) {
  const std::int64_t n = map.num_entries();
  const TripletSums<Block> sums = triplet_sums<Block>(map);
  if constexpr (by_scalars)
    Kokkos::parallel_for("ossatura::sum_triplets", range(exec, n * Block * Block),
                         SumScalars<Block>{sums, triplets.data(), value.data()});
  else
    Kokkos::parallel_for("ossatura::sum_triplets", range(exec, n),
                         SumEntries<Block>{sums, triplets.data(), value.data()});
}

} // namespace detail

template<class Exec>
bool CooMap<Exec>::matches(const Exec& exec, const Array<int, Exec>& i,
                           const Array<int, Exec>& j) const {
  return std::int64_t(i.extent(0)) == num_triplets && i.extent(0) == j.extent(0) &&
         detail::hash_of_triplets(exec, i, j) == hash;
}

/// value = the sums of `triplets` [num_triplets, block_size^2], row-major blocks, in the order of
/// the map's pattern [num_entries, block_size^2]; the identity at fixed rows. Does not fence.
template<class Exec>
void sum_triplets(const Exec& exec, const CooMap<Exec>& map, const Array<double, Exec>& triplets,
                  const Array<double, Exec>& value) {
  constexpr bool by_scalars = BackendTraits<Exec>::is_device;
  if (map.block_size == 1)
    detail::sum_triplets<by_scalars, 1>(exec, map, triplets, value);
  else
    detail::sum_triplets<by_scalars, 3>(exec, map, triplets, value);
}

} // namespace ossatura
