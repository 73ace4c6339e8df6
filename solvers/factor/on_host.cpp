// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/factor/on_host.hpp>

#include <ossatura/core/base/region_poll.hpp>
#include <ossatura/kernels/factor/pivot_rule.hpp>
#include <ossatura/solvers/factor/host_factor_products.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// One panel after the other; `Descendants` are those whose rows reach the panel in work.
class LeftLooking {
public:
  LeftLooking(const FactorPattern& pattern, HostFactor& factor)
      : pattern_(pattern)
      , factor_(factor)
      , place_(std::size_t(pattern.num_nodes))
      , next_row_(std::size_t(pattern.num_panels()))
      , first_in_list_(std::size_t(pattern.num_panels()), -1)
      , next_in_list_(std::size_t(pattern.num_panels()), -1) {}

  void assemble(int s, const std::vector<int>& row_begin, const std::vector<int>& column,
                const double* value) {
    const int first = pattern_.first[s], width = pattern_.width(s), height = pattern_.height(s);
    for (int i = 0; i < width; ++i)
      place_[first + i] = i;
    for (int k = 0; k < height - width; ++k)
      place_[pattern_.row[pattern_.row_begin[s] + k]] = width + k;
    double* const panel = factor_.panel.data() + pattern_.begin[s];
    std::fill(panel, panel + 9 * std::ptrdiff_t(height) * width, 0.0);
    // By symmetry the blocks right of the diagonal in row j are those below it in column j.
    for (int j = first; j < first + width; ++j)
      for (int k = row_begin[j]; k < row_begin[j + 1]; ++k) {
        if (column[k] < j)
          continue;
        double* const block = panel + 9 * std::ptrdiff_t(height) * (j - first) +
                              3 * std::ptrdiff_t(place_[column[k]]);
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r)
            block[3 * height * c + r] = value[9 * std::ptrdiff_t(k) + 3 * c + r];
      }
  }

  /// Subtracts what the columns of the descendants contribute.
  void update(int s) {
    const int first = pattern_.first[s], width = pattern_.width(s), height = pattern_.height(s);
    double* const panel = factor_.panel.data() + pattern_.begin[s];
    for (int d = first_in_list_[s], next; d >= 0; d = next) {
      next = next_in_list_[d];
      const int* const rows = pattern_.row.data() + pattern_.row_begin[d];
      const int below = pattern_.num_below(d), begin = next_row_[d];
      int end = begin;
      while (end < below && rows[end] < first + width)
        ++end;
      const int m = 3 * (below - begin), n = 3 * (end - begin), k = 3 * pattern_.width(d);
      const std::ptrdiff_t ld = 3 * pattern_.height(d);
      const double* const source =
          factor_.panel.data() + pattern_.begin[d] + 3 * (pattern_.width(d) + begin);
      const double* const pivot = factor_.pivot.data() + 3 * pattern_.first[d];
      make_room(std::size_t(n) * k, std::size_t(m) * n);
      for (int l = 0; l < k; ++l)
        for (int j = 0; j < n; ++j)
          scaled_[std::size_t(l) * n + j] = source[l * ld + j] * pivot[l];
      transposed_product(n, m, k, scaled_.data(), n, source, ld, product_.data(), m);
      for (int j = 0; j < n; ++j) {
        double* const target =
            panel + 3 * std::ptrdiff_t(height) * (3 * (rows[begin + j / 3] - first) + j % 3);
        const double* const from = product_.data() + std::ptrdiff_t(j) * m;
        for (int i = j / 3, next; i < m / 3; i = next) { // as many rows as lie side by side
          const int place = place_[rows[begin + i]];
          for (next = i + 1; next < m / 3 && place_[rows[begin + next]] == place + next - i;)
            ++next;
          subtract_scaled(3 * (next - i), 1., from + 3 * i, target + 3 * place);
        }
      }
      next_row_[d] = end;
      list(d);
    }
  }

  /// Factors the panel where it lies, a few columns at a time: first what the columns before them
  /// contribute, all at once, then column by column.
  void eliminate(int s) {
    constexpr int group = 6;
    const std::ptrdiff_t ld = 3 * pattern_.height(s);
    const int n = 3 * pattern_.width(s);
    double* const panel = factor_.panel.data() + pattern_.begin[s];
    double* const pivot = factor_.pivot.data() + 3 * pattern_.first[s];
    for (int first = 0; first < n; first += group) {
      const int last = std::min(first + group, n), rows = int(ld) - first;
      if (first > 0)
        subtract_columns(panel, ld, pivot, first, last, rows);
      for (int k = first; k < last; ++k) {
        double* const own = panel + k * ld;
        for (int l = first; l < k; ++l) {
          const double* const other = panel + l * ld;
          subtract_scaled(int(ld) - k, other[k] * pivot[l], other + k, own + k);
        }
        const bool replaced = !(own[k] > smallest_pivot * std::abs(diagonal_[k]));
        factor_.num_replaced += replaced;
        pivot[k] = replaced ? replacement_pivot(diagonal_[k]) : own[k];
        const double inverse = 1 / pivot[k];
        std::fill(own, own + k, 0.0);
        own[k] = 1;
        scale_entries(int(ld) - k - 1, inverse, own + k + 1);
      }
    }
    next_row_[s] = 0;
    list(s);
  }

  void keep_diagonal(int s) {
    const std::ptrdiff_t ld = 3 * pattern_.height(s);
    diagonal_.resize(std::size_t(3) * pattern_.width(s));
    for (std::size_t k = 0; k < diagonal_.size(); ++k)
      diagonal_[k] = factor_.panel[std::size_t(pattern_.begin[s] + std::ptrdiff_t(k) * (ld + 1))];
  }

