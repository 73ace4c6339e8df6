// SPDX-License-Identifier: Apache-2.0
// This file turns parts of a body's boundary into prescribed modes and forces.
#pragma once

#include "apps/driver/problem/mesh_selector.hpp"
#include "apps/pfem/input/model.hpp"
#include <ossatura/core/mesh/hexa/model.hpp>

namespace ossatura {

/// What a file or a generator gives.
struct PfemInput {
  PfemBody body;
  HexaModel model; ///< of a file; its mesh is in `body`
  std::string no_numbers;
};

/// Set held, displacement and supports, and force and num_loads, of a numbered model. Throw
/// InputError for supports that contradict each other or let the body move, and where nothing loads
/// it, or loads turn a part of it about a hinge.
void add_pfem_supports(const PfemDocument& document, const PfemInput& input,
                       const MeshSelector& select, PfemModel& model);
void add_pfem_loads(const PfemDocument& document, const PfemInput& input,
                    const MeshSelector& select, PfemModel& model);

} // namespace ossatura
