// SPDX-License-Identifier: BSD-3-Clause
#include "apps/softbody/softbody_prediction.hpp"

#include "kernels/inverse_factor.hpp"
#include "kernels/make_factor_pattern.hpp"
#include "kernels/node_graph.hpp"
#include "kernels/soft_elements.hpp"
#include "solvers/nested_dissection.hpp"

namespace femura {

namespace {

/// As the solver has it, but for the numbers of the nodes.
NodeGraph make_graph(const SoftScene& scene) {
  std::vector<ElementGroup> groups;
  std::vector<std::uint8_t> fixed;
  for (const SoftObject& object : scene.objects) {
    const std::size_t first = fixed.size();
    ElementGroup group{object.mesh.shape, {}};
    for (const std::int32_t node : object.mesh.node)
      group.node.push_back(int(first) + node);
    groups.push_back(std::move(group));
    fixed.resize(first + object.mesh.num_points(), 0);
    for (const std::int32_t node : object.fixed)
      fixed[first + std::size_t(node)] = 1;
  }
  return make_node_graph(int(fixed.size()), groups, fixed);
}

double bytes_per_entry(const SoftOptions& options, bool on_device) {
  switch (options.storage) {
  case FactorStorage::automatic:
    return on_device && options.refresh != FactorRefresh::sync ? 2 : 4;
  case FactorStorage::fp64:
    return 8;
  case FactorStorage::fp32:
    return 4;
  case FactorStorage::fp16:
    break;
  }
  return 2;
}

} // namespace

SoftbodyPrediction predict_softbody(const SoftbodyModel& model, bool on_device) {
  SoftbodyPrediction prediction;
  const NodeGraph graph = make_graph(model.scene);
  prediction.num_blocks = model.num_nodes() + std::int64_t(graph.column.size());
  const bool factors = model.options.preconditioner == SoftPreconditioner::ldlt;
  if (factors) {
    std::vector<int> order = nested_dissection(graph.row_begin, graph.column);
    const FactorPattern pattern = make_factor_pattern(graph.row_begin, graph.column, order);
    prediction.num_factor_entries = pattern.begin.back();
    prediction.num_inverse_entries = make_inverse_layout(pattern).begin.back();
  }
  const SoftScene& scene = model.scene;
  const bool contact = !scene.obstacles.empty() || scene.contact_between_objects;
  const FactorApply apply = model.options.apply;
  const bool inverts = factors && (contact || apply == FactorApply::inverse ||
                                   (apply == FactorApply::automatic && on_device));
  if (!inverts)
    prediction.num_inverse_entries = 0;

  // Element matrices and forces, what elements keep of their rest shape, and the map of their sums.
  double elements = 0;
  for (const SoftObject& object : scene.objects) {
    const int n = nodes_per_elem(object.mesh.shape), pairs = pairs_per_elem(object.mesh.shape);
    const double rest = 8 * detail::rest_numbers(object.mesh.shape);
    elements += double(object.mesh.num_elem()) * (pairs * (72.0 + 8) + n * (24.0 + 4 + 4) + rest);
  }
  // The blocks and their columns, a dozen vectors, the factor; its inverse twice: one in use, one
  // being made.
  const double nodes = double(model.num_nodes()), blocks = double(prediction.num_blocks);
  prediction.device_bytes =
      elements + blocks * (72 + 4) + nodes * 24 * 12 + 8 * double(prediction.num_factor_entries) +
      2 * bytes_per_entry(model.options, on_device) * double(prediction.num_inverse_entries);
  prediction.host_bytes = nodes * 24 * 6 + double(model.num_elem()) * 32 + blocks * 16 +
                          (on_device ? 0 : prediction.device_bytes);
  return prediction;
}

} // namespace femura
