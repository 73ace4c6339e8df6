// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ossatura {

/// Where a patch is in the arrays of HexaPatches (patches.hpp). Of its nodes the first are its own,
/// which no element of another patch has; it leaves a partial sum for each of the others.
struct HexaPatch {
  int elem_begin, num_elem;
  int node_begin, num_nodes, num_own;
  int partial_begin;
  int kind;
};

} // namespace ossatura
