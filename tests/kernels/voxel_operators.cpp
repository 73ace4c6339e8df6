// SPDX-License-Identifier: BSD-3-Clause
// The matrix-free products against the assembled matrix and against each other.
#include "kernels/brick_operator.hpp"
#include "kernels/gather_operator.hpp"
#include "kernels/offset_operator.hpp"
#include "tests/backend_test.hpp"
#include "tests/kernels/lattice.hpp"

namespace {

using namespace femura;
using femura::test::host_values;
using femura::test::to_compact;
using femura::test::to_lattice;

/// A random model, its grid and constants, and the product of the oracle.
template<class Exec>
struct Sample {
  reference::Model model;
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  std::vector<double> x, y;

  Sample(const Exec& exec, reference::Model m, unsigned seed)
      : model(std::move(m)) {
    const MaterialImage<Exec> material = femura::test::upload_material(exec, model);
    grid = make_voxel_grid(exec, material.solid());
    lame = make_lame_field(exec, grid, material);
    x = reference::random_vector(model, seed);
    y = reference::assemble(model) * x;
  }
  template<template<class> class Operator, class Scalar>
  std::vector<double> apply(const Exec& exec) const {
    const Operator<Exec> matrix(exec, grid, lame, model.edge);
    const auto in = to_compact<Scalar>(exec, grid, model, x);
    // The product must not add to what is there.
    const auto out = make_uninitialized<Scalar>(exec, grid.num_dofs(), "test::product");
    Kokkos::deep_copy(out, Scalar(1e30));
    matrix.apply(exec, in, out);
    return to_lattice(grid, model, out);
  }
};

const std::array<int, 3> shapes[] = {{1, 1, 1},  {5, 5, 5},   {9, 2, 4},  {1, 8, 6},
                                     {13, 1, 1}, {7, 11, 10}, {17, 9, 35}};

FEMURA_BACKEND_TEST("The products equal the assembled matrix's on random sparse images",
                    "[voxel_operators]") {
  const TestType exec;
  unsigned seed = 10;
  for (const auto& shape : shapes)
    for (double density : {0.1, 0.5, 1.0}) {
      ++seed;
      const Sample<TestType> sample(
          exec, reference::random_model(shape, density, 1e4, 0.3, 0.3, seed, 0.037), seed);
      INFO(shape[0] << " x " << shape[1] << " x " << shape[2] << ", density " << density);
      using reference::relative_difference;
      // 0.3 itself is a float here, moduli are floats: nothing is lost but rounding.
      CHECK(relative_difference(sample.template apply<OffsetOperator, double>(exec), sample.y) <
            1e-13);
      CHECK(relative_difference(sample.template apply<GatherOperator, double>(exec), sample.y) <
            1e-13);
      CHECK(relative_difference(sample.template apply<BrickOperator, double>(exec), sample.y) <
            1e-13);
      CHECK(relative_difference(sample.template apply<OffsetOperator, float>(exec), sample.y) <
            1e-6);
      CHECK(relative_difference(sample.template apply<BrickOperator, float>(exec), sample.y) <
            1e-6);
      CHECK(relative_difference(sample.template apply<GatherOperator, float>(exec), sample.y) <
            1e-6);
    }
}

FEMURA_BACKEND_TEST("The products honour a Poisson ratio per voxel", "[voxel_operators]") {
  const TestType exec;
  unsigned seed = 50;
  for (const auto& shape : shapes) {
    ++seed;
    const Sample<TestType> sample(exec, reference::random_model(shape, 0.6, 100, -0.4, 0.45, seed),
                                  seed);
    const auto offset = sample.template apply<OffsetOperator, double>(exec);
    const auto gather = sample.template apply<GatherOperator, double>(exec);
    INFO(shape[0] << " x " << shape[1] << " x " << shape[2]);
    // Lame's constants are kept as floats.
    CHECK(reference::relative_difference(offset, sample.y) < 2e-7);
    CHECK(reference::relative_difference(gather, sample.y) < 2e-7);
    CHECK(reference::relative_difference(gather, offset) < 1e-14);
    CHECK(reference::relative_difference(sample.template apply<BrickOperator, double>(exec),
                                         gather) < 1e-14);
  }
}

FEMURA_BACKEND_TEST("Linear displacements of a solid block load its surface alone",
                    "[voxel_operators]") {
  const TestType exec;
  reference::Model model = reference::homogeneous({9, 6, 5}, 10, 0.3, 0.5);
  Sample<TestType> sample(exec, model, 1);
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    const auto s = model.site(node);
    sample.x[3 * node] = 1 + 0.1 * s[0] - 0.2 * s[1] + 0.7 * s[2];
    sample.x[3 * node + 1] = 0.4 * s[0] + 0.3 * s[1] - 0.6 * s[2];
    sample.x[3 * node + 2] = -2 + 0.5 * s[0] - 0.8 * s[1] - 0.9 * s[2];
  }
  const auto y = sample.template apply<GatherOperator, double>(exec);
  double inside = 0, surface = 0;
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    const auto s = model.site(node);
    bool boundary = false;
    for (int d = 0; d < 3; ++d)
      boundary = boundary || s[d] == 0 || s[d] == model.shape[d];
    for (int c = 0; c < 3; ++c)
      (boundary ? surface : inside) =
          std::max(boundary ? surface : inside, std::abs(y[3 * node + c]));
  }
  CHECK(surface > 1);
  CHECK(inside < 1e-13 * surface);
}

