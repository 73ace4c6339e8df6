// SPDX-License-Identifier: Apache-2.0
// Projected Gauss-Seidel sweeps over the pairs find contact forces with unilateral contact and
// Coulomb friction, all sweeps in one launch. The motions of all pairs are kept and corrected after
// each pair by the rows of the (symmetric) compliance that changed: one barrier instead of a
// reduction.
//
// Pairs of a stiff body move each other nearly as much as themselves, and sweeps alone take
// thousands of rounds. The sweep is therefore a fixed-point iteration with Anderson's acceleration
// [1]: the next sweep starts from the combination of the last few results that would have changed
// least. Motions are combined alike, so that no product with the compliance is needed. When the
// change grows, the acceleration starts anew.
//
// [1] H. Walker, P. Ni. Anderson acceleration for fixed-point iterations. SIAM J. Numer. Anal. 49
//     (2011) 1715-1735, doi:10.1137/10078356X.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/softbody/contact/block.hpp>
#include <ossatura/kernels/softbody/contact/compliance.hpp>
#include <ossatura/kernels/softbody/contact/dense_newton.hpp>
#include <ossatura/kernels/softbody/contact/grouped_sweeps.hpp>
#include <ossatura/kernels/softbody/contact/sweep_history.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

/// The distance of pairs from the conditions of contact, by the motions that they have.
struct ContactErrors {
  double penetration = 0;     ///< m, the deepest
  double complementarity = 0; ///< m: of gap and force, as a motion, the larger of the smaller ones
  double friction = 0;        ///< m: of sliding and friction, likewise
};

namespace detail {

/// motion = free_motion + sign compliance multiplier, a row for each team. They may be one array.
template<class Exec>
struct MovePairs {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  Compliance<Exec> compliance;
  Array<double, Exec> free_motion, multiplier, motion;
  double sign;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int row = team.league_rank();
    const double* entries = &compliance.value(std::int64_t(row) * compliance.stride);
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, 3 * compliance.num_pairs),
        [&](int j, double& partial) { partial += entries[j] * multiplier(j); }, sum);
    Kokkos::single(Kokkos::PerThread(team), [&]() { motion(row) = free_motion(row) + sign * sum; });
  }
};

template<class Exec>
Kokkos::TeamPolicy<Exec> pair_rows(const Exec& exec, int num_pairs) {
  return Kokkos::TeamPolicy<Exec>(exec, 3 * num_pairs, 1, BackendTraits<Exec>::is_device ? 32 : 1);
}

template<class Exec>
struct TakeBlocks {
  ContactPairs<Exec> pairs;
  Compliance<Exec> compliance;
  Array<ContactBlock, Exec> block;

  KOKKOS_FUNCTION void operator()(int p) const {
    const std::int64_t row = 3 * std::int64_t(p);
    block(p) = make_contact_block(&compliance.value(row * compliance.stride + row),
                                  compliance.stride, pairs.pair(p).friction);
  }
};

/// Weights of the differences, and the products that they follow from.
struct SweepWeights {
  double gram[sweep_memory][sweep_memory]; ///< of differences of changes
  double product[sweep_memory];            ///< of these with the last change
  double square;                           ///< of the last change
  double weight[sweep_memory];
};

/// Solves the normal equations by Cholesky's method for `count` weights; 0 for differences that
/// others make up already.
KOKKOS_INLINE_FUNCTION void find_sweep_weights(SweepWeights& weights, int count) {
  double l[sweep_memory][sweep_memory], x[sweep_memory];
  bool used[sweep_memory];
  for (int j = 0; j < count; ++j) {
    double pivot = weights.gram[j][j];
    x[j] = weights.product[j];
    for (int k = 0; k < j; ++k) {
      double sum = weights.gram[j][k];
      for (int i = 0; i < k; ++i)
        sum -= l[j][i] * l[k][i];
      l[j][k] = used[k] ? sum / l[k][k] : 0;
      pivot -= l[j][k] * l[j][k];
      x[j] -= l[j][k] * x[k];
    }
    used[j] = pivot > 1e-12 * weights.gram[j][j];
    l[j][j] = used[j] ? sqrt(pivot) : 1;
    x[j] = used[j] ? x[j] / l[j][j] : 0;
  }
  for (int j = count - 1; j >= 0; --j) {
    for (int k = j + 1; k < count; ++k)
      x[j] -= l[k][j] * x[k];
    x[j] = used[j] ? x[j] / l[j][j] : 0;
    weights.weight[j] = x[j];
  }
}

