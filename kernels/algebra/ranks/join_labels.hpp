// SPDX-License-Identifier: Apache-2.0
// Labels of the same thing are joined, on the host: processes name what they have each for itself,
// and find out by pairs of labels which of it is one.
#pragma once

#include <ossatura/kernels/algebra/union_find.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ossatura {

/// Two labels of one thing.
struct SameLabel {
  std::int64_t a, b;
  bool operator<(const SameLabel& other) const {
    return a < other.a || (a == other.a && b < other.b);
  }
  bool operator==(const SameLabel& other) const { return a == other.a && b == other.b; }
};

/// Sorts, without repetitions.
inline void sort_unique(std::vector<SameLabel>& same) {
  std::sort(same.begin(), same.end());
  same.erase(std::unique(same.begin(), same.end()), same.end());
}

/// The labels of pairs, and the smallest label of the thing that each names.
class JoinedLabels {
public:
  explicit JoinedLabels(const std::vector<SameLabel>& same) {
    for (const SameLabel& pair : same) {
      label_.push_back(pair.a);
      label_.push_back(pair.b);
    }
    std::sort(label_.begin(), label_.end());
    label_.erase(std::unique(label_.begin(), label_.end()), label_.end());
    parent_.resize(label_.size());
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const SameLabel& pair : same)
      detail::unite(parent_.data(), place(pair.a), place(pair.b));
    for (std::int64_t& i : parent_)
      i = detail::find_root(parent_.data(), i);
  }

  /// Those of the pairs, ascending.
  const std::vector<std::int64_t>& labels() const { return label_; }

  /// The smallest label of the same thing; `label` itself where it is in no pair.
  std::int64_t root(std::int64_t label) const {
    const std::int64_t i = place(label);
    return i < std::int64_t(label_.size()) && label_[std::size_t(i)] == label
               ? label_[std::size_t(parent_[std::size_t(i)])]
               : label;
  }

private:
  std::vector<std::int64_t> label_, parent_; ///< parent_: places in label_

  std::int64_t place(std::int64_t label) const {
    return std::lower_bound(label_.begin(), label_.end(), label) - label_.begin();
  }
};

} // namespace ossatura
