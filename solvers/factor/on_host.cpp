// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/factor/on_host.hpp>

#include <ossatura/core/base/region_poll.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processors.hpp>
#include <ossatura/kernels/factor/pivot_rule.hpp>
#include <ossatura/solvers/factor/host_factor_products.hpp>
#include <ossatura/solvers/factor/panel_chains.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>
#include <utility>

namespace ossatura {

namespace {

/// Nodes that are worked on at a time: products of so many rows and columns stay in the cache.
constexpr int block_nodes = 64;
/// Rows of blocks on the diagonal, of which half is not needed.
constexpr int diagonal_nodes = 16;
static_assert(block_nodes % max_panel_nodes == 0);

/// The matrix and its factor.
struct Elimination {
  const FactorPattern& pattern;
  const PanelChains& chains;
  const std::vector<int>& row_begin;
  const std::vector<int>& column;
  const double* value;
  double *panel, *pivot;                 ///< L and D
  std::optional<std::thread::id> caller; ///< who polls; none: nobody

  int width(int panel) const { return 3 * pattern.width(panel); }
  std::ptrdiff_t ld(int panel) const { return 3 * std::ptrdiff_t(pattern.height(panel)); }
  double* entries(int s) const { return panel + pattern.begin[s]; }
  double* pivots(int s) const { return pivot + 3 * pattern.first[s]; }
  void poll() const {
    if (caller == std::this_thread::get_id())
      poll_region();
  }
};

/// Panels [first, end) of a chain, block_nodes of columns or fewer.
struct Strip {
  int first, end;
};

/// Memory of a thread, kept from chain to chain.
struct Scratch {
  std::vector<double> scaled, packed, product;
};

/// Left-looking [1]: a chain takes what the chains before it contribute, then strip after strip
/// what the strips before it do. Its rows are nodes, counted from its first. Several threads may
/// work on rows of a chain, each with a ChainWork of its own, where they share the places of the
/// rows.
class ChainWork {
public:
  ChainWork(const Elimination& all, int chain, const std::vector<int>& place, Scratch& scratch)
      : all_(all)
      , chain_(chain)
      , first_node_(all.chains.first_node(chain))
      , place_(place)
      , scaled_(scratch.scaled)
      , packed_(scratch.packed)
      , product_(scratch.product) {}

  /// Writes the rows of `chain` into `place` [num_nodes].
  static void number_rows(const PanelChains& chains, int chain, std::vector<int>& place) {
    const int first = chains.first_node(chain), width = chains.end_node(chain) - first;
    for (int i = 0; i < width; ++i)
      place[std::size_t(first + i)] = i;
    for (int i = 0; i < chains.num_below(chain); ++i)
      place[std::size_t(chains.below(chain)[i])] = width + i;
  }

  int num_rows() const {
    return all_.chains.end_node(chain_) - first_node_ + all_.chains.num_below(chain_);
  }
  int first_row(int panel) const { return all_.pattern.first[panel] - first_node_; }

  std::vector<Strip> strips() const {
    std::vector<Strip> strips;
    const int end = all_.chains.end_panel(chain_);
    for (int s = all_.chains.first_panel(chain_); s < end; s = strips.back().end) {
      int last = s + 1;
      while (last < end && all_.pattern.first[last + 1] - all_.pattern.first[s] <= block_nodes)
        ++last;
      strips.push_back({s, last});
    }
    return strips;
  }

  void assemble(int panel) {
    const FactorPattern& pattern = all_.pattern;
    const std::ptrdiff_t ld = all_.ld(panel);
    double* const entries = all_.entries(panel);
    std::fill(entries, entries + ld * all_.width(panel), 0.0);
    // By symmetry the blocks right of the diagonal in row j are those below it in column j.
    for (int j = pattern.first[panel]; j < pattern.first[panel + 1]; ++j)
      for (int k = all_.row_begin[j]; k < all_.row_begin[j + 1]; ++k) {
        const int other = all_.column[k];
        if (other < j)
          continue;
        double* const block = entry(panel, place_[other], 3 * (j - pattern.first[panel]));
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r)
            block[ld * c + r] = all_.value[9 * std::ptrdiff_t(k) + 3 * c + r];
      }
  }

