// SPDX-License-Identifier: Apache-2.0
// Sum factorisation forms stiffness matrices on the modes that exist, trunk or tensor, by the sums
// of factorised_sums.hpp: on devices a team forms a matrix, on cores a thread one for each double
// of a vector register (batches/stiffness_batches.hpp).
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/pfem/batches/stiffness_batches.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>
#include <ossatura/kernels/pfem/stiffness/factorised_sums.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

namespace detail {

template<int P, int N>
SumFactors<P, N> make_sum_factors(HexaSpace space, ModeScaling scaling, int order, int points) {
  SumFactors<P, N> f = {};
  f.order_ = order;
  f.points_ = points;
  const BasisTables tables = make_basis_tables(order, points, scaling);
  const auto degree = [](int n) { return n < 2 ? 0 : n; };
  const auto count = [&](int rest) { // indices of degree up to `rest`
    return space == HexaSpace::tensor ? order + 1 : rest < 0 ? 0 : rest < 2 ? 2 : rest + 1;
  };
  const auto even_odd = [&](const std::vector<double>& table, int n, int q) {
    const double* const row = &table[std::size_t(q * (order + 1))];
    return n == 0 ? 0.5 * (row[1] + row[0]) : n == 1 ? 0.5 * (row[1] - row[0]) : row[n];
  };
  for (int i = 0; i <= order; ++i)
    for (int j = 0; j <= order; ++j)
      for (int h = 0; h < (points + 1) / 2; ++h) {
        const int q = points - 1 - h;
        const double vi = even_odd(tables.value, i, q), vj = even_odd(tables.value, j, q),
                     gi = even_odd(tables.derivative, i, q), gj = even_odd(tables.derivative, j, q);
        f.bb[i][j][h] = vi * vj;
        f.gb[i][j][h] = gi * vj;
        f.gg[i][j][h] = gi * gj;
      }
  int mode = 0;
  for (int i = 0; i <= order; ++i) {
    f.count1[i] = std::uint8_t(std::min(count(order - degree(i)), order + 1));
    for (int j = 0; j < f.count1[i]; ++j) {
      f.count2[i][j] = std::uint8_t(std::min(count(order - degree(i) - degree(j)), order + 1));
      f.begin[i][j] = std::int16_t(mode);
      mode += f.count2[i][j];
    }
  }
  // Pairs of a like amount of work one after the other.
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i <= order; ++i)
    for (int j = 0; j <= i; ++j)
      pairs.emplace_back(i, j);
  std::stable_sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
    return f.count1[a.first] * f.count1[a.second] > f.count1[b.first] * f.count1[b.second];
  });
  for (const auto& [i, j] : pairs) {
    f.pair_i[f.num_pairs] = std::uint8_t(i);
    f.pair_j[f.num_pairs++] = std::uint8_t(j);
  }
  return f;
}

/// C in scratch or in memory.
template<int P, int N, int Slots, int Threads, int Teams>
struct FormSumFactorised {
  static constexpr int max_threads = Threads, min_teams = Teams;
  using Sums = FactorisedSums<P, N, Slots, (P > 0) && Slots * 9 * N <= Threads, double>;

  HexaBatchPointers batch;
  StiffnessOutput output;
  ArrayPointer<double> pulled; ///< [teams, 45 points^3] C, or none: in scratch
  std::int64_t first_elem, num_elem;
  Sums sums;

  static std::size_t scratch_doubles(int n, bool pulled_in_scratch) {
    return Sums::a_numbers(n) + Sums::s_numbers(n) + Sums::table_numbers(n) +
           (pulled_in_scratch ? Sums::c_numbers(n) : 0);
  }

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    const int n = sums.f.points(), plane = n * n;
    typename Sums::Scratch scratch;
    scratch.a = team.scratch;
    scratch.s = scratch.a + Slots * 81 * plane;
    scratch.tables = scratch.s + Slots * int(Sums::max_second_pairs) * 36 * n;
    scratch.c = pulled.data
                    ? pulled.data + team.league_rank * (int(Sums::num_coefficients) * n * plane)
                    : scratch.tables + Slots * 4 * n;
    for (std::int64_t k = team.league_rank; k < num_elem; k += team.league_size)
      sums.form(
          team,
          [&](int q, double* c) {
            const HexaPoint point = batch.point(first_elem + k, q);
            sums.pull_back(q, point.to_gradient, point.weight, batch.elasticity(first_elem + k, q),
                           c);
          },
          [&](int i, int j, double x) { output.set(k, i, j, x); }, scratch);
  }
};

/// Launches that run well, by measurement: pairs of first indices at a time, threads of a team,
/// teams on a multiprocessor, C in scratch.
struct SumFactorisedShape {
  int slots, threads, teams;
  bool pulled_in_scratch;
};
constexpr SumFactorisedShape sum_factorised_shape(int order) {
  constexpr SumFactorisedShape shapes[max_hexa_order + 1] = {
      {1, 128, 1, false}, {3, 64, 8, true},   {3, 96, 5, true},   {3, 128, 3, true},
      {2, 96, 2, true},   {4, 224, 1, true},  {4, 256, 1, false}, {3, 224, 1, false},
      {2, 192, 1, false}, {2, 192, 1, false}, {2, 224, 1, false}};
  return shapes[order];
}

