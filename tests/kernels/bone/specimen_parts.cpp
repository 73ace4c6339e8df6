// SPDX-License-Identifier: Apache-2.0
// The parts of specimens, beside a plain walk over voxels that share a corner.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/bone/loads/parts.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using namespace ossatura;

/// The part of each voxel of an image, -1 in void, numbered by their first voxels.
std::vector<int> parts_by_walks(const reference::Model& model) {
  const int nx = model.shape[0], ny = model.shape[1], nz = model.shape[2];
  std::vector<int> part(model.modulus.size(), -1), open;
  int count = 0;
  for (int first = 0; first < int(part.size()); ++first) {
    if (!(model.modulus[std::size_t(first)] > 0) || part[std::size_t(first)] >= 0)
      continue;
    part[std::size_t(first)] = count;
    for (open = {first}; !open.empty();) {
      const int at = open.back();
      open.pop_back();
      const int x = at % nx, y = at / nx % ny, z = at / (nx * ny);
      for (int c = std::max(z - 1, 0); c <= std::min(z + 1, nz - 1); ++c)
        for (int b = std::max(y - 1, 0); b <= std::min(y + 1, ny - 1); ++b)
          for (int a = std::max(x - 1, 0); a <= std::min(x + 1, nx - 1); ++a) {
            const int other = a + nx * (b + ny * c);
            if (model.modulus[std::size_t(other)] > 0 && part[std::size_t(other)] < 0) {
              part[std::size_t(other)] = count;
              open.push_back(other);
            }
          }
    }
    ++count;
  }
  return part;
}

} // namespace

OSSATURA_BACKEND_TEST("Parts of a specimen are those of a walk from voxel to voxel",
                      "[specimen_parts]") {
  const TestType exec;
  for (const double fraction : {0.02, 0.05, 0.1, 0.3, 0.7, 1.0}) {
    reference::Model model = reference::random_model({19, 14, 17}, fraction, 1, 0.3, 0.3, 5);
    INFO("fraction " << fraction);
    const auto material = ossatura::test::upload_material(exec, model);
    const auto grid = make_voxel_grid(exec, material.solid());
    const auto lame = make_lame_field(exec, grid, material);
    const std::vector<int> expected = parts_by_walks(model);
    // Held where x = 0 or y = 0, by a bit each.
    std::vector<std::uint8_t> held;
    for (const auto& site : ossatura::test::host_sites(grid))
      held.push_back(std::uint8_t((site[0] == 0) | (site[1] == 0) << 1));
    const SpecimenParts<TestType> found =
        find_parts<TestType>(exec, nullptr, grid, lame.mu_value, upload(exec, "test::held", held));

    std::vector<SpecimenPart> wanted(
        std::size_t(*std::max_element(expected.begin(), expected.end()) + 1));
    for (std::size_t v = 0; v < expected.size(); ++v)
      if (expected[v] >= 0) {
        SpecimenPart& part = wanted[std::size_t(expected[v])];
        part.first = std::min(part.first, std::int64_t(v));
        ++part.num_voxels;
        const std::size_t nx = std::size_t(model.shape[0]), ny = std::size_t(model.shape[1]);
        part.held |= std::uint8_t((v % nx == 0) | (v / nx % ny == 0) << 1);
      }
    REQUIRE(found.list.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CHECK(found.list[i].first == wanted[i].first);
      CHECK(found.list[i].num_voxels == wanted[i].num_voxels);
      CHECK(found.list[i].is_held == (wanted[i].held != 0));
      CHECK(found.list[i].held == wanted[i].held);
    }
    // Each node is in the part of a voxel around it.
    const auto sites = ossatura::test::host_sites(grid);
    const auto of_node = ossatura::test::host_values(found.of_node);
    for (std::size_t n = 0; n < sites.size(); ++n)
      for (int c = 0; c < 8; ++c) {
        const int x = sites[n][0] - (c & 1), y = sites[n][1] - (c >> 1 & 1),
                  z = sites[n][2] - (c >> 2);
        if (std::min({x, y, z}) < 0 || x >= model.shape[0] || y >= model.shape[1] ||
            z >= model.shape[2])
          continue;
        const int part = expected[std::size_t(x + model.shape[0] * (y + model.shape[1] * z))];
        if (part >= 0 && part != of_node[n])
          FAIL("node " << n << " is in part " << of_node[n] << ", and not in " << part);
      }
  }
}
