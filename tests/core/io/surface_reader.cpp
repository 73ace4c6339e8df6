// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/surface/reader.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <limits>

using namespace ossatura;
using namespace ossatura_test;

namespace {

TriangleSurface read(const Bytes& bytes, const std::string& name = "a.off") {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  return read_surface(directory / name);
}

std::string refusal(const Bytes& bytes, const std::string& name = "a.off") {
  return error_of([&] { read(bytes, name); });
}

/// Six times the enclosed volume; positive where triangles are counter-clockwise from outside.
double six_volumes(const TriangleSurface& s) {
  double sum = 0;
  for (const auto& t : s.triangle) {
    const auto& a = s.vertex[std::size_t(t[0])];
    const auto& b = s.vertex[std::size_t(t[1])];
    const auto& c = s.vertex[std::size_t(t[2])];
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum;
}

const char* const cube_off = "OFF 8 6 12\n"
                             "0 0 0\n2 0 0\n2 2 0\n0 2 0\n0 0 2\n2 0 2\n2 2 2\n0 2 2\n"
                             "4 0 3 2 1 255 0 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n"
                             "4 3 0 4 7\n";

} // namespace

TEST_CASE("the same tetrahedron is read from OFF, ASCII and binary STL", "[surface]") {
  for (const auto& [name, bytes] : {std::pair<const char*, Bytes>{"a.off", sample_off()},
                                    {"a.stl", sample_ascii_stl()},
                                    {"b.stl", sample_binary_stl()}}) {
    INFO(name);
    const TriangleSurface surface = read(bytes, name);
    CHECK(surface.vertex.size() == 4); // STL corners are merged
    CHECK(surface.triangle.size() == 4);
    CHECK(six_volumes(surface) == 1);
    CHECK(describe_first_open_edge(surface).empty());
    CHECK_NOTHROW(require_closed(surface, name));
  }
}

TEST_CASE("polygons of OFF are cut into triangles; counts may follow the keyword", "[surface]") {
  const TriangleSurface cube = read(cube_off);
  CHECK(cube.vertex.size() == 8);
  CHECK(cube.triangle.size() == 12);
  CHECK(six_volumes(cube) == 6 * 8);
  CHECK(describe_first_open_edge(cube).empty());
}

TEST_CASE("carriage returns, comments and blank lines are no obstacle", "[surface]") {
  Bytes text = "# made by hand\r\n\r\n";
  for (const char c : sample_off())
    text += c == '\n' ? Bytes("  # note\r\n\r\n") : Bytes(1, c);
  CHECK(six_volumes(read(text)) == 1);
}

TEST_CASE("negative zero and zero are one corner; degenerate triangles are dropped", "[surface]") {
  Bytes text = sample_ascii_stl();
  text.replace(text.find("vertex 0 0 0"), 12, "vertex -0 0 -0.0");
  text.insert(text.find("endsolid"), "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 0\n"
                                     "vertex 1 0 0\nendloop\nendfacet\n");
  const TriangleSurface surface = read(text, "a.stl");
  CHECK(surface.vertex.size() == 4);
  CHECK(surface.triangle.size() == 4);
  CHECK(describe_first_open_edge(surface).empty());
}

TEST_CASE("a surface that is not closed names its first bad edge", "[surface]") {
  TriangleSurface surface = read(sample_off());
  TriangleSurface open = surface;
  open.triangle.pop_back(); // (1, 2, 3)
  CHECK_SAYS(describe_first_open_edge(open), "vertex 1 (1, 0, 0) to 2 (0, 1, 0)",
             "belongs to 1 triangle");
  CHECK_SAYS(error_of([&] { require_closed(open, "femur.off"); }), "femur.off", "not closed",
             "repair");
  TriangleSurface twice = surface;
  twice.triangle.push_back(twice.triangle[3]);
  CHECK_SAYS(describe_first_open_edge(twice), "belongs to 3 triangles");
  TriangleSurface turned = surface;
  std::swap(turned.triangle[3][0], turned.triangle[3][1]);
  CHECK_SAYS(describe_first_open_edge(turned), "same direction");
  CHECK_SAYS(error_of([] { require_closed({}, "empty.off"); }), "no triangles");
}

TEST_CASE("malformed surfaces are refused with the line", "[surface]") {
  const auto with = [](const char* from, const char* to) {
    Bytes text = sample_off();
    text.replace(text.find(from), std::strlen(from), to);
    return refusal(text);
  };
  CHECK_SAYS(with("4 4 6", "4"), "a.off: line 3", "numbers of vertices");
  CHECK_SAYS(with("4 4 6", "4 4000000000 6"), "line 3", "more than a file of");
  CHECK_SAYS(with("4 4 6", "4 5 6"), "ends at face 4 of 5");
  CHECK_SAYS(with("4 4 6", "4 3 6"), "line 11", "behind the 3 faces");
  CHECK_SAYS(with("1 0 0\n", "1 0\n"), "line 5", "vertex 1", "three finite");
  CHECK_SAYS(with("1 0 0\n", "1 nan 0\n"), "line 5", "vertex 1");
  CHECK_SAYS(with("3 0 2 1", "3 0 2 4"), "line 8", "face 0", "0 to 3");
  CHECK_SAYS(with("3 0 2 1", "3 0 2 -1"), "face 0");
  CHECK_SAYS(with("3 0 2 1", "2 0 2"), "3 or more");
  CHECK_SAYS(with("3 0 2 1", "3000000 0 2"), "3 or more");
  CHECK_SAYS(with("OFF", "OFF BINARY"), "binary OFF");
  CHECK_SAYS(refusal("hello"), "not a surface that is read");
  CHECK_SAYS(refusal(""), "is empty");

  const Bytes ascii = sample_ascii_stl();
  CHECK_SAYS(refusal(ascii.substr(0, ascii.size() / 2), "a.stl"), "a.stl: line");
  CHECK_SAYS(refusal(ascii.substr(0, ascii.find("endsolid")), "a.stl"), "truncated");
  Bytes text = ascii;
  text.replace(text.find("vertex 0 0 0"), 12, "vertex 0 0 x");
  CHECK_SAYS(refusal(text, "a.stl"), "line 4", "three finite");
  text = ascii;
  text.replace(text.find("vertex 0 0 0\n"), 13, "");
  CHECK_SAYS(refusal(text, "a.stl"), "ends with 2 vertices");

  const Bytes binary = sample_binary_stl();
  CHECK_SAYS(refusal(binary.substr(0, binary.size() - 1), "a.stl"), "truncated",
             "4 triangles would make 284");
  text = binary;
  text.replace(84 + 12, 4, number(std::numeric_limits<float>::infinity()));
  CHECK_SAYS(refusal(text, "a.stl"), "triangle 0", "not finite");
}
