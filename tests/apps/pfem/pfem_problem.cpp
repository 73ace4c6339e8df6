// SPDX-License-Identifier: Apache-2.0
// Problems of `ossatura pfem` from JSON: what is read, selected, predicted and written.
#include "apps/pfem/input/model.hpp"
#include "apps/pfem/input/read_problem.hpp"
#include "apps/pfem/output/files.hpp"
#include "apps/pfem/output/prediction.hpp"
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/test_directory.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace ossatura;
using namespace ossatura_test;

namespace {

using Json = nlohmann::ordered_json;

/// A problem that says everything.
const char* const full_problem = R"({
  "description": "all keys",
  "mesh": {"generator": "sheared", "cells": [2, 2, 1], "size": [2, 2, 1], "shear": [0, 0, 0],
           "distort": 0},
  "order": {"all": 2, "parts": [{"box": [0, 0, 0, 1, 1, 1], "order": 5},
                                {"elements": [3], "order": 1}]},
  "space": "tensor", "scaling": "paper", "quadrature": "p+2",
  "material": {"young": 5, "poisson": 0.25},
  "materials": [{"elements": [1],
                 "orthotropic": {"young": [3, 2, 1], "poisson": [0.2, 0.1, 0.3],
                                 "shear": [0.5, 0.6, 0.7]}}],
  "supports": [{"plane": "x=0", "displacement": [0.1, 0, 0]},
               {"vertices": [2], "components": "xz"}],
  "loads": [{"plane": "x=2", "pressure": 3}, {"plane": "x=2", "traction": [0, 4, 0]},
            {"vertices": [2, 5], "force": [0, 0, 1]}, {"body_force": [0, 0, -2]}],
  "solver": {"operator": "bsr", "form": "blocked", "preconditioner": "jacobi", "tolerance": 1e-5,
             "max_iterations": 77, "element_wise": false}
})";

PfemModel model_of(const TestDirectory& directory, const std::string& text) {
  write_file(directory / "p.json", text);
  return build_pfem_model(read_pfem(directory / "p.json"));
}

/// The message for the full problem after `change`.
template<class Change>
std::string error_after(const TestDirectory& directory, const Change& change) {
  Json problem = Json::parse(full_problem);
  change(problem);
  return error_of([&] { model_of(directory, problem.dump()); });
}

double component_sum(const std::vector<double>& f, const PfemModel& model, std::size_t c) {
  double sum = 0;
  for (std::size_t v = 0; v < model.shape.mesh.num_points(); ++v)
    sum += f[3 * v + c];
  return sum;
}

} // namespace

