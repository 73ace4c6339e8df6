// SPDX-License-Identifier: Apache-2.0
// Moeller and Trumbore's test [1] finds where an edge crosses a triangle.
//
// [1] T. Moeller, B. Trumbore. Fast, minimum storage ray/triangle intersection. J. Graph. Tools 2
//     (1997) 21-28, doi:10.1080/10867651.1997.10487468.
#include <ossatura/core/mesh/surface_crossings.hpp>

#include <ossatura/core/mesh/element_surface.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ossatura {

namespace {

double dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void cross_product(const double* a, const double* b, double* c) {
  for (int d = 0; d < 3; ++d)
    c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/// Where an edge goes through a triangle: `at` of its length, along or against the unit normal.
struct Passage {
  double at;
  double normal[3];
  double altitude; ///< the least of the triangle
  bool enters;
};

bool pass(const double* from, const double* to, const double* const (&corner)[3],
          Passage& passage) {
  double way[3], ab[3], ac[3], off[3], p[3], q[3];
  for (int d = 0; d < 3; ++d) {
    way[d] = to[d] - from[d];
    ab[d] = corner[1][d] - corner[0][d];
    ac[d] = corner[2][d] - corner[0][d];
    off[d] = from[d] - corner[0][d];
  }
  cross_product(way, ac, p);
  const double det = dot(ab, p);
  if (det == 0)
    return false;
  const double u = dot(off, p) / det;
  cross_product(off, ab, q);
  const double v = dot(way, q) / det;
  passage.at = dot(ac, q) / det;
  if (!(u >= 0 && v >= 0 && u + v <= 1 && passage.at >= 0 && passage.at <= 1))
    return false;
  cross_product(ab, ac, passage.normal);
  const double area = std::sqrt(dot(passage.normal, passage.normal));
  if (!(area > 0))
    return false;
  for (double& component : passage.normal)
    component /= area;
  double bc[3];
  for (int d = 0; d < 3; ++d)
    bc[d] = corner[2][d] - corner[1][d];
  passage.altitude = area / std::sqrt(std::max({dot(ab, ab), dot(ac, ac), dot(bc, bc)}));
  passage.enters = dot(way, passage.normal) < 0;
  return true;
}

double square_distance_to_edge(const double* x, const double* from, const double* to) {
  double way[3], off[3];
  for (int d = 0; d < 3; ++d) {
    way[d] = to[d] - from[d];
    off[d] = x[d] - from[d];
  }
  const double length2 = dot(way, way);
  const double at = length2 > 0 ? std::clamp(dot(off, way) / length2, 0.0, 1.0) : 0;
  for (int d = 0; d < 3; ++d)
    off[d] -= at * way[d];
  return dot(off, off);
}

double square_distance(const double* x, const double* const (&corner)[3]) {
  double least = HUGE_VAL, ab[3], ac[3], off[3], n[3];
  for (int k = 0; k < 3; ++k)
    least = std::min(least, square_distance_to_edge(x, corner[k], corner[(k + 1) % 3]));
  for (int d = 0; d < 3; ++d) {
    ab[d] = corner[1][d] - corner[0][d];
    ac[d] = corner[2][d] - corner[0][d];
    off[d] = x[d] - corner[0][d];
  }
  cross_product(ab, ac, n);
  const double area2 = dot(n, n);
  if (!(area2 > 0))
    return least;
  double p[3], q[3];
  cross_product(off, ac, p);
  cross_product(ab, off, q);
  const double u = dot(p, n) / area2, v = dot(q, n) / area2;
  const double height = dot(off, n);
  return u >= 0 && v >= 0 && u + v <= 1 ? std::min(least, height * height / area2) : least;
}

/// On the side that the triangle's normal comes from.
bool is_below(const double* x, const double* const (&corner)[3]) {
  double ab[3], ac[3], off[3], n[3];
  for (int d = 0; d < 3; ++d) {
    ab[d] = corner[1][d] - corner[0][d];
    ac[d] = corner[2][d] - corner[0][d];
    off[d] = x[d] - corner[0][d];
  }
  cross_product(ab, ac, n);
  return dot(off, n) < 0;
}

/// Of an edge in a body, by its passages in order: the middle of the longest part that is inside,
/// or the end that is; false where there is none. `place` is where that part enters or leaves.
bool find_part_inside(const std::vector<Passage>& passages, double& probe, double& place) {
  double longest = 0;
  const Passage* in = nullptr;
  const auto keep = [&](double begin, double end, double at, double from) {
    if (end - begin > longest) {
      longest = end - begin;
      probe = at;
      place = from;
    }
  };
  for (const Passage& passage : passages) {
    if (passage.enters && !in)
      in = &passage;
    else if (!passage.enters && in) {
      keep(in->at, passage.at, (in->at + passage.at) / 2, in->at);
      in = nullptr;
    } else if (!passage.enters && &passage == &passages.front())
      keep(0, passage.at, 0, passage.at);
  }
  if (in)
    keep(in->at, 1, 1, in->at);
  return longest > 0;
}

/// Of an edge through what has no inside: how far the shorter side sticks out.
double depth_through_sheet(const double* way, const std::vector<Passage>& passages, double& place) {
  double deepest = 0;
  for (const Passage& passage : passages) {
    const double depth = std::min(passage.at, 1 - passage.at) * std::abs(dot(way, passage.normal));
    if (depth > deepest) {
      deepest = depth;
      place = passage.at;
    }
  }
  return deepest;
}

} // namespace

SurfaceCrossings::SurfaceCrossings(const std::vector<const ElementMesh*>& meshes,
                                   double least_depth)
    : least_depth_(least_depth) {
  std::int32_t first = 0;
  for (const ElementMesh* mesh : meshes) {
    Object object;
    object.first_point = first;
    object.last_point = first + std::int32_t(mesh->num_points());
    object.two_sided = mesh->shape == ElementShape::triangle;
    for (const std::int32_t point : boundary_triangles(*mesh))
      object.triangle.push_back(first + point);
    std::vector<std::pair<std::int32_t, std::int32_t>> edges;
    for (std::size_t t = 0; t < object.triangle.size(); t += 3)
      for (std::size_t k = 0; k < 3; ++k)
        edges.push_back(std::minmax(object.triangle[t + k], object.triangle[t + (k + 1) % 3]));
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (const auto& [a, b] : edges)
      object.edge.insert(object.edge.end(), {a, b});
    first = object.last_point;
    objects_.push_back(std::move(object));
  }
}

SurfaceCrossings::Box SurfaceCrossings::box_of(const std::int32_t* points, int count,
                                               const std::vector<double>& positions) {
  Box box;
  for (int d = 0; d < 3; ++d) {
    const auto at = [&](int k) { return positions[3 * std::size_t(points[k]) + std::size_t(d)]; };
    box.lower[d] = box.upper[d] = at(0);
    for (int k = 1; k < count; ++k) {
      box.lower[d] = std::min(box.lower[d], at(k));
      box.upper[d] = std::max(box.upper[d], at(k));
    }
  }
  return box;
}

bool SurfaceCrossings::overlap(const Box& a, const Box& b) {
  for (int d = 0; d < 3; ++d)
    if (!(a.lower[d] <= b.upper[d] && b.lower[d] <= a.upper[d]))
      return false;
  return true;
}

/// SortedTriangles holds the triangles of an object that are in a box, along its longest axis.
class SurfaceCrossings::SortedTriangles {
public:
  SortedTriangles(const Object& object, const Box& within, const std::vector<double>& positions)
      : object_(object)
      , positions_(positions) {
    for (int d = 1; d < 3; ++d)
      if (within.upper[d] - within.lower[d] > within.upper[axis_] - within.lower[axis_])
        axis_ = d;
    for (std::size_t t = 0; t < object.triangle.size(); t += 3) {
      const Box box = box_of(&object.triangle[t], 3, positions);
      if (!overlap(box, within))
        continue;
      sorted_.push_back({box.lower[axis_], t, box});
      widest_ = std::max(widest_, box.upper[axis_] - box.lower[axis_]);
    }
    std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) {
      return std::make_pair(a.lower, a.first) < std::make_pair(b.lower, b.first);
    });
  }

  /// Finds where an edge with the box `box` goes through triangles, in order.
  void find_passages(const double* from, const double* to, const Box& box,
                     std::vector<Passage>& passages) const {
    passages.clear();
    auto entry =
        std::lower_bound(sorted_.begin(), sorted_.end(), box.lower[axis_] - widest_,
                         [](const Entry& each, double lower) { return each.lower < lower; });
    for (; entry != sorted_.end() && entry->lower <= box.upper[axis_]; ++entry) {
      if (!overlap(entry->box, box))
        continue;
      Passage passage;
      if (pass(from, to, {corner(*entry, 0), corner(*entry, 1), corner(*entry, 2)}, passage))
        passages.push_back(passage);
    }
    std::sort(passages.begin(), passages.end(), [](const Passage& a, const Passage& b) {
      return std::make_pair(a.at, a.enters) < std::make_pair(b.at, b.enters);
    });
  }

  /// Returns how far below the surface a point is; 0 for one that is not.
  double depth_below(const double* x) const {
    double least = HUGE_VAL;
    bool inside = false;
    for (const Entry& each : sorted_) {
      const double* const corners[3] = {corner(each, 0), corner(each, 1), corner(each, 2)};
      const double square = square_distance(x, corners);
      constexpr double same = 1e-9; // of triangles that share the nearest point
      if (square > (1 + same) * least)
        continue;
      const bool below = is_below(x, corners);
      inside = square < (1 - same) * least ? below : inside && below;
      least = std::min(least, square);
    }
    return inside ? std::sqrt(least) : 0;
  }

