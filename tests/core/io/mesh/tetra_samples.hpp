// SPDX-License-Identifier: Apache-2.0
// The same two tetrahedra in every format that is read, made by hand: for tests of the readers, the
// damaged-file corpus and the seeds of the fuzz targets. Shares nothing with the readers.
#pragma once

#include "tests/core/io/sample_files.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura_test {

/// Points (0,0,0), (1,0,0), (0,1,0), (0,0,1), (1,1,1.5); tetrahedra 0 1 2 3 and 1 2 3 4 of tags 7
/// and -2 (Gmsh: 7 and 9); fibres (1,0,0) and none; sheets (0,1,0) and (0.5,0,-1).
struct TwoTetra {
  std::vector<double> point{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1.5};
  std::vector<std::int32_t> tetra{0, 1, 2, 3, 1, 2, 3, 4};
  std::vector<std::int32_t> tag{7, -2};
  std::vector<float> fibre{1, 0, 0, 0, 0, 0};
  std::vector<float> sheet{0, 1, 0, 0.5f, 0, -1};
};

template<class To, class From>
std::vector<To> as(const std::vector<From>& values) {
  return std::vector<To>(values.begin(), values.end());
}

// ---- openCARP: three files, lengths in micrometres

struct OpencarpFiles {
  bool binary = false;
  Bytes points, elements, directions; ///< no file for an empty one

  /// Writes NAME.pts and so on.
  void write(const std::string& name) const {
    const std::string b = binary ? "b" : "";
    write_bytes(name + "." + b + "pts", points);
    write_bytes(name + "." + b + "elem", elements);
    if (!directions.empty())
      write_bytes(name + "." + b + "lon", directions);
  }
};

inline OpencarpFiles sample_opencarp() {
  return {false, "5\n0 0 0\n1000 0 0\n0 1000.0 0\n0 0 1e3\n1000 +1000 1500\n",
          "2\nTt 0 1 2 3 7\nTt 1 2 3 4 -2\n", "2\n1 0 0 0 1 0\n0 0 0 0.5 0 -1\n"};
}

/// A header of 1024 bytes, or of its line alone.
inline Bytes opencarp_header(const std::string& line, bool padded = true) {
  return padded ? line + Bytes(1024 - line.size(), '\0') : line + "\n";
}

inline OpencarpFiles sample_opencarp_binary(bool big, bool padded = true) {
  const std::string order = big ? " 1 " : " 0 ";
  OpencarpFiles files;
  files.binary = true;
  std::vector<float> point = as<float>(TwoTetra().point);
  for (float& x : point)
    x *= 1000;
  files.points =
      opencarp_header("5" + order + "4500 # npts is_big chksum", padded) + numbers(point, big);
  files.elements = opencarp_header("2" + order + "21", padded) +
                   numbers(std::vector<std::int32_t>{0, 0, 1, 2, 3, 7, 0, 1, 2, 3, 4, -2}, big);
  files.directions = opencarp_header("2 2" + order + "2", padded) +
                     numbers(std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 0, 0.5f, 0, -1}, big);
  return files;
}

inline Bytes sample_vtx() {
  return "3\nextra\n4\n0\n2\n";
}

// ---- the three files of openCARP in one, for what takes a file at a time

inline const Bytes opencarp_mark = "\n%%\n";

inline Bytes packed(const OpencarpFiles& files) {
  return (files.binary ? "b\n%%\n" : "t\n%%\n") + files.points + opencarp_mark + files.elements +
         opencarp_mark + files.directions;
}
inline OpencarpFiles unpacked(const Bytes& bytes) {
  std::vector<Bytes> part(1);
  for (std::size_t at = 0; at < bytes.size();) {
    const bool mark = part.size() < 4 && bytes.compare(at, 4, opencarp_mark) == 0;
    if (mark)
      part.emplace_back();
    else
      part.back() += bytes[at];
    at += mark ? 4 : 1;
  }
  part.resize(4);
  return {part[0] == "b", part[1], part[2], part[3]};
}

// ---- Gmsh: a line and a triangle beside the tetrahedra; node numbers are not in order

