// SPDX-License-Identifier: Apache-2.0
// The way back along arrivals (kernels/eikonal/back_flow.hpp) by one thread: from late points to
// early ones, in sweeps until nothing is left.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace reference {

/// What comes to each point from `weight`, its own included [num_points]. A wave along bent fibres
/// may come through a face with a vertex that is later than the point; then a part of the weight is
/// left for another sweep. Throws std::runtime_error where weights go in circles, as they do not
/// where times are converged. An arrival has `tetra` (-1: none), `corner` and `weight` [3], a
/// tetrahedron `point` [4].
template<class Arrival, class Tetra>
std::vector<double> take_back(const Arrival* arrival, const Tetra* tetra,
                              const std::vector<double>& time, std::vector<double> weight) {
  const std::size_t n = weight.size();
  std::vector<double> flow(n);
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return time[std::size_t(a)] != time[std::size_t(b)]
               ? time[std::size_t(a)] > time[std::size_t(b)]
               : a < b;
  });
  double all = 0;
  for (const double w : weight)
    all += std::abs(w);
  constexpr int most_sweeps = 1000;
  constexpr double negligible = 1e-14; // of all weights
  double left = all;
  for (int sweep = 0; sweep < most_sweeps && left > negligible * all; ++sweep) {
    for (const int i : order) {
      const double w = weight[std::size_t(i)];
      if (w == 0)
        continue;
      weight[std::size_t(i)] = 0;
      const Arrival& from = arrival[i];
      flow[std::size_t(i)] += w;
      for (int k = 0, c = 0; from.tetra >= 0 && k < 4; ++k)
        if (k != from.corner)
          weight[std::size_t(tetra[from.tetra].point[k])] += w * from.weight[c++];
    }
    left = 0;
    for (const double w : weight)
      left += std::abs(w);
  }
  if (left > negligible * all)
    throw std::runtime_error("the way back does not end");
  return flow;
}

} // namespace reference
