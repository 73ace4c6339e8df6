// SPDX-License-Identifier: Apache-2.0
// A HexaCheckedOperator checks the arguments of an operator on hexahedra before the operator
// computes.
#pragma once

#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/operator.hpp>

namespace ossatura {

template<class Exec, class Scalar>
class HexaCheckedOperator : public HexaOperator<Exec, Scalar> {
public:
  /// Throws std::invalid_argument for another number of moduli.
  void set_modulus(const Exec& exec, const Array<double, Exec>& modulus) final {
    OSSATURA_REQUIRE(std::int64_t(modulus.extent(0)) == arrays_.num_elem,
                     modulus.extent(0) << " moduli for " << arrays_.num_elem << " elements");
    take_modulus(exec, modulus);
    has_modulus_ = true;
  }

  /// Throws std::invalid_argument without moduli, and for vectors of another length or that are the
  /// same.
  void apply(const Exec& exec, const Array<Scalar, Exec>& x,
             const Array<Scalar, Exec>& y) const final {
    const std::int64_t n = 3 * std::int64_t(arrays_.num_nodes);
    OSSATURA_REQUIRE(has_modulus_, "a product before set_modulus");
    OSSATURA_REQUIRE(std::int64_t(x.extent(0)) == n && std::int64_t(y.extent(0)) == n,
                     "vectors of " << x.extent(0) << " and " << y.extent(0) << " components for "
                                   << arrays_.num_nodes << " nodes");
    OSSATURA_REQUIRE(x.data() != y.data(), "x and y are the same vector");
    multiply(exec, x, y);
  }

protected:
  explicit HexaCheckedOperator(const HexaArrays<Exec>& arrays)
      : arrays_(arrays) {}

  virtual void take_modulus(const Exec& exec, const Array<double, Exec>& modulus) = 0;
  virtual void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                        const Array<Scalar, Exec>& y) const = 0;

  /// Of x, y, the moduli and the nodes of the elements, each once.
  double bytes_of_mesh_and_vectors() const {
    return 6.0 * arrays_.num_nodes * double(sizeof(Scalar)) + (8.0 + 32.0) * arrays_.num_elem;
  }

  HexaArrays<Exec> arrays_;

private:
  bool has_modulus_ = false;
};

/// Keeps the array of moduli without a copy and reads it in the product. The array is shared: later
/// writes by the caller are seen.
template<class Exec, class Scalar>
class HexaScaledOperator : public HexaCheckedOperator<Exec, Scalar> {
public:
  /// Of a product with all of K_e: 24 x 24 multiply-adds, times E_e, and the sum into y.
  OperatorCost cost() const override {
    const std::int64_t num_elem = this->arrays_.num_elem, kept = num_elem * bytes_of_elem_;
    return {kept, double(kept) + this->bytes_of_mesh_and_vectors(),
            (2.0 * 24 * 24 + 24 + 24) * double(num_elem)};
  }

protected:
  /// `bytes_of_elem` are kept, and move once in a product.
  HexaScaledOperator(const HexaArrays<Exec>& arrays, std::size_t bytes_of_elem)
      : HexaCheckedOperator<Exec, Scalar>(arrays)
      , bytes_of_elem_(std::int64_t(bytes_of_elem)) {}

  void take_modulus(const Exec&, const Array<double, Exec>& modulus) final { modulus_ = modulus; }

  std::int64_t bytes_of_elem_;
  Array<double, Exec> modulus_;
};

} // namespace ossatura
