// SPDX-License-Identifier: Apache-2.0
// Scenes of `ossatura softbody` from JSON, what is refused, and what boxes select.
#include "apps/softbody/input/model.hpp"
#include "apps/softbody/input/read_scene.hpp"
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/test_directory.hpp"

#include <nlohmann/json.hpp>

using namespace ossatura;
using namespace ossatura_test;

namespace {

using Json = nlohmann::ordered_json;

/// A scene that says everything.
const char* const full_scene = R"({
  "description": "all keys",
  "time_step": 0.04, "steps": 7, "gravity": [0, -9.81, 0],
  "damping": {"mass": 0.1, "stiffness": 0.2},
  "objects": [
    {"name": "beam", "mesh": {"tetra_box": {"cells": [4, 1, 1], "size": [4, 1, 1]}},
     "scale": 2, "rotate": {"axis": [0, 0, 3], "degrees": 90}, "translate": [10, 0, 0],
     "material": {"law": "mooney_rivlin", "c1": 1, "c2": 2, "bulk": 3},
     "regions": [{"box": [8, 0, 0, 10, 4, 2], "young_factor": 10}],
     "node_mass": 0.5, "fixed": [{"box": [8, 0, 0, 10, 0, 2]}, {"nodes": [7]}],
     "loads": [{"box": [8, 8, 0, 10, 8, 2], "total_force": [0, 8, 0]},
               {"nodes": [4], "force": [1, 0, 0]}],
     "velocity": [0, 0, 5]},
    {"name": "sheet", "mesh": {"cloth": {"nodes": [3, 4], "size": [1, 2]}},
     "material": {"young": 1e4, "poisson": 0.25, "rotation": "qr", "thickness": 0.01},
     "density": 200}],
  "obstacles": [{"plane": {"point": [0, 0, -1], "normal": [0, 0, 4], "friction": 0.5}},
                {"sphere": {"centre": [1, 2, 3], "radius": 4}}],
  "contact": {"between_objects": true, "friction": 0.3, "distance": 0.02},
  "solver": {"newton_iterations": 3, "newton_tolerance": 1e-6, "tolerance": 1e-8,
             "max_iterations": 50, "batch": 5, "assembly": "triplets",
             "product": "kokkos-kernels",
             "preconditioner": "block-jacobi", "refresh": "every:7", "factor": "host",
             "apply": "dissection", "factor_storage": "fp16", "bands": 3, "warp": false,
             "contact_iterations": 9, "contact_tolerance": 1e-5, "max_halvings": 2}
})";

SceneDocument read_text(const TestDirectory& directory, const std::string& text) {
  write_file(directory / "s.json", text);
  return read_scene(directory / "s.json");
}

/// The message for the full scene after `change`, which names the file.
template<class Change>
std::string error_after(const TestDirectory& directory, const Change& change) {
  Json scene = Json::parse(full_scene);
  change(scene);
  write_file(directory / "s.json", scene.dump());
  return error_of([&] {
    const SceneDocument document = read_scene(directory / "s.json");
    for (const ObjectChoice& object : document.objects) {
      std::int64_t unused = 0;
      make_soft_object(object, unused);
    }
  });
}

/// Checks that a changed scene is refused with the file, the place in it, and what else is said.
struct Mistakes {
  TestDirectory directory;

  template<class Change>
  void operator()(const Change& change, const std::string& place, const std::string& what) const {
    CHECK_SAYS(error_after(directory, change), directory / "s.json" + (": " + place), what);
  }
};

} // namespace

