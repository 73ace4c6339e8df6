// SPDX-License-Identifier: Apache-2.0
// From places to vertices, and from tags to velocities.
#include <ossatura/core/base/require.hpp>
#include <ossatura/solvers/eikonal/activation_statistics.hpp>
#include <ossatura/solvers/eikonal/sites.hpp>
#include <ossatura/solvers/eikonal/velocities.hpp>

#include "tests/catch.hpp"

#include <cmath>
#include <limits>
#include <string>

using namespace ossatura;

namespace {

/// A tetrahedron with legs of 1 mm along the axes, and one below its base.
TetraMesh two_tetrahedra() {
  TetraMesh mesh;
  mesh.point = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1};
  mesh.tetra = {0, 1, 2, 3, 0, 2, 1, 4};
  mesh.tag = {5, 2};
  return mesh;
}

SiteChoice at(SitePlace place, const std::array<double, 6>& number, double time = 0) {
  SiteChoice site;
  site.place = place;
  site.number = number;
  site.time = time;
  site.text = "a place";
  return site;
}

SiteChoice vertices(const std::vector<std::int32_t>& numbers, double time = 0) {
  SiteChoice site = at(SitePlace::vertices, {}, time);
  site.vertices = numbers;
  return site;
}

template<class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("sites become vertices of the mesh", "[sites]") {
  const TetraMesh mesh = two_tetrahedra();
  const SiteSet set{"",
                    "here",
                    {vertices({4, 1}, 3), at(SitePlace::point, {0.1, 0.9, 0.1}, 1),
                     at(SitePlace::sphere, {0, 0, 0, 1}),
                     at(SitePlace::box, {-1, -1, 0, 0, 1, 0})}};
  PlacedSites placed = place_sites(mesh, set);
  using List = std::vector<std::int32_t>;
  CHECK(placed.vertices[0] == List{4, 1});
  CHECK(placed.vertices[1] == List{2});
  CHECK(placed.vertices[2] == List{0, 1, 2, 3, 4}); // the surface is inside
  CHECK(placed.vertices[3] == List{0, 2});
  // Each vertex once, at its earliest time.
  const SiteSet twice{"", "here", {vertices({4, 1}, 3), vertices({1}, 1), vertices({4}, 9)}};
  const std::vector<EikonalSite> merged = place_sites(mesh, twice).merged(twice);
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].vertex == 1);
  CHECK(merged[0].time == 1);
  CHECK(merged[1].vertex == 4);
  CHECK(merged[1].time == 3);
  // No wave leaves the vertex that only the second tetrahedron has.
  placed.leave_blocked_out(ConductingParts(mesh, {false, true}));
  CHECK(placed.vertices[0] == List{1});
  CHECK(placed.num_blocked == std::vector<std::int64_t>{1, 0, 1, 0});
}

TEST_CASE("sites that the mesh does not have are errors", "[sites]") {
  const TetraMesh mesh = two_tetrahedra();
  const auto message = [&](const SiteChoice& site) {
    return message_of([&] { place_sites(mesh, {"", "here", {vertices({0}), site}}); });
  };
  CHECK_THAT(
      message(vertices({2, 5})),
      ContainsSubstring("here: 'a place': vertex 5 is not in the mesh, whose last one is 4"));
  CHECK_THAT(message(at(SitePlace::sphere, {3, 3, 3, 1})),
             ContainsSubstring("no vertex is inside"));
  CHECK_THAT(message(at(SitePlace::box, {2, 2, 2, 3, 3, 3})),
             ContainsSubstring("no vertex is inside"));
  const std::string far = message(at(SitePlace::point, {0, 0, 1000}));
  CHECK_THAT(far, ContainsSubstring("999 mm away"));
  CHECK_THAT(far, ContainsSubstring("0 to 1, 0 to 1, -1 to 1 mm"));
  CHECK(message(at(SitePlace::point, {0, 0, 2})) == "no error"); // within the longest edge
  SiteChoice list = at(SitePlace::list, {});
  list.file = "nothere.vtx";
  CHECK_THAT(message(list), ContainsSubstring("nothere.vtx"));
}