  /// Subtracts in rows [begin, end) of `strip` what the chains before contribute.
  void update(Strip strip, int begin, int end) {
    const std::vector<int>& node = all_.pattern.first;
    for (const ChainUpdate* of = all_.chains.updates_begin(chain_);
         of != all_.chains.updates_end(chain_); ++of) {
      const int num = all_.chains.num_below(of->source);
      const int* const rows = all_.chains.below(of->source);
      const auto first_from = [&](int from, int least) {
        return int(std::lower_bound(rows + from, rows + num, least,
                                    [&](int row, int place) { return place_[row] < place; }) -
                   rows);
      };
      const int column =
                    int(std::lower_bound(rows + of->begin, rows + num, node[strip.first]) - rows),
                column_end =
                    int(std::lower_bound(rows + column, rows + num, node[strip.end]) - rows);
      if (column == column_end)
        continue;
      const int first = first_from(column, begin), last = first_from(first, end);
      if (first == last)
        continue;
      const Source source{of->source, all_.chains.end_panel(of->source), num};
      scale(source, column, column_end);
      for_each_block(first, last, column_end, [&](int row, int row_end) {
        subtract(source, row, row_end, rows, column, std::min(column_end, row_end));
      });
    }
  }

  /// Subtracts in rows [begin, end) of `strip` what the strips before it contribute.
  void update_within(Strip strip, int begin, int end) {
    const Source source{chain_, strip.first, num_rows()};
    if (source.end_panel == all_.chains.first_panel(chain_))
      return;
    const int column = first_row(strip.first), column_end = column + width_of(strip);
    scale(source, column, column_end);
    for_each_block(begin, end, column_end, [&](int row, int row_end) {
      for_each_panel(source, row, row_end,
                     [&](const double* scaled, int k, const double* rows, std::ptrdiff_t ld) {
                       for (int s = strip.first; s < strip.end && first_row(s) < row_end; ++s) {
                         const int from = std::max(row, first_row(s));
                         add_transposed_product(all_.width(s), 3 * (row_end - from), k,
                                                scaled + 3 * (first_row(s) - column),
                                                scaled_columns_, rows + 3 * (from - row), ld,
                                                entry(s, from, 0), all_.ld(s));
                       }
                     });
    });
  }

  /// Factors the triangle of `strip` on the diagonal; returns how many pivots were replaced.
  /// `diagonal`: of A.
  int factor_triangle(Strip strip, const std::vector<double>& diagonal) {
    const int end = first_row(strip.first) + width_of(strip);
    int num_replaced = 0;
    for (int s = strip.first; s < strip.end; ++s) {
      update_panel(strip, s, first_row(s), end);
      num_replaced +=
          factor_triangle(s, diagonal.data() + 3 * (first_row(s) - first_row(strip.first)));
      solve_panel(s, first_row(s) + all_.pattern.width(s), end);
    }
    return num_replaced;
  }

  /// Rows [begin, end) of L, below the triangle of `strip`, which is factored.
  void solve(Strip strip, int begin, int end) {
    for (int row = begin; row < end; row += block_nodes)
      for (int s = strip.first; s < strip.end; ++s) {
        update_panel(strip, s, row, std::min(row + block_nodes, end));
        solve_panel(s, row, std::min(row + block_nodes, end));
      }
  }

  int width_of(Strip strip) const {
    return all_.pattern.first[strip.end] - all_.pattern.first[strip.first];
  }

private:
  /// Panels of a chain up to `end_panel`, and rows of the chain: of its `num_rows` last ones.
  struct Source {
    int chain, end_panel, num_rows;
  };

  double* entry(int panel, int row, int column) const {
    return all_.entries(panel) + all_.ld(panel) * column + 3 * (row - first_row(panel));
  }
  const double* entry(const Source& source, int panel, int row) const {
    return all_.entries(panel) + all_.ld(panel) - 3 * std::ptrdiff_t(source.num_rows - row);
  }

