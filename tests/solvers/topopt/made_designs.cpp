// SPDX-License-Identifier: Apache-2.0
// Designs of parts that can be made: gradients against differences, what processes promise of the
// last design, meshes against voxels, resumed runs, and refusals.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/solvers/topopt/process/groups.hpp>

#include <algorithm>
#include <map>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using MadeDensities = std::vector<double>;

/// A box of cubes of 0.5 m that is held on one side, with a load that has no symmetry, and solid
/// and void elements.
DesignProblem made_problem(int nx = 6, int ny = 4, int nz = 4) {
  DesignProblem problem;
  problem.mesh = make_hexa_box({nx, ny, nz}, {nx / 2.0, ny / 2.0, nz / 2.0});
  problem.young = 200;
  hold(problem, 7, [](double x, double, double) { return x < 0.1; });
  problem.cases.resize(1);
  problem.cases[0] = {{"down", {{node_at(problem, nx / 2.0, 0, nz / 2.0), {0.1, 0.2, -1}}}}, 1};
  problem.role.assign(problem.mesh.num_elem(), DesignRole::free);
  return problem;
}

DesignOptions made_options(double tolerance, const DesignProcess& process, bool on_voxels) {
  DesignOptions options = options_with(tolerance);
  options.radius = 0.8;
  options.min_modulus = 1e-3;
  options.process = process;
  options.sharpness = {2, 16, 2, 2};
  if (on_voxels) {
    options.grid = DesignGrid::voxels;
    options.voxels.precision = tolerance < 1e-9 ? Precision::fp64 : Precision::lean;
    options.voxels.multigrid.direct_nodes = 60;
  }
  return options;
}

DesignProcess extruded(int axis) {
  DesignProcess process;
  process.extrude = axis;
  return process;
}
DesignProcess drawn(int axis, int sense) {
  DesignProcess process;
  process.draw = {{axis, sense}, {}};
  return process;
}
DesignProcess parted(int axis, double place) {
  DesignProcess process;
  process.draw = {{axis, 1}, place};
  return process;
}
DesignProcess symmetric(int axis, double place) {
  DesignProcess process;
  process.symmetry = {{axis, place}};
  return process;
}
DesignProcess in_sectors(int count) { // of a box of 4 x 4 cubes across x
  DesignProcess process;
  process.rotation = {count, 0, {0, 1, 1}};
  return process;
}
DesignProcess built(int axis, int sense) {
  DesignProcess process;
  process.overhang = {axis, sense};
  return process;
}

OSSATURA_BACKEND_TEST("Gradients of parts that can be made are those of differences",
                      "[made_designs]") {
  const TestType exec;
  DesignProblem problem = made_problem(4, 4, 4);
  problem.role[57] = DesignRole::void_;
  DesignProcess process = parted(2, 1);
  process.symmetry = {{1, 1}};
  check_gradients(exec, problem, made_options(1e-12, process, false));
  problem.role[0] = DesignRole::solid; // at the parting face of what is drawn up
  for (const DesignProcess& one : {extruded(1), drawn(2, 1), in_sectors(4)})
    check_gradients(exec, problem, made_options(1e-12, one, false));
  DesignOptions projected = made_options(1e-12, symmetric(1, 1), false);
  projected.projection = true;
  projected.sharpness.start = 3;
  check_gradients(exec, problem, projected);
  projected.filter = DesignFilter::none;
  check_gradients(exec, problem, projected);
}

OSSATURA_BACKEND_TEST("Gradients of made parts on voxels are those of differences",
                      "[made_designs]") {
  const TestType exec;
  DesignProblem problem = made_problem(4, 4, 4);
  problem.role[0] = DesignRole::solid; // at the parting face
  problem.role[57] = DesignRole::void_;
  // Moduli are rounded to single precision, which moves differences by about 6e-8 / h of
  // compliances.
  for (const DesignProcess& process : {extruded(1), drawn(0, 1), in_sectors(2)})
    check_gradients(exec, problem, made_options(1e-12, process, true), 0.2, 0.6,
                    {1e-2, 1e-4, 1e-6});
  // The filter of overhangs bends within a hundredth: steps are smaller, and more is rounded.
  DesignProcess process = built(2, -1);
  process.symmetry = {{1, 1}};
  DesignOptions options = made_options(1e-12, process, true);
  check_gradients(exec, problem, options, 0.2, 0.6, {1e-3, 1e-3, 1e-6});
  options.projection = true;
  options.sharpness.start = 3;
  check_gradients(exec, problem, options, 0.2, 0.6, {1e-3, 1e-3, 1e-6});
}

