// SPDX-License-Identifier: Apache-2.0
// Problems of `ossatura topopt` from JSON and generators: what is read, selected and refused.
#include "apps/topopt/input/choices.hpp"
#include "apps/topopt/input/model.hpp"
#include "apps/topopt/input/read_problem.hpp"
#include "apps/topopt/output/checkpoint.hpp"
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/solvers/topopt/generators.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/test_directory.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace ossatura;
using namespace ossatura_test;

namespace {

using Json = nlohmann::ordered_json;

/// A problem that says everything.
const char* const full_problem = R"({
  "description": "all keys",
  "mesh": {"box": {"cells": [4, 2, 2], "size": [2, 1, 1]}, "distort": 0},
  "material": {"young": 5, "poisson": 0.25},
  "supports": [{"box": [0, 0, 0, 0, 1, 1]}, {"nodes": [44], "components": "xz"}],
  "cases": [
    {"name": "a", "weight": 2, "loads": [
      {"box": [2, 0, 0, 2, 1, 1], "traction": [0, 0, -3]},
      {"nodes": [4, 9], "total_force": [1, 0, 0]}]},
    {"name": "b", "loads": [{"nodes": [4, 9], "force": [0, 1, 0]}]}],
  "passive": [{"box": [1.5, 0, 0, 2, 1, 1], "role": "solid"}, {"elements": [0], "role": "void"}],
  "mirrors": [{"axis": "y", "place": 0}],
  "objective": {"mechanism": {
    "output": [{"nodes": [4, 9], "direction": [0, 3, 4]}],
    "springs": [{"nodes": [4, 9], "stiffness": [0, 0, 6]}]}},
  "volume_fraction": 0.4,
  "filter": {"kind": "helmholtz", "radius": 0.7},
  "projection": {"threshold": 0.4, "sharpness": {"start": 2, "end": 32, "every": 5, "factor": 2}},
  "penalty": {"start": 1, "end": 4, "every": 10, "increment": 0.5},
  "min_modulus": 1e-6, "method": "oc", "move": 0.1, "start": 0.3, "change": 0.02, "steps": 7,
  "solver": {"operator": "ebeSym", "preconditioner": "block-jacobi", "precision": "double",
             "tolerance": 1e-8, "max_iterations": 99, "chebyshev_degree": 3,
             "forming_cost": 7, "warm_start": false}
})";

TopoptModel model_of(const TestDirectory& directory, const std::string& text) {
  write_file(directory / "p.json", text);
  return build_topopt_model(read_problem(directory / "p.json"));
}

/// The message for the full problem after `change`, which names the file.
template<class Change>
std::string error_after(const TestDirectory& directory, const Change& change) {
  Json problem = Json::parse(full_problem);
  change(problem);
  return error_of([&] { model_of(directory, problem.dump()); });
}

/// Checks that a changed problem is refused with the file, the place in it, and what else is said.
struct Mistakes {
  TestDirectory directory;

  template<class Change>
  void operator()(const Change& change, const std::string& place, const std::string& what) const {
    CHECK_SAYS(error_after(directory, change), directory / "p.json" + (": " + place), what);
  }
};

} // namespace

