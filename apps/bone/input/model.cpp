// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/model.hpp"

#include "apps/bone/input/caps.hpp"
#include "apps/bone/input/law.hpp"
#include "apps/bone/input/load.hpp"
#include "apps/bone/input/mask.hpp"
#include "apps/bone/input/turn.hpp"
#include "apps/bone/labels/pads.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/filling_voxels.hpp"
#include "apps/driver/problem/image_files.hpp"
#include "apps/driver/ranks.hpp"
#include <ossatura/core/io/dicom/series.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/metaimage.hpp>
#include <ossatura/core/io/image/nifti.hpp>
#include <ossatura/core/io/image/nrrd.hpp>
#include <ossatura/core/io/image/place.hpp>
#include <ossatura/core/io/image/raw.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/itk/image.hpp>
#include <ossatura/core/io/parosol/input.hpp>
#include <ossatura/core/io/scanco/image.hpp>
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/machine/available_memory.hpp>
#include <ossatura/kernels/image/array_target.hpp>
#include <ossatura/kernels/image/component_selection.hpp>
#include <ossatura/kernels/image/count_solid.hpp>
#include <ossatura/kernels/image/gaussian.hpp>
#include <ossatura/kernels/image/perlin.hpp>
#include <ossatura/kernels/image/resample.hpp>
#include <ossatura/kernels/image/shapes.hpp>
#include <ossatura/kernels/image/voxelise.hpp>

#include <algorithm>
#include <future>

