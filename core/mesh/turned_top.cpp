// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/turned_top.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mutex>

namespace ossatura {
namespace {

using Triple = std::array<double, 3>;
using EightTriples = std::array<Triple, 8>;

double product_of(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Triple from_to(const Triple& a, const Triple& b) {
  return {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
}

Triple centre_of_face(const Triple* corner, std::size_t base) {
  Triple centre{};
  for (std::size_t k = 0; k < base; ++k)
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] += corner[k][d] / double(base);
  return centre;
}

/// The corners of a face from its centre, at right angles to `along`.
std::array<Triple, 4> seen_along(const Triple& along, const Triple* corner, std::size_t base) {
  const Triple centre = centre_of_face(corner, base);
  const double square = product_of(along, along);
  std::array<Triple, 4> seen{};
  for (std::size_t k = 0; k < base; ++k) {
    seen[k] = from_to(centre, corner[k]);
    const double part = square > 0 ? product_of(seen[k], along) / square : 0;
    for (std::size_t d = 0; d < 3; ++d)
      seen[k][d] -= part * along[d];
  }
  return seen;
}

/// The area halfway up, seen along the axis, with the top turned by so many corners.
double middle_area(const EightTriples& corner, const Triple& along, std::size_t base,
                   std::size_t by) {
  Triple middle[4];
  for (std::size_t k = 0; k < base; ++k)
    for (std::size_t d = 0; d < 3; ++d)
      middle[k][d] = (corner[k][d] + corner[base + (k + by) % base][d]) / 2;
  const Triple a = from_to(middle[0], middle[2]), b = from_to(middle[1], middle[base - 1]);
  return std::abs(along[0] * (a[1] * b[2] - a[2] * b[1]) + along[1] * (a[2] * b[0] - a[0] * b[2]) +
                  along[2] * (a[0] * b[1] - a[1] * b[0]));
}

} // namespace

int turned_top(const EightTriples& corner, int base) {
  constexpr double much = 0.25, thicker = 1.5;
  const auto n = std::size_t(base);
  const Triple along = from_to(centre_of_face(corner.data(), n), centre_of_face(&corner[n], n));
  const std::array<Triple, 4> bottom = seen_along(along, corner.data(), n),
                              top = seen_along(along, &corner[n], n);
  double as_given = 0, best = 0;
  std::size_t turned = 0;
  for (std::size_t by = 0; by < n; ++by) {
    double over = 0;
    for (std::size_t k = 0; k < n; ++k)
      over += product_of(bottom[k], top[(k + by) % n]);
    as_given = by == 0 ? over : as_given;
    if (over > best) {
      best = over;
      turned = by;
    }
  }
  const bool is_turned =
      turned > 0 && as_given < much * best &&
      middle_area(corner, along, n, turned) > thicker * middle_area(corner, along, n, 0);
  return is_turned ? int(turned) : 0;
}

std::string describe_turned_top(const std::string& noun, int base, int turned) {
  const auto name = [](int corner) { return std::to_string(corner); };
  return "the top of the " + noun + " is turned against its bottom: its node " +
         name(base + 1 + turned) + " lies over its node 1, and its node " + name(base + 1) +
         " is to do so; number the top, nodes " + name(base + 1) + " to " + name(2 * base) +
         ", from the corner over node 1 on";
}

std::string describe_turned_top(const ElementMesh& mesh) {
  if (mesh.shape != ElementShape::hexa)
    return {};
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  std::size_t first_turned = none;
  int turned = 0;
  std::mutex mutex;
  for_parts(mesh.num_elem(), 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) {
      EightTriples corner{};
      bool is_whole = true;
      for (std::size_t k = 0; k < 8; ++k) {
        const auto node = std::size_t(mesh.node[8 * e + k]); // of a negative one: too large
        is_whole = is_whole && node < mesh.num_points();
        if (is_whole)
          std::copy_n(&mesh.point[3 * node], 3, corner[k].begin());
      }
      const int by = is_whole ? turned_top(corner, 4) : 0;
      if (by == 0)
        continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (e < first_turned) {
        first_turned = e;
        turned = by;
      }
      return;
    }
  });
  return first_turned == none ? std::string()
                              : "element " + std::to_string(first_turned) + ": " +
                                    describe_turned_top("hexahedron", 4, turned);
}

} // namespace ossatura
