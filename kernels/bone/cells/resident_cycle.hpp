// SPDX-License-Identifier: Apache-2.0
// A resident cycle runs through the steps of a multigrid cycle on small levels in one launch. On
// such levels a product takes as long as its chain of dependent steps, and its launch as long
// again. Here each block of a resident grid (core/parallel/resident_grid.hpp) keeps a part of every
// level on chip (resident_levels.hpp), and between two steps there is a barrier of the grid. The
// steps are a list, which the solver makes once (solvers/bone/multigrid/resident_program.hpp).
//
// A product computes each cell of a part once, cells at the border of parts once in each, and sums
// at the nodes in the order of the cells: results are bitwise the same, however many parts there
// are. Other backends can run the same steps part by part, in turn; they have no reason to but for
// tests.
#pragma once

#include <ossatura/core/parallel/resident_grid.hpp>
#include <ossatura/kernels/algebra/fused_updates/smoothing.hpp>
#include <ossatura/kernels/bone/cells/resident_levels.hpp>
#include <ossatura/kernels/bone/element.hpp>

namespace ossatura {

/// What a step does on its level, whose two iterates are `from` and `to`, whose right-hand side is
/// b, smoothed with weights w by blocks S. Held components stay zero.
enum class CycleOp : int {
  start,      ///< b is read from memory, iterate[to] = w S b
  smooth,     ///< iterate[to] = scale (x + w S (b - A x)), plus the sum of steps if `add`
  residual,   ///< iterate[to] = b - A x
  correct,    ///< b -= A x, sum of steps = x, plus what it was if `add`, iterate[to] = w S b
  restricted, ///< b = P^T iterate[from] of the level above, iterate[to] = w S b; on the coarsest
              ///< level b goes to memory, and that is all
  solve       ///< iterate[to] = the dense inverse times b, which is read from memory
};

/// A step. x is iterate[from], plus P iterate[coarse] of the level below if coarse >= 0.
struct CycleStep {
  CycleOp op;
  int level;
  int from, to, coarse;
  int add;
  double weight, scale;
};

/// A level in memory, beside its tables.
template<class Scalar>
struct ResidentLevel {
  ResidentTables tables;
  int num_nodes = 0;
  Scalar lambda_scale = 0, mu_scale = 0; ///< times the edge
  Scalar* iterate[2] = {nullptr, nullptr};
  Scalar* b = nullptr;             ///< right-hand side in memory, of the first and of the coarsest
  const Scalar* inverse = nullptr; ///< [6 num_nodes] blocks of the smoother
  int blocks_at = 0, b_at = 0, sum_at = 0; ///< on chip: [6][num_owned], [3][num_owned] twice
};

namespace detail {

/// A thread of a block; where blocks run in turn a block is one thread.
struct PartThread {
  int rank, num_parts;
  char* scratch;
  int thread = 0, num_threads = 1;
  int lanes = 1; ///< of a warp

  KOKKOS_INLINE_FUNCTION void sync() const { KOKKOS_IF_ON_DEVICE((__syncthreads();)) }
  /// The sum over a warp, for all its lanes.
  template<class T>
  KOKKOS_INLINE_FUNCTION T sum_lanes(T value) const {
    KOKKOS_IF_ON_DEVICE((for (int offset = 16; offset > 0; offset /= 2) value +=
                         __shfl_xor_sync(0xffffffffu, value, offset);))
    return value;
  }
  template<class T>
  KOKKOS_INLINE_FUNCTION T* at(int bytes) const {
    return reinterpret_cast<T*>(scratch + bytes);
  }
};

/// Reads what another block wrote before the last barrier: past the cache of the multiprocessor.
template<class T>
KOKKOS_INLINE_FUNCTION T load_far(const T* p) {
  KOKKOS_IF_ON_DEVICE((return __ldcg(p);))
  KOKKOS_IF_ON_HOST((return *p;))
}

template<class Scalar>
struct ResidentCycleKernel {
  static constexpr int threads = sizeof(Scalar) == 4 ? 768 : 512;
  static constexpr int resident_blocks = 1;
  static constexpr int max_levels = 8;
  static constexpr int slices = 4; ///< of a row of a sum that threads share