  /// Calls body(row, end) for blocks of rows; those before `diagonal_end` are of fewer.
  template<class Body>
  static void for_each_block(int begin, int end, int diagonal_end, const Body& body) {
    for (int row = begin, next; row < end; row = next) {
      next = std::min(row + (row < diagonal_end ? diagonal_nodes : block_nodes), end);
      body(row, next);
    }
  }

  /// -D L^T of columns that are rows [column, column_end) of the source.
  void scale(const Source& source, int column, int column_end) {
    const int n = 3 * (column_end - column);
    std::size_t size = 0;
    for (int q = all_.chains.first_panel(source.chain); q < source.end_panel; ++q)
      size += std::size_t(n) * all_.width(q);
    make_room(scaled_, size);
    double* to = scaled_.data();
    for (int q = all_.chains.first_panel(source.chain); q < source.end_panel; ++q) {
      const double *const from = entry(source, q, column), *const pivot = all_.pivots(q);
      for (int l = 0; l < all_.width(q); ++l, to += n)
        for (int j = 0; j < n; ++j)
          to[j] = -from[l * all_.ld(q) + j] * pivot[l];
    }
    scaled_columns_ = n;
  }

  /// Calls body(scaled, k, rows, ld) for the k columns of each panel of the source in its rows
  /// [row, end): these lie side by side where many columns take them.
  template<class Body>
  void for_each_panel(const Source& source, int row, int end, const Body& body) {
    constexpr int many = 24;
    const int m = 3 * (end - row);
    if (scaled_columns_ > many)
      make_room(packed_, std::size_t(m) * 3 * max_panel_nodes);
    const double* scaled = scaled_.data();
    for (int q = all_.chains.first_panel(source.chain); q < source.end_panel; ++q) {
      const double* const from = entry(source, q, row);
      if (scaled_columns_ > many) {
        for (int l = 0; l < all_.width(q); ++l)
          std::copy_n(from + l * all_.ld(q), m, packed_.data() + std::ptrdiff_t(l) * m);
        body(scaled, all_.width(q), packed_.data(), std::ptrdiff_t(m));
      } else {
        body(scaled, all_.width(q), from, all_.ld(q));
      }
      scaled += std::ptrdiff_t(scaled_columns_) * all_.width(q);
    }
  }

  /// Subtracts the source's product in its rows [row, row_end), columns [column, column_end).
  void subtract(const Source& source, int row, int row_end, const int* rows, int column,
                int column_end) {
    const int m = 3 * (row_end - row), n = 3 * (column_end - column);
    product_.assign(std::size_t(n) * m, 0.0);
    for_each_panel(source, row, row_end,
                   [&](const double* scaled, int k, const double* from, std::ptrdiff_t ld) {
                     add_transposed_product(n, m, k, scaled, scaled_columns_, from, ld,
                                            product_.data(), m);
                   });
    for (int j = 0; j < n; ++j) {
      const int node = rows[column + j / 3], panel = all_.pattern.panel_of[node];
      const int top = first_row(panel);
      double* const to = entry(panel, top, 3 * (node - all_.pattern.first[panel]) + j % 3);
      const double* const from = product_.data() + std::ptrdiff_t(j) * m;
      for (int i = std::max(row, column + j / 3); i < row_end; ++i)
        for (int c = 0; c < 3; ++c)
          to[3 * (place_[rows[i]] - top) + c] += from[3 * (i - row) + c];
    }
  }

  /// Subtracts in rows [begin, end) of `panel` what the panels of its strip before it contribute.
  void update_panel(Strip strip, int panel, int begin, int end) {
    const int n = all_.width(panel);
    make_room(scaled_, std::size_t(n) * 3 * max_panel_nodes);
    for (int q = strip.first; q < panel; ++q) {
      const double *const from = entry(q, first_row(panel), 0), *const pivot = all_.pivots(q);
      for (int l = 0; l < all_.width(q); ++l)
        for (int j = 0; j < n; ++j)
          scaled_[std::size_t(l) * n + j] = -from[l * all_.ld(q) + j] * pivot[l];
      add_transposed_product(n, 3 * (end - begin), all_.width(q), scaled_.data(), n,
                             entry(q, begin, 0), all_.ld(q), entry(panel, begin, 0),
                             all_.ld(panel));
    }
  }

