// SPDX-License-Identifier: Apache-2.0
// Files of tetrahedral meshes that are refused, with a message that names the file, the place in it
// and the remedy.
#include <ossatura/core/io/mesh/tetra_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/mesh/tetra_samples.hpp"
#include "tests/core/io/replaced.hpp"
#include "tests/core/io/test_directory.hpp"

using namespace ossatura;
using namespace ossatura_test;

namespace {

std::string refusal_of_tetra(const std::string& name, const Bytes& bytes) {
  const TestDirectory directory;
  write_bytes(directory / name, bytes);
  return error_of([&] { read_tetra_mesh(directory / name); });
}

std::string refusal_of_tetra(const OpencarpFiles& files) {
  const TestDirectory directory;
  files.write(directory / "heart");
  return error_of([&] { read_tetra_mesh(directory / "heart"); });
}

OpencarpFiles with_points(const Bytes& text) {
  OpencarpFiles files = sample_opencarp();
  files.points = text;
  return files;
}
OpencarpFiles with_elements(const Bytes& text) {
  OpencarpFiles files = sample_opencarp();
  files.elements = text;
  return files;
}
OpencarpFiles with_directions(const Bytes& text) {
  OpencarpFiles files = sample_opencarp();
  files.directions = text;
  return files;
}

} // namespace

TEST_CASE("names that stand for no mesh are refused", "[tetra]") {
  const TestDirectory directory;
  CHECK_SAYS(error_of([&] { read_tetra_mesh(directory / "heart"); }), "heart", "no such mesh",
             "heart.pts");
  CHECK_SAYS(error_of([&] { read_tetra_mesh(directory / "heart.vtu"); }), "heart.vtu",
             "no such file");
  write_bytes(directory / "heart.pts", sample_opencarp().points);
  CHECK_SAYS(error_of([&] { read_tetra_mesh(directory / "heart"); }), "heart.elem", "no such file");
  CHECK_SAYS(refusal_of_tetra("heart.stl", "solid"), "heart.stl", "no mesh by its name", ".msh");
  CHECK_SAYS(refusal_of_tetra("heart.msh", sample_vtk()), "heart.msh", "$MeshFormat");
  CHECK_SAYS(refusal_of_tetra("heart.vtk", sample_gmsh_2()), "heart.vtk", "# vtk DataFile Version");
  CHECK_SAYS(refusal_of_tetra("heart.vtu", "<svg></svg>"), "heart.vtu", "<VTKFile>");
  CHECK_SAYS(refusal_of_tetra("heart.vtu", ""), "heart.vtu", "empty");
  TetraFileOptions options;
  options.unit = -1;
  CHECK_THROWS_AS(read_tetra_mesh(directory / "heart", options), std::invalid_argument);
}

