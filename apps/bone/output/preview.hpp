// SPDX-License-Identifier: Apache-2.0
// The preview is a picture of the model before the solve: what a bad segmentation, a wrong axis or
// a plate that touches nothing look like.
#pragma once

#include "apps/bone/input/model.hpp"
#include <ossatura/core/io/image/png_output.hpp>
#include <ossatura/solvers/bone/load.hpp>

#include <string>

namespace ossatura {

/// The file of --preview for the input of this run, whose name stands for the first * in it.
std::string preview_path(const BoneOptions& options, const std::string& stem);

/// Three sections of the model through the centre of the bone, side by side: across x (y to the
/// right, z up), across y (x, z) and across z (x, y). Bone is grey by its modulus, caps and pads
/// are brown, void is black. Held nodes in the sections are blue where they rest and red where they
/// move, loaded ones yellow. Of a problem that is cut all its ranks call it, with their planes of
/// the image; the first has the picture. Fences.
template<class Exec>
RgbImage draw_preview(const Exec& exec, const BoneModel<Exec>& model,
                      const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load);

} // namespace ossatura
