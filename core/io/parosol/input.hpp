// SPDX-License-Identifier: Apache-2.0
// read_parosol reads the HDF5 input of ParOSol, the open exchange format of voxel micro-FE.
//
// [1] C. Flaig, P. Arbenz, "A scalable memory efficient multigrid solver for micro-finite element
//     analyses based on CT images", Parallel Computing 37 (2011), doi:10.1016/j.parco.2011.08.001
// Layout per the forks in use (reox/parosol-tu-wien, INSIGNEO/ParOSol-UoS,
// wallematthias/parosol-py).
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The unit of the moduli in a file: the forks of ParOSol differ and the file does not say.
enum class ModulusUnit { MPa, GPa };

constexpr Names<ModulusUnit> names_of(ModulusUnit) {
  return {{ModulusUnit::MPa, "MPa"}, {ModulusUnit::GPa, "GPa"}};
}

struct ParosolOptions {
  ModulusUnit modulus_unit = ModulusUnit::MPa; ///< of `Image`
  std::optional<double> poisson;               ///< used instead of what the file says
  std::vector<std::string>* remarks = nullptr; ///< gets sentences a log should show, if given
  /// Call the HDF5 library in a child process before, as it crashes on some damaged files; see
  /// require_survivable_read(). Images that threads read are not read twice for it
  /// (parallel_read.hpp).
  bool trial = false;
  ChoosePlanes planes; ///< of the images; all, unless given. Lists of nodes are read as a whole
};

/// Reads group /Image_Data of the file at `path`:
///
/// | dataset | extents | meaning |
/// |---|---|---|
/// | Image | (nz, ny, nx) | Young's modulus in `options.modulus_unit`, 0 = void |
/// | Voxelsize | scalar or (1) | edge in mm |
/// | Poisons_ratio, Poison_ratio, ... | scalar or (1) | one Poisson's ratio |
/// | Poissons_ratio_Image, Poisons_ratio_Image | (nz, ny, nx) | optional, one per voxel |
/// | Fixed_Displacement_Coordinates, _Values | (k, 4), (k) | optional; rows z, y, x, direction; mm
/// | | Loaded_Nodes_, Bodyforce_, Tractions_ + Coordinates, Values | (k, 4), (k) | optional; N |
///
/// Body forces and tractions are forces of the node, as ParOSol-UoS documents them: they are added
/// to the loaded nodes. A degree of freedom that comes twice in one list has the value of its last
/// row, as in ParOSol; displacement rows keep their order, superseded rows of force lists are
/// dropped. Poisson's ratio of void voxels is not looked at.
///
/// Throws InputError, naming file, dataset, row or voxel, and the remedy, for anything that is
/// missing, of wrong rank or type, out of the lattice, not finite, negative (modulus), outside
/// (-1, 0.5) (Poisson's ratio), or damaged; and for images of ITK (read_itk_hdf5()) and MINC 2,
/// which are HDF5, too.
VoxelModel read_parosol(const std::string& path, const ParosolOptions& options = {});

} // namespace ossatura