FEMURA_BACKEND_TEST("Products without atomics are the same to the last bit in every run",
                    "[voxel_operators]") {
  const TestType exec;
  const Sample<TestType> sample(exec, reference::random_model({12, 11, 10}, 0.7, 1e3, 0.3, 0.3, 3),
                                3);
  const auto first = sample.template apply<GatherOperator, double>(exec);
  const auto brick = sample.template apply<BrickOperator, double>(exec);
  for (int run = 0; run < 4; ++run) {
    CHECK(sample.template apply<GatherOperator, double>(exec) == first);
    CHECK(sample.template apply<BrickOperator, double>(exec) == brick);
  }
}

template<class Exec>
OffsetClasses solid_cube_classes(const Exec& exec, int n) {
  const auto image =
      femura::test::device_image(exec, {n, n, n}, std::vector<float>(std::size_t(n) * n * n, 1));
  const auto grid = make_voxel_grid(exec, image);
  const auto lame = make_lame_field(exec, grid, make_material(image, 0.3));
  return OffsetOperator<Exec>(exec, grid, lame, 1).classes();
}

FEMURA_BACKEND_TEST("Distances between an element's nodes are as short as the paper's lemma says",
                    "[voxel_operators]") {
  // Arbenz, Flaig, Kellenberger 2014, (A.3): shares of at least 165 / 256 and 61473 / 65536, for
  // building blocks of Morton keys: compact numbers in a finite cube are at most as far apart.
  const TestType exec;
  const OffsetClasses classes = solid_cube_classes(exec, 64);
  const double total = 64 * 64 * 64;
  CHECK(classes.num_short + classes.num_medium + classes.num_long == 64 * 64 * 64);
  CHECK(classes.num_short / total >= 165. / 256);
  CHECK((classes.num_short + classes.num_medium) / total >= 61473. / 65536);
  // Exactly, from the numbering itself.
  const OffsetClasses small = solid_cube_classes(exec, 3); // 64 nodes: all short
  CHECK(small.num_short == 27);
  CHECK(small.num_medium == 0);
  CHECK(small.num_long == 0);
}

FEMURA_BACKEND_TEST("Elements of all three classes are multiplied", "[voxel_operators]") {
  const TestType exec;
  const int n = 48; // 117 649 nodes: some distances exceed 65 535
  const OffsetClasses classes = solid_cube_classes(exec, n);
  REQUIRE(classes.num_short > 0);
  REQUIRE(classes.num_medium > 0);
  REQUIRE(classes.num_long > 0);
  const auto image =
      femura::test::device_image(exec, {n, n, n}, std::vector<float>(std::size_t(n) * n * n, 3));
  const auto grid = make_voxel_grid(exec, image);
  const auto lame = make_lame_field(exec, grid, make_material(image, 0.3));
  const auto x = make_zeros<double>(exec, grid.num_dofs(), "test::x");
  const auto offset = make_zeros<double>(exec, grid.num_dofs(), "test::offset");
  const auto gather = make_zeros<double>(exec, grid.num_dofs(), "test::gather");
  fill_random(exec, 5, x);
  OffsetOperator<TestType>(exec, grid, lame, 0.1).apply(exec, x, offset);
  GatherOperator<TestType>(exec, grid, lame, 0.1).apply(exec, x, gather);
  exec.fence();
  CHECK(reference::relative_difference(host_values(offset), host_values(gather)) < 1e-14);
}

FEMURA_BACKEND_TEST("Poisson ratios per voxel are checked at solid voxels only",
                    "[voxel_operators]") {
  const TestType exec;
  const auto modulus = femura::test::device_image(exec, {2, 1, 1}, {5, 0});
  CHECK_NOTHROW(
      make_material(exec, modulus, femura::test::device_image(exec, {2, 1, 1}, {0.2f, 9})));
  for (float bad : {0.5f, -1.0f, 2.0f, std::nanf("")})
    CHECK_THROWS_AS(
        make_material(exec, modulus, femura::test::device_image(exec, {2, 1, 1}, {bad, 0.2f})),
        InputError);
  CHECK_THROWS_AS(
      make_material(exec, modulus, femura::test::device_image(exec, {3, 1, 1}, {0, 0, 0})),
      std::invalid_argument);
}

} // namespace
