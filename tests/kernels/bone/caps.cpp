// SPDX-License-Identifier: Apache-2.0
// Caps against plain loops over the columns of an image.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/bone/loads/foreign_voxels.hpp>

#include <random>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_sites;
using ossatura::test::host_values;

constexpr std::array<int, 3> cap_shape{5, 4, 9};

std::vector<float> crumbs() { // void at both ends of z
  std::mt19937 random(11);
  std::vector<float> image(std::size_t(cap_shape[0] * cap_shape[1] * cap_shape[2]), 0.0f);
  for (int z = 2; z < 6; ++z)
    for (int i = 0; i < cap_shape[0] * cap_shape[1]; ++i)
      image[std::size_t(i + cap_shape[0] * cap_shape[1] * z)] = random() % 3 == 0 ? 1000.0f : 0.0f;
  return image;
}

/// 0, 1 or 2 of each voxel: the lower cap from z = 1, on columns that begin below 4, the upper one
/// to z = 8, on columns that end at 6.
std::vector<int> expected_caps(const std::vector<float>& image) {
  std::vector<int> cap(image.size(), 0);
  const int plane = cap_shape[0] * cap_shape[1];
  for (int i = 0; i < plane; ++i) {
    int first = cap_shape[2], last = -1;
    for (int z = 0; z < cap_shape[2]; ++z)
      if (image[std::size_t(i + plane * z)] > 0) {
        first = std::min(first, z);
        last = z;
      }
    for (int z = 1; last >= 0 && first < 4 && z < first; ++z)
      cap[std::size_t(i + plane * z)] = 1;
    for (int z = last + 1; last == 5 && z < 8; ++z)
      cap[std::size_t(i + plane * z)] = 2;
  }
  return cap;
}

OSSATURA_BACKEND_TEST("Caps fill the columns between a plane and the surface that is seen",
                      "[caps]") {
  const TestType exec;
  const std::vector<float> image = crumbs();
  const VoxelArray<TestType> modulus = device_image(exec, cap_shape, image);
  Caps<TestType> caps;
  caps.ends = find_column_ends(exec, modulus, 2);
  caps.lower = {true, 1, 2, 3, 70.0f, 0.1f};
  caps.upper = {true, 8, 6, 6, 90.0f, 0.2f};
  const auto poisson = make_uninitialized<float>(exec, std::int64_t(image.size()), "test::poisson");
  Kokkos::deep_copy(exec, poisson, 0.3f);
  fill_caps(exec, caps, modulus, poisson);
  fence(exec, "test");
  const std::vector<float> filled = host_values(modulus), ratios = host_values(poisson);
  const std::vector<int> cap = expected_caps(image);
  int counts[3] = {0, 0, 0};
  for (std::size_t i = 0; i < image.size(); ++i) {
    ++counts[cap[i]];
    CHECK(filled[i] == (cap[i] == 0 ? image[i] : cap[i] == 1 ? 70.0f : 90.0f));
    CHECK(ratios[i] == (cap[i] == 0 ? 0.3f : cap[i] == 1 ? 0.1f : 0.2f));
  }
  REQUIRE((counts[1] > 0 && counts[2] > 0));

  const VoxelGrid<TestType> grid = make_voxel_grid(exec, modulus);
  const LameField<TestType> lame = make_lame_field(exec, grid, make_material(modulus, 0.3));
  const auto bone = host_values(without_foreign(exec, grid, {true, caps, {}}, lame).mu_value);
  const auto all = host_values(lame.mu_value);
  const auto sites = host_sites(grid);
  for (std::size_t n = 0; n < sites.size(); ++n) {
    const auto& [x, y, z] = sites[n];
    const bool is_voxel = x < cap_shape[0] && y < cap_shape[1] && z < cap_shape[2];
    const std::size_t i = is_voxel ? std::size_t(x + cap_shape[0] * (y + cap_shape[1] * z)) : 0;
    CHECK(bone[n] == (is_voxel && cap[i] == 0 ? all[n] : 0.0f));
  }
}

