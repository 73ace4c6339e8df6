// SPDX-License-Identifier: Apache-2.0
// A DesignForce is the right-hand side of a design's solve, as its body keeps it.
#pragma once

#include <ossatura/kernels/bone/loads/point_forces.hpp>

namespace ossatura {

/// Zero at held components.
template<class Exec>
struct DesignForce {
  Array<double, Exec> vector; ///< [num_nodes, 3], or empty
  PointForces<Exec> points;   ///< else these
};

/// vector [num_nodes, 3] = f. Does not fence.
template<class Exec>
void copy_force(const Exec& exec, const DesignForce<Exec>& f, const Array<double, Exec>& vector) {
  if (f.vector.extent(0) > 0) {
    Kokkos::deep_copy(exec, vector, f.vector);
    return;
  }
  Kokkos::deep_copy(exec, vector, 0.0);
  subtract(exec, f.points, vector);
  axpby(exec, 0.0, vector, -1.0, vector);
}

/// f . u, u [num_nodes, 3]. Fences.
template<class Exec>
double dot(const Exec& exec, const DesignForce<Exec>& f, const Array<double, Exec>& u) {
  return f.vector.extent(0) > 0 ? dot(exec, f.vector, u) : dot(exec, f.points, u);
}

/// f . f. Fences.
template<class Exec>
double square(const Exec& exec, const DesignForce<Exec>& f) {
  return f.vector.extent(0) > 0 ? dot(exec, f.vector, f.vector) : square(exec, f.points);
}

} // namespace ossatura