private:
  struct Entry {
    double lower;
    std::size_t first; ///< place of the triangle in the object
    Box box;
  };

  const double* corner(const Entry& entry, std::size_t k) const {
    return &positions_[3 * std::size_t(object_.triangle[entry.first + k])];
  }

  const Object& object_;
  const std::vector<double>& positions_;
  int axis_ = 0;
  std::vector<Entry> sorted_;
  double widest_ = 0; ///< along the axis
};

/// `both`, and the length of the longest edge in it on all sides: the surface that an edge is below
/// may lie beside the box of what two bodies share, as that of a body on a flat cloth does.
SurfaceCrossings::Box SurfaceCrossings::within_reach(const Object& edges, const Box& both,
                                                     const std::vector<double>& positions) {
  double longest2 = 0;
  for (std::size_t e = 0; e < edges.edge.size(); e += 2) {
    const Box box = box_of(&edges.edge[e], 2, positions);
    if (!overlap(box, both))
      continue;
    double length2 = 0;
    for (int d = 0; d < 3; ++d)
      length2 += (box.upper[d] - box.lower[d]) * (box.upper[d] - box.lower[d]);
    longest2 = std::max(longest2, length2);
  }
  Box reach = both;
  for (int d = 0; d < 3; ++d) {
    reach.lower[d] -= std::sqrt(longest2);
    reach.upper[d] += std::sqrt(longest2);
  }
  return reach;
}

