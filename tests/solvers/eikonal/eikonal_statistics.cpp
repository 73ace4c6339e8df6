// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/activation_statistics.hpp>
#include <ossatura/solvers/eikonal/conducting_parts.hpp>

#include "tests/catch.hpp"

#include <limits>

using namespace ossatura;

TEST_CASE("a vertex between tissues counts in each", "[activation]") {
  // Three tetrahedra in a row, of tags 9, 2 and 9; the last vertex is on none.
  TetraMesh mesh;
  mesh.point.resize(3 * 7);
  mesh.tetra = {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5};
  mesh.tag = {9, 2, 9};
  const TaggedVertices tagged(mesh);
  CHECK(tagged.tags() == std::vector<int>{2, 9});
  constexpr double unreached = std::numeric_limits<double>::infinity();
  const std::vector<double> time{0, 1, 2, 4, 8, unreached, 100};
  const std::vector<ActivationStatistics> by_tag = tagged.summarise(ConstSpan<double>(time));
  REQUIRE(by_tag.size() == 2);
  CHECK(by_tag[0].num_vertices == 4); // 1, 2, 3, 4
  CHECK(by_tag[0].num_reached == 4);
  CHECK(by_tag[0].earliest == 1);
  CHECK(by_tag[0].latest == 8);
  CHECK(by_tag[0].mean == 15.0 / 4);
  CHECK(by_tag[1].num_vertices == 6); // 0 to 5, each once
  CHECK(by_tag[1].num_reached == 5);
  CHECK(by_tag[1].earliest == 0);
  CHECK(by_tag[1].mean == 3);

  const ActivationStatistics all = tagged.summarise_all(ConstSpan<double>(time));
  CHECK(all.num_vertices == 6);
  CHECK(all.num_reached == 5);
  CHECK(all.latest == 8);
}

TEST_CASE("tissue that does not conduct is in no statistic", "[activation]") {
  TetraMesh mesh;
  mesh.point.resize(3 * 6);
  mesh.tetra = {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5};
  mesh.tag = {9, 2, 3};
  const TaggedVertices tagged(mesh, {false, false, true});
  CHECK(tagged.tags() == std::vector<int>{2, 9});
  constexpr double unreached = std::numeric_limits<double>::infinity();
  const std::vector<double> time{0, 1, 2, 4, unreached, unreached};
  const ActivationStatistics all = tagged.summarise_all(ConstSpan<double>(time));
  CHECK(all.num_vertices == 5); // all but 5; 4 could have a time
  CHECK(all.num_reached == 4);
  const std::vector<ActivationStatistics> by_tag = tagged.summarise(ConstSpan<double>(time));
  REQUIRE(by_tag.size() == 2);
  CHECK(by_tag[0].num_vertices == 4);
  CHECK(by_tag[0].num_reached == 3);
  CHECK(by_tag[1].num_vertices == 4);
}

TEST_CASE("parts of a mesh share no vertex through which a wave could go", "[activation]") {
  // Two tetrahedra that share one vertex, a third that shares a face with the second, one apart.
  TetraMesh mesh;
  mesh.point.resize(3 * 12);
  mesh.tetra = {0, 1, 2, 3, 3, 4, 5, 6, 4, 5, 6, 7, 11, 10, 9, 8};
  mesh.tag = {1, 2, 3, 4};
  const ConductingParts all(mesh, {});
  CHECK(all.size() == std::vector<std::int64_t>{8, 4});
  CHECK(all.part_of(0) == 0);
  CHECK(all.part_of(7) == 0);
  CHECK(all.part_of(9) == 1);
  CHECK(all.num_blocked() == 0);
  const ConductingParts cut(mesh, {false, true, false, false});
  CHECK(cut.size() == std::vector<std::int64_t>{4, 4, 4});
  CHECK(cut.part_of(3) == 0);
  CHECK(cut.part_of(4) == 1);
  const ConductingParts less(mesh, {true, false, true, true});
  CHECK(less.size() == std::vector<std::int64_t>{4});
  CHECK(less.part_of(0) == -1);
  CHECK(less.part_of(3) == 0);
  CHECK(less.num_blocked() == 8);
}

TEST_CASE("where nothing is reached there are no times", "[activation]") {
  TetraMesh mesh;
  mesh.point.resize(3 * 4);
  mesh.tetra = {0, 1, 2, 3};
  mesh.tag = {1};
  const std::vector<float> time(4, std::numeric_limits<float>::infinity());
  const ActivationStatistics none = TaggedVertices(mesh).summarise_all(ConstSpan<float>(time));
  CHECK(none.num_vertices == 4);
  CHECK(none.num_reached == 0);
  CHECK(none.earliest == 0);
  CHECK(none.mean == 0);
  CHECK(none.latest == 0);
}
