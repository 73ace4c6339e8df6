// SPDX-License-Identifier: Apache-2.0
// Prescribed regions and lists against plain loops over the nodes.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/bone/loads/load_case.hpp>

#include <algorithm>
#include <map>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_sites;
using ossatura::test::host_values;

/// Two bars along x, one of them shorter, in a box of 6 x 3 x 4 voxels.
template<class Exec>
VoxelArray<Exec> two_bars_image(const Exec& exec) {
  std::vector<float> image(6 * 3 * 4, 0.0f);
  for (int x = 1; x < 6; ++x)
    image[x + 6 * (0 + 3 * 1)] = 1;
  for (int x = 2; x < 4; ++x)
    image[x + 6 * (2 + 3 * 1)] = 1;
  return device_image(exec, {6, 3, 4}, image);
}
template<class Exec>
VoxelGrid<Exec> two_bars(const Exec& exec) {
  return make_voxel_grid(exec, two_bars_image(exec));
}

OSSATURA_BACKEND_TEST("The box of a grid is that of its nodes, not of its image", "[load_case]") {
  const TestType exec;
  const NodeBox box = bounding_box(exec, two_bars(exec));
  CHECK(box.lower[0] == 1);
  CHECK(box.upper[0] == 6);
  CHECK(box.lower[1] == 0);
  CHECK(box.upper[1] == 3);
  CHECK(box.lower[2] == 1);
  CHECK(box.upper[2] == 2);
}

OSSATURA_BACKEND_TEST("Extreme nodes lie in their region, and an empty region has none",
                      "[load_case]") {
  const TestType exec;
  const auto grid = two_bars(exec);
  PrescribedRegion region;
  for (int d = 0; d < 3; ++d)
    region.upper[d] = 10;
  region.lower[1] = 2; // the shorter bar
  const auto sites = host_sites(grid);
  const auto low = find_extreme_site(exec, grid, region, 0, false);
  const auto high = find_extreme_site(exec, grid, region, 0, true);
  REQUIRE(low);
  REQUIRE(high);
  CHECK(low->x == 2);
  CHECK(low->y >= 2);
  // Of equally high ones that with the largest number.
  std::array<int, 3> last{};
  for (const auto& site : sites)
    if (site[1] >= 2 && site[0] == 4)
      last = site;
  CHECK(std::array<int, 3>{high->x, high->y, high->z} == last);
  CHECK(count_nodes(exec, grid, region) == 3 * 2 * 2);
  region.lower[0] = 7;
  CHECK_FALSE(find_extreme_site(exec, grid, region, 0, true));
  CHECK(count_nodes(exec, grid, region) == 0);
}

OSSATURA_BACKEND_TEST("Regions prescribe an affine displacement, the later one winning",
                      "[load_case]") {
  const TestType exec;
  const auto grid = two_bars(exec);
  const double edge = 0.5;
  PrescribedRegion all;
  for (int d = 0; d < 3; ++d) {
    all.upper[d] = 10;
    all.value[d] = d + 1;
    all.centre[d] = 0.25 * d;
    for (int e = 0; e < 3; ++e)
      all.gradient[d][e] = 0.1 * d - 0.2 * e;
  }
  all.components = 5; // x and z
  PrescribedRegion end = all;
  end.lower[0] = 6;
  end.components = 2; // y
  end.value[1] = -7;
  PrescribedRegion corner = end;
  corner.lower[1] = corner.upper[1] = 0;
  corner.components = 3;
  const auto mask = make_zeros<std::uint8_t>(exec, grid.num_nodes, "test::mask");
  const auto u = make_zeros<double>(exec, grid.num_dofs(), "test::u");
  prescribe(exec, grid, edge, std::vector<PrescribedRegion>{all, end, corner}, mask, u);
  const auto bits = host_values(mask);
  const auto values = host_values(u);
  const auto sites = host_sites(grid);
  int at_corner = 0;
  for (int node = 0; node < grid.num_nodes; ++node) {
    const auto& s = sites[node];
    const bool at_end = s[0] == 6;
    CHECK(int(bits[node]) == (at_end ? 7 : 5));
    at_corner += at_end && s[1] == 0;
    for (int c = 0; c < 3; ++c) {
      double expected = c == 1 && at_end ? -7 : c == 1 ? 0 : c + 1;
      if (c != 1 || at_end)
        for (int e = 0; e < 3; ++e)
          expected += (0.1 * c - 0.2 * e) * (s[e] * edge - 0.25 * e);
      CHECK(values[3 * node + c] == Approx(expected).margin(1e-14));
    }
  }
  CHECK(at_corner == 2);
}

OSSATURA_BACKEND_TEST("Of several displacements for a degree of freedom the last one holds",
                      "[load_case]") {
  const TestType exec;
  const auto grid = two_bars(exec);
  const std::vector<NodalValue> values = {{{1, 0, 1}, 0, 1.0}, {{6, 1, 2}, 2, 5.0},
                                          {{1, 0, 1}, 0, 2.0}, {{1, 0, 1}, 1, 3.0},
                                          {{0, 0, 0}, 1, 9.0}, // in the void
                                          {{1, 0, 1}, 0, 4.0}};
  std::int64_t num_replaced = 0;
  const auto nodes = merge_by_node(values, num_replaced);
  CHECK(num_replaced == 2);
  REQUIRE(nodes.size() == 3);
  const auto mask = make_zeros<std::uint8_t>(exec, grid.num_nodes, "test::mask");
  const auto u = make_zeros<double>(exec, grid.num_dofs(), "test::u");
  const MissingNodes missing = prescribe(exec, grid, nodes, mask, u);
  CHECK(missing.count == 1);
  REQUIRE(missing.first >= 0);
  CHECK(nodes[missing.first].site.x == 0);
  const auto bits = host_values(mask);
  const auto result = host_values(u);
  const auto sites = host_sites(grid);
  for (int node = 0; node < grid.num_nodes; ++node) {
    const auto& s = sites[node];
    const bool first = s[0] == 1 && s[1] == 0 && s[2] == 1,
               second = s[0] == 6 && s[1] == 1 && s[2] == 2;
    CHECK(int(bits[node]) == (first ? 3 : second ? 4 : 0));
    CHECK(result[3 * node] == (first ? 4.0 : 0.0));
    CHECK(result[3 * node + 1] == (first ? 3.0 : 0.0));
    CHECK(result[3 * node + 2] == (second ? 5.0 : 0.0));
  }
}

