// SPDX-License-Identifier: Apache-2.0
// Node rotations say how far the material around each node of soft bodies has turned: the polar
// rotation of the mean deformation gradient of the elements at the node, weighted by volume times
// factor of the moduli. A factorised matrix follows the bodies when it is warped by these
// rotations.
#pragma once

#include <ossatura/kernels/softbody/elements/corotational_hexa.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>

#include <vector>

namespace ossatura {

namespace detail {

struct NodeElement {
  int group, elem;
};

/// Arrays of a group of elements.
struct NodeElementGroup {
  SoftInput input; ///< without x
  ElementShape shape;
};

} // namespace detail

/// The elements at the nodes, made once.
template<class Exec>
struct NodeRotations {
  int num_nodes = 0;
  Array<int, Exec> begin;                   ///< [num_nodes + 1]
  Array<detail::NodeElement, Exec> element; ///< of node i: begin(i) .. begin(i + 1)
  Array<detail::NodeElementGroup, Exec> group;
  std::vector<SoftElements<Exec>> elements; ///< keeps the arrays of the groups
};

/// All groups number nodes alike, in [0, num_nodes). Fences.
template<class Exec>
NodeRotations<Exec> make_node_rotations(const Exec& exec,
                                        const std::vector<SoftElements<Exec>>& elements,
                                        int num_nodes) {
  std::vector<detail::NodeElementGroup> group;
  std::vector<std::vector<int>> node;
  std::vector<int> begin(num_nodes + 1);
  for (const SoftElements<Exec>& e : elements) {
    group.push_back({detail::soft_input(e, Array<double, Exec>()), e.shape});
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), e.node);
    node.emplace_back(host.data(), host.data() + host.size());
    for (int i : node.back()) {
      OSSATURA_REQUIRE(i >= 0 && i < num_nodes, "an element has node " << i << " of " << num_nodes);
      ++begin[i + 1];
    }
  }
  for (int i = 0; i < num_nodes; ++i)
    begin[i + 1] += begin[i];
  std::vector<detail::NodeElement> element(begin[num_nodes]);
  std::vector<int> place(begin.begin(), begin.end() - 1);
  for (std::size_t g = 0; g < node.size(); ++g)
    for (std::size_t i = 0; i < node[g].size(); ++i)
      element[place[node[g][i]]++] = {int(g), int(i) / nodes_per_elem(elements[g].shape)};
  return {num_nodes, upload(exec, "ossatura::node_element_begin", begin),
          upload(exec, "ossatura::node_elements", element),
          upload(exec, "ossatura::node_element_groups", group), elements};
}

namespace detail {

/// Weight times F of an element.
template<ElementShape shape>
KOKKOS_INLINE_FUNCTION Matrix3 weighted_simplex_gradient(const SoftInput& input, int elem) {
  Matrix3 ds = simplex_edges<shape>(input.x, input.nodes_of<shape>(elem));
  if constexpr (shape == ElementShape::triangle)
    ds = with_normal(ds);
  return input.rest_value(elem, 9) * (ds * input.rest_matrix(elem));
}

KOKKOS_INLINE_FUNCTION Matrix3 weighted_hexa_gradient(const SoftInput& input, int elem) {
  Matrix3 rest, now = zero_matrix();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      rest(i, j) = input.rest_value(elem, 3 * j + i);
  const int* node = input.nodes_of<ElementShape::hexa>(elem);
  for (int a = 0; a < 8; ++a) {
    const Vector3 x = 0.125 * load_vector(input.x, node[a]);
    const Vector3 corner{{hexa_xi(a), hexa_eta(a), hexa_zeta(a)}};
    for (int i = 0; i < 3; ++i)
      now.row[i] = now.row[i] + x[i] * corner;
  }
  return 8 * determinant(rest) * input.rest_value(elem, 21) * (now * inverse(rest));
}

template<class Exec>
struct FindNodeRotations {
  static constexpr int lanes = 16, nodes_per_team = 8, threads = lanes * nodes_per_team;
  static constexpr int scratch_bytes = threads * 9 * int(sizeof(double));
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 1>>;
  using Member = typename Policy::member_type;

  int num_nodes;
  ArrayPointer<const int> begin;
  ArrayPointer<const NodeElement> element;
  ArrayPointer<const NodeElementGroup> group;
  ArrayPointer<const double> x;
  ArrayPointer<double> rotation;

  KOKKOS_FUNCTION Matrix3 weighted_gradient(const NodeElement& e) const {
    SoftInput input = group(e.group).input;
    input.x = x;
    const ElementShape shape = group(e.group).shape;
    if (shape == ElementShape::tetra)
      return weighted_simplex_gradient<ElementShape::tetra>(input, e.elem);
    if (shape == ElementShape::triangle)
      return weighted_simplex_gradient<ElementShape::triangle>(input, e.elem);
    return weighted_hexa_gradient(input, e.elem);
  }

  /// The order of additions is the same for all sizes of teams.
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    double* const part =
        static_cast<double*>(team.team_shmem().get_shmem_aligned(int(scratch_bytes), 16));
    const int rank = team.team_rank(), size = team.team_size();
    const int first = team.league_rank() * nodes_per_team;
    const int left = num_nodes - first, num = Kokkos::min(int(nodes_per_team), left);
    for (int i = rank; i < num * lanes; i += size) {
      const int node = first + i / lanes;
      Matrix3 sum = zero_matrix();
      for (int k = begin(node) + i % lanes; k < begin(node + 1); k += lanes)
        sum = sum + weighted_gradient(element(k));
      for (int c = 0; c < 9; ++c)
        part[9 * i + c] = sum(c / 3, c % 3);
    }
    team.team_barrier();
    for (int i = rank; i < num * 9; i += size) {
      double* const entry = part + i / 9 * (9 * lanes) + i % 9;
      for (int lane = 1; lane < lanes; ++lane)
        entry[0] += entry[9 * lane];
    }
    team.team_barrier();
    for (int i = rank; i < num; i += size) {
      Matrix3 mean;
      for (int c = 0; c < 9; ++c)
        mean(c / 3, c % 3) = part[9 * lanes * i + c];
      const double norm = sqrt(inner(mean, mean) / 3); // 1 of a rotation
      const Matrix3 r = polar_rotation(norm > 0 ? (1 / norm) * mean : mean);
      for (int c = 0; c < 9; ++c)
        rotation(9 * std::int64_t(first + i) + c) = r(c / 3, c % 3);
    }
  }
};

} // namespace detail

/// rotation [num_nodes, 9], row-major, at positions x [num_nodes, 3]: takes directions at rest to
/// those now; the identity for nodes without elements. The same on every run. Does not fence.
template<class Exec>
void node_rotations(const Exec& exec, const NodeRotations<Exec>& nodes,
                    const Array<double, Exec>& x, const Array<double, Exec>& rotation) {
  using Kernel = detail::FindNodeRotations<Exec>;
  if (nodes.num_nodes == 0)
    return;
  const int teams = (nodes.num_nodes + Kernel::nodes_per_team - 1) / Kernel::nodes_per_team;
  typename Kernel::Policy policy(exec, teams,
                                 BackendTraits<Exec>::is_device ? int(Kernel::threads) : 1, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(int(Kernel::scratch_bytes) + 16));
  Kokkos::parallel_for(
      "ossatura::node_rotations", policy,
      Kernel{nodes.num_nodes, {nodes.begin}, {nodes.element}, {nodes.group}, {x}, {rotation}});
}

} // namespace ossatura
