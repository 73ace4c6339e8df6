// SPDX-License-Identifier: Apache-2.0
// Named values are the names of a choice, which JSON files and options share.
#pragma once

#include <utility>
#include <vector>

namespace ossatura {

template<class Value>
using NamedValues = std::vector<std::pair<const char*, Value>>;

/// Each of `values` with its name_of().
template<class Value>
NamedValues<Value> with_names(const std::vector<Value>& values) {
  NamedValues<Value> named;
  for (const Value value : values)
    named.emplace_back(name_of(value), value);
  return named;
}

} // namespace ossatura
