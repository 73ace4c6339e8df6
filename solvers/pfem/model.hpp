// SPDX-License-Identifier: Apache-2.0
// make_hierarchic_model turns a mesh with orders and a material into elements on a backend.
#pragma once

#include <ossatura/core/pfem/hexa_map.hpp>
#include <ossatura/core/pfem/numbering.hpp>
#include <ossatura/kernels/pfem/operator.hpp>

#include <functional>

namespace ossatura {

/// Elasticity of the elements: one, one each, or one a point.
struct ElasticityField {
  std::vector<double> value; ///< [21] or [num_elem, 21]
  /// If set, D at the position x of element `elem`, called from one thread.
  std::function<void(std::int64_t elem, const double (&x)[3], double (&d)[21])> at_point;
};

/// lambda and mu from Young's modulus (Pa) and Poisson's ratio in (-1, 0.5).
std::vector<double> isotropic_elasticity(double young, double poisson);

struct HierarchicOptions {
  ModeScaling scaling = ModeScaling::orthonormal;
  QuadratureRule rule = QuadratureRule::order_plus_1;
  int points = 0; ///< along each axis, in the place of the rule's; 0: those of the rule
};

/// Throws std::invalid_argument for elements without a positive Jacobian at a quadrature point, D
/// that is not positive definite (at the first element that has it), and lists of other lengths,
/// naming the element. Fences.
template<class Exec>
HierarchicModel<Exec> make_hierarchic_model(const Exec& exec, const CurvedHexaMesh& mesh,
                                            const HierarchicNumbering& numbering,
                                            const ElasticityField& elasticity,
                                            const HierarchicOptions& options);

/// One batch without index lists, as bare matrices want it: all elements of one order.
template<class Exec>
HexaBatch<Exec> make_hexa_batch(const Exec& exec, const CurvedHexaMesh& mesh, HexaSpace space,
                                int order, const ElasticityField& elasticity,
                                const HierarchicOptions& options);

} // namespace ossatura
