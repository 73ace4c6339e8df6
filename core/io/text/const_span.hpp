// SPDX-License-Identifier: Apache-2.0
// A ConstSpan is a view of contiguous values in host memory, for writers. (std::span comes with
// C++20.)
#pragma once

#include <cstddef>
#include <vector>

namespace ossatura {

template<class T>
struct ConstSpan {
  const T* data = nullptr;
  std::size_t size = 0;

  ConstSpan() = default;
  ConstSpan(const T* values, std::size_t count)
      : data(values)
      , size(count) {}
  ConstSpan(const std::vector<T>& values)
      : data(values.data())
      , size(values.size()) {}
};

} // namespace ossatura
