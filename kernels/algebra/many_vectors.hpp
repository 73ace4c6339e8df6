// SPDX-License-Identifier: Apache-2.0
// A few long vectors, the rows of an array [most, n]: their products with each other, and linear
// combinations of them in place. Sums are by parts of fixed size, so that they are the same for any
// number of threads.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Rows that are combined at most.
inline constexpr int most_combined_rows = 48;

template<class Exec>
struct ManyVectors {
  Array<double, Exec> value; ///< [most, n]
  std::int64_t n = 0;

  /// Row j, in the same memory.
  Array<double, Exec> row(int j) const { return rows(j, 1); }
  /// Rows first .. first + count - 1, one after the other, in the same memory.
  Array<double, Exec> rows(int first, int count) const {
    return Array<double, Exec>(value.data() + std::int64_t(first) * n, std::size_t(count * n));
  }
};

template<class Exec>
ManyVectors<Exec> make_many_vectors(const Exec& exec, int most, std::int64_t n,
                                    const std::string& label) {
  return {make_zeros<double>(exec, most * n, label), n};
}

namespace detail {

inline constexpr std::int64_t many_vectors_part = 4096; ///< entries that a team sums

/// Sums of parts: entry `pair` of part k at pairs k + pair.
template<class Exec>
struct SumManyProducts {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  ManyVectors<Exec> a, b;
  Array<int, Exec> row; ///< [pairs, 2] of a and of b
  int pairs;
  Array<double, Exec> sum;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t part = team.league_rank() / pairs;
    const int pair = int(team.league_rank() % pairs);
    const double* x = a.value.data() + row(2 * pair) * a.n;
    const double* y = b.value.data() + row(2 * pair + 1) * b.n;
    const std::int64_t begin = part * many_vectors_part;
    const std::int64_t end = Kokkos::min(begin + many_vectors_part, a.n);
    double own = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](std::int64_t i, double& of_thread) { of_thread += x[i] * y[i]; }, own);
    Kokkos::single(Kokkos::PerTeam(team), [&] { sum(team.league_rank()) = own; });
  }
};

template<class Exec>
struct SumManyParts {
  std::int64_t parts;
  int pairs;
  Array<double, Exec> sum, total;

  KOKKOS_FUNCTION void operator()(std::int64_t pair) const {
    double all = 0;
    for (std::int64_t k = 0; k < parts; ++k)
      all += sum(k * pairs + pair);
    total(pair) = all;
  }
};

template<class Exec>
struct CombineManyVectors {
  ManyVectors<Exec> rows;
  int from, to;
  Array<double, Exec> factor; ///< [from, to]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double old[most_combined_rows];
    for (int k = 0; k < from; ++k)
      old[k] = rows.value(k * rows.n + i);
    for (int j = 0; j < to; ++j) {
      double sum = 0;
      for (int k = 0; k < from; ++k)
        sum += factor(k * to + j) * old[k];
      rows.value(j * rows.n + i) = sum;
    }
  }
};

template<class Exec>
struct SubtractManyVectors {
  ManyVectors<Exec> from;
  int count, first, last;
  Array<double, Exec> factor; ///< [count, last - first]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int j = first; j < last; ++j) {
      double sum = 0;
      for (int k = 0; k < count; ++k)
        sum += factor(k * (last - first) + j - first) * from.value(k * from.n + i);
      from.value(j * from.n + i) -= sum;
    }
  }
};

} // namespace detail

/// The products of rows of a with rows of b: of each pair {i, j} a_i . b_j. Fences.
template<class Exec>
std::vector<double> row_products(const Exec& exec, const ManyVectors<Exec>& a,
                                 const ManyVectors<Exec>& b, const std::vector<int>& pairs) {
  const int count = int(pairs.size()) / 2;
  if (count == 0)
    return {};
  const std::int64_t parts = (a.n + detail::many_vectors_part - 1) / detail::many_vectors_part;
  OSSATURA_REQUIRE(a.n > 0 && a.n == b.n && parts * count < std::int64_t(1) << 31,
                   count << " products of vectors of " << a.n << " and " << b.n);
  const Array<int, Exec> row = upload(exec, "ossatura::many_vectors::rows", pairs);
  const auto sum = make_uninitialized<double>(exec, parts * count, "ossatura::many_vectors::sums");
  const auto total = make_uninitialized<double>(exec, count, "ossatura::many_vectors::total");
  Kokkos::parallel_for(
      "ossatura::row_products",
      Kokkos::TeamPolicy<Exec>(exec, int(parts * count), BackendTraits<Exec>::is_device ? 128 : 1),
      detail::SumManyProducts<Exec>{a, b, row, count, sum});
  Kokkos::parallel_for("ossatura::sum_parts", range(exec, count),
                       detail::SumManyParts<Exec>{parts, count, sum, total});
  return download(exec, total);
}

/// The symmetric matrix a_i . b_j [count, count] of the first rows, b = A a with a symmetric A.
/// Fences.
template<class Exec>
std::vector<double> row_products(const Exec& exec, const ManyVectors<Exec>& a,
                                 const ManyVectors<Exec>& b, int count) {
  std::vector<int> pairs;
  for (int i = 0; i < count; ++i)
    for (int j = i; j < count; ++j) {
      pairs.push_back(i);
      pairs.push_back(j);
    }
  const std::vector<double> half = row_products(exec, a, b, pairs);
  std::vector<double> all(std::size_t(count) * std::size_t(count));
  for (std::size_t k = 0; k < half.size(); ++k) {
    const std::size_t i = std::size_t(pairs[2 * k]), j = std::size_t(pairs[2 * k + 1]);
    all[i * std::size_t(count) + j] = all[j * std::size_t(count) + i] = half[k];
  }
  return all;
}

/// The first `to` rows = sums of the first `from` rows times factor [from, to]. Does not fence but
/// for its upload.
template<class Exec>
void combine_rows(const Exec& exec, const ManyVectors<Exec>& rows, int from, int to,
                  const std::vector<double>& factor) {
  OSSATURA_REQUIRE(from <= most_combined_rows && to <= most_combined_rows &&
                       factor.size() == std::size_t(from) * std::size_t(to),
                   from << " rows to " << to << ", at most " << most_combined_rows);
  Kokkos::parallel_for("ossatura::combine_rows", range(exec, rows.n),
                       detail::CombineManyVectors<Exec>{
                           rows, from, to, upload(exec, "ossatura::many_vectors::factor", factor)});
  fence(exec, "ossatura::combine_rows"); // the upload goes
}

/// Rows first .. last - 1 less the sums of the first `count` rows, count <= first, times factor
/// [count, last - first]. Fences.
template<class Exec>
void subtract_rows(const Exec& exec, const ManyVectors<Exec>& rows, int count, int first, int last,
                   const std::vector<double>& factor) {
  if (count == 0 || last == first)
    return;
  Kokkos::parallel_for(
      "ossatura::subtract_rows", range(exec, rows.n),
      detail::SubtractManyVectors<Exec>{rows, count, first, last,
                                        upload(exec, "ossatura::many_vectors::factor", factor)});
  fence(exec, "ossatura::subtract_rows");
}

} // namespace ossatura
