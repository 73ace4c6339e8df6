// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/model.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/factor/make_factor_pattern.hpp>
#include <ossatura/kernels/softbody/assembly/node_graph.hpp>
#include <ossatura/kernels/softbody/elements/lumped_mass.hpp>
#include <ossatura/solvers/factor/nested_dissection.hpp>
#include <ossatura/solvers/softbody/scene_checks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ossatura {

namespace {

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

void check_object(const SoftObject& object, const std::string& what) {
  const ElementMesh& mesh = object.mesh;
  const std::size_t num_points = mesh.num_points();
  OSSATURA_REQUIRE(mesh.num_elem() > 0, what << " has no element");
  OSSATURA_REQUIRE(is_finite(mesh.point), what << " has a point that is not finite");
  std::vector<std::uint8_t> used(num_points, 0);
  for (std::size_t k = 0; k < mesh.node.size(); ++k) {
    OSSATURA_REQUIRE(mesh.node[k] >= 0 && std::size_t(mesh.node[k]) < num_points,
                     what << ": element " << k / std::size_t(nodes_per_elem(mesh.shape))
                          << " has point " << mesh.node[k] << " of " << num_points);
    used[std::size_t(mesh.node[k])] = 1;
  }
  for (std::size_t i = 0; i < num_points; ++i)
    OSSATURA_REQUIRE(used[i], what << ": point " << i << " belongs to no element; leave it out");
  for (const std::int32_t i : object.fixed)
    OSSATURA_REQUIRE(i >= 0 && std::size_t(i) < num_points,
                     what << ": point " << i << " of " << num_points << " is to be fixed");
  const auto check_vectors = [&](const std::vector<double>& values, const char* name) {
    OSSATURA_REQUIRE(values.empty() || values.size() == 3 * num_points,
                     what << ": " << name << " has " << values.size() << " entries for "
                          << num_points << " points");
    OSSATURA_REQUIRE(is_finite(values), what << ": " << name << " is not finite somewhere");
  };
  check_vectors(object.load, "load");
  check_vectors(object.velocity, "velocity");
  OSSATURA_REQUIRE(object.factor.empty() || object.factor.size() == mesh.num_elem(),
                   what << ": " << object.factor.size() << " factors for " << mesh.num_elem()
                        << " elements");
  OSSATURA_REQUIRE(object.density >= 0 && std::isfinite(object.density) && object.node_mass >= 0 &&
                       std::isfinite(object.node_mass),
                   what << ": the mass is negative or not finite");
}

std::vector<double> mass_of(const SoftObject& object) {
  if (object.node_mass > 0)
    return std::vector<double>(object.mesh.num_points(), object.node_mass);
  const double thickness =
      object.mesh.shape == ElementShape::triangle ? object.material.thickness : 1;
  return lumped_mass(object.mesh, object.density * thickness);
}

/// Elements of an object in nodes, neighbours near each other.
void number_elements(const SoftObject& object, const std::vector<int>& node_of, ElementMesh& mesh,
                     std::vector<double>& factor) {
  const std::size_t n = std::size_t(nodes_per_elem(object.mesh.shape));
  const std::size_t num_elem = object.mesh.num_elem();
  std::vector<int> lowest(num_elem), order(num_elem);
  for (std::size_t e = 0; e < num_elem; ++e) {
    lowest[e] = std::numeric_limits<int>::max();
    for (std::size_t a = 0; a < n; ++a)
      lowest[e] = std::min(lowest[e], node_of[std::size_t(object.mesh.node[n * e + a])]);
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return lowest[a] < lowest[b]; });
  mesh.shape = object.mesh.shape;
  for (const int e : order) {
    for (std::size_t a = 0; a < n; ++a)
      mesh.node.push_back(node_of[std::size_t(object.mesh.node[n * std::size_t(e) + a])]);
    if (!object.factor.empty())
      factor.push_back(object.factor[std::size_t(e)]);
  }
}

} // namespace

SoftNumbering number_scene(const SoftScene& scene) {
  OSSATURA_REQUIRE(!scene.objects.empty(), "a scene without an object");
  SoftNumbering numbering;
  std::vector<ElementGroup> groups;
  std::vector<std::uint8_t> fixed_point;
  std::size_t num_points = 0;
  for (const SoftObject& object : scene.objects) {
    const std::string what = "object '" + object.name + "'";
    check_object(object, what);
    OSSATURA_REQUIRE(
        why_loose(object) == LooseObject::no,
        what << " has no mass, and nothing holds it: give a density, or fix three points "
                "of it that are not on a line (a cloth needs mass)");
    ElementGroup group{object.mesh.shape, {}};
    for (const std::int32_t i : object.mesh.node)
      group.node.push_back(int(num_points) + i);
    groups.push_back(std::move(group));
    fixed_point.resize(num_points + object.mesh.num_points(), 0);
    for (const std::int32_t i : object.fixed)
      fixed_point[num_points + std::size_t(i)] = 1;
    num_points += object.mesh.num_points();
    OSSATURA_REQUIRE(num_points < std::size_t(std::numeric_limits<int>::max()) / 9,
                     num_points << " points: more than 32 bits count");
  }
  const int n = numbering.num_nodes = int(num_points);
  const HostGraph<int> graph = make_node_graph(n, groups, fixed_point);
  std::vector<int> order = nested_dissection(graph.row_begin, graph.column);
  numbering.pattern = make_factor_pattern(graph.row_begin, graph.column, order);
  numbering.node_of_point.resize(num_points);
  for (int k = 0; k < n; ++k)
    numbering.node_of_point[std::size_t(order[k])] = k;

  numbering.fixed.resize(num_points);
  numbering.mass.resize(num_points);
  for (std::vector<double>* values : {&numbering.point, &numbering.velocity, &numbering.load})
    values->assign(3 * num_points, 0.0);
  std::size_t first = 0;
  for (const SoftObject& object : scene.objects) {
    const std::vector<double> mass = mass_of(object);
    std::vector<int> node_of(object.mesh.num_points());
    for (std::size_t i = 0; i < node_of.size(); ++i) {
      const std::size_t node = std::size_t(numbering.node_of_point[first + i]);
      node_of[i] = int(node);
      numbering.fixed[node] = fixed_point[first + i];
      numbering.mass[node] = mass[i];
      for (std::size_t c = 0; c < 3; ++c) {
        numbering.point[3 * node + c] = object.mesh.point[3 * i + c];
        if (fixed_point[first + i])
          continue;
        numbering.load[3 * node + c] =
            mass[i] * scene.gravity[c] + (object.load.empty() ? 0 : object.load[3 * i + c]);
        if (!object.velocity.empty())
          numbering.velocity[3 * node + c] = object.velocity[3 * i + c];
      }
    }
    ElementMesh mesh;
    std::vector<double> factor;
    number_elements(object, node_of, mesh, factor);
    numbering.mesh.push_back(std::move(mesh));
    numbering.factor.push_back(std::move(factor));
    numbering.node_of.push_back(std::move(node_of));
    first += object.mesh.num_points();
  }
  for (ElementMesh& mesh : numbering.mesh)
    mesh.point = numbering.point;
  return numbering;
}

} // namespace ossatura
