// SPDX-License-Identifier: Apache-2.0
#include "bench/topopt/step_problems.hpp"

#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/generators.hpp>

#include <algorithm>
#include <unordered_map>

namespace ossatura::bench {

namespace {

constexpr double volume_fraction = 0.12;

/// A material with a density and an expansion, as gravity and temperatures need it.
void add_material(DesignProblem& problem, double density, double expansion) {
  problem.materials = {{"", problem.young, problem.poisson, density, expansion}};
}

void add_course(StepDesign& design, StepCourse course, int n) {
  DesignProblem& problem = design.problem;
  DesignOptions& options = design.options;
  const bool is_plain = course == StepCourse::oc || course == StepCourse::projection ||
                        course == StepCourse::overhang;
  options.method = is_plain ? DesignMethod::oc : DesignMethod::mma;
  switch (course) {
  case StepCourse::oc:
  case StepCourse::mma:
    break;
  case StepCourse::projection:
    options.projection = true;
    options.sharpness = {1, 1};
    break;
  case StepCourse::stress: {
    options.move = move_with_stress;
    DesignLimit limit;
    limit.kind = DesignLimitKind::stress;
    limit.limit = 3000. / (double(n) * n);
    problem.limits.push_back(limit);
    break;
  }
  case StepCourse::overhang:
    options.process.overhang = ProcessAxis{2, 1};
    break;
  case StepCourse::heavy: { // the load of the cantilever is 1 N
    add_material(problem, 1, 0);
    BodyLoad gravity;
    gravity.acceleration[2] = -0.1 / (volume_fraction * double(problem.num_elem()));
    problem.cases[0].loads.body.push_back(gravity);
    break;
  }
  case StepCourse::warm:
    add_material(problem, 0, 1e-3);
    problem.cases[0].loads.warming.assign(problem.num_nodes(), 1);
    break;
  }
}

/// Tetrahedra with nodes in the middle of their edges.
SolidMesh with_mid_nodes(const ElementMesh& mesh) {
  SolidMesh solids;
  solids.point = mesh.point;
  std::unordered_map<std::uint64_t, std::int32_t> middle;
  const std::uint64_t num_points = mesh.num_points();
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    std::int32_t nodes[10];
    std::copy_n(&mesh.node[4 * e], 4, nodes);
    for (int k = 0; k < tetra_shape.num_edges; ++k) {
      const auto [low, high] =
          std::minmax(nodes[tetra_shape.edge[k][0]], nodes[tetra_shape.edge[k][1]]);
      const auto [found, is_new] = middle.try_emplace(
          std::uint64_t(low) * num_points + std::uint64_t(high), std::int32_t(solids.num_points()));
      for (std::size_t d = 0; is_new && d < 3; ++d)
        solids.point.push_back(
            0.5 * (mesh.point[3 * std::size_t(low) + d] + mesh.point[3 * std::size_t(high) + d]));
      nodes[4 + k] = found->second;
    }
    solids.add(SolidKind::tetra10, nodes);
  }
  return solids;
}

} // namespace

StepDesign make_cubes_design(DesignGrid grid, StepCourse course, int n) {
  const int half = n / 2;
  GeneratedDesign generated =
      generate_design("cantilever", {n, half, half}, {double(n), double(half), double(half)});
  StepDesign design;
  design.problem.mesh = std::move(generated.model.mesh);
  design.problem.held = std::move(generated.model.held);
  for (NodeLoads& loads : generated.model.loads)
    design.problem.cases.push_back({std::move(loads), 1});
  design.options.grid = grid;
  design.options.volume_fraction = volume_fraction;
  design.options.change_tolerance = 0;
  add_course(design, course, n);
  return design;
}

StepDesign make_tetra10_design(int n) {
  const int half = n / 2;
  StepDesign design;
  DesignProblem& problem = design.problem;
  problem.solids = std::make_shared<const SolidMesh>(
      with_mid_nodes(make_tetra_box({n, half, half}, {double(n), double(half), double(half)})));
  std::vector<std::int32_t> end;
  for (std::size_t i = 0; i < problem.num_nodes(); ++i) {
    const double x = problem.points()[3 * i];
    if (x == 0)
      problem.held.push_back({std::int32_t(i), 7});
    else if (x == double(n))
      end.push_back(std::int32_t(i));
  }
  problem.cases.resize(1);
  problem.cases[0].loads.forces =
      traction_forces(*problem.solids, end, {0, 0, -1. / (double(half) * half)});
  design.options.volume_fraction = 0.3;
  design.options.change_tolerance = 0;
  return design;
}

} // namespace ossatura::bench
