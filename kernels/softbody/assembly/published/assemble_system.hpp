// SPDX-License-Identifier: Apache-2.0
// assemble_system sums the linear system of a time step from triplets of mass and stiffness, in one
// pass over the map [1, equations 8 and 9; the sign of the damping in its equations 5 and 6
// contradicts equation 9, which is right].
//
// [1] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include <ossatura/kernels/softbody/assembly/published/coo_map.hpp>

namespace ossatura {

/// A = mass_scale M + stiffness_scale K,
/// b = load - force - (mass_damping M + stiffness_damping K) v.
/// Backward Euler over h with Rayleigh damping (alpha, beta) has the scales 1 + h alpha and
/// h (h + beta), and the damping alpha and h + beta; h b is then the right-hand side for the change
/// of velocity. An array may be empty: it is zero then.
template<class Exec>
struct SystemTerms {
  Array<double, Exec> mass;           ///< triplets of M [num_triplets, block_size^2]
  Array<double, Exec> lumped_mass;    ///< [num_rows], added to the diagonal of M
  Array<double, Exec> stiffness;      ///< triplets of K
  Array<double, Exec> load, force, v; ///< [num_rows, block_size]; v is 0 at fixed rows
  double mass_scale = 1, stiffness_scale = 1;
  double mass_damping = 0, stiffness_damping = 0;
};

namespace detail {

/// Pointers, null for what is empty.
template<int Block>
struct SystemArrays {
  TripletSums<Block> sums;
  const int* row_begin;
  const double *mass, *lumped_mass, *stiffness, *load, *force, *v;
  double mass_scale, stiffness_scale, mass_damping, stiffness_damping;
  double *value, *b;

  KOKKOS_FUNCTION static double entry_of(const double* array, std::int64_t i) {
    return array != nullptr ? array[i] : 0;
  }
  /// Writes scalar (r, c) of entry e of a row that is not fixed, and returns what it takes from b.
  KOKKOS_FUNCTION double assemble(int row, int e, int r, int c) const {
    const int j = sums.column[e], lane = Block * r + c;
    double m = mass != nullptr ? sums.scalar(e, lane, mass) : 0;
    const double k = stiffness != nullptr ? sums.scalar(e, lane, stiffness) : 0;
    if (j == row && r == c)
      m += entry_of(lumped_mass, row);
    value[std::int64_t(Block * Block) * e + lane] = mass_scale * m + stiffness_scale * k;
    return (mass_damping * m + stiffness_damping * k) * entry_of(v, std::int64_t(Block) * j + c);
  }
  /// A fixed row has one entry.
  KOKKOS_FUNCTION void fix(int row, int r) const {
    for (int c = 0; c < Block; ++c)
      value[std::int64_t(Block * Block) * row_begin[row] + Block * r + c] = r == c ? 1 : 0;
    b[std::int64_t(Block) * row + r] = 0;
  }
  KOKKOS_FUNCTION void right_hand_side(int row, int r, double damping) const {
    const std::int64_t i = std::int64_t(Block) * row + r;
    b[i] = entry_of(load, i) - entry_of(force, i) - damping;
  }
};

template<int Block, class Exec>
struct AssembleSystem {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;

  SystemArrays<Block> a;
  int num_rows;

  /// On cores: a row.
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const int row = int(item);
    for (int r = 0; r < Block; ++r) {
      if (a.sums.fixed[row]) {
        a.fix(row, r);
        continue;
      }
      double damping = 0;
      for (int e = a.row_begin[row]; e < a.row_begin[row + 1]; ++e)
        for (int c = 0; c < Block; ++c)
          damping += a.assemble(row, e, r, c);
      a.right_hand_side(row, r, damping);
    }
  }

  /// On devices: a thread with its lanes for a scalar row.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t scalar_row =
        std::int64_t(team.league_rank()) * team.team_size() + team.team_rank();
    const int row = int(scalar_row / Block), r = int(scalar_row % Block);
    if (row >= num_rows)
      return;
    const SystemArrays<Block>& arrays = a;
    if (a.sums.fixed[row]) {
      Kokkos::single(Kokkos::PerThread(team), [&] { arrays.fix(row, r); });
      return;
    }
    const int begin = a.row_begin[row];
    double damping = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, Block * (a.row_begin[row + 1] - begin)),
        [&](int k, double& partial) {
          partial += arrays.assemble(row, begin + k / Block, r, k % Block);
        },
        damping);
    Kokkos::single(Kokkos::PerThread(team), [&] { arrays.right_hand_side(row, r, damping); });
  }
};

/// With the kernel of devices or that of cores; both run everywhere.
template<bool by_lanes, int Block, class Exec>
void assemble_system(const Exec& exec, const CooMap<Exec>& map, const SystemTerms<Exec>& terms,
                     const Array<double, Exec>& value, const Array<double, Exec>& b) {
  const auto pointer = [](const Array<double, Exec>& array) -> const double* {
    return array.extent(0) > 0 ? array.data() : nullptr;
  };
  const AssembleSystem<Block, Exec> rows{
      {triplet_sums<Block>(map), map.row_begin.data(), pointer(terms.mass),
       pointer(terms.lumped_mass), pointer(terms.stiffness), pointer(terms.load),
       pointer(terms.force), pointer(terms.v), terms.mass_scale, terms.stiffness_scale,
       terms.mass_damping, terms.stiffness_damping, value.data(), b.data()},
      map.num_rows};
  if constexpr (by_lanes) {
    const std::int64_t scalar_rows = std::int64_t(Block) * map.num_rows;
    constexpr int team_size = BackendTraits<Exec>::is_device ? 6 : 1; // rows of a block together
    constexpr int lanes = BackendTraits<Exec>::is_device ? 32 : 1;
    Kokkos::parallel_for("ossatura::assemble_system",
                         Kokkos::TeamPolicy<Exec>(exec,
                                                  int((scalar_rows + team_size - 1) / team_size),
                                                  team_size, lanes),
                         rows);
  } else {
    Kokkos::parallel_for("ossatura::assemble_system", range(exec, map.num_rows), rows);
  }
}

} // namespace detail

/// A and b of `terms` in one launch: `value` as sum_triplets fills it, b [num_rows, block_size];
/// the identity and 0 at fixed rows. Does not fence. Throws std::invalid_argument for arrays of
/// other lengths.
template<class Exec>
void assemble_system(const Exec& exec, const CooMap<Exec>& map, const SystemTerms<Exec>& terms,
                     const Array<double, Exec>& value, const Array<double, Exec>& b) {
  const std::int64_t square = map.block_size * map.block_size;
  const std::int64_t scalar_rows = std::int64_t(map.block_size) * map.num_rows;
  const auto check = [](const Array<double, Exec>& array, std::int64_t n, const char* what) {
    OSSATURA_REQUIRE(array.extent(0) == 0 || std::int64_t(array.extent(0)) == n,
                     what << " has " << array.extent(0) << " entries and not " << n);
  };
  check(terms.mass, square * map.num_triplets, "mass");
  check(terms.stiffness, square * map.num_triplets, "stiffness");
  check(terms.lumped_mass, map.num_rows, "lumped mass");
  check(terms.load, scalar_rows, "load");
  check(terms.force, scalar_rows, "force");
  check(terms.v, scalar_rows, "v");
  constexpr bool by_lanes = BackendTraits<Exec>::is_device;
  if (map.block_size == 1)
    detail::assemble_system<by_lanes, 1>(exec, map, terms, value, b);
  else
    detail::assemble_system<by_lanes, 3>(exec, map, terms, value, b);
}

} // namespace ossatura
