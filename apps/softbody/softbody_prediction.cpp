// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/softbody_prediction.hpp"

#include "kernels/make_factor_pattern.hpp"
#include "kernels/node_graph.hpp"
#include "kernels/soft_elements.hpp"
#include "solvers/inverse_choice.hpp"
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

} // namespace

SoftbodyPrediction predict_softbody(const SoftbodyModel& model, bool on_device) {
  SoftbodyPrediction prediction;
  const NodeGraph graph = make_graph(model.scene);
  prediction.num_blocks = model.num_nodes() + std::int64_t(graph.column.size());
  const SoftScene& scene = model.scene;
  const bool contact = !scene.obstacles.empty() || scene.contact_between_objects;
  const FactorApply apply = model.options.apply;
  const bool inverts =
      apply == FactorApply::inverse || (apply == FactorApply::automatic && on_device);
  double inverse_bytes = 0;
  if (model.options.preconditioner == SoftPreconditioner::ldlt) {
    std::vector<int> order = nested_dissection(graph.row_begin, graph.column);
    const FactorPattern pattern = make_factor_pattern(graph.row_begin, graph.column, order);
    prediction.num_factor_entries = pattern.begin.back();
    int bands = 0;
    if (inverts) {
      const InverseLayout layout = choose_inverse(pattern, model.options, on_device, contact);
      bands = layout.num_bands();
      prediction.num_inverse_entries = layout.num_entries;
      inverse_bytes =
          bytes_of(resolve_storage(model.options, on_device)) * double(layout.num_entries);
    }
    if (contact && bands != 1) {
      const std::int64_t entries = make_inverse_layout(pattern).num_entries;
      prediction.num_inverse_entries += entries;
      inverse_bytes += 4 * double(entries);
    }
  }

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
  prediction.device_bytes = elements + blocks * (72 + 4) + nodes * 24 * 12 +
                            8 * double(prediction.num_factor_entries) + 2 * inverse_bytes;
  prediction.host_growth = nodes * 24 * 6 + blocks * 16 + (on_device ? 0 : prediction.device_bytes);
  return prediction;
}

} // namespace femura
