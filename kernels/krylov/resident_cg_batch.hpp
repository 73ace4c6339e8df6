// SPDX-License-Identifier: Apache-2.0
// A batch of iterations of the resident conjugate gradients in one launch, by a resident grid: the
// residual, iterations until the recurrence meets the tolerance, and the residual afresh. All
// blocks sum the same parts in the same order, and so decide alike whether to go on.
//
// An iteration has two barriers of the grid where the preconditioner works node by node: after the
// direction and product, and after the step, which preconditions at once. One that takes sums over
// other nodes comes before the product, with barriers of its own.
//
// Warps own rows, four at a time with eight lanes each: the same in all iterations. What other
// blocks write while the kernel runs is read past the caches of multiprocessors (__ldcg).
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/resident_grid.hpp>
#include <ossatura/kernels/krylov/resident_cg.hpp>

#include <cmath>
#include <cstddef>

namespace ossatura {

/// What the batches of a solve need beside the vectors; made at first use.
template<class Exec>
struct CgBatchSpace {
  Array<double, Exec> parts;      ///< [batch_sums, num_parts]
  Array<unsigned, Exec> arrivals; ///< [1] of the grid's barrier
  int num_blocks = 0;             ///< of the grid
  std::size_t scratch_bytes = 0;  ///< that this is for
};

/// How far a batch goes.
struct CgBatchLength {
  double tolerance = 0; ///< positive: it starts a solve, relative to |b|
  int iterations = 0;   ///< at most
};

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
namespace detail {

enum BatchSum { batch_rr, batch_rz, batch_pq, batch_second, batch_sums };

inline constexpr int most_batch_parts = 2048; ///< of a sum: every block reads them all

/// Rows of a part of a sum: four, or more where there would be too many parts.
inline int batch_part_rows(int num_rows) {
  int rows = 4;
  while ((num_rows + rows - 1) / rows > most_batch_parts)
    rows *= 2;
  return rows;
}

/// z = r, or a block of it: a preconditioner that works node by node.
struct BatchNodeForm {
  static constexpr bool is_local = true;
  static constexpr int threads = 512;
  ArrayPointer<double> block; ///< [num_rows, 9] or none

  /// Component c of z.
  __device__ __forceinline__ double operator()(std::int64_t node, int c,
                                               const double (&r)[3]) const {
    if (!block.data)
      return c == 0 ? r[0] : c == 1 ? r[1] : r[2];
    const double* const row = &block(9 * node + 3 * c);
    return __ldg(row) * r[0] + __ldg(row + 1) * r[1] + __ldg(row + 2) * r[2];
  }
  std::size_t scratch_bytes() const { return 0; }
  int num_warps() const { return 0; } ///< that have work
};

/// `Form` is as BatchNodeForm, or, with is_local false, has
///   int num_dots;                                     // parts of r . z
///   void keep(node, c, r);                            // the residual, component c of R^T r
///   void multiply_rows(block); void sum_columns(block, scratch);
/// with barriers of the grid between and after these two.
template<class Form>
struct CgBatch {
  static constexpr int threads = Form::threads;
  static constexpr int resident_blocks = 1;
  static constexpr int warps = threads / 32, lanes = 8, quad = 32 / lanes;
  static constexpr int most_sums = 3; ///< at once
  static constexpr std::size_t own_bytes = sizeof(double) * most_sums * 32;
  static constexpr unsigned all = 0xffffffffu;

  CgArrays<Cuda> cg; ///< p_before and p are those of even iterations
  Form form;
  ArrayPointer<double> parts, seen_numbers;
  ArrayPointer<int> seen_flags;
  int num_parts, part_rows;
  CgBatchLength length;

  /// The same in all threads.
  struct State {
    double rz = 0, norm2 = 0, bound = 0;
    int stop = 0, iterations = 0;
  };
  /// Four rows of a warp; a lane's own is `row`, and `lane` is that among the lanes of the row.
  struct Rows {
    int part, quad, row, lane;
    bool there; ///< the part
  };