namespace ossatura {

namespace {

VoxelImage read_raw(const BoneOptions& options, const ChoosePlanes& planes, VoxelTarget* target) {
  if (options.raw_shape[0] < 1 || !options.raw_type || !options.spacing)
    fail<UsageError>(options.input,
                     ": a raw image needs --shape NX,NY,NZ, --type and --spacing MM");
  RawImageOptions raw;
  raw.shape = options.raw_shape;
  raw.type = *options.raw_type;
  raw.spacing = *options.spacing;
  raw.planes = planes;
  raw.target = target;
  return read_raw_image(options.input, raw);
}

/// The planes of an image that this process has.
ImagePlanes choose_planes(const std::optional<Communicator>& ranks, int num_planes) {
  return ranks ? planes_of_rank(*ranks, num_planes) : ImagePlanes{0, num_planes};
}

template<class Exec>
void read_surface_model(const Exec& exec, const BoneOptions& options,
                        const std::optional<Communicator>& ranks, BoneModel<Exec>& model) {
  if (!options.voxel)
    fail<UsageError>(options.input, ": a surface needs --voxel MM, the edge of its voxels");
  if (options.modulus_unit)
    fail<UsageError>(options.input, ": --modulus-unit is of moduli in the input, and a surface has "
                                    "none: give --modulus in MPa");
  TriangleSurface surface = read_surface(options.input);
  require_closed(surface, options.input);
  for (auto& vertex : surface.vertex)
    for (double& x : vertex)
      x *= options.surface_unit;
  const std::string edge = format_number(*options.voxel) + " mm";
  const std::string unit = "the length of its unit in mm (--surface-unit; 1000 for m), now " +
                           format_number(options.surface_unit);
  require_room_for_voxels(options.input, surface,
                          {*options.voxel, 1, "mm",
                           "give " + unit + ", or take larger voxels (--voxel)", sizeof(float),
                           available_bytes(exec)});
  VoxeliseOptions voxels;
  voxels.spacing = *options.voxel;
  voxels.value = float(options.modulus);
  VoxelisedSurface<Exec> body;
  try {
    body = voxelise(exec, upload_surface(exec, surface.vertex, surface.triangle), voxels);
  } catch (const InputError& error) {
    fail<InputError>(options.input, ": ", error.what());
  }
  const std::int64_t count = count_solid(exec, body.image);
  if (count == 0)
    fail<InputError>(options.input, ": no voxel of ", edge,
                     " has its centre in the surface: take smaller ones (--voxel), or give ", unit);
  warn_of_coarse_voxels(options.input, surface, {count, body.num_overlapping, *options.voxel},
                        edge);
  if (body.num_overlapping > 0)
    log_warning(
        "surfaces-overlap", options.input, ": ", format_count(body.num_overlapping),
        " voxels are in more than one closed shell and count once; a cavity is a shell that "
        "faces inward");
  if (body.num_reversed > 0)
    log_warning("surface-folds", options.input, ": ", format_count(body.num_reversed),
                " voxels are in folds of the surface that face the other way, and are void");
  model.uniform_poisson = options.poisson.value_or(0.3);
  model.description =
      "closed surface of " + format_count(std::int64_t(surface.triangle.size())) + " triangles";
  model.modulus = keep_planes(exec, ranks, body.image);
  model.origin = body.origin;
  model.edge = *options.voxel;
}

/// Reads the planes that are chosen of a DICOM series, and says what it is.
VoxelImage read_series(const BoneOptions& options, const ChoosePlanes& planes,
                       VoxelTarget* target) {
  DicomOptions dicom;
  dicom.series = options.series;
  dicom.planes = planes;
  dicom.target = target;
  dicom.voxels = options.resample ? VoxelShape::box : VoxelShape::cube;
  dicom.trial = true; // GDCM is not ours to make safe
  DicomSeries series;
  VoxelImage image = read_dicom(options.input, dicom, &series);
  log_info(format_count(std::int64_t(series.files.size())), " slices of the DICOM series ",
           series.uid, series.description.empty() ? "" : ", '" + series.description + "'",
           series.unit.empty() ? "" : "; values are " + series.unit);
  const bool is_density =
      has_law(options, MaterialKind::linear) || has_law(options, MaterialKind::power);
  if (!options.preparation.calibration && !series.is_rescaled)
    log_warning("no-calibration", options.input,
                ": slices have no rescale slope and intercept, so that values are as stored: give "
                "--calibrate, or thresholds and law in values as stored");
  else if (!options.preparation.calibration && series.unit == "HU" && is_density)
    log_warning("no-calibration", options.input,
                ": values are Hounsfield units, which are no densities: give --calibrate, unless "
                "--law has slope and intercept for Hounsfield units");
  warn_files_left_out(options.input, series);
  return image;
}

/// Images that are written say that they are in RAS or in LPS, which not every space of NRRD is,
/// nor the scanner's.
void warn_of_world(const BoneOptions& options, ImageFormat format, const VoxelImage& image) {
  if (!image.world.empty() || !has_place(image) || options.field_images == FieldImages::none)
    return;
  const bool is_nifti = options.field_images != FieldImages::mha;
  const bool is_nrrd = format == ImageFormat::nrrd;
  log_warning("unknown-world", options.input,
              is_nrrd ? ": its space does not say where x, y and z point in the body, as "
                        "3D-right-handed does not"
                      : ": files of scanners do not say where x, y and z point in the body",
              ": --field-images ", name_of(options.field_images),
              " have its numbers, and programs take them for ", is_nifti ? "RAS" : "LPS",
              is_nrrd    ? ": write space: left-posterior-superior, or what it is, into the header"
              : is_nifti ? ": ITK takes those of the scanner for LPS, as it does mha"
                         : ", as ITK takes those of the scanner");
}

/// Reads the planes that are chosen of an image; the values go to `target`, but those of a ParOSol
/// file. What a law makes moduli of are grey values.
VoxelModel read_image(const BoneOptions& options, ImageFormat format, bool has_law,
                      const ChoosePlanes& planes, VoxelTarget* target) {
  VoxelModel file;
  const VoxelShape voxels = options.resample ? VoxelShape::box : VoxelShape::cube;
  if (format == ImageFormat::parosol) {
    std::vector<std::string> remarks;
    ParosolOptions parosol;
    if (!has_law)
      parosol.modulus_unit = options.modulus_unit.value_or(ModulusUnit::MPa);
    parosol.poisson = options.poisson;
    parosol.remarks = &remarks;
    parosol.trial = true; // HDF5 1.10 itself crashes on some damaged files
    parosol.planes = planes;
    file = read_parosol(options.input, parosol);
    for (const std::string& remark : remarks)
      log_info(remark);
  } else if (format == ImageFormat::itk) {
    file.modulus = read_itk_hdf5(options.input, {planes, target, voxels, true});
  } else if (format == ImageFormat::metaimage) {
    file.modulus = read_metaimage(options.input, planes, target, voxels);
    if (!options.spacing)
      warn_of_no_spacing(options.input, file.modulus);
  } else if (format == ImageFormat::nifti) {
    file.modulus = read_nifti(options.input, planes, target, voxels);
  } else if (format == ImageFormat::nrrd) {
    file.modulus = read_nrrd(options.input, planes, target, voxels);
    warn_of_world(options, format, file.modulus);
  } else if (format == ImageFormat::scanco) {
    ScancoValues values;
    file.modulus = read_scanco(options.input, planes, target, voxels, &values);
    if (!values.unit.empty())
      log_info("values are ", values.unit, ", by the calibration of ", options.input);
    else if (!values.labels && !options.preparation.calibration)
      log_warning("no-calibration", options.input,
                  ": has no calibration, so that values are as the scanner stored them, and no "
                  "densities: give --calibrate, or thresholds and law in values as stored");
  } else if (format == ImageFormat::dicom) {
    file.modulus = read_series(options, planes, target);
  } else {
    file.modulus = read_raw(options, planes, target);
  }
  return file;
}

/// Says along which axis cubes of --resample change the length of the image the most.
template<class Exec>
void warn_of_extent(const BoneOptions& options, const BoneModel<Exec>& model,
                    const std::array<int, 3>& shape) {
  const std::array<double, 3> edges = model.source.edges();
  const auto change = [&](std::size_t d) {
    return std::abs(shape[d] * *options.resample / (model.modulus.shape[int(d)] * edges[d]) - 1);
  };
  std::size_t worst = 0;
  for (std::size_t d = 1; d < 3; ++d)
    worst = change(d) > change(worst) ? d : worst;
  if (change(worst) > 0.01)
    log_warning("resampled-extent", options.input, ": --resample ",
                format_number(*options.resample), " makes the image ",
                format_number(shape[worst] * *options.resample), " mm long along ", "xyz"[worst],
                ", which is ", format_number(model.modulus.shape[int(worst)] * edges[worst]),
                " mm: bone that reaches its end becomes as much longer or shorter. Take an edge "
                "that divides the length, or a smaller one");
}

/// Takes an image that was read, of voxels of any edges, to cubes.
template<class Exec>
void resample_model(const Exec& exec, const BoneOptions& options, BoneModel<Exec>& model) {
  const std::array<double, 3> edges = model.source.edges();
  const std::array<int, 3> shape = resampled_shape(model.modulus.shape, edges, *options.resample);
  const std::string where = options.input + ": --resample " + format_number(*options.resample);
  require_room(available_bytes(exec),
               require_voxel_shape(where, std::uint64_t(shape[0]), std::uint64_t(shape[1]),
                                   std::uint64_t(shape[2])),
               where);
  warn_of_extent(options, model, shape);
  const Resampling kind = options.law == GreyLaw::labels ? Resampling::nearest : Resampling::blend;
  model.modulus = resample(exec, model.modulus, edges, *options.resample, kind);
  model.edge = *options.resample;
  model.first_voxel = {0, 0, 0};
  model.description += resampled_from(model.source);
}

/// Of a sigma in voxels that was given as one in mm, and of a filter that is cut off near its top.
void warn_of_filter(const GaussianOptions& gaussian, const std::array<double, 3>& edges,
                    const std::array<int, 3>& support) {
  // Voxels: beyond those of any study. Profiles of a scanner have a fifth of one on coarser images.
  constexpr double widest = 5, narrowest = 0.05;
  std::size_t worst = 0;
  for (std::size_t d = 1; d < 3; ++d)
    worst = edges[d] < edges[worst] ? d : worst;
  const double edge = edges[worst], sigma = gaussian.sigma / edge;
  const bool is_cut = sigma > 1.5 * support[worst];
  if (sigma < narrowest)
    log_warning("odd-filter", "--gaussian ", format_number(gaussian.sigma), " is a sigma of ",
                format_number(sigma, 3), " voxels of ", format_number(edge),
                " mm, which changes nothing: sigma is in mm");
  if (sigma < narrowest || (sigma <= widest && !is_cut))
    return;
  log_warning("odd-filter", "--gaussian ", format_number(gaussian.sigma), " is a sigma of ",
              format_number(sigma, 3), " voxels of ", format_number(edge), " mm",
              is_cut ? ", of which the filter takes " + std::to_string(support[worst]) +
                           " on either side: a mean of nearly equal weights"
                     : ": bone that is thinner is smoothed away",
              ". Sigma is in mm; ", format_number(gaussian.sigma), " voxels are ",
              format_number(gaussian.sigma * edge, 4), " mm");
}

/// Crops and filters an image that was read as a whole.
template<class Exec>
void prepare_image(const Exec& exec, const BoneOptions& options, BoneModel<Exec>& model) {
  const PreparationOptions& preparation = options.preparation;
  const std::array<double, 3> edges = edges_before(options, model.source);
  if (preparation.crop) {
    const VoxelBox box = crop_box(options, model.source.shape);
    model.modulus = crop(exec, model.modulus, box);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d)
        model.origin[i] += edges[d] * box.begin[d] * model.direction[3 * i + d];
    model.first_voxel = box.begin;
    for (std::size_t d = 0; d < 3; ++d)
      model.corner[d] = edges[d] * box.begin[d];
    model.description += ", cropped to " + std::to_string(box.shape()[0]) + " x " +
                         std::to_string(box.shape()[1]) + " x " + std::to_string(box.shape()[2]) +
                         " voxels";
  }
  if (preparation.gaussian) {
    const double sigma = preparation.gaussian->sigma;
    const std::array<int, 3> support = gaussian_support(*preparation.gaussian, edges);
    model.modulus = filter_gaussian(
        exec, model.modulus, {sigma / edges[0], sigma / edges[1], sigma / edges[2]}, support);
    log_info("Gaussian filter of sigma ", format_number(sigma), " mm over ", support[0], ", ",
             support[1], " and ", support[2], " voxels on either side");
    warn_of_filter(*preparation.gaussian, edges, support);
  }
}

/// The lower corner of an image. Where --spacing overrides the edges of a file that places the
/// centre of its first voxel, this centre stays.
std::array<double, 3> corner_of(const BoneOptions& options, ImageFormat format,
                                const VoxelImage& image) {
  std::array<double, 3> corner = image.origin;
  const bool by_centre = format == ImageFormat::nifti || format == ImageFormat::metaimage ||
                         format == ImageFormat::itk || format == ImageFormat::nrrd ||
                         format == ImageFormat::dicom || format == ImageFormat::scanco;
  if (options.spacing && by_centre)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d)
        corner[i] += (image.edges()[d] - *options.spacing) / 2 * image.direction[3 * i + d];
  return corner;
}