inline Bytes sample_gmsh_2() {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
         "$PhysicalNames\n1\n3 7 \"left\"\n$EndPhysicalNames\n"
         "$Nodes\n5\n10 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1.5\n$EndNodes\n"
         "$Elements\n4\n1 1 2 5 1 10 2\n2 2 2 0 1 10 2 3\n3 4 2 7 1 10 2 3 4\n4 4 2 9 2 2 3 4 5\n"
         "$EndElements\n";
}

inline Bytes sample_gmsh_2_binary(bool big) {
  using Ints = std::vector<std::int32_t>;
  const TwoTetra mesh;
  Bytes nodes;
  for (int i = 0; i < 5; ++i) {
    nodes += number(std::int32_t(i == 0 ? 10 : i + 1), big);
    for (int axis = 0; axis < 3; ++axis)
      nodes += number(mesh.point[std::size_t(3 * i + axis)], big);
  }
  return "$MeshFormat\n2.2 1 8\n" + number(std::int32_t(1), big) + "\n$EndMeshFormat\n$Nodes\n5\n" +
         nodes + "\n$EndNodes\n$Elements\n3\n" + numbers(Ints{2, 1, 2, 1, 0, 1, 10, 2, 3}, big) +
         numbers(Ints{4, 2, 2, 2, 7, 1, 10, 2, 3, 4, 3, 9, 2, 2, 3, 4, 5}, big) +
         "\n$EndElements\n";
}

/// The second volume belongs to no physical group.
inline Bytes sample_gmsh_4() {
  return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
         "$Entities\n1 0 1 2\n1 0 0 0 0\n5 0 0 0 1 1 0 1 3 0\n"
         "1 0 0 0 1 1 1 2 7 8 1 5\n9 0 0 0 1 1 1.5 0 1 -5\n$EndEntities\n"
         "$Nodes\n2 5 2 10\n2 5 0 2\n10\n2\n0 0 0\n1 0 0\n"
         "3 9 1 3\n3\n4\n5\n0 1 0 .1 .2 .3\n0 0 1 .1 .2 .3\n1 1 1.5 .1 .2 .3\n$EndNodes\n"
         "$Elements\n3 3 1 3\n2 5 2 1\n1 10 2 3\n3 1 4 1\n2 10 2 3 4\n3 9 4 1\n3 2 3 4 5\n"
         "$EndElements\n";
}

inline Bytes sample_gmsh_4_binary(bool big) {
  const TwoTetra mesh;
  const auto i = [big](const std::vector<std::int32_t>& v) { return numbers(v, big); };
  const auto n = [big](const std::vector<std::uint64_t>& v) { return numbers(v, big); };
  const auto d = [big](const std::vector<double>& v) { return numbers(v, big); };
  return "$MeshFormat\n4.1 1 8\n" + i({1}) + "\n$EndMeshFormat\n$Entities\n" + n({1, 0, 1, 2}) +
         i({1}) + d({0, 0, 0}) + n({0}) + //
         i({5}) + d({0, 0, 0, 1, 1, 0}) + n({1}) + i({3}) + n({0}) + i({1}) +
         d({0, 0, 0, 1, 1, 1}) + n({2}) + i({7, 8}) + n({1}) + i({5}) + i({9}) +
         d({0, 0, 0, 1, 1, 1}) + n({0}) + n({1}) + i({-5}) + "\n$EndEntities\n$Nodes\n" +
         n({1, 5, 2, 10}) + i({3, 1, 0}) + n({5, 10, 2, 3, 4, 5}) + d(mesh.point) +
         "\n$EndNodes\n$Elements\n" + n({3, 3, 1, 3}) + //
         i({2, 5, 2}) + n({1, 1, 10, 2, 3}) + i({3, 1, 4}) + n({1, 2, 10, 2, 3, 4}) + i({3, 9, 4}) +
         n({1, 3, 2, 3, 4, 5}) + "\n$EndElements\n";
}

// ---- VTK legacy

