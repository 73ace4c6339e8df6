// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/parts.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace ossatura {

namespace {

/// Nodes with a load or an output, and nodes with a support.
struct Ends {
  std::vector<bool> loaded, supported;
};

/// `with_own`: all nodes are loaded where the design itself is a load, by its mass or as it is
/// warm.
Ends find_ends(const DesignProblem& problem, const std::vector<std::int32_t>& supported,
               bool with_own) {
  const std::size_t n = problem.num_nodes();
  Ends ends{std::vector<bool>(n), std::vector<bool>(n)};
  for (const DesignLoadCase& one : problem.cases)
    one.loads.for_nodes([&](std::int32_t node) { ends.loaded[std::size_t(node)] = true; });
  if (with_own && problem.has_loads_of_design())
    ends.loaded.assign(n, true);
  for (const NodeForce& force : problem.output)
    ends.loaded[std::size_t(force.node)] = true;
  for (const std::int32_t node : supported)
    ends.supported[std::size_t(node)] = true;
  if (supported.empty()) // mirrors and springs alone hold the body
    for (const HeldComponents& held : problem.held)
      ends.supported[std::size_t(held.node)] = true;
  if (problem.held.empty())
    for (const NodeSpring& spring : problem.springs)
      ends.supported[std::size_t(spring.node)] = true;
  return ends;
}

/// The same, and all nodes of their elements.
template<class NodesOf>
void widen(std::size_t num_elem, const NodesOf& nodes_of, std::vector<bool>& nodes) {
  std::vector<std::int32_t> more;
  std::mutex mutex;
  for_parts(num_elem, 1 << 16, [&](std::size_t first, std::size_t end) {
    std::vector<std::int32_t> own;
    for (std::size_t e = first; e < end; ++e) {
      const NodeRange range = nodes_of(e);
      if (std::any_of(range.begin(), range.end(),
                      [&](std::int32_t n) { return nodes[std::size_t(n)]; }))
        for (const std::int32_t n : range)
          if (!nodes[std::size_t(n)])
            own.push_back(n);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    more.insert(more.end(), own.begin(), own.end());
  });
  for (const std::int32_t n : more)
    nodes[std::size_t(n)] = true;
}

std::vector<bool> parts_without(const SolidParts& solid, const Ends& ends) {
  const auto num_parts = std::size_t(solid.num_parts);
  std::vector<bool> loaded(num_parts), supported(num_parts), loose(num_parts);
  for (std::size_t n = 0; n < solid.part_of_node.size(); ++n)
    if (const std::int32_t part = solid.part_of_node[n]; part >= 0) {
      if (ends.loaded[n])
        loaded[std::size_t(part)] = true;
      if (ends.supported[n])
        supported[std::size_t(part)] = true;
    }
  for (std::size_t part = 0; part < num_parts; ++part)
    loose[part] = !loaded[part] || !supported[part];
  return loose;
}

/// Whether each load case has loads of its own beside those that the design itself is.
bool has_applied_loads(const DesignProblem& problem) {
  return std::all_of(problem.cases.begin(), problem.cases.end(), [](const DesignLoadCase& one) {
    return !one.loads.forces.empty() || !one.loads.displacements.empty();
  });
}

double size_of(const NodeForce& one) {
  return std::hypot(one.force[0], one.force[1], one.force[2]);
}

/// The shares of loads, and of the output, on nodes that are not reached.
std::vector<double> shares_beside(const DesignProblem& problem, const std::vector<bool>& reached) {
  std::vector<double> shares;
  double all = 0, beside = 0;
  const auto add = [&](std::int32_t node, double size) {
    all += size;
    beside += reached[std::size_t(node)] ? 0 : size;
  };
  const auto finish = [&] {
    shares.push_back(all > 0 ? beside / all : 0);
    all = beside = 0;
  };
  for (const DesignLoadCase& one : problem.cases) {
    for (const NodeForce& force : one.loads.forces)
      add(force.node, size_of(force));
    if (all == 0)
      for (const NodeDisplacement& moved : one.loads.displacements)
        add(moved.node, 1);
    finish();
  }
  if (problem.output.empty())
    return shares;
  for (const NodeForce& direction : problem.output)
    add(direction.node, size_of(direction));
  finish();
  return shares;
}

/// As shares_beside, an element beyond the parts that are not loose counted as reached.
/// widen(nodes) adds all nodes of the elements that have one.
template<class Widen>
std::vector<double> shares_not_reached(const DesignProblem& problem, const SolidParts& solid,
                                       const std::vector<bool>& loose, const Widen& widen) {
  std::vector<bool> reached(solid.part_of_node.size());
  for (std::size_t n = 0; n < reached.size(); ++n)
    reached[n] = solid.part_of_node[n] >= 0 && !loose[std::size_t(solid.part_of_node[n])];
  std::vector<double> shares = shares_beside(problem, reached);
  if (std::count(shares.begin(), shares.end(), 0.0) == std::ptrdiff_t(shares.size()))
    return shares;
  widen(reached);
  return shares_beside(problem, reached);
}

} // namespace

LooseParts find_loose_parts(const DesignProblem& problem,
                            const std::vector<std::int32_t>& supported, const SolidParts& solid) {
  Ends ends = find_ends(problem, supported, true);
  const auto joins = [](const std::vector<bool>& loose) {
    return std::count(loose.begin(), loose.end(), false) > 0;
  };
  LooseParts parts;
  ElementMesh own; // of a lattice, where it is needed
  const auto widen_by_element = [&](std::vector<bool>& nodes) {
    if (problem.lattice && own.node.empty())
      own = problem.lattice->mesh();
    widen(
        problem.num_elem(),
        [&](std::size_t e) {
          return problem.lattice ? NodeRange{own.node.data() + 8 * e, own.node.data() + 8 * e + 8}
                                 : problem.nodes_of(e);
        },
        nodes);
  };
  const auto join_by = [&](Ends& by, std::vector<bool>& loose) {
    loose = parts_without(solid, by);
    if (joins(loose))
      return true;
    widen_by_element(by.loaded);
    widen_by_element(by.supported);
    loose = parts_without(solid, by);
    return joins(loose);
  };
  parts.joined = join_by(ends, parts.loose);
  // A stub at a support carries its own weight, and not what the design is for.
  if (parts.joined && problem.has_loads_of_design() && has_applied_loads(problem)) {
    Ends applied = find_ends(problem, supported, false);
    std::vector<bool> loose;
    parts.joined = join_by(applied, loose);
  }
  if (!parts.joined)
    parts.loose.assign(parts.loose.size(), false);
  parts.beside = shares_not_reached(problem, solid, parts.loose, widen_by_element);
  return parts;
}

std::vector<double> part_volumes(const SolidParts& solid) {
  std::vector<double> volume(std::size_t(solid.num_parts));
  const auto corner = [&](std::size_t triangle, std::size_t k) {
    auto x = solid.surface.vertex[std::size_t(solid.surface.triangle[triangle][k])];
    for (std::size_t axis = 0; axis < 3; ++axis) // far from the origin digits would cancel
      x[axis] -= solid.surface.vertex[0][axis];
    return x;
  };
  for (std::size_t t = 0; t < solid.surface.triangle.size(); ++t) {
    const auto a = corner(t, 0), b = corner(t, 1), c = corner(t, 2);
    volume[std::size_t(solid.part_of_triangle[t])] +=
        (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
         a[2] * (b[0] * c[1] - b[1] * c[0])) /
        6;
  }
  return volume;
}

TriangleSurface without_parts(const SolidParts& solid, const std::vector<bool>& loose) {
  TriangleSurface rest;
  std::vector<int> number(solid.surface.vertex.size(), -1);
  for (std::size_t t = 0; t < solid.surface.triangle.size(); ++t) {
    if (loose[std::size_t(solid.part_of_triangle[t])])
      continue;
    std::array<int, 3> triangle = solid.surface.triangle[t];
    for (int& corner : triangle) {
      int& own = number[std::size_t(corner)];
      if (own < 0) {
        own = int(rest.vertex.size());
        rest.vertex.push_back(solid.surface.vertex[std::size_t(corner)]);
      }
      corner = own;
    }
    rest.triangle.push_back(triangle);
  }
  return rest;
}

} // namespace ossatura
