// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/held_loads.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {
namespace {

void add_components(std::int32_t vertex, const std::array<double, 3>& force, unsigned held,
                    HeldLoads& loads) {
  for (std::size_t c = 0; c < 3; ++c) {
    if (force[c] == 0)
      continue;
    ++loads.components;
    if ((held >> c & 1) != 0 && ++loads.lost == 1)
      loads.first_lost = vertex;
  }
}

/// The area vector of the quadrangle of corners, without what rounding leaves of a component.
std::array<double, 3> area_of(const ElementMesh& mesh, const std::array<std::int32_t, 4>& node) {
  const auto diagonal = [&](std::size_t from, std::size_t to, std::size_t c) {
    return mesh.point[3 * std::size_t(node[to]) + c] - mesh.point[3 * std::size_t(node[from]) + c];
  };
  std::array<double, 3> area{};
  double largest = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
    area[c] = (diagonal(0, 3, a) * diagonal(1, 2, b) - diagonal(0, 3, b) * diagonal(1, 2, a)) / 2;
    largest = std::max(largest, std::abs(area[c]));
  }
  for (double& x : area)
    x = std::abs(x) > 1e-6 * largest ? x : 0;
  return area;
}

} // namespace

void add_held_force(std::int32_t vertex, const std::array<double, 3>& force,
                    const std::vector<std::uint8_t>& held, HeldLoads& loads) {
  add_components(vertex, force, held[std::size_t(vertex)], loads);
}

void add_held_tractions(const CurvedHexaMesh& mesh, const std::vector<ElementFace>& faces,
                        bool is_pressure, const std::array<double, 3>& value,
                        const std::vector<std::uint8_t>& held, HeldLoads& loads) {
  for (const ElementFace& face : faces) {
    const std::array<std::int32_t, 4> node = vertices_of(mesh.mesh, face);
    unsigned mask = 7;
    for (const std::int32_t vertex : node)
      mask &= held[std::size_t(vertex)];
    if (is_pressure && value[0] == 0)
      continue;
    add_components(node[0], is_pressure ? area_of(mesh.mesh, node) : value, mask, loads);
  }
}

} // namespace ossatura
