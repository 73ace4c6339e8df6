// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/ceilings.hpp"

#include "bench/host/multiply_adds/multiply_adds.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/machine/instruction_set.hpp>
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/core/parallel/resident_grid.hpp>

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

/// Two numbers that one instruction stores.
struct alignas(16) Two {
  double value[2];
};

/// Four stores of 16 bytes a thread, each beside those of its neighbours: a thread that stores 8
/// bytes is over before the next block has started, and blocks start at 1.7 a nanosecond.
template<class Exec>
struct Fill {
  static constexpr int stores = 4;
  Two value;
  Two* x;
  std::int64_t num_items;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int k = 0; k < int(stores); ++k)
      x[i + k * num_items] = value;
  }
};

/// The fp64 matrix instruction of the device, on tiles kept in registers; out(i) = an entry of the
/// sum of all of them, which is tiles * steps * the instruction's depth.
template<class Exec>
struct MultiplyTiles {
  static constexpr int tiles = 8, steps = 256;
  double one; ///< not known when this is compiled
  Array<double, Exec> out;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  static constexpr int entries = 4;
  __device__ static void multiply(double a, double (&c)[entries]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "
                 "{%4,%4}, {%0,%1,%2,%3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a));
  }
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  static constexpr int entries = 2;
  __device__ static void multiply(double a, double (&c)[entries]) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a));
  }
#else
  static constexpr int entries = 1;
  KOKKOS_FUNCTION static void multiply(double, double (&)[entries]) {}
#endif

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double c[tiles][entries];
    for (int t = 0; t < int(tiles); ++t)
      for (int k = 0; k < int(entries); ++k)
        c[t][k] = 0;
    for (int step = 0; step < int(steps); ++step)
      for (int t = 0; t < int(tiles); ++t)
        multiply(one, c[t]);
    double sum = 0;
    for (int t = 0; t < int(tiles); ++t)
      for (int k = 0; k < int(entries); ++k)
        sum += c[t][k];
    out(i) = sum / entries;
  }
};

template<class Exec>
struct Empty {
  KOKKOS_FUNCTION void operator()(std::int64_t) const {}
};

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
/// Barriers of a resident grid, and nothing between them.
struct GridBarriers {
  static constexpr int threads = 256, resident_blocks = 1;
  int num_barriers;

  __device__ void operator()(const ResidentBlock& block) const {
    for (int k = 0; k < num_barriers; ++k)
      block.grid_barrier();
  }
};
#endif

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

/// Flops a second of the matrix instructions; 0 where the device has none.
template<class Exec>
double measure_matrix_rate(const Exec& exec, int repeats) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (BackendTraits<Exec>::is_device) {
    const std::int64_t items = 1 << 20;
    const MultiplyTiles<Exec> work{
        1, make_uninitialized<double>(exec, items, "ossatura::bench::tiles")};
    const double seconds = best_time(exec, repeats, [&] {
      Kokkos::parallel_for("ossatura::bench::MultiplyTiles", range(exec, items), work);
    });
    const double products = work.tiles * work.steps, depth = first_entry(exec, work.out) / products;
    if (depth == 0)
      return 0;
    if (depth != 8 && depth != 4)
      fail<std::runtime_error>("matrix instructions multiply ", depth, " deep, not 8 or 4");
    const double flops = depth == 8 ? 2 * 16 * 8 * 8 : 2 * 8 * 8 * 4; // of a warp
    return flops * products * double(items / 32) / seconds;
  }
#endif
  (void)exec;
  (void)repeats;
  return 0;
}

template<class Exec>
double measure_graph_launch(const Exec& exec, int repeats) {
  constexpr int kernels = 100;
  LaunchGraph<Exec> graph;
  const double seconds = best_time(exec, repeats, [&] {
    graph.run(exec, [&] {
      for (int k = 0; k < kernels; ++k)
        Kokkos::parallel_for("ossatura::bench::Empty", range(exec, 1), Empty<Exec>());
    });
  });
  return graph.state() == LaunchGraphState::replays ? seconds / kernels : 0;
}

template<class Exec>
double measure_grid_barrier(const Exec& exec, int repeats) {
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
  if constexpr (builds_resident_grids<Exec>) {
    if (!has_resident_grids(exec))
      return 0;
    const GridBarriers few{1000}, many{11000}; // the difference is without the launch
    const int blocks = exec.cuda_device_prop().multiProcessorCount;
    const auto arrivals = make_zeros<unsigned>(exec, 1, "ossatura::bench::arrivals");
    const auto seconds = [&](const GridBarriers& kernel) {
      return best_time(exec, repeats, [&] {
        launch_resident_grid("ossatura::bench::GridBarriers", exec, blocks, 0, arrivals, kernel);
      });
    };
    return (seconds(many) - seconds(few)) / (many.num_barriers - few.num_barriers);
  }
#endif
  (void)exec;
  (void)repeats;
  return 0;
}

template<class Exec>
double measure_fill_rate(const Exec& exec, const Array<double, Exec>& x, int repeats) {
  const std::int64_t items = std::int64_t(x.extent(0)) / (2 * Fill<Exec>::stores);
  const Fill<Exec> fill{{{2, 2}}, reinterpret_cast<Two*>(x.data()), items};
  const double by_loop = best_time(exec, repeats, [&] {
    Kokkos::parallel_for("ossatura::bench::Fill", range(exec, items), fill);
  });
  const double by_kokkos = best_time(exec, repeats, [&] { Kokkos::deep_copy(exec, x, 2.0); });
  return double(16 * fill.stores * items) / std::min(by_loop, by_kokkos);
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
    found.fill_rate = measure_fill_rate(exec, x, repeats);
    double sum = 0;
    found.dot_rate =
        2.0 * double(n * sizeof(double)) / best_time(exec, repeats, [&] { sum = dot(exec, x, y); });
    if (sum != 4.0 * double(n)) // exact: small integers
      fail<std::runtime_error>("the copy or the dot product of ", n, " entries is wrong: ", sum);
  }
  found.fma_rate_f64 = measure_fma_rate<double>(exec, repeats);
  found.fma_rate_f32 = measure_fma_rate<float>(exec, repeats);
  found.matrix_rate_f64 = measure_matrix_rate(exec, repeats);
  found.launch_seconds = best_time(exec, 100, [&] {
    Kokkos::parallel_for("ossatura::bench::Empty", range(exec, 1), Empty<Exec>());
  });
  found.graph_launch_seconds = measure_graph_launch(exec, 20);
  found.grid_barrier_seconds = measure_grid_barrier(exec, 20);
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
