// SPDX-License-Identifier: Apache-2.0
// These kernels are the steps of kernels/krylov/resident_cg.hpp.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>

#include <cmath>
#include <cstdint>

namespace ossatura {

/// Scalars of an iteration, [num_cg_numbers].
enum CgNumber {
  cg_rz,        ///< r . z of the iteration before
  cg_bound,     ///< r . r that meets the tolerance
  cg_norm2,     ///< r . r, of the recurrence
  cg_true,      ///< r . r, at the last look at b - A x
  cg_reference, ///< b . b
  num_cg_numbers
};

/// And their integers, [num_cg_flags].
enum CgFlag {
  cg_stop,       ///< 0: go on; 1: the recurrence meets the tolerance; 2: broken down
  cg_iterations, ///< steps taken
  cg_arrived,    ///< teams that are done with their part of a sum
  num_cg_flags
};

namespace detail {

inline constexpr int cg_rows = 32;  ///< rows of the matrix in a part of the product
inline constexpr int cg_nodes = 64; ///< nodes in a part of a step

template<class Exec>
using TeamOf = typename Kokkos::TeamPolicy<Exec>::member_type;

/// The sum of parts [0, n), the same in every team.
template<class Team, class Parts>
KOKKOS_INLINE_FUNCTION double sum_parts(const Team& team, const Parts& parts, int n) {
  double sum = 0;
  Kokkos::parallel_reduce(
      Kokkos::TeamThreadRange(team, n), [&](int k, double& partial) { partial += parts(k); }, sum);
  return sum;
}

/// parts(rank of the team) = the sum of what body(k, sum) adds for k in [0, n).
template<class Team, class Body>
KOKKOS_INLINE_FUNCTION void store_sum(const Team& team, int n, const Body& body,
                                      const ArrayPointer<double>& parts) {
  double sum = 0;
  Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, n), body, sum);
  Kokkos::single(Kokkos::PerTeam(team), [&] { parts(team.league_rank()) = sum; });
}

/// Whether this team is the last of the launch to come here; then it sees what all others wrote.
template<class Team>
KOKKOS_INLINE_FUNCTION bool arrives_last(const Team& team, int* arrived) {
  Kokkos::memory_fence();
  team.team_barrier();
  int last = 0;
  Kokkos::single(
      Kokkos::PerTeam(team),
      [&](int& result) {
        result = Kokkos::atomic_fetch_add(arrived, 1) == team.league_size() - 1;
        if (result)
          *arrived = 0; // for the next launch
      },
      last);
  if (last)
    Kokkos::memory_fence();
  return last != 0;
}

template<class Exec>
struct CgArrays {
  ArrayPointer<int> row_begin, column, flags;
  ArrayPointer<double> value, b, x, r, z, q, p_before, p, rz_parts, pq_parts, rr_parts, numbers;
  int num_rows, num_rz_parts, num_product_parts;

  /// Row `row` of A times the vector of `entry(i)`, summed over the lanes; zero past the last row.
  template<int lanes, class Entry>
  KOKKOS_FUNCTION void row_product(int row, int lane, const Entry& entry,
                                   double (&product)[3]) const {
    if (row < num_rows)
      for (int k = row_begin(row) + lane; k < row_begin(row + 1); k += lanes) {
        const double* const block = &value(9 * std::int64_t(k));
        const std::int64_t from = 3 * std::int64_t(column(k));
        for (int c = 0; c < 3; ++c) {
          const double x = entry(from + c);
          for (int d = 0; d < 3; ++d)
            product[d] += block[3 * d + c] * x;
        }
      }
    for (int d = 0; d < 3; ++d)
      product[d] = warp_sum<lanes>(product[d]);
  }
};

/// z + beta p_before, or z alone to begin with.
struct NewDirection {
  ArrayPointer<double> z, p_before;
  double beta;

  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return beta != 0 ? z(i) + beta * p_before(i) : z(i);
  }
};

/// p = z + beta p_before and q = A p.
template<class Exec>
struct ResidentProduct {
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 8 : 1;
  CgArrays<Exec> cg;

  KOKKOS_FUNCTION void operator()(const TeamOf<Exec>& team) const {
    if (cg.flags(cg_stop))
      return;
    const double rz = sum_parts(team, cg.rz_parts, cg.num_rz_parts);
    const double beta = cg.flags(cg_iterations) == 0 ? 0 : rz / cg.numbers(cg_rz);
    const NewDirection direction{cg.z, cg.p_before, beta};
    const int first = team.league_rank() * cg_rows;
    store_sum(
        team, cg_rows * lanes,
        [&](int thread, double& partial) {
          const int row = first + thread / lanes, lane = thread % lanes;
          double product[3] = {};
          cg.template row_product<lanes>(row, lane, direction, product);
          if (row < cg.num_rows && lane == 0)
            for (int d = 0; d < 3; ++d) {
              const std::int64_t to = 3 * std::int64_t(row) + d;
              const double p = direction(to);
              cg.p(to) = p;
              cg.q(to) = product[d];
              partial += p * product[d];
            }
        },
        cg.pq_parts);
  }
};

