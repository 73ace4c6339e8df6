// SPDX-License-Identifier: Apache-2.0
// The recompute operator multiplies with trilinear hexahedra of any shape and keeps no matrix: it
// starts from the positions of nodes (recompute), or from cofactors kept at the quadrature points
// (partial assembly).
//
// J. Brown et al. and R. Settgast et al. (arXiv 2308.09839) on matrix-free elements of low order;
// positions rather than factors: arXiv 2504.07042.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/patches.hpp>
#include <ossatura/kernels/hexa/trilinear_modes.hpp>

#include <cmath>
#include <memory>

namespace ossatura {

namespace detail {

template<class Exec, class Scalar>
struct MakeFactors {
  HexaArrays<Exec> arrays;
  Array<int, Exec> elem;
  Array<Scalar, Exec> factor;
  std::int64_t stride;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    double x[24];
    arrays.load_points(elem(at), x);
    double c[8][3][3], determinant[8];
    hexa_geometry(trilinear_modes(x), c, determinant);
    for (int g = 0; g < 8; ++g) {
      const double scale = 1 / std::sqrt(512 * determinant[g]);
      for (int i = 0; i < 9; ++i)
        factor((9 * g + i) * stride + at) = Scalar(scale * c[g][i / 3][i % 3]);
    }
  }
};

} // namespace detail

/// Positions alone are read: 24 bytes a node, about 1800 operations a product of an element.
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_recompute_operator(const Exec& exec, const HexaArrays<Exec>& arrays,
                        const HexaPatches<Exec>& patches, const UnitLame& lame) {
  using Element = detail::RecomputedElement<Scalar>;
  OperatorCost cost;
  cost.flops = 2270; // counted in trilinear_modes.hpp, a multiplication and an addition one each
  return std::make_unique<HexaPatchOperator<Exec, Element>>(
      exec, arrays, patches, Element{Scalar(lame.lambda), Scalar(lame.mu)}, Array<Scalar, Exec>(),
      cost);
}

/// Nine factors at each of the 8 points of an element are kept. Does not fence.
template<class Scalar, class Exec>
std::unique_ptr<HexaOperator<Exec, Scalar>>
make_partial_operator(const Exec& exec, const HexaArrays<Exec>& arrays,
                      const HexaPatches<Exec>& patches, const UnitLame& lame) {
  using Element = detail::PartialElement<Scalar>;
  // Batches reach beyond the last element.
  const std::int64_t stride = std::int64_t(arrays.num_elem) + detail::batch_size;
  const Array<Scalar, Exec> factor =
      make_zeros<Scalar>(exec, 72 * stride, "ossatura::hexa_patches::factor");
  Kokkos::parallel_for("ossatura::make_factors", range(exec, arrays.num_elem),
                       detail::MakeFactors<Exec, Scalar>{arrays, patches.elem, factor, stride});
  OperatorCost cost;
  cost.bytes_kept = std::int64_t(72 * sizeof(Scalar)) * stride;
  cost.bytes_moved = double(cost.bytes_kept);
  cost.flops = 1620;
  return std::make_unique<HexaPatchOperator<Exec, Element>>(
      exec, arrays, patches, Element{Scalar(lame.lambda), Scalar(lame.mu), factor.data(), stride},
      factor, cost);
}

} // namespace ossatura
