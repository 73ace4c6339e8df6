// SPDX-License-Identifier: Apache-2.0
// These kernels are the vector passes of preconditioned conjugate gradients. Scalars stay in the
// memory of the backend: a pass leaves a sum there and the next pass reads the sum, so that the
// host waits for the residual's norm alone.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/integers.hpp>

#include <type_traits>

namespace ossatura {

/// The scalars of an iteration, in the memory of the backend.
struct CgScalars {
  double rz;      ///< r . z of the present direction
  double next_rz; ///< of the next one
  double pq;      ///< p . A p
  double norm2;   ///< r . r
};

/// Where they are: the first four in the order of CgScalars. Behind them are partial sums.
template<class Exec>
using CgScalarArray = Array<double, Exec>;

namespace detail {
/// Which entries of n a work item takes. On devices four, a warp's width apart, all loaded before
/// the first is stored: memory is kept busy by the number of loads under way. On cores so many side
/// by side that they fill vectors, and that a sum does not wait for each term.
template<class Exec>
struct Entries {
  static constexpr bool device = BackendTraits<Exec>::is_device;
  static constexpr int per_item = device ? 4 : 32;
  std::int64_t n, item;

  KOKKOS_FUNCTION std::int64_t entry(int k) const {
    return device ? (item / 32 * per_item + k) * 32 + item % 32 : item * per_item + k;
  }
  static std::int64_t num_items(std::int64_t n) {
    return device ? (n + 32 * per_item - 1) / (32 * per_item) * 32 : (n + per_item - 1) / per_item;
  }

  /// body(k, entry) for the item's entries, k < per_item.
  template<class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(const Body& body) const {
    const std::int64_t first = entry(0);
    if (!device && first + per_item <= n) {
      for (int k = 0; k < int(per_item); ++k)
        body(k, first + k);
    } else {
      for (int k = 0; k < int(per_item); ++k)
        if (entry(k) < n)
          body(k, entry(k));
    }
  }
};

/// Adds up terms of an item, on cores every fourth apart, so that vectors can.
template<class Exec>
KOKKOS_FORCEINLINE_FUNCTION double sum_of_item(const double (&term)[Entries<Exec>::per_item]) {
  constexpr int n = Entries<Exec>::per_item;
  double sum[4] = {0, 0, 0, 0};
  for (int k = 0; k < n; k += 4)
    for (int l = 0; l < 4; ++l)
      sum[l] += term[k + l];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template<class Exec>
using DeviceSum =
    Kokkos::View<double, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template<class Exec>
DeviceSum<Exec> device_sum(const CgScalarArray<Exec>& scalars, int k) {
  return DeviceSum<Exec>(scalars.data() + k);
}

/// A team of devices goes through consecutive entries, and leaves their sum. Teams start in their
/// order, so that what is read and written at a time lies together; a reduction of Kokkos has each
/// of a few hundred blocks go through a part of its own, and passes that write, too, then reach
/// two thirds of the copy bandwidth.
template<class Exec, class Pass, class Sum = double>
struct SumOfTeam {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = 256;
  static constexpr int entries = threads * Entries<Exec>::per_item;
  Pass pass;
  std::int64_t num_items;
  Sum* partial_sum;

  static std::int64_t num_teams(std::int64_t n) { return (n + entries - 1) / entries; }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t item = std::int64_t(team.league_rank()) * threads + team.team_rank();
    Sum sum{};
    if (item < num_items)
      pass(item, sum);
    team.team_reduce(Kokkos::Sum<Sum>(sum));
    if (team.team_rank() == 0)
      partial_sum[team.league_rank()] = sum;
  }
};

template<class Exec>
struct AddPartialSums {
  const double* partial_sum;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const { sum += partial_sum[i]; }
};

/// scalars(k) = the sum of `count` partial sums.
template<class Exec>
void add_partial_sums(const Exec& exec, const double* partial_sum, std::int64_t count,
                      const CgScalarArray<Exec>& scalars, int k) {
  Kokkos::parallel_reduce("ossatura::cg::add_partial_sums", range(exec, count),
                          AddPartialSums<Exec>{partial_sum}, device_sum<Exec>(scalars, k));
}

/// scalars(k) = the sum of pass(item, sum) over the items of n entries.
template<class Exec, class Pass>
void run_pass(const Exec& exec, const char* label, std::int64_t n, const Pass& pass,
              const CgScalarArray<Exec>& scalars, int k) {
  const std::int64_t num_items = Entries<Exec>::num_items(n);
  if constexpr (BackendTraits<Exec>::is_device) {
    using Kernel = SumOfTeam<Exec, Pass>;
    const std::int64_t num_teams = Kernel::num_teams(n);
    if (num_teams > 1000) { // else a launch more takes longer
      double* const partial_sum = scalars.data() + 4;
      Kokkos::parallel_for(label,
                           Kokkos::TeamPolicy<Exec>(exec, int(num_teams), int(Kernel::threads)),
                           Kernel{pass, num_items, partial_sum});
      add_partial_sums(exec, partial_sum, num_teams, scalars, k);
      return;
    }
  }
  Kokkos::parallel_reduce(label, range(exec, num_items), pass, device_sum<Exec>(scalars, k));
}

template<class Exec, class S, class T>
struct MixedDot {
  Array<S, Exec> x;
  Array<T, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t item, double& partial) const {
    if constexpr (BackendTraits<Exec>::is_device) {
      partial += double(x(item)) * double(y(item));
    } else {
      double term[Entries<Exec>::per_item] = {};
      Entries<Exec>{std::int64_t(x.extent(0)), item}.each(
          [&](int k, std::int64_t i) { term[k] = double(x(i)) * double(y(i)); });
      partial += sum_of_item<Exec>(term);
    }
  }
};

/// scalars(k) = x . y
template<class Exec, class S, class T>
void reduce_dot(const Exec& exec, const char* label, const Array<S, Exec>& x,
                const Array<T, Exec>& y, const CgScalarArray<Exec>& scalars, int k) {
  const std::int64_t n = std::int64_t(x.extent(0)),
                     items = BackendTraits<Exec>::is_device ? n : Entries<Exec>::num_items(n);
  Kokkos::parallel_reduce(label, range(exec, items), MixedDot<Exec, S, T>{x, y},
                          device_sum<Exec>(scalars, k));
}
} // namespace detail

