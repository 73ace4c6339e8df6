// SPDX-License-Identifier: Apache-2.0
// Newton's method for contact with friction, by one block of a device: what is left to do once a
// few sweeps have found most of the pairs that press. The equations (equations.hpp) of the pairs
// that are not open are a dense system, which the block eliminates in registers, without exchanges
// of rows: the rows of sticking and pressed pairs are those of a positive definite matrix, and
// sliding adds to the diagonal. Where that fails or does not gain, everything stays as it was.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/softbody/contact/equations.hpp>

#include <cstddef>
#include <cstdint>

namespace ossatura {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
namespace detail {

/// For a block of `threads`, all of which call find().
struct ContactNewton {
  static constexpr int threads = 512, warps = threads / 32;
  static constexpr int most_pairs = most_pairs_of_block_newton; ///< that are not open
  static constexpr int most_rows = 3 * most_pairs;
  static constexpr int most_steps = 10;
  static constexpr int a_count = 8, b_count = 4; ///< rows and columns of a thread
  static constexpr unsigned all = 0xffffffffu;

  struct Scratch {
    ContactEquation* row; ///< [most_rows]
    double* pivot_row;    ///< [2, 128]
    double* delta;        ///< [128]
    double* worst;        ///< [warps]
    double* force;        ///< [rows] as they were; motions follow
    int* pair;            ///< [2, most_pairs]: that press; that are open in spite of a force
    int* count;           ///< [2] of them; the first may be more than there is room for
  };

  const double* compliance; ///< [3 num_pairs, stride]
  const ContactBlock* block;
  double *motion, *force; ///< [3 num_pairs], on chip
  int num_pairs, stride;

  KOKKOS_INLINE_FUNCTION static std::size_t scratch_bytes(int num_pairs) {
    return sizeof(ContactEquation) * most_rows +
           sizeof(double) * (3 * 128 + warps + 6 * std::size_t(num_pairs)) +
           sizeof(int) * (2 * most_pairs + 2);
  }
  __device__ __forceinline__ Scratch scratch_of(char* memory) const {
    Scratch s;
    s.row = reinterpret_cast<ContactEquation*>(memory);
    s.pivot_row = reinterpret_cast<double*>(s.row + most_rows);
    s.delta = s.pivot_row + 2 * 128;
    s.worst = s.delta + 128;
    s.force = s.worst + warps;
    s.pair = reinterpret_cast<int*>(s.force + 6 * num_pairs);
    s.count = s.pair + 2 * most_pairs;
    return s;
  }

  /// The largest defect of a pair; not finite where a number is none.
  __device__ __forceinline__ double measure(const Scratch& s) const {
    double worst = 0;
    for (int p = int(threadIdx.x); p < num_pairs; p += threads) {
      const ContactDefect defect = contact_defect(block[p], motion + 3 * p, force + 3 * p);
      const double own = fmax(defect.normal, defect.tangent);
      const double sum = motion[3 * p] + motion[3 * p + 1] + motion[3 * p + 2] + own;
      worst = sum - sum == 0 ? fmax(worst, own) : HUGE_VAL;
    }
    for (int distance = 16; distance > 0; distance /= 2)
      worst = fmax(worst, __shfl_xor_sync(all, worst, distance));
    if (threadIdx.x % 32 == 0)
      s.worst[threadIdx.x / 32] = worst;
    __syncthreads();
    for (int warp = 0; warp < warps; ++warp)
      worst = fmax(worst, s.worst[warp]);
    return worst;
  }

  /// Lists the pairs that press, in order, and those that are open in spite of a force, as many as
  /// there is room for; `delta` takes that force away. By warp 0.
  __device__ __forceinline__ void list_pairs(const Scratch& s) const {
    int count[2] = {0, 0};
    const int lane = int(threadIdx.x);
    for (int first = 0; first < num_pairs; first += 32) {
      const int p = first + lane;
      const bool there = p < num_pairs;
      const double* const f = force + 3 * (there ? p : 0);
      const bool presses = there && contact_presses(block[p], motion + 3 * p, f);
      const bool opens = there && !presses && (f[0] != 0 || f[1] != 0 || f[2] != 0);
#pragma unroll
      for (int list = 0; list < 2; ++list) {
        const bool mine = list == 0 ? presses : opens;
        const unsigned those = __ballot_sync(all, mine);
        const int place = count[list] + __popc(those & ((1u << lane) - 1));
        if (mine && place < most_pairs) {
          s.pair[list * most_pairs + place] = p;
          if (list == 1)
            for (int c = 0; c < 3; ++c)
              s.delta[3 * place + c] = -f[c];
        }
        count[list] += __popc(those);
      }
    }
    if (lane < 2)
      s.count[lane] = lane == 0 ? count[0] : count[1] < most_pairs ? count[1] : int(most_pairs);
  }