/// Reads the planes of an image that this process has, or all to prepare them, and returns their
/// range.
template<class Exec>
ValueRange read_image_model(const Exec& exec, const BoneOptions& options, ImageFormat format,
                            bool has_law, const std::optional<Communicator>& ranks,
                            BoneModel<Exec>& model) {
  const auto planes = [&](int num_planes) {
    return reads_whole_image(options) ? ImagePlanes{0, num_planes}
                                      : choose_planes(ranks, num_planes);
  };
  ArrayTarget<Exec> target(exec);
  VoxelModel file = read_image(options, format, has_law, planes, &target);
  model.description = std::string(title_of(format)) + " image";
  model.edge = options.spacing.value_or(file.modulus.spacing);
  model.direction = file.modulus.direction;
  model.origin = corner_of(options, format, file.modulus);
  model.world = file.modulus.world;
  model.uniform_poisson = file.poisson;
  model.displacements = std::move(file.displacements);
  model.forces = std::move(file.forces);
  if (format != ImageFormat::parosol) {
    model.source = file.modulus;
    model.modulus = target.array();
    ValueRange range{target.least(), target.greatest()};
    if (reads_whole_image(options)) {
      if (has_law)
        require_threshold_within(exec, options, model);
      prepare_image(exec, options, model);
      if (options.preparation.turns_image())
        turn_model(exec, options, range, model);
      else if (options.resample)
        resample_model(exec, options, model);
      model.modulus = keep_planes(exec, ranks, model.modulus);
    }
    map_model(exec, options, model, range);
    return range;
  }
  model.modulus = to_device(exec, file.modulus, file.modulus.planes());
  const ValueRange range = range_of(file.modulus.value);
  if (!file.poisson_image.empty()) {
    file.modulus.value = std::move(file.poisson_image);
    model.poisson = to_device(exec, file.modulus, file.modulus.planes());
  }
  return range;
}

