// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/hexa/changes.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/element_check.hpp>
#include <ossatura/core/mesh/element_surface.hpp>
#include <ossatura/core/parallel/random_shift.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace ossatura {
namespace {

/// Edges by their local nodes.
constexpr int edge_nodes[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                   {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};

/// The length of the shortest edge at each point; 0 on the boundary.
std::vector<double> free_lengths(const ElementMesh& mesh) {
  std::vector<double> shortest(mesh.num_points(), std::numeric_limits<double>::infinity());
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (const auto& edge : edge_nodes) {
      const auto a = std::size_t(mesh.node[8 * e + std::size_t(edge[0])]);
      const auto b = std::size_t(mesh.node[8 * e + std::size_t(edge[1])]);
      const double length = std::hypot(mesh.point[3 * a] - mesh.point[3 * b],
                                       mesh.point[3 * a + 1] - mesh.point[3 * b + 1],
                                       mesh.point[3 * a + 2] - mesh.point[3 * b + 2]);
      shortest[a] = std::min(shortest[a], length);
      shortest[b] = std::min(shortest[b], length);
    }
  for (const std::int32_t n : boundary_triangles(mesh))
    shortest[std::size_t(n)] = 0;
  for (double& length : shortest) // points of no element
    length = std::isinf(length) ? 0 : length;
  return shortest;
}

bool is_folded(ElementMesh& mesh, std::size_t elem) {
  const std::int32_t first = mesh.node[8 * elem];
  if (!turn_element(mesh, elem).empty())
    return true;
  if (mesh.node[8 * elem] == first)
    return false;
  std::swap_ranges(&mesh.node[8 * elem], &mesh.node[8 * elem] + 4, &mesh.node[8 * elem] + 4);
  return true;
}

/// The nodes of a hexahedron as each rotation of the cube exchanges them.
std::array<std::array<int, 8>, 24> make_rotations() {
  // Corners by their bits (1: x, 2: y, 4: z).
  constexpr int bits_of[8] = {0, 1, 3, 2, 4, 5, 7, 6}; // its own inverse
  std::array<std::array<int, 8>, 24> rotations{};
  std::size_t count = 0;
  int axis[3] = {0, 1, 2};
  do {
    const int inversions = int(axis[0] > axis[1]) + int(axis[0] > axis[2]) + int(axis[1] > axis[2]);
    for (int flips = 0; flips < 8; ++flips) {
      const bool mirrors = ((flips ^ flips >> 1 ^ flips >> 2) & 1) != 0;
      if ((inversions % 2 != 0) != mirrors)
        continue;
      for (std::size_t k = 0; k < 8; ++k) {
        int to = flips;
        for (int i = 0; i < 3; ++i)
          to ^= (bits_of[k] >> i & 1) << axis[i];
        rotations[count][k] = bits_of[to];
      }
      ++count;
    }
  } while (std::next_permutation(axis, axis + 3));
  return rotations;
}

/// 0, 1, ..., count - 1 in an order that is the same with every standard library.
std::vector<std::int32_t> shuffled(std::size_t count, std::mt19937_64& random) {
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  return order;
}

void require_hexa(const ElementMesh& mesh) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa,
                   "elements of shape " << name_of(mesh.shape) << ", not hexahedra");
}

} // namespace

void distort(ElementMesh& mesh, double amount, std::uint64_t seed) {
  require_hexa(mesh);
  OSSATURA_REQUIRE(amount >= 0 && amount <= 0.5, "distortion by " << amount << " of an edge");
  const std::vector<double> before = mesh.point;
  const std::vector<double> length = free_lengths(mesh);
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    const std::array<double, 3> shift = detail::random_shift(seed, n, amount * length[n]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      mesh.point[3 * n + axis] += shift[axis];
  }
  constexpr std::size_t least = 1024;
  std::atomic<bool> all_good = true; // as a rule: by all threads
  for_parts(mesh.num_elem(), least, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end && all_good; ++e)
      if (is_folded(mesh, e))
        all_good = false;
  });
  while (!all_good) {
    all_good = true;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      if (!is_folded(mesh, e))
        continue;
      bool moved = false;
      for (std::size_t k = 0; k < 8; ++k)
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const std::size_t i = 3 * std::size_t(mesh.node[8 * e + k]) + axis;
          moved = moved || mesh.point[i] != before[i];
          mesh.point[i] = before[i];
        }
      OSSATURA_REQUIRE(moved, "element " << e << " was folded before it was distorted");
      all_good = false;
    }
  }
}

Renumbering renumber(ElementMesh& mesh, std::uint64_t seed) {
  require_hexa(mesh);
  static const std::array<std::array<int, 8>, 24> rotations = make_rotations();
  std::mt19937_64 random(seed);
  const Renumbering result{shuffled(mesh.num_points(), random), shuffled(mesh.num_elem(), random)};
  ElementMesh renumbered = mesh;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    for (std::size_t axis = 0; axis < 3; ++axis)
      renumbered.point[3 * std::size_t(result.point[n]) + axis] = mesh.point[3 * n + axis];
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const std::array<int, 8>& rotation = rotations[random() % 24];
    for (std::size_t k = 0; k < 8; ++k)
      renumbered.node[8 * std::size_t(result.elem[e]) + k] =
          result.point[std::size_t(mesh.node[8 * e + std::size_t(rotation[k])])];
  }
  mesh = std::move(renumbered);
  return result;
}

Renumbering renumber(HexaModel& model, std::uint64_t seed) {
  Renumbering result = renumber(model.mesh, seed);
  const auto renumber_sets = [](auto& sets, const std::vector<std::int32_t>& number) {
    for (auto& entry : sets) {
      for (std::int32_t& member : entry.second)
        member = number[std::size_t(member)];
      std::sort(entry.second.begin(), entry.second.end());
    }
  };
  const auto renumber_nodes = [&](auto& list) {
    for (auto& entry : list)
      entry.node = result.point[std::size_t(entry.node)];
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.node < b.node; });
  };
  renumber_sets(model.node_sets, result.point);
  renumber_sets(model.elem_sets, result.elem);
  const auto renumber_parts = [&](auto& sets) {
    for (auto& entry : sets) {
      for (auto& part : entry.second) {
        for (std::int32_t& corner : part)
          corner = result.point[std::size_t(corner)];
        std::sort(part.begin(), part.end());
      }
      std::sort(entry.second.begin(), entry.second.end());
    }
  };
  renumber_parts(model.face_sets);
  renumber_parts(model.edge_sets);
  renumber_nodes(model.held);
  for (HeldPart& part : model.held_parts) {
    for (std::int32_t& node : part.nodes)
      node = result.point[std::size_t(node)];
    std::sort(part.nodes.begin(), part.nodes.end());
  }
  for (NodeLoads& loads : model.loads) {
    renumber_nodes(loads.forces);
    renumber_nodes(loads.displacements);
    const std::vector<double> warming = loads.warming;
    for (std::size_t n = 0; n < warming.size(); ++n)
      loads.warming[std::size_t(result.point[n])] = warming[n];
  }
  const std::vector<std::uint8_t> material = model.material;
  for (std::size_t e = 0; e < material.size(); ++e)
    model.material[std::size_t(result.elem[e])] = material[e];
  return result;
}

} // namespace ossatura