  /// Adds delta to the forces of `count` pairs, and what it moves to the motions; lanes are 16 rows
  /// by halves of the pairs. The threads meet before and after.
  __device__ __forceinline__ void apply(const int* pair, const double* delta, int count) const {
    __syncthreads();
    for (int j = int(threadIdx.x); j < 3 * count; j += threads)
      force[3 * pair[j / 3] + j % 3] += delta[j];
    const int lane = int(threadIdx.x) % 32, half = lane / 16, middle = (count + 1) / 2;
    const int begin = half == 0 ? 0 : middle, end = half == 0 ? middle : count;
    for (int first = int(threadIdx.x) / 32 * 16; first < 3 * num_pairs; first += 16 * warps) {
      const int i = first + lane % 16;
      double sum = 0;
      if (i < 3 * num_pairs)
#pragma unroll 4
        for (int j = begin; j < end; ++j) {
          const double* const column = compliance + 3 * std::int64_t(pair[j]) * stride + i;
#pragma unroll
          for (int c = 0; c < 3; ++c)
            sum += __ldg(column + std::int64_t(c) * stride) * delta[3 * j + c];
        }
      sum += __shfl_xor_sync(all, sum, 16);
      if (half == 0 && i < 3 * num_pairs)
        motion[i] += sum;
    }
    __syncthreads();
  }

  /// Eliminates the system of `count` pairs; delta are the changes of their forces.
  __device__ __forceinline__ void solve(const Scratch& s, int count) const {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, n = 3 * count;
    double a[a_count][b_count];
#pragma unroll
    for (int i = 0; i < a_count; ++i)
#pragma unroll
      for (int j = 0; j < b_count; ++j)
        a[i][j] = entry(s, warp + warps * i, lane + 32 * j, n);
#pragma unroll
    for (int at = 0; at < a_count; ++at) {
      constexpr int half = 32 / warps;
      const int left = n - warps * at < warps ? n - warps * at : int(warps);
#pragma unroll 1
      for (int k = 0; k < left; ++k) {
        double* const pivot_row = s.pivot_row + (k & 1) * 128;
        const int column = at % half * warps + k; // lane of the pivot's column
        if (warp == k) {
          const double inverse = 1 / __shfl_sync(all, a[at][at / half], column);
#pragma unroll
          for (int j = at / half; j < b_count; ++j) {
            a[at][j] *= inverse;
            pivot_row[lane + 32 * j] = a[at][j];
          }
        }
        __syncthreads();
        double row[b_count];
#pragma unroll
        for (int j = at / half; j < b_count; ++j)
          row[j] = pivot_row[lane + 32 * j];
#pragma unroll
        for (int i = 0; i < a_count; ++i) {
          if (warps * i >= n)
            break;
          double factor = __shfl_sync(all, a[i][at / half], column);
          factor = i == at && warp == k ? 0 : factor;
#pragma unroll
          for (int j = at / half; j < b_count; ++j)
            a[i][j] -= factor * row[j];
        }
      }
      if (left < warps)
        break;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < a_count; ++i)
#pragma unroll
      for (int j = 0; j < b_count; ++j)
        if (lane + 32 * j == n && warp + warps * i < n)
          s.delta[warp + warps * i] = a[i][j];
    __syncthreads();
  }

  /// Of the system: row i, column j of n, or the right-hand side in column n.
  __device__ __forceinline__ double entry(const Scratch& s, int i, int j, int n) const {
    if (i >= n || j > n)
      return 0;
    const ContactEquation& row = s.row[i];
    const int p = s.pair[i / 3];
    double sum = j == n ? row.base : 0;
    const int q = j < n ? s.pair[j / 3] : 0, c = j % 3;
    const double* const of = compliance + 3 * std::int64_t(p) * stride + 3 * q + c;
#pragma unroll
    for (int d = 0; d < 3; ++d)
      if (row.of[d] != 0)
        sum += j < n ? row.of[d] * __ldg(of + std::int64_t(d) * stride)
                     : -row.of[d] * motion[3 * p + d];
    if (j < n && q == p)
      sum += c == 0 ? row.own[0] : c == 1 ? row.own[1] : row.own[2];
    return sum;
  }

  /// Changes forces and motions until no defect is above `goal`, or as far as it gets; false where
  /// nothing was gained and nothing is changed. By all threads of the block, which have met before.
  __device__ bool find(char* memory, double goal) const {
    const Scratch s = scratch_of(memory);
    double* const motion_before = s.force + 3 * num_pairs;
    for (int i = int(threadIdx.x); i < 3 * num_pairs; i += threads) {
      s.force[i] = force[i];
      motion_before[i] = motion[i];
    }
    const double start = measure(s);
    double worst = start;
    for (int step = 0; step < most_steps && worst > goal; ++step) {
      if (threadIdx.x < 32)
        list_pairs(s);
      __syncthreads();
      const int count = *s.count;
      if (count == 0 || count > most_pairs)
        break;
      if (int(threadIdx.x) < count) {
        const int p = s.pair[threadIdx.x];
        set_contact_equations(block[p], motion + 3 * p, force + 3 * p,
                              s.row + 3 * int(threadIdx.x));
      }
      apply(s.pair + most_pairs, s.delta, s.count[1]);
      solve(s, count);
      apply(s.pair, s.delta, count);
      worst = measure(s);
    }
    if (worst < start)
      return true;
    __syncthreads();
    for (int i = int(threadIdx.x); i < 3 * num_pairs; i += threads) {
      force[i] = s.force[i];
      motion[i] = motion_before[i];
    }
    __syncthreads();
    return false;
  }
};

} // namespace detail
#endif

} // namespace ossatura