/// p alone, for a product of another kind.
template<class Exec>
struct ResidentDirection {
  CgArrays<Exec> cg;

  KOKKOS_FUNCTION void operator()(const TeamOf<Exec>& team) const {
    if (cg.flags(cg_stop))
      return;
    const double rz = sum_parts(team, cg.rz_parts, cg.num_rz_parts);
    const double beta = cg.flags(cg_iterations) == 0 ? 0 : rz / cg.numbers(cg_rz);
    const NewDirection direction{cg.z, cg.p_before, beta};
    const std::int64_t first = 3 * std::int64_t(team.league_rank()) * cg_nodes;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 3 * int(cg_nodes)), [&](int k) {
      if (first + k < 3 * std::int64_t(cg.num_rows))
        cg.p(first + k) = direction(first + k);
    });
  }
};

/// Sums of p . q after such a product.
template<class Exec>
struct ResidentDot {
  CgArrays<Exec> cg;

  KOKKOS_FUNCTION void operator()(const TeamOf<Exec>& team) const {
    if (cg.flags(cg_stop))
      return;
    const std::int64_t first = 3 * std::int64_t(team.league_rank()) * cg_rows;
    store_sum(
        team, 3 * int(cg_rows),
        [&](int k, double& partial) {
          if (first + k < 3 * std::int64_t(cg.num_rows))
            partial += cg.p(first + k) * cg.q(first + k);
        },
        cg.pq_parts);
  }
};

/// x += alpha p, r -= alpha q, and the residual in the frames and the precision of the
/// preconditioner.
template<class Exec, class Real>
struct ResidentStep {
  CgArrays<Exec> cg;
  ArrayPointer<double> rotation; ///< [num_rows, 9] or none
  ArrayPointer<Real> rotated;    ///< or none

  KOKKOS_FUNCTION static void rotate(const ArrayPointer<double>& rotation, std::int64_t node,
                                     const double (&r)[3], const ArrayPointer<Real>& rotated) {
    if (!rotated.data)
      return;
    for (int c = 0; c < 3; ++c) {
      double sum = r[c];
      if (rotation.data) {
        sum = 0;
        for (int d = 0; d < 3; ++d)
          sum += rotation(9 * node + 3 * d + c) * r[d];
      }
      rotated(3 * node + c) = Real(sum);
    }
  }

  KOKKOS_FUNCTION void operator()(const TeamOf<Exec>& team) const {
    if (cg.flags(cg_stop))
      return;
    const double rz = sum_parts(team, cg.rz_parts, cg.num_rz_parts);
    const double pq = sum_parts(team, cg.pq_parts, cg.num_product_parts);
    const bool good = pq > 0 && rz > 0;
    const double alpha = good ? rz / pq : 0;
    const int first = team.league_rank() * cg_nodes;
    store_sum(
        team, int(cg_nodes),
        [&](int k, double& partial) {
          const std::int64_t node = first + k;
          if (node >= cg.num_rows)
            return;
          double r[3];
          for (int c = 0; c < 3; ++c) {
            cg.x(3 * node + c) += alpha * cg.p(3 * node + c);
            r[c] = cg.r(3 * node + c) - alpha * cg.q(3 * node + c);
            cg.r(3 * node + c) = r[c];
            partial += r[c] * r[c];
          }
          rotate(rotation, node, r, rotated);
        },
        cg.rr_parts);
    if (!arrives_last(team, &cg.flags(cg_arrived)))
      return;
    const double norm2 = sum_parts(team, cg.rr_parts, team.league_size());
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      cg.numbers(cg_rz) = rz;
      cg.numbers(cg_norm2) = norm2;
      if (good)
        ++cg.flags(cg_iterations);
      // A norm that is not a number ends the iteration too.
      cg.flags(cg_stop) = !good || !(norm2 < double(1e300)) ? 2 : norm2 <= cg.numbers(cg_bound);
    });
  }
};

/// r = b - A x, afresh; at the start of a solve it sets what the tolerance refers to.
template<class Exec, class Real>
struct ResidentResidual {
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 8 : 1;
  CgArrays<Exec> cg;
  ArrayPointer<double> rotation;
  ArrayPointer<Real> rotated;
  double tolerance; ///< at the start; 0 later

