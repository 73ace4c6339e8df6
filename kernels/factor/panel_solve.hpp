// SPDX-License-Identifier: Apache-2.0
// solve_panel solves with one panel of L on one thread: substitution with its triangle, and the
// products with the rows below. Columns are taken three at a time, those of a node, or six, and
// rows in vectors.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/factor/pattern.hpp>

#include <cstddef>
#include <cstdint>

namespace ossatura {

/// Panel of a factor: column k of the `width` ones at value + k height, scalars throughout.
struct PanelColumns {
  const double* value;
  std::ptrdiff_t height;
  int width; ///< a multiple of 3
};

namespace detail {

inline constexpr int panel_lanes = 4;

/// sum(i) += L(i, k) x(k) for C columns from `column` on and `rows` rows; rows of `sum` that do not
/// fill a vector are taken one by one.
template<int C>
KOKKOS_FORCEINLINE_FUNCTION void add_columns(const double* column, std::ptrdiff_t height,
                                             const double* x, int rows, double* sum) {
  constexpr int lanes = panel_lanes;
  Pack<double, lanes> scale[C];
  for (int c = 0; c < C; ++c)
    scale[c] = Pack<double, lanes>(x[c]);
  int i = 0;
  for (; i + lanes <= rows; i += lanes) {
    Pack<double, lanes> s = load_pack<lanes>(sum + i);
    for (int c = 0; c < C; ++c)
      s += load_pack<lanes>(column + c * height + i) * scale[c];
    store_pack<lanes>(sum + i, s);
  }
  for (; i < rows; ++i)
    for (int c = 0; c < C; ++c)
      sum[i] += column[c * height + i] * x[c];
}

/// product(k) += sum over rows of L(i, k) x(i) for C columns.
template<int C>
KOKKOS_FORCEINLINE_FUNCTION void add_dots(const double* column, std::ptrdiff_t height,
                                          const double* x, int rows, double* product) {
  constexpr int lanes = panel_lanes;
  Pack<double, lanes> partial[C];
  for (int c = 0; c < C; ++c)
    partial[c] = Pack<double, lanes>(0.0);
  int i = 0;
  for (; i + lanes <= rows; i += lanes) {
    const Pack<double, lanes> entry = load_pack<lanes>(x + i);
    for (int c = 0; c < C; ++c)
      partial[c] += load_pack<lanes>(column + c * height + i) * entry;
  }
  for (int c = 0; c < C; ++c) {
    double rest = 0;
    for (int j = i; j < rows; ++j)
      rest += column[c * height + j] * x[j];
    for (int l = 0; l < lanes; ++l)
      rest += partial[c].value[l];
    product[c] += rest;
  }
}

/// x = L_ss^-1 x, L_ss the panel's unit lower triangle.
KOKKOS_INLINE_FUNCTION void solve_triangle(const PanelColumns& panel, double* x) {
  for (int k = 0; k < panel.width; k += 3) {
    const double* const column = panel.value + k * panel.height;
    x[k + 1] -= column[k + 1] * x[k];
    x[k + 2] -= column[k + 2] * x[k] + column[panel.height + k + 2] * x[k + 1];
    const double minus[3] = {-x[k], -x[k + 1], -x[k + 2]};
    add_columns<3>(column + k + 3, panel.height, minus, panel.width - k - 3, x + k + 3);
  }
}

/// x = L_ss^-T x.
KOKKOS_INLINE_FUNCTION void solve_transposed_triangle(const PanelColumns& panel, double* x) {
  for (int k = panel.width - 3; k >= 0; k -= 3) {
    const double* const column = panel.value + k * panel.height;
    double product[3] = {0, 0, 0};
    add_dots<3>(column + k + 3, panel.height, x + k + 3, panel.width - k - 3, product);
    x[k + 2] -= product[2];
    x[k + 1] -= product[1] + column[panel.height + k + 2] * x[k + 2];
    x[k] -= product[0] + column[k + 1] * x[k + 1] + column[k + 2] * x[k + 2];
  }
}

/// Rows that are worked on together: they stay in the nearest cache.
inline constexpr int panel_tile_nodes = 64;

} // namespace detail

/// work = L^-1 work as far as this panel goes: its own entries, from `own` on, are solved for, and
/// what they contribute to the rows below goes off the nodes target[0] .. of `work`.
KOKKOS_INLINE_FUNCTION void solve_panel(const PanelColumns& panel, const int* target, double* own,
                                        double* work) {
  detail::solve_triangle(panel, own);
  const int below = int(panel.height / 3) - panel.width / 3;
  for (int first = 0; first < below; first += detail::panel_tile_nodes) {
    const int nodes =
        below - first < detail::panel_tile_nodes ? below - first : int(detail::panel_tile_nodes);
    double sum[3 * detail::panel_tile_nodes];
    for (int i = 0; i < 3 * nodes; ++i)
      sum[i] = 0;
    const double* const rows = panel.value + panel.width + 3 * first;
    int k = 0;
    for (; k + 6 <= panel.width; k += 6)
      detail::add_columns<6>(rows + k * panel.height, panel.height, own + k, 3 * nodes, sum);
    for (; k < panel.width; k += 3)
      detail::add_columns<3>(rows + k * panel.height, panel.height, own + k, 3 * nodes, sum);
    for (int i = 0; i < nodes; ++i)
      for (int c = 0; c < 3; ++c)
        work[3 * std::ptrdiff_t(target[first + i]) + c] -= sum[3 * i + c];
  }
}

/// own = L_ss^-T (own - sum of L^T z over the rows below, which are the nodes row[0] .. of z).
KOKKOS_INLINE_FUNCTION void solve_transposed_panel(const PanelColumns& panel, const int* row,
                                                   const double* z, double* own) {
  const int below = int(panel.height / 3) - panel.width / 3;
  double product[3 * max_panel_nodes];
  for (int k = 0; k < panel.width; ++k)
    product[k] = 0;
  for (int first = 0; first < below; first += detail::panel_tile_nodes) {
    const int nodes =
        below - first < detail::panel_tile_nodes ? below - first : int(detail::panel_tile_nodes);
    double entry[3 * detail::panel_tile_nodes];
    for (int i = 0; i < nodes; ++i)
      for (int c = 0; c < 3; ++c)
        entry[3 * i + c] = z[3 * std::ptrdiff_t(row[first + i]) + c];
    const double* const rows = panel.value + panel.width + 3 * first;
    int k = 0;
    for (; k + 6 <= panel.width; k += 6)
      detail::add_dots<6>(rows + k * panel.height, panel.height, entry, 3 * nodes, product + k);
    for (; k < panel.width; k += 3)
      detail::add_dots<3>(rows + k * panel.height, panel.height, entry, 3 * nodes, product + k);
  }
  for (int k = 0; k < panel.width; ++k)
    own[k] -= product[k];
  detail::solve_transposed_triangle(panel, own);
}

} // namespace ossatura
