// SPDX-License-Identifier: Apache-2.0
// This file has the definitions of patch_products.hpp; the sources beside it alone include them,
// each for a `Target` of its own with
//
//     static constexpr int register_bytes;
//
// A target is a type of one source, so that the linker cannot mix what is compiled with different
// flags.
#pragma once

#include <ossatura/core/parallel/node_lanes.hpp>
#include <ossatura/kernels/hexa/batches/patch_products.hpp>

namespace ossatura::detail {

/// The nodes of a patch, four numbers each, of which the last has no meaning.
template<class Scalar>
struct StagedNodes {
  static constexpr int max_nodes = 4 * patch_size_on_cores;
  alignas(64) Scalar value[4 * max_nodes];
};

/// Displacements and, from those of the first node on, positions of the nodes; no sums yet.
template<class Element, class Scalar>
OSSATURA_FORCEINLINE_FUNCTION void
stage_nodes(const HexaPatchInput<Scalar>& in, const HexaPatch& patch, StagedNodes<Scalar>& x,
            StagedNodes<Scalar>& position, StagedNodes<Scalar>& sum) {
  const int* const node = in.node + patch.node_begin;
  const double* const origin = in.point + 3 * std::int64_t(node[0]);
  for (int n = 0; n < patch.num_nodes; ++n) {
    const std::int64_t at = 3 * std::int64_t(node[n]);
    for (int c = 0; c < 3; ++c) {
      x.value[4 * n + c] = in.x[at + c];
      if constexpr (Element::uses_points)
        position.value[4 * n + c] = Scalar(in.point[at + c] - origin[c]);
    }
    x.value[4 * n + 3] = 0;
    if constexpr (Element::uses_points)
      position.value[4 * n + 3] = 0;
    for (int c = 0; c < 4; ++c)
      sum.value[4 * n + c] = 0;
  }
}

template<class Scalar>
OSSATURA_FORCEINLINE_FUNCTION void store_sums(const HexaPatchInput<Scalar>& in,
                                              const HexaPatch& patch,
                                              const StagedNodes<Scalar>& sum) {
  for (int n = 0; n < patch.num_nodes; ++n) {
    Scalar* const to =
        n < patch.num_own
            ? in.y + 3 * std::int64_t(in.node[patch.node_begin + n])
            : in.partial + 3 * (std::int64_t(patch.partial_begin) + n - patch.num_own);
    for (int c = 0; c < 3; ++c)
      to[c] = sum.value[4 * n + c];
  }
}

template<class Target, class Element>
void multiply_patch(const HexaPatchInput<typename Element::Scalar>& in, const Element& element,
                    int number) {
  using Scalar = typename Element::Scalar;
  using Nodes = NodeLanes<Target, Scalar>;
  using Real = typename Nodes::Values;
  constexpr int W = Nodes::W, parts = Nodes::parts;
  const HexaPatch patch = in.patch[number];
  StagedNodes<Scalar> x, position, sum;
  stage_nodes<Element>(in, patch, x, position, sum);

  const Scalar* const table = element.tables + std::int64_t(patch.kind) * Element::table_size;
  for (int begin = 0; begin < patch.num_elem; begin += batch_size) {
    const int first = patch.elem_begin + begin, size = patch.num_elem - begin;
    // Lanes beyond the last element take it again, without stiffness.
    alignas(64) std::uint32_t at[batch_size][8];
    Scalar modulus[batch_size];
    for (int lane = 0; lane < batch_size; ++lane) {
      const int elem = first + (lane < size ? lane : size - 1);
      for (int a = 0; a < 8; ++a)
        at[lane][a] = 4 * std::uint32_t(in.local[8 * std::int64_t(elem) + a]);
      modulus[lane] = lane < size ? in.modulus[elem] : Scalar(0);
    }
    keep_in_memory(at);

    Real f[parts][24];
    for (int part = 0; part < parts; ++part) {
      Real u[24], points[24];
#pragma GCC unroll 8
      for (int a = 0; a < 8; ++a) {
        Nodes::gather(x.value, at + W * part, a, u + 3 * a);
        if constexpr (Element::uses_points)
          Nodes::gather(position.value, at + W * part, a, points + 3 * a);
      }
      Real* const to = f[part];
      element.multiply(first + W * part, table, load_real<Real>(modulus + W * part), points, u,
                       [to](int i, const Real& force) { to[i] = force; });
    }
#pragma GCC unroll 8
    for (int a = 0; a < 8; ++a)
      for (int part = 0; part < parts; ++part)
        Nodes::scatter_four(f[part] + 3 * a, at + W * part, a, sum.value);
  }

  store_sums(in, patch, sum);
}

template<class Target>
constexpr PatchProducts make_patch_products() {
  return {{&multiply_patch<Target, RecomputedElement<float>>},
          {&multiply_patch<Target, RecomputedElement<double>>},
          {&multiply_patch<Target, PartialElement<float>>},
          {&multiply_patch<Target, PartialElement<double>>},
          {&multiply_patch<Target, CongruentElement<float, false>>},
          {&multiply_patch<Target, CongruentElement<double, false>>},
          {&multiply_patch<Target, CongruentElement<float, true>>},
          {&multiply_patch<Target, CongruentElement<double, true>>}};
}

} // namespace ossatura::detail