  ResidentLevel<Scalar> level[max_levels];
  int num_levels;
  int table_bytes;
  const std::uint64_t* memory; ///< of the tables
  const CycleStep* steps;
  int num_steps;
  int steps_at;        ///< on chip
  const Scalar* dense; ///< [n * n] of the coarsest level; null: zero
  int vector_at;       ///< on chip: a vector at the nodes of a part
  int forces_at;       ///< and forces of its cells, [24][max_cells], or partial sums

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
  __device__ void operator()(const ResidentBlock& block) const {
    const PartThread part{block.rank,       block.num_blocks, block.scratch,
                          int(threadIdx.x), int(blockDim.x),  32};
    begin(part);
    for (int s = 0; s < num_steps; ++s) {
      run(part, part.at<CycleStep>(steps_at)[s]);
      if (s + 1 < num_steps)
        block.grid_barrier();
    }
  }
#endif

  /// Brings what stays on chip. Ends with a barrier of the block.
  KOKKOS_FUNCTION void begin(const PartThread& part) const {
    struct alignas(16) Piece {
      std::uint64_t half[2];
    };
    const int pieces = table_bytes / 16;
    const Piece* const from =
        reinterpret_cast<const Piece*>(memory) + std::int64_t(part.rank) * pieces;
    for (int i = part.thread; i < pieces; i += part.num_threads)
      part.at<Piece>(0)[i] = from[i];
    for (int i = part.thread; i < num_steps; i += part.num_threads)
      part.at<CycleStep>(steps_at)[i] = steps[i];
    for (int l = 0; l + 1 < num_levels; ++l) {
      const int size = level[l].tables.num_owned, first = part.rank * size;
      Scalar* const blocks = part.at<Scalar>(level[l].blocks_at);
      for (int i = part.thread; i < 6 * size; i += part.num_threads)
        if (first + i / 6 < level[l].num_nodes)
          blocks[i % 6 * size + i / 6] = level[l].inverse[6 * std::int64_t(first) + i];
    }
    part.sync();
  }

  KOKKOS_FUNCTION void run(const PartThread& part, const CycleStep& s) const {
    switch (s.op) {
    case CycleOp::start:
      return read_right_side(part, s);
    case CycleOp::restricted:
      return restrict_from_above(part, s);
    case CycleOp::solve:
      return solve_dense(part, s);
    default:
      return multiply(part, s);
    }
  }

private:
  /// 1 / n for n = 1, 2, 4, 8, without a division.
  static KOKKOS_FUNCTION Scalar inverse_power(int n) {
    return n < 4 ? (n < 2 ? Scalar(1) : Scalar(0.5)) : (n < 8 ? Scalar(0.25) : Scalar(0.125));
  }

  KOKKOS_FUNCTION int num_own(const PartThread& part, const ResidentLevel<Scalar>& l) const {
    const int rest = l.num_nodes - part.rank * l.tables.num_owned;
    return Kokkos::max(0, Kokkos::min(rest, l.tables.num_owned));
  }

  KOKKOS_FUNCTION void scaled(const PartThread& part, const ResidentLevel<Scalar>& l, int i,
                              const Scalar (&r)[3], Scalar (&z)[3]) const {
    const Scalar* const blocks = part.at<Scalar>(l.blocks_at) + i;
    Scalar block[6];
    for (int k = 0; k < 6; ++k)
      block[k] = blocks[k * l.tables.num_owned];
    apply_block(block, r, z);
  }

  /// iterate[to] = w S b at own node i, and b is kept.
  KOKKOS_FUNCTION void start_node(const PartThread& part, const CycleStep& s, int i,
                                  const Scalar (&b)[3]) const {
    const ResidentLevel<Scalar>& l = level[s.level];
    const int size = l.tables.num_owned;
    Scalar z[3];
    scaled(part, l, i, b, z);
    Scalar* const kept = part.at<Scalar>(l.b_at) + i;
    Scalar* const to = l.iterate[s.to] + 3 * (std::int64_t(part.rank) * size + i);
    for (int c = 0; c < 3; ++c) {
      kept[c * size] = b[c];
      to[c] = Scalar(s.weight) * z[c];
    }
  }

