// SPDX-License-Identifier: Apache-2.0
// Contact of soft bodies with obstacles and each other by Lagrange multipliers [1]: the compliance
// of the pairs from columns of the inverse factor, then projected Gauss-Seidel with Coulomb
// friction.
//
// A step of backward Euler solves A a = b for the acceleration, A^-1 f is what a force f adds to
// it, and h^2 A^-1 f what it adds to the positions. With contact a step is
//
//   1. free motion: solve A a = b; x_free = x + h (v + h a)
//   2. detect(exec, x, x_free); without pairs the step ends here
//   3. solve(exec, factor, h h, x, x_free, force, rotation): force = H^T lambda
//   4. motion correction: solve A c = force; v += h c; x_new = x_free + h h c
//
// W stands for A^-1 in step 3 alone: where the factor is stale, or stored in few bits, the gaps at
// x_new are not quite what the multipliers were found for. Then
//
//   5. refine(exec, x, x_new, force), and 4. again from x_free with the new force (c is a good
//   first
//      guess): a fixed point has exact contact whatever W is. One round is enough for factors of a
//      few steps' age; none is needed for a fresh one.
//
// Newton steps: all of them go before step 2, with the matrix of the last one in 3 and 4.
//
// [1] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include "kernels/contact_pair.hpp"
#include "kernels/inverse_factor.hpp"
#include "solvers/soft_options.hpp"
#include "solvers/soft_scene.hpp"

#include <memory>

namespace femura {

struct ContactResult {
  int num_contacts = 0; ///< pairs watched
  int iterations = 0;   ///< sweeps
  double residual = 0;  ///< of complementarity and the friction cone, relative to the largest force
  bool converged = true; ///< the last sweep changed no force by more than the tolerance
};

/// Set up once for a scene whose nodes are numbered by the solver: node i of object k is
/// node_of[k][i], fixed ones included.
///
/// Every node that can move is watched against every obstacle, and, with
/// scene.contact_between_objects, every node of a surface against the nearest triangle of each
/// other object. Objects do not touch themselves, and an edge that crosses an edge between their
/// nodes is not seen. Conditions are linear in the positions at x: a sphere is the tangent plane
/// where a node is nearest, a surface the plane of the nearest triangle.
///
/// Results do not depend on the threads: equal bits on equal backends.
template<class Exec>
class ContactSolver {
public:
  /// Copies what it needs. Throws std::invalid_argument for node numbers that are no numbering,
  /// normals or radii that are zero or not finite, and negative friction or contact distance.
  ContactSolver(const Exec& exec, const SoftScene& scene,
                const std::vector<std::vector<int>>& node_of, const SoftOptions& options);
  ~ContactSolver();

  /// Finds the pairs nearer than the contact distance at x, or through at x_free, [num_nodes, 3]
  /// both. x is free of penetration but for what earlier steps left. Returns their number.
  /// Allocates only where there are more pairs than ever. Fences.
  int detect(const Exec& exec, const Array<double, Exec>& x, const Array<double, Exec>& x_free);

  /// Solves for the contact forces lambda >= 0, |friction| <= mu lambda of the pairs found, such
  /// that the gaps at x_free + scale A^-1 H^T lambda are not negative and friction opposes the
  /// motion from x; starts from the forces of the same pairs in the last step. x is that of detect.
  /// A^-1 = R W^T D^-1 W R^T, with R the `rotation` [num_nodes, 9] of each node (row-major) since
  /// the factor was made, none where it is empty. force [num_nodes, 3] = H^T lambda, zero at fixed
  /// nodes (whose rows of A are those of the identity). Fences.
  template<class Storage>
  ContactResult solve(const Exec& exec, const InverseFactor<Exec, Storage>& factor, double scale,
                      const Array<double, Exec>& x, const Array<double, Exec>& x_free,
                      const Array<double, Exec>& force, const Array<double, Exec>& rotation = {});

  /// After solve: improves the forces by the gaps and motions measured at x_new, the positions that
  /// the correction with these forces led to. force = H^T lambda, of all of lambda. Fences.
  ContactResult refine(const Exec& exec, const Array<double, Exec>& x,
                       const Array<double, Exec>& x_new, const Array<double, Exec>& force);

  /// Forgets the last step's forces and sides, for states that do not follow on it.
  void forget();

  /// The pairs that detect found, with their frames at x, and [pairs, 3] their multipliers along
  /// these, N, once they are solved for. Fence.
  std::vector<ContactPair> pairs(const Exec& exec) const;
  std::vector<double> multipliers(const Exec& exec) const;

  /// Force of the contacts on each obstacle [num_obstacles, 3], N, after solve. Fences.
  std::vector<double> obstacle_forces(const Exec& exec) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace femura