TEST_CASE("bad points of openCARP are refused with file and line", "[tetra]") {
  CHECK_SAYS(refusal_of_tetra(with_points("five\n")), "heart.pts: line 1", "'five'",
             "number of points");
  CHECK_SAYS(refusal_of_tetra(with_points("-5\n")), "heart.pts: line 1", "'-5'");
  CHECK_SAYS(refusal_of_tetra(with_points("5 5\n")), "heart.pts: line 1", "only the number");
  CHECK_SAYS(refusal_of_tetra(with_points("5\n0 0 0\n1 0 0\n0 x 0\n0 0 1\n1 1 1\n")),
             "heart.pts: line 4", "'x'", "coordinate");
  CHECK_SAYS(refusal_of_tetra(with_points("5\n0 0 0\n1 0\n0 1 0\n0 0 1\n1 1 1\n")),
             "heart.pts: line 3", "the line ends", "coordinate");
  CHECK_SAYS(refusal_of_tetra(with_points("5\n0 0 0\n1 0 0 0\n0 1 0\n0 0 1\n1 1 1\n")),
             "heart.pts: line 3", "'0'", "should end");
  CHECK_SAYS(refusal_of_tetra(with_points("5\n0 0 0\n1 0 0\n0 1 0\n0 0 nan\n1 1 1\n")),
             "heart.pts: line 5", "point 3", "not finite");
  CHECK_SAYS(refusal_of_tetra(with_points("5\n0 0 0\n1 0 0\n0 1 0\n0 0 1e999\n1 1 1\n")),
             "heart.pts: line 5", "'1e999'");
  CHECK_SAYS(refusal_of_tetra(with_points("5\n0 0 0\n1 0 0\n0 1000.0 0.0\n0 0 1\n")),
             "heart.pts: line 6", "after 4 of 5 points", "truncated");
  CHECK_SAYS(refusal_of_tetra(with_points("5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n2 2 2\n")),
             "heart.pts: line 7", "more lines than the 5 points");
  CHECK_SAYS(refusal_of_tetra(with_points("5000000000000\n0 0 0\n")), "heart.pts: line 1",
             "5000000000000", "can hold");
  // an unused point, in the line where it stands
  CHECK_SAYS(refusal_of_tetra(with_points("6\n0 0 0\n1 0 0\n0 1 0\n\n0 0 1\n1 1 1\n2 2 2\n")),
             "heart.pts: line 8", "point 5", "no tetrahedron", "1 of 6", "remove unused points");
}

TEST_CASE("bad elements of openCARP are refused with file and line", "[tetra]") {
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7\nTt 1 2 3 5 7\n")),
             "heart.elem: line 3", "point 5", "0 to 4", "counted from 1");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7\nTt 1 2 -3 4 7\n")),
             "heart.elem: line 3", "point -3");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 1 3 7\nTt 1 2 3 4 7\n")),
             "heart.elem: line 2", "point 1 twice", "remove elements without volume");
  CHECK_SAYS(refusal_of_tetra(with_elements("3\nTt 0 1 2 3 7\nTt 1 2 3 4 7\nTt 3 0 2 1 8\n")),
             "heart.elem", "tetrahedra 0 and 2", "same vertices");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7\nHx 0 1 2 3 4 5 6 7 1\n")),
             "heart.elem: line 3", "Hx is a hexahedron", "only tetrahedra");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7\nTr 0 1 2 1\n")), "heart.elem: line 3",
             "Tr is a triangle");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7\nXx 0 1 2 1\n")), "heart.elem: line 3",
             "'Xx'", "no element type");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7\nTt 1 2 3\n")), "heart.elem: line 3",
             "vertex is expected");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7.5\nTt 1 2 3 4\n")),
             "heart.elem: line 2", "'7.5'", "tag");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7 1\nTt 1 2 3 4\n")),
             "heart.elem: line 2", "should end");
  CHECK_SAYS(refusal_of_tetra(with_elements("2\nTt 0 1 2 3 7\n         ")), "heart.elem: line 3",
             "after 1 of 2 elements", "truncated");
  CHECK_SAYS(refusal_of_tetra(with_elements("1\nTt 0 1 2 3 7\nTt 1 2 3 4 7\n")),
             "heart.elem: line 3", "more lines than the 1 element");
  CHECK_SAYS(refusal_of_tetra(with_elements("0\n")), "heart.elem", "no tetrahedra");
  CHECK_SAYS(refusal_of_tetra(with_elements("400000000\nTt 0 1 2 3\n")), "heart.elem: line 1",
             "400000000", "can hold");
}