/// Throws where there are no grey values to prepare.
void require_grey_values(const BoneOptions& options, ImageFormat format) {
  const PreparationOptions& o = options.preparation;
  const char* const option = o.crop            ? "--crop"
                             : o.gaussian      ? "--gaussian"
                             : o.calibration   ? "--calibrate"
                             : o.clamp         ? "--clamp"
                             : o.align         ? "--align"
                             : o.turns.empty() ? nullptr
                                               : "--turn";
  if (option && (format == ImageFormat::surface || format == ImageFormat::parosol))
    fail<UsageError>(option, " is for grey values, and ", options.input, " has ",
                     format == ImageFormat::surface ? "none: it is a surface"
                                                    : "moduli with supports at their nodes",
                     ": leave it out");
  if (o.bins > 0 && format == ImageFormat::surface)
    fail<UsageError>("--bins is for images, and ", options.input, " is a surface: leave it out");
}

/// Throws where there is nothing to resample, or no saying from what.
void require_resampling(const BoneOptions& options, ImageFormat format) {
  if (format == ImageFormat::surface)
    fail<UsageError>("--resample is for images, and ", options.input,
                     " is a surface: choose its voxels with --voxel");
  if (format == ImageFormat::parosol)
    fail<UsageError>("--resample is for grey values, and ", options.input,
                     " has moduli of cubes with supports at their nodes: leave it out");
  if (options.spacing && format != ImageFormat::raw)
    fail<UsageError>("both --spacing and --resample: ", options.input,
                     " says what edges its voxels have; leave one out");
}