/// After a few steps.
template<class Exec>
MadeDensities made_densities(const Exec& exec, const DesignProblem& problem,
                             const DesignOptions& options, int count = 4) {
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  double last = 0;
  for (int k = 0; k < count; ++k)
    last = optimizer.step(exec).objective;
  CHECK(optimizer.meet_volume(exec));
  const DesignStep end = optimizer.analyse(exec);
  CHECK(end.objective < 2 * last);
  CHECK(end.volume <= options.volume_fraction * (1 + 1e-6));
  const bool is_whole = std::all_of(problem.role.begin(), problem.role.end(),
                                    [](DesignRole role) { return role == DesignRole::free; });
  if (is_whole)
    CHECK(optimizer.process_faults(exec).sum() == 0);
  return optimizer.densities(exec);
}

/// The density at a place of a box of 6 x 4 x 4.
double at(const MadeDensities& rho, int x, int y, int z) {
  return rho[std::size_t(x + 6 * (y + 4 * z))];
}

OSSATURA_BACKEND_TEST("Linked designs are the same where they have to be", "[made_designs]") {
  const TestType exec;
  const DesignProblem problem = made_problem();
  for (const bool on_voxels : {false, true}) {
    const auto design = [&](const DesignProcess& process,
                            DesignFilter filter = DesignFilter::density) {
      DesignOptions options = made_options(1e-7, process, on_voxels);
      options.filter = filter;
      return made_densities(exec, problem, options);
    };
    const MadeDensities along_y = design(extruded(1)), about_z = design(symmetric(2, 1)),
                        turned = design(in_sectors(4)),
                        heuristic = design(extruded(1), DesignFilter::sensitivity);
    double spread = 0;
    for (int z = 0; z < 4; ++z)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 6; ++x) {
          CHECK(at(along_y, x, y, z) == at(along_y, x, 0, z));
          CHECK(at(heuristic, x, y, z) == at(heuristic, x, 0, z));
          CHECK(at(about_z, x, y, z) == at(about_z, x, y, 3 - z));
          CHECK(at(turned, x, y, z) == at(turned, x, 3 - z, y));
          spread = std::max(spread, std::fabs(at(along_y, x, y, z) - at(along_y, 0, 0, 0)));
        }
    CHECK(spread > 0.1);
  }
}

OSSATURA_BACKEND_TEST("Drawn designs have no undercut", "[made_designs]") {
  const TestType exec;
  const DesignProblem problem = made_problem();
  for (const bool on_voxels : {false, true})
    for (const DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
      DesignOptions options = made_options(1e-7, drawn(2, -1), on_voxels);
      options.method = method;
      const MadeDensities down = made_densities(exec, problem, options);
      options.process = parted(2, 1);
      const MadeDensities both = made_densities(exec, problem, options);
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 6; ++x) {
          for (int z = 1; z < 4; ++z)
            CHECK(at(down, x, y, z) >= at(down, x, y, z - 1) - 1e-14);
          CHECK(at(both, x, y, 0) <= at(both, x, y, 1) + 1e-14);
          CHECK(at(both, x, y, 3) <= at(both, x, y, 2) + 1e-14);
        }
    }
  // A solid element keeps the column below it, a void one is an undercut that is counted.
  DesignProblem kept = problem;
  kept.role[std::size_t(2 + 6 * (1 + 4 * 2))] = DesignRole::solid;
  kept.role[std::size_t(2 + 6 * (1 + 4 * 0))] = DesignRole::void_;
  for (const bool on_voxels : {false, true}) {
    DesignOptimizer<TestType> optimizer(exec, kept, made_options(1e-7, drawn(2, 1), on_voxels));
    CHECK(at(optimizer.densities(exec), 2, 1, 1) == 1);
    CHECK(optimizer.process_faults(exec).undercuts == 1);
  }
}

OSSATURA_BACKEND_TEST("Designs of meshes and voxels are made alike", "[made_designs]") {
  const TestType exec;
  DesignProblem problem = made_problem();
  problem.role[20] = DesignRole::solid;
  for (const DesignProcess& process : {extruded(2), parted(1, 1), in_sectors(2)}) {
    const MadeDensities mesh = made_densities(exec, problem, made_options(1e-9, process, false)),
                        voxels = made_densities(exec, problem, made_options(1e-9, process, true));
    for (std::size_t e = 0; e < mesh.size(); ++e)
      CHECK(std::fabs(mesh[e] - voxels[e]) < 1e-3);
  }
}