/// One team. What is worked out outside of loops is the same in all threads.
template<class Exec>
struct SweepPairs {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int device_lanes = 32;
  Compliance<Exec> compliance;
  Array<ContactBlock, Exec> block;
  Array<double, Exec> motion, multiplier, free_motion, history;
  Array<SweepWeights, Exec> weights; ///< [1]
  Array<SweepResult, Exec> result;   ///< [1]
  SweepLimits limits;

  KOKKOS_FUNCTION double& kept(int array, int i) const {
    return history(std::int64_t(array) * 3 * compliance.num_pairs + i);
  }
  /// Difference `place` of a quantity: change, force or motion.
  KOKKOS_FUNCTION double& step(int quantity, int place, int i) const {
    return kept(int(SweepHistory::steps) + int(sweep_memory) * (quantity - 1) + place, i);
  }

  KOKKOS_FUNCTION double free_scale(const Member& team) const {
    double scale = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, compliance.num_pairs),
        [&](int p, double& most) {
          const double* free = &free_motion(3 * p);
          const double along = sqrt(free[1] * free[1] + free[2] * free[2]);
          const double mine = !(free[0] < 0) ? 0 : -free[0] > along ? -free[0] : along;
          most = Kokkos::max(most, mine);
        },
        Kokkos::Max<double>(scale));
    return scale;
  }

  /// On a core: motion += the three rows of a pair times its change, in vectors.
  KOKKOS_FUNCTION void add_rows(int n, const double* entries, std::int64_t stride,
                                const double* change) const {
    constexpr int lanes = 4;
    using Four = Pack<double, lanes>;
    const Four scale[3] = {Four(change[0]), Four(change[1]), Four(change[2])};
    double* const to = &motion(0);
    int i = 0;
    for (; i + lanes <= n; i += lanes) {
      const Four sum = load_pack<lanes>(entries + i) * scale[0] +
                       load_pack<lanes>(entries + stride + i) * scale[1] +
                       load_pack<lanes>(entries + 2 * stride + i) * scale[2];
      store_pack<lanes>(to + i, load_pack<lanes>(to + i) + sum);
    }
    for (; i < n; ++i)
      to[i] += entries[i] * change[0] + entries[stride + i] * change[1] +
               entries[2 * stride + i] * change[2];
  }

  /// Keeps track of the square of the largest change.
  KOKKOS_FUNCTION void update_pair(const Member& team, int p, double& changed) const {
    const int n = 3 * compliance.num_pairs;
    const std::int64_t stride = compliance.stride;
    const double* entries = &compliance.value(3 * p * stride);
    // On devices each thread asks for the entries of its first row before it needs them: the same
    // thread has this row in the loop below.
    constexpr bool ahead = BackendTraits<Exec>::is_device;
    double first[3] = {0, 0, 0};
    const int num_threads = team.team_size() * int(device_lanes);
    if constexpr (ahead)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, Kokkos::min(num_threads, n)), [&](int i) {
        for (int c = 0; c < 3; ++c)
          first[c] = entries[c * stride + i];
      });
    double change[3];
    double* force = &multiplier(3 * p);
    update_contact(block(p), &motion(3 * p), force, change);
    const double moved = own_motion_square(block(p), change);
    changed = Kokkos::max(changed, moved);
    if (change[0] == 0 && change[1] == 0 && change[2] == 0)
      return;
    team.team_barrier(); // all have read what now changes
    if constexpr (ahead)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
        if (i < num_threads)
          motion(i) += first[0] * change[0] + first[1] * change[1] + first[2] * change[2];
        else
          motion(i) += entries[i] * change[0] + entries[stride + i] * change[1] +
                       entries[2 * stride + i] * change[2];
      });
    else
      add_rows(n, entries, stride, change);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      for (int c = 0; c < 3; ++c)
        force[c] += change[c];
    });
    team.team_barrier();
  }

  /// Files the sweep's result, with the difference from the last one under `place` (or nowhere).
  KOKKOS_FUNCTION void file(const Member& team, int place) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 3 * compliance.num_pairs), [&](int i) {
      const double now[3] = {multiplier(i) - kept(SweepHistory::start, i), multiplier(i),
                             motion(i)};
      for (int q = 0; q < 3; ++q) {
        double& last = kept(SweepHistory::change + q, i);
        if (place >= 0)
          step(SweepHistory::change + q, place, i) = now[q] - last;
        last = now[q];
      }
    });
    team.team_barrier();
  }

  /// The products that are new with `place`; each by the lanes of one thread.
  KOKKOS_FUNCTION void multiply(const Member& team, int count, int place) const {
    SweepWeights& w = weights(0);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2 * count + 1), [&](int number) {
      const int j = number % (count > 0 ? count : 1), change = SweepHistory::change;
      double sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, 3 * compliance.num_pairs),
          [&](int i, double& partial) {
            const double a = number == 2 * count ? kept(change, i) : step(change, j, i);
            partial += a * (number < count ? step(change, place, i) : kept(change, i));
          },
          sum);
      Kokkos::single(Kokkos::PerThread(team), [&]() {
        if (number < count)
          w.gram[j][place] = w.gram[place][j] = sum;
        else
          (number == 2 * count ? w.square : w.product[j]) = sum;
      });
    });
    team.team_barrier();
  }

  KOKKOS_FUNCTION void combine(const Member& team, int count) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() { find_sweep_weights(weights(0), count); });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 3 * compliance.num_pairs), [&](int i) {
      for (int j = 0; j < count; ++j) {
        const double weight = weights(0).weight[j];
        multiplier(i) -= weight * step(SweepHistory::force, j, i);
        motion(i) -= weight * step(SweepHistory::motion, j, i);
      }
    });
    team.team_barrier();
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int memory = int(sweep_memory);
    SweepResult done;
    done.sweeps = limits.sweeps_before;
    const double free = free_scale(team);
    done.scale = Kokkos::max(limits.least_scale, free);
    double last_square = 0;
    int num_filed = 0; // since the acceleration began
    while (true) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 3 * compliance.num_pairs),
                           [&](int i) { kept(SweepHistory::start, i) = multiplier(i); });
      team.team_barrier();
      double changed = 0;
      for (int p = 0; p < compliance.num_pairs; ++p)
        update_pair(team, p, changed);
      ++done.sweeps;
      done.change = done.scale > 0 ? sqrt(changed) / done.scale : changed > 0 ? 1 : 0;
      if (done.sweeps >= limits.max_sweeps || !(done.change > limits.tolerance))
        break;
      const int place = num_filed > 0 ? (num_filed - 1) % memory : -1;
      const int count = Kokkos::min(memory, num_filed);
      file(team, place);
      multiply(team, count, place);
      const double square = weights(0).square;
      if (count > 0 && square <= 4 * last_square)
        combine(team, count);
      else
        num_filed = 0;
      ++num_filed;
      last_square = square;
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() { result(0) = done; });
  }
};

