// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/surface/self_crossings.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/part_sort.hpp>
#include <ossatura/core/mesh/surface/points.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <tuple>

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

/// Edges that may go through triangles are in a cell of a grid with these, as are their own
/// triangles.
class CrossingSearch {
public:
  explicit CrossingSearch(const TriangleSurface& surface)
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
    list_entries();
  }

  /// By all threads; some more than once.
  std::vector<SelfCrossing> find() const {
    std::vector<SelfCrossing> found;
    std::mutex mutex;
    for_parts(entry_.size(), 1 << 12, [&](std::size_t first, std::size_t end) {
      std::vector<SelfCrossing> own;
      std::vector<Triangle> triangles;
      while (first < end && first > 0 && entry_[first].cell == entry_[first - 1].cell)
        ++first; // the cell of the part before
      for (std::size_t next; first < end; first = next) {
        triangles.clear();
        for (next = first; next < entry_.size() && entry_[next].cell == entry_[first].cell; ++next)
          triangles.push_back(triangle_at(entry_[next].triangle));
        search_cell(triangles, own);
      }
      const std::lock_guard<std::mutex> lock(mutex);
      found.insert(found.end(), own.begin(), own.end());
    });
    return found;
  }

private:
  struct Box {
    Point low, high;
    bool is_apart_from(const Box& other) const {
      for (std::size_t d = 0; d < 3; ++d)
        if (low[d] > other.high[d] || high[d] < other.low[d])
          return true;
      return false;
    }
  };
  struct Triangle {
    int number;
    std::array<int, 3> corner;
    Box box;
  };
  struct Entry {
    std::uint64_t cell;
    int triangle;
    bool operator<(const Entry& other) const {
      return std::tie(cell, triangle) < std::tie(other.cell, other.triangle);
    }
  };

  const Point& at(int vertex) const { return surface_.vertex[std::size_t(vertex)]; }

  template<std::size_t Count>
  Box box_of(const std::array<int, Count>& corners) const {
    Box box{at(corners[0]), at(corners[0])};
    for (const int corner : corners)
      for (std::size_t d = 0; d < 3; ++d) {
        box.low[d] = std::min(box.low[d], at(corner)[d]);
        box.high[d] = std::max(box.high[d], at(corner)[d]);
      }
    return box;
  }

  Triangle triangle_at(int number) const {
    const auto& corner = surface_.triangle[std::size_t(number)];
    return {number, corner, box_of(corner)};
  }

  void list_entries() {
    const std::size_t count = surface_.triangle.size();
    std::vector<std::size_t> begin(count + 1); // of the entries of a triangle
    for_parts(count, 1 << 12, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        for_cells(i, [&](std::uint64_t) { ++begin[i + 1]; });
    });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    entry_.resize(begin.back());
    for_parts(count, 1 << 12, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        for_cells(i, [&, place = begin[i]](std::uint64_t cell) mutable {
          entry_[place++] = {cell, int(i)};
        });
    });
    sort_parts(entry_, std::less<>());
  }

  template<class Visit>
  void for_cells(std::size_t triangle, Visit visit) const {
    const Box box = box_of(surface_.triangle[triangle]);
    Cell first, last;
    for (std::size_t d = 0; d < 3; ++d) {
      first[d] = int((box.low[d] - low_[d]) / width_);
      last[d] = int((box.high[d] - low_[d]) / width_);
    }
    for (int z = first[2]; z <= last[2]; ++z)
      for (int y = first[1]; y <= last[1]; ++y)
        for (int x = first[0]; x <= last[0]; ++x)
          visit(std::uint64_t(x) | std::uint64_t(y) << 21 | std::uint64_t(z) << 42);
  }

  void search_cell(const std::vector<Triangle>& triangles, std::vector<SelfCrossing>& found) const {
    for (const Triangle& own : triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::array<int, 2> edge = {own.corner[k], own.corner[(k + 1) % 3]};
        if (edge[0] > edge[1]) // of a closed surface another triangle passes it the other way
          continue;
        const Box box = box_of(edge);
        for (const Triangle& other : triangles)
          if (!box.is_apart_from(other.box) && !has_either(other, edge) &&
              goes_through(at(edge[0]), at(edge[1]), at(other.corner[0]), at(other.corner[1]),
                           at(other.corner[2])))
            found.push_back({edge[0], edge[1], other.number});
      }
  }

  static bool has_either(const Triangle& triangle, const std::array<int, 2>& edge) {
    return std::any_of(triangle.corner.begin(), triangle.corner.end(),
                       [&](int corner) { return corner == edge[0] || corner == edge[1]; });
  }

  const TriangleSurface& surface_;
  Point low_{};
  double width_ = 0;
  std::vector<Entry> entry_; ///< ascending
};

} // namespace

std::vector<SelfCrossing> find_self_crossings(const TriangleSurface& surface) {
  if (surface.triangle.empty())
    return {};
  std::vector<SelfCrossing> found = CrossingSearch(surface).find();
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end(),
                          [](const SelfCrossing& a, const SelfCrossing& b) {
                            return !(a < b) && !(b < a);
                          }),
              found.end());
  return found;
}

} // namespace ossatura
