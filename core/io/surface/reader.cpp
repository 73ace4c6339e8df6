// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/surface/reader.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/text/scanner.hpp>
#include <ossatura/core/machine/part_sort.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <string_view>
#include <unordered_map>

namespace ossatura {
namespace {

constexpr std::uint64_t max_surface_bytes = std::uint64_t(1) << 36;
constexpr std::uint64_t max_corners = std::uint64_t(std::numeric_limits<int>::max());

using Point = std::array<double, 3>;

/// Adds a triangle unless it has no area by its numbering.
void add_triangle(TriangleSurface& surface, int a, int b, int c) {
  if (a != b && b != c && c != a)
    surface.triangle.push_back({a, b, c});
}

bool finite(const Point& p) {
  return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
}

// ---- OFF

TriangleSurface read_off(const std::string& path, std::string_view text) {
  TextScanner scan(text);
  const auto bad = [&](const auto&... parts) {
    fail<InputError>(path, ": line ", scan.line_number(), ": ", parts...);
  };
  scan.next_line('#');
  const std::string_view keyword = scan.word();
  if (keyword != "OFF" && keyword != "COFF" && keyword != "NOFF" && keyword != "CNOFF")
    bad("'", keyword.substr(0, 20), "' where OFF is expected");
  std::string_view first = scan.word();
  if (first == "BINARY")
    bad("binary OFF files are not read; write the surface as ASCII OFF or binary STL");
  if (first.empty()) {
    if (!scan.next_line('#'))
      bad("the file ends before the numbers of vertices and faces");
    first = scan.word();
  }
  std::uint64_t num_vertices = 0;
  std::uint64_t num_faces = 0;
  if (!TextScanner::parse(first, num_vertices) || !scan.number(num_faces))
    bad("the numbers of vertices and faces are expected");
  // A vertex takes at least the six bytes "0 0 0\n", a face the eight of "3 0 1 2\n".
  if (num_vertices > text.size() / 5 || num_faces > text.size() / 7)
    bad(num_vertices, " vertices and ", num_faces, " faces are more than a file of ", text.size(),
        " bytes can hold");
  if (num_vertices >= max_corners)
    bad(num_vertices, " vertices are more than 2^31");

  TriangleSurface surface;
  surface.vertex.resize(num_vertices);
  for (std::uint64_t i = 0; i < num_vertices; ++i) {
    if (!scan.next_line('#'))
      bad("the file ends at vertex ", i, " of ", num_vertices);
    Point& p = surface.vertex[i];
    if (!scan.number(p[0]) || !scan.number(p[1]) || !scan.number(p[2]) || !finite(p))
      bad("vertex ", i, " needs three finite coordinates");
  }
  surface.triangle.reserve(num_faces);
  std::vector<int> corner;
  for (std::uint64_t i = 0; i < num_faces; ++i) {
    if (!scan.next_line('#'))
      bad("the file ends at face ", i, " of ", num_faces);
    std::uint64_t num_corners = 0;
    if (!scan.number(num_corners) || num_corners < 3 || num_corners > scan.line().size())
      bad("face ", i, " needs its number of corners, 3 or more, and then the corners");
    corner.resize(num_corners);
    for (int& v : corner)
      if (!scan.number(v) || v < 0 || std::uint64_t(v) >= num_vertices)
        bad("face ", i, " names a vertex that is not in 0 to ", num_vertices - 1);
    for (std::size_t k = 2; k < corner.size(); ++k)
      add_triangle(surface, corner[0], corner[k - 1], corner[k]);
  }
  // The number of edges is often 0, and nobody reads it; faces that are not counted are data lost.
  if (scan.next_line('#'))
    bad("goes on behind the ", num_faces, " faces that the file announces");
  return surface;
}

// ---- STL

struct PointHash {
  std::size_t operator()(const Point& p) const {
    std::uint64_t hash = 0;
    for (double x : p) {
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return std::size_t(hash);
  }
};

/// Numbers corners, the same position getting the same number.
class VertexMerger {
public:
  explicit VertexMerger(TriangleSurface& surface)
      : surface_(surface) {}
  int operator()(Point p) {
    for (double& x : p)
      x += 0.0; // -0 becomes +0
    const auto [entry, is_new] = number_.try_emplace(p, int(surface_.vertex.size()));
    if (is_new)
      surface_.vertex.push_back(p);
    return entry->second;
  }

private:
  TriangleSurface& surface_;
  std::unordered_map<Point, int, PointHash> number_;
};

std::uint32_t little_endian(const unsigned char* bytes) {
  return std::uint32_t(bytes[0]) | std::uint32_t(bytes[1]) << 8 | std::uint32_t(bytes[2]) << 16 |
         std::uint32_t(bytes[3]) << 24;
}

constexpr std::size_t stl_header = 84;   // 80 bytes of text and the number of triangles
constexpr std::size_t stl_triangle = 50; // normal, three corners, two bytes of attributes

bool is_binary_stl(std::string_view content) {
  return content.size() >= stl_header && (content.size() - stl_header) % stl_triangle == 0 &&
         (content.size() - stl_header) / stl_triangle ==
             little_endian(reinterpret_cast<const unsigned char*>(content.data()) + 80);
}

TriangleSurface read_binary_stl(const std::string& path, std::string_view content) {
  TriangleSurface surface;
  VertexMerger vertex(surface);
  const std::size_t count = (content.size() - stl_header) / stl_triangle;
  if (count * 3 >= max_corners)
    fail<InputError>(path, ": ", count, " triangles are more than can be numbered");
  for (std::size_t i = 0; i < count; ++i) {
    const auto* bytes =
        reinterpret_cast<const unsigned char*>(content.data()) + stl_header + i * stl_triangle + 12;
    std::array<int, 3> corner{};
    for (int k = 0; k < 3; ++k) {
      Point p;
      for (int axis = 0; axis < 3; ++axis) {
        const std::uint32_t bits = little_endian(bytes + 12 * k + 4 * axis);
        float x;
        std::memcpy(&x, &bits, sizeof x);
        p[axis] = double(x);
      }
      if (!finite(p))
        fail<InputError>(path, ": triangle ", i, " has a corner that is not finite");
      corner[k] = vertex(p);
    }
    add_triangle(surface, corner[0], corner[1], corner[2]);
  }
  return surface;
}

TriangleSurface read_ascii_stl(const std::string& path, std::string_view text) {
  TriangleSurface surface;
  VertexMerger vertex(surface);
  TextScanner scan(text);
  const auto bad = [&](const auto&... parts) {
    fail<InputError>(path, ": line ", scan.line_number(), ": ", parts...);
  };
  if (text.size() / 7 >= max_corners)
    bad("the file is too large to number its corners");
  std::array<int, 3> corner{};
  int num_corners = -1; // -1 = between facets
  bool in_solid = false;
  while (scan.next_line()) {
    const std::string_view word = scan.word();
    if (word == "solid") {
      in_solid = true;
    } else if (word == "endsolid") {
      in_solid = false;
    } else if (word == "facet") {
      if (num_corners != -1)
        bad("a facet begins before the last one ended");
      num_corners = 0;
    } else if (word == "vertex") {
      Point p;
      if (num_corners < 0 || num_corners > 2)
        bad("a vertex outside a facet, or a fourth one in it");
      if (!scan.number(p[0]) || !scan.number(p[1]) || !scan.number(p[2]) || !finite(p))
        bad("a vertex needs three finite coordinates");
      corner[std::size_t(num_corners++)] = vertex(p);
    } else if (word == "endfacet") {
      if (num_corners != 3)
        bad("a facet ends with ", std::max(0, num_corners), " vertices; 3 are needed");
      add_triangle(surface, corner[0], corner[1], corner[2]);
      num_corners = -1;
    } else if (word != "outer" && word != "endloop") {
      bad("'", word.substr(0, 20), "' is not a keyword of ASCII STL");
    }
  }
  if (in_solid || num_corners != -1)
    bad("the file ends before 'endsolid': it is truncated");
  return surface;
}

} // namespace

TriangleSurface read_surface(const std::string& path) {
  const std::vector<unsigned char> bytes = read_all(path, max_surface_bytes);
  const std::string_view content = text_of(bytes);
  if (is_binary_stl(content))
    return read_binary_stl(path, content);
  TextScanner scan(content.substr(0, 4096));
  scan.next_line('#');
  const std::string_view keyword = scan.word();
  if (keyword == "solid")
    return read_ascii_stl(path, content);
  if (keyword.size() >= 3 && keyword.size() <= 5 && keyword.substr(keyword.size() - 3) == "OFF")
    return read_off(path, content);
  const bool stl_name = path.size() > 4 && path.substr(path.size() - 4) == ".stl";
  if (stl_name && content.size() >= stl_header)
    fail<InputError>(
        path, ": is neither ASCII STL (it does not begin with 'solid') nor binary STL (",
        content.size(), " bytes, but its ", little_endian(&bytes[80]), " triangles would make ",
        stl_header + stl_triangle * std::uint64_t(little_endian(&bytes[80])),
        "): it is damaged or truncated");
  fail<InputError>(path, ": is not a surface that is read (ASCII OFF, ASCII or binary STL)");
}

std::string describe_first_open_edge(const TriangleSurface& surface) {
  struct Edge {
    int low, high;
    bool forward; ///< from low to high
  };
  std::vector<Edge> edges;
  edges.reserve(3 * surface.triangle.size());
  for (const std::array<int, 3>& t : surface.triangle)
    for (int k = 0; k < 3; ++k) {
      const int a = t[k];
      const int b = t[(k + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), a < b});
    }
  sort_parts(edges, [](const Edge& a, const Edge& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  });
  for (std::size_t begin = 0, end; begin < edges.size(); begin = end) {
    std::size_t forward = 0;
    for (end = begin; end < edges.size() && edges[end].low == edges[begin].low &&
                      edges[end].high == edges[begin].high;
         ++end)
      forward += edges[end].forward;
    const std::size_t count = end - begin;
    if (count == 2 && forward == 1)
      continue;
    const Point& p = surface.vertex[std::size_t(edges[begin].low)];
    const Point& q = surface.vertex[std::size_t(edges[begin].high)];
    std::ostringstream text;
    text << "the edge from vertex " << edges[begin].low << " (" << p[0] << ", " << p[1] << ", "
         << p[2] << ") to " << edges[begin].high << " (" << q[0] << ", " << q[1] << ", " << q[2]
         << ") ";
    if (count == 2)
      text << "is passed twice in the same direction: its triangles are not oriented alike";
    else
      text << "belongs to " << count << (count == 1 ? " triangle" : " triangles")
           << "; two are needed";
    return text.str();
  }
  return {};
}

void require_closed(const TriangleSurface& surface, const std::string& source) {
  if (surface.triangle.empty())
    fail<InputError>(source, ": the surface has no triangles");
  const std::string defect = describe_first_open_edge(surface);
  if (!defect.empty())
    fail<InputError>(source, ": the surface is not closed: ", defect,
                     "; repair the surface first, for example with admesh or MeshLab");
}

} // namespace ossatura
