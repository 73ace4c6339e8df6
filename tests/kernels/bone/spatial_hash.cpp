// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/bone/published/spatial_hash.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_values;

std::vector<float> random_values(std::array<int, 3> shape, double density, unsigned seed) {
  const std::size_t num_voxels = std::size_t(shape[0]) * shape[1] * shape[2];
  std::vector<float> values(num_voxels);
  std::mt19937 random(seed);
  for (float& value : values)
    value = random() / 4294967296.0 < density ? 1.0f : 0.0f;
  values[values.size() / 2] = 1;
  return values;
}

template<class Exec>
struct FindNodes {
  VoxelGrid<Exec> grid;
  SpatialHash<Exec> hash;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& wrong) const {
    const Site s = grid.site(int(node));
    wrong += hash.find(s.x, s.y, s.z) != int(node);
  }
};

template<class Exec>
std::int64_t count_wrong(const Exec& exec, const VoxelGrid<Exec>& grid,
                         const SpatialHash<Exec>& hash) {
  std::int64_t wrong = -1;
  Kokkos::parallel_reduce("test::find_nodes", range(exec, grid.num_nodes),
                          FindNodes<Exec>{grid, hash}, wrong);
  return wrong;
}

OSSATURA_BACKEND_TEST("Every node is found at its place", "[spatial_hash]") {
  const TestType exec;
  unsigned seed = 0;
  for (const auto& shape : {std::array<int, 3>{1, 1, 1},
                            {31, 31, 31},
                            {32, 2, 2},
                            {2, 33, 40},
                            {66, 31, 5},
                            {1, 1, 900}})
    for (double density : {0.001, 0.03, 0.2, 0.6, 1.0}) {
      INFO(shape[0] << " x " << shape[1] << " x " << shape[2] << ", density " << density);
      const auto grid =
          make_voxel_grid(exec, device_image(exec, shape, random_values(shape, density, ++seed)));
      const auto hash = make_spatial_hash(exec, grid);
      CHECK(count_wrong(exec, grid, hash) == 0);
      // H is at most a quarter larger than the nodes, Phi at most an offset for each.
      CHECK(std::int64_t(hash.entry.extent(0)) <= std::int64_t(grid.num_nodes) * 5 / 4);
      CHECK(std::int64_t(hash.offset.extent(0)) <=
            std::int64_t(2 * grid.num_nodes) + 2 * std::int64_t(hash.cube.extent(0)));
    }
}

OSSATURA_BACKEND_TEST("The tables are the same in every run", "[spatial_hash]") {
  const TestType exec;
  const std::array<int, 3> shape{40, 35, 20};
  const auto grid = make_voxel_grid(exec, device_image(exec, shape, random_values(shape, 0.1, 5)));
  // Unused slots of H hold anything; offsets say where each key is.
  const auto first = make_spatial_hash(exec, grid), second = make_spatial_hash(exec, grid);
  CHECK(host_values(first.offset).size() > 1000);
  CHECK(host_values(first.offset) == host_values(second.offset));
  CHECK(host_values(first.entry).size() == host_values(second.entry).size());
}

OSSATURA_BACKEND_TEST("A table that cannot be filled is an error", "[spatial_hash]") {
  const TestType exec;
  const std::array<int, 3> shape{30, 30, 30};
  const auto grid = make_voxel_grid(exec, device_image(exec, shape, random_values(shape, 0.05, 5)));
  SpatialHashOptions options;
  options.keys_per_offset = 1000; // one attempt with three offsets for thousands of keys
  options.max_attempts = 1;
  CHECK_THROWS_WITH(make_spatial_hash(exec, grid, options), ContainsSubstring("1 attempts"));
  // From there it gets to the end by growth.
  options.max_attempts = 80;
  CHECK(count_wrong(exec, grid, make_spatial_hash(exec, grid, options)) == 0);
  options.max_attempts = 0;
  CHECK_THROWS_AS(make_spatial_hash(exec, grid, options), std::invalid_argument);
  options = {};
  options.growth = 0.9;
  CHECK_THROWS_AS(make_spatial_hash(exec, grid, options), std::invalid_argument);
}