template<class Exec>
struct MeasureErrors {
  Array<ContactBlock, Exec> block;
  Array<double, Exec> motion, multiplier;

  /// Comparisons take what is no number for zero.
  KOKKOS_FUNCTION static void keep(double value, double& most) {
    if (!(value - value == 0))
      most = INFINITY;
    else if (value > most)
      most = value;
  }
  KOKKOS_FUNCTION void operator()(int p, double& through, double& normal, double& tangent) const {
    const ContactDefect defect = contact_defect(block(p), &motion(3 * p), &multiplier(3 * p));
    for (int c = 0; c < 3; ++c)
      if (!(motion(3 * p + c) - motion(3 * p + c) == 0))
        normal = INFINITY; // projections take what is no number for zero
    keep(-motion(3 * p), through);
    keep(defect.normal, normal);
    keep(defect.tangent, tangent);
  }
};

} // namespace detail

/// Arrays between steps, with room that grows when it must.
template<class Exec>
struct SweepSpace {
  Array<double, Exec> motion;                ///< [3 num_pairs]
  Array<double, Exec> history;               ///< [sweep_arrays, 3 num_pairs]
  Array<ContactBlock, Exec> block;           ///< [num_pairs]
  Array<detail::SweepWeights, Exec> weights; ///< [1]
  Array<SweepResult, Exec> result;           ///< [1]
  Array<unsigned, Exec> arrivals;            ///< [1], of a resident grid
  DenseNewtonSpace<Exec> newton;
};

