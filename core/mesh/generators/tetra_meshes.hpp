// SPDX-License-Identifier: Apache-2.0
// These generators make tetrahedral meshes: the box and slab of verification, and ventricles of the
// size of a human heart.
#pragma once

#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// A place where a wave starts.
struct TimedPoint {
  std::array<double, 3> point; ///< mm
  double time;                 ///< ms
};

/// `cells` cubes of edge `h` (mm) from `origin`, each cut into six tetrahedra about its diagonal
/// (Kuhn). Points are numbered x fastest. With `jitter` > 0, points that are not on the boundary
/// are moved by up to that part of an edge, by `seed`. Tag 1, no fibres.
TetraMesh make_tetra_box(const std::array<int, 3>& cells, double h,
                         const std::array<double, 3>& origin = {0, 0, 0}, double jitter = 0,
                         std::uint64_t seed = 0);

/// The slab of Niederer et al. (2011, doi:10.1098/rsta.2011.0139): 20 x 7 x 3 mm, fibres along x,
/// tag 1, edges as close to `h` (mm) as divide it.
TetraMesh make_slab(double h);

/// Two truncated ellipsoidal shells, the ventricles of a heart, cut from a body-centred lattice
/// with a point per h^3 (mm, 0.1 to 3): 0.36 gives 24.7 million tetrahedra, 0.72 3.1 million, of
/// angles above 10 degrees. Tag 1 is the left ventricle with the septum, 2 the right one. Fibres
/// turn from +60 degrees at the endocardium to -60 at the epicardium, sheets are radial. The base
/// is at the greatest z.
TetraMesh make_ventricles(double h);

/// Five sites on the endocardia of make_ventricles(), of 0, 0, 5, 5, 10 ms.
std::vector<TimedPoint> ventricle_sites();

} // namespace ossatura