inline Bytes sample_vtk() {
  return "# vtk DataFile Version 3.0\ntwo tetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID\n"
         "FIELD FieldData 1\nTIME 1 1 double\n0.5\n"
         "POINTS 5 float\n0 0 0 1 0 0\n0 1 0\n0 0 1\n1 1 1.5\n"
         "CELLS 3 14\n4 0 1 2 3\n3 0 1 2\n4 1 2 3 4\nCELL_TYPES 3\n10\n5\n10\n"
         "CELL_DATA 3\nSCALARS elemTag int 1\nLOOKUP_TABLE default\n7\n0\n-2\n"
         "VECTORS fiber float\n1 0 0\n9 9 9\n0 0 0\n"
         "FIELD more 2\nquality 1 3 double\n1 1 1\nsheet 3 3 float\n0 1 0 9 9 9 0.5 0 -1\n"
         "POINT_DATA 5\nSCALARS phi%201 float\n0 1 2 3 4\n";
}

/// As meshtool writes it: types before cells, and no line end after numbers.
inline Bytes sample_vtk_binary() {
  const TwoTetra mesh;
  const auto i = [](const std::vector<std::int32_t>& v) { return numbers(v, true); };
  return "# vtk DataFile Version 2.0\ntwo tetrahedra\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
         "POINTS 5 double\n" +
         numbers(mesh.point, true) + "\nCELL_TYPES 2\n" + i({10, 10}) + "\nCELLS 2 10\n" +
         i({4, 0, 1, 2, 3, 4, 1, 2, 3, 4}) + "CELL_DATA 2\nSCALARS ID short\n" +
         "LOOKUP_TABLE default\n" + numbers(as<std::int16_t>(mesh.tag), true) +
         "VECTORS fibres float\n" + numbers(mesh.fibre, true) + "\nVECTORS sheets float\n" +
         numbers(mesh.sheet, true) + "\n";
}

/// The same with texts before the other fields: of 3 and 70 characters, lengths in 1 and 2 bytes.
inline Bytes sample_vtk_texts() {
  Bytes text = sample_vtk_binary();
  const Bytes field = Bytes("FIELD names 1\nmaterial 1 2 string\n") + "\xc3" + "LAD" + "\x80\x46" +
                      Bytes(70, '\n') + "\n";
  return text.insert(text.find("SCALARS ID"), field);
}

inline Bytes sample_vtk_5(bool binary) {
  const TwoTetra mesh;
  const auto data = [binary](const auto& values) {
    if (binary)
      return numbers(values, true) + "\n";
    std::string text;
    for (const auto value : values)
      text += std::to_string(value) + "\n";
    return text;
  };
  return Bytes("# vtk DataFile Version 5.1\nvtk output\n") + (binary ? "BINARY" : "ASCII") +
         "\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n" + data(mesh.point) +
         "METADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1.7\n\n" +
         "CELLS 3 8\nOFFSETS vtktypeint64\n" + data(std::vector<std::int64_t>{0, 4, 8}) +
         "CONNECTIVITY vtktypeint64\n" + data(as<std::int64_t>(mesh.tetra)) + "CELL_TYPES 2\n" +
         data(std::vector<std::int32_t>{10, 10}) + "\nCELL_DATA 2\nFIELD FieldData 3\n" +
         "tag 1 2 vtktypeint64\n" + data(as<std::int64_t>(mesh.tag)) +
         "METADATA\nINFORMATION 0\n\nfiber 3 2 float\n" + data(mesh.fibre) + "sheet 3 2 double\n" +
         data(as<double>(mesh.sheet));
}

// ---- VTU

