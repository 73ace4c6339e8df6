// SPDX-License-Identifier: Apache-2.0
// Patch products multiply the elements of a patch (patches.hpp) eight at a time with the vector
// instructions of a core: an element is a lane. These functions are compiled once for each
// instruction set (core/machine/instruction_set.hpp) in sources without Kokkos; results are the
// same to the bit with all of them (core/parallel/node_lanes.hpp).
#pragma once

#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/kernels/hexa/patch.hpp>
#include <ossatura/kernels/hexa/patch_elements.hpp>

#include <cstdint>

namespace ossatura::detail {

/// Elements of a patch on cores, at most; of nodes four times as many.
inline constexpr int patch_size_on_cores = 64;

/// Arrays of HexaPatches and vectors.
template<class Scalar>
struct HexaPatchInput {
  const HexaPatch* patch;
  const std::uint16_t* local;
  const int* node;
  const double* point;
  const Scalar* modulus; ///< [num_elem] by patch
  const Scalar* x;       ///< [num_nodes, 3]
  Scalar *y, *partial;
};

/// Sets y = sum K_e x at the own nodes of patch `number`, and the partial sums of its others. y
/// must not alias x.
template<class Element>
using MultiplyPatch = void(const HexaPatchInput<typename Element::Scalar>&, const Element&,
                           int number);

template<class Element>
struct PatchProduct {
  MultiplyPatch<Element>* multiply;
};

/// The functions of one instruction set.
struct PatchProducts : PatchProduct<RecomputedElement<float>>,
                       PatchProduct<RecomputedElement<double>>,
                       PatchProduct<PartialElement<float>>,
                       PatchProduct<PartialElement<double>>,
                       PatchProduct<CongruentElement<float, false>>,
                       PatchProduct<CongruentElement<double, false>>,
                       PatchProduct<CongruentElement<float, true>>,
                       PatchProduct<CongruentElement<double, true>> {};

template<class Element>
MultiplyPatch<Element>* product_of(const PatchProducts& products) {
  return static_cast<const PatchProduct<Element>&>(products).multiply;
}

/// Null where the program was compiled for processors that cannot have it.
const PatchProducts* baseline_patch_products();
const PatchProducts* avx2_patch_products();
const PatchProducts* avx512_patch_products();

/// Those of instruction_set().
const PatchProducts& patch_products();

} // namespace ossatura::detail