TEST_CASE("bad directions of openCARP are refused with file and line", "[tetra]") {
  CHECK_SAYS(refusal_of_tetra(with_directions("1\n1 0 0\n    ")), "heart.lon: line 3",
             "after 1 lines", "2 elements", "missing");
  CHECK_SAYS(refusal_of_tetra(with_directions("1 0 0.0000000\n")), "heart.lon: line 2",
             "after 1 lines");
  CHECK_SAYS(refusal_of_tetra(with_directions("1\n1 0 0\n0 1 0\n0 0 1\n")), "heart.lon: line 4",
             "more lines than the 2 elements");
  CHECK_SAYS(refusal_of_tetra(with_directions("2\n1 0 0 0 1 0\n1 0 0\n    ")), "heart.lon: line 3",
             "ends");
  CHECK_SAYS(refusal_of_tetra(with_directions("1\n1 0 0 5\n0 1 0\n")), "heart.lon: line 2", "'5'");
  CHECK_SAYS(refusal_of_tetra(with_directions("1\n1 0 0\n0 inf 0\n")), "heart.lon: line 3",
             "element 1", "not finite");
  CHECK_SAYS(refusal_of_tetra(with_directions("one\n1 0 0\n0 1 0\n")), "heart.lon: line 1",
             "'one'");
}

TEST_CASE("bad binary openCARP files are refused with file and element", "[tetra]") {
  const OpencarpFiles good = sample_opencarp_binary(false);
  OpencarpFiles files = good;
  files.points.pop_back();
  CHECK_SAYS(refusal_of_tetra(files), "heart.bpts", "5 points", "1083 bytes", "truncated");
  files = good;
  files.points.replace(1024, 4, number(std::numeric_limits<float>::infinity()));
  CHECK_SAYS(refusal_of_tetra(files), "heart.bpts", "point 0 is not finite");
  files = good;
  files.points[2] = '7';
  CHECK_SAYS(refusal_of_tetra(files), "heart.bpts", "byte order", "7");
  files = good;
  files.elements.pop_back();
  CHECK_SAYS(refusal_of_tetra(files), "heart.belem", "2 tetrahedra", "1071 bytes", "truncated");
  // Many tetrahedra, the last one cut: found in one pass.
  files.elements = opencarp_header("200001 0 0");
  for (int elem = 0; elem < 200000; ++elem)
    files.elements += good.elements.substr(1024, 24);
  CHECK_SAYS(refusal_of_tetra(files), "heart.belem", "200001 tetrahedra", "truncated");
  files = good;
  files.elements.replace(1024 + 24 + 16, 4, number(std::int32_t(5)));
  CHECK_SAYS(refusal_of_tetra(files), "heart.belem: element 1", "point 5", "0 to 4");
  files = good;
  files.elements.replace(1024 + 24 + 16, 4, number(std::int32_t(2)));
  CHECK_SAYS(refusal_of_tetra(files), "heart.belem: element 1", "point 2 twice");
  files = good;
  files.elements.replace(1024 + 24, 4, number(std::int32_t(6)));
  CHECK_SAYS(refusal_of_tetra(files), "heart.belem: element 1", "Tr is a triangle",
             "only tetrahedra");
  files.elements.insert(1024 + 24, 16, '\0'); // of another size, as hexahedra make it
  files.elements.replace(1024 + 24, 4, number(std::int32_t(1)));
  CHECK_SAYS(refusal_of_tetra(files), "heart.belem: element 1", "Hx is a hexahedron");
  files = good;
  files.elements = opencarp_header("0 0 0");
  CHECK_SAYS(refusal_of_tetra(files), "heart.belem", "no tetrahedra");
  files = good;
  files.elements = opencarp_header("1 0 0") + good.elements.substr(1024, 24);
  CHECK_SAYS(refusal_of_tetra(files), "heart.bpts", "point 4", "no tetrahedron");
  files = good;
  files.directions.pop_back();
  CHECK_SAYS(refusal_of_tetra(files), "heart.blon", "1071 bytes", "truncated");
  files.directions = opencarp_header("2 3 0 0") + Bytes(72, '\0');
  CHECK_SAYS(refusal_of_tetra(files), "heart.blon", "of 3 elements", "mesh has 2");
  files.directions = opencarp_header("1 2 0 0") + Bytes(20, '\0') +
                     number(std::numeric_limits<float>::quiet_NaN());
  CHECK_SAYS(refusal_of_tetra(files), "heart.blon", "element 1 is not finite");
}

