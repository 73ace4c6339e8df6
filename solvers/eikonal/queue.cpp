// SPDX-License-Identifier: Apache-2.0
// EikonalMethod::queue iterates on a front whose state stays on the device: all iterations in one
// kernel where the device can have all its blocks at once, else one by one.
#include <ossatura/core/machine/available_memory.hpp>
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/eikonal/front.hpp>
#include <ossatura/solvers/eikonal/method.hpp>

#include <algorithm>
#include <type_traits>

namespace ossatura::detail {

namespace {

template<class Exec, class Metric, class Real>
EikonalCounts solve_one_by_one(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                               const EikonalStart<Exec>& start, const EikonalOptions& options,
                               const Array<Real, Exec>& time) {
  using Front = EikonalFront<Exec>;
  const Front front = make_eikonal_front(exec, start.num_times, start.site);
  const Real keep = Real(1) - Real(options.tolerance);
  const bool two_arrays = reads_last_times<Exec>(options);
  Array<Real, Exec> times[2] = {time, time};
  if (two_arrays) {
    times[1] = make_uninitialized<Real>(exec, start.num_times, "ossatura::eikonal::new_time");
    Kokkos::deep_copy(exec, times[1], time);
  }
  const auto advance = [&](int k) {
    advance_front(exec, update, front, times[k % 2], times[1 - k % 2], keep, start.num_points, k);
  };

  const auto counter = Kokkos::create_mirror_view(front.counter);
  const auto left = [&](int k) {
    Kokkos::deep_copy(exec, counter, front.counter);
    fence(exec, "ossatura::eikonal::count");
    return counter(Front::count + k % 3);
  };
  // A batch is long enough to hide the look at the count, and a multiple of all periods.
  constexpr int batch = BackendTraits<Exec>::is_device ? 24 : 1;
  static_assert(batch == 1 || batch % 6 == 0, "a recorded batch begins with slot and parity 0");
  LaunchGraph<Exec> graph;
  int k = 0;
  while (k < options.max_iterations && !options.is_stopped() && left(k) > 0) {
    if (batch > 1 && k + batch <= options.max_iterations) {
      graph.run(exec, [&] {
        for (int i = 0; i < batch; ++i)
          advance(i);
      });
      k += batch;
    } else {
      advance(k++);
    }
  }
  EikonalCounts counts;
  counts.converged = left(k) == 0;
  if (two_arrays && k % 2 == 1)
    Kokkos::deep_copy(exec, time, times[1]);
  counts.iterations = int(counter(Front::iteration + k % 3));
  const auto total = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), front.total);
  counts.evaluations = total(Front::evaluations);
  counts.local_solves = total(Front::solves);
  return counts;
}

#if defined(KOKKOS_ENABLE_CUDA)
/// Whether the kernel of all iterations keeps what the options promise. Of `products`, which change
/// sign between memory and local solver, the compiler fuses other multiplications with additions
/// there than the other methods do: times are the same to rounding, and not to the bit.
template<class Metric, class Real>
bool is_as_promised(const EikonalOptions& options) {
  return std::is_same_v<Metric, TetraLengths<Real>> || !options.deterministic;
}

/// Iterations of a launch where a solve may be asked to stop: some milliseconds, beside which the
/// look at the queue, 20 us, does not count.
constexpr int resident_batch = 128;

/// Iterations by advance(first, last) of a front of this state, until nothing is left to do, there
/// are as many as may be, or the solve is to stop.
template<class Front, class Advance>
EikonalCounts advance_while(const Cuda& exec, const Array<std::uint64_t, Cuda>& front_state,
                            const EikonalOptions& options, bool is_empty, const Advance& advance) {
  const auto state = Kokkos::create_mirror_view(front_state);
  const int batch = options.stop ? resident_batch : options.max_iterations;
  EikonalCounts counts;
  counts.converged = is_empty;
  int& k = counts.iterations;
  while (k < options.max_iterations && !options.is_stopped() && !counts.converged) {
    advance(k, k + std::min(batch, options.max_iterations - k));
    Kokkos::deep_copy(exec, state, front_state);
    fence(exec, "ossatura::eikonal::state");
    k = int(state(Front::iteration));
    counts.converged = state(Front::count) == 0;
    counts.evaluations = std::int64_t(state(Front::evaluations));
    counts.local_solves = std::int64_t(state(Front::solves));
  }
  return counts;
}

template<class Metric, class Real>
EikonalCounts solve_resident(const Cuda& exec, const RingUpdate<Cuda, Metric>& update,
                             const EikonalStart<Cuda>& start, const EikonalOptions& options,
                             const Array<Real, Cuda>& time, const QueueStore<Cuda, Real>& store) {
  using Front = ResidentFront<Cuda, Real>;
  const Front& front = store.front;
  restart_front(exec, front, start.site, time);
  const Real keep = Real(1) - Real(options.tolerance);
  const EikonalCounts counts = advance_while<Front>(
      exec, front.state, options, start.site.extent(0) == 0, [&](int first, int last) {
        advance_resident_front(exec, update, store.ring, front, time, keep, start.num_points, first,
                               last);
      });
  if (counts.iterations % 2 == 1)
    Kokkos::deep_copy(exec, time, front.new_time);
  fence(exec, "ossatura::eikonal::times");
  return counts;
}

