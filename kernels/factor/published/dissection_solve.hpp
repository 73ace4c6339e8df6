// SPDX-License-Identifier: Apache-2.0
// The dissection solve applies M^-1 = L^-T D^-1 L^-1 by sub-domains of nested dissection [1,
// section 5.1]: one team for each, one launch for a level of their tree. A team takes t = 16
// columns at a time with t t threads, and solves their triangle as a dense matrix in scratch
// memory. In the lower solve (column-major) contributions to all rows below go to the vector at
// once, to rows of other sub-domains by atomic additions; in the upper solve (row-major) the
// contributions of the rows below are summed over t threads for each unknown. The method departs
// from [1] in two points: rows that [1] reads from a sparse matrix are dense here, in the panels of
// L; and small subtrees end the recursion, whose size [1] does not give.
//
// [1] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/published/dissection_tree.hpp>

#include <string>

namespace ossatura {

namespace detail {

inline constexpr int dissection_tile = 16;

/// What both directions share.
template<class Exec>
struct DissectionKernel {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int tile = dissection_tile;
  struct Scratch {
    double triangle[tile][tile]; ///< [column][row]
    double x[tile];
  };
  ArrayPointer<int> domain, domain_first; ///< of the launch; panels
  ArrayPointer<int> first, row_begin, row;
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<double> panel, pivot;
  int first_domain;

  KOKKOS_FORCEINLINE_FUNCTION static Scratch& scratch(const Member& team) {
    return *static_cast<Scratch*>(team.team_shmem().get_shmem_aligned(sizeof(Scratch), 16));
  }
  KOKKOS_FORCEINLINE_FUNCTION int domain_of(const Member& team) const {
    return domain(first_domain + team.league_rank());
  }
  /// The scalar that row i of panel s is, `width` scalars wide.
  KOKKOS_FORCEINLINE_FUNCTION int scalar_of(int s, int width, int i) const {
    return i < width ? 3 * first(s) + i : 3 * row(row_begin(s) + (i - width) / 3) + i % 3;
  }
};

/// x = L^-1 x.
template<class Exec>
struct SolveLowerDomain : DissectionKernel<Exec> {
  using Base = DissectionKernel<Exec>;
  using Member = typename Base::Member;
  using Scratch = typename Base::Scratch;
  ArrayPointer<double> x;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scratch& scratch = Base::scratch(team);
    const int d = this->domain_of(team), end = this->domain_first(d + 1);
    for (int s = this->domain_first(d); s < end; ++s) {
      const int width = 3 * (this->first(s + 1) - this->first(s));
      for (int k = 0; k < width; k += Base::tile)
        solve_tile(team, scratch, s, width, k, 3 * this->first(end));
    }
  }

  /// Rows from `domain_end` on belong to other sub-domains.
  KOKKOS_FUNCTION void solve_tile(const Member& team, Scratch& scratch, int s, int width, int k,
                                  int domain_end) const {
    const int height = width + 3 * (this->row_begin(s + 1) - this->row_begin(s));
    const int columns = width - k < Base::tile ? width - k : int(Base::tile);
    const int own = 3 * this->first(s) + k;
    const double* const l = this->panel.data + this->begin(s) + std::int64_t(k) * height + k;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns * columns), [&](int e) {
      scratch.triangle[e / columns][e % columns] = l[e / columns * height + e % columns];
      if (e < columns)
        scratch.x[e] = x(own + e);
    });
    team.team_barrier();
    for (int j = 0; j + 1 < columns; ++j) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns - j - 1), [&](int e) {
        scratch.x[j + 1 + e] -= scratch.triangle[j][j + 1 + e] * scratch.x[j];
      });
      team.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, height - k), [&](int i) {
      if (i < columns) {
        x(own + i) = scratch.x[i];
        return;
      }
      double sum = 0;
      for (int j = 0; j < columns; ++j)
        sum += l[std::int64_t(j) * height + i] * scratch.x[j];
      const int target = this->scalar_of(s, width, k + i);
      if (target < domain_end)
        x(target) -= sum; // nobody else has it now
      else
        Kokkos::atomic_add(x.data + target, -sum);
    });
    team.team_barrier();
  }
};

