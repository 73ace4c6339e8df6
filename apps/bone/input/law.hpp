// SPDX-License-Identifier: Apache-2.0
// The law of an image makes Young's moduli of its grey values.
#pragma once

#include "apps/bone/input/model.hpp"

#include <limits>
#include <vector>

namespace ossatura {

/// Of the values of an image that are numbers.
struct ValueRange {
  float least = std::numeric_limits<float>::infinity(), greatest = -least;
};

ValueRange range_of(const std::vector<float>& values);

/// Throws InputError for moduli of an image that holds moduli whose unit cannot be MPa and is not
/// said: no bone is as soft as its numbers are in GPa.
void require_unit(const BoneOptions& options, double largest);

/// Throws InputError for moduli beyond those that are taken.
void require_finite_moduli(const BoneOptions& options, double largest);

/// Throws InputError where values of an image as it is read are to be blended, and --lower, or that
/// of a label's law, is at an end of a wide gap between them, as the value of the bone in a
/// segmentation is: what is blended at the surface would all be void, or all bone. Fences.
template<class Exec>
void require_threshold_within(const Exec& exec, const BoneOptions& options,
                              const BoneModel<Exec>& model);

/// Calibrates and clamps the values that are here, and the range that they have. Fences.
template<class Exec>
void map_model(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
               ValueRange& range);

/// Makes moduli of the grey values of the model, by --law and --label-laws. `range`: of the
/// values, for messages. `labels`: those of the mask on the model, or empty without one; outside of
/// the mask all is void, and nothing is wrong. Of planes that the ranks of `comm` share by all.
/// Throws InputError. Fences.
template<class Exec>
void apply_law(const Exec& exec, const BoneOptions& options, const ValueRange& range,
               const VoxelArray<Exec>& labels, const Communicator& comm, BoneModel<Exec>& model);

/// Puts the moduli of the model into --bins, if any, between the least and the greatest of what is
/// left of it by the mask: by all ranks of `comm` that share it. Fences.
template<class Exec>
void bin_moduli(const Exec& exec, const BoneOptions& options, const Communicator& comm,
                const BoneModel<Exec>& model);

} // namespace ossatura
