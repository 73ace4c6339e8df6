// SPDX-License-Identifier: Apache-2.0
// The level solve applies M^-1 = L^-T D^-1 L^-1 by levels of scalar rows. This is the usual way;
// its time is that of its levels, hundreds of them for a complete factor.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/invert_entries.hpp>
#include <ossatura/kernels/factor/published/scalar_rows.hpp>

#include <limits>
#include <string>

namespace ossatura {

namespace detail {

/// x(i) = scale(i) b(i) - sum of the row's entries times x, for rows of one level after the other.
template<class Exec>
struct SolveScalarRows {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  ArrayPointer<int> level_begin, row, begin, column;
  ArrayPointer<double> value, scale, b, x; ///< no scale: one

  KOKKOS_FORCEINLINE_FUNCTION void finish(int q, double sum) const {
    const int i = row(q);
    x(i) = (scale.data ? scale(i) * b(i) : b(i)) - sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION double product(int entry) const {
    return value(entry) * x(column(entry));
  }
  /// By one thread and its vector lanes.
  KOKKOS_FUNCTION void solve_row(const Member& team, int q) const {
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, begin(q), begin(q + 1)),
        [&](int entry, double& partial) { partial += product(entry); }, sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { finish(q, sum); });
  }
  /// By the whole team.
  KOKKOS_FUNCTION void solve_long_row(const Member& team, int q) const {
    const int first = begin(q), length = begin(q + 1) - first;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, length),
        [&](int e, double& partial) { partial += product(first + e); }, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { finish(q, sum); });
  }
};

/// A level over many teams.
template<class Exec>
struct SolveWideLevel : SolveScalarRows<Exec> {
  int level;

  KOKKOS_FUNCTION void operator()(const typename SolveScalarRows<Exec>::Member& team) const {
    const int q =
        this->level_begin(level) + team.league_rank() * team.team_size() + team.team_rank();
    if (q < this->level_begin(level + 1))
      this->solve_row(team, q);
  }
};

/// Consecutive levels of few rows by one team: its barrier takes less than a launch.
template<class Exec>
struct SolveNarrowLevels : SolveScalarRows<Exec> {
  int first, last;

  KOKKOS_FUNCTION void operator()(const typename SolveScalarRows<Exec>::Member& team) const {
    for (int level = first; level < last; ++level) {
      const int rows = this->level_begin(level), rows_end = this->level_begin(level + 1);
      if (rows_end - rows <= 2)
        for (int q = rows; q < rows_end; ++q)
          this->solve_long_row(team, q);
      else
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows, rows_end),
                             [&](int q) { this->solve_row(team, q); });
      team.team_barrier();
    }
  }
};

struct GatherEntries {
  ArrayPointer<double> panel;
  ArrayPointer<std::int64_t> position;
  ArrayPointer<double> value;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { value(e) = panel(position(e)); }
};

/// One triangle with its schedule.
template<class Exec>
class ScalarLevels {
public:
  ScalarLevels(const Exec& exec, const ScalarRows& rows, bool group)
      : num_levels_(rows.num_levels()) {
    level_begin_ = upload(exec, "ossatura::level_solve::level_begin", rows.level_begin);
    row_ = upload(exec, "ossatura::level_solve::row", rows.row);
    begin_ = upload(exec, "ossatura::level_solve::begin", rows.begin);
    column_ = upload(exec, "ossatura::level_solve::column", rows.column);
    position_ = upload(exec, "ossatura::level_solve::position", rows.position);
    value_ =
        make_zeros<double>(exec, std::int64_t(rows.column.size()), "ossatura::level_solve::value");
    for (int level = 0; level < rows.num_levels(); ++level) {
      const int num_rows = rows.level_begin[level + 1] - rows.level_begin[level];
      const bool narrow = group && num_rows <= narrow_rows;
      if (narrow && !launches_.empty() && launches_.back().num_rows == 0)
        launches_.back().last = level + 1;
      else
        launches_.push_back({level, level + 1, narrow ? 0 : num_rows});
    }
  }

  void refresh(const Exec& exec, const Array<double, Exec>& panel) {
    Kokkos::parallel_for("ossatura::level_solve::gather", range(exec, value_.extent(0)),
                         GatherEntries{panel, position_, value_});
  }

