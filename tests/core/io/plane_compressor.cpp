// SPDX-License-Identifier: Apache-2.0
// Streams of shuffled chunks: zlib's decoder gives the planes back, noise is stored, what repeats
// itself is not, and the stream is nearly as small as that of deflate alone.
#include "tests/catch.hpp"
#include <ossatura/core/io/hdf5/plane_compressor.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <libdeflate.h>

namespace {

using namespace ossatura;
using PlaneBytes = std::vector<unsigned char>;

/// By the definition.
PlaneBytes shuffled_planes(const PlaneBytes& values, std::size_t value_bytes) {
  const std::size_t count = values.size() / value_bytes;
  PlaneBytes planes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    planes[i % value_bytes * count + i / value_bytes] = values[i];
  return planes;
}

PlaneBytes compressed_planes(const PlaneBytes& values, std::size_t value_bytes, int level) {
  PlaneBytes chunk(17, 1); // what was there before
  PlaneCompressor(level).compress(values.data(), values.size() / value_bytes, value_bytes, chunk);
  return chunk;
}

/// Of exactly `bytes`, with the checksum in order.
PlaneBytes inflated_planes(const PlaneBytes& chunk, std::size_t bytes) {
  PlaneBytes planes(bytes);
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  const libdeflate_result result = libdeflate_zlib_decompress(
      decompressor, chunk.data(), chunk.size(), planes.data(), planes.size(), nullptr);
  libdeflate_free_decompressor(decompressor);
  CHECK(result == LIBDEFLATE_SUCCESS);
  return planes;
}

std::size_t deflated_bytes(const PlaneBytes& planes, int level) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(level);
  PlaneBytes stream(libdeflate_zlib_compress_bound(compressor, planes.size()));
  const std::size_t size = libdeflate_zlib_compress(compressor, planes.data(), planes.size(),
                                                    stream.data(), stream.size());
  libdeflate_free_compressor(compressor);
  return size;
}

/// Whether the stream begins with a stored block, behind the header of zlib: its first byte.
bool begins_stored(const PlaneBytes& chunk) {
  return chunk[2] == 0;
}

template<class Scalar, class Value>
PlaneBytes bytes_of_values(std::size_t count, const Value& value) {
  PlaneBytes values(count * sizeof(Scalar));
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = Scalar(value(i));
    std::memcpy(values.data() + i * sizeof x, &x, sizeof x);
  }
  return values;
}

/// Round trip, and at most 1/64 of the bytes more than deflate alone.
void check_planes(const PlaneBytes& values, std::size_t value_bytes, bool stored) {
  const PlaneBytes planes = shuffled_planes(values, value_bytes);
  const PlaneBytes chunk = compressed_planes(values, value_bytes, 2);
  CHECK(begins_stored(chunk) == stored);
  CHECK(inflated_planes(chunk, planes.size()) == planes);
  CHECK(double(chunk.size()) <=
        double(deflated_bytes(planes, 2)) + double(planes.size()) / 64 + 16);
}

} // namespace

TEST_CASE("Noise of results is stored, at the edges of blocks too", "[plane_compressor]") {
  std::mt19937_64 random(7);
  const auto result = [&](std::size_t i) {
    return std::sin(1e-3 * double(i)) * (1 + 1e-4 * double(random() >> 11) / double(1ull << 53));
  };
  for (const std::size_t count : {4096u, 5000u, 16383u, 21845u, 65535u, 65536u, 131072u, 200001u}) {
    INFO(count << " values");
    check_planes(bytes_of_values<double>(count, result), 8, true);
    check_planes(bytes_of_values<float>(count, result), 4, true);
  }
  // Deflate would take the time to look at all of them, for the bytes that it takes as well.
  const PlaneBytes values = bytes_of_values<double>(100000, result);
  CHECK(compressed_planes(values, 8, 2).size() <=
        deflated_bytes(shuffled_planes(values, 8), 2) + 200);
}

TEST_CASE("Few values are deflated as they are", "[plane_compressor]") {
  std::mt19937_64 random(7);
  for (const std::size_t count : {1u, 2u, 7u, 4095u})
    check_planes(bytes_of_values<std::uint64_t>(count, [&](std::size_t) { return random(); }), 8,
                 false);
}

TEST_CASE("Random bits are stored but for the last plane", "[plane_compressor]") {
  std::mt19937_64 random(7);
  for (const std::size_t value_bytes : {2u, 3u, 4u, 8u}) {
    PlaneBytes values(value_bytes * 70000);
    for (unsigned char& byte : values)
      byte = static_cast<unsigned char>(random());
    check_planes(values, value_bytes, true);
  }
  PlaneBytes bytes(70000);
  for (unsigned char& byte : bytes)
    byte = static_cast<unsigned char>(random());
  const PlaneBytes chunk = compressed_planes(bytes, 1, 2);
  CHECK(inflated_planes(chunk, bytes.size()) == bytes);
}

TEST_CASE("What repeats itself is not taken for noise", "[plane_compressor]") {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> period(3001);
  for (std::uint64_t& value : period)
    value = random();
  // Every byte is there as often as any other, and all come again after 3001 values.
  const PlaneBytes periodic = bytes_of_values<std::uint64_t>(
      60000, [&](std::size_t i) { return period[i % period.size()]; });
  check_planes(periodic, 8, false);
  CHECK(compressed_planes(periodic, 8, 2).size() < periodic.size() / 8);
  check_planes(bytes_of_values<double>(60000, [](std::size_t i) { return i / 7; }), 8, false);
  check_planes(bytes_of_values<std::int64_t>(60000, [](std::size_t i) { return i * 7; }), 8, false);
  check_planes(PlaneBytes(8 * 60000, 0), 8, false);
}

TEST_CASE("Where bytes count more than time, deflate looks at all", "[plane_compressor]") {
  std::mt19937_64 random(7);
  const PlaneBytes values = bytes_of_values<double>(50000, [&](std::size_t i) {
    return std::sin(1e-3 * double(i)) + 1e-9 * double(random() >> 40);
  });
  const PlaneBytes planes = shuffled_planes(values, 8);
  CHECK(compressed_planes(values, 8, 8).size() == deflated_bytes(planes, 8));
  CHECK(inflated_planes(compressed_planes(values, 8, 8), planes.size()) == planes);
}