  KOKKOS_FUNCTION void read_right_side(const PartThread& part, const CycleStep& s) const {
    const ResidentLevel<Scalar>& l = level[s.level];
    const int own = num_own(part, l), first = part.rank * l.tables.num_owned;
    for (int i = part.thread; i < own; i += part.num_threads) {
      const Scalar* const from = l.b + 3 * std::int64_t(first + i);
      const Scalar b[3] = {from[0], from[1], from[2]};
      start_node(part, s, i, b);
    }
  }

  KOKKOS_FUNCTION void restrict_from_above(const PartThread& part, const CycleStep& s) const {
    const ResidentLevel<Scalar>& l = level[s.level];
    const ResidentTables& t = l.tables;
    const Scalar* const r = level[s.level - 1].iterate[s.from];
    const std::uint16_t* const begin = part.at<std::uint16_t>(t.restriction_begin);
    const int* const entry = part.at<int>(t.restriction);
    Scalar* const partial = part.at<Scalar>(forces_at);
    constexpr int batch = 7; // 27 fine nodes in four slices, where nothing is split
    const int own = num_own(part, l);
    for (int k = part.thread; k < 3 * slices * own; k += part.num_threads) {
      const int c = k % 3, slice = k / 3 % slices, i = k / (3 * slices);
      const int end = begin[i + 1];
      Scalar sum = 0;
      for (int first = begin[i] + slice; first < end; first += batch * slices) {
        Scalar value[batch];
        for (int b = 0; b < batch; ++b) {
          const int j = first + b * slices, e = j < end ? entry[j] : -1;
          value[b] = e >= 0
                         ? inverse_power(1 << (e & 3)) * load_far(r + 3 * std::int64_t(e >> 2) + c)
                         : Scalar(0);
        }
        for (int b = 0; b < batch; ++b)
          sum += value[b];
      }
      partial[k] = sum;
    }
    part.sync();
    const std::uint8_t* const held = part.at<std::uint8_t>(t.held);
    for (int i = part.thread; i < own; i += part.num_threads) {
      Scalar b[3];
      for (int c = 0; c < 3; ++c) {
        const Scalar* const p = partial + 3 * slices * i + c;
        b[c] = held[i] >> c & 1 ? Scalar(0) : (p[0] + p[3]) + (p[6] + p[9]);
      }
      if (s.level + 1 < num_levels)
        start_node(part, s, i, b);
      else
        for (int c = 0; c < 3; ++c)
          l.b[3 * (std::int64_t(part.rank) * t.num_owned + i) + c] = b[c];
    }
  }

  /// A slice of a row is a warp's on devices. The order of additions does not depend on the number
  /// of parts.
  KOKKOS_FUNCTION void solve_dense(const PartThread& part, const CycleStep& s) const {
    const ResidentLevel<Scalar>& l = level[s.level];
    const int n = 3 * l.num_nodes, per_part = (n + part.num_parts - 1) / part.num_parts;
    const int first = Kokkos::min(part.rank * per_part, n), rows = Kokkos::min(per_part, n - first);
    if (!dense) {
      for (int i = part.thread; i < rows; i += part.num_threads)
        l.iterate[s.to][first + i] = 0;
      return;
    }
    Scalar* const b = part.at<Scalar>(vector_at);
    for (int i = part.thread; i < n; i += part.num_threads)
      b[i] = load_far(l.b + i);
    part.sync();
    Scalar* const partial = part.at<Scalar>(forces_at);
    const int length = (n + slices - 1) / slices, lane = part.thread % part.lanes;
    for (int k = part.thread / part.lanes; k < rows * slices; k += part.num_threads / part.lanes) {
      const int begin = k % slices * length, end = Kokkos::min(begin + length, n);
      const Scalar* const row = dense + std::int64_t(first + k / slices) * n;
      Scalar sum = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
      for (int j = begin + lane; j < end; j += part.lanes)
        sum += row[j] * b[j];
      sum = part.sum_lanes(sum);
      if (lane == 0)
        partial[k] = sum;
    }
    part.sync();
    for (int i = part.thread; i < rows; i += part.num_threads) {
      const Scalar* const p = partial + slices * i;
      l.iterate[s.to][first + i] = (p[0] + p[1]) + (p[2] + p[3]);
    }
  }

