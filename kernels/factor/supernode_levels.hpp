// SPDX-License-Identifier: Apache-2.0
// The supernode solve for devices applies M^-1 = L^-T D^-1 L^-1 by levels of supernodes. With the
// triangle L_ss of a supernode and the rows L_bs below it, P_s = [L_ss^-1; L_bs L_ss^-1] is made at
// every refresh, so that a supernode is one product in either direction, all of whose rows or
// columns are independent:
//   lower  [y_s; u_s] = P_s f_s + [0; f_b],  f = contributions of r and of the children's u
//   upper  z_s = P_s^T [D^-1 y_s; -z_b]
// The subtree of s subtracts u_s from the nodes above; u_s is kept per supernode and gathered by
// the parent as in the multifrontal method [1]: no atomics, and one launch for a level.
//
// [1] J. Liu. The multifrontal method for sparse matrix solution: theory and practice. SIAM Rev. 34
//     (1992) 82-109, doi:10.1137/1034004.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/diagonal_inverse.hpp>
#include <ossatura/kernels/factor/front_blocks.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ossatura {

namespace detail {

inline constexpr int front_tile = 32;        ///< scalar rows of a team's share of a supernode
inline constexpr int front_most_groups = 16; ///< threads that share a row, at most
inline constexpr int front_columns = 8;      ///< of a team in the upper solve
inline constexpr int front_chunk = 512;      ///< rows that a team keeps in scratch memory
inline constexpr int front_most_nodes = 128; ///< of a supernode

/// A share of a launch: (supernode, first row or column).
struct FrontShare {
  int front, begin;
};

template<class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T& team_scratch(const Member& team) {
  return *static_cast<T*>(team.team_shmem().get_shmem_aligned(sizeof(T), 16));
}

/// FrontBlocks on a device.
struct Fronts {
  ArrayPointer<int> first, row_begin, row, front_begin, source_begin, source;
  ArrayPointer<std::int64_t> begin;

  KOKKOS_FORCEINLINE_FUNCTION int width(int s) const { return 3 * (first(s + 1) - first(s)); }
  KOKKOS_FORCEINLINE_FUNCTION int height(int s) const {
    return width(s) + 3 * (row_begin(s + 1) - row_begin(s));
  }
  /// Component c of what the children subtract from node i of the front.
  KOKKOS_FORCEINLINE_FUNCTION double gather(const double* u, int s, int i, int c) const {
    const int front = front_begin(s) + i;
    double sum = 0;
    for (int k = source_begin(front); k < source_begin(front + 1); ++k)
      sum += u[3 * std::int64_t(source(k)) + c];
    return sum;
  }
};

/// Panels and the supernodes that they are part of.
struct FrontPanels {
  ArrayPointer<int> block_of, panel; ///< supernode of a panel; first panel of a supernode
  ArrayPointer<int> first, row_begin;
  ArrayPointer<std::int64_t> begin, diagonal_begin;
  ArrayPointer<double> value, diagonal; ///< L, inverses of the panels' triangles

  KOKKOS_FORCEINLINE_FUNCTION int width(int s) const { return 3 * (first(s + 1) - first(s)); }
  /// Column 0 of the panel, from the first row of node `node` on.
  KOKKOS_FORCEINLINE_FUNCTION const double* rows_of(int s, int node) const {
    return value.data + begin(s) + 3 * (node - first(s));
  }
  KOKKOS_FORCEINLINE_FUNCTION int height(int s) const {
    return width(s) + 3 * (row_begin(s + 1) - row_begin(s));
  }
};

/// L_ss^-1 of a supernode, the columns of one of its panels by one team: with those of the panel's
/// own triangle, rows of the panels after it follow one panel after the other.
template<class Exec>
struct InvertFronts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  struct Scratch {
    double sum[9 * max_panel_nodes * max_panel_nodes];
  };
  Fronts fronts;
  FrontPanels panels;
  ArrayPointer<double> product;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scratch& scratch = team_scratch<Scratch>(team);
    const int j = team.league_rank(), s = panels.block_of(j), end = panels.panel(s + 1);
    const int columns = panels.width(j), height = fronts.height(s), node = fronts.first(s);
    double* const x =
        product.data + fronts.begin(s) + 3 * std::int64_t(panels.first(j) - node) * height;
    for (int i = j; i < end; ++i) {
      const int rows = panels.width(i), first = 3 * (panels.first(i) - node);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * columns), [&](int e) {
        const int a = e % rows, c = e / rows;
        double sum = i == j && a == c ? -1 : 0;
        for (int m = j; m < i; ++m) {
          const double* const l = panels.rows_of(m, panels.first(i)) + a;
          const double* const known = x + std::int64_t(c) * height + 3 * (panels.first(m) - node);
          const std::int64_t stride = panels.height(m);
          for (int k = 0; k < panels.width(m); ++k)
            sum += l[k * stride] * known[k];
        }
        scratch.sum[c * rows + a] = sum;
      });
      team.team_barrier();
      const double* const inverse = panels.diagonal.data + panels.diagonal_begin(i);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * columns), [&](int e) {
        const int a = e % rows, c = e / rows;
        double sum = 0;
        for (int k = 0; k <= a; ++k)
          sum -= inverse[k * rows + a] * scratch.sum[c * rows + k];
        x[std::int64_t(c) * height + first + a] = sum;
      });
      team.team_barrier();
    }
  }
};

