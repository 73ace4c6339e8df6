// SPDX-License-Identifier: Apache-2.0
// The inverse product inside a batch of conjugate gradients (kernels/krylov/resident_cg_batch.hpp):
// the two kernels of inverse_product.hpp as phases of a resident grid, for an inverse of one band.
// Warps take the tasks of rows, and eight warps a tile of columns. Sums have the same parts
// whatever the grid.
#pragma once

#include <ossatura/kernels/factor/inverse_product.hpp>
#include <ossatura/kernels/krylov/resident_cg_batch.hpp>

namespace ossatura {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
namespace detail {

/// Eight entries by loads of 16 bytes: of what does not change while the kernel runs, or of what
/// others write.
template<bool is_constant, class T>
__device__ __forceinline__ EightEntries<T> load_eight_at_once(const T* from) {
  constexpr int words = 8 * sizeof(T) / 16;
  union {
    int4 word[words];
    EightEntries<T> eight;
  } entries;
  const int4* const word = reinterpret_cast<const int4*>(from);
#pragma unroll
  for (int k = 0; k < words; ++k)
    entries.word[k] = is_constant ? __ldg(word + k) : __ldcg(word + k);
  return entries.eight;
}

/// A preconditioner of CgBatch: z = R W^T D^-1 W R^T r.
template<class Storage>
struct BatchInverse {
  using Real = typename InverseProduct<Cuda, Storage>::Real;
  static constexpr bool is_local = false;
  static constexpr int threads = 512;
  static constexpr int warps = threads / 32;
  static constexpr int team = 256; ///< threads that sum a tile of columns
  static constexpr int eights = column_tile / 8, slots = 42;
  static constexpr int batch = sizeof(Storage) == 8 ? 2 : 4; ///< rows under way at once
  static_assert(threads % team == 0 && slots * eights <= team, "a thread has eight columns");

  InverseProductArrays<Real> lists;
  ArrayPointer<const Storage> value;
  ArrayPointer<const double> inverse_pivot, r, rotation; ///< rotation [num_nodes, 9] or none
  ArrayPointer<double> z, dots;
  int num_dots; ///< tiles

  KOKKOS_INLINE_FUNCTION std::size_t team_bytes() const {
    const std::size_t bytes =
        sizeof(Real) * (std::size_t(lists.longest) + slots * column_tile + column_tile);
    return (bytes + 15) / 16 * 16;
  }
  std::size_t scratch_bytes() const { return threads / team * team_bytes(); }
  int num_warps() const { return std::max(lists.num_tasks, team / 32 * num_dots); }

  __device__ __forceinline__ static void team_barrier() {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + int(threadIdx.x) / team), "n"(team) : "memory");
  }

  __device__ __forceinline__ void keep(std::int64_t node, int c, const double (&r_node)[3]) const {
    double sum = c == 0 ? r_node[0] : c == 1 ? r_node[1] : r_node[2];
    if (rotation.data) {
      const double* const column = &rotation(9 * node + c);
      sum =
          __ldg(column) * r_node[0] + __ldg(column + 3) * r_node[1] + __ldg(column + 6) * r_node[2];
    }
    lists.rotated(3 * node + c) = Real(sum);
  }

  __device__ __forceinline__ RowTask load_task(int number) const {
    static_assert(sizeof(RowTask) == 32, "two words");
    union {
      int4 word[2];
      RowTask task;
    } loaded;
    loaded.word[0] = __ldg(reinterpret_cast<const int4*>(&lists.tasks(number)));
    loaded.word[1] = __ldg(reinterpret_cast<const int4*>(&lists.tasks(number)) + 1);
    return loaded.task;
  }

  /// partial = W R^T r, by parts of rows.
  __device__ __forceinline__ void multiply_rows(const ResidentBlock& block) const {
    const int lane = int(threadIdx.x) % 32;
    for (int number = int(threadIdx.x) / 32 * block.num_blocks + block.rank;
         number < lists.num_tasks; number += warps * block.num_blocks) {
      const RowTask task = load_task(number);
      Real sum[row_task_rows] = {};
      for (int c = 8 * lane; c < task.length; c += 8 * 32) {
        const EightEntries<Real> x = load_eight_at_once<false>(&lists.rotated(task.column + c));
        const Storage* const from = &value(task.value + c);
#pragma unroll
        for (int i = 0; i < row_task_rows; ++i)
          if (i < task.rows) {
            const EightEntries<Storage> w =
                load_eight_at_once<true>(from + std::int64_t(i) * task.stride);
#pragma unroll
            for (int q = 0; q < 8; ++q)
              sum[i] += Real(w.entry[q]) * x.entry[q];
          }
      }
      const Real whole = warp_sums(sum, lane);
      if (lane % 4 == 0 && lane / 4 < task.rows)
        lists.partial(task.result + lane / 4 * task.parts) = whole;
    }
  }

  /// y = D^-1 W R^T r of the rows of a tile.
  __device__ __forceinline__ void scale_rows(int thread, int begin, int length, Real* y) const {
    for (int k = thread; k < length; k += team) {
      const int row = int(__ldg(&lists.entries(begin + k).row_and_range) & 0xffffffu);
      const int2 own = __ldg(reinterpret_cast<const int2*>(&lists.parts(begin + k)));
      const Real scale = Real(__ldg(&inverse_pivot(row)));
      Real sum = 0;
      for (int p = 0; p < own.y; ++p)
        sum += __ldcg(&lists.partial(own.x + p));
      y[k] = sum * scale;
    }
  }

