// SPDX-License-Identifier: Apache-2.0
// The mesh of a file of fields, made on the host, against the kernels that list it on a backend.
#include "apps/bone/output/field_mesh.hpp"

#include "tests/backend_test.hpp"

#include <algorithm>
#include <random>

using namespace ossatura;

namespace {

/// A lattice that is no multiple of blocks along any axis, with voids through all of it.
template<class Exec>
struct Sponge {
  explicit Sponge(const Exec& exec) {
    VoxelArray<Exec> image;
    image.shape = {13, 22, 7};
    std::mt19937 random(5);
    std::vector<float> value(13 * 22 * 7);
    for (float& v : value)
      v = random() % 3 == 0 ? 1.0f : 0.0f;
    image.value = upload(exec, "sponge", value);
    grid = make_voxel_grid(exec, image);
    element = list_elements(exec, grid, restrict_to_grid(exec, grid, image));
  }
  VoxelGrid<Exec> grid;
  Array<int, Exec> element;
};

const LatticePlace upright{0.5, {1, -2, 3}, identity_direction};

} // namespace

OSSATURA_BACKEND_TEST("parts of a field mesh are those of the grid", "[bone][backends]") {
  const TestType exec;
  const Sponge<TestType> sponge(exec);
  const FieldMesh mesh(exec, upright, sponge.grid, sponge.element);
  const auto sites = download(exec, list_sites(exec, sponge.grid));
  const auto corners = download(exec, list_corners(exec, sponge.grid, sponge.element));
  REQUIRE(mesh.num_nodes() == sites.size());
  REQUIRE(8 * mesh.num_voxels() == corners.size());
  REQUIRE(mesh.num_voxels() > 500);
  for (const std::uint64_t step : {1, 3, 64, 101, 100000}) {
    std::vector<double> points;
    for (std::uint64_t first = 0; first < mesh.num_nodes(); first += step) {
      std::vector<double> part(3 * std::min(step, mesh.num_nodes() - first));
      mesh.make_points(first, part.size() / 3, part.data());
      points.insert(points.end(), part.begin(), part.end());
    }
    std::vector<double> expected(3 * sites.size());
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const Site s = detail::unpack_site(sites[i]);
      expected[3 * i] = 1 + 0.5 * s.x;
      expected[3 * i + 1] = -2 + 0.5 * s.y;
      expected[3 * i + 2] = 3 + 0.5 * s.z;
    }
    CHECK(points == expected);
    std::vector<int> listed;
    for (std::uint64_t first = 0; first < mesh.num_voxels(); first += step) {
      std::vector<int> part(8 * std::min(step, mesh.num_voxels() - first));
      mesh.list_corners(first, part.size() / 8, part.data());
      listed.insert(listed.end(), part.begin(), part.end());
    }
    CHECK(listed == corners);
  }
}
