// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

#include <vector>

namespace ossatura {

/// DesignLoads holds the right-hand sides of a design's solves. Vectors are [num_nodes, 3] in the
/// order of the body, zero at held components.
template<class Exec>
struct DesignLoads {
  struct Case {
    Array<double, Exec> force;
    double weight;
  };
  std::vector<Case> cases;
  Array<double, Exec> output; ///< of mechanisms: the displacement's direction, the adjoint's load

  bool is_mechanism() const { return output.extent(0) > 0; }
  std::size_t num_solves() const { return cases.size() + (is_mechanism() ? 1 : 0); }
};

/// Throws std::invalid_argument for bad numbers, and for loads that move no free component.
template<class Exec>
DesignLoads<Exec> make_design_loads(const Exec& exec, const DesignProblem& problem,
                                    bool is_mechanism, const DesignBody<Exec>& body);

/// Stiffness of the springs [num_nodes, 3]. Throws std::invalid_argument for bad numbers.
std::vector<double> sum_springs(const DesignProblem& problem);

} // namespace ossatura