/// z = L^-T D^-1 x.
template<class Exec>
struct SolveUpperDomain : DissectionKernel<Exec> {
  using Base = DissectionKernel<Exec>;
  using Member = typename Base::Member;
  using Scratch = typename Base::Scratch;
  ArrayPointer<double> x, z;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scratch& scratch = Base::scratch(team);
    const int d = this->domain_of(team), begin = this->domain_first(d);
    for (int s = this->domain_first(d + 1) - 1; s >= begin; --s) {
      const int width = 3 * (this->first(s + 1) - this->first(s));
      for (int k = (width - 1) / Base::tile * Base::tile; k >= 0; k -= Base::tile)
        solve_tile(team, scratch, s, width, k);
    }
  }

  KOKKOS_FUNCTION void solve_tile(const Member& team, Scratch& scratch, int s, int width,
                                  int k) const {
    const int height = width + 3 * (this->row_begin(s + 1) - this->row_begin(s));
    const int columns = width - k < Base::tile ? width - k : int(Base::tile);
    const int own = 3 * this->first(s) + k;
    const double* const l = this->panel.data + this->begin(s) + std::int64_t(k) * height + k;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns * columns), [&](int e) {
      scratch.triangle[e / columns][e % columns] = l[e / columns * height + e % columns];
    });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns), [&](int j) {
      const double* const column = l + std::int64_t(j) * height;
      double sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, columns, height - k),
          [&](int i, double& partial) {
            partial += column[i] * z(this->scalar_of(s, width, k + i));
          },
          sum);
      Kokkos::single(Kokkos::PerThread(team),
                     [&] { scratch.x[j] = x(own + j) / this->pivot(own + j) - sum; });
    });
    team.team_barrier();
    for (int j = columns - 1; j > 0; --j) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j),
                           [&](int i) { scratch.x[i] -= scratch.triangle[i][j] * scratch.x[j]; });
      team.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns),
                         [&](int j) { z(own + j) = scratch.x[j]; });
    team.team_barrier();
  }
};

} // namespace detail

/// Set up once for a pattern. Sums into separators come in the order of the teams: on several
/// threads the last digits change from run to run.
template<class Exec>
class DissectionSolve {
public:
  /// Sub-domains of at most `leaf_nodes` nodes are not divided. Fences.
  DissectionSolve(const Exec& exec, const FactorPattern& pattern, int leaf_nodes = 64) {
    const DissectionTree tree = make_dissection_tree(pattern, leaf_nodes);
    level_begin_ = tree.level_begin;
    const auto copy_of = [&](const char* name, const auto& values) {
      return upload(exec, std::string("ossatura::dissection_solve::") + name, values);
    };
    domain_ = copy_of("domain", tree.order);
    domain_first_ = copy_of("domain_first", tree.first);
    first_ = copy_of("first", pattern.first);
    row_begin_ = copy_of("row_begin", pattern.row_begin);
    row_ = copy_of("row", pattern.row);
    begin_ = copy_of("begin", pattern.begin);
    const std::int64_t n = 3 * std::int64_t(pattern.num_nodes);
    panel_ = make_zeros<double>(exec, pattern.begin.back(), "ossatura::dissection_solve::panel");
    pivot_ = make_zeros<double>(exec, n, "ossatura::dissection_solve::pivot");
    x_ = make_zeros<double>(exec, n, "ossatura::dissection_solve::x");
  }

  /// Copies the factor, so that recorded launches see the new one. Two launches; does not fence.
  void refresh(const Exec& exec, const SupernodalFactor<Exec>& factor) {
    OSSATURA_REQUIRE(factor.pivot.extent(0) == pivot_.extent(0) &&
                         factor.panel.extent(0) == panel_.extent(0),
                     "a factor of another pattern");
    copy(exec, factor.panel, panel_);
    copy(exec, factor.pivot, pivot_);
  }

  /// z = M^-1 r; both [3 num_nodes], z may be r. One launch, and two a level; does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& r, const Array<double, Exec>& z) const {
    copy(exec, r, x_);
    for (int level = 0; level < num_levels(); ++level)
      Kokkos::parallel_for("ossatura::dissection_solve::lower", policy(exec, level),
                           detail::SolveLowerDomain<Exec>{kernel(level), x_});
    for (int level = num_levels() - 1; level >= 0; --level)
      Kokkos::parallel_for("ossatura::dissection_solve::upper", policy(exec, level),
                           detail::SolveUpperDomain<Exec>{kernel(level), x_, z});
  }

  /// Read and written by an application at the least.
  std::int64_t bytes() const {
    return 2 * std::int64_t(panel_.extent(0)) * 8 + std::int64_t(row_.extent(0)) * 8 +
           std::int64_t(x_.extent(0)) * 8 * 5;
  }
  int num_levels() const { return int(level_begin_.size()) - 1; }

private:
  Kokkos::TeamPolicy<Exec> policy(const Exec& exec, int level) const {
    constexpr int t = BackendTraits<Exec>::is_device ? detail::dissection_tile : 1;
    Kokkos::TeamPolicy<Exec> teams(exec, level_begin_[level + 1] - level_begin_[level], t, t);
    using Scratch = typename detail::DissectionKernel<Exec>::Scratch;
    teams.set_scratch_size(0, Kokkos::PerTeam(int(sizeof(Scratch)) + 16));
    return teams;
  }
  detail::DissectionKernel<Exec> kernel(int level) const {
    return {domain_, domain_first_, first_, row_begin_,         row_,
            begin_,  panel_,        pivot_, level_begin_[level]};
  }

  std::vector<int> level_begin_; ///< [num_levels + 1] sub-domains
  Array<int, Exec> domain_, domain_first_, first_, row_begin_, row_;
  Array<std::int64_t, Exec> begin_;
  Array<double, Exec> panel_, pivot_, x_;
};

} // namespace ossatura
