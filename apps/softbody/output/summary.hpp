// SPDX-License-Identifier: Apache-2.0
// These functions make the parts of the JSON summary that belong to soft bodies.
#pragma once

#include "apps/softbody/output/results.hpp"

#include <nlohmann/json.hpp>

namespace ossatura {

nlohmann::ordered_json softbody_problem(const SoftbodyModel& model);
nlohmann::ordered_json softbody_engine(const SoftbodyModel& model,
                                       const SoftbodyRunResults& results);
nlohmann::ordered_json softbody_results(const SoftbodyModel& model,
                                        const SoftbodyRunResults& results);

} // namespace ossatura
