// SPDX-License-Identifier: Apache-2.0
// Poisson's ratios that differ from element to element: Lame's constants for a modulus of 1 by
// element, and a product that is the sum of those of the ratios.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/hexa/operator.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ossatura {

/// For kernels; what it points to is HexaRatios.
struct HexaRatioPointers {
  ArrayPointer<const std::uint8_t> of_elem{};
  ArrayPointer<const double> lame{}; ///< [num_ratios, 2]

  /// Of an element; `common` where all have the same.
  KOKKOS_FORCEINLINE_FUNCTION UnitLame at(std::int64_t elem, const UnitLame& common) const {
    if (of_elem.data == nullptr)
      return common;
    const std::int64_t ratio = of_elem(elem);
    return {lame(2 * ratio), lame(2 * ratio + 1)};
  }
};

template<class Exec>
struct HexaRatios {
  Array<std::uint8_t, Exec> of_elem; ///< [num_elem], or empty: all elements have the same
  Array<double, Exec> lame;          ///< [num_ratios, 2]
  std::vector<UnitLame> each;        ///< the same on the host

  bool empty() const { return each.empty(); }
  HexaRatioPointers pointers() const { return {of_elem, lame}; }
};

/// Fences.
template<class Exec>
HexaRatios<Exec> make_hexa_ratios(const Exec& exec, const std::vector<double>& poisson,
                                  const std::vector<std::uint8_t>& of_elem) {
  HexaRatios<Exec> ratios;
  std::vector<double> lame;
  for (const double one : poisson) {
    ratios.each.push_back(unit_lame(one));
    lame.insert(lame.end(), {ratios.each.back().lambda, ratios.each.back().mu});
  }
  ratios.lame = upload(exec, "ossatura::hexa::ratio_lame", lame);
  ratios.of_elem = upload(exec, "ossatura::hexa::ratio_of_elem", of_elem);
  return ratios;
}

namespace detail {
template<class Exec>
struct TakeModuliOfRatio {
  Array<std::uint8_t, Exec> of_elem;
  Array<double, Exec> from, to;
  std::uint8_t ratio;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    to(e) = of_elem(e) == ratio ? from(e) : 0;
  }
};
} // namespace detail

/// The sum of operators of all elements, each for one ratio, in which elements of other ratios have
/// no modulus. A product costs as much as those of all, and is deterministic where they are.
template<class Exec, class Scalar>
class HexaRatioOperator final : public HexaOperator<Exec, Scalar> {
public:
  using Part = std::unique_ptr<HexaOperator<Exec, Scalar>>;

  /// An operator for each of the ratios, of `num_nodes` nodes.
  HexaRatioOperator(const Exec& exec, const HexaRatios<Exec>& ratios, std::vector<Part> parts,
                    std::int64_t num_nodes)
      : ratios_(ratios)
      , parts_(std::move(parts))
      , sum_(make_zeros<Scalar>(exec, 3 * num_nodes, "ossatura::hexa::ratio_sum")) {
    for (std::size_t k = 0; k < parts_.size(); ++k)
      modulus_.push_back(make_zeros<double>(exec, std::int64_t(ratios.of_elem.extent(0)),
                                            "ossatura::hexa::ratio_modulus"));
  }

  void set_modulus(const Exec& exec, const Array<double, Exec>& modulus) override {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Kokkos::parallel_for(
          "ossatura::take_moduli_of_ratio", range(exec, modulus.extent(0)),
          detail::TakeModuliOfRatio<Exec>{ratios_.of_elem, modulus, modulus_[k], std::uint8_t(k)});
      parts_[k]->set_modulus(exec, modulus_[k]);
    }
  }
  void apply(const Exec& exec, const Array<Scalar, Exec>& x,
             const Array<Scalar, Exec>& y) const override {
    parts_[0]->apply(exec, x, y);
    for (std::size_t k = 1; k < parts_.size(); ++k) {
      parts_[k]->apply(exec, x, sum_);
      axpby(exec, Scalar(1), sum_, Scalar(1), y);
    }
  }
  OperatorCost cost() const override {
    OperatorCost sum;
    for (const Part& part : parts_) {
      const OperatorCost own = part->cost();
      sum.bytes_kept += own.bytes_kept + std::int64_t(sizeof(double) * ratios_.of_elem.extent(0));
      sum.bytes_moved += own.bytes_moved + 3.0 * sizeof(Scalar) * double(sum_.extent(0));
      sum.flops += own.flops + double(sum_.extent(0));
    }
    return sum;
  }
  bool is_deterministic() const override {
    for (const Part& part : parts_)
      if (!part->is_deterministic())
        return false;
    return true;
  }

private:
  HexaRatios<Exec> ratios_;
  std::vector<Part> parts_;
  std::vector<Array<double, Exec>> modulus_; ///< [num_elem] of each
  Array<Scalar, Exec> sum_;                  ///< [num_nodes, 3]
};

} // namespace ossatura