  int factor_triangle(int panel, const double* diagonal) {
    const std::ptrdiff_t ld = all_.ld(panel);
    const int n = all_.width(panel);
    double *const entries = all_.entries(panel), *const pivot = all_.pivots(panel);
    int num_replaced = 0;
    for (int k = 0; k < n; ++k) {
      double* const own = entries + k * ld;
      for (int l = 0; l < k; ++l) {
        const double* const other = entries + l * ld;
        subtract_scaled(n - k, other[k] * pivot[l], other + k, own + k);
      }
      const bool replaced = !(own[k] > smallest_pivot * std::abs(diagonal[k]));
      num_replaced += replaced;
      pivot[k] = replaced ? replacement_pivot(diagonal[k]) : own[k];
      std::fill(own, own + k, 0.0);
      own[k] = 1;
      scale_entries(n - k - 1, 1 / pivot[k], own + k + 1);
    }
    return num_replaced;
  }

  /// Rows of L below the triangle of `panel`, a few columns at a time: first what the columns
  /// before them contribute, all at once, then column by column.
  void solve_panel(int panel, int begin, int end) {
    constexpr int group = 6;
    const std::ptrdiff_t ld = all_.ld(panel);
    const int n = all_.width(panel), m = 3 * (end - begin);
    const double *const entries = all_.entries(panel), *const pivot = all_.pivots(panel);
    double* const rows = entry(panel, begin, 0);
    make_room(scaled_, std::size_t(group) * n);
    for (int first = 0; first < n; first += group) {
      const int last = std::min(first + group, n), num = last - first;
      for (int l = 0; l < first; ++l)
        for (int j = 0; j < num; ++j)
          scaled_[std::size_t(l) * num + j] = -entries[l * ld + first + j] * pivot[l];
      add_transposed_product(num, m, first, scaled_.data(), num, rows, ld, rows + first * ld, ld);
      for (int k = first; k < last; ++k) {
        for (int l = first; l < k; ++l)
          subtract_scaled(m, entries[l * ld + k] * pivot[l], rows + l * ld, rows + k * ld);
        scale_entries(m, 1 / pivot[k], rows + k * ld);
      }
    }
  }

  /// Only ever more: what is new is filled with zeros.
  static void make_room(std::vector<double>& entries, std::size_t size) {
    if (entries.size() < size)
      entries.resize(size);
  }

