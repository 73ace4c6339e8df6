// SPDX-License-Identifier: Apache-2.0
// A hexahedral operator multiplies with the stiffness matrix of a mesh of hexahedra whose elements
// have moduli of their own and one Poisson's ratio: y = sum over e of E_e P_e^T K_e P_e x, K_e for
// a modulus of 1.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/kernels/algebra/operator.hpp>

namespace ossatura {

/// Isotropic elasticity for a modulus of 1.
struct UnitLame {
  double lambda, mu;
};

/// `poisson` in (-1, 0.5).
inline UnitLame unit_lame(double poisson) {
  return {poisson / ((1 + poisson) * (1 - 2 * poisson)), 0.5 / (1 + poisson)};
}

/// Vectors are [num_nodes, 3].
template<class Exec, class Scalar>
class HexaOperator : public Operator<Exec, Scalar> {
public:
  /// Takes the moduli [num_elem], in the order of the mesh; to be called before the first product
  /// and whenever they change. Does not fence.
  virtual void set_modulus(const Exec& exec, const Array<double, Exec>& modulus) = 0;
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

/// What an operator keeps, about, beside mesh, moduli and vectors: numbers of its precision and
/// other bytes, for each element, 3 x 3 block of the matrix and node.
struct HexaOperatorMemory {
  double elem_numbers = 0, elem_bytes = 0, block_numbers = 0, block_bytes = 0, node_bytes = 0;

  /// For numbers of `real` bytes.
  constexpr double bytes(double real, double num_elem, double num_blocks, double num_nodes) const {
    return (elem_numbers * real + elem_bytes) * num_elem +
           (block_numbers * real + block_bytes) * num_blocks + node_bytes * num_nodes;
  }
};

struct HexaOperatorEntry {
  Named<HexaOperatorKind> name;
  HexaOperatorMemory memory;
};

/// All that options, predictions, tests and benchmarks know of the operators.
inline constexpr HexaOperatorEntry hexa_operator_table[] = {
    {{HexaOperatorKind::automatic, "auto"}, {}},
    {{HexaOperatorKind::ebe, "ebe", is_published}, {576}},
    {{HexaOperatorKind::ebe_colour, "ebe-colour", is_published}, {576, 4}},
    {{HexaOperatorKind::nbn, "nbn", is_published}, {576}},
    {{HexaOperatorKind::ebe8, "ebe8", is_published}, {576}},
    {{HexaOperatorKind::ebe24, "ebe24", is_published}, {576}},
    {{HexaOperatorKind::ebe64, "ebe64", is_published}, {576}},
    {{HexaOperatorKind::ebe_sym, "ebeSym", is_published}, {300}},
    {{HexaOperatorKind::csr, "csr"}, {0, 0, 9, 40, 32}},
    {{HexaOperatorKind::bsr, "bsr"}, {0, 0, 9, 4, 8}},
    {{HexaOperatorKind::recompute, "recompute"}, {0, 95}},
    {{HexaOperatorKind::partial, "partial"}, {72, 95}},
    {{HexaOperatorKind::congruent, "congruent"}, {0, 95}}};

constexpr Names<HexaOperatorKind> names_of(HexaOperatorKind) {
  Names<HexaOperatorKind> names;
  for (const HexaOperatorEntry& entry : hexa_operator_table)
    names.add(entry.name);
  return names;
}
inline constexpr Names<HexaOperatorKind> hexa_operator_kinds =
    name_table<HexaOperatorKind>.without(HexaOperatorKind::automatic);

constexpr HexaOperatorMemory memory_of(HexaOperatorKind kind) {
  for (const HexaOperatorEntry& entry : hexa_operator_table)
    if (entry.name.value == kind)
      return entry.memory;
  return {};
}

} // namespace ossatura
