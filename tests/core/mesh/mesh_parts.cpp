// SPDX-License-Identifier: Apache-2.0
// Parts of meshes that several threads join, whose nodes are numbered at random.
#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>

#include <ossatura/core/machine/processors.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>

namespace {

using namespace ossatura;

/// Boxes beside one another, 2 apart, and a point without an element.
struct Boxes {
  ElementMesh mesh;
  std::vector<int> box_of; ///< [num_points]
};

Boxes shuffled_boxes(const std::vector<int>& lengths) {
  Boxes boxes;
  boxes.mesh.shape = ElementShape::hexa;
  double from = 0;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const ElementMesh box = make_hexa_box({lengths[k], 12, 12}, {double(lengths[k]), 12, 12});
    const int before = int(boxes.box_of.size());
    for (std::size_t i = 0; i < box.point.size(); ++i)
      boxes.mesh.point.push_back(box.point[i] + (i % 3 == 0 ? from : 0));
    for (const std::int32_t node : box.node)
      boxes.mesh.node.push_back(node + before);
    boxes.box_of.insert(boxes.box_of.end(), box.num_points(), int(k));
    from += lengths[k] + 2;
  }
  boxes.mesh.point.insert(boxes.mesh.point.end(), {-5, 0, 0});
  boxes.box_of.push_back(int(lengths.size()));

  std::vector<int> name(boxes.box_of.size());
  std::iota(name.begin(), name.end(), 0);
  std::shuffle(name.begin(), name.end(), std::mt19937(4));
  Boxes shuffled = boxes;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::size_t to = std::size_t(name[i]);
    shuffled.box_of[to] = boxes.box_of[i];
    std::copy_n(&boxes.mesh.point[3 * i], 3, &shuffled.mesh.point[3 * to]);
  }
  for (std::int32_t& node : shuffled.mesh.node)
    node = name[std::size_t(node)];
  return shuffled;
}

TEST_CASE("parts are what elements join, by any number of threads", "[mesh_parts]") {
  const Boxes boxes = shuffled_boxes({60, 1, 90, 2, 30});
  std::vector<int> part_of_box(6, -1), first;
  std::vector<std::int32_t> expected;
  for (std::size_t i = 0; i < boxes.box_of.size(); ++i) {
    int& part = part_of_box[std::size_t(boxes.box_of[i])];
    if (part < 0) {
      part = int(first.size());
      first.push_back(int(i));
    }
    expected.push_back(part);
  }
  const int before = io_threads();
  for (const int threads : {1, 2, 7})
    for (int again = 0; again < (threads == 1 ? 1 : 20); ++again) {
      set_io_threads(threads);
      const MeshParts parts = find_mesh_parts(boxes.mesh);
      REQUIRE(parts.part == expected);
      REQUIRE(parts.first == std::vector<std::int32_t>(first.begin(), first.end()));
    }
  set_io_threads(before);
}

TEST_CASE("the part that moves freely is named, by any number of threads", "[mesh_parts]") {
  const Boxes boxes = shuffled_boxes({70, 80});
  std::vector<HeldComponents> held; // all but a motion along x of the second box
  for (std::size_t i = 0; i < boxes.box_of.size(); ++i)
    held.push_back({std::int32_t(i), std::uint8_t(boxes.box_of[i] == 1 ? 6 : 7)});
  // A single point turns about itself whatever holds it.
  ElementMesh mesh = boxes.mesh;
  const std::size_t alone =
      std::size_t(std::find(boxes.box_of.begin(), boxes.box_of.end(), 2) - boxes.box_of.begin());
  mesh.node.insert(mesh.node.end(), mesh.node.begin(), mesh.node.begin() + 8);
  mesh.node.back() = std::int32_t(alone); // joins it to the first element
  const int before = io_threads();
  std::set<std::string> texts;
  for (const int threads : {1, 7}) {
    set_io_threads(threads);
    texts.insert(describe_free_motion(mesh, held, {}));
  }
  set_io_threads(before);
  REQUIRE(texts.size() == 1);
  CHECK(texts.begin()->find("2 parts that share no nodes") != std::string::npos);
  CHECK(texts.begin()->find("(along x)") != std::string::npos);
  CHECK(texts.begin()->find("(13689 nodes)") != std::string::npos); // 81 x 13 x 13
}

} // namespace
