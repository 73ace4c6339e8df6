// SPDX-License-Identifier: Apache-2.0
// What the readers of tetrahedral meshes make of files written by hand.
#include <ossatura/core/io/mesh/tetra_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/tetra_samples.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/test_directory.hpp"

#include <cmath>
#include <cstdlib>

using namespace ossatura;
using namespace ossatura_test;

namespace {

void check_two_tetra(const TetraMesh& mesh, const std::vector<std::int32_t>& tag) {
  const TwoTetra expected;
  REQUIRE(mesh.point.size() == expected.point.size());
  for (std::size_t i = 0; i < mesh.point.size(); ++i)
    CHECK(mesh.point[i] == Approx(expected.point[i]).margin(1e-15)); // 1500 x 0.001 rounds
  CHECK(mesh.tetra == expected.tetra);
  CHECK(mesh.tag == tag);
}

void check_directions(const TetraMesh& mesh) {
  CHECK(mesh.fibre == TwoTetra().fibre);
  CHECK(mesh.sheet == TwoTetra().sheet);
}

TetraMesh read_tetra(const std::string& name, const Bytes& bytes,
                     const TetraFileOptions& options = {}) {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  return read_tetra_mesh(directory / name, options);
}

TetraMesh read_tetra(const OpencarpFiles& files, const TetraFileOptions& options = {}) {
  const TestDirectory directory;
  files.write(directory / "heart");
  return read_tetra_mesh(directory / "heart", options);
}

Bytes with_crlf(const Bytes& text) {
  Bytes result;
  for (const char c : text)
    result += c == '\n' ? Bytes("\r\n") : Bytes(1, c);
  return result;
}

} // namespace

TEST_CASE("openCARP meshes are read by any of their names, in micrometres", "[tetra]") {
  const TestDirectory directory;
  sample_opencarp().write(directory / "heart.1");
  for (const char* name : {"heart.1", "heart.1.pts", "heart.1.elem", "heart.1.lon"}) {
    INFO(name);
    const TetraMesh mesh = read_tetra_mesh(directory / name);
    check_two_tetra(mesh, {7, -2});
    check_directions(mesh);
  }
  TetraFileOptions metres;
  metres.unit = 1;
  CHECK(read_tetra_mesh(directory / "heart.1", metres).point[14] == 1500);
  sample_opencarp_binary(true).write(directory / "binary");
  for (const char* name : {"binary", "binary.bpts", "binary.belem"})
    check_two_tetra(read_tetra_mesh(directory / name), {7, -2});
}

TEST_CASE("tags and directions of openCARP are optional", "[tetra]") {
  OpencarpFiles files = sample_opencarp();
  files.elements = "2\nTt 0 1 2 3\n\n  Tt\t1 2 3 4 5 \n";
  files.directions.clear();
  const TetraMesh mesh = read_tetra(files);
  check_two_tetra(mesh, {0, 5});
  CHECK(mesh.fibre.empty());
  CHECK(mesh.sheet.empty());

  files.directions = "1\n1 0 0\n0 0 0\n";
  CHECK(read_tetra(files).fibre == TwoTetra().fibre);
  CHECK(read_tetra(files).sheet.empty());
  files.directions = "1 0 0\n0 0 0\n"; // old files have no header
  CHECK(read_tetra(files).fibre == TwoTetra().fibre);
  CHECK(read_tetra(files).sheet.empty());
  files.directions = "\n 1 0 0 0 1 0\n0 0 0 0.5 0 -1";
  check_directions(read_tetra(files));
  files.directions = "1 0 0 0 1\n0 0 0 0 0\n";
  CHECK_SAYS(error_of([&] { read_tetra(files); }), "heart.lon", "line 1", "one or two directions");
  files.directions = "3\n1 0 0\n0 0 0\n";
  CHECK_SAYS(error_of([&] { read_tetra(files); }), "heart.lon", "line 1", "3 directions");
}

