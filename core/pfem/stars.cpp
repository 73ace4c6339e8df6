// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/pfem/stars.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// Where a vertex of the reference hexahedron is, 0 or 1 along each axis.
int end_of(int vertex, int axis) {
  const int around = vertex & 3;
  return axis == 2 ? vertex >> 2 : axis == 1 ? around >> 1 : (around == 1 || around == 2 ? 1 : 0);
}

bool touches(const HierarchicMode& mode, int vertex) {
  for (int axis = 0; axis < 3; ++axis)
    if (mode.index[axis] < 2 && mode.index[axis] != end_of(vertex, axis))
      return false;
  return true;
}

/// Elements around each vertex: 8 elem + vertex, ascending.
void find_corners(const ElementMesh& mesh, std::vector<std::int64_t>& begin,
                  std::vector<std::uint32_t>& corner) {
  begin.assign(mesh.num_points() + 1, 0);
  for (const std::int32_t node : mesh.node)
    ++begin[std::size_t(node) + 1];
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    begin[n + 1] += begin[n];
  corner.resize(mesh.node.size());
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t slot = 0; slot < mesh.node.size(); ++slot)
    corner[std::size_t(next[std::size_t(mesh.node[slot])]++)] = std::uint32_t(slot);
}

} // namespace

CornerModes corner_modes(HexaSpace space, int order) {
  const std::vector<HierarchicMode> modes = hierarchic_modes(space, order);
  CornerModes corners;
  corners.begin.push_back(0);
  for (int vertex = 0; vertex < 8; ++vertex) {
    for (std::size_t a = 0; a < modes.size(); ++a)
      if (touches(modes[a], vertex))
        corners.mode.push_back(std::int32_t(a));
    corners.begin.push_back(std::int32_t(corners.mode.size()));
  }
  return corners;
}

HierarchicStars make_hierarchic_stars(const ElementMesh& mesh, const HierarchicNumbering& numbering,
                                      const std::vector<std::uint8_t>& held) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa && numbering.order.size() == mesh.num_elem() &&
                       mesh.num_elem() < std::size_t(1) << 28,
                   "a numbering of " << numbering.order.size() << " elements for a mesh of "
                                     << mesh.num_elem() << ' ' << name_of(mesh.shape) << 's');
  OSSATURA_REQUIRE(held.size() == std::size_t(numbering.num_modes),
                   held.size() << " masks for " << numbering.num_modes << " modes");
  std::vector<std::int64_t> around_begin;
  std::vector<std::uint32_t> around;
  find_corners(mesh, around_begin, around);
  CornerModes of_order[max_hexa_order + 1];
  for (const std::uint8_t order : numbering.order)
    if (of_order[order].begin.empty())
      of_order[order] = corner_modes(numbering.space, order);

  HierarchicStars stars;
  stars.mode_begin.push_back(0);
  stars.corner_begin.push_back(0);
  stars.place_begin.push_back(0);
  auto place_of = std::vector<std::int32_t>(std::size_t(numbering.num_modes), -1);
  std::vector<std::int32_t> modes;
  for (std::size_t vertex = 0; vertex < mesh.num_points(); ++vertex) {
    modes.clear();
    const std::int64_t begin = around_begin[vertex], end = around_begin[vertex + 1];
    const auto visit_corner = [&](std::int64_t k, const auto& visit) {
      const std::uint32_t slot = around[std::size_t(k)];
      const CornerModes& local = of_order[numbering.order[slot / 8]];
      const std::int32_t* const signed_mode =
          &numbering.signed_mode[std::size_t(numbering.begin[slot / 8])];
      for (std::int32_t l = local.begin[slot % 8]; l < local.begin[slot % 8 + 1]; ++l)
        visit(signed_mode[local.mode[std::size_t(l)]]);
    };
    for (std::int64_t k = begin; k < end; ++k)
      visit_corner(k, [&](std::int32_t signed_mode) {
        const std::int32_t mode = signed_mode >> 1;
        if (signed_mode == SignedMode::none || held[std::size_t(mode)] == 7 ||
            place_of[std::size_t(mode)] >= 0)
          return;
        place_of[std::size_t(mode)] = 0;
        modes.push_back(mode);
      });
    std::sort(modes.begin(), modes.end());
    for (std::size_t k = 0; k < modes.size(); ++k)
      place_of[std::size_t(modes[k])] = std::int32_t(k);
    const bool has_others = !modes.empty() && modes.back() != std::int32_t(vertex);
    if (has_others) {
      for (std::int64_t k = begin; k < end; ++k) {
        visit_corner(k, [&](std::int32_t signed_mode) {
          const std::int32_t place =
              signed_mode == SignedMode::none ? -1 : place_of[std::size_t(signed_mode >> 1)];
          stars.place.push_back(place < 0 ? -1 : 2 * place + (signed_mode & 1));
        });
        stars.corner.push_back(around[std::size_t(k)]);
        stars.place_begin.push_back(std::int64_t(stars.place.size()));
      }
      stars.mode.insert(stars.mode.end(), modes.begin(), modes.end());
      stars.mode_begin.push_back(std::int64_t(stars.mode.size()));
      stars.corner_begin.push_back(std::int64_t(stars.corner.size()));
    }
    for (const std::int32_t mode : modes)
      place_of[std::size_t(mode)] = -1;
  }
  return stars;
}

} // namespace ossatura