  const Elimination& all_;
  int chain_, first_node_;
  const std::vector<int>& place_;
  std::vector<double>&scaled_, &packed_, &product_;
  int scaled_columns_ = 0;
};

/// The diagonal of A in the columns of `strip`, as it was assembled.
std::vector<double> diagonal_of(const Elimination& all, Strip strip) {
  std::vector<double> diagonal;
  for (int s = strip.first; s < strip.end; ++s)
    for (int k = 0; k < all.width(s); ++k)
      diagonal.push_back(all.entries(s)[k * (all.ld(s) + 1)]);
  return diagonal;
}

/// Factors chains [first, end) one after the other; returns how many pivots were replaced.
int factor_chains(const Elimination& all, int first, int end, std::vector<int>& place) {
  Scratch scratch;
  int num_replaced = 0;
  for (int chain = first; chain < end; ++chain) {
    ChainWork::number_rows(all.chains, chain, place);
    ChainWork work(all, chain, place, scratch);
    for (const Strip strip : work.strips()) {
      all.poll();
      for (int s = strip.first; s < strip.end; ++s)
        work.assemble(s);
      const std::vector<double> diagonal = diagonal_of(all, strip);
      const int begin = work.first_row(strip.first);
      work.update(strip, begin, work.num_rows());
      work.update_within(strip, begin, work.num_rows());
      num_replaced += work.factor_triangle(strip, diagonal);
      work.solve(strip, begin + work.width_of(strip), work.num_rows());
    }
  }
  return num_replaced;
}

/// Calls body(work, begin, end) for parts of rows [begin, end) of a chain by all threads.
template<class Body>
void for_row_parts(const Elimination& all, int chain, const std::vector<int>& place, int begin,
                   int end, int nodes, const Body& body) {
  for_parts(std::size_t((end - begin + nodes - 1) / nodes), 1,
            [&](std::size_t first, std::size_t last) {
              Scratch scratch;
              ChainWork work(all, chain, place, scratch);
              body(work, begin + int(first) * nodes, std::min(begin + int(last) * nodes, end));
            });
}

/// Factors a chain by all threads.
int factor_chain(const Elimination& all, int chain, std::vector<int>& place) {
  ChainWork::number_rows(all.chains, chain, place);
  Scratch scratch;
  ChainWork work(all, chain, place, scratch);
  const std::vector<Strip> strips = work.strips();
  std::vector<std::vector<double>> diagonal(strips.size());
  for_parts(strips.size(), 1, [&](std::size_t begin, std::size_t end) {
    Scratch of_thread;
    ChainWork own(all, chain, place, of_thread);
    for (std::size_t i = begin; i < end; ++i) {
      for (int s = strips[i].first; s < strips[i].end; ++s)
        own.assemble(s);
      diagonal[i] = diagonal_of(all, strips[i]);
    }
  });
  // Rows of a source are spread over the chain: the more rows at a time, the longer its products.
  int num_rows = 0;
  for (const Strip strip : strips)
    num_rows += work.num_rows() - work.first_row(strip.first);
  const int nodes = std::max(block_nodes, num_rows / (8 * io_threads()));
  std::vector<std::pair<Strip, int>> part; // with its first row
  for (const Strip strip : strips)
    for (int row = work.first_row(strip.first); row < work.num_rows(); row += nodes)
      part.emplace_back(strip, row);
  for_parts(part.size(), 1, [&](std::size_t begin, std::size_t end) {
    Scratch of_thread;
    ChainWork own(all, chain, place, of_thread);
    for (std::size_t i = begin; i < end; ++i)
      own.update(part[i].first, part[i].second, std::min(part[i].second + nodes, work.num_rows()));
  });
  int num_replaced = 0;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    all.poll();
    const Strip strip = strips[i];
    const int begin = work.first_row(strip.first), below = begin + work.width_of(strip);
    for_row_parts(all, chain, place, begin, below, diagonal_nodes,
                  [&](ChainWork& own, int from, int to) { own.update_within(strip, from, to); });
    num_replaced += work.factor_triangle(strip, diagonal[i]);
    for_row_parts(all, chain, place, below, work.num_rows(), block_nodes,
                  [&](ChainWork& own, int from, int to) {
                    own.update_within(strip, from, to);
                    own.solve(strip, from, to);
                  });
  }
  return num_replaced;
}

} // namespace

int factor_on_host(const FactorPattern& pattern, const std::vector<int>& row_begin,
                   const std::vector<int>& column, const double* value, double* panel,
                   double* pivot, FactorThreads threads) {
  const PanelChains chains(pattern);
  Elimination all{pattern, chains, row_begin, column, value, panel, pivot, {}};
  if (threads == FactorThreads::all)
    all.caller = std::this_thread::get_id();
  std::vector<int> place(std::size_t(pattern.num_nodes));
  if (threads == FactorThreads::one)
    return factor_chains(all, 0, chains.count(), place);
  const PanelChains::Parts parts = chains.parts(io_threads());
  std::atomic<int> num_replaced = 0;
  for_parts(parts.subtree.size(), 1, [&](std::size_t begin, std::size_t end) {
    std::vector<int> own(place.size());
    for (std::size_t i = begin; i < end; ++i)
      num_replaced += factor_chains(all, parts.subtree[i].first, parts.subtree[i].second, own);
  });
  for (const int chain : parts.top)
    num_replaced += factor_chain(all, chain, place);
  return num_replaced;
}

} // namespace ossatura