  /// x of the step at all nodes of the part. Several numbers of a thread are asked for before the
  /// first is used.
  KOKKOS_FUNCTION void fetch(const PartThread& part, const CycleStep& s) const {
    constexpr int batch = 5;
    const ResidentLevel<Scalar>& l = level[s.level];
    const ResidentTables& t = l.tables;
    const int count = 3 * part.at<int>(t.counts)[1];
    const int* const node = part.at<int>(t.node);
    const Scalar* const from = l.iterate[s.from];
    Scalar* const x = part.at<Scalar>(vector_at);
    for (int first = part.thread; first < count; first += batch * part.num_threads) {
      Scalar value[batch];
      for (int b = 0; b < batch; ++b) {
        const int k = first + b * part.num_threads;
        value[b] = k < count ? load_far(from + 3 * std::int64_t(node[k / 3]) + k % 3) : Scalar(0);
      }
      for (int b = 0; b < batch; ++b) {
        const int k = first + b * part.num_threads;
        if (k < count)
          x[k] = value[b];
      }
    }
    if (s.coarse >= 0)
      prolong(part, s);
  }

  /// Adds the correction of the level below: each thread to the numbers that it brought.
  KOKKOS_FUNCTION void prolong(const PartThread& part, const CycleStep& s) const {
    const ResidentTables& t = level[s.level].tables;
    const int count = 3 * part.at<int>(t.counts)[1];
    const Scalar* const coarse = level[s.level + 1].iterate[s.coarse];
    const std::uint16_t* const begin = part.at<std::uint16_t>(t.prolongation_begin);
    const int* const corner = part.at<int>(t.prolongation);
    const std::uint8_t* const held = part.at<std::uint8_t>(t.held);
    Scalar* const x = part.at<Scalar>(vector_at);
    for (int k = part.thread; k < count; k += part.num_threads) {
      const int i = k / 3, c = k % 3, first = begin[i], corners = begin[i + 1] - first;
      Scalar value[8];
      for (int j = 0; j < 8; ++j)
        value[j] =
            j < corners ? load_far(coarse + 3 * std::int64_t(corner[first + j]) + c) : Scalar(0);
      Scalar sum = 0;
      for (int j = 0; j < 8; ++j)
        sum += value[j];
      if (!(held[i] >> c & 1))
        x[k] += inverse_power(corners) * sum;
    }
  }

  KOKKOS_FUNCTION void compute_cells(const PartThread& part, const ResidentLevel<Scalar>& l) const {
    const ResidentTables& t = l.tables;
    const int count = part.at<int>(t.counts)[0];
    struct alignas(16) Corners {
      std::uint16_t place[8];
    };
    const Corners* const corners = part.at<Corners>(t.corner);
    const float* const moduli = part.at<float>(t.moduli);
    const Scalar* const x = part.at<Scalar>(vector_at);
    Scalar* const forces = part.at<Scalar>(forces_at);
    for (int cell = part.thread; cell < count; cell += part.num_threads) {
      const Corners at = corners[cell];
      Scalar u[24];
      for (int v = 0; v < 8; ++v)
        for (int c = 0; c < 3; ++c)
          u[3 * v + c] = x[3 * at.place[v] + c];
      apply_voxel_stiffness(Scalar(l.lambda_scale * Scalar(moduli[2 * cell])),
                            Scalar(l.mu_scale * Scalar(moduli[2 * cell + 1])), u);
      for (int k = 0; k < 24; ++k)
        forces[k * t.max_cells + cell] = u[k];
    }
  }

