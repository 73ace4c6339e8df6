// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/segmentation.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/dicom/module.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/text/trial_read.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

namespace ossatura {
namespace {

using Point = std::array<double, 3>;
using Index = std::array<std::int64_t, 3>;

constexpr double most_off_voxel = 0.1; ///< of the shortest edge of a voxel
constexpr const char* resample_remedy = ": resample the segmentation onto the image";

/// The voxels of a frame: that of its first pixel, and the steps along a row and along a column.
struct FramePlace {
  Index first{}, along_row{}, along_column{};
  int across = 2; ///< the axis of the grid that the frame is a plane of
};

/// Puts one file's frames on a grid.
class FrameGrid {
public:
  FrameGrid(const std::string& path, const DicomSegments& seg, const VoxelImage& grid)
      : path_(path)
      , seg_(seg)
      , grid_(grid) {
    if (grid.world.empty() || !has_place(grid))
      fail<InputError>(path, ": frames of a segmentation are placed by their position, and the "
                             "image says nothing of its place in the world: give the mask in the "
                             "format of the image");
  }

  /// "frame 3, of segment 2 'L3',"
  std::string name_of(std::size_t number) const {
    std::string name = "frame " + std::to_string(number + 1);
    if (const int segment = seg_.frames[number].segment; segment != 0)
      name += ", of segment " + segment_name(segment) + ",";
    return name;
  }
  std::string segment_name(int number) const {
    std::string name = std::to_string(number);
    for (const DicomSegment& segment : seg_.segments)
      if (segment.number == number && !segment.label.empty())
        name += " '" + segment.label + "'";
    return name;
  }

  FramePlace place(std::size_t number) const {
    const DicomFrame& frame = seg_.frames[number];
    const Point first = index_of(frame.position);
    const Point row = step_of(frame.along_row, frame.spacing[0]),
                column = step_of(frame.along_column, frame.spacing[1]);
    FramePlace place;
    place.first = rounded(first);
    place.along_row = rounded(row);
    place.along_column = rounded(column);
    require_axes(number, place, row, column);
    for (int d = 0; d < 3; ++d)
      if (place.along_row[std::size_t(d)] == 0 && place.along_column[std::size_t(d)] == 0)
        place.across = d;
    for (const double c : {0.0, double(seg_.columns - 1)})
      for (const double r : {0.0, double(seg_.rows - 1)})
        for (std::size_t d = 0; d < 3; ++d) {
          const double is = first[d] + c * row[d] + r * column[d],
                       should = double(place.first[d]) + c * double(place.along_row[d]) +
                                r * double(place.along_column[d]);
          if (!(std::abs(is - should) * grid_.edges()[d] <= most_off_voxel * grid_.spacing))
            fail_off_grid(number, int(d), place.across, is);
        }
    require_distance(number, place);
    return place;
  }

private:
  const std::string& path_;
  const DicomSegments& seg_;
  const VoxelImage& grid_;

  /// A vector in LPS in the world of the grid.
  Point in_world(Point v) const {
    if (grid_.world == "RAS") {
      v[0] = -v[0];
      v[1] = -v[1];
    }
    return v;
  }
  Point along_axes(const Point& v) const {
    Point along{};
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t i = 0; i < 3; ++i)
        along[d] += grid_.direction[3 * i + d] * v[i] / grid_.edges()[d];
    return along;
  }
  /// In voxels; centres are at whole numbers.
  Point index_of(const Point& lps) const {
    Point from = in_world(lps);
    for (std::size_t i = 0; i < 3; ++i)
      from[i] -= grid_.origin[i];
    Point index = along_axes(from);
    for (double& x : index)
      x -= 0.5;
    return index;
  }
  Point step_of(const Point& along, double spacing) const {
    Point step = along_axes(in_world(along));
    for (double& x : step)
      x *= spacing;
    return step;
  }
  static Index rounded(const Point& x) {
    Index nearest{};
    for (std::size_t d = 0; d < 3; ++d) // a bound keeps what is computed with it from overflow
      nearest[d] = std::abs(x[d]) <= 1e9 ? std::llround(x[d]) : 1000000000;
    return nearest;
  }