TEST_CASE("all of a problem is read", "[topopt]") {
  const TestDirectory directory;
  const TopoptModel model = model_of(directory, full_problem);
  const DesignProblem& p = model.problem;
  CHECK(p.mesh.num_elem() == 16);
  CHECK(p.mesh.num_points() == 45);
  CHECK(p.young == 5);
  CHECK(p.poisson == 0.25);
  // The end, node 44 in x and z, and the plane of symmetry in y.
  for (const HeldComponents& held : p.held) {
    const double* x = &p.mesh.point[3 * std::size_t(held.node)];
    const unsigned expected =
        (x[0] == 0 ? 7u : 0u) | (x[1] == 0 ? 2u : 0u) | (held.node == 44 ? 5u : 0u);
    CHECK(held.components == expected);
  }
  CHECK(p.held.size() == 9 + 12 + 1);

  REQUIRE(p.cases.size() == 2);
  CHECK(model.case_names == std::vector<std::string>{"a", "b"});
  CHECK(p.cases[0].weight == 2);
  CHECK(p.cases[1].weight == 1);
  double total[3] = {};
  for (const NodeForce& force : p.cases[0].loads.forces)
    for (int c = 0; c < 3; ++c)
      total[c] += force.force[c];
  CHECK(total[0] == Approx(1));
  CHECK(total[1] == 0);
  CHECK(total[2] == Approx(-3));
  CHECK(p.cases[1].loads.forces.size() == 2);
  CHECK(p.cases[1].loads.forces[0].force[1] == 1);

  CHECK(model.count(DesignRole::solid) == 4);
  CHECK(model.count(DesignRole::void_) == 1);
  CHECK(p.role[0] == DesignRole::void_);
  CHECK(p.role[3] == DesignRole::solid);
  REQUIRE(p.mirrors.size() == 1);
  CHECK(p.mirrors[0].axis == 1);
  // Node 4 lies in the mirror and has half the share of node 9.
  REQUIRE(p.output.size() == 2);
  CHECK(p.output[1].node == 9);
  CHECK(p.output[1].force[1] == Approx(0.6 * 2 / 3));
  CHECK(p.output[1].force[2] == Approx(0.8 * 2 / 3));
  REQUIRE(p.springs.size() == 2);
  CHECK(p.springs[0].component == 2);
  CHECK(p.springs[0].stiffness == Approx(2));
  CHECK(p.springs[1].stiffness == Approx(4));

  const DesignOptions& o = model.options;
  CHECK(o.objective == DesignObjective::mechanism);
  CHECK(o.volume_fraction == 0.4);
  CHECK(o.filter == DesignFilter::helmholtz);
  CHECK(o.radius == 0.7);
  CHECK(o.projection);
  CHECK(o.threshold == 0.4);
  CHECK(continuation_text(o.sharpness) == "2:32:5:x2");
  CHECK(continuation_text(o.penalty) == "1:4:10:+0.5");
  CHECK(o.min_modulus == 1e-6);
  CHECK(o.method == DesignMethod::oc); // although mechanisms are mma by default
  CHECK(o.move == 0.1);
  CHECK(o.start == 0.3);
  CHECK(o.change_tolerance == 0.02);
  CHECK(o.max_steps == 7);
  CHECK(o.solver.kind == HexaOperatorKind::ebe_sym);
  CHECK(o.solver.preconditioner == HexaPreconditioner::block_jacobi);
  CHECK(o.solver.precision == Precision::fp64);
  CHECK(o.solver.cg.tolerance == 1e-8);
  CHECK(o.solver.cg.max_iterations == 99);
  CHECK(o.solver.chebyshev_degree == 3);
  CHECK(o.solver.forming_cost == 7);
  CHECK_FALSE(o.warm_start);
}

TEST_CASE("mistakes in a problem's mesh and supports name file, place and remedy", "[topopt]") {
  const Mistakes says_after;
  using J = Json&;
  says_after([](J p) { p["volume"] = 0.3; }, "unknown key \"volume\"",
             "did you mean 'volume_fraction'?");
  says_after([](J p) { p.erase("mesh"); }, "\"mesh\" is missing", "a generator");
  says_after([](J p) { p["mesh"]["file"] = "a.inp"; }, "mesh", "leave one out");
  says_after([](J p) { p["mesh"]["unit"] = 1; }, "mesh: \"unit\" has no effect", "leave it out");
  says_after(
      [](J p) {
        p["mesh"] = {{"generator", "cantilver"}};
      },
      "mesh.generator", "did you mean 'cantilever'?");
  says_after(
      [](J p) {
        p["mesh"]["box"]["cells"] = {4, 0, 2};
      },
      "mesh.box.cells[1]: 0", "1 to 9999");
  says_after([](J p) { p["mesh"]["distort"] = 0.6; }, "mesh.distort: 0.6", "0 to 0.5");
  says_after([](J p) { p["material"]["poisson"] = 0.5; }, "material.poisson: 0.5", "less than 0.5");
  says_after([](J p) { p.erase("material"); }, "the material is missing", "--young");
  says_after([](J p) { p["supports"][1]["components"] = "xx"; }, "supports[1].components",
             "some of x, y and z");
  says_after([](J p) { p["supports"][1]["nodes"] = {45}; }, "supports[1]: node 45",
             "last one is 44");
  says_after([](J p) { p["supports"][0]["box"] = {5, 0, 0, 6, 1, 1}; },
             "supports[0]: no node is inside the box", "spans 0 to 2, 0 to 1, 0 to 1 m");
  says_after(
      [](J p) {
        p["supports"][0] = {{"set", "LEFT"}};
      },
      "supports[0]", "no node set 'LEFT'");
  says_after([](J p) { p["supports"].erase(0); }, "the body can move freely", "hold more nodes");
  says_after(
      [](J p) {
        p.erase("supports");
        p.erase("mirrors");
        p["objective"]["mechanism"].erase("springs");
      },
      "there are no supports", "0 of its 6");
}

