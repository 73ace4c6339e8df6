// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/json_file.hpp"
#include "apps/eikonal/input/generator_syntax.hpp"
#include "apps/eikonal/input/site_syntax.hpp"
#include "apps/eikonal/input/velocities.hpp"
#include <ossatura/core/io/text/atomic_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/test_directory.hpp"

#include <stdexcept>

using namespace ossatura;
using namespace ossatura_test;

namespace {

template<class Read>
std::string file_error(const TestDirectory& directory, const std::string& text, const Read& read) {
  const std::string path = directory / "f.json";
  write_file(path, text);
  const std::string message = error_of([&] { read(path); });
  CHECK_THAT(message, ContainsSubstring(path));
  return message;
}

} // namespace

TEST_CASE("sites are read", "[sites]") {
  const SiteChoice vertices = parse_site("vertices:7,0,9@t=2.5");
  CHECK(vertices.place == SitePlace::vertices);
  CHECK(vertices.vertices == std::vector<std::int32_t>{7, 0, 9});
  CHECK(vertices.time == 2.5);
  CHECK(vertices.text == "vertices:7,0,9@t=2.5");
  const SiteChoice list = parse_site("vtx:a:b/c@d.vtx@t=1e1");
  CHECK(list.place == SitePlace::list);
  CHECK(list.file == "a:b/c@d.vtx");
  CHECK(list.time == 10);
  const SiteChoice point = parse_site("point:-1,2.5,3e1");
  CHECK(point.place == SitePlace::point);
  CHECK(point.number[0] == -1);
  CHECK(point.number[2] == 30);
  CHECK(point.time == 0);
  CHECK(parse_site("sphere:1,2,3,4").number[3] == 4);
  CHECK(parse_site("box:0,0,0,1,1,0@t=0").place == SitePlace::box);
  CHECK(parse_site("point:1,2,3@t=-5").time == -5);
}

TEST_CASE("sites that are not well formed are rejected", "[sites]") {
  for (const char* text : {"",
                           "1,2,3",
                           "vertices",
                           "vertices:",
                           "vertices:1,,2",
                           "vertices:-1",
                           "vertices:1.5",
                           "vertices:7,0,7",
                           "vertices:4294967296",
                           "vtx:",
                           "point:1,2",
                           "point:1,2,3,4",
                           "point:1,2,x",
                           "point:nan,0,0",
                           "sphere:0,0,0,0",
                           "sphere:0,0,0,-1",
                           "box:0,0,0,1,1",
                           "box:1,0,0,0,1,1",
                           "point:1,2,3@5",
                           "point:1,2,3@t=",
                           "point:1,2,3@t=-1e7",
                           "point:1,2,3@t=inf",
                           "ball:1,2,3,4",
                           "point:1,2,3@t=1e999",
                           "point:1,2,3@t=1e23"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_site(text), std::invalid_argument);
  }
  CHECK_THROWS_WITH(parse_site("shpere:0,0,0,1"), ContainsSubstring("did you mean 'sphere'?"));
}

TEST_CASE("a file has one set of sites, or several with names", "[sites]") {
  const TestDirectory directory;
  const std::string path = directory / "s.json";
  write_file(path, R"(["point:1,2,3", "vtx:lv.vtx@t=5"])");
  const std::vector<SiteSet> one = read_site_sets(path);
  REQUIRE(one.size() == 1);
  CHECK(one[0].name.empty());
  REQUIRE(one[0].sites.size() == 2);
  CHECK(one[0].sites[1].file == directory / "lv.vtx"); // beside the file, wherever one works
  CHECK(one[0].sites[1].time == 5);

  write_file(path, R"({"b": ["vertices:3"], "a-1.x": ["vertices:1", "vertices:2"]})");
  const std::vector<SiteSet> two = read_site_sets(path);
  REQUIRE(two.size() == 2);
  CHECK(two[0].name == "b"); // in the order of the file
  CHECK(two[1].name == "a-1.x");
  CHECK(two[1].sites.size() == 2);
}

TEST_CASE("errors in a file of sites name the set and the site", "[sites]") {
  const TestDirectory directory;
  const std::pair<const char*, const char*> cases[] = {
      {"[\"point:1,2,3\",\n \"point:1,2\"]", "site 2: 'point:1,2'"},
      {R"({"lv": ["vertices:1", 7]})", R"(set "lv": site 2)"},
      {R"({"lv": []})", R"(set "lv": has no site)"},
      {R"({"lv": "vertices:1"})", R"(set "lv": expected a list)"},
      {"[]", "has no site"},
      {"{}", "no set"},
      {"3", "expected a list"},
      {R"({"a/b": ["vertices:1"]})", R"("a/b")"},
      {R"({"": ["vertices:1"]})", "letters, digits"},
      {R"({"a": ["vertices:1"], "a": ["vertices:2"]})", "twice"},
      {"[\n\"vertices:1\",\n\"vertices:2\"\n", "line 4"}};
  for (const auto& [content, message] : cases)
    CHECK_THAT(file_error(directory, content, read_site_sets), ContainsSubstring(message));
}

