// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/mask.hpp"

#include "apps/driver/output/names.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/image_files.hpp"
#include "apps/driver/ranks.hpp"
#include <ossatura/core/io/dicom/segmentation.hpp>
#include <ossatura/core/io/dicom/series.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>
#include <ossatura/core/io/image/nrrd.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/itk/image.hpp>
#include <ossatura/core/io/scanco/image.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/kernels/image/enlarge.hpp>
#include <ossatura/kernels/image/resample.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

namespace ossatura {

namespace {

/// A mask as it is read each time.
struct MaskReader {
  std::string path;
  ImageFormat format;
  const BoneOptions& options;
  const VoxelImage& image; ///< on which it lies
  bool trial = false;      ///< of DICOM and HDF5: the first time
  std::vector<DicomSegment>* segments = nullptr;
};

/// The labels that options name, where they say which are bone.
std::set<int> named_labels(const BoneOptions& options) {
  if (options.mask_labels.empty())
    return {};
  std::set<int> labels(options.mask_labels.begin(), options.mask_labels.end());
  for (const auto& [label, pad] : options.labels_of_mask.pads)
    labels.insert(label);
  for (const int label : support_labels(options))
    labels.insert(label);
  return labels;
}

VoxelImage read_dicom_labels(const MaskReader& mask, const ChoosePlanes& planes,
                             VoxelShape voxels) {
  const std::string segmentation = find_dicom_segmentation(mask.path, mask.trial);
  if (!segmentation.empty())
    return read_dicom_segmentation(segmentation, mask.image,
                                   {planes, named_labels(mask.options), mask.trial}, mask.segments);
  DicomOptions dicom;
  dicom.planes = planes;
  dicom.voxels = voxels;
  dicom.trial = mask.trial;
  DicomSeries series;
  VoxelImage labels = read_dicom(mask.path, dicom, &series);
  if (mask.trial)
    warn_files_left_out(mask.path, series);
  return labels;
}

VoxelImage read_labels(const MaskReader& mask, const ChoosePlanes& planes = {}) {
  const std::string& path = mask.path;
  const VoxelShape voxels = mask.options.resample ? VoxelShape::box : VoxelShape::cube;
  switch (mask.format) {
  case ImageFormat::dicom:
    return read_dicom_labels(mask, planes, voxels);
  case ImageFormat::itk:
    return read_itk_hdf5(path, {planes, nullptr, voxels, mask.trial});
  case ImageFormat::metaimage:
    return read_metaimage(path, planes, nullptr, voxels);
  case ImageFormat::nifti:
    return read_nifti(path, planes, nullptr, voxels);
  case ImageFormat::nrrd:
    return read_nrrd(path, planes, nullptr, voxels);
  case ImageFormat::scanco:
    return read_scanco(path, planes, nullptr, voxels);
  default:
    fail<InputError>(path,
                     ": a mask is MetaImage (.mha, .mhd), NIfTI (.nii, .nii.gz), NRRD (.nrrd), "
                     "HDF5 of ITK (.h5), AIM (.aim) or DICOM (a segmentation, or a series of "
                     "labels), as the programs for segmentation write it");
  }
}

/// The point of the world, as RAS where it is LPS, at voxel indices of an image.
std::array<double, 3> point_of(const VoxelImage& image, const std::array<double, 3>& index) {
  std::array<double, 3> point = image.origin;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t d = 0; d < 3; ++d)
      point[i] += image.edges()[d] * image.direction[3 * i + d] * index[d];
    if (image.world == "LPS" && i < 2)
      point[i] = -point[i];
  }
  return point;
}

/// Whether the places of both can be compared: in the same kind of world, or both in none.
bool are_comparable(const VoxelImage& mask, const VoxelImage& image) {
  return has_place(mask) && has_place(image) && image.world.empty() == mask.world.empty();
}

