// SPDX-License-Identifier: Apache-2.0
// This file has the definitions of sweep_products.hpp; the sources beside it alone include them,
// each for a `Target` of its own with
//
//     static constexpr int register_bytes;
//
// A target is a type of one source, so that the linker cannot mix what is compiled with different
// flags.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/algebra/batches/sweep_products.hpp>

namespace ossatura::detail {

template<class Target>
struct SweepTiles {
  static constexpr int W = Target::register_bytes / int(sizeof(double)), packs = 2,
                       columns = packs * W, rows = 4;
  using Real = Lanes<double, W, Target>;

  /// The numbers of all pivots at the columns of a tile, side by side.
  alignas(64) double x[sweep_width * columns];

  OSSATURA_FORCEINLINE_FUNCTION void load(const double* from, std::int64_t stride) {
    for (int k = 0; k < sweep_width; ++k)
      for (int j = 0; j < columns; ++j)
        x[k * columns + j] = from[k * stride + j];
  }

  /// sum[r][c]: of factor[r sweep_width + k] times the tile.
  template<int Rows>
  OSSATURA_FORCEINLINE_FUNCTION void multiply(const double* factor,
                                              Real (&sum)[Rows][packs]) const {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
      for (int c = 0; c < packs; ++c)
        sum[r][c] = Real(0.0);
    for (int k = 0; k < sweep_width; ++k) {
      Real row[packs];
      for (int c = 0; c < packs; ++c)
        row[c] = load_real<Real>(x + k * columns + c * W);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        const double scale = factor[r * sweep_width + k];
        for (int c = 0; c < packs; ++c)
          sum[r][c].value += scale * row[c].value;
      }
    }
  }

  template<int Rows>
  OSSATURA_FORCEINLINE_FUNCTION void transform_rows(const double* factor, std::int64_t stride,
                                                    double* out) const {
    Real sum[Rows][packs];
    multiply<Rows>(factor, sum);
    for (int r = 0; r < Rows; ++r)
      for (int c = 0; c < packs; ++c)
        for (int lane = 0; lane < W; ++lane)
          out[r * stride + c * W + lane] = -sum[r][c].value[lane];
  }

  /// Of rows i .. i + Rows - 1 of the triangle, the columns from `column` on.
  template<int Rows>
  OSSATURA_FORCEINLINE_FUNCTION void subtract_rows(const double* factor, int i, int column,
                                                   double* a) const {
    // A row is elsewhere for each tile, and the sums are longer than what the processor looks
    // ahead.
    for (int r = 0; r < Rows; ++r) {
      const double* const row = a + std::int64_t(i + r) * (i + r + 1) / 2 + column;
      for (int j = 0; j <= columns; j += 8)
        __builtin_prefetch(row + j, 1);
    }
    Real sum[Rows][packs];
    multiply<Rows>(factor + std::int64_t(i) * sweep_width, sum);
    for (int r = 0; r < Rows; ++r) {
      const std::int64_t n = i + r;
      double* const to = a + n * (n + 1) / 2 + column;
      if (column + columns <= n + 1) {
        for (int c = 0; c < packs; ++c) {
          const Real difference = load_real<Real>(to + c * W) - sum[r][c];
          for (int lane = 0; lane < W; ++lane)
            to[c * W + lane] = difference.value[lane];
        }
      } else {
        for (int j = 0; column + j <= n; ++j)
          to[j] -= sum[r][j / W].value[j % W];
      }
    }
  }
};

/// The rows k < used of a symmetric block of sweep_width rows, one after the other.
template<class Target>
void sweep_pivots(int used, double threshold, const double* diagonal, double* block) {
  using Real = typename SweepTiles<Target>::Real;
  constexpr int w = sweep_width, W = SweepTiles<Target>::W;
  for (int k = 0; k < used; ++k) {
    const double pivot = block[k * w + k];
    if (!(pivot > threshold * diagonal[k] && diagonal[k] > 0)) {
      for (int i = 0; i < w; ++i)
        block[k * w + i] = block[i * w + k] = 0;
      continue;
    }
    const double inverse = 1 / pivot;
    double row[w]; // before the sweep
    for (int j = 0; j < w; ++j)
      row[j] = block[k * w + j];
    for (int i = 0; i < w; ++i) {
      const double factor = row[i] * inverse;
      for (int j = 0; j < w; j += W) {
        Real entries = load_real<Real>(block + i * w + j);
        entries.value -= factor * load_real<Real>(row + j).value;
        for (int lane = 0; lane < W; ++lane)
          block[i * w + j + lane] = entries.value[lane];
      }
    }
    for (int i = 0; i < w; ++i)
      block[k * w + i] = block[i * w + k] = row[i] * inverse;
    block[k * w + k] = -inverse;
  }
}

template<class Target>
void transform_sweep(const double* factor, const double* x, std::int64_t stride, std::int64_t begin,
                     std::int64_t end, double* out) {
  using Tiles = SweepTiles<Target>;
  Tiles tile;
  for (std::int64_t column = begin; column < end; column += Tiles::columns) {
    tile.load(x + column, stride);
    for (int k = 0; k < sweep_width; k += Tiles::rows)
      tile.template transform_rows<Tiles::rows>(factor + k * sweep_width, stride,
                                                out + k * stride + column);
  }
}

template<class Target>
void subtract_sweep(int begin, int end, const double* factor, const double* scaled,
                    std::int64_t stride, double* a) {
  using Tiles = SweepTiles<Target>;
  Tiles tile;
  for (int column = 0; column < end; column += Tiles::columns) {
    tile.load(scaled + column, stride);
    int i = begin < column ? column : begin;
    for (; i + Tiles::rows <= end; i += Tiles::rows)
      tile.template subtract_rows<Tiles::rows>(factor, i, column, a);
    for (; i < end; ++i)
      tile.template subtract_rows<1>(factor, i, column, a);
  }
}

template<class Target>
constexpr SweepProducts make_sweep_products() {
  return {&sweep_pivots<Target>, &transform_sweep<Target>, &subtract_sweep<Target>};
}

} // namespace ossatura::detail
