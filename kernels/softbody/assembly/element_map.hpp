// SPDX-License-Identifier: Apache-2.0
// An ElementMap sums element matrices and element forces over the elements of a mesh, without a
// list of triplets: for every block of the matrix the map lists its sources. Entries are gathered,
// element by element in ascending order, so that results do not depend on the threads.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Elements of one shape. `node` [num_elem, nodes_per_elem].
struct ElementGroup {
  ElementShape shape = ElementShape::tetra;
  std::vector<int> node;
};

/// Blocks of an edge, i < j, in the matrix.
struct alignas(8) EdgePlaces {
  int upper; ///< (i, j)
  int lower; ///< (j, i)
};

/// Elements are counted through all groups. A *slot* is a node of an element: slots are those of
/// element 0, of element 1 and so on. A *pair* is a block of an element matrix (pairs_per_elem of
/// kernels/softbody/elements/evaluate.hpp), counted likewise.
template<class Exec>
struct ElementMap {
  int num_nodes = 0;
  std::int64_t num_slots = 0, num_pairs = 0;
  Array<int, Exec> around_begin;            ///< [num_nodes + 1] into the next two
  Array<std::uint32_t, Exec> slot;          ///< [num_slots] slots of each node, ascending
  Array<std::uint32_t, Exec> diagonal_pair; ///< [num_slots] pair (a, a) of each of these
  Array<int, Exec> diagonal;                ///< [num_nodes] block (i, i) of the matrix
  Array<std::uint8_t, Exec> fixed;          ///< [num_nodes]
  Array<int, Exec> edge_of_node;            ///< [num_nodes + 1] first edge to a higher node
  Array<EdgePlaces, Exec> edge;             ///< [num_edges]
  Array<int, Exec> edge_begin;              ///< [num_edges + 1] into the next
  Array<std::uint32_t, Exec> edge_pair;     ///< 2 pair, and 1 more if it is to be transposed

  int num_edges() const { return int(edge.extent(0)); }
};

namespace detail {

/// Sum of data(width index(k) + lane), k in [begin, end), in this order. `Batch` loads at a time.
template<int Batch>
KOKKOS_FORCEINLINE_FUNCTION double gather_sum(const std::uint32_t* index, int begin, int end,
                                              const double* data, int width, int lane) {
  double sum = 0;
  for (int first = begin; first < end; first += Batch) {
    double value[Batch];
    for (int k = 0; k < Batch; ++k)
      value[k] = first + k < end ? data[std::int64_t(width) * index[first + k] + lane] : 0;
    for (int k = 0; k < Batch; ++k)
      sum += value[k];
  }
  return sum;
}

/// Pointers, to stay small. All are read but `value` and `b`.
struct AssemblyArrays {
  const int* around_begin;
  const std::uint32_t* slot;
  const std::uint32_t* diagonal_pair;
  const int* diagonal;
  const std::uint8_t* fixed;
  const int* edge_of_node;
  const EdgePlaces* edge;
  const int* edge_begin;
  const std::uint32_t* edge_pair;
  const double *stiffness, *force, *mass, *load, *v;
  double mass_scale, mass_damping;
  double *value, *b;

  KOKKOS_FUNCTION double right_hand_side(int node, int d, double force_sum) const {
    const std::int64_t i = 3 * std::int64_t(node) + d;
    return fixed[node] ? 0.0 : load[i] - force_sum - mass_damping * mass[node] * v[i];
  }
  KOKKOS_FUNCTION double diagonal_entry(int node, int entry, double sum) const {
    const bool on_diagonal = entry % 4 == 0;
    return fixed[node] ? double(on_diagonal) : on_diagonal ? sum + mass_scale * mass[node] : sum;
  }
};

KOKKOS_INLINE_FUNCTION int transposed_entry(int entry) {
  return entry % 3 * 3 + entry / 3;
}

/// On devices: a thread for each entry of the diagonal blocks and of b (12 a node), then one for
/// each entry of the blocks above the diagonal, which writes its mirror image too.
struct AssembleEntries {
  AssemblyArrays a;
  int num_nodes;

