// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

#include <vector>

namespace ossatura {

/// DesignLoads holds the right-hand sides of a design's solves, as the body places them.
template<class Exec>
struct DesignLoads {
  struct Case {
    DesignForce<Exec> force;
    double weight;
  };
  std::vector<Case> cases;
  DesignForce<Exec> output; ///< of mechanisms: the displacement's direction, the adjoint's load
  bool has_output = false;

  bool is_mechanism() const { return has_output; }
  std::size_t num_solves() const { return cases.size() + (is_mechanism() ? 1 : 0); }
};

/// Throws std::invalid_argument for bad numbers, and for loads that move no free component.
template<class Exec>
DesignLoads<Exec> make_design_loads(const Exec& exec, const DesignProblem& problem,
                                    bool is_mechanism, const DesignBody<Exec>& body);

/// Stiffness of the springs [num_nodes, 3]. Throws std::invalid_argument for bad numbers.
std::vector<double> sum_springs(const DesignProblem& problem);

} // namespace ossatura