  /// A barrier of the grid, as ResidentBlock::grid_barrier(). It leaves the caches of
  /// multiprocessors as they are, with the matrix and the preconditioner: what others write is
  /// never read through them here.
  __device__ __forceinline__ static void barrier(const ResidentBlock& block) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const unsigned mine = block.rank == 0 ? 0x80000000u - unsigned(block.num_blocks - 1) : 1u;
      unsigned before, now;
      asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
                   : "=r"(before)
                   : "l"(block.arrivals), "r"(mine)
                   : "memory");
      do {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                     : "=r"(now)
                     : "l"(block.arrivals)
                     : "memory");
      } while (((before ^ now) & 0x80000000u) == 0);
    }
    __syncthreads();
  }

  __device__ __forceinline__ double* part_of(int sum) const {
    return parts.data + std::int64_t(sum) * num_parts;
  }
  __device__ __forceinline__ void set_row(Rows& rows) const {
    rows.there = rows.part < num_parts;
    rows.row = rows.there ? rows.part * part_rows + quad * rows.quad + int(threadIdx.x) % 32 / lanes
                          : cg.num_rows;
  }
  __device__ __forceinline__ Rows first_rows(const ResidentBlock& block) const {
    Rows rows{int(threadIdx.x) / 32 * block.num_blocks + block.rank, 0, 0, int(threadIdx.x) % lanes,
              false};
    set_row(rows);
    return rows;
  }
  /// True where those were the last of their part.
  __device__ __forceinline__ bool advance(const ResidentBlock& block, Rows& rows) const {
    const bool last = quad * ++rows.quad >= part_rows;
    if (last) {
      rows.quad = 0;
      rows.part += warps * block.num_blocks;
    }
    set_row(rows);
    return last;
  }

  /// Sums of `n` lists of `count` parts each, by all threads of the block; the order does not
  /// depend on the grid. A barrier of the grid lies between two calls.
  template<int n>
  __device__ __forceinline__ void sum_all(const ResidentBlock& block,
                                          const double* const (&list)[n], const int (&count)[n],
                                          double (&sum)[n]) const {
    double* const own = reinterpret_cast<double*>(block.scratch);
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    double value[n];
#pragma unroll
    for (int j = 0; j < n; ++j) {
      value[j] = 0;
#pragma unroll 4
      for (int k = int(threadIdx.x); k < count[j]; k += threads)
        value[j] += __ldcg(list[j] + k);
    }
#pragma unroll
    for (int j = 0; j < n; ++j) {
      value[j] = warp_sum<32>(value[j]);
      if (lane == 0)
        own[32 * j + warp] = value[j];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < n; ++j)
      sum[j] = warp_sum<32>(lane < warps ? own[32 * j + lane] : 0.0);
  }

  /// The rows of A times n vectors, in all lanes of a row.
  template<int n>
  __device__ __forceinline__ void multiply(const Rows& rows, const double* const (&x)[n],
                                           double (&product)[n][3]) const {
#pragma unroll
    for (int j = 0; j < n; ++j)
      product[j][0] = product[j][1] = product[j][2] = 0;
    if (rows.row < cg.num_rows) {
      const int end = __ldg(&cg.row_begin(rows.row + 1));
#pragma unroll 2
      for (int k = __ldg(&cg.row_begin(rows.row)) + rows.lane; k < end; k += lanes) {
        const double* const value = &cg.value(9 * std::int64_t(k));
        const std::int64_t from = 3 * std::int64_t(__ldg(&cg.column(k)));
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          double entry[n];
#pragma unroll
          for (int j = 0; j < n; ++j)
            entry[j] = __ldcg(x[j] + from + c);
#pragma unroll
          for (int d = 0; d < 3; ++d) {
            const double a = __ldg(value + 3 * d + c);
#pragma unroll
            for (int j = 0; j < n; ++j)
              product[j][d] += a * entry[j];
          }
        }
      }
    }
#pragma unroll
    for (int j = 0; j < n; ++j)
