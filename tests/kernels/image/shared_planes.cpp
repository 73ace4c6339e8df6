// SPDX-License-Identifier: Apache-2.0
// An image that ranks share by planes: what they make and select of it together is what one process
// makes of the whole.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cut_model.hpp"
#include <ossatura/kernels/image/component_selection.hpp>
#include <ossatura/kernels/image/material_law.hpp>
#include <ossatura/kernels/image/perlin.hpp>

namespace {

using namespace ossatura;
using ossatura::test::cut_models;
using ossatura::test::CutModel;
using ossatura::test::host_sites;
using ossatura::test::upload_planes;

OSSATURA_RANKS_TEST("Planes are shared without gaps, in the order of ranks", "[planes]") {
  const Communicator world = Communicator::world();
  for (const int num_planes : {1, 7, 8, 9, 64, 1000}) {
    int next = 0;
    for (const ImagePlanes& planes : world.gather(planes_of_rank(world, num_planes))) {
      CHECK(planes.begin == next);
      CHECK(planes.count() >= 0);
      CHECK((planes.end % 8 == 0 || planes.end == num_planes));
      next = planes.end;
    }
    CHECK(next == num_planes);
  }
}

OSSATURA_RANKS_TEST("Noise that ranks make is that of one process", "[planes]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  PerlinOptions options;
  options.shape = {21, 18, 37};
  options.feature = 9;
  options.fraction = 0.2;
  const auto mine = make_perlin_bone(exec, options, planes_of_rank(world, 37), world);
  const auto whole = make_perlin_bone(exec, options);
  CHECK(world.gather(download(exec, mine.modulus.value)) == download(exec, whole.modulus.value));
  CHECK(mine.threshold == whole.threshold);
  CHECK(mine.num_solid == whole.num_solid);
}

/// A snake through all planes, rings that touch by edges, a plate in one plane, and noise.
std::vector<VoxelImage> images() {
  const std::array<int, 3> shape{19, 14, 40};
  std::vector<VoxelImage> all(4);
  unsigned state = 17;
  for (VoxelImage& image : all)
    image.shape = shape;
  for (int z = 0; z < shape[2]; ++z)
    for (int y = 0; y < shape[1]; ++y)
      for (int x = 0; x < shape[0]; ++x) {
        state = state * 1664525u + 1013904223u;
        const bool turn = z % 8 == 7 ? x == (z % 16 == 7 ? 18 : 0) : x % 2 == 0 || z % 8 == 3;
        all[0].value.push_back(turn && y == 3 ? 2.0f : 0.0f);
        all[1].value.push_back((x + y + z) % 5 < 2 && (x - z) % 7 != 0 ? 1.0f : 0.0f);
        all[2].value.push_back(z == 17 || (x == 2 && z > 30) ? 3.0f : 0.0f);
        all[3].value.push_back((state >> 8) % 100 < 21 ? 1.0f : 0.0f);
      }
  return all;
}

OSSATURA_RANKS_TEST("The largest component of shared planes is that of the whole", "[planes]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  for (const VoxelImage& image : images())
    for (const Connectivity connectivity : {Connectivity::face, Connectivity::node}) {
      const auto mine = to_device(exec, image, planes_of_rank(world, image.shape[2]));
      const auto whole = to_device(exec, image);
      const ComponentSummary found = keep_largest_component(exec, mine, connectivity, world),
                             expected = keep_largest_component(exec, whole, connectivity);
      CHECK(found.count == expected.count);
      CHECK(found.num_solid == expected.num_solid);
      CHECK(found.largest_size == expected.largest_size);
      CHECK(found.largest_root == expected.largest_root);
      CHECK(world.gather(download(exec, mine.value)) == download(exec, whole.value));
    }
}

OSSATURA_RANKS_TEST("Equally large components in planes of several ranks leave the first",
                    "[planes]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  VoxelImage image;
  image.shape = {5, 1, 40};
  for (int z = 0; z < 40; ++z)
    for (int x = 0; x < 5; ++x)
      image.value.push_back((x == 0 && z >= 20) || (x == 2 && z < 20) || (x == 4 && z > 20));
  const auto mine = to_device(exec, image, planes_of_rank(world, 40));
  CHECK(keep_largest_component(exec, mine, Connectivity::face, world).largest_root == 2);
  const std::vector<float> left = world.gather(download(exec, mine.value));
  CHECK(std::count(left.begin(), left.end(), 1.0f) == 20);
  CHECK(left[2] == 1);
}

OSSATURA_RANKS_TEST("A law of shared planes has the numbers of all, and one voice", "[planes]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  VoxelImage image;
  image.shape = {3, 2, 24};
  for (int i = 0; i < 3 * 2 * 24; ++i)
    image.value.push_back(float(i));
  MaterialLaw law;
  law.kind = MaterialKind::linear;
  law.intercept = -20;
  law.slope = 2;
  const auto mine = to_device(exec, image, planes_of_rank(world, 24)),
             whole = to_device(exec, image);
  const auto found = apply_material_law(exec, law, mine, world),
             expected = apply_material_law(exec, law, whole);
  CHECK(found.num_solid == expected.num_solid);
  CHECK(found.num_clamped == expected.num_clamped);
  CHECK(found.minimum == expected.minimum);
  CHECK(found.maximum == expected.maximum);
  CHECK(world.gather(download(exec, mine.value)) == download(exec, whole.value));
  law.kind = MaterialKind::table;
  law.table = {{0, 0}, {1, 1000}};
  const auto again = to_device(exec, image, planes_of_rank(world, 24));
  CHECK_THROWS_WITH(apply_material_law(exec, law, again, world),
                    ContainsSubstring("voxel (2, 0, 0) has the label 2") &&
                        ContainsSubstring("142 voxels"));
}

OSSATURA_RANKS_TEST("A model cut from shared planes is that cut from the whole", "[planes]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  for (const reference::Model& model : cut_models())
    for (const int bits : {2, 3, 4}) {
      INFO(model.shape[0] << " voxels wide, bits " << bits);
      const CutModel<TestType> expected(exec, model, bits);
      const MaterialImage<TestType> planes = upload_planes(exec, world, model);
      const bool has_two = world.any(!planes.uniform_poisson());
      const auto ranks = cut_among(exec, expected.device_comm, planes.solid(), bits);
      CHECK(ranks.cut.group_begin == expected.cut.group_begin);
      CHECK(ranks.cut.rank_begin == expected.cut.rank_begin);
      const auto seen = hand_over_voxels(exec, ranks, planes.first, planes.solid(), has_two);
      const auto grid = make_local_grid(exec, world, ranks.table, planes.first.shape, seen.site);
      CHECK(host_sites(grid) == host_sites(expected.grid));
      CHECK(grid.owned.begin == expected.grid.owned.begin);
      CHECK(grid.owned.end == expected.grid.owned.end);
      CHECK(grid.owned.global_begin == expected.grid.owned.global_begin);
      CHECK(grid.num_elem == expected.grid.num_elem);
      const auto lame = make_listed_lame_field(exec, grid, seen);
      CHECK(download(exec, lame.mu_value) == download(exec, expected.lame.mu_value));
    }
}

OSSATURA_RANKS_TEST("Superblocks are chosen alike for any number of ranks", "[planes]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  VoxelImage image; // more than 10 000 blocks of 4 voxels a side
  image.shape = {120, 120, 60};
  image.value.assign(image.num_voxels(), 1.0f);
  const auto found = cut_among(exec, DeviceComm<TestType>(world),
                               to_device(exec, image, planes_of_rank(world, 60)));
  const auto alone = cut_among(exec, DeviceComm<TestType>(Communicator()), to_device(exec, image));
  CHECK(found.cut.bits == alone.cut.bits);
  CHECK(found.cut.bits == (BackendTraits<TestType>::is_device ? 2 : 3));
  CHECK(found.cut.group_begin == alone.cut.group_begin);
}

} // namespace
