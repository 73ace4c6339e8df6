// SPDX-License-Identifier: Apache-2.0
// SurfaceCrossings finds edges of one body's surface that cross triangles of another's. Host
// memory.
//
// Nodes that contact holds on a surface lie in it but for rounding, and an edge between two of them
// may dip into a body that curves: what counts is how deep an edge is in the other body, measured
// against the sizes of elements.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Two objects that cross, first < second.
struct SurfaceCrossing {
  int first = 0, second = 0;
  std::int64_t count = 0;      ///< edges of either that are in the other
  double depth = 0;            ///< m, of the deepest
  double relative = 0;         ///< the deepest for the size of its elements, which are 1
  double place[3] = {0, 0, 0}; ///< where that one crosses the surface
};

/// Set up once for the meshes of objects; a mesh of triangles has two sides and no inside.
class SurfaceCrossings {
public:
  /// An edge counts from `least_depth` on, times its length or the least altitude of the triangles
  /// that it passes, whichever is less.
  explicit SurfaceCrossings(const std::vector<const ElementMesh*>& meshes,
                            double least_depth = 0.05);

  /// positions: [points of all meshes one after the other, 3]. Pairs of objects that cross, in
  /// order. Results depend on the positions alone. Objects whose boxes are apart cost a comparison,
  /// others a sort of the triangles that are in both boxes.
  std::vector<SurfaceCrossing> find(const std::vector<double>& positions) const;

private:
  struct Object {
    std::vector<std::int32_t> triangle; ///< [num, 3], points of all meshes
    std::vector<std::int32_t> edge;     ///< [num, 2], each once
    std::int32_t first_point = 0, last_point = 0;
    bool two_sided = false;
  };
  struct Box {
    double lower[3], upper[3];
  };
  class SortedTriangles;

  static Box box_of(const std::int32_t* points, int count, const std::vector<double>& positions);
  static bool overlap(const Box& a, const Box& b);
  static Box within_reach(const Object& edges, const Box& both,
                          const std::vector<double>& positions);
  void cross(const Object& edges, const Object& triangles, const Box& both,
             const std::vector<double>& positions, SurfaceCrossing& crossing) const;

  std::vector<Object> objects_;
  double least_depth_;
};

} // namespace ossatura
