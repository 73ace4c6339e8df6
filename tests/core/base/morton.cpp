// SPDX-License-Identifier: Apache-2.0
// Morton keys bit by bit, on host and device.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/core/base/morton.hpp>
#include <ossatura/core/base/vector.hpp>

#include <algorithm>
#include <vector>

namespace {

using namespace ossatura;

/// Bit 3 i + d of the key is bit i of coordinate d.
std::uint64_t interleave(int x, int y, int z) {
  const int coordinate[3] = {x, y, z};
  std::uint64_t key = 0;
  for (int bit = 0; bit < 21; ++bit)
    for (int d = 0; d < 3; ++d)
      key |= std::uint64_t(coordinate[d] >> bit & 1) << (3 * bit + d);
  return key;
}

/// Coordinates that use all 21 bits.
KOKKOS_INLINE_FUNCTION int coordinate(std::int64_t i, int d) {
  return int((i * (2654435761ll + 977 * d) >> (3 + d)) & 0x1fffff);
}

template<class Exec>
struct WriteKeys {
  Array<std::uint64_t, Exec> key;
  Array<int, Exec> back;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    key(i) = morton_key(coordinate(i, 0), coordinate(i, 1), coordinate(i, 2));
    for (int d = 0; d < 3; ++d)
      back(4 * i + d) = morton_coordinate(key(i), d);
    back(4 * i + 3) = count_ones(key(i));
  }
};

OSSATURA_BACKEND_TEST("Keys interleave the bits of the coordinates, and come apart again",
                      "[morton]") {
  const TestType exec;
  const int n = 5000;
  const auto key = make_zeros<std::uint64_t>(exec, n, "test::key");
  const auto back = make_zeros<int>(exec, 4 * n, "test::back");
  Kokkos::parallel_for("test::write_keys", range(exec, n), WriteKeys<TestType>{key, back});
  exec.fence();
  const auto keys = ossatura::test::host_values(key);
  const auto coordinates = ossatura::test::host_values(back);
  int wrong = 0, most_bits = 0;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t expected = interleave(coordinate(i, 0), coordinate(i, 1), coordinate(i, 2));
    int ones = 0;
    for (int bit = 0; bit < 64; ++bit)
      ones += int(expected >> bit & 1);
    wrong += keys[i] != expected || coordinates[4 * i + 3] != ones;
    for (int d = 0; d < 3; ++d)
      wrong += coordinates[4 * i + d] != coordinate(i, d);
    most_bits = std::max(most_bits, ones);
  }
  CHECK(wrong == 0);
  CHECK(most_bits > 40); // the sample does reach the high bits
}

template<class Exec>
struct WriteLowestOnes {
  Array<int, Exec> lowest; ///< of 1 << i, and of that with higher bits
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    lowest(2 * i) = lowest_one(std::uint32_t(1) << i);
    lowest(2 * i + 1) = lowest_one(~std::uint32_t(0) << i);
  }
};

OSSATURA_BACKEND_TEST("The lowest one bit is found among others", "[morton]") {
  const TestType exec;
  const auto lowest = make_zeros<int>(exec, 64, "test::lowest");
  Kokkos::parallel_for("test::lowest_ones", range(exec, 32), WriteLowestOnes<TestType>{lowest});
  exec.fence();
  std::vector<int> expected;
  for (int i = 0; i < 32; ++i)
    expected.insert(expected.end(), {i, i});
  CHECK(ossatura::test::host_values(lowest) == expected);
}

/// Bits of which few, half or nearly all are one.
KOKKOS_INLINE_FUNCTION std::uint64_t sample_bits(std::int64_t i) {
  std::uint64_t a = std::uint64_t(i + 1) * 0x9e3779b97f4a7c15ull, b = a * 0xbf58476d1ce4e5b9ull;
  a ^= a >> 29;
  b ^= b >> 32;
  return i % 4 == 0   ? a
         : i % 4 == 1 ? a & b & b << 7
         : i % 4 == 2 ? a | b | b << 9
                      : ~(a >> i % 64);
}

template<class Exec>
struct SelectOnes {
  Array<std::uint64_t, Exec> again; ///< of the numbers of all one bits
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t bits = sample_bits(i);
    int last = -1;
    for (int rank = 0; rank < count_ones(bits); ++rank) {
      const int number = select_one(bits, rank);
      again(i) |= number > last && number < 64 ? std::uint64_t(1) << number : 0;
      last = number;
    }
  }
};

OSSATURA_BACKEND_TEST("One bits are found by how many are below them", "[morton]") {
  const TestType exec;
  const int n = 4000;
  const auto again = make_zeros<std::uint64_t>(exec, n, "test::again");
  Kokkos::parallel_for("test::select_ones", range(exec, n), SelectOnes<TestType>{again});
  exec.fence();
  const auto found = ossatura::test::host_values(again);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += found[i] != sample_bits(i);
  CHECK(wrong == 0);
  CHECK(select_one(~0ull, 63) == 63);
  CHECK(select_one(1ull << 63, 0) == 63);
  CHECK(select_one(1, 0) == 0);
}

OSSATURA_BACKEND_TEST("Keys by pencil and paper", "[morton]") {
  CHECK(morton_key(0, 0, 0) == 0);
  CHECK(morton_key(1, 0, 0) == 1);
  CHECK(morton_key(0, 1, 0) == 2);
  CHECK(morton_key(0, 0, 1) == 4);
  CHECK(morton_key(3, 5, 1) == 0b010001111); // x = 011, y = 101, z = 001
  CHECK(morton_key(0x1fffff, 0x1fffff, 0x1fffff) == 0x7fffffffffffffff);
}

} // namespace
