// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/surface/write_stl.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <unordered_set>
#include <vector>

namespace ossatura {
namespace {

using Point = std::array<double, 3>;
using FilePoint = std::array<float, 3>;

struct FilePointHash {
  std::size_t operator()(const FilePoint& p) const {
    std::uint64_t hash = 0;
    for (const float x : p) {
      std::uint32_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return std::size_t(hash);
  }
};

/// Takes the free position nearest to `p`, counted in steps along the axes.
FilePoint take_position(const FilePoint& p, float step,
                        std::unordered_set<FilePoint, FilePointHash>& taken) {
  if (taken.insert(p).second)
    return p;
  for (int reach = 1;; ++reach)
    for (int i = -reach; i <= reach; ++i)
      for (int j = -reach; j <= reach; ++j)
        for (int k = -reach; k <= reach; ++k) {
          if (std::max({std::abs(i), std::abs(j), std::abs(k)}) < reach)
            continue;
          const FilePoint q{p[0] + float(i) * step, p[1] + float(j) * step, p[2] + float(k) * step};
          if (taken.insert(q).second)
            return q;
        }
}

/// The vertices in single precision, no two at one position.
std::vector<FilePoint> distinct_positions(const std::string& path,
                                          const std::vector<Point>& vertex) {
  constexpr double most = double(std::numeric_limits<float>::max()) / 2;
  double largest = double(std::numeric_limits<float>::min());
  for (std::size_t v = 0; v < vertex.size(); ++v)
    for (const double x : vertex[v]) {
      if (!(std::abs(x) <= most))
        fail<InputError>(path, ": the coordinate ", x, " of vertex ", v,
                         " cannot be written as STL, which has single precision");
      largest = std::max(largest, std::abs(x));
    }
  // The unit in the last place of the largest coordinate: a step of it changes every coordinate.
  const float step = std::ldexp(1.0f, std::ilogb(largest) - 23);
  std::vector<FilePoint> position;
  position.reserve(vertex.size());
  std::unordered_set<FilePoint, FilePointHash> taken;
  taken.reserve(vertex.size());
  for (const Point& p : vertex) {
    // -0 becomes +0, which readers take for the same.
    const FilePoint rounded{float(p[0]) + 0.0f, float(p[1]) + 0.0f, float(p[2]) + 0.0f};
    position.push_back(take_position(rounded, step, taken));
  }
  return position;
}

/// The unit normal of a triangle; 0 where it has no area.
FilePoint normal_of(const Point& a, const Point& b, const Point& c) {
  Point n;
  for (std::size_t x = 0; x < 3; ++x) {
    const std::size_t y = (x + 1) % 3, z = (x + 2) % 3;
    n[x] = (b[y] - a[y]) * (c[z] - a[z]) - (b[z] - a[z]) * (c[y] - a[y]);
  }
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(length > 0) || !std::isfinite(length))
    return {};
  return {float(n[0] / length), float(n[1] / length), float(n[2] / length)};
}

void append(std::string& content, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8)
    content.push_back(char(value >> shift & 0xffu));
}

void append(std::string& content, const FilePoint& p) {
  for (const float x : p) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    append(content, bits);
  }
}

} // namespace

void write_stl(const std::string& path, const TriangleSurface& surface, const std::string& header) {
  OSSATURA_REQUIRE(header.size() <= 80 && header.compare(0, 5, "solid") != 0,
                   "'" << header << "' cannot be the header of binary STL");
  OSSATURA_REQUIRE(surface.triangle.size() <= std::numeric_limits<std::uint32_t>::max(),
                   "the surface has too many triangles for STL");
  const std::vector<FilePoint> position = distinct_positions(path, surface.vertex);
  std::string content;
  content.reserve(84 + 50 * surface.triangle.size());
  content = header;
  content.resize(80, ' ');
  append(content, std::uint32_t(surface.triangle.size()));
  for (const std::array<int, 3>& triangle : surface.triangle) {
    for (const int v : triangle)
      OSSATURA_REQUIRE(v >= 0 && std::size_t(v) < position.size(),
                       "a triangle has vertex " << v << " of " << position.size());
    const auto corner = [&](std::size_t k) { return std::size_t(triangle[k]); };
    append(content, normal_of(surface.vertex[corner(0)], surface.vertex[corner(1)],
                              surface.vertex[corner(2)]));
    for (std::size_t k = 0; k < 3; ++k)
      append(content, position[corner(k)]);
    content.append(2, '\0');
  }
  write_file(path, content);
}

} // namespace ossatura