/// L_bs L_ss^-1, one team a share of rows.
template<class Exec>
struct FillFronts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  Fronts fronts;
  FrontPanels panels;
  ArrayPointer<FrontShare> share;
  ArrayPointer<double> product;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const FrontShare own = share(team.league_rank());
    const int s = own.front, width = fronts.width(s), height = fronts.height(s);
    const int node = fronts.first(s), begin = panels.panel(s), end = panels.panel(s + 1);
    const int rows = height - own.begin < front_tile ? height - own.begin : int(front_tile);
    double* const p = product.data + fronts.begin(s);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * width), [&](int e) {
      const int i = own.begin + e % rows, c = e / rows;
      double* const x = p + std::int64_t(c) * height;
      double sum = 0;
      for (int m = begin; m < end; ++m) {
        const int first = 3 * (panels.first(m) - node);
        if (first + panels.width(m) <= c)
          continue; // zeros of the inverse
        // Rows below come after all nodes of the supernode.
        const double* const l = panels.rows_of(m, node) + i;
        const std::int64_t stride = panels.height(m);
        for (int k = 0; k < panels.width(m); ++k)
          sum += l[k * stride] * x[first + k];
      }
      x[i] = sum;
    });
  }
};

/// y holds D^-1 y when its level is done.
template<class Exec>
struct SolveLowerFronts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  struct Scratch {
    double front[3 * front_most_nodes];
    double partial[front_most_groups][front_tile];
  };
  Fronts fronts;
  ArrayPointer<FrontShare> share;
  ArrayPointer<double> product, inverse_pivot, r, y, u;
  int first_share, groups; ///< threads that share a row

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scratch& scratch = team_scratch<Scratch>(team);
    const FrontShare own = share(first_share + team.league_rank());
    const int s = own.front, width = fronts.width(s), height = fronts.height(s);
    const int first = 3 * fronts.first(s), below = 3 * fronts.row_begin(s) - width;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int k) {
      scratch.front[k] = r(first + k) - fronts.gather(u.data, s, k / 3, k % 3);
    });
    team.team_barrier();
    const int rows = height - own.begin < front_tile ? height - own.begin : int(front_tile);
    const double* const p = product.data + fronts.begin(s) + own.begin;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, groups * int(front_tile)), [&](int e) {
      const int i = e % front_tile, group = e / front_tile;
      if (i >= rows)
        return;
      const int end = own.begin + i < width ? own.begin + i + 1 : width; // zeros follow
      double sum = 0;
      for (int k = group; k < end; k += groups)
        sum += p[std::int64_t(k) * height + i] * scratch.front[k];
      scratch.partial[group][i] = sum;
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](int e) {
      const int i = own.begin + e;
      double sum = 0;
      for (int group = 0; group < groups; ++group)
        sum += scratch.partial[group][e];
      if (i < width)
        y(first + i) = sum * inverse_pivot(first + i);
      else
        u(below + i) = fronts.gather(u.data, s, i / 3, i % 3) + sum;
    });
  }
};