void SurfaceCrossings::cross(const Object& edges, const Object& triangles, const Box& both,
                             const std::vector<double>& positions,
                             SurfaceCrossing& crossing) const {
  const SortedTriangles surface(triangles, within_reach(edges, both, positions), positions);
  std::vector<Passage> passages;
  for (std::size_t e = 0; e < edges.edge.size(); e += 2) {
    const Box box = box_of(&edges.edge[e], 2, positions);
    if (!overlap(box, both))
      continue;
    const double* const from = &positions[3 * std::size_t(edges.edge[e])];
    const double* const to = &positions[3 * std::size_t(edges.edge[e + 1])];
    surface.find_passages(from, to, box, passages);
    if (passages.empty())
      continue;
    double way[3], place = 0, probe = 0, depth = 0;
    for (int d = 0; d < 3; ++d)
      way[d] = to[d] - from[d];
    double size = std::sqrt(dot(way, way));
    for (const Passage& passage : passages)
      size = std::min(size, passage.altitude);
    if (triangles.two_sided)
      depth = depth_through_sheet(way, passages, place);
    else if (find_part_inside(passages, probe, place)) {
      // A passage that rounding took for one, at an edge that is only touched, leaves the probe
      // outside.
      double x[3];
      for (int d = 0; d < 3; ++d)
        x[d] = from[d] + probe * way[d];
      depth = surface.depth_below(x);
    }
    if (!(depth > least_depth_ * size))
      continue;
    ++crossing.count;
    crossing.relative = std::max(crossing.relative, depth / size);
    if (depth > crossing.depth) {
      crossing.depth = depth;
      for (int d = 0; d < 3; ++d)
        crossing.place[d] = from[d] + place * way[d];
    }
  }
}

std::vector<SurfaceCrossing> SurfaceCrossings::find(const std::vector<double>& positions) const {
  std::vector<Box> boxes;
  for (const Object& object : objects_) {
    Box box;
    for (int d = 0; d < 3; ++d) {
      box.lower[d] = HUGE_VAL;
      box.upper[d] = -HUGE_VAL;
    }
    for (std::int32_t i = object.first_point; i < object.last_point; ++i)
      for (int d = 0; d < 3; ++d) {
        const double x = positions[3 * std::size_t(i) + std::size_t(d)];
        box.lower[d] = std::min(box.lower[d], x);
        box.upper[d] = std::max(box.upper[d], x);
      }
    boxes.push_back(box);
  }
  std::vector<SurfaceCrossing> found;
  for (std::size_t a = 0; a < objects_.size(); ++a)
    for (std::size_t b = a + 1; b < objects_.size(); ++b) {
      Box both;
      bool apart = false;
      for (int d = 0; d < 3; ++d) {
        both.lower[d] = std::max(boxes[a].lower[d], boxes[b].lower[d]);
        both.upper[d] = std::min(boxes[a].upper[d], boxes[b].upper[d]);
        apart = apart || !(both.lower[d] <= both.upper[d]);
      }
      if (apart)
        continue;
      SurfaceCrossing crossing;
      crossing.first = int(a);
      crossing.second = int(b);
      cross(objects_[a], objects_[b], both, positions, crossing);
      cross(objects_[b], objects_[a], both, positions, crossing);
      if (crossing.count > 0)
        found.push_back(crossing);
    }
  return found;
}

} // namespace ossatura
