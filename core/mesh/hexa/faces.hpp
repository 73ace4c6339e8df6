// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ossatura {

/// Corners of the faces of a hexahedron, counter-clockwise seen from outside.
constexpr int hexa_face[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                 {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

} // namespace ossatura
