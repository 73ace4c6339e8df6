// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/part/kept_layers.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <unordered_map>

namespace ossatura {

namespace {

using Point = std::array<double, 3>;

double square_distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
  return sum;
}

/// Calls near(e) for elements of a lattice, by the planes around each node.
template<class Near>
void find_in_cells(const LatticeBody& body, const std::vector<std::int32_t>& nodes, double distance,
                   const Near& near) {
  std::array<std::vector<double>, 3> centre;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<double>& plane = body.plane(int(axis));
    for (std::size_t i = 0; i + 1 < plane.size(); ++i)
      centre[axis].push_back(0.5 * (plane[i] + plane[i + 1]));
  }
  for (const std::int32_t node : nodes) {
    const Point x = body.point(body.node().place(node));
    std::array<int, 3> first, end;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::vector<double>& along = centre[axis];
      first[axis] =
          int(std::lower_bound(along.begin(), along.end(), x[axis] - distance) - along.begin());
      end[axis] =
          int(std::upper_bound(along.begin(), along.end(), x[axis] + distance) - along.begin());
    }
    LatticeBody::Place cell;
    for (cell[2] = first[2]; cell[2] < end[2]; ++cell[2])
      for (cell[1] = first[1]; cell[1] < end[1]; ++cell[1])
        for (cell[0] = first[0]; cell[0] < end[0]; ++cell[0]) {
          const Point at{centre[0][std::size_t(cell[0])], centre[1][std::size_t(cell[1])],
                         centre[2][std::size_t(cell[2])]};
          if (square_distance(at, x) <= distance * distance && body.elem().has(cell))
            near(body.elem().number(cell));
        }
  }
}

/// Calls near(e) for elements of a mesh, by cells of the distance that have the nodes.
template<class Near>
void find_in_elements(const DesignProblem& problem, const std::vector<std::int32_t>& nodes,
                      double distance, const Near& near) {
  const Box box = problem.bounds();
  double width = distance; // at most a million cells along an axis
  for (std::size_t axis = 0; axis < 3; ++axis)
    width = std::max(width, 1e-6 * (box[axis + 3] - box[axis]));
  const auto cell_of = [&](const Point& x) {
    std::array<std::int64_t, 3> cell;
    for (std::size_t axis = 0; axis < 3; ++axis)
      cell[axis] = std::int64_t(std::floor((x[axis] - box[axis]) / width)) + 1;
    return cell;
  };
  const auto key_of = [](const std::array<std::int64_t, 3>& cell) {
    return cell[0] + (cell[1] << 21) + (cell[2] << 42);
  };
  const auto point = [&problem](std::int32_t node) { return problem.point(node); };
  std::unordered_map<std::int64_t, std::vector<std::int32_t>> cells;
  for (const std::int32_t node : nodes)
    cells[key_of(cell_of(point(node)))].push_back(node);
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    const Point centre = problem.centre_of(e);
    const auto own = cell_of(centre);
    bool is_near = false;
    for (std::int64_t k = 0; k < 27 && !is_near; ++k) {
      const auto found =
          cells.find(key_of({own[0] + k % 3 - 1, own[1] + k / 3 % 3 - 1, own[2] + k / 9 - 1}));
      is_near = found != cells.end() &&
                std::any_of(found->second.begin(), found->second.end(), [&](std::int32_t node) {
                  return square_distance(point(node), centre) <= distance * distance;
                });
    }
    if (is_near)
      near(std::int32_t(e));
  }
}

} // namespace

std::vector<std::int32_t> elements_near(const DesignProblem& problem,
                                        const std::vector<std::int32_t>& nodes, double distance) {
  OSSATURA_REQUIRE(distance > 0 && std::isfinite(distance), "a distance of " << distance << " m");
  const double reach = distance * (1 + 1e-9);
  std::vector<bool> is_near(problem.num_elem());
  const auto near = [&](std::int32_t e) { is_near[std::size_t(e)] = true; };
  if (problem.lattice)
    find_in_cells(*problem.lattice, nodes, reach, near);
  else
    find_in_elements(problem, nodes, reach, near);
  std::vector<std::int32_t> found;
  for (std::size_t e = 0; e < is_near.size(); ++e)
    if (is_near[e])
      found.push_back(std::int32_t(e));
  return found;
}

std::vector<std::int32_t> ends_of(const DesignProblem& problem,
                                  const std::vector<std::int32_t>& supported) {
  std::vector<std::int32_t> ends = supported;
  if (supported.empty())
    for (const HeldComponents& held : problem.held)
      ends.push_back(held.node);
  for (const DesignLoadCase& one : problem.cases)
    one.loads.for_nodes([&](std::int32_t node) { ends.push_back(node); });
  for (const NodeForce& force : problem.output)
    ends.push_back(force.node);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

} // namespace ossatura
