// SPDX-License-Identifier: Apache-2.0
// Nodes and numbers of voxel grids against a std::map of the corners, sorted by node_order.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/image/grid.hpp>

#include <map>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

/// find(x, y, z) on a box that is `margin` larger than the lattice on every side.
template<class Exec>
struct FindAll {
  static constexpr int margin = 3;
  VoxelGrid<Exec> grid;
  Array<int, Exec> found;

  int side(int d) const { return grid.shape[d] + 1 + 2 * margin; }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int nx = grid.shape[0] + 1 + 2 * margin, ny = grid.shape[1] + 1 + 2 * margin;
    found(i) =
        grid.find(int(i % nx) - margin, int(i / nx % ny) - margin, int(i / nx / ny) - margin);
  }
};

/// Counts the places where the grid is not what the corners of the solid voxels say.
template<class Exec>
int count_errors(const Exec& exec, const reference::Model& model) {
  const VoxelArray<Exec> image = ossatura::test::upload_image(exec, model, model.modulus);
  const VoxelGrid<Exec> grid = make_voxel_grid(exec, image);
  std::map<std::uint64_t, std::array<int, 3>> corners;
  std::map<std::uint64_t, double> voxels;
  for (int z = 0; z < model.shape[2]; ++z)
    for (int y = 0; y < model.shape[1]; ++y)
      for (int x = 0; x < model.shape[0]; ++x)
        if (model.solid(x, y, z)) {
          voxels[node_order(x, y, z)] = model.modulus[model.voxel(x, y, z)];
          for (int v = 0; v < 8; ++v)
            corners[node_order(x + (v & 1), y + (v >> 1 & 1), z + (v >> 2))] = {
                x + (v & 1), y + (v >> 1 & 1), z + (v >> 2)};
        }
  int errors = grid.num_nodes != int(corners.size());
  errors += grid.num_elem != int(voxels.size());
  errors += grid.num_dofs() != 3 * std::int64_t(corners.size());
  if (errors > 0)
    return errors;

  // The numbers follow the order of the sites.
  std::map<std::array<int, 3>, int> number;
  const auto sites = ossatura::test::host_sites(grid);
  for (const auto& [key, site] : corners) {
    errors += sites[number.size()] != site;
    number.emplace(site, int(number.size()));
  }

  FindAll<Exec> all{grid, {}};
  const std::int64_t n = std::int64_t(all.side(0)) * all.side(1) * all.side(2);
  all.found = make_zeros<int>(exec, n, "test::found");
  Kokkos::parallel_for("test::find_all", range(exec, n), all);
  exec.fence();
  const auto found = host_values(all.found);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::array<int, 3> site{int(i % all.side(0)) - 3, int(i / all.side(0) % all.side(1)) - 3,
                                  int(i / all.side(0) / all.side(1)) - 3};
    const auto node = number.find(site);
    errors += found[i] != (node == number.end() ? -1 : node->second);
  }

  // Values lie at the lowest corners, elements are listed in node order.
  const auto restricted = restrict_to_grid(exec, grid, image);
  const auto listed = list_elements(exec, grid, restricted);
  exec.fence();
  const auto values = host_values(restricted);
  const auto elements = host_values(listed);
  for (int i = 0; i < grid.num_nodes; ++i) {
    const auto voxel = voxels.find(node_order(sites[i][0], sites[i][1], sites[i][2]));
    errors += values[i] != (voxel == voxels.end() ? 0 : float(voxel->second));
  }
  auto voxel = voxels.begin();
  for (int element : elements) {
    errors += element != number[corners[voxel->first]];
    ++voxel;
  }
  return errors;
}

OSSATURA_BACKEND_TEST("Nodes are the corners of solid voxels, numbered block by block",
                      "[voxel_grid]") {
  const std::array<int, 3> shapes[] = {
      {1, 1, 1},   {4, 4, 4},  {3, 4, 5},  {8, 8, 8}, {1, 1, 17},   {31, 1, 2},  {2, 19, 1},
      {13, 7, 11}, {5, 33, 3}, {16, 1, 1}, {7, 8, 9}, {1, 1, 3000}, {2000, 2, 5}};
  unsigned seed = 1;
  for (const auto& shape : shapes)
    for (double density : {0.02, 0.3, 0.9, 1.0}) {
      INFO(shape[0] << " x " << shape[1] << " x " << shape[2] << ", density " << density);
      CHECK(count_errors(TestType(),
                         reference::random_model(shape, density, 10, 0.3, 0.3, ++seed)) == 0);
    }
}

OSSATURA_BACKEND_TEST("One voxel anywhere in an image has eight nodes", "[voxel_grid]") {
  for (int place : {0, 3, 4, 26, 30, 62, 124}) {
    reference::Model model = reference::homogeneous({5, 5, 5}, 0, 0.3);
    model.modulus[place] = 2;
    INFO("voxel " << place);
    CHECK(count_errors(TestType(), model) == 0);
  }
}

OSSATURA_BACKEND_TEST("A grid of a solid image has all lattice nodes", "[voxel_grid]") {
  const auto grid =
      make_voxel_grid(TestType(), ossatura::test::device_image(TestType(), {20, 30, 9},
                                                               std::vector<float>(5400, 1)));
  CHECK(grid.num_nodes == 21 * 31 * 10);
  CHECK(grid.num_elem == 5400);
}

OSSATURA_BACKEND_TEST("Images without a solid voxel are rejected", "[voxel_grid]") {
  for (float value : {0.0f, -1.0f, std::nanf("")})
    CHECK_THROWS_AS(
        make_voxel_grid(TestType(), ossatura::test::device_image(TestType(), {3, 2, 4},
                                                                 std::vector<float>(24, value))),
        std::invalid_argument);
}

OSSATURA_BACKEND_TEST("The number of degrees of freedom exceeds 32 bits without overflow",
                      "[voxel_grid]") {
  VoxelGrid<TestType> grid; // nothing is allocated
  grid.num_nodes = 2147483647;
  CHECK(grid.num_dofs() == 6442450941);
  CHECK(range(TestType(), grid.num_dofs()).end() == 6442450941);
  const Site s = detail::unpack_site(detail::pack_site(1048575, 1048576, 2097151));
  CHECK(s.x == 1048575);
  CHECK(s.y == 1048576);
  CHECK(s.z == 2097151);
}

} // namespace
