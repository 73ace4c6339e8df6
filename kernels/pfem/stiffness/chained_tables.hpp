// SPDX-License-Identifier: Apache-2.0
// The tables of chained products (kernels/pfem/stiffness/chained_products.hpp): products of two
// functions of an axis at its points, and where the rows of C go in A. Host memory.
#pragma once

#include <ossatura/kernels/pfem/basis_tables.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_layout.hpp>

#include <cstdint>
#include <vector>

namespace ossatura::detail {

/// The tables of the products, from those of the basis at order + 1 points.
template<int P>
struct ChainedTables {
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1;
  std::vector<double> xi, eta,
      zeta; ///< [plane, 4, filled], [plane, eta_stride], [zeta_rows, zeta_stride]
  std::vector<typename Layout::Place> place;

  explicit ChainedTables(const BasisTables& basis) {
    // By derivatives of i (2) and j (1).
    const auto product = [&](int i, int j, int kind, int q) {
      const std::size_t at = std::size_t(q * N);
      return q >= N ? 0
                    : (kind & 2 ? basis.derivative : basis.value)[at + std::size_t(i)] *
                          (kind & 1 ? basis.derivative : basis.value)[at + std::size_t(j)];
    };
    constexpr int kinds[4] = {1, 0, 2, 3}; // along eta
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        for (int kind = 0; kind < 4; ++kind)
          for (int q = 0; q < Layout::filled; ++q)
            xi.push_back(product(i, j, kind, q));
        const std::size_t row = zeta.size();
        if (!Layout::folded || j <= i) {
          zeta.resize(row + Layout::zeta_stride);
          for (int kind = 0; kind < 4; ++kind)
            for (int q = 0; q < Layout::filled; ++q)
              zeta[row + std::size_t(Layout::zeta_place(kind, q))] = product(i, j, kind, q);
        }
        for (int k = 0; k < Layout::eta_stride; ++k)
          eta.push_back(k < 4 * N ? product(i, j, kinds[k / N], k % N) : 0);
      }
    using Place = typename Layout::Place;
    place.assign(Layout::c_rows, Place(std::uint32_t(Layout::unused) << 16 | Layout::unused));
    const auto at = [&](int k, int l, int q, int component) {
      return std::uint32_t(Layout::row_of(k, l, q / N) * Layout::a_stride + component / 3 * 3 * N +
                           Layout::a_column(component % 3, q % N));
    };
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l)
        for (int d = 0; d < 3; ++d)
          for (int q = 0; q < Layout::plane; ++q) {
            if (Layout::by_row)
              place[std::size_t(Layout::c_row(k, l, d) + q)] = Place(at(k, l, q, d));
            else
              for (int c = 0; c < 3; ++c)
                if (k < l || (k == l && c <= d))
                  place[std::size_t(Layout::c_row(k, l, c, d) + q)] =
                      Place(at(k, l, q, 3 * c + d) | at(l, k, q, 3 * d + c) << 16);
          }
  }
};

} // namespace ossatura::detail