/// Of an image that the ranks of `comm` share by planes.
template<class Exec, class Takes>
std::vector<std::int64_t> count_layers(const Exec& exec, const VoxelArray<Exec>& image,
                                       const Takes& takes, int axis, const Communicator& comm) {
  std::vector<std::int64_t> layers = count_in_layers(exec, image, takes, axis);
  const std::vector<std::int64_t> all = comm.gather(layers); // one rank after the other
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i] = 0;
    for (std::size_t k = i; k < all.size(); k += layers.size())
      layers[i] += all[k];
  }
  return layers;
}

/// Notes between which layers the bone is, by which a mask is measured.
template<class Exec>
void find_bone_layers(const Exec& exec, const BoneOptions& options, const Communicator& comm,
                      BoneModel<Exec>& model) {
  if (!model.mask_layers.mask.empty())
    model.mask_layers.bone = filled_layers(count_layers(
        exec, model.modulus, SolidVoxels<Exec>{model.modulus.value}, options.axis, comm));
}

template<class Exec>
void read_model(const Exec& exec, const BoneOptions& options,
                const std::optional<Communicator>& ranks, DriverContext& context,
                BoneModel<Exec>& model) {
  const Communicator comm = ranks.value_or(Communicator());
  auto format = ImageFormat::surface;
  run_phase(comm, [&] { // one rank's machine may lack the file
    format = options.format ? *options.format : guess_format(options.input);
    if (format != ImageFormat::dicom)
      require_input_file(options.input);
    if (format != ImageFormat::dicom && !options.series.empty())
      fail<UsageError>("--series is for DICOM, and ", options.input, " is of another format (",
                       title_of(format), "): leave it out");
  });
  require_grey_values(options, format);
  if (options.resample)
    require_resampling(options, format);
  if (format == ImageFormat::parosol && !options.mask.empty())
    fail<UsageError>("--mask is for grey values, and ", options.input,
                     " has moduli with supports at their nodes: leave it out");
  const bool has_law = format != ImageFormat::parosol || options.law != GreyLaw::by_format;
  ValueRange range;
  run_shared(comm, [&] {
    std::future<std::vector<FileRecord>>
        records; // of the first rank, which writes all that names them
    // The process of a reader that is tried first forks, and should have one thread.
    const bool forks = format == ImageFormat::parosol || format == ImageFormat::dicom;
    if (comm.is_first())
      records = std::async(forks ? std::launch::deferred : std::launch::async, record_image,
                           options.input, format, options.series);
    if (format == ImageFormat::surface)
      read_surface_model(exec, options, ranks, model);
    else
      range = read_image_model(exec, options, format, has_law, ranks, model);
    if (comm.is_first())
      context.provenance().inputs = records.get();
  });
  if (format == ImageFormat::surface) {
    if (!options.mask.empty())
      fail<UsageError>("--mask is for images, and ", options.input, " is a surface: leave it out");
    return;
  }
  range = {comm.min(range.least), comm.max(range.greatest)};
  VoxelArray<Exec> labels;
  if (!options.mask.empty()) {
    labels = read_model_labels(exec, options, ranks, context, model);
    const LabelSelection<Exec> bone = select_bone(exec, options, labels);
    model.num_in_mask = comm.sum(count_selected(exec, bone));
    model.mask_layers.mask = count_layers(exec, labels, bone, options.axis, comm);
  }
  if (has_law) {
    apply_law(exec, options, range, labels, comm, model);
    if (model.turn)
      clear_beside(exec, model.turn->grid, model.modulus);
  } else {
    require_unit(options, range.greatest);
    require_finite_moduli(options, range.greatest);
    if (options.preparation.bins > 0)
      fail<UsageError>("--bins is for moduli that a --law makes of grey values, and ",
                       options.input, " has moduli: leave it out, or say --law modulus");
  }
  bin_moduli(exec, options, comm, model);
}