TEST_CASE("directions may be in another file", "[tetra]") {
  const TestDirectory directory;
  sample_opencarp().write(directory / "heart");
  write_bytes(directory / "other.lon", "1\n0 0 2\n0 3 0\n");
  write_bytes(directory / "other.blon", sample_opencarp_binary(false).directions);
  write_bytes(directory / "heart.msh", sample_gmsh_2());
  TetraFileOptions options;
  options.fibre_file = directory / "other.lon";
  const TetraMesh mesh = read_tetra_mesh(directory / "heart", options);
  CHECK(mesh.fibre == std::vector<float>{0, 0, 2, 0, 3, 0});
  CHECK(mesh.sheet.empty());
  CHECK(read_tetra_mesh(directory / "heart.msh", options).fibre == mesh.fibre);
  options.fibre_file = directory / "other.blon";
  check_directions(read_tetra_mesh(directory / "heart", options));
  options.fibre_file = directory / "none.lon";
  CHECK_SAYS(error_of([&] { read_tetra_mesh(directory / "heart", options); }), "none.lon",
             "no such file");
}

TEST_CASE("binary openCARP meshes are read in both byte orders", "[tetra]") {
  for (const bool big : {false, true})
    for (const bool padded : {false, true}) {
      INFO("big " << big << ", padded " << padded);
      OpencarpFiles files = sample_opencarp_binary(big, padded);
      const TetraMesh mesh = read_tetra(files);
      check_two_tetra(mesh, {7, -2});
      check_directions(mesh);
      files.directions =
          opencarp_header(big ? "1 2 1 0" : "1 2 0 0", padded) + numbers(TwoTetra().fibre, big);
      CHECK(read_tetra(files).fibre == TwoTetra().fibre);
      CHECK(read_tetra(files).sheet.empty());
    }
}

TEST_CASE("Gmsh meshes of both formats are read as text and binary", "[tetra]") {
  check_two_tetra(read_tetra("a.msh", sample_gmsh_2()), {7, 9});
  check_two_tetra(read_tetra("a.msh", with_crlf(sample_gmsh_2())), {7, 9});
  check_two_tetra(read_tetra("a.msh", sample_gmsh_4()), {7, 9});
  for (const bool big : {false, true}) {
    check_two_tetra(read_tetra("a.msh", sample_gmsh_2_binary(big)), {7, 9});
    check_two_tetra(read_tetra("a.msh", sample_gmsh_4_binary(big)), {7, 9});
  }
  TetraFileOptions options;
  options.unit = 10;
  CHECK(read_tetra("a.msh", sample_gmsh_2(), options).point[14] == 15);
}

TEST_CASE("the tag of a Gmsh element is its physical group, else its entity", "[tetra]") {
  CHECK(read_tetra("a.msh", replaced(sample_gmsh_2(), "2 7 1", "2 0 3")).tag ==
        std::vector<std::int32_t>{3, 9});
  CHECK(read_tetra("a.msh", replaced(sample_gmsh_2(), "2 7 1", "0")).tag ==
        std::vector<std::int32_t>{0, 9});
  // A partition 21 of volume 1 (in group 7), and 22 of volume 9 (in none).
  const Bytes partitioned =
      replaced(replaced(replaced(sample_gmsh_4(), "$EndEntities\n",
                                 "$EndEntities\n$PartitionedEntities\n2\n1\n4 2\n0 0 0 2\n"
                                 "21 3 1 1 1 0 0 0 1 1 1 1 7 0\n22 3 9 2 1 2 0 0 0 1 1 1 0 0\n"
                                 "$EndPartitionedEntities\n"),
                        "3 1 4 1\n", "3 21 4 1\n"),
               "3 9 4 1\n", "3 22 4 1\n");
  check_two_tetra(read_tetra("a.msh", partitioned), {7, 9});
}