namespace detail {

/// The sweeps of a team.
template<class Exec>
void run_pairs(const Exec& exec, const ContactPairs<Exec>& pairs,
               const Compliance<Exec>& compliance, const Array<double, Exec>& free_motion,
               const SweepLimits& limits, const SweepSpace<Exec>& space) {
  const int n = pairs.num_pairs;
  // Warps of a device: one for 32 rows, and enough for the products of the acceleration.
  using Sweep = SweepPairs<Exec>;
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  const int warps = (3 * n + 31) / 32, threads = warps < 4 ? 4 : warps < 16 ? warps : 16;
  Kokkos::parallel_for(
      "ossatura::sweep_contacts",
      Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<512, 1>>(
          exec, 1, is_device ? threads : 1, is_device ? int(Sweep::device_lanes) : 1),
      Sweep{compliance, space.block, space.motion, pairs.multiplier, free_motion, space.history,
            space.weights, space.result, limits});
}

/// The same by groups of pairs; false where the backend cannot, and nothing was done.
template<class Exec>
bool run_grouped(const Exec&, const ContactPairs<Exec>&, const Compliance<Exec>&,
                 const Array<double, Exec>&, const SweepLimits&, const SweepSpace<Exec>&) {
  return false;
}
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
inline bool run_grouped(const Cuda& exec, const ContactPairs<Cuda>& pairs,
                        const Compliance<Cuda>& compliance, const Array<double, Cuda>& free_motion,
                        const SweepLimits& limits, SweepSpace<Cuda>& space) {
  SweepGroups sweeps;
  sweeps.compliance = compliance.value;
  sweeps.block_of = space.block;
  sweeps.motion_start = space.motion;
  sweeps.free_motion = free_motion;
  sweeps.multiplier = pairs.multiplier;
  sweeps.history = space.history;
  sweeps.result = space.result;
  sweeps.num_pairs = pairs.num_pairs;
  sweeps.stride = compliance.stride;
  sweeps.limits = limits;
  return run_grouped_sweeps(exec, sweeps, space.arrivals);
}
#endif

template<class Exec>
void run_sweeps(const Exec& exec, const ContactPairs<Exec>& pairs,
                const Compliance<Exec>& compliance, const Array<double, Exec>& free_motion,
                const SweepLimits& limits, SweepSpace<Exec>& space) {
  if (!run_grouped(exec, pairs, compliance, free_motion, limits, space))
    run_pairs(exec, pairs, compliance, free_motion, limits, space);
}

/// space.motion = what belongs to pairs.multiplier.
template<class Exec>
void set_motions(const Exec& exec, const ContactPairs<Exec>& pairs,
                 const Compliance<Exec>& compliance, const Array<double, Exec>& free_motion,
                 const SweepSpace<Exec>& space) {
  Kokkos::parallel_for(
      "ossatura::sweep_contacts::motions", pair_rows(exec, pairs.num_pairs),
      MovePairs<Exec>{compliance, free_motion, pairs.multiplier, space.motion, 1.});
}

} // namespace detail

