// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/parosol/input.hpp>

#include <ossatura/core/io/hdf5/file.hpp>
#include <ossatura/core/io/hdf5/parallel_read.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/trial_read.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <tuple>

namespace ossatura {
namespace {

std::string voxel_name(std::size_t index, const std::array<int, 3>& shape) {
  const std::size_t nx = std::size_t(shape[0]);
  const std::size_t ny = std::size_t(shape[1]);
  std::ostringstream text;
  text << "voxel (x, y, z) = (" << index % nx << ", " << index / nx % ny << ", " << index / nx / ny
       << ")";
  return text.str();
}

/// (nx, ny, nz)
std::array<int, 3> image_shape(const Hdf5Dataset& dataset) {
  dataset.require_rank(3, "a ParOSol image is z, y, x: write a 3-D dataset");
  dataset.require_numbers(false, "a ParOSol image holds 32-bit floats");
  const std::vector<std::uint64_t>& extent = dataset.shape();
  return require_voxel_shape(dataset.where(), extent[2], extent[1], extent[0]);
}

/// None where the read is a trial.
std::vector<float> read_planes(const Hdf5Dataset& dataset, ImagePlanes planes, bool trial) {
  const std::uint64_t first = std::uint64_t(planes.begin), rows = std::uint64_t(planes.count());
  if (!trial)
    return read_rows_by_threads<float>(dataset, first, rows);
  try_rows_by_threads<float>(dataset, first, rows);
  return {};
}

double read_number(const Hdf5Dataset& dataset, const char* remedy) {
  dataset.require_numbers(false, remedy);
  return dataset.read_scalar<double>(remedy);
}

/// The planes that it read; of a trial the image has none.
ImagePlanes read_modulus(const Hdf5Group& data, const ParosolOptions& options, VoxelImage& image) {
  const Hdf5Dataset dataset = data.dataset("Image");
  image.shape = image_shape(dataset);
  const ImagePlanes planes = planes_to_read(options.planes, image.shape[2]);
  image.first_plane = planes.begin;
  image.value = read_planes(dataset, planes, options.trial);
  const float scale = options.modulus_unit == ModulusUnit::GPa ? 1000.f : 1.f;
  for (std::size_t i = 0; i < image.value.size(); ++i) {
    const float found = image.value[i];
    image.value[i] = found * scale;
    if (!(found >= 0) || !std::isfinite(image.value[i]))
      fail<InputError>(dataset.where(), ": the modulus of ",
                       voxel_name(image.first_voxel() + i, image.shape), " is ", found,
                       "; it must be finite and not negative (0 = void)");
  }
  return planes;
}

void read_voxel_size(const Hdf5Group& data, VoxelImage& image) {
  const char* remedy = "write one number, the edge of the cubic voxels in mm";
  const Hdf5Dataset dataset = data.dataset("Voxelsize");
  image.spacing = read_number(dataset, remedy);
  if (!std::isfinite(image.spacing) || !(image.spacing > 0))
    fail<InputError>(dataset.where(), " is ", image.spacing, "; ", remedy);
  require_edge(dataset.where(), image.spacing);
}

bool valid_poisson(double nu) {
  return nu > -1 && nu < 0.5;
}

/// The first of `names` that the group has, or an empty string.
std::string first_of(const Hdf5Group& group, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (group.has(name))
      return name;
  return {};
}

/// Whether there is one.
bool read_poisson_image(const Hdf5Group& data, ImagePlanes planes, bool trial, VoxelModel& model) {
  const std::string name = first_of(data, {"Poissons_ratio_Image", "Poisons_ratio_Image",
                                           "Poisson_ratio_Image", "Poison_ratio_Image"});
  if (name.empty())
    return false;
  const Hdf5Dataset dataset = data.dataset(name);
  const std::array<int, 3> found = image_shape(dataset), &shape = model.modulus.shape;
  if (found != shape)
    fail<InputError>(dataset.where(), " has extents ", found[2], " x ", found[1], " x ", found[0],
                     " (z, y, x), the image ", shape[2], " x ", shape[1], " x ", shape[0],
                     "; write one value per voxel");
  model.poisson_image = read_planes(dataset, planes, trial);
  for (std::size_t i = 0; i < model.poisson_image.size(); ++i) {
    const bool solid = model.modulus.value[i] > 0;
    if (solid && !valid_poisson(model.poisson_image[i]))
      fail<InputError>(dataset.where(), ": Poisson's ratio of ",
                       voxel_name(model.modulus.first_voxel() + i, shape), " is ",
                       model.poisson_image[i], "; it must lie in (-1, 0.5)");
    if (!solid)
      model.poisson_image[i] = 0; // often NaN or -1 as a marker; void has none
  }
  return true;
}

void read_poisson(const Hdf5Group& data, const ParosolOptions& options, ImagePlanes planes,
                  VoxelModel& model) {
  if (options.poisson) {
    if (!valid_poisson(*options.poisson))
      fail<UsageError>("Poisson's ratio ", *options.poisson, " does not lie in (-1, 0.5)");
    model.poisson = *options.poisson;
    return;
  }
  const bool has_image = read_poisson_image(data, planes, options.trial, model);
  const std::string name =
      first_of(data, {"Poisons_ratio", "Poissons_ratio", "Poison_ratio", "Poisson_ratio"});
  if (name.empty()) {
    if (!has_image)
      fail<InputError>(data.where(),
                       ": there is neither 'Poisons_ratio' nor 'Poissons_ratio_Image'; "
                       "write the scalar or give Poisson's ratio as an option");
    return;
  }
  const Hdf5Dataset dataset = data.dataset(name);
  model.poisson = read_number(dataset, "write one number, Poisson's ratio in (-1, 0.5)");
  if (!valid_poisson(model.poisson))
    fail<InputError>(dataset.where(), " is ", model.poisson, "; it must lie in (-1, 0.5)");
}

/// The rows of NAME_Coordinates and NAME_Values in their order; empty where both are absent.
std::vector<NodalValue> read_nodal_values(const Hdf5Group& data, const std::string& name,
                                          const std::array<int, 3>& shape) {
  const std::string coordinates_name = name + "_Coordinates";
  const std::string values_name = name + "_Values";
  if (!data.has(coordinates_name) && !data.has(values_name))
    return {};
  const Hdf5Dataset coordinates = data.dataset(coordinates_name);
  const Hdf5Dataset values = data.dataset(values_name);
  const char* layout = "rows are z, y, x, direction: write integers of extents N x 4";
  coordinates.require_rank(2, layout);
  coordinates.require_numbers(true, layout);
  if (coordinates.shape()[1] != 4)
    fail<InputError>(coordinates.where(), " has ", coordinates.shape()[1], " columns; ", layout);
  values.require_numbers(false, "write one number per row of the coordinates");
  const std::uint64_t num_rows = coordinates.shape()[0];
  // (N) by the format; (N, 1) is what some writers make of a column.
  if (values.shape().empty() || values.shape()[0] != num_rows || values.size() != num_rows)
    fail<InputError>(values.where(), " has ", values.size(), " values for ", num_rows, " rows of ",
                     coordinates.path(), "; write one number per row");

  const std::vector<std::int64_t> index = coordinates.read<std::int64_t>();
  const std::vector<double> value = values.read<double>();
  std::vector<NodalValue> rows;
  rows.reserve(num_rows);
  for (std::size_t row = 0; row < num_rows; ++row) {
    const std::int64_t* entry = &index[4 * row]; // z, y, x, direction
    for (int axis = 0; axis < 3; ++axis)
      if (entry[2 - axis] < 0 || entry[2 - axis] > shape[axis])
        fail<InputError>(coordinates.where(), ": row ", row, " (", entry[0], ", ", entry[1], ", ",
                         entry[2], ", ", entry[3], ") lies outside the lattice: ", "xyz"[axis],
                         " = ", entry[2 - axis], " is not in 0 to ", shape[axis],
                         " (rows are z, y, x, direction of nodes)");
    if (entry[3] < 0 || entry[3] > 2)
      fail<InputError>(coordinates.where(), ": row ", row, " has direction ", entry[3],
                       "; it must be 0 (x), 1 (y) or 2 (z)");
    if (!std::isfinite(value[row]))
      fail<InputError>(values.where(), ": the value of row ", row, " is ", value[row],
                       "; it must be finite");
    rows.push_back({{int(entry[2]), int(entry[1]), int(entry[0])}, int(entry[3]), value[row]});
  }
  return rows;
}

/// Drops rows whose degree of freedom comes again later; the others keep their order.
std::size_t keep_last(std::vector<NodalValue>& rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto dof = [&](std::size_t i) { return std::tie(rows[i].node, rows[i].component); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return dof(a) < dof(b); });
  std::vector<char> superseded(rows.size(), 0);
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    superseded[order[i]] = dof(order[i]) == dof(order[i + 1]);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!superseded[i])
      rows[kept++] = rows[i];
  const std::size_t dropped = rows.size() - kept;
  rows.resize(kept);
  return dropped;
}

