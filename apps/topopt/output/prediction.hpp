// SPDX-License-Identifier: Apache-2.0
// The prediction estimates the size and the memory of a topology optimisation, before anything is
// solved.
#pragma once

#include "apps/topopt/input/model.hpp"
#include <ossatura/solvers/hexa/operators.hpp>

#include <vector>

namespace ossatura {

struct TopoptPrediction {
  OperatorChoice<HexaOperatorKind> choice; ///< what automatic would be; on voxels none
  struct OperatorBytes {
    HexaOperatorKind kind;
    double kept; ///< by the operator alone
  };
  std::vector<OperatorBytes> operators;
  struct PreconditionerBytes {
    HexaPreconditioner preconditioner;
    double kept;
  };
  std::vector<PreconditionerBytes> preconditioners;
  double voxel_bytes = 0;  ///< of the solver on voxels: grid, moduli, levels, vectors
  double design_bytes = 0; ///< mesh, vectors, densities, filter
  double device_bytes = 0; ///< expected peak in the backend's memory, as chosen
  double host_growth = 0;  ///< what the process grows by beside the model
};

/// `on_device`: the backend has memory of its own. `brings_vectors`: files take displacements, or
/// the design, to the host. `has_bound`: the compliance is given a bound in the end.
TopoptPrediction predict_topopt(const TopoptModel& model, bool on_device, bool brings_vectors,
                                bool has_bound);

} // namespace ossatura