#pragma unroll
      for (int d = 0; d < 3; ++d)
        product[j][d] = warp_sum<lanes>(product[j][d]);
  }

  /// Component c of three numbers in registers.
  __device__ __forceinline__ static double component(int c, const double (&of)[3]) {
    return c == 0 ? of[0] : c == 1 ? of[1] : of[2];
  }

  /// Hands the residual of a row to the preconditioner; returns the lane's part of r . z.
  __device__ __forceinline__ double hand_over(const Rows& rows, const double (&r)[3]) const {
    if constexpr (Form::is_local) {
      const std::int64_t i = 3 * std::int64_t(rows.row) + rows.lane;
      const double z = form(rows.row, rows.lane, r);
      cg.z(i) = z;
      return z * component(rows.lane, r);
    } else {
      form.keep(rows.row, rows.lane, r);
      return 0;
    }
  }

  __device__ __forceinline__ void store_part(const Rows& rows, int sum, double value) const {
    value = warp_sum<32>(value);
    if (threadIdx.x % 32 == 0)
      part_of(sum)[rows.part] = value;
  }

  /// r = b - A x, with sums of r . r and of b . b, or of the square of what changed in r.
  __device__ __forceinline__ void find_residual(const ResidentBlock& block, bool start) const {
    double rr = 0, second = 0, rz = 0;
    const double* const x[1] = {cg.x.data};
    for (Rows rows = first_rows(block); rows.there;) {
      double product[1][3], r[3];
      multiply(rows, x, product);
      if (rows.row < cg.num_rows && rows.lane < 3) {
        const std::int64_t first = 3 * std::int64_t(rows.row), i = first + rows.lane;
#pragma unroll
        for (int d = 0; d < 3; ++d)
          r[d] = __ldg(&cg.b(first + d)) - product[0][d];
        const double now = component(rows.lane, r);
        const double other = start ? __ldg(&cg.b(i)) : now - cg.r(i);
        cg.r(i) = now;
        rr += now * now;
        second += other * other;
        rz += hand_over(rows, r);
      }
      const Rows done = rows;
      if (advance(block, rows)) {
        store_part(done, batch_rr, rr);
        store_part(done, batch_second, second);
        if constexpr (Form::is_local)
          store_part(done, batch_rz, rz);
        rr = second = rz = 0;
      }
    }
    barrier(block);
  }

  /// Direction and product of an iteration. `rows` and `product` (of z and of the direction before)
  /// are of the first rows.
  __device__ __forceinline__ void find_product(const ResidentBlock& block, double beta,
                                               const double* before, double* p, Rows rows,
                                               double (&product)[2][3]) const {
    const double* const x[2] = {cg.z.data, before};
    double pq = 0;
    while (rows.there) {
      if (rows.row < cg.num_rows && rows.lane < 3) {
        const std::int64_t i = 3 * std::int64_t(rows.row) + rows.lane;
        double own = __ldcg(&cg.z(i)), q = component(rows.lane, product[0]);
        if (beta != 0) {
          own += beta * before[i];
          q += beta * component(rows.lane, product[1]);
        }
        p[i] = own;
        cg.q(i) = q;
        pq += own * q;
      }
      const Rows done = rows;
      if (advance(block, rows)) {
        store_part(done, batch_pq, pq);
        pq = 0;
      }
      if (rows.there)
        multiply(rows, x, product);
    }
  }

  /// x += alpha p, r -= alpha q, with sums of r . r (and r . z).
  __device__ __forceinline__ void take_step(const ResidentBlock& block, double alpha,
                                            const double* p) const {
    double rr = 0, rz = 0;
    for (Rows rows = first_rows(block); rows.there;) {
      const bool mine = rows.row < cg.num_rows && rows.lane < 3;
      double now = 0;
      if (mine) {
        const std::int64_t i = 3 * std::int64_t(rows.row) + rows.lane;
        cg.x(i) += alpha * p[i];
        now = cg.r(i) - alpha * cg.q(i);
        cg.r(i) = now;
        rr += now * now;
      }
      double r[3];
#pragma unroll
      for (int d = 0; d < 3; ++d)
        r[d] = __shfl_sync(all, now, d, lanes);
      if (mine)
        rz += hand_over(rows, r);
      const Rows done = rows;
      if (advance(block, rows)) {
        store_part(done, batch_rr, rr);
        if constexpr (Form::is_local)
          store_part(done, batch_rz, rz);
        rr = rz = 0;
      }
    }
    barrier(block);
  }

  /// By all blocks alike, from r . r.
  __device__ __forceinline__ static int stop_at(double norm2, double bound) {
    return !(norm2 < double(1e300)) ? 2 : norm2 <= bound;
  }

  __device__ __forceinline__ void set_number(int number, double value) const {
    cg.numbers(number) = seen_numbers(number) = value;
  }
  __device__ __forceinline__ void set_flag(int flag, int value) const {
    cg.flags(flag) = seen_flags(flag) = value;
  }

  __device__ __forceinline__ State start(const ResidentBlock& block) const {
    State state;
    if (length.tolerance > 0) {
      find_residual(block, true);
      double sum[2];
      sum_all<2>(block, {part_of(batch_rr), part_of(batch_second)}, {num_parts, num_parts}, sum);
      state.norm2 = sum[0];
      state.bound = length.tolerance * length.tolerance * sum[1];
      state.stop = stop_at(sum[0], state.bound);
      if (block.rank == 0 && threadIdx.x == 0) {
        set_number(cg_reference, sum[1]);
        set_number(cg_bound, state.bound);
      }
      __syncthreads(); // before the next sums: no barrier of the grid may lie between
      return state;
    }
    state.rz = __ldcg(&cg.numbers(cg_rz));
    state.norm2 = __ldcg(&cg.numbers(cg_norm2));
    state.bound = __ldcg(&cg.numbers(cg_bound));
    state.stop = __ldcg(&cg.flags(cg_stop));
    state.iterations = __ldcg(&cg.flags(cg_iterations));
    return state;
  }

  /// Direction, product and step once r . z is known.
  __device__ __forceinline__ void iterate(const ResidentBlock& block, double rz, const Rows& rows,
                                          double (&product)[2][3], State& state) const {
    const bool odd = (state.iterations & 1) != 0;
    double* const p = odd ? cg.p_before.data : cg.p.data;
    const double* const before = odd ? cg.p.data : cg.p_before.data;
    const double beta = state.iterations == 0 ? 0 : rz / state.rz;
    find_product(block, beta, before, p, rows, product);
    barrier(block);
    double pq[1];
    sum_all<1>(block, {part_of(batch_pq)}, {num_parts}, pq);
    const bool good = pq[0] > 0 && rz > 0;
    take_step(block, good ? rz / pq[0] : 0, p);
    state.rz = rz;
    state.iterations += good;
    state.stop = good ? 0 : 2;
  }

  /// Whether the iterations end here, by all blocks alike.
  __device__ __forceinline__ bool ends(double norm2, int k, State& state) const {
    state.norm2 = norm2;
    if (state.stop == 0)
      state.stop = stop_at(norm2, state.bound);
    return state.stop != 0 || k == length.iterations;
  }
  __device__ __forceinline__ void set_vectors(const State& state, const double* (&x)[2]) const {
    x[0] = cg.z.data;
    x[1] = state.iterations & 1 ? cg.p.data : cg.p_before.data;
  }

  __device__ __forceinline__ void run_local(const ResidentBlock& block, State& state) const {
    const Rows rows = first_rows(block);
    for (int k = 0;; ++k) {
      const double* x[2];
      set_vectors(state, x);
      double product[2][3], sum[2];
      multiply(rows, x, product); // of what is known; the sums arrive meanwhile
      sum_all<2>(block, {part_of(batch_rr), part_of(batch_rz)}, {num_parts, num_parts}, sum);
      if (ends(sum[0], k, state))
        return;
      iterate(block, sum[1], rows, product, state);
    }
  }

  __device__ __forceinline__ void run_global(const ResidentBlock& block, State& state) const {
    const Rows rows = first_rows(block);
    for (int k = 0;; ++k) {
      form.multiply_rows(block); // for nothing after the last step
      double rr[1], rz[1];
      sum_all<1>(block, {part_of(batch_rr)}, {num_parts}, rr);
      if (ends(rr[0], k, state))
        return;
      barrier(block);
      form.sum_columns(block, block.scratch + own_bytes);
      barrier(block);
      const double* x[2];
      set_vectors(state, x);
      double product[2][3];
      multiply(rows, x, product);
      sum_all<1>(block, {cg.rz_parts.data}, {form.num_dots}, rz);
      iterate(block, rz[0], rows, product, state);
    }
  }

  __device__ __forceinline__ void operator()(const ResidentBlock& block) const {
    State state = start(block);
    if (state.stop == 0) {
      if constexpr (Form::is_local)
        run_local(block, state);
      else
        run_global(block, state);
    }
    barrier(block); // others may still sum parts
    find_residual(block, false);
    if (block.rank != 0)
      return;
    double sum[2];
    sum_all<2>(block, {part_of(batch_rr), part_of(batch_second)}, {num_parts, num_parts}, sum);
    if (threadIdx.x != 0)
      return;
    // As in ResidentResidual: directions start anew where the recurrence left the residual.
    set_number(cg_true, sum[0]);
    set_number(cg_norm2, state.norm2);
    set_number(cg_rz, !(sum[1] <= 0.01 * sum[0]) ? HUGE_VAL : state.rz);
    set_flag(cg_iterations, state.iterations);
    set_flag(cg_stop, state.stop == 2 ? 2 : stop_at(sum[0], state.bound));
  }
};

} // namespace detail
#endif

