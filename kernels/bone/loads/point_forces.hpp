// SPDX-License-Identifier: Apache-2.0
// Point forces are a vector of nodal forces that is zero but for few nodes.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>

namespace ossatura {

template<class Exec>
struct PointForces {
  Array<int, Exec> node;     ///< [count] each once
  Array<double, Exec> force; ///< [count, 3]

  std::int64_t count() const { return std::int64_t(node.extent(0)); }
};

namespace detail {

template<class Exec>
struct SubtractPointForces {
  PointForces<Exec> f;
  Array<double, Exec> y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(f.node(i)) + c) -= f.force(3 * i + c);
  }
};

template<class Exec>
struct ClearHeldForces {
  PointForces<Exec> f;
  Array<std::uint8_t, Exec> mask;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int c = 0; c < 3; ++c)
      if (mask(f.node(i)) >> c & 1)
        f.force(3 * i + c) = 0;
  }
};

/// own [2]: f . u and f . f
template<class Exec>
struct PointForceTerms {
  PointForces<Exec> f;
  Array<double, Exec> u; ///< or empty
  KOKKOS_FUNCTION void operator()(std::int64_t i, double* own) const {
    for (int c = 0; c < 3; ++c) {
      const double force = f.force(3 * i + c);
      if (u.extent(0) > 0)
        own[0] += force * u(3 * std::int64_t(f.node(i)) + c);
      own[1] += force * force;
    }
  }
};

} // namespace detail

/// y [num_nodes, 3] -= f. Does not fence.
template<class Exec>
void subtract(const Exec& exec, const PointForces<Exec>& f, const Array<double, Exec>& y) {
  Kokkos::parallel_for("ossatura::subtract_point_forces", range(exec, f.count()),
                       detail::SubtractPointForces<Exec>{f, y});
}

/// f = 0 at held components. Does not fence.
template<class Exec>
void clear(const Exec& exec, const Constraints<Exec>& held, const PointForces<Exec>& f) {
  Kokkos::parallel_for("ossatura::clear_held_forces", range(exec, f.count()),
                       detail::ClearHeldForces<Exec>{f, held.mask});
}

/// f . u, u [num_nodes, 3]. Fences.
template<class Exec>
double dot(const Exec& exec, const PointForces<Exec>& f, const Array<double, Exec>& u) {
  return part_sums<2>(exec, "ossatura::point_forces::dot", f.count(),
                      detail::PointForceTerms<Exec>{f, u})[0];
}

/// f . f. Fences.
template<class Exec>
double square(const Exec& exec, const PointForces<Exec>& f) {
  return part_sums<2>(exec, "ossatura::point_forces::square", f.count(),
                      detail::PointForceTerms<Exec>{f, {}})[1];
}

} // namespace ossatura
