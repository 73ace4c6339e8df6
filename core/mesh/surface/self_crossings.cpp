// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/surface/self_crossings.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/part_sort.hpp>
#include <ossatura/core/machine/part_sum.hpp>
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

/// Whether a segment goes through a triangle; its ends are apart from the plane, and the passage
/// from the edges.
bool goes_through(const Point& p, const Point& q, const Point& a, const Point& b, const Point& c) {
  const double at_p = six_volumes(a, b, c, p), at_q = six_volumes(a, b, c, q);
  if (!((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0)))
    return false;
  const double ab = six_volumes(p, q, a, b), bc = six_volumes(p, q, b, c),
               ca = six_volumes(p, q, c, a);
  const double slack = 1e-12 * (std::fabs(ab) + std::fabs(bc) + std::fabs(ca));
  return (ab > slack && bc > slack && ca > slack) || (ab < -slack && bc < -slack && ca < -slack);
}

/// Edges that may go through triangles are in a cell of a grid with these, as are their own
/// triangles.
class CrossingSearch {
public:
  explicit CrossingSearch(const TriangleSurface& surface)
      : surface_(surface) {
    const double edges = sum_parts(surface.triangle.size(), [&](std::size_t i) {
      const auto& t = surface.triangle[i];
      double around = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const Point way = minus(at(t[(k + 1) % 3]), at(t[k]));
        around += std::sqrt(dot(way, way));
      }
      return around;
    });
    Point high;
    low_.fill(std::numeric_limits<double>::infinity());
    high.fill(-low_[0]);
    for (const auto& t : surface.triangle)
      for (const int corner : t)
        for (std::size_t d = 0; d < 3; ++d) {
          low_[d] = std::min(low_[d], at(corner)[d]);
          high[d] = std::max(high[d], at(corner)[d]);
        }
    width_ = 1.5 * edges / (3 * double(surface.triangle.size()));
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
      CellTriangles triangles;
      while (first < end && first > 0 && entry_[first].cell == entry_[first - 1].cell)
        ++first; // the cell of the part before
      for (std::size_t next; first < end; first = next) {
        next = first;
        while (next < entry_.size() && entry_[next].cell == entry_[first].cell)
          ++next;
        triangles.resize(next - first);
        for (std::size_t i = first; i < next; ++i)
          triangles.set(i - first, entry_[i].triangle, box_of(corners_of(entry_[i].triangle)));
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
  };

  /// The triangles of a cell, with their boxes in single precision, rounded to the outside, by
  /// axes: one edge is compared with all of them, several at a time.
  class CellTriangles {
  public:
    void resize(std::size_t count) {
      number_.resize(count);
      is_apart_.resize(count);
      near_.resize(count);
      for (std::size_t d = 0; d < 3; ++d) {
        low_[d].resize(count);
        high_[d].resize(count);
      }
    }

    void set(std::size_t i, int triangle, const Box& box) {
      number_[i] = triangle;
      for (std::size_t d = 0; d < 3; ++d) {
        low_[d][i] = below(box.low[d]);
        high_[d][i] = above(box.high[d]);
      }
    }

    const std::vector<int>& numbers() const { return number_; }

    /// visit(triangle) for those whose boxes meet this one.
    template<class Visit>
    void for_near(const Box& box, const Visit& visit) {
      const float low[] = {below(box.low[0]), below(box.low[1]), below(box.low[2])};
      const float high[] = {above(box.high[0]), above(box.high[1]), above(box.high[2])};
      const std::size_t count = number_.size();
      int* const apart = is_apart_.data();
      const float *const x0 = low_[0].data(), *const x1 = high_[0].data();
      const float *const y0 = low_[1].data(), *const y1 = high_[1].data();
      const float *const z0 = low_[2].data(), *const z1 = high_[2].data();
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i)
        apart[i] = int(x0[i] > high[0]) | int(x1[i] < low[0]) | int(y0[i] > high[1]) |
                   int(y1[i] < low[1]) | int(z0[i] > high[2]) | int(z1[i] < low[2]);
      std::size_t num_near = 0;
      for (std::size_t i = 0; i < count; ++i) { // without a branch, which would be guessed in vain
        near_[num_near] = number_[i];
        num_near += std::size_t(1 - apart[i]);
      }
      for (std::size_t i = 0; i < num_near; ++i)
        visit(near_[i]);
    }

  private:
    static float below(double x) {
      return float(x) - 1.2e-7f * std::fabs(float(x));
    }
    static float above(double x) {
      return float(x) + 1.2e-7f * std::fabs(float(x));
    }

    std::vector<int> number_, is_apart_, near_;
    std::vector<float> low_[3], high_[3];
  };

  struct Entry {
    std::uint64_t cell;
    int triangle;
    bool operator<(const Entry& other) const {
      return std::tie(cell, triangle) < std::tie(other.cell, other.triangle);
    }
  };

  const Point& at(int vertex) const {
    return surface_.vertex[std::size_t(vertex)];
  }

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

  const std::array<int, 3>& corners_of(int triangle) const {
    return surface_.triangle[std::size_t(triangle)];
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

  void search_cell(CellTriangles& triangles, std::vector<SelfCrossing>& found) const {
    for (const int own : triangles.numbers())
      for (std::size_t k = 0; k < 3; ++k) {
        const std::array<int, 2> edge = {corners_of(own)[k], corners_of(own)[(k + 1) % 3]};
        if (edge[0] > edge[1]) // of a closed surface another triangle passes it the other way
          continue;
        triangles.for_near(box_of(edge), [&](int other) {
          const auto& [a, b, c] = corners_of(other);
          if (!has_either(corners_of(other), edge) &&
              goes_through(at(edge[0]), at(edge[1]), at(a), at(b), at(c)))
            found.push_back({edge[0], edge[1], other});
        });
      }
  }

  static bool has_either(const std::array<int, 3>& corners, const std::array<int, 2>& edge) {
    return std::any_of(corners.begin(), corners.end(),
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

bool is_crossing(const std::vector<std::array<double, 3>>& vertex,
                 const std::array<int, 3>& triangle, int from, int to) {
  const auto at = [&](int v) -> const Point& { return vertex[std::size_t(v)]; };
  return goes_through(at(from), at(to), at(triangle[0]), at(triangle[1]), at(triangle[2]));
}

} // namespace ossatura