  /// A thread's rows of a tile, in eight columns.
  __device__ __forceinline__ void add_rows(int thread, int begin, int length, const Real* y,
                                           Real (&sum)[8]) const {
    const int slot = thread / eights, eight = thread % eights;
    for (int k = slot; k < length; k += batch * slots) {
      EightEntries<Storage> w[batch];
      bool has[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        const int at = k + j * slots;
        const int2 entry =
            __ldg(reinterpret_cast<const int2*>(&lists.entries(begin + (at < length ? at : k))));
        const int first = int(unsigned(entry.y) >> 24 & 15u), last = int(unsigned(entry.y) >> 28);
        has[j] = at < length && eight >= first && eight <= last;
        // What is not there is loaded from the start of W: every thread takes the same way.
        w[j] = load_eight_at_once<true>(&value(has[j] ? 8 * (std::int64_t(entry.x) + eight) : 0));
      }
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        const Real factor = has[j] ? y[k + j * slots] : Real(0);
#pragma unroll
        for (int q = 0; q < 8; ++q)
          sum[q] += Real(w[j].entry[q]) * factor;
      }
    }
  }

  /// z of a tile and its r . z, by one warp.
  __device__ __forceinline__ void store_tile(int lane, int tile, const Real* total) const {
    const int column = tile * column_tile;
    double dot = 0;
#pragma unroll
    for (int c = lane; c < column_tile; c += 32) {
      const std::int64_t to = column + c;
      if (to >= lists.num_columns)
        break;
      double own = double(total[c]);
      if (rotation.data) {
        const double* const row = &rotation(3 * to);
        const Real* const node = total + c / 3 * 3;
        own = __ldg(row) * double(node[0]) + __ldg(row + 1) * double(node[1]) +
              __ldg(row + 2) * double(node[2]);
      }
      z(to) = own;
      dot += own * __ldcg(&r(to));
    }
    dot = warp_sum<32>(dot);
    if (lane == 0)
      dots(tile) = dot;
  }

  /// The sums of a tile's columns over the slots.
  __device__ __forceinline__ void add_slots(int thread, const Real (&sum)[8], Real* sums,
                                            Real* total) const {
    if (thread < slots * eights)
#pragma unroll
      for (int q = 0; q < 8; ++q)
        sums[thread / eights * column_tile + 8 * (thread % eights) + q] = sum[q];
    team_barrier();
    if (thread < 4 * column_tile) {
      const int c = thread / 4;
      Real whole = 0;
#pragma unroll
      for (int j = 0; j < (slots + 3) / 4; ++j) {
        const int slot = thread % 4 + 4 * j;
        whole += slot < slots ? sums[slot * column_tile + c] : Real(0);
      }
      whole = warp_sum<4>(whole);
      if (thread % 4 == 0)
        total[c] = whole;
    }
    team_barrier();
  }

  /// z from partial, and sums of r . z.
  __device__ __forceinline__ void sum_columns(const ResidentBlock& block, char* scratch) const {
    const int number = int(threadIdx.x) / team, thread = int(threadIdx.x) % team;
    Real* const sums = reinterpret_cast<Real*>(scratch + number * team_bytes());
    Real* const total = sums + slots * column_tile;
    Real* const y = total + column_tile;
    for (int tile = number * block.num_blocks + block.rank; tile < num_dots;
         tile += threads / team * block.num_blocks) {
      const int begin = __ldg(&lists.tile_begin(tile));
      const int length = __ldg(&lists.tile_begin(tile + 1)) - begin;
      scale_rows(thread, begin, length, y);
      team_barrier();
      Real sum[8] = {};
      if (thread < slots * eights)
        add_rows(thread, begin, length, y, sum);
      add_slots(thread, sum, sums, total);
      if (thread < 32)
        store_tile(thread, tile, total);
    }
  }
};

} // namespace detail
#endif

/// Runs a batch with z = R M^-1 R^T r, the rotations of nodes [num_nodes, 9] or none, as
/// run_cg_batch. False where it cannot: without resident grids, with more bands than one, or with
/// more than 16 MiB of W.
template<class Exec, class Storage>
bool run_inverse_batch(const Exec&, ResidentCg<Exec>&, const InverseProduct<Exec, Storage>&,
                       const InverseFactor<Exec, Storage>&, const Array<double, Exec>& /*rotation*/,
                       const CgBatchLength&, const CgBatchSpace<Exec>&) {
  return false;
}

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
template<class Storage>
bool run_inverse_batch(const Cuda& exec, ResidentCg<Cuda>& cg,
                       const InverseProduct<Cuda, Storage>& product,
                       const InverseFactor<Cuda, Storage>& inverse,
                       const Array<double, Cuda>& rotation, const CgBatchLength& length,
                       CgBatchSpace<Cuda>& space) {
  // One block a multiprocessor has too few loads under way for more: two launches are faster.
  constexpr std::size_t most_bytes = std::size_t(16) << 20;
  if (product.num_bands() != 1 || product.num_tiles() == 0 ||
      inverse.value.extent(0) * sizeof(Storage) > most_bytes)
    return false;
  detail::BatchInverse<Storage> form;
  form.lists = product.arrays();
  form.value = inverse.value;
  form.inverse_pivot = inverse.inverse_pivot;
  form.r = cg.r;
  form.rotation = rotation;
  form.z = cg.z;
  form.dots = cg.rz_parts;
  form.num_dots = product.num_tiles();
  return run_cg_batch(exec, cg, form, length, space);
}
#endif

} // namespace ossatura