  KOKKOS_FUNCTION void multiply(const PartThread& part, const CycleStep& s) const {
    const ResidentLevel<Scalar>& l = level[s.level];
    fetch(part, s);
    part.sync();
    compute_cells(part, l);
    part.sync();
    const ResidentTables& t = l.tables;
    const std::uint16_t* const begin = part.at<std::uint16_t>(t.entry_begin);
    const std::uint16_t* const entry = part.at<std::uint16_t>(t.entry);
    const Scalar* const forces = part.at<Scalar>(forces_at);
    const int own = num_own(part, l);
    for (int i = part.thread; i < own; i += part.num_threads) {
      Scalar product[3] = {0, 0, 0};
      const int end = begin[i + 1];
      for (int first = begin[i]; first < end; first += 8) {
        int place[8];
        for (int j = 0; j < 8; ++j) {
          const int e = first + j < end ? entry[first + j] : -1;
          place[j] = e >= 0 ? 3 * (e % 8) * t.max_cells + e / 8 : -1;
        }
        for (int j = 0; j < 8; ++j)
          for (int c = 0; c < 3; ++c)
            product[c] += place[j] >= 0 ? forces[place[j] + c * t.max_cells] : Scalar(0);
      }
      finish(part, s, i, product);
    }
  }

  KOKKOS_FUNCTION void finish(const PartThread& part, const CycleStep& s, int i,
                              const Scalar (&product)[3]) const {
    const ResidentLevel<Scalar>& l = level[s.level];
    const int size = l.tables.num_owned;
    const Scalar* const x = part.at<Scalar>(vector_at) + 3 * i;
    const Scalar* const b = part.at<Scalar>(l.b_at) + i;
    Scalar* const sum = part.at<Scalar>(l.sum_at) + i;
    Scalar* const to = l.iterate[s.to] + 3 * (std::int64_t(part.rank) * size + i);
    Scalar r[3];
    for (int c = 0; c < 3; ++c)
      r[c] = b[c * size] - product[c];
    if (s.op == CycleOp::smooth) {
      Scalar z[3];
      scaled(part, l, i, r, z);
      for (int c = 0; c < 3; ++c) {
        const Scalar value = Scalar(s.scale) * (x[c] + Scalar(s.weight) * z[c]);
        to[c] = s.add ? value + sum[c * size] : value;
      }
      return;
    }
    const int held = part.at<std::uint8_t>(l.tables.held)[i];
    for (int c = 0; c < 3; ++c)
      r[c] = held >> c & 1 ? Scalar(0) : r[c];
    if (s.op == CycleOp::residual) {
      for (int c = 0; c < 3; ++c)
        to[c] = r[c];
      return;
    }
    for (int c = 0; c < 3; ++c)
      sum[c * size] = s.add ? sum[c * size] + x[c] : x[c];
    start_node(part, s, i, r);
  }
};

/// Writes the moduli of the cells of all parts of a level into their tables.
template<class Exec>
struct RenewModuli {
  int max_cells;
  std::int64_t part_bytes;
  int at;                ///< ResidentTables::moduli
  Array<int, Exec> cell; ///< [num_parts][max_cells], as ResidentLevels::cells
  Array<float, Exec> lambda, mu;
  Array<std::uint64_t, Exec> memory;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (cell(i) < 0)
      return;
    char* const part = reinterpret_cast<char*>(memory.data()) + i / max_cells * part_bytes;
    float* const moduli = reinterpret_cast<float*>(part + at) + 2 * (i % max_cells);
    moduli[0] = lambda(cell(i));
    moduli[1] = mu(cell(i));
  }
};

} // namespace detail

/// What a resident cycle is made of, by level, the finest first.
template<class Exec, class Scalar>
struct ResidentCycleLevel {
  CellGrid<Exec> cells;
  Array<std::uint8_t, Exec> held;     ///< Constraints::mask
  double edge;                        ///< of a cell, in mm
  const CellTransfer<Exec>* transfer; ///< to the level above; null for the first
  Array<Scalar, Exec> iterate[2], b;  ///< [3 num_nodes]
  Array<Scalar, Exec> inverse;        ///< [6 num_nodes] blocks of the smoother; not of the coarsest
};

/// Runs one list of steps. Arrays that it was made of stay as long as it does.
template<class Exec, class Scalar>
class ResidentCycle {
  using Kernel = detail::ResidentCycleKernel<Scalar>;

public:
  static constexpr int max_levels = Kernel::max_levels;

