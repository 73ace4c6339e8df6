// SPDX-License-Identifier: Apache-2.0
// Edges of voxels go from 0.05 um (synchrotron) to 5 mm (clinical slices), so that those of a
// clinical image in m pass for those of a small scan: the whole of it does not.
#pragma once

#include "apps/bone/input/options.hpp"
#include "apps/bone/output/results.hpp"

namespace ossatura {

/// Logs `odd-size` where an image or a surface that was read is too small as a whole, though its
/// voxels are not (warn_of_model).
void warn_of_specimen_size(const BoneOptions& options, const BoneModelInfo& info);

} // namespace ossatura
