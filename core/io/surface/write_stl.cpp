// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/surface/write_stl.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/part_sort.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <unordered_set>
#include <vector>

namespace ossatura {
namespace {

using Point = std::array<double, 3>;
using FilePoint = std::array<float, 3>;

constexpr std::size_t header_bytes = 84, triangle_bytes = 50;
constexpr std::size_t least_part = 1 << 12; // vertices or triangles: fewer are not worth a thread

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

/// Whether no two positions are the same; equal hashes of others count as that, too.
bool are_distinct(const std::vector<FilePoint>& position) {
  std::vector<std::size_t> hash(position.size());
  for_parts(hash.size(), least_part, [&](std::size_t first, std::size_t end) {
    std::transform(position.begin() + std::ptrdiff_t(first), position.begin() + std::ptrdiff_t(end),
                   hash.begin() + std::ptrdiff_t(first), FilePointHash());
  });
  sort_parts(hash, std::less<>());
  return std::adjacent_find(hash.begin(), hash.end()) == hash.end();
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
  std::vector<FilePoint> position(vertex.size());
  for_parts(vertex.size(), least_part, [&](std::size_t first, std::size_t end) {
    for (std::size_t v = first; v < end; ++v) // -0 becomes +0, which readers take for the same
      for (std::size_t d = 0; d < 3; ++d)
        position[v][d] = float(vertex[v][d]) + 0.0f;
  });
  if (are_distinct(position))
    return position;
  // The unit in the last place of the largest coordinate: a step of it changes every coordinate.
  const float step = std::ldexp(1.0f, std::ilogb(largest) - 23);
  std::unordered_set<FilePoint, FilePointHash> taken;
  taken.reserve(vertex.size());
  for (FilePoint& p : position)
    p = take_position(p, step, taken);
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

/// Puts a number to the bytes at `to`, the lowest first, and returns what is behind them.
char* put(char* to, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8)
    *to++ = char(value >> shift & 0xffu);
  return to;
}

char* put(char* to, const FilePoint& p) {
  for (const float x : p) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    to = put(to, bits);
  }
  return to;
}

} // namespace

void write_stl(const std::string& path, const TriangleSurface& surface, const std::string& header) {
  OSSATURA_REQUIRE(header.size() <= 80 && header.compare(0, 5, "solid") != 0,
                   "'" << header << "' cannot be the header of binary STL");
  OSSATURA_REQUIRE(surface.triangle.size() <= std::numeric_limits<std::uint32_t>::max(),
                   "the surface has too many triangles for STL");
  const std::vector<FilePoint> position = distinct_positions(path, surface.vertex);
  std::string content = header;
  content.resize(header_bytes + triangle_bytes * surface.triangle.size());
  std::fill_n(content.begin() + std::ptrdiff_t(header.size()), 80 - header.size(), ' ');
  put(&content[80], std::uint32_t(surface.triangle.size()));
  for_parts(surface.triangle.size(), least_part, [&](std::size_t first, std::size_t end) {
    char* to = &content[header_bytes + triangle_bytes * first];
    for (std::size_t i = first; i < end; ++i) {
      const std::array<int, 3>& triangle = surface.triangle[i];
      for (const int v : triangle)
        OSSATURA_REQUIRE(v >= 0 && std::size_t(v) < position.size(),
                         "a triangle has vertex " << v << " of " << position.size());
      const auto corner = [&](std::size_t k) { return std::size_t(triangle[k]); };
      to = put(to, normal_of(surface.vertex[corner(0)], surface.vertex[corner(1)],
                             surface.vertex[corner(2)]));
      for (std::size_t k = 0; k < 3; ++k)
        to = put(to, position[corner(k)]);
      to += 2; // 0: the attribute byte count
    }
  });
  write_file(path, content);
}

} // namespace ossatura
