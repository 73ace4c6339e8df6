// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/bodies/image_body.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/image_files.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/topopt/input/problem_document.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>
#include <ossatura/core/io/image/nrrd.hpp>
#include <ossatura/core/io/image/world_frame.hpp>
#include <ossatura/core/io/itk/image.hpp>
#include <ossatura/core/io/parosol/input.hpp>
#include <ossatura/core/io/scanco/image.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace ossatura {

namespace {

void warn_of_stored_values(const std::string& file) {
  log_warning("no-calibration", file,
              ": has no calibration, so that values are as the scanner stored them: give \"lower\" "
              "(--lower) in these");
}

/// Moduli in MPa; what is held and loaded there is not of the problem.
VoxelImage read_moduli(const std::string& file) {
  ParosolOptions options;
  options.trial = true; // HDF5 1.10 itself crashes on some damaged files
  VoxelModel model = read_parosol(file, options);
  if (!model.displacements.empty() || !model.forces.empty())
    log_warning("unused-supports", file,
                ": has supports or loads of its nodes, which are left out: give \"supports\" and "
                "\"cases\" of the problem");
  return std::move(model.modulus);
}

VoxelImage read_slices(const std::string& file) {
  DicomOptions options;
  options.trial = true; // GDCM is not ours to make safe
  DicomSeries series;
  VoxelImage image = read_dicom(file, options, &series);
  if (!series.is_rescaled)
    warn_of_stored_values(file);
  warn_files_left_out(file, series);
  return image;
}

VoxelImage read_voxels(const std::string& file) {
  const ImageFormat format = guess_format(file);
  switch (format) {
  case ImageFormat::metaimage: {
    VoxelImage image = read_metaimage(file);
    warn_of_no_spacing(file, image);
    return image;
  }
  case ImageFormat::itk:
    return read_itk_hdf5(file, {{}, nullptr, VoxelShape::cube, true});
  case ImageFormat::nifti:
    return read_nifti(file);
  case ImageFormat::nrrd:
    return read_nrrd(file);
  case ImageFormat::scanco: {
    ScancoValues values;
    VoxelImage image = read_scanco(file, {}, nullptr, VoxelShape::cube, &values);
    if (values.unit.empty() && !values.labels)
      warn_of_stored_values(file);
    return image;
  }
  case ImageFormat::parosol:
    return read_moduli(file);
  case ImageFormat::dicom:
    return read_slices(file);
  default:
    fail<InputError>(file, ": is ", format == ImageFormat::raw ? "raw" : "a surface",
                     ", and no image that says its shape and edges: write a MetaImage header "
                     "(.mhd) beside raw voxels, and name surfaces .stl or .off");
  }
}

/// Takes the lower corner along the axes of the image, x turned round where it is mirrored.
void place_image(const std::string& file, VoxelImage& image) {
  if (is_mirrored(image.direction)) {
    const std::size_t nx = std::size_t(image.shape[0]);
    for (std::size_t i = 0; i < image.value.size(); i += nx)
      std::reverse(&image.value[i], &image.value[i] + nx);
    for (std::size_t i = 0; i < 3; ++i) {
      image.origin[i] += image.spacing * double(nx) * image.direction[3 * i];
      image.direction[3 * i] = -image.direction[3 * i];
    }
    log_info(file, ": is a mirror image in its world: x of the problem runs against the image's");
  }
  if (is_identity(image.direction))
    return;
  std::array<double, 3> corner{};
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t i = 0; i < 3; ++i)
      corner[d] += image.direction[3 * i + d] * image.origin[i];
  image.origin = corner;
  log_info(file, ": x, y and z of the problem are the axes of the image, which is turned in its "
                 "world");
}

} // namespace

ImageBody read_image_body(const std::string& file, double lower) {
  VoxelImage image = read_voxels(file);
  place_image(file, image);
  ImageBody taken{file, lower, nullptr, {}};
  const float most = *std::max_element(image.value.begin(), image.value.end());
  for (float& one : image.value) {
    const bool is_body = double(one) >= lower;
    if (is_body)
      taken.value.push_back(one);
    one = is_body ? 1 : 0;
  }
  if (taken.value.empty())
    fail<InputError>(file, ": no voxel has a value of ", format_number(lower),
                     " or more (\"lower\", --lower): the largest one is ", format_number(most));
  try {
    taken.body = std::make_shared<const LatticeBody>(make_lattice_body(image, unit_of_images));
  } catch (const std::invalid_argument& error) {
    fail<InputError>(file, ": ", library_message(error));
  }
  return taken;
}

std::vector<std::int32_t> elements_of_labels(const ImageBody& image,
                                             const std::vector<std::int32_t>& labels,
                                             const std::string& place) {
  std::set<std::int32_t> asked(labels.begin(), labels.end()), absent = asked;
  std::vector<std::int32_t> found;
  std::set<float> all; // or as many as make them grey values
  for (std::size_t e = 0; e < image.value.size(); ++e) {
    const float value = image.value[e];
    if (value != std::floor(value))
      fail<InputError>(place, ": labels are whole numbers, and ", image.file, " has voxels of ",
                       format_number(value), ": choose by another key, or give an image of labels");
    if (all.size() <= most_labels)
      all.insert(value);
    if (std::fabs(value) > float(1 << 24) || asked.count(std::int32_t(value)) == 0)
      continue;
    absent.erase(std::int32_t(value));
    found.push_back(std::int32_t(e));
  }
  if (are_grey(all.size(), image.value))
    fail<InputError>(place, ": \"label\" is of a segmentation, and ", image.file, " has more than ",
                     most_labels,
                     " values that differ from voxel to voxel, as grey values do: "
                     "choose by another key, or give an image of labels with its \"lower\"");
  if (absent.empty())
    return found;
  constexpr std::size_t most_shown = 20;
  std::vector<std::string> known;
  for (const float one : all)
    if (known.size() < most_shown)
      known.push_back(format_number(one));
  fail<InputError>(place, ": no voxel of the body has the label ", *absent.begin(), ": ",
                   image.file, " has ", joined(known, ", "), ", and voxels below ",
                   format_number(image.lower), " (\"lower\", --lower) are void");
}

} // namespace ossatura