TEST_CASE("velocities of tetrahedra have one to three numbers", "[velocities]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto one = tetra_velocities({0.6, 0, nan}, 3, "v.dat");
  REQUIRE(one.size() == 3);
  CHECK(one[0].normal == 0.6);
  CHECK_FALSE(one[1].conducts());
  CHECK_FALSE(one[2].conducts());
  const auto two = tetra_velocities({0.6, 0.4, 0, -1}, 2, "v.dat");
  CHECK(two[0].sheet == 0.4);
  CHECK(two[0].normal == 0.4);
  CHECK_FALSE(two[1].conducts());
  const auto three = tetra_velocities({0.6, 0.4, 0.2}, 1, "v.dat");
  CHECK(three[0].normal == 0.2);
  for (const double bad : {-0.5, std::numeric_limits<double>::infinity()})
    CHECK_THAT(message_of([&] {
                 tetra_velocities({0.6, bad}, 2, "v.dat");
               }),
               ContainsSubstring("v.dat: tetrahedron 1 has velocity"));
  for (const double bad : {0.0, nan})
    CHECK_THAT(message_of([&] {
                 tetra_velocities({0.6, bad}, 1, "v.dat");
               }),
               ContainsSubstring("v.dat: tetrahedron 0 has velocity"));
}

TEST_CASE("velocities are chosen by tag, and tissue is blocked by tag", "[velocities]") {
  const TetraMesh mesh = two_tetrahedra();
  const auto count = count_tags(mesh);
  CHECK(count == std::map<int, std::int64_t>{{2, 1}, {5, 1}});
  VelocityTable table;
  table.by_tag[5] = {0.6, 0.4, 0.2};
  table.by_tag[7] = {1, 1, 1};
  ChosenVelocities chosen = choose_velocities(table, count);
  CHECK(chosen.missing == std::vector<int>{2});
  CHECK(chosen.unused == std::vector<int>{7});
  table.other = ConductionVelocity{0.5, 0.5, 0.5};
  chosen = choose_velocities(table, count);
  CHECK(chosen.missing.empty());
  CHECK(chosen.by_tag.at(2).fibre == 0.5);
  CHECK(chosen.by_tag.at(5).sheet == 0.4);

  MeshVelocities velocities;
  velocities.by_tag = chosen.by_tag;
  block_tissue(mesh, {}, velocities);
  CHECK(velocities.num_blocked == 0);
  CHECK(velocities.blocked.empty());
  block_tissue(mesh, {2}, velocities);
  CHECK(velocities.num_blocked == 1);
  CHECK(velocities.blocked == std::vector<bool>{false, true});
  MeshVelocities by_tetra;
  by_tetra.by_tetra = {{0.6, 0.4, 0.2}, {0.6, 0.4, 0.2}};
  block_tissue(mesh, {5}, by_tetra);
  CHECK(by_tetra.blocked == std::vector<bool>{true, false});
}

TEST_CASE("vertices that other waves reach first, or none can, are counted", "[sites]") {
  TetraMesh mesh; // two tetrahedra apart
  mesh.point.resize(3 * 8);
  mesh.tetra = {0, 1, 2, 3, 4, 5, 6, 7};
  mesh.tag = {1, 1};
  const ConductingParts parts(mesh, {});
  constexpr float never = std::numeric_limits<float>::infinity();
  const std::vector<float> time{0, 1, 2, never, never, never, never, never};
  CHECK(count_apart(parts, {{0, 1}}, ConstSpan<float>(time)) == 4);
  CHECK(count_apart(parts, {{0}, {7}}, ConstSpan<float>(time)) == 0);
  const UnreachedVertices unreached = find_unreached(parts, {{0, 1}}, ConstSpan<float>(time));
  CHECK((unreached.num_vertices == 8 && unreached.num_apart == 4 && unreached.num_late == 1));
  const UnreachedVertices of_one =
      find_unreached(ConductingParts(mesh, {false, true}), {{0}}, ConstSpan<float>(time));
  CHECK((of_one.num_vertices == 4 && of_one.num_apart == 0 && of_one.num_late == 1));
  CHECK(count_swallowed({0, 1, 2}, 1.5, 0, ConstSpan<float>(time)) == 2);
  CHECK(count_swallowed({1}, 1, 0, ConstSpan<float>(time)) == 0);
}

TEST_CASE("late starts cost digits of single precision", "[sites]") {
  const double epsilon = std::ldexp(1.0, -24);
  CHECK(coarse_rounding(0, 100) == 0);
  CHECK(coarse_rounding(1e3, 1.1e3) == 0);
  CHECK(coarse_rounding(1e5, 1e5 + 100) == (1e5 + 100) * epsilon);
  CHECK(coarse_rounding(-1e5, -1e5 + 100) == 1e5 * epsilon);
  CHECK(coarse_rounding(1e5, 1e5) == 0); // of a site alone
}