TEST_CASE("all of a scene is read", "[softbody]") {
  const TestDirectory directory;
  const SceneDocument scene = read_text(directory, full_scene);
  CHECK(scene.steps == 7);
  CHECK(scene.world.gravity[1] == -9.81);
  CHECK(scene.options.time_step == 0.04);
  CHECK(scene.options.rayleigh_mass == 0.1);
  CHECK(scene.options.rayleigh_stiffness == 0.2);
  REQUIRE(scene.objects.size() == 2);

  const ObjectChoice& beam = scene.objects[0];
  CHECK(beam.name == "beam");
  CHECK(beam.mesh.kind == MeshChoice::Kind::tetra_box);
  CHECK(beam.mesh.count[0] == 4);
  CHECK(beam.material.law == SoftLaw::mooney_rivlin);
  CHECK(beam.material.c1 == 1);
  CHECK(beam.material.c2 == 2);
  CHECK(beam.material.bulk == 3);
  CHECK(beam.node_mass == 0.5);
  CHECK(beam.loads[0].is_total);
  CHECK_FALSE(beam.loads[1].is_total);
  const ObjectChoice& sheet = scene.objects[1];
  CHECK(sheet.mesh.kind == MeshChoice::Kind::cloth);
  CHECK(sheet.mesh.size[1] == 2);
  CHECK(sheet.material.law == SoftLaw::corotational);
  CHECK(sheet.material.rotation == SoftRotation::qr);
  CHECK(sheet.material.thickness == 0.01);
  CHECK(sheet.density == 200);

  REQUIRE(scene.world.obstacles.size() == 2);
  CHECK(scene.world.obstacles[0].kind == SoftObstacle::Kind::plane);
  CHECK(scene.world.obstacles[0].normal[2] == 1); // made a unit vector
  CHECK(scene.world.obstacles[0].friction == 0.5);
  CHECK(scene.world.obstacles[1].kind == SoftObstacle::Kind::sphere);
  CHECK(scene.world.obstacles[1].point[2] == 3);
  CHECK(scene.world.obstacles[1].radius == 4);
  CHECK(scene.world.contact_between_objects);
  CHECK(scene.world.contact_friction == 0.3);
  CHECK(scene.world.contact_distance == 0.02);

  const SoftOptions& o = scene.options;
  CHECK(o.newton_iterations == 3);
  CHECK(o.newton_tolerance == 1e-6);
  CHECK(o.tolerance == 1e-8);
  CHECK(o.max_iterations == 50);
  CHECK(o.batch == 5);
  CHECK(o.assembly == SoftAssembly::triplets);
  CHECK(o.preconditioner == SoftPreconditioner::block_jacobi);
  CHECK(refresh_text(o) == "every:7");
  CHECK(o.place == FactorPlace::host);
  CHECK(o.apply == FactorApply::dissection);
  CHECK(o.storage == FactorStorage::fp16);
  CHECK(o.bands == 3);
  CHECK(o.product == SoftProduct::kokkos_kernels);
  CHECK_FALSE(o.warp);
  CHECK(o.contact_iterations == 9);
  CHECK(o.contact_tolerance == 1e-5);
  CHECK(o.max_halvings == 2);
}

TEST_CASE("objects are scaled, then turned, then moved; boxes are where they end up",
          "[softbody]") {
  const TestDirectory directory;
  const SceneDocument scene = read_text(directory, full_scene);
  std::int64_t unused = -1;
  const SoftObject beam = make_soft_object(scene.objects[0], unused);
  CHECK(unused == 0);
  REQUIRE(beam.mesh.num_points() == 20);
  REQUIRE(beam.mesh.num_elem() == 20); // five for each of the four cells
  // Node 4 was at (4, 0, 0): (8, 0, 0), (0, 8, 0), (10, 8, 0).
  CHECK(beam.mesh.point[12] == Approx(10));
  CHECK(beam.mesh.point[13] == Approx(8));
  CHECK(beam.mesh.point[14] == Approx(0).margin(1e-12));
  // The end that was at x = 0, and one more.
  CHECK(beam.fixed == std::vector<std::int32_t>{0, 5, 7, 10, 15});
  // A force of 8 N on four nodes, and 1 N on one of them.
  REQUIRE(beam.load.size() == 60);
  CHECK(beam.load[13] == 2);
  CHECK(beam.load[12] == 1);
  CHECK(beam.load[3 * 9 + 1] == 2);
  CHECK(beam.load[3 * 9] == 0);
  CHECK(beam.load[3 * 8 + 1] == 0);
  // The two cells that were below x = 2.
  CHECK(std::count(beam.factor.begin(), beam.factor.end(), 10.0) == 10);
  CHECK(std::count(beam.factor.begin(), beam.factor.end(), 1.0) == 10);
  // What is fixed does not move.
  CHECK(beam.velocity[3 * 1 + 2] == 5);
  CHECK(beam.velocity[3 * 5 + 2] == 0);
  CHECK(total_mass(beam) == 10);

  const SoftObject sheet = make_soft_object(scene.objects[1], unused);
  CHECK(sheet.factor.empty());
  CHECK(sheet.load.empty());
  CHECK(sheet.velocity.empty());
  CHECK(total_mass(sheet) == Approx(200 * 2 * 0.01));
}