  KOKKOS_FUNCTION void of_node(int node, int lane) const {
    // Nine threads read blocks, three read forces, by the same instructions.
    const bool block = lane < 9;
    const double sum = gather_sum<8>(block ? a.diagonal_pair : a.slot, a.around_begin[node],
                                     a.around_begin[node + 1], block ? a.stiffness : a.force,
                                     block ? 9 : 3, block ? lane : lane - 9);
    if (block)
      a.value[9 * std::int64_t(a.diagonal[node]) + lane] = a.diagonal_entry(node, lane, sum);
    else
      a.b[3 * std::int64_t(node) + lane - 9] = a.right_hand_side(node, lane - 9, sum);
  }
  KOKKOS_FUNCTION void of_edge(int edge, int lane) const {
    const int begin = a.edge_begin[edge], end = a.edge_begin[edge + 1];
    const EdgePlaces place = a.edge[edge];
    const int mirror = transposed_entry(lane);
    constexpr int batch = 4;
    double sum = 0;
    for (int first = begin; first < end; first += batch) {
      double value[batch];
      for (int k = 0; k < batch; ++k) {
        const std::uint32_t pair = first + k < end ? a.edge_pair[first + k] : 0;
        value[k] = first + k < end
                       ? a.stiffness[9 * std::int64_t(pair >> 1) + (pair & 1 ? mirror : lane)]
                       : 0;
      }
      for (int k = 0; k < batch; ++k)
        sum += value[k];
    }
    a.value[9 * std::int64_t(place.upper) + lane] = sum;
    a.value[9 * std::int64_t(place.lower) + mirror] = sum;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t of_nodes = 12 * std::int64_t(num_nodes);
    if (item < of_nodes) {
      const unsigned i = unsigned(item); // below 2^32, see make_element_map
      of_node(int(i / 12), int(i % 12));
    } else {
      const unsigned i = unsigned(item - of_nodes);
      of_edge(int(i / 9), int(i % 9));
    }
  }
};

/// On cores: a node with its edges to higher nodes.
struct AssembleNodes {
  AssemblyArrays a;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const int node = int(item);
    double block[9] = {}, sum[3] = {};
    for (int k = a.around_begin[node]; k < a.around_begin[node + 1]; ++k) {
      const double* const pair = a.stiffness + 9 * std::int64_t(a.diagonal_pair[k]);
      const double* const f = a.force + 3 * std::int64_t(a.slot[k]);
      for (int entry = 0; entry < 9; ++entry)
        block[entry] += pair[entry];
      for (int d = 0; d < 3; ++d)
        sum[d] += f[d];
    }
    for (int entry = 0; entry < 9; ++entry)
      a.value[9 * std::int64_t(a.diagonal[node]) + entry] =
          a.diagonal_entry(node, entry, block[entry]);
    for (int d = 0; d < 3; ++d)
      a.b[3 * std::int64_t(node) + d] = a.right_hand_side(node, d, sum[d]);
    for (int edge = a.edge_of_node[node]; edge < a.edge_of_node[node + 1]; ++edge)
      assemble_edge(edge);
  }
  KOKKOS_FUNCTION void assemble_edge(int edge) const {
    double block[9] = {};
    for (int k = a.edge_begin[edge]; k < a.edge_begin[edge + 1]; ++k) {
      const double* const pair = a.stiffness + 9 * std::int64_t(a.edge_pair[k] >> 1);
      if (a.edge_pair[k] & 1)
        for (int entry = 0; entry < 9; ++entry)
          block[entry] += pair[transposed_entry(entry)];
      else
        for (int entry = 0; entry < 9; ++entry)
          block[entry] += pair[entry];
    }
    double* const upper = a.value + 9 * std::int64_t(a.edge[edge].upper);
    double* const lower = a.value + 9 * std::int64_t(a.edge[edge].lower);
    for (int entry = 0; entry < 9; ++entry) {
      upper[entry] = block[entry];
      lower[entry] = block[transposed_entry(entry)];
    }
  }
};

