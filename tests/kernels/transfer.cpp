// SPDX-License-Identifier: Apache-2.0
// Coarsening of images and constraints by plain loops; restriction and prolongation by their
// properties.
#include "kernels/transfer.hpp"
#include "kernels/coarsen.hpp"
#include "kernels/gather_operator.hpp"
#include "tests/backend_test.hpp"
#include "tests/kernels/lattice.hpp"

namespace {

using namespace femura;
using femura::test::host_values;

/// Two levels; about a tenth of the fine components is held.
template<class Exec>
struct Levels {
  reference::Model model;
  MaterialImage<Exec> fine_material, coarse_material;
  VoxelGrid<Exec> fine, coarse;
  Constraints<Exec> fine_held, coarse_held;
  std::vector<std::uint8_t> mask;

  Levels(const Exec& exec, reference::Model m, double held_share)
      : model(std::move(m)) {
    fine_material = femura::test::upload_material(exec, model);
    coarse_material = coarsen_material(exec, fine_material);
    fine = make_voxel_grid(exec, fine_material.solid());
    coarse = make_voxel_grid(exec, coarse_material.solid());
    std::mt19937 random(4);
    for (int node = 0; node < fine.num_nodes; ++node) {
      std::uint8_t bits = 0;
      for (int c = 0; c < 3; ++c)
        bits = std::uint8_t(bits | (random() < held_share * 4294967296.0) << c);
      mask.push_back(bits);
    }
    fine_held = make_constraints(exec, upload(exec, "test::mask", mask));
    coarse_held = coarsen_constraints(exec, fine, fine_held, coarse);
  }
};

template<class Exec>
Array<double, Exec> random_free(const Exec& exec, const VoxelGrid<Exec>& grid,
                                const Constraints<Exec>& held, std::uint64_t seed) {
  const auto x = make_zeros<double>(exec, grid.num_dofs(), "test::x");
  fill_random(exec, seed, x);
  clear(exec, held, x);
  return x;
}

const std::array<int, 3> coarse_shapes[] = {{1, 1, 1}, {2, 2, 2}, {8, 8, 8}, {7, 5, 9}, {1, 12, 3}};

FEMURA_BACKEND_TEST("Coarse moduli are means over eight voxels, void outside counting as zero",
                    "[transfer]") {
  const TestType exec;
  for (const auto& shape : coarse_shapes) {
    const auto model = reference::random_model(shape, 0.6, 100, 0.3, 0.3, 7);
    const auto coarse = coarsen_image(exec, femura::test::upload_image(exec, model, model.modulus));
    exec.fence();
    const auto values = host_values(coarse);
    REQUIRE(coarse.shape[0] == (shape[0] + 1) / 2);
    REQUIRE(coarse.shape[1] == (shape[1] + 1) / 2);
    REQUIRE(coarse.shape[2] == (shape[2] + 1) / 2);
    std::vector<double> sum(values.size());
    for (int z = 0; z < shape[2]; ++z)
      for (int y = 0; y < shape[1]; ++y)
        for (int x = 0; x < shape[0]; ++x)
          sum[x / 2 + coarse.shape[0] * (y / 2 + coarse.shape[1] * (z / 2))] +=
              model.modulus[model.voxel(x, y, z)];
    for (std::size_t i = 0; i < sum.size(); ++i)
      CHECK(values[i] == Approx(sum[i] / 8).epsilon(1e-6));
  }
}

FEMURA_BACKEND_TEST("With a Poisson ratio per voxel both of Lame's constants are averaged",
                    "[transfer]") {
  const TestType exec;
  const auto coarse = coarsen_material(
      exec, make_material(exec, femura::test::device_image(exec, {2, 1, 1}, {8, 16}),
                          femura::test::device_image(exec, {2, 1, 1}, {0, 0.25f})));
  exec.fence();
  // lambda: 0 and 16 * 0.4 = 6.4; mu: 4 and 6.4.
  CHECK(host_values(coarse.first)[0] == Approx(6.4 / 8));
  CHECK(host_values(coarse.second)[0] == Approx(10.4 / 8));
  CHECK_FALSE(coarse.uniform_poisson());
}

FEMURA_BACKEND_TEST("A coarse component is held where a fine one that depends on it is",
                    "[transfer]") {
  const TestType exec;
  for (const auto& shape : coarse_shapes) {
    const Levels<TestType> levels(exec, reference::random_model(shape, 0.5, 1, 0.3, 0.3, 5), 0.02);
    const auto fine_sites = femura::test::host_sites(levels.fine);
    const auto coarse_sites = femura::test::host_sites(levels.coarse);
    const auto coarse_mask = host_values(levels.coarse_held.mask);
    std::int64_t num_held = 0, wrong = 0;
    for (std::size_t i = 0; i < coarse_sites.size(); ++i) {
      int expected = 0;
      for (std::size_t j = 0; j < fine_sites.size(); ++j) {
        bool depends = true;
        for (int d = 0; d < 3; ++d)
          depends = depends && std::abs(fine_sites[j][d] - 2 * coarse_sites[i][d]) < 2;
        expected |= depends ? levels.mask[j] : 0;
      }
      wrong += coarse_mask[i] != expected;
      for (int c = 0; c < 3; ++c)
        num_held += expected >> c & 1;
    }
    CHECK(wrong == 0);
    CHECK(levels.coarse_held.num_dofs == num_held);
  }
}

FEMURA_BACKEND_TEST("Constraints list their nodes and clear their components alone", "[transfer]") {
  const TestType exec;
  const auto held = make_constraints(
      exec, upload(exec, "test::mask", std::vector<std::uint8_t>{0, 5, 0, 7, 2, 0}));
  CHECK(held.num_dofs == 6);
  CHECK(host_values(held.node) == std::vector<int>{1, 3, 4});
  const auto x = upload(exec, "test::x", std::vector<double>(18, 3));
  clear(exec, held, x);
  exec.fence();
  CHECK(host_values(x) ==
        std::vector<double>{3, 3, 3, 0, 3, 0, 3, 3, 3, 0, 0, 0, 3, 0, 3, 3, 3, 3});
}

FEMURA_BACKEND_TEST("Restriction is the transpose of prolongation", "[transfer]") {
  const TestType exec;
  for (const auto& shape : coarse_shapes)
    for (double density : {0.4, 1.0}) {
      const Levels<TestType> levels(exec, reference::random_model(shape, density, 1, 0.3, 0.3, 9),
                                    density == 1 ? 0 : 0.03);
      const auto coarse = random_free(exec, levels.coarse, levels.coarse_held, 1);
      const auto fine = random_free(exec, levels.fine, levels.fine_held, 2);
      const auto prolonged = make_zeros<double>(exec, levels.fine.num_dofs(), "test::fine");
      const auto restricted =
          make_uninitialized<double>(exec, levels.coarse.num_dofs(), "test::coarse");
      prolong_add(exec, levels.coarse, coarse, levels.fine, levels.fine_held, prolonged);
      restrict_residual(exec, levels.fine, fine, levels.coarse, levels.coarse_held, restricted);
      const double scale = std::sqrt(dot(exec, prolonged, prolonged) * dot(exec, fine, fine));
      CHECK(std::abs(dot(exec, prolonged, fine) - dot(exec, coarse, restricted)) <= 1e-14 * scale);
      CHECK((scale > 0 || levels.coarse_held.num_dofs == levels.coarse.num_dofs()));
    }
}

FEMURA_BACKEND_TEST("Held components take no part in the transfer", "[transfer]") {
  const TestType exec;
  const Levels<TestType> levels(exec, reference::random_model({6, 7, 8}, 0.7, 1, 0.3, 0.3, 2),
                                0.02);
  REQUIRE(levels.coarse_held.num_dofs < levels.coarse.num_dofs());
  const auto coarse = random_free(exec, levels.coarse, levels.coarse_held, 1);
  const auto fine = upload(exec, "test::x", std::vector<double>(levels.fine.num_dofs(), 5));
  prolong_add(exec, levels.coarse, coarse, levels.fine, levels.fine_held, fine);
  exec.fence();
  const auto after = host_values(fine);
  int changed_held = 0, changed_free = 0;
  for (std::size_t i = 0; i < after.size(); ++i)
    (levels.mask[i / 3] >> i % 3 & 1 ? changed_held : changed_free) += after[i] != 5;
  CHECK(changed_held == 0);
  CHECK(changed_free > 0);

  restrict_residual(exec, levels.fine, random_free(exec, levels.fine, levels.fine_held, 3),
                    levels.coarse, levels.coarse_held, coarse);
  exec.fence();
  const auto restricted = host_values(coarse);
  const auto mask = host_values(levels.coarse_held.mask);
  int nonzero_held = 0, nonzero_free = 0;
  for (std::size_t i = 0; i < restricted.size(); ++i)
    (mask[i / 3] >> i % 3 & 1 ? nonzero_held : nonzero_free) += restricted[i] != 0;
  CHECK(nonzero_held == 0);
  CHECK(nonzero_free > 0);
}

FEMURA_BACKEND_TEST("Prolongation reproduces linear functions", "[transfer]") {
  const TestType exec;
  for (const auto& shape : coarse_shapes) {
    const Levels<TestType> levels(exec, reference::random_model(shape, 0.6, 1, 0.3, 0.3, 3), 0);
    const auto linear = [](const std::array<int, 3>& s, int c, int scale) {
      return 1 + scale * (0.3 * (c + 1) * s[0] - 0.7 * s[1] + (0.1 - c) * s[2]);
    };
    std::vector<double> values, expected;
    for (const auto& s : femura::test::host_sites(levels.coarse))
      for (int c = 0; c < 3; ++c)
        values.push_back(linear(s, c, 2));
    for (const auto& s : femura::test::host_sites(levels.fine))
      for (int c = 0; c < 3; ++c)
        expected.push_back(10 + linear(s, c, 1));
    const auto fine = upload(exec, "test::fine", std::vector<double>(levels.fine.num_dofs(), 10));
    prolong_add(exec, levels.coarse, upload(exec, "test::coarse", values), levels.fine,
                levels.fine_held, fine);
    exec.fence();
    CHECK(reference::relative_difference(host_values(fine), expected) < 1e-15);
  }
}

FEMURA_BACKEND_TEST("On a homogeneous block the coarse operator is the Galerkin product",
                    "[transfer]") {
  const TestType exec;
  const double edge = 0.3;
  const Levels<TestType> levels(exec, reference::homogeneous({8, 6, 4}, 7, 0.3), 0);
  const auto x = random_free(exec, levels.coarse, levels.coarse_held, 6);
  const auto px = make_zeros<double>(exec, levels.fine.num_dofs(), "test::px");
  const auto apx = make_zeros<double>(exec, levels.fine.num_dofs(), "test::apx");
  const auto galerkin = make_zeros<double>(exec, levels.coarse.num_dofs(), "test::galerkin");
  const auto direct = make_zeros<double>(exec, levels.coarse.num_dofs(), "test::direct");
  prolong_add(exec, levels.coarse, x, levels.fine, levels.fine_held, px);
  GatherOperator<TestType>(exec, levels.fine,
                           make_lame_field(exec, levels.fine, levels.fine_material), edge)
      .apply(exec, px, apx);
  restrict_residual(exec, levels.fine, apx, levels.coarse, levels.coarse_held, galerkin);
  GatherOperator<TestType>(exec, levels.coarse,
                           make_lame_field(exec, levels.coarse, levels.coarse_material), 2 * edge)
      .apply(exec, x, direct);
  exec.fence();
  CHECK(reference::relative_difference(host_values(galerkin), host_values(direct)) < 1e-14);
}

} // namespace
