// SPDX-License-Identifier: Apache-2.0
// These functions make the parts of the JSON summary that belong to topology optimisation.
#pragma once

#include "apps/topopt/input/model.hpp"
#include "apps/topopt/output/results.hpp"

#include <nlohmann/json.hpp>

namespace ossatura {

nlohmann::ordered_json topopt_problem(const TopoptModel& model);
nlohmann::ordered_json topopt_engine(const TopoptModel& model, const TopoptRunResults& results);
nlohmann::ordered_json topopt_results(const TopoptModel& model, const TopoptRunResults& results);

/// "converged", "steps done", "broken down" or "stopped".
} // namespace ossatura
