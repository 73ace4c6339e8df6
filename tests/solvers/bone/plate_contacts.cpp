// SPDX-License-Identifier: Apache-2.0
// Plates that touch the visible surface of a specimen, or the voxels of a label.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/solvers/bone/load.hpp>

#include <random>
#include <set>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_sites;
using ossatura::test::host_values;

constexpr std::array<int, 3> contact_shape{6, 5, 7};

std::vector<float> random_crumbs(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> image(std::size_t(contact_shape[0] * contact_shape[1] * contact_shape[2]));
  for (float& value : image)
    value = random() % 3 == 0 ? 1000.0f : 0.0f;
  return image;
}

float value_at(const std::vector<float>& image, const int (&v)[3]) {
  return image[std::size_t(v[0] + contact_shape[0] * (v[1] + contact_shape[1] * v[2]))];
}

/// The nodes, by plain loops, of the faces that a ray along `axis` from outside meets first, at
/// coordinates in [first, last].
std::set<std::array<int, 3>> seen_nodes(const std::vector<float>& image, int axis, bool upper,
                                        int first, int last) {
  std::set<std::array<int, 3>> nodes;
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  int v[3];
  for (v[a] = 0; v[a] < contact_shape[std::size_t(a)]; ++v[a])
    for (v[b] = 0; v[b] < contact_shape[std::size_t(b)]; ++v[b])
      for (int step = 0; step < contact_shape[std::size_t(axis)]; ++step) {
        v[axis] = upper ? contact_shape[std::size_t(axis)] - 1 - step : step;
        if (value_at(image, v) == 0)
          continue;
        const int face = v[axis] + (upper ? 1 : 0);
        for (int corner = 0; corner < 4 && face >= first && face <= last; ++corner) {
          std::array<int, 3> node{v[0], v[1], v[2]};
          node[std::size_t(axis)] = face;
          node[std::size_t(a)] += corner & 1;
          node[std::size_t(b)] += corner >> 1;
          nodes.insert(node);
        }
        break;
      }
  return nodes;
}

template<class Exec>
VoxelProblem<Exec> contact_problem(const Exec& exec, const std::vector<float>& image, double edge) {
  return make_voxel_problem(exec, make_material(device_image(exec, contact_shape, image), 0.3),
                            edge);
}

OSSATURA_BACKEND_TEST("Plates touch the faces that rays meet first, as deep as they may",
                      "[plate_contacts]") {
  const TestType exec;
  const double edge = 0.5;
  for (unsigned seed = 1; seed <= 4; ++seed)
    for (int axis = 0; axis < 3; ++axis)
      for (const double depth : {0.0, 0.5, 1.2}) {
        const std::vector<float> image = random_crumbs(seed);
        VoxelProblem<TestType> problem = contact_problem(exec, image, edge);
        MechanicalTest test;
        test.axis = axis;
        test.lower_contact.visible = test.upper_contact.visible = true;
        test.lower_contact.depth = 0.5;
        test.upper_contact.depth = depth;
        const NodeBox box = bounding_box(exec, problem.grid);
        const auto sets =
            host_values(find_plate_nodes(exec, problem.grid, problem.lame.mu_value, edge, test));
        const auto lower = seen_nodes(image, axis, false, box.lower[axis], box.lower[axis] + 1);
        const auto upper =
            seen_nodes(image, axis, true, box.upper[axis] - int(depth / edge), box.upper[axis]);
        const auto sites = host_sites(problem.grid);
        for (std::size_t i = 0; i < sites.size(); ++i) {
          const std::array<int, 3> site{sites[i][0], sites[i][1], sites[i][2]};
          CHECK(int(sets[i]) == int(lower.count(site)) * lower_plate_set +
                                    int(upper.count(site)) * upper_plate_set);
        }
      }
}

OSSATURA_BACKEND_TEST("Voxels of a label touch their eight corners, each as often as they are",
                      "[plate_contacts]") {
  const TestType exec;
  const std::vector<float> image = random_crumbs(5), labels = random_crumbs(6); // where it is 1000
  const VoxelArray<TestType> mask = device_image(exec, contact_shape, labels);
  const std::vector<std::uint64_t> voxels = list_label_voxels(exec, mask, 1000);
  const VoxelProblem<TestType> problem = contact_problem(exec, image, 1);
  const auto count = host_values(count_touching(exec, problem.grid, voxels));
  const auto sites = host_sites(problem.grid);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    int touching = 0;
    for (int k = 0; k < 8; ++k) {
      const int v[3] = {sites[i][0] - (k & 1), sites[i][1] - (k >> 1 & 1), sites[i][2] - (k >> 2)};
      if (v[0] >= 0 && v[1] >= 0 && v[2] >= 0 && v[0] < contact_shape[0] &&
          v[1] < contact_shape[1] && v[2] < contact_shape[2])
        touching += value_at(labels, v) == 1000;
    }
    CHECK(count[i] == touching);
  }
  CHECK(list_label_voxels(exec, mask, 7).empty());
}

OSSATURA_BACKEND_TEST("A set that a label narrows is what both have, and an empty plate is refused",
                      "[plate_contacts]") {
  const TestType exec;
  std::vector<float> image(std::size_t(contact_shape[0] * contact_shape[1] * contact_shape[2]),
                           1000.0f);
  VoxelProblem<TestType> problem = contact_problem(exec, image, 1);
  MechanicalTest test;
  test.upper_contact.visible = true;
  test.upper_contact.voxels = {{detail::pack_site(2, 1, 7), detail::pack_site(2, 1, 3)}};
  const BoneLoad<TestType> load = load_by_test(exec, test, problem);
  REQUIRE(load.regions.size() == 2);
  CHECK(count_nodes(exec, problem.grid, load.regions[0].region, {}, load.node_sets) == 7 * 6);
  CHECK(count_nodes(exec, problem.grid, load.regions[1].region, {}, load.node_sets) == 4);
  CHECK(problem.held.num_dofs == 3 * (7 * 6 + 4));
  test.upper_contact.voxels = {{detail::pack_site(2, 1, 3)}};
  CHECK_THROWS_AS(load_by_test(exec, test, problem), InputError);
  test.upper_contact.voxels = {{detail::pack_site(2, 1, 0)}};
  test.upper_contact.visible = false;
  test.lower_contact.visible = true;
  CHECK_THROWS_AS(load_by_test(exec, test, problem), InputError); // nodes of both
}

} // namespace
