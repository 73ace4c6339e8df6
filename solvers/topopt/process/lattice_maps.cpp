// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/process/lattice_maps.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

constexpr double slack = 1e-3; ///< of places, in voxels

/// The whole number that a place by the lattice is.
int whole(double place, const char* what, char axis, double in_m, double edge) {
  const double nearest = std::round(place);
  if (!(std::fabs(place - nearest) <= slack) || !(std::fabs(nearest) < 1e6))
    fail<std::invalid_argument>(what, " at ", axis, " = ", in_m,
                                " m does not fit the cubes, whose edges are ", edge,
                                " m: take a place between two layers of cubes");
  return int(nearest);
}

/// `first`, then `second`.
LatticeMap compose(const LatticeMap& first, const LatticeMap& second) {
  LatticeMap result;
  for (int d = 0; d < 3; ++d) {
    const int k = second.axis[d];
    result.axis[d] = first.axis[k];
    result.sign[d] = second.sign[d] * first.sign[k];
    result.offset[d] = second.sign[d] * first.offset[k] + second.offset[d];
  }
  return result;
}

bool are_equal(const LatticeMap& a, const LatticeMap& b) {
  for (int d = 0; d < 3; ++d)
    if (a.axis[d] != b.axis[d] || a.sign[d] != b.sign[d] || a.offset[d] != b.offset[d])
      return false;
  return true;
}

LatticeMap turn(const DesignProcess::Rotation& rotation, const std::array<double, 3>& origin,
                double edge) {
  if (rotation.sectors != 2 && rotation.sectors != 4)
    fail<std::invalid_argument>(rotation.sectors, " sectors map no cubes to cubes: 2 or 4 on "
                                                  "voxels, or the grid mesh");
  const int u = (rotation.axis + 1) % 3, v = (rotation.axis + 2) % 3;
  const auto place = [&](int axis) {
    return (rotation.point[std::size_t(axis)] - origin[std::size_t(axis)]) / edge;
  };
  const auto sum = [&](double value, int axis) {
    return whole(value, "the axis of the sectors", "xyz"[axis], rotation.point[std::size_t(axis)],
                 edge);
  };
  LatticeMap map;
  if (rotation.sectors == 2) {
    map.sign[u] = map.sign[v] = -1;
    map.offset[u] = sum(2 * place(u), u) - 1;
    map.offset[v] = sum(2 * place(v), v) - 1;
  } else {
    map.axis[u] = v;
    map.axis[v] = u;
    map.sign[u] = -1;
    map.offset[u] = sum(place(u) + place(v), u) - 1;
    map.offset[v] = sum(place(v) - place(u), v);
  }
  return map;
}

} // namespace

std::vector<LatticeMap> lattice_maps(const DesignProcess& process,
                                     const std::array<double, 3>& origin, double edge) {
  std::vector<LatticeMap> generators;
  for (const DesignProcess::Plane& plane : process.symmetry) {
    LatticeMap map;
    map.sign[plane.axis] = -1;
    map.offset[plane.axis] = whole(2 * (plane.place - origin[std::size_t(plane.axis)]) / edge,
                                   "a plane of symmetry", "xyz"[plane.axis], plane.place, edge) -
                             1;
    generators.push_back(map);
  }
  if (process.rotation)
    generators.push_back(turn(*process.rotation, origin, edge));
  std::vector<LatticeMap> maps{LatticeMap()};
  for (std::size_t k = 0; k < maps.size(); ++k)
    for (const LatticeMap& generator : generators) {
      const LatticeMap next = compose(maps[k], generator);
      const auto is_next = [&](const LatticeMap& map) { return are_equal(map, next); };
      if (std::any_of(maps.begin(), maps.end(), is_next))
        continue;
      if (int(maps.size()) == max_lattice_maps)
        fail<std::invalid_argument>("planes of symmetry and sectors make more than ",
                                    max_lattice_maps,
                                    " images of an element: take one plane across an axis, and "
                                    "planes that contain the axis of the sectors");
      maps.push_back(next);
    }
  return maps;
}

int parting_place(const DesignProcess::Draw& draw, const std::array<double, 3>& origin,
                  double edge) {
  const int axis = draw.direction.axis;
  return whole((*draw.parting - origin[std::size_t(axis)]) / edge, "the parting plane", "xyz"[axis],
               *draw.parting, edge);
}

} // namespace ossatura
