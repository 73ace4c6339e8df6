// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/surface/self_crossings.hpp>

#include <ossatura/core/mesh/surface/points.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace ossatura {

namespace {

using namespace surface_points;
using Cell = std::array<int, 3>;

/// Six times the volume of a tetrahedron.
double volume(const Point& a, const Point& b, const Point& c, const Point& d) {
  return dot(minus(b, a), cross(minus(c, a), minus(d, a)));
}

/// Whether a segment goes through a triangle; its ends are apart from the plane, and the passage
/// from the edges.
bool goes_through(const Point& p, const Point& q, const Point& a, const Point& b, const Point& c) {
  const double at_p = volume(a, b, c, p), at_q = volume(a, b, c, q);
  if (!((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0)))
    return false;
  const double ab = volume(p, q, a, b), bc = volume(p, q, b, c), ca = volume(p, q, c, a);
  const double slack = 1e-12 * (std::fabs(ab) + std::fabs(bc) + std::fabs(ca));
  return (ab > slack && bc > slack && ca > slack) || (ab < -slack && bc < -slack && ca < -slack);
}

/// The cells of a grid that triangles are in.
class TriangleCells {
public:
  explicit TriangleCells(const TriangleSurface& surface)
      : surface_(surface) {
    double sum = 0;
    Point high;
    low_.fill(std::numeric_limits<double>::infinity());
    high.fill(-low_[0]);
    for (const auto& t : surface.triangle)
      for (std::size_t k = 0; k < 3; ++k) {
        const Point &a = at(t[k]), &b = at(t[(k + 1) % 3]);
        sum += std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
        for (std::size_t d = 0; d < 3; ++d) {
          low_[d] = std::min(low_[d], a[d]);
          high[d] = std::max(high[d], a[d]);
        }
      }
    width_ = 1.5 * sum / (3 * double(surface.triangle.size()));
    for (std::size_t d = 0; d < 3; ++d) // cells have 21 bits along each axis
      width_ = std::max(width_, (high[d] - low_[d]) / 1e6);
    for (std::size_t i = 0; i < surface.triangle.size(); ++i) {
      const auto& t = surface.triangle[i];
      for_cells({at(t[0]), at(t[1]), at(t[2])}, [&](std::uint64_t key) {
        entry_.push_back({key, int(i)});
      });
    }
    std::sort(entry_.begin(), entry_.end());
  }

  const Point& at(int vertex) const { return surface_.vertex[std::size_t(vertex)]; }

  /// Calls visit(triangle) for those that may be near the segment, some more than once.
  template<class Visit>
  void near(const Point& p, const Point& q, const Visit& visit) const {
    for_cells({p, q, q}, [&](std::uint64_t key) {
      auto entry = std::lower_bound(entry_.begin(), entry_.end(), std::make_pair(key, -1));
      for (; entry != entry_.end() && entry->first == key; ++entry)
        visit(entry->second);
    });
  }

private:
  template<class Visit>
  void for_cells(const std::array<Point, 3>& corners, const Visit& visit) const {
    Cell first, last;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto [low, high] = std::minmax({corners[0][d], corners[1][d], corners[2][d]});
      first[d] = int((low - low_[d]) / width_);
      last[d] = int((high - low_[d]) / width_);
    }
    for (int z = first[2]; z <= last[2]; ++z)
      for (int y = first[1]; y <= last[1]; ++y)
        for (int x = first[0]; x <= last[0]; ++x)
          visit(std::uint64_t(x) | std::uint64_t(y) << 21 | std::uint64_t(z) << 42);
  }

  const TriangleSurface& surface_;
  Point low_{};
  double width_ = 0;
  std::vector<std::pair<std::uint64_t, int>> entry_;
};

} // namespace

std::vector<SelfCrossing> find_self_crossings(const TriangleSurface& surface) {
  std::vector<SelfCrossing> found;
  if (surface.triangle.empty())
    return found;
  const TriangleCells cells(surface);
  for (const auto& own : surface.triangle)
    for (std::size_t k = 0; k < 3; ++k) {
      const int from = own[k], to = own[(k + 1) % 3];
      if (from > to) // of a closed surface another triangle passes it the other way
        continue;
      const Point &p = cells.at(from), &q = cells.at(to);
      cells.near(p, q, [&](int triangle) {
        const auto& t = surface.triangle[std::size_t(triangle)];
        for (const int corner : t)
          if (corner == from || corner == to)
            return;
        if (goes_through(p, q, cells.at(t[0]), cells.at(t[1]), cells.at(t[2])))
          found.push_back({from, to, triangle});
      });
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end(),
                          [](const SelfCrossing& a, const SelfCrossing& b) {
                            return !(a < b) && !(b < a);
                          }),
              found.end());
  return found;
}

} // namespace ossatura