TEST_CASE("points that only passed-over elements have are passed over with them", "[tetra]") {
  // Node 6 belongs to the line alone.
  Bytes gmsh = replaced(sample_gmsh_2(), "$Nodes\n5\n", "$Nodes\n6\n6 9 9 9\n");
  check_two_tetra(read_tetra("a.msh", replaced(gmsh, "1 1 2 5 1 10 2", "1 1 2 5 1 6 2")), {7, 9});
  CHECK_SAYS(error_of([&] { read_tetra("a.msh", gmsh); }), "a.msh", "node 6", "no tetrahedron",
             "remove unused points");
  const Bytes vtk = replaced(
      replaced(replaced(sample_vtk(), "POINTS 5 float\n", "POINTS 6 float\n9 9 9\n"),
               "4 0 1 2 3\n3 0 1 2\n4 1 2 3 4", "4 1 2 3 4\n3 0 1 2\n4 2 3 4 5"),
      "POINT_DATA 5\nSCALARS phi%201 float\n0", "POINT_DATA 6\nSCALARS phi%201 float\n0 0");
  check_two_tetra(read_tetra("a.vtk", vtk), {7, -2});
  check_directions(read_tetra("a.vtk", vtk));
}

TEST_CASE("VTK legacy grids of every version are read as text and binary", "[tetra]") {
  for (const Bytes& bytes : {sample_vtk(), with_crlf(sample_vtk()), sample_vtk_binary(),
                             sample_vtk_texts(), sample_vtk_5(false), sample_vtk_5(true)}) {
    INFO(bytes.substr(0, 80));
    const TetraMesh mesh = read_tetra("a.vtk", bytes);
    check_two_tetra(mesh, {7, -2});
    check_directions(mesh);
  }
}

TEST_CASE("VTU grids are read in every coding", "[tetra]") {
  for (int format = VtuKind::ascii; format <= VtuKind::appended_raw; ++format)
    for (int bits = 0; bits < 8; ++bits) {
      VtuKind kind;
      kind.format = decltype(kind.format)(format);
      kind.big = (bits & 1) != 0;
      kind.wide = (bits & 2) != 0;
      kind.zlib = (bits & 4) != 0;
      INFO("format " << format << ", big, wide, zlib " << bits);
      const TetraMesh mesh = read_tetra("a.vtu", sample_vtu(kind));
      check_two_tetra(mesh, {7, -2});
      check_directions(mesh);
    }
}

TEST_CASE("the header of plain base64 may be encoded apart from the data", "[tetra]") {
  VtuKind kind;
  kind.format = VtuKind::inline_base64;
  const Bytes types = number(std::uint32_t(2)) + Bytes("\x0a\x0a");
  const Bytes text = replaced(sample_vtu(kind), base64_of(types),
                              base64_of(types.substr(0, 4)) + "\n " + base64_of("\x0a\x0a"));
  check_two_tetra(read_tetra("a.vtu", text), {7, -2});
}

TEST_CASE("fields of VTK files are chosen by name", "[tetra]") {
  TetraFileOptions options;
  const Bytes text = replaced(sample_vtk(), "SCALARS elemTag", "SCALARS my%20tissue");
  CHECK(read_tetra("a.vtk", text).tag == std::vector<std::int32_t>{0, 0}); // no usual name
  options.tag_field = "my tissue";
  options.fibre_field = "sheet";
  options.sheet_field = "fiber";
  const TetraMesh mesh = read_tetra("a.vtk", text, options);
  CHECK(mesh.tag == std::vector<std::int32_t>{7, -2});
  CHECK(mesh.fibre == TwoTetra().sheet);
  CHECK(mesh.sheet == TwoTetra().fibre);
  options.tag_field = "tissue";
  CHECK_SAYS(error_of([&] { read_tetra("a.vtk", text, options); }), "a.vtk", "'tissue'",
             "my tissue", "quality");
  options.tag_field = "fiber";
  CHECK_SAYS(error_of([&] { read_tetra("a.vtk", text, options); }), "'fiber' has 3 components");
  options.tag_field = "phi 1";
  CHECK_SAYS(error_of([&] { read_tetra("a.vtk", text, options); }), "'phi 1'", "data of points",
             "data of cells");
  CHECK_SAYS(error_of([&] {
               read_tetra("a.vtk",
                          replaced(replaced(sample_vtk(), "VECTORS fiber", "VECTORS other"),
                                   "SCALARS phi%201 float\n0 1 2 3 4\n",
                                   "VECTORS Fibers float\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"));
             }),
             "'Fibers' is data of points");
  CHECK_SAYS(error_of([&] {
               read_tetra("a.vtk", replaced(sample_vtk(), "VECTORS fiber", "VECTORS axis"));
             }),
             "a.vtk", "'sheet'", "no fibre direction");
  // Whole numbers may be stored as floats, but no others.
  CHECK(read_tetra("a.vtk", replaced(sample_vtk(), "elemTag int", "elemTag float")).tag[1] == -2);
  CHECK_SAYS(error_of([&] {
               read_tetra("a.vtk", replaced(replaced(sample_vtk(), "elemTag int", "elemTag float"),
                                            "\n-2\n", "\n-2.5\n"));
             }),
             "a.vtk: line 26", "'-2.5'", "whole number");
}

