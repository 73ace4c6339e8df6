// SPDX-License-Identifier: Apache-2.0
// The sweeps of projected_gauss_seidel.hpp, grouped for devices: the same updates in the same
// order, by one block. What one pair after the other has to wait for is done by one warp in
// registers; the rest of the block follows a group of pairs behind.
//
// Warp 0 goes through a group of 16 pairs with a lane for each. Its other 16 lanes have the pairs
// of the next group, so that these are ready when their turn comes. Meanwhile the other warps add
// what the last group changed to the motions of all other pairs, and bring the compliance of the
// next two groups to shared memory. After each group the warps meet once.
//
// Newton's method (newton.hpp) takes over after a few sweeps, where the pairs that press are few. A
// sweep is the judge of what it finds.
//
// With group k at work, the pairs of group k + 1 are in lanes of warp 0, which take the changes of
// group k - 1 from `pending`, where the other warps leave them.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/async_copy.hpp>
#include <ossatura/core/parallel/resident_grid.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/kernels/softbody/contact/block.hpp>
#include <ossatura/kernels/softbody/contact/newton.hpp>
#include <ossatura/kernels/softbody/contact/sweep_history.hpp>

namespace ossatura {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
namespace detail {

/// As SweepPairs, which has the acceleration's arrays.
struct SweepGroups {
  static constexpr int threads = 512, resident_blocks = 1;
  static constexpr int followers = threads - 32;
  static constexpr int group = 16, width = 3 * group; ///< pairs of a group, and their rows
  static constexpr int memory = sweep_memory;
  /// Sweeps before Newton's method is tried, and before it is again.
  static constexpr int first_newton = 5, sweeps_between = 8;
  static constexpr unsigned all = 0xffffffffu;

  ArrayPointer<const double> compliance;
  ArrayPointer<const ContactBlock> block_of;
  ArrayPointer<const double> motion_start, free_motion;
  ArrayPointer<double> multiplier, history;
  ArrayPointer<SweepResult> result;
  int num_pairs, stride;
  SweepLimits limits;

  /// On chip. What a function gives for `parity` is that of even or odd groups.
  struct Scratch {
    double* panels;
    double* vectors;
    double* weight;      ///< [memory]
    double* gram;        ///< [memory, memory]
    double* product;     ///< [memory]
    double* single;      ///< [2]: the square of the change, the largest motion of a pair
    double* motion;      ///< [num_groups width]
    double* force;       ///< likewise
    ContactBlock* block; ///< [num_groups group]

    /// [width, 2 width]: columns of a group in the rows of it and of the next.
    __device__ __forceinline__ double* panel(int parity) const {
      return panels + parity * (2 * width * width);
    }
    /// [width]
    __device__ __forceinline__ double* pending(int parity) const {
      return vectors + parity * width;
    }
    __device__ __forceinline__ double* change(int parity) const {
      return vectors + (2 + parity) * width;
    }
  };

  int num_groups() const { return (num_pairs + group - 1) / group; }
  std::size_t scratch_bytes() const {
    return sizeof(double) * (4 * width * width + 4 * width + memory * (memory + 2) + 2 +
                             2 * std::size_t(num_groups()) * width) +
           sizeof(ContactBlock) * std::size_t(num_groups()) * group;
  }
  __device__ __forceinline__ Scratch scratch_of(char* memory_begin, int groups) const {
    Scratch s;
    double* next = reinterpret_cast<double*>(memory_begin);
    const auto take = [&](int count) {
      double* const own = next;
      next += count;
      return own;
    };
    s.panels = take(4 * width * width);
    s.vectors = take(4 * width);
    s.weight = take(memory);
    s.gram = take(memory * memory);
    s.product = take(memory);
    s.single = take(2);
    s.motion = take(groups * width);
    s.force = take(groups * width);
    s.block = reinterpret_cast<ContactBlock*>(next);
    return s;
  }

