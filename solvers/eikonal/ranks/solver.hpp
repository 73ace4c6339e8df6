// SPDX-License-Identifier: Apache-2.0
// CutEikonalSolver is EikonalSolver for a mesh that is cut between the processes of a launcher:
// each keeps the points of its part, the tetrahedra around them, and the ghosts of these. Templates
// are instantiated in solver.cpp, for every backend, with Real = float and double.
#pragma once

#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/solvers/eikonal/ranks/point_cut.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ossatura {

/// How a mesh is cut.
struct EikonalCut {
  std::int64_t most_points = 0; ///< own ones of a rank
  std::int64_t most_ghosts = 0; ///< of a rank
  std::int64_t num_ghosts = 0;  ///< of all
};

/// Times, iterations, evaluations and local solves are those of EikonalSolver with
/// EikonalOptions::deterministic, to the bit, for any number of ranks and any cut.
///
/// Every function but the getters is called by all ranks, in the same order. Meshes, velocities and
/// sites are those of rank 0, and the arguments of the others are not read; options and cuts are
/// the same on all. Where rank 0 or several ranks find something wrong, all throw the same.
template<class Exec, class Real>
class CutEikonalSolver {
public:
  /// Sets up. Throws std::invalid_argument as EikonalSolver, and for a method other than `spread`,
  /// which `automatic` stands for here.
  CutEikonalSolver(const Communicator& comm, PointPartition partition, const Exec& exec,
                   const TetraMesh& mesh, const TissueVelocities& velocities,
                   const EikonalOptions& options = {});
  /// The same with the velocities of each tetrahedron [num_tetra].
  CutEikonalSolver(const Communicator& comm, PointPartition partition, const Exec& exec,
                   const TetraMesh& mesh, const std::vector<ConductionVelocity>& velocities,
                   const EikonalOptions& options = {});
  ~CutEikonalSolver();

  /// Solves for each set of sites on its own. times [sets, num_points] on rank 0, as those of
  /// EikonalSolver::solve(); empty on the others. The result is the same on all but for its
  /// seconds. options.stop is asked every 24 iterations, and ends all where one rank says so.
  /// Fences.
  EikonalResult solve(const Exec& exec, const std::vector<std::vector<EikonalSite>>& sets,
                      std::vector<Real>& times);

  EikonalMethod method() const { return EikonalMethod::spread; }
  bool is_deterministic() const { return true; }
  Transport transport() const; ///< by which times cross the cuts
  const EikonalCut& cut() const;
  std::int64_t num_points() const; ///< of the whole mesh
  std::int64_t num_tetra() const;  ///< of the whole mesh
  /// Bytes of the metric of a tetrahedron, as stored.
  int metric_bytes_per_tetra() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Why `options` cannot be had over several processes, as the end of a sentence that begins with
/// the option; empty where they can.
std::string why_not_over_ranks(const EikonalOptions& options);

} // namespace ossatura