OSSATURA_BACKEND_TEST("Fields of the bone alone are those of its voxels, in their order",
                      "[caps]") {
  const TestType exec;
  const VoxelArray<TestType> modulus = device_image(exec, cap_shape, crumbs());
  Caps<TestType> caps;
  caps.ends = find_column_ends(exec, modulus, 2);
  caps.lower = {true, 0, 2, 6, 70.0f, 0.3f};
  caps.upper = {true, 9, 2, 6, 90.0f, 0.3f};
  fill_caps(exec, caps, modulus, {});
  const VoxelGrid<TestType> grid = make_voxel_grid(exec, modulus);
  const LameField<TestType> lame = make_lame_field(exec, grid, make_material(modulus, 0.3));
  const SharedEntries nodes{0, grid.num_nodes, {}, {}};
  std::vector<double> u(std::size_t(grid.num_dofs()));
  std::mt19937 random(5);
  for (double& value : u)
    value = double(random() % 1000) / 1e5;
  double energy = 0;
  const VoxelFields<TestType> fields = compute_voxel_fields(
      exec, nodes, grid, lame, 1, upload(exec, "test::u", u), EnergyPoint::centre, false, energy);
  const VoxelFields<TestType> bone =
      without_foreign(exec, nodes, grid, {true, caps, {}}, lame, fields);
  const auto element = host_values(fields.element), of_bone = host_values(bone.element);
  const auto value = host_values(fields.von_mises), kept = host_values(bone.von_mises);
  const auto sed = host_values(fields.energy_density), kept_sed = host_values(bone.energy_density);
  const auto moduli = host_values(modulus);
  const auto sites = host_sites(grid);
  std::size_t k = 0;
  for (std::size_t e = 0; e < element.size(); ++e) {
    const auto& [x, y, z] = sites[std::size_t(element[e])];
    if (moduli[std::size_t(x + cap_shape[0] * (y + cap_shape[1] * z))] != 1000.0f)
      continue;
    REQUIRE(k < of_bone.size());
    CHECK(of_bone[k] == element[e]);
    CHECK(kept[k] == value[e]);
    CHECK(kept_sed[k] == sed[e]);
    ++k;
  }
  CHECK(k == of_bone.size());
  CHECK(k < element.size());
}

OSSATURA_BACKEND_TEST("Listed voxels are foreign beside caps, and filled where they are",
                      "[caps]") {
  const TestType exec;
  const std::vector<float> image = crumbs();
  const VoxelArray<TestType> modulus = device_image(exec, cap_shape, image);
  ForeignVoxels<TestType> foreign;
  foreign.has_caps = true;
  foreign.caps.ends = find_column_ends(exec, modulus, 2);
  foreign.caps.upper = {true, 8, 6, 6, 90.0f, 0.2f};
  std::vector<std::uint64_t> listed;
  std::vector<int> kind(image.size(), 0);
  const std::vector<int> cap = expected_caps(image);
  std::mt19937 random(3);
  for (std::size_t i = 0; i < image.size(); ++i) {
    kind[i] = cap[i] == 2 ? 2 : random() % 4 == 0 ? 3 : 0;
    const int plane = cap_shape[0] * cap_shape[1], k = int(i);
    if (kind[i] == 3)
      listed.push_back(
          ossatura::detail::pack_site(k % cap_shape[0], k % plane / cap_shape[0], k / plane));
  }
  std::sort(listed.begin(), listed.end());
  foreign.listed = upload(exec, "test::listed", listed);
  fill_caps(exec, foreign.caps, modulus, {});
  fill_listed(exec, foreign.listed, 55.0f, modulus);
  const std::vector<float> filled = host_values(modulus);
  std::int64_t counts[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < image.size(); ++i) {
    CHECK(filled[i] == (kind[i] == 2 ? 90.0f : kind[i] == 3 ? 55.0f : image[i]));
    counts[kind[i]] += filled[i] > 0;
  }
  REQUIRE((counts[0] > 0 && counts[2] > 0 && counts[3] > 0));

  const VoxelGrid<TestType> grid = make_voxel_grid(exec, modulus);
  const LameField<TestType> lame = make_lame_field(exec, grid, make_material(modulus, 0.3));
  const SharedEntries nodes{0, grid.num_nodes, {}, {}};
  for (const int which : {0, 1, 2, 3})
    CHECK(count_foreign(exec, nodes, grid, foreign, lame, which) == counts[which]);
  const auto mark = host_values(mark_foreign(exec, grid, foreign, lame));
  const auto bone = host_values(without_foreign(exec, grid, foreign, lame).mu_value);
  const auto sites = host_sites(grid);
  for (std::size_t n = 0; n < sites.size(); ++n) {
    const auto& [x, y, z] = sites[n];
    const bool is_voxel = x < cap_shape[0] && y < cap_shape[1] && z < cap_shape[2];
    const std::size_t i = is_voxel ? std::size_t(x + cap_shape[0] * (y + cap_shape[1] * z)) : 0;
    CHECK(mark[n] == (is_voxel && filled[i] > 0 && kind[i] != 0));
    CHECK((bone[n] > 0) == (is_voxel && filled[i] > 0 && kind[i] == 0));
  }
}

} // namespace