TEST_CASE("all of a problem of high order is read", "[pfem]") {
  const TestDirectory directory;
  const PfemModel model = model_of(directory, full_problem);
  CHECK(model.num_elem() == 4);
  CHECK(model.numbering.order == std::vector<std::uint8_t>{5, 2, 2, 1});
  CHECK(model.numbering.space == HexaSpace::tensor);
  CHECK(model.options.discretisation.scaling == ModeScaling::paper);
  CHECK(model.options.discretisation.rule == QuadratureRule::order_plus_2);
  CHECK(model.options.discretisation.points == 0);
  const HierarchicSolverOptions& solver = model.options.solver;
  CHECK(solver.kind == HierarchicOperatorKind::bsr);
  CHECK(solver.form == StiffnessMethod::blocked);
  CHECK(solver.preconditioner == HierarchicPreconditioner::jacobi);
  CHECK(solver.cg.tolerance == 1e-5);
  CHECK(solver.cg.max_iterations == 77);
  CHECK_FALSE(solver.element_wise);

  // Materials: lambda = mu = 2, but for element 1.
  const std::vector<double>& d = model.elasticity.value;
  REQUIRE(d.size() == 4 * 21);
  for (const std::size_t e : {std::size_t(0), std::size_t(2), std::size_t(3)}) {
    CHECK(d[21 * e] == Approx(6));
    CHECK(d[21 * e + 1] == Approx(2));
    CHECK(d[21 * e + 20] == Approx(2));
  }
  CHECK(d[21 + 15] == 0.5);
  CHECK(d[21 + 18] == 0.6);
  CHECK(d[21 + 20] == 0.7);

  // Loads: faces of area 2 at x = 2, two vertices, and a volume of 4.
  CHECK(component_sum(model.force, model, 0) == Approx(-6));
  CHECK(component_sum(model.force, model, 1) == Approx(8));
  CHECK(component_sum(model.force, model, 2) == Approx(2 - 8));
  CHECK(model.num_loads == 4);

  // Supports: at x = 0 vertices, and the modes of edges and faces between them.
  std::int64_t held = 0;
  for (std::size_t v = 0; v < model.held.size(); ++v) {
    const bool is_vertex = v < model.shape.mesh.num_points();
    const bool left = is_vertex && model.shape.mesh.point[3 * v] == 0;
    if (is_vertex)
      CHECK(int(model.held[v]) == (left ? 7 : v == 2 ? 5 : 0));
    CHECK(model.displacement[3 * v] == (left ? 0.1 : 0));
    held += model.held[v] == 7 ? 1 : 0;
  }
  // 6 vertices. Edges have the lowest order around them: of the two faces, of orders 5 (4 modes)
  // and 2 (1), the first has three edges of its own, the other one three and the edge between them.
  CHECK(held == 6 + 3 * 4 + 4 * 1 + 4 * 4 + 1);
  CHECK(model.num_held() == 3 * held + 2);
  REQUIRE(model.supports.size() == 2);
  CHECK(model.supports[1].place == "supports[1]");
}

TEST_CASE("what is wrong with a problem of high order is said with its place", "[pfem]") {
  const TestDirectory directory;
  const auto says_after = [&directory](const auto& change, const auto&... parts) {
    CHECK_SAYS(error_after(directory, change), "p.json", parts...);
  };
  using J = Json&;
  says_after([](J p) { p["ordr"] = 1; }, "unknown key \"ordr\"", "did you mean 'order'?");
  says_after([](J p) { p["order"]["parts"][1]["order"] = 0; }, "order.parts[1].order: 0");
  says_after([](J p) { p["order"] = {1, 2, 3, 40}; }, "order[3]: 40", "1 to 10");
  says_after([](J p) { p["mesh"]["along"] = 2; }, "mesh: \"along\" has no effect");
  says_after([](J p) { p["mesh"]["generator"] = "sphre"; }, "did you mean 'sphere'?");
  says_after([](J p) { p["mesh"]["file"] = "x.msh"; }, "both \"file\" and \"generator\"");
  says_after([](J p) { p["mesh"]["cells"] = {2, 2}; }, "mesh.cells", "three numbers");
  says_after([](J p) { p["points"] = 4; }, "both \"quadrature\" and \"points\"");
  says_after([](J p) { p["material"]["poisson"] = 0.5; }, "material.poisson: 0.5", "less than 0.5");
  says_after([](J p) { p["material"].erase("poisson"); }, "\"poisson\" is missing");
  says_after(
      [](J p) {
        p["materials"][0]["orthotropic"]["poisson"] = {9, 9, 9};
      },
      "materials[0].orthotropic", "not positive definite");
  says_after([](J p) { p["materials"][0]["elements"] = {4}; }, "element 4", "last one is 3");
  says_after([](J p) { p["supports"][0]["plane"] = "w=0"; }, "supports[0].plane", "\"x=0\"");
  says_after([](J p) { p["supports"][1]["displacement"] = {0, 1, 0}; }, "supports[1]", "along y");
  says_after(
      [](J p) {
        p["loads"][0]["traction"] = {1, 0, 0};
      },
      "loads[0]", "both \"pressure\" and \"traction\"");
  says_after([](J p) { p["loads"][3]["plane"] = "x=0"; }, "loads[3]", "unknown key \"plane\"");
  says_after([](J p) { p["loads"][0]["plane"] = "x=7"; }, "on the plane x = 7", "spans 0 to 2");
  says_after([](J p) { p["solver"]["operator"] = "bsrr"; }, "solver.operator", "'bsr'");
  says_after([](J p) { p["solver"]["tolerance"] = 1; }, "solver.tolerance: 1", "less than 1");
}