TEST_CASE("mistakes in a material name file, place and remedy", "[softbody]") {
  const Mistakes says_after;
  using J = Json&;
  says_after([](J s) { s["objects"][1]["material"]["yung"] = 1; }, "objects[1].material",
             "there are \"law\", ");
  says_after([](J s) { s["objects"][0]["density"] = 5; }, "objects[0]", "leave one out");
  says_after([](J s) { s["objects"][1]["density"] = -5; }, "objects[1].density: -5", "at least 0");
  says_after([](J s) { s["objects"][0]["node_mass"] = 0; }, "objects[0].node_mass: 0",
             "greater than 0");
  says_after([](J s) { s["objects"][0]["material"]["law"] = "mooney"; },
             "objects[0].material.law: \"mooney\" is not one of", "did you mean 'mooney_rivlin'?");
  says_after([](J s) { s["objects"][0]["material"]["young"] = 1; },
             "objects[0].material: \"young\"", "no effect on the law mooney_rivlin");
  says_after([](J s) { s["objects"][0]["material"]["c1"] = -1; }, "objects[0].material.c1: -1",
             "at least 0");
  says_after([](J s) { s["objects"][1]["material"]["poisson"] = 0.5; },
             "objects[1].material.poisson: 0.5", "less than 0.5");
  says_after([](J s) { s["objects"][1]["material"].erase("young"); },
             "objects[1].material: \"young\" is missing", "Pa");
  says_after([](J s) { s["objects"][1]["material"].erase("thickness"); },
             "objects[1].material: \"thickness\" is missing", "cloth of 3 x 4 nodes");
  says_after([](J s) { s["objects"][0]["material"]["thickness"] = 1; },
             "objects[0].material: \"thickness\" has no effect", "leave it out");
  says_after(
      [](J s) {
        s["objects"][1]["material"] = {
            {"law", "stvk"}, {"young", 1}, {"poisson", 0}, {"thickness", 1}};
      },
      "objects[1].material: the law stvk is for tetrahedra", "choose corotational");
}

TEST_CASE("mistakes in what holds and moves an object name file, place and remedy", "[softbody]") {
  const Mistakes says_after;
  using J = Json&;
  says_after([](J s) { s["objects"][0]["fixed"][0]["box"] = {20, 0, 0, 21, 1, 1}; },
             "objects[0].fixed[0]: no node is inside the box", "spans 8 to 10, 0 to 8, 0 to 2 m");
  says_after([](J s) { s["objects"][0]["fixed"][0]["box"] = {2, 0, 0, 1, 1, 1}; },
             "objects[0].fixed[0].box", "above");
  says_after(
      [](J s) {
        s["objects"][0]["fixed"][0]["box"] = {2, 0, 0};
      },
      "objects[0].fixed[0].box", "six numbers");
  says_after([](J s) { s["objects"][0]["fixed"][1]["nodes"] = {20}; },
             "objects[0].fixed[1]: node 20", "last one is 19");
  says_after([](J s) { s["objects"][0]["fixed"][1]["nodes"] = {-1}; },
             "objects[0].fixed[1].nodes[0]: -1", "from 0");
  says_after(
      [](J s) {
        s["objects"][0]["loads"][0]["force"] = {1, 1, 1};
      },
      "objects[0].loads[0]", "leave one out");
  says_after([](J s) { s["objects"][0]["loads"][1].erase("force"); }, "objects[0].loads[1]",
             "expected one of");
  says_after([](J s) { s["objects"][0]["regions"][0]["box"] = {0, 0, 0, 1, 1, 1}; },
             "objects[0].regions[0]: no centre of an element", "spans");
  says_after([](J s) { s["objects"][0]["regions"][0]["young_factor"] = 0; },
             "objects[0].regions[0].young_factor: 0", "greater than 0");
  says_after([](J s) { s["objects"][0]["velocity"] = "up"; }, "objects[0].velocity", "m/s");
}

TEST_CASE("mistakes in an object's name, mesh and place name file, place and remedy",
          "[softbody]") {
  const Mistakes says_after;
  using J = Json&;
  says_after([](J s) { s["objects"][1]["name"] = "beam"; }, "objects[1].name", "twice");
  says_after([](J s) { s["objects"][0]["name"] = "a/b"; }, "objects[0].name", "letters");
  says_after([](J s) { s["objects"][0].erase("mesh"); }, "objects[0]: \"mesh\" is missing",
             "tetra_box");
  says_after([](J s) { s["objects"][0]["mesh"]["file"] = "a.vtu"; }, "objects[0].mesh",
             "leave one out");
  says_after([](J s) { s["objects"][0]["mesh"]["unit"] = 2; }, "objects[0].mesh", "\"unit\"");
  says_after([](J s) { s["objects"][0]["mesh"] = Json::object(); }, "objects[0].mesh",
             "expected one of");
  says_after(
      [](J s) {
        s["objects"][0]["mesh"]["tetra_box"]["cells"] = {1, 0, 1};
      },
      "objects[0].mesh.tetra_box.cells[1]: 0", "at least 1");
  says_after(
      [](J s) {
        s["objects"][1]["mesh"]["cloth"]["nodes"] = {1, 3};
      },
      "objects[1].mesh.cloth.nodes[0]: 1", "at least 2");
  says_after([](J s) { s["objects"][0]["scale"] = 0; }, "objects[0].scale: 0", "greater than 0");
  says_after(
      [](J s) {
        s["objects"][0]["rotate"]["axis"] = {0, 0, 0};
      },
      "objects[0].rotate.axis", "not zero");
}

