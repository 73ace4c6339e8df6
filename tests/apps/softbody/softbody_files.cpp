// SPDX-License-Identifier: Apache-2.0
// The frames and checkpoints of `ossatura softbody`, written and read back.
#include "apps/softbody/output/checkpoint.hpp"
#include "apps/softbody/output/frame_series.hpp"
#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <fstream>
#include <limits>
#include <random>
#include <sstream>

using namespace ossatura;
using namespace ossatura_test;

namespace {

SoftScene two_objects() {
  SoftScene scene;
  scene.objects.resize(2);
  scene.objects[0].name = "box";
  scene.objects[0].mesh = make_hexa_box({1, 1, 1}, {1, 1, 1});
  scene.objects[1].name = "sheet";
  scene.objects[1].mesh = make_cloth(2, 2, 1, 1);
  return scene;
}

std::vector<double> moved(const SoftScene& scene, double by) {
  std::vector<double> x;
  for (const SoftObject& object : scene.objects)
    for (const double coordinate : object.mesh.point)
      x.push_back(coordinate + by);
  return x;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Checkpoint some_state(const SoftScene& scene) {
  Checkpoint checkpoint;
  checkpoint.step = 3;
  SoftState& state = checkpoint.state;
  state.positions = moved(scene, 1. / 3);
  state.velocities = moved(scene, -2);
  state.time = 0.3;
  state.contact.node = {4, 7};
  state.contact.target = {1, 0};
  for (int k = 0; k < 18; ++k)
    state.contact.frame.push_back(k / 7.);
  state.contact.multiplier = {1, 0, 1. / 3, 2, -1, 0};
  state.factor_positions = moved(scene, 0.1);
  state.factor_velocities = moved(scene, 0.3);
  state.inverse_positions = moved(scene, 0.2);
  state.inverse_velocities = moved(scene, 0.4);
  state.factor_step = 0.01;
  state.staleness = 2;
  state.planned = 6;
  return checkpoint;
}

} // namespace

static SceneIdentity identity_of(const SoftScene& scene) {
  return identify(scene, SoftOptions());
}

TEST_CASE("frames have both objects where they are, and a list with their times", "[softbody]") {
  const TestDirectory directory;
  const SoftScene scene = two_objects();
  FrameSeries frames(directory / "f.hdf", scene, {{"version", "x"}}, 0);
  CHECK(frames.last_step() == -1);
  const std::vector<double> at_rest = moved(scene, 0), later = moved(scene, 0.25);
  frames.write(0, 0, at_rest, later);
  frames.write(10, 0.5, later, at_rest);
  CHECK(frames.last_step() == 10);
  CHECK(frames.num_written() == 2);
  CHECK(frames.path() == directory / "f.hdf.series");
  const std::string list = text_of(frames.path());
  CHECK_SAYS(list, R"({"name": "f_000000.hdf", "time": 0})",
             R"({"name": "f_000010.hdf", "time": 0.5})");

  const Hdf5File file = Hdf5File::open(directory / "f_000010.hdf");
  const Hdf5Group vtk = file.root().group("VTKHDF");
  CHECK(vtk.dataset("Points").read<double>() == later);
  CHECK(vtk.dataset("Types").read<int>() == std::vector<int>{12, 5, 5});
  CHECK(vtk.group("CellData").dataset("object").read<int>() == std::vector<int>{0, 1, 1});
  const Hdf5Dataset displacement = vtk.group("PointData").dataset("displacement");
  CHECK(displacement.read<double>() == std::vector<double>(later.size(), 0.25));
  CHECK(displacement.text_attribute("unit") == "m");
  CHECK(vtk.group("PointData").dataset("velocity").read<double>() == at_rest);
  CHECK(file.root().group("run").text_attribute("step") == "10");
}

TEST_CASE("a resumed series keeps the frames before it and replaces those after", "[softbody]") {
  const TestDirectory directory;
  const SoftScene scene = two_objects();
  const std::vector<double> x = moved(scene, 0);
  {
    FrameSeries frames(directory / "f", scene, {}, 0);
    for (const int step : {0, 5, 10})
      frames.write(step, step, x, x);
  }
  FrameSeries frames(directory / "f", scene, {}, 5);
  frames.write(5, 5, x, x);
  frames.write(8, 8, x, x);
  const std::string list = text_of(frames.path());
  CHECK_SAYS(list, "f_000000.hdf", "f_000005.hdf", "f_000008.hdf");
  CHECK_FALSE(says(list, "f_000010.hdf"));
  CHECK(list.find("f_000005.hdf") == list.rfind("f_000005.hdf"));
}

TEST_CASE("a checkpoint comes back as it was", "[softbody]") {
  const TestDirectory directory;
  const SoftScene scene = two_objects();
  const Checkpoint state = some_state(scene);
  write_checkpoint(directory / "c.h5", state, identity_of(scene), {{"command_line", "ossatura"}});
  const Checkpoint back = read_checkpoint(directory / "c.h5", identity_of(scene), 12);
  CHECK(back.step == 3);
  CHECK(back.state.time == 0.3);
  CHECK(back.state.positions == state.state.positions);
  CHECK(back.state.velocities == state.state.velocities);
  CHECK(back.state.contact.node == state.state.contact.node);
  CHECK(back.state.contact.target == state.state.contact.target);
  CHECK(back.state.contact.frame == state.state.contact.frame);
  CHECK(back.state.contact.multiplier == state.state.contact.multiplier);
  CHECK(back.state.factor_positions == state.state.factor_positions);
  CHECK(back.state.factor_velocities == state.state.factor_velocities);
  CHECK(back.state.inverse_positions == state.state.inverse_positions);
  CHECK(back.state.inverse_velocities == state.state.inverse_velocities);
  CHECK(back.state.factor_step == 0.01);
  CHECK(back.state.staleness == 2);
  CHECK(back.state.planned == 6);
}

TEST_CASE("checkpoints of other scenes and damaged ones are refused", "[softbody]") {
  const TestDirectory directory;
  const SoftScene scene = two_objects();
  const std::string path = directory / "c.h5";
  write_checkpoint(path, some_state(scene), identity_of(scene), {});
  const auto error_for = [&](const SoftScene& other) {
    return error_of([&] { read_checkpoint(path, identity_of(other), 12); });
  };
  SoftScene other = scene;
  other.objects[1].mesh.point[4] += 1e-12;
  CHECK_SAYS(error_for(other), path, "other meshes");
  other = scene;
  std::swap(other.objects[0], other.objects[1]);
  CHECK_SAYS(error_for(other), "other meshes");
  other = scene;
  other.objects[0].material.young *= 2;
  CHECK_SAYS(error_for(other), "another scene");
  other = scene;
  other.objects[0].fixed = {1};
  CHECK_SAYS(error_for(other), "another scene");
  other = scene;
  other.gravity[2] = -1;
  CHECK_SAYS(error_for(other), "another scene");
  other = scene;
  other.obstacles.resize(1);
  CHECK_SAYS(error_for(other), "another scene");
  SoftOptions damped;
  damped.rayleigh_mass = 5;
  CHECK_SAYS(error_of([&] { read_checkpoint(path, identify(scene, damped), 12); }),
             "another scene");

  Checkpoint state = some_state(scene);
  state.state.velocities[5] = std::numeric_limits<double>::quiet_NaN();
  write_checkpoint(path, state, identity_of(scene), {});
  CHECK_SAYS(error_for(scene), path, "/velocities", "finite");
  state = some_state(scene);
  state.state.positions.resize(33);
  write_checkpoint(path, state, identity_of(scene), {});
  CHECK_SAYS(error_for(scene), path, "/positions", "12 nodes");
  Hdf5File::create(path).close();
  CHECK_SAYS(error_for(scene), path, "is not an ossatura softbody checkpoint");
}

TEST_CASE("a checkpoint with a flipped bit is refused, wherever it is", "[softbody]") {
  const TestDirectory directory;
  const SoftScene scene = two_objects();
  const std::string path = directory / "c.h5";
  write_checkpoint(path, some_state(scene), identity_of(scene), {{"command_line", "ossatura"}});
  const Bytes whole = read_bytes_of(path);
  std::mt19937 random(19);
  for (int flip = 0; flip < 500; ++flip) {
    // Some in the head of the file, where the hash is.
    const std::size_t at = random() % (flip % 5 == 0 ? 128 : whole.size());
    Bytes damaged = whole;
    damaged[at] = char(damaged[at] ^ (1 << random() % 8));
    write_bytes(path, damaged);
    INFO("byte " << at);
    CHECK_SAYS(error_of([&] { read_checkpoint(path, identity_of(scene), 12); }), path);
  }
  write_bytes(path, whole.substr(0, whole.size() - 1));
  CHECK_SAYS(error_of([&] { read_checkpoint(path, identity_of(scene), 12); }), path, "damaged");
  write_bytes(path, whole);
  CHECK(read_checkpoint(path, identity_of(scene), 12).step == 3);
}
