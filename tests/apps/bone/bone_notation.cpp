// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/condition_syntax.hpp"
#include "apps/driver/options/suggest.hpp"
#include "apps/driver/output/table.hpp"

#include "tests/catch.hpp"

#include <stdexcept>

using namespace ossatura;

TEST_CASE("conditions on sides and nodes are read", "[notation]") {
  const NodalCondition side = parse_condition("z+:xz=-0.25", false);
  CHECK(side.where.is_face);
  CHECK(side.where.axis == 2);
  CHECK(side.where.upper);
  CHECK(side.components == std::array<bool, 3>{true, false, true});
  CHECK(side.value == -0.25);

  const NodalCondition node = parse_condition("10/0/7:y", false);
  CHECK_FALSE(node.where.is_face);
  CHECK(node.where.node == std::array<int, 3>{10, 0, 7});
  CHECK(node.components == std::array<bool, 3>{false, true, false});
  CHECK(node.value == 0);
}

TEST_CASE("conditions that are not well formed are rejected", "[notation]") {
  for (const char* text : {"", "z+", "z+:", "z+:=1", "w+:x", "z*:x", "1/2:x", "1/2/:x", "-1/2/3:x",
                           "1/2/3.5:x", "z+:q", "z+:x=", "z+:x=1mm", "z+:x=1=2"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_condition(text, false), std::invalid_argument);
  }
  CHECK_THROWS_AS(parse_condition("z+:x", true), std::invalid_argument);
}

TEST_CASE("labels and layers are read", "[notation]") {
  CHECK(parse_label("3=17000").first == 3);
  CHECK(parse_label("3=17000").second.modulus == 17000);
  CHECK_FALSE(parse_label("3=17000").second.poisson.has_value());
  CHECK(parse_label("-1=5:0.25").second.poisson == 0.25);
  CHECK(parse_layer("8=1e3") == std::make_pair(8, 1000.0));
  for (const char* text : {"", "3", "3=", "x=1", "3=1:", "3=1:a"})
    CHECK_THROWS_AS(parse_label(text), std::invalid_argument);
  for (const char* text : {"", "3", "3=", "1.5=1"})
    CHECK_THROWS_AS(parse_layer(text), std::invalid_argument);
}

TEST_CASE("a misspelt word finds its neighbour, a strange one none", "[suggest]") {
  const std::vector<std::string> names = {"--tolerance", "--threads", "--seed", "--size"};
  CHECK(nearest("--tolerence", names) == "--tolerance");
  CHECK(nearest("--tol", names) == "--tolerance");
  CHECK(nearest("--thraeds", names) == "--threads");
  CHECK(nearest("--sede", names) == "--seed");
  CHECK(nearest("--completely-different", names).empty());
  CHECK(nearest("x", {"y"}).empty());
}

TEST_CASE("numbers in the table are grouped and short", "[table]") {
  CHECK(format_count(1004451) == "1 004 451");
  CHECK(format_count(-12345) == "-12 345");
  CHECK(format_count(999) == "999");
  CHECK(format_bytes(1234567) == "1.23 MB");
  CHECK(format_bytes(12) == "12 B");
  CHECK(format_number(-798.40771) == "-798.408");
  CHECK(format_number(-0.0) == "0");

  Table table;
  table.section("T");
  table.row("long label", 1.5, "mm");
  table.row("l", "text");
  table.columns({"", "a"}, {{"row", "10"}});
  CHECK(table.text() == "T\n  long label  1.5 mm\n  l           text\n        a\n  row  10\n");
}