OSSATURA_BACKEND_TEST("Built designs support themselves", "[made_designs]") {
  const TestType exec;
  DesignProblem problem = made_problem(12, 1, 6);
  problem.cases[0].loads.forces = {{node_at(problem, 6, 0, 0), {0, 0, -1}},
                                   {node_at(problem, 6, 0.5, 0), {0, 0, -1}}};
  std::int64_t hanging[2];
  for (const bool asked : {false, true}) {
    DesignOptions options = made_options(1e-5, asked ? built(2, 1) : DesignProcess(), true);
    options.min_modulus = 1e-6;
    options.projection = true;
    options.sharpness = {2, 16, 6, 2};
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    for (int k = 0; k < 24; ++k)
      optimizer.step(exec);
    std::int64_t& found = hanging[asked ? 1 : 0];
    found = 0;
    const MadeDensities rho = optimizer.densities(exec);
    const auto solid = [&](int x, int z) {
      return x >= 0 && x < 12 && rho[std::size_t(x + 12 * z)] >= 0.5;
    };
    for (int z = 1; z < 6; ++z)
      for (int x = 0; x < 12; ++x)
        found += solid(x, z) && !solid(x, z - 1) && !solid(x - 1, z - 1) && !solid(x + 1, z - 1);
    if (asked)
      CHECK(optimizer.process_faults(exec).hanging == found);
  }
  CHECK(hanging[0] > 0);
  CHECK(hanging[1] == 0);
}

OSSATURA_BACKEND_TEST("What is printed has the volume that is allowed", "[made_designs]") {
  const TestType exec;
  DesignProblem problem = made_problem(12, 6, 6);
  problem.role[5] = DesignRole::solid;
  problem.role[200] = DesignRole::void_;
  for (const bool projects : {false, true})
    for (const auto& [fraction, start] :
         {std::pair(0.12, 0.0), {0.12, 0.9}, {0.4, 0.0}, {0.4, 0.01}}) {
      DesignOptions options = made_options(1e-4, built(2, 1), true);
      options.projection = projects; // sharper after every second step
      options.volume_fraction = fraction;
      options.start = start;
      DesignOptimizer<TestType> optimizer(exec, problem, options);
      for (int k = 0; k < 8; ++k) {
        const DesignStep step = optimizer.step(exec);
        if (k > (start > 0 ? 5 : 0)) // the way is longer than a step
          CHECK(step.volume == Approx(fraction).epsilon(1.01e-4));
        CHECK(step.change <= options.move * (1 + 1e-12));
      }
    }
}

OSSATURA_BACKEND_TEST("Images in mirrors support what is built", "[made_designs]") {
  const TestType exec;
  DesignProblem whole = made_problem(6, 4, 4), half = made_problem(6, 2, 4);
  for (DesignProblem* problem : {&whole, &half})
    problem->cases[0].loads.forces = {
        {node_at(*problem, 3, 1, 0), {0, 0, problem == &whole ? -1.0 : -0.5}}};
  hold(half, 2, [](double, double y, double) { return y > 0.9; });
  half.mirrors = {{1, 1}};
  const DesignOptions options = made_options(1e-9, built(2, 1), true);
  DesignOptimizer<TestType> all(exec, whole, options), part(exec, half, options);
  for (int k = 0; k < 4; ++k)
    CHECK(2 * part.step(exec).objective == Approx(all.step(exec).objective).epsilon(1e-5));
  const MadeDensities rho = all.densities(exec), own = part.densities(exec);
  double largest = 0;
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 6; ++x)
        largest =
            std::max(largest, std::fabs(at(rho, x, y, z) - own[std::size_t(x + 6 * (y + 2 * z))]));
  CHECK(largest < 1e-4);
  check_gradients(exec, half, made_options(1e-12, built(2, 1), true), 0.2, 0.6, {1e-3, 1e-3, 1e-6});
}

OSSATURA_BACKEND_TEST("Resumed runs of made parts have the same bits", "[made_designs]") {
  const TestType exec;
  const DesignProblem problem = made_problem();
  DesignProcess both = extruded(1);
  both.symmetry = {{2, 1}};
  for (const bool on_voxels : {false, true})
    for (const DesignProcess& process : {both, parted(2, 1), built(2, 1)}) {
      if (process.overhang && !on_voxels)
        continue;
      DesignOptions options = made_options(1e-6, process, on_voxels);
      options.method = process.draw ? DesignMethod::mma : DesignMethod::oc;
      DesignOptimizer<TestType> whole(exec, problem, options);
      for (int k = 0; k < 2; ++k)
        whole.step(exec);
      const DesignState state = whole.state(exec);
      for (int k = 0; k < 2; ++k)
        whole.step(exec);
      DesignOptimizer<TestType> resumed(exec, problem, options);
      resumed.set_state(exec, state);
      for (int k = 0; k < 2; ++k)
        resumed.step(exec);
      CHECK(resumed.variables(exec) == whole.variables(exec));
      CHECK(resumed.densities(exec) == whole.densities(exec));
    }
}