/// Scalars for vectors of n entries, all zero.
template<class Exec>
CgScalarArray<Exec> make_cg_scalars(const Exec& exec, std::int64_t n) {
  const std::int64_t partial_sums =
      BackendTraits<Exec>::is_device
          ? detail::SumOfTeam<Exec, detail::AddPartialSums<Exec>>::num_teams(n)
          : 0;
  return make_zeros<double>(exec, 4 + partial_sums, "ossatura::cg::scalars");
}

/// scalars.pq = p . q, or scalars.next_rz = r . z, from partial sums of an operator's parts
/// (kernels/algebra/fused_updates/fused.hpp). Do not fence.
template<class Exec>
void cg_curvature(const Exec& exec, const Array<double, Exec>& partial_sum,
                  const CgScalarArray<Exec>& scalars) {
  detail::add_partial_sums(exec, partial_sum.data(), std::int64_t(partial_sum.extent(0)), scalars,
                           2);
}
template<class Exec>
void cg_angle(const Exec& exec, const Array<double, Exec>& partial_sum,
              const CgScalarArray<Exec>& scalars) {
  detail::add_partial_sums(exec, partial_sum.data(), std::int64_t(partial_sum.extent(0)), scalars,
                           1);
}

/// scalars.pq = p . q. Does not fence.
template<class Exec, class T>
void cg_curvature(const Exec& exec, const Array<T, Exec>& p, const Array<T, Exec>& q,
                  const CgScalarArray<Exec>& scalars) {
  detail::reduce_dot(exec, "ossatura::cg_curvature", p, q, scalars, 2);
}

