// SPDX-License-Identifier: Apache-2.0
// Natural frequencies of bodies with mirrors: all of those of the whole body, whose elements and
// images have the same densities, and their gradients.
#include "tests/backend_test.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/frequency_checks.hpp"
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <array>
#include <cmath>
#include <memory>
#include <utility>

namespace {

using namespace ossatura;
using namespace ossatura::test;

constexpr int num_cells[3] = {6, 4, 2}; ///< of the whole body, cubes of 0.5

/// The part of a box that is above its middle along the axes of `mirrored` (bits), held at the ends
/// along x, or in the middle of it where this is free, and there at a node in z alone.
DesignProblem part_of_box(unsigned mirrored, SolidKind kind = SolidKind::hexa8) {
  DesignProblem problem;
  std::array<int, 3> cells{};
  std::array<double, 3> size{};
  for (int c = 0; c < 3; ++c) {
    cells[std::size_t(c)] = num_cells[c] / ((mirrored >> c & 1) != 0 ? 2 : 1);
    size[std::size_t(c)] = 0.5 * cells[std::size_t(c)];
  }
  const auto centre = [&](std::vector<double>& point) { // the whole is around the origin
    for (std::size_t i = 0; i < point.size(); ++i)
      if ((mirrored >> i % 3 & 1) == 0)
        point[i] -= size[i % 3] / 2;
  };
  if (kind == SolidKind::hexa8) {
    problem.mesh = make_hexa_box({cells[0], cells[1], cells[2]}, {size[0], size[1], size[2]});
    centre(problem.mesh.point);
  } else {
    SolidMesh mesh = ossatura_test::make_solid_box([&](int) { return kind; }, cells, size,
                                                   [](std::array<double, 3>&) {});
    centre(mesh.point);
    problem.solids = std::make_shared<const SolidMesh>(std::move(mesh));
  }
  problem.young = 200;
  problem.materials = {{"only", 200, 0.3, 3}};
  MirrorSupports supports;
  for (int axis = 0; axis < 3; ++axis)
    if ((mirrored >> axis & 1) != 0) {
      problem.mirrors.push_back({axis, 0});
      supports.on_plane.emplace_back();
    }
  const double end = 0.25 * num_cells[0];
  for (std::size_t n = 0; n < problem.num_nodes(); ++n) {
    const double* x = &problem.points()[3 * n];
    unsigned held = std::fabs(std::fabs(x[0]) - end) < 1e-9 ? 7 : 0;
    if (x[0] == 0 && x[1] == 0 && std::fabs(x[2]) > 0.4) // on planes of mirrors, a real support
      held |= 4;
    const unsigned own = held;
    for (std::size_t m = 0; m < problem.mirrors.size(); ++m)
      if (x[problem.mirrors[m].axis] == 0) {
        supports.on_plane[m].push_back(std::int32_t(n));
        held |= 1u << problem.mirrors[m].axis;
      }
    if (own != 0)
      supports.held.push_back({std::int32_t(n), std::uint8_t(own)});
    if (held != 0)
      problem.held.push_back({std::int32_t(n), std::uint8_t(held)});
  }
  if (mirrored != 0)
    problem.mirror_supports = supports;
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{0, {1, 0, 0}}};
  for (const HeldComponents& one : problem.held) // a force that does something
    if (problem.cases[0].loads.forces[0].node == one.node)
      ++problem.cases[0].loads.forces[0].node;
  return problem;
}

/// A density that an element and its images have.
std::vector<double> symmetric_densities(const DesignProblem& problem) {
  std::vector<double> x;
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    double angle = 0.3, factor = 1;
    for (const double one : problem.centre_of(e)) {
      angle += factor * one * one;
      factor += 2.7;
    }
    x.push_back(0.55 + 0.4 * std::sin(5 * angle));
  }
  return x;
}

template<class Exec>
DesignStep analyse_symmetric(const Exec& exec, DesignOptimizer<Exec>& optimizer,
                             const DesignProblem& problem) {
  set_design(exec, optimizer, symmetric_densities(problem));
  return optimizer.analyse(exec);
}

DesignOptions options_on_grid(DesignGrid grid, double tolerance = 1e-8) {
  DesignOptions options = options_of_frequencies(6, tolerance);
  options.grid = grid;
  options.voxels.precision = Precision::fp64;
  options.voxels.multigrid.direct_nodes = 60;
  return options;
}

} // namespace