TEST_CASE("mistakes in loads, passive elements and mirrors name file, place and remedy",
          "[topopt]") {
  const Mistakes says_after;
  using J = Json&;
  says_after([](J p) { p["cases"][1]["name"] = "a"; }, "cases[1].name", "twice");
  says_after([](J p) { p["cases"][1]["weight"] = 0; }, "cases[1].weight: 0", "greater than 0");
  says_after([](J p) { p["cases"][1].erase("loads"); }, "the load case 'b' has no loads", "");
  says_after([](J p) { p.erase("cases"); }, "there are no loads", "\"cases\"");
  says_after(
      [](J p) {
        p["cases"][1]["loads"][0]["force"] = {0, 0, 0};
      },
      "cases[1].loads[0].force", "not all zero");
  says_after(
      [](J p) {
        p["cases"][1]["loads"][0]["total_force"] = {1, 0, 0};
      },
      "cases[1].loads[0]", "leave one out");
  says_after(
      [](J p) {
        p["cases"][1]["loads"][0]["nodes"] = {10, 25};
      },
      "cases[1].loads[0]: all loaded nodes (node 10", "held");
  says_after([](J p) { p["cases"][0]["loads"][0]["box"] = {0, 1, 1, 2, 1, 1}; },
             "cases[0].loads[0]: none of the faces", "total_force");
  says_after([](J p) { p["passive"][1]["elements"] = {3}; }, "cases[0].loads[0]: node 4 is loaded",
             "void");
  says_after([](J p) { p["passive"][0]["role"] = "full"; }, "passive[0].role", "is not one of");
  says_after(
      [](J p) {
        p["passive"] = {{{"box", {0, 0, 0, 2, 1, 1}}, {"role", "solid"}}};
      },
      "all elements are solid or void", "nothing to design");
  says_after([](J p) { p["mirrors"][0]["place"] = 0.5; }, "mirrors[0]", "both sides");
  says_after([](J p) { p["mirrors"][0]["place"] = 3; }, "mirrors[0]", "no nodes on the plane");
  says_after([](J p) { p["mirrors"][0]["axis"] = "w"; }, "mirrors[0].axis", "is not one of");
}