namespace detail {
/// How a step adds up r . r: in the order of the backend.
struct AddInOrder {
  using Sum = double;
  template<class Exec>
  KOKKOS_FORCEINLINE_FUNCTION void
  add(const Entries<Exec>&, const double (&term)[Entries<Exec>::per_item], double& sum) const {
    if constexpr (BackendTraits<Exec>::is_device) {
      for (const double t : term)
        sum += t;
    } else {
      sum += sum_of_item<Exec>(term);
    }
  }
};

/// As integers, over the entries that this process owns.
struct AddOwnedAsIntegers {
  using Sum = IntegerSum;
  IntegerScale scale;
  std::int64_t begin, end;
  template<class Exec>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Entries<Exec>& entries,
                                       const double (&term)[Entries<Exec>::per_item],
                                       IntegerSum& sum) const {
    entries.each([&](int k, std::int64_t i) {
      if (i >= begin && i < end)
        scale.add(term[k], sum);
    });
  }
};

template<class Exec, class U, class T, class B, class Norm = AddInOrder>
struct CgStep {
  Array<double, Exec> scalars;
  double unscale;
  Array<T, Exec> p, q;
  Array<U, Exec> x;
  Array<T, Exec> r;
  Array<B, Exec> b;
  Norm norm{};

  KOKKOS_FUNCTION void operator()(std::int64_t item, typename Norm::Sum& partial) const {
    constexpr int n = Entries<Exec>::per_item;
    const double rz = scalars(0), pq = scalars(2);
    const double alpha = rz > 0 && pq > 0 ? rz / pq : 0;
    const Entries<Exec> entries{std::int64_t(r.extent(0)), item};
    T p_k[n] = {}, q_k[n] = {}, r_k[n] = {};
    U x_k[n] = {};
    entries.each([&](int k, std::int64_t i) { r_k[k] = r(i); });
    if (alpha > 0) { // p may hold NaN if not
      entries.each([&](int k, std::int64_t i) {
        p_k[k] = p(i);
        q_k[k] = q(i);
        x_k[k] = x(i);
      });
      const U along = U(alpha * unscale);
      entries.each([&](int k, std::int64_t i) {
        x(i) = x_k[k] + along * U(p_k[k]);
        r_k[k] -= T(alpha) * q_k[k];
        r(i) = r_k[k];
        if constexpr (!std::is_same_v<B, T>)
          b(i) = B(r_k[k]);
      });
    }
    double term[n];
    for (int k = 0; k < n; ++k)
      term[k] = double(r_k[k]) * double(r_k[k]);
    norm.add(entries, term, partial);
  }
};
} // namespace detail

/// With alpha = rz / pq, or 0 unless both are positive: x += alpha unscale p, r -= alpha q, b = r
/// in the precision of b (which is r if that is the same), scalars.norm2 = r . r. Does not fence.
template<class Exec, class U, class T, class B>
void cg_step(const Exec& exec, double unscale, const Array<T, Exec>& p, const Array<T, Exec>& q,
             const Array<U, Exec>& x, const Array<T, Exec>& r, const Array<B, Exec>& b,
             const CgScalarArray<Exec>& scalars) {
  detail::run_pass(exec, "ossatura::cg_step", std::int64_t(r.extent(0)),
                   detail::CgStep<Exec, U, T, B>{scalars, unscale, p, q, x, r, b}, scalars, 3);
}

/// How many parts of `sums` a step takes that adds integers.
template<class Exec>
std::int64_t cg_step_parts(std::int64_t n) {
  return BackendTraits<Exec>::is_device
             ? detail::SumOfTeam<Exec, detail::AddPartialSums<Exec>>::num_teams(n)
             : 0;
}

