// SPDX-License-Identifier: Apache-2.0
// The checkpoints, designs and surfaces of `ossatura topopt`, written and read back.
#include "apps/topopt/output/checkpoint.hpp"
#include "apps/topopt/output/files.hpp"
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/io/surface/write_3mf.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cmath>
#include <limits>
#include <random>

using namespace ossatura;
using namespace ossatura_test;

namespace {

TopoptModel two_cells() {
  TopoptModel model;
  DesignProblem& p = model.problem;
  p.mesh = make_hexa_box({2, 1, 1}, {2, 1, 1});
  p.held = {{0, 7}, {3, 1}};
  p.cases = {{{"up", {{2, {0, 0, 1}}}}, 1}, {{"a/b", {{5, {0, 1, 0}}}}, 2}};
  p.role = {DesignRole::free, DesignRole::solid};
  p.springs = {{2, 1, 4}};
  model.case_names = {"up", "a/b"};
  model.unit = 0.5;
  return model;
}

std::vector<double> some(std::size_t count, double first) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(first + double(i) / 3);
  return values;
}

DesignState some_state() {
  DesignState state;
  state.steps = 7;
  state.x = some(2, 0.1);
  state.x_old = some(2, 0.2);
  state.x_older = some(2, 0.3);
  state.low = some(2, -1);
  state.high = some(2, 1);
  state.scale = 1. / 7;
  state.penalty = 2.5;
  state.sharpness = 4;
  state.change = 1. / 3;
  state.displacement = {some(36, 0), some(36, 5)};
  state.preconditioner = {some(2, 0.7), {5, 12, 9, 1. / 7}};
  return state;
}

} // namespace

TEST_CASE("a checkpoint is read as it was written, digit by digit", "[topopt]") {
  const TestDirectory directory;
  const TopoptModel model = two_cells();
  const DesignIdentity identity = identify(model.problem, model.options);
  DesignState state = some_state();
  for (const bool is_mma : {true, false}) {
    if (!is_mma)
      for (auto* list : {&state.x_old, &state.x_older, &state.low, &state.high})
        list->clear();
    write_design_checkpoint(directory / "c.h5", state, identity, {{"version", "x"}});
    const DesignState read = read_design_checkpoint(directory / "c.h5", identity, model.problem);
    CHECK(read.steps == state.steps);
    CHECK(read.x == state.x);
    CHECK(read.x_old == state.x_old);
    CHECK(read.x_older == state.x_older);
    CHECK(read.low == state.low);
    CHECK(read.high == state.high);
    CHECK(read.scale == state.scale);
    CHECK(read.penalty == state.penalty);
    CHECK(read.sharpness == state.sharpness);
    CHECK(read.change == state.change);
    CHECK(read.displacement == state.displacement);
    CHECK(read.preconditioner.modulus == state.preconditioner.modulus);
    CHECK(read.preconditioner.age.matrices == 5);
    CHECK(read.preconditioner.age.own == 12);
    CHECK(read.preconditioner.age.excess == 9);
    CHECK(read.preconditioner.age.rate == 1. / 7);
  }
}

TEST_CASE("a checkpoint belongs to its mesh, problem and options", "[topopt]") {
  const TestDirectory directory;
  const TopoptModel model = two_cells();
  const std::string file = directory / "c.h5";
  write_design_checkpoint(file, some_state(), identify(model.problem, model.options), {});
  const auto error_after = [&](const auto& change) {
    TopoptModel other = two_cells();
    change(other.problem, other.options);
    return error_of([&] {
      read_design_checkpoint(file, identify(other.problem, other.options), other.problem);
    });
  };
  using P = DesignProblem&;
  using O = DesignOptions&;
  CHECK_SAYS(error_after([](P p, O) { p.mesh.point[0] = -1; }), file, "another mesh");
  CHECK_SAYS(error_after([](P p, O) { p.young = 2; }), file, "another problem");
  CHECK_SAYS(error_after([](P p, O) { p.held[1].components = 2; }), "another problem");
  CHECK_SAYS(error_after([](P p, O) { p.cases[1].loads.forces[0].force[2] = 1; }),
             "another problem");
  CHECK_SAYS(error_after([](P p, O) { p.cases[1].weight = 1; }), "another problem");
  CHECK_SAYS(error_after([](P p, O) { p.role.clear(); }), "another problem");
  CHECK_SAYS(error_after([](P p, O) { p.mirrors = {{0, 0}}; }), "another problem");
  CHECK_SAYS(error_after([](P p, O) { p.springs[0].stiffness = 5; }), "another problem");
  CHECK_SAYS(error_after([](P, O o) { o.volume_fraction = 0.4; }), file, "other options");
  CHECK_SAYS(error_after([](P, O o) { o.penalty.end = 4; }), "other options");
  CHECK_SAYS(error_after([](P, O o) { o.method = DesignMethod::mma; }), "other options");
  CHECK_SAYS(error_after([](P, O o) { o.projection = true; }), "other options");
  CHECK(error_after([](P, O o) {
          o.max_steps = 9;
          o.change_tolerance = 0;
          o.solver.cg.tolerance = 1e-3;
          o.solver.kind = HexaOperatorKind::bsr;
        }) == "no error");
}