TEST_CASE("bad Gmsh files are refused with file and line", "[tetra]") {
  const Bytes two = sample_gmsh_2();
  const auto change = [&](const char* from, const char* to) {
    return refusal_of_tetra("a.msh", replaced(two, from, to));
  };
  CHECK_SAYS(change("2.2 0 8", "2.1 0 8"), "a.msh: line 2", "'2.1'", "2.2 or 4.1");
  CHECK_SAYS(change("2.2 0 8", "2.2 2 8"), "a.msh: line 2");
  CHECK_SAYS(change("9 2 2 3 4 5", "9 2 2 3 4 6"), "a.msh: line 21", "node 6", "5 nodes");
  CHECK_SAYS(change("9 2 2 3 4 5", "9 2 2 3 4 4"), "a.msh: line 21", "four different");
  CHECK_SAYS(change("4 4 2 9 2 2 3 4 5", "4 5 2 9 2 2 3 4 5 10 2 3 4"), "a.msh: line 21",
             "hexahedra", "only tetrahedra of first order");
  CHECK_SAYS(change("4 4 2 9 2 2 3 4 5", "4 11 2 9 2 2 3 4 5 10 2 3 4 5 10"), "a.msh: line 21",
             "second-order tetrahedra");
  CHECK_SAYS(change("4 4 2 9 2 2 3 4 5", "4 200 2 9 2 2 3 4 5"), "type 200", "not known");
  CHECK_SAYS(change("5 1 1 1.5", "5 1 1 inf"), "a.msh: line 14", "not finite");
  CHECK_SAYS(change("5 1 1 1.5", "5 1 1 x"), "a.msh: line 14", "'x'", "coordinate");
  CHECK_SAYS(change("5 1 1 1.5", "4 1 1 1.5"), "two nodes have the number 4");
  CHECK_SAYS(change("$Nodes\n5", "$Nodes\n4"), "a.msh: line 14", "$EndNodes is missing");
  CHECK_SAYS(change("$Nodes\n5", "$Nodes\n6"), "a.msh: line 15", "'$EndNodes'");
  CHECK_SAYS(change("$Nodes\n5", "$Nodes\n5000000000"), "a.msh: line 9", "5000000000", "can hold");
  CHECK_SAYS(change("$Elements\n4", "$Elements\n5"), "'$EndElements'");
  CHECK_SAYS(change("$Elements\n4", "$Elements\n3"), "a.msh: line 21", "$EndElements is missing");
  CHECK_SAYS(change("$EndPhysicalNames", "$EndPhysical"), "line 7", "$EndPhysicalNames is missing");
  CHECK_SAYS(change("$PhysicalNames", "$Comments"), "$Comments", "does not end");
  CHECK_SAYS(refusal_of_tetra("a.msh", two.substr(0, two.size() - 30)), "a.msh: line 21",
             "truncated");
  CHECK_SAYS(refusal_of_tetra("a.msh", two.substr(0, two.find("$Elements"))),
             "no section $Elements");
  CHECK_SAYS(refusal_of_tetra("a.msh", replaced(replaced(two, "4 2 9 2 2 3 4 5", "2 2 9 2 2 3 4"),
                                                "4 2 7 1 10 2 3 4", "2 2 7 1 10 2 3")),
             "a.msh", "no tetrahedra", "mesh the volume");
  const Bytes four = sample_gmsh_4();
  CHECK_SAYS(
      refusal_of_tetra("a.msh", replaced(four, "3 9 4 1\n3 2 3 4 5", "3 9 7 1\n3 2 3 4 5 10")),
      "a.msh: line 32", "pyramids");
  CHECK_SAYS(refusal_of_tetra("a.msh", replaced(four, "3 3 1 3\n", "3 4 1 4\n")), "3 elements",
             "announces 4");
  CHECK_SAYS(refusal_of_tetra("a.msh", replaced(four, "3 9 4 1\n", "3 9 4 2\n")), "block of 2",
             "1 are left");
  CHECK_SAYS(refusal_of_tetra("a.msh", two + two), "a.msh: line",
             "$MeshFormat stands behind $Elements");
  CHECK_SAYS(refusal_of_tetra("a.msh", two + "$Elements\n0\n$EndElements\n"),
             "$Elements stands behind");
  CHECK_SAYS(refusal_of_tetra("a.msh", two + "$NodeData\n1\n"), "$NodeData", "does not end");
  CHECK_SAYS(refusal_of_tetra("a.msh", two + "5 6 7\n"), "the name of a section");
  CHECK(refusal_of_tetra("a.msh", two + "$NodeData\n1\n$EndNodeData\n\n") == "no error");
  for (const Bytes& binary : {sample_gmsh_2_binary(false), sample_gmsh_4_binary(true)}) {
    const std::size_t end = binary.find("\n$EndElements");
    CHECK_SAYS(refusal_of_tetra("a.msh", binary.substr(0, end - 4)), "a.msh: byte", "truncated");
  }
}

