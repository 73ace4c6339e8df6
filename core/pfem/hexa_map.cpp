// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/pfem/hexa_map.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>

#include <algorithm>

namespace ossatura {
namespace {

/// Isoparametric: products of `num` functions of one coordinate, with their derivatives, that go
/// with the points point_of(i, j, k).
template<int num, class PointOf>
void evaluate_lattice(const double (&value)[3][num], const double (&slope)[3][num],
                      const PointOf& point_of, double (&x)[3], double (&jacobian)[9]) {
  for (double& component : x)
    component = 0;
  for (double& entry : jacobian)
    entry = 0;
  for (int i = 0; i < num; ++i)
    for (int j = 0; j < num; ++j)
      for (int k = 0; k < num; ++k) {
        const double* point = point_of(i, j, k);
        const double weight = value[0][i] * value[1][j] * value[2][k];
        const double gradient[3] = {slope[0][i] * value[1][j] * value[2][k],
                                    value[0][i] * slope[1][j] * value[2][k],
                                    value[0][i] * value[1][j] * slope[2][k]};
        for (int row = 0; row < 3; ++row) {
          x[row] += weight * point[row];
          for (int column = 0; column < 3; ++column)
            jacobian[3 * row + column] += gradient[column] * point[row];
        }
      }
}

/// The number of a point of an element at ends (0, 1) and middles (2) of the three axes:
/// these belong to the vertices, edges, faces and the interior.
int lattice_point(int i, int j, int k) {
  constexpr int first[4] = {0, 8, 20, 26};
  const HexaEntity entity = hexa_entity({std::uint8_t(i), std::uint8_t(j), std::uint8_t(k)});
  return first[entity.dimension] + entity.number;
}

template<int num>
struct Lattice {
  int point[num][num][num];
  Lattice() {
    for (int i = 0; i < num; ++i)
      for (int j = 0; j < num; ++j)
        for (int k = 0; k < num; ++k)
          point[i][j][k] = lattice_point(i, j, k);
  }
};

class TrilinearMap : public HexaMap {
public:
  explicit TrilinearMap(const ElementMesh& mesh)
      : mesh_(mesh) {}

  void evaluate(std::int64_t elem, const double (&xi)[3], double (&x)[3],
                double (&jacobian)[9]) const override {
    double value[3][2], slope[3][2];
    for (int axis = 0; axis < 3; ++axis) {
      value[axis][0] = 0.5 * (1 - xi[axis]);
      value[axis][1] = 0.5 * (1 + xi[axis]);
      slope[axis][0] = -0.5;
      slope[axis][1] = 0.5;
    }
    const std::int32_t* node = mesh_.node.data() + 8 * elem;
    const auto point_of = [&](int i, int j, int k) {
      return mesh_.point.data() + 3 * std::ptrdiff_t(node[lattice_.point[i][j][k]]);
    };
    evaluate_lattice(value, slope, point_of, x, jacobian);
  }

private:
  const ElementMesh& mesh_;
  Lattice<2> lattice_;
};

class QuadraticMap : public HexaMap {
public:
  explicit QuadraticMap(std::vector<double>&& point)
      : point_(std::move(point)) {}

  void evaluate(std::int64_t elem, const double (&xi)[3], double (&x)[3],
                double (&jacobian)[9]) const override {
    double value[3][3], slope[3][3];
    for (int axis = 0; axis < 3; ++axis) {
      const double s = xi[axis];
      value[axis][0] = 0.5 * s * (s - 1);
      value[axis][1] = 0.5 * s * (s + 1);
      value[axis][2] = (1 - s) * (1 + s);
      slope[axis][0] = s - 0.5;
      slope[axis][1] = s + 0.5;
      slope[axis][2] = -2 * s;
    }
    const double* point = point_.data() + 81 * elem;
    const auto point_of = [&](int i, int j, int k) { return point + 3 * lattice_.point[i][j][k]; };
    evaluate_lattice(value, slope, point_of, x, jacobian);
  }

private:
  std::vector<double> point_;
  Lattice<3> lattice_;
};

} // namespace

void evaluate_at_grid(const HexaMap& map, const std::int32_t* elem, std::size_t count,
                      const std::vector<double>& xi, double* x, double* jacobian) {
  const std::size_t n = xi.size(), cube = n * n * n;
  constexpr std::size_t least = 16; // of elements for a thread
  for_parts(count, least, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = cube * first; i < cube * end; ++i) {
      const std::size_t q = i % cube;
      double position[3], slopes[9];
      map.evaluate(elem[i / cube], {xi[q / (n * n)], xi[q / n % n], xi[q % n]}, position, slopes);
      if (x != nullptr)
        std::copy_n(position, 3, x + 3 * i);
      std::copy_n(slopes, 9, jacobian + 9 * i);
    }
  });
}

std::shared_ptr<const HexaMap> make_trilinear_map(const ElementMesh& mesh) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa,
                   "a trilinear map of elements of shape " << name_of(mesh.shape));
  return std::make_shared<TrilinearMap>(mesh);
}

std::shared_ptr<const HexaMap> make_quadratic_map(std::vector<double> point) {
  OSSATURA_REQUIRE(point.size() % 81 == 0, point.size() << " coordinates; elements have 27 points");
  return std::make_shared<QuadraticMap>(std::move(point));
}

} // namespace ossatura