/// A thread for each column, its vector lanes over the rows.
template<class Exec>
struct SolveUpperFronts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  struct Scratch {
    double entry[front_chunk];
    double sum[front_columns];
  };
  Fronts fronts;
  ArrayPointer<FrontShare> share;
  ArrayPointer<double> product, y, z;
  int first_share;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scratch& scratch = team_scratch<Scratch>(team);
    const FrontShare own = share(first_share + team.league_rank());
    const int s = own.front, width = fronts.width(s), height = fronts.height(s);
    const int first = 3 * fronts.first(s), row_begin = fronts.row_begin(s) - width / 3;
    const int columns = width - own.begin < front_columns ? width - own.begin : int(front_columns);
    const double* const p = product.data + fronts.begin(s) + std::int64_t(own.begin) * height;
    for (int chunk = own.begin; chunk < height; chunk += front_chunk) { // zeros are above
      const int rows = height - chunk < front_chunk ? height - chunk : int(front_chunk);
      if (chunk > own.begin)
        team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rows), [&](int e) {
        const int i = chunk + e;
        scratch.entry[e] = i < width ? y(first + i) : -z(3 * fronts.row(row_begin + i / 3) + i % 3);
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, columns), [&](int k) {
        const double* const column = p + std::int64_t(k) * height + chunk;
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, rows),
            [&](int e, double& partial) { partial += column[e] * scratch.entry[e]; }, sum);
        Kokkos::single(Kokkos::PerThread(team), [&] {
          const double before = chunk > own.begin ? scratch.sum[k] : 0;
          if (chunk + front_chunk < height)
            scratch.sum[k] = before + sum;
          else
            z(first + own.begin + k) = before + sum;
        });
      });
    }
  }
};

} // namespace detail

/// Set up once for a pattern. Results are the same in every run.
template<class Exec>
class SupernodeLevels {
public:
  /// Panels of a supernode are joined up to `largest` nodes, at most 128; a level has the same time
  /// or more, but there are fewer. Fences.
  SupernodeLevels(const Exec& exec, const FactorPattern& pattern,
                  int largest = detail::front_most_nodes)
      : num_panels_(pattern.num_panels())
      , num_entries_(pattern.begin.back())
      , diagonal_(make_diagonal_inverse(exec, pattern)) {
    OSSATURA_REQUIRE(largest >= 0 && largest <= detail::front_most_nodes, largest << " nodes");
    const FrontBlocks blocks = make_front_blocks(pattern, largest);
    const std::int64_t n = 3 * std::int64_t(pattern.num_nodes);
    share_work(exec, blocks);
    std::vector<int> block_of(pattern.parent.size());
    for (int b = 0; b < blocks.num_blocks(); ++b)
      std::fill(block_of.begin() + blocks.panel[b], block_of.begin() + blocks.panel[b + 1], b);
    const auto copy_of = [&](const char* name, const auto& values) {
      return upload(exec, std::string("ossatura::supernode_levels::") + name, values);
    };
    block_of_ = copy_of("block_of", block_of);
    panel_ = copy_of("panel", blocks.panel);
    first_ = copy_of("first", blocks.first);
    row_begin_ = copy_of("row_begin", blocks.row_begin);
    row_ = copy_of("row", blocks.row);
    begin_ = copy_of("begin", blocks.begin);
    front_begin_ = copy_of("front_begin", blocks.front_begin);
    source_begin_ = copy_of("source_begin", blocks.source_begin);
    source_ = copy_of("source", blocks.source);
    product_ = make_zeros<double>(exec, blocks.begin.back(), "ossatura::supernode_levels::product");
    inverse_pivot_ = make_zeros<double>(exec, n, "ossatura::supernode_levels::inverse_pivot");
    y_ = make_zeros<double>(exec, n, "ossatura::supernode_levels::y");
    u_ = make_zeros<double>(exec, 3 * std::int64_t(blocks.row.size()),
                            "ossatura::supernode_levels::u");
  }

  /// Inverts the triangles; the factor is not needed any more when that is done. Four launches;
  /// does not fence.
  void refresh(const Exec& exec, const SupernodalFactor<Exec>& factor) {
    OSSATURA_REQUIRE(factor.pivot.extent(0) == inverse_pivot_.extent(0) &&
                         std::int64_t(factor.panel.extent(0)) == num_entries_,
                     "a factor of another pattern");
    using Invert = detail::InvertFronts<Exec>;
    if (num_panels_ == 0)
      return;
    invert_diagonal_blocks(exec, factor, diagonal_, inverse_pivot_);
    const detail::FrontPanels panels = {block_of_,
                                        panel_,
                                        factor.pattern.first,
                                        factor.pattern.row_begin,
                                        factor.pattern.begin,
                                        diagonal_.begin,
                                        factor.panel,
                                        diagonal_.value};
    Kokkos::parallel_for("ossatura::supernode_levels::invert",
                         policy(exec, num_panels_, 256, 1, sizeof(typename Invert::Scratch)),
                         Invert{fronts(), panels, product_});
    if (below_.extent(0) > 0)
      Kokkos::parallel_for("ossatura::supernode_levels::fill",
                           policy(exec, int(below_.extent(0)), 256, 1, 0),
                           detail::FillFronts<Exec>{fronts(), panels, below_, product_});
  }

