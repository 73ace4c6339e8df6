// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/png_output.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <libdeflate.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>

namespace ossatura {

namespace {

void put_big_endian(std::string& bytes, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(char(number >> shift & 0xff));
}

/// Appends a chunk: length, type, data, and the checksum of the last two.
void put_chunk(std::string& bytes, const char* type, const std::string& data) {
  put_big_endian(bytes, std::uint32_t(data.size()));
  const std::string checked = type + data;
  bytes += checked;
  put_big_endian(bytes, libdeflate_crc32(0, checked.data(), checked.size()));
}

/// Rows as PNG has them, each behind the number of its filter: 0, none.
std::string scan_lines(const RgbImage& image) {
  std::string lines;
  lines.reserve((3 * std::size_t(image.width) + 1) * std::size_t(image.height));
  for (std::size_t i = 0; i < image.pixel.size(); ++i) {
    if (i % std::size_t(image.width) == 0)
      lines.push_back(0);
    for (const std::uint8_t part : image.pixel[i])
      lines.push_back(char(part));
  }
  return lines;
}

std::string compressed(const std::string& data) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(6), &libdeflate_free_compressor);
  if (!compressor)
    throw std::bad_alloc();
  std::string bytes(libdeflate_zlib_compress_bound(compressor.get(), data.size()), '\0');
  bytes.resize(libdeflate_zlib_compress(compressor.get(), data.data(), data.size(), bytes.data(),
                                        bytes.size()));
  return bytes;
}

} // namespace

void write_png(const std::string& path, const RgbImage& image) {
  OSSATURA_REQUIRE(image.width > 0 && image.height > 0 &&
                       image.pixel.size() == std::size_t(image.width) * std::size_t(image.height),
                   image.pixel.size() << " pixels of " << image.width << " x " << image.height);
  std::string header;
  put_big_endian(header, std::uint32_t(image.width));
  put_big_endian(header, std::uint32_t(image.height));
  header += {8, 2, 0, 0, 0}; // bits, red green blue, deflate, filters, not interlaced
  std::string bytes = "\x89PNG\r\n\x1a\n";
  put_chunk(bytes, "IHDR", header);
  put_chunk(bytes, "IDAT", compressed(scan_lines(image)));
  put_chunk(bytes, "IEND", {});

  AtomicFile atomic(path);
  std::ofstream file(atomic.temporary_path(), std::ios::binary);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  file.close();
  if (!file)
    fail<InputError>(path, ": cannot be written: ", std::strerror(errno));
  atomic.commit();
}

} // namespace ossatura