  ResidentCycle() = default;
  /// Empty where the device cannot hold the parts of the levels on chip. `dense` [n * n] is the
  /// inverse of the coarsest level, empty where that is zero. Fences.
  ResidentCycle(const Exec& exec, const std::vector<ResidentCycleLevel<Exec, Scalar>>& levels,
                const std::vector<CycleStep>& steps, const Array<Scalar, Exec>& dense) {
    if (levels.empty() || int(levels.size()) > max_levels || !count_parts(exec))
      return;
    std::vector<detail::HostCells> host;
    for (const auto& level : levels)
      host.push_back(download_cells(exec, level.cells, level.held, level.transfer));
    ResidentLevels resident;
    try {
      resident = cut_resident_levels(host, num_parts_);
    } catch (const std::length_error&) {
      return;
    }
    lay_out(levels, resident, int(steps.size()));
    if (bytes_ > most_bytes_)
      return;
    memory_ = make_uninitialized<std::uint64_t>(exec, std::int64_t(resident.memory.extent(0)),
                                                "ossatura::resident_cycle::tables");
    Kokkos::deep_copy(exec, memory_, resident.memory);
    for (const std::vector<int>& cells : resident.cells)
      cells_.push_back(upload(exec, "ossatura::resident_cycle::cells", cells));
    steps_ = upload(exec, "ossatura::resident_cycle::steps", steps);
    arrivals_ = make_zeros<unsigned>(exec, 1, "ossatura::resident_cycle::arrivals");
    kernel_.memory = memory_.data();
    kernel_.steps = steps_.data();
    point_to(levels, dense);
    empty_ = !can_start(exec);
  }

  bool empty() const { return empty_; }

  /// Lets go of the arrays that it was made of, for their memory, and keeps its own tables: nothing
  /// runs until renew().
  void drop_arrays() {
    levels_.clear();
    dense_ = {};
  }

  /// Takes over other moduli, arrays and weights: the levels are the same in all else, and the
  /// steps as many. False where these are more or fewer, or if empty: then nothing has changed.
  /// Fences.
  bool renew(const Exec& exec, const std::vector<ResidentCycleLevel<Exec, Scalar>>& levels,
             const std::vector<CycleStep>& steps, const Array<Scalar, Exec>& dense) {
    if (empty_ || int(steps.size()) != kernel_.num_steps)
      return false;
    OSSATURA_REQUIRE(int(levels.size()) == kernel_.num_levels,
                     levels.size() << " levels of " << kernel_.num_levels);
    upload_to(exec, steps, steps_);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const ResidentTables& tables = kernel_.level[l].tables;
      Kokkos::parallel_for(
          "ossatura::ResidentCycle::renew", range(exec, std::int64_t(cells_[l].extent(0))),
          detail::RenewModuli<Exec>{tables.max_cells, kernel_.table_bytes, tables.moduli, cells_[l],
                                    levels[l].cells.lambda_value, levels[l].cells.mu_value,
                                    memory_});
    }
    point_to(levels, dense);
    fence(exec, "ossatura::ResidentCycle::renew"); // the steps may go
    return true;
  }

  /// Runs the steps; not if empty. One instance at a time. Does not fence.
  void run(const Exec& exec) const {
    if constexpr (builds_resident_grids<Exec>)
      launch_resident_grid(label, exec, num_parts_, std::size_t(bytes_), arrivals_, kernel_);
    else
      run_in_turn(exec);
  }