  KOKKOS_FUNCTION void operator()(const TeamOf<Exec>& team) const {
    const int first = team.league_rank() * cg_rows, parts = team.league_size();
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, cg_rows * lanes),
        [&](int thread, double& partial) {
          const int row = first + thread / lanes, lane = thread % lanes;
          double product[3] = {};
          cg.template row_product<lanes>(row, lane, cg.x, product);
          if (row < cg.num_rows && lane == 0) {
            double r[3];
            for (int d = 0; d < 3; ++d) {
              r[d] = cg.b(3 * std::int64_t(row) + d) - product[d];
              // q is free between iterations: the change from the recurrence.
              cg.q(3 * std::int64_t(row) + d) = r[d] - cg.r(3 * std::int64_t(row) + d);
              cg.r(3 * std::int64_t(row) + d) = r[d];
              partial += r[d] * r[d];
            }
            ResidentStep<Exec, Real>::rotate(rotation, row, r, rotated);
          }
        },
        sum);
    // At the start |b|; later by how much the recurrence was off.
    team.team_barrier();
    const double* const of = tolerance > 0 ? cg.b.data : cg.q.data;
    double second = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, 3 * cg_rows),
        [&](int k, double& partial) {
          const std::int64_t i = 3 * std::int64_t(first) + k;
          if (i < 3 * std::int64_t(cg.num_rows))
            partial += of[i] * of[i];
        },
        second);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      cg.rr_parts(team.league_rank()) = sum;
      cg.rr_parts(parts + team.league_rank()) = second;
    });
    if (!arrives_last(team, &cg.flags(cg_arrived)))
      return;
    const double norm2 = sum_parts(team, cg.rr_parts, parts);
    ArrayPointer<double> seconds;
    seconds.data = cg.rr_parts.data + parts;
    const double second2 = sum_parts(team, seconds, parts);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      cg.numbers(cg_true) = norm2;
      if (tolerance > 0) {
        cg.numbers(cg_reference) = second2;
        cg.numbers(cg_bound) = tolerance * tolerance * second2;
        cg.flags(cg_iterations) = 0;
      }
      // Directions start anew where the recurrence is not of this residual any more: with the one
      // before, conjugate to another residual, the iteration may diverge.
      else if (!(second2 <= 0.01 * norm2))
        cg.numbers(cg_rz) = HUGE_VAL;
      // What broke down stays broken; a claim of convergence has to hold here.
      if (tolerance > 0 || cg.flags(cg_stop) != 2)
        cg.flags(cg_stop) = !(norm2 < double(1e300)) ? 2 : norm2 <= cg.numbers(cg_bound);
    });
  }
};

/// z from a residual in the preconditioner's own way, and r . z. `Form` is a functor with the
/// component z(node, c).
template<class Exec, class Form>
struct CgPrecondition {
  CgArrays<Exec> cg;
  Form form;

  KOKKOS_FUNCTION void operator()(const TeamOf<Exec>& team) const {
    if (cg.flags(cg_stop))
      return;
    const int first = team.league_rank() * cg_nodes;
    store_sum(
        team, int(cg_nodes),
        [&](int k, double& partial) {
          const std::int64_t node = first + k;
          if (node >= cg.num_rows)
            return;
          double z[3];
          form(node, z);
          for (int c = 0; c < 3; ++c) {
            cg.z(3 * node + c) = z[c];
            partial += z[c] * cg.r(3 * node + c);
          }
        },
        cg.rz_parts);
  }
};

/// z = r.
template<class Exec>
struct IdentityForm {
  ArrayPointer<double> r;
  KOKKOS_FUNCTION void operator()(std::int64_t node, double (&z)[3]) const {
    for (int c = 0; c < 3; ++c)
      z[c] = r(3 * node + c);
  }
};

/// z = B r with a block for each node.
template<class Exec>
struct BlockForm {
  ArrayPointer<double> r, block;
  KOKKOS_FUNCTION void operator()(std::int64_t node, double (&z)[3]) const {
    for (int c = 0; c < 3; ++c) {
      z[c] = 0;
      for (int d = 0; d < 3; ++d)
        z[c] += block(9 * node + 3 * c + d) * r(3 * node + d);
    }
  }
};

/// z = R y, or y, for a y that was computed elsewhere.
template<class Exec>
struct RotateForm {
  ArrayPointer<double> y, rotation;
  KOKKOS_FUNCTION void operator()(std::int64_t node, double (&z)[3]) const {
    double own[3];
    for (int c = 0; c < 3; ++c)
      own[c] = y(3 * node + c); // y may be z
    for (int c = 0; c < 3; ++c) {
      z[c] = own[c];
      if (rotation.data) {
        z[c] = 0;
        for (int d = 0; d < 3; ++d)
          z[c] += rotation(9 * node + 3 * c + d) * own[d];
      }
    }
  }
};

} // namespace detail

} // namespace ossatura
