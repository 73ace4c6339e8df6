// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/prediction.hpp"

#include <ossatura/core/mesh/element_surface.hpp>
#include <ossatura/kernels/factor/make_factor_pattern.hpp>
#include <ossatura/kernels/softbody/assembly/node_graph.hpp>
#include <ossatura/kernels/softbody/contact/projected_gauss_seidel.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>
#include <ossatura/solvers/factor/nested_dissection.hpp>
#include <ossatura/solvers/softbody/factor/inverse_choice.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// As the solver has it, but for the numbers of the nodes.
HostGraph<int> make_graph(const SoftScene& scene) {
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

std::int64_t num_surface_nodes(const ElementMesh& mesh) {
  std::vector<std::int32_t> nodes = boundary_triangles(mesh);
  std::sort(nodes.begin(), nodes.end());
  return std::unique(nodes.begin(), nodes.end()) - nodes.begin();
}

/// Columns of the compliance. How many contacts there will be nobody knows: bodies that lie on
/// something touch it with a good third of their surface.
double contact_columns(const SoftScene& scene) {
  constexpr double share_in_contact = 0.4;
  double pairs = 0;
  for (const SoftObject& object : scene.objects)
    pairs += share_in_contact * double(num_surface_nodes(object.mesh));
  return 3 * pairs;
}

/// The compliance of the contacts and what it is formed from, on a device.
double device_contact_bytes(const SoftScene& scene, double nodes) {
  constexpr double share_of_rows = 0.8, room = 1.25;
  const double columns = contact_columns(scene), rows = share_of_rows * 3 * nodes;
  const double tiles = columns / 3 / detail::compliance_pairs;
  constexpr double tile_bytes = 8.0 * 9 * detail::compliance_pairs * detail::compliance_pairs;
  return room * (8 * columns * (rows + columns + detail::sweep_arrays) +
                 tile_bytes * tiles * (tiles + 1) / 2);
}

/// The same on cores, with what NodeCompliance keeps, but for the parts of the factor.
double host_contact_bytes(const SoftScene& scene, double nodes) {
  constexpr double share_of_rows = 0.4, room = 1.25;
  const double columns = contact_columns(scene), rows = share_of_rows * 3 * nodes;
  return room * 8 * columns * (columns + detail::sweep_arrays) + 8 * columns * columns +
         4 * columns * rows;
}

} // namespace

SoftbodyPrediction predict_softbody(const SoftbodyModel& model, bool on_device) {
  SoftbodyPrediction prediction;
  const HostGraph<int> graph = make_graph(model.scene);
  prediction.num_blocks = model.num_nodes() + std::int64_t(graph.column.size());
  const SoftScene& scene = model.scene;
  const bool contact = !scene.obstacles.empty() || scene.contact_between_objects;
  const FactorApply apply = model.options.apply;
  const bool inverts =
      apply == FactorApply::inverse || (apply == FactorApply::automatic && on_device);
  double inverse_bytes = 0, diagonal_bytes = 0;
  const bool ldlt = model.options.preconditioner == SoftPreconditioner::ldlt;
  const bool beside = inverts && model.options.refresh == FactorRefresh::background;
  if (ldlt) {
    std::vector<int> order = nested_dissection(graph.row_begin, graph.column);
    const FactorPattern pattern = make_factor_pattern(graph.row_begin, graph.column, order);
    prediction.num_factor_entries = pattern.begin.back();
    for (int s = 0; s < pattern.num_panels(); ++s)
      diagonal_bytes += 8 * 9.0 * pattern.width(s) * pattern.width(s);
    int bands = 0;
    if (inverts) {
      const InverseLayout layout =
          choose_inverse(pattern, model.options, on_device, contact && on_device);
      bands = layout.num_bands();
      prediction.num_inverse_entries = layout.num_entries;
      inverse_bytes =
          bytes_of(resolve_storage(model.options, on_device)) * double(layout.num_entries);
    }
    if (contact && on_device && bands != 1) {
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
  // The blocks and their columns, a dozen vectors, the factor with the inverses of its diagonal
  // blocks; its inverse, in the background twice: one in use, one being made.
  const double nodes = double(model.num_nodes()), blocks = double(prediction.num_blocks);
  prediction.device_bytes = elements + blocks * (72 + 4) + nodes * 24 * 12 +
                            8 * double(prediction.num_factor_entries) + diagonal_bytes +
                            inverse_bytes * (beside ? 2 : 1) +
                            (contact && on_device ? device_contact_bytes(scene, nodes) : 0);
  // The host makes the factor of a device, and one in the background, from a copy of the matrix,
  // and it is copied.
  const bool copied = ldlt && (on_device ? model.options.place == FactorPlace::host
                                         : model.options.refresh == FactorRefresh::background);
  const double host_factor = copied ? 8 * double(prediction.num_factor_entries) + 72 * blocks : 0;
  if (contact && !on_device) // parts of the factor in single precision, and what grows by contacts
    prediction.device_bytes += 4 * double(prediction.num_factor_entries) + diagonal_bytes / 2 +
                               host_contact_bytes(scene, nodes);
  prediction.host_growth =
      nodes * 24 * 6 + blocks * 16 + host_factor + (on_device ? 0 : prediction.device_bytes);
  return prediction;
}

} // namespace ossatura
