// SPDX-License-Identifier: Apache-2.0
// Doubts are warnings about numbers that can be computed with but are hardly what the user meant:
// of another unit, or of another system of axes.
#pragma once

#include "apps/bone/input/options.hpp"
#include "apps/bone/output/results.hpp"

namespace ossatura {

/// Logs `odd-size`, `odd-modulus` and `no-void` where they apply to an image or a surface that was
/// read, `odd-strength`, and `odd-centre` where the plates turn about a point beside the image.
void warn_of_model(const BoneOptions& options, const BoneModelInfo& info);

/// Logs `large-strain` where plates move further than the linear theory goes, or the bone is
/// strained as far in the mean.
void warn_of_strain(const BoneResults& results);

} // namespace ossatura