OSSATURA_BACKEND_TEST("A part with mirrors has all frequencies of the whole",
                      "[mirrored_frequencies]") {
  const TestType exec;
  for (const auto& [grid, kind] : {std::pair(DesignGrid::mesh, SolidKind::hexa8),
                                   {DesignGrid::voxels, SolidKind::hexa8},
                                   {DesignGrid::mesh, SolidKind::hexa20}}) {
    INFO(name_of(grid) << ", " << name_of(kind));
    const DesignOptions options = options_on_grid(grid);
    const DesignProblem whole = part_of_box(0, kind);
    DesignOptimizer<TestType> reference(exec, whole, options);
    const DesignStep expected = analyse_symmetric(exec, reference, whole);
    CHECK(expected.frequency_families.empty());
    for (const unsigned mirrored : {2u, 6u, 7u}) {
      if ((grid == DesignGrid::voxels || kind != SolidKind::hexa8) && mirrored != 6)
        continue;
      INFO("mirrors " << mirrored);
      const DesignProblem part = part_of_box(mirrored, kind);
      DesignOptimizer<TestType> optimizer(exec, part, options);
      const DesignStep found = analyse_symmetric(exec, optimizer, part);
      REQUIRE(found.frequencies.size() == expected.frequencies.size());
      unsigned seen = 0;
      for (std::size_t i = 0; i < found.frequencies.size(); ++i) {
        CHECK(found.frequencies[i] == Approx(expected.frequencies[i]).epsilon(1e-7));
        CHECK(found.frequency_residuals[i] <= 1e-8);
        seen |= 1u << found.frequency_families[i];
      }
      CHECK(count_ones(seen) > 1); // the symmetric ones alone are not all
      for (std::size_t i = 0; i < found.frequencies.size(); ++i) {
        const std::vector<double> mode = optimizer.mode(exec, int(i));
        for (std::size_t m = 0; m < part.mirrors.size(); ++m) {
          const int axis = part.mirrors[m].axis;
          const bool is_anti = (found.frequency_families[i] >> m & 1) != 0;
          for (const std::int32_t node : part.mirror_supports->on_plane[m])
            for (int c = 0; c < 3; ++c)
              if ((c == axis) != is_anti)
                CHECK(mode[3 * std::size_t(node) + std::size_t(c)] == 0);
        }
      }
    }
  }
}

OSSATURA_BACKEND_TEST("Gradients of a part with mirrors are those of differences, and of the whole",
                      "[mirrored_frequencies]") {
  const TestType exec;
  const DesignProblem part = part_of_box(6), whole = part_of_box(0);
  DesignOptions options = options_of_frequencies(4, 1e-10);
  check_mean_gradient(exec, part, options, symmetric_densities(part), false);
  options.objective = DesignObjective::frequency;
  DesignOptimizer<TestType> optimizer(exec, part, options), reference(exec, whole, options);
  analyse_symmetric(exec, optimizer, part);
  analyse_symmetric(exec, reference, whole);
  const std::vector<double> by_part = optimizer.objective_gradient(exec),
                            by_whole = reference.objective_gradient(exec);
  std::vector<double> sum(by_part.size());
  for (std::size_t e = 0; e < by_whole.size(); ++e) {
    const std::array<double, 3> at = whole.centre_of(e);
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const std::array<double, 3> own = part.centre_of(k);
      if (std::fabs(own[0] - at[0]) + std::fabs(own[1] - std::fabs(at[1])) +
              std::fabs(own[2] - std::fabs(at[2])) <
          1e-9)
        sum[k] += by_whole[e];
    }
  }
  for (std::size_t k = 0; k < sum.size(); ++k)
    CHECK(by_part[k] == Approx(sum[k]).epsilon(1e-6).margin(1e-9));
}

OSSATURA_BACKEND_TEST("Designs with mirrors go on with the same bits", "[mirrored_frequencies]") {
  const TestType exec;
  const DesignProblem part = part_of_box(2);
  for (const DesignGrid grid : {DesignGrid::mesh, DesignGrid::voxels}) {
    DesignOptions options = options_on_grid(grid, 1e-6);
    options.frequencies = 3;
    options.objective = DesignObjective::frequency;
    options.volume_fraction = 0.5;
    options.move = move_with_frequency;
    options.filter = DesignFilter::density;
    options.radius = 0.8;
    DesignOptimizer<TestType> whole(exec, part, options), rest(exec, part, options);
    for (int step = 0; step < 5; ++step) {
      if (step == 3)
        rest.set_state(exec, whole.state(exec));
      const DesignStep last = whole.step(exec);
      CHECK(last.objective == last.frequencies[0]);
      if (step >= 3)
        CHECK(rest.step(exec).frequencies == last.frequencies);
    }
    CHECK(rest.variables(exec) == whole.variables(exec));
  }
}

OSSATURA_BACKEND_TEST("Mirrors whose whole part is not known are refused by name",
                      "[mirrored_frequencies]") {
  const TestType exec;
  const DesignProblem part = part_of_box(2);
  const auto refused = [&](const DesignProblem& problem, const char* why) {
    CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, problem, options_of_frequencies(2)),
                      ContainsSubstring(why));
  };
  DesignProblem other = part;
  other.mirror_supports.reset();
  refused(other, "mirror_supports");
  other = part;
  other.mirrors.push_back({1, 1});
  other.mirror_supports->on_plane.emplace_back();
  refused(other, "the mirror y = 0 and the mirror y = 1 make images without end");
  other = part;
  for (const std::int32_t node : other.mirror_supports->on_plane[0])
    other.mirror_supports->held.push_back({node, 2});
  refused(other, "supports, too, hold all nodes on the mirror y = 0");
  // Held by its mirror alone along y, and about x and z.
  other = part_of_box(2);
  other.mirror_supports->held = {{other.mirror_supports->on_plane[0].front(), 5}};
  refused(other, "antisymmetric about the mirrors along y");
}
