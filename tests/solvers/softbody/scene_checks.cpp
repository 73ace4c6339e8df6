// SPDX-License-Identifier: Apache-2.0
// Objects that nothing holds, bodies in each other, and steps added up, on cases done by hand.
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>
#include <ossatura/solvers/softbody/crossing_watch.hpp>
#include <ossatura/solvers/softbody/energy_watch.hpp>
#include <ossatura/solvers/softbody/model.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>
#include <ossatura/solvers/softbody/step_statistics.hpp>
#include <ossatura/solvers/softbody/unit_checks.hpp>

#include "tests/catch.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

using namespace ossatura;

namespace {

SoftObject cube_at(double x) {
  SoftObject object;
  object.name = "cube";
  object.mesh = make_hexa_box({1, 1, 1}, {1, 1, 1});
  for (std::size_t i = 0; i < object.mesh.point.size(); i += 3)
    object.mesh.point[i] += x;
  return object;
}

} // namespace

TEST_CASE("a body without mass is held by three nodes that are not on a line", "[scene_checks]") {
  SoftObject cube = cube_at(0);
  CHECK(why_loose(cube) == LooseObject::no); // it has a density
  cube.density = 0;
  const auto check = [&cube](std::vector<std::int32_t> fixed, LooseObject expected) {
    cube.fixed = std::move(fixed);
    CHECK(why_loose(cube) == expected);
    const SoftScene scene{{cube}, {}, {}, false, 0, 0.01};
    if (expected == LooseObject::no)
      CHECK_NOTHROW(number_scene(scene));
    else
      CHECK_THROWS_AS(number_scene(scene), std::invalid_argument);
  };
  check({}, LooseObject::nothing_fixed);
  check({0, 1}, LooseObject::fixed_on_line);
  check({0, 0, 0}, LooseObject::fixed_on_line);
  check({0, 1, 2}, LooseObject::no);
  // Beside the line by less than rounding, then by more.
  cube.mesh.point[6] = 0.5, cube.mesh.point[7] = 1e-9;
  check({0, 1, 2}, LooseObject::fixed_on_line);
  cube.mesh.point[7] = 1e-7;
  check({0, 1, 2}, LooseObject::no);
  cube.node_mass = 1;
  check({}, LooseObject::no);
  cube.node_mass = 0;
  cube.mesh.shape = ElementShape::triangle;
  cube.mesh.node = {0, 1, 2};
  cube.fixed = {0, 1, 2};
  CHECK(why_loose(cube) == LooseObject::membrane);
}

TEST_CASE("nodes inside planes and spheres are counted", "[scene_checks]") {
  const SoftObject cube = cube_at(0);
  SoftObstacle obstacle;
  obstacle.point[2] = 0.5;
  CHECK(find_inside(obstacle, cube).count == 4);
  obstacle.kind = SoftObstacle::Kind::sphere;
  obstacle.point[2] = 0;
  obstacle.radius = 1.1;
  CHECK(find_inside(obstacle, cube).count == 4); // a corner and its three neighbours
}

TEST_CASE("a scene says when bodies are through each other", "[scene_checks]") {
  SoftScene scene{{cube_at(0), cube_at(3)}, {}, {}, true, 0, 0.01};
  const CrossingWatch watch(scene);
  REQUIRE(watch.is_watching());
  const auto positions = [](double apart) {
    std::vector<double> x = cube_at(0).mesh.point;
    SoftObject other = cube_at(apart);
    for (std::size_t i = 0; i < other.mesh.point.size(); i += 3) {
      other.mesh.point[i + 1] += 0.3; // so that no edges meet
      other.mesh.point[i + 2] += 0.3;
    }
    x.insert(x.end(), other.mesh.point.begin(), other.mesh.point.end());
    return x;
  };
  const SceneCrossings none = watch.look(positions(2));
  CHECK(none.edges == 0);
  CHECK_FALSE(none.through);
  const SceneCrossings deep = watch.look(positions(0.5));
  CHECK(deep.edges > 0);
  CHECK(deep.deepest > 0.25);
  REQUIRE(deep.through);
  CHECK(deep.through->first == 0);
  CHECK(deep.through->second == 1);
  scene.contact_between_objects = false;
  CHECK_FALSE(CrossingWatch(scene).is_watching());
}

