// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/topopt_prediction.hpp"

namespace femura {

namespace {

/// Of the operators that work by patches of elements: for each element.
constexpr double patch_bytes = 108;

/// Bytes that an operator for numbers of `real` bytes keeps beside mesh, moduli and vectors.
double operator_bytes(HexaOperatorKind kind, double real, double num_elem, double num_nodes) {
  switch (kind) {
  case HexaOperatorKind::ebe:
  case HexaOperatorKind::ebe_colour:
  case HexaOperatorKind::nbn:
  case HexaOperatorKind::ebe8:
  case HexaOperatorKind::ebe24:
  case HexaOperatorKind::ebe64:
    return 576 * real * num_elem;
  case HexaOperatorKind::ebe_sym:
    return 300 * real * num_elem;
  case HexaOperatorKind::csr: // up to 27 nodes around each
    return 27 * 9 * (real + 4) * num_nodes;
  case HexaOperatorKind::bsr:
    return 27 * (9 * real + 4) * num_nodes;
  case HexaOperatorKind::partial:
    return (patch_bytes + 72 * real) * num_elem;
  case HexaOperatorKind::recompute:
  case HexaOperatorKind::congruent:
  case HexaOperatorKind::automatic:
    break;
  }
  return patch_bytes * num_elem;
}

/// Smoothed aggregation was measured on boxes of up to 18 000 nodes: an aggregate of about 24 nodes
/// each, whose prolongator, coarse matrices and the maps that make them anew are kept.
double aggregation_bytes(const HexaSolverOptions& options, double real, double num_nodes) {
  double coarse = 6 * num_nodes / 24;
  while (coarse > options.aggregation.max_coarse_dofs)
    coarse /= 20;
  return (3800 + 120 * real) * num_nodes + coarse * coarse * (8 + real);
}

double preconditioner_bytes(HexaPreconditioner preconditioner, const HexaSolverOptions& options,
                            double num_nodes) {
  const double real = options.precision == HexaPrecision::fp64 ? 8 : 4;
  const double blocks = 6 * real * num_nodes;
  switch (preconditioner) {
  case HexaPreconditioner::jacobi:
  case HexaPreconditioner::block_jacobi:
    return blocks;
  case HexaPreconditioner::chebyshev:
    return blocks + 4 * 3 * real * num_nodes;
  case HexaPreconditioner::amg:
    break;
  }
  return blocks + aggregation_bytes(options, real, num_nodes);
}

} // namespace

TopoptPrediction predict_topopt(const TopoptModel& model, bool on_device) {
  const double elements = double(model.num_elem()), nodes = double(model.num_nodes());
  const HexaSolverOptions& solver = model.options.solver;
  TopoptPrediction prediction;
  prediction.choice = choose_hexa_operator(model.problem.mesh);
  const HexaOperatorKind kind =
      solver.kind == HexaOperatorKind::automatic ? prediction.choice.kind : solver.kind;
  double chosen = 0;
  for (const HexaOperatorKind one : hexa_operator_kinds) {
    prediction.operators.push_back({one, operator_bytes(one, 8, elements, nodes)});
    if (one == kind)
      chosen += prediction.operators.back().kept;
  }
  // The preconditioners that take products have an operator of their own in single precision.
  if (solver.precision == HexaPrecision::mixed &&
      (solver.preconditioner == HexaPreconditioner::chebyshev ||
       solver.preconditioner == HexaPreconditioner::amg))
    chosen += operator_bytes(kind, 4, elements, nodes);
  for (const auto one : {HexaPreconditioner::jacobi, HexaPreconditioner::block_jacobi,
                         HexaPreconditioner::chebyshev, HexaPreconditioner::amg}) {
    prediction.preconditioners.push_back({one, preconditioner_bytes(one, solver, nodes)});
    if (one == solver.preconditioner)
      chosen += prediction.preconditioners.back().kept;
  }
  // Of elements their nodes both ways, centres and volumes, a dozen numbers of the design and the
  // filter's cells; of nodes their points and a dozen vectors, and three more for each case.
  const double solves = double(model.problem.cases.size()) +
                        (model.options.objective == DesignObjective::mechanism ? 1 : 0);
  prediction.design_bytes = elements * 216 + nodes * (29 + 24 * (12.5 + 3 * solves));
  prediction.device_bytes = prediction.design_bytes + chosen;
  prediction.host_growth = on_device ? nodes * 24 : prediction.device_bytes;
  return prediction;
}

} // namespace femura