TEST_CASE("blocks of a matrix are counted without making it", "[pfem]") {
  const TestDirectory directory;
  Json problem = Json::parse(full_problem);
  for (const char* space : {"trunk", "tensor"}) {
    problem["space"] = space;
    problem["mesh"]["cells"] = {3, 2, 2};
    const PfemModel model = model_of(directory, problem.dump());
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    const HierarchicNumbering& n = model.numbering;
    for (std::size_t e = 0; e + 1 < n.begin.size(); ++e)
      for (std::int64_t i = n.begin[e]; i < n.begin[e + 1]; ++i)
        for (std::int64_t j = n.begin[e]; j < n.begin[e + 1]; ++j) {
          const std::int32_t a = n.signed_mode[std::size_t(i)], b = n.signed_mode[std::size_t(j)];
          if (a != SignedMode::none && b != SignedMode::none)
            pairs.emplace(a / 2, b / 2);
        }
    CHECK(count_blocks(model.shape.mesh, model.entities, n) == std::int64_t(pairs.size()));
  }
}

TEST_CASE("a file has every element as a grid", "[pfem]") {
  const TestDirectory directory;
  const PfemModel model = model_of(directory, full_problem);
  PfemFile file(directory / "f.hdf", model, 1);
  // Linear fields, a block for each element; stresses by their places.
  for (const std::int32_t e : {3, 0, 1, 2}) {
    PfemBlock block;
    block.points = 2;
    block.order = model.numbering.order[std::size_t(e)];
    block.elem = {e};
    for (int q = 0; q < 8; ++q) {
      const double x[3] = {double(q / 4 + e % 2), double(q / 2 % 2 + e / 2), double(q % 2)};
      block.x.insert(block.x.end(), x, x + 3);
      block.displacement.insert(block.displacement.end(), {2 * x[0], 3 * x[1], x[2]});
      block.stress.insert(block.stress.end(), {1, 1, 1, 4, 5, 6});
      block.energy.push_back(e);
    }
    file.add(block);
  }
  file.commit({{"version", "x"}});
  const Hdf5File read = Hdf5File::open(directory / "f.hdf");
  const Hdf5Group grid = read.root().group("VTKHDF");
  const auto points = grid.dataset("Points").read<double>();
  const auto corner = grid.dataset("Connectivity").read<std::int64_t>();
  const Hdf5Group cells = grid.group("CellData"), at_points = grid.group("PointData");
  CHECK(cells.dataset("element").read<int>() == std::vector<int>{3, 0, 1, 2});
  CHECK(cells.dataset("order").read<int>() == std::vector<int>{1, 5, 2, 2});
  REQUIRE(corner.size() == 32);
  for (std::size_t e = 0; e < 4; ++e) {
    // Edges of the hexahedron along x, y and z from its first corner.
    const std::size_t end[3] = {1, 3, 4};
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t c = 0; c < 3; ++c)
        CHECK(points[3 * std::size_t(corner[8 * e + end[d]]) + c] -
                  points[3 * std::size_t(corner[8 * e]) + c] ==
              (c == d ? 1 : 0));
  }
  const auto stress = at_points.dataset("stress").read<double>();
  CHECK(std::vector<double>(stress.begin(), stress.begin() + 6) ==
        std::vector<double>{1, 1, 1, 6, 4, 5}); // xx yy zz xy yz xz
  CHECK(at_points.dataset("von_mises").read<double>()[0] == Approx(std::sqrt(3. * (16 + 25 + 36))));
  const auto u = at_points.dataset("displacement").read<double>();
  for (std::size_t i = 0; i < u.size(); i += 3)
    CHECK(u[i] == 2 * points[i]);
}