inline Bytes base64_of(const Bytes& bytes) {
  const char* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned value = 0;
    for (std::size_t k = 0; k < 3; ++k)
      value = value << 8 | (at + k < bytes.size() ? static_cast<unsigned char>(bytes[at + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k)
      text += at + k > bytes.size() ? '=' : alphabet[value >> (18 - 6 * k) & 63];
  }
  return text;
}

struct VtuKind {
  enum { ascii, inline_base64, appended_base64, appended_raw } format = ascii;
  bool big = false;
  bool wide = false; ///< UInt64 headers
  bool zlib = false;
};

class VtuWriter {
public:
  explicit VtuWriter(const VtuKind& kind)
      : kind_(kind) {}

  template<class T>
  Bytes array(const std::string& type, const std::string& name, int components,
              const std::vector<T>& values) {
    const char* const formats[] = {"ascii", "binary", "appended", "appended"};
    Bytes tag = "<DataArray type=\"" + type + "\" Name=\"" + name + "\" NumberOfComponents=\"" +
                std::to_string(components) + "\" format=\"" + formats[kind_.format] + "\"";
    if (kind_.format >= VtuKind::appended_base64) {
      tag += " offset=\"" + std::to_string(appended_.size()) + "\"/>\n";
      appended_ += encoded(numbers(values, kind_.big));
      return tag;
    }
    tag += ">\n";
    if (kind_.format == VtuKind::inline_base64)
      tag += encoded(numbers(values, kind_.big));
    else
      for (const T value : values)
        tag += std::to_string(value) + " ";
    return tag + "\n<InformationKey name=\"r\"><Value index=\"0\">1</Value></InformationKey>\n"
                 "</DataArray>\n";
  }

  /// The file around the arrays of one piece.
  Bytes file(const Bytes& points, const Bytes& cells, const Bytes& cell_data, int num_points,
             int num_cells) const {
    Bytes text = Bytes("<?xml version=\"1.0\"?>\n<!-- a <comment> -->\n"
                       "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"") +
                 (kind_.big ? "BigEndian" : "LittleEndian") + "\" header_type=\"" +
                 (kind_.wide ? "UInt64" : "UInt32") + "\"" +
                 (kind_.zlib ? " compressor=\"vtkZLibDataCompressor\"" : "") +
                 ">\n<UnstructuredGrid>\n<Piece NumberOfPoints='" + std::to_string(num_points) +
                 "' NumberOfCells='" + std::to_string(num_cells) + "'>\n<PointData></PointData>\n" +
                 "<CellData Scalars=\"tag\">\n" + cell_data + "</CellData>\n<Points>\n" + points +
                 "</Points>\n<Cells>\n" + cells + "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    if (!appended_.empty())
      text += Bytes("<AppendedData encoding=\"") +
              (kind_.format == VtuKind::appended_raw ? "raw" : "base64") + "\">\n_" + appended_ +
              "\n</AppendedData>\n";
    return text + "</VTKFile>\n";
  }

private:
  Bytes header(const std::vector<std::uint64_t>& values) const {
    return kind_.wide ? numbers(values, kind_.big) : numbers(as<std::uint32_t>(values), kind_.big);
  }
  /// In blocks of 24 bytes where compressed.
  Bytes encoded(const Bytes& bytes) const {
    Bytes head = header({bytes.size()}), body = bytes;
    if (kind_.zlib) {
      constexpr std::size_t block = 24;
      std::vector<std::uint64_t> sizes{(bytes.size() + block - 1) / block, block,
                                       bytes.size() % block};
      body.clear();
      for (std::size_t at = 0; at < bytes.size(); at += block) {
        const Bytes piece = deflated(bytes.substr(at, block), false);
        sizes.push_back(piece.size());
        body += piece;
      }
      head = header(sizes);
    }
    if (kind_.format == VtuKind::appended_raw)
      return head + body;
    // VTK encodes the header of compressed bytes apart, and the other one together with the bytes.
    return kind_.zlib ? base64_of(head) + base64_of(body) : base64_of(head + body);
  }

  VtuKind kind_;
  Bytes appended_;
};

inline Bytes sample_vtu(const VtuKind& kind) {
  const TwoTetra mesh;
  VtuWriter out(kind);
  const Bytes points = out.array("Float64", "Points", 3, mesh.point);
  Bytes cells = out.array("Int64", "connectivity", 1, as<std::int64_t>(mesh.tetra));
  cells += out.array("Int32", "offsets", 1, std::vector<std::int32_t>{4, 8});
  cells += out.array("UInt8", "types", 1, std::vector<std::uint8_t>{10, 10});
  Bytes data = out.array("Int16", "Ids", 1, as<std::int16_t>(mesh.tag));
  data += out.array("Float32", "Fibers", 3, mesh.fibre);
  data += out.array("Float64", "Sheets", 3, as<double>(mesh.sheet));
  return out.file(points, cells, data, 5, 2);
}

} // namespace ossatura_test
