// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/vtk/base64.hpp>

#include <array>

namespace ossatura {
namespace {

constexpr unsigned char no_digit = 64;

constexpr std::array<unsigned char, 256> make_digits() {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<unsigned char, 256> digit{};
  for (std::size_t i = 0; i < 256; ++i)
    digit[i] = no_digit;
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    digit[static_cast<unsigned char>(alphabet[i])] = static_cast<unsigned char>(i);
  return digit;
}
constexpr std::array<unsigned char, 256> digits = make_digits();

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

} // namespace

bool Base64Reader::decode_group() {
  unsigned value = 0;
  std::size_t num_digits = 0, num_padding = 0;
  while (num_digits + num_padding < 4) {
    if (text_.empty())
      return false;
    const char c = text_.front();
    text_.remove_prefix(1);
    if (is_space(c))
      continue;
    const unsigned char digit = digits[static_cast<unsigned char>(c)];
    if (c == '=' && num_digits >= 2) {
      ++num_padding;
    } else if (digit != no_digit && num_padding == 0) {
      value |= unsigned(digit) << (18 - 6 * num_digits);
      ++num_digits;
    } else {
      return false;
    }
  }
  ready_[0] = static_cast<unsigned char>(value >> 16);
  ready_[1] = static_cast<unsigned char>(value >> 8);
  ready_[2] = static_cast<unsigned char>(value);
  num_ready_ = num_digits - 1;
  num_taken_ = 0;
  return true;
}

bool Base64Reader::read(unsigned char* bytes, std::size_t count) {
  while (count > 0) {
    if (num_taken_ == num_ready_ && !decode_group())
      return false;
    *bytes++ = ready_[num_taken_++];
    --count;
  }
  return true;
}

} // namespace ossatura
