// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/parts.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// Nodes with a load or an output, and nodes with a support.
struct Ends {
  std::vector<bool> loaded, supported;
};

Ends find_ends(const DesignProblem& problem, const std::vector<std::int32_t>& supported) {
  const std::size_t n = problem.num_nodes();
  Ends ends{std::vector<bool>(n), std::vector<bool>(n)};
  for (const DesignLoadCase& one : problem.cases)
    one.loads.for_nodes([&](std::int32_t node) { ends.loaded[std::size_t(node)] = true; });
  if (problem.has_body_loads())
    ends.loaded.assign(n, true); // all mass is a load
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
  const std::vector<bool> before = nodes;
  for (std::size_t e = 0; e < num_elem; ++e) {
    const NodeRange own = nodes_of(e);
    if (std::any_of(own.begin(), own.end(), [&](std::int32_t n) { return before[std::size_t(n)]; }))
      for (const std::int32_t n : own)
        nodes[std::size_t(n)] = true;
  }
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

} // namespace

LooseParts find_loose_parts(const DesignProblem& problem,
                            const std::vector<std::int32_t>& supported, const SolidParts& solid) {
  Ends ends = find_ends(problem, supported);
  const auto joins = [](const std::vector<bool>& loose) {
    return std::count(loose.begin(), loose.end(), false) > 0;
  };
  LooseParts parts{parts_without(solid, ends), false};
  parts.joined = joins(parts.loose);
  if (parts.joined)
    return parts;
  const ElementMesh own = problem.lattice ? problem.lattice->mesh() : ElementMesh{};
  const auto nodes_of = [&](std::size_t e) {
    return problem.lattice ? NodeRange{own.node.data() + 8 * e, own.node.data() + 8 * e + 8}
                           : problem.nodes_of(e);
  };
  widen(problem.num_elem(), nodes_of, ends.loaded);
  widen(problem.num_elem(), nodes_of, ends.supported);
  parts.loose = parts_without(solid, ends);
  parts.joined = joins(parts.loose);
  if (!parts.joined)
    parts.loose.assign(parts.loose.size(), false);
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
