// SPDX-License-Identifier: Apache-2.0
// The prescribed values of held components, kept apart from the displacements, which move on.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct TakeHeld {
  Constraints<Exec> held;
  Array<double, Exec> u, value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = held.node(i);
    for (int c = 0; c < 3; ++c)
      value(3 * i + c) = held.mask(node) >> c & 1 ? u(3 * node + c) : 0;
  }
};

template<class Exec>
struct SetHeld {
  Constraints<Exec> held;
  Array<double, Exec> value;
  double factor;
  Array<double, Exec> u;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = held.node(i);
    for (int c = 0; c < 3; ++c)
      if (held.mask(node) >> c & 1)
        u(3 * node + c) = factor * value(3 * i + c);
  }
};

/// The largest of the values, of u at held components, and of their differences from factor value.
template<class Exec>
struct CompareHeld {
  Constraints<Exec> held;
  Array<double, Exec> value;
  double factor;
  Array<double, Exec> u;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& of_value, double& of_u,
                                  double& difference) const {
    const std::int64_t node = held.node(i);
    for (int c = 0; c < 3; ++c)
      if (held.mask(node) >> c & 1) {
        const double wanted = value(3 * i + c), found = u(3 * node + c);
        of_value = Kokkos::fmax(of_value, Kokkos::fabs(wanted));
        of_u = Kokkos::fmax(of_u, Kokkos::fabs(found));
        difference = Kokkos::fmax(difference, Kokkos::fabs(factor * wanted - found));
      }
  }
};

template<class Exec>
struct DotHeld {
  Constraints<Exec> held;
  Array<double, Exec> value, x;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const {
    for (int c = 0; c < 3; ++c)
      sum += value(3 * i + c) * x(3 * std::int64_t(held.node(i)) + c);
  }
};
} // namespace detail

/// [3 held.node] values of u at held components, 0 at the others of their nodes. Does not fence.
template<class Exec>
Array<double, Exec> take_held(const Exec& exec, const Constraints<Exec>& held,
                              const Array<double, Exec>& u) {
  const std::int64_t count = held.node.extent(0);
  const auto value = make_uninitialized<double>(exec, 3 * count, "ossatura::held_values");
  Kokkos::parallel_for("ossatura::take_held", range(exec, count),
                       detail::TakeHeld<Exec>{held, u, value});
  return value;
}

/// u = factor value at held components. Does not fence.
template<class Exec>
void set_held(const Exec& exec, const Constraints<Exec>& held, const Array<double, Exec>& value,
              double factor, const Array<double, Exec>& u) {
  Kokkos::parallel_for("ossatura::set_held", range(exec, held.node.extent(0)),
                       detail::SetHeld<Exec>{held, value, factor, u});
}

/// How u at held components compares with factor value.
struct HeldComparison {
  double of_value = 0, of_u = 0; ///< the largest
  double difference = 0;         ///< the largest of factor value - u
};

/// Fences.
template<class Exec>
HeldComparison compare_held(const Exec& exec, const Constraints<Exec>& held,
                            const Array<double, Exec>& value, double factor,
                            const Array<double, Exec>& u) {
  HeldComparison found;
  Kokkos::parallel_reduce("ossatura::compare_held", range(exec, held.node.extent(0)),
                          detail::CompareHeld<Exec>{held, value, factor, u},
                          Kokkos::Max<double>(found.of_value), Kokkos::Max<double>(found.of_u),
                          Kokkos::Max<double>(found.difference));
  return found;
}

/// Sum of value x over held components. Fences.
template<class Exec>
double dot_held(const Exec& exec, const Constraints<Exec>& held, const Array<double, Exec>& value,
                const Array<double, Exec>& x) {
  double sum = 0;
  Kokkos::parallel_reduce("ossatura::dot_held", range(exec, held.node.extent(0)),
                          detail::DotHeld<Exec>{held, value, x}, sum);
  return sum;
}

} // namespace ossatura