template<class Exec>
void generate_model(const Exec& exec, const BoneOptions& options,
                    const std::optional<Communicator>& ranks, BoneModel<Exec>& model) {
  model.edge = options.spacing.value_or(1);
  model.uniform_poisson = options.poisson.value_or(0.3);
  const float modulus = float(options.modulus);
  switch (options.generator) {
  case BoneGenerator::perlin: {
    PerlinOptions perlin;
    perlin.shape = options.size;
    perlin.feature = options.feature;
    perlin.threshold = options.noise_threshold;
    perlin.fraction = options.fraction.value_or(0);
    perlin.seed = options.common.seed;
    perlin.modulus = modulus;
    PerlinBone<Exec> bone = make_perlin_bone(exec, perlin, choose_planes(ranks, options.size[2]),
                                             ranks.value_or(Communicator()));
    model.description = "coherent noise below " + format_number(bone.threshold);
    model.modulus = bone.modulus;
    break;
  }
  case BoneGenerator::cube:
    model.description = "solid box";
    model.modulus = keep_planes(exec, ranks, make_cube(exec, options.size, modulus));
    break;
  case BoneGenerator::sphere: {
    SphereOptions sphere;
    sphere.shape = options.size;
    sphere.radius = options.radius;
    sphere.modulus = modulus;
    sphere.inner_radius = options.inner_radius;
    sphere.inner_modulus = float(options.inner_modulus);
    sphere.outer_modulus = float(options.outer_modulus);
    model.description = "sphere";
    model.modulus = keep_planes(exec, ranks, make_sphere(exec, sphere));
    break;
  }
  case BoneGenerator::laminate: {
    LaminateOptions laminate;
    laminate.shape = options.size;
    laminate.axis = options.layer_axis;
    laminate.layers.clear();
    for (const auto& [thickness, layer_modulus] : options.layers)
      laminate.layers.push_back({thickness, float(layer_modulus)});
    model.description = "laminate";
    model.modulus = keep_planes(exec, ranks, make_laminate(exec, laminate));
    break;
  }
  case BoneGenerator::none:
    fail<UsageError>("no input and nothing to generate");
  }
}

} // namespace

