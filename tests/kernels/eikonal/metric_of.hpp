// SPDX-License-Identifier: Apache-2.0
// Both metrics of a tetrahedron, from its corners.
#pragma once

#include "tests/kernels/eikonal/local_update_cases.hpp"
#include <ossatura/kernels/eikonal/gray_code.hpp>

namespace ossatura::test {

template<class Real>
TetraLengths<Real> metric_of(const TimedTetra& tetra, TetraLengths<Real>*) {
  TetraLengths<Real> metric;
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b)
      metric.length[gray::edge_slot(gray::edge_code(a, b))] = Real(tetra.squared_edge(a, b));
  return metric;
}

template<class Real>
TetraProducts<Real> metric_of(const TimedTetra& tetra, TetraProducts<Real>*) {
  double edge[6][3];
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b)
      for (int axis = 0; axis < 3; ++axis)
        edge[gray::edge_slot(gray::edge_code(a, b))][axis] =
            tetra.vertex[b][axis] - tetra.vertex[a][axis];
  TetraProducts<Real> metric;
  for (int k = 0; k < 6; ++k)
    for (int l = k; l < 6; ++l)
      if (k + l != 5)
        metric.product[gray::product_slot(k, l)] = Real(tetra.product(edge[k], edge[l]));
  return metric;
}

} // namespace ossatura::test