TEST_CASE("bad VTK legacy files are refused with file and line", "[tetra]") {
  const Bytes good = sample_vtk();
  const auto change = [&](const char* from, const char* to) {
    return refusal_of_tetra("a.vtk", replaced(good, from, to));
  };
  CHECK_SAYS(change("Version 3.0", "Version 7.0"), "a.vtk: line 1", "version");
  CHECK_SAYS(change("UNSTRUCTURED_GRID", "POLYDATA"), "a.vtk: line 4", "'POLYDATA'");
  CHECK_SAYS(change("4 1 2 3 4\n", "4 1 2 3 5\n"), "a.vtk: line 16", "cell 2", "point 5", "0 to 4");
  CHECK_SAYS(change("4 1 2 3 4\n", "4 1 2 3 3\n"), "a.vtk: line 16", "cell 2", "point 3 twice");
  CHECK_SAYS(change("10\n5\n10\n", "10\n5\n14\n"), "a.vtk: line 16", "cell 2 is a pyramid",
             "Tetrahedralize");
  CHECK_SAYS(change("10\n5\n10\n", "10\n5\n24\n"), "cell 2 is a quadratic tetrahedron");
  CHECK_SAYS(change("10\n5\n10\n", "10\n10\n10\n"), "a.vtk: line 15", "tetrahedron of 3 points");
  CHECK_SAYS(change("10\n5\n10\n", "10\n99\n10\n"), "cell 1 has type 99");
  CHECK_SAYS(change("10\n5\n10\n", "5\n5\n7\n"), "a.vtk", "no tetrahedra");
  CHECK_SAYS(change("CELLS 3 14", "CELLS 3 13"), "a.vtk");
  CHECK_SAYS(change("CELLS 3 14", "CELLS 2 14"), "5 numbers after its last cell");
  CHECK_SAYS(change("CELL_TYPES 3\n10\n5", "CELL_TYPES 2\n10"), "2 cell types");
  CHECK_SAYS(change("POINTS 5 float", "POINTS 500000 float"), "a.vtk: line 8", "1500000 numbers",
             "can hold");
  CHECK_SAYS(change("1 1 1.5\n", "1 1 nan\n"), "a.vtk: line 12", "'nan'", "finite");
  CHECK_SAYS(change("VECTORS fiber float\n1 0 0\n9 9 9\n0 0 0\n", "VECTORS fiber float\n1 0 0\n"),
             "a.vtk: line 29", "'FIELD'", "number 3 of the 9");
  CHECK_SAYS(change("VECTORS fiber float", "VECTORS fiber quad"), "a.vtk: line 27", "'QUAD'");
  CHECK_SAYS(change("VECTORS fiber", "VEKTORS fiber"), "a.vtk: line 27", "'VEKTORS'");
  CHECK_SAYS(change("sheet 3 3 float\n0 1 0 9 9 9", "sheet 3 2 float\n0 1 0"), "'sheet' has 2 rows",
             "3 cells");
  CHECK_SAYS(refusal_of_tetra("a.vtk", good.substr(0, good.find("CELL_TYPES"))), "truncated");
  // an unused point, in the line where it stands
  CHECK_SAYS(refusal_of_tetra("a.vtk", replaced(replaced(good, "POINTS 5", "POINTS 6"), "1 1 1.5\n",
                                                "1 1 1.5\n3 3 3\n")),
             "a.vtk: line 13", "point 5", "no tetrahedron");
  CHECK_SAYS(
      refusal_of_tetra("a.vtk", replaced(sample_vtk_5(false), "CONNECTIVITY vtktypeint64\n0\n",
                                         "CONNECTIVITY vtktypeint64\n8\n")),
      "a.vtk: line 32", "cell 0", "point 8");
  CHECK_SAYS(refusal_of_tetra("a.vtk", replaced(sample_vtk_5(false), "\n4\n8\n", "\n9\n8\n")),
             "cell 0", "entries 0 to 9", "damaged");
  Bytes binary = sample_vtk_binary();
  binary.replace(binary.find("double\n") + 7, 8,
                 number(std::numeric_limits<double>::infinity(), true));
  CHECK_SAYS(refusal_of_tetra("a.vtk", binary), "a.vtk: 'points': number 0 is inf", "finite");
  binary = sample_vtk_binary();
  CHECK_SAYS(refusal_of_tetra("a.vtk", binary.substr(0, binary.size() - 5)), "a.vtk: byte",
             "'sheets'", "truncated");
}

