// SPDX-License-Identifier: Apache-2.0
// A projection pushes filtered densities towards 0 and 1 by a smooth step [1].
//
// [1] F. Wang, B. Lazarov, O. Sigmund. On projection methods, convergence and robust formulations
//     in topology optimization. Struct. Multidiscip. Optim. 43 (2011) 767-784, equation (9),
//     doi:10.1007/s00158-010-0602-y.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

/// Keeps 0 and 1 where they are.
class TanhProjection {
public:
  /// `sharpness` beta > 0, `threshold` eta in [0, 1].
  TanhProjection(double sharpness, double threshold)
      : beta_(sharpness)
      , eta_(threshold)
      , low_(std::tanh(sharpness * threshold))
      , range_(low_ + std::tanh(sharpness * (1 - threshold))) {}

  KOKKOS_FUNCTION double value(double density) const {
    return (low_ + tanh(beta_ * (density - eta_))) / range_;
  }
  KOKKOS_FUNCTION double slope(double density) const {
    const double t = tanh(beta_ * (density - eta_));
    return beta_ * (1 - t * t) / range_;
  }
  /// The density in [0, 1] of which `value` is the value, for one in [0, 1].
  double inverse(double value) const {
    const double tanh_there = std::clamp(value * range_ - low_, -1 + 1e-15, 1 - 1e-15);
    return std::clamp(eta_ + std::atanh(tanh_there) / beta_, 0.0, 1.0);
  }

private:
  double beta_, eta_, low_, range_;
};

namespace detail {
template<class Exec>
struct Project {
  TanhProjection projection;
  Array<double, Exec> filtered, density;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    density(e) = projection.value(filtered(e));
  }
};

template<class Exec>
struct ProjectBack {
  TanhProjection projection;
  Array<double, Exec> filtered, gradient;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    gradient(e) *= projection.slope(filtered(e));
  }
};
} // namespace detail

/// density may alias filtered. Does not fence.
template<class Exec>
void project(const Exec& exec, const TanhProjection& projection,
             const Array<double, Exec>& filtered, const Array<double, Exec>& density) {
  Kokkos::parallel_for("ossatura::project", range(exec, filtered.extent(0)),
                       detail::Project<Exec>{projection, filtered, density});
}

/// Makes a gradient by projected densities one by filtered densities. Does not fence.
template<class Exec>
void project_back(const Exec& exec, const TanhProjection& projection,
                  const Array<double, Exec>& filtered, const Array<double, Exec>& gradient) {
  Kokkos::parallel_for("ossatura::project_back", range(exec, filtered.extent(0)),
                       detail::ProjectBack<Exec>{projection, filtered, gradient});
}

} // namespace ossatura