  __device__ __forceinline__ double& kept(int array, int i) const {
    return history(std::int64_t(array) * 3 * num_pairs + i);
  }
  __device__ __forceinline__ double& step(int quantity, int place, int i) const {
    return kept(int(SweepHistory::steps) + memory * (quantity - 1) + place, i);
  }

  /// Starts to bring the columns of group g to `panel`, by `count` threads.
  __device__ __forceinline__ void start_panel(double* panel, int g, int groups, int thread,
                                              int count) const {
    const int n = 3 * num_pairs, next = g + 1 < groups ? g + 1 : 0;
    const int lane = thread % 32;
    for (int column = thread / 32; column < width; column += count / 32) {
      const int j = g * width + column;
      const double* const from = &compliance(j < n ? std::int64_t(j) * stride : 0);
#pragma unroll
      for (int place = 0; place < 2 * width; place += 32) {
        const int k = place + lane, i = k < width ? g * width + k : next * width + k - width;
        const bool valid = i < n && j < n;
        start_copy(panel + column * (2 * width) + k, from + (valid ? i : 0), valid);
      }
    }
    commit_copies();
  }

  /// Adds the changes of group g to the motions of all pairs but its own and those of the next, by
  /// warps; those of group `in_lanes` go to `pending`. The same sums whatever the warps.
  __device__ __forceinline__ void follow(const Scratch& s, const double* change, double* pending,
                                         int g, int groups, int in_lanes, int warp,
                                         int warps) const {
    constexpr int rows = 8, parts = 4, own = width / parts; // of a warp
    const int n = 3 * num_pairs, next = g + 1 < groups ? g + 1 : 0;
    const int lane = int(threadIdx.x) % 32, part = lane / rows;
    const int left = n - g * width; // columns that there are
    for (int first = rows * warp; first < n; first += rows * warps) {
      const int of = first / width; // a warp's rows are of one group
      if (of == g || of == next)
        continue;
      const int i = first + lane % rows;
      const double* const from =
          &compliance(std::int64_t(g * width + own * part) * stride + (i < n ? i : 0));
      double entry[own];
#pragma unroll
      for (int j = 0; j < own; ++j)
        entry[j] = own * part + j < left ? __ldg(from + std::int64_t(j) * stride) : 0.0;
      double sum = 0;
#pragma unroll
      for (int j = 0; j < own; ++j)
        sum += entry[j] * change[own * part + j];
      sum += __shfl_xor_sync(all, sum, 8);
      sum += __shfl_xor_sync(all, sum, 16);
      if (part == 0 && i < n) {
        if (of == in_lanes)
          pending[i - of * width] = sum;
        else
          s.motion[i] += sum;
      }
    }
  }

  /// A pair in a lane of warp 0.
  struct Pair {
    int number;
    double motion[3], force[3];
    ContactBlock block;
  };
  __device__ __forceinline__ void load_pair(const Scratch& s, int g, Pair& pair) const {
    pair.number = g * group + int(threadIdx.x) % group;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      pair.motion[c] = s.motion[3 * pair.number + c];
      pair.force[c] = s.force[3 * pair.number + c];
    }
    pair.block = s.block[pair.number];
  }

