// SPDX-License-Identifier: Apache-2.0
// The decoder turns base64 into bytes piece by piece. Stretches that were encoded one by one, each
// with its own padding, may follow one another as if they were one.
#pragma once

#include <cstddef>
#include <string_view>

namespace ossatura {

class Base64Reader {
public:
  explicit Base64Reader(std::string_view text)
      : text_(text) {}

  /// Decodes exactly `count` bytes; false where there are fewer or a character is none of base64.
  /// Blanks and line ends are passed.
  bool read(unsigned char* bytes, std::size_t count);
  /// The most bytes that may follow.
  std::size_t num_left() const { return num_ready_ - num_taken_ + text_.size() / 4 * 3; }

private:
  bool decode_group();

  std::string_view text_;
  unsigned char ready_[3] = {};
  std::size_t num_ready_ = 0;
  std::size_t num_taken_ = 0;
};

} // namespace ossatura
