// SPDX-License-Identifier: Apache-2.0
// An ImageBody is the body that the voxels of an image are, with the values that may be labels.
#pragma once

#include <ossatura/core/mesh/lattice_body.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ossatura {

struct ImageBody {
  std::string file;
  double lower = 0;                        ///< voxels below are void
  std::shared_ptr<const LatticeBody> body; ///< in m, along the axes of the image
  std::vector<float> value;                ///< [elements of the body]
};

/// Reads an image of any format that `ossatura bone` reads, but raw ones. A place along an axis of
/// the image is that of the world of its file (mm, there in m) projected on the axis; of an image
/// that is mirrored in its world the x axis is turned round, lest parts are. Throws InputError for
/// what is no image, voxels that are no cubes, and where no value reaches `lower`.
ImageBody read_image_body(const std::string& file, double lower);

/// Numbers, ascending, of the elements with one of the labels. Throws InputError, naming `place`,
/// where values are not whole, or no element has one of the labels.
std::vector<std::int32_t> elements_of_labels(const ImageBody& image,
                                             const std::vector<std::int32_t>& labels,
                                             const std::string& place);

} // namespace ossatura
