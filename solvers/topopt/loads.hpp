// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// DesignLoads holds the right-hand sides of a design's solves, as the body places them.
template<class Exec>
struct DesignLoads {
  struct Case {
    DesignForce<Exec> force;
    double weight;
    Array<double, Exec> imposed{}; ///< [num_nodes, 3] displacements of held components, or empty
    std::vector<BodyLoad> body{};  ///< on mass, beside `force`
    ThermalLoad<Exec> thermal{};   ///< of temperature, likewise; or empty
    double moved_work = 0;         ///< J: of nodal forces at components that `imposed` moves

    /// Whether loads change with the design.
    bool is_of_design() const { return !body.empty() || !thermal.empty(); }
  };
  std::vector<Case> cases;
  DesignForce<Exec> output; ///< of mechanisms: the displacement's direction, the adjoint's load
  bool has_output = false;

  bool has_imposed() const {
    for (const Case& one : cases)
      if (one.imposed.extent(0) > 0)
        return true;
    return false;
  }
  bool has_body() const {
    for (const Case& one : cases)
      if (!one.body.empty())
        return true;
    return false;
  }
  bool is_mechanism() const { return has_output; }
  std::size_t num_solves() const { return cases.size() + (is_mechanism() ? 1 : 0); }
};

/// The mirror of a problem beyond which a load on mass is not its own image, by its number, if
/// there is one: acceleration across it, or an axis that is neither in its plane nor normal to it.
std::optional<std::size_t> find_asymmetry(const DesignProblem& problem, const BodyLoad& load);

/// Throws std::invalid_argument for bad numbers, for loads that move no free component, for loads
/// on mass that mirrors change, and for displacements of components that are free, or that the body
/// does not know.
template<class Exec>
DesignLoads<Exec> make_design_loads(const Exec& exec, const DesignProblem& problem,
                                    bool is_mechanism, const DesignBody<Exec>& body);

/// [n], with a sum of 1: what each of the nodes has of what they share equally. Of a node in a
/// mirror plane half is of the part beyond, so that it has half a share, in two planes a quarter:
/// the modelled part then is as the whole one, whose nodes share twice as much.
std::vector<double> node_shares(const DesignProblem& problem,
                                const std::vector<std::int32_t>& nodes);

/// Forces of nodes that weigh the same with the resultant of a force and a moment at a point
/// (distribute_load.hpp). Where the point lies in mirrors, nodes and their images take it together,
/// and what is given is the part of the modelled nodes; elsewhere, and of rigid bodies, the
/// images have a load of their own. `defect` becomes empty, or says why the nodes cannot take it,
/// or what the images cancel: a force across a mirror and a moment about an axis in it.
std::vector<NodeForce> remote_load(const DesignProblem& problem,
                                   const std::vector<std::int32_t>& nodes,
                                   const std::array<double, 3>& point,
                                   const std::array<double, 3>& force,
                                   const std::array<double, 3>& moment, std::string& defect);

/// The sum of forces, or of a direction, on components that are free. Throws std::invalid_argument,
/// with `what`, for bad numbers and where nothing is free.
template<class Exec>
DesignForce<Exec> make_design_force(const Exec& exec, const DesignProblem& problem,
                                    const std::vector<NodeForce>& forces,
                                    const DesignBody<Exec>& body, const std::string& what);

/// Stiffness of the springs [num_nodes, 3]. Throws std::invalid_argument for bad numbers.
std::vector<double> sum_springs(const DesignProblem& problem);

} // namespace ossatura