template<class Exec>
BoneModel<Exec> make_bone_model(const Exec& exec, const BoneOptions& options,
                                const std::optional<Communicator>& ranks, DriverContext& context) {
  const TimedScope scope("ossatura::bone::input");
  BoneModel<Exec> model;
  if (options.generator == BoneGenerator::none) {
    read_model(exec, options, ranks, context, model);
  } else {
    generate_model(exec, options, ranks, model);
  }
  const Communicator comm = ranks.value_or(Communicator());
  run_phase(comm, [&] {
    for (const std::string* file : {&options.fix_file, &options.force_file})
      if (comm.is_first() && !file->empty())
        context.provenance().inputs.push_back(record_input(*file));
  });
  const std::string source = options.input.empty() ? model.description : options.input;
  if (comm.sum(count_solid(exec, model.modulus)) == 0)
    fail<InputError>(source, ": no voxel is bone: all moduli are 0");
  // Noise leaves crumbs: the paper's meshes are the largest component of theirs. Crumbs of a unit
  // cell may be parts of the rest across its sides.
  const bool has_crumbs = options.generator == BoneGenerator::perlin && !is_periodic(options);
  if (options.largest_component || has_crumbs) {
    const auto connectivity = options.connected_by_node ? Connectivity::node : Connectivity::face;
    const ComponentSummary summary =
        keep_largest_component(exec, model.modulus, connectivity, comm);
    model.num_dropped = summary.num_solid - summary.largest_size;
    log_info("kept the largest of ", format_count(summary.count), " components, dropped ",
             format_count(model.num_dropped), " voxels");
    if (options.largest_component && 2 * summary.largest_size < summary.num_solid)
      log_warning("islands-left-out", "the largest part has ", format_count(summary.largest_size),
                  " voxels; ", format_count(model.num_dropped),
                  ", more than half of the bone, are left out");
  }
  find_bone_layers(exec, options, comm, model);
  add_pads(exec, options, ranks, model);
  if (options.anatomy.has_caps()) { // on the specimen, not on crumbs beyond it
    while (drop_crumbs(exec, options, make_bone_problem(exec, model, ranks), model)) {
    }
    add_caps(exec, options, ranks, model);
  }
  note_foreign(exec, model);
  return model;
}

template<class Exec>
VoxelProblem<Exec> make_bone_problem(const Exec& exec, const BoneModel<Exec>& model,
                                     const std::optional<Communicator>& ranks) {
  const TimedScope scope("ossatura::bone::grid");
  const Communicator comm = ranks.value_or(Communicator());
  MaterialImage<Exec> material;
  try { // one rank alone may have the voxel that is wrong
    material = together(comm, [&] {
      return model.poisson.value.extent(0) > 0
                 ? make_material(exec, model.modulus, model.poisson)
                 : make_material(model.modulus, model.uniform_poisson);
    });
  } catch (const InputError& error) {
    fail<InputError>(model.description, ": ", error.what());
  }
  return ranks ? make_cut_problem(exec, *ranks, material, model.edge)
               : make_voxel_problem(exec, material, model.edge);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BoneModel<Exec> make_bone_model(const Exec&, const BoneOptions&,                        \
                                           const std::optional<Communicator>&, DriverContext&);    \
  template VoxelProblem<Exec> make_bone_problem(const Exec&, const BoneModel<Exec>&,               \
                                                const std::optional<Communicator>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
