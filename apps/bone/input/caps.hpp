// SPDX-License-Identifier: Apache-2.0
// Caps on the ends of a bone (--cap).
#pragma once

#include "apps/bone/input/model.hpp"

#include <array>

namespace ossatura {

/// Puts the caps of --cap on the model, whose image is enlarged for them where it ends too near.
/// Where `ranks` are given, all of them call it. Throws InputError for an image that would be too
/// large. Fences.
template<class Exec>
void add_caps(const Exec& exec, const BoneOptions& options,
              const std::optional<Communicator>& ranks, BoneModel<Exec>& model);

/// A place in the image of the input (mm from its lower corner) in the image of the model.
template<class Exec>
std::array<double, 3> in_model(const BoneModel<Exec>& model, std::array<double, 3> place) {
  for (std::size_t d = 0; d < 3; ++d)
    place[d] += model.edge * model.planes_below[d];
  return place;
}

} // namespace ossatura
