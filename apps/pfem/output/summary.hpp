// SPDX-License-Identifier: Apache-2.0
// These functions make parts of the JSON summary of `ossatura pfem`.
#pragma once

#include "apps/pfem/input/model.hpp"
#include "apps/pfem/output/results.hpp"

#include <nlohmann/json.hpp>

namespace ossatura {

nlohmann::ordered_json pfem_problem(const PfemModel& model);
nlohmann::ordered_json pfem_engine(const PfemModel& model, const PfemResults& results);
nlohmann::ordered_json pfem_results(const PfemModel& model, const PfemResults& results);

} // namespace ossatura