  /// Goes through the pairs of a group, in the lanes from `first_lane` on. Pairs that are open, and
  /// stay so, are passed over: what they would change is zero.
  __device__ __forceinline__ void go_through(const double* panel, double* change_of, int first_lane,
                                             int count, Pair& pair, double& changed) const {
    const int lane = int(threadIdx.x), own = lane - first_lane; // place in the group, if in it
    const bool mine = own >= 0 && own < count;
    const double* const rows =
        panel + (lane / group == first_lane / group ? 0 : int(width)) + 3 * (lane % group);
    for (int p = 0;;) {
      const bool acts = mine && own >= p &&
                        (pair.force[0] != 0 || pair.force[1] != 0 || pair.force[2] != 0 ||
                         !(pair.motion[0] * pair.block.inverse_normal >= 0));
      const unsigned left = __ballot_sync(all, acts);
      if (left == 0)
        break;
      p = __ffs(int(left)) - 1 - first_lane;
      double entry[9], change[3] = {0, 0, 0};
#pragma unroll
      for (int k = 0; k < 9; ++k)
        entry[k] = rows[(3 * p + k / 3) * (2 * width) + k % 3];
      if (own == p) {
        update_contact(pair.block, pair.motion, pair.force, change);
        changed = fmax(changed, own_motion_square(pair.block, change));
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          pair.force[c] += change[c];
          change_of[3 * p + c] = change[c];
        }
      }
#pragma unroll
      for (int c = 0; c < 3; ++c)
        change[c] = __shfl_sync(all, change[c], first_lane + p);
#pragma unroll
      for (int d = 0; d < 3; ++d)
        pair.motion[d] +=
            entry[d] * change[0] + entry[3 + d] * change[1] + entry[6 + d] * change[2];
      ++p;
    }
  }

  /// A sweep; the largest square of a change, in all threads. Motions and forces are those after it
  /// for all threads.
  __device__ __forceinline__ double sweep(const Scratch& s, int groups) const {
    const int thread = int(threadIdx.x), warp = thread / 32, half = thread % 32 / group;
    double changed = 0;
    Pair pair;
    start_panel(s.panel(0), 0, groups, thread, threads);
    wait_for_copies<0>();
    __syncthreads();
    for (int k = 0; k < groups; ++k) {
      const int parity = k & 1, next = k + 1 < groups ? k + 1 : 0;
      if (warp == 0) {
        // The half whose turn is over takes the next group; at the start both do.
        if (half != parity || k == 0)
          load_pair(s, half == parity ? k : next, pair);
        else if (k > 1 && groups > 2)
          for (int c = 0; c < 3; ++c)
            pair.motion[c] += s.pending(1 - parity)[3 * (thread % group) + c];
        __syncwarp();
        const int count = num_pairs - k * group < group ? num_pairs - k * group : int(group);
        for (int i = thread; i < width; i += 32)
          s.change(parity)[i] = 0;
        __syncwarp();
        go_through(s.panel(parity), s.change(parity), group * parity, count, pair, changed);
        if (half == parity)
          for (int c = 0; c < 3; ++c) {
            s.motion[3 * pair.number + c] = pair.motion[c];
            s.force[3 * pair.number + c] = pair.force[c];
          }
        else if (k + 1 == groups)
          for (int c = 0; c < 3; ++c)
            s.motion[3 * pair.number + c] = pair.motion[c];
      } else {
        if (k + 1 < groups)
          start_panel(s.panel(1 - parity), k + 1, groups, thread - 32, followers);
        if (k > 0)
          follow(s, s.change(1 - parity), s.pending(parity), k - 1, groups, next, warp - 1,
                 followers / 32);
        wait_for_copies<0>();
      }
      __syncthreads();
    }
    finish(s, groups, changed);
    return s.single[1];
  }

  /// What is left after the last group: its changes, and those before it that are pending.
  __device__ __forceinline__ void finish(const Scratch& s, int groups, double changed) const {
    const int thread = int(threadIdx.x), last = groups - 1;
    if (thread < 32) {
      for (int distance = 16; distance > 0; distance /= 2)
        changed = fmax(changed, __shfl_xor_sync(all, changed, distance));
      if (thread == 0)
        s.single[1] = changed;
    }
    if (groups > 2 && thread < width && thread < 3 * num_pairs)
      s.motion[thread] += s.pending(last & 1)[thread]; // of the first group, in lanes until now
    follow(s, s.change(last & 1), s.pending(0), last, groups, -1, thread / 32, threads / 32);
    __syncthreads();
  }

