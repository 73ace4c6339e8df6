// SPDX-License-Identifier: Apache-2.0
// The prediction estimates the size and the memory of a solve with elements of high order, before
// anything is formed.
#pragma once

#include "apps/pfem/input/model.hpp"
#include <ossatura/solvers/pfem/operators.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

struct PfemPrediction {
  std::int64_t num_blocks = 0; ///< of 3 x 3 in the assembled matrix
  struct OperatorBytes {
    HierarchicOperatorKind kind;
    double kept; ///< by the operator alone; shared: if not chosen, of one shape
  };
  std::vector<OperatorBytes> operators;
  OperatorChoice<HierarchicOperatorKind> chosen;
  double star_bytes = 0;   ///< of the preconditioner vertex-stars
  double factor_bytes = 0; ///< of the preconditioner ldlt, while it is made; 0 if another is chosen
  double model_bytes = 0;  ///< elements and vectors
  double device_bytes = 0; ///< expected peak in the backend's memory, as chosen
  double host_growth = 0;  ///< what the process grows by beside the model
};

/// With the operator `chosen`, not automatic, and a factor of so many bytes, or none. `on_device`:
/// the backend has memory of its own.
PfemPrediction predict_pfem(const PfemModel& model,
                            const OperatorChoice<HierarchicOperatorKind>& chosen,
                            double factor_bytes, bool on_device);

/// About how long the inverses of vertex stars take on so many cores.
double star_seconds(const PfemModel& model, int threads);

/// 3 x 3 blocks of the assembled matrix: pairs of modes that an element has both of.
std::int64_t count_blocks(const ElementMesh& mesh, const HexaEntities& entities,
                          const HierarchicNumbering& numbering);

} // namespace ossatura
