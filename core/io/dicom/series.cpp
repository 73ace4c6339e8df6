// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/series.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/dicom/file.hpp>
#include <ossatura/core/io/dicom/module.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/text/trial_read.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include <sys/mman.h>
#include <unistd.h>

namespace ossatura {
namespace {

namespace fs = std::filesystem;
using Vector = std::array<double, 3>;
using Slices = std::vector<DicomHeader>;

constexpr double most_off_grid = 0.05;    ///< of the distance of slices
constexpr double least_difference = 1e-4; ///< of directions, and relative of edges

constexpr unsigned trial_seconds = 30; ///< for one file; the slowest codec takes one

/// What a child process that reads files for a trial is at, in memory that its parent sees.
class Trial {
public:
  Trial()
      : file_(static_cast<char*>(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Trial() {
    if (file_ != MAP_FAILED)
      ::munmap(file_, bytes);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// The child begins with this file, and has so long for it.
  void begin(const std::string& file) {
    ::alarm(trial_seconds);
    if (file_ != MAP_FAILED)
      std::strncpy(file_, file.c_str(), bytes - 1);
  }
  std::string file() const { return file_ != MAP_FAILED ? file_ : ""; }

private:
  static constexpr std::size_t bytes = 4096;
  char* file_;
};

/// Has a child process call read(trial) first. Throws InputError with the name of the file where it
/// dies of that.
template<class Read>
void try_first(const std::string& path, const Read& read) {
  Trial trial;
  (void)dicom_module(path); // lest each child loads it
  try {
    require_survivable_read(
        path, [&] { read(&trial); }, trial_seconds);
  } catch (const InputError& error) {
    const std::string what(error.what());
    throw InputError((trial.file().empty() ? path : trial.file()) + what.substr(path.size()));
  }
}

double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Vector minus(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

std::string name_of(const DicomHeader& slice) {
  return fs::path(slice.path).filename().string();
}

/// The files of a folder, in the order of their names.
std::vector<std::string> list_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error))
      files.push_back((fs::path(folder) / entry->path().filename()).string());
    else if (entry->is_symlink(error) && !fs::exists(entry->path(), error))
      fail<InputError>(entry->path().string(),
                       ": is a link to nothing: fetch its file, or take it out of the folder if it "
                       "is no slice");
  if (error)
    fail<InputError>(folder, ": cannot be listed: ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

/// What to give in the place of a folder without slices, where it has folders.
std::string describe_folders(const std::string& folder) {
  std::string first;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end;
       !error && entry != end; entry.increment(error))
    if (entry->is_directory(error))
      if (const std::string name = entry->path().filename().string(); first.empty() || name < first)
        first = name;
  return first.empty() ? ""
                       : ". Folders in it are not looked into: give the one with the slices, such "
                         "as " +
                             (fs::path(folder) / first).string();
}

/// Whether a name says that its file is DICOM's, so that one without the signature is damaged.
bool is_named_dicom(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return extension == ".dcm" || extension == ".dicom" || extension == ".ima";
}

/// The headers of images among the files of a folder; the others are left out.
Slices read_headers(const std::vector<std::string>& files, Trial* trial,
                    std::vector<std::string>& left_out) {
  Slices headers;
  for (const std::string& file : files) {
    if (trial != nullptr)
      trial->begin(file);
    const std::string name = fs::path(file).filename().string();
    std::error_code error;
    const bool is_empty = fs::file_size(file, error) == 0;
    if (is_empty || !is_dicom_file(file)) {
      if (is_named_dicom(file))
        fail<InputError>(file, is_empty ? ": is empty" : ": lacks the signature DICM at byte 128",
                         ": the file is damaged; take it out of the folder if it is no slice");
      if (name.front() != '.')
        left_out.push_back(name + " (not DICOM)");
      continue;
    }
    DicomHeader header = read_dicom_header(file);
    if (!header.is_image)
      left_out.push_back(name + " (no image" +
                         (header.modality.empty() ? ")" : ": " + header.modality + ")"));
    else if (header.is_segmentation)
      left_out.push_back(name + " (a segmentation, which --mask reads)");
    else if (header.is_localizer)
      left_out.push_back(name + " (a localizer)");
    else
      headers.push_back(std::move(header));
  }
  return headers;
}

/// What one chooses by.
std::string list_series(const std::map<std::string, Slices>& by_uid) {
  std::ostringstream list;
  for (const auto& [uid, slices] : by_uid) {
    list << "\n  " << uid << ": " << slices.size() << (slices.size() == 1 ? " image" : " images");
    if (!slices.front().number.empty())
      list << ", number " << slices.front().number;
    if (!slices.front().description.empty())
      list << ", '" << slices.front().description << "'";
  }
  return list.str();
}

/// The images of one series, and what was left out of the folder.
Slices choose_series(const std::string& path, const std::string& wanted, Trial* trial,
                     std::vector<std::string>& left_out) {
  const bool is_folder = fs::is_directory(path);
  std::string uid = wanted;
  if (!is_folder) {
    const DicomHeader slice = read_dicom_header(path);
    if (slice.num_frames != 1 || slice.is_segmentation)
      return {slice}; // is refused
    if (uid.empty())
      uid = slice.series;
  }
  const std::string folder = is_folder ? path : fs::path(path).parent_path().string();
  std::map<std::string, Slices> by_uid, without_place;
  for (DicomHeader& header : read_headers(list_folder(folder), trial, left_out))
    (header.has_place || header.num_frames != 1 ? by_uid : without_place)[header.series].push_back(
        std::move(header));
  if (by_uid.empty())
    fail<InputError>(path, ": there are no DICOM slices with a place in space",
                     left_out.empty() ? "" : ", but ", left_out.empty() ? "" : left_out.front(),
                     without_place.empty() ? "" : ": secondary captures have none",
                     describe_folders(folder));
  if (uid.empty() && by_uid.size() > 1)
    fail<InputError>(path, ": has ", by_uid.size(),
                     " series; choose one with --series UID, or give a slice of it in place of "
                     "the folder:",
                     list_series(by_uid));
  const auto found = uid.empty() ? by_uid.begin() : by_uid.find(uid);
  if (found == by_uid.end())
    fail<InputError>(path, ": has no series ", uid, " of slices; there is", list_series(by_uid));
  if (const auto lost = without_place.find(found->first); lost != without_place.end())
    fail<InputError>(lost->second.front().path,
                     ": is an image of the series without position, orientation or spacing: take "
                     "it out of the folder if it is no slice");
  for (const auto* others : {&by_uid, &without_place})
    for (const auto& [other, slices] : *others)
      if (other != found->first)
        for (const DicomHeader& slice : slices)
          left_out.push_back(name_of(slice) + " (of another series)");
  return found->second;
}

/// The segmentation at `path`, or the only one of the folder; empty where there are slices.
std::string choose_segmentation(const std::string& path, Trial* trial) {
  if (!fs::is_directory(path)) {
    if (trial != nullptr)
      trial->begin(path);
    return read_dicom_header(path).is_segmentation ? path : "";
  }
  std::vector<std::string> found;
  bool has_slices = false;
  for (const std::string& file : list_folder(path)) {
    if (trial != nullptr)
      trial->begin(file);
    std::error_code error;
    if (fs::file_size(file, error) == 0 || !is_dicom_file(file))
      continue; // the reader of series says what is wrong
    const DicomHeader header = read_dicom_header(file);
    if (header.is_segmentation)
      found.push_back(file);
    else
      has_slices = has_slices || header.is_image;
  }
  if (found.empty() || (found.size() == 1 && !has_slices))
    return found.empty() ? "" : found.front();
  std::string names;
  for (std::size_t k = 0; k < std::min<std::size_t>(found.size(), 5); ++k)
    names += (k > 0 ? ", " : "") + fs::path(found[k]).filename().string();
  fail<InputError>(path, ": has ",
                   found.size() == 1 ? "the segmentation "
                                     : std::to_string(found.size()) + " segmentations, ",
                   names, found.size() > 5 ? ", ..." : "", has_slices ? ", and slices" : "",
                   ": give the file that is the mask, or a slice of the series of labels");
}

/// Throws for a slice that is not read.
void require_grey(const DicomHeader& slice) {
  if (slice.is_segmentation)
    fail<InputError>(slice.path, ": is a segmentation, and no image: give the image, and this as "
                                 "--mask");
  if (slice.num_frames != 1)
    fail<InputError>(slice.path, ": has ", slice.num_frames,
                     " frames in one file (enhanced CT); "
                     "convert it with dcm2niix to .nii, or to a file for each frame with emf2sf of "
                     "dcm4che");
  if (slice.samples != 1 || slice.photometric.rfind("MONOCHROME", 0) != 0)
    fail<InputError>(slice.path, ": is of ",
                     slice.photometric.empty() ? "unknown" : slice.photometric, " colours, ",
                     slice.samples, " samples a pixel; grey slices are read");
  if (slice.photometric != "MONOCHROME2")
    fail<InputError>(slice.path, ": is ", slice.photometric,
                     ", whose small values are white; CT is MONOCHROME2");
  if (slice.has_table)
    fail<InputError>(slice.path, ": has a table of values (Modality LUT Sequence); slope and "
                                 "intercept are read: convert the series with dcm2niix");
  if (slice.slope == 0)
    fail<InputError>(slice.path, ": has a rescale slope of 0: the header is damaged");
}

/// Throws where `slice` is not of the size, edges and orientation of `first`.
void require_alike(const DicomHeader& first, const DicomHeader& slice) {
  const auto differ = [&](const char* what, const auto& mine, const auto& its) {
    std::ostringstream text;
    text << what << " of " << name_of(first) << " (" << mine[0] << ", " << mine[1] << ") and "
         << name_of(slice) << " (" << its[0] << ", " << its[1] << ")";
    fail<InputError>(slice.path, ": the slices of a series differ in the ", text.str(),
                     ": take out of the folder what does not belong to the volume");
  };
  using Pair = std::array<std::uint64_t, 2>;
  if (slice.rows != first.rows || slice.columns != first.columns)
    differ("numbers of columns and rows", Pair{first.columns, first.rows},
           Pair{slice.columns, slice.rows});
  if (slice.has_rescale != first.has_rescale) {
    const DicomHeader &with = slice.has_rescale ? slice : first,
                      &without = slice.has_rescale ? first : slice;
    if (with.slope != 1 || with.intercept != 0)
      fail<InputError>(without.path, ": has no rescale slope and intercept, and ", name_of(with),
                       " has ", with.slope, " and ", with.intercept,
                       ": their values are of different scales; write the series anew from where "
                       "it comes from, or complete the header");
  }
  for (std::size_t d = 0; d < 2; ++d)
    if (!(std::abs(slice.spacing[d] - first.spacing[d]) <=
          least_difference * std::abs(first.spacing[d])))
      differ("spacing", first.spacing, slice.spacing);
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(std::abs(slice.along_row[i] - first.along_row[i]) <= least_difference))
      differ("orientation of their rows", first.along_row, slice.along_row);
    if (!(std::abs(slice.along_column[i] - first.along_column[i]) <= least_difference))
      differ("orientation of their columns", first.along_column, slice.along_column);
  }
}

/// Sorts slices along `normal`, and returns their distance. Throws where they do not lie behind
/// one another at equal distances.
double sort_slices(const Vector& normal, Slices& slices) {
  const auto height = [&](const DicomHeader& slice) { return dot(slice.position, normal); };
  std::stable_sort(slices.begin(), slices.end(), [&](const DicomHeader& a, const DicomHeader& b) {
    return height(a) < height(b);
  });
  const std::size_t last = slices.size() - 1;
  const std::string folder = fs::path(slices.front().path).parent_path().string() + ": ";
  const double bottom = height(slices.front()), length = height(slices[last]) - bottom;
  std::vector<double> gap;
  for (std::size_t k = 0; k < last; ++k)
    gap.push_back(height(slices[k + 1]) - height(slices[k]));
  std::vector<double> sorted = gap;
  std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(last / 2), sorted.end());
  const double usual = sorted[last / 2], distance = length / double(last);
  for (std::size_t k = 0; k < last; ++k)
    if (!(gap[k] > 1e-3 * usual))
      fail<InputError>(folder, "the slices ", name_of(slices[k]), " and ", name_of(slices[k + 1]),
                       " lie at the same place: a slice that is there twice, or several "
                       "acquisitions in one series; leave one volume in the folder");
  std::size_t worst = 0;
  bool on_grid = true;
  for (std::size_t k = 0; k <= last; ++k)
    on_grid = on_grid && std::abs(height(slices[k]) - bottom - double(k) * distance) <=
                             most_off_grid * distance;
  for (std::size_t k = 0; k < last; ++k)
    if (std::abs(gap[k] - usual) > std::abs(gap[worst] - usual))
      worst = k;
  if (!on_grid) {
    const double times = gap[worst] / usual;
    const bool missing = times > 1.5 && std::abs(times - std::round(times)) < 0.1;
    std::ostringstream what;
    if (missing)
      what << std::round(times) - 1 << (times < 2.5 ? " slice is" : " slices are") << " missing";
    else
      what << "the slices are not evenly spaced";
    fail<InputError>(folder, what.str(), " between ", name_of(slices[worst]), " and ",
                     name_of(slices[worst + 1]), ", which are ", gap[worst],
                     " mm apart, where others are ", usual,
                     missing
                         ? " mm: complete the folder"
                         : " mm: resample the series, as 3D Slicer does, or leave out the rest");
  }
  const Vector shift = minus(slices[last].position, slices.front().position);
  const double across = std::sqrt(std::max(0.0, dot(shift, shift) - length * length));
  for (std::size_t k = 0; k <= last; ++k) { // each lies on the line from the first to the last
    const Vector from = minus(slices[k].position, slices.front().position);
    const double share = (height(slices[k]) - bottom) / length;
    for (std::size_t i = 0; i < 3; ++i)
      if (!(std::abs(from[i] - share * shift[i]) <= most_off_grid * distance))
        fail<InputError>(folder, "the slice ", name_of(slices[k]),
                         " does not lie behind the others: its position is shifted across them");
  }
  if (!(across <= 1e-3 * length))
    fail<InputError>(folder, "the slices are shifted against one another, by ",
                     std::atan2(across, length) * 180 / std::acos(-1.0),
                     " degrees (a tilted gantry): voxels are no boxes then; resample the series "
                     "upright, as dcm2niix and 3D Slicer do");
  return distance;
}

/// A series with its place, and the headers of its slices in order.
struct Volume {
  DicomSeries series;
  Slices slices;
  VoxelImage image;
};

Volume read_volume(const std::string& path, const std::string& wanted, VoxelShape voxels,
                   Trial* trial) {
  Volume volume;
  volume.slices = choose_series(path, wanted, trial, volume.series.left_out);
  Slices& slices = volume.slices;
  for (const DicomHeader& slice : slices)
    require_grey(slice);
  for (const DicomHeader& slice : slices)
    require_alike(slices.front(), slice);
  if (slices.size() < 2)
    fail<InputError>(slices.front().path, ": is the only slice of its series here, and one slice "
                                          "is no volume: put all of them into one folder");
  const DicomHeader first = slices.front();
  const Vector normal = cross(first.along_row, first.along_column);
  const double size = std::sqrt(dot(normal, normal));
  if (!(std::abs(size - 1) <= 1e-3))
    fail<InputError>(first.path, ": its rows and columns do not run along orthogonal unit vectors: "
                                 "the header is damaged");
  VoxelImage& image = volume.image;
  const std::string folder = fs::path(first.path).parent_path().string();
  image.shape = require_voxel_shape(folder, first.columns, first.rows, slices.size());
  const double distance =
      sort_slices({normal[0] / size, normal[1] / size, normal[2] / size}, slices);
  set_edges(folder, {first.spacing[0], first.spacing[1], distance}, voxels, image);
  const auto direction = make_direction({first.along_row, first.along_column, normal}, {1, 1, 1});
  if (!direction)
    fail<InputError>(first.path, ": its rows and columns do not run along orthogonal unit vectors: "
                                 "the header is damaged");
  image.direction = *direction;
  image.origin = lower_corner(slices.front().position, image.edges(), image.direction);
  image.world = "LPS";
  volume.series.uid = first.series;
  volume.series.description = first.description;
  volume.series.is_rescaled =
      std::all_of(slices.begin(), slices.end(), [](const DicomHeader& s) { return s.has_rescale; });
  // PS3.3, C.8.2.1.1.3: Hounsfield units, unless it is said otherwise.
  volume.series.unit = !first.unit.empty()                                   ? first.unit
                       : first.modality == "CT" && volume.series.is_rescaled ? "HU"
                                                                             : "";
  for (const DicomHeader& slice : slices) {
    if (slice.unit != first.unit)
      fail<InputError>(slice.path, ": its values are '", slice.unit, "', and those of ",
                       name_of(first), " '", first.unit, "': they make no image together");
    volume.series.files.push_back(slice.path);
  }
  return volume;
}

/// Reads the values of planes, a slice each, to where they go. A trial reads them for nothing.
void read_planes(const Volume& volume, ImagePlanes planes, VoxelTarget* target, Trial* trial,
                 VoxelImage& image) {
  const std::size_t count = image.voxels_per_plane();
  std::vector<float> scratch;
  try {
    if (trial != nullptr)
      scratch.resize(count);
    else if (target != nullptr)
      target->begin(image, planes);
    else
      image.value.resize(count * std::size_t(planes.count()));
  } catch (const std::exception&) {
    fail<BackendError>(volume.series.files.front(), ": ", planes.count(), " slices of ", count,
                       " pixels do not fit in memory");
  }
  for (int z = planes.begin; z < planes.end; ++z) {
    const DicomHeader& slice = volume.slices[std::size_t(z)];
    const std::size_t first = count * std::size_t(z - planes.begin);
    if (trial != nullptr) {
      trial->begin(slice.path);
      read_dicom_values(slice, scratch.data());
    } else if (target != nullptr) {
      read_dicom_values(slice, target->room(first, count));
      target->filled(first, count);
    } else {
      read_dicom_values(slice, image.value.data() + first);
    }
  }
}

} // namespace

DicomSeries find_dicom_series(const std::string& path, const std::string& series, bool trial) {
  const auto read = [&](Trial* of) {
    return read_volume(path, series, VoxelShape::box, of).series;
  };
  if (trial)
    try_first(path, read);
  return read(nullptr);
}

std::string find_dicom_segmentation(const std::string& path, bool trial) {
  std::string found;
  const auto read = [&](Trial* of) { found = choose_segmentation(path, of); };
  if (trial)
    try_first(path, read);
  read(nullptr);
  return found;
}

VoxelImage read_dicom(const std::string& path, const DicomOptions& options, DicomSeries* found) {
  const auto read = [&](Trial* trial) {
    Volume volume = read_volume(path, options.series, options.voxels, trial);
    VoxelImage image = volume.image;
    const ImagePlanes planes = planes_to_read(options.planes, image.shape[2]);
    image.first_plane = planes.begin;
    read_planes(volume, planes, options.target, trial, image);
    if (trial == nullptr && found != nullptr)
      *found = std::move(volume.series);
    return image;
  };
  if (options.trial)
    try_first(path, read);
  return read(nullptr);
}

} // namespace ossatura
