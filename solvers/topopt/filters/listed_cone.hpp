// SPDX-License-Identifier: Apache-2.0
// ListedConeFilter is the cone filter with a list of neighbours for each element of a mesh.
#pragma once

#include <ossatura/kernels/topopt/cone_filter.hpp>
#include <ossatura/solvers/topopt/filters/element_filter.hpp>

namespace ossatura {

template<class Exec>
class ListedConeFilter final : public ElementFilter<Exec> {
public:
  using Vector = Array<double, Exec>;

  /// As make_cone_filter. Fences.
  ListedConeFilter(const Exec& exec, const Vector& centroid, const Vector& volume, double radius,
                   const MirrorPlanes& mirrors)
      : filter_(make_cone_filter(exec, centroid, volume, radius, mirrors)) {}

  bool reaches_neighbours() const override {
    return std::int64_t(filter_.column.extent(0)) != filter_.num_elem;
  }
  SolveResult apply(const Exec& exec, const Vector& x, const Vector& y) const override {
    apply_cone_filter(exec, filter_, x, y);
    return done();
  }
  SolveResult apply_transposed(const Exec& exec, const Vector& gradient,
                               const Vector& result) const override {
    apply_cone_filter_transposed(exec, filter_, gradient, result);
    return done();
  }
  void filter_sensitivities(const Exec& exec, const Vector& density, const Vector& gradient,
                            const Vector& result) const override {
    ossatura::filter_sensitivities(exec, filter_, density, gradient, result);
  }

private:
  static SolveResult done() {
    SolveResult result;
    result.converged = true;
    return result;
  }

  ConeFilter<Exec> filter_;
};

} // namespace ossatura