/// Whether sets have most of their sites in common, at whatever times. Then their waves, which go
/// on by a ring of points an iteration, are at the same points in the same iterations for the most
/// part, and from about five such sets on a front of sets is faster; else, a front with a queue of
/// the points of each set.
template<class Exec>
bool share_points(const EikonalStart<Exec>& start) {
  return std::int64_t(start.site.extent(0)) >= 4 * std::int64_t(start.num_site_points);
}

/// As many groups of sets together as the front in `store` has room for, then the next.
template<class Metric, class Real>
EikonalCounts solve_sets(const Cuda& exec, const RingUpdate<Cuda, Metric>& update,
                         const EikonalStart<Cuda>& start, const EikonalOptions& options,
                         const Array<Real, Cuda>& time, const QueueStore<Cuda, Real>& store) {
  using Front = SetFront<Cuda, Real>;
  const Front& front = store.sets;
  const Real keep = Real(1) - Real(options.tolerance);
  const std::int64_t num_sets = start.num_times / start.num_points;
  EikonalCounts sum;
  sum.converged = true;
  for (std::int64_t set = 0; set < num_sets;
       set += front.num_items / start.num_points * Front::sets) {
    restart_front(exec, front, start.site, time, start.num_points, set);
    const EikonalCounts counts =
        advance_while<Front>(exec, front.state, options, false, [&](int first, int last) {
          advance_set_front(exec, update, store.ring, front, keep, start.num_points, first, last);
        });
    store_times(exec, front, counts.iterations, time, start.num_points, set);
    sum.converged = sum.converged && counts.converged;
    sum.iterations = std::max(sum.iterations, counts.iterations);
    sum.evaluations += counts.evaluations;
    sum.local_solves += counts.local_solves;
  }
  fence(exec, "ossatura::eikonal::times");
  return sum;
}

/// The front of `num_sets` sets of a mesh, or of as many groups of them as half of the memory that
/// is left holds. Empty where it holds none.
template<class Real>
void prepare_sets(const Cuda& exec, std::int64_t num_sets, std::int64_t num_points,
                  SetFront<Cuda, Real>& front) {
  using Front = SetFront<Cuda, Real>;
  const std::int64_t groups = (num_sets + Front::sets - 1) / Front::sets;
  if (front.num_items == groups * num_points)
    return;
  front = {};
  const std::int64_t room = available_bytes(exec) / 2 / Front::bytes(num_points);
  if (room > 0)
    front = make_set_front<Real>(exec, std::min(room, groups) * num_points);
}
#endif

} // namespace

template<class Exec, class Metric, class Real>
void prepare_queue([[maybe_unused]] const Exec& exec,
                   [[maybe_unused]] const RingUpdate<Exec, Metric>& update,
                   [[maybe_unused]] std::int64_t num_points,
                   [[maybe_unused]] std::int64_t num_tetra,
                   [[maybe_unused]] QueueStore<Exec, Real>& store) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (builds_resident_grids<Exec>) {
    if (store.is_empty()) {
      if (!has_resident_grids(exec) ||
          RingMetric<Exec, Real>::bytes(num_points, num_tetra) > available_bytes(exec) / 2)
        return;
      store.ring = make_ring_metric<Real>(exec, num_points, num_tetra);
    }
    fill_ring_metric(exec, update, store.ring);
  }
#endif
}

template<class Exec, class Metric, class Real>
EikonalCounts solve_by_queue(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                             const EikonalStart<Exec>& start, const EikonalOptions& options,
                             const Array<Real, Exec>& time,
                             [[maybe_unused]] QueueStore<Exec, Real>& store) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (builds_resident_grids<Exec>) {
    const bool resident = !store.is_empty() && is_as_promised<Metric, Real>(options);
    if (resident && share_points(start)) {
      store.front = {};
      prepare_sets(exec, start.num_times / start.num_points, start.num_points, store.sets);
      if (store.sets.num_blocks > 0)
        return solve_sets(exec, update, start, options, time, store);
    }
    store.sets = {};
    if (resident && store.front.num_times != start.num_times) {
      store.front = {};
      store.front = make_resident_front<Real>(exec, start.num_times);
    }
    if (resident && store.front.num_blocks > 0)
      return solve_resident(exec, update, start, options, time, store);
  }
#endif
  return solve_one_by_one(exec, update, start, options, time);
}

#define OSSATURA_INSTANTIATE(Exec, Metric, Real)                                                   \
  template void prepare_queue(const Exec&, const RingUpdate<Exec, Metric>&, std::int64_t,          \
                              std::int64_t, QueueStore<Exec, Real>&);                              \
  template EikonalCounts solve_by_queue(const Exec&, const RingUpdate<Exec, Metric>&,              \
                                        const EikonalStart<Exec>&, const EikonalOptions&,          \
                                        const Array<Real, Exec>&, QueueStore<Exec, Real>&);
#define OSSATURA_INSTANTIATE_BACKEND(Exec) OSSATURA_FOR_EACH_EIKONAL(OSSATURA_INSTANTIATE, Exec)
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE_BACKEND)
#undef OSSATURA_INSTANTIATE_BACKEND
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