TEST_CASE("velocities by tag are read", "[velocities]") {
  const TestDirectory directory;
  const std::string path = directory / "v.json";
  write_file(path, R"({"1": {"vl": 0.6, "vt": 0.4, "vn": 0.2}, "-3": {"vt": 1, "vl": 2},
                       "4": {"vl": 0.7}, "5": {"vl": 0}, "6": {"vl": null, "vt": 1}, "7": null,
                       "default": {"vl": 0.5, "vt": 0.25}})");
  const VelocityTable table = read_velocities(path);
  REQUIRE(table.by_tag.size() == 6);
  CHECK(table.by_tag.at(4).sheet == 0.7); // the same in all directions
  CHECK(table.by_tag.at(4).normal == 0.7);
  CHECK(table.by_tag.at(4).conducts());
  for (const int tag : {5, 6, 7})
    CHECK_FALSE(table.by_tag.at(tag).conducts());
  CHECK(table.by_tag.at(1).fibre == 0.6);
  CHECK(table.by_tag.at(1).sheet == 0.4);
  CHECK(table.by_tag.at(1).normal == 0.2);
  CHECK(table.by_tag.at(-3).fibre == 2);
  CHECK(table.by_tag.at(-3).normal == 1); // as across the fibre
  REQUIRE(table.other);
  CHECK(table.other->fibre == 0.5);

  const TissueVelocities chosen = choose_velocities(table, {{1, 10}, {8, 1}}, "heart.pts");
  REQUIRE(chosen.size() == 2);
  CHECK(chosen.at(1).fibre == 0.6);
  CHECK(chosen.at(8).fibre == 0.5);

  write_file(path, R"({"1": {"vl": 0.6, "vt": 0.4}})");
  const std::string missing = error_of([&] {
    choose_velocities(read_velocities(path), {{1, 10}, {-7, 1234}}, "heart.pts");
  });
  CHECK_THAT(missing, ContainsSubstring("heart.pts: 1 234 tetrahedra have tag -7"));
  CHECK_THAT(missing, ContainsSubstring(path));
  CHECK_THAT(missing, ContainsSubstring("add \"-7\""));
}

TEST_CASE("bad velocities are errors that name the tag or the line", "[velocities]") {
  const TestDirectory directory;
  const std::pair<const char*, const char*> cases[] = {
      {"{\"1\": {\"vl\": 0.6,\n \"vt\": }}", "line 2"},
      {R"({"1": {"vl": 1e999, "vt": 1}})", "not JSON"},
      {"[]", "expected an object"},
      {"{}", "has no velocities"},
      {R"({"1": 0.6})", "tag 1: expected velocities"},
      {R"({"1": {"vl": 1, "vt": 0}})", R"(tag 1: "vt" is 0)"},
      {R"({"1": {"vl": 1, "vt": 1, "vn": null}})", R"(tag 1: "vn" is null)"},
      {R"({"1": {"vl": 1, "vt": -0.5}})", R"("vt" is -0.5)"},
      {R"({"2": {"vl": "1", "vt": 1}})", "not a number"},
      {R"({"2": {"vl": 1, "vn": 1}})", R"(tag 2: "vt" is missing)"},
      {R"({"2": {"vt": 1}})", R"(tag 2: "vl" is missing)"},
      {R"({"2": {"vl": 1, "vt": 1, "vm": 1}})", R"("vm")"},
      {R"({"defualt": {"vl": 1, "vt": 1}})", "did you mean 'default'?"},
      {R"({"1.5": {"vl": 1, "vt": 1}})", "no tag"},
      {R"({"1": {"vl": 1, "vt": 1, "vt": 2}})", R"("vt")"},
      {R"({"1": {"vl": 1, "vt": 1}, "1": {"vl": 1, "vt": 1}})", "twice"},
      {R"({"1": {"vl": 1, "vt": 1}, "+1": {"vl": 1, "vt": 1}})", "twice"}};
  for (const auto& [content, message] : cases)
    CHECK_THAT(file_error(directory, content, read_velocities), ContainsSubstring(message));
  CHECK_THAT(error_of([&] { read_velocities(directory / "nothere.json"); }),
             ContainsSubstring("nothere.json"));
}

TEST_CASE("one velocity for all tags", "[velocities]") {
  CHECK(parse_velocity("0.6").normal == 0.6);
  CHECK(parse_velocity("0.6,0.4").normal == 0.4);
  CHECK(parse_velocity("0.6,0.4,0.2").normal == 0.2);
  for (const char* text : {"", "0", "-1", "1,0", "1,2,3,4", "a", "1,", "nan", "inf", "1,,2"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_velocity(text), std::invalid_argument);
  }
}

TEST_CASE("generators are read", "[generators]") {
  CHECK(parse_generated_mesh("ventricles:h=0.36").h == 0.36);
  CHECK(parse_generated_mesh("slab").kind == MeshGenerator::slab);
  CHECK(parse_generated_mesh("slab").h == 0.5);
  const GeneratedMesh box = parse_generated_mesh("box:n=4x3x2,h=0.5,jitter=0.1");
  CHECK(box.cells == std::array<int, 3>{4, 3, 2});
  CHECK(box.h == 0.5);
  CHECK(box.jitter == 0.1);
  CHECK(parse_generated_mesh("box:n=7").cells == std::array<int, 3>{7, 7, 7});
  for (const char* text : {"", "heart", "slab:h=1,", "slab:h", "slab:h=", "slab:h=0", "slab:h=-1",
                           "slab:h=x", "slab:n=3", "slab:h=5", "ventricles:h=0.01", "box:n=0",
                           "box:n=2x2", "box:n=2000x2000x2000", "box:jitter=0.5", "box:n=2,,h=1"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_generated_mesh(text), std::invalid_argument);
  }
  CHECK_THROWS_WITH(parse_generated_mesh("ventricels:h=1"),
                    ContainsSubstring("did you mean 'ventricles'?"));
  CHECK_THROWS_WITH(parse_generated_mesh("box:n=4,jiter=0.1"),
                    ContainsSubstring("did you mean 'jitter'?"));
}
