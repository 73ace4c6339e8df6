// SPDX-License-Identifier: Apache-2.0
// A content hash tells contents apart: XXH64 with seed 0, as `xxh64sum` prints it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace ossatura {

class ContentHash {
public:
  ContentHash();
  ~ContentHash();

  void add_bytes(const void* data, std::size_t bytes);
  /// A number, or the entries of a list after their count, so that two lists are not one.
  template<class Number>
  void add(const Number& value) {
    static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>, "no padding is hashed");
    add_bytes(&value, sizeof value);
  }
  template<class Number>
  void add(const std::vector<Number>& values) {
    static_assert(std::is_arithmetic_v<Number>, "no padding is hashed");
    add(values.size());
    add_bytes(values.data(), values.size() * sizeof(Number));
  }
  void add(const std::string& text) {
    add(text.size());
    add_bytes(text.data(), text.size());
  }

  /// 16 hexadecimal digits, of all that was added.
  std::string digits() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace ossatura