/// Runs a batch with z = r, or with blocks [num_rows, 9] for each node, as run_cg_batch below.
/// False where there are no resident grids.
template<class Exec>
bool run_node_batch(const Exec&, const ResidentCg<Exec>&, const Array<double, Exec>& /*blocks*/,
                    const CgBatchLength&, const CgBatchSpace<Exec>&) {
  return false;
}

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
/// Runs a batch: with a tolerance, r = b - A x and what the tolerance refers to; then iterations
/// until the recurrence meets it, the matrix turns out not to be positive definite, or as many as
/// there may be; and r = b - A x afresh. look_at_batch() reads what came of it. False where the
/// device has no resident grids, and nothing was done. Does not fence.
template<class Form>
bool run_cg_batch(const Cuda& exec, const ResidentCg<Cuda>& cg, const Form& form,
                  const CgBatchLength& length, CgBatchSpace<Cuda>& space) {
  using Kernel = detail::CgBatch<Form>;
  const char* const label = "ossatura::cg_batch";
  Kernel kernel{};
  kernel.cg = detail::cg_arrays(cg, 0);
  kernel.form = form;
  kernel.seen_numbers = cg.seen_numbers;
  kernel.seen_flags = cg.seen_flags;
  kernel.part_rows = detail::batch_part_rows(cg.matrix.num_rows);
  kernel.num_parts = (cg.matrix.num_rows + kernel.part_rows - 1) / kernel.part_rows;
  kernel.length = length;
  const std::size_t bytes = Kernel::own_bytes + form.scratch_bytes();
  if (space.num_blocks == 0 || space.scratch_bytes != bytes) {
    if (!has_resident_grids(exec) || bytes > exec.cuda_device_prop().sharedMemPerBlockOptin)
      return false;
    const int most = max_resident_blocks<Kernel>(label, exec, bytes);
    const int wanted = std::max(kernel.num_parts, form.num_warps());
    space.num_blocks = std::min(most, (wanted + 3) / 4);
    space.scratch_bytes = bytes;
    if (space.num_blocks <= 0)
      return false;
    space.arrivals = make_zeros<unsigned>(exec, 1, "ossatura::cg_batch::arrivals");
  }
  const std::int64_t num_sums = std::int64_t(detail::batch_sums) * kernel.num_parts;
  if (std::int64_t(space.parts.extent(0)) < num_sums)
    space.parts = make_zeros<double>(exec, num_sums, "ossatura::cg_batch::parts");
  kernel.parts = space.parts;
  launch_resident_grid(label, exec, space.num_blocks, bytes, space.arrivals, kernel);
  return true;
}

inline bool run_node_batch(const Cuda& exec, const ResidentCg<Cuda>& cg,
                           const Array<double, Cuda>& blocks, const CgBatchLength& length,
                           CgBatchSpace<Cuda>& space) {
  return run_cg_batch(exec, cg, detail::BatchNodeForm{blocks}, length, space);
}
#endif

} // namespace ossatura
