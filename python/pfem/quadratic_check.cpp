// SPDX-License-Identifier: Apache-2.0
#include "python/pfem/quadratic_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>

namespace ossatura::python {

namespace {

constexpr std::size_t points_per_elem = 27;
constexpr double least_gap = 1e-6; ///< of an element's size: points may come in single precision

std::string text_of(const double* point) {
  std::ostringstream text;
  text << '(' << point[0] << ", " << point[1] << ", " << point[2] << ')';
  return text.str();
}

/// Of the box of an element's points.
double size_of_box(const double* points) {
  double size = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double low = points[axis], high = low;
    for (std::size_t k = 1; k < points_per_elem; ++k) {
      low = std::min(low, points[3 * k + axis]);
      high = std::max(high, points[3 * k + axis]);
    }
    size = std::max(size, high - low);
  }
  return size;
}

bool is_finite(const double* point) {
  return std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]);
}

bool is_apart(const double* a, const double* b, double size) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) > least_gap * size;
}

/// Where the edges and faces are, by the first element that has each.
class Places {
public:
  Places(const std::vector<double>& quadratic, std::int32_t count)
      : quadratic_(quadratic)
      , first_(std::size_t(count), none) {}

  /// What is wrong with point k of an element, which is in the middle of that edge or face.
  std::string describe(const char* what, std::int32_t number, std::size_t elem, std::size_t k,
                       double size) {
    const std::size_t place = points_per_elem * elem + k;
    std::size_t& first = first_[std::size_t(number)];
    if (first == none)
      first = place;
    if (!is_apart(&quadratic_[3 * first], &quadratic_[3 * place], size))
      return {};
    std::ostringstream text;
    text << "point " << k << " of element " << elem << ", in the middle of " << what << ", is at "
         << text_of(&quadratic_[3 * place]) << ", and element " << first / points_per_elem
         << " has it, its point " << first % points_per_elem << ", at "
         << text_of(&quadratic_[3 * first])
         << ": elements with a common edge or face have the same points on it";
    return text.str();
  }

private:
  static constexpr std::size_t none = ~std::size_t(0);
  const std::vector<double>& quadratic_;
  std::vector<std::size_t> first_;
};

/// What is wrong with an element's points themselves.
std::string describe_element(const ElementMesh& mesh, std::size_t elem, const double* points,
                             double size) {
  std::ostringstream text;
  for (std::size_t k = 0; k < points_per_elem; ++k)
    if (!is_finite(points + 3 * k)) {
      text << "point " << k << " of element " << elem << " is not finite";
      return text.str();
    }
  for (std::size_t k = 0; k < 8; ++k) {
    const std::int32_t node = mesh.node[8 * elem + k];
    const double* const vertex = &mesh.point[3 * std::size_t(node)];
    if (is_apart(points + 3 * k, vertex, size)) {
      text << "point " << k << " of element " << elem << " is at " << text_of(points + 3 * k)
           << ", and its vertex, node " << node << " of points, at " << text_of(vertex)
           << ": the first 8 of an element are its vertices, in the order of hexa";
      return text.str();
    }
  }
  return {};
}

} // namespace

std::string describe_quadratic_fault(const ElementMesh& mesh, const HexaEntities& entities,
                                     const std::vector<double>& quadratic) {
  Places edges(quadratic, entities.num_edges), faces(quadratic, entities.num_faces);
  for (std::size_t elem = 0; elem < mesh.num_elem(); ++elem) {
    const double* const points = &quadratic[3 * points_per_elem * elem];
    const double size = size_of_box(points);
    std::string fault = describe_element(mesh, elem, points, size);
    for (std::size_t k = 0; k < 12 && fault.empty(); ++k)
      fault = edges.describe("an edge", entities.edge[12 * elem + k], elem, 8 + k, size);
    for (std::size_t k = 0; k < 6 && fault.empty(); ++k)
      fault = faces.describe("a face", entities.face[6 * elem + k], elem, 20 + k, size);
    if (!fault.empty())
      return fault;
  }
  return {};
}

} // namespace ossatura::python
