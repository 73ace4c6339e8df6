// SPDX-License-Identifier: Apache-2.0
// A surface body is what the surface of a design encloses, as solid cubes on the design's lattice,
// with the supports and loads of the design.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ossatura {

/// The surface cannot be solved as the design was; what() says why, and what to do.
struct NotReanalysed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Forces of a load case whose nodes are of no cube: each acts on the nearest loaded node that is.
struct MovedForces {
  double share = 0;    ///< of the sum of their sizes
  double distance = 0; ///< m, the farthest that one moved
};

struct SurfaceBody {
  DesignProblem problem; ///< on a lattice of cubes, no roles: all of it is solid
  double edge = 0;       ///< m, of a cube
  double volume = 0;     ///< m^3, of all cubes
  double left_out = 0;   ///< m^3, of cubes that share no face with others that a support holds
  std::int64_t num_supported = 0, num_supports = 0; ///< nodes of supports that are left, and all
  std::vector<MovedForces> moved;                   ///< [cases]
};

/// The cubes whose centres are in the surface (m, closed), of which `refine` are along an edge of
/// the design's own. `supported`: nodes that are held otherwise than by mirrors; none where all
/// supports count. Finer nodes are held where all nodes of the edge, face or cube of the design
/// around them are. Finer nodes of the loaded cubes at a loaded node share its force, or else those
/// of its loaded faces, or edges: tractions of uniform density stay uniform, and all resultants
/// stay. Throws NotReanalysed where the surface has no cube or lost its supports or the loads of a
/// case, and where what is left can move; std::invalid_argument for a mesh that is no lattice of
/// cubes (find_cube_lattice), for a mechanism or springs and for refine outside 1 .. 8.
SurfaceBody make_surface_body(const DesignProblem& design,
                              const std::vector<std::int32_t>& supported,
                              const TriangleSurface& surface, int refine = 1);

} // namespace ossatura
