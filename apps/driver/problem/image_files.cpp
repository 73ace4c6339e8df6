// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/image_files.hpp"

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nrrd.hpp>

#include <algorithm>

namespace ossatura {

std::vector<FileRecord> record_image(const std::string& path, ImageFormat format,
                                     const std::string& series) {
  std::vector<std::string> files = {path};
  if (format == ImageFormat::dicom)
    files = find_dicom_series(path, series).files;
  const std::string data = format == ImageFormat::metaimage ? metaimage_data_file(path)
                           : format == ImageFormat::nrrd    ? nrrd_data_file(path)
                                                            : path;
  if (data != path)
    files.push_back(data);
  std::vector<FileRecord> records;
  for (const std::string& file : files)
    records.push_back(record_input(file));
  return records;
}

void warn_files_left_out(const std::string& path, const DicomSeries& series) {
  if (!series.left_out.empty())
    log_warning("files-left-out", path, ": ", series.left_out.size(),
                series.left_out.size() == 1 ? " file is" : " files are",
                " left out, for not being slices of the series: ", series.left_out.front(),
                series.left_out.size() == 1 ? "" : " and others");
}

void warn_of_no_spacing(const std::string& path, const VoxelImage& image) {
  if (!image.says_spacing)
    log_warning("no-spacing", path,
                ": has no ElementSpacing, so that edges of voxels are 1 mm, as in ITK: forces and "
                "stiffness go with it; write the line ElementSpacing = X Y Z, in mm");
}

bool are_grey(std::size_t num_different, const std::vector<float>& value) {
  if (num_different <= most_labels)
    return false;
  const float least = *std::min_element(value.begin(), value.end());
  std::size_t num_pairs = 0, num_alike = 0;
  for (std::size_t i = 1; i < value.size(); ++i) {
    num_pairs += value[i] > least && value[i - 1] > least;
    num_alike += value[i] > least && value[i - 1] == value[i];
  }
  return 2 * num_alike < num_pairs;
}

} // namespace ossatura
