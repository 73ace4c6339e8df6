// SPDX-License-Identifier: Apache-2.0
// Each face is found at the lowest of its three vertices, with the few other faces of that vertex:
// to sort all faces of a heart takes longer than to solve it.
#include <ossatura/core/mesh/mechanics/folded_mesh.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/surface/points.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <sstream>
#include <utility>

namespace ossatura {

namespace {

using namespace surface_points;

double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// Whether the vertices of all tetrahedra that conduct turn the same way.
bool turn_alike(const TetraMesh& mesh, const std::vector<bool>& blocked) {
  const auto at = [&mesh](std::int32_t vertex) {
    const double* const x = &mesh.point[3 * std::size_t(vertex)];
    return Point{x[0], x[1], x[2]};
  };
  std::atomic<bool> one_way = false, other_way = false;
  for_parts(mesh.num_tetra(), std::size_t(1) << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end && !(one_way && other_way); ++e) {
      if (!blocked.empty() && blocked[e])
        continue;
      const std::int32_t* const v = &mesh.tetra[4 * e];
      const double volume = six_volumes(at(v[0]), at(v[1]), at(v[2]), at(v[3]));
      if (volume > 0 && !one_way)
        one_way = true;
      if (volume < 0 && !other_way)
        other_way = true;
    }
  });
  return !(one_way && other_way);
}

/// Of a vertex that is the lowest of the face.
struct SharedFace {
  std::uint64_t others; ///< the two other vertices, the higher one in the lower half
  std::int32_t opposite;
  std::int32_t owner; ///< which of the tetrahedra of the vertex

  std::int32_t second() const { return std::int32_t(others >> 32); }
  std::int32_t third() const { return std::int32_t(others & 0xffffffffu); }
};
bool operator<(const SharedFace& a, const SharedFace& b) {
  return a.others < b.others || (a.others == b.others && a.owner < b.owner);
}

class FoldSearch {
public:
  FoldSearch(const std::vector<double>& point, const std::vector<std::int32_t>& tetra,
             const std::vector<bool>& blocked)
      : point_(point)
      , tetra_(tetra)
      , start_(point.size() / 3 + 2) {
    const std::size_t num_tetra = tetra.size() / 4;
    const auto for_owners = [&](const auto& use) {
      for (std::size_t e = 0; e < num_tetra; ++e) {
        if (!blocked.empty() && blocked[e])
          continue;
        const auto v = vertices(e);
        use(std::size_t(v[0]), std::int64_t(e));
        use(std::size_t(v[1]), std::int64_t(e));
      }
    };
    for_owners([&](std::size_t vertex, std::int64_t) { ++start_[vertex + 2]; });
    for (std::size_t i = 2; i < start_.size(); ++i)
      start_[i] += start_[i - 1];
    elem_.resize(std::size_t(start_.back()));
    for_owners(
        [&](std::size_t vertex, std::int64_t e) { elem_[std::size_t(start_[vertex + 1]++)] = e; });
  }