  void require_axes(std::size_t number, const FramePlace& place, const Point& row,
                    const Point& column) const {
    std::int64_t along_row = 0, along_column = 0, common = 0;
    bool are_whole = true;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t r = place.along_row[d], c = place.along_column[d];
      along_row += std::abs(r);
      along_column += std::abs(c);
      common += r * c;
      are_whole = are_whole && std::abs(row[d] - double(r)) <= most_off_voxel &&
                  std::abs(column[d] - double(c)) <= most_off_voxel;
    }
    if (along_row == 1 && along_column == 1 && common == 0 && are_whole)
      return;
    const DicomFrame& frame = seg_.frames[number];
    fail<InputError>(path_, ": the pixels of ", name_of(number), " (", frame.spacing[0], " x ",
                     frame.spacing[1], " mm) are no voxels of the image (", grid_.edges()[0], " x ",
                     grid_.edges()[1], " x ", grid_.edges()[2],
                     " mm): other edges, or turned against it", resample_remedy);
  }

  [[noreturn]] void fail_off_grid(std::size_t number, int axis, int across, double at) const {
    if (axis == across)
      fail<InputError>(path_, ": ", name_of(number), " lies between the planes ", std::floor(at),
                       " and ", std::floor(at) + 1, " of the image across ", "xyz"[axis], ", at ",
                       at, resample_remedy);
    fail<InputError>(path_, ": the pixels of ", name_of(number),
                     " lie elsewhere than the voxels of the image, by ",
                     std::abs(at - std::round(at)) * grid_.edges()[std::size_t(axis)], " mm along ",
                     "xyz"[axis], " at one of its corners", resample_remedy);
  }

  /// The distance of frames may be a multiple of that of planes: a mask of a coarser image.
  void require_distance(std::size_t number, const FramePlace& place) const {
    const double distance = std::abs(seg_.frames[number].distance),
                 edge = grid_.edges()[std::size_t(place.across)];
    if (distance != 0 && !(std::abs(distance / edge - 1) <= most_off_voxel))
      fail<InputError>(path_, ": the frames are ", distance,
                       " mm apart, and the planes of the image ", edge, " mm across ",
                       "xyz"[place.across], resample_remedy);
  }
};

/// Throws for frames that lie on every second plane alone, say, and do not tell their distance.
void require_every_plane(const std::string& path, const DicomSegments& seg,
                         const std::vector<FramePlace>& places) {
  std::set<std::int64_t> planes;
  for (const FramePlace& place : places)
    planes.insert(place.first[std::size_t(place.across)]);
  std::int64_t step = 0;
  for (const std::int64_t plane : planes)
    step = std::gcd(step, plane - *planes.begin());
  if (planes.size() > 2 && step > 1 && seg.frames.front().distance == 0)
    fail<InputError>(path, ": its frames lie on every ", step,
                     step == 2   ? "nd"
                     : step == 3 ? "rd"
                                 : "th",
                     " plane of the image and leave out those between", resample_remedy);
}

/// Labels of voxels as frames add them.
class LabelPainter {
public:
  LabelPainter(const std::string& path, const DicomSegments& seg, const FrameGrid& frames,
               const std::set<int>& wanted, VoxelImage& image)
      : path_(path)
      , seg_(seg)
      , frames_(frames)
      , wanted_(wanted)
      , image_(image)
      , planes_(image.planes()) {}

  void paint(std::size_t number, const FramePlace& place) {
    const DicomFrame& frame = seg_.frames[number];
    const auto per_frame = std::size_t(seg_.rows * seg_.columns);
    std::size_t pixel = per_frame * number;
    for (std::int64_t r = 0; r < seg_.rows; ++r)
      for (std::int64_t c = 0; c < seg_.columns; ++c, ++pixel) {
        const int label = seg_.label(frame, pixel);
        if (label == 0)
          continue;
        Index at = place.first;
        for (std::size_t d = 0; d < 3; ++d)
          at[d] += c * place.along_row[d] + r * place.along_column[d];
        put(number, label, at);
      }
  }