TEST_CASE("mistakes in a scene name file, place and remedy", "[softbody]") {
  const Mistakes says_after;
  using J = Json&;
  says_after([](J s) { s["gravitty"] = 1; }, "unknown key \"gravitty\"", "did you mean 'gravity'?");
  says_after([](J s) { s.erase("steps"); }, "\"steps\" is missing", "number of steps");
  says_after([](J s) { s["steps"] = 1.5; }, "steps: 1.5", "at least 1");
  says_after([](J s) { s["steps"] = 0; }, "steps: 0", "at least 1");
  says_after([](J s) { s["time_step"] = "fast"; }, "time_step: \"fast\"", "greater than 0");
  says_after([](J s) { s["gravity"] = {1, 2}; }, "gravity: [1,2]", "three components");
  says_after([](J s) { s["gravity"] = {1, 2, "3"}; }, "gravity[2]: \"3\"", "three components");
  says_after([](J s) { s["damping"]["mass"] = -1; }, "damping.mass: -1", "1/s");
  says_after([](J s) { s["objects"] = Json::array(); }, "objects: []", "at least one");
  says_after([](J s) { s["objects"] = 3; }, "objects: 3", "a list");
  says_after(
      [](J s) {
        s["obstacles"][0]["plane"]["normal"] = {0, 0, 0};
      },
      "obstacles[0].plane.normal", "not zero");
  says_after([](J s) { s["obstacles"][1]["sphere"]["radius"] = -4; },
             "obstacles[1].sphere.radius: -4", "greater than 0");
  says_after([](J s) { s["obstacles"][1]["sphere"]["friction"] = -1; },
             "obstacles[1].sphere.friction: -1", "at least 0");
  says_after([](J s) { s["contact"]["between_objects"] = 1; }, "contact.between_objects: 1",
             "true or false");
  says_after([](J s) { s["solver"]["refresh"] = "every:0"; }, "solver.refresh: \"every:0\"",
             "at least 1");
  says_after([](J s) { s["solver"]["tolerance"] = 2; }, "solver.tolerance: 2", "less than 1");
  says_after([](J s) { s["solver"]["apply"] = "super"; }, "solver.apply: \"super\" is not one of",
             "did you mean 'supernodes'?");
  says_after([](J s) { s["solver"]["max_halvings"] = 31; }, "solver.max_halvings: 31", "0 to 30");
}

TEST_CASE("meshes are looked for beside the scene", "[softbody]") {
  const TestDirectory directory;
  Json scene = Json::parse(full_scene);
  scene["objects"][0]["mesh"] = {{"file", "meshes/beam.vtk"}, {"unit", 0.001}};
  const SceneDocument document = read_text(directory, scene.dump());
  CHECK(document.objects[0].mesh.file == directory / "meshes/beam.vtk");
  CHECK(document.objects[0].mesh.unit == 0.001);
  scene["objects"][0]["mesh"]["file"] = "/absolute/beam.vtk";
  CHECK(read_text(directory, scene.dump()).objects[0].mesh.file == "/absolute/beam.vtk");
}

TEST_CASE("numbers of nodes are refused where points without element are left out", "[softbody]") {
  const TestDirectory directory;
  write_file(directory / "two.vtk", "# vtk DataFile Version 3.0\none\nASCII\nDATASET "
                                    "UNSTRUCTURED_GRID\nPOINTS 5 double\n9 9 9\n0 0 0\n1 0 0\n"
                                    "0 1 0\n0 0 1\nCELLS 1 5\n4 1 2 3 4\nCELL_TYPES 1\n10\n");
  Json scene = Json::parse(full_scene);
  scene["objects"] = {{{"name", "one"},
                       {"mesh", {{"file", "two.vtk"}}},
                       {"material", {{"young", 1}, {"poisson", 0}}},
                       {"fixed", {{{"box", {0, 0, 0, 0, 0, 0}}}}}}};
  scene.erase("contact"); // of one object
  std::int64_t unused = 0;
  const SoftObject object = make_soft_object(read_text(directory, scene.dump()).objects[0], unused);
  CHECK(unused == 1);
  CHECK(object.mesh.num_points() == 4);
  CHECK(object.fixed == std::vector<std::int32_t>{0});
  scene["objects"][0]["fixed"] = {{{"nodes", {1}}}};
  const SceneDocument document = read_text(directory, scene.dump());
  CHECK_SAYS(error_of([&] { make_soft_object(document.objects[0], unused); }),
             "objects[0].fixed[0]", "two.vtk has 1 points without element", "choose by boxes");
}