  __device__ __forceinline__ double free_scale() const {
    double scale = 0;
    for (int p = int(threadIdx.x) % 32; p < num_pairs; p += 32) {
      const double* const free = &free_motion(3 * p);
      const double along = sqrt(free[1] * free[1] + free[2] * free[2]);
      const double mine = !(free[0] < 0) ? 0 : -free[0] > along ? -free[0] : along;
      scale = Kokkos::max(scale, mine);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const double other = __shfl_xor_sync(all, scale, distance);
      scale = Kokkos::max(scale, other);
    }
    return scale;
  }

  /// As SweepPairs::file.
  __device__ __forceinline__ void file(const Scratch& s, int place) const {
    for (int i = int(threadIdx.x); i < 3 * num_pairs; i += threads) {
      const double now[3] = {s.force[i] - kept(SweepHistory::start, i), s.force[i], s.motion[i]};
#pragma unroll
      for (int q = 0; q < 3; ++q) {
        double& last = kept(SweepHistory::change + q, i);
        if (place >= 0)
          step(SweepHistory::change + q, place, i) = now[q] - last;
        last = now[q];
      }
    }
    __syncthreads();
  }

  /// As SweepPairs::multiply.
  __device__ __forceinline__ void multiply(const Scratch& s, int count, int place) const {
    const int lane = int(threadIdx.x) % 32, change = SweepHistory::change;
    for (int number = int(threadIdx.x) / 32; number <= 2 * count; number += threads / 32) {
      const int j = number % (count > 0 ? count : 1);
      double sum = 0;
#pragma unroll 4
      for (int i = lane; i < 3 * num_pairs; i += 32) {
        const double a = number == 2 * count ? kept(change, i) : step(change, j, i);
        sum += a * (number < count ? step(change, place, i) : kept(change, i));
      }
      sum = warp_sum<32>(sum);
      if (lane == 0) {
        if (number < count)
          s.gram[memory * j + place] = s.gram[memory * place + j] = sum;
        else
          *(number == 2 * count ? s.single : s.product + j) = sum;
      }
    }
    __syncthreads();
  }

  /// As find_sweep_weights, by a warp: lane j has row j of the products. Other lanes have zeros.
  __device__ __forceinline__ void find_weights(const Scratch& s, int count) const {
    const int lane = int(threadIdx.x);
    const bool mine = lane < count;
    double row[memory], l[memory], x = mine ? s.product[lane] : 0;
#pragma unroll
    for (int k = 0; k < memory; ++k) {
      row[k] = mine && k < count ? s.gram[memory * lane + k] : 0;
      l[k] = 0;
    }
    double diagonal = 0, inverse = 0; // of the lane's own row
#pragma unroll
    for (int k = 0; k < memory; ++k)
      diagonal = lane == k ? row[k] : diagonal;
#pragma unroll
    for (int k = 0; k < memory; ++k) {
      const double pivot = __shfl_sync(all, row[k], k), whole = __shfl_sync(all, diagonal, k);
      const double scale = pivot > 1e-12 * whole ? rsqrt(pivot) : 0.0; // 0: others make it up
      const double solved = __shfl_sync(all, x, k) * scale;
      l[k] = row[k] * scale;
      inverse = lane == k ? scale : inverse;
      x = lane == k ? solved : lane > k ? x - l[k] * solved : x;
#pragma unroll
      for (int m = k + 1; m < memory; ++m)
        row[m] -= l[k] * __shfl_sync(all, l[k], m);
    }
#pragma unroll
    for (int k = memory - 1; k >= 0; --k) {
      x = lane == k ? x * inverse : x;
      const double solved = __shfl_sync(all, x, k);
      // Entry (k, lane) of L is with lane k.
#pragma unroll
      for (int m = 0; m < k; ++m) {
        const double entry = __shfl_sync(all, l[m], k);
        x = lane == m ? x - entry * solved : x;
      }
    }
    if (lane < memory)
      s.weight[lane] = mine ? x : 0;
  }