TEST_CASE("the meshes of the shared data are refused for their unused points", "[tetra]") {
  const char* shared = std::getenv("OSSATURA_SHARED_DATA");
  if (shared == nullptr) {
    SUCCEED("skipped: OSSATURA_SHARED_DATA is not set");
    return;
  }
  const std::string path = std::string(shared) + "/softbody/raptorTetra_8418.vtu";
  CHECK_SAYS(error_of([&] { read_tetra_mesh(path); }), "raptorTetra_8418.vtu: line 2609",
             "point 2603", "3 of 2996");
}

TEST_CASE("other cell data is read where it is asked for, NaN included", "[tetra]") {
  const Bytes text = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                     "POINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1.5\n"
                     "CELLS 3 14\n4 0 1 2 3\n3 0 1 2\n4 1 2 3 4\nCELL_TYPES 3\n10 5 10\n"
                     "CELL_DATA 3\nSCALARS v double 1\nLOOKUP_TABLE default\n0.5\n9\nnan\n"
                     "VECTORS w float\n1 2 3\n9 9 9\n4 5 nan\n";
  TetraFileOptions options;
  CHECK(read_tetra("a.vtk", text, options).value.empty());
  options.value_fields = {"w", "v"};
  const std::vector<double> value =
      read_tetra("a.vtk", text, options).value; // without the triangle's
  REQUIRE(value.size() == 8);
  CHECK(std::vector<double>(value.begin(), value.begin() + 6) ==
        std::vector<double>{1, 2, 3, 0.5, 4, 5});
  CHECK(std::isnan(value[6]));
  CHECK(std::isnan(value[7]));
  options.value_fields = {"v", "speed"};
  CHECK_SAYS(error_of([&] { read_tetra("a.vtk", text, options); }), "a.vtk", "'speed'", "v, w");
  options.value_fields = {"v"};
  CHECK_SAYS(error_of([&] { read_tetra("a.vtk", replaced(text, "nan", "inf"), options); }), "a.vtk",
             "line 18", "finite");
}

TEST_CASE("values of elements stand in a line each", "[tetra]") {
  const TestDirectory directory;
  const std::string path = directory / "v.dat";
  write_bytes(path, "0.6 0.3\r\n\n nan 0\n");
  const std::vector<double> value = read_cell_values(path, 2);
  REQUIRE(value.size() == 4);
  CHECK(value[1] == 0.3);
  CHECK(std::isnan(value[2]));
  CHECK_SAYS(error_of([&] { read_cell_values(path, 3); }), "v.dat", "the file ends after 2 lines");
  CHECK_SAYS(error_of([&] { read_cell_values(path, 1); }), "v.dat", "more lines than the 1");
  for (const char* bad :
       {"", "\n\n", "0.6 x\n1 1\n", "1\n1 1\n", "1 1 1 1\n1 1 1 1\n", "1e999\n1\n"}) {
    INFO(bad);
    write_bytes(path, bad);
    CHECK_SAYS(error_of([&] { read_cell_values(path, 2); }), "v.dat");
  }
}