/// In what the voxels of the mask differ from those of the image, by edge and place; empty:
/// nothing.
std::string difference(const VoxelImage& mask, const VoxelImage& image, const std::string& name) {
  const std::array<double, 3> mine = mask.edges(), edges = image.edges();
  for (std::size_t d = 0; d < 3; ++d)
    if (!(std::abs(mine[d] / edges[d] - 1) <= 1e-3))
      return "the voxels of the mask have an edge of " + format_number(mine[d]) + " mm along " +
             "xyz"[d] + ", and those of the image " + name + " of " + format_number(edges[d]);
  if (!are_comparable(mask, image))
    return {};
  double away = 0;
  for (int corner = 0; corner < 8; ++corner) {
    std::array<double, 3> index{};
    for (std::size_t d = 0; d < 3; ++d)
      index[d] = (corner >> d & 1) * double(image.shape[d]);
    const auto a = point_of(mask, index), b = point_of(image, index);
    away = std::max(away, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
  }
  if (away <= 0.1 * image.spacing)
    return {};
  return "the mask lies elsewhere than the image " + name + ": their corners are up to " +
         format_number(away) + " mm apart";
}

/// The grid of an image whose edges are others than its file says: the centre of the first voxel
/// stays.
VoxelImage with_edge(const VoxelImage& image, double edge) {
  VoxelImage other;
  other.shape = image.shape;
  other.spacing = edge;
  other.origin = image.origin;
  other.direction = image.direction;
  other.world = image.world;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      other.origin[i] += (image.edges()[d] - edge) / 2 * image.direction[3 * i + d];
  return other;
}

/// Throws where the voxels of the mask are not those of the image, by shape, edge and place: of its
/// file or, with --spacing, of that edge. A mask has the edges that the image had.
void require_same_grid(const std::string& path, const VoxelImage& mask, const BoneOptions& options,
                       const VoxelImage& image) {
  const char* const remedy = ": resample the mask onto the image";
  if (mask.shape != image.shape)
    fail<InputError>(path, ": the mask has ", mask.shape[0], " x ", mask.shape[1], " x ",
                     mask.shape[2], " voxels, and the image ", options.input, " has ",
                     image.shape[0], " x ", image.shape[1], " x ", image.shape[2], remedy);
  std::string differs = difference(mask, image, options.input);
  if (!differs.empty() && options.spacing) {
    const std::string other = difference(mask, with_edge(image, *options.spacing), options.input);
    const bool has_edge_of_file = std::abs(mask.spacing / image.spacing - 1) <= 1e-3;
    if (other.empty() || !has_edge_of_file)
      differs = other;
  }
  // Arrays that are saved without their edges have 1 mm.
  const bool is_of_array =
      options.raw_type && mask.edges() == std::array<double, 3>{1, 1, 1} && image.spacing != 1;
  if (!differs.empty() && !is_of_array)
    fail<InputError>(path, ": ", differs, remedy);
  if (is_of_array)
    log_warning("mask-place", path,
                ": its voxels have edges of 1 mm, as of files that do not know "
                "theirs, and are taken to be those of ",
                options.input, ", of ", format_number(image.spacing), " mm");
  else if (!are_comparable(mask, image) && (has_place(mask) || has_place(image))) {
    const bool of_mask = !has_place(mask) || (has_place(image) && mask.world.empty());
    log_warning(
        "mask-place", of_mask ? path : options.input,
        ": says nothing of its place in the world, and its voxels are taken to be those of ",
        of_mask ? options.input : path);
  }
}

/// The labels in the planes that are here. Throws for a value that is none, naming its voxel, and
/// for grey values.
std::set<int> find_labels(const std::string& path, const VoxelImage& mask) {
  std::set<int> labels;
  std::mutex mutex;
  std::size_t wrong = mask.value.size();
  for_parts(mask.value.size(), std::size_t(1) << 20, [&](std::size_t begin, std::size_t end) {
    std::set<int> mine;
    std::size_t bad = mask.value.size();
    float last = 0;
    mine.insert(0);
    for (std::size_t i = begin; i < end && bad > i; ++i) {
      const float value = mask.value[i];
      if (value == last)
        continue;
      if (std::abs(value) <= 1e6f && value == std::floor(value))
        mine.insert(int(value));
      else
        bad = i;
      last = value;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    labels.insert(mine.begin(), mine.end());
    wrong = std::min(wrong, bad);
  });
  if (wrong < mask.value.size()) {
    const std::size_t i = wrong + mask.first_voxel(), nx = std::size_t(mask.shape[0]);
    fail<InputError>(path, ": voxel (", i % nx, ", ", i / nx % std::size_t(mask.shape[1]), ", ",
                     i / mask.voxels_per_plane(), ") has the value ", mask.value[wrong],
                     ": a mask holds labels, whole numbers up to 1e6");
  }
  if (are_grey(labels.size(), mask.value))
    fail<InputError>(path, ": has more than ", most_labels,
                     " values that differ from voxel to voxel, as grey values do: a mask holds "
                     "labels; give the segmentation of the image");
  labels.erase(0);
  return labels;
}

/// Warns of a mask whose values, few enough for labels, are parts of a voxel, as of one that was
/// blurred or interpolated: between 0 and the largest value they differ from voxel to voxel.
void warn_of_parts(const std::string& path, const std::vector<float>& value,
                   const BoneOptions& options, const std::set<int>& labels) {
  constexpr std::size_t few = 8;
  if (labels.size() <= few || !options.mask_labels.empty() || *labels.begin() < 0)
    return;
  const auto most = float(*labels.rbegin());
  std::size_t num_between = 0, num_alike = 0;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    const bool between = value[i] > 0 && value[i] < most;
    num_between += between;
    num_alike += between && (value[i] == value[i - 1] || value[i] == value[i + 1]);
  }
  if (2 * num_alike < num_between)
    log_warning("partial-mask", path, ": has ", labels.size(), " values from ", *labels.begin(),
                " to ", most,
                " that differ from voxel to voxel, as parts of voxels do, and all above "
                "0 is bone: resample labels to the nearest, threshold the mask (",
                most / 2, " is half), or name labels with --mask-labels");
}

std::string list_of(const std::vector<int>& labels) {
  std::string text;
  for (std::size_t i = 0; i < labels.size() && i < 20; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(labels[i]);
  return text + (labels.size() > 20 ? ", ..." : "");
}

/// What is done to the image, for the labels of a whole mask.
template<class Exec>
VoxelArray<Exec> prepare_labels(const Exec& exec, const BoneOptions& options,
                                const BoneModel<Exec>& model, VoxelArray<Exec> labels) {
  if (options.preparation.crop)
    labels = crop(exec, labels, crop_box(options, model.source.shape));
  if (model.turn) {
    labels = turn_image(exec, labels, model.turn->grid, Resampling::nearest);
    clear_beside(exec, model.turn->grid, labels);
    return labels;
  }
  if (options.resample && !options.preparation.turns_image())
    labels = resample(exec, labels, model.source.edges(), *options.resample, Resampling::nearest);
  return labels;
}

/// Throws where the mask lacks a label that an option names.
void require_labels(const std::string& path, const BoneOptions& options,
                    const std::set<int>& found) {
  const auto require = [&](int label, const char* what) {
    if (label == 0)
      fail<InputError>(path, ": the label 0", what,
                       " is what is not segmented, and no label of bone: name others");
    if (found.count(label) == 0)
      fail<InputError>(path, ": the mask has no label ", label, what, "; it has ",
                       list_of({found.begin(), found.end()}));
  };
  for (const int label : options.mask_labels)
    require(label, "");
  for (const auto& [label, law] : options.labels_of_mask.laws)
    require(label, ", which has a law in --label-laws");
  for (const auto& [label, pad] : options.labels_of_mask.pads)
    require(label, ", which is a pad in --pads");
  for (const int label : support_labels(options))
    require(label, ", which plates or supports are to touch");
  if (has_label_laws_alone(options) && options.mask_labels.empty())
    for (const int label : found)
      if (options.labels_of_mask.laws.count(label) == 0 &&
          options.labels_of_mask.pads.count(label) == 0)
        fail<InputError>(path, ": the mask has the label ", label,
                         ", which has no law: give it one in --label-laws, or --law for those that "
                         "have none, or name the bone with --mask-labels");
}

/// The files of a mask that was read.
std::vector<FileRecord> record_mask(const std::string& path, ImageFormat format) {
  if (format == ImageFormat::dicom)
    if (const std::string file = find_dicom_segmentation(path); !file.empty())
      return {record_input(file)};
  return record_image(path, format);
}

/// Says what segments there are, and how large.
void log_segments(const std::vector<DicomSegment>& segments, const std::set<int>& found) {
  for (std::size_t k = 0; k < segments.size() && k < 20; ++k) {
    const DicomSegment& segment = segments[k];
    log_info("segment ", segment.number, ": '", segment.label, "'",
             segment.kind.empty() ? "" : ", " + segment.kind,
             found.count(segment.number) > 0 ? "" : ", which is empty");
  }
  if (segments.size() > 20)
    log_info("and ", segments.size() - 20, " further segments");
}

} // namespace

std::string mask_path(const BoneOptions& options, const std::string& input) {
  std::string stem = file_stem(input);
  const auto is_called_so = [&](const std::string& other) { return file_stem(other) == stem; };
  if (std::count_if(options.inputs.begin(), options.inputs.end(), is_called_so) > 1)
    stem = folder_name(input);
  std::string path;
  for (const char c : options.mask)
    path += c == '*' ? stem : std::string(1, c);
  return path;
}

std::string mask_path(const BoneOptions& options) {
  return mask_path(options, options.input);
}

void require_mask_of_each(const BoneOptions& options) {
  std::map<std::string, std::string> input_of;
  for (const std::string& input : options.inputs) {
    const std::string path = mask_path(options, input);
    const auto [other, is_new] = input_of.emplace(path, input);
    if (!is_new)
      fail<UsageError>("--mask ", options.mask, ": ", path, " would be of both ", other->second,
                       " and ", input,
                       ": a * stands for the name of the input, or, of several that are called "
                       "alike, for that of the folder which each is in; give them names or folders "
                       "of their own, or run them one by one");
  }
}

template<class Exec>
VoxelArray<Exec> read_model_labels(const Exec& exec, const BoneOptions& options,
                                   const std::optional<Communicator>& ranks, DriverContext& context,
                                   BoneModel<Exec>& model) {
  const Communicator comm = ranks.value_or(Communicator());
  const std::string path = mask_path(options);
  auto format = ImageFormat::surface;
  run_phase(comm, [&] { format = guess_format(path); });
  VoxelImage mask;
  std::set<int> found;
  std::vector<DicomSegment> segments;
  run_shared(comm, [&] {
    mask = read_labels({path, format, options, model.source, true, &segments}, [&](int num_planes) {
      return num_planes != model.source.shape[2] ? ImagePlanes{0, 0} // is refused
             : reads_whole_image(options)        ? ImagePlanes{0, num_planes}
                                                 : model.modulus.planes();
    });
    if (comm.is_first())
      for (const FileRecord& record : record_mask(path, format))
        context.provenance().inputs.push_back(record);
    require_same_grid(path, mask, options, model.source);
    found = find_labels(path, mask);
    warn_of_parts(path, mask.value, options, found);
  });
  const std::vector<int> all = comm.gather(std::vector<int>(found.begin(), found.end()));
  found.insert(all.begin(), all.end());
  log_segments(segments, found);
  for (const DicomSegment& segment : segments)
    model.label_names[segment.number] = segment.label;
  require_labels(path, options, found);
  VoxelArray<Exec> labels = to_device(exec, mask, mask.planes());
  if (reads_whole_image(options))
    labels = keep_planes(exec, ranks, prepare_labels(exec, options, model, labels));
  for (const int label : support_labels(options))
    model.label_voxels[label] = comm.gather(list_label_voxels(exec, labels, label));
  for (const auto& [label, pad] : options.labels_of_mask.pads) {
    model.pad_voxels[label] = comm.gather(list_label_voxels(exec, labels, label));
    if (model.pad_voxels[label].empty())
      fail<InputError>(path, ": of the pad with the label ", label,
                       " nothing is left: look at --crop and --resample");
  }
  return labels;
}

template<class Exec>
VoxelArray<Exec> read_upright_labels(const Exec& exec, const BoneOptions& options,
                                     const BoneModel<Exec>& model) {
  const std::string path = mask_path(options);
  const VoxelImage mask = read_labels({path, guess_format(path), options, model.source, true});
  require_same_grid(path, mask, options, model.source);
  require_labels(path, options, find_labels(path, mask));
  return prepare_labels(exec, options, model, to_device(exec, mask));
}

template<class Exec>
LabelSelection<Exec> select_bone(const Exec& exec, const BoneOptions& options,
                                 const VoxelArray<Exec>& labels) {
  if (labels.value.extent(0) == 0)
    return {};
  std::vector<int> listed = options.mask_labels;
  const bool takes_listed = !listed.empty();
  if (!takes_listed)
    for (const auto& [label, pad] : options.labels_of_mask.pads)
      listed.push_back(label);
  std::sort(listed.begin(), listed.end());
  return {labels, upload(exec, "ossatura::bone::listed_labels", listed), takes_listed};
}

template<class Exec>
std::vector<float> read_mask(const Exec& exec, const BoneOptions& options,
                             const BoneModel<Exec>& model) {
  const std::string path = mask_path(options);
  VoxelImage mask = read_labels({path, guess_format(path), options, model.source});
  if (mask.shape != model.source.shape)
    fail<InputError>(path, ": has changed since it was read first");
  if (!reads_whole_image(options) && !options.anatomy.has_caps())
    return std::move(mask.value);
  VoxelArray<Exec> labels = prepare_labels(exec, options, model, to_device(exec, mask));
  for (int d = 0; d < 3; ++d)
    if (const auto k = std::size_t(d); model.planes_below[k] + model.planes_above[k] > 0)
      labels = enlarge(exec, labels, d, model.planes_below[k], model.planes_above[k]);
  return download(exec, labels.value);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template VoxelArray<Exec> read_model_labels(const Exec&, const BoneOptions&,                     \
                                              const std::optional<Communicator>&, DriverContext&,  \
                                              BoneModel<Exec>&);                                   \
  template VoxelArray<Exec> read_upright_labels(const Exec&, const BoneOptions&,                   \
                                                const BoneModel<Exec>&);                           \
  template LabelSelection<Exec> select_bone(const Exec&, const BoneOptions&,                       \
                                            const VoxelArray<Exec>&);                              \
  template std::vector<float> read_mask(const Exec&, const BoneOptions&, const BoneModel<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
