// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/settlement.hpp>

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/krylov/vector_sums.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura::detail {

namespace {

KOKKOS_INLINE_FUNCTION bool is_held_component(const ArrayPointer<const std::uint8_t>& held,
                                              std::int64_t i) {
  return (held(i / 3) >> (i % 3) & 1) != 0;
}

/// Of vertices, one component: displacements, or how many are held.
struct SumHeld {
  int component;
  bool counts;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> u;
  KOKKOS_FUNCTION void operator()(std::int64_t v, double& sum) const {
    const std::int64_t i = 3 * v + component;
    if (is_held_component(held, i))
      sum += counts ? 1 : u(i);
  }
};

struct Translate {
  double by[3];
  bool held_alone;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<double> u;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!held_alone || is_held_component(held, i))
      u(i) += by[i % 3];
  }
};

struct CountMoved {
  bool held_ones;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> u;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    sum += is_held_component(held, i) == held_ones && u(i) != 0;
  }
};

struct CopyHeld {
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> y;
  ArrayPointer<double> x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (is_held_component(held, i))
      x(i) = y(i);
  }
};

/// Squares of loads, and of the forces y = K u that move held components.
struct SumOuterForces {
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> f, u, y;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const {
    if (!is_held_component(held, i))
      sum += f(i) * f(i);
    else if (u(i) != 0)
      sum += y(i) * y(i);
  }
};

} // namespace

template<class Exec>
Settlement<Exec>::Settlement(const Exec& exec, std::int32_t num_vertices,
                             const Array<std::uint8_t, Exec>& held, const Array<double, Exec>& u)
    : num_vertices_(num_vertices)
    , held_(held) {
  for (int c = 0; c < 3; ++c) {
    double sum[2];
    for (const bool counts : {false, true})
      Kokkos::parallel_reduce("ossatura::settlement::sum", range(exec, num_vertices),
                              SumHeld{c, counts, held, u}, sum[counts]);
    if (sum[1] > 0)
      by_[std::size_t(c)] = sum[0] / sum[1];
  }
}

template<class Exec>
void Settlement<Exec>::take(const Exec& exec, const Array<double, Exec>& u) {
  if (is_none())
    return;
  before_ = make_uninitialized<double>(exec, std::int64_t(u.extent(0)), "ossatura::settlement::u");
  Kokkos::deep_copy(exec, before_, u);
  const bool held_alone = !has_moved(exec, held_, false, u);
  Kokkos::parallel_for("ossatura::settlement::take", range(exec, 3 * std::int64_t(num_vertices_)),
                       Translate{{-by_[0], -by_[1], -by_[2]}, held_alone, held_, u});
}

template<class Exec>
void Settlement<Exec>::take_all(const Exec& exec, const Array<double, Exec>& u) const {
  Kokkos::parallel_for("ossatura::settlement::take_all",
                       range(exec, 3 * std::int64_t(num_vertices_)),
                       Translate{{-by_[0], -by_[1], -by_[2]}, false, held_, u});
}

template<class Exec>
void Settlement<Exec>::give(const Exec& exec, const Array<double, Exec>& u) const {
  if (is_none())
    return;
  Kokkos::parallel_for("ossatura::settlement::give", range(exec, 3 * std::int64_t(num_vertices_)),
                       Translate{{by_[0], by_[1], by_[2]}, false, held_, u});
  Kokkos::parallel_for("ossatura::settlement::held", range(exec, u.extent(0)),
                       CopyHeld{held_, before_, u});
}

template<class Exec>
bool has_moved(const Exec& exec, const Array<std::uint8_t, Exec>& held, bool held_ones,
               const Array<double, Exec>& u) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::settlement::moved", range(exec, u.extent(0)),
                          CountMoved{held_ones, held, u}, count);
  return count > 0;
}

template<class Exec>
SolutionSize size_of(const Exec& exec, const Array<std::uint8_t, Exec>& held,
                     const Array<double, Exec>& f, const Array<double, Exec>& u,
                     const Array<double, Exec>& y) {
  double squares = 0;
  Kokkos::parallel_reduce("ossatura::settlement::forces", range(exec, u.extent(0)),
                          SumOuterForces{held, f, u, y}, squares);
  return {std::sqrt(squares), std::sqrt(std::max(VectorSums<Exec>().dot(exec, u, y), 0.0))};
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class Settlement<Exec>;                                                                 \
  template bool has_moved(const Exec&, const Array<std::uint8_t, Exec>&, bool,                     \
                          const Array<double, Exec>&);                                             \
  template SolutionSize size_of(const Exec&, const Array<std::uint8_t, Exec>&,                     \
                                const Array<double, Exec>&, const Array<double, Exec>&,            \
                                const Array<double, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