template<class Exec>
void refuse_process(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                    const char* reason) {
  CHECK_THROWS_WITH((DesignOptimizer<Exec>(exec, problem, options)), ContainsSubstring(reason));
}

OSSATURA_BACKEND_TEST("Processes that do not fit are refused", "[made_designs]") {
  const TestType exec;
  const DesignProblem problem = made_problem();
  for (const bool on_voxels : {false, true}) {
    const auto refuse = [&](const DesignProcess& process, const char* reason) {
      refuse_process(exec, problem, made_options(1e-6, process, on_voxels), reason);
    };
    DesignProcess process = drawn(2, 1);
    process.overhang = ProcessAxis{0, 1};
    refuse(process, "leave one out");
    process = extruded(0);
    process.symmetry = {{0, 1.5}};
    refuse(process, "planes that contain the direction alone");
    process = drawn(2, 1);
    process.rotation = {2, 0, {}};
    refuse(process, "take the same axis");
    process.rotation->sectors = 1;
    refuse(process, "1 sectors: at least 2");
    refuse(parted(2, 2), "does not part the body");
    refuse(parted(2, -0.5), "does not part the body");
    refuse(extruded(3), "none of x, y and z");
    refuse(symmetric(1, 0.75), "no image");
    process = symmetric(0, 1.5);
    process.rotation = {4, 0, {0, 1, 0.75}};
    refuse(process, on_voxels ? "does not fit the cubes" : "no image");
    DesignOptions options = made_options(1e-6, drawn(2, 1), on_voxels);
    options.projection = true;
    refuse_process(exec, problem, options, "leave the projection out");
    options.projection = false;
    options.filter = DesignFilter::sensitivity;
    refuse_process(exec, problem, options, "take the filter density");
  }
  refuse_process(exec, problem, made_options(1e-6, built(2, 1), false), "take the grid voxels");
  refuse_process(exec, problem, made_options(1e-6, in_sectors(3), true), "2 or 4 on voxels");
  refuse_process(exec, problem, made_options(1e-6, parted(2, 0.9), true), "does not fit the cubes");
  refuse_process(exec, small_problem(), made_options(1e-6, extruded(2), false),
                 "the mesh has no columns along z");
}

TEST_CASE("Elements of a mesh are linked by their centres", "[made_designs]") {
  // Two columns of three, the upper one of another height; the middle is a part out of the line.
  ElementPoints points;
  for (int z = 0; z < 3; ++z)
    for (int x = 0; x < 2; ++x) {
      points.centre.insert(points.centre.end(), {x + (z == 1 ? 0.003 : 0.0), 0.5, z + 0.5});
      points.size.push_back(1);
    }
  CHECK(find_columns(points, 2) == std::vector<std::int32_t>{0, 1, 0, 1, 0, 1});
  DesignProcess process;
  process.symmetry = {{0, 0.5}};
  ElementLists lists = link_elements(points, process, {});
  CHECK(lists.begin == std::vector<std::int64_t>{0, 2, 4, 6});
  CHECK(lists.member == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  lists = link_elements(points, process, find_columns(points, 2));
  CHECK(lists.begin == std::vector<std::int64_t>{0, 6});
  points.centre[6] = 0.1;
  CHECK_THROWS_WITH(find_columns(points, 2), ContainsSubstring("the elements 0 and 2 are 0.1 m"));
  CHECK_THROWS_WITH(link_elements(points, process, {}), ContainsSubstring("element 2 at 0.1, 0.5"));
  // Three sectors of a ring of six.
  ElementPoints ring;
  for (int k = 0; k < 6; ++k) {
    const double angle = (k + 0.3) * std::acos(-1.0) / 3;
    ring.centre.insert(ring.centre.end(), {2 + std::cos(angle), 1 + std::sin(angle), 0});
    ring.size.push_back(1);
  }
  process.symmetry.clear();
  process.rotation = {3, 2, {2, 1, 7}};
  lists = link_elements(ring, process, {});
  CHECK(lists.member == std::vector<std::int32_t>{0, 2, 4, 1, 3, 5});
  process.rotation->sectors = 4;
  CHECK_THROWS_WITH(link_elements(ring, process, {}), ContainsSubstring("has no image a turn of"));
  ring.size[3] = 1.2;
  process.rotation->sectors = 3;
  CHECK_THROWS_WITH(link_elements(ring, process, {}), ContainsSubstring("no image"));
}

} // namespace