OSSATURA_BACKEND_TEST("Forces on one degree of freedom add up, and those on the void are counted",
                      "[load_case]") {
  const TestType exec;
  const auto grid = two_bars(exec);
  const auto f = make_zeros<double>(exec, grid.num_dofs(), "test::f");
  const std::vector<NodalValue> forces = {
      {{1, 0, 1}, 2, 1.5}, {{0, 3, 0}, 0, 1.0}, {{1, 0, 1}, 2, 2.0}, {{2, 0, 1}, 1, -1.0}};
  CHECK(add_forces(exec, grid, forces, f) == 1);
  PrescribedRegion end;
  for (int d = 0; d < 3; ++d)
    end.upper[d] = 10;
  end.lower[0] = end.upper[0] = 6;
  CHECK(add_consistent_force(exec, grid, restrict_to_grid(exec, grid, two_bars_image(exec)), end, 0,
                             true, Kokkos::Array<double, 3>{{1, 0, 4}}, f) == 1);
  const auto result = host_values(f);
  const auto sites = host_sites(grid);
  double sum[3] = {0, 0, 0};
  for (int node = 0; node < grid.num_nodes; ++node) {
    for (int c = 0; c < 3; ++c)
      sum[c] += result[3 * node + c];
    if (sites[node] == std::array<int, 3>{1, 0, 1})
      CHECK(result[3 * node + 2] == 3.5);
    if (sites[node][0] == 6)
      CHECK(result[3 * node] == 0.25);
  }
  CHECK(sum[0] == Approx(4 * 0.25));
  CHECK(sum[1] == Approx(-1));
  CHECK(sum[2] == Approx(3.5 + 4));
}

OSSATURA_BACKEND_TEST("A force on a side goes to nodes by the area of the bone around them",
                      "[load_case]") {
  // An L of three voxels in two layers along z, the corner of it void in the upper one.
  const TestType exec;
  const std::vector<float> values = {1, 1, 1, 0, /* upper: */ 1, 1, 0, 0};
  const auto image = device_image(exec, {2, 2, 2}, values);
  const auto grid = make_voxel_grid(exec, image);
  const auto solid = restrict_to_grid(exec, grid, image);
  const auto sites = host_sites(grid);
  const auto nodal = [&](int lower, int upper, bool is_upper, std::int64_t shares) {
    PrescribedRegion side;
    for (int d = 0; d < 2; ++d)
      side.upper[d] = 2;
    side.lower[2] = lower;
    side.upper[2] = upper;
    const auto f = make_zeros<double>(exec, grid.num_dofs(), "test::f");
    CHECK(add_consistent_force(exec, grid, solid, side, 2, is_upper,
                               Kokkos::Array<double, 3>{{0, 0, 24}}, f) == shares);
    std::map<std::array<int, 3>, double> force;
    const auto values_of = host_values(f);
    for (int node = 0; node < grid.num_nodes; ++node)
      if (values_of[3 * node + 2] != 0)
        force[sites[node]] = values_of[3 * node + 2];
    return force;
  };
  using Forces = std::map<std::array<int, 3>, double>;
  CHECK(nodal(2, 2, true, 2) == Forces{{{0, 0, 2}, 3},
                                       {{1, 0, 2}, 6},
                                       {{2, 0, 2}, 3},
                                       {{0, 1, 2}, 3},
                                       {{1, 1, 2}, 6},
                                       {{2, 1, 2}, 3}});
  CHECK(nodal(0, 0, false, 3) == Forces{{{0, 0, 0}, 2},
                                        {{1, 0, 0}, 4},
                                        {{2, 0, 0}, 2},
                                        {{0, 1, 0}, 4},
                                        {{1, 1, 0}, 6},
                                        {{2, 1, 0}, 2},
                                        {{0, 2, 0}, 2},
                                        {{1, 2, 0}, 2}});
  // Both layers: a body force, of 24 / 5 in each voxel.
  const Forces deep = nodal(0, 2, true, 5);
  CHECK(deep.at({0, 0, 0}) == Approx(0.6));
  CHECK(deep.at({1, 0, 1}) == Approx(4 * 0.6));
  CHECK(deep.at({1, 1, 1}) == Approx(5 * 0.6));
}

OSSATURA_BACKEND_TEST("The centre of mass is that of the voxels", "[load_case]") {
  const TestType exec;
  const auto grid = two_bars(exec);
  const auto centre =
      centre_of_mass(exec, grid, restrict_to_grid(exec, grid, two_bars_image(exec)));
  CHECK(centre[0] == Approx((1 + 2 + 3 + 4 + 5 + 2 + 3) / 7.0 + 0.5));
  CHECK(centre[1] == Approx((2 + 2) / 7.0 + 0.5));
  CHECK(centre[2] == Approx(1.5));
}

} // namespace
