// SPDX-License-Identifier: Apache-2.0
// These functions are vector algebra on arrays of a backend. None fences except `dot` and the
// `*_norm2` forms, which return a host scalar. On a fixed backend and thread count every result is
// reproducible.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <cstdint>

namespace ossatura {

/// Range over [0, n) with 64-bit indices on `exec`.
template<class Exec>
auto range(const Exec& exec, std::int64_t n) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n);
}
/// Range over [begin, end).
template<class Exec>
auto range(const Exec& exec, std::int64_t begin, std::int64_t end) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, begin, end);
}

/// An array of n entries, all zero. Does not fence.
template<class T, class Exec>
Array<T, Exec> make_zeros(const Exec& exec, std::int64_t n, const std::string& label) {
  Array<T, Exec> x(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), n);
  Kokkos::deep_copy(exec, x, T(0));
  return x;
}

/// An array of n entries that the caller writes before reading. Does not fence.
template<class T, class Exec>
Array<T, Exec> make_uninitialized(const Exec& exec, std::int64_t n, const std::string& label) {
  return Array<T, Exec>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), n);
}

/// The only entry of an array, for instance a counter of kernels. Fences.
template<class Exec>
int read_count(const Exec& exec, const Array<int, Exec>& count) {
  int value = 0;
  const Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(&value,
                                                                                            1);
  Kokkos::deep_copy(exec, host, count);
  fence(exec, "ossatura::read_count");
  return value;
}

namespace detail {
template<class Exec, class T>
struct FillZeros {
  Array<T, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x(i) = T(0); }
};
} // namespace detail

/// x(i) = 0, by a kernel, so that it can be part of a LaunchGraph. Does not fence.
template<class Exec, class T>
void fill_zeros(const Exec& exec, const Array<T, Exec>& x) {
  Kokkos::parallel_for("ossatura::fill_zeros", range(exec, x.extent(0)),
                       detail::FillZeros<Exec, T>{x});
}

namespace detail {
template<class Exec, class S, class T>
struct Copy {
  Array<S, Exec> x;
  Array<T, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = T(x(i)); }
};
} // namespace detail

/// y(i) = x(i), with conversion between precisions.
template<class Exec, class S, class T>
void copy(const Exec& exec, const Array<S, Exec>& x, const Array<T, Exec>& y) {
  Kokkos::parallel_for("ossatura::copy", range(exec, x.extent(0)), detail::Copy<Exec, S, T>{x, y});
}

namespace detail {
template<class Exec, class T>
struct ScaleCopy {
  T a;
  Array<T, Exec> x;
  Array<T, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = a * x(i); }
};

template<class Exec, class T>
struct Axpby {
  T a;
  Array<T, Exec> x;
  T b;
  Array<T, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = a * x(i) + b * y(i); }
};
} // namespace detail

/// y(i) = a x(i) + b y(i); x may alias y. With b = 0, y is not read.
template<class Exec, class T>
void axpby(const Exec& exec, T a, const Array<T, Exec>& x, T b, const Array<T, Exec>& y) {
  if (b == T(0)) {
    Kokkos::parallel_for("ossatura::scale_copy", range(exec, x.extent(0)),
                         detail::ScaleCopy<Exec, T>{a, x, y});
  } else {
    Kokkos::parallel_for("ossatura::axpby", range(exec, x.extent(0)),
                         detail::Axpby<Exec, T>{a, x, b, y});
  }
}

namespace detail {
template<class Exec, class T>
struct Dot {
  Array<T, Exec> x;
  Array<T, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& partial) const {
    partial += double(x(i)) * double(y(i));
  }
};
} // namespace detail

/// Sum of x(i) y(i), accumulated in double. Fences.
template<class Exec, class T>
double dot(const Exec& exec, const Array<T, Exec>& x, const Array<T, Exec>& y) {
  double sum = 0;
  Kokkos::parallel_reduce("ossatura::dot", range(exec, x.extent(0)), detail::Dot<Exec, T>{x, y},
                          sum);
  return sum;
}

namespace detail {
template<class Exec, class T>
struct FillRandom {
  std::uint64_t seed;
  std::int64_t first;
  Array<T, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    // splitmix64 (Steele, Lea, Flood, OOPSLA 2014, doi:10.1145/2660193.2660195).
    std::uint64_t v = seed + 0x9e3779b97f4a7c15ull * std::uint64_t(first + i + 1);
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ v >> 27) * 0x94d049bb133111ebull;
    v ^= v >> 31;
    x(i) = T(double(v >> 11) * 0x1p-52 - 1);
  }
};
} // namespace detail

/// x(i) = uniform numbers in [-1, 1) that depend on `seed` and first + i alone: the same on every
/// backend. `first` is the place of x in a vector that several processes have parts of.
template<class Exec, class T>
void fill_random(const Exec& exec, std::uint64_t seed, const Array<T, Exec>& x,
                 std::int64_t first = 0) {
  Kokkos::parallel_for("ossatura::fill_random", range(exec, x.extent(0)),
                       detail::FillRandom<Exec, T>{seed, first, x});
}

namespace detail {
template<class Exec, class T>
struct SubtractAndNorm2 {
  Array<T, Exec> b;
  Array<T, Exec> r;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& partial) const {
    const T ri = b(i) - r(i);
    r(i) = ri;
    partial += double(ri) * double(ri);
  }
};
} // namespace detail

/// r = b - r, with r . r returned; fences.
template<class Exec, class T>
double subtract_and_norm2(const Exec& exec, const Array<T, Exec>& b, const Array<T, Exec>& r) {
  double sum = 0;
  Kokkos::parallel_reduce("ossatura::subtract_and_norm2", range(exec, r.extent(0)),
                          detail::SubtractAndNorm2<Exec, T>{b, r}, sum);
  return sum;
}

} // namespace ossatura
