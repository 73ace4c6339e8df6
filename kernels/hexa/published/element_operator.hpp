// SPDX-License-Identifier: Apache-2.0
// The element operator multiplies with stored element matrices, one thread for an element: with
// atomic sums [1], or by colours of elements without a common node [2], one launch after the other,
// which are bitwise the same for any number of threads.
//
// [1] S. K. Ratnakar, S. Sanfui, D. Sharma. Graphics processing unit-based element-by-element
//     strategies for accelerating topology optimization of three-dimensional continuum structures
//     using unstructured all-hexahedral mesh. J. Comput. Inf. Sci. Eng. 22 (2022) 021013,
//     doi:10.1115/1.4052892.
// [2] C. Cecka, A. J. Lew, E. Darve. Assembly of finite element methods on graphics processors.
//     Int. J. Numer. Meth. Engng 85 (2011) 640-669, doi:10.1002/nme.2989.
#pragma once

#include <ossatura/kernels/hexa/checked_operator.hpp>
#include <ossatura/kernels/hexa/published/colouring.hpp>
#include <ossatura/kernels/hexa/published/matrices.hpp>

namespace ossatura {

namespace detail {

/// Matrix first + i. The matrix is symmetric to the last bit, so that its row j is column j, whose
/// entries add to different sums.
template<class Exec, class Scalar, bool Atomic>
struct ApplyHexaMatrices {
  HexaArrays<Exec> arrays;
  HexaMatrices<Exec, Scalar, 1> matrices;
  ArrayPointer<const int> order; ///< null: that of the mesh
  ArrayPointer<const double> modulus;
  ArrayPointer<const Scalar> x;
  ArrayPointer<Scalar> y;
  int first;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int position = first + int(i);
    const int elem = order.data != nullptr ? order(position) : position;
    Scalar sum[24];
    for (int k = 0; k < 24; ++k)
      sum[k] = 0;
    for (int b = 0; b < 8; ++b) {
      const std::int64_t from = 3 * std::int64_t(arrays.node_of(elem, b));
      for (int c = 0; c < 3; ++c) {
        const Scalar u = x(from + c);
        for (int k = 0; k < 24; ++k)
          sum[k] += matrices(position, 0, 24 * (3 * b + c) + k) * u;
      }
    }
    const Scalar scale = Scalar(modulus(elem));
    for (int a = 0; a < 8; ++a) {
      const std::int64_t to = 3 * std::int64_t(arrays.node_of(elem, a));
      for (int c = 0; c < 3; ++c) {
        if constexpr (Atomic)
          Kokkos::atomic_add(&y(to + c), scale * sum[3 * a + c]);
        else
          y(to + c) += scale * sum[3 * a + c];
      }
    }
  }
};

} // namespace detail

/// `ebe`
template<class Exec, class Scalar>
class HexaElementOperator final : public HexaScaledOperator<Exec, Scalar> {
public:
  /// Does not fence.
  HexaElementOperator(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame)
      : HexaScaledOperator<Exec, Scalar>(arrays, 576 * sizeof(Scalar))
      , matrices_(make_hexa_matrices<1, Scalar>(exec, arrays, lame)) {}

  bool is_deterministic() const override { return false; }

protected:
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    fill_zeros(exec, y);
    Kokkos::parallel_for("ossatura::apply_hexa_matrices", range(exec, matrices_.num_elem),
                         detail::ApplyHexaMatrices<Exec, Scalar, true>{
                             this->arrays_, matrices_, {}, this->modulus_, x, y, 0});
  }

private:
  HexaMatrices<Exec, Scalar, 1> matrices_;
};

/// `ebe-colour`: matrices by colour, so that those of a launch are together.
template<class Exec, class Scalar>
class HexaColourOperator final : public HexaScaledOperator<Exec, Scalar> {
public:
  /// `mesh` is that of `arrays`. Fences.
  HexaColourOperator(const Exec& exec, const ElementMesh& mesh, const HexaArrays<Exec>& arrays,
                     const UnitLame& lame)
      : HexaScaledOperator<Exec, Scalar>(arrays, 576 * sizeof(Scalar) + sizeof(int)) {
    HexaColouring colouring = colour_hexa(mesh);
    order_ = upload(exec, "ossatura::hexa_colour::order", colouring.order);
    colour_begin_ = colouring.colour_begin;
    matrices_ = make_hexa_matrices<1, Scalar>(exec, arrays, lame, order_);
  }

  bool is_deterministic() const override { return true; }

  int num_colours() const { return int(colour_begin_.size()) - 1; }

protected:
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& y) const override {
    fill_zeros(exec, y);
    for (int c = 0; c < num_colours(); ++c) {
      const int begin = colour_begin_[std::size_t(c)], end = colour_begin_[std::size_t(c) + 1];
      Kokkos::parallel_for("ossatura::apply_hexa_colour", range(exec, end - begin),
                           detail::ApplyHexaMatrices<Exec, Scalar, false>{
                               this->arrays_, matrices_, order_, this->modulus_, x, y, begin});
    }
  }

private:
  Array<int, Exec> order_;
  std::vector<int> colour_begin_;
  HexaMatrices<Exec, Scalar, 1> matrices_;
};

} // namespace ossatura