  FoldedMesh find() {
    constexpr std::size_t least_part = std::size_t(1) << 12; // vertices
    for_parts(point_.size() / 3, least_part, [this](std::size_t first, std::size_t end) {
      FoldedMesh found;
      std::size_t lowest = std::numeric_limits<std::size_t>::max();
      std::vector<SharedFace> faces;
      for (std::size_t vertex = first; vertex < end; ++vertex) {
        look_at(vertex, faces, found);
        if (found.count > 0 && lowest > vertex)
          lowest = vertex;
      }
      add(found, lowest);
    });
    return all_;
  }

private:
  /// Ascending.
  std::array<std::int32_t, 4> vertices(std::size_t e) const {
    std::array<std::int32_t, 4> v = {tetra_[4 * e], tetra_[4 * e + 1], tetra_[4 * e + 2],
                                     tetra_[4 * e + 3]};
    constexpr std::size_t compared[5][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}};
    for (const auto& pair : compared)
      if (v[pair[0]] > v[pair[1]])
        std::swap(v[pair[0]], v[pair[1]]);
    return v;
  }

  Point at(std::int32_t vertex) const {
    const double* const x = &point_[3 * std::size_t(vertex)];
    return {x[0], x[1], x[2]};
  }

  void look_at(std::size_t vertex, std::vector<SharedFace>& faces, FoldedMesh& found) const {
    faces.clear();
    for (std::int64_t k = start_[vertex]; k < start_[vertex + 1]; ++k) {
      const auto v = vertices(std::size_t(elem_[std::size_t(k)]));
      const auto take = [&](std::int32_t second, std::int32_t third, std::int32_t opposite) {
        faces.push_back({std::uint64_t(second) << 32 | std::uint64_t(third), opposite,
                         std::int32_t(k - start_[vertex])});
      };
      if (std::size_t(v[0]) == vertex) {
        take(v[1], v[2], v[3]);
        take(v[1], v[3], v[2]);
        take(v[2], v[3], v[1]);
      } else {
        take(v[2], v[3], v[0]);
      }
    }
    std::sort(faces.begin(), faces.end());
    for (std::size_t k = 1; k < faces.size(); ++k)
      if (faces[k].others == faces[k - 1].others)
        compare(vertex, faces[k - 1], faces[k], found);
  }

  void compare(std::size_t vertex, const SharedFace& one, const SharedFace& other,
               FoldedMesh& found) const {
    ++found.num_faces;
    const Point a = at(std::int32_t(vertex)), b = at(one.second()), c = at(one.third());
    const double first = six_volumes(a, b, c, at(one.opposite)),
                 second = six_volumes(a, b, c, at(other.opposite));
    if (first * second <= 0)
      return;
    // Those that are flat but for rounding are on no side.
    const double longest = std::max({distance(a, b), distance(b, c), distance(c, a)});
    if (std::min(std::abs(first), std::abs(second)) < 1e-6 * longest * longest * longest)
      return;
    if (found.count++ > 0)
      return;
    const std::int64_t* const elem = &elem_[std::size_t(start_[vertex])];
    found.elem = {elem[one.owner], elem[other.owner]};
    for (std::size_t d = 0; d < 3; ++d)
      found.place[d] = (a[d] + b[d] + c[d]) / 3;
  }

  /// `lowest`: the vertex of the first.
  void add(const FoldedMesh& found, std::size_t lowest) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (found.count > 0 && lowest < lowest_) {
      lowest_ = lowest;
      all_.elem = found.elem;
      all_.place = found.place;
    }
    all_.count += found.count;
    all_.num_faces += found.num_faces;
  }

  const std::vector<double>& point_;
  const std::vector<std::int32_t>& tetra_;
  std::vector<std::int64_t> start_; ///< in elem_, of each vertex
  std::vector<std::int64_t> elem_;  ///< that have a face of which the vertex is the lowest
  std::mutex mutex_;
  FoldedMesh all_;
  std::size_t lowest_ = std::numeric_limits<std::size_t>::max();
};

} // namespace

FoldedMesh find_folds(const ElementMesh& mesh) {
  if (mesh.shape != ElementShape::tetra)
    return {};
  return FoldSearch(mesh.point, mesh.node, {}).find();
}

FoldedMesh find_folds(const TetraMesh& mesh, const std::vector<bool>& blocked) {
  if (turn_alike(mesh, blocked))
    return {};
  return FoldSearch(mesh.point, mesh.tetra, blocked).find();
}

std::string describe_folds(const FoldedMesh& found, const char* unit) {
  std::ostringstream text;
  if (found.count == 0)
    return {};
  text << "is folded: at " << found.count << " of " << found.num_faces
       << (found.num_faces == 1 ? " face" : " faces")
       << " both tetrahedra lie on the same side, in each other, elements " << found.elem[0]
       << " and " << found.elem[1] << " at (" << found.place[0] << ", " << found.place[1] << ", "
       << found.place[2] << ") " << unit << " the first";
  // A node out of its place folds what is around it.
  if (found.count > 100 && 20 * found.count > found.num_faces)
    text << ", as where points are those of another mesh, or in another order";
  return text.str();
}

std::string describe_folded_tissue(const FoldedMesh& found) {
  const std::string folds = describe_folds(found, "mm");
  return folds.empty() ? folds
                       : "the mesh " + folds +
                             ". Waves take ways there that the tissue does not have: mend the mesh";
}

} // namespace ossatura