TEST_CASE("bodies within another are found though no surfaces cross", "[scene_checks]") {
  const auto scene_of = [](const SoftObject& a, const SoftObject& b) {
    return SoftScene{{a, b}, {}, {}, true, 0, 0.01};
  };
  const SoftObject cube = cube_at(0);
  CHECK_FALSE(find_nested(scene_of(cube, cube_at(1)))); // side by side
  REQUIRE(find_nested(scene_of(cube, cube)));           // in the same place
  for (const bool is_tetra : {false, true}) {
    SoftObject seed;
    seed.mesh = is_tetra ? make_tetra_box({1, 1, 1}, {0.2, 0.2, 0.2})
                         : make_hexa_box({1, 1, 1}, {0.2, 0.2, 0.2});
    for (double& x : seed.mesh.point)
      x += 0.7;
    const auto nested = find_nested(scene_of(cube, seed));
    REQUIRE(nested);
    CHECK(nested->inner == 1);
    CHECK(nested->outer == 0);
    SoftObject around = seed; // tetrahedra, too, may be the outer ones
    for (double& x : around.mesh.point)
      x = 20 * (x - 0.7) - 1;
    CHECK(find_nested(scene_of(cube, around))->inner == 0);
    for (double& x : seed.mesh.point)
      x += 0.6; // within no cube, beside the corner
    CHECK_FALSE(find_nested(scene_of(cube, seed)));
  }
  SoftObject sheet; // has no inside
  sheet.mesh.shape = ElementShape::triangle;
  sheet.mesh.point = {0.2, 0.2, 0.5, 0.8, 0.2, 0.5, 0.5, 0.8, 0.5};
  sheet.mesh.node = {0, 1, 2};
  CHECK_FALSE(find_nested(scene_of(cube, sheet)));
}

TEST_CASE("steps add up to totals, and NaN is the worst", "[scene_checks]") {
  StepTotals totals;
  SoftStep step;
  step.iterations = 3;
  step.residual = 1e-7;
  step.contacts = 5;
  totals.add(step);
  step.iterations = 2;
  step.residual = std::nan("");
  totals.add(step);
  step.residual = 1;
  step.systems_converged = false;
  totals.add(step);
  CHECK(totals.iterations == 7);
  CHECK(totals.most_iterations == 3);
  CHECK(totals.most_contacts == 5);
  CHECK(std::isnan(totals.worst_residual));
  CHECK(totals.systems_failed == 1);
  const Spread spread = spread_of({4, 1, 2, 9});
  CHECK(spread.mean == 4);
  CHECK(spread.median == 3);
  CHECK(spread.maximum == 9);
  CHECK(spread_of({}).mean == 0);
}

TEST_CASE("parts of a mesh share no node", "[scene_checks]") {
  ElementMesh mesh;
  mesh.point.resize(3 * 10);
  mesh.node = {9, 1, 2, 3, 4, 5, 6, 7, 3, 8, 1, 2};
  const MeshParts parts = find_mesh_parts(mesh);
  CHECK(parts.first == std::vector<std::int32_t>{0, 1, 4});
  CHECK(parts.part == std::vector<std::int32_t>{0, 1, 1, 1, 2, 2, 2, 2, 1, 1});
}

TEST_CASE("elements that are turned over or flat are inside out", "[scene_checks]") {
  for (const ElementMesh& mesh :
       {make_hexa_box({2, 1, 1}, {2, 1, 1}), make_tetra_box({2, 1, 1}, {2, 1, 1})}) {
    const auto moved = [&mesh](auto place) {
      std::vector<double> x = mesh.point;
      for (std::size_t i = 0; i < x.size(); i += 3)
        place(&x[i]);
      return count_inverted(mesh, x.data());
    };
    const auto all = std::int64_t(mesh.num_elem());
    CHECK(moved([](double*) {}) == 0);
    CHECK(moved([](double* x) { // a quarter of a turn about z, far away
            const double before = x[0];
            x[0] = 1e6 - x[1], x[1] = before;
          }) == 0);
    CHECK(moved([](double* x) { x[2] = 1 - x[2]; }) == all);
    CHECK(moved([](double* x) { x[1] = 0; }) == all);
    // The plane x = 2 goes through that of x = 1: the second of two cubes.
    CHECK(moved([](double* x) { x[0] = x[0] == 2 ? 0.5 : x[0]; }) == all / 2);
  }
  const ElementMesh cloth = make_cloth(3, 3, 1, 1);
  std::vector<double> flat(cloth.point.size(), 0);
  CHECK(count_inverted(cloth, flat.data()) == 0);
}