  /// Throws where segments overlap.
  void finish() const {
    if (overlaps_.empty())
      return;
    std::ostringstream list;
    std::size_t count = 0;
    for (const auto& [pair, voxels] : overlaps_)
      if (++count <= 3)
        list << (count > 1 ? "; " : "") << frames_.segment_name(pair.first) << " and "
             << frames_.segment_name(pair.second) << " in " << voxels
             << (voxels == 1 ? " voxel" : " voxels");
    if (count > 3)
      list << "; and " << count - 3 << " other pairs";
    fail<InputError>(path_, ": segments overlap, and a voxel has one label: ", list.str(),
                     ": choose segments that do not with --mask-labels, or write the segmentation "
                     "without overlap");
  }

private:
  const std::string& path_;
  const DicomSegments& seg_;
  const FrameGrid& frames_;
  const std::set<int>& wanted_;
  VoxelImage& image_;
  ImagePlanes planes_;
  std::map<std::pair<int, int>, std::int64_t> overlaps_;

  void put(std::size_t number, int label, const Index& at) {
    for (std::size_t d = 0; d < 3; ++d)
      if (at[d] < 0 || at[d] >= image_.shape[d])
        fail<InputError>(path_, ": ", frames_.name_of(number), " has pixels of its segment at (",
                         at[0], ", ", at[1], ", ", at[2], "), beyond the ", image_.shape[0], " x ",
                         image_.shape[1], " x ", image_.shape[2],
                         " voxels of the image: it is of another image, or the image is a part");
    if (at[2] < planes_.begin || at[2] >= planes_.end)
      return;
    float& value = image_.value[std::size_t(at[0]) +
                                std::size_t(image_.shape[0]) *
                                    (std::size_t(at[1]) + std::size_t(image_.shape[1]) *
                                                              std::size_t(at[2] - planes_.begin))];
    const int before = int(value);
    if (before == 0 || before == label) {
      value = float(label);
      return;
    }
    const bool keeps = is_wanted(before), takes = is_wanted(label);
    if (keeps && takes)
      ++overlaps_[std::minmax(before, label)];
    else if (takes)
      value = float(label);
  }
  bool is_wanted(int label) const { return wanted_.empty() || wanted_.count(label) > 0; }
};

/// Throws where two frames of a segment, or of a label map, are the same plane.
void require_once(const std::string& path, const FrameGrid& frames, const DicomSegments& seg,
                  const std::vector<FramePlace>& places) {
  std::map<std::pair<int, Index>, std::size_t> seen;
  for (std::size_t k = 0; k < places.size(); ++k)
    if (const auto [at, is_new] = seen.insert({{seg.frames[k].segment, places[k].first}, k});
        !is_new)
      fail<InputError>(path, ": ", frames.name_of(k), " lies where frame ", at->second + 1,
                       " of the same segment does: several segmentations in one file; write one");
}

} // namespace

VoxelImage place_segments(const std::string& path, const DicomSegments& frames,
                          const VoxelImage& grid, const SegmentationOptions& options) {
  const FrameGrid on_grid(path, frames, grid);
  std::vector<FramePlace> places;
  for (std::size_t k = 0; k < frames.frames.size(); ++k)
    places.push_back(on_grid.place(k));
  require_once(path, on_grid, frames, places);
  require_every_plane(path, frames, places);
  VoxelImage image = grid;
  const ImagePlanes planes = planes_to_read(options.planes, grid.shape[2]);
  image.first_plane = planes.begin;
  image.value.assign(grid.voxels_per_plane() * std::size_t(planes.count()), 0);
  LabelPainter painter(path, frames, on_grid, options.wanted, image);
  for (std::size_t k = 0; k < places.size(); ++k)
    painter.paint(k, places[k]);
  painter.finish();
  return image;
}

VoxelImage read_dicom_segmentation(const std::string& path, const VoxelImage& grid,
                                   const SegmentationOptions& options,
                                   std::vector<DicomSegment>* found) {
  (void)dicom_module(path); // lest the child loads it, too
  if (options.trial)
    require_survivable_read(path, [&] { (void)read_dicom_segments(path); });
  DicomSegments segments = read_dicom_segments(path);
  VoxelImage image = place_segments(path, segments, grid, options);
  if (found != nullptr)
    *found = std::move(segments.segments);
  return image;
}

} // namespace ossatura