  __device__ __forceinline__ void combine(const Scratch& s, int count) const {
    if (threadIdx.x < 32)
      find_weights(s, count);
    __syncthreads();
    for (int i = int(threadIdx.x); i < 3 * num_pairs; i += threads) {
      double force = s.force[i], motion = s.motion[i];
#pragma unroll
      for (int j = 0; j < memory; ++j)
        if (j < count) {
          force -= s.weight[j] * step(SweepHistory::force, j, i);
          motion -= s.weight[j] * step(SweepHistory::motion, j, i);
        }
      s.force[i] = force;
      s.motion[i] = motion;
    }
    __syncthreads();
  }

  __device__ __forceinline__ bool newton_fits() const {
    return ContactNewton::scratch_bytes(num_pairs) <= sizeof(double) * 4 * width * width;
  }

  __device__ __forceinline__ void operator()(const ResidentBlock& block) const {
    const int groups = (num_pairs + group - 1) / group, n = 3 * num_pairs;
    const Scratch s = scratch_of(block.scratch, groups);
    for (int i = int(threadIdx.x); i < groups * width; i += threads) {
      s.motion[i] = i < n ? motion_start(i) : 0;
      s.force[i] = i < n ? multiplier(i) : 0;
    }
    for (int p = int(threadIdx.x); p < groups * group; p += threads)
      s.block[p] = block_of(p < num_pairs ? p : 0);
    SweepResult done;
    const double free = free_scale();
    done.sweeps = limits.sweeps_before;
    done.scale = Kokkos::max(limits.least_scale, free);
    double last_square = 0;
    const ContactNewton newton{compliance.data, s.block, s.motion, s.force, num_pairs, stride};
    const double goal = 0.1 * limits.tolerance;
    int num_filed = 0; // since the acceleration began
    int next_newton = limits.sweeps_before + first_newton;
    while (true) {
      __syncthreads();
      for (int i = int(threadIdx.x); i < n; i += threads)
        kept(SweepHistory::start, i) = s.force[i];
      const double changed = sweep(s, groups);
      ++done.sweeps;
      done.change = done.scale > 0 ? sqrt(changed) / done.scale : changed > 0 ? 1 : 0;
      if (done.sweeps >= limits.max_sweeps || !(done.change > limits.tolerance))
        break;
      const int place = num_filed > 0 ? (num_filed - 1) % memory : -1;
      const int count = num_filed < memory ? num_filed : memory;
      if (done.sweeps >= next_newton) {
        next_newton = done.sweeps + sweeps_between;
        // Panels are free between sweeps.
        if (newton_fits() && newton.find(reinterpret_cast<char*>(s.panels), goal * done.scale)) {
          num_filed = 0;
          last_square = 0;
          continue;
        }
      }
      file(s, place);
      multiply(s, count, place);
      const double square = s.single[0];
      if (count > 0 && square <= 4 * last_square)
        combine(s, count);
      else
        num_filed = 0;
      ++num_filed;
      last_square = square;
    }
    for (int i = int(threadIdx.x); i < n; i += threads)
      multiplier(i) = s.force[i];
    if (threadIdx.x == 0)
      result(0) = done;
  }
};

} // namespace detail

/// The sweeps of sweep_contacts with what it has prepared; false where the device has no room for
/// them, and nothing was done. Does not fence.
inline bool run_grouped_sweeps(const Cuda& exec, const detail::SweepGroups& sweeps,
                               Array<unsigned, Cuda>& arrivals) {
  const char* const label = "ossatura::sweep_contacts::grouped";
  const std::size_t bytes = sweeps.scratch_bytes();
  const std::size_t most = exec.cuda_device_prop().sharedMemPerBlockOptin;
  if (!has_resident_grids(exec) || bytes > most)
    return false;
  if (arrivals.extent(0) == 0) {
    if (max_resident_blocks<detail::SweepGroups>(label, exec, most) == 0)
      return false;
    arrivals = make_zeros<unsigned>(exec, 1, "ossatura::sweep_contacts::arrivals");
  }
  launch_resident_grid(label, exec, 1, bytes, arrivals, sweeps);
  return true;
}
#endif

} // namespace ossatura
