// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/surface/fit_surface.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/surface/near_surface.hpp>
#include <ossatura/core/mesh/surface/points.hpp>
#include <ossatura/core/mesh/surface/self_crossings.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

namespace ossatura {

namespace {

using namespace surface_points;

double square_distance(const Point& a, const Point& b) {
  const Point way = minus(a, b);
  return dot(way, way);
}

/// Triangles by the cells of a grid that they come near to.
class NearTriangles {
public:
  NearTriangles(const TriangleSurface& surface, double within)
      : surface_(surface)
      , width_(2 * within) {
    const double reach = within + 0.5 * std::sqrt(3.0) * width_; // from the centre of a cell
    for (std::size_t t = 0; t < surface.triangle.size(); ++t) {
      Cell low, high;
      for (std::size_t d = 0; d < 3; ++d) {
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (std::size_t k = 0; k < 3; ++k) {
          least = std::min(least, corner(t, k)[d]);
          most = std::max(most, corner(t, k)[d]);
        }
        low[d] = std::int64_t(std::floor((least - within) / width_));
        high[d] = std::int64_t(std::floor((most + within) / width_));
      }
      Cell at;
      for (at[2] = low[2]; at[2] <= high[2]; ++at[2])
        for (at[1] = low[1]; at[1] <= high[1]; ++at[1])
          for (at[0] = low[0]; at[0] <= high[0]; ++at[0]) {
            Point centre;
            for (std::size_t d = 0; d < 3; ++d)
              centre[d] = (double(at[d]) + 0.5) * width_;
            if (square_distance(centre, nearest(t, centre)) <= reach * reach)
              entries_.push_back({at, t});
          }
    }
    std::sort(entries_.begin(), entries_.end());
  }

  /// Calls visit(triangle) for all within the distance, and some beyond.
  template<class Visit>
  void for_near(const Point& x, const Visit& visit) const {
    Cell cell;
    for (std::size_t d = 0; d < 3; ++d)
      cell[d] = std::int64_t(std::floor(x[d] / width_));
    for (auto entry = std::lower_bound(entries_.begin(), entries_.end(), Entry{cell, 0});
         entry != entries_.end() && entry->first == cell; ++entry)
      visit(entry->second);
  }

  Point nearest(std::size_t triangle, const Point& x) const {
    return nearest_on_triangle(x, corner(triangle, 0), corner(triangle, 1), corner(triangle, 2));
  }
  /// Of length 1, or 0.
  Point normal(std::size_t triangle) const {
    const Point& a = corner(triangle, 0);
    const Point area = cross(minus(corner(triangle, 1), a), minus(corner(triangle, 2), a));
    const double size = std::sqrt(dot(area, area));
    Point unit{};
    add(unit, size > 0 ? 1 / size : 0, area);
    return unit;
  }

private:
  using Cell = std::array<std::int64_t, 3>;
  using Entry = std::pair<Cell, std::size_t>;

  const Point& corner(std::size_t triangle, std::size_t k) const {
    return surface_.vertex[std::size_t(surface_.triangle[triangle][k])];
  }

  const TriangleSurface& surface_;
  double width_;
  std::vector<Entry> entries_;
};

class Fitter {
public:
  Fitter(TriangleSurface surface, const TriangleSurface& body, double within)
      : surface_(std::move(surface))
      , first_(surface_.vertex)
      , cells_(body, within)
      , within_(within)
      , is_fitted_(first_.size(), false)
      , normal_(first_.size(), Point{}) {}