/// Of pairs with the motions `motion`, after sweep_contacts, which leaves the blocks of the
/// compliance that turn forces into motions; infinite where a number is none. Fences.
template<class Exec>
ContactErrors measure_contact_errors(const Exec& exec, const ContactPairs<Exec>& pairs,
                                     const Array<double, Exec>& motion,
                                     const SweepSpace<Exec>& space) {
  using Max = Kokkos::Max<double>;
  double through = 0, normal = 0, tangent = 0; // not of a struct: reducers keep the address
  Kokkos::parallel_reduce(
      "ossatura::measure_contact_errors",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, pairs.num_pairs),
      detail::MeasureErrors<Exec>{space.block, motion, pairs.multiplier}, Max(through), Max(normal),
      Max(tangent));
  fence(exec, "ossatura::measure_contact_errors");
  // Kokkos starts a maximum from the least number there is.
  return {through > 0 ? through : 0, normal, tangent};
}

/// Reads the result of the last sweeps. Fences.
template<class Exec>
SweepResult look_at_sweeps(const Exec& exec, const SweepSpace<Exec>& space) {
  SweepResult result;
  Kokkos::deep_copy(exec, Kokkos::View<SweepResult, Kokkos::HostSpace>(&result),
                    Kokkos::View<SweepResult, typename Exec::memory_space>(space.result.data()));
  fence(exec, "ossatura::look_at_sweeps");
  return result;
}

/// Steps of Newton's method for all pairs that press, until no error is above `goal`, m, or as far
/// as it gets: from pairs.multiplier and space.motion, which belongs to it, after sweep_contacts,
/// to the best of what it went through. False where that is the start. Fences.
template<class Exec>
bool find_contacts_by_newton(const Exec& exec, const ContactPairs<Exec>& pairs,
                             const Compliance<Exec>& compliance,
                             const Array<double, Exec>& free_motion, double goal,
                             SweepSpace<Exec>& space) {
  constexpr int most_steps = 10, patience = 4; // steps without a gain, which first ones may be
  const std::int64_t n = 3 * std::int64_t(pairs.num_pairs);
  detail::make_room(exec, 2 * n, space.newton.best, "ossatura::dense_newton::best");
  const auto part_of = [n](const Array<double, Exec>& array, std::int64_t first) {
    return Array<double, Exec>(Kokkos::subview(array, std::make_pair(first, first + n)));
  };
  const auto force = part_of(pairs.multiplier, 0), motion = part_of(space.motion, 0),
             best_force = part_of(space.newton.best, 0),
             best_motion = part_of(space.newton.best, n);
  const auto worst_error = [&] {
    const ContactErrors errors = measure_contact_errors(exec, pairs, space.motion, space);
    return errors.complementarity > errors.friction ? errors.complementarity : errors.friction;
  };
  const double start = worst_error();
  double least = start, worst = start;
  for (int step = 0, lost = 0; step < most_steps && least > goal && lost < patience; ++step) {
    if (lost == 0) {
      copy(exec, force, best_force);
      copy(exec, motion, best_motion);
    }
    const bool stepped = step_dense_newton(
        exec, compliance, space.block, space.motion, pairs.multiplier,
        [&] { detail::set_motions(exec, pairs, compliance, free_motion, space); }, space.newton);
    worst = worst_error();
    lost = worst < least ? 0 : lost + 1;
    least = worst < least ? worst : least;
    if (!stepped)
      break;
  }
  if (!(worst <= least)) {
    copy(exec, best_force, force);
    copy(exec, best_motion, motion);
  }
  return least < start;
}