TEST_CASE("damaged checkpoints are refused", "[topopt]") {
  const TestDirectory directory;
  const TopoptModel model = two_cells();
  const DesignIdentity identity = identify(model.problem, model.options);
  const std::string file = directory / "c.h5";
  const auto error_with = [&](const auto& change) {
    DesignState state = some_state();
    change(state);
    write_design_checkpoint(file, state, identity, {});
    return error_of([&] { read_design_checkpoint(file, identity, model.problem); });
  };
  using S = DesignState&;
  CHECK_SAYS(error_with([](S s) { s.x.pop_back(); }), file + ": /x", "2 finite numbers");
  CHECK_SAYS(error_with([](S s) { s.high.push_back(0); }), file + ": /high", "damaged");
  CHECK_SAYS(error_with([](S s) { s.displacement[1].pop_back(); }), "/displacement_1", "36");
  CHECK_SAYS(error_with([](S s) { s.x[1] = std::numeric_limits<double>::quiet_NaN(); }), "/x");
  CHECK_SAYS(error_with([](S s) { s.steps = -1; }), file, "damaged");
  CHECK_SAYS(error_with([](S s) { s.preconditioner.modulus[1] = 0; }), "/preconditioner_modulus",
             "positive");
  CHECK_SAYS(error_with([](S s) { s.preconditioner.age.excess = -1; }), "/preconditioner_age");
  Hdf5File::create(file).close();
  CHECK_SAYS(error_of([&] { read_design_checkpoint(file, identity, model.problem); }), file,
             "is not an ossatura topopt checkpoint");
}

TEST_CASE("a design checkpoint with a flipped bit is refused, wherever it is", "[topopt]") {
  const TestDirectory directory;
  const TopoptModel model = two_cells();
  const DesignIdentity identity = identify(model.problem, model.options);
  const std::string path = directory / "c.h5";
  write_design_checkpoint(path, some_state(), identity, {});
  const Bytes whole = read_bytes_of(path);
  std::mt19937 random(23);
  for (int flip = 0; flip < 500; ++flip) {
    const std::size_t at = random() % whole.size();
    Bytes damaged = whole;
    damaged[at] = char(damaged[at] ^ (1 << random() % 8));
    write_bytes(path, damaged);
    INFO("byte " << at);
    CHECK_SAYS(error_of([&] { read_design_checkpoint(path, identity, model.problem); }), path);
  }
}

TEST_CASE("a design has its fields by name, case by case", "[topopt]") {
  const TestDirectory directory;
  const TopoptModel model = two_cells();
  DesignFields fields{{0.25, 1}, {3, 4}, {some(36, 0), some(36, 5)}};
  fields.variable = {0.125, 0.75};
  write_design(directory / "d.hdf", model, fields, 12, {{"version", "x"}});
  const Hdf5File file = Hdf5File::open(directory / "d.hdf");
  const Hdf5Group vtk = file.root().group("VTKHDF");
  CHECK(vtk.dataset("Points").read<double>() == model.problem.mesh.point);
  CHECK(vtk.dataset("Connectivity").read<int>() == model.problem.mesh.node);
  CHECK(vtk.dataset("Types").read<int>() == std::vector<int>{12, 12});
  const Hdf5Group cells = vtk.group("CellData"), points = vtk.group("PointData");
  CHECK(cells.dataset("density").read<double>() == fields.density);
  CHECK(cells.dataset("role").read<int>() == std::vector<int>{0, 1});
  CHECK(cells.dataset("strain_energy_density").read<double>() == fields.energy);
  CHECK(cells.dataset("variable").read<double>() == fields.variable);
  CHECK(cells.dataset("strain_energy_density").text_attribute("unit") == "J/m3");
  CHECK(points.dataset("displacement_up").read<double>() == fields.displacement[0]);
  CHECK(points.dataset("displacement_a_b").read<double>() == fields.displacement[1]);
  CHECK(file.root().group("run").text_attribute("step") == "12");
  CHECK(file.root().group("run").text_attribute("version") == "x");
}

TEST_CASE("the surface of a full body is the body, in units of its file", "[topopt]") {
  const TestDirectory directory;
  const TopoptModel model = two_cells();
  const std::string path = directory / "s.stl";
  const auto summary =
      write_design_surface(path, model, make_design_surface(model, {1, 1}, {}), 0.5);
  REQUIRE(summary);
  CHECK(summary->volume == Approx(2));
  const TriangleSurface surface = read_surface(path);
  CHECK(std::int64_t(surface.triangle.size()) == summary->num_triangles);
  CHECK(describe_first_open_edge(surface).empty());
  double largest = 0;
  for (const auto& vertex : surface.vertex)
    largest = std::max(largest, vertex[0]);
  CHECK(largest == Approx(4)); // 2 m of half metres
  CHECK_FALSE(write_design_surface(directory / "none.stl", model,
                                   make_design_surface(model, {0, 0}, {}), 0.5));
  CHECK(directory.count() == 1);
}

TEST_CASE("what 3MF cannot hold is refused", "[topopt]") {
  const TestDirectory directory;
  const TriangleSurface corner{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const std::string path = directory / "s.3mf";
  CHECK_THROWS_AS(write_3mf(path, {}, 1, "tests"), std::invalid_argument);
  CHECK_THROWS_AS(write_3mf(path, corner, 0, "tests"), std::invalid_argument);
  CHECK_THROWS_AS(write_3mf(path, corner, 1, "a<b"), std::invalid_argument);
  CHECK_THROWS_AS(write_3mf(path, {corner.vertex, {{0, 1, 3}}}, 1, "tests"), std::invalid_argument);
  CHECK_THROWS_AS(write_3mf(path, {{{HUGE_VAL, 0, 0}}, {{0, 0, 0}}}, 1, "tests"),
                  std::invalid_argument);
  CHECK_THROWS_AS(write_3mf(directory / "no/s.3mf", corner, 1, "tests"), InputError);
  CHECK(directory.count() == 0);
  write_3mf(path, corner, 1, "tests");
  CHECK(directory.count() == 1);
}
