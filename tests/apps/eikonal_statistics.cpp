// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/activation_statistics.hpp"

#include "tests/catch.hpp"

#include <limits>

using namespace femura;

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

  const ActivationStatistics all = summarise_times(ConstSpan<double>(time));
  CHECK(all.num_vertices == 7);
  CHECK(all.num_reached == 6);
  CHECK(all.latest == 100);
}

TEST_CASE("where nothing is reached there are no times", "[activation]") {
  const std::vector<float> time(3, std::numeric_limits<float>::infinity());
  const ActivationStatistics none = summarise_times(ConstSpan<float>(time));
  CHECK(none.num_vertices == 3);
  CHECK(none.num_reached == 0);
  CHECK(none.earliest == 0);
  CHECK(none.mean == 0);
  CHECK(none.latest == 0);
}