TEST_CASE("bad VTU files are refused with the array or line", "[tetra]") {
  const Bytes good = sample_vtu({});
  const auto change = [&](const char* from, const char* to) {
    return refusal_of_tetra("a.vtu", replaced(good, from, to));
  };
  CHECK_SAYS(change("UnstructuredGrid\" v", "PolyData\" v"), "a.vtu: line 3", "'PolyData'");
  CHECK_SAYS(change("LittleEndian", "PDP"), "a.vtu: line 3", "'PDP'");
  CHECK_SAYS(change("UInt32", "UInt16"), "a.vtu: line 3", "'UInt16'");
  CHECK_SAYS(change("\"UInt32\"", "\"UInt32\" compressor=\"vtkLZ4DataCompressor\""),
             "vtkLZ4DataCompressor", "zlib");
  CHECK_SAYS(change("0 1 2 3 1 2 3 4", "0 1 2 3 1 2 3 5"), "a.vtu: line 29", "cell 1", "point 5");
  CHECK_SAYS(change("0 1 2 3 1 2 3 4", "0 1 2 3 1 2 3\n3"), "a.vtu: line 29", "point 3 twice");
  CHECK_SAYS(change("0 1 2 3 1 2 3 4", "0 1 2 3 1 2 3"), "entries 4 to 8 of the 7", "damaged");
  CHECK_SAYS(change("10 10", "10 12"), "cell 1 is a hexahedron");
  CHECK_SAYS(change("10 10", "10"), "'types': has 1 numbers where 2");
  CHECK_SAYS(change("NumberOfPoints='5'", "NumberOfPoints='6'"), "'Points': has 15", "18");
  CHECK_SAYS(change("1.500000", "1.5oo"), "a.vtu: line 23", "'1.5oo'", "finite number");
  CHECK_SAYS(change("</Piece>", "</Piece><Piece>"), "several pieces", "Clean to Grid");
  CHECK_SAYS(change("\"UInt8\"", "\"Bit\""), "DataArray 'types'", "'Bit'");
  CHECK_SAYS(change("format=\"ascii\"", "format=\"hex\""), "'Ids'", "'hex'");
  CHECK_SAYS(change("<Points>", "<Points"), "a.vtu: line 22", "name", "no XML");
  CHECK_SAYS(change("Name=\"types\"", "Name=\"kinds\""), "no array of cell types");
  for (int i = 10; i < 60; i += 7)
    CHECK(refusal_of_tetra("a.vtu", good.substr(0, good.size() - std::size_t(i))) != "no error");
  VtuKind kind;
  kind.format = VtuKind::appended_raw;
  CHECK_SAYS(
      refusal_of_tetra("a.vtu", replaced(sample_vtu(kind), "offset=\"0\"", "offset=\"99999\"")),
      "'Points'", "99999", "truncated");
  const Bytes raw = sample_vtu(kind);
  CHECK_SAYS(refusal_of_tetra("a.vtu", raw.substr(0, raw.size() - 60)), "'Sheets'", "truncated");
  kind.zlib = true;
  Bytes bytes = sample_vtu(kind);
  bytes[bytes.find("\n_") + 81] ^= 1;
  CHECK_SAYS(refusal_of_tetra("a.vtu", bytes), "'Points'", "compressed block 3 is damaged");
  // numbers of blocks and bytes that no memory could hold
  for (const std::size_t word : {0u, 4u, 8u, 12u}) {
    bytes = sample_vtu(kind);
    bytes.replace(bytes.find("\n_") + 2 + word, 4, "\xff\xff\xff\x7f");
    CHECK_SAYS(refusal_of_tetra("a.vtu", bytes), "'Points'", "damaged");
  }
  kind.zlib = false;
  kind.format = VtuKind::inline_base64;
  CHECK_SAYS(refusal_of_tetra("a.vtu", replaced(sample_vtu(kind), "format=\"binary\">\nCAAA",
                                                "format=\"binary\">\n////")),
             "cannot be in");
  CHECK_SAYS(refusal_of_tetra("a.vtu", replaced(sample_vtu(kind), "format=\"binary\">\nCAAA",
                                                "format=\"binary\">\nCA*A")),
             "base64");
}