/// Refuses HDF5 files of other programs, which no group of ParOSol tells apart from damaged ones.
void refuse_other_files(const Hdf5Group& root, const std::string& path) {
  if (root.has("Image_Data"))
    return;
  const auto refuse = [&](const char* what, const char* remedy) {
    fail<InputError>(path, ": is ", what,
                     ", not of ParOSol, which is what is read of HDF5: ", remedy);
  };
  if (root.has("ITKImage"))
    refuse("an image of ITK (HDF5ImageIO)", "give --format itk");
  if (root.has("minc-2.0"))
    refuse("an image of MINC 2", "convert it to .nii, for example with mnc2nii of the MINC tools, "
                                 "or nibabel: save(Nifti1Image.from_image(load('in.mnc')), "
                                 "'out.nii')");
  if (root.has("VTKHDF"))
    refuse("a file of VTKHDF, as of results", "give the image that these are of");
}

VoxelModel read_model(const std::string& path, const ParosolOptions& options) {
  const Hdf5File file = Hdf5File::open(path);
  const Hdf5Group root = file.root();
  refuse_other_files(root, path);
  const Hdf5Group data = root.group("Image_Data");
  const auto remark = [&](const std::string& text) {
    if (options.remarks != nullptr)
      options.remarks->push_back(path + ": " + text);
  };

  VoxelModel model;
  const ImagePlanes planes = read_modulus(data, options, model.modulus);
  remark(std::string("moduli are taken to be in ") + name_of(options.modulus_unit) +
         " (forks of ParOSol differ and the file does not say)");
  read_voxel_size(data, model.modulus);
  read_poisson(data, options, planes, model);
  model.displacements = read_nodal_values(data, "Fixed_Displacement", model.modulus.shape);
  for (const char* list : {"Loaded_Nodes", "Bodyforce", "Tractions"}) {
    std::vector<NodalValue> rows = read_nodal_values(data, list, model.modulus.shape);
    if (const std::size_t dropped = keep_last(rows))
      remark(std::to_string(dropped) + " rows of " + list +
             " name a degree of freedom that comes again; the last row counts, as in ParOSol");
    model.forces.insert(model.forces.end(), rows.begin(), rows.end());
  }
  if (root.has("Nonlinear"))
    remark("group /Nonlinear is ignored: the analysis is linear elastic");
  return model;
}

} // namespace

VoxelModel read_parosol(const std::string& path, const ParosolOptions& options) {
  // Of several processes, each tries its planes: that is what it reads, in no more memory, and
  // together they try the file once.
  if (options.trial)
    require_survivable_read(path, [&] { read_model(path, options); });
  ParosolOptions in_earnest = options;
  in_earnest.trial = false;
  return read_model(path, in_earnest);
}

} // namespace ossatura