  /// z = M^-1 r; both [3 num_nodes], z may be r. Two launches a level; does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& r, const Array<double, Exec>& z) const {
    using Lower = detail::SolveLowerFronts<Exec>;
    using Upper = detail::SolveUpperFronts<Exec>;
    for (const Level& level : levels_)
      Kokkos::parallel_for(
          "ossatura::supernode_levels::lower",
          policy(exec, level.lower_end - level.lower, level.groups * detail::front_tile, 1,
                 sizeof(typename Lower::Scratch)),
          Lower{fronts(), lower_, product_, inverse_pivot_, r, y_, u_, level.lower, level.groups});
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      Kokkos::parallel_for("ossatura::supernode_levels::upper",
                           policy(exec, level->upper_end - level->upper, detail::front_columns, 32,
                                  sizeof(typename Upper::Scratch)),
                           Upper{fronts(), upper_, product_, y_, z, level->upper});
  }

  /// Read and written by an application at the least.
  std::int64_t bytes() const {
    return 2 * std::int64_t(product_.extent(0)) * 8 + std::int64_t(row_.extent(0)) * 80 +
           std::int64_t(y_.extent(0)) * 8 * 5;
  }
  int num_levels() const { return int(levels_.size()); }

private:
  struct Level {
    int lower = 0, lower_end = 0, upper = 0, upper_end = 0; ///< shares
    int groups = 4;
  };

  static Kokkos::TeamPolicy<Exec> policy(const Exec& exec, int teams, int threads, int lanes,
                                         std::size_t scratch_bytes) {
    constexpr bool device = BackendTraits<Exec>::is_device;
    Kokkos::TeamPolicy<Exec> policy(exec, teams, device ? threads : 1, device ? lanes : 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(int(scratch_bytes) + 16));
    return policy;
  }

  void share_work(const Exec& exec, const FrontBlocks& blocks) {
    int num_levels = 0;
    for (const int level : blocks.level)
      num_levels = std::max(num_levels, level + 1);
    std::vector<std::vector<int>> of_level(num_levels);
    for (int b = 0; b < blocks.num_blocks(); ++b)
      of_level[blocks.level[b]].push_back(b);
    std::vector<detail::FrontShare> lower, upper, below;
    for (const std::vector<int>& own : of_level) {
      Level level;
      level.lower = int(lower.size());
      level.upper = int(upper.size());
      for (const int b : own) {
        const int width = 3 * blocks.width(b), height = 3 * blocks.height(b);
        for (int i = 0; i < height; i += detail::front_tile)
          lower.push_back({b, i});
        for (int i = width; i < height; i += detail::front_tile)
          below.push_back({b, i});
        for (int k = 0; k < width; k += detail::front_columns)
          upper.push_back({b, k});
        if (width > 3 * max_panel_nodes)
          level.groups = width > 9 * max_panel_nodes ? int(detail::front_most_groups) : 8;
      }
      level.lower_end = int(lower.size());
      level.upper_end = int(upper.size());
      levels_.push_back(level);
    }
    lower_ = upload(exec, "ossatura::supernode_levels::lower", lower);
    upper_ = upload(exec, "ossatura::supernode_levels::upper", upper);
    below_ = upload(exec, "ossatura::supernode_levels::below", below);
  }

  detail::Fronts fronts() const {
    return {first_, row_begin_, row_, front_begin_, source_begin_, source_, begin_};
  }

  int num_panels_;
  std::int64_t num_entries_; ///< of L
  DiagonalInverse<Exec> diagonal_;
  std::vector<Level> levels_;
  Array<int, Exec> block_of_, panel_, first_, row_begin_, row_;
  Array<int, Exec> front_begin_, source_begin_, source_;
  Array<std::int64_t, Exec> begin_;
  Array<detail::FrontShare, Exec> lower_, upper_, below_;
  Array<double, Exec> product_, inverse_pivot_, y_, u_;
};

} // namespace ossatura
