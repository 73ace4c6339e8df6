// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/options/suggest.hpp"

#include <algorithm>

namespace ossatura {

namespace {

/// Optimal string alignment distance, row by row.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> two_back, previous, current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    current[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_back = previous;
    previous = current;
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = a[i - 1] == b[j - 1];
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + !equal});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], two_back[j - 2] + 1);
    }
  }
  return current[b.size()];
}

} // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 100; // no name is; the distance takes time by both lengths
  std::string best;
  if (word.size() > longest)
    return best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // A word that is the start of a name is that name, typed in haste.
    const bool is_start = word.size() > 2 && candidate.compare(0, word.size(), word) == 0;
    const std::size_t distance = is_start ? 1 : edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

} // namespace ossatura