/// Sweeps from pairs.multiplier until the change of no force moves its pair by more than
/// `tolerance` times the largest free motion of pairs that go through each other, or times
/// `least_scale`, m, where that is more. Newton's method takes over where sweeps wait or do not
/// end, and they judge what it finds. Leaves in space.motion the motions that belong to the
/// multipliers, not those updated on the way. The result is that of equal arrays whatever the
/// number of threads. Fences where that is asked for after some sweeps.
template<class Exec>
void sweep_contacts(const Exec& exec, const ContactPairs<Exec>& pairs,
                    const Compliance<Exec>& compliance, const Array<double, Exec>& free_motion,
                    int max_sweeps, double tolerance, SweepSpace<Exec>& space,
                    double least_scale = 0) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>;
  const int n = pairs.num_pairs;
  detail::make_room(exec, 3 * n, space.motion, "ossatura::sweep_contacts::motion");
  detail::make_room(exec, std::int64_t(detail::sweep_arrays) * 3 * n, space.history,
                    "ossatura::sweep_contacts::history");
  if (int(space.block.extent(0)) < n)
    space.block = make_uninitialized<ContactBlock>(exec, n + n / 2, "ossatura::contact_blocks");
  if (space.result.extent(0) == 0) {
    space.weights = make_uninitialized<detail::SweepWeights>(exec, 1, "ossatura::sweep_weights");
    space.result = make_uninitialized<SweepResult>(exec, 1, "ossatura::sweep_contacts::result");
  }
  Kokkos::parallel_for("ossatura::sweep_contacts::blocks", Range(exec, 0, n),
                       detail::TakeBlocks<Exec>{pairs, compliance, space.block});
  detail::set_motions(exec, pairs, compliance, free_motion, space);
  detail::SweepLimits limits{0, max_sweeps, tolerance, least_scale};
  // After a sweep most of the pairs that press are found. Cores do not wait from pair to pair, and
  // an elimination has as many operations as half as many sweeps as it has rows: there it is for
  // few pairs, and for what sweeps alone do not solve.
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  constexpr int most_pairs_of_cores = 128;
  if (is_device ? n > most_pairs_of_block_newton : n <= most_pairs_of_cores) {
    constexpr int first_sweeps = is_device ? 1 : 100, sweeps_after_gain = 8, sweeps_after_loss = 6;
    int more = first_sweeps;
    for (int sweeps = more; sweeps < max_sweeps; sweeps += more) {
      limits.max_sweeps = sweeps;
      detail::run_sweeps(exec, pairs, compliance, free_motion, limits, space);
      detail::set_motions(exec, pairs, compliance, free_motion, space);
      const SweepResult done = look_at_sweeps(exec, space);
      if (!(done.change > tolerance))
        return;
      limits.sweeps_before = sweeps;
      if (is_device) {
        const int pressing = count_pressing(exec, n, space.block, space.motion, pairs.multiplier);
        if (pressing <= most_pairs_of_block_newton || 3 * pressing > most_dense_newton_rows)
          break; // few are left to the block that sweeps
      }
      const double goal = 0.1 * tolerance * done.scale;
      const bool gained =
          find_contacts_by_newton(exec, pairs, compliance, free_motion, goal, space);
      more = gained ? sweeps_after_gain : std::max<int>(sweeps_after_loss, 2 * more);
    }
    limits.max_sweeps = max_sweeps;
  }
  detail::run_sweeps(exec, pairs, compliance, free_motion, limits, space);
  detail::set_motions(exec, pairs, compliance, free_motion, space);
}

/// Takes the part of the multipliers out of motions that were measured with them. Does not fence.
template<class Exec>
void take_out_contacts(const Exec& exec, const ContactPairs<Exec>& pairs,
                       const Compliance<Exec>& compliance, const Array<double, Exec>& motion) {
  Kokkos::parallel_for("ossatura::take_out_contacts", detail::pair_rows(exec, pairs.num_pairs),
                       detail::MovePairs<Exec>{compliance, motion, pairs.multiplier, motion, -1.});
}

} // namespace ossatura
