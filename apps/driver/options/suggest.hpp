// SPDX-License-Identifier: Apache-2.0
// did_you_mean names the word that a user probably meant.
#pragma once

#include <string>
#include <vector>

namespace ossatura {

/// The candidate closest to `word` by edit distance (insertions, deletions, substitutions and swaps
/// of neighbours), the first of equals; empty where none is close enough to be a misspelling, and
/// for words longer than any name.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" or nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

} // namespace ossatura