TEST_CASE("bodies that are hardly given in m are found", "[scene_checks]") {
  const auto odd = [](double scale, double young) {
    SoftObject cube = cube_at(0);
    for (double& x : cube.mesh.point)
      x *= scale;
    cube.material.young = young;
    cube.density = 1000;
    return find_odd_size(cube);
  };
  CHECK(!odd(1, 1e4));
  CHECK(!odd(10, 1e6));
  const auto soft = odd(10, 9e4); // Pa, and its weight on its area is 9.81e4
  REQUIRE(soft);
  CHECK((soft->extent == 10 && soft->modulus == 9e4));
  CHECK(std::abs(soft->mass - 1e6) < 1e-3);
  const auto large = odd(101, 1e9);
  REQUIRE(large);
  CHECK((large->extent == 101 && !large->modulus));
}

TEST_CASE("moduli that are hardly in Pa are found beside the density", "[unit_checks]") {
  using Kind = OddModulus::Kind;
  SoftScene scene;
  scene.gravity[2] = -9.81;
  const auto kind = [&scene](double young, double density, std::vector<double> factor = {}) {
    SoftObject cube = cube_at(0);
    cube.material.young = young;
    cube.density = density;
    cube.factor = std::move(factor);
    const auto odd = find_odd_modulus(cube, scene);
    return odd ? int(odd->kind) : -1;
  };
  CHECK(kind(5e10, 1000) == int(Kind::stiff));
  CHECK(kind(2e12, 3500) == int(Kind::stiff));
  CHECK(kind(1e12, 3500) == -1);
  CHECK(kind(5e10, 1000, {1e-3}) == -1);
  CHECK(kind(5e10, 1000, {2}) == int(Kind::stiff));
  CHECK(kind(2.1e5, 7850) == int(Kind::soft));
  CHECK(kind(50, 1000) == int(Kind::weak));
  CHECK(kind(50, 1000, {1e3}) == -1);
  CHECK(kind(50, 0) == -1);
  CHECK(kind(5e10, 1) == -1); // of g/cm^3, which is told
  scene.gravity[2] = -9810;   // told, too
  CHECK(kind(1e4, 1000) == -1);
  scene.gravity[2] = 0;
  CHECK(kind(1, 1000) == -1);
}

TEST_CASE("steps in which a body moves by more than its length are found", "[unit_checks]") {
  SoftScene scene;
  scene.objects = {cube_at(0), cube_at(5)};
  scene.gravity[2] = -10;
  CHECK_FALSE(find_long_step(scene, 1)); // without contact
  scene.contact_between_objects = true;
  const auto fallen = find_long_step(scene, 1);
  REQUIRE(fallen);
  CHECK((fallen->object == 0 && fallen->motion == 10 && fallen->extent == 1));
  CHECK_FALSE(find_long_step(scene, 0.3));
  scene.objects[0].fixed = scene.objects[1].fixed = {0};
  CHECK_FALSE(find_long_step(scene, 1));
  scene.objects[1].fixed.clear();
  scene.objects[1].velocity.assign(scene.objects[1].mesh.point.size(), 0);
  for (std::size_t i = 2; i < scene.objects[1].velocity.size(); i += 3)
    scene.objects[1].velocity[i] = 10; // up, and back
  CHECK_FALSE(find_long_step(scene, 1));
  scene.objects[1].load.assign(scene.objects[1].mesh.point.size(), 0);
  scene.objects[1].load[0] = 2000; // N on 1000 kg
  REQUIRE(find_long_step(scene, 1));
  CHECK(std::abs(find_long_step(scene, 1)->motion - 2) < 1e-12);
}

TEST_CASE("gravity that is hardly in m/s^2 is found", "[unit_checks]") {
  SoftScene scene;
  scene.objects = {cube_at(0)};
  const auto odd = [&scene](double gravity, double young) {
    scene.gravity[1] = gravity;
    scene.objects[0].material.young = young;
    return bool(find_odd_gravity(scene));
  };
  CHECK(odd(-9810, 1e4));
  CHECK(odd(-981, 1e4));
  CHECK_FALSE(odd(-9.81, 1e4));
  CHECK_FALSE(odd(-9810, 1)); // of units
}

TEST_CASE("energy that contact gives is told from that of steps without", "[energy_watch]") {
  EnergyWatch watch({0, 0, 0}, 1e-12);
  watch.add(1, {1, 0, 0}, true);
  CHECK((watch.worst().step == 0 && watch.worst().energy == 0));
  CHECK((watch.worst_with_contact().step == 1 && watch.worst_with_contact().energy == 1));
  CHECK(watch.worst_with_contact().is_doubtful());
  watch.add(2, {0.5, 0, 0}, true);
  watch.add(3, {1.1, 0, 0}, false); // free: 0.6 more than before
  CHECK(std::abs(watch.worst().energy - 0.6) < 1e-12);
  CHECK(watch.worst_with_contact().step == 1); // the same part
}
