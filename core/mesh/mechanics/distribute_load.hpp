// SPDX-License-Identifier: Apache-2.0
// A force and a moment at a reference point become forces on nodes, as a distributing coupling
// (Abaqus), an RBE3 (Nastran) or a remote load has it: nothing is stiffened.
//
// Node i at r_i from the weighted centroid of all takes
//   f_i = w_i / W F + w_i (T^-1 M_c) x r_i,
// W the sum of weights, T = sum of w_i (|r_i|^2 I - r_i r_i^T), and M_c = M + (x_ref - x_c) x F the
// moment about the centroid. Force and moment of the f_i are those at the reference point.
//
// Abaqus Theory Guide, "Distributing coupling elements".
#pragma once

#include <ossatura/core/mesh/hexa/model.hpp>

#include <array>
#include <string>
#include <vector>

namespace ossatura {

struct WeightedNode {
  std::int32_t node;
  double weight; ///< > 0
};

/// Forces in the order of `nodes`, each once, with points [num_points, 3]. `problem` becomes empty,
/// or says why nodes cannot take the moment: all in one place, or on a line about which it turns.
std::vector<NodeForce> distribute_load(const std::vector<double>& point,
                                       const std::vector<WeightedNode>& nodes,
                                       const std::array<double, 3>& reference,
                                       const std::array<double, 3>& force,
                                       const std::array<double, 3>& moment, std::string& problem);

} // namespace ossatura