/// f_i or, with a load, load_i - f_i.
template<class Exec>
struct GatherNodeForces {
  ElementMap<Exec> map;
  Array<double, Exec> force, load;
  bool residual;
  Array<double, Exec> result;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int node = int(i / 3);
    const double sum = gather_sum<8>(map.slot.data(), map.around_begin(node),
                                     map.around_begin(node + 1), force.data(), 3, int(i % 3));
    result(i) = !residual ? sum : map.fixed(node) ? 0.0 : load(i) - sum;
  }
};

/// With the kernel of devices or that of cores; both run everywhere and give the same.
template<bool by_entries, class Exec>
void assemble_step(const Exec& exec, const ElementMap<Exec>& map,
                   const Array<double, Exec>& stiffness, const Array<double, Exec>& force,
                   const Array<double, Exec>& mass, double mass_scale,
                   const Array<double, Exec>& load, double mass_damping,
                   const Array<double, Exec>& v, const BlockMatrix<Exec>& matrix,
                   const Array<double, Exec>& b) {
  const AssemblyArrays arrays{map.around_begin.data(),
                              map.slot.data(),
                              map.diagonal_pair.data(),
                              map.diagonal.data(),
                              map.fixed.data(),
                              map.edge_of_node.data(),
                              map.edge.data(),
                              map.edge_begin.data(),
                              map.edge_pair.data(),
                              stiffness.data(),
                              force.data(),
                              mass.data(),
                              load.data(),
                              v.data(),
                              mass_scale,
                              mass_damping,
                              matrix.value.data(),
                              b.data()};
  if constexpr (by_entries) {
    const std::int64_t items = 12 * std::int64_t(map.num_nodes) + 9 * std::int64_t(map.num_edges());
    Kokkos::parallel_for("ossatura::assemble_step", range(exec, items),
                         AssembleEntries{arrays, map.num_nodes});
  } else {
    Kokkos::parallel_for("ossatura::assemble_step", range(exec, map.num_nodes),
                         AssembleNodes{arrays});
  }
}

} // namespace detail

/// The system of a step in one launch: matrix.value = sum of K_e + mass_scale m_i I, and
/// b_i = load_i - sum of f_e - mass_damping m_i v_i. At fixed nodes the block is I and b = 0.
/// stiffness [num_pairs, 9] and force [num_slots, 3] are those of all groups one after the other
/// (kernels/softbody/elements/evaluate.hpp: already scaled, and with damping in the force); mass
/// [num_nodes]; load, v, b [num_nodes, 3]; matrix as make_element_map made it. Does not fence.
template<class Exec>
void assemble_step(const Exec& exec, const ElementMap<Exec>& map,
                   const Array<double, Exec>& stiffness, const Array<double, Exec>& force,
                   const Array<double, Exec>& mass, double mass_scale,
                   const Array<double, Exec>& load, double mass_damping,
                   const Array<double, Exec>& v, const BlockMatrix<Exec>& matrix,
                   const Array<double, Exec>& b) {
  detail::assemble_step<BackendTraits<Exec>::is_device>(
      exec, map, stiffness, force, mass, mass_scale, load, mass_damping, v, matrix, b);
}

/// b_i = load_i - sum of f_e, 0 at fixed nodes. force [num_slots, 3]; load, b [num_nodes, 3], and
/// may be the same. Does not fence.
template<class Exec>
void assemble_forces(const Exec& exec, const ElementMap<Exec>& map,
                     const Array<double, Exec>& force, const Array<double, Exec>& load,
                     const Array<double, Exec>& b) {
  Kokkos::parallel_for("ossatura::assemble_forces", range(exec, 3 * std::int64_t(map.num_nodes)),
                       detail::GatherNodeForces<Exec>{map, force, load, true, b});
}

/// f_i = sum of f_e at all nodes, fixed ones too (where it is minus the reaction). force
/// [num_slots, 3], f [num_nodes, 3]. Does not fence.
template<class Exec>
void gather_node_forces(const Exec& exec, const ElementMap<Exec>& map,
                        const Array<double, Exec>& force, const Array<double, Exec>& f) {
  Kokkos::parallel_for("ossatura::gather_node_forces", range(exec, 3 * std::int64_t(map.num_nodes)),
                       detail::GatherNodeForces<Exec>{map, force, {}, false, f});
}

} // namespace ossatura
