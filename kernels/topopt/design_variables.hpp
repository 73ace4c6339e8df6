// SPDX-License-Identifier: Apache-2.0
// Every optimiser shares these passes over design variables: roles of elements, bounds, and the
// sums that describe a design.
#pragma once

#include <ossatura/core/mesh/design_role.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/topopt/element_volumes.hpp>
#include <ossatura/kernels/topopt/simp.hpp>

#include <array>

namespace ossatura {

namespace detail {
template<class Exec>
struct SetPassive {
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> x;
  double solid, hollow;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    if (role(e) != std::uint8_t(DesignRole::free))
      x(e) = role(e) == std::uint8_t(DesignRole::solid) ? solid : hollow;
  }
};
} // namespace detail

/// x(e) = `solid` or `hollow` in elements that are not free. Does not fence.
template<class Exec>
void set_passive(const Exec& exec, const Array<std::uint8_t, Exec>& role, double solid,
                 double hollow, const Array<double, Exec>& x) {
  Kokkos::parallel_for("ossatura::set_passive", range(exec, x.extent(0)),
                       detail::SetPassive<Exec>{role, x, solid, hollow});
}

/// Where variables may go in a step: within `move` of x, in [least, 1]; nowhere unless free.
template<class Exec>
struct MoveRange {
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> x;
  double least, move;

  KOKKOS_FUNCTION bool is_fixed(std::int64_t e) const {
    return role(e) != std::uint8_t(DesignRole::free);
  }
  KOKKOS_FUNCTION double lower(std::int64_t e) const {
    const double here = x(e);
    return is_fixed(e) ? here : here - move > least ? here - move : least;
  }
  KOKKOS_FUNCTION double upper(std::int64_t e) const {
    const double here = x(e);
    return is_fixed(e) ? here : here + move < 1 ? here + move : 1;
  }
};

namespace detail {
template<class Exec>
struct StoreMoveRange {
  MoveRange<Exec> range;
  Array<double, Exec> lower, upper;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    lower(e) = range.lower(e);
    upper(e) = range.upper(e);
  }
};
} // namespace detail

/// The bounds of a range as arrays [num_elem]. Does not fence.
template<class Exec>
void store_bounds(const Exec& exec, const MoveRange<Exec>& bounds, const Array<double, Exec>& lower,
                  const Array<double, Exec>& upper) {
  Kokkos::parallel_for("ossatura::store_bounds", range(exec, lower.extent(0)),
                       detail::StoreMoveRange<Exec>{bounds, lower, upper});
}

namespace detail {
template<class Exec>
struct LowerFree {
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> from, x;
  double least, by;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const bool free = role(e) == std::uint8_t(DesignRole::free);
    x(e) = !free ? from(e) : Kokkos::max(least, Kokkos::min(from(e) - by, 1.0));
  }
};
} // namespace detail

/// x = from less `by`, which may be negative, where an element is free, in [least, 1]. Does not
/// fence.
template<class Exec>
void lower_free(const Exec& exec, const Array<std::uint8_t, Exec>& role,
                const Array<double, Exec>& from, double least, double by,
                const Array<double, Exec>& x) {
  Kokkos::parallel_for("ossatura::lower_free", range(exec, x.extent(0)),
                       detail::LowerFree<Exec>{role, from, x, least, by});
}

namespace detail {
template<class Exec>
struct ScaleFree {
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> from, x;
  double floor, least, factor;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    if (role(e) != std::uint8_t(DesignRole::free)) {
      x(e) = from(e);
      return;
    }
    const double scaled = factor * Kokkos::max(from(e), floor);
    x(e) = Kokkos::max(least, Kokkos::min(scaled, 1.0));
  }
};
} // namespace detail

/// x = `factor` times `from`, and that at least `floor`, where an element is free, in [least, 1].
/// Does not fence.
template<class Exec>
void scale_free(const Exec& exec, const Array<std::uint8_t, Exec>& role,
                const Array<double, Exec>& from, double floor, double least, double factor,
                const Array<double, Exec>& x) {
  Kokkos::parallel_for("ossatura::scale_free", range(exec, x.extent(0)),
                       detail::ScaleFree<Exec>{role, from, x, floor, least, factor});
}

namespace detail {
template<class Exec>
struct ScaleBySlope {
  SimpLaw law;
  Array<double, Exec> density, gradient;
  double factor;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    gradient(e) *= factor * law.slope(e, density(e));
  }
};
} // namespace detail

/// Makes `gradient`, by moduli, `factor` times one by densities. Does not fence.
template<class Exec>
void scale_by_slope(const Exec& exec, const SimpLaw& law, const Array<double, Exec>& density,
                    double factor, const Array<double, Exec>& gradient) {
  Kokkos::parallel_for("ossatura::scale_by_slope", range(exec, density.extent(0)),
                       detail::ScaleBySlope<Exec>{law, density, gradient, factor});
}

namespace detail {
template<class Exec>
struct FindDensityRange {
  ElementVolumes<Exec> volume;
  Array<double, Exec> density;
  KOKKOS_FUNCTION void operator()(std::int64_t e, Kokkos::MinMaxScalar<double>& range) const {
    if (volume(e) > 0) {
      range.min_val = Kokkos::min(range.min_val, density(e));
      range.max_val = Kokkos::max(range.max_val, density(e));
    }
  }
};
} // namespace detail

/// The least and the greatest density of elements. Fences.
template<class Exec>
std::array<double, 2> density_range(const Exec& exec, const ElementVolumes<Exec>& volume,
                                    const Array<double, Exec>& density) {
  Kokkos::MinMaxScalar<double> result;
  Kokkos::parallel_reduce("ossatura::density_range", range(exec, volume.size()),
                          detail::FindDensityRange<Exec>{volume, density},
                          Kokkos::MinMax<double>(result));
  return {result.min_val, result.max_val};
}

/// Sums over elements.
struct DesignSums {
  double volume = 0;      ///< of material
  double grey = 0;        ///< 4 rho (1 - rho), by volume, over free elements
  double free_volume = 0; ///< of free elements
  double total_volume = 0;
};

namespace detail {
template<class Exec>
struct DesignTerms {
  Array<std::uint8_t, Exec> role;
  ElementVolumes<Exec> volume;
  Array<double, Exec> density;
  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    const double v = volume(e), rho = density(e);
    own[0] += v * rho;
    own[3] += v;
    if (role(e) == std::uint8_t(DesignRole::free)) {
      own[1] += v * 4 * rho * (1 - rho);
      own[2] += v;
    }
  }
};
} // namespace detail

/// Fences.
template<class Exec>
DesignSums sum_design(const Exec& exec, const Array<std::uint8_t, Exec>& role,
                      const ElementVolumes<Exec>& volume, const Array<double, Exec>& density) {
  const auto sums = part_sums<4>(exec, "ossatura::sum_design", volume.size(),
                                 detail::DesignTerms<Exec>{role, volume, density});
  return {sums[0], sums[1], sums[2], sums[3]};
}

namespace detail {
template<class Exec>
struct WeightedSize {
  Array<double, Exec> x, y;
  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    own[0] += fabs(x(e) * y(e));
  }
};
} // namespace detail

/// Sum of |x(e) y(e)|: not finite if any of them is not (unless 0 times infinity hides it: NaN,
/// too). Fences.
template<class Exec>
double sum_of_sizes(const Exec& exec, const Array<double, Exec>& x, const Array<double, Exec>& y) {
  return part_sums<1>(exec, "ossatura::sum_of_sizes", x.extent(0),
                      detail::WeightedSize<Exec>{x, y})[0];
}

} // namespace ossatura