TEST_CASE("vertex lists are read and checked", "[tetra]") {
  const TestDirectory directory;
  const std::string path = directory / "apex.vtx";
  const auto list = [&](const Bytes& text) {
    write_bytes(path, text);
    return read_vertex_list(path, 5);
  };
  const auto refused = [&](const Bytes& text) { return error_of([&] { list(text); }); };
  CHECK(list(sample_vtx()) == std::vector<std::int32_t>{4, 0, 2});
  CHECK(list("1\r\nintra\r\n3") == std::vector<std::int32_t>{3});
  CHECK_SAYS(refused("3\nextra\n4\n5\n2\n"), "apex.vtx: line 4", "vertex 5", "5 points",
             "another mesh");
  CHECK_SAYS(refused("3\nextra\n4\n-1\n2\n"), "apex.vtx: line 4", "vertex -1");
  CHECK_SAYS(refused("3\nextra\n4\n1   \n"), "apex.vtx: line 5", "after 2 of 3", "truncated");
  CHECK_SAYS(refused("2\nextra\n4\n0\n2\n"), "apex.vtx: line 5", "more than the 2");
  CHECK_SAYS(refused("3\n4\n0\n2\n"), "apex.vtx: line 2", "'4'", "'extra' or 'intra'");
  CHECK_SAYS(refused("3\nextra\n4\n0 1\n2\n"), "apex.vtx: line 4", "'1'");
  CHECK_SAYS(refused("3\nextra\n4\n0.5\n2\n"), "apex.vtx: line 4", "'0.5'");
  CHECK_SAYS(refused("0\nextra\n"), "apex.vtx", "no vertices");
  CHECK_SAYS(refused("3000000000\nextra\n4\n"), "apex.vtx: line 2", "3000000000", "can hold");
  CHECK_SAYS(refused("x\n"), "apex.vtx: line 1", "'x'");
}
