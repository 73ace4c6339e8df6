// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/activation_statistics.hpp>
#include <ossatura/solvers/eikonal/conducting_parts.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

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

TEST_CASE("statistics of tags are the same for any number of threads", "[activation]") {
  TetraMesh mesh;
  constexpr std::int32_t num_points = 40'000;
  mesh.point.resize(3 * std::size_t(num_points));
  std::mt19937 random(7);
  std::vector<bool> blocked;
  for (int e = 0; e < 150'000; ++e) {
    const auto vertex = std::int32_t(random() % (num_points - 200)); // some are on none
    for (std::int32_t k = 0; k < 4; ++k)
      mesh.tetra.push_back(vertex + k * std::int32_t(1 + random() % 50));
    mesh.tag.push_back(int(vertex / 5000) * 10 - (random() % 100 == 0 ? 25 : 0));
    blocked.push_back(random() % 20 == 0);
  }
  std::vector<float> time;
  for (std::int32_t v = 0; v < num_points; ++v)
    time.push_back(v % 900 == 0 ? std::numeric_limits<float>::infinity()
                                : float(random()) / float(std::mt19937::max()));
  std::map<int, std::set<std::int32_t>> vertices;
  for (std::size_t e = 0; e < mesh.tag.size(); ++e)
    for (std::size_t i = 4 * e; !blocked[e] && i < 4 * e + 4; ++i)
      vertices[mesh.tag[e]].insert(mesh.tetra[i]);

  std::vector<ActivationStatistics> expected;
  for (const int threads : {1, 2, 4, 4}) {
    const ossatura_test::IoThreads chosen(threads);
    const TaggedVertices tagged(mesh, blocked);
    const std::vector<ActivationStatistics> by_tag = tagged.summarise(ConstSpan<float>(time));
    REQUIRE(tagged.tags().size() == vertices.size());
    std::size_t k = 0;
    for (const auto& [tag, own] : vertices) {
      CHECK(tagged.tags()[k] == tag);
      CHECK(by_tag[k].num_vertices == std::int64_t(own.size()));
      double sum = 0, reached = 0;
      for (const std::int32_t v : own)
        if (std::isfinite(time[std::size_t(v)])) {
          sum += double(time[std::size_t(v)]);
          ++reached;
        }
      CHECK(by_tag[k].num_reached == std::int64_t(reached));
      CHECK(by_tag[k].mean == Approx(sum / reached).epsilon(1e-12));
      if (!expected.empty())
        CHECK(by_tag[k].mean == expected[k].mean); // to the bit
      ++k;
    }
    expected = by_tag;
  }
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