private:
  static constexpr const char* label = "ossatura::ResidentCycle::run";

  /// How many parts, and how large; false where there are none.
  bool count_parts([[maybe_unused]] const Exec& exec) {
    if constexpr (builds_resident_grids<Exec>) {
      if (!has_resident_grids(exec))
        return false;
      num_parts_ = exec.cuda_device_prop().multiProcessorCount;
      most_bytes_ = int(exec.cuda_device_prop().sharedMemPerBlockOptin);
    } else if constexpr (BackendTraits<Exec>::is_device) {
      return false;
    } else {
      num_parts_ = 3;
      most_bytes_ = 1 << 28;
    }
    return true;
  }

  bool can_start([[maybe_unused]] const Exec& exec) const {
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (builds_resident_grids<Exec>)
      return max_resident_blocks<Kernel>(label, exec, std::size_t(bytes_)) >= num_parts_;
#endif
    return true;
  }

  /// Places on chip: the tables, the steps, what is kept of each level, and what levels share.
  void lay_out(const std::vector<ResidentCycleLevel<Exec, Scalar>>& levels,
               const ResidentLevels& resident, int num_steps) {
    const std::vector<ResidentTables>& tables = resident.tables;
    kernel_.table_bytes = resident.bytes;
    std::int64_t end = resident.bytes;
    const auto place = [&](std::int64_t size) {
      const std::int64_t at = end;
      end = (end + size + 15) / 16 * 16;
      return int(at);
    };
    kernel_.num_levels = int(levels.size());
    kernel_.num_steps = num_steps;
    kernel_.steps_at = place(std::int64_t(num_steps) * std::int64_t(sizeof(CycleStep)));
    std::int64_t vector = 3 * levels.back().cells.num_nodes, forces = 0;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      ResidentLevel<Scalar>& level = kernel_.level[l];
      level.tables = tables[l];
      level.num_nodes = levels[l].cells.num_nodes;
      const std::int64_t owned = tables[l].num_owned, size = sizeof(Scalar);
      forces = std::max(forces, 3 * Kernel::slices * owned); // partial sums
      if (l + 1 == levels.size())
        break;
      level.blocks_at = place(6 * size * owned);
      level.b_at = place(3 * size * owned);
      level.sum_at = place(3 * size * owned);
      vector = std::max(vector, 3 * std::int64_t(tables[l].max_local));
      forces = std::max(forces, 24 * std::int64_t(tables[l].max_cells));
    }
    const std::int64_t rows = (3 * std::int64_t(levels.back().cells.num_nodes) + num_parts_ - 1);
    forces = std::max(forces, rows / num_parts_ * Kernel::slices);
    kernel_.vector_at = place(vector * std::int64_t(sizeof(Scalar)));
    kernel_.forces_at = place(forces * std::int64_t(sizeof(Scalar)));
    bytes_ = int(std::min<std::int64_t>(end, std::numeric_limits<int>::max()));
  }

  void point_to(const std::vector<ResidentCycleLevel<Exec, Scalar>>& levels,
                const Array<Scalar, Exec>& dense) {
    levels_ = levels;
    dense_ = dense;
    kernel_.dense = dense_.extent(0) > 0 ? dense_.data() : nullptr;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      ResidentLevel<Scalar>& level = kernel_.level[l];
      level.lambda_scale = Scalar(levels_[l].edge * levels_[l].cells.lambda_scale);
      level.mu_scale = Scalar(levels_[l].edge * levels_[l].cells.mu_scale);
      for (int i = 0; i < 2; ++i)
        level.iterate[i] = levels_[l].iterate[i].data();
      level.b = levels_[l].b.data();
      level.inverse = levels_[l].inverse.data();
    }
  }

  /// Every step part by part.
  void run_in_turn(const Exec& exec) const {
    fence(exec, label); // what the steps read is there
    std::vector<std::uint64_t> scratch(std::size_t(num_parts_) * std::size_t(bytes_) / 8);
    std::vector<detail::PartThread> parts;
    for (int rank = 0; rank < num_parts_; ++rank) {
      char* const own =
          reinterpret_cast<char*>(scratch.data()) + std::size_t(rank) * std::size_t(bytes_);
      parts.push_back({rank, num_parts_, own});
      kernel_.begin(parts.back());
    }
    for (int s = 0; s < kernel_.num_steps; ++s)
      for (const detail::PartThread& part : parts)
        kernel_.run(part, kernel_.steps[s]);
  }

  Kernel kernel_{};
  int num_parts_ = 0, bytes_ = 0, most_bytes_ = 0;
  bool empty_ = true;
  std::vector<ResidentCycleLevel<Exec, Scalar>> levels_; ///< arrays that the kernel points into
  Array<std::uint64_t, Exec> memory_;
  std::vector<Array<int, Exec>> cells_; ///< of each level, as ResidentLevels::cells
  Array<CycleStep, Exec> steps_;
  Array<unsigned, Exec> arrivals_;
  Array<Scalar, Exec> dense_;
};

} // namespace ossatura