  /// x = (unit diagonal + entries)^-1 (scale b), componentwise; an empty `scale` is one.
  void apply(const Exec& exec, const Array<double, Exec>& scale, const Array<double, Exec>& b,
             const Array<double, Exec>& x) const {
    using Policy = Kokkos::TeamPolicy<Exec>;
    constexpr int threads = device ? 4 : 1, lanes = device ? 32 : 1;
    const SolveScalarRows<Exec> rows = {level_begin_, row_, begin_, column_, value_, scale, b, x};
    for (const Launch& launch : launches_) {
      if (launch.num_rows > 0)
        Kokkos::parallel_for(
            "ossatura::level_solve::wide",
            Policy(exec, (launch.num_rows + threads - 1) / threads, threads, lanes),
            SolveWideLevel<Exec>{rows, launch.first});
      else
        Kokkos::parallel_for("ossatura::level_solve::narrow",
                             Policy(exec, 1, device ? 16 : 1, lanes),
                             SolveNarrowLevels<Exec>{rows, launch.first, launch.last});
    }
  }

  std::int64_t num_entries() const { return std::int64_t(value_.extent(0)); }
  int num_levels() const { return num_levels_; }
  int num_launches() const { return int(launches_.size()); }

private:
  static constexpr bool device = BackendTraits<Exec>::is_device;
  static constexpr int narrow_rows = device ? 32 : 256;
  struct Launch {
    int first, last; ///< levels
    int num_rows;    ///< of the level; 0: one team takes all
  };

  int num_levels_;
  std::vector<Launch> launches_;
  Array<int, Exec> level_begin_, row_, begin_, column_;
  Array<std::int64_t, Exec> position_;
  Array<double, Exec> value_;
};

} // namespace detail

/// Set up once for a pattern. Results are the same in every run.
template<class Exec>
class LevelSolve {
public:
  /// `group`: levels of few rows that follow each other share a launch; otherwise each has its own.
  /// Throws std::invalid_argument for a factor of 2^31 entries or more. Fences.
  LevelSolve(const Exec& exec, const FactorPattern& pattern, bool group = true)
      : lower_(exec, rows_of(pattern, false), group)
      , upper_(exec, rows_of(pattern, true), group)
      , inverse_pivot_(make_zeros<double>(exec, 3 * std::int64_t(pattern.num_nodes),
                                          "ossatura::level_solve::inverse_pivot"))
      , y_(make_zeros<double>(exec, 3 * std::int64_t(pattern.num_nodes),
                              "ossatura::level_solve::y")) {}

  /// Copies the entries of the factor. Three launches; does not fence.
  void refresh(const Exec& exec, const SupernodalFactor<Exec>& factor) {
    OSSATURA_REQUIRE(factor.pivot.extent(0) == y_.extent(0), "a factor of another pattern");
    lower_.refresh(exec, factor.panel);
    upper_.refresh(exec, factor.panel);
    invert_entries(exec, factor.pivot, inverse_pivot_);
  }

  /// z = M^-1 r; both [3 num_nodes], z may be r. Does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& r, const Array<double, Exec>& z) const {
    lower_.apply(exec, Array<double, Exec>(), r, y_);
    upper_.apply(exec, inverse_pivot_, y_, z);
  }

  /// Read and written by an application at the least.
  std::int64_t bytes() const {
    return 2 * lower_.num_entries() * 12 + std::int64_t(y_.extent(0)) * (2 * 8 + 5 * 8);
  }
  int num_levels() const { return lower_.num_levels(); } ///< of L; of L^T about as many
  int num_launches() const { return lower_.num_launches() + upper_.num_launches(); }

private:
  static ScalarRows rows_of(const FactorPattern& pattern, bool transposed) {
    OSSATURA_REQUIRE(pattern.begin.back() <= std::numeric_limits<int>::max(),
                     "a factor of " << pattern.begin.back() << " entries is too large");
    return make_scalar_rows(pattern, transposed);
  }

  detail::ScalarLevels<Exec> lower_, upper_;
  Array<double, Exec> inverse_pivot_, y_;
};

} // namespace ossatura
