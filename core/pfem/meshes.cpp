// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/pfem/meshes.hpp>

#include <ossatura/core/base/require.hpp>

#include <cmath>

namespace ossatura {
namespace {

/// Cells of a grid on a patch, cubed with the layers across it, by their lowest corners.
struct Cell {
  int patch, place[3];
};

/// A coordinate of [0, 1] cut into `count` equal cells, at s in [-1, 1] of one of them; exact at
/// the ends.
double along_cells(int place, double s, int count) {
  return (place + 0.5 * (1 + s)) / count;
}

/// Linear from `from` at 0 to `to` at 1, exact at both.
double between(double from, double to, double t) {
  return (1 - t) * from + t * to;
}

void require_radii(double inner, double outer) {
  OSSATURA_REQUIRE(std::isfinite(outer) && 0 < inner && inner < outer,
                   "radii " << inner << " and " << outer << "; 0 < inner < outer");
}

void require_elements(double num_elem, double num_points, int least) {
  OSSATURA_REQUIRE(least >= 1, least << " elements along a side");
  OSSATURA_REQUIRE(num_elem < INT32_MAX && num_points < INT32_MAX,
                   num_elem << " elements; they and their points are numbered with 32 bits");
}

/// Ends along three axes of the vertices of ElementShape::hexa.
constexpr int corner_end[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/// The points of the mesh from the map of its elements.
void place_points(CurvedHexaMesh& curved, std::size_t num_points) {
  ElementMesh& mesh = curved.mesh;
  mesh.point.resize(3 * num_points);
  for (std::size_t i = 0; i < mesh.node.size(); ++i) {
    const int* end = corner_end[i % 8];
    const double xi[3] = {2.0 * end[0] - 1, 2.0 * end[1] - 1, 2.0 * end[2] - 1};
    double x[3], jacobian[9];
    curved.map->evaluate(std::int64_t(i / 8), xi, x, jacobian);
    for (std::size_t axis = 0; axis < 3; ++axis)
      mesh.point[3 * std::size_t(mesh.node[i]) + axis] = x[axis];
  }
}

class SphereMap : public HexaMap {
public:
  SphereMap(double inner, double outer, int along, int across)
      : inner_(inner)
      , outer_(outer)
      , along_(along)
      , across_(across) {}

  Cell cell(std::int64_t elem) const {
    const auto row = std::int64_t(along_), layer = row * row;
    return {int(elem / (layer * across_)),
            {int(elem % row), int(elem / row % row), int(elem / layer % across_)}};
  }

  void evaluate(std::int64_t elem, const double (&xi)[3], double (&x)[3],
                double (&jacobian)[9]) const override {
    const Cell at = cell(elem);
    // The face of the cube [0, 1]^3 where coordinate `patch` is 1; u, v and the radius make a
    // right-handed frame.
    const double u = along_cells(at.place[0], xi[0], along_);
    const double v = along_cells(at.place[1], xi[1], along_);
    const double t = along_cells(at.place[2], xi[2], across_);
    const double radius = between(inner_, outer_, t);
    const double squared = 1 + u * u + v * v, length = std::sqrt(squared);
    const double face[3] = {1, u, v}; // coordinates patch, patch + 1, patch + 2
    for (int k = 0; k < 3; ++k) {
      const int row = (at.patch + k) % 3;
      x[row] = radius * (face[k] / length);
      // d(face / length)/du = d(face)/du / length - face u / length^3
      const double by_u = (k == 1 ? 1.0 : 0.0) - face[k] * u / squared;
      const double by_v = (k == 2 ? 1.0 : 0.0) - face[k] * v / squared;
      jacobian[3 * row] = radius * by_u / length * 0.5 / along_;
      jacobian[3 * row + 1] = radius * by_v / length * 0.5 / along_;
      jacobian[3 * row + 2] = face[k] / length * (outer_ - inner_) * 0.5 / across_;
    }
  }

private:
  double inner_, outer_;
  int along_, across_;
};

class CylinderMap : public HexaMap {
public:
  CylinderMap(double inner, double outer, double height, const int (&count)[3])
      : inner_(inner)
      , outer_(outer)
      , height_(height)
      , count_{count[0], count[1], count[2]} {}

  void evaluate(std::int64_t elem, const double (&xi)[3], double (&x)[3],
                double (&jacobian)[9]) const override {
    const auto row = std::int64_t(count_[0]), layer = row * count_[1];
    const double t = along_cells(int(elem % row), xi[0], count_[0]);
    const double turn = along_cells(int(elem % layer / row), xi[1], count_[1]);
    const double up = along_cells(int(elem / layer), xi[2], count_[2]);
    const double radius = between(inner_, outer_, t);
    // From the nearer end, so that 0 is exact at both.
    const double quarter = std::acos(0.0);
    const bool upper = turn > 0.5;
    const double angle = quarter * (upper ? 1 - turn : turn);
    const double cosine = upper ? std::sin(angle) : std::cos(angle);
    const double sine = upper ? std::cos(angle) : std::sin(angle);
    const double by_radius = (outer_ - inner_) * 0.5 / count_[0];
    const double by_angle = quarter * 0.5 / count_[1];
    x[0] = radius * cosine;
    x[1] = radius * sine;
    x[2] = height_ * up;
    const double derivative[9] = {by_radius * cosine,
                                  -by_angle * radius * sine,
                                  0,
                                  by_radius * sine,
                                  by_angle * radius * cosine,
                                  0,
                                  0,
                                  0,
                                  height_ * 0.5 / count_[2]};
    for (int k = 0; k < 9; ++k)
      jacobian[k] = derivative[k];
  }

private:
  double inner_, outer_, height_;
  int count_[3];
};

} // namespace

CurvedHexaMesh make_sphere_octant(double inner, double outer, int along, int across) {
  require_radii(inner, outer);
  const double surface = 3.0 * along * along + 3.0 * along + 1;
  require_elements(3.0 * along * along * across, surface * (across + 1.0), std::min(along, across));
  CurvedHexaMesh curved;
  curved.mesh.shape = ElementShape::hexa;
  const auto map = std::make_shared<SphereMap>(inner, outer, along, across);
  curved.map = map;
  // Points of the grid on the three faces of the cube by their coordinates times `along`: first the
  // face where coordinate 0 is largest, then the rest of the next one, then that of the last.
  const int n = along;
  const auto on_surface = [n](const int(&at)[3]) {
    if (at[0] == n)
      return at[1] * (n + 1) + at[2];
    if (at[1] == n)
      return (n + 1) * (n + 1) + at[0] * (n + 1) + at[2];
    return (n + 1) * (n + 1) + n * (n + 1) + at[0] * n + at[1];
  };
  const std::int64_t num_elem = std::int64_t(3) * n * n * across;
  curved.mesh.node.reserve(8 * std::size_t(num_elem));
  for (std::int64_t elem = 0; elem < num_elem; ++elem) {
    const Cell cell = map->cell(elem);
    for (const auto& end : corner_end) {
      int at[3];
      at[cell.patch] = n;
      at[(cell.patch + 1) % 3] = cell.place[0] + end[0];
      at[(cell.patch + 2) % 3] = cell.place[1] + end[1];
      curved.mesh.node.push_back(on_surface(at) + int(surface) * (cell.place[2] + end[2]));
    }
  }
  place_points(curved, std::size_t(surface) * (std::size_t(across) + 1));
  return curved;
}

CurvedHexaMesh make_cylinder_quarter(double inner, double outer, double height, int along,
                                     int across, int up) {
  require_radii(inner, outer);
  OSSATURA_REQUIRE(std::isfinite(height) && height > 0, "a cylinder of height " << height);
  require_elements(double(along) * across * up, (along + 1.0) * (across + 1.0) * (up + 1.0),
                   std::min(along, std::min(across, up)));
  CurvedHexaMesh curved;
  curved.mesh.shape = ElementShape::hexa;
  const int count[3] = {across, along, up};
  curved.map = std::make_shared<CylinderMap>(inner, outer, height, count);
  const int row = across + 1, layer = row * (along + 1);
  for (int k = 0; k < up; ++k)
    for (int j = 0; j < along; ++j)
      for (int i = 0; i < across; ++i)
        for (const auto& end : corner_end)
          curved.mesh.node.push_back(i + end[0] + row * (j + end[1]) + layer * (k + end[2]));
  place_points(curved, std::size_t(layer) * (std::size_t(up) + 1));
  return curved;
}

void shear(ElementMesh& mesh, const double (&by)[3]) {
  for (std::size_t p = 0; p < mesh.num_points(); ++p) {
    double* x = mesh.point.data() + 3 * p;
    x[0] += by[0] * x[1] + by[1] * x[2];
    x[1] += by[2] * x[2];
  }
}

} // namespace ossatura
