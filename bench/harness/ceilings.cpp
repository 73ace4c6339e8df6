// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/ceilings.hpp"

#include "bench/host/multiply_adds/multiply_adds.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/machine/instruction_set.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace ossatura::bench {

namespace {

/// Independent chains c <- a c + b, kept in registers; out(i) = their sum.
template<class Scalar, class Exec, bool on_device = BackendTraits<Exec>::is_device>
struct MultiplyAdd {
  static constexpr int chains = 16;
  int steps;
  Scalar a, b;
  Array<Scalar, Exec> out;

  static int num_chains() { return chains; }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Scalar chain[chains];
    for (int j = 0; j < chains; ++j)
      chain[j] = Scalar(j);
    for (int step = 0; step < steps; ++step)
      for (int j = 0; j < chains; ++j)
        chain[j] = a * chain[j] + b;
    Scalar sum = 0;
    for (int j = 0; j < chains; ++j)
      sum += chain[j];
    out(i) = sum;
  }
};

/// Of this processor, whatever kernels are limited to.
const HostMultiplyAdds& host_multiply_adds() {
  const InstructionSet set = best_instruction_set();
  if (set >= InstructionSet::avx512 && avx512_multiply_adds() != nullptr)
    return *avx512_multiply_adds();
  if (set >= InstructionSet::avx2 && avx2_multiply_adds() != nullptr)
    return *avx2_multiply_adds();
  return *baseline_multiply_adds();
}

template<class Scalar, class Exec>
struct MultiplyAdd<Scalar, Exec, false> {
  int steps;
  Scalar a, b;
  Array<Scalar, Exec> out;
  HostChains<Scalar> chains = host_multiply_adds().of(Scalar());

  int num_chains() const { return chains.num_chains; }
  void operator()(std::int64_t i) const { out(i) = chains.multiply(a, b, steps); }
};

template<class Exec>
struct Fill {
  double value;
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x(i) = value; }
};

template<class Exec>
struct Empty {
  KOKKOS_FUNCTION void operator()(std::int64_t) const {}
};

template<class T, class Exec>
T first_entry(const Exec& exec, const Array<T, Exec>& x) {
  T value = 0;
  Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(&value);
  Kokkos::deep_copy(exec, host, Kokkos::subview(x, 0));
  fence(exec, "ossatura::bench::first_entry");
  return value;
}

/// Shortest of `repeats` runs after one that is not counted.
template<class Exec, class Work>
double best_time(const Exec& exec, int repeats, const Work& work) {
  double best = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    fence(exec, "ossatura::bench::best_time");
    const Stopwatch watch;
    work();
    fence(exec, "ossatura::bench::best_time");
    if (repeat > 0)
      best = std::min(best, watch.seconds());
  }
  return best;
}

template<class Scalar, class Exec>
double measure_fma_rate(const Exec& exec, int repeats) {
  const std::int64_t items = BackendTraits<Exec>::is_device ? 1 << 20 : 1 << 12;
  // The fixed point b / (1 - a) of every chain is 2, and 0.5^512 of the start is left.
  const MultiplyAdd<Scalar, Exec> work{
      512, Scalar(0.5), Scalar(1), make_uninitialized<Scalar>(exec, items, "ossatura::bench::fma")};
  const double seconds = best_time(exec, repeats, [&] {
    Kokkos::parallel_for("ossatura::bench::MultiplyAdd", range(exec, items), work);
  });
  const double found = first_entry(exec, work.out), expected = 2.0 * work.num_chains();
  if (std::abs(found - expected) > 1e-4 * expected)
    fail<std::runtime_error>("multiply-adds end at ", found, ", not at ", expected);
  return 2.0 * work.num_chains() * work.steps * double(items) / seconds;
}

} // namespace

template<class Exec>
Ceilings measure_ceilings(const Exec& exec, std::int64_t bytes) {
  constexpr int repeats = 7;
  Ceilings found;
  {
    const std::int64_t n = bytes / std::int64_t(sizeof(double));
    const Array<double, Exec> x = make_uninitialized<double>(exec, n, "ossatura::bench::copy_from");
    const Array<double, Exec> y = make_zeros<double>(exec, n, "ossatura::bench::copy_to");
    Kokkos::deep_copy(exec, x, 1.0);
    const double by_loop = best_time(exec, repeats, [&] { copy(exec, x, y); });
    Kokkos::deep_copy(exec, x, 2.0);
    const double by_kokkos = best_time(exec, repeats, [&] { Kokkos::deep_copy(exec, y, x); });
    found.copy_rate = 2.0 * double(n * sizeof(double)) / std::min(by_loop, by_kokkos);
    const double fill_by_loop = best_time(exec, repeats, [&] {
      Kokkos::parallel_for("ossatura::bench::Fill", range(exec, n), Fill<Exec>{2, x});
    });
    const double fill_by_kokkos =
        best_time(exec, repeats, [&] { Kokkos::deep_copy(exec, x, 2.0); });
    found.fill_rate = double(n * sizeof(double)) / std::min(fill_by_loop, fill_by_kokkos);
    double sum = 0;
    found.dot_rate =
        2.0 * double(n * sizeof(double)) / best_time(exec, repeats, [&] { sum = dot(exec, x, y); });
    if (sum != 4.0 * double(n)) // exact: small integers
      fail<std::runtime_error>("the copy or the dot product of ", n, " entries is wrong: ", sum);
  }
  found.fma_rate_f64 = measure_fma_rate<double>(exec, repeats);
  found.fma_rate_f32 = measure_fma_rate<float>(exec, repeats);
  found.launch_seconds = best_time(exec, 100, [&] {
    Kokkos::parallel_for("ossatura::bench::Empty", range(exec, 1), Empty<Exec>());
  });
  return found;
}

template<class Exec>
const Ceilings& ceilings(bool quick) {
  static std::optional<Ceilings> known;
  if (!known) {
    const std::int64_t large = BackendTraits<Exec>::is_device ? std::int64_t(1) << 30 : 1 << 28;
    known = measure_ceilings(Exec(), quick ? 1 << 22 : large);
  }
  return *known;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template Ceilings measure_ceilings(const Exec&, std::int64_t);                                   \
  template const Ceilings& ceilings<Exec>(bool);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::bench