/// Places `keys` in tables of the given sizes; empty if that fails.
std::vector<std::uint16_t> try_hash(const std::vector<std::uint16_t>& keys, std::uint32_t entries,
                                    std::uint32_t offsets, std::vector<std::uint16_t>& offset) {
  std::vector<std::uint16_t> words(4 * detail::hash_num_keys);
  std::vector<std::uint32_t> bits(detail::hash_num_keys / 32);
  std::copy(keys.begin(), keys.end(), words.begin());
  const detail::HashWorkspace w{words.data(), &words[detail::hash_num_keys],
                                &words[2 * detail::hash_num_keys],
                                &words[3 * detail::hash_num_keys], bits.data()};
  detail::HashCube cube{};
  cube.entries = detail::Modulus::of(entries);
  cube.offsets = detail::Modulus::of(offsets);
  cube.num_nodes = int(keys.size());
  offset.assign(offsets, 0);
  std::vector<std::uint16_t> entry(entries, 0xffff);
  return detail::build_hash(w, cube, offset.data(), entry.data()) ? entry
                                                                  : std::vector<std::uint16_t>();
}

OSSATURA_BACKEND_TEST("Three keys of pencil and paper", "[spatial_hash]") {
  // |H| = 3, |Phi| = 2, keys 0, 3, 4. Offsets are shared by {0, 4} (even) and {3} (odd). The pair
  // takes slots 0 and 4 mod 3 = 1 with offset 0; 3 mod 3 = 0 is taken, so 3 goes to the free slot
  // 2 with offset 2.
  std::vector<std::uint16_t> offset;
  const auto entry = try_hash({0, 3, 4}, 3, 2, offset);
  CHECK(offset == std::vector<std::uint16_t>{0, 2});
  CHECK(entry == std::vector<std::uint16_t>{0, 2, 1});
  // Keys 0 and 6 agree modulo 3 and modulo 2: nothing tells them apart.
  CHECK(try_hash({0, 6}, 3, 2, offset).empty());
  // More keys than slots.
  CHECK(try_hash({0, 1, 2, 3}, 3, 4, offset).empty());
}

OSSATURA_BACKEND_TEST("An offset per key always suffices", "[spatial_hash]") {
  std::mt19937 random(3);
  for (int n : {1, 2, 100, 5000, 32768}) {
    std::set<std::uint16_t> chosen;
    while (int(chosen.size()) < n)
      chosen.insert(std::uint16_t(n == 32768 ? chosen.size() : random() % 32768));
    const std::vector<std::uint16_t> keys(chosen.begin(), chosen.end());
    std::vector<std::uint16_t> offset;
    const auto entry = try_hash(keys, std::uint32_t(n), 32768, offset); // a minimal table
    REQUIRE(int(entry.size()) == n);
    std::set<std::uint16_t> slots(entry.begin(), entry.end());
    CHECK(int(slots.size()) == n);
    CHECK(*slots.rbegin() == n - 1);
  }
}

OSSATURA_BACKEND_TEST("Keys are the low bits of the node order", "[spatial_hash]") {
  std::int64_t wrong = 0;
  for (int z = 0; z < 70; ++z)
    for (int y = 0; y < 70; ++y)
      for (int x = 0; x < 70; ++x)
        wrong += detail::hash_key(x, y, z) != (node_order(x, y, z) & 32767);
  CHECK(wrong == 0);
}

OSSATURA_BACKEND_TEST("Remainders by multiplication are remainders", "[spatial_hash]") {
  std::int64_t wrong = 0;
  for (std::uint32_t d : {1u, 2u, 3u, 7u, 255u, 4095u, 32767u, 32768u, 40961u, 65535u}) {
    const auto modulus = detail::Modulus::of(d);
    for (std::uint32_t k = 0; k < 65536; ++k)
      wrong += modulus(k) != k % d;
  }
  for (std::uint32_t d = 1; d < 65536; d += 5)
    for (std::uint32_t k : {0u, 1u, d - 1, d, (65535 / d) * d, 65535u})
      wrong += detail::Modulus::of(d)(k) != k % d;
  CHECK(wrong == 0);
}

} // namespace
