// SPDX-License-Identifier: Apache-2.0
// This function writes pictures as PNG [1].
//
// [1] Portable Network Graphics (PNG) Specification, third edition, W3C, www.w3.org/TR/png-3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

using Rgb = std::array<std::uint8_t, 3>;

/// A picture of `width` x `height` pixels, row by row from the top.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<Rgb> pixel; ///< [height * width]

  RgbImage() = default;
  RgbImage(int columns, int rows, Rgb colour)
      : width(columns)
      , height(rows)
      , pixel(std::size_t(columns) * std::size_t(rows), colour) {}
  /// The pixel in a column and a row; both are inside.
  Rgb& at(int x, int y) { return pixel[std::size_t(x) + std::size_t(y) * std::size_t(width)]; }
};

/// Writes a picture with 8 bits for each of red, green and blue, compressed without a filter, which
/// suits pictures of few colours. Throws InputError where it cannot be written.
void write_png(const std::string& path, const RgbImage& image);

} // namespace ossatura