TEST_CASE("mistakes in how a design is optimised name file, place and remedy", "[topopt]") {
  const Mistakes says_after;
  using J = Json&;
  says_after([](J p) { p["objective"] = "stress"; }, "objective", "\"compliance\"");
  says_after([](J p) { p["objective"]["mechanism"]["output"] = Json::array(); },
             "objective.mechanism.output", "a list");
  says_after([](J p) { p["objective"]["mechanism"]["output"][0]["nodes"] = {0}; },
             "objective.mechanism.output[0]: the output cannot move", "held");
  says_after(
      [](J p) {
        p["objective"]["mechanism"]["springs"][0]["stiffness"] = {0, 1, -1};
      },
      "objective.mechanism.springs[0].stiffness", "at least 0");
  says_after([](J p) { p["volume_fraction"] = 1; }, "volume_fraction: 1", "less than 1");
  says_after([](J p) { p["filter"]["radius"] = -1; }, "filter.radius: -1", "in m");
  says_after([](J p) { p["filter"]["kind"] = "cone"; }, "filter.kind", "\"helmholtz\"");
  says_after([](J p) { p["projection"]["sharpness"]["end"] = 1; }, "projection.sharpness.end",
             "at least what it starts from");
  says_after([](J p) { p["penalty"]["factor"] = 2; }, "penalty", "leave one out");
  says_after([](J p) { p["penalty"] = 0.5; }, "penalty: 0.5", "at least 1");
  says_after([](J p) { p["penalty"]["every"] = 0; }, "penalty.every: 0", "at least 1");
  says_after([](J p) { p["move"] = 1.5; }, "move: 1.5", "at most 1");
  says_after([](J p) { p["steps"] = 0; }, "steps: 0", "at least 1");
  says_after([](J p) { p["solver"]["operator"] = "ebesym"; }, "solver.operator",
             "did you mean 'ebeSym'?");
  says_after([](J p) { p["solver"]["tolerance"] = 1; }, "solver.tolerance: 1", "less than 1");
}

TEST_CASE("supports hold a body where no rigid motion is left", "[topopt]") {
  DesignProblem problem;
  problem.mesh = make_hexa_box({2, 1, 1}, {2, 1, 1});
  const auto motion = [&problem](std::vector<HeldComponents> held) {
    problem.held = std::move(held);
    return describe_free_motion(problem.mesh, problem.held, problem.springs);
  };
  CHECK_SAYS(motion({}), "hold 0 of its 6");
  CHECK_SAYS(motion({{0, 7}}), "hold 3 of its 6");
  CHECK_SAYS(motion({{0, 7}, {2, 7}}), "hold 5 of its 6"); // turns about the line through both
  CHECK(motion({{0, 7}, {2, 6}, {3, 4}}).empty());
  CHECK_SAYS(motion({{0, 7}, {2, 6}, {1, 7}}), "hold 5 of its 6");
  problem.springs = {{3, 2, 1e-3}};
  CHECK(motion({{0, 7}, {2, 6}}).empty());

  // Another cell that touches nothing.
  const ElementMesh other = make_hexa_box({1, 1, 1}, {1, 1, 1});
  const auto first = std::int32_t(problem.mesh.num_points());
  for (const double x : other.point)
    problem.mesh.point.push_back(x + 9);
  for (const std::int32_t node : other.node)
    problem.mesh.node.push_back(first + node);
  CHECK_SAYS(motion({{0, 7}, {2, 6}}), "2 parts", "node 12 (8 nodes)", "hold 0 of its 6");
  CHECK(motion({{0, 7}, {2, 6}, {12, 7}, {13, 6}, {14, 4}}).empty());
}

/// What is asked on voxels, by cells of a lattice, is what is asked on the mesh.
void check_same_problem(const TopoptModel& voxels, const TopoptModel& mesh) {
  REQUIRE(voxels.problem.lattice);
  CHECK(voxels.problem.mesh.point.empty());
  REQUIRE(!mesh.problem.lattice);
  CHECK(voxels.mesh().point == mesh.problem.mesh.point);
  CHECK(voxels.mesh().node == mesh.problem.mesh.node);
  CHECK(voxels.source == mesh.source);
  CHECK(voxels.supported == mesh.supported);
  CHECK(voxels.problem.role == mesh.problem.role);
  CHECK(voxels.case_names == mesh.case_names);
  // Supports, loads, and all else.
  const DesignIdentity own = identify(voxels.problem, mesh.options),
                       other = identify(mesh.problem, mesh.options);
  CHECK(own.mesh == other.mesh);
  CHECK(own.problem == other.problem);
}

Changes<DesignOptions> on_voxels() {
  Changes<DesignOptions> changes;
  changes.set(&DesignOptions::grid, DesignGrid::voxels);
  return changes;
}