/// The same, with r . r of this process, over the entries [begin, end) that it owns, in
/// sums.mine(); scalars.norm2 stays as it is.
template<class Exec, class U, class T, class B>
void cg_step(const Exec& exec, double unscale, const Array<T, Exec>& p, const Array<T, Exec>& q,
             const Array<U, Exec>& x, const Array<T, Exec>& r, const Array<B, Exec>& b,
             const CgScalarArray<Exec>& scalars, const IntegerSums<Exec>& sums,
             const IntegerScale& scale, std::int64_t begin, std::int64_t end) {
  using Pass = detail::CgStep<Exec, U, T, B, detail::AddOwnedAsIntegers>;
  const Pass pass{scalars, unscale, p, q, x, r, b, {scale, begin, end}};
  const std::int64_t n = std::int64_t(r.extent(0)), num_items = detail::Entries<Exec>::num_items(n);
  if constexpr (BackendTraits<Exec>::is_device) {
    using Kernel = detail::SumOfTeam<Exec, Pass, IntegerSum>;
    const std::int64_t num_teams = Kernel::num_teams(n);
    Kokkos::parallel_for("ossatura::cg_step",
                         Kokkos::TeamPolicy<Exec>(exec, int(num_teams), int(Kernel::threads)),
                         Kernel{pass, num_items, sums.parts()});
    sums.add_parts(exec, num_teams);
  } else {
    Kokkos::parallel_reduce("ossatura::cg_step", range(exec, num_items), pass, sums.mine());
  }
}

/// scalars.next_rz = r . z. Does not fence.
template<class Exec, class T, class B>
void cg_angle(const Exec& exec, const Array<T, Exec>& r, const Array<B, Exec>& z,
              const CgScalarArray<Exec>& scalars) {
  detail::reduce_dot(exec, "ossatura::cg_angle", r, z, scalars, 1);
}

namespace detail {
template<class Exec, class T, class B>
struct CgDirection {
  Array<double, Exec> scalars;
  double rescale;
  Array<B, Exec> z;
  Array<T, Exec> p;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    constexpr int n = Entries<Exec>::per_item;
    const bool start = rescale == 0; // p is not read
    const T beta = start ? T(0) : T(scalars(1) / (scalars(0) * rescale));
    const Entries<Exec> entries{std::int64_t(p.extent(0)), item};
    T p_k[n] = {};
    entries.each([&](int k, std::int64_t i) { p_k[k] = T(z(i)); });
    if (!start)
      entries.each([&](int k, std::int64_t i) { p_k[k] += beta * p(i); });
    entries.each([&](int k, std::int64_t i) { p(i) = p_k[k]; });
  }
};

template<class Exec>
struct CgAdvance {
  Array<double, Exec> scalars;
  KOKKOS_FUNCTION void operator()(std::int64_t) const { scalars(0) = scalars(1); }
};
} // namespace detail

/// p = z + beta p and rz = next_rz, where beta = next_rz / (rescale rz). `rescale` is the factor by
/// which the residual was scaled since p was formed (p counts in the former scale); 0 makes p = z.
/// Does not fence.
template<class Exec, class T, class B>
void cg_direction(const Exec& exec, double rescale, const Array<B, Exec>& z,
                  const Array<T, Exec>& p, const CgScalarArray<Exec>& scalars) {
  Kokkos::parallel_for("ossatura::cg_direction",
                       range(exec, detail::Entries<Exec>::num_items(p.extent(0))),
                       detail::CgDirection<Exec, T, B>{scalars, rescale, z, p});
  Kokkos::parallel_for("ossatura::cg_direction::advance", range(exec, 1),
                       detail::CgAdvance<Exec>{scalars});
}

/// The scalars as they are after the work launched so far. Fences.
template<class Exec>
CgScalars read_scalars(const Exec& exec, const CgScalarArray<Exec>& scalars) {
  double values[4];
  const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values, 4);
  Kokkos::deep_copy(exec, host, Array<double, Exec>(scalars.data(), 4));
  fence(exec, "ossatura::read_scalars");
  return {values[0], values[1], values[2], values[3]};
}

namespace detail {
template<class Exec, class T, class B>
struct ScaleResidual {
  T scale;
  Array<T, Exec> r;
  Array<B, Exec> b;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const T ri = scale * r(i);
    r(i) = ri;
    if constexpr (!std::is_same_v<B, T>)
      b(i) = B(ri);
  }
};
} // namespace detail

/// r = scale r and b = r in the precision of b (which is r if that is the same). Does not fence.
template<class Exec, class T, class B>
void scale_residual(const Exec& exec, T scale, const Array<T, Exec>& r, const Array<B, Exec>& b) {
  Kokkos::parallel_for("ossatura::scale_residual", range(exec, r.extent(0)),
                       detail::ScaleResidual<Exec, T, B>{scale, r, b});
}

} // namespace ossatura