private:
  /// Only ever more: what is new is filled with zeros.
  void make_room(std::size_t scaled, std::size_t product) {
    if (scaled_.size() < scaled)
      scaled_.resize(scaled);
    if (product_.size() < product)
      product_.resize(product);
  }

  /// Subtracts the columns before `first` from those up to `last`, in the rows from `first` on.
  void subtract_columns(double* panel, std::ptrdiff_t ld, const double* pivot, int first, int last,
                        int rows) {
    const int n = last - first;
    make_room(std::size_t(first) * n, std::size_t(rows) * n);
    for (int l = 0; l < first; ++l)
      for (int j = 0; j < n; ++j)
        scaled_[std::size_t(l) * n + j] = panel[l * ld + first + j] * pivot[l];
    transposed_product(n, rows, first, scaled_.data(), n, panel + first, ld, product_.data(), rows);
    for (int j = 0; j < n; ++j) // above the diagonal there is nothing to keep
      subtract_scaled(rows, 1., product_.data() + std::ptrdiff_t(j) * rows,
                      panel + (first + j) * ld + first);
  }

  /// Puts panel d into the list of the panel that its next row belongs to.
  void list(int d) {
    if (next_row_[d] == pattern_.num_below(d))
      return;
    const int s = pattern_.panel_of[pattern_.row[pattern_.row_begin[d] + next_row_[d]]];
    next_in_list_[d] = first_in_list_[s];
    first_in_list_[s] = d;
  }

  const FactorPattern& pattern_;
  HostFactor& factor_;
  std::vector<int> place_; ///< of a node in the panel in work, nodes
  std::vector<int> next_row_, first_in_list_, next_in_list_;
  std::vector<double> scaled_, product_, diagonal_;
};

} // namespace

void factor_on_host(const FactorPattern& pattern, const std::vector<int>& row_begin,
                    const std::vector<int>& column, const double* value, HostFactor& factor,
                    bool polls) {
  factor.panel.resize(std::size_t(pattern.begin.back()));
  factor.pivot.resize(std::size_t(3) * pattern.num_nodes);
  factor.num_replaced = 0;
  LeftLooking work(pattern, factor);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    if (polls)
      poll_region();
    work.assemble(s, row_begin, column, value);
    work.keep_diagonal(s);
    work.update(s);
    work.eliminate(s);
  }
}

} // namespace ossatura
