// SPDX-License-Identifier: Apache-2.0
// Caps on the ends of a bone (--cap).
#pragma once

#include "apps/bone/input/model.hpp"

namespace ossatura {

/// Puts the caps of --cap on the model, whose image is enlarged for them where it ends too near.
/// Where `ranks` are given, all of them call it. Throws InputError for an image that would be too
/// large. Fences.
template<class Exec>
void add_caps(const Exec& exec, const BoneOptions& options,
              const std::optional<Communicator>& ranks, BoneModel<Exec>& model);

} // namespace ossatura
