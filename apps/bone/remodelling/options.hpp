// SPDX-License-Identifier: Apache-2.0
// Options of remodelling.
#pragma once

#include <ossatura/kernels/bone/remodelling.hpp>

namespace CLI {
class App;
}

namespace ossatura {

struct BoneOptions;

struct RemodellingChoice {
  int steps = 0;      ///< 0: none
  RemodellingLaw law; ///< without coefficient and exponent, which are those of --law power
};

void add_remodelling_options(CLI::App& app, RemodellingChoice& choice);

/// Throws UsageError for values out of range, and for what remodelling does not go with.
void check_remodelling_options(const CLI::App& app, const BoneOptions& options);

/// The law of the options, with coefficient and exponent.
RemodellingLaw remodelling_law(const BoneOptions& options);

} // namespace ossatura