  FittedSurface run(const std::vector<std::uint8_t>& faces) {
    for (std::size_t v = 0; v < first_.size(); ++v)
      if (faces[v] != 0)
        fit(v, faces[v]);
    constexpr int most = 8;
    for (int attempt = 0; attempt < most && put_back(); ++attempt)
      if (attempt + 1 == most) {
        surface_.vertex = first_;
        is_fitted_.assign(first_.size(), false);
      }
    return {std::move(surface_), std::move(is_fitted_)};
  }

private:
  /// Goes to the faces in turn, until it is on all of them.
  void fit(std::size_t v, std::uint8_t faces) {
    constexpr double least_cosine = 0.03; // of 88 degrees
    Point x = first_[v], normal{};
    bool any = false;
    for (int round = 0; round < 20; ++round) {
      const Point before = x;
      normal = {};
      for (std::size_t face = 0; face < 6; ++face) {
        if ((faces >> face & 1) == 0)
          continue;
        const std::size_t axis = face / 2;
        const double side = face % 2 == 0 ? -1 : 1;
        double least = within_ * within_;
        Point best = x, outward{};
        cells_.for_near(x, [&](std::size_t triangle) {
          const Point there = cells_.nearest(triangle, x);
          const Point facing = cells_.normal(triangle);
          const double square = square_distance(x, there);
          if (square < least && side * facing[axis] > least_cosine) {
            least = square;
            best = there;
            outward = facing;
          }
        });
        any = any || dot(outward, outward) > 0;
        add(normal, 1, outward);
        x = best;
      }
      if (square_distance(x, before) <= 1e-16 * within_ * within_)
        break;
    }
    if (!any || square_distance(x, first_[v]) > within_ * within_)
      return;
    surface_.vertex[v] = x;
    normal_[v] = normal;
    is_fitted_[v] = true;
  }

  Point area(const std::array<int, 3>& triangle, const std::vector<Point>& vertex) const {
    const Point& a = vertex[std::size_t(triangle[0])];
    return cross(minus(vertex[std::size_t(triangle[1])], a),
                 minus(vertex[std::size_t(triangle[2])], a));
  }

  /// Whether a triangle faces the other way: than the body there, or, where it is not on the body
  /// with all its corners, than it did.
  bool turned(const std::array<int, 3>& triangle) const {
    Point outward{};
    bool is_fitted = true;
    for (const int corner : triangle) {
      add(outward, 1, normal_[std::size_t(corner)]);
      is_fitted = is_fitted && is_fitted_[std::size_t(corner)];
    }
    return dot(area(triangle, surface_.vertex), is_fitted ? outward : area(triangle, first_)) < 0;
  }

  /// Puts vertices of triangles that turned over or cross where they were; returns whether any.
  bool put_back() {
    std::vector<bool> back(surface_.triangle.size(), false);
    for (std::size_t t = 0; t < back.size(); ++t)
      back[t] = turned(surface_.triangle[t]);
    std::vector<bool> vertices(first_.size(), false);
    const std::vector<SelfCrossing> crossings = find_self_crossings(surface_);
    if (!crossings.empty()) {
      const std::vector<SelfCrossing> old = find_self_crossings({first_, surface_.triangle});
      std::vector<SelfCrossing> fresh;
      std::set_difference(crossings.begin(), crossings.end(), old.begin(), old.end(),
                          std::back_inserter(fresh));
      for (const SelfCrossing& one : fresh) {
        back[std::size_t(one.triangle)] = true;
        vertices[std::size_t(one.from)] = vertices[std::size_t(one.to)] = true;
      }
    }
    for (std::size_t t = 0; t < back.size(); ++t)
      for (const int corner : surface_.triangle[t])
        vertices[std::size_t(corner)] = vertices[std::size_t(corner)] || back[t];
    bool any = false;
    for (std::size_t v = 0; v < first_.size(); ++v)
      if (vertices[v] && is_fitted_[v]) {
        surface_.vertex[v] = first_[v];
        is_fitted_[v] = false;
        any = true;
      }
    return any;
  }

  TriangleSurface surface_;
  std::vector<Point> first_;
  NearTriangles cells_;
  double within_;
  std::vector<bool> is_fitted_;
  std::vector<Point> normal_; ///< of the body where vertices went
};

} // namespace

FittedSurface fit_surface(TriangleSurface surface, const std::vector<std::uint8_t>& faces,
                          const TriangleSurface& body, double within) {
  OSSATURA_REQUIRE(faces.size() == surface.vertex.size(),
                   faces.size() << " faces of " << surface.vertex.size() << " vertices");
  OSSATURA_REQUIRE(within > 0 && std::isfinite(within), "a distance of " << within);
  return Fitter(std::move(surface), body, within).run(faces);
}

} // namespace ossatura
