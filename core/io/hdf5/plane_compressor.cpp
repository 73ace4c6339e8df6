// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/hdf5/plane_compressor.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>

#include <libdeflate.h>

namespace ossatura {

namespace {

/// What deflate has to save of a plane to be worth its time, as a part of it.
constexpr double least_saving = 1.0 / 64;

/// Deflate has a code for every ten thousand bytes or more: what is there often changes along a
/// plane.
constexpr std::size_t piece = 8192;

/// Smaller planes are not told apart by how often a byte occurs, and take no time.
constexpr std::size_t least_plane = 4096;

/// A stored block of deflate (RFC 1951, 3.2.4).
constexpr std::size_t most_of_a_block = 65535, block_header = 5;

/// The header of zlib for a window of 32 kB and no particular level, and its checksum.
constexpr std::array<unsigned char, 2> zlib_header = {0x78, 0x01};
constexpr std::size_t checksum_bytes = 4;

template<std::size_t Size>
void shuffle(const unsigned char* from, std::size_t values, unsigned char* to) {
  for (std::size_t i = 0; i < values; ++i)
    for (std::size_t b = 0; b < Size; ++b)
      to[b * values + i] = from[i * Size + b];
}

void shuffle(const unsigned char* from, std::size_t values, std::size_t size, unsigned char* to) {
  switch (size) {
  case 1:
    std::copy(from, from + values, to);
    return;
  case 4:
    return shuffle<4>(from, values, to);
  case 8:
    return shuffle<8>(from, values, to);
  default:
    for (std::size_t b = 0; b < size; ++b)
      for (std::size_t i = 0; i < values; ++i)
        to[b * values + i] = from[i * size + b];
  }
}

using Histogram = std::array<std::uint32_t, 256>;

Histogram histogram_of(const unsigned char* plane, std::size_t bytes) {
  // Four, because the same byte twice in a row would wait for its own count.
  std::array<Histogram, 4> parts{};
  std::size_t i = 0;
  for (; i + 4 <= bytes; i += 4)
    for (std::size_t k = 0; k < 4; ++k)
      ++parts[k][plane[i + k]];
  for (; i < bytes; ++i)
    ++parts[0][plane[i]];
  Histogram sum{};
  for (const Histogram& part : parts)
    for (std::size_t value = 0; value < sum.size(); ++value)
      sum[value] += part[value];
  return sum;
}

/// The least bytes that any code of single bytes takes (Shannon).
double coded_bytes(const Histogram& histogram, std::size_t bytes) {
  double bits = 0;
  for (const std::uint32_t count : histogram)
    if (count > 0)
      bits -= count * std::log2(double(count) / double(bytes));
  return bits / 8;
}

/// A byte that is there as often as half of all bytes are, or more often: not that of a run.
int median_byte(const Histogram& histogram) {
  std::array<int, 256> bytes{};
  std::iota(bytes.begin(), bytes.end(), 0);
  std::nth_element(bytes.begin(), bytes.begin() + bytes.size() / 2, bytes.end(),
                   [&](int a, int b) { return histogram[a] < histogram[b]; });
  return bytes[bytes.size() / 2];
}

/// The part of the places of one byte from which four bytes occurred before. Places that are
/// chosen by what stands there are found again wherever the plane repeats itself.
double repeated_part(const unsigned char* plane, std::size_t bytes, const Histogram& histogram) {
  const int marker = median_byte(histogram);
  std::array<std::uint32_t, 4096> seen{};
  std::size_t places = 0, repeated = 0;
  const unsigned char* end = plane + bytes - sizeof(std::uint32_t);
  for (const unsigned char* at = plane; at < end; ++at) {
    at = static_cast<const unsigned char*>(std::memchr(at, marker, std::size_t(end - at)));
    if (at == nullptr)
      break;
    std::uint32_t word = 0;
    std::memcpy(&word, at, sizeof word);
    std::uint32_t& before = seen[(word * 0x9e3779b9u) >> 20]; // Fibonacci hashing
    repeated += before == word ? 1 : 0;
    before = word;
    ++places;
  }
  return places == 0 ? 0 : double(repeated) / double(places);
}

/// Whether deflate would save next to nothing of a plane.
bool is_noise(const unsigned char* plane, std::size_t bytes) {
  Histogram all{};
  double coded = 0;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t left = bytes - done, now = left < 2 * piece ? left : piece;
    const Histogram histogram = histogram_of(plane + done, now);
    coded += coded_bytes(histogram, now);
    for (std::size_t value = 0; value < all.size(); ++value)
      all[value] += histogram[value];
    done += now;
  }
  return coded > (1 - least_saving) * double(bytes) &&
         repeated_part(plane, bytes, all) < least_saving;
}

unsigned char* put_stored(const unsigned char* from, std::size_t bytes, unsigned char* to) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t now = std::min(most_of_a_block, bytes - done);
    const auto length = std::uint16_t(now), complement = std::uint16_t(~length);
    const unsigned char header[block_header] = {
        0, // stored, and not the last; fills its byte
        static_cast<unsigned char>(length), static_cast<unsigned char>(length >> 8),
        static_cast<unsigned char>(complement), static_cast<unsigned char>(complement >> 8)};
    to = std::copy_n(header, block_header, to);
    to = std::copy_n(from + done, now, to);
    done += now;
  }
  return to;
}

} // namespace

void PlaneCompressor::Free::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

PlaneCompressor::PlaneCompressor(int level)
    : compressor_(libdeflate_alloc_compressor(level))
    , level_(level) {
  if (!compressor_)
    throw std::bad_alloc();
}

void PlaneCompressor::compress(const unsigned char* values, std::size_t count,
                               std::size_t value_bytes, std::vector<unsigned char>& chunk) {
  const std::size_t bytes = count * value_bytes;
  shuffled_.resize(bytes);
  shuffle(values, count, value_bytes, shuffled_.data());

  std::size_t stored = 0;
  if (level_ <= storing_level && count >= least_plane)
    while (stored + count < bytes && is_noise(shuffled_.data() + stored, count))
      stored += count;

  const std::size_t blocks = (stored + most_of_a_block - 1) / most_of_a_block;
  chunk.resize(zlib_header.size() + blocks * block_header + stored + checksum_bytes +
               libdeflate_deflate_compress_bound(compressor_.get(), bytes - stored));
  unsigned char* to = std::copy(zlib_header.begin(), zlib_header.end(), chunk.data());
  to = put_stored(shuffled_.data(), stored, to);
  const std::size_t room = std::size_t(chunk.data() + chunk.size() - to);
  const std::size_t size = libdeflate_deflate_compress(compressor_.get(), shuffled_.data() + stored,
                                                       bytes - stored, to, room - checksum_bytes);
  OSSATURA_REQUIRE(size > 0, "libdeflate: a chunk of " << bytes << " bytes");
  to += size;
  const std::uint32_t checksum = libdeflate_adler32(1, shuffled_.data(), bytes);
  for (int shift = 24; shift >= 0; shift -= 8)
    *to++ = static_cast<unsigned char>(checksum >> shift);
  chunk.resize(std::size_t(to - chunk.data()));
}

} // namespace ossatura
