// SPDX-License-Identifier: Apache-2.0
// The prediction estimates the size and the memory of a scene, before anything is solved.
#pragma once

#include "apps/softbody/input/model.hpp"

#include <cstdint>

namespace ossatura {

struct SoftbodyPrediction {
  std::int64_t num_blocks = 0;          ///< of the matrix, 3 x 3
  std::int64_t num_factor_entries = 0;  ///< of L, scalars
  std::int64_t num_inverse_entries = 0; ///< of W = L^-1, scalars
  double device_bytes = 0;              ///< expected peak in the backend's memory
  double host_growth = 0;               ///< what the process grows by beside the model
};

/// Orders the graph of the nodes as the solver does. `on_device`: thousands of threads and memory
/// of its own.
SoftbodyPrediction predict_softbody(const SoftbodyModel& model, bool on_device);

} // namespace ossatura