/// Bytes of scratch that a team takes.
template<int P, int N>
std::size_t sum_factorised_scratch(int points) {
  constexpr SumFactorisedShape shape = sum_factorised_shape(P);
  using Kernel = FormSumFactorised<P, N, shape.slots, shape.threads, shape.teams>;
  return sizeof(double) * Kernel::scratch_doubles(points, shape.pulled_in_scratch);
}

template<int P, int N, class Exec>
void launch_sum_factorised(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                           std::int64_t begin, std::int64_t end,
                           const Array<double, Exec>& matrix) {
  constexpr SumFactorisedShape shape = sum_factorised_shape(P);
  using Kernel = FormSumFactorised<P, N, shape.slots, shape.threads, shape.teams>;
  const int n = batch.points;
  std::int64_t league = end - begin;
  Array<double, Exec> pulled;
  if (!shape.pulled_in_scratch) {
    league = std::min(league, wide_team_concurrency(exec, shape.teams));
    pulled =
        make_uninitialized<double>(exec, league * int(Kernel::Sums::num_coefficients) * n * n * n,
                                   "ossatura::sum_factorised::pulled");
  }
  const Kernel kernel{HexaBatchPointers(batch),
                      StiffnessOutput(matrix, storage, batch.num_dofs()),
                      pulled,
                      begin,
                      end - begin,
                      {make_sum_factors<P, N>(batch.space, batch.scaling, batch.order, n),
                       batch.value, batch.derivative}};
  launch_wide_teams("ossatura::form_sum_factorised", exec, league, shape.threads,
                    sum_factorised_scratch<P, N>(n), kernel);
}

/// The matrices of cores, in ranges of elements.
struct FormStiffnessRanges {
  SumFactors<0, 0> factors;
  StiffnessBatchInput input;
  const StiffnessBatches* batches;
  std::int64_t num_elem;

  KOKKOS_FUNCTION static std::int64_t num_batches(std::int64_t num_elem, int lanes) {
    return (num_elem + lanes - 1) / lanes;
  }
  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    StiffnessBatchInput in = input;
    in.factors = &factors;
    const std::int64_t total = num_batches(num_elem, batches->lanes),
                       begin = total * team.league_rank / team.league_size,
                       end = total * (team.league_rank + 1) / team.league_size;
    batches->form(in, begin * batches->lanes, Kokkos::min(num_elem, end * batches->lanes),
                  team.scratch);
  }
};

template<class Exec>
void form_in_batches(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                     std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  const StiffnessBatches& batches = stiffness_batches();
  const StiffnessBatchInput input{nullptr,
                                  batch.value,
                                  batch.derivative,
                                  batch.point,
                                  batch.weight,
                                  batch.corner,
                                  batch.jacobian,
                                  batch.elasticity,
                                  batch.elem_stride,
                                  batch.point_stride,
                                  begin,
                                  StiffnessOutput(matrix, storage, batch.num_dofs())};
  const FormStiffnessRanges kernel{
      make_sum_factors<0, 0>(batch.space, batch.scaling, batch.order, batch.points), input,
      &batches, end - begin};
  // Several ranges a thread: one that is interrupted does not hold up the rest.
  const std::int64_t league = std::min(FormStiffnessRanges::num_batches(end - begin, batches.lanes),
                                       4 * std::int64_t(exec.concurrency()));
  launch_wide_teams("ossatura::form_sum_factorised", exec, league, 1,
                    sizeof(double) * batches.scratch_doubles(batch.points), kernel);
}

/// False if no kernel of that order and rule fits the scratch memory of the device.
template<class Exec, int... p>
bool launch_known_order(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                        std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix,
                        std::integer_sequence<int, p...>) {
  const std::size_t available = max_wide_scratch(exec);
  return ((batch.order == p + 1 && batch.points == p + 2 &&
           sum_factorised_scratch<p + 1, p + 2>(p + 2) <= available &&
           (launch_sum_factorised<p + 1, p + 2>(exec, batch, storage, begin, end, matrix), true)) ||
          ...);
}

} // namespace detail

/// Why these elements cannot have it here; empty if they can.
template<class Exec>
std::string sum_factorised_obstacle(const Exec& exec, const HexaBatch<Exec>& batch) {
  const std::size_t bytes = detail::sum_factorised_scratch<0, 0>(batch.points),
                    available = max_wide_scratch(exec);
  if (bytes <= available)
    return {};
  return std::to_string(batch.points) + " points take " + std::to_string(bytes >> 10) +
         " KiB of shared memory, and the device has " + std::to_string(available >> 10);
}

/// Matrices of the elements begin .. end - 1, as `storage` says; there is no obstacle. Does not
/// fence, except to free what it needs besides.
template<class Exec>
void form_sum_factorised(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage storage,
                         std::int64_t begin, std::int64_t end, const Array<double, Exec>& matrix) {
  if (begin >= end)
    return;
  if constexpr (BackendTraits<Exec>::is_device) {
    if (detail::launch_known_order(exec, batch, storage, begin, end, matrix,
                                   std::make_integer_sequence<int, max_hexa_order>()))
      return;
    detail::launch_sum_factorised<0, 0>(exec, batch, storage, begin, end, matrix);
  } else {
    detail::form_in_batches(exec, batch, storage, begin, end, matrix);
  }
}

} // namespace ossatura
