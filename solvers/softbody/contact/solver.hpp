// SPDX-License-Identifier: Apache-2.0
// ContactSolver solves contact of soft bodies with obstacles and each other by Lagrange multipliers
// [1]: the compliance of the pairs from columns of the inverse factor, then projected Gauss-Seidel
// with Coulomb friction.
//
// A step of backward Euler solves A a = b for the acceleration, A^-1 f is the acceleration that a
// force f adds, and h^2 A^-1 f the change of positions. With contact a step is
//
//   1. free motion: solve A a = b; x_free = x + h (v + h a)
//   2. detect(exec, x, x_free); without pairs the step ends here
//   3. solve(exec, factor, h h, x, x_free, force, rotation): force = H^T lambda
//   4. motion correction: solve A c = force; v += h c; x_new = x_free + h h c
//
// W stands for A^-1 in step 3 alone: where the factor is stale, or stored in few bits, the gaps at
// x_new differ from the gaps that the multipliers were found for. Contact is therefore solved in
// rounds:
//
//   5. measure(exec, x, x_new): gaps, complementarity and friction at x_new, whatever W is. Where
//      they meet the tolerance, and A c = force does, the step ends.
//   6. refine(exec, x, x_new, force), and 4. again from x_free with the new force, from the last c.
//
// A round is a step of Newton's method with the compliance of W in the place of the true one: the
// error shrinks by about the relative error of W. Where it does not, renew() takes a better W.
//
// Newton steps: each is a step of this kind, with the matrix and the out-of-balance forces b at the
// positions x_k of the one before: 1. gives x_free = x + h (v_k + h a), and forces are those of the
// whole step, not what is added to those of x_k. They end where b + force is small at x_new.
//
// [1] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include <ossatura/kernels/factor/inverse.hpp>
#include <ossatura/kernels/softbody/contact/pair.hpp>
#include <ossatura/solvers/softbody/options.hpp>
#include <ossatura/solvers/softbody/scene.hpp>

#include <memory>

namespace ossatura {

template<class Exec>
class NodeCompliance; // solvers/softbody/contact/compliance.hpp

struct ContactResult {
  int num_contacts = 0;  ///< pairs watched
  int iterations = 0;    ///< sweeps
  double residual = 0;   ///< of complementarity and friction for W, relative to the free motion
  bool converged = true; ///< the last sweep moved no pair by more than the tolerance
};

/// The conditions of contact as they are met at given positions.
struct ContactState {
  double penetration = 0;     ///< m, the deepest
  double complementarity = 0; ///< m: the largest of min(gap, what the force alone moves its pair)
  double friction = 0;        ///< m: sliding that friction should stop, or turn against
  double residual = 0;        ///< the larger of the last two, relative to the free motion
  bool converged = true;      ///< that meets the tolerance
  double depth = 0;           ///< the penetration, relative to the free motion
};

/// A step takes over the pairs of the step before, in order, and their forces. Host memory.
struct ContactMemory {
  std::vector<std::int32_t> node;   ///< [pairs]
  std::vector<std::int32_t> target; ///< [pairs], obstacles, then objects
  std::vector<double> frame;        ///< [pairs, 9]
  std::vector<double> multiplier;   ///< [pairs, 3], N
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
                      const Array<double, Exec>& force, const Array<double, Exec>& rotation = {},
                      double tolerance = 0);
  /// The same on cores (Cores is Exec) without W: the nodes of the pairs get their columns.
  template<class Cores>
  ContactResult solve(const Exec& exec, NodeCompliance<Cores>& nodes, double scale,
                      const Array<double, Exec>& x, const Array<double, Exec>& x_free,
                      const Array<double, Exec>& force, const Array<double, Exec>& rotation = {},
                      double tolerance = 0);

  /// After solve: how the conditions are met by the forces and the positions x_new that the
  /// correction with them led to. Motions are relative to the largest free one of solve, but no
  /// tolerance is below what the coordinates of the scene can tell. Fences.
  ContactState measure(const Exec& exec, const Array<double, Exec>& x,
                       const Array<double, Exec>& x_new);

  /// After solve: improves the forces by the gaps and motions measured at x_new, the positions that
  /// the correction with these forces led to. force = H^T lambda, of all of lambda. `tolerance` as
  /// for solve. Fences.
  ContactResult refine(const Exec& exec, const Array<double, Exec>& x,
                       const Array<double, Exec>& x_new, const Array<double, Exec>& force,
                       double tolerance = 0);

  /// After solve: the compliance of another factor for the same pairs, which keep their forces.
  template<class Storage>
  void renew(const Exec& exec, const InverseFactor<Exec, Storage>& factor, double scale,
             const Array<double, Exec>& rotation = {});
  template<class Cores>
  void renew(const Exec& exec, NodeCompliance<Cores>& nodes, double scale,
             const Array<double, Exec>& rotation = {});

  /// Found by the last detect, or recalled.
  int num_pairs() const;

  /// Forgets the last step's forces and sides, for states that do not follow on it.
  void forget();

  /// Between steps. recall throws std::invalid_argument for nodes and targets that there are not.
  /// Fence.
  ContactMemory memory(const Exec& exec) const;
  void recall(const Exec& exec, const ContactMemory& memory);

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

} // namespace ossatura