TEST_CASE("problems on voxels are those on the mesh", "[topopt]") {
  for (const std::string& name : generator_names()) {
    INFO(name);
    ProblemDocument document;
    document.file = name;
    document.mesh.kind = HexaSource::Kind::generator;
    document.mesh.generator = name;
    document.mesh.cells = std::array<int, 3>{8, 4, 6};
    document.mesh.size = std::array<double, 3>{0.8, 0.4, 0.6};
    check_same_problem(build_topopt_model(document, on_voxels()), build_topopt_model(document));
    document.mesh.size = std::array<double, 3>{0.8, 0.4, 0.7};
    CHECK(!build_topopt_model(document, on_voxels()).problem.lattice); // refused by the solver
  }
  TestDirectory directory;
  Json problem = Json::parse(full_problem);
  problem.erase("objective");
  for (const bool with_numbers : {true, false}) {
    if (!with_numbers)
      problem["passive"][1] = {{"box", {0, 0.5, 0.5, 1, 1, 1}}, {"role", "void"}};
    const std::string text = problem.dump();
    const TopoptModel mesh = model_of(directory, text);
    check_same_problem(build_topopt_model(read_problem(directory / "p.json"), on_voxels()), mesh);
  }
  const auto refusal = [&](const Changes<DesignOptions>& changes) {
    write_file(directory / "p.json", problem.dump());
    return error_of([&] { build_topopt_model(read_problem(directory / "p.json"), changes); });
  };
  const auto both = [&](const std::string& what) {
    CHECK_SAYS(refusal(on_voxels()), what);
    CHECK(refusal(on_voxels()) == refusal({}));
  };
  problem["cases"][1]["loads"] = {
      {{"box", {0.25, 0.75, 0.75, 0.3, 0.8, 0.8}}, {"force", {1, 0, 0}}}};
  both("no node is inside the box");
  problem["cases"][1]["loads"] = {{{"box", {0, 1, 1, 0.5, 1, 1}}, {"force", {0, 1, 0}}}};
  both("all of its elements are void");
  problem["mirrors"][0]["place"] = 0.3;
  both("on both sides of the plane");
}

TEST_CASE("every generator makes a problem that is held and loaded", "[topopt]") {
  for (const std::string& name : generator_names()) {
    INFO(name);
    ProblemDocument document;
    document.file = name;
    document.mesh.kind = HexaSource::Kind::generator;
    document.mesh.generator = name;
    document.mesh.cells = std::array<int, 3>{8, 4, 6};
    const TopoptModel model = build_topopt_model(document);
    CHECK(model.problem.young == 1);
    CHECK(model.problem.poisson == 0.3);
    CHECK(model.count(DesignRole::free) > 0);
    CHECK((model.options.objective == DesignObjective::mechanism) == (name == "inverter"));
    for (const DesignLoadCase& load_case : model.problem.cases) {
      double total[3] = {}, torque = 0;
      for (const NodeForce& force : load_case.loads.forces) {
        const double* x = &model.problem.mesh.point[3 * std::size_t(force.node)];
        torque += (x[1] - 2) * force.force[2] - (x[2] - 3) * force.force[1];
        for (int c = 0; c < 3; ++c)
          total[c] += force.force[c];
      }
      if (name == std::string("torsion")) {
        CHECK(std::hypot(total[0], total[1], total[2]) < 1e-14);
        CHECK(torque == Approx(1));
      } else {
        CHECK(std::hypot(total[0], total[1], total[2]) == Approx(1));
      }
    }
  }
}

TEST_CASE("continuations are read as they are written", "[topopt]") {
  for (const char* text : {"3", "1:3:20:+0.5", "1:64:40:x2"})
    CHECK(continuation_text(parse_continuation(text)) == text);
  for (const char* text :
       {"", "x", "1:2", "1:2:3", "1:2:0:+1", "1:2:3:4", "2:1:3:+1", "1:2:3:+0", "1:2:3:x1", "nan"})
    CHECK_SAYS(error_of<std::invalid_argument>([&] { parse_continuation(text); }), "'");
}
