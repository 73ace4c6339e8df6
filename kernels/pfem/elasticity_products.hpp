// SPDX-License-Identifier: Apache-2.0
// add_elasticity_products gives what the elasticity of each element has of w' K u: for gradients by
// D. As K = sum over points of B' D B times weights,
//
//   d (w' K u) / d D_ij = sum over points q of weight_q (e_i(w) e_j(u) + e_j(w) e_i(u)), i < j,
//
// and half of that where i = j, with the strains e = B u.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>
#include <ossatura/kernels/pfem/operator.hpp>

namespace ossatura {

namespace detail {

/// Strains xx yy zz yz zx xy of a displacement at the points of a batch.
template<class Exec>
struct HexaPointStrains {
  HexaBatchPointers batch;
  ArrayPointer<const int> signed_mode;
  ArrayPointer<const double> u;
  ArrayPointer<double> strain; ///< [num_elem, num_points, 6]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t e = i / batch.num_points();
    const int q = int(i % batch.num_points());
    Vector3 slope[3] = {}; // slope[c][k] = du_c / dxi_k
    for (int a = 0; a < batch.num_modes; ++a) {
      const int code = signed_mode(e * batch.num_modes + a);
      if (code < 0)
        continue;
      const Vector3 d = (code & 1) != 0 ? -1.0 * batch.derivatives(a, q) : batch.derivatives(a, q);
      for (int c = 0; c < 3; ++c)
        slope[c] = slope[c] + u(3 * std::int64_t(code >> 1) + c) * d;
    }
    const HexaPoint point = batch.point(e, q);
    Vector3 h[3]; // h[c][j] = du_c / dx_j
    for (int c = 0; c < 3; ++c)
      h[c] = point.to_gradient * slope[c];
    const double values[6] = {h[0][0],           h[1][1],           h[2][2],
                              h[1][2] + h[2][1], h[2][0] + h[0][2], h[0][1] + h[1][0]};
    for (int k = 0; k < 6; ++k)
      strain(6 * i + k) = values[k];
  }
};

template<class Exec>
struct ElasticityProducts {
  HexaBatchPointers batch;
  ArrayPointer<const int> elem;
  ArrayPointer<const double> of_w, of_u; ///< strains
  double factor;
  ArrayPointer<double> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t e = i / elasticity_entries;
    int row = 0, column = int(i % elasticity_entries); // of the upper triangle
    for (; column >= 6 - row; ++row)
      column -= 6 - row;
    column += row;
    double sum = 0;
    for (int q = 0; q < batch.num_points(); ++q) {
      const std::int64_t p = 6 * (e * batch.num_points() + q);
      double product = of_w(p + row) * of_u(p + column);
      if (row != column)
        product += of_w(p + column) * of_u(p + row);
      sum += batch.point(e, q).weight * product;
    }
    out(std::int64_t(elem(e)) * elasticity_entries + elasticity_entry(row, column)) += factor * sum;
  }
};

} // namespace detail

/// Adds factor d (w' K u) / d D of each element to out [elements of the mesh, 21], with the points
/// that K is summed at, in an order that does not depend on threads. w, u [num_modes, 3]; they may
/// be the same. Throws std::invalid_argument for batches without a list of modes. Does not fence.
template<class Exec>
void add_elasticity_products(const Exec& exec, const HierarchicModel<Exec>& model, double factor,
                             const Array<double, Exec>& w, const Array<double, Exec>& u,
                             const Array<double, Exec>& out) {
  for (const HexaBatch<Exec>& batch : model.batch) {
    OSSATURA_REQUIRE(std::int64_t(batch.signed_mode.extent(0)) == batch.num_elem * batch.num_modes,
                     "add_elasticity_products: the batch has no list of modes");
    const detail::HexaBatchPointers pointers(batch);
    const std::int64_t num_points = batch.num_elem * batch.num_points();
    const auto strains = [&](const Array<double, Exec>& displacement) {
      const auto strain =
          make_uninitialized<double>(exec, 6 * num_points, "ossatura::elasticity_products");
      Kokkos::parallel_for(
          "ossatura::elasticity_products::strains", range(exec, num_points),
          detail::HexaPointStrains<Exec>{pointers, batch.signed_mode, displacement, strain});
      return strain;
    };
    const Array<double, Exec> of_u = strains(u), of_w = w.data() == u.data() ? of_u : strains(w);
    Kokkos::parallel_for(
        "ossatura::elasticity_products", range(exec, batch.num_elem * elasticity_entries),
        detail::ElasticityProducts<Exec>{pointers, batch.elem, of_w, of_u, factor, out});
  }
}

} // namespace ossatura
