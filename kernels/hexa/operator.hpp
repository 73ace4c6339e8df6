// SPDX-License-Identifier: Apache-2.0
// A hexahedral operator multiplies with the stiffness matrix of a mesh of hexahedra whose elements
// have moduli of their own and one Poisson's ratio: y = sum over e of E_e P_e^T K_e P_e x, K_e for
// a modulus of 1.
#pragma once

#include <ossatura/kernels/algebra/operator.hpp>

#include <cstdint>
#include <string>

namespace ossatura {

/// Isotropic elasticity for a modulus of 1.
struct UnitLame {
  double lambda, mu;
};

/// `poisson` in (-1, 0.5).
inline UnitLame unit_lame(double poisson) {
  return {poisson / ((1 + poisson) * (1 - 2 * poisson)), 0.5 / (1 + poisson)};
}

/// The bytes that an operator keeps and moves, for tables and for the choice among operators.
struct HexaOperatorCost {
  std::int64_t bytes_kept = 0; ///< of its own: beside mesh, modulus and vectors
  double bytes_moved = 0;      ///< least of a product, everything from memory once
  double flops = 0;            ///< of a product
};

/// Vectors are [num_nodes, 3].
template<class Exec, class Scalar>
class HexaOperator : public Operator<Exec, Scalar> {
public:
  /// Takes the moduli [num_elem], in the order of the mesh; to be called before the first product
  /// and whenever they change. Does not fence.
  virtual void set_modulus(const Exec& exec, const Array<double, Exec>& modulus) = 0;

  /// Whether products are bitwise the same for any number of threads and from run to run.
  virtual bool is_deterministic() const = 0;
  virtual HexaOperatorCost cost() const = 0;
};

/// Unless noted, one thread computes one element.
enum class HexaOperatorKind {
  automatic,  ///< the fastest for the mesh: see choose_hexa_operator
  ebe,        ///< stored K_e, atomic sums
  ebe_colour, ///< the same by colours: deterministic
  nbn,        ///< stored K_e, a thread a node: deterministic
  ebe8,       ///< stored K_e, 8 threads an element, atomic sums
  ebe24,      ///< 24 threads an element
  ebe64,      ///< 64 threads an element
  ebe_sym,    ///< the 300 entries of K_e on and above the diagonal, 8 threads an element, atomic
  csr,        ///< assembled, rows of scalars: deterministic
  bsr,        ///< assembled, rows of 3 x 3 blocks: deterministic
  recompute,  ///< K_e never formed, from coordinates: deterministic
  partial,    ///< geometry kept at the quadrature points (partial assembly): deterministic
  congruent   ///< one K_e for all elements of a shape: deterministic
};

inline constexpr HexaOperatorKind hexa_operator_kinds[] = {
    HexaOperatorKind::ebe,       HexaOperatorKind::ebe_colour, HexaOperatorKind::nbn,
    HexaOperatorKind::ebe8,      HexaOperatorKind::ebe24,      HexaOperatorKind::ebe64,
    HexaOperatorKind::ebe_sym,   HexaOperatorKind::csr,        HexaOperatorKind::bsr,
    HexaOperatorKind::recompute, HexaOperatorKind::partial,    HexaOperatorKind::congruent};

inline const char* name_of(HexaOperatorKind kind) {
  constexpr const char* names[] = {"auto",      "ebe",     "ebe-colour", "nbn", "ebe8",
                                   "ebe24",     "ebe64",   "ebeSym",     "csr", "bsr",
                                   "recompute", "partial", "congruent"};
  return names[int(kind)];
}

} // namespace ossatura
