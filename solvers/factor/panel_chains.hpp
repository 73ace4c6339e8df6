// SPDX-License-Identifier: Apache-2.0
// Panels of a wide supernode are a chain: each continues the one before it, with the same rows
// below all of them. A factor on cores takes a chain for what it is, one matrix with many columns.
#pragma once

#include <ossatura/kernels/factor/pattern.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace ossatura {

/// Rows of chain `source` from number `begin` of its rows below on belong to columns of the chain
/// that the update is listed with.
struct ChainUpdate {
  int source, begin;
};

/// Host memory. It refers to the pattern that it is of.
class PanelChains {
public:
  explicit PanelChains(const FactorPattern& pattern);

  int count() const { return int(first_.size()) - 1; }
  int first_panel(int chain) const { return first_[std::size_t(chain)]; }
  int end_panel(int chain) const { return first_[std::size_t(chain) + 1]; }
  int first_node(int chain) const { return pattern_.first[std::size_t(first_panel(chain))]; }
  int end_node(int chain) const { return pattern_.first[std::size_t(end_panel(chain))]; }
  int num_below(int chain) const { return pattern_.num_below(end_panel(chain) - 1); }
  const int* below(int chain) const { ///< nodes, ascending
    return pattern_.row.data() + pattern_.row_begin[std::size_t(end_panel(chain)) - 1];
  }

  /// Updates of `chain`, by ascending sources.
  const ChainUpdate* updates_begin(int chain) const {
    return update_.data() + update_begin_[std::size_t(chain)];
  }
  const ChainUpdate* updates_end(int chain) const {
    return update_.data() + update_begin_[std::size_t(chain) + 1];
  }

  /// Cuts the forest for so many threads, or fewer where it is small: subtrees, the largest first,
  /// each with its chains contiguous and none of them large, and the chains above all of these,
  /// ascending.
  struct Parts {
    std::vector<std::pair<int, int>> subtree; ///< [first chain, end)
    std::vector<int> top;
  };
  Parts parts(int threads) const;

private:
  const FactorPattern& pattern_;
  std::vector<int> first_;                 ///< [count + 1], panels
  std::vector<std::int64_t> update_begin_; ///< [count + 1]
  std::vector<ChainUpdate> update_;
  std::vector<int> parent_;        ///< [count], -1: none
  std::vector<int> subtree_first_; ///< [count], the first chain of the subtree that it ends
  std::vector<double> flops_;      ///< [count + 1], running sums
};

} // namespace ossatura
