// SPDX-License-Identifier: Apache-2.0
// Nested dissection by METIS [1] gives an order of elimination with little fill and a short tree.
//
// [1] G. Karypis, V. Kumar. A fast and high quality multilevel scheme for partitioning irregular
//     graphs. SIAM J. Sci. Comput. 20 (1998) 359-392, doi:10.1137/S1064827595287997.
#pragma once

#include <vector>

namespace ossatura {

/// node[k] is eliminated as number k. The graph is symmetric: row i has the neighbours
/// column[row_begin[i]] .. column[row_begin[i + 1]], itself or not. Nodes without neighbours come
/// first. The same for the same graph. Throws std::runtime_error where METIS gives up.
std::vector<int> nested_dissection(const std::vector<int>& row_begin,
                                   const std::vector<int>& column);

} // namespace ossatura
